//! Tests of the program in a real terminal, key by key.
//!
//! Screens are compared by text, not by cell, since the drawing has its own tests. These tests verify the real program
//! from start to end, and the state of the disk and of the terminal afterwards.

use crate::support::terminal::{Start, Terminal, key};
use crate::support::{Folder, corpus, run, stderr};
use rustix::process::Signal;

const NOW: [&str; 2] = ["--now", "2026-11-20T10:14:07Z"];

/// Starts the program with a file of this folder, and waits until it is loaded.
fn open(folder: &Folder, name: &str, urls: &str) -> Terminal {
    let terminal = Start::new(folder).size(100, 30).arguments(NOW).arguments([name]).start();
    terminal.wait_for(urls);
    terminal
}

/// Starts the program with the sample set, which is in the folder.
fn open_sample(folder: &Folder) -> Terminal {
    open(folder, "sitemap_index.xml", "61 URLs")
}

fn quit(terminal: &Terminal) {
    terminal.send("q");
    assert!(terminal.wait_exit().success(), "{}", terminal.screen());
    terminal.assert_restored();
}

/// The text of a file with one value replaced.
fn with_replacement(folder: &Folder, name: &str, old: &str, new: &str) -> String {
    let text = folder.text(name);
    assert_eq!(text.matches(old).count(), 1, "{old} once in {name}");
    text.replace(old, new)
}

#[test]
fn opens_the_set_of_the_folder_and_quits_without_a_dialog() {
    let folder = Folder::sample();
    let before = folder.files();
    let terminal = Start::new(&folder).size(100, 30).start();
    for text in ["61 URLs", "loc", "lastmod", "freq", "prio", "/visit/opening-hours", "6 errors"] {
        terminal.wait_for(text);
    }
    quit(&terminal);
    assert_eq!(folder.files(), before);
}

#[test]
fn opens_the_sample_in_a_folder_without_a_sitemap() {
    let folder = Folder::new();
    let terminal = Start::new(&folder).start();
    terminal.wait_for("61 URLs");
    assert!(!terminal.screen().contains("modified"), "{}", terminal.screen());
    quit(&terminal);
    assert!(folder.files().is_empty());
}

#[test]
fn edits_a_cell_and_saves_only_that_value() {
    let folder = Folder::sample();
    let part = with_replacement(
        &folder,
        "sitemap-1.xml",
        "<lastmod>2026-31-08</lastmod>\n    <changefreq>weekly</changefreq>\n    <priority>0.5",
        "<lastmod>2026-08-31</lastmod>\n    <changefreq>weekly</changefreq>\n    <priority>0.5",
    );
    let index = with_replacement(&folder, "sitemap_index.xml", "2026-11-18", "2026-11-20");
    let untouched = folder.read("sitemap-2.xml");
    let terminal = open_sample(&folder);
    terminal.send("8Glc");
    terminal.wait_for("EDIT");
    terminal.send("2026-08-3");
    terminal.wait_for("2026-08-03");
    terminal.send("1\r");
    terminal.wait_for("modified 1");
    terminal.wait_for("5 errors");
    terminal.send(key::CTRL_S);
    terminal.wait_for("saved");
    terminal.wait_gone("modified");
    quit(&terminal);
    assert_eq!(folder.text("sitemap-1.xml"), part);
    assert_eq!(folder.text("sitemap_index.xml"), index);
    assert_eq!(folder.read("sitemap-2.xml"), untouched);
}

#[test]
fn previews_applies_and_undoes_a_bulk_change() {
    let folder = Folder::sample();
    let before = folder.files();
    let terminal = open_sample(&folder);
    terminal.send(":set priority=0.2 where section:plants");
    terminal.wait_for("on 9 of 61 rows");
    terminal.wait_for("0.9 → 0.2");
    terminal.send(key::ENTER);
    terminal.wait_for("modified 9");
    terminal.send("u");
    terminal.wait_gone("modified");
    quit(&terminal);
    assert_eq!(folder.files(), before);
}

