//! Tests of `sited get` against servers on loopback: requests, files and local edits.

mod hostile;

use crate::support::server::{Fault, Reply, Seen, Server};
use crate::support::{Folder, environment, program, run, stderr};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Options that allow loopback addresses and switch the rate limit off.
const FAST: [&str; 3] = ["--allow-private", "--rate", "0"];

/// Exit status, standard output and standard error.
type RunResult = (Option<i32>, String, String);

fn get(folder: &Folder, url: &str, extra: &[&str]) -> RunResult {
    sited(folder, &[&["get", url][..], &FAST, extra].concat())
}

fn sited(folder: &Folder, arguments: &[&str]) -> RunResult {
    let output = run(folder, arguments);
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

/// The URL of a path on the server that received the request.
fn url_on_host(seen: &Seen, path: &str) -> String {
    format!("http://{}{path}", seen.header("host").unwrap())
}

/// The relative paths of all files below a folder, without the list of downloads.
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

/// A site with an index, four sitemaps, one of them gzipped, and a nested index.
fn site(seen: &Seen) -> Reply {
    match seen.path.as_str() {
        "/maps/index.xml" => {
            let paths = ["/maps/a.xml", "/maps/deep/b.xml.gz", "/other/c.xml?v=1", "/maps/nested.xml", "/maps/a.xml"];
            xml(index(&paths.map(|path| url_on_host(seen, path))))
        }
        "/maps/nested.xml" => xml(index(&["/maps/d.xml", "/maps/index.xml"].map(|path| url_on_host(seen, path)))),
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
    assert!(notes.starts_with("6 new (") && notes.contains("open with: sited 127.0.0.1/maps/index.xml"), "{notes}");
    let names = files(&folder.path().join("127.0.0.1"));
    assert_eq!(names[..5], ["maps/a.xml", "maps/d.xml", "maps/deep/b.xml.gz", "maps/index.xml", "maps/nested.xml"]);
    assert!(names.len() == 6 && names[5].starts_with("maps/other/c.xml@v=1~"), "{names:?}");
    let (status, out, notes) = sited(&folder, &["list", "127.0.0.1/maps/index.xml"]);
    assert_eq!(
        (status, out.as_str()),
        (Some(0), "https://e.com/a\nhttps://e.com/b\nhttps://e.com/c\nhttps://e.com/d\n"),
        "{notes}"
    );
    let requests = server.log();
    assert_eq!(requests.len(), 6, "each is asked for once, and no robots.txt");
    assert!(requests.iter().all(|seen| seen.header("user-agent").unwrap().starts_with("sited/")), "{requests:?}");
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
fn requests_go_only_to_the_local_server_that_the_user_named() {
    let other = Server::start(site);
    let (url, elsewhere) = (other.url("/maps/a.xml"), other.url("/maps/b.xml"));
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/moved.xml" => Reply::redirect(302, &url),
        "/listed.xml" => xml(index(std::slice::from_ref(&elsewhere))),
        _ => site(seen),
    });
    let folder = Folder::new();
    for host in ["127.0.0.1", "2130706433"] {
        let (status, _, notes) = sited(&folder, &["get", &server.url("/maps/a.xml").replace("127.0.0.1", host)]);
        assert_eq!(status, Some(0), "{host}: {notes}");
    }
    // Another port of this machine is another server, even if its host is allowed.
    let host = other.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    for path in ["/moved.xml", "/listed.xml"] {
        let (status, out, notes) = sited(&folder, &["get", &server.url(path), "--allow-host", &host]);
        assert!(matches!(status, Some(1 | 3)) && out.contains("http-address"), "{status:?} {out}{notes}");
    }
    assert!(other.log().is_empty());
}

#[test]
fn a_private_address_is_refused_before_anything_is_sent() {
    let (server, folder) = (Server::start(site), Folder::new());
    for (host, expected) in [
        ("[::ffff:127.0.0.1]", "a loopback address"),
        ("10.0.0.1", "a private address"),
        ("169.254.169.254", "the address of cloud metadata"),
    ] {
        let url = server.url("/maps/a.xml").replace("127.0.0.1", host);
        let (status, _, notes) = sited(&folder, &["get", &url]);
        assert_eq!(status, Some(2), "{host}: {notes}");
        assert!(notes.contains(expected) && notes.contains("--allow-private"), "{notes}");
    }
    for wrong in ["example.com", "ftp://e.com/", "file:///etc/passwd", ""] {
        let (status, _, notes) = sited(&folder, &["get", wrong]);
        assert!(status == Some(2) && notes.contains("expected a URL"), "{wrong}: {notes}");
    }
    assert!(server.log().is_empty() && files(folder.path()).is_empty());
}

#[test]
fn other_hosts_are_reported_and_receive_no_request_unless_allowed() {
    let other = Server::start(|_| xml(urlset("https://e.com/other")));
    let url = other.url("/b.xml");
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/index.xml" => xml(index(&[url_on_host(seen, "/a.xml"), url.clone(), url.replace("b.xml", "c.xml")])),
        _ => xml(urlset("https://e.com/a")),
    });
    let folder = Folder::new();
    let (status, out, notes) = get(&folder, &server.url("/index.xml"), &[]);
    assert_eq!(status, Some(1), "{notes}");
    let host = other.address.to_string();
    assert!(out.contains("error[http-other-host]: 2 sitemaps on another host are not fetched"), "{out}");
    assert!(out.contains(&format!("--allow-host {host} allows it")), "{out}");
    assert!(other.log().is_empty());
    let (status, out, notes) = get(&folder, &server.url("/index.xml"), &["--allow-host", &host]);
    assert_eq!((status, out.as_str()), (Some(0), ""), "{notes}");
    assert_eq!(files(&folder.path().join("127.0.0.1")), ["a.xml", "b.xml", "c.xml", "index.xml"]);
    let (status, out, _) = sited(&folder, &["list", "127.0.0.1"]);
    assert_eq!((status, out.lines().count()), (Some(0), 3), "{out}");
}

