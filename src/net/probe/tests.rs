//! Tests of probes against servers on loopback, with real TCP and TLS.

use super::super::hosts::HostRule;
use super::super::resolver::PublicOnly;
use super::super::test_server::{Fault, Reply, Seen, Server};
use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Options without a rate limit, for servers on loopback.
fn options(urls: &[String]) -> Options {
    let rules = urls.iter().filter_map(|url| requestable(url)).map(|url| HostRule::of_url(&url).unwrap());
    let hosts = Hosts::of(None, &rules.collect::<Vec<_>>());
    Options {
        settings: Settings {
            user_agent: "sited/0.0 (+https://example.com)".to_owned(),
            headers: Vec::new(),
            credentials: None,
            timeout: Duration::from_secs(30),
            idle_timeout: None,
            allow_private: true,
            loopback: Vec::new(),
            certificates: None,
            connections: 8,
        },
        hosts,
        limits: Limits { rate: 0.0, concurrency: 4 },
        ignore_robots: false,
        head_only: false,
    }
}

/// Requests URLs. Returns the records by URL, and the summary.
fn probe(options: Options, urls: &[String]) -> (BTreeMap<String, Record>, Summary) {
    run(&Prober::new(options).unwrap(), urls)
}

fn run(prober: &Prober, urls: &[String]) -> (BTreeMap<String, Record>, Summary) {
    let mut records = BTreeMap::new();
    let summary = prober.run(urls.iter().cloned().map(Ok), |event| {
        if let Event::Record(record) = event {
            let earlier = records.insert(record.url.clone(), *record);
            assert!(earlier.is_none(), "{earlier:?} was requested twice");
        }
        Ok(())
    });
    (records, summary.unwrap())
}

/// The record for one URL of a server.
fn one(server: &Server, path: &str) -> Record {
    let urls = [server.url(path)];
    let (mut records, _) = probe(options(&urls), &urls);
    records.remove(&urls[0]).unwrap_or_else(|| panic!("{path} was not requested"))
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_page_is_described() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/page" => Reply::html(
            "<title>T</title><link rel=canonical href=/c><meta name=robots content=noindex>\
             <link rel=alternate hreflang=de href=/de>",
        )
        .with("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
        .with("ETag", "\"x\"")
        .with("X-Robots-Tag", "nofollow")
        .with("Set-Cookie", "a=b"),
        "/gzip" => Reply { body: gzipped("<title>zipped</title>"), ..Reply::html("") }.with("Content-Encoding", "gzip"),
        "/error-page" => Reply::html("<title>Not found</title>"),
        "/pdf" => Reply::text("<title>no</title>").with("Link", "<https://e.com/x>; rel=canonical"),
        "/escape" => Reply::html("<title>\x1b[31mred</title>").with("ETag", "\u{9b}31m"),
        _ => Reply::status(404),
    });
    let page = one(&server, "/page#fragment");
    assert_eq!((page.status, page.final_status, page.location.as_deref()), (Some(200), Some(200), None));
    assert_eq!(
        (page.last.as_deref(), page.media_type.as_deref()),
        (Some(&*server.url("/page#fragment")), Some("text/html"))
    );
    assert_eq!((page.modified.as_deref(), page.etag.as_deref()), (Some("1994-11-06T08:49:37Z"), Some("\"x\"")));
    assert_eq!((page.title.as_deref(), page.canonical), (Some("T"), Some(server.url("/c"))));
    assert_eq!(page.robots.as_deref(), Some("nofollow, noindex"));
    assert_eq!(page.hreflang, Some(BTreeMap::from([("de".to_owned(), server.url("/de"))])));
    assert!(page.error.is_none() && page.bytes.is_some_and(|bytes| bytes > 100) && page.ms.is_some());
    assert_eq!(one(&server, "/gzip").title.as_deref(), Some("zipped"));
    assert_eq!(one(&server, "/error-page").title.as_deref(), Some("Not found"));
    let pdf = one(&server, "/pdf");
    assert_eq!((pdf.title, pdf.canonical.as_deref()), (None, Some("https://e.com/x")));
    let missing = one(&server, "/missing");
    assert_eq!((missing.status, missing.final_status, missing.error), (Some(404), Some(404), None));
    let line = one(&server, "/escape").line();
    assert!(!line.trim_end().chars().any(char::is_control), "{line:?}");
    // Credentials and fragments of URLs are not sent, and cookies are not returned.
    let urls = [server.url("/page").replace("http://", "http://user:secret@")];
    probe(options(&urls), &urls);
    let log = server.log();
    assert!(log.iter().all(|seen| seen.header("authorization").is_none() && seen.header("cookie").is_none()));
    assert!(log.iter().all(|seen| seen.header("user-agent") == Some("sited/0.0 (+https://example.com)")));
    assert!(log.iter().all(|seen| !seen.path.contains('#')));
}

