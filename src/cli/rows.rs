//! `sited replace`, `add`, `remove`, `keep`, `sort` and `dedupe`.
//!
//! Each runs the command of the `:` line that does the same on the screen.

use super::bulk::{Task, change};
use super::duplicates::KeepRow;
use super::edit::{Check, Saving, edit_all};
use super::lock::Lock;
use super::options::Common;
use super::options::{EditOptions, SaveOptions, Target, UrlList};
use super::paths::{paths_of, sort_keys, text_of};
use super::save::Agreed;
use super::set_reader::{memory_limit, note_why_loaded};
use super::sets::each_set;
use super::urls::{Urls, select_rows};
use super::values::{assignments, refuse_assignments, refuse_urls};
use super::{Failure, Status, Streams, filter};
use crate::document::conversion;
use crate::document::sort;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::command::{Command, CommandError, Replace, Scope, Targets};
use crate::session::edit::Change;
use crate::session::state::Snapshot;
use clap::Args;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// `sited replace`.
#[derive(Debug, Args)]
#[command(
    override_usage = "sited replace [OPTIONS] <PATH>... <REGEX> <TEXT>",
    after_help = "Examples:\n  sited replace sitemap.xml '^http:' https:\n  sited replace public/ '/old/(.*)' '/new/$1' --dry-run\n  sited replace public/ https://old.example https://example.com --in all\n  sited replace a.xml b.xml '^http:' https: --check"
)]
pub struct ReplaceIn {
    /// A sitemap, a sitemap index, or a folder; may be repeated, and each is saved on its own
    pub path: OsString,
    /// The regular expression to find in every URL
    #[arg(value_name = "REGEX", allow_hyphen_values = true)]
    pub pattern: OsString,
    /// The replacement; $1 or ${name} inserts a group, $$ a dollar sign
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub replacement: OsString,
    /// With more than one PATH the last two arguments are REGEX and TEXT
    #[arg(value_name = "…")]
    pub more: Vec<OsString>,
    /// Replace every match in a URL, not only the first
    #[arg(short = 'g', long)]
    pub all: bool,
    /// Ignore case
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Which URLs: loc, alternates, images, videos, index or all; several separated by commas
    #[arg(long = "in", value_name = "WHAT", default_value = "loc", value_parser = targets)]
    pub targets: Targets,
    /// Write URLs that `check` reports as errors, and duplicate URLs
    #[arg(long)]
    pub force: bool,
    /// Only rows that match the query; without it, all rows
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

/// `sited add`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited add sitemap.xml https://example.com/new --set lastmod=today\n  sited add sitemap.xml --from urls.txt\n  cut -f1 urls.tsv | sited add sitemap.xml -"
)]
pub struct Add {
    /// A sitemap, a sitemap index, or a folder that holds one
    pub path: PathBuf,
    /// URLs; - reads them from standard input, one per line
    #[arg(required_unless_present = "from", value_name = "URL")]
    pub urls: Vec<String>,
    /// Add the URLs of FILE: a list, a table, a sitemap
    #[arg(long, value_name = "FILE")]
    pub from: Vec<PathBuf>,
    /// A value for each new row: lastmod=today, priority=0.8
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Add URLs even if the set has them already
    #[arg(long)]
    pub again: bool,
    /// Add URLs and write values that `check` reports as errors
    #[arg(long)]
    pub force: bool,
    /// How the set is saved
    #[command(flatten)]
    pub save: SaveOptions,
}

/// `sited remove`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited remove sitemap.xml --where 'path:/draft/* or lastmod<2015'\n  sited remove public/ --urls-from gone.txt"
)]
pub struct Remove {
    /// The rows to remove
    #[command(flatten)]
    pub rows: ChosenRows,
}

/// `sited keep`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited keep sitemap.xml --urls-from live.txt\n  sited keep public/ --where host:www.example.com --dry-run"
)]
pub struct Keep {
    /// The rows to keep
    #[command(flatten)]
    pub rows: ChosenRows,
}

/// Rows selected by a query or a list of URLs.
#[derive(Debug, Args)]
pub struct ChosenRows {
    /// Sitemaps, sitemap indexes, or folders; each is saved on its own
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The rows that match the query; with --urls-from, only those of its rows that match
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true, required_unless_present = "urls_from")]
    pub filter: Option<String>,
    /// Only rows with these URLs
    #[command(flatten)]
    pub urls: UrlList,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

