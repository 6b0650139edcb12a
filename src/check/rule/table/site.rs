//! Rule table: the pages behind the URLs, as data columns (`--data`, `sited probe`) describe them.

use super::rows;

rows! { super::policy::END;
    SITE_NOT_FOUND "site-not-found" E("Search Console reports the page as not found, and crawlers lose requests on it.") Entry Ask SITE_STATUS,
        "a URL whose page does not exist",
        "The site answered 404 or 410 (`@status`). Delete the row, or put the page back. `fix --rule site-not-found` deletes such rows.";
    SITE_CLIENT_ERROR "site-client-error" E("Crawlers get no page, so the URL cannot be indexed.") Entry None SITE_STATUS,
        "a URL that the site refuses",
        "The site answered with a status from 400 to 499 other than 404 and 410 (`@status`), such as 401 or 403. Pages behind a login do not belong into a sitemap.";
    SITE_SERVER_ERROR "site-server-error" W("The failure may pass, so the row may be right.") Entry None SITE_STATUS,
        "a URL that the server fails on",
        "The site answered with a status from 500 to 599 (`@status`). Ask again later; if it stays, repair the page or remove the row.";
    SITE_REDIRECT "site-redirect" E("Search Console reports a page with redirect and does not index this URL.") Entry Ask SITE_STATUS,
        "a URL that redirects to another",
        "The site answered with a redirect (`@status`, `@final`). A sitemap lists the URL at the end of it. `fix --rule site-redirect` writes that URL, or deletes the row where the set lists it already.";
    SITE_REDIRECT_LOOP "site-redirect-loop" E("Crawlers get no page, so the URL cannot be indexed.") Entry None SITE_STATUS,
        "a URL that redirects to itself",
        "The redirects of the site lead back to the URL (`@status`, `@final`). Correct the site, or remove the row.";
    SITE_NOINDEX "site-noindex" E("Search Console reports the page as excluded by noindex.") Entry Ask SITE_ROBOTS,
        "a URL whose page excludes itself from search",
        "The page has noindex in X-Robots-Tag or in a meta element (`@robots`). A sitemap lists pages to index. `fix --rule site-noindex` deletes such rows.";
    SITE_CANONICAL_ELSEWHERE "site-canonical-elsewhere" E("Search Console reports an alternate page with another canonical URL, and does not index this one.") Entry Ask SITE_CANONICAL,
        "a URL whose page names another canonical URL",
        "The page has another URL in rel=\"canonical\" (`@canonical`). A sitemap lists canonical URLs. `fix --rule site-canonical-elsewhere` writes that URL, or deletes the row where the set lists it already.";
    SITE_BLOCKED_BY_ROBOTS "site-blocked-by-robots" E("Search Console reports the page as blocked by robots.txt.") Entry None RFC9309,
        "a URL that robots.txt forbids",
        "A line of robots.txt forbids Googlebot to fetch the URL: of the file beside the set or of --robots, or of the site (`@blocked` of a probe is the number of the line). Allow it there, or remove the row.";
    SITE_BLOCKED_FOR_BING = SITE_BLOCKED_BY_ROBOTS W("Bing Webmaster Tools reports the page as blocked by robots.txt; Google reads it.") Entry None RFC9309,
        "a URL that robots.txt forbids to Bingbot",
        "A line of robots.txt forbids Bingbot to fetch the URL, and Googlebot may. Allow it there, or remove the row.", [(Google, OFF), (Bing, E), (Yandex, OFF), (Baidu, OFF)];
    SITE_BLOCKED_FOR_OTHERS = SITE_BLOCKED_BY_ROBOTS W("Google and Bing read the page; crawlers without a group of their own do not.") Entry None RFC9309,
        "a URL that robots.txt forbids to crawlers that it does not name",
        "The group for all crawlers (`User-agent: *`) forbids the URL; Googlebot and Bingbot have groups that allow it. Allow it there if other search engines shall read it.", [(Google, OFF), (Bing, OFF)];
    SITE_UNREACHABLE "site-unreachable" W("The failure may be the network's, so the row may be right.") Entry None SITE_STATUS,
        "a URL that could not be fetched",
        "There was no answer, or none that makes sense (`@error`). Ask again later; if it stays, repair the site or remove the row.";
    ROBOTS_SITEMAP_MISSING "robots-sitemap-missing" I("Crawlers find the set all the same where it was submitted to them, or another index lists it.") Set None ROBOTS_SITEMAP,
        "robots.txt does not name the set",
        "No Sitemap: line of robots.txt names the index, or the sitemaps of a set without one. Search engines to which the set was not submitted find it through that line only. Write the complete URL: Sitemap: https://example.com/sitemap.xml.";
    ROBOTS_SITEMAP_OTHER "robots-sitemap-other" I("A site may have several sets; a line that names none of them costs crawlers one request.") Set None ROBOTS_SITEMAP,
        "robots.txt names a sitemap that is not in the set",
        "A Sitemap: line of robots.txt names a URL that no file of the set has, or no complete URL. It may be of another set; if not, correct the line or remove it.";
}
