//! Repairs damaged XML: makes it well-formed token by token, and lists what was changed.
//!
//! Tokens are repaired before anything is parsed: a raw `&` becomes `&amp;`, and one damaged row does not affect the
//! rows after it. One pass over UTF-8 bytes, without recursion. Invariant: the result scans without damage. Rule
//! catalogue, section 11.

mod closing;
mod elements;
mod end;
mod html;
mod log;
mod nested;
mod prolog;
mod segments;
mod sound_entries;
mod text;
mod token;
mod tree;
mod words;

use super::entities::Entities;
use super::instruction;
use super::markup::{self, Kind, Markup};
use super::names::{self, FileKind, Names};
use crate::protocol::Field;
use crate::protocol::namespace::{self, SITEMAP_09};
use crate::xml::defect::{Defect, FoundDefect};
use elements::{Open, OpenElements};
use log::RepairLog;
use nested::Nesting;
use sound_entries::SoundnessCheck;
use token::Tokens;
use words::snippet;

/// The result of a repair.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// Well-formed bytes.
    pub bytes: Vec<u8>,
    /// The repairs: one per kind and entry, in file order.
    pub repairs: Vec<FoundDefect>,
    /// Corresponding offsets in the repaired and in the damaged bytes, in rising order.
    pub anchors: Vec<(usize, usize)>,
    /// Length of the prefix that is known to be unchanged: [`SoundPrefix::end`] or 0.
    pub kept: usize,
}

/// The undamaged beginning of a damaged file; it ends with an entry that has fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoundPrefix {
    /// Number of entries.
    pub entries: u32,
    /// The end of the last entry.
    pub end: usize,
}

/// Memory limit: the number of repairs, moved entries and open elements that are held for any file, plus one for a
/// number of its bytes. A file that exceeds it is damaged in nearly every tag; the rest of it is left out.
const PIECES: usize = 200_000;
const BYTES_OF_PIECE: usize = 16;

/// The memory limit for a file of this size, in pieces.
const fn max_pieces(file_len: usize) -> usize {
    PIECES + file_len / BYTES_OF_PIECE
}

/// Repairs a damaged file; `None` when nothing in it is a sitemap. `bytes` must be UTF-8.
pub fn repair(bytes: &[u8]) -> Option<Repaired> {
    repair_after(bytes, None)
}

/// [`repair`] for a file with a known undamaged beginning.
pub fn repair_after(bytes: &[u8], kept: Option<SoundPrefix>) -> Option<Repaired> {
    let mut repairer = Repairer::new(bytes);
    repairer.soundness = Some(SoundnessCheck::new(bytes));
    let body = prolog::write(&mut repairer)?;
    let kept =
        kept.filter(|kept| repairer.moved == Moved::No && kept.end >= body && bytes.get(body..kept.end).is_some());
    if let Some(kept) = kept {
        repairer.out.extend_from_slice(bytes.get(body..kept.end).unwrap_or_default());
        repairer.entries = kept.entries;
    }
    segments::repair_body(&mut repairer, kept.map_or(body, |kept| kept.end));
    let is_kept = repairer.needed.is_empty();
    let repaired = repairer.finish();
    Some(Repaired { kept: kept.filter(|_| is_kept).map_or(0, |kept| kept.end), ..repaired })
}

/// The kind of a damaged sitemap, if it is one: by the first root, ignoring case, else by the first entry.
pub fn kind(bytes: &[u8]) -> Option<FileKind> {
    let (mut tokens, mut at, mut entry, mut is_first) = (Tokens::default(), 0, None, true);
    let mut is_cut = false;
    while let Some(token) = tokens.next(bytes, at) {
        at = token.end;
        if matches!(token.kind, Kind::Start | Kind::Empty) {
            let local = names::split(token.name(bytes)).1;
            if let Some(kind) = root_kind(local) {
                return Some(kind);
            }
            // Without another root, entries determine the kind.
            is_cut |= is_first && matches!(local, b"url" | b"sitemap");
            is_cut |= is_first && Field::ALL.iter().any(|field| local == field.name().as_bytes());
            is_first = false;
            if !is_cut {
                continue;
            }
            if entry.is_none() && local == b"url" {
                entry = Some(FileKind::Urlset);
            } else if entry.is_none() && local == b"sitemap" {
                entry = Some(FileKind::Index);
            }
        }
    }
    entry
}

/// The kind of a file by the local name of its root, ignoring case.
fn root_kind(local: &[u8]) -> Option<FileKind> {
    [FileKind::Urlset, FileKind::Index].into_iter().find(|kind| local.eq_ignore_ascii_case(kind.root_name().as_bytes()))
}

