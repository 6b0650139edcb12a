//! The mode that adds URLs: one that is typed, or a pasted list.

use super::super::operations::edit::change;
use super::super::operations::judge::{Verdict, judge};
use super::super::state::Shared;
use super::super::state::new_urls::{NewUrl, Objection, check_urls};
use super::super::state::request::Next;
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::session::edit::Change;
use crate::tui::prompt::{Prompt, Reply};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// New URLs: one being typed, or a list that was pasted.
#[derive(Debug)]
pub(crate) struct Add {
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
    pub list: Vec<NewUrl>,
    /// Whether lines that are there already are added all the same.
    pub adds_known: bool,
    /// Whether lines with errors are added all the same.
    pub adds_wrong: bool,
    /// Where the list comes from.
    pub from: ListSource,
    /// The lines as they are shown: those that something speaks against come first.
    pub order: Vec<u32>,
    /// Which of them is chosen.
    pub chosen: usize,
}

/// Where a list of new URLs comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSource {
    /// It was pasted.
    Paste,
    /// Data has them, and no row.
    Data,
}

impl Add {
    /// Whether a line of the list will be added.
    pub(crate) const fn takes(&self, line: &NewUrl) -> bool {
        let is_taken = match line.doubt {
            None => true,
            Some(Objection::InSet(_) | Objection::Repeated) => self.adds_known,
            Some(Objection::Wrong(_)) => self.adds_wrong,
        };
        is_taken != line.is_flipped
    }

    /// The lines as they are shown.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &NewUrl> {
        self.order.iter().filter_map(|at| self.list.get(*at as usize))
    }

    /// How many lines are there already, and how many have errors.
    pub(crate) fn count_problems(&self) -> [u64; 2] {
        let wrong = |line: &&NewUrl| matches!(line.doubt, Some(Objection::Wrong(_)));
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
            from: ListSource::Paste,
            order: Vec::new(),
            chosen: 0,
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
            shared.show_note("the paste is empty");
            return None;
        }
        let list = check_urls(shared.session.view(), list, |_, _| None);
        Some(Self::listed(ListSource::Paste, list, anchor, before))
    }

    /// A list whose lines were examined.
    pub(in crate::tui::app) fn listed(
        from: ListSource,
        list: Vec<NewUrl>,
        anchor: Option<RowId>,
        before: bool,
    ) -> Box<Self> {
        let is_doubtful = |at: &u32| list.get(*at as usize).is_some_and(|line| line.doubt.is_some());
        let (mut order, sound): (Vec<u32>, Vec<u32>) = (0..list.len() as u32).partition(is_doubtful);
        order.extend(sound);
        Box::new(Self {
            anchor,
            before,
            prompt: Prompt::new("", Vec::new()),
            start: String::new(),
            verdict: Verdict::default(),
            list,
            adds_known: false,
            adds_wrong: false,
            from,
            order,
            chosen: 0,
        })
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
        let [known, wrong] = self.count_problems();
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
                shared.fail("every line is skipped: Space adds a line, d adds duplicates, e adds lines with errors");
            }
            (KeyCode::Char('d'), false) if known > 0 => self.adds_known = !self.adds_known,
            (KeyCode::Char('e'), false) if wrong > 0 => self.adds_wrong = !self.adds_wrong,
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

    /// None of the lines is added, or, where none is, all that nothing speaks against.
    fn take_all_or_none(&mut self) {
        let takes: Vec<bool> = self.list.iter().map(|line| self.takes(line)).collect();
        let is_any = takes.contains(&true);
        for (line, is_taken) in self.list.iter_mut().zip(takes) {
            line.is_flipped = if is_any { line.is_flipped != is_taken } else { false };
        }
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
