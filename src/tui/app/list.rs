//! Lists to read or to choose from: help, palette, history, rules, dates, explanations.

use super::super::command::Action;
use super::super::prompt::{Prompt, Reply};
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::{App, Mode};
use crate::check::decision::Decision;
use crate::check::rule::Rule;
use crate::protocol::verdict::Verdict;
use crate::protocol::{Field, Severity, lastmod};
use crate::session::findings::FindingTarget;
use crate::words::counted;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Which list it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// All keys and commands.
    Help,
    /// Commands by name.
    Palette,
    /// Changes made.
    History,
    /// Changes made, as the commands that make them.
    Script,
    /// Rules broken, with counts.
    Rules,
    /// Values for lastmod.
    Dates,
    /// Elements of extensions that can be added.
    Elements,
    /// What is wrong with one row, at length.
    Explain,
    /// The ways to put a finding right that needs a decision.
    Decide(Rule),
    /// Both sides of a merge conflict.
    Conflict,
    /// What a save would change, as a diff.
    Diff,
    /// The proof of what a save would change.
    Proof,
}

/// What choosing a line does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Nothing: it is there to be read.
    Read,
    /// Does an action.
    Run(Action),
    /// Goes to the state with so many steps in effect.
    Travel(usize),
    /// Shows what breaks a rule: rows, or files and entries of the index.
    Rule(Rule),
    /// Shows the rows that break a rule.
    Rows(Rule),
    /// Sets lastmod to what is typed.
    Lastmod(String),
    /// Puts a rule's findings right so.
    Decide(Rule, Decision),
    /// Edits the cell of a field.
    Cell(Field),
    /// A finding of the row: puts it right.
    OfRow(Rule),
    /// Says more of a finding that no row carries.
    Found(FindingTarget, Rule),
    /// Puts right what breaks a rule there.
    FixWhole(FindingTarget, Rule),
    /// Adds the element, or the attribute, of a path.
    Element(String),
    /// Begins a command on the `:` line.
    Line(String),
}

/// A list.
#[derive(Debug)]
pub struct List {
    /// Which.
    pub kind: ListKind,
    /// What narrows it, where it can be narrowed.
    pub prompt: Option<Prompt>,
    /// The lines, with what choosing them does.
    pub lines: Vec<(Line, Choice)>,
    /// The chosen line.
    pub chosen: usize,
    /// All lines and the chosen one, while a search narrows the list.
    all: Option<(Vec<(Line, Choice)>, usize)>,
    /// Whether a `g` waits for the key that it begins.
    is_g_pending: bool,
    /// Lines after the chosen one in the list of rules that this list was opened from.
    pub(super) under_rules: Option<usize>,
    /// Whether it was on the screen.
    pub(super) drawn: bool,
}

impl List {
    pub(super) fn new(kind: ListKind, lines: Vec<(Line, Choice)>) -> Box<Self> {
        let mut list = Self {
            kind,
            prompt: None,
            lines,
            chosen: 0,
            all: None,
            is_g_pending: false,
            under_rules: None,
            drawn: false,
        };
        list.chosen = list.near(0, true);
        Box::new(list)
    }

    /// Whether lines are chosen, or only scrolled.
    pub fn chooses(&self) -> bool {
        self.lines.iter().any(|(_, choice)| *choice != Choice::Read)
    }

    /// Whether `/` searches it.
    pub fn searches(&self) -> bool {
        matches!(self.kind, ListKind::Help | ListKind::History | ListKind::Script | ListKind::Diff | ListKind::Conflict)
    }

    /// Whether a search narrows it.
    pub const fn is_narrowed(&self) -> bool {
        self.all.is_some()
    }

    /// Starts a search in all lines.
    pub(super) fn start_search(&mut self) {
        self.prompt = Some(Prompt::new("", Vec::new()));
        if self.all.is_none() {
            self.all = Some((self.lines.clone(), self.chosen));
        }
    }

    /// Shows the lines that hold every word typed, under their headings.
    fn search(&mut self, typed: &str) {
        let Some((all, _)) = &self.all else { return };
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let holds = |line: &Line| {
            let pieces = line.left.pieces().iter().chain(line.right.pieces());
            let text = pieces.map(|(_, text)| text.as_ref()).collect::<String>().to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut lines = Vec::new();
        let mut heading: Option<&(Line, Choice)> = None;
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
            lines.push((Words::dim(format!("no match for “{typed}”")).into(), Choice::Read));
        }
        self.lines = lines;
        self.chosen = self.near(0, true);
    }

