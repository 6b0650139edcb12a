//! Tests of the rules about pages (`--data`) and their fixes. Without data, none of these rules applies.

use crate::support::{Folder, run, stderr, stdout};

/// A sitemap with pages that are valid, missing, redirected, redirected to a page of the set, excluded from search, or
/// have another canonical URL.
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
fn run_with_status(folder: &Folder, arguments: &[&str], status: i32) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

fn locs(folder: &Folder) -> Vec<String> {
    let listed = run_with_status(folder, &["list", "sitemap.xml"], 0);
    listed.lines().map(|url| url.trim_start_matches("https://e.com/").to_owned()).collect()
}

#[test]
fn check_reports_the_responses_of_the_site() {
    let folder = site();
    let arguments = ["check", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-*"];
    let report = run_with_status(&folder, &arguments, 1);
    let expected = "\
        sitemap.xml:4:12: error[site-not-found]: the page does not exist: the site answers 404\n\
        sitemap.xml:5:12: error[site-redirect]: the site answers 301 and redirects to https://e.com/new\n\
        sitemap.xml:6:12: error[site-redirect]: the site answers 301 and redirects to https://e.com/\n\
        sitemap.xml:7:12: error[site-noindex]: the page excludes itself from search: robots is noindex\n\
        sitemap.xml:8:12: error[site-canonical-elsewhere]: the page names https://e.com/original?a=1&b=2 as its canonical URL\n\
        sitemap.xml:9:12: note[site-not-checked]: no probe data for this URL\n";
    assert_eq!(report, expected);
    let counted = run_with_status(&folder, &[&arguments[..], &["--max-findings", "0", "--format", "json"]].concat(), 1);
    assert!(counted.contains("\"errors\":5") || counted.contains("\"errors\": 5"), "{counted}");
    assert_eq!(run_with_status(&folder, &["check", "sitemap.xml"], 0), "");
    let listed =
        run_with_status(&folder, &["list", "sitemap.xml", "--data", "site.jsonl", "--where", "rule:site-redirect"], 0);
    assert_eq!(listed, "https://e.com/old\nhttps://e.com/old2\n");
}

#[test]
fn fixes_delete_rows_or_write_the_urls_that_the_site_names() {
    let folder = site();
    let fix = |rule: &str| {
        let output = run(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", rule]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    let message = fix("site-redirect");
    let expected = "site-redirect: 1 row fixed, 1 row deleted: the set already lists that page";
    assert!(message.starts_with(expected), "{message}");
    // The second redirect leads to a page that the set already lists.
    assert_eq!(locs(&folder), ["", "gone", "new", "noindex", "copy", "unknown"]);
    let message = fix("site-not-found");
    assert!(message.starts_with("site-not-found: 1 row deleted"), "{message}");
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
fn a_fix_without_a_named_rule_deletes_no_row() {
    let folder = site();
    let before = folder.read("sitemap.xml");
    run_with_status(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl"], 0);
    assert_eq!(folder.read("sitemap.xml"), before);
}

#[test]
fn a_redirect_to_another_site_is_not_applied() {
    let folder = site();
    let data =
        "{\"url\":\"https://e.com/old\",\"status\":301,\"final\":\"https://other.example/\",\"final_status\":200}\n";
    folder.write("site.jsonl", data);
    let before = folder.read("sitemap.xml");
    let output = run(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-redirect"]);
    assert!(stderr(&output).contains("the site gives no URL to replace it with"), "{}", stderr(&output));
    assert_eq!(folder.read("sitemap.xml"), before);
}

#[test]
fn a_redirect_without_a_known_target_is_not_applied() {
    let folder = site();
    let line = |location: &str, error: &str| {
        format!(
            "{{\"url\":\"https://e.com/old\",\"status\":301,\"location\":{location},\"final\":null,\"error\":\"{error}\"}}\n"
        )
    };
    let before = folder.read("sitemap.xml");
    for (location, error) in [
        ("[\"https://e.com/b\",\"https://e.com/old\"]", "the redirects form a loop"),
        ("[\"https://e.com/1\",\"https://e.com/2\"]", "more than 10 redirects"),
        ("null", "the redirect has no Location"),
    ] {
        folder.write("site.jsonl", line(location, error));
        run(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-redirect*"]);
        assert_eq!(folder.read("sitemap.xml"), before, "{error}");
    }
}

/// A sitemap of pages with dates and alternates, and the probe results of the site.
fn dated_site() -> Folder {
    let folder = Folder::new();
    let link = |code: &str, path: &str| {
        format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"https://e.com/{path}\"/>")
    };
    let links = [link("en", "en"), link("de", "de")].concat();
    let rows = [
        "<url><loc>https://e.com/old</loc><lastmod>2026-03-01</lastmod><changefreq>weekly</changefreq></url>\n"
            .to_owned(),
        "<url><loc>https://e.com/new</loc><lastmod>2026-05-01T00:00:00Z</lastmod></url>\n".to_owned(),
        "<url><loc>https://e.com/same</loc><lastmod>2026-04-01</lastmod></url>\n".to_owned(),
        format!("<url><loc>https://e.com/en</loc>{links}</url>\n"),
        format!("<url><loc>https://e.com/de</loc>{links}</url>\n"),
    ];
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
                xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\n";
    folder.write("sitemap.xml", format!("{head}{}</urlset>\n", rows.concat()));
    let modified = r#""status":200,"modified":"2026-04-01T12:00:00Z""#;
    let lines = [
        format!("{{\"url\":\"https://e.com/old\",{modified}}}\n"),
        format!("{{\"url\":\"https://e.com/new\",{modified}}}\n"),
        format!("{{\"url\":\"https://e.com/same\",{modified}}}\n"),
        "{\"url\":\"https://e.com/en\",\"status\":200,\"hreflang\":{\"en\":\"https://e.com/en\",\"de\":\"https://e.com/de\"}}\n"
            .to_owned(),
        "{\"url\":\"https://e.com/de\",\"status\":200,\"hreflang\":{\"en\":\"https://e.com/en\",\"de\":\"https://e.com/de-at\"}}\n"
            .to_owned(),
    ];
    folder.write("site.jsonl", lines.concat());
    folder
}

#[test]
fn dates_and_alternates_are_compared_with_those_of_the_pages() {
    let folder = dated_site();
    let arguments = ["check", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-*", "--all"];
    let found = run_with_status(&folder, &arguments, 0);
    let positions: Vec<_> = found.lines().map(|line| line.split("]: ").next().unwrap()).collect();
    let expected = [
        "sitemap.xml:3:1: note[site-lastmod-older",
        "sitemap.xml:4:1: note[site-lastmod-newer",
        "sitemap.xml:7:1: warning[site-hreflang-differs",
    ];
    assert_eq!(positions, expected, "{found}");
    assert!(
        found.contains("the alternate for de is https://e.com/de-at on the page and https://e.com/de in the"),
        "{found}"
    );
    // After an edit of one row, findings that depend on several values are updated.
    let set = |value: &str| {
        run_with_status(&folder, &["set", "sitemap.xml", value, "--data", "site.jsonl", "--where", "loc:/old"], 0)
    };
    set("changefreq=daily");
    assert!(run_with_status(&folder, &arguments, 0).contains("site-lastmod-older"));
    set("lastmod=2026-04-01");
    assert!(!run_with_status(&folder, &arguments, 0).contains("site-lastmod-older"));
}

#[test]
fn a_named_fix_writes_the_date_of_the_page() {
    let folder = dated_site();
    run_with_status(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-lastmod-*"], 0);
    let fixed = folder.text("sitemap.xml");
    assert!(fixed.contains("old</loc><lastmod>2026-04-01T12:00:00Z</lastmod>"), "{fixed}");
    assert!(fixed.contains("new</loc><lastmod>2026-04-01T12:00:00Z</lastmod>"), "{fixed}");
    assert!(fixed.contains("same</loc><lastmod>2026-04-01</lastmod>"), "{fixed}");
    run_with_status(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-lastmod-*"], 0);
    assert_eq!(folder.text("sitemap.xml"), fixed, "twice");
}

#[test]
fn a_named_fix_lists_the_alternates_of_the_page() {
    let folder = Folder::new();
    let link = |code: &str, path: &str| {
        format!("    <x:link rel=\"alternate\" hreflang=\"{code}\" href=\"https://e.com/{path}\"/>\n")
    };
    let page = |path: &str, links: &[String]| {
        format!("  <url>\n    <loc>https://e.com/{path}</loc>\n{}  </url>\n", links.concat())
    };
    let right = [link("en", "en"), link("de", "de")];
    let set = |first: &[String]| {
        format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:x=\"http://www.w3.org/1999/xhtml\">\n{}{}</urlset>\n",
            page("en", first),
            page("de", &right)
        )
    };
    folder.write("sitemap.xml", set(&[link("en", "en"), link("fr", "gone"), link("de", "old")]));
    folder.write(
        "site.jsonl",
        "{\"url\":\"https://e.com/en\",\"status\":200,\"hreflang\":{\"en\":\"https://e.com/en\",\"de\":\"https://e.com/de\"}}\n",
    );
    run_with_status(&folder, &["fix", "sitemap.xml", "--data", "site.jsonl", "--rule", "site-hreflang-differs"], 0);
    assert_eq!(folder.text("sitemap.xml"), set(&right));
}
