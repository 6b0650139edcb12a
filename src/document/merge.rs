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
use pairs::{check_mergeable, match_files};
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
    /// Their version with the fields that we changed; a row that one side deleted stays.
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
    pub fn our_row(&self) -> RowId {
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
    default_choice: DefaultChoice,
}

/// The version of a moved row that is taken without a choice of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DefaultChoice {
    /// Theirs, or the choice made for its case.
    Theirs,
    /// Ours.
    Ours,
    /// Ours; we deleted the row.
    Deleted,
}

/// Rows without a counterpart in the other version of the same file.
#[derive(Default)]
struct Unmatched {
    /// Rows of the base that are missing in their version, with the number of the file.
    removed: Vec<(usize, RowId)>,
    /// Rows that we added and they did not add in the same file.
    added: Vec<RowId>,
    /// Rows that they added: the number of the file and the position in it, and the row with its new id.
    new: Vec<((usize, usize), (RowId, RowId))>,
}

/// One file in both versions.
#[derive(Debug, Clone)]
struct File {
    id: SitemapId,
    /// The id of the file in their version; `None` if they removed it.
    their_id: Option<SitemapId>,
    /// Their rows, each with ours.
    rows: Vec<(RowId, RowId)>,
    /// Rows that they added, with their new ids.
    new: Vec<(RowId, RowId)>,
    /// Rows in which only the trivia before the element changed.
    trivia_only: Vec<(RowId, RowId)>,
}

impl Merge {
    /// Compares `theirs` and `ours`, which both come from `base`.
    ///
    /// # Errors
    /// [`Unmergeable`] if files or rows cannot be matched with certainty, or a file is not well-formed.
    pub fn of(base: &Document, ours: &Document, theirs: &Document) -> Result<Self, Unmergeable> {
        let pairs = match_files(base, theirs);
        let has_other_files = check_mergeable((base, ours, theirs), &pairs)?;
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
        let (mut next_id, mut unmatched, mut cases) = (ours.row_limit(), Unmatched::default(), Vec::new());
        for (id, their_id) in pairs {
            merge.compare_file((id, their_id), &mut next_id, &mut unmatched, &mut cases);
        }
        merge.match_across_files(unmatched, &mut cases);
        cases.sort_by_key(|(position, _)| *position);
        merge.cases = cases.into_iter().map(|(_, case)| case).collect();
        Ok(merge)
    }

    /// Their document.
    pub const fn their_document(&self) -> &Document {
        &self.theirs
    }

    /// If both changed the index, the number of entries in which both changed a field to different values; ours is
    /// taken.
    pub fn index_clashes(&self) -> Option<usize> {
        self.index.as_ref().map(|index| index.clashes)
    }

    /// Compares one file: matches its rows by URL, and collects the cases and the unmatched rows.
    fn compare_file(
        &mut self,
        (id, their_id): (SitemapId, Option<SitemapId>),
        next_id: &mut u32,
        unmatched: &mut Unmatched,
        cases: &mut Vec<((usize, usize), TheirChange)>,
    ) {
        let number = self.files.len();
        let (base, ours, theirs) = (&self.base, &self.ours, &self.theirs);
        let none = Sitemap::default();
        let base_file = base.sitemap(id).unwrap_or(&none);
        let our_file = ours.sitemap(id).unwrap_or(&none);
        let their_file = their_id.and_then(|their_id| theirs.sitemap(their_id)).unwrap_or(&none);
        let mut base_rows: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in base_file.rows.iter().filter(|row| base.is_live(*row)) {
            base_rows.entry(base.loc(row)).or_default().push_back(row);
        }
        let added = our_file.rows.iter().filter(|row| ours.is_live(*row) && !is_live_in(base, *row));
        let mut our_added: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in added {
            our_added.entry(ours.loc(row)).or_default().push_back(row);
        }
        let mut file = File { id, their_id, rows: Vec::new(), new: Vec::new(), trivia_only: Vec::new() };
        for (at, row) in their_file.rows.iter().enumerate() {
            let loc = theirs.loc(row);
            let our_row = base_rows.get_mut(&*loc).and_then(VecDeque::pop_front);
            let our_row = our_row.or_else(|| our_added.get_mut(&*loc).and_then(VecDeque::pop_front));
            if let Some(our_row) = our_row {
                file.rows.push((row, our_row));
                let text = theirs.entry_text(row);
                let element = element(theirs, row);
                let is_same = is_live_in(base, our_row) && self::element(base, our_row) == element;
                let is_same_change = ours.is_live(our_row) && self::element(ours, our_row) == element;
                let clean = is_clean(ours, base, our_row);
                if !is_same && !is_same_change {
                    cases.push((
                        (number, at),
                        TheirChange { row: our_row, from: None, theirs: Some(row), clash: !clean },
                    ));
                } else if clean && base.entry_text(our_row) != text {
                    file.trivia_only.push((row, our_row));
                }
            } else {
                let our_row = RowId(*next_id);
                *next_id += 1;
                file.rows.push((row, our_row));
                file.new.push((row, our_row));
                unmatched.new.push(((number, at), (row, our_row)));
            }
        }
        let removed: HashSet<u32> = base_rows.into_values().flatten().map(|row| row.0).collect();
        unmatched.added.extend(our_added.into_values().flatten());
        unmatched.removed.extend(base_file.rows.iter().filter(|row| removed.contains(&row.0)).map(|row| (number, row)));
        self.files.push(file);
    }

