//! Checks one entry: which rules its text breaks, given its file's URL and the current time.
//!
//! Runs for every entry of every file, where the record is made; allocates nothing for a plain, clean
//! entry. What is wrong is reported in words elsewhere, when someone looks at the row.

use super::extension;
use super::policy::Policy;
use super::profile::Profile;
use super::rule::{Rule, RuleSet};
use super::rules::EXTENSIONS as EXTENSION_RULES;
use super::set::Link;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::lastmod::{self, Lastmod};
use crate::protocol::location::{Fault, Location, UrlPrefix};
use crate::protocol::{Field, priority};
use crate::xml::anomaly;
use crate::xml::entry::{Anomalies, Entry, FieldSpan, TextKind, decode_value};
use crate::xml::escape;
use crate::xml::grid::is_without_scheme;
use crate::xml::names::{FileKind, Names};
use crate::xml::record::{Flags, Record};
use std::borrow::Cow;

/// Input of the entry rules beside the entry's text.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The time, in seconds since 1970 in UTC.
    pub now: i64,
    /// Whose expectations count.
    pub profile: Profile,
    /// The names of the file it is in.
    pub names: &'a Names,
    /// Where that file is published, if known; the rules of place are silent without it.
    pub url_prefix: Option<&'a UrlPrefix>,
    /// What the user allows, if that was reported.
    pub policy: Option<&'a Policy>,
}

/// Whitespace of XML (XML 1.0, production 3).
const XML_BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// A day in seconds.
pub(super) const DAY: i64 = 86_400;

/// A date may be this far ahead before it counts as the future: clocks and zones differ.
pub(super) const TOLERANCE: i64 = DAY;

/// After a year, "changes daily" is no longer believed.
const LONG_AGO: i64 = 365 * DAY;

/// Most bytes that Yandex reads of a date, a frequency, a priority (Yandex, "Sitemap errors reference").
const YANDEX_BYTES: usize = 100;

/// The rule of each fault of a lastmod, by its bit.
pub(super) const LASTMOD: [Rule; lastmod::Faults::COUNT as usize] = [
    Rule::LASTMOD_INVALID,
    Rule::LASTMOD_IMPOSSIBLE,
    Rule::LASTMOD_REDUCED_PRECISION,
    Rule::LASTMOD_NO_SECONDS,
    Rule::LASTMOD_NO_TIMEZONE,
    Rule::LASTMOD_SPACE_SEPARATOR,
    Rule::LASTMOD_OFFSET_FORMAT,
    Rule::LASTMOD_OFFSET_RANGE,
    Rule::LASTMOD_FRACTION,
    Rule::LASTMOD_LOWERCASE,
    Rule::LASTMOD_DATE_ZONE,
    Rule::LASTMOD_24_00,
    Rule::LASTMOD_UNPADDED,
    Rule::LASTMOD_BASIC_FORMAT,
    Rule::LASTMOD_RFC822,
    Rule::LASTMOD_EPOCH,
    Rule::LASTMOD_LOCALE,
    Rule::LASTMOD_MULTIPLE,
    Rule::LASTMOD_YEAR_RANGE,
    Rule::LASTMOD_YEAR_RANGE_DIGITS,
    Rule::LASTMOD_ZERO,
    Rule::LASTMOD_ZERO_UNIX,
    Rule::LASTMOD_NEGATIVE_ZERO,
];

/// The rule of each fault of a priority, by its bit.
pub(super) const PRIORITY: [Rule; priority::Faults::COUNT as usize] =
    [Rule::PRIORITY_INVALID, Rule::PRIORITY_COMMA, Rule::PRIORITY_RANGE, Rule::PRIORITY_FORM, Rule::PRIORITY_PRECISION];

