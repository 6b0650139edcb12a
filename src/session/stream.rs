//! Reads a set file by file, because it may not fit in memory.
//!
//! A first pass over the files keeps a hash of 8 bytes a URL, which is equal for URLs of one page and for near
//! duplicates. URLs whose hashes repeat are read again and kept as texts, since different URLs may have the same hash.
//! Later passes reload each file, show it in a [`Session`] whose rules cover the whole set, and unload it again. After
//! the first pass the hashes are dropped; the texts of URLs with repeated hashes stay, and 6 bytes a URL for entry
//! starts and findings, by which files are read again without a scan (`reread`).
//!
//! For a set with alternate links the first pass also keeps 8 bytes a URL, by which links find their rows, and the
//! links themselves, once for all pages with the same links.
//!
//! Such a session is read-only; [`bulk`] changes one file after the other and writes it beside its target.

use crate::check::FindingTarget;
use crate::check::rule::Rule;
use crate::document::kept_locs::RowLocs;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::SitemapId;
use crate::document::unload;
use crate::document::view::View;
use crate::file_bytes::FileBytes;
use crate::files::{self, Buffers, FileInfo, Loaded, Options, Reason};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::checks::{Reader, repeated_hashes};
use crate::session::file_fixes::is_near_limit;
use crate::session::findings::file_findings::of_present;
use crate::session::findings::{index_findings, required, robots};
use crate::session::fix::alternates::MAX_FAMILY;
use crate::session::row_lines::offset_of_loc;
use crate::session::state::languages::Languages;
use crate::session::store::load::{self, Loader};
use crate::xml::entry::Entry;
use crate::xml::names::{FileKind, Names};
use crate::xml::record::Record;
use crate::xml::scan::Visit;
use reread::{ScanCache, Text};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub(crate) mod bulk;
mod reread;

pub(crate) use reread::{Detail, FileRows};

/// A set whose files are unloaded, except while they are shown.
#[derive(Debug)]
pub(crate) struct StreamedSet {
    session: Session,
    loader: Loader,
    paths: Vec<PathBuf>,
    cache: ScanCache,
}

/// Collects the URLs of wanted rows during a scan.
struct Texts {
    wanted: Arc<RowSet>,
    /// The number of the first row of the file.
    first: u32,
    row: u32,
    found: Vec<(RowId, Box<str>)>,
}

impl Visit for Texts {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        if self.wanted.contains(self.row)
            && let Some(loc) = entry.value(Field::Loc, text)
        {
            self.found.push((RowId(self.row), loc.into()));
        }
        self.row += 1;
    }
}

impl StreamedSet {
    /// Opens sitemaps, or an index with its sitemaps, and makes the first pass. `None` if a later file than the first is
    /// the first with alternate links: [`StreamedSet::open_linked`] keeps the hashes that they need from the start.
    ///
    /// # Errors
    /// As [`Loader::load_all`].
    pub(crate) fn open(
        session: Session,
        paths: &[PathBuf],
        options: Options,
        progress: &Progress,
    ) -> Result<Option<Box<Self>>, files::Error> {
        let (set, is_linked) = Self::open_with(session, paths, (options, None), progress)?;
        Ok((!is_linked).then(|| Box::new(set)))
    }

    /// Opens a set with alternate links.
    ///
    /// # Errors
    /// As [`Loader::load_all`].
    pub(crate) fn open_linked(
        session: Session,
        paths: &[PathBuf],
        options: Options,
        progress: &Progress,
    ) -> Result<Box<Self>, files::Error> {
        let (set, _) = Self::open_with(session, paths, (options, Some(Vec::new())), progress)?;
        Ok(Box::new(set))
    }

