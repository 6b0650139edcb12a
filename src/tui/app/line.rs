//! The `:` line and the prompts for queries: completion, preview, Enter.

use super::super::draw::columns::Name;
use super::super::prompt::{Candidate, Completion, Prompt, Reply};
use super::{App, Effect, Mode, Preview};
use crate::document::view::ViewSpec;
use crate::session::command::{Command, CommandError, Goto, completions, parse};
use crate::session::rule_export::RULES;
use crate::session::run::CommandOutcome;
use crate::session::snapshot::vocabulary;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a line is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Any command.
    Command,
    /// A query for what is shown; the table follows it while it is typed.
    Filter,
    /// A query for the next row; the cursor follows it while it is typed.
    Search,
    /// A query for rows to mark.
    Mark,
    /// A query for rows to take the mark off.
    Unmark,
    /// Where the set will live, for a save that makes files.
    Base,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 6] = [Self::Command, Self::Filter, Self::Search, Self::Mark, Self::Unmark, Self::Base];

    /// What stands before the text to make it a command.
    pub(in crate::tui) const fn prefix(self) -> &'static str {
        match self {
            Self::Command => "",
            Self::Filter => "filter ",
            Self::Search => "/",
            Self::Mark => "mark where ",
            Self::Unmark => "unmark where ",
            Self::Base => "set-base-url ",
        }
    }

    /// What is shown before the text.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Command => ":",
            Self::Filter => "filter ",
            Self::Search => "/",
            Self::Mark => "mark ",
            Self::Unmark => "unmark ",
            Self::Base => "base URL ",
        }
    }
}

/// Lines typed before, by purpose; the newest last.
#[derive(Debug, Default)]
pub struct Recall([Vec<String>; Purpose::ALL.len()]);

/// Lines kept per purpose.
const KEPT: usize = 200;

impl Recall {
    fn of(&self, purpose: Purpose) -> Vec<String> {
        self.0[purpose as usize].clone()
    }

    fn keep(&mut self, purpose: Purpose, line: &str) {
        let lines = &mut self.0[purpose as usize];
        if line.trim().is_empty() {
            return;
        }
        lines.retain(|known| known != line);
        lines.push(line.to_owned());
        if lines.len() > KEPT {
            lines.remove(0);
        }
    }
}

/// A line being typed.
#[derive(Debug)]
pub struct LineEdit {
    /// What for.
    pub purpose: Purpose,
    /// The text.
    pub prompt: Prompt,
    /// What it means so far; `None` while it is empty.
    pub parsed: Option<Result<Command, CommandError>>,
    /// What it would do.
    pub preview: Option<Preview>,
    /// Samples of the preview walked past.
    pub top: usize,
    pub(super) ticket: u64,
    /// Whether it was on the screen.
    pub(super) drawn: bool,
    /// What was shown before, for Esc.
    before: ViewSpec,
    /// Where the cursor was.
    pub(super) from: u32,
    /// Whether no row shown matches what is being searched for.
    pub no_match: bool,
}

impl App {
    /// Starts a line.
    pub(super) fn open_line(&mut self, purpose: Purpose, text: &str) {
        self.end_range();
        let edit = LineEdit {
            purpose,
            prompt: Prompt::new(text, self.recall.of(purpose)),
            parsed: None,
            preview: None,
            top: 0,
            ticket: 0,
            drawn: false,
            before: self.session.spec().clone(),
            from: self.grid.position,
            no_match: false,
        };
        self.line_changed(Box::new(edit));
    }

    pub(super) fn line_key(&mut self, mut edit: Box<LineEdit>, key: KeyEvent) {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        // A walk through the preview's samples, as long as there is nothing to recall.
        match edit.prompt.press(key) {
            Reply::Changed => return self.line_changed(edit),
            Reply::Moved => {}
            Reply::Accept => return self.line_accept(edit),
            Reply::Drop => return self.line_drop(edit),
            Reply::Tab(back) => {
                if edit.prompt.completion.is_none() {
                    edit.prompt.completion = self.completion(&edit);
                }
                if edit.prompt.complete(back) {
                    let kept = edit.prompt.completion.take();
                    self.line_changed(edit);
                    // A folder that was the only proposal is gone into: what is in it comes next.
                    let is_folder =
                        |kept: &Completion| kept.candidates.len() == 1 && kept.candidates[0].text.ends_with('/');
                    if let Mode::Line(edit) = &mut self.mode
                        && !kept.as_ref().is_some_and(is_folder)
                    {
                        edit.prompt.completion = kept;
                    }
                    return;
                }
            }
            Reply::Down => edit.top = edit.top.saturating_add(1),
            Reply::Up => edit.top = edit.top.saturating_sub(1),
            Reply::Unknown => match key.code {
                KeyCode::PageDown => edit.top = edit.top.saturating_add(5),
                KeyCode::PageUp => edit.top = edit.top.saturating_sub(5),
                KeyCode::Char('s') if ctrl => self.say("Enter applies the line first; then ^S saves"),
                _ => {}
            },
        }
        let samples = edit.preview.as_ref().and_then(|preview| preview.intent.as_ref()).and_then(|i| i.as_ref().ok());
        edit.top = edit.top.min(samples.map_or(0, |intent| intent.samples.len().saturating_sub(1)));
        self.mode = Mode::Line(edit);
    }

