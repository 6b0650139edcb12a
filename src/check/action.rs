//! The change that a fix makes to an entry: new field values, a new text, or several entries instead of one.

use super::context::Context;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::splice::{Change, splice};
use std::borrow::Cow;

/// A fix of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The effect as a short phrase: `add the seconds`.
    pub label: Cow<'static, str>,
    /// Whether it keeps the meaning, so that it may run without a review.
    pub is_safe: bool,
    /// The change.
    pub action: Action,
}

impl Fix {
    /// A fix that changes a file, but no entry alone.
    pub(crate) const fn of_file(label: &'static str, is_safe: bool) -> Self {
        Self { label: Cow::Borrowed(label), is_safe, action: Action::File }
    }

    /// This fix with [`Action::File`] instead of its own change.
    #[must_use]
    pub(crate) fn with_file_action(self) -> Self {
        Self { action: Action::File, ..self }
    }
}

/// The fixes that findings have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixes {
    /// None.
    None,
    /// Fixes without their changes, for a report that only describes them.
    Described,
    /// Fixes that can be applied.
    Applicable,
}

/// The change that a fix makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Sets the value of a field; `None` removes the element.
    Set {
        /// The field.
        field: Field,
        /// The new value, decoded.
        value: Option<String>,
    },
    /// Replaces the whole entry text, leading trivia included.
    Rewrite(String),
    /// Splits the entry into several; the first one replaces it.
    Split(Vec<String>),
    /// Changes the file that contains the entry, but not the entry.
    File,
}

impl Action {
    /// The entry text after the change. `entry` must be the anatomy of `text`.
    pub fn apply(&self, entry: &Entry, text: &[u8], context: &Context<'_>) -> Vec<u8> {
        match self {
            Self::Rewrite(new) => new.clone().into_bytes(),
            Self::Split(parts) => parts.first().map_or_else(|| text.to_vec(), |first| first.clone().into_bytes()),
            Self::File => text.to_vec(),
            Self::Set { field, value } => {
                let mut changes = [None; 4];
                if let Some(change) = changes.get_mut(field.index()) {
                    *change = Some(value.as_deref().map_or(Change::Remove, Change::Set));
                }
                let mut out = Vec::with_capacity(text.len() + 32);
                splice(entry, text, context.names, &changes, &mut out);
                out
            }
        }
    }
}
