//! IndexNow: notifies search engines of new, changed and deleted URLs (<https://www.indexnow.org/documentation>).
//!
//! Invariant: no message contains the key.

pub(crate) mod sent;

use super::client::{Client, Response, Settings, SettingsError, header};
use super::failure::{FailureKind, RequestError};
use super::hosts::{HostRule, requestable};
use super::pace::retry_after;
use serde::Serialize;
use std::io::Read;
use std::time::{Duration, Instant};
use ureq::http::Method;
use url::Url;

/// The default endpoint, which forwards URLs to all participating search engines.
pub(crate) const ENDPOINT: &str = "https://api.indexnow.org/indexnow";
/// Maximum number of URLs in a request.
pub(crate) const MAX_URLS: usize = 10_000;
/// Maximum number of bytes that are read of a key file or a response.
const MAX_BODY_BYTES: u64 = 64 << 10;
/// Maximum number of characters of a response that are shown.
const MAX_SHOWN_CHARS: usize = 200;
/// Maximum pause requested by a server; a request with a longer pause is not sent again.
const MAX_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Maximum number of times that a request is sent again after a pause.
const MAX_RETRIES: u32 = 3;

/// The key that proves that a request comes from the owner of the site.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Parses a key of 8 to 128 letters, digits and hyphens.
    pub fn parse(text: &str) -> Option<Self> {
        let is_valid = (8..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Replaces the key in a text by `KEY`.
    pub fn masked(&self, text: &str) -> String {
        text.replace(&self.0, "KEY")
    }
}

/// A host with the URL of its key file.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The host, with its port if that is not the default one.
    pub host: String,
    /// The URL of the key file.
    pub key_location: Url,
}

impl Site {
    /// The site of a URL. The key file is in the root folder unless the user gives another location.
    pub(crate) fn of(url: &Url, key: &Key, key_location: Option<&Url>) -> Option<Self> {
        let host = HostRule::of_url(url)?.to_string();
        let default = || url.join(&format!("/{}.txt", key.0)).ok();
        Some(Self { host, key_location: key_location.cloned().or_else(default)? })
    }

    /// Whether the key file is valid for a URL: the URL has the same host and is below the folder of the key file.
    pub(crate) fn covers(&self, url: &Url) -> bool {
        let folder = self.key_location.path().rsplit_once('/').map_or("/", |(folder, _)| folder);
        let is_below = url.path().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        is_below && url.host_str() == self.key_location.host_str() && url.port() == self.key_location.port()
    }
}

/// The body of a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'b> {
    host: &'b str,
    key: &'b str,
    key_location: &'b str,
    url_list: &'b [&'b str],
}

/// Why a key file is not valid, or could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyFileError {
    /// There is no response.
    #[error("the key file cannot be read: {0}")]
    Request(#[from] RequestError),
    /// Another status than 200.
    #[error("the key file is not there: the server answers {0}")]
    Status(u16),
    /// It does not contain the key.
    #[error("the key file does not contain the key")]
    MissingKey,
}

/// The response to a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body, without the key.
    pub text: String,
    /// The pause that the server requests.
    pub retry_after: Option<Duration>,
}

impl Reply {
    /// Whether the URLs were accepted.
    pub(crate) const fn is_accepted(&self) -> bool {
        matches!(self.status, 200 | 202)
    }

    /// The meaning of the status, and a hint what to do.
    pub(crate) const fn meaning(&self) -> (&'static str, &'static str) {
        match self.status {
            200 => ("accepted", ""),
            202 => ("accepted; the search engine still has to check the key", ""),
            400 => ("the request is not valid", "check --endpoint: it takes requests of the IndexNow protocol"),
            403 => {
                ("the key is not valid for this site", "put the key into the key file and run the same command again")
            }
            422 => (
                "URLs are not of this host, or the key does not match the key file",
                "check --key-location: the file is valid for its folder and the folders below it",
            ),
            429 => ("too many requests", "wait and run the same command again; it sends what was not accepted"),
            500..=599 => ("the server failed", "run the same command again later; it sends what was not accepted"),
            300..=399 => ("the endpoint has moved", "give the new URL with --endpoint URL"),
            _ => (
                "an answer that the protocol does not have",
                "check --endpoint: it takes requests of the IndexNow protocol",
            ),
        }
    }
}

/// Sends URLs to one endpoint.
#[derive(Debug)]
pub(crate) struct Submitter {
    client: Client,
    endpoint: Url,
    key: Key,
}

impl Submitter {
    /// Creates a submitter. No request is sent.
    ///
    /// # Errors
    /// The settings are not valid.
    pub(crate) fn new(settings: &Settings, endpoint: Url, key: Key) -> Result<Self, SettingsError> {
        Ok(Self { client: Client::new(settings)?, endpoint, key })
    }

