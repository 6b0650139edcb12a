//! Tests of input: tables and lists of other programs, values, queries and replacements.

use crate::support::{Folder, environment, program, run, stderr, stdout};
use std::io::Write;
use std::process::{Command, Stdio};

const NOW: [&str; 2] = ["--now", "2026-11-20T10:14:07Z"];
const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

fn urlset(entries: &str) -> String {
    format!(
        "<urlset xmlns=\"{SITEMAP}\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" \
         xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
         xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\">\n{entries}</urlset>\n"
    )
}

fn index(children: &[&str]) -> String {
    let child = |loc: &&str| format!("<sitemap><loc>{loc}</loc></sitemap>\n");
    format!("<sitemapindex xmlns=\"{SITEMAP}\">\n{}</sitemapindex>\n", children.iter().map(child).collect::<String>())
}

/// Runs a command and asserts its exit status. Returns standard output and standard error.
fn run_with_status(folder: &Folder, arguments: &[&str], status: i32) -> (String, String) {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    (stdout(&output), stderr(&output))
}

/// Asserts that a command fails with this status, changes no file, and prints the expected texts to standard error.
fn assert_refused(folder: &Folder, arguments: &[&str], status: i32, expected: &[&str]) {
    let before = folder.files();
    let (_, message) = run_with_status(folder, arguments, status);
    assert_eq!(folder.files(), before, "{arguments:?}");
    for text in expected {
        assert!(message.contains(text), "{arguments:?}: {message}");
    }
}

#[test]
fn tables_of_other_programs_open_and_only_edited_cells_change() {
    let tables = [
        ("console.csv", "Top pages,Clicks\nhttps://e.com/a,\"1,024\"\nhttps://e.com/b,4\n"),
        (
            "frog.csv",
            "\u{feff}\"Address\",\"Status Code\"\r\n\"https://e.com/a\",\"200\"\r\n\"https://e.com/b\",\"404\"\r\n",
        ),
        ("german.csv", "H\u{e4}ufigste Seiten;Klicks\nhttps://e.com/a;7\nhttps://e.com/b;8\n"),
        ("plain.tsv", "https://e.com/a\t7\nhttps://e.com/b\t8"),
        ("plain.csv", "7,https://e.com/a\n8,https://e.com/b\n"),
        ("one.csv", "URL\nhttps://e.com/a\nhttps://e.com/b\n"),
    ];
    for (name, text) in tables {
        let folder = Folder::with(&[(name, text)]);
        assert_eq!(run_with_status(&folder, &["list", name], 0).0, "https://e.com/a\nhttps://e.com/b\n", "{name}");
        run_with_status(&folder, &["replace", name, "/b$", "/c"], 0);
        assert_eq!(folder.text(name), text.replace("https://e.com/b", "https://e.com/c"), "{name}");
        run_with_status(&folder, &["remove", name, "--where", "path:/a", "-o", "out.csv"], 0);
        run_with_status(&folder, &["convert", name, "-o", "out.xml"], 0);
        assert!(folder.text("out.xml").contains("<loc>https://e.com/a</loc>"), "{name}");
    }
}

#[test]
fn a_table_without_exactly_one_url_column_is_refused_with_a_list_of_its_columns() {
    let table = "From,To\nhttps://e.com/a,https://e.com/b\n";
    let folder = Folder::with(&[("t.csv", table), ("names.csv", "Name,Clicks\nA,1\n")]);
    let message = ["several columns", "`From`, `To`", "--loc-column"];
    for arguments in [
        &["check", "t.csv"][..],
        &["list", "t.csv"],
        &["stats", "t.csv"],
        &["set", "t.csv", "lastmod=today"],
        &["convert", "t.csv", "-o", "t.xml"],
        &["split", "t.csv", "-o", "parts"],
        &["merge", "t.csv", "-o", "t.xml"],
        &["diff", "t.csv", "t.csv"],
    ] {
        assert_refused(&folder, arguments, 3, &message);
    }
    assert_refused(&folder, &["list", "names.csv"], 3, &["no column of this table holds URLs", "`Name`, `Clicks`"]);
    assert_refused(&folder, &["list", "t.csv", "--loc-column", "Nobody"], 3, &["no column `Nobody`"]);
    for column in ["to", "To", "2"] {
        assert_eq!(run_with_status(&folder, &["list", "t.csv", "--loc-column", column], 0).0, "https://e.com/b\n");
    }
    run_with_status(&folder, &["stats", "t.csv", "--loc-column", "To"], 0);
    run_with_status(&folder, &["diff", "t.csv", "t.csv", "--loc-column", "To"], 0);
    run_with_status(&folder, &["merge", "t.csv", "--loc-column", "To", "-o", "m.xml"], 0);
    run_with_status(&folder, &["replace", "t.csv", "/b", "/c", "--loc-column", "To"], 0);
    assert_eq!(folder.text("t.csv"), table.replace("/b", "/c"));
}

