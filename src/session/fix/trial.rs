//! Tries a fix before it is made, and skips rows for which it would raise errors or warnings.
//!
//! Invariant: after a fix no row, no file and not the set breaks a rule of severity error or warning that it did not
//! break before. Exceptions are [`SHARES`], and what the user asked for explicitly: that rows are deleted, or that a
//! value is read in a given way.

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

/// What is reported of values that all rows share. It was true before of the rows that stay as they are, and only other rows
/// hid it, or values that no one could read: leaving an error in place so that no one says it would be worse. It is
/// counted and said ([`super::effects`]).
pub(super) const SHARES: RuleSet =
    RuleSet::of(&[Rule::SET_LASTMOD_IDENTICAL, Rule::SET_LASTMOD_GENERATED, Rule::SET_PRIORITY_IDENTICAL]);

/// Where a finding of the index, or of one of its entries, is.
const INDEX: &str = "index";

/// How often a fix is tried, so that the work is bounded; rows that were not tried by then are left alone.
const TRIALS: u32 = 200;
/// The same where each costs a walk over many rows, or takes much text apart.
const FEW_TRIALS: u32 = 24;
/// Bytes of entries that all trials together may take apart.
const TRIAL_BYTES: u64 = 128 << 20;

/// Whether a fix must not raise this.
pub(in crate::session) fn is_bad(rule: Rule, profile: Profile) -> bool {
    !SHARES.contains(rule.main()) && rule.severity_in(profile).is_some_and(|severity| severity > Severity::Note)
}

/// Whether it was empty before. A milder variant of what was reported before is not new.
pub(in crate::session) fn is_new(rule: Rule, before: RuleSet, profile: Profile) -> bool {
    let was = rule.family().intersection(before);
    is_bad(rule, profile) && !was.iter().any(|was| was.severity_in(profile) >= rule.severity_in(profile))
}

/// The change without what it would break. `None` when cancelled.
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
        // A name and a URL are typed: that is what someone wants, and what it raises is reported.
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
    let trials = if snapshot.document.live() > NEAR_ROWS { FEW_TRIALS } else { TRIALS };
    let bytes: u64 = affected.iter().map(|row| snapshot.document.entry_text(RowId(row)).len() as u64).sum();
    let trials = trials.min((TRIAL_BYTES / (bytes + 1)).max(FEW_TRIALS.into()) as u32);
    let attempt = |left: &SkippedRows| match change {
        Change::Fix { rows, rules } => fix::intend_rows(snapshot, rows, left, *rules, progress).map(Some),
        Change::Decide { rows, rule, decision: Decision::Usual } => {
            fix::intend_rows(snapshot, rows, left, rule.family(), progress).map(Some)
        }
        Change::Decide { rows, rule, decision } => {
            let change = Change::Decide { rows: rows - &left.rows, rule: *rule, decision: decision.clone() };
            match super::intend(snapshot, &change, progress) {
                Ok(intent) => Some(Some(intent)),
                Err(EditError::Cancelled) => None,
                Err(EditError::Refused(_)) => Some(None),
            }
        }
        _ => Some(None),
    };
    let left = SkippedRows { rows: affected.clone(), files: files.clone() };
    let mut trial = Trial { snapshot, attempt: &attempt, left, why, trials, best: None };
    for file in files {
        let mut left = trial.left.clone();
        left.files.remove(&file);
        if let Err(why) = trial.attempt(left, progress)? {
            trial.why = why;
        }
    }
    trial.add(&affected.iter().collect::<Vec<_>>(), true, progress)?;
    let Trial { left, why, best, .. } = trial;
    // With all of them left alone, what is done, if anything, must raise nothing either.
    let mut prepared = if let Some(best) = best {
        best
    } else {
        let intent = attempt(&left)?.unwrap_or_else(|| Intent::counting(0));
        let rest = prepared::prepare_intent(snapshot, intent, progress)?;
        let is_fine = rest.intent.edit.is_none() || raises(snapshot, &rest).is_none();
        if is_fine { rest } else { prepared::prepare_intent(snapshot, Intent::counting(0), progress)? }
    };
    prepared.intent.refused += left.rows.len();
    prepared.intent.refused_files += left.files.len() as u64;
    if prepared.intent.refused + prepared.intent.refused_files == 0 {
        // It is about a file, or the set.
        prepared.intent.refused_files = 1;
    }
    prepared.intent.reason = Some(why);
    prepared.intent.said = match prepared.intent.edit {
        Some(_) => script_export::lines_of(snapshot, change, &prepared.intent),
        None => Vec::new(),
    };
    Some(prepared)
}