/// The root of the repaired file.
#[derive(Default, Clone)]
struct Root {
    /// Its start tag, as written last.
    tag: Vec<u8>,
    start: usize,
    /// Where it ends in the file.
    source_end: usize,
    name: Vec<u8>,
    is_empty: bool,
    /// Whether the file has an end tag for it.
    is_closed: bool,
}

/// An entry without children: the output offsets of its start tag, its end tag and the end of that.
struct EmptyEntry {
    tag: usize,
    close: usize,
    end: usize,
}

/// Whether offsets in the output and in the input differ by another number than at the last anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    No,
    Yes,
    /// Unknown: nothing has moved since the start of a segment, and the segment before it is being repaired.
    Unknown,
}

struct Repairer<'b> {
    bytes: &'b [u8],
    tokens: Tokens,
    out: Vec<u8>,
    log: RepairLog,
    anchors: Vec<(usize, usize)>,
    /// Whether positions have moved since the last anchor.
    moved: Moved,
    entities: Entities<'b>,
    /// Prefixes to be declared, with their namespaces.
    needed: Vec<(Vec<u8>, Vec<u8>)>,
    names: Names,
    /// Finds sound entries; without it all entries are repaired token by token.
    soundness: Option<SoundnessCheck>,
    /// The names in the open entry, if it declares namespaces.
    inside: Option<Names>,
    root: Root,
    elements: OpenElements<'b>,
    /// Number of entries begun.
    entries: u32,
    nesting: Nesting<'b>,
    /// The last entry, if it has no children and only blanks follow it.
    empty_entry: Option<EmptyEntry>,
    /// The output offset of the root's end tag, and the input offset after it.
    closed: Option<(usize, usize)>,
    /// In a segment: the number of declarations that were needed before it. Its repair stops at what needs the whole
    /// file.
    needed_before: Option<usize>,
    /// Whether the first anchor is needed only if positions moved before the segment.
    is_first_anchor_unsure: bool,
    /// The largest number of pieces so far.
    most_pieces: usize,
}

