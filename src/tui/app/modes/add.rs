//! The mode that adds URLs: one that is typed, or a pasted list.

use super::super::operations::edit::change;
use super::super::operations::validate::{Validation, validate};
use super::super::state::Shared;
use super::super::state::new_urls::{NewUrl, Objection, check_urls};
use super::super::state::request::Next;
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::session::edit::Change;
use crate::tui::prompt::{Prompt, Reply};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// New URLs: one that is being typed, or a list.
#[derive(Debug)]
pub(crate) struct Add {
    /// The row before or after which they are inserted; `None` appends them.
    pub anchor: Option<RowId>,
    /// Whether they are inserted before the row instead of after it.
    pub before: bool,
    /// The URL being typed.
    pub prompt: Prompt,
    /// The initial text of the prompt.
    start: String,
    /// The validation of the typed URL.
    pub validation: Validation,
    /// The list; empty while a URL is typed.
    pub list: Vec<NewUrl>,
    /// Whether duplicates are added.
    pub adds_known: bool,
    /// Whether lines with errors are added.
    pub adds_invalid: bool,
    /// The source of the list.
    pub from: ListSource,
    /// The order of the visible lines: those with objections come first.
    pub order: Vec<u32>,
    /// The chosen line.
    pub chosen: usize,
}

/// The source of a list of new URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSource {
    /// A paste.
    Paste,
    /// URLs of the data that no row has.
    Data,
}

impl Add {
    /// Whether a line of the list will be added.
    pub(crate) const fn includes(&self, line: &NewUrl) -> bool {
        let is_taken = match line.objection {
            None => true,
            Some(Objection::InSet(_) | Objection::Repeated) => self.adds_known,
            Some(Objection::Invalid(_)) => self.adds_invalid,
        };
        is_taken != line.is_flipped
    }

    /// The lines in the order of the screen.
    pub(crate) fn visible_lines(&self) -> impl Iterator<Item = &NewUrl> {
        self.order.iter().filter_map(|at| self.list.get(*at as usize))
    }

    /// The number of duplicate lines, and of lines with errors.
    pub(crate) fn count_problems(&self) -> [u64; 2] {
        let wrong = |line: &&NewUrl| matches!(line.objection, Some(Objection::Invalid(_)));
        let doubtful = self.list.iter().filter(|line| line.objection.is_some()).count();
        let wrong = self.list.iter().filter(wrong).count();
        [(doubtful - wrong) as u64, wrong as u64]
    }

