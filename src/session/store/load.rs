//! Loads a set in the background and adds its files in order while the screen stays responsive.

use crate::document::Document;
use crate::document::index::Index;
use crate::document::quirk::Quirk;
use crate::document::rows::RowSet;
use crate::document::sitemap::SitemapId;
use crate::document::unload;
use crate::document::view::View;
use crate::files::{self, Buffers, DroppedEntries, Loaded, OnDisk, Options};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::protocol::location::{NO_KEY, key_hash};
use crate::session::Session;
use crate::session::checks::{AddedFile, Checks, Reader, ReaderMemory, repeated_hashes};
use crate::session::findings::{file_findings, index_findings};
use crate::session::state::State;
use crate::xml::defect::Defect;
use crate::xml::names::FileKind;
use crate::xml::record::{Flags, Record};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Bytes of a short entry, by which the number of rows is estimated before a file is read. Unused capacity of new memory
/// costs nothing: the system maps memory when it is first written to.
const ENTRY_BYTES: u64 = 96;

/// A file that the loader has read.
pub type LoadedFile = files::LoadedFile<Reader>;

/// Reads and checks files for one session, on a worker.
#[derive(Debug, Clone)]
pub struct Loader {
    checks: Checks,
    now: Now,
    pub(in crate::session) options: Options,
    /// Whether rows are compared with each other only after all files are loaded; see [`Uncompared`].
    compares_late: bool,
    memory: ReaderMemory,
}

/// Keys for comparing rows after all files are loaded, in a set that is only checked and never changed: most rows have
/// no row to be compared with, so that an index of all rows is not needed.
#[derive(Debug, Default)]
pub(in crate::session) struct Uncompared {
    /// Hashes of the normalised URLs, by file and row; `None` for a file that does not declare alternate links.
    pub(super) keys: Vec<Option<Vec<u64>>>,
    /// Hashes of the near keys, by file and row.
    near_keys: Vec<Vec<u64>>,
}

impl Loader {
    /// Returns the loader changed so that it does not finish an interrupted save.
    #[must_use]
    pub fn reading_only(mut self) -> Self {
        self.options.recovery.finish = false;
        self
    }

    /// Loads a path and delivers its files in order.
    ///
    /// # Errors
    /// [`files::Error`] if the file itself cannot be read or has a format that is not supported.
    pub fn load(
        &self,
        path: &Path,
        progress: &Progress,
        deliver: &mut dyn FnMut(LoadedFile),
    ) -> Result<Loaded, files::Error> {
        files::load(path, &self.options, progress, &|facts| self.reader(facts), deliver)
    }

    /// Loads several sitemaps as one set.
    ///
    /// # Errors
    /// As `files::load_many`.
    pub fn load_all(
        &self,
        paths: &[PathBuf],
        progress: &Progress,
        deliver: &mut dyn FnMut(LoadedFile),
    ) -> Result<Loaded, files::Error> {
        files::load_many(paths, &self.options, progress, &|facts| self.reader(facts), deliver)
    }

    /// Loads the bundled sample set.
    pub fn sample(&self, deliver: &mut dyn FnMut(LoadedFile)) -> Loaded {
        files::sample(&|facts| self.reader(facts), deliver)
    }

    pub(in crate::session) fn reader(&self, facts: &files::FileInfo) -> Reader {
        let reader = self.checks.reader(facts.url.as_deref(), self.now).with_memory(self.memory.clone());
        let reader = if self.compares_late { reader.with_near_keys() } else { reader };
        let rows = (facts.bytes / ENTRY_BYTES) as usize;
        if self.options.buffers.drops_entries() { reader.for_windows(rows) } else { reader }
    }

    /// Returns the loader changed for a set that is only checked and never changed.
    #[must_use]
    pub(in crate::session) fn comparing_late(self) -> Self {
        Self { compares_late: true, ..self }
    }
}

impl Session {
    /// A loader for this session.
    pub fn loader(&self, mut options: Options) -> Loader {
        options.is_base_recorded |= self.is_base_recorded;
        options.base_url = self.base_url().map(ToOwned::to_owned).or(options.base_url);
        let (checks, now) = (self.current.state.checks.clone(), self.current.clock);
        Loader { checks, now, options, compares_late: false, memory: ReaderMemory::default() }
    }

