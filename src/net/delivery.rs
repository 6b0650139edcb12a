//! Findings about how a site delivers its sitemaps.

use crate::protocol::Severity;
use crate::words::grouped;
use url::Url;

/// The status of an answer is not that of a sitemap.
pub(crate) const STATUS: &str = "http-status";
/// A redirect, or one that cannot be followed.
pub(crate) const REDIRECT: &str = "http-redirect";
/// The answer is no sitemap, or is not called one.
pub(crate) const CONTENT_TYPE: &str = "http-content-type";
/// The body cannot be decoded.
pub(crate) const ENCODING: &str = "http-encoding";
/// More bytes, sitemaps or levels than sitemaps may have.
pub(crate) const TOO_LARGE: &str = "http-too-large";
/// There is no complete answer.
pub(crate) const NO_ANSWER: &str = "http-no-answer";
/// It is on a host that was not allowed.
pub(crate) const OTHER_HOST: &str = "http-other-host";
/// The address of its host is not public.
pub(crate) const ADDRESS: &str = "http-address";
/// Its URL gives no file name.
pub(crate) const FILE_NAME: &str = "http-file-name";
/// The file was changed here since it was downloaded.
pub(crate) const CHANGED_HERE: &str = "http-changed-here";

/// What is wrong with the delivery of one sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// One of the codes of this module.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The URL that was asked for, or the index that lists it.
    pub url: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Delivery {
    /// A finding of severity error: the sitemap, or a part of it, is not there.
    pub(super) fn error(code: &'static str, url: &str, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, url: url.to_owned(), message: message.into() }
    }

    /// A finding of severity warning: the sitemap is there.
    pub(super) fn warning(code: &'static str, url: &str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, url, message) }
    }

    /// The finding about a status.
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

    /// The finding about a body of more bytes than allowed.
    pub(super) fn too_large(url: &Url, most: u64) -> Self {
        let most = grouped(most);
        let message = format!(
            "it has more than {most} bytes uncompressed; a sitemap may have 52,428,800. sited get --max-bytes takes more"
        );
        Self::error(TOO_LARGE, url.as_str(), message)
    }
}
