//! Plans a save without writing: which files are rewritten, created and removed.
//!
//! It reads no file and only checks the disk for existing names. A plan is shown, then carried out by
//! [`mod@super::save`] or dropped. It writes only files whose bytes differ from the saved ones.

mod export;
mod form;
mod index;
mod index_update;
mod name;
mod nested;
mod output;
mod parts;
mod restored_parts;
pub(crate) mod split;
pub(super) mod volumes;

#[cfg(test)]
mod tests;

use super::disk::Disk;
use super::locate;
use crate::document::index::IndexFile;
use crate::document::index::{ChildState, Index};
use crate::document::rows::{self, RowId};
use crate::document::sitemap::FileLocation;
use crate::document::sitemap::{Member, Sitemap, SitemapId};
use crate::document::source::Source;
use crate::document::split::split_files;
use crate::document::{Document, RowState};
use crate::protocol::lastmod::Now;
use crate::protocol::limits::Limits;
use crate::protocol::location;
use crate::words::grouped;
pub(crate) use export::converted_to_xml;
pub use export::export;
use name::Pattern;
use output::SavedSet;
pub(crate) use parts::plan_part;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The input of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The document to be saved.
    pub document: &'a Document,
    /// The document as it was loaded or saved last.
    pub saved: &'a Document,
    /// The recorded states of the files.
    pub disk: &'a Disk,
    /// Another path to save to; `None` saves to the document's own path.
    pub to: Option<&'a Path>,
    /// The URL of the set's folder, if the user has given it.
    pub base_url: Option<&'a str>,
    /// Limits of one file.
    pub limits: Limits,
    /// The current time, for the dates of changed files.
    pub now: Now,
    /// Outputs that were planned before ([`plan_part`]), by file id, if the set is streamed: its rows are not in
    /// memory.
    pub known: &'a [Output],
}

/// What happens to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Its bytes stay as they are; it is not opened.
    Untouched,
    /// A file of this set gets new bytes.
    Rewritten,
    /// A new file is created.
    Created,
    /// A file that does not belong to the set is replaced.
    Replaced,
    /// A file of this set is removed.
    Removed,
}

/// Identifies a file of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileId {
    /// The index.
    Index,
    /// A urlset.
    Sitemap(SitemapId),
    /// A further volume of the index, by its position in `Index::more`.
    IndexVolume(usize),
    /// A file that is no longer in the document.
    Removed,
}

impl FileId {
    /// The member of the set, if the file is still in it.
    pub const fn member(self) -> Option<Member> {
        match self {
            Self::Index | Self::IndexVolume(_) => Some(Member::Index),
            Self::Sitemap(id) => Some(Member::Sitemap(id)),
            Self::Removed => None,
        }
    }

    /// The file of the index with this number, from 0.
    pub const fn of_index(number: usize) -> Self {
        match number.checked_sub(1) {
            None => Self::Index,
            Some(further) => Self::IndexVolume(further),
        }
    }

    /// The number of an index file, from 0; `None` for other files.
    pub const fn index_file(self) -> Option<usize> {
        match self {
            Self::Index => Some(0),
            Self::IndexVolume(number) => Some(number + 1),
            Self::Sitemap(_) | Self::Removed => None,
        }
    }
}

/// One file of a plan.
#[derive(Debug, Clone)]
pub struct Output {
    /// The path of the file.
    pub path: PathBuf,
    /// Relative to the set's folder.
    pub name: Arc<str>,
    /// Which file of [`Plan::document`].
    pub file: FileId,
    /// What happens to it.
    pub action: Action,
    /// Entries in the file as saved.
    pub urls_before: u32,
    /// Entries in the new file.
    pub urls_after: u32,
    /// Size of the new file, uncompressed.
    pub bytes: u64,
    /// Its public URL, if known.
    pub url: Option<Arc<str>>,
    /// What changes, in words: `14 changed, 2 deleted`. Empty for untouched files.
    pub what: String,
}

/// Why a plan cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The row that causes the problem, if a row does.
    pub row: Option<RowId>,
    /// The problem and what the user can do about it.
    pub message: String,
}

/// A file that would be written with repairs that the user has not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repairs {
    /// Relative to the set's folder.
    pub name: Arc<str>,
    /// The differences between the stored and the new bytes that are not edits.
    pub what: Vec<String>,
}

