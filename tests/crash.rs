//! Sessions that end without a word, in a real terminal: what was typed is there for the next one.
//!
//! Holds the promises "nothing is lost that was typed" and "two sited on one set".

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use rustix::process::Signal;
use support::terminal::{Start, Terminal};
use support::{Folder, run, stderr};

const NOW: [&str; 2] = ["--now", "2026-11-20T10:14:07Z"];

fn open(folder: &Folder, text: &str) -> Terminal {
    let terminal = Start::new(folder).size(100, 30).arguments(NOW).arguments(["sitemap_index.xml"]).start();
    terminal.wait_for(text);
    terminal
}

/// Makes a change and waits until it is on the screen.
fn change(terminal: &Terminal) {
    terminal.send(":%set priority=0.3\r");
    terminal.wait_for("modified");
}

#[test]
fn what_was_typed_before_a_crash_is_asked_about_and_replayed() {
    for signal in [Signal::KILL, Signal::TERM, Signal::HUP] {
        let folder = Folder::sample();
        let before = folder.files();
        let terminal = open(&folder, "61 URLs");
        change(&terminal);
        if signal == Signal::KILL {
            // The journal is written by a thread of its own: what is promised is a second.
            terminal.wait_until("a line in the journal", |_| journal_lines(&folder) == 2);
        }
        terminal.signal(signal);
        terminal.wait_exit();
        assert_eq!(folder.files(), before, "{signal:?}");
        let terminal = open(&folder, "1 unsaved change of an earlier session");
        assert!(!terminal.screen().contains("modified"), "{}", terminal.screen());
        terminal.wait_for("priority set to 0.3");
        terminal.send("r");
        terminal.wait_for("1 change replayed");
        terminal.wait_for("modified");
        terminal.send("u");
        terminal.wait_gone("modified");
        terminal.send("\x12");
        terminal.wait_for("modified");
        terminal.send("qD");
        assert!(terminal.wait_exit().success());
        assert_eq!(folder.files(), before);
        // Given up for good: nothing is asked any more.
        let terminal = open(&folder, "61 URLs");
        assert!(!terminal.screen().contains("unsaved"), "{}", terminal.screen());
        terminal.send("q");
        assert!(terminal.wait_exit().success());
    }
}

#[test]
fn a_second_one_on_the_same_set_only_reads() {
    let folder = Folder::sample();
    let first = open(&folder, "61 URLs");
    let second = open(&folder, "has it open");
    second.send(":%set priority=0.3\r");
    second.wait_for("read-only");
    assert!(!second.screen().contains("modified"), "{}", second.screen());
    second.send("q");
    assert!(second.wait_exit().success());
    // A lock of a dead process is no lock.
    first.signal(Signal::KILL);
    first.wait_exit();
    let third = open(&folder, "61 URLs");
    change(&third);
    third.send("qD");
    assert!(third.wait_exit().success());
}

/// Work without a screen takes the editor's lock, and destroys nothing that waits to be replayed.
#[test]
fn work_without_a_screen_waits_for_the_editor_and_for_what_it_left() {
    let folder = Folder::sample();
    let before = folder.files();
    let set = || run(&folder, &["set", "sitemap_index.xml", "priority=0.9"]);
    let refused = |why: &str| {
        let output = set();
        let notes = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{notes}");
        assert!(notes.contains(why) && notes.contains("hint: "), "{notes}");
        assert_eq!(folder.files(), before);
        notes
    };
    let terminal = open(&folder, "61 URLs");
    let notes = refused("another sited (process ");
    assert!(notes.contains("has it open"), "{notes}");
    change(&terminal);
    terminal.wait_until("a line in the journal", |_| journal_lines(&folder) == 2);
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    // The dead one's lock is no lock, but what it left would not fit the changed files.
    refused("an earlier session left 1 unsaved change");
    let terminal = open(&folder, "1 unsaved change of an earlier session");
    terminal.send("D");
    terminal.wait_gone("1 unsaved change of an earlier session");
    terminal.send("q");
    assert!(terminal.wait_exit().success());
    assert!(set().status.success());
    assert!(folder.text("sitemap-1.xml").contains("<priority>0.9</priority>"));
    let state = std::fs::read_dir(folder.path().join(".home/state/sited/journal")).unwrap();
    assert_eq!(state.count(), 0, "neither journals nor locks are left");
}

/// Lines of the only journal in the folder's state.
fn journal_lines(folder: &Folder) -> usize {
    let state = folder.path().join(".home/state/sited/journal");
    let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
    let journals = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "journal"));
    journals.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).map(|text| text.lines().count()).sum()
}
