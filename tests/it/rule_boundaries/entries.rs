//! Boundaries of the rules for entries and their fields (rule catalogue, section 5).

use super::{Pair, file, pair, sitemap, url};

const LOC: &str = "<loc>https://www.site-a.org/a</loc>";

/// Rule, content after the loc of an entry that violates it, and content that does not. Content that begins with `<loc`
/// is the whole content of the entry.
const FIELDS: [(&str, &str, &str); 53] = [
    ("loc-missing E", "<lastmod>2026-05-10</lastmod>", "<loc>https://www.site-a.org/a</loc>"),
    ("loc-empty E", "<loc>\n</loc>", "<loc>https://a.de/</loc>"),
    ("field-duplicate E", "<priority>0.5</priority><priority>0.5</priority>", "<priority>0.5</priority>"),
    ("field-empty W", "<lastmod/>", "<lastmod>2026-05-10</lastmod>"),
    ("field-has-children E", "<priority>0.<b>5</b></priority>", "<priority>0.<!-- b -->5</priority>"),
    ("field-whitespace I", "<priority> 0.5</priority>", "<priority><!-- --><![CDATA[0.5]]></priority>"),
    ("field-whitespace W", "<changefreq>daily\n</changefreq>", "<changefreq>daily</changefreq>"),
    ("field-whitespace W", "<priority>\u{200b}0.5</priority>", "<priority>0.5</priority>"),
    (
        "entry-child-order I",
        "<priority>0.5</priority><changefreq>weekly</changefreq>",
        "<changefreq>weekly</changefreq><priority>0.5</priority>",
    ),
    ("doc-unknown-element W", "<expires>2026</expires>", "<e xmlns='urn:x'>2026</e>"),
    ("doc-foreign-element I", "<e xmlns='urn:x'>2026</e>", ""),
    ("doc-unknown-attribute W", "<priority xml:lang='de'>0.5</priority>", "<priority xmlns:a='urn:x'>0.5</priority>"),
    ("doc-stray-text W", "<![CDATA[x]]>", "<![CDATA[ ]]><!-- x --><?x y?>"),
    ("xml-undeclared-prefix E", "<priority a:b='c'>0.5</priority>", "<priority xmlns:a='urn:x'>0.5</priority>"),
    ("xml-undeclared-prefix E", "<a:b>c</a:b>", "<a:b xmlns:a='urn:x'>c</a:b>"),
    ("lastmod-invalid E", "<lastmod>05/10/2005</lastmod>", "<lastmod>2005-05-10</lastmod>"),
    ("lastmod-invalid E", "<lastmod>2005-05-10T17:33:30,5Z</lastmod>", "<lastmod>2005-05-10T17:33:30.5Z</lastmod>"),
    ("lastmod-invalid E", "<lastmod>2005-05-10T17Z</lastmod>", "<lastmod>2005-05-10T17:33Z</lastmod>"),
    ("lastmod-impossible E", "<lastmod>2005-02-29</lastmod>", "<lastmod>2004-02-29</lastmod>"),
    ("lastmod-impossible E", "<lastmod>2100-02-29</lastmod>", "<lastmod>2000-02-29</lastmod>"),
    ("lastmod-impossible E", "<lastmod>2005-05-10T23:59:60Z</lastmod>", "<lastmod>2005-05-10T23:59:59Z</lastmod>"),
    ("lastmod-impossible E", "<lastmod>2005-05-10T24:00:01Z</lastmod>", "<lastmod>2005-05-10T24:00:00Z</lastmod>"),
    ("lastmod-reduced-precision E", "<lastmod>2005-05</lastmod>", "<lastmod>2005-05-01</lastmod>"),
    ("lastmod-no-seconds W", "<lastmod>2005-05-10T17:33Z</lastmod>", "<lastmod>2005-05-10T17:33:00Z</lastmod>"),
    ("lastmod-no-timezone E", "<lastmod>2005-05-10T17:33:30</lastmod>", "<lastmod>2005-05-10T17:33:30Z</lastmod>"),
    ("lastmod-space-separator E", "<lastmod>2005-05-10 17:33:30Z</lastmod>", "<lastmod>2005-05-10T17:33:30Z</lastmod>"),
    (
        "lastmod-offset-format E",
        "<lastmod>2005-05-10T17:33:30+08</lastmod>",
        "<lastmod>2005-05-10T17:33:30+08:00</lastmod>",
    ),
    (
        "lastmod-offset-range E",
        "<lastmod>2005-05-10T17:33:30+14:01</lastmod>",
        "<lastmod>2005-05-10T17:33:30+14:00</lastmod>",
    ),
    (
        "lastmod-offset-range E",
        "<lastmod>2005-05-10T17:33:30+05:60</lastmod>",
        "<lastmod>2005-05-10T17:33:30+05:59</lastmod>",
    ),
    (
        "lastmod-fraction W",
        "<lastmod>2005-05-10T17:33:30.0000Z</lastmod>",
        "<lastmod>2005-05-10T17:33:30.123Z</lastmod>",
    ),
    ("lastmod-lowercase E", "<lastmod>2005-05-10T17:33:30z</lastmod>", "<lastmod>2005-05-10T17:33:30Z</lastmod>"),
    ("lastmod-date-zone E", "<lastmod>2005-05-10Z</lastmod>", "<lastmod>2005-05-10</lastmod>"),
    ("lastmod-24-00 E", "<lastmod>2005-05-10T24:00:00Z</lastmod>", "<lastmod>2005-05-11T00:00:00Z</lastmod>"),
    ("lastmod-unpadded E", "<lastmod>2005-5-10</lastmod>", "<lastmod>2005-05-10</lastmod>"),
    ("lastmod-basic-format E", "<lastmod>20050510</lastmod>", "<lastmod>2005-05-10</lastmod>"),
    ("lastmod-rfc822 E", "<lastmod>Tue, 10 May 2005 17:33:30 GMT</lastmod>", "<lastmod>May 10, 2005</lastmod>"),
    ("lastmod-epoch E", "<lastmod>1115746410</lastmod>", "<lastmod>115746410</lastmod>"),
    ("lastmod-locale E", "<lastmod>10/05/05</lastmod>", "<lastmod>10/05/2005</lastmod>"),
    ("lastmod-multiple E", "<lastmod>2005-05-10, 2005-05-11</lastmod>", "<lastmod>2005-05-10</lastmod>"),
    ("lastmod-year-range W", "<lastmod>1989-12-31</lastmod>", "<lastmod>1990-01-01</lastmod>"),
    ("lastmod-year-range E", "<lastmod>10000-01-01</lastmod>", "<lastmod>9999-12-31</lastmod>"),
    ("lastmod-zero E", "<lastmod>0001-01-01</lastmod>", "<lastmod>0001-01-02</lastmod>"),
    ("lastmod-zero W", "<lastmod>1970-01-01T23:59:59Z</lastmod>", "<lastmod>1970-01-02</lastmod>"),
    (
        "lastmod-negative-zero I",
        "<lastmod>2005-05-10T17:33:30-00:00</lastmod>",
        "<lastmod>2005-05-10T17:33:30+00:00</lastmod>",
    ),
    ("lastmod-future W", "<lastmod>2026-11-21T10:00:01Z</lastmod>", "<lastmod>2026-11-21T10:00:00Z</lastmod>"),
    ("changefreq-invalid E", "<changefreq>dailyy</changefreq>", "<changefreq>Daily</changefreq>"),
    ("changefreq-case E", "<changefreq>Daily</changefreq>", "<changefreq>daily</changefreq>"),
    ("priority-invalid E", "<priority>5e-1</priority>", "<priority>0,5</priority>"),
    ("priority-comma E", "<priority>0,5</priority>", "<priority>0.5</priority>"),
    ("priority-range E", "<priority>1.01</priority>", "<priority>1.0</priority>"),
    ("priority-range E", "<priority>-0.1</priority>", "<priority>0.0</priority>"),
    ("priority-form I", "<priority>0.500</priority>", "<priority>0.50</priority>"),
    ("priority-precision I", "<priority>0.123</priority>", "<priority>0.12</priority>"),
];

