//! A set dealt anew into named parts with an index, in a folder of its own.
//!
//! What is there from an earlier split and is the same is left alone, and keeps its date in the index; parts that
//! are left over from a longer one are named, and removed only when that was asked for.

use super::{Action, FileId, Output, Plan, Problem};
use crate::document::Document;
use crate::document::deal::Place;
use crate::document::rows::RowId;
use crate::document::sitemap::{Child, ChildState, Index, SitemapId};
use crate::document::source::Source;
use crate::files::disk::Fingerprint;
use crate::files::locate;
use crate::files::read::{self, Options};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::{self, Now};
use crate::protocol::limits::{Limits, SITEMAPS_PER_INDEX};
use crate::words::counted;
use crate::xml::entry::Entry;
use crate::xml::escape::escape;
use crate::xml::names::FileKind;
use crate::xml::scan::{self, Ignore};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is to be split, and how.
#[derive(Debug, Clone, Copy)]
pub struct Split<'a> {
    /// The rows.
    pub document: &'a Document,
    /// Rows of each group, in order, with the group's key; empty where all rows are one group.
    pub groups: &'a [(String, Vec<u32>)],
    /// Where the files go.
    pub folder: &'a Path,
    /// The names of the parts: `{n}` is a number, `{key}` the key of the group.
    pub name: &'a str,
    /// Whether the parts are gzipped.
    pub gzip: bool,
    /// URL of the folder; needed.
    pub base_url: &'a str,
    /// Limits of one file.
    pub limits: Limits,
    /// Whether parts of an earlier split that are left over are removed.
    pub prune: bool,
    /// The moment, for the dates of changed files.
    pub now: Now,
}

/// The name of the index.
pub const INDEX: &str = "sitemap_index.xml";

/// An earlier index in the folder: its children by file name, with their dates.
type Earlier = BTreeMap<String, Option<String>>;

/// Works out a split. The names of parts that are left over and stay are given beside it.
pub fn split(request: &Split<'_>) -> (Plan, Vec<String>) {
    let rows: Vec<Vec<u32>> = request.groups.iter().map(|(_, rows)| rows.clone()).collect();
    let dealt = request.document.redealt(&rows, request.limits);
    let mut problems = Vec::new();
    for (row, bytes) in dealt.oversized {
        let message =
            format!("the row {} needs a file of {bytes} bytes; no file may have so many", dealt.document.loc(row));
        problems.push(Problem { row: Some(row), message });
    }
    let mut document = dealt.document;
    let names = names(request, &dealt.groups);
    if let Some(twice) = first_twice(&names) {
        let message = format!("two parts would be called {twice}; put {{n}} into the name");
        problems.push(Problem { row: None, message });
    }
    if names.len() > SITEMAPS_PER_INDEX as usize {
        let message = format!("{} parts; an index holds {SITEMAPS_PER_INDEX} at most", names.len());
        problems.push(Problem { row: None, message });
    }
    let base = locate::folder_url(request.base_url).unwrap_or_default();
    let earlier = earlier(request.folder);
    let today = lastmod::from_typed("today", None, request.now).ok().flatten().unwrap_or_default();
    let mut outputs = Vec::new();
    let mut entries = String::new();
    let mut children = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let id = SitemapId(number as u32);
        let path = request.folder.join(name);
        let url: Arc<str> = format!("{base}{}", encoded(name)).into();
        let place = Place {
            path: Some(path.clone()),
            name: name.as_str().into(),
            url: Some(Arc::clone(&url)),
            gzip: request.gzip,
        };
        document.put(id, place);
        let is_same = is_same(&document, id, &path);
        let action = match path.exists() {
            _ if is_same => Action::Untouched,
            false => Action::Created,
            true if earlier.contains_key(name) => Action::Replaced,
            true => {
                let message = format!(
                    "{} is there and belongs to no earlier split; move it away or choose another name",
                    path.display()
                );
                problems.push(Problem { row: None, message });
                Action::Replaced
            }
        };
        // A file that is as it was keeps its date (sitemaps.org protocol, lastmod of a sitemap).
        let date = earlier.get(name).cloned().flatten().filter(|_| is_same).unwrap_or_else(|| today.clone());
        let _ = write!(
            entries,
            "\n  <sitemap>\n    <loc>{}</loc>\n    <lastmod>{date}</lastmod>\n  </sitemap>",
            escape(&url)
        );
        children.push(Child { loc: Arc::clone(&url), state: ChildState::Loaded(id) });
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
    let index = index(request.folder, &entries, children);
    let path = request.folder.join(INDEX);
    let old = read(&path);
    let action = match &old {
        Some(bytes) if **bytes == *index.source.bytes() => Action::Untouched,
        Some(_) => Action::Replaced,
        None => Action::Created,
    };
    outputs.push(Output {
        path: path.clone(),
        name: INDEX.into(),
        file: FileId::Index,
        action,
        urls_before: earlier.len() as u32,
        urls_after: names.len() as u32,
        bytes: index.source.bytes().len() as u64,
        url: Some(format!("{base}{INDEX}").into()),
        what: String::new(),
    });
    document.set_index(Some(index));
    let kept: HashSet<&String> = names.iter().collect();
    let left: Vec<String> =
        earlier.into_keys().filter(|name| !kept.contains(name) && request.folder.join(name).is_file()).collect();
    if request.prune {
        outputs.extend(left.iter().map(|name| removed(request.folder, name)));
    }
    let left = if request.prune { Vec::new() } else { left };
    let plan = Plan {
        outputs,
        asks: true,
        needs_base: None,
        losses: Vec::new(),
        repairs: Vec::new(),
        copy: true,
        problems,
        document,
        path: Some(path),
    };
    (plan, left)
}

