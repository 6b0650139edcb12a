//! Adds files to the set, or removes them from it, as other programs did on disk. An edit; pure.

use super::Document;
use super::index::{ChildState, Index};
use super::sitemap::{Sitemap, SitemapId};
use std::collections::HashMap;
use std::sync::Arc;

/// The files that a set has after the edit.
#[derive(Debug, Clone, Default)]
pub struct ExternalFiles {
    /// New ones, in the order of their ids; rows come as edits of their own.
    pub new: Vec<Sitemap>,
    /// Those that have left the set.
    pub gone: Vec<SitemapId>,
    /// The index that lists them.
    pub index: Option<Index>,
}

/// [`ExternalFiles`], shared; equal only to itself.
#[derive(Debug, Clone)]
pub struct Adopted(Arc<ExternalFiles>);

impl Adopted {
    /// To be done as an edit.
    pub fn new(files: ExternalFiles) -> Self {
        Self(Arc::new(files))
    }
}

impl PartialEq for Adopted {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Adopted {}

/// The index of another document in the ids of this one.
pub(super) fn in_ids(index: &Index, ids: &HashMap<SitemapId, SitemapId>) -> Index {
    let mut index = index.clone();
    for child in index.children_mut() {
        if let ChildState::Loaded(id) = child.state {
            child.state = ids.get(&id).map_or(ChildState::Missing, |id| ChildState::Loaded(*id));
        }
    }
    index
}

impl Adopted {
    /// Gives a document these files.
    pub(super) fn apply_to(&self, document: &mut Document) {
        for sitemap in &self.0.new {
            document.add_sitemap(sitemap.clone());
        }
        for id in &self.0.gone {
            document.change_sitemap(*id, |sitemap| (sitemap.path, sitemap.url) = (None, None));
        }
        document.set_index(self.0.index.clone());
    }
}
