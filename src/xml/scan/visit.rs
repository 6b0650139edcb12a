//! `Visit`: the visitor that a scan calls for each entry, while its bytes are in the CPU cache.

use super::super::elements::Elements;
use super::super::entry::Entry;
use super::super::names::Names;

/// A visitor of the entries of a file, in file order.
pub trait Visit {
    /// Called once for each entry, with its text (including leading whitespace and comments).
    fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names);

    /// [`Visit::entry`] with the extension elements that the scan has found. This is the method that the scan calls.
    fn parsed(&mut self, parsed: &ParsedEntry<'_>, names: &Names) {
        self.entry(parsed.text, parsed.entry, names);
    }

    /// The length of the next entry and the blanks before it, if the visitor recognises it at the start of `rest`: it must
    /// be the one that is expected, without anomalies and extensions. It then counts as visited, and is not parsed. `rest`
    /// are the bytes after another entry.
    fn recognise(&mut self, _rest: &[u8], _names: &Names) -> Option<usize> {
        None
    }

    /// The bytes with which the next entry is expected to end, from an extension element to the entry's end tag.
    ///
    /// They must come from a scan without damage, from an entry without anomalies below a root with the same names. If
    /// the entry ends with them, they are compared instead of tokenized, and its extensions are not counted.
    fn expected_end(&mut self, _names: &Names) -> &[u8] {
        b""
    }

    /// Returns a new visitor for later entries of the same file, which is merged by [`Visit::join`]. `None` if all
    /// entries must be visited sequentially.
    fn fork(&mut self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Merges a fork that has visited the entries after those of this visitor.
    fn join(&mut self, _later: Self)
    where
        Self: Sized,
    {
    }
}

/// A scanned entry.
#[derive(Debug, Clone, Copy)]
pub struct ParsedEntry<'e> {
    /// Its text, including leading whitespace and comments.
    pub text: &'e [u8],
    /// The parsed text.
    pub entry: &'e Entry,
    /// Its extension elements, if the scan has listed them.
    pub elements: Option<&'e Elements>,
    /// The text as a `str`, if the file is known to be UTF-8.
    pub utf8: Option<&'e str>,
    /// Whether the extensions are the same bytes as those of the previous entry.
    pub repeats: bool,
}

impl<'e> ParsedEntry<'e> {
    /// An entry without further information.
    pub const fn new(text: &'e [u8], entry: &'e Entry) -> Self {
        Self { text, entry, elements: None, utf8: None, repeats: false }
    }
}

/// A visitor that does nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Ignore;

impl Visit for Ignore {
    fn entry(&mut self, _: &[u8], _: &Entry, _: &Names) {}
}
