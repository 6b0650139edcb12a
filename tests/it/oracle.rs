//! Compares findings with the official schemas: rejected files have at least a warning, valid files have no error.
//!
//! The schemas are in the folder that `SITED_SCHEMAS` names; without it these tests print that nothing was compared.

use sited::files::Options;
use sited::protocol::Severity;
use sited::protocol::lastmod::Now;
use sited::session::Session;
use sited::session::report;
use sited::session::store::load;
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

/// The findings of a file with one entry, as code and severity.
fn findings(entry: &str) -> Vec<(String, Severity)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let root = "http://www.sitemaps.org/schemas/sitemap/0.9";
    std::fs::write(&path, format!("<urlset xmlns=\"{root}\">{entry}</urlset>")).unwrap();
    let found = report::all_findings(&open(&path)).into_iter().map(|found| found.finding);
    found.map(|finding| (finding.rule.code().to_owned(), finding.severity)).collect()
}

#[test]
fn values_that_the_schema_rejects_are_at_least_a_warning() {
    let Some(folder) = schemas() else { return };
    let probes = std::fs::read_to_string(folder.join("PROBES.md")).expect("the probes beside the schemas");
    let (mut field, mut count, mut missed) = ("", 0, Vec::new());
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
        count += 1;
        let found = findings(&format!("<url><loc>https://www.site-a.org/</loc><{field}>{value}</{field}></url>"));
        if !found.iter().any(|(_, severity)| *severity >= Severity::Warning) {
            missed.push(format!("{field} `{value}`: {found:?}"));
        }
    }
    assert!(count > 30, "only {count} rejected values were read");
    assert!(missed.is_empty(), "the schema rejects these and nothing is said: {missed:#?}");
}

#[test]
fn structures_that_the_schema_rejects_are_at_least_a_warning() {
    let loc = "<loc>https://www.site-a.org/</loc>";
    let table = [
        ("priority before loc", format!("<url><priority>0.5</priority>{loc}</url>")),
        (
            "changefreq before lastmod",
            format!("<url>{loc}<changefreq>daily</changefreq><lastmod>2026-01-01</lastmod></url>"),
        ),
        ("two loc", format!("<url>{loc}{loc}</url>")),
        ("two lastmod", format!("<url>{loc}<lastmod>2026-01-01</lastmod><lastmod>2026-01-02</lastmod></url>")),
        ("empty url", "<url></url>".to_owned()),
        ("urlset without url", String::new()),
        ("loc 11 characters", "<url><loc>http://t.co</loc></url>".to_owned()),
        ("loc 2049", format!("<url><loc>https://www.site-a.org/{}</loc></url>", "x".repeat(2_026))),
        ("loc with %zz", "<url><loc>https://www.site-a.org/%zz</loc></url>".to_owned()),
        ("element inside loc", "<url><loc>https://<b>www.site-a.org</b>/</loc></url>".to_owned()),
        ("attribute on loc", format!("<url>{}</url>", loc.replace("<loc>", "<loc a='b'>"))),
        ("attribute on url", format!("<url a='b'>{loc}</url>")),
        ("text inside url", format!("<url>text{loc}</url>")),
        ("unknown element, no namespace", format!("<url>{loc}<unknown xmlns=''>a</unknown></url>")),
        ("unknown element, same namespace", format!("<url>{loc}<unknown>a</unknown></url>")),
    ];
    for (name, entry) in &table {
        let found = findings(entry);
        // A wrong order of elements violates only the schema, so it is a note.
        let is_order = found.iter().any(|(rule, _)| *rule == "entry-child-order");
        assert!(is_order || found.iter().any(|(_, severity)| *severity >= Severity::Warning), "{name}: {found:?}");
    }
    // The table has every structure that the schema rejects, with one exception: the protocol allows elements of other
    // namespaces, which the schema rejects unless their schema is given.
    let Some(folder) = schemas() else { return };
    let probes = std::fs::read_to_string(folder.join("PROBES.md")).expect("the probes beside the schemas");
    let structure = probes.split("## structure").nth(1).expect("a section about structure");
    let rows = structure.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rejected: Vec<&str> = rows
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .filter(|(name, verdicts)| verdicts.starts_with("reject") && *name != "unknown element, other namespace")
        .map(|(name, _)| name)
        .collect();
    assert_eq!(rejected, table.each_ref().map(|(name, _)| *name));
}

#[test]
fn documents_that_the_schema_accepts_have_no_error() {
    let Some(folder) = schemas() else { return };
    let mut count = 0;
    for entry in std::fs::read_dir(folder.join("samples")).expect("samples beside the schemas") {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("ok_") {
            continue;
        }
        count += 1;
        let errors: Vec<String> = report::all_findings(&open(&path))
            .into_iter()
            .filter(|found| found.finding.severity == Severity::Error)
            // The files that the index lists are not beside it.
            .filter(|found| found.finding.rule.code() != "index-child-missing")
            .map(|found| format!("{}: {}", found.finding.rule.code(), found.finding.message))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
    assert!(count > 1, "no sample was read");
}

#[test]
fn each_invalid_schema_sample_has_its_finding() {
    let Some(folder) = schemas() else { return };
    let table = [
        ("bad_084.xml", "loc-too-short"),
        ("bad_core.xml", "priority-range"),
        ("bad_geo.xml", "geo-format"),
        ("bad_hreflang.xml", "hreflang-attr"),
        ("bad_image.xml", "image-loc-missing"),
        ("bad_index.xml", "loc-missing"),
        ("bad_mobile.xml", "mobile-not-empty"),
        ("bad_news.xml", "news-language"),
        ("bad_pagemap.xml", "pagemap-structure"),
        ("bad_video.xml", "video-duration"),
    ];
    let mut names: Vec<String> = std::fs::read_dir(folder.join("samples"))
        .expect("samples beside the schemas")
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("bad_"))
        .collect();
    names.sort();
    assert_eq!(names, table.map(|(name, _)| name));
    for (name, code) in table {
        let report = report::all_findings(&open(&folder.join("samples").join(name)));
        let found = report.iter().find(|found| found.finding.rule.code() == code);
        assert!(found.is_some_and(|found| found.finding.severity >= Severity::Warning), "{name} lacks {code}");
    }
}
