//! Classifies texts that are not http(s) URLs: relative, another scheme, or a misspelt http(s) URL.
//!
//! Uses only the text itself; the host of a relative URL is not known here.

use super::fault::Fault;
use super::parts::Scheme;

/// Existing schemes that resemble a misspelt `http`.
const REAL_SCHEMES: [&str; 14] =
    ["ftp", "ftps", "sftp", "tftp", "smtp", "ntp", "nntp", "rtp", "rtsp", "ws", "wss", "tel", "data", "file"];

/// The fault of a non-empty text that does not start with `http://` or `https://`.
pub(super) fn validate(text: &str) -> Fault {
    if misspelt(text).is_some() {
        return Fault::SchemeTypo;
    }
    match other_scheme(text) {
        Some(_) => Fault::Scheme,
        None => Fault::NotAbsolute,
    }
}

/// The scheme of an absolute URL that is not http(s): `mailto`, `ftp`, … (RFC 3986, 3.1).
/// `localhost:3000/x` and `example.com:80` are a host and a port.
pub(super) fn other_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let well_formed = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !well_formed {
        return None;
    }
    let is_authority = rest.starts_with("//");
    let is_port = rest.starts_with(|first: char| first.is_ascii_digit());
    (is_authority || !(is_port || scheme.contains('.'))).then_some(scheme)
}

/// The scheme that was meant and what follows it, for `htp://x`, `http:/x`, `http//x`, `http:\\x`,
/// `https:///x` and `http://https://x`. `None` for a correct `http://x`.
pub(super) fn misspelt(text: &str) -> Option<(Scheme, &str)> {
    let word_end = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (word, tail) = text.split_at_checked(word_end)?;
    let (intended, is_exact) = intended_scheme(word)?;
    let (has_colon, after_mark) = match tail.as_bytes().first() {
        Some(b':') => (true, tail.get(1..)?),
        Some(b';' | b',' | b'.') => (false, tail.get(1..)?),
        _ => (false, tail),
    };
    let rest = after_mark.trim_start_matches(['/', '\\']);
    let slashes = after_mark.len() - rest.len();
    let is_two = after_mark.starts_with("//") && slashes == 2;
    if is_exact && has_colon && is_two {
        // `http://https://x`, `http://http//x`: the scheme is repeated.
        let (inner, inner_tail) = rest.split_at_checked(rest.bytes().take_while(u8::is_ascii_alphabetic).count())?;
        let (intended, is_exact) = intended_scheme(inner)?;
        let host = inner_tail.strip_prefix(':').unwrap_or(inner_tail).strip_prefix("//")?;
        return is_exact.then_some((intended, host));
    }
    let is_misspelt = if is_exact { has_colon || slashes >= 2 } else { slashes >= 1 && (has_colon || slashes >= 2) };
    is_misspelt.then_some((intended, rest))
}

/// The scheme that a word was probably meant to be, and whether it is spelt correctly.
fn intended_scheme(word: &str) -> Option<(Scheme, bool)> {
    if !matches!(word.len(), 3..=8) {
        return None;
    }
    let word = word.to_ascii_lowercase();
    if REAL_SCHEMES.contains(&word.as_str()) {
        return None;
    }
    let (http, https) = (distance(&word, "http"), distance(&word, "https"));
    match (http.min(https), https < http) {
        (best @ 0..=2, true) => Some((Scheme::Https, best == 0)),
        (best @ 0..=2, false) => Some((Scheme::Http, best == 0)),
        _ => None,
    }
}

/// Levenshtein distance of two short ASCII words.
fn distance(word: &str, target: &str) -> usize {
    let mut row: Vec<usize> = (0..=target.len()).collect();
    for (i, letter) in word.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, wanted) in row.iter_mut().zip(std::iter::once(None).chain(target.bytes().map(Some))) {
            let Some(wanted) = wanted else {
                *cell = left;
                continue;
            };
            let best = (*cell + 1).min(left + 1).min(diagonal + usize::from(letter != wanted));
            diagonal = *cell;
            *cell = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (word, target, expected) in
            [("http", "http", 0), ("htp", "http", 1), ("hhttp", "http", 1), ("xyz", "http", 4), ("hptts", "https", 2)]
        {
            assert_eq!(distance(word, target), expected, "{word}");
        }
    }

    #[test]
    fn shapes() {
        for (text, expected) in [
            ("/x", Fault::NotAbsolute),
            ("x.html", Fault::NotAbsolute),
            ("//e.com/x", Fault::NotAbsolute),
            ("www.e.com/x", Fault::NotAbsolute),
            ("localhost:3000/x", Fault::NotAbsolute),
            ("e.com:80/x", Fault::NotAbsolute),
            ("http", Fault::NotAbsolute),
            ("http/x", Fault::NotAbsolute),
            ("?a=b", Fault::NotAbsolute),
            ("mailto:a@e.com", Fault::Scheme),
            ("ftp://e.com/x", Fault::Scheme),
            ("file:///etc", Fault::Scheme),
            ("javascript:void(0)", Fault::Scheme),
            ("android-app://com.e/x", Fault::Scheme),
            ("htp://e.com/", Fault::SchemeTypo),
            ("htttp://e.com/", Fault::SchemeTypo),
            ("ttps://e.com/", Fault::SchemeTypo),
            ("http:/e.com/", Fault::SchemeTypo),
            ("http:e.com", Fault::SchemeTypo),
            ("http//e.com/", Fault::SchemeTypo),
            ("http;//e.com/", Fault::SchemeTypo),
            ("http:\\\\e.com\\x", Fault::SchemeTypo),
        ] {
            assert_eq!(validate(text), expected, "{text}");
        }
    }

    #[test]
    fn misspelt_schemes_are_recognised() {
        for (text, expected) in [
            ("htps://e.com/", Some((Scheme::Https, "e.com/"))),
            ("https:///e.com/", Some((Scheme::Https, "e.com/"))),
            ("http://https://e.com/", Some((Scheme::Https, "e.com/"))),
            ("http://http//e.com/", Some((Scheme::Http, "e.com/"))),
            ("http://https.e.com/", None),
            ("http://e.com/", None),
            ("HTTPS://e.com/", None),
        ] {
            assert_eq!(misspelt(text), expected, "{text}");
        }
    }
}
