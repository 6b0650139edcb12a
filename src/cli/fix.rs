//! `sited fix`: findings put right, saved.

use super::args::Fix;
use super::edit::{Saving, edit};
use super::{Failure, Status, Streams, filter};
use crate::session::command::{Command, Scope};

/// Fixes, says what changed, saves.
pub(super) fn run(fix: &Fix, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = fix.common.now()?;
    let scope = Scope { shown: false, query: filter(fix.filter.as_deref(), now)? };
    let (output, accept) = (fix.output.as_deref(), fix.common.accept_repairs);
    let (session, _lock) = fix.common.open_to_change(&fix.path, (output, fix.dry_run), streams)?;
    let how = Saving { dry_run: fix.dry_run, output, accept };
    edit(session, &Command::Fix { scope, rules: fix.rules.clone(), answer: fix.answer.clone() }, &how, streams)
}
