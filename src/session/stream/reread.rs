//! Reads files of a streamed set again without scanning, from the entry starts of the first pass.

use crate::check::rule::{Rule, RuleSet};
use crate::document::form::Form;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Sitemap, SitemapId};
use crate::document::source::{Lines, Source};
use crate::document::unload;
use crate::files::{self, Buffers, Reason};
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

/// Rows that are worth a task on another core.
const PIECE: usize = 1 << 12;

/// The rows of a file of a streamed set that are in memory.
#[derive(Debug)]
pub(crate) enum FileRows<'t> {
    /// All of them.
    All,
    /// These; the others have no findings.
    Rows(&'t [RowId]),
    /// These; of the others only the number that breaks each rule is known.
    Counted(&'t [RowId], &'t Counts),
}

/// What a receiver needs of the next file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The rows that can have findings, with their text.
    Findings,
    /// The numbers of findings.
    Counts,
}

/// The URL of a row, and the line that it is in.
pub(in crate::session) type Text = (RowId, Box<str>, u32);

/// The line of an offset. A file that can be read has fewer lines than a number of this size counts.
pub(in crate::session) fn line_of(lines: &mut Lines<'_>, offset: usize) -> u32 {
    u32::try_from(lines.position(offset).0).unwrap_or(u32::MAX)
}

/// What a first walk keeps of files beside what [`Session`] knows: 4 bytes a URL.
#[derive(Debug, Default)]
pub(in crate::session) struct ScanCache {
    /// For each file, where its entries start; `None` once one of them is not what its bytes show.
    starts: Option<Vec<Box<[u32]>>>,
    /// Rows without a lastmod.
    undated: RowSet,
    /// Rows that others are compared with: findings of others name them. While their file is held they must be held.
    pub(in crate::session) compared: Arc<RowSet>,
}

/// A file that is read again.
struct Known<'k> {
    id: SitemapId,
    path: PathBuf,
    /// Its stored bytes: how many, and their fingerprint.
    len: u64,
    hash: u64,
    /// What is around its entries, and where these start.
    frame: Arc<Source>,
    starts: &'k [u32],
    /// Its rows.
    rows: Range<u32>,
}

impl ScanCache {
    /// Nothing is kept yet, and everything can be.
    pub(in crate::session) fn new() -> Self {
        Self { starts: Some(Vec::new()), ..Self::default() }
    }

    /// Keeps what is known of the next file, whose first row has this number.
    pub(in crate::session) fn add(&mut self, first: u32, (source, sitemap): (&Source, &Sitemap), reader: &Reader) {
        let is_as_stored = sitemap.form == Form::Xml && sitemap.quirks.is_empty();
        match &mut self.starts {
            Some(starts) if is_as_stored => starts.push(source.starts().into()),
            starts => *starts = None,
        }
        let undated = (first..).zip(&reader.records).filter(|(_, record)| !record.has_lastmod());
        self.undated.extend(undated.map(|(row, _)| row));
    }

    /// The files of a session, as they were when their starts were kept; `None` where that is not enough to read them.
    fn known(&self, session: &Session) -> Option<Vec<Known<'_>>> {
        let sitemaps = session.document().sitemaps();
        let starts = self.starts.as_ref().filter(|starts| starts.len() == sitemaps.len())?;
        let known = (0..).zip(sitemaps.iter().zip(starts)).map(|(number, (sitemap, starts))| {
            let path = sitemap.path.clone()?;
            let (len, hash) = session.disk.get(&path).map(|on_disk| (on_disk.len, on_disk.hash))?;
            let first = sitemap.rows.iter().next().map_or(0, |row| row.0);
            let (frame, rows) = (Arc::clone(&sitemap.frame), first..first + sitemap.live);
            Some(Known { id: SitemapId(number), path, len, hash, frame, starts, rows })
        });
        known.collect()
    }

    /// The rows that pass with the rules that they break, found on all cores.
    fn rows_with(
        &self,
        session: &Session,
        rows: Range<u32>,
        sets: &[RuleSet],
        passes: impl Fn(RowId, RuleSet) -> bool + Sync,
    ) -> Vec<RowId> {
        let (checks, document) = (&session.current.checks, session.document());
        let is_passing = |row: &RowId| passes(*row, checks.rules_of_unloaded(*row, (document, &self.undated), sets));
        rows.into_par_iter().with_min_len(PIECE).map(RowId).filter(is_passing).collect()
    }

    /// How many of the rows that pass break a rule, and whether all passed that break any.
    fn counted(
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
        rows.into_par_iter().with_min_len(PIECE).fold(none, count).reduce(none, sum)
    }
}