#[test]
fn lists_open_with_a_finding_for_each_invalid_line() {
    let lists = [
        ("urls.txt", "# all pages\nhttps://e.com/a\nsee below\nwww.e.com/b\n", &[1, 3, 4][..]),
        ("urllist.dat", "note\nnote\nnote\nhttps://e.com/a\n", &[1, 2, 3]),
        ("other", "https://e.com/a lastmod=2020-01-01 priority=0.5\nhttps://e.com/b\n", &[1]),
        ("hosts.txt", "e.com/a\ne.com/b\n", &[1, 2]),
    ];
    for (name, text, lines) in lists {
        let folder = Folder::with(&[(name, text)]);
        let (found, _) = run_with_status(&folder, &["check", name], 1);
        for line in lines {
            assert!(found.contains(&format!("{name}:{line}:")), "{name}, line {line}: {found}");
        }
        run_with_status(&folder, &["replace", name, "e.com/a", "e.com/z"], 0);
        assert_eq!(folder.text(name), text.replace("e.com/a", "e.com/z"), "{name}");
    }
    let folder = Folder::with(&[("robots.txt", "User-agent: *\nSitemap: https://e.com/s.xml\n")]);
    assert_refused(&folder, &["list", "robots.txt"], 3, &["without XML elements or URLs"]);
    // Files that begin with a UTF-16 byte order mark but are ASCII.
    folder.write("marked.txt", b"\xFF\xFEhttps://e.com/a\n");
    folder.write("marked.xml", [b"\xFE\xFF", urlset("<url><loc>https://e.com/a</loc></url>\n").as_bytes()].concat());
    for name in ["marked.txt", "marked.xml"] {
        assert_eq!(run_with_status(&folder, &["list", name], 0).0, "https://e.com/a\n");
        let (found, _) = run_with_status(&folder, &["check", name], 1);
        assert!(found.contains("before ASCII text, which was read as ASCII"), "{found}");
    }
    run_with_status(&folder, &["fix", "marked.xml", "--accept-repairs"], 0);
    assert!(!folder.read("marked.xml").starts_with(b"\xFE\xFF"));
}

