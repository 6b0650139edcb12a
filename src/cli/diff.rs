//! `sited diff`: compares two sets by URL.
//!
//! Each set is read file by file, and a second time if they differ. Memory: the largest files that are read at once,
//! 16 bytes per URL of both sets, and the rows that differ.

use super::args::Common;
use super::damage::Damage;
use super::json_text::json_document;
use super::output::{Paint, loc_text, safe_loc};
use super::unsafe_characters::plain;
use super::url_options::UrlOptions;
use super::{Failure, Status, Streams};
use crate::files::{self, Error, Loaded, LoadedFile, Options, is_stream};
use crate::session::store::compare::{Changed, Difference, Digests, RowText, Texts, differences};
use crate::words::{counted, grouped};
use crate::xml::scan::Visit;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::io;
use std::path::PathBuf;

/// `sited diff`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  sited diff public/ new/\n  sited diff old.xml new.xml --urls > to-submit.txt")]
pub struct Diff {
    /// The sitemap, index or folder as it was
    pub old: PathBuf,
    /// The sitemap, index or folder as it is now
    pub new: PathBuf,
    /// How to print the differences
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print only URLs, one per line: added, changed or removed ones
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        num_args = 0..,
        require_equals = true,
        value_delimiter = ',',
        default_missing_values = ["added", "changed"],
        conflicts_with = "format"
    )]
    pub urls: Vec<Kind>,
    /// How a URL in place of a path is downloaded
    #[command(flatten)]
    pub url: UrlOptions,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

/// How `diff` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line per row: + added, - removed, ~ changed, ! lost extensions
    Text,
    /// One JSON document
    Json,
}

/// How a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Only the new set has it
    Added,
    /// Both sets have it, with different values
    Changed,
    /// Only the old set has it
    Removed,
}

/// Compares two sets and prints the differences. The exit status is 1 if there are any.
pub(super) fn run(
    diff: &Diff,
    (old, new): (&[PathBuf], &[PathBuf]),
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let Compared { found, rows: (rows_before, rows_after) } = compare(Some(old), new, &diff.common, streams)?;
    let sums = Sums::of(&found);
    if !diff.urls.is_empty() {
        for difference in found.iter().filter(|difference| diff.urls.contains(&kind(difference))) {
            loc_text(streams.out, difference.loc())?;
        }
    } else if diff.format == Format::Json {
        print_json(&found, &sums, (rows_before, rows_after), streams)?;
    } else {
        for difference in &found {
            print(difference, streams)?;
        }
    }
    let Sums { added, removed, changed, lost } = sums;
    let lost = if lost == 0 { String::new() } else { format!(" ({} lost extensions)", grouped(lost)) };
    streams.note(&format!(
        "{} → {}: {} added, {} removed, {} changed{lost}",
        grouped(rows_before as u64),
        counted(rows_after as u64, "URL"),
        grouped(added),
        grouped(removed),
        grouped(changed)
    ));
    Ok(if found.is_empty() { Status::Fine } else { Status::Findings })
}

/// The rows that differ, and the number of rows of both sets.
pub(super) struct Compared {
    pub(super) found: Vec<Difference>,
    rows: (usize, usize),
}

/// Compares two sets; without an old set, every row is added.
pub(super) fn compare(
    old: Option<&[PathBuf]>,
    new: &[PathBuf],
    common: &Common,
    streams: &mut Streams<'_>,
) -> Result<Compared, Failure> {
    let (old, new) = (old.map(Input::of).transpose()?, Input::of(new)?);
    let old = old.map(|old| Ok::<_, Failure>((old.options(common, streams)?, old))).transpose()?;
    let of_new = new.options(common, streams)?;
    let before = match &old {
        Some((options, old)) => {
            note_incomplete(common, read(old.paths(), options, Digests::default, Digests::append, streams)?, streams)
        }
        None => Digests::default(),
    };
    let after =
        note_incomplete(common, read(new.paths(), &of_new, Digests::default, Digests::append, streams)?, streams);
    let rows = (before.len(), after.len());
    let keys = before.differences(after);
    if keys.is_empty() {
        return Ok(Compared { found: Vec::new(), rows });
    }
    let texts = || Texts::new(keys.clone());
    let before = match &old {
        Some((options, old)) => read(old.paths(), options, texts, Texts::append, streams)?.0,
        None => Texts::default(),
    };
    let found = differences(before, read(new.paths(), &of_new, texts, Texts::append, streams)?.0);
    Ok(Compared { found, rows })
}

/// The name of standard input in messages, instead of that of its temporary file.
const STREAM: &str = "-";

/// The files of a set. Standard input is copied to a temporary file, because it is read twice.
struct Input {
    paths: Vec<PathBuf>,
    kept: Option<tempfile::NamedTempFile>,
}

impl Input {
    fn of(paths: &[PathBuf]) -> Result<Self, Failure> {
        if !matches!(paths, [only] if is_stream(only)) {
            return Ok(Self { paths: paths.to_vec(), kept: None });
        }
        let mut file = tempfile::NamedTempFile::new()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(Self { paths: vec![file.path().to_path_buf()], kept: Some(file) })
    }

    fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The options to read it with. The files that an index on standard input lists are not searched beside the
    /// temporary file.
    fn options(&self, common: &Common, streams: &Streams<'_>) -> Result<Options, Failure> {
        Ok(Options { is_copy: self.kept.is_some(), ..common.options(streams)? })
    }
}

/// Notes unread and damaged files of a compared set, and returns the result of its visitors.
fn note_incomplete<V>(common: &Common, (all, damage, loaded): (V, Damage, Loaded), streams: &mut Streams<'_>) -> V {
    common.note_loaded(&loaded, streams);
    damage.warn(streams);
    all
}

/// Reads a set file by file and appends the results of the visitors.
fn read<V: Visit + Send>(
    paths: &[PathBuf],
    options: &Options,
    make: impl Fn() -> V + Sync,
    append: impl Fn(&mut V, V) + Sync,
    streams: &mut Streams<'_>,
) -> Result<(V, Damage, Loaded), Failure> {
    let is_kept = options.is_copy;
    let (all, damage, loaded) = streams.watched(|progress| {
        let (mut all, mut damage) = (make(), Damage::default());
        let loaded = files::load_many(paths, options, progress, &|_| make(), &mut |part| {
            if let LoadedFile::Sitemap { visitor, sitemap, .. } = part {
                damage.add(if is_kept { STREAM } else { &sitemap.name }, &sitemap.quirks);
                append(&mut all, visitor);
            }
        });
        (all, damage, loaded)
    });
    let loaded = loaded.map_err(|error| if is_kept { Error { path: STREAM.into(), ..error } } else { error });
    Ok((all, damage, loaded?))
}

/// Number of differences by kind.
#[derive(Default)]
struct Sums {
    added: u64,
    removed: u64,
    changed: u64,
    lost: u64,
}

impl Sums {
    fn of(found: &[Difference]) -> Self {
        let count = |wanted| found.iter().filter(|difference| kind(difference) == wanted).count() as u64;
        let lost = found.iter().filter(|it| matches!(it, Difference::Changed(changed) if changed.has_lost_block));
        Self {
            added: count(Kind::Added),
            removed: count(Kind::Removed),
            changed: count(Kind::Changed),
            lost: lost.count() as u64,
        }
    }
}

const fn kind(difference: &Difference) -> Kind {
    match difference {
        Difference::Added(_) => Kind::Added,
        Difference::Removed(_) => Kind::Removed,
        Difference::Changed(_) => Kind::Changed,
    }
}

fn print(difference: &Difference, streams: &mut Streams<'_>) -> io::Result<()> {
    let out = &mut *streams.out;
    let (paint, sign) = match difference {
        Difference::Changed(changed) if changed.has_lost_block => (Paint::Red, '!'),
        Difference::Removed(_) => (Paint::Red, '-'),
        Difference::Added(_) => (Paint::Green, '+'),
        Difference::Changed(_) => (Paint::Yellow, '~'),
    };
    write!(out, "{} ", paint.on(sign, streams.colour))?;
    let Difference::Changed(changed) = difference else {
        return loc_text(out, difference.loc());
    };
    write!(out, "{}", safe_loc(&changed.loc))?;
    let shown = |value: &Option<String>| plain(value.as_deref().unwrap_or("none"));
    for (number, (field, old, new)) in changed.fields.iter().enumerate() {
        let gap = if number == 0 { "  " } else { ", " };
        write!(out, "{gap}{} {} → {}", field.name(), shown(old), shown(new))?;
    }
    writeln!(out)?;
    changed.lost.iter().try_for_each(|line| writeln!(out, "    - {}", plain(line)))?;
    changed.gained.iter().try_for_each(|line| writeln!(out, "    + {}", plain(line)))
}

/// `{"version":1,"summary":{…},"differences":[…]}`
fn print_json(
    found: &[Difference],
    sums: &Sums,
    (before, after): (usize, usize),
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let row = |row: &RowText, kind: &str| {
        let [lastmod, changefreq, priority] = &row.fields;
        json!({ "kind": kind, "loc": row.loc, "lastmod": lastmod, "changefreq": changefreq, "priority": priority })
    };
    let change = |changed: &Changed| {
        let fields: Map<String, Value> = changed
            .fields
            .iter()
            .map(|(field, old, new)| (field.name().to_owned(), json!({ "old": old, "new": new })))
            .collect();
        let extensions = json!({ "lost": changed.lost, "gained": changed.gained });
        json!({ "kind": "changed", "loc": changed.loc, "fields": fields, "extensions": extensions })
    };
    let all: Vec<Value> = found
        .iter()
        .map(|difference| match difference {
            Difference::Added(added) => row(added, "added"),
            Difference::Removed(removed) => row(removed, "removed"),
            Difference::Changed(changed) => change(changed),
        })
        .collect();
    let Sums { added, removed, changed, lost } = sums;
    let summary = json!({
        "old": before, "new": after, "added": added, "removed": removed, "changed": changed, "lost_extensions": lost,
    });
    json_document(streams.out, &json!({ "version": 1, "summary": summary, "differences": all }))
}