/// `sited sort`.
#[derive(Debug, Args)]
#[command(
    override_usage = "sited sort [OPTIONS] <PATH>... [KEYS]",
    after_help = "Examples:\n  sited sort sitemap.xml\n  sited sort public/ -lastmod,loc --dry-run\n  sited sort a.xml b.xml --by -lastmod"
)]
pub struct Sort {
    /// A sitemap, a sitemap index, or a folder; may be repeated, and each is saved on its own
    pub path: OsString,
    /// Columns to sort by, with a minus for descending order: loc, -lastmod, -priority,loc
    #[arg(value_name = "KEYS", allow_hyphen_values = true)]
    pub keys: Option<OsString>,
    /// With more than one PATH the last argument is KEYS, unless it is a file
    #[arg(value_name = "…")]
    pub more: Vec<OsString>,
    /// KEYS as an option; then all arguments are paths
    #[arg(long, value_name = "KEYS", allow_hyphen_values = true)]
    pub by: Option<String>,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

/// `sited dedupe`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited dedupe public/ --keep newest\n  sited dedupe public/ --check")]
pub struct Dedupe {
    /// Sitemaps, sitemap indexes, or folders; each is saved on its own
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Which row of each URL to keep
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = KeepRow::First)]
    pub keep: KeepRow,
    /// Also treat equivalent URLs (RFC 3986) as duplicates, such as %7E for ~, or with the default port
    #[arg(long)]
    pub equivalent: bool,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

/// Reads `--in`.
fn targets(names: &str) -> Result<Targets, String> {
    Targets::from_names(names).ok_or_else(|| format!("expected {}", Targets::expected()))
}

impl Target {
    /// Opens the set to change it. `why` is the reason for loading a large set into memory.
    fn open(&self, why: &str, streams: &mut Streams<'_>) -> Result<(Session, Lock), Failure> {
        let SaveOptions { output, common, .. } = &self.save;
        let opened = common.open_to_change(&self.path, output.as_deref(), self.save.is_preview(), streams)?;
        note_why_loaded((&opened.0, memory_limit()), why, streams);
        Ok(opened)
    }

    /// This target with [`Target::refuses_faults`].
    pub(super) fn refusing_faults(&self, refuses_faults: bool) -> Self {
        Self { refuses_faults, ..self.clone() }
    }

    /// Whether and where the change is saved.
    pub(super) fn saving(&self) -> Saving<'_> {
        let SaveOptions { dry_run, check, output, common } = &self.save;
        let check = check.then_some(Check::Changes);
        let (output, agreed) = (output.as_deref(), Agreed::of(common));
        Saving { dry_run: *dry_run, check, output, agreed, refuses_faults: self.refuses_faults }
    }

    /// Opens the set, runs the commands, and saves. `why` is the reason for loading a large set into memory.
    pub(super) fn run(
        &self,
        why: &str,
        streams: &mut Streams<'_>,
        commands: impl FnOnce(&mut Session) -> Result<Vec<Command>, Failure>,
    ) -> Result<Status, Failure> {
        let (mut session, _lock) = self.open(why, streams)?;
        let commands = commands(&mut session)?;
        edit_all(session, &commands, &self.saving(), streams)
    }
}

