//! Unloads files of a set that is larger than memory, and reloads them one at a time.
//!
//! A streamed set is processed file by file. An unloaded file keeps its number of rows, its size and its frame; its rows
//! have no text and no record, except for URLs that other rows are compared with. [`Document::reload`] makes a file
//! resident until it is unloaded again. An edit of a resident file gives a separate document, which is dropped before the
//! next file is reloaded.

use super::Document;
use super::rows::{RowId, RowList, RowSet};
use super::sitemap::{Sitemap, SitemapId};
use super::source::Source;
use crate::xml::record::{Flags, Record};
use std::sync::Arc;

/// Flag in a stored entry length: the row is news.
const NEWS: u32 = 1 << 31;

impl Document {
    /// Appends a file and unloads it at once. Only while loading.
    pub fn append_unloaded(&mut self, source: &Source, sitemap: Sitemap) {
        let (len, bytes) = (source.len() as u32, source.run(0, source.len()).len() as u64);
        let first = self.row_limit();
        self.append(source.without_entries(), [], sitemap);
        let rows = first as usize + len as usize;
        self.records.grow(rows);
        self.overrides.iter_mut().for_each(|column| column.grow(rows));
        self.raws.grow(rows);
        self.row_files.grow(rows);
        self.live += len;
        let last = SitemapId(self.sitemaps.len().saturating_sub(1) as u32);
        self.change_sitemap(last, |sitemap| {
            (sitemap.rows, sitemap.live, sitemap.entry_bytes) = (RowList::range(first, len), len, bytes);
        });
        self.is_streamed = true;
    }

    /// Reloads an unloaded file. False if its number of rows has changed.
    pub fn reload(&mut self, id: SitemapId, source: Source, records: &[Record]) -> bool {
        let (Some(sitemap), Some(first)) = (self.sitemap(id), self.bases.get(id.index()).copied()) else {
            return false;
        };
        if sitemap.live as usize != source.len() || records.len() != source.len() {
            return false;
        }
        for (row, record) in (first as usize..).zip(records) {
            self.records.set(row, *record);
        }
        self.put_source(id, source);
        self.resident = Some(id);
        true
    }

    /// Reloads the bytes of a file, and the records of some of its rows.
    pub fn reload_some(&mut self, id: SitemapId, source: Source, records: &[(RowId, Record)]) {
        for (row, record) in records {
            self.records.set(row.index(), *record);
        }
        self.put_source(id, source);
        self.resident = Some(id);
    }

    /// Unloads a file: drops its records and returns its bytes, unless they are shared.
    pub fn unload(&mut self, id: SitemapId) -> Option<Vec<u8>> {
        let (sitemap, first) = (self.sitemap(id)?, self.bases.get(id.index()).copied()?);
        let rows = first as usize..first as usize + sitemap.live as usize;
        let frame = self.source_of(id).map(Source::without_entries);
        let old = frame.and_then(|frame| self.put_source(id, frame));
        self.records.blank(rows);
        self.resident = None;
        old.map(Source::into_bytes)
    }

    /// Replaces a file by its edited version, unloaded: only the number and length of its rows are kept.
    pub fn put_unloaded(&mut self, id: SitemapId, sitemap: Sitemap) {
        let Some(before) = self.sitemap(id).map(|sitemap| sitemap.live) else { return };
        self.live = (self.live + sitemap.live).saturating_sub(before);
        let first = self.bases.get(id.index()).copied().unwrap_or_default();
        let (rows, frame) = (RowList::range(first, sitemap.live), Arc::new(sitemap.frame.without_entries()));
        self.change_sitemap(id, |place| *place = Sitemap { frame, rows, ..sitemap });
    }

    /// The live rows of resident files in file order. Of a set that is not streamed, all live rows.
    pub fn resident_rows(&self) -> impl Iterator<Item = RowId> + '_ {
        let all = (!self.is_streamed).then(|| self.live_rows());
        let some = self.resident.and_then(|id| self.sitemap(id)).into_iter().flat_map(|sitemap| sitemap.rows.iter());
        all.into_iter().flatten().chain(some.filter(|row| self.is_streamed && self.is_live(*row)))
    }

    /// [`Document::resident_rows`] as a set.
    pub fn resident_set(&self) -> RowSet {
        if self.is_streamed { self.resident_rows().map(|row| row.0).collect() } else { self.live_set() }
    }

    /// The resident file of a streamed set.
    pub const fn resident_file(&self) -> Option<SitemapId> {
        self.resident
    }

    /// Replaces a source, and returns the old one unless it is shared.
    fn put_source(&mut self, id: SitemapId, source: Source) -> Option<Source> {
        let source = Arc::new(source);
        self.change_sitemap(id, |sitemap| sitemap.frame = Arc::clone(&source));
        let place = Arc::make_mut(&mut self.sources).get_mut(id.index())?;
        Arc::into_inner(std::mem::replace(place, source))
    }

    /// Keeps the URLs of some rows even while their file is unloaded.
    pub fn keep_locs(&mut self, locs: impl IntoIterator<Item = (RowId, Box<str>)>) {
        Arc::make_mut(&mut self.kept).extend(locs.into_iter().map(|(row, loc)| (row.0, loc)));
    }

    /// Keeps the entry length in bytes of every row, with the highest bit set for news: what splitting unloaded rows
    /// needs.
    pub fn keep_lengths(&mut self, lengths: Vec<u32>) {
        self.lengths = Some(lengths.into());
    }

    /// Bytes of a row's entry as it will be written.
    pub fn entry_len(&self, row: RowId) -> u64 {
        match &self.lengths {
            Some(lengths) => u64::from(lengths.get(row.index()).map_or(0, |len| len & !NEWS)),
            None => self.entry_text(row).len() as u64,
        }
    }

    /// Whether a row is news.
    pub fn is_news(&self, row: RowId) -> bool {
        match &self.lengths {
            Some(lengths) => lengths.get(row.index()).is_some_and(|len| len & NEWS != 0),
            None => self.record(row).flags.has(Flags::NEWS),
        }
    }

    /// Whether the set is streamed: some of its files are not resident.
    pub const fn is_streamed(&self) -> bool {
        self.is_streamed
    }
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
            streamed.append_unloaded(&part, Sitemap::default());
            whole.append(source(from, to), records(&part), Sitemap::default());
        }
        assert!(streamed.is_streamed() && !whole.is_streamed());
        assert_eq!((streamed.live(), streamed.row_limit()), (whole.live(), whole.row_limit()));
        streamed.keep_locs([(RowId(5), "https://e.com/5".into())]);
        let blank = streamed.records().clone();
        for (number, (from, to)) in parts.into_iter().enumerate() {
            let id = SitemapId(number as u32);
            assert_eq!(streamed.sitemap(id).unwrap().bytes(), whole.sitemap(id).unwrap().bytes());
            assert_eq!(streamed.loc(RowId(from)), "");
            assert_eq!(streamed.loc(RowId(5)), "https://e.com/5");
            let again = source(from, to);
            let facts = records(&again);
            assert!(streamed.reload(id, again, &facts));
            for row in (from..to).map(RowId) {
                assert_eq!(streamed.loc(row), whole.loc(row));
                assert_eq!(streamed.record(row), whole.record(row));
                assert_eq!(streamed.sitemap_of(row), id);
                assert_eq!(streamed.value(row, Field::Lastmod), None);
            }
            assert!(!streamed.reload(id, source(from, to + 1), &facts), "a file that has changed meanwhile");
            streamed.unload(id);
        }
        assert!(streamed.records().iter().eq(blank.iter()));
    }
}
