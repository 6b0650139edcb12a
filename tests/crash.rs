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
    open_paths(folder, &["sitemap_index.xml"], text)
}

fn open_paths(folder: &Folder, paths: &[&str], text: &str) -> Terminal {
    let terminal = Start::new(folder).size(100, 30).arguments(NOW).arguments(paths.iter().copied()).start();
    terminal.wait_for(text);
    terminal
}

/// Makes a change, and ends without a word once it is in the journal.
fn change_and_die(folder: &Folder, terminal: &Terminal) {
    change(terminal);
    terminal.wait_until("a line in the journal", |_| journal_lines(folder) == 2);
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
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
    // By the name of one of its files too.
    let restored = stderr(&run(&folder, &["restore", "sitemap-1.xml", "--set", "latest"]));
    assert!(restored.contains("an earlier session left unsaved changes"), "{restored}");
    let terminal = open(&folder, "1 unsaved change of an earlier session");
    terminal.send("D");
    terminal.wait_gone("1 unsaved change of an earlier session");
    terminal.send("q");
    assert!(terminal.wait_exit().success());
    assert!(set().status.success());
    assert!(folder.text("sitemap-1.xml").contains("<priority>0.9</priority>"));
    assert_eq!(left_in_state(&folder), 0, "neither journals nor locks are left");
}

/// A set is the same by its index, by one part, by a folder, by a link, and in a list of files.
#[cfg(unix)]
#[test]
fn a_set_is_locked_by_whatever_path_it_is_opened() {
    let folder = Folder::sample();
    std::os::unix::fs::symlink("sitemap-2.xml", folder.file("link.xml")).unwrap();
    std::fs::hard_link(folder.file("sitemap-1.xml"), folder.file("other-name.xml")).unwrap();
    let before = folder.files();
    let first = open(&folder, "61 URLs");
    let others = [&["."][..], &["sitemap-1.xml"], &["link.xml"], &["other-name.xml"], &["sample.xml", "sitemap-2.xml"]];
    folder.write("sample.xml", folder.read("sitemap-1.xml"));
    for paths in others {
        let second = open_paths(&folder, paths, "has it open");
        second.send(":%set priority=0.3\r");
        second.wait_for("read-only");
        second.send("q");
        assert!(second.wait_exit().success());
        let script = folder.write("script", "set priority=0.9\nwrite\n");
        let output = run(&folder, &[&["--script", &*script.to_string_lossy()], paths].concat());
        assert!(stderr(&output).contains("has it open"), "{paths:?}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(3), "{paths:?}");
    }
    // Another set in the same folder is another set.
    let second = open_paths(&folder, &["sample.xml"], "33 URLs");
    change(&second);
    for terminal in [second, first] {
        terminal.send("qD");
        assert!(terminal.wait_exit().success());
    }
    let mut after = folder.files();
    after.retain(|name, _| before.contains_key(name));
    assert_eq!(after, before);
    assert_eq!(left_in_state(&folder), 0, "neither journals nor locks are left");
}

/// Several files without an index are kept too; and whoever opens one of them alone is told where its changes wait.
#[test]
fn changes_of_several_files_are_replayed_and_nobody_passes_them_by() {
    let folder = Folder::sample();
    let before = folder.files();
    let both = ["sitemap-1.xml", "sitemap-2.xml"];
    change_and_die(&folder, &open_paths(&folder, &both, "61 URLs"));
    for paths in [&["sitemap-2.xml"][..], &["sitemap-2.xml", "sitemap-1.xml"], &["sitemap_index.xml"]] {
        let terminal = open_paths(&folder, paths, "left 1 unsaved change");
        terminal.wait_for("sitemap-1.xml");
        terminal.send("r");
        terminal.wait_gone("Until then");
        terminal.send(":%set priority=0.3\r");
        terminal.wait_for("read-only");
        terminal.send("q");
        assert!(terminal.wait_exit().success());
        let output = run(&folder, &["set", paths[0], "priority=0.9"]);
        assert!(stderr(&output).contains("left 1 unsaved change"), "{paths:?}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(3), "{paths:?}");
    }
    assert_eq!(folder.files(), before);
    let terminal = open_paths(&folder, &both, "1 unsaved change of an earlier session");
    terminal.send("r");
    terminal.wait_for("1 change replayed");
    terminal.send(":w\r");
    terminal.wait_for("saved 2 files");
    terminal.send("q");
    assert!(terminal.wait_exit().success());
    for name in both {
        assert!(folder.text(name).contains("<priority>0.3</priority>"), "{name}");
    }
    assert_eq!(left_in_state(&folder), 0);
}

/// What is typed after a save to another path belongs to that path.
#[test]
fn changes_after_a_save_elsewhere_are_kept_for_the_new_path() {
    let folder = Folder::new();
    let before = folder.write("a.xml", SMALL);
    let terminal = open_paths(&folder, &["a.xml"], "2 URLs");
    terminal.send(":write b.xml\r");
    terminal.wait_for("saved b.xml");
    change_and_die(&folder, &terminal);
    // The first file is as it was, and free.
    let first = open_paths(&folder, &["a.xml"], "2 URLs");
    change(&first);
    first.send("qD");
    assert!(first.wait_exit().success());
    let second = open_paths(&folder, &["b.xml"], "1 unsaved change of an earlier session");
    second.send("r");
    second.wait_for("1 change replayed");
    // Where somebody has another file open nothing is written over it, and nothing is asked first.
    let third = open_paths(&folder, &["a.xml"], "2 URLs");
    second.send(":write a.xml\r");
    second.wait_for("has it open; choose another name");
    second.send("qD");
    third.send("q");
    assert!(second.wait_exit().success() && third.wait_exit().success());
    assert_eq!(std::fs::read_to_string(before).unwrap(), SMALL);
}

const SMALL: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/1</loc></url><url><loc>https://e.com/2</loc></url></urlset>";

/// Files in the folder's state.
fn left_in_state(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path().join(".home/state/sited/journal")).unwrap().count()
}

/// Lines of the only journal in the folder's state.
fn journal_lines(folder: &Folder) -> usize {
    let state = folder.path().join(".home/state/sited/journal");
    let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
    let journals = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "journal"));
    journals.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).map(|text| text.lines().count()).sum()
}
