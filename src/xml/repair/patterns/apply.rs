//! Applies patterns: finds the texts of an entry, and writes the entry with its repairs.

use super::super::super::fast_path::{long_text_before_tag, text_before_tag};
use super::super::super::markup::{self, Kind, Markup};
use super::super::elements::{Level, Open};
use super::super::text::TextContext;
use super::super::{Repairer, closing, max_pieces};
use super::{Description, Note, Part, Pattern, Patterns, Text};
use crate::progress::note_work;
use crate::xml::placed_entries::{FieldText, FieldTexts, PlacedEntry};
use memchr::{memchr, memchr3};
use std::borrow::Cow;
use std::ops::Range;

/// Which patterns may be applied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Allowed {
    /// Those of entries with damage in their values only.
    Sound,
    All,
}

/// A text of an entry that is compared with a pattern.
pub(super) struct EntryText {
    range: Range<usize>,
    context: TextContext,
    /// The offset before which it has nothing that may need a repair, except for what the [`Suspects`] say: its end if it has
    /// neither `&` nor `<`.
    bare_to: usize,
}

/// An entry that matches a pattern, by its offsets in the file.
struct FoundEntry {
    /// The start of the blanks before it that are written with it.
    blanks: usize,
    start: usize,
    end: usize,
}

/// What is searched for in the texts of an entry, besides markup.
#[derive(Clone, Copy)]
struct Suspects {
    /// Whether the entry has a character that XML does not allow.
    illegal: bool,
    /// Whether the file has `]]>`.
    brackets: bool,
}

impl Suspects {
    const fn any(self) -> bool {
        self.illegal || self.brackets
    }
}

/// Repairs the entry that starts with `token` by a pattern, if there is one for it. Returns the end of what was
/// repaired.
pub(in super::super) fn apply(repairer: &mut Repairer<'_>, token: &Markup, allowed: Allowed) -> Option<usize> {
    if token.kind != Kind::Start || !can_apply(repairer) {
        return None;
    }
    let mut patterns = repairer.recorder.patterns.take()?;
    let end = patterns.apply(repairer, token.start, allowed);
    repairer.recorder.patterns = Some(patterns);
    end
}

/// Repairs the entry that follows at `at`, after blanks only, by the last used pattern, without reading its start tag as a
/// token. `None` if it has other markup, or starts at `limit` or later. Returns the end of what was repaired.
pub(in super::super) fn apply_again(repairer: &mut Repairer<'_>, at: usize, limit: usize) -> Option<usize> {
    if repairer.recorder.is_recording() || !can_apply(repairer) {
        return None;
    }
    let blanks = repairer.bytes.get(at..limit)?.iter().position(|byte| !markup::is_space(*byte))?;
    let mut patterns = repairer.recorder.patterns.take()?;
    let end = patterns.apply_last(repairer, at..at + blanks);
    repairer.recorder.patterns = Some(patterns);
    end
}

/// Whether there are patterns, and an entry may start where the repair is.
fn can_apply(repairer: &Repairer<'_>) -> bool {
    let patterns = repairer.recorder.patterns.as_ref().filter(|_| repairer.closed.is_none());
    let has_patterns = patterns.is_some_and(|patterns| !patterns.known.is_empty());
    has_patterns && (repairer.elements.stack.is_empty() || closing::is_only_entry_open(repairer))
}

impl Patterns {
    /// Repairs the entry at `start`; see [`apply`].
    fn apply(&mut self, repairer: &mut Repairer<'_>, start: usize, allowed: Allowed) -> Option<usize> {
        let Self { known, texts, .. } = self;
        let (found, end) = known.iter().enumerate().find_map(|(index, pattern)| {
            if allowed == Allowed::Sound && !pattern.is_sound {
                return None;
            }
            texts_of(repairer, pattern, start, texts).map(|end| (index, end))
        })?;
        known.get_mut(..=found)?.rotate_right(1);
        self.write_last(repairer, FoundEntry { blanks: start, start, end })
    }

    /// Repairs the entry after these blanks by the last used pattern; see [`apply_again`].
    fn apply_last(&mut self, repairer: &mut Repairer<'_>, blanks: Range<usize>) -> Option<usize> {
        let end = texts_of(repairer, self.known.first()?, blanks.end, &mut self.texts)?;
        self.write_last(repairer, FoundEntry { blanks: blanks.start, start: blanks.end, end })
    }

