//! Tokens of damaged bytes: what does not end costs one `<`, not the rest of the file, and is looked for once.

use super::super::markup::{self, Kind, Markup};

/// Markup tokens, with what is known not to end.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Beginnings whose end is in the rest of the file no more.
    endless: [bool; 4],
}

const BEGINNINGS: [&[u8]; 4] = [b"<!--", b"<![CDATA[", b"<?", b"<!"];

impl Tokens {
    /// The next token at or after `from`.
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> Option<Markup> {
        let start = from + memchr::memchr(b'<', bytes.get(from..)?)?;
        let rest = bytes.get(start..).unwrap_or_default();
        // Nearly all tokens are tags.
        let beginning = match rest.get(1) {
            Some(b'!' | b'?') => BEGINNINGS.iter().position(|beginning| rest.starts_with(beginning)),
            _ => None,
        };
        let stray = Markup { kind: Kind::Stray, start, end: start + 1, name_end: start };
        let Some(endless) = beginning.and_then(|at| self.endless.get_mut(at)) else {
            return markup::next(bytes, start);
        };
        if *endless {
            return Some(stray);
        }
        let token = markup::next(bytes, start)?;
        if token.kind == Kind::Stray {
            *endless = true;
            return Some(stray);
        }
        Some(token)
    }
}
