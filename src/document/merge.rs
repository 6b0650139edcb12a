//! Three-way merge of a set: the saved version, ours and theirs, row by row, matched by URL.
//!
//! Invariant: [`Merge::theirs`] gives a document with their bytes and our row ids, so that the unsaved changes after a
//! merge are the differences from their files. Rows that only one side changed need no decision.

mod index;
mod pairs;

use super::Document;
use super::adopt::{AdoptedFiles, ExternalFiles, with_ids_of};
use super::edit::{Edit, NewEntry};
use super::index::ChildState;
use super::repartition::text_under_roots;
use super::rows::{RowId, RowList};
use super::sitemap::{Member, Sitemap, SitemapId};
use super::source::Source;
use crate::protocol::Field;
use crate::xml::names::Names;
use hashbrown::{HashMap, HashSet};
use index::{MergedIndex, Versions};
use pairs::{mergeable, pairs};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// The version of a row that the merge takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeChoice {
    /// The version of this document.
    Ours,
    /// The version in the files now.
    Theirs,
    /// Their version with the fields that were changed here; a row that one side deleted stays.
    Both,
}

/// A change of a row by others: changed, added or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TheirChange {
    /// The row; for a row that they added or moved to another file, its new id.
    pub row: RowId,
    /// The same row in our document, if they moved it to another file.
    pub from: Option<RowId>,
    /// The row in their document; `None` if they deleted it.
    pub theirs: Option<RowId>,
    /// Whether we changed it too, with a different result.
    pub clash: bool,
}

impl TheirChange {
    /// The row in our document and in the base.
    pub fn own(&self) -> RowId {
        self.from.unwrap_or(self.row)
    }
}

/// Why two versions cannot be merged, as a message for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmergeable(pub String);

/// The comparison of both versions.
#[derive(Debug, Clone)]
pub struct Merge {
    base: Document,
    ours: Document,
    theirs: Document,
    /// The rows that the user has to decide about, in the order of the files.
    pub cases: Vec<TheirChange>,
    files: Vec<File>,
    /// Rows that they moved to other files.
    moved: Vec<Moved>,
    /// Whether their set or its index has other files.
    has_other_files: bool,
    /// The merged index, if both changed it.
    index: Option<MergedIndex>,
}

/// A row that they moved to another file.
#[derive(Debug, Clone, Copy)]
struct Moved {
    /// Its id before the merge.
    from: RowId,
    /// Its id after the merge.
    to: RowId,
    /// Number of the file that contains it after the merge.
    file: usize,
    /// The version that is taken if the user makes no choice.
    keeps: DefaultChoice,
}

/// The version of a moved row that is taken without a choice of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DefaultChoice {
    /// Theirs, or the choice made for its case.
    Theirs,
    /// Ours.
    Ours,
    /// Ours, which is deleted.
    Deleted,
}

/// Rows without a counterpart in their own file.
#[derive(Default)]
struct Alone {
    /// Rows of the base that are missing in their version, with the number of the file.
    gone: Vec<(usize, RowId)>,
    /// Rows that we added and they did not add in the same file.
    added: Vec<RowId>,
    /// Rows that they added, each with its new id and its position.
    new: Vec<((usize, usize), (RowId, RowId))>,
}

/// One file in both versions.
#[derive(Debug, Clone)]
struct File {
    id: SitemapId,
    /// The id of the file in their version; `None` if they removed it.
    there: Option<SitemapId>,
    /// Their rows, each with ours.
    rows: Vec<(RowId, RowId)>,
    /// Rows that they added, with their new ids.
    new: Vec<(RowId, RowId)>,
    /// Rows in which only the trivia before the element changed.
    quiet: Vec<(RowId, RowId)>,
}

