//! Repairs a damaged file in windows and scans these, so that only its first entries are kept.

use super::disk::OnDisk;
use super::first_entries::FirstEntries;
use super::load_context::LoadContext;
use super::loaded::{DroppedEntries, File, FileInfo};
use super::repaired_windows::{LocatedWindow, Memory, RepairedWindows, WindowStart};
use super::scan_and_repair::StartedScan;
use super::window::{Piece, each_piece, piece_ends};
use crate::document::form::Form;
use crate::document::lines::{Anchor, LineColumn};
use crate::document::quirk::Quirk;
use crate::progress::Progress;
use crate::xml::repair::SoundPrefix;
use crate::xml::repair::windows::WindowJoiner;
use crate::xml::scan::{Scan, ScannedWindow, Visit, WindowBytes, WindowScan};
use std::sync::{Mutex, PoisonError};

/// A file that is damaged, with its scan up to the damage.
pub(super) struct DamagedFile<V> {
    pub(super) facts: FileInfo,
    pub(super) started: StartedScan<V>,
}

impl<V: Visit + Send> LoadContext<'_, V> {
    /// Repairs and scans a damaged file.
    ///
    /// # Errors
    /// The scan of its beginning, if it has one: the file must be read as a whole.
    pub(super) fn repair_in_windows(&self, damaged: DamagedFile<V>) -> Result<File<V>, Option<StartedScan<V>>> {
        let DamagedFile { facts, mut started } = damaged;
        let is_started = started.scan.entries() > 0;
        // The visitor of the beginning is needed again if the file must be read as a whole.
        let visitor = if is_started { started.visitor.fork() } else { Some((self.make)(&facts)) };
        let repaired = visitor.and_then(|visitor| self.scan_windows(&started, visitor));
        let Some((file, windows, visitor)) = repaired else { return Err(is_started.then_some(started)) };
        let RepairedFile { scan: Some(scan), mut quirks, anchors, first, tail, starts, .. } = file else {
            return Err(None);
        };
        let mut scan = scan.finish();
        self.progress.advance(scan.entries() as u64, started.on_disk.len);
        let (starts, windows) = (std::mem::take(&mut scan.starts), windows.starting_at(starts));
        let source = first.and_then(|first| first.source(&tail, scan)).ok_or(None)?.anchored(anchors);
        quirks.sort_by_key(|quirk| (quirk.entry, quirk.at));
        let StartedScan { visitor: mut of_beginning, on_disk, .. } = started;
        let visitor = if is_started {
            of_beginning.join(visitor);
            of_beginning
        } else {
            visitor
        };
        let dropped = DroppedEntries { starts, repaired: Some(windows) };
        let (on_disk, quirks, dropped) = (Some(on_disk), quirks.into(), Some(Box::new(dropped)));
        Ok(File { facts, source, on_disk, visitor, quirks, form: Form::Xml, dropped })
    }

    /// Repairs the windows of a file, and scans each on the thread that has repaired it, with a fork of this visitor. `None`
    /// if the file must be read as a whole, or the load is cancelled.
    fn scan_windows(&self, started: &StartedScan<V>, visitor: V) -> Option<(RepairedFile, RepairedWindows, V)> {
        let StartedScan { scan: before, on_disk, .. } = started;
        let (mut file, windows) = RepairedFile::after(Beginning::of(on_disk, before)?, before, on_disk.len);
        let root = Scan { names: before.names.clone(), root_tag: before.root_tag, ..Scan::default() };
        let visitor = Mutex::new(visitor);
        let lock = || visitor.lock().unwrap_or_else(PoisonError::into_inner);
        let is_complete = windows.each(
            on_disk,
            |number, window| {
                let bytes = WindowBytes {
                    bytes: &window.repaired.result.bytes,
                    is_first: number == 0 && before.entries() == 0,
                    is_last: windows.is_last(number),
                    min_piece: window.repaired.result.bytes.len(),
                    placed: window.repaired.result.placed.cursor(),
                };
                let mut fork = lock().fork()?;
                let scanned = ScannedWindow::of(&bytes, &root, &mut fork, &Progress::default())?;
                (!self.progress.is_cancelled()).then_some((window, scanned, fork))
            },
            |(window, scanned, fork)| {
                lock().join(fork);
                file.append(window, scanned)
            },
        );
        let visitor = visitor.into_inner().unwrap_or_else(PoisonError::into_inner);
        (is_complete && !file.quirks.is_empty()).then_some((file, windows, visitor))
    }
}

