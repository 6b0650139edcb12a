//! Tests of `sited get` against hostile servers: each attack causes a finding and no file.

use super::{files, get, gzip, index, site, sited, url_on_host, urlset, xml};
use crate::support::Folder;
use crate::support::server::{Fault, Reply, Seen, Server};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A sitemap padded with spaces to this number of bytes.
fn padded_sitemap(bytes: usize) -> Vec<u8> {
    let mut body = urlset("https://e.com/a").into_bytes();
    body.resize(bytes, b' ');
    body
}

/// The response of a hostile server, and the code of the expected finding.
fn hostile_reply(seen: &Seen) -> (Reply, &'static str) {
    let sitemap = urlset("https://e.com/a");
    let packed = gzip(sitemap.as_bytes());
    let half = packed[..packed.len() / 2].to_vec();
    let coded = |body: Vec<u8>, coding: &str| xml(body).with("Content-Encoding", coding);
    let hops = seen.path.strip_prefix("/chain/").and_then(|hops| hops.parse::<u32>().ok());
    if let Some(hops) = hops {
        return (Reply::redirect(302, &format!("/chain/{}", hops + 1)), "http-redirect");
    }
    match seen.path.as_str() {
        "/endless.xml" => (xml(padded_sitemap(60_000)).failing(Fault::Endless), "http-too-large"),
        "/large.xml" => (xml(padded_sitemap(100_001)), "http-too-large"),
        "/bomb.xml" => (coded(gzip(&padded_sitemap(10_000_000)), "gzip"), "http-too-large"),
        "/bomb.xml.gz" => (xml(gzip(&padded_sitemap(10_000_000))), "http-too-large"),
        "/many-members.xml" => (coded(gzip(b""), "gzip").failing(Fault::Endless), "http-too-large"),
        "/drip.xml" => (xml(sitemap).failing(Fault::Drip), "http-no-answer"),
        "/hang.xml" => (xml(sitemap).failing(Fault::Hang), "http-no-answer"),
        "/cut.xml" => (xml(sitemap).failing(Fault::Cut), "http-no-answer"),
        "/reset.xml" => (xml(sitemap).failing(Fault::Reset), "http-no-answer"),
        "/short.xml" => (xml(sitemap).failing(Fault::Short(10)), "http-no-answer"),
        "/half.xml" => (coded(half, "gzip"), "http-encoding"),
        "/half.xml.gz" => (xml(half), "http-encoding"),
        "/half-closed.xml.gz" => (xml(half).failing(Fault::Unsized), "http-encoding"),
        "/no-gzip.xml" => (coded(sitemap.into_bytes(), "gzip"), "http-encoding"),
        "/brotli.xml" => (coded(sitemap.into_bytes(), "br"), "http-encoding"),
        "/page.xml" => (Reply::html("<title>Not found</title>"), "http-content-type"),
        "/empty.xml" => (xml(""), "http-content-type"),
        "/zip.xml" => (xml("PK\x03\x04 and so on"), "http-content-type"),
        "/other.xml" => (xml("<?xml version='1.0'?><html/>"), "http-content-type"),
        "/missing.xml" => (Reply::status(404), "http-status"),
        "/forbidden.xml" => (Reply::status(403), "http-status"),
        "/failed.xml" => (Reply::status(500), "http-status"),
        "/nothing.xml" => (Reply::status(204), "http-status"),
        "/part.xml" => (Reply { status: 206, ..xml(sitemap) }, "http-status"),
        "/unasked.xml" => (Reply::status(304), "http-status"),
        "/nowhere.xml" => (Reply::status(302), "http-status"),
        "/loop.xml" => (Reply::redirect(301, "/loop.xml"), "http-redirect"),
        "/ping.xml" => (Reply::redirect(301, "/pong.xml"), "http-redirect"),
        "/pong.xml" => (Reply::redirect(301, "/ping.xml"), "http-redirect"),
        "/file.xml" => (Reply::redirect(302, "file:///etc/passwd"), "http-redirect"),
        "/away.xml" => (Reply::redirect(302, "http://other.test/a.xml"), "http-other-host"),
        "/metadata.xml" => (Reply::redirect(302, "http://169.254.169.254/latest/"), "http-other-host"),
        "/escape.xml" => (Reply::redirect(302, "http://other.test/\u{1b}]0;x\u{7}"), "http-no-answer"),
        _ => (xml(sitemap), ""),
    }
}

