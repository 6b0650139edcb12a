//! Fixes for rules that a value violates by itself: the value that follows them.

use super::action::{Action, Fix};
use super::context::Context;
use super::fields::{LASTMOD, PRIORITY, loc_rule};
use super::rule::Rule;
use crate::protocol::location::{self, Fault, Faults};
use crate::protocol::{Field, changefreq, lastmod, priority};
use crate::xml::escape;

/// A fix that sets the value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueFix {
    pub(super) fix: Fix,
    /// The faults of the URL that it sets, if they are known.
    pub(super) url_faults: Option<Faults>,
}

impl From<Fix> for ValueFix {
    fn from(fix: Fix) -> Self {
        Self { fix, url_faults: None }
    }
}

/// The fix for a rule that a value violates by itself. `value` is decoded and trimmed of all white space.
pub(super) fn value_fix(rule: Rule, field: Field, value: &str, context: &Context<'_>) -> Option<ValueFix> {
    let fix = match field {
        Field::Loc => return loc_fix(rule, value, context),
        Field::Lastmod => lastmod_fix(rule, value),
        Field::Changefreq => {
            let nearest = changefreq::nearest(value)?.name();
            match rule {
                Rule::CHANGEFREQ_CASE => Some(safe_fix("use lower case", field, nearest.to_owned())),
                Rule::CHANGEFREQ_INVALID => Some(unsafe_fix("use the nearest word", field, nearest.to_owned())),
                _ => None,
            }
        }
        Field::Priority => {
            let at = PRIORITY.iter().position(|own| *own == rule)?;
            if let Some(right) = priority::repair(value, priority::Faults::from_index(at)) {
                return Some(safe_fix("write it in the usual form", field, right).into());
            }
            let (label, right) = priority::suggest(value)?;
            Some(unsafe_fix(label, field, right))
        }
    };
    fix.map(ValueFix::from)
}

fn lastmod_fix(rule: Rule, value: &str) -> Option<Fix> {
    if matches!(rule, Rule::LASTMOD_ZERO | Rule::LASTMOD_ZERO_UNIX | Rule::LASTMOD_FUTURE) {
        let action = Action::Set { field: Field::Lastmod, value: None };
        return Some(Fix { label: "remove lastmod".into(), is_safe: false, action });
    }
    let at = LASTMOD.iter().position(|own| *own == rule)?;
    let fault = lastmod::Faults::from_index(at);
    // Faults caused by the space are fixed together with it.
    let all =
        if fault == lastmod::Faults::SPACE_SEPARATOR { fault.union(lastmod::Faults::IMPLIED_BY_SPACE) } else { fault };
    if let Some(right) = lastmod::repair(value, all) {
        return Some(safe_fix(lastmod_label(fault), Field::Lastmod, right));
    }
    let (label, right) = lastmod::suggest(value)?;
    Some(unsafe_fix(label, Field::Lastmod, right))
}

/// The label of the fix for a fault.
const fn lastmod_label(fault: lastmod::Faults) -> &'static str {
    use lastmod::Faults;
    match fault {
        Faults::NO_SECONDS => "add the seconds",
        Faults::SPACE_SEPARATOR => "write a T between date and time",
        Faults::FRACTION => "remove the fraction",
        Faults::DATE_ZONE => "remove the zone",
        Faults::HOUR_24 => "write it as the next day",
        Faults::UNPADDED => "write two digits each",
        Faults::BASIC => "add the separators",
        Faults::NEGATIVE_ZERO | Faults::OFFSET_FORMAT => "write the full zone",
        Faults::LOWERCASE => "write T and Z in capitals",
        _ => "write it as the protocol does",
    }
}

