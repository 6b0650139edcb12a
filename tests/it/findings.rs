//! Tests of the quality of findings: one per cause, at its position, with the name of the element or field.

use crate::support::{Folder, run, stderr, stdout};
use serde_json::Value;

const NS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

fn sitemap(entries: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{NS}\">\n{entries}\n</urlset>\n")
}

/// Rule, line, column and message of each finding, in the order of the report.
fn findings(folder: &Folder, extra: &[&str]) -> Vec<(String, u64, u64, String)> {
    let report = report(folder, extra);
    let findings = report["findings"].as_array().expect("findings");
    let found = findings.iter().map(|finding| {
        let number = |name: &str| finding[name].as_u64().unwrap_or_default();
        let word = |name: &str| finding[name].as_str().expect("a word").to_owned();
        (word("rule"), number("line"), number("column"), word("message"))
    });
    found.collect()
}

fn report(folder: &Folder, extra: &[&str]) -> Value {
    let fixed = ["check", "--format", "json", "--now", "2026-11-20T10:00:00Z"];
    let output = run(folder, &[&fixed[..], extra].concat());
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)))
}

/// The rules that a sitemap with these entries violates.
fn rules(entries: &str, extra: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    folder.write("sitemap.xml", sitemap(entries).as_bytes());
    findings(&folder, &[&["sitemap.xml"], extra].concat()).into_iter().map(|(rule, ..)| rule).collect()
}

#[test]
fn anomalies_of_an_entry_are_reported_with_name_and_position() {
    let folder = Folder::new();
    let entries = "<url>\n  <loc>https://a.org/a</loc>\n  loose text\n</url>\n\
                   <url>\n  <loc>https://a.org/b</loc>\n  <priority>0.5</priority>\n  <priority>0.6</priority>\n</url>\n\
                   <url>\n  <loc>https://a.org/c</loc>\n  <expires>2027</expires>\n</url>\n\
                   <url>\n  <loc>https://a.org/d</loc>\n  <priority id=\"1\">0.7</priority>\n</url>\n\
                   <url>\n  <loc>/e</loc>\n</url>";
    folder.write("sitemap.xml", sitemap(entries).as_bytes());
    let found = findings(&folder, &["sitemap.xml"]);
    for (rule, line, column, part) in [
        ("doc-stray-text", 5, 3, "loose text"),
        ("field-duplicate", 10, 3, "a second <priority> (0.6)"),
        ("doc-unknown-element", 14, 3, "<expires>"),
        ("doc-unknown-attribute", 18, 3, "attribute id"),
        ("loc-not-absolute", 21, 8, "/e is not absolute"),
    ] {
        let one = found.iter().find(|(code, ..)| code == rule).unwrap_or_else(|| panic!("{rule} in {found:?}"));
        assert_eq!((one.1, one.2), (line, column), "{one:?}");
        assert!(one.3.contains(part), "{one:?}");
    }
}

#[test]
fn findings_of_media_in_a_feed_have_the_position_in_the_feed() {
    let folder = Folder::new();
    let feed = "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\">\n<channel>\n<item>\n\
                <link>https://a.org/1</link>\n\
                <media:content url=\"https://a.org/1.mp4\" medium=\"video\" duration=\"99999\">\n\
                <media:title>One</media:title>\n<media:description>Hello</media:description>\n\
                <media:thumbnail url=\"/relative.jpg\"/>\n</media:content>\n</item>\n</channel>\n</rss>\n";
    folder.write("feed.xml", feed.as_bytes());
    let found = findings(&folder, &["feed.xml"]);
    let lines: Vec<(&str, u64)> = found.iter().map(|(rule, line, ..)| (rule.as_str(), *line)).collect();
    assert!(lines.contains(&("video-duration", 5)), "{found:?}");
    assert!(lines.contains(&("loc-not-absolute", 8)), "{found:?}");
}