impl Merge {
    /// Compares `theirs` and `ours`, which both come from `base`.
    ///
    /// # Errors
    /// [`Unmergeable`] if files or rows cannot be matched with certainty, or a file is not well-formed.
    pub fn of(base: &Document, ours: &Document, theirs: &Document) -> Result<Self, Unmergeable> {
        let pairs = pairs(base, theirs);
        let has_other_files = mergeable((base, ours, theirs), &pairs)?;
        let index = merged_index((base, ours, theirs), &pairs)?;
        let mut merge = Self {
            base: base.clone(),
            ours: ours.clone(),
            theirs: theirs.clone(),
            cases: Vec::new(),
            files: Vec::new(),
            moved: Vec::new(),
            has_other_files,
            index,
        };
        let (mut next, mut alone, mut cases) = (ours.row_limit(), Alone::default(), Vec::new());
        for (id, there) in pairs {
            merge.compare((id, there), &mut next, &mut alone, &mut cases);
        }
        merge.pair_across(alone, &mut cases);
        cases.sort_by_key(|(place, _)| *place);
        merge.cases = cases.into_iter().map(|(_, case)| case).collect();
        Ok(merge)
    }

    /// Their document.
    pub const fn their_document(&self) -> &Document {
        &self.theirs
    }

    /// If both changed the index, the number of entries in which both changed a field to different values; ours is taken.
    pub fn index_clashes(&self) -> Option<usize> {
        self.index.as_ref().map(|index| index.clashes)
    }

    fn compare(
        &mut self,
        (id, there): (SitemapId, Option<SitemapId>),
        next: &mut u32,
        alone: &mut Alone,
        cases: &mut Vec<((usize, usize), TheirChange)>,
    ) {
        let number = self.files.len();
        let (base, ours, theirs) = (&self.base, &self.ours, &self.theirs);
        let none = Sitemap::default();
        let was = base.sitemap(id).unwrap_or(&none);
        let own = ours.sitemap(id).unwrap_or(&none);
        let is = there.and_then(|there| theirs.sitemap(there)).unwrap_or(&none);
        let mut known: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in was.rows.iter().filter(|row| base.is_live(*row)) {
            known.entry(base.loc(row)).or_default().push_back(row);
        }
        let added = own.rows.iter().filter(|row| ours.is_live(*row) && !is_live_in(base, *row));
        let mut both_added: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in added {
            both_added.entry(ours.loc(row)).or_default().push_back(row);
        }
        let mut file = File { id, there, rows: Vec::new(), new: Vec::new(), quiet: Vec::new() };
        for (at, row) in is.rows.iter().enumerate() {
            let loc = theirs.loc(row);
            let own = known.get_mut(&*loc).and_then(VecDeque::pop_front);
            let own = own.or_else(|| both_added.get_mut(&*loc).and_then(VecDeque::pop_front));
            if let Some(own) = own {
                file.rows.push((row, own));
                let text = theirs.entry_text(row);
                let element = element(theirs, row);
                let is_same = is_live_in(base, own) && self::element(base, own) == element;
                let is_same_change = ours.is_live(own) && self::element(ours, own) == element;
                let clean = is_clean(ours, base, own);
                if !is_same && !is_same_change {
                    cases.push(((number, at), TheirChange { row: own, from: None, theirs: Some(row), clash: !clean }));
                } else if clean && base.entry_text(own) != text {
                    file.quiet.push((row, own));
                }
            } else {
                let own = RowId(*next);
                *next += 1;
                file.rows.push((row, own));
                file.new.push((row, own));
                alone.new.push(((number, at), (row, own)));
            }
        }
        let gone: HashSet<u32> = known.into_values().flatten().map(|row| row.0).collect();
        alone.added.extend(both_added.into_values().flatten());
        alone.gone.extend(was.rows.iter().filter(|row| gone.contains(&row.0)).map(|row| (number, row)));
        self.files.push(file);
    }

