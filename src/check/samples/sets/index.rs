//! Samples of the rules about a sitemap index and its children.

use super::Sample;
use super::files::{HEAD, NS, child, index, index_of, page, whole};
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
        Rule::INDEX_TOO_MANY => {
            index_of(&(0..50_001).map(|number| child(&format!("{number}.xml"), "")).collect::<String>())
        }
        Rule::INDEX_NESTED => {
            let inner = format!(
                "{HEAD}<sitemapindex {NS}>{}</sitemapindex>\n",
                child("4.xml", "<lastmod>2026-11-18</lastmod>")
            );
            index(&child("3.xml", "")).and("3.xml", inner).and("4.xml", whole(&page("4")))
        }
        Rule::INDEX_SELF => index(&child("sitemap_index.xml", "")),
        Rule::INDEX_CYCLE => index(&child("3.xml", ""))
            .and("3.xml", format!("{HEAD}<sitemapindex {NS}>{}</sitemapindex>\n", child("sitemap_index.xml", ""))),
        Rule::INDEX_CHILD_DUPLICATE => index(&child("1.xml", "")),
        Rule::INDEX_CHILD_HOST => {
            index("<sitemap><loc>https://other.org/3.xml</loc></sitemap>\n").and("3.xml", whole(&page("3")))
        }
        Rule::INDEX_CHILD_PATH => {
            let child = "<sitemap><loc>https://example.com/3.xml</loc></sitemap>\n";
            let sample = index_of(child).and("3.xml", whole(&page("a/3")));
            Sample { base: Some("https://example.com/a/"), ..sample }
        }
        Rule::INDEX_CHILD_MISSING => index(&child("3.xml", "")),
        Rule::INDEX_CHILD_UNLISTED => index("").and("3.xml", whole(&page("3"))),
        Rule::INDEX_CHILD_EMPTY => index(&child("3.xml", "")).and("3.xml", whole("")),
        Rule::INDEX_CHILD_INCOMPLETE_URL => {
            index("<sitemap><loc>/3.xml</loc></sitemap>\n").and("3.xml", whole(&page("3")))
        }
        Rule::INDEX_EXTRA_CHILD => index(&child("3.xml", "<priority>0.4</priority>")).and("3.xml", whole(&page("3"))),
        Rule::INDEX_LASTMOD_OLDER => index(&child("3.xml", "<lastmod>2026-11-01</lastmod>"))
            .and("3.xml", whole("<url><loc>https://example.com/3</loc><lastmod>2026-11-18</lastmod></url>\n")),
        Rule::INDEX_LASTMOD_MEANING => index_of(&format!(
            "{}{}",
            child("1.xml", "<lastmod>2020-11-18</lastmod>"),
            child("2.xml", "<lastmod>2020-11-18</lastmod>")
        ))
        .and("1.xml", whole("<url><loc>https://example.com/1</loc><lastmod>2020-11-18</lastmod></url>\n"))
        .and(
            "2.xml",
            whole(&format!("<url><loc>https://example.com/2</loc><lastmod>2020-11-18</lastmod></url>\n{}", page("3"))),
        ),
        Rule::INDEX_SINGLE => index_of(&child("1.xml", "")).and("1.xml", whole(&page("1"))),
        _ => return None,
    };
    Some(sample)
}
