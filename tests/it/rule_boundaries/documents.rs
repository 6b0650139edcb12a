//! Boundaries of the rules for files, lists and feeds (rule catalogue, sections 4 and 9).

use super::{Files, NS, Pair, declaring, file, named, pair, sitemap, url, urls};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn one() -> String {
    sitemap(&url("https://a.org/a", ""))
}

fn loc(loc: &str) -> Files {
    file(sitemap(&url(loc, "")))
}

/// Baidu's element for mobile pages, at the position that its documentation shows.
fn baidu(namespace: &str) -> String {
    let entry = url("https://m.site-a.org/a", "<mobile:mobile type=\"mobile\"/><lastmod>2026-05-10</lastmod>");
    declaring(&format!("xmlns:mobile=\"{namespace}\""), &entry)
}

/// A sitemap whose root element has a prefix.
fn prefixed(entry: &str, loc: &str) -> Files {
    let entry = format!("<{entry}><{loc}>https://a.org/a</{loc}></{entry}>");
    file(format!("<?xml version=\"1.0\"?>\n<s:urlset xmlns:s=\"{NS}\" xmlns=\"{NS}\">\n{entry}\n</s:urlset>\n"))
}

fn root(attributes: &str) -> Files {
    file(one().replace(&format!("xmlns=\"{NS}\""), attributes))
}