    /// Backspace in an empty line leaves it, as in vim.
    pub(super) fn line_changed(&mut self, mut edit: Box<LineEdit>) {
        let text = edit.prompt.text().to_owned();
        let line = format!("{}{text}", edit.purpose.prefix());
        edit.top = 0;
        edit.no_match = false;
        edit.preview = None;
        edit.parsed = (!text.trim().is_empty()).then(|| parse(&line, &vocabulary(self.session.view().clock)));
        edit.prompt.completion = self.completion(&edit);
        let half = edit.prompt.completion.as_ref().is_some_and(|found| {
            text.get(found.from..)
                .is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
        });
        let (purpose, before, from) = (edit.purpose, edit.before.clone(), edit.from);
        let command = edit.parsed.as_ref().and_then(|parsed| parsed.as_ref().ok()).cloned();
        self.mode = Mode::Line(edit);
        self.want_listing();
        match (purpose, command) {
            // What may become the name of a field is not looked for as a word yet.
            (Purpose::Filter, Some(_)) if half => {}
            (Purpose::Search, Some(_)) if half => self.go(from),
            (Purpose::Filter, Some(Command::Filter(filter))) => self.show_view(ViewSpec { filter, ..before }),
            (Purpose::Filter, None) if text.trim().is_empty() => self.show_view(ViewSpec { filter: None, ..before }),
            (Purpose::Search, Some(Command::Search(query))) => self.search(query, from, true, true),
            (Purpose::Search, _) => self.go(from),
            (Purpose::Command | Purpose::Mark | Purpose::Unmark, Some(command)) => self.ask_preview(command),
            _ => {}
        }
    }

    fn completion(&self, edit: &LineEdit) -> Option<Completion> {
        if let Some(paths) = self.path_completion(edit) {
            return Some(paths);
        }
        let prefix = edit.purpose.prefix();
        let line = format!("{prefix}{}", edit.prompt.text());
        let found = completions(&line, prefix.len() + edit.prompt.caret(), &vocabulary(self.session.view().clock));
        let from = found.from.checked_sub(prefix.len())?;
        let candidates: Vec<Candidate> =
            found.items.into_iter().map(|item| Candidate { text: item.text, hint: item.about.to_owned() }).collect();
        (!candidates.is_empty()).then_some(Completion { from, candidates, chosen: None })
    }

    fn line_drop(&mut self, edit: Box<LineEdit>) {
        match edit.purpose {
            Purpose::Filter => self.show_view(edit.before),
            Purpose::Search => self.go(edit.from),
            Purpose::Base => {
                self.waiting = None;
                self.leave_after_save = false;
            }
            Purpose::Command | Purpose::Mark | Purpose::Unmark => {}
        }
    }

    fn line_accept(&mut self, mut edit: Box<LineEdit>) {
        match edit.parsed.take() {
            None if edit.purpose == Purpose::Filter => self.show_view(ViewSpec { filter: None, ..edit.before }),
            None => self.line_drop(edit),
            Some(Err(error)) => {
                // The place stays marked; only the words are said once more.
                self.fail(error.message.clone());
                edit.parsed = Some(Err(error));
                self.mode = Mode::Line(edit);
            }
            Some(Ok(Command::SetBaseUrl(url)))
                if edit.purpose == Purpose::Base && crate::files::base_url_error(&url).is_some() =>
            {
                self.fail(crate::files::base_url_error(&url).unwrap_or_default());
                edit.parsed = Some(Ok(Command::SetBaseUrl(url)));
                self.mode = Mode::Line(edit);
            }
            Some(Ok(command)) => {
                self.recall.keep(edit.purpose, edit.prompt.text());
                match (edit.purpose, command) {
                    (Purpose::Filter, Command::Filter(filter)) => {
                        let shown = self.spec().filter.as_ref().map(ToString::to_string);
                        // The table is there already, or on its way, but for a word that might have become a name.
                        if filter.as_ref().map(ToString::to_string) != shown {
                            self.show_view(ViewSpec { filter, ..edit.before });
                        }
                    }
                    (Purpose::Search, Command::Search(query)) => {
                        self.search(query.clone(), edit.from, true, true);
                        self.search_for(query);
                    }
                    (Purpose::Base, Command::SetBaseUrl(url)) => self.set_base(&url),
                    (_, command) => {
                        self.keep_command(&command);
                        if matches!(command, Command::Set { .. } | Command::Replace { .. }) {
                            self.last_bulk = Some(edit.prompt.text().to_owned());
                        }
                        self.execute(command);
                    }
                }
            }
        }
    }

