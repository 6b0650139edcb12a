//! Samples of the rules about one file: its namespace, its size, and content beside its entries.

use super::Sample;
use super::files::{HEAD, NS, field, file, page, whole};
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let pages = |count: usize| (0..count).map(|number| page(&number.to_string())).collect::<String>();
    let sample = match rule {
        Rule::DOC_NO_ENTRIES => file(""),
        Rule::DOC_NO_ENTRIES_NEWS => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<urlset {NS} xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\"></urlset>\n"),
        ),
        Rule::DOC_UNKNOWN_ELEMENT => field("<expires>2027</expires>"),
        Rule::DOC_UNKNOWN_ATTRIBUTE => field("<priority id=\"1\">0.4</priority>"),
        Rule::DOC_STRAY_TEXT => field("stray"),
        Rule::NS_MISSING => Sample::of("sitemap.xml", format!("{HEAD}<urlset>{}</urlset>\n", page("a"))),
        Rule::NS_ATTR_TYPO => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<urlset ns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}</urlset>\n", page("a")),
        ),
        Rule::NS_VARIANT => {
            Sample::of("sitemap.xml", whole(&page("a")).replace("http://www.sitemaps", "https://www.sitemaps"))
        }
        Rule::NS_LEGACY_084 => Sample::of(
            "sitemap.xml",
            whole(&page("a"))
                .replace("http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.google.com/schemas/sitemap/0.84"),
        ),
        Rule::NS_WRONG => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace("http://www.sitemaps.org/schemas/sitemap/0.9", "http://example.com/"),
        ),
        Rule::FILE_TOO_MANY_URLS => file(&pages(50_001)),
        Rule::FILE_TOO_LARGE => {
            // Comments, since long URLs take long to validate.
            let end = format!("<!-- {} --></url>", "a".repeat(1_900));
            file(&(0..28_000).map(|number| page(&number.to_string()).replace("</url>", &end)).collect::<String>())
        }
        Rule::FILE_NEAR_LIMIT => file(&pages(45_001)),
        Rule::NS_ENTRY_MISSING => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<s:urlset {}>{}</s:urlset>\n", NS.replace("xmlns", "xmlns:s"), page("a")),
        ),
        _ => return None,
    };
    Some(sample)
}
