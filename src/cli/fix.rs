//! `sited fix`: findings put right, saved.

use super::args::{Common, Fix};
use super::bulk::{Task, change};
use super::rows::Target;
use super::{Failure, Status, Streams, filter};
use crate::session::command::{Command, Scope};

/// Fixes, says what changed, saves.
pub(super) fn run(fix: &Fix, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let scope = Scope { shown: false, query: filter(fix.filter.as_deref(), fix.target.common.now()?)? };
    if let Some(url) = fix.target.common.base_url.as_ref().filter(|_| fix.rewrite_index) {
        fix.target.common.limits()?;
        // Where the files are now, the index says.
        let common = Common { base_url: None, ..fix.target.common.clone() };
        let target = Target { common, ..fix.target.clone() };
        return change(&target, &Task::Command(Command::RebaseIndex(url.clone())), held, streams);
    }
    let command = Command::Fix { scope, rules: fix.rules.clone(), answer: fix.answer.clone() };
    change(&fix.target, &Task::Command(command), held, streams)
}
