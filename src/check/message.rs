//! Messages for the findings of one row, made on demand when the row is shown.
//!
//! A message states what is wrong with *this* value and what is allowed; the help of the rule explains the
//! consequences. Messages contain no control characters of a file.

use super::action::{Action, Fixes};
use super::context::{Context, Subject};
use super::extension;
use super::fields::{
    ANY_FIELD_RULES, FIELD_RULES, RULES_OF_EXTENSIONS, any_field_rules_broken_in, breaks, check_fields, check_value,
    fields_of_rule, is_any_field_rule, rules_broken_in, rules_of_field, sole_field_of_rule, trim_strict,
};
use super::finding::{Finding, Position};
use super::fix::{self, Trial};
use super::rule::{Rule, RuleSet};
use super::site::ENTRY_SITE_RULES;
use super::site_entry;
use super::value_fix::value_fix;
use super::value_message::{duration_text, field_message};
use super::value_messages::ValueMessages;
use crate::protocol::{Field, Severity, lastmod};
use crate::words::excerpt_of_value as visible;
use crate::xml::anomaly;
use crate::xml::entry::{Anomalies, Entry};
use std::cell::OnceCell;

/// The findings of one entry with messages and fixes, worst first. `set` is the result of [`super::entry::check`];
/// rules about the file or the set are ignored, since their messages need more than the entry.
pub fn messages(entry: &Entry, text: &[u8], context: &Context<'_>, set: RuleSet) -> Vec<Finding> {
    let trial = Trial::new(entry, text, context);
    worst_first(findings(&trial, set, Fixes::Applicable, &mut ValueMessages::default()))
}

/// [`messages`] for the rules of `set`, in any order. Fixes are slower to try than messages are to make.
pub(crate) fn findings(trial: &Trial<'_>, set: RuleSet, fixes: Fixes, values: &mut ValueMessages) -> Vec<Finding> {
    let Subject { entry, text, context } = trial.subject;
    let mut findings = Vec::with_capacity(set.len() as usize);
    for_each_broken(entry, text, context, set, |rule, field| {
        let Some(severity) = rule.severity_in(context.profile) else { return };
        let value = field.map(|field| values.of(rule, field, trial.value(field), context));
        let (message, position) = match &value {
            Some(value) => (value.message(), Position::Field(value.field)),
            None => entry_message(rule, entry, text, context),
        };
        let fix = match fixes {
            Fixes::None => None,
            Fixes::Described => fix::described_fix(rule, value.as_ref(), trial),
            Fixes::Applicable => fix::entry_fix(rule, value.as_ref(), trial),
        };
        findings.push(Finding::new(rule, severity, message).at(position).with_fix(fix));
    });
    for rule in set.intersection(ENTRY_SITE_RULES).iter() {
        findings.extend(Finding::in_profile(rule, context.profile, || {
            let message = site_entry::explain(rule, entry, text, context);
            message.unwrap_or_else(|| rule.summary().to_owned())
        }));
    }
    if set.intersects(RULES_OF_EXTENSIONS) && extension::has_content(entry, text) {
        findings.extend(extension::findings(entry, text, context, (set, fixes)));
    }
    findings
}

/// Calls `add` with the rule of each finding that [`messages`] would return, without making messages.
pub(crate) fn count(entry: &Entry, text: &[u8], context: &Context<'_>, set: RuleSet, mut add: impl FnMut(Rule)) {
    for_each_broken(entry, text, context, set, |rule, _| add(rule));
    set.intersection(ENTRY_SITE_RULES).iter().for_each(&mut add);
    if set.intersects(RULES_OF_EXTENSIONS) && extension::has_content(entry, text) {
        extension::count(entry, text, context, |rule| {
            if set.contains(rule) {
                add(rule);
            }
        });
    }
}

