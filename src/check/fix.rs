//! Fixes for findings of one entry: which fix a rule has, and the text or values that it produces.
//!
//! A fix is tried before it is offered: it must remove its finding and add no other. Safe fixes keep the meaning and
//! may run unattended; a person must accept the others. Nothing here changes a document.

use super::action::{Action, Fix};
use super::context::{Context, Subject};
use super::entry::{NewValue, check, check_again, revise};
use super::extension;
use super::fields::{any_field_rules_broken_in, breaks, check_value, fields_of_rule, trim_strict};
use super::rewrite;
use super::rule::{Rule, RuleSet};
use super::value_fix::ValueFix;
use super::value_messages::{FaultyValue, ValueMessages};
use crate::protocol::Field;
use crate::protocol::location::Faults;
use crate::xml::entry::{Anomalies, Entry, TextKind};
use crate::xml::record::Record;
use std::borrow::Cow;
use std::cell::OnceCell;

/// An entry after the fixes of some rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FixedEntry {
    /// New values of fields; `None` removes the element.
    Values(Vec<(Field, Option<String>)>),
    /// A new entry text, leading trivia included.
    Text(String),
    /// Several entry texts instead of one.
    Split(Vec<String>),
}

/// Maximum bytes of entry text that the steps of fixing one entry parse; at least four steps are always allowed.
const MAX_STEP_BYTES: usize = 1 << 27;

/// The label of the fix for children that are not in the order of the schema.
const REORDER: &str = "put the fields in order";

/// [`fix_rules_of_entry`] without the fixed rules.
pub(crate) fn fix_entry(text: &[u8], context: &Context<'_>, rules: RuleSet, unattended: bool) -> Option<FixedEntry> {
    fix_rules_of_entry(text, context, rules, unattended).map(|(entry, _)| entry)
}

/// Applies the fixes of all findings of `rules`, one after the other until none is left; only safe ones if
/// `unattended`. Returns the entry and the rules that were fixed; `None` if there is nothing to fix.
pub(crate) fn fix_rules_of_entry(
    text: &[u8],
    context: &Context<'_>,
    rules: RuleSet,
    unattended: bool,
) -> Option<(FixedEntry, RuleSet)> {
    let mut current = text.to_vec();
    let mut values: Vec<(Field, Option<String>)> = Vec::new();
    let mut is_rewritten = false;
    let (mut trials, mut known) = (extension::trials(text.len()), ValueMessages::default());
    let (mut first, mut last) = (None, RuleSet::EMPTY);
    // The rules before the last fix, and the field that it changed, if it changed nothing else.
    let mut changed: Option<(RuleSet, Option<Field>)> = None;
    // Each step removes a finding and adds none, so there are fewer steps than rules times fields. Each step parses the
    // entry again, so a long entry gets fewer steps, and the next run continues.
    let steps = (MAX_STEP_BYTES / (text.len() + 1)).clamp(4, 4 * Rule::COUNT);
    for _ in 0..steps {
        let entry = Entry::of(&current, context.names);
        // A fix of a field or of the order leaves the extensions as they were checked.
        let all = match changed.take() {
            Some((before, field)) => check_again(before, field, &entry, &current, context),
            None => check(&entry, &current, context),
        };
        debug_assert_eq!(all, check(&entry, &current, context));
        let set = all.intersection(rules);
        (first, last) = (first.or(Some(set)), set);
        let trial = Trial { before: OnceCell::from(all), ..Trial::new(&entry, &current, context) };
        let candidates = set.iter().flat_map(|rule| fields_of_rule(rule).map(move |field| (rule, field)));
        let fix = candidates
            .filter(|(rule, field)| breaks(*rule, *field, &entry, &current, context))
            .filter_map(|(rule, field)| {
                let value = field.map(|field| known.of(rule, field, trial.value(field), context));
                Some((rule, field, entry_fix(rule, value.as_ref(), &trial)?))
            })
            .find(|(.., fix)| fix.is_safe || !unattended);
        let Some((rule, field, fix)) = fix else {
            let subject = Subject { entry: &entry, text: &current, context };
            let after = extension::apply_fixes(set, unattended, &subject, &mut trials);
            let Some(after) = after else { break };
            (current, is_rewritten) = (after.into_bytes(), true);
            continue;
        };
        current = fix.action.apply(&entry, &current, context);
        changed = (field.is_some() || rule == Rule::ENTRY_CHILD_ORDER).then_some((all, field));
        match fix.action {
            Action::Rewrite(_) => is_rewritten = true,
            // Only if nothing else was changed are the parts complete.
            Action::Split(parts) if values.is_empty() && !is_rewritten => {
                return Some((FixedEntry::Split(parts), set));
            }
            Action::Split(_) | Action::File => break,
            Action::Set { field, value } => {
                values.retain(|(of, _)| *of != field);
                values.push((field, value));
            }
        }
    }
    let fixed = first.unwrap_or_default().minus(last);
    if is_rewritten {
        return String::from_utf8(current).ok().map(|text| (FixedEntry::Text(text), fixed));
    }
    (!values.is_empty()).then_some((FixedEntry::Values(values), fixed))
}

