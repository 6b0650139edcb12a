//! Reads files of a streamed set again without scanning, from the entry starts of the first pass.

use crate::check::rule::{Rule, RuleSet};
use crate::document::form::Form;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Sitemap, SitemapId};
use crate::document::source::Source;
use crate::document::unload;
use crate::files::{self, Buffers, MaxBytes, Reason};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::checks::{Counts, Reader};
use crate::session::findings::reported_once;
use crate::session::row_lines::offset_of_loc;
use crate::session::stream::StreamedSet;
use crate::xml::entry::Entry;
use crate::xml::record::Record;
use rayon::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The minimum number of rows of a parallel task.
const MIN_TASK_ROWS: usize = 1 << 12;

/// The rows of a file of a streamed set that are in memory.
#[derive(Debug)]
pub(crate) enum FileRows<'t> {
    /// All rows.
    All,
    /// These rows; the others have no findings.
    Rows(&'t [RowId]),
    /// These rows; the others are only counted, by the rules that they violate.
    Counted(&'t [RowId], &'t Counts),
    /// All rows, of which only the first have their text in memory. The receiver adds the others whose text it needs, and
    /// gets them as [`FileRows::Rest`] next.
    First(&'t mut Vec<RowId>),
    /// All rows with their text; the receiver has asked for these.
    Rest(&'t [RowId]),
}

/// The detail that a receiver needs from the next file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The rows that can have findings, with their text.
    Findings,
    /// The numbers of findings.
    Counts,
}

/// A row with its URL and the line of the URL.
pub(in crate::session) type Text = (RowId, Box<str>, u32);

/// Data about the files from the first pass that the [`Session`] does not have: 4 bytes per URL.
#[derive(Debug, Default)]
pub(in crate::session) struct ScanCache {
    /// The entry starts of each file; `None` once a file differs from its stored bytes.
    starts: Option<Vec<Box<[u32]>>>,
    /// Rows without a lastmod.
    undated: RowSet,
    /// Rows that are compared with others, so that findings of others may name them. They are loaded whenever their
    /// file is.
    pub(in crate::session) compared: Arc<RowSet>,
}

/// A file that can be read again without a scan.
struct ScannedFile<'k> {
    id: SitemapId,
    path: PathBuf,
    /// Length and hash of its stored bytes.
    len: u64,
    hash: u64,
    /// The text around its entries, and the entry starts.
    frame: Arc<Source>,
    starts: &'k [u32],
    /// Its rows.
    rows: Range<u32>,
}

impl ScanCache {
    /// An empty cache.
    pub(in crate::session) fn new() -> Self {
        Self { starts: Some(Vec::new()), ..Self::default() }
    }

    /// Adds the next file, whose first row has this number.
    pub(in crate::session) fn add(&mut self, first: u32, (source, sitemap): (&Source, &Sitemap), reader: &Reader) {
        let is_as_stored = sitemap.form == Form::Xml && sitemap.quirks.is_empty();
        match &mut self.starts {
            Some(starts) if is_as_stored => starts.push(source.starts().into()),
            starts => *starts = None,
        }
        let undated = (first..).zip(&reader.records).filter(|(_, record)| !record.has_lastmod());
        self.undated.extend(undated.map(|(row, _)| row));
    }

    /// The files of a session; `None` if they have to be scanned again.
    fn files(&self, session: &Session) -> Option<Vec<ScannedFile<'_>>> {
        let sitemaps = session.document().sitemaps();
        let starts = self.starts.as_ref().filter(|starts| starts.len() == sitemaps.len())?;
        let files = (0..).zip(sitemaps.iter().zip(starts)).map(|(number, (sitemap, starts))| {
            let path = sitemap.path.clone()?;
            let (len, hash) = session.disk.get(&path).map(|on_disk| (on_disk.len, on_disk.hash))?;
            let first = sitemap.rows.iter().next().map_or(0, |row| row.0);
            let (frame, rows) = (Arc::clone(&sitemap.frame), first..first + sitemap.live);
            Some(ScannedFile { id: SitemapId(number), path, len, hash, frame, starts, rows })
        });
        files.collect()
    }

    /// The rows that pass a test of their rules, on all cores.
    fn rows_with(
        &self,
        session: &Session,
        rows: Range<u32>,
        sets: &[RuleSet],
        passes: impl Fn(RowId, RuleSet) -> bool + Sync,
    ) -> Vec<RowId> {
        let (checks, document) = (&session.current.checks, session.document());
        let is_passing = |row: &RowId| passes(*row, checks.rules_of_unloaded(*row, (document, &self.undated), sets));
        rows.into_par_iter().with_min_len(MIN_TASK_ROWS).map(RowId).filter(is_passing).collect()
    }

    /// Counts the rules that passing rows violate; and whether all rows passed that violate any.
    fn count(
        &self,
        session: &Session,
        rows: Range<u32>,
        sets: &[RuleSet],
        passes: impl Fn(RowId, RuleSet) -> bool + Sync,
    ) -> (Box<Counts>, bool) {
        let (checks, document) = (&session.current.checks, session.document());
        let none = || (Box::new([0; Rule::COUNT]), true);
        let count = |(mut counts, is_all): (Box<Counts>, bool), row: u32| {
            let rules = checks.rules_of_unloaded(RowId(row), (document, &self.undated), sets);
            if rules.is_empty() || !passes(RowId(row), rules) {
                return (counts, is_all && rules.is_empty());
            }
            for rule in rules.iter() {
                if let Some(count) = counts.get_mut(rule.index()) {
                    *count += 1;
                }
            }
            (counts, is_all)
        };
        let sum = |(mut counts, is_all): (Box<Counts>, bool), (others, are_all): (Box<Counts>, bool)| {
            counts.iter_mut().zip(*others).for_each(|(count, other)| *count += other);
            (counts, is_all && are_all)
        };
        rows.into_par_iter().with_min_len(MIN_TASK_ROWS).fold(none, count).reduce(none, sum)
    }
}

