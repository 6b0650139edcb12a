//! Sends single requests: no redirects, no cookies, no proxy, and credentials only for their own site.

use super::credentials::Credentials;
use super::failure::{FailureKind, RequestError, TimeLimits};
use super::resolver::PublicOnly;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::http::header::AUTHORIZATION;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::{DefaultResolver, Resolver};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, AsSendBody};
use url::Url;

/// How requests are sent.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The header `User-Agent`.
    pub user_agent: String,
    /// More headers.
    pub headers: Vec<(String, String)>,
    /// The user name and password of the site.
    pub credentials: Option<Credentials>,
    /// The most time that one request may take, to the end of what is read of the body.
    pub timeout: Duration,
    /// The most time in which a server may send nothing at all; `None`: only `timeout` counts.
    pub silence: Option<Duration>,
    /// Whether addresses that are not public may be asked.
    pub allow_private: bool,
    /// Servers on this machine that the user named by host and port: their loopback addresses may be asked.
    pub loopback: Vec<(String, u16)>,
    /// Certificates in PEM form that are trusted instead of the system's.
    pub certificates: Option<Vec<u8>>,
    /// Requests that run at a time.
    pub connections: usize,
}

/// Why a client cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    /// A header that HTTP does not allow.
    #[error("{0:?} is not a valid header")]
    Header(String),
    /// Certificates that cannot be read.
    #[error("no valid certificate in PEM form")]
    Certificates,
}

/// Sends requests. Connections are kept and used again.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    headers: HeaderMap,
    credentials: Option<Credentials>,
    limits: TimeLimits,
}

/// An answer whose body has not been read.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
    /// Until the headers were there.
    pub(super) time: Duration,
}

/// The body as it comes over the network; what was read is counted.
pub(super) struct Body {
    reader: ureq::BodyReader<'static>,
    pub(super) read: u64,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.read += count as u64;
        Ok(count)
    }
}

impl Client {
    /// A client that resolves names as the system does.
    pub(crate) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        Self::with_resolver(settings, DefaultResolver::default())
    }

    pub(super) fn with_resolver(settings: &Settings, resolver: impl Resolver) -> Result<Self, SettingsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = match &settings.certificates {
            None => RootCerts::PlatformVerifier,
            Some(pem) => RootCerts::from(certificates(pem)?),
        };
        let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider).root_certs(roots).build();
        let config = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(Some(settings.timeout))
            .timeout_connect(settings.silence)
            .timeout_per_read(settings.silence)
            .max_idle_connections(settings.connections)
            .max_idle_connections_per_host(settings.connections)
            .tls_config(tls)
            .build();
        let resolver = PublicOnly::new(resolver, settings.allow_private, settings.loopback.clone());
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        let limits = TimeLimits { whole: settings.timeout, silence: settings.silence };
        Ok(Self { agent, headers: headers(settings)?, credentials: settings.credentials.clone(), limits })
    }

    /// Sends one request.
    pub(super) fn send(&self, method: Method, url: &Url) -> Result<Answer, RequestError> {
        self.send_with(method, url, &HeaderMap::new())
    }

    /// Sends one request with more headers.
    pub(super) fn send_with(&self, method: Method, url: &Url, more: &HeaderMap) -> Result<Answer, RequestError> {
        let mut request = Request::new(());
        *request.method_mut() = method;
        self.run(request, url, more)
    }

    /// Sends a JSON document with POST.
    pub(super) fn post_json(&self, url: &Url, body: &[u8]) -> Result<Answer, RequestError> {
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        let mut more = HeaderMap::new();
        more.insert("content-type", HeaderValue::from_static("application/json; charset=utf-8"));
        self.run(request, url, &more)
    }

    fn run(&self, mut request: Request<impl AsSendBody>, url: &Url, more: &HeaderMap) -> Result<Answer, RequestError> {
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().extend(more.clone());
        if let Some(header) = self.credentials.as_ref().and_then(|credentials| credentials.header_for(url)) {
            request.headers_mut().insert(AUTHORIZATION, header);
        }
        *request.uri_mut() = url.as_str().parse().map_err(|error| {
            RequestError::new(FailureKind::Answer, format!("the URL cannot be requested ({error})"))
        })?;
        let begun = Instant::now();
        let answer = self.agent.run(request).map_err(|error| RequestError::of(error, self.limits))?;
        let time = begun.elapsed();
        let (parts, body) = answer.into_parts();
        let body = Body { reader: body.into_reader(), read: 0 };
        Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body, time })
    }

    /// Words for an error while a body is read.
    pub(super) fn body_error(&self, error: &io::Error) -> RequestError {
        RequestError::of_io(error, self.limits)
    }
}

fn headers(settings: &Settings) -> Result<HeaderMap, SettingsError> {
    let mut headers = HeaderMap::new();
    let own = [
        ("user-agent", settings.user_agent.as_str()),
        ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"),
        ("accept-encoding", "gzip"),
    ];
    let more = settings.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in own.into_iter().chain(more) {
        let wrong = || SettingsError::Header(format!("{name}: {value}"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        headers.insert(header, HeaderValue::from_str(value).map_err(|_| wrong())?);
    }
    Ok(headers)
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, SettingsError> {
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|_| SettingsError::Certificates)? {
            found.push(certificate);
        }
    }
    if found.is_empty() { Err(SettingsError::Certificates) } else { Ok(found) }
}

/// The text of a header, without characters that a terminal would obey.
pub(super) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(text_of)
}

/// The same for a header that may be repeated.
pub(super) fn header_values(headers: &HeaderMap, name: &str) -> Vec<String> {
    headers.get_all(name).iter().map(text_of).collect()
}

fn text_of(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).chars().filter(|char| !char.is_control()).collect()
}