/// An entry whose fixes are tried.
pub(crate) struct Trial<'a> {
    pub(super) subject: Subject<'a>,
    /// The rules that it violates before a fix, computed once for all its fixes.
    before: OnceCell<RuleSet>,
    record: OnceCell<Record>,
    /// The decoded values, computed once for all rules about a field, by [`Field::index`].
    values: [OnceCell<Option<Cow<'a, str>>>; Field::ALL.len()],
}

impl<'a> Trial<'a> {
    /// `entry` must be the anatomy of `text`.
    pub(crate) const fn new(entry: &'a Entry, text: &'a [u8], context: &'a Context<'a>) -> Self {
        let values = [const { OnceCell::new() }; Field::ALL.len()];
        Self { subject: Subject { entry, text, context }, before: OnceCell::new(), record: OnceCell::new(), values }
    }

    /// [`Trial::new`] for an entry that is known to violate these rules and to have this record.
    pub(crate) fn after_check(
        entry: &'a Entry,
        text: &'a [u8],
        context: &'a Context<'a>,
        rules: RuleSet,
        record: Record,
    ) -> Self {
        debug_assert_eq!(rules, check(entry, text, context));
        Self { before: OnceCell::from(rules), record: OnceCell::from(record), ..Self::new(entry, text, context) }
    }

    /// The decoded value of a field, trimmed of all white space; `None` if the entry does not have the field.
    pub(super) fn value(&self, field: Field) -> Option<&str> {
        let Subject { entry, text, .. } = self.subject;
        self.values.get(field.index())?.get_or_init(|| entry.value(field, text)).as_deref().map(trim_strict)
    }

    fn before(&self) -> RuleSet {
        let Subject { entry, text, context } = self.subject;
        *self.before.get_or_init(|| check(entry, text, context))
    }
}

/// [`entry_fix`] without its change.
pub(super) fn described_fix(rule: Rule, value: Option<&FaultyValue<'_>>, trial: &Trial<'_>) -> Option<Fix> {
    let Subject { entry, text, .. } = trial.subject;
    // No trial: if nothing else is unusual, a change of the order removes this finding and adds none.
    if rule == Rule::ENTRY_CHILD_ORDER && entry.anomalies == Anomalies::OUT_OF_ORDER {
        return std::str::from_utf8(text).is_ok().then(|| Fix {
            label: REORDER.into(),
            is_safe: true,
            action: Action::File,
        });
    }
    let fix = tried_fix(rule, value, trial)?;
    Some(Fix { label: fix.label.clone(), is_safe: fix.is_safe, action: Action::File })
}

/// The fix for a finding of an entry, if there is one. `value` is the value that the rule is about.
pub(super) fn entry_fix(rule: Rule, value: Option<&FaultyValue<'_>>, trial: &Trial<'_>) -> Option<Fix> {
    tried_fix(rule, value, trial).map(Cow::into_owned)
}

