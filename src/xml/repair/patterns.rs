//! Repairs an entry like an earlier one with the same markup, without tokenizing it.
//!
//! Most damaged files have the same damage in every entry. While an entry is repaired token by token, its tags, what is
//! written for them and the repairs in them are recorded as a pattern. An entry with the same tags, and with text in
//! the same places, is written by the pattern; only its texts are repaired on their own. What the tokenizer does with a
//! tag depends on nothing but the tag, the open elements, and which of these have text, so that the result is that of a
//! repair token by token. Entries with other tokens than tags, or with a tag whose end depends on what follows it, are not
//! recorded.

use super::super::fast_path::{long_text_before_tag, text_before_tag};
use super::super::markup::{self, Kind, Markup};
use super::elements::{Level, Open};
use super::text::TextContext;
use super::{Repairer, closing};
use crate::progress::note_work;
use crate::short_bytes::strip_prefix;
use crate::xml::defect::Defect;
use memchr::memchr3;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of patterns that are kept.
const MAX_PATTERNS: usize = 12;

/// Maximum length in bytes of a recorded entry.
const MAX_ENTRY: usize = 8 << 10;

/// Number of entries recorded in vain after which most entries are not recorded.
const RECORDED_IN_VAIN: u32 = 48;

/// One of so many entries is recorded then.
const RARELY: u32 = 64;

/// Maximum number of pieces that an entry needs besides the repairs of its tags and its open elements: one repair for
/// each kind of damage in text, the anchor, and what reports the entry before it as not closed.
const PIECES: usize = 7 + 1 + 2;

/// A repair of markup.
struct Note {
    kind: Defect,
    /// Its offset from the start of the markup.
    at: usize,
    description: Description,
}

/// The description of a repair of markup.
pub(super) enum Description {
    /// The text at its offset, which may extend beyond the markup.
    Snippet,
    /// A text that depends only on the markup.
    Fixed(Box<str>),
}

/// Consecutive tags, with the blanks between them, and the text that follows.
struct Part {
    /// The tags in the file.
    source: Box<[u8]>,
    /// What is written for them; `None` if they are copied.
    output: Option<Box<[u8]>>,
    notes: Vec<Note>,
    /// `None` if the pattern ends with these tags.
    text: Option<Text>,
}

/// Text between tags.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) context: TextContext,
    /// Whether a `<` that begins no markup may be part of it.
    pub(super) allows_stray: bool,
}

/// A text of an entry that is compared with a pattern.
struct EntryText {
    range: Range<usize>,
    /// Whether it contains `&` or `<`.
    has_markup: bool,
}

/// An entry that its pattern leaves open, because the file has no end tag for it.
struct OpenEntry {
    /// Length of its name in the file.
    name_len: usize,
    /// Its name in the output.
    written: Box<[u8]>,
    /// Length of its start tag in the output.
    inner: usize,
    /// Length of its start tag in the file.
    tag_len: usize,
    has_text: bool,
    is_known: bool,
}

/// The markup of an entry with its repair.
pub(super) struct Pattern {
    parts: Vec<Part>,
    open: Option<OpenEntry>,
    /// Whether only values need a repair.
    is_sound: bool,
    /// Maximum number of pieces that its repair takes.
    max_pieces: usize,
}

/// Which patterns may be applied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Those of entries with damage in their values only.
    Sound,
    All,
}

/// An entry that is being recorded.
pub(super) struct Recording {
    parts: Vec<Part>,
    /// The repairs of the tags since the last text, at their offsets in the file.
    notes: Vec<Note>,
    /// The start of the entry in the file and in the output.
    start: (usize, usize),
    /// The end of the last text in the file and in the output.
    after_text: (usize, usize),
    /// Maximum number of open elements.
    height: usize,
    is_sound: bool,
}

impl Recording {
    /// Adds a repair of markup. Returns false if it is not in the tags since the last text, or the entry is too long.
    fn add_note(&mut self, kind: Defect, at: usize, description: Description) -> bool {
        let Some(at) = at.checked_sub(self.after_text.0).filter(|_| at - self.start.0 <= MAX_ENTRY) else {
            return false;
        };
        self.notes.push(Note { kind, at, description });
        true
    }

