//! Finds and resolves Git merge conflicts in a file.
//!
//! Only callers that resolve or show conflicts can open such a file; all others get an error instead of one side.
//! Invariant: a resolution takes whole lines of one side, or whole entries of both.

use super::decode::SEARCH_PIECE;
use super::detect;
use super::error::{Error, Reason};
use super::form;
use super::merge_conflict::{Conflicts, MergeConflict, Side};
use super::read::{self, Contents, Options};
use crate::document::lines::{Anchor, LineColumn, Lines};
use crate::document::quirk::Quirk;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::words::{counted, grouped};
use crate::xml::defect::Defect;
use crate::xml::entry::Entry;
use crate::xml::grid::TableHints;
use crate::xml::markup;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Scan, Visit};
use fearless_simd::{Level, dispatch};
use memchr::memmem;
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::ops::{BitOr, Range};
use std::path::{Path, PathBuf};

/// One conflict: byte ranges of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Conflict {
    /// From its first marker to the end of its last.
    whole: Range<usize>,
    ours: Range<usize>,
    theirs: Range<usize>,
}

impl Conflict {
    /// The lines of one side; `both` is the side to use for [`Side::Both`].
    fn side(&self, side: Option<Side>, both: Side) -> Range<usize> {
        let is_theirs = side == Some(Side::Theirs) || side == Some(Side::Both) && both == Side::Theirs;
        if is_theirs { self.theirs.clone() } else { self.ours.clone() }
    }

    fn lines(&self, lines: &mut Lines<'_>) -> (u32, u32) {
        (lines.position(self.whole.start).line, lines.position(self.whole.end - 1).line)
    }
}

/// The offset of a conflict marker that matches no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unmatched(usize);

/// Offset pairs between a text and the text that it was assembled from, in the order of the first.
type OffsetMap = Vec<(usize, usize)>;

/// A file without conflict markers, and the conflicts that it had.
pub(super) struct Resolved {
    pub(super) contents: Contents,
    /// One for each conflict.
    pub(super) quirks: Vec<Quirk>,
    /// Positions in the stored file for offsets in the bytes; empty if both are the same.
    pub(super) anchors: Vec<Anchor>,
}

/// The start of a conflict marker.
const SIGNS: &[u8] = b"<<<<<<<";

/// Number of groups of four bytes that are compared without an exit.
const GROUPS: usize = 1 << 10;

/// Whether bytes may contain a conflict marker.
pub(super) fn has_sign(bytes: &[u8]) -> bool {
    dispatch!(Level::new(), _ => has_four_signs(bytes)) && memmem::find(bytes, SIGNS).is_some()
}

/// Whether four bytes from a multiple of four on are signs; seven signs contain such four. The compiler vectorises the loop,
/// which has no early exit: a search for seven signs takes three times as many instructions.
#[allow(clippy::inline_always)] // otherwise it is not compiled for the instructions that `dispatch` selects
#[inline(always)]
fn has_four_signs(bytes: &[u8]) -> bool {
    let (groups, _) = bytes.as_chunks();
    let are_signs = |group: &[u8; 4]| *group == *b"<<<<";
    groups.chunks(GROUPS).any(|groups| groups.iter().map(are_signs).fold(false, BitOr::bitor))
}

