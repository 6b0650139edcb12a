//! The rule table: code, severity, scope, summary, help, source and fix of every rule.
//!
//! Rules are in the order of the rule catalogue. Adding a row adds a rule; counts and sets follow from the rows.

mod alternate;
mod document;
mod entry;
mod extension;
mod format;
mod index;
mod location;
mod policy;
mod set;
mod site;
mod xml;

use super::Rule;
use super::{Info, RuleSet};
use crate::protocol::Severity;

/// Number of rules.
pub(super) const COUNT: usize = site::END as usize;

/// All rows, by the index of their rule.
pub(super) static TABLE: [&Info; COUNT] = join();

/// The family (main rule and variants) of each rule, by index.
pub(super) static FAMILIES: [RuleSet; COUNT] = {
    let (table, mut families, mut at) = (join(), [RuleSet::EMPTY; COUNT], 0);
    while at < COUNT {
        families[main_of(at, table[at])].insert(Rule::at(at as u16));
        at += 1;
    }
    at = 0;
    while at < COUNT {
        families[at] = families[main_of(at, table[at])];
        at += 1;
    }
    families
};

const fn main_of(index: usize, row: &Info) -> usize {
    match row.variant_of {
        Some(main) => main as usize,
        None => index,
    }
}

/// The rules of one severity in the default profile.
pub(super) const fn of_severity(severity: Severity) -> RuleSet {
    let (table, mut set, mut at) = (join(), RuleSet::EMPTY, 0);
    while at < COUNT {
        // `at` is below the length of the table.
        if let Some(own) = table[at].severity
            && own as u8 == severity as u8
        {
            set.insert(Rule::at(at as u16));
        }
        at += 1;
    }
    set
}

/// Rules whose findings in a file have one cause, usually a setting of its generator.
pub(super) const PER_FILE: RuleSet = RuleSet::of(&[
    Rule::IMAGE_DEPRECATED,
    Rule::IMAGE_FOREIGN_HOST,
    Rule::CHANGEFREQ_LASTMOD_CONFLICT,
    Rule::PRIORITY_FORM,
    Rule::LOC_MISSING_ROOT_SLASH,
    Rule::HREFLANG_NO_X_DEFAULT,
    Rule::EXT_OBSOLETE,
    Rule::EXT_OBSOLETE_PAGEMAP,
    Rule::LASTMOD_FRACTION,
    Rule::LOC_OUTSIDE_PATH,
    Rule::LASTMOD_DATE_ONLY,
    Rule::XML_TRAILING_JUNK,
    Rule::SITE_NOT_CHECKED,
]);

/// Rules whose findings in a file have one cause per host.
pub(super) const PER_HOST: RuleSet = RuleSet::of(&[Rule::LOC_FOREIGN_HOST, Rule::SET_MIXED_HOST]);

/// The rules about extensions of an entry.
pub(in crate::check) const EXTENSION_RULES: RuleSet = {
    let (table, mut set, mut at) = (join(), RuleSet::EMPTY, set::END as usize);
    while at < alternate::END as usize {
        if matches!(table[at].scope, crate::check::rule::Scope::Entry) {
            set.insert(Rule::at(at as u16));
        }
        at += 1;
    }
    set
};

/// Joins the parts of the table. Evaluated at compile time, so that a wrong index is a compile error.
const fn join() -> [&'static Info; COUNT] {
    let parts = [
        document::ROWS,
        xml::ROWS,
        entry::ROWS,
        location::ROWS,
        set::ROWS,
        extension::ROWS,
        alternate::ROWS,
        index::ROWS,
        format::ROWS,
        policy::ROWS,
        site::ROWS,
    ];
    let mut table = [&document::ROWS[0]; COUNT];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut row = 0;
        while row < parts[part].len() {
            table[at] = &parts[part][row];
            at += 1;
            row += 1;
        }
        part += 1;
    }
    table
}

