//! Proposes a repaired `loc` for faults that can be repaired without further input.
//!
//! Invariant: a repair removes its fault and adds none. (A misspelt scheme hides other faults, which its repair may
//! reveal.) Existing percent-encoding is never encoded again.

use super::chars::{self, HIGH, ILLEGAL, SPACE};
use super::fault::{Fault, Faults};
use super::key::push_without_dot_segments;
use super::parts::Location;
use super::validate::{is_dot_segment, template_residue, validate, without_trailing_controls};
use super::{host, params, private, shape};

/// Faults that are found only if the scheme is valid.
const HIDDEN_BY_TYPO: Faults = Faults::of(&[
    Fault::HostNotPublic,
    Fault::Userinfo,
    Fault::TooShort,
    Fault::MissingRootSlash,
    Fault::Fragment,
    Fault::DefaultPort,
    Fault::DotSegments,
    Fault::DoubleSlash,
    Fault::UppercaseHost,
    Fault::SessionId,
    Fault::TrackingParam,
    Fault::Private,
    Fault::TemplateResidue,
    Fault::NotPage,
]);

/// A proposed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The whole value after the repair, decoded.
    pub value: String,
    /// Whether it keeps the meaning, so that it may be applied without a review.
    pub is_safe: bool,
    /// The faults that are left.
    pub faults: Faults,
}

/// The value without `fault`, which it must have; `None` if that needs a decision or more input, or is not possible.
pub(crate) fn repair(fault: Fault, decoded: &str) -> Option<Proposal> {
    let location = Location::of(decoded);
    let (value, is_safe) = propose(fault, &location)?;
    let faults = validate(&value);
    let allowed = if fault == Fault::SchemeTypo { HIDDEN_BY_TYPO } else { Faults::NONE };
    // Most repaired URLs have no fault left, so the faults of most URLs need not be found again.
    let adds_none = || faults.minus(location.validate().union(allowed)).is_empty();
    let is_sound = value != decoded && !faults.has(fault) && (faults.is_empty() || adds_none());
    is_sound.then_some(Proposal { value, is_safe, faults })
}

fn propose(fault: Fault, location: &Location<'_>) -> Option<(String, bool)> {
    let text = location.text();
    let (head, rest) = text.split_at_checked(location.path)?;
    Some(match fault {
        Fault::SchemeTypo => {
            let (scheme, rest) = shape::misspelt(text)?;
            (format!("{}://{rest}", scheme.name()), false)
        }
        Fault::Userinfo => (with_authority(location, false, |host, out| out.push_str(host)), false),
        Fault::InnerWhitespace => {
            let joined = without_line_ends(text);
            let has_blank = joined.contains(' ');
            (encode(&joined, SPACE), !has_blank)
        }
        // Not safe with a backslash, which browsers read as a slash, and with a placeholder, which encoding would hide.
        // Control characters at the end are mistakes and are removed.
        Fault::IllegalChar => {
            let trimmed = without_trailing_controls(text);
            let is_safe = trimmed.len() == text.len() && !text.contains('\\') && template_residue(location).is_none();
            (encode(trimmed, ILLEGAL), is_safe)
        }
        Fault::BadPercent => (encode_stray_percent(text), false),
        Fault::NotAscii => {
            let mut value = with_authority(location, true, host::push_normal);
            let len = value.len() - rest.len();
            let encoded = encode(rest, HIGH);
            value.truncate(len);
            value.push_str(&encoded);
            (value, false)
        }
        Fault::TooShort | Fault::MissingRootSlash => (format!("{head}/{rest}"), true),
        Fault::Fragment => (text.get(..location.fragment_start())?.to_owned(), false),
        Fault::DefaultPort => {
            let (user, host, _) = location.split_authority();
            (format!("{}{user}{host}{rest}", text.get(..location.authority)?), true)
        }
        Fault::DotSegments => {
            let path = location.path();
            let mut value = head.to_owned();
            push_without_dot_segments(&plain_dot_segments(path), &mut value);
            value.push_str(rest.get(path.len()..)?);
            (value, true)
        }
        Fault::UppercaseHost => {
            let mut value = with_authority(location, true, |host, out| out.push_str(&host.to_ascii_lowercase()));
            if let Some(scheme) = value.get_mut(..location.authority) {
                scheme.make_ascii_lowercase();
            }
            (value, true)
        }
        Fault::SessionId => (params::remove_session(location), false),
        Fault::TrackingParam => (params::remove_tracking(location), false),
        Fault::Private => (private::remove_private(location), false),
        Fault::NotAbsolute
        | Fault::Scheme
        | Fault::NoHost
        | Fault::HostInvalid
        | Fault::HostNotPublic
        | Fault::Mojibake
        | Fault::TooLong
        | Fault::TooLongByOne
        | Fault::TooLongEncoded
        | Fault::TooLongYandex
        | Fault::TooLongBaidu
        | Fault::DoubleSlash
        | Fault::TemplateResidue
        | Fault::NotPage
        | Fault::ForeignHost
        | Fault::OutsidePath => return None,
    })
}

/// The value with its host rewritten, and with or without its user information.
fn with_authority(location: &Location<'_>, keep_user: bool, write_host: impl Fn(&str, &mut String)) -> String {
    let text = location.text();
    let (user, host, port) = location.split_authority();
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(text.get(..location.authority).unwrap_or(""));
    if keep_user {
        out.push_str(user);
    }
    write_host(host, &mut out);
    if let Some(port) = port {
        out.push(':');
        out.push_str(port);
    }
    out.push_str(location.rest());
    out
}

