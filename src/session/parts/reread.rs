//! A second look into files that were scanned before: where their entries stand is known, so their bytes are read and
//! nothing is scanned.

use super::Parts;
use crate::document::form::Form;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Sitemap, SitemapId};
use crate::document::source::Source;
use crate::files::{self, Reason};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::checks::Reader;
use crate::xml::entry::Entry;
use crate::xml::record::Record;
use rayon::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows that are worth the way to another core.
const PIECE: usize = 1 << 12;

/// The URL of a row.
type Text = (RowId, Box<str>);

/// What a first walk keeps of files beside what [`Session`] knows: 4 bytes a URL.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// For each file, where its entries start; `None` once one of them is not what its bytes show.
    starts: Option<Vec<Box<[u32]>>>,
    /// Rows without a lastmod.
    undated: RowSet,
    /// Rows that others are compared with: findings of others name them.
    pub(super) compared: Arc<RowSet>,
}

/// A file that is read again.
struct Known<'k> {
    id: SitemapId,
    path: PathBuf,
    /// Its stored bytes: how many, and their fingerprint.
    len: u64,
    hash: u64,
    /// What stands around its entries, and where these start.
    frame: Arc<Source>,
    starts: &'k [u32],
    /// Its rows.
    rows: Range<u32>,
}

impl Kept {
    /// Nothing is kept yet, and everything can be.
    pub(super) fn new() -> Self {
        Self { starts: Some(Vec::new()), ..Self::default() }
    }

    /// Keeps what is known of the next file, whose first row has this number.
    pub(super) fn add(&mut self, first: u32, (source, sitemap): (&Source, &Sitemap), reader: &Reader) {
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
}

impl Known<'_> {
    /// The file with its bytes again.
    fn read(&self, options: &files::Options, progress: &Progress) -> Result<Source, files::Error> {
        let contents = files::read(&self.path, options, progress)?;
        progress.advance(self.rows.len() as u64, contents.bytes.len() as u64);
        progress.finish_files(1);
        let source = (contents.on_disk.hash == self.hash).then(|| self.frame.refilled(contents.bytes, self.starts));
        source.flatten().ok_or_else(|| files::Error::new(&self.path, Reason::Changed))
    }

    /// The bytes of a row of it.
    fn text<'s>(&self, source: &'s Source, row: u32) -> &'s [u8] {
        source.entry_text(row.saturating_sub(self.rows.start) as usize)
    }
}

fn expect(files: &[Known<'_>], progress: &Progress) {
    progress.expect(files.len() as u64, files.iter().map(|file| file.len).sum());
}

impl Parts {
    /// The URLs of some rows; `None` where files must be scanned for them.
    pub(super) fn texts(&self, wanted: &RowSet, progress: &Progress) -> Option<Result<Vec<Text>, files::Error>> {
        let mut known = self.kept.known(&self.session)?;
        known.retain(|file| wanted.range_cardinality(file.rows.clone()) > 0);
        expect(&known, progress);
        let work = |file: &Known<'_>| {
            let source = file.read(&self.loader.options, progress)?;
            let text = |row: u32| {
                let text = file.text(&source, row);
                Some((RowId(row), Entry::of(text, &source.names).value(Field::Loc, text)?.into()))
            };
            Ok(wanted.range(file.rows.clone()).filter_map(text).collect())
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

    /// Shows file after file as [`Parts::each`] does, but of their rows only those that may have findings, and which
    /// these are; nothing is known of the others. Where that cannot be told without a look at every row, all are shown, and
    /// it is not said which.
    ///
    /// # Errors
    /// What `see` says, or that a file cannot be read any more or is another than before.
    pub fn each_told<E: From<files::Error>>(
        &mut self,
        progress: &Progress,
        mut see: impl FnMut(&Session, SitemapId, Option<&[RowId]>) -> Result<(), E>,
    ) -> Result<(), E> {
        let has_minorities = self.session.now.checks.set().has_minorities();
        let Self { session, loader, kept, .. } = self;
        let Some(known) = kept.known(session).filter(|_| !has_minorities) else {
            return self.each(progress, |session, id| see(session, id, None));
        };
        expect(&known, progress);
        let sets = session.now.checks.rule_sets();
        let mut failed = None;
        let work = |file: &Known<'_>| file.read(&loader.options, progress);
        files::in_order(&known, work, |file, source| {
            let (checks, document) = (&session.now.checks, session.document());
            let is_told = |row: &u32| {
                kept.compared.contains(*row) || checks.is_told(RowId(*row), (document, &kept.undated), &sets)
            };
            let rows: Vec<u32> = file.rows.clone().into_par_iter().with_min_len(PIECE).filter(is_told).collect();
            let result = source.map_err(E::from).and_then(|source| {
                let record = |row: &u32| {
                    let text = file.text(&source, *row);
                    (RowId(*row), Record::of(&Entry::of(text, &source.names), text))
                };
                let records: Vec<(RowId, Record)> = rows.par_iter().with_min_len(PIECE).map(record).collect();
                session.now.state.document.refill_some(file.id, source, &records);
                let rows: Vec<RowId> = rows.into_iter().map(RowId).collect();
                see(session, file.id, Some(&rows))
            });
            session.now.state.document.shed(file.id);
            failed = result.err();
            failed.is_none()
        });
        failed.map_or(Ok(()), Err)
    }
}