/// [`entry_fix`]; kept fixes are borrowed.
fn tried_fix<'v>(rule: Rule, value: Option<&'v FaultyValue<'_>>, trial: &Trial<'_>) -> Option<Cow<'v, Fix>> {
    let Subject { entry, text, context } = trial.subject;
    if entry.anomalies.contains(Anomalies::BROKEN) {
        return None;
    }
    let field = value.map(|value| value.field);
    let fix = match field {
        Some(field) => match rule {
            Rule::FIELD_EMPTY | Rule::INDEX_EXTRA_CHILD => remove_fix(entry, field, true)?,
            Rule::FIELD_WHITESPACE | Rule::FIELD_WHITESPACE_STRICT => {
                rewrite_fix("trim it", true, rewrite::trim(entry, field, text)?)
            }
            Rule::FIELD_HAS_CHILDREN => {
                let value = trial.value(field)?;
                let is_clean = !value.is_empty() && check_value(field, value, context).is_empty();
                let text = rewrite::replace_value(entry, field, text, value).filter(|_| is_clean)?;
                rewrite_fix("keep only the text", false, text)
            }
            _ => {
                let of_value = value?.fix()?;
                let ValueFix { fix, url_faults } = &*of_value;
                match fix.action {
                    Action::Set { value: None, .. } => remove_fix(entry, field, fix.is_safe)?,
                    _ if !holds(fix, *url_faults, rule, Some(field), trial) => return None,
                    _ => {
                        return Some(match of_value {
                            Cow::Borrowed(of_value) => Cow::Borrowed(&of_value.fix),
                            Cow::Owned(of_value) => Cow::Owned(of_value.fix),
                        });
                    }
                }
            }
        },
        None => match rule {
            Rule::ENTRY_CHILD_ORDER => rewrite_fix(REORDER, true, rewrite::reorder(entry, text, context.names)?),
            Rule::FIELD_DUPLICATE if entry.anomalies.contains(Anomalies::LOC_TWICE) => Fix {
                label: "make a row of each loc".into(),
                is_safe: false,
                action: Action::Split(rewrite::split(entry, text, context.names)?),
            },
            Rule::FIELD_DUPLICATE => {
                rewrite_fix("keep the last of each", false, rewrite::keep_last(entry, text, context.names)?)
            }
            Rule::DOC_MIXED_KINDS => {
                let label = format!("make it a <{}>", context.names.kind.entry_name());
                rewrite_fix(label, false, rewrite::rename(entry, text, context.names)?)
            }
            Rule::DOC_UNKNOWN_ELEMENT => {
                rewrite_fix("remove the element", false, rewrite::remove_unknown(entry, text, context.names)?)
            }
            Rule::DOC_UNKNOWN_ATTRIBUTE => {
                rewrite_fix("remove the attribute", false, rewrite::remove_attributes(entry, text)?)
            }
            Rule::NS_ENTRY_MISSING => {
                rewrite_fix("remove xmlns=\"\"", true, rewrite::remove_empty_namespace(entry, text)?)
            }
            Rule::DOC_STRAY_TEXT => rewrite_fix("remove the text", false, rewrite::remove_text(entry, text)?),
            _ => return None,
        },
    };
    holds(&fix, None, rule, field, trial).then_some(Cow::Owned(fix))
}

