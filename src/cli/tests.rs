//! Tests of whole commands on files: arguments, exit status and output as tables.

use super::args::Cli;
use super::*;
use clap::Parser;
use std::fs;
use tempfile::TempDir;

mod empty;
mod every_command;
mod fixes;
mod grammar;
mod growth;
mod reports;
mod scripts;
mod sets;
mod tables;
mod unread_files;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
    xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n";

/// A folder with a valid file, one with findings, a set, and a file that is not a sitemap.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "good.xml",
        &format!(
            "{HEAD}<url>\n  <loc> https://e.com/a?b=1&amp;c=2 </loc>\n  <priority>0.50</priority>\n</url>\n\
             <url><loc>https://e.com/blog/x</loc><lastmod>2025-03-09</lastmod>\
             <image:image><image:loc>https://e.com/i.png</image:loc></image:image></url>\n</urlset>\n"
        ),
    );
    write("bad.xml", &format!("{HEAD}<url>\n<loc>https://e.com/a</loc>\n<priority>high</priority></url>\n</urlset>\n"));
    write("none.xml", &format!("{HEAD}<url><lastmod>2025</lastmod></url>\n</urlset>\n"));
    write(
        "index.xml",
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <sitemap><loc>https://e.com/good.xml</loc></sitemap>\n\
         <sitemap><loc>https://e.com/bad.xml</loc></sitemap>\n</sitemapindex>\n",
    );
    write("notes.txt", "buy milk\n");
    folder
}

/// Runs a command line; `DIR/` in the words and in the output stands for the folder.
fn sited(folder: &TempDir, words: &str) -> (u8, String, String) {
    let directory = format!("{}/", folder.path().display());
    let words = words.split(' ').map(|word| word.replace("DIR/", &directory).replace('_', " "));
    let line = Cli::try_parse_from(["sited".to_owned()].into_iter().chain(words)).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let around = Env { state: Some(folder.path().join(".state")), ..Env::default() };
    let Next::End(status) = run(&line, around, &mut out, &mut notes) else { panic!("a screen is asked for") };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&directory, "DIR/");
    (status.code(), text(out), text(notes))
}

#[test]
fn list_prints_decoded_urls_in_the_order_of_the_set() {
    let folder = folder();
    let table = [
        ("list DIR/good.xml", "https://e.com/a?b=1&c=2\nhttps://e.com/blog/x\n"),
        ("list DIR/none.xml", ""),
        ("list DIR/index.xml", "https://e.com/a?b=1&c=2\nhttps://e.com/blog/x\nhttps://e.com/a\n"),
        ("list DIR/bad.xml DIR/good.xml --where -section:blog", "https://e.com/a\nhttps://e.com/a?b=1&c=2\n"),
        ("list DIR/index.xml --where has:image_or_rule:priority-*", "https://e.com/blog/x\nhttps://e.com/a\n"),
        (
            "list DIR/bad.xml DIR/good.xml --sort -loc",
            "https://e.com/blog/x\nhttps://e.com/a?b=1&c=2\nhttps://e.com/a\n",
        ),
        ("list DIR/bad.xml DIR/bad.xml DIR/good.xml --where is:duplicate", ""),
        ("list DIR/index.xml --where file=bad.xml", "https://e.com/a\n"),
        ("list DIR/good.xml --where lastmod<today --now 2025-03-09", ""),
        ("list DIR/good.xml --where lastmod<today --now 2025-03-10", "https://e.com/blog/x\n"),
    ];
    for (words, expected) in table {
        assert_eq!(sited(&folder, words), (0, expected.to_owned(), String::new()), "{words}");
    }
}

#[test]
fn results_are_exact_in_pipes_and_escape_invisible_characters_on_terminals() {
    let folder = folder();
    let loc = "https://e.com/a\u{200b}b\u{200f}\u{feff}c";
    fs::write(folder.path().join("marks.xml"), format!("{HEAD}<url><loc>{loc}</loc></url></urlset>")).unwrap();
    let path = folder.path().join("marks.xml");
    let results = |words: &[&str], terminal| {
        let words = words.iter().map(std::ffi::OsString::from).chain([path.clone().into()]);
        let line = Cli::try_parse_from([std::ffi::OsString::from("sited")].into_iter().chain(words)).unwrap();
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        run(&line, Env { terminal, ..Env::default() }, &mut out, &mut notes);
        (String::from_utf8(out).unwrap(), String::from_utf8(notes).unwrap())
    };
    let shown = "https://e.com/a‹200B›b‹200F›‹FEFF›c";
    for words in
        [&["list"][..], &["list", "--format", "csv"], &["list", "--format", "jsonl"], &["list", "--columns", "loc"]]
    {
        assert!(results(words, false).0.contains(loc), "{words:?}");
        let (out, _) = results(words, true);
        assert!(out.contains(shown) && out.ends_with('\n'), "{words:?}: {out}");
    }
    // Notes and errors are always escaped.
    let (status, _, notes) = sited(&folder, "list DIR/none\u{202e}\u{200b}.xml");
    assert!(status == 3 && notes.contains("none‹202E›‹200B›.xml: there is no such file"), "{notes}");
}

