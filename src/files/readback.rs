//! Verifies a written file before it replaces anything: reads it back and compares it with memory.
//!
//! The stored bytes must be those that were written (length and hash), and a scan of them must give the rows of the
//! document: the same number, in the same order, with the same values. It needs memory for a window of the file, or for
//! the file if that must be read as a whole, but none per row.

use super::buffers::Buffers;
use super::changed_entry::ChangedEntry;
use super::decode;
use super::detect;
use super::disk::OnDisk;
use super::error::{Error, Reason};
use super::form;
use super::plan::{FileId, Output, Plan};
use super::read::{self, Contents, Options};
use super::temporary::Staged;
use super::window::{MIN_LEN, WINDOW, Window};
use crate::document::Document;
use crate::document::index::IndexFile;
use crate::document::lines::{LineColumn, Lines};
use crate::document::row_cursor::RowCursor;
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::document::source::Source;
use crate::progress::{Progress, note_work};
use crate::protocol::Field;
use crate::xml::entry::{Entry, TextKind};
use crate::xml::escape::escape;
use crate::xml::fast_path;
use crate::xml::names::{FileKind, Names};
use crate::xml::record::{Flags, Record};
use crate::xml::scan::{Visit, WindowScan};
use crate::xml::splice::{Change, Changes};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use memchr::memmem;
use std::borrow::Cow;
use std::fs;
use std::iter::Peekable;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

/// Maximum number of bytes of files that are in memory as a whole at the same time, except for a single larger file. Two
/// files of a little over half of the protocol's 50 MiB fit.
const MAX_BYTES: u64 = 60 << 20;

/// The memory of files that are read back.
pub(super) struct ReadbackMemory {
    buffers: Buffers,
    /// The number of bytes of files that are in memory as a whole.
    used: Mutex<u64>,
    freed: Condvar,
}

/// Bytes of [`ReadbackMemory`], which are free again when this is dropped.
struct Lease<'m> {
    memory: &'m ReadbackMemory,
    bytes: u64,
}

