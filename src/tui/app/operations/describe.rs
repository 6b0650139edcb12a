//! Words for finding targets and for verdicts of authorities.

use super::super::state::Shared;
use super::super::state::grid::stem;
use crate::check::{Finding, FindingTarget};
use crate::protocol::location::origin;
use crate::protocol::verdict::{Ruling, Verdicts};
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// The namespace that a finding of a file is about.
pub(in crate::tui::app) fn namespace_of(shared: &Shared, finding: &Finding) -> Option<String> {
    let document = shared.session.document().with_pending_split();
    let names = match finding.target {
        FindingTarget::Sitemap(id) => &document.sitemap(id)?.frame.names,
        FindingTarget::Index(None) => &document.index()?.source.names,
        FindingTarget::IndexFile(number) => &document.index()?.more.get(number.checked_sub(1)?)?.frame.names,
        FindingTarget::Index(Some(_)) | FindingTarget::Row(_) | FindingTarget::Set => return None,
    };
    let of_root = finding.rule.code().starts_with("ns-") && !finding.rule.code().starts_with("ns-ext");
    of_root.then(|| names.uri.as_deref().unwrap_or_default().to_owned())
}

/// The name of the target of a finding.
pub(in crate::tui) fn target_name(shared: &Shared, target: FindingTarget) -> String {
    let document = shared.session.document().with_pending_split();
    match target {
        FindingTarget::Sitemap(id) => document.sitemap(id).map(|sitemap| sitemap.name.to_string()).unwrap_or_default(),
        FindingTarget::Index(None) => document.index().map(|index| index.name.to_string()).unwrap_or_default(),
        FindingTarget::IndexFile(number) => {
            let file = document.index().and_then(|index| index.file(number));
            file.map(|file| file.name.to_string()).unwrap_or_default()
        }
        FindingTarget::Index(Some(child)) => {
            let loc = document.index().and_then(|index| index.children.get(child)).map(|child| child.loc.to_string());
            loc.unwrap_or_default()
        }
        FindingTarget::Row(row) => row.map_or_else(String::new, |row| document.loc(row).into_owned()),
        FindingTarget::Set => "the set".to_owned(),
    }
}

/// The message of a finding without its target, for a line that names the target.
pub(in crate::tui) fn message_of<'f>(shared: &Shared, finding: &'f Finding) -> &'f str {
    let message = &*finding.message;
    // A file name without a colon after it is part of the sentence.
    let ends: &[char] = if matches!(finding.target, FindingTarget::Index(Some(_))) { &[':', ' '] } else { &[':'] };
    let rest = message.strip_prefix(&target_name(shared, finding.target)).filter(|rest| rest.starts_with(ends));
    rest.map_or(message, |rest| rest.trim_start_matches([':', ' ']))
}

/// The name of the target of a finding, shortened to the width that `others` columns leave.
pub(in crate::tui) fn short_target_name(shared: &Shared, target: FindingTarget, others: usize) -> String {
    let name = target_name(shared, target);
    // URLs of a set differ in their paths.
    let path = origin(&name).map_or(name.as_str(), |(_, path)| path);
    let width = usize::from(shared.size.0);
    let room = width.saturating_sub(others).max(width / 5);
    shared.theme.charset.elide(stem(path), room).into_owned()
}

/// The verdicts in a line: `protocol ✓  schema ✗  Google ✗  Bing ✓  Yandex ·`.
pub(in crate::tui) fn verdict_words(shared: &Shared, verdicts: &Verdicts) -> Words {
    let mut words = Words::new();
    for verdict in verdicts {
        if !words.is_empty() {
            words.push(Role::Text, "  ");
        }
        let (role, sign) = ruling(shared, verdict.ruling);
        words.push(Role::Dim, format!("{} ", verdict.authority.name()));
        words.push(role, sign);
    }
    words
}

pub(in crate::tui::app) const fn ruling(shared: &Shared, ruling: Ruling) -> (Role, &'static str) {
    let signs = &shared.theme.signs;
    match ruling {
        Ruling::Accepts => (Role::Good, signs.good),
        Ruling::Rejects => (Role::Error, signs.error),
        Ruling::Ignores => (Role::Dim, signs.note),
        Ruling::Silent => (Role::Dim, "-"),
    }
}
