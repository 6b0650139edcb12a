//! Applies fixes to many rows as one change.

pub(super) mod alternates;
pub(super) mod effects;
pub(super) mod index_entries;
pub(super) mod name;
pub(super) mod passes;
pub(super) mod row_edits;
pub(super) mod set;
mod site;
pub(super) mod trial;
pub(super) mod whole_files;

use crate::check::FindingTarget;
use crate::check::decision::Decision;
use crate::check::fix::{self, FixedEntry};
use crate::check::quirk;
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::document::edit::{Edit, NewEntry, Value};
use crate::document::query::scan::quoted;
use crate::document::quirk::Quirk;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Member, SitemapId};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::edit::intent::unfixed_message;
use crate::session::edit::values::{self, FieldOfRows};
use crate::session::edit::{Change, EditError, Intent, Label, PreviewPart, Sample};
use crate::session::fix_table::{self, CLEARED, is_unattended};
use crate::session::state::Snapshot;
use crate::session::{Session, file_fixes, findings};
use crate::xml::entry::Entry;
use crate::xml::record::Record;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The rows that an edit changes or deletes.
fn touched_rows(edit: &Edit) -> RowSet {
    match edit {
        Edit::Set { rows, .. } | Edit::Delete(rows) | Edit::Restore(rows) => rows.clone(),
        Edit::SetEach { values, .. } => values.iter().map(|(row, _)| row.0).collect(),
        Edit::Raw { row, .. } => RowSet::from_iter([row.0]),
        Edit::Several(edits) => edits.iter().map(touched_rows).fold(RowSet::new(), |all, rows| all | rows),
        _ => RowSet::new(),
    }
}

/// Rows and files that a fix skips although they are selected.
#[derive(Debug, Clone, Default)]
pub(super) struct SkippedRows {
    /// Rows.
    rows: RowSet,
    /// Files, without their rows.
    files: BTreeSet<Member>,
}

