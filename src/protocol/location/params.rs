//! URL parameters that do not identify a page: session ids and tracking parameters.
//!
//! Names are compared ignoring case. Removing parameters keeps all other bytes.

use super::chars;
use super::parts::Location;
use memchr::{memchr2, memchr2_iter, memmem};

/// Names of session parameters by their first letter (sitemaps.org FAQ, "session IDs").
const fn session_names(first: u8) -> &'static [&'static str] {
    match first {
        b'a' => &["asp.net_sessionid"],
        b'c' => &["cfid", "cftoken"],
        b'j' => &["jsessionid"],
        b'p' => &["phpsessid"],
        _ => &[],
    }
}

/// Names of parameters that may carry a session, or the number of a season, shop or talk; they count only if the value
/// looks like a session identifier.
const fn session_like_names(first: u8) -> &'static [&'static str] {
    match first {
        b's' => &["sid", "sessid", "sessionid", "session_id", "session-id"],
        _ => &[],
    }
}

/// Length of the shortest value that looks like a session identifier, in characters.
const SESSION_CHARACTERS: usize = 16;

/// Names of parameters that only track where a visitor came from, by their first letter (practice).
const fn tracking_names(first: u8) -> &'static [&'static str] {
    match first {
        b'_' => &["_ga", "_gl", "_hsenc", "_hsmi", "_openstat"],
        b'd' => &["dclid"],
        b'f' => &["fbclid"],
        b'g' => &["gclid", "gclsrc", "gbraid"],
        b'i' => &["igshid"],
        b'l' => &["li_fat_id"],
        b'm' => &["msclkid", "mc_cid", "mc_eid", "mkt_tok"],
        b'o' => &["oly_enc_id"],
        b't' => &["twclid", "ttclid"],
        b'v' => &["vero_id"],
        b'w' => &["wbraid"],
        b'y' => &["yclid"],
        _ => &[],
    }
}

/// Names of parameters that carry a key or a password, by their first letter (practice).
const fn credential_names(first: u8) -> &'static [&'static str] {
    match first {
        b'a' => &["api_key", "apikey", "api-key", "access_token", "access-token", "auth_token"],
        b'c' => &["client_secret"],
        b'p' => &["password", "passwd"],
        b's' => &["secret_key"],
        _ => &[],
    }
}

/// Names of parameters that ask for an unpublished version (`preview` depends on its value), by their first letter.
const fn preview_names(first: u8) -> &'static [&'static str] {
    match first {
        b'p' => &["preview_id", "preview_nonce"],
        _ => &[],
    }
}

/// The lengths of all names in this file, as bits, by their first letter in either case; lengths from 31 on share a bit.
const NAME_LENGTHS: [u32; 256] = {
    let mut lengths = [0; 256];
    let mut first = 0;
    while first < lengths.len() {
        let letter = (first as u8).to_ascii_lowercase();
        lengths[first] = lengths_of(session_names(letter))
            | lengths_of(session_like_names(letter))
            | lengths_of(tracking_names(letter))
            | lengths_of(credential_names(letter))
            | lengths_of(preview_names(letter))
            | match letter {
                b'a' => !0 << SESSION_PREFIX.len(),
                b'p' => lengths_of(&[PREVIEW]),
                b't' => lengths_of(&[TOKEN]),
                b'u' => !0 << TRACKING_PREFIX.len(),
                _ => 0,
            };
        first += 1;
    }
    lengths
};

/// The prefix of the names of ASP's session parameters.
const SESSION_PREFIX: &str = "aspsessionid";
/// The prefix of the names of Google Analytics' parameters.
const TRACKING_PREFIX: &str = "utm_";
/// A parameter that may carry a credential.
const TOKEN: &str = "token";
/// A parameter that may ask for an unpublished version.
const PREVIEW: &str = "preview";

const fn lengths_of(names: &[&str]) -> u32 {
    match names {
        [] => 0,
        [name, rest @ ..] => length_bit(name.len()) | lengths_of(rest),
    }
}

const fn length_bit(len: usize) -> u32 {
    if len < 31 { 1 << len } else { 1 << 31 }
}

/// Whether the name of a parameter may be in this file, by its first letter and length; false for nearly all others.
pub(super) fn may_be_known(name: &[u8]) -> bool {
    let lengths = name.first().and_then(|first| NAME_LENGTHS.get(usize::from(*first)));
    lengths.is_some_and(|lengths| lengths & length_bit(name.len()) != 0)
}

