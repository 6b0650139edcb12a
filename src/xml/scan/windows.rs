//! Scans a file window by window, so that it is never in memory as a whole.
//!
//! A window ends after an end tag that looks like that of an entry. If an entry ends exactly there, a scan of the whole
//! file would be in the same state at that offset, and the next window continues it. If not, or if the file is unusual
//! (damage, text or other elements between entries), the scan gives up, and the file has to be read as a whole; a damaged
//! one need not be scanned from its start. The result always equals that of a sequential scan.

use super::characters::check_characters;
use super::{Scan, Start, Visit, Walk, parallel, run};
use crate::progress::Progress;
use crate::xml::parser::Parser;
use crate::xml::placed_entries::PlacedCursor;

/// A scan of a file in windows. Its offsets are those of the whole file.
#[derive(Debug)]
pub struct WindowScan {
    scan: Scan,
    /// The offset in the file of the next window.
    next: usize,
    /// The numbers of rows and bytes that were reported as progress.
    counted: (u64, u64),
}

/// The bytes of a window.
#[derive(Debug, Clone, Copy)]
pub struct WindowBytes<'b> {
    /// The head and the window, which ends at an entry, or with the file if it is the last one.
    pub bytes: &'b [u8],
    /// Whether no entry of the file is before it.
    pub is_first: bool,
    /// Whether it is the last one.
    pub is_last: bool,
    /// The minimum size of a piece in bytes that one core scans.
    pub min_piece: usize,
    /// Entries that need not be parsed.
    pub(crate) placed: PlacedCursor<'b>,
}

/// The scan of a window other than the first. Its offsets are those in [`WindowBytes::bytes`].
#[derive(Debug, PartialEq, Eq)]
pub struct ScannedWindow {
    scan: Scan,
    /// The length of the window in bytes.
    len: usize,
    is_first: bool,
    /// Whether an entry or the file ends with it.
    is_joined: bool,
    /// The numbers of rows and bytes that were reported as progress.
    counted: (u64, u64),
}

impl ScannedWindow {
    /// Scans a window of a file with this root. `None` if the root is not that of a sitemap.
    pub fn of<V: Visit + Send>(
        window: &WindowBytes<'_>,
        root: &Scan,
        visitor: &mut V,
        progress: &Progress,
    ) -> Option<Self> {
        let WindowBytes { bytes, is_first, is_last, min_piece, placed } = *window;
        let (names, head) = (root.names.as_ref()?, root.root_tag.1 as usize);
        let mut parser = Parser::default();
        let utf8 = check_characters(bytes, &mut parser, progress);
        let mut scan = Scan { starts: vec![head as u32], root_tag: root.root_tag, ..Scan::default() };
        let walk = Walk::new((&mut parser, &mut scan, visitor), progress, true);
        let stop_offsets = if is_last { Vec::new() } else { vec![bytes.len()] };
        let mut walk = Walk { utf8, is_later: !is_first, stop_offsets, placed, ..walk };
        parallel::body(bytes, head..bytes.len(), names, &mut walk, min_piece);
        let (counted, is_joined) = (walk.counted, is_last || walk.stopped_at == Some(bytes.len()));
        scan.has_unbound = parser.has_unbound;
        scan.damage = parser.damage.list;
        Some(Self { scan, len: bytes.len() - head, is_first, is_joined, counted })
    }

    /// The ends of its entries, in [`WindowBytes::bytes`].
    pub fn entry_ends(&self) -> &[u32] {
        self.scan.starts.get(1..).unwrap_or_default()
    }
}

/// What to do with a file whose scan in windows gave up.
#[derive(Debug)]
pub enum GaveUp {
    /// It must be scanned from its start, with another visitor.
    Unusual,
    /// It is damaged, or the end of the last window is within a comment or section, which looks like damage.
    /// [`resume`](super::resume) continues this scan on the whole file, with the same visitor, if it has entries.
    Damaged(Box<Scan>),
}

