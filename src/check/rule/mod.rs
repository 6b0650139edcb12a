//! Rules as data: rule ids, sets of rules, and interned rule sets.
//!
//! Each rule has a code. A case of a rule with another severity is a *variant*: a row of its own under the same code,
//! so that every finding has its severity. Code that lists or selects rules by code uses [`Rule::mains`] and
//! [`Rule::family`]. Numbers of rules are valid for one run only; files and scripts use codes.

mod profile;
mod table;

use crate::protocol::Severity;
use hashbrown::HashMap;
pub use profile::Profile;
use std::fmt;
use std::sync::Arc;
pub(super) use table::EXTENSION_RULES;
use table::{COUNT, FAMILIES, TABLE};

/// A rule, as its index in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule(u16);

/// A row of the rule table.
#[derive(Debug)]
pub struct Info {
    /// Stable name in kebab-case.
    pub code: &'static str,
    /// For a variant, the index of its main rule.
    variant_of: Option<u16>,
    /// Severity in the default profile; `None` if that profile leaves the rule out.
    pub severity: Option<Severity>,
    /// The reason for the severity, in one sentence.
    pub reason: &'static str,
    /// The part of a set that it is about.
    pub scope: Scope,
    /// Profiles with another severity than the default.
    pub profiles: &'static [(Profile, Option<Severity>)],
    /// One line, without a full stop.
    pub summary: &'static str,
    /// What is wrong, what is correct, and the consequences, in two or three sentences.
    pub help: &'static str,
    /// Title of the document that defines it.
    pub source: &'static str,
    /// Whether its findings can be fixed.
    pub fix: FixKind,
}

/// How findings with one cause are grouped in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// All findings in a file are listed as one.
    File,
    /// All findings in a file about one host are listed as one; beyond a few hosts, those about all other hosts.
    Host,
}

/// The part of a set that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One file.
    Document,
    /// One `<url>` or `<sitemap>`.
    Entry,
    /// One value.
    Field,
    /// All entries of the set.
    Set,
}

/// Whether and how a finding can be fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FixKind {
    /// Keeps the meaning; may run unattended.
    Safe,
    /// Needs a decision; is offered.
    Ask,
    /// Only by hand.
    None,
}

impl Rule {
    /// Number of rules, variants included.
    pub const COUNT: usize = COUNT;

    /// Every rule and every variant, in the order of the catalogue.
    pub const ALL: [Self; COUNT] = {
        let mut all = [Self(0); COUNT];
        let mut index = 0;
        while index < COUNT {
            all[index] = Self(index as u16);
            index += 1;
        }
        all
    };

    /// The rule at an index of the table; only the modules of the table use indexes.
    const fn at(index: u16) -> Self {
        assert!((index as usize) < COUNT, "a rule outside the table");
        Self(index)
    }

