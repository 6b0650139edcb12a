//! Scans a file in one pass: its head, the start of each entry, its tail, and its damage.
//!
//! Invariant I1: `head ++ entries ++ tail` are the bytes of the file, for any bytes. The scan calls a visitor for each
//! entry while its bytes are in the CPU cache, so that records and findings need no second pass.

mod characters;
mod grid;
mod parallel;
mod visit;
mod windows;

pub use grid::scan_grid;
pub use parallel::{MAX_SEARCH, last_entry_end, last_unclosed_start, next_entry_end, next_entry_start};
pub use visit::{Ignore, ParsedEntry, Visit};
pub use windows::{GaveUp, ScannedWindow, WindowBytes, WindowScan};

use super::damage::Damage;
use super::entry::Entry;
use super::fast_path::EntryBytes;
use super::markup::{self, Kind, Markup};
use super::names::{Meaning, Names};
use super::parser::{Parser, Seek};
use super::placed_entries::PlacedCursor;
use super::{fast_path, instruction};
use crate::progress::Progress;
use crate::xml::defect::Defect;
use characters::check_characters;

/// The structure of a file. All offsets are relative to the scanned bytes, including the byte order mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The root's names; `None` if the root is missing or not that of a sitemap.
    pub names: Option<Names>,
    /// The root's local name as written (`urlset`, `rss`, `html` …); empty without a root.
    pub root: String,
    /// The starts of the entries and of the tail: entry *i* is `starts[i]..starts[i + 1]`, the head is `..starts[0]`.
    pub starts: Vec<u32>,
    /// Start and end of the root's start tag.
    pub root_tag: (u32, u32),
    /// Whether the root is written `<urlset/>`.
    pub root_is_empty: bool,
    /// The offset of the first non-blank text or unknown sitemap element directly below the root.
    pub stray: Option<u32>,
    /// Whether an element of another namespace below the root contains entries. They are not rows; but a repair, which
    /// works token by token, cannot know that the element is closed later, and turns them into rows.
    pub wraps: bool,
    /// Whether an element of another namespace is directly below the root.
    pub has_siblings: bool,
    /// Whether an entry or a field is in no namespace: it has no prefix, and the root has one but declares no default
    /// namespace.
    pub has_unbound: bool,
    /// Damage, in document order.
    pub damage: Vec<Damage>,
    /// Whether the scan was cancelled.
    pub cancelled: bool,
}

