//! Fixes findings across rows: merges duplicates, unifies hosts, removes values without information.

use crate::check::decision::Decision;
use crate::check::rewrite;
use crate::check::rule::Rule;
use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::location::{self, Location};
use crate::session::checks::DocumentLocs;
use crate::session::edit::intent::SAMPLES;
use crate::session::edit::values::sample_of;
use crate::session::edit::{Intent, Label, Sample};
use crate::session::fix::row_edits::{RowEdits, is_sound, violating_rows};
use crate::session::fix::{self, alternates, site};
use crate::session::fix_table::{CLEARED, MERGED, OF_SITE, REWRITTEN};
use crate::session::state::Snapshot;
use foldhash::fast::FixedState;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;

/// The intent of fixing a rule of the set; `answer` decides between several possible fixes. `None` when cancelled.
pub(in crate::session) fn intend(
    snapshot: &Snapshot,
    rows: &RowSet,
    rule: Rule,
    answer: Option<&Decision>,
    progress: &Progress,
) -> Option<Intent> {
    let live: RowSet = rows.iter().filter(|row| snapshot.document.is_live(RowId(*row))).collect();
    let mut done = match rule.main() {
        main if MERGED.contains(main) => merge(snapshot, &live, main, progress)?,
        main if REWRITTEN.contains(main) => rewrite_locs(snapshot, &live, main, answer, progress)?,
        main if CLEARED.contains(main) => clear_values(snapshot, &live, rule),
        main if OF_SITE.contains(main) => site::intend(snapshot, &live, main, progress)?,
        main => alternates::fix_rows(snapshot, &live, main, answer, progress)?,
    };
    let unused = fix::unused_after(snapshot, &done.edits);
    done.edits.extend(unused);
    let (changes, added) = (done.rows.len(), done.added);
    let deleted = if OF_SITE.contains(rule.main()) { deleted_rows(&done.edits) } else { 0 };
    let (count, words) = match (changes, added) {
        (0, 1..) => (added, " added"),
        (1.., _) if changes == deleted => (deleted, " deleted"),
        _ => (changes.saturating_sub(deleted), " fixed"),
    };
    let label = Label::of(format!("{}: ", rule.code()), count, "row", words);
    let label = label.refusing(done.refused, done.reason.as_ref());
    Some(Intent {
        label: match changes.saturating_sub(deleted) {
            0 => label,
            _ => label.and_any(deleted, "row", " deleted: the set already lists that page"),
        },
        samples: samples(snapshot, &done.edits),
        edit: (!done.edits.is_empty()).then_some(Edit::Several(done.edits)),
        refused: done.refused,
        reason: done.reason,
        idle: "nothing to fix",
        ..Intent::counting(changes.max(added))
    })
}

/// The number of deleted rows.
fn deleted_rows(edits: &[Edit]) -> u64 {
    edits.iter().map(|edit| if let Edit::Delete(rows) = edit { rows.len() } else { 0 }).sum()
}

/// The samples of a preview, from the rows whose value is set.
fn samples(snapshot: &Snapshot, edits: &[Edit]) -> Vec<Sample> {
    let fields = edits.iter().filter_map(|edit| match edit {
        Edit::SetEach { field, values } => Some((*field, values)),
        _ => None,
    });
    let values = fields.flat_map(|(field, values)| values.iter().map(move |(row, value)| (field, *row, value)));
    values.take(SAMPLES).map(|(field, row, value)| sample_of(snapshot, row, field, value.as_deref())).collect()
}

