//! Rule table: a sitemap index and its children.
//!
//! Rule catalogue, section 8.

use super::rows;

rows! { super::alternate::END;
    INDEX_TOO_MANY "index-too-many" E(OVER_LIMIT) Document Ask INDEX,
        "more than 50,000 sitemaps in one index",
        "One index lists at most 50,000 sitemaps. Crawlers ignore the rest. Saving moves the rest to a second index (sitemap_index-2.xml); submit each. sited split PATH -o DIR splits the whole set again.";
    INDEX_NESTED "index-nested" W(SOME_READERS) Entry Ask CONSOLE,
        "an index inside an index",
        "The protocol does not forbid an index in an index, and some crawlers follow it, as this editor does. Search Console reports nested indexes as an error. The fix lists its sitemaps in its place; until then sited refuses to save a copy of the set.", [(Google, E)];
    INDEX_SELF "index-self" E(SITEMAP_UNREAD) Entry Ask PRACTICE,
        "an index that lists itself",
        "The entry points at the index that it is in. A crawler that follows it loops or reports a nested index. Remove the entry.";
    INDEX_CYCLE "index-cycle" E(SITEMAP_UNREAD) Entry Ask PRACTICE,
        "two indexes that list each other",
        "The entry points at an index that lists this one again. A crawler that follows both loops; most report a nested index and stop. The fix removes the loop and keeps the sitemaps.";
    INDEX_CHILD_DUPLICATE "index-child-duplicate" W(DUPLICATE_FETCH) Entry Safe PRACTICE,
        "the same sitemap twice",
        "The index lists this sitemap more than once. Crawlers fetch it once; the second entry can go.";
    INDEX_CHILD_HOST "index-child-host" E(SITEMAP_UNREAD) Entry Ask INDEX,
        "a sitemap on another host",
        "An index lists sitemaps of its own site: same scheme, host and port. Others are ignored, unless both sites are verified in Search Console.";
    INDEX_CHILD_PATH "index-child-path" W(SOME_READERS) Entry Ask GOOGLE_LARGE,
        "a sitemap outside the index's directory",
        "Google wants the sitemaps in the directory of the index or below. The protocol only asks for the same site. Move the index to the root, or the sitemaps next to the index. The fix writes the URL that follows from the location of the file relative to the index.";
    INDEX_CHILD_MISSING "index-child-missing" E(SITEMAP_UNREAD) Entry Ask CONSOLE,
        "a listed sitemap that cannot be read",
        "No file for this entry was found next to the index, neither by the path of its URL nor by its name, or the file is not a sitemap. If the same is true on the server, Search Console reports that it could not be fetched.";
    INDEX_CHILD_UNLISTED "index-child-unlisted" W("Crawlers that start from the index never see the file's pages, unless it was left over on purpose.") Document Ask PRACTICE,
        "a sitemap beside the index that it does not list",
        "A file in the index's folder is a sitemap, but no entry names it, so crawlers that start from the index never see it. The fix lists it, below the URL of the other sitemaps or a given one, and its pages are read when the set is opened again. Remove the file instead if it is left over from an earlier split.";
    INDEX_CHILD_EMPTY "index-child-empty" W("Search Console reports an empty sitemap; the other sitemaps are not affected.") Entry Ask CONSOLE,
        "a sitemap without entries",
        "The index lists a sitemap that lists nothing. Search Console reports an empty sitemap. Leave it out of the index until it has entries.";
    INDEX_CHILD_INCOMPLETE_URL "index-child-incomplete-url" E(SITEMAP_UNREAD) Entry Ask CONSOLE,
        "not a complete URL of a sitemap",
        "The loc of a sitemap begins with http:// or https:// and a host, like any other. Search Console reports an incomplete URL and does not fetch it.";
    INDEX_EXTRA_CHILD "index-extra-child" W(CONTENT_SKIPPED) Entry Safe SCHEMA_INDEX,
        "changefreq or priority in an index",
        "The entry of an index holds loc and lastmod. changefreq and priority are for pages; crawlers ignore them here, and the schema rejects the file.";
    INDEX_LASTMOD_OLDER "index-lastmod-older" W("Crawlers that rely on the index fetch the file later than they should.") Entry Safe INDEX,
        "the index gives a sitemap an older date than its content has",
        "A page in the sitemap changed after the date that the index gives the file. Crawlers that rely on the index do not fetch the file and miss the change.";
    INDEX_LASTMOD_MEANING "index-lastmod-meaning" I(HINT) Document None INDEX,
        "the dates in the index are those of pages, not of files",
        "lastmod in an index says when the sitemap file changed, not when a page did. Here every date is that of the newest page inside, but some pages have no date. Crawlers may then miss a file in which one of those changed.";
    INDEX_SINGLE "index-single" I(HARMLESS) Document None PRACTICE,
        "an index of one sitemap",
        "An index of a single sitemap works, but is not needed: the sitemap can be submitted itself. Nothing is wrong if it is about to grow.";
}