/// Rule, a URL that violates it, and a URL that does not.
const LOCS: [(&str, &str, &str); 55] = [
    ("loc-not-absolute E", "www.site-a.org/x", "http://www.site-a.org/x"),
    ("loc-scheme E", "ftp://www.site-a.org/x", "http://www.site-a.org/x"),
    ("loc-scheme-typo E", "https:///www.site-a.org/x", "https://www.site-a.org/x"),
    ("loc-no-host E", "https://:80/abcdefgh", "https://a:80/abcdefgh"),
    ("loc-host-invalid E", "https://a.org:65536/", "https://a.org:65535/"),
    ("loc-host-invalid E", "https://a.org:0/abc", "https://a.org:1/abc"),
    ("loc-host-invalid E", "https://8.8.8.256/abc", "https://8.8.8.255/abc"),
    ("loc-host-invalid E", "https://-a.org/abc", "https://a-a.org/abc"),
    ("loc-host-not-public W", "http://172.31.255.255/", "http://172.32.0.0/"),
    ("loc-host-not-public W", "http://shop.LOCAL/abc", "http://shop.locals/abc"),
    ("loc-host-not-public W", "http://staging.a.org/", "http://staging.org/a"),
    ("loc-userinfo W", "https://u@a.org/abc", "https://a.org/@abc"),
    ("loc-inner-whitespace E", "https://a.org/a&#32;b", "https://a.org/a+b"),
    ("loc-illegal-char E", "https://a.org/a|b", "https://a.org/a!b"),
    ("loc-illegal-char E", "https://a.org/a&quot;b", "https://a.org/a&apos;b"),
    ("loc-bad-percent E", "https://a.org/%4g", "https://a.org/%4f"),
    ("loc-not-ascii I", "https://a.org/\u{e9}", "https://a.org/%C3%A9"),
    ("loc-mojibake W", "https://a.org/%C3%83%C2%A9", "https://a.org/S%C3%83O"),
    ("loc-mojibake W", "https://a.org/%C3%83%C2%A9", "https://a.org/it%92s-caf%E9"),
    ("loc-too-short W", "http://a.de", "http://a.de/"),
    ("loc-missing-root-slash I", "https://a.org?abc", "https://a.org/?abc"),
    ("loc-fragment W", "https://a.org/a#", "https://a.org/a%23"),
    ("loc-default-port I", "https://a.org:443/", "http://a.org:443/"),
    ("loc-dot-segments W", "https://a.org/%2e%2E/a", "https://a.org/.../a"),
    ("loc-dot-segments W", "https://a.org/a/..", "https://a.org/a?/../"),
    ("loc-double-slash I", "https://a.org/a//b", "https://a.org/a?b=//c"),
    ("loc-uppercase-host I", "https://A.org/abc", "https://a.org/ABC"),
    ("loc-uppercase-host I", "httpS://a.org/abc", "https://a.org/abc"),
    ("loc-session-id W", "https://a.org/?a=b&amp;SID=0123456789abcdef", "https://a.org/?sid=7"),
    ("loc-session-id W", "https://a.org/a;jsessionid=1", "https://a.org/jsessionid=1"),
    ("loc-tracking-param W", "https://a.org/?UTM_source=a", "https://a.org/?utm=a"),
    ("loc-private W", "https://a.org/b/wp-admin/", "https://a.org/b/wp-administration/"),
    ("loc-private W", "https://a.org/.env.local", "https://a.org/.environment"),
    ("loc-private W", "https://a.org/preview/a", "https://a.org/a/preview/"),
    ("loc-private W", "https://preview.a.org/", "https://preview.org/a"),
    ("loc-private W", "https://a.org/?a=b&amp;API_KEY=", "https://a.org/?api=b"),
    ("loc-template-residue W", "https://a.org/undefined", "https://a.org/undefined-x"),
    ("loc-template-residue W", "https://a.org/?a=null&amp;b", "https://a.org/?a=nullable"),
    ("loc-template-residue W", "https://a.org/%7B%7Ba%7D%7D", "https://a.org/%7Ba%7D"),
    ("loc-not-page I", "https://a.org/a.JPG?b", "https://a.org/a.jpg/"),
    ("loc-not-page I", "https://a.org/post-sitemap.xml", "https://a.org/post.xml"),
    ("xml-double-escaped W", "https://a.org/?a&amp;amp;b", "https://a.org/?a&amp;amp=b"),
    ("loc-foreign-host W", "https://www.site-a.org:8443/shop/", "https://www.site-a.org:443/shop/"),
    ("loc-foreign-host W", "http://www.site-a.org/shop/", "https://WWW.site-a.org/shop/"),
    ("loc-foreign-host W", "https://site-a.org/shop/", "https://u@www.site-a.org/shop/"),
    ("loc-outside-path W", "https://www.site-a.org/shop", "https://www.site-a.org/shop/"),
    ("loc-outside-path W", "https://www.site-a.org/Shop/", "https://www.site-a.org/%73hop/"),
    ("loc-outside-path W", "https://www.site-a.org/?/shop/", "https://www.site-a.org/shop/?"),
    ("loc-outside-path W", "https://www.site-a.org/shop/../a", "https://www.site-a.org/shop/./a"),
    ("loc-host-not-public W", "http://[fe80::1]/abc", "http://[2606:4700::1]/abc"),
    ("loc-scheme-typo E", "htps://a.org/abc", "https://a.org/abc"),
    ("loc-host-invalid E", "https://a..org/abc", "https://a.org./abc"),
    ("loc-not-ascii I", "https://b\u{fc}cher.de/", "https://xn--bcher-kva.de/"),
    ("loc-session-id W", "https://a.org/(S(abc))/a", "https://a.org/(s)/a"),
    ("loc-dot-segments W", "https://a.org/./a", "https://a.org/.a"),
];