/// Finds the conflicts of a file and refuses, shows or resolves them.
///
/// # Errors
/// [`Reason::Conflicts`] if `mode` refuses conflicts, or an answer cannot be applied.
pub(super) fn resolve(
    contents: Contents,
    path: &Path,
    mode: &Conflicts,
    hints: TableHints<'_>,
) -> Result<Resolved, Error> {
    let bytes = &contents.bytes;
    let found = if has_marker(bytes) { conflicts(bytes) } else { Ok(Vec::new()) };
    if found.as_ref().is_ok_and(Vec::is_empty) || is_quoted(bytes) {
        return Ok(Resolved { contents, quirks: Vec::new(), anchors: Vec::new() });
    }
    let refused = |at, what: String| Error { path: path.to_path_buf(), at: Some(at), reason: Reason::Conflicts(what) };
    let mut lines = Lines::new(bytes);
    let found = match found {
        Ok(found) => found,
        Err(Unmatched(at)) => {
            let at = lines.position(at);
            let what = unmatched_words(at.line);
            if matches!(mode, Conflicts::Refuse | Conflicts::Take(_)) {
                return Err(refused(at, what));
            }
            let quirks = vec![Quirk { kind: Defect::MergeConflict, at, entry: None, what: what.into() }];
            return Ok(Resolved { contents, quirks, anchors: Vec::new() });
        }
    };
    let spans: Vec<(u32, u32)> = found.iter().map(|one| one.lines(&mut lines)).collect();
    let first = LineColumn::start_of(spans.first().map_or(1, |span| span.0));
    let sides = match mode {
        Conflicts::Take(answers) => answers.of(path, found.len()).map_err(|why| refused(first, why))?,
        _ => Vec::new(),
    };
    let mut dropped = Vec::new();
    let (bytes, offsets) = match mode {
        Conflicts::Refuse => return Err(refused(first, list_words(&spans))),
        Conflicts::Show => assemble(bytes, &found, |_, one| [one.ours.clone()]),
        Conflicts::ShowBoth => assemble(bytes, &found, |_, one| [one.ours.clone(), one.theirs.clone()]),
        Conflicts::Take(_) if sides.contains(&Side::Both) => {
            let united = resolve_all(bytes, &found, &sides, hints).map_err(|(number, why)| {
                let (from, to) = spans.get(number).copied().unwrap_or_default();
                let span = span_words(from, to);
                refused(
                    LineColumn::start_of(from),
                    format!("both sides of the conflict in {span} cannot be kept: {why}"),
                )
            })?;
            dropped = united.dropped;
            (united.joined.bytes, united.joined.offsets)
        }
        Conflicts::Take(_) => assemble(bytes, &found, |number, one| [one.side(sides.get(number).copied(), Side::Ours)]),
    };
    let kind = if sides.is_empty() { Defect::MergeConflict } else { Defect::MergeResolved };
    let quirks = spans.iter().enumerate().map(|(number, (from, to))| {
        let mut what = span_words(*from, *to);
        if let Some(side) = sides.get(number) {
            what = what + ": " + side.name() + &dropped_words(dropped.get(number).copied().unwrap_or_default());
        }
        Quirk { kind, at: LineColumn::start_of(*from), entry: None, what: what.into() }
    });
    let offsets: Vec<(u32, u32)> = offsets.iter().map(|(own, stored)| (*own as u32, *stored as u32)).collect();
    let anchors = form::anchors(&contents.bytes, &offsets);
    Ok(Resolved { quirks: quirks.collect(), anchors, contents: Contents { bytes: bytes.into(), ..contents } })
}

/// Lists conflicts for a message: `2 unresolved merge conflicts (lines 3–9, 12–15)`.
fn list_words(spans: &[(u32, u32)]) -> String {
    const NAMED: usize = 3;
    let named: Vec<String> = spans.iter().take(NAMED).map(|(from, to)| format!("{from}–{to}")).collect();
    let more = if spans.len() > NAMED { ", …" } else { "" };
    format!("{} (lines {}{more})", counted(spans.len() as u64, "unresolved merge conflict"), named.join(", "))
}

fn span_words(from: u32, to: u32) -> String {
    format!("lines {}–{}", grouped(from.into()), grouped(to.into()))
}

fn unmatched_words(line: u32) -> String {
    format!("the markers of a merge conflict do not match at line {}", grouped(line.into()))
}

/// Describes entries of theirs that were dropped because ours has the same URLs.
fn dropped_words(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => ", except 1 entry of theirs: ours has the same URL with other values".to_owned(),
        many => format!(", except {} entries of theirs: ours has the same URLs with other values", grouped(many)),
    }
}

/// Whether any line is the start marker of a conflict. A large file is searched on all cores.
fn has_marker(bytes: &[u8]) -> bool {
    let is_in_piece = |from: usize| {
        let piece = bytes.get(from..(from + SEARCH_PIECE + SIGNS.len() - 1).min(bytes.len())).unwrap_or_default();
        let mut found = memmem::find_iter(piece, SIGNS).map(|at| from + at);
        has_sign(piece) && found.any(|at| is_marker(line_at(bytes, at), b'<') && starts_line(bytes, at))
    };
    (0..bytes.len().div_ceil(SEARCH_PIECE)).into_par_iter().any(|piece| is_in_piece(piece * SEARCH_PIECE))
}