const LOC_RULES: RuleSet = RuleSet::of(&[
    Rule::LOC_EMPTY,
    Rule::TEXT_EXTRA_CONTENT,
    Rule::TEXT_ENTITY,
    Rule::XML_DOUBLE_ESCAPED,
    Rule::LOC_NOT_ABSOLUTE,
    Rule::LOC_SCHEME,
    Rule::LOC_SCHEME_TYPO,
    Rule::LOC_NO_HOST,
    Rule::LOC_HOST_INVALID,
    Rule::LOC_HOST_NOT_PUBLIC,
    Rule::LOC_USERINFO,
    Rule::LOC_INNER_WHITESPACE,
    Rule::LOC_ILLEGAL_CHAR,
    Rule::LOC_BAD_PERCENT,
    Rule::LOC_NOT_ASCII,
    Rule::LOC_MOJIBAKE,
    Rule::LOC_TOO_LONG,
    Rule::LOC_TOO_LONG_BY_ONE,
    Rule::LOC_TOO_LONG_ENCODED,
    Rule::LOC_TOO_LONG_YANDEX,
    Rule::LOC_TOO_LONG_BAIDU,
    Rule::LOC_TOO_SHORT,
    Rule::LOC_MISSING_ROOT_SLASH,
    Rule::LOC_FRAGMENT,
    Rule::LOC_DEFAULT_PORT,
    Rule::LOC_DOT_SEGMENTS,
    Rule::LOC_DOUBLE_SLASH,
    Rule::LOC_UPPERCASE_HOST,
    Rule::LOC_SESSION_ID,
    Rule::LOC_TRACKING_PARAM,
    Rule::LOC_PRIVATE,
    Rule::LOC_TEMPLATE_RESIDUE,
    Rule::LOC_NOT_PAGE,
    Rule::LOC_FOREIGN_HOST,
    Rule::LOC_OUTSIDE_PATH,
    Rule::INDEX_CHILD_INCOMPLETE_URL,
    Rule::INDEX_CHILD_HOST,
    Rule::INDEX_CHILD_PATH,
    Rule::POLICY_NEVER,
]);

const LASTMOD_RULES: RuleSet =
    RuleSet::of(&LASTMOD).union(RuleSet::of(&[Rule::LASTMOD_FUTURE, Rule::LASTMOD_DATE_ONLY]));

const CHANGEFREQ_RULES: RuleSet = RuleSet::of(&[Rule::CHANGEFREQ_INVALID, Rule::CHANGEFREQ_CASE]);

const PRIORITY_RULES: RuleSet = RuleSet::of(&PRIORITY);

/// Rules that depend on the structure of the entry, or that several fields can break: when one of them
/// is broken, a change of one value does not tell what stays.
pub const SHARED_RULES: RuleSet = RuleSet::of(&[
    Rule::LOC_MISSING,
    Rule::FIELD_DUPLICATE,
    Rule::FIELD_EMPTY,
    Rule::FIELD_HAS_CHILDREN,
    Rule::FIELD_WHITESPACE,
    Rule::FIELD_WHITESPACE_STRICT,
    Rule::FIELD_TOO_LONG_YANDEX,
    Rule::ENTRY_CHILD_ORDER,
    Rule::DOC_UNKNOWN_ELEMENT,
    Rule::DOC_MIXED_KINDS,
    Rule::DOC_FOREIGN_ELEMENT,
    Rule::XML_UNDECLARED_PREFIX,
    Rule::NS_ENTRY_MISSING,
    Rule::DOC_UNKNOWN_ATTRIBUTE,
    Rule::DOC_STRAY_TEXT,
    Rule::INDEX_EXTRA_CHILD,
]);

/// Every rule that [`check`] can report.
pub const ENTRY_RULES: RuleSet = FIELD_RULES.union(EXTENSION_RULES);

/// The rules about fields and the entry around them.
pub(super) const FIELD_RULES: RuleSet = LOC_RULES
    .union(LASTMOD_RULES)
    .union(CHANGEFREQ_RULES)
    .union(PRIORITY_RULES)
    .union(SHARED_RULES)
    .union(RuleSet::of(&[Rule::CHANGEFREQ_LASTMOD_CONFLICT]));

/// The rules that only the value of this field can break.
pub const fn rules_of_field(field: Field) -> RuleSet {
    match field {
        Field::Loc => LOC_RULES,
        Field::Lastmod => LASTMOD_RULES,
        Field::Changefreq => CHANGEFREQ_RULES,
        Field::Priority => PRIORITY_RULES,
    }
}

/// The rules that an entry breaks, its extensions included, those of the profile. `entry` must be the anatomy of `text`.
pub fn check(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    asked(every_rule(entry, text, context), context)
}

/// Of the rules that are broken, those that the profile asks.
pub(super) fn asked(set: RuleSet, context: &Context<'_>) -> RuleSet {
    // Most entries break none: no need to know whose expectations count.
    if set.is_empty() { set } else { set.intersection(context.profile.asked()) }
}

