//! The targets of the fuzzer: each takes arbitrary bytes and reports a violated property.

use sited::document::query::Query;
use sited::progress::Progress;
use sited::protocol::Field;
use sited::protocol::lastmod::{self, Faults, Now};
use sited::session::state::vocabulary;
use sited::xml::entry::{Anomalies, Entry};
use sited::xml::feed;
use sited::xml::grid::{Grid, NameHint, TableHints};
use sited::xml::names::Names;
use sited::xml::repair::{self, Repaired, SoundPrefix};
use sited::xml::scan::{self, Ignore, Scan, Visit};
use sited::xml::splice::{self, Change, Changes};

/// A function that tests an input. It returns the violated property; a panic is a failure too.
pub(super) type Target = fn(&[u8]) -> Result<(), String>;

/// Every target.
pub(super) const TARGETS: [(&str, Target); 7] = [
    ("scan", scan_target),
    ("grid", grid_target),
    ("splice", splice_target),
    ("dates", dates_target),
    ("feeds", feeds_target),
    ("queries", queries_target),
    ("repair", repair_target),
];

/// The texts of the visited entries.
#[derive(Default)]
struct Seen(Vec<(Vec<u8>, Entry)>);

impl Visit for Seen {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.push((text.to_vec(), *entry));
    }
}

fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Checks that the scan covers all bytes and that each entry was visited.
fn whole(bytes: &[u8], scan: &Scan, seen: &Seen) -> Result<(), String> {
    let starts = &scan.starts;
    ensure(starts.is_sorted() && starts.last().is_some_and(|end| *end as usize <= bytes.len()), "starts in order")?;
    ensure(seen.0.len() + 1 == starts.len(), "an entry for each start")?;
    for (pair, (text, entry)) in starts.windows(2).zip(&seen.0) {
        let [from, to] = [pair[0] as usize, pair[1] as usize];
        ensure(bytes.get(from..to) == Some(text.as_slice()), "the entry's own bytes")?;
        ensure(entry.len as usize == text.len(), "the entry's length")?;
        for span in entry.fields.iter().flatten() {
            let rising = [span.start, span.inner_start, span.value_start, span.value_end, span.inner_end, span.end];
            ensure(rising.is_sorted() && span.end <= entry.len, "spans inside one another")?;
        }
    }
    ensure(scan.damage.iter().all(|damage| damage.at <= bytes.len()), "damage inside the file")
}

fn scan_target(bytes: &[u8]) -> Result<(), String> {
    let mut seen = Seen::default();
    let scan = scan::scan(bytes, &mut seen, &Progress::default());
    whole(bytes, &scan, &seen)?;
    let mut slowly = Seen::default();
    let other = scan::scan_thoroughly(bytes, &mut slowly, &Progress::default());
    ensure(scan == other && seen.0 == slowly.0, "the short way through plain entries sees what the long one does")?;
    if let Some(names) = scan.names.as_ref().filter(|_| scan.damage.is_empty()) {
        for (text, entry) in &seen.0 {
            ensure(Entry::of(text, names) == *entry, "an entry reads alone as it does in its file")?;
        }
    }
    Ok(())
}

fn grid_target(bytes: &[u8]) -> Result<(), String> {
    let table = Grid::of_table(bytes, TableHints { name: NameHint::Table, loc_column: None }).ok();
    for layout in [None, table.as_ref()] {
        let mut seen = Seen::default();
        let scan = scan::scan_grid(bytes, layout, &mut seen, &Progress::default());
        whole(bytes, &scan, &seen)?;
        let names = scan.names.as_ref().ok_or("a list always has names")?;
        for (text, entry) in &seen.0 {
            ensure(Entry::of(text, names) == *entry, "an entry reads alone as it does in its file")?;
            ensure(!entry.anomalies.contains(Anomalies::BROKEN), "one record an entry")?;
            let mut changes: Changes<'_> = [None; 4];
            changes[0] = Some(Change::Set("https://e.com/\"a\", b"));
            let mut out = Vec::new();
            splice::splice(entry, text, names, &changes, &mut out);
            let after = Entry::of(&out, names);
            let read = after.value(Field::Loc, &out).unwrap_or_default();
            let holds = names.grid.as_ref().is_some_and(|grid| grid.holds(Field::Loc));
            ensure(!holds || read == "https://e.com/\"a\", b", "what is set is read back")?;
            for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
                ensure(after.value(field, &out) == entry.value(field, text), "other fields are untouched")?;
            }
        }
    }
    Ok(())
}

/// The first byte selects the field, the second the change; the value follows up to a NUL, then the entry.
fn splice_target(bytes: &[u8]) -> Result<(), String> {
    let [field, what, rest @ ..] = bytes else { return Ok(()) };
    let (value, entry) =
        rest.iter().position(|byte| *byte == 0).map_or((&b"x"[..], rest), |at| (&rest[..at], &rest[at + 1..]));
    let value = String::from_utf8_lossy(value).into_owned();
    let document = [b"<urlset>", entry, b"</urlset>"].concat();
    let mut seen = Seen::default();
    let scan = scan::scan(&document, &mut seen, &Progress::default());
    let (Some(names), [(text, before)]) = (&scan.names, seen.0.as_slice()) else { return Ok(()) };
    let field = Field::ALL[usize::from(*field) % 4];
    let mut changes: Changes<'_> = [None; 4];
    changes[field.index()] = Some(if what % 3 == 0 { Change::Remove } else { Change::Set(&value) });
    let mut out = Vec::new();
    splice::splice(before, text, names, &changes, &mut out);
    ensure(splice::spliced_len(before, text, names, &changes) == out.len(), "the length foretold")?;
    // For input that is not well-formed, only the length is guaranteed.
    if !scan.damage.is_empty() || value.chars().any(|c| !sited::xml::escape::is_xml_char(c)) {
        return Ok(());
    }
    let after = Entry::of(&out, names);
    let read = after.value(field, &out);
    match changes[field.index()] {
        Some(Change::Set(_)) => {
            let blank = [' ', '\t', '\n', '\r'];
            ensure(
                read.as_deref().map(|read| read.trim_matches(blank)) == Some(value.trim_matches(blank)),
                "what is set is read back",
            )?;
        }
        _ => ensure(read.is_none(), "what is removed is gone")?,
    }
    for other in Field::ALL.into_iter().filter(|other| *other != field) {
        ensure(after.value(other, &out) == before.value(other, text), "other fields are untouched")?;
    }
    ensure(after.extensions == before.extensions, "extensions are untouched")?;
    let whole = [b"<urlset>", out.as_slice(), b"</urlset>"].concat();
    ensure(scan::scan(&whole, &mut Ignore, &Progress::default()).damage.is_empty(), "sound XML stays so")
}

