//! The cell editor, with a verdict after every key.

use super::super::prompt::{Prompt, Reply};
use super::super::text::up_to;
use super::{App, Mode, frequency};
use crate::check::fix::Action;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::changefreq;
use crate::protocol::lastmod::{self, Now};
use crate::protocol::{Field, priority};
use crate::session::change::Change;
use crate::session::command::{Assignment, Command, Scope};
use crate::session::findings::Finding;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Bytes of a value that are judged while it is typed.
const JUDGED: usize = 1 << 14;

/// A cell being edited.
#[derive(Debug)]
pub struct CellEdit {
    /// Which row.
    pub row: RowId,
    /// Which field.
    pub field: Field,
    /// The text.
    pub prompt: Prompt,
    /// The value before; `None` if there was none.
    pub before: Option<String>,
    /// What is to be said of the text so far.
    pub verdict: Verdict,
    /// URLs that were pasted with the one in the cell: they become rows below.
    pub others: Vec<String>,
}

/// What is to be said of a text that may become a field's value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What it would be in the file: `today` as a date; `None` removes the element.
    pub value: Option<String>,
    /// Why it cannot be taken at all.
    pub refused: Option<String>,
    /// What would be wrong with it.
    pub findings: Vec<Finding>,
    /// What was probably meant, and why.
    pub suggestion: Option<(String, String)>,
    /// Rows that have this very URL.
    pub twins: usize,
}

/// Cells' lines typed before, by field.
#[derive(Debug, Default)]
pub(super) struct Dropped([Vec<String>; Field::ALL.len()]);

impl App {
    /// Starts editing the cell under the cursor; `fresh` with nothing in it.
    pub(super) fn open_cell(&mut self, fresh: bool) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let Some(row) = self.grid.row else { return self.say("no row here; o adds one") };
        if !self.session.document().is_live(row) {
            return self.say("this row is deleted; dd brings it back");
        }
        self.end_range();
        let field = self.grid.field;
        if let Err(refused) = self.session.document().has_place_for(field) {
            self.grid.field = Field::Loc;
            return self.fail(refused.0);
        }
        let before = self.session.cell(row, field).map(std::borrow::Cow::into_owned);
        let text = if fresh { "" } else { before.as_deref().unwrap_or_default() };
        let prompt = Prompt::of_value(text, self.dropped.0[field.index()].clone());
        let verdict = Verdict::default();
        self.cell_changed(Box::new(CellEdit { row, field, prompt, before, verdict, others: Vec::new() }));
    }

    pub(super) fn cell_key(&mut self, mut edit: Box<CellEdit>, key: KeyEvent) {
        if key.code == KeyCode::Char('s') && key.modifiers == KeyModifiers::CONTROL {
            // A save never leaves out what is still being typed.
            if self.cell_keep(edit) {
                self.save(None, false);
            }
            return;
        }
        if edit.field == Field::Changefreq && frequency::press(&mut edit.prompt, key) {
            return self.cell_changed(edit);
        }
        match edit.prompt.press(key) {
            Reply::Changed => self.cell_changed(edit),
            Reply::Accept => {
                self.cell_keep(edit);
            }
            Reply::Tab(back) => match edit.verdict.suggestion.clone() {
                Some((text, _)) if !back => {
                    edit.prompt.set(&text);
                    self.cell_changed(edit);
                }
                _ => {
                    if self.cell_keep(edit) {
                        self.next_cell(!back);
                        self.open_cell(false);
                    }
                }
            },
            Reply::Drop => {
                let text = edit.prompt.text();
                let has_history = edit.field != Field::Changefreq; // There, ↑ chooses a frequency.
                if has_history && edit.before.as_deref().unwrap_or_default() != text && !text.is_empty() {
                    self.dropped.0[edit.field.index()].push(text.to_owned());
                    self.say("cancelled; edit the cell again and ↑ restores the text");
                }
            }
            Reply::Down => {
                if self.cell_keep(edit) {
                    self.step(true, 1);
                }
            }
            Reply::Up | Reply::Moved | Reply::Unknown => self.mode = Mode::Cell(edit),
        }
    }

    pub(super) fn cell_changed(&mut self, mut edit: Box<CellEdit>) {
        edit.verdict = self.judge(Some(edit.row), edit.field, edit.prompt.text(), edit.before.as_deref());
        self.mode = Mode::Cell(edit);
    }

    /// What is to be said of a text as a field's value.
    pub(super) fn judge(&self, row: Option<RowId>, field: Field, typed: &str, before: Option<&str>) -> Verdict {
        let snapshot = self.session.view();
        let value = match resolve(field, typed, before, snapshot.clock) {
            // What is there already is not typed: `+0.1` in a file is no step.
            _ if before == Some(typed) => Some(typed.to_owned()),
            Ok(value) => value,
            Err(reason) => return Verdict { refused: Some(reason), ..Verdict::default() },
        };
        // Of a value that no file may hold, the beginning is judged with each key.
        let judged = value.as_deref().map(|value| up_to(value, JUDGED));
        let findings = judged.map(|value| snapshot.judge(row, field, value)).unwrap_or_default();
        let twins = match (&value, field) {
            // No sitemap may hold a longer URL: looking it up with each key would read all of it.
            (Some(loc), Field::Loc) if loc.len() <= JUDGED => {
                snapshot.rows_with_loc(loc).into_iter().filter(|other| Some(*other) != row).count()
            }
            _ => 0,
        };
        let suggestion =
            judged.filter(|judged| !findings.is_empty() && Some(judged.len()) == value.as_ref().map(String::len));
        let suggestion = suggestion.and_then(|value| suggest(field, value, &findings));
        Verdict { value, refused: None, findings, suggestion, twins }
    }

    /// Keeps what was typed. False if that is not possible; then the cell stays open.
    fn cell_keep(&mut self, edit: Box<CellEdit>) -> bool {
        if let Some(reason) = &edit.verdict.refused {
            self.fail(reason.clone());
            self.mode = Mode::Cell(edit);
            return false;
        }
        let cleared_loc = edit.field == Field::Loc && edit.before.is_none() && edit.prompt.text().is_empty();
        if edit.verdict.value != edit.before && !cleared_loc {
            let assignment = Assignment { field: edit.field, typed: edit.prompt.text().trim().to_owned() };
            let typed = if assignment.typed.is_empty() { "none".to_owned() } else { assignment.typed.clone() };
            let assignment = Assignment { typed, ..assignment };
            self.keep_command(&Command::Set { scope: Scope::default(), assignments: vec![assignment.clone()] });
            let set = Change::Set { rows: RowSet::from_iter([edit.row.0]), assignments: vec![assignment] };
            let several = |set| Change::Several(vec![set, edit.insertion()]);
            self.change(if edit.others.is_empty() { set } else { several(set) });
        } else if !edit.others.is_empty() {
            self.change(edit.insertion());
        }
        true
    }
}