/// Rows of a part of the table:
/// `NAME "code" severity(reason) Scope Fix source, "summary", "help", [profiles];`, where the reason for the severity
/// is a constant of [`reason`] or a sentence. Each row becomes an associated constant of [`Rule`] and a row of the
/// table. `NAME = MAIN severity …` is a variant: the same rule, under the same code, with another severity.
macro_rules! rows {
    (@code $code:literal) => { $code };
    (@code $main:ident) => { $main };
    (@reason $reason:literal) => { $reason };
    (@reason $reason:ident) => { $crate::check::rule::table::reason::$reason };
    ($first:expr; $($name:ident $(= $main:ident)? $($code:literal)? $severity:ident($reason:tt) $scope:ident $fix:ident $source:ident,
        $summary:literal, $help:literal $(, [$(($profile:ident, $other:ident)),+])?;)+) => {
        /// Index of the first rule of this part.
        const FIRST: u16 = $first;

        /// Index behind the last rule of this part.
        pub(super) const END: u16 = FIRST + [$(Place::$name),+].len() as u16;

        #[expect(non_camel_case_types, reason = "names of constants, to count them")]
        enum Place { $($name,)+ }

        mod codes {
            $(pub(super) const $name: &str = $crate::check::rule::table::rows!(@code $($main)? $($code)?);)+
        }

        impl $crate::check::rule::Rule {
            $(
                $(#[doc = concat!("`", $code, "`: ", $summary, ".")])?
                $(#[doc = concat!("Variant of [`Self::", stringify!($main), "`]: ", $summary, ".")])?
                pub const $name: Self = Self::at(FIRST + Place::$name as u16);
            )+
        }

        pub(super) const ROWS: &[$crate::check::rule::Info] = &[$($crate::check::rule::Info {
            code: codes::$name,
            variant_of: {
                #[allow(unused_mut, unused_assignments, reason = "only variants assign it")]
                let mut main: Option<u16> = None;
                $(main = Some(FIRST + Place::$main as u16);)?
                main
            },
            severity: $crate::check::rule::table::level::$severity,
            reason: $crate::check::rule::table::rows!(@reason $reason),
            scope: $crate::check::rule::Scope::$scope,
            profiles: &[$($(($crate::check::rule::Profile::$profile, $crate::check::rule::table::level::$other)),+)?],
            summary: $summary,
            help: $help,
            source: $crate::check::rule::table::source::$source,
            fix: $crate::check::rule::FixKind::$fix,
        },)+];
    };
}
use rows;

/// The letters of the rule catalogue for severities.
mod level {
    use crate::protocol::Severity;

    pub(super) const E: Option<Severity> = Some(Severity::Error);
    pub(super) const W: Option<Severity> = Some(Severity::Warning);
    pub(super) const I: Option<Severity> = Some(Severity::Note);
    pub(super) const OFF: Option<Severity> = None;
}

/// Why rules have their severity. A reason that no other rule shares is in the rule's row.
mod reason {
    pub(super) const STOPS_READERS: &str =
        "Most XML readers stop at this place or refuse the file, so entries are lost.";
    pub(super) const NO_SITEMAP: &str = "Crawlers find no sitemap in the file, so none of its pages.";
    pub(super) const REFUSED: &str = "Crawlers refuse the file and report an error.";
    pub(super) const NAMESPACE: &str = "Search Console rejects the file with “Incorrect namespace”.";
    pub(super) const OVER_LIMIT: &str = "Crawlers refuse the file or ignore everything over the limit.";
    pub(super) const ENTRY_DROPPED: &str = "Crawlers drop the entry, so the page is not found through this file.";
    pub(super) const DATE_IGNORED: &str = "Search Console reports an invalid date, and the value is lost.";
    pub(super) const VALUE_IGNORED: &str = "The value is invalid: crawlers ignore it and the schema rejects the file.";
    pub(super) const AMBIGUOUS: &str = "Readers disagree on which value counts.";
    pub(super) const EXTENSION_LOST: &str = "Google reports the tag and ignores the image, video or article.";
    pub(super) const TAG_REJECTED: &str = "Search Console reports an invalid tag, and the schema rejects the file.";
    pub(super) const LINK_IGNORED: &str = "Google ignores the alternate link.";
    pub(super) const SITEMAP_UNREAD: &str = "Crawlers do not fetch the sitemap that is listed here.";
    pub(super) const WRONG_PAGE: &str = "The page is read, but probably under a URL that the site does not use.";
    pub(super) const ANNOUNCED: &str =
        "The URL is announced to everyone who reads the sitemap, and search engines may list it.";
    pub(super) const SOME_READERS: &str = "Most crawlers accept it, but some readers refuse or misread the file.";
    pub(super) const CONTENT_SKIPPED: &str = "The page is read, but crawlers skip this part of the entry.";
    pub(super) const SCHEMA_OPTIONAL: &str = "No crawler uses the value any more; only the schema rejects the file.";
    pub(super) const DATES_DISTRUSTED: &str =
        "The date is valid, but crawlers that find wrong dates stop using lastmod.";
    pub(super) const DUPLICATE_FETCH: &str =
        "Crawlers read the URL once; the duplicate wastes space and makes its date ambiguous.";
    pub(super) const WASTES_SPACE: &str = "Crawlers accept it; it only makes the file larger.";
    pub(super) const HARMLESS: &str = "Every crawler accepts it; it is worth knowing, not urgent.";
    pub(super) const SCHEMA_ONLY: &str = "Every crawler accepts it; only a strict schema validator rejects the file.";
    pub(super) const HINT: &str = "Only a hint that crawlers may use is lost.";
    pub(super) const ENGINE_LIMIT: &str =
        "Only this engine has the limit; it drops longer values and reports a warning.";
    pub(super) const ENGINE_IGNORES: &str = "This engine ignores the field; the file is valid.";
    pub(super) const SUBMISSION: &str = "Crawlers accept such URLs only if robots.txt of that host names this sitemap or both sites are verified, which a file cannot show.";
    pub(super) const RECIPROCAL: &str =
        "Google ignores links that are not confirmed by the other page, but the pages are still read.";
}

/// Titles of the sources, as one can search for them.
mod source {
    pub(super) const TAGS: &str = "sitemaps.org protocol, XML tag definitions";
    pub(super) const FORMAT: &str = "sitemaps.org protocol, XML Sitemap format";
    pub(super) const FORMATS: &str = "sitemaps.org protocol, Other Sitemap formats";
    pub(super) const LOCATION: &str = "sitemaps.org protocol, Sitemap file location";
    pub(super) const INDEX: &str = "sitemaps.org protocol, Using Sitemap index files";
    pub(super) const ESCAPING: &str = "sitemaps.org protocol, Entity escaping";
    pub(super) const RFC9309: &str = "RFC 9309, section 2.2 (The Protocol)";
    pub(super) const ROBOTS_SITEMAP: &str =
        "sitemaps.org protocol, Informing search engine crawlers: specifying the location in robots.txt";
    pub(super) const SITE_STATUS: &str = "Google Search Central, How HTTP status codes affect Google's crawlers";
    pub(super) const SITE_ROBOTS: &str = "Google Search Central, Block Search indexing with noindex";
    pub(super) const SITE_CANONICAL: &str = "Google Search Central, How to specify a canonical URL";
    pub(super) const SITE_FILES: &str = "Google Search Central, File types indexable by Google";
    pub(super) const SITE_BUDGET: &str =
        "Google Search Central, Large site owner's guide to managing your crawl budget";
    pub(super) const FAQ: &str = "sitemaps.org FAQ";
    pub(super) const SCHEMA: &str = "sitemap.xsd 0.9, tUrl";
    pub(super) const SCHEMA_URLSET: &str = "sitemap.xsd 0.9, urlset";
    pub(super) const SCHEMA_LOC: &str = "sitemap.xsd 0.9, tLoc";
    pub(super) const SCHEMA_LASTMOD: &str = "sitemap.xsd 0.9, tLastmod (xsd:date or xsd:dateTime)";
    pub(super) const SCHEMA_CHANGEFREQ: &str = "sitemap.xsd 0.9, tChangeFreq";
    pub(super) const SCHEMA_PRIORITY: &str = "sitemap.xsd 0.9, tPriority";
    pub(super) const SCHEMA_INDEX: &str = "siteindex.xsd 0.9, tSitemap";
    pub(super) const SCHEMA_084: &str = "sitemap.xsd 0.84 (Google, 2005)";
    pub(super) const W3C: &str = "W3C Note Datetime";
    pub(super) const RFC3339: &str = "RFC 3339, section 4.3";
    pub(super) const XML: &str = "Extensible Markup Language (XML) 1.0, well-formed documents";
    pub(super) const NAMESPACES: &str = "Namespaces in XML 1.0";
    pub(super) const RFC3986: &str = "RFC 3986, section 2 (Characters)";
    pub(super) const RFC3986_AUTHORITY: &str = "RFC 3986, section 3.2 (Authority)";
    pub(super) const RFC3986_NORMAL: &str = "RFC 3986, section 6.2 (Comparison Ladder)";
    pub(super) const GOOGLE_BUILD: &str = "Google Search Central, Build and submit a sitemap";
    pub(super) const GOOGLE_LARGE: &str = "Google Search Central, Manage your sitemaps with a sitemap index file";
    pub(super) const GOOGLE_NEWS: &str = "Google Search Central, News sitemaps";
    pub(super) const GOOGLE_IMAGE: &str = "Google Search Central, Image sitemaps";
    pub(super) const GOOGLE_VIDEO: &str = "Google Search Central, Video sitemaps and alternatives";
    pub(super) const GOOGLE_COMBINE: &str = "Google Search Central, Combine sitemap extensions";
    pub(super) const GOOGLE_HREFLANG: &str = "Google Search Central, Localized versions of your pages";
    pub(super) const GOOGLE_CLEANING: &str =
        "Google Search Central blog, May 2022, Spring cleaning: sitemap extension tags";
    pub(super) const GOOGLE_CODE: &str = "Google, Code Search sitemaps (withdrawn)";
    pub(super) const SCHEMA_EXTENSIONS: &str =
        "the schemas of the extensions (sitemap-image, -video, -news and others)";
    pub(super) const SCHEMA_VIDEO: &str = "sitemap-video.xsd 1.1";
    pub(super) const SCHEMA_NEWS: &str = "sitemap-news.xsd 0.9";
    pub(super) const SCHEMA_MOBILE: &str = "sitemap-mobile.xsd 1.0";
    pub(super) const SCHEMA_GEO: &str = "sitemap-geo.xsd 1.0";
    pub(super) const SCHEMA_PAGEMAP: &str = "sitemap-pagemap.xsd 1.0";
    pub(super) const RFC5646: &str = "RFC 5646, section 2.1.1 (Formatting of Language Tags)";
    pub(super) const GOOGLE_GUIDE: &str = "Google, Sitemap formats and guidelines";
    pub(super) const GOOGLE_LASTMOD: &str = "Google Search Central blog, April 2006, Using the lastmod attribute";
    pub(super) const CONSOLE: &str = "Google Search Console help, Sitemaps report";
    pub(super) const BING: &str = "Bing Webmaster blog, February 2023, The importance of setting lastmod";
    pub(super) const YANDEX_FORMATS: &str = "Yandex Webmaster, Using the Sitemap file";
    pub(super) const YANDEX: &str = "Yandex Webmaster, Sitemap errors reference";
    pub(super) const BAIDU: &str = "Baidu webmaster help, Sitemap";
    pub(super) const GIT: &str = "git-merge documentation, How conflicts are presented";
    pub(super) const POLICY: &str = "the policy given with --never, --must or --policy";
    pub(super) const PRACTICE: &str = "common practice of crawlers and site audits";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The codes of the rule catalogue, by section; `mrss-*` is there for several.
    const CATALOGUE: [(u8, &str); 6] = [
        (
            4,
            "merge-conflict xml-not-well-formed xml-unescaped-ampersand xml-unescaped-angle xml-unknown-entity \
            xml-dtd-entity xml-double-escaped xml-illegal-char xml-duplicate-attribute xml-bad-comment \
            xml-undeclared-prefix xml-doctype xml-entity-declaration xml-declaration-missing xml-version \
            xml-leading-whitespace xml-leading-junk xml-trailing-junk xml-concatenated xml-truncated \
            enc-not-utf8 enc-mismatch enc-invalid-bytes enc-unknown-label enc-bom enc-bom-other \
            doc-root-unknown doc-root-case doc-html doc-empty doc-no-entries doc-mixed-kinds \
            doc-unknown-element doc-foreign-element doc-unknown-attribute doc-stray-text \
            doc-entry-outside-root ns-missing ns-entry-missing ns-attr-typo ns-variant ns-legacy-084 ns-wrong ns-prefix \
            ns-ext-variant ns-declared-unused schema-location file-too-many-urls file-too-large \
            file-near-limit gzip-corrupt gzip-truncated gzip-multi-member gzip-trailing-garbage gzip-double \
            gzip-extension-mismatch compress-not-gzip gzip-bomb file-name-unsafe",
        ),
        (
            5,
            "loc-missing loc-empty field-duplicate field-empty field-has-children field-whitespace \
            field-too-long-yandex entry-child-order loc-not-absolute loc-scheme loc-scheme-typo loc-no-host \
            loc-host-invalid loc-host-not-public loc-userinfo loc-inner-whitespace loc-illegal-char \
            loc-bad-percent loc-not-ascii loc-mojibake loc-too-long loc-too-long-yandex loc-too-long-baidu \
            loc-too-short loc-missing-root-slash loc-fragment loc-default-port loc-dot-segments \
            loc-double-slash loc-uppercase-host loc-session-id loc-tracking-param loc-private loc-template-residue \
            loc-not-page loc-foreign-host loc-outside-path lastmod-invalid lastmod-impossible \
            lastmod-reduced-precision lastmod-no-seconds lastmod-no-timezone lastmod-space-separator \
            lastmod-offset-format lastmod-offset-range lastmod-fraction lastmod-lowercase lastmod-date-zone \
            lastmod-24-00 lastmod-unpadded lastmod-basic-format lastmod-rfc822 lastmod-epoch lastmod-locale \
            lastmod-multiple lastmod-year-range lastmod-zero lastmod-negative-zero lastmod-future \
            lastmod-missing lastmod-date-only changefreq-invalid changefreq-case changefreq-ignored \
            changefreq-lastmod-conflict priority-invalid priority-comma priority-range priority-form \
            priority-precision priority-ignored",
        ),
        (
            6,
            "set-duplicate set-duplicate-equivalent set-duplicate-near set-duplicate-across-files \
            set-mixed-scheme set-mixed-www set-mixed-host set-mixed-port set-mixed-slash \
            set-lastmod-identical set-lastmod-generated set-lastmod-sparse set-priority-identical \
            set-priority-all-high set-news-mixed set-too-many-indexes",
        ),
        (
            7,
            "ext-outside-url ext-misplaced ext-duplicate-child ext-child-order ext-unknown-child \
            ext-unknown-attribute ext-obsolete image-loc-missing image-limit image-deprecated \
            image-foreign-host image-duplicate video-required video-location-missing video-loc-same \
            video-url-scheme video-content-format video-title-length video-description-length video-duration \
            video-rating video-view-count video-date video-expired video-yes-no video-relationship \
            video-country video-platform video-tag-limit video-uploader video-deprecated video-price \
            video-tvshow video-id-type video-category-length news-required news-duplicate news-limit \
            news-name news-language news-language-unknown news-date news-stale news-future news-deprecated news-genres \
            news-access news-tickers hreflang-attr hreflang-href-relative hreflang-code hreflang-separator \
            hreflang-region-reserved hreflang-case hreflang-duplicate hreflang-self-missing \
            hreflang-no-return hreflang-target-missing hreflang-set-differs hreflang-self-conflict \
            hreflang-no-x-default mobile-not-empty geo-format code-filetype-missing \
            code-packagemap-not-archive pagemap-structure",
        ),
        (
            8,
            "index-too-many index-nested index-self index-cycle index-child-duplicate index-child-host \
            index-child-path index-child-missing index-child-unlisted index-child-empty \
            index-child-incomplete-url index-extra-child index-lastmod-older index-lastmod-meaning \
            index-single",
        ),
        (
            9,
            "text-not-utf8 text-extra-content text-blank-line text-limits text-entity text-extension \
            text-line-ends feed-not-supported feed-no-channel feed-item-no-link feed-date feed-relative-link",
        ),
    ];

    #[test]
    fn the_table_has_the_codes_of_the_catalogue_and_no_others() {
        let table: BTreeSet<&str> = TABLE.iter().map(|row| row.code).collect();
        let catalogue: BTreeSet<&str> = CATALOGUE.iter().flat_map(|(_, codes)| codes.split(' ')).collect();
        assert_eq!(catalogue.difference(&table).collect::<Vec<_>>(), [&""; 0], "in the catalogue only");
        let is_own = |code: &&&str| ["mrss-", "policy-", "robots-", "site-"].iter().any(|own| code.starts_with(own));
        let others = table.difference(&catalogue).filter(|code| !is_own(code));
        assert_eq!(others.collect::<Vec<_>>(), [&""; 0], "in the table only");
    }
}
