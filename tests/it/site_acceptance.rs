//! Acceptance test: the recipe of the manual corrects a sitemap of 2,000 pages with wrong rows.

use crate::support::server::{Reply, Seen, Server};
use crate::support::{Folder, environment, program, run, stderr, stdout};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const PAGES: u32 = 2_000;
const MODIFIED: &str = "2026-03-10T17:33:30Z";

/// The kind of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    /// The page does not exist (404); 3 % of the pages.
    Missing,
    /// Redirects to a page that the sitemap does not list; 2 %.
    Moved,
    /// Redirects to a page that the sitemap lists; 2 %.
    Merged,
    /// Excluded from search; 2 %.
    Noindex,
    /// Has another page as its canonical URL; 2 %.
    Copy,
    /// In a section that robots.txt forbids; 2 %.
    Blocked,
    /// One of two language versions; 4 %.
    Version,
    Plain,
}

impl Page {
    fn of(number: u32) -> Self {
        match number % 100 {
            0..3 => Self::Missing,
            3..5 => Self::Moved,
            5..7 => Self::Merged,
            7..9 => Self::Noindex,
            9..11 => Self::Copy,
            11..13 => Self::Blocked,
            13..17 => Self::Version,
            _ => Self::Plain,
        }
    }
}

fn path(number: u32) -> String {
    let section = if Page::of(number) == Page::Blocked { "private" } else { "p" };
    format!("/{section}/{number}")
}

/// The language versions of a page: the odd number is English, the next one German.
fn versions(number: u32) -> [(&'static str, String); 2] {
    let english = number - (number + 1) % 2;
    [("en", path(english)), ("de", path(english + 1))]
}

fn reply(seen: &Seen) -> Reply {
    if seen.path == "/robots.txt" {
        return Reply::text("User-agent: *\nDisallow: /private/\n");
    }
    let number: u32 = seen.path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or_default();
    let page = |head: &str| {
        Reply::html(&format!("<title>Page {number}</title>{head}"))
            .with("Last-Modified", "Tue, 10 Mar 2026 17:33:30 GMT")
    };
    if seen.path.starts_with("/moved/") {
        return page("");
    }
    match Page::of(number) {
        Page::Missing => Reply::status(404),
        Page::Moved => Reply::redirect(301, &format!("/moved/{number}")),
        Page::Merged => Reply::redirect(301, &path(number + 10)),
        Page::Noindex => page("<meta name=robots content=noindex>"),
        Page::Copy => page(&format!("<link rel=canonical href={}>", path(number + 10))),
        Page::Version => {
            let links =
                versions(number).map(|(code, path)| format!("<link rel=alternate hreflang={code} href={path}>"));
            page(&links.concat())
        }
        Page::Blocked | Page::Plain => page(""),
    }
}

/// The lastmod of a row: every second row has an outdated date.
const fn lastmod(number: u32) -> &'static str {
    if number.is_multiple_of(2) { "2026-01-01" } else { "" }
}

fn sitemap(server: &Server) -> String {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
                    xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\n"
            .to_owned();
    for number in 0..PAGES {
        write!(text, "<url><loc>{}</loc>", server.url(&path(number))).unwrap();
        if !lastmod(number).is_empty() {
            write!(text, "<lastmod>{}</lastmod>", lastmod(number)).unwrap();
        }
        if Page::of(number) == Page::Version {
            for (code, path) in versions(number) {
                let url = server.url(&path);
                write!(text, "<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"{url}\"/>").unwrap();
            }
        }
        text.push_str("</url>\n");
    }
    text + "</urlset>\n"
}

/// The expected rows of the corrected set, as CSV.
fn expected_csv(server: &Server) -> String {
    let mut text = "loc,lastmod\n".to_owned();
    for number in 0..PAGES {
        match Page::of(number) {
            Page::Missing | Page::Merged | Page::Noindex | Page::Copy | Page::Blocked => {}
            Page::Moved => {
                writeln!(text, "{},{MODIFIED}", server.url(&format!("/moved/{number}"))).unwrap();
            }
            Page::Version | Page::Plain => writeln!(text, "{},{MODIFIED}", server.url(&path(number))).unwrap(),
        }
    }
    text
}