    /// Ends a search: all lines again, with the line chosen that was found.
    fn show_all(&mut self) {
        self.prompt = None;
        let Some((all, before)) = self.all.take() else { return };
        let found = self.lines.get(self.chosen).and_then(|found| all.iter().position(|one| one == found));
        self.lines = all;
        self.chosen = self.near(found.unwrap_or(before), true);
    }

    /// Whether `x` puts right what is chosen.
    fn fixes(&self) -> bool {
        matches!(self.kind, ListKind::Rules | ListKind::Explain)
    }

    /// Chooses a line, or the nearest that can be chosen.
    pub(super) fn choose(&mut self, line: usize) {
        self.chosen = self.near(line, true);
    }

    /// The nearest line that can be chosen.
    fn near(&self, from: usize, down: bool) -> usize {
        let last = self.lines.len().saturating_sub(1);
        let from = from.min(last);
        if !self.chooses() {
            return from;
        }
        let can = |at: &usize| self.lines.get(*at).is_some_and(|(_, choice)| *choice != Choice::Read);
        let (mut after, mut before) = ((from..=last).filter(can), (0..=from).rev().filter(can));
        let (first, second) = if down { (after.next(), before.next()) } else { (before.next(), after.next()) };
        first.or(second).unwrap_or(from)
    }

    fn go(&mut self, down: bool, by: usize) {
        let at = if down { self.chosen.saturating_add(by) } else { self.chosen.saturating_sub(by) };
        self.chosen = self.near(at, down);
    }

    /// The wheel.
    pub fn scroll(&mut self, down: bool) {
        self.go(down, 3);
    }
}

pub(super) fn entry(words: Words, right: Words, choice: Choice) -> (Line, Choice) {
    (Line::new(words, right), choice)
}

pub(super) fn heading(text: &str) -> (Line, Choice) {
    (Words::new().and(Role::Bold, text.to_owned()).into(), Choice::Read)
}

pub(super) fn blank() -> (Line, Choice) {
    (Line::default(), Choice::Read)
}

impl App {
    /// The changes made, newest first.
    pub(super) fn open_history(&mut self) {
        let entries = self.session.history();
        if entries.is_empty() {
            return self.say("no changes yet");
        }
        let done = entries.iter().filter(|entry| entry.done).count();
        let mut lines = Vec::new();
        for (at, step) in entries.iter().enumerate().rev() {
            let here = at + 1 == done;
            let role = if step.done { Role::Text } else { Role::Dim };
            let mut words = Words::dim(format!("{:>5}  ", at + 1)).and(role, step.label.clone());
            if !step.done {
                words.push(Role::Dim, "   undone");
            }
            let mut right = Words::new();
            if here {
                right.push(Role::Accent, "now");
            }
            if step.saved {
                right.push(Role::Good, if here { "   saved" } else { "saved" });
            }
            lines.push(entry(words, right, Choice::Travel(at + 1)));
        }
        let right = if done == 0 { Words::new().and(Role::Accent, "now") } else { Words::new() };
        lines.push(entry(Words::dim("    0  as it was opened"), right, Choice::Travel(0)));
        let mut list = List::new(ListKind::History, lines);
        list.chosen = entries.len() - done;
        self.mode = Mode::List(list);
    }

    /// The changes made, as a script.
    pub(super) fn open_script(&mut self) {
        let script = self.session.script();
        if script.is_empty() {
            return self.say("no changes yet");
        }
        let role = |line: &str| if line.starts_with('#') { Role::Dim } else { Role::Text };
        let lines = script.iter().map(|line| (Words::new().and(role(line), line.clone()).into(), Choice::Read));
        self.mode = Mode::List(List::new(ListKind::Script, lines.collect()));
    }

