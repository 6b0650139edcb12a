//! Explains a rule or a value: its meaning and its sources.
//!
//! The command `:help`, the explanations on the screen and `sited check --explain` have the same text, from the same
//! tables of rules and verdicts.

use crate::check::Finding;
use crate::check::Profile;
use crate::check::rule::{FixKind, Rule};
use crate::protocol::changefreq::Changefreq;
use crate::protocol::lastmod::{self, Now};
use crate::protocol::namespace::{self, Namespace};
use crate::protocol::verdict::{Verdicts, namespace_verdicts, priority_verdicts};
use crate::protocol::{Field, Severity, priority};
use crate::session::Session;
use crate::session::findings;

/// The explanation of a text as a value of a field.
#[derive(Debug, Clone)]
pub(crate) struct Explanation {
    /// The kind of value: a field's name, or `namespace`.
    pub kind: &'static str,
    /// The verdicts of the authorities; `None` for fields without verdicts.
    pub verdicts: Option<Verdicts>,
    /// The rules that it violates, worst first.
    pub findings: Vec<Finding>,
}

/// The severity of a rule in each profile: the worst of its variants; `None` if the profile does not check the rule.
pub(crate) fn severities(rule: Rule) -> Vec<(Profile, Option<Severity>)> {
    let worst = |profile: Profile| rule.family().iter().filter_map(|one| one.severity_in(profile)).max();
    Profile::ALL.into_iter().map(|profile| (profile, worst(profile))).collect()
}

/// How a rule's findings can be fixed, in words.
pub(crate) const fn fix_words(rule: FixKind) -> &'static str {
    match rule {
        FixKind::Safe => "can be fixed automatically",
        FixKind::Ask => "can be fixed after a decision",
        FixKind::None => "cannot be fixed automatically",
    }
}

/// The verdicts of the authorities about a field's value; `None` for fields without verdicts.
pub(crate) fn verdicts(field: Field, value: &str) -> Option<Verdicts> {
    match field {
        Field::Lastmod => Some(lastmod::verdicts(value)),
        Field::Priority => Some(priority_verdicts(value)),
        Field::Loc | Field::Changefreq => None,
    }
}

/// The explanation of a text as each kind of value that it resembles.
pub(crate) fn explain(text: &str, now: Now) -> Vec<Explanation> {
    let text = text.trim();
    if namespace::classify(text) != Namespace::Other || text.contains("/schemas/") {
        return vec![Explanation { kind: "namespace", verdicts: Some(namespace_verdicts(text)), findings: Vec::new() }];
    }
    let session = Session::new(now, None);
    let as_field = |field: Field| Explanation {
        kind: field.name(),
        verdicts: verdicts(field, text),
        findings: findings::of_typed(session.view(), None, field, text),
    };
    Field::ALL.into_iter().filter(|field| looks_like(*field, text)).map(as_field).collect()
}

fn looks_like(field: Field, text: &str) -> bool {
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    match field {
        Field::Loc => text.contains("://") || text.starts_with('/'),
        Field::Lastmod => {
            let judged = lastmod::validate(text);
            let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            // An ambiguous date such as 05/10/2005 is a date as well.
            let has_slashes = text.split('/').count() == 3 && text.split('/').all(is_number);
            let is_read = judged.instant.is_some() || !judged.faults.contains(lastmod::Faults::INVALID);
            digits && (is_read || has_slashes)
        }
        Field::Changefreq => Changefreq::parse_any_case(text).is_some(),
        Field::Priority => {
            let number = !priority::validate(text).faults.contains(priority::Faults::INVALID);
            // A number of four or more digits without a point is taken for a year.
            digits && (number && (text.len() < 4 || text.contains(['.', ','])) || text.ends_with('%'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::verdict::{Authority, Ruling};

    const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

    #[test]
    fn values_are_classified_by_their_form() {
        for (text, expected) in [
            ("2005", &["lastmod"][..]),
            ("2005-05-10", &["lastmod"]),
            ("10.05.2005", &["lastmod"]),
            ("05/10/2005", &["lastmod"]),
            ("2005-05-10T17:33:30,5Z", &["lastmod"]),
            ("2005-05-10T17", &["lastmod"]),
            ("http://e.com/1/2", &["loc"]),
            ("0.5", &["priority"]),
            ("0,5", &["priority"]),
            ("80%", &["priority"]),
            ("weekly", &["changefreq"]),
            ("Weekly", &["changefreq"]),
            ("https://e.com/a b", &["loc"]),
            ("http://www.sitemaps.org/schemas/sitemap/0.9/", &["namespace"]),
            ("http://www.google.com/schemas/sitemap/0.84", &["namespace"]),
            ("nonsense", &[]),
        ] {
            let found: Vec<&str> = explain(text, NOW).iter().map(|one| one.kind).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    /// The verdicts and the table of rules must agree.
    #[test]
    fn each_rejection_of_an_authority_has_a_rule() {
        let values = [
            "2005",
            "2005-05",
            "2005-05-10T17:33+08:00",
            "2005-05-10T17:33:30",
            "2005-05-10 17:33:30Z",
            "2005-13-01",
            "05/10/2005",
            "2005-05-10T24:00:00Z",
            "2005-05-10T17:33:30.123Z",
            "2005-05-10T17:33:30.123456Z",
            "2005-05-10T17:33:30,5Z",
            "0,5",
            "1.5",
            "0.5",
            "2005-05-10",
            "2005-05-10T17:33:30Z",
        ];
        for value in values {
            for one in explain(value, NOW) {
                for verdict in one.verdicts.unwrap() {
                    let profile = match verdict.authority {
                        Authority::Protocol | Authority::Schema => Profile::Protocol,
                        Authority::Google => Profile::Google,
                        Authority::Bing => Profile::Bing,
                        Authority::Yandex => Profile::Yandex,
                    };
                    let worst = one.findings.iter().filter_map(|finding| finding.rule.severity_in(profile)).max();
                    if verdict.ruling == Ruling::Rejects {
                        assert!(worst >= Some(Severity::Warning), "{value}: {verdict:?}, but {worst:?}");
                    }
                }
                let all = one.verdicts.unwrap().iter().all(|verdict| verdict.ruling == Ruling::Accepts);
                let errors = one.findings.iter().any(|finding| finding.severity == Severity::Error);
                assert!(!(all && errors), "{value}: everybody accepts it, and yet it is an error");
            }
        }
    }

    #[test]
    fn a_rule_has_a_severity_for_each_profile() {
        let found = severities(Rule::LASTMOD_NO_TIMEZONE);
        assert!(
            found.contains(&(Profile::Protocol, Some(Severity::Error)))
                && found.contains(&(Profile::Yandex, Some(Severity::Warning))),
            "{found:?}"
        );
    }
}
