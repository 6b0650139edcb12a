//! Caches results for values that the strict parsers reject, since many entries repeat the same value.

use super::super::context::Context;
use super::super::fields::{FieldFacts, value_rules};
use super::super::rule::RuleSet;
use crate::protocol::Field;
use crate::xml::record::Record;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Number of cached values of all fields together; a power of two.
const SLOTS: usize = 64;

/// Length of the longest value that is cached; dates with a zone and a fraction have 29 bytes.
const MAX_VALUE_BYTES: usize = 40;

/// The result of checking a value other than a URL.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckedValue {
    pub(super) field: Field,
    /// The rules that it violates.
    pub(super) rules: RuleSet,
    pub(super) facts: FieldFacts,
    /// A record with only this value.
    pub(super) record: Record,
}

/// A value as written and its result.
#[derive(Debug, Clone, Copy)]
struct Slot {
    text: [u8; MAX_VALUE_BYTES],
    len: usize,
    checked: CheckedValue,
}

/// Results for recent values of one file; they depend on the context.
#[derive(Debug, Default)]
pub(super) struct ValueCache {
    slots: Vec<Option<Slot>>,
    /// The result for a value that is too long to be cached.
    long: Option<CheckedValue>,
}

impl ValueCache {
    /// The result for a value without references, markup or white space around it; `None` if it is not UTF-8.
    pub(super) fn check(&mut self, field: Field, raw: &[u8], context: &Context<'_>) -> Option<&CheckedValue> {
        if raw.len() > MAX_VALUE_BYTES {
            return Some(self.long.insert(check_value(field, raw, context)?));
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, None);
        }
        let index = (FixedState::default().hash_one(raw) as usize).wrapping_add(field.index()) % SLOTS;
        let slot = self.slots.get_mut(index)?;
        let matches = |slot: &Slot| slot.checked.field == field && slot.text.get(..slot.len) == Some(raw);
        if !slot.as_ref().is_some_and(matches) {
            let mut text = [0; MAX_VALUE_BYTES];
            text.get_mut(..raw.len())?.copy_from_slice(raw);
            *slot = Some(Slot { text, len: raw.len(), checked: check_value(field, raw, context)? });
        }
        slot.as_ref().map(|slot| &slot.checked)
    }
}

fn check_value(field: Field, raw: &[u8], context: &Context<'_>) -> Option<CheckedValue> {
    let text = std::str::from_utf8(raw).ok()?;
    let (mut facts, mut record) = (FieldFacts::default(), Record::default());
    let rules = value_rules(field, text, context, &mut facts, None);
    record.note(field, Some(text));
    Some(CheckedValue { field, rules, facts, record })
}