    /// Adds the tags since the last text, as they are in the file and in the output. Returns false if the end of a tag
    /// may depend on what follows it.
    fn add_part(&mut self, source: &[u8], output: &[u8], text: Option<Text>) -> bool {
        let notes = std::mem::take(&mut self.notes);
        let output = (output != source).then(|| output.into());
        self.parts.push(Part { source: source.into(), output, notes, text });
        are_tags_closed(source)
    }
}

/// Whether each tag ends at its first `>` and has no open quote: where a tag with one ends depends on later quotes.
fn are_tags_closed(tags: &[u8]) -> bool {
    let mut rest = tags;
    while let Some(start) = memchr::memchr(b'<', rest) {
        let tag = rest.get(start + 1..).unwrap_or_default();
        let Some(end) = memchr::memchr2(b'<', b'>', tag).filter(|end| tag.get(*end) == Some(&b'>')) else {
            return false;
        };
        let (tag, behind) = tag.split_at_checked(end).unwrap_or_default();
        let is_open = |quote: u8| tag.iter().fold(false, |is_open, byte| is_open ^ (*byte == quote));
        if is_open(b'"') || is_open(b'\'') {
            return false;
        }
        rest = behind;
    }
    true
}

/// Patterns of earlier entries.
#[derive(Default)]
pub(super) struct Patterns {
    /// The last used one first.
    known: Vec<Pattern>,
    /// Number of entries since a pattern was applied, of those that could be recorded.
    in_vain: u32,
    /// Whether the next entry is recorded because it has damage in its values only.
    is_sound_due: bool,
    /// The texts of the last entry that was compared with a pattern.
    texts: Vec<EntryText>,
    /// Whether no entry is recorded, for repairs that tests compare with.
    is_off: bool,
}

impl Patterns {
    /// Whether to record the next entry: rarely if no entry before was like another.
    fn is_next_recorded(&mut self) -> bool {
        self.in_vain = self.in_vain.wrapping_add(1);
        !self.is_off && (self.in_vain <= RECORDED_IN_VAIN || self.in_vain.is_multiple_of(RARELY))
    }

    fn add(&mut self, pattern: Pattern) {
        fn sources(pattern: &Pattern) -> impl Iterator<Item = &Box<[u8]>> {
            pattern.parts.iter().map(|part| &part.source)
        }
        self.known.retain(|known| !sources(known).eq(sources(&pattern)));
        self.known.truncate(MAX_PATTERNS - 1);
        self.known.insert(0, pattern);
    }
}

/// Patterns of earlier entries, and the entry that is being recorded as one.
#[derive(Default)]
pub(super) struct Recorder {
    patterns: Patterns,
    recording: Option<Box<Recording>>,
}

impl Recorder {
    /// A recorder of nothing.
    #[cfg(test)]
    pub(super) fn off() -> Self {
        Self { patterns: Patterns { is_off: true, ..Patterns::default() }, recording: None }
    }

    /// Forgets all patterns.
    pub(super) fn clear(&mut self) {
        self.patterns.known.clear();
        self.patterns.is_sound_due = false;
        self.stop();
    }

    /// Stops recording: the open entry does not become a pattern.
    pub(super) fn stop(&mut self) {
        self.recording = None;
    }

    /// Whether an entry is being recorded.
    pub(super) const fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Whether to record the next entry, which has damage in its values only.
    pub(super) fn is_sound_entry_due(&mut self) -> bool {
        self.patterns.is_sound_due = self.patterns.is_next_recorded();
        self.patterns.is_sound_due
    }

    /// Records that another element was opened.
    pub(super) fn add_height(&mut self, height: usize) {
        if let Some(recording) = &mut self.recording {
            recording.height = recording.height.max(height);
        }
    }

    /// Records a repair of markup.
    pub(super) fn add_note(&mut self, kind: Defect, at: usize, description: Description) {
        if self.recording.as_mut().is_some_and(|recording| !recording.add_note(kind, at, description)) {
            self.stop();
        }
    }

