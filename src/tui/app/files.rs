//! Opening and leaving, and the questions that come with them.

use super::super::jobs::Kind;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::{App, JobOutcome, Mode, save};
use crate::check::rule::Rule;
use crate::files::journal::{LockedByOther, StateSlot};
use crate::files::{self, Error, Loaded, Options, Reason, Side};
use crate::progress::Progress;
use crate::protocol::lastmod::{self, Now};
use crate::session::load::Loader;
use crate::words::counted;
use crossterm::event::{KeyCode, KeyEvent};
use std::path::PathBuf;

/// Changes of an earlier session that are shown by name.
const MOST_LEFT: usize = 12;

/// What to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A file or an index.
    Path(PathBuf),
    /// Several files as one set without an index.
    Paths(Vec<PathBuf>),
    /// The bundled sample set.
    Sample,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Go back to the table.
    Stay,
    /// Save, then leave.
    SaveAndQuit,
    /// Leave without saving.
    Discard,
    /// Make a new sitemap at this path.
    Create(PathBuf),
    /// Create this folder, and go on with the save that needs it.
    CreateFolder(PathBuf),
    /// Leave with this exit status.
    Leave(u8),
    /// Take a side of the merge conflict that is asked about.
    Resolve {
        /// Which.
        side: Side,
        /// Whether that is the answer to all conflicts after it, too.
        remaining: bool,
    },
    /// Show all lines of the merge conflict first.
    LookAtConflict,
    /// Write what the plan says.
    Write,
    /// Look at the difference of each file first.
    Differences,
    /// Merge what others wrote with what was changed here.
    Merge,
    /// Read the files again.
    Reload,
    /// Read the files again, whatever is unsaved.
    DiscardAndReload,
    /// Write what is here over what others wrote; at once if a save waits for that.
    KeepOurs(bool),
    /// Ask for another name to save to.
    SaveElsewhere,
    /// Do again what an earlier session left unsaved.
    Replay,
    /// Leave that alone, and change nothing meanwhile.
    Later,
    /// Give it up.
    DropLeft,
}

/// A question.
#[derive(Debug)]
pub struct Ask {
    /// What is asked.
    pub title: Words,
    /// What it is about.
    pub lines: Vec<Line>,
    /// Keys, what they do in words, and what happens. The first is what Enter does.
    pub answers: Vec<(char, &'static str, Answer)>,
    /// Lines scrolled away.
    pub top: usize,
    /// Whether it was on the screen.
    pub(super) drawn: bool,
}

impl Ask {
    pub(super) const fn new(title: Words, lines: Vec<Line>, answers: Vec<(char, &'static str, Answer)>) -> Self {
        Self { title, lines, answers, top: 0, drawn: false }
    }
}

impl App {
    /// Begins: asks for the load.
    pub fn start(&mut self, start: Start, options: Options) -> Vec<super::Effect> {
        self.options = options.clone();
        self.grid.forget_widths();
        self.started = Some(start.clone());
        let loader = self.session.loader(options);
        self.opening = match &start {
            Start::Path(path) => Some(path.clone()),
            Start::Paths(paths) => paths.first().cloned(),
            Start::Sample => None,
        };
        if let Some(path) = self.opening.clone() {
            let options = self.options.clone();
            let work = move |_: &Progress, _: &dyn Fn(_)| {
                JobOutcome::Beginning(files::first_rows(&path, &options, files::LARGE))
            };
            self.spawn(Kind::Read, Box::new(work));
        }
        self.spawn(
            Kind::Load,
            Box::new(move |progress: &Progress, part: &dyn Fn(_)| {
                let load = |loader: &Loader| match &start {
                    Start::Path(path) => loader.load(path, progress, &mut |one| part(one)),
                    Start::Paths(paths) => loader.load_all(paths, progress, &mut |one| part(one)),
                    Start::Sample => Ok(loader.sample(&mut |one| part(one))),
                };
                JobOutcome::Loaded(match load(&loader) {
                    // No part was delivered yet. It can be looked at, and the reason is in the way of any change.
                    Err(error) if matches!(error.reason, Reason::Interrupted(_) | Reason::Saving) => {
                        load(&loader.reading_only())
                    }
                    loaded => loaded,
                })
            }),
        );
        std::mem::take(&mut self.effects)
    }