/// The same, and the alternate links of the entry, for the rules of the set.
pub fn check_and_collect(entry: &Entry, text: &[u8], context: &Context<'_>, links: &mut Vec<Link>) -> RuleSet {
    let set = check_fields(entry, text, context);
    let concerns = extension::concerns(entry, text);
    let of_extensions = concerns.then(|| extension::check_and_collect(entry, text, context, links));
    asked(of_extensions.map_or(set, |other| set.union(other)), context)
}

fn every_rule(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let set = check_fields(entry, text, context);
    if extension::concerns(entry, text) { set.union(extension::check(entry, text, context)) } else { set }
}

/// The rules that the fields of an entry break, and the entry around them, whatever the profile asks.
pub(super) fn check_fields(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let mut set = structure(entry, text, context);
    let mut facts = FieldFacts::default();
    for field in Field::ALL {
        let Some(span) = entry.field(field) else { continue };
        if span.text == TextKind::Children {
            set.insert(Rule::FIELD_HAS_CHILDREN);
            continue;
        }
        let Some(raw) = entry.raw_value(field, text) else { continue };
        // Plain and valid text is itself; everything else is decoded.
        let plain = if span.text == TextKind::Plain { std::str::from_utf8(raw).ok() } else { None };
        let value = plain.map_or_else(|| decode_value(raw, span.text), Cow::Borrowed);
        let found = value_rules(field, &value, context, &mut facts);
        set = set.union(found);
        // One field's blanks are one finding, the worse one.
        if !value.is_empty() && !found.contains(Rule::FIELD_WHITESPACE_STRICT) && has_outer_blanks(span, raw) {
            set.insert(whitespace_rule(field));
        }
    }
    set.insert_if(Rule::CHANGEFREQ_LASTMOD_CONFLICT, facts.conflict(context.now));
    set
}

/// The rules that a value breaks by itself; `decoded` is trimmed of XML whitespace.
pub fn check_value(field: Field, decoded: &str, context: &Context<'_>) -> RuleSet {
    asked(value_rules(field, decoded, context, &mut FieldFacts::default()), context)
}

/// What [`check`] says after one field of an entry got a new value (`None`: the element is gone), from
/// what it said before, without taking the entry apart. `record` has the facts *after* the change.
///
/// `None` where that cannot be told: something about the entry's structure is unusual, check it whole.
pub fn revise(
    old: RuleSet,
    field: Field,
    value: Option<&str>,
    record: &Record,
    context: &Context<'_>,
) -> Option<RuleSet> {
    if old.intersects(SHARED_RULES) || record.flags.has(Flags::ANOMALOUS) {
        return None;
    }
    // Extensions speak of their page, and break rules of URLs themselves.
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
        Some(value) => set = set.union(value_rules(field, value, context, &mut facts)),
    }
    // A priority is at odds with no other field.
    if field != Field::Priority {
        set.remove(Rule::CHANGEFREQ_LASTMOD_CONFLICT);
        let conflicts = context.names.kind != FileKind::Index && facts.conflict(context.now);
        set.insert_if(Rule::CHANGEFREQ_LASTMOD_CONFLICT, conflicts);
    }
    Some(asked(set, context))
}

/// Trims what no value begins or ends with: whitespace of every kind, zero-width space, byte order mark.
pub(super) fn trim_strict(text: &str) -> &str {
    // Nearly every value begins and ends with a visible ASCII character.
    let visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if visible(text.as_bytes().first()) && visible(text.as_bytes().last()) {
        return text;
    }
    text.trim_matches(|letter: char| letter.is_whitespace() || matches!(letter, '\u{200b}' | '\u{2060}' | '\u{feff}'))
}

/// Whether whitespace is around a value, between the tags or inside CDATA and references.
pub(super) fn has_outer_blanks(span: &FieldSpan, raw: &[u8]) -> bool {
    (span.value_start, span.value_end) != (span.inner_start, span.inner_end) || has_inner_blanks(span, raw)
}