    /// Checks that the key file of a site contains the key.
    ///
    /// # Errors
    /// The file cannot be read or does not contain the key.
    pub(crate) fn check_key(&self, site: &Site) -> Result<(), KeyFileError> {
        let response = self.client.send(Method::GET, &site.key_location)?;
        if response.status != 200 {
            return Err(KeyFileError::Status(response.status));
        }
        let text = self.text(response)?;
        let has_key = text.trim_start_matches('\u{feff}').lines().any(|line| line.trim() == self.key.0);
        if has_key { Ok(()) } else { Err(KeyFileError::MissingKey) }
    }

    /// Sends a batch of at most [`MAX_URLS`] URLs. After status 429 with a pause of up to 15 minutes it is sent again;
    /// `on_pause` is called before the pause.
    ///
    /// # Errors
    /// There is no response.
    pub(crate) fn submit(
        &self,
        site: &Site,
        urls: &[&str],
        mut on_pause: impl FnMut(Duration),
    ) -> Result<Reply, RequestError> {
        let key_location = site.key_location.as_str();
        let body = Body { host: &site.host, key: &self.key.0, key_location, url_list: urls };
        let invalid = |error: serde_json::Error| RequestError::new(FailureKind::Invalid, error.to_string());
        let body = serde_json::to_vec(&body).map_err(invalid)?;
        let mut retries = 0;
        loop {
            let reply = self.post(&body)?;
            match reply.retry_after.filter(|pause| *pause <= MAX_PAUSE) {
                Some(pause) if reply.status == 429 && retries < MAX_RETRIES => {
                    retries += 1;
                    on_pause(pause);
                    wait(pause);
                }
                _ => return Ok(reply),
            }
        }
    }

    fn post(&self, body: &[u8]) -> Result<Reply, RequestError> {
        let response = self.client.post_json(&self.endpoint, body)?;
        let retry_after = header(&response.headers, "retry-after").as_deref().and_then(retry_after);
        let status = response.status;
        // The body only explains the status, so an error from reading it is ignored.
        let text = self.text(response).unwrap_or_default();
        let text = self.key.masked(text.trim()).chars().take(MAX_SHOWN_CHARS).collect();
        Ok(Reply { status, text, retry_after })
    }

    fn text(&self, response: Response) -> Result<String, RequestError> {
        let mut bytes = Vec::new();
        response.body.take(MAX_BODY_BYTES).read_to_end(&mut bytes).map_err(|error| self.client.body_error(&error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn wait(pause: Duration) {
    let start = Instant::now();
    while let Some(rest) = pause.checked_sub(start.elapsed()).filter(|rest| !rest.is_zero()) {
        std::thread::park_timeout(rest);
    }
}

/// Parses a URL for submission: `http` or `https`, percent-encoded, with credentials and fragment removed.
pub(crate) fn sendable(text: &str) -> Option<Url> {
    requestable(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_8_to_128_letters_digits_and_hyphens() {
        let longest = "a".repeat(128);
        for (text, is_valid) in [
            ("12345678", true),
            ("ABCdef-123", true),
            (longest.as_str(), true),
            ("1234567", false),
            ("", false),
            ("1234567_", false),
            ("1234567é", false),
            ("1234/../5678", false),
            (&format!("{longest}a"), false),
        ] {
            assert_eq!(Key::parse(text).is_some(), is_valid, "{text}");
        }
        let key = Key::parse("secret-key").unwrap();
        assert_eq!(key.masked("https://e.com/secret-key.txt"), "https://e.com/KEY.txt");
        assert_eq!(format!("{key:?}"), "Key");
    }

    #[test]
    fn a_key_file_is_valid_for_its_folder() {
        let url = |text: &str| Url::parse(text).unwrap();
        let key = Key::parse("12345678").unwrap();
        let top = Site::of(&url("https://E.com:8443/a/b?c"), &key, None).unwrap();
        assert_eq!((top.host.as_str(), top.key_location.as_str()), ("e.com:8443", "https://e.com:8443/12345678.txt"));
        let location = url("https://e.com/shop/key.txt");
        let site = Site::of(&url("https://e.com/shop/a"), &key, Some(&location)).unwrap();
        assert_eq!(site.host, "e.com");
        for (text, is_covered) in [
            ("https://e.com/shop/", true),
            ("http://e.com/shop/a/b", true),
            ("https://e.com/shopping", false),
            ("https://e.com/", false),
            ("https://www.e.com/shop/a", false),
            ("https://e.com:8443/shop/a", false),
        ] {
            assert_eq!(site.covers(&url(text)), is_covered, "{text}");
        }
    }

    #[test]
    fn every_rejected_status_has_a_hint() {
        for status in [200, 202, 301, 400, 403, 404, 418, 422, 429, 500, 503] {
            let reply = Reply { status, text: String::new(), retry_after: None };
            let (meaning, hint) = reply.meaning();
            assert_eq!(hint.is_empty(), reply.is_accepted(), "{status}: {meaning}");
        }
    }
}