/// Whether a fix removes its finding and violates no other rule. A corrected scheme or host may reveal faults that
/// could not be checked before; these are allowed for fixes that are not safe. `url_faults` are those of the URL that the
/// fix sets, if they are known.
fn holds(fix: &Fix, url_faults: Option<Faults>, rule: Rule, field: Option<Field>, trial: &Trial<'_>) -> bool {
    let reveals = matches!(rule, Rule::LOC_SCHEME_TYPO | Rule::LOC_NOT_ABSOLUTE | Rule::INDEX_CHILD_INCOMPLETE_URL);
    let adds_none = |after: RuleSet| {
        // Fast path: nearly always every rule that is violated now was violated before.
        let new = after.minus(trial.before());
        new.is_empty() || new.minus(with_milder(trial.before())).is_empty() || (reveals && !fix.is_safe)
    };
    if let Some(after) = rules_after(&fix.action, url_faults, rule, field, trial) {
        return !after.contains(rule) && adds_none(after);
    }
    let Subject { entry, text, context } = trial.subject;
    let after = fix.action.apply(entry, text, context);
    let new = Entry::of(&after, context.names);
    if rule == Rule::ENTRY_CHILD_ORDER {
        let rules = check_again(trial.before(), None, &new, &after, context);
        return !new.anomalies.contains(Anomalies::BROKEN) && !rules.contains(rule) && adds_none(rules);
    }
    !new.anomalies.contains(Anomalies::BROKEN)
        && !breaks(rule, field, &new, &after, context)
        && adds_none(check(&new, &after, context))
}

/// The rules that an entry violates after a fix of a field for this rule, if [`revise`] can compute them from the new
/// value alone.
fn rules_after(
    action: &Action,
    url_faults: Option<Faults>,
    rule: Rule,
    field: Option<Field>,
    trial: &Trial<'_>,
) -> Option<RuleSet> {
    let Action::Set { field: of, value } = action else { return None };
    let Subject { entry, text, context } = trial.subject;
    // Other text might be read back differently than it was set.
    let is_plain = |value: &str| {
        // Without an early exit the compiler vectorises this loop.
        !value.is_empty() && value.bytes().fold(true, |is_plain, byte| is_plain & byte.is_ascii_graphic())
    };
    let is_simple = matches!(entry.field(*of)?.text, TextKind::Plain | TextKind::Escaped);
    let is_usual = value.as_deref().is_none_or(is_plain) && is_simple;
    if field != Some(*of) || !is_usual {
        return None;
    }
    let mut record = *trial.record.get_or_init(|| Record::of(entry, text));
    record.note(*of, value.as_deref());
    let (mut before, mut of_others) = (trial.before(), RuleSet::EMPTY);
    // In extensions, other elements can violate the rule.
    if before.contains(Rule::FIELD_EMPTY) && !record.flags.has_extensions() {
        // Another empty field violates the rule after the fix too. Whether this field does, if the fix is for this rule,
        // is found by a check of the whole entry.
        let is_empty =
            |other: Field| any_field_rules_broken_in(other, entry, text, context).contains(Rule::FIELD_EMPTY);
        of_others.insert_if(Rule::FIELD_EMPTY, Field::ALL.into_iter().any(|other| other != *of && is_empty(other)));
        if of_others.contains(rule) {
            return None;
        }
        before.remove(Rule::FIELD_EMPTY);
    }
    let value = value.as_deref().map(|text| NewValue { text, url_faults });
    revise(before, *of, value, &record, context).map(|after| after.union(of_others))
}

/// The rules with their milder variants: a finding that becomes milder is not a new one.
fn with_milder(rules: RuleSet) -> RuleSet {
    let milder = |rule: Rule| rule.family().iter().filter(move |other| other.severity() <= rule.severity());
    rules.iter().flat_map(milder).collect()
}

/// Removes an element; not if it occurs twice, since both would be removed.
fn remove_fix(entry: &Entry, field: Field, is_safe: bool) -> Option<Fix> {
    let label = format!("remove {}", field.name());
    let action = Action::Set { field, value: None };
    (!entry.anomalies.contains(Anomalies::FIELD_TWICE)).then_some(Fix { label: label.into(), is_safe, action })
}

fn rewrite_fix(label: impl Into<Cow<'static, str>>, is_safe: bool, text: String) -> Fix {
    Fix { label: label.into(), is_safe, action: Action::Rewrite(text) }
}

