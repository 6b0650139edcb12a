//! Which authorities accept a value: the protocol, its schema, Google, Bing, Yandex.
//!
//! Verdicts follow only from what an authority has published (rule catalogue, sections 3, 5 and 12).

use super::namespace::{self, Namespace};
use super::priority::{self, Faults};

/// An authority that accepts or rejects values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Authority {
    /// sitemaps.org.
    Protocol,
    /// sitemap.xsd 0.9.
    Schema,
    /// Google Search Central and the errors of Search Console.
    Google,
    /// Bing Webmaster Tools and its blog.
    Bing,
    /// Yandex Webmaster.
    Yandex,
}

impl Authority {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 5] = [Self::Protocol, Self::Schema, Self::Google, Self::Bing, Self::Yandex];

    /// The name shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Schema => "schema",
            Self::Google => "Google",
            Self::Bing => "Bing",
            Self::Yandex => "Yandex",
        }
    }
}

/// How an authority treats a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ruling {
    /// The value is valid.
    Accepts,
    /// The value is invalid.
    Rejects,
    /// The value is not used.
    Ignores,
    /// Nothing is published about it.
    Silent,
}

impl Ruling {
    /// The text shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepts => "accepts",
            Self::Rejects => "rejects",
            Self::Ignores => "ignores",
            Self::Silent => "not documented",
        }
    }
}

/// How one authority treats one value, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The authority.
    pub authority: Authority,
    /// Its treatment of the value.
    pub ruling: Ruling,
    /// The reason; empty if it accepts the value without reservation.
    pub why: &'static str,
}

impl Verdict {
    /// Whether the authority accepts the value.
    pub fn accepts(&self) -> bool {
        self.ruling == Ruling::Accepts
    }
}

/// The verdict of each authority.
pub(crate) type Verdicts = [Verdict; Authority::ALL.len()];

