//! The baseline file: known findings that `check` does not report again.
//!
//! A finding is identified by its rule, file name, URL and field, and not by its line, which changes with every edit.
//! Equal findings are counted, so that an additional one is reported.

use super::Failure;
use super::json_text::json_document;
use super::output::FindingView;
use crate::session::located_finding::LocatedFinding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The identity of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct FindingKey {
    rule: String,
    /// The name of the file without its folder, so that a baseline works in any checkout.
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field: Option<String>,
}

/// A finding in the file, and how often it occurs.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    key: FindingKey,
    count: u64,
}

/// The baseline file.
#[derive(Debug, Serialize, Deserialize)]
struct Document {
    version: u64,
    findings: Vec<Entry>,
}

/// The version of the file format.
const VERSION: u64 = 1;

/// The number of accepted findings by identity.
#[derive(Debug, Default)]
pub(super) struct Baseline(BTreeMap<FindingKey, u64>);

impl Baseline {
    /// Reads a baseline file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = super::read_text_file(path, "write it first: sited check PATH --write-baseline FILE")?;
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
        let mut counts = BTreeMap::new();
        for entry in document.findings {
            *counts.entry(entry.key).or_default() += entry.count;
        }
        Ok(Self(counts))
    }

    /// Accepts a finding.
    pub(super) fn add(&mut self, finding: &LocatedFinding) {
        *self.0.entry(FindingKey::of(finding)).or_default() += 1;
    }

    /// The number of accepted findings that were not suppressed yet.
    pub(super) fn len(&self) -> u64 {
        self.0.values().sum()
    }

    /// Whether a finding is accepted. Each call uses up one of its count.
    pub(super) fn suppress(&mut self, finding: &LocatedFinding) -> bool {
        match self.0.get_mut(&FindingKey::of(finding)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// The bytes of the file, in a stable order.
    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let findings = self.0.iter().map(|(key, count)| Entry { key: key.clone(), count: *count }).collect();
        let mut out = Vec::new();
        json_document(&mut out, &Document { version: VERSION, findings })?;
        Ok(out)
    }
}

impl FindingKey {
    fn of(reported: &LocatedFinding) -> Self {
        let finding = FindingView::from(reported);
        // A grouped finding is listed at its first place, which may change: URL and field are not part of its identity.
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
