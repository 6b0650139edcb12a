//! The session's side of the journal: what a change is as a line, and lines as changes again.
//!
//! While rows have the ids that a fresh load gives them, each change is one line, and so is each undo. Where they
//! have not (a save has put rows in or out), a line says how to get from the saved files to the document at once.

mod written;

use super::Session;
use super::change::{Intent, Refused};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::sitemap::SitemapId;
use crate::files::disk::{Fingerprint, fingerprint};
use crate::files::journal::{Desk, Flusher, Held, Journal, Stored, Unusable};
use crate::files::{self, Action, Plan};
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::path::Path;
use written::Written;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    /// A change was made.
    Did { label: String, edit: Written },
    /// The last one was taken back.
    Undid,
    /// It was done again.
    Redid,
    /// Whatever the lines before say: this is what leads from the saved files to the document.
    Since(Vec<Written>),
    /// A save begins. Once the files hold bytes with these hashes, only the last of the lines after it counts.
    Saving(Vec<u64>),
    /// What leads from the files that are being saved to the document.
    Then(Vec<Written>),
}

/// The journal of an open session.
#[derive(Debug)]
pub(super) struct Keeping {
    journal: Journal,
    /// Steps of the history that lines stand for and that can be undone or redone by a line.
    done: u32,
    undone: u32,
    /// Whether rows have the ids that a fresh load gives.
    is_fresh: bool,
    is_paused: bool,
    /// What a save is writing, until it is known what came of it.
    during: Option<Document>,
    /// The place of the set at the path that a save moves it to.
    next: Option<Desk>,
}

impl Keeping {
    fn new(journal: Journal, is_paused: bool) -> Self {
        Self { journal, done: 0, undone: 0, is_fresh: true, is_paused, during: None, next: None }
    }
}

/// Unsaved changes of an earlier session, ready to be replayed.
#[derive(Debug)]
pub struct Left {
    desk: Desk,
    stored: Stored,
    /// When they were begun, in seconds since 1970.
    pub begun: i64,
    /// What they were, oldest first.
    pub labels: Vec<String>,
    /// Whether the end is missing.
    pub is_cut: bool,
    /// Whether they apply to what a save has made since they were begun.
    is_of_save: bool,
}

impl Session {
    /// Takes the place that belongs to the set, and begins to keep what is changed. Gives what an earlier session
    /// left if it can be replayed, else a word about what was put aside.
    pub fn keep(&mut self, mut desk: Desk) -> (Option<Left>, Option<String>) {
        let left = desk.left.take();
        let why = match left {
            None => {
                self.keep_from_here(desk);
                return (None, None);
            }
            Some(Ok(stored)) if stored.header.fits(&self.disk) => {
                let labels = labels(&stored.lines);
                if !labels.is_empty() {
                    let (begun, is_cut) = (stored.header.begun, stored.is_cut);
                    return (Some(Left { desk, stored, begun, labels, is_cut, is_of_save: false }), None);
                }
                self.keep_from_here(desk);
                return (None, None);
            }
            Some(Ok(stored)) if self.is_what_was_saved(&stored.lines) => {
                // The save was finished, and nobody was left to say so.
                let begun = stored.header.begun;
                let is_cut = stored.is_cut;
                if let Some(lines) = since_save(&stored.lines) {
                    let stored = Stored { lines, ..stored };
                    let labels = vec!["what was changed while it was being saved".to_owned()];
                    return (Some(Left { desk, stored, begun, labels, is_cut, is_of_save: true }), None);
                }
                self.keep_from_here(desk);
                return (None, None);
            }
            Some(Ok(_)) => "the files have changed since".to_owned(),
            Some(Err(unusable @ (Unusable::Damaged | Unusable::Newer | Unusable::Unreadable(_)))) => {
                unusable.to_string()
            }
        };
        let aside = desk.set_aside();
        self.keep_from_here(desk);
        let place = aside.map_or_else(String::new, |path| format!(", kept as {}", path.display()));
        (None, Some(format!("unsaved changes of an earlier session cannot be replayed: {why}{place}")))
    }

    /// How many unsaved changes of an earlier session could not be replayed any more if these files were changed.
    pub fn waiting(&self, desk: &Desk) -> usize {
        match &desk.left {
            Some(Ok(stored)) if stored.header.fits(&self.disk) => labels(&stored.lines).len(),
            Some(Ok(stored)) if self.is_what_was_saved(&stored.lines) => {
                usize::from(since_save(&stored.lines).is_some())
            }
            _ => 0,
        }
    }