    /// Whether the last recorded token is text, which what follows belongs to.
    pub(super) fn is_text_at(&self, at: usize) -> bool {
        self.recording.as_ref().is_some_and(|recording| recording.after_text.0 == at)
    }
}

/// Starts to record the entry with this start tag, which is about to be written.
pub(super) fn start(repairer: &mut Repairer<'_>, token: &Markup) {
    let is_sound = std::mem::take(&mut repairer.recorder.patterns.is_sound_due);
    // The repair token by token that tests compare with records nothing.
    let is_due = repairer.soundness.is_some() && (is_sound || repairer.recorder.patterns.is_next_recorded());
    let start = (token.start, repairer.out.len());
    repairer.recorder.recording = (is_due && token.kind == Kind::Start && repairer.inside.is_none()).then(|| {
        let (parts, notes) = (Vec::new(), Vec::new());
        Box::new(Recording { parts, notes, start, after_text: start, height: 1, is_sound })
    });
}

/// Repairs text between tags.
pub(super) fn write_text(repairer: &mut Repairer<'_>, span: Range<usize>) {
    let context = repairer.elements.text_context();
    // Repairs in the text are not part of a pattern.
    let recording = repairer.recorder.recording.take();
    let start = repairer.out.len();
    repairer.characters(span.start, span.end, context);
    repairer.recorder.recording = recording;
    let allows_stray = repairer.elements.stack.len() > 1;
    add_text(repairer, span, start..repairer.out.len(), Text { context, allows_stray });
}

/// Records text at `span` in the file that is at `written` in the output.
pub(super) fn add_text(repairer: &mut Repairer<'_>, span: Range<usize>, written: Range<usize>, text: Text) {
    let Some(recording) = &mut repairer.recorder.recording else { return };
    if span.end - recording.start.0 > MAX_ENTRY {
        repairer.recorder.recording = None;
        return;
    }
    let (from, out_from) = recording.after_text;
    let is_continued = from == span.start;
    recording.after_text = (span.end, written.end);
    if is_continued && let Some(Part { text: Some(last), .. }) = recording.parts.last_mut() {
        last.allows_stray &= text.allows_stray;
        return;
    }
    let source = repairer.bytes.get(from..span.start).unwrap_or_default();
    if !recording.add_part(source, repairer.out.get(out_from..written.start).unwrap_or_default(), Some(text)) {
        repairer.recorder.recording = None;
    }
}

/// Ends the recording if the entry has ended at `end` in the file.
pub(super) fn end(repairer: &mut Repairer<'_>, end: usize) {
    if repairer.elements.stack.is_empty() {
        keep(repairer, end, None);
    }
}

/// Ends the recording at `end` in the file, because another entry follows.
pub(super) fn end_open(repairer: &mut Repairer<'_>, end: usize) {
    let [entry] = &*repairer.elements.stack else { return };
    let Some(start) = repairer.recorder.recording.as_ref().map(|recording| recording.start) else { return };
    let open = OpenEntry {
        name_len: entry.name.len(),
        written: (*entry.written).into(),
        inner: entry.inner - start.1,
        tag_len: entry.source.1 - entry.source.0,
        has_text: entry.has_text,
        is_known: entry.is_known,
    };
    // An entry that was written without a child is moved or reopened.
    if entry.has_child && entry.source.0 == start.0 {
        keep(repairer, end, Some(open));
    }
}

fn keep(repairer: &mut Repairer<'_>, end: usize, open: Option<OpenEntry>) {
    let Some(mut recording) = repairer.recorder.recording.take() else { return };
    if repairer.empty_entry.is_some() || repairer.closed.is_some() || end - recording.start.0 > MAX_ENTRY {
        return;
    }
    let (from, out_from) = recording.after_text;
    let source = repairer.bytes.get(from..end).unwrap_or_default();
    if !recording.add_part(source, repairer.out.get(out_from..).unwrap_or_default(), None) {
        return;
    }
    let Recording { parts, height, is_sound, .. } = *recording;
    let notes: usize = parts.iter().map(|part| part.notes.len()).sum();
    repairer.recorder.patterns.add(Pattern { parts, open, is_sound, max_pieces: notes + height + PIECES });
}

