//! Tests of robots.txt without a network: forbidden rows, and `Sitemap:` lines.

use crate::support::{Folder, environment, program, run, stderr, stdout};
use std::process::Command;

const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

/// A sitemap of four pages with a robots.txt beside it.
fn site(robots: &str) -> Folder {
    let folder = Folder::new();
    let rows =
        ["", "private/a", "private/open", "b"].map(|path| format!(" <url><loc>https://e.com/{path}</loc></url>\n"));
    folder.write("sitemap.xml", format!("{HEAD}{}</urlset>\n", rows.concat()));
    folder.write("robots.txt", robots);
    folder
}

const BLOCKING: &str = "Sitemap: https://e.com/sitemap.xml\n\
    User-agent: *\n\
    Disallow: /private/\n\
    Allow: /private/open\n";

#[track_caller]
fn run_with_status(folder: &Folder, arguments: &[&str], status: i32) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[test]
fn rows_forbidden_by_the_robots_txt_beside_the_set_are_errors() {
    let folder = site(BLOCKING);
    let blocked = "sitemap.xml:4:12: error[site-blocked-by-robots]: line 3 of robots.txt forbids Googlebot to fetch the URL \
                   (User-agent: *)\n";
    assert_eq!(run_with_status(&folder, &["check", "sitemap.xml", "--all"], 1), blocked);
    // Opening the folder has the same finding.
    assert!(run_with_status(&folder, &["check", ".", "--all"], 1).contains("site-blocked-by-robots"));
    assert_eq!(run_with_status(&folder, &["check", "sitemap.xml", "--no-robots"], 0), "");
    let listed = run_with_status(&folder, &["list", "sitemap.xml", "--where", "rule:site-blocked-by-robots"], 0);
    assert_eq!(listed, "https://e.com/private/a\n");
    run_with_status(&folder, &["stats", "sitemap.xml", "--robots", "robots.txt"], 0);
    // Fixes without an answer delete no row.
    let before = folder.read("sitemap.xml");
    run_with_status(&folder, &["fix", "sitemap.xml"], 0);
    assert_eq!(folder.read("sitemap.xml"), before);
    run_with_status(&folder, &["remove", "sitemap.xml", "--where", "rule:site-blocked-by-robots"], 0);
    assert_eq!(run_with_status(&folder, &["check", "sitemap.xml"], 0), "");
}

#[test]
fn a_permissive_robots_txt_that_names_the_set_causes_no_finding() {
    let folder = site("User-agent: *\nDisallow:\n\nSitemap: https://e.com/sitemap.xml\n");
    let with = run(&folder, &["check", "sitemap.xml", "--all"]);
    let without = run(&folder, &["check", "sitemap.xml", "--all", "--no-robots"]);
    assert_eq!((stdout(&with), stderr(&with)), (stdout(&without), stderr(&without)));
    assert_eq!((with.status.code(), stdout(&with).as_str()), (Some(0), ""));
}

#[test]
fn an_option_selects_another_robots_txt() {
    let folder = site("");
    folder.write("next/robots.txt", "User-agent: Bingbot\nDisallow: /b\n");
    let arguments = ["check", "sitemap.xml", "--robots", "next/robots.txt", "--rule", "site-*", "--all"];
    let found = run_with_status(&folder, &arguments, 0);
    let expected = "sitemap.xml:6:12: warning[site-blocked-by-robots]: line 2 of next/robots.txt forbids Bingbot to fetch \
                    the URL (User-agent: Bingbot)\n";
    assert_eq!(found, expected);
    assert!(
        run_with_status(&folder, &[&arguments[..], &["--profile", "bing"]].concat(), 1)
            .contains("error[site-blocked-by-robots]")
    );
    assert_eq!(run_with_status(&folder, &[&arguments[..], &["--profile", "google"]].concat(), 0), "");
    run_with_status(&folder, &["check", "sitemap.xml", "--robots", "missing.txt"], 3);
    run_with_status(&folder, &["check", "sitemap.xml", "--robots", "next/robots.txt", "--no-robots"], 2);
}

