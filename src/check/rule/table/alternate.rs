//! Rule table: alternate links, within one entry and between entries.
//!
//! Rule catalogue, section 7, hreflang.

use super::rows;

rows! { super::extension::END;
    HREFLANG_ATTR "hreflang-attr" E(LINK_IGNORED) Entry None GOOGLE_HREFLANG,
        "an alternate link that lacks rel, hreflang or href",
        "An alternate link needs rel=\"alternate\", its language in hreflang and its complete URL in href. Search Console reports a missing or invalid attribute, and the link is ignored.";
    HREFLANG_HREF_RELATIVE "hreflang-href-relative" E(LINK_IGNORED) Entry Ask GOOGLE_HREFLANG,
        "an alternate link without a complete URL",
        "href must be a complete URL with its scheme, also on the same site. Crawlers do not resolve relative URLs and ignore the link.";
    HREFLANG_CODE "hreflang-code" E(LINK_IGNORED) Entry None GOOGLE_HREFLANG,
        "not a language code",
        "hreflang is a language (ISO 639-1), optionally with a script (ISO 15924) and a country (ISO 3166-1), such as de, de-AT or zh-Hant-TW; or it is x-default. A country alone is not valid, nor is a region number such as 419. Google ignores the link.";
    HREFLANG_SEPARATOR "hreflang-separator" E(LINK_IGNORED) Entry Safe GOOGLE_HREFLANG,
        "a language code with a separator other than a hyphen",
        "The parts of a code are joined by hyphens: en-US. Programs often write en_US, which crawlers do not read as a code.";
    HREFLANG_REGION_RESERVED "hreflang-region-reserved" W(LINK_IGNORED) Entry Ask GOOGLE_HREFLANG,
        "a region that is not a country",
        "EU, UN and UK are not country codes, and Google ignores them. The United Kingdom is GB; there is no code for a group of countries.";
    HREFLANG_CASE "hreflang-case" I(HARMLESS) Entry Safe RFC5646,
        "unusual capitals in a language code",
        "Case makes no difference to crawlers. By convention the language is lower case, the script capitalised, the country upper case: zh-Hant-TW.";
    HREFLANG_DUPLICATE "hreflang-duplicate" W(WASTES_SPACE) Entry Ask PRACTICE,
        "the same alternate link twice",
        "The entry names the language more than once, with the same URL. The second one has no effect.";
    HREFLANG_DUPLICATE_DIFFERENT = HREFLANG_DUPLICATE E(AMBIGUOUS) Entry Ask PRACTICE,
        "two alternate links for one language",
        "The entry names the language more than once, with different URLs. A crawler can follow only one of them, and which one is undefined.";
    HREFLANG_SELF_MISSING "hreflang-self-missing" W(RECIPROCAL) Entry Safe GOOGLE_HREFLANG,
        "the page is not among its own alternates",
        "Each language version lists itself and all others. Without a link to itself the language of the page is not known, and the set may be ignored.";
    HREFLANG_SELF_CONFLICT "hreflang-self-conflict" W(WRONG_PAGE) Entry None PRACTICE,
        "the page is listed in two languages",
        "The entry's own URL has two language codes. Different countries of one language may share a page, but usually a URL was copied and not changed.";
    HREFLANG_NO_X_DEFAULT "hreflang-no-x-default" I(HINT) Entry None GOOGLE_HREFLANG,
        "no x-default alternate",
        "Google recommends a link with hreflang=\"x-default\" for readers whose language none of the pages has. It can be one of the language versions.";
    HREFLANG_NO_RETURN "hreflang-no-return" W(RECIPROCAL) Set Ask GOOGLE_HREFLANG,
        "an alternate that does not link back",
        "If two pages do not both point to each other, the link between them is ignored: otherwise anybody could claim to be a translation. Add the link on the other page's entry.";
    HREFLANG_TARGET_MISSING "hreflang-target-missing" I(HINT) Set Ask PRACTICE,
        "an alternate on this site that has no entry",
        "The alternate is on a host of the set, but no entry of the set lists it. Each language version should have an entry of its own with the same links.";
    HREFLANG_SET_DIFFERS "hreflang-set-differs" I(HINT) Set Ask GOOGLE_HREFLANG,
        "language versions that list different alternates",
        "All versions of a page carry the same set of links. Here an alternate of this entry lists others than it does, so some of the links are probably missing.";
}
