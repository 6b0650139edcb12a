//! Lists every file of a plan with its action and a description of the change.

use super::{Action, FileId, Output, Plan, Planner, Repairs, Request};
use crate::document::clear_quirks::mark_written;
use crate::document::index::Index;
use crate::document::index::IndexFile;
use crate::document::quirk;
use crate::document::sitemap::{Member, Sitemap, SitemapId};
use crate::words::grouped;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files that the saved document has on disk.
pub(super) struct SavedSet<'a>(BTreeMap<&'a Path, FileId>);

impl<'a> SavedSet<'a> {
    pub(super) fn of(request: &Request<'a>) -> Self {
        let sitemaps = request.saved.sitemaps().iter().enumerate();
        let sitemaps = sitemaps.filter_map(|(number, sitemap)| {
            Some((sitemap.path.as_deref()?, FileId::Sitemap(SitemapId(number as u32))))
        });
        let indexes = request.saved.index().into_iter().flat_map(Index::files).enumerate();
        let indexes = indexes.filter_map(|(number, file)| Some((file.path?, FileId::of_index(number))));
        Self(sitemaps.chain(indexes).filter(|(path, _)| request.disk.knows(path)).collect())
    }

    /// The saved file of one sitemap.
    pub(super) fn of_one(request: &Request<'a>, id: SitemapId) -> Self {
        let path = request.saved.sitemap(id).and_then(|sitemap| sitemap.path.as_deref());
        Self(path.filter(|path| request.disk.knows(path)).map(|path| (path, FileId::Sitemap(id))).into_iter().collect())
    }

    pub(super) fn get(&self, path: &Path) -> Option<FileId> {
        self.0.get(path).copied()
    }
}

