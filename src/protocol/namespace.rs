//! The namespaces of sitemaps and their extensions. Pure tables.

/// The sitemap namespace (sitemaps.org protocol, "XML tag definitions").
pub const SITEMAP_09: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Google's first sitemap namespace, 2005 (sitemap.xsd 0.84, targetNamespace).
pub const SITEMAP_084: &str = "http://www.google.com/schemas/sitemap/0.84";

/// What a namespace URI stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Namespace {
    /// Exactly [`SITEMAP_09`].
    Sitemap09,
    /// [`SITEMAP_084`], or 0.9 and 0.90 at google.com.
    Sitemap084,
    /// A near miss of the sitemap namespace: https, trailing slash, missing www, `/0.90`, scheme-relative.
    SitemapVariant,
    /// Google image extension 1.1.
    Image,
    /// Google video extension 1.1.
    Video,
    /// Google news extension 0.9.
    News,
    /// XHTML, for `xhtml:link`.
    Xhtml,
    /// Google mobile extension 1.0 (obsolete).
    Mobile,
    /// Google geo extension 1.0 (obsolete).
    Geo,
    /// Google code search extension 1.0 (obsolete).
    CodeSearch,
    /// Google `PageMap` extension 1.0.
    PageMap,
    /// Anything else.
    #[default]
    Other,
}

impl Namespace {
    /// Whether it stands for the sitemap protocol itself, well or badly spelled.
    pub const fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap09 | Self::Sitemap084 | Self::SitemapVariant)
    }
}

/// What a namespace URI, as declared, stands for.
pub fn classify(uri: &str) -> Namespace {
    match uri {
        SITEMAP_09 => Namespace::Sitemap09,
        SITEMAP_084 | "http://www.google.com/schemas/sitemap/0.9" | "http://www.google.com/schemas/sitemap/0.90" => {
            Namespace::Sitemap084
        }
        "http://www.google.com/schemas/sitemap-image/1.1" => Namespace::Image,
        "http://www.google.com/schemas/sitemap-video/1.1" => Namespace::Video,
        "http://www.google.com/schemas/sitemap-news/0.9" => Namespace::News,
        "http://www.w3.org/1999/xhtml" => Namespace::Xhtml,
        "http://www.google.com/schemas/sitemap-mobile/1.0" => Namespace::Mobile,
        "http://www.google.com/geo/schemas/sitemap/1.0" => Namespace::Geo,
        "http://www.google.com/codesearch/schemas/sitemap/1.0" => Namespace::CodeSearch,
        "http://www.google.com/schemas/sitemap-pagemap/1.0" => Namespace::PageMap,
        _ => variant(uri),
    }
}

/// Near misses are recognised by what stays when scheme, `www.` and trailing slashes are taken away.
fn variant(uri: &str) -> Namespace {
    let rest = uri.trim().trim_end_matches('/');
    let rest = ["https://", "http://", "//"].iter().find_map(|scheme| rest.strip_prefix(scheme)).unwrap_or(rest);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    match rest {
        "sitemaps.org/schemas/sitemap/0.9" | "sitemaps.org/schemas/sitemap/0.90" => Namespace::SitemapVariant,
        "google.com/schemas/sitemap/0.84" => Namespace::Sitemap084,
        _ if rest.starts_with("google.com/schemas/sitemap-image") => Namespace::Image,
        _ if rest.starts_with("google.com/schemas/sitemap-video") => Namespace::Video,
        _ if rest.starts_with("google.com/schemas/sitemap-news") => Namespace::News,
        _ if rest.starts_with("google.com/schemas/sitemap-mobile") => Namespace::Mobile,
        "w3.org/1999/xhtml" | "w3.org/TR/xhtml11/xhtml11_schema.html" | "w3.org/1999/xlink" => Namespace::Xhtml,
        _ => Namespace::Other,
    }
}

/// What a prefix usually means, for files that use it without declaring it.
pub const fn by_usual_prefix(prefix: &[u8]) -> Option<Namespace> {
    Some(match prefix {
        b"image" => Namespace::Image,
        b"video" => Namespace::Video,
        b"news" => Namespace::News,
        b"xhtml" => Namespace::Xhtml,
        b"mobile" => Namespace::Mobile,
        b"geo" => Namespace::Geo,
        b"codesearch" => Namespace::CodeSearch,
        b"pagemap" => Namespace::PageMap,
        _ => return None,
    })
}
