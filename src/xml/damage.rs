//! Damage: positions at which bytes are not well-formed XML.

use super::{escape, markup};
use crate::xml::defect::Defect;

/// A violation of well-formedness, at a byte offset of the scanned bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset.
    pub at: usize,
    /// The kind of violation.
    pub kind: Defect,
}

/// Maximum number of damaged positions that one scan reports.
const DAMAGE_LIMIT: usize = 1_000;

/// The damage that a scan found, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct DamageLog {
    /// The first positions, up to the limit.
    pub list: Vec<Damage>,
    /// Whether the bytes contain `]]>`, which is only allowed as the end of a CDATA section.
    pub(super) has_brackets: bool,
    /// Whether damage is ignored, so that checks for damage alone are skipped.
    pub(super) is_quiet: bool,
}

impl DamageLog {
    /// The log for a scan of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { has_brackets: markup::section_end(bytes).is_some(), ..Self::default() }
    }

    /// A log for parsing without checks that examine the bytes.
    pub(super) fn quiet() -> Self {
        Self { is_quiet: true, ..Self::default() }
    }

    /// Records damage, up to the limit.
    pub(crate) fn note(&mut self, at: usize, kind: Defect) {
        if self.list.len() < DAMAGE_LIMIT {
            self.list.push(Damage { at, kind });
        }
    }

    /// Checks character data for raw ampersands, invalid character references and `]]>`.
    #[inline]
    pub(crate) fn check_text(&mut self, bytes: &[u8], start: usize, end: usize) {
        if self.is_quiet {
            return;
        }
        let text = bytes.get(start..end).unwrap_or_default();
        if let Some(bad) = escape::first_bad_reference(text) {
            // `&#27;` is a reference to a character that XML does not allow.
            let is_reference = text.get(bad..).and_then(escape::reference).is_some();
            self.note(start + bad, if is_reference { Defect::Character } else { Defect::Ampersand });
        }
        if self.has_brackets
            && let Some(at) = memchr::memmem::find(text, b"]]>")
        {
            self.note(start + at, Defect::Angle);
        }
    }
}
