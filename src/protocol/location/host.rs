//! Validates the host of a URL, and whether it can be reached from the public internet.
//!
//! The `url` crate validates hosts beyond ASCII (IDNA); IPv4 shapes are validated here, because that crate
//! reads `1.2.3` as `1.2.0.3`. Does not resolve names and uses no list of domains.

use super::fault::{Fault, Faults};
use memchr::memchr;
use std::net::{Ipv4Addr, Ipv6Addr};
use url::Host;

/// Longest host in characters, without the final dot (RFC 1035, 2.3.4).
const HOST_MAX: usize = 253;
/// Longest label in characters (RFC 1035, 2.3.4).
const LABEL_MAX: usize = 63;

/// [`Fault::HostInvalid`] or [`Fault::HostNotPublic`] of a host as written, which must not be empty.
pub(super) fn validate(host: &str) -> Faults {
    if host.is_ascii() && !host.starts_with('[') && memchr(b'%', host.as_bytes()).is_none() {
        return validate_ascii(host.as_bytes());
    }
    match Host::parse(host) {
        Ok(Host::Domain(domain)) => validate_ascii(domain.as_bytes()),
        Ok(Host::Ipv4(address)) => not_public_if(is_private_v4(address)),
        Ok(Host::Ipv6(address)) => not_public_if(is_private_v6(address)),
        Err(_) => Faults::only(Fault::HostInvalid),
    }
}

/// Why [`validate`] finds a host invalid, as the end of a sentence that starts with the host.
pub(super) fn reason(host: &str) -> String {
    if host.starts_with('[') {
        return "is not an IPv6 address in brackets".to_owned();
    }
    let bytes = host.strip_suffix('.').unwrap_or(host);
    if let Some(letter) = host.chars().find(|letter| letter.is_ascii() && !is_host_letter(*letter)) {
        return format!("contains a character that hosts cannot have: {}", letter.escape_default());
    }
    if bytes.len() > HOST_MAX {
        return format!("has {} characters; a host has at most {HOST_MAX}", bytes.len());
    }
    for label in bytes.split('.') {
        if label.is_empty() {
            return "has two dots in a row, or one in front".to_owned();
        }
        if label.starts_with('-') || label.ends_with('-') {
            return format!("has a label that starts or ends with a hyphen: {label}");
        }
        if label.len() > LABEL_MAX {
            return format!("has a label of {} characters; a label has at most {LABEL_MAX}", label.len());
        }
    }
    if bytes.rsplit('.').next().is_some_and(|top| is_number(top.as_bytes())) {
        return "ends in a number but is not an IPv4 address".to_owned();
    }
    "is not a host name".to_owned()
}

const fn is_host_letter(letter: char) -> bool {
    letter == '.' || (letter.is_ascii() && HOST_LETTERS[letter as usize])
}

/// Appends the normalised host: lower case, IDNA as ASCII. An invalid host is only lowercased.
pub(super) fn push_normal(host: &str, out: &mut String) {
    let start = out.len();
    let is_plain = host.is_ascii() && memchr(b'%', host.as_bytes()).is_none();
    match if is_plain { None } else { Host::parse(host).ok() } {
        Some(normal) => out.push_str(&normal.to_string()),
        None => out.push_str(host),
    }
    if let Some(pushed) = out.get_mut(start..) {
        pushed.make_ascii_lowercase();
    }
}

/// The normalised host: lower case, IDNA as ASCII. Equal for different spellings of one host.
pub(crate) fn normal_host(host: &str) -> String {
    let mut out = String::new();
    push_normal(host, &mut out);
    out
}

/// [`validate`] for a host of plain ASCII that is not an IP literal.
pub(super) fn validate_ascii(host: &[u8]) -> Faults {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let Some((dots, last_dot)) = dots_between_labels(host) else { return Faults::only(Fault::HostInvalid) };
    let top = host.get(last_dot..).unwrap_or_default();
    if dots == 0 {
        // One label: `localhost`, a machine in an intranet. A bare number is an IPv4 shape.
        return Faults::only(if is_number(host) { Fault::HostInvalid } else { Fault::HostNotPublic });
    }
    if top.first().is_some_and(u8::is_ascii_digit) && is_number(top) {
        return match std::str::from_utf8(host).ok().and_then(|text| text.parse::<Ipv4Addr>().ok()) {
            Some(address) => not_public_if(is_private_v4(address)),
            None => Faults::only(Fault::HostInvalid),
        };
    }
    not_public_if(is_private_top(top) || (dots > 1 && is_staging(host)))
}

fn not_public_if(condition: bool) -> Faults {
    let mut faults = Faults::NONE;
    faults.insert_if(Fault::HostNotPublic, condition);
    faults
}

/// Number of dots of a host and start of its last label, if its labels are of letters, digits,
/// hyphens and underscores, with no hyphen at either end (RFC 1123, 2.1, allows no underscore
/// there, but resolvers, browsers and crawlers accept it).
fn dots_between_labels(host: &[u8]) -> Option<(usize, usize)> {
    let (mut dots, mut start) = (0, 0);
    let is_label = |start: usize, end: usize| {
        let edges = (host.get(start), host.get(end.wrapping_sub(1)));
        (1..=LABEL_MAX).contains(&(end - start)) && !matches!(edges, (Some(b'-'), _) | (_, Some(b'-')))
    };
    for (at, &byte) in host.iter().enumerate() {
        if !HOST_LETTERS[usize::from(byte)] {
            if byte != b'.' || !is_label(start, at) {
                return None;
            }
            dots += 1;
            start = at + 1;
        }
    }
    (is_label(start, host.len()) && host.len() <= HOST_MAX).then_some((dots, start))
}

