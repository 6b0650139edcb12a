//! Tests of two programs that edit one file, in a real terminal.

use crate::support::Folder;
use crate::support::terminal::{Start, Terminal, key};
use std::fs;

/// The sequence that a terminal sends when its window gets the focus.
const FOCUS: &str = "\x1b[I";

fn open(folder: &Folder) -> Terminal {
    let terminal =
        Start::new(folder).size(100, 30).arguments(["--now", "2026-11-20T10:14:07Z", "sitemap_index.xml"]).start();
    terminal.wait_for("61 URLs");
    terminal
}

/// Replaces a file as most programs do: by a rename.
fn replace(folder: &Folder, name: &str, old: &str, new: &str) -> String {
    let text = folder.text(name);
    assert!(text.contains(old), "{old} in {name}");
    let text = text.replacen(old, new, 1);
    folder.write("other", &text);
    fs::rename(folder.file("other"), folder.file(name)).unwrap();
    text
}

fn quit(terminal: &Terminal) {
    terminal.send("q");
    assert!(terminal.wait_exit().success(), "{}", terminal.screen());
    terminal.assert_restored();
    let output = String::from_utf8_lossy(&terminal.output()).into_owned();
    let (on, off) = (output.rfind("\x1b[?1004h"), output.rfind("\x1b[?1004l"));
    assert!(on.is_some() && on < off, "the terminal is left without reports of its focus");
}

#[test]
fn external_changes_are_reported_when_the_terminal_gets_focus() {
    let folder = Folder::sample();
    let terminal = open(&folder);
    terminal.send(FOCUS);
    replace(&folder, "sitemap-2.xml", "<priority>", "<priority>0.1</priority><!-- was ");
    fs::write(folder.file("sitemap-1.xml"), folder.read("sitemap-1.xml")).unwrap();
    terminal.send(FOCUS);
    terminal.wait_for("sitemap-2.xml was replaced by another program");
    terminal.wait_for("changed on disk");
    terminal.send("j");
    terminal.wait_for("2/61");
    terminal.send("go");
    terminal.wait_for("reload");
    terminal.send("r");
    terminal.wait_gone("changed on disk");
    quit(&terminal);
}

#[test]
fn local_and_external_changes_are_merged_and_saved() {
    let folder = Folder::sample();
    let terminal = open(&folder);
    terminal.send("t");
    terminal.wait_for("modified 1");
    let theirs = replace(&folder, "sitemap-1.xml", "<priority>1.0</priority>", "<priority>0.6</priority>");
    let second = replace(&folder, "sitemap-2.xml", "<lastmod>", "<lastmod >");
    terminal.send(key::CTRL_S);
    terminal.wait_for("2 files were changed by another program");
    assert_eq!(folder.text("sitemap-1.xml"), theirs);
    terminal.send("m");
    terminal.wait_for("1 to decide");
    terminal.send("b\r");
    terminal.wait_for("files merged");
    terminal.send(key::CTRL_S);
    terminal.wait_gone("modified");
    terminal.wait_for("saved");
    quit(&terminal);
    assert_eq!(folder.text("sitemap-1.xml"), theirs.replacen("2026-11-18", "2026-11-20", 1));
    assert_eq!(folder.text("sitemap-2.xml"), second);
}

#[test]
fn a_deleted_file_is_written_again_only_on_request() {
    let folder = Folder::sample();
    let before = folder.text("sitemap-2.xml");
    let terminal = open(&folder);
    fs::remove_file(folder.file("sitemap-2.xml")).unwrap();
    terminal.send("t");
    terminal.wait_for("modified 1");
    terminal.send(key::CTRL_S);
    terminal.wait_for("sitemap-2.xml was deleted by another program");
    terminal.send("o");
    terminal.wait_for("makes 1");
    terminal.send("w");
    terminal.wait_gone("modified");
    terminal.wait_for("saved");
    quit(&terminal);
    assert_eq!(folder.text("sitemap-2.xml"), before);
}