/// Visits the rules about fields and structure that an entry violates, each with every field that violates it. `set`
/// has the rules that the entry is known to violate.
fn for_each_broken(
    entry: &Entry,
    text: &[u8],
    context: &Context<'_>,
    set: RuleSet,
    mut visit: impl FnMut(Rule, Option<Field>),
) {
    let set = set.intersection(FIELD_RULES);
    if set.is_empty() {
        return;
    }
    // Extensions can violate some of these rules as well.
    let has_extensions = extension::has_content(entry, text);
    let (of_fields, of_whole) = (Field::ALL.map(|_| OnceCell::new()), OnceCell::new());
    let is_broken = |rule: Rule, field: Option<Field>| {
        let broken = match field {
            Some(field) if is_any_field_rule(rule) => any_field_rules_broken_in(field, entry, text, context),
            Some(field) => {
                let known = of_fields.get(field.index());
                known
                    .map(|known| *known.get_or_init(|| rules_broken_in(field, entry, text, context)))
                    .unwrap_or_default()
            }
            None => *of_whole.get_or_init(|| check_fields(entry, text, context)),
        };
        broken.contains(rule)
    };
    for rule in set.iter() {
        // A rule about the whole entry may be violated by a repair instead.
        if let Some(field) = sole_field_of_rule(rule).filter(|_| !has_extensions) {
            visit(rule, Some(field));
            continue;
        }
        fields_of_rule(rule).filter(|field| is_broken(rule, *field)).for_each(|field| visit(rule, field));
    }
}

/// The worst severity among the violated rules of each field, by [`Field::index`], without making messages. A missing
/// loc counts for that field.
pub(crate) fn worst_of_fields(
    entry: &Entry,
    text: &[u8],
    context: &Context<'_>,
    set: RuleSet,
) -> [Option<Severity>; 4] {
    let mut worst = [None; 4];
    for rule in set.intersection(FIELD_RULES).iter() {
        let severity = rule.severity_in(context.profile);
        for field in fields_of_rule(rule) {
            let field = match field {
                Some(field) if breaks(rule, Some(field), entry, text, context) => field,
                None if rule == Rule::LOC_MISSING => Field::Loc,
                _ => continue,
            };
            if let Some(known) = worst.get_mut(field.index()) {
                *known = severity.max(*known);
            }
        }
    }
    worst
}

/// The findings of a value that is not in an entry yet, such as text being typed. `decoded` is trimmed.
pub(crate) fn messages_of_value(field: Field, decoded: &str, context: &Context<'_>) -> Vec<Finding> {
    let value = trim_strict(decoded);
    let findings = check_value(field, decoded, context).iter().filter_map(|rule| {
        let fix = value_fix(rule, field, value, context).map(|of_value| of_value.fix).filter(|fix| match &fix.action {
            Action::Set { value: Some(right), .. } => !check_value(field, right, context).contains(rule),
            _ => true,
        });
        let found = Finding::in_profile(rule, context.profile, || field_message(rule, field, value, context))?;
        Some(found.at(Position::Field(field)).with_fix(fix))
    });
    worst_first(findings.collect())
}