/// A URL of this number of characters that ends in `end`.
fn long(characters: usize, end: &str) -> String {
    let start = "https://www.site-a.org/";
    format!("{start}{}{end}", "a".repeat(characters - start.len() - end.chars().count()))
}

pub(super) fn pairs() -> Vec<Pair> {
    let field = |rest: &str| match rest {
        rest if rest.starts_with("<loc") => file(sitemap(&format!("<url>{rest}</url>"))),
        rest => file(sitemap(&format!("<url>{LOC}{rest}</url>"))),
    };
    let loc = |loc: &str| file(sitemap(&url(loc, "")));
    let dated = |word: &str, date: &str| field(&format!("<lastmod>{date}</lastmod><changefreq>{word}</changefreq>"));
    let in_shop: &[&str] = &["--base-url", "https://www.site-a.org/shop/"];
    let mut pairs: Vec<Pair> = Vec::new();
    for (rule, violating, valid) in FIELDS {
        let violating =
            if rule == "loc-missing E" { file(sitemap(&format!("<url>{violating}</url>"))) } else { field(violating) };
        pairs.push(pair(rule, violating, field(valid)));
    }
    for (rule, violating, valid) in LOCS {
        let at_home = rule.starts_with("loc-foreign") || rule.starts_with("loc-outside");
        pairs.push(pair(rule, loc(violating), loc(valid)).with_arguments(if at_home { in_shop } else { &[] }));
    }
    pairs.extend([
        pair("loc-too-long E", loc(&long(2_048, "")), loc(&long(2_047, ""))),
        // A character reference counts as one character, and white space around the URL is not counted.
        pair("loc-too-long E", loc(&long(2_048, "&").replace('&', "&amp;")), loc(&format!(" {}\n", long(2_047, "")))),
        pair("loc-too-long E", loc(&long(2_049, "")), loc(&long(2_048, ""))).with_profile("legacy-0.84"),
        pair("loc-too-long W", loc(&long(2_043, "\u{e9}")), loc(&long(2_042, "\u{e9}"))),
        pair("loc-too-long-yandex W", loc(&long(1_025, "")), loc(&long(1_024, ""))).with_profile("yandex"),
        pair("loc-too-long-yandex W", loc(&long(1_030, "%D0%BF")), loc(&long(1_029, "%D0%BF"))).with_profile("yandex"),
        pair("loc-too-long-baidu W", loc(&long(257, "")), loc(&long(256, ""))).with_profile("baidu"),
        pair("loc-too-long-baidu W", loc(&long(256, "\u{e9}")), loc(&long(255, "\u{e9}"))).with_profile("baidu"),
        pair(
            "field-too-long-yandex W",
            field(&format!("<lastmod>{}</lastmod>", "\u{e9}".repeat(51))),
            field(&format!("<lastmod>{}</lastmod>", "\u{e9}".repeat(50))),
        )
        .with_profile("yandex"),
        pair(
            "lastmod-date-only I",
            field("<lastmod>2005-05-10</lastmod>"),
            field("<lastmod>2005-05-10T17:33:30Z</lastmod>"),
        )
        .with_profile("bing"),
        pair("changefreq-ignored I", field("<changefreq>daily</changefreq>"), field("")).with_profile("google"),
        pair("priority-ignored I", field("<priority>0.5</priority>"), field("")).with_profile("bing"),
        pair(
            "changefreq-lastmod-conflict I",
            dated("daily", "2025-11-20T09:59:59Z"),
            dated("daily", "2025-11-20T10:00:00Z"),
        ),
        pair("changefreq-lastmod-conflict I", dated("hourly", "2005-05-10"), dated("weekly", "2005-05-10")),
        pair(
            "changefreq-lastmod-conflict I",
            dated("never", "2026-11-19T10:00:01Z"),
            dated("never", "2026-11-19T10:00:00Z"),
        ),
        pair(
            "lastmod-missing I",
            file(sitemap(
                &[url("https://a.org/a", "<lastmod>2026-05-10</lastmod>"), url("https://a.org/b", "")].concat(),
            )),
            file(sitemap(&[url("https://a.org/a", ""), url("https://a.org/b", "")].concat())),
        ),
    ]);
    // The severity depends on the profile.
    let wrong = field("<lastmod>yesterday</lastmod>");
    for (profile, rule) in [
        ("google", "lastmod-invalid E"),
        ("bing", "lastmod-invalid E"),
        ("yandex", "lastmod-invalid W"),
        ("baidu", "lastmod-invalid W"),
        ("legacy-0.84", "lastmod-invalid E"),
    ] {
        pairs.push(pair(rule, wrong.clone(), field("")).with_profile(profile));
    }
    let outside = loc("https://www.site-a.org/a");
    for (profile, rule) in [
        ("google", "loc-outside-path W"),
        ("bing", "loc-outside-path W"),
        ("yandex", "loc-outside-path E"),
        ("baidu", "loc-outside-path W"),
        ("legacy-0.84", "loc-outside-path E"),
    ] {
        pairs.push(
            pair(rule, outside.clone(), loc("https://www.site-a.org/shop/a"))
                .with_profile(profile)
                .with_arguments(in_shop),
        );
    }
    let swapped = field("<priority>0.5</priority><changefreq>weekly</changefreq>");
    pairs.push(pair("entry-child-order I", swapped, field("<priority>0.5</priority>")).with_profile("google"));
    pairs
}
