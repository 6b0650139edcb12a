//! Tries a fix before it is made, and skips rows and files for which it would raise errors or warnings.
//!
//! Invariant: after a fix no row, no file and not the set violates a rule of severity error or warning that it did not
//! violate before. Exceptions are [`SHARED_VALUES`] and explicit decisions: to delete rows, or to read a value in a
//! given way.

use crate::check::Profile;
use crate::check::decision::Decision;
use crate::check::quirk;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{SetRule, SetRuleTarget};
use crate::check::{Context, entry as entry_rules};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Member, SitemapId};
use crate::progress::Progress;
use crate::protocol::Severity;
use crate::session::checks::{Checks, DocumentLocs, NEAR_ROWS, rule_of};
use crate::session::edit::{Change, EditError, Intent, Prepared, prepared, script_export};
use crate::session::file_fixes;
use crate::session::file_fixes::volumes::VolumeFindings;
use crate::session::findings::{file_findings, index_findings};
use crate::session::fix::{self, SkippedRows};
use crate::session::state::Snapshot;
use crate::xml::entry::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Rules about values that all rows share. The unchanged rows shared them before, hidden only by other rows or by
/// unreadable values, so a fix is not refused for them; they are reported ([`super::effects`]).
pub(super) const SHARED_VALUES: RuleSet =
    RuleSet::of(&[Rule::SET_LASTMOD_IDENTICAL, Rule::SET_LASTMOD_GENERATED, Rule::SET_PRIORITY_IDENTICAL]);

/// The key for findings of the index and its entries.
const INDEX: &str = "index";

/// Maximum number of trials of a fix; rows that were not tried by then are skipped.
const MAX_TRIALS: u32 = 200;
/// The maximum if each trial visits many rows or parses much text.
const MAX_SLOW_TRIALS: u32 = 24;
/// Maximum bytes of entries that more than [`MAX_SLOW_TRIALS`] trials together may parse.
const MAX_TRIAL_BYTES: u64 = 128 << 20;

/// Whether a fix must not raise this rule.
pub(in crate::session) fn is_bad(rule: Rule, profile: Profile) -> bool {
    !SHARED_VALUES.contains(rule.main()) && rule.severity_in(profile).is_some_and(|severity| severity > Severity::Note)
}

/// Whether a violation of a rule is new and must not be raised. A milder variant of an old violation is not new.
pub(in crate::session) fn is_new(rule: Rule, before: RuleSet, profile: Profile) -> bool {
    let was = rule.family().intersection(before);
    is_bad(rule, profile) && !was.iter().any(|was| was.severity_in(profile) >= rule.severity_in(profile))
}

/// The change without the rows and files for which it would raise errors or warnings. `None` when cancelled.
pub(in crate::session) fn without_harm(
    snapshot: &Snapshot,
    change: &Change,
    prepared: Prepared,
    progress: &Progress,
) -> Option<Prepared> {
    if snapshot.document.is_streamed() {
        return Some(prepared);
    }
    let (rows, rules) = match change {
        Change::Fix { rows, rules } => (rows, *rules),
        Change::FixFile(..) => (&RowSet::new(), RuleSet::EMPTY),
        // The user chose these explicitly; new findings are reported.
        Change::Decide { decision: Decision::Delete | Decision::Name(_) | Decision::Base(_), .. } => {
            return Some(prepared);
        }
        Change::Decide { rows, rule, .. } => (rows, rule.family()),
        _ => return Some(prepared),
    };
    let Some(why) = raises(snapshot, &prepared) else { return Some(prepared) };
    let of_rows = rules.minus(quirk::REPAIRS);
    let affected: RowSet = rows
        .iter()
        .filter(|row| snapshot.document.is_live(RowId(*row)) && snapshot.rules_of(RowId(*row)).intersects(of_rows))
        .collect();
    let files = files_of(prepared.intent.edit.as_ref());
    let trials = if snapshot.document.live() > NEAR_ROWS { MAX_SLOW_TRIALS } else { MAX_TRIALS };
    let bytes: u64 = affected.iter().map(|row| snapshot.document.entry_text(RowId(row)).len() as u64).sum();
    let trials = trials.min((MAX_TRIAL_BYTES / (bytes + 1)).max(MAX_SLOW_TRIALS.into()) as u32);
    let attempt = |skipped: &SkippedRows| match change {
        Change::Fix { rows, rules } => fix::intend_rows(snapshot, rows, skipped, *rules, progress).map(Some),
        Change::Decide { rows, rule, decision: Decision::Usual } => {
            fix::intend_rows(snapshot, rows, skipped, rule.family(), progress).map(Some)
        }
        Change::Decide { rows, rule, decision } => {
            let change = Change::Decide { rows: rows - &skipped.rows, rule: *rule, decision: decision.clone() };
            match super::intend(snapshot, &change, progress) {
                Ok(intent) => Some(Some(intent)),
                Err(EditError::Cancelled) => None,
                Err(EditError::Refused(_)) => Some(None),
            }
        }
        _ => Some(None),
    };
    let skipped = SkippedRows { rows: affected.clone(), files: files.clone() };
    let mut trial = Trial { snapshot, attempt: &attempt, skipped, why, trials, best: None };
    for file in files {
        let mut skipped = trial.skipped.clone();
        skipped.files.remove(&file);
        if let Err(why) = trial.attempt(skipped, progress)? {
            trial.why = why;
        }
    }
    trial.add(&affected.iter().collect::<Vec<_>>(), true, progress)?;
    let Trial { skipped, why, best, .. } = trial;
    // If all are skipped, the rest of the fix must raise nothing either.
    let mut prepared = if let Some(best) = best {
        best
    } else {
        let intent = attempt(&skipped)?.unwrap_or_else(|| Intent::counting(0));
        let rest = prepared::prepare_intent(snapshot, intent, progress)?;
        let is_fine = rest.intent.edit.is_none() || raises(snapshot, &rest).is_none();
        if is_fine { rest } else { prepared::prepare_intent(snapshot, Intent::counting(0), progress)? }
    };
    prepared.intent.refused += skipped.rows.len();
    prepared.intent.refused_files += skipped.files.len() as u64;
    if prepared.intent.refused + prepared.intent.refused_files == 0 {
        // The fix is about a file or the set.
        prepared.intent.refused_files = 1;
    }
    prepared.intent.reason = Some(why);
    prepared.intent.commands = match prepared.intent.edit {
        Some(_) => script_export::lines_of(snapshot, change, &prepared.intent),
        None => Vec::new(),
    };
    Some(prepared)
}

