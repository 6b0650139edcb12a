//! Tests of the text report: its order, and the findings that it omits.

use super::sited;
use std::fmt::Write as _;
use std::fs;
use tempfile::TempDir;

const HEAD: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

/// A file of `rows` entries with the same note and the same warning, the last of them with an error.
fn file(folder: &TempDir, name: &str, rows: usize) {
    let mut text = HEAD.to_owned();
    for row in 0..rows {
        let date = if row + 1 == rows { "2026-13-01" } else { "2026-11-01" };
        let _ = writeln!(text, "<url><loc>https://e.com/{name}{row}#x</loc><lastmod>{date}</lastmod></url>");
    }
    fs::write(folder.path().join(name), text + "</urlset>\n").unwrap();
}

#[test]
fn errors_are_listed_first_and_omitted_findings_counted() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder, "a.xml", 2500);
    let (status, out, _) = sited(&folder, "check DIR/a.xml --now 2026-11-22 --rule loc-fragment --rule lastmod-*");
    assert_eq!(status, 1);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("DIR/a.xml:2501:") && lines[0].contains(": error[lastmod-"), "{out}");
    assert!((1..6).all(|at| lines[at].starts_with(&format!("DIR/a.xml:{}:", at + 1))), "{out}");
    assert!(lines[1..6].iter().all(|line| line.contains(": warning[loc-fragment]: ")), "{out}");
    assert_eq!(lines[6], "  … and 2,495 more (--all)");
    let table = ["", "    1  error    lastmod-impossible", "2,500  warning  loc-fragment"];
    assert_eq!(lines[7..10], table, "{out}");
    let (_, all, _) = sited(&folder, "check DIR/a.xml --now 2026-11-22 --rule loc-fragment --all");
    assert_eq!(all.lines().count(), 2500);
}

/// Findings come in blocks whose messages and text are made on several threads.
#[test]
fn reports_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder, "a.xml", 5000);
    for options in ["--all", "--format json", "--format sarif", "--format github", "--format junit"] {
        let line = format!("check DIR/a.xml --now 2026-11-22 --rule loc-fragment --rule lastmod-* {options}");
        let report = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sited(&folder, &line))
        };
        let alone = report(1);
        assert!(alone.1.matches("loc-fragment").count() >= 5000, "{options}: {}", alone.1.len());
        assert_eq!(report(4), alone, "{options}");
    }
}

/// With a limit that is not reached, findings are kept and printed at the end, not by the threads that make them.
#[test]
fn findings_are_the_same_whether_they_are_printed_at_once_or_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder, "a.xml", 2500);
    let other = "<url><loc>https://other.com/a#x</loc></url>\n</urlset>";
    let text = fs::read_to_string(folder.path().join("a.xml")).unwrap().replace("</urlset>", &other.repeat(2));
    fs::write(folder.path().join("a.xml"), text.replacen("</urlset>", "", 1)).unwrap();
    for format in ["text --all", "json", "github", "junit"] {
        let line = format!("check DIR/a.xml --now 2026-11-22 --ignore set-mixed-slash --format {format}");
        let sorted = |line: &str| {
            let (status, out, notes) = sited(&folder, line);
            let mut lines: Vec<String> = out.lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
            lines.sort();
            (status, lines, notes)
        };
        let at_once = sorted(&line);
        for part in ["set-mixed-host", " (2 URLs)"] {
            assert!(at_once.1.iter().any(|line| line.contains(part)), "{format}: {part}");
        }
        assert_eq!(at_once, sorted(&format!("{line} --max-findings 100000")), "{format}");
    }
}

#[test]
fn omitted_findings_of_many_files_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    (0..30).for_each(|number| file(&folder, &format!("{number:02}.xml"), 7));
    let (_, out, _) = sited(&folder, "check DIR/ --now 2026-11-22 --rule loc-fragment");
    assert_eq!(out.lines().filter(|line| line.contains("[loc-fragment]")).count(), 100);
    assert_eq!(out.lines().filter(|line| *line == "  … and 2 more (--all)").count(), 20);
    assert!(out.ends_with("  … and 70 findings in more files (--all)\n\n210  warning  loc-fragment\n"), "{out}");
}

