//! Samples of the rules about text sitemaps and feeds.

use super::files::HEAD;
use super::{Sample, for_profile};
use crate::check::Profile;
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
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
                format!(
                    "{HEAD}<feed version=\"0.3\" xmlns=\"http://purl.org/atom/ns#\"><entry><link rel=\"alternate\" href=\"https://example.com/a\"/></entry></feed>\n"
                ),
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
        _ => return None,
    };
    Some(sample)
}

fn text(content: impl Into<Vec<u8>>) -> Sample {
    Sample::of("sitemap.txt", content)
}

fn feed(items: &str) -> Sample {
    Sample::of(
        "feed.xml",
        format!(
            "{HEAD}<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel>{items}</channel></rss>\n"
        ),
    )
}

/// A feed with a video of this content.
fn media(inside: &str) -> Sample {
    feed(&format!("<item><link>https://example.com/a</link>{inside}</item>"))
}

const TITLE: &str = "<media:title>A</media:title><media:description>B</media:description>";
const THUMBNAIL: &str = "<media:thumbnail url=\"https://example.com/t.jpg\"/>";
