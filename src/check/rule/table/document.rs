//! Rule table: one file, its namespace, its size, and content outside of its entries.
//!
//! Rule catalogue, section 4.

use super::rows;

rows! { 0;
    DOC_NO_ENTRIES "doc-no-entries" W("Search Console reports an empty sitemap, but nothing is lost.") Document None SCHEMA_URLSET,
        "the file lists nothing",
        "A sitemap without entries has no effect. Search Console reports it as an empty sitemap, and the schema asks for at least one entry. Add URLs, or leave the file out of the index.";
    DOC_NO_ENTRIES_NEWS = DOC_NO_ENTRIES I(HARMLESS) Document None SCHEMA_URLSET,
        "the news file lists nothing",
        "A news sitemap lists what was published in the last two days, so it may well be empty. Google says that this is fine.";
    DOC_UNKNOWN_ELEMENT "doc-unknown-element" W(CONTENT_SKIPPED) Entry Ask SCHEMA,
        "an unknown element in the sitemap namespace",
        "An entry holds loc, lastmod, changefreq and priority; anything else needs a namespace of its own. Crawlers skip the element, the schema rejects the file.";
    DOC_UNKNOWN_ATTRIBUTE "doc-unknown-attribute" W(CONTENT_SKIPPED) Entry Ask SCHEMA,
        "an unknown attribute on an element of the protocol",
        "The elements of the protocol carry no attributes of their own. Crawlers ignore the attribute, the schema rejects the file.";
    DOC_STRAY_TEXT "doc-stray-text" W(CONTENT_SKIPPED) Document Ask SCHEMA,
        "text between the elements",
        "urlset, url and sitemap contain elements only; text belongs in loc and the other fields. Often it is left over from a tag that was lost. Crawlers ignore it, the schema rejects the file.";
    NS_MISSING "ns-missing" E(NAMESPACE) Document Safe FORMAT,
        "the root element declares no namespace",
        "The root element must declare xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\". Without it the elements are not those of the protocol, and Search Console reports an incorrect namespace.";
    NS_ENTRY_MISSING "ns-entry-missing" E(STOPS_READERS) Document Safe NAMESPACES,
        "an entry or a field in no namespace",
        "Below a root with a prefix (ns0:urlset) that declares no xmlns, or with xmlns=\"\", a name without a prefix is in no namespace and is not the protocol's url or loc. Readers that know namespaces find no entries. The fix declares the namespace on the root, or removes xmlns=\"\".";
    NS_ATTR_TYPO "ns-attr-typo" E(NAMESPACE) Document Safe FORMAT,
        "the namespace is given in a misspelt attribute",
        "The root element names the sitemap namespace, but not in xmlns, so no namespace is declared. The earliest documents of 2005 already write ns= for it. Search Console reports an incorrect namespace.";
    NS_VARIANT "ns-variant" E(NAMESPACE) Document Safe CONSOLE,
        "the namespace is almost the protocol's",
        "Namespaces are compared letter by letter: https, a trailing slash or a missing www makes a different one. Only http://www.sitemaps.org/schemas/sitemap/0.9 is right. Search Console reports an incorrect namespace.";
    NS_LEGACY_084 "ns-legacy-084" W(SOME_READERS) Document Safe SCHEMA_084,
        "the namespace of Google's protocol of 2005",
        "Before sitemaps.org there was http://www.google.com/schemas/sitemap/0.84. Crawlers still read it, but do not promise to. The elements are the same in 0.9.", [(Legacy084, OFF)];
    NS_WRONG "ns-wrong" E(NAMESPACE) Document Ask CONSOLE,
        "the namespace is not a sitemap's",
        "The root element is in a namespace that has nothing to do with sitemaps. It must be http://www.sitemaps.org/schemas/sitemap/0.9. Search Console reports an incorrect namespace.";
    FILE_TOO_MANY_URLS "file-too-many-urls" E(OVER_LIMIT) Document Safe INDEX,
        "more than 50,000 URLs in one file",
        "One file lists at most 50,000 URLs. Crawlers refuse the file or ignore the rest. Saving splits it and keeps an index of the parts.";
    FILE_TOO_LARGE "file-too-large" E(OVER_LIMIT) Document Safe INDEX,
        "larger than 52,428,800 bytes uncompressed",
        "One file has at most 52,428,800 bytes (50 MiB) before compression. Crawlers refuse the file or cut it off. Saving splits it and keeps an index of the parts.";
    FILE_NEAR_LIMIT "file-near-limit" I(HARMLESS) Document None PRACTICE,
        "a file close to its size limit",
        "The file has over 90 % of the allowed bytes, or it is the last file of its set and has over 90 % of the allowed URLs: the next ones may need another file. Generators fill all files but the last, so those may be full. Nothing is wrong yet. Saving splits the file when it exceeds a limit.";
}
