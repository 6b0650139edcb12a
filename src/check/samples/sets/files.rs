//! The files of samples: sitemaps, indexes and their entries.

use super::Sample;
use crate::check::samples::{PAGE, ROOT, links};

/// A valid head.
pub(super) const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
pub(super) const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// A sitemap with these entries and a valid head.
pub(super) fn whole(entries: &str) -> String {
    format!("{HEAD}<urlset {NS}>\n{entries}\n</urlset>\n")
}

pub(super) fn page(path: &str) -> String {
    format!("<url><loc>https://example.com/{path}</loc></url>\n")
}

pub(super) fn file(entries: &str) -> Sample {
    Sample::of("sitemap.xml", whole(entries))
}

/// One entry with this field, and with a valid loc unless it is one itself.
pub(super) fn field(field: &str) -> Sample {
    let loc = if field.contains("<loc") { "" } else { "<loc>https://example.com/a</loc>" };
    file(&format!("<url>{loc}{field}</url>"))
}

pub(super) fn loc(loc: &str) -> Sample {
    field(&format!("<loc>{loc}</loc>"))
}

/// Entries of these URLs.
pub(super) fn locs(locs: &[&str]) -> Sample {
    let row = |loc: &&str| format!("<url><loc>{loc}</loc></url>\n");
    file(&locs.iter().map(row).collect::<String>())
}

/// An entry with an extension, under a root that declares what it uses.
pub(super) fn extended(extension: &str) -> Sample {
    many(&format!("<url><loc>{PAGE}</loc>{extension}</url>"))
}

/// Entries under a root that declares what they use.
pub(super) fn many(entries: &str) -> Sample {
    let mut root = ROOT.to_owned();
    for prefix in ["image", "video", "news", "xhtml", "mobile", "geo", "codesearch", "pagemap"] {
        if !entries.contains(&format!("<{prefix}:")) {
            let start = root.find(&format!(" xmlns:{prefix}=")).unwrap_or(root.len());
            let end =
                root.get(start + 1..).and_then(|rest| rest.find([' ', '>'])).map_or(root.len(), |end| start + 1 + end);
            root.replace_range(start..end, "");
        }
    }
    Sample::of("sitemap.xml", format!("{HEAD}{root}\n{entries}\n</urlset>\n"))
}

/// A sitemap of `count` entries; `inside` returns the content of each by its number.
pub(super) fn rows(count: usize, inside: impl Fn(usize) -> String) -> Sample {
    let row = |number| format!("<url><loc>https://example.com/{number}</loc>{}</url>\n", inside(number));
    file(&(0..count).map(row).collect::<String>())
}

/// An index of these entries.
pub(super) fn index_of(entries: &str) -> Sample {
    Sample::of("sitemap_index.xml", format!("{HEAD}<sitemapindex {NS}>\n{entries}</sitemapindex>\n"))
}

pub(super) fn child(name: &str, more: &str) -> String {
    format!("<sitemap><loc>https://example.com/{name}</loc>{more}</sitemap>\n")
}

/// An index of two existing sitemaps and of `more`.
pub(super) fn index(more: &str) -> Sample {
    index_of(&format!("{}{}{more}", child("1.xml", ""), child("2.xml", "")))
        .and("1.xml", whole(&page("1")))
        .and("2.xml", whole(&page("2")))
}

/// A page's alternate links for the languages and its own entry.
pub(super) fn version(path: &str, list: &[(&str, &str)]) -> String {
    format!("<url><loc>https://example.com/{path}</loc>{}</url>\n", links(list))
}
