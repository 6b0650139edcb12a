//! Whole runs on files, as tables: words, then status and what is printed.

use super::args::Line;
use super::*;
use clap::Parser;
use std::fs;
use tempfile::TempDir;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
    xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n";

/// A folder with a good file, one with findings, a set, and a file that is none.
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

/// Runs words in the folder; `DIR/` in what is printed stands for it.
fn sited(folder: &TempDir, words: &str) -> (u8, String, String) {
    let directory = format!("{}/", folder.path().display());
    let words = words.split(' ').map(|word| word.replace("DIR/", &directory).replace('_', " "));
    let line = Line::try_parse_from(["sited".to_owned()].into_iter().chain(words)).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let Next::End(status) = run(&line, Around::default(), &mut out, &mut notes) else {
        panic!("a screen is asked for")
    };
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
    assert!(notes.starts_with("1 file, 1 entry: 1 error, "), "{notes}");
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
fn an_encoding_has_the_name_that_the_file_gives_it() {
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
fn what_cannot_be_done_is_said_with_a_hint() {
    let folder = folder();
    let table = [
        ("list DIR/gone.xml", 3, "error: DIR/gone.xml: there is no such file\nhint: "),
        ("list DIR/notes.txt", 3, "error: DIR/notes.txt: "),
        ("list DIR/good.xml --where priorty<1", 2, "error: --where cannot be understood\n  priorty<1\n  ^^^^^^^ "),
        ("list DIR/good.xml --now noon", 2, "error: --now noon: expected a date"),
        ("check DIR/good.xml --now 2025", 2, "error: --now 2025: expected a date"),
        ("check DIR/good.xml --base-url e.com", 2, "error: --base-url e.com: expected an address"),
    ];
    for (words, status, message) in table {
        let (found, out, notes) = sited(&folder, words);
        assert_eq!((found, out.as_str()), (status, ""), "{words}: {notes}");
        assert!(notes.starts_with(message), "{words}: {notes}");
    }
    // What is no sitemap is a finding of its own.
    let (status, out, _) = sited(&folder, "check DIR/notes.txt");
    assert_eq!(status, 1);
    assert!(out.starts_with("DIR/notes.txt:1:1: error[doc-root-unknown]: "), "{out}");
    // The files that can be read are reported all the same.
    let (status, out, _) = sited(&folder, "list DIR/gone.xml DIR/bad.xml");
    assert_eq!((status, out.as_str()), (3, "https://e.com/a\n"));
    let (status, out, _) = sited(&folder, "check DIR/bad.xml DIR/gone.xml");
    assert_eq!(status, 3);
    assert!(out.contains("priority-invalid"), "{out}");
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
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
        let next = run(&Line::try_parse_from(words).unwrap(), Around::default(), &mut Closed, &mut notes);
        assert!(matches!(next, Next::End(Status::Fine)), "{next:?}");
        assert_eq!(notes, b"");
    }
}

#[test]
fn set_changes_the_values_bytes_and_nothing_else() {
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
fn set_writes_elsewhere_or_nowhere_when_told_to() {
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
fn set_refuses_what_makes_no_sense() {
    let folder = folder();
    let before = fs::read(folder.path().join("good.xml")).unwrap();
    let table = [
        (
            "set DIR/good.xml priority=8",
            "error: this value cannot be understood\n  priority=8\n           ^ expected a number",
        ),
        ("set DIR/good.xml prio=0.8", "error: this value cannot be understood\n  prio=0.8\n  ^^^^ "),
        ("set DIR/good.xml priority=1 priority=0", "error: priority is set twice\nhint: "),
        ("set DIR/good.xml priority=1 --where (a", "error: --where cannot be understood\n  (a\n  ^ "),
    ];
    for (words, message) in table {
        let (status, out, notes) = sited(&folder, words);
        assert_eq!((status, out.as_str()), (2, ""), "{words}");
        assert!(notes.starts_with(message), "{words}: {notes}");
    }
    assert_eq!(fs::read(folder.path().join("good.xml")).unwrap(), before);
}

#[test]
fn a_script_runs_the_commands_of_the_command_line() {
    let folder = folder();
    let path = folder.path().join("good.xml");
    let before = fs::read_to_string(&path).unwrap();
    // The script, the status, part of the notes, the file after it.
    let table = [
        (
            "# a comment\n:set priority=0.8 where priority=0.5\ns/blog/news/\nwrite\n",
            0,
            "saved DIR/good.xml",
            before.replace("0.50", "0.8").replace("blog/x", "news/x"),
        ),
        (
            "mark where section=blog\nset priority=0.8\nwq\n",
            0,
            "priority set to 0.8 on 1 row\nsaved DIR/good.xml",
            before.replace("</lastmod>", "</lastmod><priority>0.8</priority>"),
        ),
        (
            "filter section=blog\n%set lastmod=none\nnofilter\nset priority=0.8 where priority=0.5\nw\n",
            0,
            "saved DIR/good.xml",
            before.replace("<lastmod>2025-03-09</lastmod>", "").replace("0.50", "0.8"),
        ),
        ("set priority=0.8\nundo\nwq\n", 0, "saved: nothing had changed", before.clone()),
        ("set priority=0.8\n", 0, "the changes were not saved", before.clone()),
        (
            "set priority=0.8\nq\n",
            2,
            "error: line 2 of the script: 2 changed rows would be lost\nhint: ",
            before.clone(),
        ),
        ("set priority=0.8\nq!\nwrite\n", 0, "", before.clone()),
        ("set priority=0.8\ne!\nwrite\n", 0, "saved: nothing had changed", before.clone()),
        ("delete where section=blog\nwq\n", 0, "saved", {
            let (start, end) =
                (before.find("\n<url><loc>https://e.com/blog").unwrap(), before.find("\n</urlset>").unwrap());
            format!("{}{}", &before[..start], &before[end..])
        }),
        (
            "write\nset prio=1\n",
            2,
            "error: line 2 of the script cannot be understood\n  set prio=1\n      ^^^^ ",
            before.clone(),
        ),
        (
            "set priority=1\nwrite\ngoto 3\n",
            2,
            "error: line 3 of the script: `goto 3` needs a screen\nhint: ",
            before.clone(),
        ),
    ];
    for (script, status, note, expected) in table {
        fs::write(folder.path().join("script"), script).unwrap();
        let (found, out, notes) = sited(&folder, "--script DIR/script DIR/good.xml");
        assert_eq!((found, out.as_str()), (status, ""), "{script}: {notes}");
        assert!(notes.contains(note), "{script}: {notes}");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{script}: {notes}");
        fs::write(&path, &before).unwrap();
    }
}

#[test]
fn a_script_prints_what_it_is_asked_to() {
    let folder = folder();
    let run = |script: &str| {
        fs::write(folder.path().join("script"), script).unwrap();
        sited(&folder, "--script DIR/script --now 2026-11-20 --read-only DIR/index.xml")
    };
    let (status, out, _) = run("check\n");
    assert_eq!(status, 0);
    assert!(out.contains("DIR/bad.xml:5:11: error[priority-invalid]: "), "{out}");
    let (status, out, _) = run("plan\n");
    assert_eq!(
        (status, out.as_str()),
        (0, "untouched  DIR/good.xml\nuntouched  DIR/bad.xml\nuntouched  DIR/index.xml\n")
    );
    let (status, _, notes) = run("set priority=0.8\n");
    assert_eq!(status, 2, "{notes}");
    assert!(notes.contains("--read-only was given"), "{notes}");
    let (status, _, notes) = sited(&folder, "--script DIR/none DIR/good.xml");
    assert_eq!(status, 3, "{notes}");
}

#[test]
fn the_screen_is_left_to_others() {
    let run = |words: &str| {
        run(&Line::try_parse_from(words.split(' ')).unwrap(), Around::default(), &mut Vec::new(), &mut Vec::new())
    };
    let Next::Screen(screen) = run("sited a.xml --now @7 --read-only") else { panic!("a screen is asked for") };
    assert_eq!((screen.paths, screen.now), (vec!["a.xml".into()], Some(Now { seconds: 7, offset: 0 })));
    assert!(screen.read_only && screen.theme.is_none());
    assert!(matches!(run("sited a.xml --now noon"), Next::End(Status::Usage)));
}

#[test]
fn fix_puts_findings_right_and_a_profile_chooses_them() {
    let folder = folder();
    let path = folder.path().join("dates.xml");
    let entry =
        |date: &str| format!("<url>\n  <loc>https://e.com/{}</loc>\n  <lastmod>{date}</lastmod>\n</url>\n", date.len());
    let dates = ["2025-03-09T10:00Z", "2025-3-9", "2025"];
    fs::write(&path, format!("{HEAD}{}</urlset>\n", dates.map(entry).concat())).unwrap();
    let before = fs::read_to_string(&path).unwrap();
    let (status, out, notes) = sited(&folder, "fix DIR/dates.xml --dry-run --now 2026-11-20");
    assert_eq!(status, 0, "{notes}");
    assert_eq!(out.lines().filter(|line| line.starts_with("+  <lastmod>")).count(), 2, "{out}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    let (status, _, notes) = sited(&folder, "fix DIR/dates.xml --rule lastmod-unpadded --now 2026-11-20");
    assert_eq!(status, 0, "{notes}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before.replace("2025-3-9", "2025-03-09"));
    let (status, ..) = sited(&folder, "fix DIR/dates.xml --now 2026-11-20");
    let all = before.replace("2025-3-9", "2025-03-09").replace("10:00Z", "10:00:00Z");
    // What is declared and not used goes too.
    let all = all.replace(" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"", "");
    assert_eq!((status, fs::read_to_string(&path).unwrap()), (0, all));
    assert_eq!(sited(&folder, "check DIR/dates.xml --now 2026-11-20").0, 1);
    assert_eq!(sited(&folder, "check DIR/dates.xml --profile yandex --now 2026-11-20").0, 0);
    assert_eq!(sited(&folder, "fix DIR/dates.xml --rule no-such-rule").0, 2);
}

#[test]
fn an_answer_says_how_a_finding_is_put_right() {
    let folder = folder();
    let path = folder.path().join("answers.xml");
    let entry = |field: &str| format!("<url><loc>https://e.com/{}</loc>{field}</url>\n", field.len());
    let table = [
        ("<lastmod>2026-03-09T10:00:00</lastmod>", "lastmod-no-timezone", "+02:00", "2026-03-09T10:00:00+02:00"),
        ("<lastmod>2026-03-09T10:00:00</lastmod>", "lastmod-no-timezone", "utc", "2026-03-09T10:00:00Z"),
        ("<lastmod>05/10/2026</lastmod>", "lastmod-invalid", "day-first", "2026-10-05"),
        ("<lastmod>05/10/2026</lastmod>", "lastmod-invalid", "remove", "</loc></url>"),
        ("<lastmod>2027-03-09</lastmod>", "lastmod-future", "today", "2026-11-20"),
        ("<priority>8</priority>", "priority-range", "out-of-10", "0.8"),
        ("<priority>8</priority>", "priority-range", "usual", "0.8"),
    ];
    for (field, rule, answer, expected) in table {
        fs::write(&path, format!("{HEAD}{}</urlset>\n", entry(field))).unwrap();
        let (status, _, notes) =
            sited(&folder, &format!("fix DIR/answers.xml --rule {rule} --answer {answer} --now 2026-11-20"));
        assert_eq!(status, 0, "{notes}");
        let after = fs::read_to_string(&path).unwrap();
        assert!(after.contains(expected), "{rule} {answer}: {after}");
    }
    let (status, _, notes) = sited(&folder, "fix DIR/answers.xml --rule priority-range --answer soon");
    assert_eq!(status, 2, "{notes}");
    assert!(notes.contains("usual, out-of-10, out-of-100, nearest, remove"), "{notes}");
    assert_eq!(sited(&folder, "fix DIR/answers.xml --rule loc-* --answer remove").0, 2);
}

#[test]
fn a_fix_that_nobody_looks_at_says_what_waits_for_its_name() {
    let folder = folder();
    let head = HEAD.replace(" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"", "");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let cut = format!("{head}<url><loc>https://e.com/a</loc></url>\n<url><loc>https://");
    write("cut.xml", &cut);
    let waits = "1 finding is put right only by name, with --rule xml-truncated or :fix xml-truncated";
    let (status, _, notes) = sited(&folder, "fix DIR/cut.xml --dry-run");
    assert_eq!((status, notes.as_str()), (0, &*format!("dry run, nothing is written: {waits}\n")));
    assert!(sited(&folder, "fix DIR/cut.xml --accept-repairs").2.starts_with(&format!("nothing changed: {waits}\n")));
    assert_eq!(fs::read_to_string(folder.path().join("cut.xml")).unwrap(), cut);
    assert_eq!(sited(&folder, "fix DIR/cut.xml --rule xml-truncated").0, 0);
    assert!(fs::read_to_string(folder.path().join("cut.xml")).unwrap().ends_with("</url>\n</urlset>\n"));
    // Rows and files together; where a rule of the file is named, what else was repaired is written as well.
    let damaged = format!("{head}<url><loc>https://e.com/?a&b#c</loc></url>\n<loc>https://e.com/d</loc></urlset>");
    write("both.xml", &damaged);
    let (_, _, notes) = sited(&folder, "fix DIR/both.xml --dry-run");
    let waits = "2 findings are put right only by name, such as --rule doc-entry-outside-root or :fix doc-entry-outside-root: doc-entry-outside-root (1), loc-fragment (1)";
    assert!(notes.contains(waits), "{notes}");
    let (status, _, notes) = sited(&folder, "fix DIR/both.xml --rule xml-*");
    assert_eq!((status, notes.lines().next()), (0, Some("1 file put right")));
    let written = fs::read_to_string(folder.path().join("both.xml")).unwrap();
    assert!(written.contains("?a&amp;b#c") && written.contains("<url><loc>https://e.com/d</loc></url>"), "{written}");
}

#[test]
fn an_entry_with_two_locs_is_listed_as_both_in_every_format() {
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
fn only_rules_with_something_to_choose_tell_of_answers() {
    let folder = folder();
    let answers = |code: &str| {
        let (_, out, _) = sited(&folder, &format!("check --explain {code}"));
        out.lines().filter(|line| line.contains("  answer  ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(["doc-stray-text", "set-duplicate", "field-duplicate", "xml-truncated"].map(answers).concat().is_empty());
    assert!(answers("changefreq-invalid")[0].ends_with("usual        take the nearest word"));
    for rule in crate::check::rule::Rule::ALL {
        let told = crate::check::decision::choices(rule);
        assert!(told.iter().all(|answer| answer.about != "what the fix does without an answer"), "{rule:?}");
    }
}

#[test]
fn rules_and_values_are_explained() {
    let folder = folder();
    let told = |words: &str| {
        let (status, out, notes) = sited(&folder, &format!("check --explain {words}"));
        assert_eq!((status, notes.as_str()), (0, ""), "{words}");
        out
    };
    let rule = told("lastmod-no-timezone");
    for words in [
        "lastmod-no-timezone: a time without a zone",
        "yandex       warning",
        "answer       utc          take the time as UTC",
        "source       Google",
    ] {
        assert!(rule.contains(words), "no {words:?} in\n{rule}");
    }
    let value = told("2026-10-05T10:00:00");
    for words in ["as lastmod", "protocol     rejects       a time needs a zone", "error[lastmod-no-timezone]"] {
        assert!(value.contains(words), "no {words:?} in\n{value}");
    }
    assert!(told("0.5").contains("no rule is broken"));
    assert!(told("https://www.sitemaps.org/schemas/sitemap/0.9").contains("as namespace"));
    assert_eq!(sited(&folder, "check --explain nonsense").0, 2);
}

#[test]
fn split_deals_a_set_out_anew_and_leaves_what_is_the_same() {
    let folder = folder();
    let entry = |section: &str, number: u32| format!("<url><loc>https://e.com/{section}/{number}</loc></url>\n");
    let entries: String = (0..7).map(|number| entry(if number < 4 { "blog" } else { "shop" }, number)).collect();
    fs::write(folder.path().join("all.xml"), format!("{HEAD}{entries}</urlset>\n")).unwrap();
    let names = |below: &str| {
        let entries = fs::read_dir(folder.path().join(below)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let (status, _, notes) = sited(&folder, "split DIR/all.xml -o DIR/out --max-urls 3");
    assert_eq!(status, 2, "{notes}");
    assert!(notes.contains("--base-url https://e.com/"), "{notes}");
    let base = "--base-url https://e.com/ --now 2026-11-20";
    let (status, out, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 3 --dry-run {base}"));
    assert_eq!((status, out.as_str()), (0, ""), "{notes}");
    assert!(!folder.path().join("out").exists());
    let (status, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 3 {base}"));
    assert_eq!(status, 0, "{notes}");
    assert_eq!(names("out"), ["sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap_index.xml"]);
    let index = fs::read_to_string(folder.path().join("out/sitemap_index.xml")).unwrap();
    assert!(index.contains("<loc>https://e.com/sitemap-3.xml</loc>\n    <lastmod>2026-11-20</lastmod>"), "{index}");
    let all = sited(&folder, "list DIR/all.xml").1;
    assert_eq!(sited(&folder, "list DIR/out").1, all);
    assert_eq!(sited(&folder, "check DIR/out --now 2026-11-20").0, 0);
    // The same again, on another day: nothing is written, no date changes.
    let (_, _, notes) =
        sited(&folder, "split DIR/all.xml -o DIR/out --max-urls 3 --now 2026-12-24 --base-url https://e.com/");
    assert!(notes.contains("0 written, 4 untouched"), "{notes}");
    // Fewer parts: one is left over, until it may go.
    let (_, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 4 {base}"));
    assert!(notes.contains("left over   DIR/out/sitemap-3.xml") && notes.contains("--prune"), "{notes}");
    assert!(folder.path().join("out/sitemap-3.xml").exists());
    fs::write(folder.path().join("out/mine.xml"), "mine").unwrap();
    sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 3 {base}"));
    let (_, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 4 --prune {base}"));
    assert!(notes.contains("1 removed"), "{notes}");
    assert_eq!(names("out"), ["mine.xml", "sitemap-1.xml", "sitemap-2.xml", "sitemap_index.xml"]);
    // By section, packed; what belongs to somebody else is not replaced.
    let (status, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/by --by section --gzip {base}"));
    assert_eq!(status, 0, "{notes}");
    assert_eq!(names("by"), ["sitemap-blog.xml.gz", "sitemap-shop.xml.gz", "sitemap_index.xml"]);
    assert_eq!(sited(&folder, "list DIR/by --where section:shop").1.lines().count(), 3);
    fs::write(folder.path().join("by/sitemap-1.xml"), "mine").unwrap();
    let (status, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/by {base}"));
    assert_eq!(status, 3, "{notes}");
    assert_eq!(fs::read_to_string(folder.path().join("by/sitemap-1.xml")).unwrap(), "mine");
    let (status, ..) = sited(&folder, &format!("split DIR/all.xml -o DIR/q --by section:blog loc:/5 {base}"));
    assert_eq!(status, 0);
    assert_eq!(names("q"), ["sitemap-1.xml", "sitemap-2.xml", "sitemap-rest.xml", "sitemap_index.xml"]);
    for wrong in ["--name a/{n}.xml", "--name x.xml", "--max-urls 0", "--max-urls 50001", "--by colour=red"] {
        assert_eq!(sited(&folder, &format!("split DIR/all.xml -o DIR/w {wrong} {base}")).0, 2, "{wrong}");
    }
}

/// Where the parts will be is nothing that the set is read by, and what was not read is never left out unsaid.
#[test]
fn split_reads_the_whole_set_or_refuses() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("set")).unwrap();
    let child = |name: &str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>\n");
    let index = format!("{HEAD}{}{}</sitemapindex>\n", child("a.xml"), child("b.xml"));
    fs::write(path("set/sitemap.xml"), index.replace("urlset", "sitemapindex")).unwrap();
    for name in ["a", "b"] {
        let entry = format!("<url><loc>https://e.com/{name}</loc></url>\n");
        fs::write(path(&format!("set/{name}.xml")), format!("{HEAD}{entry}</urlset>\n")).unwrap();
    }
    for (verb, held) in [("split", "DIR/set -o DIR/out"), ("merge", "DIR/set DIR/set/b.xml --dedupe -o DIR/out")] {
        let (status, _, notes) = sited(&folder, &format!("{verb} {held} --base-url https://x.org/maps/"));
        assert_eq!(status, 0, "{notes}");
        assert_eq!(sited(&folder, "list DIR/out").1, "https://e.com/a\nhttps://e.com/b\n", "{verb}: {notes}");
        assert!(
            fs::read_to_string(path("out/sitemap_index.xml"))
                .unwrap()
                .contains("<loc>https://x.org/maps/sitemap-1.xml<")
        );
        fs::remove_dir_all(path("out")).unwrap();
    }
    fs::remove_file(path("set/b.xml")).unwrap();
    for prune in ["", " --prune"] {
        let (status, _, notes) = sited(&folder, &format!("split DIR/set -o DIR/out{prune}"));
        assert_eq!(status, 2, "{notes}");
        assert!(notes.contains("https://e.com/b.xml") && notes.contains("hint: "), "{notes}");
        assert!(!path("out").exists());
    }
    fs::write(path("empty.xml"), format!("{HEAD}</urlset>\n")).unwrap();
    let (status, _, notes) = sited(&folder, "split DIR/empty.xml -o DIR/out --base-url https://e.com/");
    assert!(status == 2 && notes.contains("no URL to deal out"), "{notes}");
    assert!(!path("out").exists());
}

#[test]
fn what_is_read_of_a_damaged_file_is_said_to_lack_something() {
    let folder = folder();
    let cut = format!("{HEAD}<url><loc>https://e.com/a</loc></url>\n<url><loc>https://e.com/b</l");
    fs::write(folder.path().join("cut.xml"), cut).unwrap();
    for words in [
        "list DIR/cut.xml",
        "list DIR/cut.xml --sort loc",
        "stats DIR/cut.xml",
        "diff DIR/bad.xml DIR/cut.xml",
        "convert DIR/cut.xml -o DIR/cut.csv",
        "merge DIR/cut.xml -o DIR/merged.xml",
        "set DIR/cut.xml priority=0.5 -o DIR/set.xml",
        "split DIR/cut.xml -o DIR/parts --max-urls 1 --base-url https://e.com/",
    ] {
        let (_, _, notes) = sited(&folder, words);
        assert!(notes.contains("cut.xml is damaged (xml-truncated) and was read as repaired"), "{words}: {notes}");
    }
    // Its findings tell more.
    let (_, out, notes) = sited(&folder, "check DIR/cut.xml");
    assert!(out.contains("xml-truncated") && !notes.contains("damaged"), "{out}{notes}");
}

#[test]
fn an_item_without_a_link_becomes_no_entry() {
    let folder = folder();
    let feed = "<rss version=\"2.0\"><channel><item><title>none</title></item>\
                <item><link>https://e.com/a</link></item></channel></rss>";
    fs::write(folder.path().join("feed.xml"), feed).unwrap();
    let written = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let (status, _, notes) = sited(&folder, "convert DIR/feed.xml -o DIR/out.xml");
    assert!(status == 0 && notes.contains("left out, since there is no link: 1 item"), "{notes}");
    assert_eq!(written("out.xml").matches("<url>").count(), 1);
    let (status, _, notes) = sited(&folder, "set DIR/feed.xml priority=0.5 -o DIR/set.xml");
    assert!(status == 0 && notes.contains("left out, since there is no link: 1 item"), "{status} {notes}");
    assert_eq!(written("set.xml").matches("<url>").count(), 1);
    assert_eq!(written("feed.xml"), feed);
}

#[test]
fn a_backup_is_listed_and_put_back() {
    let folder = folder();
    let good = fs::read(folder.path().join("good.xml")).unwrap();
    let now = "--now 2026-11-20T10:20:30Z";
    let (status, out, notes) = sited(&folder, "restore DIR/good.xml");
    assert_eq!(
        (status, out.as_str(), notes.as_str()),
        (0, "", "DIR/good.xml has no backup; --backup once or always makes them\n")
    );
    for value in ["0.1", "0.2"] {
        let (status, _, notes) = sited(&folder, &format!("set DIR/good.xml priority={value} --backup always {now}"));
        assert!(status == 0 && notes.contains("what was there is in DIR/good.xml.bak/2026-11-20T10-20-30Z"), "{notes}");
    }
    let (_, out, _) = sited(&folder, "restore DIR/good.xml");
    assert_eq!(out, "2026-11-20T10-20-30Z  1 file, 397 B: good.xml\n2026-11-20T10-20-30Z-2  1 file, 420 B: good.xml\n");
    let (status, _, notes) = sited(&folder, "restore DIR/good.xml --set 2026-11-20T10-20-30Z --dry-run");
    assert_eq!((status, notes.as_str()), (0, "put back   DIR/good.xml\ndry run, nothing is written\n"));
    assert_ne!(fs::read(folder.path().join("good.xml")).unwrap(), good);
    let (status, _, notes) = sited(&folder, &format!("restore DIR/good.xml --set latest {now}"));
    assert!(status == 0 && notes.contains("1 file put back, 0 files removed; what was there is in"), "{notes}");
    assert!(fs::read_to_string(folder.path().join("good.xml")).unwrap().contains("<priority>0.1<"));
    assert_eq!(sited(&folder, &format!("restore DIR/good.xml --set 2026-11-20T10-20-30Z {now}")).0, 0);
    assert_eq!(fs::read(folder.path().join("good.xml")).unwrap(), good);
    let (status, _, notes) = sited(&folder, "restore DIR/good.xml --set yesterday");
    assert!(status == 3 && notes.contains("there is no backup of this date: yesterday"), "{notes}");
}
