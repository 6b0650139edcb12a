//! Report formats for other programs: SARIF, `JUnit`, GitHub annotations.
//!
//! Sources: SARIF 2.1.0 (OASIS Standard, 27 March 2020), sections 3.14 to 3.52; the XML of `JUnit` as Apache Ant writes
//! it and CI servers read it; GitHub Docs, "Workflow commands for GitHub Actions", "Setting an error message".

use super::json_text::{JsonList, escaped, json};
use super::output::{FindingView, position, push_all, push_line};
use super::spool::Spool;
use super::unsafe_characters::{has_control_or, without_controls};
use crate::check::rule::Rule;
use crate::protocol::Severity;
use crate::xml::escape;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// The name of the tool in reports.
const TOOL: &str = env!("CARGO_PKG_NAME");

/// A SARIF log up to the first result.
const RESULTS: &str = concat!(
    r#"{"$schema":"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json","#,
    r#""version":"2.1.0","runs":[{"columnKind":"unicodeCodePoints","results":["#
);

/// A SARIF log with one run: the findings, then the tool with those rules that have findings.
pub(super) struct SarifLog {
    results: JsonList,
    pub(super) rules: SarifRules,
}

/// The rules with findings in a SARIF log, in the order of their first findings.
#[derive(Debug, Clone, Default)]
pub(super) struct SarifRules(Arc<Vec<Rule>>);

impl SarifRules {
    /// Adds a rule unless it is known; before the text of its findings is made.
    pub(super) fn add(&mut self, rule: Rule) {
        // Variants of a rule have the same code.
        if self.index_of(rule.code()).is_none() {
            Arc::make_mut(&mut self.0).extend(Rule::from_code(rule.code()));
        }
    }

    /// The number of the rule with this code, by which results refer to it.
    pub(super) fn index_of(&self, code: &str) -> Option<usize> {
        self.0.iter().position(|known| known.code() == code)
    }

    /// Appends the text of a result (SARIF 2.1.0, section 3.27), with the members of each object in alphabetical order.
    /// Its file must be a [`uri`], and its URL [`escaped`](super::json_text::escaped).
    pub(super) fn push(&self, text: &mut Vec<u8>, finding: &FindingView<'_>) {
        JsonList::push(text, |result| {
            result.escaped("level", level(finding.severity));
            // A location (3.28): the URL (3.33) and the position in the file (3.29), with its region (3.30).
            result.array_of_one("locations", |location| {
                if let Some(loc) = finding.loc {
                    location.array_of_one("logicalLocations", |logical| {
                        logical.escaped("fullyQualifiedName", loc);
                        logical.escaped("kind", "resource");
                    });
                }
                location.object("physicalLocation", |physical| {
                    physical.object("artifactLocation", |artifact| artifact.escaped("uri", finding.file));
                    if let Some(line) = finding.line {
                        physical.object("region", |region| {
                            region.number("startColumn", finding.column.unwrap_or(1).into());
                            region.number("startLine", line.into());
                        });
                    }
                });
            });
            result.object("message", |message| message.string("text", finding.message));
            if let Some(loc) = finding.loc {
                // Without the line, so that it stays the same when lines move (3.27.17).
                let fingerprint = [finding.rule, " ", &escaped(finding.field.unwrap_or("")), " ", loc];
                result.object("partialFingerprints", |all| all.escaped_parts("ruleAndUrl/v1", &fingerprint));
            }
            if let Some(count) = finding.count {
                result.object("properties", |properties| {
                    properties.number("count", count);
                    properties.number_or_null("rows", finding.rows);
                });
            }
            result.escaped("ruleId", finding.rule);
            self.index_of(finding.rule).into_iter().for_each(|index| result.number("ruleIndex", index as u64));
        });
    }
}

impl SarifLog {
    pub(super) fn new() -> Self {
        Self { results: JsonList::new(RESULTS), rules: SarifRules::default() }
    }