    pub(super) fn loaded(&mut self, result: Result<Loaded, Error>) {
        self.beginning = Vec::new();
        match result {
            Ok(loaded) => {
                let (stopped, sample) = (loaded.stopped, loaded.path.is_none());
                let mut loaded = loaded;
                let state_slot = loaded.state_slot.take();
                self.session.finish(loaded);
                self.follow();
                if let Some(spec) = self.spec_after_load.take() {
                    self.show_view(spec);
                }
                let files::Recovered { finished, pending } = self.session.recovered().clone();
                if let Some(pending) = pending {
                    let words = pending.to_string();
                    if self.session.read_only().is_none() {
                        self.session.set_read_only("an interrupted save is pending");
                    }
                    self.fail(words);
                } else if let [first, rest @ ..] = self.session.unread() {
                    let rest = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
                    let words = format!("not read: {first}{rest}");
                    self.fail(words);
                } else if let Some(finished) = finished {
                    self.say(finished.to_string());
                } else if stopped {
                    self.say("loading was stopped: what was read can be viewed, not changed");
                } else if let Some(feed) = self.session.feed() {
                    self.say(format!("{}, read as a sitemap; :write NAME.xml saves it as one", feed.name()));
                } else if let Some(words) = self.session.set_aside() {
                    self.say(words);
                } else if self.session.document().lists_sitemaps() {
                    let count = counted(u64::from(self.session.urls()), "sitemap");
                    self.say(format!("an index of {count}, none of them here: its entries can be edited"));
                } else if sample {
                    self.say("a sample set to try things on; nothing of it is on your disk");
                }
                if let Some(state_slot) = state_slot {
                    self.keep(state_slot);
                }
                if self.session.has_conflicts() {
                    self.ask_side();
                } else if self.session.rule_counts().iter().any(|(rule, _)| *rule == Rule::MERGE_CONFLICT) {
                    // It was answered just now: the next save writes it.
                    self.accept_side();
                }
            }
            Err(error) if error.is_missing() && !error.is_folder_missing() => {
                let path = error.path.clone();
                self.mode = Mode::Ask(Box::new(Ask::new(
                    Words::text(format!("{} does not exist", path.display())),
                    vec![Words::text("A new sitemap of that name can be made; it is written when you save.").into()],
                    vec![('c', "create it", Answer::Create(path)), ('q', "leave", Answer::Leave(3))],
                )));
            }
            Err(error) if matches!(error.reason, Reason::Conflicts(_)) => {
                self.conflicts_refused(&error);
            }
            Err(error) => {
                let mut lines = vec![Line::from(Words::text(error.to_string()))];
                if let Some(hint) = error.hint() {
                    lines.push(Words::dim(hint).into());
                }
                self.mode = Mode::Ask(Box::new(Ask::new(
                    Words::new().and(Role::Error, "this cannot be opened"),
                    lines,
                    vec![('q', "leave", Answer::Leave(3))],
                )));
            }
        }
    }

