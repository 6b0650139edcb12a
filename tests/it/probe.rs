//! Tests of `sited probe` against servers on loopback: requests, results, resumed runs.

use crate::support::server::{Fault, Reply, Seen, Server};
use crate::support::{Folder, environment, program, run, stderr};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;

/// Options of runs that need not wait.
const FAST: [&str; 4] = ["--allow-private", "--rate", "0", "--quiet"];

fn sitemap(folder: &Folder, urls: impl IntoIterator<Item = String>) {
    let mut text = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
    for url in urls {
        writeln!(text, "<url><loc>{url}</loc></url>").unwrap();
    }
    folder.write("sitemap.xml", format!("{text}</urlset>\n"));
}

fn probe(folder: &Folder, more: &[&str]) -> (Option<i32>, String) {
    let words = [&["probe", "sitemap.xml", "-o", "site.jsonl"], more].concat();
    let output = run(folder, &words);
    (output.status.code(), stderr(&output))
}

/// The records by URL; none may be there twice.
fn records(folder: &Folder) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(folder.path().join("site.jsonl")).unwrap();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        crate::outputs::holds("probe", line);
        let record: Value = serde_json::from_str(line).unwrap();
        let url = record["url"].as_str().unwrap().to_owned();
        // What gave no answer is asked again.
        let earlier = found.insert(url, record);
        assert!(earlier.is_none_or(|earlier| earlier["status"].is_null()), "twice: {line}");
    }
    found
}

fn pages(seen: &Seen) -> Reply {
    if seen.path == "/robots.txt" { Reply::status(404) } else { Reply::html("<title>page</title>") }
}

#[test]
fn each_url_is_asked_once_and_described() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/\n"),
        "/moved" => Reply::redirect(301, "/a"),
        "/missing" => Reply::status(404),
        _ => Reply::html("<title>T</title><link rel=canonical href=/canonical><meta name=robots content=noindex>")
            .with("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
    });
    let folder = Folder::new();
    let paths = ["/a", "/b?x=1&amp;y=2", "/a", "/moved", "/missing", "/private/x"];
    let urls = paths.map(|path| server.url(path)).into_iter().chain(["https://other.example/z".to_owned()]);
    sitemap(&folder, urls);
    let (status, notes) = probe(&folder, &FAST[..3]);
    assert_eq!(status, Some(0), "{notes}");
    assert!(notes.contains("5 URLs asked: 2xx 2, 3xx 1, 4xx 1, blocked by robots.txt 1"), "{notes}");
    assert!(
        notes.contains("1 URL of other hosts is not requested: other.example (1); --allow-host HOST allows it"),
        "{notes}"
    );
    let records = records(&folder);
    assert_eq!(records.len(), 5);
    let moved = &records[&server.url("/moved")];
    assert_eq!((&moved["status"], &moved["final_status"]), (&301.into(), &200.into()));
    assert_eq!(
        (moved["location"][0].as_str(), moved["final"].as_str()),
        (Some(&*server.url("/a")), Some(&*server.url("/a")))
    );
    let page = &records[&server.url("/b?x=1&y=2")];
    assert_eq!((page["title"].as_str(), page["robots"].as_str()), (Some("T"), Some("noindex")));
    assert_eq!(page["canonical"].as_str(), Some(&*server.url("/canonical")));
    assert_eq!((page["modified"].as_str(), page["error"].as_str()), (Some("1994-11-06T08:49:37Z"), None));
    assert_eq!(records[&server.url("/missing")]["status"], 404);
    assert_eq!(records[&server.url("/private/x")]["blocked"], 2);
    assert_eq!(server.paths(), ["/a", "/a", "/b?x=1&y=2", "/missing", "/moved"]);
    // What is there is not written over, and not asked again.
    let (status, notes) = probe(&folder, &FAST);
    assert!(status == Some(2) && notes.contains("site.jsonl has results already"), "{notes}");
    let (status, notes) = probe(&folder, &["--resume", "--allow-private"]);
    assert!(status == Some(0) && notes.contains("no URL to request; the file has 5 results already"), "{notes}");
    assert_eq!(server.log().len(), 6);
    // Another file, other rows, the status alone.
    let words = ["probe", "sitemap.xml", "-o", "-", "--where", "loc:missing", "--head", "--ignore-robots"];
    let output = run(&folder, &[&words[..], &FAST].concat());
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (line["status"].as_i64(), server.log().last().map(|seen| seen.method.clone())),
        (Some(404), Some("HEAD".into()))
    );
}