/// The intent of fixing `rules` in `rows` and their files, without the rows and files in `skipped`. A rule that is
/// named runs even if its fix needs a decision: naming it is the decision. `None` when cancelled.
pub(super) fn intend_rows(
    snapshot: &Snapshot,
    rows: &RowSet,
    skipped: &SkippedRows,
    rules: RuleSet,
    progress: &Progress,
) -> Option<Intent> {
    // Repairs are accepted for whole files.
    let of_rows = rules.minus(quirk::REPAIRS).minus(fix_table::OF_SET);
    let affected: Vec<u32> = rows
        .iter()
        .filter(|row| {
            let is_selected = snapshot.document.is_live(RowId(*row)) && !skipped.rows.contains(*row);
            is_selected && snapshot.rules_of(RowId(*row)).intersects(of_rows)
        })
        .collect();
    let unattended = is_unattended(rules);
    let repairs: Vec<(RowId, (FixedEntry, RuleSet))> = affected
        .par_iter()
        .filter_map(|row| {
            if progress.is_cancelled() {
                return None;
            }
            let row = RowId(*row);
            let text = snapshot.document.entry_text(row);
            let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
            fix::fix_rules_of_entry(&text, &context, rules, unattended).map(|repair| (row, repair))
        })
        .collect();
    if progress.is_cancelled() {
        return None;
    }
    let mut fields: [Vec<(RowId, Value)>; 4] = Default::default();
    let mut edits = Vec::new();
    let mut samples = Vec::new();
    let changes = repairs.len() as u64;
    let fixed_rows: RowSet = repairs.iter().map(|(row, _)| row.0).collect();
    let mut fixed: BTreeMap<Rule, u64> = BTreeMap::new();
    for (row, (repair, rules)) in repairs {
        for rule in rules.iter() {
            *fixed.entry(rule).or_default() += 1;
        }
        match repair {
            FixedEntry::Values(values) => {
                for (field, value) in values {
                    if samples.len() < 50 {
                        let before = snapshot.document.value(row, field).map(std::borrow::Cow::into_owned);
                        samples.push(Sample { row, part: PreviewPart::Field(field), before, after: value.clone() });
                    }
                    if let Some(list) = fields.get_mut(field.index()) {
                        list.push((row, value.map(Into::into)));
                    }
                }
            }
            FixedEntry::Split(parts) => {
                let mut parts = parts.into_iter();
                if let Some(text) = parts.next() {
                    edits.push(Edit::Raw { row, text: text.into() });
                }
                let entries: Vec<NewEntry> = parts.map(|text| NewEntry::Element(text.trim().into())).collect();
                edits.push(Edit::Insert { sitemap: snapshot.document.sitemap_of(row), after: Some(row), entries });
            }
            FixedEntry::Text(text) => edits.push(Edit::Raw { row, text: text.into() }),
        }
    }
    for (field, values) in Field::ALL.into_iter().zip(fields) {
        if !values.is_empty() {
            edits.push(Edit::SetEach { field, values });
        }
    }
    let of_files = whole_files::intend_files(snapshot, rows, &skipped.files, rules);
    let files: BTreeSet<Member> = of_files.iter().filter_map(Edit::file).collect();
    edits.extend(of_files);
    edits.extend(unused_after(snapshot, &edits));
    let unfixable = affected.len() as u64 - changes;
    let unfixed = unfixed(snapshot, &affected, &fixed_rows, of_rows);
    let reason = (unfixable > 0).then(|| unfixed_message(&unfixed));
    let intent = Intent {
        label: Label::of("", changes, "row", " fixed").by_rule(fixed).refusing(unfixable, reason.as_ref()).and_any(
            files.len() as u64,
            "file",
            " fixed",
        ),
        edit: (!edits.is_empty()).then_some(Edit::Several(edits)),
        rows: rows.len(),
        refused: unfixable,
        reason,
        unfixed,
        samples,
        idle: "nothing to fix",
        is_fix: true,
        ..Intent::counting(changes.max(files.len() as u64))
    };
    let asks = rules.contains(Rule::INDEX_CHILD_UNLISTED) && index_entries::asks_for_folder(snapshot);
    let idle = if asks { "give the URL of the folder: fix index-child-unlisted URL" } else { intent.idle };
    let mut intent = Intent { idle, ..intent };
    index_entries::refuse_kept_urls(snapshot, rules, &mut intent);
    if intent.edit.is_none() && intent.refused == 0 && unattended {
        intent.unnamed = unnamed(snapshot, rows, rules);
    }
    let of_set = rules.intersection(fix_table::OF_SET);
    of_set.iter().try_fold(intent, |intent, rule| {
        let changed_rows = intent.edit.as_ref().map(touched_rows).unwrap_or_default();
        // Rows that another rule has changed are not changed again in this pass.
        let other = set::intend(snapshot, &(rows - &skipped.rows - &changed_rows), rule, None, progress)?;
        Some(if other.edit.is_none() && other.refused == 0 { intent } else { intent.join(other) })
    })
}

