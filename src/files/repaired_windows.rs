//! The windows in which a damaged file is repaired, one at a time and independently of each other.

use super::buffers::Buffers;
use super::conflict;
use super::disk::OnDisk;
use super::error::{Error, Reason};
use super::ordered_pool::{MaxBytes, in_order};
use super::window::{Piece, WINDOW, open_unchanged};
use crate::document::lines::{Anchor, LineColumn, Lines};
use crate::document::quirk::Quirk;
use crate::file_bytes::FileBytes;
use crate::xml::defect::FoundDefect;
use crate::xml::repair::windows::{AHEAD, RepairedWindow, Window};
use crate::xml::repair::{Repaired, expected_len};
use crate::xml::scan::{MAX_SEARCH, next_entry_end, next_entry_start};
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of bytes after a window that are read with it, and searched for its end: nearly every entry is shorter.
const NEAR: usize = 4 << 10;

/// The windows of a file. They follow its undamaged beginning.
#[derive(Debug)]
pub struct RepairedWindows {
    /// The bytes before the content of the root.
    head: Box<[u8]>,
    /// The end of the undamaged beginning.
    start: usize,
    /// The length of the file as stored.
    stored_len: usize,
    /// The number of windows.
    count: usize,
    /// The starts of the windows that were repaired.
    starts: Vec<WindowStart>,
}

/// Where a window starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowStart {
    /// The offset in the repaired file.
    pub(super) offset: u32,
    /// Line and column in the stored file.
    pub(super) position: LineColumn,
    /// See [`WindowJoiner::needs_first_anchor`](crate::xml::repair::windows::WindowJoiner::needs_first_anchor).
    pub(super) needs_first_anchor: bool,
}

/// The memory of a window, which others reuse: clearing new memory takes longer than writing to it.
#[derive(Default)]
pub(super) struct Memory {
    /// The bytes as stored, with those before the content of the root.
    pub(super) stored: Vec<u8>,
    pub(super) repaired: Repaired,
    pub(super) quirks: Vec<Quirk>,
}

/// A repaired window with its quirks. Lines and columns are those in a text that begins with the window.
pub(super) struct LocatedWindow {
    /// Its repairs have become quirks.
    pub(super) repaired: RepairedWindow,
    pub(super) quirks: Vec<Quirk>,
    /// The end of the window.
    pub(super) end: LineColumn,
    /// See [`Memory::stored`].
    pub(super) stored: Vec<u8>,
    /// The start of the window in the stored bytes.
    start: usize,
}

impl LocatedWindow {
    /// A repaired window, which is in this range of the stored bytes; `is_ascii` is whether these are ASCII. `quirks` is empty
    /// memory for quirks.
    fn of(
        mut repaired: RepairedWindow,
        stored: Vec<u8>,
        range: Range<usize>,
        is_ascii: bool,
        mut quirks: Vec<Quirk>,
    ) -> Self {
        let mut lines = lines_from(&stored, range.start).with_ascii(is_ascii);
        let repairs = repaired.result.repairs.drain(..);
        quirks.extend(repairs.map(|FoundDefect { kind, at, entry, what }| Quirk {
            kind,
            at: lines.position(at),
            entry,
            what,
        }));
        let end = lines.position(range.end);
        Self { repaired, quirks, end, stored, start: range.start }
    }

    /// The anchors in its repaired bytes, in a file that has `head` bytes before the content of the root, which are
    /// repeated in them, and in which the window starts here.
    pub(super) fn anchors(&self, head: usize, start: &WindowStart) -> Vec<Anchor> {
        let mut lines = lines_from(&self.stored, self.start);
        let anchors = self.repaired.result.anchors.iter().skip(usize::from(!start.needs_first_anchor));
        let anchor = |(ours, theirs): &(usize, usize)| {
            ((ours - head) as u32 + start.offset, lines.position(*theirs).after(start.position))
        };
        anchors.map(anchor).collect()
    }

    fn into_memory(self) -> Memory {
        Memory { stored: self.stored, repaired: self.repaired.result, quirks: self.quirks }
    }
}