    /// What an earlier session that had these files open as another set left unsaved: how many changes, and the paths
    /// that show them and ask. Where files are changed now, those could not be replayed any more.
    pub fn waiting_elsewhere(&self, desk: &Desk) -> Option<(usize, String)> {
        let left = desk.left_elsewhere(&self.disk);
        let counts = left.iter().map(|stored| (labels(&stored.lines).len(), stored.header.opened_by()));
        counts.into_iter().find(|(count, _)| *count > 0)
    }

    /// Takes the files that a save will make or replace before it begins, and the place of the set if it moves there.
    ///
    /// # Errors
    /// [`Refused`] when another process has one of them open, or an earlier session left changes to what is replaced.
    pub(super) fn claim(&mut self, plan: &Plan) -> Result<(), Refused> {
        let Some(keeping) = &mut self.keeping else { return Ok(()) };
        keeping.next = None;
        let held = |path: &Path, held: Held| Refused(format!("{}: {held}; choose another name", path.display()));
        let (desk, path) = (keeping.journal.desk(), plan.path.as_deref().filter(|_| !plan.copy));
        let moved = path.filter(|_| plan.document.index().is_some() || plan.document.sitemaps().len() == 1);
        if let Some(path) = moved {
            // The set is known by all files of its index, which may be more or fewer than before.
            keeping.next = desk.moved(&files::main_paths(&plan.document)).map_err(|error| held(path, error))?;
            let left = keeping.next.as_ref().and_then(|desk| desk.left.as_ref());
            if matches!(left, Some(Ok(stored)) if !labels(&stored.lines).is_empty()) {
                keeping.next = None;
                let words = "an earlier session left unsaved changes to it; open it first, or choose another name";
                return Err(Refused(format!("{}: {words}", path.display())));
            }
        }
        let written = plan.outputs.iter().filter(|output| output.action != Action::Untouched);
        let files = written.map(|output| output.path.as_path());
        let claimed = match &mut keeping.next {
            Some(next) => next.claim(files),
            None => keeping.journal.claim(files),
        };
        claimed.map_err(|error| {
            keeping.next = None;
            held(plan.path.as_deref().unwrap_or(Path::new("")), error)
        })
    }

    /// Whether nobody else has what a save would make or replace, to be told before a question is asked. Nothing of it
    /// stays taken.
    ///
    /// # Errors
    /// As when the save begins.
    pub fn may_save(&mut self, plan: &Plan) -> Result<(), Refused> {
        let claimed = self.claim(plan);
        if let Some(keeping) = &mut self.keeping {
            keeping.next = None;
            keeping.journal.give_back(&self.disk);
        }
        claimed
    }

    /// Whether the files are those of the save that was the last to begin.
    fn is_what_was_saved(&self, lines: &[String]) -> bool {
        let saving = lines.iter().rev().find_map(|line| match serde_json::from_str(line) {
            Ok(Line::Saving(hashes)) => Some(hashes),
            _ => None,
        });
        saving.is_some_and(|hashes| hashes == hashes_of(self.document()))
    }

    /// Replays what an earlier session left; each change is a step that can be undone. Returns how many there were.
    ///
    /// # Errors
    /// [`Refused`] when a line does not fit the set: what stood before it is done.
    pub fn replay(&mut self, left: Left) -> Result<usize, Refused> {
        let Left { desk, stored, is_of_save, .. } = left;
        let journal = desk.begin(None);
        self.keeping = Some(Keeping::new(journal, true));
        let mut lines: Vec<Line> = stored.lines.iter().map_while(|line| serde_json::from_str(line).ok()).collect();
        lines.retain(|line| !matches!(line, Line::Saving(_) | Line::Then(_)));
        let first = lines.iter().rposition(|line| matches!(line, Line::Since(_))).unwrap_or(0);
        let mut count = 0;
        let outcome = lines.drain(first..).try_for_each(|line| {
            count += 1;
            match line {
                Line::Did { label, edit } => self.redo_line(label, edit.flat()),
                Line::Since(edits) => self.redo_line("changes of an earlier session".to_owned(), edits),
                Line::Undid => self.undo().map(drop).ok_or_else(|| Refused("nothing to undo".to_owned())),
                Line::Redid => self.redo().map(drop).ok_or_else(|| Refused("nothing to redo".to_owned())),
                Line::Saving(_) | Line::Then(_) => Ok(()),
            }
        });
        let seconds = self.now.now.seconds;
        if let Some(keeping) = &mut self.keeping {
            keeping.is_paused = false;
            if is_of_save {
                keeping.journal.begin_anew(&self.disk, seconds);
            }
        }
        // One line instead of many, whose ids are certain.
        self.note_all();
        outcome.map(|()| count)
    }

