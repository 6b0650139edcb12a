//! Test data: a fixed time, and valid, invalid and unusual values.

pub(crate) mod sets;

use crate::protocol::Field;
use crate::xml::elements::Elements;
use crate::xml::entry::Entry;
use crate::xml::names::Names;
use crate::xml::scan::{ParsedEntry, Visit};
use proptest::prelude::*;

/// 2026-11-20T10:14:07Z.
pub(crate) const NOW: i64 = 1_795_169_647;

/// Any values: valid, unusual or absent.
pub(crate) fn any_value(field: Field) -> BoxedStrategy<Option<String>> {
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
            "https://example.com/é\u{200b}",
            "\u{3000}https://example.com/中文",
            "https://example.com/中文\u{2060}",
            "https://example.com/é\u{1}",
            "äöü",
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

/// The root of every sample with extensions.
pub(crate) const ROOT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
    xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
    xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" \
    xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\" \
    xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" \
    xmlns:mobile=\"http://www.google.com/schemas/sitemap-mobile/1.0\" \
    xmlns:geo=\"http://www.google.com/geo/schemas/sitemap/1.0\" \
    xmlns:codesearch=\"http://www.google.com/codesearch/schemas/sitemap/1.0\" \
    xmlns:pagemap=\"http://www.google.com/schemas/sitemap-pagemap/1.0\">";

/// A video with its required elements and `more`.
pub(crate) fn video(more: &str) -> String {
    format!(
        "<video:video><video:thumbnail_loc>https://example.com/t.jpg</video:thumbnail_loc>\
         <video:title>A</video:title><video:description>B</video:description>\
         <video:content_loc>https://example.com/v.mp4</video:content_loc>{more}</video:video>"
    )
}

/// News with a language, a date and `more`.
pub(crate) fn news(language: &str, date: &str, more: &str) -> String {
    format!(
        "<news:news><news:publication><news:name>A</news:name><news:language>{language}</news:language>\
         </news:publication><news:publication_date>{date}</news:publication_date><news:title>B</news:title>{more}</news:news>"
    )
}

/// Alternate links: language and URL.
pub(crate) fn links(links: &[(&str, &str)]) -> String {
    let link =
        |(code, href): &(&str, &str)| format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"{href}\"/>");
    links.iter().map(link).collect()
}

/// The URL of the page of the samples of extensions.
pub(crate) const PAGE: &str = "https://example.com/a";

