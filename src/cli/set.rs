//! `sited set`: new values for fields, saved.

use super::args::Set;
use super::bulk::{Task, change};
use super::values::refuse_assignments;
use super::{Failure, Status, Streams, filter};
use crate::session::command::{Assignment, Command, Scope};
use crate::session::snapshot::vocabulary;

/// Sets, says what changed, saves.
pub(super) fn run(set: &Set, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = set.target.common.now()?;
    let assignments = assignments(&set.assignments, now)?;
    if !set.force {
        refuse_assignments(&assignments, &set.target.common)?;
    }
    let command =
        Command::Set { scope: Scope { shown: false, query: filter(set.filter.as_deref(), now)? }, assignments };
    change(&set.target, &Task::Command(command), held, streams)
}

fn assignments(words: &[String], now: crate::protocol::lastmod::Now) -> Result<Vec<Assignment>, Failure> {
    let mut read: Vec<Assignment> = Vec::new();
    for text in words {
        let assignment = Assignment::from_argument(text, &vocabulary(now))
            .map_err(|error| Failure::text("this value", text, &error))?;
        if read.iter().any(|known| known.field == assignment.field) {
            let hint = "give each field once".to_owned();
            return Err(Failure::Usage(format!("{} is set twice", assignment.field.name()), hint));
        }
        read.push(assignment);
    }
    Ok(read)
}
