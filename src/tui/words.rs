//! Lines of words, each with a role: what is said, not yet how it looks.
//!
//! The state writes these; drawing gives them a place and a style. Text in here may hold anything: it is
//! made visible when it is drawn.

use super::text::Charset;
use super::theme::Role;
use std::borrow::Cow;

/// Some text in one role.
pub type Piece = (Role, Cow<'static, str>);

/// A line, or the start of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(Vec<Piece>);

impl Words {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Ordinary text.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new().and(Role::Text, text)
    }

    /// What matters less.
    pub fn dim(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new().and(Role::Dim, text)
    }

    /// These words and more.
    #[must_use]
    pub fn and(mut self, role: Role, text: impl Into<Cow<'static, str>>) -> Self {
        self.push(role, text);
        self
    }

    /// Adds more.
    pub fn push(&mut self, role: Role, text: impl Into<Cow<'static, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push((role, text));
        }
    }

    /// Adds all of another line.
    pub fn append(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// These words with others after them.
    #[must_use]
    pub fn joined(mut self, more: Self) -> Self {
        self.append(more);
        self
    }

    /// A key and what it does, as footers show them: `↵ edit`, after a gap if there is something before.
    pub fn key(&mut self, key: impl Into<Cow<'static, str>>, does: impl Into<Cow<'static, str>>) {
        if !self.0.is_empty() {
            self.push(Role::Text, "   ");
        }
        self.push(Role::Key, key);
        self.push(Role::Text, " ");
        self.push(Role::Dim, does);
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// Columns that it takes.
    pub fn width(&self, charset: Charset) -> usize {
        self.0.iter().map(|(_, text)| charset.width(text)).sum()
    }

    /// The same words in lines of at most `width` columns, broken between words; further lines start
    /// `indent` columns in.
    pub fn wrapped(&self, charset: Charset, width: usize, indent: usize) -> Vec<Self> {
        let (mut lines, mut line, mut used) = (Vec::new(), Self::new(), 0);
        let indent = if indent * 2 > width { 0 } else { indent };
        for (role, text) in &self.0 {
            let visible = charset.visible(text);
            let mut rest: &str = &visible;
            while !rest.is_empty() {
                let end = rest.find(' ').map_or(rest.len(), |at| at + rest[at..].len() - rest[at..].trim_start().len());
                let (word, after) = rest.split_at(end);
                let columns = charset.width(word.trim_end());
                if used + columns > width && used > indent {
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

/// One line of the screen: words from the left, and words that stand at the right where there is room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
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
    pub const fn new(left: Words, right: Words) -> Self {
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

    proptest! {
        #[test]
        fn wrapped_lines_fit(text in "[a-z/ 日é]{0,60}", width in 2_usize..30, indent in 0_usize..6) {
            for line in Words::text(text).wrapped(Charset::Unicode, width, indent) {
                prop_assert!(Charset::Unicode.width(plain(&line).trim_end()) <= width, "{:?}", line);
            }
        }
    }
}