/// The recipe of the manual.
fn recipe() -> String {
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manual/pipelines.md")).unwrap();
    let blocks = manual.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let mut found: Vec<&str> = blocks.filter(|block| block.contains("sited probe public/")).collect();
    assert_eq!(found.len(), 1);
    let recipe = found.pop().unwrap().to_owned();
    assert_eq!(recipe.lines().count(), 5, "{recipe}");
    recipe
}

/// Runs a script in the folder, in which `sited probe` is allowed to access loopback addresses without a rate limit.
fn shell(folder: &Folder, script: &str) {
    let bin = folder.file(".home/bin");
    fs::create_dir_all(&bin).unwrap();
    let program = program();
    let wrapper = format!(
        "#!/bin/sh\nif [ \"$1\" = probe ]; then exec '{0}' \"$@\" --allow-private --rate 0 --concurrency 16; fi\nexec '{0}' \"$@\"\n",
        program.display()
    );
    fs::write(bin.join("sited"), wrapper).unwrap();
    fs::set_permissions(bin.join("sited"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(folder.path()).env_clear();
    let output = command.envs(environment(folder.path())).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{script}\n{}{}", stdout(&output), stderr(&output));
}

#[test]
fn five_commands_correct_a_sitemap_from_probe_results() {
    let server = Server::start(reply);
    let folder = Folder::new();
    folder.write("public/sitemap.xml", sitemap(&server));
    shell(&folder, &recipe());
    let wrong = folder.text("wrong.csv");
    // The header, and the rows: missing, redirects, noindex, canonical elsewhere, blocked.
    assert_eq!(wrong.lines().count(), 1 + 60 + 80 + 40 + 40 + 40, "{wrong}");
    let requested = server.paths();
    // Each page and each target of a redirect is requested once, but no page that robots.txt forbids.
    assert!(requested.iter().all(|path| !path.starts_with("/private/")));
    assert_eq!(requested.len() as u32, PAGES - 40 + 80);
    let listed = run(&folder, &["list", "public/", "--format", "csv", "--columns", "loc,lastmod"]);
    assert_eq!(stdout(&listed), expected_csv(&server));
    // A second probe has no findings.
    shell(
        &folder,
        "sited probe public/ -o again.jsonl\nsited check public/ --data again.jsonl --rule 'site-*' --fail-on warning",
    );
}

/// The results of several machines are concatenated to one table.
#[test]
fn parts_are_probed_separately_and_their_results_concatenated() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/robots.txt" | "/d" => Reply::status(404),
        "/b" => Reply::redirect(301, "/c"),
        _ => Reply::html("<title>page</title>"),
    });
    let folder = Folder::new();
    for (name, paths) in [("sitemap-1.xml", ["/a", "/b"]), ("sitemap-2.xml", ["/d", "/e"])] {
        let rows = paths.map(|path| format!("<url><loc>{}</loc></url>\n", server.url(path))).concat();
        folder
            .write(name, format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n"));
    }
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manual/pipelines.md")).unwrap();
    let mut blocks = manual.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let recipe = blocks.find(|block| block.contains("site-2.jsonl")).unwrap();
    assert_eq!(recipe.lines().count(), 5, "{recipe}");
    shell(&folder, &recipe.replace(" --rate 1 ", " "));
    assert_eq!(folder.text("site.jsonl").lines().count(), 4);
    let wrong = folder.text("wrong.csv");
    assert_eq!(wrong, format!("loc,@status,@final\n{0}/b,301,{0}/c\n{0}/d,404,{0}/d\n", server.url("")));
    let listed = run(&folder, &["list", "."]);
    assert_eq!(stdout(&listed), ["/a", "/c", "/d", "/e"].map(|path| format!("{}\n", server.url(path))).concat());
}
