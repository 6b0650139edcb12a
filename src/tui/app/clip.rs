//! Copy to and paste from the clipboard, and adding URLs.

use super::super::prompt::{Prompt, Reply};
use super::cell::Verdict;
use super::{App, Effect, Mode, frequency};
use crate::document::rows::{RowId, RowSet};
use crate::protocol::{Field, Severity};
use crate::session::change::Change;
use crate::session::findings::Finding;
use crate::words::counted;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::HashSet;

/// New URLs: one being typed, or a list that was pasted.
#[derive(Debug)]
pub struct Add {
    /// The row that they come after or before; `None` puts them at the end.
    pub anchor: Option<RowId>,
    /// Before the row instead of after it.
    pub before: bool,
    /// The URL being typed.
    pub prompt: Prompt,
    /// What stood there before anything was typed.
    start: String,
    /// What is to be said of it.
    pub verdict: Verdict,
    /// A list that was pasted; then nothing is typed.
    pub list: Vec<Pasted>,
    /// Whether lines that are there already are added all the same.
    pub adds_known: bool,
    /// Whether lines with errors are added all the same.
    pub adds_wrong: bool,
    /// Lines of the list scrolled away.
    pub top: usize,
}

/// A line of a list that was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// As it was written.
    pub loc: String,
    /// What speaks against it.
    pub doubt: Option<Doubt>,
}

/// What speaks against adding a pasted line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// The set has this URL already, in this row.
    InSet(RowId),
    /// An earlier line of the list is the same.
    Repeated,
    /// An error, in words.
    Wrong(String),
}

impl Add {
    /// Whether a line of the list will be added.
    pub const fn takes(&self, line: &Pasted) -> bool {
        match line.doubt {
            None => true,
            Some(Doubt::InSet(_) | Doubt::Repeated) => self.adds_known,
            Some(Doubt::Wrong(_)) => self.adds_wrong,
        }
    }

    /// How many lines are there already, and how many have errors.
    pub fn doubts(&self) -> [u64; 2] {
        let wrong = |line: &&Pasted| matches!(line.doubt, Some(Doubt::Wrong(_)));
        let doubtful = self.list.iter().filter(|line| line.doubt.is_some()).count();
        let wrong = self.list.iter().filter(wrong).count();
        [(doubtful - wrong) as u64, wrong as u64]
    }
}

/// Bytes of a copy: what terminals usually take by OSC 52.
const COPY_LIMIT: usize = 74_994;
/// Pasted lines that are looked at one by one, so that the screen does not wait.
const LOOKED_UP: usize = 50_000;

impl App {
    /// Copies texts of the rows that an action is about.
    pub(super) fn copy(&mut self, what: &str, count: Option<u32>, text: impl Fn(&Self, RowId) -> String) {
        let rows = self.targets(count);
        let rows: Vec<RowId> = rows.iter().map(RowId).collect();
        let mut out = String::new();
        for row in &rows {
            out.push_str(&text(self, *row));
            out.push('\n');
            if out.len() > COPY_LIMIT {
                return self.fail("that is more than terminals take; `sited list` writes any number to a file");
            }
        }
        if rows.len() == 1 {
            out.pop();
        }
        self.copied = rows.iter().filter_map(|row| self.session.cell(*row, Field::Loc)).map(Into::into).collect();
        self.say(format!("{} sent to the terminal's clipboard", counted(rows.len() as u64, what)));
        self.effects.push(Effect::Copy(out));
    }

    /// Copies the cell under the cursor.
    pub(super) fn copy_cell(&mut self) {
        let Some(row) = self.grid.row else { return };
        match self.session.cell(row, self.grid.field).map(std::borrow::Cow::into_owned) {
            Some(text) => {
                self.say(format!("{} sent to the terminal's clipboard", self.grid.field.name()));
                self.effects.push(Effect::Copy(text));
            }
            None => self.say("this cell is empty"),
        }
    }

    /// Hands the commands of all changes to the terminal's clipboard.
    pub(super) fn copy_script(&mut self) {
        let lines = self.session.script();
        self.say(format!("{} sent to the terminal's clipboard", counted(lines.len() as u64, "line")));
        self.effects.push(Effect::Copy(lines.join("\n") + "\n"));
    }

