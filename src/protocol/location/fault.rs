//! The faults of a `loc`, and sets of them.
//!
//! Each has a code of the rule catalogue ("Entry and field rules", `loc`); cases of one code with different severities
//! are different faults. Severities and texts are in the rule table.

use std::fmt;

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        /// A fault of a `loc`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Fault {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Fault {
            /// Every fault, in catalogue order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable code, in kebab-case.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }
        }
    };
}

faults! {
    /// No scheme and host: `/x`, `//host/x`, `www.example.com/x` (sitemaps.org protocol, "loc").
    NotAbsolute = "loc-not-absolute",
    /// A scheme other than http and https (sitemaps.org FAQ).
    Scheme = "loc-scheme",
    /// A misspelt scheme: `htp://`, `http:/x`, `http//`, `https:///` (Search Console, "Invalid URL").
    SchemeTypo = "loc-scheme-typo",
    /// The host is empty (RFC 3986, 3.2.2).
    NoHost = "loc-no-host",
    /// Invalid labels, IP address or port (RFC 3986, 3.2; RFC 1123, 2.1).
    HostInvalid = "loc-host-invalid",
    /// A host no crawler can reach: localhost, one label, `.local`, a private address, staging.
    HostNotPublic = "loc-host-not-public",
    /// `user:password@`.
    Userinfo = "loc-userinfo",
    /// A space, tab or line break inside (RFC 3986, 2).
    InnerWhitespace = "loc-inner-whitespace",
    /// An ASCII character that is never allowed raw: `" < > \ ^ { } |`, backtick, controls (RFC 3986, 2).
    IllegalChar = "loc-illegal-char",
    /// `%` without two hexadecimal digits after it (RFC 3986, 2.1).
    BadPercent = "loc-bad-percent",
    /// Characters beyond ASCII: an IRI (RFC 3987). Allowed; crawlers fetch the encoded form.
    NotAscii = "loc-not-ascii",
    /// UTF-8 that was read as Latin-1 once (`Ã©`, `%C3%83`), or percent-encoded bytes that are not UTF-8.
    Mojibake = "loc-mojibake",
    /// 2,049 or more characters (sitemaps.org protocol, "loc": "less than 2,048 characters").
    TooLong = "loc-too-long",
    /// Exactly 2,048, which sitemap.xsd accepts, and the protocol of 2005 (rule catalogue, C3).
    TooLongByOne = "loc-too-long",
    /// Short enough as written, 2,048 or more characters once percent-encoded: the milder case.
    TooLongEncoded = "loc-too-long",
    /// More than 1,024 characters after percent-decoding (Yandex).
    TooLongYandex = "loc-too-long-yandex",
    /// More than 256 bytes (Baidu).
    TooLongBaidu = "loc-too-long-baidu",
    /// Fewer than 12 characters (sitemap.xsd 0.9, `tLoc` minLength; crawlers accept it).
    TooShort = "loc-too-short",
    /// A host and no path: `https://example.com` (sitemaps.org protocol, "loc").
    MissingRootSlash = "loc-missing-root-slash",
    /// `#…`: crawlers drop it.
    Fragment = "loc-fragment",
    /// `:80` in http, `:443` in https, or a colon with no port (RFC 3986, 6.2.3).
    DefaultPort = "loc-default-port",
    /// `/./` or `/../` (RFC 3986, 6.2.2.3).
    DotSegments = "loc-dot-segments",
    /// `//` inside the path.
    DoubleSlash = "loc-double-slash",
    /// Capitals in the scheme or the host (RFC 3986, 6.2.2.1).
    UppercaseHost = "loc-uppercase-host",
    /// A session identifier in the URL (sitemaps.org FAQ).
    SessionId = "loc-session-id",
    /// A tracking parameter: `utm_source`, `gclid`, …
    TrackingParam = "loc-tracking-param",
    /// A page for staff, a file with secrets, a credential or a preview.
    Private = "loc-private",
    /// An unfilled placeholder of a template: `{{`, `${`, `%s`, `undefined`, `null`, `NaN`, `[object`.
    TemplateResidue = "loc-template-residue",
    /// An image, style sheet, script, archive, sitemap or robots.txt by its name.
    NotPage = "loc-not-page",
    /// Scheme, host or port differ from the sitemap's own (sitemaps.org protocol, "Sitemap file location").
    ForeignHost = "loc-foreign-host",
    /// Not in the sitemap's directory or below (sitemaps.org protocol, "Sitemap file location").
    OutsidePath = "loc-outside-path",
}

/// A set of [`Fault`]s.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Faults(u64);

impl Faults {
    /// No fault.
    pub const NONE: Self = Self(0);

    /// The set of one fault.
    pub const fn only(fault: Fault) -> Self {
        Self(1 << fault as u8)
    }

    /// The set of several faults.
    pub const fn of(faults: &[Fault]) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < faults.len() {
            set.insert(faults[at]);
            at += 1;
        }
        set
    }

    /// One bit per fault; bit *n* is [`Fault::ALL`]`[n]`.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `fault` is in the set.
    pub const fn has(self, fault: Fault) -> bool {
        self.0 & (1 << fault as u8) != 0
    }

    /// Whether all faults of `other` are in the set.
    pub const fn contains(self, other: Self) -> bool {
        other.minus(self).is_empty()
    }

    /// Adds one fault.
    pub const fn insert(&mut self, fault: Fault) {
        self.0 |= 1 << fault as u8;
    }

    /// Adds one fault if `condition` holds.
    pub const fn insert_if(&mut self, fault: Fault, condition: bool) {
        self.0 |= (condition as u64) << fault as u8;
    }

    /// The faults of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The faults of this set that are not in `other`.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The faults, in catalogue order.
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            // The index of the lowest bit; without a bit it is 64, which no fault has.
            let fault = Fault::ALL.get(rest.trailing_zeros() as usize).copied();
            rest &= rest.wrapping_sub(1);
            fault
        })
    }

    /// The codes, in catalogue order.
    pub fn codes(self) -> impl Iterator<Item = &'static str> {
        self.iter().map(Fault::code)
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.codes()).finish()
    }
}

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        let mut set = Self::NONE;
        for fault in faults {
            set.insert(fault);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_index_and_a_code() {
        for (index, &fault) in Fault::ALL.iter().enumerate() {
            assert_eq!(fault as usize, index);
            assert!(fault.code().starts_with("loc-"));
        }
        assert!(Fault::ALL.len() <= 64);
    }

    #[test]
    fn a_set_contains_the_inserted_faults() {
        let set: Faults = [Fault::Fragment, Fault::NotAbsolute].into_iter().collect();
        assert_eq!(set.codes().collect::<Vec<_>>(), ["loc-not-absolute", "loc-fragment"]);
        assert!(set.has(Fault::Fragment) && !set.has(Fault::Scheme));
        assert_eq!(set.minus(Faults::only(Fault::Fragment)), Faults::only(Fault::NotAbsolute));
    }
}
