//! Lines of text in which each piece has a role instead of a style.
//!
//! `show` creates them; drawing positions and styles them. The text may contain any character: it is
//! made visible when it is drawn.

use super::text::{self, Charset};
use super::theme::Role;
use std::borrow::Cow;

/// Maximum number of lines that words are wrapped into, since a value may have megabytes.
const MAX_LINES: usize = 100;

/// Minimum number of free columns in a line to begin a word there that is longer than a line.
const MIN_BROKEN_WIDTH: usize = 24;

/// A piece of text and its role.
pub(crate) type Piece = (Role, Cow<'static, str>);

/// Pieces of text on one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words(Vec<Piece>);

impl Words {
    /// No words.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Ordinary text.
    pub(crate) fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new().and(Role::Text, text)
    }

    /// Less important text.
    pub(crate) fn dim(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new().and(Role::Dim, text)
    }

    /// Appends a piece and returns the words.
    #[must_use]
    pub(crate) fn and(mut self, role: Role, text: impl Into<Cow<'static, str>>) -> Self {
        self.push(role, text);
        self
    }

    /// Appends a piece; empty text is ignored.
    pub(crate) fn push(&mut self, role: Role, text: impl Into<Cow<'static, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push((role, text));
        }
    }

    /// Appends other words.
    pub(crate) fn append(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Appends other words and returns the result.
    #[must_use]
    pub(crate) fn joined(mut self, more: Self) -> Self {
        self.append(more);
        self
    }

    /// Appends a key and its action, as in footers: `↵ edit`, after a gap if the words are not empty.
    pub(crate) fn key(&mut self, key: impl Into<Cow<'static, str>>, does: impl Into<Cow<'static, str>>) {
        if !self.0.is_empty() {
            self.push(Role::Text, "   ");
        }
        self.push(Role::Key, key);
        self.push(Role::Text, " ");
        self.push(Role::Dim, does);
    }

    /// Whether there are no words.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pieces.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The number of columns.
    pub(crate) fn width(&self, charset: Charset) -> usize {
        self.0.iter().map(|(_, text)| charset.width(text)).sum()
    }

    /// Wraps the words to lines of at most `width` columns; lines after the first are indented by
    /// `indent` columns. Text after the first 100 lines is cut.
    pub(crate) fn wrapped(&self, charset: Charset, width: usize, indent: usize) -> Vec<Self> {
        self.wrapped_in(charset, width, indent, MAX_LINES)
    }

    /// Like [`Words::wrapped`], but in at most `max_lines` lines; an ellipsis marks cut text.
    pub(crate) fn wrapped_in(&self, charset: Charset, width: usize, indent: usize, max_lines: usize) -> Vec<Self> {
        let mut lines = self.lines(charset, width, indent, max_lines);
        if lines.len() > max_lines {
            lines.truncate(max_lines);
            if let Some(last) = lines.last_mut() {
                last.push(Role::Dim, charset.ellipsis());
            }
        }
        lines
    }

    /// Returns all lines, or at least one more than `max_lines`.
    fn lines(&self, charset: Charset, width: usize, indent: usize, max_lines: usize) -> Vec<Self> {
        let (mut lines, mut line, mut used) = (Vec::new(), Self::new(), 0);
        let indent = if indent * 2 > width { 0 } else { indent };
        for (role, text) in &self.0 {
            let room = (max_lines + 1).saturating_sub(lines.len());
            if room == 0 {
                break;
            }
            let visible = charset.visible(text::start(text, width.max(1).saturating_mul(room)));
            let mut rest: &str = &visible;
            while !rest.is_empty() {
                let end = rest.find(' ').map_or(rest.len(), |at| at + rest[at..].len() - rest[at..].trim_start().len());
                let (mut word, after) = rest.split_at(end);
                let mut columns = charset.width(word.trim_end());
                let remaining = width.saturating_sub(used);
                if columns > width - indent.min(width) && used > indent && remaining >= MIN_BROKEN_WIDTH {
                    // The word must be broken anyway, so it begins on this line.
                    let first = charset.wrap(word.trim_end(), remaining).into_iter().next().unwrap_or_default();
                    word = word.get(first.len()..).unwrap_or_default();
                    columns = charset.width(word.trim_end());
                    line.push(*role, first);
                    lines.push(std::mem::take(&mut line));
                    line.push(Role::Text, " ".repeat(indent));
                    used = indent;
                } else if used + columns > width && used > indent {
                    lines.push(std::mem::take(&mut line));
                    line.push(Role::Text, " ".repeat(indent));
                    used = indent;
                }
                if columns > width - indent.min(width) && columns > 0 {
                    // A word longer than a line is broken after the separators of URLs.
                    let mut parts =
                        charset.wrap(word.trim_end(), (width - indent.min(width)).max(1)).into_iter().peekable();
                    while let Some(part) = parts.next() {
                        used += charset.width(&part);
                        line.push(*role, part);
                        if parts.peek().is_some() {
                            lines.push(std::mem::take(&mut line));
                            line.push(Role::Text, " ".repeat(indent));
                            used = indent;
                        }
                    }
                } else {
                    line.push(*role, word.to_owned());
                    used += charset.width(word);
                }
                rest = after;
            }
        }
        if !line.is_empty() || lines.is_empty() {
            lines.push(line);
        }
        lines
    }
}

