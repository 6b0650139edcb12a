//! `Snapshot`: everything that reading, filtering, previewing and preparing a change need, as one value.
//!
//! Cloning it costs nothing worth naming, so jobs get one and the screen goes on. Nothing here changes it.

pub mod facts;
pub mod history;
pub(super) mod languages;

use crate::check::rule::RuleSet;
use crate::data::DataSet;
use crate::document::Document;
use crate::document::query::Vocabulary;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::Member;
use crate::document::view::{View, ViewSpec};
use crate::protocol::lastmod::Now;
use crate::session::checks::Checks;
use crate::session::state::languages::Languages;
pub use facts::vocabulary;
use std::sync::Arc;

/// What undo swaps: the document with what was found out about it.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The table.
    pub document: Document,
    /// What the rules say of it.
    pub checks: Checks,
    /// Rows that differ from the saved document.
    pub changed: u32,
    /// Whether anything at all differs from the saved document: rows, their order, the files.
    pub modified: bool,
    /// Given anew at each change; equal versions are equal documents.
    pub version: u64,
    /// The [`Snapshot::saves`] that the two above were found out for.
    pub counted: u64,
}

/// A reader's view of the session at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The state.
    pub state: State,
    /// The document as the files on disk have it.
    pub saved: Document,
    /// How often that has become another.
    pub saves: u64,
    /// Rows that the user marked.
    pub marks: Arc<RowSet>,
    /// Rows on show.
    pub view: View,
    /// What they were chosen and ordered by.
    pub spec: ViewSpec,
    /// The moment, for `today` and for rules that need it.
    pub clock: Now,
    /// What other programs know about the URLs, if a table was loaded.
    pub data: Option<Arc<DataSet>>,
    /// The URL of the set's folder, if somebody said it.
    pub base_url: Option<Arc<str>>,
    /// Of a set that is gone through, the languages that pages are in which do not say so themselves.
    pub(super) languages: Option<Arc<Languages>>,
}

impl std::ops::Deref for Snapshot {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl Snapshot {
    /// What queries and commands can name: rules, data columns, the moment.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary { data: self.data.as_ref(), ..vocabulary(self.clock) }
    }

    /// Rules that a row violates, set-level ones included.
    pub fn rules_of(&self, row: RowId) -> RuleSet {
        self.checks.rules_of(row, &self.document)
    }
}

impl Snapshot {
    /// The name of a file.
    pub fn file_name(&self, file: Member) -> Arc<str> {
        let name = match file {
            Member::Index => self.state.document.index().map(|index| &index.name),
            Member::Sitemap(id) => self.state.document.sitemap(id).map(|sitemap| &sitemap.name),
        };
        name.map_or_else(Arc::default, Arc::clone)
    }
}

#[cfg(test)]
mod tests;
