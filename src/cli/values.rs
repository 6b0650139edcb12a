//! Refuses values that `check` would report as errors, before a command writes them.

use super::options::Common;
use super::{Failure, clock};
use crate::document::query::Vocabulary;
use crate::protocol::{Field, Severity, lastmod, priority};
use crate::session::Session;
use crate::session::command::{Assignment, CommandError};
use crate::session::findings;

/// Refuses URLs that violate a rule of severity error.
pub(super) fn refuse_urls<'u>(urls: impl IntoIterator<Item = &'u String>, common: &Common) -> Result<(), Failure> {
    let session = validation_session(common)?;
    urls.into_iter().try_for_each(|url| refuse(&session, Field::Loc, url, url))
}

/// Refuses assignments whose value violates a rule of severity error in every row that gets it.
pub(super) fn refuse_assignments(assignments: &[Assignment], common: &Common) -> Result<(), Failure> {
    let (session, now) = (validation_session(common)?, common.now()?);
    // Values of data columns are checked later, row by row.
    for assignment in assignments.iter().filter(|assignment| !assignment.is_from_data()) {
        let Assignment { field, typed } = assignment;
        // A relative value, such as +1d, is checked as applied to a sample value.
        let value = match field {
            Field::Lastmod => lastmod::parse_input(typed, Some("2020-06-15"), now).unwrap_or_default(),
            Field::Priority => priority::parse_input(typed, Some("0.5")).unwrap_or_default(),
            Field::Changefreq if typed.eq_ignore_ascii_case("none") => None,
            Field::Changefreq | Field::Loc => Some(typed.clone()),
        };
        if let Some(value) = value {
            refuse(&session, *field, &value, &assignment.to_string())?;
        }
    }
    Ok(())
}

/// A session without rows, to check values with its rules.
pub(super) fn validation_session(common: &Common) -> Result<Session, Failure> {
    let mut session = Session::new(if common.now.is_some() { common.now()? } else { clock::system() }, None);
    session.set_profile(common.profile.unwrap_or_default());
    Ok(session)
}

fn refuse(session: &Session, field: Field, value: &str, given: &str) -> Result<(), Failure> {
    let findings = findings::of_typed(session.view(), None, field, value);
    let Some(finding) = findings.into_iter().find(|finding| finding.severity == Severity::Error) else {
        return Ok(());
    };
    let shown = crate::words::excerpt(given, 200);
    let (message, code) = (&finding.message, finding.rule.code());
    // Some messages begin with the value.
    let prefix = if message.starts_with(&*shown) { String::new() } else { format!("{shown}: ") };
    Err(Failure::Usage(format!("{prefix}{message} ({code})"), example(field)))
}

/// The error of a change that makes URLs invalid or duplicate.
pub(super) fn refused_urls(faults: &str) -> Failure {
    let hint = "--dry-run --force prints what would change; --force writes these URLs".to_owned();
    Failure::Usage(format!("nothing was written: this would make {faults}"), hint)
}

/// The hint for an invalid value: a valid one, and `--force`.
pub(super) fn example(field: Field) -> String {
    let example = match field {
        Field::Loc => "https://example.com/page",
        Field::Lastmod => "lastmod=2026-11-20",
        Field::Changefreq => "changefreq=weekly",
        Field::Priority => "priority=0.8",
    };
    format!("for example: {example}; --force writes the value as it is")
}

/// Parses `FIELD=VALUE` words of an option. With `forced`, a value that cannot be parsed is used as it is.
pub(super) fn assignments<'w>(
    words: impl IntoIterator<Item = &'w str>,
    option: &str,
    forced: bool,
    vocabulary: &Vocabulary<'_>,
) -> Result<Vec<Assignment>, Failure> {
    let mut read: Vec<Assignment> = Vec::new();
    for text in words {
        let as_it_is = || {
            let (name, typed) = text.split_once('=').filter(|_| forced)?;
            Some(Assignment { field: Field::from_name(name)?, typed: typed.to_owned() })
        };
        let assignment = Assignment::from_argument(text, vocabulary)
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

/// The error of a value that cannot be parsed, with an example as hint.
fn refused(option: &str, text: &str, mut error: CommandError) -> Failure {
    let field = text.split_once('=').and_then(|(name, _)| Field::from_name(name));
    if let Some(field) = field.filter(|_| error.hint.is_empty()) {
        error.hint = example(field);
    }
    Failure::syntax(option, text, &error)
}
