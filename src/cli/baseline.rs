//! The baseline file: known findings that `check` does not report again.
//!
//! A finding is known by its rule, the name of its file, the URL of its row and its field, not by its line, which
//! moves. Several alike are counted, so that one more of a kind is new.

use super::Failure;
use super::output::{FindingView, json_document};
use crate::session::located_finding::LocatedFinding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// What a finding is known by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    rule: String,
    /// The name of the file, without its folder: a checkout may lie anywhere.
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field: Option<String>,
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    known: Known,
    count: u64,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Document {
    version: u64,
    findings: Vec<Entry>,
}

/// The version of the file's form.
const VERSION: u64 = 1;

/// Findings that are accepted, each so often.
#[derive(Debug, Default)]
pub(super) struct Baseline(BTreeMap<Known, u64>);

impl Baseline {
    /// Reads the file.
    ///
    /// # Errors
    /// A file that cannot be read, or that is none, with the place.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = super::read_own(path, "write it first: sited check PATH --write-baseline FILE")?;
        let wrong = |why: String| {
            let hint = "write it again: sited check PATH --write-baseline FILE".to_owned();
            Failure::Usage(format!("{}: {why}", path.display()), hint)
        };
        let document: Document =
            serde_json::from_str(&text).map_err(|error| wrong(format!("this is not a baseline: {error}")))?;
        if document.version != VERSION {
            return Err(wrong(format!(
                "the baseline has version {}; this sited reads version {VERSION}",
                document.version
            )));
        }
        let mut known = BTreeMap::new();
        for entry in document.findings {
            *known.entry(entry.known).or_default() += entry.count;
        }
        Ok(Self(known))
    }

    /// Takes down one more.
    pub(super) fn add(&mut self, finding: &LocatedFinding) {
        *self.0.entry(Known::of(finding)).or_default() += 1;
    }

    /// How many findings it holds.
    pub(super) fn len(&self) -> u64 {
        self.0.values().sum()
    }

    /// Takes out a finding if it is known; so often as it is here.
    pub(super) fn takes(&mut self, finding: &LocatedFinding) -> bool {
        match self.0.get_mut(&Known::of(finding)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// The file's bytes, in a stable order.
    pub(super) fn written(&self) -> io::Result<Vec<u8>> {
        let findings = self.0.iter().map(|(known, count)| Entry { known: known.clone(), count: *count }).collect();
        let mut out = Vec::new();
        json_document(&mut out, &Document { version: VERSION, findings })?;
        Ok(out)
    }
}

impl Known {
    fn of(reported: &LocatedFinding) -> Self {
        let finding = FindingView::from(reported);
        // What is listed once for a file is known by the file, or by the host in it: its first place moves.
        let is_grouped = reported.finding.rule.grouping().is_some();
        let name = Path::new(finding.file).file_name().map_or(finding.file.into(), |name| name.to_string_lossy());
        Self {
            rule: finding.rule.to_owned(),
            file: name.into_owned(),
            loc: finding.loc.filter(|_| !is_grouped).map(str::to_owned),
            field: finding.field.filter(|_| !is_grouped).map(str::to_owned),
        }
    }
}
