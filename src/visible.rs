//! Replaces control, invisible and direction characters by visible signs.
//!
//! The same on the screen, in results on a terminal and in messages. Invariant: what leaves this module holds no control,
//! bidirectional, zero-width or private-use character.

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Combining characters that are drawn over one base at most, as in the Stream-Safe Text Format (UAX #15, section 13).
pub(crate) const MARKS: usize = 30;

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// Any character.
    #[default]
    Unicode,
    /// ASCII only: the locale is not UTF-8.
    Ascii,
}

impl Charset {
    /// The charset that the first non-empty of `LC_ALL`, `LC_CTYPE`, `LANG` names (POSIX, Base
    /// Definitions 8.2). None of them set counts as Unicode: containers often set nothing.
    pub fn of_locale(get: impl Fn(&str) -> Option<String>) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| get(name).filter(|v| !v.is_empty()));
        let Some(locale) = locale else { return Self::Unicode };
        let locale = locale.to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Self::Unicode } else { Self::Ascii }
    }

    /// The text with everything a terminal would obey instead of show replaced by a visible sign:
    /// `␛` for an escape, `‹202E›` for a right-to-left override. Borrows when nothing needs it.
    pub fn visible(self, text: &str) -> Cow<'_, str> {
        count_inspected(text.len());
        if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 8);
        for grapheme in text.graphemes(true) {
            self.push_grapheme(&mut out, grapheme);
        }
        Cow::Owned(out)
    }

    fn push_grapheme(self, out: &mut String, grapheme: &str) {
        if self == Self::Ascii || grapheme.is_ascii() {
            return grapheme.chars().for_each(|c| self.push_char(out, c));
        }
        // Terminals that know nothing of clusters add up characters. Only where both agree on the width
        // is a run of characters shown as one; else the character that joins is shown by its sign.
        let mut run = String::new();
        let mut marks = 0;
        for c in grapheme.chars() {
            if needs_sign(c) {
                out.push_str(&std::mem::take(&mut run));
                self.push_char(out, c);
                continue;
            }
            marks = if run.is_empty() { 0 } else { marks + 1 };
            run.push(c);
            if marks <= MARKS && agrees(&run) {
                continue;
            }
            run.pop();
            match run.chars().next_back() {
                // As the coeng of Khmer does, which draws the next letter under the one before.
                Some(joiner) if char_width(joiner) == 0 && agrees(c.encode_utf8(&mut [0; 4])) => {
                    run.pop();
                    out.push_str(&std::mem::take(&mut run));
                    self.push_sign(out, joiner);
                    run.push(c);
                }
                _ => {
                    out.push_str(&std::mem::take(&mut run));
                    self.push_sign(out, c);
                }
            }
        }
        out.push_str(&run);
    }

    /// A character by its number.
    fn push_sign(self, out: &mut String, c: char) {
        let written = match self {
            Self::Unicode => write!(out, "‹{:04X}›", u32::from(c)),
            Self::Ascii => write!(out, "<{:04X}>", u32::from(c)),
        };
        debug_assert!(written.is_ok(), "writing into a String cannot fail");
    }

    fn push_char(self, out: &mut String, c: char) {
        let code = u32::from(c);
        match (self, code) {
            (_, 0x20..=0x7E) => out.push(c),
            (Self::Unicode, 0..=0x1F) => out.extend(char::from_u32(0x2400 + code)),
            (Self::Unicode, 0x7F) => out.push('\u{2421}'),
            (Self::Ascii, 0..=0x1F | 0x7F) => {
                out.push('^');
                out.extend(char::from_u32(code ^ 0x40));
            }
            // Signs that words came with: findings hold parts of values.
            (Self::Ascii, 0x2400..=0x241F) => {
                out.push('^');
                out.extend(char::from_u32((code - 0x2400) ^ 0x40));
            }
            (Self::Ascii, 0x2421) => out.push_str("^?"),
            (Self::Ascii, 0x2039) => out.push('<'),
            (Self::Ascii, 0x203A) => out.push('>'),
            (Self::Unicode, _) if !needs_sign(c) && (1..=2).contains(&char_width(c)) => out.push(c),
            _ => self.push_sign(out, c),
        }
    }
}

/// Counts the bytes of text that were examined, for tests.
#[cfg(test)]
pub(crate) mod count {
    use std::cell::Cell;

    thread_local!(static LOOKED: Cell<usize> = const { Cell::new(0) });

    /// The bytes looked at on this thread while `work` runs.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, usize) {
        let before = LOOKED.get();
        let result = work();
        (result, LOOKED.get() - before)
    }

    pub(super) fn add(bytes: usize) {
        LOOKED.set(LOOKED.get() + bytes);
    }
}

