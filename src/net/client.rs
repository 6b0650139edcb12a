//! Sends single HTTP requests, without redirects, cookies or a proxy. Credentials are only sent to their own site.

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
    /// Additional headers, as names and values.
    pub headers: Vec<(String, String)>,
    /// The user name and password of the site.
    pub credentials: Option<Credentials>,
    /// Maximum duration of a request, including reading the body.
    pub timeout: Duration,
    /// Maximum time without any data from the server; `None` if only `timeout` applies.
    pub idle_timeout: Option<Duration>,
    /// Whether requests may go to addresses that are not public.
    pub allow_private: bool,
    /// Hosts and ports on this machine that the user named, and whose loopback addresses are therefore allowed.
    pub loopback: Vec<(String, u16)>,
    /// Trusted root certificates in PEM format; `None` for those of the system.
    pub certificates: Option<Vec<u8>>,
    /// Maximum number of idle connections that are kept for reuse.
    pub connections: usize,
}

/// An error in the settings of a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    /// A header is not valid in HTTP.
    #[error("{0:?} is not a valid header")]
    Header(String),
    /// There are no certificates, or they cannot be parsed.
    #[error("no valid certificate in PEM form")]
    Certificates,
}

/// An HTTP client that reuses its connections.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    headers: HeaderMap,
    credentials: Option<Credentials>,
    limits: TimeLimits,
}

/// A response whose body has not been read.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
    /// Time from the start of the request until the headers were received.
    pub(super) time: Duration,
}

/// A response body before decompression, which counts the bytes that were read.
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
    /// Creates a client with the resolver of the system.
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
            .timeout_connect(settings.idle_timeout)
            .timeout_per_read(settings.idle_timeout)
            .max_idle_connections(settings.connections)
            .max_idle_connections_per_host(settings.connections)
            .tls_config(tls)
            .build();
        let resolver = PublicOnly::new(resolver, settings.allow_private, settings.loopback.clone());
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        let limits = TimeLimits { total: settings.timeout, idle_timeout: settings.idle_timeout };
        Ok(Self { agent, headers: headers(settings)?, credentials: settings.credentials.clone(), limits })
    }

    /// Sends a request.
    pub(super) fn send(&self, method: Method, url: &Url) -> Result<Response, RequestError> {
        self.send_with(method, url, &HeaderMap::new())
    }

    /// Sends a request with additional headers.
    pub(super) fn send_with(
        &self,
        method: Method,
        url: &Url,
        additional: &HeaderMap,
    ) -> Result<Response, RequestError> {
        let mut request = Request::new(());
        *request.method_mut() = method;
        self.run(request, url, additional)
    }

    /// Sends a JSON document with POST.
    pub(super) fn post_json(&self, url: &Url, body: &[u8]) -> Result<Response, RequestError> {
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        let mut additional = HeaderMap::new();
        additional.insert("content-type", HeaderValue::from_static("application/json; charset=utf-8"));
        self.run(request, url, &additional)
    }

    fn run(
        &self,
        mut request: Request<impl AsSendBody>,
        url: &Url,
        additional: &HeaderMap,
    ) -> Result<Response, RequestError> {
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().extend(additional.clone());
        if let Some(header) = self.credentials.as_ref().and_then(|credentials| credentials.header_for(url)) {
            request.headers_mut().insert(AUTHORIZATION, header);
        }
        *request.uri_mut() = url.as_str().parse().map_err(|error| {
            RequestError::new(FailureKind::Invalid, format!("the URL cannot be requested ({error})"))
        })?;
        let start = Instant::now();
        let response = self.agent.run(request).map_err(|error| RequestError::from_client(error, self.limits))?;
        let time = start.elapsed();
        let (parts, body) = response.into_parts();
        let body = Body { reader: body.into_reader(), read: 0 };
        Ok(Response { status: parts.status.as_u16(), headers: parts.headers, body, time })
    }

    /// Converts an error from reading a body.
    pub(super) fn body_error(&self, error: &io::Error) -> RequestError {
        RequestError::from_io(error, self.limits)
    }
}

fn headers(settings: &Settings) -> Result<HeaderMap, SettingsError> {
    let mut headers = HeaderMap::new();
    let defaults = [
        ("user-agent", settings.user_agent.as_str()),
        ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"),
        ("accept-encoding", "gzip"),
    ];
    let additional = settings.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in defaults.into_iter().chain(additional) {
        let invalid = || SettingsError::Header(format!("{name}: {value}"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        headers.insert(header, HeaderValue::from_str(value).map_err(|_| invalid())?);
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

/// The value of a header without control characters, which a terminal could interpret.
pub(super) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(printable)
}

/// The values of a header that may be repeated, without control characters.
pub(super) fn header_values(headers: &HeaderMap, name: &str) -> Vec<String> {
    headers.get_all(name).iter().map(printable).collect()
}

fn printable(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).chars().filter(|char| !char.is_control()).collect()
}
