//! Tests of downloads from servers on loopback with TLS and a test resolver.

use super::super::delivery::{ADDRESS, NO_ANSWER};
use super::super::hosts::{HostRule, requestable};
use super::super::resolver::PublicOnly;
use super::super::test_server::{Reply, Server};
use super::*;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::net::SocketAddr;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

const SITEMAP: &str =
    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/a</loc></url></urlset>";

/// Resolves names to the server; the address of `internal.test` is refused as a loopback address.
#[derive(Debug)]
struct Names(SocketAddr);

impl Resolver for Names {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        found.push(self.0);
        if uri.host() != Some("internal.test") {
            return Ok(found);
        }
        PublicOnly::new(Names(self.0), false, Vec::new()).resolve(&"http://x/".parse().unwrap(), config, timeout)
    }
}

fn options(hosts: &[&str], certificates: Option<Vec<u8>>) -> Options {
    let rules = hosts.iter().map(|host| HostRule::parse(host).unwrap());
    let allowed = Hosts::of(None, &rules.collect::<Vec<_>>());
    Options {
        settings: Settings {
            user_agent: "sited/0.0".to_owned(),
            headers: Vec::new(),
            credentials: None,
            timeout: Duration::from_secs(60),
            idle_timeout: Some(Duration::from_secs(30)),
            allow_private: true,
            loopback: Vec::new(),
            certificates,
            connections: 4,
        },
        hosts: allowed,
        limits: Limits { rate: 0.0, concurrency: 4 },
        max_bytes: 100_000,
        force: false,
    }
}

/// Downloads a URL, with every host name resolved to the server. Returns the summary and the number of files.
fn get(server: &Server, url: &str, options: Options) -> (Summary, usize) {
    let folder = tempfile::tempdir().unwrap();
    let client = Client::with_resolver(&options.settings, Names(server.address)).unwrap();
    let getter = Getter { client, options, paces: Mutex::default(), is_stopped: Arc::default() };
    let url = requestable(&url.replace("PORT", &server.address.port().to_string())).unwrap();
    let summary = getter.run(&url, folder.path(), |_| ()).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    // The state file does not count.
    (summary, files - 1)
}

fn xml() -> Reply {
    Reply { body: SITEMAP.into(), ..Reply::status(200) }.with("Content-Type", "text/xml; charset=utf-8")
}

#[test]
fn a_certificate_must_be_that_of_the_host() {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["site.test".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key.into()).unwrap();
    let server = Server::with_tls(Arc::new(tls), |_| xml());
    let hosts = ["site.test", "other.test"];
    let pem = Some(cert.pem().into_bytes());
    let (summary, files) = get(&server, "https://site.test:PORT/a.xml", options(&hosts, pem.clone()));
    assert_eq!((summary.findings, files, summary.entries.len()), (Vec::new(), 1, 1));
    for (url, pem) in [("https://other.test:PORT/a.xml", pem), ("https://site.test:PORT/a.xml", None)] {
        let (summary, files) = get(&server, url, options(&hosts, pem));
        let [finding] = summary.findings.as_slice() else { panic!("{:?}", summary.findings) };
        assert!(finding.code == NO_ANSWER && finding.message.contains("certificate"), "{finding:?}");
        assert_eq!((files, summary.entries.len()), (0, 0));
    }
    assert_eq!(server.log().len(), 1);
}

#[test]
fn a_redirect_or_entry_to_a_private_address_is_not_requested() {
    let index = |seen: &super::super::test_server::Seen| {
        let port = seen.header("host").unwrap().rsplit_once(':').unwrap().1.to_owned();
        let entries = [("public.test", "a"), ("internal.test", "b")]
            .map(|(host, name)| format!("<sitemap><loc>http://{host}:{port}/{name}.xml</loc></sitemap>"));
        let open = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        format!("{open}{}</sitemapindex>", entries.concat())
    };
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/moved.xml" => Reply::redirect(302, &format!("http://internal.test:{}/a.xml", 80)),
        "/index.xml" => Reply { body: index(seen).into_bytes(), ..xml() },
        _ => xml(),
    });
    let hosts = ["public.test", "internal.test"];
    let (summary, files) = get(&server, "http://public.test:PORT/moved.xml", options(&hosts, None));
    let codes = |summary: &Summary| summary.findings.iter().map(|finding| finding.code).collect::<Vec<_>>();
    assert_eq!((codes(&summary), files, summary.entries.len()), (vec![ADDRESS], 0, 0));
    assert!(summary.findings[0].message.contains("is a loopback address"), "{:?}", summary.findings);
    let (summary, files) = get(&server, "http://public.test:PORT/index.xml", options(&hosts, None));
    assert_eq!((codes(&summary), files), (vec![ADDRESS], 2));
    let hosts: Vec<_> = server.log().iter().map(|seen| seen.header("host").unwrap().to_owned()).collect();
    assert!(hosts.len() == 3 && hosts.iter().all(|host| host.starts_with("public.test")), "{hosts:?}");
}
