//! Tests of probes on the screen with a server on loopback.

use super::bench::Bench;
use crate::net::test_server::{Reply, Server};
use crate::protocol::Field;
use crate::tui::app::Event;
use crate::tui::jobs::Kind;

/// A site with a page, a missing page and a redirect.
fn server() -> Server {
    Server::start(|seen| match seen.path.as_str() {
        "/" | "/new" => Reply::html("<title>Home</title>").with("Last-Modified", "Tue, 10 Mar 2026 17:33:30 GMT"),
        "/old" => Reply::status(301).with("Location", "/new"),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private\n"),
        _ => Reply::status(404),
    })
}

/// The sitemap of the site, with a URL of another host.
fn sitemap(server: &Server) -> String {
    let url = |loc: String| format!("<url><loc>{loc}</loc></url>\n");
    let own: String = ["/", "/old", "/gone", "/private"].map(|path| url(server.url(path))).concat();
    let other = url("https://other.example/".to_owned());
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{own}{other}</urlset>\n")
}

/// The number of requests for a path.
fn asked(server: &Server, path: &str) -> usize {
    server.log().iter().filter(|seen| seen.path == path).count()
}

#[test]
fn a_loopback_server_that_is_the_base_url_is_requested() {
    let server = server();
    let mut bench = Bench::file(&sitemap(&server));
    bench.keys(":").paste(&format!("set-base-url {}", server.url("/"))).keys("<enter>:probe<enter>");
    assert!(bench.message().starts_with("4 URLs asked: 2xx 1, 3xx 1"), "{}", bench.message());
}

#[test]
fn responses_of_the_site_become_columns_and_findings() {
    let server = server();
    let mut bench = Bench::file(&sitemap(&server));
    bench.keys(":probe<enter>");
    bench.shows("127.0.0.1 is a loopback address; nothing was sent; :probe --allow-private allows it");
    assert!(server.log().is_empty());
    bench.keys(":probe --allow-private<enter>");
    let message = bench.message();
    assert!(message.starts_with("4 URLs asked: 2xx 1, 3xx 1, 4xx 1, blocked by robots.txt 1"), "{message}");
    assert!(message.ends_with("; 1 URL of other hosts not requested"), "{message}");
    bench.shows("@status");
    for rule in ["site-not-found", "site-redirect", "site-blocked-by-robots"] {
        bench.shows(rule);
    }
    bench.keys(":filter @status=404<enter>");
    assert_eq!(bench.cells(Field::Loc), [server.url("/gone")]);
    // URLs with a response are not requested again.
    bench.keys("<esc>:probe --allow-private<enter>");
    assert!(bench.message().starts_with("every URL has an answer already"), "{}", bench.message());
    assert_eq!(asked(&server, "/gone"), 1);
    // Deleting rows removes their findings, and undo restores them.
    bench.keys(":delete where rule:site-redirect<enter>");
    assert!(!bench.screen().contains("site-redirect"), "{}", bench.screen());
    bench.keys("u");
    bench.shows("site-redirect");
    // Only the new row is requested.
    let url = server.url("/new");
    bench.keys("o").paste(&url).keys("<enter>:probe --allow-private<enter>");
    assert!(bench.message().starts_with("1 URL asked: 2xx 1"), "{}", bench.message());
}

#[test]
fn a_row_changed_to_the_final_url_keeps_its_response() {
    let server = server();
    let mut bench = Bench::file(&sitemap(&server));
    bench.keys(":probe --allow-private<enter>:%fix site-redirect<enter>");
    assert!(!bench.screen().contains("✗ 1 site-redirect"), "{}", bench.screen());
    bench.keys(":filter @status=200<enter>");
    assert_eq!(bench.cells(Field::Loc), [server.url("/"), server.url("/new")]);
    bench.keys(":%set lastmod=@modified<enter>");
    assert_eq!(bench.cells(Field::Lastmod), ["2026-03-10T17:33:30Z", "2026-03-10T17:33:30Z"]);
}

