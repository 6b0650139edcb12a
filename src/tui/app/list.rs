//! Lists to read or to choose from: help, palette, history, rules, dates, an explanation.

use super::super::command::{Action, COMMANDS, Group};
use super::super::keymap::spelled;
use super::super::prompt::{Prompt, Reply};
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::{App, Mode};
use crate::check::decision::Decision;
use crate::check::rule::Rule;
use crate::protocol::verdict::Verdict;
use crate::protocol::{Field, Severity, lastmod};
use crate::session::command::{Arguments, Spec, TABLE, spec};
use crate::session::findings::Place;
use crate::words::{counted, grouped};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Which list it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// All keys and commands.
    Help,
    /// Commands by name.
    Palette,
    /// Changes made.
    History,
    /// Changes made, as the commands that make them.
    Script,
    /// Rules broken, with counts.
    Rules,
    /// Values for lastmod.
    Dates,
    /// What is wrong with one row, at length.
    Explain,
    /// The ways to put a finding right that needs a decision.
    Decide(Rule),
    /// What a save would change, as a diff.
    Diff,
    /// The proof of what a save would change.
    Proof,
}

/// What choosing a line does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Nothing: it is there to be read.
    Read,
    /// Does an action.
    Run(Action),
    /// Goes to the state with so many steps in effect.
    Travel(usize),
    /// Shows what breaks a rule: rows, or files and entries of the index.
    Rule(Rule),
    /// Shows the rows that break a rule.
    Rows(Rule),
    /// Sets lastmod to what is typed.
    Lastmod(String),
    /// Puts a rule's findings right so.
    Decide(Rule, Decision),
    /// Edits the cell of a field.
    Cell(Field),
    /// A finding of the row: puts it right.
    OfRow(Rule),
    /// Says more of a finding that no row carries.
    Found(Place, Rule),
    /// Puts right what breaks a rule there.
    FixWhole(Place, Rule),
    /// Begins a command on the `:` line.
    Line(String),
}

/// A list.
#[derive(Debug)]
pub struct List {
    /// Which.
    pub kind: ListKind,
    /// What narrows it, where it can be narrowed.
    pub prompt: Option<Prompt>,
    /// The lines, with what choosing them does.
    pub lines: Vec<(Line, Choice)>,
    /// The chosen line.
    pub chosen: usize,
    /// Where a `g` has just led away from.
    left: Option<usize>,
    /// Whether it was on the screen.
    pub(super) drawn: bool,
}

impl List {
    pub(super) fn new(kind: ListKind, lines: Vec<(Line, Choice)>) -> Box<Self> {
        let mut list = Self { kind, prompt: None, lines, chosen: 0, left: None, drawn: false };
        list.chosen = list.near(0, true);
        Box::new(list)
    }

    /// Whether lines are chosen, or only scrolled.
    pub fn chooses(&self) -> bool {
        self.lines.iter().any(|(_, choice)| *choice != Choice::Read)
    }

    /// Whether `x` puts right what is chosen.
    fn fixes(&self) -> bool {
        matches!(self.kind, ListKind::Rules | ListKind::Explain)
    }

    /// Chooses a line, or the nearest that can be chosen.
    pub(super) fn choose(&mut self, line: usize) {
        self.chosen = self.near(line, true);
    }

    /// The nearest line that can be chosen.
    fn near(&self, from: usize, down: bool) -> usize {
        let last = self.lines.len().saturating_sub(1);
        let from = from.min(last);
        if !self.chooses() {
            return from;
        }
        let can = |at: &usize| self.lines.get(*at).is_some_and(|(_, choice)| *choice != Choice::Read);
        let (mut after, mut before) = ((from..=last).filter(can), (0..=from).rev().filter(can));
        let (first, second) = if down { (after.next(), before.next()) } else { (before.next(), after.next()) };
        first.or(second).unwrap_or(from)
    }

    fn go(&mut self, down: bool, by: usize) {
        let at = if down { self.chosen.saturating_add(by) } else { self.chosen.saturating_sub(by) };
        self.chosen = self.near(at, down);
    }

