//! Rule table: image, video, news and obsolete extensions.
//!
//! Rule catalogue, section 7; alternate links have a module of their own.

use super::rows;

rows! { super::set::END;
    EXT_OUTSIDE_URL "ext-outside-url" E(EXTENSION_LOST) Entry None GOOGLE_COMBINE,
        "an extension outside of an entry",
        "Images, videos, news and alternate links belong to a page and are placed inside its url. Elsewhere they belong to no page, and crawlers skip them.";
    EXT_MISPLACED "ext-misplaced" E(EXTENSION_LOST) Entry None GOOGLE_COMBINE,
        "an element of an extension at the wrong depth",
        "Each element of an extension has its place: image:loc inside image:image, news:name inside news:publication. Elsewhere crawlers do not find it, and the schema rejects the file.";
    EXT_DUPLICATE_CHILD "ext-duplicate-child" E(AMBIGUOUS) Entry Ask CONSOLE,
        "the same element twice in an extension",
        "The element may occur once in its parent. Search Console reports too many tags, and which of the two counts is undefined. Keep one.";
    EXT_CHILD_ORDER "ext-child-order" I(SCHEMA_ONLY) Entry Safe SCHEMA_EXTENSIONS,
        "elements of an extension out of order",
        "The schemas fix the order of the elements in each extension. Google takes any order. A strict validator rejects the file.";
    EXT_UNKNOWN_CHILD "ext-unknown-child" W(CONTENT_SKIPPED) Entry Ask SCHEMA_EXTENSIONS,
        "an unknown element in an extension",
        "The extension has no element of that name, or it is in another namespace than its parent. Crawlers skip it, and the schema rejects the file. Often a prefix or a letter is missing.";
    EXT_UNKNOWN_ATTRIBUTE "ext-unknown-attribute" W(CONTENT_SKIPPED) Entry Ask SCHEMA_EXTENSIONS,
        "an unknown attribute in an extension",
        "The element has no attribute of that name. Crawlers ignore it, and the schema rejects the file.";
    EXT_OBSOLETE "ext-obsolete" W(WASTES_SPACE) Entry Ask GOOGLE_COMBINE,
        "an extension that is not supported any more",
        "Mobile, geo and code search sitemaps are gone from Google's documentation, and no other crawler reads them. They only take up space.";
    EXT_OBSOLETE_PAGEMAP = EXT_OBSOLETE I(WASTES_SPACE) Entry Ask GOOGLE_COMBINE,
        "a PageMap, which only custom search engines read",
        "PageMaps fed Google's Programmable Search Engine; web search never used them. They do no harm. Remove them if no such engine searches the site.";

    IMAGE_LOC_MISSING "image-loc-missing" E(EXTENSION_LOST) Entry None GOOGLE_IMAGE,
        "an image without its URL",
        "image:loc says where the image is, and an image:image without it has no effect. Search Console reports a missing tag. Add the URL, or remove the image.";
    IMAGE_LIMIT "image-limit" E(OVER_LIMIT) Entry Ask GOOGLE_IMAGE,
        "more than 1,000 images in one entry",
        "Google reads up to 1,000 images of a page. The others are ignored. Keep those that matter.";
    IMAGE_DEPRECATED "image-deprecated" I(WASTES_SPACE) Entry Ask GOOGLE_CLEANING,
        "an image element without effect since August 2022",
        "Google has ignored image:caption, image:geo_location, image:title and image:license since August 2022. They do no harm, but they make the file larger.";
    IMAGE_FOREIGN_HOST "image-foreign-host" I(HARMLESS) Entry None GOOGLE_IMAGE,
        "an image on another host than the page",
        "Images may be on another host, such as a CDN. Verify both sites in Search Console, so that Google can report errors of the images.";
    IMAGE_DUPLICATE "image-duplicate" W(WASTES_SPACE) Entry Ask PRACTICE,
        "the same image twice in one entry",
        "The entry lists the image more than once. The duplicates have no effect, count against the limit and take up space.";

    VIDEO_REQUIRED "video-required" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "a video without thumbnail, title or description",
        "Every video needs video:thumbnail_loc, video:title and video:description, none of them empty. Search Console reports the missing tag, and the video is not indexed.";
    VIDEO_LOCATION_MISSING "video-location-missing" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "a video without a file or player URL",
        "Every video needs video:content_loc, the file, or video:player_loc, a player. Without either Google cannot find the video and does not index it.";
    VIDEO_LOC_SAME "video-loc-same" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "the video has the URL of its page",
        "video:content_loc and video:player_loc point at the file or the player, never at the page itself. Search Console reports that they are the same, and the video is not indexed.";
    VIDEO_URL_SCHEME "video-url-scheme" E(EXTENSION_LOST) Entry None GOOGLE_VIDEO,
        "a video URL that is not http, https or ftp",
        "Google fetches videos, players and thumbnails over http, https and ftp. What cannot be fetched is not indexed.";
    VIDEO_CONTENT_FORMAT "video-content-format" W(CONTENT_SKIPPED) Entry None GOOGLE_VIDEO,
        "a page or a player instead of a video file",
        "video:content_loc is the URL of the file itself, such as an .mp4. Pages, scripts and Flash players are not; Search Console reports that it appears to be a play page. Use video:player_loc for a player.";
    VIDEO_TITLE_LENGTH "video-title-length" W(CONTENT_SKIPPED) Entry None SCHEMA_VIDEO,
        "a video title of over 100 characters",
        "The schema allows 100 characters in video:title. Google's page no longer names a limit; long titles are cut off in results.";
    VIDEO_DESCRIPTION_LENGTH "video-description-length" E(OVER_LIMIT) Entry None GOOGLE_VIDEO,
        "a video description of over 2,048 characters",
        "video:description has at most 2,048 characters. Google cuts longer ones off or ignores the video, and the schema rejects the file.";
    VIDEO_DURATION "video-duration" E(TAG_REJECTED) Entry None GOOGLE_VIDEO,
        "not a duration of 1 to 28,800 seconds",
        "video:duration is the length in whole seconds, from 1 to 28800 (eight hours). Search Console reports an invalid tag value.";
    VIDEO_RATING "video-rating" E(TAG_REJECTED) Entry None GOOGLE_VIDEO,
        "not a rating from 0.0 to 5.0",
        "video:rating is a decimal number from 0.0 to 5.0, with a point. Search Console reports an invalid tag value.";
    VIDEO_VIEW_COUNT "video-view-count" E(TAG_REJECTED) Entry None SCHEMA_VIDEO,
        "not a number of views",
        "video:view_count is a whole number, without separators. Search Console reports an invalid tag value.";
    VIDEO_DATE "video-date" E(TAG_REJECTED) Entry Safe GOOGLE_VIDEO,
        "not a complete date, or a time without seconds or zone",
        "Dates of videos are YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or +hh:mm. Search Console reports an invalid date.";
    VIDEO_EXPIRED "video-expired" W(CONTENT_SKIPPED) Entry Ask GOOGLE_VIDEO,
        "a video that has expired",
        "video:expiration_date is past. Google does not show the video any more. Remove it, or correct the date.";
    VIDEO_YES_NO "video-yes-no" E(TAG_REJECTED) Entry Safe GOOGLE_VIDEO,
        "a value other than yes or no",
        "family_friendly, requires_subscription and live are yes or no, in lower case, upper case or capitalised. Search Console reports an invalid tag value.";
    VIDEO_RELATIONSHIP "video-relationship" E(TAG_REJECTED) Entry None GOOGLE_VIDEO,
        "a restriction without relationship allow or deny",
        "video:restriction and video:platform need relationship=\"allow\" or relationship=\"deny\": the list alone does not say which of the two is meant. Search Console reports a missing attribute.";
    VIDEO_COUNTRY "video-country" E(TAG_REJECTED) Entry Safe GOOGLE_VIDEO,
        "not a list of countries",
        "video:restriction lists countries by two capital letters (ISO 3166-1), separated by spaces: DE AT CH. The United Kingdom is GB. Google ignores what it does not know.";
    VIDEO_PLATFORM "video-platform" E(TAG_REJECTED) Entry None GOOGLE_VIDEO,
        "not a list of platforms",
        "video:platform lists web, mobile and tv, separated by spaces. Google ignores what it does not know.";
    VIDEO_TAG_LIMIT "video-tag-limit" E(OVER_LIMIT) Entry Ask GOOGLE_VIDEO,
        "more than 32 tags for one video",
        "A video has at most 32 tags. Google ignores the others, and the schema rejects the file. Keep those that matter.";
    VIDEO_UPLOADER "video-uploader" E(TAG_REJECTED) Entry None GOOGLE_VIDEO,
        "an uploader of over 255 characters, or described on another site",
        "video:uploader has at most 255 characters. The page in its info attribute must be in the domain of the entry's loc.";
    VIDEO_DEPRECATED "video-deprecated" I(WASTES_SPACE) Entry Ask GOOGLE_CLEANING,
        "a video element without effect since August 2022",
        "Google has ignored category, gallery_loc, price, tvshow and the allow_embed and autoplay attributes since August 2022. They do no harm, but they make the file larger.";
    VIDEO_PRICE "video-price" W(SCHEMA_OPTIONAL) Entry None SCHEMA_VIDEO,
        "a price that the schema rejects",
        "A price is a decimal number with a currency of three capitals, or is empty with type purchase or rent. Google has ignored prices since August 2022; the schema rejects the file.";
    VIDEO_TVSHOW "video-tvshow" W(SCHEMA_OPTIONAL) Entry None SCHEMA_VIDEO,
        "a show that the schema rejects",
        "A show needs show_title and a video_type of full, preview, clip, interview, news or other; seasons and episodes count from 1. Google has ignored shows since August 2022; the schema rejects the file.";
    VIDEO_ID_TYPE "video-id-type" W(SCHEMA_OPTIONAL) Entry None SCHEMA_VIDEO,
        "an identifier without a valid type",
        "video:id needs type tms:series, tms:program, rovi:series, rovi:program, freebase or url. The schema rejects the file; Google no longer documents the element.";
    VIDEO_CATEGORY_LENGTH "video-category-length" W(SCHEMA_OPTIONAL) Entry None SCHEMA_VIDEO,
        "a video category of over 256 characters",
        "The schema allows 256 characters in video:category. Google has ignored categories since August 2022.";

    NEWS_REQUIRED "news-required" E(EXTENSION_LOST) Entry None GOOGLE_NEWS,
        "news without publication, language, date or title",
        "Every news entry needs the publication with its name and language, the publication date and the title, none of them empty. Search Console reports the missing tag.";
    NEWS_DUPLICATE "news-duplicate" E(EXTENSION_LOST) Entry Ask GOOGLE_NEWS,
        "two news blocks in one entry",
        "One entry is one article and has one news:news. Search Console reports too many tags. Keep one, and give the other article an entry of its own.";
    NEWS_LIMIT "news-limit" E(OVER_LIMIT) Set Safe GOOGLE_NEWS,
        "more than 1,000 news entries in one file",
        "Google reads up to 1,000 news:news of a file. Search Console reports too many news URLs. Articles older than two days can be removed; saving a change moves the rest into further files.";
    NEWS_NAME "news-name" W(CONTENT_SKIPPED) Entry Ask GOOGLE_NEWS,
        "a publication name with text in parentheses",
        "news:name is the name as it is on news.google.com, without anything in parentheses: The Example Times, not The Example Times (subscription).";
    NEWS_LANGUAGE "news-language" E(TAG_REJECTED) Entry Safe GOOGLE_NEWS,
        "not a language as news sitemaps write it",
        "news:language is a code of two or three lower-case letters (ISO 639), without a region; Chinese is zh-cn or zh-tw, and not zh. Search Console reports an invalid tag value, and the schema rejects the file.";
    NEWS_LANGUAGE_UNKNOWN "news-language-unknown" W(CONTENT_SKIPPED) Entry None GOOGLE_NEWS,
        "a language that ISO 639 has not assigned",
        "The code has the right form, but it is not a language of ISO 639-1 or 639-2. Probably a letter is wrong, or it is a country code.";
    NEWS_DATE "news-date" E(TAG_REJECTED) Entry Safe GOOGLE_NEWS,
        "not a W3C date",
        "news:publication_date is a complete date, or a time with its zone; seconds may be missing here. Search Console reports an invalid date.";
    NEWS_STALE "news-stale" W(CONTENT_SKIPPED) Entry Ask GOOGLE_NEWS,
        "news older than two days",
        "A news sitemap lists what was published in the last two days. Google stops reading older articles as news; they stay in its index. Remove the news block, or the entry from this file.";
    NEWS_FUTURE "news-future" W(CONTENT_SKIPPED) Entry None PRACTICE,
        "news from the future",
        "The article's publication time is in the future, or its date is more than a day ahead (time zones differ). Usually the zone or the clock is wrong. Readers may ignore the article.";
    NEWS_DEPRECATED "news-deprecated" I(WASTES_SPACE) Entry Ask GOOGLE_NEWS,
        "a news element that Google no longer documents",
        "access, genres, keywords and stock_tickers are in the schema, but gone from Google's documentation. They do no harm, but they make the file larger.";
    NEWS_GENRES "news-genres" W(SCHEMA_OPTIONAL) Entry None SCHEMA_NEWS,
        "a genre that is not in the schema",
        "Genres are PressRelease, Satire, Blog, OpEd, Opinion and UserGenerated, separated by commas. The schema rejects the file; Google no longer documents the element.";
    NEWS_ACCESS "news-access" W(SCHEMA_OPTIONAL) Entry None SCHEMA_NEWS,
        "neither Subscription nor Registration",
        "news:access is Subscription or Registration, or is left out. The schema rejects the file; Google no longer documents the element.";
    NEWS_TICKERS "news-tickers" W(SCHEMA_OPTIONAL) Entry None SCHEMA_NEWS,
        "not a list of stock tickers",
        "news:stock_tickers has up to five tickers as EXCHANGE:TICKER, separated by commas. The schema rejects the file; Google no longer documents the element.";

    MOBILE_NOT_EMPTY "mobile-not-empty" E(TAG_REJECTED) Entry Ask SCHEMA_MOBILE,
        "something inside mobile:mobile",
        "mobile:mobile is an empty element. The schema rejects the file. Google no longer supports the extension at all.";
    GEO_FORMAT "geo-format" E(TAG_REJECTED) Entry None SCHEMA_GEO,
        "a geo entry without a known format",
        "geo:geo says in geo:format what the URL is: kml, kmz or georss. The schema rejects the file. Google no longer supports the extension at all.";
    CODE_FILETYPE_MISSING "code-filetype-missing" E(TAG_REJECTED) Entry None GOOGLE_CODE,
        "code without a file type",
        "codesearch:filetype names the language of the file, or archive, in one word of printable ASCII. Google's code search, which asked for it, is closed.";
    CODE_PACKAGEMAP_NOT_ARCHIVE "code-packagemap-not-archive" E(TAG_REJECTED) Entry Ask GOOGLE_CODE,
        "a package map for a file that is not an archive",
        "codesearch:packagemap describes the content of an archive, so the file type must be archive. Google's code search, which asked for it, is closed.";
    PAGEMAP_STRUCTURE "pagemap-structure" E(TAG_REJECTED) Entry None SCHEMA_PAGEMAP,
        "a PageMap that the schema rejects",
        "A Template needs src, a DataObject needs type, and an Attribute needs name and a value: either in its value attribute or as its text, never both. The schema rejects anything else.";
}
