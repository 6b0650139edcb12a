//! Lists of new URLs, each with the objections to adding it.

use crate::check::Finding;
use crate::document::rows::RowId;
use crate::protocol::{Field, Severity};
use crate::session::findings;
use crate::session::state::Snapshot;
use std::collections::HashSet;

/// Lines that are examined one by one, so that the screen does not wait.
const LOOKED_UP: usize = 50_000;

/// A URL of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUrl {
    /// As it was written.
    pub loc: String,
    /// What speaks against it.
    pub doubt: Option<Objection>,
    /// Whether the user decided otherwise than it is decided for lines of its kind.
    pub is_flipped: bool,
}

/// What speaks against adding a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// The set has this URL already, in this row.
    InSet(RowId),
    /// An earlier line of the list is the same.
    Repeated,
    /// An error, in words.
    Wrong(String),
}

/// The lines of a list, each with what speaks against it; of what is known beside the rules, an objection.
pub(in crate::tui::app) fn check_urls(
    snapshot: &Snapshot,
    list: Vec<String>,
    objection: impl Fn(usize, &str) -> Option<String>,
) -> Vec<NewUrl> {
    let mut met: HashSet<String> = HashSet::new();
    let doubt = |loc: &str| {
        let is_error = |one: &&Finding| one.severity == Severity::Error;
        let findings = findings::of_typed(snapshot, None, Field::Loc, loc);
        let wrong = findings.iter().find(is_error).map(|one| Objection::Wrong(one.message.clone()));
        let known = || snapshot.rows_with_loc(loc).first().map(|row| Objection::InSet(*row));
        wrong.or_else(known)
    };
    let judged = |(at, loc): (usize, String)| {
        let is_new = met.insert(loc.clone());
        let doubt = if at < LOOKED_UP { doubt(&loc) } else { None };
        let doubt = doubt.or_else(|| objection(at, &loc).map(Objection::Wrong));
        let doubt = doubt.or_else(|| (!is_new).then_some(Objection::Repeated));
        NewUrl { loc, doubt, is_flipped: false }
    };
    list.into_iter().enumerate().map(judged).collect()
}