#[test]
fn max_findings_keeps_the_most_severe_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder, "a.xml", 9);
    for (form, mark) in
        [("text", "error[lastmod-impossible]"), ("github", "::error "), ("json", "\"severity\":\"error\"")]
    {
        let words = format!("check DIR/a.xml --now 2026-11-22 --max-findings 1 --format {form}");
        let (_, out, _) = sited(&folder, &words);
        assert!(out.contains(mark) && !out.contains("loc-fragment]") && !out.contains("\"rule\":\"loc-"), "{out}");
    }
}

#[test]
fn help_explains_commands_pages_and_rules_and_suggests_the_right_name() {
    let folder = tempfile::tempdir().unwrap();
    let table = [
        ("help", "Usage: sited"),
        ("help check", "--fail-on"),
        ("help query", "\nFields\n"),
        ("help exit-status", "\nExit status\n"),
        ("help rules", "lastmod-no-timezone"),
        ("help loc-fragment", "loc-fragment: "),
        ("check --list-rules", "loc-missing"),
    ];
    for (words, expected) in table {
        let (status, out, notes) = sited(&folder, words);
        assert!(status == 0 && out.contains(expected) && notes.is_empty(), "{words}: {out}{notes}");
    }
    for (words, expected) in [
        ("help querys", "did you mean queries?"),
        ("help lastmod-no-timezon", "did you mean lastmod-no-timezone?"),
        ("chekc", "did you mean sited check?"),
        ("sort https://e.com/sitemap.xml", "sited get URL"),
    ] {
        let (status, out, notes) = sited(&folder, words);
        assert!(status > 1 && out.is_empty() && notes.contains(expected), "{words}: {out}{notes}");
    }
    let (_, page, _) = sited(&folder, "man");
    for title in ["QUERIES", "EXIT STATUS", "FILES", "ENVIRONMENT"] {
        assert!(page.contains(&format!(".SH \"{title}\"")) || page.contains(&format!(".SH {title}\n")), "{title}");
    }
}

#[test]
fn a_policy_reports_forbidden_and_missing_urls() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{HEAD}<url><loc>https://e.com/</loc></url>\n<url>\n<loc> https://e.com/wp-admin/x</loc></url>\n<url><loc>https://e.com/a/preview/b</loc></url>\n</urlset>\n"
    );
    fs::write(folder.path().join("a.xml"), text).unwrap();
    let file = "never = [\"/preview/\"]\nmust = [\"https://e.com/\", \"https://e.com/contact\"]\n";
    fs::write(folder.path().join("policy.toml"), file).unwrap();
    let words =
        "check DIR/a.xml --rule policy-* --never https://*/wp-admin/** --must https://e.com/a --policy DIR/policy.toml";
    let (status, out, _) = sited(&folder, words);
    let expected = "DIR/a.xml:4:7: error[policy-never]: the policy forbids URLs that match https://*/wp-admin/**\n\
                    DIR/a.xml:5:11: error[policy-never]: the policy forbids URLs that match /preview/\n\
                    DIR/a.xml:1:1: error[policy-must]: https://e.com/a is missing, and the policy requires it\n\
                    DIR/a.xml:1:1: error[policy-must]: https://e.com/contact is missing, and the policy requires it\n";
    assert_eq!((status, out.as_str()), (1, expected));
    fs::write(folder.path().join("s"), format!("policy {0}/policy.toml\ncheck\n", folder.path().display())).unwrap();
    let (status, out, notes) = sited(&folder, "DIR/a.xml --script DIR/s --must https://e.com/a");
    assert_eq!((status, notes.as_str()), (0, "DIR/policy.toml: 1 forbidden URL, 1 missing\n"));
    assert!(out.contains("[policy-never]: the policy forbids URLs that match /preview/\n"), "{out}");
    assert!(out.contains("https://e.com/contact is missing") && !out.contains("https://e.com/a is missing"), "{out}");
    fs::write(folder.path().join("s"), "set loc=https://e.com/a where loc:preview\ncheck\n").unwrap();
    let (_, out, _) = sited(&folder, "DIR/a.xml --script DIR/s --must https://e.com/a --never /preview/");
    assert!(!out.contains("[policy-"), "{out}");
    fs::write(folder.path().join("policy.toml"), "nevr = []\n").unwrap();
    let (status, _, notes) = sited(&folder, "check DIR/a.xml --policy DIR/policy.toml");
    assert!(status == 2 && notes.contains("unknown field `nevr`"), "{notes}");
    let (status, _, notes) = sited(&folder, "check DIR/a.xml --never ");
    assert!(status == 2 && notes.contains("every URL"), "{notes}");
}

