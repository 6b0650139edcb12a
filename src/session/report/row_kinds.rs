//! Counts the findings of consecutive rows of the same kind together: in many sets nearly all rows have the same
//! findings.

use super::counting::{Alike, AlikeRows, Counted, Counter, MessageFilter};
use crate::check::rule::RuleSet;
use crate::document::rows::RowId;
use crate::session::checks::RowSetRules;

/// What the rules that a row violates, and the numbers of its findings, depend on.
#[derive(PartialEq, Eq)]
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

/// Consecutive rows of the same kind.
struct Run {
    kind: RowKind,
    /// The rows after the first one, which is counted already.
    rows: AlikeRows,
    /// The rules whose findings need messages; the others are counted.
    with_message: RuleSet,
    /// Whether another row of this kind has the same numbers of findings.
    is_open: bool,
}

/// Counts the findings of rows.
pub(super) struct RowKinds<'c> {
    counter: &'c Counter<'c>,
    /// The sets of entry rules by their numbers.
    sets: &'c [RuleSet],
    filter: &'c MessageFilter,
    run: Option<Run>,
    counted: Counted,
    /// Rows whose text is needed and not in memory.
    unread: Vec<RowId>,
}

impl<'c> RowKinds<'c> {
    pub(super) fn new(counter: &'c Counter<'c>, sets: &'c [RuleSet], filter: &'c MessageFilter) -> Self {
        Self { counter, sets, filter, run: None, counted: Counted::default(), unread: Vec::new() }
    }

    /// Counts the findings of the next row, except those of the rules that it returns, which need messages. Findings whose
    /// text is needed and not in memory are neither counted nor returned: the row is noted as unread.
    pub(super) fn count(&mut self, row: RowId) -> RuleSet {
        let (kind, rules) = self.kind_of(row);
        if let Some(run) = self.run.as_mut().filter(|run| run.is_open && run.kind == kind) {
            run.rows.count += 1;
            return run.with_message;
        }
        self.end_run();
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
        rows.count = 0;
        let is_host_known = kind.origin.is_some() || !rules.intersects(self.counter.by_host);
        self.run = Some(Run { kind, rows, with_message, is_open: alike == Alike::Yes && is_host_known });
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
        let (quirks, is_resident) = (document.quirks_of(row).len(), document.is_resident(row));
        (RowKind { finding_id, of_set, has_extensions, quirks, origin, is_resident }, rules)
    }

    fn end_run(&mut self) {
        if let Some(run) = self.run.take().filter(|run| run.rows.count > 0) {
            self.counter.count(&run.rows, &mut self.counted);
        }
    }

    /// The counts of all rows, and the unread rows.
    pub(super) fn finish(mut self) -> (Counted, Vec<RowId>) {
        self.end_run();
        self.counter.name_hosts(&mut self.counted);
        (self.counted, self.unread)
    }
}