    /// Makes the first pass. `keys` collects the URL hashes of rows without alternate links, since other rows may list
    /// them; without it, they are collected if the first file has links. If only a later one has, the pass stops there
    /// and returns an incomplete set and true.
    fn open_with(
        mut session: Session,
        paths: &[PathBuf],
        (options, mut keys): (Options, Option<Vec<u64>>),
        progress: &Progress,
    ) -> Result<(Self, bool), files::Error> {
        let loader = session.loader(Options { buffers: Buffers::reused(), ..options });
        let (mut hashes, mut cache): (Vec<Vec<u64>>, _) = (Vec::new(), ScanCache::new());
        let mut is_linked = false;
        let make = |facts: &FileInfo| loader.reader(facts).with_near_keys();
        let loaded = files::load_many(paths, &loader.options, progress, &make, &mut |part| match part {
            _ if is_linked => {}
            files::LoadedFile::Index { .. } => session.add_file(part),
            files::LoadedFile::Sitemap { source, sitemap, on_disk, visitor: mut reader, dropped } => {
                let mut of_file = reader.near_keys.take().unwrap_or_default();
                // The hashes of all files stay in memory. Unused capacity may be memory that the allocator has kept of an
                // earlier file, and that the system has mapped.
                of_file.shrink_to_fit();
                if keys.is_none() && reader.has_links() {
                    if !session.document().sitemaps().is_empty() {
                        is_linked = true;
                        return progress.cancel();
                    }
                    keys = Some(Vec::new());
                }
                if let Some(keys) = &mut keys {
                    let state = &mut session.current.state;
                    let first = state.document.row_limit();
                    state.checks.insert_links_uncompared(first, &reader);
                    let set = state.checks.set();
                    let rows = (first..).zip(&reader.keys);
                    keys.extend(rows.filter(|(row, _)| set.linked_key(*row).is_none()).map(|(_, key)| *key));
                }
                hashes.push(of_file);
                cache.add(session.document().row_limit(), (&source, &sitemap), &reader);
                let part = files::LoadedFile::Sitemap { source, sitemap, on_disk, visitor: reader, dropped };
                if let Some(id) = add_file_with_findings(&mut session, part) {
                    let bytes = unload::unload(&mut session.current.state.document, id);
                    loader.options.buffers.recycle(bytes);
                }
            }
        })?;
        let mut set = Self { session, loader, paths: paths.to_vec(), cache };
        if is_linked {
            return Ok((set, true));
        }
        let linked_rows = keys.map(|keys| set.session.current.state.checks.count_targets(&keys));
        let wanted = Arc::new(repeated_hashes(&hashes) | linked_rows.unwrap_or_default());
        drop(hashes);
        if !wanted.is_empty() {
            set.compare(&wanted, progress)?;
        }
        finish_loading(&mut set.session, loaded);
        Ok((set, false))
    }

    /// Reads the URLs whose hashes repeat, and compares them.
    fn compare(&mut self, wanted: &Arc<RowSet>, progress: &Progress) -> Result<(), files::Error> {
        let mut found = self.texts(wanted, progress).unwrap_or_else(|| self.scanned_texts(wanted, progress))?;
        found.sort_unstable_by_key(|(row, _, _)| *row);
        self.session.known_lines = Arc::new(found.iter().map(|(row, _, line)| (row.0, *line)).collect());
        let mut locs = RowLocs::default();
        for (row, loc, _) in found {
            locs.push(row, &loc);
        }
        let state = &mut self.session.current.state;
        unload::keep_locs(&mut state.document, locs);
        state.checks.compare(&state.document, wanted);
        self.cache.compared = Arc::clone(wanted);
        Ok(())
    }

    /// The URLs of some rows, by scanning all files again.
    fn scanned_texts(&self, wanted: &Arc<RowSet>, progress: &Progress) -> Result<Vec<Text>, files::Error> {
        let document = &self.session.current.state.document;
        let sitemaps = document.sitemaps().iter();
        let first = |rows: &crate::document::rows::RowList| rows.iter().next().map_or(0, |row| row.0);
        let firsts: HashMap<&Path, u32> =
            sitemaps.filter_map(|sitemap| Some((sitemap.path.as_deref()?, first(&sitemap.rows)))).collect();
        let make = |facts: &FileInfo| {
            let row = facts.path.as_deref().and_then(|path| firsts.get(path)).copied();
            let is_one = facts.kind != FileKind::Index && row.is_some();
            let wanted = if is_one { Arc::clone(wanted) } else { Arc::default() };
            let first = row.unwrap_or_default();
            Texts { wanted, first, row: first, found: Vec::new() }
        };
        let mut found = Vec::new();
        files::load_many(&self.paths, &self.loader.options, progress, &make, &mut |part| {
            if let files::LoadedFile::Sitemap { visitor, source, .. } = part {
                let mut lines = source.lines();
                found.extend(visitor.found.into_iter().map(|(row, loc)| {
                    let offset = offset_of_loc(&source, row.0.saturating_sub(visitor.first) as usize);
                    (row, loc, lines.position(offset).line)
                }));
                self.loader.options.buffers.recycle(Some(source.into_bytes()));
            }
        })?;
        Ok(found)
    }