#[test]
fn an_address_that_is_not_public_is_refused_before_anything_is_sent() {
    let server = Server::start(pages);
    let folder = Folder::new();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let url = server.url("/a").replace("127.0.0.1", host);
        sitemap(&folder, [url]);
        let (status, notes) = probe(&folder, &["--rate", "0"]);
        assert_eq!(status, Some(2), "{host}: {notes}");
        assert!(notes.contains("is a loopback address") && notes.contains("--allow-private"), "{host}: {notes}");
    }
    assert!(server.log().is_empty() && !folder.path().join("site.jsonl").exists());
    for (words, expected) in [
        (&["--rate", "x"][..], "expected a number of requests"),
        (&["--concurrency", "0"], "0 is not in 1..=256"),
        (&["--header", "a b: c", "--allow-private"], "is not a valid header"),
        (&["--max-age", "7d"], "--resume"),
        (&["--allow-host", "https://e.com/"], "expected a host"),
    ] {
        let (status, notes) = probe(&folder, words);
        assert!(status == Some(2) && notes.contains(expected), "{words:?}: {notes}");
    }
    let (status, notes) = probe(&folder, &["--cacert", "gone.pem", "--allow-private"]);
    assert!(status == Some(3) && notes.contains("gone.pem"), "{notes}");
    assert!(server.log().is_empty());
}

#[test]
fn a_run_that_was_killed_is_continued() {
    let (sender, receiver) = channel();
    let sender = Mutex::new(Some(sender));
    let server = Server::start(move |seen| {
        // Once: the client waits for this one, and is killed.
        if seen.path == "/30"
            && let Some(sender) = sender.lock().unwrap().take()
        {
            sender.send(()).unwrap();
            return Reply::html("").failing(Fault::Hang);
        }
        pages(seen)
    });
    let folder = Folder::new();
    sitemap(&folder, (0..60).map(|number| server.url(&format!("/{number}"))));
    let words = ["probe", "sitemap.xml", "-o", "site.jsonl", "--concurrency", "1"];
    let mut command = Command::new(program());
    command.args(words).args(FAST).current_dir(folder.path()).env_clear().envs(environment(folder.path()));
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    receiver.recv_timeout(std::time::Duration::from_secs(60)).expect("the thirtieth page is asked for");
    child.kill().unwrap();
    child.wait().unwrap();
    // As if the last line had been written in part.
    let path = folder.path().join("site.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let whole = text.lines().count();
    assert!((20..=30).contains(&whole), "{whole} lines");
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    let before = server.log().len();
    let (status, notes) = probe(&folder, &[&["--resume"][..], &FAST].concat());
    assert_eq!(status, Some(0), "{notes}");
    let records = records(&folder);
    assert_eq!(records.len(), 60);
    assert!(records.values().all(|record| record["status"] == 200));
    // With robots.txt: what was known is not asked again.
    let asked: std::collections::BTreeSet<String> =
        server.log()[before..].iter().map(|seen| seen.path.clone()).collect();
    assert_eq!(asked.len(), 60 - (whole - 1) + 1);
    // Answers that are too old are asked for again, and appended.
    let (status, notes) = probe(&folder, &[&["--resume", "--max-age", "7d"][..], &FAST[..3]].concat());
    assert!(status == Some(0) && notes.contains("no URL to request"), "{notes}");
    let old = std::fs::read_to_string(&path).unwrap().replacen("\"checked\":\"2", "\"checked\":\"1", 1);
    std::fs::write(&path, old).unwrap();
    let (status, notes) = probe(&folder, &[&["--resume", "--max-age", "7d"][..], &FAST[..3]].concat());
    assert!(status == Some(0) && notes.contains("1 URL asked: 2xx 1"), "{notes}");
}

/// `^C`: the summary is printed, the results so far are kept, and the run can be continued.
#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_says_what_it_did_and_is_continued() {
    let (asked, is_asked) = channel();
    let (signalled, is_signalled) = channel();
    let (asked, is_signalled) = (Mutex::new(Some(asked)), Mutex::new(is_signalled));
    let server = Server::start(move |seen| {
        // The signal comes while this one is under way.
        if seen.path == "/30"
            && let Some(asked) = asked.lock().unwrap().take()
        {
            asked.send(()).unwrap();
            is_signalled.lock().unwrap().recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        }
        pages(seen)
    });
    let folder = Folder::new();
    sitemap(&folder, (0..60).map(|number| server.url(&format!("/{number}"))));
    let words = ["probe", "sitemap.xml", "-o", "site.jsonl", "--concurrency", "1"];
    let mut command = Command::new(program());
    command.args(words).args(&FAST[..3]).current_dir(folder.path()).env_clear().envs(environment(folder.path()));
    let child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    is_asked.recv_timeout(std::time::Duration::from_secs(60)).expect("the page is asked for");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    signalled.send(()).unwrap();
    let output = child.wait_with_output().unwrap();
    let notes = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{notes}");
    assert!(notes.contains(" URLs asked: ") && notes.contains("stopped by a signal"), "{notes}");
    let kept = records(&folder).len();
    assert!((1..60).contains(&kept), "{kept}");
    let (status, notes) = probe(&folder, &[&["--resume"][..], &FAST].concat());
    assert_eq!(status, Some(0), "{notes}");
    assert!(records(&folder).len() == 60 && records(&folder).values().all(|record| record["status"] == 200));
}