#[test]
fn redirects_are_followed_by_hand() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/moved" => Reply::redirect(301, "/page"),
        "/chain" => Reply::redirect(302, "/moved"),
        "/self" => Reply::redirect(301, "/self"),
        "/a" => Reply::redirect(302, "/b"),
        "/b" => Reply::redirect(302, "/a"),
        "/other" => Reply::redirect(301, "https://other.example/x"),
        "/file" => Reply::redirect(301, "file:///etc/passwd"),
        "/gone" => Reply::redirect(308, "/missing"),
        "/none" => Reply::status(301),
        "/page" => Reply::html("<title>Page</title>"),
        path => match path.strip_prefix("/long/").and_then(|number| number.parse::<u32>().ok()) {
            Some(number) => Reply::redirect(302, &format!("/long/{}", number + 1)),
            None => Reply::status(404),
        },
    });
    let moved = one(&server, "/moved");
    assert_eq!((moved.status, moved.final_status), (Some(301), Some(200)));
    assert_eq!((moved.location, moved.last), (Some(vec![server.url("/page")]), Some(server.url("/page"))));
    assert_eq!(moved.title.as_deref(), Some("Page"));
    let chain = one(&server, "/chain");
    assert_eq!((chain.status, chain.location), (Some(302), Some(vec![server.url("/moved"), server.url("/page")])));
    for (path, error, hops) in [
        ("/self", "the redirects form a loop", 1),
        ("/a", "the redirects form a loop", 2),
        ("/other", "the redirect leads to other.example, which --allow-host did not name", 1),
        ("/file", "the redirect does not lead to a web page", 1),
        ("/long/0", "more than 10 redirects", 11),
    ] {
        let record = one(&server, path);
        assert_eq!(record.error.as_deref(), Some(error), "{path}");
        assert_eq!(record.location.map(|hops| hops.len()), Some(hops), "{path}");
        assert!(matches!(record.status, Some(301 | 302)) && record.final_status.is_none(), "{path}");
    }
    let gone = one(&server, "/gone");
    assert_eq!((gone.status, gone.final_status, gone.error), (Some(308), Some(404), None));
    assert_eq!(one(&server, "/none").final_status, Some(301));
}

