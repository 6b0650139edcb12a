//! Distributes the rows of a document over new files, by group and within limits.
//!
//! Invariant: every live row is in exactly one part, in the given order; no part exceeds a limit unless a single row
//! does; each entry keeps its bytes, except for added namespace declarations that it needs under the root of its part.

use super::Document;
use super::edit::Edit;
use super::frame::{declarations, part_frame};
use super::rows::{RowId, RowList};
use super::sitemap::{Sitemap, SitemapId};
use super::source::Source;
use crate::persistent::Column;
use crate::progress::{Progress, note_work};
use crate::protocol::limits::{Limits, NEWS_PER_FILE};
use crate::xml::grid::Grid;
use crate::xml::markup::{self, Kind};
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Ignore};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// A repartitioned document. Its parts have no names yet.
#[derive(Debug, Clone)]
pub(crate) struct Repartition {
    /// Files and rows; there is no index.
    pub document: Document,
    /// For each file, the position of its group.
    pub groups: Vec<usize>,
    /// Rows that no file can hold, with the size of the smallest file that would.
    pub oversized: Vec<(RowId, u64)>,
}

/// Distributes the live rows of groups over new files. Each file is filled before the next one begins.
///
/// Entries whose roots use different names for the protocol's own elements never share a file. If roots differ in
/// the prefixes of extensions, the root of the part declares all of them, and an entry for which a prefix has another
/// meaning declares it on its own start tag.
pub(crate) fn repartition(document: &Document, groups: &[impl AsRef<[u32]>], limits: Limits) -> Repartition {
    let mut partitioner = Partitioner {
        partition: Repartition { document: document.clone(), groups: Vec::new(), oversized: Vec::new() },
        limits,
        edits: Vec::new(),
    };
    partitioner.partition.document.sitemaps = Column::default();
    partitioner.partition.document.set_index(None);
    for (number, rows) in groups.iter().enumerate() {
        for rows in group_by_core_names(document, rows.as_ref()) {
            partitioner.assign_rows(document, number, &rows);
        }
    }
    let Partitioner { mut partition, edits, .. } = partitioner;
    if !edits.is_empty()
        && let Some(applied) = partition.document.apply(&Edit::Several(edits), &Progress::default())
    {
        partition.document = applied.document;
    }
    partition
}

/// Rows grouped by the names that their files use for the protocol's own elements, in order.
fn group_by_core_names(document: &Document, rows: &[u32]) -> Vec<Vec<u32>> {
    let mut separate: Vec<Vec<u32>> = Vec::new();
    // Many files may have different roots: look groups up by hash, and only when the root changes.
    let mut groups: HashMap<CoreNames<'_>, usize> = HashMap::new();
    let mut last: Option<(&Names, usize)> = None;
    let mut cursor = document.row_cursor();
    for row in rows {
        let names = cursor.names(RowId(*row));
        let group = match last {
            Some((known, group)) if std::ptr::eq(known, names) => group,
            _ => *groups.entry(core_names(names)).or_insert(separate.len()),
        };
        last = Some((names, group));
        match separate.get_mut(group) {
            Some(rows) => rows.push(*row),
            None => separate.push(vec![*row]),
        }
    }
    separate
}

/// The frame of the file that a row's text was written for.
fn frame_of(document: &Document, row: RowId) -> Option<&Source> {
    match document.origin(row) {
        Some((source, _)) => Some(source),
        None => document.sitemap(document.sitemap_of(row)).map(|sitemap| sitemap.frame.as_ref()),
    }
}

/// The names that a root gives the protocol's own elements. Only entries with equal names share a file.
type CoreNames<'n> = (FileKind, &'n str, Option<&'n str>, Option<&'n Grid>);

fn core_names(names: &Names) -> CoreNames<'_> {
    (names.kind, &names.prefix, names.uri.as_deref(), names.grid.as_deref())
}

struct Partitioner {
    partition: Repartition,
    limits: Limits,
    edits: Vec<Edit>,
}