    /// Begins to keep what is changed, and asks about what an earlier session left unsaved.
    fn keep(&mut self, state_slot: Result<StateSlot, LockedByOther>) {
        let state_slot = match state_slot {
            Ok(state_slot) => state_slot,
            Err(held) => {
                self.session.set_read_only(held.to_string());
                return self.fail(format!("{held}; it can be read here, not changed"));
            }
        };
        // Nothing can be changed, so nothing is kept, and what was left waits for another time.
        if self.session.read_only().is_some() {
            return;
        }
        if let Some((count, path)) = self.session.waiting_elsewhere(&state_slot) {
            return self.say_waiting(count, &path);
        }
        let (left, words) = self.session.keep(state_slot);
        let Some(left) = left else {
            if let Some(words) = words {
                // One line of the footer has no room for a path.
                let path = self.session.path().map_or_else(|| "PATH".to_owned(), |path| path.display().to_string());
                let recover = format!("sited recover {path} shows what it holds.");
                let lines = vec![Words::text(words).into(), Words::dim(recover).into()];
                let title = Words::new().and(Role::Warning, "unsaved changes of an earlier session");
                self.mode = Mode::Ask(Box::new(Ask::new(title, lines, vec![('k', "go on", Answer::Stay)])));
            }
            return;
        };
        if let Some(words) = words {
            self.fail(words);
        }
        let mut lines: Vec<Line> = vec![
            Words::dim(format!(
                "Made on {} and not saved; the files have not changed since.",
                self.date_and_time(left.begun)
            ))
            .into(),
        ];
        if left.is_cut {
            lines.push(Words::dim("The last one is incomplete: it was being written when the session ended.").into());
        }
        let gaps = left.missing().lines();
        let more = gaps.len().saturating_sub(MOST_LEFT);
        lines.extend(gaps.into_iter().take(MOST_LEFT).map(|text| Line::from(Words::new().and(Role::Warning, text))));
        if more > 0 {
            lines.push(Words::dim(format!("  … {more} more; sited recover lists them")).into());
        }
        let shown = left.labels.len().saturating_sub(MOST_LEFT);
        if shown > 0 {
            lines.push(Words::dim(format!("  … {shown} before these")).into());
        }
        lines.extend(left.labels.iter().skip(shown).map(|label| Line::from(Words::text(format!("  {label}")))));
        let title = format!("{} of an earlier session", counted(left.labels.len() as u64, "unsaved change"));
        self.left = Some(left);
        self.mode = Mode::Ask(Box::new(Ask::new(
            Words::text(title),
            lines,
            vec![
                ('r', "replay them", Answer::Replay),
                ('l', "leave them for later", Answer::Later),
                ('D', "discard them", Answer::DropLeft),
            ],
        )));
    }

    /// Changes of these files wait where they were open as another set. Saved from here, they could not be replayed.
    fn say_waiting(&mut self, count: usize, path: &str) {
        let words = format!("an earlier session left {} to it", counted(count as u64, "unsaved change"));
        self.session.set_read_only(format!("{words}; open {path}"));
        let line = |text: &str| Line::from(Words::text(text.to_owned()));
        self.mode = Mode::Ask(Box::new(Ask::new(
            Words::text(words),
            vec![
                line("It was open by another path then. Open that: it shows the changes and asks."),
                Line::from(Words::new().and(Role::Accent, format!("  sited {path}"))),
                Words::dim("Until then these files can be read here, not changed.").into(),
            ],
            vec![('r', "read only", Answer::Stay), ('q', "leave", Answer::Leave(0))],
        )));
    }

    /// A moment as a date with a time, in the zone of the clock.
    fn date_and_time(&self, seconds: i64) -> String {
        let now = Now { seconds, ..self.session.view().clock };
        lastmod::parse_input("now", None, now).ok().flatten().unwrap_or_default()
    }

    fn replay(&mut self) {
        let Some(left) = self.left.take() else { return };
        let kept = if left.missing().is_empty() { "" } else { "; the damaged journal is kept: sited recover shows it" };
        match self.session.replay(left) {
            Ok(steps) => self.say(format!("{} replayed; u takes them back{kept}", counted(steps as u64, "change"))),
            Err(refused) => self.fail(format!("some changes could not be replayed: {}", refused.0)),
        }
        self.follow();
    }

    /// Leaves; asks when something would be lost.
    pub(super) fn quit(&mut self, discard: bool) {
        let is_saving = self.plan_wanted.as_ref().is_some_and(save::PlanRequest::is_save) || self.is_busy(Kind::Save);
        if is_saving && !discard {
            self.leave_after_save = true;
            return self.say("leaving when the save is done");
        }
        if discard || !self.session.is_modified() {
            return self.leave();
        }
        let changed = match u64::from(self.session.changed()) {
            // The rows are as they were: what is new is where they stand.
            0 => "the new order of the rows is".to_owned(),
            rows => counted(rows, "changed row"),
        };
        self.mode = Mode::Ask(Box::new(Ask::new(
            Words::text(format!("{changed} not saved")),
            vec![Words::text("Leaving now would lose them.").into()],
            vec![
                ('k', "keep editing", Answer::Stay),
                ('s', "save and quit", Answer::SaveAndQuit),
                ('D', "discard and quit", Answer::Discard),
            ],
        )));
    }

