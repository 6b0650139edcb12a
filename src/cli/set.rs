//! `sited set`: sets fields from arguments or from a table.

use super::bulk::{Task, change};
use super::destination::Destination;
use super::options::{EditOptions, Unmatched, UrlList};
use super::paths::field_values;
use super::sets::each_set;
use super::table::{Table, TableInput, Unlisted};
use super::urls::{Urls, refuse_two_streams, select_rows};
use super::values::{assignments, refuse_assignments};
use super::{Failure, Status, Streams, filter};
use crate::files::is_stream;
use crate::session::command::{Command, Scope};
use crate::session::edit::{Change, EditError};
use crate::session::state::Snapshot;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// `sited set`.
#[derive(Debug, Args)]
#[command(
    override_usage = "sited set [OPTIONS] <PATH>... <FIELD=VALUE>...\n       sited set [OPTIONS] <PATH>... --from <TABLE>",
    after_help = "Examples:\n  sited set sitemap.xml priority=0.8 --where path:/blog/*\n  sited set public/ lastmod=today changefreq=none --dry-run\n  sited set sitemap.xml lastmod=today --urls-from changed.txt\n  sited set public/ --from dates.csv"
)]
pub struct Set {
    /// Sitemaps, sitemap indexes, or folders, each saved on its own; then new values: priority=0.8, lastmod=today,
    /// lastmod=+7d, changefreq=none
    #[arg(required = true, value_name = "PATH|FIELD=VALUE")]
    pub words: Vec<OsString>,
    /// Set each row from the line of TABLE (CSV, TSV, another sitemap, - for standard input) with its URL: columns
    /// lastmod, changefreq and priority; an empty cell changes nothing, `none` removes the value
    #[arg(long, value_name = "TABLE")]
    pub from: Option<PathBuf>,
    /// The column of TABLE that holds the URLs: its name, or its number from 1
    #[arg(long, value_name = "NAME", requires = "from")]
    pub key: Option<String>,
    /// How URLs that only the table or only the set has are reported
    #[command(flatten)]
    pub unmatched: Unmatched,
    /// Only rows that match the query; without it, all rows
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Only rows with these URLs
    #[command(flatten)]
    pub urls: UrlList,
    /// Write values that `check` reports as errors, and duplicate URLs
    #[arg(long)]
    pub force: bool,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

pub(super) fn run(set: &Set, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let common = &set.edit.save.common;
    let (paths, words) = field_values(&set.words)?;
    let scope = Scope { shown: false, query: filter(set.filter.as_deref(), common)? };
    if let Some(table) = &set.from {
        if let Some(word) = words.first() {
            let hint = "run it twice, or put the value into a column of the table".to_owned();
            return Err(Failure::Usage(format!("{word} cannot be combined with --from"), hint));
        }
        let input = TableInput { path: table, key: set.key.as_deref(), force: set.force };
        return from_table(set, input, &SetRows { paths: &paths, scope, memory_limit }, streams);
    }
    if words.is_empty() {
        let hint =
            "for example: sited set sitemap.xml lastmod=today; or --from TABLE reads values from a file".to_owned();
        return Err(Failure::Usage("no FIELD=VALUE given".to_owned(), hint));
    }
    let assignments = assignments(words, "this value", set.force, &common.vocabulary()?)?;
    if !set.force {
        refuse_assignments(&assignments, common)?;
    }
    let urls = Urls::read(&set.urls, &paths)?;
    let command = Command::Set { scope: scope.clone(), assignments: assignments.clone() };
    let of_rows = |snapshot: &Snapshot| {
        let rows = select_rows(snapshot, scope.query.as_ref(), urls.as_ref());
        Ok(Change::Set { rows, assignments: assignments.clone() })
    };
    let task = match &urls {
        None => Task::Command(command),
        Some(_) => Task::Rows { like: command, change: &of_rows },
    };
    let status = each_set(&paths, &set.edit, streams, &mut |target, streams| {
        change(&target.refusing_faults(!set.force), &task, memory_limit, streams)
    })?;
    if let Some(urls) = &urls {
        urls.note_missing(false, streams);
    }
    Ok(status)
}

/// The rows to set.
struct SetRows<'p> {
    paths: &'p [PathBuf],
    scope: Scope,
    /// Larger sets are streamed, in bytes.
    memory_limit: u64,
}

/// Sets the values of a table.
fn from_table(
    set: &Set,
    input: TableInput<'_>,
    rows: &SetRows<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let SetRows { paths, scope, memory_limit } = rows;
    let (save, path) = (&set.edit.save, input.path);
    if is_stream(path) {
        refuse_two_streams("--from", paths)?;
        refuse_two_streams("--from", set.urls.urls_from.as_slice())?;
    }
    let mut options = set.unmatched.clone();
    if let Some(report) = &options.unmatched {
        Destination::file(report, save.common.mkdir).check()?;
        if save.is_preview() && !is_stream(report) {
            streams.note("--unmatched writes no file in a dry run or check; --unmatched - prints the URLs");
            options.unmatched = None;
        }
    }
    let table = Table::read(input, &save.common, streams)?;
    let urls = Urls::read(&set.urls, paths)?;
    let unlisted = Unlisted::new(options.all || options.unmatched.is_some());
    let mut number = 0;
    let status = each_set(paths, &set.edit, streams, &mut |target, streams| {
        number += 1;
        let of_rows = |snapshot: &Snapshot| -> Result<Change, EditError> {
            let meant = select_rows(snapshot, scope.query.as_ref(), urls.as_ref());
            Ok(table.change(snapshot, &meant, &unlisted, number))
        };
        let like = Command::Set { scope: scope.clone(), assignments: Vec::new() };
        change(target, &Task::Rows { like, change: &of_rows }, *memory_limit, streams)
    })?;
    if let Some(urls) = &urls {
        urls.note_missing(options.all, streams);
    }
    unlisted.report(&table.urls, &options, streams)?;
    Ok(status)
}
