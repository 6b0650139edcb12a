//! The URL prefix of a sitemap: the origin and directory that its URLs must be in.
//!
//! sitemaps.org protocol, "Sitemap file location": same scheme, host and port, in the sitemap's
//! directory or below. Cross-submission, which lifts the rule, is not handled here.

use super::chars::{HIGH, PERCENT, SPECIAL};
use super::fault::{Fault, Faults};
use super::key::key;
use super::parts::Location;

/// The prefix that every URL of a sitemap must have: scheme, host, port and directory, normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlPrefix {
    /// `https://example.com/shop/`: the normalised URL up to the last slash of its path.
    prefix: String,
    /// Length of `https://example.com` in it.
    origin: usize,
}

impl UrlPrefix {
    /// The prefix for the URL of a sitemap, whose query is ignored. `None` if it is not an http(s) URL with a host.
    pub fn parse(url: &str) -> Option<Self> {
        let mut scratch = String::new();
        let location = Location::of(key(url, &mut scratch));
        let (_, host, port) = location.split_authority();
        if host.is_empty() {
            return None;
        }
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let origin = format!("{}://{host}{port}", location.scheme()?.name());
        let (folder, _) = location.path().rsplit_once('/')?;
        Some(Self { prefix: format!("{origin}{folder}/"), origin: origin.len() })
    }

    /// `https://example.com:8080`, normalised.
    pub fn origin(&self) -> &str {
        self.prefix.get(..self.origin).unwrap_or("")
    }

    /// The directory with both its slashes: `/shop/`, `/` for the root.
    pub fn directory(&self) -> &str {
        self.prefix.get(self.origin..).unwrap_or("/")
    }

    /// Origin and directory.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// [`Fault::ForeignHost`] or [`Fault::OutsidePath`] of a decoded value in a sitemap with this `url_prefix`.
/// A value without scheme and host has neither.
pub(crate) fn check_scope(decoded: &str, url_prefix: &UrlPrefix) -> Faults {
    Location::of(decoded).check_scope(url_prefix)
}

impl Location<'_> {
    /// See [`check_scope`].
    pub fn check_scope(&self, url_prefix: &UrlPrefix) -> Faults {
        if let Some(path) = self.text.strip_prefix(url_prefix.origin()) {
            let is_whole = path.bytes().next().is_none_or(|next| matches!(next, b'/' | b'?' | b'#'));
            if is_whole
                && (url_prefix.directory() == "/" || (self.text.starts_with(url_prefix.prefix()) && self.is_normal()))
            {
                return Faults::NONE;
            }
        }
        if let Some((origin, _)) = self.origin().filter(|_| self.is_normal()) {
            // Fast path: the URL is normal and has no user information or port.
            let path = self.path();
            let folder = path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or_default();
            return if origin != url_prefix.origin() {
                Faults::only(Fault::ForeignHost)
            } else if folder.starts_with(url_prefix.directory()) {
                Faults::NONE
            } else {
                Faults::only(Fault::OutsidePath)
            };
        }
        // Fast path: an ASCII host without user information and port differs from its normal form only in case.
        if let (Some(scheme), Some((ours, host))) = (self.scheme, url_prefix.origin().split_once("://"))
            && self.authority_classes & (PERCENT | HIGH | SPECIAL) == 0
            && !self.authority().is_empty()
        {
            if scheme.name() != ours || !self.authority().eq_ignore_ascii_case(host) {
                return Faults::only(Fault::ForeignHost);
            }
            if url_prefix.directory() == "/" {
                return Faults::NONE;
            }
        }
        let Some(theirs) = UrlPrefix::parse(self.text) else { return Faults::NONE };
        if theirs.origin() != url_prefix.origin() {
            Faults::only(Fault::ForeignHost)
        } else if theirs.directory().starts_with(url_prefix.directory()) {
            Faults::NONE
        } else {
            Faults::only(Fault::OutsidePath)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_prefixes() {
        for (url, expected) in [
            ("https://e.com/sitemap.xml", Some("https://e.com/")),
            ("HTTPS://E.com:443/shop/a/../sitemap.xml?x=/y", Some("https://e.com/shop/")),
            ("http://e.com:8080", Some("http://e.com:8080/")),
            ("https://u:p@e.com/x", Some("https://e.com/")),
            ("/sitemap.xml", None),
            ("https:///x", None),
        ] {
            assert_eq!(UrlPrefix::parse(url).as_ref().map(UrlPrefix::prefix), expected, "{url}");
        }
    }

    #[test]
    fn scopes() {
        let url_prefix = UrlPrefix::parse("https://e.com/shop/sitemap.xml").unwrap();
        for (text, expected) in [
            ("https://e.com/shop/", ""),
            ("https://e.com/shop/a?b", ""),
            ("HTTPS://E.com:443/%73hop/a", ""),
            ("https://u@e.com/shop/a", ""),
            ("https://e.com/shop", "loc-outside-path"),
            ("https://e.com/Shop/a", "loc-outside-path"),
            ("https://e.com/shopping/", "loc-outside-path"),
            ("https://e.com/shop/../a", "loc-outside-path"),
            ("https://e.com/?x=/shop/", "loc-outside-path"),
            ("http://e.com/shop/a", "loc-foreign-host"),
            ("https://www.e.com/shop/a", "loc-foreign-host"),
            ("https://e.com:8443/shop/a", "loc-foreign-host"),
            ("https://e.com.evil.org/shop/a", "loc-foreign-host"),
            ("/shop/a", ""),
        ] {
            let codes: Vec<_> = check_scope(text, &url_prefix).codes().collect();
            assert_eq!(codes.join(" "), expected, "{text}");
        }
    }
}