/// An error or a warning that a change would raise: which, and where.
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
        let around = around_index(snapshot, checks, document);
        of_files.chain(of_set).chain(of_index).chain(around).collect::<Vec<_>>()
    };
    let (was, is) = (files(&snapshot.checks, old), files(&checks, new));
    let mut rules_before: HashMap<&str, RuleSet> = HashMap::new();
    for (rule, place) in &was {
        rules_before.entry(place).or_default().insert(*rule);
    }
    let raised = is.iter().find(|(rule, place)| {
        let before = rules_before.get(&**place).copied().unwrap_or_default();
        // Entries of the index come, go and get other URLs: they are counted.
        let count = |found: &[(Rule, String)]| {
            let is_it = |(other, at): &&(Rule, String)| at == place && rule.family().contains(*other);
            found.iter().filter(is_it).count()
        };
        is_new(*rule, before) || (place == INDEX && is_bad(*rule) && count(&is) > count(&was))
    });
    raised.map(|(rule, _)| format!("a file, or the set, would then violate {}", rule.code()))
}

/// What is wrong around the entries of the index and with each of them, where all of it is examined.
fn around_index(snapshot: &Snapshot, checks: &Checks, document: &Document) -> Vec<(Rule, String)> {
    let document = document.with_pending_split();
    let Some(index) = document.index().filter(|_| index_findings::has_small_index(document)) else { return Vec::new() };
    let profile = checks.profile();
    let mut found = file_fixes::findings(document, Member::Index, profile);
    let mut of_volumes = VolumeFindings::new(document, profile);
    found.extend((1..index.file_count()).flat_map(|number| of_volumes.of(number)));
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

/// Rows that a rule about several rows finds now and did not find before. Where there are many rows, those alone whose
/// rule is reported more often.
fn new_findings_elsewhere(
    snapshot: &Snapshot,
    (checks, new): (&Checks, &Document),
    is_bad: &dyn Fn(Rule) -> bool,
) -> Vec<RowId> {
    let (old_locs, new_locs) = (DocumentLocs(&snapshot.document), DocumentLocs(new));
    let is_small = new.live() <= NEAR_ROWS;
    let of_rows =
        SetRule::ALL.iter().copied().filter(|rule| rule.place() == SetRuleTarget::Row && is_bad(rule_of(*rule)));
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

/// The files that an edit is about, apart from their rows.
pub(super) fn files_of(edit: Option<&Edit>) -> BTreeSet<Member> {
    match edit {
        Some(Edit::Several(edits)) => edits.iter().flat_map(|edit| files_of(Some(edit))).collect(),
        edit => edit.and_then(Edit::file).into_iter().collect(),
    }
}

/// Files and rows fixed as long as nothing is raised.
struct Trial<'t> {
    snapshot: &'t Snapshot,
    /// The fix without what is left alone: `None` when cancelled, `Some(None)` where that cannot be.
    attempt: &'t dyn Fn(&SkippedRows) -> Option<Option<Intent>>,
    left: SkippedRows,
    /// Why the first of them is.
    why: String,
    trials: u32,
    /// What is made of all others.
    best: Option<Prepared>,
}

impl Trial<'_> {
    /// Tries to leave no more than this alone; whether that raises nothing. `None` when cancelled.
    fn attempt(&mut self, left: SkippedRows, progress: &Progress) -> Option<Result<(), String>> {
        let Some(trials) = self.trials.checked_sub(1) else { return Some(Err(self.why.clone())) };
        self.trials = trials;
        let Some(intent) = (self.attempt)(&left)? else { return Some(Err(self.why.clone())) };
        let prepared = prepared::prepare_intent(self.snapshot, intent, progress)?;
        Some(match raises(self.snapshot, &prepared) {
            None => {
                (self.left, self.best) = (left, Some(prepared));
                Ok(())
            }
            Some(why) => Err(why),
        })
    }

    /// Puts those of the rows right that raise nothing together with what is fixed so far. `None` when cancelled.
    fn add(&mut self, rows: &[u32], is_known: bool, progress: &Progress) -> Option<()> {
        // What is known to raise something need not be tried.
        if !is_known {
            if self.trials == 0 {
                return Some(());
            }
            let mut left = self.left.clone();
            left.rows -= rows.iter().copied().collect::<RowSet>();
            match self.attempt(left, progress)? {
                Ok(()) => {}
                Err(why) if rows.len() == 1 => self.why = why,
                Err(_) => return self.add(rows, true, progress),
            }
            return Some(());
        }
        match rows {
            // Files that were left alone for it may have been the reason.
            [_] if !self.left.files.is_empty() => self.add(rows, false, progress),
            [] | [_] => Some(()),
            rows => {
                let (first, second) = rows.split_at(rows.len() / 2);
                self.add(first, false, progress)?;
                self.add(second, false, progress)
            }
        }
    }
}
