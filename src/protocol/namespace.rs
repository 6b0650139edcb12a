//! XML namespaces of sitemaps and extensions, and misspelt ones.
//!
//! A misspelt namespace is read as the intended one, so that no rows are missing, and reported through [`near_miss`],
//! because engines compare namespaces as text (Namespaces in XML 1.0, section 2.3).

/// The meaning of a namespace URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Namespace {
    /// The protocol, 0.9.
    Sitemap09,
    /// Google's protocol before sitemaps.org, 0.84 (also seen as 0.9 and 0.90 at google.com).
    Sitemap084,
    /// A misspelling of the protocol's namespace: https, trailing slash, no www, 0.90.
    SitemapVariant,
    /// Google images.
    Image,
    /// Google video.
    Video,
    /// Google news.
    News,
    /// XHTML, for alternate links.
    Xhtml,
    /// Google mobile (obsolete).
    Mobile,
    /// Google geo (obsolete).
    Geo,
    /// Google code search (obsolete).
    CodeSearch,
    /// Google `PageMap` (obsolete).
    PageMap,
    /// Any other namespace.
    #[default]
    Other,
}

/// The protocol's namespace (sitemaps.org protocol, XML tag definitions, "urlset").
pub(crate) const SITEMAP_09: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Google's namespace of 2005 (sitemap.xsd 0.84, targetNamespace).
pub(crate) const SITEMAP_084: &str = "http://www.google.com/schemas/sitemap/0.84";

/// The namespace of `xsi:schemaLocation` (XML Schema part 1, section 2.6).
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Every namespace with a URI and a customary prefix of its own (Google Search Central, "combine
/// sitemap extensions"; the obsolete ones from their schemas).
const KNOWN: [(Namespace, &str, &str); 10] = [
    (Namespace::Sitemap09, SITEMAP_09, ""),
    (Namespace::Sitemap084, SITEMAP_084, ""),
    (Namespace::Image, "http://www.google.com/schemas/sitemap-image/1.1", "image"),
    (Namespace::Video, "http://www.google.com/schemas/sitemap-video/1.1", "video"),
    (Namespace::News, "http://www.google.com/schemas/sitemap-news/0.9", "news"),
    (Namespace::Xhtml, "http://www.w3.org/1999/xhtml", "xhtml"),
    (Namespace::Mobile, "http://www.google.com/schemas/sitemap-mobile/1.0", "mobile"),
    (Namespace::Geo, "http://www.google.com/geo/schemas/sitemap/1.0", "geo"),
    (Namespace::CodeSearch, "http://www.google.com/codesearch/schemas/sitemap/1.0", "codesearch"),
    (Namespace::PageMap, "http://www.google.com/schemas/sitemap-pagemap/1.0", "pagemap"),
];

/// Misspellings of an extension's URI after [`core`]: rule catalogue section 4, `ns-ext-variant`.
const EXTENSION_STEMS: [(&str, Namespace); 15] = [
    ("google.com/schemas/sitemap-image/", Namespace::Image),
    ("google.com/schemas/sitemap-video/", Namespace::Video),
    ("google.com/schemas/sitemap-news/", Namespace::News),
    ("google.com/schemas/image/", Namespace::Image),
    ("google.com/schemas/video/", Namespace::Video),
    ("google.com/schemas/news/", Namespace::News),
    ("google.com/schemas/sitemap-mobile/", Namespace::Mobile),
    ("google.com/geo/schemas/sitemap/", Namespace::Geo),
    ("google.com/schemas/sitemap-geo/", Namespace::Geo),
    ("google.com/codesearch/schemas/sitemap/", Namespace::CodeSearch),
    ("google.com/schemas/sitemap-pagemap/", Namespace::PageMap),
    ("w3.org/1999/xhtml", Namespace::Xhtml),
    ("w3.org/1999/xlink", Namespace::Xhtml),
    ("w3.org/tr/xhtml", Namespace::Xhtml),
    ("w3.org/2002/08/xhtml", Namespace::Xhtml),
];

impl Namespace {
    /// The URI that declares it; `None` for a misspelling and for [`Namespace::Other`].
    pub fn uri(self) -> Option<&'static str> {
        KNOWN.iter().find(|(namespace, ..)| *namespace == self).map(|(_, uri, _)| *uri)
    }

    /// The customary prefix; empty for the protocol itself.
    pub fn prefix(self) -> &'static str {
        KNOWN.iter().find(|(namespace, ..)| *namespace == self).map_or("", |(.., prefix)| prefix)
    }

    /// Whether `<url>` and `<loc>` in this namespace are read as those of the protocol.
    pub const fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap09 | Self::Sitemap084 | Self::SitemapVariant)
    }
}

