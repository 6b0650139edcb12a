//! Test data: for every rule, a set of files that breaks it.

use super::{PAGE, ROOT, extensions, links, news, video};
use crate::check::Profile;
use crate::check::rule::Rule;
use crate::protocol::Severity;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// As it is.
    Plain,
    /// Gzip.
    Gzip,
    /// Gzip in gzip.
    Twice,
    /// Two members.
    Members,
    /// Something behind the gzip data.
    Trailing,
    /// Gzip data without their end.
    Cut,
    /// A wrong checksum.
    Corrupt,
}

/// Files that break a rule.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// Which rule, or which variant of one.
    pub rule: Rule,
    /// Whose expectations count.
    pub profile: Profile,
    /// Names and contents. The first is opened if it is an index, else all of them.
    pub files: Vec<(String, Vec<u8>, Packing)>,
    /// The URL of the folder, if it is told.
    pub base: Option<&'static str>,
    /// Most bytes that a file may unpack to, if another number than the usual.
    pub most: Option<u64>,
    /// What is known about the page, if anything: the columns of one row as JSON.
    pub answer: Option<&'static str>,
    /// The robots.txt of the site, if there is one.
    pub robots: Option<&'static str>,
}

impl Sample {
    fn of(name: &str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            rule: Rule::DOC_EMPTY,
            profile: Profile::Protocol,
            files: vec![(name.to_owned(), content.into(), Packing::Plain)],
            base: None,
            most: None,
            answer: None,
            robots: None,
        }
    }

    fn and(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.to_owned(), content.into(), Packing::Plain));
        self
    }

    fn packed(mut self, packing: Packing) -> Self {
        self.files.iter_mut().for_each(|file| file.2 = packing);
        self
    }
}

/// A sound head.
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// A sitemap around entries, under a sound head.
fn whole(entries: &str) -> String {
    format!("{HEAD}<urlset {NS}>\n{entries}\n</urlset>\n")
}

fn page(path: &str) -> String {
    format!("<url><loc>https://example.com/{path}</loc></url>\n")
}

fn file(entries: &str) -> Sample {
    Sample::of("sitemap.xml", whole(entries))
}

/// One entry with this field; with a sound loc where it is none itself.
fn field(field: &str) -> Sample {
    let loc = if field.contains("<loc") { "" } else { "<loc>https://example.com/a</loc>" };
    file(&format!("<url>{loc}{field}</url>"))
}

fn loc(loc: &str) -> Sample {
    field(&format!("<loc>{loc}</loc>"))
}

/// Entries of these URLs.
fn locs(locs: &[&str]) -> Sample {
    let row = |loc: &&str| format!("<url><loc>{loc}</loc></url>\n");
    file(&locs.iter().map(row).collect::<String>())
}

/// An entry with an extension, under a root that declares what it uses.
fn extended(extension: &str) -> Sample {
    many(&format!("<url><loc>{PAGE}</loc>{extension}</url>"))
}

/// Entries under a root that declares what they use.
fn many(entries: &str) -> Sample {
    let mut root = ROOT.to_owned();
    for prefix in ["image", "video", "news", "xhtml", "mobile", "geo", "codesearch", "pagemap"] {
        if !entries.contains(&format!("<{prefix}:")) {
            let start = root.find(&format!(" xmlns:{prefix}=")).unwrap_or(root.len());
            let end =
                root.get(start + 1..).and_then(|rest| rest.find([' ', '>'])).map_or(root.len(), |end| start + 1 + end);
            root.replace_range(start..end, "");
        }
    }
    Sample::of("sitemap.xml", format!("{HEAD}{root}\n{entries}\n</urlset>\n"))
}

/// So many entries with this in the `number`th.
fn rows(count: usize, inside: impl Fn(usize) -> String) -> Sample {
    let row = |number| format!("<url><loc>https://example.com/{number}</loc>{}</url>\n", inside(number));
    file(&(0..count).map(row).collect::<String>())
}

fn text(content: impl Into<Vec<u8>>) -> Sample {
    Sample::of("sitemap.txt", content)
}