impl ScannedFile<'_> {
    /// Reloads some of its rows, shows them, and unloads the file again.
    fn show<T, E: From<files::Error>>(
        &self,
        (session, buffers): (&mut Session, &Buffers),
        source: Result<Source, files::Error>,
        rows: &[RowId],
        receive: impl FnOnce(&Session, &[RowId]) -> Result<T, E>,
    ) -> Result<T, E> {
        let source = source?;
        let record = |row: &RowId| {
            let text = self.text(&source, row.0);
            (*row, Record::of(&Entry::of(text, &source.names), text))
        };
        let records: Vec<(RowId, Record)> = rows.par_iter().with_min_len(MIN_TASK_ROWS).map(record).collect();
        unload::reload_some(&mut session.current.state.document, self.id, source, records);
        let result = receive(session, rows);
        buffers.recycle(unload::unload(&mut session.current.state.document, self.id));
        result
    }

    /// Reads the file again.
    fn read(&self, options: &files::Options, progress: &Progress) -> Result<Source, files::Error> {
        let contents = files::read(&self.path, options, progress)?;
        self.advance(progress);
        let source = (contents.on_disk.hash == self.hash).then(|| self.frame.with_entries(contents.bytes, self.starts));
        source.flatten().ok_or_else(|| files::Error::new(&self.path, Reason::Changed))
    }

    /// Counts the file as read.
    fn advance(&self, progress: &Progress) {
        progress.advance(self.rows.len() as u64, self.len);
        progress.finish_files(1);
    }

    /// The bytes of one of its rows.
    fn text<'s>(&self, source: &'s Source, row: u32) -> &'s [u8] {
        source.entry_text(row.saturating_sub(self.rows.start) as usize)
    }
}