impl ReadbackMemory {
    pub(super) fn new() -> Self {
        Self { buffers: Buffers::reused(), used: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits until a file fits into [`MAX_BYTES`]. A thread that holds a lease never waits for another one.
    fn lease(&self, bytes: u64) -> Lease<'_> {
        let is_full = |used: &mut u64| *used > 0 && *used + bytes > MAX_BYTES;
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *self.freed.wait_while(used, is_full).unwrap_or_else(PoisonError::into_inner) += bytes;
        Lease { memory: self, bytes }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        *self.memory.used.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.memory.freed.notify_all();
    }
}

/// Reads a staged file back and compares it with the plan.
///
/// # Errors
/// [`Reason::Check`] with the first difference, or the error of the read.
pub(super) fn read_back(plan: &Plan, output: &Output, staged: &Staged, memory: &ReadbackMemory) -> Result<(), Error> {
    if let Some(compared) = compare_in_windows(plan, output, staged, &memory.buffers) {
        return compared.map_err(|why| Error::new(&output.path, Reason::Check(why)));
    }
    let _lease = memory.lease(output.bytes);
    let options = Options { buffers: memory.buffers.clone(), ..Options::default() };
    let contents = read::read(&staged.temporary, &options, &Progress::default())
        .map_err(|error| Error { path: output.path.clone(), ..error })?;
    let compared = compare(plan, output, staged, &contents);
    memory.buffers.recycle(Some(contents.bytes));
    compared.map_err(|why| Error::new(&output.path, Reason::Check(why)))
}

/// Compares a sitemap that is read back in windows. `None` if it must be in memory as a whole: it is short, packed, a
/// table, damaged or unusual.
fn compare_in_windows(plan: &Plan, output: &Output, staged: &Staged, buffers: &Buffers) -> Option<Result<(), String>> {
    let FileId::Sitemap(id) = output.file else { return None };
    let sitemap = plan.document.sitemap(id)?;
    if staged.len < MIN_LEN || sitemap.gzip || sitemap.frame.names.kind != FileKind::Urlset {
        return None;
    }
    let mut check = Check::new(&plan.document, Expected::rows(&plan.document, id));
    let mut buffer = buffers.take_window();
    let found = scan_in_windows(&staged.temporary, &mut check, &mut buffer);
    buffers.recycle_window(buffer);
    Some(compare_bytes(found?, staged).and_then(|()| check.difference().map_or(Ok(()), Err)))
}

/// Reads and scans a file in windows; returns its length and hash.
fn scan_in_windows(path: &Path, check: &mut Check<'_>, buffer: &mut Vec<u8>) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    let (on_disk, progress) = (OnDisk::new(path, &metadata, OnDisk::NOT_HASHED), Progress::default());
    let mut window = Window::hashing(&on_disk, buffer);
    let mut end = window.fill(WINDOW)?;
    let bytes = window.buffer.get(..end).filter(|bytes| decode::begins_as_utf8(bytes))?;
    let mut is_last = window.is_last(end);
    let mut scan = WindowScan::first(bytes, is_last, check, &progress).ok()?;
    window.head = scan.head_len();
    while !is_last {
        window.drop_scanned(end);
        end = window.fill(WINDOW)?;
        is_last = window.is_last(end);
        scan = scan.next(window.buffer.get(..end)?, is_last, check, &progress).ok()?;
    }
    Some((on_disk.len, window.hash()?))
}

/// Compares the length and hash of the bytes that were read with those that were written.
fn compare_bytes(found: (u64, u64), staged: &Staged) -> Result<(), String> {
    if found == (staged.len, staged.hash) {
        return Ok(());
    }
    Err(format!("reading back gave {} bytes that are not the {} bytes written", found.0, staged.len))
}

/// Compares a file that was read as a whole.
fn compare(plan: &Plan, output: &Output, staged: &Staged, contents: &Contents) -> Result<(), String> {
    compare_bytes((contents.on_disk.len, contents.on_disk.hash), staged)?;
    let document = &plan.document;
    let (mut check, layout) = match output.file {
        FileId::Index | FileId::IndexVolume(_) => {
            (Check::new(document, Expected::index(plan.index_file(output.file))), (FileKind::Index, None))
        }
        FileId::Sitemap(id) => {
            let names = document.sitemap(id).map(|sitemap| &sitemap.frame.names);
            let layout = names.map(|names| (names.kind, names.grid.as_deref())).unwrap_or_default();
            (Check::new(document, Expected::rows(document, id)), layout)
        }
        FileId::Removed => return Ok(()),
    };
    let scan = form::scan(&contents.bytes, layout, &mut check, &Progress::default());
    if let Some(damage) = scan.damage.first() {
        let LineColumn { line, column } = Lines::new(&contents.bytes).position(damage.at);
        let row = scan.starts.partition_point(|start| *start as usize <= damage.at).checked_sub(1);
        let row = row.and_then(|entry| expected_loc(plan, output.file, entry));
        let row = row.map_or_else(String::new, |loc| format!(" in the row {loc}"));
        return Err(format!("{}{row} (line {line}, column {column})", detect::damage_words(damage.kind)));
    }
    check.difference().map_or(Ok(()), Err)
}

/// The expected entries of a file, in order.
enum Expected<'d> {
    Rows(Peekable<Box<dyn Iterator<Item = RowId> + Send + 'd>>),
    Locs(Box<dyn Iterator<Item = &'d str> + Send + 'd>),
}

impl<'d> Expected<'d> {
    fn rows(document: &'d Document, id: SitemapId) -> Self {
        let rows = document.sitemap(id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
        let rows: Box<dyn Iterator<Item = RowId> + Send> = Box::new(rows.filter(|row| document.is_live(*row)));
        Self::Rows(rows.peekable())
    }

    fn index(file: Option<IndexFile<'d>>) -> Self {
        let children = file.into_iter().flat_map(|file| file.children());
        Self::Locs(Box::new(children.map(|child| &*child.loc)))
    }
}

/// The expected loc of the entry with this number.
fn expected_loc(plan: &Plan, file: FileId, entry: usize) -> Option<Cow<'_, str>> {
    match file {
        FileId::Sitemap(id) => match Expected::rows(&plan.document, id) {
            Expected::Rows(mut rows) => rows.nth(entry).map(|row| plan.document.loc(row)),
            Expected::Locs(_) => None,
        },
        index => plan.index_file(index)?.children().get(entry).map(|child| Cow::Borrowed(&*child.loc)),
    }
}

/// Compares the entries of a written file with the expected ones, in order.
struct Check<'d> {
    document: &'d Document,
    cursor: RowCursor<'d>,
    expected: Expected<'d>,
    /// The source of the last row, and whether the written file has the same element names.
    same_names: Option<(&'d Source, bool)>,
    /// Sources by their addresses, and whether their entries have no markup but tags.
    only_tags: HashMap<usize, bool, FixedState>,
    seen: u64,
    /// The first difference, in words.
    first: Option<String>,
}

/// Whether the read and the expected value differ, apart from whitespace around them, which is not part of a value.
fn differ(read: Option<&str>, meant: Option<&str>) -> bool {
    read != meant && trimmed(read) != trimmed(meant)
}

fn trimmed(value: Option<&str>) -> &str {
    value.unwrap_or_default().trim_matches([' ', '\t', '\n', '\r'])
}

impl<'d> Check<'d> {
    fn new(document: &'d Document, expected: Expected<'d>) -> Self {
        Self {
            document,
            cursor: document.row_cursor(),
            expected,
            same_names: None,
            only_tags: HashMap::default(),
            seen: 0,
            first: None,
        }
    }

