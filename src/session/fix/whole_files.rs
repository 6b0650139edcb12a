//! Plans the fixes of files, without their rows.

use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::check::{frame, quirk};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::index::Index;
use crate::document::quirk::Quirk;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Member, SitemapId};
use crate::session::edit::{Intent, Label};
use crate::session::file_fixes::{self, SPLIT, edits_for, fixed_by_save, is_feed, list, name, volumes};
use crate::session::fix::index_entries;
use crate::session::fix_table::{self, safe_rules};
use crate::session::state::Snapshot;
use crate::xml::defect::Defect;
use std::collections::BTreeSet;

/// The files of rows; all files and the index, if all live rows are given.
pub(in crate::session) fn members(snapshot: &Snapshot, rows: &RowSet) -> BTreeSet<Member> {
    let document = &snapshot.document;
    let live = rows.iter().filter(|row| document.is_live(RowId(*row)));
    if document.is_streamed() {
        // Only the resident file is fixed here; the caller that goes through all files fixes the index.
        let is_selected = live.clone().next().is_some() || document.resident_rows().next().is_none();
        return document.resident_file().filter(|_| is_selected).map(Member::Sitemap).into_iter().collect();
    }
    if live.clone().count() as u64 == u64::from(document.live()) {
        let sitemaps = (0..document.sitemaps().len() as u32).map(|id| Member::Sitemap(SitemapId(id)));
        return sitemaps.chain(document.index().map(|_| Member::Index)).collect();
    }
    live.map(|row| Member::Sitemap(document.sitemap_of(RowId(row)))).collect()
}

/// The edits that fix `rules` in the files of `rows`, without the rows themselves and the files in `skipped`.
pub(in crate::session) fn intend_files(
    snapshot: &Snapshot,
    rows: &RowSet,
    skipped: &BTreeSet<Member>,
    rules: RuleSet,
) -> Vec<Edit> {
    // The index may have findings of any rule: its entries are checked by entry rules, and are not rows.
    let concerns_files = rules.intersects(OF_FILES);
    if !concerns_files && snapshot.document.index().is_none() {
        return Vec::new();
    }
    let is_fixed = |member: &Member| (concerns_files || *member == Member::Index) && !skipped.contains(member);
    let members = members(snapshot, rows).into_iter().filter(is_fixed);
    let (mut document, mut all) = (snapshot.document.clone(), Vec::new());
    for member in members {
        let edits = edits_of_file(snapshot, &document, member, rules);
        // A rename changes the index too, so that later edits of the index are based on it.
        if edits.iter().any(|edit| matches!(edit, Edit::Rename { .. }))
            && let Some(after) = document.trial(&Edit::Several(edits.clone()))
        {
            document = after;
        }
        all.extend(edits);
    }
    all
}

/// The intent of fixing `rules` in one file, without its rows.
pub(in crate::session) fn intend_file(snapshot: &Snapshot, member: Member, rules: RuleSet) -> Intent {
    let edits = edits_of_file(snapshot, &snapshot.document, member, rules);
    let changes = u64::from(!edits.is_empty());
    let mut intent = Intent {
        label: Label::default().and_any(changes, "file", " fixed"),
        edit: (!edits.is_empty()).then_some(Edit::Several(edits)),
        idle: "nothing to fix",
        is_fix: true,
        ..Intent::counting(changes)
    };
    if member == Member::Index {
        index_entries::refuse_kept_urls(snapshot, rules, &mut intent);
    }
    intent
}

/// The edits that fix `rules` in one file, without its rows.
pub(in crate::session) fn edits_of_file(
    snapshot: &Snapshot,
    was: &Document,
    member: Member,
    rules: RuleSet,
) -> Vec<Edit> {
    if is_feed(was, member) {
        return Vec::new();
    }
    let (mut frame, mut edits) = (None, Vec::new());
    let mut document = was.clone();
    let profile = snapshot.checks.profile();
    let broken = match member {
        Member::Index => volumes::rules(&document, profile),
        Member::Sitemap(_) => file_fixes::rules(&document, member, profile),
    };
    for rule in broken.intersection(rules).intersection(frame::FRAME_RULES).iter() {
        for edit in edits_for(&document, member, rule, profile).unwrap_or_default() {
            if let Some(after) = document.trial(&edit) {
                document = after;
                match edit {
                    // The last frame includes the changes of all.
                    Edit::Frame { .. } => frame = Some(edit),
                    _ => edits.push(edit),
                }
            }
        }
    }
    if rules.contains(Rule::TEXT_EXTENSION)
        && let Some(edit) = name::rename_edit(&document, member, rules)
        && let Some(after) = document.trial(&edit)
    {
        document = after;
        edits.push(edit);
    }
    if member == Member::Index {
        frame = index_entries::edit(snapshot, &document, rules, None).or(frame);
    }
    edits.extend(frame);
    if let Member::Sitemap(id) = member
        && rules.contains(Rule::SET_NEWS_MIXED)
        && fix_table::can_separate_news(snapshot, id)
    {
        edits.push(Edit::SeparateNews(id));
    }
    let quirks: Vec<&Quirk> = match member {
        Member::Index => was.index().into_iter().flat_map(Index::all_quirks).collect(),
        Member::Sitemap(id) => was.sitemap(id).into_iter().flat_map(|file| file.quirks.iter()).collect(),
    };
    let of_quirks =
        |is_selected: fn(Defect) -> bool| quirk::rules(quirks.iter().copied().filter(|quirk| is_selected(quirk.kind)));
    let repairs = of_quirks(Defect::ends_when_written);
    // All repairs of a file are accepted together: unattended only if each of them is safe, else if any rule is named.
    let is_named = rules != safe_rules();
    let is_accepted = |rule: Rule| is_named || rules.contains(rule) || rule.fix() == FixKind::Safe;
    if !repairs.iter().all(is_accepted) {
        return edits;
    }
    let lines = match member {
        Member::Sitemap(id) if of_quirks(Defect::is_of_lines).intersects(rules) => {
            list::fix_lines(&document, id, rules)
        }
        _ => Vec::new(),
    };
    // Accepting a file over a limit lets the next save split it.
    let is_over = fixed_by_save(&snapshot.document, member, broken).intersects(rules)
        || (rules.contains(Rule::NEWS_LIMIT)
            && matches!(member, Member::Sitemap(id) if fix_table::can_split_news(snapshot, id)));
    if repairs.intersects(rules) || !lines.is_empty() || is_over {
        edits.extend(lines);
        edits.push(Edit::Accept(member));
    }
    edits
}

/// Rules that are fixed in a sitemap's file, not in its rows.
pub(in crate::session) const OF_FILES: RuleSet = frame::FRAME_RULES
    .union(quirk::REPAIRS)
    .union(SPLIT)
    .union(name::FIXES)
    .union(RuleSet::of(&[Rule::TEXT_BLANK_LINE, Rule::TEXT_LINE_ENDS, Rule::SET_NEWS_MIXED]));