#[cfg(test)]
mod tests {
    use super::super::action::Fixes;
    use super::super::fields::{ANY_FIELD_RULES, any_field_rules_broken_in, rules_broken_in};
    use super::super::message::{messages, worst_first};
    use super::super::rule::FixKind;
    use super::super::samples::{NOW, any_value};
    use super::super::value_fix::value_fix;
    use super::*;
    use crate::protocol::location::UrlPrefix;
    use crate::xml::escape::escape;
    use crate::xml::names::{FileKind, Names};
    use proptest::prelude::*;

    const LINK: &str = r#"<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/>"#;

    /// Entries of every shape: any values in any order, twice, padded, in CDATA, with attributes.
    fn any_entry(kind: FileKind) -> impl Strategy<Value = String> {
        let any_field = (0..4usize).prop_flat_map(|at| {
            let field = Field::ALL[at];
            (Just(field), any_value(field), 0..8u8)
        });
        let element = any_field.prop_map(|(field, value, dress)| {
            let (name, Some(value)) = (field.name(), value) else { return String::new() };
            let escaped = escape(&value);
            match dress {
                0 => format!("<{name}> {escaped}\n</{name}>"),
                1 => format!("<{name}><![CDATA[{value}]]></{name}>"),
                2 => format!("<{name}>\u{a0}{escaped}</{name}>"),
                3 => format!("<{name} a='b'>{escaped}</{name}>"),
                4 => format!("<{name}>{escaped}<b>c</b></{name}>"),
                _ => format!("<{name}>{escaped}</{name}>"),
            }
        });
        let other =
            proptest::sample::select(vec!["<x/>", "stray", "<i:image xmlns:i='i'>&amp;</i:image>", "<!-- c -->", LINK]);
        let part = prop_oneof![12 => element, 1 => other.prop_map(str::to_owned)];
        let name = kind.entry_name();
        proptest::collection::vec(part, 0..6)
            .prop_map(move |parts| format!("\n  <{name}>\n    {}\n  </{name}>", parts.join("\n    ")))
    }

    fn with_context<T>(kind: FileKind, use_it: impl FnOnce(&Context) -> T) -> T {
        let names = Names::plain(kind);
        let url_prefix = UrlPrefix::parse("https://example.com/sitemap.xml");
        use_it(&Context {
            now: NOW,
            profile: crate::check::Profile::Protocol,
            names: &names,
            url_prefix: url_prefix.as_ref(),
            policy: None,
            site: None,
        })
    }

    /// Sorted characters outside of the core fields, which no fix changes.
    fn skeleton(text: &[u8], context: &Context) -> Vec<char> {
        let mut text = text.to_vec();
        loop {
            let entry = Entry::of(&text, context.names);
            let Some(span) = entry.fields.iter().flatten().next() else { break };
            text.drain(span.start as usize..span.end as usize);
        }
        let text = String::from_utf8(text).unwrap();
        let mut letters: Vec<char> = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        letters.sort_unstable();
        letters
    }

    fn try_all(kind: FileKind, text: &str) -> Result<(), TestCaseError> {
        with_context(kind, |context| {
            let bytes = text.as_bytes();
            let entry = Entry::of(bytes, context.names);
            let before = check(&entry, bytes, context);
            let findings = messages(&entry, bytes, context, before);
            let count = |findings: &[super::super::Finding], rule, field| {
                findings.iter().filter(|finding| (finding.rule, finding.field()) == (rule, field)).count()
            };
            for finding in &findings {
                let Some(fix) = &finding.fix else { continue };
                let (rule, field) = (finding.rule, finding.field());
                prop_assert!(rule.fix() != FixKind::None, "{rule} is not to be fixed");
                prop_assert!(!fix.is_safe || rule.fix() == FixKind::Safe, "{rule} is not safe to fix");
                let after = fix.action.apply(&entry, bytes, context);
                let shown = String::from_utf8_lossy(&after).into_owned();
                let new = Entry::of(&after, context.names);
                let left = messages(&new, &after, context, check(&new, &after, context));
                prop_assert_eq!(count(&left, rule, field), 0, "{} stays in {}", rule, shown);
                if fix.is_safe {
                    for other in &left {
                        let known = |found: &super::super::Finding| {
                            found.field() == other.field()
                                && with_milder(RuleSet::of(&[found.rule])).contains(other.rule)
                        };
                        prop_assert!(findings.iter().any(known), "{} is new in {}", other.rule, shown);
                    }
                    prop_assert_eq!(skeleton(&after, context), skeleton(bytes, context));
                }
            }
            Ok(())
        })
    }