#[test]
fn sitemap_lines_are_compared_with_the_set() {
    let findings = |robots: &str, arguments: &[&str]| {
        let folder = site(robots);
        let command = [&["check", "sitemap.xml", "--all", "--rule", "robots-*"], arguments].concat();
        run_with_status(&folder, &command, 0)
    };
    let named = "Sitemap: https://e.com/sitemap.xml\n";
    assert_eq!(findings(named, &[]), "");
    assert_eq!(findings(named, &["--base-url", "https://E.com/"]), "");
    let missing = findings("User-agent: *\nDisallow:\n", &[]);
    assert!(
        missing.contains("note[robots-sitemap-missing]: no Sitemap: line of robots.txt names sitemap.xml:"),
        "{missing}"
    );
    // The file name is the same, but the folder differs.
    let elsewhere = findings(named, &["--base-url", "https://e.com/shop/"]);
    assert!(elsewhere.contains("names https://e.com/shop/sitemap.xml: crawlers find it only if"), "{elsewhere}");
    let other = findings(&format!("{named}Sitemap: https://e.com/old.xml\nSitemap: /relative.xml\n"), &[]);
    assert_eq!(other.lines().count(), 2, "{other}");
    assert!(
        other.contains("note[robots-sitemap-other]: line 2 of robots.txt names https://e.com/old.xml, which is not in")
    );
    assert!(other.contains("line 3 of robots.txt names /relative.xml, which is not a complete URL"), "{other}");
    // A single file may belong to a set whose index is named.
    let part = findings("Sitemap: https://e.com/sitemap_index.xml\n", &[]);
    assert!(part.contains("robots-sitemap-missing") && !part.contains("robots-sitemap-other"), "{part}");
}

#[test]
fn robots_txt_names_the_index_or_all_of_its_files() {
    let folder = site("");
    let index = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
        <sitemap><loc>https://e.com/sitemap.xml</loc></sitemap>\n<sitemap><loc>https://e.com/b.xml</loc></sitemap>\n\
        </sitemapindex>\n";
    folder.write("sitemap_index.xml", index);
    folder.write("b.xml", format!("{HEAD} <url><loc>https://e.com/c</loc></url>\n</urlset>\n"));
    let arguments = ["check", "sitemap_index.xml", "--all", "--rule", "robots-*"];
    for (robots, codes) in [
        ("Sitemap: https://e.com/sitemap_index.xml\n", &[][..]),
        ("Sitemap: https://e.com/sitemap.xml\nSitemap: https://e.com/b.xml\n", &[]),
        ("Sitemap: https://e.com/b.xml\n", &["robots-sitemap-missing"]),
        ("Sitemap: https://e.com/x.xml\n", &["robots-sitemap-missing", "robots-sitemap-other"]),
    ] {
        folder.write("robots.txt", robots);
        let resident = run_with_status(&folder, &arguments, 0);
        assert_eq!(resident.lines().count(), codes.len(), "{robots}{resident}");
        assert!(codes.iter().all(|code| resident.contains(code)), "{robots}{resident}");
        // A streamed set has the same findings.
        let streamed = Command::new(program())
            .args(arguments)
            .envs(environment(folder.path()))
            .env("SITED_TEST_HELD", "1")
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(stdout(&streamed), resident, "{robots}");
    }
}

#[test]
fn a_hostile_robots_txt_is_checked_in_a_short_time() {
    // One pattern would make a backtracking matcher try 2^40 paths; another line contains an escape sequence.
    let stars = "*a".repeat(4_000);
    let robots = format!(
        "User-agent: *\nDisallow: /{stars}$\nDisallow: /{stars}b$\n\
         Sitemap: https://e.com/sitemap.xml\nSitemap: https://e.com/\u{1b}[31m.xml\n\
         Sitemap: ../../../etc/passwd\n\u{0}\u{ff}\n{}",
        "Disallow: /*?*&*=*.php$\n".repeat(5_000)
    );
    let folder = site(&robots);
    let long = "a".repeat(1_900);
    folder.write("sitemap.xml", format!("{HEAD} <url><loc>https://e.com/{long}</loc></url>\n</urlset>\n"));
    let output = run(&folder, &["check", "sitemap.xml", "--all"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(!stdout(&output).contains('\u{1b}') && stdout(&output).contains("robots-sitemap-other"));
}
