//! Lists to read or choose from: help, palette, history, rules, dates, explanations.

use super::super::operations::row_findings::is_fixable;
use super::super::state::Shared;
use super::super::state::recent::Purpose;
use super::super::state::request::{Choice, Next, Request};
use super::items::{self, Item};
use super::{dates, decisions, palette};
use crate::check::rule::{FixKind, Rule};
use crate::session::explain::fix_words;
use crate::tui::prompt::{Prompt, Reply};
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The kind of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// All keys and commands.
    Help,
    /// Commands by name.
    Palette,
    /// Changes made.
    History,
    /// Changes made, as the commands that make them.
    Script,
    /// The violated rules, with counts.
    Rules,
    /// Values for lastmod.
    Dates,
    /// Elements of extensions that can be added.
    Elements,
    /// The data columns, with their coverage.
    Data,
    /// Explanations of the findings of a row, a rule or a value.
    Explain,
    /// The decisions about a finding.
    Decide(Rule),
    /// Both sides of a merge conflict.
    Conflict,
    /// The diff of a save.
    Diff,
    /// The proof of a save.
    Proof,
}

/// A list.
#[derive(Debug)]
pub(crate) struct List {
    /// The kind of the list.
    pub kind: ListKind,
    /// The prompt that narrows the list, if it has one.
    pub prompt: Option<Prompt>,
    /// The lines, with their choices.
    pub lines: Vec<Item>,
    /// The chosen line.
    pub chosen: usize,
    /// All lines, and the index of the chosen one, while a search narrows the list.
    all: Option<(Vec<Item>, usize)>,
    /// Whether `g` was pressed and waits for a second key.
    is_g_pending: bool,
    /// Number of lines after the chosen one, while another list is open above it.
    pub(in crate::tui::app) covered: Option<usize>,
    /// Whether it was drawn.
    pub(super) drawn: bool,
}

impl List {
    pub(in crate::tui::app) fn new(kind: ListKind, lines: Vec<Item>) -> Box<Self> {
        let mut list =
            Self { kind, prompt: None, lines, chosen: 0, all: None, is_g_pending: false, covered: None, drawn: false };
        list.chosen = list.near(0, true);
        Box::new(list)
    }

    /// Whether lines are chosen, or only scrolled.
    pub(crate) fn chooses(&self) -> bool {
        self.lines.iter().any(|(_, choice)| *choice != Choice::Nothing)
    }

    /// Whether `/` searches it.
    pub(crate) fn searches(&self) -> bool {
        matches!(self.kind, ListKind::Help | ListKind::History | ListKind::Script | ListKind::Diff | ListKind::Conflict)
    }

    /// Whether a search narrows it.
    pub(crate) const fn is_narrowed(&self) -> bool {
        self.all.is_some()
    }

    /// Starts a search in all lines.
    pub(in crate::tui::app) fn start_search(&mut self) {
        self.prompt = Some(Prompt::new("", Vec::new()));
        if self.all.is_none() {
            self.all = Some((self.lines.clone(), self.chosen));
        }
    }

