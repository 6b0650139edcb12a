//! The elements that are open below the root.

use super::super::names;
use super::text::{TextContext, is_url};
use crate::protocol::Field;
use std::borrow::Cow;
use std::collections::HashMap;

/// The kind of an open element.
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
    /// Its name in the file.
    pub(super) name: &'b [u8],
    /// Its name in the output.
    pub(super) written: Cow<'b, [u8]>,
    /// The output offset of its start tag.
    pub(super) tag: usize,
    /// The output offset of its content.
    pub(super) inner: usize,
    /// The start and end of its start tag in the file.
    pub(super) source: (usize, usize),
    pub(super) has_text: bool,
    pub(super) has_child: bool,
    /// Whether its prefix is that of a known extension, whose elements never contain an element of the same name.
    pub(super) is_known: bool,
    /// Whether its start tag declares namespaces.
    pub(super) declares: bool,
    /// Whether the file has no start tag for it.
    pub(super) is_implied: bool,
    /// Whether it is a child of the root in the sitemap namespace, and not one that the protocol defines.
    pub(super) is_stray: bool,
}

impl Open<'_> {
    pub(super) fn is_entry(&self) -> bool {
        self.level == Level::Entry
    }
}

/// The stack of open elements, innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenElements<'b> {
    pub(super) stack: Vec<Open<'b>>,
    /// Number of open elements that declare namespaces.
    pub(super) declaring: usize,
    /// Number of open elements of [`Level::Other`] by name.
    names: HashMap<&'b [u8], u32>,
}

impl<'b> OpenElements<'b> {
    #[allow(clippy::inline_always)] // otherwise the element is written twice, and read in other widths than it was written
    #[inline(always)]
    pub(super) fn push(&mut self, open: Open<'b>) {
        self.declaring += usize::from(open.declares);
        if open.level == Level::Other {
            *self.names.entry(open.name).or_default() += 1;
        }
        self.stack.push(open);
    }

    pub(super) fn pop(&mut self) -> Option<Open<'b>> {
        // Not moved before it is returned: it would be read in other widths than it was written.
        let top = self.stack.last()?;
        self.declaring -= usize::from(top.declares);
        if top.level == Level::Other
            && let Some(count) = self.names.get_mut(top.name)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.names.remove(top.name);
            }
        }
        self.stack.pop()
    }

    /// The context of text in the innermost open element.
    pub(super) fn text_context(&self) -> TextContext {
        match self.stack.get(1) {
            Some(Open { level: Level::Field(Field::Loc), .. }) => TextContext::Url,
            _ if self.stack.last().is_some_and(|top| top.is_known && is_url(names::split(top.name).1)) => {
                TextContext::Url
            }
            _ => TextContext::Text,
        }
    }

    /// Adds `by` to the offsets in the output.
    pub(super) fn shift(&mut self, by: usize) {
        for open in &mut self.stack {
            open.tag += by;
            open.inner += by;
        }
    }

    pub(super) fn clear(&mut self) {
        self.stack.clear();
        self.declaring = 0;
        self.names.clear();
    }

    /// Whether an element with this name is open that is neither an entry nor a field.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.names.contains_key(name)
    }

    /// Whether the open entry has no start tag in the file.
    pub(super) fn is_implied(&self) -> bool {
        self.stack.first().is_some_and(|open| open.is_implied)
    }
}