    /// Gives up what an earlier session left.
    pub fn drop_left(&mut self, left: Left) {
        self.keep_from_here(left.desk);
    }

    fn redo_line(&mut self, label: String, edits: Vec<Written>) -> Result<(), Refused> {
        let mut done = Vec::new();
        let mut document = self.document().clone();
        for written in edits {
            let edit =
                written.edit(&document).ok_or_else(|| Refused("a change does not fit these files".to_owned()))?;
            let applied = document.apply(&edit, &Progress::default());
            document = applied.ok_or_else(|| Refused("cancelled".to_owned()))?.document;
            done.push(edit);
        }
        let edit = match <[Edit; 1]>::try_from(done) {
            Ok([edit]) => edit,
            Err(edits) => Edit::Several(edits),
        };
        let intent = Intent { label: label.into(), edit: Some(edit), ..Intent::counting(1) };
        let prepared = self.now.prepare_intent(intent, &Progress::default());
        self.commit(prepared.ok_or_else(|| Refused("cancelled".to_owned()))?, None).map(drop)
    }

    fn keep_from_here(&mut self, desk: Desk) {
        let header = desk.header(&self.disk, self.now.now.seconds);
        let journal = desk.begin(Some(header));
        self.keeping = Some(Keeping::new(journal, false));
        if self.is_modified() {
            self.note_all();
        }
    }

    /// A change was made.
    pub(super) fn note_change(&mut self, label: &str, edit: Option<Edit>) {
        self.note_change_alone(label, edit);
        self.note_during();
    }

    fn note_change_alone(&mut self, label: &str, edit: Option<Edit>) {
        let Some(keeping) = self.keeping.as_mut().filter(|keeping| !keeping.is_paused) else { return };
        if !keeping.is_fresh {
            return self.note_all();
        }
        let Some(edit) = edit else { return };
        (keeping.done, keeping.undone) = (keeping.done + 1, 0);
        let label = label.to_owned();
        keeping.journal.note(Box::new(move || json(&Line::Did { label, edit: Written::from(&edit) })));
    }

    /// A step was taken back, or done again.
    pub(super) fn note_step(&mut self, back: bool) {
        self.note_step_alone(back);
        self.note_during();
    }

    fn note_step_alone(&mut self, back: bool) {
        let Some(keeping) = self.keeping.as_mut().filter(|keeping| !keeping.is_paused) else { return };
        let is_known = keeping.is_fresh && if back { keeping.done > 0 } else { keeping.undone > 0 };
        if !is_known {
            return self.note_all();
        }
        if back {
            (keeping.done, keeping.undone) = (keeping.done - 1, keeping.undone + 1);
            keeping.journal.note(Box::new(|| json(&Line::Undid)));
        } else {
            (keeping.done, keeping.undone) = (keeping.done + 1, keeping.undone - 1);
            keeping.journal.note(Box::new(|| json(&Line::Redid)));
        }
    }

    /// A save of this document begins. Gives what waits until that is written down, which must be before anything is
    /// replaced.
    pub(super) fn note_saving(&mut self, document: &Document) -> Option<Flusher> {
        let keeping = self.keeping.as_mut()?;
        keeping.during = Some(document.clone());
        let document = document.clone();
        keeping.journal.note(Box::new(move || json(&Line::Saving(hashes_of(&document)))));
        Some(keeping.journal.flusher())
    }

    /// A save that was begun has changed nothing and will not go on.
    pub fn note_no_save(&mut self) {
        if let Some(keeping) = &mut self.keeping {
            (keeping.during, keeping.next) = (None, None);
        }
    }

    /// While a save runs nobody knows which files a crash will leave: what is unsaved is written for both.
    fn note_during(&mut self) {
        let document = self.now.state.document.clone();
        let Some(keeping) = self.keeping.as_mut().filter(|keeping| !keeping.is_paused) else { return };
        if let Some(saved) = keeping.during.clone() {
            let written = move || document.edits_since(&saved).iter().map(Written::from).collect();
            keeping.journal.note(Box::new(move || json(&Line::Then(written()))));
        }
    }