    /// The rules without their variants: each code once, in the order of the catalogue.
    pub fn mains() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|rule| rule.main() == *rule)
    }

    /// The rule of that exact code, never a variant.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::mains().find(|rule| rule.code() == code)
    }

    /// The rule that this is a variant of; itself, if it is none.
    pub fn main(self) -> Self {
        self.info().variant_of.map_or(self, Self)
    }

    /// The rule and all its variants, which share one code.
    pub fn family(self) -> RuleSet {
        FAMILIES[usize::from(self.0)] // in bounds, like `info`
    }

    /// Its row of the table.
    pub fn info(self) -> &'static Info {
        // In bounds: every rule was made by `at` or for `ALL`.
        TABLE[usize::from(self.0)]
    }

    /// Stable name in kebab-case.
    pub fn code(self) -> &'static str {
        self.info().code
    }

    /// Severity in the default profile; `None` if that profile leaves the rule out.
    pub fn severity(self) -> Option<Severity> {
        self.info().severity
    }

    /// Severity in a profile; `None` if that profile leaves the rule out.
    pub fn severity_in(self, profile: Profile) -> Option<Severity> {
        let own = self.info().profiles.iter().find(|(of, _)| *of == profile);
        own.map_or(self.info().severity, |(_, severity)| *severity)
    }

    /// The reason for the severity, in one sentence.
    pub fn reason(self) -> &'static str {
        self.info().reason
    }

    /// How its findings are grouped in lists; `None` if each is listed by itself. The findings of rows are not grouped.
    pub fn grouping(self) -> Option<Grouping> {
        if table::PER_HOST.contains(self) {
            Some(Grouping::Host)
        } else {
            table::PER_FILE.contains(self).then_some(Grouping::File)
        }
    }

    /// The part of a set that it is about.
    pub fn scope(self) -> Scope {
        self.info().scope
    }

    /// One line, without a full stop.
    pub fn summary(self) -> &'static str {
        self.info().summary
    }

    /// What is wrong, what is correct, and the consequences.
    pub fn help(self) -> &'static str {
        self.info().help
    }

    /// Title of the document that defines it.
    pub fn source(self) -> &'static str {
        self.info().source
    }

    /// Whether its findings can be fixed.
    pub fn fix(self) -> FixKind {
        self.info().fix
    }

    /// Its index in arrays with one element per rule.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The code, followed by the severity for a variant.
impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())?;
        match self.severity() {
            Some(severity) if self.main() != *self => write!(f, "/{}", severity.name()),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FixKind {
    /// `safe`, `ask` or `none`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Ask => "ask",
            Self::None => "none",
        }
    }
}

/// Words of a set of rules.
const WORDS: usize = 6;

const _: () = assert!(COUNT <= WORDS * 64, "more rules than bits: widen RuleSet");

/// A set of rules: one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RuleSet([u64; WORDS]);

impl RuleSet {
    /// No rule.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Every rule.
    pub const ALL: Self = Self::of(&Rule::ALL);

    /// Rules that are errors in the default profile.
    pub const ERRORS: Self = table::of_severity(Severity::Error);

    /// Rules that are warnings in the default profile.
    pub const WARNINGS: Self = table::of_severity(Severity::Warning);

    /// Rules that are notes in the default profile.
    pub const NOTES: Self = table::of_severity(Severity::Note);

    /// A set of these rules.
    pub const fn of(rules: &[Rule]) -> Self {
        let mut set = Self::EMPTY;
        let mut at = 0;
        while at < rules.len() {
            set.insert(rules[at]); // `at` is below the length
            at += 1;
        }
        set
    }

    /// Adds a rule.
    pub const fn insert(&mut self, rule: Rule) {
        // In bounds: every index is below `COUNT`, so its word is below `WORDS`.
        self.0[(rule.0 >> 6) as usize] |= 1 << (rule.0 & 63);
    }

    /// Adds a rule if `condition` holds.
    pub const fn insert_if(&mut self, rule: Rule, condition: bool) {
        if condition {
            self.insert(rule);
        }
    }

    /// Removes a rule.
    pub const fn remove(&mut self, rule: Rule) {
        self.0[(rule.0 >> 6) as usize] &= !(1 << (rule.0 & 63));
    }

    /// Whether a rule is in it.
    pub const fn contains(self, rule: Rule) -> bool {
        self.0[(rule.0 >> 6) as usize] & (1 << (rule.0 & 63)) != 0
    }

    /// Whether it contains no rule.
    pub const fn is_empty(self) -> bool {
        let words = self.0;
        words[0] | words[1] | words[2] | words[3] | words[4] | words[5] == 0
    }