impl<'b> Repairer<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            tokens: Tokens::default(),
            out: Vec::with_capacity(bytes.len() + bytes.len() / 64 + 256),
            log: RepairLog::new(bytes.len()),
            anchors: Vec::new(),
            moved: Moved::No,
            entities: Entities::default(),
            needed: Vec::new(),
            names: Names::plain(FileKind::Urlset),
            soundness: None,
            inside: None,
            root: Root::default(),
            elements: OpenElements::default(),
            entries: 0,
            nesting: Nesting::default(),
            empty_entry: None,
            closed: None,
            needed_before: None,
            is_first_anchor_unsure: false,
            most_pieces: 0,
        }
    }

    /// Records a repair, with the text at that position.
    fn note(&mut self, kind: Defect, at: usize) {
        self.note_with(kind, at, |repairer| snippet(repairer.bytes, at));
    }

    /// The number of repairs, moved entries and open elements that are held.
    fn pieces(&self) -> usize {
        self.log.repairs.len() + self.anchors.len() + self.elements.stack.len() + self.nesting.len()
    }

    fn note_text(&mut self, kind: Defect, at: usize, what: String) {
        self.note_with(kind, at, |_| what);
    }

    /// Records markup that is not well-formed, with its replacement.
    fn note_broken(&mut self, at: usize, what: impl FnOnce(&Self) -> String) {
        self.note_with(Defect::NotWellFormed, at, what);
    }

    fn note_with(&mut self, kind: Defect, at: usize, what: impl FnOnce(&Self) -> String) {
        self.moved = Moved::Yes;
        let entry = self.current_entry();
        if self.log.is_new(kind, at, entry) {
            let what = if self.log.is_full() { String::new() } else { what(self) };
            self.log.push(kind, at, entry, what);
        }
    }

    fn current_entry(&self) -> Option<u32> {
        let is_open = self.elements.stack.first().is_some_and(Open::is_entry);
        if is_open { self.entries.checked_sub(1) } else { None }
    }

    /// Records an instruction or a declaration that is removed.
    fn note_stray(&mut self, token: &Markup) {
        self.note_broken(token.start, |repairer| {
            format!("{} is not allowed here; omitted", snippet(repairer.bytes, token.start))
        });
    }

    fn root(&mut self, token: &Markup, kind: FileKind) {
        let name = token.name(self.bytes);
        let (prefix, local) = names::split(name);
        let mut written = name.to_vec();
        if local != kind.root_name().as_bytes() {
            self.note(Defect::NameCase, token.start);
            written = [prefix, if prefix.is_empty() { b"" } else { b":" }, kind.root_name().as_bytes()].concat();
        }
        self.root.start = self.out.len();
        self.tag(token, &written);
        self.root.tag = self.out.get(self.root.start..).unwrap_or_default().to_vec();
        self.root.name = written;
        self.root.is_empty = token.kind == Kind::Empty;
        self.root.is_closed = self.root.is_empty;
        self.root.source_end = token.end;
        self.moved = if self.bytes.get(..token.end) == Some(&self.out) { Moved::No } else { Moved::Yes };
        self.read_names();
        if self.root.is_empty {
            self.closed = Some((self.out.len(), self.out.len()));
        }
    }

    /// Writes a root if the file has none.
    fn root_for(&mut self, token: &Markup, kind: FileKind) {
        self.note_broken(token.start, |_| format!("no <{}> before the first entry; added", kind.root_name()));
        self.root.start = self.out.len();
        self.root.name = kind.root_name().as_bytes().to_vec();
        self.root.tag = format!("<{} xmlns=\"{SITEMAP_09}\">", kind.root_name()).into_bytes();
        self.out.extend_from_slice(&self.root.tag);
        self.out.push(b'\n');
        self.root.is_closed = true;
        self.read_names();
    }

    /// Reads the declarations of the root's tag and those to be added to it.
    fn read_names(&mut self) {
        let tag = declared(&self.root.tag, &self.needed);
        if let Some(names) = markup::next(&tag, 0).and_then(|token| Names::of_root(&tag, &token)) {
            self.names = names;
        }
    }

    /// Adds a declaration to the root.
    fn declare(&mut self, prefix: &[u8], uri: &[u8]) {
        if self.names.declares(prefix) {
            return;
        }
        self.needed.push((prefix.to_vec(), uri.to_vec()));
        if names::split(&self.root.name).0 == prefix {
            // The namespace of the root depends on it.
            return self.read_names();
        }
        self.names.declare(prefix, &super::escape::lossy(uri));
    }

    /// Declares the prefix of an element if it is undeclared and well known.
    fn declare_usual(&mut self, token: &Markup) {
        let prefix = names::split(token.name(self.bytes)).0;
        if prefix.is_empty() || self.names.declares(prefix) {
            return;
        }
        if let Some(uri) = namespace::by_usual_prefix(prefix).and_then(namespace::Namespace::uri)
            && self.elements.declaring == 0
            && !declares_own(token.attributes(self.bytes))
        {
            self.note(Defect::UndeclaredPrefix, token.start);
            self.declare(prefix, uri.as_bytes());
        }
    }

    fn finish(mut self) -> Repaired {
        if !self.needed.is_empty() {
            let tag = declared(&self.root.tag, &self.needed);
            let start = self.root.start;
            let end = start + self.root.tag.len();
            let more = tag.len().saturating_sub(self.root.tag.len());
            self.out.splice(start..end.min(self.out.len()), tag);
            for anchor in self.anchors.iter_mut().filter(|anchor| anchor.0 >= end) {
                anchor.0 += more;
            }
            if self.root.source_end > 0 {
                self.anchors.insert(0, (end + more, self.root.source_end));
            }
        }
        let mut repairs = self.log.repairs;
        repairs.sort_by_key(|repair| repair.at);
        repairs.dedup();
        Repaired { bytes: self.out, repairs, anchors: self.anchors, kept: 0 }
    }
}

/// Whether an instruction is kept unchanged.
fn is_sound_instruction(bytes: &[u8], token: &Markup) -> bool {
    instruction::is_sound(bytes, token) && !text::has_illegal(bytes.get(token.start..token.end).unwrap_or_default())
}

/// Whether an instruction is, or was meant to be, the XML declaration, and whether it is a sound one.
fn declaration_of(bytes: &[u8], token: &Markup) -> Option<bool> {
    if instruction::is_declaration(bytes, token) {
        return Some(is_sound_instruction(bytes, token));
    }
    let inside = bytes.get(token.start + 2..token.end - 2).unwrap_or_default().trim_ascii_start();
    let name = inside.get(..4)?;
    (name.get(..3)?.eq_ignore_ascii_case(b"xml") && !matches!(name.get(3), Some(b'-'))).then_some(false)
}

/// Whether attributes declare a prefix.
fn declares_own(attributes: &[u8]) -> bool {
    memchr::memmem::find(attributes, b"xmlns").is_some()
        && markup::attributes(attributes).any(|attribute| attribute.name.starts_with(b"xmlns"))
}

/// A root's start tag with more declarations.
fn declared(tag: &[u8], needed: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let end = if tag.ends_with(b"/>") { tag.len() - 2 } else { tag.len().saturating_sub(1) };
    let mut out = tag.get(..end).unwrap_or_default().to_vec();
    for (prefix, uri) in needed {
        out.extend_from_slice(b" xmlns:");
        out.extend_from_slice(prefix);
        out.extend_from_slice(b"=\"");
        out.extend_from_slice(uri);
        out.push(b'"');
    }
    out.extend_from_slice(tag.get(end..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests;
