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
mod patterns;
mod prolog;
mod segments;
mod sound_entries;
mod text;
mod token;
mod tree;
pub mod windows;
mod words;

use super::entities::Entities;
use super::instruction;
use super::markup::{self, Kind, Markup};
use super::names::{self, FileKind, Names};
use crate::file_bytes::FileBytes;
use crate::protocol::Field;
use crate::protocol::namespace::{self, SITEMAP_09};
use crate::xml::defect::{Defect, FoundDefect};
use crate::xml::placed_entries::PlacedEntries;
use elements::{Open, OpenElements};
use log::RepairLog;
use nested::Nesting;
use patterns::{Description, Recorder};
use sound_entries::SoundnessCheck;
use token::Tokens;
use words::{is_snippet, snippet};

/// The result of a repair.
#[derive(Debug, Default)]
pub struct Repaired {
    /// Well-formed bytes.
    pub bytes: FileBytes,
    /// The repairs: one per kind and entry, in file order.
    pub repairs: Vec<FoundDefect>,
    /// Pairs of corresponding offsets: in the repaired and in the damaged bytes, in ascending order.
    pub anchors: Vec<(usize, usize)>,
    /// Length of the prefix that is known to be unchanged: [`SoundPrefix::end`] or 0.
    pub unchanged_len: usize,
    /// The entries of a window that a scan need not parse.
    pub(crate) placed: PlacedEntries,
}

/// The undamaged beginning of a damaged file; it ends with an entry that has fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoundPrefix {
    /// Number of entries.
    pub entries: u32,
    /// The end of the last entry.
    pub end: usize,
}

/// Memory limit: the maximum number of pieces (repairs, anchors, open elements and nested entries) that are held for a
/// file, plus one for every [`BYTES_PER_PIECE`] bytes of it. A file that exceeds it is damaged in nearly every tag; the
/// rest of it is left out.
const BASE_PIECES: usize = 200_000;
const BYTES_PER_PIECE: usize = 16;

/// Maximum number of pieces for a file of this size.
const fn max_pieces(file_len: usize) -> usize {
    BASE_PIECES + file_len / BYTES_PER_PIECE
}

/// The length in bytes that nearly no repair of `len` bytes exceeds: most make them a little longer.
pub const fn expected_len(len: usize) -> usize {
    len + len / 16 + 256
}

/// Memory for the repair of so many bytes. Unused huge pages take no memory.
fn output_of(len: usize) -> FileBytes {
    FileBytes::with_capacity(expected_len(len)).unwrap_or_default()
}

/// Repairs a damaged file; `None` if it has neither the root nor an entry of a sitemap. `bytes` must be UTF-8.
pub fn repair(bytes: &[u8]) -> Option<Repaired> {
    repair_after(bytes, None)
}

/// [`repair`] for a file with a known undamaged beginning.
pub fn repair_after(bytes: &[u8], prefix: Option<SoundPrefix>) -> Option<Repaired> {
    let mut repairer = Repairer::new(bytes);
    repairer.out = output_of(bytes.len());
    repairer.soundness = Some(SoundnessCheck::new(bytes));
    let body = prolog::write(&mut repairer)?;
    let prefix = prefix
        .filter(|prefix| repairer.moved == Moved::No && prefix.end >= body && bytes.get(body..prefix.end).is_some());
    if let Some(prefix) = prefix {
        repairer.out.extend_from_slice(bytes.get(body..prefix.end).unwrap_or_default());
        repairer.entries = prefix.entries;
    }
    segments::repair_body(&mut repairer, prefix.map_or(body, |prefix| prefix.end));
    let is_root_unchanged = repairer.needed.is_empty();
    let repaired = repairer.finish();
    let unchanged_len = prefix.filter(|_| is_root_unchanged).map_or(0, |prefix| prefix.end);
    Some(Repaired { unchanged_len, ..repaired })
}