    /// Matches rows that they removed from one file and added to another, by URL.
    fn pair_across(&mut self, alone: Alone, cases: &mut Vec<((usize, usize), TheirChange)>) {
        let (base, ours, theirs) = (&self.base, &self.ours, &self.theirs);
        let mut gone: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for (_, row) in &alone.gone {
            gone.entry(base.loc(*row)).or_default().push_back(*row);
        }
        let mut added: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in &alone.added {
            added.entry(ours.loc(*row)).or_default().push_back(*row);
        }
        let (mut moved, mut found) = (Vec::new(), HashSet::new());
        for (place, (row, to)) in alone.new {
            let loc = theirs.loc(row);
            let from = [&mut gone, &mut added].into_iter().find_map(|rows| rows.get_mut(&*loc)?.pop_front());
            let Some(from) = from else {
                cases.push((place, TheirChange { row: to, from: None, theirs: Some(row), clash: false }));
                continue;
            };
            found.insert(from.0);
            let (text, is_clean) = (element(theirs, row), is_clean(ours, base, from));
            let keeps = if !is_live_in(base, from) || element(base, from) != text {
                if !(ours.is_live(from) && element(ours, from) == text) {
                    cases.push((place, TheirChange { row: to, from: Some(from), theirs: Some(row), clash: !is_clean }));
                }
                DefaultChoice::Theirs
            } else if is_clean {
                DefaultChoice::Theirs
            } else if ours.is_live(from) {
                DefaultChoice::Ours
            } else {
                DefaultChoice::Deleted
            };
            moved.push(Moved { from, to, file: place.0, keeps });
        }
        for (number, row) in alone.gone.into_iter().filter(|(_, row)| ours.is_live(*row) && !found.contains(&row.0)) {
            let clash = !is_clean(ours, base, row);
            cases.push(((number, usize::MAX), TheirChange { row, from: None, theirs: None, clash }));
        }
        self.moved = moved;
    }

    /// The edit that turns our document into theirs, byte for byte.
    pub fn theirs(&self) -> Edit {
        let mut edits = self.other_files(None);
        edits.extend(self.frames(true));
        edits.extend(self.inserts());
        for file in &self.files {
            let matched: HashMap<u32, RowId> = file.rows.iter().map(|(theirs, own)| (own.0, *theirs)).collect();
            let own = self.ours.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
            let mut back = super::rows::RowSet::new();
            let mut gone = super::rows::RowSet::new();
            for row in own {
                match (matched.contains_key(&row.0), self.ours.is_live(row)) {
                    (true, false) => drop(back.insert(row.0)),
                    (false, true) => drop(gone.insert(row.0)),
                    _ => {}
                }
            }
            edits.push(Edit::Restore(back));
            edits.push(Edit::Delete(gone));
            for (theirs, own) in &file.rows {
                let text = self.theirs.entry_text(*theirs);
                if own.0 >= self.ours.row_limit() || self.ours.entry_text(*own) != text {
                    edits.push(raw(*own, &text));
                }
            }
            let order: Vec<u32> = file.rows.iter().map(|(_, own)| own.0).collect();
            let all = self.all_rows(file);
            let order = merge_orders(&order, &all);
            if order != all {
                edits.push(Edit::Reorder(vec![(file.id, RowList::from_ids(order))]));
            }
        }
        Edit::Several(edits)
    }

    /// The edit that merges their changes into our document, with a choice for each case.
    pub fn merged(&self, takes: &[MergeChoice]) -> Edit {
        let mut edits = self.other_files(Some(takes));
        edits.extend(self.frames(false));
        edits.extend(self.inserts());
        for (theirs, own) in self.files.iter().flat_map(|file| &file.quiet) {
            edits.push(raw(*own, &self.theirs.entry_text(*theirs)));
        }
        for moved @ Moved { from, to, keeps, .. } in &self.moved {
            edits.push(Edit::Delete(std::iter::once(from.0).collect()));
            match keeps {
                DefaultChoice::Theirs => {}
                DefaultChoice::Ours => edits.push(self.moved_edit(moved)),
                DefaultChoice::Deleted => edits.push(Edit::Delete(std::iter::once(to.0).collect())),
            }
        }
        for (case, take) in self.cases.iter().zip(takes) {
            self.resolve(case, *take, &mut edits);
        }
        for file in &self.files {
            let all = self.all_rows(file);
            let order = self.order(file, &all);
            if order != all {
                edits.push(Edit::Reorder(vec![(file.id, RowList::from_ids(order))]));
            }
        }
        Edit::Several(edits)
    }