#[test]
fn quitting_with_changes_opens_a_dialog_whose_default_keeps_them() {
    let folder = Folder::sample();
    let before = folder.files();
    let terminal = open_sample(&folder);
    terminal.send("2Gdd");
    terminal.wait_for("modified 1");
    terminal.send("q");
    terminal.wait_for("discard");
    terminal.send(key::ENTER);
    terminal.wait_gone("discard");
    terminal.wait_for("modified 1");
    terminal.send("q");
    terminal.wait_for("discard");
    terminal.send("D");
    assert!(terminal.wait_exit().success());
    terminal.assert_restored();
    assert_eq!(folder.files(), before);
}

/// Keys sent together with the command that opens a dialog do not answer the dialog.
#[test]
fn keys_typed_ahead_do_not_answer_the_dialog_that_appears() {
    let folder = Folder::sample();
    let other = folder.read("sitemap-2.xml");
    let terminal = open(&folder, "sitemap-1.xml", "33 URLs");
    terminal.send("2Gdd");
    terminal.wait_for("modified 1");
    terminal.send(":w sitemap-2.xml\rw");
    terminal.wait_for("keep editing");
    assert_eq!(folder.read("sitemap-2.xml"), other, "{}", terminal.screen());
    terminal.send("w");
    terminal.wait_for("saved");
    assert_ne!(folder.read("sitemap-2.xml"), other);
    quit(&terminal);
}

#[test]
fn pasted_text_is_never_executed_as_keys() {
    let folder = Folder::sample();
    let before = folder.files();
    let terminal = open_sample(&folder);
    terminal.paste("https://www.example.com/pasted/one\nhttps://www.example.com/pasted/two\nddddq:q!\n");
    terminal.wait_for("pasted/one");
    terminal.send(key::ESC);
    terminal.wait_gone("pasted/one");
    terminal.wait_for("61 URLs");
    assert!(!terminal.screen().contains("modified"), "{}", terminal.screen());
    quit(&terminal);
    assert_eq!(folder.files(), before);
}

#[test]
fn a_pasted_list_becomes_rows() {
    let folder = Folder::with(&[(
        "sitemap.xml",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <url><loc>https://www.example.com/a</loc></url>\n</urlset>\n",
    )]);
    let terminal = open(&folder, "sitemap.xml", "1 URL");
    terminal.paste("https://www.example.com/b\nhttps://www.example.com/c?x=1&y=2\n");
    terminal.wait_for("2 ");
    terminal.send(key::ENTER);
    terminal.wait_for("3 URLs");
    terminal.send(key::CTRL_S);
    terminal.wait_for("saved");
    quit(&terminal);
    assert_eq!(
        folder.text("sitemap.xml"),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <url><loc>https://www.example.com/a</loc></url>\n<url><loc>https://www.example.com/b</loc></url>\n\
         <url><loc>https://www.example.com/c?x=1&amp;y=2</loc></url>\n</urlset>\n"
    );
}

#[test]
fn filters_and_sorts_without_changing_anything() {
    let folder = Folder::sample();
    let before = folder.files();
    let terminal = open_sample(&folder);
    terminal.send("f");
    terminal.send("section=journal has:news");
    terminal.wait_for("2");
    terminal.send(key::ENTER);
    terminal.wait_for("2 shown");
    terminal.wait_for("storm-takes-the-old-cedar");
    terminal.send("F");
    terminal.wait_gone("2 shown");
    terminal.send(":sort -lastmod\r");
    terminal.wait_for("sort -lastmod");
    terminal.send("gg");
    terminal.wait_until("the future date in the first row", |screen| {
        screen.rows(0, 100).nth(2).is_some_and(|row| row.contains("2062-05-02"))
    });
    assert!(!terminal.screen().contains("modified"), "{}", terminal.screen());
    quit(&terminal);
    assert_eq!(folder.files(), before);
}