impl Scan {
    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// Number of entries between two checks for cancellation.
const ENTRIES_PER_CHECK: usize = 2_048;

/// Scans a file up to its first damage; the damaged entry is not visited. A large file is scanned on all cores if the
/// visitor can be forked.
pub fn scan_sound(bytes: &[u8], visitor: &mut (impl Visit + Send), progress: &Progress) -> Scan {
    scan_parallel(bytes, visitor, progress, parallel::min_piece(progress, bytes.len()))
}

/// [`scan_sound`] with the minimum size of a piece for one core.
pub(super) fn scan_parallel<V: Visit + Send>(bytes: &[u8], visitor: &mut V, progress: &Progress, piece: usize) -> Scan {
    run(bytes, visitor, progress, Start { parser: Parser::default(), stops: true }, |from, names, walk| {
        parallel::body(bytes, from..bytes.len(), names, walk, piece);
    })
}

/// Continues a scan after its last entry, up to the first damage, like [`scan_sound`]. The bytes up to there must be
/// unchanged and contain at least one entry; these entries are not visited again, but reported as progress.
pub fn resume(bytes: &[u8], before: Scan, visitor: &mut (impl Visit + Send), progress: &Progress) -> Scan {
    let end = before.starts.last().copied().unwrap_or_default();
    progress.advance(before.entries() as u64, u64::from(end.saturating_sub(before.root_tag.1)));
    resume_parallel(bytes, before, visitor, progress, parallel::min_piece(progress, bytes.len()))
}

/// [`resume`] with the minimum size of a piece for one core.
fn resume_parallel<V: Visit + Send>(
    bytes: &[u8],
    before: Scan,
    visitor: &mut V,
    progress: &Progress,
    piece: usize,
) -> Scan {
    let from = before.starts.last().map_or(0, |start| *start as usize);
    let stray = before.stray.filter(|at| (*at as usize) < from);
    let mut scan = Scan { damage: Vec::new(), stray, ..before };
    let mut parser = Parser::default();
    let utf8 = check_characters(bytes, &mut parser, progress);
    if let Some(names) = scan.names.take() {
        let walk = Walk::new((&mut parser, &mut scan, visitor), progress, true);
        parallel::body(bytes, from..bytes.len(), &names, &mut Walk { utf8, ..walk }, piece);
        scan.names = Some(names);
    }
    scan.has_unbound |= parser.has_unbound;
    scan.damage = parser.damage.list;
    scan.damage.sort_by_key(|damage| damage.at);
    scan
}

/// Scans a whole file. `bytes` must be at most 4 GiB (`u32` offsets); the loader refuses more.
pub fn scan(bytes: &[u8], visitor: &mut impl Visit, progress: &Progress) -> Scan {
    run(bytes, visitor, progress, Start { parser: Parser::default(), stops: false }, |from, names, walk| {
        body(bytes, from, names, walk);
    })
}

/// [`scan`] without fast paths, as a reference for tests.
pub fn scan_thoroughly(bytes: &[u8], visitor: &mut impl Visit, progress: &Progress) -> Scan {
    run(bytes, visitor, progress, Start { parser: Parser::thorough(), stops: false }, |from, names, walk| {
        body(bytes, from, names, walk);
    })
}

/// The options of a scan.
struct Start {
    parser: Parser,
    /// Whether the first damage ends it.
    stops: bool,
}

fn run<V: Visit>(
    bytes: &[u8],
    visitor: &mut V,
    progress: &Progress,
    start: Start,
    body: impl FnOnce(usize, &Names, &mut Walk<'_, V>),
) -> Scan {
    let Start { mut parser, stops } = start;
    let utf8 = check_characters(bytes, &mut parser, progress);
    let mut scan = Scan::default();
    let after_root = if let Some(root) = prolog(bytes, &mut parser) {
        scan.root = String::from_utf8_lossy(super::names::split(root.name(bytes)).1).into_owned();
        scan.root_tag = (root.start as u32, root.end as u32);
        scan.root_is_empty = root.kind == Kind::Empty;
        scan.names = Names::of_root(bytes, &root);
        parser.check_tag(bytes, &root);
        root.end
    } else {
        parser.damage.note(0, Defect::NoRoot);
        bytes.len()
    };
    scan.starts.push(after_root as u32);
    if let Some(names) = scan.names.take() {
        if stops && !parser.damage.list.is_empty() {
            // There is damage before the first entry.
            progress.advance(0, (bytes.len() - after_root.min(bytes.len())) as u64);
        } else if scan.root_is_empty {
            epilog(bytes, after_root, &mut parser);
        } else {
            let walk = Walk::new((&mut parser, &mut scan, visitor), progress, stops);
            body(after_root, &names, &mut Walk { utf8, ..walk });
        }
        scan.names = Some(names);
    }
    scan.has_unbound |= parser.has_unbound;
    scan.damage = parser.damage.list;
    scan.damage.sort_by_key(|damage| damage.at);
    scan
}

/// The damage of any XML document, in document order, up to the first mismatched end tag. References are not checked.
pub fn damage(bytes: &[u8]) -> Vec<Damage> {
    let mut parser = Parser::of(bytes);
    check_characters(bytes, &mut parser, &Progress::default());
    match prolog(bytes, &mut parser) {
        Some(root) => {
            let end = parser.skip_element(bytes, &root);
            if !parser.damage.list.iter().any(|damage| matches!(damage.kind, Defect::EndTag | Defect::Unclosed)) {
                epilog(bytes, end, &mut parser);
            }
        }
        None => parser.damage.note(0, Defect::NoRoot),
    }
    parser.damage.list.sort_by_key(|damage| damage.at);
    parser.damage.list
}

/// The state of a scan after the root's start tag.
pub(super) struct Walk<'a, V> {
    pub(super) parser: &'a mut Parser,
    pub(super) scan: &'a mut Scan,
    pub(super) visitor: &'a mut V,
    pub(super) progress: &'a Progress,
    /// Whether the first damage ends it.
    pub(super) stops: bool,
    /// Whether the scan began after an entry, whose end is the first of `scan.starts`.
    pub(super) is_later: bool,
    /// The numbers of rows and bytes that were reported as progress.
    pub(super) counted: (u64, u64),
    /// The scan stops if an entry ends at one of these offsets, which are in descending order; `stopped_at` is that offset.
    pub(super) stop_offsets: Vec<usize>,
    pub(super) stopped_at: Option<usize>,
    /// The bytes as a `str`, if they are UTF-8, so that entries need not be validated individually.
    pub(super) utf8: Option<&'a str>,
    /// The entries that need not be parsed.
    pub(super) placed: PlacedCursor<'a>,
}

impl<'a, V> Walk<'a, V> {
    fn new(
        (parser, scan, visitor): (&'a mut Parser, &'a mut Scan, &'a mut V),
        progress: &'a Progress,
        stops: bool,
    ) -> Self {
        let (is_later, counted, stop_offsets, stopped_at) = (false, (0, 0), Vec::new(), None);
        let (utf8, placed) = (None, PlacedCursor::default());
        Self { parser, scan, visitor, progress, stops, is_later, counted, stop_offsets, stopped_at, utf8, placed }
    }

    fn advance(&mut self, rows: usize, bytes: usize) {
        let (rows, bytes) = (rows as u64, bytes as u64);
        self.counted = (self.counted.0 + rows, self.counted.1 + bytes);
        self.progress.advance(rows, bytes);
    }
}

/// Parses the bytes before the root; returns the root's start tag.
fn prolog(bytes: &[u8], parser: &mut Parser) -> Option<Markup> {
    let mut at = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let (first, mut has_doctype) = (at, false);
    while let Some(markup) = markup::next(bytes, at) {
        let gap = bytes.get(at..markup.start).unwrap_or_default();
        if !markup::is_blank(gap) {
            parser.damage.note(at, Defect::BeforeRoot);
        }
        match markup.kind {
            Kind::Start | Kind::Empty => return Some(markup),
            // An XML declaration may only be at the very start (XML 1.0, production 22).
            Kind::Instruction if markup.start > first && instruction::is_declaration(bytes, &markup) => {
                parser.damage.note(markup.start, Defect::BeforeRoot);
            }
            Kind::Instruction if !instruction::is_sound(bytes, &markup) => {
                parser.damage.note(markup.start, Defect::Instruction);
            }
            Kind::End | Kind::Cdata => parser.damage.note(markup.start, Defect::BeforeRoot),
            Kind::Stray => parser.damage.note(markup.start, Defect::Angle),
            Kind::Comment => parser.check_misc(bytes, &markup),
            Kind::Declaration if has_doctype || !instruction::is_sound_doctype(bytes, &markup) => {
                parser.damage.note(markup.start, Defect::Instruction);
            }
            Kind::Declaration => has_doctype = true,
            Kind::Instruction => {}
        }
        at = markup.end;
    }
    None
}

/// Parses the content of the root, and the bytes after it.
pub(super) fn body<V: Visit>(bytes: &[u8], from: usize, names: &Names, walk: &mut Walk<'_, V>) {
    // `done` is the end of the bytes that belong to the head or to an entry.
    let (mut at, mut done, mut last_report) = (from, from, (walk.scan.entries(), from));
    let mut entry = Entry::plain(0);
    loop {
        if walk.is_damaged() {
            break;
        }
        let is_first = walk.is_before_entries();
        if at == done
            && !is_first
            && !walk.parser.is_thorough
            && let Some(len) = walk.visitor.recognise(bytes.get(at..).unwrap_or_default(), names)
        {
            (at, done) = (at + len, at + len);
            if walk.end_entry(done, &mut last_report) {
                break;
            }
            continue;
        }
        if at == done && !is_first && walk.placed.next_after(at, bytes, &mut entry) {
            walk.parser.begin_entry();
            let end = at + entry.len as usize;
            if walk.visit(&EntryBytes { bytes, lead: at, names }, &entry, end, &mut last_report) {
                break;
            }
            (at, done) = (end, end);
            continue;
        }
        // Comments before the first entry belong to the head, so that a banner is not deleted or moved with the first row.
        let lead = if is_first { at } else { done };
        let inside = EntryBytes { bytes, lead, names };
        // In most cases only blanks precede the next entry.
        if !walk.parser.is_thorough
            && let Some(tag) = fast_path::start(bytes, at, names)
        {
            let expected_end = walk.visitor.expected_end(names);
            let end = walk.parser.bare_entry(&inside, &tag, expected_end, &mut entry);
            if walk.visit(&inside, &entry, end, &mut last_report) {
                break;
            }
            (at, done) = (end, end);
            continue;
        }
        let Some(markup) = markup::next(bytes, at) else {
            note_stray(bytes, at, bytes.len(), walk);
            walk.parser.damage.note(bytes.len(), Defect::Unclosed);
            break;
        };
        note_stray(bytes, at, markup.start, walk);
        at = match markup.kind {
            Kind::Start | Kind::Empty if names.is_entry_tag(bytes, &markup) => {
                let expected_end = walk.visitor.expected_end(names);
                let (parsed, end) = walk.parser.entry(&inside, &markup, expected_end);
                entry = parsed;
                if walk.visit(&inside, &entry, end, &mut last_report) {
                    break;
                }
                done = end;
                end
            }
            Kind::Start | Kind::Empty => {
                // Elements of other namespaces may be below the root (sitemap.xsd 0.9, `urlset`: `any ##other`).
                let is_core = names.resolve(bytes, &markup).0 == Meaning::Core;
                if is_core {
                    walk.scan.stray.get_or_insert(markup.start as u32);
                    if names.is_outside(markup.name(bytes)) {
                        walk.parser.damage.note(markup.start, Defect::Misplaced);
                    }
                }
                let seeks = if is_core { Seek::Stray } else { Seek::Wrapped };
                let end = walk.parser.skip_seeking(bytes, &markup, names, seeks);
                walk.scan.has_siblings |= !is_core;
                walk.scan.wraps |= walk.parser.take_wrapped();
                if walk.parser.take_undeclared() {
                    walk.scan.stray.get_or_insert(markup.start as u32);
                }
                end
            }
            Kind::End if markup.start == walk.root_end(bytes, &markup) => {
                epilog(bytes, markup.end, walk.parser);
                break;
            }
            Kind::End => {
                walk.parser.damage.note(markup.start, Defect::EndTag);
                markup.end
            }
            Kind::Stray => {
                walk.parser.damage.note(markup.start, Defect::Angle);
                markup.end
            }
            Kind::Cdata => {
                walk.scan.stray.get_or_insert(markup.start as u32);
                markup.end
            }
            Kind::Comment | Kind::Instruction | Kind::Declaration => {
                walk.parser.check_misc(bytes, &markup);
                markup.end
            }
        };
    }
    let entries = walk.scan.entries();
    walk.advance(entries - last_report.0, walk.stopped_at.unwrap_or(bytes.len()) - last_report.1);
    if entries == 0 && !walk.is_later {
        // The head ends after the last comment, or after the root's start tag: entries are inserted there. A scan that
        // stopped at damage is repeated after the repair, and does not need that offset.
        let tail = if walk.is_damaged() { from } else { last_trivia_end(bytes, from) };
        walk.scan.starts.clear();
        walk.scan.starts.push(tail as u32);
    }
}

impl<V: Visit> Walk<'_, V> {
    /// Visits the entry that has just been parsed and ends at `end`, unless the scan stops at damage in it. Returns whether
    /// the scan stops there; `last` is that of [`Walk::end_entry`].
    #[allow(clippy::inline_always)] // a call for each entry saves and restores all registers
    #[inline(always)]
    fn visit(&mut self, inside: &EntryBytes<'_>, entry: &Entry, end: usize, last: &mut (usize, usize)) -> bool {
        let EntryBytes { bytes, lead, names } = *inside;
        if self.is_damaged() {
            return true;
        }
        if self.is_before_entries() {
            self.scan.starts.clear();
            self.scan.starts.push(lead as u32);
        }
        let text = bytes.get(lead..end).unwrap_or_default();
        let utf8 = self.utf8.and_then(|utf8| utf8.get(lead..end));
        let (elements, repeats) = match self.parser.elements(entry, text, names) {
            Some((elements, repeats)) => (Some(elements), repeats),
            None => (None, false),
        };
        self.visitor.parsed(&ParsedEntry { text, entry, elements, utf8, repeats }, names);
        self.end_entry(end, last)
    }
}

impl<V> Walk<'_, V> {
    /// Whether the scan stops because of damage.
    #[inline]
    const fn is_damaged(&self) -> bool {
        self.stops && !self.parser.damage.list.is_empty()
    }

