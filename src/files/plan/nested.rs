//! Warns about nested indexes, which are never written: their dates for changed files become outdated.

use super::Planner;
use crate::document::index::{Child, ChildState};
use crate::document::sitemap::SitemapId;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Planner<'_> {
    /// Warns about nested indexes whose dates for changed files become outdated.
    pub(super) fn warn_about_stale_dates(&mut self) {
        let Some(index) = self.document.index().filter(|index| index.has_nested()) else { return };
        let mut dated = BTreeMap::new();
        for child in index.children.iter() {
            collect_dated(child, &mut dated);
        }
        let mut messages: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for (id, inner) in dated {
            let changes = !self.counterpart(id).is_some_and(|then| self.same_bytes(id, then));
            if let Some(sitemap) = self.document.sitemap(id).filter(|_| changes) {
                messages.entry(inner).or_insert_with(|| Arc::clone(&sitemap.name));
            }
        }
        for (inner, file) in messages {
            self.losses.push(format!(
                "{file} changes, but its date in {inner} stays: nested indexes are never written \
                 (:fix index-nested lists its sitemaps in the index itself)"
            ));
        }
    }
}

/// Collects the files that have a date in a nested index, with the name of that index.
fn collect_dated(child: &Child, dated: &mut BTreeMap<SitemapId, Arc<str>>) {
    let ChildState::Nested(nested) = &child.state else { return };
    for (number, child) in nested.children.iter().enumerate() {
        collect_dated(child, dated);
        let ChildState::Loaded(id) = child.state else { continue };
        let text = nested.source.entry_text(number);
        let date = Entry::of(text, &nested.source.names).value(Field::Lastmod, text);
        if date.is_some_and(|date| !date.is_empty()) {
            dated.insert(id, Arc::clone(&nested.name));
        }
    }
}