/// Counts the findings of rows and their files whose fix is applied only if the rule is named.
fn unnamed(snapshot: &Snapshot, rows: &RowSet, rules: RuleSet) -> BTreeMap<Rule, u64> {
    /// The maximum number of rows of a rule that are examined: not every value has a fix.
    const MAX_EXAMINED: usize = 20;
    let asks: RuleSet = Rule::ALL.into_iter().filter(|rule| rule.fix() == FixKind::Ask).collect();
    let asks = asks.minus(rules);
    let mut of_rows: BTreeMap<Rule, Vec<RowId>> = BTreeMap::new();
    let mut counts: BTreeMap<Rule, u64> = BTreeMap::new();
    for row in rows.iter().map(RowId).filter(|row| snapshot.document.is_live(*row)) {
        for rule in snapshot.rules_of(row).intersection(asks.minus(quirk::REPAIRS)).iter() {
            *counts.entry(rule).or_default() += 1;
            let examined = of_rows.entry(rule).or_default();
            if examined.len() < MAX_EXAMINED {
                examined.push(row);
            }
        }
    }
    let has_fix = |rule: Rule, row: RowId| {
        findings::of_row(snapshot, row).iter().any(|finding| finding.rule == rule && finding.fix.is_some())
    };
    counts.retain(|rule, _| of_rows.get(rule).is_some_and(|rows| rows.iter().any(|row| has_fix(*rule, *row))));
    for member in whole_files::members(snapshot, rows) {
        let (quirks, accepted) = match member {
            Member::Index => {
                let Some(index) = snapshot.document.index() else { continue };
                (index.all_quirks().cloned().collect(), index.accepted)
            }
            Member::Sitemap(id) => {
                let Some(sitemap) = snapshot.document.sitemap(id) else { continue };
                let of_file = findings::file_findings::of_sitemap(
                    (&snapshot.document, &snapshot.saved),
                    id,
                    snapshot.checks.profile(),
                );
                for finding in of_file.iter().filter(|finding| finding.fix.is_some()) {
                    let rule = finding.rule;
                    if asks.contains(rule) && !quirk::REPAIRS.contains(rule) {
                        *counts.entry(rule).or_default() += 1;
                    }
                }
                (sitemap.quirks.to_vec(), sitemap.accepted)
            }
        };
        let is_open = |quirk: &&Quirk| !accepted && file_fixes::quirk_fix(quirk).is_some();
        for rule in quirks.iter().filter(is_open).map(|quirk: &Quirk| quirk::rule_of(quirk.kind)) {
            if asks.contains(rule) {
                *counts.entry(rule).or_default() += 1;
            }
        }
    }
    counts
}

/// Counts, by rule, the findings of affected rows that the fix does not change.
fn unfixed(snapshot: &Snapshot, affected: &[u32], fixed_rows: &RowSet, rules: RuleSet) -> BTreeMap<Rule, u64> {
    let mut counts: BTreeMap<Rule, u64> = BTreeMap::new();
    for row in affected.iter().filter(|row| !fixed_rows.contains(**row)) {
        for rule in snapshot.rules_of(RowId(*row)).intersection(rules).iter() {
            *counts.entry(rule.main()).or_default() += 1;
        }
    }
    counts
}

/// The intent of a decision about whole rows, for those that violate a rule. `None` when cancelled.
pub(super) fn intend_decided(
    snapshot: &Snapshot,
    rows: &RowSet,
    rule: Rule,
    decision: &Decision,
    progress: &Progress,
) -> Option<Intent> {
    if *decision == Decision::Usual {
        return intend_rows(snapshot, rows, &SkippedRows::default(), rule.family(), progress);
    }
    if fix_table::OF_SET.contains(rule) {
        return set::intend(snapshot, rows, rule, Some(decision), progress);
    }
    let broken =
        |row: &u32| snapshot.document.is_live(RowId(*row)) && snapshot.rules_of(RowId(*row)).intersects(rule.family());
    let broken: RowSet = rows.iter().filter(broken).collect();
    Some(Intent::of_rows("deleted", &broken, Edit::Delete(broken.clone())))
}

/// The command that fixes a rule of a file, ending in a proposed answer for the user to confirm or replace; `None` if
/// the fix needs no answer.
pub(crate) fn question(snapshot: &Snapshot, file: Member, rule: Rule) -> Option<String> {
    let of = |name: &str| match snapshot.document.sitemaps().len() {
        1 => String::new(),
        _ => format!(" where file={}", quoted(name)),
    };
    if file_fixes::name::FIXES.contains(rule) {
        let safe = file_fixes::name::propose_name(&snapshot.document, file)?;
        let rows = match file {
            Member::Index => String::new(),
            Member::Sitemap(_) => of(&snapshot.file_name(file)),
        };
        return Some(format!("fix {} {safe}{rows}", rule.code()));
    }
    let asks = match rule {
        Rule::INDEX_CHILD_UNLISTED => index_entries::asks_for_folder(snapshot),
        Rule::INDEX_CHILD_INCOMPLETE_URL => index_entries::asks_for_origin(snapshot),
        _ => false,
    };
    let origin = snapshot.checks.set().main_origin().map_or("https://example.com", |(origin, _)| origin);
    asks.then(|| format!("fix {} {origin}/", rule.code()))
}

