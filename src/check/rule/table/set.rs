//! Rule table: all entries of a set together.
//!
//! Rule catalogue, section 6.

use super::rows;

rows! { super::location::END;
    SET_DUPLICATE "set-duplicate" W(DUPLICATE_FETCH) Set Ask GOOGLE_GUIDE,
        "the same URL more than once",
        "Every URL belongs in a sitemap once. Crawlers read it once anyway, but which lastmod counts is undefined, and it takes up space. Keep one row, with the newest lastmod.";
    SET_DUPLICATE_EQUIVALENT "set-duplicate-equivalent" W(DUPLICATE_FETCH) Set Ask RFC3986_NORMAL,
        "the same URL in another spelling",
        "The URLs differ only in what the standard calls equivalent: case of the host, default port, percent-encoding, dot segments, a fragment. Crawlers fetch one page for both.";
    SET_DUPLICATE_NEAR "set-duplicate-near" I(WRONG_PAGE) Set Ask PRACTICE,
        "probably the same page under another URL",
        "The URLs differ only by a trailing slash, http or https, www, an index file, case, or the order of parameters. Servers often answer both with one page. Keep the one the site links to.";
    SET_DUPLICATE_ACROSS_FILES "set-duplicate-across-files" W(DUPLICATE_FETCH) Set Ask PRACTICE,
        "the same URL in several files",
        "The URL is listed in more than one file of the set. Crawlers read it once, but the files contradict each other as soon as one of them changes.";
    SET_MIXED_SCHEME "set-mixed-scheme" W(WRONG_PAGE) Set Ask FAQ,
        "http and https mixed",
        "All URLs of a sitemap should have one scheme. For crawlers http and https are different sites, and one of the two usually redirects to the other.";
    SET_MIXED_WWW "set-mixed-www" W(WRONG_PAGE) Set Ask GOOGLE_GUIDE,
        "with and without www",
        "For crawlers these are different sites, and one of the two usually redirects to the other. Search Console reports a path mismatch.";
    SET_MIXED_HOST "set-mixed-host" W(SUBMISSION) Set Ask LOCATION,
        "several hosts in one file",
        "All URLs of a file must be on its own host. Others are ignored, unless robots.txt of the other host names this sitemap or both sites are verified (use --cross-submission if they are). sited split --by host gives each host a file; the answer delete removes the rows.", [(Yandex, E), (Legacy084, E)];
    SET_MIXED_PORT "set-mixed-port" E(ENTRY_DROPPED) Set Ask LOCATION,
        "several ports in one file",
        "All URLs of a file must have the port that the sitemap itself is served from. For crawlers another port is another site.";
    SET_MIXED_SLASH "set-mixed-slash" I(WRONG_PAGE) Set None PRACTICE,
        "a trailing slash, or none, unlike nearly all other URLs",
        "Fewer than a tenth of the URLs of the same depth end like this one, with or without a slash. Such URLs often redirect. Sections (/news/) above their pages (/news/a) are not counted.";
    SET_LASTMOD_IDENTICAL "set-lastmod-identical" W(DATES_DISTRUSTED) Set Ask BING,
        "every lastmod is the same",
        "Pages do not all change at the same moment: the dates look like the time the file was generated. Bing and Google trust lastmod only while it is accurate, and ignore it otherwise.";
    SET_LASTMOD_GENERATED "set-lastmod-generated" W(DATES_DISTRUSTED) Set Ask BING,
        "most lastmod dates are the time the file was generated",
        "Over four fifths of the dates lie within a day of the file's own, or within a minute of each other. Crawlers recognise such dates as the generator's clock and ignore them.";
    SET_LASTMOD_SPARSE "set-lastmod-sparse" I(HINT) Set None BING,
        "fewer than half of the entries are dated",
        "Crawlers use lastmod to decide what to fetch again; the undated pages wait longer. Date the others where the true date is known.";
    SET_PRIORITY_IDENTICAL "set-priority-identical" I(HINT) Set Ask TAGS,
        "every priority is the same",
        "priority only compares pages of one site with each other. When all are the same it carries no information; omit it or set it where it differs.", [(Google, OFF), (Bing, OFF)];
    SET_PRIORITY_ALL_HIGH "set-priority-all-high" I(HINT) Set None TAGS,
        "over half of the entries have the highest priority",
        "priority is relative: where most pages have 1.0, none stands out. The protocol warns that high values for all pages do not help.", [(Google, OFF), (Bing, OFF)];
    SET_NEWS_MIXED "set-news-mixed" I(HINT) Set Ask GOOGLE_NEWS,
        "news together with ordinary pages",
        "News entries and ordinary ones may share a file. Google suggests a file of its own for news, since its entries come and go within two days. The fix moves the news of this file to files of their own at the next save and lists them in the index; all other entries stay.";
    SET_TOO_MANY_INDEXES "set-too-many-indexes" I("Search Console accepts no further index files, but robots.txt can name them.") Set None GOOGLE_LARGE,
        "over 500 index files",
        "Search Console accepts at most 500 index files per site. robots.txt can name the others.";
}
