//! Tests of feed import: each format by example, and arbitrary bytes.

use super::*;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::xml::defect::{Defect, FoundDefect};
use crate::xml::entry::Entry;
use crate::xml::names::Names;
use crate::xml::scan::{self, Visit};
use proptest::prelude::*;

/// A loc and a lastmod.
type Row = (Option<String>, Option<String>);

#[derive(Default)]
struct Rows(Vec<Row>);

impl Visit for Rows {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        let value = |field| entry.value(field, text).map(std::borrow::Cow::into_owned);
        self.0.push((value(Field::Loc), value(Field::Lastmod)));
    }
}

/// Imports a feed and returns its rows; asserts that the sitemap has no damage.
fn rows(text: &str) -> (Import, Vec<Row>) {
    let import = import(text.as_bytes()).unwrap();
    let mut rows = Rows::default();
    let scan = scan::scan(&import.text, &mut rows, &Progress::default());
    assert_eq!(scan.damage, [], "{}", String::from_utf8_lossy(&import.text));
    assert_eq!(rows.0.len(), import.item_offsets.len());
    (import, rows.0)
}

fn row(loc: &str, lastmod: &str) -> Row {
    let some = |text: &str| (text != "-").then(|| text.to_owned());
    (some(loc), some(lastmod))
}

#[test]
fn every_format_gives_its_links_and_dates() {
    let table = [
        (
            "<rss version='2.0'><channel><link>http://e/</link><item><title>a</title><link>http://e/?a=1&amp;b</link>\
             <pubDate>Sun, 20 Mar 2016 19:10:54 GMT</pubDate></item><item><link><![CDATA[ http://e/b ]]></link></item>\
             </channel></rss>",
            Feed::Rss,
            vec![row("http://e/?a=1&b", "2016-03-20T19:10:54Z"), row("http://e/b", "-")],
        ),
        (
            "<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'>\
             <channel><link>http://e/</link></channel><item><link>http://e/a</link><dc:date>2016-03-20</dc:date></item></rdf:RDF>",
            Feed::Rdf,
            vec![row("http://e/a", "2016-03-20")],
        ),
        (
            "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='http://e/feed'/><entry>\
             <link rel='edit' href='http://e/edit'/><link href=' http://e/a '/><published>2016-03-20T01:00:00Z</published>\
             <updated>2016-03-21T01:00:00Z</updated></entry><entry><link rel='self' href='http://e/b'/></entry></feed>",
            Feed::Atom,
            vec![row("http://e/a", "2016-03-21T01:00:00Z"), row("http://e/b", "-")],
        ),
        (
            "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry><link rel='alternate' href='http://e/a'/>\
             <modified>2016-03-20T01:00:00Z</modified><issued>2015-03-20T01:00:00Z</issued></entry></feed>",
            Feed::Atom03,
            vec![row("http://e/a", "2016-03-20T01:00:00Z")],
        ),
        (
            "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:link href='http://e/a'/></a:entry></a:feed>",
            Feed::Atom,
            vec![row("http://e/a", "-")],
        ),
        // Links of other elements in an item are not its link, and empty links are ignored.
        (
            "<rss><channel><item><atom:link href='no'/><image><link>no</link></image><link/></item><item/></channel></rss>",
            Feed::Rss,
            vec![row("-", "-"), row("-", "-")],
        ),
        // No entity is expanded, and no item after damage is lost.
        (
            "<!DOCTYPE rss [<!ENTITY x 'http://no/'>]><rss><channel><title>a & b<item><link>&x;a?b=1&c=2</link>\
             <item><link>http://e/b</link></item></channel></rss>",
            Feed::Rss,
            vec![row("&x;a?b=1&c=2", "-"), row("http://e/b", "-")],
        ),
    ];
    for (text, feed, expected) in table {
        let (import, found) = rows(text);
        assert_eq!((import.feed, found), (feed, expected), "{text}");
    }
    for text in ["", "a", "<urlset/>", "<html><rss/></html>"] {
        assert!(import(text.as_bytes()).is_none(), "{text}");
    }
}

#[test]
fn relative_links_are_resolved_against_the_base_or_the_page_of_the_feed() {
    let atom = |link: &str| {
        format!(
            "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://e/x/'><link href='/home'/>\
             <entry xml:base='y/'>{link}</entry></feed>"
        )
    };
    let table = [
        (atom("<link href='a'/>"), "http://e/x/y/a"),
        (atom("<link href='/a'/>"), "http://e/a"),
        (atom("<link xml:base='http://f/' href='a'/>"), "http://f/a"),
        (
            "<rss><channel><item><link>/a?b</link></item><link>http://e/x</link></channel></rss>".to_owned(),
            "http://e/a?b",
        ),
        ("<rss><channel><item><link>/a</link></item></channel></rss>".to_owned(), "/a"),
    ];
    for (text, expected) in table {
        let (import, found) = rows(&text);
        assert_eq!(found[0].0.as_deref(), Some(expected), "{text}");
        assert_eq!(
            import.defects.iter().map(|defect| defect.kind).collect::<Vec<_>>(),
            [Defect::FeedRelative],
            "{text}"
        );
    }
}

