//! `sited check --explain`: explains a rule or a value.

use super::{Failure, Status, Streams};
use crate::check::decision::choices;
use crate::check::rule::Rule;
use crate::protocol::Severity;
use crate::protocol::lastmod::Now;
use crate::session::explain::{Explanation, explain, fix_words, severities};
use crate::words::excerpt;

/// Longer values are shortened in messages, in characters.
const MOST: usize = 120;

/// Explains a code or a value.
pub(super) fn run(text: &str, now: Now, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if let Some(rule) = Rule::from_code(text.trim()) {
        print_rule(rule, streams)?;
    } else {
        let found = explain(text, now);
        if found.is_empty() {
            let shown = excerpt(text, MOST);
            let hint = "give a rule code, such as lastmod-no-timezone, or a date, a priority, a changefreq, a URL or a namespace";
            return Err(Failure::Usage(format!("{shown} is neither a rule code nor a sitemap value"), hint.to_owned()));
        }
        for one in &found {
            print_value(text, one, streams)?;
        }
    }
    streams.out.flush()?;
    Ok(Status::Fine)
}

/// Prints a rule with its severities, answers and source.
pub(super) fn print_rule(rule: Rule, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let out = &mut *streams.out;
    writeln!(out, "{}: {}", rule.code(), rule.summary())?;
    writeln!(out, "  {}", rule.help())?;
    for (profile, severity) in severities(rule) {
        writeln!(out, "  {:12} {}", profile.name(), severity.map_or("not checked", Severity::name))?;
    }
    writeln!(out, "  {:12} {}", "reason", rule.reason())?;
    writeln!(out, "  {:12} {}", "fix", fix_words(rule.fix()))?;
    for answer in choices(rule) {
        writeln!(out, "  {:12} {:12} {}", "answer", answer.word, answer.about)?;
    }
    writeln!(out, "  {:12} {}", "source", rule.source())?;
    Ok(())
}

fn print_value(text: &str, one: &Explanation, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let out = &mut *streams.out;
    writeln!(out, "{} as {}", excerpt(text.trim(), MOST), one.kind)?;
    for verdict in one.verdicts.iter().flatten() {
        let line = format!("  {:12} {:13} {}", verdict.authority.name(), verdict.ruling.name(), verdict.why);
        writeln!(out, "{}", line.trim_end())?;
    }
    for finding in &one.findings {
        writeln!(out, "  {}[{}]: {}", finding.severity.name(), finding.rule.code(), finding.message)?;
        if let Some(fix) = &finding.fix {
            writeln!(out, "  {:12} {}", "fix", fix.label)?;
        }
    }
    if one.findings.is_empty() && one.kind != "namespace" {
        writeln!(out, "  no findings")?;
    }
    Ok(())
}
