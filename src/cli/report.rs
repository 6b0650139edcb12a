//! Findings in the forms that other programs read: SARIF, `JUnit` and the annotations of GitHub.
//!
//! Sources: SARIF 2.1.0 (OASIS Standard, 27 March 2020), sections 3.14 to 3.52; the XML of `JUnit` as Apache Ant writes it and
//! CI servers read it; GitHub Docs, "Workflow commands for GitHub Actions", "Setting an error message".

use super::output::{Finding, json_document, plain};
use crate::check::rule::{Rule, RuleSet};
use crate::protocol::Severity;
use crate::xml::escape;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Where the rules are explained.
const HOME: &str = env!("CARGO_PKG_NAME");

/// One SARIF log with one run: the rules that have findings, and the findings in their order.
pub(super) fn sarif(out: &mut dyn Write, findings: &[Finding<'_>]) -> io::Result<()> {
    let mut broken = RuleSet::EMPTY;
    findings.iter().filter_map(|finding| Rule::from_code(finding.rule)).for_each(|rule| broken.insert(rule));
    let rules: Vec<Rule> = broken.iter().collect();
    let described: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code(),
                "shortDescription": { "text": rule.summary() },
                "fullDescription": { "text": rule.help() },
                "help": { "text": format!("{}\n\nSource: {}", rule.help(), rule.source()) },
                "defaultConfiguration": { "level": level(rule.severity().map_or("note", Severity::name)) },
            })
        })
        .collect();
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let mut place = json!({ "artifactLocation": { "uri": uri(finding.file) } });
            if let Some(line) = finding.line {
                place["region"] = json!({ "startLine": line, "startColumn": finding.column.unwrap_or(1) });
            }
            let mut result = json!({
                "ruleId": finding.rule,
                "level": level(finding.severity),
                "message": { "text": finding.message },
                "locations": [{ "physicalLocation": place }],
            });
            if let Some(number) = rules.iter().position(|rule| rule.code() == finding.rule) {
                result["ruleIndex"] = json!(number);
            }
            if let Some(loc) = finding.loc {
                result["locations"][0]["logicalLocations"] = json!([{ "fullyQualifiedName": loc, "kind": "resource" }]);
                // What stays the same when lines move.
                result["partialFingerprints"] =
                    json!({ "ruleAndUrl/v1": format!("{} {} {loc}", finding.rule, finding.field.unwrap_or("")) });
            }
            result
        })
        .collect();
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": HOME, "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": described } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    json_document(out, &log)
}

/// SARIF's word for a severity (section 3.27.10).
fn level(severity: &str) -> &str {
    match severity {
        "error" | "warning" => severity,
        _ => "note",
    }
}

