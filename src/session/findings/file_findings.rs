//! Computes the file and index findings of the open set, and updates them after a change.

use crate::check::index;
use crate::check::rule::Rule;
use crate::check::{Finding, FindingTarget, Position, Profile};
use crate::document::Document;
use crate::document::form::Form;
use crate::document::lines::LineColumn;
use crate::document::sitemap::{Member, SitemapId};
use crate::files::{self, Reason};
use crate::session::findings::index_findings::{self, has_small_index};
use crate::session::findings::of_quirks;
use crate::session::findings::{required, robots};
use crate::session::located_finding::LocatedFinding;
use crate::session::{Session, file_fixes};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Computes all file and index findings, after a load or a save.
pub(in crate::session) fn check(session: &mut Session) {
    let mut findings = of_sitemaps(session);
    findings.extend(index_findings::of_index(session));
    findings.extend(required::missing(session).into_iter().map(|(_, finding)| finding));
    findings.extend(robots::of_sitemap_lines(session).into_iter().map(|(_, finding)| finding));
    session.file_findings = Arc::new(findings);
}

/// Computes the findings of all files without keeping them. The sources cache the searches for prefixes, so that [`check`]
/// does not search all bytes of large files.
pub(in crate::session) fn prepare(session: &Session) {
    drop(of_sitemaps(session));
}

fn of_sitemaps(session: &Session) -> Vec<Finding> {
    let (document, profile) = (session.document(), session.current.checks.profile());
    let ids = (0..document.with_pending_split().sitemaps().len() as u32).map(SitemapId);
    ids.flat_map(|id| of_sitemap((document, &session.current.saved), id, profile)).collect()
}

/// Updates the findings of files that a change touched, and of missing required URLs.
pub(in crate::session) fn refresh(session: &mut Session, old: &Document) {
    refresh_touched(session, old);
    required::check(session);
}

pub(in crate::session) fn refresh_touched(session: &mut Session, old: &Document) {
    let document = &session.current.state.document;
    let (now, old) = (document.with_pending_split(), old.with_pending_split());
    let same_index = match (now.index(), old.index()) {
        (Some(new), Some(old)) => std::ptr::eq(new, old),
        (new, old) => new.is_none() == old.is_none(),
    };
    if !same_index {
        index_findings::check_entries(session);
        return check(session);
    }
    // Only the last file is reported as near a limit.
    let (last, last_before) = (now.last_sitemap(), old.last_sitemap());
    let newly_last = [last, last_before].into_iter().flatten().filter(|_| last != last_before);
    // A save removes an emptied file only if other files have rows.
    let affects_emptied = (now.live() == 0) != (old.live() == 0);
    let changed: BTreeSet<SitemapId> = (0..now.sitemaps().len() as u32)
        .map(SitemapId)
        .filter(|id| match (now.sitemaps().get(id.index()), old.sitemaps().get(id.index())) {
            (Some(new), Some(old)) => !Arc::ptr_eq(new, old) || affects_emptied && new.live == 0,
            _ => true,
        })
        .chain(newly_last)
        .collect();
    if changed.is_empty() && now.sitemaps().len() == old.sitemaps().len() {
        return;
    }
    // Dates of the index are compared with those of the rows only if that takes no longer than a frame.
    let is_small = has_small_index(document);
    let child_of = |id: SitemapId| document.index().and_then(|index| index.child_of(id));
    let children: Vec<usize> = changed.iter().filter_map(|id| child_of(*id)).collect();
    let is_old = |finding: &Finding| match finding.target {
        FindingTarget::Sitemap(id) => changed.contains(&id) || id.index() >= now.sitemaps().len(),
        FindingTarget::Index(Some(child)) => finding.rule == Rule::INDEX_CHILD_EMPTY && children.contains(&child),
        _ => false,
    };
    let mut findings: Vec<Finding> = session.file_findings.iter().filter(|finding| !is_old(finding)).cloned().collect();
    let profile = session.current.checks.profile();
    for &id in &changed {
        findings.extend(of_sitemap((document, &session.current.saved), id, profile));
        let leaves = document.compare(&session.current.saved).is_removed_by_save(id);
        let entries = document.sitemap(id).map_or(0, |sitemap| sitemap.live + u32::from(leaves));
        let child = document.index().zip(child_of(id));
        findings.extend(child.and_then(|(index, child)| index::empty_child(index, profile, child, entries)));
    }
    if is_small {
        findings.retain(|finding| !finding.target.is_of_index());
        findings.extend(index_findings::of_index(session));
    }
    session.file_findings = Arc::new(findings);
}

/// The finding of a file that can be read but not opened; `None` if it cannot be read.
pub(crate) fn of_error(error: &files::Error) -> Option<LocatedFinding> {
    let rule = match &error.reason {
        Reason::Empty => Rule::DOC_EMPTY,
        Reason::Html => Rule::DOC_HTML,
        Reason::Root(_) | Reason::Format(_) => Rule::DOC_ROOT_UNKNOWN,
        Reason::Packed(_) => Rule::COMPRESS_NOT_GZIP,
        Reason::Bomb(_) => Rule::GZIP_BOMB,
        Reason::Gzip { .. } => Rule::GZIP_CORRUPT,
        Reason::Damaged { .. } => Rule::XML_NOT_WELL_FORMED,
        Reason::Conflicts(_) => Rule::MERGE_CONFLICT,
        _ => return None,
    };
    let severity = rule.severity()?;
    let message = error.reason.to_string();
    let position = error.at.map_or(Position::Whole, Position::Stored);
    let finding = Finding::new(rule, severity, message).at(position);
    let file = error.path.to_string_lossy().into();
    Some(LocatedFinding { file, at: error.at.or(Some(LineColumn::START)), loc: Arc::default(), finding })
}

/// The findings of a file; `saved` is the document on disk.
pub(in crate::session) fn of_sitemap(
    (document, saved): (&Document, &Document),
    id: SitemapId,
    profile: Profile,
) -> Vec<Finding> {
    // A file that a save has removed, or will remove because its last row was deleted, has no findings.
    if document.is_gone(id) || document.compare(saved).is_removed_by_save(id) {
        return Vec::new();
    }
    let mut findings = of_present(document.with_pending_split(), id, profile);
    if document.sitemap(id).is_none() {
        // A file that the next save creates can be fixed after that save.
        for finding in &mut findings {
            finding.fix = None;
        }
    }
    findings
}

/// The findings of a file that is known to exist.
pub(in crate::session) fn of_present(document: &Document, id: SitemapId, profile: Profile) -> Vec<Finding> {
    let Some(sitemap) = document.sitemap(id) else { return Vec::new() };
    let mut findings = file_fixes::findings(document, Member::Sitemap(id), profile);
    // A feed is never overwritten, so it has no fixes.
    let is_feed = matches!(sitemap.form, Form::Feed(_));
    let of_quirks = of_quirks(&sitemap.quirks, (false, profile), &|_| FindingTarget::Sitemap(id)).into_iter();
    findings.extend(of_quirks.map(|found| Finding { fix: found.fix.filter(|_| !is_feed), ..found }));
    findings
}
