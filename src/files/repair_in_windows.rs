//! Repairs a damaged file in windows, so that only its repaired bytes are in memory.

use super::conflict;
use super::disk::OnDisk;
use super::load_context::LoadContext;
use super::loaded::{File, FileInfo};
use super::ordered_pool::{MaxBytes, in_order};
use super::scan_and_repair::{StartedScan, locate};
use super::window::open_unchanged;
use crate::document::form::Form;
use crate::document::quirk::Quirk;
use crate::document::source::{Anchor, Lines, Source};
use crate::file_bytes::FileBytes;
use crate::progress::Progress;
use crate::xml::repair::windows::{AHEAD, RepairedWindow, Window, WindowJoiner};
use crate::xml::repair::{self, SoundPrefix};
use crate::xml::scan::{self, MAX_SEARCH, Scan, Visit, seam};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Minimum number of bytes of a window; a repaired one stays in the cache of a core.
const WINDOW: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// Number of bytes after a window that are read with it: nearly every entry is shorter.
const FIRST_AHEAD: usize = 4 << 10;

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
        let DamagedFile { facts, started } = damaged;
        let is_started = started.scan.entries() > 0;
        let Some(RepairedFile { joiner, mut quirks, anchors, .. }) =
            RepairedFile::of(&started.on_disk, &started.scan, self.progress)
        else {
            return Err(is_started.then_some(started));
        };
        let StartedScan { scan, mut visitor, on_disk } = started;
        let scan = if is_started {
            scan::resume(&joiner.bytes, *scan, &mut visitor, &Progress::default())
        } else {
            visitor = (self.make)(&facts);
            scan::scan_sound(&joiner.bytes, &mut visitor, &Progress::default())
        };
        // Rare: a repair of very unusual tags may leave damage.
        if !scan.damage.is_empty() || self.progress.is_cancelled() {
            return Err(None);
        }
        self.progress.advance(scan.entries() as u64, on_disk.len);
        let source = Source::new(joiner.bytes, scan).ok_or(None)?.anchored(anchors);
        quirks.sort_by_key(|quirk| (quirk.entry, quirk.at));
        let (on_disk, quirks) = (Some(on_disk), quirks.into());
        Ok(File { facts, source, on_disk, visitor, quirks, form: Form::Xml, dropped: None })
    }
}

/// The memory of a window, which others reuse: clearing new memory takes longer than writing to it.
#[derive(Default)]
struct Memory {
    /// The bytes as stored, with those before the content of the root.
    stored: Vec<u8>,
    repaired: FileBytes,
    anchors: Vec<(usize, usize)>,
}

/// The repaired windows of a file so far.
struct RepairedFile {
    joiner: WindowJoiner,
    quirks: Vec<Quirk>,
    anchors: Vec<Anchor>,
    /// The position of the next window in the file.
    position: (u64, u64),
}

/// A repaired window. Positions are those in a text that begins with it.
struct LocatedWindow {
    repaired: RepairedWindow,
    quirks: Vec<Quirk>,
    anchors: Vec<Anchor>,
    /// The position of its end.
    end: (u64, u64),
    /// Memory for another window.
    stored: Vec<u8>,
}

impl RepairedFile {
    /// Repairs a file after its sound beginning. `None` if it must be read as a whole, or if the load is cancelled.
    fn of(on_disk: &OnDisk, scan: &Scan, progress: &Progress) -> Option<Self> {
        let len = usize::try_from(on_disk.len).ok()?;
        let beginning = sound_beginning(on_disk, scan, repair::output_of(len))?;
        let head = beginning.get(..scan.root_tag.1 as usize)?.to_vec();
        let (start, position) = (beginning.len(), Lines::new(&beginning).position(beginning.len()));
        let joiner = WindowJoiner::after(beginning, scan.entries() as u32, len);
        let mut file = Self { joiner, quirks: Vec::new(), anchors: Vec::new(), position };
        let count = ((len - start) / WINDOW).max(1);
        let offset = |number| if number == count { len } else { start + (len - start) / count * number };
        let windows: Vec<Range<usize>> = (0..count).map(|number| offset(number)..offset(number + 1)).collect();
        let unused: Mutex<Vec<Memory>> = Mutex::default();
        let work = |range: &Range<usize>| {
            let memory = unused.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            let is_first = range.start == start;
            LocatedWindow::read(on_disk, &head, range, is_first, memory).filter(|_| !progress.is_cancelled())
        };
        let mut appended = 0;
        let limit = MaxBytes { max: u64::MAX, size: |_: &Range<usize>| 0 };
        in_order(&windows, limit, work, |_, window: Option<LocatedWindow>| {
            let memory = window.and_then(|window| file.append(window));
            let is_appended = memory.is_some();
            appended += usize::from(is_appended);
            unused.lock().unwrap_or_else(PoisonError::into_inner).extend(memory);
            is_appended
        });
        (appended == windows.len() && !file.quirks.is_empty()).then_some(file)
    }