#[test]
fn values_that_check_reports_as_errors_are_refused_unless_forced() {
    let text = urlset(
        "<url><loc>https://e.com/a</loc></url>\n<url><loc>https://e.com/b</loc><priority>0.5</priority></url>\n",
    );
    let new = || Folder::with(&[("a.xml", &text), ("urls.txt", "https://e.com/b\nhttps://e.com/c\n# no\n")]);
    let folder = new();
    let cases: [(&[&str], &[&str]); 9] = [
        (&["add", "a.xml", "urls.txt"], &["urls.txt is a file", "--from urls.txt"]),
        (&["add", "a.xml", "no-url"], &["no-url", "--force"]),
        (&["add", "a.xml", "https://e.com/x", "/relative"], &["/relative", "for example: https://"]),
        (&["add", "a.xml", "https://e.com/x", "--set", "priority=7"], &["priority=7", "--force"]),
        (&["set", "a.xml", "priority=7"], &["priority=7", "for example: priority=0.8"]),
        (&["set", "a.xml", "loc=no-url", "--where", "path:/a"], &["no-url"]),
        (&["set", "a.xml", "lastmod=2024"], &["lastmod=2024", "for example: lastmod="]),
        (&["set", "a.xml", "loc=https://e.com/x"], &["one row at a time"]),
        (&["set", "a.xml", "loc=https://e.com/x", "--force"], &["one row at a time"]),
    ];
    for (arguments, message) in cases {
        assert_refused(&folder, &[arguments, &NOW].concat(), 2, message);
    }
    for (arguments, expected) in [
        (&["set", "a.xml", "priority=7", "--force"][..], "<priority>7</priority>"),
        (&["add", "a.xml", "no-url", "--force"], "<loc>no-url</loc>"),
        (&["add", "a.xml", "--from", "urls.txt"], "<loc>https://e.com/c</loc>"),
        (&["set", "a.xml", "loc=https://e.com/x", "--where", "path:/a"], "<loc>https://e.com/x</loc>"),
    ] {
        let folder = new();
        run_with_status(&folder, &[arguments, &NOW].concat(), 0);
        assert!(folder.text("a.xml").contains(expected), "{arguments:?}: {}", folder.text("a.xml"));
    }
    // Whitespace around a URL is not part of it.
    let (_, message) = run_with_status(&folder, &["add", "a.xml", "https://e.com/a ", " https://e.com/b"], 0);
    assert!(message.contains("2 URLs skipped"), "{message}");
    assert_eq!(folder.text("a.xml"), text);
    let (_, message) = run_with_status(&folder, &["add", "a.xml", "--from", "urls.txt"], 0);
    assert!(message.contains("1 URL skipped"), "{message}");
    assert_eq!(run_with_status(&folder, &["list", "a.xml"], 0).0.lines().count(), 3);
}

#[test]
fn a_relative_value_skips_rows_without_a_value() {
    let text = urlset(
        "<url><loc>https://e.com/a</loc></url>\n\
         <url><loc>https://e.com/b</loc><lastmod>2020-01-01</lastmod><priority>0.5</priority></url>\n",
    );
    for (step, expected, field) in [
        ("lastmod=+7d", "<lastmod>2020-01-08</lastmod>", "lastmod"),
        ("priority=+0.1", "<priority>0.6</priority>", "priority"),
    ] {
        let folder = Folder::with(&[("a.xml", &text)]);
        let (_, message) = run_with_status(&folder, &["set", "a.xml", step], 0);
        assert!(message.contains(&format!("on 1 row; 1 row skipped: there is no {field} to count from")), "{message}");
        let written = folder.text("a.xml");
        assert!(written.contains(expected) && written.matches(&format!("<{field}>")).count() == 1, "{written}");
    }
}

#[test]
fn an_empty_query_is_a_usage_error_in_every_command() {
    let text = urlset("<url><loc>https://e.com/a</loc></url>\n");
    let folder = Folder::with(&[("a.xml", &text), ("r.toml", "[[rule]]\nwhere = \"\"\npriority = 0.5\n")]);
    for query in ["", "  ", "\"\""] {
        for arguments in [
            &["remove", "a.xml"][..],
            &["set", "a.xml", "priority=0.5"],
            &["replace", "a.xml", "a", "b"],
            &["fix", "a.xml"],
            &["list", "a.xml"],
            &["check", "a.xml"],
        ] {
            assert_refused(&folder, &[arguments, &["--where", query]].concat(), 2, &["the query is empty"]);
        }
        assert_refused(&folder, &["split", "a.xml", "-o", "parts", "--by", query], 2, &["the query is empty"]);
        for line in ["%delete where", "filter", "mark where"] {
            folder.write("script", format!("{line} {query}\nwrite\n"));
            assert_refused(&folder, &["a.xml", "--script", "script"], 2, &["query"]);
        }
    }
    assert_refused(&folder, &["apply", "a.xml", "r.toml"], 2, &["the query is empty"]);
}