    /// Insertions of their new rows at the end of each file, so that the ids do not depend on the choices.
    fn inserts(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        for file in self.files.iter().filter(|file| !file.new.is_empty()) {
            let own = self.ours.sitemap(file.id).map(|sitemap| &sitemap.rows);
            let after = own.and_then(|rows| rows.get(rows.len().checked_sub(1)?));
            let element = |row: RowId| {
                let (entry, text) = self.theirs.entry(row);
                NewEntry::Element(String::from_utf8_lossy(text.get(entry.open as usize..).unwrap_or_default()).into())
            };
            let entries = file.new.iter().map(|(theirs, _)| element(*theirs)).collect();
            edits.push(Edit::Insert { sitemap: file.id, after, entries });
            edits.extend(file.new.iter().map(|(theirs, own)| raw(*own, &self.theirs.entry_text(*theirs))));
        }
        edits
    }

    fn resolve(&self, case: &TheirChange, take: MergeChoice, edits: &mut Vec<Edit>) {
        let TheirChange { row, theirs, .. } = *case;
        if let Some((from, theirs)) = case.from.zip(theirs) {
            match take {
                MergeChoice::Theirs => {}
                _ if self.ours.is_live(from) => {
                    // Ids are given in the order in which rows are found.
                    let moved = self.moved.binary_search_by_key(&row, |moved| moved.to);
                    edits.extend(moved.ok().and_then(|at| self.moved.get(at)).map(|moved| self.moved_edit(moved)));
                    if take == MergeChoice::Both {
                        self.combine((from, row), theirs, edits);
                    }
                }
                MergeChoice::Ours => edits.push(Edit::Delete(std::iter::once(row.0).collect())),
                MergeChoice::Both => {}
            }
            return;
        }
        let is_new = row.0 >= self.ours.row_limit();
        let is_here = !is_new && self.ours.is_live(row);
        let rows = || std::iter::once(row.0).collect();
        match (take, theirs) {
            (MergeChoice::Ours, _) if is_new => edits.push(Edit::Delete(rows())),
            (MergeChoice::Ours, _) | (MergeChoice::Both, None) => {}
            (MergeChoice::Theirs, None) => edits.push(Edit::Delete(rows())),
            // Its text came with it.
            (MergeChoice::Theirs | MergeChoice::Both, Some(_)) if is_new => {}
            (MergeChoice::Theirs, Some(theirs)) => {
                if !is_here {
                    edits.push(Edit::Restore(rows()));
                }
                edits.push(raw(row, &self.theirs.entry_text(theirs)));
            }
            (MergeChoice::Both, Some(theirs)) if !is_here => {
                edits.push(Edit::Restore(rows()));
                edits.push(raw(row, &self.theirs.entry_text(theirs)));
            }
            (MergeChoice::Both, Some(theirs)) => self.combine((row, row), theirs, edits),
        }
    }

    /// Our text of a row that they have put into another file: with the declarations that it needs there, whoever's
    /// root that gets.
    fn moved_edit(&self, moved: &Moved) -> Edit {
        let file = self.files.get(moved.file);
        let theirs = file.and_then(|file| self.theirs.sitemap(file.there?));
        let roots = theirs.into_iter().chain(file.and_then(|file| self.ours.sitemap(file.id)));
        let roots: Vec<&Names> = roots.map(|sitemap| &sitemap.frame.names).collect();
        raw(moved.to, &text_under_roots(&self.ours, moved.from, &roots))
    }