    /// Whether no entry has been found yet.
    #[inline]
    const fn is_before_entries(&self) -> bool {
        self.scan.starts.len() <= 1 && !self.is_later
    }

    /// Notes the end of an entry, and reports progress since `last`: the numbers of entries and bytes at that time. Returns
    /// whether the scan stops there.
    #[inline]
    fn end_entry(&mut self, end: usize, last: &mut (usize, usize)) -> bool {
        self.scan.starts.push(end as u32);
        // An entry may go beyond an offset at which the scan would have stopped.
        while let Some(stop) = self.stop_offsets.pop_if(|stop| *stop <= end) {
            if stop == end {
                self.stopped_at = Some(end);
                return true;
            }
        }
        let entries = self.scan.entries();
        if entries - last.0 >= ENTRIES_PER_CHECK {
            self.advance(entries - last.0, end - last.1);
            *last = (entries, end);
            self.scan.cancelled |= self.progress.is_cancelled();
        }
        self.scan.cancelled
    }

    /// The start of this end tag if it closes the root, otherwise `usize::MAX`.
    fn root_end(&self, bytes: &[u8], markup: &Markup) -> usize {
        let (start, end) = self.scan.root_tag;
        let root = markup::next(bytes, start as usize).filter(|root| root.end == end as usize);
        match root {
            Some(root) if root.name(bytes) == markup.name(bytes) => markup.start,
            _ => usize::MAX,
        }
    }
}

