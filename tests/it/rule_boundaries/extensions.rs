//! Boundaries of the rules for extensions (rule catalogue, section 7).

use super::{Files, NS, Pair, declaring, file, pair, sitemap, url};

const PAGE: &str = "https://www.site-a.org/a";

const DECLARED: [(&str, &str); 8] = [
    ("image", "http://www.google.com/schemas/sitemap-image/1.1"),
    ("video", "http://www.google.com/schemas/sitemap-video/1.1"),
    ("news", "http://www.google.com/schemas/sitemap-news/0.9"),
    ("xhtml", "http://www.w3.org/1999/xhtml"),
    ("mobile", "http://www.google.com/schemas/sitemap-mobile/1.0"),
    ("geo", "http://www.google.com/geo/schemas/sitemap/1.0"),
    ("codesearch", "http://www.google.com/codesearch/schemas/sitemap/1.0"),
    ("pm", "http://www.google.com/schemas/sitemap-pagemap/1.0"),
];

/// The file as `1.xml`, listed by an index.
fn listed(files: Files) -> Files {
    let index = format!(
        "<?xml version=\"1.0\"?>\n<sitemapindex xmlns=\"{NS}\"><sitemap><loc>https://www.site-a.org/1.xml</loc></sitemap>\
         </sitemapindex>\n"
    );
    let parts = files.into_iter().map(|(_, bytes)| ("1.xml".to_owned(), bytes));
    std::iter::once(("sitemap.xml".to_owned(), index.into_bytes())).chain(parts).collect()
}

fn declared(entries: &str) -> Files {
    let all: Vec<String> = DECLARED.iter().map(|(prefix, uri)| format!("xmlns:{prefix}=\"{uri}\"")).collect();
    file(declaring(&all.join(" "), entries))
}

fn entry(extensions: &str) -> Files {
    declared(&url(PAGE, extensions))
}

const VIDEO: &str = "<video:thumbnail_loc>https://www.site-a.org/t.jpg</video:thumbnail_loc><video:title>T</video:title>\
                     <video:description>D</video:description><video:content_loc>https://www.site-a.org/v.mp4</video:content_loc>";

fn video(extra: &str) -> Files {
    entry(&format!("<video:video>{VIDEO}{extra}</video:video>"))
}

/// A video with one of its four required elements changed.
fn changed(from: &str, to: &str) -> Files {
    assert!(VIDEO.contains(from), "{from}");
    entry(&format!("<video:video>{}</video:video>", VIDEO.replace(from, to)))
}

const NEWS: &str = "<news:publication><news:name>N</news:name><news:language>de</news:language></news:publication>\
                    <news:publication_date>2026-11-19</news:publication_date><news:title>T</news:title>";

fn news(from: &str, to: &str) -> Files {
    assert!(NEWS.contains(from), "{from}");
    entry(&format!("<news:news>{}</news:news>", NEWS.replacen(from, to, 1)))
}

fn image(loc: &str, extra: &str) -> String {
    format!("<image:image><image:loc>{loc}</image:loc>{extra}</image:image>")
}

fn link(code: &str, href: &str) -> String {
    format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"{href}\"/>")
}