pub(super) fn worst_first(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// Rules with at most one finding per entry. Rules of loc are not among them, since URLs in extensions can
/// violate them as well; of the rules for extensions, only those about all alternate links together are.
pub(crate) const REPORTED_ONCE: RuleSet = FIELD_RULES
    .minus(ANY_FIELD_RULES)
    // Alternate links with `rel="amphtml"` violate it as well.
    .minus(RuleSet::of(&[Rule::DOC_UNKNOWN_ELEMENT]))
    .minus(rules_of_field(Field::Loc))
    .union(ENTRY_SITE_RULES)
    .union(RuleSet::of(&[Rule::HREFLANG_SELF_MISSING, Rule::HREFLANG_NO_X_DEFAULT]));

/// The anomaly that violates a rule about the structure of an entry.
fn anomaly_of(rule: Rule, entry: &Entry) -> Option<Anomalies> {
    Some(match rule {
        Rule::FIELD_DUPLICATE if entry.anomalies.contains(Anomalies::LOC_TWICE) => Anomalies::LOC_TWICE,
        Rule::FIELD_DUPLICATE => Anomalies::FIELD_TWICE,
        Rule::ENTRY_CHILD_ORDER => Anomalies::OUT_OF_ORDER,
        Rule::DOC_MIXED_KINDS => Anomalies::OTHER_KIND,
        Rule::DOC_FOREIGN_ELEMENT => Anomalies::FOREIGN,
        Rule::XML_UNDECLARED_PREFIX => Anomalies::UNDECLARED,
        Rule::NS_ENTRY_MISSING => Anomalies::NO_NAMESPACE,
        Rule::DOC_UNKNOWN_ELEMENT => Anomalies::UNKNOWN_CHILD,
        Rule::DOC_UNKNOWN_ATTRIBUTE => Anomalies::ATTRIBUTE,
        Rule::DOC_STRAY_TEXT => Anomalies::STRAY_TEXT,
        _ => return None,
    })
}

/// The message for a rule that the entry as a whole violates, and the position in its text.
fn entry_message(rule: Rule, entry: &Entry, text: &[u8], context: &Context<'_>) -> (String, Position) {
    let found = anomaly_of(rule, entry).and_then(|odd| anomaly::first(entry, text, context.names, odd));
    let offset = found.as_ref().and_then(|found| u32::try_from(found.at).ok());
    let position = offset.map_or(Position::Whole, Position::Offset);
    let message = match &found {
        Some(found) => anomaly_message(rule, found, text, context),
        None => message_without_position(rule, entry, text, context),
    };
    (message, position)
}

/// The message for an anomaly in an entry.
fn anomaly_message(rule: Rule, found: &anomaly::Anomaly<'_>, text: &[u8], context: &Context<'_>) -> String {
    let element = context.names.kind.entry_name();
    let what = visible(&found.what);
    let attribute = found.attribute.as_deref().map(visible);
    match rule {
        Rule::FIELD_DUPLICATE => {
            let value = anomaly::text_of(text, found.at).unwrap_or_default();
            let why = if found.what.ends_with("loc") {
                "two pages probably lost the tags between them"
            } else {
                "readers disagree on which one counts"
            };
            format!("a second <{what}> ({}) in this {element}: {why}", visible(&value))
        }
        Rule::ENTRY_CHILD_ORDER => {
            format!("<{what}> is out of order: the schema wants loc, lastmod, changefreq, priority, then extensions")
        }
        Rule::DOC_MIXED_KINDS => format!(
            "<{what}> in a <{}>: crawlers skip it; a urlset lists <url>, a sitemapindex <sitemap>",
            context.names.kind.root_name()
        ),
        Rule::DOC_FOREIGN_ELEMENT => {
            format!("crawlers do not know the namespace of <{what}>; sited keeps the element")
        }
        Rule::XML_UNDECLARED_PREFIX => {
            let name = attribute.unwrap_or_else(|| format!("<{what}>"));
            let prefix = name.trim_start_matches('<').split(':').next().unwrap_or_default();
            format!("{name}: nothing declares the prefix {prefix}, so readers refuse the file")
        }
        Rule::NS_ENTRY_MISSING => {
            format!("xmlns=\"\" takes <{what}> out of the protocol's namespace: readers skip it")
        }
        Rule::DOC_UNKNOWN_ELEMENT => format!("<{what}> is not an element of the protocol: crawlers skip it"),
        Rule::DOC_UNKNOWN_ATTRIBUTE => {
            format!(
                "<{what}> has the attribute {}: the elements of the protocol have none",
                attribute.unwrap_or_default()
            )
        }
        _ => format!("stray text inside <{element}>: {what}"),
    }
}

/// The message for a rule about the whole entry without a position in its text.
fn message_without_position(rule: Rule, entry: &Entry, text: &[u8], context: &Context<'_>) -> String {
    let element = context.names.kind.entry_name();
    let value = |field: Field| entry.value(field, text).map(|value| visible(&value)).unwrap_or_default();
    match rule {
        Rule::LOC_MISSING => format!("this {element} has no loc: give it one or delete the row"),
        Rule::CHANGEFREQ_LASTMOD_CONFLICT => {
            let age = lastmod::validate(&entry.value(Field::Lastmod, text).unwrap_or_default())
                .instant
                .map_or(0, |instant| context.now - instant.seconds);
            let when =
                if age < 86_400 { "within the last day".to_owned() } else { format!("{} ago", duration_text(age)) };
            format!("changefreq is {}, but the last change was {when}", value(Field::Changefreq))
        }
        _ => rule.summary().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::NOW;
    use super::*;
    use crate::protocol::location::UrlPrefix;
    use crate::xml::names::{FileKind, Names};

    fn found(text: &str, kind: FileKind) -> Vec<(String, String, String)> {
        let names = Names::plain(kind);
        let url_prefix = UrlPrefix::parse("https://example.com/b/sitemap.xml");
        let context = Context {
            now: NOW,
            profile: crate::check::Profile::Protocol,
            names: &names,
            url_prefix: url_prefix.as_ref(),
            policy: None,
            site: None,
        };
        let entry = Entry::of(text.as_bytes(), &names);
        let set = super::super::check(&entry, text.as_bytes(), &context);
        let findings = messages(&entry, text.as_bytes(), &context, set);
        let words = findings.into_iter().map(|finding| {
            let fix = finding.fix.map_or(String::new(), |fix| {
                let safe = if fix.is_safe { "" } else { "?" };
                match fix.action {
                    Action::Set { value, .. } => {
                        format!("{}{safe} -> {}", fix.label, value.as_deref().unwrap_or("none"))
                    }
                    Action::Rewrite(text) => format!("{}{safe} -> {text}", fix.label),
                    Action::Split(_) | Action::File => fix.label.to_string(),
                }
            });
            (finding.rule.code().to_owned(), finding.message, fix)
        });
        words.collect()
    }

    #[test]
    fn every_field_has_its_own_message() {
        let table = [
            ("<lastmod>2026-13-01</lastmod>", ("lastmod-impossible", "2026-13-01: there is no month 13", "")),
            (
                "<lastmod>2026-11-3</lastmod>",
                (
                    "lastmod-unpadded",
                    "2026-11-3: write the day with two digits: 2026-11-03",
                    "write two digits each -> 2026-11-03",
                ),
            ),
            (
                "<lastmod>2026-11-03T10:00:00</lastmod>",
                (
                    "lastmod-no-timezone",
                    "2026-11-03T10:00:00: a time needs its zone, Z or +hh:mm",
                    "assume UTC? -> 2026-11-03T10:00:00Z",
                ),
            ),
            (
                "<lastmod>2027-01-30</lastmod>",
                ("lastmod-future", "2027-01-30: 2 months in the future", "remove lastmod? -> none"),
            ),
            (
                "<lastmod>0000-00-00</lastmod>",
                (
                    "lastmod-zero",
                    "0000-00-00: the empty date of a database: leave lastmod out instead",
                    "remove lastmod? -> none",
                ),
            ),
            (
                "<changefreq>fortnightly</changefreq>",
                (
                    "changefreq-invalid",
                    "fortnightly: not a changefreq; did you mean weekly?",
                    "use the nearest word? -> weekly",
                ),
            ),
            (
                "<changefreq>DAILY</changefreq>",
                ("changefreq-case", "DAILY: use lower case: daily", "use lower case -> daily"),
            ),
            ("<changefreq/>", ("field-empty", "changefreq is empty: remove the element", "remove changefreq -> none")),
            (
                "<priority>0,5</priority>",
                ("priority-comma", "0,5: write a point, not a comma: 0.5", "write it in the usual form -> 0.5"),
            ),
            (
                "<priority>80</priority>",
                ("priority-range", "80: priority must be from 0.0 to 1.0; perhaps 0.8", "read as a percentage? -> 0.8"),
            ),
            (
                "<priority>\u{1b}[31mhigh</priority>",
                ("priority-invalid", "␛[31mhigh: not a number from 0.0 to 1.0", ""),
            ),
        ];
        for (field, (code, message, fix)) in table {
            let text = format!("<url><loc>https://example.com/b/a</loc>{field}</url>");
            assert_eq!(found(&text, FileKind::Urlset), [(code.into(), message.into(), fix.into())], "{field}");
        }
    }

    #[test]
    fn a_loc_and_its_place() {
        let table = [
            ("/b/c", "loc-not-absolute", "make it a complete URL? -> https://example.com/b/c"),
            ("c.html", "loc-not-absolute", "make it a complete URL? -> https://example.com/b/c.html"),
            ("//example.com/b/c", "loc-not-absolute", "make it a complete URL? -> https://example.com/b/c"),
            (
                "https://example.com/b/a b",
                "loc-inner-whitespace",
                "write the blank as %20? -> https://example.com/b/a%20b",
            ),
            (
                "https://example.com/b/a\n  b",
                "loc-inner-whitespace",
                "remove the line break -> https://example.com/b/ab",
            ),
            ("https://example.com/b/a#top", "loc-fragment", "remove the fragment? -> https://example.com/b/a"),
            ("https://other.com/b/", "loc-foreign-host", "write the sitemap's own host? -> https://example.com/b/"),
            ("https://example.com/a", "loc-outside-path", ""),
        ];
        for (loc, code, fix) in table {
            let found = found(&format!("<url><loc>{loc}</loc></url>"), FileKind::Urlset);
            let codes: Vec<_> = found.iter().map(|(code, _, fix)| (code.as_str(), fix.as_str())).collect();
            assert_eq!(codes, [(code, fix)], "{loc}");
        }
        let message = |loc: &str| found(&format!("<url><loc>{loc}</loc></url>"), FileKind::Urlset).remove(0).1;
        assert_eq!(
            message("https://other.com/b/"),
            "https://other.com is not the sitemap's own site, https://example.com: crawlers skip it unless robots.txt of \
             other.com names this sitemap"
        );
        assert_eq!(
            message("https://example.com/a"),
            "/a is not below /b/: crawlers skip it unless robots.txt of example.com names this sitemap"
        );
    }

    #[test]
    fn one_finding_for_each_field_the_worst_first() {
        let text =
            "<url><loc>https://example.com/b/%zz</loc><changefreq/><lastmod> </lastmod><priority> .5 </priority></url>";
        let codes: Vec<_> = found(text, FileKind::Urlset).into_iter().map(|(code, ..)| code).collect();
        let expected =
            ["loc-bad-percent", "field-empty", "field-empty", "field-whitespace", "entry-child-order", "priority-form"];
        assert_eq!(codes, expected);
    }

    #[test]
    fn rules_of_the_set_are_ignored() {
        let names = Names::plain(FileKind::Urlset);
        let context = Context {
            now: NOW,
            profile: crate::check::Profile::Protocol,
            names: &names,
            url_prefix: None,
            policy: None,
            site: None,
        };
        let text = b"<url><loc>https://example.com/</loc></url>";
        let set = RuleSet::of(&[Rule::SET_DUPLICATE, Rule::LASTMOD_MISSING]);
        assert_eq!(messages(&Entry::of(text, &names), text, &context, set), []);
    }

    #[test]
    fn a_typed_value_is_checked_alone() {
        let names = Names::plain(FileKind::Urlset);
        let context = Context {
            now: NOW,
            profile: crate::check::Profile::Protocol,
            names: &names,
            url_prefix: None,
            policy: None,
            site: None,
        };
        let findings = messages_of_value(Field::Lastmod, "2026-11-3", &context);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "2026-11-3: write the day with two digits: 2026-11-03");
        assert!(messages_of_value(Field::Lastmod, "2026-11-03", &context).is_empty());
    }
}
