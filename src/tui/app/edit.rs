//! Makes changes: directly or in a job, with undo, redo and repeat.

use super::super::command::Action;
use super::super::jobs::Kind;
use super::super::theme::Role;
use super::super::words::Words;
use super::{App, JobOutcome, Mode, large};
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::{Field, Severity};
use crate::session::change::{Change, Reach, Refused};
use crate::session::command::{Assignment, Command, Scope};
use crate::session::snapshot::Prepared;
use crate::session::{Report, SMALL};

/// The last change, for `.`.
#[derive(Debug, Clone)]
pub enum LastChange {
    /// An action of the table.
    Action(Action),
    /// A command, on the rows that are meant then.
    Command(Command),
}

impl App {
    /// Makes a change: at once if it is small, else by a job.
    pub(super) fn change(&mut self, change: Change) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        if change.size() <= SMALL && !large::is_changed_by(&self.session, &change) {
            let result = self.session.view().prepare(&change, &Progress::default());
            return self.edited(result);
        }
        let snapshot = self.session.snapshot();
        let work =
            Box::new(move |progress: &Progress, _: &dyn Fn(_)| JobOutcome::Edited(snapshot.prepare(&change, progress)));
        self.spawn(Kind::Edit, work);
    }

    /// Makes the change that a command asks for; its rows may have to be looked for first.
    pub(super) fn change_by(&mut self, command: Command) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let asker = self.asker();
        let work = move |snapshot: &crate::session::snapshot::Snapshot, progress: &Progress| {
            snapshot.prepare_command(&command, asker, progress)
        };
        let is_small = u64::from(self.session.document().row_limit()) <= SMALL;
        if is_small && !large::has_large_rows(&self.session) {
            let result = work(self.session.view(), &Progress::default());
            return self.edited(result);
        }
        let snapshot = self.session.snapshot();
        self.spawn(Kind::Edit, Box::new(move |progress, _| JobOutcome::Edited(work(&snapshot, progress))));
    }

    /// Whether the document can be changed now.
    pub(super) fn changeable(&self) -> Result<(), Refused> {
        self.session.writable()?;
        if self.is_busy(Kind::Edit) {
            return Err(Refused("the last change is still being applied; Esc stops it".into()));
        }
        Ok(())
    }

    pub(super) fn edited(&mut self, result: Result<Option<Prepared>, Refused>) {
        let committed = match result {
            Ok(Some(prepared)) => self.session.commit(prepared, self.grid.row),
            Ok(None) => return self.say("stopped; nothing was changed"),
            Err(refused) => Err(refused),
        };
        match committed {
            Ok(report) => self.reported(&report, true),
            Err(refused) => self.fail(refused.0),
        }
    }

    pub(super) fn reported(&mut self, report: &Report, fresh: bool) {
        let mut words = Words::text(report.message.clone());
        self.saved &= !report.changed;
        if fresh && report.changed {
            words.push(Role::Text, "   ");
            words.push(Role::Key, "u");
            words.push(Role::Dim, " undoes it");
        }
        self.say_words(words, Severity::Note);
        if let Some(row) = report.cursor {
            self.grid.row = Some(row);
        }
        self.follow();
        self.refresh_changes();
    }

    /// Takes steps back, or does them again.
    pub(super) fn undo(&mut self, back: bool, steps: u32) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let mut last = None;
        for _ in 0..steps.max(1) {
            let report = if back { self.session.undo() } else { self.session.redo() };
            match report {
                Some(report) => last = Some(report),
                None => break,
            }
        }
        match last {
            Some(report) => self.reported(&report, false),
            None => self.say(if back { "nothing to undo" } else { "nothing to redo" }),
        }
    }

    /// Does an action that changes rows, and keeps it for `.`.
    pub(super) fn change_rows(&mut self, action: Action, count: Option<u32>) {
        let field = self.grid.field;
        // A count before a nudge is how far, before anything else how many rows.
        let nudge = matches!(action, Action::NudgeUp | Action::NudgeDown);
        let rows = self.targets(if nudge { None } else { count });
        if rows.is_empty() {
            return self.say("there is no row");
        }
        let single = rows.len() == 1;
        self.again = Some(LastChange::Action(action));
        match action {
            Action::Delete => {
                let deleted = rows.iter().all(|row| !self.session.document().is_live(RowId(row)));
                self.change(if deleted { Change::Restore(rows) } else { Change::Delete(rows) });
                if single && !deleted {
                    self.step(true, 1);
                }
            }
            Action::Clear => self.set_rows(rows, field, "none"),
            Action::Duplicate => self.change(Change::Duplicate(rows)),
            Action::Today => {
                self.keep_bulk(Field::Lastmod, "today", rows.len());
                self.set_rows(rows, Field::Lastmod, "today");
            }
            Action::NudgeUp | Action::NudgeDown => {
                let up = action == Action::NudgeUp;
                let sign = if up { '+' } else { '-' };
                let steps = count.unwrap_or(1).min(9_999);
                match field {
                    _ if steps == 1 => self.change(Change::Nudge { rows, field, up }),
                    Field::Priority => {
                        let typed = format!("{sign}{}.{}", steps / 10, steps % 10);
                        self.set_rows(rows, field, &typed);
                    }
                    Field::Lastmod => self.set_rows(rows, field, &format!("{sign}{steps}d")),
                    Field::Loc | Field::Changefreq => self.change(Change::Nudge { rows, field, up }),
                }
            }
            Action::Fix => self.fix(rows),
            _ => {}
        }
    }

    /// Keeps a value set for `.`, and for `B` where it was set on many rows.
    pub(super) fn keep_bulk(&mut self, field: Field, typed: &str, rows: u64) {
        let assignments = vec![Assignment { field, typed: typed.to_owned() }];
        self.again = Some(LastChange::Command(Command::Set { scope: Scope::default(), assignments }));
        if rows > 1 {
            self.last_bulk = Some(format!("set {}={typed}", field.name()));
        }
    }

    /// Keeps a command for `.`: what it does, not which rows it did it to.
    pub(super) fn keep_command(&mut self, command: &Command) {
        let scope = Scope::default();
        self.again = Some(match command.clone() {
            Command::Set { assignments, .. } => LastChange::Command(Command::Set { scope, assignments }),
            Command::Replace { replace, .. } => LastChange::Command(Command::Replace { scope, replace }),
            Command::Extend { acts, .. } => LastChange::Command(Command::Extend { scope, acts }),
            Command::Fix { rules, answer, .. } => LastChange::Command(Command::Fix { scope, rules, answer }),
            Command::Delete(_) => LastChange::Action(Action::Delete),
            Command::Duplicate(_) => LastChange::Action(Action::Duplicate),
            _ => return,
        });
    }

    /// Sets a field of rows to what was typed.
    pub(super) fn set_rows(&mut self, rows: RowSet, field: Field, typed: &str) {
        let assignments = vec![Assignment { field, typed: typed.to_owned() }];
        self.change(Change::Set { rows, assignments });
    }

    /// Does the last change again, here.
    pub(super) fn repeat(&mut self, count: Option<u32>) {
        match self.again.clone() {
            Some(LastChange::Action(action)) => self.change_rows(action, count),
            Some(LastChange::Command(command)) => {
                self.end_range();
                match (count, command) {
                    (Some(_), Command::Set { assignments, .. }) => {
                        let rows = self.targets(count);
                        self.change(Change::Set { rows, assignments });
                    }
                    (Some(_), Command::Replace { replace, .. }) => {
                        let rows = self.targets(count);
                        self.change(Change::Replace { rows, replace, reach: Reach::Rows });
                    }
                    (_, command) => self.change_by(command),
                }
            }
            None => self.say("no changes yet"),
        }
    }

    /// Goes to a state of the history: so many steps in effect.
    pub(super) fn travel(&mut self, steps: usize) {
        let done = self.session.history().iter().filter(|entry| entry.done).count();
        self.mode = Mode::Grid;
        match done.checked_sub(steps) {
            Some(0) => {}
            Some(back) => self.undo(true, u32::try_from(back).unwrap_or(u32::MAX)),
            None => self.undo(false, u32::try_from(steps - done).unwrap_or(u32::MAX)),
        }
    }
}

impl Change {
    /// Rows that it is about, as far as that is known without working it out.
    pub(super) fn size(&self) -> u64 {
        if let Some(rows) = self.rows() {
            return rows.len();
        }
        match self {
            Self::Insert { locs, .. } => locs.len() as u64,
            Self::Several(changes) => changes.iter().map(Self::size).fold(0, u64::saturating_add),
            Self::Raw { .. } | Self::FixFile(..) | Self::RevertFile(_) => 1,
            _ => u64::MAX,
        }
    }
}
