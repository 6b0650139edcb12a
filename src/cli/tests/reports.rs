//! The text report: what comes first, what is left out and what is said of it.

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
fn errors_come_first_and_further_places_are_counted() {
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

#[test]
fn many_files_with_one_rule_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    (0..30).for_each(|number| file(&folder, &format!("{number:02}.xml"), 7));
    let (_, out, _) = sited(&folder, "check DIR/ --now 2026-11-22 --rule loc-fragment");
    assert_eq!(out.lines().filter(|line| line.contains("[loc-fragment]")).count(), 100);
    assert_eq!(out.lines().filter(|line| *line == "  … and 2 more (--all)").count(), 20);
    assert!(out.ends_with("  … and 70 findings in more files (--all)\n\n210  warning  loc-fragment\n"), "{out}");
}

#[test]
fn what_is_printed_of_many_is_the_worst_in_every_form() {
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
        ("check https://e.com/sitemap.xml", "sited reads files, not URLs"),
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
fn a_policy_names_forbidden_and_missing_urls() {
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
    fs::write(folder.path().join("policy.toml"), "nevr = []\n").unwrap();
    let (status, _, notes) = sited(&folder, "check DIR/a.xml --policy DIR/policy.toml");
    assert!(status == 2 && notes.contains("unknown field `nevr`"), "{notes}");
    let (status, _, notes) = sited(&folder, "check DIR/a.xml --never ");
    assert!(status == 2 && notes.contains("every URL"), "{notes}");
}