#[test]
fn connection_failures_are_reported_with_their_cause() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/reset" => Reply::html(&"<meta name=x>".repeat(100)).failing(Fault::Reset),
        "/cut" => Reply::html(&"<meta name=x>".repeat(100)).failing(Fault::Cut),
        "/hang" => Reply::html("").failing(Fault::Hang),
        "/half-gzip" => {
            let body = gzipped(&"<meta name=x>".repeat(5_000));
            Reply { body: body[..body.len() / 2].to_vec(), ..Reply::html("") }.with("Content-Encoding", "gzip")
        }
        "/brotli" => Reply::html("").with("Content-Encoding", "br"),
        _ => Reply::status(404),
    });
    for (path, status, words) in [
        ("/reset", Some(200), &["reset", "ended before"][..]),
        ("/cut", Some(200), &["ended before", "reset"]),
        ("/half-gzip", Some(200), &["cannot be read", "ended before"]),
        ("/brotli", Some(200), &["encoded as br"]),
        ("/hang", None, &["no complete answer within 1 s"]),
    ] {
        let urls = [server.url(path)];
        let mut options = options(&urls);
        // Short only for the test of the timeout, since a busy machine may be slow.
        options.settings.timeout = Duration::from_secs(if path == "/hang" { 1 } else { 60 });
        let (records, summary) = probe(options, &urls);
        let record = &records[&urls[0]];
        let error = record.error.as_deref().unwrap_or_default();
        assert_eq!(record.status, status, "{path}: {error}");
        assert!(words.iter().any(|word| error.contains(word)), "{path}: {error}");
        assert_eq!(summary, Summary::default());
    }
    // A server that does not listen: its robots.txt cannot be fetched, so nothing is requested.
    let urls = {
        let server = Server::start(|_| Reply::status(200));
        [server.url("/a"), server.url("/b")]
    };
    let (records, summary) = probe(options(&urls), &urls);
    assert!(records.is_empty() && summary.skipped == 2, "{records:?}");
    assert!(summary.stopped[0].1.contains("connection refused"), "{summary:?}");
    let ignoring = Options { ignore_robots: true, ..options(&urls) };
    let (records, _) = probe(ignoring, &urls);
    assert!(records.values().all(|record| record.error.as_deref() == Some("connection refused")), "{records:?}");
    assert_eq!(records.len(), 2);
}

#[test]
fn certificates_are_verified() {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let wrong = generate_simple_self_signed(vec!["other.example".to_owned()]).unwrap();
    for (certified, pem, expected) in [
        ((&cert, &signing_key), Some(cert.pem()), None),
        ((&wrong.cert, &wrong.signing_key), Some(wrong.cert.pem()), Some("not valid for name")),
        ((&cert, &signing_key), None, Some("TLS: ")),
    ] {
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.1.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config =
            config.with_no_client_auth().with_single_cert(vec![certified.0.der().clone()], key.into()).unwrap();
        let server = Server::with_tls(Arc::new(config), |_| Reply::html("<title>TLS</title>"));
        let urls = [server.url("/a").replace("http:", "https:")];
        let mut options = Options { ignore_robots: true, ..options(&urls) };
        options.settings.certificates = pem.map(String::into_bytes);
        let (records, _) = probe(options, &urls);
        let record = &records[&urls[0]];
        match expected {
            None => assert_eq!((record.title.as_deref(), record.error.as_deref()), (Some("TLS"), None)),
            Some(words) => {
                let error = record.error.as_deref().unwrap_or_default();
                assert!(error.contains(words) && record.status.is_none(), "{error}");
                assert!(server.log().is_empty());
            }
        }
    }
    let mut settings = options(&[]).settings;
    settings.certificates = Some(b"nonsense".to_vec());
    assert_eq!(Client::new(&settings).unwrap_err(), SettingsError::Certificates);
    settings = Settings { certificates: None, headers: vec![("a b".into(), "c".into())], ..settings };
    assert_eq!(Client::new(&settings).unwrap_err(), SettingsError::Header("a b: c".into()));
}

