//! `sited split`: writes a set into new files with an index.

use super::damage::Damage;
use super::lock::Lock;
use super::options::{Common, parse_when, size};
use super::save::in_words;
use super::set_reader::{self, Reopen, SetChange, SetReader};
use super::{Failure, Status, Streams, query};
use crate::document::Document;
use crate::document::form::Form;
use crate::document::query::Query;
use crate::document::query::suggest::{listed, nearest};
use crate::document::rows::{RowId, RowSet};
use crate::files::plan::split::{self, Leftovers, grouped_by};
use crate::files::{self, Plan, SaveMode, Saved, SplitHistory};
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::{BYTES_PER_FILE, Limits, URLS_PER_FILE};
use crate::protocol::location::{host, section};
use crate::session::Session;
use crate::session::store::save;
use crate::session::store::save::{backup, beside};
use crate::session::stream::bulk::ScanMode;
use crate::words::{counted, grouped};
use clap::Args;
use std::path::{Path, PathBuf};

/// `sited split`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited split sitemap.xml -o parts/ --mkdir --by section --gzip\n  sited split public/ -o new/ --max-urls 10000 --dry-run"
)]
pub struct Split {
    /// A sitemap, a sitemap index, or a folder that holds one
    pub path: PathBuf,
    /// Write the parts and their index into DIR
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Maximum URLs per part
    #[arg(long, value_name = "N")]
    pub max_urls: Option<u32>,
    /// Maximum size of a part, uncompressed: 10000000, 10MB or 10MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_bytes: Option<u64>,
    /// Group rows by section, host, month, or queries; a row belongs to the first query that it matches
    #[arg(long, value_name = "KEY|QUERY", num_args = 1..)]
    pub by: Vec<String>,
    /// Names of the parts: n in braces is a number, {key} the section, host, month or number of the query
    #[arg(long, value_name = "TEMPLATE")]
    pub name: Option<String>,
    /// Compress the parts with gzip
    #[arg(long)]
    pub gzip: bool,
    /// The URL of the folder that the parts will be served from
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Remove the parts of an earlier, longer split
    #[arg(long)]
    pub prune: bool,
    /// Create DIR if it does not exist
    #[arg(long)]
    pub mkdir: bool,
    /// Skip files of a set that are missing or cannot be read, and name them
    #[arg(long)]
    pub allow_missing: bool,
    /// The column of a CSV or TSV table that holds the URLs: its name, or its number from 1
    #[arg(long, value_name = "NAME")]
    pub loc_column: Option<String>,
    /// Back up replaced and removed files beside the new index: off, once or always
    #[arg(long, value_name = "WHEN", value_parser = parse_when)]
    pub backup: Option<files::backup::When>,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Use this as the current time: 2026-11-20, 2026-11-20T09:14:07+01:00 or @SECONDS since 1970
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
}

mod parts;

/// Rows by the key of their group.
type Groups = Vec<(String, Vec<u32>)>;

/// Splits a set. A set of more than `memory_limit` bytes is streamed.
pub(super) fn run(split: &Split, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let mut task = SplitTask::of(split, streams)?;
    let common = task.common();
    let paths = [split.path.clone()];
    set_reader::change(&mut task, &common, (&paths, memory_limit), streams)
}

impl SetChange for SplitTask<'_> {
    fn mode(&self) -> ScanMode {
        if self.queries.iter().any(Query::compares_rows) { ScanMode::Counted } else { ScanMode::SinglePass }
    }

    fn change_streamed(
        &mut self,
        set: &mut SetReader,
        streams: &mut Streams<'_>,
    ) -> Result<Result<Status, Reopen>, Failure> {
        let done = parts::split(set, self, streams)?;
        if done.is_ok() {
            Damage::of(set.session()).warn(streams);
        }
        Ok(done.map_err(Reopen::InMemory))
    }

    fn change_loaded(&mut self, session: Session, streams: &mut Streams<'_>) -> Result<Status, Failure> {
        let status = self.split_session(&session, streams)?;
        Damage::of(&session).warn(streams);
        Ok(status)
    }
}