/// A planned save.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Every file of the set, in its order, with the index last, then the removed files.
    pub outputs: Vec<Output>,
    /// Whether it needs confirmation: it creates, replaces or removes files that the user has not named.
    pub asks: bool,
    /// Files that are stored damaged or in another encoding; the user has to accept their repairs.
    pub repairs: Vec<Repairs>,
    /// A proposal for the URL of the set's folder, if that is needed first; derived from the rows.
    pub needs_base: Option<String>,
    /// Values that the new files cannot hold and other warnings, as sentences, to be shown before anything is written.
    pub losses: Vec<String>,
    /// Whether it writes a copy in another form, and the document does not change.
    pub copy: bool,
    /// Problems that prevent the save.
    pub problems: Vec<Problem>,
    /// The document as it is after the save.
    pub document: Document,
    /// The file to open next time.
    pub path: Option<PathBuf>,
}

impl Plan {
    /// Whether it can be carried out.
    pub fn is_ready(&self) -> bool {
        self.problems.is_empty() && self.needs_base.is_none()
    }

    /// Accepts the repairs.
    pub fn accept_repairs(&mut self) {
        self.repairs.clear();
    }

    /// The index file of this id, if it is one.
    pub fn index_file(&self, file: FileId) -> Option<IndexFile<'_>> {
        self.document.index()?.file(file.index_file()?)
    }

    /// The number of files with an action.
    pub fn count(&self, action: Action) -> usize {
        self.outputs.iter().filter(|output| output.action == action).count()
    }

    /// Whether every file is untouched.
    pub fn is_empty(&self) -> bool {
        self.count(Action::Untouched) == self.outputs.len()
    }

    /// A summary such as `rewrites 3 of 20 files, makes 1`; actions without files are left out.
    pub fn summary(&self) -> String {
        let verbs = [
            (Action::Rewritten, "rewrites"),
            (Action::Created, "makes"),
            (Action::Replaced, "replaces"),
            (Action::Removed, "removes"),
        ];
        let mut parts = Vec::new();
        for (action, verb) in verbs {
            match self.count(action) {
                0 => {}
                count if parts.is_empty() => {
                    let total = self.outputs.len();
                    let noun = if total == 1 { "file" } else { "files" };
                    parts.push(format!("{verb} {} of {} {noun}", grouped(count as u64), grouped(total as u64)));
                }
                count => parts.push(format!("{verb} {}", grouped(count as u64))),
            }
        }
        if parts.is_empty() { "writes nothing".to_owned() } else { parts.join(", ") }
    }
}

/// Plans a save.
pub fn plan(request: &Request<'_>) -> Plan {
    // All files of a copy are written, and split if they are over a limit. In place, untouched files are not changed.
    let since = if request.to.is_none() { Some(request.saved) } else { None };
    let mut split = split_files(request.document, since, request.limits);
    let mut planner = Planner::new(request, SavedSet::of(request), split.document);
    if let Some(base) = request.base_url.filter(|_| planner.folder_url.is_none()) {
        planner.problem(None, format!("{base} is no base URL; it begins with http:// or https:// and a host"));
    }
    if is_incomplete(request.document) {
        planner.problem(None, "loading was stopped, so the set is not all here; open it again to save it".to_owned());
    }
    for (row, bytes) in split.oversized {
        let message = format!(
            "row with {} needs a file of {} bytes; a file may have {}",
            planner.document.loc(row),
            grouped(bytes),
            grouped(request.limits.bytes)
        );
        planner.problem(Some(row), message);
    }
    if request.to.is_some() && request.document.index().is_none() && request.document.sitemaps().len() > 1 {
        let message = "these are several files without an index; save them in place (:write), or as one table \
                       (:write NAME.csv)";
        planner.problem(None, message.to_owned());
    }
    let Some(path) = request.to.map(Path::to_path_buf).or_else(|| main_path(request.document)) else {
        planner.problem(None, "this sitemap has no file name yet; save it with :write NAME".to_owned());
        let Planner { needs_base, problems, document, .. } = planner;
        let (outputs, losses, repairs) = (Vec::new(), Vec::new(), Vec::new());
        return Plan { outputs, asks: false, repairs, needs_base, problems, losses, copy: false, document, path: None };
    };
    planner.relocate(&path);
    planner.restore_parts(&mut split.parts);
    if !planner.refuses_parts(&split.parts) {
        planner.name_parts(&path, &split.parts);
    }
    planner.compare();
    planner.check_form_losses();
    planner.update_index(&path);
    planner.warn_about_stale_dates();
    planner.finish(path)
}