/// A message about an error or a warning that a change would raise.
fn raises(snapshot: &Snapshot, prepared: &Prepared) -> Option<String> {
    let applied = &prepared.applied;
    let (old, new) = (&snapshot.document, &applied.document);
    let mut checks = snapshot.checks.clone();
    checks.commit(prepared.rechecked.clone(), old, applied);
    let profile = snapshot.checks.profile();
    let is_bad = |rule: Rule| is_bad(rule, profile);
    let is_new = |rule: Rule, before: RuleSet| is_new(rule, before, profile);
    let of_row = |row: RowId| {
        let before = if old.is_live(row) { snapshot.checks.rules_of(row, old) } else { RuleSet::EMPTY };
        let after = if new.is_live(row) { checks.rules_of(row, new) } else { RuleSet::EMPTY };
        after.iter().find(|rule| is_new(*rule, before)).map(|rule| (rule, row))
    };
    let found = applied.touched.iter().map(RowId).find_map(of_row);
    let found =
        found.or_else(|| new_findings_elsewhere(snapshot, (&checks, new), &is_bad).into_iter().find_map(of_row));
    if let Some((rule, row)) = found {
        return Some(format!("{} would then violate {}", new.loc(row), rule.code()));
    }
    let files = |checks: &Checks, document: &Document| {
        let is_changed = |id: &SitemapId| {
            let one = |document: &Document| document.with_pending_split().sitemaps().get(id.index()).cloned();
            !matches!((one(old), one(new)), (Some(was), Some(is)) if Arc::ptr_eq(&was, &is))
        };
        let ids = (0..document.with_pending_split().sitemaps().len() as u32).map(SitemapId).filter(is_changed);
        let of_files = ids.flat_map(|id| file_findings::of_sitemap((document, &snapshot.saved), id, profile));
        let of_files = of_files.map(|found| (found.rule, format!("{:?}", found.target)));
        let of_set = checks.set().broken().map(|(file, rule)| (rule_of(rule), format!("{file:?}")));
        let of_index = index_findings::list_findings_of_few(snapshot, document).into_iter();
        let of_index = of_index.map(|found| (found.rule, INDEX.to_owned()));
        let of_entries = index_rules(snapshot, checks, document);
        of_files.chain(of_set).chain(of_index).chain(of_entries).collect::<Vec<_>>()
    };
    let (was, is) = (files(&snapshot.checks, old), files(&checks, new));
    let mut rules_before: HashMap<&str, RuleSet> = HashMap::new();
    for (rule, target) in &was {
        rules_before.entry(target).or_default().insert(*rule);
    }
    let raised = is.iter().find(|(rule, target)| {
        let before = rules_before.get(&**target).copied().unwrap_or_default();
        // Entries of the index are added, removed and renamed, so their findings are compared by number.
        let count = |found: &[(Rule, String)]| {
            let is_it = |(other, at): &&(Rule, String)| at == target && rule.family().contains(*other);
            found.iter().filter(is_it).count()
        };
        is_new(*rule, before) || (target == INDEX && is_bad(*rule) && count(&is) > count(&was))
    });
    raised.map(|(rule, _)| format!("a file or the set would then violate {}", rule.code()))
}

