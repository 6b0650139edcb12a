//! Completion on the `:` line.
//!
//! It does not validate: it works on lines that do not parse yet.

use crate::check::Profile;
use crate::check::decision::answers;
use crate::check::rule::Rule;
use crate::data::Kind;
use crate::document::query::{Candidate, Completions, Vocabulary, completions as query_completions};
use crate::document::sort::Column;
use crate::files::backup::When;
use crate::manual::PAGES;
use crate::protocol::Field;
use crate::protocol::changefreq::Changefreq;
use crate::session::command::table::{Arguments, Spec, TABLE, spec};
use crate::session::command::{ALLOW_PRIVATE, CONCURRENCY, Marks, RATE, REWRITE_INDEX, Targets};

/// The names of the screen's themes.
pub const THEMES: [&str; 3] = ["dark", "light", "none"];

/// The names of the screen's columns.
pub const COLUMNS: [&str; 6] = ["loc", "lastmod", "changefreq", "priority", "ext", "file"];

/// The candidates at a cursor, given as a byte offset into the line.
pub fn completions(line: &str, cursor: usize, vocabulary: &Vocabulary<'_>) -> Completions {
    let typed = line.get(..cursor).unwrap_or(line);
    let body = typed.trim_start().trim_start_matches(':').trim_start();
    if let Some(query) = body.strip_prefix('/') {
        return in_query(typed, query, vocabulary);
    }
    let body = body.strip_prefix('%').map_or(body, str::trim_start);
    let name_end = body.find(|c: char| !(c.is_ascii_alphabetic() || c == '-')).unwrap_or(body.len());
    let (name, rest) = body.split_at(name_end);
    if rest.is_empty() {
        let ranged_only = typed.contains('%');
        let items = TABLE.iter().filter(|spec| spec.name.starts_with(name) && (spec.ranged || !ranged_only));
        return Completions {
            from: typed.len() - name.len(),
            items: items.map(|spec| Candidate::new(with_space(spec), spec.about)).collect(),
        };
    }
    let Some(spec) = spec(name) else { return no_completions(typed) };
    if spec.ranged
        && let Some(query) = after_where(rest)
    {
        return in_query(typed, query, vocabulary);
    }
    if spec.arguments == Arguments::Query {
        return in_query(typed, rest.trim_start(), vocabulary);
    }
    arguments(spec, typed, rest, vocabulary)
}

/// The byte offset of a path at the end of a line; `None` if the line does not end in one.
pub(crate) fn path_argument(typed: &str) -> Option<usize> {
    let body = typed.trim_start().trim_start_matches(':').trim_start();
    let name_end = body.find(|c: char| !(c.is_ascii_alphabetic() || c == '-'))?;
    let (name, rest) = body.split_at(name_end);
    let spec = spec(name).filter(|spec| {
        matches!(
            spec.arguments,
            Arguments::Path | Arguments::Data | Arguments::Dates | Arguments::Probe | Arguments::Download
        )
    })?;
    // Some commands take a `!`.
    let rest = rest.strip_prefix('!').unwrap_or(rest);
    let mut path = rest.trim_start();
    if spec.arguments == Arguments::Probe {
        path = path.strip_prefix("write").filter(|path| path.starts_with(' '))?.trim_start();
    }
    if spec.arguments == Arguments::Download {
        path = path.split_once(" --into ").map(|(_, path)| path.trim_start())?;
    }
    if matches!(spec.arguments, Arguments::Data | Arguments::Dates) {
        // One of several words.
        let word = rest.rfind(char::is_whitespace).map_or(rest, |at| rest.get(at + 1..).unwrap_or_default());
        let before = rest.strip_suffix(word).unwrap_or(rest).trim_end();
        path =
            if before.ends_with("--key") || before.ends_with("--map") || word.starts_with("--") { rest } else { word };
    }
    (path.len() < rest.len() && !path.starts_with('"')).then(|| typed.len() - path.len())
}