fn dates_target(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let before = lastmod::validate(&text).faults;
    for fault in before.iter() {
        ensure(!lastmod::explain(fault, &text).is_empty(), "words for a fault")?;
        let Some(repaired) = lastmod::repair(&text, fault) else { continue };
        let after = lastmod::validate(&repaired).faults;
        ensure(!after.contains(fault), "a repaired fault is gone")?;
        ensure(after.difference(before).is_empty(), "a repair adds no fault")?;
    }
    if let Some((_, suggested)) = lastmod::suggest(&text) {
        ensure(lastmod::validate(&suggested).faults == Faults::empty(), "a suggestion is sound")?;
    }
    let _ = (lastmod::parse_input(&text, None, NOW), lastmod::shift_days(&text, 3));
    Ok(())
}

const NOW: Now = Now { seconds: 1_795_169_647, offset: 0 };

fn feeds_target(bytes: &[u8]) -> Result<(), String> {
    let Some(import) = feed::import(bytes) else { return Ok(()) };
    let scan = scan::scan(&import.text, &mut Ignore, &Progress::default());
    ensure(scan.damage.is_empty() && scan.stray.is_none(), "a sound sitemap")?;
    ensure(scan.entries() == import.item_offsets.len(), "a row for each item")?;
    ensure(import.item_offsets.is_sorted(), "items in their order")?;
    let is_there = |item: u32| (item as usize) < import.item_offsets.len();
    ensure(import.defects.iter().all(|defect| defect.entry.is_none_or(is_there)), "defects of items that exist")?;
    ensure(import.defects.is_sorted_by_key(|defect| defect.entry), "defects in the order of items")
}

/// Checks that a repaired file is well-formed, and that a repair from the last valid entry gives the same result.
fn repair_target(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let Some(mut repaired) = repair::repair(text.as_bytes()) else { return Ok(()) };
    resumed(text.as_bytes(), &repaired)?;
    let mut seen = Seen::default();
    let mut scan = scan::scan(&repaired.bytes, &mut seen, &Progress::default());
    // Very unusual tags may need a second repair, whose positions refer to the result of the first.
    if !scan.damage.is_empty() {
        repaired = repair::repair(&repaired.bytes).ok_or("a repaired file is still a sitemap")?;
        seen = Seen::default();
        scan = scan::scan(&repaired.bytes, &mut seen, &Progress::default());
        repaired.repairs.clear();
    }
    ensure(scan.damage.is_empty() && scan.names.is_some(), "a repaired file is sound")?;
    whole(&repaired.bytes, &scan, &seen)?;
    let rows = scan.entries() as u32;
    ensure(
        repaired.repairs.iter().all(|repair| repair.entry.is_none_or(|entry| entry < rows)),
        "repairs of rows that exist",
    )?;
    ensure(repaired.repairs.iter().all(|repair| repair.at <= text.len()), "repairs inside the damaged file")?;
    ensure(repaired.anchors.is_sorted(), "anchors in order")
}

/// Checks that a repair that starts after the last well-formed entry gives the same result.
fn resumed(bytes: &[u8], whole: &Repaired) -> Result<(), String> {
    let mut seen = Seen::default();
    let before = scan::scan_sound(bytes, &mut seen, &Progress::default());
    let Some(kept) = SoundPrefix::of(bytes, &before) else { return Ok(()) };
    let after = repair::repair_after(bytes, Some(kept)).ok_or("a sitemap from its middle on")?;
    ensure(
        after.bytes == whole.bytes && after.repairs == whole.repairs,
        "the same repair from the last sound entry on",
    )?;
    if after.unchanged_len > 0 {
        let all = scan::scan(&after.bytes, &mut Ignore, &Progress::default());
        let rest = scan::resume(&after.bytes, before, &mut seen, &Progress::default());
        ensure(rest.starts == all.starts && rest.damage == all.damage, "the same scan from there on")?;
        ensure(seen.0.len() == all.entries(), "each entry once")?;
    }
    Ok(())
}

fn queries_target(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let vocabulary = vocabulary(NOW);
    match Query::parse(&text, &vocabulary) {
        Ok(query) => {
            let written = query.to_string();
            let again = Query::parse(&written, &vocabulary).map_err(|error| format!("{written}: {error}"))?;
            ensure(again == query && again.to_string() == written, "a query reads back from its own text")
        }
        Err(error) => ensure(
            error.span.start <= error.span.end && error.span.end <= text.len() && !error.message.is_empty(),
            "an error has a place",
        ),
    }
}