/// Whether a raw value begins or ends with whitespace that only decoding brings out.
pub(super) fn has_inner_blanks(span: &FieldSpan, raw: &[u8]) -> bool {
    let blank = |text: &str| text.starts_with(XML_BLANKS) || text.ends_with(XML_BLANKS);
    match span.text {
        TextKind::Plain | TextKind::Quoted | TextKind::Children => false,
        // Only a reference at either end can stand for whitespace there.
        TextKind::Escaped => (raw.starts_with(b"&") || raw.ends_with(b";")) && blank(&escape::decode(raw)),
        TextKind::Mixed => blank(&escape::decode_mixed(raw)),
    }
}

/// The rule that XML whitespace around a value breaks: the schema trims all fields but changefreq.
pub(super) const fn whitespace_rule(field: Field) -> Rule {
    match field {
        Field::Changefreq => Rule::FIELD_WHITESPACE_STRICT,
        _ => Rule::FIELD_WHITESPACE,
    }
}

/// The rule of a fault of a loc; in an index some have another meaning, or none.
pub(super) const fn loc_rule(fault: Fault, kind: FileKind) -> Option<Rule> {
    Some(match (fault, kind) {
        (Fault::NotAbsolute, FileKind::Index) => Rule::INDEX_CHILD_INCOMPLETE_URL,
        (Fault::ForeignHost, FileKind::Index) => Rule::INDEX_CHILD_HOST,
        (Fault::OutsidePath, FileKind::Index) => Rule::INDEX_CHILD_PATH,
        (Fault::NotPage, FileKind::Index) => return None,
        (Fault::NotAbsolute, _) => Rule::LOC_NOT_ABSOLUTE,
        (Fault::Scheme, _) => Rule::LOC_SCHEME,
        (Fault::SchemeTypo, _) => Rule::LOC_SCHEME_TYPO,
        (Fault::NoHost, _) => Rule::LOC_NO_HOST,
        (Fault::HostInvalid, _) => Rule::LOC_HOST_INVALID,
        (Fault::HostNotPublic, _) => Rule::LOC_HOST_NOT_PUBLIC,
        (Fault::Userinfo, _) => Rule::LOC_USERINFO,
        (Fault::InnerWhitespace, _) => Rule::LOC_INNER_WHITESPACE,
        (Fault::IllegalChar, _) => Rule::LOC_ILLEGAL_CHAR,
        (Fault::BadPercent, _) => Rule::LOC_BAD_PERCENT,
        (Fault::NotAscii, _) => Rule::LOC_NOT_ASCII,
        (Fault::Mojibake, _) => Rule::LOC_MOJIBAKE,
        (Fault::TooLong, _) => Rule::LOC_TOO_LONG,
        (Fault::TooLongByOne, _) => Rule::LOC_TOO_LONG_BY_ONE,
        (Fault::TooLongEncoded, _) => Rule::LOC_TOO_LONG_ENCODED,
        (Fault::TooLongYandex, _) => Rule::LOC_TOO_LONG_YANDEX,
        (Fault::TooLongBaidu, _) => Rule::LOC_TOO_LONG_BAIDU,
        (Fault::TooShort, _) => Rule::LOC_TOO_SHORT,
        (Fault::MissingRootSlash, _) => Rule::LOC_MISSING_ROOT_SLASH,
        (Fault::Fragment, _) => Rule::LOC_FRAGMENT,
        (Fault::DefaultPort, _) => Rule::LOC_DEFAULT_PORT,
        (Fault::DotSegments, _) => Rule::LOC_DOT_SEGMENTS,
        (Fault::DoubleSlash, _) => Rule::LOC_DOUBLE_SLASH,
        (Fault::UppercaseHost, _) => Rule::LOC_UPPERCASE_HOST,
        (Fault::SessionId, _) => Rule::LOC_SESSION_ID,
        (Fault::TrackingParam, _) => Rule::LOC_TRACKING_PARAM,
        (Fault::Private, _) => Rule::LOC_PRIVATE,
        (Fault::TemplateResidue, _) => Rule::LOC_TEMPLATE_RESIDUE,
        (Fault::NotPage, _) => Rule::LOC_NOT_PAGE,
        (Fault::ForeignHost, _) => Rule::LOC_FOREIGN_HOST,
        (Fault::OutsidePath, _) => Rule::LOC_OUTSIDE_PATH,
    })
}

/// Values of a field for rules that compare two fields.
#[derive(Default)]
pub(super) struct FieldFacts {
    pub(super) lastmod: Option<Lastmod>,
    pub(super) changefreq: Option<Changefreq>,
}

