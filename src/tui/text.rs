//! Fits text into cells: any string becomes exactly the requested number of columns.
//!
//! Invariant: what leaves this module is visible (`crate::visible`), and [`Charset::fit`] fills its width to the column.
//! Cutting looks at no more of a text than can be seen of it: values of files may hold megabytes.
//! Must not know of styles or screens.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub(crate) use crate::visible::Charset;
#[cfg(test)]
pub(super) use crate::visible::count;
use crate::visible::{MARKS, char_width, count_inspected};

/// Columns beyond which nothing is measured: no screen is as wide.
const WIDEST: usize = 4096;

/// Columns of the end of a URL that are shown at least, where its host and first segment are kept whole.
const LEAST_END: usize = 5;

/// Columns at either end of a path that are examined for where its last segment begins.
const SEGMENT: usize = 1024;

impl Charset {
    /// The sign for something cut away, one column wide.
    pub const fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "~",
        }
    }

    /// Columns that the text takes once made visible, as far as a screen may show it: of a longer text some number
    /// that is larger than any screen.
    pub fn width(self, text: &str) -> usize {
        self.width_within(text, WIDEST)
    }

    /// Columns that the text takes once made visible; of a text wider than `most`, some number above it.
    pub fn width_within(self, text: &str, most: usize) -> usize {
        columns(&self.visible(start(text, most)))
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

    /// A URL, or its path, in at most `width` columns. Host and first path segment are kept, since another host or section
    /// would be another page, and so is as much of the last segment as has room; an ellipsis marks what was cut.
    pub fn elide(self, text: &str, width: usize) -> Cow<'_, str> {
        // Of a text that is longer than both ends can be seen of, the middle is not read.
        let most = width.max(SEGMENT);
        let (front, back) = (start(text, most), end_of(text, most));
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
        // The last segment whole, and of the path before it as much as has room, but host and section at least.
        if last >= section && columns(&visible[..section]) + 1 + kept <= width {
            let mut front = head(&visible[..last], width - 1 - kept);
            // Whole segments read better than a torn one, where that costs little.
            if !visible[front.len()..].starts_with('/')
                && let Some(slash) = front.rfind('/')
                && slash + 1 >= section
                && columns(&front[slash..]) <= 12
            {
                front = &front[..=slash];
            }
            return Cow::Owned(format!("{front}{ellipsis}{}", &visible[last..]));
        }
        // The last segment gives way before the section does, the section before the host, the scheme before that.
        let scheme = scheme_end(&visible);
        let sectioned = (section > origin).then_some((0, section));
        let hosts = [(0, (origin + 1).min(visible.len())), (scheme, (origin + 1).min(visible.len()))];
        for (from, to) in sectioned.into_iter().chain(hosts.into_iter().filter(|_| origin > 0)) {
            let Some(prefix) = visible.get(from..to) else { continue };
            let lead = if from > 0 { ellipsis } else { "" };
            let used = columns(prefix) + 1 + usize::from(from > 0);
            if used + LEAST_END <= width {
                return Cow::Owned(format!("{lead}{prefix}{ellipsis}{}", end(&visible, width - used)));
            }
        }
        let front = head(&visible, (width - 1) / 2);
        Cow::Owned(format!("{front}{ellipsis}{}", end(&visible, width - 1 - columns(front))))
    }

    /// The text in at most `width` columns: the middle is cut away, since names of files often differ at their ends.
    pub fn elide_middle(self, text: &str, width: usize) -> String {
        let most = width.max(SEGMENT);
        let (front, back) = (start(text, most), end_of(text, most));
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

    /// The text broken into lines of at most `width` columns, preferably after a character that
    /// divides URLs (`/ ? & = -`) or a blank. At least one line; nothing is lost but blanks at breaks.
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
}

/// Visible text in two, before and from a column on.
pub(super) fn split(visible: &str, column: usize) -> (String, String) {
    let before = head(visible, column);
    (before.to_owned(), visible.get(before.len()..).unwrap_or_default().to_owned())
}

/// The start of a text, enough of it to fill more than `width` columns if the whole does.
pub(super) fn start(text: &str, width: usize) -> &str {
    let reach = longest_prefix(text.chars(), width);
    &text[..reach]
}

/// The end of a text, enough of it to fill more than `width` columns if the whole does.
fn end_of(text: &str, width: usize) -> &str {
    let reach = longest_prefix(text.chars().rev(), width);
    &text[text.len() - reach..]
}

/// The text up to a byte position, or to the character before it that the position is in.
pub(super) fn up_to(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// The text from a byte position on, or from behind the character that the position is in.
pub(super) fn from(text: &str, at: usize) -> &str {
    let start = (at..=text.len()).find(|at| text.is_char_boundary(*at));
    text.get(start.unwrap_or(text.len())..).unwrap_or_default()
}

/// Bytes of the first characters that fill more than so many columns for certain. A character takes a column, or joins
/// the one before; of those that join, [`MARKS`] at a time.
fn longest_prefix(chars: impl Iterator<Item = char>, width: usize) -> usize {
    let (mut bytes, mut columns, mut marks) = (0, 0_usize, 0);
    for c in chars {
        if columns > width {
            break;
        }
        bytes += c.len_utf8();
        let joins = !c.is_ascii() && char_width(c) == 0;
        marks = if joins { marks + 1 } else { 0 };
        columns += usize::from(!joins || marks > MARKS);
    }
    count_inspected(bytes);
    bytes
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

/// Where the scheme of a URL with a host ends, its `://` included; 0 of a path.
fn scheme_end(text: &str) -> usize {
    text.find("://").map_or(0, |at| at + "://".len())
}

/// Where the host of a URL ends; 0 of a path.
fn origin_end(text: &str) -> usize {
    match scheme_end(text) {
        0 => 0,
        host => text[host..].find(['/', '?', '#']).map_or(text.len(), |at| host + at),
    }
}

/// Where the first of several segments of a path ends, its final slash included; 0 where there is but one.
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
    fn names_keep_both_ends() {
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

    /// Texts of five million bytes and more, of everything that has made them slow.
    fn endless() -> Vec<String> {
        ["abcdefghi/", "äbcdéfghi-日本", "word ", "\u{301}", "\u{202e}", "\t", "👩\u{200d}💻", "?&a="]
            .into_iter()
            .map(|part| format!("https://e.com/a{}", part.repeat(5_000_000 / part.len())))
            .collect()
    }

    #[test]
    fn no_more_of_a_text_is_looked_at_than_can_be_seen() {
        for text in &endless() {
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
    fn marks_over_one_base_are_shown_as_long_as_they_can_be_told_apart() {
        let text = format!("a{}", "\u{301}".repeat(40));
        let visible = Charset::Unicode.visible(&text).into_owned();
        assert_eq!(visible.matches('\u{301}').count(), MARKS);
        assert_eq!(visible.matches("‹0301›").count(), 40 - MARKS);
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
        fn the_ends_that_are_looked_at_fill_their_width(text in any::<String>(), width in 0_usize..40) {
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
        fn what_is_cut_is_marked(text in any_text(), width in 1_usize..60, ascii: bool) {
            let charset = if ascii { Charset::Ascii } else { Charset::Unicode };
            if charset.width(&text) > width {
                for out in [charset.cut(&text, width), charset.elide(&text, width), charset.elide_middle(&text, width).into()] {
                    prop_assert!(out.contains(charset.ellipsis()) && columns(&out) <= width, "{:?} became {:?}", text, out);
                }
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