    /// Does what a command says.
    pub(super) fn execute(&mut self, command: Command) {
        match command {
            Command::Filter(filter) => self.show_view(ViewSpec { filter, ..self.session.spec().clone() }),
            Command::Sort(sort) => self.show_view(ViewSpec { sort, ..self.session.spec().clone() }),
            Command::Goto(Goto::Row(number)) => self.go_to_number(number),
            Command::Goto(Goto::Last) => self.go(u32::MAX),
            Command::Search(query) => {
                self.search(query.clone(), self.grid.position, true, false);
                self.search_for(query);
            }
            Command::History { as_commands: false } => self.open_history(),
            Command::History { as_commands: true } => self.open_script(),
            Command::KeepRule(path) => {
                match self.session.keep_rule(std::path::Path::new(path.as_deref().unwrap_or(RULES))) {
                    Ok(words) => self.say(words),
                    Err(refused) => self.fail(refused.0),
                }
            }
            Command::Check(None) => self.open_rules(),
            Command::Check(Some(path)) => self.write_findings(path),
            Command::Help(topic) => self.open_help(topic.as_deref()),
            Command::Changes => self.open_changes(),
            Command::Plan => self.open_plan(),
            Command::Verify => self.verify(),
            Command::Outside => self.look_outside(crate::files::external_changes::Thoroughness::Close, true),
            Command::Write { path, force } => self.save(path.map(Into::into), force),
            Command::WriteQuit => self.save_and_quit(),
            Command::Quit { discard } => self.quit(discard),
            Command::Theme(name) => match super::super::theme::Scheme::from_name(&name) {
                Some(scheme) => {
                    self.theme = super::super::theme::Theme::new(scheme, self.theme.charset);
                    self.effects.push(Effect::Repaint);
                }
                None => self.fail("expected dark, light or none"),
            },
            Command::Reload { discard } => self.reload(discard),
            Command::Columns(names) => self.choose_columns(&names),
            Command::Undo(steps) => self.undo(true, steps),
            Command::Redo(steps) => self.undo(false, steps),
            Command::Mark(_)
            | Command::Unmark(_)
            | Command::Marks(_)
            | Command::Profile(_)
            | Command::Policy(_)
            | Command::Backup(_)
            | Command::SetBaseUrl(_) => match self.session.run(&command, self.asker()) {
                Ok(CommandOutcome::Shown(words)) => self.say(words),
                Ok(_) => {}
                Err(refused) => self.fail(refused.0),
            },
            Command::RebaseIndex(url) => match self.session.run(&Command::SetBaseUrl(url.clone()), self.asker()) {
                Ok(_) => self.change_by(Command::RebaseIndex(url)),
                Err(refused) => self.fail(refused.0),
            },
            Command::Set { .. }
            | Command::Replace { .. }
            | Command::Add(_)
            | Command::Delete(_)
            | Command::Keep(_)
            | Command::Duplicate(_)
            | Command::Revert(_)
            | Command::Fix { .. }
            | Command::Extend { .. }
            | Command::ApplyOrder => self.change_by(command),
        }
    }

    /// Shows these columns, in this order: `all` of them, or those that are not empty, `auto`.
    fn choose_columns(&mut self, names: &[String]) {
        if let [word] = names
            && let Some((_, is_chosen)) = [("all", true), ("auto", false)].into_iter().find(|(own, _)| own == word)
        {
            (self.grid.order, self.grid.chosen) = (Name::usual(), is_chosen);
            return;
        }
        let words = Name::ALL.map(|(_, word)| word).join(", ");
        match names.iter().map(|word| Name::from_word(word)).collect::<Option<Vec<Name>>>() {
            Some(order) if !order.is_empty() => (self.grid.order, self.grid.chosen) = (order, true),
            _ => self.fail(format!("columns are {words}; also all, and auto (those that are not empty)")),
        }
    }

    /// Goes to the row of a number in file order, or to the nearest one shown.
    pub(super) fn go_to_number(&mut self, number: u32) {
        let shown = self.session.shown();
        if self.session.view().view.is_file_order() {
            return self.go(number.saturating_sub(1));
        }
        let at = (0..shown).find(|at| self.session.row_at(*at).is_some_and(|row| self.session.number(row) == number));
        match at {
            Some(at) => self.go(at),
            None => self.say(format!("row {number} is not shown")),
        }
    }
}