/// Counts the lines of a window that starts at `start` in the stored bytes.
const fn lines_from(stored: &[u8], start: usize) -> Lines<'_> {
    Lines::new(stored).continued(start, LineColumn::START)
}

impl RepairedWindows {
    /// The windows of a file of `stored_len` bytes, whose undamaged beginning ends at `start`. `head` are the bytes before
    /// the content of the root.
    pub(super) fn after(start: usize, head: &[u8], stored_len: usize) -> Self {
        let count = ((stored_len - start) / WINDOW).max(1);
        Self { head: head.into(), start, stored_len, count, starts: Vec::new() }
    }

    /// The end of the undamaged beginning, in bytes.
    pub(super) const fn start(&self) -> u32 {
        self.start as u32
    }

    /// Whether this is the number of the last window.
    pub(super) const fn is_last(&self, number: usize) -> bool {
        number + 1 == self.count
    }

    /// These windows, which start here.
    pub(super) fn starting_at(self, starts: Vec<WindowStart>) -> Self {
        Self { starts, ..self }
    }

    /// Repairs all windows on all cores: passes each with its number to `examine`, and the results in order to `take`, which
    /// returns the memory of a window. Returns false, and stops, if one of them returns `None`, or a window cannot be
    /// repaired without the rest of the file.
    pub(super) fn each<T: Send>(
        &self,
        on_disk: &OnDisk,
        examine: impl Fn(usize, LocatedWindow) -> Option<T> + Sync,
        mut take: impl FnMut(T) -> Option<Memory>,
    ) -> bool {
        let (unused, waiting): (Mutex<Vec<Memory>>, Mutex<HashMap<usize, T>>) = Default::default();
        let work = |number: &usize| {
            let memory = lock(&unused).pop().unwrap_or_default();
            let examined = self.repair(on_disk, *number, memory).and_then(|window| examine(*number, window));
            examined.map(|examined| lock(&waiting).insert(*number, examined)).is_some()
        };
        let (numbers, mut taken): (Vec<usize>, usize) = ((0..self.count).collect(), 0);
        in_order_dyn(&numbers, &work, &mut |number, _| {
            let examined = lock(&waiting).remove(number);
            let memory = examined.and_then(&mut take);
            let is_taken = memory.is_some();
            taken += usize::from(is_taken);
            lock(&unused).extend(memory);
            is_taken
        });
        taken == self.count
    }

    /// Repairs windows again, one at a time: those for which `is_needed` is true of their start and end in the repaired
    /// file. Passes them to `visit` until it returns false.
    ///
    /// # Errors
    /// The file cannot be read, or has changed.
    pub(super) fn each_needed(
        &self,
        on_disk: &OnDisk,
        is_needed: impl Fn(u32, u32) -> bool,
        mut visit: impl FnMut(Piece<'_, '_>) -> bool,
    ) -> Result<(), Error> {
        let mut memory = Memory::default();
        let ends = self.starts.iter().skip(1).map(|next| next.offset).chain([u32::MAX]);
        for (number, (start, end)) in self.starts.iter().zip(ends).enumerate() {
            if !is_needed(start.offset, end) {
                continue;
            }
            let window = self.repair(on_disk, number, memory);
            let Some(window) = window else { return Err(Error::new(&on_disk.path, Reason::Changed)) };
            let head = self.head.len();
            let anchors = window.anchors(head, &WindowStart { offset: 0, ..*start });
            let bytes = window.repaired.result.bytes.get(head..).unwrap_or_default();
            let mut lines = Lines::anchored(bytes, &anchors).continued(0, start.position);
            if !visit(Piece { bytes, start: start.offset, lines: &mut lines }) {
                break;
            }
            memory = window.into_memory();
        }
        Ok(())
    }

