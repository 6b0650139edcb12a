//! Repairs an entry like an earlier one with the same markup, without tokenizing it.
//!
//! Most damaged files have the same damage in every entry. While an entry is repaired token by token, its tags, what is
//! written for them and the repairs in them are recorded as a pattern. An entry with the same tags, and with text in
//! the same places, is written by the pattern; only its texts are repaired on their own. What the tokenizer does with a
//! tag depends on nothing but the tag, the open elements, and which of these have text, so that the result is that of a
//! repair token by token. Entries with other tokens than tags, or with a tag whose end depends on what follows it, are not
//! recorded.

mod apply;

use super::super::markup::{Kind, Markup};
use super::Repairer;
use super::text::TextContext;
use crate::short_bytes::Prefix;
use crate::xml::defect::Defect;
use crate::xml::placed_entries::{EntryMarkup, MarkupNumber};
use apply::EntryText;
pub(super) use apply::{Allowed, apply, apply_again};
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
    source: Prefix,
    /// What is written for them; `None` if they are copied.
    output: Option<Box<[u8]>>,
    notes: Vec<Note>,
    /// `None` if the pattern ends with these tags.
    text: Option<Text>,
    /// Whether the text continues the one before it: no tag is written between both.
    is_text_joined: bool,
}

/// Text between tags.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) context: TextContext,
    /// Whether a `<` that begins no markup may be part of it.
    pub(super) allows_stray: bool,
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
    /// Whether all tags are copied, and need no repair.
    copies_tags: bool,
    /// The markup of its entries, if they are placed entries.
    markup: Option<MarkupNumber>,
    /// Maximum number of pieces that its repair takes.
    max_pieces: usize,
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
    /// The texts, as ranges of the entry in the output.
    written: Vec<Range<usize>>,
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
        let is_text_joined = !output.ends_with(b">");
        let output = (output != source).then(|| output.into());
        self.parts.push(Part { source: Prefix::new(source), output, notes, text, is_text_joined });
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
        fn sources(pattern: &Pattern) -> impl Iterator<Item = &[u8]> {
            pattern.parts.iter().map(|part| part.source.bytes())
        }
        self.known.retain(|known| !sources(known).eq(sources(&pattern)));
        self.known.truncate(MAX_PATTERNS - 1);
        self.known.insert(0, pattern);
    }
}

/// Patterns of earlier entries, and the entry that is being recorded as one.
#[derive(Default)]
pub(super) struct Recorder {
    /// `None` before there are any, and while one is applied: a pointer is moved faster than the patterns.
    patterns: Option<Box<Patterns>>,
    recording: Option<Box<Recording>>,
}

impl Recorder {
    /// A recorder of nothing.
    #[cfg(test)]
    pub(super) fn off() -> Self {
        Self { patterns: Some(Box::new(Patterns { is_off: true, ..Patterns::default() })), recording: None }
    }

    fn patterns(&mut self) -> &mut Patterns {
        self.patterns.get_or_insert_default()
    }

    /// Forgets all patterns.
    pub(super) fn clear(&mut self) {
        let patterns = self.patterns();
        patterns.known.clear();
        patterns.is_sound_due = false;
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
        let patterns = self.patterns();
        patterns.is_sound_due = patterns.is_next_recorded();
        patterns.is_sound_due
    }

    /// Records that another element was opened.
    pub(super) fn add_height(&mut self, height: usize) {
        if let Some(recording) = &mut self.recording {
            recording.height = recording.height.max(height);
        }
    }

    /// Records a repair of markup.
    #[inline]
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
    let is_sound = std::mem::take(&mut repairer.recorder.patterns().is_sound_due);
    // The repair token by token that tests compare with records nothing.
    let is_due = repairer.soundness.is_some() && (is_sound || repairer.recorder.patterns().is_next_recorded());
    let start = (token.start, repairer.out.len());
    repairer.recorder.recording = (is_due && token.kind == Kind::Start && repairer.inside.is_none()).then(|| {
        let (parts, notes, written) = (Vec::new(), Vec::new(), Vec::new());
        Box::new(Recording { parts, notes, start, after_text: start, written, height: 1, is_sound })
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
    let in_entry = written.start.saturating_sub(recording.start.1)..written.end.saturating_sub(recording.start.1);
    if is_continued && let Some(Part { text: Some(last), .. }) = recording.parts.last_mut() {
        last.allows_stray &= text.allows_stray;
        if let Some(last) = recording.written.last_mut() {
            last.end = in_entry.end;
        }
        return;
    }
    recording.written.push(in_entry);
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
    let Recording { parts, height, is_sound, start, written, .. } = *recording;
    let notes: usize = parts.iter().map(|part| part.notes.len()).sum();
    let copies_tags = notes == 0 && parts.iter().all(|part| part.output.is_none());
    let max_pieces = notes + height + PIECES;
    let entry = repairer.out.get(start.1..).filter(|_| open.is_none());
    let markup = repairer
        .placed
        .as_mut()
        .zip(entry)
        .and_then(|(placed, entry)| placed.add_markup(EntryMarkup::of(entry, &written, &repairer.names)?));
    repairer.recorder.patterns().add(Pattern { parts, open, is_sound, copies_tags, markup, max_pieces });
}
