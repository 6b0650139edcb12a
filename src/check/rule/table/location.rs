//! Rule table: `loc`.
//!
//! Rule catalogue, section 5.2.

use super::rows;

rows! { super::entry::END;
    LOC_NOT_ABSOLUTE "loc-not-absolute" E(ENTRY_DROPPED) Field Ask TAGS,
        "not a complete URL",
        "loc must begin with http:// or https:// and a host. Crawlers do not resolve relative URLs and drop the entry. Write the complete URL.";
    LOC_SCHEME "loc-scheme" E(ENTRY_DROPPED) Field None TAGS,
        "a scheme other than http and https",
        "Sitemaps list pages that a web crawler can fetch, over http or https. Other schemes, such as ftp or mailto, are dropped.";
    LOC_SCHEME_TYPO "loc-scheme-typo" E(ENTRY_DROPPED) Field Ask CONSOLE,
        "a misspelt http:// or https://",
        "The URL begins with something that is almost http:// or https://. Search Console reports an invalid URL, and the entry is dropped.";
    LOC_NO_HOST "loc-no-host" E(ENTRY_DROPPED) Field None RFC3986_AUTHORITY,
        "no host in the URL",
        "The host that must follow http:// or https:// is missing. The entry cannot be fetched and is dropped.";
    LOC_HOST_INVALID "loc-host-invalid" E(ENTRY_DROPPED) Field None RFC3986_AUTHORITY,
        "a host that cannot exist",
        "The host has an empty or overlong label, a character that names cannot have, a broken IP address or a broken port. No crawler can reach it.";
    LOC_HOST_NOT_PUBLIC "loc-host-not-public" W(WRONG_PAGE) Field None PRACTICE,
        "a host that the public cannot reach",
        "Crawlers cannot reach localhost, a single name, .local, .test, a private address or a staging host. Often the sitemap was made on a test machine.";
    LOC_USERINFO "loc-userinfo" W("The page may be read, but a name or password is published with the file.") Field Ask PRACTICE,
        "a user name or password in the URL",
        "What is before the @ is published to everyone who reads the sitemap. Crawlers do not log in. Remove it.";
    LOC_INNER_WHITESPACE "loc-inner-whitespace" E(ENTRY_DROPPED) Field Safe RFC3986,
        "whitespace inside the URL",
        "A URL contains no spaces and no line breaks. A line break is a mistake and can be removed; a space is written %20. Search Console reports an invalid URL.";
    LOC_ILLEGAL_CHAR "loc-illegal-char" E(ENTRY_DROPPED) Field Safe RFC3986,
        "a character that URLs cannot hold",
        "Quotes, angle brackets, braces, backslash, caret, bar, backtick and control characters must be percent-encoded. Browsers accept them, strict readers do not.";
    LOC_BAD_PERCENT "loc-bad-percent" E(ENTRY_DROPPED) Field Ask RFC3986,
        "% without two hexadecimal digits",
        "A percent sign starts an encoded byte and is followed by two hexadecimal digits. A real percent sign is written %25. Schema validators and some servers refuse the URL.";
    LOC_NOT_ASCII "loc-not-ascii" I(HARMLESS) Field Ask ESCAPING,
        "letters beyond ASCII",
        "Such URLs (IRIs, RFC 3987) are allowed, and crawlers fetch their percent-encoded form. Readers that compare URLs as text may treat the two as different pages.";
    LOC_MOJIBAKE "loc-mojibake" W(WRONG_PAGE) Field None PRACTICE,
        "letters that were decoded wrongly",
        "The URL looks like UTF-8 read as Latin-1 and encoded again (%C3%83%C2%A9 for %C3%A9). The intended page probably has another URL. Check it against the site. Bytes of an 8-bit encoding (%E9, %92) are not a sign of that.";
    LOC_TOO_LONG "loc-too-long" E(ENTRY_DROPPED) Field None TAGS,
        "2,048 characters or more",
        "loc must be shorter than 2,048 characters; the schema still accepts exactly 2,048. Crawlers drop longer URLs or cut them off.";
    LOC_TOO_LONG_BY_ONE = LOC_TOO_LONG E(ENTRY_DROPPED) Field None TAGS,
        "2,048 characters, one too many",
        "loc must be shorter than 2,048 characters; sitemap.xsd and the protocol of 2005 still accept exactly 2,048. Crawlers that follow the protocol drop the URL or cut it off.", [(Legacy084, OFF)];
    LOC_TOO_LONG_ENCODED = LOC_TOO_LONG W(ENTRY_DROPPED) Field None TAGS,
        "2,048 characters or more once percent-encoded",
        "As written the URL is short enough, but crawlers fetch its percent-encoded form, and that has 2,048 characters or more. Some drop it or cut it off.";
    LOC_TOO_LONG_YANDEX "loc-too-long-yandex" OFF(ENGINE_LIMIT) Field None YANDEX,
        "over 1,024 characters",
        "Yandex accepts URLs of at most 1,024 characters after percent-decoding, so a Cyrillic letter counts as one. It drops longer ones and reports them.", [(Yandex, W)];
    LOC_TOO_LONG_BAIDU "loc-too-long-baidu" OFF(ENGINE_LIMIT) Field None BAIDU,
        "over 256 bytes",
        "Baidu accepts URLs of at most 256 bytes. It drops longer ones.", [(Baidu, W)];
    LOC_TOO_SHORT "loc-too-short" W("The schema rejects the file, and a URL this short is often incomplete; crawlers accept it.") Field Safe SCHEMA_LOC,
        "fewer than 12 characters",
        "The schema asks for at least 12 characters. Crawlers accept shorter URLs, but a validator rejects the file. If only the final slash is missing, adding it is enough.";
    LOC_MISSING_ROOT_SLASH "loc-missing-root-slash" I(HARMLESS) Field Safe TAGS,
        "a host without a path",
        "The URL of a home page ends in a slash. Without it crawlers fetch the same page, but programs that compare URLs may count it twice.";
    LOC_FRAGMENT "loc-fragment" W(WRONG_PAGE) Field Ask PRACTICE,
        "a fragment after #",
        "Crawlers drop what follows the #, so the entry is the same page as the URL without it. Remove the fragment, or the row.";
    LOC_DEFAULT_PORT "loc-default-port" I(HARMLESS) Field Safe RFC3986_NORMAL,
        "a default port",
        ":80 in http and :443 in https are the defaults. Crawlers leave them out; programs that compare URLs may count the page twice.";
    LOC_DOT_SEGMENTS "loc-dot-segments" W(WRONG_PAGE) Field Safe RFC3986_NORMAL,
        "/./ or /../ in the path",
        "Crawlers resolve such segments before they fetch, so the page has another URL. Write the resolved one.";
    LOC_DOUBLE_SLASH "loc-double-slash" I(WRONG_PAGE) Field None PRACTICE,
        "two slashes in the path",
        "Servers often answer both spellings with the same page, and crawlers count them as two. Usually two parts of the URL were joined carelessly.";
    LOC_UPPERCASE_HOST "loc-uppercase-host" I(HARMLESS) Field Safe RFC3986_NORMAL,
        "capital letters in the scheme or host",
        "Scheme and host are case-insensitive, and lower case is usual. Programs that compare URLs may count the page twice.";
    LOC_SESSION_ID "loc-session-id" W(WRONG_PAGE) Field Ask FAQ,
        "a session identifier in the URL",
        "Session identifiers give one page countless URLs, each of which expires. The FAQ asks to omit them. Remove the parameter.";
    LOC_TRACKING_PARAM "loc-tracking-param" W(WRONG_PAGE) Field Ask PRACTICE,
        "a tracking parameter in the URL",
        "utm_source, gclid and similar parameters track visitors; they do not identify another page. Crawling them distorts the statistics and duplicates the page. Remove the parameter.";
    LOC_PRIVATE "loc-private" W(ANNOUNCED) Field Ask PRACTICE,
        "a URL that is not meant for the public",
        "The URL leads to pages for staff (/wp-admin/), to files that hold secrets (/.env, /.git/), carries a key or password (?api_key=) or is a preview (/preview/, /staging/, ?preview=true). Anyone can read a sitemap. Remove the row or the parameter, and replace a key that was published. If the page is public, ignore the finding.";
    LOC_TEMPLATE_RESIDUE "loc-template-residue" W(WRONG_PAGE) Field None PRACTICE,
        "an unfilled placeholder",
        "The URL contains {{, ${, %s, undefined, null, NaN or [object: a template or script had no value there. The page probably does not exist.";
    LOC_NOT_PAGE "loc-not-page" I(WRONG_PAGE) Field None PRACTICE,
        "a file rather than a page",
        "The name ends like an image, style sheet, script or archive, or is itself a sitemap. Crawlers index pages; images and videos go into extensions of the page that shows them.";
    LOC_FOREIGN_HOST "loc-foreign-host" W(SUBMISSION) Entry Ask LOCATION,
        "another host than the sitemap's",
        "All URLs of a sitemap must have the sitemap's own scheme, host and port. Search Console reports a URL that is not allowed, unless both sites are verified or robots.txt of the other host names this sitemap.", [(Yandex, E), (Legacy084, E)];
    LOC_OUTSIDE_PATH "loc-outside-path" W(SUBMISSION) Entry None LOCATION,
        "outside the sitemap's directory",
        "A sitemap may list only URLs in its own directory and those below, unless robots.txt of the host names it. Move it higher up, ideally at the root. Google lifts the rule for sitemaps submitted in Search Console.", [(Yandex, E), (Legacy084, E)];
}
