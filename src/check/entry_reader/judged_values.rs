//! Remembers the verdicts on values that are not sound, or not written the usual way: entries repeat them.

use super::super::context::Context;
use super::super::fields::{FieldFacts, value_rules};
use super::super::rule::RuleSet;
use crate::protocol::Field;
use crate::xml::record::Record;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Values that are remembered, of all fields together: a power of two.
const SLOTS: usize = 64;

/// Bytes of a value that is remembered: dates with a zone and a fraction have 29.
const MOST: usize = 40;

/// What a value other than a URL says.
#[derive(Debug, Clone, Copy)]
pub(super) struct JudgedValue {
    pub(super) field: Field,
    /// The rules that it breaks.
    pub(super) rules: RuleSet,
    pub(super) facts: FieldFacts,
    /// A record that has noted it, and nothing else.
    pub(super) noted: Record,
}

/// A value as written, and its verdict.
#[derive(Debug, Clone, Copy)]
struct Slot {
    text: [u8; MOST],
    len: usize,
    judged: JudgedValue,
}

/// The last values, in one file: verdicts depend on the context.
#[derive(Debug, Default)]
pub(super) struct JudgedValues {
    slots: Vec<Option<Slot>>,
    /// The verdict on a value that is too long to be remembered.
    long: Option<JudgedValue>,
}

impl JudgedValues {
    /// The verdict on a value without references, markup or blanks around it; `None` if it is not UTF-8.
    pub(super) fn value(&mut self, field: Field, raw: &[u8], context: &Context<'_>) -> Option<&JudgedValue> {
        if raw.len() > MOST {
            return Some(self.long.insert(judge(field, raw, context)?));
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, None);
        }
        let place = (FixedState::default().hash_one(raw) as usize).wrapping_add(field.index()) % SLOTS;
        let slot = self.slots.get_mut(place)?;
        let is_it = |slot: &Slot| slot.judged.field == field && slot.text.get(..slot.len) == Some(raw);
        if !slot.as_ref().is_some_and(is_it) {
            let mut text = [0; MOST];
            text.get_mut(..raw.len())?.copy_from_slice(raw);
            *slot = Some(Slot { text, len: raw.len(), judged: judge(field, raw, context)? });
        }
        slot.as_ref().map(|slot| &slot.judged)
    }
}

fn judge(field: Field, raw: &[u8], context: &Context<'_>) -> Option<JudgedValue> {
    let text = std::str::from_utf8(raw).ok()?;
    let (mut facts, mut noted) = (FieldFacts::default(), Record::default());
    let rules = value_rules(field, text, context, &mut facts);
    noted.note(field, Some(text));
    Some(JudgedValue { field, rules, facts, noted })
}