/// Splits a set that the caller opens.
pub(super) fn run_split(
    split: &Split,
    streams: &mut Streams<'_>,
    open: impl FnOnce(&Common, Now, &mut Streams<'_>) -> Result<Session, Failure>,
) -> Result<Status, Failure> {
    let mut task = SplitTask::of(split, streams)?;
    let session = open(&task.common(), task.now, streams)?;
    task.split_session(&session, streams)
}

/// How rows are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key<'w> {
    /// Not at all.
    All,
    /// By section, host or month.
    Text(&'w str),
    /// By the first query that they match.
    Queries,
}

/// The validated options of a split, with the lock of its output.
struct SplitTask<'s> {
    split: &'s Split,
    now: Now,
    limits: Limits,
    name: String,
    queries: Vec<Query>,
    lock: Lock,
    /// The user's state folder.
    state: Option<PathBuf>,
    /// The files that earlier splits created in the folder.
    history: SplitHistory,
}

impl<'s> SplitTask<'s> {
    fn of(split: &'s Split, streams: &mut Streams<'_>) -> Result<Self, Failure> {
        let common = Common { now: split.now.clone(), ..Common::default() };
        let now = common.now()?;
        Common { base_url: split.base_url.clone(), ..Common::default() }.limits()?;
        let limits = limits(split)?;
        let name = split.name.clone().unwrap_or_else(|| {
            if split.by.is_empty() { "sitemap-{n}.xml".to_owned() } else { "sitemap-{key}.xml".to_owned() }
        });
        if name.contains(['/', '\\']) || !name.contains(['{']) || name.starts_with('.') {
            let hint = "for example: --name 'sitemap-{n}.xml' or --name '{key}-{n}.xml'".to_owned();
            return Err(Failure::Usage(
                format!("--name {name}: expected the name of a file with {{n}} or {{key}} in it"),
                hint,
            ));
        }
        if let Some(unknown) = unknown_placeholder(&name) {
            let message = format!("--name {name}: {unknown} is not a placeholder");
            let hint = match unknown.trim_matches(['{', '}']) {
                word if is_key(word) => format!("write {{key}}, which is the {word} with --by {word}"),
                _ => "placeholders are {n}, a number, and {key}, the section, host or month of --by".to_owned(),
            };
            return Err(Failure::Usage(message, hint));
        }
        refuse_misspelt_key(&split.by)?;
        let queries: Vec<Query> = match split.by.as_slice() {
            [word] if is_key(word) => Vec::new(),
            words => {
                let vocabulary = common.vocabulary()?;
                words.iter().map(|text| query("--by", text, &vocabulary)).collect::<Result<_, _>>()?
            }
        };
        let index = split.output.join(split::INDEX);
        let lock = if split.dry_run { Lock::default() } else { Lock::take_idle(streams, &index)? };
        if split.output.is_dir() {
            let recovery = files::Recovery { state: streams.state.clone(), finish: !split.dry_run };
            super::open::note_recovery(&files::recover(&index, &recovery)?, streams);
        }
        let history = SplitHistory::load(streams.state.as_deref(), &split.output);
        Ok(Self { split, now, limits, name, queries, lock, state: streams.state.clone(), history })
    }

    /// The options to read the set with. `--base-url` is that of the parts; the current one is taken from the index.
    fn common(&self) -> Common {
        let Split { now, allow_missing, loc_column, .. } = self.split;
        let (now, loc_column) = (now.clone(), loc_column.clone());
        Common { now, loc_column, allow_missing: *allow_missing, ..Common::default() }
    }

    /// Refuses a set without rows, as an index must list a file, and queries that no row matches.
    fn refuse_empty(&self, groups: &Groups) -> Result<(), Failure> {
        if let ([(key, _)], Key::Queries) = (groups.as_slice(), self.key())
            && key == REST
        {
            let message = format!("no URL matches --by {}: all would be in one file", self.split.by.join(" or "));
            let hint = format!("keys are {}; sited list PATH --where QUERY prints the matching URLs", listed(KEYS));
            return Err(Failure::Usage(message, hint));
        }
        if groups.iter().any(|(_, rows)| !rows.is_empty()) {
            return Ok(());
        }
        let message = "the set has no URL to split, and an index must list a file".to_owned();
        Err(Failure::Usage(message, "sited check PATH shows what was read".to_owned()))
    }