    /// Their text with our fields; where we changed more than fields, our text with theirs, which `to` has already.
    fn combine(&self, (row, to): (RowId, RowId), theirs: RowId, edits: &mut Vec<Edit>) {
        let was = |field| if is_live_in(&self.base, row) { self.base.value(row, field) } else { None };
        let ours_changed = |field: &Field| self.ours.value(row, *field) != was(*field);
        let keeps_text = is_live_in(&self.base, row) && self.ours.compare(&self.base).has_same_base_text(row);
        let set = |field: Field, value: Option<Cow<'_, str>>| {
            let value = value.map(|value| (&*value).into());
            Edit::SetEach { field, values: vec![(to, value)] }
        };
        if keeps_text {
            edits.push(raw(to, &self.theirs.entry_text(theirs)));
            edits.extend(
                Field::ALL.into_iter().filter(ours_changed).map(|field| set(field, self.ours.value(row, field))),
            );
            return;
        }
        for field in Field::ALL.into_iter().filter(|field| !ours_changed(field)) {
            let value = self.theirs.value(theirs, field);
            if value != self.ours.value(row, field) {
                edits.push(set(field, value));
            }
        }
    }

    /// Every row that a file has here once theirs are in it, in the order before anything moves.
    fn all_rows(&self, file: &File) -> Vec<u32> {
        let own = self.ours.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
        own.chain(file.new.iter().map(|(_, own)| *own)).map(|row| row.0).collect()
    }

    /// Our order with their new rows behind their neighbours; their order where only they have changed it.
    fn order(&self, file: &File, all: &[u32]) -> Vec<u32> {
        let theirs: Vec<u32> = file.rows.iter().map(|(_, own)| own.0).collect();
        let was: Vec<u32> =
            self.base.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter()).map(|row| row.0).collect();
        let own = all.get(..all.len() - file.new.len()).unwrap_or_default();
        if keeps_order(&was, own) && !keeps_order(&was, &theirs) {
            merge_orders(&theirs, own)
        } else {
            merge_orders(own, &theirs)
        }
    }

    /// Their files, where they are others than before: all as they are there, or, with an answer for each case, without
    /// taking away what keeps rows. The index is theirs then, with what was done to its entries here.
    fn other_files(&self, takes: Option<&[MergeChoice]>) -> Vec<Edit> {
        if !self.has_other_files {
            return Vec::new();
        }
        let deleted = |case: &TheirChange, take: &MergeChoice| case.theirs.is_none() && *take == MergeChoice::Theirs;
        let deleted = takes.map(|takes| {
            let cases = self.cases.iter().zip(takes);
            let cases = cases.filter(|(case, take)| deleted(case, take)).map(|(case, _)| case.row.0);
            cases.chain(self.moved.iter().map(|moved| moved.from.0)).collect::<HashSet<u32>>()
        });
        let keeps_rows = |file: &&File| {
            let rows = self.ours.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
            let mut live = rows.filter(|row| self.ours.is_live(*row));
            deleted.as_ref().is_some_and(|deleted| live.any(|row| !deleted.contains(&row.0)))
        };
        let (kept, gone): (Vec<&File>, Vec<&File>) =
            self.files.iter().filter(|file| file.there.is_none()).partition(keeps_rows);
        let ids = self.files.iter().filter_map(|file| Some((file.there?, file.id))).collect();
        let mut index = self.theirs.index().map(|index| with_ids_of(index, &ids));
        if let Some((index, own)) = index.as_mut().zip(self.ours.index()) {
            // The file alone is gone, and its entry is still there.
            for file in kept {
                let loc = own.child_of(file.id).and_then(|entry| own.children.get(entry)).map(|child| &child.loc);
                if let Some(child) = index.children_mut().iter_mut().find(|child| Some(&child.loc) == loc) {
                    child.state = ChildState::Loaded(file.id);
                }
            }
            if takes.is_some() {
                (index.gzip, index.accepted) = (own.gzip, own.accepted);
                if let Some(merged) = &self.index {
                    *index = index.edited(Arc::clone(&merged.source));
                }
            }
        }
        let is_new = |file: &&File| file.id.index() >= self.ours.sitemaps().len();
        let new = self.files.iter().filter(is_new).filter_map(|file| self.theirs.sitemap(file.there?));
        let new = new
            .map(|sitemap| Sitemap { frame: Arc::new(sitemap.frame.without_entries()), ..sitemap.clone() })
            .collect();
        let gone = gone.into_iter().map(|file| file.id).collect();
        vec![Edit::Adopt(AdoptedFiles::new(ExternalFiles { new, gone, index }))]
    }

    /// Whether "both" keeps our whole text of a row with their fields put in, so that what else they changed in it, its
    /// extensions, is not taken.
    pub fn both_keeps_ours(&self, case: &TheirChange) -> bool {
        case.theirs.is_some()
            && is_live_in(&self.ours, case.own())
            && !(is_live_in(&self.base, case.own()) && self.ours.compare(&self.base).has_same_base_text(case.own()))
    }

    /// What is around the entries, as far as it is another.
    fn frames(&self, all_theirs: bool) -> Vec<Edit> {
        let mut edits = Vec::new();
        let takes = |own: &Arc<Source>, was: &Arc<Source>| all_theirs || Arc::ptr_eq(own, was);
        if let (Some(base), Some(ours), Some(theirs)) = (self.base.index(), self.ours.index(), self.theirs.index())
            && !self.has_other_files
            && takes(&ours.source, &base.source)
            && ours.source.bytes() != theirs.source.bytes()
        {
            edits.push(Edit::Frame { file: Member::Index, frame: Arc::clone(&theirs.source) });
        }
        if let Some(merged) = self.index.as_ref().filter(|_| !all_theirs && !self.has_other_files) {
            edits.push(Edit::Frame { file: Member::Index, frame: Arc::clone(&merged.source) });
        }
        for file in &self.files {
            let theirs = file.there.and_then(|there| self.theirs.sitemap(there));
            let Some(((base, ours), theirs)) = self.base.sitemap(file.id).zip(self.ours.sitemap(file.id)).zip(theirs)
            else {
                continue;
            };
            if takes(&ours.frame, &base.frame)
                && !is_same_frame(ours, theirs)
                && let Some(frame) = Source::framed(&theirs.frame.head(true), &theirs.frame.tail(true))
            {
                edits.push(Edit::Frame { file: Member::Sitemap(file.id), frame: Arc::new(frame) });
            }
        }
        edits
    }
}