#[test]
fn offers_to_create_a_missing_file() {
    let folder = Folder::new();
    let terminal = Start::new(&folder).arguments(["new.xml"]).start();
    terminal.wait_for("does not exist");
    terminal.send("c");
    terminal.wait_for("0 URLs");
    terminal.send("o");
    terminal.wait_for("https://");
    terminal.send("www.example.com/first\r");
    terminal.wait_for("1 URL");
    terminal.send(key::CTRL_S);
    terminal.wait_for("saved");
    quit(&terminal);
    assert_eq!(folder.names(), ["new.xml"]);
    assert!(folder.text("new.xml").contains("<loc>https://www.example.com/first</loc>"), "{}", folder.text("new.xml"));
}

#[test]
fn a_file_that_is_not_a_sitemap_is_reported_and_left_unchanged() {
    let case = corpus::case("damaged/html-page.xml");
    let folder = Folder::new();
    folder.write("sitemap.xml", &case.bytes);
    let terminal = Start::new(&folder).size(100, 24).arguments(["sitemap.xml"]).start();
    terminal.wait_for("cannot open this");
    terminal.send("q");
    assert_eq!(terminal.wait_exit().exit_code(), 3);
    terminal.assert_restored();
    assert_eq!(folder.read("sitemap.xml"), case.bytes);
}

/// A damaged file opens; viewing it changes nothing, and saving an edit opens a dialog about its repairs first.
#[test]
fn a_damaged_file_is_repaired_only_with_consent() {
    let case = corpus::case("damaged/raw-ampersand.xml");
    let folder = Folder::new();
    folder.write("sitemap.xml", &case.bytes);
    let terminal = open(&folder, "sitemap.xml", "2 URLs");
    terminal.wait_for("xml-unescaped-ampersand");
    terminal.send("dd");
    terminal.send(key::CTRL_S);
    terminal.wait_for("raw & becomes");
    terminal.send("k");
    // Keys sent before the next dialog is on the screen do not answer it.
    terminal.wait_gone("raw & becomes");
    assert_eq!(folder.read("sitemap.xml"), case.bytes);
    terminal.send(key::CTRL_S);
    terminal.wait_for("raw & becomes");
    terminal.send("w");
    terminal.wait_for("saved");
    quit(&terminal);
    assert!(!folder.text("sitemap.xml").contains("a=1&b"), "{}", folder.text("sitemap.xml"));
}

/// Control characters of a file are shown as visible symbols and not sent to the terminal.
#[test]
fn control_characters_of_a_file_never_reach_the_terminal() {
    let folder = Folder::new();
    folder.write("sitemap.xml", corpus::case("quirky/c1-controls.xml").bytes);
    let terminal = open(&folder, "sitemap.xml", "3 URLs");
    terminal.wait_for("31mred");
    terminal.send("jj");
    terminal.wait_for("3/3");
    quit(&terminal);
    let output = String::from_utf8(terminal.output()).expect("what is written is UTF-8");
    let is_control = |c: char| ('\u{80}'..='\u{9f}').contains(&c) || ('\u{202A}'..='\u{202E}').contains(&c);
    assert!(!output.contains(is_control), "{output:?}");
    assert!(!output.contains("tab\tline") && !output.contains("line\nreturn"), "{output:?}");
}

/// The width of wide, combining, joining and right-to-left text is the same as in the terminal, so that the next column
/// is aligned.
#[test]
fn columns_are_aligned_in_every_script() {
    let scripts = [
        "plain",
        "日本語",
        "e\u{301}te\u{301}",
        "ខ្មែរ",
        "हिन्दी",
        "עִבְרִית",
        "عَرَبِيّ",
        "ไทยน้ำ",
        "👩\u{200d}💻👍🏽",
        "한국어",
        "ශ්\u{200d}රී",
    ];
    let row = |word: &&str| format!("<url><loc>https://e.com/{word}/x</loc><lastmod>2026-01-02</lastmod></url>\n");
    let rows = scripts.iter().map(row).collect::<Vec<_>>().concat();
    let folder = Folder::new();
    folder.write(
        "sitemap.xml",
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n"),
    );
    let terminal = open(&folder, "sitemap.xml", "11 URLs");
    terminal.wait_for("ශ්‹200D›රී");
    terminal.look(|screen| {
        let starts =
            |row: u16| (0..96).find(|column| screen.contents_between(row, *column, row, column + 10) == "2026-01-02");
        let columns: Vec<Option<u16>> = (2..13).map(starts).collect();
        assert!(columns[0].is_some() && columns.iter().all(|column| *column == columns[0]), "{columns:?}");
    });
    quit(&terminal);
}