    /// Matches rows that they removed from one file and added to another, by URL.
    fn match_across_files(&mut self, unmatched: Unmatched, cases: &mut Vec<((usize, usize), TheirChange)>) {
        let (base, ours, theirs) = (&self.base, &self.ours, &self.theirs);
        let mut removed: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for (_, row) in &unmatched.removed {
            removed.entry(base.loc(*row)).or_default().push_back(*row);
        }
        let mut added: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in &unmatched.added {
            added.entry(ours.loc(*row)).or_default().push_back(*row);
        }
        let (mut moved, mut found) = (Vec::new(), HashSet::new());
        for (position, (row, to)) in unmatched.new {
            let loc = theirs.loc(row);
            let from = [&mut removed, &mut added].into_iter().find_map(|rows| rows.get_mut(&*loc)?.pop_front());
            let Some(from) = from else {
                cases.push((position, TheirChange { row: to, from: None, theirs: Some(row), clash: false }));
                continue;
            };
            found.insert(from.0);
            let (text, is_clean) = (element(theirs, row), is_clean(ours, base, from));
            let default_choice = if !is_live_in(base, from) || element(base, from) != text {
                if !(ours.is_live(from) && element(ours, from) == text) {
                    cases.push((
                        position,
                        TheirChange { row: to, from: Some(from), theirs: Some(row), clash: !is_clean },
                    ));
                }
                DefaultChoice::Theirs
            } else if is_clean {
                DefaultChoice::Theirs
            } else if ours.is_live(from) {
                DefaultChoice::Ours
            } else {
                DefaultChoice::Deleted
            };
            moved.push(Moved { from, to, file: position.0, default_choice });
        }
        for (number, row) in
            unmatched.removed.into_iter().filter(|(_, row)| ours.is_live(*row) && !found.contains(&row.0))
        {
            let clash = !is_clean(ours, base, row);
            cases.push(((number, usize::MAX), TheirChange { row, from: None, theirs: None, clash }));
        }
        self.moved = moved;
    }

    /// The edit that turns our document into theirs, byte for byte.
    pub fn theirs(&self) -> Edit {
        let mut edits = self.adopt_edits(None);
        edits.extend(self.frame_edits(true));
        edits.extend(self.insert_edits());
        for file in &self.files {
            let matched: HashMap<u32, RowId> = file.rows.iter().map(|(theirs, our_row)| (our_row.0, *theirs)).collect();
            let our_rows = self.ours.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
            let mut restored = super::rows::RowSet::new();
            let mut deleted = super::rows::RowSet::new();
            for row in our_rows {
                match (matched.contains_key(&row.0), self.ours.is_live(row)) {
                    (true, false) => drop(restored.insert(row.0)),
                    (false, true) => drop(deleted.insert(row.0)),
                    _ => {}
                }
            }
            edits.push(Edit::Restore(restored));
            edits.push(Edit::Delete(deleted));
            for (theirs, our_row) in &file.rows {
                let text = self.theirs.entry_text(*theirs);
                if our_row.0 >= self.ours.row_limit() || self.ours.entry_text(*our_row) != text {
                    edits.push(raw_edit(*our_row, &text));
                }
            }
            let order: Vec<u32> = file.rows.iter().map(|(_, our_row)| our_row.0).collect();
            let all = self.all_rows(file);
            let order = merge_orders(&order, &all);
            if order != all {
                edits.push(Edit::Reorder(vec![(file.id, RowList::from_ids(order))]));
            }
        }
        Edit::Several(edits)
    }

