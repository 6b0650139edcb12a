//! Lists of new URLs, each with the objections to adding it.

use crate::check::Finding;
use crate::document::rows::RowId;
use crate::protocol::{Field, Severity};
use crate::session::findings;
use crate::session::state::Snapshot;
use std::collections::HashSet;

/// Maximum number of lines that are validated, so that the screen stays responsive.
const MAX_VALIDATED: usize = 50_000;

/// A URL of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUrl {
    /// As it was written.
    pub loc: String,
    /// The reason not to add it.
    pub objection: Option<Objection>,
    /// Whether the user inverted the default for lines with this objection.
    pub is_flipped: bool,
}

/// A reason not to add a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// The set already has this URL, in this row.
    InSet(RowId),
    /// An earlier line of the list is the same.
    Repeated,
    /// The URL is not valid, with the message.
    Invalid(String),
}

/// Validates the lines of a list. `other_objection` gets the index and URL of a line that violates no rule.
pub(in crate::tui::app) fn check_urls(
    snapshot: &Snapshot,
    list: Vec<String>,
    other_objection: impl Fn(usize, &str) -> Option<String>,
) -> Vec<NewUrl> {
    let mut seen: HashSet<String> = HashSet::new();
    let objection = |loc: &str| {
        let is_error = |one: &&Finding| one.severity == Severity::Error;
        let findings = findings::of_typed(snapshot, None, Field::Loc, loc);
        let invalid = findings.iter().find(is_error).map(|one| Objection::Invalid(one.message.clone()));
        let in_set = || snapshot.rows_with_loc(loc).first().map(|row| Objection::InSet(*row));
        invalid.or_else(in_set)
    };
    let validate = |(at, loc): (usize, String)| {
        let is_new = seen.insert(loc.clone());
        let objection = if at < MAX_VALIDATED { objection(&loc) } else { None };
        let objection = objection.or_else(|| other_objection(at, &loc).map(Objection::Invalid));
        let objection = objection.or_else(|| (!is_new).then_some(Objection::Repeated));
        NewUrl { loc, objection, is_flipped: false }
    };
    list.into_iter().enumerate().map(validate).collect()
}
