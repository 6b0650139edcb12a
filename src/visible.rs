//! Replaces control, invisible and direction characters by visible signs.
//!
//! Used for the screen, for output to a terminal and for messages. Invariant: the returned text contains no control,
//! bidirectional, zero-width or private-use character.

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Maximum number of combining characters after one base character, as in the Stream-Safe Text Format (UAX #15, section
/// 13).
pub(crate) const MAX_MARKS: usize = 30;

/// The characters that the terminal can display.
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
    /// Definitions 8.2). Unicode if none is set, as is common in containers.
    pub fn of_locale(get: impl Fn(&str) -> Option<String>) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| get(name).filter(|v| !v.is_empty()));
        let Some(locale) = locale else { return Self::Unicode };
        let locale = locale.to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Self::Unicode } else { Self::Ascii }
    }

    /// The text with each character that a terminal would interpret or hide replaced by a visible sign:
    /// `␛` for an escape, `‹202E›` for a right-to-left override. Borrows the text if nothing is replaced.
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
        // Terminals without support for grapheme clusters add up the widths of characters. A run of characters is
        // written as it is only if that sum equals the width of the cluster; else the joining character is written as
        // its sign.
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
            if marks <= MAX_MARKS && widths_agree(&run) {
                continue;
            }
            run.pop();
            match run.chars().next_back() {
                // For example the Khmer coeng, which draws the next letter under the previous one.
                Some(joiner) if char_width(joiner) == 0 && widths_agree(c.encode_utf8(&mut [0; 4])) => {
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

    /// Appends the code point of a character in brackets.
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
            // Signs of `Charset::Unicode`: findings contain excerpts with such signs.
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

    thread_local!(static INSPECTED: Cell<usize> = const { Cell::new(0) });

    /// Runs `work` and returns its result with the number of bytes that it examined on this thread.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, usize) {
        let before = INSPECTED.get();
        let result = work();
        (result, INSPECTED.get() - before)
    }

    pub(super) fn add(bytes: usize) {
        INSPECTED.set(INSPECTED.get() + bytes);
    }
}

/// Counts bytes of text as examined. Does nothing outside of tests.
#[inline]
#[cfg_attr(not(test), allow(clippy::missing_const_for_fn))]
pub(crate) fn count_inspected(bytes: usize) {
    #[cfg(test)]
    count::add(bytes);
    #[cfg(not(test))]
    let _ = bytes;
}

/// Width of a character in columns, as terminals without support for grapheme clusters compute it.
pub(crate) fn char_width(c: char) -> usize {
    UnicodeWidthStr::width(c.encode_utf8(&mut [0; 4]) as &str)
}

/// Whether the width of a text equals the sum of the widths of its characters, and it does not begin with a mark.
fn widths_agree(text: &str) -> bool {
    let width = UnicodeWidthStr::width(text);
    width > 0 && width == text.chars().map(char_width).sum::<usize>() && !starts_with_mark(text)
}

/// Whether a terminal interprets a character, hides it or lets it affect its neighbours.
fn needs_sign(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
            // Other blanks look like U+0020, and private-use characters can look like anything.
            | '\u{00A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
            | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}'
            // Half-width voiced sound marks: terminals disagree whether they take a column of their own.
            | '\u{FF9E}' | '\u{FF9F}'
            // Regional indicators (flags): terminals disagree whether one or a pair takes one column or two.
            | '\u{1F1E6}'..='\u{1F1FF}')
}

/// Whether a text begins with a combining mark, which would be drawn over the character before it.
fn starts_with_mark(grapheme: &str) -> bool {
    grapheme.chars().next().is_none_or(|c| char_width(c) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_invisible_characters_are_shown_as_signs() {
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
    fn the_locale_determines_the_charset() {
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