#[test]
fn a_server_that_dies_is_left_alone_and_asked_later() {
    let server = Server::dying(1_000, pages);
    let address = server.address;
    let folder = Folder::new();
    sitemap(&folder, (0..1_500).map(|number| server.url(&format!("/{number}"))));
    let (status, notes) = probe(&folder, &FAST);
    assert_eq!(status, Some(3), "{notes}");
    assert!(notes.contains("127.0.0.1 was skipped: 10 failures in a row"), "{notes}");
    assert!(notes.contains("URLs were not requested; --resume requests them later"), "{notes}");
    // Requests that were under way when the server died have a record without a status.
    let answered = records(&folder).values().filter(|record| !record["status"].is_null()).count();
    assert!((1..=1_000).contains(&answered), "{answered}");
    drop(server);
    let _server = Server::again(address, pages);
    let (status, notes) = probe(&folder, &[&["--resume"][..], &FAST].concat());
    assert_eq!(status, Some(0), "{notes}");
    let records = records(&folder);
    assert!(records.len() == 1_500 && records.values().all(|record| record["status"] == 200));
}

#[test]
fn limits_hold_for_a_whole_run() {
    let server = Server::start(pages);
    let folder = Folder::new();
    sitemap(&folder, (0..400).map(|number| server.url(&format!("/{}/{number}", number % 4))));
    let words = ["--allow-private", "--rate", "20", "--concurrency", "2", "--sample", "40"];
    let (status, notes) = probe(&folder, &words);
    assert_eq!(status, Some(0), "{notes}");
    assert!(notes.contains("40 URLs asked: 2xx 40"), "{notes}");
    assert!(server.most_at_a_time() <= 2, "{}", server.most_at_a_time());
    assert!(server.most_in_a_second() <= 22, "{}", server.most_in_a_second());
    for section in 0..4 {
        let of_section = |path: &&String| path.starts_with(&format!("/{section}/"));
        assert_eq!(server.paths().iter().filter(of_section).count(), 10, "section {section}");
    }
}

