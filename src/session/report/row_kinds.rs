//! Counts the findings of rows of the same kind together: in many sets nearly all rows have the same findings, or one of
//! a few numbers of them.

use super::counting::{Alike, AlikeRows, Counted, Counter, MessageFilter};
use crate::check::rule::RuleSet;
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::session::checks::RowSetRules;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::ops::Range;

/// What the rules that a row violates, and the numbers of its findings, depend on.
#[derive(PartialEq, Eq, Hash)]
struct RowKind {
    /// The number of its set of entry rules.
    finding_id: u16,
    of_set: RowSetRules,
    has_extensions: bool,
    quirks: usize,
    /// The number of its origin, if a rule of it is grouped by host and the number is known.
    origin: Option<u32>,
    is_resident: bool,
}

/// Rows of the same kind.
struct KnownKind {
    /// The rows after the first one, which is counted already.
    rows: AlikeRows,
    /// The rules whose findings need messages; the others are counted.
    with_message: RuleSet,
}

/// The maximum number of kinds whose rows are counted together. A set with findings in most rows can have hundreds.
const MAX_KINDS: usize = 1 << 10;

/// Counts the findings of rows of a file.
pub(super) struct RowKinds<'c> {
    counter: &'c Counter<'c>,
    /// The sets of entry rules by their numbers.
    sets: &'c [RuleSet],
    filter: &'c MessageFilter,
    /// The rows of the file whose text is in memory.
    resident: Range<u32>,
    /// Kinds of rows that have the same numbers of findings as any other row of the kind.
    kinds: HashMap<RowKind, KnownKind, FixedState>,
    counted: Counted,
    /// Rows whose text is needed and not in memory.
    unread: Vec<RowId>,
}

impl<'c> RowKinds<'c> {
    pub(super) fn new(counter: &'c Counter<'c>, id: SitemapId, sets: &'c [RuleSet], filter: &'c MessageFilter) -> Self {
        let resident = counter.snapshot.document.resident_range(id);
        let (kinds, counted, unread) = (HashMap::default(), Counted::default(), Vec::new());
        Self { counter, sets, filter, resident, kinds, counted, unread }
    }

    /// Counts the findings of the next row, except those of the rules that it returns, which need messages. Findings whose
    /// text is needed and not in memory are neither counted nor returned: the row is noted as unread.
    pub(super) fn count(&mut self, row: RowId) -> RuleSet {
        let (kind, rules) = self.kind_of(row);
        if let Some(known) = self.kinds.get_mut(&kind) {
            known.rows.count += 1;
            return known.with_message;
        }
        let is_resident = kind.is_resident;
        if !is_resident && self.filter.needs_host(rules) {
            self.unread.push(row);
            return RuleSet::EMPTY;
        }
        let with_message = self.filter.of_row(rules, || self.counter.host_of(row));
        let rest = rules.minus(with_message);
        let mut rows = AlikeRows { row, rules, rest, origin: kind.origin, is_resident, count: 1 };
        let alike = if is_resident || with_message.is_empty() {
            self.counter.count(&rows, &mut self.counted)
        } else {
            Alike::Unread
        };
        if alike == Alike::Unread {
            self.unread.push(row);
            return RuleSet::EMPTY;
        }
        let is_host_known = kind.origin.is_some() || !rules.intersects(self.counter.by_host);
        if alike == Alike::Yes && is_host_known && self.kinds.len() < MAX_KINDS {
            rows.count = 0;
            self.kinds.insert(kind, KnownKind { rows, with_message });
        }
        with_message
    }

    fn kind_of(&self, row: RowId) -> (RowKind, RuleSet) {
        let Counter { snapshot, near, by_host, has_set_rules, .. } = self.counter;
        let (document, checks) = (&snapshot.document, &snapshot.checks);
        let finding_id = checks.finding_id(row);
        let mut of_set = RowSetRules::default();
        if *has_set_rules {
            of_set = checks.set_rules_of(row, document).unwrap_or_default();
            of_set.is_near_duplicate |= near.contains(row.0);
        }
        let rules = self.sets.get(usize::from(finding_id)).copied().unwrap_or_default().union(of_set.rules());
        let origin = if rules.intersects(*by_host) { checks.set().origin_number(row.0) } else { None };
        let has_extensions = document.record(row).flags.has_extensions();
        let (quirks, is_resident) = (document.quirks_of(row).len(), self.resident.contains(&row.0));
        (RowKind { finding_id, of_set, has_extensions, quirks, origin, is_resident }, rules)
    }

    /// The counts of all rows, and the unread rows.
    pub(super) fn finish(mut self) -> (Counted, Vec<RowId>) {
        for known in self.kinds.values().filter(|known| known.rows.count > 0) {
            self.counter.count(&known.rows, &mut self.counted);
        }
        self.counter.name_hosts(&mut self.counted);
        (self.counted, self.unread)
    }
}
