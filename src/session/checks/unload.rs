//! Checks of a streamed set: counters of the set stay, findings of rows are dropped and restored with their file
//! ([`crate::document::Document::unload`]).

use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{FileRows, Link, NearDuplicates, RowSide, SetDelta, SetIndex};
use crate::document::Document;
use crate::document::edit::Applied;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::SitemapId;
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use crate::protocol::location;
use crate::session::checks::DocumentLocs;
use crate::session::checks::{Checks, Reader, is_part, rule_of};
use rayon::prelude::*;
use std::sync::Arc;

impl Checks {
    /// Adds the rows of a file that was just appended to the document and will be unloaded, each as if its page were
    /// unique; [`Checks::compare`] finds the duplicates later.
    pub fn add_file_uncompared(
        &mut self,
        document: &Document,
        first: u32,
        reader: &Reader,
        url: Option<&str>,
        mtime: Option<i64>,
    ) {
        let url_prefix = self.url_prefix_of(url);
        Arc::make_mut(&mut self.url_prefixes).push(url_prefix);
        let file = (document.sitemaps().len() as u32).saturating_sub(1);
        let set = Arc::make_mut(&mut self.set);
        set.set_mtime(file, mtime);
        set.set_part(is_part(document));
        set.insert_file_uncompared(FileRows { file, first, keys: &reader.keys }, &reader.tally, Vec::new());
        set.recompute(&DocumentLocs(document));
        self.findings.grow(first as usize + reader.findings.len());
    }

    /// Adds the alternate links of a file whose first row has this number.
    pub fn insert_links_uncompared(&mut self, first: u32, reader: &Reader) {
        Arc::make_mut(&mut self.set).insert_links_uncompared(first, &reader.links, &reader.linked_keys);
    }

    /// [`SetIndex::count_targets`](crate::check::set::SetIndex::count_targets).
    pub fn count_targets(&mut self, unlinked: &[u64]) -> RowSet {
        Arc::make_mut(&mut self.set).count_targets(unlinked)
    }

    /// Compares rows with each other, to find duplicates and near duplicates.
    pub fn compare(&mut self, document: &Document, rows: &RowSet) {
        let locs = DocumentLocs(document);
        let set = Arc::make_mut(&mut self.set);
        let with_key_and_file = |row: u32| {
            let key = location::key_hash(&document.loc(RowId(row)));
            (row, key, document.sitemap_of(RowId(row)).0)
        };
        let numbers: Vec<u32> = rows.iter().collect();
        let compared: Vec<(u32, u64, u32)> = numbers.into_par_iter().map(with_key_and_file).collect();
        set.compare(compared, &locs);
        self.near = Arc::new(set.near_duplicates_among(rows, &locs));
        self.knows_near = true;
    }

    /// Restores the findings of the rows of a file.
    pub fn reload(&mut self, document: &Document, first: u32, findings: &[u16], file: usize) {
        let numbers = self.with_quirks(document.sitemaps().get(file).map_or(&[], |file| &file.quirks), findings);
        for (row, number) in (first as usize..).zip(&*numbers) {
            self.findings.set(row, *number);
        }
    }

    /// Rules that a row of an unloaded file violates. `undated` are all rows without a lastmod, `sets` all sets of
    /// rules ([`Checks::rule_sets`]). Rows of a minority
    /// ([`has_minorities`](crate::check::set::SetIndex::has_minorities)) are not recognised.
    pub fn rules_of_unloaded(
        &self,
        row: RowId,
        (document, undated): (&Document, &RowSet),
        sets: &[RuleSet],
    ) -> RuleSet {
        let mut rules = sets.get(usize::from(self.finding_id(row))).copied().unwrap_or_default();
        for rule in self.set.rules_of(row.0, &DocumentLocs(document)).iter() {
            rules.insert(rule_of(rule));
        }
        rules.insert_if(Rule::LASTMOD_MISSING, self.set.with_lastmod() > 0 && undated.contains(row.0));
        rules.insert_if(Rule::SET_DUPLICATE_NEAR, self.near.contains(row.0));
        rules
    }

    /// The entry rules that rows of the resident file violate before and after a change.
    pub fn rule_changes(&self, applied: &Applied, now: Now) -> Vec<(RowId, RuleSet, RuleSet)> {
        let Some(rechecked) = self.recheck_rows(applied, now, &Progress::default()) else { return Vec::new() };
        let sets = self.rule_sets();
        let set = |number: Option<&u16>| number.and_then(|number| sets.get(usize::from(*number))).copied();
        let rules = |row: u32| {
            let [before, after] = [&self.findings, &rechecked.findings].map(|column| set(column.get(row as usize)));
            (RowId(row), before.unwrap_or_default(), after.unwrap_or_default())
        };
        applied.touched.iter().map(rules).collect()
    }

    /// Adds the effect of a change in one file on the set counters to a delta.
    pub fn add_file_delta(&self, before: &Document, applied: &Applied, file: SitemapId, delta: &mut SetDelta) {
        let after = &applied.document;
        let rows = applied.touched.iter().map(RowId).filter(|row| after.is_live(*row));
        let locs: Vec<_> = rows.map(|row| (row, before.loc(row), after.loc(row))).collect();
        let facts = |document: &Document, row: RowId| super::indexed_row(&document.record(row), file.0);
        let changes = locs.iter().map(|(row, old, new)| {
            (RowSide { loc: old, facts: facts(before, *row) }, RowSide { loc: new, facts: facts(after, *row) })
        });
        delta.count(&self.set, file.0, changes, &DocumentLocs(after));
    }

    /// Rows that are near duplicates of an earlier one; see [`Checks::knows_near_duplicates`].
    pub const fn near_duplicates(&self) -> &Arc<NearDuplicates> {
        &self.near
    }

    /// Whether [`Checks::near_duplicates`] is complete; if not, a report must look for them.
    pub const fn knows_near_duplicates(&self) -> bool {
        self.knows_near
    }

    /// Replaces the alternate links of rows in the set index.
    pub fn relink(&mut self, rows: impl IntoIterator<Item = (u32, Vec<Link>)>) {
        SetIndex::relink(Arc::make_mut(&mut self.set), rows);
    }

    /// Drops the findings of the rows of a file.
    pub fn unload(&mut self, first: u32, rows: u32) {
        self.findings.blank(first as usize..first as usize + rows as usize);
    }
}
