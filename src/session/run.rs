//! Runs commands of the `:` line, scripts and subcommands on a session.

use super::change::{Change, Intent, Reach, Refused};
use super::command::{Command, Marks, Scope};
use super::snapshot::Snapshot;
use super::{Report, Session};
use crate::check::decision::{self, Hints};
use crate::check::rule::{Rule, RuleSet};
use crate::document::query::suggest::nearest;
use crate::document::rows::{RowId, RowSet};
use crate::document::view::ViewSpec;
use crate::progress::Progress;
use crate::words::{counted, grouped};
use std::sync::Arc;

/// Who asks: decides what a command without scope is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// The screen, with the cursor on this row.
    Screen(Option<RowId>),
    /// The screen, about this row alone.
    Row(RowId),
    /// A script or subcommand: where the screen would take the current row, all rows.
    Headless,
}

impl Asker {
    const fn cursor(self) -> Option<RowId> {
        match self {
            Self::Screen(row) => row,
            Self::Row(row) => Some(row),
            Self::Headless => None,
        }
    }
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandOutcome {
    /// Done; the report says what.
    Done(Report),
    /// The view or the marks changed; the words say how.
    Shown(String),
    /// Only whoever asked can do it: save, leave, reload, move the cursor, show something.
    Asked(Command),
}

impl Snapshot {
    /// The rows that a scope means. `None` when cancelled.
    pub fn scope(&self, scope: &Scope, asker: Asker, progress: &Progress) -> Option<RowSet> {
        let shown = || -> RowSet {
            let rows = self.view.rows(&self.document).filter(|row| self.document.is_live(*row));
            rows.map(|row| row.0).collect()
        };
        Some(match (&scope.query, scope.shown, asker) {
            (Some(query), true, _) => self.rows_where(query, progress)? & shown(),
            (Some(query), false, _) => self.rows_where(query, progress)?,
            (None, true, _) => shown(),
            (None, false, Asker::Row(row)) => RowSet::from_iter([row.0]),
            (None, false, _) if !self.marks.is_empty() => {
                self.marks.iter().filter(|row| self.document.is_live(RowId(*row))).collect()
            }
            (None, false, Asker::Headless) => self.document.resident_set(),
            (None, false, Asker::Screen(row)) => row.iter().map(|row| row.0).collect(),
        })
    }

    /// The same with the deleted rows, which can be put back.
    fn scope_with_deleted(&self, scope: &Scope, asker: Asker, progress: &Progress) -> Option<RowSet> {
        let shown = || -> RowSet { self.view.rows(&self.document).map(|row| row.0).collect() };
        Some(match (&scope.query, scope.shown, asker) {
            (Some(query), only_shown, _) => {
                let spec = ViewSpec { filter: Some(query.clone()), sort: Vec::new() };
                let rows: RowSet = self.view_of(&spec, progress)?.rows(&self.document).map(|row| row.0).collect();
                if only_shown { rows & shown() } else { rows }
            }
            (None, true, _) => shown(),
            (None, false, Asker::Screen(row)) if self.marks.is_empty() => row.iter().map(|row| row.0).collect(),
            (None, false, Asker::Screen(_)) => RowSet::clone(&self.marks),
            (None, false, Asker::Row(row)) => RowSet::from_iter([row.0]),
            (None, false, Asker::Headless) => self.document.rows().map(|row| row.0).collect(),
        })
    }

    /// The scope in words: `1,204 of 50,000 rows (filtered)`.
    pub fn scope_words(&self, scope: &Scope, rows: u64, asker: Asker) -> String {
        let of = format!("{} of {}", grouped(rows), counted(u64::from(self.document.live()), "row"));
        match (scope.query.is_some(), scope.shown, asker) {
            (true, _, _) => format!("{of} (where)"),
            (false, true, _) if self.view.len() < self.document.live() => format!("{of} (filtered)"),
            (false, false, Asker::Row(_)) => "this row".to_owned(),
            (false, false, _) if !self.marks.is_empty() => format!("{of} (marked)"),
            (false, true, _) | (false, false, Asker::Headless) => counted(rows, "row"),
            _ => "the current row".to_owned(),
        }
    }

