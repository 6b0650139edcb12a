//! Closes elements: at their end tags, at tags that were written instead of them, and if the end tag is missing.

use super::super::markup::{self, Kind, Markup};
use super::super::names;
use super::elements::{Level, Open};
use super::text::is_sound_end;
use super::words::{end_tag, excerpt};
use super::{EmptyEntry, Repairer, root_kind};
use crate::xml::defect::Defect;

impl Repairer<'_> {
    /// Closes the innermost open element with a new end tag.
    pub(super) fn pop(&mut self) {
        self.pop_with(0, 0);
    }

    /// Closes the innermost open element with the end tag at `from..to` in the file, or with a new one if that range is
    /// empty.
    fn pop_with(&mut self, from: usize, to: usize) {
        let Some(top) = self.elements.pop() else { return };
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

    /// Closes the elements above `height`; unclosed markup in a field becomes text, up to `to` in the file.
    pub(super) fn close_above(&mut self, height: usize, to: usize) {
        if self.elements.stack.len() > 2
            && matches!(self.elements.stack.get(1), Some(Open { level: Level::Field(_), .. }))
        {
            self.rewrite_field_as_text(to);
        }
        while self.elements.stack.len() > height {
            self.pop();
        }
    }

    /// Closes all open elements, as [`Repairer::close_above`] does.
    pub(super) fn close_all(&mut self, to: usize) {
        self.close_above(0, to);
    }

    /// Rewrites the content of the open field, up to `to` in the file, with the tags in it as text.
    fn rewrite_field_as_text(&mut self, to: usize) {
        let (Some(field), Some(first)) = (self.elements.stack.get(1), self.elements.stack.get(2)) else { return };
        // Tags become text.
        self.recorder.stop();
        let (inner, from, first) = (field.inner, field.source.1, first.source.0);
        self.out.truncate(inner);
        while self.elements.stack.len() > 2 {
            self.elements.pop();
        }
        if let Some(field) = self.elements.stack.last_mut() {
            field.has_child = false;
            field.has_text = true;
        }
        self.note(Defect::Angle, first);
        self.characters(from, to, self.elements.text_context());
    }

    /// Closes the innermost open element at a tag that was written instead of its end tag.
    pub(super) fn close_by_other_tag(&mut self, token: &Markup) {
        self.note_intended(token, |repairer| {
            repairer.elements.stack.last().map_or_else(String::new, |top| end_tag(&top.written))
        });
        self.pop();
    }

    /// Records an end tag whose name contains an illegal character.
    pub(super) fn note_name(&mut self, token: &Markup) {
        self.note_malformed(token.start, |repairer| {
            let written = excerpt(repairer.bytes, token.start, token.end);
            format!(
                "{written} has a character that names cannot contain; read as {}",
                end_tag(token.name(repairer.bytes))
            )
        });
    }

    /// Handles an end tag before the end of the root.
    pub(super) fn end(&mut self, token: &Markup) {
        let name = token.name(self.bytes);
        let matches = |open: &Open<'_>| {
            open.name == name
                || *open.written == *name
                || (open.level != Level::Other && open.written.eq_ignore_ascii_case(name))
        };
        if let Some(top) = self.elements.stack.last()
            && matches(top)
        {
            if !is_sound_end(self.bytes, token) {
                self.note_name(token);
                return self.pop();
            }
            if *top.written == *name {
                return self.pop_with(token.start, token.end);
            }
            if top.written.eq_ignore_ascii_case(name) {
                self.note(Defect::NameCase, token.start);
            }
            return self.pop();
        }
        let is_field =
            self.elements.stack.get(1).is_some_and(|open| matches!(open.level, Level::Field(_)) && matches(open));
        if is_field {
            return self.close_above(1, token.start);
        }
        if self.elements.stack.first().is_some_and(matches) {
            self.note_unclosed(token);
            return self.close_all(token.start);
        }
        if self.elements.has(name) {
            self.note_unclosed(token);
            while self.elements.stack.last().is_some_and(|top| top.name != name) {
                self.pop();
            }
            return self.pop();
        }
        if root_kind(names::split(name).1).is_some() {
            return self.end_root(token);
        }
        if self.elements.stack.len() < 2
            && self.elements.stack.first().is_none_or(|open| open.is_implied)
            && self.close_wrapped(name)
        {
            return self.close_all(token.start);
        }
        let is_entry = matches!(names::split(name).1, b"url" | b"sitemap");
        if self.elements.stack.is_empty() && is_entry && self.close_nested() {
            return;
        }
        // An end tag that matches nothing closes a field, or a known element that contains only text.
        let is_typo = self.elements.stack.last().is_some_and(|top| match top.level {
            Level::Entry => false,
            Level::Field(_) => true,
            Level::Other => top.is_known && top.has_text && !top.has_child,
        });
        if is_typo {
            self.close_by_other_tag(token);
        } else {
            self.note_malformed(token.start, |repairer| {
                format!("{} closes nothing; omitted", end_tag(token.name(repairer.bytes)))
            });
        }
    }
}

/// Whether an entry is open that a start tag of an entry closes, and no other element.
pub(super) fn is_only_entry_open(repairer: &Repairer<'_>) -> bool {
    let [entry] = &*repairer.elements.stack else { return false };
    entry.is_entry() && !entry.is_implied && repairer.inside.is_none()
}

/// Whether the start tag of an entry is at `at` in the file.
pub(super) fn is_entry_start(repairer: &Repairer<'_>, at: usize) -> bool {
    let token = markup::next(repairer.bytes, at).filter(|token| token.start == at && token.kind == Kind::Start);
    token.is_some_and(|token| repairer.names.is_entry_tag(repairer.bytes, &token))
}

/// Closes the open entry before the start tag of another one at `at` in the file.
pub(super) fn close_entry_before(repairer: &mut Repairer<'_>, at: usize) {
    if !repairer.elements.stack.is_empty() {
        repairer.note_nested(at);
        repairer.close_all(at);
        repairer.empty_entry = None;
    }
}