impl Partitioner {
    fn assign_rows(&mut self, document: &Document, group: usize, rows: &[u32]) {
        let frame = Arc::new(union_frame(document, rows));
        let overhead = (frame.head(true).len() + frame.tail(true).len()) as u64;
        // Declarations are added afterwards by edits, which update the size, so the file is created with the size
        // without them.
        let (mut part, mut bytes, mut bytes_without_declarations, mut news) = (Vec::new(), overhead, 0, 0);
        let mut cursor = document.row_cursor();
        // Computed once per root, not once per row: a root may have as many declarations as its file has rows.
        let uris_by_prefix: HashMap<&str, &str> = uris_by_prefix(&frame.names);
        let mut missing_by_names: HashMap<*const Names, HashMap<&str, &str>> = HashMap::new();
        for row in rows.iter().copied().map(RowId) {
            let names = cursor.names(row);
            let entry_len = document.entry_len(row);
            let mut len = entry_len;
            let missing = missing_by_names
                .entry(std::ptr::from_ref(names))
                .or_insert_with(|| missing_declarations(names, &uris_by_prefix));
            if !missing.is_empty() {
                let text = with_declarations(document, row, missing);
                len = text.len() as u64;
                self.edits.push(Edit::Raw { row, text: text.into() });
            }
            let is_news = document.is_news(row);
            let is_full = part.len() as u64 >= u64::from(self.limits.urls)
                || bytes + len > self.limits.bytes
                || (is_news && news >= NEWS_PER_FILE);
            if overhead + len > self.limits.bytes {
                self.partition.oversized.push((row, overhead + len));
            }
            if is_full && !part.is_empty() {
                self.finish_file(group, &frame, std::mem::take(&mut part), bytes_without_declarations);
                (bytes, bytes_without_declarations, news) = (overhead, 0, 0);
            }
            part.push(row.0);
            bytes += len;
            bytes_without_declarations += entry_len;
            news += u32::from(is_news);
        }
        if !part.is_empty() {
            self.finish_file(group, &frame, part, bytes_without_declarations);
        }
    }

    fn finish_file(&mut self, group: usize, frame: &Arc<Source>, rows: Vec<u32>, bytes: u64) {
        let document = &mut self.partition.document;
        let id = document.add_sitemap(Sitemap { frame: Arc::clone(frame), ..Sitemap::default() });
        for row in &rows {
            document.set_file(RowId(*row), id);
        }
        document.change_sitemap(id, |sitemap| {
            (sitemap.live, sitemap.entry_bytes) = (rows.len() as u32, bytes);
            sitemap.rows = RowList::from_ids(rows);
        });
        self.partition.groups.push(group);
        debug_assert_eq!(id, SitemapId(self.partition.groups.len() as u32 - 1), "one group a file");
    }
}

/// The frame of the first row's file, with the declarations of all others that do not contradict it.
fn union_frame(document: &Document, rows: &[u32]) -> Source {
    // There may be many frames with many declarations, so both are looked up by hash.
    let (mut frames, mut seen): (Vec<&Source>, HashSet<*const Source>) = Default::default();
    for row in rows {
        if let Some(frame) = frame_of(document, RowId(*row))
            && seen.insert(std::ptr::from_ref(frame))
        {
            frames.push(frame);
        }
    }
    let mut frames = frames.into_iter();
    let Some(first) = frames.next() else { return Source::blank(FileKind::Urlset) };
    let base = part_frame(first);
    let mut declared: HashSet<&str> = declarations(&base.names).map(|(name, _)| name).collect();
    let mut declarations_text = String::new();
    for (name, uri) in frames.flat_map(|frame| declarations(&frame.names)) {
        if declared.insert(name) {
            // The URI is raw attribute text, so it contains only one kind of quote.
            let quote = if uri.contains('"') { '\'' } else { '"' };
            let _ = write!(declarations_text, " {name}={quote}{uri}{quote}");
        }
    }
    if declarations_text.is_empty() {
        return base;
    }
    let tag_end = base.root_start() + base.root_tag().len() - 1;
    let (before, after) = base.bytes().split_at(tag_end);
    let bytes = [before, declarations_text.as_bytes(), after].concat();
    let scan = scan::scan(&bytes, &mut Ignore, &Progress::default());
    Source::new(bytes, scan).unwrap_or(base)
}

/// The URI of each prefix that a root declares. The first of duplicate declarations takes precedence.
fn uris_by_prefix(names: &Names) -> HashMap<&str, &str> {
    let mut uris_by_prefix = HashMap::new();
    for (name, uri) in declarations(names) {
        note_work(1);
        uris_by_prefix.entry(name.trim_start_matches("xmlns:")).or_insert(uri);
    }
    uris_by_prefix
}

