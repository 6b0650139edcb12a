//! Replaces control and invisible characters by visible signs where results go to a terminal.
//!
//! Results for a program (a pipe, a file) stay as they are, byte for byte; see [`super::Env::terminal`]. Invariant: the
//! only escape sequences that pass are the colours of [`super::output::Paint`].

use super::output::Paint;
use crate::visible::Charset;
use std::io::{self, Write};

/// Shows results line by line.
pub(super) struct Shown<'w> {
    inner: &'w mut dyn Write,
    /// What is not a whole line yet.
    rest: Vec<u8>,
}

/// Bytes of a line that are kept until it ends; a longer one is shown in pieces.
const LONGEST: usize = 1 << 16;

impl<'w> Shown<'w> {
    pub(super) fn new(inner: &'w mut dyn Write) -> Self {
        Self { inner, rest: Vec::new() }
    }

    /// Where results are written as they are.
    pub(super) fn inner(&mut self) -> &mut dyn Write {
        self.inner
    }

    /// Shows the first bytes of what is kept.
    fn show(&mut self, end: usize) -> io::Result<()> {
        let bytes: Vec<u8> = self.rest.drain(..end).collect();
        self.inner.write_all(visible(&String::from_utf8_lossy(&bytes)).as_bytes())
    }
}

impl Write for Shown<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let before = self.rest.len();
        self.rest.extend_from_slice(bytes);
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.show(before + end + 1)?;
        }
        if self.rest.len() > LONGEST {
            let end = whole(&self.rest);
            self.show(end)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let end = whole(&self.rest);
        self.show(end)?;
        self.inner.flush()
    }
}

/// The bytes up to the last character that is whole; all of them where the last is none.
fn whole(bytes: &[u8]) -> usize {
    let start = bytes.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or_default();
    match std::str::from_utf8(bytes.get(start..).unwrap_or_default()) {
        Err(error) if error.error_len().is_none() => start,
        _ => bytes.len(),
    }
}

/// Text with its line breaks, tabs and colours, and nothing else that a terminal obeys.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\t', '\x1b']) {
        let (shown, control) = rest.split_at(at);
        out.push_str(&Charset::Unicode.visible(shown));
        let colour = Paint::SEQUENCES.into_iter().find(|sequence| control.starts_with(sequence));
        let kept = match control.as_bytes().first() {
            Some(b'\n') => "\n",
            Some(b'\t') => "\t",
            _ => colour.unwrap_or_default(),
        };
        out.push_str(kept);
        rest = control.get(kept.len().max(1)..).unwrap_or_default();
        if kept.is_empty() {
            out.push_str(&Charset::Unicode.visible("\x1b"));
        }
    }
    out.push_str(&Charset::Unicode.visible(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut shown = Shown::new(&mut out);
        for piece in pieces {
            shown.write_all(piece).unwrap();
        }
        shown.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_a_terminal_would_hide_has_a_sign_and_colours_stay() {
        for (text, expected) in [
            ("https://e.com/a\u{200b}b\n", "https://e.com/a‹200B›b\n"),
            ("rlm\u{200f}\tx\u{ad}\u{2066}\n", "rlm‹200F›\tx‹00AD›‹2066›\n"),
            ("\x1b[31merror\x1b[0m é 日\n", "\x1b[31merror\x1b[0m é 日\n"),
            ("\x1b[8mhidden\x1b]0;title\x07\r\n", "␛[8mhidden␛]0;title␇␍\n"),
            ("no end", "no end"),
        ] {
            assert_eq!(shown(&[text.as_bytes()]), expected);
        }
        // What is no UTF-8, and a character that never ends.
        assert_eq!(shown(&[b"a\xff\xe2\x82"]), "a\u{fffd}");
        assert_eq!(shown(&[b"\xe2", b"\x82", b"\xac"]), "€");
    }

    proptest! {
        #[test]
        fn pieces_are_shown_as_the_whole(text in "(\\PC|[\n\u{200b}\u{301}é日]){0,40}", cuts in prop::collection::vec(0_usize..120, 0..6)) {
            let text = format!("{text}\n");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            cuts.push(text.len());
            let mut at = 0;
            let pieces: Vec<&[u8]> = cuts.iter().map(|cut| { let piece = &text.as_bytes()[at..*cut]; at = *cut; piece }).collect();
            let out = shown(&pieces);
            prop_assert_eq!(&out, &shown(&[text.as_bytes()]));
            prop_assert_eq!(out.matches('\n').count(), text.matches('\n').count());
            let is_hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{200b}');
            prop_assert!(!out.chars().any(is_hidden));
        }
    }
}