#[test]
fn list_prints_rows_with_the_text_of_the_file() {
    let folder = folder();
    let (status, out, notes) = sited(&folder, "list DIR/good.xml --format jsonl");
    let expected = concat!(
        r#"{"loc":"https://e.com/a?b=1&c=2","lastmod":null,"changefreq":null,"priority":"0.50","file":"DIR/good.xml","#,
        r#""line":3,"extensions":{"image":0,"video":0,"news":0,"alternate":0,"other":0}}"#,
        "\n",
        r#"{"loc":"https://e.com/blog/x","lastmod":"2025-03-09","changefreq":null,"priority":null,"file":"DIR/good.xml","#,
        r#""line":7,"extensions":{"image":1,"video":0,"news":0,"alternate":0,"other":0}}"#,
        "\n"
    );
    assert_eq!((status, out.as_str(), notes.as_str()), (0, expected, ""));
}

#[test]
fn check_prints_lines_and_ends_with_1_for_errors() {
    let folder = folder();
    let (status, out, notes) = sited(&folder, "check DIR/bad.xml --now 2026-11-20");
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("DIR/bad.xml:5:11: error[priority-invalid]: "), "{out}");
    assert_eq!(notes, "1 file, 1 URL: 1 error, 0 warnings, 1 note (2 findings)\n");
    let (status, out, _) = sited(&folder, "check DIR/good.xml --now 2026-11-20");
    assert_eq!(status, 0, "{out}");
}

