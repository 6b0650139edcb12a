//! Parses a line into a [`Command`], by the command table.
//!
//! Every error has its byte range in the whole line; the hint is the command's example.

mod data;

use crate::check::Profile;
use crate::check::decision::{self, Hints};
use crate::check::rule::Rule;
use crate::document::query::scan::{Scanner, Unclosed};
use crate::document::query::suggest::{listed, nearest};
use crate::document::query::{Query, Vocabulary, rule_indexes};
use crate::document::sort;
use crate::files::backup::When;
use crate::protocol::Field;
use crate::session::command::extend;
use crate::session::command::replace::ReplaceParts;
use crate::session::command::table::{Arguments, Spec, TABLE, spec};
use crate::session::command::value::assignment;
use crate::session::command::{Assignment, Command, CommandError, Goto, Marks, Replace, Scope, Targets};
use std::ops::Range;

/// The characters that may be between the parts of `s/RE/REPL/`.
const DELIMITERS: &str = "/#|,;!@~%:=";

/// Parses one line; a leading `:` is allowed.
pub fn parse(line: &str, vocabulary: &Vocabulary<'_>) -> Result<Command, CommandError> {
    let mut scanner = Scanner::new(line);
    scanner.skip_spaces();
    if scanner.consume(":") {
        scanner.skip_spaces();
    }
    let mut reader = Reader { line, scanner, vocabulary, shown: false };
    if reader.scanner.consume("/") {
        return reader.search();
    }
    if reader.scanner.peek().is_some_and(|c| c.is_ascii_digit() || c == '$') {
        return reader.row().and_then(|row| reader.end(Command::Goto(row)));
    }
    let percent_at = reader.scanner.at();
    reader.shown = reader.scanner.consume("%");
    reader.scanner.skip_spaces();
    let name_at = reader.scanner.at();
    let spec = reader.name()?;
    if reader.shown && !spec.ranged {
        let message = format!("`%` means all shown rows, but {} takes no rows", spec.name);
        return Err(CommandError::new(percent_at..percent_at + 1, message));
    }
    reader.arguments(spec, name_at).map_err(|mut error| {
        if error.hint.is_empty() {
            error.hint = format!("for example: {}", spec.example);
        }
        error
    })
}

/// Parses one `FIELD=VALUE` that is already a word of its own.
pub(super) fn argument(text: &str, vocabulary: &Vocabulary<'_>) -> Result<Assignment, CommandError> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(CommandError::new(0..text.len(), "expected FIELD=VALUE, such as priority=0.8"));
    };
    let field = field(name, 0..name.len())?;
    assignment(field, value, name.len() + 1..text.len(), vocabulary)
}

struct Reader<'t> {
    line: &'t str,
    scanner: Scanner<'t>,
    vocabulary: &'t Vocabulary<'t>,
    shown: bool,
}

