//! The user name and password of a site, which are only sent to its own host and port.
//!
//! They are not sent after a redirect to another host, and never without TLS if the URL of the site is `https`.

use super::hosts::HostRule;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ureq::http::HeaderValue;
use url::Url;

/// Credentials for basic authentication (RFC 7617).
#[derive(Debug, Clone)]
pub(crate) struct Credentials {
    /// Marked as sensitive, so that debug output does not show it.
    header: HeaderValue,
    own: HostRule,
    is_secure: bool,
}

impl Credentials {
    /// Parses `USER:PASSWORD` for the site of a URL; `None` if the text does not have that form.
    pub(crate) fn basic(text: &str, own: &Url) -> Option<Self> {
        let is_sendable = text.contains(':') && !text.chars().any(char::is_control);
        let value = format!("Basic {}", BASE64_STANDARD.encode(text));
        let mut header = HeaderValue::from_str(&value).ok().filter(|_| is_sendable)?;
        header.set_sensitive(true);
        Some(Self { header, own: HostRule::of_url(own)?, is_secure: own.scheme() == "https" })
    }

    /// The value of the header `Authorization` for a URL; `None` if the credentials are not for its site.
    pub(super) fn header_for(&self, url: &Url) -> Option<HeaderValue> {
        let is_own = self.own.contains(url) && (url.scheme() == "https" || !self.is_secure);
        is_own.then(|| self.header.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_for_their_own_host_alone() {
        let url = |text: &str| Url::parse(text).unwrap();
        let table = [
            ("https://e.com/", "https://e.com/a", true),
            ("https://e.com/", "http://e.com/a", false),
            ("https://e.com/", "https://www.e.com/a", false),
            ("https://e.com/", "https://e.com:8443/a", false),
            ("https://e.com/", "https://e.com.other.example/", false),
            ("http://e.com/", "https://e.com/a", true),
            ("http://e.com/", "http://e.com/a", true),
            ("http://e.com:8080/", "http://e.com:8081/", false),
        ];
        for (own, other, expected) in table {
            let credentials = Credentials::basic("Aladdin:open sesame", &url(own)).unwrap();
            let header = credentials.header_for(&url(other));
            assert_eq!(header.is_some(), expected, "{own} {other}");
            // The example from RFC 7617.
            assert!(header.is_none_or(|header| header == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
            assert!(!format!("{credentials:?}").contains("QWxh"));
        }
        for wrong in ["", "user", "user:pass\nX: y"] {
            assert!(Credentials::basic(wrong, &url("https://e.com/")).is_none(), "{wrong:?}");
        }
    }
}