/// Edits made during a slow save are not part of it, and not lost.
#[test]
fn edits_are_possible_during_a_save() {
    let folder = Folder::new();
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let mut children = Vec::new();
    for part in 0..8 {
        let row = |row| format!("<url><loc>https://example.com/{part}/{row}</loc><priority>0.5</priority></url>\n");
        let rows = (0..4_000).map(row).collect::<Vec<_>>().concat();
        folder
            .write(&format!("{part}.xml.gz"), corpus::gzip(format!("<urlset {space}>\n{rows}</urlset>\n").as_bytes()));
        children.push(format!("<sitemap><loc>https://example.com/{part}.xml.gz</loc></sitemap>\n"));
    }
    let children = children.concat();
    folder.write("sitemap.xml", format!("<sitemapindex {space}>\n{children}</sitemapindex>\n"));
    let terminal = open(&folder, "sitemap.xml", "32,000 URLs");
    terminal.send(":set priority=0.9 where loc:example\r");
    terminal.wait_for("modified 32,000");
    terminal.send(key::CTRL_S);
    terminal.wait_for("saving");
    terminal.send("jjdd");
    terminal.wait_for("31,999 URLs");
    terminal.wait_for("modified 1");
    let saved = |name: &str| String::from_utf8(corpus::unpacked(&folder.read(name))).unwrap();
    assert_eq!(saved("0.xml.gz").matches("<priority>0.9</priority>").count(), 4_000);
    terminal.send(key::CTRL_S);
    terminal.wait_gone("modified");
    terminal.wait_for("saved");
    quit(&terminal);
    assert!(!saved("0.xml.gz").contains("example.com/0/2<"));
    assert_eq!(saved("7.xml.gz").matches("<priority>0.9</priority>").count(), 4_000);
}

#[test]
fn any_screen_size_works() {
    let folder = Folder::sample();
    let terminal = open_sample(&folder);
    for (columns, rows) in [(1, 1), (2, 40), (200, 1), (19, 4), (40, 10), (300, 90), (3, 3)] {
        terminal.resize(columns, rows);
        terminal.send("jk");
    }
    terminal.resize(100, 30);
    terminal.wait_for("/visit/opening-hours");
    terminal.wait_for("61 URLs");
    quit(&terminal);
}

#[test]
fn the_terminal_is_restored_after_a_fatal_signal() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let folder = Folder::sample();
        let before = folder.files();
        let terminal = open_sample(&folder);
        terminal.send("2Gdd");
        terminal.wait_for("modified 1");
        terminal.signal(signal);
        assert_eq!(terminal.wait_exit().exit_code(), status);
        terminal.assert_restored();
        assert_eq!(folder.files(), before);
    }
}

/// Whether [`the_terminal_is_restored_after_a_panic`] started this process in its terminal.
fn is_panicking_child() -> bool {
    std::env::args().any(|argument| argument == CHILD_ARGUMENT)
}

const CHILD_ARGUMENT: &str = "the-one-that-panics";