    /// The session of the set: its files, counters, and the findings of the index and the set. Rows have no text.
    pub(crate) const fn session(&self) -> &Session {
        &self.session
    }

    /// [`StreamedSet::session`], to be updated after the last file.
    pub(crate) const fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Collects the languages of pages that do not list themselves from the pages of all files, before any other pass.
    /// Returns false if a page has more links than [`MAX_FAMILY`].
    ///
    /// # Errors
    /// As [`StreamedSet::each`].
    pub(crate) fn collect_languages(&mut self, progress: &Progress) -> Result<bool, files::Error> {
        let checks = &self.session.current.checks;
        let (set, sets) = (checks.set(), checks.rule_sets());
        if !set.has_links() {
            return Ok(true);
        }
        let is_missing = |row: &u32| {
            let broken = sets.get(usize::from(checks.finding_id(RowId(*row))));
            broken.is_some_and(|rules| rules.contains(Rule::HREFLANG_SELF_MISSING))
        };
        let rows = (0..self.session.document().row_limit()).filter(is_missing);
        let rows: Vec<(u64, u32)> = rows.filter_map(|row| Some((set.linked_key(row)?, row))).collect();
        if rows.iter().any(|(_, row)| set.listed_rows(*row) > MAX_FAMILY as u64) {
            return Ok(false);
        }
        let mut languages = Languages::for_rows(rows);
        self.each(progress, |session, _| {
            let snapshot = session.view();
            languages.add_pages(snapshot, snapshot.document.resident_rows());
            Ok::<(), files::Error>(())
        })?;
        self.session.current.languages = Some(Arc::new(languages));
        Ok(true)
    }

    /// Shows each file with its rows and their findings.
    ///
    /// # Errors
    /// The error of `show`, or that a file cannot be read or has changed.
    pub(crate) fn each<E: From<files::Error>>(
        &mut self,
        progress: &Progress,
        mut show: impl FnMut(&Session, SitemapId) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { session, loader, paths, .. } = self;
        let (loader, mut next) = (&*loader, 0);
        load_each(paths, loader, progress, |part| {
            let files::LoadedFile::Sitemap { source, sitemap, on_disk, visitor, .. } = part else { return Ok(()) };
            let id = SitemapId(next);
            next += 1;
            let path = sitemap.path.clone().unwrap_or_default();
            let known = |on_disk: &files::OnDisk| session.disk.get(&on_disk.path).map(|known| known.hash);
            let is_same = session.document().sitemap(id).is_some_and(|known| known.path == sitemap.path)
                && on_disk.is_some_and(|on_disk| known(&on_disk) == Some(on_disk.hash));
            let result = if is_same && reload(session, id, source, visitor) {
                show(session, id)
            } else {
                Err(files::Error::new(&path, Reason::Changed).into())
            };
            loader.options.buffers.recycle(unload(session, id));
            result
        })?;
        if next as usize == session.document().sitemaps().len() {
            return Ok(());
        }
        let gone = session.document().sitemap(SitemapId(next)).and_then(|sitemap| sitemap.path.clone());
        Err(files::Error::new(gone.unwrap_or_default(), Reason::Changed).into())
    }
}

/// Shows the files of a set in a single pass, for queries about single rows: findings that depend on other rows are
/// missing. Returns the set, with its files unloaded.
///
/// # Errors
/// As [`Loader::load_all`], or the error of `show`.
pub(crate) fn walk<E: From<files::Error>>(
    mut session: Session,
    paths: &[PathBuf],
    options: Options,
    progress: &Progress,
    mut show: impl FnMut(&Session, SitemapId) -> Result<(), E>,
) -> Result<Session, E> {
    let loader = session.loader(Options { buffers: Buffers::reused(), ..options });
    let loaded = load_each(paths, &loader, progress, |part| {
        let Some(id) = add_file_with_findings(&mut session, part) else { return Ok(()) };
        let result = show(&session, id);
        loader.options.buffers.recycle(unload(&mut session, id));
        result
    })?;
    finish_loading(&mut session, loaded);
    Ok(session)
}

/// Loads each file for `take`, until it fails.
fn load_each<E: From<files::Error>>(
    paths: &[PathBuf],
    loader: &Loader,
    progress: &Progress,
    mut take: impl FnMut(files::LoadedFile<Reader>) -> Result<(), E>,
) -> Result<Loaded, E> {
    let mut failed: Option<E> = None;
    let make = |facts: &FileInfo| loader.reader(facts);
    let loaded = files::load_many(paths, &loader.options, progress, &make, &mut |part| {
        if failed.is_none()
            && let Err(error) = take(part)
        {
            failed = Some(error);
            progress.cancel();
        }
    })?;
    failed.map_or(Ok(loaded), Err)
}

