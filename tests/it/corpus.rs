//! Runs the program on the corpus: readable files are checked, others refused and left unchanged.
//!
//! The content of a file reaches the terminal as text only, never as control characters.

use crate::support::corpus::{self, Case};
use crate::support::{Folder, run, stderr, stdout};
use serde_json::Value;

const NOW: [&str; 2] = ["--now", "2026-11-20T10:14:07Z"];

/// A folder that contains only this file.
fn folder(case: &Case) -> Folder {
    let folder = Folder::new();
    folder.write(case.file_name(), &case.bytes);
    folder
}

/// The exit status and the report of `check --format json`.
fn checked(case: &Case) -> (Option<i32>, Value) {
    let arguments = ["check", case.file_name(), "--format", "json", "--allow-missing"];
    let output = run(&folder(case), &[&arguments[..], &NOW].concat());
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|error| panic!("{}: {error}: {}", case.name, stderr(&output)));
    (output.status.code(), report)
}

#[test]
fn readable_files_have_the_expected_number_of_entries() {
    for case in corpus::readable() {
        let (status, report) = checked(&case);
        let errors = report["summary"]["errors"].as_u64().expect("a number of errors");
        assert_eq!(status, Some(i32::from(errors > 0)), "{}: {report}", case.name);
        assert_eq!(report["files"][0]["entries"].as_u64(), case.entries.map(|number| number as u64), "{}", case.name);
    }
}

/// Files that are valid by protocol and schema have no error and no warning. The files that an index lists are missing
/// here.
#[test]
fn valid_files_have_no_error_and_no_warning() {
    for case in corpus::readable().into_iter().filter(|case| case.name.starts_with("valid/")) {
        let (_, report) = checked(&case);
        let findings = report["findings"].as_array().expect("findings");
        let bad = findings.iter().filter(|finding| finding["severity"] != "note");
        let bad: Vec<_> = bad.filter(|finding| finding["rule"] != "index-child-missing").collect();
        assert!(bad.is_empty(), "{}: {bad:?}", case.name);
    }
}

/// Every quirky file has a finding, unless only the XML around its entries is unusual.
#[test]
fn quirky_files_have_findings() {
    let quiet = ["misnamed", "doctype", "blank-lines"];
    for case in corpus::readable().into_iter().filter(|case| case.name.starts_with("quirky/")) {
        let (_, report) = checked(&case);
        let findings = report["findings"].as_array().expect("findings");
        let quiet = quiet.iter().any(|name| case.name.contains(name));
        assert!(quiet || !findings.is_empty(), "{}: {report}", case.name);
    }
}

#[test]
fn files_that_are_not_sitemaps_are_reported_and_left_unchanged() {
    for case in corpus::refused() {
        let folder = folder(&case);
        let name = case.file_name();
        let output = run(&folder, &["check", name]);
        assert_eq!(output.status.code(), Some(1), "{}", case.name);
        assert!(stdout(&output).starts_with(&format!("{name}:1:1: error[doc-")), "{}: {}", case.name, stdout(&output));
        for arguments in [&["list", name][..], &["set", name, "priority=0.5"]] {
            let output = run(&folder, arguments);
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(3), "{}: {arguments:?}: {message}", case.name);
            assert!(message.starts_with(&format!("error: {name}")), "{}: {message}", case.name);
            assert!(message.contains("hint: "), "{}: {message}", case.name);
        }
        assert_eq!(folder.names(), [name], "{}: files appeared", case.name);
        assert!(folder.read(name) == case.bytes, "{} was changed", case.name);
    }
}

