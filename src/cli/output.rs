//! Formats results as lines or JSON, in a stable order and without control characters.

use super::json_text::{JsonList, json};
use super::unsafe_characters::{is_safe, is_unsafe, plain, without_controls};
use crate::session::located_finding::LocatedFinding;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// One file of `check --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct File {
    /// As it was opened.
    pub path: String,
    /// `urlset` or `sitemapindex`.
    pub kind: &'static str,
    /// Number of `<url>` or `<sitemap>` elements.
    pub entries: u64,
    /// Uncompressed size.
    pub bytes: u64,
    /// The encoding as the file declares it.
    pub encoding: String,
    /// The encoding that the file was decoded with, if its name differs: browsers and this program read ISO-8859-1 as
    /// windows-1252 (WHATWG Encoding Standard).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_as: Option<&'static str>,
}

/// The totals of `check`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// URLs and index entries of all files.
    pub entries: u64,
    /// `<url>` elements, items of feeds, lines of lists and tables.
    pub urls: u64,
    /// `<sitemap>` elements.
    pub index_entries: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity note.
    pub notes: u64,
    /// Findings by rule code.
    pub rules: BTreeMap<&'static str, u64>,
}

/// A finding with the fields of the output formats, in their order. It borrows from a [`LocatedFinding`]; a separate
/// type keeps the published formats stable when the internal one changes. Reports for programs get it with its file and
/// URL escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FindingView<'f> {
    /// The rule's code.
    pub rule: &'f str,
    /// `error`, `warning` or `note`.
    pub severity: &'f str,
    /// The path of its file.
    pub file: &'f str,
    /// From 1; null for the set as a whole.
    pub line: Option<u32>,
    /// In characters, from 1.
    pub column: Option<u32>,
    /// The row's decoded URL; null for a finding that is not about a row.
    pub loc: Option<&'f str>,
    /// The name of the field; null for a finding that is not about a field.
    pub field: Option<&'f str>,
    /// What is wrong and what is expected.
    pub message: &'f str,
    /// What the fix would do; null if there is none.
    pub fix: Option<&'f str>,
    /// Number of places, if the finding is a group (one finding for a whole file).
    pub count: Option<u64>,
    /// Number of URLs in the group.
    pub rows: Option<u64>,
}

impl<'r> From<&'r LocatedFinding> for FindingView<'r> {
    fn from(reported: &'r LocatedFinding) -> Self {
        let finding = &reported.finding;
        Self {
            rule: finding.rule.code(),
            severity: finding.severity.name(),
            file: &reported.file,
            line: reported.at.map(|at| at.line),
            column: reported.at.map(|at| at.column),
            loc: Some(&*reported.loc).filter(|loc| !loc.is_empty()),
            field: finding.subject(),
            message: &finding.message,
            fix: finding.fix.as_ref().map(|fix| &*fix.label),
            count: None,
            rows: None,
        }
    }
}

impl FindingView<'_> {
    /// Appends it as an element of the document of [`check_json`]. Its file and URL must be
    /// [`escaped`](super::json_text::escaped).
    pub(super) fn push_json(&self, text: &mut Vec<u8>) {
        JsonList::push(text, |finding| {
            finding.escaped("rule", self.rule);
            finding.escaped("severity", self.severity);
            finding.escaped("file", self.file);
            finding.number_or_null("line", self.line.map(u64::from));
            finding.number_or_null("column", self.column.map(u64::from));
            finding.escaped_or_null("loc", self.loc);
            finding.string_or_null("field", self.field);
            finding.string("message", self.message);
            finding.string_or_null("fix", self.fix);
            self.count.into_iter().for_each(|count| finding.number("count", count));
            self.rows.into_iter().for_each(|rows| finding.number("rows", rows));
        });
    }
}

/// One row of `list --format jsonl`. Values are the text of the file, null if absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Row<'r> {
    /// The URL, decoded and trimmed.
    pub loc: Option<&'r str>,
    /// As written.
    pub lastmod: Option<&'r str>,
    /// As written.
    pub changefreq: Option<&'r str>,
    /// As written.
    pub priority: Option<&'r str>,
    /// The path of its file.
    pub file: &'r str,
    /// The line of its element, from 1; null for a row that is not saved yet.
    pub line: Option<u32>,
    /// All URLs of an entry that has several `loc`, including the first; omitted otherwise.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub locs: &'r [String],
    /// Number of extension elements by kind.
    pub extensions: Extensions,
}

