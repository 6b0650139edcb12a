//! Repairs the prolog: declaration, comments, doctype, and junk before the root.

use super::super::instruction::is_sound_doctype;
use super::super::markup::{self, Kind, Markup};
use super::super::names;
use super::text::TextContext;
use super::words::snippet;
use super::{Moved, Repairer, declaration_of, is_sound_instruction, kind, root_kind};
use crate::file_bytes::FileBytes;
use crate::xml::defect::Defect;
use crate::xml::names::FileKind;

/// The declaration that replaces an invalid one (rule catalogue, section 10).
const DECLARATION: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// The content before the root.
#[derive(Default)]
struct Prolog {
    /// Length of the byte order mark.
    mark: usize,
    declaration: Option<Vec<u8>>,
    /// The repaired content between the declaration and the root.
    misc: FileBytes,
    has_doctype: bool,
}

/// Writes the prolog and the root's start tag. Returns the offset at which the body starts, or `None` if the file has
/// neither the root nor an entry of a sitemap.
pub(super) fn write(repairer: &mut Repairer<'_>) -> Option<usize> {
    let bytes = repairer.bytes;
    let mut prolog = Prolog { mark: if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }, ..Prolog::default() };
    let mut at = prolog.mark;
    loop {
        let token = repairer.tokens.next(bytes, at)?;
        let gap = bytes.get(at..token.start).unwrap_or_default();
        let is_first = at == prolog.mark;
        if !markup::is_blank(gap) {
            let first = at + gap.iter().position(|byte| !markup::is_space(*byte)).unwrap_or(0);
            note_junk(repairer, first);
        } else if !(is_first && gap.is_empty()) {
            prolog.misc.extend_from_slice(gap);
        }
        at = token.end;
        match token.kind {
            Kind::Instruction => prolog.instruction(repairer, &token),
            Kind::Comment => prolog.write_after_declaration(repairer, |repairer| repairer.comment(&token)),
            Kind::Declaration => prolog.doctype(repairer, &token),
            Kind::Start | Kind::Empty => {
                if let Some(end) = prolog.root(repairer, &token) {
                    return Some(end);
                }
                note_junk(repairer, token.start);
            }
            Kind::End | Kind::Cdata | Kind::Stray => note_junk(repairer, token.start),
        }
    }
}

impl Prolog {
    fn instruction(&mut self, repairer: &mut Repairer<'_>, token: &Markup) {
        let bytes = repairer.bytes;
        let Some(sound) = declaration_of(bytes, token) else {
            if is_sound_instruction(bytes, token) {
                self.copy(repairer, token);
            } else {
                repairer.note_stray(token);
            }
            return;
        };
        if self.declaration.is_some() {
            repairer.note_malformed(token.start, |_| "a second XML declaration; omitted".to_owned());
            return;
        }
        if !sound {
            repairer.note_malformed(token.start, |repairer| {
                format!("{} is not a valid XML declaration; replaced", snippet(repairer.bytes, token.start))
            });
        }
        if token.start > self.mark && markup::is_blank(&self.misc) && repairer.log.repairs.is_empty() {
            repairer.note_with(Defect::LeadingBlank, self.mark, |_| String::new());
        } else if !markup::is_blank(&self.misc) {
            note_junk(repairer, self.mark);
        }
        if markup::is_blank(&self.misc) {
            self.misc.truncate(0);
        }
        let text = bytes.get(token.start..token.end).unwrap_or_default();
        if sound {
            repairer.entities.read_declaration(text);
        }
        self.declaration = Some(if sound { text.to_vec() } else { DECLARATION.to_vec() });
    }

    fn doctype(&mut self, repairer: &mut Repairer<'_>, token: &Markup) {
        let text = repairer.bytes.get(token.start..token.end).unwrap_or_default();
        if self.has_doctype || is_html_doctype(text) || !text.starts_with(b"<!DOCTYPE") {
            note_junk(repairer, token.start);
        } else if !is_sound_doctype(repairer.bytes, token) {
            repairer.note_stray(token);
        } else {
            self.has_doctype = true;
            repairer.entities.read_doctype(text);
            self.copy(repairer, token);
        }
    }

    /// Writes the prolog and the root's start tag, if `token` is the tag of a root or of an entry. Returns the offset
    /// at which the body starts.
    fn root(&mut self, repairer: &mut Repairer<'_>, token: &Markup) -> Option<usize> {
        let local = names::split(token.name(repairer.bytes)).1;
        let entry = [FileKind::Urlset, FileKind::Index].into_iter().find(|kind| local == kind.entry_name().as_bytes());
        let root = root_kind(local);
        if root.is_none() && entry.is_none() {
            return None;
        }
        repairer.out.extend_from_slice(repairer.bytes.get(..self.mark).unwrap_or_default());
        repairer.out.extend_from_slice(self.declaration.as_deref().unwrap_or_default());
        repairer.out.extend_from_slice(&self.misc);
        Some(match (root, entry) {
            (Some(kind), _) => {
                repairer.root(token, kind);
                token.end
            }
            (None, entry) => {
                // A root may follow its first entry; the file was opened as that kind.
                repairer.add_root(token, kind(repairer.bytes).or(entry).unwrap_or_default());
                token.start
            }
        })
    }

    /// Copies a token without the characters that XML does not allow.
    fn copy(&mut self, repairer: &mut Repairer<'_>, token: &Markup) {
        self.write_after_declaration(repairer, |repairer| {
            repairer.characters(token.start, token.end, TextContext::Raw);
        });
    }

    /// Runs `write` with its output redirected to `misc`, since the declaration may follow and is written first.
    fn write_after_declaration(&mut self, repairer: &mut Repairer<'_>, write: impl FnOnce(&mut Repairer<'_>)) {
        std::mem::swap(&mut repairer.out, &mut self.misc);
        write(repairer);
        std::mem::swap(&mut repairer.out, &mut self.misc);
    }
}

/// Records content before the document that is removed, once per file.
fn note_junk(repairer: &mut Repairer<'_>, at: usize) {
    repairer.moved = Moved::Yes;
    if !repairer.log.repairs.iter().any(|repair| repair.kind == Defect::LeadingJunk) {
        repairer.note(Defect::LeadingJunk, at);
    }
}

fn is_html_doctype(text: &[u8]) -> bool {
    let text = text.get(b"<!DOCTYPE".len()..).unwrap_or_default().trim_ascii_start();
    text.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"html"))
}
