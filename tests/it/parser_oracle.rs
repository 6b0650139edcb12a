//! Compares entries, fields and locs of real files with those of an independent parser.
//!
//! The table `FACTS.tsv` is in the folder that `SITED_CORPUS` names, beside the program that made it; without the
//! folder this test prints that nothing was compared.

use crate::support::{Folder, run, stderr};
use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files with a known difference from the oracle: the name, the difference, and its reason.
const KNOWN_DIFFERENCES: [(&str, &str, &str); 4] = [
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

/// A line of the table: column name to cell.
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

/// The output of `sited list`.
struct ListOutput {
    rows: usize,
    /// Number of rows with each of [`FIELDS`].
    with: [usize; 3],
    /// One loc per line.
    text: String,
}

const FIELDS: [&str; 3] = ["lastmod", "changefreq", "priority"];

fn list(path: &Path, format: &str) -> Result<ListOutput, String> {
    let extra: &[&str] = if format == "index" { &["--sitemaps"] } else { &[] };
    let path = path.to_str().expect("a name in UTF-8");
    let folder = Folder::new();
    let text = run(&folder, &[&["list", path], extra].concat());
    if !text.status.success() {
        return Err(stderr(&text));
    }
    let text = String::from_utf8(text.stdout).unwrap();
    if format == "text" {
        return Ok(ListOutput { rows: text.lines().count(), with: [0; 3], text });
    }
    let rows = run(&folder, &[&["list", path, "--format", "jsonl"], extra].concat());
    let rows: Vec<Value> =
        String::from_utf8(rows.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let with = FIELDS.map(|name| rows.iter().filter(|row| !row[name].is_null()).count());
    Ok(ListOutput { rows: rows.len(), with, text })
}

/// The difference from the oracle as text; `None` if there is none.
fn difference(path: &Path, fact: &Fact) -> Option<String> {
    let format = fact["format"].as_str();
    let ListOutput { rows, with, text } = match list(path, format) {
        Ok(listed) => listed,
        // A file without entries in the oracle may be refused.
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
        // The oracle counts the dates of feeds separately: an invalid date gives no lastmod, and an Atom entry has
        // several.
        let is_equal = match field {
            "lastmod" if is_feed => with <= number(fact, "feed_dates"),
            _ => with == counted,
        };
        if !is_equal {
            return Some(format!("{with} rows with {field}, counted {counted}"));
        }
    }
    None
}

#[test]
fn counts_equal_those_of_the_oracle() {
    let facts = facts();
    let unexpected_difference = |(path, fact): &(PathBuf, Fact)| -> Option<String> {
        let file = fact["file"].as_str();
        let known_difference = KNOWN_DIFFERENCES.iter().find(|(name, ..)| *name == file);
        match (difference(path, fact), known_difference) {
            (None, None) => None,
            (Some(found), Some((_, known, _))) if found.contains(known) => None,
            (Some(found), _) => Some(format!("{} {file}: {found}", fact["status"])),
            (None, Some((name, ..))) => Some(format!("{name} is as the oracle says and needs no excuse")),
        }
    };
    let differences: Vec<String> = facts.par_iter().filter_map(unexpected_difference).collect();
    assert!(
        differences.is_empty(),
        "{} of {} files differ:\n{}",
        differences.len(),
        facts.len(),
        differences.join("\n")
    );
}
