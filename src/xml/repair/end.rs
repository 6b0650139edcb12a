//! Repairs the end of a file: the end tag of the root, content after it, and truncation.

use super::super::markup::{self, Kind, Markup};
use super::super::names;
use super::super::wellformed::is_name;
use super::text::{TextContext, has_illegal, is_sound_end};
use super::tree::Role;
use super::words::{end_tag, tag};
use super::{Repairer, root_kind};
use crate::protocol::Field;
use crate::words::grouped;
use crate::xml::defect::Defect;

impl Repairer<'_> {
    /// Handles an end tag of the root.
    pub(super) fn end_root(&mut self, token: &Markup) {
        self.recorder.stop();
        if !self.elements.stack.is_empty() {
            if !self.elements.is_implied() || self.elements.stack.len() > 1 {
                self.note_unclosed(token);
            }
            self.close_all(token.start);
        }
        if token.name(self.bytes) != self.root.name {
            if token.name(self.bytes).eq_ignore_ascii_case(&self.root.name) {
                self.note(Defect::NameCase, token.start);
            } else {
                self.note_intended(token, |repairer| end_tag(&repairer.root.name));
            }
        }
        self.root.is_closed = true;
        let is_sound = is_sound_end(self.bytes, token);
        if !is_sound {
            self.note_name(token);
        }
        if is_sound && token.name(self.bytes) == self.root.name {
            let start = self.out.len();
            self.out.extend_from_slice(self.bytes.get(token.start..token.end).unwrap_or_default());
            self.closed = Some((start, self.out.len()));
        } else {
            self.close_root();
        }
    }

    /// Writes a new end tag of the root.
    fn close_root(&mut self) {
        let start = self.out.len();
        self.out.extend_from_slice(b"</");
        self.out.extend_from_slice(&self.root.name);
        self.out.push(b'>');
        self.closed = Some((start, self.out.len()));
    }

    /// Removes the end tag of a root that was closed too early; the trivia after it stay in the output.
    fn reopen(&mut self) {
        let Some((start, end)) = self.closed.take() else { return };
        let trivia = self.out.get(end..).unwrap_or_default().to_vec();
        self.out.truncate(end);
        if self.root.is_empty {
            self.root.is_empty = false;
            let len = self.out.len().saturating_sub(2);
            self.out.truncate(len);
            self.out.push(b'>');
            self.root.tag = self.out.get(self.root.start..).unwrap_or_default().to_vec();
        } else {
            self.out.truncate(start);
        }
        self.out.extend_from_slice(&trivia);
    }

    /// Merges a second root with the first one.
    pub(super) fn second_root(&mut self, token: &Markup) {
        self.recorder.stop();
        if !self.elements.stack.is_empty() {
            self.close_all(token.start);
        }
        if self.entries > 0 {
            self.note(Defect::Concatenated, token.start);
        } else {
            self.note_malformed(token.start, |repairer| {
                format!("{} is a second root; merged with the first", tag(token.name(repairer.bytes)))
            });
        }
        let bytes = self.bytes;
        self.inside = None;
        for attribute in markup::attributes(token.attributes(bytes)) {
            if let Some(prefix) = attribute.name.strip_prefix(b"xmlns:")
                && is_name(prefix)
                && !has_illegal(attribute.value)
                && !attribute.value.iter().any(|byte| matches!(byte, b'"' | b'<' | b'&'))
            {
                self.declare(prefix, attribute.value);
            }
        }
    }

    /// Handles a token after the root: trivia are kept, entries are moved into the root, the rest is removed.
    pub(super) fn after_root(&mut self, token: &Markup) {
        match token.kind {
            Kind::Comment => self.comment(token),
            Kind::Instruction if super::declaration_of(self.bytes, token).is_some() => {
                self.note(Defect::Concatenated, token.start);
            }
            Kind::Instruction if super::is_sound_instruction(self.bytes, token) => {
                self.characters(token.start, token.end, TextContext::Raw);
            }
            Kind::Start | Kind::Empty => match self.role(token) {
                Role::Root => {
                    self.reopen();
                    self.note(Defect::Concatenated, token.start);
                    self.second_root(token);
                    if token.kind == Kind::Empty {
                        self.close_root();
                    }
                }
                Role::Entry(_) | Role::Field(Field::Loc, _) => {
                    self.reopen();
                    self.note_malformed(token.start, |repairer| {
                        let (name, root) = (tag(token.name(repairer.bytes)), end_tag(&repairer.root.name));
                        format!("{name} after {root}; moved into the document")
                    });
                    self.start(token);
                    // After the root, a quote is not missed: elsewhere the same tag may end earlier.
                    self.recorder.stop();
                }
                Role::Field(..) | Role::Other => self.note(Defect::TrailingJunk, token.start),
            },
            Kind::End if root_kind(names::split(token.name(self.bytes)).1).is_some() => {
                self.note_malformed(token.start, |repairer| {
                    format!("extra {}; omitted", end_tag(token.name(repairer.bytes)))
                });
            }
            _ => self.note(Defect::TrailingJunk, token.start),
        }
    }

    /// Ends the document, unless it has its end tag: removes open elements, which are incomplete, and closes the root.
    pub(super) fn end_truncated(&mut self, at: usize) {
        if self.closed.is_some() {
            return;
        }
        if self.elements.stack.len() == 1 && self.elements.is_implied() {
            self.pop();
        }
        if self.drop_open_elements() {
            let message = match self.entries {
                1 => "1 complete entry is here, the incomplete one is omitted".to_owned(),
                count => format!("{count} complete entries are here, the incomplete one is omitted"),
            };
            self.note_with(Defect::Truncated, at, |_| message);
        } else if !self.root.is_closed {
            let root = String::from_utf8_lossy(&self.root.name).into_owned();
            self.note_with(Defect::Truncated, at, |_| format!("</{root}> is missing; all entries are complete"));
        }
        self.write_missing_end();
    }

    /// Ends the repair and the document, because the memory limit is exceeded.
    pub(super) fn give_up(&mut self, at: usize) {
        self.drop_open_elements();
        let message = match self.entries {
            1 => "1 entry kept".to_owned(),
            count => format!("{} entries kept", grouped(count.into())),
        };
        self.log.reserve_description();
        self.note_with(Defect::TooDamaged, at, |_| message);
        if self.closed.is_none() {
            self.write_missing_end();
        }
    }

    /// Removes the open elements below the root, with their repairs and anchors. Returns whether there were any.
    fn drop_open_elements(&mut self) -> bool {
        let Some(first) = self.elements.stack.first() else { return false };
        let is_entry = first.is_entry();
        let (start, entry) = (first.tag, self.current_entry());
        self.out.truncate(start);
        self.elements.clear();
        if is_entry {
            self.entries = self.entries.saturating_sub(1);
            self.log.repairs.retain(|repair| repair.entry != entry);
            self.anchors.retain(|anchor| anchor.0 < start);
        }
        true
    }

    /// Writes the missing end tag of the root on a line of its own.
    fn write_missing_end(&mut self) {
        if !self.out.ends_with(b"\n") {
            self.out.push(b'\n');
        }
        self.close_root();
        self.out.push(b'\n');
    }
}