impl Known<'_> {
    /// Reloads some of its rows, shows them, and unloads them again.
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
        let records: Vec<(RowId, Record)> = rows.par_iter().with_min_len(PIECE).map(record).collect();
        unload::reload_some(&mut session.current.state.document, self.id, source, records);
        let result = receive(session, rows);
        buffers.recycle(unload::unload(&mut session.current.state.document, self.id));
        result
    }

    /// The file with its bytes again.
    fn read(&self, options: &files::Options, progress: &Progress) -> Result<Source, files::Error> {
        let contents = files::read(&self.path, options, progress)?;
        self.pass(progress);
        let source = (contents.on_disk.hash == self.hash).then(|| self.frame.with_entries(contents.bytes, self.starts));
        source.flatten().ok_or_else(|| files::Error::new(&self.path, Reason::Changed))
    }

    /// Counts the file as read.
    fn pass(&self, progress: &Progress) {
        progress.advance(self.rows.len() as u64, self.len);
        progress.finish_files(1);
    }

    /// The bytes of a row of it.
    fn text<'s>(&self, source: &'s Source, row: u32) -> &'s [u8] {
        source.entry_text(row.saturating_sub(self.rows.start) as usize)
    }
}

fn expect(files: &[Known<'_>], progress: &Progress) {
    progress.expect(files.len() as u64, files.iter().map(|file| file.len).sum());
}

impl StreamedSet {
    /// The URLs of some rows; `None` where files must be scanned for them.
    pub(in crate::session) fn texts(
        &self,
        wanted: &RowSet,
        progress: &Progress,
    ) -> Option<Result<Vec<Text>, files::Error>> {
        let mut known = self.cache.known(&self.session)?;
        known.retain(|file| wanted.range_cardinality(file.rows.clone()) > 0);
        expect(&known, progress);
        let work = |file: &Known<'_>| {
            let source = file.read(&self.loader.options, progress)?;
            let mut lines = source.lines();
            let text = |row: u32| {
                let (entry, text) = (row.saturating_sub(file.rows.start) as usize, file.text(&source, row));
                let loc = Entry::of(text, &source.names).value(Field::Loc, text)?.into();
                Some((RowId(row), loc, line_of(&mut lines, offset_of_loc(&source, entry))))
            };
            let texts = wanted.range(file.rows.clone()).filter_map(text).collect();
            self.loader.options.buffers.recycle(Some(source.into_bytes()));
            Ok(texts)
        };
        let mut found = Vec::new();
        let mut failed = None;
        files::in_order(&known, work, |_, texts: Result<Vec<Text>, files::Error>| {
            match texts {
                Ok(texts) => found.extend(texts),
                Err(error) => failed = Some(error),
            }
            failed.is_none() && !progress.is_cancelled()
        });
        Some(failed.map_or(Ok(found), Err))
    }

    /// Shows file after file as [`StreamedSet::each`] does, but of their rows only those that may have findings, and which
    /// these are; nothing is known of the others. Where that cannot be told without a look at every row, all are shown.
    /// Once `show` asks for no more than counts, a file is read only if findings of it cannot be counted without its text.
    ///
    /// # Errors
    /// What `show` says, or that a file cannot be read any more or is another than before.
    pub(crate) fn each_with_findings<E: From<files::Error>>(
        &mut self,
        progress: &Progress,
        mut show: impl FnMut(&Session, SitemapId, FileRows<'_>) -> Result<Detail, E>,
    ) -> Result<(), E> {
        let has_minorities = self.session.current.checks.set().has_minorities();
        let Self { session, loader, cache, .. } = self;
        let buffers = &loader.options.buffers;
        let Some(known) = cache.known(session).filter(|_| !has_minorities) else {
            return self.each(progress, |session, id| show(session, id, FileRows::All).map(|_| ()));
        };
        expect(&known, progress);
        let sets = session.current.checks.rule_sets();
        let may_have = |row: RowId, rules: RuleSet| !rules.is_empty() || cache.compared.contains(row.0);
        let work = |file: &Known<'_>| file.read(&loader.options, progress);
        let (mut seen, mut outcome) = (0, Ok(Detail::Findings));
        files::in_order(&known, work, |file, source| {
            let rows = cache.rows_with(session, file.rows.clone(), &sets, may_have);
            outcome = file
                .show((session, buffers), source, &rows, |session, rows| show(session, file.id, FileRows::Rows(rows)));
            seen += 1;
            matches!(outcome, Ok(Detail::Findings))
        });
        outcome?;
        let rest = known.get(seen..).unwrap_or_default();
        if rest.is_empty() || progress.is_cancelled() {
            return Ok(());
        }
        // What is left is counted; files of which that is not enough are read once more.
        let once = reported_once();
        let mut unclear = Vec::new();
        for file in rest {
            let (counted, is_all) =
                cache.counted(session, file.rows.clone(), &sets, |_, rules| rules.minus(once).is_empty());
            if is_all {
                show(session, file.id, FileRows::Counted(&[], &counted))?;
                file.pass(progress);
                continue;
            }
            let is_shown = |row: RowId, rules: RuleSet| !rules.minus(once).is_empty() || cache.compared.contains(row.0);
            let rows = cache.rows_with(session, file.rows.clone(), &sets, is_shown);
            let (counted, _) = cache.counted(session, file.rows.clone(), &sets, |row, rules| !is_shown(row, rules));
            unclear.push((file, rows, counted));
        }
        let mut outcome = Ok(Detail::Counts);
        files::in_order(
            &unclear,
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
    fn files_that_come_and_go_share_a_few_buffers() {
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
        assert!(set.loader.options.buffers.len() < files - 10, "each file has a buffer of its own");
    }
}