/// The prefixes that an entry written under one root must declare itself to mean the same under another, with their
/// URIs.
fn missing_declarations<'n>(own_names: &'n Names, part: &HashMap<&str, &str>) -> HashMap<&'n str, &'n str> {
    let mut missing = uris_by_prefix(own_names);
    missing.retain(|prefix, uri| part.get(prefix) != Some(uri));
    missing
}

/// A row's text, made valid under any of these roots.
pub(super) fn text_under_roots<'d>(document: &'d Document, row: RowId, roots: &[&Names]) -> Cow<'d, [u8]> {
    let own_names = document.names(row);
    let others =
        roots.iter().filter(|root| !std::ptr::eq(own_names, **root) && own_names.attributes != root.attributes);
    let needed: HashMap<&str, &str> =
        others.flat_map(|root| missing_declarations(own_names, &uris_by_prefix(root))).collect();
    if needed.is_empty() {
        return document.entry_text(row);
    }
    Cow::Owned(with_declarations(document, row, &needed).into_bytes())
}

/// The entry's text with declarations on its start tag, as far as it uses the prefixes.
fn with_declarations(document: &Document, row: RowId, missing: &HashMap<&str, &str>) -> String {
    let (entry, text) = document.entry(row);
    let text = String::from_utf8_lossy(&text).into_owned();
    let element = text.get(entry.open as usize..).unwrap_or_default();
    let mut declarations_text = String::new();
    for prefix in prefixes_used(element) {
        if let Some(uri) = missing.get(prefix) {
            let quote = if uri.contains('"') { '\'' } else { '"' };
            let _ = write!(declarations_text, " xmlns:{prefix}={quote}{uri}{quote}");
        }
    }
    // Insert after the element's name.
    let name = element.find(|letter: char| letter.is_ascii_whitespace() || matches!(letter, '>' | '/'));
    let at = entry.open as usize + name.unwrap_or(0);
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
    format!("{before}{declarations_text}{after}")
}