/// The undamaged beginning of a file.
struct Beginning {
    /// The bytes before the content of the root.
    head: Vec<u8>,
    /// Its first entries, if it has any.
    first: Option<FirstEntries>,
    /// Line and column of its end.
    end: LineColumn,
}

impl Beginning {
    /// Reads the beginning again that was scanned. `None` if the file has changed, or a repair cannot start there.
    fn of(on_disk: &OnDisk, scan: &Scan) -> Option<Self> {
        let mut beginning = Self { head: Vec::new(), first: None, end: LineColumn::START };
        let (head_len, starts) = (scan.root_tag.1, &*scan.starts);
        if scan.entries() == 0 {
            each_piece(on_disk, [head_len], |piece| {
                beginning.head = piece.bytes.to_vec();
                beginning.end = piece.lines.position(piece.bytes.len());
                true
            })
            .ok()?;
            return Some(beginning);
        }
        let mut prefix = None;
        each_piece(on_disk, piece_ends(starts), |Piece { bytes, start, lines }| {
            if let Some(first) = &mut beginning.first {
                first.add(bytes, starts.get(starts.partition_point(|end| *end <= start)..).unwrap_or_default());
            } else {
                beginning.head = bytes.get(..head_len as usize).unwrap_or_default().to_vec();
                beginning.first = Some(FirstEntries::of(bytes, scan));
            }
            beginning.end = lines.position(bytes.len());
            prefix = SoundPrefix::of_last(bytes, start as usize, scan);
            true
        })
        .ok()?;
        prefix.map(|_| beginning)
    }
}

/// What the repair and the scan of the windows of a file have found so far.
struct RepairedFile {
    /// `None` if it cannot be continued.
    scan: Option<WindowScan>,
    joiner: WindowJoiner,
    quirks: Vec<Quirk>,
    /// The anchors in the windows with the first entries.
    anchors: Vec<Anchor>,
    first: Option<FirstEntries>,
    /// The bytes after the last entry.
    tail: Vec<u8>,
    /// The starts of the windows.
    starts: Vec<WindowStart>,
    /// Line and column of the next window.
    position: LineColumn,
}

