//! Tests of repairs: damaged input, expected repairs and result, and arbitrary bytes.

mod generated;
mod patterns;
mod windows;

use super::*;
use crate::progress::Progress;
use crate::xml::defect::Defect;
use crate::xml::entry::Entry;
use crate::xml::scan::{self, Visit};
use proptest::prelude::*;

/// Collects the value of `loc` of each entry.
#[derive(Default)]
struct Locs(Vec<String>);

impl Visit for Locs {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.push(entry.value(crate::protocol::Field::Loc, text).unwrap_or_default().into_owned());
    }
}

/// Scans repaired bytes; returns the scan and the locs.
fn rows(bytes: &[u8]) -> (scan::Scan, Vec<String>) {
    let mut locs = Locs::default();
    let scan = scan::scan(bytes, &mut locs, &Progress::default());
    (scan, locs.0)
}

const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// Repairs a file in which a scan finds damage; returns the locs, the kinds of repairs and the repaired text.
fn repaired(text: &str) -> (Vec<String>, Vec<Defect>, String) {
    let before = rows(text.as_bytes()).0;
    assert!(!before.damage.is_empty() || before.names.is_none(), "sound: {text}");
    let repaired = repair(text.as_bytes()).unwrap_or_else(|| panic!("nothing to repair in {text}"));
    let out = String::from_utf8(repaired.bytes.into_vec()).unwrap();
    let (scan, locs) = rows(out.as_bytes());
    assert_eq!(scan.damage, [], "{text}\n{out}");
    for repair in &repaired.repairs {
        assert!(repair.entry.is_none_or(|entry| (entry as usize) < locs.len()), "{repair:?} {out}");
    }
    let mut kinds: Vec<Defect> = repaired.repairs.iter().map(|repair| repair.kind).collect();
    kinds.dedup();
    (locs, kinds, out)
}

#[test]
fn repaired_values_keep_their_meaning() {
    use Defect::*;
    let table: [(&str, &str, &[Defect]); 26] = [
        ("<loc>http://e/?a=1&b=2</loc>", "http://e/?a=1&b=2", &[Ampersand]),
        ("<loc>http://e/?a=1&copy=2</loc>", "http://e/?a=1&copy=2", &[Ampersand]),
        ("<loc>http://e/?a&amp;b&c</loc>", "http://e/?a&b&c", &[Ampersand]),
        ("<loc>http://e/caf&eacute;</loc>", "http://e/café", &[Entity]),
        ("<loc>http://e/&nosuch;</loc>", "http://e/&nosuch;", &[Entity]),
        ("<loc>http://e/?q=a<b</loc>", "http://e/?q=a<b", &[Angle]),
        ("<loc>http://e/?q=<b>bold</loc>", "http://e/?q=<b>bold", &[Angle]),
        ("<loc>http://e/\u{1}x</loc>", "http://e/%01x", &[Character]),
        ("<loc>http://e/&#1;x</loc>", "http://e/%01x", &[Character]),
        ("<loc>http://e/&#xD800;x</loc>", "http://e/&#xD800;x", &[NoCharacter]),
        ("<loc>http://e/c&#x110000;w&#55296;z</loc>", "http://e/c&#x110000;w&#55296;z", &[NoCharacter]),
        ("<loc><![CDATA[http://e/?a&b</loc>", "http://e/?a&b", &[NotWellFormed, Ampersand]),
        ("<loc> <![CDATA[ http://e/</loc >", "http://e/", &[NotWellFormed]),
        ("<loc>http://e/<!-- x</loc>", "http://e/<!-- x", &[NotWellFormed]),
        ("<loc>http://e/\u{FFFE}x</loc>", "http://e/%EF%BF%BEx", &[Character]),
        ("<lastmod>20\u{1}26</lastmod><loc>http://e/</loc>", "http://e/", &[Character]),
        ("<loc a='1' a='2'>http://e/</loc>", "http://e/", &[DuplicateAttribute]),
        ("<loc a=1 b>http://e/</loc>", "http://e/", &[NotWellFormed]),
        ("<loc a='<'>http://e/</loc>", "http://e/", &[Angle]),
        ("<!-- a -- b ---><loc>http://e/</loc>", "http://e/", &[Comment]),
        ("<loc>http://e/<!-- a -- b --></loc>", "http://e/", &[Comment]),
        ("<Loc>http://e/</LOC>", "http://e/", &[NameCase]),
        ("<loc>http://e/</lco>", "http://e/", &[NotWellFormed]),
        ("<loc>http://e/<loc>", "http://e/", &[NotWellFormed]),
        ("<loc>http://e/<lastmod>2026</lastmod>", "http://e/", &[NotWellFormed]),
        ("<?xml version='1.0'?><loc>http://e/</loc><!DOCTYPE a>", "http://e/", &[Concatenated, NotWellFormed]),
    ];
    for (inside, loc, kinds) in table {
        let text = format!("<urlset {NS}><url>{inside}</url><url><loc>http://e/2</loc></url></urlset>");
        let (locs, found, out) = repaired(&text);
        assert_eq!(locs, [loc, "http://e/2"], "{out}");
        assert_eq!(found, kinds, "{out}");
    }
}