#[test]
fn one_cause_gives_one_finding() {
    let page = |path: &str| format!("<url><loc>https://a.org/{path}</loc></url>");
    // A date in the format of databases.
    let dated = |date: &str| format!("<url><loc>https://a.org/a</loc><lastmod>{date}</lastmod></url>");
    for date in ["2026-01-01 10:00:00", "2026-01-01 10:00", "2026-01-01 10:00:00.123456 +0000"] {
        assert_eq!(rules(&dated(date), &[]), ["lastmod-space-separator"], "{date}");
    }
    // The alternates of one page.
    let alternate = |code: &str, path: &str| {
        format!(
            "<xhtml:link xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" rel=\"alternate\" hreflang=\"{code}\" \
             href=\"https://a.org/{path}\"/>"
        )
    };
    let with = |path: &str, links: &str| format!("<url><loc>https://a.org/{path}</loc>{links}</url>");
    let (en, de, x) = (alternate("en", "en"), alternate("de", "de"), alternate("x-default", "en"));
    let all = format!("{en}{de}{x}");
    assert_eq!(rules(&with("en", &all), &[]), [""; 0]);
    // A page that does not list itself: the different alternates of its versions are not a second finding.
    let both = format!("{}{}", with("en", &all), with("de", &format!("{en}{x}")));
    assert_eq!(rules(&both, &[]), ["hreflang-self-missing"]);
    // An entry of an index without a URL.
    let folder = Folder::new();
    let index = format!(
        "<?xml version=\"1.0\"?>\n<sitemapindex xmlns=\"{NS}\"><sitemap><loc>https://a.org/1.xml</loc></sitemap><sitemap>\
         <loc>https://a.org/2.xml</loc></sitemap><sitemap/></sitemapindex>\n"
    );
    folder.write("index.xml", index.as_bytes());
    folder.write("1.xml", sitemap(&page("a")).as_bytes());
    folder.write("2.xml", sitemap(&page("a")).as_bytes());
    let found = findings(&folder, &["index.xml"]);
    let rules: Vec<&str> = found.iter().map(|(rule, ..)| rule.as_str()).collect();
    // A URL in two files is reported once, too.
    assert_eq!(rules, ["loc-missing", "set-duplicate-across-files"]);
    // An item of a feed without a link, and a player that is the page.
    let feed = "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel><item><title>a</title></item>\
                <item><link>https://a.org/1</link><media:content medium=\"video\"><media:title>t</media:title>\
                <media:description>d</media:description><media:thumbnail url=\"https://a.org/t.png\"/>\
                <media:player url=\"https://a.org/1\"/></media:content></item></channel></rss>";
    folder.write("feed.xml", feed.as_bytes());
    let rules: Vec<String> = findings(&folder, &["feed.xml"]).into_iter().map(|(rule, ..)| rule).collect();
    assert_eq!(rules, ["feed-item-no-link", "mrss-player"]);
}

#[test]
fn an_ignored_field_is_reported_once() {
    let page = |path: &str| format!("<url><loc>https://a.org/{path}</loc><priority>.5</priority></url>");
    let entries = format!("{}{}", page("a"), page("b"));
    assert_eq!(rules(&entries, &["--profile", "google"]), ["priority-ignored"]);
    assert_eq!(rules(&entries, &[]), ["priority-form", "set-priority-identical"]);
}