#[test]
fn defects_are_reported_with_their_positions() {
    let text = "<rss><channel>\n<item>\n<guid>http://e/1</guid><pubDate>soon</pubDate></item></channel></rss>";
    let (import, _) = rows(text);
    let defect = |kind, needle: &str, what: &str| FoundDefect {
        kind,
        at: text.find(needle).unwrap(),
        entry: Some(0),
        what: what.into(),
    };
    assert_eq!(
        import.defects,
        [
            defect(Defect::FeedNoLink, "<item", "its guid may be one: http://e/1"),
            defect(Defect::FeedDate, "<pubDate", "soon")
        ]
    );
    assert_eq!(import.skipped, [("guid".to_owned(), 1)]);
    assert!(import.anchors.is_sorted() && import.anchors.iter().all(|(ours, _)| *ours < import.text.len() as u32));
}

#[test]
fn links_and_videos_need_a_url() {
    let media = format!(
        "<rss {MEDIA}><channel><item><link>http://e/a</link><media:content medium='video'>{}</media:content></item></channel></rss>",
        "<media:title>A</media:title><media:description>B</media:description><media:thumbnail url='http://e/t.png'/>"
    );
    let table = [
        ("<rss><channel><item><link/></item></channel></rss>".to_owned(), Defect::FeedNoLink),
        ("<rss><channel><item><link> </link></item></channel></rss>".to_owned(), Defect::FeedNoLink),
        (
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href=''/></entry></feed>".to_owned(),
            Defect::FeedNoLink,
        ),
        (media, Defect::MediaContent),
    ];
    for (text, expected) in table {
        let (import, _) = rows(&text);
        assert_eq!(import.defects.iter().map(|defect| defect.kind).collect::<Vec<_>>(), [expected], "{text}");
    }
    let (import, found) = rows("<rss><channel><item><link/><link>http://e/a</link></item></channel></rss>");
    assert_eq!((found[0].0.as_deref(), import.defects.len()), (Some("http://e/a"), 0));
}

#[test]
fn a_raw_ampersand_is_kept_and_reported_with_its_position() {
    let text = "<rss><channel><title>A & B</title>\n<item><link>http://e/?a=1&b=2</link><title>C & D</title></item>\n\
                <item><link>http://e/?a=1&amp;b=2</link><description><![CDATA[A & B]]></description></item>\n\
                <item><link>http://e/3</link><enclosure url='http://e/?c&amp;d&e=1'/><title>caf&eacute;</title></item>\n\
                </channel></rss>";
    let (import, found) = rows(text);
    let locs: Vec<Option<&str>> = found.iter().map(|row| row.0.as_deref()).collect();
    assert_eq!(locs, [Some("http://e/?a=1&b=2"), Some("http://e/?a=1&b=2"), Some("http://e/3")]);
    let defects: Vec<(Defect, Option<u32>, usize, &str)> =
        import.defects.iter().map(|defect| (defect.kind, defect.entry, defect.at, &*defect.what)).collect();
    let at = |needle: &str| text.find(needle).unwrap();
    assert_eq!(
        defects,
        [
            (Defect::Ampersand, None, at("& B"), "&"),
            (Defect::Ampersand, Some(0), at("&b=2"), "&b=2"),
            (Defect::Ampersand, Some(2), at("&e=1"), "&e=1"),
            (Defect::Entity, Some(2), at("&eacute;"), "&eacute;"),
        ]
    );
    // A reference that a DOCTYPE may declare is not reported as unknown.
    for (doctype, expected) in [
        ("<!DOCTYPE rss [<!ENTITY x 'y'>]>", Defect::DtdEntity),
        ("<!DOCTYPE rss PUBLIC 'rss' 'rss-0.91.dtd'>", Defect::DtdEntity),
        ("<!DOCTYPE rss>", Defect::Entity),
        ("<?xml version='1.0' standalone='yes'?><!DOCTYPE rss SYSTEM 'rss-0.91.dtd'>", Defect::Entity),
    ] {
        let text = format!("{doctype}<rss><channel><item><link>http://e/&x;</link></item></channel></rss>");
        let kinds: Vec<Defect> = rows(&text).0.defects.iter().map(|defect| defect.kind).collect();
        assert_eq!(kinds, [expected], "{doctype}");
    }
}

const MEDIA: &str = "xmlns:media='http://search.yahoo.com/mrss/'";