fn starts_line(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    before.is_none_or(|byte| *byte == b'\n') || bytes.get(..at) == Some(b"\xEF\xBB\xBF")
}

/// Whether the markers are in a comment or a CDATA section of a well-formed file, which no merge has damaged.
fn is_quoted(bytes: &[u8]) -> bool {
    detect::detect(bytes).is_ok_and(FileKind::is_xml) && scan::damage(bytes).is_empty()
}

/// A line without its line break.
fn line_at(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    let line = memchr::memchr(b'\n', rest).map_or(rest, |end| rest.get(..end).unwrap_or_default());
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a line is a marker: seven signs, followed by a blank or nothing (git-merge, "How conflicts are presented").
fn is_marker(line: &[u8], sign: u8) -> bool {
    line.get(..7).is_some_and(|start| start.iter().all(|byte| *byte == sign))
        && line.get(7).is_none_or(|byte| *byte == b' ')
}

/// All conflicts of a file.
fn conflicts(bytes: &[u8]) -> Result<Vec<Conflict>, Unmatched> {
    /// Which part of a conflict lines belong to.
    enum Part {
        None,
        Ours { start: usize, from: usize },
        Base { start: usize, ours: Range<usize> },
        Theirs { start: usize, ours: Range<usize>, from: usize },
    }
    let (mut found, mut part) = (Vec::new(), Part::None);
    let mut at = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    while at < bytes.len() {
        let line = line_at(bytes, at);
        let next = memchr::memchr(b'\n', bytes.get(at..).unwrap_or_default()).map_or(bytes.len(), |end| at + end + 1);
        let is = |sign| is_marker(line, sign);
        part = match part {
            Part::None if is(b'<') => Part::Ours { start: at, from: next },
            Part::None if is(b'>') => return Err(Unmatched(at)),
            Part::Ours { start, from } if is(b'|') => Part::Base { start, ours: from..at },
            Part::Ours { start, from } if line == b"=======" => Part::Theirs { start, ours: from..at, from: next },
            Part::Base { start, ours } if line == b"=======" => Part::Theirs { start, ours, from: next },
            Part::Theirs { start, ours, from } if is(b'>') => {
                found.push(Conflict { whole: start..next, ours, theirs: from..at });
                Part::None
            }
            // Markers inside of a conflict are ambiguous.
            Part::Ours { .. } | Part::Base { .. } | Part::Theirs { .. } if is(b'<') || is(b'>') => {
                return Err(Unmatched(at));
            }
            part => part,
        };
        at = next;
    }
    match part {
        Part::None => Ok(found),
        Part::Ours { start, .. } | Part::Base { start, .. } | Part::Theirs { start, .. } => Err(Unmatched(start)),
    }
}

/// Assembles the file without markers, with these sides of each conflict.
fn assemble<const N: usize>(
    bytes: &[u8],
    conflicts: &[Conflict],
    sides: impl Fn(usize, &Conflict) -> [Range<usize>; N],
) -> (Vec<u8>, OffsetMap) {
    let (mut out, mut offsets, mut at) = (Vec::with_capacity(bytes.len()), Vec::new(), 0);
    let mut push = |range: Range<usize>| {
        offsets.push((out.len(), range.start));
        out.extend_from_slice(bytes.get(range).unwrap_or_default());
    };
    for (number, conflict) in conflicts.iter().enumerate() {
        push(at..conflict.whole.start);
        sides(number, conflict).into_iter().for_each(&mut push);
        at = conflict.whole.end;
    }
    push(at..bytes.len());
    (out, offsets)
}

/// One side of a file, scanned.
struct ScannedSide {
    bytes: Vec<u8>,
    offsets: OffsetMap,
    scan: Scan,
    /// The identity of each entry: its URL, or its text.
    keys: Vec<String>,
}

/// Collects the identities of entries.
#[derive(Default)]
struct Keys(Vec<String>);

impl Visit for Keys {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        let own = || String::from_utf8_lossy(text.trim_ascii()).into_owned();
        self.0.push(entry.value(Field::Loc, text).map_or_else(own, |loc| loc.trim().to_owned()));
    }
}

