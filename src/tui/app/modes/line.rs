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

/// A line being typed.
#[derive(Debug)]
pub(crate) struct LineEdit {
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
    /// Whether no row shown matches what is being searched for.
    pub no_match: bool,
    /// Where the cursor was.
    pub(in crate::tui::app) from: u32,
    /// Whether it was on the screen.
    pub(super) drawn: bool,
    /// Which preview counts.
    ticket: u64,
    /// The row that it is about, whatever is marked.
    about: Option<RowId>,
    /// What was shown before, for Esc.
    before: ViewSpec,
    /// What is in the folder of the path that is being typed.
    listing: Option<Listing>,
}

impl LineEdit {
    /// A line with this text, for the rows that the screen is about, or for one row.
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
            before: shared.session.view().spec().clone(),
            listing: None,
        });
        edit.changed(shared);
        edit
    }

    /// Who asks, for commands without a scope.
    fn default_scope(&self, shared: &Shared) -> DefaultScope {
        self.about.map_or_else(|| shared.default_scope(), DefaultScope::Row)
    }

    /// Takes a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        // A walk through the preview's samples, as long as there is nothing to recall.
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

    /// Puts the next proposal in. False if there is none.
    fn complete(&mut self, shared: &mut Shared, back: bool) -> bool {
        if self.prompt.completion.is_none() {
            self.prompt.completion = self.completion(shared);
        }
        if !self.prompt.complete(back) {
            return false;
        }
        let kept = self.prompt.completion.take();
        self.changed(shared);
        // A folder that was the only proposal is gone into: what is in it comes next.
        let is_folder = |kept: &Completion| kept.candidates.len() == 1 && kept.candidates[0].text.ends_with('/');
        if !kept.as_ref().is_some_and(is_folder) {
            self.prompt.completion = kept;
        }
        true
    }

    /// Text from the terminal goes in. True if its line breaks became blanks.
    pub(in crate::tui::app) fn paste(&mut self, text: &str, shared: &mut Shared) -> bool {
        let folded = self.prompt.paste(text);
        self.changed(shared);
        folded
    }

    /// The text is another now: what it means, and what the table and the preview show.
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
            // What may become the name of a field is not looked for as a word yet.
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
                self.ticket = shared.ask_preview(command, self.default_scope(shared));
            }
            _ => {}
        }
    }

    /// A preview has come; it is taken if it is the one that was asked for last.
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

    /// Asks for the names in the folder that is being typed, unless they are known.
    fn request_listing(&mut self, shared: &mut Shared) {
        if self.purpose != Purpose::Command {
            return;
        }
        let Some(folder) = folder_of(&self.prompt) else {
            // The next path that is typed sees what is there then.
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

    /// The names have come: they are proposed, unless something else is being typed by now.
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

    /// Esc: everything is as it was before.
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

    /// Enter.
    fn accept(&self, shared: &mut Shared) -> Next {
        match self.parsed.clone() {
            None if self.purpose == Purpose::Filter => {
                view::show_view(shared, ViewSpec { filter: None, ..self.before.clone() });
            }
            None => self.drop_typed(shared),
            Some(Err(error)) => {
                // The place stays marked; only the words are reported once more.
                shared.fail(error.message);
                return Next::Stay;
            }
            Some(Ok(Command::SetBaseUrl(url))) if self.purpose == Purpose::Base => {
                if let Some(words) = files::base_url_error(&url) {
                    shared.fail(words);
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
                // The table is there already, or on its way, but for a word that might have become a name.
                if filter.as_ref().map(ToString::to_string) != shown {
                    view::show_view(shared, ViewSpec { filter, ..self.before.clone() });
                }
            }
            (Purpose::Search, Command::Search(query)) => {
                search::search(shared, query.clone(), self.from, true, true);
                shared.wanted.query = Some(query);
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