/// Merges rows of the same page: the first gets the newest date and all extensions, the others are deleted.
fn merge(snapshot: &Snapshot, rows: &RowSet, rule: Rule, progress: &Progress) -> Option<RowEdits> {
    let locs = DocumentLocs(&snapshot.document);
    let set = snapshot.checks.set();
    let broken = violating_rows(snapshot, rows, rule);
    let mut pages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    if rule == Rule::SET_DUPLICATE_NEAR {
        for (row, first) in set.near_pairs(&locs).into_iter().filter(|(row, _)| broken.contains(*row)) {
            // Rows with the same page as the near duplicate are merged too.
            let others =
                set.duplicates().members(row).into_iter().filter(|other| *other != row && rows.contains(*other));
            pages.entry(first).or_default().extend(std::iter::once(row).chain(others));
        }
    } else {
        let by_text = if rule == Rule::SET_DUPLICATE { HashMap::new() } else { duplicates_by_text(snapshot) };
        let same_text = |row: u32| {
            let loc = snapshot.document.loc(RowId(row));
            let same = by_text.get(&text_hash(&loc)).into_iter().flatten().copied();
            same.filter(move |other| snapshot.document.loc(RowId(*other)) == loc)
        };
        for row in &broken {
            // The first row of the page, or of those with the same spelling.
            let Some(first) = set.duplicates().original(row, &locs) else { continue };
            let file = |row: u32| snapshot.document.sitemap_of(RowId(row));
            let is_other = |other: &u32| *other != first && rows.contains(*other);
            match rule {
                // In any file: another spelling in this file, or this spelling in another file.
                Rule::SET_DUPLICATE_EQUIVALENT => {
                    pages.entry(first).or_default().extend(same_text(row).filter(is_other));
                }
                // The rows of all other files at once.
                Rule::SET_DUPLICATE_ACROSS_FILES => {
                    pages.entry(first).or_insert_with(|| {
                        same_text(row).filter(is_other).filter(|other| file(*other) != file(first)).collect()
                    });
                }
                _ => pages.entry(first).or_default().push(row),
            }
        }
    }
    let mut done = RowEdits::default();
    let (mut dates, mut gone) = (Vec::new(), RowSet::new());
    for (first, others) in pages {
        if progress.is_cancelled() {
            return None;
        }
        let first = RowId(first);
        let names = snapshot.document.names(first);
        let text = snapshot.document.entry_text(first);
        // The namespaces of another file may differ from those of this one.
        let texts: Vec<_> = others
            .iter()
            .map(|row| RowId(*row))
            .filter(|row| snapshot.document.names(*row) == names)
            .map(|row| snapshot.document.entry_text(row))
            .collect();
        let texts: Vec<&[u8]> = texts.iter().map(AsRef::as_ref).collect();
        if let Some(united) =
            rewrite::append_extensions_of(&text, &texts, names).filter(|new| is_sound(snapshot, first, new))
        {
            done.edits.push(Edit::Raw { row: first, text: united.into() });
            done.rows.insert(first.0);
        }
        let newest = |row: &u32| snapshot.document.record(RowId(*row)).lastmod().map(|lastmod| lastmod.seconds);
        let latest = others.iter().copied().max_by_key(|row| newest(row));
        if let Some(latest) = latest.filter(|latest| newest(latest) > newest(&first.0)) {
            let value = snapshot.document.value(RowId(latest), Field::Lastmod).map(|value| (&*value).into());
            dates.push((first, value));
        }
        gone.extend(others);
    }
    done.set_each(Field::Lastmod, dates);
    if !gone.is_empty() {
        done.rows |= &gone;
        done.edits.push(Edit::Delete(gone));
    }
    Some(done)
}

/// Rows that share their page with others, by a hash of their URL's text.
fn duplicates_by_text(snapshot: &Snapshot) -> HashMap<u64, Vec<u32>> {
    let mut rows: HashMap<u64, Vec<u32>> = HashMap::new();
    for row in snapshot.checks.set().duplicates().rows_of_groups() {
        rows.entry(text_hash(&snapshot.document.loc(RowId(row)))).or_default().push(row);
    }
    rows
}