/// A site whose files have versions, `ETag` and `Last-Modified`.
fn versioned_server(version: Arc<AtomicUsize>) -> Server {
    Server::start(move |seen| {
        let version = version.load(Ordering::SeqCst);
        let tag = format!("\"{version}\"");
        if seen.header("if-none-match") == Some(&tag) {
            return Reply::status(304);
        }
        let reply = match seen.path.as_str() {
            "/index.xml" => xml(index(&["/a.xml", "/b.xml"].map(|path| url_on_host(seen, path)))),
            "/a.xml" => xml(urlset(&format!("https://e.com/{version}"))),
            _ => xml(urlset("https://e.com/b")),
        };
        reply.with("ETag", &tag).with("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
    })
}

#[test]
fn a_second_run_requests_changes_and_keeps_local_edits() {
    let version = Arc::new(AtomicUsize::new(1));
    let (server, folder) = (versioned_server(Arc::clone(&version)), Folder::new());
    let url = server.url("/index.xml");
    let a = folder.path().join("127.0.0.1/a.xml");
    let text = || std::fs::read_to_string(&a).unwrap();
    let run = |extra: &[&str], expected: Option<i32>, note: &str| {
        let (status, out, notes) = get(&folder, &url, extra);
        assert!(status == expected && notes.contains(note), "{note}: {out}{notes}");
        out
    };
    run(&[], Some(0), "3 new");
    run(&[], Some(0), "3 unchanged");
    let is_conditional = |seen: &Seen| {
        seen.header("if-none-match") == Some("\"1\"")
            && seen.header("if-modified-since") == Some("Sun, 06 Nov 1994 08:49:37 GMT")
    };
    assert!(server.log()[3..].iter().all(is_conditional) && server.log().len() == 6);
    // A new `ETag` with the same bytes is not an update.
    version.store(2, Ordering::SeqCst);
    run(&[], Some(0), "1 updated");
    assert!(text().contains("https://e.com/2"));
    // Changed only locally: kept without a finding.
    let edited = urlset("https://e.com/edited");
    std::fs::write(&a, &edited).unwrap();
    run(&[], Some(0), "3 unchanged");
    assert_eq!(text(), edited);
    // Changed on both sides: kept and reported.
    version.store(3, Ordering::SeqCst);
    for _ in 0..2 {
        let out = run(&[], Some(1), "2 unchanged");
        assert!(out.contains("error[http-changed-here]: 127.0.0.1/a.xml was changed here"), "{out}");
        assert_eq!(text(), edited);
    }
    run(&["--force"], Some(0), "1 updated");
    assert!(text().contains("https://e.com/3"));
    // A file that this command did not download is kept too; a deleted file is downloaded again.
    std::fs::remove_file(folder.path().join("127.0.0.1/b.xml")).unwrap();
    run(&[], Some(0), "1 new");
    std::fs::remove_file(folder.path().join("127.0.0.1/.sited-get.jsonl")).unwrap();
    std::fs::write(&a, &edited).unwrap();
    let out = run(&[], Some(1), "2 unchanged");
    assert!(out.contains("127.0.0.1/a.xml was there before and differs"), "{out}");
    assert_eq!(text(), edited);
    // A folder with the name of a file prevents only this file.
    std::fs::remove_file(&a).unwrap();
    std::fs::create_dir(&a).unwrap();
    let out = run(&["--force"], Some(1), "2 unchanged");
    assert!(out.contains("error[http-file-name]"), "{out}");
}

#[test]
fn a_file_is_kept_if_its_url_returns_an_error_page() {
    let version = Arc::new(AtomicUsize::new(0));
    let current_version = Arc::clone(&version);
    let server = Server::start(move |_| match current_version.load(Ordering::SeqCst) {
        0 => xml(urlset("https://e.com/a")),
        1 => Reply::html("<title>Maintenance</title>"),
        _ => xml(gzip(urlset("https://e.com/a").as_bytes())).with("Content-Encoding", "gzip").failing(Fault::Cut),
    });
    let folder = Folder::new();
    for (state, expected) in [(0, Some(0)), (1, Some(3)), (2, Some(3))] {
        version.store(state, Ordering::SeqCst);
        let (status, out, notes) = get(&folder, &server.url("/a.xml"), &[]);
        assert_eq!(status, expected, "{out}{notes}");
        let text = std::fs::read_to_string(folder.path().join("127.0.0.1/a.xml")).unwrap();
        assert_eq!(text, urlset("https://e.com/a"));
        assert_eq!(files(&folder.path().join("127.0.0.1")).len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_download_leaves_only_complete_files_and_is_continued() {
    use std::process::{Command, Stdio};
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let (sender, receiver) = std::sync::mpsc::channel();
        let sender = Mutex::new(Some(sender));
        let server = Server::start(move |seen| match seen.path.as_str() {
            "/index.xml" => {
                xml(index(&(0..20).map(|number| url_on_host(seen, &format!("/{number}.xml"))).collect::<Vec<_>>()))
            }
            "/10.xml" => match sender.lock().unwrap().take() {
                // Only the first response does not end.
                Some(sender) => {
                    sender.send(()).unwrap();
                    xml(urlset("https://e.com/a")).failing(Fault::Drip)
                }
                None => xml(urlset("https://e.com/10")),
            },
            path => xml(urlset(&format!("https://e.com{path}"))).with("ETag", "\"1\""),
        });
        let folder = Folder::new();
        let mut command = Command::new(program());
        command.args(["get", &server.url("/index.xml"), "--concurrency", "1"]).args(FAST);
        command.current_dir(folder.path()).env_clear().envs(environment(folder.path()));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        receiver.recv_timeout(std::time::Duration::from_secs(60)).expect("the tenth sitemap is asked for");
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let ended = child.wait().unwrap();
        if signal == rustix::process::Signal::INT {
            assert_eq!(ended.code(), Some(3));
        }
        let downloads = folder.path().join("127.0.0.1");
        let complete = |names: &[String]| names.iter().filter(|name| !name.starts_with('.')).count();
        let before = files(&downloads);
        assert_eq!(complete(&before), 11, "{before:?}");
        let is_complete =
            |name: &&String| std::fs::read_to_string(downloads.join(name)).unwrap().trim_end().ends_with('>');
        assert!(before.iter().filter(|name| !name.starts_with('.')).all(|name| is_complete(&name)), "{before:?}");
        assert!(signal != rustix::process::Signal::INT || before.len() == 11, "{before:?}");
        let (status, out, notes) = get(&folder, &server.url("/index.xml"), &[]);
        assert_eq!((status, out.as_str()), (Some(0), ""), "{notes}");
        assert!(notes.contains("10 new") && notes.contains("11 unchanged"), "{notes}");
        assert_eq!(files(&downloads).len(), 21);
    }
}

#[test]
fn the_sitemaps_of_a_site_are_discovered() {
    let robots = |text: &'static str| {
        move |seen: &Seen| match seen.path.as_str() {
            "/robots.txt" => Reply::text(&text.replace("SITE", &url_on_host(seen, ""))),
            "/sitemap-index.xml" | "/index.xml" => xml(index(&[url_on_host(seen, "/a.xml")])),
            "/a.xml" | "/b.xml" => xml(urlset("https://e.com/a")),
            "/sitemap.xml" => Reply::html("not here"),
            _ => Reply::status(404),
        }
    };
    for (text, names, asked) in [
        (
            "User-agent: *\nDisallow: /\nSitemap: SITE/index.xml\nsitemap:/b.xml\n",
            &["a.xml", "b.xml", "index.xml", "robots.txt"][..],
            4,
        ),
        ("User-agent: *\nAllow: /\n", &["a.xml", "robots.txt", "sitemap-index.xml"], 5),
    ] {
        let (server, folder) = (Server::start(robots(text)), Folder::new());
        let (status, out, notes) = get(&folder, &server.url("/"), &[]);
        assert_eq!((status, out.as_str()), (Some(0), ""), "{notes}");
        assert_eq!(
            (files(&folder.path().join("127.0.0.1")), server.log().len()),
            (names.iter().map(|name| (*name).to_owned()).collect(), asked)
        );
        let (status, _, notes) = get(&folder, server.url("/").trim_end_matches('/'), &[]);
        assert!(status == Some(0) && notes.contains("unchanged"), "{notes}");
    }
    let (server, folder) = (Server::start(|_| Reply::status(404)), Folder::new());
    let (status, out, notes) = get(&folder, &server.url("/"), &[]);
    assert_eq!(status, Some(3), "{notes}");
    assert!(out.contains("robots.txt names no sitemap, and there is none at /sitemap.xml, "), "{out}");
    let (server, folder) = (Server::start(|_| Reply::redirect(301, "https://www.other.test/")), Folder::new());
    let (status, out, notes) = get(&folder, &server.url("/"), &[]);
    assert!(status == Some(3) && out.contains("--allow-host www.other.test"), "{out}{notes}");
    assert_eq!(server.log().len(), 1);
}

/// The robots.txt that named a set is stored beside it, and its rules are checked.
#[test]
fn the_robots_txt_of_a_site_is_kept_for_its_set() {
    let rules = Arc::new(std::sync::Mutex::new("/private".to_owned()));
    let forbidden = Arc::clone(&rules);
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/robots.txt" => Reply::text(&format!(
            "User-agent: *\nDisallow: {}\nSitemap: {}\n",
            forbidden.lock().unwrap(),
            url_on_host(seen, "/maps/index.xml")
        )),
        "/maps/index.xml" => xml(index(&[url_on_host(seen, "/maps/a.xml")])),
        "/maps/a.xml" => xml(urlset(&url_on_host(seen, "/private/a"))),
        _ => Reply::status(404),
    });
    let (folder, site) = (Folder::new(), server.url("/"));
    let (status, out, notes) = sited(&folder, &[&["check", &site, "--all"], &FAST[..]].concat());
    assert_eq!(status, Some(1), "{notes}");
    assert!(out.contains("line 2 of robots.txt forbids Googlebot to fetch the URL"), "{out}");
    assert!(!out.contains("sited-"), "{out}");
    let (_, out, notes) = sited(&folder, &[&["list", &site, "--where", "rule:site-blocked*"], &FAST[..]].concat());
    assert_eq!(out, format!("{}\n", server.url("/private/a")), "{notes}");
    // After a download into a folder, the file is used whenever the set is opened.
    let blocked = |folder: &Folder| {
        sited(folder, &["list", "site/maps/index.xml", "--where", "rule:site-blocked-by-robots"]).1.lines().count()
    };
    let path = "site/robots.txt";
    assert_eq!(get(&folder, &site, &["--into", "site"]).0, Some(0));
    assert_eq!((files(&folder.path().join("site")).len(), blocked(&folder)), (3, 1));
    // The file is updated from the site until it is edited locally.
    "/elsewhere".clone_into(&mut rules.lock().unwrap());
    assert_eq!(get(&folder, &site, &["--into", "site"]).0, Some(0));
    assert!(folder.text(path).contains("/elsewhere") && blocked(&folder) == 0);
    folder.write(path, "User-agent: *\nDisallow: /private/a\n");
    assert_eq!(get(&folder, &site, &["--into", "site", "--force"]).0, Some(0));
    assert!(folder.text(path).contains("/private/a") && blocked(&folder) == 1);
    // A robots.txt that existed before is not overwritten.
    let folder = Folder::new();
    folder.write(path, "User-agent: *\nAllow: /\n");
    assert_eq!(get(&folder, &site, &["--into", "site"]).0, Some(0));
    assert_eq!(folder.text(path), "User-agent: *\nAllow: /\n");
}

