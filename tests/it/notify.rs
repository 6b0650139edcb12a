//! Tests of `sited notify` against servers on loopback: which URLs are sent, when, and how responses are handled.

use crate::support::server::{Fault, Reply, Seen, Server};
use crate::support::{Folder, run, stderr, stdout};
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const KEY: &str = "0123-secret-key";

fn sitemap(folder: &Folder, name: &str, rows: &[(String, &str)]) {
    let mut text = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
    for (url, lastmod) in rows {
        writeln!(text, "<url><loc>{url}</loc><lastmod>{lastmod}</lastmod></url>").unwrap();
    }
    folder.write(name, text + "</urlset>\n");
}

/// A server that is both the site with its key file and the search engine; `answer` returns the response to each batch.
fn site(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |seen| match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/indexnow") => answer(seen),
        ("GET", "/0123-secret-key.txt") => Reply::text("\u{feff}0123-secret-key\r\n"),
        _ => Reply::status(404),
    })
}

/// Writes two versions of a set of this site, `old.xml` and `new.xml`.
fn sets(server: &Server) -> Folder {
    let folder = Folder::new();
    let url = |path: &str| server.url(path);
    let old = [(url("/same"), "2026-01-01"), (url("/changed"), "2026-01-01"), (url("/gone"), "2026-01-01")];
    sitemap(&folder, "old.xml", &old);
    let new = [(url("/same"), "2026-01-01"), (url("/changed"), "2026-02-01"), (url("/new é"), "2026-02-01")];
    sitemap(&folder, "new.xml", &new);
    folder
}

/// Runs `sited notify`. Returns the exit status, standard output and standard error, neither of which may contain the
/// key.
fn notify(folder: &Folder, server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    let endpoint = server.url("/indexnow");
    let common = ["--indexnow", "--key", KEY, "--endpoint", &endpoint, "--allow-private"];
    let output = run(folder, &[&["notify"], arguments, &common].concat());
    let (out, notes) = (stdout(&output), stderr(&output));
    assert!(!out.contains(KEY) && !notes.contains(KEY), "{out}{notes}");
    (
        output.status.code(),
        out.replace(&server.address.to_string(), "HOST"),
        notes.replace(&server.address.to_string(), "HOST"),
    )
}

/// The URLs of each batch that was sent, without scheme and host.
fn batches(server: &Server) -> Vec<Vec<String>> {
    let posts = server.log().into_iter().filter(|seen| seen.method == "POST");
    posts
        .map(|seen| {
            let body: Value = serde_json::from_slice(&seen.body).unwrap();
            let urls = body["urlList"].as_array().unwrap().iter();
            urls.map(|url| url.as_str().unwrap().replace(&server.url(""), "")).collect()
        })
        .collect()
}

#[test]
fn added_changed_and_removed_urls_are_sent_once() {
    let server = site(|_| Reply::status(200));
    let folder = sets(&server);
    let (status, out, notes) = notify(&folder, &server, &["old.xml", "new.xml"]);
    assert_eq!((status, out.as_str()), (Some(0), "HOST: 3 URLs: 200 accepted\n"), "{notes}");
    assert!(notes.ends_with("3 of 3 URLs accepted\n"), "{notes}");
    assert_eq!(batches(&server), [["/gone", "/new%20%C3%A9", "/changed"]]);
    let posted = server.log().into_iter().find(|seen| seen.method == "POST").unwrap();
    let body: Value = serde_json::from_slice(&posted.body).unwrap();
    assert_eq!((body["host"].as_str(), body["key"].as_str()), (Some(&*server.address.to_string()), Some(KEY)));
    assert_eq!(body["keyLocation"].as_str(), Some(&*server.url("/0123-secret-key.txt")));
    assert_eq!(body.as_object().unwrap().len(), 4);
    assert_eq!(posted.header("content-type"), Some("application/json; charset=utf-8"));
    // The second run sends no request, not even for the key file.
    let requests = server.log().len();
    let (status, out, notes) = notify(&folder, &server, &["old.xml", "new.xml"]);
    assert_eq!((status, out.as_str()), (Some(0), ""), "{notes}");
    assert!(notes.contains("3 URLs were accepted before; --again sends them once more\nnothing to send"), "{notes}");
    assert_eq!(server.log().len(), requests);
    // A URL that changes again is sent again.
    sitemap(&folder, "new.xml", &[(server.url("/same"), "2026-01-01"), (server.url("/changed"), "2026-03-01")]);
    notify(&folder, &server, &["old.xml", "new.xml"]);
    assert_eq!(batches(&server)[1..], [["/changed"]]);
    let (_, _, notes) = notify(&folder, &server, &["old.xml", "new.xml", "--again"]);
    assert!(notes.contains("2 of 2 URLs accepted"), "{notes}");
    // All URLs of one set, with a separate state file.
    let arguments = ["new.xml", "--all", "--state", "sent"];
    notify(&folder, &server, &arguments);
    assert_eq!(batches(&server)[3..], [["/same", "/changed"]]);
    let (_, _, notes) = notify(&folder, &server, &arguments);
    assert!(notes.contains("2 URLs were accepted before") && folder.file("sent").exists(), "{notes}");
}