#[test]
fn a_rule_file_sets_no_value_that_check_reports_as_an_error() {
    let folder = Folder::new();
    folder.write("a.xml", urlset("<url><loc>https://e.com/a</loc></url>\n"));
    folder.write("r.toml", "[[rule]]\nname = \"dates\"\nlastmod = \"2024\"\n");
    assert_refused(&folder, &["apply", "a.xml", "r.toml"], 2, &["r.toml, dates: lastmod=2024", "--force"]);
    run_with_status(&folder, &["apply", "a.xml", "r.toml", "--force"], 0);
    assert!(folder.text("a.xml").contains("<lastmod>2024</lastmod>"));
}

#[test]
fn a_file_without_entries_is_written_only_with_allow_empty() {
    let text = urlset("<url><loc>https://e.com/a</loc></url>\n");
    let folder = Folder::with(&[("a.xml", &text), ("none.xml", &urlset("")), ("script", "%delete\nwrite\n")]);
    for arguments in [
        &["remove", "a.xml", "--where", "path:/*"][..],
        &["remove", "a.xml", "--where", "path:/*", "-o", "b.xml"],
        &["a.xml", "--script", "script"],
        &["convert", "none.xml", "-o", "b.txt"],
        &["merge", "none.xml", "-o", "b.xml"],
    ] {
        assert_refused(&folder, arguments, 3, &["no entries left", "--allow-empty"]);
        let folder = Folder::with(&[("a.xml", &text), ("none.xml", &urlset("")), ("script", "%delete\nwrite\n")]);
        run_with_status(&folder, &[arguments, &["--allow-empty"]].concat(), 0);
    }
}

/// A set with the old host in URLs of every kind.
fn set_with_old_host() -> Folder {
    let entry = "<url><loc>https://old.example/a</loc>\
                 <xhtml:link rel=\"alternate\" hreflang=\"de\" href='https://old.example/de/a?x=1&amp;y=2'/>\
                 <image:image><image:loc><![CDATA[https://old.example/i.png]]></image:loc></image:image>\
                 <video:video><video:title>https://old.example/ is a title</video:title>\
                 <video:player_loc> https://old.example/p </video:player_loc></video:video></url>\n";
    let plain = "<url><loc>https://old.example/b</loc></url>\n";
    Folder::with(&[
        ("sitemap_index.xml", &index(&["https://old.example/1.xml", "https://old.example/2.xml"])),
        ("1.xml", &urlset(entry)),
        ("2.xml", &urlset(plain)),
    ])
}

#[test]
fn a_replacement_changes_only_the_url_kinds_that_in_selects() {
    let (old, new) = ("https://old.example", "https://new.example");
    let parts = [
        ("loc", "<loc>https://new.example/a<", "1.xml"),
        ("alternates", "href='https://new.example/de/a?x=1&amp;y=2'", "1.xml"),
        ("images", "<image:loc>https://new.example/i.png</image:loc>", "1.xml"),
        ("videos", "<video:player_loc> https://new.example/p </video:player_loc>", "1.xml"),
        ("index", "<loc>https://new.example/2.xml<", "sitemap_index.xml"),
    ];
    for interface in ["option", "script"] {
        for targets in ["loc", "alternates", "images", "videos", "index", "all", "loc,index"] {
            let folder = set_with_old_host();
            let message = if interface == "option" {
                run_with_status(&folder, &["replace", ".", old, new, "--in", targets], 0).1
            } else {
                folder.write("script", format!("s#{old}#{new}# --in {targets}\nwrite\n"));
                run_with_status(&folder, &[".", "--script", "script"], 0).1
            };
            for (part, expected, file) in parts {
                let is_selected = targets == "all" || targets.split(',').any(|one| one == part);
                assert_eq!(
                    folder.text(file).contains(expected),
                    is_selected,
                    "{interface} {targets}: {part}\n{}",
                    folder.text(file)
                );
            }
            assert!(folder.text("1.xml").contains("<video:title>https://old.example/ is a title<"), "{targets}");
            let others = message.contains("--in all rewrites them");
            assert_eq!(others, targets != "all", "{interface} {targets}: {message}");
        }
    }
    let (_, message) = run_with_status(&set_with_old_host(), &["replace", ".", old, new], 0);
    assert!(
        message.contains("1 alternate link, 1 image URL, 1 video URL, 2 index URLs match too: --in all rewrites them"),
        "{message}"
    );
    assert_refused(
        &set_with_old_host(),
        &["replace", ".", old, new, "--in", "index", "--where", "path:/a"],
        2,
        &["`where`"],
    );
    assert_refused(&set_with_old_host(), &["replace", ".", old, new, "--in", "title"], 2, &["alternates"]);
}

