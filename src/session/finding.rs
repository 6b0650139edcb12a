//! The types of findings: what is wrong, where, and which fix there is.

use crate::check::Fix;
use crate::check::extension::ExtensionPart;
use crate::check::rule::Rule;
use crate::document::rows::RowId;
use crate::document::sitemap::{Member, SitemapId};
use crate::protocol::{Field, Severity};
use std::sync::Arc;

/// A finding in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// Which value, if it is about one.
    pub field: Option<Field>,
    /// What is wrong with this very value, and what would be right.
    pub message: String,
    /// What one key would do about it.
    pub fix: Option<Fix>,
    /// Line and column in the file as stored, where they are known without its bytes.
    pub at: Option<(u64, u64)>,
    /// The element of an extension that it is about.
    pub part: Option<ExtensionPart>,
    /// Where it is in the text of its row, in bytes, if that is neither a field's place nor that of such an element.
    pub offset: Option<u32>,
}

impl Finding {
    /// A finding without a fix.
    pub const fn new(rule: Rule, severity: Severity, field: Option<Field>, message: String) -> Self {
        Self { rule, severity, field, message, fix: None, at: None, part: None, offset: None }
    }

    /// What it is about, as the file calls it: `lastmod`, `video:duration`; `None` for the entry as a whole.
    pub fn subject(&self) -> Option<&str> {
        self.field.map(Field::name).or_else(|| self.part.as_ref().map(|part| &*part.name))
    }
}

/// What a finding that no row carries is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingTarget {
    /// A sitemap file.
    Sitemap(SitemapId),
    /// The index, or one of its entries.
    Index(Option<usize>),
    /// A further file of the index, by its number; the first is 0 and is the index.
    IndexFile(usize),
    /// The set.
    Set,
}

impl FindingTarget {
    /// Whether it is the index, one of its files or of its entries.
    pub const fn is_of_index(self) -> bool {
        matches!(self, Self::Index(_) | Self::IndexFile(_))
    }
}

/// A finding about a file, the index or the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFinding {
    /// What it is about.
    pub place: FindingTarget,
    /// Which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// Which value, if it is about one.
    pub field: Option<Field>,
    /// What is wrong.
    pub message: String,
    /// What one key would do about it.
    pub fix: Option<Fix>,
    /// Line and column in the file as stored, where they are known without its bytes.
    pub at: Option<(u64, u64)>,
}

/// A finding with its place, for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The file, as its path was opened or relative to the set.
    pub file: Arc<str>,
    /// Line and column, from 1; `None` for the file or the set as a whole.
    pub at: Option<(u64, u64)>,
    /// The row; `None` for a file, the index or the set.
    pub row: Option<RowId>,
    /// The row's URL; empty for a file.
    pub loc: Arc<str>,
    /// The finding.
    pub finding: Finding,
}

impl FindingTarget {
    /// The file that is fixed to end a finding here; `None` for the set.
    pub const fn member(self) -> Option<Member> {
        match self {
            Self::Sitemap(id) => Some(Member::Sitemap(id)),
            Self::Index(_) | Self::IndexFile(_) => Some(Member::Index),
            Self::Set => None,
        }
    }
}