#[test]
fn several_sets_of_a_site_are_read_as_one_set() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/robots.txt" => Reply::text(
            &["/one/index.xml", "/two/index.xml", "/news.xml"]
                .map(|path| format!("Sitemap: {}\n", url_on_host(seen, path)))
                .concat(),
        ),
        "/one/index.xml" => xml(index(&[url_on_host(seen, "/one/a.xml"), url_on_host(seen, "/one/b.xml")])),
        "/two/index.xml" => xml(index(&[url_on_host(seen, "/two/a.xml")])),
        path => xml(urlset(&format!("https://e.com{path}"))),
    });
    let folder = Folder::new();
    let site = server.url("/");
    let (status, out, notes) = sited(&folder, &[&["list", &site], &FAST[..]].concat());
    let expected = ["one/a", "one/b", "two/a", "news"].map(|name| format!("https://e.com/{name}.xml"));
    let mut listed: Vec<&str> = out.lines().collect();
    listed.sort_unstable();
    let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!((status, listed), (Some(0), expected), "{notes}");
    assert!(notes.contains("robots.txt names 3 sets; their 4 sitemaps are read as one"), "{notes}");
    let (status, out, notes) = sited(&folder, &[&["stats", &site, "--format", "json"], &FAST[..]].concat());
    assert!(status == Some(0) && out.contains("\"urls\":4"), "{out}{notes}");
    folder.write("a.xml", urlset("https://e.com/news.xml"));
    let (status, out, notes) = sited(&folder, &[&["diff", "a.xml", &site, "--urls=added"], &FAST[..]].concat());
    assert!(status == Some(1) && out.lines().count() == 3, "{out}{notes}");
    // After a download into a folder, the printed command opens all of them.
    let (status, _, notes) = get(&folder, &site, &["--into", "site"]);
    assert_eq!(status, Some(0), "{notes}");
    let command = notes.lines().find_map(|line| line.split_once("open with: sited ")).unwrap().1;
    let arguments: Vec<&str> = std::iter::once("list").chain(command.split(' ')).collect();
    let (status, out, notes) = sited(&folder, &arguments);
    assert!(status == Some(0) && out.lines().count() == 4, "{command}: {out}{notes}");
}

