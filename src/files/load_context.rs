//! The state that all files of one load share, and how each file is scanned.

use super::conflict::{self, LineMap, Resolved};
use super::detect::{self, Detected};
use super::error::Error;
use super::form::{self, ScanInput};
use super::journal::StateSlot;
use super::loaded::{File, FileInfo, Loaded, MakeVisitor};
use super::locate;
use super::read::{Contents, Options};
use super::record;
use super::scan_and_repair::{StartedScan, Unscanned, scan_and_repair};
use crate::document::quirk::Quirk;
use crate::progress::Progress;
use crate::xml::grid::TableHints;
use crate::xml::names::FileKind;
use crate::xml::scan::Visit;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The state that all files of one load share.
pub(super) struct LoadContext<'a, V> {
    pub(super) options: &'a Options,
    pub(super) progress: &'a Progress,
    pub(super) make: &'a MakeVisitor<'a, V>,
    /// URL of the set's folder, with its last slash.
    pub(super) base: Option<String>,
}

impl<V: Visit + Send> LoadContext<'_, V> {
    /// Cancels the load if it is known to need more than [`Options::max_held_bytes`].
    pub(super) fn cancel_if_over_limit(&self) {
        if self.options.is_over_limit(self.progress.read()) {
            self.progress.cancel();
        }
    }

    /// Counts bytes that stay in memory, and cancels the load if they exceed the limit.
    pub(super) fn hold(&self, bytes: u64) {
        self.progress.hold(bytes);
        self.cancel_if_over_limit();
    }

    /// Counts a file that is about to be read as a whole. If that exceeds the limit, the load is cancelled, and the read stops
    /// at its first check.
    pub(super) fn hold_whole(&self, path: &Path) {
        self.hold(std::fs::metadata(path).map_or(0, |metadata| metadata.len()));
    }

    /// Scans the contents of a file, of which a scan may be `started`. An error if it is not a valid sitemap file.
    pub(super) fn scan(
        &self,
        contents: Contents,
        name: &Arc<str>,
        url: Option<&Arc<str>>,
        started: Option<StartedScan<V>>,
    ) -> Result<File<V>, Error> {
        let path = contents.on_disk.path.clone();
        let started = started.filter(|started| started.is_of(&contents));
        let (name, url) = (Arc::clone(name), url.cloned());
        let hints = TableHints { loc_column: self.options.loc_column.as_deref(), name: detect::name_hint(&name) };
        let Resolved { contents, quirks: of_merge, anchors: sides } =
            conflict::resolve(contents, &path, &self.options.conflicts, hints)?;
        let Contents { bytes, gzip, encoding, quirks, on_disk } = contents;
        let map = (!sides.is_empty()).then(|| LineMap::of(&bytes, &sides));
        let Detected { kind, grid } = detect::detect_with(&bytes, hints).map_err(|reason| Error::new(&path, reason))?;
        let ScanInput { bytes, form, quirks: found, anchors } = form::convert(bytes, (kind, grid.as_ref()), &name);
        let started = started.filter(|_| kind == FileKind::Urlset && map.is_none());
        let (len, grid) = (bytes.len() as u64, grid.map(Arc::new));
        let facts = FileInfo { kind, path: Some(path), name, url, gzip, bytes: len, encoding, grid };
        let quirks = [form::encoding_quirks(quirks, kind), found].concat();
        let file = Unscanned { facts, bytes, quirks, on_disk: Some(on_disk), started };
        let file = scan_and_repair(file, self.make, self.progress)?;
        let source = if anchors.is_empty() { file.source } else { file.source.anchored(anchors) };
        let Some(map) = map else { return Ok(File { source, quirks: joined(of_merge, file.quirks), form, ..file }) };
        // Map positions in the resolved text to lines of the file as stored.
        let moved = file.quirks.iter().map(|quirk| Quirk { at: map.stored(quirk.at), ..quirk.clone() });
        let quirks = joined(of_merge, Arc::new(moved.collect()));
        let source = if source.is_as_stored() {
            source.anchored(sides)
        } else {
            source.with_mapped_anchors(|at| map.stored(at))
        };
        Ok(File { source, quirks, form, ..file })
    }
}

/// Joins quirks of the whole file with others.
fn joined(first: Vec<Quirk>, rest: Arc<Vec<Quirk>>) -> Arc<Vec<Quirk>> {
    if first.is_empty() { rest } else { Arc::new(first.into_iter().chain(rest.iter().cloned()).collect()) }
}

/// Starts a load of several paths: finishes interrupted saves, then takes the state slot of the set before the first
/// byte is read, so that two processes never edit the same file.
///
/// # Errors
/// An interrupted save cannot be completed.
pub(super) fn begin<'a, V>(
    paths: &[PathBuf],
    options: &'a Options,
    progress: &'a Progress,
    make: &'a MakeVisitor<'a, V>,
) -> Result<(LoadContext<'a, V>, Loaded), Error> {
    // The commit record of a save is beside the first file.
    let recovered = record::recover_all(paths, &options.recovery)?;
    let loaded = Loaded { recovered, state_slot: StateSlot::acquire_if_enabled(options, paths), ..Loaded::default() };
    let base = options.base_url.as_deref().and_then(locate::folder_url);
    let len = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    progress.expect(paths.len() as u64, paths.iter().map(len).sum());
    Ok((LoadContext { options, progress, make, base }, loaded))
}

/// Refuses a set with unreadable files if all are required.
///
/// # Errors
/// The only error, or the first with the others in it.
pub(super) fn refuse_unread(options: &Options, unread: &mut Vec<Error>) -> Result<(), Error> {
    match unread.as_slice() {
        _ if !options.require_all => Ok(()),
        [] => Ok(()),
        [_] => Err(unread.swap_remove(0)),
        [first, ..] => {
            let set = first.path.parent().unwrap_or(Path::new("")).to_path_buf();
            Error::unread(&set, unread.iter().map(ToString::to_string)).map_or(Ok(()), Err)
        }
    }
}
