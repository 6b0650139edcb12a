//! Checks one entry against the rules for fields and extensions, and updates the result after a change of one field.

use super::context::Context;
use super::extension;
use super::fields::{
    FIELD_RULES, FieldFacts, RULES_OF_BOTH, RULES_OF_EXTENSIONS, SHARED_RULES, check_fields, rules_of_field,
    value_rules,
};
use super::rule::{EXTENSION_RULES, Rule, RuleSet};
use super::site::{ENTRY_SITE_RULES, Site};
use super::site_entry;
use crate::protocol::Field;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::location::Faults;
use crate::xml::entry::Entry;
use crate::xml::names::FileKind;
use crate::xml::record::{Flags, Record};

/// Every rule that [`check`] can report.
pub(crate) const ENTRY_RULES: RuleSet = FIELD_RULES.union(EXTENSION_RULES).union(ENTRY_SITE_RULES);

/// The rules of the profile that an entry violates, its extensions included. `entry` must be the anatomy of `text`.
pub fn check(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    context.enabled(check_all_rules(entry, text, context))
}

fn check_all_rules(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let set = check_fields(entry, text, context).union(site_entry::rules(entry, text, context));
    if extension::has_content(entry, text) { set.union(extension::check(entry, text, context)) } else { set }
}

/// A new value of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewValue<'v> {
    /// Decoded.
    pub text: &'v str,
    /// The faults of a URL, if they are known.
    pub url_faults: Option<Faults>,
}

impl<'v> From<&'v str> for NewValue<'v> {
    fn from(text: &'v str) -> Self {
        Self { text, url_faults: None }
    }
}

/// The result of [`check`] after one field of an entry got a new value (`None`: the element was removed), computed from
/// the result before, without parsing the entry. `record` is the record *after* the change.
///
/// `None` if the whole entry must be checked: its structure is unusual, or other rules depend on the field.
pub(crate) fn revise(
    old: RuleSet,
    field: Field,
    value: Option<NewValue<'_>>,
    record: &Record,
    context: &Context<'_>,
) -> Option<RuleSet> {
    if old.intersects(SHARED_RULES) || record.flags.contains(Flags::ANOMALOUS) {
        return None;
    }
    // The site rules compare URL and date with the whole entry.
    let is_compared = context.site.is_some_and(Site::compares_entries);
    if is_compared && matches!(field, Field::Loc | Field::Lastmod) {
        return None;
    }
    // Rules for extensions depend on the page's URL, and URLs in extensions can violate the same rules.
    if field == Field::Loc && record.flags.has_extensions() {
        return None;
    }
    let mut facts = FieldFacts {
        lastmod: record.lastmod(),
        changefreq: Changefreq::ALL.get(usize::from(record.changefreq_code())).copied(),
    };
    let mut set = old.minus(rules_of_field(field));
    match value {
        None => set.insert_if(Rule::LOC_MISSING, field == Field::Loc),
        Some(NewValue { text, url_faults }) => {
            set = set.union(value_rules(field, text, context, &mut facts, url_faults));
        }
    }
    // No rule compares the priority with another field.
    if field != Field::Priority {
        set.remove(Rule::CHANGEFREQ_LASTMOD_CONFLICT);
        let conflicts = context.names.kind != FileKind::Index && facts.conflict(context.now);
        set.insert_if(Rule::CHANGEFREQ_LASTMOD_CONFLICT, conflicts);
    }
    Some(context.enabled(set))
}