/// The distinct prefixes of an element's tags and attributes, without those that its own start tag declares.
fn prefixes_used(element: &str) -> Vec<&str> {
    let (mut used, mut known, mut at) = (Vec::new(), HashSet::new(), 0);
    while let Some(tag) = markup::next(element.as_bytes(), at) {
        let is_first = at == 0;
        at = tag.end;
        if !matches!(tag.kind, Kind::Start | Kind::Empty) {
            continue;
        }
        let attributes = || markup::attributes(tag.attributes(element.as_bytes())).map(|attribute| attribute.name);
        if is_first {
            known.extend(attributes().filter_map(|name| name.strip_prefix(b"xmlns:")));
        }
        for name in std::iter::once(tag.name(element.as_bytes())).chain(attributes()) {
            if let Some((prefix, _)) = memchr::memchr(b':', name).and_then(|colon| name.split_at_checked(colon))
                && known.insert(prefix)
                && let Ok(prefix) = std::str::from_utf8(prefix)
            {
                used.push(prefix);
            }
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::fixture::{self, document};

    fn file(attributes: &str, entries: &[&str]) -> String {
        let entries = entries.iter().map(|entry| format!("\n  <url>{entry}</url>")).collect::<Vec<_>>().concat();
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"{attributes}>{entries}\n</urlset>\n")
    }

    fn written(partition: &Repartition) -> Vec<String> {
        let ids = (0..partition.document.sitemaps().len() as u32).map(SitemapId);
        ids.map(|id| String::from_utf8(fixture::written(&partition.document, id)).unwrap()).collect()
    }

    #[test]
    fn both_limits_are_exact_and_every_row_is_in_one_part() {
        let locs: Vec<String> = (0..10).map(|number| format!("<loc>https://e.com/{number}</loc>")).collect();
        let document = document(&[file("", &locs.iter().map(String::as_str).collect::<Vec<_>>())]);
        let all: Vec<u32> = (0..10).collect();
        let by_count = repartition(&document, std::slice::from_ref(&all), Limits { urls: 4, ..Limits::default() });
        let counts: Vec<usize> = written(&by_count).iter().map(|text| text.matches("<url>").count()).collect();
        assert_eq!(counts, [4, 4, 2]);
        let three = written(&repartition(&document, &[vec![0, 1, 2]], Limits::default()))[0].len() as u64;
        for (bytes, expected) in [(three, 3), (three - 1, 2)] {
            let split = repartition(&document, std::slice::from_ref(&all), Limits { bytes, ..Limits::default() });
            let files = written(&split);
            assert_eq!(files[0].matches("<url>").count(), expected);
            assert!(files.iter().all(|text| text.len() as u64 <= bytes) && split.oversized.is_empty());
            let together: Vec<&str> = files.iter().flat_map(|text| text.split("<loc>").skip(1)).collect();
            assert_eq!(together.len(), 10);
        }
        let tight = repartition(&document, &[vec![0, 1]], Limits { bytes: 20, ..Limits::default() });
        assert_eq!((tight.oversized.len(), written(&tight).len()), (2, 2));
    }

    #[test]
    fn a_news_file_holds_a_thousand() {
        let entry = "<loc>https://e.com/</loc><n:news><n:title>t</n:title></n:news>";
        let text = file(" xmlns:n=\"http://www.google.com/schemas/sitemap-news/0.9\"", &vec![entry; 1_001]);
        let split = repartition(&document(&[text]), &[(0..1_001).collect::<Vec<u32>>()], Limits::default());
        let counts: Vec<usize> = written(&split).iter().map(|text| text.matches("<url>").count()).collect();
        assert_eq!(counts, [1_000, 1]);
    }

    #[test]
    fn prefixes_travel_with_their_entries() {
        let image = "http://www.google.com/schemas/sitemap-image/1.1";
        let plain = "<loc>https://e.com/a</loc>";
        let with_image = "<loc>https://e.com/b</loc><i:image><i:loc>https://e.com/p.png</i:loc></i:image>";
        let files = [
            file("", &[plain]),
            file(&format!(" xmlns:i=\"{image}\""), &[with_image]),
            file(" xmlns:i='urn:other'", &["<loc>https://e.com/c</loc><i:thing/>", plain]),
            "<urlset xmlns=\"http://www.google.com/schemas/sitemap/0.84\"><url><loc>https://e.com/d</loc></url></urlset>".to_owned(),
            "<s:urlset xmlns:s=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><s:url><s:loc>https://e.com/e</s:loc></s:url></s:urlset>".to_owned(),
        ];
        let split = repartition(&document(&files), &[(0..6).collect::<Vec<u32>>()], Limits::default());
        let files = written(&split);
        assert_eq!((files.len(), &split.groups[..]), (3, &[0, 0, 0][..]));
        assert!(files[0].starts_with(&format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:i=\"{image}\">"
        )));
        assert!(files[0].contains(&format!("<url>{with_image}</url>")), "{}", files[0]);
        assert!(
            files[0].contains("<url xmlns:i=\"urn:other\"><loc>https://e.com/c</loc><i:thing/></url>"),
            "{}",
            files[0]
        );
        assert_eq!(files[0].matches(&format!("<url>{plain}</url>")).count(), 2);
        assert!(files[1].contains("0.84") && files[2].contains("<s:loc>"));
    }

    #[test]
    fn a_prefix_of_an_attribute_is_declared_and_none_is_declared_twice() {
        let entries = ["<loc>https://e.com/a</loc><b i:c='1'/>", "<loc>https://e.com/b</loc><i:c/>"];
        let own = "<url xmlns:i='urn:own'><loc>https://e.com/c</loc><i:c/></url>";
        let mut other = file(" xmlns:i='urn:other'", &entries);
        other.insert_str(other.find("</urlset>").unwrap(), own);
        let files = written(&repartition(
            &document(&[file(" xmlns:i='urn:first'", &[]), file(" xmlns:i='urn:first'", &["<loc/>"]), other]),
            &[(0..4).collect::<Vec<u32>>()],
            Limits::default(),
        ));
        assert!(
            entries.iter().all(|entry| files[0].contains(&format!("<url xmlns:i=\"urn:other\">{entry}</url>"))),
            "{}",
            files[0]
        );
        assert!(files[0].contains(own), "{}", files[0]);
    }
}