    /// Commands whose names hold the letters typed, best first.
    fn narrow(&mut self) {
        let typed = self.prompt.as_ref().map(|prompt| prompt.text().to_lowercase()).unwrap_or_default();
        let mut found: Vec<(u32, &super::super::command::Command)> = COMMANDS
            .iter()
            .filter(|command| !matches!(command.action, Action::Palette | Action::Escape))
            .filter_map(|command| {
                let by_name = fit(command.name, &typed);
                let by_line = says(command.line, &typed).map(|cost| cost + 100);
                Some((by_name.or(by_line)?, command))
            })
            .collect();
        found.sort_by_key(|(cost, _)| *cost);
        let mut lines: Vec<(u32, (Line, Choice))> = found
            .into_iter()
            .map(|(cost, command)| {
                let words = Words::text(format!("{:22}", command.name)).and(Role::Dim, command.line.replace('`', ""));
                let keys = Words::new().and(Role::Key, keys_of(command.keys));
                (cost, entry(words, keys, Choice::Run(command.action)))
            })
            .collect();
        // Commands of the line come after keys that fit as well: these do it at once.
        lines.extend(TABLE.iter().filter_map(|spec| {
            let names = std::iter::once(&spec.name).chain(spec.aliases);
            let by_name = names.filter_map(|name| fit(name, typed.trim_start_matches(':'))).min();
            let cost = by_name.or(says(spec.about, &typed).map(|cost| cost + 100))?;
            let words = Words::text(format!("{:22}", format!(":{}", spec.name))).and(Role::Dim, spec.about);
            let space =
                if spec.arguments == Arguments::Nothing || spec.arguments == Arguments::Replace { "" } else { " " };
            let line = Choice::Line(format!("{}{space}", spec.name));
            Some((cost, entry(words, Words::dim(spec.example), line)))
        }));
        lines.sort_by_key(|(cost, _)| *cost);
        self.lines = lines.into_iter().map(|(_, line)| line).collect();
        if self.lines.is_empty() {
            self.lines.push((Words::dim("no command has this name; ? lists them all").into(), Choice::Read));
        }
        self.chosen = 0;
    }

    /// The wheel.
    pub fn scroll(&mut self, down: bool) {
        self.go(down, 3);
    }
}

pub(super) fn entry(words: Words, right: Words, choice: Choice) -> (Line, Choice) {
    (Line::new(words, right), choice)
}

fn heading(text: &str) -> (Line, Choice) {
    (Words::new().and(Role::Bold, text.to_owned()).into(), Choice::Read)
}

pub(super) fn blank() -> (Line, Choice) {
    (Line::default(), Choice::Read)
}

/// All keys of a command, as help shows them.
fn keys_of(keys: &[&str]) -> String {
    keys.iter().map(|keys| spelled(keys)).collect::<Vec<_>>().join("  ")
}

impl App {
    /// Everything there is, from a topic on.
    pub(super) fn open_help(&mut self, topic: Option<&str>) {
        if let Some(rule) = topic.and_then(Rule::from_code) {
            return self.open_rule(rule);
        }
        if let Some(topic) = topic.filter(|topic| spec(topic).is_none())
            && self.open_value(topic)
        {
            return;
        }
        let mut lines = Vec::new();
        for group in Group::ALL {
            if !lines.is_empty() {
                lines.push(blank());
            }
            lines.push(heading(group.name()));
            for command in COMMANDS.iter().filter(|command| command.group == group) {
                let keys = format!("{:18}", keys_of(command.keys));
                let words = Words::new().and(Role::Key, keys).and(Role::Text, command.line.replace('`', ""));
                lines.push(entry(words, Words::dim(command.name), Choice::Run(command.action)));
            }
        }
        lines.push(blank());
        lines.push(heading("Commands"));
        for spec in TABLE {
            let words = Words::new().and(Role::Key, usage(spec)).and(Role::Text, spec.about);
            lines.push((Line::new(words, Words::dim(spec.example)), Choice::Read));
        }
        lines.push(blank());
        lines.push(heading("Queries"));
        for (example, about) in QUERY_HELP {
            let words = Words::new().and(Role::Key, format!("{example:35}")).and(Role::Text, *about);
            lines.push((words.into(), Choice::Read));
        }
        let mut list = List::new(ListKind::Help, lines);
        if let Some(topic) = topic.filter(|topic| !topic.is_empty()) {
            // A command by its name, then any line that speaks of it; `query` means the examples.
            let topic = if matches!(topic, "query" | "queries" | "where") { "Queries" } else { topic };
            let command = spec(topic).map(usage);
            let starts = |(line, _): &(Line, Choice)| {
                line.left.pieces().iter().any(|(_, text)| command.as_deref() == Some(&**text) || *text == topic)
            };
            let says = |(line, _): &(Line, Choice)| line.left.pieces().iter().any(|(_, text)| text.contains(topic));
            let at = list.lines.iter().position(starts).or_else(|| list.lines.iter().position(says));
            match at {
                Some(at) => list.chosen = at,
                None => return self.fail(format!("help has nothing on {topic}; :help alone lists all")),
            }
        }
        self.mode = Mode::List(list);
    }