/// The paths of all hostile responses.
const HOSTILE: [&str; 33] = [
    "/endless.xml",
    "/large.xml",
    "/bomb.xml",
    "/bomb.xml.gz",
    "/many-members.xml",
    "/drip.xml",
    "/hang.xml",
    "/cut.xml",
    "/reset.xml",
    "/short.xml",
    "/half.xml",
    "/half.xml.gz",
    "/half-closed.xml.gz",
    "/no-gzip.xml",
    "/brotli.xml",
    "/page.xml",
    "/empty.xml",
    "/zip.xml",
    "/other.xml",
    "/missing.xml",
    "/forbidden.xml",
    "/failed.xml",
    "/nothing.xml",
    "/part.xml",
    "/unasked.xml",
    "/nowhere.xml",
    "/loop.xml",
    "/ping.xml",
    "/file.xml",
    "/away.xml",
    "/metadata.xml",
    "/escape.xml",
    "/chain/1",
];

/// Options with low limits, which are reached soon.
const LOW_LIMITS: [&str; 6] = ["--max-bytes", "100000", "--timeout", "1", "--max-time", "20"];

#[test]
fn a_hostile_response_causes_a_finding_and_no_file() {
    let (server, folder) = (Server::start(|seen| hostile_reply(seen).0), Folder::new());
    for path in HOSTILE {
        let request = Seen {
            path: path.to_owned(),
            method: String::new(),
            headers: Vec::new(),
            at: std::time::Instant::now(),
            body: Vec::new(),
        };
        let code = hostile_reply(&request).1;
        let (status, out, notes) = get(&folder, &server.url(path), &LOW_LIMITS);
        assert_eq!(status, Some(3), "{path}: {out}{notes}");
        assert!(
            out.starts_with(&server.url("")) && out.contains(&format!(": error[{code}]: ")),
            "{path}: {out}{notes}"
        );
        assert!(out.lines().count() == 1 && !out.contains('\u{1b}'), "{path}: {out:?}");
        assert!(notes.contains("no sitemap was downloaded"), "{path}: {notes}");
        assert!(files(&folder.path().join("127.0.0.1")).is_empty(), "{path}");
    }
    // A body within the limit is accepted, also without a length.
    for (path, reply) in [
        ("/fits.xml", xml(padded_sitemap(100_000))),
        ("/fits.xml.gz", xml(gzip(&padded_sitemap(100_000))).failing(Fault::Unsized)),
    ] {
        let server = Server::start(move |_| reply.clone());
        let (status, out, notes) = get(&folder, &server.url(path), &LOW_LIMITS);
        assert_eq!((status, out.as_str()), (Some(0), ""), "{path}: {notes}");
    }
}

#[test]
fn hostile_children_do_not_prevent_the_download_of_the_others() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/index.xml" => {
            let good = (0..5).map(|number| format!("/good-{number}.xml"));
            let paths = HOSTILE.iter().map(|path| (*path).to_owned()).filter(|path| path != "/failed.xml").chain(good);
            xml(index(&paths.map(|path| url_on_host(seen, &path)).collect::<Vec<_>>()))
        }
        _ => hostile_reply(seen).0,
    });
    let folder = Folder::new();
    let (status, out, notes) = get(&folder, &server.url("/index.xml"), &LOW_LIMITS);
    assert_eq!(status, Some(1), "{out}{notes}");
    assert_eq!(out.matches(": error[http-").count(), HOSTILE.len() - 1, "{out}");
    let names = files(&folder.path().join("127.0.0.1"));
    assert_eq!(names, ["good-0.xml", "good-1.xml", "good-2.xml", "good-3.xml", "good-4.xml", "index.xml"]);
    assert!(server.log().iter().all(|seen| !seen.path.contains("latest")));
}