    /// Whether it contains a rule of `other`.
    pub const fn intersects(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The rules of either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3], a[4] | b[4], a[5] | b[5]])
    }

    /// The rules of both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3], a[4] & b[4], a[5] & b[5]])
    }

    /// The rules of this set that are not in `other`.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] & !b[0], a[1] & !b[1], a[2] & !b[2], a[3] & !b[3], a[4] & !b[4], a[5] & !b[5]])
    }

    /// Number of rules.
    pub const fn len(self) -> u32 {
        let (mut count, mut word) = (0, 0);
        while word < WORDS {
            count += self.0[word].count_ones(); // `word` is below the length
            word += 1;
        }
        count
    }

    /// Its rules, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        self.0.into_iter().enumerate().flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(Rule((word as u32 * 64 + bit) as u16))
            })
        })
    }

    /// The worst severity among its rules in the default profile.
    pub const fn worst(self) -> Option<Severity> {
        if self.intersects(Self::ERRORS) {
            Some(Severity::Error)
        } else if self.intersects(Self::WARNINGS) {
            Some(Severity::Warning)
        } else if self.intersects(Self::NOTES) {
            Some(Severity::Note)
        } else {
            None
        }
    }

    /// The first of its worst rules in the default profile.
    pub fn worst_rule(self) -> Option<Rule> {
        [Self::ERRORS, Self::WARNINGS, Self::NOTES].into_iter().find_map(|of| self.intersection(of).iter().next())
    }
}

impl FromIterator<Rule> for RuleSet {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        let mut set = Self::EMPTY;
        for rule in rules {
            set.insert(rule);
        }
        set
    }
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Interned rule sets, each with an id: 0 is the empty set.
///
/// Sets are never removed, so an id stays valid. Real files have a few hundred different sets; once all 65,536 ids are
/// in use, a new set is replaced by its worst rule alone.
///
/// A set can have several ids, one for each combination of finding counts, so that reports can count findings without
/// reading the entries again.
#[derive(Debug, Clone)]
pub struct RuleSets {
    sets: Vec<RuleSet>,
    numbers: HashMap<RuleSet, u16, foldhash::fast::FixedState>,
    /// Further ids of a set, for different counts of findings.
    counted: HashMap<RuleSet, Vec<u16>, foldhash::fast::FixedState>,
    finding_counts: Arc<FindingCounts>,
}

/// For each id of a set of rules: the number of findings of a row, for each rule that can have several findings per
/// row.
pub type FindingCounts = HashMap<u16, Box<[(Rule, u32)]>, foldhash::fast::FixedState>;

impl Default for RuleSets {
    /// The empty set and each rule alone, which are needed when no further ids are left.
    fn default() -> Self {
        let (numbers, counted) = (HashMap::default(), HashMap::default());
        let mut sets = Self { sets: Vec::new(), numbers, counted, finding_counts: Arc::default() };
        sets.intern(RuleSet::EMPTY);
        for rule in Rule::ALL {
            sets.intern(RuleSet::of(&[rule]));
        }
        sets
    }
}

impl RuleSets {
    /// The id of the empty set.
    pub const CLEAN: u16 = 0;

    /// Number of possible ids.
    const LIMIT: usize = u16::MAX as usize + 1;

    /// The id of a set, assigned now if it has none.
    pub fn intern(&mut self, set: RuleSet) -> u16 {
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        if self.sets.len() >= Self::LIMIT {
            let worst = set.worst_rule().map_or(RuleSet::EMPTY, |rule| RuleSet::of(&[rule]));
            return self.numbers.get(&worst).copied().unwrap_or(0);
        }
        let number = self.sets.len() as u16;
        self.sets.push(set);
        self.numbers.insert(set, number);
        number
    }

    /// Largest number of ids of one set for different counts of findings.
    pub const MAX_COUNTED: usize = 64;

    /// The id of a set with these counts of findings; that of [`RuleSets::intern`] if the set has too many ids already.
    pub fn intern_counted(&mut self, set: RuleSet, finding_counts: &[(Rule, u32)]) -> u16 {
        let numbers = self.counted.entry(set).or_default();
        let known = numbers
            .iter()
            .find(|number| self.finding_counts.get(*number).is_some_and(|known| **known == *finding_counts));
        if let Some(number) = known {
            return *number;
        }
        // Half of the ids are reserved for new sets.
        if numbers.len() >= Self::MAX_COUNTED || self.sets.len() >= Self::LIMIT / 2 {
            return self.intern(set);
        }
        let number = self.sets.len() as u16;
        numbers.push(number);
        self.sets.push(set);
        Arc::make_mut(&mut self.finding_counts).insert(number, finding_counts.into());
        number
    }

