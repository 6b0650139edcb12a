//! The namespace prefixes that open elements declare. Each tag is read once when it opens and once when it closes.

use super::markup::{self, Markup};
use std::collections::HashMap;

/// Open elements that declare namespaces.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The depth of each, and the offset of its start tag.
    open: Vec<(usize, u32)>,
    /// The declared prefixes, each with the number of elements that declare it.
    declared: HashMap<Box<[u8]>, u32>,
}

impl Scopes {
    /// Whether no open element declares namespaces.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether an open element declares a prefix.
    pub(super) fn declares(&self, prefix: &[u8]) -> bool {
        !self.declared.is_empty() && self.declared.contains_key(prefix)
    }

    /// Opens an element at `depth`.
    #[inline]
    pub(super) fn enter(&mut self, bytes: &[u8], tag: &Markup, depth: usize) {
        if markup::may_declare(tag.attributes(bytes)) {
            self.open.push((depth, tag.start as u32));
            for prefix in declared_by(tag.attributes(bytes)) {
                *self.declared.entry(prefix.into()).or_default() += 1;
            }
        }
    }

    /// Closes the innermost element; `depth` elements remain open.
    #[inline]
    pub(super) fn leave(&mut self, bytes: &[u8], depth: usize) {
        let Some((_, start)) = self.open.pop_if(|(own, _)| *own > depth) else { return };
        let Some(tag) = markup::next(bytes, start as usize) else { return };
        for prefix in declared_by(tag.attributes(bytes)) {
            let Some(count) = self.declared.get_mut(prefix) else { continue };
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.declared.remove(prefix);
            }
        }
    }

    /// Closes all elements.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        if !self.declared.is_empty() {
            // Clearing a large table takes time proportional to its capacity, so it is replaced.
            self.declared = HashMap::new();
        }
    }
}

/// The prefixes that a tag with these attributes declares.
pub(super) fn declared_by(attributes: &[u8]) -> impl Iterator<Item = &[u8]> {
    markup::attributes(attributes).filter_map(|attribute| attribute.name.strip_prefix(b"xmlns:"))
}
