//! Tests of feeds, lists and tables: they open, keep their bytes, and report lost values; feeds are never overwritten.

use crate::support::corpus::{self, Case};
use crate::support::{Folder, run, stderr, stdout};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

fn folder(case: &Case) -> Folder {
    let folder = Folder::new();
    folder.write(case.file_name(), &case.bytes);
    folder
}

fn is_feed(case: &Case) -> bool {
    !["txt", "csv", "tsv"].iter().any(|end| case.name.ends_with(end))
}

fn rules(folder: &Folder, name: &str, extra: &[&str]) -> Vec<(String, Option<u64>)> {
    let output = run(folder, &[&["check", name, "--format", "json", "--now", "2026-11-20"], extra].concat());
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
fn changing_a_url_keeps_all_other_bytes_of_a_list_or_table() {
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
fn values_that_a_form_cannot_hold_are_an_error_and_nothing_is_written() {
    let list = "https://e.com/a\nhttps://e.com/b\n";
    let table = "loc,lastmod\nhttps://e.com/a,2026-01-01\n";
    let feed = "<rss version=\"2.0\"><channel><title>t</title><link>https://e.com/</link><description>d</description>\
                <item><title>i</title><link>https://e.com/a</link></item></channel></rss>";
    let sitemap =
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/c</loc></url></urlset>";
    let rules = "[[rule]]\npriority = 0.5\n";
    let no_list = "error: l.txt: priority cannot be written to a text list: a URL list has no other fields\n\
                   hint: nothing was changed; sited convert l.txt -o NAME.xml makes a sitemap of it";
    let no_column = "error: t.csv: changefreq cannot be written to a CSV table: the table has no column of this name\n";
    let no_feed = "error: f.rss: this is an RSS feed; sited never overwrites a feed\n\
                   hint: nothing was changed; -o NAME.xml saves it as a sitemap\n";
    let cases: [(&[&str], i32, &str); 16] = [
        (&["set", "l.txt", "priority=0.8"], 3, no_list),
        (&["set", "l.txt", "priority=0.8", "--dry-run"], 3, no_list),
        (&["set", "l.txt", "priority=0.8", "-o", "m.txt"], 3, no_list),
        (&["add", "l.txt", "https://e.com/new", "--set", "priority=0.8"], 3, no_list),
        (&["apply", "l.txt", "r.toml"], 3, no_list),
        (&["set", "t.csv", "changefreq=daily", "lastmod=today"], 3, no_column),
        (&["set", "f.rss", "priority=0.8"], 3, no_feed),
        (&["replace", "f.rss", "e.com", "e.org"], 3, no_feed),
        (&["remove", "f.rss", "--where", "path:/a"], 3, no_feed),
        // Values that a file of the set can hold, and values that are removed.
        (&["set", ".", "priority=0.8"], 0, "2 priorities cannot be written to a text list\n"),
        (&["set", "l.txt", "priority=none"], 0, ""),
        (&["set", "l.txt", "loc=https://e.com/x", "--where", "path:/a"], 0, ""),
        (&["set", "t.csv", "lastmod=today"], 0, ""),
        (&["set", "l.txt", "priority=0.8", "-o", "new.xml"], 0, ""),
        (&["set", "f.rss", "priority=0.8", "-o", "new.xml"], 0, ""),
        // A copy in another form reports the lost values.
        (&["set", "s.xml", "priority=0.8", "-o", "new.txt"], 0, "1 priority cannot be written to a text list\n"),
    ];
    for (arguments, status, message) in cases {
        let folder = Folder::new();
        if arguments.contains(&".") {
            folder.write("s.xml", sitemap);
            folder.write("l.txt", list);
        } else {
            for (name, text) in
                [("l.txt", list), ("t.csv", table), ("f.rss", feed), ("s.xml", sitemap), ("r.toml", rules)]
            {
                folder.write(name, text);
            }
        }
        let before = folder.read("l.txt");
        let output = run(&folder, arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
        if status != 0 {
            assert!(stderr(&output).starts_with("error: "), "{arguments:?}: {}", stderr(&output));
            assert_eq!(stdout(&output), "", "{arguments:?}");
            assert_eq!(folder.read("l.txt"), before, "{arguments:?}");
        }
    }
}

#[test]
fn findings_of_lists_and_feeds_have_their_line() {
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
        let is_form_rule = |rule: &str| ["text-", "feed-", "mrss-"].iter().any(|prefix| rule.starts_with(prefix));
        let found = found.iter().filter(|(rule, _)| is_form_rule(rule) || expected.iter().any(|(e, _)| e == rule));
        let found: Vec<_> = found.map(|(rule, line)| (rule.as_str(), line.unwrap_or(0))).collect();
        assert_eq!(found, expected, "{name}");
    }
    let old = folder(&corpus::case("forms/atom-03.xml"));
    assert!(rules(&old, "atom-03.xml", &["--profile", "google"]).iter().any(|(rule, _)| rule == "feed-not-supported"));
    let list = Folder::new();
    list.write("latin.txt", b"https://example.com/caf\xe9\n");
    assert_eq!(rules(&list, "latin.txt", &[])[0].0, "text-not-utf8");
    list.write("fix.txt", "https://example.com/?a&amp;b\nhttps://example.com/x, 2020-01-01\n# note\n");
    run(&list, &["fix", "fix.txt", "--rule", "text-*"]);
    let fixed = String::from_utf8(list.read("fix.txt")).unwrap();
    assert_eq!(fixed, "https://example.com/?a&b\nhttps://example.com/x\n# note\n");
    list.write("urls.xml", b"https://example.com/\n");
    assert_eq!(rules(&list, "urls.xml", &[])[0].0, "text-extension");
}

#[test]
fn a_list_over_its_limit_is_split_into_numbered_lists() {
    let folder = Folder::new();
    let lines = |numbers: std::ops::Range<u32>| -> String {
        numbers.fold(String::new(), |text, number| text + "https://example.com/" + &number.to_string() + "\n")
    };
    folder.write("urls.txt", lines(0..100_001));
    run(&folder, &["fix", "urls.txt", "--rule", "text-limits"]);
    let read = |name: &str| String::from_utf8(folder.read(name)).unwrap();
    assert!(read("urls.txt") == lines(0..50_000), "the first lines stay where they are");
    assert!(read("urls-2.txt") == lines(50_000..100_000));
    assert_eq!(read("urls-3.txt"), "https://example.com/100000\n");
    for name in ["urls.txt", "urls-2.txt", "urls-3.txt"] {
        assert!(!rules(&folder, name, &[]).iter().any(|(rule, _)| rule == "text-limits"), "{name}");
    }
}

#[test]
fn findings_of_a_feed_have_the_position_in_the_feed() {
    let item = |link: &str, date: &str| {
        format!("<item>\n<pubDate>{date}</pubDate>\n<title>t</title>\n<link>{link}</link>\n</item>\n")
    };
    let date = "Fri, 01 May 2026 06:00:00 GMT";
    let items = [item("https://e.com/a b", date), item("https://e.com/", "Fri, 01 May 2099 06:00:00 GMT")].concat();
    let folder = Folder::with(&[("feed.rss", &format!("<rss><channel>\n{items}</channel></rss>\n"))]);
    let found = rules(&folder, "feed.rss", &[]);
    let line = |rule: &str| found.iter().find(|(code, _)| code == rule).and_then(|(_, line)| *line);
    assert_eq!((line("loc-inner-whitespace"), line("lastmod-future")), (Some(5), Some(8)), "{found:?}");
    let rows = stdout(&run(&folder, &["list", "feed.rss", "--format", "jsonl"]));
    let lines: Vec<_> = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["line"].as_u64()).collect();
    assert_eq!(lines, [Some(2), Some(7)]);
}

#[test]
fn a_feed_is_never_overwritten_but_saved_as_a_sitemap() {
    for case in corpus::forms().into_iter().filter(is_feed) {
        let folder = folder(&case);
        let name = case.file_name();
        let refused = run(&folder, &["set", name, "priority=0.5"]);
        assert_eq!(refused.status.code(), Some(3), "{}: {}", case.name, stderr(&refused));
        assert!(stderr(&refused).contains("never overwrites a feed"), "{}", stderr(&refused));
        assert!(folder.read(name) == case.bytes, "{}", case.name);
        let saved = run(&folder, &["set", name, "priority=0.5", "-o", "new.xml"]);
        assert!(saved.status.success(), "{}: {}", case.name, stderr(&saved));
        let (from, to) = (run(&folder, &["list", name]), run(&folder, &["list", "new.xml"]));
        assert_eq!(stdout(&from), stdout(&to), "{}", case.name);
        assert!(folder.read(name) == case.bytes, "{}", case.name);
    }
}

#[test]
fn values_that_a_list_cannot_hold_are_reported() {
    let folder = folder(&corpus::case("forms/urls.txt"));
    let before = folder.read("urls.txt");
    folder.write("script", "set priority=0.5 lastmod=2026-01-01\nwrite\n");
    let output = run(&folder, &["--script", "script", "urls.txt"]);
    assert!(stderr(&output).contains("2 dates, 2 priorities cannot be written to a text list"), "{}", stderr(&output));
    assert!(folder.read("urls.txt") == before);
}

const URLSET: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
    <url><loc>https://www.example.com/?a=1&amp;b=2</loc><lastmod>2026-05-01</lastmod><priority>0.50</priority></url>\n\
    <url><loc>https://www.example.com/\"x\",y</loc><changefreq>daily</changefreq></url>\n\
    <url><loc>https://www.example.com/</loc></url>\n</urlset>\n";

#[test]
fn a_spreadsheet_round_trip_gives_the_same_rows() {
    for end in ["csv", "tsv", "csv.gz"] {
        let folder = Folder::with(&[("a.xml", URLSET)]);
        let table = format!("a.{end}");
        for (from, to) in [("a.xml", table.as_str()), (table.as_str(), "b.xml")] {
            let output = run(&folder, &["convert", from, "-o", to]);
            assert!(output.status.success(), "{from}: {}", stderr(&output));
        }
        let rows = |name: &str| {
            let text = stdout(&run(&folder, &["list", name, "--format", "jsonl"]));
            let field = |row: &Value| ["loc", "lastmod", "changefreq", "priority"].map(|name| row[name].clone());
            text.lines().map(|line| field(&serde_json::from_str(line).unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(rows("a.xml"), rows("b.xml"), "{end}");
        assert_eq!(rows("a.xml"), rows(&table), "{end}");
    }
}

#[test]
fn a_copy_in_another_form_reports_lost_values_and_leaves_the_set_unchanged() {
    let folder = Folder::with(&[("a.xml", URLSET)]);
    let output = run(&folder, &["convert", "a.xml", "-o", "a.txt"]);
    let message = stderr(&output);
    assert!(message.contains("1 date, 1 change frequency, 1 priority cannot be written to a text list"), "{message}");
    let locs = "https://www.example.com/?a=1&b=2\nhttps://www.example.com/\"x\",y\nhttps://www.example.com/\n";
    assert_eq!(String::from_utf8(folder.read("a.txt")).unwrap(), locs);
    assert_eq!(stdout(&run(&folder, &["convert", "a.xml", "-o", "-", "--to", "txt"])), locs);
    // The file name also determines the form for `set -o` and for `:write`.
    let output = run(&folder, &["set", "a.xml", "priority=1.0", "-o", "b.csv"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8(folder.read("b.csv")).unwrap().contains("daily,1.0\n"));
    folder.write("script", "write c.tsv\nset priority=0.1\nwrite\n");
    let output = run(&folder, &["--script", "script", "a.xml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8(folder.read("a.xml")).unwrap().matches("0.1").count(), 3);
    assert!(String::from_utf8(folder.read("c.tsv")).unwrap().contains("\t0.50\n"));
    let refused = run(&folder, &["convert", "a.xml", "-o", "a.pdf"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
}

#[test]
fn several_files_and_a_folder_are_one_set() {
    let one = URLSET.replace("/?a=1&amp;b=2", "/one");
    let folder =
        Folder::with(&[("one.xml", &one), ("two.txt", "https://www.example.com/\nhttps://www.example.com/two\n")]);
    for arguments in [&["check", "one.xml", "two.txt", "--format", "json"][..], &["check", ".", "--format", "json"]] {
        let output = run(&folder, arguments);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["files"].as_array().unwrap().len(), 2, "{arguments:?}");
        let findings = report["findings"].as_array().unwrap().iter();
        assert!(
            findings.map(|found| &found["rule"]).any(|rule| rule == "set-duplicate-across-files"),
            "{arguments:?}: {report}"
        );
    }
    folder.write("script", "set priority=0.3\nwrite\n");
    let output = run(&folder, &["--script", "script", "one.xml", "two.txt"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8(folder.read("one.xml")).unwrap().matches("0.3").count(), 3);
    assert!(stderr(&output).contains("2 priorities cannot be written"), "{}", stderr(&output));
    let output = run(&folder, &["check", "one.xml", "gone.xml"]);
    assert_eq!(output.status.code(), Some(3));
    let output = run(&folder, &["convert", "one.xml", "two.txt", "-o", "all.csv"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&run(&folder, &["list", "all.csv"])).lines().count(), 5);
}

#[test]
fn a_list_is_split_into_lists_and_a_table_is_not_split() {
    let folder =
        Folder::with(&[("urls.txt", "https://e.com/a\nhttps://e.com/b/1\n"), ("t.csv", "loc,x\nhttps://e.com/,\n")]);
    let split = |path| run(&folder, &["split", path, "--by", "section", "-o", "out", "--base-url", "https://e.com/"]);
    assert!(split("urls.txt").status.success());
    assert_eq!(folder.read("out/sitemap-b.txt"), b"https://e.com/b/1\n");
    let listed = run(&folder, &["list", "out"]);
    assert_eq!(stdout(&listed), "https://e.com/a\nhttps://e.com/b/1\n", "{}", stderr(&listed));
    assert_eq!(split("t.csv").status.code(), Some(2));
}

#[test]
fn columns_without_a_field_are_kept_in_the_table_and_reported_when_lost() {
    let table = "url,title,lastmod,\nhttps://e.com/a,x,2026-01-01,1\nhttps://e.com/b,\"y,z\",,\n";
    let folder = Folder::with(&[("a.csv", table), ("b.csv", "loc,author\nhttps://e.com/c,q\n")]);
    let message = stderr(&run(&folder, &["check", "a.csv"]));
    assert!(
        message.contains("the columns title, number 4 hold no field of a sitemap; a save leaves them as read"),
        "{message}"
    );
    let message = stderr(&run(&folder, &["set", "a.csv", "lastmod=2026-02-02"]));
    assert!(!message.contains("cannot be written"), "{message}");
    let expected = table.replace("2026-01-01", "2026-02-02").replace("z\",,", "z\",2026-02-02,");
    assert_eq!(String::from_utf8(folder.read("a.csv")).unwrap(), expected);
    for arguments in [
        &["convert", "a.csv", "-o", "a.xml"][..],
        &["convert", "a.csv", "-o", "a.tsv"],
        &["convert", "a.csv", "-o", "-", "--to", "txt"],
        &["merge", "a.csv", "b.csv", "-o", "all.xml"],
        &["merge", "a.csv", "b.csv", "-o", "all.csv"],
        &["merge", "a.csv", "b.csv", "-o", "out", "--base-url", "https://e.com/"],
    ] {
        let output = run(&folder, arguments);
        let message = stderr(&output);
        assert!(output.status.success(), "{arguments:?}: {message}");
        assert!(
            message.contains("title, number 4") && message.contains("cannot be written to"),
            "{arguments:?}: {message}"
        );
    }
}

#[test]
fn lists_and_tables_become_entries_when_merged_with_sitemaps() {
    let files =
        [("a.xml", URLSET), ("b.txt", "https://e.com/b?x&y\n"), ("c.csv", "loc,priority\nhttps://e.com/c,0.4\n")];
    let folder = Folder::with(&files);
    let merge = |out: &str| {
        let all = ["merge", "a.xml", "b.txt", "c.csv", "-o", out, "--base-url", "https://e.com/"];
        let output = run(&folder, &all);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    merge("all.xml");
    merge("out");
    for path in ["all.xml", "out/sitemap-1.xml"] {
        let text = String::from_utf8(folder.read(path)).unwrap();
        assert!(text.starts_with('<') && text.contains("<loc>https://e.com/b?x&amp;y</loc>"), "{path}: {text}");
        assert!(
            text.contains("<priority>0.4</priority>") && text.contains("<priority>0.50</priority>"),
            "{path}: {text}"
        );
        assert_eq!(stdout(&run(&folder, &["list", path])).lines().count(), 5, "{path}");
    }
    // The parts of a set that lists a text sitemap are XML sitemaps.
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
        <sitemap><loc>https://e.com/a.xml</loc></sitemap><sitemap><loc>https://e.com/b.txt</loc></sitemap></sitemapindex>";
    let folder = Folder::with(&[("index.xml", index), files[0], files[1]]);
    let output = run(&folder, &["split", "index.xml", "--by", "host", "-o", "parts"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(folder.read("parts/sitemap-e.com.xml")).unwrap();
    assert!(text.contains("<loc>https://e.com/b?x&amp;y</loc>"), "{text}");
    let text = String::from_utf8(folder.read("parts/sitemap-www.example.com.xml")).unwrap();
    assert_eq!(text.matches("<url>").count(), 3, "{text}");
}

#[test]
fn files_with_different_namespaces_are_not_reported_as_too_large_to_merge() {
    let old =
        URLSET.replace("http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.google.com/schemas/sitemap/0.84");
    let folder = Folder::with(&[("a.xml", URLSET), ("b.xml", &old)]);
    let output = run(&folder, &["merge", "a.xml", "b.xml", "-o", "all.xml"]);
    let message = stderr(&output);
    assert!(!output.status.success() && message.contains("their roots declare different namespaces"), "{message}");
}

#[test]
fn a_list_over_the_limit_is_converted_to_an_xml_set() {
    let lines: Vec<String> = (0..50_001).map(|number| format!("https://e.com/{number}\n")).collect();
    let lines = lines.concat();
    let folder = Folder::with(&[("urls.txt", &lines)]);
    let output = run(&folder, &["convert", "urls.txt", "-o", "all.xml", "--base-url", "https://e.com/"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(folder.names(), ["all-1.xml", "all-2.xml", "all.xml", "urls.txt"]);
}

#[test]
fn list_with_sitemaps_lists_the_entries_of_an_index() {
    let folder = Folder::sample();
    let listed = stdout(&run(&folder, &["list", "--sitemaps", "sitemap_index.xml"]));
    assert_eq!(listed, "https://www.example.com/sitemap-1.xml\nhttps://www.example.com/sitemap-2.xml\n");
    let refused = run(&folder, &["list", "--sitemaps", "sitemap-1.xml"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
}

/// Runs the program with `input` on its standard input.
fn piped(folder: &Folder, arguments: &[&str], input: &[u8]) -> std::process::Output {
    let mut command = std::process::Command::new(crate::support::program());
    command.args(arguments).current_dir(folder.path()).env_clear().envs(crate::support::environment(folder.path()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn standard_input_and_output_are_accepted_as_files() {
    let folder = Folder::new();
    let table: [(&[&str], &str, &str); 7] = [
        (&["list", "-"], "https://e.com/\n", "https://e.com/\n"),
        (
            &["set", "-", "loc=https://e.com/b", "--where", "loc:e.com"],
            "# pages\nhttps://e.com/a\n",
            "# pages\nhttps://e.com/b\n",
        ),
        (
            &["set", "-", "priority=0.8", "--where", "one"],
            "loc,priority\none,\ntwo,1\n",
            "loc,priority\none,0.8\ntwo,1\n",
        ),
        (&["set", "-", "priority=0.8", "-o", "new.csv"], "loc,priority\none,\n", ""),
        (
            &["convert", "-", "-o", "-", "--to", "csv"],
            "https://e.com/,\n",
            "loc,lastmod,changefreq,priority\n\"https://e.com/,\",,,\n",
        ),
        (&["set", "-", "lastmod=2020", "--force", "-o", "-"], "loc\tlastmod\nx\t\n", "loc\tlastmod\nx\t2020\n"),
        (
            &["fix", "-"],
            "loc,lastmod\nhttps://e.com/,2026-11-20T10:00Z\n",
            "loc,lastmod\nhttps://e.com/,2026-11-20T10:00:00Z\n",
        ),
    ];
    for (arguments, input, expected) in table {
        let output = piped(&folder, arguments, input.as_bytes());
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), expected, "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(folder.read("new.csv"), b"loc,priority\none,0.8\n");
    let output = piped(&folder, &["check", "-", "--format", "json"], b"nothing\nhttps://e.com/\n");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["files"][0]["path"], &report["findings"][0]["file"]), (&"-".into(), &"-".into()));
    let feed = corpus::case("forms/rss.xml");
    let output = piped(&folder, &["set", "-", "priority=0.5"], &feed.bytes);
    assert!(stdout(&output).contains("<priority>0.5</priority>"), "{}", stderr(&output));
    assert_eq!(folder.names(), ["new.csv"]);
}

#[test]
fn a_truncated_feed_keeps_its_complete_items_and_reports_the_truncation() {
    let folder = Folder::new();
    let item = |number: u32| format!("<item><link>https://example.com/{number}</link></item>\n");
    let cut = format!("<rss version=\"2.0\"><channel>\n{}{}<item><link>https://exa", item(1), item(2));
    folder.write("feed.xml", cut.as_bytes());
    folder.write("none.xml", b"<rss version=\"2.0\"><channel><title>A</title></channel></rss>");
    assert_eq!(stdout(&run(&folder, &["list", "feed.xml"])), "https://example.com/1\nhttps://example.com/2\n");
    let check = run(&folder, &["check", "feed.xml"]);
    let message = "feed.xml:4:24: error[xml-truncated]: the file is cut off here: 2 complete items are here, the incomplete end \
                is omitted\n";
    assert_eq!((stdout(&check).as_str(), check.status.code()), (message, Some(1)));
    assert!(stdout(&run(&folder, &["check", "none.xml"])).contains("doc-no-entries"));
    // A feed is never fixed in place.
    let fix = run(&folder, &["fix", "feed.xml", "--rule", "xml-truncated"]);
    assert!(stderr(&fix).contains("nothing"), "{}", stderr(&fix));
    assert_eq!(folder.read("feed.xml"), cut.as_bytes());
}