    /// Leaves as it should be: nothing is kept that anybody could want back.
    fn leave(&mut self) {
        self.session.forget_unsaved();
        self.quit_now(0);
    }

    pub(super) fn save_and_quit(&mut self) {
        self.leave_after_save = true;
        self.save(None, false);
    }

    pub(super) fn ask_key(&mut self, mut ask: Box<Ask>, key: KeyEvent) {
        let first = ask.answers.first().map(|(_, _, answer)| answer.clone());
        let leaves = ask.answers.iter().all(|(.., answer)| matches!(answer, Answer::Leave(_) | Answer::Create(_)));
        match key.code {
            KeyCode::Enter => return self.answer_ask(ask, first.unwrap_or(Answer::Stay)),
            // There is nothing to go back to where nothing was opened.
            KeyCode::Esc if leaves => return self.answer(Answer::Leave(3)),
            // Without an answer nothing is open: our side is shown again.
            KeyCode::Esc if first == Some(Answer::DiscardAndReload) => return self.answer(Answer::DiscardAndReload),
            // Unasked, nothing is replayed and nothing given up.
            KeyCode::Esc if self.left.is_some() => return self.answer(Answer::Later),
            KeyCode::Esc => return self.answer(Answer::Stay),
            KeyCode::Char(letter) => {
                let find = |letter| ask.answers.iter().find(|(own, ..)| *own == letter);
                // Of the last conflict, the answer for all remaining is the answer for this one.
                let of_last = || self.is_resolving().then(|| find(letter.to_ascii_lowercase())).flatten();
                if let Some((.., answer)) = find(letter).or_else(of_last) {
                    let answer = answer.clone();
                    return self.answer_ask(ask, answer);
                }
            }
            KeyCode::Down => ask.top += 1,
            KeyCode::Up => ask.top = ask.top.saturating_sub(1),
            _ => {}
        }
        self.mode = Mode::Ask(ask);
    }

    fn answer_ask(&mut self, ask: Box<Ask>, answer: Answer) {
        match answer {
            Answer::Differences => self.open_diffs(ask),
            Answer::LookAtConflict => self.look_at_conflict(ask),
            answer => self.answer(answer),
        }
    }

    fn answer(&mut self, answer: Answer) {
        match answer {
            // They lead back to the question that they are an answer to.
            Answer::Differences | Answer::LookAtConflict => {}
            Answer::Stay => {
                if self.resolving.take().is_some() {
                    self.say("no merge conflict was resolved; :edit asks again");
                }
                self.leave_after_save = false;
                (self.waiting, self.plan, self.new_folder) = (None, None, None);
            }
            Answer::SaveAndQuit => self.save_and_quit(),
            Answer::Discard => self.leave(),
            Answer::Create(path) => {
                let state_slot = StateSlot::wanted(&self.options, std::slice::from_ref(&path));
                self.session.start_new(path);
                if let Some(state_slot) = state_slot {
                    self.keep(state_slot);
                }
                self.follow();
                self.say("a new sitemap; o adds its first URL");
            }
            Answer::CreateFolder(folder) => self.create_folder(folder),
            Answer::Leave(status) => self.quit_now(status),
            Answer::Write => self.write_waiting(),
            Answer::Merge => self.compare(),
            Answer::Resolve { side, remaining } => self.resolve_conflict(side, remaining),
            Answer::Reload => self.reload_outside(),
            Answer::DiscardAndReload => self.reload(true),
            Answer::KeepOurs(saving) => self.keep_ours(saving),
            Answer::SaveElsewhere => self.save_elsewhere(),
            Answer::Replay => self.replay(),
            Answer::Later => {
                self.left = None;
                self.session.set_read_only("unsaved changes of an earlier session are waiting");
                self.say("changes kept for later; the set is read-only");
            }
            Answer::DropLeft => {
                if let Some(left) = self.left.take() {
                    self.session.drop_left(left);
                }
            }
        }
    }
}
