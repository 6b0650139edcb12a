//! `sited set`: new values for fields, saved.

use super::args::Set;
use super::bulk::{Task, change};
use super::values::{example, refuse_assignments};
use super::{Failure, Status, Streams, filter};
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::command::{Assignment, Command, CommandError, Scope};
use crate::session::snapshot::vocabulary;

/// Sets, says what changed, saves.
pub(super) fn run(set: &Set, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = set.target.common.now()?;
    let assignments = assignments(set.assignments.iter().map(String::as_str), ("this value", set.force), now)?;
    if !set.force {
        refuse_assignments(&assignments, &set.target.common)?;
    }
    let command =
        Command::Set { scope: Scope { shown: false, query: filter(set.filter.as_deref(), now)? }, assignments };
    change(&set.target, &Task::Command(command), held, streams)
}

/// Reads `FIELD=VALUE` words of an option. What is none of its field's forms is taken as it is where that is `forced`.
pub(super) fn assignments<'w>(
    words: impl IntoIterator<Item = &'w str>,
    (option, forced): (&str, bool),
    now: Now,
) -> Result<Vec<Assignment>, Failure> {
    let mut read: Vec<Assignment> = Vec::new();
    for text in words {
        let as_it_is = || {
            let (name, typed) = text.split_once('=').filter(|_| forced)?;
            Some(Assignment { field: Field::from_name(name)?, typed: typed.to_owned() })
        };
        let assignment = Assignment::from_argument(text, &vocabulary(now))
            .or_else(|error| as_it_is().ok_or(error))
            .map_err(|error| refused(option, text, error))?;
        if read.iter().any(|known| known.field == assignment.field) {
            let hint = "give each field once".to_owned();
            return Err(Failure::Usage(format!("{} is set twice", assignment.field.name()), hint));
        }
        read.push(assignment);
    }
    Ok(read)
}

/// A value that is none of its field's forms, and how to write it all the same.
fn refused(option: &str, text: &str, mut error: CommandError) -> Failure {
    let field = text.split_once('=').and_then(|(name, _)| Field::from_name(name));
    if let Some(field) = field.filter(|_| error.hint.is_empty()) {
        error.hint = example(field);
    }
    Failure::text(option, text, &error)
}