    /// Repairs an entry whose texts are known by the last used pattern. Returns its end; `None` if that may exceed the memory
    /// limit.
    fn write_last(&mut self, repairer: &mut Repairer<'_>, mut entry: FoundEntry) -> Option<usize> {
        (self.in_vain, self.is_sound_due) = (0, false);
        let pattern = self.known.first()?;
        let soundness = repairer.soundness.as_mut()?;
        let suspects = Suspects {
            illegal: soundness.first_illegal(repairer.bytes, entry.start..entry.end).is_some(),
            brackets: soundness.has_brackets(),
        };
        let pieces = repairer.pieces() + pattern.max_pieces;
        if pieces > max_pieces(repairer.bytes.len()) {
            return None;
        }
        repairer.peak_pieces = repairer.peak_pieces.max(pieces);
        if !repairer.elements.stack.is_empty() {
            // The end tag of the open entry follows the blanks.
            repairer.out.extend_from_slice(repairer.bytes.get(entry.blanks..entry.start)?);
            entry.blanks = entry.start;
            closing::close_entry_before(repairer, entry.start);
        }
        let after = repairer.out.len();
        let start = after + (entry.start - entry.blanks);
        let texts = write(repairer, pattern, &entry, &self.texts, suspects);
        if let Some((placed, markup)) = repairer.placed.as_mut().zip(pattern.markup) {
            placed.push(PlacedEntry { after: after as u32, start: start as u32, markup, texts });
        }
        Some(entry.end)
    }
}

/// Finds the texts of the entry at `start`. Returns its end; `None` if its markup is not that of the pattern.
fn texts_of(repairer: &mut Repairer<'_>, pattern: &Pattern, start: usize, texts: &mut Vec<EntryText>) -> Option<usize> {
    let bytes = repairer.bytes;
    texts.clear();
    let (first, parts) = pattern.parts.split_first()?;
    let (mut before, mut rest) = (first, first.source.strip(bytes.get(start..)?)?);
    for part in parts {
        let Text { context, allows_stray } = before.text?;
        let from = bytes.len() - rest.len();
        // `]]` before omitted tags and `>` behind them would end a section.
        let (mut at, mut bare_to) = (from, if before.is_text_joined { from } else { usize::MAX });
        let mut tail = rest;
        let behind = loop {
            let is_long = context == TextContext::Url;
            let found = if is_long { long_text_before_tag(tail) } else { text_before_tag(tail) };
            let (len, is_escaped) = found?;
            note_work(len + 1);
            if is_escaped {
                bare_to = bare_to.min(at);
            }
            at += len;
            let tag = tail.get(len..)?;
            if let Some(behind) = part.source.strip(tag) {
                break behind;
            }
            if !allows_stray || !is_stray(repairer, at) {
                return None;
            }
            bare_to = bare_to.min(at);
            at += 1;
            tail = tag.get(1..)?;
        };
        if markup::is_blank(rest.get(..at - from)?) {
            return None;
        }
        texts.push(EntryText { range: from..at, context, bare_to: bare_to.min(at) });
        (before, rest) = (part, behind);
    }
    Some(bytes.len() - rest.len())
}

/// Number of bytes after a `<` that are examined before the tokenizer is asked.
const NEAR: usize = 16;

/// Whether the `<` at that offset is text, unless an unterminated comment, section or instruction begins there.
fn is_stray(repairer: &mut Repairer<'_>, at: usize) -> bool {
    let after = repairer.bytes.get(at + 1..).unwrap_or_default();
    if matches!(after, [b'!' | b'?', ..]) {
        return false;
    }
    // No tag continues after another `<` that is not in quotes.
    let next = after.iter().take(NEAR).find(|byte| matches!(byte, b'<' | b'>' | b'"' | b'\''));
    next == Some(&b'<') || repairer.tokens.next(repairer.bytes, at).is_some_and(|token| token.kind == Kind::Stray)
}

