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

/// Bytes of a value that are judged while it is typed.
const JUDGED: usize = 1 << 14;

/// What is to be reported of a text that may become a field's value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// What it would be in the file: `today` as a date; `None` removes the element.
    pub value: Option<String>,
    /// Why it cannot be taken at all.
    pub refused: Option<String>,
    /// What would be wrong with it.
    pub findings: Vec<Finding>,
    /// What was probably meant, and why.
    pub suggestion: Option<(String, String)>,
    /// Rows that have this very URL.
    pub twins: usize,
}

/// What is to be reported of a text as a field's value.
pub(in crate::tui::app) fn judge(
    shared: &Shared,
    row: Option<RowId>,
    field: Field,
    typed: &str,
    before: Option<&str>,
) -> Verdict {
    let snapshot = shared.session.view();
    let value = match resolve(field, typed, before, snapshot.clock) {
        // What is there already was not typed: `+0.1` in a file is not a step.
        _ if before == Some(typed) => Some(typed.to_owned()),
        Ok(value) => value,
        Err(reason) => return Verdict { refused: Some(reason), ..Verdict::default() },
    };
    // Of a value that no file may hold, the beginning is judged with each key.
    let judged = value.as_deref().map(|value| up_to(value, JUDGED));
    let findings = judged.map(|value| findings::of_typed(snapshot, row, field, value)).unwrap_or_default();
    let twins = match (&value, field) {
        // No sitemap may hold a longer URL: looking it up with each key would read all of it.
        (Some(loc), Field::Loc) if loc.len() <= JUDGED => {
            snapshot.rows_with_loc(loc).into_iter().filter(|other| Some(*other) != row).count()
        }
        _ => 0,
    };
    let suggestion =
        judged.filter(|judged| !findings.is_empty() && Some(judged.len()) == value.as_ref().map(String::len));
    let suggestion = suggestion.and_then(|value| suggest(field, value, &findings));
    Verdict { value, refused: None, findings, suggestion, twins }
}

/// The value that typed text stands for; `Ok(None)` removes the element.
fn resolve(field: Field, typed: &str, before: Option<&str>, now: Now) -> Result<Option<String>, String> {
    match field {
        Field::Loc => Ok(Some(typed.trim().to_owned())),
        Field::Lastmod => lastmod::parse_input(typed, before, now).map_err(|error| error.to_string()),
        Field::Changefreq => Ok(changefreq::parse_input(typed)),
        Field::Priority => priority::parse_input(typed, before).map_err(|error| error.to_string()),
    }
}

/// What was probably meant: the text, and in a word why.
fn suggest(field: Field, value: &str, findings: &[Finding]) -> Option<(String, String)> {
    let fixed = findings.iter().filter_map(|finding| finding.fix.as_ref()).find_map(|fix| match &fix.action {
        Action::Set { field: own, value: Some(text) } if *own == field => Some((text.clone(), fix.label.clone())),
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
            let completed = || changefreq::completed(value).map(|word| (word, "completes it"));
            let nearest = changefreq::nearest(value).map(|word| (word, "the nearest of the seven"));
            nearest.or_else(completed).map(|(word, why)| (word.name().to_owned(), why.to_owned()))
        }
    }
    .filter(|(text, _)| text != value)
}
