//! The formats of `check`.
//!
//! The text of a finding needs no other finding, so a [`Renderer`] makes it on the thread that made the finding.

use super::super::finding_filter::Failing;
use super::super::json_text::{JsonList, escaped};
use super::super::output::{self, FindingView};
use super::super::report::{self, JunitReport, SarifLog, SarifRules};
use crate::buffer_pool::BufferPool;
use crate::check::Finding;
use crate::check::rule::{Rule, RuleSet};
use crate::protocol::Severity;
use crate::session::grouping::Extent;
use crate::session::located_finding::LocatedFinding;
use crate::session::report::{Render, Summary};
use rayon::prelude::*;
use std::borrow::Cow;
use std::io::{self, Write};

/// Number of findings whose text a task of [`Format::print`] makes.
const TEXT_FINDINGS: usize = 1 << 10;

/// Number of tasks whose texts are in memory at once; fewer tasks are not worth other threads.
const PIECES_AT_ONCE: usize = 1 << 6;

/// Number of bytes that most findings take in any format, for which a text is allocated at once.
const FINDING_BYTES: usize = 640;

/// The output format. Findings are printed immediately if the format allows it, and use no memory then.
pub(super) enum Format {
    /// Grouped by rule and file; printed at the end.
    Text(Summary),
    /// Text with one line per finding.
    Lines {
        /// Whether places and severities are coloured.
        colour: bool,
    },
    Github,
    Json(JsonList),
    Sarif(SarifLog),
    /// The number of findings of a file precedes them.
    Junit(JunitReport),
}

/// How the text of a finding is written.
#[derive(Debug, Clone)]
enum Style {
    Lines { colour: bool },
    Github,
    Json,
    Sarif(SarifRules),
    Junit(Failing),
}

/// A finding as it is listed: one place, or a group of them.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) found: LocatedFinding,
    /// Number of places and rows of a group.
    pub(super) extent: Option<Extent>,
}

/// Makes the text of findings, unless what is printed of them depends on others. The default leaves them as they are.
#[derive(Default)]
pub(super) struct Renderer {
    style: Option<Style>,
    /// Rules whose findings are not reported.
    excluded: RuleSet,
    /// Memory for texts.
    buffers: BufferPool,
}

/// Findings of some rows of a file.
pub(super) enum Rendered {
    /// The findings as they are; their text depends on others.
    Findings(Vec<LocatedFinding>),
    /// Their text.
    Text(FindingsText),
}

/// The text of findings of some rows of a file.
pub(super) struct FindingsText {
    pub(super) text: Vec<u8>,
    /// The numbers of findings in the text.
    pub(super) counts: Vec<(Rule, Severity, u64)>,
    /// Findings that are not in the text, since they are listed together with others as one.
    pub(super) grouped: Vec<LocatedFinding>,
}

impl Render for Renderer {
    type Output = Rendered;

    fn render(&self, found: &mut Vec<LocatedFinding>) -> Rendered {
        let Some(style) = self.style.as_ref().filter(|style| style.knows_rules_of(found)) else {
            return Rendered::Findings(std::mem::take(found));
        };
        found.retain(|found| !self.excluded.contains(found.finding.rule));
        let grouped = found.extract_if(.., |found| found.finding.rule.grouping().is_some()).collect();
        let mut counts: Vec<(Rule, Severity, u64)> = Vec::new();
        for Finding { rule, severity, .. } in found.iter().map(|found| &found.finding) {
            match counts.iter_mut().find(|(known, of, _)| (known, of) == (rule, severity)) {
                Some((.., count)) => *count += 1,
                None => counts.push((*rule, *severity, 1)),
            }
        }
        let mut text = self.buffers.take();
        style.push_text(&mut text, found.iter().map(|found| (found, None)));
        Rendered::Text(FindingsText { text, counts, grouped })
    }
}

impl Style {
    /// Whether the text of these findings can be made now: a SARIF result has the number of its rule.
    fn knows_rules_of(&self, found: &[LocatedFinding]) -> bool {
        match self {
            Self::Sarif(rules) => found.iter().all(|found| rules.index_of(found.finding.rule.code()).is_some()),
            Self::Lines { .. } | Self::Github | Self::Json | Self::Junit(_) => true,
        }
    }