/// The intent of completing URLs of the index, or listing unlisted files, below a URL.
pub(super) fn intend_below(snapshot: &Snapshot, rule: Rule, url: &str) -> Intent {
    let edit = index_entries::edit(snapshot, &snapshot.document, RuleSet::of(&[rule]), Some(url));
    let label = Label::of("", 1, "file", " fixed");
    Intent { label, idle: "nothing to fix", ..Intent { edit, ..Intent::counting(1) } }
}

/// The edits that remove declarations of extensions that these edits leave unused.
fn unused_after(snapshot: &Snapshot, edits: &[Edit]) -> Vec<Edit> {
    let had = |row: RowId| snapshot.document.record(row).flags.has_extensions();
    let loses = |edit: &Edit| match edit {
        Edit::Raw { row, text } => {
            let entry = Entry::of(text.as_bytes(), snapshot.document.names(*row));
            let has = Record::of(&entry, text.as_bytes()).flags.has_extensions();
            let lost = had(*row) && !has;
            if lost { vec![snapshot.document.sitemap_of(*row)] } else { Vec::new() }
        }
        Edit::Delete(rows) => {
            let rows = rows.iter().map(RowId).filter(|row| had(*row));
            rows.map(|row| snapshot.document.sitemap_of(row)).collect()
        }
        _ => Vec::new(),
    };
    let files: BTreeSet<SitemapId> = edits.iter().flat_map(loses).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let Some(after) = snapshot.document.trial(&Edit::Several(edits.to_vec())) else { return Vec::new() };
    let profile = snapshot.checks.profile();
    let files = files.into_iter().map(Member::Sitemap);
    files.filter_map(|file| file_fixes::remove_unused_declarations(&snapshot.document, &after, file, profile)).collect()
}

/// The change that fixes a finding that is not about a row. Some need an answer first ([`question`]).
pub(crate) fn change_for(session: &Session, target: FindingTarget, rule: Rule) -> Change {
    let document = session.document();
    let rules = RuleSet::of(&[rule]);
    match target.member() {
        Some(file) if !CLEARED.contains(rule) => Change::FixFile(file, rules),
        file => {
            let is_selected = |id: SitemapId| file.is_none_or(|file| file == Member::Sitemap(id));
            let rows: RowSet = document
                .live_rows()
                .filter(|row| is_selected(document.with_pending_split().sitemap_of(*row)))
                .map(|row| row.0)
                .collect();
            Change::Fix { rows, rules }
        }
    }
}

/// The intent of a fix.
pub(in crate::session) fn intend(
    snapshot: &Snapshot,
    change: &Change,
    progress: &Progress,
) -> Result<Intent, EditError> {
    let intent = match change {
        Change::Decide { rows, rule, decision: Decision::Name(name) } => {
            Some(name::intend(snapshot, rows, *rule, name)?)
        }
        Change::Decide { rows, rule, decision } => {
            let Some(field) = decision.field() else {
                return intend_decided(snapshot, rows, *rule, decision, progress).ok_or(EditError::Cancelled);
            };
            if let Decision::Base(url) = decision
                && matches!(*rule, Rule::INDEX_CHILD_INCOMPLETE_URL | Rule::INDEX_CHILD_UNLISTED)
            {
                return Ok(intend_below(snapshot, *rule, url));
            }
            let broken = |row: &u32| snapshot.rules_of(RowId(*row)).intersects(rule.family());
            let rows: RowSet = rows.iter().filter(broken).collect();
            let words = format!("{}: {} on", rule.code(), decision.label());
            values::intend_each(snapshot, FieldOfRows { rows: &rows, field, words: &words }, progress, &|_, old| {
                let new = old.and_then(|old| decision.apply(old));
                new.map(|new| new.map(Into::into)).ok_or_else(|| "this answer does not fix it".to_owned())
            })
        }
        Change::FixFile(file, rules) => Some(whole_files::intend_file(snapshot, *file, *rules)),
        Change::Fix { rows, rules } => intend_rows(snapshot, rows, &SkippedRows::default(), *rules, progress),
        _ => Some(Intent::counting(0)),
    };
    intent.ok_or(EditError::Cancelled)
}

#[cfg(test)]
mod tests;