    fn difference(mut self) -> Option<String> {
        let missing = match &mut self.expected {
            Expected::Rows(rows) => rows.count(),
            Expected::Locs(locs) => locs.count(),
        } as u64;
        let count = (missing > 0).then(|| format!("{} of {} entries would be read", self.seen, self.seen + missing));
        self.first.or(count)
    }

    /// The first difference between an entry and its expected row.
    fn compare(&mut self, row: RowId, text: &[u8], entry: &Entry, names: &Names) -> Option<String> {
        let number = self.seen + 1;
        let (record, overrides) = (self.document.record(row), self.cursor.overrides(row));
        let is_spliced = overrides.iter().any(Option::is_some);
        let copied = if is_spliced { self.copied_end(row, &overrides, (text, entry), names) } else { 0 };
        let is_copied = |field: Field| {
            overrides[field.index()].is_none() && entry.field(field).is_some_and(|span| span.end <= copied)
        };
        let is_loc_edited = overrides[Field::Loc.index()].is_some();
        if !is_copied(Field::Loc) && (is_loc_edited || !self.has_loc(row, &record, (text, entry))) {
            let (read, meant) = (entry.value(Field::Loc, text), self.document.loc(row));
            if differ(read.as_deref(), Some(&meant)) {
                return Some(format!("entry {number} would read {} instead of {meant}", read.unwrap_or_default()));
            }
        }
        if !is_spliced {
            // Its bytes are copied, and their hash is correct.
            return None;
        }
        let held = |field: &Field| names.grid.as_ref().is_none_or(|grid| grid.holds(*field));
        let fields = [Field::Lastmod, Field::Changefreq, Field::Priority].into_iter().filter(held);
        for field in fields {
            if is_copied(field) || has_value(overrides[field.index()], field, &record, (text, entry)) {
                continue;
            }
            let read = entry.value(field, text);
            // A field without an edit must match the row's record.
            let is_other = if let Some(meant) = self.document.edited(row, field) {
                differ(read.as_deref(), meant)
            } else {
                let mut facts = Record::default();
                facts.note(field, read.as_deref());
                record.has_value(field, &facts) == Some(false)
            };
            if is_other {
                let meant = self.document.value(row, field);
                let word = |value: Option<Cow<'_, str>>| value.map_or_else(|| "none".to_owned(), Cow::into_owned);
                let (name, read, meant) = (field.name(), word(read), word(meant));
                return Some(format!(
                    "the {name} of entry {number} ({}) would read {read} instead of {meant}",
                    self.document.loc(row)
                ));
            }
        }
        None
    }
}

/// Fast checks on bytes without decoding. A negative result only means that the values have to be compared.
impl Check<'_> {
    /// Whether an entry has the loc of an unedited row, with the same bytes and escaping.
    fn has_loc(&mut self, row: RowId, record: &Record, (text, entry): (&[u8], &Entry)) -> bool {
        let kind = if record.flags.contains(Flags::LOC_ESCAPED) { TextKind::Escaped } else { TextKind::Plain };
        let raw = record.raw_loc(self.cursor.base_text(row));
        raw.is_some()
            && raw == entry.raw_value(Field::Loc, text)
            && entry.field(Field::Loc).is_some_and(|span| span.text == kind)
    }
}

