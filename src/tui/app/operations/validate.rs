//! Validates the text of a field while it is typed.

use super::super::state::Shared;
use crate::check::Action;
use crate::check::Finding;
use crate::document::rows::RowId;
use crate::protocol::changefreq;
use crate::protocol::lastmod::{self, Now};
use crate::protocol::{Field, priority};
use crate::session::findings;
use crate::tui::text::up_to;

/// Maximum number of bytes of a value that are validated while it is typed.
const MAX_VALIDATED: usize = 1 << 14;

/// The validation of a text as the value of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Validation {
    /// The value as it would be stored, such as a date for `today`; `None` removes the element.
    pub value: Option<String>,
    /// The reason why the text cannot be a value at all.
    pub refused: Option<String>,
    /// The findings that the value would have.
    pub findings: Vec<Finding>,
    /// A likely correction, and the reason for it.
    pub suggestion: Option<(String, String)>,
    /// Number of other rows with the same URL.
    pub twins: usize,
}

/// Validates a text as the value of a field.
pub(in crate::tui::app) fn validate(
    shared: &Shared,
    row: Option<RowId>,
    field: Field,
    typed: &str,
    before: Option<&str>,
) -> Validation {
    let snapshot = shared.session.view();
    let value = match resolve(field, typed, before, snapshot.clock) {
        // The stored value was not typed: `+0.1` in a file is not a step.
        _ if before == Some(typed) => Some(typed.to_owned()),
        Ok(value) => value,
        Err(reason) => return Validation { refused: Some(reason), ..Validation::default() },
    };
    // Only the beginning of a value that is too long for any file is validated.
    let validated = value.as_deref().map(|value| up_to(value, MAX_VALIDATED));
    let findings = validated.map(|value| findings::of_typed(snapshot, row, field, value)).unwrap_or_default();
    let twins = match (&value, field) {
        // No sitemap may contain a longer URL, and looking it up with each key would read all of it.
        (Some(loc), Field::Loc) if loc.len() <= MAX_VALIDATED => {
            snapshot.rows_with_loc(loc).into_iter().filter(|other| Some(*other) != row).count()
        }
        _ => 0,
    };
    let suggestion =
        validated.filter(|validated| !findings.is_empty() && Some(validated.len()) == value.as_ref().map(String::len));
    let suggestion = suggestion.and_then(|value| suggest(field, value, &findings));
    Validation { value, refused: None, findings, suggestion, twins }
}

/// The value that typed text means, such as a date for `today`; `Ok(None)` removes the element.
fn resolve(field: Field, typed: &str, before: Option<&str>, now: Now) -> Result<Option<String>, String> {
    match field {
        Field::Loc => Ok(Some(typed.trim().to_owned())),
        Field::Lastmod => lastmod::parse_input(typed, before, now).map_err(|error| error.to_string()),
        Field::Changefreq => Ok(changefreq::parse_input(typed)),
        Field::Priority => priority::parse_input(typed, before).map_err(|error| error.to_string()),
    }
}

/// A likely correction, and the reason for it.
fn suggest(field: Field, value: &str, findings: &[Finding]) -> Option<(String, String)> {
    let fixed = findings.iter().filter_map(|finding| finding.fix.as_ref()).find_map(|fix| match &fix.action {
        Action::Set { field: own, value: Some(text) } if *own == field => Some((text.clone(), fix.label.to_string())),
        _ => None,
    });
    if fixed.is_some() {
        return fixed;
    }
    let owned = |(why, text): (&'static str, String)| (text, why.to_owned());
    match field {
        Field::Loc => None,
        Field::Lastmod => lastmod::suggest(value).map(owned),
        Field::Priority => priority::suggest(value).map(owned),
        Field::Changefreq => {
            let completed = || changefreq::complete(value).map(|word| (word, "completes it"));
            let nearest = changefreq::nearest(value).map(|word| (word, "the nearest of the seven"));
            nearest.or_else(completed).map(|(word, why)| (word.name().to_owned(), why.to_owned()))
        }
    }
    .filter(|(text, _)| text != value)
}
