//! Parses the commands `data`, `probe`, `dates`, `open` and `set-base-url`.

use super::Reader;
use crate::files::dates::{SourceMap, TimeSource};
use crate::session::command::{
    ALLOW_PRIVATE, CONCURRENCY, Command, CommandError, DataCommand, INTO, ProbeCommand, ProbeOptions, RATE,
    REWRITE_INDEX, SourceDates, Tables,
};

impl Reader<'_> {
    /// Parses `data`: tables to read, or a word.
    pub(super) fn data(&mut self, replace: bool) -> Result<Command, CommandError> {
        let mut tables = Tables { replace, ..Tables::default() };
        let mut words = Vec::new();
        while !self.scanner.is_done() {
            let is_quoted = self.scanner.peek() == Some('"');
            let (word, span) = self.word()?;
            self.scanner.skip_spaces();
            if word == "--key" && !is_quoted {
                if self.scanner.is_done() {
                    return Err(self.expected("the name of the column of URLs, or its number"));
                }
                tables.key = Some(self.word()?.0);
                self.scanner.skip_spaces();
            } else if word.starts_with("--") && !is_quoted {
                return Err(CommandError::new(span, "expected --key COLUMN, or the path of a table"));
            } else {
                words.push((word, is_quoted, span));
            }
        }
        let is_bare = tables.key.is_none() && !replace;
        Ok(Command::Data(match words.as_slice() {
            [] if is_bare => DataCommand::List,
            [] => return Err(self.expected("the path of a table")),
            [(word, false, _)] if word == "missing" && is_bare => DataCommand::Missing,
            [(word, false, _)] if word == "off" && is_bare => DataCommand::Off,
            [.., (word, _, span)] if word.is_empty() => {
                return Err(CommandError::new(span.clone(), "expected the path of a table"));
            }
            _ => {
                tables.paths = words.into_iter().map(|(word, ..)| word).collect();
                DataCommand::Read(tables)
            }
        }))
    }

    /// Parses `probe`: rows to be requested, or a file for the results.
    pub(super) fn probe(&mut self) -> Result<Command, CommandError> {
        let rest = self.scanner.rest();
        if rest == "write" || rest.starts_with("write ") {
            self.scanner.consume("write");
            self.scanner.skip_spaces();
            let path = self.text()?.filter(|path| !path.is_empty());
            let path = path.ok_or_else(|| self.expected("the path of a new file"))?;
            return Ok(Command::Probe(ProbeCommand::Write(path)));
        }
        let mut options = ProbeOptions::default();
        loop {
            if self.scanner.consume(ALLOW_PRIVATE) {
                options.allow_private = true;
            } else if self.scanner.consume(RATE) {
                let is_rate = |rate: &f64| rate.is_finite() && *rate >= 0.0;
                options.rate =
                    Some(self.number("a number of requests per second, such as 5 or 0.5; 0 means no limit", is_rate)?);
            } else if self.scanner.consume(CONCURRENCY) {
                let is_count = |count: &u16| (1..=256).contains(count);
                options.concurrency = Some(self.number("a number of concurrent requests, from 1 to 256", is_count)?);
            } else {
                break;
            }
            self.scanner.skip_spaces();
        }
        Ok(Command::Probe(ProbeCommand::Request { scope: self.scope()?, options }))
    }

    /// A word that is a number in a range.
    fn number<N: std::str::FromStr>(&mut self, what: &str, is_right: impl Fn(&N) -> bool) -> Result<N, CommandError> {
        self.scanner.skip_spaces();
        let (word, span) = self.word()?;
        let number = word.parse().ok().filter(is_right);
        number.ok_or_else(|| CommandError::new(span, format!("expected {what}")))
    }

    /// Parses `set-base-url`: a URL, and whether to rewrite the index.
    pub(super) fn base(&mut self) -> Result<Command, CommandError> {
        if self.scanner.is_done() {
            return Err(self.expected("a URL"));
        }
        let (url, _) = self.word()?;
        self.scanner.skip_spaces();
        let command =
            if self.scanner.consume(REWRITE_INDEX) { Command::RebaseIndex(url) } else { Command::SetBaseUrl(url) };
        self.end(command)
    }

    /// Parses `open`: a URL, and the folder that the files go into.
    pub(super) fn open(&mut self, discard: bool) -> Result<Command, CommandError> {
        if self.scanner.is_done() {
            return Err(self.expected("a URL"));
        }
        let (url, _) = self.word()?;
        self.scanner.skip_spaces();
        let mut into = None;
        if self.scanner.consume(INTO) {
            self.scanner.skip_spaces();
            if self.scanner.is_done() {
                return Err(self.expected("a folder"));
            }
            into = Some(self.word()?.0);
        }
        self.end(Command::Open { url, into, discard })
    }

    /// Parses `dates`: the source of the dates of pages.
    pub(super) fn dates(&mut self) -> Result<Command, CommandError> {
        let (mut words, mut maps) = (Vec::new(), Vec::new());
        while !self.scanner.is_done() {
            let is_quoted = self.scanner.peek() == Some('"');
            let (word, span) = self.word()?;
            self.scanner.skip_spaces();
            if word == "--map" && !is_quoted {
                if self.scanner.is_done() {
                    return Err(self.expected("PATTERN = PATH, in quotes"));
                }
                let (map, span) = self.word()?;
                SourceMap::parse(&[&map]).map_err(|error| CommandError::new(span, error.to_string()))?;
                maps.push(map);
                self.scanner.skip_spaces();
            } else if word.starts_with("--") && !is_quoted {
                return Err(CommandError::new(span, "expected --map \"PATTERN = PATH\", or a folder"));
            } else {
                words.push(word);
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let source = match words.as_slice() {
            ["git"] => TimeSource::Git(".".into()),
            ["git", folder] => TimeSource::Git(folder.into()),
            ["mtime", folder] => TimeSource::Folder(folder.into()),
            _ => return Err(self.expected("git, or mtime with the folder of the sources")),
        };
        Ok(Command::Data(DataCommand::Dates(SourceDates { source, maps })))
    }
}
