//! `sited replace`, `add`, `remove`, `sort`, `dedupe`: rows rewritten, added, taken out, put in order, and saved.
//!
//! Each says the commands of the `:` line that do the same, so that what was done on the screen can be written down.

use super::args::Common;
use super::bulk::{Task, change};
use super::edit::{Saving, edit_all};
use super::lock::Lock;
use super::save::Agreed;
use super::set::assignments;
use super::values::{refuse_assignments, refuse_urls};
use super::walk::{held, say_why_held};
use super::{Failure, Status, Streams, filter};
use crate::document::rows::{RowId, RowSet};
use crate::document::sort;
use crate::protocol::Field;
use crate::protocol::lastmod::{self, Now};
use crate::session::Session;
use crate::session::command::{Command, CommandError, Replace, Scope, Targets};
use clap::{Args, ValueEnum};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What is changed, and where it is written.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// A sitemap, a sitemap index, or a folder that holds one
    pub path: PathBuf,
    /// Say what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write to OUT (- is standard output) and leave PATH as it is; its end may choose the form: .txt, .csv, .tsv
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What is the same for every task
    #[command(flatten)]
    pub common: Common,
}

/// `sited replace`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited replace sitemap.xml '^http:' https:\n  sited replace public/ '/old/(.*)' '/new/$1' --dry-run\n  sited replace public/ https://old.example https://example.com --in all"
)]
pub struct ReplaceIn {
    /// What is changed, and where it is written
    #[command(flatten)]
    pub target: Target,
    /// A regular expression, looked for in every URL
    #[arg(value_name = "REGEX", allow_hyphen_values = true)]
    pub pattern: String,
    /// What is written instead; $1 or ${name} is what a group matched, $$ a dollar sign
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub replacement: String,
    /// Replace every match in a URL, not only the first
    #[arg(short = 'g', long)]
    pub all: bool,
    /// Upper and lower case are the same
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Which URLs: loc, alternates, images, videos, index or all; several with commas between them
    #[arg(long = "in", value_name = "WHAT", default_value = "loc", value_parser = targets)]
    pub targets: Targets,
    /// Only rows that pass; without it, all rows
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
}

/// `sited add`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited add sitemap.xml https://example.com/new --set lastmod=today\n  sited add sitemap.xml --from urls.txt\n  cut -f1 urls.tsv | sited add sitemap.xml -"
)]
pub struct Add {
    /// What is changed, and where it is written
    #[command(flatten)]
    pub target: Target,
    /// URLs; - reads them from standard input, one a line
    #[arg(required_unless_present = "from", value_name = "URL")]
    pub urls: Vec<String>,
    /// Add the URLs of FILE: a list, a table, a sitemap
    #[arg(long, value_name = "FILE")]
    pub from: Vec<PathBuf>,
    /// A value for each of them: lastmod=today, priority=0.8
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Add URLs that the set has already, too
    #[arg(long)]
    pub again: bool,
    /// Add URLs and write values that `check` reports as errors
    #[arg(long)]
    pub force: bool,
}

/// `sited remove`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited remove sitemap.xml --where 'path:/draft/* or lastmod<2015'")]
pub struct Remove {
    /// What is changed, and where it is written
    #[command(flatten)]
    pub target: Target,
    /// The rows that go
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true, required = true)]
    pub filter: String,
}

/// `sited sort`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited sort sitemap.xml\n  sited sort public/ -lastmod,loc --dry-run")]
pub struct Sort {
    /// What is changed, and where it is written
    #[command(flatten)]
    pub target: Target,
    /// Columns, the first one first, with a minus for falling order: loc, -lastmod, -priority,loc
    #[arg(value_name = "KEYS", default_value = "loc", allow_hyphen_values = true)]
    pub keys: String,
}

/// `sited dedupe`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited dedupe public/ --keep newest")]
pub struct Dedupe {
    /// What is changed, and where it is written
    #[command(flatten)]
    pub target: Target,
    /// Which row of a URL stays
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Keep::First)]
    pub keep: Keep,
    /// URLs that mean the same by RFC 3986 are the same, such as with %7E for ~, or with the default port
    #[arg(long)]
    pub equivalent: bool,
}

/// Which row of a URL stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// The first
    First,
    /// The last
    Last,
    /// The one with the latest lastmod; of equal ones the first
    Newest,
}

/// Reads `--in`.
fn targets(names: &str) -> Result<Targets, String> {
    Targets::from_names(names).ok_or_else(|| format!("expected {}", Targets::expected()))
}

impl Target {
    /// Opens it to be changed; `why` says why all of it is held.
    fn open(&self, why: &str, streams: &mut Streams<'_>) -> Result<(Session, Lock), Failure> {
        let opened = self.common.open_to_change(&self.path, (self.output.as_deref(), self.dry_run), streams)?;
        say_why_held((&opened.0, held()), why, streams);
        Ok(opened)
    }

    /// Whether and where the change is saved.
    pub(super) fn saving(&self) -> Saving<'_> {
        let output = self.output.as_deref();
        Saving { dry_run: self.dry_run, output, agreed: Agreed::of(&self.common) }
    }

    /// Opens it, does what the commands say, and saves. `why` says why all of a large set is held for them.
    pub(super) fn run(
        &self,
        (why, streams): (&str, &mut Streams<'_>),
        commands: impl FnOnce(&mut Session, Now) -> Result<Vec<Command>, Failure>,
    ) -> Result<Status, Failure> {
        let now = self.common.now()?;
        let (mut session, _lock) = self.open(why, streams)?;
        let commands = commands(&mut session, now)?;
        edit_all(session, &commands, &self.saving(), streams)
    }
}

