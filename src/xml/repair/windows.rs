//! Repairs a file in windows, so that it is never in memory as a whole.
//!
//! Windows are repaired like segments (`repair::segments`), independently of each other. A window starts and ends after
//! an end tag that looks like that of an entry, or at a start tag, where the entry before it is closed. If the repair is
//! in another state there than after an entry, what a token is depends on what follows the window, or an end tag in a
//! later one may be that of an entry in it, the file must be repaired as a whole. A property test compares the result
//! with that of such a repair.

use super::log::RepairLog;
use super::nested::NestingSummary;
use super::segments::{self, ENTRIES_BEFORE};
use super::sound_entries::SoundnessCheck;
use super::{Moved, Repaired, Repairer, closing, max_pieces, prolog};
use crate::xml::defect::{Defect, FoundDefect};
use std::ops::Range;

/// Number of bytes after a window from which the description of a repair in it may quote.
pub const AHEAD: usize = 128;

/// A window of a file.
#[derive(Debug, Clone)]
pub struct Window<'b> {
    /// The bytes before the content of the root, the window, and at least [`AHEAD`] bytes after it, or all up to the end of
    /// the file. There may be others before the window.
    pub bytes: &'b [u8],
    /// The length of the bytes before the content of the root.
    pub head: usize,
    /// The window.
    pub range: Range<usize>,
    /// Whether it ends with the file.
    pub is_last: bool,
}

/// A repaired window.
#[derive(Debug)]
pub struct RepairedWindow {
    /// The bytes before the content of the root, and the window, repaired. The damaged bytes are [`Window::bytes`]; the
    /// first entry of the window has the number 0.
    pub result: Repaired,
    /// Whether the first anchor is needed only if offsets moved before the window.
    is_first_anchor_conditional: bool,
    entries: u32,
    moved: Moved,
    log: RepairLog,
    pieces: usize,
    nesting: NestingSummary,
}

impl RepairedWindow {
    /// Repairs a window. `memory` is that of an earlier result. `None` if the file must be repaired as a whole.
    pub fn of(window: &Window<'_>, memory: Repaired) -> Option<Self> {
        let Window { bytes: source, head, range, is_last } = window;
        let mut repairer = Repairer::new(source);
        (repairer.out, repairer.log.repairs, repairer.anchors) = (memory.bytes, memory.repairs, memory.anchors);
        repairer.placed = Some(memory.placed.cleared());
        repairer.out.truncate(0);
        repairer.log.repairs.clear();
        repairer.anchors.clear();
        let is_head = prolog::write(&mut repairer) == Some(*head) && source.get(..*head) == Some(&*repairer.out);
        if !is_head || !repairer.log.repairs.is_empty() || repairer.root.is_empty {
            return None;
        }
        repairer.soundness = Some(SoundnessCheck::new(source).of_segment(range.len(), true));
        (repairer.entries, repairer.moved) = (ENTRIES_BEFORE, Moved::Unknown);
        // As in a segment, the repair stops where the whole file matters.
        repairer.needed_before = Some(0);
        let reached = repairer.run(range.start, range.end)?;
        let is_complete = if *is_last {
            !source.get(reached..range.end)?.contains(&b'<')
        } else {
            reached == range.end && ends_entry(&mut repairer, range.end)
        };
        if !is_complete || !repairer.needed.is_empty() || repairer.tokens.need_what_follows() {
            return None;
        }
        if *is_last {
            repairer.needed_before = None;
            segments::repair_rest(&mut repairer, reached);
        }
        let pieces = repairer.peak_pieces.max(repairer.pieces());
        let (entries, moved) = (repairer.entries - ENTRIES_BEFORE, repairer.moved);
        let is_first_anchor_conditional = repairer.is_first_anchor_conditional;
        let nesting = repairer.nesting.summary();
        let mut log = std::mem::replace(&mut repairer.log, RepairLog::new(0));
        repairer.log.repairs = std::mem::take(&mut log.repairs);
        let mut result = repairer.finish();
        // These repairs depend on the number of entries before them.
        let is_of_file = |repair: &FoundDefect| matches!(repair.kind, Defect::Concatenated | Defect::Truncated);
        if result.repairs.iter().any(is_of_file) {
            return None;
        }
        for entry in result.repairs.iter_mut().filter_map(|repair| repair.entry.as_mut()) {
            *entry -= ENTRIES_BEFORE;
        }
        Some(Self { result, is_first_anchor_conditional, entries, moved, log, pieces, nesting })
    }
}

/// Closes the last entry if another one starts at `at`. Returns whether an entry has ended, and what follows it is repaired
/// independently of what was before.
fn ends_entry(repairer: &mut Repairer<'_>, at: usize) -> bool {
    if closing::is_only_entry_open(repairer) && closing::is_entry_start(repairer, at) {
        closing::close_entry_before(repairer, at);
    }
    let is_closed = repairer.elements.stack.is_empty() && repairer.nesting.has_no_wrapper();
    is_closed && repairer.empty_entry.is_none() && !repairer.root.is_closed
}

/// Joins what the repairs of windows have found.
#[derive(Debug)]
pub struct WindowJoiner {
    /// The number of entries so far.
    pub entries: u32,
    moved: Moved,
    log: RepairLog,
    pieces: usize,
    /// Whether an end tag in a later window may be that of an earlier entry.
    has_unclosed_entry: bool,
    file_len: usize,
}

impl WindowJoiner {
    /// After the undamaged beginning of a file of `file_len` bytes, with so many entries.
    pub fn after(entries: u32, file_len: usize) -> Self {
        let (log, has_unclosed_entry) = (RepairLog::new(file_len), false);
        Self { entries, moved: Moved::No, log, pieces: 0, has_unclosed_entry, file_len }
    }

    /// Whether the first anchor of the next window is needed.
    pub fn needs_first_anchor(&self, window: &RepairedWindow) -> bool {
        !window.is_first_anchor_conditional || self.moved != Moved::No
    }

    /// Appends the next window. Returns its result, or `None` if the file must be repaired as a whole.
    pub fn append(&mut self, window: RepairedWindow) -> Option<Repaired> {
        let RepairedWindow { result, entries, moved, log, pieces, nesting, .. } = window;
        let is_independent = !(self.has_unclosed_entry && nesting.seeks_entry);
        if !is_independent || self.pieces + pieces > max_pieces(self.file_len) || !self.log.can_append(&log) {
            return None;
        }
        self.has_unclosed_entry |= nesting.has_entry;
        self.pieces += pieces;
        self.log.append(log, self.entries);
        self.entries += entries;
        if moved != Moved::Unknown {
            self.moved = moved;
        }
        Some(result)
    }
}