/// The index of both, where both changed it.
fn merged_index(
    (base, ours, theirs): (&Document, &Document, &Document),
    pairs: &[(SitemapId, Option<SitemapId>)],
) -> Result<Option<MergedIndex>, Unmergeable> {
    let ids = pairs.iter().filter_map(|(id, there)| Some(((*there)?, *id))).collect();
    let theirs = theirs.index().map(|index| with_ids_of(index, &ids));
    let Some(((base, ours), theirs)) = base.index().zip(ours.index()).zip(theirs.as_ref()) else { return Ok(None) };
    let versions = Versions { base, ours, theirs };
    if !versions.is_conflict() {
        return Ok(None);
    }
    let why = "both sides changed the index and its files or namespaces: undo your change first, or save \
               elsewhere";
    versions.merged().map(Some).ok_or_else(|| Unmergeable(why.to_owned()))
}

fn is_same_frame(one: &Sitemap, other: &Sitemap) -> bool {
    [true, false].into_iter().all(|entries| {
        one.frame.head(entries) == other.frame.head(entries) && one.frame.tail(entries) == other.frame.tail(entries)
    })
}

/// An entry without what is before it.
fn element(document: &Document, row: RowId) -> Vec<u8> {
    let (entry, text) = document.entry(row);
    text.get(entry.open as usize..).unwrap_or_default().to_vec()
}

fn is_live_in(document: &Document, row: RowId) -> bool {
    row.0 < document.row_limit() && document.is_live(row)
}

/// Whether nothing was done to a row here.
fn is_clean(ours: &Document, base: &Document, row: RowId) -> bool {
    is_live_in(base, row) && ours.compare(base).row_state(row) == super::RowState::Clean
}

fn raw(row: RowId, text: &[u8]) -> Edit {
    Edit::Raw { row, text: String::from_utf8_lossy(text).into() }
}

/// Whether the rows that both have are in the same order.
fn keeps_order(was: &[u32], is: &[u32]) -> bool {
    let places: HashMap<u32, usize> = was.iter().copied().zip(0..).collect();
    is.iter().filter_map(|row| places.get(row)).is_sorted()
}

/// One order with the rows that only the other has, each behind the row that it follows there.
fn merge_orders(main: &[u32], other: &[u32]) -> Vec<u32> {
    let known: HashSet<u32> = main.iter().copied().collect();
    let mut after: HashMap<Option<u32>, Vec<u32>> = HashMap::new();
    let mut last = None;
    for row in other {
        if known.contains(row) {
            last = Some(*row);
        } else {
            after.entry(last).or_default().push(*row);
        }
    }
    let mut merged = after.remove(&None).unwrap_or_default();
    for row in main {
        merged.push(*row);
        merged.extend(after.remove(&Some(*row)).unwrap_or_default());
    }
    merged
}
