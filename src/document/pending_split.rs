//! The pending split: the files that the next save makes of files that the user agreed to split.
//!
//! Invariant: rows, values and order equal those of the document; only the file of a row may differ. Everything that
//! counts files or their findings uses this document, so that accepting a split changes the counts at once to those
//! that a load after the next save would give.

use super::Document;
use super::form::Form;
use super::index::Index;
use super::index::assign_slots;
use super::rows::RowList;
use super::sitemap::{Sitemap, SitemapId};
use super::split::{SplitResult, exceeds_news_limit};
use crate::protocol::limits::Limits;
use crate::xml::names::FileKind;
use std::sync::Arc;

/// Recomputes the pending split. Visits the rows of the files that are split, and nothing if there are none.
pub(super) fn update(document: &mut Document) {
    document.pending_split = None;
    if document.is_streamed() {
        return;
    }
    let limits = Limits::default();
    let files: Vec<SitemapId> = (0..)
        .zip(document.sitemaps())
        .filter(|(_, sitemap)| sitemap.accepted || sitemap.separate_news)
        .filter(|(_, sitemap)| document.can_have_parts() && is_split(document, sitemap, limits))
        .map(|(number, _)| SitemapId(number))
        .collect();
    let index = document.index().filter(|index| index.accepted && index.is_over(limits));
    if files.is_empty() && index.is_none() {
        return;
    }
    let index = index.map(|index| split_volumes(index, limits));
    let mut split = SplitResult { document: document.clone(), parts: Vec::new(), oversized: Vec::new() };
    for id in files {
        let Some(rows) = document.sitemap(id).map(|sitemap| &sitemap.rows) else { continue };
        let live = RowList::from_ids(rows.iter().filter(|row| document.is_live(*row)).map(|row| row.0));
        split.document.change_sitemap(id, |sitemap| sitemap.rows = live);
        split.split_file(id, limits);
    }
    let SplitResult { document: mut changed, parts, .. } = split;
    let mut numbered = (None, 1);
    for (part, origin) in parts {
        numbered = if numbered.0 == Some(origin) { (numbered.0, numbered.1 + 1) } else { (Some(origin), 2) };
        changed.change_sitemap(part, |sitemap| sitemap.name = part_name(&sitemap.name, numbered.1));
    }
    if index.is_some() {
        changed.set_index(index);
    }
    changed.pending_split = None;
    document.pending_split = Some(Arc::new(changed));
}

fn is_split(document: &Document, sitemap: &Sitemap, limits: Limits) -> bool {
    let can_be_split = !matches!(sitemap.form, Form::Feed(_))
        && !matches!(sitemap.frame.names.kind, FileKind::Table | FileKind::Index);
    can_be_split
        && (sitemap.separate_news
            || sitemap.live > limits.urls
            || sitemap.bytes() > limits.bytes
            || exceeds_news_limit(document, sitemap))
}

impl Index {
    /// Whether its entries exceed the limits of one file, in number or bytes.
    pub fn is_over(&self, limits: Limits) -> bool {
        self.files().any(|file| file.entries.len() > limits.parts as usize || file.len() > limits.index_bytes)
    }
}

/// The index, split into as many files as its entries need.
fn split_volumes(index: &Index, limits: Limits) -> Index {
    let slots = assign_slots(index, limits, &|_| false);
    index.split_into_files(&slots, |number| (part_name(&index.name, number as u64 + 1), None))
}

/// A provisional name for a file that has none.
fn part_name(name: &str, number: u64) -> Arc<str> {
    format!("{name}, part {number}").into()
}