/// One line of the screen: words at the left, and words at the right that are shown if there is room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The words at the left edge.
    pub left: Words,
    /// The words at the right edge.
    pub right: Words,
}

impl From<Words> for Line {
    fn from(left: Words) -> Self {
        Self { left, right: Words::new() }
    }
}

impl Line {
    /// A line with words on both sides.
    pub(crate) const fn new(left: Words, right: Words) -> Self {
        Self { left, right }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(words: &Words) -> String {
        words.pieces().iter().map(|(_, text)| text.as_ref()).collect()
    }

    #[test]
    fn words_wrap_between_words() {
        let words = Words::text("a few words ").and(Role::Bold, "and bold ones");
        let lines: Vec<String> = words.wrapped(Charset::Unicode, 12, 2).iter().map(plain).collect();
        assert_eq!(lines, ["a few words ", "  and bold ", "  ones"]);
        let url = Words::text("https://example.com/some/long/path");
        let lines: Vec<String> = url.wrapped(Charset::Unicode, 20, 0).iter().map(plain).collect();
        assert_eq!(lines, ["https://example.com/", "some/long/path"]);
    }

    #[test]
    fn a_word_longer_than_a_line_begins_on_the_current_line() {
        let words = Words::text("loc  ").and(Role::Text, "https://example.com/a-rather-long/path/of/a/page");
        let lines: Vec<String> = words.wrapped(Charset::Unicode, 40, 5).iter().map(plain).collect();
        assert_eq!(lines, ["loc  https://example.com/a-rather-long/", "     path/of/a/page"]);
    }

    #[test]
    fn long_values_are_cut_to_the_maximum_number_of_lines() {
        for part in ["abcdefghi/", "äé日本-", "word ", "\u{301}", " "] {
            let words = Words::dim("loc  ").and(Role::Bold, part.repeat(5_000_000 / part.len()));
            let (lines, looked) = text::count::of(|| words.wrapped_in(Charset::Unicode, 60, 4, 10));
            assert!(lines.len() <= 10 && looked < 256 * 1024, "{} lines, {looked} bytes of {part:?}", lines.len());
            let (lines, looked) = text::count::of(|| words.wrapped(Charset::Unicode, 60, 4));
            assert!(lines.len() <= MAX_LINES && looked < 4 << 20, "{} lines, {looked} bytes of {part:?}", lines.len());
        }
        let lines = Words::text("a/".repeat(1000)).wrapped_in(Charset::Unicode, 20, 0, 3);
        assert_eq!(
            lines.iter().map(plain).collect::<Vec<_>>(),
            ["a/".repeat(10), "a/".repeat(10), "a/".repeat(10) + "…"]
        );
    }

    proptest! {
        #[test]
        fn wrapped_lines_fit(text in "[a-z/ 日é]{0,60}", width in 2_usize..30, indent in 0_usize..6) {
            for line in Words::text(text).wrapped(Charset::Unicode, width, indent) {
                prop_assert!(Charset::Unicode.width(plain(&line).trim_end()) <= width, "{:?}", line);
            }
        }
    }
}
