//! Loading, saving, leaving, and the questions that come with them.

use super::super::jobs::Kind;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::{App, Mode, Outcome};
use crate::files::{Error, Loaded, Options};
use crate::progress::Progress;
use crate::words::counted;
use crossterm::event::{KeyCode, KeyEvent};
use std::path::PathBuf;

/// What to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A file or an index.
    Path(PathBuf),
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
    /// Leave with this exit status.
    Leave(u8),
    /// Write what the plan says.
    Write,
    /// Write over files that changed since they were read.
    Overwrite,
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
}

impl App {
    /// Begins: asks for the load.
    pub fn start(&mut self, start: Start, options: Options) -> Vec<super::Effect> {
        self.options = options.clone();
        let loader = self.session.loader(options);
        if let Start::Path(path) = &start {
            self.opening = Some(path.clone());
        }
        self.spawn(
            Kind::Load,
            Box::new(move |progress: &Progress, part: &dyn Fn(_)| {
                Outcome::Loaded(match &start {
                    Start::Path(path) => loader.load(path, progress, &mut |one| part(one)),
                    Start::Sample => Ok(loader.sample(&mut |one| part(one))),
                })
            }),
        );
        std::mem::take(&mut self.effects)
    }

    pub(super) fn loaded(&mut self, result: Result<Loaded, Error>) {
        match result {
            Ok(loaded) => {
                let (stopped, sample) = (loaded.stopped, loaded.path.is_none());
                self.session.finish(loaded);
                self.follow();
                if let Some(spec) = self.spec_after_load.take() {
                    self.show_view(spec);
                }
                let recovered = self.session.recovered();
                if let Some(words) = recovered {
                    self.say(words);
                } else if stopped {
                    self.say("loading was stopped: what is here can be read, not changed");
                } else if sample {
                    self.say("a sample set to try things on; nothing of it is on your disk");
                }
            }
            Err(error) if error.is_missing() && !error.is_folder_missing() => {
                let path = error.path.clone();
                self.mode = Mode::Ask(Box::new(Ask {
                    title: Words::text(format!("{} does not exist", path.display())),
                    lines: vec![
                        Words::text("A new sitemap of that name can be made; it is written when you save.").into(),
                    ],
                    answers: vec![('c', "create it", Answer::Create(path)), ('q', "leave", Answer::Leave(3))],
                    top: 0,
                }));
            }
            Err(error) => {
                let mut lines = vec![Line::from(Words::text(error.to_string()))];
                if let Some(hint) = error.hint() {
                    lines.push(Words::dim(hint).into());
                }
                self.mode = Mode::Ask(Box::new(Ask {
                    title: Words::new().and(Role::Error, "this cannot be opened"),
                    lines,
                    answers: vec![('q', "leave", Answer::Leave(3))],
                    top: 0,
                }));
            }
        }
    }

    /// Leaves; asks when something would be lost.
    pub(super) fn quit(&mut self, discard: bool) {
        if self.is_busy(Kind::Save) {
            self.leave_after_save = true;
            return self.say("leaving when the save is done");
        }
        if discard || !self.session.is_modified() {
            return self.quit_now(0);
        }
        let changed = match u64::from(self.session.changed()) {
            // The rows are as they were: what is new is where they stand.
            0 => "the new order of the rows is".to_owned(),
            rows => counted(rows, "changed row"),
        };
        self.mode = Mode::Ask(Box::new(Ask {
            title: Words::text(format!("{changed} not saved")),
            lines: vec![Words::text("Leaving now would lose that.").into()],
            answers: vec![
                ('k', "keep editing", Answer::Stay),
                ('s', "save and leave", Answer::SaveAndQuit),
                ('D', "discard and leave", Answer::Discard),
            ],
            top: 0,
        }));
    }

    pub(super) fn save_and_quit(&mut self) {
        self.leave_after_save = true;
        self.save(None, false);
    }

    pub(super) fn ask_key(&mut self, mut ask: Box<Ask>, key: KeyEvent) {
        let first = ask.answers.first().map(|(_, _, answer)| answer.clone());
        let leaves = ask.answers.iter().all(|(.., answer)| matches!(answer, Answer::Leave(_) | Answer::Create(_)));
        match key.code {
            KeyCode::Enter => return self.answer(first.unwrap_or(Answer::Stay)),
            // There is nothing to go back to where nothing was opened.
            KeyCode::Esc if leaves => return self.answer(Answer::Leave(3)),
            KeyCode::Esc => return self.answer(Answer::Stay),
            KeyCode::Char(letter) => {
                if let Some((.., answer)) = ask.answers.iter().find(|(own, ..)| *own == letter) {
                    return self.answer(answer.clone());
                }
            }
            KeyCode::Down => ask.top += 1,
            KeyCode::Up => ask.top = ask.top.saturating_sub(1),
            _ => {}
        }
        self.mode = Mode::Ask(ask);
    }

    fn answer(&mut self, answer: Answer) {
        match answer {
            Answer::Stay => {
                self.leave_after_save = false;
                self.waiting = None;
            }
            Answer::SaveAndQuit => self.save_and_quit(),
            Answer::Discard => self.quit_now(0),
            Answer::Create(path) => {
                self.session.start_new(path);
                self.follow();
                self.say("a new sitemap; o adds its first URL");
            }
            Answer::Leave(status) => self.quit_now(status),
            Answer::Write => self.write_waiting(),
            Answer::Overwrite => self.save(None, true),
        }
    }
}
