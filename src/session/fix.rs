//! Applies fixes to many rows as one change.

pub(super) mod alternates;
pub(super) mod effects;
mod files;
pub(super) mod index;
pub(super) mod name;
mod passes;
pub(super) mod row_edits;
pub(super) mod set;
pub(super) mod trial;

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
use crate::session::edit::intent::why_left;
use crate::session::edit::{Intent, Label, PreviewPart, Sample};
use crate::session::fix_table;
use crate::session::fix_table::is_unattended;
use crate::session::state::Snapshot;
use crate::session::{file_fixes, findings};
use crate::xml::entry::Entry;
use crate::xml::record::Record;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The rows that an edit is about.
fn touched(edit: &Edit) -> RowSet {
    match edit {
        Edit::Set { rows, .. } | Edit::Delete(rows) | Edit::Restore(rows) => rows.clone(),
        Edit::SetEach { values, .. } => values.iter().map(|(row, _)| row.0).collect(),
        Edit::Raw { row, .. } => RowSet::from_iter([row.0]),
        Edit::Several(edits) => edits.iter().map(touched).fold(RowSet::new(), |all, rows| all | rows),
        _ => RowSet::new(),
    }
}

/// What a fix leaves alone although it is meant.
#[derive(Debug, Clone, Default)]
pub(super) struct SkippedRows {
    /// Rows.
    rows: RowSet,
    /// Files, apart from their rows.
    files: BTreeSet<Member>,
}