#[test]
fn no_entry_of_an_index_writes_outside_the_folder() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/a/index.xml" => {
            let paths = [
                "/../../up.xml",
                "/%2e%2e/%2e%2e/up.xml",
                "/..%2f..%2fup.xml",
                "/a/..%5c..%5cup.xml",
                "/a/x%00.xml",
                "//etc/up.xml",
                "/a/.git/config",
                "/a/.sited-get.jsonl",
                "/a/con.xml",
                "/a/%1b%5b31m.xml",
                "/a/A.xml",
                "/a/a.xml",
                "/a/",
                "/a/list.php?id=1",
                "/a/list.php?id=2",
                "/a/x.xml/y.xml",
                "/a/x.xml",
            ];
            let long = format!("/a/{}.xml", "x".repeat(2_000));
            let deep = format!("/a/{}up.xml", "d/".repeat(100));
            let paths = paths
                .iter()
                .map(|path| url_on_host(seen, path))
                .chain([url_on_host(seen, &long), url_on_host(seen, &deep)]);
            xml(index(&paths.collect::<Vec<_>>()))
        }
        path => xml(urlset(&format!("https://e.com/{}", path.replace('&', "")))),
    });
    let folder = Folder::new();
    let (status, out, notes) = get(&folder, &server.url("/a/index.xml"), &["--into", "one/two"]);
    assert_eq!(status, Some(1), "{out}{notes}");
    let codes = out.matches("error[http-file-name]").count();
    assert_eq!((codes, out.lines().count()), (7, 7), "{out}");
    let names = files(&folder.path().join("one/two"));
    assert!(names.iter().all(|name| name.starts_with("a/")), "{names:?}");
    let is_plain =
        |name: &String| name.split('/').all(|part| !part.starts_with('.') && part.len() < 120 && part != "con.xml");
    assert!(names.iter().all(is_plain) && names.iter().all(|name| name.is_ascii()), "{names:?}");
    assert_eq!(files(folder.path()).iter().filter(|name| name.contains("up.xml")).count(), 1, "that of //etc");
    assert!(names.contains(&"a/etc/up.xml".to_owned()), "{names:?}");
    // The index opens with the files that were written.
    let (status, out, notes) = sited(&folder, &["list", "one/two/a/index.xml", "--allow-missing"]);
    assert!(status == Some(0) && out.lines().count() == names.len() - 1, "{names:?}\n{out}{notes}");
}

#[test]
fn pauses_requested_by_a_server_are_observed() {
    for (after, expected) in [(Some("0"), 0), (None, 0), (Some("3600"), 3)] {
        let busy = AtomicUsize::new(2);
        let server = Server::start(move |_| {
            let is_busy =
                busy.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |remaining| remaining.checked_sub(1)).is_ok();
            let reply = Reply::status(429);
            match after {
                _ if !is_busy => xml(urlset("https://e.com/a")),
                Some(after) => reply.with("Retry-After", after),
                None => reply,
            }
        });
        let folder = Folder::new();
        let (status, out, notes) = get(&folder, &server.url("/a.xml"), &[]);
        assert_eq!(status, Some(expected), "{after:?}: {out}{notes}");
        let left_alone = notes.contains("127.0.0.1 was skipped: the server asks for a pause of 3600 s");
        assert_eq!(left_alone, expected == 3, "{notes}");
        assert_eq!(server.log().len(), if expected == 3 { 1 } else { 3 });
    }
    let address = Server::start(site).address;
    let folder = Folder::new();
    let (status, out, notes) = get(&folder, &format!("http://{address}/a.xml"), &["--timeout", "5"]);
    assert!(status == Some(3) && out.contains("http-no-answer"), "{out}{notes}");
}
