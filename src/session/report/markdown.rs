//! The findings of a set as a Markdown file for people, with the numbers that `sited check` prints, and the counts of
//! rules by file.

use super::super::Session;
use super::super::change::Refused;
use super::super::findings::{self, Place, Reported};
use super::Reporter;
use crate::check::rule::Rule;
use crate::document::sitemap::SitemapId;
use crate::files;
use crate::protocol::Severity;
use crate::visible::Charset;
use crate::words::{counted, grouped};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// How a report begins; a file that begins otherwise is not replaced.
const TITLE: &str = "# Findings in ";
/// Places of one rule in one file that are listed.
const PLACES: usize = 5;
/// Files that are listed for one rule.
const FILES: usize = 20;

/// The findings of one rule.
struct RuleFindings {
    rule: Rule,
    count: u64,
    /// By file, in the order in which they were found: how many, and the first of them.
    files: Vec<(Arc<str>, u64, Vec<Reported>)>,
}

/// The findings of a run, the most severe rules first.
#[derive(Default)]
struct Findings {
    rules: BTreeMap<(Reverse<Severity>, usize), RuleFindings>,
    severities: [u64; 3],
}

impl Findings {
    fn add(&mut self, found: Vec<Reported>) {
        for found in found {
            let (rule, severity) = (found.finding.rule, found.finding.severity);
            if let Some(count) = self.severities.get_mut(severity as usize) {
                *count += 1;
            }
            let of_rule = self.rules.entry((Reverse(severity), rule.index())).or_insert_with(|| RuleFindings {
                rule,
                count: 0,
                files: Vec::new(),
            });
            of_rule.count += 1;
            // The findings of a file follow each other, apart from those about the set.
            match of_rule.files.iter_mut().rev().find(|(file, ..)| *file == found.file) {
                Some((_, count, first)) => {
                    *count += 1;
                    if first.len() < PLACES {
                        first.push(found);
                    }
                }
                None => of_rule.files.push((Arc::clone(&found.file), 1, vec![found])),
            }
        }
    }
}

impl Session {
    /// How many rows of each file break each rule, by [`Rule::main`]; findings of files are among them, those of the
    /// index and the set are not.
    pub fn rule_counts_by_file(&self) -> BTreeMap<(usize, SitemapId), u64> {
        let mut counts: BTreeMap<(usize, SitemapId), u64> = BTreeMap::new();
        let document = self.document();
        let (checks, sets) = (&self.now.checks, self.now.checks.rule_sets());
        for (id, sitemap) in (0..).map(SitemapId).zip(document.sitemaps()) {
            let mut of_file = [0_u64; Rule::COUNT];
            for row in sitemap.rows.iter().filter(|row| document.is_live(*row)) {
                for rule in checks.rules_in(row, document, &sets).iter() {
                    if let Some(count) = of_file.get_mut(rule.main().index()) {
                        *count += 1;
                    }
                }
            }
            counts.extend((0..).zip(of_file).filter(|(_, count)| *count > 0).map(|(rule, count)| ((rule, id), count)));
        }
        for finding in self.each_whole_finding() {
            if let Place::Sitemap(id) = finding.place {
                *counts.entry((finding.rule.main().index(), id)).or_default() += 1;
            }
        }
        counts
    }

    /// Writes the findings as Markdown, with the numbers of `sited check`. Gives back what was written, in words.
    ///
    /// # Errors
    /// When the file is there and is not such a report, or cannot be written.
    pub fn write_findings(&self, path: &Path) -> Result<String, Refused> {
        let refuse = |error: files::Error| Refused(error.to_string());
        if path.exists() && !files::read_text(path).is_ok_and(|text| text.starts_with(TITLE)) {
            let why = "exists and is not a report of findings; choose another name";
            return Err(Refused(format!("{} {why}", path.display())));
        }
        let (text, sum) = self.findings_as_markdown();
        files::write_whole(path, text.as_bytes()).map_err(refuse)?;
        Ok(format!("wrote {}: {sum}", path.display()))
    }

    /// The report, and its sum in one line.
    fn findings_as_markdown(&self) -> (String, String) {
        let mut all = Findings::default();
        let reporter = Reporter::new(self);
        all.add(reporter.of_index(self));
        for id in (0..self.document().as_agreed().sitemaps().len() as u32).map(SitemapId) {
            let told = reporter.each_of_sitemap(self, (id, None), |found| {
                all.add(found);
                Ok::<(), Infallible>(())
            });
            match told {
                Ok(()) => {}
            }
        }
        all.add(reporter.of_set(self));
        all.add(self.unread().iter().filter_map(findings::refused).collect());
        let [notes, warnings, errors] = all.severities;
        let sum = format!("{}, {}, {}", counted(errors, "error"), counted(warnings, "warning"), counted(notes, "note"));
        let name = self.path().map_or_else(|| "the sample set".to_owned(), |path| path.display().to_string());
        let mut out = format!("{TITLE}{}\n\n", text(&name));
        let files = self.document().sitemaps().len() as u64;
        let urls = counted(u64::from(self.urls()), "URL");
        line(&mut out, format_args!("{}, {urls}: {sum}. Profile: {}.", counted(files, "file"), self.profile().name()));
        if self.is_modified() {
            line(&mut out, format_args!("\nWith changes that are not saved."));
        }
        if all.rules.is_empty() {
            return (out, sum);
        }
        line(&mut out, format_args!("\n| severity | findings | rule | meaning |\n|---|--:|---|---|"));
        for ((severity, _), of_rule) in &all.rules {
            let (rule, count) = (of_rule.rule, grouped(of_rule.count));
            let row = format_args!("| {} | {count} | {} | {} |", severity.0.name(), rule.code(), text(rule.summary()));
            line(&mut out, row);
        }
        for ((severity, _), of_rule) in &all.rules {
            let (rule, count) = (of_rule.rule, grouped(of_rule.count));
            line(&mut out, format_args!("\n## {}: {count} ({})\n", rule.code(), severity.0.name()));
            line(&mut out, format_args!("{}\n", text(rule.help())));
            for (file, count, first) in of_rule.files.iter().take(FILES) {
                line(&mut out, format_args!("- {}: {}", text(file), grouped(*count)));
                for found in first {
                    let at = found.at.map_or_else(String::new, |(line, column)| format!("{line}:{column}: "));
                    let url = if found.loc.is_empty() { String::new() } else { format!("  {}", text(&found.loc)) };
                    line(&mut out, format_args!("  - {at}{}{url}", text(&found.finding.message)));
                }
                let more = count.saturating_sub(first.len() as u64);
                if more > 0 {
                    line(&mut out, format_args!("  - … and {} more", grouped(more)));
                }
            }
            if let Some(more) = of_rule.files.len().checked_sub(FILES).filter(|more| *more > 0) {
                line(&mut out, format_args!("- … and {}", counted(more as u64, "more file")));
            }
        }
        (out, sum)
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// Text of a file as Markdown shows it: on one line, and nothing in it is markup or obeyed by a terminal.
fn text(value: &str) -> String {
    let value = Charset::Unicode.visible(value);
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
