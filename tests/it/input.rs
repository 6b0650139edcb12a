//! Tests of input: tables and lists of other programs, values, queries, replacements.

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

/// Runs words that end with a status; what they print, and what they say.
fn ends(folder: &Folder, words: &[&str], status: i32) -> (String, String) {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(status), "{words:?}: {}{}", stdout(&output), stderr(&output));
    (stdout(&output), stderr(&output))
}

/// Runs words that are refused: they change no file and say these words.
fn refused(folder: &Folder, words: &[&str], status: i32, expected: &[&str]) {
    let before = folder.files();
    let (_, said) = ends(folder, words, status);
    assert_eq!(folder.files(), before, "{words:?}");
    for words_of in expected {
        assert!(said.contains(words_of), "{words:?}: {said}");
    }
}

#[test]
fn tables_of_other_programs_open_and_only_changed_cells_are_written() {
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
        assert_eq!(ends(&folder, &["list", name], 0).0, "https://e.com/a\nhttps://e.com/b\n", "{name}");
        ends(&folder, &["replace", name, "/b$", "/c"], 0);
        assert_eq!(folder.text(name), text.replace("https://e.com/b", "https://e.com/c"), "{name}");
        ends(&folder, &["remove", name, "--where", "path:/a", "-o", "out.csv"], 0);
        ends(&folder, &["convert", name, "-o", "out.xml"], 0);
        assert!(folder.text("out.xml").contains("<loc>https://e.com/a</loc>"), "{name}");
    }
}

#[test]
fn a_table_without_one_url_column_names_its_columns() {
    let table = "From,To\nhttps://e.com/a,https://e.com/b\n";
    let folder = Folder::with(&[("t.csv", table), ("names.csv", "Name,Clicks\nA,1\n")]);
    let said = ["several columns", "`From`, `To`", "--loc-column"];
    for words in [
        &["check", "t.csv"][..],
        &["list", "t.csv"],
        &["stats", "t.csv"],
        &["set", "t.csv", "lastmod=today"],
        &["convert", "t.csv", "-o", "t.xml"],
        &["split", "t.csv", "-o", "parts"],
        &["merge", "t.csv", "-o", "t.xml"],
        &["diff", "t.csv", "t.csv"],
    ] {
        refused(&folder, words, 3, &said);
    }
    refused(&folder, &["list", "names.csv"], 3, &["no column of this table holds URLs", "`Name`, `Clicks`"]);
    refused(&folder, &["list", "t.csv", "--loc-column", "Nobody"], 3, &["no column `Nobody`"]);
    for column in ["to", "To", "2"] {
        assert_eq!(ends(&folder, &["list", "t.csv", "--loc-column", column], 0).0, "https://e.com/b\n");
    }
    ends(&folder, &["stats", "t.csv", "--loc-column", "To"], 0);
    ends(&folder, &["diff", "t.csv", "t.csv", "--loc-column", "To"], 0);
    ends(&folder, &["merge", "t.csv", "--loc-column", "To", "-o", "m.xml"], 0);
    ends(&folder, &["replace", "t.csv", "/b", "/c", "--loc-column", "To"], 0);
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
        let (found, _) = ends(&folder, &["check", name], 1);
        for line in lines {
            assert!(found.contains(&format!("{name}:{line}:")), "{name}, line {line}: {found}");
        }
        ends(&folder, &["replace", name, "e.com/a", "e.com/z"], 0);
        assert_eq!(folder.text(name), text.replace("e.com/a", "e.com/z"), "{name}");
    }
    let folder = Folder::with(&[("robots.txt", "User-agent: *\nSitemap: https://e.com/s.xml\n")]);
    refused(&folder, &["list", "robots.txt"], 3, &["without XML elements or URLs"]);
    // What begins as UTF-16 and is none.
    folder.write("marked.txt", b"\xFF\xFEhttps://e.com/a\n");
    folder.write("marked.xml", [b"\xFE\xFF", urlset("<url><loc>https://e.com/a</loc></url>\n").as_bytes()].concat());
    for name in ["marked.txt", "marked.xml"] {
        assert_eq!(ends(&folder, &["list", name], 0).0, "https://e.com/a\n");
        let (found, _) = ends(&folder, &["check", name], 1);
        assert!(found.contains("before ASCII text, which was read as ASCII"), "{found}");
    }
    ends(&folder, &["fix", "marked.xml", "--accept-repairs"], 0);
    assert!(!folder.read("marked.xml").starts_with(b"\xFE\xFF"));
}

