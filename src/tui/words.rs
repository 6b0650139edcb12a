//! Lines of words with roles, before they have a style.
//!
//! The state writes these; drawing gives them a place and a style. Text in here may hold anything: it is
//! made visible when it is drawn.

use super::text::{self, Charset};
use super::theme::Role;
use std::borrow::Cow;

/// Lines that words are broken into at most: a value may hold megabytes.
const LONGEST: usize = 100;

/// Columns at the end of a line from which on a word that is longer than a line begins there.
const BROKEN_FROM: usize = 24;

/// Some text in one role.
pub(crate) type Piece = (Role, Cow<'static, str>);

/// A line, or the start of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words(Vec<Piece>);

impl Words {
    /// Nothing yet.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Ordinary text.
    pub(crate) fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new().and(Role::Text, text)
    }

    /// What matters less.
    pub(crate) fn dim(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new().and(Role::Dim, text)
    }

    /// These words and more.
    #[must_use]
    pub(crate) fn and(mut self, role: Role, text: impl Into<Cow<'static, str>>) -> Self {
        self.push(role, text);
        self
    }

    /// Adds more.
    pub(crate) fn push(&mut self, role: Role, text: impl Into<Cow<'static, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push((role, text));
        }
    }

    /// Adds all of another line.
    pub(crate) fn append(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// These words with others after them.
    #[must_use]
    pub(crate) fn joined(mut self, more: Self) -> Self {
        self.append(more);
        self
    }

    /// A key and what it does, as footers show them: `↵ edit`, after a gap if there is something before.
    pub(crate) fn key(&mut self, key: impl Into<Cow<'static, str>>, does: impl Into<Cow<'static, str>>) {
        if !self.0.is_empty() {
            self.push(Role::Text, "   ");
        }
        self.push(Role::Key, key);
        self.push(Role::Text, " ");
        self.push(Role::Dim, does);
    }

    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pieces.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// Columns that it takes.
    pub(crate) fn width(&self, charset: Charset) -> usize {
        self.0.iter().map(|(_, text)| charset.width(text)).sum()
    }

    /// The same words in lines of at most `width` columns, broken between words; further lines start
    /// `indent` columns in. What would take more than 100 lines is cut.
    pub(crate) fn wrapped(&self, charset: Charset, width: usize, indent: usize) -> Vec<Self> {
        self.wrapped_in(charset, width, indent, LONGEST)
    }

    /// The same in at most so many lines; where more would follow, the last one ends in an ellipsis.
    pub(crate) fn wrapped_in(&self, charset: Charset, width: usize, indent: usize, most: usize) -> Vec<Self> {
        let mut lines = self.lines(charset, width, indent, most);
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                last.push(Role::Dim, charset.ellipsis());
            }
        }
        lines
    }

    /// All lines, or at least one more than `most`.
    fn lines(&self, charset: Charset, width: usize, indent: usize, most: usize) -> Vec<Self> {
        let (mut lines, mut line, mut used) = (Vec::new(), Self::new(), 0);
        let indent = if indent * 2 > width { 0 } else { indent };
        for (role, text) in &self.0 {
            let room = (most + 1).saturating_sub(lines.len());
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
                if columns > width - indent.min(width) && used > indent && remaining >= BROKEN_FROM {
                    // It is broken anyway: it begins where the words before it end.
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
                    // A word longer than a line is broken where URLs divide.
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

/// One line of the screen: words from the left, and words that are at the right where there is room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// From the left edge.
    pub left: Words,
    /// At the right edge.
    pub right: Words,
}

impl From<Words> for Line {
    fn from(left: Words) -> Self {
        Self { left, right: Words::new() }
    }
}

impl Line {
    /// Both sides.
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
    fn a_word_longer_than_a_line_begins_behind_the_words_before_it() {
        let words = Words::text("loc  ").and(Role::Text, "https://example.com/a-rather-long/path/of/a/page");
        let lines: Vec<String> = words.wrapped(Charset::Unicode, 40, 5).iter().map(plain).collect();
        assert_eq!(lines, ["loc  https://example.com/a-rather-long/", "     path/of/a/page"]);
    }

    #[test]
    fn long_values_are_cut_to_the_lines_that_they_get() {
        for part in ["abcdefghi/", "äé日本-", "word ", "\u{301}", " "] {
            let words = Words::dim("loc  ").and(Role::Bold, part.repeat(5_000_000 / part.len()));
            let (lines, looked) = text::count::of(|| words.wrapped_in(Charset::Unicode, 60, 4, 10));
            assert!(lines.len() <= 10 && looked < 256 * 1024, "{} lines, {looked} bytes of {part:?}", lines.len());
            let (lines, looked) = text::count::of(|| words.wrapped(Charset::Unicode, 60, 4));
            assert!(lines.len() <= LONGEST && looked < 4 << 20, "{} lines, {looked} bytes of {part:?}", lines.len());
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