/// Rule, an element of a video that violates it, and one that does not.
const VIDEOS: [(&str, &str, &str); 32] = [
    (
        "ext-duplicate-child E",
        "<video:live>no</video:live><video:live>no</video:live>",
        "<video:id type='url'>1</video:id><video:id type='url'>2</video:id>",
    ),
    (
        "ext-child-order I",
        "<video:rating>1</video:rating><video:duration>1</video:duration>",
        "<video:duration>1</video:duration><video:rating>1</video:rating>",
    ),
    ("ext-unknown-child W", "<video:length>1</video:length>", "<video:duration>1</video:duration>"),
    ("ext-unknown-attribute W", "<video:rating a='b'>1</video:rating>", "<video:rating xmlns:a='b'>1</video:rating>"),
    ("video-duration E", "<video:duration>0</video:duration>", "<video:duration>1</video:duration>"),
    ("video-duration E", "<video:duration>28801</video:duration>", "<video:duration>28800</video:duration>"),
    ("video-rating E", "<video:rating>5.1</video:rating>", "<video:rating>5.0</video:rating>"),
    ("video-rating E", "<video:rating>-0.1</video:rating>", "<video:rating>0.0</video:rating>"),
    ("video-view-count E", "<video:view_count>-1</video:view_count>", "<video:view_count>0</video:view_count>"),
    ("video-view-count E", "<video:view_count>1,000</video:view_count>", "<video:view_count>+1000</video:view_count>"),
    (
        "video-date E",
        "<video:publication_date>2026-05-10T10:00Z</video:publication_date>",
        "<video:publication_date>2026-05-10T10:00:00.5Z</video:publication_date>",
    ),
    (
        "video-date E",
        "<video:publication_date>2026-05</video:publication_date>",
        "<video:publication_date>2026-05-10</video:publication_date>",
    ),
    (
        "video-expired W",
        "<video:expiration_date>2026-11-20T10:00:00Z</video:expiration_date>",
        "<video:expiration_date>2026-11-20T10:00:01Z</video:expiration_date>",
    ),
    (
        "video-expired W",
        "<video:expiration_date>2026-11-19</video:expiration_date>",
        "<video:expiration_date>2026-11-20</video:expiration_date>",
    ),
    ("video-yes-no E", "<video:live>yEs</video:live>", "<video:live>Yes</video:live>"),
    ("field-whitespace W", "<video:live> no</video:live>", "<video:live>no</video:live>"),
    (
        "video-relationship E",
        "<video:restriction>DE</video:restriction>",
        "<video:restriction relationship='deny'>DE</video:restriction>",
    ),
    (
        "video-relationship E",
        "<video:platform relationship='Allow'>tv</video:platform>",
        "<video:platform relationship='allow'>tv</video:platform>",
    ),
    (
        "video-country E",
        "<video:restriction relationship='deny'>DE,AT</video:restriction>",
        "<video:restriction relationship='deny'>DE AT</video:restriction>",
    ),
    (
        "video-country E",
        "<video:restriction relationship='deny'>UK</video:restriction>",
        "<video:restriction relationship='deny'>GB</video:restriction>",
    ),
    (
        "video-platform E",
        "<video:platform relationship='deny'>Web</video:platform>",
        "<video:platform relationship='deny'>web tv</video:platform>",
    ),
    (
        "video-uploader E",
        "<video:uploader info='https://other.org/'>u</video:uploader>",
        "<video:uploader info='https://m.site-a.org/'>u</video:uploader>",
    ),
    ("video-deprecated I", "<video:category>c</video:category>", "<video:tag>c</video:tag>"),
    (
        "video-price W",
        "<video:price currency='eur'>1.99</video:price>",
        "<video:price currency='EUR'>1.99</video:price>",
    ),
    ("video-price W", "<video:price currency='EUR'>1,99</video:price>", "<video:price currency='EUR'>0</video:price>"),
    ("video-price W", "<video:price/>", "<video:price type='rent'/>"),
    (
        "video-tvshow W",
        "<video:tvshow><video:show_title>s</video:show_title></video:tvshow>",
        "<video:tvshow><video:show_title>s</video:show_title><video:video_type>clip</video:video_type></video:tvshow>",
    ),
    (
        "video-tvshow W",
        "<video:tvshow><video:show_title>s</video:show_title><video:video_type>clip</video:video_type><video:season_number>0</video:season_number></video:tvshow>",
        "<video:tvshow><video:show_title>s</video:show_title><video:video_type>clip</video:video_type><video:season_number>1</video:season_number></video:tvshow>",
    ),
    ("video-id-type W", "<video:id type='URL'>1</video:id>", "<video:id type='url'>1</video:id>"),
    (
        "loc-not-absolute E",
        "<video:player_loc>/p</video:player_loc>",
        "<video:player_loc>https://www.site-a.org/p</video:player_loc>",
    ),
    (
        "video-loc-same E",
        "<video:player_loc>HTTPS://www.site-a.org:443/%61</video:player_loc>",
        "<video:player_loc>https://www.site-a.org/a?</video:player_loc>",
    ),
    (
        "video-url-scheme E",
        "<video:player_loc>rtmp://www.site-a.org/p</video:player_loc>",
        "<video:player_loc>ftp://www.site-a.org/p</video:player_loc>",
    ),
];

pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs: Vec<Pair> =
        VIDEOS.iter().map(|(rule, violating, valid)| pair(rule, video(violating), video(valid))).collect();
    pairs.extend(videos());
    pairs.extend(images_and_news());
    pairs.extend(alternates());
    pairs.extend(obsolete());
    pairs
}