#[test]
fn a_rate_limited_request_is_retried_later() {
    let count = AtomicU64::new(0);
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/always" => Reply::status(429).with("Retry-After", "0"),
        "/with" if count.fetch_add(1, Ordering::SeqCst) < 2 => Reply::status(503).with("Retry-After", "0"),
        "/without" if count.fetch_add(1, Ordering::SeqCst) < 4 => Reply::status(429),
        _ => Reply::html("<title>there</title>"),
    });
    assert_eq!(one(&server, "/with").title.as_deref(), Some("there"));
    assert_eq!(server.paths(), ["/with"; 3]);
    assert_eq!(one(&server, "/without").title.as_deref(), Some("there"));
    assert_eq!(one(&server, "/always").status, Some(429));
    let tries = server.paths().iter().filter(|path| *path == "/always").count();
    assert_eq!(tries, crate::net::polite::MAX_ATTEMPTS as usize);
    // A host that requests a pause above the maximum is skipped.
    let server = Server::start(|_| Reply::status(429).with("Retry-After", "86400"));
    let urls = [server.url("/a"), server.url("/b"), server.url("/c")];
    let (records, summary) = probe(Options { ignore_robots: true, ..options(&urls) }, &urls);
    assert!(records.is_empty() && summary.skipped == 3, "{records:?}");
    assert!(summary.stopped[0].1.contains("a pause of 86400 s"), "{summary:?}");
}

#[test]
fn robots_txt_is_fetched_once_and_obeyed() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /\n\nUser-agent: Sited\nDisallow: /private/\n"),
        "/to-private" => Reply::redirect(302, "/private/b"),
        _ => Reply::html(""),
    });
    let urls = ["/a", "/b", "/private/a", "/to-private"].map(|path| server.url(path));
    let (records, _) = probe(options(&urls), &urls);
    let errors: Vec<_> = records.values().map(|record| (record.blocked, record.error.as_deref())).collect();
    let forbids = |what: &'static str| Some(what);
    let expected = [
        (None, None),
        (None, None),
        (Some(5), forbids("robots.txt forbids this URL in line 5")),
        (None, forbids("robots.txt forbids the redirect in line 5")),
    ];
    assert_eq!(errors, expected);
    assert_eq!(server.paths(), ["/a", "/b", "/to-private"]);
    assert_eq!(server.log().iter().filter(|seen| seen.path == "/robots.txt").count(), 1);
    let (records, _) = probe(Options { ignore_robots: true, ..options(&urls) }, &urls);
    assert!(records.values().all(|record| record.error.is_none()));
    // A robots.txt that cannot be fetched forbids everything.
    let server = Server::start(|seen| Reply::status(if seen.path == "/robots.txt" { 500 } else { 200 }));
    let urls = ["/a", "/b"].map(|path| server.url(path));
    let (records, summary) = probe(options(&urls), &urls);
    assert!(records.is_empty() && server.paths().is_empty());
    assert!(summary.skipped == 2 && summary.stopped[0].1.contains("status 500"), "{summary:?}");
}

#[test]
fn rate_and_concurrency_limits_are_obeyed() {
    let slowly = |_: &Seen| {
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        let _ = receiver.recv_timeout(Duration::from_millis(30)).is_err_and(|_| true);
        Reply::html("")
    };
    let server = Server::start(slowly);
    let urls: Vec<_> = (0..40).map(|number| server.url(&format!("/{number}"))).collect();
    let (records, _) = probe(Options { limits: Limits { rate: 0.0, concurrency: 3 }, ..options(&urls) }, &urls);
    assert_eq!(records.len(), 40);
    assert!(server.most_at_a_time() <= 3, "{}", server.most_at_a_time());
    let server = Server::start(|_| Reply::html(""));
    let urls: Vec<_> = (0..25).map(|number| server.url(&format!("/{number}"))).collect();
    let (records, _) = probe(Options { limits: Limits { rate: 10.0, concurrency: 8 }, ..options(&urls) }, &urls);
    assert_eq!(records.len(), 25);
    assert!(server.most_in_a_second() <= 11, "{}", server.most_in_a_second());
}

#[test]
fn crawl_delay_is_obeyed() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nCrawl-delay: 0.4\n"),
        _ => Reply::html(""),
    });
    let urls: Vec<_> = (0..6).map(|number| server.url(&format!("/{number}"))).collect();
    let (records, _) = probe(options(&urls), &urls);
    assert_eq!(records.len(), 6);
    assert!(server.most_in_a_second() <= 4, "{}", server.most_in_a_second());
}