pub(super) fn replace(task: &ReplaceIn, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let words: Vec<&OsString> = [&task.path, &task.pattern, &task.replacement].into_iter().chain(&task.more).collect();
    let [paths @ .., pattern, replacement] = words.as_slice() else { return Ok(Status::Fine) };
    let paths = paths_of(paths)?;
    let (pattern, replacement) = (text_of(pattern)?, text_of(replacement)?);
    let replace = Replace::from_texts(pattern, replacement, task.all, task.ignore_case).map_err(|error| {
        let text = if error.span.start <= pattern.len() { pattern } else { replacement };
        let away = if error.span.start <= pattern.len() { 0 } else { pattern.len() + 1 };
        let span = error.span.start - away..error.span.end.max(error.span.start) - away;
        Failure::syntax("this replacement", text, &CommandError::new(span, error.message))
    })?;
    let replace = replace.with_targets(task.targets);
    let scope = Scope { shown: false, query: filter(task.filter.as_deref(), &task.edit.save.common)? };
    let task_of_all = Task::Command(Command::Replace { scope, replace });
    each_set(&paths, &task.edit, streams, &mut |target, streams| {
        change(&target.refusing_faults(!task.force), &task_of_all, memory_limit, streams)
    })
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
            // Surrounding white space is not part of a value.
            urls.push(url.trim().to_owned());
        }
    }
    for path in &task.from {
        let common = Common { base_url: None, ..task.save.common.clone() };
        let session = common.open(path, common.now()?, streams)?;
        let url = |row| {
            conversion::line_values(session.document(), row)[Field::Loc.index()]
                .take()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let locs = session.document().live_rows().map(url);
        // Lists may have comments, which are rows too.
        urls.extend(locs.filter(|loc| !loc.is_empty() && !loc.starts_with('#')));
    }
    let set = added(task)?;
    if !task.force {
        refuse_urls(&urls, &task.save.common)?;
        if let Some(Command::Set { assignments, .. }) = &set {
            refuse_assignments(assignments, &task.save.common)?;
        }
    }
    let mut known = 0;
    let target = Target { path: task.path.clone(), save: task.save.clone(), refuses_faults: false };
    let status = target.run("new URLs are compared with every row", streams, |session| {
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
        streams.note(&format!("{words} skipped: already in the set (--again adds {them})"));
    }
    Ok(status)
}

/// The command that sets the values of `--set` in the new rows.
fn added(task: &Add) -> Result<Option<Command>, Failure> {
    if task.set.is_empty() {
        return Ok(None);
    }
    let common = &task.save.common;
    let words = task.set.iter().flat_map(|words| words.split_whitespace());
    let assignments = assignments(words, "--set", task.force, &common.vocabulary()?)?;
    let scope = Scope { shown: false, query: filter(Some("is:added"), common)? };
    Ok(Some(Command::Set { scope, assignments }))
}

/// Refuses the name of a file where a URL belongs.
fn refuse_file(word: &str, task: &Add) -> Result<(), Failure> {
    if task.force || word.contains("://") || !Path::new(word).is_file() {
        return Ok(());
    }
    let target = task.path.display();
    let hint = format!("to add the URLs in it: sited add {target} --from {word}");
    Err(Failure::Usage(format!("{word} is a file, not a URL"), hint))
}

pub(super) fn remove(task: &ChosenRows, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let query = filter(task.filter.as_deref(), &task.edit.save.common)?;
    let Some(urls) = Urls::read(&task.urls, &task.paths)? else {
        let task_of_all = Task::Command(Command::Delete(Scope { shown: false, query }));
        return each_set(&task.paths, &task.edit, streams, &mut |target, streams| {
            change(target, &task_of_all, memory_limit, streams)
        });
    };
    let gone = |snapshot: &Snapshot| Ok(Change::Delete(select_rows(snapshot, query.as_ref(), Some(&urls))));
    let like = Command::Delete(Scope { shown: false, query: query.clone() });
    let task_of_all = Task::Rows { like, change: &gone };
    let status = each_set(&task.paths, &task.edit, streams, &mut |target, streams| {
        change(target, &task_of_all, memory_limit, streams)
    });
    urls.note_missing(false, streams);
    status
}

pub(super) fn keep(task: &ChosenRows, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let query = filter(task.filter.as_deref(), &task.edit.save.common)?;
    let urls = Urls::read(&task.urls, &task.paths)?;
    let gone = |snapshot: &Snapshot| {
        let stays = select_rows(snapshot, query.as_ref(), urls.as_ref());
        Ok(Change::Delete(snapshot.document.resident_set() - stays))
    };
    let like = Command::Delete(Scope { shown: false, query: query.clone() });
    let task_of_all = Task::Rows { like, change: &gone };
    let status = each_set(&task.paths, &task.edit, streams, &mut |target, streams| {
        change(target, &task_of_all, memory_limit, streams)
    });
    if let Some(urls) = &urls {
        urls.note_missing(false, streams);
    }
    status
}

pub(super) fn sort(task: &Sort, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let words: Vec<OsString> = [&task.path].into_iter().chain(&task.keys).chain(&task.more).cloned().collect();
    let (paths, keys) = if let Some(by) = &task.by {
        (paths_of(&words.iter().collect::<Vec<_>>())?, by.as_str())
    } else {
        let (paths, keys) = sort_keys(&words)?;
        (paths, keys.unwrap_or("loc"))
    };
    let data = task.edit.save.common.data_set()?;
    let keys =
        sort::parse(keys, data).map_err(|error| Failure::syntax("these keys", keys, &CommandError::from(error)))?;
    each_set(&paths, &task.edit, streams, &mut |target, streams| {
        target.run("sorting needs every row", streams, |_| Ok(vec![Command::Sort(keys.clone()), Command::ApplyOrder]))
    })
}

pub(super) fn dedupe(task: &Dedupe, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let Dedupe { keep, equivalent, .. } = *task;
    let task_of_all = Task::Dedupe { keep, equivalent };
    each_set(&task.paths, &task.edit, streams, &mut |target, streams| {
        change(target, &task_of_all, memory_limit, streams)
    })
}