    /// Shows the lines that contain every typed word, under their headings.
    fn search(&mut self, typed: &str) {
        let Some((all, _)) = &self.all else { return };
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let holds = |line: &Line| {
            let pieces = line.left.pieces().iter().chain(line.right.pieces());
            let text = pieces.map(|(_, text)| text.as_ref()).collect::<String>().to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut lines = Vec::new();
        let mut heading: Option<&Item> = None;
        for one in all {
            let is_heading = matches!(one.0.left.pieces(), [(Role::Bold, _)]);
            if words.is_empty() || (!is_heading && !one.0.left.is_empty() && holds(&one.0)) {
                lines.extend(heading.take().cloned());
                lines.push(one.clone());
            } else if is_heading {
                heading = Some(one);
            }
        }
        if lines.is_empty() {
            lines.push(items::text(Words::dim(format!("no match for “{typed}”"))));
        }
        self.lines = lines;
        self.chosen = self.near(0, true);
    }

    /// Ends a search: shows all lines, with the same line chosen.
    fn show_all(&mut self) {
        self.prompt = None;
        let Some((all, before)) = self.all.take() else { return };
        let found = self.lines.get(self.chosen).and_then(|found| all.iter().position(|one| one == found));
        self.lines = all;
        self.chosen = self.near(found.unwrap_or(before), true);
    }

    /// Whether `x` fixes the chosen finding.
    fn fixes(&self) -> bool {
        matches!(self.kind, ListKind::Rules | ListKind::Explain)
    }

    /// Chooses a line, or the nearest one that can be chosen.
    pub(in crate::tui::app) fn choose(&mut self, line: usize) {
        self.chosen = self.near(line, true);
    }

    /// The nearest line that can be chosen.
    fn near(&self, from: usize, down: bool) -> usize {
        let last = self.lines.len().saturating_sub(1);
        let from = from.min(last);
        if !self.chooses() {
            return from;
        }
        let can = |at: &usize| self.lines.get(*at).is_some_and(|(_, choice)| *choice != Choice::Nothing);
        let (mut after, mut before) = ((from..=last).filter(can), (0..=from).rev().filter(can));
        let (first, second) = if down { (after.next(), before.next()) } else { (before.next(), after.next()) };
        first.or(second).unwrap_or(from)
    }

    fn go(&mut self, down: bool, by: usize) {
        let at = if down { self.chosen.saturating_add(by) } else { self.chosen.saturating_sub(by) };
        self.chosen = self.near(at, down);
    }

    /// Scrolls by the mouse wheel.
    pub(crate) fn scroll(&mut self, down: bool) {
        self.go(down, 3);
    }

    /// Number of lines after the chosen one.
    pub(in crate::tui::app) fn lines_after(&self) -> usize {
        self.lines.len().saturating_sub(self.chosen + 1)
    }

    /// The choice of the chosen line.
    pub(in crate::tui::app) fn choice(&self) -> Choice {
        self.lines.get(self.chosen).map_or(Choice::Nothing, |(_, choice)| choice.clone())
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        if self.is_narrowed() && self.prompt.is_some() {
            return self.search_key(key, shared);
        }
        // No date and no zone contains these letters, so they move the cursor as in every list.
        let moves = matches!(key.code, KeyCode::Char('j' | 'k')) && self.is_moved_by_letters();
        if !moves && let Some(reply) = self.prompt.as_mut().map(|prompt| prompt.press(key)) {
            match reply {
                Reply::Changed => {
                    self.narrow(shared);
                    return Next::Stay;
                }
                Reply::Moved => return Next::Stay,
                Reply::Drop => return Next::CloseAll,
                _ => {}
            }
        }
        let is_typing = self.prompt.is_some() && !moves;
        let page = usize::from(shared.areas().rows.height.max(4)) / 2;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let was_g_pending = std::mem::take(&mut self.is_g_pending);
        match key.code {
            KeyCode::Enter => return self.accept(shared),
            KeyCode::Esc if self.is_narrowed() => self.show_all(),
            KeyCode::Esc => return Next::Close,
            KeyCode::Char('c' | 'q') if ctrl || (!is_typing && key.code == KeyCode::Char('q')) => return Next::Close,
            KeyCode::Down | KeyCode::Tab => self.go(true, 1),
            KeyCode::Up | KeyCode::BackTab => self.go(false, 1),
            KeyCode::PageDown => self.go(true, page),
            KeyCode::PageUp => self.go(false, page),
            KeyCode::Char(letter) if !is_typing => match (letter, ctrl) {
                ('j', false) => self.go(true, 1),
                ('k', false) => self.go(false, 1),
                ('d' | 'f', true) | (' ', false) => self.go(true, page),
                ('u' | 'b', true) => self.go(false, page),
                // In lists where `x` fixes, `gx` is a key of the table, so that a single `g` does not move the cursor.
                ('g', false) if self.fixes() && !was_g_pending => self.is_g_pending = true,
                ('g', false) => self.go(false, usize::MAX),
                ('G', false) => self.go(true, usize::MAX / 2),
                ('/', false) if self.searches() => self.start_search(),
                (letter, false) => return self.letter(letter, shared),
                _ => {}
            },
            KeyCode::Home if !is_typing => self.go(false, usize::MAX),
            KeyCode::End if !is_typing => self.go(true, usize::MAX / 2),
            _ => {}
        }
        Next::Stay
    }

    /// Whether `j` and `k` move although there is a prompt.
    fn is_moved_by_letters(&self) -> bool {
        match self.kind {
            ListKind::Dates => true,
            ListKind::Decide(_) => self.prompt.as_ref().is_some_and(|prompt| prompt.text().is_empty()),
            _ => false,
        }
    }

    /// Handles a key of the search prompt.
    fn search_key(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        let Some(prompt) = self.prompt.as_mut() else { return Next::Stay };
        match prompt.press(key) {
            Reply::Changed => {
                let typed = prompt.text().to_owned();
                self.search(&typed);
            }
            Reply::Accept if self.kind == ListKind::Elements => {
                shared.request(Request::Choose(self.choice()));
                return Next::CloseAll;
            }
            Reply::Drop if self.kind == ListKind::Elements => return Next::CloseAll,
            Reply::Accept => self.prompt = None,
            Reply::Drop => self.show_all(),
            Reply::Up | Reply::Down => self.go(key.code == KeyCode::Down, 1),
            _ => {}
        }
        Next::Stay
    }

    /// Recomputes the lines for the typed text.
    pub(in crate::tui::app) fn narrow(&mut self, shared: &Shared) {
        let typed = self.prompt.as_ref().map(|prompt| prompt.text().to_owned()).unwrap_or_default();
        self.lines = match self.kind {
            ListKind::Dates => dates::lines(shared, &typed),
            ListKind::Decide(rule) => decisions::lines(shared, rule, &typed),
            _ => palette::lines(&typed),
        };
        self.chosen = 0;
    }

    /// Enter: executes the choice.
    fn accept(&self, shared: &mut Shared) -> Next {
        let choice = self.choice();
        if choice != Choice::Nothing {
            // Returns to the list of rules, from which the fixed finding is removed.
            let next = if matches!(choice, Choice::FixNonRow(..)) { Next::Close } else { Next::CloseAll };
            shared.request(Request::Choose(choice));
            return next;
        }
        match self.kind {
            ListKind::Decide(_) => shared.show_error("not a valid value; Esc keeps the old one"),
            ListKind::Dates => shared.show_error("not a date or a step; Esc keeps the old lastmod"),
            _ if !self.chooses() => return Next::Close,
            _ => {}
        }
        Next::Stay
    }

    /// Handles a letter that is a key of some lists only.
    fn letter(&self, letter: char, shared: &mut Shared) -> Next {
        match (self.kind, letter) {
            (ListKind::Help, '?') | (ListKind::Explain, 'K') => Next::Close,
            (ListKind::History, 'c') => {
                shared.request(Request::OpenScript);
                Next::CloseAll
            }
            (ListKind::Script, 'y') => {
                shared.request(Request::CopyScript);
                Next::CloseAll
            }
            (ListKind::Rules, 'K') => {
                if let Choice::Rule(rule) | Choice::NonRowFinding(_, rule) = self.choice() {
                    shared.request(Request::ExplainRule(rule));
                }
                Next::Stay
            }
            (ListKind::Rules, 'w') => {
                shared.request(Request::OpenLine(Purpose::Command, "check findings.md".to_owned()));
                Next::CloseAll
            }
            (ListKind::Rules, 'x') => {
                match self.choice() {
                    Choice::Rule(rule) => shared.request(Request::PreviewFix(None, rule)),
                    Choice::NonRowFinding(target, rule) => shared.request(Request::PreviewFix(Some(target), rule)),
                    _ => {}
                }
                Next::Stay
            }
            (ListKind::Explain, 'x') => self.fix_chosen(shared),
            _ => Next::Stay,
        }
    }

    /// Fixes the chosen finding, in lists that show their fixes.
    fn fix_chosen(&self, shared: &mut Shared) -> Next {
        match self.choice() {
            Choice::NonRowFinding(target, rule) if is_fixable(shared, target, rule) => {
                shared.request(Request::PreviewNonRowFix(target, rule));
                Next::Close
            }
            choice @ Choice::FixNonRow(..) => {
                shared.request(Request::Choose(choice));
                Next::Close
            }
            choice @ Choice::RowFinding(rule) if rule.fix() != FixKind::None => {
                shared.request(Request::Choose(choice));
                Next::CloseAll
            }
            Choice::RowFinding(rule) | Choice::NonRowFinding(_, rule) => {
                shared.show_error(format!("no fix for {}: {}", rule.code(), fix_words(rule.fix())));
                Next::Stay
            }
            _ => {
                shared.show_error("no fix for this line; choose a finding");
                Next::Stay
            }
        }
    }
}
