//! Unloads files of a set that is larger than memory, and reloads them one at a time.
//!
//! A streamed set is processed file by file. An unloaded file keeps its number of rows, its size and its frame; its
//! rows have no text and no record, except for URLs that other rows are compared with. [`reload`] makes a file resident
//! until it is unloaded again. An edit of a resident file gives a separate document, which is dropped before the next
//! file is reloaded.
//!
//! A file whose findings are mostly counted keeps the text and the records of its first rows, and outlines of the other
//! records ([`append_first`]); [`restore`] makes it resident.

use super::Document;
use super::kept_locs::{KeptLocs, RowLocs};
use super::lines::Anchor;
use super::rows::{RowId, RowList};
use super::sitemap::{Sitemap, SitemapId};
use super::source::Source;
use crate::file_bytes::FileBytes;
use crate::xml::entry::Entry;
use crate::xml::record::{Flags, Record};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Flag in a stored entry length: the row is news.
const NEWS: u32 = 1 << 31;

/// The data that a streamed set keeps for rows of unloaded files.
#[derive(Debug, Clone, Default)]
pub(super) struct Streaming {
    /// URLs that other rows are compared with, by row id.
    locs: Arc<KeptLocs>,
    /// The entry length of every row in bytes, needed to split; [`NEWS`] is set for news.
    lengths: Option<Arc<[u32]>>,
    /// The resident file.
    pub(super) resident: Option<SitemapId>,
    /// The entry starts of files of which only the first entries are resident; see [`append_first`].
    starts: BTreeMap<SitemapId, Arc<Vec<u32>>>,
}

impl Streaming {
    pub(super) fn loc(&self, row: RowId) -> Option<&str> {
        self.locs.get(row)
    }

    pub(super) fn entry_len(&self, row: RowId) -> Option<u64> {
        let lengths = self.lengths.as_ref()?;
        Some(u64::from(lengths.get(row.index()).map_or(0, |len| len & !NEWS)))
    }

    pub(super) fn is_news(&self, row: RowId) -> Option<bool> {
        let lengths = self.lengths.as_ref()?;
        Some(lengths.get(row.index()).is_some_and(|len| len & NEWS != 0))
    }
}

/// Appends a file and unloads it at once. Only while loading.
pub(crate) fn append(document: &mut Document, source: &Source, sitemap: Sitemap) {
    let (len, bytes) = (source.len() as u32, source.run(0, source.len()).len() as u64);
    document.append_rows(source.without_entries(), (len, bytes), [], sitemap);
    document.streaming.get_or_insert_default();
}

/// Appends a file of which only the first entries are resident; `records` are those of all rows, of which the first are
/// kept. `starts` are the offsets of all entries and of the tail. Only while loading.
pub(crate) fn append_first(
    document: &mut Document,
    source: Source,
    records: &[Record],
    (sitemap, starts): (Sitemap, Vec<u32>),
) {
    let id = SitemapId(document.sitemaps.len() as u32);
    let bytes = starts.last().zip(starts.first()).map_or(0, |(end, start)| u64::from(end - start));
    let len = starts.len().saturating_sub(1) as u32;
    let (first, rest) = records.split_at_checked(source.len()).unwrap_or_default();
    let records = first.iter().copied().chain(rest.iter().map(Record::outline));
    document.append_rows(source, (len, bytes), records, sitemap);
    document.streaming.get_or_insert_default().starts.insert(id, Arc::new(starts));
}

/// The entry starts of a file of which only the first entries are resident.
pub(crate) fn starts_of(document: &Document, id: SitemapId) -> Option<&[u32]> {
    Some(document.streaming.as_ref()?.starts.get(&id)?)
}

/// Makes all entries of such a file resident; `bytes` are those of the file, with their anchors. False if they do not match.
pub(crate) fn restore(document: &mut Document, id: SitemapId, bytes: FileBytes, anchors: Vec<Anchor>) -> bool {
    let (Some(starts), Some(kept)) = (starts_of(document, id), document.source_of(id)) else { return false };
    let (Some(source), Some(first)) = (kept.with_entries(bytes, starts), document.bases.get(id.index()).copied())
    else {
        return false;
    };
    let source = source.anchored(anchors);
    for entry in kept.len()..source.len() {
        let (text, row) = (source.entry_text(entry), first as usize + entry);
        let is_repaired = document.records.get(row).is_some_and(|known| known.flags.contains(Flags::REPAIRED));
        let mut record = Record::of(&Entry::of(text, &source.names), text);
        record.flags.set(Flags::REPAIRED, is_repaired);
        document.records.set(row, record);
    }
    replace_source(document, id, source);
    true
}

/// Drops a document in which a file is resident. Returns the bytes of that file, unless they are shared.
pub(crate) fn into_bytes(document: Document, id: SitemapId) -> Option<FileBytes> {
    let source = document.sources.get(id.index()).map(Arc::clone)?;
    drop(document);
    Arc::into_inner(source).map(Source::into_bytes)
}

/// Reloads an unloaded file. False if its number of rows has changed.
pub(crate) fn reload(document: &mut Document, id: SitemapId, source: Source, records: &[Record]) -> bool {
    let (Some(sitemap), Some(first)) = (document.sitemap(id), document.bases.get(id.index()).copied()) else {
        return false;
    };
    if sitemap.live as usize != source.len() || records.len() != source.len() {
        return false;
    }
    let records = (first..).map(RowId).zip(records.iter().copied());
    reload_some(document, id, source, records);
    true
}

