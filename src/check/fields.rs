//! Rules about the fields of an entry and the elements around them, given the file's URL and the current time.
//!
//! Runs for every entry of every file; allocates nothing for a plain entry without findings. Messages are made on
//! demand in [`super::message`].

use super::context::Context;
use super::rule::{EXTENSION_RULES, Profile, Rule, RuleSet};
use super::site::SITE_RULES;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::lastmod::{self, Lastmod};
use crate::protocol::location::{Fault, Faults, Location};
use crate::protocol::{Field, priority};
use crate::xml::anomaly;
use crate::xml::entry::{Anomalies, Entry, FieldSpan, TextKind, decode_value};
use crate::xml::escape;
use crate::xml::grid::is_without_scheme;
use crate::xml::names::FileKind;
use std::borrow::Cow;

/// Whitespace of XML (XML 1.0, production 3).
const XML_BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// A day in seconds.
pub(super) const DAY: i64 = 86_400;

/// Seconds that a date may be ahead of the clock before it counts as future, since clocks and zones differ.
pub(super) const FUTURE_TOLERANCE: i64 = DAY;

/// Age in seconds beyond which a `lastmod` contradicts `daily` or `hourly`.
const MIN_STALE_AGE: i64 = 365 * DAY;

/// Maximum length of a date, frequency or priority that Yandex reads, in bytes (Yandex, "Sitemap errors reference").
const MAX_YANDEX_BYTES: usize = 100;

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
])
.union(SITE_RULES);

const LASTMOD_RULES: RuleSet =
    RuleSet::of(&LASTMOD).union(RuleSet::of(&[Rule::LASTMOD_FUTURE, Rule::LASTMOD_DATE_ONLY]));

const CHANGEFREQ_RULES: RuleSet = RuleSet::of(&[Rule::CHANGEFREQ_INVALID, Rule::CHANGEFREQ_CASE]);

const PRIORITY_RULES: RuleSet = RuleSet::of(&PRIORITY);

/// Rules that depend on the structure of the entry, or that several fields can violate. If one of them is violated, a
/// change of one value does not determine whether it still is.
pub(super) const SHARED_RULES: RuleSet = RuleSet::of(&[
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

/// The rules that both a field and an element of an extension can violate, without those about URLs.
pub(super) const RULES_OF_BOTH: RuleSet = SHARED_RULES.minus(RuleSet::of(&[Rule::ENTRY_CHILD_ORDER]));

/// Every rule that the extensions of an entry can violate; URLs in them are checked by the rules for the loc.
pub(super) const RULES_OF_EXTENSIONS: RuleSet = EXTENSION_RULES.union(rules_of_field(Field::Loc)).union(RULES_OF_BOTH);

/// The rules about fields and the entry around them.
pub(super) const FIELD_RULES: RuleSet = LOC_RULES
    .union(LASTMOD_RULES)
    .union(CHANGEFREQ_RULES)
    .union(PRIORITY_RULES)
    .union(SHARED_RULES)
    .union(RuleSet::of(&[Rule::CHANGEFREQ_LASTMOD_CONFLICT]));

/// The rules that only the value of this field can violate.
pub(crate) const fn rules_of_field(field: Field) -> RuleSet {
    match field {
        Field::Loc => LOC_RULES,
        Field::Lastmod => LASTMOD_RULES,
        Field::Changefreq => CHANGEFREQ_RULES,
        Field::Priority => PRIORITY_RULES,
    }
}

/// The rules that the fields of an entry and its structure violate, in any profile.
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
        // Plain valid UTF-8 needs no decoding.
        let plain = if span.text == TextKind::Plain { std::str::from_utf8(raw).ok() } else { None };
        let value = plain.map_or_else(|| decode_value(raw, span.text), Cow::Borrowed);
        let found = value_rules(field, &value, context, &mut facts, None);
        set = set.union(found);
        // White space around a field is one finding, by the more severe rule.
        if !value.is_empty() && !found.contains(Rule::FIELD_WHITESPACE_STRICT) && has_outer_blanks(span, raw) {
            set.insert(whitespace_rule(field));
        }
    }
    set.insert_if(Rule::CHANGEFREQ_LASTMOD_CONFLICT, facts.conflict(context.now));
    set
}

/// The rules that a value violates by itself; `decoded` is trimmed of XML whitespace.
pub(crate) fn check_value(field: Field, decoded: &str, context: &Context<'_>) -> RuleSet {
    context.enabled(value_rules(field, decoded, context, &mut FieldFacts::default(), None))
}

