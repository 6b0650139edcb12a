//! Samples of the rules about extensions of entries.

use super::Sample;
use super::files::{HEAD, NS, extended, many, page};
use crate::check::rule::Rule;
use crate::check::samples::{extensions, news, video};

/// The files that violate a rule of this family, or a rule of another one in an extension.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
        Rule::NEWS_LIMIT => {
            let one = news("en", "2026-11-20", "");
            let row = |number: usize| format!("<url><loc>https://example.com/{number}</loc>{one}</url>\n");
            many(&(0..1_001).map(row).collect::<String>())
        }
        Rule::EXT_OUTSIDE_URL => Sample::of(
            "sitemap.xml",
            format!(
                "{HEAD}<urlset {NS} xmlns:mobile=\"http://www.google.com/schemas/sitemap-mobile/1.0\">{}<mobile:mobile/></urlset>\n",
                page("a")
            ),
        ),
        Rule::NEWS_DATE => extended(&news("en", "2026-11-20T10:14:07z", "")),
        Rule::VIDEO_DATE => extended(&video("<video:publication_date>2026-5-1</video:publication_date>")),
        _ => {
            let name = format!("{rule:?}");
            let breaks = |codes: &str| codes.split_whitespace().any(|code| code == name);
            let (extension, _) = extensions().into_iter().find(|(_, codes)| breaks(codes))?;
            extended(&extension)
        }
    };
    Some(sample)
}