/// Resolves every name to the same addresses.
#[derive(Debug)]
struct Always(Vec<SocketAddr>);

impl Resolver for Always {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        self.0.iter().for_each(|address| found.push(*address));
        Ok(found)
    }
}

#[test]
fn private_addresses_receive_no_request() {
    let server = Server::start(|_| Reply::html(""));
    let port = server.address.port();
    for text in
        ["http://127.0.0.1", "http://localhost", "http://[::ffff:127.0.0.1]", "http://2130706433", "http://0x7f.1"]
    {
        let urls = [format!("{text}:{port}/a")];
        assert!(refused_address(&requestable(&urls[0]).unwrap()).is_some(), "{text}");
        let mut options = Options { ignore_robots: true, ..options(&urls) };
        options.settings.allow_private = false;
        let (records, _) = probe(options, &urls);
        let error = records[&urls[0]].error.clone().unwrap_or_default();
        assert!(error.contains("loopback") && error.contains("--allow-private"), "{text}: {error}");
    }
    // A name that resolved to a public address before and to a loopback address now (DNS rebinding).
    for address in [format!("127.0.0.1:{port}"), format!("[::ffff:127.0.0.1]:{port}")] {
        let urls = [format!("http://rebound.example:{port}/a")];
        let mut options = Options { ignore_robots: true, ..options(&urls) };
        options.settings.allow_private = false;
        let client = Client::with_resolver(&options.settings, Always(vec![address.parse().unwrap()])).unwrap();
        let (records, _) = run(&Prober::with_client(client, options), &urls);
        assert!(records[&urls[0]].error.as_ref().unwrap().contains("rebound.example is a loopback"), "{records:?}");
    }
    assert!(server.log().is_empty());
    // Only the public ones of several addresses are used.
    let mixed = ["127.0.0.1:80", "93.184.216.34:80", "10.0.0.1:80"].map(|address| address.parse().unwrap());
    let resolver = PublicOnly::new(Always(mixed.to_vec()), false, Vec::new());
    let timeout = NextTimeout::default();
    let found = resolver.resolve(&"http://e.com/".parse().unwrap(), &Config::default(), timeout).unwrap();
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["93.184.216.34:80"]);
}

/// Counts how often a name is resolved.
#[derive(Debug)]
struct Counted(Always, Arc<AtomicU64>);

impl Resolver for Counted {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.resolve(uri, config, timeout)
    }
}

#[test]
fn a_name_is_resolved_once_and_connections_are_reused() {
    let server = Server::start(|_| Reply::html(""));
    let urls: Vec<_> =
        (0..50).map(|number| format!("http://named.example:{}/{number}", server.address.port())).collect();
    let count = Arc::new(AtomicU64::new(0));
    let settings = Settings { connections: 4, ..options(&urls).settings };
    let resolver = Counted(Always(vec![server.address]), Arc::clone(&count));
    let limits = Limits { rate: 0.0, concurrency: 4 };
    let prober = Prober::with_client(
        Client::with_resolver(&settings, resolver).unwrap(),
        Options { settings, limits, ..options(&urls) },
    );
    let (records, _) = run(&prober, &urls);
    assert_eq!(records.len(), 50);
    // Four workers may resolve the name before it is in the cache.
    assert!(count.load(Ordering::SeqCst) <= 4, "{count:?}");
    assert!(server.connections() <= 4, "{}", server.connections());
}

#[test]
fn hosts_that_were_not_allowed_receive_no_request() {
    let (own, other) = (Server::start(|_| Reply::html("")), Server::start(|_| Reply::html("")));
    let urls = [own.url("/a"), other.url("/b")];
    let (records, _) = probe(options(&urls[..1]), &urls);
    assert_eq!(records.into_keys().collect::<Vec<_>>(), [own.url("/a")]);
    assert!(other.log().is_empty());
}