    /// Writes the text of results.
    pub(super) fn write(&mut self, results: &[u8], out: &mut dyn Write) -> io::Result<()> {
        self.results.write(results, out)
    }

    pub(super) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let descriptor = |rule: &Rule| {
            json!({
                "id": rule.code(),
                "shortDescription": { "text": rule.summary() },
                "fullDescription": { "text": rule.help() },
                "help": { "text": format!("{}\n\nWhy this severity: {}\n\nSource: {}", rule.help(), rule.reason(), rule.source()) },
                "defaultConfiguration": { "level": level(rule.severity().map_or("note", Severity::name)) },
            })
        };
        let rules: Vec<Value> = self.rules.0.iter().map(descriptor).collect();
        let driver = json!({ "name": TOOL, "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules });
        self.results.finish(out)?;
        write!(out, ",\"tool\":")?;
        json(out, &json!({ "driver": driver }))?;
        writeln!(out, "}}]}}")
    }
}

/// The SARIF level of a severity (section 3.27.10).
fn level(severity: &str) -> &str {
    match severity {
        "error" | "warning" => severity,
        _ => "note",
    }
}

/// A path as a URI reference (RFC 3986, section 4.1); an absolute path gets `file://`.
pub(super) fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 8);
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            b'\\' => out.push('/'),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// A `JUnit` report: one suite per file, and a test case for each finding, or one that passes if there is none.
/// Findings below the severity of `--fail-on` pass, with their message as output. Test cases are spooled, because the
/// totals come before them.
pub(super) struct JunitReport {
    cases: Spool,
    suites: Vec<Suite>,
    /// The number of the suite by file name.
    suite_numbers: HashMap<String, usize>,
}

/// The findings of a file.
#[derive(Default)]
struct Suite {
    file: String,
    findings: u64,
    failures: u64,
    /// The ranges of its test cases in the spool.
    cases: Vec<Range<u64>>,
}

impl JunitReport {
    pub(super) fn new() -> Self {
        Self { cases: Spool::new(), suites: Vec::new(), suite_numbers: HashMap::new() }
    }

    /// The suite of a file, which is created on first use.
    fn suite(&mut self, file: &str) -> Option<&mut Suite> {
        let number = self.suite_numbers.get(file).copied().unwrap_or_else(|| {
            self.suites.push(Suite { file: file.to_owned(), ..Suite::default() });
            self.suite_numbers.insert(file.to_owned(), self.suites.len() - 1);
            self.suites.len() - 1
        });
        self.suites.get_mut(number)
    }

    /// Adds the text of test cases of a file, and the number of its findings and failures.
    pub(super) fn add(&mut self, file: &str, cases: &[u8], (findings, failures): (u64, u64)) -> io::Result<()> {
        let from = self.cases.len();
        self.cases.write_all(cases)?;
        let to = self.cases.len();
        let Some(suite) = self.suite(file) else { return Ok(()) };
        suite.findings += findings;
        suite.failures += failures;
        match suite.cases.last_mut() {
            Some(before) if before.end == from => before.end = to,
            _ => suite.cases.push(from..to),
        }
        Ok(())
    }

