//! Makes the findings of a row, with messages and fixes.

use crate::check::action::Fixes;
use crate::check::extension;
use crate::check::fix::Trial;
use crate::check::rule::{Grouping, Rule, RuleSet};
use crate::check::set::{Link, SetRule};
use crate::check::value_messages::ValueMessages;
use crate::check::{ExtensionPart, Finding, FindingTarget, Position, Profile, entry as entry_rules, message, quirk};
use crate::document::Document;
use crate::document::form::Form;
use crate::document::quirk::Quirk;
use crate::document::rows::RowId;
use crate::protocol::location::{self, Location};
use crate::protocol::{Field, Severity};
use crate::session::checks::{DocumentLocs, rule_of};
use crate::session::row_lines::RowNames;
use crate::session::state::Snapshot;
use crate::session::{file_fixes, fix_table};
use crate::words::{excerpt, grouped};
use crate::xml::entry::Entry;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::OnceLock;
mod counts;
pub(crate) mod file_findings;
pub(super) mod index_findings;
pub(crate) mod non_row;
pub(super) mod required;
pub(super) mod robots;

pub(crate) use counts::Counts;

/// The rules whose findings are counted without making messages: a row has at most one finding of each, or its file has
/// one.
pub(super) fn reported_once() -> RuleSet {
    let of_rows = RuleSet::of(&[Rule::LASTMOD_MISSING, Rule::SET_DUPLICATE_NEAR]);
    let others = entry_rules::ENTRY_RULES.minus(message::REPORTED_ONCE);
    // Findings grouped by file count once per file, so their number in a row does not matter. The groups of those
    // grouped by host depend on the URLs.
    let grouped = |grouping: Grouping| Rule::ALL.into_iter().filter(move |rule| rule.grouping() == Some(grouping));
    let per_file: RuleSet = grouped(Grouping::File).filter(|rule| entry_rules::ENTRY_RULES.contains(*rule)).collect();
    let per_host: RuleSet = grouped(Grouping::Host).collect();
    message::REPORTED_ONCE.union(SetRule::RULES).union(of_rows).minus(others).union(per_file).minus(per_host)
}

/// The findings of a row, worst first.
pub(crate) fn of_row(snapshot: &Snapshot, row: RowId) -> Vec<Finding> {
    let parsed = ParsedRow::of(&snapshot.document, row);
    let lastmod_missing = OnceLock::new();
    let wording = Wording { names: RowNames::Numbers, fixes: Fixes::Applicable, lastmod_missing: &lastmod_missing };
    let mut findings = of_rules(snapshot, &parsed, snapshot.rules_of(row), wording, &mut ValueMessages::default());
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}

/// A row with its entry, which is parsed once.
pub(super) struct ParsedRow<'d> {
    pub(super) row: RowId,
    pub(super) entry: Entry,
    pub(super) text: Cow<'d, [u8]>,
}

impl<'d> ParsedRow<'d> {
    pub(super) fn of(document: &'d Document, row: RowId) -> Self {
        let (entry, text) = document.entry(row);
        Self { row, entry, text }
    }
}

/// How messages of findings are written.
#[derive(Clone, Copy)]
pub(super) struct Wording<'n> {
    /// How messages name other rows.
    pub(super) names: RowNames<'n>,
    /// The fixes that they have.
    pub(super) fixes: Fixes,
    /// The message that a URL lacks a lastmod, made on first use: it is the same for all rows.
    pub(super) lastmod_missing: &'n OnceLock<String>,
}

