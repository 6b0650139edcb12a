//! Tests of crashed sessions in a real terminal: the next session offers the unsaved changes.
//!
//! Verifies the promises "nothing that you typed is lost" and "two editors never open one file for writing".

use crate::support::terminal::{Start, Terminal};
use crate::support::{Folder, run, stderr};
use rustix::process::Signal;

const NOW: [&str; 2] = ["--now", "2026-11-20T10:14:07Z"];

fn open(folder: &Folder, text: &str) -> Terminal {
    open_paths(folder, &["sitemap_index.xml"], text)
}

fn open_paths(folder: &Folder, paths: &[&str], text: &str) -> Terminal {
    let terminal = Start::new(folder).size(100, 30).arguments(NOW).arguments(paths.iter().copied()).start();
    terminal.wait_for(text);
    terminal
}

/// Quits without saving. Waits for the dialog, which ignores keys that were sent before it is on the screen.
fn discard(terminal: &Terminal) {
    terminal.send("q");
    terminal.wait_for("discard and quit");
    terminal.send("D");
}

/// Makes a change and kills the program after the change is in the journal.
fn change_and_kill(folder: &Folder, terminal: &Terminal) {
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
fn unsaved_changes_of_a_crash_are_offered_and_replayed() {
    for signal in [Signal::KILL, Signal::TERM, Signal::HUP] {
        let folder = Folder::sample();
        let before = folder.files();
        let terminal = open(&folder, "61 URLs");
        change(&terminal);
        if signal == Signal::KILL {
            // A thread of its own writes the journal, within a second of the change.
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
        discard(&terminal);
        assert!(terminal.wait_exit().success());
        assert_eq!(folder.files(), before);
        // The changes are discarded for good: the next session does not offer them.
        let terminal = open(&folder, "61 URLs");
        assert!(!terminal.screen().contains("unsaved"), "{}", terminal.screen());
        terminal.send("q");
        assert!(terminal.wait_exit().success());
    }
}

#[test]
fn a_second_editor_of_the_same_set_is_read_only() {
    let folder = Folder::sample();
    let first = open(&folder, "61 URLs");
    let second = open(&folder, "has it open");
    second.send(":%set priority=0.3\r");
    second.wait_for("read-only");
    assert!(!second.screen().contains("modified"), "{}", second.screen());
    second.send("q");
    assert!(second.wait_exit().success());
    // The lock of a dead process does not count.
    first.signal(Signal::KILL);
    first.wait_exit();
    let third = open(&folder, "61 URLs");
    change(&third);
    discard(&third);
    assert!(third.wait_exit().success());
}

/// Headless commands respect the editor's lock and change no file while unsaved changes wait to be replayed.
#[test]
fn commands_are_refused_while_the_editor_runs_or_unsaved_changes_exist() {
    let folder = Folder::sample();
    let before = folder.files();
    let set = || run(&folder, &["set", "sitemap_index.xml", "priority=0.9"]);
    let assert_refused = |reason: &str| {
        let output = set();
        let notes = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{notes}");
        assert!(notes.contains(reason) && notes.contains("hint: "), "{notes}");
        assert_eq!(folder.files(), before);
        notes
    };
    let terminal = open(&folder, "61 URLs");
    let notes = assert_refused("another sited (process ");
    assert!(notes.contains("has it open"), "{notes}");
    change(&terminal);
    terminal.wait_until("a line in the journal", |_| journal_lines(&folder) == 2);
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    // The lock of the dead process does not count, but its unsaved changes would not apply to changed files.
    assert_refused("an earlier session left 1 unsaved change");
    // The name of one file of the set is refused too.
    let restored = stderr(&run(&folder, &["restore", "sitemap-1.xml", "--set", "latest"]));
    assert!(restored.contains("an earlier session left unsaved changes"), "{restored}");
    let terminal = open(&folder, "1 unsaved change of an earlier session");
    terminal.send("D");
    terminal.wait_gone("1 unsaved change of an earlier session");
    terminal.send("q");
    assert!(terminal.wait_exit().success());
    assert!(set().status.success());
    assert!(folder.text("sitemap-1.xml").contains("<priority>0.9</priority>"));
    assert_eq!(state_file_count(&folder), 0, "neither journals nor locks are left");
}

/// A set has the same lock for its index, one of its files, its folder, a link, and a list of files.
#[cfg(unix)]
#[test]
fn a_set_is_locked_by_every_path_that_opens_it() {
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
    // Another set in the same folder has another lock.
    let second = open_paths(&folder, &["sample.xml"], "33 URLs");
    change(&second);
    discard(&second);
    first.send("q");
    assert!(second.wait_exit().success() && first.wait_exit().success());
    let mut after = folder.files();
    after.retain(|name, _| before.contains_key(name));
    assert_eq!(after, before);
    assert_eq!(state_file_count(&folder), 0, "neither journals nor locks are left");
}

/// Changes of several files without an index are journaled too. Opening one of these files alone reports the files
/// under which the unsaved changes are found.
#[test]
fn changes_of_several_files_are_replayed_and_cannot_be_bypassed() {
    let folder = Folder::sample();
    let before = folder.files();
    let both = ["sitemap-1.xml", "sitemap-2.xml"];
    change_and_kill(&folder, &open_paths(&folder, &both, "61 URLs"));
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
    assert_eq!(state_file_count(&folder), 0);
}

/// Changes after a save to another path belong to that path.
#[test]
fn changes_after_a_save_to_another_path_are_journaled_for_that_path() {
    let folder = Folder::new();
    let before = folder.write("a.xml", SMALL);
    let terminal = open_paths(&folder, &["a.xml"], "2 URLs");
    terminal.send(":write b.xml\r");
    terminal.wait_for("saved b.xml");
    change_and_kill(&folder, &terminal);
    // The first file is unchanged and unlocked.
    let first = open_paths(&folder, &["a.xml"], "2 URLs");
    change(&first);
    discard(&first);
    assert!(first.wait_exit().success());
    let second = open_paths(&folder, &["b.xml"], "1 unsaved change of an earlier session");
    second.send("r");
    second.wait_for("1 change replayed");
    // A file that another editor has open is not overwritten, and no dialog offers to.
    let third = open_paths(&folder, &["a.xml"], "2 URLs");
    second.send(":write a.xml\r");
    second.wait_for("has it open; choose another name");
    discard(&second);
    third.send("q");
    assert!(second.wait_exit().success() && third.wait_exit().success());
    assert_eq!(std::fs::read_to_string(before).unwrap(), SMALL);
}

const SMALL: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/1</loc></url><url><loc>https://e.com/2</loc></url></urlset>";

/// The state folder of the test's user.
fn state_folder(folder: &Folder) -> std::path::PathBuf {
    folder.path().join(".home/state/sited")
}

/// A file in place of the state folder prevents writing even for root.
#[test]
fn changes_that_cannot_be_journaled_are_reported_until_journaling_works() {
    let folder = Folder::sample();
    std::fs::write(state_folder(&folder), "").unwrap();
    let terminal = open(&folder, "changes are not recorded: ");
    terminal.wait_for("not kept");
    change(&terminal);
    terminal.wait_for("changes are not recorded: ");
    // A second editor is locked out nevertheless.
    let second = open(&folder, "has it open");
    second.send("q");
    assert!(second.wait_exit().success());
    // Journaling works again without an action of the user.
    std::fs::remove_file(state_folder(&folder)).unwrap();
    terminal.wait_gone("not kept");
    terminal.wait_gone("changes are not recorded");
    assert_eq!(journal_lines(&folder), 2);
    // The folder is deleted while it is in use.
    std::fs::remove_dir_all(state_folder(&folder)).unwrap();
    terminal.send(":set priority=0.4\r");
    terminal.wait_until("the journal again", |_| journal_lines(&folder) >= 2);
    let second = open(&folder, "has it open");
    second.send("q");
    assert!(second.wait_exit().success());
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    let terminal = open(&folder, "1 unsaved change of an earlier session");
    terminal.send("r");
    terminal.wait_for("modified");
    discard(&terminal);
    assert!(terminal.wait_exit().success());
}

#[test]
fn a_missing_state_folder_is_reported_and_a_second_process_is_excluded() {
    let folder = Folder::sample();
    let open_without_state_folder = |text: &str| {
        let start = Start::new(&folder).size(100, 30).arguments(NOW).arguments(["sitemap_index.xml"]);
        let terminal = start.variable("HOME", "").variable("XDG_STATE_HOME", "").start();
        terminal.wait_for(text);
        terminal
    };
    let first = open_without_state_folder("changes are not recorded: no state folder");
    open_without_state_folder("has it open with another state folder").send("q");
    let output = run(&folder, &["set", "sitemap_index.xml", "priority=0.9"]);
    assert!(stderr(&output).contains("has it open with another state folder"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(3));
    first.send("q");
    assert!(first.wait_exit().success());
}

/// Files are limited to about a kilobyte: writing the journal fails in the middle of a line, and the journal is valid
/// again after the next successful write.
#[test]
fn a_journal_that_meets_a_size_limit_is_reported_and_completed_later() {
    let folder = Folder::with(&[("a.xml", SMALL)]);
    let limited = "ulimit -f 2 && exec \"$0\" \"$@\"";
    let program = crate::support::program().to_string_lossy().into_owned();
    let start = Start::program("/bin/sh", &folder).size(100, 30).arguments(["-c", limited, &program]);
    let terminal = start.arguments(NOW).arguments(["a.xml"]).start();
    terminal.wait_for("2 URLs");
    // A journal line with both rows is longer than the limit.
    let long = "x".repeat(450);
    terminal.send(&format!(":%s#e.com#e.com/{long}#\r"));
    terminal.wait_for("would exceed the limit of file sizes");
    terminal.send("u");
    terminal.wait_gone("not kept");
    change(&terminal);
    terminal.wait_until("a line in the journal", |_| journal_lines(&folder) >= 2);
    terminal.wait_gone("not kept");
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    let terminal = open_paths(&folder, &["a.xml"], "1 unsaved change of an earlier session");
    assert!(!terminal.screen().contains("gone"), "{}", terminal.screen());
    terminal.send("D");
    terminal.wait_gone("unsaved");
    terminal.send("q");
    assert!(terminal.wait_exit().success());
}

/// The state folder is on a full disk of its own until space is freed. Needs the permission to mount.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_state_folder_is_reported_until_there_is_space() {
    let folder = Folder::sample();
    let free_space_marker = folder.file(".home/room");
    let script = "mount -t tmpfs -o size=16k none \"$XDG_STATE_HOME\" || { echo CANNOT MOUNT; exec cat; }
        head -c 99999 /dev/zero > \"$XDG_STATE_HOME/filler\" 2> /dev/null
        (while [ ! -e \"$HOME/room\" ]; do sleep 0.1; done; rm \"$XDG_STATE_HOME/filler\"
         while [ ! -e \"$XDG_STATE_HOME\"/sited/journal/*.journal ]; do sleep 0.1; done
         cp \"$XDG_STATE_HOME\"/sited/journal/*.journal \"$HOME/copy\"; mv \"$HOME/copy\" \"$HOME/copied\") &
        exec \"$0\" \"$@\"";
    let program = crate::support::program().to_string_lossy().into_owned();
    let start = Start::program("unshare", &folder).size(100, 30);
    let start = start.arguments(["-m", "--propagation", "private", "sh", "-c", script, &program]);
    let path = std::env::var("PATH").unwrap_or_default();
    let terminal = start.variable("PATH", &path).arguments(NOW).arguments(["sitemap_index.xml"]).start();
    terminal.wait_until("the set, or that nothing can be mounted", |screen| {
        let text = screen.contents();
        ["61 URLs", "CANNOT MOUNT", "unshare failed"].iter().any(|end| text.contains(end))
    });
    if !terminal.screen().contains("61 URLs") {
        eprintln!("NOT TESTED: a full disk under the state folder; nobody may mount one here ({})", terminal.screen());
        return;
    }
    terminal.wait_for("changes are not recorded: no space in ");
    change(&terminal);
    terminal.wait_for("changes are not recorded: no space in ");
    std::fs::write(free_space_marker, "").unwrap();
    terminal.wait_gone("not kept");
    // The change made while the disk was full is in the journal, without another change.
    terminal.wait_until("a copy of the journal", |_| folder.file(".home/copied").exists());
    let journal = std::fs::read_to_string(folder.file(".home/copied")).unwrap();
    assert!(journal.lines().count() == 2 && journal.contains("priority"), "{journal}");
    discard(&terminal);
    assert!(terminal.wait_exit().success());
}

/// Two users, sudo, a container: their state folders are separate, so the lock is on the file itself.
#[cfg(unix)]
#[test]
fn a_set_is_locked_across_state_folders_also_after_a_save() {
    let folder = Folder::sample();
    let open_with_another_state_folder = |text: &str| {
        let start = Start::new(&folder).size(100, 30).arguments(NOW).arguments(["sitemap_index.xml"]);
        let state = folder.path().join(".home/cache").to_string_lossy().into_owned();
        let terminal = start.variable("XDG_STATE_HOME", &state).start();
        terminal.wait_for(text);
        terminal
    };
    let first = open(&folder, "61 URLs");
    let assert_refused = || {
        let second = open_with_another_state_folder("has it open with another state folder");
        second.send(":%set priority=0.3\r");
        second.wait_for("read-only");
        second.send("q");
        assert!(second.wait_exit().success());
    };
    assert_refused();
    change(&first);
    first.send(":w\r");
    first.wait_for("saved 3 files");
    assert_refused();
    // A command that only reads needs no lock and takes none.
    assert!(run(&folder, &["list", "sitemap_index.xml"]).status.success());
    first.send("q");
    assert!(first.wait_exit().success());
    let free = open_with_another_state_folder("61 URLs");
    assert!(!free.screen().contains("has it open"), "{}", free.screen());
    free.send("q");
    assert!(free.wait_exit().success());
}

/// The same folder mounted at another path, as in a container. Needs the permission to mount.
#[cfg(target_os = "linux")]
#[test]
fn a_set_is_locked_through_a_bind_mount() {
    let folder = Folder::sample();
    let mount_point = Folder::new();
    let first = open(&folder, "61 URLs");
    let script = "mount --bind \"$1\" \"$2\" || { echo CANNOT MOUNT; exit 0; }; cd \"$2\" && \"$0\" set sitemap_index.xml priority=0.9 2>&1; echo status $?";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "--propagation", "private", "sh", "-c", script]);
    command.arg(crate::support::program()).arg(folder.path()).arg(mount_point.path());
    command.env_clear().envs(crate::support::environment(mount_point.path()));
    command.env("PATH", std::env::var("PATH").unwrap_or_default());
    let output = command.stdin(std::process::Stdio::null()).output();
    let text = output.as_ref().map(crate::support::stdout).unwrap_or_default();
    first.send("q");
    assert!(first.wait_exit().success());
    if text.is_empty() || text.contains("CANNOT MOUNT") {
        eprintln!("NOT TESTED: a bind mount; nobody may mount one here ({output:?})");
        return;
    }
    assert!(text.contains("has it open with another state folder") && text.contains("status 3"), "{text}");
}

/// Changes after a damaged line are replayed, lost changes are counted and shown, and the journal can be read later.
#[test]
fn a_damaged_journal_is_replayed_without_its_lost_changes_which_are_reported() {
    let folder = Folder::sample();
    let before = folder.files();
    let terminal = open(&folder, "61 URLs");
    for (number, line) in [(2, ":%set priority=0.3\r"), (3, ":%clear changefreq\r"), (4, ":%set lastmod=2026-11-01\r")]
    {
        terminal.send(line);
        terminal.wait_until("a line in the journal", |_| journal_lines(&folder) == number);
    }
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    let journals = || {
        let entries =
            std::fs::read_dir(state_folder(&folder).join("journal")).unwrap().flatten().map(|entry| entry.path());
        let mut paths: Vec<_> = entries.filter(|path| path.to_string_lossy().contains(".journal")).collect();
        paths.sort();
        paths
    };
    let path = journals().remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("changefreq", "chXngefreq")).unwrap();
    let terminal = open(&folder, "2 unsaved changes of an earlier session");
    terminal.wait_for("1 change is gone: the journal is damaged there");
    terminal.wait_for("chXngefreq");
    terminal.send("r");
    terminal.wait_for("2 changes replayed");
    discard(&terminal);
    assert!(terminal.wait_exit().success());
    assert_eq!(folder.files(), before);
    // The damaged journal is set aside; it can be listed, read and applied.
    let output = run(&folder, &["recover", "sitemap_index.xml"]);
    let list = crate::support::stdout(&output);
    assert!(list.contains("journal 1: ") && list.contains("set aside"), "{list}");
    assert!(list.contains("priority = 0.3: rows 1-18") && list.contains("1 change is gone"), "{list}");
    assert_eq!(output.status.code(), Some(1));
    let output = run(&folder, &["recover", ".", "--journal", "1"]);
    assert!(crate::support::stdout(&output).contains("lastmod = 2026-11-01"), "{}", crate::support::stdout(&output));
    let output = run(&folder, &["recover", "sitemap_index.xml", "--journal", "1", "--apply", "--dry-run"]);
    assert!(crate::support::stdout(&output).contains("<priority>0.3</priority>"), "{}", stderr(&output));
    assert_eq!(folder.files(), before);
    let output = run(&folder, &["recover", "sitemap_index.xml", "--journal", "1", "--apply"]);
    assert!(
        stderr(&output).contains("2 changes of ") && stderr(&output).contains("1 change is gone"),
        "{}",
        stderr(&output)
    );
    assert!(output.status.success());
    assert!(folder.text("sitemap-1.xml").contains("<priority>0.3</priority>"));
    assert_eq!(journals().len(), 1, "one with damage stays until it is removed");
    let output = run(&folder, &["recover", "sitemap_index.xml", "--journal", "1", "--apply"]);
    assert!(stderr(&output).contains("have changed since"), "{}", stderr(&output));
    let output = run(&folder, &["recover", "sitemap_index.xml", "--journal", "1", "--discard"]);
    assert!(output.status.success() && journals().is_empty(), "{}", stderr(&output));
}

/// The number of files (journals and locks) in the state folder.
fn state_file_count(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path().join(".home/state/sited/journal")).unwrap().count()
}

/// The number of lines of all journals in the state folder.
fn journal_lines(folder: &Folder) -> usize {
    let state = folder.path().join(".home/state/sited/journal");
    let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
    let journals = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "journal"));
    journals.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).map(|text| text.lines().count()).sum()
}