#[test]
fn a_replacement_keeps_all_other_bytes() {
    let folder = set_with_old_host();
    let before = folder.text("1.xml");
    run_with_status(
        &folder,
        &["replace", ".", "https://old.example", "https://new.example", "--in", "alternates,videos"],
        0,
    );
    let expected = before
        .replace("href='https://old.example", "href='https://new.example")
        .replace("player_loc> https://old.example", "player_loc> https://new.example");
    assert_eq!(folder.text("1.xml"), expected);
}

#[test]
fn the_index_is_rewritten_for_a_base_url_only_on_request() {
    for arguments in
        [&["fix", ".", "--base-url", "https://new.example/maps/", "--rewrite-index"][..], &[".", "--script", "script"]]
    {
        let folder = set_with_old_host();
        folder.write("script", "set-base-url https://new.example/maps/ --rewrite-index\nwrite\n");
        let others = folder.text("1.xml");
        run_with_status(&folder, arguments, 0);
        let written = folder.text("sitemap_index.xml");
        assert_eq!(
            written,
            index(&["https://new.example/maps/1.xml", "https://new.example/maps/2.xml"]),
            "{arguments:?}"
        );
        assert_eq!(folder.text("1.xml"), others);
    }
    let folder = set_with_old_host();
    assert_refused(&folder, &["fix", ".", "--rewrite-index"], 2, &["--base-url"]);
    assert_refused(&folder, &["fix", ".", "--rewrite-index", "--base-url", "new.example"], 2, &["--base-url"]);
}

#[test]
fn commands_refuse_an_index_with_missing_files() {
    let folder = Folder::with(&[
        ("sitemap_index.xml", &index(&["https://e.com/1.xml", "https://e.com/2.xml"])),
        ("2.xml", &urlset("<url><loc>https://e.com/b</loc></url>\n")),
        ("whole.xml", &urlset("<url><loc>https://e.com/a</loc></url>\n<url><loc>https://e.com/b</loc></url>\n")),
    ]);
    let path = "sitemap_index.xml";
    for arguments in [
        &["list", path][..],
        &["convert", path, "-o", "out.csv"],
        &["merge", path, "-o", "out.xml"],
        &["merge", path, "whole.xml", "-o", "out.xml"],
        &["stats", path],
        &["diff", "whole.xml", path, "--urls=removed"],
        &["diff", path, "whole.xml"],
        &["split", path, "-o", "parts"],
        &["set", path, "priority=0.5"],
        &["replace", path, "a", "b"],
    ] {
        assert_refused(&folder, arguments, 3, &["1.xml", "--allow-missing"]);
        assert_eq!(stdout(&run(&folder, arguments)), "", "{arguments:?}");
    }
    let (listed, _) = run_with_status(&folder, &["list", path, "--sitemaps"], 0);
    assert!(listed.contains("1.xml") && listed.contains("2.xml"), "{listed}");
}

#[test]
fn a_file_of_comments_is_read_as_a_list() {
    let text = "# pages\n\n# of 2026\n";
    let folder = Folder::with(&[("a.txt", text), ("blank.txt", "\n\n"), ("sub/urllist", text)]);
    for name in ["a.txt", "sub/urllist"] {
        let (found, message) = run_with_status(&folder, &["check", name], 1);
        assert!(found.contains("text-extra-content") && !message.contains("XML"), "{name}: {found}{message}");
    }
    run_with_status(&folder, &["list", "blank.txt"], 0);
    run_with_status(&folder, &["add", "a.txt", "https://e.com/a"], 0);
    assert_eq!(folder.text("a.txt"), format!("{text}https://e.com/a\n"));
    run_with_status(&folder, &["add", "blank.txt", "https://e.com/a"], 0);
    assert!(folder.text("blank.txt").contains("https://e.com/a\n"));
}