fn loc_fix(rule: Rule, value: &str, context: &Context<'_>) -> Option<ValueFix> {
    match rule {
        Rule::TEXT_ENTITY | Rule::XML_DOUBLE_ESCAPED => {
            let right = escape::decode(value.as_bytes()).into_owned();
            return Some(unsafe_fix("decode it once more", Field::Loc, right).into());
        }
        Rule::TEXT_EXTRA_CONTENT => {
            // The first URL of a line is the page; comments have none.
            let mut values = value.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';'));
            let url = values.find(|value| value.starts_with("http://") || value.starts_with("https://"))?;
            let rest = value.split_once(url).map_or("", |(_, rest)| rest);
            let is_whole = !value.starts_with('#') && !is_rest_of_url(rest);
            return is_whole.then(|| unsafe_fix("keep only the URL", Field::Loc, url.to_owned()).into());
        }
        _ => {}
    }
    let kind = context.names.kind;
    let fault = *Fault::ALL.iter().find(|fault| loc_rule(**fault, kind) == Some(rule))?;
    let field = Field::Loc;
    if fault == Fault::NotAbsolute {
        let right = complete_url(value, context)?;
        return Some(unsafe_fix("make it a complete URL", field, right).into());
    }
    if fault == Fault::ForeignHost {
        let (_, rest) = location::origin(value)?;
        let right = format!("{}{rest}", context.url_prefix?.origin());
        return Some(unsafe_fix("write the sitemap's own host", field, right).into());
    }
    let repair = location::repair(fault, value)?;
    let label = match fault {
        Fault::SchemeTypo => "correct the scheme",
        Fault::Userinfo => "remove user and password",
        Fault::InnerWhitespace if repair.is_safe => "remove the line break",
        Fault::InnerWhitespace => "write the blank as %20",
        Fault::BadPercent => "write the percent sign as %25",
        Fault::IllegalChar if location::ends_in_control(value) => "remove the control character",
        Fault::IllegalChar | Fault::NotAscii => "percent-encode it",
        Fault::TooShort | Fault::MissingRootSlash => "add the slash",
        Fault::Fragment => "remove the fragment",
        Fault::DefaultPort => "remove the port",
        Fault::DotSegments => "resolve the path",
        Fault::UppercaseHost => "use lower case for the host",
        Fault::SessionId => "remove the session",
        Fault::TrackingParam => "remove the tracking",
        Fault::Private => "remove the parameter",
        _ => "correct it",
    };
    let action = Action::Set { field, value: Some(repair.value) };
    let fix = Fix { label: label.into(), is_safe: repair.is_safe, action };
    Some(ValueFix { fix, url_faults: Some(repair.faults) })
}

/// Whether the text after the first space or separator of a line may belong to the URL, so that removing it would name
/// another page. Other URLs, dates, `name=value` pairs, numbers and frequencies do not belong to it.
fn is_rest_of_url(rest: &str) -> bool {
    let is_apart = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';');
    let mut words = rest.split(is_apart).filter(|word| !word.is_empty());
    let is_value = |word: &str| {
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        let value = value.trim_matches(['"', '\'']);
        word.contains("://")
            || word.starts_with(['#', '-', '–', '|'])
            || !lastmod::validate(value).faults.contains(lastmod::Faults::INVALID)
            || value.parse::<f64>().is_ok()
            || changefreq::nearest(value).is_some_and(|nearest| nearest.name().eq_ignore_ascii_case(value))
    };
    words.next().is_some_and(|word| !is_value(word))
}

/// The complete URL for one without scheme or host, resolved against the location of the file.
fn complete_url(value: &str, context: &Context<'_>) -> Option<String> {
    let scheme = context
        .url_prefix
        .and_then(|url_prefix| url_prefix.origin().split_once("://"))
        .map_or("https", |(scheme, _)| scheme);
    let full = if let Some(rest) = value.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if value.starts_with("www.") {
        format!("{scheme}://{value}")
    } else if value.starts_with('/') {
        format!("{}{value}", context.url_prefix?.origin())
    } else {
        format!("{}{value}", context.url_prefix?.prefix())
    };
    // The URL may be that of a sitemap, whose file name does not count as a fault.
    let known = location::validate(value).union(Faults::only(Fault::NotPage));
    let faults = location::validate(&full).minus(known);
    faults.is_empty().then_some(full)
}

fn unsafe_fix(label: &'static str, field: Field, value: String) -> Fix {
    Fix { label: label.into(), is_safe: false, action: Action::Set { field, value: Some(value) } }
}

fn safe_fix(label: &'static str, field: Field, value: String) -> Fix {
    Fix { is_safe: true, ..unsafe_fix(label, field, value) }
}