/// Whether an entry has the edited value of a field, or without an edit the value of the row's record. False only means
/// that the values have to be compared.
fn has_value(edit: Option<Change<'_>>, field: Field, record: &Record, (text, entry): (&[u8], &Entry)) -> bool {
    let span = entry.field(field);
    if span.is_some_and(|span| span.text != TextKind::Plain) {
        return false;
    }
    let read = entry.raw_value(field, text);
    match edit {
        Some(Change::Set(meant)) => read == Some(meant.as_bytes()),
        Some(Change::Remove) => read.is_none(),
        None => record.is_sound(field, read),
    }
}

impl<'d> Check<'d> {
    /// The end of the last unedited field before the first edited one, if the entry up to there is as in the original
    /// one; else 0. Then the fields up to there have the original values, since the first field of a name counts.
    fn copied_end(
        &mut self,
        row: RowId,
        overrides: &Changes<'_>,
        (text, entry): (&[u8], &Entry),
        names: &Names,
    ) -> u32 {
        if names.grid.is_some() {
            return 0;
        }
        let spans = |is_edited: bool| {
            let fields = Field::ALL.into_iter().filter(move |field| overrides[field.index()].is_some() == is_edited);
            fields.filter_map(|field| entry.field(field))
        };
        let limit = spans(true).map(|span| span.start).min().unwrap_or(u32::MAX);
        let end = spans(false).map(|span| span.end).filter(|end| *end <= limit).max().unwrap_or_default();
        let original = self.original(row, names).and_then(|original| original.get(..end as usize));
        if original.is_some() && original == text.get(..end as usize) { end } else { 0 }
    }

    /// The original extensions of a row, up to the end of its entry, if the written file has the same element names.
    fn unchanged_extensions(&mut self, row: RowId, names: &Names) -> Option<&'d [u8]> {
        let record = self.document.record(row);
        let loc = record.plain_loc().filter(|_| record.flags.has_extensions())?;
        fast_path::extensions_after_loc(self.original(row, names)?, loc.end, names)
    }

    /// The entry that a row was read from, if the written file has the same element names.
    fn original(&mut self, row: RowId, names: &Names) -> Option<&'d [u8]> {
        let (source, entry) = self.cursor.origin(row)?;
        let same = match self.same_names {
            Some((of, same)) if std::ptr::eq(of, source) => same,
            _ => source.names == *names,
        };
        self.same_names = Some((source, same));
        same.then(|| source.entry_text(entry))
    }
}

