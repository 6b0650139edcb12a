//! A finding: the violated rule, the row, file, index or set that violates it, and its fix.

use super::action::Fix;
use super::rule::{Profile, Rule};
use crate::document::lines::LineColumn;
use crate::document::rows::RowId;
use crate::document::sitemap::{Member, SitemapId};
use crate::protocol::{Field, Severity};

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The violated rule.
    pub rule: Rule,
    /// The severity of the rule in the profile in use.
    pub severity: Severity,
    /// The row, file, index or set that violates the rule.
    pub target: FindingTarget,
    /// The element, value or byte of the target that violates it.
    pub position: Position,
    /// The fault of this value, and the allowed values.
    pub message: String,
    /// The change that removes the finding, if there is one.
    pub fix: Option<Fix>,
}

/// The part of the set that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingTarget {
    /// A row; `None` for a value or an entry that has no row, and for several rows together.
    Row(Option<RowId>),
    /// A sitemap file.
    Sitemap(SitemapId),
    /// The index, or one of its entries.
    Index(Option<usize>),
    /// A volume of the index, by its number; 0 is the index file itself.
    IndexFile(usize),
    /// The set.
    Set,
}

/// Where in its target a finding is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Position {
    /// The target as a whole.
    #[default]
    Whole,
    /// A field of an entry.
    Field(Field),
    /// An element of an extension.
    Element(ExtensionPart),
    /// A byte of an entry's text.
    Offset(u32),
    /// Line and column in the stored file, for bytes that a repair changed.
    Stored(LineColumn),
}

/// The element of an extension that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionPart {
    /// Its name with the customary prefix: `video:duration`.
    pub name: Box<str>,
    /// Offset of its start tag in the entry text, in bytes.
    pub at: u32,
}

impl Finding {
    /// A finding without a fix about an entry as a whole.
    pub const fn new(rule: Rule, severity: Severity, message: String) -> Self {
        let (target, position) = (FindingTarget::Row(None), Position::Whole);
        Self { rule, severity, target, position, message, fix: None }
    }

    /// A finding with the severity that a profile gives its rule; `None` if the profile leaves the rule out.
    pub(crate) fn in_profile(rule: Rule, profile: Profile, message: impl FnOnce() -> String) -> Option<Self> {
        rule.severity_in(profile).map(|severity| Self::new(rule, severity, message()))
    }

    /// This finding about another target.
    #[must_use]
    pub fn of(self, target: FindingTarget) -> Self {
        Self { target, ..self }
    }

    /// This finding at a position of its target.
    #[must_use]
    pub fn at(self, position: Position) -> Self {
        Self { position, ..self }
    }

    /// This finding with a fix, or without one.
    #[must_use]
    pub fn with_fix(self, fix: Option<Fix>) -> Self {
        Self { fix, ..self }
    }

    /// The field that it is about.
    pub const fn field(&self) -> Option<Field> {
        self.position.field()
    }

    /// The name of the field or element that it is about: `lastmod`, `video:duration`.
    pub fn subject(&self) -> Option<&str> {
        match &self.position {
            Position::Field(field) => Some(field.name()),
            Position::Element(part) => Some(&part.name),
            Position::Whole | Position::Offset(_) | Position::Stored(_) => None,
        }
    }
}

impl Position {
    /// A field, or the target as a whole.
    pub(crate) fn of_field(field: Option<Field>) -> Self {
        field.map_or(Self::Whole, Self::Field)
    }

    /// The field.
    pub const fn field(&self) -> Option<Field> {
        match self {
            Self::Field(field) => Some(*field),
            _ => None,
        }
    }

    /// Line and column in the stored file, if known without its bytes.
    pub const fn stored(&self) -> Option<LineColumn> {
        match self {
            Self::Stored(position) => Some(*position),
            _ => None,
        }
    }
}

impl FindingTarget {
    /// Whether it is a row, or several.
    pub const fn is_of_row(self) -> bool {
        matches!(self, Self::Row(_))
    }

    /// Whether it is the index, one of its files or of its entries.
    pub const fn is_of_index(self) -> bool {
        matches!(self, Self::Index(_) | Self::IndexFile(_))
    }

    /// The row, if it is one.
    pub const fn row(self) -> Option<RowId> {
        match self {
            Self::Row(row) => row,
            _ => None,
        }
    }

    /// The file whose fix removes the finding; `None` for rows and for the set.
    pub const fn member(self) -> Option<Member> {
        match self {
            Self::Sitemap(id) => Some(Member::Sitemap(id)),
            Self::Index(_) | Self::IndexFile(_) => Some(Member::Index),
            Self::Row(_) | Self::Set => None,
        }
    }
}
