//! Findings as text for people: grouped by rule and file, errors first, with a table of rules at the end where not every
//! finding is listed.
//!
//! Invariant: what is held does not grow with the number of findings, only with the number of rules, as long as not
//! every finding is asked for.

use super::check::shown;
use super::output::{Paint, finding_text};
use crate::check::rule::Rule;
use crate::protocol::Severity;
use crate::session::findings::Reported;
use crate::words::{counted, grouped};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Places of one rule in one file that are printed.
const PLACES: usize = 5;

/// Files of which places are printed for one rule.
const FILES: usize = 20;

/// The findings of a run by severity, rule and file.
#[derive(Debug, Default)]
pub(super) struct TextReport {
    rules: BTreeMap<(Reverse<Severity>, usize), RuleGroup>,
    /// Rules in the order in which they were found first.
    order: Vec<Rule>,
}

/// The findings of one rule.
#[derive(Debug, Default)]
struct RuleGroup {
    /// In the order of the files.
    files: Vec<FileGroup>,
    /// Findings, those that are only counted among them.
    findings: u64,
}

/// The findings of one rule in one file.
#[derive(Debug)]
struct FileGroup {
    file: Arc<str>,
    first: Vec<Reported>,
    findings: u64,
}

impl TextReport {
    /// Takes in a finding that was counted; of most only the number is kept.
    pub(super) fn add(&mut self, found: &Reported) {
        let group = self.group(found.finding.rule, found.finding.severity);
        // The findings of a file follow each other, apart from those about the set.
        let known = group.files.iter().rposition(|of_file| of_file.file == found.file);
        let at = known.or_else(|| {
            let is_room = group.files.len() < FILES;
            is_room.then(|| {
                group.files.push(FileGroup { file: Arc::clone(&found.file), first: Vec::new(), findings: 0 });
                group.files.len() - 1
            })
        });
        let Some(of_file) = at.and_then(|at| group.files.get_mut(at)) else { return };
        of_file.findings += 1;
        if of_file.first.len() < PLACES {
            of_file.first.push(found.clone());
        }
    }

    /// Counts findings of a rule.
    pub(super) fn count(&mut self, rule: Rule, severity: Severity, findings: u64) {
        self.group(rule, severity).findings += findings;
    }

    fn group(&mut self, rule: Rule, severity: Severity) -> &mut RuleGroup {
        let place = self.order.iter().position(|known| *known == rule).unwrap_or_else(|| {
            self.order.push(rule);
            self.order.len() - 1
        });
        self.rules.entry((Reverse(severity), place)).or_default()
    }

    /// Prints the groups and, where not every finding is among them, the table.
    pub(super) fn print(&self, out: &mut dyn Write, colour: bool) -> io::Result<()> {
        let mut is_whole = true;
        for group in self.rules.values() {
            for of_file in &group.files {
                for found in &of_file.first {
                    finding_text(out, &shown(found), colour)?;
                }
                let more = of_file.findings - of_file.first.len() as u64;
                if more > 0 {
                    writeln!(out, "  … and {} more (--all)", grouped(more))?;
                    is_whole = false;
                }
            }
            let more = group.findings - group.files.iter().map(|of_file| of_file.findings).sum::<u64>();
            if more > 0 {
                writeln!(out, "  … and {} in more files (--all)", counted(more, "finding"))?;
                is_whole = false;
            }
        }
        if is_whole { Ok(()) } else { self.table(out, colour) }
    }

    /// The rules with the number of their findings.
    fn table(&self, out: &mut dyn Write, colour: bool) -> io::Result<()> {
        writeln!(out)?;
        let width = self.rules.values().map(|group| grouped(group.findings).len()).max().unwrap_or(0);
        for ((severity, place), group) in &self.rules {
            let code = self.order.get(*place).map_or("", |rule| rule.code());
            let severity = Paint::of(severity.0.name()).on(format_args!("{:<7}", severity.0.name()), colour);
            writeln!(out, "{:>width$}  {severity}  {code}", grouped(group.findings))?;
        }
        Ok(())
    }
}