#[test]
fn responses_are_written_and_read_again() {
    let server = server();
    let mut bench = Bench::file(&sitemap(&server));
    let path = bench.path().with_file_name("site.jsonl");
    bench.keys(":probe write x.jsonl<enter>");
    bench.shows("no results yet");
    bench.keys(":probe --allow-private where loc:gone or loc:old<enter>");
    bench.keys(":").paste(&format!("probe write {}", path.display())).keys("<enter>");
    assert!(bench.message().starts_with("2 answers written to"), "{}", bench.message());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2);
    bench.keys(":").paste(&format!("probe write {}", path.display())).keys("<enter>");
    bench.shows("exists");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // These responses are in a file, the next one is not.
    bench.keys(":probe --allow-private<enter>q");
    assert_eq!(bench.status, None);
    bench.shows("2 answers of :probe not written to a file");
    bench.shows(":probe write FILE writes the answers");
    bench.keys("<enter>");
    // Saving the set does not save responses.
    for keys in ["tqs", "tZZ"] {
        bench.keys(keys);
        assert_eq!(bench.status, None, "{keys}");
        bench.shows("2 answers of :probe not written to a file");
        bench.keys("<enter>");
    }
    bench.keys(":").paste(&format!("probe write {}.2", path.display())).keys("<enter>");
    bench.keys(":data off<enter>");
    bench.keys(":").paste(&format!("data {}", path.display())).keys("<enter>:filter @status=404<enter>");
    assert_eq!(bench.cells(Field::Loc), [server.url("/gone")]);
    bench.keys("q");
    assert_eq!(bench.status, Some(0), "all of them are in a file");
}

#[test]
fn responses_that_arrive_during_a_change_are_checked() {
    let server = server();
    let mut bench = Bench::file(&sitemap(&server));
    bench.hold = Some(Kind::Probe);
    bench.keys(":probe --allow-private<enter>");
    bench.shows("looking up the site");
    bench.keys(":set priority=0.8 where loc:gone<enter>:delete where loc:private<enter>");
    bench.release_jobs();
    bench.shows("site-not-found");
    bench.shows("site-redirect");
    // Undo and redo of steps that are older than the responses check the rows against them.
    let broken = |bench: &Bench| bench.app.shared.session.counts().by_rule();
    let found = broken(&bench);
    bench.keys("u");
    bench.shows("site-blocked-by-robots");
    bench.keys("u");
    bench.shows("site-not-found");
    bench.keys("<c-r><c-r>");
    assert_eq!(broken(&bench), found);
    // The findings are the same as those of a full check.
    let data = bench.app.shared.session.view().data.clone();
    bench.app.shared.session.set_site(None, None);
    bench.app.shared.session.set_site(data, None);
    assert_eq!(broken(&bench), found);
}

#[test]
fn responses_are_held_while_a_change_is_computed() {
    let server = server();
    let mut bench = Bench::file(&sitemap(&server));
    bench.app.shared.jobs.set_reading(Kind::Edit, crate::progress::Reading::default());
    bench.keys(":probe --allow-private<enter>");
    assert!(bench.app.shared.session.view().data.is_none());
    bench.app.shared.jobs.job_ended(Kind::Edit);
    bench.send(Event::Focus);
    assert!(bench.app.shared.session.view().data.is_some());
    bench.shows("site-not-found");
}

#[test]
fn a_probe_is_paused_and_continued() {
    let server = server();
    let mut bench = Bench::file(&sitemap(&server));
    bench.hold = Some(Kind::Probe);
    bench.keys(":probe --allow-private<enter>");
    bench.shows("probing the site…, Esc pauses");
    bench.keys(":data off<enter>");
    bench.shows("a probe is running; Esc pauses it");
    bench.keys("<esc>");
    bench.shows("pausing: waiting for the last answers; results so far are kept");
    bench.keys(":probe --allow-private<enter>");
    bench.shows("the last requests are still being answered");
    bench.release_jobs();
    bench.shows("nothing was asked");
    bench.keys(":probe --allow-private<enter>");
    assert!(bench.message().starts_with("4 URLs asked"), "{}", bench.message());
}

