//! Messages for rules that a value violates: what is wrong with this value, and what is allowed.

use super::context::Context;
use super::fields::{FUTURE_TOLERANCE, LASTMOD, PRIORITY, loc_rule};
use super::rule::Rule;
use crate::protocol::location::{self, Fault};
use crate::protocol::{Field, changefreq, lastmod, priority};
use crate::words::{excerpt, excerpt_of_value as visible};

/// The message for a rule that a value violates. `value` is decoded and trimmed of all white space.
pub(super) fn field_message(rule: Rule, field: Field, value: &str, context: &Context<'_>) -> String {
    let name = field.name();
    match rule {
        Rule::FIELD_EMPTY => return format!("{name} is empty: remove the element"),
        Rule::LOC_EMPTY => return "loc is empty: give it a URL or delete the row".to_owned(),
        Rule::FIELD_HAS_CHILDREN => return format!("{name} contains an element; only text is allowed"),
        Rule::FIELD_WHITESPACE => return format!("blanks or line breaks around the value of {name}"),
        Rule::FIELD_WHITESPACE_STRICT => return format!("blanks around the value of {name} that readers do not trim"),
        Rule::INDEX_EXTRA_CHILD => {
            return format!("{name} is for pages: an index entry has only loc and lastmod");
        }
        Rule::LASTMOD_FUTURE => return future_message(value, context.now),
        _ => {}
    }
    let words = match field {
        Field::Loc => return loc_message(rule, value, context),
        Field::Lastmod => match LASTMOD.iter().position(|own| *own == rule) {
            Some(at) => lastmod::explain(lastmod::Faults::from_index(at), value),
            None => rule.summary().to_owned(),
        },
        Field::Changefreq => changefreq_message(value),
        Field::Priority => priority_message(rule, value),
    };
    [&visible(value), ": ", &words].concat()
}

fn loc_message(rule: Rule, value: &str, context: &Context<'_>) -> String {
    if let (Rule::POLICY_NEVER, Some(policy)) = (rule, context.policy) {
        return format!("the policy forbids URLs that match {}", excerpt(policy.forbids(value).unwrap_or(""), 120));
    }
    if let Some(message) = context.site.and_then(|site| site.explain(rule, value, context.url_prefix)) {
        return message;
    }
    let kind = context.names.kind;
    let fault = Fault::ALL.iter().find(|fault| loc_rule(**fault, kind) == Some(rule));
    let Some(fault) = fault else { return rule.summary().to_owned() };
    match (fault, context.url_prefix) {
        (Fault::ForeignHost, Some(url_prefix)) => {
            let theirs = location::origin(value).map_or(value, |(origin, _)| origin);
            format!(
                "{} is not the sitemap's own site, {}: crawlers skip it unless robots.txt of {} names this sitemap",
                visible(theirs),
                url_prefix.origin(),
                visible(location::host(value))
            )
        }
        (Fault::OutsidePath, Some(url_prefix)) => {
            format!(
                "{} is not below {}: crawlers skip it unless robots.txt of {} names this sitemap",
                visible(location::path(value)),
                url_prefix.directory(),
                visible(location::host(value))
            )
        }
        _ => location::explain(*fault, value),
    }
}

fn changefreq_message(value: &str) -> String {
    match changefreq::nearest(value) {
        Some(nearest) if nearest.name().eq_ignore_ascii_case(value) => format!("use lower case: {}", nearest.name()),
        Some(nearest) => format!("not a changefreq; did you mean {}?", nearest.name()),
        None => "write always, hourly, daily, weekly, monthly, yearly or never".to_owned(),
    }
}

fn priority_message(rule: Rule, value: &str) -> String {
    let words = match rule {
        Rule::PRIORITY_COMMA => "write a point, not a comma",
        Rule::PRIORITY_RANGE => "priority must be from 0.0 to 1.0",
        Rule::PRIORITY_FORM => "an unusual number format",
        Rule::PRIORITY_PRECISION => "more than two decimals",
        _ => "not a number from 0.0 to 1.0",
    };
    let at = PRIORITY.iter().position(|own| *own == rule);
    if let Some(right) = at.and_then(|at| priority::repair(value, priority::Faults::from_index(at))) {
        return format!("{words}: {right}");
    }
    match priority::suggest(value) {
        Some((_, likely)) => format!("{words}; perhaps {likely}"),
        None => words.to_owned(),
    }
}

fn future_message(value: &str, now: i64) -> String {
    let ahead = lastmod::validate(value).instant.map_or(FUTURE_TOLERANCE, |instant| instant.seconds - now);
    format!("{}: {} in the future", visible(value), duration_text(ahead))
}

/// A duration in years, months or days, in the largest unit that gives at least two.
pub(super) fn duration_text(seconds: i64) -> String {
    const UNITS: [(i64, &str); 3] = [(365 * 86_400, "year"), (30 * 86_400, "month"), (86_400, "day")];
    let unit = UNITS.iter().find(|(size, _)| seconds >= 2 * size);
    let (size, name) = unit.copied().unwrap_or((86_400, "day"));
    let count = seconds / size;
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (days, expected) in [(0, "0 days"), (1, "1 day"), (59, "59 days"), (61, "2 months"), (800, "2 years")] {
            assert_eq!(duration_text(days * 86_400), expected);
        }
    }
}