fn removed(folder: &Path, name: &str) -> Output {
    Output {
        path: folder.join(name),
        name: name.into(),
        file: FileId::Gone,
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
        let mut name = request.name.replace("{key}", &safe(key)).replace("{n}", &number_text);
        if has_key && !is_alone && !request.name.contains("{n}") {
            // A group of several parts: the number goes before the extension.
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

/// A key as a part of a file name: what a URL and every file system take as it is.
fn safe(key: &str) -> String {
    let kept =
        |letter: char| if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-') { letter } else { '-' };
    let name: String = key.chars().map(kept).collect();
    let name = name.trim_matches('.');
    if name.is_empty() { "root".to_owned() } else { name.to_owned() }
}

/// A file name in a URL.
fn encoded(name: &str) -> String {
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

fn first_twice(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(name.to_lowercase()))
}

fn index(folder: &Path, entries: &str, children: Vec<Child>) -> Index {
    let blank = Source::blank(FileKind::Index);
    let mut bytes = blank.head(true).to_vec();
    bytes.extend_from_slice(entries.as_bytes());
    bytes.extend_from_slice(&blank.tail(true));
    let scan = scan::scan(&bytes, &mut Ignore, &Progress::default());
    let source = Arc::new(Source::new(bytes, scan).unwrap_or(blank));
    Index { path: Some(folder.join(INDEX)), name: INDEX.into(), source, children, ..Index::default() }
}

/// The children of an index that is in the folder already.
fn earlier(folder: &Path) -> Earlier {
    let mut earlier = Earlier::new();
    let Some(bytes) = read(&folder.join(INDEX)) else { return earlier };
    let scan = scan::scan(&bytes, &mut Ignore, &Progress::default());
    let Some(source) = Source::new(bytes, scan).filter(|source| source.names.kind == FileKind::Index) else {
        return earlier;
    };
    for number in 0..source.len() {
        let text = source.entry_text(number);
        let entry = Entry::of(text, &source.names);
        let loc = entry.value(Field::Loc, text).unwrap_or_default();
        let date = entry.value(Field::Lastmod, text).map(std::borrow::Cow::into_owned);
        // Only names without any folder: nothing outside this one is ever looked at.
        if let locate::Place::Inside(paths) = locate::place(&loc, None)
            && let Some(name) = paths.last().and_then(|path: &PathBuf| path.to_str()).filter(|name| !name.contains('/'))
        {
            earlier.insert(name.to_owned(), date);
        }
    }
    earlier
}

fn read(path: &Path) -> Option<Vec<u8>> {
    read::read(path, &Options::default(), &Progress::default()).ok().map(|contents| contents.bytes)
}

/// Whether a file holds what the part will be.
fn is_same(document: &Document, id: SitemapId, path: &Path) -> bool {
    let Some(there) = path.is_file().then(|| read(path)).flatten() else { return false };
    let mut hash = Fingerprint::default();
    let done: Result<(), std::convert::Infallible> = document.write_sitemap(id, &mut |bytes| {
        hash.update(bytes);
        Ok(())
    });
    done.is_ok()
        && document.sitemap(id).is_some_and(|sitemap| sitemap.bytes() == there.len() as u64)
        && hash.finish() == crate::files::disk::fingerprint(&there)
}

/// What the parts are, in words: `12 parts in 3 groups`.
pub fn words(plan: &Plan, groups: usize) -> String {
    let parts = plan.document.sitemaps().len() as u64;
    if groups > 1 {
        format!("{} in {}", counted(parts, "part"), counted(groups as u64, "group"))
    } else {
        counted(parts, "part")
    }
}

/// Rows of a document in groups by a key, in the order in which the keys come first.
pub fn grouped_by(document: &Document, key: &dyn Fn(RowId) -> String) -> Vec<(String, Vec<u32>)> {
    let mut places: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for row in document.live_rows() {
        let key = key(row);
        let at = *places.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, rows)) = groups.get_mut(at) {
            rows.push(row.0);
        }
    }
    groups
}