/// Takes note of how much of a text is examined.
#[inline]
#[cfg_attr(not(test), allow(clippy::missing_const_for_fn))]
pub(crate) fn count_inspected(bytes: usize) {
    #[cfg(test)]
    count::add(bytes);
    #[cfg(not(test))]
    let _ = bytes;
}

/// Columns of one character, as simple terminals count.
pub(crate) fn char_width(c: char) -> usize {
    UnicodeWidthStr::width(c.encode_utf8(&mut [0; 4]) as &str)
}

/// Whether text is as wide as its characters together, and is on its own.
fn agrees(text: &str) -> bool {
    let width = UnicodeWidthStr::width(text);
    width > 0 && width == text.chars().map(char_width).sum::<usize>() && !starts_alone(text)
}

/// Characters that a terminal obeys, hides or lets act on their neighbours.
fn needs_sign(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
            // Blanks that are not U+0020 look like it, and private use looks like anything.
            | '\u{00A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
            | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}'
            // Voiced marks of half width: columns of their own, or none, as the program that draws them likes.
            | '\u{FF9E}' | '\u{FF9F}'
            // Letters of flags: one column or two, alone or in pairs, as the terminal likes.
            | '\u{1F1E6}'..='\u{1F1FF}')
}

/// A combining mark without a base would sit on whatever is before it.
fn starts_alone(grapheme: &str) -> bool {
    grapheme.chars().next().is_none_or(|c| char_width(c) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let table = [
            ("plain/path?x=1", "plain/path?x=1"),
            ("a\x1b[31mred", "a␛[31mred"),
            ("nul\0tab\tbell\x07del\x7f", "nul␀tab␉bell␇del␡"),
            ("line\r\nbreak", "line␍␊break"),
            ("c1\u{9b}31m", "c1‹009B›31m"),
            ("rlo\u{202e}gpj.exe", "rlo‹202E›gpj.exe"),
            ("zero\u{200b}width\u{feff}", "zero‹200B›width‹FEFF›"),
            ("join\u{200d}er", "join‹200D›er"),
            ("soft\u{ad}hyphen", "soft‹00AD›hyphen"),
            ("nbsp\u{a0}here", "nbsp‹00A0›here"),
            ("bad\u{fffd}byte", "bad\u{fffd}byte"),
            ("e\u{301}te\u{301}", "e\u{301}te\u{301}"),
            ("\u{301}alone", "‹0301›alone"),
            ("हिन्दी", "हिन्दी"),
            ("कृषि", "कृषि"),
            ("क्षत्रिय", "क्षत्रिय"),
            ("বাংলা", "বাংলা"),
            ("தமிழ்", "தமிழ்"),
            ("മലയാളം", "മലയാളം"),
            ("မြန်မာ", "မြန်မာ"),
            ("ไทยน้ำ", "ไทยน้ำ"),
            ("עִבְרִית", "עִבְרִית"),
            ("عَرَبِيّ", "عَرَبِيّ"),
            ("\u{94d}alone", "‹094D›alone"),
            ("ខ្មែរ", "ខ‹17D2›មែរ"),
            ("ត្រូវ", "ត្រូវ"),
            ("ශ්\u{200d}රී", "ශ්‹200D›රී"),
            ("日本", "日本"),
            ("ｶﾞ", "ｶ‹FF9E›"),
            ("עברית", "עברית"),
            ("👩\u{200d}💻", "👩‹200D›💻"),
            ("👍🏽", "👍‹1F3FD›"),
            ("❤\u{fe0f}", "❤‹FE0F›"),
            ("🇩🇪", "‹1F1E9›‹1F1EA›"),
            ("tag\u{e0041}", "tag‹E0041›"),
            ("private\u{e000}", "private‹E000›"),
        ];
        for (input, expected) in table {
            assert_eq!(Charset::Unicode.visible(input), expected, "{input:?}");
        }
    }

    #[test]
    fn ascii_shows_everything_in_ascii() {
        let table = [
            ("a\x1b[m", "a^[[m"),
            ("\0\x7f", "^@^?"),
            ("é", "<00E9>"),
            ("日", "<65E5>"),
            ("e\u{301}", "e<0301>"),
            ("␛␡‹009B›", "^[^?<009B>"),
        ];
        for (input, expected) in table {
            assert_eq!(Charset::Ascii.visible(input), expected, "{input:?}");
        }
    }

    #[test]
    fn locale_decides() {
        let of = |pairs: &[(&str, &str)]| {
            Charset::of_locale(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
        };
        assert_eq!(of(&[]), Charset::Unicode);
        assert_eq!(of(&[("LANG", "de_DE.UTF-8")]), Charset::Unicode);
        assert_eq!(of(&[("LANG", "C.utf8")]), Charset::Unicode);
        assert_eq!(of(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]), Charset::Ascii);
        assert_eq!(of(&[("LC_ALL", ""), ("LANG", "POSIX")]), Charset::Ascii);
    }
}
