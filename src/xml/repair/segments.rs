//! Repairs a large file in segments, on all cores.
//!
//! A segment starts after an end tag of an entry. Its repair assumes that no element is open there, and that the
//! segments before it declare no namespaces. If the repair of those shows otherwise, such as for an end tag inside a
//! comment, the segment is repaired again as a part of the one before it. A property test compares the result with that
//! of a repair in one piece.

use super::log::RepairLog;
use super::sound_entries::SoundnessCheck;
use super::{Moved, Repairer};
use rayon::prelude::*;

/// Minimum size of a segment, in bytes.
const MIN_SEGMENT: usize = 1 << 20;

/// The number that segments give to the entry before them.
const ENTRY_BEFORE: u32 = 1;

/// A segment: its start, its repair, and the offset up to which it is repaired.
struct Segment<'b> {
    start: usize,
    repairer: Repairer<'b>,
    end: Option<usize>,
}

impl<'b> Repairer<'b> {
    /// Repairs the file after the root's start tag, in segments if it is large.
    pub(super) fn body_in_segments(&mut self, from: usize) {
        let rest = self.bytes.len().saturating_sub(from);
        let count = rayon::current_num_threads().min(rest / MIN_SEGMENT);
        let starts: Vec<usize> =
            (1..count).filter_map(|number| self.segment_start(from + rest / count * number)).collect();
        self.body_from_starts(from, &starts);
    }

    /// The first offset after `from` that follows an end tag of an entry.
    fn segment_start(&self, from: usize) -> Option<usize> {
        let tag = [b"</", self.names.kind.entry_name().as_bytes(), b">"].concat();
        Some(from + memchr::memmem::find(self.bytes.get(from..)?, &tag)? + tag.len())
    }

    /// Repairs the file after the root's start tag, in segments with these starts.
    pub(super) fn body_from_starts(&mut self, from: usize, starts: &[usize]) {
        if starts.is_empty() || self.closed.is_some() {
            return self.body(from);
        }
        let ends = starts.iter().skip(1).copied().chain([self.bytes.len()]);
        let mut segments: Vec<(Segment<'b>, usize)> = starts
            .iter()
            .zip(ends)
            .map(|(start, end)| (Segment { start: *start, repairer: self.segment(end - start), end: None }, end))
            .collect();
        let (mut end, ()) = rayon::join(
            || self.run(from, starts.first().copied().unwrap_or(from)),
            || {
                segments.par_iter_mut().for_each(|(segment, end)| {
                    segment.end = segment.repairer.run(segment.start, *end);
                });
            },
        );
        for (segment, _) in segments {
            // A segment that was not taken over is repaired here.
            end = end.and_then(|end| self.run(end, segment.start));
            if end == Some(segment.start) && self.can_append(&segment.repairer) {
                end = segment.end;
                self.append(segment.repairer);
            }
        }
        if let Some(end) = end {
            self.body(end);
        }
    }

    /// A repairer for a segment of about `len` bytes of the same file.
    fn segment(&self, len: usize) -> Self {
        Self {
            out: Vec::with_capacity(len + len / 64 + 256),
            log: RepairLog::new(self.bytes.len()),
            moved: Moved::Unknown,
            entities: self.entities.clone(),
            needed: self.needed.clone(),
            names: self.names.clone(),
            soundness: self.soundness.is_some().then(|| SoundnessCheck::new(self.bytes)),
            root: self.root.clone(),
            entries: ENTRY_BEFORE,
            needed_before: Some(self.needed.len()),
            ..Self::new(self.bytes)
        }
    }

    /// Whether the state after what was repaired is the one that a segment assumes, and no limit is exceeded with it.
    fn can_append(&self, segment: &Self) -> bool {
        self.elements.stack.is_empty()
            && self.nesting.len() == 0
            && self.empty_entry.is_none()
            && self.closed.is_none()
            && self.entries > 0
            && segment.needed_before == Some(self.needed.len())
            && self.pieces() + segment.most_pieces <= self.max_pieces()
            && self.log.can_append(&segment.log)
    }

    /// Appends the repair of the segment that follows.
    fn append(&mut self, segment: Self) {
        let (shift, entries, repairs) = (self.out.len(), self.entries - ENTRY_BEFORE, self.log.repairs.len());
        self.out.extend_from_slice(&segment.out);
        // An anchor is needed only if offsets differ since the last one.
        let redundant = usize::from(segment.is_first_anchor_unsure && self.moved == Moved::No);
        let anchors = segment.anchors.into_iter().skip(redundant);
        self.anchors.extend(anchors.map(|(ours, theirs)| (ours + shift, theirs)));
        if segment.moved != Moved::Unknown {
            self.moved = segment.moved;
        }
        self.log.append(segment.log, entries);
        self.nesting = segment.nesting;
        self.nesting.shift(entries, repairs);
        self.entries += segment.entries - ENTRY_BEFORE;
        self.elements = segment.elements;
        self.elements.shift(shift);
        self.empty_entry = segment.empty_entry;
        if let Some(entry) = &mut self.empty_entry {
            entry.tag += shift;
            entry.close += shift;
            entry.end += shift;
        }
        self.closed = segment.closed.map(|(start, end)| (start + shift, end + shift));
        (self.needed, self.names, self.inside) = (segment.needed, segment.names, segment.inside);
        self.root.is_closed |= segment.root.is_closed;
    }
}
