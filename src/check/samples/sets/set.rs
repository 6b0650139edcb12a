//! Samples of the rules about all entries of a set together.

use super::Sample;
use super::files::{HEAD, NS, child, file, index_of, locs, many, page, rows, whole};
use crate::check::rule::Rule;
use crate::check::samples::{PAGE, news};

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
        Rule::SET_DUPLICATE => file(
            "<url><loc>https://example.com/a</loc><lastmod>2026-11-10</lastmod></url>\n<url><loc>https://example.com/a</loc><lastmod>2026-11-18</lastmod></url>",
        ),
        Rule::SET_DUPLICATE_EQUIVALENT => locs(&["https://example.com/a", "https://example.com/%61"]),
        Rule::SET_DUPLICATE_NEAR => locs(&["https://example.com/a", "https://example.com/a/"]),
        Rule::SET_DUPLICATE_ACROSS_FILES => {
            file(&page("a")).and("b.xml", whole(&format!("{}{}", page("a"), page("b"))))
        }
        Rule::SET_MIXED_SCHEME => locs(&["https://example.com/a", "https://example.com/b", "http://example.com/c"]),
        Rule::SET_MIXED_WWW => locs(&["https://example.com/a", "https://example.com/b", "https://www.example.com/c"]),
        Rule::SET_MIXED_HOST => locs(&["https://example.com/a", "https://example.com/b", "https://example.org/c"]),
        Rule::SET_MIXED_PORT => locs(&["https://example.com/a", "https://example.com/b", "https://example.com:8443/c"]),
        Rule::SET_MIXED_SLASH => {
            let pages: Vec<String> = (0..20).map(|number| format!("https://example.com/{number}")).collect();
            let mut pages: Vec<&str> = pages.iter().map(String::as_str).collect();
            pages.push("https://example.com/z/");
            locs(&pages)
        }
        Rule::SET_LASTMOD_IDENTICAL => rows(20, |_| "<lastmod>2026-11-18</lastmod>".to_owned()),
        Rule::SET_LASTMOD_GENERATED => {
            rows(20, |number| format!("<lastmod>2026-11-18T10:00:{:02}Z</lastmod>", number % 30))
        }
        Rule::SET_LASTMOD_SPARSE => {
            rows(3, |number| if number == 0 { "<lastmod>2026-11-18</lastmod>".to_owned() } else { String::new() })
        }
        Rule::SET_PRIORITY_IDENTICAL => rows(10, |_| "<priority>0.4</priority>".to_owned()),
        Rule::SET_PRIORITY_ALL_HIGH => {
            rows(3, |number| format!("<priority>{}</priority>", if number == 0 { "0.4" } else { "1.0" }))
        }
        Rule::SET_NEWS_MIXED => {
            many(&format!("<url><loc>{PAGE}</loc>{}</url>\n{}", news("en", "2026-11-20", ""), page("b")))
        }
        Rule::SET_TOO_MANY_INDEXES => {
            let nested = format!("{HEAD}<sitemapindex {NS}>{}</sitemapindex>\n", child("x.xml", ""));
            let children: String = (0..500).map(|number| child(&format!("{number}.xml"), "")).collect();
            (0..500).fold(index_of(&children), |sample, number| sample.and(&format!("{number}.xml"), nested.clone()))
        }
        _ => return None,
    };
    Some(sample)
}