/// Percent-encodes the bytes of the given classes behind the authority, but not `%`.
fn encode(text: &str, classes: chars::Classes) -> String {
    let start = Location::of(text).path;
    let mut out = String::with_capacity(text.len() + 16);
    for (at, letter) in text.char_indices() {
        if at < start || chars::classes_of(*text.as_bytes().get(at).unwrap_or(&0)) & classes == 0 {
            out.push(letter);
        } else {
            let mut buffer = [0; 4];
            letter.encode_utf8(&mut buffer).bytes().for_each(|byte| chars::push_percent(&mut out, byte));
        }
    }
    out
}

/// Deletes tabs and line ends, and the spaces around them.
fn without_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split(['\n', '\r', '\t']).enumerate() {
        if index > 0 {
            out.truncate(out.trim_end_matches(' ').len());
        }
        out.push_str(if index > 0 { line.trim_start_matches(' ') } else { line });
    }
    out
}

fn encode_stray_percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (at, letter) in text.char_indices() {
        out.push(letter);
        if letter == '%' && chars::percent_byte(text.as_bytes(), at).is_none() {
            out.push_str("25");
        }
    }
    out
}

/// Decodes `%2e` in dot segments of a path.
fn plain_dot_segments(path: &str) -> String {
    let segments = path.split('/').map(|segment| match is_dot_segment(segment) {
        true if matches!(segment, "." | "%2e" | "%2E") => ".",
        true => "..",
        false => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::location::validate::tests::urlish;
    use proptest::prelude::*;

    #[test]
    fn repairs() {
        for (fault, text, expected, is_safe) in [
            (Fault::SchemeTypo, "htp://e.com/a", "http://e.com/a", false),
            (Fault::SchemeTypo, "https:///e.com/a", "https://e.com/a", false),
            (Fault::SchemeTypo, "http://https://e.com/a", "https://e.com/a", false),
            (Fault::SchemeTypo, "http:\\\\e.com/a", "http://e.com/a", false),
            (Fault::Userinfo, "https://u:p@e.com:8080/a", "https://e.com:8080/a", false),
            (Fault::InnerWhitespace, "https://e.com/a\n    b", "https://e.com/ab", true),
            (Fault::InnerWhitespace, "https://e.com/a b", "https://e.com/a%20b", false),
            (Fault::IllegalChar, "https://e.com/a|b\"%20", "https://e.com/a%7Cb%22%20", true),
            (Fault::IllegalChar, "https://e.com/a\\b", "https://e.com/a%5Cb", false),
            (Fault::IllegalChar, "https://e.com/{slug}", "https://e.com/%7Bslug%7D", false),
            (Fault::IllegalChar, "https://e.com/a%0D%0A", "https://e.com/a", false),
            (Fault::BadPercent, "https://e.com/100%/%41", "https://e.com/100%25/%41", false),
            (Fault::NotAscii, "https://münchen.de/é%20ü", "https://xn--mnchen-3ya.de/%C3%A9%20%C3%BC", false),
            (Fault::TooShort, "http://t.co", "http://t.co/", true),
            (Fault::MissingRootSlash, "https://e.com?a", "https://e.com/?a", true),
            (Fault::Fragment, "https://e.com/a?b#c", "https://e.com/a?b", false),
            (Fault::DefaultPort, "https://e.com:443/a", "https://e.com/a", true),
            (Fault::DotSegments, "https://e.com/a/../b/%2E?c=/../", "https://e.com/b/?c=/../", true),
            (Fault::UppercaseHost, "HTTPS://U@E.com/A", "https://U@e.com/A", true),
            (Fault::SessionId, "https://e.com/a;jsessionid=1?b=2", "https://e.com/a?b=2", false),
            (Fault::TrackingParam, "https://e.com/a?utm_id=1&b=2", "https://e.com/a?b=2", false),
            (Fault::Private, "https://e.com/a?api_key=1&b=2", "https://e.com/a?b=2", false),
            (Fault::Private, "https://e.com/a?preview=true", "https://e.com/a", false),
        ] {
            let (value, faults) = (expected.to_owned(), validate(expected));
            assert_eq!(repair(fault, text), Some(Proposal { value, is_safe, faults }), "{text}");
        }
    }

    #[test]
    fn faults_that_cannot_be_repaired_have_no_repair() {
        for (fault, text) in [
            (Fault::TooShort, "http://a"),
            (Fault::IllegalChar, "https://e|f.com/"),
            (Fault::SchemeTypo, "http:/"),
            (Fault::Fragment, "https://e.com/"),
            (Fault::NotAbsolute, "/x"),
            (Fault::Private, "https://e.com/wp-admin/?api_key=1"),
        ] {
            assert_eq!(repair(fault, text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_repair_removes_its_fault_and_adds_none(text in urlish()) {
            let before = validate(&text);
            for fault in before.iter() {
                if let Some(repair) = repair(fault, &text) {
                    let after = validate(&repair.value);
                    prop_assert!(!after.has(fault), "{fault:?}: {}", repair.value);
                    let hidden = if fault == Fault::SchemeTypo { HIDDEN_BY_TYPO } else { Faults::NONE };
                    prop_assert!(after.minus(before.union(hidden)).is_empty(), "{fault:?}: {}", repair.value);
                }
            }
        }
    }
}