    /// All bytes of the file, repaired, in one of these buffers, with their anchors.
    ///
    /// # Errors
    /// The file cannot be read, or has changed.
    pub(super) fn read(&self, on_disk: &OnDisk, buffers: &Buffers) -> Result<(FileBytes, Vec<Anchor>), Error> {
        let changed = || Error::new(&on_disk.path, Reason::Changed);
        let failed = |error| Error::system("read", &on_disk.path, error);
        let (mut bytes, beginning) = (buffers.take(expected_len(self.stored_len)).map_err(failed)?, self.start as u64);
        if bytes.append_from(&mut open_unchanged(on_disk)?.file, beginning).map_err(failed)? < beginning {
            return Err(changed());
        }
        let (mut anchors, head) = (Vec::new(), self.head.len());
        let is_repaired = self.each(
            on_disk,
            |number, window| Some((window.anchors(head, self.starts.get(number)?), window)),
            |(of_window, window)| {
                anchors.extend(of_window);
                bytes.extend_from_slice(window.repaired.result.bytes.get(head..)?);
                Some(window.into_memory())
            },
        );
        if is_repaired { Ok((bytes, anchors)) } else { Err(changed()) }
    }

    /// The range of a window in the stored file. It starts and ends at the [`boundary`] that follows, except at the start of
    /// the first and the end of the last one.
    fn range(&self, number: usize) -> Range<usize> {
        let len = self.stored_len - self.start;
        let offset =
            |number| if number == self.count { self.stored_len } else { self.start + len / self.count * number };
        offset(number)..offset(number + 1)
    }

    /// Reads and repairs a window, and locates its repairs. `None` if the file must be read as a whole.
    fn repair(&self, on_disk: &OnDisk, number: usize, memory: Memory) -> Option<LocatedWindow> {
        let (head, range) = (&*self.head, self.range(number));
        let Memory { mut stored, repaired, mut quirks } = memory;
        quirks.clear();
        stored.clear();
        stored.extend_from_slice(head);
        let mut opened = open_unchanged(on_disk).ok()?;
        opened.file.seek(SeekFrom::Start(range.start as u64)).ok()?;
        let mut rest = opened.file.take((self.stored_len - range.start) as u64);
        let nominal_end = head.len() + range.len();
        read_to(&mut rest, &mut stored, nominal_end + NEAR)?;
        let start = if number == 0 { head.len() } else { boundary(&mut rest, &mut stored, head.len())? };
        let is_last = self.is_last(number);
        let end = if is_last { nominal_end } else { boundary(&mut rest, &mut stored, nominal_end)? };
        read_to(&mut rest, &mut stored, end + AHEAD)?;
        let text = stored.get(start..end)?;
        let is_ascii = text.is_ascii();
        if conflict::has_sign(text) || !is_ascii && simdutf8::basic::from_utf8(text).is_err() {
            return None;
        }
        let window = Window { bytes: &stored, head: head.len(), range: start..end, is_last };
        let repaired = RepairedWindow::of(&window, repaired)?;
        Some(LocatedWindow::of(repaired, stored, start..end, is_ascii, quirks))
    }
}

/// [`in_order`], compiled once and not for each kind of visitor.
fn in_order_dyn(numbers: &[usize], work: &(dyn Fn(&usize) -> bool + Sync), take: &mut dyn FnMut(&usize, bool) -> bool) {
    in_order(numbers, MaxBytes { max: u64::MAX, size: |_: &usize| 0 }, work, take);
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads on until `stored` has `len` bytes, or to the end of the file. `None` if that fails.
fn read_to(file: &mut impl Read, stored: &mut Vec<u8>, len: usize) -> Option<()> {
    let missing = len.saturating_sub(stored.len());
    file.by_ref().take(missing as u64).read_to_end(stored).ok().map(|_| ())
}

/// The offset at or after `from` where one window ends and the next one starts: after the first end tag of an entry or, if
/// there is none in [`MAX_SEARCH`] bytes, at the first start tag of one. It depends on the bytes after `from` only.
fn boundary(file: &mut impl Read, stored: &mut Vec<u8>, from: usize) -> Option<usize> {
    read_to(file, stored, from + NEAR)?;
    let near = stored.get(..stored.len().min(from + NEAR))?;
    if let Some(end) = next_entry_end(near, from) {
        return Some(end);
    }
    read_to(file, stored, from + MAX_SEARCH)?;
    next_entry_end(stored, from).or_else(|| next_entry_start(stored, from))
}