    /// Writes the report: first the suites of `files`, then the others.
    pub(super) fn finish(&mut self, out: &mut dyn Write, files: &[String]) -> io::Result<()> {
        for file in files {
            self.suite(file);
        }
        let mut left: Vec<Option<Suite>> = std::mem::take(&mut self.suites).into_iter().map(Some).collect();
        let numbers = files.iter().filter_map(|file| self.suite_numbers.get(file));
        let mut suites: Vec<Suite> =
            numbers.filter_map(|number| left.get_mut(*number).and_then(Option::take)).collect();
        suites.extend(left.into_iter().flatten());
        let all: u64 = suites.iter().map(|suite| suite.findings.max(1)).sum();
        let failures: u64 = suites.iter().map(|suite| suite.failures).sum();
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<testsuites name=\"{TOOL}\" tests=\"{all}\" failures=\"{failures}\" errors=\"0\">")?;
        for Suite { file, findings, failures, cases } in suites {
            let file = attribute(&file);
            let tests = findings.max(1);
            writeln!(
                out,
                "  <testsuite name=\"{file}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">"
            )?;
            if findings == 0 {
                writeln!(out, "    <testcase classname=\"{file}\" name=\"no findings\"/>")?;
            }
            for part in cases {
                self.cases.write_part(part, out)?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }
}

/// Appends the test case of a finding. Its file and URL must be [`attribute`]s; codes of rules need no escapes.
pub(super) fn push_test_case(text: &mut Vec<u8>, finding: &FindingView<'_>, fails: bool) {
    let [mut line, mut column] = [itoa::Buffer::new(); 2];
    let (line, column) = position(finding, &mut line, &mut column);
    let (file, rule, message) = (finding.file, finding.rule, attribute(finding.message));
    push_all(text, &["    <testcase classname=\"", file, "\" name=\"", rule, " ", line, ":", column]);
    if let Some(loc) = finding.loc {
        push_all(text, &[" ", loc]);
    }
    push_all(text, &["\" file=\"", file, "\" line=\"", line, "\">\n      "]);
    let end = if fails {
        push_all(text, &["<failure type=\"", rule, "\" message=\"", &message, "\">"]);
        "</failure>"
    } else {
        push_all(text, &["<system-out>", finding.severity, ": "]);
        "</system-out>"
    };
    push_all(text, &[file, ":", line, ":", column, ": ", &message, end, "\n    </testcase>\n"]);
}

/// Escaped text for an attribute or element, without characters that XML does not allow.
pub(super) fn attribute(text: &str) -> Cow<'_, str> {
    // C1 control characters start with 0xC2, line separators and direction marks with 0xE2.
    if !has_control_or(text.as_bytes(), [b'&', b'<', b'>', b'\'', b'"', 0x7F, 0xC2, 0xE2]) {
        return Cow::Borrowed(text);
    }
    match without_controls(text) {
        Cow::Borrowed(text) => escape::escape(text),
        Cow::Owned(text) => Cow::Owned(escape::escape(&text).into_owned()),
    }
}

/// Appends a finding as a workflow command: `::error file=…,line=…,col=…,title=…::message`. Its file must be a
/// [`property`] and its URL [`data`]; codes of rules need no escapes.
pub(super) fn push_annotation(text: &mut Vec<u8>, finding: &FindingView<'_>) {
    let command = match finding.severity {
        "error" => "error",
        "warning" => "warning",
        _ => "notice",
    };
    let [mut line, mut column] = [itoa::Buffer::new(); 2];
    let (line, column) = position(finding, &mut line, &mut column);
    let message = data(finding.message);
    let [open, loc, close] = finding.loc.map_or([""; 3], |loc| [" (", loc, ")"]);
    let place = ["::", command, " file=", finding.file, ",line=", line, ",col=", column, ",title=", finding.rule];
    push_line(text, &[&place[..], &["::", &message, open, loc, close]].concat());
}

/// The escaped message of a workflow command. Line breaks become U+FFFD like all control characters.
pub(super) fn data(text: &str) -> Cow<'_, str> {
    encoded(text.into(), &[(b'%', "%25")])
}

/// The escaped property of a workflow command.
pub(super) fn property(text: &str) -> Cow<'_, str> {
    encoded(data(text), &[(b':', "%3A"), (b',', "%2C")])
}