#[test]
fn a_damaged_row_does_not_affect_the_rows_after_it() {
    use Defect::*;
    let table: [(&str, &[&str], &[Defect]); 33] = [
        ("<x><url><loc>a</loc></url><url><loc>b</loc></url></x>", &["a", "b"], &[Wrapped]),
        ("<x><y> <url><loc>a</loc></url></y></x><url><loc>b</loc></url>", &["a", "b"], &[Wrapped]),
        ("<x>t<url><loc>a</loc></url></x><x><url><loc>b</loc></url></x>", &["a", "b"], &[Wrapped]),
        ("<x><url><loc>a</loc></url><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<x><y><url><loc>a</loc></url></x></y>", &["a"], &[Wrapped, NotWellFormed]),
        ("<p><loc>a</loc><priority>1</priority></p>\n<p><loc>b</loc></p>", &["a", "b"], &[OutsideRoot]),
        ("<url xmlns='x'></url><p><loc>b</loc></p>", &["", "b"], &[OutsideRoot]),
        ("<p><q><LOC>a</LOC></q></p><url><loc>b</loc></url>", &["a", "b"], &[OutsideRoot, NameCase]),
        ("<p><title>t</title><loc>a</loc><loc>b</loc></p>", &["a", "b"], &[OutsideRoot]),
        ("<url><loc>a</loc><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url><loc>a</loc><url><loc>b</loc></url></url>", &["a", "b"], &[Nested]),
        ("<url><url><loc>a</loc><url><loc>b</loc></url></url></url>", &["", "a", "b"], &[Nested]),
        ("<url><loc>a</url><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url><loc>a</loc></urll><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("</x><url><loc>b</loc></url>", &["b"], &[NotWellFormed]),
        ("<url a=\"b><loc>a</loc></url><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url a=\"b><loc>a</loc></url><url a=\"b\"><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url a='b><loc>a</loc></url><url><loc c='d'>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url><loc>a</loc></url></url><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url><x:y><loc>no</loc><url><loc>b</loc></url>", &["", "b"], &[NotWellFormed]),
        ("<loc>a</loc><loc>b</loc><url><loc>c</loc></url>", &["a", "b", "c"], &[OutsideRoot]),
        ("<url></url>\n<loc>a</loc><priority>1</priority>\n<url></url><loc>b</loc>", &["a", "b"], &[NotWellFormed]),
        ("<url><loc>a</loc></url></urlset>\n<url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<URL><loc>a</loc></URL><url><loc>b</loc></Url>", &["a", "b"], &[NameCase]),
        ("<url><!-- <loc>a</loc></url><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url><![CDATA[ <loc>a</loc></url><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
        ("<url><image:image><image:loc>x</image:loc></image:image><loc>a</loc></url>", &["a"], &[UndeclaredPrefix]),
        (
            "<url><loc>a</loc><video:video><video:title>t<video:title></video:video></url><url><loc>b</loc></url>",
            &["a", "b"],
            &[UndeclaredPrefix, NotWellFormed],
        ),
        ("<<<<<<< HEAD<url><loc>b</loc></url>", &["b"], &[Angle]),
        (
            "<url><loc>a</loc></url><urlset><url><loc>b</loc></url></urlset>",
            &["a", "b"],
            &[Concatenated, NotWellFormed],
        ),
        ("<url does not close", &[], &[Angle]),
        ("<url><loc>a</loc></url>&", &["a"], &[Ampersand]),
        ("<url><loc>a</loc><b><i></b></url><url><loc>b</loc></url>", &["a", "b"], &[NotWellFormed]),
    ];
    for (body, expected, kinds) in table {
        let (locs, found, out) = repaired(&format!("<urlset {NS}>{body}</urlset>"));
        assert_eq!(locs, expected, "{out}");
        assert_eq!(found, kinds, "{out}");
    }
}

#[test]
fn content_outside_the_document_is_omitted() {
    use Defect::*;
    let root = format!("<urlset {NS}><url><loc>a</loc></url></urlset>");
    let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    let table: [(String, &[&str], &[Defect], String); 19] = [
        (format!("\n {declaration}\n{root}"), &["a"], &[LeadingBlank], format!("{declaration}\n{root}")),
        (format!("Notice: x\n{declaration}{root}"), &["a"], &[LeadingJunk], format!("{declaration}{root}")),
        (format!("<br /><b>Notice</b>: x{root}"), &["a"], &[LeadingJunk], root.clone()),
        (format!("<!-- c -->{declaration}{root}"), &["a"], &[LeadingJunk], format!("{declaration}<!-- c -->{root}")),
        (format!("<? xml version='1.0' ?>{root}"), &["a"], &[NotWellFormed], format!("{declaration}{root}")),
        (format!("<?xml version='1.0' header();?>{root}"), &["a"], &[NotWellFormed], format!("{declaration}{root}")),
        (format!("<?xml encoding='UTF-8'?>{root}"), &["a"], &[NotWellFormed], format!("{declaration}{root}")),
        (format!("{root}\ngems:\n - x"), &["a"], &[TrailingJunk], root.clone()),
        (format!("{root}\0\0\0"), &["a"], &[TrailingJunk], root.clone()),
        (format!("{root}</xml>"), &["a"], &[TrailingJunk], root.clone()),
        (
            format!("{declaration}{root}{declaration}{}", root.replace(">a<", ">b<")),
            &["a", "b"],
            &[Concatenated],
            format!("{declaration}<urlset {NS}><url><loc>a</loc></url><url><loc>b</loc></url></urlset>"),
        ),
        (
            format!("<urlset {NS}/>\n<urlset xmlns:image='i'><url><loc>b</loc></url></urlset>"),
            &["b"],
            &[Concatenated, NotWellFormed],
            format!("<urlset {NS} xmlns:image=\"i\">\n<url><loc>b</loc></url></urlset>"),
        ),
        (
            format!("<urlset {NS}><url><loc>a</loc></url><url><loc>b</lo"),
            &["a"],
            &[Truncated],
            format!("<urlset {NS}><url><loc>a</loc></url>\n</urlset>\n"),
        ),
        (
            format!("<urlset {NS}><url><loc>a</loc></url>\n<url><loc>http://e/cu"),
            &["a"],
            &[Truncated],
            format!("<urlset {NS}><url><loc>a</loc></url>\n</urlset>\n"),
        ),
        (
            format!("<urlset {NS}><url><loc>a</loc></url>\n<ur"),
            &["a"],
            &[Truncated],
            format!("<urlset {NS}><url><loc>a</loc></url>\n</urlset>\n"),
        ),
        (
            format!("<urlset {NS}><url><loc>a</loc></url>"),
            &["a"],
            &[Truncated],
            format!("<urlset {NS}><url><loc>a</loc></url>\n</urlset>\n"),
        ),
        (
            "  <lastmod>2026</lastmod>\n</url>\n<url><loc>a</loc></url>\n".to_owned(),
            &["a"],
            &[LeadingJunk, NotWellFormed],
            format!("  \n\n<urlset {NS}>\n<url><loc>a</loc></url>\n</urlset>\n"),
        ),
        (
            format!("<URLSET {NS}><url><loc>a</loc></url></URLSET>"),
            &["a"],
            &[NameCase],
            format!("<urlset {NS}><url><loc>a</loc></url></urlset>"),
        ),
        (
            format!("<!DOCTYPE u [<!ENTITY x 'y'>]><urlset {NS}><url><loc>&x;</loc></url></urlset>"),
            &["&x;"],
            &[DtdEntity],
            format!("<!DOCTYPE u [<!ENTITY x 'y'>]><urlset {NS}><url><loc>&amp;x;</loc></url></urlset>"),
        ),
    ];
    for (text, expected, kinds, bytes) in table {
        let (locs, found, out) = repaired(&text);
        assert_eq!(locs, expected, "{out}");
        assert_eq!(found, kinds, "{out}");
        assert_eq!(out.trim_end_matches('\n'), bytes.trim_end_matches('\n'), "{text}");
    }
    assert!(repair(b"no markup at all").is_none());
    assert!(repair(b"<html><body>Sorry</body></html>").is_none());
}

#[test]
fn repairs_name_their_position_and_entry() {
    let text = format!(
        "<urlset {NS}>\n<url><loc>http://e/?a&b</loc></url>\n<url><loc>x</loc></url>\n<url><loc>http://e/?c&d</loc></url></urlset>"
    );
    let repaired = repair(text.as_bytes()).unwrap();
    let seen: Vec<_> = repaired.repairs.iter().map(|repair| (repair.at, repair.entry, &*repair.what)).collect();
    let (first, second) = (text.find("&b").unwrap(), text.find("&d").unwrap());
    assert_eq!(seen, [(first, Some(0), "&b"), (second, Some(2), "&d")]);
    let out = String::from_utf8(repaired.bytes.into_vec()).unwrap();
    for (ours, theirs) in repaired.anchors {
        assert_eq!(out[ours..ours + 10], text[theirs..theirs + 10]);
    }
}

#[test]
fn equal_descriptions_of_consecutive_repairs_are_shared() {
    let entries = ["a?b&c=1", "b?b&c=1", "c?b&d=1"].map(|url| format!("<url><loc>https://e.com/{url}</loc></url>"));
    let repaired = repair(format!("<urlset {NS}>{}</urlset>", entries.concat()).as_bytes()).unwrap();
    let [first, second, third] = &*repaired.repairs else { panic!("{:?}", repaired.repairs) };
    assert_eq!([&*first.what, &*third.what], ["&c=1", "&d=1"]);
    assert!(std::sync::Arc::ptr_eq(&first.what, &second.what));
}

#[test]
fn repairs_of_malformed_markup_are_described() {
    let descriptions = |body: &str| {
        let repaired = repair(format!("<urlset {NS}>{body}</urlset>").as_bytes()).unwrap();
        let malformed = repaired.repairs.into_iter().filter(|repair| repair.kind == Defect::NotWellFormed);
        malformed.map(|repair| repair.what.to_string()).collect::<Vec<_>>().join(" | ")
    };
    let url = |inside: &str| descriptions(&format!("<url>{inside}</url>"));
    let table = [
        (url("<loc>a</lco>"), "</lco> where </loc> belongs; read as that"),
        (url("<loc>a<loc>"), "<loc> where </loc> belongs; read as that"),
        (url("<loc>a"), "<loc> is not closed before </url>; closed here"),
        (url("<loc>a<lastmod>b</lastmod>"), "<loc> is not closed before <lastmod>; closed here"),
        (url("<loc>a</loc><b><i></b>"), "<i> is not closed before </b>; closed here"),
        (url("<loc><![CDATA[a</loc>"), "<![CDATA[ has no ]]> before </loc>; its text ends there"),
        (url("<loc>a</loc></x>"), "</x> closes nothing; omitted"),
        (url("<loc a=1>a</loc>"), "the value of a has no quotes; written"),
        (url("<loc a>a</loc>"), "a has no value; its name is used as value"),
        (descriptions("<url a='b><loc>a</loc></url>"), "the value of a has no ' at its end; written"),
        (descriptions("<url><loc>a</loc><url><loc>b</loc></url>"), "<url> before it is not closed; closed here"),
        (descriptions("<url></url><loc>a</loc>"), "<loc> after </url>; moved into that entry"),
        (descriptions("</urlset><url><loc>b</loc></url>"), "<url> after </urlset>; moved into the document"),
        (descriptions("<?a"), "<?a does not end; read as text"),
        (descriptions("<url><loc>a</loc></url><!DOCTYPE a>"), "<!DOCTYPE a> is not allowed here; omitted"),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

#[test]
fn illegal_characters_are_percent_encoded_in_every_kind_of_url() {
    let image =
        "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"";
    let text = format!(
        "<urlset {NS} {image}><url><loc>a</loc><image:image><image:loc>http://e/\u{1}x</image:loc><image:title>t\u{1}</image:title></image:image><xhtml:link href=\"http://e/&#1;y\"/></url></urlset>"
    );
    let out = String::from_utf8(repair(text.as_bytes()).unwrap().bytes.into_vec()).unwrap();
    for expected in [">http://e/%01x<", ">t<", "\"http://e/%01y\""] {
        assert!(out.contains(expected), "{out}");
    }
}

#[test]
fn shortened_snippets_end_with_an_ellipsis() {
    for (junk, expected) in [
        ("This XML file does not appear to have any style", "This XML file does not ap…"),
        ("Notice: 24 letters", "Notice: 24 letters"),
        ("1234567890123456789012345", "1234567890123456789012345"),
        ("first line\nsecond line", "first line"),
    ] {
        let text = format!("{junk}<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>");
        let repaired = repair(text.as_bytes()).unwrap();
        assert_eq!(&*repaired.repairs[0].what, expected);
    }
}

#[test]
fn hostile_files_are_repaired_in_one_pass() {
    let body = |inside: String| format!("<urlset {NS}>{inside}</urlset>");
    let wide: String = (0..300_000).fold(String::new(), |wide, n| wide + &format!(" a{n}='1'"));
    for text in [
        body("<a>".repeat(100_000)),
        body("<a>".repeat(50_000) + &"</b>".repeat(50_000)),
        body("<url><loc>".to_owned() + &"<b>".repeat(100_000) + "</loc></url>"),
        body(format!("<url{wide} a1=''><loc>a</loc></url>")),
        body("<!--".repeat(200_000)),
        body("<![CDATA[".repeat(100_000)),
        body("<?".repeat(200_000)),
        body("<a '\"".repeat(100_000)),
        body("<url></url><loc>".repeat(50_000)),
        body("</urlset>".to_owned() + &"<url></url></urlset>".repeat(20_000)),
        body("<url><loc>".to_owned() + &"&".repeat(1_000_000) + "</loc></url>"),
        "<".repeat(1_000_000) + "<urlset>",
        body("\u{1}".repeat(1_000_000)),
    ] {
        let repaired = repair(text.as_bytes()).unwrap();
        assert_eq!(rows(&repaired.bytes).0.damage, [], "{}", &text[..100]);
        assert!(repaired.bytes.len() <= text.len() * 8 + 1_000);
    }
}

#[test]
fn an_added_root_has_the_kind_that_the_file_is_opened_as() {
    for text in [
        format!("<sitemap><urlset {NS}><url><loc>a</loc></url></urlset>"),
        format!("<url><sitemapindex {NS}><sitemap><loc>a</loc></sitemap></sitemapindex>"),
        "<sitemap><loc>a</loc></sitemap>".to_owned(),
        "<url><loc>a</loc></url>".to_owned(),
    ] {
        let repaired = repair(text.as_bytes()).unwrap();
        let out = String::from_utf8(repaired.bytes.into_vec()).unwrap();
        assert_eq!(kind(text.as_bytes()), kind(out.as_bytes()), "{text} became {out}");
    }
}
