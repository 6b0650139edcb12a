//! Rules about one file as a whole: limits, root element, content outside of the entries. Pure.
//!
//! Sources: rule catalogue, section 4; sitemaps.org protocol; sitemap.xsd 0.9.

use super::rule::Profile;
use super::rule::{Rule, RuleSet};
use crate::protocol::limits::URLS_PER_FILE;
use crate::protocol::namespace::{self, Namespace};
use crate::words::grouped;
use crate::xml::names::{FileKind, Names};

/// Input of the file rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileFacts<'f> {
    /// The profile whose rules are checked.
    pub profile: Profile,
    /// Number of entries that are not deleted.
    pub entries: u32,
    /// Size of the file when saved, uncompressed.
    pub bytes: u64,
    /// Names that the root element declares.
    pub names: &'f Names,
    /// Whether text or unknown elements are directly below the root.
    pub stray: bool,
    /// Whether an entry or a field is in no namespace because the root declares none.
    pub unbound: bool,
    /// Whether an extension is outside of all entries.
    pub outside: bool,
    /// Whether it is the last file of its set, so that further entries may need another file.
    pub is_last: bool,
}

/// Rules that the file violates.
pub(crate) fn check(facts: &FileFacts<'_>) -> RuleSet {
    let mut rules = RuleSet::EMPTY;
    let news = facts.names.attributes.iter().any(|(_, uri)| namespace::classify(uri) == Namespace::News);
    let nothing = if news { Rule::DOC_NO_ENTRIES_NEWS } else { Rule::DOC_NO_ENTRIES };
    rules.insert_if(nothing, facts.entries == 0);
    rules.insert_if(Rule::DOC_STRAY_TEXT, facts.stray);
    rules.insert_if(Rule::EXT_OUTSIDE_URL, facts.outside);
    rules.insert_if(Rule::NS_ENTRY_MISSING, facts.unbound);
    let limit = match facts.names.kind {
        FileKind::Urlset | FileKind::List => URLS_PER_FILE,
        FileKind::Index => facts.profile.sitemaps_per_index(),
        // No search engine reads tables, so they have no limits.
        FileKind::Table => return rules.intersection(facts.profile.rules()),
    };
    let max_bytes = facts.profile.bytes_per_file();
    if facts.names.kind == FileKind::List {
        rules.insert_if(Rule::TEXT_LIMITS, facts.entries > limit || facts.bytes > max_bytes);
        return rules.intersection(facts.profile.rules());
    }
    let too_many = if facts.names.kind == FileKind::Index { Rule::INDEX_TOO_MANY } else { Rule::FILE_TOO_MANY_URLS };
    rules.insert_if(too_many, facts.entries > limit);
    rules.insert_if(Rule::FILE_TOO_LARGE, facts.bytes > max_bytes);
    // Generators fill one file after the other, so only the last one shows that the set will need another.
    let has_many = facts.is_last && u64::from(facts.entries) * 10 > u64::from(limit) * 9;
    let is_near_limit = has_many || facts.bytes * 10 > max_bytes * 9;
    rules.insert_if(Rule::FILE_NEAR_LIMIT, is_near_limit && facts.entries <= limit && facts.bytes <= max_bytes);
    if let Some(rule) = namespace_rule(facts.names) {
        rules.insert(rule);
    }
    rules.intersection(facts.profile.rules())
}

fn namespace_rule(names: &Names) -> Option<Rule> {
    match names.uri.as_deref() {
        None if xmlns_typo(names).is_some() => Some(Rule::NS_ATTR_TYPO),
        None => Some(Rule::NS_MISSING),
        Some(_) if is_padded(names) => Some(Rule::NS_VARIANT),
        Some(uri) => match namespace::classify(uri) {
            Namespace::Sitemap09 => None,
            Namespace::Sitemap084 => Some(Rule::NS_LEGACY_084),
            Namespace::SitemapVariant => Some(Rule::NS_VARIANT),
            _ => Some(Rule::NS_WRONG),
        },
    }
}

/// Whether white space surrounds the root's namespace. Attribute values are not trimmed (XML 1.0, section 3.3.3).
fn is_padded(names: &Names) -> bool {
    let own = names.prefix.strip_suffix(':').map_or("xmlns".to_owned(), |prefix| format!("xmlns:{prefix}"));
    let declared = names.attributes.iter().find(|(name, _)| **name == *own);
    declared.is_some_and(|(_, uri)| uri.trim() == namespace::SITEMAP_09 && uri.len() != uri.trim().len())
}

/// The misspelt `xmlns` attribute, if there is one.
fn xmlns_typo(names: &Names) -> Option<&str> {
    let xmlns_typo = names.attributes.iter().find(|(name, value)| namespace::is_xmlns_typo(name, value));
    xmlns_typo.map(|(name, _)| &**name)
}

