//! Messages for the faults of a `loc`: what is wrong at which position, and what is allowed.
//!
//! Positions are characters of the decoded value, counted from 1. One sentence, no final stop.

use super::chars::{self, ILLEGAL, SPACE};
use super::fault::Fault;
use super::parts::{Location, Port, Scheme};
use super::private::{self, Private};
use super::validate::{bad_percent, decoded_characters, encoded_control, template_residue};
use super::{host, params, shape};
use crate::protocol::limits::{LOC_CHARACTERS, LOC_CHARACTERS_MIN};
use crate::words::{excerpt, grouped};

/// The message for a fault of a decoded value; a general one if the value does not have the fault.
pub(crate) fn explain(fault: Fault, decoded: &str) -> String {
    let location = Location::of(decoded);
    match fault {
        Fault::NotAbsolute => {
            format!("{} is not absolute: a URL starts with http:// or https:// and a host", visible(decoded))
        }
        Fault::Scheme => match shape::other_scheme(decoded) {
            Some(scheme) => format!("the scheme is {}:, only http and https can be crawled", visible(scheme)),
            None => "the scheme must be http or https".to_owned(),
        },
        Fault::SchemeTypo => match shape::misspelt(decoded) {
            Some((scheme, _)) => format!("misspelt scheme: {}:// was probably meant", scheme.name()),
            None => "misspelt scheme".to_owned(),
        },
        Fault::NoHost => "no host after http:// or https://".to_owned(),
        Fault::HostInvalid if location.port() == Port::Bad => {
            let port = visible(location.split_authority().2.unwrap_or(""));
            format!("{port} is not a port: a number from 1 to 65,535")
        }
        Fault::HostInvalid => {
            let host = location.host();
            format!("the host {} {}", visible(host), visible(&host::reason(host)))
        }
        Fault::HostNotPublic => format!("{} cannot be reached from the public internet", visible(location.host())),
        Fault::Userinfo => "a user name or password before the host would be published".to_owned(),
        Fault::InnerWhitespace => {
            let (what, located) = first_of(decoded, |letter| chars::classes_of_char(letter) & SPACE != 0);
            let right = if what == Some(' ') { "write %20" } else { "delete it" };
            format!("{located} is not allowed in a URL: {right}")
        }
        Fault::IllegalChar => {
            let (what, located) = first_of(decoded, |letter| chars::classes_of_char(letter) & ILLEGAL != 0);
            if let Some(at) = encoded_control(decoded).filter(|_| what.is_none()) {
                let shown = decoded.get(at..at + 3).unwrap_or_default();
                let position = position_of(decoded, at);
                return format!(
                    "{shown} at character {position} is a control character, which URLs cannot contain: delete it"
                );
            }
            let mut right = String::new();
            if let Some(what) = what {
                chars::push_percent(&mut right, what as u8);
            }
            format!("{located} is not allowed in a URL: write {right}")
        }
        Fault::BadPercent => {
            let at = bad_percent(decoded).unwrap_or(0);
            let shown: String = decoded.get(at..).unwrap_or("").chars().take(3).collect();
            let position = position_of(decoded, at);
            format!(
                "{} at character {position}: % needs two hexadecimal digits after it; a plain % is %25",
                visible(&shown)
            )
        }
        Fault::NotAscii => {
            let (_, located) = first_of(decoded, |letter| !letter.is_ascii());
            format!("{located} is beyond ASCII: allowed, but crawlers fetch the percent-encoded form")
        }
        Fault::Mojibake => "the text looks like UTF-8 that was read in another encoding".to_owned(),
        Fault::TooLong | Fault::TooLongByOne => too_long(decoded.chars().count()),
        Fault::TooLongEncoded => {
            format!("percent-encoded it has {} or more characters", grouped(LOC_CHARACTERS as u64))
        }
        Fault::TooLongYandex => {
            let count = grouped(decoded_characters(decoded) as u64);
            format!("{count} characters after percent-decoding; Yandex accepts 1,024")
        }
        Fault::TooLongBaidu => format!("{} bytes; Baidu accepts 256", grouped(decoded.len() as u64)),
        Fault::TooShort => {
            let count = decoded.chars().count();
            format!("{count} characters; the schema requires at least {LOC_CHARACTERS_MIN}")
        }
        Fault::MissingRootSlash => "no path: a slash belongs after the host".to_owned(),
        Fault::Fragment => {
            let fragment = visible(location.fragment().unwrap_or(""));
            format!("crawlers drop #{fragment}, so this is the same page as without it")
        }
        Fault::DefaultPort => match location.scheme() {
            Some(Scheme::Https) => "the port can be omitted: 443 is the default of https".to_owned(),
            _ => "the port can be omitted: 80 is the default of http".to_owned(),
        },
        Fault::DotSegments => "the path has . or .. segments, which crawlers resolve".to_owned(),
        Fault::DoubleSlash => {
            let at = location.path().find("//").unwrap_or(0) + location.path;
            format!("// in the path at character {}", position_of(decoded, at))
        }
        Fault::UppercaseHost => "write scheme and host in lower case".to_owned(),
        Fault::SessionId => {
            let name = params::session(&location).unwrap_or("a parameter");
            format!("{} looks like a session identifier: every visit would be another URL", visible(name))
        }
        Fault::TrackingParam => {
            let name =
                location.query().and_then(|query| params::parameters(query).find(|own| params::is_tracking(own)));
            let name = name.and_then(|parameter| parameter.split('=').next()).unwrap_or("a parameter");
            format!("{} is a tracking parameter", visible(name))
        }
        Fault::Private => {
            let what = match private::find(&location) {
                Some(Private::Staff(segment)) => format!("/{segment} is a page for staff"),
                Some(Private::Secrets(segment)) => format!("/{segment} often holds passwords or source code"),
                Some(Private::Credential(name)) => format!("the parameter {name} carries a key or a password"),
                Some(Private::Preview(word)) => format!("{word} marks a version that is not published"),
                None => "this is not meant for the public".to_owned(),
            };
            format!("{}: everybody can read a sitemap", visible(&what))
        }
        Fault::TemplateResidue => {
            let residue = template_residue(&location).unwrap_or("");
            format!("{} looks like an unfilled template placeholder", visible(residue))
        }
        Fault::NotPage => {
            "the file name is that of an image, a script, an archive or a sitemap, not of a page".to_owned()
        }
        Fault::ForeignHost => {
            let origin = location.origin().map_or("", |(origin, _)| origin);
            format!("{} is not the scheme, host and port of the sitemap", visible(origin))
        }
        Fault::OutsidePath => "not in the directory of the sitemap or below".to_owned(),
    }
}