/// Several indexes in one folder are one set.
#[test]
fn several_indexes_of_a_site_are_opened_together() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/robots.txt" => Reply::text(
            &["/pages.xml", "/news.xml"].map(|path| format!("Sitemap: {}\n", url_on_host(seen, path))).concat(),
        ),
        "/pages.xml" => xml(index(&[url_on_host(seen, "/a.xml"), url_on_host(seen, "/b.xml")])),
        "/news.xml" => xml(index(&[url_on_host(seen, "/c.xml")])),
        path => xml(urlset(&format!("https://e.com{path}"))),
    });
    let (folder, site) = (Folder::new(), server.url("/"));
    let (_, out, notes) = sited(&folder, &[&["check", &site], &FAST[..]].concat());
    assert!(notes.contains("3 URLs, 2 indexes with 3 entries"), "{out}{notes}");
    assert!(notes.contains("robots.txt names 2 sets; their 2 indexes are opened together"), "{notes}");
    let (status, _, notes) = get(&folder, &site, &["--into", "site"]);
    assert!(status == Some(0) && notes.contains("open with: sited site/pages.xml site/news.xml"), "{notes}");
}

#[test]
fn credentials_are_sent_only_to_the_host_of_the_url() {
    let other = Server::start(|_| xml(urlset("https://e.com/b")));
    let elsewhere = other.url("/b.xml");
    let server = Server::start(move |seen| match (seen.header("authorization"), seen.path.as_str()) {
        // `u:p`
        (Some("Basic dTpw"), "/index.xml") => {
            xml(index(&[url_on_host(seen, "/a.xml"), elsewhere.clone(), url_on_host(seen, "/c.xml")]))
        }
        (Some("Basic dTpw"), "/c.xml") => Reply::redirect(302, &elsewhere),
        (Some("Basic dTpw"), _) => xml(urlset("https://e.com/a")),
        _ => Reply::status(401),
    });
    let folder = Folder::new();
    let (url, host) = (server.url("/index.xml"), other.address.to_string());
    // Credentials in the URL are not sent.
    let (status, out, _) = get(&folder, &url.replace("//", "//u:p@"), &[]);
    assert!(status == Some(3) && out.contains("401"), "{out}");
    let mut command = Command::new(program());
    command.env_clear().envs(environment(folder.path())).env("LOGIN", "u:p").current_dir(folder.path());
    command.args(["get", &url, "--basic-auth", "LOGIN", "--allow-host", &host]).args(FAST);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(other.log().len(), 2);
    assert!(other.log().iter().all(|seen| seen.header("authorization").is_none()));
}