    fn key(&self) -> Key<'s> {
        match self.split.by.first() {
            None => Key::All,
            Some(word) if self.queries.is_empty() => Key::Text(word),
            Some(_) => Key::Queries,
        }
    }

    const fn is_dry(&self) -> bool {
        self.split.dry_run
    }

    fn folder(&self) -> &Path {
        &self.split.output
    }

    fn path(&self) -> &Path {
        &self.split.path
    }

    /// The public URL of the folder of the parts.
    fn base_url(&self, session: &Session) -> Result<String, Failure> {
        self.split.base_url.clone().or_else(|| folder_of_children(session)).ok_or_else(|| {
            let message = "the new files need public URLs, but the base URL is not known".to_owned();
            let origin = session.view().checks.set().main_origin().map_or("https://example.com", |(origin, _)| origin);
            Failure::Usage(message, format!("for example: --base-url {origin}/"))
        })
    }

    fn request<'r>(&'r self, document: &'r Document, groups: &'r Groups, base_url: &'r str) -> split::Split<'r> {
        split::Split {
            document,
            groups,
            folder: &self.split.output,
            name: &self.name,
            gzip: self.split.gzip,
            base_url,
            limits: self.limits,
            prune: self.split.prune,
            history: &self.history,
            now: self.now,
        }
    }

    /// Splits a set in memory.
    fn split_session(&mut self, session: &Session, streams: &mut Streams<'_>) -> Result<Status, Failure> {
        // Parts have the same form as the set.
        match save::form_of(session) {
            Form::List if self.split.name.is_none() => self.name = self.name.replace(".xml", ".txt"),
            Form::Csv | Form::Tsv => {
                let message = "an index cannot list tables".to_owned();
                return Err(Failure::Usage(message, "convert it first: sited convert PATH -o NAME.xml".to_owned()));
            }
            _ => {}
        }
        let mut groups = groups(session, self.key(), &self.queries);
        self.refuse_empty(&groups)?;
        let base_url = self.base_url(session)?;
        // Only a single list is split into lists; otherwise all rows become XML.
        let xml = if save::form_of(session) == Form::Xml { files::converted_to_xml(session.document()) } else { None };
        if let Some((_, known)) = &xml {
            for (_, rows) in &mut groups {
                // Comments of lists are not rows in XML.
                *rows = rows.iter().filter_map(|row| known.get(row).copied()).collect();
            }
            groups.retain(|(_, rows)| !rows.is_empty());
            self.refuse_empty(&groups)?;
            super::save::note_omitted(session.document(), streams);
        }
        let document = xml.as_ref().map_or(session.document(), |(document, _)| document);
        let (plan, left) = split::split(&self.request(document, &groups, &base_url));
        self.note_plan(&plan, &left, groups.len(), streams)?;
        if self.is_dry() {
            return Ok(Status::Fine);
        }
        let saved = files::save_with_mode(&plan, &mut parts::disk_of(&plan)?, &self.mode(), &Progress::default())?;
        self.history.add(plan.outputs.iter().map(|output| &*output.name));
        note_written(&plan, groups.len(), &saved, streams);
        Ok(Status::Fine)
    }

    /// Locks the files of the plan and notes what will be written.
    fn note_plan(
        &mut self,
        plan: &Plan,
        left: &Leftovers,
        groups: usize,
        streams: &mut Streams<'_>,
    ) -> Result<(), Failure> {
        self.lock.claim(plan.outputs.iter().map(|output| output.path.as_path()))?;
        for output in &plan.outputs {
            streams.note(&in_words(output));
        }
        for loss in &plan.losses {
            streams.note(loss);
        }
        for name in left.removable.iter().chain(&left.unknown) {
            streams.note(&format!("left over   {}", self.split.output.join(name).display()));
        }
        if !left.removable.is_empty() {
            let files = counted(left.removable.len() as u64, "file");
            streams.note(&format!("{files} of an earlier split; --prune removes them"));
        }
        if !left.unknown.is_empty() {
            let files = counted(left.unknown.len() as u64, "file");
            streams.note(&format!("{files} not known to be from an earlier split; --prune keeps them"));
        }
        if self.is_dry() {
            streams.note(&format!("dry run, nothing is written: {}", split::part_counts(plan, groups)));
        }
        Ok(())
    }

    fn mode(&self) -> SaveMode {
        let backups = files::Backups::new(self.split.backup.unwrap_or_default());
        SaveMode { force: false, backups, now: self.now, state: self.state.clone() }
    }
}

/// Notes the files that were written.
fn note_written(plan: &Plan, groups: usize, saved: &Saved, streams: &mut Streams<'_>) {
    let (words, written) = (split::part_counts(plan, groups), grouped(saved.written.len() as u64));
    streams.note(&format!("{words}: {written} written{}{}", beside(saved, true), backup(saved)));
}

