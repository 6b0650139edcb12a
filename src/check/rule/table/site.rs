//! Rule table: the pages behind the URLs, as data columns (`--data`, `sited probe`) describe them.

use super::rows;

rows! { super::policy::END;
    SITE_NOT_FOUND "site-not-found" E("Search Console reports the page as not found, and crawlers lose requests on it.") Entry Ask SITE_STATUS,
        "a URL of a missing page",
        "The site answered 404 or 410 (`@status`). Delete the row, or restore the page. `fix --rule site-not-found` deletes such rows.";
    SITE_CLIENT_ERROR "site-client-error" E("Crawlers get no page, so the URL cannot be indexed.") Entry None SITE_STATUS,
        "a URL that the site refuses",
        "The site answered with a status from 400 to 499 other than 404 and 410 (`@status`), such as 401 or 403. Pages behind a login do not belong in a sitemap.";
    SITE_SERVER_ERROR "site-server-error" W("The failure may pass, so the row may be right.") Entry None SITE_STATUS,
        "a URL that causes a server error",
        "The site answered with a status from 500 to 599 (`@status`). Probe again later; if the error persists, repair the page or remove the row.";
    SITE_REDIRECT "site-redirect" E("Search Console reports a page with redirect and does not index this URL.") Entry Ask SITE_STATUS,
        "a URL that redirects to another",
        "The site answered with a redirect (`@status`, `@final`). A sitemap should list the final URL. `fix --rule site-redirect` writes that URL, or deletes the row where the set lists it already.";
    SITE_REDIRECT_LOOP "site-redirect-loop" E("Crawlers get no page, so the URL cannot be indexed.") Entry None SITE_STATUS,
        "a URL that redirects to itself",
        "The redirects of the site lead back to the URL (`@status`, `@final`). Correct the site, or remove the row.";
    SITE_NOINDEX "site-noindex" E("Search Console reports the page as excluded by noindex.") Entry Ask SITE_ROBOTS,
        "a URL whose page is marked noindex",
        "The page has noindex in X-Robots-Tag or in a meta element (`@robots`). A sitemap lists pages to index. `fix --rule site-noindex` deletes such rows.";
    SITE_CANONICAL_ELSEWHERE "site-canonical-elsewhere" E("Search Console reports an alternate page with another canonical URL, and does not index this one.") Entry Ask SITE_CANONICAL,
        "a URL whose page names another canonical URL",
        "The page has another URL in rel=\"canonical\" (`@canonical`). A sitemap lists canonical URLs. `fix --rule site-canonical-elsewhere` writes that URL, or deletes the row where the set lists it already.";
    SITE_BLOCKED_BY_ROBOTS "site-blocked-by-robots" E("Search Console reports the page as blocked by robots.txt.") Entry None RFC9309,
        "a URL that robots.txt forbids",
        "A line of robots.txt forbids Googlebot to fetch the URL. The file is the one next to the set, the one of --robots, or the one that a probe read (`@blocked` is the number of the line). Allow it there, or remove the row.";
    SITE_BLOCKED_FOR_BING = SITE_BLOCKED_BY_ROBOTS W("Bing Webmaster Tools reports the page as blocked by robots.txt; Google reads it.") Entry None RFC9309,
        "a URL that robots.txt forbids to Bingbot",
        "A line of robots.txt forbids Bingbot to fetch the URL; Googlebot may fetch it. Allow it there, or remove the row.", [(Google, OFF), (Bing, E), (Yandex, OFF), (Baidu, OFF)];
    SITE_BLOCKED_FOR_OTHERS = SITE_BLOCKED_BY_ROBOTS W("Google and Bing read the page; crawlers without a group of their own do not.") Entry None RFC9309,
        "a URL that robots.txt forbids to crawlers that it does not name",
        "The group for all crawlers (`User-agent: *`) forbids the URL; Googlebot and Bingbot have groups that allow it. Allow it there if other search engines should read it.", [(Google, OFF), (Bing, OFF)];
    SITE_UNREACHABLE "site-unreachable" W("The network may have failed, so the row may be right.") Entry None SITE_STATUS,
        "a URL that could not be fetched",
        "The site did not answer, or its answer was invalid (`@error`). Probe again later; if the error persists, repair the site or remove the row.";
    SITE_REDIRECT_CHAIN "site-redirect-chain" W("Each redirect costs crawlers a request, and they follow a limited number.") Entry None SITE_STATUS,
        "a URL whose redirects lead to further redirects",
        "More than one redirect leads to the page (`@location` is the first target, `@final` the last). Let each old URL redirect directly to the last one; `fix --rule site-redirect` lists that one.";
    SITE_NOT_A_PAGE "site-not-a-page" I("Search engines find such files through the pages that use them; the row costs a request.") Entry None SITE_FILES,
        "a URL that is not a page",
        "The site answered with an image, a script, an archive or other data (`@type`). A sitemap lists pages; images and videos belong in the extensions of their page's entry.";
    SITE_SOFT_404 "site-soft-404" W("Search Console reports a soft 404 and does not index the page; two signs may still be chance.") Entry None SITE_STATUS,
        "a page that looks like an error page (soft 404)",
        "The site answered 200, and at least two signs suggest that there is no page: words like not found in `@title`, noindex, a canonical URL that is the start page or an error page, a body of less than 512 bytes (`@bytes`). Answer with 404 and remove the row, or restore the page.";
    SITE_SLOW "site-slow" I("Crawlers read fewer pages of a site that answers slowly; one measurement may be chance.") Entry None SITE_BUDGET,
        "a URL that the site answers slowly",
        "The answer began after 1.8 seconds or more (`@ms` of a probe). Probe again later; if it persists, find out what slows the server down.";
    SITE_LASTMOD_OLDER "site-lastmod-older" I("Last-Modified may be the date of a template; if it is right, crawlers miss a change.") Entry Ask GOOGLE_BUILD,
        "lastmod is older than the page",
        "The page changed after lastmod, according to `@modified` (Last-Modified of a probe, or a date of the sources). Dates without a time are compared by days. `fix --rule site-lastmod-older` writes that date.";
    SITE_LASTMOD_NEWER "site-lastmod-newer" I("Last-Modified may lack changes of data; if it is right, crawlers learn not to trust lastmod.") Entry Ask GOOGLE_BUILD,
        "lastmod is newer than the page",
        "lastmod is later than the last change of the page, according to `@modified` (Last-Modified of a probe, or a date of the sources). Dates without a time are compared by days. `fix --rule site-lastmod-newer` writes that date.";
    SITE_HREFLANG_DIFFERS "site-hreflang-differs" W("Google ignores links that are not confirmed by both sides, but the pages are still read.") Entry Ask GOOGLE_HREFLANG,
        "alternates that differ from those of the page",
        "The page has other alternates in its head than the entry (`@hreflang` of a probe). Languages and URLs must match; listing them in one of the two places is enough. `fix --rule site-hreflang-differs` lists what the page has.";
    SITE_NOT_CHECKED "site-not-checked" I("Nothing is known to be wrong; the rules about pages were not applied.") Entry None PRACTICE,
        "a URL without probe data",
        "The tables of --data have a column `@status` but no row for this URL. `sited probe PATH -o FILE --resume` requests the rest; `list --where rule:site-not-checked` lists it.";
    ROBOTS_SITEMAP_MISSING "robots-sitemap-missing" I("Crawlers still find the set if it was submitted to them or another index lists it.") Set None ROBOTS_SITEMAP,
        "robots.txt does not name the set",
        "No Sitemap: line of robots.txt names the index, or the sitemaps of a set without one. Search engines to which the set was not submitted find it through that line only. Write the complete URL: Sitemap: https://example.com/sitemap.xml.";
    ROBOTS_SITEMAP_OTHER "robots-sitemap-other" I("A site may have several sets; a line that names none of them costs crawlers one request.") Set None ROBOTS_SITEMAP,
        "robots.txt names a sitemap that is not in the set",
        "A Sitemap: line of robots.txt names a URL that no file of the set has, or not a complete URL. If it does not belong to another set, correct or remove the line.";
}
