//! Fixes for findings about the page behind a URL: the row is deleted, or gets the URL that the site names.

use crate::check::rule::Rule;
use crate::check::{Context, check_value};
use crate::document::edit::{Edit, Value};
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::{Field, Severity};
use crate::session::checks::DocumentLocs;
use crate::session::fix::row_edits::{Done, breaking};
use crate::session::fix_table::{SITE_DATED, SITE_DELETED};
use crate::session::state::Snapshot;
use std::collections::HashSet;

/// Deletes the rows that break a rule, or gives them the URL that the site names; a row whose new URL is in the set
/// already is deleted. `None` when cancelled.
pub(super) fn intend(snapshot: &Snapshot, rows: &RowSet, rule: Rule, progress: &Progress) -> Option<Done> {
    let broken = breaking(snapshot, rows, rule);
    let mut done = Done::default();
    if SITE_DELETED.contains(rule) {
        delete(&mut done, broken);
        return Some(done);
    }
    if SITE_DATED.contains(rule) {
        return date(snapshot, &broken, progress);
    }
    let set = snapshot.checks.set();
    let locs = DocumentLocs(&snapshot.document);
    let (mut moved, mut gone): (Vec<(RowId, Value)>, _) = (Vec::new(), RowSet::new());
    let mut given = HashSet::new();
    for row in broken.iter().map(RowId) {
        if progress.is_cancelled() {
            return None;
        }
        let loc = snapshot.document.loc(row);
        let Some(url) = snapshot.checks.site().and_then(|site| site.replacement(rule, &loc)) else {
            done.refuse("the site names no URL that can take its place");
            continue;
        };
        let is_listed = set.duplicates().rows_of_page(&url, &locs).iter().any(|other| other != row.0);
        if is_listed || !given.insert(url.clone().into_owned()) {
            gone.insert(row.0);
            continue;
        }
        let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
        match worse_value(Field::Loc, (&loc, &url), &context) {
            Some(worse) => done.refuse(format!("{url} would violate {worse}")),
            None => moved.push((row, Some(url.as_ref().into()))),
        }
    }
    done.set_each(Field::Loc, moved);
    delete(&mut done, gone);
    Some(done)
}

/// Gives the rows the dates of the last changes of their pages.
fn date(snapshot: &Snapshot, rows: &RowSet, progress: &Progress) -> Option<Done> {
    let (mut done, mut dated): (Done, Vec<(RowId, Value)>) = (Done::default(), Vec::new());
    for row in rows.iter().map(RowId) {
        if progress.is_cancelled() {
            return None;
        }
        let loc = snapshot.document.loc(row);
        let Some(date) = snapshot.checks.site().and_then(|site| site.modified(&loc)) else {
            done.refuse("the date of the page's last change cannot be written");
            continue;
        };
        let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
        let old = snapshot.document.value(row, Field::Lastmod).unwrap_or_default();
        match worse_value(Field::Lastmod, (&old, &date), &context) {
            Some(worse) => done.refuse(format!("{date} would violate {worse}")),
            None => dated.push((row, Some(date.into()))),
        }
    }
    done.set_each(Field::Lastmod, dated);
    Some(done)
}

/// An error or warning that a new value has and the old one has not.
fn worse_value(field: Field, (old, new): (&str, &str), context: &Context<'_>) -> Option<Rule> {
    let new = check_value(field, new, context).minus(check_value(field, old, context));
    new.iter().find(|rule| rule.severity_in(context.profile) > Some(Severity::Note))
}

fn delete(done: &mut Done, rows: RowSet) {
    if !rows.is_empty() {
        done.rows |= &rows;
        done.edits.push(Edit::Delete(rows));
    }
}