    /// The known counts of findings by id.
    pub const fn finding_counts(&self) -> &Arc<FindingCounts> {
        &self.finding_counts
    }

    /// The set with an id; the empty set for an unknown id.
    pub fn get(&self, number: u16) -> RuleSet {
        self.sets.get(usize::from(number)).copied().unwrap_or(RuleSet::EMPTY)
    }

    /// Number of ids in use.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Always false: the empty set has an id.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Adds the sets of a worker; returns this table's id for each of the worker's ids.
    pub fn merge(&mut self, worker: &Self) -> Vec<u16> {
        worker.sets.iter().map(|set| self.intern(*set)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashSet};

    #[test]
    fn codes_are_unique_and_found_by_from_code() {
        let mut seen = HashSet::new();
        for rule in Rule::mains() {
            let code = rule.code();
            assert!(seen.insert(code), "{code} twice");
            assert_eq!(Rule::from_code(code), Some(rule));
            assert!(
                code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{code}"
            );
        }
        assert_eq!(Rule::from_code("no-such-rule"), None);
    }

    #[test]
    fn a_variant_is_its_rule_at_another_severity() {
        let variants: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| rule.main() != *rule).collect();
        let expected = [
            Rule::DOC_NO_ENTRIES_NEWS,
            Rule::FIELD_WHITESPACE_STRICT,
            Rule::LASTMOD_YEAR_RANGE_DIGITS,
            Rule::LASTMOD_ZERO_UNIX,
            Rule::LOC_TOO_LONG_BY_ONE,
            Rule::LOC_TOO_LONG_ENCODED,
            Rule::EXT_OBSOLETE_PAGEMAP,
            Rule::HREFLANG_DUPLICATE_DIFFERENT,
            Rule::FEED_NOT_SUPPORTED_OLD,
            Rule::SITE_BLOCKED_FOR_BING,
            Rule::SITE_BLOCKED_FOR_OTHERS,
        ];
        assert_eq!(variants, expected);
        for variant in variants {
            let main = variant.main();
            assert_eq!((main.main(), main.code(), main.scope()), (main, variant.code(), variant.scope()));
            let differs = main.severity() != variant.severity() || main.info().profiles != variant.info().profiles;
            assert!(differs, "{variant:?} needs no row of its own");
            let of_main = expected.into_iter().filter(|other| other.main() == main).chain([main]);
            assert_eq!(variant.family(), of_main.collect());
            assert_eq!(main.family(), variant.family());
        }
        assert_eq!(Rule::LOC_FRAGMENT.family(), RuleSet::of(&[Rule::LOC_FRAGMENT]));
    }

    #[test]
    fn every_rule_has_its_texts() {
        for rule in Rule::ALL {
            let (code, help, summary) = (rule.code(), rule.help(), rule.summary());
            assert!(!summary.is_empty() && !summary.ends_with('.') && summary.len() <= 76, "{code}: {summary}");
            assert!(help.ends_with('.') && (60..=420).contains(&help.len()), "{code}: {} {help}", help.len());
            assert!((2..=4).contains(&help.matches(['.', '?']).count().min(4)), "{code}: {help}");
            assert!(!rule.source().is_empty(), "{code}");
            let reason = rule.reason();
            assert!(reason.ends_with('.') && (30..=160).contains(&reason.len()), "{code}: {reason}");
            assert!(reason.matches('.').count() <= 3, "one sentence: {code}: {reason}");
        }
    }