fn arguments(spec: &Spec, typed: &str, rest: &str, vocabulary: &Vocabulary<'_>) -> Completions {
    let separators: &[char] =
        if matches!(spec.arguments, Arguments::Keys | Arguments::Columns) { &[' ', ','] } else { &[' '] };
    let word = rest.rsplit(separators).next().unwrap_or_default();
    let mut items: Vec<Candidate> = match spec.arguments {
        Arguments::Assignments => return assignment(spec, typed, word, vocabulary),
        Arguments::Extension => {
            let before: Vec<&str> = rest.split_whitespace().collect();
            let before =
                if word.is_empty() { &before[..] } else { before.split_last().map_or(&[][..], |(_, rest)| rest) };
            super::extend::candidates(before, word)
        }
        Arguments::Fields => fields("").collect(),
        Arguments::Keys => {
            let word = word.strip_prefix('-').unwrap_or(word);
            let items = Column::ALL.iter().map(|(_, name)| Candidate::new(*name, "column"));
            return filter_candidates(typed, word, items.chain(data_columns(vocabulary, |_| true)).collect());
        }
        Arguments::Marks => Marks::ALL.iter().map(|(_, name)| Candidate::new(*name, "")).collect(),
        Arguments::Rules => {
            // After a single rule, its answers.
            let before = rest.strip_suffix(word).unwrap_or(rest).trim();
            if let Some(rule) = Rule::from_code(before) {
                let answers = answers(rule).into_iter().filter(|answer| !answer.word.starts_with(char::is_uppercase));
                let mut items: Vec<Candidate> =
                    answers.map(|answer| Candidate::new(answer.word, answer.about)).collect();
                items.push(Candidate::new("where ", "then a query: only matching rows"));
                return filter_candidates(typed, word, items);
            }
            let rules = vocabulary.rules.iter().map(|code| Candidate::new(*code, "rule"));
            [Candidate::new("safe", "all fixes that need no decision")].into_iter().chain(rules).collect()
        }
        Arguments::Data => vec![
            Candidate::new("missing", "URLs of the data that no row has"),
            Candidate::new("off", "unload the data"),
            Candidate::new("--key ", "then the name of the column of URLs, or its number"),
        ],
        Arguments::Probe => vec![
            Candidate::new("write ", "then the path of a new file for the results"),
            Candidate::new(ALLOW_PRIVATE, "also addresses such as 127.0.0.1"),
            Candidate::new(format!("{RATE} "), "then the maximum requests per second to one host; 0 means no limit"),
            Candidate::new(format!("{CONCURRENCY} "), "then the maximum concurrent requests to one host"),
        ],
        Arguments::Dates => vec![
            Candidate::new("git", "the last commit that changed the source; then the folder of the sources"),
            Candidate::new("mtime ", "the time at which the source was modified; then the folder of the sources"),
            Candidate::new("--map ", "where sources are: \"/blog/* = content/blog/*.md\""),
        ],
        Arguments::Download => vec![
            Candidate::new("https://", "the site, or its sitemap"),
            Candidate::new("http://", ""),
            Candidate::new("--into ", "then the folder that the files go into"),
        ],
        Arguments::History => vec![Candidate::new("--as-commands", "as a script")],
        Arguments::Backup => When::ALL.iter().map(|when| Candidate::new(when.name(), "")).collect(),
        Arguments::Profile => Profile::ALL.iter().map(|profile| Candidate::new(profile.name(), "")).collect(),
        Arguments::Topic => {
            let rules = vocabulary.rules.iter().map(|code| Candidate::new(*code, "rule"));
            let pages = PAGES.iter().map(|page| Candidate::new(page.name, page.about));
            TABLE.iter().map(|spec| Candidate::new(spec.name, spec.about)).chain(pages).chain(rules).collect()
        }
        Arguments::Theme => THEMES.iter().map(|name| Candidate::new(*name, "")).collect(),
        Arguments::Columns => {
            let sets = [Candidate::new("all", "every column"), Candidate::new("auto", "columns that are not empty")];
            let own = COLUMNS.iter().map(|name| Candidate::new(*name, "column"));
            own.chain(data_columns(vocabulary, |_| true)).chain(sets).collect()
        }
        Arguments::Url => {
            let has_url = rest.split_whitespace().count() > usize::from(!word.is_empty());
            let items = [Candidate::new("https://", ""), Candidate::new("http://", "")];
            let option = Candidate::new(REWRITE_INDEX, "write the entries of the index below this URL");
            if has_url { vec![option] } else { items.to_vec() }
        }
        Arguments::Row => vec![Candidate::new("$", "the last row")],
        Arguments::Replace => {
            let before: Vec<&str> = rest.split_whitespace().collect();
            let is_value =
                before.len() >= 2 && before.get(before.len() - 1 - usize::from(!word.is_empty())) == Some(&"--in");
            if is_value {
                let (_, last) = word.rsplit_once(',').unwrap_or(("", word));
                return filter_candidates(
                    typed,
                    last,
                    Targets::NAMES.iter().map(|name| Candidate::new(*name, "URLs")).collect(),
                );
            }
            // Text before the first space may still be the expression.
            if !rest.contains(' ') || !word.starts_with('-') && !word.is_empty() {
                return no_completions(typed);
            }
            vec![Candidate::new("--in ", "which URLs: loc, alternates, images, videos, index or all")]
        }
        Arguments::Urls => vec![Candidate::new("https://", ""), Candidate::new("http://", "")],
        Arguments::Nothing | Arguments::Count | Arguments::Query | Arguments::Path => Vec::new(),
    };
    if spec.ranged {
        items.push(Candidate::new("where ", "then a query: only matching rows"));
    }
    filter_candidates(typed, word, items)
}

