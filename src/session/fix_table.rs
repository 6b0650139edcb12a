//! The table of fixes beyond the value of one row: which rules have one, and its label.

use crate::check::Fix;
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::check::set::SetRule;
use crate::check::{Finding, FindingTarget};
use crate::document::form::Form;
use crate::document::index::{Child, ChildState, Index};
use crate::document::sitemap::SitemapId;
use crate::session::state::Snapshot;

/// Rules whose fix removes the entry.
pub(in crate::session) const REMOVED: RuleSet =
    RuleSet::of(&[Rule::INDEX_CHILD_DUPLICATE, Rule::INDEX_SELF, Rule::INDEX_CHILD_MISSING, Rule::INDEX_CHILD_EMPTY]);

/// Rules about the index and its children that have a fix.
pub(in crate::session) const OF_INDEX: RuleSet = REMOVED.union(FLATTENED).union(RuleSet::of(&[
    Rule::INDEX_LASTMOD_OLDER,
    Rule::INDEX_CHILD_HOST,
    Rule::INDEX_CHILD_UNLISTED,
]));

/// Rules whose fix replaces the entry of a nested index with the entries that it lists.
pub(in crate::session) const FLATTENED: RuleSet = RuleSet::of(&[Rule::INDEX_NESTED, Rule::INDEX_CYCLE]);

/// The label of the fix of an index finding; `None` if there is no fix.
pub(in crate::session) fn index_label(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::INDEX_LASTMOD_OLDER => "date it by its file",
        Rule::INDEX_CHILD_HOST => "write the host that the others have",
        Rule::INDEX_CHILD_UNLISTED => "list it",
        Rule::INDEX_CHILD_PATH => "write the URL of its location",
        Rule::INDEX_CHILD_INCOMPLETE_URL => "make it complete",
        _ if FLATTENED.contains(rule) => "replace it with the sitemaps that it lists",
        _ if REMOVED.contains(rule) => "remove the entry",
        _ => return None,
    })
}

/// Whether the fix of a finding would change anything: some entries are never removed.
pub(in crate::session) fn offers_index_fix(index: &Index, found: &Finding) -> bool {
    let child = match found.target {
        FindingTarget::Index(child) => child.and_then(|child| index.children.get(child)),
        _ => None,
    };
    let Some(child) = child else {
        return found.rule == Rule::INDEX_CHILD_UNLISTED;
    };
    !REMOVED.contains(found.rule) || !is_never_removed(child)
}

/// Whether the entry of a child is never removed. A nested index may list files that exist, and a file that could not
/// be read or is on another host may exist.
pub(in crate::session) const fn is_never_removed(child: &Child) -> bool {
    matches!(child.state, ChildState::Nested(_) | ChildState::Denied(_) | ChildState::Elsewhere(_))
}

/// Rules whose rows are merged into the first of them.
pub(in crate::session) const MERGED: RuleSet = RuleSet::of(&[
    Rule::SET_DUPLICATE,
    Rule::SET_DUPLICATE_EQUIVALENT,
    Rule::SET_DUPLICATE_NEAR,
    Rule::SET_DUPLICATE_ACROSS_FILES,
]);

/// Rules whose rows get the scheme, host or port of the other rows.
pub(in crate::session) const REWRITTEN: RuleSet =
    RuleSet::of(&[Rule::SET_MIXED_SCHEME, Rule::SET_MIXED_WWW, Rule::SET_MIXED_HOST, Rule::SET_MIXED_PORT]);

/// Rules whose rows lose a value.
pub(in crate::session) const CLEARED: RuleSet =
    RuleSet::of(&[Rule::SET_LASTMOD_IDENTICAL, Rule::SET_LASTMOD_GENERATED, Rule::SET_PRIORITY_IDENTICAL]);

/// Rules whose fix needs several rows.
pub(in crate::session) const OF_SET: RuleSet = MERGED.union(REWRITTEN).union(CLEARED).union(OF_LINKS).union(OF_SITE);