/// The path that the whole document is opened by.
pub(crate) fn main_path(document: &Document) -> Option<PathBuf> {
    match document.index() {
        Some(index) => index.path.clone(),
        // A file that another program has removed from a set without an index has no path.
        None => document.sitemaps().iter().find_map(|sitemap| sitemap.path.clone()),
    }
}

/// The paths that the whole document is opened by: [`main_path`], and the further files of its index.
pub(crate) fn main_paths(document: &Document) -> Vec<PathBuf> {
    document.index().map_or_else(|| main_path(document).into_iter().collect(), Index::paths)
}

/// Changes the path of a document: the index (or the single file) gets `path`, the files of the index get paths beside
/// it. Returns the ids of the moved files.
pub(crate) fn relocate(document: &mut Document, path: &Path) -> Vec<SitemapId> {
    let name: Arc<str> = path.file_name().unwrap_or_default().to_string_lossy().into();
    let gzip = name::is_gzip(path);
    let Some(index) = document.index().cloned() else {
        let Some(url) = document.sitemaps().first().map(|sitemap| sitemap.url.clone()) else { return Vec::new() };
        document.set_location(SitemapId(0), FileLocation { path: Some(path.to_path_buf()), name, url, gzip });
        return vec![SitemapId(0)];
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut moved = Vec::new();
    // New parts are not in the index yet; they get their paths when they are named.
    for id in index.children.iter().filter_map(index::loaded) {
        let Some(Sitemap { name, url, gzip, .. }) = document.sitemap(id).cloned() else { continue };
        document.set_location(id, FileLocation { path: Some(folder.join(&*name)), name, url, gzip });
        moved.push(id);
    }
    document.set_index(Some(volumes::relocated(index, path, gzip)));
    moved
}

/// Whether loading was cancelled: a copy would lack the rest.
fn is_incomplete(document: &Document) -> bool {
    let children = document.index().map_or(&[][..], |index| index.children.as_slice());
    document.sitemaps().iter().any(|sitemap| sitemap.frame.cut)
        || children.iter().any(|child| child.state == ChildState::NotLoaded)
}

/// Rows of a file that differ from the saved ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RowChanges {
    changed: u64,
    added: u64,
    deleted: u64,
}

struct Planner<'a> {
    request: &'a Request<'a>,
    saved: SavedSet<'a>,
    document: Document,
    folder_url: Option<String>,
    problems: Vec<Problem>,
    needs_base: Option<String>,
    losses: Vec<String>,
    changes: HashMap<SitemapId, RowChanges>,
    /// New parts, with the file whose overflow they hold.
    moved_from: HashMap<SitemapId, SitemapId>,
    /// The number of rows of each file that move to new parts; set by `finish`.
    moved_rows: HashMap<SitemapId, u64>,
    /// Parts that are not in the saved index but have rows again.
    returned: BTreeSet<SitemapId>,
    index_changes: index::Changes,
}

impl<'a> Planner<'a> {
    fn new(request: &'a Request<'a>, saved: SavedSet<'a>, document: Document) -> Self {
        Self {
            request,
            saved,
            document,
            folder_url: request.base_url.and_then(locate::folder_url),
            problems: Vec::new(),
            needs_base: None,
            losses: Vec::new(),
            changes: HashMap::new(),
            moved_from: HashMap::new(),
            moved_rows: HashMap::new(),
            returned: BTreeSet::new(),
            index_changes: index::Changes::default(),
        }
    }
}

