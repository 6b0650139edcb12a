//! Runs the program on the corpus: readable files are checked, others refused and left unchanged.
//!
//! Nothing inside a file reaches the terminal as anything but text.

use crate::support::corpus::{self, Case};
use crate::support::{Folder, run, stderr, stdout};
use serde_json::Value;

const NOW: [&str; 2] = ["--now", "2026-11-20T10:14:07Z"];

/// A folder with this one file.
fn folder(case: &Case) -> Folder {
    let folder = Folder::new();
    folder.write(case.file_name(), &case.bytes);
    folder
}

/// What `check --format json` says.
fn checked(case: &Case) -> (Option<i32>, Value) {
    let words = ["check", case.file_name(), "--format", "json", "--allow-missing"];
    let output = run(&folder(case), &[&words[..], &NOW].concat());
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|error| panic!("{}: {error}: {}", case.name, stderr(&output)));
    (output.status.code(), report)
}

#[test]
fn readable_files_have_the_entries_of_the_table() {
    for case in corpus::readable() {
        let (status, report) = checked(&case);
        let errors = report["summary"]["errors"].as_u64().expect("a number of errors");
        assert_eq!(status, Some(i32::from(errors > 0)), "{}: {report}", case.name);
        assert_eq!(report["files"][0]["entries"].as_u64(), case.entries.map(|number| number as u64), "{}", case.name);
    }
}

/// The files that are right by protocol and schema draw no error and no warning. Children of an index are not there.
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

/// And the quirky ones have something to find, except where only the XML around the entries is unusual.
#[test]
fn files_with_quirks_have_findings() {
    let quiet = ["misnamed", "doctype", "blank-lines"];
    for case in corpus::readable().into_iter().filter(|case| case.name.starts_with("quirky/")) {
        let (_, report) = checked(&case);
        let findings = report["findings"].as_array().expect("findings");
        let quiet = quiet.iter().any(|name| case.name.contains(name));
        assert!(quiet || !findings.is_empty(), "{}: {report}", case.name);
    }
}

#[test]
fn foreign_files_are_named_and_left_as_they_were() {
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

/// Damaged files open with the entries of the table and say what was repaired. They are written only when someone
/// agrees to that; what is written then is sound.
#[test]
fn damaged_files_open_repaired_and_are_never_overwritten_unasked() {
    let is_repaired = |case: &Case| case.entries > Some(0) && !case.name.contains("merge-conflict");
    for case in corpus::repaired().into_iter().filter(is_repaired) {
        let (_, report) = checked(&case);
        assert_eq!(report["files"][0]["entries"].as_u64(), case.entries.map(|number| number as u64), "{}", case.name);
        let of_storage = |finding: &Value| {
            let rule = finding["rule"].as_str().unwrap();
            ["xml-", "enc-", "gzip-", "doc-root-case"].iter().any(|kind| rule.starts_with(kind))
        };
        let storage: Vec<&Value> =
            report["findings"].as_array().unwrap().iter().filter(|one| of_storage(one)).collect();
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
        let left: Vec<&Value> = after["findings"].as_array().unwrap().iter().filter(|one| of_storage(one)).collect();
        let of_bytes = ["xml-doctype", "xml-entity-declaration", "xml-declaration-missing"];
        assert!(left.iter().all(|one| of_bytes.iter().any(|rule| one["rule"] == *rule)), "{}: {left:?}", case.name);
    }
}

/// Merge conflicts are no damage that can be repaired without asking: nothing is written until a side is chosen.
#[test]
fn a_file_with_merge_conflicts_is_written_once_a_side_is_chosen() {
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
    for words in [&["set", name, "priority=0.7", "--accept-repairs"][..], &["stats", name], &["fix", name]] {
        let output = run(&folder, words);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("--rule merge-conflict"), "{}", stderr(&output));
        assert!(folder.read(name) == case.bytes, "{words:?}");
    }
    let output = run(&folder, &["fix", name, "--rule", "merge-conflict", "--answer", "both"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&run(&folder, &["list", name])).lines().count(), 3);
}

/// Whatever a file holds, what is printed holds no control character but line ends, and nothing that turns the
/// direction of text.
#[test]
fn no_control_character_is_printed() {
    for case in corpus::all() {
        let folder = folder(&case);
        let name = case.file_name();
        for arguments in [&["check", name][..], &["check", name, "--format", "json"], &["list", name]] {
            let output = run(&folder, arguments);
            for text in [stdout(&output), stderr(&output)] {
                let turns = |c: char| ('\u{202A}'..='\u{202E}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c);
                let control = text.chars().find(|c| c.is_control() && *c != '\n' || turns(*c));
                assert_eq!(control, None, "{}: {arguments:?}: {text}", case.name);
            }
        }
    }
}

/// A change that concerns no row writes nothing; the file is not even opened for writing.
#[test]
fn a_change_of_nothing_writes_nothing() {
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
