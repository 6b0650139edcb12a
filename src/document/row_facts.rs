//! The properties of rows that queries test and that views are sorted by.

use crate::protocol::changefreq::Changefreq;
use crate::protocol::{Field, Severity};
use std::borrow::Cow;

/// A column of the table that rows can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// The position in the file order.
    Number,
    /// The worst finding; ascending from note to error, none last.
    Findings,
    /// The URL, with digits compared by value.
    Loc,
    /// The date of the last change, compared as an instant.
    Lastmod,
    /// The change frequency, from always to never.
    Changefreq,
    /// The priority.
    Priority,
    /// The name of the sitemap file, with digits compared by value.
    File,
    /// The host of the URL.
    Host,
    /// The path of the URL.
    Path,
    /// The first segment of the path.
    Section,
    /// Number of segments of the path.
    Depth,
    /// The line in the file as stored.
    Line,
    /// Number of extensions of a kind in the entry.
    Count(Extension),
    /// The URLs of images.
    Images,
    /// The URLs of videos.
    Videos,
    /// The URLs of alternate versions.
    Alternates,
    /// The words of `has:` that are true for the row.
    Has,
    /// The words of `is:` that are true for the row.
    Is,
    /// The codes of the rules that the row violates.
    Rules,
}

/// The value of a column for which [`RowFacts`] has no separate method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'v> {
    /// No value; sorted last.
    Absent,
    /// A number.
    Number(u64),
    /// A text, with digits compared by value.
    Text(Cow<'v, str>),
}

/// A property that is decoded already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact<T> {
    /// There is no such element.
    Absent,
    /// The element is present, but its text is invalid.
    Unreadable,
    /// Its value.
    Is(T),
}

/// A kind of extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extension {
    /// `image:image`
    Image,
    /// `video:video`
    Video,
    /// `news:news`
    News,
    /// `xhtml:link`
    Alternate,
    /// Any other namespace.
    Other,
}

impl Extension {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Image, Self::Video, Self::News, Self::Alternate, Self::Other];
}

/// The state of a row: edited, marked, duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// A value differs from the saved one.
    Changed,
    /// Not in the saved file.
    Added,
    /// Will not be in the saved file.
    Deleted,
    /// Marked by the user.
    Marked,
    /// Another row has an equivalent loc.
    Duplicate,
    /// Its text had to be repaired when its file was read.
    Repaired,
}

/// The properties of a row that queries test. All methods except those that return texts must be cheap, since every row
/// is tested.
pub trait RowFacts {
    /// The URL, decoded and trimmed; empty when there is none.
    fn loc(&self) -> Cow<'_, str>;
    /// A field's text, decoded and trimmed; `None` when the element is absent.
    fn value(&self, field: Field) -> Option<Cow<'_, str>>;
    /// The name of the sitemap file, as it is shown.
    fn file(&self) -> &str;
    /// The start of lastmod in seconds since 1970-01-01T00:00:00Z, in UTC.
    fn lastmod(&self) -> Fact<i64>;
    /// The change frequency.
    fn changefreq(&self) -> Fact<Changefreq>;
    /// The priority in hundredths, 0 to 100.
    fn priority(&self) -> Fact<u8>;
    /// Whether the entry contains an extension of this kind.
    fn has_extension(&self, kind: Extension) -> bool;
    /// Whether the row has this state.
    fn is(&self, state: State) -> bool;
    /// Whether the row violates the rule of this index in `Vocabulary::rules`.
    fn has_rule(&self, rule: u16) -> bool;
    /// Whether the row has a finding of this severity.
    fn has_severity(&self, severity: Severity) -> bool;
    /// The value of a column that no other method returns; such columns are only used to sort.
    fn more(&self, _column: Column) -> Value<'_> {
        Value::Absent
    }
}