    /// Adds the URLs copied last.
    pub(super) fn paste_rows(&mut self, before: bool) {
        if self.copied.is_empty() {
            return self.say("nothing was copied yet; yu copies URLs, and the paste of your terminal works too");
        }
        let locs = self.copied.clone();
        self.change(Change::Insert { after: self.grid.row, before, locs });
    }

    /// Opens the dialog for one new URL.
    pub(super) fn open_add(&mut self, before: bool) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let start = match self.session.origin() {
            Some(origin) => format!("{origin}/"),
            None => "https://".to_owned(),
        };
        let prompt = Prompt::new(&start, Vec::new());
        let add = Add {
            anchor: self.grid.row,
            before,
            prompt,
            start,
            verdict: Verdict::default(),
            list: Vec::new(),
            adds_known: false,
            adds_wrong: false,
            top: 0,
        };
        self.add_changed(Box::new(add));
    }

    /// A list was pasted: its doubtful lines are skipped unless somebody says otherwise.
    fn pasted_key(&mut self, mut add: Box<Add>, key: KeyEvent) {
        let [known, wrong] = add.doubts();
        let most = add.list.len().saturating_sub(1);
        match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => return,
            (KeyCode::Enter, _) => {
                let locs: Vec<String> =
                    add.list.iter().filter(|line| add.takes(line)).map(|line| line.loc.clone()).collect();
                if locs.is_empty() {
                    self.fail("every line is skipped: d adds duplicates, e adds lines with errors");
                } else {
                    return self.change(Change::Insert { after: add.anchor, before: add.before, locs });
                }
            }
            (KeyCode::Char('d'), false) if known > 0 => add.adds_known = !add.adds_known,
            (KeyCode::Char('e'), false) if wrong > 0 => add.adds_wrong = !add.adds_wrong,
            (KeyCode::Down | KeyCode::Char('j'), false) => add.top = (add.top + 1).min(most),
            (KeyCode::Up | KeyCode::Char('k'), false) => add.top = add.top.saturating_sub(1),
            (KeyCode::PageDown | KeyCode::Char(' '), false) => add.top = (add.top + 5).min(most),
            (KeyCode::PageUp, false) => add.top = add.top.saturating_sub(5),
            _ => {}
        }
        self.mode = Mode::Add(add);
    }

    pub(super) fn add_key(&mut self, mut add: Box<Add>, key: KeyEvent) {
        if !add.list.is_empty() {
            return self.pasted_key(add, key);
        }
        let reply = add.prompt.press(key);
        match reply {
            Reply::Drop => {}
            Reply::Accept => {
                let text = add.prompt.text().trim().to_owned();
                if text.is_empty() || text == add.start.trim_end_matches('/') || is_scheme(&text) {
                    self.fail("type a URL first");
                    self.mode = Mode::Add(add);
                    return;
                }
                self.change(Change::Insert { after: add.anchor, before: add.before, locs: vec![text] });
            }
            Reply::Tab(_) => {
                if let Some((text, _)) = add.verdict.suggestion.clone() {
                    add.prompt.set(&text);
                }
                self.add_changed(add);
            }
            Reply::Changed => self.add_changed(add),
            _ => self.mode = Mode::Add(add),
        }
    }

    pub(super) fn add_changed(&mut self, mut add: Box<Add>) {
        // A whole URL typed or pasted after what was proposed is meant instead of it.
        if let Some(typed) = add.prompt.text().strip_prefix(&add.start).filter(|typed| starts_with_scheme(typed)) {
            let typed = typed.to_owned();
            add.prompt.set(&typed);
        }
        add.verdict = self.judge(None, Field::Loc, add.prompt.text(), None);
        self.mode = Mode::Add(add);
    }

    /// Text from the terminal: into what is being typed, else as new URLs. Never as keys.
    pub(super) fn paste(&mut self, text: &str) {
        match std::mem::replace(&mut self.mode, Mode::Grid) {
            Mode::Cell(mut edit) if edit.field == Field::Loc && lines_of(text).len() > 1 => {
                edit.take_list(lines_of(text));
                self.cell_changed(edit);
            }
            Mode::Cell(mut edit) => {
                let completes = edit.field == Field::Changefreq && frequency::insert(&mut edit.prompt, text.trim());
                let folded = !completes && edit.prompt.paste(text);
                self.cell_changed(edit);
                self.folded(folded);
            }
            Mode::Line(mut edit) => {
                let folded = edit.prompt.paste(text);
                self.line_changed(edit);
                self.folded(folded);
            }
            Mode::Bulk(mut bulk) => {
                let folded = bulk.prompt.paste(text);
                self.bulk_changed(bulk);
                self.folded(folded);
            }
            Mode::Element(mut edit) => {
                let folded = edit.values.get_mut(edit.at).is_some_and(|value| value.prompt.paste(text.trim()));
                self.element_changed(edit);
                self.folded(folded);
            }
            Mode::Add(mut add) if add.list.is_empty() && !text.trim().contains(['\n', '\r']) => {
                add.prompt.paste(text);
                self.add_changed(add);
            }
            Mode::Grid | Mode::Detail => self.paste_list(text, self.grid.row, false),
            Mode::Add(add) => self.paste_list(text, add.anchor, add.before),
            mode => self.mode = mode,
        }
    }

    fn folded(&mut self, folded: bool) {
        if folded {
            self.say("the line breaks of the paste became blanks");
        }
    }

    fn paste_list(&mut self, text: &str, anchor: Option<RowId>, before: bool) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let list = lines_of(text);
        if list.is_empty() {
            return self.say("the paste is empty");
        }
        let snapshot = self.session.view();
        let mut met: HashSet<String> = HashSet::new();
        let doubt = |loc: &str| {
            let is_error = |one: &&Finding| one.severity == Severity::Error;
            let findings = snapshot.judge(None, Field::Loc, loc);
            let wrong = findings.iter().find(is_error).map(|one| Doubt::Wrong(one.message.clone()));
            let known = || snapshot.rows_with_loc(loc).first().map(|row| Doubt::InSet(*row));
            wrong.or_else(known)
        };
        let judged = |(at, loc): (usize, String)| {
            let is_new = met.insert(loc.clone());
            let doubt = if at < LOOKED_UP { doubt(&loc) } else { None };
            let doubt = doubt.or_else(|| (!is_new).then_some(Doubt::Repeated));
            Pasted { loc, doubt }
        };
        let list: Vec<Pasted> = list.into_iter().enumerate().map(judged).collect();
        let add = Add {
            anchor,
            before,
            prompt: Prompt::new("", Vec::new()),
            start: String::new(),
            verdict: Verdict::default(),
            list,
            adds_known: false,
            adds_wrong: false,
            top: 0,
        };
        self.mode = Mode::Add(Box::new(add));
    }

    /// A row's fields with tabs between them.
    pub(super) fn row_text(&self, row: RowId) -> String {
        let cells =
            Field::ALL.map(|field| self.session.cell(row, field).unwrap_or_default().replace(['\t', '\n'], " "));
        cells.join("\t").trim_end_matches('\t').to_owned()
    }

    /// An entry's XML without the white space before it.
    pub(super) fn row_xml(&self, row: RowId) -> String {
        let (entry, text) = self.session.document().entry(row);
        String::from_utf8_lossy(text.get(entry.open as usize..).unwrap_or_default()).trim_end().to_owned()
    }

    /// Marks rows, or takes their marks off, and moves on.
    pub(super) fn toggle_mark(&mut self, count: Option<u32>) {
        self.end_range();
        let from = self.grid.position;
        let many = count.unwrap_or(1).max(1);
        let Some(row) = self.grid.row else { return };
        let on = !self.session.is_marked(row);
        let last = from.saturating_add(many - 1).min(self.session.shown().saturating_sub(1));
        let rows: RowSet = self.session.rows_between(from, last);
        self.session.mark(&rows, on);
        self.step(true, many);
    }
}

/// The URLs of a pasted list, as they were written.
fn lines_of(text: &str) -> Vec<String> {
    text.split(['\n', '\r', '\t']).map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
}

/// Whether a text is `https://` or the like, with nothing after it.
fn is_scheme(text: &str) -> bool {
    text.strip_suffix("://").is_some_and(is_scheme_name)
}

/// Whether a text begins as a whole URL does.
fn starts_with_scheme(text: &str) -> bool {
    text.trim_start().split_once("://").is_some_and(|(scheme, _)| is_scheme_name(scheme))
}

/// RFC 3986, section 3.1.
fn is_scheme_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}
