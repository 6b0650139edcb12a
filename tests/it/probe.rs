//! Tests of `sited probe` against servers on loopback: requests, results, resumed runs.

use crate::support::server::{Fault, Reply, Seen, Server};
use crate::support::{Folder, environment, program, run, stderr};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;

/// Options that allow loopback addresses and switch the rate limit off.
const FAST: [&str; 4] = ["--allow-private", "--rate", "0", "--quiet"];

fn sitemap(folder: &Folder, urls: impl IntoIterator<Item = String>) {
    let mut text = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
    for url in urls {
        writeln!(text, "<url><loc>{url}</loc></url>").unwrap();
    }
    folder.write("sitemap.xml", format!("{text}</urlset>\n"));
}

fn probe(folder: &Folder, extra: &[&str]) -> (Option<i32>, String) {
    let arguments = [&["probe", "sitemap.xml", "-o", "site.jsonl"], extra].concat();
    let output = run(folder, &arguments);
    (output.status.code(), stderr(&output))
}

/// The records of the output by URL. A URL has only one record with a status.
fn records(folder: &Folder) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(folder.path().join("site.jsonl")).unwrap();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        crate::outputs::assert_matches_schema("probe", line);
        let record: Value = serde_json::from_str(line).unwrap();
        let url = record["url"].as_str().unwrap().to_owned();
        // A URL without a response is requested again, which gives a second record.
        let earlier = found.insert(url, record);
        assert!(earlier.is_none_or(|earlier| earlier["status"].is_null()), "twice: {line}");
    }
    found
}

fn pages(seen: &Seen) -> Reply {
    if seen.path == "/robots.txt" { Reply::status(404) } else { Reply::html("<title>page</title>") }
}

#[test]
fn each_url_is_requested_once_and_recorded() {
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
    // Existing results are not overwritten, and their URLs are not requested again.
    let (status, notes) = probe(&folder, &FAST);
    assert!(status == Some(2) && notes.contains("site.jsonl has results already"), "{notes}");
    let (status, notes) = probe(&folder, &["--resume", "--allow-private"]);
    assert!(status == Some(0) && notes.contains("no URL to request; the file has 5 results already"), "{notes}");
    assert_eq!(server.log().len(), 6);
    // Another output, selected rows, and only the status.
    let arguments = ["probe", "sitemap.xml", "-o", "-", "--where", "loc:missing", "--head", "--ignore-robots"];
    let output = run(&folder, &[&arguments[..], &FAST].concat());
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
    for (arguments, expected) in [
        (&["--rate", "x"][..], "expected a number of requests"),
        (&["--concurrency", "0"], "0 is not in 1..=256"),
        (&["--header", "a b: c", "--allow-private"], "is not a valid header"),
        (&["--max-age", "7d"], "--resume"),
        (&["--allow-host", "https://e.com/"], "expected a host"),
    ] {
        let (status, notes) = probe(&folder, arguments);
        assert!(status == Some(2) && notes.contains(expected), "{arguments:?}: {notes}");
    }
    let (status, notes) = probe(&folder, &["--cacert", "gone.pem", "--allow-private"]);
    assert!(status == Some(3) && notes.contains("gone.pem"), "{notes}");
    assert!(server.log().is_empty());
}

