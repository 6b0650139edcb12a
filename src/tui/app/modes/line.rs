//! The `:` line and the prompts for queries: completion, preview, Enter.

use super::super::operations::{search, view};
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::paths::{Listing, folder_of};
use super::super::state::preview::Preview;
use super::super::state::recent::Purpose;
use super::super::state::request::{Next, Request};
use crate::document::rows::RowId;
use crate::document::view::ViewSpec;
use crate::files;
use crate::session::command::{Command, CommandError, completions, parse};
use crate::session::edit::DefaultScope;
use crate::tui::jobs::Kind;
use crate::tui::prompt::{Candidate, Completion, Prompt, Reply};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::{Path, PathBuf};

/// The state of the line.
#[derive(Debug)]
pub(crate) struct LineEdit {
    /// The purpose of the line.
    pub purpose: Purpose,
    /// The text.
    pub prompt: Prompt,
    /// The parsed command; `None` while the line is empty.
    pub parsed: Option<Result<Command, CommandError>>,
    /// The preview of the command.
    pub preview: Option<Preview>,
    /// Number of samples of the preview that were scrolled past.
    pub top: usize,
    /// Whether no shown row matches the searched query.
    pub no_match: bool,
    /// The position of the cursor when the line was opened.
    pub(in crate::tui::app) from: u32,
    /// Whether it was drawn.
    pub(super) drawn: bool,
    /// The ticket of the requested preview.
    ticket: u64,
    /// The only row that the command applies to, even if others are marked.
    about: Option<RowId>,
    /// The filter and sort keys to restore on Esc.
    before: ViewSpec,
    /// The content of the folder of the path that is being typed.
    listing: Option<Listing>,
}

impl LineEdit {
    /// A line with this text, for the marked rows or the one at the cursor, or only for `row`.
    pub(in crate::tui::app) fn new(
        shared: &mut Shared,
        purpose: Purpose,
        text: &str,
        about: Option<RowId>,
    ) -> Box<Self> {
        let mut edit = Box::new(Self {
            purpose,
            prompt: Prompt::new(text, shared.recent.lines.of(purpose)),
            parsed: None,
            preview: None,
            top: 0,
            no_match: false,
            from: shared.grid.position,
            drawn: false,
            ticket: 0,
            about,
            before: view::spec(shared).clone(),
            listing: None,
        });
        edit.changed(shared);
        edit
    }