#[test]
fn check_prints_one_document() {
    let folder = folder();
    let (status, out, _) = sited(&folder, "check DIR/index.xml DIR/none.xml --format json --now 2026-11-20");
    assert_eq!(status, 1, "{out}");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let files: Vec<_> = document["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str(), file["kind"].as_str(), file["entries"].as_u64()))
        .collect();
    assert_eq!(
        files,
        [
            (Some("DIR/index.xml"), Some("sitemapindex"), Some(2)),
            (Some("DIR/good.xml"), Some("urlset"), Some(2)),
            (Some("DIR/bad.xml"), Some("urlset"), Some(1)),
            (Some("DIR/none.xml"), Some("urlset"), Some(1)),
        ]
    );
    let findings = document["findings"].as_array().unwrap();
    let summary = &document["summary"];
    let number = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!(number("entries"), 6);
    assert_eq!(number("errors") + number("warnings") + number("notes"), findings.len() as u64, "{out}");
    for (code, count) in summary["rules"].as_object().unwrap() {
        let found = findings.iter().filter(|finding| finding["rule"] == **code).count();
        assert_eq!(count.as_u64(), Some(found as u64), "{code}");
    }
    let invalid = findings.iter().find(|finding| finding["rule"] == "priority-invalid").unwrap();
    assert_eq!((invalid["line"].as_u64(), invalid["column"].as_u64()), (Some(5), Some(11)));
    assert_eq!((invalid["field"].as_str(), invalid["loc"].as_str()), (Some("priority"), Some("https://e.com/a")));
}

#[test]
fn variants_of_a_rule_are_counted_together() {
    let folder = folder();
    let padded =
        "<url><loc>https://e.com/a</loc><changefreq> daily </changefreq><priority> 0.5 </priority></url></urlset>";
    fs::write(folder.path().join("padded.xml"), [HEAD, padded].concat()).unwrap();
    let (_, out, _) = sited(&folder, "check DIR/padded.xml --format json");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    // White space is worse around a changefreq, which the schema does not trim.
    let found = document["findings"].as_array().unwrap().iter().filter(|found| found["rule"] == "field-whitespace");
    let severities: Vec<_> = found.map(|found| found["severity"].as_str().unwrap()).collect();
    assert_eq!(severities, ["warning", "note"]);
    assert_eq!(document["summary"]["rules"]["field-whitespace"].as_u64(), Some(2), "{out}");
}

#[test]
fn the_encoding_is_reported_as_declared_by_the_file() {
    let folder = folder();
    let text = HEAD.replace("UTF-8", "ISO-8859-1");
    let rest = "<url><loc>https://e.com/a</loc></url></urlset>";
    let latin = [text.as_bytes(), b"<!-- caf\xE9 -->", rest.as_bytes()].concat();
    fs::write(folder.path().join("latin.xml"), latin).unwrap();
    let (_, out, _) = sited(&folder, "check DIR/latin.xml --format json");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let file = &document["files"][0];
    assert_eq!((file["encoding"].as_str(), file["read_as"].as_str()), (Some("ISO-8859-1"), Some("windows-1252")));
    let (_, out, _) = sited(&folder, "check DIR/good.xml --format json");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((document["files"][0]["encoding"].as_str(), document["files"][0].get("read_as")), (Some("UTF-8"), None));
}

#[test]
fn invalid_arguments_and_files_are_reported_with_their_status() {
    let folder = folder();
    let table = [
        ("list DIR/gone.xml", 3, "error: DIR/gone.xml: there is no such file\nhint: "),
        ("list DIR/notes.txt", 3, "error: DIR/notes.txt: "),
        ("list DIR/good.xml --where priorty<1", 2, "error: --where is not valid\n  priorty<1\n  ^^^^^^^ "),
        ("list DIR/good.xml --now noon", 2, "error: --now noon: expected a date"),
        ("check DIR/good.xml --now 2025", 2, "error: --now 2025: expected a date"),
        ("check DIR/good.xml --base-url e.com", 2, "error: --base-url e.com: expected a URL"),
    ];
    for (words, status, message) in table {
        let (found, out, notes) = sited(&folder, words);
        assert_eq!((found, out.as_str()), (status, ""), "{words}: {notes}");
        assert!(notes.starts_with(message), "{words}: {notes}");
    }
    // A file that is not a sitemap is a finding.
    let (status, out, _) = sited(&folder, "check DIR/notes.txt");
    assert_eq!(status, 1);
    assert!(out.starts_with("DIR/notes.txt:1:1: error[doc-root-unknown]: "), "{out}");
    // The readable files are reported nevertheless.
    let (status, out, _) = sited(&folder, "list DIR/gone.xml DIR/bad.xml");
    assert_eq!((status, out.as_str()), (3, "https://e.com/a\n"));
    let (status, out, _) = sited(&folder, "check DIR/bad.xml DIR/gone.xml");
    assert_eq!(status, 3);
    assert!(out.contains("priority-invalid"), "{out}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let folder = folder();
    let path = folder.path().join("bad.xml");
    for words in ["list", "check", "check --format json"] {
        let words =
            ["sited"].into_iter().chain(words.split(' ')).map(std::ffi::OsString::from).chain([path.clone().into()]);
        let mut notes = Vec::new();
        let next = run(&Cli::try_parse_from(words).unwrap(), Env::default(), &mut Closed, &mut notes);
        assert!(matches!(next, Next::End(Status::Fine)), "{next:?}");
        assert_eq!(notes, b"");
    }
}

#[test]
fn set_changes_only_the_bytes_of_the_values() {
    let folder = folder();
    let path = folder.path().join("good.xml");
    let before = fs::read_to_string(&path).unwrap();
    let table = [
        ("set DIR/good.xml priority=+0.1 --where priority!=none", before.replace("0.50", "0.60")),
        (
            "set DIR/good.xml lastmod=today --where section:blog --now 2026-11-20",
            before.replace("2025-03-09", "2026-11-20"),
        ),
        ("set DIR/good.xml lastmod=-1d --where has:lastmod", before.replace("2025-03-09", "2025-03-08")),
        ("set DIR/good.xml priority=0.50 --where priority=0.5", before.clone()),
        ("set DIR/good.xml priority=none --where priority=0.5", before.replace("\n  <priority>0.50</priority>", "")),
    ];
    for (words, expected) in table {
        let (status, out, notes) = sited(&folder, words);
        assert_eq!((status, out.as_str()), (0, ""), "{words}: {notes}");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{words}");
        fs::write(&path, &before).unwrap();
    }
}

#[test]
fn set_obeys_output_and_dry_run() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let before = read("good.xml");
    let (status, out, notes) = sited(&folder, "set DIR/good.xml priority=0.8 --dry-run");
    assert_eq!(status, 0, "{notes}");
    assert!(out.starts_with("rewritten  DIR/good.xml  2 changed  2 URLs, "), "{out}");
    let diff = "\n--- a/good.xml\n+++ b/good.xml\n@@ ";
    assert!(out.contains(diff), "{out}");
    assert!(out.contains("\n-  <priority>0.50</priority>\n+  <priority>0.8</priority>\n"), "{out}");
    assert!(notes.starts_with("dry run, nothing is written: "), "{notes}");
    assert_eq!(read("good.xml"), before);
    let (status, _, notes) = sited(&folder, "set DIR/good.xml priority=0.8 --where priority=0.5 -o DIR/new.xml");
    assert_eq!(status, 0, "{notes}");
    assert_eq!(read("good.xml"), before);
    assert_eq!(read("new.xml"), before.replace("0.50", "0.8"));
}

#[test]
fn set_rejects_invalid_assignments_and_queries() {
    let folder = folder();
    let before = fs::read(folder.path().join("good.xml")).unwrap();
    let table = [
        ("set DIR/good.xml priority=8", "error: this value is not valid\n  priority=8\n           ^ expected a number"),
        ("set DIR/good.xml prio=0.8", "error: this value is not valid\n  prio=0.8\n  ^^^^ "),
        ("set DIR/good.xml priority=1 priority=0", "error: priority is set twice\nhint: "),
        ("set DIR/good.xml priority=1 --where (a", "error: --where is not valid\n  (a\n  ^ "),
    ];
    for (words, message) in table {
        let (status, out, notes) = sited(&folder, words);
        assert_eq!((status, out.as_str()), (2, ""), "{words}");
        assert!(notes.starts_with(message), "{words}: {notes}");
    }
    assert_eq!(fs::read(folder.path().join("good.xml")).unwrap(), before);
}

#[test]
fn a_path_without_a_command_requests_the_screen() {
    let run = |words: &str| {
        run(&Cli::try_parse_from(words.split(' ')).unwrap(), Env::default(), &mut Vec::new(), &mut Vec::new())
    };
    let Next::Screen(screen) = run("sited a.xml --now @7 --read-only") else { panic!("a screen is asked for") };
    assert_eq!((screen.paths, screen.now), (vec!["a.xml".into()], Some(Now { seconds: 7, offset: 0 })));
    assert!(screen.read_only && screen.theme.is_none());
    assert!(matches!(run("sited a.xml --now noon"), Next::End(Status::Usage)));
}

#[test]
fn an_entry_with_two_locs_is_listed_with_both_in_every_format() {
    let folder = folder();
    let two = format!(
        "{HEAD}<url><loc>https://e.com/a</loc><loc>https://e.com/b</loc><priority>0.5</priority></url></urlset>"
    );
    fs::write(folder.path().join("two.xml"), two).unwrap();
    assert_eq!(sited(&folder, "list DIR/two.xml").1, "https://e.com/a\nhttps://e.com/b\n");
    let (_, csv, _) = sited(&folder, "list DIR/two.xml --format csv --columns loc,priority");
    assert_eq!(csv, "loc,priority\nhttps://e.com/a,0.5\nhttps://e.com/b,0.5\n");
    let (_, jsonl, _) = sited(&folder, "list DIR/two.xml --format jsonl");
    assert_eq!(jsonl.lines().count(), 1);
    assert!(jsonl.starts_with("{\"loc\":\"https://e.com/a\""), "{jsonl}");
    assert!(jsonl.contains("\"locs\":[\"https://e.com/a\",\"https://e.com/b\"]"), "{jsonl}");
    assert!(!sited(&folder, "list DIR/good.xml --format jsonl").1.contains("locs"));
}

#[test]
fn a_file_given_alone_and_in_its_index_is_checked_once() {
    // As a pre-commit hook passes them.
    let words = "check DIR/bad.xml DIR/none.xml DIR/index.xml DIR/./bad.xml --rule priority-invalid";
    let (_, out, notes) = sited(&folder(), words);
    assert_eq!(out.lines().count(), 1, "{out}");
    assert!(notes.starts_with("3 files, 4 URLs, 1 index with 2 entries: 1 error,"), "{notes}");
}
