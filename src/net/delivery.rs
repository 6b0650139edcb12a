//! Findings about how a server delivers sitemaps.

use crate::protocol::Severity;
use crate::words::grouped;
use url::Url;

/// The response has another status than 200.
pub(crate) const STATUS: &str = "http-status";
/// The URL redirects, or a redirect cannot be followed.
pub(crate) const REDIRECT: &str = "http-redirect";
/// The response is not a sitemap, or its media type is wrong.
pub(crate) const CONTENT_TYPE: &str = "http-content-type";
/// The body cannot be decompressed.
pub(crate) const ENCODING: &str = "http-encoding";
/// There are more bytes, sitemaps or levels of indexes than allowed.
pub(crate) const TOO_LARGE: &str = "http-too-large";
/// There is no complete response.
pub(crate) const NO_ANSWER: &str = "http-no-answer";
/// The sitemap is on a host that was not allowed.
pub(crate) const OTHER_HOST: &str = "http-other-host";
/// The address of the host is not public.
pub(crate) const ADDRESS: &str = "http-address";
/// No file name can be derived from the URL, or it cannot be used.
pub(crate) const FILE_NAME: &str = "http-file-name";
/// The local file was changed since it was downloaded.
pub(crate) const CHANGED_HERE: &str = "http-changed-here";

/// A finding about the delivery of one sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// One of the codes of this module.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The URL that was requested, or the URL of the index that lists the sitemap.
    pub url: String,
    /// The problem and advice.
    pub message: String,
}

impl Delivery {
    /// Creates a finding of severity error: the sitemap or a part of it is missing.
    pub(super) fn error(code: &'static str, url: &str, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, url: url.to_owned(), message: message.into() }
    }

    /// Creates a finding of severity warning: the sitemap was downloaded.
    pub(super) fn warning(code: &'static str, url: &str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, url, message) }
    }

    /// Creates the finding for an HTTP status.
    pub(super) fn status(url: &Url, status: u16) -> Self {
        let name = ureq::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let name = name.map_or_else(String::new, |name| format!(" ({name})"));
        let advice = match status {
            404 | 410 => "remove the entry, or put the sitemap there",
            401 | 403 => "search engines cannot read it either; --header sends what the server asks for",
            429 | 503 => "the server wants fewer requests; try again later with a lower --rate",
            500.. => "the server failed; try again later",
            _ => "a sitemap is delivered with status 200",
        };
        Self::error(STATUS, url.as_str(), format!("the server answers {status}{name}; {advice}"))
    }

    /// Creates the finding for a body of more bytes than allowed.
    pub(super) fn too_large(url: &Url, most: u64) -> Self {
        let most = grouped(most);
        let message = format!(
            "it has more than {most} bytes uncompressed; a sitemap may have 52,428,800. sited get --max-bytes takes more"
        );
        Self::error(TOO_LARGE, url.as_str(), message)
    }
}