    /// The described findings of an entry, with values of earlier entries, equal those with fixes that can be applied.
    fn compare_described(kind: FileKind, text: &str, known: &mut ValueMessages) -> Result<(), TestCaseError> {
        with_context(kind, |context| {
            let (bytes, entry) = (text.as_bytes(), Entry::of(text.as_bytes(), context.names));
            let (trial, rules) = (Trial::new(&entry, bytes, context), check(&entry, bytes, context));
            let without_change = |finding: super::super::Finding| {
                let fix = finding.fix.clone().map(Fix::with_file_action);
                finding.with_fix(fix)
            };
            let described = super::super::message::findings(&trial, rules, Fixes::Described, known);
            let described: Vec<_> = worst_first(described).into_iter().map(without_change).collect();
            let applicable: Vec<_> = messages(&entry, bytes, context, rules).into_iter().map(without_change).collect();
            prop_assert_eq!(described, applicable, "{}", text);
            Ok(())
        })
    }

    proptest! {
        #[test]
        fn described_fixes_equal_applicable_ones_whatever_was_described_before(
            texts in proptest::collection::vec(any_entry(FileKind::Urlset), 1..4), in_index in any_entry(FileKind::Index),
        ) {
            let mut known = ValueMessages::default();
            // The second time, all values are known.
            for text in texts.iter().chain(&texts) {
                compare_described(FileKind::Urlset, text, &mut known)?;
            }
            compare_described(FileKind::Index, &in_index, &mut known)?;
            compare_described(FileKind::Index, texts.last().map_or("", |text| text), &mut known)?;
        }

        #[test]
        fn a_fix_removes_its_finding_and_adds_none(text in any_entry(FileKind::Urlset)) {
            try_all(FileKind::Urlset, &text)?;
        }

        #[test]
        fn a_fix_in_an_index_removes_its_finding_and_adds_none(text in any_entry(FileKind::Index)) {
            try_all(FileKind::Index, &text)?;
        }

        #[test]
        fn unattended_fixes_leave_no_safe_fix(text in any_entry(FileKind::Urlset)) {
            with_context(FileKind::Urlset, |context| {
                let all = RuleSet::of(&Rule::ALL);
                let repaired = match fix_entry(text.as_bytes(), context, all, true) {
                    None => return Ok(()),
                    Some(FixedEntry::Text(text)) => text.into_bytes(),
                    Some(FixedEntry::Split(parts)) => parts.concat().into_bytes(),
                    Some(FixedEntry::Values(values)) => values.into_iter().fold(text.into_bytes(), |text, (field, value)| {
                        Action::Set { field, value }.apply(&Entry::of(&text, context.names), &text, context)
                    }),
                };
                prop_assert_eq!(fix_entry(&repaired, context, all, true), None, "{}", String::from_utf8_lossy(&repaired));
                Ok(())
            })?;
        }
    }

    #[test]
    fn fields_of_blanks_that_xml_does_not_trim_are_removed() {
        for blank in ["&#160;", "\u{a0}"] {
            let text = format!("<url><loc>https://example.com/a</loc><lastmod>{blank}</lastmod></url>");
            let empty = RuleSet::of(&[Rule::FIELD_EMPTY]);
            let fixed = with_context(FileKind::Urlset, |context| fix_entry(text.as_bytes(), context, empty, true));
            assert_eq!(fixed, Some(FixedEntry::Values(vec![(Field::Lastmod, None)])), "{blank}");
        }
    }