impl ScannedSide {
    fn of((bytes, offsets): (Vec<u8>, OffsetMap), hints: TableHints<'_>) -> Option<Self> {
        let found = detect::detect_with(&bytes, hints).ok().filter(|_| detect::feed(&bytes).is_none())?;
        let mut keys = Keys::default();
        let scan = form::scan(&bytes, (found.kind, found.grid.as_ref()), &mut keys, &Progress::default());
        (scan.damage.is_empty() && scan.names.is_some()).then_some(Self { bytes, offsets, scan, keys: keys.0 })
    }

    /// The range of a conflict's side: every second piece is one.
    fn region(&self, number: usize) -> Range<usize> {
        let start = |piece: usize| self.offsets.get(piece).map_or(self.bytes.len(), |offset| offset.0);
        start(2 * number + 1)..start(2 * number + 2)
    }

    /// A region without the blanks around it, since blanks between entries belong to the entry after them. An empty
    /// region moves to the end of the text before it.
    fn without_blanks(&self, region: &Range<usize>) -> Range<usize> {
        let (start, end) = markup::trim(&self.bytes, region.start, region.end);
        if start < end {
            return start..end;
        }
        let (_, behind) = markup::trim(&self.bytes, 0, region.start);
        behind..behind
    }

    /// The entries that a region touches; `None` where it touches anything else.
    fn entries(&self, region: &Range<usize>) -> Option<Range<usize>> {
        let (region, starts) = (self.without_blanks(region), &self.scan.starts);
        let (head, tail) = (*starts.first()? as usize, *starts.last()? as usize);
        if !region.is_empty() && (region.start < head || region.end > tail) {
            return None;
        }
        let end = starts.partition_point(|start| (*start as usize) < region.end).min(self.scan.entries());
        let first = starts.partition_point(|start| (*start as usize) <= region.start).saturating_sub(1);
        Some(if region.is_empty() { end..end } else { first.min(end)..end })
    }

    /// The bytes of an entry without the blanks before it.
    fn entry(&self, entry: usize) -> &[u8] {
        self.bytes.get(self.entry_range(entry)).unwrap_or_default().trim_ascii()
    }

    fn entry_range(&self, entry: usize) -> Range<usize> {
        let start = |at: usize| self.scan.starts.get(at).map_or(self.bytes.len(), |start| *start as usize);
        start(entry)..start(entry + 1)
    }
}

/// A text that is joined from pieces of both sides, with their offsets in the stored file.
#[derive(Default)]
struct Joined {
    bytes: Vec<u8>,
    offsets: OffsetMap,
}

impl Joined {
    fn push(&mut self, side: &ScannedSide, range: Range<usize>) {
        let is_before = |offset: &&(usize, usize)| offset.0 <= range.start;
        let first = side
            .offsets
            .iter()
            .take_while(is_before)
            .last()
            .map(|(own, stored)| (range.start, stored + (range.start - own)));
        let later = side.offsets.iter().filter(|(own, _)| range.contains(own) && *own > range.start);
        for (own, stored) in first.into_iter().chain(later.copied()) {
            self.offsets.push((self.bytes.len() + (own - range.start), stored));
        }
        self.bytes.extend_from_slice(side.bytes.get(range).unwrap_or_default());
    }

    /// Ends the last line of a list or table before another is added.
    fn end_line(&mut self, kind: FileKind) {
        if !kind.is_xml() && !self.bytes.is_empty() && !self.bytes.ends_with(b"\n") {
            self.bytes.push(b'\n');
        }
    }
}

/// A file with both sides of its conflicts.
struct United {
    joined: Joined,
    /// For each conflict, the number of entries of theirs whose URL ours has with other values.
    dropped: Vec<u64>,
}

const DAMAGED: &str = "one side alone is not a valid file; answer ours or theirs";
const AROUND: &str = "it is not between entries; answer ours or theirs";

