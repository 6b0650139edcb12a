//! Samples of the rules about the pages behind the URLs, and robots.txt.

use super::Sample;
use super::files::{field, file, many, page, version};
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
        Rule::SITE_NOT_FOUND => answered(r#""status":404"#),
        Rule::SITE_CLIENT_ERROR => answered(r#""status":403"#),
        Rule::SITE_SERVER_ERROR => answered(r#""status":503"#),
        Rule::SITE_REDIRECT => answered(r#""status":301,"final":"https://example.com/b""#),
        Rule::SITE_REDIRECT_LOOP => answered(r#""status":301,"final":"https://example.com/a""#),
        Rule::SITE_NOINDEX => answered(r#""status":200,"robots":"noindex""#),
        Rule::SITE_CANONICAL_ELSEWHERE => answered(r#""status":200,"canonical":"https://example.com/b""#),
        Rule::SITE_BLOCKED_BY_ROBOTS => answered(r#""blocked":3"#),
        Rule::SITE_BLOCKED_FOR_BING => with_robots("User-agent: Bingbot\nDisallow: /a\n"),
        Rule::SITE_BLOCKED_FOR_OTHERS => {
            with_robots("User-agent: Googlebot\nUser-agent: Bingbot\nAllow: /\n\nUser-agent: *\nDisallow: /\n")
        }
        Rule::ROBOTS_SITEMAP_MISSING => with_robots("User-agent: *\nAllow: /\n"),
        Rule::ROBOTS_SITEMAP_OTHER => {
            with_robots("Sitemap: https://example.com/sitemap.xml\nSitemap: https://example.com/old.xml\n")
        }
        Rule::SITE_REDIRECT_CHAIN => answered(
            r#""status":301,"location":["https://example.com/b","https://example.com/d"],"final":"https://example.com/d""#,
        ),
        Rule::SITE_NOT_A_PAGE => answered(r#""status":200,"type":"image/png""#),
        Rule::SITE_SOFT_404 => answered(r#""status":200,"title":"404 Not Found","canonical":"https://example.com/""#),
        Rule::SITE_SLOW => answered(r#""status":200,"ms":4200"#),
        Rule::SITE_LASTMOD_OLDER | Rule::SITE_LASTMOD_NEWER => {
            let is_older = rule == Rule::SITE_LASTMOD_OLDER;
            let date =
                if is_older { r#""modified":"2026-11-19T10:00:00Z""# } else { r#""modified":"2026-11-01T10:00:00Z""# };
            Sample { answer: Some(date), ..field("<lastmod>2026-11-18</lastmod>") }
        }
        Rule::SITE_HREFLANG_DIFFERS => {
            let links = many(&format!(
                "{}{}",
                version("a", &[("en", "https://example.com/a"), ("de", "https://example.com/d")]),
                version("de", &[("en", "https://example.com/a"), ("de", "https://example.com/de")])
            ));
            Sample {
                answer: Some(r#""hreflang":{"en":"https://example.com/a","de":"https://example.com/de"}"#),
                ..links
            }
        }
        Rule::SITE_NOT_CHECKED => answered(r#""status":200"#),
        Rule::SITE_UNREACHABLE => answered(r#""error":"connection refused""#),
        _ => return None,
    };
    Some(sample)
}

/// Two pages, and the answer of the site for the first, `https://example.com/a`.
fn answered(answer: &'static str) -> Sample {
    Sample { answer: Some(answer), ..file(&[page("a"), page("c")].concat()) }
}

/// Two pages of a site with a robots.txt.
fn with_robots(robots: &'static str) -> Sample {
    Sample { robots: Some(robots), ..file(&[page("a"), page("c")].concat()) }
}
