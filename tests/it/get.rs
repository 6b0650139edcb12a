//! `sited get` against servers on loopback: what is asked for, what is written where, and what hostile servers achieve.

use crate::support::server::{Reply, Seen, Server};
use crate::support::{Folder, run, stderr};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

/// Options of runs that need not wait.
const FAST: [&str; 3] = ["--allow-private", "--rate", "0"];

/// Status, standard output, standard error.
type Ended = (Option<i32>, String, String);

fn get(folder: &Folder, url: &str, more: &[&str]) -> Ended {
    sited(folder, &[&["get", url][..], &FAST, more].concat())
}

fn sited(folder: &Folder, words: &[&str]) -> Ended {
    let output = run(folder, words);
    (output.status.code(), String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output))
}

fn urlset(loc: &str) -> String {
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<url><loc>{loc}</loc></url>\n</urlset>\n")
}

fn index(locs: &[String]) -> String {
    let entries = locs.iter().map(|loc| ["<sitemap><loc>", loc, "</loc></sitemap>\n"].concat()).collect::<String>();
    format!("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</sitemapindex>\n")
}

fn xml(text: impl Into<Vec<u8>>) -> Reply {
    Reply { body: text.into(), ..Reply::status(200) }.with("Content-Type", "application/xml")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The URL of a path on the server that was asked.
fn at(seen: &Seen, path: &str) -> String {
    format!("http://{}{path}", seen.header("host").unwrap())
}

/// The files in a folder with its folders, as text where they are; the list of downloads is left out.
fn files(folder: &Path) -> Vec<String> {
    fn walk(folder: &Path, top: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                walk(&path, top, found);
            } else {
                found.push(path.strip_prefix(top).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let mut found = Vec::new();
    if folder.exists() {
        walk(folder, folder, &mut found);
    }
    found.retain(|name| name != ".sited-get.jsonl");
    found.sort();
    found
}

/// A site with an index, two sitemaps, one packed, and a nested index.
fn site(seen: &Seen) -> Reply {
    match seen.path.as_str() {
        "/maps/index.xml" => {
            let paths = ["/maps/a.xml", "/maps/deep/b.xml.gz", "/other/c.xml?v=1", "/maps/nested.xml", "/maps/a.xml"];
            xml(index(&paths.map(|path| at(seen, path))))
        }
        "/maps/nested.xml" => xml(index(&["/maps/d.xml", "/maps/index.xml"].map(|path| at(seen, path)))),
        "/maps/a.xml" => xml(urlset("https://e.com/a")),
        "/maps/deep/b.xml.gz" => xml(gzip(urlset("https://e.com/b").as_bytes())),
        "/other/c.xml?v=1" => xml(urlset("https://e.com/c")),
        "/maps/d.xml" => xml(urlset("https://e.com/d")),
        _ => Reply::status(404),
    }
}

#[test]
fn a_set_is_downloaded_and_opens() {
    let (server, folder) = (Server::start(site), Folder::new());
    let (status, out, notes) = get(&folder, &server.url("/maps/index.xml"), &[]);
    assert_eq!((status, out.as_str()), (Some(0), ""), "{notes}");
    assert!(notes.starts_with("6 new (") && notes.contains("open it with: sited 127.0.0.1/maps/index.xml"), "{notes}");
    let names = files(&folder.path().join("127.0.0.1"));
    assert_eq!(names[..5], ["maps/a.xml", "maps/d.xml", "maps/deep/b.xml.gz", "maps/index.xml", "maps/nested.xml"]);
    assert!(names.len() == 6 && names[5].starts_with("maps/other/c.xml@v=1~"), "{names:?}");
    let (status, out, notes) = sited(&folder, &["list", "127.0.0.1/maps/index.xml"]);
    assert_eq!(
        (status, out.as_str()),
        (Some(0), "https://e.com/a\nhttps://e.com/b\nhttps://e.com/c\nhttps://e.com/d\n"),
        "{notes}"
    );
    let asked = server.log();
    assert_eq!(asked.len(), 6, "each is asked for once, and no robots.txt");
    assert!(asked.iter().all(|seen| seen.header("user-agent").unwrap().starts_with("sited/")), "{asked:?}");
    // A base URL finds the same files.
    let base = server.url("/maps/");
    let (status, out, notes) = sited(&folder, &["list", "127.0.0.1/maps/index.xml", "--base-url", &base]);
    assert_eq!((status, out.lines().count()), (Some(0), 4), "{notes}");
}

#[test]
fn one_sitemap_is_downloaded_into_a_folder() {
    let (server, folder) = (Server::start(site), Folder::new());
    let (status, _, notes) = get(&folder, &server.url("/maps/a.xml"), &["--into", "new/public"]);
    assert_eq!(status, Some(0), "{notes}");
    assert_eq!(
        std::fs::read_to_string(folder.path().join("new/public/maps/a.xml")).unwrap(),
        urlset("https://e.com/a")
    );
}

#[test]
fn a_private_address_is_refused_before_anything_is_sent() {
    let (server, folder) = (Server::start(site), Folder::new());
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"] {
        let url = server.url("/maps/a.xml").replace("127.0.0.1", host);
        let (status, _, notes) = sited(&folder, &["get", &url]);
        assert_eq!(status, Some(2), "{host}: {notes}");
        assert!(notes.contains("is a loopback address") && notes.contains("--allow-private"), "{notes}");
    }
    for wrong in ["example.com", "ftp://e.com/", "file:///etc/passwd", ""] {
        let (status, _, notes) = sited(&folder, &["get", wrong]);
        assert!(status == Some(2) && notes.contains("expected a URL"), "{wrong}: {notes}");
    }
    assert!(server.log().is_empty() && files(folder.path()).is_empty());
}
