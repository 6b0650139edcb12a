//! The protocol (sitemaps.org and extensions): limits, values, namespaces. Pure functions without I/O and clock; every
//! limit and rule names its source.

pub(crate) mod changefreq;
pub(crate) mod extension;
pub mod lastmod;
pub mod limits;
pub(crate) mod location;
pub(crate) mod namespace;
pub(crate) mod priority;
pub(crate) mod robots;
pub(crate) mod verdict;

/// The four core children of `<url>`, spelled as in the XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// `<loc>`: the URL.
    Loc,
    /// `<lastmod>`: W3C Datetime.
    Lastmod,
    /// `<changefreq>`: one of seven words.
    Changefreq,
    /// `<priority>`: 0.0 to 1.0.
    Priority,
}

impl Field {
    /// All fields, in schema order (sitemap.xsd 0.9, `tUrl`).
    pub const ALL: [Self; 4] = [Self::Loc, Self::Lastmod, Self::Changefreq, Self::Priority];

    /// The element's local name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loc => "loc",
            Self::Lastmod => "lastmod",
            Self::Changefreq => "changefreq",
            Self::Priority => "priority",
        }
    }

    /// The field with a name, in exact spelling.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }

    /// Position in [`Field::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The severity of a finding: E, W and I of the rule catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// I: worth knowing.
    Note,
    /// W: accepted but harmful, ignored, or rejected by some.
    Warning,
    /// E: violates the protocol, or engines reject it.
    Error,
}

impl Severity {
    /// `error`, `warning` or `note`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Note, Self::Warning, Self::Error].into_iter().find(|severity| severity.name() == name)
    }
}

/// Why typed text is not a valid value, as a message for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(String);

impl InputError {
    /// An error with this explanation.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
