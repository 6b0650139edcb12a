//! The formats of `check`. The text of a finding needs no other finding: with more than two threads it is made on all of
//! them, and written in order.

use super::super::json_text::{JsonList, quoted};
use super::super::output::{self, FindingView};
use super::super::report::{self, JunitReport, SarifLog};
use crate::protocol::Severity;
use crate::session::grouping::Extent;
use crate::session::located_finding::LocatedFinding;
use crate::session::report::Summary;
use rayon::prelude::*;
use std::borrow::Cow;
use std::io::{self, Write};

/// Number of findings whose text one task makes.
const TASK_FINDINGS: usize = 1 << 7;

/// Number of threads from which the text is made on all of them. Two are busy with the messages of the next rows for as
/// long as this one makes the text.
const MIN_THREADS: usize = 3;

/// Usual number of bytes of a finding, for which a task allocates at once.
const FINDING_BYTES: usize = 400;

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

/// A finding as it is listed: one place, or a group of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listed<F> {
    pub(super) found: F,
    /// Number of places and rows of a group.
    pub(super) extent: Option<Extent>,
}

impl Listed<LocatedFinding> {
    pub(super) const fn as_ref(&self) -> Listed<&LocatedFinding> {
        Listed { found: &self.found, extent: self.extent }
    }
}

impl Format {
    /// Prints findings, or spools them. `fails` are the severities that lead to exit status 1.
    pub(super) fn print(
        &mut self,
        listed: &[Listed<&LocatedFinding>],
        fails: &(dyn Fn(Severity) -> bool + Sync),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if let Self::Sarif(log) = self {
            for Listed { found, .. } in listed {
                log.add_rule(found.finding.rule);
            }
        }
        let of_files = listed.chunk_by(|one, next| one.found.file == next.found.file);
        let tasks: Vec<&[Listed<&LocatedFinding>]> =
            of_files.flat_map(|of_file| of_file.chunks(TASK_FINDINGS)).collect();
        let text = |of_file: &&[Listed<&LocatedFinding>]| self.text(of_file, fails);
        if tasks.len() < 2 || rayon::current_num_threads() < MIN_THREADS {
            return tasks.into_iter().try_for_each(|of_file| {
                let text = self.text(of_file, fails);
                self.write(of_file, &text, fails, out)
            });
        }
        let texts: Vec<Vec<u8>> = tasks.par_iter().map(text).collect();
        for (of_file, text) in tasks.into_iter().zip(texts) {
            self.write(of_file, &text, fails, out)?;
        }
        Ok(())
    }

    /// The text of findings of one file.
    fn text(&self, of_file: &[Listed<&LocatedFinding>], fails: &(dyn Fn(Severity) -> bool + Sync)) -> Vec<u8> {
        let mut text = Vec::with_capacity(of_file.len() * FINDING_BYTES);
        let file = of_file.first().map_or("", |listed| &*listed.found.file);
        // The name of the file as the format writes it.
        let file: Cow<'_, str> = match self {
            Self::Sarif(_) => report::uri(file).into(),
            Self::Github => report::property(file),
            Self::Junit(_) => report::attribute(file),
            Self::Json(_) => quoted(file).into(),
            Self::Text(_) | Self::Lines { .. } => file.into(),
        };
        for Listed { found, extent } in of_file {
            let (count, rows) = (extent.map(|extent| extent.places), extent.map(|extent| extent.rows));
            let shown = FindingView { count, rows, ..FindingView::from(*found) };
            match self {
                Self::Text(_) => {}
                Self::Lines { colour } => output::push_finding(&mut text, &shown, *colour),
                Self::Github => report::push_annotation(&mut text, &shown, &file),
                Self::Json(_) => shown.push_json(&mut text, &file),
                Self::Sarif(log) => log.push(&mut text, &shown, &file),
                Self::Junit(_) => {
                    report::push_test_case(&mut text, &shown, &file, fails(found.finding.severity));
                }
            }
        }
        text
    }

    /// Writes or spools the text of findings of one file.
    fn write(
        &mut self,
        of_file: &[Listed<&LocatedFinding>],
        text: &[u8],
        fails: &(dyn Fn(Severity) -> bool + Sync),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Text(_) => Ok(()),
            Self::Lines { .. } | Self::Github => out.write_all(text),
            Self::Json(findings) => findings.write(text, out),
            Self::Sarif(log) => log.write(text, out),
            Self::Junit(cases) => {
                let failures = of_file.iter().filter(|listed| fails(listed.found.finding.severity)).count();
                let file = of_file.first().map_or("", |listed| &*listed.found.file);
                cases.add(file, text, (of_file.len(), failures))
            }
        }
    }
}
