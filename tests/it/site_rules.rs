//! Rules about the pages behind the URLs (`--data`) and their fixes; without data, none of them applies.

use crate::support::{Folder, run, stderr, stdout};

/// A sitemap whose pages are fine, gone, moved, moved to a page of the set, excluded, and canonical elsewhere.
fn site() -> Folder {
    let folder = Folder::new();
    let urls = ["", "gone", "old", "old2", "noindex", "copy", "unknown"];
    let rows = urls.map(|path| format!(" <url><loc>https://e.com/{path}</loc></url>\n")).concat();
    let head =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
    folder.write("sitemap.xml", format!("{head}{rows}</urlset>\n"));
    let line = |path: &str, rest: &str| format!("{{\"url\":\"https://e.com/{path}\",{rest}}}\n");
    let lines = [
        line("", r#""status":200,"canonical":"https://e.com/""#),
        line("gone", r#""status":404"#),
        line("old", r#""status":301,"final":"https://e.com/new","final_status":200"#),
        line("old2", r#""status":301,"final":"https://e.com/","final_status":200"#),
        line("noindex", r#""status":200,"robots":"noindex""#),
        line("copy", r#""status":200,"canonical":"https://e.com/original?a=1&b=2""#),
    ];
    folder.write("site.jsonl", lines.concat());
    folder
}

#[track_caller]
fn ends(folder: &Folder, words: &[&str], status: i32) -> String {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(status), "{words:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

fn locs(folder: &Folder) -> Vec<String> {
    let listed = ends(folder, &["list", "sitemap.xml"], 0);
    listed.lines().map(|url| url.trim_start_matches("https://e.com/").to_owned()).collect()
}

#[test]
fn check_reports_what_the_site_answers() {
    let folder = site();
    let words = ["check", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-*"];
    let report = ends(&folder, &words, 1);
    let expected = "\
        sitemap.xml:4:12: error[site-not-found]: the page does not exist: the site answers 404\n\
        sitemap.xml:5:12: error[site-redirect]: the site answers 301 and redirects to https://e.com/new\n\
        sitemap.xml:6:12: error[site-redirect]: the site answers 301 and redirects to https://e.com/\n\
        sitemap.xml:7:12: error[site-noindex]: the page excludes itself from search: robots is noindex\n\
        sitemap.xml:8:12: error[site-canonical-elsewhere]: the page names https://e.com/original?a=1&b=2 as its canonical URL\n";
    assert_eq!(report, expected);
    let counted = ends(&folder, &[&words[..], &["--max-findings", "0", "--format", "json"]].concat(), 1);
    assert!(counted.contains("\"errors\":5") || counted.contains("\"errors\": 5"), "{counted}");
    assert_eq!(ends(&folder, &["check", "sitemap.xml"], 0), "");
    let listed = ends(&folder, &["list", "sitemap.xml", "--data", "site.jsonl", "--where", "rule:site-redirect"], 0);
    assert_eq!(listed, "https://e.com/old\nhttps://e.com/old2\n");
}

#[test]
fn fixes_delete_rows_or_write_what_the_site_names() {
    let folder = site();
    let fix = |rule: &str| ends(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", rule], 0);
    fix("site-redirect");
    // The second one leads to a page that is listed already.
    assert_eq!(locs(&folder), ["", "gone", "new", "noindex", "copy", "unknown"]);
    fix("site-not-found");
    fix("site-noindex");
    fix("site-canonical-elsewhere");
    assert_eq!(locs(&folder), ["", "new", "original?a=1&b=2", "unknown"]);
    let fixed = folder.read("sitemap.xml");
    assert!(String::from_utf8_lossy(&fixed).contains("original?a=1&amp;b=2</loc>"));
    for rule in ["site-redirect", "site-not-found", "site-noindex", "site-canonical-elsewhere"] {
        fix(rule);
        assert_eq!(folder.read("sitemap.xml"), fixed, "{rule} twice");
    }
}

#[test]
fn a_fix_of_no_named_rule_deletes_no_row() {
    let folder = site();
    let before = folder.read("sitemap.xml");
    ends(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl"], 0);
    assert_eq!(folder.read("sitemap.xml"), before);
}

#[test]
fn a_site_does_not_speak_for_another() {
    let folder = site();
    let data =
        "{\"url\":\"https://e.com/old\",\"status\":301,\"final\":\"https://other.example/\",\"final_status\":200}\n";
    folder.write("site.jsonl", data);
    let before = folder.read("sitemap.xml");
    let output = run(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-redirect"]);
    assert!(stderr(&output).contains("the site names no URL that can take its place"), "{}", stderr(&output));
    assert_eq!(folder.read("sitemap.xml"), before);
}