/// An index of these entries.
fn index_of(entries: &str) -> Sample {
    Sample::of("sitemap_index.xml", format!("{HEAD}<sitemapindex {NS}>\n{entries}</sitemapindex>\n"))
}

fn child(name: &str, more: &str) -> String {
    format!("<sitemap><loc>https://example.com/{name}</loc>{more}</sitemap>\n")
}

/// An index of two sitemaps that are there, and of what `more` says.
fn index(more: &str) -> Sample {
    index_of(&format!("{}{}{more}", child("1.xml", ""), child("2.xml", "")))
        .and("1.xml", whole(&page("1")))
        .and("2.xml", whole(&page("2")))
}

fn feed(items: &str) -> Sample {
    Sample::of(
        "feed.xml",
        format!(
            "{HEAD}<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel>{items}</channel></rss>\n"
        ),
    )
}

/// A feed with a video that holds this.
fn media(inside: &str) -> Sample {
    feed(&format!("<item><link>https://example.com/a</link>{inside}</item>"))
}

const TITLE: &str = "<media:title>A</media:title><media:description>B</media:description>";
const THUMBNAIL: &str = "<media:thumbnail url=\"https://example.com/t.jpg\"/>";

/// A page's alternate links for the languages and its own entry.
fn version(path: &str, list: &[(&str, &str)]) -> String {
    format!("<url><loc>https://example.com/{path}</loc>{}</url>\n", links(list))
}

/// For every rule and every variant, files that break it, in the order of the catalogue.
pub(crate) fn samples() -> Vec<Sample> {
    // A policy is the user's own: no file breaks its rules by itself.
    let rules = Rule::ALL.into_iter().filter(|rule| !matches!(*rule, Rule::POLICY_NEVER | Rule::POLICY_MUST));
    rules.map(|rule| Sample { rule, ..sample(rule) }).collect()
}

fn for_profile(profile: Profile, sample: Sample) -> Sample {
    Sample { profile, ..sample }
}

