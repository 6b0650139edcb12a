//! Cuts, pads and wraps text to a number of columns.
//!
//! Invariant: results contain only visible characters (`crate::visible`), and [`Charset::fit`] fills its width exactly.
//! Cutting reads only the part of a text that can be shown, since a value in a file may have megabytes.
//! This module does not depend on styles or screens.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub(crate) use crate::visible::Charset;
#[cfg(test)]
pub(super) use crate::visible::count;
use crate::visible::{MAX_MARKS, char_width, count_inspected};

/// Maximum number of columns that are measured; no screen is wider.
const MAX_MEASURED_WIDTH: usize = 4096;

/// Minimum number of columns for the end of a URL if its host and first segment are kept whole.
const MIN_END_WIDTH: usize = 5;

/// Minimum number of columns at either end of a URL that are searched for its first and last segment.
const EXAMINED_WIDTH: usize = 1024;

impl Charset {
    /// The sign for cut text, one column wide.
    pub const fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "~",
        }
    }

    /// The number of columns of the text, with control characters made visible; for a text wider than any screen, some
    /// number above 4096.
    pub fn width(self, text: &str) -> usize {
        self.width_within(text, MAX_MEASURED_WIDTH)
    }

    /// The number of columns of the text, with control characters made visible; for a text wider than `limit`, some
    /// number above it.
    pub fn width_within(self, text: &str, limit: usize) -> usize {
        columns(&self.visible(start(text, limit)))
    }

    /// The text in exactly `width` columns, aligned at the left: cut at the end, or padded with blanks.
    pub fn fit(self, text: &str, width: usize) -> String {
        let mut out = self.cut(text, width).into_owned();
        pad(&mut out, width);
        out
    }

    /// The text in exactly `width` columns, aligned at the right.
    pub fn fit_right(self, text: &str, width: usize) -> String {
        let cut = self.cut(text, width);
        let mut out = " ".repeat(width.saturating_sub(columns(&cut)));
        out.push_str(&cut);
        out
    }

    /// The text in at most `width` columns; longer text is cut with an ellipsis at the end.
    pub fn cut(self, text: &str, width: usize) -> Cow<'_, str> {
        let visible = self.visible(start(text, width));
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

    /// A URL or path in at most `width` columns, with an ellipsis for the part that is cut out. The host and the first
    /// segment are kept, since they identify the site and its section, and as much of the last segment as fits.
    pub fn elide(self, text: &str, width: usize) -> Cow<'_, str> {
        // The middle of a long text cannot be shown, so it is not read.
        let limit = width.max(EXAMINED_WIDTH);
        let (front, back) = (start(text, limit), end_of(text, limit));
        if front.len() + back.len() < text.len() {
            return Cow::Owned(self.elide(&format!("{front}{back}"), width).into_owned());
        }
        let visible = self.visible(text);
        if columns(&visible) <= width {
            return visible;
        }
        if width == 0 {
            return Cow::Borrowed("");
        }
        let ellipsis = self.ellipsis();
        let last = last_segment(&visible);
        let kept = columns(&visible[last..]);
        let origin = origin_end(&visible);
        let section = origin.max(first_segment_end(&visible, origin));
        // Keep the whole last segment, and before it at least the host and the first segment.
        if last >= section && columns(&visible[..section]) + 1 + kept <= width {
            let mut front = head(&visible[..last], width - 1 - kept);
            // Cut at the end of a segment if that costs at most 12 columns.
            if !visible[front.len()..].starts_with('/')
                && let Some(slash) = front.rfind('/')
                && slash + 1 >= section
                && columns(&front[slash..]) <= 12
            {
                front = &front[..=slash];
            }
            return Cow::Owned(format!("{front}{ellipsis}{}", &visible[last..]));
        }
        // Cut the last segment first, then the first segment, then the scheme, and the host last.
        let scheme = scheme_end(&visible);
        let sectioned = (section > origin).then_some((0, section));
        let hosts = [(0, (origin + 1).min(visible.len())), (scheme, (origin + 1).min(visible.len()))];
        for (from, to) in sectioned.into_iter().chain(hosts.into_iter().filter(|_| origin > 0)) {
            let Some(prefix) = visible.get(from..to) else { continue };
            let lead = if from > 0 { ellipsis } else { "" };
            let used = columns(prefix) + 1 + usize::from(from > 0);
            if used + MIN_END_WIDTH <= width {
                return Cow::Owned(format!("{lead}{prefix}{ellipsis}{}", end(&visible, width - used)));
            }
        }
        let front = head(&visible, (width - 1) / 2);
        Cow::Owned(format!("{front}{ellipsis}{}", end(&visible, width - 1 - columns(front))))
    }

    /// The text in at most `width` columns; the middle is cut out, since file names often differ at their ends.
    pub fn elide_middle(self, text: &str, width: usize) -> String {
        let limit = width.max(EXAMINED_WIDTH);
        let (front, back) = (start(text, limit), end_of(text, limit));
        let joined;
        let text = if front.len() + back.len() < text.len() {
            joined = format!("{front}{back}");
            &joined
        } else {
            text
        };
        let visible = self.visible(text);
        if columns(&visible) <= width || width == 0 {
            return head(&visible, width).to_owned();
        }
        let front = head(&visible, (width - 1) / 2);
        format!("{front}{}{}", self.ellipsis(), end(&visible, width - 1 - columns(front)))
    }

    /// [`Charset::elide`], padded on the right to exactly `width` columns.
    pub fn fit_path(self, text: &str, width: usize) -> String {
        let mut out = self.elide(text, width).into_owned();
        pad(&mut out, width);
        out
    }

    /// The text in lines of at most `width` columns, broken preferably after a character that
    /// separates the parts of URLs (such as `/ ? & = -`) or after a blank. At least one line; only blanks at breaks are
    /// dropped.
    pub fn wrap(self, text: &str, width: usize) -> Vec<String> {
        let visible = self.visible(text);
        let mut rest: &str = &visible;
        let mut lines = Vec::new();
        loop {
            let mut piece = head(rest, width);
            if width == 0 || piece.len() == rest.len() {
                break;
            }
            if piece.is_empty() {
                // A wide character does not fit in one column: an ellipsis replaces it.
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
}

/// Splits visible text at a column.
pub(super) fn split(visible: &str, column: usize) -> (String, String) {
    let before = head(visible, column);
    (before.to_owned(), visible.get(before.len()..).unwrap_or_default().to_owned())
}

/// The start of a text, long enough to fill more than `width` columns if the whole text does.
pub(super) fn start(text: &str, width: usize) -> &str {
    let reach = longest_prefix(text.chars(), width);
    &text[..reach]
}

/// The end of a text, long enough to fill more than `width` columns if the whole text does.
fn end_of(text: &str, width: usize) -> &str {
    let reach = longest_prefix(text.chars().rev(), width);
    &text[text.len() - reach..]
}

/// The first `max_len` bytes of a text, without a partial character at the end.
pub(super) fn up_to(text: &str, max_len: usize) -> &str {
    let end = (0..=max_len.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// The text from a byte position on, without a partial character at the start.
pub(super) fn from(text: &str, at: usize) -> &str {
    let start = (at..=text.len()).find(|at| text.is_char_boundary(*at));
    text.get(start.unwrap_or(text.len())..).unwrap_or_default()
}

/// The length in bytes of the shortest prefix that certainly fills more than `width` columns. A character takes at
/// least one column, or combines with the previous one; at most [`MAX_MARKS`] combine with one character.
fn longest_prefix(chars: impl Iterator<Item = char>, width: usize) -> usize {
    let (mut bytes, mut columns, mut marks) = (0, 0_usize, 0);
    for c in chars {
        if columns > width {
            break;
        }
        bytes += c.len_utf8();
        let joins = !c.is_ascii() && char_width(c) == 0;
        marks = if joins { marks + 1 } else { 0 };
        columns += usize::from(!joins || marks > MAX_MARKS);
    }
    count_inspected(bytes);
    bytes
}

/// The number of columns of visible text, counted by grapheme as in drawing.
fn columns(visible: &str) -> usize {
    if visible.is_ascii() {
        return visible.len();
    }
    visible.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The longest prefix of at most `width` columns.
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

/// The longest suffix of at most `width` columns.
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

/// The offset of the last path segment, including its leading slash; a trailing slash belongs to the segment.
fn last_segment(text: &str) -> usize {
    let path = text.find(['?', '#']).unwrap_or(text.len());
    let body = text[..path].trim_end_matches('/');
    body.rfind('/').unwrap_or(0)
}

/// The end of the scheme of a URL, including `://`; 0 for a path.
fn scheme_end(text: &str) -> usize {
    text.find("://").map_or(0, |at| at + "://".len())
}

/// The end of the host of a URL; 0 for a path.
fn origin_end(text: &str) -> usize {
    match scheme_end(text) {
        0 => 0,
        host => text[host..].find(['/', '?', '#']).map_or(text.len(), |at| host + at),
    }
}

/// The end of the first of several path segments, including its final slash; 0 if there is only one.
fn first_segment_end(text: &str, path: usize) -> usize {
    let end = text[path..].find(['?', '#']).map_or(text.len(), |at| path + at);
    let segments = text[path..end].strip_prefix('/');
    segments.and_then(|segments| segments.find('/')).map_or(0, |at| path + 1 + at + 1)
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
    fn elide_keeps_host_section_and_end() {
        let table = [
            ("/short", 10, "/short"),
            ("/blog/2019/11/walnut-opal", 20, "/blog/…/walnut-opal"),
            ("/blog/2019/11/walnut-opal/", 20, "/blog/…/walnut-opal/"),
            ("/a/b/c/d/e", 6, "/a/…/e"),
            ("/products/one-very-long-single-segment", 20, "/products/…e-segment"),
            ("/products/one-very-long-single-segment", 12, "/prod…egment"),
            ("/one-very-long-single-segment", 20, "/one-very…le-segment"),
            ("no-slashes-at-all-here", 9, "no-s…here"),
            ("/search/results/page?q=long+query", 26, "/search/…page?q=long+query"),
            ("/search/results/page?q=long+query", 20, "/search/…=long+query"),
            ("/x", 1, "…"),
            ("/x", 0, ""),
            ("https://shop.example.com/catalogue/2019/item", 42, "https://shop.example.com/catalogue/…/item"),
            ("https://shop.example.com/catalogue/one-long-item", 41, "https://shop.example.com/catalogue/…-item"),
            ("https://shop.example.com/catalogue/one-long-item", 32, "https://shop.example.com/…g-item"),
            ("https://shop.example.com/catalogue/one-long-item", 26, "…shop.example.com/…ng-item"),
            ("https://shop.example.com/one-very-long-item", 32, "https://shop.example.com/…g-item"),
            ("https://shop.example.com?query=of+great+length", 32, "https://shop.example.com?…length"),
            ("https://shop.example.com", 16, "https:/…mple.com"),
        ];
        for (input, width, expected) in table {
            let got = Charset::Unicode.elide(input, width);
            assert_eq!(got, expected, "{input:?} in {width}");
            assert!(columns(&got) <= width, "{input:?} in {width}: {got:?}");
        }
    }

    #[test]
    fn file_names_keep_both_ends() {
        let table = [
            ("sitemap-products-12", 19, "sitemap-products-12"),
            ("sitemap-products-12", 9, "site…s-12"),
            ("ab", 1, "…"),
            ("ab", 0, ""),
        ];
        for (input, width, expected) in table {
            assert_eq!(Charset::Unicode.elide_middle(input, width), expected, "{input:?} in {width}");
        }
    }

    #[test]
    fn wrap_breaks_after_url_separators() {
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

    /// The width of the text in the screen buffer.
    fn drawn(text: &str) -> usize {
        use ratatui::{buffer::Buffer, layout::Rect, style::Style};
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2000, 1));
        usize::from(buffer.set_stringn(0, 0, text, 2000, Style::new()).0)
    }

    /// Texts of about 5 million bytes, of character sequences that have been slow to measure.
    fn huge_texts() -> Vec<String> {
        ["abcdefghi/", "äbcdéfghi-日本", "word ", "\u{301}", "\u{202e}", "\t", "👩\u{200d}💻", "?&a="]
            .into_iter()
            .map(|part| format!("https://e.com/a{}", part.repeat(5_000_000 / part.len())))
            .collect()
    }

    #[test]
    fn only_the_visible_part_of_a_text_is_examined() {
        for text in &huge_texts() {
            for charset in [Charset::Unicode, Charset::Ascii] {
                let cuts: [&dyn Fn() -> usize; 6] = [
                    &|| columns(&charset.fit(text, 200)),
                    &|| columns(&charset.fit_right(text, 200)),
                    &|| columns(&charset.fit_path(text, 200)),
                    &|| columns(&charset.cut(text, 200)),
                    &|| columns(&charset.elide(text, 200)),
                    &|| charset.width_within(text, 200).min(200),
                ];
                for (number, cut) in cuts.into_iter().enumerate() {
                    let (width, looked) = count::of(cut);
                    assert!((150..=200).contains(&width), "{number}: {width} columns of {:?}", &text[..24]);
                    assert!(looked < 512 * 1024, "{number}: {looked} bytes of {:?}", &text[..24]);
                }
                let (width, looked) = count::of(|| charset.width(text));
                assert!(width > 4000 && looked < 1 << 20, "{width} columns, {looked} bytes");
            }
        }
    }

    #[test]
    fn combining_marks_above_the_limit_are_shown_as_signs() {
        let text = format!("a{}", "\u{301}".repeat(40));
        let visible = Charset::Unicode.visible(&text).into_owned();
        assert_eq!(visible.matches('\u{301}').count(), MAX_MARKS);
        assert_eq!(visible.matches("‹0301›").count(), 40 - MAX_MARKS);
    }

    #[test]
    fn both_ends_of_a_long_url_are_kept() {
        let text = format!("https://e.com/first/{}/last.html", "x/".repeat(100_000));
        let elided = Charset::Unicode.elide(&text, 40).into_owned();
        assert!(elided.starts_with("https://e.com/first/") && elided.ends_with("…/last.html"), "{elided}");
        assert!(columns(&elided) <= 40);
    }

    proptest! {
        #[test]
        fn the_examined_ends_fill_their_width(text in any::<String>(), width in 0_usize..40) {
            for part in [start(&text, width), end_of(&text, width)] {
                let shown = columns(&Charset::Unicode.visible(part));
                prop_assert!(part.len() == text.len() || shown > width, "{} of {:?}", shown, part);
            }
        }

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
        fn cut_text_has_an_ellipsis(text in any_text(), width in 1_usize..60, ascii: bool) {
            let charset = if ascii { Charset::Ascii } else { Charset::Unicode };
            if charset.width(&text) > width {
                for out in [charset.cut(&text, width), charset.elide(&text, width), charset.elide_middle(&text, width).into()] {
                    prop_assert!(out.contains(charset.ellipsis()) && columns(&out) <= width, "{:?} became {:?}", text, out);
                }
            }
        }

        #[test]
        fn visible_text_has_no_control_or_bidi_characters(text in any_text(), ascii: bool) {
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
