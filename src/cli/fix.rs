//! `sited fix`: findings put right, saved.

use super::args::Fix;
use super::{Failure, Status, Streams, filter};
use crate::session::command::{Command, Scope};

/// Fixes, says what changed, saves.
pub(super) fn run(fix: &Fix, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let scope = Scope { shown: false, query: filter(fix.filter.as_deref(), fix.target.common.now()?)? };
    let command = Command::Fix { scope, rules: fix.rules.clone(), answer: fix.answer.clone() };
    fix.target.run(streams, |_, _| Ok(vec![command]))
}