impl RepairedFile {
    /// Before the first window of a file of `len` bytes; `scan` is that of its beginning. Also returns its windows.
    fn after(beginning: Beginning, scan: &Scan, len: u64) -> (Self, RepairedWindows) {
        let Beginning { head, first, end: position } = beginning;
        let (scan, len) = (WindowScan::after_damage(scan.clone()), len as usize);
        let joiner = WindowJoiner::after(scan.so_far().entries() as u32, len);
        let windows = RepairedWindows::after(scan.end(), &head, len);
        let (quirks, anchors, tail, starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        (Self { scan: Some(scan), joiner, quirks, anchors, first, tail, starts, position }, windows)
    }

    /// Appends the next window. Returns its memory, or `None` if the file must be read as a whole.
    fn append(&mut self, window: LocatedWindow, scanned: ScannedWindow) -> Option<Memory> {
        let bytes = &window.repaired.result.bytes;
        let scan = self.scan.take()?;
        let (head, offset, known) = (scan.head_len(), scan.end(), scan.so_far().starts.len());
        // Offsets have 32 bits.
        u32::try_from(offset + bytes.len()).ok()?;
        let tail = scanned.entry_ends().last().map_or(head, |end| *end as usize);
        self.tail = bytes.get(tail..)?.to_vec();
        let scan = self.scan.insert(scan.append(scanned, &Progress::default()).ok()?).so_far();
        if scan.entries() == 0 {
            return None;
        }
        let needs_first_anchor = self.joiner.needs_first_anchor(&window.repaired);
        let start = WindowStart { offset: offset as u32, position: self.position, needs_first_anchor };
        self.starts.push(start);
        if !self.first.as_ref().is_some_and(FirstEntries::is_complete) {
            self.anchors.extend(window.anchors(head, &start));
        }
        match &mut self.first {
            Some(first) => first.add(bytes.get(head..)?, scan.starts.get(known..)?),
            None => self.first = Some(FirstEntries::of(bytes, scan)),
        }
        let LocatedWindow { repaired, mut quirks, end, stored, .. } = window;
        let entries = self.joiner.entries;
        self.quirks.extend(quirks.drain(..).map(|quirk| Quirk {
            at: quirk.at.after(self.position),
            entry: quirk.entry.map(|entry| entry + entries),
            ..quirk
        }));
        self.position = end.after(self.position);
        Some(Memory { stored, repaired: self.joiner.append(repaired)?, quirks })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Buffers;
    use super::super::load::tests::{LoadedText, load_text};
    use super::super::window::tests::{ROOT, entries};

    /// Checks that a load in windows equals one of the whole file. Returns whether the whole file was read.
    fn is_read_as_a_whole(text: &str) -> bool {
        let whole = load_text(text.as_bytes(), Buffers::New);
        assert_eq!(whole.reading.rows, whole.locs.len() as u64, "{text}");
        let check = |in_windows: LoadedText| {
            assert_eq!(in_windows.sitemap.quirks, whole.sitemap.quirks, "{text}");
            assert_eq!((&in_windows.locs, in_windows.reading.rows), (&whole.locs, whole.reading.rows), "{text}");
            let is_whole = in_windows.dropped.is_none();
            // With its anchors.
            assert_eq!(in_windows.restored().source, whole.source, "{text}");
            is_whole
        };
        let is_whole = check(load_text(text.as_bytes(), Buffers::windows()));
        // On a thread of the pool, as a file of several.
        let (of_several, ()) = rayon::join(|| load_text(text.as_bytes(), Buffers::windows()), || ());
        assert_eq!(check(of_several), is_whole, "{text}");
        is_whole
    }

    #[test]
    fn damaged_files_are_repaired_in_windows() {
        let sound = format!("<?xml version=\"1.0\"?>\n{ROOT}{}</urlset>\n", entries(400));
        for (from, to) in [
            ("</loc>", "?é&b</loc>"),
            ("</loc>", "&foo;</loc>"),
            ("</loc>", "\u{1}</loc>"),
            ("</loc>", "a<b</loc>"),
            ("</loc>", "</lok>"),
            ("<loc>", "<loc lang=en>"),
            ("/300<", "/?a&b<"),
            ("/399<", "/?a&b<"),
            ("</urlset>", "</urlset><url/>"),
            ("</url>", ""),
        ] {
            for line_end in ["\n", "\r\n", ""] {
                let text = sound.replace('\n', line_end).replace(from, to);
                assert!(!is_read_as_a_whole(&text), "{text}");
            }
        }
    }

    #[test]
    fn other_damaged_files_are_read_as_a_whole() {
        let damaged = format!("{ROOT}{}</urlset>\n", entries(400)).replace("</loc>", "?a&b</loc>");
        let changed = |from: &str, to: &str| damaged.replacen(from, to, 1);
        for text in [
            changed("</urlset>\n", ""),
            changed(ROOT, &format!(" {ROOT}")),
            changed("/300?", "/300<!-- "),
            changed("<url><loc>https://e.com/300", "<!-- </url> --></urlset><url><loc>https://e.com/300"),
            changed("<url><loc>https://e.com/300", "<x:y><url><loc>https://e.com/300"),
        ] {
            assert!(is_read_as_a_whole(&text), "{text}");
        }
    }
}
