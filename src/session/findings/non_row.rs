//! Lists the findings that are not about rows: of files, of the index and its entries, and of the set.
//!
//! The counts of rules are the sum of those of rows and of this list.

use crate::check::rule::{FixKind, Rule};
use crate::check::set::SetRule;
use crate::check::{Finding, FindingTarget, Fix};
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::progress::note_work;
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::checks::rule_of;
use crate::session::fix_table;
use crate::session::fix_table::CLEARED;

/// A finding that is not about a row, without a message if that is made on demand: a set may have one in each of its
/// files, and few of them are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FindingRef<'s> {
    /// A finding that the session stores.
    Held(&'s Finding),
    /// A rule about several rows together, the file that violates it, and the label of its fix.
    OfRows { rule: SetRule, file: Option<u32>, severity: Severity, label: Option<&'static str> },
}

impl FindingRef<'_> {
    /// The target of the finding.
    pub(crate) fn target(self) -> FindingTarget {
        match self {
            Self::Held(finding) => finding.target,
            Self::OfRows { file, .. } => target_of(file),
        }
    }

    /// The violated rule.
    pub(crate) fn rule(self) -> Rule {
        match self {
            Self::Held(finding) => finding.rule,
            Self::OfRows { rule, .. } => rule_of(rule),
        }
    }

    /// Its severity in the profile of the session.
    pub(crate) const fn severity(self) -> Severity {
        match self {
            Self::Held(finding) => finding.severity,
            Self::OfRows { severity, .. } => severity,
        }
    }

    /// Whether it has a fix.
    pub(crate) const fn is_fixable(self) -> bool {
        match self {
            Self::Held(finding) => finding.fix.is_some(),
            Self::OfRows { label, .. } => label.is_some(),
        }
    }
}

/// The first `max_findings` of the wanted findings by rank, then by file, with their messages; and the number of all
/// wanted findings.
pub(crate) fn first<K: Ord>(
    session: &Session,
    max_findings: usize,
    is_wanted: impl Fn(&FindingRef<'_>) -> bool,
    rank: impl Fn(&FindingRef<'_>) -> K,
) -> (Vec<Finding>, usize) {
    let order = |target: FindingTarget| match target {
        FindingTarget::Index(_) | FindingTarget::IndexFile(_) => 0,
        FindingTarget::Sitemap(id) => id.0.saturating_add(1),
        FindingTarget::Set | FindingTarget::Row(_) => u32::MAX,
    };
    let matching = each(session).filter(is_wanted).enumerate();
    let mut found: Vec<_> =
        matching.map(|(at, finding)| ((rank(&finding), order(finding.target()), at), finding)).collect();
    let all = found.len();
    if max_findings < all {
        found.select_nth_unstable_by(max_findings, |a, b| a.0.cmp(&b.0));
        found.truncate(max_findings);
    }
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    (found.into_iter().map(|(_, finding)| with_message(session, finding)).collect(), all)
}

/// Every finding that is not about a row, in no order and without messages.
pub(crate) fn each(session: &Session) -> impl Iterator<Item = FindingRef<'_>> {
    let held = session.file_findings.iter().map(FindingRef::Held);
    held.chain(session.current.checks.set().broken().filter_map(|(file, rule)| of_rows(session, file, rule)))
}

/// The findings of the file that a row is in, and of the set.
pub(crate) fn for_file_of(session: &Session, row: RowId) -> Vec<Finding> {
    // With a pending split, the file that the row will be in.
    let file = session.document().with_pending_split().sitemap_of(row);
    let is_own = |finding: &&Finding| {
        matches!(finding.target, FindingTarget::Set) || finding.target == FindingTarget::Sitemap(file)
    };
    let own = session.file_findings.iter().filter(is_own).cloned();
    let set = session.current.checks.set();
    let of_set = set.broken_of(Some(file.0)).chain(set.broken_of(None));
    let of_set = of_set.filter_map(|(file, rule)| of_rows(session, file, rule));
    own.chain(of_set.map(|finding| with_message(session, finding))).collect()
}

/// Whether any finding that is not about a row has a fix.
pub(crate) fn is_any_fixable(session: &Session) -> bool {
    each(session).any(FindingRef::is_fixable)
}

/// The finding of a set rule about a file, or about the set.
fn of_rows(session: &Session, file: Option<u32>, broken: SetRule) -> Option<FindingRef<'_>> {
    let rule = rule_of(broken);
    let severity = rule.severity_in(session.view().profile())?;
    let label = match (target_of(file), rule) {
        (_, rule) if CLEARED.contains(rule) => Some("remove these values"),
        (FindingTarget::Sitemap(id), Rule::SET_NEWS_MIXED) if fix_table::can_separate_news(&session.current, id) => {
            Some("give the news a file of their own")
        }
        (FindingTarget::Sitemap(id), Rule::NEWS_LIMIT) if fix_table::can_split_news(&session.current, id) => {
            Some("split it when it is saved")
        }
        _ => None,
    };
    Some(FindingRef::OfRows { rule: broken, file, severity, label })
}

/// A file of the set by its number, or the set.
fn target_of(file: Option<u32>) -> FindingTarget {
    file.map_or(FindingTarget::Set, |file| FindingTarget::Sitemap(SitemapId(file)))
}

fn with_message(session: &Session, finding: FindingRef<'_>) -> Finding {
    note_work(1);
    match finding {
        FindingRef::Held(finding) => finding.clone(),
        FindingRef::OfRows { rule, file, severity, label } => {
            let message = session.current.checks.set().message_of(file, rule);
            let rule = rule_of(rule);
            let is_safe = rule.fix() == FixKind::Safe;
            let fix = label.map(|label| Fix::of_file(label, is_safe));
            Finding::new(rule, severity, message).of(target_of(file)).with_fix(fix)
        }
    }
}
