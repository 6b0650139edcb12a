//! Keeps the messages and fixes of values, since many entries of a file repeat the same faulty value.

use super::context::Context;
use super::fields::rules_of_field;
use super::rule::{Rule, RuleSet};
use super::value_fix::{ValueFix, value_fix};
use super::value_message::field_message;
use crate::protocol::Field;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::BuildHasher;

/// Largest number of values that are kept; all are dropped when it is reached.
const MAX_VALUES: usize = 1 << 10;

/// Length of the longest value that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 64;

/// The rules whose message and fix depend on the value, the clock and nothing else of an entry. URLs seldom repeat.
const KEPT: RuleSet =
    rules_of_field(Field::Lastmod).union(rules_of_field(Field::Changefreq)).union(rules_of_field(Field::Priority));

/// Messages and fixes of the values of several entries. All are checked with the same clock.
#[derive(Debug, Default)]
pub(crate) struct ValueMessages {
    known: HashTable<Explained>,
}

/// A value that violates a rule.
#[derive(Debug)]
struct Explained {
    rule: Rule,
    value: Box<str>,
    /// Made on first use, like the fix.
    message: OnceCell<Box<str>>,
    /// The fix before it is tried in an entry.
    fix: OnceCell<Option<ValueFix>>,
}

/// A value of a field for a rule that it violates.
pub(super) struct FaultyValue<'v> {
    rule: Rule,
    pub(super) field: Field,
    /// Decoded and trimmed of all white space; `None` if the field has no text.
    value: Option<&'v str>,
    context: &'v Context<'v>,
    /// `None` if nothing is kept for this rule or of a value of this length.
    kept: Option<&'v Explained>,
}

impl FaultyValue<'_> {
    /// What is wrong with the value.
    pub(super) fn message(&self) -> String {
        let message = || field_message(self.rule, self.field, self.value.unwrap_or_default(), self.context);
        match self.kept {
            Some(kept) => (**kept.message.get_or_init(|| message().into())).to_owned(),
            None => message(),
        }
    }

    /// The fix for the rule, as [`value_fix`] returns it.
    pub(super) fn fix(&self) -> Option<Cow<'_, ValueFix>> {
        let fix = || value_fix(self.rule, self.field, self.value?, self.context);
        match self.kept {
            Some(kept) => kept.fix.get_or_init(fix).as_ref().map(Cow::Borrowed),
            None => fix().map(Cow::Owned),
        }
    }
}

impl ValueMessages {
    /// A value for a rule that it violates by itself.
    pub(super) fn of<'v>(
        &'v mut self,
        rule: Rule,
        field: Field,
        value: Option<&'v str>,
        context: &'v Context<'v>,
    ) -> FaultyValue<'v> {
        let kept = value.and_then(|value| self.kept(rule, value));
        FaultyValue { rule, field, value, context, kept }
    }

    /// What is kept of a value; `None` if values that violate this rule, or long ones, are not kept.
    fn kept(&mut self, rule: Rule, value: &str) -> Option<&Explained> {
        if !KEPT.contains(rule) || value.len() > MAX_VALUE_BYTES {
            return None;
        }
        let hash_of = |rule: Rule, value: &str| FixedState::with_seed(rule.index() as u64).hash_one(value);
        let hash = hash_of(rule, value);
        let is_same = |known: &Explained| known.rule == rule && *known.value == *value;
        if self.known.len() >= MAX_VALUES && self.known.find(hash, is_same).is_none() {
            self.known.clear();
        }
        let entry = self.known.entry(hash, is_same, |known| hash_of(known.rule, &known.value));
        let new = || Explained { rule, value: value.into(), message: OnceCell::new(), fix: OnceCell::new() };
        Some(entry.or_insert_with(new).into_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{check_value, trim_strict};
    use super::super::rule::Profile;
    use super::super::samples::{NOW, any_value};
    use super::*;
    use crate::xml::names::{FileKind, Names};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn kept_messages_and_fixes_are_those_of_the_value(
            values in proptest::collection::vec((0..4usize).prop_flat_map(|at| (Just(Field::ALL[at]), any_value(Field::ALL[at]))), 1..12),
            rounds in 1..3,
        ) {
            let names = Names::plain(FileKind::Urlset);
            let context =
                Context { now: NOW, profile: Profile::Google, names: &names, url_prefix: None, policy: None, site: None };
            let mut known = ValueMessages::default();
            for _ in 0..rounds {
                for (field, value) in &values {
                    let Some(value) = value.as_deref().map(trim_strict) else { continue };
                    for rule in check_value(*field, value, &context).iter() {
                        let value_of_rule = known.of(rule, *field, Some(value), &context);
                        prop_assert_eq!(value_of_rule.message(), field_message(rule, *field, value, &context));
                        let fix = value_of_rule.fix().map(Cow::into_owned);
                        prop_assert_eq!(fix, value_fix(rule, *field, value, &context));
                    }
                }
            }
        }
    }

    #[test]
    fn a_limited_number_of_values_is_kept() {
        let names = Names::plain(FileKind::Urlset);
        let context =
            Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: None, policy: None, site: None };
        let mut known = ValueMessages::default();
        for number in 0..3 * MAX_VALUES {
            let value = format!("{number}x");
            known.of(Rule::PRIORITY_INVALID, Field::Priority, Some(&value), &context);
            assert!(known.known.len() <= MAX_VALUES);
        }
        let long = "9".repeat(MAX_VALUE_BYTES + 1);
        let before = known.known.len();
        known.of(Rule::PRIORITY_INVALID, Field::Priority, Some(&long), &context);
        assert_eq!(known.known.len(), before);
    }
}