/// Repairs the entry that starts with `token` by a pattern, if there is one for it. Returns the end of what was
/// repaired.
pub(super) fn apply(repairer: &mut Repairer<'_>, token: &Markup, allowed: Allowed) -> Option<usize> {
    if token.kind != Kind::Start || !can_apply(repairer) {
        return None;
    }
    let mut patterns = std::mem::take(&mut repairer.recorder.patterns);
    let end = patterns.apply(repairer, token.start, allowed);
    repairer.recorder.patterns = patterns;
    end
}

/// Repairs the entry that follows at `at`, after blanks only, by the last used pattern, without reading its start tag as a
/// token. `None` if it has other markup, or starts at `limit` or later. Returns the end of what was repaired.
pub(super) fn apply_again(repairer: &mut Repairer<'_>, at: usize, limit: usize) -> Option<usize> {
    if repairer.recorder.is_recording() || !can_apply(repairer) {
        return None;
    }
    let rest = repairer.bytes.get(at..limit)?;
    let blanks = rest.get(..rest.iter().position(|byte| !markup::is_space(*byte))?)?;
    let mut patterns = std::mem::take(&mut repairer.recorder.patterns);
    let end = patterns.apply_last(repairer, at + blanks.len(), blanks);
    repairer.recorder.patterns = patterns;
    end
}

/// Whether there are patterns, and an entry may start where the repair is.
fn can_apply(repairer: &Repairer<'_>) -> bool {
    let has_patterns = repairer.closed.is_none() && !repairer.recorder.patterns.known.is_empty();
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
        self.write_last(repairer, start..end, b"")
    }

    /// Repairs the entry at `start`, after these blanks, by the last used pattern; see [`apply_again`].
    fn apply_last(&mut self, repairer: &mut Repairer<'_>, start: usize, blanks: &[u8]) -> Option<usize> {
        let end = texts_of(repairer, self.known.first()?, start, &mut self.texts)?;
        self.write_last(repairer, start..end, blanks)
    }

    /// Writes these blanks, and repairs this entry, whose texts are known, by the last used pattern. Returns its end; `None` if
    /// that may exceed the memory limit.
    fn write_last(&mut self, repairer: &mut Repairer<'_>, entry: Range<usize>, blanks: &[u8]) -> Option<usize> {
        (self.in_vain, self.is_sound_due) = (0, false);
        let pattern = self.known.first()?;
        let soundness = repairer.soundness.as_mut()?;
        let suspects = Suspects {
            illegal: soundness.first_illegal(repairer.bytes, entry.clone()).is_some(),
            brackets: soundness.has_brackets(),
        };
        let pieces = repairer.pieces() + pattern.max_pieces;
        if pieces > super::max_pieces(repairer.bytes.len()) {
            return None;
        }
        repairer.peak_pieces = repairer.peak_pieces.max(pieces);
        repairer.out.extend_from_slice(blanks);
        let end = entry.end;
        write(repairer, pattern, entry.start, &self.texts, suspects);
        Some(end)
    }
}

/// Finds the texts of the entry at `start`. Returns its end; `None` if its markup is not that of the pattern.
fn texts_of(repairer: &mut Repairer<'_>, pattern: &Pattern, start: usize, texts: &mut Vec<EntryText>) -> Option<usize> {
    let bytes = repairer.bytes;
    texts.clear();
    let is_at = |part: &Part, at: usize| bytes.get(at..).is_some_and(|rest| strip_prefix(rest, &part.source).is_some());
    let first = pattern.parts.first().filter(|first| is_at(first, start))?;
    let mut at = start + first.source.len();
    for (part, next) in pattern.parts.iter().zip(pattern.parts.iter().skip(1)) {
        let Text { context, allows_stray } = part.text?;
        let (from, mut has_markup) = (at, false);
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let is_long = context == TextContext::Url;
            let found = if is_long { long_text_before_tag(rest) } else { text_before_tag(rest) };
            let (len, is_escaped) = found?;
            has_markup |= is_escaped;
            at += len;
            note_work(len + 1);
            if is_at(next, at) {
                break;
            }
            if !allows_stray || !is_stray(repairer, at) {
                return None;
            }
            has_markup = true;
            at += 1;
        }
        if markup::is_blank(bytes.get(from..at).unwrap_or_default()) {
            return None;
        }
        texts.push(EntryText { range: from..at, has_markup });
        at += next.source.len();
    }
    Some(at)
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