#[test]
fn values_that_the_check_calls_errors_are_refused_unless_forced() {
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
    for (words, said) in cases {
        refused(&folder, &[words, &NOW].concat(), 2, said);
    }
    for (words, expected) in [
        (&["set", "a.xml", "priority=7", "--force"][..], "<priority>7</priority>"),
        (&["add", "a.xml", "no-url", "--force"], "<loc>no-url</loc>"),
        (&["add", "a.xml", "--from", "urls.txt"], "<loc>https://e.com/c</loc>"),
        (&["set", "a.xml", "loc=https://e.com/x", "--where", "path:/a"], "<loc>https://e.com/x</loc>"),
    ] {
        let folder = new();
        ends(&folder, &[words, &NOW].concat(), 0);
        assert!(folder.text("a.xml").contains(expected), "{words:?}: {}", folder.text("a.xml"));
    }
    // Whitespace around a URL is no part of it.
    let (_, said) = ends(&folder, &["add", "a.xml", "https://e.com/a ", " https://e.com/b"], 0);
    assert!(said.contains("2 URLs skipped"), "{said}");
    assert_eq!(folder.text("a.xml"), text);
    let (_, said) = ends(&folder, &["add", "a.xml", "--from", "urls.txt"], 0);
    assert!(said.contains("1 URL skipped"), "{said}");
    assert_eq!(ends(&folder, &["list", "a.xml"], 0).0.lines().count(), 3);
}

#[test]
fn a_step_leaves_rows_without_a_value_alone() {
    let text = urlset(
        "<url><loc>https://e.com/a</loc></url>\n\
         <url><loc>https://e.com/b</loc><lastmod>2020-01-01</lastmod><priority>0.5</priority></url>\n",
    );
    for (step, expected, field) in [
        ("lastmod=+7d", "<lastmod>2020-01-08</lastmod>", "lastmod"),
        ("priority=+0.1", "<priority>0.6</priority>", "priority"),
    ] {
        let folder = Folder::with(&[("a.xml", &text)]);
        let (_, said) = ends(&folder, &["set", "a.xml", step], 0);
        assert!(said.contains(&format!("on 1 row; 1 row skipped: there is no {field} to count from")), "{said}");
        let written = folder.text("a.xml");
        assert!(written.contains(expected) && written.matches(&format!("<{field}>")).count() == 1, "{written}");
    }
}

#[test]
fn an_empty_query_is_wrong_usage_everywhere() {
    let text = urlset("<url><loc>https://e.com/a</loc></url>\n");
    let folder = Folder::with(&[("a.xml", &text), ("r.toml", "[[rule]]\nwhere = \"\"\npriority = 0.5\n")]);
    for query in ["", "  ", "\"\""] {
        for words in [
            &["remove", "a.xml"][..],
            &["set", "a.xml", "priority=0.5"],
            &["replace", "a.xml", "a", "b"],
            &["fix", "a.xml"],
            &["list", "a.xml"],
            &["check", "a.xml"],
        ] {
            refused(&folder, &[words, &["--where", query]].concat(), 2, &["the query is empty"]);
        }
        refused(&folder, &["split", "a.xml", "-o", "parts", "--by", query], 2, &["the query is empty"]);
        for line in ["%delete where", "filter", "mark where"] {
            folder.write("script", format!("{line} {query}\nwrite\n"));
            refused(&folder, &["a.xml", "--script", "script"], 2, &["query"]);
        }
    }
    refused(&folder, &["apply", "a.xml", "r.toml"], 2, &["the query is empty"]);
}

#[test]
fn a_rule_file_sets_no_value_that_check_reports_as_an_error() {
    let folder = Folder::new();
    folder.write("a.xml", urlset("<url><loc>https://e.com/a</loc></url>\n"));
    folder.write("r.toml", "[[rule]]\nname = \"dates\"\nlastmod = \"2024\"\n");
    refused(&folder, &["apply", "a.xml", "r.toml"], 2, &["r.toml, dates: lastmod=2024", "--force"]);
    ends(&folder, &["apply", "a.xml", "r.toml", "--force"], 0);
    assert!(folder.text("a.xml").contains("<lastmod>2024</lastmod>"));
}