impl CellEdit {
    /// A list goes in: its first URL into the cell, instead of what was there, the others below it.
    pub(super) fn take_list(&mut self, mut list: Vec<String>) {
        self.prompt.set(&list.remove(0));
        self.others = list;
    }

    fn insertion(&self) -> Change {
        Change::Insert { after: Some(self.row), before: false, locs: self.others.clone() }
    }
}

/// The value that typed text stands for; `Ok(None)` removes the element.
fn resolve(field: Field, typed: &str, before: Option<&str>, now: Now) -> Result<Option<String>, String> {
    match field {
        Field::Loc => Ok(Some(typed.trim().to_owned())),
        Field::Lastmod => lastmod::parse_input(typed, before, now).map_err(|error| error.to_string()),
        Field::Changefreq => Ok(changefreq::parse_input(typed)),
        Field::Priority => priority::parse_input(typed, before).map_err(|error| error.to_string()),
    }
}

/// What was probably meant: the text, and in a word why.
fn suggest(field: Field, value: &str, findings: &[Finding]) -> Option<(String, String)> {
    let fixed = findings.iter().filter_map(|finding| finding.fix.as_ref()).find_map(|fix| match &fix.action {
        Action::Set { field: own, value: Some(text) } if *own == field => Some((text.clone(), fix.label.clone())),
        _ => None,
    });
    if fixed.is_some() {
        return fixed;
    }
    let owned = |(why, text): (&'static str, String)| (text, why.to_owned());
    match field {
        Field::Loc => None,
        Field::Lastmod => lastmod::suggest(value).map(owned),
        Field::Priority => priority::suggest(value).map(owned),
        Field::Changefreq => {
            let completed = || changefreq::completed(value).map(|word| (word, "completes it"));
            let nearest = changefreq::nearest(value).map(|word| (word, "the nearest of the seven"));
            nearest.or_else(completed).map(|(word, why)| (word.name().to_owned(), why.to_owned()))
        }
    }
    .filter(|(text, _)| text != value)
}
