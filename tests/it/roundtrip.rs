//! Tests that files are written back byte for byte, and that an edit changes only its value's bytes.
//!
//! Uses the project's corpus and the folder that `SITED_CORPUS` names. The expected result of an edit is computed from
//! the bytes by an independent reader ([`crate::support::oracle`]), not by the code under test.

use crate::support::corpus;
use crate::support::oracle::{self, Place};
use sited::document::Document;
use sited::document::edit::Edit;
use sited::document::rows::{RowId, RowSet};
use sited::document::sitemap::{Sitemap, SitemapId};
use sited::document::source::Source;
use sited::progress::Progress;
use sited::protocol::Field;
use sited::xml::entry::Entry;
use sited::xml::names::{FileKind, Names};
use sited::xml::record::Record;
use sited::xml::scan::{Visit, scan};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

#[derive(Default)]
struct Records(Vec<Record>);

impl Visit for Records {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.push(Record::of(entry, text));
    }
}

/// A file as a document; `None` if it has no sitemap root.
fn document(bytes: &[u8]) -> Option<Document> {
    let mut records = Records::default();
    let scan = scan(bytes, &mut records, &Progress::default());
    let source = Source::new(bytes.to_vec(), scan)?;
    let mut document = Document::default();
    let sitemap = Sitemap::default();
    document.append(source, records.0, sitemap);
    Some(document)
}

fn written(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    let write = &mut |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        Ok::<_, ()>(())
    };
    document.write_sitemap(SitemapId(0), write).expect("writing to memory");
    out
}

fn apply(document: &Document, edit: &Edit) -> Document {
    document.apply(edit, &Progress::default()).expect("nobody cancels").document
}

fn set(document: &Document, rows: RowSet, field: Field, value: Option<&str>) -> Document {
    apply(document, &Edit::Set { rows, field, value: value.map(Arc::from) })
}

fn one(row: RowId) -> RowSet {
    [row.0].into_iter().collect()
}

/// The name and the unpacked bytes of every file of both corpora.
fn files() -> Vec<(String, Vec<u8>)> {
    let own = corpus::all().into_iter().map(|case| (case.name, case.bytes));
    own.chain(corpus::outside()).map(|(name, bytes)| (name, corpus::unpacked(&bytes))).collect()
}

/// A file as read by this program and by the independent reader.
struct Case {
    name: String,
    bytes: Vec<u8>,
    document: Document,
    entries: Vec<oracle::Entry>,
}

impl Case {
    /// Every row, with its entry as read by the independent reader.
    fn rows(&self) -> impl Iterator<Item = (RowId, &oracle::Entry)> {
        self.document.rows().zip(&self.entries)
    }

    /// Asserts that a new value of a field of these rows replaces the given range of the file by the given text, in each
    /// row, and nothing else.
    fn check(&self, (field, value): (Field, Option<&str>), changed: Vec<(RowId, (Range<usize>, String))>) {
        let Self { name, bytes, document, .. } = self;
        let rows: RowSet = changed.iter().map(|(row, _)| row.0).collect();
        let is_small = bytes.len() <= MAX_COMPARED_BYTES;
        let all = (!is_small).then(|| set(document, rows, field, value));
        for (row, (at, text)) in changed {
            let (actual, from, to) = match &all {
                None => (written(&set(document, one(row), field, value)), 0, bytes.len()),
                Some(edited) => {
                    let (source, entry) = document.origin(row).expect("a row that was read");
                    let start = source.start(entry).expect("an entry has a start");
                    (edited.entry_text(row).into_owned(), start, start + source.entry_text(entry).len())
                }
            };
            let expected = [&bytes[from..at.start], text.as_bytes(), &bytes[at.end..to]].concat();
            let context = format!("{name}, row {row:?}, {field:?} to {value:?}");
            assert!(actual == expected, "{context}:\n{}\nexpected:\n{}", excerpt(&actual), excerpt(&expected));
        }
    }
}

/// Every well-formed sitemap of both corpora, read once for all tests.
fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(read_cases);
    &CASES
}

fn read_cases() -> Vec<Case> {
    let readable: Vec<_> = corpus::readable().into_iter().map(|case| case.name).collect();
    let facts = facts();
    let is_selected = |name: &str| {
        let fact = facts.iter().find(|fact| fact.name == name);
        readable.iter().any(|other| other == name) || fact.is_some_and(Fact::is_sitemap)
    };
    let files = files().into_iter().filter(|(name, _)| is_selected(name));
    let case = |(name, bytes): (String, Vec<u8>)| {
        let document = document(&bytes).unwrap_or_else(|| panic!("{name} has no sitemap root"));
        Case { entries: oracle::entries(&bytes), name, bytes, document }
    };
    files.map(case).collect()
}

