//! Fixes findings about the page behind a URL: deletes the row, or sets its URL, date or alternates.

use crate::check::rule::Rule;
use crate::check::{Context, check_value};
use crate::document::edit::{Edit, Value};
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::extension::path::Path;
use crate::protocol::{Field, Severity, location};
use crate::session::checks::DocumentLocs;
use crate::session::fix::alternates::{NewLink, with_links};
use crate::session::fix::row_edits::{RowEdits, is_sound, violating_rows};
use crate::session::fix_table::{SITE_DATED, SITE_DELETED, SITE_LINKED};
use crate::session::state::Snapshot;
use crate::xml::extension_edit::{ExtensionChange, edit_extension, value_at};
use crate::xml::names::Names;
use std::collections::HashSet;

/// The edits that fix a rule about pages: rows are deleted, or get the date, the alternates or the URL that the site
/// states. A row whose new URL is already in the set is deleted. `None` when cancelled.
pub(super) fn intend(snapshot: &Snapshot, rows: &RowSet, rule: Rule, progress: &Progress) -> Option<RowEdits> {
    let broken = violating_rows(snapshot, rows, rule);
    let mut done = RowEdits::default();
    if SITE_DELETED.contains(rule) {
        delete(&mut done, broken);
        return Some(done);
    }
    if SITE_DATED.contains(rule) {
        return set_dates(snapshot, &broken, progress);
    }
    if SITE_LINKED.contains(rule) {
        return set_alternates(snapshot, &broken, progress);
    }
    let set = snapshot.checks.set();
    let locs = DocumentLocs(&snapshot.document);
    let (mut moved, mut deleted): (Vec<(RowId, Value)>, _) = (Vec::new(), RowSet::new());
    let mut given = HashSet::new();
    for row in broken.iter().map(RowId) {
        if progress.is_cancelled() {
            return None;
        }
        let loc = snapshot.document.loc(row);
        let Some(url) = snapshot.checks.site().and_then(|site| site.replacement(rule, &loc)) else {
            done.refuse("the site gives no URL to replace it with");
            continue;
        };
        let is_listed = set.duplicates().rows_of_page(&url, &locs).iter().any(|other| other != row.0);
        if is_listed || !given.insert(url.clone().into_owned()) {
            deleted.insert(row.0);
            continue;
        }
        let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
        match worse_value(Field::Loc, (&loc, &url), &context) {
            Some(worse) => done.refuse(format!("{url} would violate {worse}")),
            None => moved.push((row, Some(url.as_ref().into()))),
        }
    }
    done.set_each(Field::Loc, moved);
    delete(&mut done, deleted);
    Some(done)
}

/// Sets lastmod to the date of the last change of each page.
fn set_dates(snapshot: &Snapshot, rows: &RowSet, progress: &Progress) -> Option<RowEdits> {
    let (mut done, mut dated): (RowEdits, Vec<(RowId, Value)>) = (RowEdits::default(), Vec::new());
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

/// The maximum number of links of an entry that are examined.
const MAX_LINKS: usize = 1_000;

/// Sets the alternates of each row to those of its page.
fn set_alternates(snapshot: &Snapshot, rows: &RowSet, progress: &Progress) -> Option<RowEdits> {
    let (mut done, document) = (RowEdits::default(), &snapshot.document);
    for row in rows.iter().map(RowId) {
        if progress.is_cancelled() {
            return None;
        }
        let Some(expected) = snapshot.checks.site().and_then(|site| site.alternates(&document.loc(row))) else {
            done.refuse("the alternates of the page are not known");
            continue;
        };
        match with_alternates(&document.entry_text(row), document.names(row), &expected) {
            Some(text) if is_sound(snapshot, row, &text) => {
                done.edits.push(Edit::Raw { row, text: text.into() });
                done.rows.insert(row.0);
            }
            Some(_) => done.refuse("that would violate another rule"),
            None => done.refuse("its links cannot be changed"),
        }
    }
    Some(done)
}

/// An entry that lists exactly these alternates; correct links stay unchanged.
fn with_alternates(text: &[u8], names: &Names, expected: &[(String, String)]) -> Option<String> {
    let mut text = text.to_vec();
    let mut missing: Vec<(&String, &String)> = expected.iter().map(|(code, url)| (code, url)).collect();
    let path = |number: usize, attribute: &str| Path::parse(&format!("link[{number}]{attribute}")).ok();
    let value = |text: &[u8], number, attribute| value_at(text, names, &path(number, attribute)?);
    let is_there =
        |number: &usize| ["@rel", "@hreflang", "@href"].iter().any(|name| value(&text, *number, name).is_some());
    let count = (1..=MAX_LINKS).take_while(is_there).count();
    // Backwards, so that the numbers of the links before it stay valid.
    for number in (1..=count).rev() {
        let (Some(code), Some(url)) = (value(&text, number, "@hreflang"), value(&text, number, "@href")) else {
            continue;
        };
        let is_same = |(own, other): &(&String, &String)| own.eq_ignore_ascii_case(&code) && is_same_page(other, &url);
        if let Some(at) = missing.iter().position(is_same) {
            missing.remove(at);
        } else {
            let change = ExtensionChange::Remove(path(number, "")?);
            text = edit_extension(&text, names, &change).ok().flatten()?;
        }
    }
    let missing: Vec<NewLink> =
        missing.into_iter().map(|(code, url)| (code.as_str().into(), url.as_str().into())).collect();
    if missing.is_empty() { String::from_utf8(text).ok() } else { with_links(&text, names, &missing) }
}

fn is_same_page(one: &str, other: &str) -> bool {
    let (mut first, mut second) = (String::new(), String::new());
    location::key(one, &mut first) == location::key(other, &mut second)
}

/// An error or warning that a new value has and the old one has not.
fn worse_value(field: Field, (old, new): (&str, &str), context: &Context<'_>) -> Option<Rule> {
    let new = check_value(field, new, context).minus(check_value(field, old, context));
    new.iter().find(|rule| rule.severity_in(context.profile) > Some(Severity::Note))
}

fn delete(done: &mut RowEdits, rows: RowSet) {
    if !rows.is_empty() {
        done.rows |= &rows;
        done.edits.push(Edit::Delete(rows));
    }
}
