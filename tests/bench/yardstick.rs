//! Yardsticks: a bare quick-xml event loop on one thread, the file operations of a load and of a save alone, and parts of
//! `sited check` done with other crates.
//!
//! The loop reads each file, visits every event, and keeps nothing, so no useful program can read XML with quick-xml
//! faster. The file operations examine no byte, so they are the minimum time of a program with the same safety
//! promises. The parts of `sited check` parse or serialize the same values, but do not check them.

use super::generate::Set;
use chrono::{DateTime, NaiveDate};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use url::Url;

/// Reads all parts of a set. Returns the number of start tags, so that no event can be optimized away.
pub(crate) fn read(set: &Set) -> u64 {
    set.parts.iter().map(|path| tags(&fs::read(path).expect("read a part"))).sum()
}

fn tags(bytes: &[u8]) -> u64 {
    let mut reader = Reader::from_reader(bytes);
    let mut tags = 0;
    loop {
        match reader.read_event().expect("generated files are well-formed") {
            Event::Start(_) | Event::Empty(_) => tags += 1,
            Event::Eof => return tags,
            _ => {}
        }
    }
}

/// Reads files into memory on all cores, as a load does.
pub(crate) fn read_files(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    paths.par_iter().with_max_len(1).map(|path| fs::read(path).expect("read a part")).collect()
}

/// The task of `--read`: only reads these files.
pub(crate) fn read_in_process(paths: &[String]) {
    black_box(read_files(&paths.iter().map(PathBuf::from).collect::<Vec<_>>()));
}

/// The task of `--parse`: reads files on all cores, and parses every URL and date in them. Prints how many are valid.
pub(crate) fn parse_in_process(paths: &[String]) {
    let parsed = |path: &String| values(&fs::read(path).expect("read a part"));
    println!("{}", paths.par_iter().with_max_len(1).map(parsed).sum::<usize>());
}

/// Parses the URLs and dates of a file with quick-xml, url and chrono. Returns the number of those that are valid.
fn values(bytes: &[u8]) -> usize {
    let mut reader = Reader::from_reader(bytes);
    let (mut text, mut valid) = (String::new(), 0);
    let is_url = |url: &str| usize::from(Url::parse(black_box(url)).is_ok());
    let href = |tag: &BytesStart<'_>| {
        let href = tag.try_get_attribute("href").expect("generated files are well-formed");
        href.map_or(0, |href| is_url(&href.value))
    };
    loop {
        match reader.read_event().expect("generated files are well-formed") {
            Event::Start(_) => text.clear(),
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(name) => text.push_str(resolve_predefined_entity(&name).unwrap_or_default()),
            Event::Empty(tag) => valid += href(&tag),
            Event::End(tag) => match tag.local_name().as_ref() {
                "loc" => valid += is_url(&text),
                "lastmod" => {
                    let is_date = NaiveDate::parse_from_str(&text, "%Y-%m-%d").is_ok();
                    valid += usize::from(is_date || DateTime::parse_from_rfc3339(&text).is_ok());
                }
                _ => {}
            },
            Event::Eof => return valid,
            _ => {}
        }
    }
}

/// A finding in a JSON report.
#[derive(Deserialize, Serialize)]
pub(crate) struct Finding {
    rule: String,
    severity: String,
    file: String,
    line: Option<u64>,
    column: Option<u64>,
    loc: Option<String>,
    field: Option<String>,
    message: String,
    fix: Option<String>,
}

/// A JSON report.
#[derive(Deserialize)]
struct FindingReport {
    findings: Vec<Finding>,
}

/// The findings of a JSON report.
pub(crate) fn findings(report: &Path) -> Vec<Finding> {
    let report = fs::read_to_string(report).expect("read the report");
    serde_json::from_str::<FindingReport>(&report).expect("the report is valid").findings
}

/// Writes findings that are in memory to a file with `serde_json`, one per line.
pub(crate) fn write_findings(findings: &[Finding], to: &Path) {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(to).expect("make a file"));
    for finding in findings {
        serde_json::to_writer(&mut out, finding).expect("write a finding");
        out.write_all(b",\n").expect("write a line");
    }
    out.flush().expect("write the rest");
}

/// Writes files as a save does, without examining a byte: each is written beside its target, synced, read back,
/// compared and renamed.
pub(crate) fn replace_files(folder: &Path, files: &[Vec<u8>]) {
    files.par_iter().with_max_len(1).enumerate().for_each(|(number, bytes)| {
        let (temporary, target) = (folder.join(format!("{number}.tmp")), folder.join(format!("{number}.xml")));
        let mut file = File::create(&temporary).expect("make a file");
        file.write_all(bytes).expect("write a file");
        let read = fs::read(&temporary).expect("read it back");
        assert!(read == *bytes, "what is read back is what was written");
        file.sync_all().expect("sync it");
        fs::rename(temporary, target).expect("rename it");
    });
    File::open(folder).and_then(|folder| folder.sync_all()).expect("sync the folder");
}