#[test]
fn related_rows_are_identified_by_line_and_file() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |loc: &str| format!("<url>\n<loc>{loc}</loc>\n</url>\n");
    let link = |to: &str| format!("<xhtml:link rel=\"alternate\" hreflang=\"{to}\" href=\"https://e.com/{to}\"/>");
    let pages = entry("https://e.com/x") + &entry("https://e.com/a") + &entry("https://e.com/a");
    let one = format!("<url><loc>https://e.com/en</loc>{}{}</url>\n", link("en"), link("de"));
    let de = format!("<url><loc>https://e.com/de</loc>{}</url>\n", link("de"));
    let root = HEAD.replace('>', " xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">");
    fs::write(folder.path().join("a.xml"), format!("{root}{pages}{one}</urlset>\n")).unwrap();
    fs::write(folder.path().join("b.xml"), format!("{root}\n{}{de}</urlset>\n", entry("https://e.com/x"))).unwrap();
    let (_, out, _) = sited(&folder, "check DIR/ --rule set-duplicate*,hreflang-no-return --all");
    for expected in [
        "DIR/a.xml:9:6: warning[set-duplicate]: the same URL as line 6 (a.xml)\n",
        "DIR/b.xml:4:6: warning[set-duplicate-across-files]: the same URL is in another file: line 3 (a.xml)\n",
        "https://e.com/de (b.xml, line 6) does not list this page: the link is ignored\n",
    ] {
        assert!(out.contains(expected), "{expected}\n{out}");
    }
}

#[test]
fn the_markdown_report_has_the_counts_of_the_text_report() {
    let folder = tempfile::tempdir().unwrap();
    let page = |number: usize| format!("<url><loc>https://e{}.com</loc><priority>.5</priority></url>\n", number % 3);
    let text: String = (0..40).map(page).collect();
    fs::write(folder.path().join("a.xml"), format!("{HEAD}{text}</urlset>\n")).unwrap();
    file(&folder, "b.xml", 30);
    let (_, out, _) = sited(&folder, "check DIR/ --now 2026-11-22 --base-url https://e.com/");
    let table = out.lines().skip_while(|line| !line.is_empty()).skip(1).map(str::to_owned);
    let words = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let printed: Vec<Vec<String>> = table.map(words).collect();
    assert!(printed.len() > 4 && printed.contains(&words("1 note priority-form".to_owned())), "{out}");
    fs::write(folder.path().join("s"), format!("check {}/report.md\n", folder.path().display())).unwrap();
    let (status, _, notes) = sited(&folder, "DIR/ --script DIR/s --now 2026-11-22 --base-url https://e.com/");
    assert_eq!(status, 0, "{notes}");
    let report = fs::read_to_string(folder.path().join("report.md")).unwrap();
    let rows = report.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        vec![cells[2].to_owned(), cells[1].to_owned(), cells[3].to_owned()]
    };
    assert_eq!(rows.map(cells).collect::<Vec<_>>(), printed, "{report}");
}