/// The namespace for a declared URI; for a misspelt one, the intended namespace.
pub(crate) fn classify(uri: &str) -> Namespace {
    if let Some((namespace, ..)) = KNOWN.iter().find(|(_, known, _)| *known == uri) {
        return *namespace;
    }
    let mut core = core(uri);
    match core.as_str() {
        "sitemaps.org/schemas/sitemap/0.9"
        | "sitemaps.org/schemas/sitemap/0.90"
        | "sitemaps.org/schemas/sitemap"
        | "sitemaps.org/schemas/sitemap/0.9/sitemap.xsd"
        | "sitemaps.org/schemas/sitemap/0.9/siteindex.xsd"
        | "sitemap.org/schemas/sitemap/0.9"
        // These combine Google's namespace, whose last version is 0.84, with that of sitemaps.org.
        | "google.com/schemas/sitemap/0.9"
        | "google.com/schemas/sitemap/0.90" => return Namespace::SitemapVariant,
        "google.com/schemas/sitemap/0.84" => return Namespace::Sitemap084,
        _ => {}
    }
    core.push('/');
    EXTENSION_STEMS.iter().find(|(stem, _)| core.starts_with(stem)).map_or(Namespace::Other, |(_, meant)| *meant)
}

/// The extension that a misspelt URI was meant to be; `None` for an exact or unknown URI.
pub(crate) fn near_miss(uri: &str) -> Option<Namespace> {
    let meant = classify(uri);
    let extension = !meant.is_sitemap() && meant != Namespace::Other;
    (extension && meant.uri() != Some(uri)).then_some(meant)
}

/// The namespace that a prefix is usually declared for; used for files that do not declare it.
pub(crate) fn by_usual_prefix(prefix: &[u8]) -> Option<Namespace> {
    let known = KNOWN.iter().filter(|(.., usual)| !usual.is_empty());
    known.into_iter().find(|(.., usual)| usual.as_bytes() == prefix).map(|(namespace, ..)| *namespace)
}

/// Whether an attribute of the root is a misspelt `xmlns` with a sitemap namespace
/// (rule catalogue section 4, `ns-attr-typo`; the 0.84 documents of 2005 write `ns=`).
pub(crate) fn is_xmlns_typo(attribute: &str, value: &str) -> bool {
    const SLIPS: [&str; 9] = ["ns", "xmln", "xlmns", "xmns", "xmls", "xmlsn", "mlns", "xmlns:", "namespace"];
    let lower = attribute.to_ascii_lowercase();
    (SLIPS.contains(&lower.as_str()) || (lower == "xmlns" && attribute != "xmlns")) && classify(value).is_sitemap()
}

