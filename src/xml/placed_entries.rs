//! Placed entries: those of repaired bytes whose fields have known places, so that a scan need not parse them.
//!
//! A repair that writes an entry by a pattern knows its tags, which are those of an earlier entry, and the lengths of its texts.

use super::entry::{Entry, Extensions, TextKind};
use super::fast_path::EntryBytes;
use super::markup::{self, Kind};
use super::names::Names;
use super::parser::Parser;
use crate::protocol::Field;
use std::ops::Range;

/// Placed entries of repaired bytes, in file order.
#[derive(Debug, Default)]
pub(crate) struct PlacedEntries {
    markups: Vec<EntryMarkup>,
    entries: Vec<PlacedEntry>,
}

/// An entry with the lengths of its texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedEntry {
    /// The end of the entry before it. Only blanks are between both.
    pub(super) after: u32,
    /// The start of its start tag.
    pub(super) start: u32,
    pub(super) markup: MarkupNumber,
    pub(super) texts: FieldTexts,
}

/// The texts of the fields of an entry, in file order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FieldTexts([FieldText; Field::ALL.len()]);

/// The length of a text in bytes, and whether it contains a reference.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FieldText {
    pub(super) len: u32,
    pub(super) is_escaped: bool,
}

impl FieldTexts {
    /// Sets a text. An entry with more texts than fields has no [`EntryMarkup`], so that further ones are ignored.
    #[inline]
    pub(super) fn set(&mut self, index: usize, text: FieldText) {
        if let Some(place) = self.0.get_mut(index) {
            *place = text;
        }
    }
}

/// The number of an [`EntryMarkup`].
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkupNumber(u16);

/// The markup of entries that have the same tags, and texts in the same fields.
#[derive(Debug)]
pub(super) struct EntryMarkup {
    /// The first of them, at the start of a text.
    first: Entry,
}

impl EntryMarkup {
    /// The markup of an entry that has these texts between its tags. `None` if it has anything but well-formed fields with
    /// one text each.
    pub(super) fn of(entry: &[u8], texts: &[Range<usize>], names: &Names) -> Option<Self> {
        let tag = markup::next(entry, 0).filter(|tag| tag.start == 0 && tag.kind == Kind::Start)?;
        let mut parser = Parser::of(entry);
        let (first, end) = parser.entry(&EntryBytes { bytes: entry, lead: 0, names }, &tag, b"");
        // Anomalies depend only on the tags. Extension elements are listed by the parser.
        let is_plain = end == entry.len() && parser.damage.list.is_empty() && first.extensions == Extensions::default();
        let fields = || first.fields.iter().flatten();
        let has_texts = fields().all(|field| field.text <= TextKind::Escaped)
            && fields().map(|field| field.inner_start as usize..field.inner_end as usize).eq(texts.iter().cloned());
        (is_plain && has_texts).then_some(Self { first })
    }

    /// Writes a placed entry with this markup to `entry`; `lead` is the start of its text in `bytes`.
    #[inline]
    fn place(&self, placed: &PlacedEntry, lead: usize, bytes: &[u8], entry: &mut Entry) {
        *entry = self.first;
        // How far a position is behind that in the first entry; it may be before it.
        let mut shift = placed.start.wrapping_sub(lead as u32);
        entry.open = entry.open.wrapping_add(shift);
        entry.open_end = entry.open_end.wrapping_add(shift);
        for (span, text) in entry.fields.iter_mut().flatten().zip(&placed.texts.0) {
            span.start = span.start.wrapping_add(shift);
            let first_len = span.inner_end - span.inner_start;
            span.inner_start = span.inner_start.wrapping_add(shift);
            shift = shift.wrapping_add(text.len).wrapping_sub(first_len);
            span.inner_end = span.inner_start.wrapping_add(text.len);
            span.end = span.end.wrapping_add(shift);
            span.text = if text.is_escaped { TextKind::Escaped } else { TextKind::Plain };
            (span.value_start, span.value_end) = (span.inner_start, span.inner_end);
            let inner = lead + span.inner_start as usize..lead + span.inner_end as usize;
            if let Some([first, .., last] | [first @ last]) = bytes.get(inner.clone())
                && (markup::is_space(*first) || markup::is_space(*last))
            {
                let (start, end) = markup::trim(bytes, inner.start, inner.end);
                (span.value_start, span.value_end) = ((start - lead) as u32, (end - lead) as u32);
            }
        }
        entry.close = entry.close.wrapping_add(shift);
        entry.len = entry.len.wrapping_add(shift);
    }
}

impl PlacedEntries {
    /// The memory of these entries, for others.
    pub(super) fn cleared(mut self) -> Self {
        self.markups.clear();
        self.entries.clear();
        self
    }

    /// Adds a markup.
    pub(super) fn add_markup(&mut self, markup: EntryMarkup) -> Option<MarkupNumber> {
        let number = u16::try_from(self.markups.len()).ok()?;
        self.markups.push(markup);
        Some(MarkupNumber(number))
    }

    /// Adds the next entry.
    #[inline]
    pub(super) fn push(&mut self, placed: PlacedEntry) {
        self.entries.push(placed);
    }

    /// The number of entries.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A cursor before the first entry.
    pub(crate) fn cursor(&self) -> PlacedCursor<'_> {
        PlacedCursor { markups: &self.markups, rest: &self.entries }
    }
}

/// The placed entries that a scan has not reached.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlacedCursor<'o> {
    markups: &'o [EntryMarkup],
    rest: &'o [PlacedEntry],
}

impl PlacedCursor<'_> {
    /// Writes the entry that follows the end of another one at `end` to `entry`, and returns true, if it is placed.
    #[inline]
    pub(super) fn next_after(&mut self, end: usize, bytes: &[u8], entry: &mut Entry) -> bool {
        // Most scans are of bytes without any.
        !self.rest.is_empty() && self.find_after(end, bytes, entry)
    }

    #[inline(never)]
    fn find_after(&mut self, end: usize, bytes: &[u8], entry: &mut Entry) -> bool {
        while let Some((next, rest)) = self.rest.split_first() {
            if next.after as usize > end {
                return false;
            }
            self.rest = rest;
            if next.after as usize == end {
                let Some(markup) = self.markups.get(usize::from(next.markup.0)) else { return false };
                markup.place(next, end, bytes, entry);
                return true;
            }
        }
        false
    }
}