    /// Values for lastmod.
    pub(super) fn open_dates(&mut self) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let mut list = List::new(ListKind::Dates, self.dates(""));
        list.prompt = Some(Prompt::new("", Vec::new()));
        self.mode = Mode::List(list);
    }

    /// Values for lastmod that begin with what is typed, and what is typed itself.
    fn dates(&self, typed: &str) -> Vec<(Line, Choice)> {
        let now = self.session.view().clock;
        let typed = typed.trim();
        let one = |typed: &str, about: String| {
            let words = Words::text(format!("{typed:8}")).and(Role::Dim, format!("  {about}"));
            entry(words, Words::new(), Choice::Lastmod(typed.to_owned()))
        };
        let mut lines: Vec<(Line, Choice)> = [
            ("today", now.today()),
            ("now", now.timestamp()),
            ("+1d", "a day later than it says".to_owned()),
            ("-1d", "a day earlier".to_owned()),
            ("+7d", "a week later".to_owned()),
            ("-7d", "a week earlier".to_owned()),
            ("none", "no lastmod: none is better than an invented one".to_owned()),
        ]
        .into_iter()
        .filter(|(name, _)| name.starts_with(&typed.to_ascii_lowercase()))
        .map(|(name, about)| one(name, about))
        .collect();
        if lines.is_empty() {
            let is_step = typed.starts_with(['+', '-']);
            match lastmod::parse_input(typed, Some(&now.today()), now) {
                Err(error) => lines.push((Words::new().and(Role::Error, error.to_string()).into(), Choice::Read)),
                Ok(Some(value)) if !lastmod::verdicts(&value).iter().any(Verdict::accepts) => {
                    let words = format!("{typed}: no date, no step such as +7d, and not today, now or none");
                    lines.push((Words::new().and(Role::Error, words).into(), Choice::Read));
                }
                Ok(_) if is_step => lines.push(one(typed, "from what it says".to_owned())),
                Ok(_) => lines.push(one(typed, "this very value".to_owned())),
            }
        }
        lines
    }

    pub(super) fn list_key(&mut self, mut list: Box<List>, key: KeyEvent) {
        if list.is_narrowed()
            && let Some(prompt) = list.prompt.as_mut()
        {
            match prompt.press(key) {
                Reply::Changed => {
                    let typed = prompt.text().to_owned();
                    list.search(&typed);
                }
                Reply::Accept if list.kind == ListKind::Elements => {
                    let chosen = list.lines.get(list.chosen).map(|(_, choice)| choice.clone());
                    return self.choose(chosen.unwrap_or(Choice::Read));
                }
                Reply::Drop if list.kind == ListKind::Elements => return,
                Reply::Accept => list.prompt = None,
                Reply::Drop => list.show_all(),
                Reply::Up | Reply::Down => list.go(key.code == KeyCode::Down, 1),
                _ => {}
            }
            self.mode = Mode::List(list);
            return;
        }
        // No date and no zone has these letters; they move as in every list.
        let own = match list.kind {
            ListKind::Dates => true,
            ListKind::Decide(_) => list.prompt.as_ref().is_some_and(|prompt| prompt.text().is_empty()),
            _ => false,
        };
        let moves = own && matches!(key.code, KeyCode::Char('j' | 'k'));
        if let Some(prompt) = list.prompt.as_mut().filter(|_| !moves) {
            match prompt.press(key) {
                Reply::Changed => {
                    let typed = prompt.text().to_owned();
                    match list.kind {
                        ListKind::Dates => (list.lines, list.chosen) = (self.dates(&typed), 0),
                        ListKind::Decide(rule) => (list.lines, list.chosen) = (self.decide_again(rule, &typed), 0),
                        _ => list.narrow(),
                    }
                    self.mode = Mode::List(list);
                    return;
                }
                Reply::Moved => {
                    self.mode = Mode::List(list);
                    return;
                }
                Reply::Drop => return,
                _ => {}
            }
        }
        let typing = list.prompt.is_some() && !moves;
        let page = usize::from(self.areas().rows.height.max(4)) / 2;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => {
                if let Some((_, choice)) = list.lines.get(list.chosen)
                    && *choice != Choice::Read
                {
                    let (choice, under_rules) = (choice.clone(), list.under_rules);
                    self.choose(choice.clone());
                    if let (Choice::FixWhole(..), Some(after), Mode::Grid) = (choice, under_rules, &self.mode) {
                        self.return_to_rules(after);
                    }
                    return;
                }
                if let ListKind::Decide(_) = list.kind {
                    self.fail("that is not understood; Esc leaves the value as it is");
                    self.mode = Mode::List(list);
                    return;
                }
                if list.kind == ListKind::Dates {
                    self.fail("that is no date and no step; Esc leaves lastmod as it is");
                } else if !list.chooses() {
                    return self.close_list(list.under_rules);
                }
            }
            KeyCode::Esc if list.is_narrowed() => list.show_all(),
            KeyCode::Esc => return self.close_list(list.under_rules),
            KeyCode::Char('c' | 'q') if ctrl || (!typing && key.code == KeyCode::Char('q')) => {
                return self.close_list(list.under_rules);
            }
            KeyCode::Down | KeyCode::Tab => list.go(true, 1),
            KeyCode::Up | KeyCode::BackTab => list.go(false, 1),
            KeyCode::PageDown => list.go(true, page),
            KeyCode::PageUp => list.go(false, page),
            KeyCode::Char(letter) if !typing => match (letter, ctrl) {
                ('j', false) => list.go(true, 1),
                ('k', false) => list.go(false, 1),
                ('d' | 'f', true) | (' ', false) => list.go(true, page),
                ('u' | 'b', true) => list.go(false, page),
                // Where `x` fixes, `gx` is what it is in the table: a `g` alone does not move.
                ('g', false) if list.fixes() && !list.is_g_pending => {
                    list.is_g_pending = true;
                    self.mode = Mode::List(list);
                    return;
                }
                ('g', false) => list.go(false, usize::MAX),
                ('G', false) => list.go(true, usize::MAX / 2),
                ('?', false) if list.kind == ListKind::Help => return,
                ('/', false) if list.searches() => list.start_search(),
                ('c', false) if list.kind == ListKind::History => return self.open_script(),
                ('y', false) if list.kind == ListKind::Script => return self.copy_script(),
                ('K', false) if list.kind == ListKind::Explain => {
                    return list.under_rules.map_or((), |after| self.return_to_rules(after));
                }
                ('K', false) if list.kind == ListKind::Rules => return self.explain_chosen(list),
                ('w', false) if list.kind == ListKind::Rules => return self.ask_findings_file(),
                ('x', false) if list.kind == ListKind::Rules => return self.preview_chosen(list),
                ('x', false) if list.fixes() => return self.fix_chosen(list),
                _ => {}
            },
            KeyCode::Home if !typing => list.go(false, usize::MAX),
            KeyCode::End if !typing => list.go(true, usize::MAX / 2),
            _ => {}
        }
        list.is_g_pending = false;
        self.mode = Mode::List(list);
    }

    /// Back to the question or the list that a list was opened from, or to the table.
    fn close_list(&mut self, under_rules: Option<usize>) {
        if let Some(after) = under_rules {
            return self.return_to_rules(after);
        }
        if let Some(mut ask) = self.under.take() {
            ask.drawn = false;
            self.mode = Mode::Ask(ask);
        }
    }

    fn choose(&mut self, choice: Choice) {
        match choice {
            Choice::Read => {}
            Choice::Run(action) => self.run(action, None),
            Choice::Travel(steps) => self.travel(steps),
            Choice::Rule(rule) => {
                if self.session.each_whole_finding().any(|finding| finding.rule == rule) {
                    self.open_of_files(rule);
                } else {
                    self.filter_by(&format!("rule:{}", rule.code()));
                }
            }
            Choice::Decide(rule, decision) => self.decide(rule, decision),
            Choice::Cell(field) => {
                self.grid.field = field;
                self.open_cell(false);
            }
            Choice::OfRow(rule) => self.preview_rule(rule),
            Choice::Found(_, rule) => self.open_of_files(rule),
            Choice::FixWhole(place, rule) => self.fix_whole(place, rule),
            Choice::Element(path) => self.add_element(&path),
            Choice::Line(line) => self.open_line(super::Purpose::Command, &line),
            Choice::Rows(rule) => self.filter_by(&format!("rule:{}", rule.code())),
            Choice::Lastmod(typed) => {
                let rows = self.targets(None);
                self.keep_bulk(Field::Lastmod, &typed, rows.len());
                self.set_rows(rows, Field::Lastmod, &typed);
            }
        }
    }

    /// What marks there are, in words.
    pub(super) fn say_marks(&mut self) {
        let marked = self.session.marked();
        self.say_words(Words::text(format!("{} marked", counted(marked, "row"))), Severity::Note);
    }
}