    /// The change that a command asks for; `Ok(None)` for commands that change no rows, or when cancelled.
    pub fn change_of(&self, command: &Command, asker: Asker, progress: &Progress) -> Result<Option<Change>, Refused> {
        let rows = |scope: &Scope| self.scope(scope, asker, progress);
        Ok(match command {
            Command::Set { scope, assignments } => {
                rows(scope).map(|rows| Change::Set { rows, assignments: assignments.clone() })
            }
            Command::Replace { scope, replace } => {
                let is_of_index = replace.targets().is_index_only();
                if is_of_index && scope.query.is_some() {
                    let why = "a query selects rows, and index entries are not rows; omit `where`";
                    return Err(Refused(why.to_owned()));
                }
                let is_headless = asker == Asker::Headless && self.marks.is_empty();
                let is_of_cursor = scope.is_default() && self.marks.is_empty() && !is_headless;
                rows(scope).map(|rows| {
                    let is_all = is_headless || rows.len() >= u64::from(self.document.live());
                    let reach = match scope.query {
                        _ if is_of_index => Reach::Set,
                        None if is_all => Reach::Set,
                        _ if is_of_cursor => Reach::Rows,
                        _ => Reach::Chosen,
                    };
                    Change::Replace { rows, replace: replace.clone(), reach }
                })
            }
            Command::RebaseIndex(url) => {
                refuse_base(url)?;
                Some(Change::RebaseIndex(url.clone()))
            }
            Command::Add(locs) => Some(Change::Insert { after: asker.cursor(), before: false, locs: locs.clone() }),
            Command::Delete(scope) => rows(scope).map(Change::Delete),
            Command::Keep(scope) => rows(scope).map(|rows| Change::Delete(self.document.resident_set() - rows)),
            Command::Duplicate(scope) => rows(scope).map(Change::Duplicate),
            Command::Revert(scope) => self.scope_with_deleted(scope, asker, progress).map(Change::Revert),
            Command::Extend { scope, acts } => rows(scope).map(|rows| Change::Extend { rows, acts: acts.clone() }),
            Command::Fix { scope, rules, answer: None } => {
                let rules = rules_named(rules)?;
                rows(scope).map(|rows| Change::Fix { rows, rules })
            }
            Command::Fix { scope, rules, answer: Some(answer) } => {
                let rule = match rules.as_slice() {
                    [code] => Rule::from_code(code),
                    _ => None,
                };
                let rule = rule.ok_or_else(|| Refused("`--answer` needs exactly one `--rule CODE`".to_owned()))?;
                let today = self.clock.today();
                let hints = Hints { zone: self.clock.offset / 60, origin: None, today: Some(&today) };
                let decision = decision::answered(rule, answer, hints).map_err(Refused)?;
                rows(scope).map(|rows| Change::Decide { rows, rule, decision })
            }
            Command::ApplyOrder => Some(Change::ApplyOrder),
            _ => None,
        })
    }