#[test]
fn comments_of_a_list_are_not_converted_and_attributes_become_fields() {
    let text = "# pages\nhttps://e.com/a lastmod=2020-01-01 priority=0.5 changefreq=weekly\nhttps://e.com/b\n# end\n";
    let [a, b] = [
        "<loc>https://e.com/a</loc>\n    <lastmod>2020-01-01</lastmod>\n    <changefreq>weekly</changefreq>\n    \
         <priority>0.5</priority>",
        "<loc>https://e.com/b</loc>",
    ];
    let extra = urlset("<url><loc>https://e.com/c</loc></url>\n");
    let fresh = || Folder::with(&[("a.txt", text), ("more.xml", &extra)]);
    for arguments in [
        &["convert", "a.txt", "-o", "out.xml"][..],
        &["merge", "a.txt", "-o", "out.xml"],
        &["merge", "a.txt", "more.xml", "-o", "out.xml"],
        &["set", "a.txt", "priority=0.5", "--where", "path:/a", "-o", "out.xml"],
    ] {
        let folder = fresh();
        let (_, message) = run_with_status(&folder, arguments, 0);
        assert!(message.contains("2 comment lines cannot be written to an XML sitemap"), "{arguments:?}: {message}");
        let out = folder.text("out.xml");
        assert!(out.contains(a) && out.contains(b) && !out.contains('#'), "{arguments:?}: {out}");
        assert_eq!(folder.text("a.txt"), text);
    }
    let folder = fresh();
    run_with_status(&folder, &["convert", "a.txt", "-o", "out.csv"], 0);
    let expected = "loc,lastmod,changefreq,priority\nhttps://e.com/a,2020-01-01,weekly,0.5\nhttps://e.com/b,,,\n";
    assert_eq!(folder.text("out.csv"), expected);
    run_with_status(&folder, &["convert", "a.txt", "-o", "copy.txt"], 0);
    assert_eq!(folder.text("copy.txt"), text);
    run_with_status(&folder, &["add", "more.xml", "--from", "a.txt"], 0);
    assert!(folder.text("more.xml").contains(b) && folder.text("more.xml").contains("<loc>https://e.com/a</loc>"));
    // A line with unknown attributes is kept unchanged.
    folder.write("b.txt", "https://e.com/a title=x\nhttps://e.com/b\n");
    run_with_status(&folder, &["convert", "b.txt", "-o", "b.csv"], 0);
    assert!(folder.text("b.csv").contains("https://e.com/a title=x"));
}

#[test]
fn a_table_may_be_separated_by_vertical_bars() {
    let table = "loc|priority\nhttps://e.com/a|0.5\nhttps://e.com/b|0.7\n";
    let folder = Folder::with(&[("t.csv", table), ("t.dat", table)]);
    for name in ["t.csv", "t.dat"] {
        assert_eq!(run_with_status(&folder, &["list", name], 0).0, "https://e.com/a\nhttps://e.com/b\n", "{name}");
        run_with_status(&folder, &["set", name, "priority=0.9", "--where", "path:/a"], 0);
        assert_eq!(folder.text(name), table.replace("0.5", "0.9"), "{name}");
    }
}

#[test]
fn an_invalid_query_in_a_rules_file_is_reported_with_its_position() {
    let folder = Folder::with(&[("a.xml", &urlset("<url><loc>https://e.com/a</loc></url>\n"))]);
    for (query, reason) in [("  ", "the query is empty"), ("foo:x", "unknown field `foo`")] {
        folder.write("r.toml", format!("[[rule]]\npriority = 0.5\nwhere = \"{query}\"\n"));
        assert_refused(&folder, &["apply", "a.xml", "r.toml"], 2, &["r.toml:3:9: where of rule 1", reason]);
        let (_, message) = run_with_status(&folder, &["apply", "a.xml", "r.toml"], 2);
        assert!(!message.contains("--where"), "{message}");
    }
}