/// Number of extension elements of a row, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Extensions {
    /// `image:image`
    pub image: u16,
    /// `video:video`
    pub video: u16,
    /// `news:news`
    pub news: u16,
    /// `xhtml:link`
    pub alternate: u16,
    /// Elements of any other namespace.
    pub other: u16,
}

/// The list of findings in the JSON document of `check`. It is printed first, since the rest is known only at the end.
pub(super) const fn check_json() -> JsonList {
    JsonList::new("{\"version\":1,\"findings\":[")
}

/// Writes the rest of the JSON document of `check`.
pub(super) fn finish_check_json(
    out: &mut dyn Write,
    findings: &mut JsonList,
    files: &[File],
    summary: &Summary,
) -> io::Result<()> {
    findings.finish(out)?;
    write!(out, ",\"files\":")?;
    json(out, files)?;
    write!(out, ",\"summary\":")?;
    json(out, summary)?;
    writeln!(out, "}}")
}

/// Writes a finding as `path:line:column: severity[rule]: message`. A finding about a whole file or set is at `1:1`, so
/// that all lines have the same form.
pub(crate) fn finding_text(out: &mut dyn Write, finding: &FindingView<'_>, colour: bool) -> io::Result<()> {
    let mut text = Vec::new();
    push_finding(&mut text, finding, colour);
    out.write_all(&text)
}

/// Appends a line as [`finding_text`] writes it.
pub(super) fn push_finding(text: &mut Vec<u8>, finding: &FindingView<'_>, colour: bool) {
    let FindingView { file, severity, rule, message, .. } = *finding;
    let [mut line, mut column] = [itoa::Buffer::new(); 2];
    let (line, column) = position(finding, &mut line, &mut column);
    if !colour {
        return push_line(text, &[file, ":", line, ":", column, ": ", severity, "[", rule, "]: ", message]);
    }
    let place = Paint::Bold.on(format_args!("{}:{line}:{column}:", without_controls(file)), colour);
    let what = Paint::of(severity).on(format_args!("{severity}[{rule}]"), colour);
    push_all(text, &[&place, " ", &what, ": ", &without_controls(message), "\n"]);
}

/// Line and column of a finding in decimal digits; 1 for a whole file or set.
pub(super) fn position<'b>(
    finding: &FindingView<'_>,
    line: &'b mut itoa::Buffer,
    column: &'b mut itoa::Buffer,
) -> (&'b str, &'b str) {
    (line.format(finding.line.unwrap_or(1)), column.format(finding.column.unwrap_or(1)))
}

/// Appends parts of a text. To format them takes longer than to make the message of a finding.
pub(super) fn push_all(text: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        text.extend_from_slice(part.as_bytes());
    }
}

/// Appends a line; control characters in it become U+FFFD.
pub(super) fn push_line(text: &mut Vec<u8>, parts: &[&str]) {
    let start = text.len();
    push_all(text, parts);
    if !text.get(start..).is_some_and(is_safe) {
        text.truncate(start);
        text.extend_from_slice(plain(&parts.concat()).as_bytes());
    }
    text.push(b'\n');
}

/// A text style of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Errors, removed text.
    Red,
    /// Warnings, changed rows.
    Yellow,
    /// Added text.
    Green,
    /// Notes.
    Blue,
    /// File positions.
    Bold,
}