impl Planner<'_> {
    fn problem(&mut self, row: Option<RowId>, message: String) {
        self.problems.push(Problem { row, message });
    }

    /// Changes the paths of the whole set if it is saved elsewhere; see [`relocate`].
    fn relocate(&mut self, path: &Path) {
        if self.request.to.is_none() || main_path(&self.document).as_deref() == Some(path) {
            return;
        }
        let children = self.document.index().map_or(&[][..], |index| index.children.as_slice());
        if let Some(nested) = children.iter().find(|child| matches!(child.state, ChildState::Nested(_))) {
            let message = format!(
                "{} is a nested index, and a written index cannot list another; :fix index-nested lists its sitemaps \
                 instead",
                nested.loc
            );
            self.problem(None, message);
        }
        let moved = relocate(&mut self.document, path);
        for further in main_paths(&self.document).iter().skip(1) {
            if std::fs::symlink_metadata(further).is_ok() {
                let message = format!("{} is there already; save the copy to an empty folder", further.display());
                self.problem(None, message);
            }
        }
        for id in moved {
            self.convert_feed(id);
            let copy = self.document.sitemap(id).filter(|_| self.document.index().is_some());
            let Some((copy, name)) = copy.and_then(|sitemap| Some((sitemap.path.clone()?, Arc::clone(&sitemap.name))))
            else {
                continue;
            };
            if copy == path {
                self.problem(None, format!("{name} is the name of a file of this set; choose another name"));
            }
            if self.request.disk.knows(&copy) {
                self.problem(
                    None,
                    format!("{} is a file of this very set; save the copy to another folder", copy.display()),
                );
            } else if std::fs::symlink_metadata(&copy).is_ok() {
                self.problem(None, format!("{} is there already; save the copy to an empty folder", copy.display()));
            }
        }
    }

    /// Sets the names, paths and URLs of new parts. A single file becomes the first of its parts. A list keeps its
    /// name, since its parts are not listed in an index.
    fn name_parts(&mut self, path: &Path, parts: &[(SitemapId, SitemapId)]) {
        self.moved_from = parts.iter().copied().collect();
        let mut used: BTreeSet<PathBuf> = BTreeSet::from([path.to_path_buf()]);
        used.extend(self.document.sitemaps().iter().filter_map(|sitemap| sitemap.path.clone()));
        if parts.is_empty() {
            return;
        }
        let mut next: BTreeMap<SitemapId, (Pattern, u64)> = BTreeMap::new();
        let alone = self.is_list_alone();
        let single = self.document.index().is_none() && !alone;
        let order = single.then_some((SitemapId(0), SitemapId(0))).into_iter().chain(parts.iter().copied());
        for (part, from) in order.collect::<Vec<_>>() {
            let Some(source) = self.document.sitemap(from).cloned() else { continue };
            let (pattern, number) = next.entry(from).or_insert_with(|| {
                if single {
                    return (Pattern::parts_of(&source.name), 1);
                }
                let pattern = Pattern::of(name::last(&source.name));
                let siblings = self.document.sitemaps().iter();
                let siblings = siblings
                    .filter(|other| name::sibling_name(&other.name, "") == name::sibling_name(&source.name, ""));
                let number = pattern.next(siblings.map(|other| name::last(&other.name)));
                (pattern, number)
            });
            let folder = if single { path.parent() } else { source.path.as_deref().and_then(Path::parent) };
            let folder = folder.unwrap_or(Path::new("")).to_path_buf();
            let (file, part_path) = loop {
                let file = pattern.with(*number);
                let candidate = folder.join(&file);
                *number += 1;
                if !used.contains(&candidate) && !self.is_taken(&candidate) {
                    break (file, candidate);
                }
            };
            used.insert(part_path.clone());
            let name: Arc<str> =
                if single { file.as_str().into() } else { name::sibling_name(&source.name, &file).into() };
            let url = if alone { None } else { self.url_beside(&source, &file, if single { &file } else { &name }) };
            self.document.set_location(part, FileLocation { path: Some(part_path), name, url, gzip: source.gzip });
        }
    }

    /// Whether a new file cannot have this path. The path of a file of this set that is being removed is free.
    fn is_taken(&self, path: &Path) -> bool {
        let ours = self.request.to.is_none() && self.request.disk.knows(path);
        !ours && std::fs::symlink_metadata(path).is_ok()
    }

    /// The URL of a new file beside a known one. If neither has one, the plan asks for the base URL.
    fn url_beside(&mut self, source: &Sitemap, file: &str, name: &str) -> Option<Arc<str>> {
        if let Some(folder) = source.url.as_deref().and_then(name::folder_of) {
            return Some(name::url_of(folder, file).into());
        }
        if let Some(folder) = &self.folder_url {
            return Some(name::url_of(folder, name).into());
        }
        if self.needs_base.is_none() && self.request.base_url.is_none() {
            self.needs_base = Some(self.propose_base());
        }
        None
    }

    /// The most frequent scheme and host of the rows, with a final slash.
    fn propose_base(&self) -> String {
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut last: (String, u32) = (String::new(), 0);
        for row in self.document.live_rows() {
            let loc = self.document.loc(row);
            let origin = location::Location::of(&loc).origin().map_or("", |(origin, _)| origin);
            // Adjacent rows mostly share their origin: the map is updated only when it changes.
            if origin != last.0 {
                *counts.entry(std::mem::take(&mut last.0)).or_default() += last.1;
                last = (origin.to_owned(), 0);
            }
            last.1 += 1;
        }
        *counts.entry(last.0).or_default() += last.1;
        counts.remove("");
        let max = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        max.map_or_else(|| "https://www.example.com/".to_owned(), |(origin, _)| format!("{origin}/"))
    }

    /// Counts the rows of each file that differ from the saved document.
    fn compare(&mut self) {
        let (document, saved) = (self.request.document, self.request.saved);
        let rows = document.compare(saved).maybe_different();
        let shares = rows::par_chunks(&rows, |share| {
            let mut counts: HashMap<SitemapId, RowChanges> = HashMap::new();
            let mut cursor = self.document.row_cursor();
            document.compare(saved).for_each_difference(&rows, share, &mut |row, state| {
                let counts = counts.entry(cursor.sitemap_of(row)).or_default();
                match state {
                    RowState::Clean => {}
                    RowState::Changed => counts.changed += 1,
                    RowState::Added => counts.added += 1,
                    RowState::Deleted => counts.deleted += 1,
                }
            });
            Some(counts)
        });
        for (id, counts) in shares.into_iter().flatten().flatten() {
            let sum = self.changes.entry(id).or_default();
            sum.changed += counts.changed;
            sum.added += counts.added;
            sum.deleted += counts.deleted;
        }
    }

    /// The ids of all files of the new document.
    fn ids(&self) -> impl Iterator<Item = SitemapId> + use<> {
        (0..self.document.sitemaps().len() as u32).map(SitemapId)
    }

    /// The file of the saved document at a path.
    fn saved_at(&self, path: &Path) -> Option<&Sitemap> {
        match self.saved.get(path) {
            Some(FileId::Sitemap(id)) => self.request.saved.sitemap(id),
            _ => None,
        }
    }

    /// The saved version of a file. It is found by path, since an undone save may have given its id to another file; in
    /// a copy of the set it is found by id.
    fn counterpart(&self, id: SitemapId) -> Option<&Sitemap> {
        match self.request.to {
            Some(_) => self.request.saved.sitemap(id),
            None => self.saved_at(self.document.sitemap(id)?.path.as_deref()?),
        }
    }

    /// The saved version of a file that had another name then.
    fn renamed_from(&self, id: SitemapId) -> Option<&Sitemap> {
        let Request { document, saved, to, .. } = self.request;
        // If a save turns one file into a set, or an undo a set into one file, the new names are no renames.
        let is_same_set = to.is_none() && document.index().is_some() == saved.index().is_some();
        let was = saved.sitemap(id).filter(|was| is_same_set && was.path.is_some())?;
        let path = document.sitemap(id)?.path.as_deref()?;
        self.saved_at(path).is_none().then_some(was)
    }

    fn same_bytes(&self, id: SitemapId, then: &Sitemap) -> bool {
        if let Some(known) = self.request.known.get(id.index()) {
            return known.action == Action::Untouched;
        }
        let Some(now) = self.document.sitemap(id) else { return false };
        let saved = self.request.saved;
        !self.changes.contains_key(&id)
            && (now.rows == then.rows || now.rows.iter().eq(then.rows.iter().filter(|row| saved.is_live(*row))))
            && (now.accepted, now.separate_news) == (then.accepted, then.separate_news)
            && same_frame(&now.frame, &then.frame, now.live > 0)
    }
}

fn same_frame(a: &Arc<Source>, b: &Arc<Source>, entries: bool) -> bool {
    Arc::ptr_eq(a, b) || (a.head(entries) == b.head(entries) && a.tail(entries) == b.tail(entries))
}
