//! Feeds, lists of URLs and tables: they open, lists and tables are kept byte for byte, feeds are never written over,
//! and what a form cannot hold is said before it is written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use serde_json::Value;
use support::corpus::{self, Case};
use support::{Folder, run, stderr, stdout};

fn folder(case: &Case) -> Folder {
    let folder = Folder::new();
    folder.write(case.file_name(), &case.bytes);
    folder
}

fn is_feed(case: &Case) -> bool {
    !["txt", "csv", "tsv"].iter().any(|end| case.name.ends_with(end))
}

fn rules(folder: &Folder, name: &str, more: &[&str]) -> Vec<(String, Option<u64>)> {
    let output = run(folder, &[&["check", name, "--format", "json", "--now", "2026-11-20"], more].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{name}: {error}"));
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| (finding["rule"].as_str().unwrap().to_owned(), finding["line"].as_u64())).collect()
}

#[test]
fn every_form_opens_and_lists_its_rows() {
    for case in corpus::forms() {
        let folder = folder(&case);
        let output = run(&folder, &["list", case.file_name(), "--format", "jsonl"]);
        assert!(output.status.success(), "{}: {}", case.name, stderr(&output));
        assert_eq!(stdout(&output).lines().count(), case.entries.unwrap(), "{}", case.name);
        assert!(folder.read(case.file_name()) == case.bytes, "{}", case.name);
    }
}

#[test]
fn one_changed_url_changes_nothing_else_in_a_list_or_a_table() {
    for case in corpus::forms().into_iter().filter(|case| !is_feed(case)) {
        let folder = folder(&case);
        let set = ["set", case.file_name(), "loc=https://www.example.com/new", "--where", "harbour", "-o", "out"];
        let output = run(&folder, &set);
        assert!(output.status.success(), "{}: {}", case.name, stderr(&output));
        let before = String::from_utf8(case.bytes.clone()).unwrap();
        let old = ["https://www.example.com/harbour/tides", "https://www.example.com/harbour"];
        let expected = old.iter().fold(before, |text, old| text.replace(old, "https://www.example.com/new"));
        assert_eq!(String::from_utf8(folder.read("out")).unwrap(), expected, "{}", case.name);
    }
}

#[test]
fn what_lists_and_feeds_do_wrong_is_found_at_its_line() {
    let table: [(&str, &[(&str, u64)]); 7] = [
        ("urls.txt", &[]),
        ("urls-mac.txt", &[("text-line-ends", 1), ("loc-not-ascii", 2)]),
        (
            "urls-odd.txt",
            &[("text-line-ends", 1), ("text-blank-line", 2), ("text-extra-content", 4), ("text-entity", 5)],
        ),
        ("rdf.xml", &[("feed-item-no-link", 5)]),
        ("atom-03.xml", &[("feed-relative-link", 3), ("feed-date", 4)]),
        ("media.rss", &[("mrss-title", 16), ("mrss-description", 16), ("mrss-thumbnail", 16)]),
        ("rss.xml", &[]),
    ];
    for (name, expected) in table {
        let folder = folder(&corpus::case(&format!("forms/{name}")));
        let found = rules(&folder, name, &[]);
        let of_forms = |rule: &str| ["text-", "feed-", "mrss-"].iter().any(|room| rule.starts_with(room));
        let found = found.iter().filter(|(rule, _)| of_forms(rule) || expected.iter().any(|(e, _)| e == rule));
        let found: Vec<_> = found.map(|(rule, line)| (rule.as_str(), line.unwrap_or(0))).collect();
        assert_eq!(found, expected, "{name}");
    }
    let old = folder(&corpus::case("forms/atom-03.xml"));
    assert!(rules(&old, "atom-03.xml", &["--profile", "google"]).iter().any(|(rule, _)| rule == "feed-not-supported"));
    let list = Folder::new();
    list.write("urls.xml", b"https://example.com/\n");
    assert_eq!(rules(&list, "urls.xml", &[])[0].0, "text-extension");
}

#[test]
fn a_feed_is_never_written_over_but_saved_as_a_sitemap() {
    for case in corpus::forms().into_iter().filter(is_feed) {
        let folder = folder(&case);
        let name = case.file_name();
        let refused = run(&folder, &["set", name, "priority=0.5"]);
        assert_eq!(refused.status.code(), Some(3), "{}: {}", case.name, stderr(&refused));
        assert!(stderr(&refused).contains("never written over"), "{}", stderr(&refused));
        assert!(folder.read(name) == case.bytes, "{}", case.name);
        let saved = run(&folder, &["set", name, "priority=0.5", "-o", "new.xml"]);
        assert!(saved.status.success(), "{}: {}", case.name, stderr(&saved));
        let (from, to) = (run(&folder, &["list", name]), run(&folder, &["list", "new.xml"]));
        assert_eq!(stdout(&from), stdout(&to), "{}", case.name);
        assert!(folder.read(name) == case.bytes, "{}", case.name);
    }
}

#[test]
fn what_a_list_cannot_hold_is_said() {
    let folder = folder(&corpus::case("forms/urls.txt"));
    let before = folder.read("urls.txt");
    let output = run(&folder, &["set", "urls.txt", "priority=0.5", "lastmod=2026-01-01"]);
    assert!(stderr(&output).contains("2 dates, 2 priorities cannot be written to a text list"), "{}", stderr(&output));
    assert!(folder.read("urls.txt") == before);
}