/// Trims characters that no value starts or ends with: Unicode white space, zero-width space, byte order mark.
#[inline]
pub(super) fn trim_strict(text: &str) -> &str {
    // Nearly every value begins and ends with a visible ASCII character.
    let visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if visible(text.as_bytes().first()) && visible(text.as_bytes().last()) { text } else { trim_any(text) }
}

/// [`trim_strict`] for any text.
#[cold]
fn trim_any(text: &str) -> &str {
    text.trim_matches(|letter: char| letter.is_whitespace() || matches!(letter, '\u{200b}' | '\u{2060}' | '\u{feff}'))
}

/// Whether a value has white space around it, also inside CDATA sections or as references.
pub(super) fn has_outer_blanks(span: &FieldSpan, raw: &[u8]) -> bool {
    (span.value_start, span.value_end) != (span.inner_start, span.inner_end) || has_inner_blanks(span, raw)
}

/// Whether the decoded value starts or ends with white space that the raw one does not.
pub(super) fn has_inner_blanks(span: &FieldSpan, raw: &[u8]) -> bool {
    let blank = |text: &str| text.starts_with(XML_BLANKS) || text.ends_with(XML_BLANKS);
    match span.text {
        TextKind::Plain | TextKind::Quoted | TextKind::Children => false,
        // Only a reference at either end can stand for whitespace there.
        TextKind::Escaped => (raw.starts_with(b"&") || raw.ends_with(b";")) && blank(&escape::decode(raw)),
        TextKind::Mixed => blank(&escape::decode_mixed(raw)),
    }
}

/// The rule that XML white space around a value violates. The schema trims all fields but changefreq.
pub(super) const fn whitespace_rule(field: Field) -> Rule {
    match field {
        Field::Changefreq => Rule::FIELD_WHITESPACE_STRICT,
        _ => Rule::FIELD_WHITESPACE,
    }
}

/// The rule for a fault of a loc. In an index some faults belong to other rules, or to none.
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
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FieldFacts {
    pub(super) lastmod: Option<Lastmod>,
    pub(super) changefreq: Option<Changefreq>,
}

impl FieldFacts {
    /// Whether the frequency is `hourly` or `daily` but the date over a year old, or `never` and the date of the last
    /// day.
    #[inline]
    pub(super) fn conflict(&self, now: i64) -> bool {
        let (Some(lastmod), Some(changefreq)) = (self.lastmod, self.changefreq) else { return false };
        let age = now - lastmod.seconds;
        match changefreq {
            Changefreq::Hourly | Changefreq::Daily => age > MIN_STALE_AGE,
            Changefreq::Never => (0..DAY).contains(&age),
            _ => false,
        }
    }
}

/// The rules that the structure of an entry violates.
pub(super) fn structure(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let mut set = RuleSet::EMPTY;
    set.insert_if(Rule::LOC_MISSING, entry.field(Field::Loc).is_none());
    if entry.anomalies == Anomalies::default() {
        return set;
    }
    let odd = entry.anomalies;
    set.insert_if(Rule::FIELD_DUPLICATE, odd.contains(Anomalies::LOC_TWICE) || odd.contains(Anomalies::FIELD_TWICE));
    set.insert_if(Rule::ENTRY_CHILD_ORDER, odd.contains(Anomalies::OUT_OF_ORDER));
    set.insert_if(Rule::DOC_UNKNOWN_ATTRIBUTE, odd.contains(Anomalies::ATTRIBUTE));
    set.insert_if(Rule::DOC_STRAY_TEXT, odd.contains(Anomalies::STRAY_TEXT));
    set.insert_if(Rule::DOC_MIXED_KINDS, odd.contains(Anomalies::OTHER_KIND));
    let is_known =
        || context.profile == Profile::Baidu && !anomaly::has_foreign_child_except_baidu(entry, text, context.names);
    set.insert_if(Rule::DOC_FOREIGN_ELEMENT, odd.contains(Anomalies::FOREIGN) && !is_known());
    set.insert_if(Rule::NS_ENTRY_MISSING, odd.contains(Anomalies::NO_NAMESPACE));
    set.insert_if(Rule::XML_UNDECLARED_PREFIX, odd.contains(Anomalies::UNDECLARED));
    set.insert_if(Rule::DOC_UNKNOWN_ELEMENT, odd.contains(Anomalies::UNKNOWN_CHILD));
    set
}