fn wide(text: &str) -> Vec<u8> {
    [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// A sitemap of exactly this number of bytes.
fn sized(bytes: usize) -> Files {
    let text = one();
    let filler = format!("<!--{}--><url>", "x".repeat(bytes - text.len() - "<!---->".len()));
    file(text.replacen("<url>", &filler, 1))
}

pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = well_formed();
    pairs.extend(encodings());
    pairs.extend(kinds());
    pairs.extend(packed());
    pairs.extend(lists());
    pairs.extend(feeds());
    pairs
}

fn well_formed() -> Vec<Pair> {
    let valid = || file(one());
    let with = |from: &str, to: &str| file(one().replacen(from, to, 1));
    let image = "<image:image><image:loc>https://a.org/i.png</image:loc></image:image>";
    vec![
        pair("xml-not-well-formed E", with("</loc>", "</lco>"), with("</loc>", "</loc >")),
        pair(
            "merge-conflict E",
            with("<url>", "\n<<<<<<< a\n=======\n>>>>>>> b\n<url>"),
            with("<url>", "\n <<<<<<< a\n =======\n >>>>>>> b\n<url>"),
        ),
        pair("ns-entry-missing E", with("<url>", "<url xmlns=''>"), with("<url>", &format!("<url xmlns='{NS}'>"))),
        pair("xml-unescaped-ampersand E", loc("https://a.org/?a&b"), loc("https://a.org/?a&#38;b")),
        pair("xml-unescaped-ampersand E", loc("https://a.org/?a&amp"), loc("<![CDATA[https://a.org/?a&amp]]>")),
        pair("xml-unescaped-angle E", loc("https://a.org/a<b"), loc("https://a.org/a&lt;b")),
        pair("xml-unknown-entity E", loc("https://a.org/&eacute;"), loc("https://a.org/&apos;")),
        pair(
            "xml-dtd-entity W",
            file(sitemap(&url("https://a.org/&eacute;", "")).replacen(
                "<urlset",
                "<!DOCTYPE urlset SYSTEM 'u.dtd'><urlset",
                1,
            )),
            loc("https://a.org/&eacute;"),
        ),
        pair("xml-illegal-char E", loc("https://a.org/&#x1F;"), loc("https://a.org/&#x7F;")),
        pair("xml-illegal-char E", loc("https://a.org/\u{fffe}"), loc("https://a.org/\u{fffd}")),
        pair("xml-duplicate-attribute E", with("<url>", "<url a='1' a='2'>"), with("<url>", "<url a='1' b='2'>")),
        pair("xml-bad-comment E", with("<url>", "<!-- a -- b --><url>"), with("<url>", "<!-- a - b --><url>")),
        pair(
            "xml-undeclared-prefix E",
            file(sitemap(&url("https://a.org/a", image))),
            file(declaring(
                "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"",
                &url("https://a.org/a", image),
            )),
        ),
        pair(
            "xml-undeclared-prefix E",
            root(&format!("xmlns=\"{NS}\" xsi:a=\"b\"")),
            root(&format!("xmlns=\"{NS}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:a=\"b\"")),
        ),
        pair("xml-doctype W", with("<urlset", "<!DOCTYPE urlset><urlset"), with("<urlset", "<!-- DOCTYPE --><urlset")),
        pair(
            "xml-entity-declaration E",
            with("<urlset", "<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset"),
            with("<urlset", "<!DOCTYPE urlset [<!ELEMENT a ANY>]><urlset"),
        ),
        pair("xml-declaration-missing I", file(one().split_once('\n').unwrap().1), valid()),
        pair("xml-version W", with("\"1.0\"", "\"1.1\""), with("\"1.0\"", "'1.0'")),
        pair(
            "xml-leading-whitespace E",
            file(format!("\n{}", one())),
            file(format!("\n{}", one().split_once('\n').unwrap().1)),
        ),
        pair("xml-leading-junk E", file(format!("x{}", one())), file(format!(" {}", one()))),
        pair("xml-trailing-junk E", file(one() + "x"), file(one() + "<!-- x --><?x y?>\n")),
        pair("xml-concatenated E", file(one() + &one()), valid()),
        pair("xml-truncated E", file(one().replace("</urlset>", "")), file(one().trim_end())),
        pair("doc-stray-text W", with("<url>", "x<url>"), with("<url>", "<!-- x --><url>")),
        pair("doc-entry-outside-root E", with("<url>", "<loc>https://a.org/b</loc><url>"), valid()),
        pair("doc-mixed-kinds E", with("<url>", "<sitemap><loc>https://a.org/b.xml</loc></sitemap><url>"), valid()),
        pair("doc-unknown-attribute W", root(&format!("xmlns=\"{NS}\" version=\"1\"")), valid()),
        pair("file-name-unsafe W", named("site map.xml", one()), named("site-map_1~.xml", one())),
    ]
}

fn encodings() -> Vec<Pair> {
    let accented = sitemap(&url("https://a.org/\u{e9}", ""));
    let latin: Vec<u8> = accented.chars().map(|letter| letter as u8).collect();
    let says = |label: &str| accented.replace("UTF-8", label);
    let stored = |label: &str| says(label).chars().map(|letter| letter as u8).collect::<Vec<u8>>();
    let marked = |text: &str| [b"\xEF\xBB\xBF", text.as_bytes()].concat();
    vec![
        pair("enc-not-utf8 E", file(stored("ISO-8859-1")), file(says("utf-8"))),
        pair("enc-not-utf8 E", file(one().replace("UTF-8", "windows-1252")), file(one().replace("UTF-8", "US-ASCII"))),
        // Valid UTF-8 with non-ASCII letters is read as UTF-8 if an 8-bit encoding is declared; a byte order mark takes
        // precedence.
        pair("enc-mismatch W", file(says("ISO-8859-1")), file(stored("ISO-8859-1"))),
        pair("enc-mismatch W", file(marked(&says("ISO-8859-1"))), file(marked(&accented))),
        pair("enc-mismatch W", file(wide(&accented)), file(wide(&says("UTF-16")))),
        pair("enc-invalid-bytes E", file(latin), file(accented.clone())),
        pair("enc-unknown-label E", file(says("unicode")), file(says("utf8"))),
        pair("enc-bom I", file(marked(&accented)), file(accented.clone())),
        pair("enc-bom-other E", file(wide(&says("UTF-16"))), file(marked(&accented))),
    ]
}

fn kinds() -> Vec<Pair> {
    let image = "http://www.google.com/schemas/sitemap-image/1.1";
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    let own = format!("xmlns=\"{NS}\"");
    let with_image = |uri: &str| {
        let used = "<image:image><image:loc>https://a.org/i.png</image:loc></image:image>";
        file(declaring(&format!("xmlns:image=\"{uri}\""), &url("https://a.org/a", used)))
    };
    let entry = |row: usize| url(&format!("https://a.org/{row}"), "");
    vec![
        pair("doc-root-unknown E", file("<?xml version=\"1.0\"?><sites/>"), file(one())),
        pair("doc-root-case E", file(one().replace("urlset", "urlSet")), file(one())),
        pair("doc-root-case E", file(one().replace("loc>", "Loc>")), file(one())),
        pair("doc-html E", file("<!DOCTYPE HTML>\n<p>x"), file("<htm/>")),
        pair("doc-empty E", file(" \n"), file("<urlset/>")),
        pair("doc-no-entries W", file(sitemap("")), file(one())),
        pair(
            "doc-no-entries I",
            file(declaring("xmlns:n=\"http://www.google.com/schemas/sitemap-news/0.9\"", "")),
            file(one()),
        ),
        pair("ns-missing E", root("xmlns=\"\""), root(&own)),
        pair("ns-attr-typo E", root(&own.replace("xmlns", "xlmns")), root(&own)),
        pair("ns-variant E", root(&own.replace("0.9", "0.9/")), root(&own)),
        pair("ns-variant E", root(&own.replace("=\"", "=\" ")), root(&own)),
        pair("ns-legacy-084 W", root("xmlns=\"http://www.google.com/schemas/sitemap/0.84\""), root(&own)),
        pair("ns-wrong E", root(&own.replace("0.9", "1.0")), root(&own.replace("0.9", "0.90"))),
        pair(
            "ns-prefix I",
            file(
                one()
                    .replace("xmlns", "xmlns:s")
                    .replace("url", "s:url")
                    .replace("<loc", "<s:loc")
                    .replace("/loc", "/s:loc"),
            ),
            file(one()),
        ),
        pair("ns-ext-variant E", with_image(&image.replace("1.1", "1.0")), with_image(image)),
        pair("ns-declared-unused I", root(&format!("{own} xmlns:image=\"{image}\"")), with_image(image)),
        pair(
            "schema-location I",
            root(&format!("{own} {xsi} xsi:schemaLocation=\"{NS}/ {NS}/sitemap.xsd\"")),
            root(&format!("{own} {xsi} xsi:schemaLocation=\"{NS} {NS}/sitemap.xsd\"")),
        ),
        pair("file-near-limit I", file(urls(45_001, entry)), file(urls(45_000, entry))),
        // The limit of bytes is nine tenths for every file of the set.
        pair("file-near-limit I", sized(47_185_921), sized(47_185_920)),
        pair("ns-prefix I", prefixed("s:url", "s:loc"), prefixed("url", "loc")),
        pair("entry-child-order I", file(baidu("http://www.baidu.com/schemas/sitemap-mobile/1/")), file(one())),
        pair(
            "doc-foreign-element I",
            file(baidu("http://www.baidu.com/schemas/sitemap-mobile/2/")),
            file(baidu("http://www.baidu.com/schemas/sitemap-mobile/1/")),
        )
        .with_profile("baidu"),
        pair("ns-variant E", file(one().replace("www.sitemaps.org", "www.google.com")), file(one())),
        pair("file-too-many-urls E", file(urls(50_001, entry)), file(urls(50_000, entry))),
        // The limit is 50 MiB, not 50,000,000 bytes; before November 2016 it was 10 MiB.
        pair("file-too-large E", sized(52_428_801), sized(52_428_800)),
        pair("file-too-large E", sized(10_485_761), sized(10_485_760)).with_profile("baidu"),
    ]
}

fn packed() -> Vec<Pair> {
    let (text, packed) = (one(), gzip(one()));
    let gz = |bytes: Vec<u8>| named("sitemap.xml.gz", bytes);
    let half = text.len() / 2;
    let cut = |less: usize| packed[..packed.len() - less].to_vec();
    let blanks = gzip(format!("{text}{}", " ".repeat(9_000)));
    let limit = |bytes: usize| bytes.to_string();
    vec![
        pair("gzip-corrupt E", gz([cut(8), vec![0; 8]].concat()), gz(packed.clone())),
        pair("gzip-truncated E", gz(cut(1)), gz(packed.clone())),
        pair("gzip-multi-member W", gz([gzip(&text[..half]), gzip(&text[half..])].concat()), gz(packed.clone())),
        pair("gzip-trailing-garbage W", gz([packed.clone(), b"x".to_vec()].concat()), gz(packed.clone())),
        pair("gzip-double W", gz(gzip(&packed)), gz(packed.clone())),
        pair("gzip-extension-mismatch W", file(packed.clone()), gz(packed.clone())),
        pair("gzip-extension-mismatch W", gz(text.clone().into_bytes()), named("sitemap.xml", text.clone())),
        pair("compress-not-gzip E", file(&b"\x28\xB5\x2F\xFD\x04\0\0\0"[..]), file(packed.clone())),
        pair("compress-not-gzip E", file(&b"PK\x03\x04\0\0"[..]), file(text.clone())),
        pair("gzip-bomb E", gz(blanks.clone()), gz(packed))
            .with_arguments(&["--max-bytes", &limit(text.len() + 8_999)]),
        pair("gzip-bomb E", gz(gzip(format!("{text} "))), gz(gzip(&text)))
            .with_arguments(&["--max-bytes", &limit(text.len())]),
    ]
}

fn lists() -> Vec<Pair> {
    let list = |text: &str| named("urls.txt", text);
    let (one, two) = ("https://a.org/a\n", "https://a.org/b\n");
    let extra = |line: &str, valid: &str| {
        pair("text-extra-content E", list(&[one, line].concat()), list(&[one, valid].concat()))
    };
    let lines = |rows: usize| {
        named("urls.txt", (0..rows).map(|row| format!("https://a.org/{row}\n")).collect::<Vec<_>>().concat())
    };
    vec![
        pair(
            "text-not-utf8 E",
            named("urls.txt", &b"https://a.org/a\nhttps://a.org/\xE9\n"[..]),
            list("https://a.org/\u{e9}\n"),
        ),
        pair("text-not-utf8 W", named("urls.txt", &b"https://a.org/a\nhttps://a.org/\xE9\n"[..]), list(one))
            .with_profile("baidu"),
        extra("# b\n", "https://a.org/#b\n"),
        extra("https://a.org/b,2026-05-10\n", "https://a.org/b,2026-05-10.html\n"),
        extra("https://a.org/b https://a.org/c\n", "https://a.org/b+https://a.org/c\n"),
        pair("text-blank-line I", list(&[one, " \n", two].concat()), list(&[one, two].concat())),
        pair("text-limits E", lines(50_001), lines(50_000)),
        pair("text-entity W", list("https://a.org/?a&amp;b\n"), list("https://a.org/?a&amp=b\n")),
        pair("text-extension W", named("urls.text", one), named("urls.TXT", one)),
        pair("text-line-ends I", list("https://a.org/a\r\n"), list("https://a.org/a")),
    ]
}

fn feeds() -> Vec<Pair> {
    let rss = |item: &str| {
        let media = "xmlns:media=\"http://search.yahoo.com/mrss/\"";
        let channel = format!("<title>t</title><link>https://a.org/</link><item>{item}</item>");
        named(
            "feed.xml",
            format!("<?xml version=\"1.0\"?><rss version=\"2.0\" {media}><channel>{channel}</channel></rss>"),
        )
    };
    let atom = |uri: &str, entry: &str| {
        named("feed.xml", format!("<?xml version=\"1.0\"?><feed xmlns=\"{uri}\"><entry>{entry}</entry></feed>"))
    };
    let (new, old) = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#");
    let dated = |date: &str| rss(&format!("<link>https://a.org/a</link><pubDate>{date}</pubDate>"));
    let updated = |date: &str| atom(new, &format!("<link href='https://a.org/a'/><updated>{date}</updated>"));
    let link = "<link>https://a.org/a</link>";
    let video = |content: &str, extra: &str| {
        rss(&format!("{link}<media:content medium='video' {content}>{extra}</media:content>"))
    };
    let parts = |title: &str, description: &str, thumbnail: &str| {
        format!("<media:title>{title}</media:title><media:description>{description}</media:description>{thumbnail}")
    };
    let (at, thumbnail) = ("url='https://a.org/v.mp4'", "<media:thumbnail url='https://a.org/t.png'/>");
    let whole = parts("t", "d", thumbnail);
    let with = |extra: &str| video(at, &format!("{whole}{extra}"));
    vec![
        pair("feed-not-supported E", rss(link), file(one())).with_profile("yandex"),
        pair("feed-not-supported E", rss(link), file(one())).with_profile("baidu"),
        pair(
            "feed-not-supported W",
            atom(old, "<link href='https://a.org/a'/>"),
            atom(new, "<link href='https://a.org/a'/>"),
        )
        .with_profile("google"),
        pair(
            "feed-no-channel E",
            named("feed.xml", format!("<rss version=\"2.0\"><item>{link}</item></rss>")),
            rss(link),
        ),
        pair("feed-item-no-link E", rss("<link/>"), rss(link)),
        pair("feed-item-no-link E", atom(new, "<link/>"), atom(new, "<link href='https://a.org/a'/>")),
        pair("feed-date W", dated("2026-11-20"), dated("20 Nov 26 08:00 EST")),
        pair("feed-date W", updated("2026-11-20"), updated("2026-11-20T08:00:00.123+01:00")),
        pair("feed-relative-link E", rss("<link>/a</link>"), rss(link)),
        pair("mrss-content E", video("", &whole), video(at, &whole)),
        pair(
            "mrss-title E",
            video(at, &parts(&"\u{e9}".repeat(101), "d", thumbnail)),
            video(at, &parts(&"\u{e9}".repeat(100), "d", thumbnail)),
        ),
        pair(
            "mrss-description E",
            video(at, &parts("t", &"\u{e9}".repeat(2_049), thumbnail)),
            video(at, &parts("t", &"\u{e9}".repeat(2_048), thumbnail)),
        ),
        pair("mrss-thumbnail E", video(at, &parts("t", "d", "")), video(at, &whole)),
        pair(
            "mrss-player E",
            with("<media:player url='https://a.org/a'/>"),
            with("<media:player url='https://a.org/a?p'/>"),
        ),
        pair(
            "mrss-restriction E",
            with("<media:restriction relationship='allow' type='uri'>x</media:restriction>"),
            with("<media:restriction relationship='allow' type='country'>de at</media:restriction>"),
        ),
    ]
}