    /// The rows for commands without a scope.
    fn default_scope(&self, shared: &Shared) -> DefaultScope {
        self.about.map_or_else(|| shared.default_scope(), DefaultScope::Row)
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        // Arrow keys scroll the samples of the preview unless they recall lines.
        match self.prompt.press(key) {
            Reply::Changed => {
                self.changed(shared);
                return Next::Stay;
            }
            Reply::Moved => {}
            Reply::Accept => return self.accept(shared),
            Reply::Drop => {
                self.drop_typed(shared);
                return Next::CloseAll;
            }
            Reply::Tab(back) => {
                if self.complete(shared, back) {
                    return Next::Stay;
                }
            }
            Reply::Down => self.top = self.top.saturating_add(1),
            Reply::Up => self.top = self.top.saturating_sub(1),
            Reply::Unknown => match key.code {
                KeyCode::PageDown => self.top = self.top.saturating_add(5),
                KeyCode::PageUp => self.top = self.top.saturating_sub(5),
                KeyCode::Char('s') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    shared.show_note("Enter applies the line first; then ^S saves");
                }
                _ => {}
            },
        }
        let samples = self.preview.as_ref().and_then(|preview| preview.intent.as_ref()).and_then(|i| i.as_ref().ok());
        self.top = self.top.min(samples.map_or(0, |intent| intent.samples.len().saturating_sub(1)));
        Next::Stay
    }

    /// Inserts the next candidate. False if there is none.
    fn complete(&mut self, shared: &mut Shared, back: bool) -> bool {
        if self.prompt.completion.is_none() {
            self.prompt.completion = self.completion(shared);
        }
        if !self.prompt.complete(back) {
            return false;
        }
        let completion = self.prompt.completion.take();
        self.changed(shared);
        // If the only candidate is a folder, the next completion lists its content.
        let is_folder = |one: &Completion| one.candidates.len() == 1 && one.candidates[0].text.ends_with('/');
        if !completion.as_ref().is_some_and(is_folder) {
            self.prompt.completion = completion;
        }
        true
    }

    /// Inserts pasted text. True if line breaks were replaced by blanks.
    pub(in crate::tui::app) fn paste(&mut self, text: &str, shared: &mut Shared) -> bool {
        let folded = self.prompt.paste(text);
        self.changed(shared);
        folded
    }

    /// Parses the changed text, and updates the table or requests the preview.
    fn changed(&mut self, shared: &mut Shared) {
        let text = self.prompt.text().to_owned();
        let line = format!("{}{text}", self.purpose.prefix());
        self.top = 0;
        self.no_match = false;
        self.preview = None;
        self.parsed = (!text.trim().is_empty()).then(|| parse(&line, &shared.session.view().vocabulary()));
        self.prompt.completion = self.completion(shared);
        let half = self.prompt.completion.as_ref().is_some_and(|found| {
            text.get(found.from..)
                .is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
        });
        self.request_listing(shared);
        let before = self.before.clone();
        let from = self.from;
        let command = self.parsed.as_ref().and_then(|parsed| parsed.as_ref().ok()).cloned();
        match (self.purpose, command) {
            // The beginning of a field name is not searched as a word yet.
            (Purpose::Filter, Some(_)) if half => {}
            (Purpose::Search, Some(_)) if half => shared.grid.go(&shared.session, from),
            (Purpose::Filter, Some(Command::Filter(filter))) => {
                view::show_view(shared, ViewSpec { filter, ..before });
            }
            (Purpose::Filter, None) if text.trim().is_empty() => {
                view::show_view(shared, ViewSpec { filter: None, ..before });
            }
            (Purpose::Search, Some(Command::Search(query))) => search::search(shared, query, from, true, true),
            (Purpose::Search, _) => shared.grid.go(&shared.session, from),
            (Purpose::Command | Purpose::Mark | Purpose::Unmark, Some(command)) => {
                self.ticket = shared.request_preview(command, self.default_scope(shared));
            }
            _ => {}
        }
    }

    /// Receives a preview, if it is the one requested last.
    pub(in crate::tui::app) fn take_preview(&mut self, ticket: u64, preview: Preview) {
        if self.ticket == ticket {
            self.preview = Some(preview);
        }
    }

    fn completion(&self, shared: &Shared) -> Option<Completion> {
        let listing = self.listing.as_ref().filter(|_| self.purpose == Purpose::Command);
        if let Some(paths) = listing.and_then(|listing| listing.complete(&self.prompt)) {
            return Some(paths);
        }
        let prefix = self.purpose.prefix();
        let line = format!("{prefix}{}", self.prompt.text());
        let found = completions(&line, prefix.len() + self.prompt.caret(), &shared.session.view().vocabulary());
        let from = found.from.checked_sub(prefix.len())?;
        let candidates: Vec<Candidate> =
            found.items.into_iter().map(|item| Candidate { text: item.text, hint: item.about.to_owned() }).collect();
        (!candidates.is_empty()).then_some(Completion { from, candidates, chosen: None })
    }

    /// Requests the names in the folder that is being typed, unless they are listed.
    fn request_listing(&mut self, shared: &mut Shared) {
        if self.purpose != Purpose::Command {
            return;
        }
        let Some(folder) = folder_of(&self.prompt) else {
            // The folder is listed again for the next path.
            self.listing = None;
            return;
        };
        if self.listing.as_ref().is_some_and(|listing| listing.folder == folder) {
            return;
        }
        let folder = folder.to_owned();
        self.listing = Some(Listing { folder: folder.clone(), names: Vec::new() });
        let path = if folder.is_empty() { PathBuf::from(".") } else { Path::new(&folder).to_path_buf() };
        shared.jobs.run(Kind::List, false, move |_| {
            let names = files::names_in(&path);
            JobOutcome::Listed(Listing { folder, names })
        });
    }

    /// Receives the names and proposes them, unless another path is being typed.
    pub(in crate::tui::app) fn take_listing(&mut self, listing: Listing, shared: &Shared) {
        if self.listing.as_ref().is_none_or(|wanted| wanted.folder != listing.folder) {
            return;
        }
        self.listing = Some(listing);
        let is_walked = self.prompt.completion.as_ref().is_some_and(|found| found.chosen.is_some());
        let is_path = self.listing.as_ref().is_some_and(|listing| listing.complete(&self.prompt).is_some());
        if is_path && !is_walked {
            self.prompt.completion = self.completion(shared);
        }
    }

    /// Esc: restores the view and the cursor.
    fn drop_typed(&self, shared: &mut Shared) {
        match self.purpose {
            Purpose::Filter => view::show_view(shared, self.before.clone()),
            Purpose::Search => shared.grid.go(&shared.session, self.from),
            Purpose::Base => {
                shared.save.waiting = None;
                shared.save.then_leave = false;
            }
            Purpose::Command | Purpose::Mark | Purpose::Unmark => {}
        }
    }

    /// Enter: executes the line.
    fn accept(&self, shared: &mut Shared) -> Next {
        match self.parsed.clone() {
            None if self.purpose == Purpose::Filter => {
                view::show_view(shared, ViewSpec { filter: None, ..self.before.clone() });
            }
            None => self.drop_typed(shared),
            Some(Err(error)) => {
                // The error stays underlined; its message is shown again.
                shared.show_error(error.message);
                return Next::Stay;
            }
            Some(Ok(Command::SetBaseUrl(url))) if self.purpose == Purpose::Base => {
                if let Some(words) = files::base_url_error(&url) {
                    shared.show_error(words);
                    return Next::Stay;
                }
                shared.recent.lines.keep(self.purpose, self.prompt.text());
                shared.request(Request::SetBase(url));
            }
            Some(Ok(command)) => {
                shared.recent.lines.keep(self.purpose, self.prompt.text());
                self.execute(command, shared);
            }
        }
        Next::CloseAll
    }

    fn execute(&self, command: Command, shared: &mut Shared) {
        match (self.purpose, command) {
            (Purpose::Filter, Command::Filter(filter)) => {
                let shown = view::spec(shared).filter.as_ref().map(ToString::to_string);
                // The view is shown or requested already, except for a word that might have become a field name.
                if filter.as_ref().map(ToString::to_string) != shown {
                    view::show_view(shared, ViewSpec { filter, ..self.before.clone() });
                }
            }
            (Purpose::Search, Command::Search(query)) => {
                search::search(shared, query.clone(), self.from, true, true);
                shared.requested_rows.query = Some(query);
            }
            (_, command) => {
                shared.recent.keep_command(&command);
                if matches!(command, Command::Set { .. } | Command::Replace { .. }) {
                    shared.recent.bulk = Some(self.prompt.text().to_owned());
                }
                shared.request(Request::Execute(command, self.default_scope(shared)));
            }
        }
    }
}