/// Reloads the bytes of a file, and the records of some of its rows.
pub(crate) fn reload_some(
    document: &mut Document,
    id: SitemapId,
    source: Source,
    records: impl IntoIterator<Item = (RowId, Record)>,
) {
    for (row, record) in records {
        document.records.set(row.index(), record);
    }
    replace_source(document, id, source);
    document.streaming.get_or_insert_default().resident = Some(id);
}

/// Unloads a file: drops its records and returns its bytes, unless they are shared.
pub(crate) fn unload(document: &mut Document, id: SitemapId) -> Option<FileBytes> {
    let (sitemap, first) = (document.sitemap(id)?, document.bases.get(id.index()).copied()?);
    let rows = first as usize..first as usize + sitemap.live as usize;
    let frame = document.source_of(id).map(Source::without_entries)?;
    let bytes = replace_source(document, id, frame).map(Source::into_bytes);
    document.records.blank(rows);
    if let Some(streaming) = &mut document.streaming {
        streaming.resident = None;
    }
    bytes
}

/// Replaces a file by its edited version, unloaded: only the number and length of its rows are kept.
pub(crate) fn replace(document: &mut Document, id: SitemapId, sitemap: Sitemap) {
    let Some(before) = document.sitemap(id).map(|sitemap| sitemap.live) else { return };
    document.live = (document.live + sitemap.live).saturating_sub(before);
    let first = document.bases.get(id.index()).copied().unwrap_or_default();
    let (rows, frame) = (RowList::range(first, sitemap.live), Arc::new(sitemap.frame.without_entries()));
    document.change_sitemap(id, |slot| *slot = Sitemap { frame, rows, ..sitemap });
}

/// Keeps these URLs of rows, and no others, while their files are unloaded.
pub(crate) fn keep_locs(document: &mut Document, locs: RowLocs) {
    document.streaming.get_or_insert_default().locs = Arc::new(locs.into());
}

/// Keeps the entry length in bytes of every row, with the highest bit set for news: what splitting unloaded rows needs.
pub(crate) fn keep_lengths(document: &mut Document, lengths: Vec<u32>) {
    document.streaming.get_or_insert_default().lengths = Some(lengths.into());
}

/// Replaces a source, and returns the old one unless it is shared.
fn replace_source(document: &mut Document, id: SitemapId, source: Source) -> Option<Source> {
    let source = Arc::new(source);
    document.change_sitemap(id, |sitemap| sitemap.frame = Arc::clone(&source));
    let slot = Arc::make_mut(&mut document.sources).get_mut(id.index())?;
    Arc::into_inner(std::mem::replace(slot, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Field;
    use crate::xml::entry::Entry;

    fn source(from: u32, to: u32) -> Source {
        let rows: Vec<String> = (from..to).map(|row| format!("\n<url><loc>https://e.com/{row}</loc></url>")).collect();
        let root = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        Source::of_text(format!("{root}{}\n</urlset>\n", rows.concat()).into_bytes()).unwrap()
    }

    fn records(source: &Source) -> Vec<Record> {
        let record = |entry| {
            let text = source.entry_text(entry);
            Record::of(&Entry::of(text, &source.names), text)
        };
        (0..source.len()).map(record).collect()
    }

    #[test]
    fn reloading_gives_what_a_load_gives_and_unloading_frees_it() {
        let parts = [(0, 700), (700, 1_001), (1_001, 1_002)];
        let mut whole = Document::default();
        let mut streamed = Document::default();
        for (from, to) in parts {
            let part = source(from, to);
            append(&mut streamed, &part, Sitemap::default());
            whole.append(source(from, to), records(&part), Sitemap::default());
        }
        assert!(streamed.is_streamed() && !whole.is_streamed());
        assert_eq!((streamed.live(), streamed.row_limit()), (whole.live(), whole.row_limit()));
        let mut locs = RowLocs::default();
        locs.push(RowId(5), "https://e.com/5");
        keep_locs(&mut streamed, locs);
        let blank = streamed.records().clone();
        for (number, (from, to)) in parts.into_iter().enumerate() {
            let id = SitemapId(number as u32);
            assert_eq!(streamed.sitemap(id).unwrap().bytes(), whole.sitemap(id).unwrap().bytes());
            assert_eq!(streamed.loc(RowId(from)), "");
            assert_eq!(streamed.loc(RowId(5)), "https://e.com/5");
            let again = source(from, to);
            let facts = records(&again);
            assert!(reload(&mut streamed, id, again, &facts));
            for row in (from..to).map(RowId) {
                assert_eq!(streamed.loc(row), whole.loc(row));
                assert_eq!(streamed.record(row), whole.record(row));
                assert_eq!(streamed.sitemap_of(row), id);
                assert_eq!(streamed.value(row, Field::Lastmod), None);
            }
            assert!(!reload(&mut streamed, id, source(from, to + 1), &facts), "a file that has changed meanwhile");
            unload(&mut streamed, id);
        }
        assert!(streamed.records().iter().eq(blank.iter()));
    }
}
