//! Converts decoded bytes to the form that is scanned: feeds become sitemaps; lists and tables stay.

use super::detect;
use crate::document::form::Form;
use crate::document::lines::{Anchor, LineColumn, Lines};
use crate::document::quirk::Quirk;
use crate::file_bytes::FileBytes;
use crate::progress::Progress;
use crate::words::counted;
use crate::xml::defect::Defect;
use crate::xml::feed::{self, Feed, Import};
use crate::xml::grid::{self, Grid};
use crate::xml::markup;
use crate::xml::names::FileKind;
use crate::xml::scan::{self, Scan, Visit};

/// A file in the form that is scanned.
pub(super) struct ScanInput {
    pub(super) bytes: FileBytes,
    /// The form in which it is stored.
    pub(super) form: Form,
    /// What was unusual about it.
    pub(super) quirks: Vec<Quirk>,
    /// Positions in the stored file for offsets in the bytes; empty if both are the same.
    pub(super) anchors: Vec<Anchor>,
}

/// Converts a file to the form that is scanned. `bytes` are UTF-8, `name` is the file name.
pub(super) fn convert(bytes: FileBytes, (kind, grid): (FileKind, Option<&Grid>), name: &str) -> ScanInput {
    let plain = |bytes, form, quirks| ScanInput { bytes, form, quirks, anchors: Vec::new() };
    match kind {
        FileKind::Urlset | FileKind::Index => match detect::feed(&bytes).and_then(|_| feed::import(&bytes)) {
            Some(import) => convert_feed(&bytes, import),
            None => plain(bytes, Form::Xml, Vec::new()),
        },
        FileKind::List => {
            let quirks = list_quirks(&bytes, name);
            plain(bytes, Form::List, quirks)
        }
        FileKind::Table => {
            let form = Form::of_kind(kind, grid);
            plain(bytes, form, Vec::new())
        }
    }
}

/// The quirks of a file's encoding; lists have a rule of their own for them.
pub(super) fn encoding_quirks(mut quirks: Vec<Quirk>, kind: FileKind) -> Vec<Quirk> {
    for quirk in quirks.iter_mut().filter(|_| kind == FileKind::List) {
        if matches!(quirk.kind, Defect::NotUtf8 | Defect::InvalidBytes | Defect::OtherMark) {
            quirk.kind = Defect::TextNotUtf8;
        }
    }
    quirks.dedup_by_key(|quirk| (quirk.entry, quirk.kind));
    quirks
}

/// Scans converted bytes; `grid` is the layout of a table.
pub(super) fn scan(
    bytes: &[u8],
    (kind, grid): (FileKind, Option<&Grid>),
    visitor: &mut impl Visit,
    progress: &Progress,
) -> Scan {
    if kind.is_xml() { scan::scan(bytes, visitor, progress) } else { scan::scan_grid(bytes, grid, visitor, progress) }
}

fn list_quirks(bytes: &[u8], name: &str) -> Vec<Quirk> {
    let survey = grid::survey(bytes);
    let mut lines = Lines::new(bytes);
    let named = Form::of_name(name) == Some(Form::List) || name == "-";
    let extension = (!named).then(|| (Defect::Extension, 0, String::new()));
    let blank = survey.blank.map(|(count, at)| {
        (
            Defect::BlankLine,
            at,
            format!(
                "{} {}",
                crate::words::grouped(count.into()),
                if count == 1 { "empty line" } else { "empty lines" }
            ),
        )
    });
    let ends = survey.returns.map(|(count, at)| {
        let verb = if count == 1 { "ends" } else { "end" };
        (Defect::LineEnds, at, format!("{} {verb}", counted(count.into(), "line")))
    });
    let mut found: Vec<_> = [extension, blank, ends].into_iter().flatten().collect();
    found.sort_by_key(|(_, at, _)| *at);
    let quirk = |(kind, at, what): (Defect, u32, String)| Quirk {
        kind,
        at: lines.position(at as usize),
        entry: None,
        what: what.into(),
    };
    found.into_iter().map(quirk).collect()
}