/// Entries that are the original ones, but for one value or one new field, are compared instead of parsed.
impl Check<'_> {
    /// The length of the next entry if `rest` begins with the expected one. `None` if it has to be parsed.
    fn expected_len(&mut self, rest: &[u8], names: &Names) -> Option<usize> {
        let Expected::Rows(rows) = &mut self.expected else { return None };
        let row = *rows.peek()?;
        let record = self.document.record(row);
        // Then each field is a child of the entry.
        let is_usual = record.plain_loc_end().is_some() && !record.flags.has_extensions();
        if !is_usual || !names.prefix.is_empty() || names.grid.is_some() {
            return None;
        }
        let original = self.original(row, names)?;
        let (source, _) = self.cursor.origin(row)?;
        if !self.has_only_tags(source) {
            return None;
        }
        let changes = self.cursor.overrides(row);
        let mut edited = Field::ALL.into_iter().filter_map(|field| Some((field, changes[field.index()]?)));
        let Some((field, change)) = edited.next() else { return rest.starts_with(original).then_some(original.len()) };
        let (Change::Set(value), None) = (change, edited.next()) else { return None };
        // References would have to be decoded.
        if value.is_empty() || !matches!(escape(value), Cow::Borrowed(_)) {
            return None;
        }
        ChangedEntry { written: rest, original, field }.len_with(value)
    }

    /// Whether the entries of a source have no markup but tags: no comments, sections and instructions. It is searched
    /// once, even if rows of several sources alternate.
    fn has_only_tags(&mut self, source: &Source) -> bool {
        *self.only_tags.entry(std::ptr::from_ref(source).addr()).or_insert_with(|| {
            let entries = source.run(0, source.len());
            note_work(entries.len());
            ["<!", "<?"].iter().all(|start| memmem::find(entries, start.as_bytes()).is_none())
        })
    }
}