/// What is searched for in the texts of an entry, besides markup.
#[derive(Clone, Copy)]
struct Suspects {
    /// Whether the entry has a character that XML does not allow.
    illegal: bool,
    /// Whether the file has `]]>`.
    brackets: bool,
}

/// Repairs the entry at `start`, which has these texts, by its pattern.
fn write(repairer: &mut Repairer<'_>, pattern: &Pattern, start: usize, texts: &[EntryText], suspects: Suspects) {
    let bytes = repairer.bytes;
    closing::close_entry_before(repairer, start);
    repairer.inside = None;
    repairer.empty_entry = None;
    repairer.recorder.recording = None;
    repairer.anchor(start);
    repairer.entries += 1;
    let tag = repairer.out.len();
    repairer.elements.push(Open::entry(pattern.open.as_ref().map_or(Cow::Borrowed(&[]), |open| {
        let name = bytes.get(start + 1..start + 1 + open.name_len).unwrap_or_default();
        if *name == *open.written { Cow::Borrowed(name) } else { Cow::Owned(open.written.to_vec()) }
    })));
    let mut at = start;
    // The bytes from there to `at` are copied together with those that follow.
    let mut copied = start;
    let source = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
    let mut texts = texts.iter();
    for part in &pattern.parts {
        for note in &part.notes {
            note_again(repairer, note, at + note.at);
        }
        if let Some(output) = &part.output {
            repairer.out.extend_from_slice(source(copied, at));
            repairer.out.extend_from_slice(output);
            copied = at + part.source.len();
        }
        at += part.source.len();
        if let (Some(text), Some(EntryText { range, has_markup })) = (part.text, texts.next()) {
            at = range.end;
            let mut clean = at;
            if suspects.illegal {
                let illegal = repairer.soundness.as_mut().and_then(|check| check.first_illegal(bytes, range.clone()));
                clean = illegal.unwrap_or(at);
            }
            if suspects.brackets || *has_markup {
                let special = memchr3(b'&', b'<', b'>', source(range.start, clean));
                clean = special.map_or(clean, |len| range.start + len);
            }
            if clean < at {
                repairer.out.extend_from_slice(source(copied, clean));
                repairer.characters(clean, at, text.context);
                copied = at;
            }
        }
    }
    repairer.out.extend_from_slice(source(copied, at));
    match &pattern.open {
        None => _ = repairer.elements.pop(),
        Some(open) => {
            if let Some(entry) = repairer.elements.stack.last_mut() {
                entry.name = bytes.get(start + 1..start + 1 + open.name_len).unwrap_or_default();
                (entry.tag, entry.inner) = (tag, tag + open.inner);
                entry.source = (start, start + open.tag_len);
                (entry.has_text, entry.has_child, entry.is_known) = (open.has_text, true, open.is_known);
            }
        }
    }
}

fn note_again(repairer: &mut Repairer<'_>, note: &Note, at: usize) {
    match &note.description {
        Description::Snippet => repairer.note(note.kind, at),
        Description::Fixed(text) => repairer.add_note(note.kind, at, |_, _| Some(text)),
    }
}

impl<'b> Open<'b> {
    /// An entry whose start tag is still to be written.
    #[inline]
    pub(super) const fn entry(written: Cow<'b, [u8]>) -> Self {
        Self {
            level: Level::Entry,
            name: &[],
            written,
            tag: 0,
            inner: 0,
            source: (0, 0),
            has_text: false,
            has_child: false,
            is_known: false,
            declares: false,
            is_implied: false,
            is_stray: false,
        }
    }
}