fn videos() -> Vec<Pair> {
    let long = |letters: usize| "\u{e9}".repeat(letters);
    let (title, description) = ("<video:title>T", "<video:description>D");
    let titled = |letters: usize| changed(title, &format!("<video:title>{}", long(letters)));
    let described = |letters: usize| changed(description, &format!("<video:description>{}", long(letters)));
    let category = |letters: usize| video(&format!("<video:category>{}</video:category>", long(letters)));
    let uploader = |letters: usize| video(&format!("<video:uploader>{}</video:uploader>", long(letters)));
    let tags = |tags: usize| video(&"<video:tag>t</video:tag>".repeat(tags));
    let content = "<video:content_loc>https://www.site-a.org/v.mp4</video:content_loc>";
    let player = "<video:player_loc>https://www.site-a.org/p</video:player_loc>";
    let image = "<image:image><image:loc>https://www.site-a.org/i.png</image:loc></image:image>";
    vec![
        pair("ext-outside-url E", declared(&[image, &url(PAGE, "")].concat()), entry(image)),
        pair("ext-misplaced E", entry("<video:live>no</video:live>"), video("<video:live>no</video:live>")),
        pair(
            "video-required E",
            changed("<video:title>T", "<video:title> "),
            changed("<video:title>T", "<video:title>0"),
        ),
        pair("video-location-missing E", changed(content, "<video:content_loc/>"), changed(content, player)),
        pair("video-content-format W", changed("v.mp4", "v.HTM?a"), changed("v.mp4", "v.htm/a")),
        pair("video-title-length W", titled(101), titled(100)),
        pair("video-description-length E", described(2_049), described(2_048)),
        pair("video-category-length W", category(257), category(256)),
        pair("video-uploader E", uploader(256), uploader(255)),
        pair("video-tag-limit E", tags(33), tags(32)),
        pair("xml-double-escaped W", changed(">T<", ">T &amp;amp; T<"), changed(">T<", ">T &amp; T<")),
    ]
}

fn images_and_news() -> Vec<Pair> {
    let i = "https://www.site-a.org/i.png";
    let many =
        |images: usize| entry(&(0..images).map(|number| image(&format!("{i}?{number}"), "")).collect::<String>());
    let dated = |date: &str| news("2026-11-19", date);
    let language = |language: &str| news(">de<", &format!(">{language}<"));
    let (name, end) = ("</news:publication>", "</news:title>");
    let access = |value: &str| news(name, &format!("{name}<news:access>{value}</news:access>"));
    let genres = |value: &str| news(name, &format!("{name}<news:genres>{value}</news:genres>"));
    let tickers =
        |tickers: &[&str]| news(end, &format!("{end}<news:stock_tickers>{}</news:stock_tickers>", tickers.join(", ")));
    let twice = format!("<news:news>{NEWS}</news:news>").repeat(2);
    vec![
        pair("image-loc-missing E", entry(&image(" ", "")), entry(&image(i, ""))),
        pair("image-limit E", many(1_001), many(1_000)),
        pair("image-deprecated I", entry(&image(i, "<image:title>t</image:title>")), entry(&image(i, ""))),
        pair(
            "image-foreign-host I",
            entry(&image("https://site-a.org/i.png", "")),
            entry(&image("https://WWW.site-a.org:8443/i.png", "")),
        ),
        pair("image-duplicate W", entry(&image(i, "").repeat(2)), many(2)),
        pair("loc-inner-whitespace E", entry(&image("https://www.site-a.org/a b.png", "")), entry(&image(i, ""))),
        pair("news-required E", news(">T<", "> <"), news(">T<", ">0<")),
        pair("news-duplicate E", entry(&twice), news("T", "U")),
        pair("news-name W", news(">N<", ">N (Germany)<"), news(">N<", ">N, Germany<")),
        pair("news-language E", language("de-AT"), language("zh-cn")),
        pair("news-language E", language("DE"), language("deu")),
        pair("news-language-unknown W", language("xx"), language("de")),
        pair("news-date E", dated("2026-11-20T09:00"), dated("2026-11-20T09:00Z")),
        pair("news-date E", dated("2026-11"), dated("2026-11-20T09:00:00.123+01:00")),
        pair("news-stale W", dated("2026-11-18T09:59:59Z"), dated("2026-11-18T10:00:00Z")),
        pair("news-stale W", dated("2026-11-17"), dated("2026-11-18")),
        pair("news-future W", dated("2026-11-20T10:00:01Z"), dated("2026-11-20T12:00:00+02:00")),
        pair("news-future W", dated("2026-11-22"), dated("2026-11-21")),
        pair("news-deprecated I", news(end, &format!("{end}<news:keywords>k</news:keywords>")), news("T", "U")),
        pair("news-genres W", genres("Blog,blog"), genres("Blog, OpEd")),
        pair("news-access W", access("subscription"), access("Subscription")),
        pair("news-tickers W", tickers(&["A:B"; 6]), tickers(&["A:B"; 5])),
        pair("news-tickers W", tickers(&["AB"]), tickers(&["A:B"])),
    ]
}