/// The findings of the frame and the entries of the index, if it is checked after every change.
fn index_rules(snapshot: &Snapshot, checks: &Checks, document: &Document) -> Vec<(Rule, String)> {
    let document = document.with_pending_split();
    let Some(index) = document.index().filter(|_| index_findings::has_small_index(document)) else { return Vec::new() };
    let profile = checks.profile();
    let mut found = file_fixes::findings(document, Member::Index, profile);
    let mut of_volumes = VolumeFindings::new(document, profile);
    found.extend((1..index.file_count()).flat_map(|number| of_volumes.of_volume(number)));
    let url_prefix = index_findings::index_home(snapshot, document);
    let (now, names) = (snapshot.clock.seconds, &index.source.names);
    let context = Context { now, profile, names, url_prefix: url_prefix.as_ref(), policy: None, site: None };
    let of_entry = |entry: usize| {
        let text = index.source.entry_text(entry);
        let rules = entry_rules::check(&Entry::of(text, names), text, &context);
        rules.iter().map(move |rule| (rule, INDEX.to_owned())).collect::<Vec<_>>()
    };
    let of_entries = (0..index.source.len()).flat_map(of_entry);
    found.into_iter().map(|found| (found.rule, INDEX.to_owned())).chain(of_entries).collect()
}

/// Rows that violate a set rule after the change and not before. In large sets only rules with more findings than
/// before are examined.
fn new_findings_elsewhere(
    snapshot: &Snapshot,
    (checks, new): (&Checks, &Document),
    is_bad: &dyn Fn(Rule) -> bool,
) -> Vec<RowId> {
    let (old_locs, new_locs) = (DocumentLocs(&snapshot.document), DocumentLocs(new));
    let is_small = new.live() <= NEAR_ROWS;
    let of_rows =
        SetRule::ALL.iter().copied().filter(|rule| rule.target() == SetRuleTarget::Row && is_bad(rule_of(*rule)));
    let rows = of_rows.flat_map(|rule| {
        let (was, is) = (snapshot.checks.set(), checks.set());
        let is_more = is.count_of(rule) > was.count_of(rule);
        if is.count_of(rule) == 0 || !(is_more || is_small) {
            return RowSet::new();
        }
        is.rows_with(rule, &new_locs) - was.rows_with(rule, &old_locs)
    });
    rows.map(RowId).collect()
}

/// The files that an edit changes, without their rows.
pub(super) fn files_of(edit: Option<&Edit>) -> BTreeSet<Member> {
    match edit {
        Some(Edit::Several(edits)) => edits.iter().flat_map(|edit| files_of(Some(edit))).collect(),
        edit => edit.and_then(Edit::file).into_iter().collect(),
    }
}

/// A search for the rows and files that can be fixed without raising anything.
struct Trial<'t> {
    snapshot: &'t Snapshot,
    /// The fix without the skipped rows and files: `None` when cancelled, `Some(None)` if there is none.
    attempt: &'t dyn Fn(&SkippedRows) -> Option<Option<Intent>>,
    skipped: SkippedRows,
    /// Why the first of them is skipped.
    why: String,
    trials: u32,
    /// The fix of all others.
    best: Option<Prepared>,
}

impl Trial<'_> {
    /// Tries the fix with fewer skipped rows and files; `Err` describes the findings that it would raise. `None` if
    /// cancelled.
    fn attempt(&mut self, skipped: SkippedRows, progress: &Progress) -> Option<Result<(), String>> {
        let Some(trials) = self.trials.checked_sub(1) else { return Some(Err(self.why.clone())) };
        self.trials = trials;
        let Some(intent) = (self.attempt)(&skipped)? else { return Some(Err(self.why.clone())) };
        let prepared = prepared::prepare_intent(self.snapshot, intent, progress)?;
        Some(match raises(self.snapshot, &prepared) {
            None => {
                (self.skipped, self.best) = (skipped, Some(prepared));
                Ok(())
            }
            Some(why) => Err(why),
        })
    }

    /// Adds rows to the fix, except those that raise findings together with the rows fixed so far; found by bisection.
    /// `None` if cancelled.
    fn add(&mut self, rows: &[u32], is_known: bool, progress: &Progress) -> Option<()> {
        // Rows that are known to raise something need not be tried together.
        if !is_known {
            if self.trials == 0 {
                return Some(());
            }
            let mut skipped = self.skipped.clone();
            skipped.rows -= rows.iter().copied().collect::<RowSet>();
            match self.attempt(skipped, progress)? {
                Ok(()) => {}
                Err(why) if rows.len() == 1 => self.why = why,
                Err(_) => return self.add(rows, true, progress),
            }
            return Some(());
        }
        match rows {
            // Files that are skipped now may have been the reason.
            [_] if !self.skipped.files.is_empty() => self.add(rows, false, progress),
            [] | [_] => Some(()),
            rows => {
                let (first, second) = rows.split_at(rows.len() / 2);
                self.add(first, false, progress)?;
                self.add(second, false, progress)
            }
        }
    }
}