/// Adds a file with the findings of its rows.
fn add_file_with_findings(session: &mut Session, part: files::LoadedFile<Reader>) -> Option<SitemapId> {
    let numbers = match &part {
        files::LoadedFile::Sitemap { visitor, .. } => visitor.findings.clone(),
        files::LoadedFile::Index { .. } => Vec::new(),
    };
    let first = session.document().row_limit();
    let id = add_file_uncompared(session, part)?;
    let state = &mut session.current.state;
    state.checks.reload(&state.document, first, &numbers, id.index());
    Some(id)
}

/// Adds a resident file to a streamed set; returns `None` for an index.
fn add_file_uncompared(session: &mut Session, part: files::LoadedFile<Reader>) -> Option<SitemapId> {
    let files::LoadedFile::Sitemap { source, sitemap, on_disk, mut visitor, .. } = part else {
        session.add_file(part);
        return None;
    };
    let mtime = on_disk.as_ref().and_then(load::seconds);
    load::remember(session, on_disk);
    session.listed |= visitor.listed();
    let url = sitemap.url.clone();
    let records = load::records(&mut visitor, &sitemap.quirks);
    let state = &mut session.current.state;
    let (first, id) = (state.document.row_limit(), SitemapId(state.document.sitemaps().len() as u32));
    unload::append(&mut state.document, &source, sitemap);
    unload::reload(&mut state.document, id, source, &records);
    state.checks.add_file_uncompared(&state.document, first, &visitor, url.as_deref(), mtime);
    let newest = index_findings::newest_of(&session.current, &session.current.state.document, id);
    Arc::make_mut(&mut session.current.state.checks.newest).push(newest);
    let found = of_present(&session.current.state.document, id, session.view().profile());
    Arc::make_mut(&mut session.file_findings).extend(found);
    Some(id)
}

/// Ends the first pass: sets the index, the saved document and the findings of files.
fn finish_loading(session: &mut Session, loaded: Loaded) {
    session.loading = false;
    session.set_read_only("sited processes it file by file");
    (session.path, session.paths, session.unread, session.recovered) =
        (loaded.path, loaded.paths, loaded.unread, loaded.recovered);
    if let Some(index) = loaded.index {
        session.current.state.document.set_index(Some(index));
    }
    session.current.saved = session.current.state.document.clone();
    session.current.view = View::file_order(&session.current.state.document);
    let of_index = index_findings::of_index(session);
    let (document, profile) = (&session.current.state.document, session.current.checks.profile());
    let findings = Arc::make_mut(&mut session.file_findings);
    // The rule depends on whether a file is the last one, which each file was when it was added.
    findings.retain(|finding| match finding.target {
        FindingTarget::Sitemap(id) if finding.rule == Rule::FILE_NEAR_LIMIT => is_near_limit(document, id, profile),
        target => !target.is_of_index(),
    });
    findings.extend(of_index);
    let of_robots = robots::of_sitemap_lines(session).into_iter().map(|(_, finding)| finding);
    Arc::make_mut(&mut session.file_findings).extend(of_robots);
    required::check(session);
}

/// Reloads a file. Returns false if it has changed.
fn reload(session: &mut Session, id: SitemapId, source: crate::document::source::Source, mut reader: Reader) -> bool {
    let state = &mut session.current.state;
    let Some(sitemap) = state.document.sitemap(id) else { return false };
    let first = sitemap.rows.iter().next().map_or(0, |row| row.0);
    let quirks = Arc::clone(&sitemap.quirks);
    let records: Vec<Record> = load::records(&mut reader, &quirks);
    if !unload::reload(&mut state.document, id, source, &records) {
        return false;
    }
    state.checks.reload(&state.document, first, &reader.findings, id.index());
    true
}

/// Unloads a file. Returns its bytes.
fn unload(session: &mut Session, id: SitemapId) -> Option<FileBytes> {
    let state = &mut session.current.state;
    let sitemap = state.document.sitemap(id)?;
    let (first, rows) = (sitemap.rows.iter().next().map_or(0, |row| row.0), sitemap.live);
    state.checks.unload(first, rows);
    unload::unload(&mut state.document, id)
}
