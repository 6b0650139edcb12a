//! Repairs the file after the root's start tag: in segments on all cores if it is large.
//!
//! A segment starts after an end tag of an entry. Its repair assumes that no element is open there, and that the
//! segments before it need no more namespace declarations. If their repair shows otherwise, such as for an end tag
//! inside a comment, the segment is repaired again as a part of the one before it. A property test compares the result
//! with that of a repair in one piece.

use super::log::RepairLog;
use super::sound_entries::SoundnessCheck;
use super::{Moved, Repairer, max_pieces};
use rayon::prelude::*;
use std::ops::Range;

/// Minimum size of a segment, in bytes.
const MIN_SEGMENT: usize = 1 << 20;

/// The number of entries that a segment assumes before it; appending the segment corrects it.
const ENTRIES_BEFORE: u32 = 1;

/// Repairs the file after the root's start tag, which ends at `from`.
pub(super) fn repair_body(repairer: &mut Repairer<'_>, from: usize) {
    let rest = repairer.bytes.len().saturating_sub(from);
    let count = rayon::current_num_threads().min(rest / MIN_SEGMENT);
    let tag = [b"</", repairer.names.kind.entry_name().as_bytes(), b">"].concat();
    let after_end_tag = |number: usize| {
        let middle = from + rest / count * number;
        Some(middle + memchr::memmem::find(repairer.bytes.get(middle..)?, &tag)? + tag.len())
    };
    let starts: Vec<usize> = (1..count).filter_map(after_end_tag).collect();
    repair_segments(repairer, from, &starts);
}

/// Repairs the file from `from` to its end in one piece.
pub(super) fn repair_rest(repairer: &mut Repairer<'_>, from: usize) {
    if let Some(at) = repairer.run(from, usize::MAX) {
        let end = repairer.bytes.len();
        repairer.gap(at, end);
        repairer.end_truncated(end);
    }
}

/// Repairs the file from `from` to its end, in segments with these starts.
pub(super) fn repair_segments(repairer: &mut Repairer<'_>, from: usize, starts: &[usize]) {
    let Some(first) = starts.first().filter(|_| repairer.closed.is_none()) else {
        return repair_rest(repairer, from);
    };
    let ends = starts.iter().skip(1).copied().chain([repairer.bytes.len()]);
    let mut segments: Vec<Segment<'_>> =
        starts.iter().zip(ends).map(|(start, end)| Segment::after(repairer, *start..end)).collect();
    let (mut end, ()) =
        rayon::join(|| repairer.run(from, *first), || segments.par_iter_mut().for_each(Segment::repair));
    for segment in segments {
        // Repairs the segments again that could not be appended, up to this one.
        end = end.and_then(|end| repairer.run(end, segment.range.start));
        if end == Some(segment.range.start) && segment.can_follow(repairer) {
            end = segment.end;
            segment.append_to(repairer);
        }
    }
    if let Some(end) = end {
        repair_rest(repairer, end);
    }
}

/// A segment with its repair.
struct Segment<'b> {
    range: Range<usize>,
    repairer: Repairer<'b>,
    /// The offset up to which it is repaired.
    end: Option<usize>,
}

impl<'b> Segment<'b> {
    /// Prepares a segment of the file that `before` repairs.
    fn after(before: &Repairer<'b>, range: Range<usize>) -> Self {
        let bytes = before.bytes;
        let repairer = Repairer {
            out: Vec::with_capacity(range.len() + range.len() / 64 + 256),
            log: RepairLog::new(bytes.len()),
            moved: Moved::Unknown,
            entities: before.entities.clone(),
            needed: before.needed.clone(),
            names: before.names.clone(),
            soundness: before.soundness.is_some().then(|| SoundnessCheck::new(bytes)),
            root: before.root.clone(),
            entries: ENTRIES_BEFORE,
            needed_before: Some(before.needed.len()),
            ..Repairer::new(bytes)
        };
        Self { range, repairer, end: None }
    }

    fn repair(&mut self) {
        self.end = self.repairer.run(self.range.start, self.range.end);
    }

    /// Whether `before` ends in the state that the segment assumes, and both together exceed no limit.
    fn can_follow(&self, before: &Repairer<'b>) -> bool {
        before.elements.stack.is_empty()
            && before.nesting.len() == 0
            && before.empty_entry.is_none()
            && before.closed.is_none()
            && before.entries > 0
            && self.repairer.needed_before == Some(before.needed.len())
            && before.pieces() + self.repairer.peak_pieces <= max_pieces(before.bytes.len())
            && before.log.can_append(&self.repairer.log)
    }

    /// Appends the repair to that of the segments before it.
    fn append_to(self, before: &mut Repairer<'b>) {
        let segment = self.repairer;
        let (shift, entries, repairs) = (before.out.len(), before.entries - ENTRIES_BEFORE, before.log.repairs.len());
        before.out.extend_from_slice(&segment.out);
        // An anchor is needed only if offsets differ since the last one.
        let redundant = usize::from(segment.is_first_anchor_conditional && before.moved == Moved::No);
        let anchors = segment.anchors.into_iter().skip(redundant);
        before.anchors.extend(anchors.map(|(ours, theirs)| (ours + shift, theirs)));
        if segment.moved != Moved::Unknown {
            before.moved = segment.moved;
        }
        before.log.append(segment.log, entries);
        before.nesting = segment.nesting;
        before.nesting.shift(entries, repairs);
        before.entries += segment.entries - ENTRIES_BEFORE;
        before.elements = segment.elements;
        before.elements.shift(shift);
        before.empty_entry = segment.empty_entry;
        if let Some(entry) = &mut before.empty_entry {
            entry.tag += shift;
            entry.close += shift;
            entry.end += shift;
        }
        before.closed = segment.closed.map(|(start, end)| (start + shift, end + shift));
        (before.needed, before.names, before.inside) = (segment.needed, segment.names, segment.inside);
        before.root.is_closed |= segment.root.is_closed;
    }
}