fn encoded<'t>(text: Cow<'t, str>, escapes: &[(u8, &str)]) -> Cow<'t, str> {
    let escape = |text: Cow<'t, str>, (letter, escaped): &(u8, &str)| match memchr::memchr(*letter, text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace(char::from(*letter), escaped)),
        None => text,
    };
    escapes.iter().fold(text, escape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: FindingView<'static> = FindingView {
        rule: "loc-fragment",
        severity: "warning",
        file: "a b/c.xml",
        line: Some(3),
        column: Some(10),
        loc: Some("https://e.com/?a=1&b=2"),
        field: Some("loc"),
        message: "50% of \"#x\" <is>\n\u{1b}[2J dropped, really",
        fix: None,
        count: None,
        rows: None,
    };

    fn written(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn sarif_results_have_a_rule_and_a_position() {
        let whole = FindingView { rule: "set-duplicate", severity: "note", line: None, column: None, loc: None, ..ONE };
        let text = written(|out| {
            let (mut log, mut results) = (SarifLog::new(), Vec::new());
            for finding in [&ONE, &whole] {
                log.rules.add(Rule::from_code(finding.rule).unwrap());
                log.rules.push(&mut results, &FindingView { file: &uri(finding.file), ..*finding });
            }
            log.write(&results, out)?;
            log.finish(out)
        });
        assert!(!text.contains('\u{1b}'), "{text}");
        let log: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        for result in run["results"].as_array().unwrap() {
            let number = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(run["tool"]["driver"]["rules"][number]["id"], result["ruleId"]);
        }
        let place = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b/c.xml");
        assert_eq!(place["region"], json!({ "startLine": 3, "startColumn": 10 }));
        assert!(run["results"][1]["locations"][0]["physicalLocation"].get("region").is_none());
        assert_eq!(uri("/srv/ü.xml"), "file:///srv/%C3%BC.xml");
    }

    #[test]
    fn junit_counts_failures_and_is_well_formed() {
        let note = FindingView { severity: "note", message: "fine", ..ONE };
        let files = ["a b/c.xml".to_owned(), "d.xml".to_owned()];
        let text = written(|out| {
            let mut report = JunitReport::new();
            for (finding, fails) in [(&ONE, true), (&note, false)] {
                let mut case = Vec::new();
                let (file, loc) = (attribute(finding.file), finding.loc.map(attribute));
                push_test_case(&mut case, &FindingView { file: &file, loc: loc.as_deref(), ..*finding }, fails);
                report.add(finding.file, &case, (1, u64::from(fails)))?;
            }
            report.finish(out, &files)
        });
        assert!(text.contains("<testsuites name=\"sited\" tests=\"3\" failures=\"1\" errors=\"0\">"), "{text}");
        assert!(text.contains("<testcase classname=\"d.xml\" name=\"no findings\"/>"), "{text}");
        assert!(text.contains("message=\"50% of &quot;#x&quot; &lt;is"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(text.matches("<failure ").count(), 1);
        assert_eq!(text.matches("<testcase ").count(), 3);
        assert_eq!(text.matches("</testcase>").count(), 2);
    }

    proptest! {
        #[test]
        fn attributes_are_escaped_text_without_controls(
            text in "([ -~]{0,9}|[\u{0}-\u{1f}&<>'\"\u{7e}-\u{a0}é\u{2027}-\u{202f}\u{2065}-\u{206a}😀]{0,3}){0,4}",
        ) {
            let plain = without_controls(&text);
            prop_assert_eq!(attribute(&text), escape::escape(&plain));
        }
    }

    #[test]
    fn codes_of_rules_need_no_escapes() {
        for code in Rule::ALL.map(Rule::code) {
            assert!(
                code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{code}"
            );
        }
    }

    #[test]
    fn annotations_escape_delimiters_and_line_breaks() {
        let mut line = Vec::new();
        push_annotation(&mut line, &FindingView { file: &property("a:b,c.xml"), ..ONE });
        let line = String::from_utf8(line).unwrap();
        let expected = "::warning file=a%3Ab%2Cc.xml,line=3,col=10,title=loc-fragment::50%25 of \"#x\" <is>\u{FFFD}\
                        \u{FFFD}[2J dropped, really (https://e.com/?a=1&b=2)\n";
        assert_eq!(line, expected);
    }
}
