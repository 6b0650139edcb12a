//! Determines how a save changes the index: dates, new files, emptied files, and a new index for a file that is split.

use super::{FileLocation, Planner, index, name};
use crate::document::index::{Child, ChildState, Index};
use crate::document::sitemap::{Sitemap, SitemapId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Planner<'_> {
    /// Updates the index: dates of changed files, entries of new files, no entries of emptied files.
    pub(super) fn update_index(&mut self, path: &Path) {
        let now = self.request.now;
        let by_path: BTreeMap<PathBuf, SitemapId> =
            self.ids().filter_map(|id| Some((self.document.sitemap(id)?.path.clone()?, id))).collect();
        let Some(index) = self.document.index().cloned().or_else(|| self.index_of_split(path, &by_path)) else {
            return;
        };
        let entries: BTreeMap<SitemapId, usize> = index
            .children
            .iter()
            .enumerate()
            .filter_map(|(number, child)| Some((index::loaded(child)?, number)))
            .collect();
        let on_disk = self.index_on_disk(&index, &by_path);
        for id in self.ids() {
            let Some(sitemap) = self.document.sitemap(id).cloned() else { continue };
            if let Some(entry) = entries.get(&id).filter(|_| self.is_emptied(id, &sitemap)) {
                self.index_changes.dropped.insert(*entry);
                self.document
                    .set_location(id, FileLocation { path: None, name: sitemap.name, url: None, gzip: sitemap.gzip });
                continue;
            }
            let named = entries.contains_key(&id);
            let is_new = self.moved_from.contains_key(&id) || self.returned.contains(&id);
            if let Some(url) = sitemap.url.clone().filter(|_| !named && is_new) {
                self.index_changes.added.push((id, url));
            }
            // A new entry gets its date when it is created.
            let has_entry = named || on_disk.as_ref().is_some_and(|on_disk| on_disk.entries.contains_key(&id));
            let then = self.counterpart(id).or_else(|| self.renamed_from(id));
            if has_entry && !then.is_some_and(|then| self.same_bytes(id, then)) {
                self.index_changes.dated.insert(id);
            }
        }
        self.index_changes.on_disk = on_disk;
        let index = self.index_changes.apply(&index, now);
        let index = self.split_index(index);
        self.document.set_index(Some(index));
    }

    /// The index for a single file that is split: the existing one if the save that created it was undone, otherwise a
    /// new one. `None` if the file is not split.
    fn index_of_split(&mut self, path: &Path, by_path: &BTreeMap<PathBuf, SitemapId>) -> Option<Index> {
        if self.moved_from.is_empty() || self.is_list_alone() {
            return None;
        }
        let saved = self.request.saved;
        if let Some(index) = saved.index().filter(|index| index.path.as_deref() == Some(path)) {
            let mut index = index.clone();
            for (number, child) in index.children_mut().iter_mut().enumerate() {
                let path = index::loaded(child).and_then(|id| saved.sitemap(id)?.path.as_ref());
                child.state = match path.map(|path| by_path.get(path)) {
                    Some(Some(id)) => ChildState::Loaded(*id),
                    Some(None) => {
                        self.index_changes.dropped.insert(number);
                        ChildState::NotLoaded
                    }
                    None => continue,
                };
            }
            // A single file was in no index, so all its parts are new entries.
            self.moved_from.entry(SitemapId(0)).or_insert(SitemapId(0));
            return Some(index);
        }
        let gzip = match self.request.to {
            Some(_) => name::is_gzip(path),
            None => self.document.sitemaps().first().is_some_and(|sitemap| sitemap.gzip),
        };
        let urls = self.ids().filter_map(|id| Some((id, self.document.sitemap(id)?.url.clone()?)));
        let (source, children) = index::new_index(&urls.collect::<Vec<_>>(), self.request.now);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into();
        Some(Index {
            path: Some(path.to_path_buf()),
            name,
            gzip,
            source,
            children: children.into(),
            ..Index::default()
        })
    }

    /// The entries on disk, if a save later than that of this document has written them.
    fn index_on_disk(&self, index: &Index, by_path: &BTreeMap<PathBuf, SitemapId>) -> Option<index::SavedIndex> {
        let saved = self.request.saved;
        let on_disk = saved.index().filter(|_| self.request.to.is_none())?;
        if Arc::ptr_eq(&on_disk.source, &index.source) {
            return None;
        }
        let entry = |(number, child): (usize, &Child)| {
            let path = saved.sitemap(index::loaded(child)?)?.path.as_ref()?;
            Some((*by_path.get(path)?, number))
        };
        let entries = on_disk.children.iter().enumerate().filter_map(entry).collect();
        Some(index::SavedIndex { source: Arc::clone(&on_disk.source), entries })
    }

    /// Whether a save removes the last row of a file while the set still has rows.
    fn is_emptied(&self, id: SitemapId, sitemap: &Sitemap) -> bool {
        sitemap.live == 0
            && self.document.live() > 0
            && self.request.saved.sitemap(id).is_some_and(|then| then.live > 0)
    }
}