/// Damaged files open with the expected entries and report their repairs. They are written only with the user's
/// consent; the written file has no damage.
#[test]
fn damaged_files_open_repaired_and_are_written_only_with_consent() {
    let is_repaired = |case: &Case| case.entries > Some(0) && !case.name.contains("merge-conflict");
    for case in corpus::repaired().into_iter().filter(is_repaired) {
        let (_, report) = checked(&case);
        assert_eq!(report["files"][0]["entries"].as_u64(), case.entries.map(|number| number as u64), "{}", case.name);
        let is_storage_finding = |finding: &Value| {
            let rule = finding["rule"].as_str().unwrap();
            ["xml-", "enc-", "gzip-", "doc-root-case"].iter().any(|kind| rule.starts_with(kind))
        };
        let storage: Vec<&Value> =
            report["findings"].as_array().unwrap().iter().filter(|one| is_storage_finding(one)).collect();
        assert!(!storage.is_empty(), "{}", case.name);
        assert!(storage.iter().all(|one| one["line"].is_u64() && one["column"].is_u64()), "{}: {storage:?}", case.name);
        let folder = folder(&case);
        let name = case.file_name();
        let set = ["set", name, "priority=0.7"];
        let output = run(&folder, &set);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{}: {message}", case.name);
        assert!(message.contains("was damaged") && message.contains("--accept-repairs"), "{}: {message}", case.name);
        assert!(folder.read(name) == case.bytes, "{} was changed", case.name);
        let output = run(&folder, &[&set[..], &["--accept-repairs"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}: {}", case.name, stderr(&output));
        let output = run(&folder, &[&["check", name, "--format", "json"], &NOW[..]].concat());
        let after: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(after["files"][0]["entries"], report["files"][0]["entries"], "{}", case.name);
        assert_eq!(after["files"][0]["encoding"], "UTF-8", "{}", case.name);
        let remaining: Vec<&Value> =
            after["findings"].as_array().unwrap().iter().filter(|one| is_storage_finding(one)).collect();
        let of_bytes = ["xml-doctype", "xml-entity-declaration", "xml-declaration-missing"];
        assert!(
            remaining.iter().all(|one| of_bytes.iter().any(|rule| one["rule"] == *rule)),
            "{}: {remaining:?}",
            case.name
        );
    }
}

/// A merge conflict cannot be repaired without a decision: nothing is written until a side is chosen.
#[test]
fn a_file_with_merge_conflicts_is_written_only_after_a_side_is_chosen() {
    let case = corpus::repaired().into_iter().find(|case| case.name.contains("merge-conflict")).unwrap();
    let (_, report) = checked(&case);
    let errors: Vec<&Value> =
        report["findings"].as_array().unwrap().iter().filter(|one| one["severity"] == "error").collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((&errors[0]["rule"], errors[0]["line"].as_u64()), (&Value::from("merge-conflict"), Some(6)));
    let folder = folder(&case);
    let name = case.file_name();
    let output = run(&folder, &["list", name]);
    assert_eq!(stdout(&output).lines().count(), 3, "the rows of both sides");
    assert!(stderr(&output).contains("unresolved merge conflicts"), "{}", stderr(&output));
    for arguments in [&["set", name, "priority=0.7", "--accept-repairs"][..], &["stats", name], &["fix", name]] {
        let output = run(&folder, arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("--rule merge-conflict"), "{}", stderr(&output));
        assert!(folder.read(name) == case.bytes, "{arguments:?}");
    }
    let output = run(&folder, &["fix", name, "--rule", "merge-conflict", "--answer", "both"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&run(&folder, &["list", name])).lines().count(), 3);
}

/// For every file of the corpus, the output contains no control character except line ends, and no character that
/// changes the direction of text.
#[test]
fn no_control_character_is_printed() {
    for case in corpus::all() {
        let folder = folder(&case);
        let name = case.file_name();
        for arguments in [&["check", name][..], &["check", name, "--format", "json"], &["list", name]] {
            let output = run(&folder, arguments);
            for text in [stdout(&output), stderr(&output)] {
                let is_bidi_control =
                    |c: char| ('\u{202A}'..='\u{202E}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c);
                let control = text.chars().find(|c| c.is_control() && *c != '\n' || is_bidi_control(*c));
                assert_eq!(control, None, "{}: {arguments:?}: {text}", case.name);
            }
        }
    }
}

/// An edit that matches no row writes nothing; the file is not even opened for writing.
#[test]
fn an_edit_that_matches_no_row_writes_nothing() {
    for case in corpus::readable().into_iter().filter(|case| !case.name.contains("index")) {
        let folder = folder(&case);
        let before = std::fs::metadata(folder.file(case.file_name())).unwrap().modified().unwrap();
        let output = run(&folder, &["set", case.file_name(), "priority=0.5", "--where", "loc=nowhere"]);
        assert!(output.status.success(), "{}: {}", case.name, stderr(&output));
        assert!(folder.read(case.file_name()) == case.bytes, "{}", case.name);
        let after = std::fs::metadata(folder.file(case.file_name())).unwrap().modified().unwrap();
        assert_eq!(before, after, "{} was written", case.name);
    }
}