#[test]
fn a_killed_run_is_resumed() {
    let (sender, receiver) = channel();
    let sender = Mutex::new(Some(sender));
    let server = Server::start(move |seen| {
        // Only the first request hangs: the client waits for it until it is killed.
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
    let arguments = ["probe", "sitemap.xml", "-o", "site.jsonl", "--concurrency", "1"];
    let mut command = Command::new(program());
    command.args(arguments).args(FAST).current_dir(folder.path()).env_clear().envs(environment(folder.path()));
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    receiver.recv_timeout(std::time::Duration::from_secs(60)).expect("the thirtieth page is asked for");
    child.kill().unwrap();
    child.wait().unwrap();
    // Simulates a last line that was only partly written.
    let path = folder.path().join("site.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let line_count = text.lines().count();
    assert!((20..=30).contains(&line_count), "{line_count} lines");
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    let before = server.log().len();
    let (status, notes) = probe(&folder, &[&["--resume"][..], &FAST].concat());
    assert_eq!(status, Some(0), "{notes}");
    let records = records(&folder);
    assert_eq!(records.len(), 60);
    assert!(records.values().all(|record| record["status"] == 200));
    // Only URLs without a result are requested, and robots.txt.
    let requested: std::collections::BTreeSet<String> =
        server.log()[before..].iter().map(|seen| seen.path.clone()).collect();
    assert_eq!(requested.len(), 60 - (line_count - 1) + 1);
    // URLs whose result is older than `--max-age` are requested again, and the new results are appended.
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
fn an_interrupted_run_prints_its_summary_and_is_resumed() {
    let (request_sender, request_receiver) = channel();
    let (signal_sender, signal_receiver) = channel();
    let (request_sender, signal_receiver) = (Mutex::new(Some(request_sender)), Mutex::new(signal_receiver));
    let server = Server::start(move |seen| {
        // The signal is sent during this request.
        if seen.path == "/30"
            && let Some(request_sender) = request_sender.lock().unwrap().take()
        {
            request_sender.send(()).unwrap();
            signal_receiver.lock().unwrap().recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        }
        pages(seen)
    });
    let folder = Folder::new();
    sitemap(&folder, (0..60).map(|number| server.url(&format!("/{number}"))));
    let arguments = ["probe", "sitemap.xml", "-o", "site.jsonl", "--concurrency", "1"];
    let mut command = Command::new(program());
    command.args(arguments).args(&FAST[..3]).current_dir(folder.path()).env_clear().envs(environment(folder.path()));
    let child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    request_receiver.recv_timeout(std::time::Duration::from_secs(60)).expect("the page is asked for");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    signal_sender.send(()).unwrap();
    let output = child.wait_with_output().unwrap();
    let notes = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{notes}");
    assert!(notes.contains(" URLs asked: ") && notes.contains("stopped by a signal"), "{notes}");
    let count = records(&folder).len();
    assert!((1..60).contains(&count), "{count}");
    let (status, notes) = probe(&folder, &[&["--resume"][..], &FAST].concat());
    assert_eq!(status, Some(0), "{notes}");
    assert!(records(&folder).len() == 60 && records(&folder).values().all(|record| record["status"] == 200));
}

#[test]
fn a_server_that_stops_responding_is_skipped_and_requested_later() {
    let server = Server::dying(1_000, pages);
    let address = server.address;
    let folder = Folder::new();
    sitemap(&folder, (0..1_500).map(|number| server.url(&format!("/{number}"))));
    let (status, notes) = probe(&folder, &FAST);
    assert_eq!(status, Some(3), "{notes}");
    assert!(notes.contains("127.0.0.1 was skipped: 10 failures in a row"), "{notes}");
    assert!(notes.contains("URLs were not requested; --resume requests them later"), "{notes}");
    // Requests in progress when the server died have a record without a status.
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
fn rate_and_concurrency_limits_apply_to_the_whole_run() {
    let server = Server::start(pages);
    let folder = Folder::new();
    sitemap(&folder, (0..400).map(|number| server.url(&format!("/{}/{number}", number % 4))));
    let arguments = ["--allow-private", "--rate", "20", "--concurrency", "2", "--sample", "40"];
    let (status, notes) = probe(&folder, &arguments);
    assert_eq!(status, Some(0), "{notes}");
    assert!(notes.contains("40 URLs asked: 2xx 40"), "{notes}");
    assert!(server.most_at_a_time() <= 2, "{}", server.most_at_a_time());
    assert!(server.most_in_a_second() <= 22, "{}", server.most_in_a_second());
    for section in 0..4 {
        let is_in_section = |path: &&String| path.starts_with(&format!("/{section}/"));
        assert_eq!(server.paths().iter().filter(is_in_section).count(), 10, "section {section}");
    }
}

/// A site with pages that need a password.
fn protected_pages(seen: &Seen) -> Reply {
    match seen.path.as_str() {
        "/robots.txt" => Reply::status(404),
        // `reader:open sesame`
        _ if seen.header("authorization") != Some("Basic cmVhZGVyOm9wZW4gc2VzYW1l") => Reply::status(401),
        "/away" => Reply::redirect(302, seen.header("x-other").unwrap()),
        _ => Reply::html("<title>there</title>"),
    }
}

/// Runs the program with the environment variable `SITE_LOGIN`.
fn run_with_login(folder: &Folder, arguments: &[&str], value: Option<&str>) -> (Option<i32>, String) {
    let mut command = Command::new(program());
    command.env_clear().envs(environment(folder.path())).envs(value.map(|value| ("SITE_LOGIN", value)));
    let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
    (output.status.code(), stderr(&output))
}

#[test]
fn credentials_are_sent_only_to_the_host_of_the_set() {
    let (server, other) = (Server::start(protected_pages), Server::start(pages));
    let folder = Folder::new();
    sitemap(&folder, [server.url("/a"), server.url("/away"), server.url("/b"), other.url("/c")]);
    let (host, target) = (other.address.to_string(), format!("X-Other: {}", other.url("/d")));
    let arguments = ["probe", "sitemap.xml", "-o", "site.jsonl", "--basic-auth", "SITE_LOGIN", "--allow-host", &host];
    let arguments = [&arguments[..], &FAST, &["--header", &target]].concat();
    // Without the variable, or with an invalid value, nothing is sent; the value is never shown.
    for (value, expected) in [(None, "is not set"), (Some("open sesame"), "does not hold USER:PASSWORD")] {
        let (status, notes) = run_with_login(&folder, &arguments, value);
        assert!(status == Some(2) && notes.contains(expected) && !notes.contains("sesame"), "{notes}");
    }
    assert!(server.log().is_empty() && other.log().is_empty());
    let (status, notes) = run_with_login(&folder, &arguments, Some("reader:open sesame"));
    assert_eq!(status, Some(0), "{notes}");
    let records = records(&folder);
    assert_eq!(records[&server.url("/a")]["title"], "there");
    assert_eq!(records[&server.url("/away")]["final"], other.url("/d").as_str());
    assert_eq!(records[&other.url("/c")]["status"], 200);
    assert!(server.log().iter().all(|seen| seen.header("authorization").is_some()));
    assert_eq!(other.paths(), ["/c", "/d"]);
    assert!(other.log().iter().all(|seen| seen.header("authorization").is_none()));
    // A password is not accepted on the command line.
    let (status, notes) = run_with_login(&folder, &["probe", ".", "-o", "x", "--basic-auth", "reader:secret"], None);
    assert!(status == Some(2) && notes.contains("the name of an environment variable"), "{notes}");
}

/// The host recorded by the download is the site, even if most rows have another host.
#[test]
fn the_site_of_a_downloaded_set_is_the_host_of_the_download() {
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
    // The option `--base-url` takes precedence.
    let base = other.url("/");
    let output = run(&folder, &[&["probe", "sitemap.xml", "-o", "-", "--base-url", &base][..], &FAST].concat());
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
}