impl FieldFacts {
    /// Whether "daily" was last true over a year ago, or "never" was false within the last day.
    pub(super) fn conflict(&self, now: i64) -> bool {
        let (Some(lastmod), Some(changefreq)) = (self.lastmod, self.changefreq) else { return false };
        let age = now - lastmod.seconds;
        match changefreq {
            Changefreq::Hourly | Changefreq::Daily => age > LONG_AGO,
            Changefreq::Never => (0..DAY).contains(&age),
            _ => false,
        }
    }
}

fn structure(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let mut set = RuleSet::EMPTY;
    set.insert_if(Rule::LOC_MISSING, entry.field(Field::Loc).is_none());
    if entry.anomalies == Anomalies::default() {
        return set;
    }
    let odd = entry.anomalies;
    set.insert_if(Rule::FIELD_DUPLICATE, odd.has(Anomalies::LOC_TWICE) || odd.has(Anomalies::FIELD_TWICE));
    set.insert_if(Rule::ENTRY_CHILD_ORDER, odd.has(Anomalies::OUT_OF_ORDER));
    set.insert_if(Rule::DOC_UNKNOWN_ATTRIBUTE, odd.has(Anomalies::ATTRIBUTE));
    set.insert_if(Rule::DOC_STRAY_TEXT, odd.has(Anomalies::STRAY_TEXT));
    set.insert_if(Rule::DOC_MIXED_KINDS, odd.has(Anomalies::OTHER_KIND));
    let is_known = || context.profile == Profile::Baidu && !anomaly::is_foreign_to_baidu(entry, text, context.names);
    set.insert_if(Rule::DOC_FOREIGN_ELEMENT, odd.has(Anomalies::FOREIGN) && !is_known());
    set.insert_if(Rule::NS_ENTRY_MISSING, odd.has(Anomalies::NO_NAMESPACE));
    set.insert_if(Rule::XML_UNDECLARED_PREFIX, odd.has(Anomalies::UNDECLARED));
    set.insert_if(Rule::DOC_UNKNOWN_ELEMENT, odd.has(Anomalies::UNKNOWN_CHILD));
    set
}

fn value_rules(field: Field, decoded: &str, context: &Context<'_>, facts: &mut FieldFacts) -> RuleSet {
    let mut set = RuleSet::EMPTY;
    let kind = context.names.kind;
    if kind == FileKind::Index && matches!(field, Field::Changefreq | Field::Priority) {
        set.insert(Rule::INDEX_EXTRA_CHILD);
        return set;
    }
    let value = trim_strict(decoded);
    if value.is_empty() {
        set.insert(if field == Field::Loc { Rule::LOC_EMPTY } else { Rule::FIELD_EMPTY });
        return set;
    }
    if value.len() != decoded.len() {
        let strict = decoded.trim_matches(XML_BLANKS).len() != value.len();
        set.insert(if strict { Rule::FIELD_WHITESPACE_STRICT } else { whitespace_rule(field) });
    }
    // Asked by one profile, like the next.
    let is_hint = field != Field::Loc && context.profile == Profile::Yandex;
    set.insert_if(Rule::FIELD_TOO_LONG_YANDEX, is_hint && decoded.len() > YANDEX_BYTES);
    match field {
        Field::Loc => loc_rules(value, context, &mut set),
        Field::Lastmod => {
            let judged = lastmod::validate(value);
            facts.lastmod = judged.instant;
            for fault in judged.faults.causes().iter() {
                insert_at(&mut set, &LASTMOD, fault.0);
            }
            let future = judged.instant.is_some_and(|instant| instant.seconds > context.now + TOLERANCE);
            set.insert_if(Rule::LASTMOD_FUTURE, future);
            // Asked by one profile: the others need not sort it out again for every row.
            if context.profile == Profile::Bing {
                let is_day = judged.instant.is_some_and(|instant| instant.precision == lastmod::Precision::Day);
                set.insert_if(Rule::LASTMOD_DATE_ONLY, is_day && judged.faults.is_empty());
            }
        }
        Field::Changefreq => {
            facts.changefreq = Changefreq::parse(value);
            if facts.changefreq.is_none() {
                let cased = Changefreq::parse_any_case(value).is_some();
                set.insert(if cased { Rule::CHANGEFREQ_CASE } else { Rule::CHANGEFREQ_INVALID });
            }
        }
        Field::Priority => {
            for fault in priority::validate(value).faults.iter() {
                insert_at(&mut set, &PRIORITY, fault.0.into());
            }
        }
    }
    set
}