/// The findings of a row that violates these rules, in any order. `values` keeps messages of values for the next row.
pub(super) fn of_rules(
    snapshot: &Snapshot,
    parsed: &ParsedRow<'_>,
    rules: RuleSet,
    wording: Wording<'_>,
    values: &mut ValueMessages,
) -> Vec<Finding> {
    if rules.is_empty() {
        return Vec::new();
    }
    let (row, entry, text) = (parsed.row, &parsed.entry, &*parsed.text);
    let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
    let Wording { names, fixes, lastmod_missing } = wording;
    let quirks = snapshot.document.quirks_of(row);
    // A repair may violate an entry rule too.
    let trial = if fixes != Fixes::None && quirks.is_empty() {
        Trial::after_check(entry, text, &context, snapshot.checks.entry_rules_of(row), snapshot.document.record(row))
    } else {
        Trial::new(entry, text, &context)
    };
    let mut findings = message::findings(&trial, snapshot.checks.rules_of_entry(row, rules), fixes, values);
    let locs = DocumentLocs(&snapshot.document);
    let of_set = rules.intersects(SetRule::RULES).then(|| snapshot.checks.set().rules_of(row.0, &locs));
    for rule in of_set.unwrap_or_default().iter().map(rule_of) {
        let Some(severity) = rule.severity_in(snapshot.checks.profile()) else { continue };
        let links = SetRule::of(rule).filter(|rule| rule.is_about_links());
        let links = links.map(|rule| (rule, extension::alternates(entry, text, snapshot.document.names(row))));
        let about_link = links.and_then(|(rule, links)| link_message(snapshot, rule, row, links, names));
        if let Some((part, message)) = about_link {
            let fix = fix_table::row_fix(rule);
            findings.push(Finding::new(rule, severity, message).at(Position::Element(part)).with_fix(fix));
            continue;
        }
        let message = set_message(snapshot, rule, row, names);
        let fix = fix_table::row_fix(rule);
        findings.push(Finding::new(rule, severity, message).at(Position::Field(Field::Loc)).with_fix(fix));
    }
    // These fixes depend on other rows: on other versions of the page, or on whether its new URL is listed.
    let is_of_set = |rule: Rule| rule == Rule::HREFLANG_SELF_MISSING || fix_table::OF_SITE.contains(rule);
    for finding in findings.iter_mut().filter(|finding| is_of_set(finding.rule)) {
        finding.fix = fix_table::row_fix(finding.rule);
    }
    let profile = snapshot.checks.profile();
    // A feed is never overwritten, so it has no fixes.
    let file = snapshot.document.sitemap(snapshot.document.sitemap_of(row));
    let is_feed = file.is_some_and(|file| matches!(file.form, Form::Feed(_)));
    let of_quirks = quirks.iter().filter_map(|quirk| of_quirk(quirk, profile));
    findings.extend(of_quirks.map(|found| Finding { fix: found.fix.filter(|_| !is_feed), ..found }));
    if rules.contains(Rule::LASTMOD_MISSING) {
        let message = lastmod_missing.get_or_init(|| {
            let set = snapshot.checks.set();
            let (dated, all) = (grouped(set.with_lastmod()), grouped(set.len()));
            format!("lastmod is missing ({dated} of {all} URLs have one)")
        });
        findings.push(Finding::new(Rule::LASTMOD_MISSING, Severity::Note, message.clone()));
    }
    if rules.contains(Rule::SET_DUPLICATE_NEAR) {
        findings.extend(of_near(snapshot, row, snapshot.checks.near_duplicates().first_of(row.0)));
    }
    for finding in &mut findings {
        finding.target = FindingTarget::Row(Some(row));
    }
    findings
}

/// The worst severity among the findings of each field of a row, by [`Field::index`].
pub(crate) fn worst_of_fields(snapshot: &Snapshot, row: RowId) -> [Option<Severity>; 4] {
    let rules = snapshot.rules_of(row);
    if rules.is_empty() {
        return [None; 4];
    }
    let (entry, text) = snapshot.document.entry(row);
    let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
    let mut worst = message::worst_of_fields(&entry, &text, &context, rules);
    let profile = snapshot.checks.profile();
    let is_of_loc = |rule: &Rule| SetRule::of(*rule).is_none_or(|rule| !rule.is_about_links());
    let of_set = snapshot.checks.set().rules_of(row.0, &DocumentLocs(&snapshot.document));
    let of_set = of_set.iter().map(rule_of).filter(is_of_loc).filter_map(|rule| rule.severity_in(profile)).max();
    let [loc, ..] = &mut worst;
    *loc = of_set.max(*loc);
    worst
}

/// The findings of entry rules that a row would have with this text.
pub(crate) fn of_text(snapshot: &Snapshot, row: RowId, text: &[u8]) -> Vec<Finding> {
    let entry = Entry::of(text, snapshot.document.names(row));
    let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
    let rules = entry_rules::check(&entry, text, &context);
    message::messages(&entry, text, &context, rules)
}

/// The findings that typed text would have as the value of a field.
pub(crate) fn of_typed(snapshot: &Snapshot, row: Option<RowId>, field: Field, typed: &str) -> Vec<Finding> {
    let row = row.unwrap_or_default();
    let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
    message::messages_of_value(field, typed.trim(), &context)
}

/// The first alternate link of a row that violates a set rule, and the message.
fn link_message(
    snapshot: &Snapshot,
    set_rule: SetRule,
    row: RowId,
    links: Vec<(ExtensionPart, String, Link)>,
    names: RowNames<'_>,
) -> Option<(ExtensionPart, String)> {
    let set = snapshot.checks.set();
    let (part, href, _) = links.into_iter().find(|(.., link)| set.is_faulty(set_rule, row.0, *link))?;
    let locs = DocumentLocs(&snapshot.document);
    let target = set.duplicates().rows_of_page(&href, &locs).min().map(RowId);
    let name = |target: RowId| {
        names.beside(&snapshot.document, (target, row), snapshot.view.number(&snapshot.document, target))
    };
    let target = target.map_or_else(|| href.clone(), |target| format!("{href} ({})", name(target)));
    let message = match set_rule {
        SetRule::HreflangNoReturn => format!("{target} does not list this page: the link is ignored"),
        SetRule::HreflangTargetMissing => format!("{href} is an alternate on this site, but no entry lists it"),
        _ => format!("{target} lists other alternates than this page"),
    };
    Some((part, message))
}

