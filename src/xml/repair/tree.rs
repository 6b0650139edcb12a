//! Repairs the element structure: mismatched, missing and misplaced tags.

use super::super::markup::{self, Kind, Markup};
use super::super::names;
use super::text::{TextContext, is_url};
use super::token::is_sound_end;
use super::words::{end_tag, tag};
use super::{EmptyEntry, RepairKind, Repairer, declares_own, root_kind};
use crate::protocol::namespace::SITEMAP_09;
use crate::protocol::{Field, namespace};
use crate::xml::names::FileKind;
use std::borrow::Cow;

/// What an open element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// An entry, a child of the root.
    Entry,
    /// A core field, a child of an entry.
    Field(Field),
    /// Anything else.
    Other,
}

/// An open element below the root.
#[derive(Debug)]
pub(super) struct Open<'b> {
    level: Level,
    /// Its name as the file has it.
    pub(super) name: &'b [u8],
    /// Its name as its end tag will have it.
    pub(super) written: Cow<'b, [u8]>,
    /// Where it was put, leading trivia included.
    pub(super) lead: usize,
    /// Where its start tag was put.
    pub(super) tag: usize,
    /// Where what is inside it was put.
    inner: usize,
    /// Where its start tag stands in the file, and where that ends.
    source: (usize, usize),
    pub(super) has_text: bool,
    pub(super) has_child: bool,
    /// Whether its namespace is a known extension's, whose elements never hold themselves.
    is_known: bool,
    /// Whether it declares namespaces of its own.
    declares: bool,
    /// Whether the file has no start tag for it.
    is_implied: bool,
    /// Whether it is a child of the root, and one that the protocol does not have.
    is_stray: bool,
}

impl Open<'_> {
    pub(super) fn is_entry(&self) -> bool {
        self.level == Level::Entry
    }
}

