//! The elements that are open below the root.

use crate::protocol::Field;
use std::borrow::Cow;
use std::collections::HashMap;

/// What an open element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// An entry, a child of the root.
    Entry,
    /// A core field, a child of an entry.
    Field(Field),
    /// Anything else.
    Other,
}

/// An open element below the root.
#[derive(Debug)]
pub(super) struct Open<'b> {
    pub(super) level: Level,
    /// Its name as the file has it.
    pub(super) name: &'b [u8],
    /// Its name as its end tag will have it.
    pub(super) written: Cow<'b, [u8]>,
    /// Where it was put, leading trivia included.
    pub(super) lead: usize,
    /// Where its start tag was put.
    pub(super) tag: usize,
    /// Where what is inside it was put.
    pub(super) inner: usize,
    /// Where its start tag is in the file, and where that ends.
    pub(super) source: (usize, usize),
    pub(super) has_text: bool,
    pub(super) has_child: bool,
    /// Whether its namespace is a known extension's, whose elements never hold themselves.
    pub(super) is_known: bool,
    /// Whether it declares namespaces of its own.
    pub(super) declares: bool,
    /// Whether the file has no start tag for it.
    pub(super) is_implied: bool,
    /// Whether it is a child of the root, and one that the protocol does not have.
    pub(super) is_stray: bool,
}

impl Open<'_> {
    pub(super) fn is_entry(&self) -> bool {
        self.level == Level::Entry
    }
}

/// The stack of open elements, the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenElements<'b> {
    pub(super) stack: Vec<Open<'b>>,
    /// How many of them declare namespaces.
    pub(super) declaring: usize,
    /// How often a name is open below a child of an entry or of the root.
    names: HashMap<&'b [u8], u32>,
}

impl<'b> OpenElements<'b> {
    pub(super) fn push(&mut self, open: Open<'b>) {
        self.declaring += usize::from(open.declares);
        if open.level == Level::Other {
            *self.names.entry(open.name).or_default() += 1;
        }
        self.stack.push(open);
    }

    pub(super) fn pop(&mut self) -> Option<Open<'b>> {
        let top = self.stack.pop()?;
        self.declaring -= usize::from(top.declares);
        if top.level == Level::Other
            && let Some(count) = self.names.get_mut(top.name)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.names.remove(top.name);
            }
        }
        Some(top)
    }

    /// Shifts the offsets in the output.
    pub(super) fn shift(&mut self, by: usize) {
        for open in &mut self.stack {
            open.lead += by;
            open.tag += by;
            open.inner += by;
        }
    }

    pub(super) fn clear(&mut self) {
        self.stack.clear();
        self.declaring = 0;
        self.names.clear();
    }

    /// Whether an element of this name is open that is neither an entry nor a field.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.names.contains_key(name)
    }

    /// Whether the open entry has no start tag in the file.
    pub(super) fn is_implied(&self) -> bool {
        self.stack.first().is_some_and(|open| open.is_implied)
    }
}
