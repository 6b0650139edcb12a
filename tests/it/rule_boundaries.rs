//! Tests of the boundaries of every rule: an input that violates it, and the closest input that does not.
//!
//! The tests run the command line, so that the fast paths for plain files are tested too.

mod documents;
mod entries;
mod extensions;
mod sets;

use crate::support::{Folder, run, stderr, stdout};
use rayon::prelude::*;
use serde_json::Value;
use sited::check::rule::Rule;
use std::collections::{BTreeMap, BTreeSet};

/// The current time in all tests.
const NOW: &str = "2026-11-20T10:00:00Z";

/// The site of the pages in most inputs.
const ROOT: &str = "https://www.site-a.org/";
/// The namespace of the protocol.
const NS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Names and contents of files; the first one is checked.
type Files = Vec<(String, Vec<u8>)>;

/// An input that violates a rule, and a similar input that does not.
struct Pair {
    code: &'static str,
    severity: &'static str,
    profile: &'static str,
    extra: Vec<String>,
    violating: Files,
    valid: Files,
}

/// `rule` is a code and the first letter of its severity: `loc-fragment W`.
fn pair(rule: &'static str, violating: Files, valid: Files) -> Pair {
    let (code, severity) = rule.split_once(' ').expect("a code and a severity");
    Pair { code, severity, profile: "protocol", extra: Vec::new(), violating, valid }
}

impl Pair {
    /// Selects the profile of a search engine.
    fn with_profile(self, profile: &'static str) -> Self {
        Self { profile, ..self }
    }

    /// Adds arguments to the command.
    fn with_arguments(self, extra: &[&str]) -> Self {
        Self { extra: extra.iter().map(|word| (*word).to_owned()).collect(), ..self }
    }
}

/// A single file `sitemap.xml`.
fn file(text: impl Into<Vec<u8>>) -> Files {
    named("sitemap.xml", text)
}

/// A single file with this name.
fn named(name: &str, text: impl Into<Vec<u8>>) -> Files {
    vec![(name.to_owned(), text.into())]
}

/// A sitemap with additional namespace declarations on its root.
fn declaring(declarations: &str, entries: &str) -> String {
    let blank = if declarations.is_empty() { "" } else { " " };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{NS}\"{blank}{declarations}>\n{entries}\n</urlset>\n"
    )
}

/// A sitemap without additional declarations.
fn sitemap(entries: &str) -> String {
    declaring("", entries)
}

/// An entry; `loc` is already escaped.
fn url(loc: &str, rest: &str) -> String {
    format!("<url><loc>{loc}</loc>{rest}</url>")
}

/// A sitemap of `rows` entries.
fn urls(rows: usize, entry: impl Fn(usize) -> String) -> String {
    sitemap(&(0..rows).map(entry).collect::<String>())
}

/// The severities of the findings, by code of the rule.
fn found(files: &Files, pair: &Pair) -> BTreeMap<String, BTreeSet<String>> {
    let folder = Folder::new();
    for (name, bytes) in files {
        folder.write(name, bytes);
    }
    let name = files.first().expect("a file").0.as_str();
    let fixed = ["check", name, "--format", "json", "--now", NOW, "--profile", pair.profile];
    let arguments: Vec<&str> = fixed.into_iter().chain(pair.extra.iter().map(String::as_str)).collect();
    let output = run(&folder, &arguments);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let mut all = BTreeMap::<String, BTreeSet<String>>::new();
    for finding in report["findings"].as_array().expect("findings") {
        let word = |name: &str| finding[name].as_str().expect("a word").to_owned();
        all.entry(word("rule")).or_default().insert(word("severity"));
    }
    all
}

fn boundary_failure(pair: &Pair) -> Option<String> {
    let (code, profile) = (pair.code, pair.profile);
    let (violating, valid) = (found(&pair.violating, pair), found(&pair.valid, pair));
    let severity = match pair.severity {
        "E" => "error",
        "W" => "warning",
        "I" => "note",
        other => panic!("{code}: severity {other}"),
    };
    let start = |files: &Files| String::from_utf8_lossy(&files[0].1).chars().take(400).collect::<String>();
    if !violating.get(code).is_some_and(|found| found.contains(severity)) {
        return Some(format!("{profile}: no {severity} {code} but {violating:?} in {}", start(&pair.violating)));
    }
    valid.contains_key(code).then(|| format!("{profile}: {code} in {}", start(&pair.valid)))
}

fn all() -> Vec<Pair> {
    [entries::pairs(), documents::pairs(), sets::pairs(), extensions::pairs()].into_iter().flatten().collect()
}

#[test]
fn each_rule_is_violated_on_only_one_side_of_its_boundary() {
    let faults: Vec<String> = all().par_iter().filter_map(boundary_failure).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_rule_has_a_boundary_test() {
    let tried: BTreeSet<&str> = all().iter().map(|pair| pair.code).collect();
    // Rules about policies, data columns and robots.txt need other files; they have separate tests.
    let needs_more = |code: &&str| ["policy-", "site-", "robots-"].iter().any(|start| code.starts_with(start));
    let rules = Rule::mains().map(Rule::code).filter(|code| !needs_more(code));
    let remaining: Vec<&str> = rules.filter(|code| !tried.contains(code)).collect();
    assert!(remaining.is_empty(), "{remaining:?}");
}
