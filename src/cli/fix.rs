//! `sited fix`: findings put right, saved.

use super::args::{Common, Fix};
use super::bulk::{Task, change};
use super::rows::Target;
use super::{Failure, Status, Streams, filter};
use crate::check::rule::Rule;
use crate::files::{Conflicts, Side};
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
    let is_merge = matches!(fix.rules.as_slice(), [rule] if rule == Rule::MERGE_CONFLICT.code());
    if !is_merge {
        let command = Command::Fix { scope, rules: fix.rules.clone(), answer: fix.answer.clone() };
        return change(&fix.target, &Task::Command(command), held, streams);
    }
    // Conflicts are resolved when the file is read; what is left to do is to write it so.
    let side = fix.answer.as_deref().and_then(Side::from_name).ok_or_else(|| {
        let words = Side::ALL.map(Side::name).join(", ");
        Failure::Usage(
            format!("merge-conflict needs one of these answers: {words}"),
            "for example: sited fix sitemap.xml --rule merge-conflict --answer both".to_owned(),
        )
    })?;
    let mut target: Target = fix.target.clone();
    target.common.conflicts = Conflicts::Take(side);
    let command = Command::Fix { scope, rules: fix.rules.clone(), answer: None };
    change(&target, &Task::Command(command), held, streams)
}