/// An extension for each rule about extensions of an entry, in the order of the catalogue, with the codes that it
/// violates, and no others.
pub(crate) fn extensions() -> Vec<(String, &'static str)> {
    let image = |inside: &str| format!("<image:image>{inside}</image:image>");
    let loc = "<image:loc>https://example.com/i.jpg</image:loc>";
    let (en, de) = (("en", PAGE), ("de", "https://example.com/de"));
    let x = ("x-default", "https://example.com/x");
    let show = "<video:show_title>C</video:show_title>";
    let mut samples = vec![
        ("<image:loc>https://example.com/i.jpg</image:loc>".to_owned(), "ext-misplaced"),
        (format!("{}{}", image(loc), image(&format!("{loc}{}", image("")))), "ext-misplaced image-duplicate"),
        (video("<video:tvshow/>").replace("tvshow", "show_title"), "ext-misplaced"),
        (image(&format!("{loc}{loc}")), "ext-duplicate-child"),
        ("<mobile:mobile/><mobile:mobile/>".to_owned(), "ext-duplicate-child ext-obsolete ext-obsolete"),
        (video("<video:live>no</video:live><video:duration>5</video:duration>"), "ext-child-order"),
        (image(&format!("{loc}<image:alt>A</image:alt>")), "ext-unknown-child"),
        (image("<loc>https://example.com/i.jpg</loc>"), "ext-unknown-child image-loc-missing"),
        (image(&format!("{loc}<image:x:y/>")), "ext-unknown-child"),
        (image(&loc.replace("loc>h", "loc type=\"jpg\">h")), "ext-unknown-attribute"),
        ("<mobile:mobile/>".to_owned(), "ext-obsolete"),
        ("<geo:geo><geo:format>kml</geo:format></geo:geo>".to_owned(), "ext-obsolete"),
        (
            "<codesearch:codesearch><codesearch:filetype>c</codesearch:filetype></codesearch:codesearch>".to_owned(),
            "ext-obsolete",
        ),
        ("<pagemap:PageMap/>".to_owned(), "ext-obsolete/note"),
        (image(""), "image-loc-missing"),
        (image("<image:loc> </image:loc>"), "image-loc-missing"),
        (image(&format!("{loc}<image:title>A</image:title><image:license/>")), "image-deprecated image-deprecated"),
        (image(&loc.replace("example.com", "cdn.example.com")), "image-foreign-host"),
        (image(loc).repeat(2), "image-duplicate"),
        (image(&loc.replace("i.jpg", "a b.jpg")), "loc-inner-whitespace"),
        (image(&loc.replace("https://example.com", "")), "loc-not-absolute"),
        (image(&loc.replace("https", "ftp")), "loc-scheme"),
        (image(&loc.replace("https://example", "\n https://example")), "field-whitespace"),
        (image(&loc.replace("i.jpg", "i.jpg?a&amp;amp;b")), "xml-double-escaped"),
        (image(&loc.replace("i.jpg", "i.jpg?a&amp;b")), ""),
        (video("").replace("<video:title>A", "<video:title>A &amp;lt; B"), "xml-double-escaped"),
        (video("<video:uploader info=\"https://example.com/?a&amp;amp;b\">A</video:uploader>"), "xml-double-escaped"),
        (links(&[en, ("x-default", "https://example.com/x?a&amp;amp;b")]), "xml-double-escaped"),
        (video("").replace("<video:title>A</video:title>", ""), "video-required"),
        (video("").replace("<video:title>A", "<video:title>"), "video-required"),
        (video("").replace("https://example.com/v.mp4", ""), "video-location-missing"),
        (video("").replace("https://example.com/v.mp4", PAGE), "video-loc-same"),
        (
            video("<video:player_loc>https://EXAMPLE.com:443/a</video:player_loc>"),
            "video-loc-same loc-default-port loc-uppercase-host",
        ),
        (video("").replace("https://example.com/v.mp4", "rtmp://example.com/v"), "video-url-scheme"),
        (video("").replace("https://example.com/v.mp4", "ftp://example.com/v.mp4"), ""),
        (video("").replace("v.mp4", "v.html"), "video-content-format"),
        (video("").replace("<video:title>A", &format!("<video:title>{}", "é".repeat(101))), "video-title-length"),
        (
            video("").replace("<video:description>B", &format!("<video:description>{}", "b".repeat(2_049))),
            "video-description-length",
        ),
        (video("<video:duration>0</video:duration>"), "video-duration"),
        (video("<video:duration> 600 </video:duration>"), "field-whitespace"),
        (video("<video:rating>5.1</video:rating>"), "video-rating"),
        (video("<video:view_count>1,000</video:view_count>"), "video-view-count"),
        (video("<video:publication_date>2026-11-20T10:14Z</video:publication_date>"), "video-date"),
        (video("<video:expiration_date>2026-11-18</video:expiration_date>"), "video-expired"),
        (video("<video:expiration_date>2026-11-20</video:expiration_date>"), ""),
        (video("<video:family_friendly>true</video:family_friendly>"), "video-yes-no"),
        (video("<video:live> yes </video:live>"), "field-whitespace/warning"),
        (video("<video:restriction>DE</video:restriction>"), "video-relationship"),
        (video("<video:platform relationship=\"only\">tv</video:platform>"), "video-relationship"),
        (video("<video:restriction relationship=\"allow\">de, at</video:restriction>"), "video-country"),
        (video("<video:platform relationship=\"deny\">phone</video:platform>"), "video-platform"),
        (video(&"<video:tag>A</video:tag>".repeat(33)), "video-tag-limit"),
        (video(&format!("<video:uploader>{}</video:uploader>", "a".repeat(256))), "video-uploader"),
        (video("<video:uploader info=\"https://other.org/u\">A</video:uploader>"), "video-uploader"),
        (video("<video:uploader info=\"https://www.example.com/u\">A</video:uploader>"), ""),
        (video("<video:category>A</video:category>"), "video-deprecated"),
        (
            video("<video:player_loc allow_embed=\"yes\" autoplay=\"a=1\">https://example.com/p</video:player_loc>"),
            "video-deprecated video-deprecated",
        ),
        (video("<video:price>1.99</video:price>"), "video-deprecated video-price"),
        (video("<video:price currency=\"eur\">1.99</video:price>"), "video-deprecated video-price"),
        (video("<video:price type=\"rent\"/>"), "video-deprecated"),
        (video(&format!("<video:tvshow>{show}</video:tvshow>")), "video-deprecated video-tvshow"),
        (
            video(&format!("<video:tvshow>{show}<video:video_type>film</video:video_type></video:tvshow>")),
            "video-deprecated video-tvshow",
        ),
        (video("<video:id>A</video:id>"), "video-id-type"),
        (
            video(&format!("<video:category>{}</video:category>", "a".repeat(257))),
            "video-category-length video-deprecated",
        ),
        (news("en", "2026-11-20", "").replace("<news:title>B</news:title>", ""), "news-required"),
        (news("en", "2026-11-20", "").replace("<news:name>A</news:name>", ""), "news-required"),
        (news("en", "2026-11-20", "").repeat(2), "news-duplicate"),
        (news("en", "2026-11-20", "").replace(">A</news:name>", ">A (paid)</news:name>"), "news-name"),
        (news("en-US", "2026-11-20", ""), "news-language"),
        (news("zh", "2026-11-20", ""), "news-language"),
        (news("zh-cn", "2026-11-20", ""), ""),
        (news("xx", "2026-11-20", ""), "news-language-unknown"),
        (news("en", "2026-11-20T10:14", ""), "news-date"),
        (news("en", "2026-11-20T10:14Z", ""), ""),
        (news("en", "2026-11-10", ""), "news-stale"),
        (news("en", "2026-12-10", ""), "news-future"),
        (news("en", "2026-11-20", "<news:keywords>A</news:keywords>"), "news-deprecated"),
        (
            news("en", "2026-11-20", "").replace(
                "<news:publication_date>",
                "<news:access>Free</news:access><news:genres>Poem</news:genres><news:publication_date>",
            ),
            "news-access news-deprecated news-deprecated news-genres",
        ),
        (news("en", "2026-11-20", "<news:stock_tickers>A</news:stock_tickers>"), "news-deprecated news-tickers"),
        (
            news("en", "2026-11-20", "<news:stock_tickers> </news:stock_tickers>"),
            "field-whitespace/warning news-deprecated",
        ),
        ("<mobile:mobile>A</mobile:mobile>".to_owned(), "ext-obsolete mobile-not-empty"),
        ("<geo:geo><geo:format>gpx</geo:format></geo:geo>".to_owned(), "ext-obsolete geo-format"),
        ("<geo:geo/>".to_owned(), "ext-obsolete geo-format"),
        ("<codesearch:codesearch/>".to_owned(), "code-filetype-missing ext-obsolete"),
        (
            "<codesearch:codesearch><codesearch:filetype>c</codesearch:filetype>\
             <codesearch:packagemap>A</codesearch:packagemap></codesearch:codesearch>"
                .to_owned(),
            "code-packagemap-not-archive ext-obsolete",
        ),
        ("<pagemap:PageMap><pagemap:DataObject/></pagemap:PageMap>".to_owned(), "ext-obsolete/note pagemap-structure"),
        (
            "<pagemap:PageMap><pagemap:DataObject type=\"a\"><pagemap:Attribute name=\"b\" value=\"c\">d\
             </pagemap:Attribute><pagemap:Attribute/></pagemap:DataObject></pagemap:PageMap>"
                .to_owned(),
            "ext-obsolete/note pagemap-structure pagemap-structure pagemap-structure",
        ),
        (links(&[en, de, x]), ""),
        (
            links(&[en, de, x]).replace("rel=\"alternate\" hreflang=\"en\"", "rel=\"canonical\" hreflang=\"en\""),
            "hreflang-attr",
        ),
        ("<xhtml:link rel=\"alternate\" href=\"https://example.com/b\"/>".to_owned(), "hreflang-attr"),
        ("<xhtml:link rel=\"alternate\" media=\"screen\" href=\"https://example.com/b\"/>".to_owned(), ""),
        ("<xhtml:link rel=\"alternate\" href=\"android-app://com.example/a\"/>".to_owned(), ""),
        ("<xhtml:link rel=\"amphtml\" href=\"https://example.com/amp\"/>".to_owned(), "doc-unknown-element"),
        (links(&[en, ("de", "/de"), x]), "hreflang-href-relative"),
        (links(&[en, ("de", "https://example.com/d e"), x]), "loc-inner-whitespace"),
        (links(&[en, ("es-419", "https://example.com/es"), x]), "hreflang-code"),
        (links(&[("en_US", PAGE), de, x]), "hreflang-separator"),
        (links(&[("en-UK", PAGE), de, x]), "hreflang-region-reserved"),
        (links(&[("EN", PAGE), de, x]), "hreflang-case"),
        (links(&[en, de, de, x]), "hreflang-duplicate"),
        (links(&[en, de, ("de", "https://example.com/d"), x]), "hreflang-duplicate/error"),
        (links(&[de, x]), "hreflang-self-missing"),
        (links(&[en, ("fr", PAGE), x]), "hreflang-self-conflict"),
        (links(&[en, de]), "hreflang-no-x-default"),
    ];
    let many = (0..1_001).map(|number| image(&loc.replace("i.jpg", &format!("{number}.jpg"))));
    samples.push((many.collect(), "image-limit"));
    samples
}

/// Each entry of a scanned file: its text, its anatomy, and the elements of its extensions if they were noted.
#[derive(Default)]
pub(crate) struct SeenEntries(pub Vec<(Vec<u8>, Entry, Option<Elements>)>);

impl Visit for SeenEntries {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.push((text.to_vec(), *entry, None));
    }

    fn parsed(&mut self, parsed: &ParsedEntry<'_>, _: &Names) {
        self.0.push((parsed.text.to_vec(), *parsed.entry, parsed.elements.cloned()));
    }
}
