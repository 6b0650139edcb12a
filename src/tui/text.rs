//! Text for cells: any string becomes exactly as many columns as asked for.
//!
//! Invariant: what leaves this module holds no control, bidirectional, zero-width or private-use
//! surprise that a terminal would act on, and [`Charset::fit`] fills its width to the column.
//! Must not know of styles or screens.

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

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

    /// The sign for something cut away, one column wide.
    pub const fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "~",
        }
    }

    /// The text with everything a terminal would obey instead of show replaced by a visible sign:
    /// `␛` for an escape, `‹202E›` for a right-to-left override. Borrows when nothing needs it.
    pub fn visible(self, text: &str) -> Cow<'_, str> {
        if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 8);
        for grapheme in text.graphemes(true) {
            self.push_grapheme(&mut out, grapheme);
        }
        Cow::Owned(out)
    }

    /// Columns that the text takes once made visible.
    pub fn width(self, text: &str) -> usize {
        if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) { text.len() } else { columns(&self.visible(text)) }
    }

    /// The text in exactly `width` columns: cut at the end, or padded with blanks on the right.
    pub fn fit(self, text: &str, width: usize) -> String {
        let mut out = self.cut(text, width).into_owned();
        pad(&mut out, width);
        out
    }

    /// The text in exactly `width` columns, at the right edge.
    pub fn fit_right(self, text: &str, width: usize) -> String {
        let cut = self.cut(text, width);
        let mut out = " ".repeat(width.saturating_sub(columns(&cut)));
        out.push_str(&cut);
        out
    }

    /// The text in at most `width` columns: the end is cut away where it is too long.
    pub fn cut(self, text: &str, width: usize) -> Cow<'_, str> {
        let visible = self.visible(text);
        if columns(&visible) <= width {
            return visible;
        }
        if width == 0 {
            return Cow::Borrowed("");
        }
        let mut out = head(&visible, width - 1).to_owned();
        out.push_str(self.ellipsis());
        Cow::Owned(out)
    }

    /// The path of a URL in at most `width` columns: the middle is cut away, and the last segment,
    /// which tells rows apart, is kept as long as there is room for it.
    pub fn elide(self, text: &str, width: usize) -> Cow<'_, str> {
        let visible = self.visible(text);
        if columns(&visible) <= width {
            return visible;
        }
        if width == 0 {
            return Cow::Borrowed("");
        }
        let last = last_segment(&visible);
        let tail = &visible[last..];
        // Room for the ellipsis and at least something before it, else the tail alone is cut.
        let kept = columns(tail);
        let mut out = String::with_capacity(visible.len());
        if kept < width {
            let front = head(&visible[..last], width - 1 - kept);
            // Whole segments read better than a torn one, where that costs little.
            let torn = !visible[front.len()..].starts_with('/');
            let front = match front.rfind('/') {
                Some(slash) if torn && slash > 0 && columns(&front[slash..]) <= 12 => &front[..=slash],
                _ => front,
            };
            out.push_str(front);
            out.push_str(self.ellipsis());
            out.push_str(tail);
        } else {
            // A last segment longer than the cell: its own middle goes.
            let front = (width - 1) / 2;
            let front_text = head(tail, front);
            out.push_str(front_text);
            out.push_str(self.ellipsis());
            out.push_str(end(tail, width - 1 - columns(front_text)));
        }
        Cow::Owned(out)
    }

    /// [`Charset::elide`], padded on the right to exactly `width` columns.
    pub fn fit_path(self, text: &str, width: usize) -> String {
        let mut out = self.elide(text, width).into_owned();
        pad(&mut out, width);
        out
    }

    /// The text broken into lines of at most `width` columns, preferably after a character that
    /// divides URLs (`/ ? & = -`) or a blank. At least one line; nothing is lost but blanks at breaks.
    pub fn wrap(self, text: &str, width: usize) -> Vec<String> {
        let visible = self.visible(text);
        let mut rest: &str = &visible;
        let mut lines = Vec::new();
        while width > 0 && columns(rest) > width {
            let mut piece = head(rest, width);
            if piece.is_empty() {
                // A wide character in a column of one: its ellipsis stands for it.
                let first = rest.graphemes(true).next().map_or(rest.len(), str::len);
                lines.push(self.ellipsis().to_owned());
                rest = &rest[first..];
                continue;
            }
            let divides = |c: char| matches!(c, ' ' | '/' | '?' | '&' | '=' | '-' | ',' | ';');
            if !rest[piece.len()..].starts_with(' ')
                && let Some((at, c)) = piece.char_indices().rev().find(|&(_, c)| divides(c))
                && at + c.len_utf8() > piece.len() / 2
            {
                piece = &piece[..at + c.len_utf8()];
            }
            lines.push(piece.trim_end_matches(' ').to_owned());
            rest = rest[piece.len()..].trim_start_matches(' ');
        }
        if !rest.is_empty() || lines.is_empty() {
            lines.push(if width == 0 { String::new() } else { rest.to_owned() });
        }
        lines
    }

    /// Visible text in two, before and from a column on.
    pub fn split(self, visible: &str, column: usize) -> (String, String) {
        let before = head(visible, column);
        (before.to_owned(), visible.get(before.len()..).unwrap_or_default().to_owned())
    }

    fn push_grapheme(self, out: &mut String, grapheme: &str) {
        if self == Self::Ascii || grapheme.is_ascii() {
            return grapheme.chars().for_each(|c| self.push_char(out, c));
        }
        // Terminals that know nothing of clusters add up characters. Only where both agree on the width
        // is a run of characters shown as one; else the character that joins is shown by its sign.
        let mut run = String::new();
        for c in grapheme.chars() {
            if needs_sign(c) {
                out.push_str(&std::mem::take(&mut run));
                self.push_char(out, c);
                continue;
            }
            run.push(c);
            if agrees(&run) {
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

/// Columns of one character, as simple terminals count.
fn char_width(c: char) -> usize {
    UnicodeWidthStr::width(c.encode_utf8(&mut [0; 4]) as &str)
}

/// Whether text is as wide as its characters together, and stands on its own.
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

/// A combining mark without a base would sit on whatever stands before it.
fn starts_alone(grapheme: &str) -> bool {
    grapheme.chars().next().is_none_or(|c| char_width(c) == 0)
}

/// Columns of text that is already visible, counted as it will be drawn: grapheme by grapheme.
fn columns(visible: &str) -> usize {
    if visible.is_ascii() {
        return visible.len();
    }
    visible.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The longest start of the text that takes at most `width` columns.
fn head(visible: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in visible.grapheme_indices(true) {
        used += UnicodeWidthStr::width(grapheme);
        if used > width {
            return &visible[..at];
        }
    }
    visible
}

/// The longest end of the text that takes at most `width` columns.
fn end(visible: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in visible.grapheme_indices(true).rev() {
        used += UnicodeWidthStr::width(grapheme);
        if used > width {
            return &visible[at + grapheme.len()..];
        }
    }
    visible
}

/// Where the last path segment starts, its leading slash included; a trailing slash belongs to it.
fn last_segment(text: &str) -> usize {
    let path = text.find(['?', '#']).unwrap_or(text.len());
    let body = text[..path].trim_end_matches('/');
    body.rfind('/').unwrap_or(0)
}

fn pad(text: &mut String, width: usize) {
    let used = columns(text);
    text.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert_eq!(Charset::Ascii.cut("abcdef", 4), "abc~");
    }

    #[test]
    fn fit_cuts_and_pads() {
        let table = [
            ("abc", 5, "abc  ", "  abc"),
            ("abc", 3, "abc", "abc"),
            ("abcdef", 4, "abc…", "abc…"),
            ("abc", 0, "", ""),
            ("日本語", 6, "日本語", "日本語"),
            ("日本語", 5, "日本…", "日本…"),
            ("日本語", 4, "日… ", " 日…"),
            ("日", 1, "…", "…"),
        ];
        for (input, width, left, right) in table {
            assert_eq!(Charset::Unicode.fit(input, width), left, "{input:?} in {width}");
            assert_eq!(Charset::Unicode.fit_right(input, width), right, "{input:?} in {width}");
        }
    }

    #[test]
    fn elide_keeps_the_telling_end() {
        let table = [
            ("/short", 10, "/short"),
            ("/blog/2019/11/walnut-opal", 20, "/blog/…/walnut-opal"),
            ("/blog/2019/11/walnut-opal/", 20, "/blog/…/walnut-opal/"),
            ("/a/b/c/d/e", 6, "/a/…/e"),
            ("/products/one-very-long-single-segment", 20, "/one-very…le-segment"),
            ("no-slashes-at-all-here", 9, "no-s…here"),
            ("/search/results/page?q=long+query", 26, "/search…/page?q=long+query"),
            ("/x", 1, "…"),
            ("/x", 0, ""),
        ];
        for (input, width, expected) in table {
            let got = Charset::Unicode.elide(input, width);
            assert_eq!(got, expected, "{input:?} in {width}");
            assert!(columns(&got) <= width, "{input:?} in {width}: {got:?}");
        }
    }

    #[test]
    fn wrap_breaks_where_urls_divide() {
        let table: [(&str, usize, &[&str]); 6] = [
            ("https://example.com/blog/post", 20, &["https://example.com/", "blog/post"]),
            ("a few words here", 8, &["a few", "words", "here"]),
            ("abcdefgh", 3, &["abc", "def", "gh"]),
            ("", 10, &[""]),
            ("日本", 1, &["…", "…"]),
            ("anything", 0, &[""]),
        ];
        for (input, width, expected) in table {
            assert_eq!(Charset::Unicode.wrap(input, width), expected, "{input:?} in {width}");
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

    fn any_text() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            "\x1b",
            "\0",
            "\u{202e}",
            "\u{200b}",
            "\u{200d}",
            "\u{301}",
            "日",
            "👍🏽",
            "👩\u{200d}👩\u{200d}👧",
            "🇩🇪",
            "ש",
            "ا",
            "\u{fe0f}",
            "❤\u{fe0f}",
            "/",
            " ",
            "?",
            "a",
            "한",
            "\u{1100}\u{1161}",
            "ก็",
            "क्ष",
        ]);
        prop_oneof![any::<String>(), prop::collection::vec(odd, 0..24).prop_map(|parts| parts.concat())]
    }

    /// The width that the screen buffer will give the text.
    fn drawn(text: &str) -> usize {
        use ratatui::{buffer::Buffer, layout::Rect, style::Style};
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2000, 1));
        usize::from(buffer.set_stringn(0, 0, text, 2000, Style::new()).0)
    }

    proptest! {
        #[test]
        fn every_text_fits_to_the_column(text in any_text(), width in 0_usize..60, ascii: bool) {
            let charset = if ascii { Charset::Ascii } else { Charset::Unicode };
            for out in [charset.fit(&text, width), charset.fit_right(&text, width), charset.fit_path(&text, width)] {
                prop_assert_eq!(columns(&out), width, "{:?} became {:?}", text, out);
                prop_assert_eq!(drawn(&out), width, "{:?} became {:?}", text, out);
                let added: usize = out.chars().map(char_width).sum();
                prop_assert_eq!(added, width, "a terminal that adds up characters: {:?} became {:?}", text, out);
            }
        }

        #[test]
        fn nothing_a_terminal_obeys_is_left(text in any_text(), ascii: bool) {
            let charset = if ascii { Charset::Ascii } else { Charset::Unicode };
            let out = charset.visible(&text);
            prop_assert!(!out.chars().any(char::is_control), "{:?} became {:?}", text, out);
            let bidi = |c: char| matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
            prop_assert!(!out.chars().any(bidi), "{:?} became {:?}", text, out);
            if ascii { prop_assert!(out.is_ascii()); }
            prop_assert_eq!(charset.width(&text), columns(&out));
        }

        #[test]
        fn wrapped_lines_keep_their_width(text in any_text(), width in 1_usize..40) {
            for line in Charset::Unicode.wrap(&text, width) {
                prop_assert!(columns(&line) <= width, "{:?} in {}: {:?}", text, width, line);
            }
        }
    }
}