#[expect(clippy::too_many_lines, reason = "one line for each rule")]
fn sample(rule: Rule) -> Sample {
    let en = ("en", "https://example.com/en");
    let de = ("de", "https://example.com/de");
    let x = ("x-default", "https://example.com/en");
    let many_pages = || (0..50_001).map(|number| page(&number.to_string())).collect::<String>();
    match rule {
        Rule::DOC_NO_ENTRIES => file(""),
        Rule::DOC_NO_ENTRIES_NEWS => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<urlset {NS} xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\"></urlset>\n"),
        ),
        Rule::DOC_UNKNOWN_ELEMENT => field("<expires>2027</expires>"),
        Rule::DOC_UNKNOWN_ATTRIBUTE => field("<priority id=\"1\">0.4</priority>"),
        Rule::DOC_STRAY_TEXT => field("stray"),
        Rule::NS_MISSING => Sample::of("sitemap.xml", format!("{HEAD}<urlset>{}</urlset>\n", page("a"))),
        Rule::NS_ATTR_TYPO => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<urlset ns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}</urlset>\n", page("a")),
        ),
        Rule::NS_VARIANT => {
            Sample::of("sitemap.xml", whole(&page("a")).replace("http://www.sitemaps", "https://www.sitemaps"))
        }
        Rule::NS_LEGACY_084 => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace("http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.google.com/schemas/sitemap/0.84"),
        ),
        Rule::NS_WRONG => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace("http://www.sitemaps.org/schemas/sitemap/0.9", "http://example.com/"),
        ),
        Rule::FILE_TOO_MANY_URLS => file(&many_pages()),
        Rule::FILE_TOO_LARGE => {
            let long = "a".repeat(1_900);
            file(&(0..28_000).map(|number| page(&format!("{number}/{long}"))).collect::<String>())
        }
        Rule::FILE_NEAR_LIMIT => file(&(0..45_001).map(|number| page(&number.to_string())).collect::<String>()),

        Rule::XML_NOT_WELL_FORMED => file("<url><loc>https://example.com/a</loc></urll>"),
        Rule::MERGE_CONFLICT => {
            file(&format!("<<<<<<< HEAD\n{}=======\n{}>>>>>>> other\n", page("a"), page("b")))
        }
        Rule::XML_UNESCAPED_AMPERSAND => loc("https://example.com/?a=1&b=2"),
        Rule::XML_UNESCAPED_ANGLE => field("<lastmod>2026-11-18 < </lastmod>"),
        Rule::XML_UNKNOWN_ENTITY => loc("https://example.com/caf&eacute;"),
        Rule::XML_DTD_ENTITY => Sample::of(
            "sitemap.xml",
            whole(&page("a&nbsp;")).replace("<urlset", "<!DOCTYPE urlset SYSTEM \"u.dtd\">\n<urlset"),
        ),
        Rule::XML_DOUBLE_ESCAPED => loc("https://example.com/?a=1&amp;amp;b=2"),
        Rule::XML_ILLEGAL_CHAR => field("<!-- \u{1} -->"),
        Rule::XML_DUPLICATE_ATTRIBUTE => field("<x:a xmlns:x=\"x\" b=\"1\" b=\"2\"/>"),
        Rule::XML_BAD_COMMENT => file(&format!("<!-- a -- b -->{}", page("a"))),
        Rule::XML_UNDECLARED_PREFIX => field("<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"),
        Rule::XML_DOCTYPE => Sample::of("sitemap.xml", whole(&page("a")).replace("<urlset", "<!DOCTYPE urlset>\n<urlset")),
        Rule::XML_ENTITY_DECLARATION => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace("<urlset", "<!DOCTYPE urlset [<!ENTITY a \"b\">]>\n<urlset"),
        ),
        Rule::XML_DECLARATION_MISSING => Sample::of("sitemap.xml", whole(&page("a")).replace(HEAD, "")),
        Rule::XML_VERSION => Sample::of("sitemap.xml", whole(&page("a")).replace("\"1.0\"", "\"1.1\"")),
        Rule::XML_LEADING_WHITESPACE => Sample::of("sitemap.xml", format!("\n\n{}", whole(&page("a")))),
        Rule::XML_LEADING_JUNK => Sample::of("sitemap.xml", format!("Notice: x\n{}", whole(&page("a")))),
        Rule::XML_TRAILING_JUNK => Sample::of("sitemap.xml", format!("{}junk", whole(&page("a")))),
        Rule::XML_CONCATENATED => Sample::of("sitemap.xml", [whole(&page("a")), whole(&page("b"))].concat()),
        Rule::XML_TRUNCATED => Sample::of("sitemap.xml", format!("{HEAD}<urlset {NS}>{}<url><loc>https://exa", page("a"))),
        Rule::ENC_NOT_UTF8 => {
            let (start, end) = ("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><!-- caf", " -->");
            let head = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n";
            let rest = format!("{end}{}</urlset>\n", page("a"));
            Sample::of("sitemap.xml", [head.as_bytes(), start.as_bytes(), b"\xE9", rest.as_bytes()].concat())
        }
        Rule::ENC_MISMATCH => {
            Sample::of("sitemap.xml", whole(&format!("<!-- é -->{}", page("a"))).replace("\"UTF-8\"", "\"ISO-8859-1\""))
        }
        Rule::ENC_INVALID_BYTES => {
            let (start, rest) = (format!("{HEAD}<urlset {NS}><!-- "), format!(" -->{}</urlset>\n", page("a")));
            Sample::of("sitemap.xml", [start.as_bytes(), b"\xE9", rest.as_bytes()].concat())
        }
        Rule::ENC_UNKNOWN_LABEL => Sample::of("sitemap.xml", whole(&page("a")).replace("\"UTF-8\"", "\"utf8mb4\"")),
        Rule::ENC_BOM => Sample::of("sitemap.xml", format!("\u{feff}{}", whole(&page("a")))),
        Rule::ENC_BOM_OTHER => {
            let text = format!("\u{feff}{}", whole(&page("a")).replace("UTF-8", "UTF-16"));
            Sample::of("sitemap.xml", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        }
        Rule::DOC_ROOT_UNKNOWN => file(&page("a")).and("other.xml", format!("{HEAD}<catalog><a/></catalog>\n")),
        Rule::DOC_ROOT_CASE => Sample::of("sitemap.xml", whole(&page("a")).replace("urlset", "URLSET")),
        Rule::DOC_HTML => file(&page("a")).and("other.xml", "<!doctype html><html><body></body></html>"),
        Rule::DOC_EMPTY => file(&page("a")).and("other.xml", "\n"),
        Rule::DOC_MIXED_KINDS => file(&format!("{}<sitemap><loc>https://example.com/b</loc></sitemap>", page("a"))),
        Rule::DOC_FOREIGN_ELEMENT => field("<x:a xmlns:x=\"urn:x\"/>"),
        Rule::DOC_ENTRY_OUTSIDE_ROOT => file(&format!("{}<loc>https://example.com/b</loc>", page("a"))),
        Rule::NS_ENTRY_MISSING => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<s:urlset {}>{}</s:urlset>\n", NS.replace("xmlns", "xmlns:s"), page("a")),
        ),
        Rule::NS_PREFIX => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<s:urlset {}><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>\n", NS.replace("xmlns", "xmlns:s")),
        ),
        Rule::NS_EXT_VARIANT => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace(NS, &format!("{NS} xmlns:xhtml=\"https://www.w3.org/1999/xhtml\"")),
        ),
        Rule::NS_DECLARED_UNUSED => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace(NS, &format!("{NS} xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"")),
        ),
        Rule::SCHEMA_LOCATION => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace(
                NS,
                &format!("{NS} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://www.google.com/schemas/sitemap/0.84 http://www.google.com/schemas/sitemap/0.84/sitemap.xsd\""),
            ),
        ),
        Rule::GZIP_CORRUPT => packed("sitemap.xml.gz", Packing::Corrupt),
        Rule::GZIP_TRUNCATED => packed("sitemap.xml.gz", Packing::Cut),
        Rule::GZIP_MULTI_MEMBER => packed("sitemap.xml.gz", Packing::Members),
        Rule::GZIP_TRAILING_GARBAGE => packed("sitemap.xml.gz", Packing::Trailing),
        Rule::GZIP_DOUBLE => packed("sitemap.xml.gz", Packing::Twice),
        Rule::GZIP_EXTENSION_MISMATCH => packed("sitemap.xml", Packing::Gzip),
        Rule::COMPRESS_NOT_GZIP => file(&page("a")).and("other.xml.zip", b"PK\x03\x04\x14\0\0\0\x08\0".to_vec()),
        Rule::GZIP_BOMB => {
            let mut sample = file(&page("a")).and("big.xml.gz", whole(&" ".repeat(100_000)));
            sample.files.iter_mut().skip(1).for_each(|file| file.2 = Packing::Gzip);
            Sample { most: Some(10_000), ..sample }
        }
        Rule::FILE_NAME_UNSAFE => Sample::of("site map.xml", whole(&page("a"))),

        Rule::LOC_MISSING => file("<url><priority>0.4</priority></url>"),
        Rule::LOC_EMPTY => field("<loc/>"),
        Rule::FIELD_DUPLICATE => field("<priority>0.4</priority><priority>0.3</priority>"),
        Rule::FIELD_EMPTY => field("<priority/>"),
        Rule::FIELD_HAS_CHILDREN => field("<priority>0.4<b/></priority>"),
        Rule::FIELD_WHITESPACE => field("<priority> 0.4</priority>"),
        Rule::FIELD_WHITESPACE_STRICT => field("<changefreq> daily</changefreq>"),
        Rule::FIELD_TOO_LONG_YANDEX => for_profile(Profile::Yandex, field(&format!("<priority>0.{}</priority>", "4".repeat(100)))),
        Rule::ENTRY_CHILD_ORDER => field("<priority>0.4</priority><lastmod>2026-11-18</lastmod>"),
        Rule::LASTMOD_INVALID => field("<lastmod>05/13/2005</lastmod>"),
        Rule::LASTMOD_IMPOSSIBLE => field("<lastmod>2026-13-01</lastmod>"),
        Rule::LASTMOD_REDUCED_PRECISION => field("<lastmod>2026-11</lastmod>"),
        Rule::LASTMOD_NO_SECONDS => field("<lastmod>2005-05-10T17:33Z</lastmod>"),
        Rule::LASTMOD_NO_TIMEZONE => field("<lastmod>2005-05-10T17:33:30</lastmod>"),
        Rule::LASTMOD_SPACE_SEPARATOR => field("<lastmod>2005-05-10 17:33:30Z</lastmod>"),
        Rule::LASTMOD_OFFSET_FORMAT => field("<lastmod>2005-05-10T17:33:30+0200</lastmod>"),
        Rule::LASTMOD_OFFSET_RANGE => field("<lastmod>2005-05-10T17:33:30+15:00</lastmod>"),
        Rule::LASTMOD_FRACTION => field("<lastmod>2005-05-10T17:33:30.123456Z</lastmod>"),
        Rule::LASTMOD_LOWERCASE => field("<lastmod>2005-05-10t17:33:30z</lastmod>"),
        Rule::LASTMOD_DATE_ZONE => field("<lastmod>2005-05-10Z</lastmod>"),
        Rule::LASTMOD_24_00 => field("<lastmod>2005-05-10T24:00:00Z</lastmod>"),
        Rule::LASTMOD_UNPADDED => field("<lastmod>2005-5-10</lastmod>"),
        Rule::LASTMOD_BASIC_FORMAT => field("<lastmod>20050510</lastmod>"),
        Rule::LASTMOD_RFC822 => field("<lastmod>Tue, 10 May 2005 17:33:30 GMT</lastmod>"),
        Rule::LASTMOD_EPOCH => field("<lastmod>1115746410</lastmod>"),
        Rule::LASTMOD_LOCALE => field("<lastmod>10.05.2005</lastmod>"),
        Rule::LASTMOD_MULTIPLE => field("<lastmod>2005-05-10, 2005-05-11</lastmod>"),
        Rule::LASTMOD_YEAR_RANGE => field("<lastmod>1989-05-10</lastmod>"),
        Rule::LASTMOD_YEAR_RANGE_DIGITS => field("<lastmod>12005-05-10</lastmod>"),
        Rule::LASTMOD_ZERO => field("<lastmod>0000-00-00</lastmod>"),
        Rule::LASTMOD_ZERO_UNIX => field("<lastmod>1970-01-01</lastmod>"),
        Rule::LASTMOD_NEGATIVE_ZERO => field("<lastmod>2005-05-10T17:33:30-00:00</lastmod>"),
        Rule::LASTMOD_FUTURE => field("<lastmod>2027-05-10</lastmod>"),
        Rule::LASTMOD_MISSING => rows(2, |number| if number == 0 { "<lastmod>2026-11-18</lastmod>".to_owned() } else { String::new() }),
        Rule::LASTMOD_DATE_ONLY => for_profile(Profile::Bing, field("<lastmod>2026-11-18</lastmod>")),
        Rule::CHANGEFREQ_INVALID => field("<changefreq>fortnightly</changefreq>"),
        Rule::CHANGEFREQ_CASE => field("<changefreq>Daily</changefreq>"),
        Rule::CHANGEFREQ_IGNORED => for_profile(Profile::Google, field("<changefreq>daily</changefreq>")),
        Rule::CHANGEFREQ_LASTMOD_CONFLICT => field("<lastmod>2020-11-18</lastmod><changefreq>daily</changefreq>"),
        Rule::PRIORITY_INVALID => field("<priority>50%</priority>"),
        Rule::PRIORITY_COMMA => field("<priority>0,5</priority>"),
        Rule::PRIORITY_RANGE => field("<priority>8</priority>"),
        Rule::PRIORITY_FORM => field("<priority>.5</priority>"),
        Rule::PRIORITY_PRECISION => field("<priority>0.555</priority>"),
        Rule::PRIORITY_IGNORED => for_profile(Profile::Google, field("<priority>0.4</priority>")),

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
        Rule::LOC_TOO_LONG_YANDEX => for_profile(Profile::Yandex, loc(&format!("https://example.com/{}", "a".repeat(1_024)))),
        Rule::LOC_TOO_LONG_BAIDU => for_profile(Profile::Baidu, loc(&format!("https://example.com/{}", "a".repeat(256)))),
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

        Rule::SET_DUPLICATE => file(
            "<url><loc>https://example.com/a</loc><lastmod>2026-11-10</lastmod></url>\n<url><loc>https://example.com/a</loc><lastmod>2026-11-18</lastmod></url>",
        ),
        Rule::SET_DUPLICATE_EQUIVALENT => locs(&["https://example.com/a", "https://example.com/%61"]),
        Rule::SET_DUPLICATE_NEAR => locs(&["https://example.com/a", "https://example.com/a/"]),
        Rule::SET_DUPLICATE_ACROSS_FILES => file(&page("a")).and("b.xml", whole(&format!("{}{}", page("a"), page("b")))),
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
        Rule::SET_NEWS_MIXED => many(&format!("<url><loc>{PAGE}</loc>{}</url>\n{}", news("en", "2026-11-20", ""), page("b"))),
        Rule::SET_TOO_MANY_INDEXES => {
            let nested = format!("{HEAD}<sitemapindex {NS}>{}</sitemapindex>\n", child("x.xml", ""));
            let children: String = (0..500).map(|number| child(&format!("{number}.xml"), "")).collect();
            (0..500).fold(index_of(&children), |sample, number| sample.and(&format!("{number}.xml"), nested.clone()))
        }
        Rule::NEWS_LIMIT => {
            let one = news("en", "2026-11-20", "");
            let row = |number: usize| format!("<url><loc>https://example.com/{number}</loc>{one}</url>\n");
            many(&(0..1_001).map(row).collect::<String>())
        }

        Rule::HREFLANG_NO_RETURN => {
            let list = [en, de, x];
            many(&format!("{}{}", version("en", &list), version("de", &[de, ("x-default", "https://example.com/de")])))
        }
        Rule::HREFLANG_TARGET_MISSING => many(&version("en", &[en, de, x])).and("b.xml", whole(&page("b"))),
        Rule::HREFLANG_SET_DIFFERS => {
            let fr = ("fr", "https://example.com/fr");
            let versions = [version("en", &[en, de, x]), version("de", &[en, de, x, fr]), version("fr", &[en, de, x, fr])];
            many(&versions.concat())
        }
        Rule::HREFLANG_SELF_MISSING => {
            many(&format!("{}{}", version("en", &[en, de, x]), version("de", &[en, x])))
        }
        Rule::EXT_OUTSIDE_URL => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<urlset {NS} xmlns:mobile=\"http://www.google.com/schemas/sitemap-mobile/1.0\">{}<mobile:mobile/></urlset>\n", page("a")),
        ),

        Rule::INDEX_TOO_MANY => index_of(&(0..50_001).map(|number| child(&format!("{number}.xml"), "")).collect::<String>()),
        Rule::INDEX_NESTED => {
            let inner = format!("{HEAD}<sitemapindex {NS}>{}</sitemapindex>\n", child("4.xml", "<lastmod>2026-11-18</lastmod>"));
            index(&child("3.xml", "")).and("3.xml", inner).and("4.xml", whole(&page("4")))
        }
        Rule::INDEX_SELF => index(&child("sitemap_index.xml", "")),
        Rule::INDEX_CYCLE => index(&child("3.xml", ""))
            .and("3.xml", format!("{HEAD}<sitemapindex {NS}>{}</sitemapindex>\n", child("sitemap_index.xml", ""))),
        Rule::INDEX_CHILD_DUPLICATE => index(&child("1.xml", "")),
        Rule::INDEX_CHILD_HOST => index("<sitemap><loc>https://other.org/3.xml</loc></sitemap>\n").and("3.xml", whole(&page("3"))),
        Rule::INDEX_CHILD_PATH => {
            let child = "<sitemap><loc>https://example.com/3.xml</loc></sitemap>\n";
            let sample = index_of(child).and("3.xml", whole(&page("a/3")));
            Sample { base: Some("https://example.com/a/"), ..sample }
        }
        Rule::INDEX_CHILD_MISSING => index(&child("3.xml", "")),
        Rule::INDEX_CHILD_UNLISTED => index("").and("3.xml", whole(&page("3"))),
        Rule::INDEX_CHILD_EMPTY => index(&child("3.xml", "")).and("3.xml", whole("")),
        Rule::INDEX_CHILD_INCOMPLETE_URL => index("<sitemap><loc>/3.xml</loc></sitemap>\n").and("3.xml", whole(&page("3"))),
        Rule::INDEX_EXTRA_CHILD => index(&child("3.xml", "<priority>0.4</priority>")).and("3.xml", whole(&page("3"))),
        Rule::INDEX_LASTMOD_OLDER => index(&child("3.xml", "<lastmod>2026-11-01</lastmod>")).and(
            "3.xml",
            whole("<url><loc>https://example.com/3</loc><lastmod>2026-11-18</lastmod></url>\n"),
        ),
        Rule::INDEX_LASTMOD_MEANING => index_of(&format!(
            "{}{}",
            child("1.xml", "<lastmod>2020-11-18</lastmod>"),
            child("2.xml", "<lastmod>2020-11-18</lastmod>")
        ))
        .and("1.xml", whole("<url><loc>https://example.com/1</loc><lastmod>2020-11-18</lastmod></url>\n"))
        .and("2.xml", whole(&format!("<url><loc>https://example.com/2</loc><lastmod>2020-11-18</lastmod></url>\n{}", page("3")))),
        Rule::INDEX_SINGLE => index_of(&child("1.xml", "")).and("1.xml", whole(&page("1"))),

        Rule::TEXT_NOT_UTF8 => text(b"https://example.com/caf\xE9\n".to_vec()),
        Rule::TEXT_EXTRA_CONTENT => text("https://example.com/a 2026-11-18\n"),
        Rule::TEXT_BLANK_LINE => text("https://example.com/a\n\nhttps://example.com/b\n"),
        Rule::TEXT_LIMITS => {
            let line = |number: u32| format!("https://example.com/{number}\n");
            text((0..50_001).map(line).collect::<String>())
        }
        Rule::TEXT_ENTITY => text("https://example.com/?a=1&amp;b=2\n"),
        Rule::TEXT_EXTENSION => Sample::of("sitemap.lst", "https://example.com/a\n"),
        Rule::TEXT_LINE_ENDS => text("https://example.com/a\r\nhttps://example.com/b\r\n"),
        Rule::FEED_NOT_SUPPORTED => {
            for_profile(Profile::Yandex, feed("<item><link>https://example.com/a</link></item>"))
        }
        Rule::FEED_NOT_SUPPORTED_OLD => for_profile(
            Profile::Google,
            Sample::of(
                "feed.xml",
                format!("{HEAD}<feed version=\"0.3\" xmlns=\"http://purl.org/atom/ns#\"><entry><link rel=\"alternate\" href=\"https://example.com/a\"/></entry></feed>\n"),
            ),
        ),
        Rule::FEED_ITEM_NO_LINK => feed("<item><title>A</title></item>"),
        Rule::FEED_NO_CHANNEL => Sample::of(
            "feed.xml",
            format!("{HEAD}<rss version=\"2.0\"><item><link>https://example.com/a</link></item></rss>\n"),
        ),
        Rule::FEED_DATE => feed("<item><link>https://example.com/a</link><pubDate>2026-11-18</pubDate></item>"),
        Rule::FEED_RELATIVE_LINK => feed("<link>https://example.com/</link><item><link>/a</link></item>"),
        Rule::MRSS_CONTENT => media(&format!("<media:content>{TITLE}{THUMBNAIL}</media:content>")),
        Rule::MRSS_TITLE => media(&format!(
            "<media:content medium=\"video\" url=\"https://example.com/v.mp4\"><media:description>B</media:description>{THUMBNAIL}</media:content>"
        )),
        Rule::MRSS_DESCRIPTION => media(&format!(
            "<media:content medium=\"video\" url=\"https://example.com/v.mp4\"><media:title>A</media:title>{THUMBNAIL}</media:content>"
        )),
        Rule::MRSS_THUMBNAIL => {
            media(&format!("<media:content medium=\"video\" url=\"https://example.com/v.mp4\">{TITLE}</media:content>"))
        }
        Rule::MRSS_PLAYER => media(&format!(
            "<media:content medium=\"video\">{TITLE}{THUMBNAIL}<media:player url=\"https://example.com/a\"/></media:content>"
        )),
        Rule::MRSS_RESTRICTION => media(&format!(
            "<media:content medium=\"video\" url=\"https://example.com/v.mp4\">{TITLE}{THUMBNAIL}<media:restriction type=\"uri\" relationship=\"allow\">x</media:restriction></media:content>"
        )),
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
        Rule::SITE_REDIRECT_CHAIN => {
            answered(r#""status":301,"location":["https://example.com/b","https://example.com/d"],"final":"https://example.com/d""#)
        }
        Rule::SITE_NOT_A_PAGE => answered(r#""status":200,"type":"image/png""#),
        Rule::SITE_SOFT_404 => answered(r#""status":200,"title":"404 Not Found","canonical":"https://example.com/""#),
        Rule::SITE_SLOW => answered(r#""status":200,"ms":4200"#),
        Rule::SITE_LASTMOD_OLDER | Rule::SITE_LASTMOD_NEWER => {
            let is_older = rule == Rule::SITE_LASTMOD_OLDER;
            let date = if is_older { r#""modified":"2026-11-19T10:00:00Z""# } else { r#""modified":"2026-11-01T10:00:00Z""# };
            Sample { answer: Some(date), ..field("<lastmod>2026-11-18</lastmod>") }
        }
        Rule::SITE_HREFLANG_DIFFERS => {
            let links = many(&format!("{}{}", version("a", &[("en", "https://example.com/a"), ("de", "https://example.com/d")]), version("de", &[("en", "https://example.com/a"), ("de", "https://example.com/de")])));
            Sample { answer: Some(r#""hreflang":{"en":"https://example.com/a","de":"https://example.com/de"}"#), ..links }
        }
        Rule::SITE_NOT_CHECKED => answered(r#""status":200"#),
        Rule::SITE_UNREACHABLE => answered(r#""error":"connection refused""#),
        // Each has fixes that keep the meaning and others that guess it.
        Rule::NEWS_DATE => extended(&news("en", "2026-11-20T10:14:07z", "")),
        Rule::VIDEO_DATE => extended(&video("<video:publication_date>2026-5-1</video:publication_date>")),
        // What is left is about extensions of one entry.
        _ => {
            let name = format!("{rule:?}");
            let own = extensions().into_iter().find(|(_, codes)| codes.split_whitespace().any(|code| code == name));
            own.map_or_else(|| file(&page("a")), |(extension, _)| extended(&extension))
        }
    }
}

/// Two pages; what is known about the first, `https://example.com/a`.
fn answered(answer: &'static str) -> Sample {
    Sample { answer: Some(answer), ..file(&[page("a"), page("c")].concat()) }
}

/// Two pages of a site with a robots.txt.
fn with_robots(robots: &'static str) -> Sample {
    Sample { robots: Some(robots), ..file(&[page("a"), page("c")].concat()) }
}

/// A sitemap in a packing, under a name.
fn packed(name: &str, packing: Packing) -> Sample {
    // Text that does not pack well, so that a cut stream has something to unpack.
    let mut state = 1u32;
    let noise: String = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + (state >> 24) as u8 % 26)
        })
        .collect();
    Sample::of(name, whole(&format!("{}<!-- {noise} -->", page("a")))).packed(packing)
}

#[test]
fn no_sample_is_left_to_the_default() {
    let plain = file(&page("a")).files;
    for sample in samples() {
        assert!(sample.files != plain, "{:?} has no sample", sample.rule);
        let severity: Option<Severity> = sample.rule.severity_in(sample.profile);
        assert!(severity.is_some(), "{:?} is not asked for {}", sample.rule, sample.profile.name());
    }
}
