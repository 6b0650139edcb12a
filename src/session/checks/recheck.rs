//! Checks changed rows again, page by page on all cores.

use super::{Checks, Counts, Criteria, INLINE_ROWS, Numbers, add, sync};
use crate::check::Context;
use crate::check::entry::{self, NewValue};
use crate::check::rule::RuleSet;
use crate::check::set::SetIndex;
use crate::document::Document;
use crate::document::edit::Applied;
use crate::document::row_cursor::RowCursor;
use crate::document::rows::{self, RowId};
use crate::persistent::{Column, PAGE};
use crate::progress::{Progress, note_work};
use crate::protocol::lastmod::Now;
use std::sync::Arc;

/// The findings of touched rows after a recheck, and the set index if a worker updated it.
#[derive(Debug, Clone)]
pub struct Rechecked {
    pub(super) findings: Column<u16>,
    pub(super) counts: Arc<Counts>,
    pub(super) set: Option<Arc<SetIndex>>,
    /// The criteria of the check.
    criteria: Criteria,
    /// Rows whose entry rules were evaluated again: the work counter.
    pub rows: u64,
}

impl Rechecked {
    /// Whether the rows were checked against these criteria.
    pub fn is_for(&self, criteria: &Criteria) -> bool {
        self.criteria == *criteria
    }

    /// Whether a copy of the set index was updated.
    pub const fn has_set(&self) -> bool {
        self.set.is_some()
    }
}

/// One page of findings, made on a worker.
struct RecheckedPage {
    number: usize,
    slots: Arc<[u16]>,
    /// Rows by the numbers of their rule sets before and after.
    changes: Vec<((u16, u16), u32)>,
}

/// Counts a row whose set of rules changed. A page has few such pairs.
fn count_change(changes: &mut Vec<((u16, u16), u32)>, change: (u16, u16)) {
    if change.0 == change.1 {
        return;
    }
    match changes.iter_mut().find(|(known, _)| *known == change) {
        Some((_, rows)) => *rows += 1,
        None => changes.push((change, 1)),
    }
}

impl Checks {
    /// Evaluates the entry rules of the touched rows again. `None` when cancelled.
    pub fn recheck(&self, before: &Document, applied: &Applied, now: Now, progress: &Progress) -> Option<Rechecked> {
        // Noted on this thread: another one may check the rows.
        note_work(applied.touched.len() as usize);
        // One core updates the set index while the others check the rows.
        let update_set = || {
            (applied.touched.len() > INLINE_ROWS).then(|| {
                let mut set = SetIndex::clone(&self.set);
                sync(&mut set, (before, &applied.document), &applied.touched, applied.field);
                Arc::new(set)
            })
        };
        let checks = self.with_new_url_prefixes(before, applied);
        let (set, rows) = rayon::join(update_set, || checks.recheck_pages(applied, now, progress));
        rows.map(|rows| Rechecked { set, ..rows })
    }

    /// [`Checks::recheck`] without the set index. `None` when cancelled.
    pub(super) fn recheck_rows(&self, applied: &Applied, now: Now, progress: &Progress) -> Option<Rechecked> {
        note_work(applied.touched.len() as usize);
        self.recheck_pages(applied, now, progress)
    }

    fn recheck_pages(&self, applied: &Applied, now: Now, progress: &Progress) -> Option<Rechecked> {
        let mut findings = self.findings.clone();
        findings.grow(applied.document.row_limit() as usize);
        let mut counts = Arc::clone(&self.counts);
        let recheck = Recheck { checks: self, applied, now, sets: &self.rule_sets() };
        let shares = rows::par_chunks(&applied.touched, |share| {
            let mut numbers = Numbers::new(&self.sets);
            let recheck_page = |(number, range)| {
                let page = RecheckedPage { number, slots: findings.copy_of_page(number), changes: Vec::new() };
                recheck.page(page, rows::ids(&applied.touched, range), &mut numbers)
            };
            let pages = rows::pages(&applied.touched, share).map(recheck_page);
            let pages: Vec<RecheckedPage> = pages.filter(|page| !page.changes.is_empty()).collect();
            (!progress.is_cancelled()).then_some(pages)
        })?;
        let sets = self.rule_sets();
        let set = |number: u16| sets.get(usize::from(number)).copied().unwrap_or_default();
        for page in shares.into_iter().flatten() {
            let sum = Arc::make_mut(&mut counts);
            for ((old, new), rows) in page.changes {
                add(sum, set(old), rows, false);
                add(sum, set(new), rows, true);
            }
            findings.replace_page(page.number, page.slots);
        }
        let criteria = self.criteria.clone();
        Some(Rechecked { findings, counts, set: None, criteria, rows: applied.touched.len() })
    }
}

/// The state that all pages of a recheck share.
struct Recheck<'r> {
    checks: &'r Checks,
    applied: &'r Applied,
    now: Now,
    /// The rule sets before the recheck, by number.
    sets: &'r [RuleSet],
}

impl Recheck<'_> {
    /// Evaluates the entry rules of the touched rows of one page again.
    fn page(
        &self,
        mut page: RecheckedPage,
        rows: impl Iterator<Item = u32>,
        numbers: &mut Numbers<'_>,
    ) -> RecheckedPage {
        let after = &self.applied.document;
        let mut cursor = after.row_cursor();
        // The copy is not shared yet, so this does not clone it.
        let slots = Arc::make_mut(&mut page.slots);
        for row in rows.map(RowId) {
            let Some(slot) = slots.get_mut(row.index() % PAGE) else { continue };
            let old = *slot;
            let before = self.sets.get(usize::from(old)).copied().unwrap_or_default();
            let rules = self.revised(row, before, &mut cursor).unwrap_or_else(|| match self.applied.field {
                Some(field) => self.checks.entry_rules_after(after, row, before, field, self.now),
                None => self.checks.entry_rules(after, row, self.now),
            });
            *slot = numbers.number_of(rules);
            count_change(&mut page.changes, (old, *slot));
        }
        page
    }

    /// The rules that a row violates after an edit of one field, from the rules before and those of the field. `None`
    /// if the whole entry must be checked.
    fn revised(&self, row: RowId, before: RuleSet, cursor: &mut RowCursor<'_>) -> Option<RuleSet> {
        let field = self.applied.field?;
        // A value in the file may have white space around it or contain references; only an edited value is plain.
        let value = self.applied.document.edited(row, field)?;
        let url_prefix = self.checks.url_prefixes.get(cursor.sitemap_of(row).index()).and_then(Option::as_ref);
        let context = Context {
            now: self.now.seconds,
            profile: self.checks.profile(),
            names: cursor.names(row),
            url_prefix,
            policy: self.checks.policy(),
            site: self.checks.site(),
        };
        entry::revise(before, field, value.map(NewValue::from), &self.applied.document.record(row), &context)
    }
}