/// The extension elements of the only row, on one line.
fn extensions(item: &str) -> (String, Vec<Defect>) {
    let (import, _) = rows(&format!("<rss {MEDIA}><channel><item><link>http://e/</link>{item}</item></channel></rss>"));
    let text = String::from_utf8(import.text).unwrap();
    let from = text.find("</loc>").unwrap() + 6;
    let to = text.find("\n  </url>").unwrap();
    let lines: Vec<&str> = text[from..to].lines().map(str::trim).collect();
    (lines.concat(), import.defects.into_iter().map(|defect| defect.kind).collect())
}

#[test]
fn media_become_videos_and_images() {
    use Defect::{MediaContent, MediaDescription, MediaPlayer, MediaRestriction, MediaThumbnail, MediaTitle};
    let whole = "<media:title>T &amp; t</media:title><media:description>D</media:description><media:thumbnail url='http://e/t.jpg'/>";
    let video = |middle: &str| {
        format!(
            "<video:video><video:thumbnail_loc>http://e/t.jpg</video:thumbnail_loc><video:title>T &amp; t</video:title>\
             <video:description>D</video:description>{middle}</video:video>"
        )
    };
    let file = "<video:content_loc>http://e/v.mp4</video:content_loc>";
    let table = [
        (
            format!("<media:content url='http://e/v.mp4' medium='video' duration='61'>{whole}</media:content>"),
            video(&format!("{file}<video:duration>61</video:duration>")),
            vec![],
        ),
        (
            format!("<media:content url='http://e/v.mp4'/>{whole}<media:player url='http://e/p'/>"),
            video(&format!("{file}<video:player_loc>http://e/p</video:player_loc>")),
            vec![],
        ),
        (
            format!(
                "<media:group>{whole}<media:content url='http://e/a.flv' type='video/x-flv'/>\
                 <media:content url='http://e/v.mp4' type='video/mp4' isDefault='true'/></media:group>"
            ),
            video(file),
            vec![],
        ),
        (
            format!("{whole}<media:player url='http://e/'/><media:restriction type='country' relationship='deny'>us gb</media:restriction>"),
            video("<video:player_loc>http://e/</video:player_loc><video:restriction relationship=\"deny\">us gb</video:restriction>"),
            vec![MediaPlayer],
        ),
        (
            "<title>page</title><media:content url='http://e/v.mp4'/><media:restriction type='sharing'/>".to_owned(),
            format!("<video:video><video:title>page</video:title>{file}</video:video>"),
            vec![MediaTitle, MediaDescription, MediaThumbnail, MediaRestriction],
        ),
        (
            "<media:content url='http://e/i.jpg?a=1&amp;b' medium='image'/><media:thumbnail url='http://e/t.png'/>".to_owned(),
            "<image:image><image:loc>http://e/i.jpg?a=1&amp;b</image:loc></image:image><image:image><image:loc>http://e/t.png</image:loc></image:image>".to_owned(),
            vec![],
        ),
        ("<media:content url='http://e/a.mp3' medium='audio'/>".to_owned(), String::new(), vec![MediaContent]),
    ];
    for (item, expected, defects) in table {
        assert_eq!(extensions(&item), (expected, defects), "{item}");
    }
}

proptest! {
    /// Pieces of feeds in any order never panic, and always give a sitemap without damage with a row for each item.
    #[test]
    fn any_pieces_give_a_sitemap_without_damage(pieces in proptest::collection::vec(prop_oneof![
        Just("<item>"), Just("</item>"), Just("<item/>"), Just("<entry>"), Just("</entry>"), Just("<link>"), Just("</link>"),
        Just("<link href='a' rel='x'/>"), Just("<channel>"), Just("</channel>"), Just("</rss>"), Just("<media:group>"),
        Just("</media:group>"), Just("<media:content url='http://e/a.mp4' medium='video'>"), Just("</media:content>"),
        Just("<media:title>"), Just("</media:title>"), Just("<media:player url='a&b'/>"), Just("<pubDate>Sun, 20 Mar 2016"),
        Just("</pubDate>"), Just("<updated>2016"), Just("</updated>"), Just("&amp;"), Just("&x;"), Just("<![CDATA[<a>&"),
        Just("]]>"), Just("<!--"), Just("-->"), Just("<a xml:base='http://e/' xmlns='media'>"), Just("</a>"), Just("http://e/"),
        Just("\u{1}"), Just("\u{FFFE}"), Just("é"), Just("<"), Just(">"), Just("'"),
    ], 0..60), root in prop_oneof![
        Just("<rss xmlns:media='http://search.yahoo.com/mrss/'>"), Just("<rdf:RDF>"), Just("<feed xmlns='http://www.w3.org/2005/Atom'>"),
    ]) {
        rows(&format!("{root}{}", pieces.concat()));
    }

    #[test]
    fn any_bytes_give_a_sitemap_without_damage(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = [b"<rss><item><link>", &bytes[..], b"</link></item>"].concat();
        let import = import(&text).unwrap();
        let scan = scan::scan(&import.text, &mut scan::Ignore, &Progress::default());
        prop_assert_eq!(scan.damage, []);
    }
}
