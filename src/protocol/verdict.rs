//! Which authorities accept a value: the protocol, its schema, Google, Bing, Yandex.
//!
//! Only what an authority has published counts (rule catalogue, sections 3, 5 and 12); where it says nothing, so
//! does its verdict.

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

    /// As shown to people.
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
    /// It is right.
    Accepts,
    /// It is wrong.
    Rejects,
    /// It makes no difference there.
    Ignores,
    /// Nothing is published about it.
    Silent,
}

impl Ruling {
    /// As shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepts => "accepts",
            Self::Rejects => "rejects",
            Self::Ignores => "ignores",
            Self::Silent => "says nothing",
        }
    }
}

/// One authority's opinion of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whose.
    pub authority: Authority,
    /// What.
    pub ruling: Ruling,
    /// Why; empty where it accepts without reservation.
    pub why: &'static str,
}

impl Verdict {
    /// Whether the value is right there.
    pub fn accepts(&self) -> bool {
        self.ruling == Ruling::Accepts
    }
}

/// Each authority's opinion.
pub(crate) type Verdicts = [Verdict; Authority::ALL.len()];

pub(super) fn each(of: impl Fn(Authority) -> (Ruling, &'static str)) -> Verdicts {
    Authority::ALL.map(|authority| {
        let (ruling, why) = of(authority);
        Verdict { authority, ruling, why }
    })
}

/// Opinions of a `priority`, decoded and trimmed.
///
/// The range is the protocol's and the schema's; Google and Bing say that they ignore the field, Yandex that it is
/// a hint on the order of loading, and that a wrong one is a warning (rule catalogue sections 5.4 and 12).
pub(crate) fn of_priority(text: &str) -> Verdicts {
    let faults = priority::validate(text).faults;
    let wrong = [
        (Faults::INVALID, "a decimal number is required"),
        (Faults::COMMA, "the decimal separator is a point, not a comma"),
        (Faults::RANGE, "it runs from 0.0 to 1.0"),
    ];
    let wrong = wrong.into_iter().find(|(fault, _)| faults.contains(*fault)).map(|(_, why)| why);
    each(|authority| match (authority, wrong) {
        (Authority::Google | Authority::Bing, _) => (Ruling::Ignores, "priority is not used there"),
        (Authority::Yandex, Some(_)) => (Ruling::Ignores, "warns and keeps the URL"),
        (Authority::Yandex, None) => (Ruling::Accepts, "a hint on the order of loading"),
        (_, Some(why)) => (Ruling::Rejects, why),
        (_, None) => (Ruling::Accepts, ""),
    })
}

/// Opinions of the namespace of a root element; empty where it declares none.
///
/// Only the protocol's own is right, letter by letter (Namespaces in XML 1.0, section 2.3; rule catalogue C19).
pub(crate) fn of_namespace(uri: &str) -> Verdicts {
    let other = match namespace::classify(uri) {
        Namespace::Sitemap09 => return each(|_| (Ruling::Accepts, "")),
        Namespace::Sitemap084 if uri == namespace::SITEMAP_084 => {
            return each(|authority| match authority {
                Authority::Protocol => {
                    (Ruling::Rejects, "it is http://www.sitemaps.org/schemas/sitemap/0.9 since 2006")
                }
                Authority::Schema => (Ruling::Rejects, "its namespace is that of 0.9"),
                _ => (Ruling::Accepts, "still read, but not documented"),
            });
        }
        meant if namespace::near_miss(uri).is_some() => return of_extension(meant, false),
        Namespace::SitemapVariant | Namespace::Sitemap084 | Namespace::Other => "it is another namespace",
        meant => return of_extension(meant, true),
    };
    each(|authority| match authority {
        Authority::Protocol => (Ruling::Rejects, "it is http://www.sitemaps.org/schemas/sitemap/0.9, letter by letter"),
        Authority::Schema => (Ruling::Rejects, other),
        Authority::Google => (Ruling::Rejects, "Search Console: incorrect namespace"),
        Authority::Bing | Authority::Yandex => (Ruling::Silent, ""),
    })
}

/// Opinions of the namespace of an extension, exact or nearly so.
fn of_extension(meant: Namespace, exact: bool) -> Verdicts {
    let withdrawn = matches!(meant, Namespace::Mobile | Namespace::Geo | Namespace::CodeSearch | Namespace::PageMap);
    each(|authority| match authority {
        Authority::Protocol => (Ruling::Accepts, "extensions are allowed, in any namespace but its own"),
        Authority::Google if !exact => (Ruling::Ignores, "another namespace than that of the extension"),
        Authority::Google if withdrawn => (Ruling::Ignores, "the extension is no longer documented"),
        Authority::Google => (Ruling::Accepts, ""),
        Authority::Schema => (Ruling::Accepts, "if the schema of the extension is at hand"),
        Authority::Bing | Authority::Yandex => (Ruling::Silent, ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each: a, r, i, and - for those that say nothing.
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
            assert_eq!(letters(&of_priority(text)), expected, "{text}");
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
            assert_eq!(letters(&of_namespace(uri)), expected, "{uri}");
        }
    }

    #[test]
    fn every_no_has_a_reason() {
        for verdicts in [of_priority("x"), of_priority("2"), of_namespace(""), of_namespace("http://e.com/")] {
            for verdict in verdicts {
                assert!(
                    verdict.accepts() || verdict.ruling == Ruling::Silent || !verdict.why.is_empty(),
                    "{verdict:?}"
                );
            }
        }
    }
}
