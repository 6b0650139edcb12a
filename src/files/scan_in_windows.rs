//! Reads and scans a file in windows, for a set whose findings are mostly counted.
//!
//! The system clears memory that a process has not used before. On a virtual machine, which may have to get that memory
//! from its host, this took half of the CPU time of a check of 170 MB. So a file passes through a buffer of one window, which
//! is used again, and only the first entries are kept.

use super::disk::OnDisk;
use super::error::Error;
use super::first_entries::FirstEntries;
use super::load_context::LoadContext;
use super::loaded::{DroppedEntries, File, FileInfo};
use super::read::{Contents, open_regular};
use super::repair_in_windows::DamagedFile;
use super::scan_and_repair::StartedScan;
use super::stream::is_stream;
use super::window::{MIN_LEN, WINDOW, Window};
use super::{conflict, decode, detect};
use crate::document::form::Form;
use crate::document::sitemap::UTF_8;
use crate::xml::grid::TableHints;
use crate::xml::names::FileKind;
use crate::xml::scan::{GaveUp, Visit, WindowScan};
use std::path::Path;
use std::sync::Arc;

/// The maximum number of cores that scan one window.
const MAX_CORES: usize = 8;

/// The scan of a file in windows.
enum InWindows<V> {
    /// Of the whole file.
    Complete(Box<File<V>>),
    /// Up to its first damage.
    Damaged(DamagedFile<V>),
}