    /// The rules computed from a new value alone equal those of a check of the whole entry.
    fn compare_with_whole_check(kind: FileKind, text: &str) -> Result<(), TestCaseError> {
        with_context(kind, |context| {
            let bytes = text.as_bytes();
            let entry = Entry::of(bytes, context.names);
            let trial = Trial::new(&entry, bytes, context);
            for rule in trial.before().iter() {
                for field in fields_of_rule(rule).flatten() {
                    let Some(value) = entry.value(field, bytes) else { continue };
                    let fix = match rule {
                        Rule::FIELD_EMPTY if value.is_empty() => remove_fix(&entry, field, true).map(ValueFix::from),
                        _ => value_fix(rule, field, trim_strict(&value), context),
                    };
                    let Some(ValueFix { fix, url_faults }) = fix else { continue };
                    let after = rules_after(&fix.action, url_faults, rule, Some(field), &trial);
                    let Some(rules) = after else { continue };
                    let after = fix.action.apply(&entry, bytes, context);
                    let new = Entry::of(&after, context.names);
                    prop_assert!(!new.anomalies.contains(Anomalies::BROKEN), "{}", text);
                    prop_assert_eq!(rules, check(&new, &after, context), "{} {:?} in {}", rule, &fix.action, text);
                    let is_left = breaks(rule, Some(field), &new, &after, context);
                    prop_assert_eq!(rules.contains(rule), is_left, "{} {:?} in {}", rule, &fix.action, text);
                }
            }
            Ok(())
        })
    }

    proptest! {
        #[test]
        fn rules_after_a_value_fix_equal_a_check_of_the_entry(text in any_entry(FileKind::Urlset)) {
            compare_with_whole_check(FileKind::Urlset, &text)?;
        }

        #[test]
        fn rules_after_a_value_fix_in_an_index_equal_a_check(text in any_entry(FileKind::Index)) {
            compare_with_whole_check(FileKind::Index, &text)?;
        }

        #[test]
        fn the_rules_of_any_field_equal_those_of_a_whole_check(text in any_entry(FileKind::Urlset), index in any_entry(FileKind::Index)) {
            for (kind, text) in [(FileKind::Urlset, text), (FileKind::Index, index)] {
                with_context(kind, |context| {
                    let (bytes, entry) = (text.as_bytes(), Entry::of(text.as_bytes(), context.names));
                    for field in Field::ALL {
                        let broken = rules_broken_in(field, &entry, bytes, context).intersection(ANY_FIELD_RULES);
                        prop_assert_eq!(any_field_rules_broken_in(field, &entry, bytes, context), broken, "{} in {}", field.name(), &text);
                    }
                    Ok(())
                })?;
            }
        }
    }

    #[test]
    fn other_faults_of_a_fixed_url_are_found() {
        let text = "<url><loc>HTTPS://www.E.com/a?utm_id=1#b</loc></url>";
        compare_with_whole_check(FileKind::Urlset, text).unwrap();
    }

