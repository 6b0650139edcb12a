//! What the tests of this layer check: a moment, and values that are right, wrong and odd.

use crate::protocol::Field;
use proptest::prelude::*;

/// 2026-11-20T10:14:07Z.
pub const NOW: i64 = 1_795_169_647;

/// Any values, mostly right, sometimes absent.
pub fn any_value(field: Field) -> BoxedStrategy<Option<String>> {
    let good: Vec<&str> = match field {
        Field::Loc => vec!["https://example.com/a", "https://example.com/b?c=1&d=2", "https://example.com/é"],
        Field::Lastmod => vec!["2026-11-18", "2020-01-01", "2026-11-20T10:14:07+01:00", "2027-01-01"],
        Field::Changefreq => vec!["daily", "never", "weekly", "hourly"],
        Field::Priority => vec!["0.5", "1.0", "0.80"],
    };
    let odd: Vec<&str> = match field {
        Field::Loc => vec![
            "",
            "/a",
            "htp://example.com/",
            "https://example.com",
            "HTTP://Example.com:80/../a b#c",
            "http://a.com/\u{a0}",
            "https://example.com/?utm_source=x&sid=1",
            "http://localhost/%zz",
            "https://example.com/{{x}}\n",
            "ftp://a.com/b.jpg",
        ],
        Field::Lastmod => vec![
            "",
            "2026",
            "2026-5-1",
            "2026-05-01 10:00",
            "2026-05-01T10:00:00.5+0200",
            "20260501",
            "1795169647",
            "0000-00-00",
            "1970-01-01",
            "Tue, 10 May 2005 17:33:30 GMT",
            "10.05.2005",
            "2026-02-30",
            "yesterday",
            "2026-05-01T24:00:00-00:00",
            "2005-05-10, 2005-05-11",
            "12005-05-10",
            "2005-05-10Z",
            "2005-05-10T17:33z",
            "05/10/2005",
        ],
        Field::Changefreq => vec!["", "Daily", "day", "fortnightly", "sometimes"],
        Field::Priority => vec!["", ".5", "0,5", "8", "1.1", "high", "0.555", "50%", "-0", "0.50000", ",5"],
    };
    prop_oneof![
        2 => Just(None),
        6 => proptest::sample::select(good).prop_map(|value| Some(value.to_owned())),
        6 => proptest::sample::select(odd).prop_map(|value| Some(value.to_owned())),
    ]
    .boxed()
}