impl<V: Visit + Send> LoadContext<'_, V> {
    /// Reads and scans a file: a sitemap in windows if the options do not keep all bytes, and any other file as a whole, for
    /// which `read` is called.
    pub(super) fn read_and_scan(
        &self,
        path: &Path,
        name: &Arc<str>,
        url: Option<&Arc<str>>,
        read: impl FnOnce() -> Result<Contents, Error>,
    ) -> Result<File<V>, Error> {
        let in_windows = match self.scan_in_windows(path, name, url) {
            Some(InWindows::Complete(file)) => Ok(*file),
            Some(InWindows::Damaged(damaged)) => self.repair_in_windows(damaged),
            None => Err(None),
        };
        match in_windows {
            Ok(file) => {
                self.hold(file.source.bytes().len() as u64);
                Ok(file)
            }
            Err(started) => {
                self.hold_whole(path);
                self.scan(read()?, name, url, started)
            }
        }
    }

    /// Reads and scans a sitemap in windows, and keeps only its first entries. `None` if the options keep all bytes, and
    /// for files that must be read as a whole: short, packed, encoded and unusual ones, and those that cannot be read.
    fn scan_in_windows(&self, path: &Path, name: &Arc<str>, url: Option<&Arc<str>>) -> Option<InWindows<V>> {
        if !self.options.buffers.drops_entries() || is_stream(path) {
            return None;
        }
        let mut buffer = self.options.buffers.take_window();
        let file = self.scan_into(&mut buffer, path, name, url);
        self.options.buffers.recycle_window(buffer);
        file
    }

    fn scan_into(
        &self,
        buffer: &mut Vec<u8>,
        path: &Path,
        name: &Arc<str>,
        url: Option<&Arc<str>>,
    ) -> Option<InWindows<V>> {
        let metadata = open_regular(path).ok()?.file.metadata().ok()?;
        let len = metadata.len();
        if len < MIN_LEN || len > self.options.max_bytes.min(u64::from(u32::MAX)) {
            return None;
        }
        let on_disk = OnDisk::new(path, &metadata, OnDisk::NOT_HASHED);
        let mut window = Window::new(&on_disk, buffer);
        let mut end = window.fill(self.window_len())?;
        let bytes = window.buffer.get(..end)?;
        let facts = FileInfo {
            kind: FileKind::Urlset,
            path: Some(path.to_path_buf()),
            name: Arc::clone(name),
            url: url.cloned(),
            gzip: false,
            bytes: len,
            encoding: UTF_8,
            grid: None,
        };
        let hints = TableHints { loc_column: self.options.loc_column.as_deref(), name: detect::name_hint(name) };
        let is_sitemap = detect::detect_with(bytes, hints).is_ok_and(|found| found.kind == FileKind::Urlset);
        if !is_sitemap || detect::feed(bytes).is_some() || !decode::begins_as_utf8(bytes) || conflict::has_sign(bytes) {
            return None;
        }
        let mut visitor = (self.make)(&facts);
        let mut is_last = window.is_last(end);
        let damaged = |gave_up: GaveUp, facts: FileInfo, visitor: V, on_disk: OnDisk| match gave_up {
            GaveUp::Damaged(scan) => {
                Some(InWindows::Damaged(DamagedFile { facts, started: StartedScan { scan, visitor, on_disk } }))
            }
            GaveUp::Unusual => None,
        };
        let mut scan = match WindowScan::first(bytes, is_last, &mut visitor, self.progress) {
            Ok(scan) => scan,
            Err(gave_up) => return damaged(gave_up, facts, visitor, on_disk),
        };
        let mut first = FirstEntries::of(bytes, scan.so_far());
        first.stop_search_without_mention();
        window.head = scan.head_len();
        while !is_last {
            window.drop_scanned(end);
            let next = window.fill(self.window_len());
            let bytes = next.and_then(|next| window.buffer.get(..next)).filter(|bytes| !conflict::has_sign(bytes));
            let (Some(next), Some(bytes)) = (next, bytes) else {
                scan.give_up(self.progress);
                return None;
            };
            (end, is_last) = (next, window.is_last(next));
            first.skip(bytes.get(window.head..)?);
            scan = match scan.next(bytes, is_last, &mut visitor, self.progress) {
                Ok(scan) => scan,
                Err(gave_up) => return damaged(gave_up, facts, visitor, on_disk),
            };
        }
        let mut scan = scan.finish();
        self.progress.advance(0, u64::from(scan.root_tag.1));
        let starts = std::mem::take(&mut scan.starts);
        let tail = len as usize - *starts.last()? as usize;
        let tail = window.buffer.get(window.buffer.len().checked_sub(tail)?..)?;
        let source = first.source(tail, scan)?;
        let (on_disk, dropped) = (Some(on_disk), Some(Box::new(DroppedEntries { starts, repaired: None })));
        let file = File { facts, source, on_disk, visitor, quirks: Arc::default(), form: Form::Xml, dropped };
        Some(InWindows::Complete(Box::new(file)))
    }

    fn window_len(&self) -> usize {
        WINDOW * if self.progress.has_idle_cores() { rayon::current_num_threads().min(MAX_CORES) } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::load;
    use super::super::load::tests::{Locs, load_text};
    use super::super::window::MAX_WINDOW;
    use super::super::window::tests::{ROOT, entries};
    use super::super::{Buffers, Options};
    use super::*;
    use crate::progress::{Progress, Reading};
    use std::fs;
    use std::sync::Mutex;

    /// The number of dropped entries of a file, which is otherwise loaded like any other.
    fn dropped(text: &[u8]) -> usize {
        let (in_windows, whole) = (load_text(text, Buffers::windows()), load_text(text, Buffers::New));
        let kept = in_windows.source.len();
        let in_windows = in_windows.restored();
        let dropped = in_windows.source.len() - kept;
        let progress = |reading: Reading| (reading.rows, reading.bytes_done);
        let found = (in_windows.source, in_windows.locs, progress(in_windows.reading));
        assert_eq!(found, (whole.source, whole.locs, progress(whole.reading)), "{}", String::from_utf8_lossy(text));
        assert!(whole.dropped.is_none());
        dropped
    }

    #[test]
    fn most_entries_of_sound_files_are_dropped() {
        let sound = format!("{ROOT}<!-- banner -->{}</urlset>\n", entries(400));
        assert_eq!(dropped(sound.as_bytes()), 398);
        assert_eq!(dropped(format!("{ROOT}{}</urlset>\n<!-- end -->", entries(8)).as_bytes()), 6);
        let declared = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{sound}");
        assert_eq!(dropped(declared.as_bytes()), 398);
        assert_eq!(dropped(format!("\u{FEFF}{declared}").as_bytes()), 398);
        // One entry is longer than a window.
        let long = sound.replace("/300<", &format!("/300<!--{}--><", "x".repeat(3 * WINDOW)));
        assert_eq!(dropped(long.as_bytes()), 398);
    }

    #[test]
    fn sound_entries_before_damage_are_scanned_once() {
        let sound = format!("{ROOT}{}</urlset>\n", entries(400));
        let scans = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sitemap.xml");
            fs::write(&path, text).unwrap();
            let (options, made) = (Options { buffers: Buffers::windows(), ..Options::default() }, Mutex::new(0));
            let make = |_: &FileInfo| {
                *made.lock().unwrap() += 1;
                Locs::default()
            };
            load(&path, &options, &Progress::default(), &make, &mut |_| {}).unwrap();
            made.into_inner().unwrap()
        };
        assert_eq!(scans(&sound), 1);
        assert_eq!(scans(&sound.replacen("/300<", "/?a&b<", 1)), 1);
        assert_eq!(scans(&sound.replacen("</urlset>", "", 1)), 1);
        // A file whose first entry is damaged, or that has text between entries, is scanned from its start.
        assert_eq!(scans(&sound.replacen("/0<", "/?a&b<", 1)), 2);
        assert_eq!(scans(&sound.replacen("<url><loc>https://e.com/300", "text<url><loc>https://e.com/300", 1)), 2);
    }

    #[test]
    fn other_files_are_read_as_a_whole() {
        let sound = format!("{ROOT}{}</urlset>\n", entries(400));
        let changed = |from: &str, to: &str| sound.replacen(from, to, 1).into_bytes();
        let latin = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n{sound}");
        let files = [
            format!("{ROOT}{}</urlset>\n", entries(2)).into_bytes(),
            [latin.as_bytes(), b"<!-- \xE9 -->"].concat(),
            [sound.as_bytes(), b"<!-- \xE9 -->"].concat(),
            changed("<url><loc>https://e.com/300", "text<url><loc>https://e.com/300"),
            changed("<url><loc>https://e.com/300", "<x:y xmlns:x=\"urn:x\"/><url><loc>https://e.com/300"),
            changed("/300<", &format!("/300<!--{}--><", "x".repeat(2 * MAX_WINDOW))),
            // A window ends in a comment.
            changed("<url><loc>https://e.com/200", &format!("<!--{}--><url><loc>https://e.com/200", entries(60))),
            changed("</urlset>", ""),
            changed("<url><loc>https://e.com/300", "<!--\n<<<<<<< \n--><url><loc>https://e.com/300"),
        ];
        for text in files {
            assert_eq!(dropped(&text), 0);
        }
    }
}