/// A URI without the parts that are often wrong: case, white space, scheme, `www.`, trailing slashes.
fn core(uri: &str) -> String {
    let lower = uri.trim().to_ascii_lowercase();
    let rest = lower.strip_prefix("http:").or_else(|| lower.strip_prefix("https:")).unwrap_or(&lower);
    let rest = rest.trim_start_matches('/');
    rest.strip_prefix("www.").unwrap_or(rest).trim_end_matches(['/', '#']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_uri_is_classified() {
        let table = [
            ("http://www.sitemaps.org/schemas/sitemap/0.9", Namespace::Sitemap09),
            ("https://www.sitemaps.org/schemas/sitemap/0.9", Namespace::SitemapVariant),
            ("http://www.sitemaps.org/schemas/sitemap/0.9/", Namespace::SitemapVariant),
            ("http://sitemaps.org/schemas/sitemap/0.9", Namespace::SitemapVariant),
            ("http://www.sitemaps.org/schemas/sitemap/0.90", Namespace::SitemapVariant),
            ("//www.sitemaps.org/schemas/sitemap/0.9", Namespace::SitemapVariant),
            (" http://www.sitemaps.org/schemas/sitemap/0.9 ", Namespace::SitemapVariant),
            ("http://www.google.com/schemas/sitemap/0.84", Namespace::Sitemap084),
            ("http://www.google.com/schemas/sitemap/0.9", Namespace::SitemapVariant),
            ("https://www.google.com/schemas/sitemap/0.90/", Namespace::SitemapVariant),
            ("http://www.google.com/schemas/sitemap-image/1.1", Namespace::Image),
            ("http://www.google.com/schemas/sitemap-video/1.1", Namespace::Video),
            ("http://www.google.com/schemas/sitemap-news/0.9", Namespace::News),
            ("http://www.w3.org/1999/xhtml", Namespace::Xhtml),
            ("http://www.google.com/schemas/sitemap-mobile/1.0", Namespace::Mobile),
            ("http://www.google.com/geo/schemas/sitemap/1.0", Namespace::Geo),
            ("http://www.google.com/codesearch/schemas/sitemap/1.0", Namespace::CodeSearch),
            ("http://www.google.com/schemas/sitemap-pagemap/1.0", Namespace::PageMap),
            ("http://www.sitemaps.org/schemas/sitemap/1.0", Namespace::Other),
            ("https://www.google.com/schemas/sitemap-image/1.1", Namespace::Image),
            ("", Namespace::Other),
        ];
        for (uri, expected) in table {
            assert_eq!(classify(uri), expected, "{uri:?}");
        }
    }

    #[test]
    fn near_misses_of_extensions() {
        let table = [
            ("https://www.google.com/schemas/sitemap-image/1.1", Some(Namespace::Image)),
            ("http://www.google.com/schemas/sitemap-image/1.0", Some(Namespace::Image)),
            ("http://www.google.com/schemas/sitemap-news/0.9/", Some(Namespace::News)),
            ("http://www.google.com/schemas/image/1.1", Some(Namespace::Image)),
            ("http://www.w3.org/TR/xhtml11/xhtml11_schema.html", Some(Namespace::Xhtml)),
            ("http://www.w3.org/1999/xhtml/", Some(Namespace::Xhtml)),
            ("http://www.w3.org/1999/xlink", Some(Namespace::Xhtml)),
            ("http://www.w3.org/1999/xhtml", None),
            ("http://example.org/mine", None),
            ("https://www.sitemaps.org/schemas/sitemap/0.9", None),
        ];
        for (uri, expected) in table {
            assert_eq!(near_miss(uri), expected, "{uri:?}");
        }
    }

    #[test]
    fn misspelt_xmlns_is_recognised() {
        let table = [
            ("ns", "http://www.google.com/schemas/sitemap/0.84", true),
            ("xlmns", SITEMAP_09, true),
            ("XMLNS", SITEMAP_09, true),
            ("xmlns", SITEMAP_09, false),
            ("ns", "http://example.org/mine", false),
            ("version", SITEMAP_09, false),
        ];
        for (attribute, value, expected) in table {
            assert_eq!(is_xmlns_typo(attribute, value), expected, "{attribute}={value}");
        }
    }

    #[test]
    fn uris_are_classified_back() {
        for (namespace, uri, prefix) in KNOWN {
            assert_eq!((namespace.uri(), namespace.prefix()), (Some(uri), prefix));
            assert_eq!(near_miss(uri), None, "{uri}");
            if !prefix.is_empty() {
                assert_eq!(by_usual_prefix(prefix.as_bytes()), Some(namespace));
            }
        }
    }
}