/// What a tag below the root means.
pub(super) enum Role<'b> {
    Root,
    Entry(Cow<'b, [u8]>),
    Field(Field, Cow<'b, [u8]>),
    Other,
}

impl<'b> Repairer<'b> {
    /// From after the root's start tag to the end of the file.
    pub(super) fn body(&mut self, from: usize) {
        let bytes = self.bytes;
        // Where what was written last ends, that is no blank between entries: trivia goes with what follows it.
        let mut at = from;
        while let Some(token) = self.tokens.next(bytes, at) {
            let is_cut = token.kind == Kind::Stray
                && memchr::memchr2(b'<', b'>', bytes.get(token.start + 1..).unwrap_or_default()).is_none();
            if self.is_too_damaged() {
                return self.give_up(token.start);
            }
            self.gap(at, token.start);
            if is_cut {
                if self.closed.is_some() {
                    self.note(RepairKind::TrailingJunk, token.start);
                }
                self.cut(token.start);
                return;
            }
            let copied = self.copy_sound(&token).or_else(|| self.endless_section(&token));
            at = copied.unwrap_or_else(|| {
                let token = self.tag_without_quote(&token).unwrap_or(token);
                self.token(&token);
                token.end
            });
        }
        self.gap(at, bytes.len());
        self.cut(bytes.len());
    }

    fn token(&mut self, token: &Markup) {
        if self.closed.is_some() {
            return self.after_root(token);
        }
        match token.kind {
            Kind::Start | Kind::Empty => self.start(token),
            Kind::End => self.end(token),
            Kind::Comment => self.comment(token),
            Kind::Cdata => {
                let place = if self.place() == TextContext::Url { TextContext::RawUrl } else { TextContext::Raw };
                if let Some(top) = self.stack.last_mut() {
                    top.has_text = true;
                }
                self.raw(token, place);
            }
            Kind::Instruction if super::declaration_of(self.bytes, token).is_some() => {
                self.note(RepairKind::Concatenated, token.start);
            }
            Kind::Instruction if super::is_sound_instruction(self.bytes, token) => {
                self.raw(token, TextContext::Raw);
            }
            Kind::Instruction | Kind::Declaration => self.note_stray(token),
            Kind::Stray => {
                if let Some(top) = self.stack.last_mut() {
                    top.has_text = true;
                }
                // What a comment was to hold that does not end, and where a URL ends that it begins in, nobody can say.
                let rest = self.bytes.get(token.start..).unwrap_or_default();
                let is_open = self.place() == TextContext::Url || self.stack.last().is_none_or(Open::is_entry);
                if is_open && matches!(rest, [b'<', b'!' | b'?', ..]) {
                    self.note_broken(token.start, |repairer| {
                        format!("{} does not end; read as text", repairer.snippet(token.start))
                    });
                    self.out.extend_from_slice(b"&lt;");
                    return;
                }
                self.characters(token.start, token.end, self.place());
            }
        }
    }

    /// Where characters stand now.
    pub(super) fn place(&self) -> TextContext {
        match self.stack.get(1) {
            Some(Open { level: Level::Field(Field::Loc), .. }) => TextContext::Url,
            _ if self.stack.last().is_some_and(|top| top.is_known && is_url(names::split(top.name).1)) => {
                TextContext::Url
            }
            _ => TextContext::Text,
        }
    }

    /// Text between two tokens.
    fn gap(&mut self, from: usize, to: usize) {
        let text = self.bytes.get(from..to).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        let is_blank = markup::is_blank(text);
        if self.closed.is_some() {
            let blank = text.iter().position(|byte| !markup::is_space(*byte)).unwrap_or(text.len());
            self.out.extend_from_slice(text.get(..blank).unwrap_or_default());
            if !is_blank {
                self.note(RepairKind::TrailingJunk, from + blank);
            }
            return;
        }
        if !is_blank {
            self.empty_entry = None;
            if let Some(top) = self.stack.last_mut() {
                top.has_text = true;
            }
        }
        self.characters(from, to, self.place());
    }

    /// Does something while an entry counts as open.
    pub(super) fn within_entry(&mut self, act: impl FnOnce(&mut Self)) {
        let entry = Open {
            level: Level::Entry,
            name: &[],
            written: Cow::Borrowed(&[]),
            lead: 0,
            tag: 0,
            inner: 0,
            source: (0, 0),
            has_text: false,
            has_child: false,
            is_known: false,
            declares: false,
            is_implied: false,
            is_stray: false,
        };
        self.stack.push(entry);
        act(self);
        self.stack.pop();
    }

    /// What a tag means here; names of the protocol in other letters count, and get their own.
    pub(super) fn role(&self, token: &Markup) -> Role<'b> {
        let name: &'b [u8] = token.name(self.bytes);
        let (prefix, local) = names::split(name);
        if root_kind(local).is_some() && self.names.is_core(prefix) {
            return Role::Root;
        }
        // Nearly always the name is as it should be, and nothing is copied.
        let written = |own: &str| {
            if local == own.as_bytes() {
                return Cow::Borrowed(name);
            }
            Cow::Owned([name.get(..name.len() - local.len()).unwrap_or_default(), own.as_bytes()].concat())
        };
        let is = |own: &str| local.eq_ignore_ascii_case(own.as_bytes());
        // An entry may declare what its own prefix means, for itself and for what is in it.
        let inside = self.inside.as_ref().filter(|_| !self.stack.is_empty());
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

    pub(super) fn start(&mut self, token: &Markup) {
        match self.role(token) {
            Role::Root => self.second_root(token),
            Role::Entry(written) => {
                // A foreign element may hold what looks like an entry, if it is closed; nothing says that it is.
                if let Some(first) = self.stack.first() {
                    match first.level {
                        Level::Entry if first.is_implied => {}
                        Level::Other => self.unwrap(token.start, true),
                        _ => self.note_nested(token.start),
                    }
                    self.close_all(token.start);
                }
                // What the entry before it declared ends with that one.
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
        let (level, has_text, has_child) =
            self.stack.last().map_or((None, false, false), |top| (Some(top.level), top.has_text, top.has_child));
        match level {
            None if field == Field::Loc => self.imply_entry(token),
            Some(Level::Other) if field == Field::Loc && self.stack.first().is_some_and(|open| open.is_stray) => {
                self.unwrap(token.start, false);
                self.close_all(token.start);
                self.imply_entry(token);
            }
            // A second loc begins another entry that has no tags of its own.
            Some(Level::Entry) if field == Field::Loc && has_child && self.is_implied() => {
                self.close_all(token.start);
                self.imply_entry(token);
            }
            Some(Level::Entry) => {}
            Some(Level::Field(open)) if open == field && has_text && !has_child && token.kind == Kind::Start => {
                return self.close_meant(token);
            }
            Some(Level::Field(_)) if has_text => {
                self.note_unclosed(token);
                self.close_above(1, token.start);
            }
            None | Some(Level::Field(_) | Level::Other) => return self.other(token),
        }
        self.push(token, Level::Field(field), written);
    }

    /// Takes what begins an entry out of the elements around it. One that would be left with nothing in it goes.
    fn unwrap(&mut self, at: usize, has_tags: bool) {
        let names: Vec<&[u8]> = self.stack.iter().map(|open| open.name).collect();
        self.note_wrapped(&names, (at, self.entries, has_tags));
        let is_stray = self.stack.first().is_some_and(|open| open.is_stray);
        while let Some(top) = self.stack.last().filter(|_| is_stray) {
            let (tag, inner) = (top.tag, top.inner);
            let attributes = (top.source.0 + 1 + top.name.len(), top.source.1.saturating_sub(1));
            let has_attributes = self.bytes.get(attributes.0..attributes.1).is_none_or(|text| !markup::is_blank(text));
            let is_blank = self.out.get(inner..).is_some_and(markup::is_blank);
            if has_attributes || !is_blank {
                break;
            }
            self.out.drain(tag..inner);
            self.take_top();
        }
    }

    fn other(&mut self, token: &Markup) {
        let name = token.name(self.bytes);
        if let Some(top) = self.stack.last()
            && (top.name == name && top.is_known && top.has_text && !top.has_child && token.kind == Kind::Start)
        {
            return self.close_meant(token);
        }
        self.declare_usual(token);
        self.push(token, Level::Other, Cow::Borrowed(name));
    }

    /// Notes an end tag whose name has a character that no name may have.
    pub(super) fn note_name(&mut self, token: &Markup) {
        self.note_broken(token.start, |repairer| {
            let written = repairer.shown(token.start, token.end);
            format!("{written} has a character that no name may have; read as {}", end_tag(token.name(repairer.bytes)))
        });
    }

    /// A start tag where the end tag of the open element belongs.
    fn close_meant(&mut self, token: &Markup) {
        self.note_meant(token, |repairer| repairer.stack.last().map_or_else(String::new, |top| end_tag(&top.written)));
        self.pop();
    }

    /// Notes that a tag stands where another one was meant, which closes what is open.
    pub(super) fn note_meant(&mut self, token: &Markup, meant: impl FnOnce(&Self) -> String) {
        self.note_broken(token.start, |repairer| {
            let name = token.name(repairer.bytes);
            let found = if token.kind == Kind::End { end_tag(name) } else { tag(name) };
            format!("{found} stands where {} was meant; read so", meant(repairer))
        });
    }

    /// Notes a tag before which the innermost open element is not closed.
    pub(super) fn note_unclosed(&mut self, token: &Markup) {
        self.note_broken(token.start, |repairer| {
            let name = token.name(repairer.bytes);
            let found = if token.kind == Kind::End { end_tag(name) } else { tag(name) };
            let open = repairer.stack.last().map_or_else(String::new, |top| tag(&top.written));
            format!("{open} is not closed before {found}; closed here")
        });
    }

    pub(super) fn is_implied(&self) -> bool {
        self.stack.first().is_some_and(|open| open.is_implied)
    }

    /// An entry for a loc that has none: the empty one before it, or a new one.
    fn imply_entry(&mut self, token: &Markup) {
        let bytes = self.bytes;
        let empty_entry = self.empty_entry.take();
        let reopened = empty_entry.is_some();
        let mut lead = self.out.len();
        let name = if let Some(EmptyEntry { tag, close, end }) = empty_entry {
            // Its end tag goes; what follows it are blanks.
            lead = tag;
            let name = self.out.get(close + 2..end - 1).unwrap_or_default().trim_ascii_end().to_vec();
            self.out.drain(close..end);
            name
        } else {
            let prefix = token.name(bytes);
            let prefix = prefix.get(..prefix.len() - names::split(prefix).1.len()).unwrap_or_default();
            let name = [prefix, self.names.kind.entry_name().as_bytes()].concat();
            self.anchor(token.start);
            self.out.push(b'<');
            self.out.extend_from_slice(&name);
            self.out.push(b'>');
            self.entries += 1;
            // It declares nothing, whatever the entry before it did.
            self.inside = None;
            name
        };
        self.stack.push(Open {
            level: Level::Entry,
            name: &[],
            written: name.into(),
            lead,
            tag: lead,
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
            self.note_broken(token.start, |repairer| {
                let (name, entry) = (tag(token.name(repairer.bytes)), repairer.stack.first());
                let entry = entry.map_or_else(String::new, |entry| end_tag(&entry.written));
                format!("{name} stands after {entry}; taken into that entry")
            });
        } else {
            self.note(RepairKind::Outside, token.start);
        }
    }

    fn push_entry(&mut self, token: &Markup, written: Cow<'b, [u8]>) {
        self.empty_entry = None;
        self.anchor(token.start);
        self.entries += 1;
        self.inside = self.names.within(self.bytes, token);
        self.push(token, Level::Entry, written);
    }

    /// Remembers that two places belong together, if the last such pair does not say so any more.
    pub(super) fn anchor(&mut self, at: usize) {
        if std::mem::take(&mut self.moved) {
            self.anchors.push((self.out.len(), at));
        }
    }

    /// Writes a start tag and opens its element.
    fn push(&mut self, token: &Markup, level: Level, written: Cow<'b, [u8]>) {
        self.empty_entry = None;
        let name = token.name(self.bytes);
        if let Some(parent) = self.stack.last_mut() {
            parent.has_child = true;
        }
        let attributes = token.attributes(self.bytes);
        let tag = self.out.len();
        let prefix = names::split(name).0;
        let is_known = !prefix.is_empty() && namespace::by_usual_prefix(prefix).is_some();
        let declares = declares_own(attributes);
        let is_below_root = self.stack.is_empty() && level == Level::Other;
        let is_stray = is_below_root && self.names.resolve(self.bytes, token).0 == names::Meaning::Core;
        if is_below_root {
            // What an entry before it declared ended with that.
            self.inside = None;
        }
        let recased = *written != *name;
        let shown = written.clone();
        // The entry is open before its tag is written, so that what is repaired in the tag is counted as its own.
        self.stack.push(Open {
            level,
            name,
            written,
            lead: tag,
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
            self.note(RepairKind::NameCase, token.start);
        }
        self.tag(token, &shown);
        let inner = self.out.len();
        if token.kind == Kind::Empty {
            self.stack.pop();
            return;
        }
        self.declaring += usize::from(declares);
        if level == Level::Other {
            *self.open.entry(name).or_default() += 1;
        }
        if let Some(top) = self.stack.last_mut() {
            top.inner = inner;
        }
    }

    /// Takes the innermost open element off the stack.
    fn take_top(&mut self) -> Option<Open<'b>> {
        let top = self.stack.pop()?;
        self.declaring -= usize::from(top.declares);
        if top.level == Level::Other
            && let Some(count) = self.open.get_mut(top.name)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.open.remove(top.name);
            }
        }
        Some(top)
    }

    /// Closes the innermost open element.
    pub(super) fn pop(&mut self) {
        self.pop_by(0, 0);
    }

    /// Closes it by an end tag of the file, or by one of our own where that is nothing.
    fn pop_by(&mut self, from: usize, to: usize) {
        let Some(top) = self.take_top() else { return };
        let start = self.out.len();
        if let Some(tag) = self.bytes.get(from..to).filter(|tag| !tag.is_empty()) {
            self.out.extend_from_slice(tag);
        } else {
            self.out.extend_from_slice(b"</");
            self.out.extend_from_slice(&top.written);
            self.out.push(b'>');
        }
        if top.level == Level::Entry && !top.has_child && !top.has_text {
            self.empty_entry = Some(EmptyEntry { tag: top.tag, close: start, end: self.out.len() });
        }
    }

    /// Closes what is open above `height`; a field with markup in it that does not end holds text.
    fn close_above(&mut self, height: usize, to: usize) {
        if self.stack.len() > 2 && matches!(self.stack.get(1), Some(Open { level: Level::Field(_), .. })) {
            self.flatten(to);
        }
        while self.stack.len() > height {
            self.pop();
        }
    }

    pub(super) fn close_all(&mut self, to: usize) {
        self.close_above(0, to);
    }

    /// Writes the open field again, up to `to` in the file, with the tags in it as text.
    fn flatten(&mut self, to: usize) {
        let (Some(field), Some(first)) = (self.stack.get(1), self.stack.get(2)) else { return };
        let (inner, from, first) = (field.inner, field.source.1, first.source.0);
        self.out.truncate(inner);
        while self.stack.len() > 2 {
            self.take_top();
        }
        if let Some(field) = self.stack.last_mut() {
            field.has_child = false;
            field.has_text = true;
        }
        self.note(RepairKind::Angle, first);
        self.characters(from, to, self.place());
    }

    fn end(&mut self, token: &Markup) {
        let name = token.name(self.bytes);
        let matches = |open: &Open<'_>| {
            open.name == name
                || *open.written == *name
                || (open.level != Level::Other && open.written.eq_ignore_ascii_case(name))
        };
        if let Some(top) = self.stack.last()
            && matches(top)
        {
            if !is_sound_end(self.bytes, token) {
                self.note_name(token);
                return self.pop();
            }
            if *top.written == *name {
                return self.pop_by(token.start, token.end);
            }
            if top.written.eq_ignore_ascii_case(name) {
                self.note(RepairKind::NameCase, token.start);
            }
            return self.pop();
        }
        let is_field = self.stack.get(1).is_some_and(|open| matches!(open.level, Level::Field(_)) && matches(open));
        if is_field {
            return self.close_above(1, token.start);
        }
        if self.stack.first().is_some_and(matches) {
            self.note_unclosed(token);
            return self.close_all(token.start);
        }
        if self.open.get(name).is_some_and(|count| *count > 0) {
            self.note_unclosed(token);
            while self.stack.last().is_some_and(|top| top.name != name) {
                self.pop();
            }
            return self.pop();
        }
        if root_kind(names::split(name).1).is_some() {
            return self.end_root(token);
        }
        if self.stack.len() < 2 && self.stack.first().is_none_or(|open| open.is_implied) && self.close_wrapped(name) {
            return self.close_all(token.start);
        }
        let is_entry = matches!(names::split(name).1, b"url" | b"sitemap");
        if self.stack.is_empty() && is_entry && self.close_nested() {
            return;
        }
        // A field, or an element that holds text alone, is closed by whatever end tag comes.
        let is_typo = self.stack.last().is_some_and(|top| match top.level {
            Level::Entry => false,
            Level::Field(_) => true,
            Level::Other => top.is_known && top.has_text && !top.has_child,
        });
        if is_typo {
            self.close_meant(token);
        } else {
            self.note_broken(token.start, |repairer| {
                format!("{} closes nothing; left out", end_tag(token.name(repairer.bytes)))
            });
        }
    }
}