/// The bytes that labels consist of.
const HOST_LETTERS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'-' || byte as u8 == b'_';
        byte += 1;
    }
    table
};

/// Whether a label is digits, or `0x` and hexadecimal digits, which browsers read as part of an IPv4 address.
fn is_number(label: &[u8]) -> bool {
    label.iter().all(u8::is_ascii_digit)
        || label
            .strip_prefix(b"0x")
            .or_else(|| label.strip_prefix(b"0X"))
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Top-level names that are never public: RFC 6762 (`local`), RFC 6761 (`test`, `localhost`,
/// `invalid`), ICANN 2024 (`internal`), and names of private networks in RFC 6762, appendix G.
/// `example` is left out on purpose: documentation and samples use it.
fn is_private_top(top: &[u8]) -> bool {
    in_lower(top, |top| {
        matches!(
            top,
            b"local"
                | b"localhost"
                | b"test"
                | b"internal"
                | b"invalid"
                | b"localdomain"
                | b"lan"
                | b"intranet"
                | b"home"
                | b"corp"
        )
    })
}

/// Whether the first label of a host names a test installation. `dev` does not count, since developer portals
/// (`dev.example.com`) are public.
fn is_staging(host: &[u8]) -> bool {
    let first = host.iter().position(|&byte| byte == b'.').and_then(|end| host.get(..end)).unwrap_or_default();
    in_lower(first, |first| {
        matches!(
            first,
            b"staging" | b"stage" | b"stg" | b"test" | b"testing" | b"preprod" | b"qa" | b"uat" | b"sandbox"
        )
    })
}

/// Tests a label in lower case. Fails for a label that is longer than any name in the lists above.
fn in_lower(label: &[u8], test: impl Fn(&[u8]) -> bool) -> bool {
    let mut lower = [0; 11];
    let Some(lower) = lower.get_mut(..label.len()) else { return false };
    lower.copy_from_slice(label);
    lower.make_ascii_lowercase();
    test(lower)
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.to_ipv4_mapped().is_some_and(is_private_v4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let label = "a".repeat(63);
        let long = format!("{label}a.com");
        let fits = format!("{label}.com");
        for (host, expected) in [
            ("example.com", ""),
            ("www.example.com.", ""),
            ("foo_bar.example.com", ""),
            ("xn--mnchen-3ya.de", ""),
            ("münchen.de", ""),
            ("1und1.de", ""),
            ("test.com", ""),
            ("shop.example", ""),
            ("8.8.8.8", ""),
            ("[2606:4700::1111]", ""),
            (fits.as_str(), ""),
            (long.as_str(), "loc-host-invalid"),
            ("-a.com", "loc-host-invalid"),
            ("a-.com", "loc-host-invalid"),
            ("a..com", "loc-host-invalid"),
            (".com", "loc-host-invalid"),
            (".", "loc-host-invalid"),
            ("a b.com", "loc-host-invalid"),
            ("a,b.com", "loc-host-invalid"),
            ("1.2.3", "loc-host-invalid"),
            ("1.2.3.256", "loc-host-invalid"),
            ("01.2.3.4", "loc-host-invalid"),
            ("1.2.3.0x4", "loc-host-invalid"),
            ("123", "loc-host-invalid"),
            ("[::1", "loc-host-invalid"),
            ("[::zz]", "loc-host-invalid"),
            ("a%20b.com", "loc-host-invalid"),
            ("localhost", "loc-host-not-public"),
            ("intranet", "loc-host-not-public"),
            ("printer.local", "loc-host-not-public"),
            ("shop.TEST", "loc-host-not-public"),
            ("db.internal", "loc-host-not-public"),
            ("staging.example.com", "loc-host-not-public"),
            ("10.0.0.1", "loc-host-not-public"),
            ("192.168.1.20", "loc-host-not-public"),
            ("127.0.0.1", "loc-host-not-public"),
            ("[::1]", "loc-host-not-public"),
            ("[fe80::1]", "loc-host-not-public"),
        ] {
            assert_eq!(validate(host).codes().collect::<Vec<_>>().join(" "), expected, "{host}");
        }
    }

    #[test]
    fn every_bad_host_has_its_reason() {
        for (host, expected) in [
            ("[::1", "is not an IPv6 address in brackets"),
            ("a b.com", "contains a character that hosts cannot have:  "),
            ("a..com", "has two dots in a row, or one in front"),
            ("-a.com", "has a label that starts or ends with a hyphen: -a"),
            ("1.2.3", "ends in a number but is not an IPv4 address"),
            ("xn--a.com", "is not a host name"),
        ] {
            assert_eq!(reason(host), expected);
        }
        assert!(reason(&format!("{}.com", "a".repeat(64))).starts_with("has a label of 64 characters"));
    }

    #[test]
    fn normal_hosts() {
        for (host, expected) in [
            ("E.com", "e.com"),
            ("MÜNCHEN.de", "xn--mnchen-3ya.de"),
            ("ex%61mple.com", "example.com"),
            ("a b.COM", "a b.com"),
            ("[::1]", "[::1]"),
        ] {
            let mut out = String::new();
            push_normal(host, &mut out);
            assert_eq!(out, expected, "{host}");
        }
    }
}
