//! Decides which IP addresses belong to the public Internet.
//!
//! The list follows the IANA registries of special-purpose addresses (RFC 6890), with the addresses at which clouds
//! serve metadata. An IPv6 address that contains an IPv4 address is treated like that IPv4 address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// Describes an address that is not public; `None` for a public one.
pub(crate) fn non_public_kind(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => non_public_kind_v4(address),
        IpAddr::V6(address) => non_public_kind_v6(address),
    }
}

/// The host and port of a URL on this machine (`localhost` or a loopback address); `None` for other URLs.
pub(crate) fn loopback(url: &Url) -> Option<(String, u16)> {
    let is_loopback = match url.host()? {
        Host::Domain(name) => name.eq_ignore_ascii_case("localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    is_loopback.then(|| Some((url.host_str()?.to_owned(), url.port_or_known_default()?))).flatten()
}

fn non_public_kind_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [127, ..] => Some("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private address"),
        // Alibaba, Oracle and Azure; the other clouds use link-local addresses.
        [169, 254, 169, 254] | [100, 100, 100, 200] | [192, 0, 0, 192] | [168, 63, 129, 16] => {
            Some("the address of cloud metadata")
        }
        [169, 254, ..] => Some("a link-local address"),
        [100, 64..=127, ..] => Some("an address of a provider's own network"),
        [0, ..] => Some("an unspecified address"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some("an address for documentation"),
        [192, 0, 0, _] | [192, 88, 99, _] | [198, 18 | 19, ..] | [240..=255, ..] => Some("a reserved address"),
        [224..=239, ..] => Some("a multicast address"),
        _ => None,
    }
}

fn non_public_kind_v6(address: Ipv6Addr) -> Option<&'static str> {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(non_public_kind_v4(Ipv4Addr::new(a, b, c, d)).unwrap_or("an IPv4 address in IPv6"))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("an unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        // Mapped, compatible, translated (RFC 6052, RFC 8215) and 6to4. No site is reached by such an address.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254] => Some("the address of cloud metadata"),
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => Some("an address for documentation"),
        // The protocol assignments, such as Teredo, in the only block of global unicast addresses.
        [0x2001, 0..=0x01ff, ..] => Some("a reserved address"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for (text, expected) in [
            ("93.184.216.34", None),
            ("1.1.1.1", None),
            ("172.15.0.1", None),
            ("172.32.0.1", None),
            ("192.167.1.1", None),
            ("100.63.0.1", None),
            ("2606:4700::6810:85e5", None),
            ("2a00:1450:4001::1", None),
            ("127.0.0.1", Some("loopback")),
            ("127.255.255.255", Some("loopback")),
            ("0.0.0.0", Some("unspecified")),
            ("0.1.2.3", Some("unspecified")),
            ("10.0.0.1", Some("private")),
            ("172.16.0.1", Some("private")),
            ("172.31.255.255", Some("private")),
            ("192.168.1.1", Some("private")),
            ("169.254.169.254", Some("metadata")),
            ("169.254.1.1", Some("link-local")),
            ("100.100.100.200", Some("metadata")),
            ("168.63.129.16", Some("metadata")),
            ("192.0.0.192", Some("metadata")),
            ("100.64.0.1", Some("provider")),
            ("192.0.2.1", Some("documentation")),
            ("198.18.0.1", Some("reserved")),
            ("224.0.0.1", Some("multicast")),
            ("255.255.255.255", Some("reserved")),
            ("::", Some("unspecified")),
            ("::1", Some("loopback")),
            ("::ffff:127.0.0.1", Some("loopback")),
            ("::ffff:169.254.169.254", Some("metadata")),
            ("::ffff:93.184.216.34", Some("IPv4 address in IPv6")),
            ("::127.0.0.1", Some("loopback")),
            ("64:ff9b::10.0.0.1", Some("private")),
            ("64:ff9b:1::a00:1", Some("private")),
            ("2002:7f00:1::", Some("loopback")),
            ("2001::1", Some("reserved")),
            ("2001:db8::1", Some("documentation")),
            ("fd00:ec2::254", Some("metadata")),
            ("fc00::1", Some("private")),
            ("fdff::1", Some("private")),
            ("fe80::1", Some("link-local")),
            ("fec0::1", Some("private")),
            ("ff02::1", Some("multicast")),
            ("100::1", Some("reserved")),
            ("5f00::1", Some("reserved")),
        ] {
            let found = non_public_kind(text.parse().unwrap());
            match expected {
                None => assert_eq!(found, None, "{text}"),
                Some(word) => assert!(found.is_some_and(|found| found.contains(word)), "{text}: {found:?}"),
            }
        }
    }
}
