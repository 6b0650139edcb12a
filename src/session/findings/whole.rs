//! Findings that no row carries – of files, of the index and its entries, of the set – in one list, each with what one
//! key does about it. What the counts of rules count beside rows is here, and nothing else.

use crate::check::rule::{FixKind, Rule};
use crate::check::set::SetRule;
use crate::check::{Action, Fix};
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::progress::note_work;
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::checks::rule_of;
use crate::session::finding::{FileFinding, FindingTarget};
use crate::session::fix_table;
use crate::session::fix_table::CLEARED;

/// A finding that no row carries, not yet in words: a set may have one in each of its files, and few of them are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WholeFinding<'s> {
    /// What it is about.
    pub place: FindingTarget,
    /// Which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// Whether a key does something about it.
    pub is_fixable: bool,
    source: Source<'s>,
}

/// What a finding is put into words from.
#[derive(Debug, Clone, Copy)]
enum Source<'s> {
    File(&'s FileFinding),
    /// A rule of several rows, the file that breaks it, and what the fix is called.
    Rows(SetRule, Option<u32>, Option<&'static str>),
}

/// Every finding that no row carries: the index first, then file by file, then the set.
#[cfg(test)]
pub(crate) fn all(session: &Session) -> Vec<FileFinding> {
    first(session, usize::MAX, |_| true, |_| ()).0
}

/// As many of those that are wanted, the lowest rank first, then in that order; and how many are wanted in all.
pub(crate) fn first<K: Ord>(
    session: &Session,
    most: usize,
    is_wanted: impl Fn(&WholeFinding<'_>) -> bool,
    rank: impl Fn(&WholeFinding<'_>) -> K,
) -> (Vec<FileFinding>, usize) {
    let order = |place: FindingTarget| match place {
        FindingTarget::Index(_) | FindingTarget::IndexFile(_) => 0,
        FindingTarget::Sitemap(id) => id.0.saturating_add(1),
        FindingTarget::Set => u32::MAX,
    };
    let wanted = each(session).filter(is_wanted).enumerate();
    let mut found: Vec<_> = wanted.map(|(at, finding)| ((rank(&finding), order(finding.place), at), finding)).collect();
    let all = found.len();
    if most < all {
        found.select_nth_unstable_by(most, |a, b| a.0.cmp(&b.0));
        found.truncate(most);
    }
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    (found.into_iter().map(|(_, finding)| worded(session, finding)).collect(), all)
}

/// All of them in no order.
pub(crate) fn each(session: &Session) -> impl Iterator<Item = WholeFinding<'_>> {
    let of_files = session.file_findings.iter().map(|finding| WholeFinding {
        place: finding.place,
        rule: finding.rule,
        severity: finding.severity,
        is_fixable: finding.fix.is_some(),
        source: Source::File(finding),
    });
    of_files.chain(session.current.checks.set().broken().filter_map(|(file, rule)| of_rows(session, file, rule)))
}

/// Those of the file that a row is in, and of the set.
pub(crate) fn of_row(session: &Session, row: RowId) -> Vec<FileFinding> {
    // The file that it will be in, where someone agreed to another.
    let file = session.document().with_pending_split().sitemap_of(row);
    let is_own = |finding: &&FileFinding| {
        matches!(finding.place, FindingTarget::Set) || finding.place == FindingTarget::Sitemap(file)
    };
    let own = session.file_findings.iter().filter(is_own).cloned();
    let set = session.current.checks.set();
    let of_set = set.broken_of(Some(file.0)).chain(set.broken_of(None));
    let of_set = of_set.filter_map(|(file, rule)| of_rows(session, file, rule));
    own.chain(of_set.map(|finding| worded(session, finding))).collect()
}

/// Whether a key does something about any of them.
pub(crate) fn is_any_fixable(session: &Session) -> bool {
    each(session).any(|finding| finding.is_fixable)
}

/// A finding of several rows together as one of their file, or of the set.
fn of_rows(session: &Session, file: Option<u32>, broken: SetRule) -> Option<WholeFinding<'_>> {
    let rule = rule_of(broken);
    let severity = rule.severity_in(session.view().profile())?;
    let place = file.map_or(FindingTarget::Set, |file| FindingTarget::Sitemap(SitemapId(file)));
    let label = match (place, rule) {
        (_, rule) if CLEARED.contains(rule) => Some("remove these values"),
        (FindingTarget::Sitemap(id), Rule::SET_NEWS_MIXED) if fix_table::parts_news(&session.current, id) => {
            Some("give the news a file of their own")
        }
        (FindingTarget::Sitemap(id), Rule::NEWS_LIMIT) if fix_table::splits_news(&session.current, id) => {
            Some("split it when it is saved")
        }
        _ => None,
    };
    let source = Source::Rows(broken, file, label);
    Some(WholeFinding { place, rule, severity, is_fixable: label.is_some(), source })
}

fn worded(session: &Session, finding: WholeFinding<'_>) -> FileFinding {
    note_work(1);
    let WholeFinding { place, rule, severity, source, .. } = finding;
    match source {
        Source::File(finding) => finding.clone(),
        Source::Rows(broken, file, label) => {
            let message = session.current.checks.set().finding(file, broken).message;
            let is_safe = rule.fix() == FixKind::Safe;
            let fix = label.map(|label| Fix { label: label.to_owned(), is_safe, action: Action::File });
            FileFinding { place, rule, severity, field: None, message, fix, at: None }
        }
    }
}