/// The result of [`check`] after one field of an entry got a new value, if [`revise`] gives none, or after its children
/// changed their order (`field` is `None`). Extensions are checked again only if the URL of their page changed. `old` is
/// the result before the change.
pub(crate) fn check_again(
    old: RuleSet,
    field: Option<Field>,
    entry: &Entry,
    text: &[u8],
    context: &Context<'_>,
) -> RuleSet {
    if field == Some(Field::Loc) || old.intersects(RULES_OF_BOTH) {
        return check(entry, text, context);
    }
    let set = check_fields(entry, text, context).union(site_entry::rules(entry, text, context));
    context.enabled(set.union(old.intersection(RULES_OF_EXTENSIONS)))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{NOW, any_value};
    use super::*;
    use crate::check::fields::{check_value, loc_rule};
    use crate::check::rule::Profile;
    use crate::protocol::location::{Fault, UrlPrefix};
    use crate::xml::names::Names;
    use crate::xml::splice::{Change, splice};
    use proptest::prelude::*;

    fn broken(text: &str, kind: FileKind, url_prefix: Option<&str>) -> String {
        let names = Names::plain(kind);
        let url_prefix = url_prefix.and_then(UrlPrefix::parse);
        let context = Context {
            now: NOW,
            profile: Profile::Protocol,
            names: &names,
            url_prefix: url_prefix.as_ref(),
            policy: None,
            site: None,
        };
        let set = check(&Entry::of(text.as_bytes(), &names), text.as_bytes(), &context);
        named(set)
    }

    /// The codes; of a variant, with its severity.
    fn named(set: RuleSet) -> String {
        set.iter().map(|rule| format!("{rule:?}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn structure_of_a_url() {
        let loc = "<loc>https://example.com/a</loc>";
        let table = [
            (format!("<url>{loc}</url>"), ""),
            (format!("\n  <!-- banner -->\n  <url>\n    {loc}\n    <lastmod>2026-11-18</lastmod>\n  </url>"), ""),
            ("<url/>".into(), "loc-missing"),
            ("<url></url>".into(), "loc-missing"),
            ("<url><lastmod>2026-11-18</lastmod></url>".into(), "loc-missing"),
            ("<url><loc/></url>".into(), "loc-empty"),
            ("<url><loc> \n </loc></url>".into(), "loc-empty"),
            ("<url><loc><!-- later --></loc></url>".into(), "loc-empty"),
            (format!("<url>{loc}{loc}</url>"), "field-duplicate"),
            (format!("<url>{loc}<priority>0.5</priority><priority>0.6</priority></url>"), "field-duplicate"),
            (format!("<url>{loc}<lastmod/></url>"), "field-empty"),
            (format!("<url>{loc}<changefreq></changefreq><priority> </priority></url>"), "field-empty"),
            (format!("<url><lastmod>2026-11-18</lastmod>{loc}</url>"), "entry-child-order"),
            (format!("<url>{loc}<priority>0.5</priority><lastmod>2026-11-18</lastmod></url>"), "entry-child-order"),
            (
                format!(
                    "<url>{loc}<i:image xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\"/><priority>0.5</priority></url>"
                ),
                "entry-child-order image-loc-missing",
            ),
            ("<url><loc>https://example.com/<b>a</b></loc></url>".into(), "field-has-children"),
            (format!("<url id=\"7\">{loc}</url>"), "doc-unknown-attribute"),
            ("<url><loc lang=\"en\">https://example.com/a</loc></url>".into(), "doc-unknown-attribute"),
            (format!("<url>{loc} and more</url>"), "doc-stray-text"),
            (format!("<url>{loc}<expires>2027-01-01</expires></url>"), "doc-unknown-element"),
            (format!("<url>{loc}<expires xmlns=\"\">2027-01-01</expires></url>"), "doc-unknown-element"),
            (format!("<url>{loc}<expires xmlns=\"x\">2027-01-01</expires></url>"), "doc-foreign-element"),
        ];
        for (text, expected) in table {
            assert_eq!(broken(&text, FileKind::Urlset, None), expected, "{text}");
        }
    }

    #[test]
    fn white_space_around_values() {
        let table = [
            ("<loc>\n  https://example.com/a\n</loc>", "field-whitespace"),
            ("<loc><![CDATA[ https://example.com/a ]]></loc>", "field-whitespace"),
            ("<loc>&#32;https://example.com/a</loc>", "field-whitespace"),
            ("<loc><![CDATA[https://example.com/a]]></loc>", ""),
            ("<loc>\u{a0}https://example.com/a</loc>", "field-whitespace/warning"),
            ("<loc> https://example.com/a&#x200b; </loc>", "field-whitespace/warning"),
            ("<loc>\u{feff}https://example.com/a</loc>", "field-whitespace/warning"),
            ("<loc>https://example.com/a</loc><changefreq> daily </changefreq>", "field-whitespace/warning"),
            ("<loc>https://example.com/a</loc><priority> 0.5</priority>", "field-whitespace"),
            ("<loc>https://example.com/a</loc><lastmod>2026-11-18\u{a0}</lastmod>", "field-whitespace/warning"),
        ];
        for (fields, expected) in table {
            assert_eq!(broken(&format!("<url>{fields}</url>"), FileKind::Urlset, None), expected, "{fields}");
        }
    }

    #[test]
    fn values() {
        let table = [
            (Field::Loc, "https://example.com/a b", "loc-inner-whitespace"),
            (Field::Loc, "/a", "loc-not-absolute"),
            (Field::Loc, "https://example.com/sitemap.xml", "loc-not-page"),
            (Field::Lastmod, "2026-13-01", "lastmod-impossible"),
            (Field::Lastmod, "2026-11-20 10:00", "lastmod-space-separator"),
            (Field::Lastmod, "2026-11-21", ""),
            (Field::Lastmod, "2026-11-21T10:14:07Z", ""),
            (Field::Lastmod, "2026-11-21T10:14:08Z", "lastmod-future"),
            (Field::Lastmod, "2026-11-22", "lastmod-future"),
            (Field::Lastmod, "", "field-empty"),
            (Field::Lastmod, "yesterday", "lastmod-invalid"),
            (Field::Lastmod, "2026-11", "lastmod-reduced-precision"),
            (Field::Lastmod, "2026-11-18T10:00:00+15:00", "lastmod-offset-range"),
            (Field::Lastmod, "1115746410", "lastmod-epoch"),
            (Field::Lastmod, "10.05.2005", "lastmod-locale"),
            (Field::Lastmod, "10/05/05", "lastmod-locale"),
            (Field::Lastmod, "05/10/2005", "lastmod-invalid"),
            (Field::Lastmod, "2026-11-18, 2026-11-19", "lastmod-multiple"),
            (Field::Lastmod, "1989-12-31", "lastmod-year-range"),
            (Field::Lastmod, "12005-05-10", "lastmod-year-range/error"),
            (Field::Lastmod, "0000-00-00", "lastmod-zero"),
            (Field::Lastmod, "1970-01-01", "lastmod-zero/warning"),
            (Field::Changefreq, "daily", ""),
            (Field::Changefreq, "Daily", "changefreq-case"),
            (Field::Changefreq, "fortnightly", "changefreq-invalid"),
            (Field::Priority, "0.50", ""),
            (Field::Priority, "0,5", "priority-comma"),
            (Field::Priority, "1.1", "priority-range"),
            (Field::Priority, "high", "priority-invalid"),
            (Field::Priority, ".5", "priority-form"),
            (Field::Priority, "0.555", "priority-precision"),
        ];
        let names = Names::plain(FileKind::Urlset);
        let context =
            Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: None, policy: None, site: None };
        for (field, value, expected) in table {
            assert_eq!(named(check_value(field, value, &context)), expected, "{value}");
        }
    }

    #[test]
    fn a_frequency_that_contradicts_the_date_is_reported() {
        let table = [
            ("daily", "2025-11-19", "changefreq-lastmod-conflict"),
            ("hourly", "2020", "lastmod-reduced-precision changefreq-lastmod-conflict"),
            ("daily", "2025-11-21", ""),
            ("weekly", "2020-01-01", ""),
            ("never", "2026-11-20", "changefreq-lastmod-conflict"),
            ("never", "2026-11-18", ""),
            ("Never", "2026-11-20", "changefreq-case"),
        ];
        for (changefreq, lastmod, expected) in table {
            let text = format!(
                "<url><loc>https://example.com/a</loc><lastmod>{lastmod}</lastmod><changefreq>{changefreq}</changefreq></url>"
            );
            assert_eq!(broken(&text, FileKind::Urlset, None), expected, "{changefreq} {lastmod}");
        }
    }

    #[test]
    fn scope_is_checked_only_when_it_is_known() {
        let table = [
            ("https://example.com/shop/a", Some("https://example.com/shop/sitemap.xml"), ""),
            ("https://example.com/a", Some("https://example.com/shop/sitemap.xml"), "loc-outside-path"),
            ("http://example.com/shop/a", Some("https://example.com/shop/sitemap.xml"), "loc-foreign-host"),
            ("http://other.com/a", None, ""),
        ];
        for (loc, url_prefix, expected) in table {
            assert_eq!(
                broken(&format!("<url><loc>{loc}</loc></url>"), FileKind::Urlset, url_prefix),
                expected,
                "{loc}"
            );
        }
    }

    #[test]
    fn an_index_has_rules_of_its_own() {
        let url_prefix = Some("https://example.com/maps/index.xml");
        let table = [
            ("<loc>https://example.com/maps/sitemap-1.xml.gz</loc><lastmod>2026-11-18</lastmod>", ""),
            ("<loc>sitemap-1.xml</loc>", "index-child-incomplete-url"),
            ("<loc>https://cdn.example.com/maps/1.xml</loc>", "index-child-host"),
            ("<loc>https://example.com/1.xml</loc>", "index-child-path"),
            ("<loc>https://example.com/maps/1.xml</loc><priority>0.5</priority>", "index-extra-child"),
            ("<loc>https://example.com/maps/1.xml</loc><lastmod>2026</lastmod>", "lastmod-reduced-precision"),
            ("", "loc-missing"),
        ];
        for (fields, expected) in table {
            let text = format!("<sitemap>{fields}</sitemap>");
            assert_eq!(broken(&text, FileKind::Index, url_prefix), expected, "{fields}");
        }
    }

    #[test]
    fn every_fault_of_a_loc_is_the_rule_of_its_code() {
        for fault in Fault::ALL {
            assert_eq!(loc_rule(*fault, FileKind::Urlset).map(Rule::code), Some(fault.code()));
        }
    }

    /// Structures and values that a validator rejects with sitemap.xsd 0.9: each must raise at least a warning.
    #[test]
    fn what_the_schema_rejects_is_reported() {
        let loc = "<loc>https://example.com/a</loc>";
        let long = "a".repeat(2_049 - "https://example.com/".len());
        let of = |name: &str, value: &str| format!("<url>{loc}<{name}>{value}</{name}></url>");
        let mut rejected = vec![
            format!("<url><priority>0.5</priority>{loc}</url>"),
            format!("<url>{loc}<changefreq>daily</changefreq><lastmod>2026-11-18</lastmod></url>"),
            format!("<url>{loc}{loc}</url>"),
            format!("<url>{loc}<lastmod>2026-11-18</lastmod><lastmod>2026-11-18</lastmod></url>"),
            "<url/>".to_owned(),
            "<url><loc>http://t.co</loc></url>".to_owned(),
            format!("<url><loc>https://example.com/{long}</loc></url>"),
            "<url><loc>https://example.com/%zz</loc></url>".to_owned(),
            "<url><loc>https://example.com/<b/></loc></url>".to_owned(),
            "<url><loc a='b'>https://example.com/</loc></url>".to_owned(),
            format!("<url a='b'>{loc}</url>"),
            format!("<url>text{loc}</url>"),
            format!("<url>{loc}<other/></url>"),
        ];
        let dates = [
            "2005",
            "2005-05",
            "2005-5-10",
            "20050510",
            "2005-02-30",
            "2005-13-01",
            "2005-02-29",
            "0000-01-01",
            "2005-05-10T17",
            "2005-05-10T17:33+08:00",
            "2005-05-10T17:33Z",
            "2005-05-10T17:33:30+0800",
            "2005-05-10T17:33:30+08",
            "2005-05-10 17:33:30",
            "2005-05-10 17:33:30+08:00",
            "2005-05-10t17:33:30z",
            "2005-05-10T24:00:01Z",
            "2005-05-10T25:00:00Z",
            "2005-05-10T23:59:60Z",
            "2005-05-10T17:33:30.Z",
            "2005-05-10T17:33:30+14:01",
            "05/10/2005",
            "Tue, 10 May 2005 17:33:30 GMT",
            "1115746410",
            "",
        ];
        let priorities = ["-0.1", "1.1", "1.0000001", "0,5", "5e-1", "NaN", "INF", "", "high", "50%"];
        let frequencies = ["Daily", "DAILY", " daily ", "", "fortnightly"];
        rejected.extend(dates.map(|value| of("lastmod", value)));
        rejected.extend(priorities.map(|value| of("priority", value)));
        rejected.extend(frequencies.map(|value| of("changefreq", value)));
        let names = Names::plain(FileKind::Urlset);
        let context =
            Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: None, policy: None, site: None };
        for text in rejected {
            let set = check(&Entry::of(text.as_bytes(), &names), text.as_bytes(), &context);
            // Only the schema restricts the order.
            let is_order = set == RuleSet::of(&[Rule::ENTRY_CHILD_ORDER]);
            assert!(is_order || set.worst() >= Some(crate::protocol::Severity::Warning), "{text}: {set:?}");
            assert!(ENTRY_RULES.intersection(set) == set, "{text}: {set:?}");
        }
    }

    proptest! {
        #[test]
        fn a_revision_equals_a_new_check(
            before in Field::ALL.map(any_value), change in (0..4usize), index in proptest::bool::weighted(0.2),
            values in Field::ALL.map(any_value),
        ) {
            let kind = if index { FileKind::Index } else { FileKind::Urlset };
            let names = Names::plain(kind);
            let url_prefix = UrlPrefix::parse("https://example.com/b/sitemap.xml");
            let context = Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: url_prefix.as_ref(), policy: None, site: None };
            let fields: String = Field::ALL.iter().zip(&before).filter_map(|(field, value)| {
                let (name, value) = (field.name(), crate::xml::escape::escape(value.as_deref()?));
                Some(format!("<{name}>{value}</{name}>"))
            }).collect();
            let text = format!("<{0}>{fields}</{0}>", kind.entry_name()).into_bytes();
            let entry = Entry::of(&text, &names);
            let old = check(&entry, &text, &context);
            prop_assert_eq!(ENTRY_RULES.intersection(old), old);

            let field = Field::ALL[change];
            let value = values[change].as_deref();
            let mut changes = [None; 4];
            changes[change] = Some(value.map_or(Change::Remove, Change::Set));
            let mut new_text = Vec::new();
            splice(&entry, &text, &names, &changes, &mut new_text);
            let new = check(&Entry::of(&new_text, &names), &new_text, &context);
            let mut record = Record::of(&entry, &text);
            record.note(field, value);
            // A value that is trimmed when it is read again differs from the one that was set.
            let exact = value.is_none_or(|value| value.trim() == value);
            if let Some(revised) = revise(old, field, value.map(NewValue::from), &record, &context).filter(|_| exact) {
                prop_assert_eq!(revised, new, "{}", String::from_utf8_lossy(&new_text));
            }
        }
    }
}
