//! Tests of the boundaries of every rule: an input that breaks it, and the closest one that does not.
//!
//! The program is asked as a user asks it, so that the quick ways through plain files are judged too.

mod documents;
mod entries;
mod extensions;
mod sets;

use crate::support::{Folder, run, stderr, stdout};
use rayon::prelude::*;
use serde_json::Value;
use sited::check::rule::Rule;
use std::collections::{BTreeMap, BTreeSet};

/// The moment it is in all of them.
const NOW: &str = "2026-11-20T10:00:00Z";

/// Where the pages of most of them are.
const ROOT: &str = "https://www.site-a.org/";
/// The namespace of the protocol.
const NS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Files by name; the first is the one that is checked.
type Files = Vec<(String, Vec<u8>)>;

/// What breaks a rule and what just does not.
struct Pair {
    code: &'static str,
    severity: &'static str,
    profile: &'static str,
    more: Vec<String>,
    broken: Files,
    sound: Files,
}

/// `rule` is a code and the first letter of its severity: `loc-fragment W`.
fn pair(rule: &'static str, broken: Files, sound: Files) -> Pair {
    let (code, severity) = rule.split_once(' ').expect("a code and a severity");
    Pair { code, severity, profile: "protocol", more: Vec::new(), broken, sound }
}

impl Pair {
    /// For another engine.
    fn of(self, profile: &'static str) -> Self {
        Self { profile, ..self }
    }

    /// With further arguments.
    fn with(self, more: &[&str]) -> Self {
        Self { more: more.iter().map(|word| (*word).to_owned()).collect(), ..self }
    }
}

/// A sitemap of its own.
fn file(text: impl Into<Vec<u8>>) -> Files {
    named("sitemap.xml", text)
}

/// The same under another name.
fn named(name: &str, text: impl Into<Vec<u8>>) -> Files {
    vec![(name.to_owned(), text.into())]
}

/// A sitemap with some declarations on its root.
fn declaring(declarations: &str, entries: &str) -> String {
    let blank = if declarations.is_empty() { "" } else { " " };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{NS}\"{blank}{declarations}>\n{entries}\n</urlset>\n"
    )
}

/// The same without any.
fn sitemap(entries: &str) -> String {
    declaring("", entries)
}

/// An entry: `loc` is escaped as it should be written.
fn url(loc: &str, rest: &str) -> String {
    format!("<url><loc>{loc}</loc>{rest}</url>")
}

/// A sitemap of many entries.
fn urls(rows: usize, entry: impl Fn(usize) -> String) -> String {
    sitemap(&(0..rows).map(entry).collect::<String>())
}

/// The severities of what is found, by code.
fn found(files: &Files, pair: &Pair) -> BTreeMap<String, BTreeSet<String>> {
    let folder = Folder::new();
    for (name, bytes) in files {
        folder.write(name, bytes);
    }
    let name = files.first().expect("a file").0.as_str();
    let fixed = ["check", name, "--format", "json", "--now", NOW, "--profile", pair.profile];
    let arguments: Vec<&str> = fixed.into_iter().chain(pair.more.iter().map(String::as_str)).collect();
    let output = run(&folder, &arguments);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let mut all = BTreeMap::<String, BTreeSet<String>>::new();
    for finding in report["findings"].as_array().expect("findings") {
        let word = |name: &str| finding[name].as_str().expect("a word").to_owned();
        all.entry(word("rule")).or_default().insert(word("severity"));
    }
    all
}

fn fault(pair: &Pair) -> Option<String> {
    let (code, profile) = (pair.code, pair.profile);
    let (broken, sound) = (found(&pair.broken, pair), found(&pair.sound, pair));
    let severity = match pair.severity {
        "E" => "error",
        "W" => "warning",
        "I" => "note",
        other => panic!("{code}: severity {other}"),
    };
    let start = |files: &Files| String::from_utf8_lossy(&files[0].1).chars().take(400).collect::<String>();
    if !broken.get(code).is_some_and(|found| found.contains(severity)) {
        return Some(format!("{profile}: no {severity} {code} but {broken:?} in {}", start(&pair.broken)));
    }
    sound.contains_key(code).then(|| format!("{profile}: {code} in {}", start(&pair.sound)))
}

fn all() -> Vec<Pair> {
    [entries::pairs(), documents::pairs(), sets::pairs(), extensions::pairs()].into_iter().flatten().collect()
}

#[test]
fn each_rule_is_broken_on_one_side_of_its_limit_alone() {
    let faults: Vec<String> = all().par_iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_rule_is_covered() {
    let tried: BTreeSet<&str> = all().iter().map(|pair| pair.code).collect();
    // No sitemap breaks the rules of a policy, of data columns or of robots.txt by itself: they are tried where those are.
    let needs_more = |code: &&str| ["policy-", "site-", "robots-"].iter().any(|start| code.starts_with(start));
    let rules = Rule::mains().map(Rule::code).filter(|code| !needs_more(code));
    let left: Vec<&str> = rules.filter(|code| !tried.contains(code)).collect();
    assert!(left.is_empty(), "{left:?}");
}