/// A field, or the usual values after `FIELD=`.
fn assignment(spec: &Spec, typed: &str, word: &str, vocabulary: &Vocabulary<'_>) -> Completions {
    if let Some((name, value)) = word.split_once('=') {
        let values: Vec<&str> = match Field::from_name(name) {
            Some(Field::Lastmod) => vec!["today", "now", "+1d", "-1d", "none"],
            Some(Field::Changefreq) => Changefreq::ALL.iter().map(|word| word.name()).chain(["none"]).collect(),
            Some(Field::Priority) => vec!["0.5", "1.0", "+0.1", "-0.1", "none"],
            Some(Field::Loc) | None => Vec::new(),
        };
        let suits = |kind| match Field::from_name(name) {
            Some(Field::Lastmod) => kind == Kind::Date,
            Some(Field::Priority) => kind == Kind::Number,
            Some(Field::Loc | Field::Changefreq) => kind == Kind::Text,
            None => false,
        };
        let values = values.into_iter().map(|value| Candidate::new(value, ""));
        return filter_candidates(typed, value, values.chain(data_columns(vocabulary, suits)).collect());
    }
    let mut items: Vec<Candidate> = fields("=").collect();
    if spec.ranged {
        items.push(Candidate::new("where ", "then a query: only matching rows"));
    }
    filter_candidates(typed, word, items)
}

/// Candidates for the data columns of wanted kinds.
fn data_columns<'v>(
    vocabulary: &'v Vocabulary<'_>,
    is_wanted: impl Fn(Kind) -> bool + 'v,
) -> impl Iterator<Item = Candidate> + 'v {
    let columns = vocabulary.data.into_iter().flat_map(|data| data.columns());
    let columns = columns.filter(move |column| is_wanted(column.kind()));
    columns.map(|column| Candidate::new(format!("@{}", column.name()), column.kind().words()))
}

fn fields(after: &'static str) -> impl Iterator<Item = Candidate> {
    Field::ALL.into_iter().map(move |field| Candidate::new(format!("{}{after}", field.name()), "field"))
}

/// The candidates that extend the word under the cursor.
fn filter_candidates(typed: &str, word: &str, mut items: Vec<Candidate>) -> Completions {
    items.retain(|item| item.text.starts_with(word) && item.text.trim_end() != word);
    Completions { from: typed.len() - word.len(), items }
}

fn in_query(typed: &str, query: &str, vocabulary: &Vocabulary<'_>) -> Completions {
    let mut found = query_completions(query, query.len(), vocabulary);
    found.from += typed.len() - query.len();
    found
}

/// The text after the word `where`, outside quotes.
fn after_where(rest: &str) -> Option<&str> {
    let mut quotes = 0;
    rest.match_indices(|c: char| c == '"' || c.is_whitespace()).find_map(|(at, found)| {
        if found == "\"" {
            quotes += 1;
            return None;
        }
        let after = rest.get(at..)?.trim_start().strip_prefix("where")?;
        let is_word = quotes % 2 == 0 && after.starts_with(char::is_whitespace);
        is_word.then(|| after.trim_start())
    })
}

fn with_space(spec: &Spec) -> String {
    let more = !matches!(spec.arguments, Arguments::Nothing | Arguments::Replace);
    format!("{}{}", spec.name, if more { " " } else { "" })
}

fn no_completions(typed: &str) -> Completions {
    Completions { from: typed.len(), items: Vec::new() }
}