impl Visit for Check<'_> {
    fn recognise(&mut self, rest: &[u8], names: &Names) -> Option<usize> {
        let len = self.expected_len(rest, names).filter(|_| self.first.is_none())?;
        if let Expected::Rows(rows) = &mut self.expected {
            rows.next();
        }
        self.seen += 1;
        Some(len)
    }

    fn expected_end(&mut self, names: &Names) -> &[u8] {
        let row = match &mut self.expected {
            Expected::Rows(rows) => rows.peek().copied(),
            Expected::Locs(_) => None,
        };
        row.and_then(|row| self.unchanged_extensions(row, names)).unwrap_or_default()
    }

    fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
        let number = self.seen + 1;
        let loc = || entry.value(Field::Loc, text).unwrap_or_default();
        let nothing = || Some(format!("entry {number} would read {} instead of nothing", loc()));
        let found = match &mut self.expected {
            Expected::Rows(rows) => match rows.next() {
                Some(row) if self.first.is_none() => self.compare(row, text, entry, names),
                Some(_) => None,
                None => nothing(),
            },
            Expected::Locs(locs) => match locs.next() {
                Some(meant) if differ(Some(&loc()), Some(meant)) => {
                    Some(format!("entry {number} would read {} instead of {meant}", loc()))
                }
                Some(_) => None,
                None => nothing(),
            },
        };
        self.first = self.first.take().or(found);
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::disk::fingerprint;
    use crate::files::fixture::TestSet;
    use crate::progress::work;
    use crate::xml::scan::Scan;

    const TEXT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
        <url><loc>https://e.com/1</loc><lastmod>2026-01-01</lastmod><priority>0.1</priority></url>\
        <url><loc>https://e.com/2</loc></url></urlset>";

    const EXTENDED: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\
        xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"\
        xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n\
        <url><loc>https://e.com/1</loc><lastmod>2026-01-01</lastmod><priority>0.1</priority>\n\
        <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de/1\"/></url>\n\
        <url><loc>https://e.com/2</loc> <image:image><image:loc>https://e.com/2.jpg</image:loc></image:image>\
        <!-- note --></url>\n\
        <url><loc>https://e.com/3</loc><image:image><image:loc>https://e.com/3.jpg</image:loc></image:image>\
        <priority>0.1</priority></url></urlset>";

    /// The bytes that a save writes.
    fn written(set: &TestSet) -> Vec<u8> {
        let mut bytes = Vec::new();
        let result: Result<(), std::convert::Infallible> = set.document.write_sitemap(SitemapId(0), &mut |more| {
            bytes.extend_from_slice(more);
            Ok(())
        });
        result.unwrap();
        bytes
    }

    /// A check that tokenizes every element.
    struct Thorough<'d>(Check<'d>);

    impl Visit for Thorough<'_> {
        fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
            self.0.entry(text, entry, names);
        }
    }

    /// The result of reading these bytes back, either by comparing the extensions or by tokenizing them: the scan and
    /// the first difference.
    fn scan_written(set: &TestSet, written: &[u8], is_thorough: bool) -> (Scan, Option<String>) {
        let mut check = Check::new(&set.document, Expected::rows(&set.document, SitemapId(0)));
        let layout = (FileKind::Urlset, None);
        if is_thorough {
            let mut thorough = Thorough(check);
            let scan = form::scan(written, layout, &mut thorough, &Progress::default());
            return (scan, thorough.0.difference());
        }
        let scan = form::scan(written, layout, &mut check, &Progress::default());
        (scan, check.difference())
    }

    /// Checks that the comparison of entries gives the same result as parsing them, for what a save writes and for every
    /// other byte in its place.
    fn assert_equal_to_parsing(set: &TestSet) {
        let written = written(set);
        assert_eq!(scan_written(set, &written, false), (scan_written(set, &written, true).0, None));
        for at in 0..written.len() {
            for byte in *b"<>&\"/ x" {
                let mut changed = written.clone();
                changed[at] = byte;
                let text = String::from_utf8_lossy(&changed).into_owned();
                assert_eq!(scan_written(set, &changed, false), scan_written(set, &changed, true), "{text}");
            }
            let mut changed = written.clone();
            changed.remove(at);
            assert_eq!(scan_written(set, &changed, false), scan_written(set, &changed, true), "without the byte {at}");
        }
    }

    #[test]
    fn comparing_unchanged_extensions_gives_the_same_result_as_tokenizing() {
        let mut set = TestSet::new(&[("sitemap.xml", EXTENDED.as_bytes())]);
        set.set(&[0, 1, 2], Field::Priority, Some("0.8"));
        assert_equal_to_parsing(&set);
    }

    /// Rows with a value, without one, with a repeated field, and in other layouts; the third one is not edited.
    const PLAIN: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
        <url>\n  <loc>https://e.com/1?a=1&amp;b</loc>\n  <priority>0.1</priority>\n</url>\n\
        <url>\n  <loc>https://e.com/2</loc>\n  <changefreq>daily</changefreq></url><url><loc>https://e.com/3</loc></url>\n\
        <url><loc>https://e.com/4</loc><priority> 0.8 </priority><priority>0.2</priority></url>\n\
        <url><priority>0.0</priority><loc>https://e.com/5</loc></url></urlset>";

    #[test]
    fn comparing_changed_entries_gives_the_same_result_as_parsing() {
        for (field, value) in
            [(Field::Priority, "0.8"), (Field::Lastmod, "2026-01-01"), (Field::Loc, "https://e.com/9")]
        {
            let mut set = TestSet::new(&[("sitemap.xml", PLAIN.as_bytes())]);
            set.set(&[0, 1, 3, 4], field, Some(value));
            assert_equal_to_parsing(&set);
        }
    }

    #[test]
    fn each_source_is_searched_once() {
        let sets = [PLAIN, TEXT].map(|text| TestSet::new(&[("sitemap.xml", text.as_bytes())]));
        let sources = sets.each_ref().map(|set| set.document.source_of(SitemapId(0)).unwrap());
        let mut check = Check::new(&sets[0].document, Expected::index(None));
        let units = work::here(|| {
            for _ in 0..9 {
                assert!(sources.iter().all(|source| check.has_only_tags(source)));
            }
        });
        assert_eq!(units, sources.iter().map(|source| source.run(0, source.len()).len() as u64).sum::<u64>());
    }

    #[test]
    fn changed_entries_are_not_parsed() {
        let entry = |number| format!("<url><loc>https://e.com/{number}</loc><priority>0.1</priority></url>\n");
        let entries: String = (0..100).map(entry).collect();
        let text = PLAIN.split_inclusive(">\n").next().unwrap().to_owned() + &entries + "</urlset>";
        for (field, value) in [(Field::Priority, "0.8"), (Field::Lastmod, "2026-01-01")] {
            let mut set = TestSet::new(&[("sitemap.xml", text.as_bytes())]);
            set.set(&(0..100).collect::<Vec<_>>(), field, Some(value));
            let mut check = Check::new(&set.document, Expected::rows(&set.document, SitemapId(0)));
            let (written, mut recognised) = (written(&set), 0);
            let mut rest = &written[text.find("\n<url>").unwrap()..];
            while let Some(len) = check.recognise(rest, &set.document.sitemap(SitemapId(0)).unwrap().frame.names) {
                (rest, recognised) = (&rest[len..], recognised + 1);
            }
            assert_eq!((recognised, rest), (100, &b"\n</urlset>"[..]), "{field:?}");
        }
    }

    #[test]
    fn unchanged_extensions_are_not_tokenized() {
        let entry = |number| {
            let links = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de/1\"/>".repeat(20);
            format!("<url><loc>https://e.com/{number}</loc>{links}<!-- {number} --></url>\n")
        };
        let entries: String = (0..100).map(entry).collect();
        let text = EXTENDED.split_inclusive(">\n").next().unwrap().to_owned() + &entries + "</urlset>";
        let mut set = TestSet::new(&[("sitemap.xml", text.as_bytes())]);
        set.set(&(0..100).collect::<Vec<_>>(), Field::Priority, Some("0.8"));
        let written = written(&set);
        let units = work::here(|| drop(scan_written(&set, &written, false)));
        assert!(units < written.len() as u64 / 10, "{units} units for {} bytes", written.len());
    }

    /// A set of 40 rows, some with extensions, after a change of all rows.
    fn changed_set() -> TestSet {
        let row = |number: u32| {
            let image = "<image:image><image:loc>https://e.com/a.jpg</image:loc></image:image>";
            format!(
                "<url><loc>https://e.com/{number}</loc>{}</url>\n",
                if number.is_multiple_of(5) { image } else { "" }
            )
        };
        let rows: String = (0..40).map(row).collect();
        let text = EXTENDED.split_inclusive(">\n").next().unwrap().to_owned() + &rows + "</urlset>\n";
        let mut set = TestSet::new(&[("sitemap.xml", text.as_bytes())]);
        set.set(&(0..40).collect::<Vec<_>>(), Field::Priority, Some("0.8"));
        set
    }

    /// A staged file with these bytes; `hash` is that of the bytes that were written.
    fn staged(set: &TestSet, bytes: &[u8], hash: u64) -> Staged {
        use crate::files::gate::AllowAll;
        use crate::files::replace_target::{ReplaceTarget, TargetAction};
        use crate::files::temporary::TempFile;
        use std::io::Write;
        let path = set.path("sitemap.xml");
        let target = ReplaceTarget::inspect(&path, TargetAction::Replace, &set.disk, false).unwrap();
        let mut file = TempFile::create(&target, path.parent().unwrap(), &AllowAll).unwrap();
        file.write_all(bytes).unwrap();
        Staged { hash, ..file.close(target).unwrap().0 }
    }

    #[test]
    fn a_file_in_windows_compares_as_a_whole_one() {
        let set = changed_set();
        let (plan, written) = (set.plan(), written(&set));
        let output = &plan.outputs[0];
        let read_whole = |staged: &Staged| {
            let contents = read::read(&staged.temporary, &Options::default(), &Progress::default()).unwrap();
            compare(&plan, output, staged, &contents)
        };
        let in_windows = |staged: &Staged| compare_in_windows(&plan, output, staged, &Buffers::reused());
        let sound = staged(&set, &written, fingerprint(&written));
        assert_eq!(in_windows(&sound), Some(Ok(())));
        assert_eq!(read_whole(&sound), Ok(()));
        // Other bytes than those that were written, and bytes that were written but are other rows.
        let mut differences = 0;
        for from in (0..written.len()).step_by(23) {
            for to in [&b""[..], b"x", b"<"] {
                let changed = [&written[..from], to, &written[from + 1..]].concat();
                for hash in [fingerprint(&written), fingerprint(&changed)] {
                    let staged = staged(&set, &changed, hash);
                    if let Some(found) = in_windows(&staged) {
                        differences += usize::from(found.is_err());
                        assert_eq!(found, read_whole(&staged), "{}", String::from_utf8_lossy(&changed));
                    }
                }
            }
        }
        assert!(differences > 100, "{differences}");
    }

    /// The difference that is reported for a written file in which `from` is replaced by `to`.
    fn difference_after(from: &str, to: &str) -> Option<String> {
        let mut set = TestSet::new(&[("sitemap.xml", TEXT.as_bytes())]);
        set.set(&[0], Field::Priority, Some("0.8"));
        let mut check = Check::new(&set.document, Expected::rows(&set.document, SitemapId(0)));
        let written = TEXT.replace("0.1<", "0.8<").replace(from, to);
        form::scan(written.as_bytes(), (FileKind::Urlset, None), &mut check, &Progress::default());
        check.difference()
    }

    #[test]
    fn a_copied_value_need_not_be_valid() {
        let text = TEXT.replace("2026-01-01", "01/02/2026");
        let mut set = TestSet::new(&[("sitemap.xml", text.as_bytes())]);
        set.set(&[0], Field::Priority, Some("0.8"));
        let written = String::from_utf8(written(&set)).unwrap();
        let difference = |written: &str| scan_written(&set, written.as_bytes(), false).1;
        assert_eq!(difference(&written), None);
        let changed = difference(&written.replace("01/02/2026", "2026-01-02")).unwrap();
        assert!(changed.contains("would read 2026-01-02 instead of 01/02/2026"), "{changed}");
        let removed = difference(&written.replace("<lastmod>01/02/2026</lastmod>", "")).unwrap();
        assert!(removed.contains("would read none instead of 01/02/2026"), "{removed}");
    }

    #[test]
    fn count_order_and_values_are_compared() {
        assert_eq!(difference_after("", ""), None);
        let table = [
            ("<url><loc>https://e.com/2</loc></url>", "", "1 of 2 entries would be read"),
            ("</urlset>", "<url><loc>x</loc></url></urlset>", "entry 3 would read x instead of nothing"),
            ("/1<", "/3<", "entry 1 would read https://e.com/3 instead of https://e.com/1"),
            ("0.8<", "0.7<", "the priority of entry 1 (https://e.com/1) would read 0.7 instead of 0.8"),
            ("2026-01-01", "2026-01-02", "would read 2026-01-02 instead of 2026-01-01"),
            ("<priority>0.8</priority>", "", "would read none instead of 0.8"),
            ("<priority>", "<changefreq>daily</changefreq><priority>", "would read daily instead of none"),
        ];
        for (from, to, expected) in table {
            let message = difference_after(from, to).unwrap_or_default();
            assert!(message.contains(expected), "{from} → {to}: {message}");
        }
    }
}
