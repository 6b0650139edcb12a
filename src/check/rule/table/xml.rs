//! Rule table: how a file is stored: well-formed XML, encoding, compression and file type.
//!
//! Rule catalogue, sections 4 and 11. Most are found while a file is read and kept as [`crate::document::quirk`]s.

use super::rows;

rows! { super::document::END;
    XML_NOT_WELL_FORMED "xml-not-well-formed" E(STOPS_READERS) Document Ask XML,
        "the XML is not well-formed",
        "Tags that do not match or markup that does not end make most readers stop there and lose the rest. sited repaired the file in memory and shows every entry; a save writes the repairs.";
    MERGE_CONFLICT "merge-conflict" E(STOPS_READERS) Document Ask GIT,
        "an unresolved merge conflict",
        "Git left both sides of a conflict in the file, between lines of <<<<<<<, ======= and >>>>>>>. No reader accepts such a file. The fix asks for each conflict whether to keep ours, theirs or the entries of both (each URL once), and changes the file when all are answered. On the command line, --answer both answers all conflicts, and --answer ours,theirs,both answers them one by one.";
    XML_UNESCAPED_AMPERSAND "xml-unescaped-ampersand" E(STOPS_READERS) Document Safe ESCAPING,
        "a raw & that should be &amp;",
        "In XML an ampersand is written &amp;, in URLs too. Most readers stop at the first raw one, some quietly cut the URL. sited reads the URL as it was meant; a save writes it escaped.";
    XML_UNESCAPED_ANGLE "xml-unescaped-angle" E(STOPS_READERS) Document Safe ESCAPING,
        "a raw < inside a value",
        "In XML a < inside a value is written &lt;. Readers stop there or cut the value. sited reads it as text; a save writes it escaped.";
    XML_UNKNOWN_ENTITY "xml-unknown-entity" E(STOPS_READERS) Document Safe XML,
        "a named reference that XML does not know",
        "XML knows amp, lt, gt, apos and quot; names such as &eacute; belong to HTML, and readers stop at them. sited reads HTML names as their character and keeps others as text. If a DOCTYPE may declare the name, the rule is xml-dtd-entity instead.";
    XML_DTD_ENTITY "xml-dtd-entity" W(SOME_READERS) Document Ask XML,
        "a reference to an entity of a DTD",
        "The DOCTYPE declares this entity, or names a DTD outside of the file that may declare it, so the XML is well-formed (XML 1.0, 4.1, Entity Declared). Crawlers read no DTD, and neither does sited, so the value is unknown: HTML names are read as their character, others stay text. Write the characters themselves.";
    XML_DOUBLE_ESCAPED "xml-double-escaped" W(WRONG_PAGE) Field Ask PRACTICE,
        "the value is escaped twice",
        "After decoding, the value still contains &amp; or another reference: it was escaped once too often. Crawlers request a URL with amp; in it, which is probably another page, and show it in titles.";
    XML_ILLEGAL_CHAR "xml-illegal-char" E(STOPS_READERS) Document Safe XML,
        "a character that XML cannot hold",
        "XML 1.0 allows no control characters except tab and line breaks, not even as references. Readers stop there. sited percent-encodes it in a URL and drops it elsewhere; a reference to a number that is not a character stays as text, since a URL without it would be another page.";
    XML_DUPLICATE_ATTRIBUTE "xml-duplicate-attribute" E(STOPS_READERS) Document Safe XML,
        "a duplicate attribute in a tag",
        "A tag may have each attribute once; readers stop at the second. sited keeps the first.";
    XML_BAD_COMMENT "xml-bad-comment" E(STOPS_READERS) Document Safe XML,
        "-- inside a comment",
        "Two hyphens may only end a comment. Strict readers stop there and lose the rest of the file.";
    XML_UNDECLARED_PREFIX "xml-undeclared-prefix" E(STOPS_READERS) Document Safe NAMESPACES,
        "a prefix that is not declared",
        "Elements such as image:image need xmlns:image on the root. Without it readers refuse the file. sited declares the usual namespace of a known prefix; the meaning of another prefix is unknown.";
    XML_DOCTYPE "xml-doctype" W(SOME_READERS) Document Safe PRACTICE,
        "a DOCTYPE declaration",
        "A sitemap has no DOCTYPE. Several crawlers refuse files with one, because entities in it are a known attack. sited expands and fetches nothing in it.";
    XML_ENTITY_DECLARATION "xml-entity-declaration" E(STOPS_READERS) Document None PRACTICE,
        "the DOCTYPE declares entities",
        "Entities of a DOCTYPE can expand without bound or read other files, so careful crawlers refuse the file. sited never expands them: references to them stay text.";
    XML_DECLARATION_MISSING "xml-declaration-missing" I(HARMLESS) Document Safe FORMAT,
        "no XML declaration",
        "The protocol's samples begin with <?xml version=\"1.0\" encoding=\"UTF-8\"?>. Without it UTF-8 is assumed, which is right for a sitemap.";
    XML_VERSION "xml-version" W(SOME_READERS) Document Safe XML,
        "an XML version other than 1.0",
        "A sitemap is XML 1.0; many readers know no other version and refuse the file. A sitemap needs nothing of a later version.";
    XML_LEADING_WHITESPACE "xml-leading-whitespace" E(STOPS_READERS) Document Safe CONSOLE,
        "whitespace before the XML declaration",
        "The XML declaration must be the very first thing in a file. Search Console reports leading whitespace; many readers refuse the file.";
    XML_LEADING_JUNK "xml-leading-junk" E(STOPS_READERS) Document Safe PRACTICE,
        "content before the document",
        "Text before the root, such as a PHP notice or HTTP headers, makes readers refuse the file or read it as a list of URLs. sited omits it.";
    XML_TRAILING_JUNK "xml-trailing-junk" E(STOPS_READERS) Document Ask XML,
        "content after the document",
        "Only comments may follow the root's end tag. Most readers refuse the file. sited omits the rest.";
    XML_CONCATENATED "xml-concatenated" E(STOPS_READERS) Document Ask PRACTICE,
        "several documents in one file",
        "A second XML declaration or root follows the first. Readers see only the first document at best. sited shows the entries of all documents.";
    XML_TRUNCATED "xml-truncated" E(STOPS_READERS) Document Ask PRACTICE,
        "the file is cut off",
        "The file ends inside an element, as after a broken transfer. sited shows the complete entries and omits the one that was cut, because half a URL is another page.";
    ENC_NOT_UTF8 "enc-not-utf8" E(REFUSED) Document Safe FORMAT,
        "not encoded in UTF-8",
        "A sitemap must be UTF-8. Readers damage letters outside ASCII or refuse the file. sited decoded it; a save writes UTF-8.";
    ENC_MISMATCH "enc-mismatch" W(SOME_READERS) Document Safe PRACTICE,
        "the declared encoding is not the one used",
        "Byte order mark, declaration and bytes disagree. The byte order mark counts most, then the declaration; but valid UTF-8 with letters outside ASCII is UTF-8, whatever 8-bit encoding is declared.";
    ENC_INVALID_BYTES "enc-invalid-bytes" E(REFUSED) Document Ask FORMAT,
        "bytes that the encoding does not have",
        "Some bytes are not valid in the file's encoding; sited reads them as windows-1252, the most common cause. Check the rows with letters outside ASCII before saving.";
    ENC_UNKNOWN_LABEL "enc-unknown-label" E(REFUSED) Document Safe XML,
        "the declaration names an unknown encoding",
        "Names such as utf8mb4, utf8- or unicode are not registered encodings. An XML processor that cannot process the declared encoding must stop (XML 1.0, 4.3.3: a fatal error); some parsers guess what was meant, others refuse the file. sited read it as UTF-8; a save declares that.";
    ENC_BOM "enc-bom" I(HARMLESS) Document Safe YANDEX,
        "a byte order mark",
        "UTF-8 needs no byte order mark. Crawlers accept it, but some tools fail on it.";
    ENC_BOM_OTHER "enc-bom-other" E(REFUSED) Document Safe FORMAT,
        "a byte order mark of UTF-16 or UTF-32",
        "A sitemap must be UTF-8. Several crawlers read the file as text. sited decoded it; a save writes UTF-8.";
    DOC_ROOT_UNKNOWN "doc-root-unknown" E(NO_SITEMAP) Document None CONSOLE,
        "not a sitemap",
        "The root is not urlset, sitemapindex, rss or feed, so no crawler reads the file as a sitemap. Search Console reports an unsupported format.";
    DOC_ROOT_CASE "doc-root-case" E(NO_SITEMAP) Document Safe XML,
        "names in capital letters",
        "XML names are case-sensitive: urlset, url and loc are lower case. Readers find no entries in the file. A save writes them in lower case.";
    DOC_HTML "doc-html" E(NO_SITEMAP) Document None CONSOLE,
        "an HTML page instead of a sitemap",
        "The file is an HTML page: an error page, a login page, or a sitemap as a browser shows it through a style sheet. Fetch the sitemap itself.";
    DOC_EMPTY "doc-empty" E(NO_SITEMAP) Document None CONSOLE,
        "an empty file",
        "The file has no bytes, or nothing but whitespace. Search Console reports an error.";
    DOC_MIXED_KINDS "doc-mixed-kinds" E(ENTRY_DROPPED) Entry Ask SCHEMA_URLSET,
        "entries of another kind of file",
        "A urlset lists url elements, a sitemapindex lists sitemap elements. Crawlers skip the other kind or drop the file. Move them to a file of their own.";
    DOC_FOREIGN_ELEMENT "doc-foreign-element" I(HARMLESS) Entry None SCHEMA,
        "an element of an unknown namespace",
        "Other namespaces may extend an entry; crawlers skip elements that they do not know. sited keeps the element unchanged.";
    DOC_ENTRY_OUTSIDE_ROOT "doc-entry-outside-root" E(STOPS_READERS) Document Ask SCHEMA,
        "a loc in no entry, or an entry inside another one",
        "A loc belongs in a url (or sitemap), and that directly below the root. Crawlers skip entries in other places, and some lose all entries after them. sited made it an entry of its own.";
    NS_PREFIX "ns-prefix" I(HARMLESS) Document None NAMESPACES,
        "the protocol's elements carry a prefix",
        "A prefix such as sm:urlset is legal and means the same. Some simple readers find no entries in the file.";
    NS_EXT_VARIANT "ns-ext-variant" E("Crawlers ignore the whole extension in every entry.") Document Safe CONSOLE,
        "an extension's namespace is almost right",
        "Namespaces are compared letter by letter: https, another version or another path makes a different one. Crawlers then ignore the extension.";
    NS_DECLARED_UNUSED "ns-declared-unused" I(HARMLESS) Document Safe PRACTICE,
        "an extension is declared and never used",
        "The root declares the namespace of an extension that no entry uses. It only makes the file larger.";
    SCHEMA_LOCATION "schema-location" I(HARMLESS) Document Safe PRACTICE,
        "xsi:schemaLocation names another schema",
        "The hint pairs a namespace with the address of its schema; here the namespace is not the file's or belongs to 0.84. Crawlers ignore it, validators may not.";
    GZIP_CORRUPT "gzip-corrupt" E(REFUSED) Document Ask CONSOLE,
        "damaged gzip data",
        "The checksum, length or header of the gzip data is wrong. Crawlers report a compression error. sited reads what can be unpacked.";
    GZIP_TRUNCATED "gzip-truncated" E(REFUSED) Document Ask CONSOLE,
        "gzip data that is cut off",
        "The gzip data ends early, as after a broken transfer. Crawlers report a compression error. sited reads what can be unpacked.";
    GZIP_MULTI_MEMBER "gzip-multi-member" W(SOME_READERS) Document Safe PRACTICE,
        "several gzip members",
        "The file is several gzip streams one after the other. Many readers unpack only the first, silently. sited reads all of them; a save writes one.";
    GZIP_TRAILING_GARBAGE "gzip-trailing-garbage" W(SOME_READERS) Document Safe PRACTICE,
        "bytes after the gzip data",
        "Something follows the gzip data; strict readers refuse the file. sited omits it.";
    GZIP_DOUBLE "gzip-double" W(SOME_READERS) Document Safe PRACTICE,
        "compressed twice",
        "The file is gzip data inside gzip data, as when a server compresses a compressed file. Crawlers unpack once and find no XML. sited unpacks both; a save compresses once.";
    GZIP_EXTENSION_MISMATCH "gzip-extension-mismatch" W(SOME_READERS) Document Safe PRACTICE,
        "the name and the compression disagree",
        "A name with .gz should hold gzip data, and gzip data should have such a name. Readers that rely on the name fail; sited relies on the bytes. The fix compresses or unpacks the file as its name says and keeps the name, because its URL is known elsewhere.";
    COMPRESS_NOT_GZIP "compress-not-gzip" E(NO_SITEMAP) Document None FAQ,
        "compressed with something other than gzip",
        "A sitemap may be gzipped; zip, bzip2, zstd and others are not read by crawlers. Unpack it first.";
    GZIP_BOMB "gzip-bomb" E(NO_SITEMAP) Document None PRACTICE,
        "unpacks to more than the limit",
        "The gzip data unpacks to more than the limit, far beyond what a sitemap may have. sited stopped reading to save memory; --max-bytes raises the limit.";
    FILE_NAME_UNSAFE "file-name-unsafe" W(SOME_READERS) Document Ask GOOGLE_BUILD,
        "a file name that needs escaping in a URL",
        "A sitemap is fetched by its URL; a name with spaces or other characters that URLs escape, or of more than 255 bytes, invites mistakes. The fix gives the file another name in its folder and updates the index; the old file is deleted when the change is saved. Another name is another URL: update robots.txt and Search Console.";
}