/// Sets the rarer scheme, host or port to the more common one; `answer` may choose another, or delete the rows.
fn rewrite_locs(
    snapshot: &Snapshot,
    rows: &RowSet,
    rule: Rule,
    answer: Option<&Decision>,
    progress: &Progress,
) -> Option<RowEdits> {
    let mut done = RowEdits::default();
    let broken = violating_rows(snapshot, rows, rule);
    if answer == Some(&Decision::Delete) {
        done.rows.clone_from(&broken);
        done.edits.extend((!broken.is_empty()).then_some(Edit::Delete(broken)));
        return Some(done);
    }
    if rule == Rule::SET_MIXED_HOST {
        for _ in &broken {
            done.refuse("URLs of another host are other pages: the answer delete removes them; sited split --by host writes one file for each host");
        }
        return Some(done);
    }
    let common = snapshot.checks.set().main_origin().map(|(origin, _)| origin.to_owned()).unwrap_or_default();
    // An answer may choose the rarer one, so all rows are examined.
    let examined = if answer.is_some() { rows } else { &broken };
    let (mut values, mut new_locs) = (Vec::new(), HashSet::new());
    for row in examined.iter().map(RowId) {
        if progress.is_cancelled() {
            return None;
        }
        let loc = snapshot.document.loc(row);
        let Some(new) = rewrite_loc(&loc, rule, &common, answer).filter(|new| *new != loc) else { continue };
        if !location::validate(&new).minus(location::validate(&loc)).is_empty() {
            done.refuse(format!("{new} would have another error"));
        } else if !snapshot.checks.set().duplicates().rows_of_page(&new, &DocumentLocs(&snapshot.document)).is_empty()
            || !new_locs.insert(location::key_hash(&new))
        {
            done.refuse(format!("{new} is already listed; fix set-duplicate-near to merge the two"));
        } else {
            values.push((row, Some(new.into())));
        }
    }
    done.set_each(Field::Loc, values);
    Some(done)
}

/// Removes the values from the rows of the files, or of the set, that violate the rule.
fn clear_values(snapshot: &Snapshot, rows: &RowSet, rule: Rule) -> RowEdits {
    let broken = snapshot.checks.set().broken().filter(|(_, broken)| broken.rule().main() == rule.main());
    let files: Vec<Option<u32>> = broken.map(|(file, _)| file).collect();
    let is_dated = matches!(rule, Rule::SET_LASTMOD_IDENTICAL | Rule::SET_LASTMOD_GENERATED);
    let field = if is_dated { Field::Lastmod } else { Field::Priority };
    let is_cleared = |row: &u32| {
        let file = snapshot.document.with_pending_split().sitemap_of(RowId(*row)).0;
        files.iter().any(|found| found.is_none_or(|found| found == file))
            && snapshot.document.value(RowId(*row), field).is_some()
    };
    let rows: RowSet = rows.iter().filter(is_cleared).collect();
    let edit = (!rows.is_empty()).then(|| Edit::Set { rows: rows.clone(), field, value: None });
    RowEdits { edits: edit.into_iter().collect(), rows, ..RowEdits::default() }
}

/// A URL with the common or chosen scheme, host or port.
fn rewrite_loc(loc: &str, rule: Rule, common: &str, answer: Option<&Decision>) -> Option<String> {
    let (scheme, rest) = loc.split_once("://")?;
    let location = Location::of(loc);
    let host = location.host();
    let at = rest.find(host).filter(|_| !host.is_empty())?;
    let (before, after) = (rest.get(..at)?, rest.get(at + host.len()..)?);
    let of_common = Location::of(common);
    match rule {
        Rule::SET_MIXED_SCHEME => {
            let right = match answer {
                Some(Decision::Scheme(scheme)) => scheme,
                _ if scheme.eq_ignore_ascii_case("http") => "https",
                _ => "http",
            };
            (!scheme.eq_ignore_ascii_case(right)).then(|| format!("{right}://{rest}"))
        }
        Rule::SET_MIXED_WWW => {
            let (bare, has_www) = host.strip_prefix("www.").map_or((host, false), |bare| (bare, true));
            let wants_www = match answer {
                Some(Decision::Www(www)) => *www,
                _ => !has_www,
            };
            let prefix = if wants_www { "www." } else { "" };
            (wants_www != has_www).then(|| format!("{scheme}://{before}{prefix}{bare}{after}"))
        }
        _ => {
            let end = after.find(['/', '?', '#']).unwrap_or(after.len());
            let (_, path) = after.split_at_checked(end)?;
            let port = common.split_once("://")?.1.split_once(of_common.host())?.1;
            Some(format!("{scheme}://{before}{host}{port}{path}"))
        }
    }
}

fn text_hash(text: &str) -> u64 {
    FixedState::with_seed(1).hash_one(text)
}