/// The rules that a value violates. URLs whose faults are known are not validated again.
pub(super) fn value_rules(
    field: Field,
    decoded: &str,
    context: &Context<'_>,
    facts: &mut FieldFacts,
    url_faults: Option<Faults>,
) -> RuleSet {
    let (mut set, value) = any_field_rules(field, decoded, context.names.kind);
    let Some(value) = value else { return set };
    // Only the Yandex profile has this rule.
    let is_hint = field != Field::Loc && context.profile == Profile::Yandex;
    set.insert_if(Rule::FIELD_TOO_LONG_YANDEX, is_hint && decoded.len() > MAX_YANDEX_BYTES);
    match field {
        Field::Loc => loc_rules(value, context, &mut set, url_faults),
        Field::Lastmod => {
            let validated = lastmod::validate(value);
            facts.lastmod = validated.instant;
            for fault in validated.faults.causes().iter() {
                insert_at(&mut set, &LASTMOD, fault.bits());
            }
            let future = validated.instant.is_some_and(|instant| instant.seconds > context.now + FUTURE_TOLERANCE);
            set.insert_if(Rule::LASTMOD_FUTURE, future);
            // Only the Bing profile has this rule; other profiles need not compute it for every row.
            if context.profile == Profile::Bing {
                let is_day = validated.instant.is_some_and(|instant| instant.precision == lastmod::Precision::Day);
                set.insert_if(Rule::LASTMOD_DATE_ONLY, is_day && validated.faults.is_empty());
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
                insert_at(&mut set, &PRIORITY, fault.bits().into());
            }
        }
    }
    set
}

/// Adds the rule whose index is the position of a single bit.
fn insert_at(set: &mut RuleSet, rules: &[Rule], bit: u32) {
    if let Some(rule) = rules.get(bit.trailing_zeros() as usize) {
        set.insert(*rule);
    }
}

/// Whether a line is not just a URL: a comment, a header, a date or several values.
fn has_extra_content(line: &str) -> bool {
    let scheme = line.split_once(':').map_or("", |(scheme, _)| scheme);
    let named = scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
    let is_dated = line.rsplit_once(',').is_some_and(|(_, date)| lastmod::parse_strict(date.as_bytes()).is_some());
    !named || line.contains(char::is_whitespace) || line.contains(",http") || is_dated
}

/// Whether a decoded value still contains references to characters that XML escapes, so that it was escaped twice.
pub(super) fn is_escaped_twice(decoded: &str) -> bool {
    const ENTITIES: [&[u8]; 6] = [b"&amp;", b"&lt;", b"&gt;", b"&apos;", b"&quot;", b"&#38;"];
    let bytes = decoded.as_bytes();
    memchr::memchr_iter(b'&', bytes).filter_map(|at| bytes.get(at..)).any(|tail| {
        // The second character rules out nearly every ampersand.
        escape::may_follow_ampersand(tail.get(1)) && ENTITIES.iter().any(|entity| tail.starts_with(entity))
    })
}