    /// Commands by name.
    pub(super) fn open_palette(&mut self) {
        let mut list = List::new(ListKind::Palette, Vec::new());
        list.prompt = Some(Prompt::new("", Vec::new()));
        list.narrow();
        self.mode = Mode::List(list);
    }

    /// The changes made, newest first.
    pub(super) fn open_history(&mut self) {
        let entries = self.session.history();
        if entries.is_empty() {
            return self.say("nothing was changed yet");
        }
        let done = entries.iter().filter(|entry| entry.done).count();
        let mut lines = Vec::new();
        for (at, step) in entries.iter().enumerate().rev() {
            let here = at + 1 == done;
            let role = if step.done { Role::Text } else { Role::Dim };
            let mut words = Words::dim(format!("{:>5}  ", at + 1)).and(role, step.label.clone());
            if !step.done {
                words.push(Role::Dim, "   undone");
            }
            let mut right = Words::new();
            if here {
                right.push(Role::Accent, "now");
            }
            if step.saved {
                right.push(Role::Good, if here { "   saved" } else { "saved" });
            }
            lines.push(entry(words, right, Choice::Travel(at + 1)));
        }
        let right = if done == 0 { Words::new().and(Role::Accent, "now") } else { Words::new() };
        lines.push(entry(Words::dim("    0  as it was opened"), right, Choice::Travel(0)));
        let mut list = List::new(ListKind::History, lines);
        list.chosen = entries.len() - done;
        self.mode = Mode::List(list);
    }

    /// The changes made, as a script.
    pub(super) fn open_script(&mut self) {
        let script = self.session.script();
        if script.is_empty() {
            return self.say("nothing was changed yet");
        }
        let role = |line: &str| if line.starts_with('#') { Role::Dim } else { Role::Text };
        let lines = script.iter().map(|line| (Words::new().and(role(line), line.clone()).into(), Choice::Read));
        self.mode = Mode::List(List::new(ListKind::Script, lines.collect()));
    }

    /// The rules that are broken, with how often.
    pub(super) fn open_rules(&mut self) {
        let mut lines: Vec<(Line, Choice)> = Vec::new();
        for (rule, count) in self.session.rule_counts() {
            let Some(severity) = rule.severity_in(self.session.profile()) else { continue };
            let words = Words::new()
                .and(severity.into(), format!("{} {:>8}  ", self.theme.finding_sign(severity), grouped(count)))
                .and(Role::Text, format!("{:32}", rule.code()))
                .and(Role::Dim, rule.summary());
            lines.push(entry(words, Words::new(), Choice::Rule(rule)));
        }
        let (whole, _) = self.session.first_whole_findings(200, |_| true, |_| ());
        if !whole.is_empty() {
            lines.push(blank());
            lines.push(heading("Of the files and the set"));
            for finding in &whole {
                let sign = self.theme.finding_sign(finding.severity);
                let message = self.message_of(finding);
                let right = finding.fix.as_ref().map_or_else(Words::new, |fix| {
                    Words::new().and(Role::Key, "x").and(Role::Text, format!(" {}", fix.label))
                });
                // The bar, the sign and the gaps take the rest.
                let charset = self.theme.charset;
                let fixed = right.width(charset) + 11;
                let place = self.place_beside(finding.place, charset.width(message) + fixed);
                // What can be done is always said: the message gives way.
                let room = usize::from(self.size.0).saturating_sub(charset.width(&place) + fixed);
                let message = if right.is_empty() { message.into() } else { charset.cut(message, room.max(16)) };
                let words = Words::new()
                    .and(finding.severity.into(), format!("{sign} "))
                    .and(Role::Text, format!("{place}  "))
                    .and(Role::Dim, message.into_owned());
                lines.push(entry(words, right, Choice::Found(finding.place, finding.rule)));
            }
        }
        if lines.is_empty() {
            return self.say("no rule is broken");
        }
        self.mode = Mode::List(List::new(ListKind::Rules, lines));
    }