/// Rule catalogue, conflict C3: the protocol says "less than 2,048", but the schema allows exactly 2,048.
fn too_long(count: usize) -> String {
    let schema = if count == LOC_CHARACTERS { " (the schema would accept it, the protocol does not)" } else { "" };
    format!(
        "{} characters; a URL must have fewer than {}{schema}",
        grouped(count as u64),
        grouped(LOC_CHARACTERS as u64)
    )
}

/// The first matching character, with a description of it, its position and the number of further ones.
fn first_of(text: &str, matches: impl Fn(char) -> bool) -> (Option<char>, String) {
    let mut found = text.chars().enumerate().filter(|&(_, letter)| matches(letter));
    let Some((position, letter)) = found.next() else { return (None, "a character".to_owned()) };
    let more = match found.count() {
        0 => String::new(),
        more => format!(" (and {} more)", grouped(more as u64)),
    };
    (Some(letter), format!("{} at character {}{more}", name(letter), grouped((position + 1) as u64)))
}

/// The character position, from 1, of a byte offset.
fn position_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.chars().count() + 1)
}

/// Whether a character has no visible glyph.
fn is_invisible(letter: char) -> bool {
    let text = letter.to_string();
    letter.is_whitespace() || visible(&text) != text
}

fn name(letter: char) -> String {
    match letter {
        ' ' => "a space".to_owned(),
        '\t' => "a tab".to_owned(),
        '\n' | '\r' => "a line break".to_owned(),
        '\u{a0}' => "a no-break space (U+00A0)".to_owned(),
        '\u{200b}' => "a zero-width space (U+200B)".to_owned(),
        '\u{feff}' => "a byte order mark (U+FEFF)".to_owned(),
        _ if letter.is_control() => format!("the control character U+{:04X}", letter as u32),
        _ if is_invisible(letter) => format!("the invisible character U+{:04X}", letter as u32),
        _ => format!("\u{201c}{letter}\u{201d}"),
    }
}

/// An excerpt of a value for a message.
fn visible(text: &str) -> String {
    excerpt(text, 72)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_the_position_and_the_remedy() {
        for (fault, text, expected) in [
            (
                Fault::IllegalChar,
                "https://e.com/a|b|",
                "“|” at character 16 (and 1 more) is not allowed in a URL: write %7C",
            ),
            (Fault::InnerWhitespace, "https://e.com/ä b", "a space at character 16 is not allowed in a URL: write %20"),
            (
                Fault::InnerWhitespace,
                "https://e.com/\nb",
                "a line break at character 15 is not allowed in a URL: delete it",
            ),
            (
                Fault::BadPercent,
                "https://e.com/%zz",
                "%zz at character 15: % needs two hexadecimal digits after it; a plain % is %25",
            ),
            (
                Fault::HostInvalid,
                "https://-a.com/",
                "the host -a.com has a label that starts or ends with a hyphen: -a",
            ),
            (Fault::HostInvalid, "https://e.com:x/", "x is not a port: a number from 1 to 65,535"),
            (Fault::TooShort, "http://t.co", "11 characters; the schema requires at least 12"),
            (Fault::Scheme, "ftp://e.com/", "the scheme is ftp:, only http and https can be crawled"),
            (Fault::SchemeTypo, "htps://e.com/", "misspelt scheme: https:// was probably meant"),
            (
                Fault::SessionId,
                "https://e.com/?sid=0123456789abcdef",
                "sid looks like a session identifier: every visit would be another URL",
            ),
            (
                Fault::Private,
                "https://e.com/.env",
                "/.env often holds passwords or source code: everybody can read a sitemap",
            ),
            (Fault::Fragment, "https://e.com/#top", "crawlers drop #top, so this is the same page as without it"),
        ] {
            assert_eq!(explain(fault, text), expected);
        }
    }

    #[test]
    fn exactly_2048_characters_names_the_conflict_with_the_schema() {
        let text = format!("https://e.com/{}", "a".repeat(2_048 - 14));
        assert!(explain(Fault::TooLong, &text).contains("the schema would accept it"));
        assert!(!explain(Fault::TooLong, &(text + "a")).contains("schema"));
    }

    #[test]
    fn every_fault_has_a_message_without_control_characters() {
        for &fault in Fault::ALL {
            for text in ["", "https://\u{1b}[31m\u{7}/\n{{", "é%"] {
                let words = explain(fault, text);
                assert!(!words.is_empty() && !words.ends_with('.') && !words.contains(char::is_control), "{words}");
            }
        }
    }
}