/// A path as a URI reference (RFC 3986, section 4.1): relative as it was given, absolute with `file://`.
fn uri(path: &str) -> String {
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

/// One suite a file; a test case for each finding, or one that passes where there is none. What does not make the run
/// fail passes, with its words as output.
pub(super) fn junit(
    out: &mut dyn Write,
    files: &[String],
    findings: &[Finding<'_>],
    fails: &dyn Fn(&Finding<'_>) -> bool,
) -> io::Result<()> {
    let failures = findings.iter().filter(|finding| fails(finding)).count();
    // Files in their order, each with its findings: neither may be looked through again for every one of the other.
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut suites: Vec<(&str, Vec<&Finding<'_>>)> = Vec::new();
    let all_files = files.iter().map(|file| (file.as_str(), None));
    for (name, finding) in all_files.chain(findings.iter().map(|finding| (finding.file, Some(finding)))) {
        let place = *places.entry(name).or_insert_with(|| {
            suites.push((name, Vec::new()));
            suites.len() - 1
        });
        if let Some((_, own)) = suites.get_mut(place) {
            own.extend(finding);
        }
    }
    let all: usize = suites.iter().map(|(_, own)| own.len().max(1)).sum();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"{HOME}\" tests=\"{all}\" failures=\"{failures}\" errors=\"0\">")?;
    for (name, own) in suites {
        let failed = own.iter().filter(|finding| fails(finding)).count();
        let file = attribute(name);
        writeln!(
            out,
            "  <testsuite name=\"{file}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">",
            own.len().max(1)
        )?;
        if own.is_empty() {
            writeln!(out, "    <testcase classname=\"{file}\" name=\"no findings\"/>")?;
        }
        for finding in own {
            let (line, column) = (finding.line.unwrap_or(1), finding.column.unwrap_or(1));
            let at = finding.loc.map_or_else(String::new, |loc| format!(" {loc}"));
            let case = attribute(&format!("{} {line}:{column}{at}", finding.rule));
            let (rule, message) = (attribute(finding.rule), attribute(finding.message));
            let text = attribute(&format!("{}:{line}:{column}: {}", finding.file, finding.message));
            writeln!(out, "    <testcase classname=\"{file}\" name=\"{case}\" file=\"{file}\" line=\"{line}\">")?;
            if fails(finding) {
                writeln!(out, "      <failure type=\"{rule}\" message=\"{message}\">{text}</failure>")?;
            } else {
                writeln!(out, "      <system-out>{}: {text}</system-out>", finding.severity)?;
            }
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// Text for an attribute or an element, without what XML cannot hold.
fn attribute(text: &str) -> String {
    escape::escape(&plain(text)).into_owned()
}

/// One workflow command a finding: `::error file=…,line=…,col=…,title=…::message`.
pub(super) fn github(out: &mut dyn Write, finding: &Finding<'_>) -> io::Result<()> {
    let command = match finding.severity {
        "error" => "error",
        "warning" => "warning",
        _ => "notice",
    };
    let (line, column) = (finding.line.unwrap_or(1), finding.column.unwrap_or(1));
    let (file, rule) = (property(finding.file), property(finding.rule));
    let at = finding.loc.map_or_else(String::new, |loc| format!(" ({loc})"));
    let message = data(&format!("{}{at}", finding.message));
    writeln!(out, "::{command} file={file},line={line},col={column},title={rule}::{message}")
}

/// The text of a workflow command.
fn data(text: &str) -> String {
    plain(&text.replace(['\r', '\n'], "\u{FFFD}")).replace('%', "%25")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Finding<'static> = Finding {
        rule: "loc-fragment",
        severity: "warning",
        file: "a b/c.xml",
        line: Some(3),
        column: Some(10),
        loc: Some("https://e.com/?a=1&b=2"),
        field: Some("loc"),
        message: "50% of \"#x\" <is>\n\u{1b}[2J dropped, really",
        fix: None,
    };

    fn written(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn sarif_has_a_rule_for_each_result_and_a_place() {
        let whole = Finding { rule: "set-duplicate", severity: "note", line: None, column: None, loc: None, ..ONE };
        let text = written(|out| sarif(out, &[ONE, whole.clone()]));
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
    fn junit_counts_what_fails_and_is_xml() {
        let note = Finding { severity: "note", message: "fine", ..ONE };
        let files = ["a b/c.xml".to_owned(), "d.xml".to_owned()];
        let text = written(|out| junit(out, &files, &[ONE, note.clone()], &|finding| finding.severity != "note"));
        assert!(text.contains("<testsuites name=\"sited\" tests=\"3\" failures=\"1\" errors=\"0\">"), "{text}");
        assert!(text.contains("<testcase classname=\"d.xml\" name=\"no findings\"/>"), "{text}");
        assert!(text.contains("message=\"50% of &quot;#x&quot; &lt;is"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(text.matches("<failure ").count(), 1);
        assert_eq!(text.matches("<testcase ").count(), 3);
        assert_eq!(text.matches("</testcase>").count(), 2);
    }

    #[test]
    fn annotations_escape_what_ends_a_property_or_a_line() {
        let line = written(|out| github(out, &Finding { file: "a:b,c.xml", ..ONE }));
        let expected = "::warning file=a%3Ab%2Cc.xml,line=3,col=10,title=loc-fragment::50%25 of \"#x\" <is>\u{FFFD}\
                        \u{FFFD}[2J dropped, really (https://e.com/?a=1&b=2)\n";
        assert_eq!(line, expected);
    }
}