/// The file with these sides of its conflicts. Where both are taken, the entries of theirs with a new URL follow those
/// of ours. An error is the number of a conflict, and why both of its sides cannot be kept.
fn resolve_all(
    bytes: &[u8],
    conflicts: &[Conflict],
    sides: &[Side],
    hints: TableHints<'_>,
) -> Result<United, (usize, &'static str)> {
    let first = sides.iter().position(|side| *side == Side::Both).unwrap_or_default();
    let scan_side = |both| {
        let assembled = assemble(bytes, conflicts, |number, one| [one.side(sides.get(number).copied(), both)]);
        ScannedSide::of(assembled, hints).ok_or((first, DAMAGED))
    };
    let (ours, theirs) = (scan_side(Side::Ours)?, scan_side(Side::Theirs)?);
    let kind = ours.scan.names.as_ref().map_or(FileKind::Urlset, |names| names.kind);
    let mut known: HashMap<&str, &[u8]> = HashMap::new();
    for (entry, key) in ours.keys.iter().enumerate() {
        known.entry(key).or_insert_with(|| ours.entry(entry));
    }
    let (mut out, mut at, mut dropped) = (Joined::default(), 0, Vec::new());
    for (number, side) in sides.iter().enumerate() {
        if *side != Side::Both {
            dropped.push(0);
            continue;
        }
        let (own, other) = (ours.entries(&ours.region(number)), theirs.entries(&theirs.region(number)));
        let (own, other) = own.zip(other).ok_or((number, AROUND))?;
        let end = ours.entry_range(own.end).start.max(at);
        out.push(&ours, at..end);
        at = end;
        let mut differing = 0;
        for entry in other {
            let Some(key) = theirs.keys.get(entry) else { continue };
            match known.entry(key) {
                Occupied(known) => differing += u64::from(*known.get() != theirs.entry(entry)),
                Vacant(unknown) => {
                    unknown.insert(theirs.entry(entry));
                    out.end_line(kind);
                    out.push(&theirs, theirs.entry_range(entry));
                }
            }
        }
        dropped.push(differing);
        if at < ours.bytes.len() {
            out.end_line(kind);
        }
    }
    out.push(&ours, at..ours.bytes.len());
    Ok(United { joined: out, dropped })
}

