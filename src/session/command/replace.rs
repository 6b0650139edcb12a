//! The command `s/RE/REPL/`: its syntax, and its effect on a URL.
//!
//! The replacement is parsed with the line, so a group that does not exist is a syntax error and
//! never a silent gap in a URL.

use crate::document::query::regex_message;
use crate::session::command::CommandError;
use crate::xml::escape::is_xml_char;
use regex::{Regex, RegexBuilder};
use std::fmt;
use std::ops::Range;

/// The most memory the compiled expression may take, in bytes.
const REGEX_LIMIT: usize = 1 << 20;

/// A replacement in URLs. Its canonical text has `/` between the parts.
#[derive(Debug, Clone)]
pub struct Replace {
    pattern: String,
    pieces: Vec<Piece>,
    all: bool,
    any_case: bool,
    targets: Targets,
    regex: Regex,
}

/// The URLs that a replacement changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets {
    /// URLs of rows.
    pub loc: bool,
    /// URLs of alternate links.
    pub alternates: bool,
    /// URLs of images.
    pub images: bool,
    /// URLs of videos.
    pub videos: bool,
    /// URLs of entries of the index.
    pub index: bool,
}

impl Default for Targets {
    fn default() -> Self {
        Self { loc: true, ..Self::NONE }
    }
}

impl Targets {
    const NONE: Self = Self { loc: false, alternates: false, images: false, videos: false, index: false };
    const ALL: Self = Self { loc: true, alternates: true, images: true, videos: true, index: true };
    /// The names of the targets.
    pub const NAMES: [&'static str; 6] = ["loc", "alternates", "images", "videos", "index", "all"];

    /// Parses names separated by commas.
    pub fn from_names(names: &str) -> Option<Self> {
        let mut targets = Self::NONE;
        for name in names.split(',') {
            match name {
                "loc" => targets.loc = true,
                "alternates" => targets.alternates = true,
                "images" => targets.images = true,
                "videos" => targets.videos = true,
                "index" => targets.index = true,
                "all" => targets = Self::ALL,
                _ => return None,
            }
        }
        Some(targets)
    }

    /// The accepted names, for a message.
    pub fn expected() -> String {
        format!("{}, or several of them separated by commas", Self::NAMES.join(", "))
    }

    /// Whether alternates, images and videos are targets.
    pub const fn extensions(self) -> [bool; 3] {
        [self.alternates, self.images, self.videos]
    }

    /// Whether no URL of a row is a target.
    pub fn is_index_only(self) -> bool {
        self == Self { index: true, ..Self::NONE }
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("all");
        }
        let targets = [self.loc, self.alternates, self.images, self.videos, self.index];
        let names = Self::NAMES.into_iter().zip(targets).filter(|(_, is_target)| *is_target).map(|(name, _)| name);
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
    Named(String),
}

/// The parts of `s/RE/REPL/gi` as they are in a line.
#[derive(Debug)]
pub(super) struct ReplaceParts<'t> {
    /// The line.
    pub line: &'t str,
    /// The byte range of the expression in the line.
    pub pattern: Range<usize>,
    /// The byte range of the replacement in the line.
    pub replacement: Range<usize>,
    /// The character between them.
    pub delimiter: char,
    /// `g`: every match in a URL, not just the first.
    pub all: bool,
    /// `i`: upper and lower case are the same.
    pub any_case: bool,
}

impl Replace {
    /// Builds a replacement.
    pub(super) fn new(parts: &ReplaceParts<'_>) -> Result<Self, CommandError> {
        let written = parts.line.get(parts.pattern.clone()).unwrap_or_default();
        let pattern = without_escapes(written, parts.delimiter);
        if pattern.is_empty() {
            return Err(CommandError::new(parts.pattern.clone(), "expected a regular expression"));
        }
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(parts.any_case)
            .size_limit(REGEX_LIMIT)
            .dfa_size_limit(REGEX_LIMIT)
            .build()
            .map_err(|error| CommandError::new(parts.pattern.clone(), regex_message(&error)))?;
        let typed = parts.line.get(parts.replacement.clone()).unwrap_or_default();
        if let Some(bad) = typed.chars().find(|character| !is_xml_char(*character)) {
            let message = format!("U+{:04X} cannot be written in XML; leave it out", bad as u32);
            return Err(CommandError::new(parts.replacement.clone(), message));
        }
        let pieces =
            Pieces { text: parts.line, at: parts.replacement.start, end: parts.replacement.end, found: Vec::new() }
                .read(parts.delimiter, &regex)?;
        Ok(Self { pattern, pieces, all: parts.all, any_case: parts.any_case, targets: Targets::default(), regex })
    }

    /// Builds a replacement from an expression and a replacement text without delimiters. Spans of errors are offsets
    /// into the two texts, joined by one byte.
    ///
    /// # Errors
    /// The expression is invalid, or the replacement names a group that it does not have.
    pub fn from_texts(pattern: &str, replacement: &str, all: bool, any_case: bool) -> Result<Self, CommandError> {
        let line = format!("{pattern}\0{replacement}");
        let (pattern, replacement) = (0..pattern.len(), pattern.len() + 1..line.len());
        Self::new(&ReplaceParts { line: &line, pattern, replacement, delimiter: '\0', all, any_case })
    }