pub(super) fn for_each_authority(rule: impl Fn(Authority) -> (Ruling, &'static str)) -> Verdicts {
    Authority::ALL.map(|authority| {
        let (ruling, why) = rule(authority);
        Verdict { authority, ruling, why }
    })
}

/// The verdicts on a decoded and trimmed `priority`.
///
/// Protocol and schema define the range; Google and Bing ignore the field; Yandex uses it as a hint for the order of
/// loading and warns about an invalid one (rule catalogue sections 5.4 and 12).
pub(crate) fn priority_verdicts(text: &str) -> Verdicts {
    let faults = priority::validate(text).faults;
    let wrong = [
        (Faults::INVALID, "a decimal number is required"),
        (Faults::COMMA, "the decimal separator is a point, not a comma"),
        (Faults::RANGE, "it must be from 0.0 to 1.0"),
    ];
    let wrong = wrong.into_iter().find(|(fault, _)| faults.contains(*fault)).map(|(_, why)| why);
    for_each_authority(|authority| match (authority, wrong) {
        (Authority::Google | Authority::Bing, _) => (Ruling::Ignores, "priority is not used there"),
        (Authority::Yandex, Some(_)) => (Ruling::Ignores, "warns and keeps the URL"),
        (Authority::Yandex, None) => (Ruling::Accepts, "a hint on the order of loading"),
        (_, Some(why)) => (Ruling::Rejects, why),
        (_, None) => (Ruling::Accepts, ""),
    })
}

/// The verdicts on the namespace of a root element, which is empty if it declares none.
///
/// Only the exact namespace of the protocol is valid (Namespaces in XML 1.0, section 2.3; rule catalogue C19).
pub(crate) fn namespace_verdicts(uri: &str) -> Verdicts {
    let other = match namespace::classify(uri) {
        Namespace::Sitemap09 => return for_each_authority(|_| (Ruling::Accepts, "")),
        Namespace::Sitemap084 if uri == namespace::SITEMAP_084 => {
            return for_each_authority(|authority| match authority {
                Authority::Protocol => {
                    (Ruling::Rejects, "it has been http://www.sitemaps.org/schemas/sitemap/0.9 since 2006")
                }
                Authority::Schema => (Ruling::Rejects, "only the namespace of 0.9 is valid"),
                _ => (Ruling::Accepts, "still read, but not documented"),
            });
        }
        meant if namespace::near_miss(uri).is_some() => return extension_verdicts(meant, false),
        Namespace::SitemapVariant | Namespace::Sitemap084 | Namespace::Other => "not the namespace of the schema",
        meant => return extension_verdicts(meant, true),
    };
    for_each_authority(|authority| match authority {
        Authority::Protocol => (Ruling::Rejects, "it must be exactly http://www.sitemaps.org/schemas/sitemap/0.9"),
        Authority::Schema => (Ruling::Rejects, other),
        Authority::Google => (Ruling::Rejects, "Search Console: incorrect namespace"),
        Authority::Bing | Authority::Yandex => (Ruling::Silent, ""),
    })
}

/// The verdicts on the namespace of an extension, exact or misspelt.
fn extension_verdicts(meant: Namespace, exact: bool) -> Verdicts {
    let withdrawn = matches!(meant, Namespace::Mobile | Namespace::Geo | Namespace::CodeSearch | Namespace::PageMap);
    for_each_authority(|authority| match authority {
        Authority::Protocol => (Ruling::Accepts, "extensions may be in any other namespace"),
        Authority::Google if !exact => (Ruling::Ignores, "not the namespace of the extension"),
        Authority::Google if withdrawn => (Ruling::Ignores, "the extension is no longer documented"),
        Authority::Google => (Ruling::Accepts, ""),
        Authority::Schema => (Ruling::Accepts, "if the validator has the schema of the extension"),
        Authority::Bing | Authority::Yandex => (Ruling::Silent, ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each ruling: a, r, i, and - for undocumented.
    fn letters(verdicts: &Verdicts) -> String {
        verdicts
            .iter()
            .map(|verdict| match verdict.ruling {
                Ruling::Accepts => 'a',
                Ruling::Rejects => 'r',
                Ruling::Ignores => 'i',
                Ruling::Silent => '-',
            })
            .collect()
    }

    #[test]
    fn authorities_disagree_about_priorities() {
        for (text, expected) in [
            ("0.5", "aaiia"),
            ("0.0", "aaiia"),
            (".5", "aaiia"),
            ("0.123", "aaiia"),
            ("0,5", "rriii"),
            ("1.5", "rriii"),
            ("high", "rriii"),
            ("", "rriii"),
        ] {
            assert_eq!(letters(&priority_verdicts(text)), expected, "{text}");
        }
    }

    #[test]
    fn authorities_disagree_about_namespaces() {
        for (uri, expected) in [
            ("http://www.sitemaps.org/schemas/sitemap/0.9", "aaaaa"),
            ("https://www.sitemaps.org/schemas/sitemap/0.9", "rrr--"),
            ("http://www.google.com/schemas/sitemap/0.84", "rraaa"),
            ("", "rrr--"),
            ("http://example.com/", "rrr--"),
            ("http://www.google.com/schemas/sitemap-image/1.1", "aaa--"),
            ("https://www.google.com/schemas/sitemap-image/1.1", "aai--"),
            ("http://www.google.com/schemas/sitemap-mobile/1.0", "aai--"),
        ] {
            assert_eq!(letters(&namespace_verdicts(uri)), expected, "{uri}");
        }
    }

    #[test]
    fn every_rejection_has_a_reason() {
        for verdicts in [
            priority_verdicts("x"),
            priority_verdicts("2"),
            namespace_verdicts(""),
            namespace_verdicts("http://e.com/"),
        ] {
            for verdict in verdicts {
                assert!(
                    verdict.accepts() || verdict.ruling == Ruling::Silent || !verdict.why.is_empty(),
                    "{verdict:?}"
                );
            }
        }
    }
}