/// The limit of files that are read ahead.
fn read_ahead(buffers: &Buffers) -> MaxBytes<impl Fn(&ScannedFile<'_>) -> u64> {
    MaxBytes { max: buffers.read_ahead(), size: |file: &ScannedFile<'_>| file.len }
}

fn expect(files: &[ScannedFile<'_>], progress: &Progress) {
    progress.expect(files.len() as u64, files.iter().map(|file| file.len).sum());
}

impl StreamedSet {
    /// The URLs of wanted rows; `None` if the files have to be scanned for them.
    pub(in crate::session) fn texts(
        &self,
        wanted: &RowSet,
        progress: &Progress,
    ) -> Option<Result<Vec<Text>, files::Error>> {
        let mut files = self.cache.files(&self.session)?;
        files.retain(|file| wanted.range_cardinality(file.rows.clone()) > 0);
        expect(&files, progress);
        let buffers = &self.loader.options.buffers;
        let work = |file: &ScannedFile<'_>| {
            let source = file.read(&self.loader.options, progress)?;
            let mut lines = source.lines();
            let text = |row: u32| {
                let (entry, text) = (row.saturating_sub(file.rows.start) as usize, file.text(&source, row));
                let loc = Entry::of(text, &source.names).value(Field::Loc, text)?.into();
                Some((RowId(row), loc, lines.position(offset_of_loc(&source, entry)).line))
            };
            let texts = wanted.range(file.rows.clone()).filter_map(text).collect();
            buffers.recycle(Some(source.into_bytes()));
            Ok(texts)
        };
        let mut found = Vec::new();
        let mut failed = None;
        files::in_order(&files, read_ahead(buffers), work, |_, texts: Result<Vec<Text>, files::Error>| {
            match texts {
                Ok(texts) => found.extend(texts),
                Err(error) => failed = Some(error),
            }
            failed.is_none() && !progress.is_cancelled()
        });
        Some(failed.map_or(Ok(found), Err))
    }

    /// Shows each file like [`StreamedSet::each`], but loads only the rows that may have findings; all rows if these
    /// cannot be determined from the cache. Once `show` needs only counts, a file is read only if its findings cannot
    /// be counted without its text.
    ///
    /// # Errors
    /// The error of `show`, or that a file cannot be read or has changed.
    pub(crate) fn each_with_findings<E: From<files::Error>>(
        &mut self,
        progress: &Progress,
        mut show: impl FnMut(&Session, SitemapId, FileRows<'_>) -> Result<Detail, E>,
    ) -> Result<(), E> {
        let has_minorities = self.session.current.checks.set().has_minorities();
        let Self { session, loader, cache, .. } = self;
        let buffers = &loader.options.buffers;
        let Some(files) = cache.files(session).filter(|_| !has_minorities) else {
            return self.each(progress, |session, id| show(session, id, FileRows::All).map(|_| ()));
        };
        expect(&files, progress);
        let sets = session.current.checks.rule_sets();
        let may_have = |row: RowId, rules: RuleSet| !rules.is_empty() || cache.compared.contains(row.0);
        let work = |file: &ScannedFile<'_>| file.read(&loader.options, progress);
        let (mut seen, mut outcome) = (0, Ok(Detail::Findings));
        files::in_order(&files, read_ahead(buffers), work, |file, source| {
            let rows = cache.rows_with(session, file.rows.clone(), &sets, may_have);
            outcome = file
                .show((session, buffers), source, &rows, |session, rows| show(session, file.id, FileRows::Rows(rows)));
            seen += 1;
            matches!(outcome, Ok(Detail::Findings))
        });
        outcome?;
        let rest = files.get(seen..).unwrap_or_default();
        if rest.is_empty() || progress.is_cancelled() {
            return Ok(());
        }
        // The other files are only counted; those that cannot be counted without their text are read.
        let once = reported_once();
        let mut unclear = Vec::new();
        for file in rest {
            let (counted, is_all) =
                cache.count(session, file.rows.clone(), &sets, |_, rules| rules.minus(once).is_empty());
            if is_all {
                show(session, file.id, FileRows::Counted(&[], &counted))?;
                file.advance(progress);
                continue;
            }
            let is_shown = |row: RowId, rules: RuleSet| !rules.minus(once).is_empty() || cache.compared.contains(row.0);
            let rows = cache.rows_with(session, file.rows.clone(), &sets, is_shown);
            let (counted, _) = cache.count(session, file.rows.clone(), &sets, |row, rules| !is_shown(row, rules));
            unclear.push((file, rows, counted));
        }
        let mut outcome = Ok(Detail::Counts);
        let size = |(file, ..): &(&ScannedFile<'_>, _, _)| file.len;
        files::in_order(
            &unclear,
            MaxBytes { max: buffers.read_ahead(), size },
            |(file, ..)| file.read(&loader.options, progress),
            |(file, rows, counted), source| {
                outcome = file.show((session, buffers), source, rows, |session, rows| {
                    show(session, file.id, FileRows::Counted(rows, counted))
                });
                outcome.is_ok()
            },
        );
        outcome.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::lastmod::Now;

    #[test]
    fn loaded_and_unloaded_files_share_a_few_buffers() {
        let folder = tempfile::tempdir().unwrap();
        // No more files are read ahead than this on any machine.
        let files = 2 * rayon::current_num_threads() + 20;
        let mut paths = Vec::new();
        for number in 0..files {
            let path = folder.path().join(format!("{number:03}.xml"));
            let rows = format!("<url><loc>https://e.com/{number}</loc><lastmod>no</lastmod></url>");
            let text = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{rows}</urlset>\n");
            std::fs::write(&path, text).unwrap();
            paths.push(path);
        }
        let session = Session::new(Now { seconds: 1_795_000_000, offset: 0 }, None);
        let mut set =
            StreamedSet::open(session, &paths, files::Options::default(), &Progress::default()).unwrap().unwrap();
        let mut shown = 0;
        let show = |_: &Session, _, rows: FileRows<'_>| {
            shown += usize::from(matches!(rows, FileRows::Rows([_])));
            Ok::<_, files::Error>(Detail::Findings)
        };
        set.each_with_findings(&Progress::default(), show).unwrap();
        assert_eq!(shown, files);
        let unused = set.loader.options.buffers.len();
        assert!((1..files - 10).contains(&unused), "{unused} buffers for {files} files");
    }
}
