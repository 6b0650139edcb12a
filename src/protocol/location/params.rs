//! Parameters that do not name a page: session identifiers and tracking marks.
//!
//! Names are compared without regard to case. Removing them keeps every other byte as it was.

use super::chars;
use super::parts::Location;
use memchr::{memchr2, memmem};

/// Names of session parameters by their first letter (sitemaps.org FAQ, "session IDs").
const fn session_names(first: u8) -> &'static [&'static str] {
    match first {
        b'a' => &["asp.net_sessionid"],
        b'c' => &["cfid", "cftoken"],
        b'j' => &["jsessionid"],
        b'p' => &["phpsessid"],
        b's' => &["sid", "sessid", "sessionid", "session_id", "session-id"],
        _ => &[],
    }
}

/// Names of parameters that only tell where a visitor came from, by their first letter (practice).
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

/// Whether a parameter of this name carries a session.
pub fn is_session(name: &str) -> bool {
    is_among(name, session_names) || starts_with(name, "aspsessionid")
}

/// Whether a parameter of this name only tracks.
pub fn is_tracking(name: &str) -> bool {
    is_among(name, tracking_names) || (starts_with(name, "utm_") && name.len() > 4)
}

fn is_among(name: &str, table: fn(u8) -> &'static [&'static str]) -> bool {
    let first = name.bytes().next().unwrap_or(0).to_ascii_lowercase();
    table(first).iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn starts_with(name: &str, start: &str) -> bool {
    name.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

/// Names of the parameters in a query.
pub fn names(query: &str) -> impl Iterator<Item = &str> {
    // Bytes in a plain loop: names are too short for anything cleverer to pay.
    let mut rest = Some(query);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut name_end = text.len();
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'=' => name_end = name_end.min(at),
                b'&' | b';' => {
                    rest = text.get(at + 1..);
                    return text.get(..name_end.min(at));
                }
                _ => {}
            }
        }
        rest = None;
        text.get(..name_end)
    })
}

/// The first session identifier: a query parameter, `;jsessionid=…` in the path, or `(S(…))`.
pub fn session<'t>(location: &Location<'t>) -> Option<&'t str> {
    if let Some(name) = location.query().and_then(|query| names(query).find(|name| is_session(name))) {
        return Some(name);
    }
    if location.classes & chars::SESSION == 0 {
        return None;
    }
    let path = location.path();
    let matrix = path.split('/').flat_map(|segment| segment.split(';').skip(1)).map(name_of);
    matrix.into_iter().find(|name| is_session(name)).or_else(|| path.split('/').find(|part| is_cookieless(part)))
}

/// The value without its session identifiers.
pub fn without_session(location: &Location<'_>) -> String {
    let mut path = String::with_capacity(location.text().len());
    for (place, segment) in location.path().split('/').enumerate() {
        if is_cookieless(segment) {
            continue;
        }
        if place > 0 {
            path.push('/');
        }
        for (place, part) in segment.split(';').enumerate() {
            if place == 0 {
                path.push_str(part);
            } else if !is_session(name_of(part)) {
                path.push(';');
                path.push_str(part);
            }
        }
    }
    rebuild(location, &path, is_session)
}

/// The value without its tracking parameters.
pub fn without_tracking(location: &Location<'_>) -> String {
    rebuild(location, location.path(), is_tracking)
}

fn rebuild(location: &Location<'_>, path: &str, unwanted: fn(&str) -> bool) -> String {
    let text = location.text();
    let mut out = String::with_capacity(text.len());
    out.push_str(text.get(..location.path).unwrap_or(""));
    out.push_str(path);
    if let Some(query) = location.query() {
        let query = without(query, unwanted);
        if !query.is_empty() {
            out.push('?');
            out.push_str(&query);
        }
    }
    out.push_str(text.get(location.fragment_start()..).unwrap_or(""));
    out
}

/// The query without the parameters of unwanted names; each goes with the separator before it.
pub fn without(query: &str, unwanted: fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(query.len());
    let mut rest = query;
    let mut separator = "";
    loop {
        let end = memchr2(b'&', b';', rest.as_bytes()).unwrap_or(rest.len());
        let (parameter, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !unwanted(name_of(parameter)) {
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
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
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
            ("http://e.com/a?b=2;sid=7", Some("sid")),
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
            ("http://e.com/a?b=1&sid=2&c=3#f", "http://e.com/a?b=1&c=3#f", "http://e.com/a?b=1&sid=2&c=3#f"),
            ("http://e.com/a?sid=2", "http://e.com/a", "http://e.com/a?sid=2"),
            (
                "http://e.com/a;jsessionid=1;v=2/b?utm_source=x",
                "http://e.com/a;v=2/b?utm_source=x",
                "http://e.com/a;jsessionid=1;v=2/b",
            ),
            ("http://e.com/(S(x))/a?UTM_Source=x;b", "http://e.com/a?UTM_Source=x;b", "http://e.com/(S(x))/a?b"),
            ("http://e.com/a?gclid=1&b&fbclid=2", "http://e.com/a?gclid=1&b&fbclid=2", "http://e.com/a?b"),
        ] {
            let location = Location::of(text);
            assert_eq!(without_session(&location), session_free, "{text}");
            assert_eq!(without_tracking(&location), tracking_free, "{text}");
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