#[test]
fn a_batch_has_at_most_10000_urls_and_a_failed_batch_is_sent_by_the_next_run() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = site(move |_| Reply::status(if count.fetch_add(1, Ordering::SeqCst) == 1 { 500 } else { 202 }));
    let folder = Folder::new();
    let rows: Vec<(String, &str)> = (0..10_001).map(|n| (server.url(&format!("/{n}")), "2026-01-01")).collect();
    sitemap(&folder, "new.xml", &rows);
    let (status, out, notes) = notify(&folder, &server, &["new.xml", "--all"]);
    assert_eq!(status, Some(3), "{notes}");
    assert!(out.starts_with("HOST: 10,000 URLs: 202 accepted; the search engine still has to check the key"), "{out}");
    assert!(notes.contains("HOST: 1 URL: 500 the server failed\nhint: run the same command again later"), "{notes}");
    assert!(notes.ends_with("10,000 of 10,001 URLs accepted\n"), "{notes}");
    let (status, _, notes) = notify(&folder, &server, &["new.xml", "--all"]);
    assert_eq!(status, Some(0), "{notes}");
    assert_eq!(batches(&server).iter().map(Vec::len).collect::<Vec<_>>(), [10_000, 1, 1]);
    assert_eq!(batches(&server)[2], ["/10000"]);
}

#[test]
fn each_response_status_has_a_message_and_rejected_urls_are_sent_again() {
    for (reply, expected) in [
        (Reply::status(400), "400 the request is not valid\nhint: check --endpoint"),
        (Reply::status(403), "403 the key is not valid for this site\nhint: put the key into the key file"),
        (
            Reply::status(422),
            "422 URLs are not of this host, or the key does not match the key file\nhint: check --key-location",
        ),
        (Reply::status(429), "429 too many requests\nhint: wait and run the same command again"),
        (
            Reply::status(429).with("Retry-After", "86400"),
            "429 too many requests; the server wants a pause of 86,400 s\nhint: wait",
        ),
        (Reply::redirect(301, "/elsewhere"), "301 the endpoint has moved\nhint: give the new URL"),
        (Reply::text("x").failing(Fault::Cut), "200 accepted"),
    ] {
        let is_accepted = reply.status == 200;
        let server = site(move |_| reply.clone());
        let folder = sets(&server);
        let (status, out, notes) = notify(&folder, &server, &["old.xml", "new.xml"]);
        assert_eq!(status, Some(if is_accepted { 0 } else { 3 }), "{expected}: {notes}");
        assert!(format!("{out}{notes}").contains(expected), "{expected}: {out}{notes}");
        assert_eq!(batches(&server).len(), 1, "{expected}");
        notify(&folder, &server, &["old.xml", "new.xml"]);
        assert_eq!(batches(&server).len(), if is_accepted { 1 } else { 2 }, "{expected}");
    }
    // The body of a response is shown without the key and without escape sequences.
    let server = site(|_| Reply { body: b"{\"m\":\"0123-secret-key \x1b]0;x\x07\"}".to_vec(), ..Reply::status(403) });
    let folder = sets(&server);
    let (_, _, notes) = notify(&folder, &server, &["old.xml", "new.xml"]);
    assert!(notes.contains("({\"m\":\"KEY ") && !notes.contains('\x1b') && !notes.contains('\x07'), "{notes:?}");
    // The program waits for the pause that the server requests, and sends the batch again.
    let count = Arc::new(AtomicUsize::new(0));
    let server = site(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status(429).with("Retry-After", "0"),
        _ => Reply::status(200),
    });
    let folder = sets(&server);
    let (status, _, notes) = notify(&folder, &server, &["old.xml", "new.xml"]);
    assert!(status == Some(0) && notes.contains("the server asks for a pause of 0 s"), "{notes}");
    assert_eq!(batches(&server).len(), 2);
}