impl Snapshot {
    /// What the fixers of `rules` make of `rows`. A rule that is named may run even if its fix needs a decision:
    /// naming it, and the preview, are the decision. Rows that are `left` alone are the reason for nothing but what is
    /// done to their files, unless those are as well. `None` when cancelled.
    pub(super) fn intend_fix(
        &self,
        rows: &RowSet,
        left: &SkippedRows,
        rules: RuleSet,
        progress: &Progress,
    ) -> Option<Intent> {
        // What was repaired when a file was read is agreed to for the file.
        let of_rows = rules.minus(quirk::REPAIRS).minus(fix_table::OF_SET);
        let affected: Vec<u32> = rows
            .iter()
            .filter(|row| {
                let is_meant = self.document.is_live(RowId(*row)) && !left.rows.contains(*row);
                is_meant && self.rules_of(RowId(*row)).intersects(of_rows)
            })
            .collect();
        let unattended = is_unattended(rules);
        let repairs: Vec<(RowId, FixedEntry)> = affected
            .par_iter()
            .filter_map(|row| {
                if progress.is_cancelled() {
                    return None;
                }
                let row = RowId(*row);
                let text = self.document.entry_text(row);
                let context = self.checks.context(&self.document, row, self.clock);
                fix::fix_entry(&text, &context, rules, unattended).map(|repair| (row, repair))
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
        for (row, repair) in repairs {
            match repair {
                FixedEntry::Values(values) => {
                    for (field, value) in values {
                        if samples.len() < 50 {
                            let before = self.document.value(row, field).map(std::borrow::Cow::into_owned);
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
                    edits.push(Edit::Insert { sitemap: self.document.sitemap_of(row), after: Some(row), entries });
                }
                FixedEntry::Text(text) => edits.push(Edit::Raw { row, text: text.into() }),
            }
        }
        for (field, values) in Field::ALL.into_iter().zip(fields) {
            if !values.is_empty() {
                edits.push(Edit::SetEach { field, values });
            }
        }
        let of_files = self.intend_fix_files(rows, &left.files, rules);
        let files: BTreeSet<Member> = of_files.iter().filter_map(Edit::file).collect();
        edits.extend(of_files);
        edits.extend(self.unused_after(&edits));
        let unfixable = affected.len() as u64 - changes;
        let unfixed = self.unfixed(&affected, &fixed_rows, of_rows);
        let reason = (unfixable > 0).then(|| why_left(&unfixed));
        let intent = Intent {
            label: Label::of("", changes, "row", " fixed").refusing(unfixable, reason.as_ref()).and_any(
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
            idle: "there is nothing to fix",
            is_fix: true,
            ..Intent::counting(changes.max(files.len() as u64))
        };
        let asks = rules.contains(Rule::INDEX_CHILD_UNLISTED) && self.asks_for_folder();
        let idle = if asks { "say the URL of the folder: fix index-child-unlisted URL" } else { intent.idle };
        let mut intent = Intent { idle, ..intent };
        let kept = self.kept_by_pages(rules);
        if let Some(first) = kept.first() {
            intent.refused += kept.len() as u64;
            let why = format!("{first} keeps its URL: pages in it would not lie below the new one");
            intent.reason.get_or_insert(why);
        }
        if intent.edit.is_none() && intent.refused == 0 && unattended {
            intent.unnamed = self.unnamed(rows, rules);
        }
        let of_set = rules.intersection(fix_table::OF_SET);
        of_set.iter().try_fold(intent, |intent, rule| {
            let taken = intent.edit.as_ref().map(touched).unwrap_or_default();
            // A row that one rule has changed is another row for the next.
            let other = self.intend_fix_set(&(rows - &left.rows - &taken), rule, None, progress)?;
            Some(if other.edit.is_none() && other.refused == 0 { intent } else { intent.joined(other) })
        })
    }

    /// Findings of rows, and of the files that they are in, that have a fix which nobody may do unasked.
    fn unnamed(&self, rows: &RowSet, rules: RuleSet) -> BTreeMap<Rule, u64> {
        /// Rows of a rule that are looked at: not every value has a fix.
        const TRIED: usize = 20;
        let asks: RuleSet = Rule::ALL.into_iter().filter(|rule| rule.fix() == FixKind::Ask).collect();
        let asks = asks.minus(rules);
        let mut of_rows: BTreeMap<Rule, Vec<RowId>> = BTreeMap::new();
        let mut counts: BTreeMap<Rule, u64> = BTreeMap::new();
        for row in rows.iter().map(RowId).filter(|row| self.document.is_live(*row)) {
            for rule in self.rules_of(row).intersection(asks.minus(quirk::REPAIRS)).iter() {
                *counts.entry(rule).or_default() += 1;
                let tried = of_rows.entry(rule).or_default();
                if tried.len() < TRIED {
                    tried.push(row);
                }
            }
        }
        let has_fix = |rule: Rule, row: RowId| {
            self.findings(row).iter().any(|finding| finding.rule == rule && finding.fix.is_some())
        };
        counts.retain(|rule, _| of_rows.get(rule).is_some_and(|rows| rows.iter().any(|row| has_fix(*rule, *row))));
        for member in self.members(rows) {
            let (quirks, accepted) = match member {
                Member::Index => {
                    let Some(index) = self.document.index() else { continue };
                    (index.all_quirks().cloned().collect(), index.accepted)
                }
                Member::Sitemap(id) => {
                    let Some(sitemap) = self.document.sitemap(id) else { continue };
                    let of_file = findings::files::of_sitemap((&self.document, &self.saved), id, self.checks.profile());
                    for finding in of_file.iter().filter(|finding| finding.fix.is_some()) {
                        let rule = finding.rule;
                        if asks.contains(rule) && !quirk::REPAIRS.contains(rule) {
                            *counts.entry(rule).or_default() += 1;
                        }
                    }
                    (sitemap.quirks.to_vec(), sitemap.accepted)
                }
            };
            let waits = |quirk: &&Quirk| !accepted && file_fixes::accepting(quirk).is_some();
            for rule in quirks.iter().filter(waits).map(|quirk: &Quirk| quirk::rule_of(quirk.kind)) {
                if asks.contains(rule) {
                    *counts.entry(rule).or_default() += 1;
                }
            }
        }
        counts
    }

    /// Which rules rows break that no fixer puts right.
    fn unfixed(&self, affected: &[u32], fixed_rows: &RowSet, rules: RuleSet) -> BTreeMap<Rule, u64> {
        let mut counts: BTreeMap<Rule, u64> = BTreeMap::new();
        for row in affected.iter().filter(|row| !fixed_rows.contains(**row)) {
            for rule in self.rules_of(RowId(*row)).intersection(rules).iter() {
                *counts.entry(rule.main()).or_default() += 1;
            }
        }
        counts
    }

    /// What an answer that is about whole rows makes of those that break a rule. `None` when cancelled.
    pub(super) fn intend_decided(
        &self,
        rows: &RowSet,
        rule: Rule,
        decision: &Decision,
        progress: &Progress,
    ) -> Option<Intent> {
        if *decision == Decision::Usual {
            return self.intend_fix(rows, &SkippedRows::default(), rule.family(), progress);
        }
        if fix_table::OF_SET.contains(rule) {
            return self.intend_fix_set(rows, rule, Some(decision), progress);
        }
        let broken =
            |row: &u32| self.document.is_live(RowId(*row)) && self.rules_of(RowId(*row)).intersects(rule.family());
        let broken: RowSet = rows.iter().filter(broken).collect();
        Some(Intent::of_rows("deleted", &broken, Edit::Delete(broken.clone())))
    }

    /// The command that puts a rule of a file right once its end is confirmed or typed; `None` where nothing is asked.
    pub fn question(&self, file: Member, rule: Rule) -> Option<String> {
        let of = |name: &str| match self.document.sitemaps().len() {
            1 => String::new(),
            _ => format!(" where file={}", quoted(name)),
        };
        if file_fixes::name::FIXES.contains(rule) {
            let safe = file_fixes::name::proposed(&self.document, file)?;
            let rows = match file {
                Member::Index => String::new(),
                Member::Sitemap(_) => of(&self.file_name(file)),
            };
            return Some(format!("fix {} {safe}{rows}", rule.code()));
        }
        let asks = match rule {
            Rule::INDEX_CHILD_UNLISTED => self.asks_for_folder(),
            Rule::INDEX_CHILD_INCOMPLETE_URL => self.asks_for_origin(),
            _ => false,
        };
        let origin = self.checks.set().main_origin().map_or("https://example.com", |(origin, _)| origin);
        asks.then(|| format!("fix {} {origin}/", rule.code()))
    }

    /// What becomes of children whose URL is not complete, or who have none yet, below a URL.
    pub(super) fn intend_below(&self, rule: Rule, url: &str) -> Intent {
        let edit = self.index_put_right(&self.document, RuleSet::of(&[rule]), Some(url));
        let label = Label::of("", 1, "file", " fixed");
        Intent { label, idle: "there is nothing to fix", ..Intent { edit, ..Intent::counting(1) } }
    }

    /// Declarations of extensions that no entry uses any more after these edits.
    fn unused_after(&self, edits: &[Edit]) -> Vec<Edit> {
        let had = |row: RowId| self.document.record(row).flags.has_extensions();
        let loses = |edit: &Edit| match edit {
            Edit::Raw { row, text } => {
                let entry = Entry::of(text.as_bytes(), self.document.names(*row));
                let has = Record::of(&entry, text.as_bytes()).flags.has_extensions();
                let lost = had(*row) && !has;
                if lost { vec![self.document.sitemap_of(*row)] } else { Vec::new() }
            }
            Edit::Delete(rows) => {
                let rows = rows.iter().map(RowId).filter(|row| had(*row));
                rows.map(|row| self.document.sitemap_of(row)).collect()
            }
            _ => Vec::new(),
        };
        let files: BTreeSet<SitemapId> = edits.iter().flat_map(loses).collect();
        if files.is_empty() {
            return Vec::new();
        }
        let Some(after) = self.document.trial(&Edit::Several(edits.to_vec())) else { return Vec::new() };
        let profile = self.checks.profile();
        let files = files.into_iter().map(Member::Sitemap);
        files.filter_map(|file| file_fixes::no_longer_used(&self.document, &after, file, profile)).collect()
    }
}

#[cfg(test)]
mod tests;
