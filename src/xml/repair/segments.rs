//! Repairs the file after the root's start tag: in segments on all cores if it is large.
//!
//! A segment starts after an end tag of an entry or, if there is none, at a start tag of an entry, where the entry before
//! it is closed. Its repair assumes that no other element is open there, and that the segments before it need no more
//! namespace declarations. If their repair shows otherwise, such as for an end tag
//! inside a comment, the segment is repaired again as a part of the one before it. A property test compares the result
//! with that of a repair in one piece.
//!
//! Segments are repaired in file order. The thread that has repaired the next one appends it, and those after it that
//! are ready, while others repair further segments. So few of them are in memory at the same time.

use super::log::RepairLog;
use super::{Moved, Repairer, closing, max_pieces, output_of};
use crate::file_bytes::FileBytes;
use crate::xml::defect::FoundDefect;
use rayon::prelude::*;
use std::iter::Enumerate;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::vec;

/// Minimum size of a segment, in bytes.
const MIN_SEGMENT: usize = 1 << 20;

/// Maximum number of segments for each core: small ones stay in its cache, but a search for the end of a token can reach
/// the end of the file once in each.
const SEGMENTS_PER_CORE: usize = 16;

/// The number of entries that a segment, or a window, assumes before it; appending it corrects the number.
pub(super) const ENTRIES_BEFORE: u32 = 1;

/// Repairs the file after the root's start tag, which ends at `from`.
pub(super) fn repair_body(repairer: &mut Repairer<'_>, from: usize) {
    let rest = repairer.bytes.len().saturating_sub(from);
    let cores = rayon::current_num_threads();
    let count = if cores > 1 { (cores * SEGMENTS_PER_CORE).min(rest / MIN_SEGMENT) } else { 0 };
    let name = repairer.names.kind.entry_name().as_bytes();
    let (start_tag, end_tag) = ([b"<", name, b">"].concat(), [b"</", name, b">"].concat());
    let start_of = |number: usize| {
        let start = from + rest / count * number;
        let segment = repairer.bytes.get(start..start + rest / count)?;
        let after_end = memchr::memmem::find(segment, &end_tag).map(|at| at + end_tag.len());
        Some(start + after_end.or_else(|| memchr::memmem::find(segment, &start_tag))?)
    };
    let starts: Vec<usize> = (1..count).filter_map(start_of).collect();
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
    let segments: Vec<Segment<'_>> =
        starts.iter().zip(ends).map(|(start, end)| Segment::after(repairer, *start..end)).collect();
    let queue = Mutex::new(SegmentQueue::new(segments));
    rayon::join(
        || {
            let end = repairer.run(from, *first);
            queue.lock().unwrap_or_else(PoisonError::into_inner).appender = Some(Appender { repairer, end });
            append_repaired(&queue);
            repair_waiting(&queue);
        },
        || (1..rayon::current_num_threads()).into_par_iter().for_each(|_| repair_waiting(&queue)),
    );
    let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(Appender { repairer, end: Some(end) }) = queue.appender {
        repair_rest(repairer, end);
    }
}

/// Appends segments to the repair of the file before them.
struct Appender<'r, 'b> {
    repairer: &'r mut Repairer<'b>,
    /// The offset up to which it is repaired; `None` if the repair has ended.
    end: Option<usize>,
}

/// The memory of a segment, which others reuse: clearing new memory takes longer than writing to it.
#[derive(Default)]
struct Buffers {
    out: FileBytes,
    repairs: Vec<FoundDefect>,
    anchors: Vec<(usize, usize)>,
}

/// The segments of a file that are repaired and appended by several threads.
struct SegmentQueue<'r, 'b> {
    /// `None` before the part of the file before the first segment is repaired, and while a thread appends.
    appender: Option<Appender<'r, 'b>>,
    /// Segments to be repaired, in file order, with their numbers.
    waiting: Enumerate<vec::IntoIter<Segment<'b>>>,
    /// Repaired segments by their numbers, until they are appended.
    repaired: Vec<Option<Segment<'b>>>,
    /// The number of the next segment to be appended.
    next: usize,
    /// Memory of appended segments.
    buffers: Vec<Buffers>,
}

impl<'r, 'b> SegmentQueue<'r, 'b> {
    fn new(segments: Vec<Segment<'b>>) -> Self {
        let repaired = segments.iter().map(|_| None).collect();
        Self { appender: None, waiting: segments.into_iter().enumerate(), repaired, next: 0, buffers: Vec::new() }
    }

    /// The next segment to be repaired.
    fn next_waiting(&mut self) -> Option<(usize, Segment<'b>)> {
        let (number, mut segment) = self.waiting.next()?;
        let Buffers { out, mut repairs, mut anchors } = self.buffers.pop().unwrap_or_default();
        repairs.clear();
        anchors.clear();
        (segment.repairer.out, segment.repairer.log.repairs, segment.repairer.anchors) = (out, repairs, anchors);
        Some((number, segment))
    }

    /// The appender and the next segment to be appended, if both are there.
    fn next_repaired(&mut self) -> Option<(Appender<'r, 'b>, Segment<'b>)> {
        let segment = self.repaired.get_mut(self.next).filter(|_| self.appender.is_some())?.take()?;
        self.next += 1;
        Some((self.appender.take()?, segment))
    }
}