    /// Adds a loaded file and shows its rows. The set stays read-only until the load is finished.
    pub fn add_file(&mut self, part: LoadedFile) {
        match part {
            LoadedFile::Index { index, on_disk, visitors } => {
                for file in on_disk {
                    remember(self, Some(file));
                }
                self.index_rules = visitors.iter().flat_map(|visitor| visitor.findings.iter().copied()).collect();
                self.current.state.document.set_index(Some(index));
            }
            LoadedFile::Sitemap { source, sitemap, on_disk, visitor, dropped } => {
                let mtime = on_disk.as_ref().and_then(seconds);
                remember(self, on_disk);
                // Release the shared document, which would otherwise be copied for every file.
                self.current.saved = Document::default();
                let state = &mut self.current.state;
                let first = state.document.row_limit();
                let url = sitemap.url.clone();
                let mut visitor = visitor;
                let records = records(&mut visitor, &sitemap.quirks);
                match dropped {
                    Some(dropped) => {
                        let DroppedEntries { starts, repaired } = *dropped;
                        let id = SitemapId(state.document.sitemaps().len() as u32);
                        self.repaired_windows.extend(repaired.map(|windows| (id, windows)));
                        unload::append_first(&mut state.document, source, &records, (sitemap, starts));
                    }
                    None => state.document.append(source, records.iter().copied(), sitemap),
                }
                let added = AddedFile { document: &state.document, records: &records };
                state.checks.add_file(added, first, &mut visitor, url.as_deref(), mtime);
                self.listed |= visitor.listed();
                if let Some(near_keys) = visitor.near_keys.take() {
                    let uncompared = self.uncompared.get_or_insert_default();
                    uncompared.near_keys.push(near_keys);
                    uncompared.keys.push(visitor.take_keys());
                    let newest = index_findings::newest_in(self.current.clock, &records);
                    Arc::make_mut(&mut self.current.state.checks.newest).push(newest);
                }
                visitor.records = records;
                self.current.view.append_files(&self.current.state.document);
            }
        }
        self.current.saved = self.current.state.document.clone();
    }

    /// Ends the load: the set can be changed, unless the load was stopped.
    pub fn finish(&mut self, loaded: Loaded) {
        compare_rows(self);
        finish_compared(self, loaded);
    }
}

/// Compares the rows of all files with each other, if this was postponed, or finds near duplicates.
pub(crate) fn compare_rows(session: &mut Session) {
    let rows = rows_to_compare(session);
    let State { document, checks, .. } = &mut session.current.state;
    match rows {
        Some(rows) => checks.compare(document, &rows),
        None => checks.find_near_duplicates(document),
    }
}

/// The rows whose URLs must be compared, if this was postponed.
pub(in crate::session) fn rows_to_compare(session: &mut Session) -> Option<RowSet> {
    let State { document, checks, .. } = &mut session.current.state;
    let Uncompared { keys, near_keys } = session.uncompared.take()?;
    let linked_rows = if checks.set().has_links() {
        let of_file = |(id, keys): (u32, Option<Vec<u64>>)| keys.unwrap_or_else(|| keys_of(document, SitemapId(id)));
        let is_unlinked = |(row, _): &(u32, u64)| checks.set().linked_key(*row).is_none();
        let rows = (0..).zip((0..).zip(keys).flat_map(of_file));
        let unlinked: Vec<u64> = rows.filter(is_unlinked).map(|(_, key)| key).collect();
        checks.count_targets(&unlinked)
    } else {
        RowSet::new()
    };
    Some(repeated_hashes(&near_keys) | linked_rows)
}