/// Rules about pages whose rows are deleted.
pub(in crate::session) const SITE_DELETED: RuleSet = RuleSet::of(&[Rule::SITE_NOT_FOUND, Rule::SITE_NOINDEX]);

/// Rules about pages whose rows get the date of the page's last change.
pub(in crate::session) const SITE_DATED: RuleSet = RuleSet::of(&[Rule::SITE_LASTMOD_OLDER, Rule::SITE_LASTMOD_NEWER]);

/// Rules about pages whose rows list the alternates of the page.
pub(in crate::session) const SITE_LINKED: RuleSet = RuleSet::of(&[Rule::SITE_HREFLANG_DIFFERS]);

/// Rules about pages that have a fix; rows of the others get the URL that the site names.
pub(in crate::session) const OF_SITE: RuleSet = SITE_DELETED
    .union(SITE_DATED)
    .union(SITE_LINKED)
    .union(RuleSet::of(&[Rule::SITE_REDIRECT, Rule::SITE_CANONICAL_ELSEWHERE]));

/// The fix of a set finding of a row; `None` if it needs an answer or changes more than the row.
pub(in crate::session) fn row_fix(rule: Rule) -> Option<Fix> {
    let label = match rule.main() {
        main if MERGED.contains(main) => "merge it into the first",
        Rule::SET_MIXED_SCHEME => "write the other scheme",
        Rule::SET_MIXED_WWW => "write the host as the others do",
        Rule::SET_MIXED_PORT => "write the port that the others have",
        main if SITE_DELETED.contains(main) => "delete the row",
        main if SITE_DATED.contains(main) => "write the date of the page's last change",
        main if SITE_LINKED.contains(main) => "list the alternates of the page",
        main if OF_SITE.contains(main) => "write the URL that the site names",
        Rule::HREFLANG_SELF_MISSING => "list the page itself",
        Rule::HREFLANG_NO_RETURN => "add the link back",
        Rule::HREFLANG_TARGET_MISSING => "add a row for the page",
        Rule::HREFLANG_SET_DIFFERS => "list all versions everywhere",
        _ => return None,
    };
    let is_safe = rule.fix() == FixKind::Safe;
    Some(Fix::of_file(label, is_safe))
}

/// Rules about alternate links whose fix needs both pages.
pub(in crate::session) const OF_LINKS: RuleSet = RuleSet::of(&[
    Rule::HREFLANG_SELF_MISSING,
    Rule::HREFLANG_NO_RETURN,
    Rule::HREFLANG_TARGET_MISSING,
    Rule::HREFLANG_SET_DIFFERS,
]);

/// Whether these are all rules with a safe fix, which are applied without review.
pub(in crate::session) fn is_unattended(rules: RuleSet) -> bool {
    rules == safe_rules()
}

/// Every rule with a safe fix.
pub(super) fn safe_rules() -> RuleSet {
    Rule::ALL.into_iter().filter(|rule| rule.fix() == FixKind::Safe).collect()
}

/// Whether the news entries of a file can be moved to files of their own, which the user has not agreed to yet.
pub(super) fn can_separate_news(snapshot: &Snapshot, id: SitemapId) -> bool {
    let is_whole = snapshot.document.can_have_parts();
    let is_new =
        snapshot.document.sitemap(id).is_some_and(|sitemap| !sitemap.separate_news && sitemap.form == Form::Xml);
    let mut broken = snapshot.checks.set().broken_of(Some(id.0));
    is_whole && is_new && broken.any(|broken| broken == (Some(id.0), SetRule::NewsMixed))
}

/// Whether a file has more news entries than allowed, and the next save can split it.
pub(super) fn can_split_news(snapshot: &Snapshot, id: SitemapId) -> bool {
    let is_sitemap = snapshot.document.sitemap(id).is_some_and(|file| !file.accepted && file.form == Form::Xml);
    let mut broken = snapshot.checks.set().broken_of(Some(id.0));
    is_sitemap && snapshot.document.can_have_parts() && broken.any(|broken| broken == (Some(id.0), SetRule::NewsLimit))
}
