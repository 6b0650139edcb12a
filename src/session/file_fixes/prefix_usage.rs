//! Finds out whether a file uses the prefix that it declares for a namespace.
//!
//! Records have flags for the elements directly in entries. All other text that may contain the prefix is searched: the
//! bytes of a source once, and the text of a row only if its source has the prefix or an edit replaced the row's text.

use crate::document::Document;
use crate::document::sitemap::{Sitemap, SitemapId};
use crate::document::source::{Source, mentions_prefix};
use crate::progress::note_work;
use crate::protocol::namespace::{self, Namespace};
use crate::xml::record::Flags;
use std::cell::OnceCell;
use std::collections::HashSet;

/// Maximum number of prefixes that are searched for one by one; more are searched for in one slower pass.
const MAX_SINGLE_SEARCHES: usize = 8;

/// Number of rows that are examined before all others.
const FIRST_ROWS: usize = 16;

/// A search of one file.
pub(super) struct PrefixUsage<'d> {
    document: &'d Document,
    id: SitemapId,
    /// Whether known extensions are searched too.
    closely: bool,
    rows: OnceCell<RowFacts<'d>>,
}

/// What the rows of a file may contain.
#[derive(Default)]
struct RowFacts<'d> {
    /// Flags that any live row has.
    live: Flags,
    /// Flags that any row has.
    all: Flags,
    /// The sources of live rows that may use a prefix that no flag records.
    sources: Vec<&'d Source>,
    /// Whether the whole text of such a row was replaced.
    has_replaced: bool,
}

impl<'d> PrefixUsage<'d> {
    pub(super) fn new(document: &'d Document, id: SitemapId, closely: bool) -> Self {
        Self { document, id, closely, rows: OnceCell::new() }
    }

    /// Whether a namespace that the root declares is used in the file.
    pub(super) fn is_used(&self, sitemap: &Sitemap, namespace: Namespace) -> bool {
        let flag = flag_of(namespace);
        // Nearly always the first rows use what the root declares.
        let mut first = sitemap.rows.iter().take(FIRST_ROWS).map(|row| self.document.record(row));
        if first.any(|record| !record.is_deleted() && record.flags.contains(flag)) {
            return true;
        }
        let RowFacts { live, all, .. } = self.rows.get_or_init(|| self.facts_of(sitemap));
        // `xhtml` may be used for other elements than links.
        live.contains(flag)
            || (namespace == Namespace::Xhtml && all.contains(Flags::OTHER))
            || self.text_uses(sitemap, namespace)
    }

