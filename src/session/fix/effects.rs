//! Finds the rules that have more findings after a fix than before.
//!
//! A fix can add findings of other rules, such as those about the dates of a set that lost rows. The preview names
//! these rules.

use crate::check::Profile;
use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::sitemap::SitemapId;
use crate::session::checks::Checks;
use crate::session::edit::{Intent, Prepared};
use crate::session::findings::{file_findings, index_findings};
use crate::session::state::Snapshot;
use crate::words::counted;
use std::sync::Arc;

/// The rules that have more findings after a prepared change than before, with the difference.
pub(in crate::session) fn of_change(snapshot: &Snapshot, prepared: &Prepared) -> Vec<(Rule, u64)> {
    let applied = &prepared.applied;
    let (old, new) = (&snapshot.document, &applied.document);
    let mut checks = snapshot.checks.clone();
    checks.commit(prepared.rechecked.clone(), old, applied);
    let (was, is) = (old.with_pending_split(), new.with_pending_split());
    let files = |number: &u32| {
        let id = SitemapId(*number);
        !matches!((was.sitemaps().get(id.index()), is.sitemaps().get(id.index())), (Some(was), Some(is)) if Arc::ptr_eq(was, is))
    };
    let changed: Vec<SitemapId> =
        (0..was.sitemaps().len().max(is.sitemaps().len()) as u32).filter(files).map(SitemapId).collect();
    let profile = snapshot.checks.profile();
    let count = |checks: &Checks, document: &Document| {
        let mut counts: Vec<u64> = checks.counts().iter().map(|count| u64::from(*count)).collect();
        let of_files =
            changed.iter().flat_map(|id| file_findings::of_sitemap((document, &snapshot.saved), *id, profile));
        let of_index = index_findings::list_findings_of_few(snapshot, document).into_iter().map(|found| found.rule);
        for rule in of_files.map(|found| found.rule).chain(of_index) {
            if let Some(count) = counts.get_mut(rule.index()) {
                *count += 1;
            }
        }
        counts
    };
    let (before, after) = (count(&snapshot.checks, old), count(&checks, new));
    let more: Vec<i64> =
        after.iter().zip(&before).map(|(after, before)| after.cast_signed() - before.cast_signed()).collect();
    increased(&more, profile)
}

/// The rules with more findings than before, from the difference of each rule.
pub(in crate::session) fn increased(more: &[i64], profile: Profile) -> Vec<(Rule, u64)> {
    let of_rule = |rule: Rule| more.get(rule.index()).copied().unwrap_or_default();
    let of_main = |main: Rule| {
        let sum: i64 = main.family().iter().map(of_rule).sum();
        let rules: RuleSet = main.family().iter().filter(|rule| of_rule(*rule) > 0).collect();
        let sum = u64::try_from(sum).ok().filter(|sum| *sum > 0)?;
        Some((profile.worst_rule(rules)?, sum))
    };
    Rule::mains().filter_map(of_main).collect()
}

impl Intent {
    /// `leaves 2 warnings: hreflang-no-return; 1 note: lastmod-missing`; `None` if no rule has more findings.
    pub fn increase_message(&self, profile: Profile) -> Option<String> {
        let word = |(rule, count): &(Rule, u64)| {
            let severity = rule.severity_in(profile)?.name();
            Some(format!("{}: {}", counted(*count, severity), rule.code()))
        };
        let words: Vec<String> = self.increased.iter().filter_map(word).collect();
        (!words.is_empty()).then(|| format!("leaves {}", words.join("; ")))
    }
}
