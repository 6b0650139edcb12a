//! The official schemas as a second opinion: what they reject draws at least a warning, what they call sound no error.
//!
//! The schemas lie in the folder that `SITED_SCHEMAS` names; without it these tests say aloud that they saw nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use sited::files::Options;
use sited::protocol::Severity;
use sited::protocol::lastmod::Now;
use sited::session::Session;
use sited::session::load;
use std::path::{Path, PathBuf};

const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

fn schemas() -> Option<PathBuf> {
    let folder = std::env::var_os("SITED_SCHEMAS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SITED_SCHEMAS names no folder: the schemas' opinion was NOT asked");
    }
    folder
}

fn open(path: &Path) -> Session {
    load::open(path, Options::default(), NOW).expect("a sound file")
}

/// Findings of a one-entry file, as code and severity; rules about the whole set left out.
fn findings(entry: &str) -> Vec<(String, Severity)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let root = "http://www.sitemaps.org/schemas/sitemap/0.9";
    std::fs::write(&path, format!("<urlset xmlns=\"{root}\">{entry}</urlset>")).unwrap();
    let found = open(&path).report().into_iter().map(|found| found.finding);
    found.map(|finding| (finding.rule.code().to_owned(), finding.severity)).collect()
}

#[test]
fn what_the_schema_rejects_draws_at_least_a_warning() {
    let Some(folder) = schemas() else { return };
    let probes = std::fs::read_to_string(folder.join("PROBES.md")).expect("the probes beside the schemas");
    let (mut field, mut asked, mut missed) = ("", 0, Vec::new());
    for line in probes.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            field = ["lastmod", "priority", "changefreq"].into_iter().find(|field| *field == title).unwrap_or("");
        }
        // | `value` | verdict of 0.9 | verdict of 0.84 |
        let Some(rest) = line.strip_prefix("| `").filter(|_| !field.is_empty()) else { continue };
        let (value, verdicts) = rest.rsplit_once("` |").expect("a value between ticks");
        if !verdicts.trim_start().starts_with("reject") {
            continue;
        }
        asked += 1;
        let found = findings(&format!("<url><loc>https://www.site-a.org/</loc><{field}>{value}</{field}></url>"));
        if !found.iter().any(|(_, severity)| *severity >= Severity::Warning) {
            missed.push(format!("{field} `{value}`: {found:?}"));
        }
    }
    assert!(asked > 30, "only {asked} rejected values were read");
    assert!(missed.is_empty(), "the schema rejects these and nothing is said: {missed:#?}");
}

#[test]
fn what_the_schema_rejects_in_structure_draws_at_least_a_warning() {
    let loc = "<loc>https://www.site-a.org/</loc>";
    let table = [
        format!("<url><priority>0.5</priority>{loc}</url>"),
        format!("<url>{loc}<changefreq>daily</changefreq><lastmod>2026-01-01</lastmod></url>"),
        format!("<url>{loc}{loc}</url>"),
        format!("<url>{loc}<lastmod>2026-01-01</lastmod><lastmod>2026-01-02</lastmod></url>"),
        "<url></url>".to_owned(),
        String::new(),
        "<url><loc>http://a.io</loc></url>".to_owned(),
        format!("<url><loc>https://www.site-a.org/{}</loc></url>", "x".repeat(2_026)),
        "<url><loc>https://www.site-a.org/%zz</loc></url>".to_owned(),
        "<url><loc>https://<b>www.site-a.org</b>/</loc></url>".to_owned(),
        format!("<url>{}</url>", loc.replace("<loc>", "<loc a='b'>")),
        format!("<url a='b'>{loc}</url>"),
        format!("<url>text{loc}</url>"),
        format!("<url>{loc}<unknown>a</unknown></url>"),
    ];
    for entry in table {
        let found = findings(&entry);
        assert!(found.iter().any(|(_, severity)| *severity >= Severity::Warning), "{entry}: {found:?}");
    }
}

#[test]
fn what_the_schemas_call_sound_draws_no_error() {
    let Some(folder) = schemas() else { return };
    let mut asked = 0;
    for entry in std::fs::read_dir(folder.join("samples")).expect("samples beside the schemas") {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // An index names children that do not lie beside it; that is another matter.
        if !name.starts_with("ok_") || name.contains("index") {
            continue;
        }
        asked += 1;
        let errors: Vec<String> = open(&path)
            .report()
            .into_iter()
            .filter(|found| found.finding.severity == Severity::Error)
            .map(|found| format!("{}: {}", found.finding.rule.code(), found.finding.message))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
    assert!(asked > 1, "no sample was read");
}