/// Pages for whoever knows the password.
fn private(seen: &Seen) -> Reply {
    match seen.path.as_str() {
        "/robots.txt" => Reply::status(404),
        // `reader:open sesame`
        _ if seen.header("authorization") != Some("Basic cmVhZGVyOm9wZW4gc2VzYW1l") => Reply::status(401),
        "/away" => Reply::redirect(302, seen.header("x-other").unwrap()),
        _ => Reply::html("<title>there</title>"),
    }
}

/// Runs the program with a variable of the environment.
fn with_variable(folder: &Folder, words: &[&str], value: Option<&str>) -> (Option<i32>, String) {
    let mut command = Command::new(program());
    command.env_clear().envs(environment(folder.path())).envs(value.map(|value| ("SITE_LOGIN", value)));
    let output = command.args(words).current_dir(folder.path()).output().unwrap();
    (output.status.code(), stderr(&output))
}

#[test]
fn credentials_go_to_the_host_of_the_set_alone() {
    let (server, other) = (Server::start(private), Server::start(pages));
    let folder = Folder::new();
    sitemap(&folder, [server.url("/a"), server.url("/away"), server.url("/b"), other.url("/c")]);
    let (host, target) = (other.address.to_string(), format!("X-Other: {}", other.url("/d")));
    let words = ["probe", "sitemap.xml", "-o", "site.jsonl", "--basic-auth", "SITE_LOGIN", "--allow-host", &host];
    let words = [&words[..], &FAST, &["--header", &target]].concat();
    // Without the variable, or with one of another form, nothing is sent; its value is never shown.
    for (value, expected) in [(None, "is not set"), (Some("open sesame"), "does not hold USER:PASSWORD")] {
        let (status, notes) = with_variable(&folder, &words, value);
        assert!(status == Some(2) && notes.contains(expected) && !notes.contains("sesame"), "{notes}");
    }
    assert!(server.log().is_empty() && other.log().is_empty());
    let (status, notes) = with_variable(&folder, &words, Some("reader:open sesame"));
    assert_eq!(status, Some(0), "{notes}");
    let records = records(&folder);
    assert_eq!(records[&server.url("/a")]["title"], "there");
    assert_eq!(records[&server.url("/away")]["final"], other.url("/d").as_str());
    assert_eq!(records[&other.url("/c")]["status"], 200);
    assert!(server.log().iter().all(|seen| seen.header("authorization").is_some()));
    assert_eq!(other.paths(), ["/c", "/d"]);
    assert!(other.log().iter().all(|seen| seen.header("authorization").is_none()));
    // A password has no place on the command line.
    let (status, notes) = with_variable(&folder, &["probe", ".", "-o", "x", "--basic-auth", "reader:secret"], None);
    assert!(status == Some(2) && notes.contains("the name of an environment variable"), "{notes}");
}

/// A download records where it came from: that is the site, whichever host most rows have.
#[test]
fn the_site_of_a_downloaded_set_is_where_it_was_downloaded_from() {
    let (site, other) = (Server::start(pages), Server::start(pages));
    let folder = Folder::new();
    sitemap(&folder, [site.url("/a"), other.url("/b"), other.url("/c")]);
    let download = serde_json::json!({ "file": "sitemap.xml", "url": site.url("/sitemap.xml"), "hash": "0" });
    folder.write(".sited-get.jsonl", format!("{download}\n"));
    for command in [&["probe", "sitemap.xml", "-o", "site.jsonl"][..], &["dates", "sitemap.xml", "--http"]] {
        let output = run(&folder, &[command, &FAST[..3]].concat());
        assert!(stderr(&output).contains("2 URLs of other hosts are not requested"), "{}", stderr(&output));
    }
    assert!(!site.log().is_empty() && other.log().is_empty());
    let found: Vec<_> = records(&folder).into_keys().collect();
    assert_eq!(found, [site.url("/a")]);
    // What the user says counts.
    let base = other.url("/");
    let output = run(&folder, &[&["probe", "sitemap.xml", "-o", "-", "--base-url", &base][..], &FAST].concat());
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
}