    #[test]
    fn rules_that_the_default_profile_leaves_out_are_in_another() {
        for rule in Rule::ALL.into_iter().filter(|rule| rule.severity().is_none()) {
            assert!(rule.info().profiles.iter().any(|(_, severity)| severity.is_some()), "{rule}");
        }
        assert_eq!(Rule::LOC_TOO_LONG_YANDEX.severity_in(Profile::Yandex), Some(Severity::Warning));
        assert_eq!(Rule::LOC_TOO_LONG_YANDEX.severity_in(Profile::Protocol), None);
        assert_eq!(Rule::LOC_OUTSIDE_PATH.severity_in(Profile::Google), Some(Severity::Warning));
    }

    #[test]
    fn the_worst_comes_first() {
        let note = Rule::LOC_NOT_ASCII;
        let (warning, error) = (Rule::LOC_FRAGMENT, Rule::LASTMOD_IMPOSSIBLE);
        let table: [(&[Rule], Option<Severity>, Option<Rule>); 5] = [
            (&[], None, None),
            (&[Rule::LOC_TOO_LONG_YANDEX], None, None),
            (&[note], Some(Severity::Note), Some(note)),
            (&[note, warning], Some(Severity::Warning), Some(warning)),
            (&[note, warning, error], Some(Severity::Error), Some(error)),
        ];
        for (rules, severity, rule) in table {
            let set = RuleSet::of(rules);
            assert_eq!((set.worst(), set.worst_rule()), (severity, rule), "{set:?}");
        }
    }

    fn any_rules() -> impl Strategy<Value = BTreeSet<Rule>> {
        proptest::collection::btree_set((0..COUNT as u16).prop_map(Rule::at), 0..12)
    }

    proptest! {
        #[test]
        fn rule_sets_behave_like_btree_sets(a in any_rules(), b in any_rules()) {
            let (left, right): (RuleSet, RuleSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(left.iter().collect::<BTreeSet<_>>(), a.clone());
            prop_assert_eq!(left.len() as usize, a.len());
            let pairs = [
                (left.union(right), a.union(&b).copied().collect::<BTreeSet<_>>()),
                (left.intersection(right), a.intersection(&b).copied().collect()),
                (left.minus(right), a.difference(&b).copied().collect()),
            ];
            for (ours, theirs) in pairs {
                prop_assert_eq!(ours.iter().collect::<BTreeSet<_>>(), theirs);
            }
            let mut emptied = left;
            for rule in &a {
                prop_assert!(emptied.contains(*rule));
                emptied.remove(*rule);
            }
            prop_assert!(emptied.is_empty());
        }

        #[test]
        fn ids_return_their_sets(sets in proptest::collection::vec(any_rules(), 0..40)) {
            let (mut all, mut worker) = (RuleSets::default(), RuleSets::default());
            for set in &sets {
                worker.intern(set.iter().copied().collect());
            }
            let moved = all.merge(&worker);
            for set in sets {
                let set: RuleSet = set.into_iter().collect();
                let number = worker.intern(set);
                prop_assert_eq!(worker.get(number), set);
                prop_assert_eq!(all.get(moved[usize::from(number)]), set);
                prop_assert_eq!(number == 0, set.is_empty());
            }
        }
    }

    #[test]
    fn a_full_table_keeps_the_worst_rule() {
        let mut sets = RuleSets::default();
        let rules: Vec<Rule> = Rule::ALL.into_iter().take(17).collect();
        for bits in 0..1_u32 << 17 {
            let set = (0..17).filter(|bit| bits & (1 << bit) != 0).map(|bit| rules[bit as usize]).collect();
            sets.intern(set);
        }
        assert_eq!(sets.len(), RuleSets::LIMIT);
        let stranger = RuleSet::of(&[Rule::SET_MIXED_SLASH, Rule::LASTMOD_IMPOSSIBLE, Rule::LOC_FRAGMENT]);
        let number = sets.intern(stranger);
        assert_eq!(sets.get(number), RuleSet::of(&[Rule::LASTMOD_IMPOSSIBLE]));
    }
}
