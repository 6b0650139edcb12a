//! Asks about merge conflicts one after the other. Nothing is resolved before the last answer.

use super::super::jobs::Kind;
use super::super::text::Charset;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::files::{Answer, Ask};
use super::inspect::folded;
use super::list::{Choice, List, ListKind};
use super::{App, JobOutcome, Mode};
use crate::check::rule::Rule;
use crate::files::{self, Answers, Conflicts, Error, MergeConflict, Side};
use crate::progress::Progress;
use crate::session::command::{Command, Scope};
use crate::session::run::Asker;
use crate::words::{counted, grouped};
use std::sync::Arc;

/// Lines of each side that the question shows.
const LINES: usize = 4;

/// Conflicts that are being answered.
#[derive(Debug)]
pub struct Resolving {
    /// All of the set.
    conflicts: Vec<MergeConflict>,
    /// The answers to the first of them.
    answers: Vec<Side>,
}

impl Resolving {
    fn asked(&self) -> Option<&MergeConflict> {
        self.conflicts.get(self.answers.len())
    }

    fn remaining(&self) -> &[MergeConflict] {
        self.conflicts.get(self.answers.len()..).unwrap_or_default()
    }

    /// The question about the next conflict.
    fn question(&self, charset: Charset, width: usize) -> Option<Ask> {
        let conflict = self.asked()?;
        let (from, to) = conflict.lines;
        let (number, count) = (self.answers.len() + 1, self.conflicts.len());
        let name = conflict.path.file_name().unwrap_or(conflict.path.as_os_str()).to_string_lossy();
        let title = format!(
            "merge conflict {} of {}: {name}, lines {}–{}",
            grouped(number as u64),
            grouped(count as u64),
            grouped(from),
            grouped(to)
        );
        let mut lines = sides(conflict, charset, (width, LINES));
        if let Some(why) = conflict.no_both {
            lines.push(Words::dim(format!("Keeping both is not possible: {why}.")).into());
        }
        lines.push(Words::dim("The file on disk stays as it is until you save.").into());
        let both = conflict.no_both.is_none();
        let mut answers = vec![
            ('l', "look at all lines", Answer::LookAtConflict),
            ('o', "ours", Answer::Resolve { side: Side::Ours, remaining: false }),
            ('t', "theirs", Answer::Resolve { side: Side::Theirs, remaining: false }),
        ];
        if both {
            answers.push(('b', "both", Answer::Resolve { side: Side::Both, remaining: false }));
        }
        if self.remaining().len() > 1 {
            answers.push(('O', "ours for all remaining", Answer::Resolve { side: Side::Ours, remaining: true }));
            answers.push(('T', "theirs for all remaining", Answer::Resolve { side: Side::Theirs, remaining: true }));
            if self.remaining().iter().all(|one| one.no_both.is_none()) {
                answers.push(('B', "both for all remaining", Answer::Resolve { side: Side::Both, remaining: true }));
            }
        }
        Some(Ask::new(Words::new().and(Role::Error, title), lines, answers))
    }
}

/// The lines of both sides, at most so many of each.
fn sides(conflict: &MergeConflict, charset: Charset, (width, most): (usize, usize)) -> Vec<Line> {
    let mut lines = Vec::new();
    let named = ["ours", "theirs"].into_iter().zip(&conflict.names).zip([&conflict.ours, &conflict.theirs]);
    for ((side, name), text) in named {
        let title = if name.is_empty() { side.to_owned() } else { format!("{side} ({name})") };
        let count = text.lines().count();
        let words = Words::new().and(Role::Bold, title);
        lines.push(Line::from(if count == 0 { words.and(Role::Dim, ": no lines") } else { words }));
        for line in text.lines().take(most) {
            let words = folded(&Words::text(format!("  {line}")), charset, width);
            // In the question one line is one line.
            let shown = if most == LINES { 1 } else { words.len() };
            lines.extend(words.into_iter().take(shown).map(Line::from));
        }
        if count > most {
            lines.push(Words::dim(format!("  … {}", counted((count - most) as u64, "more line"))).into());
        }
    }
    lines
}