impl WindowScan {
    /// Scans the first window, which ends at an entry, or with the file if it is the only one.
    ///
    /// # Errors
    /// The scan gives up.
    pub fn first<V: Visit + Send>(
        bytes: &[u8],
        is_last: bool,
        visitor: &mut V,
        progress: &Progress,
    ) -> Result<Self, GaveUp> {
        let (mut is_joined, mut counted) = (false, (0, 0));
        let scan =
            run(bytes, visitor, progress, Start { parser: Parser::default(), stops: true }, |from, names, walk| {
                walk.stop_offsets.extend((!is_last).then_some(bytes.len()));
                parallel::body(bytes, from..bytes.len(), names, walk, parallel::MIN_PIECE_OF_WINDOW);
                (is_joined, counted) = (is_last || walk.stopped_at == Some(bytes.len()), walk.counted);
            });
        let is_sitemap = scan.names.is_some() && !scan.root_is_empty;
        Self { scan, next: bytes.len(), counted }.if_joined(is_joined && is_sitemap, progress)
    }

    /// The length of the bytes before the content of the root, which every window begins with.
    pub const fn head_len(&self) -> usize {
        self.scan.root_tag.1 as usize
    }

    /// Continues a scan that stopped at damage after its last entry, on windows of the repaired file.
    pub fn after_damage(before: Scan) -> Self {
        let next = before.starts.last().copied().unwrap_or_default() as usize;
        Self { scan: Scan { damage: Vec::new(), ..before }, next, counted: (0, 0) }
    }

    /// Continues the scan. `bytes` are the head and the next window, which ends at an entry, or with the file if it is the
    /// last one.
    ///
    /// # Errors
    /// The scan gives up.
    pub fn next<V: Visit + Send>(
        self,
        bytes: &[u8],
        is_last: bool,
        visitor: &mut V,
        progress: &Progress,
    ) -> Result<Self, GaveUp> {
        let (min_piece, placed) = (parallel::MIN_PIECE_OF_WINDOW, PlacedCursor::default());
        let window = WindowBytes { bytes, is_first: false, is_last, min_piece, placed };
        let Some(scanned) = ScannedWindow::of(&window, &self.scan, visitor, progress) else {
            return Err(GaveUp::Unusual);
        };
        self.append(scanned, progress)
    }

    /// Appends the scan of the next window.
    ///
    /// # Errors
    /// The scan gives up.
    pub fn append(mut self, window: ScannedWindow, progress: &Progress) -> Result<Self, GaveUp> {
        let ScannedWindow { mut scan, len, is_first, is_joined, counted: (rows, done) } = window;
        self.counted = (self.counted.0 + rows, self.counted.1 + done);
        let moved = self.next - self.head_len();
        if is_first {
            self.scan.starts = scan.starts;
        } else {
            self.scan.starts.extend(scan.starts.iter().skip(1).map(|start| start + moved as u32));
        }
        self.scan.has_unbound |= scan.has_unbound;
        self.scan.stray = scan.stray.map(|at| at + moved as u32);
        self.scan.wraps |= scan.wraps;
        self.scan.has_siblings |= scan.has_siblings;
        self.scan.cancelled |= scan.cancelled;
        scan.damage.iter_mut().for_each(|damage| damage.at += moved);
        self.scan.damage.append(&mut scan.damage);
        self.next += len;
        self.if_joined(is_joined, progress)
    }

    /// Gives up unless the last window continues the scan, and there is nothing but entries below the root.
    fn if_joined(self, is_joined: bool, progress: &Progress) -> Result<Self, GaveUp> {
        let Self { scan, .. } = &self;
        let is_usual = scan.stray.is_none() && !scan.wraps && !scan.has_siblings && !scan.cancelled;
        if is_joined && is_usual && scan.damage.is_empty() {
            return Ok(self);
        }
        let is_damaged = is_usual && !scan.damage.is_empty() && scan.names.is_some();
        let scan = self.give_up(progress);
        Err(if is_damaged { GaveUp::Damaged(Box::new(scan)) } else { GaveUp::Unusual })
    }

    /// The end of the last window in bytes.
    pub const fn end(&self) -> usize {
        self.next
    }

    /// The scan of the windows so far.
    pub const fn so_far(&self) -> &Scan {
        &self.scan
    }

    /// The scan of the whole file, after its last window.
    pub fn finish(self) -> Scan {
        self.scan
    }

    /// Subtracts the progress that was reported. Returns the scan so far.
    pub fn give_up(self, progress: &Progress) -> Scan {
        progress.uncount(self.counted.0, self.counted.1);
        self.scan
    }
}

#[cfg(test)]
mod tests {
    use super::super::parallel::last_entry_end;
    use super::super::parallel::tests::{NS, Seen, piece, scanned};
    use super::super::resume;
    use super::*;
    use proptest::prelude::*;