    /// Appends the next window. Returns its memory, or `None` if the file must be read as a whole.
    fn append(&mut self, window: LocatedWindow) -> Option<Memory> {
        let LocatedWindow { mut repaired, quirks, anchors, end, stored } = window;
        let before = self.position;
        let in_file = |(line, column): (u64, u64)| {
            let columns_before = if line == 1 { before.1 - 1 } else { 0 };
            (line + before.0 - 1, column + columns_before)
        };
        // Offsets have 32 bits.
        u32::try_from(self.joiner.bytes.len() + repaired.bytes.len()).ok()?;
        let (shift, entries) = (self.joiner.bytes.len() as u32, self.joiner.entries);
        let redundant = usize::from(!self.joiner.needs_first_anchor(&repaired));
        let anchors = anchors.into_iter().skip(redundant);
        self.anchors.extend(anchors.map(|(at, position)| (at + shift, in_file(position))));
        self.quirks.extend(quirks.into_iter().map(|quirk| Quirk {
            at: in_file(quirk.at),
            entry: quirk.entry.map(|entry| entry + entries),
            ..quirk
        }));
        self.position = in_file(end);
        let mut anchors = std::mem::take(&mut repaired.anchors);
        anchors.clear();
        Some(Memory { stored, repaired: self.joiner.append(repaired)?, anchors })
    }
}

impl LocatedWindow {
    /// Reads and repairs the window that starts and ends after the first entries that end in or behind this range of a
    /// file, and finds the positions of its repairs. The first window starts with the range. `None` if the file must be
    /// read as a whole.
    fn read(on_disk: &OnDisk, head: &[u8], range: &Range<usize>, is_first: bool, memory: Memory) -> Option<Self> {
        let Memory { mut stored, repaired: mut written, anchors } = memory;
        stored.clear();
        stored.extend_from_slice(head);
        let mut opened = open_unchanged(on_disk).ok()?;
        opened.file.seek(SeekFrom::Start(range.start as u64)).ok()?;
        let mut file = opened.file.take(on_disk.len - range.start as u64);
        file.by_ref().take((range.len() + FIRST_AHEAD) as u64).read_to_end(&mut stored).ok()?;
        let is_last = range.end as u64 == on_disk.len;
        let mut ends = seam(&stored, head.len() + range.len());
        if !is_last && ends.is_none_or(|end| end + AHEAD > stored.len()) {
            file.take((MAX_SEARCH + AHEAD) as u64).read_to_end(&mut stored).ok()?;
            ends = seam(&stored, head.len() + range.len());
        }
        let start = if is_first { head.len() } else { seam(&stored, head.len())? };
        let end = if is_last { head.len() + range.len() } else { ends? };
        let text = stored.get(start..end)?;
        if conflict::has_sign(text) || simdutf8::basic::from_utf8(text).is_err() {
            return None;
        }
        written.truncate(0);
        let window = Window { bytes: &stored, head: head.len(), range: start..end, is_last };
        let mut repaired = RepairedWindow::of(&window, written, anchors)?;
        let lines = || Lines::new(&stored).continued(start, (1, 1));
        let mut quirks = Vec::new();
        let located = locate(&repaired.anchors, std::mem::take(&mut repaired.repairs), lines, &mut quirks);
        let last = repaired.anchors.last().zip(located.last());
        let mut lines = last.map_or_else(lines, |((_, at), (_, position))| lines().continued(*at, *position));
        let end = lines.position(end);
        Some(Self { repaired, quirks, anchors: located, end, stored })
    }
}

/// Reads the sound beginning of a file into `bytes`: what is before the content of the root, and the sound entries. `None`
/// if the file has changed, or a repair cannot start there.
fn sound_beginning(on_disk: &OnDisk, scan: &Scan, mut bytes: FileBytes) -> Option<FileBytes> {
    let is_started = scan.entries() > 0;
    let end = if is_started { *scan.starts.last()? } else { scan.root_tag.1 };
    let mut opened = open_unchanged(on_disk).ok()?;
    if !bytes.append_parallel(&opened.file, end as usize).ok()? {
        bytes.append_from(&mut opened.file.by_ref(), u64::from(end)).ok()?;
    }
    let is_sound = !is_started || SoundPrefix::of(&bytes, scan).is_some();
    (is_sound && bytes.len() == end as usize).then_some(bytes)
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
            // With its anchors.
            assert_eq!(in_windows.source, whole.source, "{text}");
            in_windows.reading.bytes_read > 0
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
            damaged.replace("</url>", ""),
        ] {
            assert!(is_read_as_a_whole(&text), "{text}");
        }
    }
}