fn alternates() -> Vec<Pair> {
    let x = link("x-default", PAGE);
    let of = |links: &[String]| entry(&links.concat());
    let code = |rule, violating: &str, valid: &str| {
        pair(rule, of(&[link(violating, PAGE), x.clone()]), of(&[link(valid, PAGE), x.clone()]))
    };
    let de = "https://www.site-a.org/de";
    let both = [link("en", PAGE), link("de", de), x.clone()].concat();
    let two = |second: &str| declared(&[url(PAGE, &both), url(de, second)].concat());
    let app = "<xhtml:link rel=\"alternate\" href=\"android-app://org.a/b\"/>";
    let plain = "<xhtml:link rel=\"alternate\" href=\"https://www.site-a.org/b\"/>";
    vec![
        pair("hreflang-attr E", of(&[plain.to_owned()]), of(&[app.to_owned()])),
        pair(
            "hreflang-attr E",
            of(&[x.replace("alternate", "canonical")]),
            of(&[x.replace("alternate", "nofollow alternate")]),
        ),
        pair("hreflang-href-relative E", of(&[link("de", "//www.site-a.org/b")]), of(&[link("de", de)])),
        code("hreflang-code E", "es-419", "es-MX"),
        code("hreflang-code E", "eng", "en"),
        code("hreflang-code E", "zh-Hanx", "zh-Hant"),
        code("hreflang-separator E", "en_US", "en-US"),
        code("hreflang-region-reserved W", "en-UK", "en-GB"),
        code("hreflang-case I", "en-us", "en-US"),
        pair(
            "hreflang-separator E",
            of(&[link("de", PAGE), link("x_default", PAGE)]),
            of(&[link("de", PAGE), x.clone()]),
        ),
        pair(
            "hreflang-duplicate W",
            of(&[link("de", PAGE), link("DE", PAGE)]),
            of(&[link("de", PAGE), link("de-AT", PAGE)]),
        ),
        pair(
            "hreflang-duplicate E",
            of(&[link("de", PAGE), link("de", de)]),
            of(&[link("de", PAGE), link("de-AT", de)]),
        ),
        pair(
            "hreflang-self-missing W",
            of(&[link("de", "https://www.site-a.org/a/")]),
            of(&[link("de", "HTTPS://www.site-a.org/%61")]),
        ),
        pair("hreflang-self-conflict W", of(&[link("de", PAGE), link("en", PAGE)]), of(&[link("de", PAGE), x.clone()])),
        pair("hreflang-no-x-default I", of(&[link("de", PAGE)]), of(&[link("de", PAGE), x.clone()])),
        pair("hreflang-target-missing I", listed(of(&[link("de", de)])), of(&[link("de", de)])),
        pair(
            "hreflang-target-missing I",
            listed(of(&[link("de", de)])),
            listed(of(&[link("de", "https://www.other.org/de")])),
        ),
        pair("hreflang-no-return W", two(""), two(&both)),
        pair("hreflang-set-differs I", two(&[link("en", PAGE), link("de", de)].concat()), two(&both)),
        pair(
            "xml-double-escaped W",
            of(&[link("de", "https://a.org/?a&amp;amp;b")]),
            of(&[link("de", "https://a.org/?a&amp;b")]),
        ),
    ]
}

fn obsolete() -> Vec<Pair> {
    let geo = |format: &str| entry(&format!("<geo:geo><geo:format>{format}</geo:format></geo:geo>"));
    let code = |inside: &str| entry(&format!("<codesearch:codesearch>{inside}</codesearch:codesearch>"));
    let kind = |kind: &str| format!("<codesearch:filetype>{kind}</codesearch:filetype>");
    let map = "<codesearch:packagemap>m</codesearch:packagemap>";
    let object = |attribute: &str| {
        entry(&format!("<pm:PageMap><pm:DataObject type='d'>{attribute}</pm:DataObject></pm:PageMap>"))
    };
    vec![
        pair("ext-obsolete W", entry("<mobile:mobile/>"), file(sitemap(&url(PAGE, "")))),
        pair("ext-obsolete I", object("<pm:Attribute name='a' value='b'/>"), entry("")),
        pair(
            "mobile-not-empty E",
            entry("<mobile:mobile>x</mobile:mobile>"),
            entry("<mobile:mobile> </mobile:mobile>"),
        ),
        pair("geo-format E", geo("gpx"), geo("georss")),
        pair("code-filetype-missing E", code(&kind("c c")), code(&kind("c++"))),
        pair(
            "code-packagemap-not-archive E",
            code(&[&kind("c"), map].concat()),
            code(&[&kind("archive"), map].concat()),
        ),
        pair(
            "pagemap-structure E",
            object("<pm:Attribute name='a' value='b'>c</pm:Attribute>"),
            object("<pm:Attribute name='a'>c</pm:Attribute>"),
        ),
        pair("pagemap-structure E", object("<pm:Attribute value='b'/>"), object("<pm:Attribute name='a' value='b'/>")),
    ]
}