/// The finding of a row that is a near duplicate of an earlier one.
pub(super) fn of_near(snapshot: &Snapshot, row: RowId, first: Option<u32>) -> Option<Finding> {
    let rule = Rule::SET_DUPLICATE_NEAR;
    let severity = rule.severity_in(snapshot.checks.profile())?;
    let first = first.map(RowId).filter(|first| *first != row)?;
    let other = excerpt(&snapshot.document.loc(first), 120);
    let message = format!("nearly the same URL as {other}, and probably the same page");
    let found = Finding::new(rule, severity, message).of(FindingTarget::Row(Some(row)));
    Some(found.at(Position::Field(Field::Loc)).with_fix(fix_table::row_fix(rule)))
}

fn set_message(snapshot: &Snapshot, rule: Rule, row: RowId, names: RowNames<'_>) -> String {
    let locs = DocumentLocs(&snapshot.document);
    let original = snapshot.checks.set().duplicates().original(row.0, &locs).map(RowId);
    let location =
        |other: RowId| names.in_file(&snapshot.document, other, snapshot.view.number(&snapshot.document, other));
    match (rule, original) {
        (Rule::SET_DUPLICATE, Some(other)) => format!("the same URL as {}", location(other)),
        (Rule::SET_DUPLICATE_EQUIVALENT, Some(other)) => {
            format!("the same page as {} ({})", excerpt(&snapshot.document.loc(other), 120), location(other))
        }
        (Rule::SET_DUPLICATE_ACROSS_FILES, Some(other)) => {
            format!("the same URL is in another file: {}", location(other))
        }
        (Rule::LOC_TEMPLATE_RESIDUE, _) => {
            format!("placeholder host ({}) among real ones", host_of(&snapshot.document.loc(row)))
        }
        (Rule::SET_MIXED_HOST, _) => {
            let (loc, set) = (snapshot.document.loc(row), snapshot.checks.set());
            let (host, main) = (host_of(&loc), set.main_host(snapshot.document.with_pending_split().sitemap_of(row).0));
            let main = main.map_or_else(String::new, |(main, _)| format!(", most URLs of this file are on {main}"));
            format!("{host} is another host{main}: crawlers skip it unless robots.txt of {host} names this sitemap")
        }
        (Rule::SET_MIXED_SCHEME, _) => {
            let [http, https] = snapshot.checks.set().schemes().map(grouped);
            format!("http and https are mixed: {http} URLs begin with http://, {https} with https://")
        }
        (Rule::SET_MIXED_WWW, _) => {
            let host = host_of(&snapshot.document.loc(row));
            let other = host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
            format!("{host} and {other} are mixed, and most URLs have {other}")
        }
        (Rule::SET_MIXED_PORT, _) => {
            let loc = snapshot.document.loc(row);
            let origin = location::origin(&loc).map_or("", |(origin, _)| origin);
            format!("{} has another port than most URLs of this file", excerpt(origin, 60))
        }
        (Rule::SET_MIXED_SLASH, _)
            if snapshot.document.loc(row).split(['?', '#']).next().unwrap_or_default().ends_with('/') =>
        {
            "the URL ends in a slash; nearly all others of its depth do not".to_owned()
        }
        (Rule::SET_MIXED_SLASH, _) => {
            "the URL ends without a slash; nearly all others of its depth end in one".to_owned()
        }
        _ => rule.summary().to_owned(),
    }
}

/// The host of a URL, for a message.
fn host_of(loc: &str) -> String {
    excerpt(Location::outline(loc).host(), 60)
}

/// The finding of a quirk of a row.
fn of_quirk(quirk: &Quirk, profile: Profile) -> Option<Finding> {
    let rule = quirk::rule_of(quirk.kind);
    let found = Finding::in_profile(rule, profile, || quirk::message(quirk))?;
    Some(found.at(Position::Stored(quirk.at)).with_fix(file_fixes::quirk_fix(quirk)))
}

/// The findings of quirks of a file; those of its rows only if `of_entries`.
pub(in crate::session) fn of_quirks(
    quirks: &[Quirk],
    (of_entries, profile): (bool, Profile),
    target: &dyn Fn(&Quirk) -> FindingTarget,
) -> Vec<Finding> {
    let own = quirks.iter().filter(|quirk| of_entries || quirk.entry.is_none());
    own.filter_map(|quirk| Some(of_quirk(quirk, profile)?.of(target(quirk)))).collect()
}
