//! Restores files that an earlier save removed and that have rows again.

use super::{FileLocation, Planner};
use crate::document::sitemap::{Sitemap, SitemapId};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

impl Planner<'_> {
    /// Restores the saved paths of parts that had left the set and have rows again. Parts whose path is missing or used
    /// become new parts.
    pub(super) fn restore_parts(&mut self, parts: &mut Vec<(SitemapId, SitemapId)>) {
        if self.document.index().is_none() {
            return;
        }
        let Some(first) = self.ids().find(|id| self.document.sitemap(*id).is_some_and(|file| file.path.is_some()))
        else {
            return;
        };
        let new: BTreeSet<SitemapId> = parts.iter().map(|(part, _)| *part).collect();
        let has_rows_again = |id: &SitemapId| {
            self.document.sitemap(*id).is_some_and(|file| file.live > 0 && file.path.is_none()) && !new.contains(id)
        };
        // Another program has removed it from the set, but it still has rows in the document.
        let is_kept = |id: &SitemapId| {
            let has_left = self.request.saved.sitemap(*id).is_some_and(|was| was.path.is_none());
            has_left
                && !self.document.index().is_some_and(|index| index.lists(*id))
                && self.document.sitemap(*id).is_some_and(|file| file.live > 0 && file.path.is_some())
        };
        let kept: Vec<SitemapId> = self.ids().filter(is_kept).collect();
        self.returned.extend(kept);
        let restored: Vec<SitemapId> = self.ids().filter(has_rows_again).collect();
        let mut used: HashSet<PathBuf> = if restored.is_empty() {
            HashSet::new()
        } else {
            self.document.sitemaps().iter().filter_map(|file| file.path.clone()).collect()
        };
        for id in restored {
            let was = self.request.saved.sitemap(id).filter(|was| self.request.to.is_none() && was.path.is_some());
            let is_free = |was: &&Sitemap| was.path.as_ref().is_some_and(|path| !used.contains(path));
            let Some(Sitemap { path, name, url, gzip, .. }) = was.filter(is_free).cloned() else {
                parts.push((id, first));
                continue;
            };
            used.extend(path.clone());
            self.document.set_location(id, FileLocation { path, name, url, gzip });
            self.returned.insert(id);
        }
    }
}