#[test]
fn an_unknown_split_key_is_reported_before_a_missing_base_url() {
    let folder = Folder::with(&[("a.txt", "https://e.com/a\nhttps://e.com/b\n")]);
    assert_refused(
        &folder,
        &["split", "a.txt", "--by", "yaer", "-o", "parts"],
        2,
        &["no URL matches --by yaer", "keys are"],
    );
}

/// Runs the program with `input` on its standard input. Returns the exit status, standard output and standard error.
pub(crate) fn piped(folder: &Folder, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(folder.path()).envs(environment(folder.path()));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn messages_name_standard_input_as_a_dash() {
    let text = urlset("<url><loc>https://e.com/a</loc></url>\n");
    // The folder for temporary files exists.
    let folder = Folder::with(&[("a.xml", &text), (".home/tmp/keep", "")]);
    for input in ["<html>", "", "<urlset><url><loc>https://e.com/a?x&y</loc></url></urlset>"] {
        for arguments in [["diff", "-", "a.xml"], ["diff", "a.xml", "-"]] {
            let (_, _, message) = piped(&folder, &arguments, input);
            assert!(
                !message.contains("tmp") && (message.contains("-: ") || message.contains("- is damaged")),
                "{arguments:?}: {message}"
            );
        }
    }
    let (status, _, message) = piped(&folder, &["list", "-"], "");
    assert!(status == Some(3) && message.contains("before the pipe"), "{message}");
    let (_, found, _) = piped(&folder, &["check", "-"], "# pages\n");
    assert!(found.contains("text-extra-content"), "{found}");
}

#[test]
fn invalid_namespace_declarations_are_errors_at_their_position() {
    for declaration in [
        "xmlns:image=\"\"",
        "xmlns:xml=\"https://e.com/\"",
        "xmlns:=\"https://e.com/\"",
        "xmlns:=\"\"",
        "xmlns:xmlns=\"https://e.com/\"",
        "xmlns:a=\"http://www.w3.org/XML/1998/namespace\"",
        "xmlns:a=\"http://www.w3.org/2000/xmlns/\"",
        "xmlns:a:b=\"https://e.com/\"",
    ] {
        let root =
            format!("<urlset xmlns=\"{SITEMAP}\"\n {declaration}>\n<url><loc>https://e.com/</loc></url>\n</urlset>\n");
        let entry =
            format!("<urlset xmlns=\"{SITEMAP}\">\n<url\n {declaration}><loc>https://e.com/</loc></url>\n</urlset>\n");
        for (text, place) in [(root, ":2:2: "), (entry, ":3:2: ")] {
            let folder = Folder::with(&[("a.xml", &text)]);
            let (found, _) = run_with_status(&folder, &["check", "a.xml"], 1);
            let error = found.lines().find(|line| line.contains("error[xml-not-well-formed]"));
            let error = error.unwrap_or_else(|| panic!("{declaration}: {found}"));
            assert!(error.contains(place) && error.contains("namespace declaration"), "{error}");
            run_with_status(&folder, &["fix", "a.xml", "--accept-repairs"], 0);
            assert!(!folder.text("a.xml").contains(declaration), "{}", folder.text("a.xml"));
            assert!(!run_with_status(&folder, &["check", "a.xml"], 0).0.contains("error"), "{declaration}");
        }
    }
    for declaration in ["xmlns:xml=\"http://www.w3.org/XML/1998/namespace\"", "xmlns:a=\"urn:a\""] {
        let text = format!("<urlset xmlns=\"{SITEMAP}\" {declaration}><url><loc>https://e.com/</loc></url></urlset>\n");
        let folder = Folder::with(&[("a.xml", &text)]);
        run_with_status(&folder, &["check", "a.xml"], 0);
    }
}
