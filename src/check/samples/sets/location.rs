//! Samples of the rules about `loc`.

use super::files::loc;
use super::{Sample, for_profile};
use crate::check::Profile;
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
        Rule::LOC_NOT_ABSOLUTE => loc("www.example.com/a"),
        Rule::LOC_SCHEME => loc("ftp://example.com/a"),
        Rule::LOC_SCHEME_TYPO => loc("htp://example.com/a"),
        Rule::LOC_NO_HOST => loc("https://:80/aaaaaaa"),
        Rule::LOC_HOST_INVALID => loc("https://exa_mple..com/a"),
        Rule::LOC_HOST_NOT_PUBLIC => loc("http://localhost/a"),
        Rule::LOC_USERINFO => loc("https://a:b@example.com/a"),
        Rule::LOC_INNER_WHITESPACE => loc("https://example.com/a\nb"),
        Rule::LOC_ILLEGAL_CHAR => loc("https://example.com/a|b"),
        Rule::LOC_BAD_PERCENT => loc("https://example.com/100%"),
        Rule::LOC_NOT_ASCII => loc("https://example.com/é"),
        Rule::LOC_MOJIBAKE => loc("https://example.com/%C3%83%C2%A9"),
        Rule::LOC_TOO_LONG => loc(&format!("https://example.com/{}", "a".repeat(2_049))),
        Rule::LOC_TOO_LONG_BY_ONE => loc(&format!("https://example.com/{}", "a".repeat(2_028))),
        Rule::LOC_TOO_LONG_ENCODED => loc(&format!("https://example.com/{}", "é".repeat(700))),
        Rule::LOC_TOO_LONG_YANDEX => {
            for_profile(Profile::Yandex, loc(&format!("https://example.com/{}", "a".repeat(1_024))))
        }
        Rule::LOC_TOO_LONG_BAIDU => {
            for_profile(Profile::Baidu, loc(&format!("https://example.com/{}", "a".repeat(256))))
        }
        Rule::LOC_TOO_SHORT => loc("http://t.co"),
        Rule::LOC_MISSING_ROOT_SLASH => loc("https://example.com"),
        Rule::LOC_FRAGMENT => loc("https://example.com/a#b"),
        Rule::LOC_DEFAULT_PORT => loc("https://example.com:443/a"),
        Rule::LOC_DOT_SEGMENTS => loc("https://example.com/a/../b"),
        Rule::LOC_DOUBLE_SLASH => loc("https://example.com//a"),
        Rule::LOC_UPPERCASE_HOST => loc("https://Example.com/a"),
        Rule::LOC_SESSION_ID => loc("https://example.com/a?sid=0123456789abcdef"),
        Rule::LOC_TRACKING_PARAM => loc("https://example.com/a?utm_source=b"),
        Rule::LOC_PRIVATE => loc("https://example.com/a?api_key=b"),
        Rule::LOC_TEMPLATE_RESIDUE => loc("https://example.com/undefined"),
        Rule::LOC_NOT_PAGE => loc("https://example.com/a.jpg"),
        Rule::LOC_FOREIGN_HOST => Sample { base: Some("https://example.com/"), ..loc("https://other.org/a") },
        Rule::LOC_OUTSIDE_PATH => Sample { base: Some("https://example.com/b/"), ..loc("https://example.com/a") },
        _ => return None,
    };
    Some(sample)
}
