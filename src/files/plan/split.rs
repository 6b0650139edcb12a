//! Plans a split: distributes the rows of a set over new files with an index, in a separate folder.
//!
//! Unchanged files of an earlier split are not written and keep their dates in the index. Surplus files of an earlier
//! split are reported, and removed only on request (`prune`).

use super::{Action, FileId, Output, Plan, Problem, volumes};
use crate::document::Document;
use crate::document::index::{Child, ChildState, Index};
use crate::document::repartition::Repartition;
use crate::document::repartition::repartition;
use crate::document::rows::RowId;
use crate::document::sitemap::FileLocation;
use crate::document::sitemap::SitemapId;
use crate::document::source::Source;
use crate::file_bytes::FileBytes;
use crate::files::error::{Error, Reason};
use crate::files::read::{self, Options};
use crate::files::{SplitHistory, detect, locate};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::{self, Now};
use crate::protocol::limits::Limits;
use crate::words::counted;
use crate::xml::entry::Entry;
use crate::xml::escape::escape;
use crate::xml::names::FileKind;
use crate::xml::scan::{self, Ignore};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The input of a split.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split<'a> {
    /// The rows.
    pub document: &'a Document,
    /// The key and the rows of each group, in order; empty if all rows are one group.
    pub groups: &'a [(String, Vec<u32>)],
    /// The folder of the new files.
    pub folder: &'a Path,
    /// The template for the names of the parts: `{n}` is a number, `{key}` the key of the group.
    pub name: &'a str,
    /// Whether the parts are gzipped.
    pub gzip: bool,
    /// The URL of the folder; required.
    pub base_url: &'a str,
    /// Limits of one file.
    pub limits: Limits,
    /// Whether surplus parts of an earlier split are removed.
    pub prune: bool,
    /// The files that earlier splits have created in the folder.
    pub history: &'a SplitHistory,
    /// The current time, for the dates of changed files.
    pub now: Now,
}

/// The name of the index, or of the first one if there are several.
pub(crate) const INDEX: &str = "sitemap_index.xml";

/// The name of the index with this number, from 1.
fn index_name(number: usize) -> String {
    if number == 1 { INDEX.to_owned() } else { format!("sitemap_index-{number}.xml") }
}

/// The earlier split that is described by the indexes in the folder.
#[derive(Default)]
struct EarlierSplit {
    /// All children by file name, with their dates.
    children: BTreeMap<String, Option<String>>,
    /// The children of the first index: the files of the last split. Files of earlier ones are only in the history.
    listed: BTreeSet<String>,
    /// The number of children of each index.
    counts: Vec<u32>,
}

/// Sitemaps in the folder that are not part of the new split and are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Leftovers {
    /// Files of an earlier split; `prune` removes them.
    pub removable: Vec<String>,
    /// Files with names of parts that no known split has created.
    pub unknown: Vec<String>,
}

/// Plans a split; also returns the leftovers in the folder.
pub(crate) fn split(request: &Split<'_>) -> (Plan, Leftovers) {
    let partition = partition(request);
    let document = partition.document.clone();
    let mut is_same = |id, path: &Path| {
        let text = |out: &mut Vec<u8>| {
            let written: Result<(), std::convert::Infallible> = document.write_sitemap(id, &mut |bytes| {
                out.extend_from_slice(bytes);
                Ok(())
            });
            written.is_ok()
        };
        let mut bytes = Vec::new();
        path.is_file() && text(&mut bytes) && has_bytes(path, &bytes)
    };
    plan_split(request, partition, &mut is_same)
}

/// Distributes the rows of the groups over parts.
pub(crate) fn partition(request: &Split<'_>) -> Repartition {
    let rows: Vec<&[u32]> = request.groups.iter().map(|(_, rows)| &**rows).collect();
    repartition(request.document, &rows, request.limits)
}