/// Bytes of a mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// Bytes as mebibytes with one decimal, rounded down, so that a size below a limit does not look like the limit.
fn mebibytes(bytes: u64) -> String {
    let tenths = bytes * 10 / MEBIBYTE;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The message for a rule that the file violates.
pub(crate) fn message(rule: Rule, facts: &FileFacts<'_>) -> String {
    let uri = facts.names.uri.as_deref().unwrap_or_default();
    let right = namespace::SITEMAP_09;
    let what = match facts.names.kind {
        FileKind::Urlset => "URLs",
        FileKind::Index => "sitemaps",
        FileKind::List => "lines",
        FileKind::Table => "records",
    };
    match rule {
        Rule::DOC_NO_ENTRIES if !facts.names.kind.is_xml() => "the file has no URL".into(),
        Rule::TEXT_LIMITS => format!(
            "{} lines and {} bytes; a text sitemap holds {} lines and {} bytes at most. Saving a change splits it",
            grouped(facts.entries.into()),
            grouped(facts.bytes),
            grouped(URLS_PER_FILE.into()),
            grouped(facts.profile.bytes_per_file())
        ),
        Rule::DOC_NO_ENTRIES => {
            format!("no <{}>: search engines report an empty sitemap", facts.names.kind.entry_name())
        }
        Rule::DOC_NO_ENTRIES_NEWS => "no <url>: a news sitemap may be empty".into(),
        Rule::EXT_OUTSIDE_URL => {
            format!("an extension is outside any {}, so it belongs to no page", facts.names.kind.entry_name())
        }
        Rule::DOC_STRAY_TEXT => "text or an unknown element directly below the root".into(),
        Rule::FILE_TOO_MANY_URLS => {
            format!(
                "{} URLs; a file holds {} at most. Saving a change splits it",
                grouped(facts.entries.into()),
                grouped(URLS_PER_FILE.into())
            )
        }
        Rule::INDEX_TOO_MANY => {
            format!(
                "{} sitemaps; an index holds {} at most",
                grouped(facts.entries.into()),
                grouped(facts.profile.sitemaps_per_index().into())
            )
        }
        Rule::FILE_TOO_LARGE => {
            format!(
                "{} bytes uncompressed; a file holds {} at most. Saving a change splits it",
                grouped(facts.bytes),
                grouped(facts.profile.bytes_per_file())
            )
        }
        Rule::FILE_NEAR_LIMIT => {
            let limit = match facts.names.kind {
                FileKind::Index => facts.profile.sitemaps_per_index(),
                _ => URLS_PER_FILE,
            };
            format!(
                "{} of {} {what}, {} of {} MiB: the next ones may need another file",
                grouped(facts.entries.into()),
                grouped(limit.into()),
                mebibytes(facts.bytes),
                facts.profile.bytes_per_file() / MEBIBYTE
            )
        }
        Rule::NS_ENTRY_MISSING => format!(
            "entries or fields without a prefix are in no namespace: the root declares xmlns:{} but no xmlns, so readers \
             skip them",
            facts.names.prefix.trim_end_matches(':')
        ),
        Rule::NS_MISSING => format!("the root is in no namespace; it should say xmlns=\"{right}\""),
        Rule::NS_ATTR_TYPO => {
            format!(
                "{}= should be xmlns=: as written, the root is in no namespace",
                xmlns_typo(facts.names).unwrap_or("ns")
            )
        }
        Rule::NS_VARIANT if is_padded(facts.names) => {
            format!("the namespace has whitespace around it; it must be exactly {right}")
        }
        Rule::NS_VARIANT => format!("{uri} is not the sitemap namespace; it must be exactly {right}"),
        Rule::NS_LEGACY_084 => format!("{uri} is Google's namespace of 2005; today it is {right}"),
        Rule::NS_WRONG => format!("{uri} is not the sitemap namespace; it is {right}"),
        other => other.summary().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::markup;

    fn rules(root: &str, entries: u32, bytes: u64) -> Vec<&'static str> {
        let tag = markup::next(root.as_bytes(), 0).unwrap();
        let names = Names::of_root(root.as_bytes(), &tag).unwrap();
        let facts = FileFacts {
            profile: Profile::Protocol,
            entries,
            bytes,
            names: &names,
            stray: false,
            unbound: false,
            outside: false,
            is_last: true,
        };
        let rules = check(&facts);
        for rule in rules.iter() {
            assert!(!message(rule, &facts).is_empty());
        }
        rules.iter().map(Rule::code).collect()
    }

    #[test]
    fn limits_are_exact_and_namespaces_are_classified() {
        let good = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>";
        let table: [(&str, u32, u64, &[&str]); 16] = [
            (good, 1, 500, &[]),
            (good, 0, 100, &["doc-no-entries"]),
            (good, 45_000, 500, &[]),
            (good, 45_001, 500, &["file-near-limit"]),
            (good, 50_000, 500, &["file-near-limit"]),
            (good, 50_001, 500, &["file-too-many-urls"]),
            (good, 1, 52_428_800, &["file-near-limit"]),
            (good, 1, 52_428_801, &["file-too-large"]),
            (
                "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'>",
                0,
                1,
                &["doc-no-entries"],
            ),
            ("<urlset>", 1, 1, &["ns-missing"]),
            ("<urlset ns='http://www.google.com/schemas/sitemap/0.84'>", 1, 1, &["ns-attr-typo"]),
            ("<urlset xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'>", 1, 1, &["ns-variant"]),
            ("<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'>", 1, 1, &["ns-legacy-084"]),
            ("<urlset xmlns=' http://www.sitemaps.org/schemas/sitemap/0.9'>", 1, 1, &["ns-variant"]),
            ("<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9\n'>", 1, 1, &["ns-variant"]),
            ("<urlset xmlns='http://example.com/'>", 1, 1, &["ns-wrong"]),
        ];
        for (root, entries, bytes, expected) in table {
            assert_eq!(rules(root, entries, bytes), expected, "{root} {entries} {bytes}");
        }
    }
}
