//! Damage: where bytes fail to be well-formed XML.

use super::escape;

/// Something that is not well-formed, at a byte offset of the bytes that were scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset.
    pub at: usize,
    /// What is wrong there.
    pub kind: DamageKind,
}

/// The ways in which bytes fail to be well-formed XML 1.0 (rule codes of section 4 in brackets).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DamageKind {
    /// `&` that starts no reference \[xml-unescaped-ampersand, xml-unknown-entity\].
    Ampersand,
    /// `<` that starts no markup, or markup that does not end \[xml-unescaped-angle\].
    Angle,
    /// An end tag that does not match \[xml-not-well-formed\].
    EndTag,
    /// An element that is still open where its parent, or the file, ends \[xml-truncated\].
    Unclosed,
    /// An instruction without a sound target, or an XML declaration or a DOCTYPE that is none \[xml-not-well-formed\].
    Instruction,
    /// Text or elements before the root \[xml-leading-junk, xml-leading-whitespace\].
    BeforeRoot,
    /// Text or elements after the root \[xml-trailing-junk\].
    AfterRoot,
    /// A control character, or a character that XML cannot hold \[xml-illegal-char\].
    Character,
    /// `--` inside a comment \[xml-bad-comment\].
    Comment,
    /// An attribute that stands twice or is not well-formed \[xml-duplicate-attribute\].
    Attribute,
    /// The name of an element has a character that no name may have \[xml-not-well-formed\].
    Name,
    /// A known prefix that nothing declares \[xml-undeclared-prefix\].
    Prefix,
    /// A name of the protocol in other letters, or a loc in no entry \[doc-root-case, doc-entry-outside-root\].
    Outside,
    /// Bytes that are not UTF-8 \[enc-invalid-bytes\].
    Encoding,
    /// No root element at all \[doc-root-unknown\].
    NoRoot,
}

/// Most damages that one scan reports; a file with more is no better described by more.
const DAMAGE_LIMIT: usize = 1_000;

/// The damage that a scan found, up to a limit.
#[derive(Debug, Default)]
pub struct DamageLog {
    /// The first of it.
    pub list: Vec<Damage>,
    /// Whether `]]>`, which may end a CDATA section only, is anywhere in the bytes.
    pub(super) has_brackets: bool,
    /// Whether nobody asks for damage: what only that is looked at for is passed over.
    pub(super) is_quiet: bool,
}

impl DamageLog {
    /// The log for a scan of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { has_brackets: memchr::memmem::find(bytes, b"]]>").is_some(), ..Self::default() }
    }

    /// A log that takes in nothing that costs a look at the bytes.
    pub(super) fn quiet() -> Self {
        Self { is_quiet: true, ..Self::default() }
    }

    /// Notes a damage.
    pub fn note(&mut self, at: usize, kind: DamageKind) {
        if self.list.len() < DAMAGE_LIMIT {
            self.list.push(Damage { at, kind });
        }
    }

    /// Checks character data for raw ampersands.
    #[inline]
    pub fn check_text(&mut self, bytes: &[u8], start: usize, end: usize) {
        if self.is_quiet {
            return;
        }
        let text = bytes.get(start..end).unwrap_or_default();
        if memchr::memchr(b'&', text).is_some()
            && let Some(bad) = escape::first_bad_reference(text)
        {
            // `&#27;` is a sound reference, to a character that XML cannot hold.
            let sound = text.get(bad..).and_then(escape::reference).is_some();
            self.note(start + bad, if sound { DamageKind::Character } else { DamageKind::Ampersand });
        }
        if self.has_brackets
            && let Some(at) = memchr::memmem::find(text, b"]]>")
        {
            self.note(start + at, DamageKind::Angle);
        }
    }
}