/// Whether a parameter, `name=value`, carries a session.
pub(super) fn is_session(parameter: &str) -> bool {
    let (name, value) = name_and_value(parameter);
    may_be_known(name.as_bytes())
        && (is_among(name, session_names)
            || starts_with(name, SESSION_PREFIX)
            || (is_among(name, session_like_names) && is_identifier(value)))
}

/// Whether a value looks like a session identifier: long, with letters and digits.
fn is_identifier(value: &str) -> bool {
    value.len() >= SESSION_CHARACTERS
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'%'))
        && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a parameter carries a key or a password. `token` also names coins and parts of speech, so its value decides.
pub(super) fn is_credential(name: &str, value: &str) -> bool {
    is_among(name, credential_names) || (name.eq_ignore_ascii_case(TOKEN) && is_identifier(value))
}

/// Whether a parameter asks for an unpublished version of a page. `preview=0` does not.
pub(super) fn is_preview(name: &str, value: &str) -> bool {
    let is_off = || ["", "0", "false", "no"].iter().any(|word| value.eq_ignore_ascii_case(word));
    is_among(name, preview_names) || (name.eq_ignore_ascii_case(PREVIEW) && !is_off())
}

/// Whether `name=value` is a tracking parameter.
pub(super) fn is_tracking(parameter: &str) -> bool {
    let name = name_of(parameter);
    may_be_known(name.as_bytes())
        && (is_among(name, tracking_names)
            || (starts_with(name, TRACKING_PREFIX) && name.len() > TRACKING_PREFIX.len()))
}

fn is_among(name: &str, table: fn(u8) -> &'static [&'static str]) -> bool {
    let first = name.bytes().next().unwrap_or(0).to_ascii_lowercase();
    table(first).iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a name starts with a text, ignoring case.
pub(super) fn starts_with(name: &str, start: &str) -> bool {
    name.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

/// The parameters of a query, `name=value` each.
pub(super) fn parameters(query: &str) -> impl Iterator<Item = &str> {
    split_short(query, |byte| matches!(byte, b'&' | b';'))
}

/// Splits a text at ASCII bytes. A plain loop is fastest where the parts are short.
fn split_short(text: &str, is_separator: impl Fn(u8) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.bytes().position(&is_separator);
        rest = end.and_then(|end| text.get(end + 1..));
        text.get(..end.unwrap_or(text.len()))
    })
}

/// The first session identifier: a query parameter, `;jsessionid=…` in the path, or `(S(…))`.
pub(super) fn session<'t>(location: &Location<'t>) -> Option<&'t str> {
    if let Some(parameter) =
        location.query().and_then(|query| parameters(query).find(|parameter| is_session(parameter)))
    {
        return Some(name_of(parameter));
    }
    if location.classes & chars::SESSION == 0 {
        return None;
    }
    let path = location.path();
    let mut has_parenthesis = false;
    for at in memchr2_iter(b';', b'(', path.as_bytes()) {
        let Some(rest) = path.get(at..).and_then(|rest| rest.strip_prefix(';')) else {
            has_parenthesis = true;
            continue;
        };
        let parameter = split_short(rest, |byte| matches!(byte, b';' | b'/')).next();
        if let Some(parameter) = parameter.filter(|parameter| is_session(parameter)) {
            return Some(name_of(parameter));
        }
    }
    if has_parenthesis { path.split('/').find(|part| is_cookieless(part)) } else { None }
}

/// Removes session identifiers from a URL.
pub(super) fn remove_session(location: &Location<'_>) -> String {
    let mut path = String::with_capacity(location.text().len());
    for (index, segment) in location.path().split('/').enumerate() {
        if is_cookieless(segment) {
            continue;
        }
        if index > 0 {
            path.push('/');
        }
        for (index, part) in segment.split(';').enumerate() {
            if index == 0 {
                path.push_str(part);
            } else if !is_session(part) {
                path.push(';');
                path.push_str(part);
            }
        }
    }
    rebuild(location, &path, is_session)
}

/// Removes tracking parameters from a URL.
pub(super) fn remove_tracking(location: &Location<'_>) -> String {
    rebuild(location, location.path(), is_tracking)
}

/// The URL with another path and without unwanted parameters.
pub(super) fn rebuild(location: &Location<'_>, path: &str, unwanted: fn(&str) -> bool) -> String {
    let text = location.text();
    let mut out = String::with_capacity(text.len());
    out.push_str(text.get(..location.path).unwrap_or(""));
    out.push_str(path);
    if let Some(query) = location.query() {
        let query = remove_parameters(query, unwanted);
        if !query.is_empty() {
            out.push('?');
            out.push_str(&query);
        }
    }
    out.push_str(text.get(location.fragment_start()..).unwrap_or(""));
    out
}