impl App {
    /// Whether merge conflicts are being asked about.
    pub(in crate::tui) const fn is_resolving(&self) -> bool {
        self.resolving.is_some()
    }

    /// Reads the conflicts of the files that have some, and asks about each.
    pub(super) fn ask_side(&mut self) {
        let (files, options) = (self.session.conflicted_files(), self.options.clone());
        let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| {
            JobOutcome::Conflicts(files::merge_conflicts(&files, &options, progress))
        });
        self.spawn(Kind::Preview, work);
    }

    pub(super) fn conflicts_read(&mut self, conflicts: Result<Vec<MergeConflict>, Error>) {
        // A fix from the list of rules returns to the list at once.
        let is_expected = match &self.mode {
            Mode::Grid | Mode::Detail => true,
            Mode::List(list) => list.kind == ListKind::Rules,
            _ => false,
        };
        if !self.session.has_conflicts() || !is_expected {
            return;
        }
        match conflicts {
            Ok(conflicts) => {
                self.resolving = Some(Resolving { conflicts, answers: Vec::new() });
                self.ask_conflict();
            }
            Err(error) => {
                self.mode = Mode::Ask(Box::new(Ask::new(
                    Words::new().and(Role::Error, "unresolved merge conflicts"),
                    vec![
                        Words::text(error.to_string()).into(),
                        Words::dim("Resolve it in a text editor; :edit reads the file again.").into(),
                    ],
                    vec![('l', "look at the file, read-only", Answer::Stay)],
                )));
            }
        }
    }

    fn ask_conflict(&mut self) {
        let width = self.list_width();
        let ask = self.resolving.as_ref().and_then(|asked| asked.question(self.theme.charset, width));
        if let Some(ask) = ask {
            self.mode = Mode::Ask(Box::new(ask));
        }
    }

    /// Takes an answer; after the last, reads the files as resolved.
    pub(super) fn resolve_conflict(&mut self, side: Side, remaining: bool) {
        let Some(resolving) = &mut self.resolving else { return };
        let count = if remaining { resolving.remaining().len() } else { 1 };
        resolving.answers.extend(std::iter::repeat_n(side, count));
        if resolving.asked().is_some() {
            return self.ask_conflict();
        }
        let Some(Resolving { conflicts, answers }) = self.resolving.take() else { return };
        let answers = Answers::each(conflicts.iter().zip(answers));
        self.options.conflicts = Conflicts::Take(Arc::new(answers));
        self.reload(true);
        self.options.conflicts = Conflicts::Show;
    }

    /// Shows all lines of the conflict that is asked about; the question waits below.
    pub(super) fn look_at_conflict(&mut self, ask: Box<Ask>) {
        let width = self.list_width();
        let Some(conflict) = self.resolving.as_ref().and_then(Resolving::asked) else { return };
        let lines = sides(conflict, self.theme.charset, (width, usize::MAX));
        self.under = Some(ask);
        self.mode =
            Mode::List(List::new(ListKind::Conflict, lines.into_iter().map(|line| (line, Choice::Read)).collect()));
    }

    /// Makes the answers to merge conflicts a change, which a save writes.
    pub(super) fn accept_side(&mut self) {
        let scope = Scope { shown: false, query: None };
        let command = Command::Fix { scope, rules: vec![Rule::MERGE_CONFLICT.code().to_owned()], answer: None };
        match self.session.run(&command, Asker::Headless) {
            Ok(_) => self.say("merge conflicts resolved; saving writes the result"),
            Err(refused) => self.fail(refused.to_string()),
        }
        self.follow();
    }

    /// The answers cannot be carried out: nothing is changed, and the questions begin again.
    pub(super) fn conflicts_refused(&mut self, error: &Error) {
        self.mode = Mode::Ask(Box::new(Ask::new(
            Words::new().and(Role::Error, "the merge conflicts cannot be resolved like this"),
            vec![Words::text(error.to_string()).into()],
            vec![('a', "answer again", Answer::DiscardAndReload), ('q', "leave", Answer::Leave(3))],
        )));
    }

    fn list_width(&self) -> usize {
        usize::from(self.size.0).saturating_sub(5).max(20)
    }
}
