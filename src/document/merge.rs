//! Two versions of a set that come from one: what others wrote meanwhile, and what was changed here. Row by row, by URL.
//!
//! Invariant: [`Merge::theirs`] gives a document that holds their bytes, in the row ids of ours, so that what a merge
//! leaves unsaved is what differs from their files. Rows that only one side changed need no answer. Pure.

use super::Document;
use super::edit::{Edit, NewEntry};
use super::rows::{RowId, RowList};
use super::sitemap::{Member, Sitemap, SitemapId};
use super::source::Source;
use crate::protocol::Field;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// Whose version of a row counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// As it is here.
    Ours,
    /// As the files have it now.
    Theirs,
    /// Their version with the fields that were changed here; a row that one side deleted stays.
    Both,
}

/// A row that others changed, added or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The row; for one that is new to us, the id that it gets.
    pub row: RowId,
    /// The row in their document; `None` if they deleted it.
    pub theirs: Option<RowId>,
    /// Whether it was changed here too, otherwise than there.
    pub clash: bool,
}

/// Why two versions cannot be merged, in a whole sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmergeable(pub String);

/// Both versions, compared.
#[derive(Debug, Clone)]
pub struct Merge {
    base: Document,
    ours: Document,
    theirs: Document,
    /// The rows that need to be told about, in the order of the files.
    pub cases: Vec<Case>,
    files: Vec<File>,
}

/// One file of both.
#[derive(Debug, Clone)]
struct File {
    id: SitemapId,
    /// For each row of theirs the row here.
    rows: Vec<(RowId, RowId)>,
    /// Rows of theirs that are new to us, with the ids that they get.
    new: Vec<(RowId, RowId)>,
    /// Rows that nobody changed but for what stands before them: comments, white space.
    quiet: Vec<(RowId, RowId)>,
}

impl Merge {
    /// Compares what others made of `base` with what we made of it.
    ///
    /// # Errors
    /// [`Unmergeable`] where the set has other files now, or is no sound XML.
    pub fn of(base: &Document, ours: &Document, theirs: &Document) -> Result<Self, Unmergeable> {
        mergeable(base, ours, theirs)?;
        let mut merge = Self {
            base: base.clone(),
            ours: ours.clone(),
            theirs: theirs.clone(),
            cases: Vec::new(),
            files: Vec::new(),
        };
        let mut next = ours.row_limit();
        for number in 0..ours.sitemaps().len() as u32 {
            merge.compare(SitemapId(number), &mut next);
        }
        Ok(merge)
    }

    /// Their document.
    pub const fn their_document(&self) -> &Document {
        &self.theirs
    }

    fn compare(&mut self, id: SitemapId, next: &mut u32) {
        let (base, ours, theirs) = (&self.base, &self.ours, &self.theirs);
        let (Some(was), Some(own), Some(is)) = (base.sitemap(id), ours.sitemap(id), theirs.sitemap(id)) else { return };
        let mut known: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in was.rows.iter().filter(|row| base.is_live(*row)) {
            known.entry(base.loc(row)).or_default().push_back(row);
        }
        let added = own.rows.iter().filter(|row| ours.is_live(*row) && !is_live_in(base, *row));
        let mut both_added: HashMap<Cow<'_, str>, VecDeque<RowId>> = HashMap::new();
        for row in added {
            both_added.entry(ours.loc(row)).or_default().push_back(row);
        }
        let mut file = File { id, rows: Vec::new(), new: Vec::new(), quiet: Vec::new() };
        for row in is.rows.iter() {
            let loc = theirs.loc(row);
            let own = known.get_mut(&*loc).and_then(VecDeque::pop_front);
            let own = own.or_else(|| both_added.get_mut(&*loc).and_then(VecDeque::pop_front));
            if let Some(own) = own {
                file.rows.push((row, own));
                let text = theirs.entry_text(row);
                let element = element(theirs, row);
                let is_same = is_live_in(base, own) && self::element(base, own) == element;
                let is_agreed = ours.is_live(own) && self::element(ours, own) == element;
                let clean = is_clean(ours, base, own);
                if !is_same && !is_agreed {
                    self.cases.push(Case { row: own, theirs: Some(row), clash: !clean });
                } else if clean && base.entry_text(own) != text {
                    file.quiet.push((row, own));
                }
            } else {
                let own = RowId(*next);
                *next += 1;
                file.rows.push((row, own));
                file.new.push((row, own));
                self.cases.push(Case { row: own, theirs: Some(row), clash: false });
            }
        }
        let gone: HashSet<u32> = known.into_values().flatten().map(|row| row.0).collect();
        for row in was.rows.iter().filter(|row| gone.contains(&row.0) && ours.is_live(*row)) {
            self.cases.push(Case { row, theirs: None, clash: !is_clean(ours, base, row) });
        }
        self.files.push(file);
    }