/// Hashes of the normalised URLs of a resident file.
fn keys_of(document: &Document, id: SitemapId) -> Vec<u64> {
    let rows = document.sitemap(id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
    rows.map(|row| document.value(row, Field::Loc).map_or(NO_KEY, |loc| key_hash(&loc))).collect()
}

/// [`Session::finish`] of a session whose rows were compared.
pub(crate) fn finish_compared(session: &mut Session, loaded: Loaded) {
    session.loading = false;
    session.path = loaded.path;
    session.paths = loaded.paths;
    session.unread = loaded.unread;
    if let Some(index) = loaded.index {
        session.current.state.document.set_index(Some(index));
    }
    session.recovered = loaded.recovered;
    if loaded.stopped {
        session.set_read_only("loading was stopped; open it again to edit");
    }
    if has_conflicts(session) {
        session.set_read_only("there are unresolved merge conflicts");
    }
    session.current.saved = session.current.state.document.clone();
    if session.path.is_none() {
        // Nothing is on disk yet, so a save writes everything; still, no row is marked as new.
        session.current.state.modified = false;
    }
    session.current.view = View::file_order(&session.current.state.document);
    file_findings::check(session);
}

pub(in crate::session) fn remember(session: &mut Session, on_disk: Option<OnDisk>) {
    if let Some(on_disk) = on_disk {
        session.disk.note(on_disk);
    }
}

/// Whether a file of the session has unresolved merge conflicts.
pub fn has_conflicts(session: &Session) -> bool {
    is_conflicted(session.document())
}

/// Whether a file of the document has unresolved merge conflicts.
pub(in crate::session) fn is_conflicted(document: &Document) -> bool {
    document.sitemaps().iter().any(|sitemap| has_conflict(&sitemap.quirks))
        || document.index().is_some_and(|index| index.files().any(|file| has_conflict(file.quirks)))
}

/// The files that have unresolved merge conflicts: those of the index, then its children in their order.
pub fn conflicted_files(session: &Session) -> Vec<PathBuf> {
    let document = session.document();
    let index = document.index().into_iter().flat_map(Index::files);
    let index = index.filter(|file| has_conflict(file.quirks)).filter_map(|file| file.path.map(Path::to_path_buf));
    let sitemaps = document.sitemaps().iter().filter(|sitemap| has_conflict(&sitemap.quirks));
    index.chain(sitemaps.filter_map(|sitemap| sitemap.path.clone())).collect()
}

/// A new document with one empty sitemap that will be written to `path`.
pub fn start_new(session: &mut Session, path: PathBuf) {
    let (source, sitemap) = files::blank(Some(&path));
    session.current.state.document.append(source, [], sitemap);
    session.finish(Loaded { path: Some(path), ..Loaded::default() });
}

/// Whether the opened file is an index.
pub fn kind(session: &Session) -> FileKind {
    if session.document().index().is_some() { FileKind::Index } else { FileKind::Urlset }
}

fn has_conflict(quirks: &[Quirk]) -> bool {
    quirks.iter().any(|quirk| quirk.kind == Defect::MergeConflict)
}

/// The modification time of a file, in seconds since 1970; `None` if unknown.
pub(in crate::session) fn seconds(on_disk: &OnDisk) -> Option<i64> {
    let since = on_disk.mtime?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// Takes the records of a file's rows from the reader, and flags the repaired rows.
pub(in crate::session) fn records(reader: &mut Reader, quirks: &[Quirk]) -> Vec<Record> {
    let mut records = std::mem::take(&mut reader.records);
    for entry in quirks.iter().filter_map(|quirk| quirk.entry) {
        if let Some(record) = records.get_mut(entry as usize) {
            record.flags.set(Flags::REPAIRED, true);
        }
    }
    records
}

/// Opens a path on this thread and waits until it is loaded.
///
/// # Errors
/// As [`Loader::load`].
pub fn open(path: &Path, options: Options, now: Now) -> Result<Session, files::Error> {
    open_in(Session::new(now, options.base_url.clone()), path, options)
}

/// Opens a path in the given new session, as [`open`] does.
///
/// # Errors
/// As [`Loader::load`].
pub fn open_in(mut session: Session, path: &Path, options: Options) -> Result<Session, files::Error> {
    let loaded = session.loader(options).load(path, &Progress::default(), &mut |part| session.add_file(part))?;
    session.finish(loaded);
    Ok(session)
}

/// Opens a set as [`open_all_watched`] does; `None` if it has several files with more than `max_held_bytes` bytes in sum,
/// uncompressed.
///
/// # Errors
/// As [`Loader::load_all`].
pub fn open_within(
    session: Session,
    paths: &[PathBuf],
    options: Options,
    max_held_bytes: u64,
    progress: &Progress,
) -> Result<Option<Session>, files::Error> {
    let loader = session.loader(Options { max_held_bytes, ..options });
    Ok(load_within(session, &loader, paths, progress)?.map(finished))
}

/// Opens a set that is only checked and never changed, as [`open_within`] does.
///
/// # Errors
/// As [`Loader::load_all`].
pub fn open_to_report(
    session: Session,
    paths: &[PathBuf],
    options: Options,
    max_held_bytes: u64,
    progress: &Progress,
) -> Result<Option<Session>, files::Error> {
    let options = Options { max_held_bytes, buffers: Buffers::Huge, ..options };
    let loader = session.loader(options).comparing_late();
    Ok(load_within(session, &loader, paths, progress)?.map(finished))
}

/// A loaded session, finished.
fn finished((mut session, loaded): (Session, Loaded)) -> Session {
    session.finish(loaded);
    session
}

/// Loads a set as [`open_within`] does, without finishing the session.
///
/// # Errors
/// As [`Loader::load_all`].
pub(in crate::session) fn load_within(
    mut session: Session,
    loader: &Loader,
    paths: &[PathBuf],
    progress: &Progress,
) -> Result<Option<(Session, Loaded)>, files::Error> {
    let is_over = || loader.options.is_over_limit(progress.read());
    let loaded = loader.load_all(paths, progress, &mut |part| {
        // Gzipped files turn out larger than the load expected.
        if is_over() {
            progress.cancel();
        } else {
            session.add_file(part);
        }
    });
    // Files that were read ahead may have failed; a second attempt reports them.
    if is_over() {
        return Ok(None);
    }
    Ok(Some((session, loaded?)))
}

/// Opens several sitemaps as one set, as [`open_in`] does one; see [`Session::unread`].
///
/// # Errors
/// As [`Loader::load_all`].
pub fn open_all(session: Session, paths: &[PathBuf], options: Options) -> Result<Session, files::Error> {
    open_all_watched(session, paths, options, &Progress::default())
}

/// [`open_all`] with progress.
///
/// # Errors
/// As [`Loader::load_all`].
pub fn open_all_watched(
    mut session: Session,
    paths: &[PathBuf],
    options: Options,
    progress: &Progress,
) -> Result<Session, files::Error> {
    let loader = session.loader(options);
    let loaded = loader.load_all(paths, progress, &mut |part| session.add_file(part))?;
    session.finish(loaded);
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_grows_with_each_loaded_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, root: &str, entry: &str, locs: &[&str]| {
            let entry = |loc: &&str| format!("<{entry}><loc>https://e.com/{loc}</loc></{entry}>");
            let entries = locs.iter().map(entry).collect::<Vec<_>>().concat();
            std::fs::write(folder.path().join(name), format!("<{root}>{entries}</{root}>")).unwrap();
        };
        write("index.xml", "sitemapindex", "sitemap", &["a.xml", "b.xml", "c.xml"]);
        for (name, locs) in [("a.xml", &["1", "2"][..]), ("b.xml", &[]), ("c.xml", &["3"])] {
            write(name, "urlset", "url", locs);
        }
        let mut session = Session::new(Now { seconds: 0, offset: 0 }, None);
        let loader = session.loader(Options::default());
        let mut shown = Vec::new();
        let path = folder.path().join("index.xml");
        let loaded = loader.load(&path, &Progress::default(), &mut |part| {
            session.add_file(part);
            let rows = (0..session.view().shown()).filter_map(|position| session.view().row_at(position));
            let clean = rows.filter(|row| session.view().row_state(*row) == crate::document::RowState::Clean);
            shown.push((session.view().shown(), clean.count()));
        });
        assert_eq!(shown, [(0, 0), (2, 2), (2, 2), (3, 3)]);
        session.finish(loaded.unwrap());
        assert_eq!(session.view().shown(), 3);
    }
}