impl Planner<'_> {
    /// Lists every file with its action.
    pub(super) fn finish(mut self, path: PathBuf) -> Plan {
        for (part, from) in &self.moved_from {
            let rows = self.document.sitemap(*part).map_or(0, |sitemap| u64::from(sitemap.live));
            *self.moved_rows.entry(*from).or_default() += rows;
        }
        let mut outputs: Vec<Output> = self.ids().filter_map(|id| self.sitemap_output(id)).collect();
        // Later index files are written first, so that an entry that moves to the next file is never missing.
        let indexes = self.document.index().map_or(0, Index::file_count);
        outputs.extend((0..indexes).rev().filter_map(|number| self.index_output(number)));
        if self.request.to.is_none() {
            let kept: BTreeSet<PathBuf> = outputs.iter().map(|output| output.path.clone()).collect();
            let gone: Vec<&Path> = self.request.disk.paths().filter(|path| !kept.contains(*path)).collect();
            if !gone.is_empty() {
                let renamed = self.ids().filter_map(|id| Some((self.renamed_from(id)?.path.as_deref()?, id)));
                // If several files have the same saved path, the first one is used.
                let renamed: BTreeMap<&Path, SitemapId> = renamed.collect::<Vec<_>>().into_iter().rev().collect();
                outputs.extend(gone.into_iter().map(|path| self.removed(path, renamed.get(path).copied())));
            }
        }
        self.refuse_feeds(&outputs);
        let asks = !self.losses.is_empty()
            || outputs.iter().any(|output| match output.action {
                Action::Untouched | Action::Rewritten => false,
                // The file that the user has named is created without confirmation.
                Action::Created => output.path != path,
                Action::Replaced | Action::Removed => true,
            });
        let repairs = self.repairs(&outputs);
        let Self { needs_base, problems, losses, mut document, .. } = self;
        let written = outputs.iter().filter(|output| output.action != Action::Untouched);
        let of_index: BTreeSet<usize> = written.clone().filter_map(|output| output.file.index_file()).collect();
        let written: Vec<Member> = written.filter_map(|output| output.file.member()).collect();
        mark_written(&mut document, &written, &of_index);
        let asks = asks || !repairs.is_empty();
        Plan { outputs, asks, repairs, needs_base, problems, losses, copy: false, document, path: Some(path) }
    }

    /// The files that are replaced and have repairs that the user has not accepted.
    pub(super) fn repairs(&self, outputs: &[Output]) -> Vec<Repairs> {
        let saved = self.request.saved;
        let of = |output: &Output| {
            let quirks = match self.saved.get(&output.path)? {
                FileId::Sitemap(id) => &saved.sitemap(id)?.quirks,
                index => saved.index()?.file(index.index_file()?)?.quirks,
            };
            let accepted = match output.file {
                FileId::Index | FileId::IndexVolume(_) => self.document.index()?.accepted,
                FileId::Sitemap(id) => self.document.sitemap(id)?.accepted,
                FileId::Removed => false,
            };
            let what = quirk::changes(quirks);
            (!accepted && !what.is_empty()).then(|| Repairs { name: Arc::clone(&output.name), what })
        };
        let replaced = |output: &&Output| matches!(output.action, Action::Rewritten | Action::Replaced);
        outputs.iter().filter(replaced).filter_map(of).collect()
    }

    fn action(&self, path: &Path, same: bool) -> Action {
        match self.request.disk.knows(path) {
            true if same && !self.request.disk.is_mid_save(path) => Action::Untouched,
            true => Action::Rewritten,
            false if std::fs::symlink_metadata(path).is_ok() => Action::Replaced,
            false => Action::Created,
        }
    }

    pub(super) fn sitemap_output(&self, id: SitemapId) -> Option<Output> {
        let sitemap = self.document.sitemap(id)?;
        let path = sitemap.path.clone()?;
        if let Some(known) = self.request.known.get(id.index()) {
            return Some(known.clone());
        }
        let before = self.saved_at(&path);
        let same = before.is_some_and(|before| before.gzip == sitemap.gzip && self.same_bytes(id, before));
        let action = self.action(&path, same);
        Some(Output {
            name: Arc::clone(&sitemap.name),
            file: FileId::Sitemap(id),
            action,
            urls_before: before.map_or(0, |before| before.live),
            urls_after: sitemap.live,
            bytes: sitemap.bytes(),
            url: sitemap.url.clone(),
            what: match action {
                Action::Untouched => String::new(),
                _ => self.words(id, sitemap, before.is_some()),
            },
            path,
        })
    }

    /// Describes the changes in a file.
    fn words(&self, id: SitemapId, sitemap: &Sitemap, was_there: bool) -> String {
        let urls = match sitemap.live {
            1 => "1 URL".to_owned(),
            urls => format!("{} URLs", grouped(u64::from(urls))),
        };
        // A single file that is split keeps its id and becomes its own first part.
        let single = self.request.document.index().is_none() && self.document.index().is_some();
        let from = self.moved_from.get(&id).copied().or(single.then_some(id));
        if let Some(from) = from.and_then(|from| self.request.document.sitemap(from)) {
            return format!("{urls} of {}", from.name);
        }
        if let Some(was) = self.renamed_from(id) {
            return format!("{urls}, renamed from {}", was.name);
        }
        if !was_there {
            return urls;
        }
        let changes = self.changes.get(&id).copied().unwrap_or_default();
        let counts = [(changes.changed, "changed"), (changes.added, "added"), (changes.deleted, "deleted")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<String> = counts.map(|(count, what)| format!("{} {what}", grouped(*count))).collect();
        let moved = self.moved_rows.get(&id).copied().unwrap_or_default();
        if moved > 0 {
            words.push(format!("{} moved to new files", grouped(moved)));
        }
        if sitemap.accepted {
            words.push("repaired".to_owned());
        }
        if !words.is_empty() {
            return words.join(", ");
        }
        let is_mid_save = sitemap.path.as_deref().is_some_and(|path| self.request.disk.is_mid_save(path));
        let has_other_frame =
            self.counterpart(id).is_some_and(|then| !super::same_frame(&sitemap.frame, &then.frame, sitemap.live > 0));
        match (is_mid_save, has_other_frame) {
            (true, _) => "as it was before the save that failed",
            (false, true) => "changed around its entries",
            (false, false) => "another order or layout",
        }
        .to_owned()
    }

    fn index_output(&self, number: usize) -> Option<Output> {
        let index = self.document.index()?;
        let file = index.file(number)?;
        let path = file.path?.to_path_buf();
        let saved = self.request.saved.index();
        let before = match self.saved.get(&path) {
            Some(FileId::Index | FileId::IndexVolume(_)) => saved.and_then(|saved| saved.file_at(&path)),
            _ => None,
        };
        let same = before.as_ref().is_some_and(|before| {
            // Of several index files, only those with quirks are repaired.
            let is_repaired = saved.is_some_and(|saved| saved.accepted != index.accepted)
                && (index.more.is_empty() || !before.quirks.is_empty());
            before.gzip == file.gzip && !is_repaired && before.has_bytes_of(&file)
        });
        let action = self.action(&path, same);
        Some(Output {
            name: Arc::clone(file.name),
            file: FileId::of_index(number),
            action,
            urls_before: before.as_ref().map_or(0, |before| before.entries.len() as u32),
            urls_after: file.entries.len() as u32,
            bytes: file.len(),
            url: None,
            what: match (action, &before) {
                (Action::Untouched, _) => String::new(),
                (_, None) => format!("index of {}", files(file.entries.len())),
                (_, Some(before)) if index.file_count() > 1 || saved.is_some_and(|saved| saved.file_count() > 1) => {
                    self.volume_words(before, &file).unwrap_or_else(|| self.index_words())
                }
                _ => self.index_words(),
            },
            path,
        })
    }

    /// Describes the changes in a volume of the index.
    fn volume_words(&self, before: &IndexFile<'_>, after: &IndexFile<'_>) -> Option<String> {
        let texts = |file: &IndexFile<'_>| -> BTreeMap<Arc<str>, Vec<u8>> {
            let entries = file.entries.clone().zip(file.children());
            entries.map(|(entry, child)| (Arc::clone(&child.loc), file.entry_text(entry).to_vec())).collect()
        };
        let (was, is) = (texts(before), texts(after));
        let gone: BTreeSet<&Arc<str>> = was.keys().filter(|loc| !is.contains_key(*loc)).collect();
        let children = self.document.index().into_iter().flat_map(|index| index.children.iter());
        let moved = children.map(|child| &child.loc).filter(|loc| gone.contains(loc)).count();
        let added = is.keys().filter(|loc| !was.contains_key(*loc)).count();
        let dated = is.iter().filter(|(loc, text)| was.get(*loc).is_some_and(|was| was != *text)).count();
        let counts =
            [(added, "added"), (gone.len() - moved, "removed"), (moved, "moved to the next index"), (dated, "dated")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = counts.map(|(count, what)| format!("{} {what}", files(*count))).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The number of files whose index entries get another date. Entries without a date, or with today's, do not
    /// change.
    fn dated(&self) -> usize {
        let dated = &self.index_changes.dated;
        let (Some(before), Some(after)) = (self.request.saved.index(), self.document.index()) else {
            return dated.len();
        };
        let entries = |index: &Index| -> BTreeMap<SitemapId, usize> {
            let entries = index.children.iter().enumerate();
            entries.filter_map(|(number, child)| Some((super::index::loaded(child)?, number))).collect()
        };
        let (was, is) = (entries(before), entries(after));
        let differs = |id: &&SitemapId| match (was.get(*id), is.get(*id)) {
            (Some(was), Some(is)) => before.source.entry_text(*was) != after.source.entry_text(*is),
            (_, is) => is.is_some(),
        };
        dated.iter().filter(differs).count()
    }

    fn index_words(&self) -> String {
        let changes = &self.index_changes;
        let counts = [(changes.added.len(), "added"), (changes.dropped.len(), "removed"), (self.dated(), "dated")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = counts.map(|(count, what)| format!("{} {what}", files(*count))).collect();
        // The remaining case: the save that wrote the index on disk was undone.
        if words.is_empty() && self.document.index().is_some_and(|index| index.accepted) {
            return "repaired".to_owned();
        }
        if words.is_empty() && self.request.document.index().is_some_and(|index| !index.edited.is_empty()) {
            return "entries fixed".to_owned();
        }
        if words.is_empty() { "as it was before".to_owned() } else { words.join(", ") }
    }

    /// The output for a removed file; `new` is the file that has its rows now if it was renamed.
    fn removed(&self, path: &Path, new: Option<SitemapId>) -> Output {
        let sitemap = self.saved_at(path);
        let index = self.request.saved.index().and_then(|index| index.file_at(path));
        let name = sitemap.map(|sitemap| &sitemap.name).or_else(|| index.as_ref().map(|index| index.name));
        let new = new.and_then(|id| self.document.sitemap(id));
        let what = match (new, sitemap, &index) {
            (Some(new), ..) => format!("is {} now", new.name),
            (None, Some(_), _) => "no URL left in it".to_owned(),
            (None, None, Some(then)) => match self.document.index() {
                // Only the first of several index files can be renamed by an edit.
                Some(now) if then.entries.start == 0 && now.path.as_deref() != Some(path) => {
                    format!("is {} now", now.name)
                }
                _ => "no file left in it".to_owned(),
            },
            (None, None, None) => "left over from a save that failed".to_owned(),
        };
        Output {
            path: path.to_path_buf(),
            name: name.map_or_else(|| path.to_string_lossy().into(), Arc::clone),
            file: FileId::Removed,
            action: Action::Removed,
            urls_before: sitemap.map_or(0, |sitemap| sitemap.live)
                + index.as_ref().map_or(0, |index| index.entries.len() as u32),
            urls_after: 0,
            bytes: 0,
            url: sitemap.and_then(|sitemap| sitemap.url.clone()),
            what,
        }
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{} files", grouped(count as u64)) }
}