/// Files with `<sitemap>` in a urlset: rows with a finding here, while other readers ignore the elements.
const OTHER_KIND: [&str; 2] = ["quirky/sitemap-in-urlset.xml", "quirky/www-sitemap-xml__sitemapindex.xml"];

#[test]
fn every_byte_belongs_to_head_entries_or_tail() {
    for (name, bytes) in files() {
        if let Some(document) = document(&bytes) {
            assert!(written(&document) == bytes, "{name} is not written back as it was");
        }
    }
}

#[test]
fn documents_have_the_expected_number_of_entries() {
    for case in corpus::readable() {
        let document = document(&corpus::unpacked(&case.bytes)).unwrap_or_else(|| panic!("{} has no root", case.name));
        assert_eq!(Some(document.live() as usize), case.entries, "{}", case.name);
    }
}

#[test]
fn values_are_the_same_as_those_of_an_independent_reader() {
    for Case { name, document, entries, .. } in cases() {
        if OTHER_KIND.contains(&name.as_str()) {
            continue;
        }
        assert_eq!(entries.len(), document.live() as usize, "{name}");
        for (row, entry) in document.rows().zip(entries) {
            for field in Field::ALL {
                let expected = entry.fields[field.index()].as_ref().map(|place| place.text.as_str());
                assert_eq!(document.value(row, field).as_deref(), expected, "{name}, row {row:?}, {field:?}");
            }
        }
    }
}

/// Maximum size in bytes of a file whose rows are edited one by one, each compared with the whole file; the rows of
/// larger files are edited together, and each is compared with its entry.
const MAX_COMPARED_BYTES: usize = 1 << 14;

/// Replaces every value of every entry: only the bytes of the value change.
#[test]
fn setting_a_value_changes_only_its_bytes() {
    for case in cases() {
        for (field, value) in new_values() {
            let changed = case.rows().filter_map(|(row, entry)| {
                let place = entry.fields[field.index()].as_ref()?;
                Some((row, replacement(&case.bytes, place, value)))
            });
            case.check((field, Some(value)), changed.collect());
        }
    }
}

/// Removes every value of every entry: the element and the whitespace before it are removed.
#[test]
fn removing_a_value_removes_its_element_and_line() {
    for case in cases() {
        for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
            let changed = case.rows().filter_map(|(row, entry)| {
                let (Some(place), 1) = (&entry.fields[field.index()], entry.times[field.index()]) else { return None };
                let before = case.bytes[..place.element.start].iter().rposition(|byte| !byte.is_ascii_whitespace());
                Some((row, (before.map_or(0, |at| at + 1)..place.element.end, String::new())))
            });
            case.check((field, None), changed.collect());
        }
    }
}

/// Adds every value that an entry lacks: no byte is removed, and the independent reader finds the value and the
/// unchanged other values.
#[test]
fn adding_a_value_only_inserts_bytes() {
    for case in cases() {
        let Case { name, document, .. } = case;
        for (field, value) in new_values() {
            let lacks_it = |(row, entry): &(RowId, &oracle::Entry)| {
                let in_index = document.names(*row).kind == FileKind::Index;
                entry.fields[field.index()].is_none() && !(in_index && field > Field::Lastmod)
            };
            let rows: RowSet = case.rows().filter(lacks_it).map(|(row, _)| row.0).collect();
            if rows.is_empty() {
                continue;
            }
            let edited = set(document, rows.clone(), field, Some(value));
            let reread = oracle::entries(&written(&edited));
            assert_eq!(reread.len(), case.entries.len(), "{name}: {field:?} added to {} rows", rows.len());
            for ((row, entry), reread) in case.rows().zip(&reread).filter(|((row, _), _)| rows.contains(row.0)) {
                let before = document.base_text(row);
                let after = edited.entry_text(row);
                let context = format!("{name}, row {row:?}, {field:?}\n{}", excerpt(&after));
                if !before.ends_with(b"/>") {
                    assert!(is_insertion(before, &after), "more than an insertion: {context}");
                }
                for other in Field::ALL {
                    let text = reread.fields[other.index()].as_ref().map(|place| place.text.as_str());
                    let before = entry.fields[other.index()].as_ref().map(|place| place.text.as_str());
                    assert_eq!(text, if other == field { Some(value) } else { before }, "{context}");
                }
            }
        }
    }
}