#[test]
fn nothing_is_sent_for_a_site_with_an_invalid_key_file() {
    for (reply, expected) in [
        (Reply::status(404), "the key file is not there: the server answers 404"),
        (Reply::redirect(302, "/key.txt"), "the key file is not there: the server answers 302"),
        (Reply::text("another-key"), "the key file does not contain the key"),
        (Reply::html("0123-secret-key"), "the key file does not contain the key"),
        (Reply::text("0123-secret-key-1"), "the key file does not contain the key"),
        (Reply::text("0123-secret-key").failing(Fault::Reset), "the key file cannot be read: "),
    ] {
        let server = Server::start(move |_| reply.clone());
        let folder = sets(&server);
        let (status, out, notes) = notify(&folder, &server, &["old.xml", "new.xml"]);
        assert_eq!((status, out.as_str()), (Some(3), ""), "{expected}: {notes}");
        assert!(notes.contains(&format!("HOST: nothing was sent: {expected}")), "{expected}: {notes}");
        assert!(notes.contains("(http://HOST/KEY.txt)\nhint: create a file at this URL"), "{notes}");
        assert!(batches(&server).is_empty());
    }
}

#[test]
fn a_key_file_in_a_folder_is_valid_only_for_urls_below_it() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/shop/key.txt" => Reply::text(KEY),
        "/indexnow" => Reply::status(200),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let urls =
        [server.url("/shop/a"), server.url("/blog/b"), "https://other.example/shop/c".to_owned(), "nonsense".into()];
    sitemap(&folder, "new.xml", &urls.map(|url| (url, "2026-01-01")));
    let arguments = ["new.xml", "--all", "--key-location", &server.url("/shop/key.txt")];
    let (status, _, notes) = notify(&folder, &server, &arguments);
    assert_eq!(status, Some(0), "{notes}");
    assert!(
        notes.contains("2 URLs are not sent: not in the folder of the key file http://HOST/shop/key.txt"),
        "{notes}"
    );
    assert!(notes.contains("1 URL is not sent: not a valid http or https URL"), "{notes}");
    assert_eq!(batches(&server), [["/shop/a"]]);
}

#[test]
fn dry_runs_and_usage_errors_send_nothing() {
    let server = site(|_| Reply::status(200));
    let folder = sets(&server);
    let before = folder.files();
    let (status, out, notes) = notify(&folder, &server, &["old.xml", "new.xml", "--dry-run"]);
    assert_eq!(status, Some(0), "{notes}");
    assert_eq!(out, "- http://HOST/gone\n+ http://HOST/new%20%C3%A9\n~ http://HOST/changed\n");
    let expected = "would send 3 URLs of HOST to http://HOST/indexnow in 1 request; key file: http://HOST/KEY.txt\n";
    assert!(notes.ends_with(expected), "{notes}");
    let endpoint = server.url("/indexnow");
    let at = ["--endpoint", endpoint.as_str()];
    let usage: [(&[&[&str]], &str); 6] = [
        (&[&["--endpoint", "http://10.0.0.1/", "--key", KEY]], "10.0.0.1 is a private address; nothing was sent"),
        (&[&at, &["--key", "short"]], "expected 8 to 128 letters"),
        (&[&at, &["--key", KEY, "--all"]], "--all takes one set"),
        (&[&["--endpoint", "ftp://e.com/", "--key", KEY]], "expected a URL"),
        (&[&at], "--key"),
        (&[&at, &["--key", KEY, "--allow-private", "--cacert", "new.xml"]], "no valid certificate"),
    ];
    for (arguments, expected) in usage {
        let arguments = [&["notify", "old.xml", "new.xml", "--indexnow"][..], &arguments.concat()].concat();
        let output = run(&folder, &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
    let (status, _, notes) = notify(&folder, &server, &["new.xml"]);
    assert!(status == Some(2) && notes.contains("nothing to compare it with"), "{notes}");
    let (status, _, notes) = notify(&folder, &server, &["old.xml", "new.xml", "--state", "old.xml"]);
    assert!(status == Some(3) && notes.contains("old.xml: line 1 was not written by sited notify"), "{notes}");
    assert!(server.log().is_empty());
    assert_eq!(folder.files(), before);
}
