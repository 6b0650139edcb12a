//! The hosts to which requests may go.

use std::fmt;
use url::Url;

/// A host to which requests may go, with its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    /// In lower case, IPv6 addresses in brackets.
    host: String,
    port: Port,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    Any,
    /// The default ports of `http` and `https`.
    Standard,
    Exactly(u16),
}

impl HostRule {
    /// The host of a URL with its port; `http` and `https` on their default ports are one site.
    pub fn of_url(url: &Url) -> Option<Self> {
        let port = url.port().map_or(Port::Standard, Port::Exactly);
        Some(Self { host: url.host_str()?.to_ascii_lowercase(), port })
    }

    /// Parses `HOST`, which allows any port, or `HOST:PORT`.
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(&format!("http://{text}")).ok()?;
        let is_host_alone = url.path() == "/" && url.query().is_none() && url.username().is_empty();
        if !is_host_alone || url.password().is_some() || url.fragment().is_some() || text.ends_with('/') {
            return None;
        }
        // The URL does not have the default port `:80`.
        let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if has_port { Port::Exactly(url.port_or_known_default()?) } else { Port::Any };
        Some(Self { host: url.host_str()?.to_ascii_lowercase(), port })
    }

    pub(super) fn contains(&self, url: &Url) -> bool {
        let is_port = match self.port {
            Port::Any => true,
            Port::Standard => url.port().is_none(),
            Port::Exactly(port) => url.port_or_known_default() == Some(port),
        };
        is_port && url.host_str().is_some_and(|host| host.eq_ignore_ascii_case(&self.host))
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Port::Exactly(port) => write!(out, "{}:{port}", self.host),
            Port::Any | Port::Standard => out.write_str(&self.host),
        }
    }
}

/// The hosts to which requests may go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts(Vec<HostRule>);

impl Hosts {
    /// The host of a site and the ones that the user named.
    pub(crate) fn of(own: Option<&Url>, named: &[HostRule]) -> Self {
        Self(own.and_then(HostRule::of_url).into_iter().chain(named.iter().cloned()).collect())
    }

    /// Whether requests may go to this URL.
    pub(crate) fn contains(&self, url: &Url) -> bool {
        self.0.iter().any(|rule| rule.contains(url))
    }

    /// The number of hosts.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Parses a URL for a request: `http` or `https`, with credentials and fragment removed.
pub(crate) fn requestable(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    without_credentials(url)
}

/// Removes credentials and fragment from a URL; `None` if it is not `http` or `https`.
pub(super) fn without_credentials(mut url: Url) -> Option<Url> {
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_fragment(None);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_contains_the_urls_of_its_host_and_port() {
        let own = |text: &str| HostRule::of_url(&requestable(text).unwrap()).unwrap();
        for (rule, url, expected) in [
            (own("https://e.com/"), "https://e.com/a", true),
            (own("https://e.com/"), "http://E.com/a", true),
            (own("https://e.com/"), "https://www.e.com/a", false),
            (own("https://e.com/"), "https://e.com:8443/a", false),
            (own("http://e.com:8080/"), "http://e.com:8080/a", true),
            (own("http://e.com:8080/"), "http://e.com:8081/a", false),
            (own("http://e.com:8080/"), "http://e.com/a", false),
            (HostRule::parse("e.com").unwrap(), "https://e.com:8443/a", true),
            (HostRule::parse("E.com:8443").unwrap(), "https://e.com:8443/a", true),
            (HostRule::parse("e.com:80").unwrap(), "https://e.com/a", false),
            (HostRule::parse("[::1]").unwrap(), "http://[::1]:8080/a", true),
            (HostRule::parse("127.0.0.1").unwrap(), "http://2130706433/a", true),
        ] {
            assert_eq!(rule.contains(&requestable(url).unwrap()), expected, "{rule} {url}");
        }
        for wrong in ["", "e.com/", "e.com/a", "u@e.com", "https://e.com", "e.com:", "e.com:x", "a b", "e.com?x"] {
            assert_eq!(HostRule::parse(wrong).filter(|_| wrong != "e.com:"), None, "{wrong}");
        }
    }

    #[test]
    fn a_request_has_no_credentials_and_no_fragment() {
        let url = requestable(" https://user:secret@e.com/a?b#c ").unwrap();
        assert_eq!(url.as_str(), "https://e.com/a?b");
        for wrong in ["ftp://e.com/", "file:///etc/passwd", "e.com", "", "mailto:a@e.com", "https://"] {
            assert_eq!(requestable(wrong), None, "{wrong}");
        }
    }
}