/// Adds the rule at the place of a single bit.
fn insert_at(set: &mut RuleSet, rules: &[Rule], bit: u32) {
    if let Some(rule) = rules.get(bit.trailing_zeros() as usize) {
        set.insert(*rule);
    }
}

/// Whether a line is no URL but a comment, a header, a date or several values.
fn is_no_url(line: &str) -> bool {
    let scheme = line.split_once(':').map_or("", |(scheme, _)| scheme);
    let named = scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
    let is_dated = line.rsplit_once(',').is_some_and(|(_, date)| lastmod::parse_strict(date.as_bytes()).is_some());
    !named || line.contains(char::is_whitespace) || line.contains(",http") || is_dated
}

/// Whether a decoded value still holds references to the characters that XML escapes: it was escaped once too often.
pub(super) fn is_escaped_twice(decoded: &str) -> bool {
    const ENTITIES: [&str; 6] = ["&amp;", "&lt;", "&gt;", "&apos;", "&quot;", "&#38;"];
    memchr::memchr_iter(b'&', decoded.as_bytes())
        .any(|at| decoded.get(at..).is_some_and(|tail| ENTITIES.iter().any(|entity| tail.starts_with(entity))))
}

fn loc_rules(value: &str, context: &Context<'_>, set: &mut RuleSet) {
    if context.names.kind == FileKind::List && is_no_url(value) && !is_without_scheme(value) {
        return set.insert(Rule::TEXT_EXTRA_CONTENT);
    }
    let rule = if context.names.kind == FileKind::List { Rule::TEXT_ENTITY } else { Rule::XML_DOUBLE_ESCAPED };
    set.insert_if(rule, is_escaped_twice(value));
    set.insert_if(Rule::POLICY_NEVER, context.policy.is_some_and(|policy| policy.forbids(value).is_some()));
    let location = Location::of(value);
    let mut faults = location.validate();
    if let Some(url_prefix) = context.url_prefix {
        faults = faults.union(location.check_scope(url_prefix));
    }
    if faults.is_empty() {
        return;
    }
    for rule in faults.iter().filter_map(|fault| loc_rule(fault, context.names.kind)) {
        set.insert(rule);
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{NOW, any_value};
    use super::*;
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
        let context = Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: None, policy: None };
        for (field, value, expected) in table {
            assert_eq!(named(check_value(field, value, &context)), expected, "{value}");
        }
    }

    #[test]
    fn frequency_and_date_may_contradict_each_other() {
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

    /// The structure and value tables that a validator made with sitemap.xsd 0.9: what it rejects must
    /// raise at least a warning here.
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
        let context = Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: None, policy: None };
        for text in rejected {
            let set = check(&Entry::of(text.as_bytes(), &names), text.as_bytes(), &context);
            // No one but the schema minds the order.
            let is_order = set == RuleSet::of(&[Rule::ENTRY_CHILD_ORDER]);
            assert!(is_order || set.worst() >= Some(crate::protocol::Severity::Warning), "{text}: {set:?}");
            assert!(ENTRY_RULES.intersection(set) == set, "{text}: {set:?}");
        }
    }

    proptest! {
        #[test]
        fn a_revision_is_a_new_check(
            before in Field::ALL.map(any_value), change in (0..4usize), index in proptest::bool::weighted(0.2),
            values in Field::ALL.map(any_value),
        ) {
            let kind = if index { FileKind::Index } else { FileKind::Urlset };
            let names = Names::plain(kind);
            let url_prefix = UrlPrefix::parse("https://example.com/b/sitemap.xml");
            let context = Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: url_prefix.as_ref(), policy: None };
            let fields: String = Field::ALL.iter().zip(&before).filter_map(|(field, value)| {
                let (name, value) = (field.name(), escape::escape(value.as_deref()?));
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
            // A value that is trimmed when it is read again is not what was set.
            let exact = value.is_none_or(|value| value.trim() == value);
            if let Some(revised) = revise(old, field, value, &record, &context).filter(|_| exact) {
                prop_assert_eq!(revised, new, "{}", String::from_utf8_lossy(&new_text));
            }
        }
    }
}