fn convert_feed(stored: &[u8], import: Import) -> ScanInput {
    let kind = if import.feed == Feed::Atom03 { Defect::FeedOld } else { Defect::Feed };
    // A message names at most six elements.
    let names = import.skipped.iter().take(6);
    let left: Vec<String> = names.map(|(name, count)| format!("{} {name}", crate::words::grouped(*count))).collect();
    let mut quirks = vec![Quirk { kind, at: LineColumn::START, entry: None, what: left.join(", ").into() }];
    if import.is_cut {
        let items = counted(import.item_offsets.len() as u64, "complete item");
        let verb = if import.item_offsets.len() == 1 { "is" } else { "are" };
        let what = format!("{items} {verb} here, the incomplete end is omitted").into();
        let at = Lines::new(stored).position(stored.len());
        quirks.push(Quirk { kind: Defect::Truncated, at, entry: None, what });
    }
    if let Some(at) = import.given_up {
        let what = format!("{} kept", counted(import.item_offsets.len() as u64, "item")).into();
        let at = Lines::new(stored).position(at as usize);
        quirks.push(Quirk { kind: Defect::TooDamaged, at, entry: None, what });
    }
    let mut lines = Lines::new(stored);
    quirks.extend(import.defects.into_iter().map(|defect| Quirk {
        kind: defect.kind,
        at: lines.position(defect.at),
        entry: defect.entry,
        what: defect.what,
    }));
    quirks.extend(damage_of_feed(stored, import.is_cut || import.given_up.is_some()));
    // At most one of each kind per entry.
    quirks.dedup_by_key(|quirk| (quirk.entry, quirk.kind));
    let anchors = anchors(stored, &import.anchors);
    ScanInput { anchors, bytes: import.text.into(), form: Form::Feed(import.feed), quirks }
}

/// The first damage of each kind in a feed. Raw ampersands are reported per item.
fn damage_of_feed(stored: &[u8], is_cut: bool) -> Vec<Quirk> {
    let mut lines = Lines::new(stored);
    let mut quirks: Vec<Quirk> = Vec::new();
    for damage in scan::damage(stored) {
        let rest = stored.get(damage.at..).unwrap_or_default();
        let first = rest.trim_ascii_start();
        let words = || format!("{}; read as well as possible", detect::damage_words(damage.kind));
        let (kind, what) = match damage.kind {
            Defect::Ampersand | Defect::InvalidBytes => continue,
            Defect::Unclosed if is_cut => continue,
            Defect::Character => (Defect::Character, String::new()),
            Defect::Comment => (Defect::Comment, String::new()),
            Defect::BeforeRoot if is_declaration_after_blanks(stored, damage.at) => {
                (Defect::LeadingBlank, String::new())
            }
            Defect::BeforeRoot => (Defect::LeadingJunk, excerpt(first)),
            Defect::TrailingJunk => (Defect::TrailingJunk, excerpt(first)),
            _ => (Defect::NotWellFormed, words()),
        };
        if !quirks.iter().any(|known| known.kind == kind) {
            quirks.push(Quirk { kind, at: lines.position(damage.at), entry: None, what: what.into() });
        }
    }
    quirks
}

/// Whether an XML declaration at this offset has only blanks before it.
fn is_declaration_after_blanks(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    bytes.get(at..).is_some_and(|rest| rest.starts_with(b"<?xml"))
        && markup::is_blank(before.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(before))
}

/// The first characters of a text's first line.
fn excerpt(text: &[u8]) -> String {
    let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    String::from_utf8_lossy(line).chars().filter(|letter| !letter.is_control()).take(24).collect()
}

/// Converts stored offsets to lines and columns. [`Lines`] only counts forward, so the offsets are sorted first.
pub(super) fn anchors(stored: &[u8], offsets: &[(u32, u32)]) -> Vec<Anchor> {
    let mut sorted: Vec<u32> = offsets.iter().map(|(_, theirs)| *theirs).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut lines = Lines::new(stored);
    let positions: Vec<LineColumn> = sorted.iter().map(|offset| lines.position(*offset as usize)).collect();
    let position = |theirs: &u32| positions.get(sorted.binary_search(theirs).ok()?).copied();
    offsets.iter().filter_map(|(ours, theirs)| Some((*ours, position(theirs)?))).collect()
}