    /// The edit of our document that makes it theirs, byte by byte.
    pub fn theirs(&self) -> Edit {
        let mut edits = self.frames(true);
        edits.extend(self.inserts());
        for file in &self.files {
            let matched: HashMap<u32, RowId> = file.rows.iter().map(|(theirs, own)| (own.0, *theirs)).collect();
            let Some(sitemap) = self.ours.sitemap(file.id) else { continue };
            let mut back = super::rows::RowSet::new();
            let mut gone = super::rows::RowSet::new();
            for row in sitemap.rows.iter() {
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
            let order = weave(&order, &all);
            if order != all {
                edits.push(Edit::Reorder(vec![(file.id, RowList::from_ids(order))]));
            }
        }
        Edit::Several(edits)
    }

    /// The edit of our document that takes in theirs, with an answer for each case.
    pub fn merged(&self, takes: &[Take]) -> Edit {
        let mut edits = self.frames(false);
        edits.extend(self.inserts());
        for (theirs, own) in self.files.iter().flat_map(|file| &file.quiet) {
            edits.push(raw(*own, &self.theirs.entry_text(*theirs)));
        }
        for (case, take) in self.cases.iter().zip(takes) {
            self.settle(case, *take, &mut edits);
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

    /// Their new rows, at the end of each file, so that ids are the same for every outcome.
    fn inserts(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        for file in self.files.iter().filter(|file| !file.new.is_empty()) {
            let Some(sitemap) = self.ours.sitemap(file.id) else { continue };
            let after = sitemap.rows.len().checked_sub(1).and_then(|at| sitemap.rows.get(at));
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

    fn settle(&self, case: &Case, take: Take, edits: &mut Vec<Edit>) {
        let Case { row, theirs, .. } = *case;
        let is_new = row.0 >= self.ours.row_limit();
        let is_here = !is_new && self.ours.is_live(row);
        let rows = || std::iter::once(row.0).collect();
        match (take, theirs) {
            (Take::Ours, _) if is_new => edits.push(Edit::Delete(rows())),
            (Take::Ours, _) | (Take::Both, None) => {}
            (Take::Theirs, None) => edits.push(Edit::Delete(rows())),
            // Its text came with it.
            (Take::Theirs | Take::Both, Some(_)) if is_new => {}
            (Take::Theirs, Some(theirs)) => {
                if !is_here {
                    edits.push(Edit::Restore(rows()));
                }
                edits.push(raw(row, &self.theirs.entry_text(theirs)));
            }
            (Take::Both, Some(theirs)) if !is_here => {
                edits.push(Edit::Restore(rows()));
                edits.push(raw(row, &self.theirs.entry_text(theirs)));
            }
            (Take::Both, Some(theirs)) => self.combine(row, theirs, edits),
        }
    }

    /// Their text with our fields; where we changed more than fields, our text with theirs.
    fn combine(&self, row: RowId, theirs: RowId, edits: &mut Vec<Edit>) {
        let was = |field| if is_live_in(&self.base, row) { self.base.value(row, field) } else { None };
        let ours_changed = |field: &Field| self.ours.value(row, *field) != was(*field);
        let keeps_text = is_live_in(&self.base, row) && self.ours.has_same_text_below(&self.base, row);
        let mut set = |field: Field, value: Option<Cow<'_, str>>| {
            let value = value.map(|value| (&*value).into());
            edits.push(Edit::SetEach { field, values: vec![(row, value)] });
        };
        if keeps_text {
            edits.push(raw(row, &self.theirs.entry_text(theirs)));
            let mut set = |field: Field, value: Option<Cow<'_, str>>| {
                let value = value.map(|value| (&*value).into());
                edits.push(Edit::SetEach { field, values: vec![(row, value)] });
            };
            for field in Field::ALL.into_iter().filter(ours_changed) {
                set(field, self.ours.value(row, field));
            }
            return;
        }
        for field in Field::ALL.into_iter().filter(|field| !ours_changed(field)) {
            let value = self.theirs.value(theirs, field);
            if value != self.ours.value(row, field) {
                set(field, value);
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
        if keeps_order(&was, own) && !keeps_order(&was, &theirs) { weave(&theirs, own) } else { weave(own, &theirs) }
    }

    /// What stands around the entries, as far as it is another.
    fn frames(&self, all_theirs: bool) -> Vec<Edit> {
        let mut edits = Vec::new();
        let takes = |own: &Arc<Source>, was: &Arc<Source>| all_theirs || Arc::ptr_eq(own, was);
        if let (Some(base), Some(ours), Some(theirs)) = (self.base.index(), self.ours.index(), self.theirs.index())
            && takes(&ours.source, &base.source)
            && ours.source.bytes() != theirs.source.bytes()
        {
            edits.push(Edit::Frame { file: Member::Index, frame: Arc::clone(&theirs.source) });
        }
        for file in &self.files {
            let Some(((base, ours), theirs)) =
                self.base.sitemap(file.id).zip(self.ours.sitemap(file.id)).zip(self.theirs.sitemap(file.id))
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

fn is_same_frame(one: &Sitemap, other: &Sitemap) -> bool {
    [true, false].into_iter().all(|entries| {
        one.frame.head(entries) == other.frame.head(entries) && one.frame.tail(entries) == other.frame.tail(entries)
    })
}

/// Whether the files are the same ones and every one is sound XML.
fn mergeable(base: &Document, ours: &Document, theirs: &Document) -> Result<(), Unmergeable> {
    let no = |why: &str| Err(Unmergeable(why.to_owned()));
    let paths = |document: &Document| -> Vec<_> {
        document
            .sitemaps()
            .iter()
            .filter(|sitemap| sitemap.path.is_some())
            .map(|sitemap| sitemap.path.clone())
            .collect()
    };
    let children = |document: &Document| -> Vec<Arc<str>> {
        document.index().iter().flat_map(|index| &index.children).map(|child| Arc::clone(&child.loc)).collect()
    };
    let is_same_set =
        |other: &Document| paths(other) == paths(theirs) && other.sitemaps().len() == theirs.sitemaps().len();
    if !is_same_set(base)
        || !is_same_set(ours)
        || children(base) != children(theirs)
        || children(ours) != children(theirs)
    {
        return no("the set has other files now");
    }
    if base.row_limit() > ours.row_limit() {
        return no("an undo has gone back behind the last save: redo (^R) first");
    }
    for (sitemap, was) in theirs.sitemaps().iter().zip(base.sitemaps()) {
        // Columns that moved would put values into other fields.
        let head = |sitemap: &Sitemap| (sitemap.frame.head(true).into_owned(), sitemap.frame.open_end);
        if sitemap.form != was.form || (!sitemap.frame.names.kind.is_xml() && head(sitemap) != head(was)) {
            return Err(Unmergeable(format!("{} is of another form now", sitemap.name)));
        }
        if sitemap.quirks.iter().any(|quirk| quirk.kind.is_repair()) || !sitemap.frame.damage.is_empty() {
            return Err(Unmergeable(format!("{} is damaged now", sitemap.name)));
        }
    }
    Ok(())
}

/// An entry without what stands before it.
fn element(document: &Document, row: RowId) -> Vec<u8> {
    let (entry, text) = document.entry(row);
    text.get(entry.open as usize..).unwrap_or_default().to_vec()
}

fn is_live_in(document: &Document, row: RowId) -> bool {
    row.0 < document.row_limit() && document.is_live(row)
}

/// Whether nothing was done to a row here.
fn is_clean(ours: &Document, base: &Document, row: RowId) -> bool {
    is_live_in(base, row) && ours.row_state(base, row) == super::RowState::Clean
}

fn raw(row: RowId, text: &[u8]) -> Edit {
    Edit::Raw { row, text: String::from_utf8_lossy(text).into() }
}

/// Whether the rows that both have stand in the same order.
fn keeps_order(was: &[u32], is: &[u32]) -> bool {
    let places: HashMap<u32, usize> = was.iter().copied().zip(0..).collect();
    is.iter().filter_map(|row| places.get(row)).is_sorted()
}

/// One order with the rows that only the other has, each behind the row that it follows there.
fn weave(main: &[u32], other: &[u32]) -> Vec<u32> {
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
    let mut woven = after.remove(&None).unwrap_or_default();
    for row in main {
        woven.push(*row);
        woven.extend(after.remove(&Some(*row)).unwrap_or_default());
    }
    woven
}