    /// This replacement with other targets.
    #[must_use]
    pub const fn with_targets(mut self, targets: Targets) -> Self {
        self.targets = targets;
        self
    }

    /// The URLs that are rewritten.
    pub const fn targets(&self) -> Targets {
        self.targets
    }

    /// The URL rewritten, or `None` when the expression does not match it.
    pub fn apply(&self, loc: &str) -> Option<String> {
        let mut out = String::new();
        let mut copied = 0;
        let mut found = false;
        let limit = if self.all { usize::MAX } else { 1 };
        for captures in self.regex.captures_iter(loc).take(limit) {
            let Some(matched) = captures.get(0) else { continue };
            found = true;
            out.push_str(loc.get(copied..matched.start()).unwrap_or_default());
            copied = matched.end();
            for piece in &self.pieces {
                out.push_str(match piece {
                    Piece::Text(text) => text,
                    Piece::Group(index) => captures.get(*index).map_or("", |group| group.as_str()),
                    Piece::Named(name) => captures.name(name).map_or("", |group| group.as_str()),
                });
            }
        }
        found.then(|| out + loc.get(copied..).unwrap_or_default())
    }
}

/// The expression without the escapes that only the delimiter needs. `\/` and `/` mean the same in
/// an expression, so the first is always written as the second; `\|` has a meaning of its own.
fn without_escapes(written: &str, delimiter: char) -> String {
    let mut out = String::with_capacity(written.len());
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(next) if next == '/' || next == delimiter && next != '|' => out.push(next),
            Some(next) => out.extend(['\\', next]),
            None => out.push('\\'),
        }
    }
    out
}

/// Parses a replacement.
struct Pieces<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    found: Vec<Piece>,
}

impl<'t> Pieces<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn read(mut self, delimiter: char, regex: &Regex) -> Result<Vec<Piece>, CommandError> {
        while let Some(c) = self.rest().chars().next() {
            let start = self.at;
            self.at += c.len_utf8();
            let next = self.rest().chars().next();
            match (c, next) {
                ('\\', Some(escaped)) if matches!(escaped, '\\' | '/') || escaped == delimiter => {
                    self.at += escaped.len_utf8();
                    self.push(escaped);
                }
                ('\\' | '$', Some(digit)) if digit.is_ascii_digit() => {
                    // `\12` is group 1 and a 2, as in vim; `$12` is group 12.
                    let one = (c == '\\').then_some(1);
                    let name = self.take(one, |c| c.is_ascii_digit());
                    self.group(name, start, regex)?;
                }
                ('$', Some('$')) => {
                    self.at += 1;
                    self.push('$');
                }
                ('$', Some('{')) => {
                    self.at += 1;
                    let name = self.take(None, |c| c != '}');
                    if !self.rest().starts_with('}') {
                        return Err(CommandError::new(start..self.at, "expected `}` after the name of the group"));
                    }
                    self.at += 1;
                    self.group(name, start, regex)?;
                }
                ('$', Some(letter)) if letter.is_ascii_alphabetic() || letter == '_' => {
                    let name = self.take(None, |c| c.is_ascii_alphanumeric() || c == '_');
                    self.group(name, start, regex)?;
                }
                _ => self.push(c),
            }
        }
        Ok(self.found)
    }

    fn take(&mut self, limit: Option<usize>, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let len = limit.unwrap_or_else(|| rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    fn push(&mut self, c: char) {
        match self.found.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.found.push(Piece::Text(c.to_string())),
        }
    }

    fn group(&mut self, name: &str, start: usize, regex: &Regex) -> Result<(), CommandError> {
        let groups = regex.captures_len() - 1;
        let is_number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        let piece = if is_number {
            name.parse().ok().filter(|index| *index <= groups).map(Piece::Group)
        } else {
            regex.capture_names().flatten().find(|known| *known == name).map(|name| Piece::Named(name.to_owned()))
        };
        let Some(piece) = piece else {
            let message = format!("the expression has no group {name} (it has {groups}); $$ is a dollar sign");
            return Err(CommandError::new(start..self.at, message));
        };
        self.found.push(piece);
        Ok(())
    }
}

impl fmt::Display for Replace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pattern = String::new();
        let mut chars = self.pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '/' => pattern.push_str("\\/"),
                '\\' => pattern.extend([c].into_iter().chain(chars.next())),
                other => pattern.push(other),
            }
        }
        write!(f, "s/{pattern}/")?;
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(&text.replace('\\', "\\\\").replace('/', "\\/").replace('$', "$$"))?,
                Piece::Group(index) => write!(f, "${{{index}}}")?,
                Piece::Named(name) => write!(f, "${{{name}}}")?,
            }
        }
        write!(f, "/{}{}", if self.all { "g" } else { "" }, if self.any_case { "i" } else { "" })?;
        if self.targets == Targets::default() { Ok(()) } else { write!(f, " --in {}", self.targets) }
    }
}

impl PartialEq for Replace {
    fn eq(&self, other: &Self) -> bool {
        let key = |replace: &Self| (replace.all, replace.any_case, replace.targets);
        self.pattern == other.pattern && self.pieces == other.pieces && key(self) == key(other)
    }
}