    /// Scans a file in windows of about this size; returns the scan, the visited entries and the progress. A damaged file is
    /// scanned further from its damage on.
    fn windowed(text: &[u8], size: usize) -> Option<(Scan, Seen, (u64, u64))> {
        let (mut seen, progress) = (Seen::default(), Progress::default());
        let end_of = |from: usize| {
            let end = last_entry_end(text.get(from..(from + size).min(text.len()))?).map(|end| from + end);
            end.filter(|end| from + size < text.len() && *end < text.len())
        };
        let first = end_of(0)?;
        let mut scan = WindowScan::first(&text[..first], false, &mut seen, &progress);
        let mut at = first;
        while let Ok(known) = scan {
            let end = end_of(at);
            let bytes = [&text[..known.head_len()], &text[at..end.unwrap_or(text.len())]].concat();
            scan = known.next(&bytes, end.is_none(), &mut seen, &progress);
            let Some(end) = end else { break };
            at = end;
        }
        let done = || (progress.read().rows, progress.read().bytes_done);
        match scan {
            Ok(scan) => Some((scan.finish(), seen, done())),
            Err(gave_up) => {
                assert_eq!(done(), (0, 0));
                let GaveUp::Damaged(scan) = gave_up else { return None };
                if scan.entries() == 0 {
                    return None;
                }
                Some((resume(text, *scan, &mut seen, &progress), seen, done()))
            }
        }
    }

    #[test]
    fn a_window_ends_after_an_end_tag_of_an_entry() {
        let found = |text: &str| last_entry_end(text.as_bytes());
        assert_eq!(found("<url></url> <url>"), Some(11));
        assert_eq!(found("</url></s:url><loc>/url></loc>"), Some(14));
        assert_eq!(found("</curl> url> </a b:url>"), None);
        assert_eq!(found(&format!("</{}:url>", "x".repeat(300))), None);
        assert_eq!(found(&format!("</url>{}", " ".repeat(70_000))), None);
    }

    #[test]
    fn windows_of_sound_files_are_joined() {
        let entry = |number| format!(" <url><loc>https://e.com/{number}</loc></url><!-- c -->\n");
        let entries: String = (0..40).map(entry).collect();
        let text = format!("<?xml version=\"1.0\"?>\n<urlset xmlns=\"{NS}\">\n<!-- banner -->{entries}</urlset>\n");
        for size in [150, 200, 1_000, text.len() - 1] {
            assert_eq!(windowed(text.as_bytes(), size), Some(scanned(text.as_bytes(), usize::MAX / 2)), "{size}");
        }
    }

    #[test]
    fn a_scan_continues_at_the_damage_of_a_window() {
        let entry = |number| format!(" <url><loc>https://e.com/{number}</loc></url>\n");
        let entries: String = (0..40).map(entry).collect();
        let sound = format!("<urlset xmlns=\"{NS}\">\n{entries}</urlset>\n");
        let damaged = |damage: &str| sound.replacen("/30<", damage, 1);
        for (text, size) in ["/3&0<", "/30</x><", "/30<!--<", "/30<url><"]
            .into_iter()
            .flat_map(|damage| [200, 400, 1_500].map(|size| (damaged(damage), size)))
        {
            let whole = scanned(text.as_bytes(), usize::MAX / 2);
            assert_eq!((whole.0.damage.is_empty(), whole.1.entries.len()), (false, 30), "{text}");
            assert_eq!(windowed(text.as_bytes(), size), Some(whole), "{size}: {text}");
        }
        // A scan finds a control character before any entry of its window.
        let (scan, seen, _) = windowed(damaged("/30\u{1}<").as_bytes(), 200).unwrap();
        assert_eq!((scan.damage.len(), seen.entries.len()), (1, 28));
    }

    proptest! {
        #[test]
        fn a_scan_in_windows_equals_a_sequential_one(
            pieces in prop::collection::vec(piece(), 0..30),
            size in 80..400_usize,
            is_whole in any::<bool>(),
        ) {
            let end = if is_whole { "</urlset>\n" } else { "" };
            let text = format!("<urlset xmlns=\"{NS}\" xmlns:s=\"{NS}\">\n{}{end}", pieces.concat());
            if let Some(found) = windowed(text.as_bytes(), size) {
                prop_assert_eq!(found, scanned(text.as_bytes(), usize::MAX / 2));
            }
        }
    }
}