#[test]
fn commands_that_read_a_set_accept_a_url() {
    let (server, folder) = (Server::start(site), Folder::new());
    let url = server.url("/maps/index.xml");
    let run = |arguments: &[&str]| sited(&folder, &[arguments, &FAST].concat());
    let (status, out, notes) = run(&["list", &url]);
    assert_eq!(
        (status, out.as_str()),
        (Some(0), "https://e.com/a\nhttps://e.com/b\nhttps://e.com/c\nhttps://e.com/d\n"),
        "{notes}"
    );
    let (status, out, notes) = run(&["check", &url]);
    assert_eq!(status, Some(1), "{notes}");
    assert!(out.contains(&server.url("/maps/")) && !out.contains("sited-"), "{out}");
    let (status, out, notes) = run(&["stats", &url, "--format", "json"]);
    assert!(status == Some(0) && out.contains("\"urls\":4"), "{out}{notes}");
    folder.write("a.xml", urlset("https://e.com/new"));
    let (status, out, notes) = run(&["diff", &server.url("/maps/a.xml"), "a.xml"]);
    assert!(
        status == Some(1) && out.contains("+ https://e.com/new") && out.contains("- https://e.com/a"),
        "{out}{notes}"
    );
    // Without --allow-private no request is sent, and a missing sitemap is an error.
    let before = server.log().len();
    let private = url.replace("127.0.0.1", "10.0.0.1");
    for command in ["check", "list", "stats"] {
        let (status, out, notes) = sited(&folder, &[command, &private]);
        assert!(status == Some(2) && out.is_empty() && notes.contains("--allow-private"), "{command}: {notes}");
    }
    assert_eq!(server.log().len(), before);
    let (status, out, notes) = run(&["list", &server.url("/gone.xml")]);
    assert!(status == Some(3) && out.is_empty() && notes.contains("http-status"), "{notes}");
    let (status, _, notes) = run(&["list", "ftp://e.com/a.xml"]);
    assert!(status == Some(3) && notes.contains("hint: only URLs with http:// or https:// can be read"), "{notes}");
    // The downloaded files are deleted.
    assert_eq!(
        files(folder.path()).iter().filter(|name| !name.starts_with(".home/state")).collect::<Vec<_>>(),
        ["a.xml"]
    );
}

#[cfg(unix)]
#[test]
fn a_url_opens_in_the_editor() {
    use crate::support::terminal::Start;
    let (server, folder) = (Server::start(site), Folder::new());
    let url = server.url("/maps/index.xml");
    let arguments = [&[url.as_str()], &FAST[..], &["--into", "site"]].concat();
    let terminal = Start::new(&folder).size(100, 30).arguments(arguments).start();
    terminal.wait_for("4 URLs");
    terminal.wait_for("e.com/");
    terminal.send("q");
    assert!(terminal.wait_exit().success(), "{}", terminal.screen());
    terminal.assert_restored();
    assert_eq!(files(&folder.path().join("site")).len(), 6);
    // Without a terminal no request is sent.
    let before = server.log().len();
    let (status, _, notes) = sited(&folder, &[&[url.as_str()], &FAST[..]].concat());
    assert!(status == Some(2) && notes.contains("needs a terminal"), "{notes}");
    assert_eq!(server.log().len(), before);
}