fn loc_rules(value: &str, context: &Context<'_>, set: &mut RuleSet, known_faults: Option<Faults>) {
    if context.names.kind == FileKind::List && has_extra_content(value) && !is_without_scheme(value) {
        return set.insert(Rule::TEXT_EXTRA_CONTENT);
    }
    let rule = if context.names.kind == FileKind::List { Rule::TEXT_ENTITY } else { Rule::XML_DOUBLE_ESCAPED };
    set.insert_if(rule, is_escaped_twice(value));
    if let Some(site) = context.site {
        *set = set.union(site.rules(value, context.url_prefix));
        // Probes request pages, not the sitemaps of an index.
        if context.names.kind == FileKind::Index {
            set.remove(Rule::SITE_NOT_CHECKED);
        }
    }
    set.insert_if(Rule::POLICY_NEVER, context.policy.is_some_and(|policy| policy.forbids(value).is_some()));
    let location = Location::of(value);
    let mut faults = known_faults.unwrap_or_else(|| location.validate());
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

/// Rules that several fields can violate.
pub(super) const ANY_FIELD_RULES: RuleSet = RuleSet::of(&[
    Rule::FIELD_EMPTY,
    Rule::FIELD_HAS_CHILDREN,
    Rule::FIELD_WHITESPACE,
    Rule::FIELD_WHITESPACE_STRICT,
    Rule::INDEX_EXTRA_CHILD,
]);

/// Whether several fields can violate the rule.
pub(super) fn is_any_field_rule(rule: Rule) -> bool {
    ANY_FIELD_RULES.contains(rule)
}

/// The field that alone can violate the rule.
pub(super) fn sole_field_of_rule(rule: Rule) -> Option<Field> {
    Field::ALL.into_iter().find(|field| rules_of_field(*field).contains(rule))
}

/// Whether the rule is about one field or about any field.
pub(super) fn is_field_rule(rule: Rule) -> bool {
    is_any_field_rule(rule) || sole_field_of_rule(rule).is_some()
}

/// Whether an entry violates a rule in a field, or as a whole if `field` is `None`.
pub(super) fn breaks(rule: Rule, field: Option<Field>, entry: &Entry, text: &[u8], context: &Context<'_>) -> bool {
    match field {
        Some(field) => rules_broken_in(field, entry, text, context).contains(rule),
        None => check_fields(entry, text, context).contains(rule),
    }
}

/// The violated rules about an empty value, white space around a value and fields that an index entry does not have. Also
/// the value trimmed of all white space; `None` if no other rule applies to it.
fn any_field_rules(field: Field, decoded: &str, kind: FileKind) -> (RuleSet, Option<&str>) {
    if kind == FileKind::Index && matches!(field, Field::Changefreq | Field::Priority) {
        return (RuleSet::of(&[Rule::INDEX_EXTRA_CHILD]), None);
    }
    let value = trim_strict(decoded);
    if value.is_empty() {
        let rule = if field == Field::Loc { Rule::LOC_EMPTY } else { Rule::FIELD_EMPTY };
        return (RuleSet::of(&[rule]), None);
    }
    let mut set = RuleSet::EMPTY;
    if value.len() != decoded.len() {
        let strict = decoded.trim_matches(XML_BLANKS).len() != value.len();
        set.insert(if strict { Rule::FIELD_WHITESPACE_STRICT } else { whitespace_rule(field) });
    }
    (set, Some(value))
}

/// The rules that a field of an entry violates, including those about white space around its value.
pub(super) fn rules_broken_in(field: Field, entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    rules_of_text(field, entry, text, |value| check_value(field, value, context))
}

/// Those of [`rules_broken_in`] that several fields can violate.
pub(super) fn any_field_rules_broken_in(field: Field, entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let kind = context.names.kind;
    rules_of_text(field, entry, text, |value| context.enabled(any_field_rules(field, value, kind).0))
        .intersection(ANY_FIELD_RULES)
}

/// The rules that the text of a field violates, and those that `check` finds for its value.
fn rules_of_text(field: Field, entry: &Entry, text: &[u8], check: impl FnOnce(&str) -> RuleSet) -> RuleSet {
    let (Some(span), Some(raw)) = (entry.field(field), entry.raw_value(field, text)) else { return RuleSet::EMPTY };
    if span.text == TextKind::Children {
        return RuleSet::of(&[Rule::FIELD_HAS_CHILDREN]);
    }
    let value = entry.value(field, text).unwrap_or(Cow::Borrowed(""));
    let mut broken = check(&value);
    let is_padded = !broken.contains(Rule::FIELD_WHITESPACE_STRICT) && !value.is_empty() && has_outer_blanks(span, raw);
    broken.insert_if(whitespace_rule(field), is_padded);
    broken
}

/// The fields that can violate a rule; `None` for a rule about the entry as a whole.
pub(super) fn fields_of_rule(rule: Rule) -> impl Iterator<Item = Option<Field>> {
    let own = sole_field_of_rule(rule);
    let shared = Field::ALL.into_iter().filter(move |_| is_any_field_rule(rule));
    let whole = !is_field_rule(rule);
    own.into_iter().chain(shared).map(Some).chain(whole.then_some(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_a_field_is_of_no_other() {
        for rule in Rule::ALL {
            let own = Field::ALL.into_iter().filter(|field| rules_of_field(*field).contains(rule));
            let of_any = is_any_field_rule(rule).then_some(Field::ALL).into_iter().flatten();
            let mut fields: Vec<Option<Field>> = own.chain(of_any).map(Some).collect();
            if fields.is_empty() {
                fields.push(None);
            }
            assert_eq!(fields_of_rule(rule).collect::<Vec<_>>(), fields, "{rule}");
            let sole = sole_field_of_rule(rule);
            assert_eq!(sole.is_some(), fields.len() == 1 && fields != [None], "{rule}");
            assert!(sole.is_none_or(|field| fields == [Some(field)]), "{rule}");
        }
    }
}