/// Setting a field to its current value changes nothing (I3).
#[test]
fn setting_the_same_value_changes_nothing() {
    for Case { name, bytes, document, .. } in cases() {
        let mut edited = document.clone();
        for row in document.rows().take(200) {
            for field in Field::ALL {
                let value = document.value(row, field);
                edited = set(&edited, one(row), field, value.as_deref());
            }
        }
        assert!(written(&edited) == *bytes, "{name}");
        assert_eq!(edited.compare(document).changed_rows(), 0, "{name}");
    }
}

/// Compares with the counts of an independent program about the files of `SITED_CORPUS`.
#[test]
fn counts_are_the_same_as_those_of_another_program() {
    let facts = facts();
    for Case { name, document, entries, .. } in cases() {
        let Some(fact) = facts.iter().find(|fact| fact.name == *name) else { continue };
        if OTHER_KIND.contains(&name.as_str()) {
            continue;
        }
        assert_eq!(document.live(), fact.entries, "{name}: entries");
        let with = |field| document.rows().filter(|row| document.value(*row, field).is_some()).count();
        let twice = |field: Field| entries.iter().any(|entry| entry.times[field.index()] > 1);
        for (field, number) in [(Field::Lastmod, fact.lastmod), (Field::Priority, fact.priority)] {
            if !twice(field) {
                assert_eq!(with(field), number, "{name}: {field:?}");
            }
        }
    }
}

fn new_values() -> [(Field, &'static str); 4] {
    [
        (Field::Loc, "https://www.example.com/?new=1&two='2'"),
        (Field::Lastmod, "2031-12-31"),
        (Field::Changefreq, "hourly"),
        (Field::Priority, "0.123"),
    ]
}

/// The range that a new value replaces, and the replacement: the contract of `xml::splice`, computed from the bytes.
fn replacement(bytes: &[u8], place: &Place, value: &str) -> (Range<usize>, String) {
    let escaped = value.replace('&', "&amp;").replace('\'', "&apos;");
    let Some(inner) = place.inner.clone() else {
        // `<lastmod/>` becomes a start tag and an end tag.
        let tag = std::str::from_utf8(&bytes[place.element.clone()]).unwrap();
        let start_tag = tag.strip_suffix("/>").unwrap().trim_end();
        let name = start_tag[1..].split_whitespace().next().unwrap();
        return (place.element.clone(), format!("{start_tag}>{escaped}</{name}>"));
    };
    let trim = |range: Range<usize>| {
        let text = &bytes[range.clone()];
        let start = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(text.len());
        let end = text.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(start, |last| last + 1);
        range.start + start..range.start + end
    };
    let trimmed = trim(inner.clone());
    let text = &bytes[trimmed.clone()];
    if trimmed.is_empty() {
        return (inner, escaped);
    }
    let sections = text.windows(3).filter(|window| *window == b"]]>").count();
    if text.starts_with(b"<![CDATA[") && text.ends_with(b"]]>") && sections == 1 {
        return (trim(trimmed.start + 9..trimmed.end - 3), value.to_owned());
    }
    (trimmed, escaped)
}

/// Whether `new` is `old` with bytes inserted at one position.
fn is_insertion(old: &[u8], new: &[u8]) -> bool {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    new.len() > old.len() && new.ends_with(&old[front..])
}

fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(4_000)]).into_owned()
}

/// A line of `FACTS.tsv`.
struct Fact {
    name: String,
    format: String,
    status: String,
    entries: u32,
    lastmod: usize,
    priority: usize,
}

impl Fact {
    fn is_sitemap(&self) -> bool {
        self.status == "ok" && ["urlset", "index"].contains(&self.format.as_str())
    }
}

/// The lines of `FACTS.tsv` in the folder that `SITED_CORPUS` names; empty without the variable.
fn facts() -> Vec<Fact> {
    let Some((_, table)) = corpus::outside().into_iter().find(|(name, _)| name == "FACTS.tsv") else {
        return Vec::new();
    };
    let table = String::from_utf8(table).expect("FACTS.tsv is UTF-8");
    let lines: Vec<_> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let head: Vec<_> = lines[0].split('\t').collect();
    let facts: Vec<_> = lines[1..]
        .iter()
        .map(|line| {
            let cells: Vec<_> = line.split('\t').collect();
            let cell = |name: &str| cells[head.iter().position(|column| *column == name).expect("a known column")];
            let number = |name: &str| cell(name).parse().unwrap_or_else(|_| panic!("{line}: {name}"));
            Fact {
                name: cell("file").to_owned(),
                format: cell("format").to_owned(),
                status: cell("status").to_owned(),
                entries: number("entries") as u32,
                lastmod: number("lastmod"),
                priority: number("priority"),
            }
        })
        .collect();
    assert!(facts.iter().any(Fact::is_sitemap), "FACTS.tsv has no sitemap");
    facts
}