    /// Values for lastmod.
    pub(super) fn open_dates(&mut self) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let mut list = List::new(ListKind::Dates, self.dates(""));
        list.prompt = Some(Prompt::new("", Vec::new()));
        self.mode = Mode::List(list);
    }

    /// Values for lastmod that begin with what is typed, and what is typed itself.
    fn dates(&self, typed: &str) -> Vec<(Line, Choice)> {
        let now = self.session.view().now;
        let typed = typed.trim();
        let one = |typed: &str, about: String| {
            let words = Words::text(format!("{typed:8}")).and(Role::Dim, format!("  {about}"));
            entry(words, Words::new(), Choice::Lastmod(typed.to_owned()))
        };
        let mut lines: Vec<(Line, Choice)> = [
            ("today", now.today()),
            ("now", now.timestamp()),
            ("+1d", "a day later than it says".to_owned()),
            ("-1d", "a day earlier".to_owned()),
            ("+7d", "a week later".to_owned()),
            ("-7d", "a week earlier".to_owned()),
            ("none", "no lastmod: none is better than an invented one".to_owned()),
        ]
        .into_iter()
        .filter(|(name, _)| name.starts_with(&typed.to_ascii_lowercase()))
        .map(|(name, about)| one(name, about))
        .collect();
        if lines.is_empty() {
            let is_step = typed.starts_with(['+', '-']);
            match lastmod::from_typed(typed, Some(&now.today()), now) {
                Err(error) => lines.push((Words::new().and(Role::Error, error.to_string()).into(), Choice::Read)),
                Ok(Some(value)) if !lastmod::verdicts(&value).iter().any(Verdict::accepts) => {
                    let words = format!("{typed}: no date, no step such as +7d, and not today, now or none");
                    lines.push((Words::new().and(Role::Error, words).into(), Choice::Read));
                }
                Ok(_) if is_step => lines.push(one(typed, "from what it says".to_owned())),
                Ok(_) => lines.push(one(typed, "this very value".to_owned())),
            }
        }
        lines
    }

    pub(super) fn list_key(&mut self, mut list: Box<List>, key: KeyEvent) {
        // No date and no zone has these letters; they move as in every list.
        let own = match list.kind {
            ListKind::Dates => true,
            ListKind::Decide(_) => list.prompt.as_ref().is_some_and(|prompt| prompt.text().is_empty()),
            _ => false,
        };
        let moves = own && matches!(key.code, KeyCode::Char('j' | 'k'));
        if let Some(prompt) = list.prompt.as_mut().filter(|_| !moves) {
            match prompt.press(key) {
                Reply::Changed => {
                    let typed = prompt.text().to_owned();
                    match list.kind {
                        ListKind::Dates => (list.lines, list.chosen) = (self.dates(&typed), 0),
                        ListKind::Decide(rule) => (list.lines, list.chosen) = (self.decide_again(rule, &typed), 0),
                        _ => list.narrow(),
                    }
                    self.mode = Mode::List(list);
                    return;
                }
                Reply::Moved => {
                    self.mode = Mode::List(list);
                    return;
                }
                Reply::Drop => return,
                _ => {}
            }
        }
        let typing = list.prompt.is_some() && !moves;
        let page = usize::from(self.areas().rows.height.max(4)) / 2;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => {
                if let Some((_, choice)) = list.lines.get(list.chosen)
                    && *choice != Choice::Read
                {
                    let choice = choice.clone();
                    return self.choose(choice);
                }
                if let ListKind::Decide(_) = list.kind {
                    self.fail("that is not understood; Esc leaves the value as it is");
                    self.mode = Mode::List(list);
                    return;
                }
                if list.kind == ListKind::Dates {
                    self.fail("that is no date and no step; Esc leaves lastmod as it is");
                } else if !list.chooses() {
                    return self.close_list();
                }
            }
            KeyCode::Esc => return self.close_list(),
            KeyCode::Char('c' | 'q') if ctrl || (!typing && key.code == KeyCode::Char('q')) => {
                return self.close_list();
            }
            KeyCode::Down | KeyCode::Tab => list.go(true, 1),
            KeyCode::Up | KeyCode::BackTab => list.go(false, 1),
            KeyCode::PageDown => list.go(true, page),
            KeyCode::PageUp => list.go(false, page),
            KeyCode::Char(letter) if !typing => match (letter, ctrl) {
                ('j', false) => list.go(true, 1),
                ('k', false) => list.go(false, 1),
                ('d' | 'f', true) | (' ', false) => list.go(true, page),
                ('u' | 'b', true) => list.go(false, page),
                ('g', false) => {
                    let here = list.chosen;
                    list.go(false, usize::MAX);
                    list.left = Some(here);
                    self.mode = Mode::List(list);
                    return;
                }
                ('G', false) => list.go(true, usize::MAX / 2),
                ('?', false) if list.kind == ListKind::Help => return,
                ('c', false) if list.kind == ListKind::History => return self.open_script(),
                ('y', false) if list.kind == ListKind::Script => return self.copy_script(),
                ('K', false) if list.kind == ListKind::Explain => return,
                ('x', false) if list.fixes() => {
                    // `gx` is what it is in the table: the first of the keys goes up.
                    list.chosen = list.left.take().unwrap_or(list.chosen);
                    return self.fix_chosen(list);
                }
                _ => {}
            },
            KeyCode::Home if !typing => list.go(false, usize::MAX),
            KeyCode::End if !typing => list.go(true, usize::MAX / 2),
            _ => {}
        }
        list.left = None;
        self.mode = Mode::List(list);
    }

    /// Back to the question that a list was opened from, or to the table.
    fn close_list(&mut self) {
        if let Some(mut ask) = self.under.take() {
            ask.drawn = false;
            self.mode = Mode::Ask(ask);
        }
    }

    fn choose(&mut self, choice: Choice) {
        match choice {
            Choice::Read => {}
            Choice::Run(action) => self.run(action, None),
            Choice::Travel(steps) => self.travel(steps),
            Choice::Rule(rule) => {
                if self.session.each_whole_finding().any(|finding| finding.rule == rule) {
                    self.open_of_files(rule);
                } else {
                    self.filter_by(&format!("rule:{}", rule.code()));
                }
            }
            Choice::Decide(rule, decision) => self.decide(rule, decision),
            Choice::Cell(field) => {
                self.grid.field = field;
                self.open_cell(false);
            }
            Choice::OfRow(rule) => self.fix_rule(rule),
            Choice::Found(_, rule) => self.open_of_files(rule),
            Choice::FixWhole(place, rule) => self.fix_whole(place, rule),
            Choice::Line(line) => self.open_line(super::Purpose::Command, &line),
            Choice::Rows(rule) => self.filter_by(&format!("rule:{}", rule.code())),
            Choice::Lastmod(typed) => {
                let rows = self.targets(None);
                self.keep_bulk(Field::Lastmod, &typed, rows.len());
                self.set_rows(rows, Field::Lastmod, &typed);
            }
        }
    }

    /// What marks there are, in words.
    pub(super) fn say_marks(&mut self) {
        let marked = self.session.marked();
        self.say_words(Words::text(format!("{} marked", counted(marked, "row"))), Severity::Note);
    }
}

