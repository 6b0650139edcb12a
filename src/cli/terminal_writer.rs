//! Replaces control and invisible characters by visible signs in results that are printed to a terminal.
//!
//! Results to a pipe or file are not changed; see [`super::Env::terminal`]. Invariant: the only escape sequences that
//! pass are the colours of [`super::output::Paint`].

use super::output::Paint;
use crate::visible::Charset;
use std::io::{self, Write};

/// A writer for terminals. It works line by line.
pub(super) struct TerminalWriter<'w> {
    inner: &'w mut dyn Write,
    /// The incomplete last line.
    rest: Vec<u8>,
}

/// Longer lines are written in pieces, in bytes.
const MAX_LINE: usize = 1 << 16;

impl<'w> TerminalWriter<'w> {
    pub(super) fn new(inner: &'w mut dyn Write) -> Self {
        Self { inner, rest: Vec::new() }
    }

    /// The underlying writer.
    pub(super) fn inner(&mut self) -> &mut dyn Write {
        self.inner
    }

    /// Writes the first `end` bytes of the buffer.
    fn write_visible(&mut self, end: usize) -> io::Result<()> {
        let bytes: Vec<u8> = self.rest.drain(..end).collect();
        self.inner.write_all(visible(&String::from_utf8_lossy(&bytes)).as_bytes())
    }
}

impl Write for TerminalWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let before = self.rest.len();
        self.rest.extend_from_slice(bytes);
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.write_visible(before + end + 1)?;
        }
        if self.rest.len() > MAX_LINE {
            let end = complete_len(&self.rest);
            self.write_visible(end)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let end = complete_len(&self.rest);
        self.write_visible(end)?;
        self.inner.flush()
    }
}

/// The length without an incomplete UTF-8 sequence at the end.
fn complete_len(bytes: &[u8]) -> usize {
    let start = bytes.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or_default();
    match std::str::from_utf8(bytes.get(start..).unwrap_or_default()) {
        Err(error) if error.error_len().is_none() => start,
        _ => bytes.len(),
    }
}

/// Text in which all control characters but line breaks, tabs and colours are visible signs.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\t', '\x1b']) {
        let (text, control) = rest.split_at(at);
        out.push_str(&Charset::Unicode.visible(text));
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

    fn written(pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = TerminalWriter::new(&mut out);
        for piece in pieces {
            writer.write_all(piece).unwrap();
        }
        writer.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn invisible_characters_become_signs_and_colours_stay() {
        for (text, expected) in [
            ("https://e.com/a\u{200b}b\n", "https://e.com/a‹200B›b\n"),
            ("rlm\u{200f}\tx\u{ad}\u{2066}\n", "rlm‹200F›\tx‹00AD›‹2066›\n"),
            ("\x1b[31merror\x1b[0m é 日\n", "\x1b[31merror\x1b[0m é 日\n"),
            ("\x1b[8mhidden\x1b]0;title\x07\r\n", "␛[8mhidden␛]0;title␇␍\n"),
            ("no end", "no end"),
        ] {
            assert_eq!(written(&[text.as_bytes()]), expected);
        }
        // Invalid UTF-8, and an incomplete character.
        assert_eq!(written(&[b"a\xff\xe2\x82"]), "a\u{fffd}");
        assert_eq!(written(&[b"\xe2", b"\x82", b"\xac"]), "€");
    }

    proptest! {
        #[test]
        fn the_output_does_not_depend_on_write_sizes(text in "(\\PC|[\n\u{200b}\u{301}é日]){0,40}", cuts in prop::collection::vec(0_usize..120, 0..6)) {
            let text = format!("{text}\n");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            cuts.push(text.len());
            let mut at = 0;
            let pieces: Vec<&[u8]> = cuts.iter().map(|cut| { let piece = &text.as_bytes()[at..*cut]; at = *cut; piece }).collect();
            let out = written(&pieces);
            prop_assert_eq!(&out, &written(&[text.as_bytes()]));
            prop_assert_eq!(out.matches('\n').count(), text.matches('\n').count());
            let is_hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{200b}');
            prop_assert!(!out.chars().any(is_hidden));
        }
    }
}
