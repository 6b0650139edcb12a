//! The text report of findings: grouped by rule and file, errors first, with a table of all rules if it is shortened.

use super::output::{FindingView, Paint, finding_text};
use crate::session::report::Summary;
use crate::words::{counted, grouped};
use std::io::{self, Write};

/// Prints the groups, and the table if not all findings were printed.
pub(super) fn print(summary: &Summary, out: &mut dyn Write, colour: bool) -> io::Result<()> {
    let mut is_whole = true;
    for group in summary.rules() {
        for of_file in &group.files {
            for found in &of_file.first {
                finding_text(out, &FindingView::from(found), colour)?;
            }
            if of_file.beyond() > 0 {
                writeln!(out, "  … and {} more (--all)", grouped(of_file.beyond()))?;
                is_whole = false;
            }
        }
        if group.beyond() > 0 {
            writeln!(out, "  … and {} in more files (--all)", counted(group.beyond(), "finding"))?;
            is_whole = false;
        }
    }
    if is_whole { Ok(()) } else { table(summary, out, colour) }
}

/// Prints the number of findings by rule.
fn table(summary: &Summary, out: &mut dyn Write, colour: bool) -> io::Result<()> {
    writeln!(out)?;
    let width = summary.rules().map(|group| grouped(group.findings).len()).max().unwrap_or(0);
    for group in summary.rules() {
        let name = group.severity.name();
        let severity = Paint::of(name).on(format_args!("{name:<7}"), colour);
        writeln!(out, "{:>width$}  {severity}  {}", grouped(group.findings), group.rule.code())?;
    }
    Ok(())
}