    fn facts_of(&self, sitemap: &Sitemap) -> RowFacts<'d> {
        let mut facts = RowFacts::default();
        let records = self.document.records();
        for page in sitemap.rows.ranges().flat_map(|ids| records.slices(ids.start as usize..ids.end as usize)) {
            for record in page {
                facts.all |= record.flags;
                if !record.is_deleted() {
                    facts.live |= record.flags;
                }
            }
        }
        let has_siblings = self.has_siblings(sitemap);
        if self.may_use(facts.live, has_siblings) {
            self.add_sources(sitemap, has_siblings, &mut facts);
        }
        facts
    }

    /// Adds the sources of the rows whose text may use a prefix, and whether such a text was replaced.
    fn add_sources(&self, sitemap: &Sitemap, has_siblings: bool, facts: &mut RowFacts<'d>) {
        // Rows of a partial file that are not resident were read from its source too.
        let partial = self.document.source_of(self.id).filter(|_| self.document.is_partial(self.id));
        let mut cursor = self.document.row_cursor();
        for row in sitemap.rows.iter() {
            let record = self.document.record(row);
            if record.is_deleted() || !self.may_use(record.flags, has_siblings) {
                continue;
            }
            match cursor.origin(row).map(|(source, _)| source).or(partial) {
                Some(source) if facts.sources.iter().rev().any(|known| std::ptr::eq(*known, source)) => {}
                Some(source) => facts.sources.push(source),
                None => facts.has_replaced = true,
            }
        }
    }

    /// Whether elements are between the entries. They belong to the text of the next entry, and no flag records them.
    fn has_siblings(&self, sitemap: &Sitemap) -> bool {
        self.document.source_of(self.id).unwrap_or(&sitemap.frame).has_siblings
    }

    /// Whether rows with these flags may use a prefix that no flag records.
    fn may_use(&self, flags: Flags, has_siblings: bool) -> bool {
        has_siblings
            || flags.contains(Flags::ANOMALOUS)
            || flags.contains(Flags::LOC_FAR)
            || if self.closely { flags.has_extensions() } else { flags.contains(Flags::OTHER) }
    }

    /// The prefixes that the root declares and whose search examines the text of rows.
    pub(super) fn searched<'s>(&self, sitemap: &'s Sitemap) -> Vec<&'s str> {
        let RowFacts { live, all, sources, .. } = self.rows.get_or_init(|| self.facts_of(sitemap));
        if !self.may_use(*all, self.has_siblings(sitemap)) {
            return Vec::new();
        }
        let is_shown = |uri: &str| live.contains(flag_of(namespace::classify(uri.trim())));
        let is_absent = |prefix: &str| sources.iter().all(|source| source.is_known_without(prefix.as_bytes()));
        let searched =
            sitemap.frame.names.declared_prefixes().filter(|(prefix, uri)| !is_shown(uri) && !is_absent(prefix));
        searched.map(|(prefix, _)| prefix).collect()
    }

    /// Whether the text of the file, except the root's tag, uses a prefix that is declared for a namespace. Only rows
    /// whose flags do not rule it out are examined.
    fn text_uses(&self, sitemap: &Sitemap, namespace: Namespace) -> bool {
        let declared = sitemap.frame.names.declared_prefixes();
        let declared = declared.filter(|(_, uri)| namespace::classify(uri.trim()) == namespace);
        let declared: HashSet<&[u8]> = declared.map(|(prefix, _)| prefix.as_bytes()).collect();
        let (head, tail) = (sitemap.frame.head(true), sitemap.frame.tail(true));
        let root_end = sitemap.frame.root_start() + sitemap.frame.root_tag().len();
        if mentions_any(&declared, head.get(root_end..).unwrap_or_default()) || mentions_any(&declared, &tail) {
            return true;
        }
        let has_siblings = self.has_siblings(sitemap);
        let RowFacts { all, sources, has_replaced, .. } = self.rows.get_or_init(|| self.facts_of(sitemap));
        if !self.may_use(*all, has_siblings) {
            return false;
        }
        // A prefix that is not in a source is in none of its rows: edited values of fields are no markup.
        let is_in = |source: &Source| declared.iter().any(|prefix| source.mentions_prefix(prefix));
        let has_few = declared.len() <= MAX_SINGLE_SEARCHES;
        if has_few && !has_replaced && !sources.iter().any(|source| is_in(source)) {
            return false;
        }
        let mut without: Option<&Source> = None;
        let mut cursor = self.document.row_cursor();
        sitemap.rows.iter().any(|row| {
            let record = self.document.record(row);
            if record.is_deleted() || !self.may_use(record.flags, has_siblings) {
                return false;
            }
            if let Some((source, _)) = cursor.origin(row).filter(|_| has_few) {
                if without.is_some_and(|known| std::ptr::eq(known, source)) {
                    return false;
                }
                if !is_in(source) {
                    without = Some(source);
                    return false;
                }
            }
            any_name_in(&self.document.entry_text(row), |name| declared.contains(name))
        })
    }
}

/// The flag of rows with elements of a namespace.
const fn flag_of(namespace: Namespace) -> Flags {
    match namespace {
        Namespace::Image => Flags::IMAGE,
        Namespace::Video => Flags::VIDEO,
        Namespace::News => Flags::NEWS,
        Namespace::Xhtml => Flags::ALTERNATE,
        _ => Flags::OTHER,
    }
}

/// Removes the prefixes that follow a `<` or a space in a text, with their colons.
pub(in crate::session) fn remove_mentioned(prefixes: &mut HashSet<&[u8]>, text: &[u8]) {
    if prefixes.len() <= MAX_SINGLE_SEARCHES {
        return prefixes.retain(|prefix| !mentions_prefix(text, prefix));
    }
    any_name_in(text, |name| {
        prefixes.remove(name);
        prefixes.is_empty()
    });
}

/// Whether any of the prefixes follows a `<` or a space in a text, with its colon.
fn mentions_any(declared: &HashSet<&[u8]>, text: &[u8]) -> bool {
    if declared.len() > MAX_SINGLE_SEARCHES {
        return any_name_in(text, |name| declared.contains(name));
    }
    declared.iter().any(|prefix| mentions_prefix(text, prefix))
}

/// Whether a test holds for any name between a `<` or a space and a colon. Each byte is examined once, however many
/// names there are.
fn any_name_in(text: &[u8], is_match: impl FnMut(&[u8]) -> bool) -> bool {
    note_work(text.len());
    let names = memchr::memchr2_iter(b'<', b' ', text).filter_map(|at| {
        let name = text.get(at + 1..)?;
        let end = memchr::memchr3(b':', b'<', b' ', name)?;
        name.get(..end).filter(|_| name.get(end) == Some(&b':'))
    });
    names.into_iter().any(is_match)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_searches_find_the_same_prefixes(text in "[a<: bxé]{0,24}", prefixes in prop::collection::hash_set("[abx]{1,2}", 0..4)) {
            let declared: HashSet<&[u8]> = prefixes.iter().map(String::as_bytes).collect();
            let text = text.as_bytes();
            prop_assert_eq!(mentions_any(&declared, text), any_name_in(text, |name| declared.contains(name)));
        }
    }
}