#[test]
fn a_server_restart_loses_no_url() {
    let handler = |seen: &Seen| if seen.path == "/robots.txt" { Reply::status(404) } else { Reply::html("") };
    let server = Server::dying(30, handler);
    let address = server.address;
    let urls: Vec<_> = (0..100).map(|number| server.url(&format!("/{number}"))).collect();
    let (mut first, summary) = probe(options(&urls), &urls);
    assert_eq!(summary.stopped.len(), 1, "{summary:?}");
    assert_eq!(summary.skipped as usize + first.len(), 100);
    // If one connection fails while another still gets a response, its URL has an error; `--resume` requests it again.
    first.retain(|_, record| record.status == Some(200));
    assert!(!first.is_empty() && first.len() <= 30, "{summary:?} {}", first.len());
    drop(server);
    let _server = Server::again(address, handler);
    let rest: Vec<_> = urls.iter().filter(|url| !first.contains_key(*url)).cloned().collect();
    let (second, summary) = probe(options(&urls), &rest);
    assert_eq!((second.len() + first.len(), summary.skipped), (100, 0));
    assert!(second.values().all(|record| record.status == Some(200)));
}

#[test]
fn head_only_requests_send_head() {
    let server = Server::start(|_| Reply::html("<title>x</title>"));
    let urls = [server.url("/a")];
    let (records, _) = probe(Options { head_only: true, ..options(&urls) }, &urls);
    assert_eq!((records[&urls[0]].status, records[&urls[0]].title.as_deref()), (Some(200), None));
    let methods: Vec<_> = server.log().into_iter().map(|seen| seen.method).collect();
    assert_eq!(methods, ["GET", "HEAD"]);
}

#[test]
fn an_error_of_the_caller_stops_the_probe() {
    let server = Server::start(|_| Reply::html(""));
    let urls: Vec<_> = (0..2_000).map(|number| server.url(&format!("/{number}"))).collect();
    let prober = Prober::new(options(&urls)).unwrap();
    let mut left = 3;
    let ended = prober.run(urls.iter().cloned().map(Ok), |event| match event {
        Event::Record(_) if left == 0 => Err(io::Error::other("full")),
        Event::Record(_) => {
            left -= 1;
            Ok(())
        }
        Event::Tick => Ok(()),
    });
    assert_eq!(ended.unwrap_err().to_string(), "full");
    // Up to a full queue and a full batch, robots.txt, and one record for each worker.
    let most = 2 * crate::net::handover::MAX_QUEUED + 1 + 4;
    assert!(server.log().len() <= most, "{}", server.log().len());
}

#[test]
fn an_error_of_the_caller_stops_the_probe_while_every_queue_is_full() {
    let server = Server::start(|_| Reply::html(""));
    let urls: Vec<_> = (0..500).map(|number| server.url(&format!("/{number}"))).collect();
    let prober = Prober::new(options(&urls)).unwrap();
    // Requests: robots.txt, at least one record received, a full queue, and one for each of 4 workers, which wait until
    // the queue is closed by the error.
    let ended = prober.run(urls.iter().cloned().map(Ok), |_| {
        while server.log().len() < 1 + 1 + crate::net::handover::MAX_QUEUED + 4 {
            std::thread::yield_now();
        }
        Err(io::Error::other("full"))
    });
    assert_eq!(ended.unwrap_err().to_string(), "full");
}

#[test]
fn a_stopped_run_does_not_wait_for_a_robots_txt() {
    let server = Server::start(|_| Reply::text(""));
    let url = requestable(&server.url("/a")).unwrap();
    let prober =
        Prober::new(Options { limits: Limits { rate: 0.02, concurrency: 1 }, ..options(&[server.url("/a")]) }).unwrap();
    let site = prober.site(&url);
    drop(site.pace.acquire(|| false).unwrap());
    prober.is_stopped.store(true, Ordering::Relaxed);
    assert!(matches!(prober.blocked(&url), Err(SendError::Skipped)));
    assert!(server.log().is_empty());
    assert_eq!(site.pace.skip_reason(), None);
}