/// Not a test by itself: the child process of another test. Runs the editor with a clock that panics when the file
/// `break-down` exists.
#[test]
fn panics_on_request_in_the_terminal_of_another_test() {
    if !is_panicking_child() {
        return;
    }
    let now = || {
        assert!(!std::path::Path::new("break-down").exists(), "the clock broke down");
        sited::protocol::lastmod::Now { seconds: 1_795_166_047, offset: 0 }
    };
    let setup = sited::tui::Setup {
        start: sited::tui::app::Start::Sample,
        options: sited::files::Options::default(),
        scheme: None,
        read_only: None,
        profile: sited::check::Profile::default(),
        cross_submission: false,
        backup: sited::files::backup::When::Off,
        policy: None,
        data: None,
        robots: None,
        clock: Box::new(now),
    };
    sited::tui::run(setup).expect("the editor has a terminal");
}

#[test]
fn the_terminal_is_restored_after_a_panic() {
    let folder = Folder::new();
    let test_program = std::env::current_exe().expect("a test has a program");
    let arguments =
        ["--exact", "pty::panics_on_request_in_the_terminal_of_another_test", CHILD_ARGUMENT, "--nocapture"];
    let terminal = Start::program(test_program, &folder).size(100, 30).arguments(arguments).start();
    terminal.wait_for("61 URLs");
    terminal.look(|screen| assert!(screen.alternate_screen() && screen.bracketed_paste()));
    folder.write("break-down", "");
    terminal.send("j");
    assert!(!terminal.wait_exit().success());
    terminal.wait_for("the clock broke down");
    terminal.assert_restored();
}

#[test]
fn repaints_after_a_suspension() {
    let folder = Folder::sample();
    let terminal = open_sample(&folder);
    terminal.send("2Gdd");
    terminal.wait_for("modified 1");
    terminal.send(key::CTRL_Z);
    terminal.wait_stopped();
    terminal.assert_restored();
    let written = terminal.output().len();
    terminal.signal(Signal::CONT);
    terminal.wait_for_output(b"/visit/opening-hours", written);
    terminal.wait_for("modified 1");
    terminal.send("u");
    terminal.wait_gone("modified");
    quit(&terminal);
}

#[test]
fn a_click_selects_a_row_and_the_wheel_scrolls() {
    let folder = Folder::sample();
    let terminal = open_sample(&folder);
    terminal.wait_for("/visit/cafe");
    let row = terminal.look(|screen| {
        screen.rows(0, 100).position(|row| row.contains("/visit/cafe")).expect("the row is on the screen")
    });
    terminal.click(20, row as u16);
    terminal.wait_for("8/61");
    for _ in 0..8 {
        terminal.wheel(20, 8, false);
    }
    terminal.wait_gone("/visit/opening-hours");
    quit(&terminal);
}

#[test]
fn the_variable_no_color_disables_colour_sequences() {
    let folder = Folder::sample();
    let coloured = |terminal: &Terminal| {
        let output = terminal.output();
        let text = String::from_utf8_lossy(&output).into_owned();
        let sequences = text.split("\x1b[").skip(1).filter_map(|rest| rest.split_once('m')).map(|(numbers, _)| numbers);
        let numbers = sequences.filter(|numbers| numbers.chars().all(|c| c.is_ascii_digit() || c == ';'));
        numbers
            .flat_map(|numbers| numbers.split(';').map(str::to_owned).collect::<Vec<_>>())
            .any(|number| matches!(number.parse(), Ok(30..=38 | 40..=48 | 90..=97 | 100..=107)))
    };
    for (name, value, expected) in [("UNUSED", "", true), ("NO_COLOR", "1", false)] {
        let terminal = Start::new(&folder).size(100, 30).arguments(["sitemap_index.xml"]).variable(name, value).start();
        terminal.wait_for("6 errors");
        terminal.wait_for("✗");
        quit(&terminal);
        assert_eq!(coloured(&terminal), expected, "{name}");
    }
}

#[test]
fn without_a_terminal_it_lists_the_headless_commands() {
    let folder = Folder::sample();
    let output = run(&folder, &["sitemap_index.xml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    for command in ["sited check", "sited list", "sited set", "--script"] {
        assert!(stderr(&output).contains(command), "{}", stderr(&output));
    }
}