/// The kind of a damaged sitemap: by its first root, ignoring case, or else by its first entry if the file starts with
/// an entry or a field. `None` for any other file.
pub fn kind(bytes: &[u8]) -> Option<FileKind> {
    let (mut tokens, mut at, mut entry, mut is_first) = (Tokens::default(), 0, None, true);
    let mut is_root_missing = false;
    while let Some(token) = tokens.next(bytes, at) {
        at = token.end;
        if matches!(token.kind, Kind::Start | Kind::Empty) {
            let local = names::split(token.name(bytes)).1;
            if let Some(kind) = root_kind(local) {
                return Some(kind);
            }
            // If no root follows, the first entry determines the kind.
            is_root_missing |= is_first && matches!(local, b"url" | b"sitemap");
            is_root_missing |= is_first && Field::ALL.iter().any(|field| local == field.name().as_bytes());
            is_first = false;
            if !is_root_missing {
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
    /// Its start tag as written, without the declarations that [`Repairer::finish`] adds.
    tag: Vec<u8>,
    /// The output offset of its start tag.
    start: usize,
    /// The end of its start tag in the file; 0 if the file has none.
    source_end: usize,
    /// Its name as written.
    name: Vec<u8>,
    is_empty: bool,
    /// Whether a missing end tag is not reported, because the file has an end tag for it, or no start tag either.
    is_closed: bool,
}

/// An entry without content, by its offsets in the output.
struct EmptyEntry {
    /// The start of its start tag.
    tag: usize,
    /// The start of its end tag.
    close: usize,
    /// The end of its end tag.
    end: usize,
}

/// Whether the difference between output and input offsets has changed since the last anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    No,
    Yes,
    /// Not changed since the start of the segment; unknown for the segment before it, which is being repaired.
    Unknown,
}

struct Repairer<'b> {
    bytes: &'b [u8],
    tokens: Tokens,
    out: FileBytes,
    log: RepairLog,
    anchors: Vec<(usize, usize)>,
    /// Whether offsets have moved since the last anchor.
    moved: Moved,
    entities: Entities<'b>,
    /// Prefixes and namespaces to be declared by the root.
    needed: Vec<(Vec<u8>, Vec<u8>)>,
    names: Names,
    /// Finds sound entries; without it all entries are repaired token by token.
    soundness: Option<SoundnessCheck>,
    /// The names in the open entry, if it declares namespaces.
    inside: Option<Names>,
    root: Root,
    elements: OpenElements<'b>,
    /// Whether an entry is being copied as a whole: it is open, but not among the open elements.
    is_copying_entry: bool,
    /// Number of entries started so far.
    entries: u32,
    nesting: Nesting<'b>,
    /// The last entry, if it has no content and only blanks follow it.
    empty_entry: Option<EmptyEntry>,
    /// The start and end of the root's end tag in the output, once it is written.
    closed: Option<(usize, usize)>,
    /// In a segment: the number of declarations that were needed before it. The repair of a segment stops at a cut-off
    /// tag and at the memory limit, since both concern the whole file.
    needed_before: Option<usize>,
    /// Whether the first anchor is needed only if offsets moved before the segment.
    is_first_anchor_conditional: bool,
    /// The largest number of pieces so far.
    peak_pieces: usize,
    recorder: Recorder,
    /// Entries that a pattern has written; `None` if no scan follows that uses them.
    placed: Option<PlacedEntries>,
}

impl<'b> Repairer<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            tokens: Tokens::default(),
            out: FileBytes::default(),
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
            is_copying_entry: false,
            entries: 0,
            nesting: Nesting::default(),
            empty_entry: None,
            closed: None,
            needed_before: None,
            is_first_anchor_conditional: false,
            peak_pieces: 0,
            recorder: Recorder::default(),
            placed: None,
        }
    }

    /// Records a repair, described by the text at that offset.
    fn note(&mut self, kind: Defect, at: usize) {
        self.recorder.add_note(kind, at, Description::Snippet);
        let bytes = self.bytes;
        // Many files have the same text there in every entry.
        self.add_note(kind, at, |_, last| (!is_snippet(bytes, at, last)).then(|| snippet(bytes, at)));
    }

    /// The number of pieces that are held, as [`BASE_PIECES`] counts them.
    fn pieces(&self) -> usize {
        self.log.repairs.len() + self.anchors.len() + self.elements.stack.len() + self.nesting.len()
    }

    /// Records markup that is not well-formed, and how it was repaired.
    fn note_malformed(&mut self, at: usize, describe: impl FnOnce(&Self) -> String) {
        self.note_with(Defect::NotWellFormed, at, describe);
    }

    /// Records a repair. While a pattern is recorded, the description must depend only on tags.
    fn note_with<D: AsRef<str>>(&mut self, kind: Defect, at: usize, describe: impl FnOnce(&Self) -> D) {
        if !self.recorder.is_recording() {
            return self.add_note(kind, at, |repairer, _| Some(describe(repairer)));
        }
        let description = describe(self);
        self.recorder.add_note(kind, at, Description::Fixed(description.as_ref().into()));
        self.add_note(kind, at, |_, _| Some(description));
    }

    /// Adds a repair to the log. `describe` is called with the last description of the kind, and only if the log needs
    /// one; `None` is the last one.
    fn add_note<D: AsRef<str>>(&mut self, kind: Defect, at: usize, describe: impl FnOnce(&Self, &str) -> Option<D>) {
        self.moved = Moved::Yes;
        let entry = self.current_entry();
        let Some(kind) = self.log.kind_if_new(kind, at, entry) else { return };
        if self.log.is_full() {
            return self.log.push(kind, at, entry, Some(""));
        }
        let description = describe(self, self.log.last_description(kind));
        self.log.push(kind, at, entry, description.as_ref().map(AsRef::as_ref));
    }

    /// The number of the open entry; `None` outside of entries.
    fn current_entry(&self) -> Option<u32> {
        let is_open = self.is_copying_entry || self.elements.stack.first().is_some_and(Open::is_entry);
        if is_open { self.entries.checked_sub(1) } else { None }
    }

    /// Records an instruction or a declaration that is removed.
    fn note_stray(&mut self, token: &Markup) {
        self.note_malformed(token.start, |repairer| {
            format!("{} is not allowed here; omitted", snippet(repairer.bytes, token.start))
        });
    }

    /// Writes the start tag of the root.
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
        self.moved = if self.bytes.get(..token.end) == Some(&*self.out) { Moved::No } else { Moved::Yes };
        self.read_names();
        if self.root.is_empty {
            self.closed = Some((self.out.len(), self.out.len()));
        }
    }

    /// Adds a root before `token`, because the file has none there.
    fn add_root(&mut self, token: &Markup, kind: FileKind) {
        self.note_malformed(token.start, |_| format!("no <{}> before the first entry; added", kind.root_name()));
        self.root.start = self.out.len();
        self.root.name = kind.root_name().as_bytes().to_vec();
        self.root.tag = format!("<{} xmlns=\"{SITEMAP_09}\">", kind.root_name()).into_bytes();
        self.out.extend_from_slice(&self.root.tag);
        self.out.push(b'\n');
        self.root.is_closed = true;
        self.read_names();
    }

    /// Reads the declarations of the root's start tag and those to be added to it.
    fn read_names(&mut self) {
        let tag = with_declarations(&self.root.tag, &self.needed);
        if let Some(names) = markup::next(&tag, 0).and_then(|token| Names::of_root(&tag, &token)) {
            self.names = names;
        }
    }

    /// Adds a namespace declaration to the root, unless it declares the prefix.
    fn declare(&mut self, prefix: &[u8], uri: &[u8]) {
        if self.names.declares(prefix) {
            return;
        }
        // What a tag means depends on the declarations.
        self.recorder.clear();
        self.needed.push((prefix.to_vec(), uri.to_vec()));
        if names::split(&self.root.name).0 == prefix {
            // The namespace of the root itself depends on this declaration.
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
            && !declares_namespace(token.attributes(self.bytes))
        {
            self.note(Defect::UndeclaredPrefix, token.start);
            self.declare(prefix, uri.as_bytes());
        }
    }

    fn finish(mut self) -> Repaired {
        if !self.needed.is_empty() {
            let tag = with_declarations(&self.root.tag, &self.needed);
            let start = self.root.start;
            let end = start + self.root.tag.len();
            let added = tag.len().saturating_sub(self.root.tag.len());
            self.out.replace(start..end.min(self.out.len()), &tag);
            for anchor in self.anchors.iter_mut().filter(|anchor| anchor.0 >= end) {
                anchor.0 += added;
            }
            if self.root.source_end > 0 {
                self.anchors.insert(0, (end + added, self.root.source_end));
            }
        }
        let mut repairs = self.log.repairs;
        repairs.sort_by_key(|repair| repair.at);
        repairs.dedup();
        let placed = self.placed.unwrap_or_default();
        Repaired { bytes: self.out, repairs, anchors: self.anchors, unchanged_len: 0, placed }
    }
}

/// Whether an instruction is kept unchanged.
fn is_sound_instruction(bytes: &[u8], token: &Markup) -> bool {
    instruction::is_sound(bytes, token) && !text::has_illegal(bytes.get(token.start..token.end).unwrap_or_default())
}

/// Whether an XML declaration is valid; `None` for an instruction that neither is nor was meant to be one.
fn declaration_of(bytes: &[u8], token: &Markup) -> Option<bool> {
    if instruction::is_declaration(bytes, token) {
        return Some(is_sound_instruction(bytes, token));
    }
    let inside = bytes.get(token.start + 2..token.end - 2).unwrap_or_default().trim_ascii_start();
    let name = inside.get(..4)?;
    (name.get(..3)?.eq_ignore_ascii_case(b"xml") && !matches!(name.get(3), Some(b'-'))).then_some(false)
}

/// Whether attributes contain a namespace declaration.
fn declares_namespace(attributes: &[u8]) -> bool {
    markup::may_declare(attributes)
        && markup::attributes(attributes).any(|attribute| attribute.name.starts_with(b"xmlns"))
}

/// Returns a root's start tag with these namespace declarations added.
fn with_declarations(tag: &[u8], needed: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
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
