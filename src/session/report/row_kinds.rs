//! Counts the findings of rows of the same kind together: in many sets nearly all rows have the same findings, or one of
//! a few numbers of them.

use super::counting::{Alike, AlikeRows, Counted, Counter, MessageFilter};
use crate::check::rule::RuleSet;
use crate::check::set::RowShape;
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::session::checks::RowSetRules;
use crate::xml::record::Flags;
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

/// What decides the kind of a row that no other row is compared with: the bits of its shape, the number of its set of entry
/// rules, its flags, the number of its quirks, whether it has a lastmod and whether its text is in memory. It costs less than
/// working out the kind, and is compared in the width in which it is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RowTraits(u128);

/// Rows of the same kind.
struct KnownKind {
    /// The rows after the first one, which is counted already.
    rows: AlikeRows,
    /// The rules whose findings need messages; the others are counted.
    with_message: RuleSet,
}

/// Exceptional rows, for lookups of rows in mostly ascending order.
struct Exceptions {
    /// In ascending order.
    rows: Vec<u32>,
    /// The index of the first exceptional row from `last` on.
    next: usize,
    /// The row that was looked up last.
    last: u32,
}

impl Exceptions {
    fn contains(&mut self, row: u32) -> bool {
        if row < self.last {
            self.next = self.rows.partition_point(|exception| *exception < row);
        }
        self.last = row;
        let rest = self.rows.get(self.next..).unwrap_or_default();
        self.next += rest.iter().take_while(|exception| **exception < row).count();
        self.rows.get(self.next) == Some(&row)
    }
}

/// The maximum number of kinds whose rows are counted together. A set with findings in most rows can have hundreds.
const MAX_KINDS: usize = 1 << 10;

/// Counts the findings of rows of a file.
pub(super) struct RowKinds<'c> {
    counter: &'c Counter<'c>,
    /// The sets of entry rules by their numbers.
    sets: &'c [RuleSet],
    filter: &'c MessageFilter,
    /// Whether the filter selects the same findings of all rows, and most of them.
    selects_most: bool,
    /// The rows of the file whose text is in memory.
    resident: Range<u32>,
    /// The rows whose traits do not decide their kind.
    exceptions: Exceptions,
    /// Kinds of rows that have the same numbers of findings as any other row of the kind, by their numbers.
    kinds: Vec<KnownKind>,
    kind_numbers: HashMap<RowKind, u32, FixedState>,
    /// The numbers of kinds by the traits of their rows.
    kinds_of_traits: HashMap<RowTraits, u32, FixedState>,
    /// The traits that were looked up last, and the number of their kind.
    last: Option<(RowTraits, u32)>,
    counted: Counted,
    /// Rows whose text is needed and not in memory.
    unread: Vec<RowId>,
}

impl<'c> RowKinds<'c> {
    /// For counting these rows of a file.
    pub(super) fn new(
        counter: &'c Counter<'c>,
        id: SitemapId,
        rows: &[RowId],
        sets: &'c [RuleSet],
        filter: &'c MessageFilter,
    ) -> Self {
        let resident = counter.snapshot.document.resident_range(id);
        Self {
            counter,
            sets,
            filter,
            selects_most: !filter.can_shrink && !filter.rules.is_empty(),
            resident,
            exceptions: Exceptions { rows: counter.compared_among(rows), next: 0, last: 0 },
            kinds: Vec::new(),
            kind_numbers: HashMap::default(),
            kinds_of_traits: HashMap::default(),
            last: None,
            counted: Counted::default(),
            unread: Vec::new(),
        }
    }

