//! Rule table: text sitemaps and feeds.
//!
//! Rule catalogue, section 9. What a feed lacks is found while it is read and kept as
//! [`crate::document::quirk`]s.

use super::rows;

rows! { super::index::END;
    TEXT_NOT_UTF8 "text-not-utf8" E(REFUSED) Document Safe FORMATS,
        "a text sitemap that is not UTF-8",
        "A text sitemap is UTF-8 (Baidu also takes GBK). In other encodings every letter beyond ASCII is misread. Saving writes UTF-8.", [(Baidu, W)];
    TEXT_EXTRA_CONTENT "text-extra-content" E(ENTRY_DROPPED) Field Ask FORMATS,
        "a line that is not a URL",
        "A text sitemap holds one URL a line and nothing else: no comment, no header, no date, no second value. Crawlers report the line as an invalid URL. Delete it, or leave only its URL.";
    TEXT_BLANK_LINE "text-blank-line" I(HARMLESS) Document Safe PRACTICE,
        "empty lines",
        "Crawlers skip an empty line. Some tools count it as an invalid URL.";
    TEXT_LIMITS "text-limits" E(OVER_LIMIT) Document Safe FORMATS,
        "more than 50,000 lines or 52,428,800 bytes",
        "A text sitemap has the limits of any other: 50,000 URLs and 52,428,800 bytes before compression. Crawlers refuse the file or ignore the rest. Saving splits it into lists with numbers, to be submitted one by one; as XML (:write NAME.xml) its parts get an index.";
    TEXT_ENTITY "text-entity" W(WRONG_PAGE) Field Ask PRACTICE,
        "an XML entity in a text sitemap",
        "Text is not XML: nothing is escaped, so &amp; in a line is four characters of the URL. The page that was meant has a plain &.";
    TEXT_EXTENSION "text-extension" W(SOME_READERS) Document Ask GOOGLE_BUILD,
        "a text sitemap whose name does not end in .txt",
        "Google asks for the extension .txt. With another one, some crawlers take the file for XML and report an error. The fix gives the file another name in its folder; the old file is deleted when the change is saved. Another name is another URL: update robots.txt and Search Console.";
    TEXT_LINE_ENDS "text-line-ends" I(HARMLESS) Document Safe PRACTICE,
        "lines that end with a carriage return",
        "Every crawler is expected to take CR LF; a lone CR is read as part of the URL by some. LF alone is safe.";
    FEED_NOT_SUPPORTED "feed-not-supported" OFF("This engine does not read feeds as sitemaps, so it finds none of the pages.") Document None YANDEX_FORMATS,
        "a feed, which this engine does not read as a sitemap",
        "Yandex reads XML and text sitemaps only, and Google takes RSS 2.0 and Atom 1.0 but no longer Atom 0.3. Save the feed as a sitemap for them.", [(Yandex, E), (Baidu, E)];
    FEED_NOT_SUPPORTED_OLD = FEED_NOT_SUPPORTED OFF("This engine does not read Atom 0.3, so it finds none of the pages.") Document None GOOGLE_BUILD,
        "an Atom 0.3 feed, which this engine does not read as a sitemap",
        "Google takes RSS 2.0 and Atom 1.0 but no longer Atom 0.3. Save the feed as a sitemap.", [(Google, W), (Yandex, E), (Baidu, E)];
    FEED_NO_CHANNEL "feed-no-channel" E(NO_SITEMAP) Document None FORMATS,
        "an RSS feed without a channel",
        "In RSS 0.9x and 2.0 the items are inside a channel. Feed readers find nothing in a file without one. sited shows the items anyway.";
    FEED_ITEM_NO_LINK "feed-item-no-link" E(ENTRY_DROPPED) Entry None FORMATS,
        "an item without a link",
        "The link of an item is the URL of the sitemap entry. An RSS item without link and an Atom entry without link and href name no page, and crawlers skip them. A link with another rel than alternate, such as self, does not lead to the page.";
    FEED_DATE "feed-date" W(CONTENT_SKIPPED) Entry None FORMATS,
        "a date in the wrong format for the feed",
        "RSS writes dates as RFC 822 does (Sun, 20 Mar 2016 19:10:54 GMT), Atom as RFC 3339 does (2016-03-20T19:10:54Z). sited uses the date as lastmod if it is unambiguous; otherwise the entry has none.";
    FEED_RELATIVE_LINK "feed-relative-link" E(ENTRY_DROPPED) Entry None FORMATS,
        "a relative link",
        "The link of an item must be a complete URL to be a sitemap entry. sited completes it from xml:base or the link of the feed, if there is one; crawlers may not.";
    MRSS_CONTENT "mrss-content" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "media without a video file or a player",
        "Google asks for media:content with medium=\"video\" and a url, or for media:player with one. Without either the item has no video.";
    MRSS_TITLE "mrss-title" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "a video without media:title, or a title of more than 100 characters",
        "Google asks for media:title with at most 100 characters. If it is missing, sited uses the title of the item.";
    MRSS_DESCRIPTION "mrss-description" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "a video without media:description, or one of more than 2,048 characters",
        "Google asks for media:description with at most 2,048 characters. If it is missing, sited uses the description of the item.";
    MRSS_THUMBNAIL "mrss-thumbnail" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "a video without media:thumbnail",
        "Google asks for media:thumbnail with the url of a preview image. Without it the video is not shown.";
    MRSS_PLAYER "mrss-player" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "the player has the URL of the page",
        "media:player must lead to the player itself. Its URL must differ from the item's link.";
    MRSS_RESTRICTION "mrss-restriction" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "a restriction by something other than country",
        "Google reads media:restriction only with type=\"country\" and relationship allow or deny. sited does not import others.";
}