/// Plans a split of rows that are distributed already; `is_same` returns whether a file has the bytes of a part.
pub(crate) fn plan_split(
    request: &Split<'_>,
    partition: Repartition,
    is_same: &mut dyn FnMut(SitemapId, &Path) -> bool,
) -> (Plan, Leftovers) {
    let mut problems = Vec::new();
    for (row, bytes) in partition.oversized {
        let message = format!(
            "the row {} needs a file of {bytes} bytes, over the limit of a sitemap",
            partition.document.loc(row)
        );
        problems.push(Problem { row: Some(row), message });
    }
    let mut document = partition.document;
    let names = names(request, &partition.groups);
    let base = locate::folder_url(request.base_url).unwrap_or_default();
    let earlier = EarlierSplit::read(request.folder).unwrap_or_else(|error| {
        problems.push(unreadable(&error));
        EarlierSplit::default()
    });
    let today = lastmod::parse_input("today", None, request.now).ok().flatten().unwrap_or_default();
    let mut outputs = Vec::new();
    let mut entries: Vec<(String, Child)> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let id = SitemapId(number as u32);
        let path = request.folder.join(name);
        let url: Arc<str> = format!("{base}{}", percent_encoded(name)).into();
        let location = FileLocation {
            path: Some(path.clone()),
            name: name.as_str().into(),
            url: Some(Arc::clone(&url)),
            gzip: request.gzip,
        };
        document.set_location(id, location);
        let is_same = is_same(id, &path);
        let action = match path.exists() {
            _ if is_same => Action::Untouched,
            false => Action::Created,
            true if earlier.children.contains_key(name) => Action::Replaced,
            true => {
                let message = format!(
                    "{} exists and was not made by an earlier split; move it or choose another name",
                    path.display()
                );
                problems.push(Problem { row: None, message });
                Action::Replaced
            }
        };
        // An unchanged file keeps its date (sitemaps.org protocol, lastmod of a sitemap).
        let date = earlier.children.get(name).cloned().flatten().filter(|_| is_same).unwrap_or_else(|| today.clone());
        let entry =
            format!("\n  <sitemap>\n    <loc>{}</loc>\n    <lastmod>{date}</lastmod>\n  </sitemap>", escape(&url));
        entries.push((entry, Child { loc: Arc::clone(&url), state: ChildState::Loaded(id) }));
        let (urls, bytes) = document.sitemap(id).map_or((0, 0), |sitemap| (sitemap.live, sitemap.bytes()));
        let what = String::new();
        outputs.push(Output {
            path,
            name: name.as_str().into(),
            file: FileId::Sitemap(id),
            action,
            urls_before: 0,
            urls_after: urls,
            bytes,
            url: Some(url),
            what,
        });
    }
    let index = Index::joined(indexes(request, entries)).unwrap_or_default();
    let mut losses = Vec::new();
    if index.file_count() > 1 {
        losses.push(volumes::volumes_message(&index, request.limits));
    }
    let all: Vec<String> = names.iter().cloned().chain(index.files().map(|file| file.name.to_string())).collect();
    if let Some(duplicate) = first_duplicate(&all) {
        let message = format!("two files would have the name {duplicate}; use {{n}} in --name, or another name");
        problems.push(Problem { row: None, message });
    }
    let files = (0..index.file_count()).rev().filter_map(|number| Some((number, index.file(number)?)));
    for (number, file) in files {
        let path = request.folder.join(&**file.name);
        let action = match read(&path) {
            Some(bytes) if *bytes == *file.bytes() => Action::Untouched,
            Some(_) => Action::Replaced,
            None => Action::Created,
        };
        outputs.push(Output {
            path,
            name: Arc::clone(file.name),
            file: FileId::of_index(number),
            action,
            urls_before: earlier.counts.get(number).copied().unwrap_or(0),
            urls_after: file.entries.len() as u32,
            bytes: file.len(),
            url: Some(format!("{base}{}", file.name).into()),
            what: String::new(),
        });
    }
    let path = request.folder.join(INDEX);
    let surplus_indexes = (index.file_count() + 1..=earlier.counts.len()).map(index_name);
    document.set_index(Some(index));
    let kept: HashSet<&String> = names.iter().collect();
    // The target of a link is not in this folder. A file that cannot be inspected may be one; removing it reports the
    // error.
    let is_file = |name: &String| match request.folder.join(name).symlink_metadata() {
        Ok(file) => file.is_file(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    let mut surplus: BTreeSet<String> = earlier.children.keys().cloned().collect();
    match similarly_named(request) {
        Ok(names) => surplus.extend(names),
        Err(error) => problems.push(unreadable(&error)),
    }
    let surplus = surplus.into_iter().filter(|name| !kept.contains(name) && is_file(name)).chain(surplus_indexes);
    let (mut removable, unknown) =
        surplus.partition::<Vec<_>, _>(|name| earlier.listed.contains(name) || request.history.has(name));
    if request.prune {
        outputs.extend(removable.drain(..).map(|name| removed(request.folder, &name)));
    }
    let leftovers = Leftovers { removable, unknown };
    let plan = Plan {
        outputs,
        asks: true,
        needs_base: None,
        losses,
        repairs: Vec::new(),
        copy: true,
        problems,
        document,
        path: Some(path),
    };
    (plan, leftovers)
}

/// Sitemaps in the folder whose names match the template. Leftovers that an earlier split has kept are not listed in
/// its index.
fn similarly_named(request: &Split<'_>) -> Result<Vec<String>, Error> {
    let escaped = regex::escape(request.name).replace(r"\{n\}", r"\d+").replace(r"\{key\}", r"[A-Za-z0-9._-]+?(-\d+)?");
    let Ok(pattern) = regex::Regex::new(&format!("^{escaped}(\\.gz)?$")) else { return Ok(Vec::new()) };
    let failed = |error| Error::system("list", request.folder, error);
    let entries = match std::fs::read_dir(request.folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let Ok(name) = entry.map_err(failed)?.file_name().into_string() else { continue };
        if pattern.is_match(&name) {
            let bytes = read_if_exists(&request.folder.join(&name))?.unwrap_or_default();
            if detect::detect(&bytes).is_ok_and(|kind| kind != FileKind::Index) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// The problem for a folder that cannot be read: the split would not find the files of an earlier one.
fn unreadable(error: &Error) -> Problem {
    Problem { row: None, message: format!("{error}; the folder is needed to find the files of an earlier split") }
}

fn removed(folder: &Path, name: &str) -> Output {
    Output {
        path: folder.join(name),
        name: name.into(),
        file: FileId::Removed,
        action: Action::Removed,
        urls_before: 0,
        urls_after: 0,
        bytes: 0,
        url: None,
        what: "left over".to_owned(),
    }
}

/// The names of all parts, in order.
fn names(request: &Split<'_>, groups: &[usize]) -> Vec<String> {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for group in groups {
        *sizes.entry(*group).or_default() += 1;
    }
    let width = groups.len().to_string().len();
    let (mut seen, mut names) = (BTreeMap::<usize, usize>::new(), Vec::new());
    for (at, group) in groups.iter().enumerate() {
        let number = seen.entry(*group).or_default();
        *number += 1;
        let key = request.groups.get(*group).map_or("", |(key, _)| key);
        let is_alone = sizes.get(group) == Some(&1);
        let has_key = request.name.contains("{key}");
        let number_text = if has_key { number.to_string() } else { format!("{:0width$}", at + 1) };
        let mut name = request.name.replace("{key}", &file_name_key(key)).replace("{n}", &number_text);
        if has_key && !is_alone && !request.name.contains("{n}") {
            // The group has several parts: the number is inserted before the extension.
            let end = name.find(".xml").unwrap_or(name.len());
            name.insert_str(end, &format!("-{number}"));
        }
        let is_packed = Path::new(&name).extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        if request.gzip && !is_packed {
            name.push_str(".gz");
        }
        names.push(name);
    }
    names
}

/// The key in a form that is valid in URLs and on every file system.
fn file_name_key(key: &str) -> String {
    let kept =
        |letter: char| if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-') { letter } else { '-' };
    let name: String = key.chars().map(kept).collect();
    let name = name.trim_matches('.');
    if name.is_empty() { "root".to_owned() } else { name.to_owned() }
}

/// Percent-encodes a file name for a URL.
fn percent_encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn first_duplicate(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(name.to_lowercase()))
}

/// Distributes the entries over indexes, each filled up to the limits.
fn indexes(request: &Split<'_>, entries: Vec<(String, Child)>) -> Vec<Index> {
    let blank = Source::blank(FileKind::Index);
    let frame = (blank.head(true).len() + blank.tail(true).len()) as u64;
    let mut indexes = Vec::new();
    let mut entries = entries.into_iter().peekable();
    while entries.peek().is_some() || indexes.is_empty() {
        let (mut text, mut children) = (String::new(), Vec::new());
        while let Some((entry, child)) = entries.next_if(|(entry, _)| {
            let fits = frame + (text.len() + entry.len()) as u64 <= request.limits.index_bytes;
            // The first entry is always added: one entry is smaller than the limit.
            children.is_empty() || (fits && children.len() < request.limits.parts as usize)
        }) {
            text.push_str(&entry);
            children.push(child);
        }
        indexes.push(index(request.folder, &index_name(indexes.len() + 1), &text, children));
    }
    indexes
}

fn index(folder: &Path, name: &str, entries: &str, children: Vec<Child>) -> Index {
    let blank = Source::blank(FileKind::Index);
    let mut bytes = blank.head(true).to_vec();
    bytes.extend_from_slice(entries.as_bytes());
    bytes.extend_from_slice(&blank.tail(true));
    let scan = scan::scan(&bytes, &mut Ignore, &Progress::default());
    let source = Arc::new(Source::new(bytes, scan).unwrap_or(blank));
    Index { path: Some(folder.join(name)), name: name.into(), source, children: children.into(), ..Index::default() }
}

impl EarlierSplit {
    /// Reads the indexes in the folder.
    ///
    /// # Errors
    /// If an existing one cannot be read.
    fn read(folder: &Path) -> Result<Self, Error> {
        let mut earlier = Self::default();
        while let Some(bytes) = read_if_exists(&folder.join(index_name(earlier.counts.len() + 1)))? {
            let Some(count) = earlier.add(bytes) else { break };
            if earlier.counts.is_empty() {
                earlier.listed = earlier.children.keys().cloned().collect();
            }
            earlier.counts.push(count);
        }
        Ok(earlier)
    }

    /// Adds the children of an index and returns their number; `None` if the bytes are no index.
    fn add(&mut self, bytes: FileBytes) -> Option<u32> {
        let scan = scan::scan(&bytes, &mut Ignore, &Progress::default());
        let source = Source::new(bytes, scan).filter(|source| source.names.kind == FileKind::Index)?;
        for number in 0..source.len() {
            let text = source.entry_text(number);
            let entry = Entry::of(text, &source.names);
            let loc = entry.value(Field::Loc, text).unwrap_or_default();
            let date = entry.value(Field::Lastmod, text).map(std::borrow::Cow::into_owned);
            // Only names without a folder: files outside this folder are never read.
            if let locate::ChildLocation::Inside(paths) = locate::locate_child(&loc, None)
                && let Some(name) =
                    paths.last().and_then(|path: &PathBuf| path.to_str()).filter(|name| !name.contains('/'))
            {
                self.children.insert(name.to_owned(), date);
            }
        }
        Some(source.len() as u32)
    }
}

/// Reads a file; `None` if it does not exist or is no sitemap.
///
/// # Errors
/// If an existing file cannot be read.
fn read_if_exists(path: &Path) -> Result<Option<FileBytes>, Error> {
    match read::read(path, &Options::default(), &Progress::default()) {
        Ok(contents) => Ok(Some(contents.bytes)),
        Err(error) if matches!(error.reason, Reason::Missing) || error.is_of_content() => Ok(None),
        Err(error) => Err(error),
    }
}

fn read(path: &Path) -> Option<FileBytes> {
    read_if_exists(path).ok().flatten()
}

/// Whether a file contains these bytes, compressed or not.
pub(crate) fn has_bytes(path: &Path, bytes: &[u8]) -> bool {
    read(path).is_some_and(|there| *there == *bytes)
}

/// The number of parts and groups in words: `12 parts in 3 groups`.
pub(crate) fn part_counts(plan: &Plan, groups: usize) -> String {
    let parts = plan.document.sitemaps().len() as u64;
    if groups > 1 {
        format!("{} in {}", counted(parts, "part"), counted(groups as u64, "group"))
    } else {
        counted(parts, "part")
    }
}

/// Groups the rows of a document by key, in the order of the first row of each key.
pub(crate) fn grouped_by(document: &Document, key: &dyn Fn(RowId) -> String) -> Vec<(String, Vec<u32>)> {
    let mut positions: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for row in document.live_rows() {
        let key = key(row);
        let at = *positions.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, rows)) = groups.get_mut(at) {
            rows.push(row.0);
        }
    }
    groups
}

#[cfg(test)]
mod tests;