#[test]
fn a_cause_in_a_whole_file_is_one_finding_with_a_count_in_every_format() {
    let folder = Folder::new();
    let image = |name: &str| {
        format!("<image:image><image:loc>https://a.org/{name}</image:loc><image:title>t</image:title></image:image>")
    };
    let page = |row: usize| {
        let images = format!("{}{}", image(&format!("{row}a.png")), image(&format!("{row}b.png")));
        format!("<url><loc>https://a.org/{row}</loc>{images}</url>\n")
    };
    let root = sitemap(&(0..3).map(page).collect::<String>());
    let image = "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"";
    let text = root.replacen("<urlset", &format!("<urlset {image}"), 1);
    folder.write("a.xml", text.as_bytes());
    folder.write("b.xml", text.replace("a.org/", "b.org/").as_bytes());
    let report = report(&folder, &["a.xml", "b.xml"]);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2, "{findings:?}");
    for (finding, file) in findings.iter().zip(["a.xml", "b.xml"]) {
        assert_eq!(finding["rule"], "image-deprecated");
        assert_eq!(finding["file"], file);
        assert_eq!((&finding["count"], &finding["rows"]), (&Value::from(6), &Value::from(3)));
        assert!(finding["loc"].is_null());
        let message = finding["message"].as_str().unwrap();
        assert!(message.ends_with("(6 image elements in 3 URLs)"), "{message}");
    }
    assert_eq!(report["summary"]["notes"], 2);
    assert_eq!(report["summary"]["rules"]["image-deprecated"], 2);
    for (format, mark) in [("text", "note[image-deprecated]"), ("github", "::notice "), ("junit", "<testcase ")] {
        let output = run(&folder, &["check", "--format", format, "a.xml", "b.xml"]);
        assert_eq!(stdout(&output).matches(mark).count(), 2, "{format}: {}", stdout(&output));
    }
    let output = run(&folder, &["check", "--format", "sarif", "a.xml", "b.xml"]);
    let log: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["properties"]["count"], 6);
    // With `--where`, only the selected rows are counted; `rule:` still selects all three rows.
    let one = self::report(&folder, &["a.xml", "--where", "loc:/2"]);
    assert_eq!(one["findings"][0]["rows"], 1);
    let listed = run(&folder, &["list", "a.xml", "--where", "rule:image-deprecated"]);
    assert_eq!(stdout(&listed).lines().count(), 3);
    // A baseline matches the finding even if its count changes.
    run(&folder, &["check", "a.xml", "--write-baseline", "known.json"]);
    folder.write("a.xml", text.replacen("<image:title>t</image:title>", "", 1).as_bytes());
    let output = run(&folder, &["check", "a.xml", "--baseline", "known.json"]);
    assert_eq!(stdout(&output), "");
    // A fix applies to all rows.
    run(&folder, &["fix", "b.xml", "--rule", "image-deprecated", "--answer", "usual"]);
    assert!(!folder.text("b.xml").contains("image:title"));
}

#[test]
fn each_foreign_host_is_one_finding() {
    let page = |host: &str, row: usize| format!("<url><loc>https://{host}/{row}</loc></url>\n");
    let hosts = ["a.org", "a.org", "a.org", "a.org", "b.org", "b.org", "c.org"];
    let entries: String = hosts.iter().enumerate().map(|(row, host)| page(host, row)).collect();
    let folder = Folder::new();
    folder.write("sitemap.xml", sitemap(&entries).as_bytes());
    for (extra, rule) in [(&[][..], "set-mixed-host"), (&["--base-url", "https://a.org/"][..], "loc-foreign-host")] {
        let found = findings(&folder, &[&["sitemap.xml", "--rule", rule], extra].concat());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].3.contains("b.org") && found[0].3.contains("(2 URLs)"), "{found:?}");
        assert!(found[1].3.contains("c.org") && found[1].3.contains("robots.txt of c.org"), "{found:?}");
    }
}

#[test]
fn findings_of_thousands_of_hosts_are_limited() {
    let page = |row: usize| format!("<url><loc>https://h{row}.org/</loc></url>\n");
    let folder = Folder::new();
    folder.write("sitemap.xml", sitemap(&(0..2_000).map(page).collect::<String>()).as_bytes());
    let found = findings(&folder, &["sitemap.xml"]);
    assert_eq!(found.len(), 11, "{found:?}");
    assert!(found[10].3.contains("(1,989 hosts of the same kind, 1,989 URLs)"), "{found:?}");
}

#[test]
fn a_rule_explains_its_severity() {
    let folder = Folder::new();
    let output = run(&folder, &["check", "--explain", "entry-child-order"]);
    let text = stdout(&output);
    assert!(text.contains("reason") && text.contains("only a strict schema validator rejects"), "{text}");
}