#[test]
fn only_rows_with_new_responses_are_checked() {
    let server = server();
    let rows: String =
        (0..3_000).map(|n| server.url(&format!("/{n}"))).collect::<Vec<_>>().join("</loc></url><url><loc>");
    let mut bench = Bench::file(&format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{rows}</loc></url></urlset>\n"
    ));
    bench.keys(":probe --allow-private where path=/7<enter>");
    assert!(bench.message().starts_with("1 URL asked"), "{}", bench.message());
    let data = bench.app.shared.session.view().data.clone().unwrap();
    let urls = [server.url("/7")];
    let work = crate::progress::work::here(|| {
        crate::session::data::take_answers(&mut bench.app.shared.session, data, &urls);
    });
    assert!(work < 100, "{work}");
}

/// A site of 100 pages whose sitemap is wrong about some of them.
fn wrong_site() -> Server {
    Server::start(|seen| {
        let base = format!("http://{}", seen.header("host").unwrap_or_default());
        let number: Option<u32> = seen.path.strip_prefix("/p/").and_then(|number| number.parse().ok());
        let page = || Reply::html("<title>Page</title>").with("Last-Modified", "Tue, 10 Mar 2026 17:33:30 GMT");
        match (seen.path.as_str(), number) {
            ("/robots.txt", _) => Reply::text(&format!("User-agent: *\nSitemap: {base}/sitemap.xml\n")),
            ("/sitemap.xml", _) => {
                let url =
                    |number: u32| format!("<url><loc>{base}/p/{number}</loc><lastmod>2026-01-01</lastmod></url>\n");
                let urls: String = (0..100).map(url).collect();
                Reply::text(&format!(
                    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n"
                ))
            }
            (_, Some(0..3)) => Reply::status(404),
            (_, Some(number @ 3..5)) => Reply::status(301).with("Location", &format!("/moved/{number}")),
            (_, Some(5..7)) => Reply::status(301).with("Location", "/p/20"),
            _ => page(),
        }
    })
}

#[test]
fn a_sitemap_is_fixed_from_a_probe_of_its_site() {
    let server = wrong_site();
    let mut bench = Bench::file(&sitemap(&server));
    let folder = bench.path().with_file_name("site");
    bench.keys(":").paste(&format!("open {} --into {}", server.url("/"), folder.display())).keys("<enter>");
    assert_eq!(bench.cells(Field::Loc).len().min(20), 20);
    bench.keys(":probe --rate 0 --concurrency 2<enter>");
    assert!(bench.message().starts_with("100 URLs asked: 2xx 93, 3xx 4, 4xx 3"), "{}", bench.message());
    assert!(server.most_at_a_time() <= 2);
    bench.keys(":filter @status<gt>=300<enter>");
    bench.shows("7 shown");
    // The fix is previewed before it is applied.
    bench.keys(":%fix site-redirect");
    bench.shows("4 changes");
    bench.shows("/moved/3");
    assert!(!bench.screen().contains("modified"), "{}", bench.screen());
    bench.keys("<enter>:delete where @status=404<enter>");
    bench.keys(":set lastmod=@modified where @status=200<enter><esc>");
    bench.keys(":write<enter>");
    bench.shows("saved");
    let text = std::fs::read_to_string(folder.join("sitemap.xml")).unwrap();
    let url =
        |path: String| format!("<url><loc>{}</loc><lastmod>2026-03-10T17:33:30Z</lastmod></url>\n", server.url(&path));
    let moved: String = (3..5).map(|number| url(format!("/moved/{number}"))).collect();
    let pages: String = (7..100).map(|number| url(format!("/p/{number}"))).collect();
    assert_eq!(
        text,
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{moved}{pages}</urlset>\n")
    );
}