#[test]
fn a_file_is_left_without_entries_only_where_that_is_allowed() {
    let text = urlset("<url><loc>https://e.com/a</loc></url>\n");
    let folder = Folder::with(&[("a.xml", &text), ("none.xml", &urlset("")), ("script", "%delete\nwrite\n")]);
    for words in [
        &["remove", "a.xml", "--where", "path:/*"][..],
        &["remove", "a.xml", "--where", "path:/*", "-o", "b.xml"],
        &["a.xml", "--script", "script"],
        &["convert", "none.xml", "-o", "b.txt"],
        &["merge", "none.xml", "-o", "b.xml"],
    ] {
        refused(&folder, words, 3, &["no entries left", "--allow-empty"]);
        let folder = Folder::with(&[("a.xml", &text), ("none.xml", &urlset("")), ("script", "%delete\nwrite\n")]);
        ends(&folder, &[words, &["--allow-empty"]].concat(), 0);
    }
}

/// A set whose old host is in URLs of every kind.
fn old_host() -> Folder {
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
fn a_replacement_is_about_the_urls_that_it_is_asked_for() {
    let (old, new) = ("https://old.example", "https://new.example");
    let parts = [
        ("loc", "<loc>https://new.example/a<", "1.xml"),
        ("alternates", "href='https://new.example/de/a?x=1&amp;y=2'", "1.xml"),
        ("images", "<image:loc>https://new.example/i.png</image:loc>", "1.xml"),
        ("videos", "<video:player_loc> https://new.example/p </video:player_loc>", "1.xml"),
        ("index", "<loc>https://new.example/2.xml<", "sitemap_index.xml"),
    ];
    for way in ["option", "script"] {
        for asked in ["loc", "alternates", "images", "videos", "index", "all", "loc,index"] {
            let folder = old_host();
            let said = if way == "option" {
                ends(&folder, &["replace", ".", old, new, "--in", asked], 0).1
            } else {
                folder.write("script", format!("s#{old}#{new}# --in {asked}\nwrite\n"));
                ends(&folder, &[".", "--script", "script"], 0).1
            };
            for (part, expected, file) in parts {
                let is_asked = asked == "all" || asked.split(',').any(|one| one == part);
                assert_eq!(
                    folder.text(file).contains(expected),
                    is_asked,
                    "{way} {asked}: {part}\n{}",
                    folder.text(file)
                );
            }
            assert!(folder.text("1.xml").contains("<video:title>https://old.example/ is a title<"), "{asked}");
            let others = said.contains("--in all rewrites them");
            assert_eq!(others, asked != "all", "{way} {asked}: {said}");
        }
    }
    let (_, said) = ends(&old_host(), &["replace", ".", old, new], 0);
    assert!(
        said.contains("1 alternate link, 1 image URL, 1 video URL, 2 index URLs match too: --in all rewrites them"),
        "{said}"
    );
    refused(&old_host(), &["replace", ".", old, new, "--in", "index", "--where", "path:/a"], 2, &["`where`"]);
    refused(&old_host(), &["replace", ".", old, new, "--in", "title"], 2, &["alternates"]);
}

#[test]
fn every_other_byte_of_a_replacement_stays() {
    let folder = old_host();
    let before = folder.text("1.xml");
    ends(&folder, &["replace", ".", "https://old.example", "https://new.example", "--in", "alternates,videos"], 0);
    let expected = before
        .replace("href='https://old.example", "href='https://new.example")
        .replace("player_loc> https://old.example", "player_loc> https://new.example");
    assert_eq!(folder.text("1.xml"), expected);
}

#[test]
fn the_index_is_rewritten_below_a_base_url_only_when_asked() {
    for words in
        [&["fix", ".", "--base-url", "https://new.example/maps/", "--rewrite-index"][..], &[".", "--script", "script"]]
    {
        let folder = old_host();
        folder.write("script", "set-base-url https://new.example/maps/ --rewrite-index\nwrite\n");
        let others = folder.text("1.xml");
        ends(&folder, words, 0);
        let written = folder.text("sitemap_index.xml");
        assert_eq!(written, index(&["https://new.example/maps/1.xml", "https://new.example/maps/2.xml"]), "{words:?}");
        assert_eq!(folder.text("1.xml"), others);
    }
    let folder = old_host();
    refused(&folder, &["fix", ".", "--rewrite-index"], 2, &["--base-url"]);
    refused(&folder, &["fix", ".", "--rewrite-index", "--base-url", "new.example"], 2, &["--base-url"]);
}

#[test]
fn an_index_without_its_files_answers_nothing() {
    let folder = Folder::with(&[
        ("sitemap_index.xml", &index(&["https://e.com/1.xml", "https://e.com/2.xml"])),
        ("2.xml", &urlset("<url><loc>https://e.com/b</loc></url>\n")),
        ("whole.xml", &urlset("<url><loc>https://e.com/a</loc></url>\n<url><loc>https://e.com/b</loc></url>\n")),
    ]);
    let of = "sitemap_index.xml";
    for words in [
        &["list", of][..],
        &["convert", of, "-o", "out.csv"],
        &["merge", of, "-o", "out.xml"],
        &["merge", of, "whole.xml", "-o", "out.xml"],
        &["stats", of],
        &["diff", "whole.xml", of, "--urls=removed"],
        &["diff", of, "whole.xml"],
        &["split", of, "-o", "parts"],
        &["set", of, "priority=0.5"],
        &["replace", of, "a", "b"],
    ] {
        refused(&folder, words, 3, &["1.xml", "--allow-missing"]);
        assert_eq!(stdout(&run(&folder, words)), "", "{words:?}");
    }
    let (listed, _) = ends(&folder, &["list", of, "--sitemaps"], 0);
    assert!(listed.contains("1.xml") && listed.contains("2.xml"), "{listed}");
}

#[test]
fn a_list_of_comments_is_a_list() {
    let text = "# pages\n\n# of 2026\n";
    let folder = Folder::with(&[("a.txt", text), ("blank.txt", "\n\n"), ("sub/urllist", text)]);
    for name in ["a.txt", "sub/urllist"] {
        let (found, said) = ends(&folder, &["check", name], 1);
        assert!(found.contains("text-extra-content") && !said.contains("XML"), "{name}: {found}{said}");
    }
    ends(&folder, &["list", "blank.txt"], 0);
    ends(&folder, &["add", "a.txt", "https://e.com/a"], 0);
    assert_eq!(folder.text("a.txt"), format!("{text}https://e.com/a\n"));
    ends(&folder, &["add", "blank.txt", "https://e.com/a"], 0);
    assert!(folder.text("blank.txt").contains("https://e.com/a\n"));
}

#[test]
fn comments_and_attributes_of_a_list_become_no_url() {
    let text = "# pages\nhttps://e.com/a lastmod=2020-01-01 priority=0.5 changefreq=weekly\nhttps://e.com/b\n# end\n";
    let [a, b] = [
        "<loc>https://e.com/a</loc>\n    <lastmod>2020-01-01</lastmod>\n    <changefreq>weekly</changefreq>\n    \
         <priority>0.5</priority>",
        "<loc>https://e.com/b</loc>",
    ];
    let more = urlset("<url><loc>https://e.com/c</loc></url>\n");
    let fresh = || Folder::with(&[("a.txt", text), ("more.xml", &more)]);
    for words in [
        &["convert", "a.txt", "-o", "out.xml"][..],
        &["merge", "a.txt", "-o", "out.xml"],
        &["merge", "a.txt", "more.xml", "-o", "out.xml"],
        &["set", "a.txt", "priority=0.5", "--where", "path:/a", "-o", "out.xml"],
    ] {
        let folder = fresh();
        let (_, said) = ends(&folder, words, 0);
        assert!(said.contains("2 comment lines cannot be written to an XML sitemap"), "{words:?}: {said}");
        let out = folder.text("out.xml");
        assert!(out.contains(a) && out.contains(b) && !out.contains('#'), "{words:?}: {out}");
        assert_eq!(folder.text("a.txt"), text);
    }
    let folder = fresh();
    ends(&folder, &["convert", "a.txt", "-o", "out.csv"], 0);
    let expected = "loc,lastmod,changefreq,priority\nhttps://e.com/a,2020-01-01,weekly,0.5\nhttps://e.com/b,,,\n";
    assert_eq!(folder.text("out.csv"), expected);
    ends(&folder, &["convert", "a.txt", "-o", "copy.txt"], 0);
    assert_eq!(folder.text("copy.txt"), text);
    ends(&folder, &["add", "more.xml", "--from", "a.txt"], 0);
    assert!(folder.text("more.xml").contains(b) && folder.text("more.xml").contains("<loc>https://e.com/a</loc>"));
    // A line that says something else stays whole, for someone to look at.
    folder.write("b.txt", "https://e.com/a title=x\nhttps://e.com/b\n");
    ends(&folder, &["convert", "b.txt", "-o", "b.csv"], 0);
    assert!(folder.text("b.csv").contains("https://e.com/a title=x"));
}

#[test]
fn a_table_may_have_bars_between_its_columns() {
    let table = "loc|priority\nhttps://e.com/a|0.5\nhttps://e.com/b|0.7\n";
    let folder = Folder::with(&[("t.csv", table), ("t.dat", table)]);
    for name in ["t.csv", "t.dat"] {
        assert_eq!(ends(&folder, &["list", name], 0).0, "https://e.com/a\nhttps://e.com/b\n", "{name}");
        ends(&folder, &["set", name, "priority=0.9", "--where", "path:/a"], 0);
        assert_eq!(folder.text(name), table.replace("0.5", "0.9"), "{name}");
    }
}

#[test]
fn a_query_in_a_file_of_rules_is_named_by_its_place() {
    let folder = Folder::with(&[("a.xml", &urlset("<url><loc>https://e.com/a</loc></url>\n"))]);
    for (query, why) in [("  ", "the query is empty"), ("foo:x", "unknown field `foo`")] {
        folder.write("r.toml", format!("[[rule]]\npriority = 0.5\nwhere = \"{query}\"\n"));
        refused(&folder, &["apply", "a.xml", "r.toml"], 2, &["r.toml:3:9: where of rule 1", why]);
        let (_, said) = ends(&folder, &["apply", "a.xml", "r.toml"], 2);
        assert!(!said.contains("--where"), "{said}");
    }
}

#[test]
fn an_unknown_key_is_named_before_a_base_url_is_asked_for() {
    let folder = Folder::with(&[("a.txt", "https://e.com/a\nhttps://e.com/b\n")]);
    refused(&folder, &["split", "a.txt", "--by", "yaer", "-o", "parts"], 2, &["no URL matches --by yaer", "keys are"]);
}

/// Runs the program with this on its standard input.
pub(crate) fn piped(folder: &Folder, words: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(program());
    command.args(words).current_dir(folder.path()).envs(environment(folder.path()));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn standard_input_is_named_as_it_was_given() {
    let text = urlset("<url><loc>https://e.com/a</loc></url>\n");
    // The folder for temporary files is there.
    let folder = Folder::with(&[("a.xml", &text), (".home/tmp/keep", "")]);
    for input in ["<html>", "", "<urlset><url><loc>https://e.com/a?x&y</loc></url></urlset>"] {
        for words in [["diff", "-", "a.xml"], ["diff", "a.xml", "-"]] {
            let (_, _, said) = piped(&folder, &words, input);
            assert!(
                !said.contains("tmp") && (said.contains("-: ") || said.contains("- is damaged")),
                "{words:?}: {said}"
            );
        }
    }
    let (status, _, said) = piped(&folder, &["list", "-"], "");
    assert!(status == Some(3) && said.contains("before the pipe"), "{said}");
    let (_, found, _) = piped(&folder, &["check", "-"], "# pages\n");
    assert!(found.contains("text-extra-content"), "{found}");
}

#[test]
fn namespace_declarations_that_are_none_are_errors_at_their_place() {
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
            let (found, _) = ends(&folder, &["check", "a.xml"], 1);
            let error = found.lines().find(|line| line.contains("error[xml-not-well-formed]"));
            let error = error.unwrap_or_else(|| panic!("{declaration}: {found}"));
            assert!(error.contains(place) && error.contains("namespace declaration"), "{error}");
            ends(&folder, &["fix", "a.xml", "--accept-repairs"], 0);
            assert!(!folder.text("a.xml").contains(declaration), "{}", folder.text("a.xml"));
            assert!(!ends(&folder, &["check", "a.xml"], 0).0.contains("error"), "{declaration}");
        }
    }
    for declaration in ["xmlns:xml=\"http://www.w3.org/XML/1998/namespace\"", "xmlns:a=\"urn:a\""] {
        let text = format!("<urlset xmlns=\"{SITEMAP}\" {declaration}><url><loc>https://e.com/</loc></url></urlset>\n");
        let folder = Folder::with(&[("a.xml", &text)]);
        ends(&folder, &["check", "a.xml"], 0);
    }
}