    /// A value for each field rule with a safe fix.
    #[test]
    fn safe_rules_have_a_safe_fix() {
        let table = [
            (Rule::FIELD_WHITESPACE, "<priority> 0.5</priority>"),
            (Rule::FIELD_WHITESPACE_STRICT, "<changefreq> daily</changefreq>"),
            (Rule::FIELD_EMPTY, "<priority/>"),
            (Rule::ENTRY_CHILD_ORDER, "<priority>0.5</priority><lastmod>2026-11-18</lastmod>"),
            (Rule::LOC_TOO_SHORT, "<loc>http://t.co</loc>"),
            (Rule::LOC_INNER_WHITESPACE, "<loc>https://example.com/a\nb</loc>"),
            (Rule::LOC_ILLEGAL_CHAR, "<loc>https://example.com/a|b</loc>"),
            (Rule::LOC_MISSING_ROOT_SLASH, "<loc>https://example.com</loc>"),
            (Rule::LOC_DEFAULT_PORT, "<loc>https://example.com:443/</loc>"),
            (Rule::LOC_DOT_SEGMENTS, "<loc>https://example.com/a/../b</loc>"),
            (Rule::LOC_UPPERCASE_HOST, "<loc>https://Example.com/</loc>"),
            (Rule::LASTMOD_NO_SECONDS, "<lastmod>2005-05-10T17:33Z</lastmod>"),
            (Rule::LASTMOD_SPACE_SEPARATOR, "<lastmod>2005-05-10 17:33:30Z</lastmod>"),
            (Rule::LASTMOD_OFFSET_FORMAT, "<lastmod>2005-05-10T17:33:30+0200</lastmod>"),
            (Rule::LASTMOD_FRACTION, "<lastmod>2005-05-10T17:33:30.123456Z</lastmod>"),
            (Rule::LASTMOD_LOWERCASE, "<lastmod>2005-05-10t17:33:30Z</lastmod>"),
            (Rule::LASTMOD_DATE_ZONE, "<lastmod>2005-05-10Z</lastmod>"),
            (Rule::LASTMOD_24_00, "<lastmod>2005-05-10T24:00:00Z</lastmod>"),
            (Rule::LASTMOD_UNPADDED, "<lastmod>2005-5-10</lastmod>"),
            (Rule::LASTMOD_BASIC_FORMAT, "<lastmod>20050510</lastmod>"),
            (Rule::LASTMOD_RFC822, "<lastmod>Tue, 10 May 2005 17:33:30 GMT</lastmod>"),
            (Rule::LASTMOD_NEGATIVE_ZERO, "<lastmod>2005-05-10T17:33:30-00:00</lastmod>"),
            (Rule::CHANGEFREQ_CASE, "<changefreq>Daily</changefreq>"),
            (Rule::PRIORITY_COMMA, "<priority>0,5</priority>"),
            (Rule::PRIORITY_FORM, "<priority>.5</priority>"),
        ];
        with_context(FileKind::Urlset, |context| {
            for (rule, field) in table {
                let loc = if field.starts_with("<loc") { "" } else { "<loc>https://example.com/a</loc>" };
                let text = format!("<url>{loc}{field}</url>");
                let entry = Entry::of(text.as_bytes(), context.names);
                let findings = messages(&entry, text.as_bytes(), context, check(&entry, text.as_bytes(), context));
                let finding = findings.iter().find(|finding| finding.rule == rule);
                let fix = finding.unwrap_or_else(|| panic!("{field} does not break {rule}")).fix.as_ref();
                assert!(fix.is_some_and(|fix| fix.is_safe), "{rule}: {fix:?}");
            }
            let listed: RuleSet = table.iter().map(|(rule, _)| *rule).collect();
            let safe: RuleSet =
                super::super::fields::FIELD_RULES.iter().filter(|rule| rule.fix() == FixKind::Safe).collect();
            // A known prefix is declared when the file is read; the namespace of any other is unknown.
            let elsewhere =
                RuleSet::of(&[Rule::INDEX_EXTRA_CHILD, Rule::XML_UNDECLARED_PREFIX, Rule::NS_ENTRY_MISSING]);
            assert_eq!(safe.minus(listed), elsewhere);
        });
    }

    #[test]
    fn fixes_of_whole_entries() {
        let table = [
            ("<url><loc>https://example.com/</loc></url>", None),
            (
                "<url><loc>https://example.com/</loc><lastmod>2005-5-10 7:00 GMT</lastmod><changefreq/></url>",
                Some(FixedEntry::Values(vec![
                    (Field::Changefreq, None),
                    (Field::Lastmod, Some("2005-05-10T07:00:00Z".to_owned())),
                ])),
            ),
            (
                "<url><priority>,5</priority><loc> https://Example.com</loc></url>",
                Some(FixedEntry::Text("<url><loc>https://example.com/</loc><priority>0.5</priority></url>".to_owned())),
            ),
        ];
        with_context(FileKind::Urlset, |context| {
            for (text, expected) in table {
                assert_eq!(fix_entry(text.as_bytes(), context, RuleSet::of(&Rule::ALL), true), expected, "{text}");
            }
        });
    }
}
