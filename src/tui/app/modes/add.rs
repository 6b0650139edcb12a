//! New URLs: one being typed, or a list that was pasted.

use super::super::operations::edit::change;
use super::super::operations::judge::{Verdict, judge};
use super::super::state::Shared;
use super::super::state::request::Next;
use crate::document::rows::RowId;
use crate::protocol::{Field, Severity};
use crate::session::edit::Change;
use crate::session::finding::Finding;
use crate::session::findings;
use crate::tui::prompt::{Prompt, Reply};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::HashSet;

/// Pasted lines that are looked at one by one, so that the screen does not wait.
const LOOKED_UP: usize = 50_000;

/// New URLs: one being typed, or a list that was pasted.
#[derive(Debug)]
pub struct Add {
    /// The row that they come after or before; `None` puts them at the end.
    pub anchor: Option<RowId>,
    /// Before the row instead of after it.
    pub before: bool,
    /// The URL being typed.
    pub prompt: Prompt,
    /// What was there before anything was typed.
    start: String,
    /// What is to be reported of it.
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

    /// One new URL at the cursor, to be typed; nothing where nothing can be changed.
    pub(in crate::tui::app) fn typed(shared: &mut Shared, before: bool) -> Option<Box<Self>> {
        if !shared.is_changeable() {
            return None;
        }
        let start = match shared.session.view().origin() {
            Some(origin) => format!("{origin}/"),
            None => "https://".to_owned(),
        };
        let mut add = Box::new(Self {
            anchor: shared.grid.row,
            before,
            prompt: Prompt::new(&start, Vec::new()),
            start,
            verdict: Verdict::default(),
            list: Vec::new(),
            adds_known: false,
            adds_wrong: false,
            top: 0,
        });
        add.changed(shared);
        Some(add)
    }

    /// A list that was pasted, or why it is none.
    pub(in crate::tui::app) fn pasted(
        shared: &mut Shared,
        list: Vec<String>,
        anchor: Option<RowId>,
        before: bool,
    ) -> Option<Box<Self>> {
        if !shared.is_changeable() {
            return None;
        }
        if list.is_empty() {
            shared.say("the paste is empty");
            return None;
        }
        Some(Box::new(Self {
            anchor,
            before,
            prompt: Prompt::new("", Vec::new()),
            start: String::new(),
            verdict: Verdict::default(),
            list: doubted(shared, list),
            adds_known: false,
            adds_wrong: false,
            top: 0,
        }))
    }

    /// Takes a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        if !self.list.is_empty() {
            return self.list_key(key, shared);
        }
        match self.prompt.press(key) {
            Reply::Drop => return Next::CloseAll,
            Reply::Accept => {
                let text = self.prompt.text().trim().to_owned();
                if text.is_empty() || text == self.start.trim_end_matches('/') || is_scheme(&text) {
                    shared.fail("type a URL first");
                    return Next::Stay;
                }
                change(shared, Change::Insert { after: self.anchor, before: self.before, locs: vec![text] });
                return Next::CloseAll;
            }
            Reply::Tab(_) => {
                if let Some((text, _)) = self.verdict.suggestion.clone() {
                    self.prompt.set(&text);
                }
                self.changed(shared);
            }
            Reply::Changed => self.changed(shared),
            _ => {}
        }
        Next::Stay
    }

    /// A key of a list that was pasted: its doubtful lines are skipped unless someone says otherwise.
    fn list_key(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        let [known, wrong] = self.doubts();
        let most = self.list.len().saturating_sub(1);
        match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => return Next::CloseAll,
            (KeyCode::Enter, _) => {
                let taken = self.list.iter().filter(|line| self.takes(line));
                let locs: Vec<String> = taken.map(|line| line.loc.clone()).collect();
                if !locs.is_empty() {
                    change(shared, Change::Insert { after: self.anchor, before: self.before, locs });
                    return Next::CloseAll;
                }
                shared.fail("every line is skipped: d adds duplicates, e adds lines with errors");
            }
            (KeyCode::Char('d'), false) if known > 0 => self.adds_known = !self.adds_known,
            (KeyCode::Char('e'), false) if wrong > 0 => self.adds_wrong = !self.adds_wrong,
            (KeyCode::Down | KeyCode::Char('j'), false) => self.top = (self.top + 1).min(most),
            (KeyCode::Up | KeyCode::Char('k'), false) => self.top = self.top.saturating_sub(1),
            (KeyCode::PageDown | KeyCode::Char(' '), false) => self.top = (self.top + 5).min(most),
            (KeyCode::PageUp, false) => self.top = self.top.saturating_sub(5),
            _ => {}
        }
        Next::Stay
    }

    /// One URL from the terminal goes into what is typed.
    pub(in crate::tui::app) fn paste(&mut self, text: &str, shared: &Shared) {
        self.prompt.paste(text);
        self.changed(shared);
    }

    /// The text is another now.
    fn changed(&mut self, shared: &Shared) {
        // A whole URL typed or pasted after what was proposed is meant instead of it.
        if let Some(typed) = self.prompt.text().strip_prefix(&self.start).filter(|typed| starts_with_scheme(typed)) {
            let typed = typed.to_owned();
            self.prompt.set(&typed);
        }
        self.verdict = judge(shared, None, Field::Loc, self.prompt.text(), None);
    }
}

/// The lines of a list, each with what speaks against it.
fn doubted(shared: &Shared, list: Vec<String>) -> Vec<Pasted> {
    let snapshot = shared.session.view();
    let mut met: HashSet<String> = HashSet::new();
    let doubt = |loc: &str| {
        let is_error = |one: &&Finding| one.severity == Severity::Error;
        let findings = findings::of_typed(snapshot, None, Field::Loc, loc);
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
    list.into_iter().enumerate().map(judged).collect()
}

/// The URLs of a pasted list, as they were written.
pub(in crate::tui::app) fn lines_of(text: &str) -> Vec<String> {
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