/// The merge conflicts of files, in their order.
///
/// # Errors
/// When a file cannot be read, or its markers do not match.
pub fn merge_conflicts(files: &[PathBuf], options: &Options, progress: &Progress) -> Result<Vec<MergeConflict>, Error> {
    let mut all = Vec::new();
    for path in files {
        let contents = read::read(path, options, progress)?;
        let bytes = &contents.bytes;
        if !has_marker(bytes) || is_quoted(bytes) {
            continue;
        }
        let mut lines = Lines::new(bytes);
        let found = conflicts(bytes).map_err(|Unmatched(at)| {
            let at = lines.position(at);
            Error { path: path.clone(), at: Some(at), reason: Reason::Conflicts(unmatched_words(at.line)) }
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hints = TableHints { loc_column: options.loc_column.as_deref(), name: detect::name_hint(&name) };
        let scan_side =
            |both| ScannedSide::of(assemble(bytes, &found, |_, one| [one.side(Some(Side::Both), both)]), hints);
        let sides = scan_side(Side::Ours).zip(scan_side(Side::Theirs));
        let text =
            |range: &Range<usize>| String::from_utf8_lossy(bytes.get(range.clone()).unwrap_or_default()).into_owned();
        for (number, one) in found.iter().enumerate() {
            let no_both = match &sides {
                None => Some(DAMAGED),
                Some((ours, theirs)) => {
                    let is_between = |side: &ScannedSide| side.entries(&side.region(number)).is_some();
                    (!is_between(ours) || !is_between(theirs)).then_some(AROUND)
                }
            };
            let whole = text(&one.whole);
            let marker = |line: Option<&str>| line.and_then(|line| line.get(8..)).unwrap_or_default().trim().to_owned();
            all.push(MergeConflict {
                path: path.clone(),
                lines: one.lines(&mut lines),
                ours: text(&one.ours),
                theirs: text(&one.theirs),
                names: [marker(whole.lines().next()), marker(whole.lines().next_back())],
                no_both,
            });
        }
    }
    Ok(all)
}

/// Maps the lines of a resolved text to those of the stored file.
pub(super) struct LineMap(Vec<(u32, u32)>);

impl LineMap {
    /// Built from the positions at which pieces begin.
    pub(super) fn of(bytes: &[u8], anchors: &[Anchor]) -> Self {
        let mut lines = Lines::new(bytes);
        Self(anchors.iter().map(|(at, stored)| (lines.position(*at as usize).line, stored.line)).collect())
    }

    pub(super) fn stored(&self, at: LineColumn) -> LineColumn {
        let piece = self.0.partition_point(|(first, _)| *first <= at.line).checked_sub(1).and_then(|at| self.0.get(at));
        LineColumn { line: piece.map_or(at.line, |(first, stored)| stored + (at.line - first)), ..at }
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge_conflict::Answers;
    use super::*;

    const HEAD: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

    fn url(name: &str, more: &str) -> String {
        format!("<url>\n<loc>https://e.com/{name}</loc>\n{more}</url>\n")
    }

    #[test]
    fn seven_signs_are_found_wherever_they_are() {
        for (before, after) in (0..9).flat_map(|before| (0..9).map(move |after| (before, after))) {
            let text = |signs: usize| ["a".repeat(before), "<".repeat(signs), "b".repeat(after)].concat();
            assert!(has_sign(text(7).as_bytes()), "{before} {after}");
            assert!(!has_sign(text(6).as_bytes()), "{before} {after}");
        }
    }

    fn conflict(ours: &str, theirs: &str) -> String {
        format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> b\n")
    }

    fn side(text: &str, side: Side) -> Result<String, String> {
        let found = conflicts(text.as_bytes()).map_err(|at| format!("{at:?}"))?;
        sides(text, &vec![side; found.len()])
    }

    fn sides(text: &str, sides: &[Side]) -> Result<String, String> {
        let found = conflicts(text.as_bytes()).map_err(|at| format!("{at:?}"))?;
        let (bytes, offsets) = if sides.contains(&Side::Both) {
            resolve_all(text.as_bytes(), &found, sides, TableHints::default())
                .map(|united| (united.joined.bytes, united.joined.offsets))
                .map_err(|(number, why)| format!("{number}: {why}"))?
        } else {
            assemble(text.as_bytes(), &found, |number, one| [one.side(sides.get(number).copied(), Side::Ours)])
        };
        // Of pieces that begin at one offset, all but the last are empty.
        let last = |number: &usize| offsets.get(number + 1).is_none_or(|next| next.0 > offsets[*number].0);
        for (own, stored) in (0..offsets.len()).filter(last).map(|number| offsets[number]) {
            let end = (own + 8).min(bytes.len());
            let same = bytes[own..end].iter().zip(&text.as_bytes()[stored..]).take_while(|(a, b)| a == b).count();
            assert!(same > 0 || own == bytes.len() || bytes[own] == b'\n', "{own} is not {stored} of {text}");
        }
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn entries_of_one_side_or_of_both() {
        let (a, b, c, d) = (url("a", ""), url("b", ""), url("c", ""), url("d", ""));
        let text = format!("{HEAD}{a}{}{d}</urlset>\n", conflict(&b, &format!("{c}{b}")));
        assert_eq!(side(&text, Side::Ours).unwrap(), format!("{HEAD}{a}{b}{d}</urlset>\n"));
        assert_eq!(side(&text, Side::Theirs).unwrap(), format!("{HEAD}{a}{c}{b}{d}</urlset>\n"));
        assert_eq!(side(&text, Side::Both).unwrap(), format!("{HEAD}{a}{b}{c}{d}</urlset>\n"));
        // One side has deleted the entry.
        let text = format!("{HEAD}{a}{}{d}</urlset>\n", conflict("", &b));
        assert_eq!(side(&text, Side::Ours).unwrap(), format!("{HEAD}{a}{d}</urlset>\n"));
        assert_eq!(side(&text, Side::Both).unwrap(), format!("{HEAD}{a}{b}{d}</urlset>\n"));
    }

    #[test]
    fn each_conflict_has_its_own_answer() {
        let entries = |names: &str| names.chars().map(|name| url(&name.to_string(), "")).collect::<String>();
        let pair = |ours: &str, theirs: &str| conflict(&entries(ours), &entries(theirs));
        let file = |text: &str| format!("{HEAD}{text}</urlset>\n");
        let text = file(&[pair("a", "b"), pair("c", "d"), pair("e", "f")].concat());
        for (answers, names) in [
            ([Side::Ours, Side::Theirs, Side::Both], "adef"),
            ([Side::Both, Side::Ours, Side::Theirs], "abcf"),
            ([Side::Theirs, Side::Both, Side::Ours], "bcde"),
            ([Side::Theirs, Side::Ours, Side::Theirs], "bcf"),
        ] {
            assert_eq!(sides(&text, &answers).unwrap(), file(&entries(names)), "{answers:?}");
        }
        // Entries taken from one conflict count as known in another.
        let text = file(&[pair("a", "b"), pair("c", "b")].concat());
        assert_eq!(sides(&text, &[Side::Theirs, Side::Both]).unwrap(), file(&entries("bc")));
        assert_eq!(sides(&text, &[Side::Ours, Side::Both]).unwrap(), file(&entries("acb")));
    }

    #[test]
    fn a_conflict_outside_of_the_entries_does_not_affect_others() {
        let head = HEAD.replace(">\n", " id=\"1\">\n");
        let [a, b] = ["a", "b"].map(|name| url(name, ""));
        let text = format!("{}{}</urlset>\n", conflict(HEAD, &head), conflict(&a, &b));
        let expected = format!("{head}{a}{b}</urlset>\n");
        assert_eq!(sides(&text, &[Side::Theirs, Side::Both]).unwrap(), expected);
        assert!(sides(&text, &[Side::Both, Side::Ours]).unwrap_err().starts_with("0: it is not between entries"));
    }

    #[test]
    fn a_file_needs_one_answer_for_each_conflict() {
        let path = Path::new("a.xml");
        let answers = Answers { files: [(path.to_path_buf(), vec![Side::Ours, Side::Both])].into(), others: None };
        assert_eq!(answers.of(path, 2), Ok(vec![Side::Ours, Side::Both]));
        assert_eq!(answers.of(path, 3).unwrap_err(), "2 answers for 3 merge conflicts");
        assert_eq!(answers.of(Path::new("b.xml"), 1).unwrap_err(), "1 merge conflict without an answer");
        assert_eq!(Answers::all(Side::Theirs).of(path, 2), Ok(vec![Side::Theirs; 2]));
    }

    #[test]
    fn conflicts_are_read_with_both_sides() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.xml");
        let head = HEAD.replace(">\n", " id=\"1\">\n");
        let text = format!("{}{}</urlset>\n", conflict(HEAD, &head), conflict(&url("a", ""), ""));
        std::fs::write(&path, text).unwrap();
        let found = merge_conflicts(std::slice::from_ref(&path), &Options::default(), &Progress::default()).unwrap();
        let [around, between] = &found[..] else { panic!("{found:?}") };
        assert_eq!((around.lines, &*around.ours, &*around.theirs), ((1, 5), HEAD, &*head));
        assert_eq!((&around.names, around.no_both.is_some()), (&["HEAD".to_owned(), "b".to_owned()], true));
        assert_eq!((between.lines, between.no_both), ((6, 11), None));
        std::fs::write(&path, "<<<<<<< HEAD\n").unwrap();
        assert!(merge_conflicts(&[path], &Options::default(), &Progress::default()).is_err());
    }

    #[test]
    fn a_conflict_inside_an_entry_takes_whole_entries() {
        let of = |line: &str| format!("{HEAD}<url>\n<loc>https://e.com/a</loc>\n{line}</url>\n</urlset>\n");
        let (ours, theirs) = ("<lastmod>2026-01-01</lastmod>\n", "<lastmod>2026-02-02</lastmod>\n");
        let text = of(&conflict(ours, theirs));
        assert_eq!(side(&text, Side::Theirs).unwrap(), of(theirs));
        // Both sides have the same URL: ours is kept.
        assert_eq!(side(&text, Side::Both).unwrap(), of(ours));
        let text = format!(
            "{HEAD}<url>\n{}</url>\n</urlset>\n",
            conflict("<loc>https://e.com/a</loc>\n", "<loc>https://e.com/b</loc>\n")
        );
        let both = format!("{HEAD}{}{}</urlset>\n", url("a", ""), url("b", ""));
        assert_eq!(side(&text, Side::Both).unwrap(), both);
    }

    #[test]
    fn the_base_of_a_three_way_conflict_is_dropped() {
        let (a, b, c) = (url("a", ""), url("b", ""), url("c", ""));
        let text = format!("{HEAD}<<<<<<< HEAD\n{a}||||||| 1a2b\n{b}=======\n{c}>>>>>>> x\n</urlset>\n");
        assert_eq!(side(&text, Side::Both).unwrap(), format!("{HEAD}{a}{c}</urlset>\n"));
    }

    #[test]
    fn a_conflict_outside_of_the_entries_takes_one_side() {
        let text = format!("{}{}</urlset>\n", conflict(HEAD, &HEAD.replace(">\n", " id=\"1\">\n")), url("a", ""));
        assert_eq!(side(&text, Side::Ours).unwrap(), format!("{HEAD}{}</urlset>\n", url("a", "")));
        assert!(side(&text, Side::Both).unwrap_err().contains("not between entries"));
    }

    #[test]
    fn conflicts_in_lists_and_tables_are_resolved() {
        let text = format!("https://e.com/a\n{}", conflict("https://e.com/b\n", "https://e.com/c\nhttps://e.com/a\n"));
        assert_eq!(side(&text, Side::Both).unwrap(), "https://e.com/a\nhttps://e.com/b\nhttps://e.com/c\n");
        let text = format!(
            "loc,priority\nhttps://e.com/a,0.5\n{}",
            conflict("https://e.com/b,0.1\n", "https://e.com/b,0.9\n")
        );
        assert_eq!(side(&text, Side::Both).unwrap(), "loc,priority\nhttps://e.com/a,0.5\nhttps://e.com/b,0.1\n");
        assert_eq!(side(&text, Side::Theirs).unwrap(), "loc,priority\nhttps://e.com/a,0.5\nhttps://e.com/b,0.9\n");
        let crlf = "https://e.com/a\r\n<<<<<<< HEAD\r\nhttps://e.com/b\r\n=======\r\nhttps://e.com/c\r\n>>>>>>> x\r\n";
        assert_eq!(side(crlf, Side::Both).unwrap(), "https://e.com/a\r\nhttps://e.com/b\r\nhttps://e.com/c\r\n");
    }

    #[test]
    fn unmatched_markers_are_an_error() {
        for (text, at) in [
            ("<<<<<<< a\nx\n", 0),
            ("<<<<<<< a\nx\n=======\ny\n", 0),
            ("<<<<<<< a\nx\n>>>>>>> b\n", 12),
            ("<<<<<<< a\n<<<<<<< b\n=======\n>>>>>>> c\n", 10),
            ("<<<<<<< a\n=======\n>>>>>>> b\n>>>>>>> c\n", 28),
        ] {
            assert_eq!(conflicts(text.as_bytes()), Err(Unmatched(at)), "{text}");
        }
        assert!(!has_marker(b"a <<<<<<< b\n<<<<<<<<\n<<<<<<<x\n"));
        assert!(has_marker(b"\xEF\xBB\xBF<<<<<<< HEAD\n") && has_marker(b"a\n<<<<<<<\r\n"));
        // At each offset around the end of a piece.
        for before in SEARCH_PIECE - 9..SEARCH_PIECE + 2 {
            let text = [&vec![b'a'; before - 1], &b"\n<<<<<<< HEAD\n"[..]].concat();
            assert!(has_marker(&text), "{before}");
        }
    }

    #[test]
    fn entries_of_theirs_that_ours_has_with_other_values_are_counted() {
        let (a, b, old) = (url("a", ""), url("b", ""), url("a", "<priority>0.1</priority>\n"));
        let text = format!(
            "{HEAD}{}{}{}</urlset>\n",
            conflict(&a, &format!("{old}{b}")),
            conflict("", &a),
            conflict(&b, &format!("{old}{}", url("b", "<priority>0.2</priority>\n")))
        );
        let found = conflicts(text.as_bytes()).unwrap();
        let united = resolve_all(text.as_bytes(), &found, &[Side::Both; 3], TableHints::default())
            .map_err(|(_, why)| why)
            .unwrap();
        assert_eq!(united.dropped, [1, 0, 2]);
        assert_eq!(dropped_words(0), "");
        assert!(dropped_words(1_200).contains("except 1,200 entries of theirs"));
    }
}