/// Repairs an entry, which has these texts, by its pattern. Returns what is written for the texts.
fn write(
    repairer: &mut Repairer<'_>,
    pattern: &Pattern,
    entry: &FoundEntry,
    texts: &[EntryText],
    suspects: Suspects,
) -> FieldTexts {
    let bytes = repairer.bytes;
    let FoundEntry { blanks, start, end } = *entry;
    repairer.inside = None;
    repairer.empty_entry = None;
    repairer.recorder.recording = None;
    let tag = repairer.out.len() + (start - blanks);
    repairer.anchor(tag, start);
    repairer.entries += 1;
    repairer.is_copying_entry = true;
    let mut writer = EntryWriter { repairer, suspects, copied: blanks, written: FieldTexts::default() };
    if pattern.copies_tags {
        texts.iter().enumerate().for_each(|(index, text)| writer.text(index, text));
    } else {
        writer.parts(&pattern.parts, start, texts);
    }
    writer.copy_to(end);
    let EntryWriter { repairer, written, .. } = writer;
    repairer.is_copying_entry = false;
    if let Some(open) = &pattern.open {
        let name = bytes.get(start + 1..start + 1 + open.name_len).unwrap_or_default();
        repairer.elements.push(Open {
            level: Level::Entry,
            name,
            written: if *name == *open.written { Cow::Borrowed(name) } else { Cow::Owned(open.written.to_vec()) },
            tag,
            inner: tag + open.inner,
            source: (start, start + open.tag_len),
            has_text: open.has_text,
            has_child: true,
            is_known: open.is_known,
            declares: false,
            is_implied: false,
            is_stray: false,
        });
    }
    written
}

/// Writes the tags and texts of an entry.
struct EntryWriter<'r, 'b> {
    repairer: &'r mut Repairer<'b>,
    suspects: Suspects,
    /// The offset up to which the bytes of the file are written.
    copied: usize,
    /// What is written for the texts so far.
    written: FieldTexts,
}

impl EntryWriter<'_, '_> {
    /// Writes the entry at `start`, which has these parts and texts, with its repairs.
    fn parts(&mut self, parts: &[Part], start: usize, texts: &[EntryText]) {
        let mut at = start;
        let mut texts = texts.iter().enumerate();
        for part in parts {
            for note in &part.notes {
                note_again(self.repairer, note, at + note.at);
            }
            let end = at + part.source.bytes().len();
            if let Some(output) = &part.output {
                self.copy_to(at);
                self.repairer.out.extend_from_slice(output);
                self.copied = end;
            }
            at = end;
            if let Some((index, text)) = texts.next() {
                self.text(index, text);
                at = text.range.end;
            }
        }
    }

    /// Copies the bytes up to an offset.
    fn copy_to(&mut self, end: usize) {
        self.repairer.out.extend_from_slice(self.repairer.bytes.get(self.copied..end).unwrap_or_default());
        self.copied = end;
    }

    /// Writes a text with its repairs, if it needs any, and what is before it. Otherwise it is copied with what follows it.
    #[inline]
    fn text(&mut self, index: usize, text: &EntryText) {
        let text = if self.suspects.any() || text.bare_to < text.range.end {
            self.suspect_text(text)
        } else {
            FieldText { len: text.range.len() as u32, is_escaped: false }
        };
        self.written.set(index, text);
    }

    /// [`Self::text`] of a text that may need a repair. Returns what is written for it. Kept out of the usual path.
    #[inline(never)]
    fn suspect_text(&mut self, text: &EntryText) -> FieldText {
        let bytes = self.repairer.bytes;
        let EntryText { range, context, bare_to } = text;
        let mut clean = range.end;
        if self.suspects.illegal {
            let soundness = self.repairer.soundness.as_mut();
            clean = soundness.and_then(|check| check.first_illegal(bytes, range.clone())).unwrap_or(clean);
        }
        let bare_to = if self.suspects.brackets { range.start } else { *bare_to };
        if bytes.get(bare_to) == Some(&b'<') {
            clean = clean.min(bare_to);
        } else if bare_to < clean {
            let special = memchr3(b'&', b'<', b'>', bytes.get(bare_to..clean).unwrap_or_default());
            clean = special.map_or(clean, |len| bare_to + len);
        }
        if clean == range.end {
            return FieldText { len: range.len() as u32, is_escaped: false };
        }
        self.copy_to(clean);
        let repaired = self.repairer.out.len();
        self.repairer.characters(clean, range.end, *context);
        self.copied = range.end;
        let repaired = self.repairer.out.get(repaired..).unwrap_or_default();
        // Most repairs begin with a reference.
        let is_escaped = repaired.first() == Some(&b'&') || memchr(b'&', repaired).is_some();
        let len = clean - range.start + repaired.len();
        FieldText { len: len as u32, is_escaped }
    }
}

fn note_again(repairer: &mut Repairer<'_>, note: &Note, at: usize) {
    match &note.description {
        Description::Snippet => repairer.note(note.kind, at),
        Description::Fixed(text) => repairer.add_note(note.kind, at, |_, _| Some(text)),
    }
}