    /// The set was saved: what is unsaved now counts from there.
    pub(super) fn note_save(&mut self) {
        if self.keeping.is_none() {
            return;
        }
        let (seconds, is_fresh) = (self.now.now.seconds, self.now.saved.has_fresh_ids());
        let is_modified = self.is_modified();
        let Some(keeping) = &mut self.keeping else { return };
        if let Some(mut next) = keeping.next.take() {
            // What is left there is of the file that was replaced, and none of it could be replayed.
            if next.left.is_some() {
                next.set_aside();
            }
            std::mem::replace(&mut keeping.journal, next.begin(None)).remove();
        }
        keeping.journal.begin_anew(&self.disk, seconds);
        (keeping.done, keeping.undone, keeping.is_fresh) = (0, 0, is_fresh);
        keeping.during = None;
        if is_modified {
            self.note_all();
        }
    }

    /// Writes down all that is unsaved at once.
    fn note_all(&mut self) {
        let (document, saved) = (self.now.state.document.clone(), self.now.saved.clone());
        let Some(keeping) = &mut self.keeping else { return };
        // Steps from before this line cannot be taken back by a line, and rows that it adds may get other ids.
        (keeping.done, keeping.undone) = (0, 0);
        keeping.is_fresh &= document.row_limit() == saved.row_limit();
        keeping.journal.note(Box::new(move || {
            json(&Line::Since(document.edits_since(&saved).iter().map(Written::from).collect()))
        }));
    }

    /// Why changes are not kept against a crash, if they should be and are not.
    pub fn not_kept(&self) -> Option<String> {
        self.keeping.as_ref()?.journal.failure()
    }

    /// The set is left as it should be: nothing of it is kept any longer.
    pub fn forget_unsaved(&mut self) {
        if let Some(keeping) = self.keeping.take() {
            keeping.journal.remove();
        }
    }

    /// Waits until all that was changed is on disk.
    pub fn flush_journal(&self) {
        if let Some(keeping) = &self.keeping {
            keeping.journal.flush();
        }
    }
}

/// Hashes of the bytes of all files, in no order.
fn hashes_of(document: &Document) -> Vec<u64> {
    let ids = (0..document.sitemaps().len() as u32).map(SitemapId);
    let there = ids.filter(|id| document.sitemap(*id).is_some_and(|sitemap| sitemap.path.is_some()));
    let there = there.filter(|id| !document.is_gone(*id));
    let of_sitemap = |id: SitemapId| {
        let mut hash = Fingerprint::default();
        let written: Result<(), Infallible> = document.write_sitemap(id, &mut |bytes| {
            hash.update(bytes);
            Ok(())
        });
        let Ok(()) = written;
        hash.finish()
    };
    let mut hashes: Vec<u64> = there.map(of_sitemap).collect();
    hashes.extend(document.index().iter().flat_map(|index| index.files()).map(|file| fingerprint(&file.bytes())));
    hashes.sort_unstable();
    hashes
}

/// What was changed since the last save began, as a line of a journal that counts from its files.
fn since_save(lines: &[String]) -> Option<Vec<String>> {
    let parsed = lines.iter().rev().map(|line| serde_json::from_str(line));
    for line in parsed.map_while(Result::ok) {
        match line {
            Line::Then(edits) if edits.is_empty() => return None,
            Line::Then(edits) => return Some(vec![json(&Line::Since(edits))]),
            Line::Saving(_) => return None,
            _ => {}
        }
    }
    None
}

/// Labels of the changes that are in effect.
fn labels(lines: &[String]) -> Vec<String> {
    let (mut done, mut undone): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for line in lines.iter().map_while(|line| serde_json::from_str(line).ok()) {
        match line {
            Line::Did { label, .. } => {
                done.push(label);
                undone.clear();
            }
            Line::Undid => undone.extend(done.pop()),
            Line::Redid => done.extend(undone.pop()),
            Line::Saving(_) | Line::Then(_) => {}
            Line::Since(edits) => {
                undone.clear();
                done = if edits.is_empty() { Vec::new() } else { vec!["all that was unsaved then".to_owned()] };
            }
        }
    }
    done
}

/// A value of the types above always has a text.
fn json(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

#[cfg(test)]
mod tests;
