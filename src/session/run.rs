//! Runs commands of the `:` line, scripts and subcommands on a session.

use crate::progress::Progress;
use crate::session::command::{Command, Marks};
use crate::session::edit::scope::{self, check_base_url};
use crate::session::edit::{DefaultScope, EditError};
use crate::session::store::save;
use crate::session::{Report, Session, policy, prepare};
use crate::words::counted;
use std::sync::Arc;

/// The result of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandOutcome {
    /// The document was changed.
    Done(Report),
    /// Something else was changed or set, such as the view or the marks; with a message.
    Shown(String),
    /// The caller has to run it: save, quit, reload, move the cursor, show something.
    Delegated(Command),
}

impl Session {
    /// Runs a command on this thread.
    ///
    /// # Errors
    /// `EditError` with the reason and what to do instead.
    pub fn run(&mut self, command: &Command, default_scope: DefaultScope) -> Result<CommandOutcome, EditError> {
        let idle = Progress::default();
        if let Command::RebaseIndex(url) = command {
            check_base_url(url)?;
            self.set_base_url(Some(url.clone()));
        }
        if command.changes_rows() {
            self.writable()?;
            let prepared = prepare::of_command(self.view(), command, default_scope, &idle)?;
            return Ok(CommandOutcome::Done(self.commit(prepared, default_scope.cursor())?));
        }
        let marked =
            |session: &Self| CommandOutcome::Shown(format!("{} marked", counted(session.view().marked(), "row")));
        Ok(match command {
            Command::Filter(query) => {
                self.show_now(query.clone(), self.view().spec().sort.clone());
                CommandOutcome::Shown(format!("{} shown", counted(u64::from(self.view().shown()), "row")))
            }
            Command::Sort(keys) => {
                self.show_now(self.view().spec().filter.clone(), keys.clone());
                CommandOutcome::Shown(if keys.is_empty() { "file order".into() } else { "sorted".into() })
            }
            Command::Mark(scope) | Command::Unmark(scope) => {
                let rows = scope::rows_of(self.view(), scope, default_scope, &idle).unwrap_or_default();
                self.mark(&rows, matches!(command, Command::Mark(_)));
                marked(self)
            }
            Command::Marks(marks) => {
                match marks {
                    Marks::Invert => self.invert_marks(),
                    Marks::All => {
                        let rows = self.view().shown_rows();
                        self.mark(&rows, true);
                    }
                    Marks::None => self.current.marks = Arc::default(),
                }
                marked(self)
            }
            Command::Undo(steps) => repeat_step(self, *steps, Self::undo, "nothing to undo")?,
            Command::Redo(steps) => repeat_step(self, *steps, Self::redo, "nothing to redo")?,
            Command::Profile(profile) => {
                self.set_profile(*profile);
                CommandOutcome::Shown(format!("checked for {}", profile.name()))
            }
            Command::Policy(Some(path)) => CommandOutcome::Shown(policy::read_file(self, path)?),
            Command::Policy(None) => {
                self.set_policy(None);
                CommandOutcome::Shown("no policy".to_owned())
            }
            Command::Backup(when) => {
                save::set_backups(self, *when);
                CommandOutcome::Shown(format!("backups: {}", when.name()))
            }
            Command::SetBaseUrl(url) => {
                check_base_url(url)?;
                self.set_base_url(Some(url.clone()));
                CommandOutcome::Shown(format!("base URL: {url}"))
            }
            other => CommandOutcome::Delegated(other.clone()),
        })
    }
}

fn repeat_step(
    session: &mut Session,
    steps: u32,
    step: fn(&mut Session) -> Option<Report>,
    nothing: &str,
) -> Result<CommandOutcome, EditError> {
    session.writable()?;
    let mut last = None;
    for _ in 0..steps.max(1) {
        match step(session) {
            Some(report) => last = Some(report),
            None => break,
        }
    }
    last.map(CommandOutcome::Done).ok_or_else(|| EditError::Refused(nothing.into()))
}