/// Removes unwanted parameters from a query, each with the separator before it.
pub(super) fn remove_parameters(query: &str, unwanted: fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(query.len());
    let mut rest = query;
    let mut separator = "";
    loop {
        let end = memchr2(b'&', b';', rest.as_bytes()).unwrap_or(rest.len());
        let (parameter, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !unwanted(parameter) {
            if !out.is_empty() {
                out.push_str(separator);
            }
            out.push_str(parameter);
        }
        let Some((mark, behind)) = tail.split_at_checked(1) else { return out };
        separator = mark;
        rest = behind;
    }
}

fn name_of(parameter: &str) -> &str {
    name_and_value(parameter).0
}

/// The two parts of `name=value`. A plain loop is fastest, since names are short.
pub(super) fn name_and_value(parameter: &str) -> (&str, &str) {
    let sign = parameter.bytes().position(|byte| byte == b'=').unwrap_or(parameter.len());
    let value = parameter.get(sign + 1..).unwrap_or_default();
    (parameter.get(..sign).unwrap_or(parameter), value)
}

/// ASP.NET's session in the path: `(S(lit3py55t21z5v55vlm25s55))`, also with other letters inside.
fn is_cookieless(segment: &str) -> bool {
    segment.starts_with('(') && segment.ends_with(')') && memmem::find(segment.as_bytes(), b"S(").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions() {
        for (text, expected) in [
            ("http://e.com/a?PHPSESSID=1&b=2", Some("PHPSESSID")),
            ("http://e.com/a;jsessionid=1F?b=2", Some("jsessionid")),
            ("http://e.com/(S(lit3py55))/a.aspx", Some("(S(lit3py55))")),
            ("http://e.com/a?b=2;sid=7", None),
            ("http://e.com/a?b=2;sid=0123456789abcdef", Some("sid")),
            ("http://e.com/a?session_id=keynote-of-the-day", None),
            ("http://e.com/a?ASPSESSIONIDQQAABBCC=1", Some("ASPSESSIONIDQQAABBCC")),
            ("http://e.com/a?side=7&resid=2", None),
            ("http://e.com/jsessionid;a=b/(s)", None),
        ] {
            assert_eq!(session(&Location::of(text)), expected, "{text}");
        }
    }

    #[test]
    fn stripping_keeps_the_rest() {
        for (text, session_free, tracking_free) in [
            (
                "http://e.com/a?b=1&sid=0123456789abcdef&c=3#f",
                "http://e.com/a?b=1&c=3#f",
                "http://e.com/a?b=1&sid=0123456789abcdef&c=3#f",
            ),
            ("http://e.com/a?sid=0123456789abcdef", "http://e.com/a", "http://e.com/a?sid=0123456789abcdef"),
            (
                "http://e.com/a;jsessionid=1;v=2/b?utm_source=x",
                "http://e.com/a;v=2/b?utm_source=x",
                "http://e.com/a;jsessionid=1;v=2/b",
            ),
            ("http://e.com/(S(x))/a?UTM_Source=x;b", "http://e.com/a?UTM_Source=x;b", "http://e.com/(S(x))/a?b"),
            ("http://e.com/a?gclid=1&b&fbclid=2", "http://e.com/a?gclid=1&b&fbclid=2", "http://e.com/a?b"),
        ] {
            let location = Location::of(text);
            assert_eq!(remove_session(&location), session_free, "{text}");
            assert_eq!(remove_tracking(&location), tracking_free, "{text}");
        }
    }

    /// The length of a name excludes no parameter that is known.
    #[test]
    fn known_parameters_have_a_known_length() {
        let tables = [session_names, session_like_names, tracking_names, credential_names, preview_names];
        let names = tables.iter().flat_map(|names| (0..=255).flat_map(|first| names(first).iter().copied()));
        let starts = [SESSION_PREFIX, TRACKING_PREFIX, "utm_source", "aspsessionidQQAABBCCDDEEFFGGHHIIJJKKLLMM"];
        let all: Vec<&str> = names.chain(starts).chain([TOKEN, PREVIEW]).collect();
        assert!(all.len() > 30, "{all:?}");
        for name in all {
            assert!(may_be_known(name.as_bytes()) && may_be_known(name.to_uppercase().as_bytes()), "{name}");
        }
        for name in ["", "a", "id", "page", "color", "category", "ütm_source", "-"] {
            assert!(!may_be_known(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn only_known_names_track() {
        for (name, expected) in
            [("utm_source", true), ("UTM_ID", true), ("utm_", false), ("gclid", true), ("id", false), ("_ga", true)]
        {
            assert_eq!(is_tracking(name), expected, "{name}");
        }
    }
}
