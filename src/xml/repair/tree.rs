//! Repairs the element structure: mismatched, missing and misplaced tags.

use super::super::markup::{self, Kind, Markup};
use super::super::names;
use super::elements::{Level, Open};
use super::nested::UnwrappedEntry;
use super::patterns::{self, Allowed};
use super::text::TextContext;
use super::words::{end_tag, snippet, tag};
use super::{EmptyEntry, Moved, Repairer, declares_namespace, max_pieces, root_kind};
use crate::protocol::namespace::SITEMAP_09;
use crate::protocol::{Field, namespace};
use crate::xml::defect::Defect;
use crate::xml::names::FileKind;
use std::borrow::Cow;

/// The meaning of a tag below the root; for entries and fields with the corrected name.
pub(super) enum Role<'b> {
    Root,
    Entry(Cow<'b, [u8]>),
    Field(Field, Cow<'b, [u8]>),
    Other,
}

impl<'b> Repairer<'b> {
    /// Repairs tokens from `from` until one ends at `limit` or later, or only blanks are before one that starts there.
    /// Returns the offset up to which the file is repaired, or `None` if the repair has ended.
    pub(super) fn run(&mut self, from: usize, limit: usize) -> Option<usize> {
        let bytes = self.bytes;
        // The end of the last token. Text after it is repaired together with the next token.
        let mut at = from;
        while at < limit {
            if let Some(end) = patterns::apply_again(self, at, limit) {
                at = end;
                continue;
            }
            let Some(token) = self.tokens.next(bytes, at) else { break };
            let is_cut = token.kind == Kind::Stray
                && memchr::memchr2(b'<', b'>', bytes.get(token.start + 1..).unwrap_or_default()).is_none();
            let pieces = self.pieces();
            self.peak_pieces = self.peak_pieces.max(pieces);
            let is_too_damaged = pieces > max_pieces(bytes.len());
            if self.needed_before.is_some() && (is_cut || is_too_damaged) {
                return Some(at);
            }
            if is_too_damaged {
                self.give_up(token.start);
                return None;
            }
            if token.start == limit && markup::is_blank(bytes.get(at..limit).unwrap_or_default()) {
                // The next segment starts with this token, though not at the end of the last one.
                self.recorder.stop();
                self.gap(at, limit);
                return Some(limit);
            }
            if self.recorder.is_recording()
                && token.kind == Kind::Start
                && self.elements.stack.len() == 1
                && self.names.is_entry_tag(bytes, &token)
            {
                patterns::end_open(self, at);
            }
            self.gap(at, token.start);
            if is_cut {
                if self.closed.is_some() {
                    self.note(Defect::TrailingJunk, token.start);
                }
                self.end_truncated(token.start);
                return None;
            }
            let copied = self.copy_sound(&token).or_else(|| patterns::apply(self, &token, Allowed::All));
            let copied = copied.or_else(|| self.copy_sound_field(&token)).or_else(|| self.unterminated_cdata(&token));
            at = copied.unwrap_or_else(|| {
                let tag = self.tag_without_quote(&token);
                let token = tag.unwrap_or(token);
                self.token(&token);
                if tag.is_some() {
                    // Where the tag ends depends on what follows it.
                    self.recorder.stop();
                }
                token.end
            });
            if self.recorder.is_recording() {
                patterns::end(self, at);
            }
        }
        Some(at)
    }

    /// Repairs one token.
    fn token(&mut self, token: &Markup) {
        if self.closed.is_some() {
            return self.after_root(token);
        }
        if !matches!(token.kind, Kind::Start | Kind::Empty | Kind::End | Kind::Stray) {
            self.recorder.stop();
        }
        match token.kind {
            Kind::Start | Kind::Empty => self.start(token),
            Kind::End => self.end(token),
            Kind::Comment => self.comment(token),
            Kind::Cdata => {
                let context = if self.elements.text_context() == TextContext::Url {
                    TextContext::RawUrl
                } else {
                    TextContext::Raw
                };
                if let Some(top) = self.elements.stack.last_mut() {
                    top.has_text = true;
                }
                self.characters(token.start, token.end, context);
            }
            Kind::Instruction if super::declaration_of(self.bytes, token).is_some() => {
                self.note(Defect::Concatenated, token.start);
            }
            Kind::Instruction if super::is_sound_instruction(self.bytes, token) => {
                self.characters(token.start, token.end, TextContext::Raw);
            }
            Kind::Instruction | Kind::Declaration => self.note_stray(token),
            Kind::Stray => {
                if let Some(top) = self.elements.stack.last_mut() {
                    top.has_text = true;
                }
                // The content of an unterminated comment, and the end of a URL in which it begins, cannot be
                // determined.
                let rest = self.bytes.get(token.start..).unwrap_or_default();
                let is_open = self.elements.text_context() == TextContext::Url
                    || self.elements.stack.last().is_none_or(Open::is_entry);
                if matches!(rest, [b'<', b'!' | b'?', ..]) || self.elements.stack.len() < 2 {
                    self.recorder.stop();
                }
                if is_open && matches!(rest, [b'<', b'!' | b'?', ..]) {
                    self.note_malformed(token.start, |repairer| {
                        format!("{} does not end; read as text", snippet(repairer.bytes, token.start))
                    });
                    self.out.extend_from_slice(b"&lt;");
                    return;
                }
                patterns::write_text(self, token.start..token.end);
            }
        }
    }

    /// Repairs the text between two tokens.
    pub(super) fn gap(&mut self, from: usize, to: usize) {
        let text = self.bytes.get(from..to).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        let is_blank = markup::is_blank(text);
        if self.closed.is_some() {
            let blank = text.iter().position(|byte| !markup::is_space(*byte)).unwrap_or(text.len());
            self.out.extend_from_slice(text.get(..blank).unwrap_or_default());
            if !is_blank {
                self.note(Defect::TrailingJunk, from + blank);
            }
            return;
        }
        if is_blank && !self.recorder.is_text_at(from) {
            return self.out.extend_from_slice(text);
        }
        if !is_blank {
            self.empty_entry = None;
            if let Some(top) = self.elements.stack.last_mut() {
                top.has_text = true;
            }
        }
        patterns::write_text(self, from..to);
    }

    /// The role of a tag at the current position. Names of the protocol are recognized in any case, and written in
    /// lower case.
    pub(super) fn role(&self, token: &Markup) -> Role<'b> {
        let name: &'b [u8] = token.name(self.bytes);
        let (prefix, local) = names::split(name);
        if root_kind(local).is_some() && self.names.is_core(prefix) {
            return Role::Root;
        }
        // Nearly every name is correct and is not copied.
        let written = |correct: &str| {
            if local == correct.as_bytes() {
                return Cow::Borrowed(name);
            }
            Cow::Owned([name.get(..name.len() - local.len()).unwrap_or_default(), correct.as_bytes()].concat())
        };
        let is = |correct: &str| local.eq_ignore_ascii_case(correct.as_bytes());
        // An entry may declare a prefix for itself and its content.
        let inside = self.inside.as_ref().filter(|_| !self.elements.stack.is_empty());
        let is_own = self.names.is_entry_tag(self.bytes, token);
        if !is_own && !inside.unwrap_or(&self.names).is_core(prefix) {
            return Role::Other;
        }
        if let Some(kind) = [FileKind::Urlset, FileKind::Index].into_iter().find(|kind| is(kind.entry_name())) {
            return Role::Entry(written(kind.entry_name()));
        }
        let names = inside.unwrap_or(&self.names);
        let is_core = || names.resolve(self.bytes, token).0 == names::Meaning::Core;
        match Field::ALL.into_iter().find(|field| is(field.name())) {
            Some(field) if is_core() => Role::Field(field, written(field.name())),
            _ => Role::Other,
        }
    }

    /// Handles a start tag or an empty element before the end of the root.
    pub(super) fn start(&mut self, token: &Markup) {
        match self.role(token) {
            Role::Root => self.second_root(token),
            Role::Entry(written) => {
                // A foreign element may contain elements that look like entries, but it may also lack its end tag.
                if let Some(first) = self.elements.stack.first() {
                    match first.level {
                        Level::Entry if first.is_implied => {}
                        Level::Other => self.unwrap_entry(token.start, true),
                        _ => self.note_nested(token.start),
                    }
                    self.close_all(token.start);
                }
                // The declarations of the previous entry end with it.
                self.inside = None;
                if !self.names.is_entry_tag(self.bytes, token) && !names::split(&written).0.is_empty() {
                    let uri = self.names.uri.as_deref().unwrap_or(SITEMAP_09).to_owned();
                    self.declare(names::split(&written).0, uri.as_bytes());
                }
                self.push_entry(token, written);
            }
            Role::Field(field, written) => self.field(token, field, written),
            Role::Other => self.other(token),
        }
    }

    fn field(&mut self, token: &Markup, field: Field, written: Cow<'b, [u8]>) {
        let (level, has_text, has_child) = self
            .elements
            .stack
            .last()
            .map_or((None, false, false), |top| (Some(top.level), top.has_text, top.has_child));
        match level {
            None if field == Field::Loc => self.imply_entry(token),
            Some(Level::Other)
                if field == Field::Loc && self.elements.stack.first().is_some_and(|open| open.is_stray) =>
            {
                self.unwrap_entry(token.start, false);
                self.close_all(token.start);
                self.imply_entry(token);
            }
            // A second loc starts another entry without tags.
            Some(Level::Entry) if field == Field::Loc && has_child && self.elements.is_implied() => {
                self.close_all(token.start);
                self.imply_entry(token);
            }
            Some(Level::Entry) => {}
            Some(Level::Field(open)) if open == field && has_text && !has_child && token.kind == Kind::Start => {
                return self.close_by_other_tag(token);
            }
            Some(Level::Field(_)) if has_text => {
                self.note_unclosed(token);
                self.close_above(1, token.start);
            }
            None | Some(Level::Field(_) | Level::Other) => return self.other(token),
        }
        self.push(token, Level::Field(field), written);
    }

    /// Moves the start of an entry out of the elements around it, and removes those of them that would become empty.
    fn unwrap_entry(&mut self, at: usize, has_tags: bool) {
        self.recorder.stop();
        let names: Vec<&[u8]> = self.elements.stack.iter().map(|open| open.name).collect();
        self.note_wrapped(&names, UnwrappedEntry { at, number: self.entries, has_tags });
        let is_stray = self.elements.stack.first().is_some_and(|open| open.is_stray);
        while let Some(top) = self.elements.stack.last().filter(|_| is_stray) {
            let (tag, inner) = (top.tag, top.inner);
            let attributes = (top.source.0 + 1 + top.name.len(), top.source.1.saturating_sub(1));
            let has_attributes = self.bytes.get(attributes.0..attributes.1).is_none_or(|text| !markup::is_blank(text));
            let is_blank = self.out.get(inner..).is_some_and(markup::is_blank);
            if has_attributes || !is_blank {
                break;
            }
            self.out.replace(tag..inner, b"");
            self.elements.pop();
        }
    }

    fn other(&mut self, token: &Markup) {
        let name = token.name(self.bytes);
        if let Some(top) = self.elements.stack.last()
            && (top.name == name && top.is_known && top.has_text && !top.has_child && token.kind == Kind::Start)
        {
            return self.close_by_other_tag(token);
        }
        self.declare_usual(token);
        self.push(token, Level::Other, Cow::Borrowed(name));
    }

    /// Records that a tag was written instead of the intended one.
    pub(super) fn note_intended(&mut self, token: &Markup, intended: impl FnOnce(&Self) -> String) {
        self.note_malformed(token.start, |repairer| {
            let name = token.name(repairer.bytes);
            let found = if token.kind == Kind::End { end_tag(name) } else { tag(name) };
            format!("{found} where {} belongs; read as that", intended(repairer))
        });
    }

    /// Records that the innermost open element is not closed before a tag.
    pub(super) fn note_unclosed(&mut self, token: &Markup) {
        self.note_malformed(token.start, |repairer| {
            let name = token.name(repairer.bytes);
            let found = if token.kind == Kind::End { end_tag(name) } else { tag(name) };
            let open = repairer.elements.stack.last().map_or_else(String::new, |top| tag(&top.written));
            format!("{open} is not closed before {found}; closed here")
        });
    }

    /// Opens an entry for a loc outside of any entry: reopens the empty entry before it, or adds a new one.
    fn imply_entry(&mut self, token: &Markup) {
        let bytes = self.bytes;
        self.recorder.stop();
        let empty_entry = self.empty_entry.take();
        let reopened = empty_entry.is_some();
        let mut start = self.out.len();
        let name = if let Some(EmptyEntry { tag, close, end }) = empty_entry {
            // Remove its end tag, which only blanks follow.
            start = tag;
            let name = self.out.get(close + 2..end - 1).unwrap_or_default().trim_ascii_end().to_vec();
            self.out.replace(close..end, b"");
            name
        } else {
            let prefix = token.name(bytes);
            let prefix = prefix.get(..prefix.len() - names::split(prefix).1.len()).unwrap_or_default();
            let name = [prefix, self.names.kind.entry_name().as_bytes()].concat();
            self.anchor(self.out.len(), token.start);
            self.out.push(b'<');
            self.out.extend_from_slice(&name);
            self.out.push(b'>');
            self.entries += 1;
            // The new entry declares no namespaces.
            self.inside = None;
            name
        };
        self.elements.push(Open {
            level: Level::Entry,
            name: &[],
            written: name.into(),
            tag: start,
            inner: self.out.len(),
            source: (token.start, token.start),
            has_text: false,
            has_child: false,
            is_known: false,
            declares: false,
            is_implied: true,
            is_stray: false,
        });
        if reopened {
            self.note_malformed(token.start, |repairer| {
                let (name, entry) = (tag(token.name(repairer.bytes)), repairer.elements.stack.first());
                let entry = entry.map_or_else(String::new, |entry| end_tag(&entry.written));
                format!("{name} after {entry}; moved into that entry")
            });
        } else {
            self.note(Defect::OutsideRoot, token.start);
        }
    }

    fn push_entry(&mut self, token: &Markup, written: Cow<'b, [u8]>) {
        self.empty_entry = None;
        self.anchor(self.out.len(), token.start);
        self.entries += 1;
        self.inside = self.names.within(self.bytes, token);
        patterns::start(self, token);
        self.push(token, Level::Entry, written);
    }

    /// Records an anchor at `written` in the output and `at` in the file, unless the last one still applies.
    #[inline]
    pub(super) fn anchor(&mut self, written: usize, at: usize) {
        let moved = std::mem::replace(&mut self.moved, Moved::No);
        self.is_first_anchor_conditional |= moved == Moved::Unknown;
        if moved != Moved::No {
            self.anchors.push((written, at));
        }
    }

    /// Writes a start tag and opens its element.
    fn push(&mut self, token: &Markup, level: Level, written: Cow<'b, [u8]>) {
        self.empty_entry = None;
        let name = token.name(self.bytes);
        if let Some(parent) = self.elements.stack.last_mut() {
            parent.has_child = true;
        }
        let attributes = token.attributes(self.bytes);
        let tag = self.out.len();
        let prefix = names::split(name).0;
        let is_known = !prefix.is_empty() && namespace::by_usual_prefix(prefix).is_some();
        let declares = declares_namespace(attributes);
        if declares {
            self.recorder.stop();
        }
        self.recorder.add_height(self.elements.stack.len() + 1);
        let is_below_root = self.elements.stack.is_empty() && level == Level::Other;
        let is_stray = is_below_root && self.names.resolve(self.bytes, token).0 == names::Meaning::Core;
        if is_below_root {
            // The declarations of the previous entry end with it.
            self.inside = None;
        }
        let recased = *written != *name;
        let shown = written.clone();
        // Open the entry before its tag is written, so that repairs in the tag belong to it.
        self.elements.push(Open {
            level,
            name,
            written,
            tag,
            inner: tag,
            source: (token.start, token.end),
            has_text: false,
            has_child: false,
            is_known,
            declares,
            is_implied: false,
            is_stray,
        });
        if recased {
            self.note(Defect::NameCase, token.start);
        }
        self.tag(token, &shown);
        let inner = self.out.len();
        if token.kind == Kind::Empty {
            self.elements.pop();
            return;
        }
        if let Some(top) = self.elements.stack.last_mut() {
            top.inner = inner;
        }
    }
}
