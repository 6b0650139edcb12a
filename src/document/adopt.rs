//! The edit that adds and removes files of the set, as other programs did on disk.

use super::Document;
use super::index::{ChildState, Index};
use super::sitemap::{Sitemap, SitemapId};
use std::collections::HashMap;
use std::sync::Arc;

/// The files that the edit adds and removes.
#[derive(Debug, Clone, Default)]
pub struct ExternalFiles {
    /// Added files, in the order of their ids; their rows are inserted by separate edits.
    pub added: Vec<Sitemap>,
    /// Removed files.
    pub removed: Vec<SitemapId>,
    /// The index after the edit.
    pub index: Option<Index>,
}

/// Shared [`ExternalFiles`]; equal only to itself, so that comparing edits is cheap.
#[derive(Debug, Clone)]
pub struct AdoptedFiles(Arc<ExternalFiles>);

impl AdoptedFiles {
    /// The files as the content of [`super::edit::Edit::Adopt`].
    pub fn new(files: ExternalFiles) -> Self {
        Self(Arc::new(files))
    }
}

impl PartialEq for AdoptedFiles {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AdoptedFiles {}

/// An index with file ids mapped by `ids`; a child whose file has no entry there becomes [`ChildState::Missing`].
pub(super) fn with_ids_of(index: &Index, ids: &HashMap<SitemapId, SitemapId>) -> Index {
    let mut index = index.clone();
    for child in index.children_mut() {
        if let ChildState::Loaded(id) = child.state {
            child.state = ids.get(&id).map_or(ChildState::Missing, |id| ChildState::Loaded(*id));
        }
    }
    index
}

impl AdoptedFiles {
    /// Adds and removes the files in a document.
    pub(super) fn apply_to(&self, document: &mut Document) {
        for sitemap in &self.0.added {
            document.add_sitemap(sitemap.clone());
        }
        for id in &self.0.removed {
            document.change_sitemap(*id, |sitemap| (sitemap.path, sitemap.url) = (None, None));
        }
        document.set_index(self.0.index.clone());
    }
}