impl Reader<'_> {
    fn name(&mut self) -> Result<&'static Spec, CommandError> {
        let at = self.scanner.at();
        let word = self.scanner.take_while(|c| c.is_ascii_alphabetic() || c == '-');
        if let Some(spec) = spec(word) {
            return Ok(spec);
        }
        let names = || TABLE.iter().flat_map(|spec| [spec.name].into_iter().chain(spec.aliases.iter().copied()));
        let span = at..self.scanner.at();
        if word.is_empty() {
            return Err(CommandError::new(span.start..span.start, "expected a command").hinted("help lists them all"));
        }
        let guess = nearest(word, names()).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        Err(CommandError::new(span, format!("unknown command {word}{guess}")).hinted("help lists them all"))
    }

    fn arguments(&mut self, spec: &'static Spec, name_at: usize) -> Result<Command, CommandError> {
        let bang_at = self.scanner.at();
        let glued = spec.arguments == Arguments::Replace;
        let bang = !glued && self.scanner.consume("!");
        if bang && !spec.bang {
            return Err(CommandError::new(bang_at..bang_at + 1, format!("{} takes no `!`", spec.name)));
        }
        let name_end = self.scanner.at();
        self.scanner.skip_spaces();
        let separated = self.scanner.is_done() || self.scanner.at() > name_end;
        if !separated && !glued {
            let glued = self.scanner.peek().map_or(0, char::len_utf8);
            return Err(CommandError::new(name_at..name_end + glued, format!("expected a space after {}", spec.name)));
        }
        let command = match spec.arguments {
            Arguments::Nothing => return self.without_arguments(spec.name, bang),
            Arguments::Assignments => return self.set(),
            Arguments::Fields => return self.clear(),
            Arguments::Replace => return self.replace(),
            Arguments::Rules => return self.fix(),
            Arguments::Extension => return self.extension(),
            Arguments::Urls => Command::Add(self.urls()?),
            Arguments::Query => {
                if self.scanner.is_done() {
                    return Err(self.expected("a query").hinted("nofilter shows all rows again"));
                }
                Command::Filter(Some(self.query()?))
            }
            Arguments::Marks => Command::Marks(self.marks()?),
            Arguments::Keys => {
                let at = self.scanner.at();
                let text = self.scanner.rest();
                Command::Sort(
                    sort::parse(text, self.vocabulary.data).map_err(|error| CommandError::from(error).shifted(at))?,
                )
            }
            Arguments::Row => {
                let row = self.row()?;
                return self.end(Command::Goto(row));
            }
            Arguments::Count => {
                let count = self.count()?;
                let command = if spec.name == "redo" { Command::Redo(count) } else { Command::Undo(count) };
                return self.end(command);
            }
            Arguments::Path if spec.name == "keep-as-rule" => Command::KeepRule(self.text()?),
            Arguments::Path if spec.name == "policy" => Command::Policy(self.text()?),
            Arguments::Path if spec.name == "check" => Command::Check(self.text()?),
            Arguments::Path => Command::Write { path: self.text()?, force: bang },
            Arguments::Data => return self.data(bang),
            Arguments::Probe => return self.probe(),
            Arguments::Dates => return self.dates(),
            Arguments::Url => return self.base(),
            Arguments::Download => return self.open(bang),
            Arguments::Topic => Command::Help(self.text()?),
            Arguments::Theme => Command::Theme(self.text()?.ok_or_else(|| self.expected("the name of a theme"))?),
            Arguments::Profile => Command::Profile(self.profile()?),
            Arguments::Backup => Command::Backup(self.backup()?),
            Arguments::History => Command::History { as_commands: self.as_commands()? },
            Arguments::Columns => {
                let at = self.scanner.at();
                let text = self.text()?.unwrap_or_default();
                let names: Vec<String> =
                    text.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect();
                let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
                let is_name = |name: &String| name.strip_prefix('@').unwrap_or(name).chars().all(is_letter);
                if names.is_empty() || !names.iter().all(is_name) {
                    let message = "expected names of columns, separated by commas";
                    return Err(CommandError::new(at..self.line.len(), message));
                }
                Command::Columns(names)
            }
        };
        Ok(command)
    }

    fn backup(&mut self) -> Result<When, CommandError> {
        let at = self.scanner.at();
        let name = self.text()?.unwrap_or_default();
        When::from_name(&name)
            .ok_or_else(|| CommandError::new(at..self.line.len(), "expected off, once or always").hinted("backup once"))
    }

    fn as_commands(&mut self) -> Result<bool, CommandError> {
        let at = self.scanner.at();
        match self.text()?.as_deref() {
            None => Ok(false),
            Some("--as-commands") => Ok(true),
            Some(_) => Err(CommandError::new(at..self.line.len(), "expected --as-commands or nothing")
                .hinted("history --as-commands")),
        }
    }

    fn profile(&mut self) -> Result<Profile, CommandError> {
        let at = self.scanner.at();
        let name = self.text()?.unwrap_or_default();
        let names = || Profile::ALL.map(Profile::name).join(", ");
        Profile::from_name(&name).ok_or_else(|| {
            CommandError::new(at..self.line.len(), format!("expected one of {}", names())).hinted("profile google")
        })
    }

    /// Commands that take no arguments of their own.
    fn without_arguments(&mut self, name: &str, bang: bool) -> Result<Command, CommandError> {
        let scoped: Option<fn(Scope) -> Command> = match name {
            "delete" => Some(Command::Delete),
            "keep" => Some(Command::Keep),
            "duplicate" => Some(Command::Duplicate),
            "revert" => Some(Command::Revert),
            "mark" => Some(Command::Mark),
            "unmark" => Some(Command::Unmark),
            _ => None,
        };
        if let Some(make) = scoped {
            return self.scope().map(make);
        }
        let command = match name {
            "nofilter" => Command::Filter(None),
            "nosort" => Command::Sort(Vec::new()),
            "apply-order" => Command::ApplyOrder,
            "changes" => Command::Changes,
            "plan" => Command::Plan,
            "verify" => Command::Verify,
            "outside" => Command::Outside,
            "wq" => Command::WriteQuit,
            "edit" => Command::Reload { discard: bang },
            _ => Command::Quit { discard: bang },
        };
        self.end(command)
    }

    fn set(&mut self) -> Result<Command, CommandError> {
        let mut assignments: Vec<Assignment> = Vec::new();
        while !self.scanner.is_done() && !self.is_where_next() {
            let at = self.scanner.at();
            let name = self.scanner.take_while(|c| !c.is_whitespace() && c != '=');
            let field = field(name, at..self.scanner.at())?;
            if assignments.iter().any(|known| known.field == field) {
                return Err(CommandError::new(at..self.scanner.at(), format!("{name} is set twice")));
            }
            self.scanner.skip_spaces();
            if self.scanner.consume("=") {
                self.scanner.skip_spaces();
            }
            if self.scanner.is_done() || self.is_where_next() {
                return Err(self.expected(&format!("a value for {name}")));
            }
            let (value, span) = self.word()?;
            assignments.push(assignment(field, &value, span, self.vocabulary)?);
            self.scanner.skip_spaces();
        }
        if assignments.is_empty() {
            return Err(self.expected("FIELD=VALUE"));
        }
        Ok(Command::Set { scope: self.scope()?, assignments })
    }

    fn extension(&mut self) -> Result<Command, CommandError> {
        let at = self.scanner.at();
        let action = self.scanner.take_word();
        if !extend::ACTIONS.iter().any(|(name, _)| *name == action) {
            let names = listed(extend::ACTIONS.iter().map(|(name, _)| *name));
            return Err(CommandError::new(at..self.scanner.at(), format!("expected {names}")));
        }
        self.scanner.skip_spaces();
        let mut words = Vec::new();
        while !self.scanner.is_done() && !self.is_where_next() {
            let at = self.scanner.at();
            let name = extend::name(&mut self.scanner).to_owned();
            let value = if self.scanner.consume("=") { Some(self.word()?.0) } else { None };
            words.push(extend::Word { name, value, span: at..self.scanner.at() });
            self.scanner.skip_spaces();
        }
        if words.is_empty() {
            return Err(self.expected("a path, such as image, video/duration or link[2]@href"));
        }
        let changes = extend::parse_changes(action, words)?;
        Ok(Command::Extend { scope: self.scope()?, changes })
    }

    fn clear(&mut self) -> Result<Command, CommandError> {
        let mut assignments = Vec::new();
        while !self.scanner.is_done() && !self.is_where_next() {
            let at = self.scanner.at();
            let name = self.scanner.take_while(|c| !c.is_whitespace() && c != ',');
            let span = at..self.scanner.at();
            let field = field(name, span.clone())?;
            let removal = assignment(field, "none", span, self.vocabulary)?;
            if !assignments.contains(&removal) {
                assignments.push(removal);
            }
            self.scanner.skip_spaces();
            if self.scanner.consume(",") {
                self.scanner.skip_spaces();
            }
        }
        if assignments.is_empty() {
            return Err(self.expected("the name of a field"));
        }
        Ok(Command::Set { scope: self.scope()?, assignments })
    }

    fn replace(&mut self) -> Result<Command, CommandError> {
        let Some(delimiter) = self.scanner.peek().filter(|c| DELIMITERS.contains(*c)) else {
            return Err(self.expected("/RE/REPL/"));
        };
        self.scanner.consume(delimiter.encode_utf8(&mut [0; 4]));
        let pattern = self.take_until(delimiter, "the expression")?;
        let replacement = self.take_until(delimiter, "the replacement")?;
        let flags_at = self.scanner.at();
        let flags = self.scanner.take_word();
        if let Some(at) = flags.find(|c| !matches!(c, 'g' | 'i')) {
            let span = flags_at + at..self.scanner.at();
            return Err(CommandError::new(span, "expected g (every match), i (any case) or a space"));
        }
        let parts = ReplaceParts {
            line: self.line,
            pattern,
            replacement,
            delimiter,
            all: flags.contains('g'),
            any_case: flags.contains('i'),
        };
        let mut replace = Replace::new(&parts)?;
        self.scanner.skip_spaces();
        if self.scanner.consume("--in") {
            self.scanner.consume("=");
            self.scanner.skip_spaces();
            let at = self.scanner.at();
            let targets = Targets::from_names(self.scanner.take_word());
            let expected = || CommandError::new(at..self.scanner.at(), format!("expected {}", Targets::expected()));
            replace = replace.with_targets(targets.ok_or_else(expected)?);
            self.scanner.skip_spaces();
        }
        Ok(Command::Replace { scope: self.scope()?, replace })
    }

    /// The span of the text up to the delimiter, which is consumed; `\` escapes the next character.
    fn take_until(&mut self, delimiter: char, what: &str) -> Result<Range<usize>, CommandError> {
        let start = self.scanner.at();
        let mut escaped = false;
        self.scanner.take_while(|c| {
            let ends = c == delimiter && !escaped;
            escaped = c == '\\' && !escaped;
            !ends
        });
        let end = self.scanner.at();
        if self.scanner.is_done() {
            return Err(CommandError::new(end..end, format!("expected `{delimiter}` after {what}")));
        }
        self.scanner.consume(delimiter.encode_utf8(&mut [0; 4]));
        Ok(start..end)
    }

    fn fix(&mut self) -> Result<Command, CommandError> {
        let mut rules: Vec<String> = Vec::new();
        let mut answer = None;
        while !self.scanner.is_done() && !self.is_where_next() {
            let (word, span) = self.word()?;
            let known = self.vocabulary.rules;
            let is_rule = word == "safe" || !rule_indexes(&word, known).is_empty();
            let answers = match rules.as_slice() {
                [only] if !is_rule => Rule::from_code(only),
                _ => None,
            };
            if let Some(rule) = answers {
                // After a single rule, a word that is no rule is its answer.
                let today = self.vocabulary.now.today();
                let hints = Hints { zone: 0, origin: None, today: Some(&today) };
                let checked = decision::parse_answer(rule, &word, hints);
                checked.map_err(|message| CommandError::new(span, message))?;
                answer = Some(word);
                self.scanner.skip_spaces();
                if !self.scanner.is_done() && !self.is_where_next() {
                    return Err(self.expected("one answer, then optionally `where`"));
                }
                continue;
            }
            if !is_rule {
                let guess = nearest(&word, known.iter().copied());
                let guess = guess.map_or_else(String::new, |code| format!("; did you mean {code}?"));
                return Err(CommandError::new(span, format!("unknown rule {word}{guess}")));
            }
            rules.push(word);
            self.scanner.skip_spaces();
        }
        if rules.len() > 1 && rules.iter().any(|rule| rule == "safe") {
            return Err(self.expected("either `safe` or rule codes"));
        }
        rules.retain(|rule| rule != "safe");
        Ok(Command::Fix { scope: self.scope()?, rules, answer })
    }

    fn urls(&mut self) -> Result<Vec<String>, CommandError> {
        let mut urls = Vec::new();
        while !self.scanner.is_done() {
            urls.push(self.word()?.0);
            self.scanner.skip_spaces();
        }
        if urls.is_empty() { Err(self.expected("a URL")) } else { Ok(urls) }
    }

    fn marks(&mut self) -> Result<Marks, CommandError> {
        let at = self.scanner.at();
        let word = self.scanner.rest().trim_end();
        let found = Marks::ALL.into_iter().find(|(_, name)| *name == word);
        found.map(|(marks, _)| marks).ok_or_else(|| {
            let names = listed(Marks::ALL.iter().map(|(_, name)| *name));
            CommandError::new(at..at + word.len(), format!("expected {names}"))
        })
    }

    fn row(&mut self) -> Result<Goto, CommandError> {
        let at = self.scanner.at();
        if self.scanner.consume("$") {
            return Ok(Goto::Last);
        }
        // Numbers may be grouped as they are on the screen.
        let digits = self.scanner.take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '_')).replace([',', '_'], "");
        match digits.parse() {
            Ok(row) if row > 0 => Ok(Goto::Row(row)),
            _ => {
                Err(CommandError::new(at..self.scanner.at(), "expected the number of a row, from 1, or $ for the last"))
            }
        }
    }

    fn count(&mut self) -> Result<u32, CommandError> {
        if self.scanner.is_done() {
            return Ok(1);
        }
        let at = self.scanner.at();
        match self.scanner.take_while(|c| c.is_ascii_digit()).parse() {
            Ok(count) if count > 0 => Ok(count),
            _ => {
                // At least one character, whatever its length in bytes.
                let first = self.line.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                Err(CommandError::new(at..self.scanner.at().max(at + first), "expected a number of steps"))
            }
        }
    }

    /// The rest of the line as one text, without its quotes.
    fn text(&mut self) -> Result<Option<String>, CommandError> {
        if self.scanner.peek() == Some('"') {
            let (text, _) = self.word()?;
            self.scanner.skip_spaces();
            return self.end(Some(text));
        }
        let text = self.scanner.rest().trim_end();
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// A value up to whitespace, or in quotes.
    fn word(&mut self) -> Result<(String, Range<usize>), CommandError> {
        let at = self.scanner.at();
        if self.scanner.peek() != Some('"') {
            let word = self.scanner.take_word().to_owned();
            return Ok((word, at..self.scanner.at()));
        }
        let unclosed = |Unclosed(span): Unclosed| CommandError::new(span.start..span.start + 1, "unclosed quote");
        let word = self.scanner.take_quoted().map_err(unclosed)?;
        let end = self.scanner.at();
        match self.scanner.peek() {
            Some(c) if !c.is_whitespace() => {
                let message = "expected a space after the closing quote; a quote inside is written twice";
                Err(CommandError::new(end..end + c.len_utf8(), message))
            }
            _ => Ok((word, at..end)),
        }
    }

    fn is_where_next(&self) -> bool {
        self.scanner
            .rest()
            .strip_prefix("where")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    }

    /// The rows, from `%` and from `where` at the end of the line.
    fn scope(&mut self) -> Result<Scope, CommandError> {
        let shown = self.shown;
        if self.scanner.is_done() {
            return Ok(Scope { shown, query: None });
        }
        if !self.is_where_next() {
            let at = self.scanner.at();
            let word = self.scanner.take_word();
            return Err(CommandError::new(at..at + word.len(), "expected `where` and a query"));
        }
        self.scanner.consume("where");
        self.scanner.skip_spaces();
        if self.scanner.is_done() {
            return Err(self.expected("a query after `where`"));
        }
        Ok(Scope { shown, query: Some(self.query()?) })
    }

    /// The rest of the line as a query.
    fn query(&mut self) -> Result<Query, CommandError> {
        let at = self.scanner.at();
        if Query::is_blank(self.scanner.rest()) {
            return Err(CommandError::new(at..self.line.len(), "the query is empty"));
        }
        Query::parse(self.scanner.rest(), self.vocabulary).map_err(|error| CommandError::from(error).shifted(at))
    }

    fn search(&mut self) -> Result<Command, CommandError> {
        self.scanner.skip_spaces();
        if self.scanner.is_done() {
            return Err(self.expected("a query to search for"));
        }
        self.query().map(Command::Search)
    }

    /// Returns `value` if the line ends here.
    fn end<T>(&mut self, value: T) -> Result<T, CommandError> {
        self.scanner.skip_spaces();
        if self.scanner.is_done() {
            return Ok(value);
        }
        let at = self.scanner.at();
        Err(CommandError::new(at..self.line.len(), "expected nothing more"))
    }

    fn expected(&self, what: &str) -> CommandError {
        let at = self.scanner.at();
        CommandError::new(at..at, format!("expected {what}"))
    }
}

impl CommandError {
    fn hinted(mut self, hint: &str) -> Self {
        hint.clone_into(&mut self.hint);
        self
    }
}

fn field(name: &str, span: Range<usize>) -> Result<Field, CommandError> {
    Field::from_name(name).ok_or_else(|| {
        let names = || Field::ALL.iter().map(|field| field.name());
        let message = match nearest(name, names()) {
            Some(near) => format!("unknown field {name}; did you mean {near}?"),
            None => format!("expected {}", listed(names())),
        };
        CommandError::new(span, message)
    })
}