    /// What a command would do, for the preview. `Ok(None)` for commands that change no rows.
    pub fn preview(&self, command: &Command, asker: Asker, progress: &Progress) -> Result<Option<Intent>, Refused> {
        match self.change_of(command, asker, progress)? {
            // What a fix leaves is known once it is done.
            Some(change) if change.is_fix() => {
                let intent = self.prepare_command(command, asker, progress)?.map(|prepared| prepared.intent);
                Ok(intent)
            }
            Some(change) => self.intend(&change, progress),
            None => Ok(None),
        }
    }
}

/// The rules that names or patterns mean; none named: every rule with a safe fix.
///
/// # Errors
/// [`Refused`] names what is no rule.
pub fn rules_named(names: &[String]) -> Result<RuleSet, Refused> {
    let mut set = RuleSet::EMPTY;
    if names.is_empty() || names.iter().any(|name| name == "safe") {
        return Ok(super::fix::safe_rules());
    }
    for name in names {
        // A rule that two names mean is known all the same.
        let mut is_known = false;
        let is_meant = |rule: &Rule| match name.split_once('*') {
            Some((start, end)) => rule.code().starts_with(start) && rule.code().ends_with(end),
            None => rule.code() == name,
        };
        for rule in Rule::ALL.into_iter().filter(is_meant) {
            is_known = true;
            set.insert(rule);
        }
        if !is_known {
            let guess = nearest(name, Rule::ALL.into_iter().map(Rule::code));
            let guess = guess.map_or_else(String::new, |code| format!("; did you mean {code}?"));
            return Err(Refused(format!("unknown rule {name}{guess}")));
        }
    }
    Ok(set)
}

/// Refuses what is no URL of a folder.
fn refuse_base(url: &str) -> Result<(), Refused> {
    crate::files::base_url_error(url).map_or(Ok(()), |error| Err(Refused(error)))
}

impl Session {
    /// Runs a command on this thread.
    ///
    /// # Errors
    /// [`Refused`] says why not, and what to do instead.
    pub fn run(&mut self, command: &Command, asker: Asker) -> Result<CommandOutcome, Refused> {
        let idle = Progress::default();
        if let Command::RebaseIndex(url) = command {
            refuse_base(url)?;
            self.set_base_url(Some(url.clone()));
        }
        if command.changes_rows() {
            self.writable()?;
            let prepared = self.view().prepare_command(command, asker, &idle)?;
            let prepared = prepared.ok_or_else(|| Refused("cancelled".into()))?;
            return Ok(CommandOutcome::Done(self.commit(prepared, asker.cursor())?));
        }
        let marked = |session: &Self| CommandOutcome::Shown(format!("{} marked", counted(session.marked(), "row")));
        Ok(match command {
            Command::Filter(query) => {
                self.show_now(query.clone(), self.spec().sort.clone());
                CommandOutcome::Shown(format!("{} shown", counted(u64::from(self.shown()), "row")))
            }
            Command::Sort(keys) => {
                self.show_now(self.spec().filter.clone(), keys.clone());
                CommandOutcome::Shown(if keys.is_empty() { "file order".into() } else { "sorted".into() })
            }
            Command::Mark(scope) | Command::Unmark(scope) => {
                let rows = self.view().scope(scope, asker, &idle).unwrap_or_default();
                self.mark(&rows, matches!(command, Command::Mark(_)));
                marked(self)
            }
            Command::Marks(marks) => {
                match marks {
                    Marks::Invert => self.invert_marks(),
                    Marks::All => {
                        let rows = self.shown_rows();
                        self.mark(&rows, true);
                    }
                    Marks::None => self.current.marks = Arc::default(),
                }
                marked(self)
            }
            Command::Undo(steps) => self.steps(*steps, Self::undo, "nothing to undo")?,
            Command::Redo(steps) => self.steps(*steps, Self::redo, "nothing to redo")?,
            Command::Profile(profile) => {
                self.set_profile(*profile);
                CommandOutcome::Shown(format!("checked for {}", profile.name()))
            }
            Command::Policy(Some(path)) => CommandOutcome::Shown(self.read_policy(path)?),
            Command::Policy(None) => {
                self.set_policy(None);
                CommandOutcome::Shown("no policy".to_owned())
            }
            Command::Backup(when) => {
                self.set_backups(*when);
                CommandOutcome::Shown(format!("backups: {}", when.name()))
            }
            Command::SetBaseUrl(url) => {
                refuse_base(url)?;
                self.set_base_url(Some(url.clone()));
                CommandOutcome::Shown(format!("base URL: {url}"))
            }
            other => CommandOutcome::Asked(other.clone()),
        })
    }

    fn steps(
        &mut self,
        steps: u32,
        step: fn(&mut Self) -> Option<Report>,
        nothing: &str,
    ) -> Result<CommandOutcome, Refused> {
        self.writable()?;
        let mut last = None;
        for _ in 0..steps.max(1) {
            match step(self) {
                Some(report) => last = Some(report),
                None => break,
            }
        }
        last.map(CommandOutcome::Done).ok_or_else(|| Refused(nothing.into()))
    }
}