fn limits(split: &Split) -> Result<Limits, Failure> {
    let (urls, bytes) = (split.max_urls.unwrap_or(URLS_PER_FILE), split.max_bytes.unwrap_or(BYTES_PER_FILE));
    let limits = Limits { urls, bytes, ..Limits::default() };
    if limits.urls == 0 || limits.urls > URLS_PER_FILE || limits.bytes > BYTES_PER_FILE {
        let hint = "smaller parts: --max-urls 10000".to_owned();
        return Err(Failure::Usage(
            format!("a sitemap holds 1 to {URLS_PER_FILE} URLs and {BYTES_PER_FILE} bytes at most"),
            hint,
        ));
    }
    Ok(limits)
}

/// The keys of `--by`.
const KEYS: [&str; 3] = ["section", "host", "month"];

/// The key of the rows that match no query.
const REST: &str = "rest";

fn is_key(word: &str) -> bool {
    KEYS.contains(&word)
}

/// The first unknown placeholder or unmatched brace of a name.
fn unknown_placeholder(name: &str) -> Option<String> {
    let rest = name.replace("{n}", "").replace("{key}", "");
    let at = rest.find(['{', '}'])?;
    let from = rest.get(at..).unwrap_or_default();
    let end = from.find('}').map_or(from.len(), |end| end + 1);
    from.get(..end).map(ToOwned::to_owned)
}

/// Refuses a query that is probably a misspelt key, and a key combined with queries.
fn refuse_misspelt_key(by: &[String]) -> Result<(), Failure> {
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
    if let [word] = by
        && !is_key(word)
        && is_word(word)
        && let Some(key) = nearest(word, KEYS)
    {
        let hint = format!("did you mean --by {key}? --by 'loc:{word}' groups the URLs that contain “{word}”");
        return Err(Failure::Usage(format!("--by {word}: keys are {}", listed(KEYS)), hint));
    }
    if let Some(key) = by.iter().find(|word| by.len() > 1 && is_key(word)) {
        let hint = format!("--by {key} alone, or 'loc:{key}' for the URLs that contain “{key}”");
        return Err(Failure::Usage(format!("--by {key}: a key cannot be combined with queries"), hint));
    }
    Ok(())
}

/// Groups the rows of a set in memory.
fn groups(session: &Session, key: Key<'_>, queries: &[Query]) -> Groups {
    let document = session.document();
    match key {
        Key::All => vec![(String::new(), document.live_rows().map(|row| row.0).collect())],
        Key::Text(what) => grouped_by(document, &|row| key_of(document, row, what)),
        Key::Queries => by_queries(session, queries),
    }
}

/// The section, host or month of a row.
fn key_of(document: &Document, row: RowId, what: &str) -> String {
    match what {
        "section" => section(&document.loc(row)).to_owned(),
        "host" => host(&document.loc(row)).to_owned(),
        _ => {
            let date = document.value(row, crate::protocol::Field::Lastmod);
            let is_dated = document.record(row).lastmod().is_some();
            date.filter(|_| is_dated)
                .and_then(|date| date.get(..7).map(ToOwned::to_owned))
                .unwrap_or_else(|| "undated".to_owned())
        }
    }
}

/// Groups rows by the first query that they match; the others are the group [`REST`].
fn by_queries(session: &Session, queries: &[Query]) -> Groups {
    let document = session.document();
    let idle = Progress::default();
    let mut taken = RowSet::new();
    let mut groups = Groups::new();
    for (number, query) in queries.iter().enumerate() {
        let rows = session.view().rows_where(query, &idle).unwrap_or_default() - &taken;
        taken |= &rows;
        let ordered = document.live_rows().filter(|row: &RowId| rows.contains(row.0)).map(|row| row.0).collect();
        groups.push(((number + 1).to_string(), ordered));
    }
    let rest = document.live_rows().filter(|row| !taken.contains(row.0)).map(|row| row.0).collect();
    groups.push((REST.to_owned(), rest));
    groups.retain(|(_, rows)| !rows.is_empty());
    groups
}

/// The URL of the folder of the first child of the index.
fn folder_of_children(session: &Session) -> Option<String> {
    let index = session.document().index()?;
    let loc = &index.children.first()?.loc;
    let end = loc.rfind('/')? + 1;
    files::folder_url(loc.get(..end)?)
}