/// How well a name holds letters in their order; less is better, `None` is not at all.
fn fit(name: &str, letters: &str) -> Option<u32> {
    let name = name.to_lowercase();
    if letters.is_empty() {
        return Some(0);
    }
    if let Some(at) = name.find(letters) {
        let starts_word = at == 0 || name.as_bytes().get(at - 1) == Some(&b' ');
        return Some(if starts_word { 0 } else { 10 } + u32::try_from(at).unwrap_or(0));
    }
    let (mut cost, mut rest) = (30, name.chars());
    for letter in letters.chars().filter(|letter| *letter != ' ') {
        let skipped = rest.by_ref().position(|other| other == letter)?;
        cost += u32::try_from(skipped).unwrap_or(u32::MAX).min(50);
    }
    Some(cost)
}

/// Where a sentence says what is typed; letters scattered over prose mean nothing.
fn says(sentence: &str, typed: &str) -> Option<u32> {
    sentence.to_lowercase().find(typed).map(|at| u32::try_from(at).unwrap_or(u32::MAX - 100).min(900))
}

const QUERY_HELP: &[(&str, &str)] = &[
    ("blog", "loc holds the word"),
    ("path:/blog/*", "loc's path is like the pattern"),
    ("priority<0.5", "compare: = != < <= > >="),
    ("lastmod<2025-03", "dates by what they mean; also today, -30d"),
    ("lastmod=none", "the value is absent"),
    ("loc~\"\\.html$\"", "regular expression"),
    ("has:image", "image, video, news, alternate, lastmod…"),
    ("is:changed", "changed, added, deleted, marked, duplicate, repaired"),
    ("rule:loc-fragment", "breaks the rule"),
    ("severity:error", "error, warning, note"),
    ("section=blog not has:image", "all of them; also or, not, ( )"),
];

/// How a command is written, as the help shows it.
fn usage(spec: &Spec) -> String {
    // One that is longer than its column still ends in a blank.
    format!(":{:34}", spec.usage() + " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_find_commands() {
        assert_eq!(fit("delete rows", "del"), Some(0));
        assert!(fit("delete rows", "rows") < fit("delete rows", "ows"));
        assert!(fit("delete rows", "drw").is_some());
        assert_eq!(fit("delete rows", "xyz"), None);
    }
}