    /// The name of a file as the format writes it.
    fn file<'t>(&self, name: &'t str) -> Cow<'t, str> {
        match self {
            Self::Sarif(_) => report::uri(name).into(),
            Self::Github => report::property(name),
            Self::Junit(_) => report::attribute(name),
            Self::Json => escaped(name),
            Self::Lines { .. } => name.into(),
        }
    }

    /// A URL as the format writes it.
    fn loc<'t>(&self, loc: &'t str) -> Cow<'t, str> {
        match self {
            Self::Sarif(_) | Self::Json => escaped(loc),
            Self::Github => report::data(loc),
            Self::Junit(_) => report::attribute(loc),
            // Lines have no URL.
            Self::Lines { .. } => loc.into(),
        }
    }

    /// Appends the text of findings of one file.
    fn push_text<'f>(
        &self,
        text: &mut Vec<u8>,
        of_file: impl ExactSizeIterator<Item = (&'f LocatedFinding, Option<Extent>)>,
    ) {
        text.reserve(of_file.len() * FINDING_BYTES);
        let mut of_file = of_file.peekable();
        let file = self.file(of_file.peek().map_or("", |(found, _)| &*found.file));
        // The URL of the last finding, and how the format writes it: the findings of a row have the same.
        let (mut last, mut loc): (&str, Cow<'_, str>) = ("", "".into());
        for (found, extent) in of_file {
            if *last != *found.loc {
                (last, loc) = (&found.loc, self.loc(&found.loc));
            }
            let (count, rows) = (extent.map(|extent| extent.places), extent.map(|extent| extent.rows));
            let unescaped = FindingView::from(found);
            let shown = FindingView { file: &file, loc: unescaped.loc.map(|_| &*loc), count, rows, ..unescaped };
            match self {
                Self::Lines { colour } => output::push_finding(text, &shown, *colour),
                Self::Github => report::push_annotation(text, &shown),
                Self::Json => shown.push_json(text),
                Self::Sarif(rules) => rules.push(text, &shown),
                Self::Junit(fails) => {
                    report::push_test_case(text, &shown, fails.contains(found.finding.severity));
                }
            }
        }
    }
}

impl Format {
    /// A renderer for findings of all but some rules, which takes the memory of texts from a pool.
    pub(super) fn renderer(&self, excluded: RuleSet, fails: Failing, buffers: BufferPool) -> Renderer {
        Renderer { style: self.style(fails), excluded, buffers }
    }

    fn style(&self, fails: Failing) -> Option<Style> {
        Some(match self {
            Self::Text(_) => return None,
            Self::Lines { colour } => Style::Lines { colour: *colour },
            Self::Github => Style::Github,
            Self::Json(_) => Style::Json,
            Self::Sarif(log) => Style::Sarif(log.rules.clone()),
            Self::Junit(_) => Style::Junit(fails),
        })
    }

    /// Prints findings, or spools them.
    pub(super) fn print(&mut self, listed: &[Listed], fails: Failing, out: &mut dyn Write) -> io::Result<()> {
        if let Self::Sarif(log) = self {
            for Listed { found, .. } in listed {
                log.rules.add(found.finding.rule);
            }
        }
        let Some(style) = self.style(fails) else { return Ok(()) };
        let of_files = listed.chunk_by(|one, next| one.found.file == next.found.file);
        let pieces: Vec<&[Listed]> = of_files.flat_map(|of_file| of_file.chunks(TEXT_FINDINGS)).collect();
        let text = |piece: &[Listed]| {
            let mut text = Vec::new();
            style.push_text(&mut text, piece.iter().map(|listed| (&listed.found, listed.extent)));
            text
        };
        // The text of a few pieces is made here: the other threads may be busy with the findings of the next rows.
        let is_parallel = pieces.len() >= PIECES_AT_ONCE;
        for pieces in pieces.chunks(if is_parallel { PIECES_AT_ONCE } else { 1 }) {
            let texts: Vec<Vec<u8>> = if is_parallel {
                pieces.par_iter().map(|piece| text(piece)).collect()
            } else {
                pieces.iter().map(|piece| text(piece)).collect()
            };
            for (piece, text) in pieces.iter().zip(&texts) {
                let file = piece.first().map_or("", |listed| &*listed.found.file);
                let failures = piece.iter().filter(|listed| fails.contains(listed.found.finding.severity)).count();
                self.write(file, text, (piece.len() as u64, failures as u64), out)?;
            }
        }
        Ok(())
    }

    /// Writes or spools the text of findings of one file, and adds their number and that of failures.
    pub(super) fn write(&mut self, file: &str, text: &[u8], counts: (u64, u64), out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Text(_) => Ok(()),
            Self::Lines { .. } | Self::Github => out.write_all(text),
            Self::Json(findings) => findings.write(text, out),
            Self::Sarif(log) => log.write(text, out),
            Self::Junit(cases) => cases.add(file, text, counts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn texts_that_are_made_on_all_cores_stay_in_order() {
        let located = |number: usize| {
            let finding = Finding::new(Rule::LOC_FRAGMENT, Severity::Note, number.to_string());
            LocatedFinding { file: Arc::default(), at: None, loc: Arc::default(), finding }
        };
        let listed: Vec<Listed> = (0..=PIECES_AT_ONCE * TEXT_FINDINGS)
            .map(|number| Listed { found: located(number), extent: None })
            .collect();
        let mut out = Vec::new();
        let mut format = Format::Lines { colour: false };
        format.print(&listed, Failing::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let numbers = text.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap());
        assert!(numbers.eq(0..listed.len()));
    }
}