impl Paint {
    /// All sequences that [`Paint::on`] writes.
    pub(crate) const SEQUENCES: [&'static str; 6] =
        ["\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[34m", "\x1b[1m", "\x1b[0m"];

    /// The colour of a severity, by its name.
    pub(crate) fn of(severity: &str) -> Self {
        match severity {
            "error" => Self::Red,
            "warning" => Self::Yellow,
            _ => Self::Blue,
        }
    }

    /// Text in this style if `colour` is set (ECMA-48, section 8.3.117, SGR).
    pub(crate) fn on(self, text: impl std::fmt::Display, colour: bool) -> String {
        let code = match self {
            Self::Red => "31",
            Self::Yellow => "33",
            Self::Green => "32",
            Self::Blue => "34",
            Self::Bold => "1",
        };
        if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// Writes a row as one JSON line.
pub(crate) fn row_json(out: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
    json(out, row)?;
    writeln!(out)
}

/// Writes a URL as one line; unsafe characters are percent-encoded.
pub(crate) fn loc_text(out: &mut dyn Write, loc: &str) -> io::Result<()> {
    if loc.contains(is_unsafe) { writeln!(out, "{}", safe_loc(loc)) } else { writeln!(out, "{loc}") }
}

/// A URL whose control characters and line breaks are percent-encoded, as browsers send them.
pub(crate) fn safe_loc(loc: &str) -> String {
    let mut out = String::with_capacity(loc.len());
    for c in loc.chars() {
        if is_unsafe(c) {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                // Writing to a text cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const FINDING: FindingView<'static> = FindingView {
        rule: "loc-fragment",
        severity: "warning",
        file: "a.xml",
        line: Some(3),
        column: Some(10),
        loc: Some("https://e.com/#x"),
        field: Some("loc"),
        message: "#x is dropped",
        fix: None,
        count: None,
        rows: None,
    };

    #[test]
    fn findings_are_lines() {
        let line = |finding: &FindingView<'_>| written(|out| finding_text(out, finding, false));
        assert_eq!(line(&FINDING), "a.xml:3:10: warning[loc-fragment]: #x is dropped\n");
        let whole = FindingView { line: None, column: None, message: "a\u{1b}[2J\nb", ..FINDING };
        assert_eq!(line(&whole), "a.xml:1:1: warning[loc-fragment]: a\u{fffd}[2J\u{fffd}b\n");
    }

    #[test]
    fn the_json_document_has_one_line_per_finding() {
        let file = File {
            path: "a.xml".into(),
            kind: "urlset",
            entries: 2,
            bytes: 300,
            encoding: "UTF-8".into(),
            read_as: None,
        };
        let rules = BTreeMap::from([("loc-fragment", 2), ("a-rule", 1)]);
        let summary = Summary { entries: 2, urls: 2, index_entries: 0, errors: 0, warnings: 2, notes: 1, rules };
        let fixed = FindingView { fix: Some("remove it"), line: None, column: None, loc: None, ..FINDING };
        let text = written(|out| {
            let (mut findings, mut elements) = (check_json(), Vec::new());
            for finding in [&FINDING, &fixed] {
                elements.clear();
                finding.push_json(&mut elements);
                findings.write(&elements, out)?;
            }
            finish_check_json(out, &mut findings, std::slice::from_ref(&file), &summary)
        });
        let expected = concat!(
            r#"{"version":1,"findings":["#,
            "\n",
            r#"{"rule":"loc-fragment","severity":"warning","file":"a.xml","line":3,"column":10,"loc":"https://e.com/#x","#,
            r##""field":"loc","message":"#x is dropped","fix":null},"##,
            "\n",
            r#"{"rule":"loc-fragment","severity":"warning","file":"a.xml","line":null,"column":null,"loc":null,"#,
            r##""field":"loc","message":"#x is dropped","fix":"remove it"}"##,
            "\n",
            r#"],"files":[{"path":"a.xml","kind":"urlset","entries":2,"bytes":300,"encoding":"UTF-8"}],"#,
            r#""summary":{"entries":2,"urls":2,"index_entries":0,"errors":0,"warnings":2,"notes":1,"rules":{"a-rule":1,"loc-fragment":2}}}"#,
            "\n"
        );
        assert_eq!(text, expected);
        let empty = written(|out| finish_check_json(out, &mut check_json(), &[], &Summary::default()));
        assert!(serde_json::from_str::<serde_json::Value>(&empty).is_ok(), "{empty}");
    }

    #[test]
    fn rows_are_lines() {
        let row = Row {
            loc: Some("https://e.com/\"a\""),
            lastmod: None,
            changefreq: None,
            priority: Some("0.50"),
            file: "a.xml",
            line: Some(4),
            locs: &[],
            extensions: Extensions { image: 2, ..Extensions::default() },
        };
        let expected = concat!(
            r#"{"loc":"https://e.com/\"a\"","lastmod":null,"changefreq":null,"priority":"0.50","file":"a.xml","line":4,"#,
            r#""extensions":{"image":2,"video":0,"news":0,"alternate":0,"other":0}}"#,
            "\n"
        );
        assert_eq!(written(|out| row_json(out, &row)), expected);
    }

    #[test]
    fn control_characters_of_a_loc_are_percent_encoded() {
        let table = [("https://e.com/ü", "https://e.com/ü\n"), ("a\nb\u{1b}c\u{85}", "a%0Ab%1Bc%C2%85\n"), ("", "\n")];
        for (loc, expected) in table {
            assert_eq!(written(|out| loc_text(out, loc)), expected);
        }
    }
}
