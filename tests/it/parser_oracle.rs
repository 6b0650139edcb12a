//! Compares entries, fields and locs of real files with those of an independent parser.
//!
//! The table lies in the folder that `SITED_CORPUS` names, with the program that made it beside it; without the folder
//! these tests say aloud that they saw nothing.

use crate::support::{Folder, run, stderr};
use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files of which this program tells something else than the oracle: what, and why. Nothing else may differ there.
const OTHERWISE: [(&str, &str, &str); 4] = [
    (
        "malformed/sitemapr__atom-malformed.xml",
        "0 rows, 1 entries",
        "the file ends within its only entry: the oracle counts its beginning, here what is cut is no row",
    ),
    (
        "malformed/torso__git-lfs-pointer.xml.gz",
        "this is a Git LFS pointer",
        "the oracle takes it for a list of three lines; it is a pointer to a file, and is named as one",
    ),
    (
        "malformed/adakhome__head-cut-off.xml",
        "4 rows with lastmod, counted 5",
        "the oracle counts the values of an entry whose beginning is missing; here they belong to no row",
    ),
    (
        "malformed/moabi__stray-end-tag.xml",
        "26 rows, 25 entries",
        "the last loc stands outside of any entry: the oracle has no entry for it, here it is a row of its own",
    ),
];

/// A line of the table, by its columns.
type Fact = BTreeMap<String, String>;

fn facts() -> Vec<(PathBuf, Fact)> {
    let Some(folder) = std::env::var_os("SITED_CORPUS").map(PathBuf::from) else {
        eprintln!("SITED_CORPUS names no folder: nothing was compared with the oracle");
        return Vec::new();
    };
    let table = std::fs::read_to_string(folder.join("FACTS.tsv")).expect("FACTS.tsv in the corpus");
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let fact = |line: &str| -> Fact {
        head.iter().zip(line.split('\t')).map(|(name, cell)| ((*name).to_owned(), cell.to_owned())).collect()
    };
    lines.map(fact).map(|fact| (folder.join(&fact["file"]), fact)).collect()
}

fn number(fact: &Fact, name: &str) -> usize {
    fact[name].parse().unwrap_or_else(|_| panic!("{fact:?}: {name}"))
}

/// What the program lists.
struct Listed {
    rows: usize,
    /// Rows with each field, where it was asked for.
    with: [usize; 3],
    /// One loc a line.
    text: String,
}

const FIELDS: [&str; 3] = ["lastmod", "changefreq", "priority"];

fn listed(path: &Path, format: &str) -> Result<Listed, String> {
    let more: &[&str] = if format == "index" { &["--sitemaps"] } else { &[] };
    let path = path.to_str().expect("a name in UTF-8");
    let folder = Folder::new();
    let text = run(&folder, &[&["list", path], more].concat());
    if !text.status.success() {
        return Err(stderr(&text));
    }
    let text = String::from_utf8(text.stdout).unwrap();
    if format == "text" {
        return Ok(Listed { rows: text.lines().count(), with: [0; 3], text });
    }
    let rows = run(&folder, &[&["list", path, "--format", "jsonl"], more].concat());
    let rows: Vec<Value> =
        String::from_utf8(rows.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let with = FIELDS.map(|name| rows.iter().filter(|row| !row[name].is_null()).count());
    Ok(Listed { rows: rows.len(), with, text })
}

/// What differs from the oracle, in words.
fn difference(path: &Path, fact: &Fact) -> Option<String> {
    let format = fact["format"].as_str();
    let Listed { rows, with, text } = match listed(path, format) {
        Ok(listed) => listed,
        // What the oracle found nothing in may be refused.
        Err(_) if number(fact, "entries") == 0 && number(fact, "loc_elements") == 0 => return None,
        Err(error) => return Some(error),
    };
    if rows != number(fact, "entries") {
        return Some(format!("{rows} rows, {} entries", fact["entries"]));
    }
    let mut hash = Sha256::new();
    hash.update(text.strip_suffix('\n').unwrap_or(&text).as_bytes());
    let mut hex = String::new();
    for byte in hash.finalize() {
        write!(hex, "{byte:02x}").unwrap();
    }
    if hex != fact["loc_sha256"] {
        return Some(format!("another list of locs: {} lines", text.lines().count()));
    }
    let is_feed = ["rss", "rdf", "atom"].contains(&format);
    for (field, with) in FIELDS.into_iter().zip(with) {
        let counted = number(fact, field);
        // The dates of feeds are counted apart: one that cannot be read gives no lastmod, and Atom has several.
        let right = match field {
            "lastmod" if is_feed => with <= number(fact, "feed_dates"),
            _ => with == counted,
        };
        if !right {
            return Some(format!("{with} rows with {field}, counted {counted}"));
        }
    }
    None
}

#[test]
fn counts_equal_those_of_the_oracle() {
    let facts = facts();
    let wrong = |(path, fact): &(PathBuf, Fact)| -> Option<String> {
        let file = fact["file"].as_str();
        let excused = OTHERWISE.iter().find(|(name, ..)| *name == file);
        match (difference(path, fact), excused) {
            (None, None) => None,
            (Some(what), Some((_, known, _))) if what.contains(known) => None,
            (Some(what), _) => Some(format!("{} {file}: {what}", fact["status"])),
            (None, Some((name, ..))) => Some(format!("{name} is as the oracle says and needs no excuse")),
        }
    };
    let wrong: Vec<String> = facts.par_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {} files differ:\n{}", wrong.len(), facts.len(), wrong.join("\n"));
}