    /// The edit that merges their changes into our document, with a choice for each case.
    pub fn merged(&self, choices: &[MergeChoice]) -> Edit {
        let mut edits = self.adopt_edits(Some(choices));
        edits.extend(self.frame_edits(false));
        edits.extend(self.insert_edits());
        for (theirs, our_row) in self.files.iter().flat_map(|file| &file.trivia_only) {
            edits.push(raw_edit(*our_row, &self.theirs.entry_text(*theirs)));
        }
        for moved @ Moved { from, to, default_choice, .. } in &self.moved {
            edits.push(Edit::Delete(std::iter::once(from.0).collect()));
            match default_choice {
                DefaultChoice::Theirs => {}
                DefaultChoice::Ours => edits.push(self.moved_edit(moved)),
                DefaultChoice::Deleted => edits.push(Edit::Delete(std::iter::once(to.0).collect())),
            }
        }
        for (case, choice) in self.cases.iter().zip(choices) {
            self.resolve(case, *choice, &mut edits);
        }
        for file in &self.files {
            let all = self.all_rows(file);
            let order = self.merged_order(file, &all);
            if order != all {
                edits.push(Edit::Reorder(vec![(file.id, RowList::from_ids(order))]));
            }
        }
        Edit::Several(edits)
    }

    /// Insertions of their new rows at the end of each file, so that the ids do not depend on the choices.
    fn insert_edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        for file in self.files.iter().filter(|file| !file.new.is_empty()) {
            let our_rows = self.ours.sitemap(file.id).map(|sitemap| &sitemap.rows);
            let after = our_rows.and_then(|rows| rows.get(rows.len().checked_sub(1)?));
            let element = |row: RowId| {
                let (entry, text) = self.theirs.entry(row);
                NewEntry::Element(String::from_utf8_lossy(text.get(entry.open as usize..).unwrap_or_default()).into())
            };
            let entries = file.new.iter().map(|(theirs, _)| element(*theirs)).collect();
            edits.push(Edit::Insert { sitemap: file.id, after, entries });
            edits.extend(file.new.iter().map(|(theirs, our_row)| raw_edit(*our_row, &self.theirs.entry_text(*theirs))));
        }
        edits
    }

    /// Appends the edits that apply the user's choice for a case.
    fn resolve(&self, case: &TheirChange, choice: MergeChoice, edits: &mut Vec<Edit>) {
        let TheirChange { row, theirs, .. } = *case;
        if let Some((from, theirs)) = case.from.zip(theirs) {
            match choice {
                MergeChoice::Theirs => {}
                _ if self.ours.is_live(from) => {
                    // `moved` is sorted by `to`: new ids ascend in the order in which rows were found.
                    let moved = self.moved.binary_search_by_key(&row, |moved| moved.to);
                    edits.extend(moved.ok().and_then(|at| self.moved.get(at)).map(|moved| self.moved_edit(moved)));
                    if choice == MergeChoice::Both {
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
        match (choice, theirs) {
            (MergeChoice::Ours, _) if is_new => edits.push(Edit::Delete(rows())),
            (MergeChoice::Ours, _) | (MergeChoice::Both, None) => {}
            (MergeChoice::Theirs, None) => edits.push(Edit::Delete(rows())),
            // The row was inserted with their text.
            (MergeChoice::Theirs | MergeChoice::Both, Some(_)) if is_new => {}
            (MergeChoice::Theirs, Some(theirs)) => {
                if !is_here {
                    edits.push(Edit::Restore(rows()));
                }
                edits.push(raw_edit(row, &self.theirs.entry_text(theirs)));
            }
            (MergeChoice::Both, Some(theirs)) if !is_here => {
                edits.push(Edit::Restore(rows()));
                edits.push(raw_edit(row, &self.theirs.entry_text(theirs)));
            }
            (MergeChoice::Both, Some(theirs)) => self.combine((row, row), theirs, edits),
        }
    }

    /// The edit that gives a row our text in the file that they moved it to. The text declares the prefixes that it
    /// needs there, whether the merge keeps our root of that file or theirs.
    fn moved_edit(&self, moved: &Moved) -> Edit {
        let file = self.files.get(moved.file);
        let theirs = file.and_then(|file| self.theirs.sitemap(file.their_id?));
        let roots = theirs.into_iter().chain(file.and_then(|file| self.ours.sitemap(file.id)));
        let roots: Vec<&Names> = roots.map(|sitemap| &sitemap.frame.names).collect();
        raw_edit(moved.to, &text_under_roots(&self.ours, moved.from, &roots))
    }

    /// Combines both versions of a row: their text with the fields that we changed. If we changed more than fields, our
    /// text, which `to` has already, with the fields that only they changed.
    fn combine(&self, (row, to): (RowId, RowId), theirs: RowId, edits: &mut Vec<Edit>) {
        let base_value = |field| if is_live_in(&self.base, row) { self.base.value(row, field) } else { None };
        let ours_changed = |field: &Field| self.ours.value(row, *field) != base_value(*field);
        let keeps_text = is_live_in(&self.base, row) && self.ours.compare(&self.base).has_same_base_text(row);
        let set = |field: Field, value: Option<Cow<'_, str>>| {
            let value = value.map(|value| (&*value).into());
            Edit::SetEach { field, values: vec![(to, value)] }
        };
        if keeps_text {
            edits.push(raw_edit(to, &self.theirs.entry_text(theirs)));
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

    /// Ids of all rows of our file after their new rows were inserted, in the order before any [`Edit::Reorder`].
    fn all_rows(&self, file: &File) -> Vec<u32> {
        let our_rows = self.ours.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
        our_rows.chain(file.new.iter().map(|(_, our_row)| *our_row)).map(|row| row.0).collect()
    }

    /// Our order, with each row that only they have after the row that it follows in their version. If only they
    /// changed the order, their order, with our rows inserted in the same way.
    fn merged_order(&self, file: &File, all: &[u32]) -> Vec<u32> {
        let their_order: Vec<u32> = file.rows.iter().map(|(_, our_row)| our_row.0).collect();
        let base_order: Vec<u32> =
            self.base.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter()).map(|row| row.0).collect();
        let our_order = all.get(..all.len() - file.new.len()).unwrap_or_default();
        if keeps_order(&base_order, our_order) && !keeps_order(&base_order, &their_order) {
            merge_orders(&their_order, our_order)
        } else {
            merge_orders(our_order, &their_order)
        }
    }

    /// The edit that adds and removes files as they did, and takes their index; empty if their set has the same files
    /// as the base. With a choice for each case, a file that still contains live rows is not removed, and our changes
    /// of the index are kept.
    fn adopt_edits(&self, choices: Option<&[MergeChoice]>) -> Vec<Edit> {
        if !self.has_other_files {
            return Vec::new();
        }
        let is_deleted =
            |case: &TheirChange, choice: &MergeChoice| case.theirs.is_none() && *choice == MergeChoice::Theirs;
        let deleted = choices.map(|choices| {
            let cases = self.cases.iter().zip(choices);
            let cases = cases.filter(|(case, choice)| is_deleted(case, choice)).map(|(case, _)| case.row.0);
            cases.chain(self.moved.iter().map(|moved| moved.from.0)).collect::<HashSet<u32>>()
        });
        let keeps_rows = |file: &&File| {
            let rows = self.ours.sitemap(file.id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
            let mut live = rows.filter(|row| self.ours.is_live(*row));
            deleted.as_ref().is_some_and(|deleted| live.any(|row| !deleted.contains(&row.0)))
        };
        let (kept_files, removed_files): (Vec<&File>, Vec<&File>) =
            self.files.iter().filter(|file| file.their_id.is_none()).partition(keeps_rows);
        let ids = self.files.iter().filter_map(|file| Some((file.their_id?, file.id))).collect();
        let mut index = self.theirs.index().map(|index| with_ids_of(index, &ids));
        if let Some((index, our_index)) = index.as_mut().zip(self.ours.index()) {
            // If their index still lists a file that they removed, its entry names our file.
            for file in kept_files {
                let loc =
                    our_index.child_of(file.id).and_then(|entry| our_index.children.get(entry)).map(|child| &child.loc);
                if let Some(child) = index.children_mut().iter_mut().find(|child| Some(&child.loc) == loc) {
                    child.state = ChildState::Loaded(file.id);
                }
            }
            if choices.is_some() {
                (index.gzip, index.accepted) = (our_index.gzip, our_index.accepted);
                if let Some(merged) = &self.index {
                    *index = index.edited(Arc::clone(&merged.source));
                }
            }
        }
        let is_new = |file: &&File| file.id.index() >= self.ours.sitemaps().len();
        let added = self.files.iter().filter(is_new).filter_map(|file| self.theirs.sitemap(file.their_id?));
        let added = added
            .map(|sitemap| Sitemap { frame: Arc::new(sitemap.frame.without_entries()), ..sitemap.clone() })
            .collect();
        let removed = removed_files.into_iter().map(|file| file.id).collect();
        vec![Edit::Adopt(AdoptedFiles::new(ExternalFiles { added, removed, index }))]
    }

    /// Whether [`MergeChoice::Both`] keeps our text of a row and takes only the values of fields from theirs, so that
    /// their other changes, such as extensions, are lost. This is so if we added the row or replaced its whole text.
    pub fn both_keeps_ours(&self, case: &TheirChange) -> bool {
        case.theirs.is_some()
            && is_live_in(&self.ours, case.our_row())
            && !(is_live_in(&self.base, case.our_row())
                && self.ours.compare(&self.base).has_same_base_text(case.our_row()))
    }

    /// Edits that replace the head and tail of the index and of each file by theirs where they differ. Unless
    /// `all_theirs`, a frame that we changed is kept, or merged if it is the index.
    fn frame_edits(&self, all_theirs: bool) -> Vec<Edit> {
        let mut edits = Vec::new();
        let takes_theirs =
            |our_frame: &Arc<Source>, base_frame: &Arc<Source>| all_theirs || Arc::ptr_eq(our_frame, base_frame);
        if let (Some(base), Some(ours), Some(theirs)) = (self.base.index(), self.ours.index(), self.theirs.index())
            && !self.has_other_files
            && takes_theirs(&ours.source, &base.source)
            && ours.source.bytes() != theirs.source.bytes()
        {
            edits.push(Edit::Frame { file: Member::Index, frame: Arc::clone(&theirs.source) });
        }
        if let Some(merged) = self.index.as_ref().filter(|_| !all_theirs && !self.has_other_files) {
            edits.push(Edit::Frame { file: Member::Index, frame: Arc::clone(&merged.source) });
        }
        for file in &self.files {
            let theirs = file.their_id.and_then(|their_id| self.theirs.sitemap(their_id));
            let Some(((base, ours), theirs)) = self.base.sitemap(file.id).zip(self.ours.sitemap(file.id)).zip(theirs)
            else {
                continue;
            };
            if takes_theirs(&ours.frame, &base.frame)
                && !is_same_frame(ours, theirs)
                && let Some(frame) = Source::framed(&theirs.frame.head(true), &theirs.frame.tail(true))
            {
                edits.push(Edit::Frame { file: Member::Sitemap(file.id), frame: Arc::new(frame) });
            }
        }
        edits
    }
}

/// The merged index; `None` if at most one side changed it, or both made the same changes.
fn merged_index(
    (base, ours, theirs): (&Document, &Document, &Document),
    pairs: &[(SitemapId, Option<SitemapId>)],
) -> Result<Option<MergedIndex>, Unmergeable> {
    let ids = pairs.iter().filter_map(|(id, their_id)| Some(((*their_id)?, *id))).collect();
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

fn is_same_frame(first: &Sitemap, other: &Sitemap) -> bool {
    [true, false].into_iter().all(|entries| {
        first.frame.head(entries) == other.frame.head(entries) && first.frame.tail(entries) == other.frame.tail(entries)
    })
}

/// The text of an entry without the trivia before its element.
fn element(document: &Document, row: RowId) -> Vec<u8> {
    let (entry, text) = document.entry(row);
    text.get(entry.open as usize..).unwrap_or_default().to_vec()
}

fn is_live_in(document: &Document, row: RowId) -> bool {
    row.0 < document.row_limit() && document.is_live(row)
}

/// Whether a row of the base is unchanged in our document.
fn is_clean(ours: &Document, base: &Document, row: RowId) -> bool {
    is_live_in(base, row) && ours.compare(base).row_state(row) == super::RowState::Clean
}

/// The edit that replaces the whole text of a row.
fn raw_edit(row: RowId, text: &[u8]) -> Edit {
    Edit::Raw { row, text: String::from_utf8_lossy(text).into() }
}

/// Whether the rows of both lists are in the same order.
fn keeps_order(before: &[u32], after: &[u32]) -> bool {
    let positions: HashMap<u32, usize> = before.iter().copied().zip(0..).collect();
    after.iter().filter_map(|row| positions.get(row)).is_sorted()
}

/// The rows of `main` in their order, with each row that only `other` has after the row that it follows in `other`.
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