fn note_stray<V>(bytes: &[u8], start: usize, end: usize, walk: &mut Walk<'_, V>) {
    if !markup::is_blank(bytes.get(start..end).unwrap_or_default()) {
        walk.scan.stray.get_or_insert(start as u32);
        walk.parser.damage.check_text(bytes, start, end);
    }
}

/// The end of the last comment, instruction or element between the root's start tag and its end.
fn last_trivia_end(bytes: &[u8], from: usize) -> usize {
    let mut parser = Parser::default();
    let mut at = from;
    while let Some(markup) = markup::next(bytes, at) {
        at = match markup.kind {
            Kind::End | Kind::Stray => break,
            Kind::Start | Kind::Empty => parser.skip_element(bytes, &markup),
            _ => markup.end,
        };
    }
    at
}

/// Checks the bytes after the root: only whitespace, comments and instructions are allowed.
fn epilog(bytes: &[u8], from: usize, parser: &mut Parser) {
    let mut at = from;
    loop {
        let next = markup::next(bytes, at);
        let gap = bytes.get(at..next.map_or(bytes.len(), |markup| markup.start)).unwrap_or_default();
        if !markup::is_blank(gap) {
            parser.damage.note(at, Defect::TrailingJunk);
            return;
        }
        match next {
            None => return,
            Some(markup) if matches!(markup.kind, Kind::Comment | Kind::Instruction) => {
                if instruction::is_declaration(bytes, &markup) {
                    parser.damage.note(markup.start, Defect::TrailingJunk);
                    return;
                }
                parser.check_misc(bytes, &markup);
                at = markup.end;
            }
            Some(markup) => {
                parser.damage.note(markup.start, Defect::TrailingJunk);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Field;
    use crate::xml::entry::TextKind;
    use crate::xml::fast_path;
    use crate::xml::record::Record;
    use proptest::prelude::*;

    /// Scans; returns each entry's text and decoded loc.
    fn rows(text: &str) -> (Scan, Vec<(String, Option<String>)>) {
        struct Rows(Vec<(String, Option<String>)>);
        impl Visit for Rows {
            fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
                let loc = entry.value(Field::Loc, text).map(std::borrow::Cow::into_owned);
                self.0.push((String::from_utf8_lossy(text).into_owned(), loc));
            }
        }
        let mut visitor = Rows(Vec::new());
        let scan = scan(text.as_bytes(), &mut visitor, &Progress::default());
        (scan, visitor.0)
    }

    fn locs(text: &str) -> Vec<String> {
        rows(text).1.into_iter().map(|(_, loc)| loc.unwrap_or_default()).collect()
    }

    const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

    #[test]
    fn two_prefixes_can_have_the_same_namespace() {
        let uri = "http://www.sitemaps.org/schemas/sitemap/0.9";
        let root = format!("<a:urlset xmlns:a=\"{uri}\" xmlns:b=\"{uri}\">");
        let text = format!("{root}<a:url><a:loc>1</a:loc></a:url><b:url><b:loc>2</b:loc></b:url></a:urlset>");
        assert_eq!(locs(&text), ["1", "2"]);
        assert_eq!(rows(&text).0.damage, []);
    }

    #[test]
    fn an_entry_may_declare_the_prefix_of_its_own_name() {
        let text = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>a</loc></url>\
            <s:url xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'><s:loc>b</s:loc></s:url>\
            <x:url xmlns:x='urn:x'><x:loc>c</x:loc></x:url><url><loc>d</loc></url></urlset>";
        let (scan, rows) = rows(text);
        assert_eq!(scan.damage, []);
        let locs: Vec<Option<&str>> = rows.iter().map(|(_, loc)| loc.as_deref()).collect();
        assert_eq!(locs, [Some("a"), Some("b"), Some("d")], "the element of another namespace is none");
    }

    #[test]
    fn the_prefix_of_the_root_is_in_the_sitemap_namespace_even_if_undeclared() {
        assert_eq!(locs("<a:urlset><a:url><a:loc>1</a:loc></a:url></a:urlset>"), ["1"]);
    }

    #[test]
    fn an_entry_includes_the_comments_before_it_but_a_banner_belongs_to_the_head() {
        let text =
            format!("<urlset {NS}>\n<!-- banner -->\n <url><loc>a</loc></url>\n<!-- b -->\n <url/>\n</urlset>\n");
        let (scan, rows) = rows(&text);
        assert_eq!(rows[0].0, "\n <url><loc>a</loc></url>");
        assert_eq!(rows[1].0, "\n<!-- b -->\n <url/>");
        assert_eq!(&text[scan.starts[2] as usize..], "\n</urlset>\n");
        assert_eq!(scan.damage, []);
    }

    #[test]
    fn values_are_found_by_parent_and_namespace() {
        let table = [
            ("<urlset NS><url><loc> a&amp;b </loc></url></urlset>", vec!["a&b"]),
            ("<urlset NS><url><loc><![CDATA[ a&b ]]></loc></url></urlset>", vec!["a&b"]),
            (
                "<sm:urlset xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'><sm:url><sm:loc>a</sm:loc></sm:url></sm:urlset>",
                vec!["a"],
            ),
            ("<urlset ns='x'><url><loc>a</loc></url></urlset>", vec!["a"]),
            ("<urlset NS><url><foo><loc>no</loc></foo><loc>a</loc></url></urlset>", vec!["a"]),
            (
                "<urlset NS xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'><url><i:image><i:loc>no</i:loc></i:image><loc>a</loc></url></urlset>",
                vec!["a"],
            ),
            ("<urlset NS><url><loc xmlns='x'>no</loc><loc>a</loc></url></urlset>", vec!["a"]),
            ("<sitemapindex NS><sitemap><loc>a</loc></sitemap><url><loc>b</loc></url></sitemapindex>", vec!["a", "b"]),
            ("<urlset NS><url/><url></url><url><loc/></url></urlset>", vec!["", "", ""]),
            ("<urlset NS/>", vec![]),
        ];
        for (text, expected) in table {
            assert_eq!(locs(&text.replace("NS", NS)), expected, "{text}");
        }
    }

    #[test]
    fn a_damaged_row_does_not_affect_later_rows_and_is_reported_with_its_position() {
        let table = [
            ("<url><loc>a?x=1&y=2</loc></url><url><loc>b</loc></url>", vec!["a?x=1&y=2", "b"], Defect::Ampersand),
            ("<url><loc>a</url><url><loc>b</loc></url>", vec!["a", "b"], Defect::EndTag),
            ("<url><loc>a</loc><url><loc>b</loc></url>", vec!["a", "b"], Defect::Unclosed),
            ("<url><loc>a < b</loc></url><url><loc>b</loc></url>", vec!["a < b", "b"], Defect::Angle),
            ("</x><url><loc>b</loc></url>", vec!["b"], Defect::EndTag),
        ];
        for (body, expected, kind) in table {
            let text = format!("<urlset {NS}>{body}</urlset>");
            let (scan, rows) = rows(&text);
            assert_eq!(rows.into_iter().map(|row| row.1.unwrap_or_default()).collect::<Vec<_>>(), expected, "{body}");
            assert_eq!(scan.damage[0].kind, kind, "{body}: {:?}", scan.damage);
        }
    }

    #[test]
    fn a_malformed_file_always_has_damage() {
        let table = [
            ("", Defect::NoRoot),
            (" <?xml version='1.0'?><urlset/>", Defect::BeforeRoot),
            ("x<urlset/>", Defect::BeforeRoot),
            ("<? xml version='1.0'?><urlset/>", Defect::Instruction),
            ("<?xml version='1.0' header();?><urlset/>", Defect::Instruction),
            ("<?xml version='1.0' charset='a'?><urlset/>", Defect::Instruction),
            ("<urlset/>x", Defect::TrailingJunk),
            ("<urlset/><urlset/>", Defect::TrailingJunk),
            ("<urlset>", Defect::Unclosed),
            ("<urlset><url><loc>a", Defect::Unclosed),
            ("<urlset>\u{1}</urlset>", Defect::Character),
            ("<urlset><url><loc>&#27;</loc></url></urlset>", Defect::Character),
            ("<urlset><url><image:image><image:loc></image:image></url></urlset>", Defect::EndTag),
        ];
        for (text, kind) in table {
            let damage = rows(text).0.damage;
            assert!(damage.iter().any(|damage| damage.kind == kind), "{text}: {damage:?}");
        }
        for text in [
            "\u{feff}<?xml version='1.0' encoding=\"UTF-8\" standalone='no' ?><?p q?><!-- c --><urlset/>\n<!-- d -->",
            "<!DOCTYPE urlset><urlset></urlset>",
        ] {
            assert_eq!(rows(text).0.damage, [], "{text}");
        }
    }

    #[test]
    fn deep_nesting_and_many_attributes_do_not_overflow_the_stack() {
        let deep = format!("<urlset>{}{}</urlset>", "<a>".repeat(100_000), "</a>".repeat(100_000));
        assert_eq!(rows(&deep).0.damage, []);
        let wide = (0..100_000).fold(String::new(), |wide, n| wide + &format!(" a{n}='1'"));
        assert_eq!(locs(&format!("<urlset><url{wide}><loc>a</loc></url></urlset>")), ["a"]);
    }

    proptest! {
        /// I1, and every entry parsed alone equals the scanned one.
        #[test]
        fn head_entries_and_tail_cover_all_bytes(parts in proptest::collection::vec(prop_oneof![
            Just("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>".as_bytes().to_vec()),
            Just(b"</urlset>".to_vec()), Just(b"<url>".to_vec()), Just(b"</url>".to_vec()), Just(b"<url/>".to_vec()),
            Just(b"<loc>".to_vec()), Just(b"</loc>".to_vec()), Just(b"<priority>0.5</priority>".to_vec()),
            Just(b"<!-- c -->".to_vec()), Just(b"<![CDATA[".to_vec()), Just(b"]]>".to_vec()), Just(b"\n  ".to_vec()),
            Just(b"&amp;".to_vec()), Just(b"<x:y a='".to_vec()), Just(b"'>".to_vec()), Just(b"</x:y>".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..6),
        ], 0..40)) {
            struct Texts(Vec<(Vec<u8>, Entry)>);
            impl Visit for Texts {
                fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
                    if !entry.anomalies.contains(super::super::entry::Anomalies::BROKEN) {
                        assert_eq!(Entry::of(text, names), *entry, "{:?}", String::from_utf8_lossy(text));
                    }
                    assert_eq!(text.len(), entry.len as usize);
                    self.0.push((text.to_vec(), *entry));
                }
            }
            let bytes = parts.concat();
            let mut visitor = Texts(Vec::new());
            let scan = scan(&bytes, &mut visitor, &Progress::default());
            let (head, tail) = (scan.starts[0] as usize, scan.starts[scan.entries()] as usize);
            prop_assert!(head <= tail && tail <= bytes.len());
            let mut whole = bytes[..head].to_vec();
            for (index, (text, _)) in visitor.0.iter().enumerate() {
                prop_assert_eq!(&bytes[scan.starts[index] as usize..scan.starts[index + 1] as usize], &text[..]);
                whole.extend_from_slice(text);
            }
            whole.extend_from_slice(&bytes[tail..]);
            prop_assert_eq!(whole, bytes);
        }

        /// Scans with and without fast paths give the same result for nearly plain entries with other text between
        /// them.
        #[test]
        fn fast_paths_give_the_same_result(
            root in prop::sample::select(vec![
                "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>", "<urlset>", "<urlset xmlns='x'>",
                "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'>", "<sitemapindex>",
                "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns='urn:x'>",
                "<s:sitemapindex xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'>",
            ]),
            parts in proptest::collection::vec(prop_oneof![
                6 => prop::sample::select(vec![
                    "<url>", "</url>", "<loc>", "</loc>", "<loc>https://e.com/a?b=1&amp;c</loc>", "<lastmod>2026-01-01</lastmod>",
                    "<changefreq>daily</changefreq>", "<priority>0.5</priority>", "\n  ", "<url>\n<loc>https://e.com/</loc>\n</url>",
                    "<url><loc>a</loc></url>", "<sitemap><loc>a</loc></sitemap>", "<loc a='b'>https://e.com/</loc>",
                ]).prop_map(|part: &str| part.as_bytes().to_vec()),
                4 => prop::sample::select(vec![
                    "<s:url>", "</s:url>", "<s:loc>", "</s:loc>", "<s:loc>https://e.com/a?b=1&amp;c</s:loc>", "<s:lastmod> 2026 </s:lastmod>",
                    "<s:url>\n<s:loc>https://e.com/</s:loc>\n</s:url>", "<s:url><s:loc>a</s:loc><s:priority>1</s:priority></s:url>",
                    "<s:sitemap><s:loc>a</s:loc><s:changefreq>b</s:changefreq></s:sitemap>", "<s:loc></loc>", "<s:loc a='b'>c</s:loc>",
                    "<s:url><s:loc><![CDATA[a]]></s:loc></s:url>", "<s:url><loc>a</loc><s:loc>b</s:loc></s:url>",
                ]).prop_map(|part: &str| part.as_bytes().to_vec()),
                3 => prop::sample::select(vec![
                    "<url >", "</url >", "<url/>", "<loc/>", "<LOC>", "</lastmod>", "<loc a='b'>", "<url id='1'>", "<!-- <url> -->",
                    "<![CDATA[ <url> ]]>", "&", "&amp;", "&#27;", "]]>", "<", ">", "x", "\r\n", "\t", "\u{a0}", "\u{0}", "\u{ffff}",
                    "<sitemap>", "</sitemap>", "<image:image>", "</image:image>", "</urlset>", "<url><loc> a </loc></url>",
                    "<url><priority>1</priority><loc>a</loc></url>", "<url><loc>a</loc><loc>b</loc></url>", "<?p?>", "<url><loc>",
                    "abcdefg&", "abcdefgh", "abcdefghi<",
                ]).prop_map(|part: &str| part.as_bytes().to_vec()),
                1 => proptest::collection::vec(any::<u8>(), 0..4),
            ], 0..40),
            closed in any::<bool>(),
        ) {
            #[derive(Default, PartialEq, Debug)]
            struct Seen(Vec<(Vec<u8>, Entry)>);
            impl Visit for Seen {
                fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
                    self.0.push((text.to_vec(), *entry));
                    if let Some((at, loc)) = fast_path::first_loc(text, names) {
                        let span = entry.field(Field::Loc).unwrap();
                        assert_eq!((at, Some(loc)), (span.value_start as usize, entry.value(Field::Loc, text).as_deref()));
                    }
                    // The text found after the loc is the entry's value.
                    let end = Record::of(entry, text).plain_loc_end();
                    for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
                        if let Some(raw) = end.and_then(|end| fast_path::text_after_loc(text, end, field, names)) {
                            let span = entry.field(field).unwrap();
                            assert_eq!((Some(raw), span.text), (entry.raw_value(field, text), TextKind::Plain));
                            assert_eq!((span.inner_start, span.inner_end), (span.value_start, span.value_end));
                        }
                    }
                }
            }
            let end = root.split([' ', '>']).next().unwrap_or_default().replace('<', "</") + ">";
            let bytes = [root.as_bytes(), &parts.concat(), if closed { end.as_bytes() } else { b"" }].concat();
            let (mut quick, mut thorough) = (Seen::default(), Seen::default());
            let seen = scan(&bytes, &mut quick, &Progress::default());
            prop_assert_eq!(seen, scan_thoroughly(&bytes, &mut thorough, &Progress::default()));
            prop_assert_eq!(quick, thorough);
        }
    }
}