pub(super) fn replace(task: &ReplaceIn, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let replace = Replace::of(&task.pattern, &task.replacement, task.all, task.ignore_case).map_err(|error| {
        let text = if error.span.start <= task.pattern.len() { &task.pattern } else { &task.replacement };
        let away = if error.span.start <= task.pattern.len() { 0 } else { task.pattern.len() + 1 };
        let span = error.span.start - away..error.span.end.max(error.span.start) - away;
        Failure::text("this replacement", text, &CommandError::new(span, error.message))
    })?;
    let replace = replace.within(task.targets);
    let scope = Scope { shown: false, query: filter(task.filter.as_deref(), task.target.common.now()?)? };
    change(&task.target, &Task::Command(Command::Replace { scope, replace }), held, streams)
}

pub(super) fn add(task: &Add, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let mut urls = Vec::new();
    for url in &task.urls {
        if url == "-" {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            urls.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
        } else {
            refuse_file(url, task)?;
            // White space around a value is no part of it: nothing else would be written.
            urls.push(url.trim().to_owned());
        }
    }
    for path in &task.from {
        let common = Common { base_url: None, ..task.target.common.clone() };
        let session = common.open(path, common.now()?, streams)?;
        let locs = session.document().live_rows().map(|row| session.document().loc(row).trim().to_owned());
        // Comments of a list are none of its URLs.
        urls.extend(locs.filter(|loc| !loc.is_empty() && !loc.starts_with('#')));
    }
    let set = added(task)?;
    if !task.force {
        refuse_urls(&urls, &task.target.common)?;
        if let Some(Command::Set { assignments, .. }) = &set {
            refuse_assignments(assignments, &task.target.common)?;
        }
    }
    let mut known = 0;
    let status = task.target.run(("whether a URL is new is asked of all rows", streams), |session, _| {
        let before = urls.len();
        if !task.again {
            let mut seen = HashSet::new();
            urls.retain(|url| seen.insert(url.clone()) && session.view().rows_with_loc(url).is_empty());
        }
        known = before - urls.len();
        if urls.is_empty() {
            return Ok(Vec::new());
        }
        Ok([Command::Add(urls)].into_iter().chain(set).collect())
    })?;
    if known > 0 {
        let words = crate::words::counted(known as u64, "URL");
        let them = if known == 1 { "it" } else { "them" };
        streams.note(&format!("{words} left out: the set has {them} already (--again adds {them} too)"));
    }
    Ok(status)
}

/// The command that gives new rows their values.
fn added(task: &Add) -> Result<Option<Command>, Failure> {
    if task.set.is_empty() {
        return Ok(None);
    }
    let now = task.target.common.now()?;
    let words = task.set.iter().flat_map(|words| words.split_whitespace());
    let assignments = assignments(words, ("--set", task.force), now)?;
    let scope = Scope { shown: false, query: filter(Some("is:added"), now)? };
    Ok(Some(Command::Set { scope, assignments }))
}

/// Refuses the name of a file where a URL belongs.
fn refuse_file(word: &str, task: &Add) -> Result<(), Failure> {
    if task.force || word.contains("://") || !Path::new(word).is_file() {
        return Ok(());
    }
    let target = task.target.path.display();
    let hint = format!("to add the URLs in it: sited add {target} --from {word}");
    Err(Failure::Usage(format!("{word} is a file, not a URL"), hint))
}

pub(super) fn remove(task: &Remove, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let query = filter(Some(&task.filter), task.target.common.now()?)?;
    change(&task.target, &Task::Command(Command::Delete(Scope { shown: false, query })), held, streams)
}

pub(super) fn sort(task: &Sort, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let keys =
        sort::parse(&task.keys).map_err(|error| Failure::text("these keys", &task.keys, &CommandError::from(error)))?;
    task.target.run(("an order over all rows needs all of them", streams), |_, _| {
        Ok(vec![Command::Sort(keys), Command::ApplyOrder])
    })
}

pub(super) fn dedupe(task: &Dedupe, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let Dedupe { keep, equivalent, .. } = *task;
    change(&task.target, &Task::Repeated { keep, equivalent }, held, streams)
}

/// The date of a row, in seconds since 1970.
pub(super) fn date_of(session: &Session, row: RowId) -> Option<i64> {
    let lastmod = session.document().value(row, Field::Lastmod)?;
    lastmod::judge(&lastmod).instant.map(|instant| instant.seconds)
}

/// The rows of URLs that stand more than once, but for the one of each that stays. `date` gives the date of a row.
pub(super) fn repeated(session: &Session, keep: Keep, equivalent: bool, date: &dyn Fn(RowId) -> Option<i64>) -> RowSet {
    let document = session.document();
    let set = session.view().checks.set();
    let mut seen = RowSet::new();
    let mut groups: Vec<Vec<RowId>> = Vec::new();
    for row in set.duplicate_rows() {
        if !seen.insert(row) {
            continue;
        }
        let mut alike: Vec<RowId> = set.members(row).into_iter().map(RowId).collect();
        if !equivalent {
            let loc = document.loc(RowId(row));
            alike.retain(|other| document.loc(*other) == loc);
        }
        seen.extend(alike.iter().map(|row| row.0));
        groups.push(alike);
    }
    let mut out = RowSet::new();
    for rows in groups.iter().filter(|rows| rows.len() > 1) {
        let stays = match keep {
            Keep::First => rows.first(),
            Keep::Last => rows.last(),
            // `max_by_key` gives the last of equals; reversed, that is the first of the file.
            Keep::Newest => rows.iter().rev().max_by_key(|row| date(**row)),
        };
        out.extend(rows.iter().filter(|row| Some(*row) != stays).map(|row| row.0));
    }
    out
}
