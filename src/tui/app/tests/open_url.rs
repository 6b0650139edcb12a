//! Tests of `:open URL` with a server on loopback.

use super::bench::{Bench, SMALL};
use crate::net::test_server::{Reply, Server};
use crate::tui::app::modes::Mode;
use crate::tui::jobs::Kind;

/// A site with one sitemap, and a robots.txt that names it and blocks one of its pages.
fn server() -> Server {
    Server::start(|seen| {
        let base = format!("http://{}", seen.header("host").unwrap_or_default());
        match seen.path.as_str() {
            "/robots.txt" => Reply::text(&format!("User-agent: *\nDisallow: /private\nSitemap: {base}/sitemap.xml\n")),
            "/sitemap.xml" => {
                let url = |path: &str| format!("<url><loc>{base}{path}</loc></url>\n");
                let urls = url("/") + &url("/private");
                Reply::text(&format!(
                    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n"
                ))
            }
            "/" => Reply::html("<title>Home</title>"),
            _ => Reply::status(404),
        }
    })
}

#[test]
fn a_site_is_downloaded_into_the_requested_folder_and_opened() {
    let server = server();
    let mut bench = Bench::file(SMALL);
    let folder = bench.path().with_file_name("site");
    bench.keys(":open nonsense<enter>");
    assert!(bench.message().contains("nonsense: expected a URL with http:// or https://"), "{}", bench.message());
    // Without a folder, the command line suggests one.
    bench.keys(":").paste(&format!("open {}", server.url("/"))).keys("<enter>");
    bench.shows(&format!("open {} --into 127.0.0.1", server.url("/")));
    for _ in 0.."127.0.0.1".len() {
        bench.keys("<bs>");
    }
    bench.hold = Some(Kind::Download);
    bench.paste(&folder.display().to_string()).keys("<enter>");
    bench.shows("downloading 0 of 0 files…, Esc stops");
    assert_eq!(bench.paths().len(), 4, "the set stays open meanwhile");
    bench.release_jobs();
    assert_eq!(bench.paths(), [server.url("/"), server.url("/private")]);
    bench.shows("site/sitemap.xml");
    assert_eq!(bench.app.shared.session.base_url(), Some(&*server.url("/")));
    bench.shows("site-blocked-by-robots");
    // The user has named the server, so requests to it are allowed.
    bench.keys(":probe<enter>");
    assert!(bench.message().starts_with("2 URLs asked: 2xx 1, blocked by robots.txt 1"), "{}", bench.message());
}

#[test]
fn several_indexes_of_a_site_are_opened_together() {
    let server = Server::start(|seen| {
        let base = format!("http://{}", seen.header("host").unwrap_or_default());
        let list = |names: &[&str]| {
            let entry = |name: &&str| format!("<sitemap><loc>{base}/{name}</loc></sitemap>\n");
            let entries = names.iter().map(entry).collect::<Vec<_>>().concat();
            Reply::text(&format!(
                "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</sitemapindex>\n"
            ))
        };
        match seen.path.as_str() {
            "/robots.txt" => Reply::text(&format!("Sitemap: {base}/pages.xml\nSitemap: {base}/news.xml\n")),
            "/pages.xml" => list(&["a.xml", "b.xml"]),
            "/news.xml" => list(&["c.xml"]),
            path => Reply::text(&format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{base}{path}</loc></url></urlset>\n"
            )),
        }
    });
    let mut bench = Bench::file(SMALL);
    let folder = bench.path().with_file_name("site");
    bench.keys(":").paste(&format!("open {} --into {}", server.url("/"), folder.display())).keys("<enter>");
    assert_eq!(bench.paths(), ["/a.xml", "/b.xml", "/c.xml"].map(|path| server.url(path)), "{}", bench.message());
    let index = bench.app.shared.session.document().index().expect("an index");
    assert_eq!(index.files().count(), 2);
}

/// A pasted line can be executed before the folder for its completion has been listed.
#[test]
fn a_pending_completion_list_does_not_prevent_opening_a_site() {
    let server = server();
    let mut bench = Bench::file(SMALL);
    let folder = bench.path().with_file_name("site");
    bench.hold = Some(Kind::List);
    bench.keys(":").paste(&format!("open {} --into {}", server.url("/"), folder.display())).keys("<enter>");
    assert_eq!(bench.paths(), [server.url("/"), server.url("/private")], "{}", bench.message());
}

#[test]
fn opening_a_site_with_unsaved_changes_is_refused() {
    let server = server();
    let mut bench = Bench::file(SMALL);
    let folder = bench.path().with_file_name("site");
    let open = |bang: &str| format!("open{bang} {} --into {}", server.url("/"), folder.display());
    bench.keys("t:").paste(&open("")).keys("<enter>");
    assert_eq!(bench.message(), "there are unsaved changes; :open! drops them, :write saves them");
    assert!(!folder.exists() && server.log().is_empty());
    // Changes that are made while the files are downloaded are kept too.
    bench.keys("u");
    bench.hold = Some(Kind::Download);
    bench.keys(":").paste(&open("")).keys("<enter>jt");
    bench.release_jobs();
    assert!(
        bench.message().contains("not opened, because this set was changed meanwhile: sited "),
        "{}",
        bench.message()
    );
    assert_eq!(bench.paths().len(), 4);
    bench.keys(":").paste(&open("!")).keys("<enter>");
    assert_eq!(bench.paths().len(), 2);
    assert_eq!(bench.on_disk(), SMALL);
}

#[test]
fn a_download_can_be_cancelled_and_an_empty_one_reports_the_reason() {
    let server = server();
    let mut bench = Bench::file(SMALL);
    let folder = bench.path().with_file_name("site");
    bench.hold = Some(Kind::Download);
    bench.keys(":").paste(&format!("open {} --into {}", server.url("/"), folder.display())).keys("<enter><esc>");
    bench.release_jobs();
    assert!(bench.message().starts_with("the download was stopped"), "{}", bench.message());
    assert_eq!(bench.paths().len(), 4);
    bench.keys(":").paste(&format!("open {} --into {}", server.url("/gone.xml"), folder.display())).keys("<enter>");
    assert!(bench.message().contains("no sitemap was downloaded"), "{}", bench.message());
    assert!(bench.message().contains("404"), "{}", bench.message());
    assert!(matches!(bench.app.modes.current(), Mode::Table));
    assert_eq!(bench.paths().len(), 4);
}