    /// Counts the findings of the next row, except those of the rules that it returns, which need messages. Findings whose
    /// text is needed and not in memory are neither counted nor returned: the row is noted as unread.
    pub(super) fn count(&mut self, row: RowId) -> RuleSet {
        let known = self.selects_most.then(|| self.rules_of(row));
        if let Some((_, rules)) = known
            && self.needs_all_messages(row, rules)
        {
            return rules;
        }
        let traits = self.traits_of(row);
        if let Some(number) = traits.and_then(|traits| self.kind_of_traits(traits)) {
            return self.count_known(number);
        }
        let (of_set, rules) = known.unwrap_or_else(|| self.rules_of(row));
        let kind = self.kind_of(row, of_set, rules);
        if let Some(number) = self.kind_numbers.get(&kind).copied() {
            self.note_traits(traits, number);
            return self.count_known(number);
        }
        let is_resident = kind.is_resident;
        if !is_resident && self.filter.needs_host(rules) {
            self.unread.push(row);
            return RuleSet::EMPTY;
        }
        let host = || match kind.origin {
            Some(origin) => self.counter.host_of_origin(origin),
            None => self.counter.host_of(row),
        };
        let with_message = self.filter.of_row(rules, host);
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
            let number = self.kinds.len() as u32;
            self.kinds.push(KnownKind { rows, with_message });
            self.kind_numbers.insert(kind, number);
            self.note_traits(traits, number);
        }
        with_message
    }

    /// Counts the next row, which is of the kind with this number. Returns the rules whose findings need messages.
    fn count_known(&mut self, kind: u32) -> RuleSet {
        let Some(known) = self.kinds.get_mut(kind as usize) else { return RuleSet::EMPTY };
        known.rows.count += 1;
        known.with_message
    }

    /// The number of the kind of rows with these traits, if it is known.
    fn kind_of_traits(&mut self, traits: RowTraits) -> Option<u32> {
        if let Some((last, number)) = self.last
            && last == traits
        {
            return Some(number);
        }
        let number = *self.kinds_of_traits.get(&traits)?;
        self.last = Some((traits, number));
        Some(number)
    }

    /// Notes that rows with these traits are of this kind.
    fn note_traits(&mut self, traits: Option<RowTraits>, kind: u32) {
        if let Some(traits) = traits.filter(|_| self.kinds_of_traits.len() < MAX_KINDS) {
            self.kinds_of_traits.insert(traits, kind);
        }
    }

    /// The traits of a row; `None` if they do not decide its kind.
    fn traits_of(&mut self, row: RowId) -> Option<RowTraits> {
        let (document, checks) = (&self.counter.snapshot.document, &self.counter.snapshot.checks);
        if self.exceptions.contains(row.0) || !checks.set().link_rules(row.0).is_empty() {
            return None;
        }
        let shape = checks.set().decisive_shape(row.0)?;
        let (record, finding_id) = (document.record(row), checks.finding_id(row));
        let quirks = if !record.flags.contains(Flags::REPAIRED) {
            0
        } else if self.counter.has_single_quirks {
            1
        } else {
            document.quirks_of(row).len()
        };
        let traits = [
            (0, shape.to_bits()),
            (32, finding_id.into()),
            (48, record.flags.bits().into()),
            (64, quirks as u32),
            (96, record.has_lastmod().into()),
            (97, self.resident.contains(&row.0).into()),
        ];
        Some(RowTraits(traits.into_iter().fold(0, |bits, (position, value)| bits | u128::from(value) << position)))
    }

    /// The rules of the set that a row violates, and all rules that it violates.
    fn rules_of(&self, row: RowId) -> (RowSetRules, RuleSet) {
        let Counter { snapshot, near, has_set_rules, .. } = self.counter;
        let mut of_set = RowSetRules::default();
        if *has_set_rules {
            of_set = snapshot.checks.set_rules_of(row, &snapshot.document).unwrap_or_default();
            of_set.is_near_duplicate |= near.contains(row.0);
        }
        let of_entry = self.sets.get(usize::from(snapshot.checks.finding_id(row))).copied().unwrap_or_default();
        (of_set, of_entry.union(of_set.rules()))
    }

    /// Whether no finding of a row that violates these rules is only counted.
    fn needs_all_messages(&self, row: RowId, rules: RuleSet) -> bool {
        let is_selected = rules.minus(self.filter.rules).is_empty() && !self.filter.needs_host(rules);
        is_selected && self.resident.contains(&row.0)
    }

    /// The kind of a row that violates these rules.
    fn kind_of(&self, row: RowId, of_set: RowSetRules, rules: RuleSet) -> RowKind {
        let Counter { snapshot, by_host, .. } = self.counter;
        let (document, checks) = (&snapshot.document, &snapshot.checks);
        let shape = if rules.intersects(*by_host) { checks.set().decisive_shape(row.0) } else { None };
        let origin = shape.and_then(RowShape::origin_number);
        let has_extensions = document.record(row).flags.has_extensions();
        let (quirks, is_resident) = (document.quirks_of(row).len(), self.resident.contains(&row.0));
        RowKind { finding_id: checks.finding_id(row), of_set, has_extensions, quirks, origin, is_resident }
    }

    /// The counts of all rows, and the unread rows.
    pub(super) fn finish(mut self) -> (Counted, Vec<RowId>) {
        for known in self.kinds.iter().filter(|known| known.rows.count > 0) {
            self.counter.count(&known.rows, &mut self.counted);
        }
        (self.counted, self.unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exceptions_are_found_in_any_order(
            rows in prop::collection::btree_set(0..40_u32, 0..20), lookups in prop::collection::vec(0..42_u32, 0..40),
        ) {
            let mut exceptions = Exceptions { rows: rows.iter().copied().collect(), next: 0, last: 0 };
            for row in lookups {
                prop_assert_eq!(exceptions.contains(row), rows.contains(&row));
            }
        }
    }
}