    /// Starts to type a URL at the cursor; `None` if nothing can be changed.
    pub(in crate::tui::app) fn new(shared: &mut Shared, before: bool) -> Option<Box<Self>> {
        if !shared.ensure_changeable() {
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
            validation: Validation::default(),
            list: Vec::new(),
            adds_known: false,
            adds_invalid: false,
            from: ListSource::Paste,
            order: Vec::new(),
            chosen: 0,
        });
        add.changed(shared);
        Some(add)
    }

    /// Opens a pasted list; `None`, with a message, if it is empty or nothing can be changed.
    pub(in crate::tui::app) fn from_paste(
        shared: &mut Shared,
        list: Vec<String>,
        anchor: Option<RowId>,
        before: bool,
    ) -> Option<Box<Self>> {
        if !shared.ensure_changeable() {
            return None;
        }
        if list.is_empty() {
            shared.show_note("the paste is empty");
            return None;
        }
        let list = check_urls(shared.session.view(), list, |_, _| None);
        Some(Self::from_list(ListSource::Paste, list, anchor, before))
    }

    /// Opens a list of validated lines.
    pub(in crate::tui::app) fn from_list(
        from: ListSource,
        list: Vec<NewUrl>,
        anchor: Option<RowId>,
        before: bool,
    ) -> Box<Self> {
        let is_doubtful = |at: &u32| list.get(*at as usize).is_some_and(|line| line.objection.is_some());
        let (mut order, sound): (Vec<u32>, Vec<u32>) = (0..list.len() as u32).partition(is_doubtful);
        order.extend(sound);
        Box::new(Self {
            anchor,
            before,
            prompt: Prompt::new("", Vec::new()),
            start: String::new(),
            validation: Validation::default(),
            list,
            adds_known: false,
            adds_invalid: false,
            from,
            order,
            chosen: 0,
        })
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        if !self.list.is_empty() {
            return self.list_key(key, shared);
        }
        match self.prompt.press(key) {
            Reply::Drop => return Next::CloseAll,
            Reply::Accept => {
                let text = self.prompt.text().trim().to_owned();
                if text.is_empty() || text == self.start.trim_end_matches('/') || is_scheme(&text) {
                    shared.show_error("type a URL first");
                    return Next::Stay;
                }
                change(shared, Change::Insert { after: self.anchor, before: self.before, locs: vec![text] });
                return Next::CloseAll;
            }
            Reply::Tab(_) => {
                if let Some((text, _)) = self.validation.suggestion.clone() {
                    self.prompt.set(&text);
                }
                self.changed(shared);
            }
            Reply::Changed => self.changed(shared),
            _ => {}
        }
        Next::Stay
    }

    /// Handles a key of a list, in which lines with objections are skipped by default.
    fn list_key(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        let [known, wrong] = self.count_problems();
        let most = self.list.len().saturating_sub(1);
        match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => return Next::CloseAll,
            (KeyCode::Enter, _) => {
                let taken = self.list.iter().filter(|line| self.includes(line));
                let locs: Vec<String> = taken.map(|line| line.loc.clone()).collect();
                if !locs.is_empty() {
                    change(shared, Change::Insert { after: self.anchor, before: self.before, locs });
                    return Next::CloseAll;
                }
                shared.show_error(
                    "every line is skipped: Space adds a line, d adds duplicates, e adds lines with errors",
                );
            }
            (KeyCode::Char('d'), false) if known > 0 => self.adds_known = !self.adds_known,
            (KeyCode::Char('e'), false) if wrong > 0 => self.adds_invalid = !self.adds_invalid,
            (KeyCode::Down | KeyCode::Char('j'), false) => self.chosen = (self.chosen + 1).min(most),
            (KeyCode::Up | KeyCode::Char('k'), false) => self.chosen = self.chosen.saturating_sub(1),
            (KeyCode::PageDown, false) => self.chosen = (self.chosen + 5).min(most),
            (KeyCode::PageUp, false) => self.chosen = self.chosen.saturating_sub(5),
            (KeyCode::Home, false) => self.chosen = 0,
            (KeyCode::End, false) => self.chosen = most,
            (KeyCode::Char(' '), false) => {
                let at = self.order.get(self.chosen).map_or(usize::MAX, |at| *at as usize);
                if let Some(line) = self.list.get_mut(at) {
                    line.is_flipped = !line.is_flipped;
                }
                self.chosen = (self.chosen + 1).min(most);
            }
            (KeyCode::Char('a'), false) => self.take_all_or_none(),
            _ => {}
        }
        Next::Stay
    }

    /// Skips all lines, or, if all are skipped, restores the default.
    fn take_all_or_none(&mut self) {
        let takes: Vec<bool> = self.list.iter().map(|line| self.includes(line)).collect();
        let is_any = takes.contains(&true);
        for (line, is_taken) in self.list.iter_mut().zip(takes) {
            line.is_flipped = if is_any { line.is_flipped != is_taken } else { false };
        }
    }

    /// Inserts a pasted URL.
    pub(in crate::tui::app) fn paste(&mut self, text: &str, shared: &Shared) {
        self.prompt.paste(text);
        self.changed(shared);
    }

    /// Validates the changed text.
    fn changed(&mut self, shared: &Shared) {
        // A complete URL typed or pasted after the proposed prefix replaces it.
        if let Some(typed) = self.prompt.text().strip_prefix(&self.start).filter(|typed| starts_with_scheme(typed)) {
            let typed = typed.to_owned();
            self.prompt.set(&typed);
        }
        self.validation = validate(shared, None, Field::Loc, self.prompt.text(), None);
    }
}

/// The non-empty lines of a pasted text.
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