/// Repairs segments until none is left.
fn repair_waiting(queue: &Mutex<SegmentQueue<'_, '_>>) {
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some((number, mut segment)) = lock().next_waiting() else { return };
        segment.repair();
        if let Some(place) = lock().repaired.get_mut(number) {
            *place = Some(segment);
        }
        append_repaired(queue);
    }
}

/// Reserves memory for the items of one segment, and as many of each further one: to grow later would copy them to new
/// memory.
fn reserve<T>(items: &mut Vec<T>, of_segment: usize, segments: usize) {
    if items.capacity() - items.len() < of_segment {
        // Without that much memory, it grows as it is filled.
        let _ = items.try_reserve(of_segment.saturating_mul(segments));
    }
}

/// Appends the repaired segments whose turn it is, unless another thread does.
fn append_repaired(queue: &Mutex<SegmentQueue<'_, '_>>) {
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some((mut appender, segment)) = lock().next_repaired() else { return };
        let buffer = appender.append(segment);
        let mut queue = lock();
        queue.appender = Some(appender);
        queue.buffers.push(buffer);
    }
}

/// A segment with its repair.
struct Segment<'b> {
    range: Range<usize>,
    repairer: Repairer<'b>,
    /// The offset up to which it is repaired.
    end: Option<usize>,
}

impl<'b> Appender<'_, 'b> {
    /// Appends a segment, or repairs its part of the file again if it cannot follow. Returns its memory.
    fn append(&mut self, segment: Segment<'b>) -> Buffers {
        // The segments before it that could not follow.
        self.end = self.end.and_then(|end| self.repairer.run(end, segment.range.start));
        if self.end == Some(segment.range.start) && segment.can_follow(self.repairer) {
            closing::close_entry_before(self.repairer, segment.range.start);
            self.end = segment.end;
            return segment.append_to(self.repairer);
        }
        let Repairer { out, log, anchors, .. } = segment.repairer;
        Buffers { out, repairs: log.repairs, anchors }
    }
}

impl<'b> Segment<'b> {
    /// Prepares a segment of the file that `before` repairs.
    fn after(before: &Repairer<'b>, range: Range<usize>) -> Self {
        let bytes = before.bytes;
        let end_tag = [b"</", before.names.kind.entry_name().as_bytes(), b">"].concat();
        let is_after_entry = bytes.get(..range.start).is_some_and(|before| before.ends_with(&end_tag));
        let repairer = Repairer {
            log: RepairLog::new(bytes.len()),
            moved: Moved::Unknown,
            entities: before.entities.clone(),
            needed: before.needed.clone(),
            names: before.names.clone(),
            soundness: before.soundness.as_ref().map(|check| check.of_segment(range.len(), is_after_entry)),
            root: before.root.clone(),
            entries: ENTRIES_BEFORE,
            needed_before: Some(before.needed.len()),
            ..Repairer::new(bytes)
        };
        Self { range, repairer, end: None }
    }

    fn repair(&mut self) {
        self.repairer.out.truncate(0);
        if self.repairer.out.capacity() < self.range.len() {
            self.repairer.out = output_of(self.range.len());
        }
        self.end = self.repairer.run(self.range.start, self.range.end);
    }

    /// Whether `before` ends in the state that the segment assumes, and both together exceed no limit.
    fn can_follow(&self, before: &Repairer<'b>) -> bool {
        // Closing the entry before the segment takes two pieces.
        let is_closed = before.elements.stack.is_empty();
        let pieces = before.pieces() + if is_closed { 0 } else { 2 };
        (is_closed || closing::is_only_entry_open(before) && closing::is_entry_start(before, self.range.start))
            && self.repairer.nesting.can_follow(&before.nesting, !is_closed)
            && before.empty_entry.is_none()
            && before.closed.is_none()
            && before.entries > 0
            && self.repairer.needed_before == Some(before.needed.len())
            && pieces + self.repairer.peak_pieces <= max_pieces(before.bytes.len())
            && before.log.can_append(&self.repairer.log)
            && self.repairer.tokens.can_follow(&before.tokens)
    }

    /// Appends the repair to that of the segments before it. Returns the memory.
    fn append_to(self, before: &mut Repairer<'b>) -> Buffers {
        let mut segment = self.repairer;
        let (shift, entries, repairs) = (before.out.len(), before.entries - ENTRIES_BEFORE, before.log.repairs.len());
        before.out.extend_from_slice(&segment.out);
        // The segments from this one to the end of the file.
        let segments = 1 + (before.bytes.len() - self.range.end).div_ceil(self.range.len().max(1));
        reserve(&mut before.anchors, segment.anchors.len(), segments);
        reserve(&mut before.log.repairs, segment.log.repairs.len(), segments);
        // An anchor is needed only if offsets differ since the last one.
        let redundant = usize::from(segment.is_first_anchor_conditional && before.moved == Moved::No);
        let anchors = segment.anchors.drain(..).skip(redundant);
        before.anchors.extend(anchors.map(|(ours, theirs)| (ours + shift, theirs)));
        if segment.moved != Moved::Unknown {
            before.moved = segment.moved;
        }
        let logged = before.log.append(segment.log, entries);
        before.tokens.append(&segment.tokens);
        before.recorder = segment.recorder;
        before.recorder.stop();
        before.nesting.append(segment.nesting, entries, repairs);
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
        Buffers { out: segment.out, repairs: logged, anchors: segment.anchors }
    }
}
