//! Recognizes XML declarations, processing instructions and DOCTYPEs.

use super::markup::{self, Markup};
use super::wellformed;

/// The content between `<?` and `?>`.
pub(super) fn inside<'b>(bytes: &'b [u8], markup: &Markup) -> &'b [u8] {
    bytes.get(markup.start + 2..markup.end.saturating_sub(2)).unwrap_or_default()
}

/// Whether a declaration is a well-formed DOCTYPE.
pub(super) fn is_sound_doctype(bytes: &[u8], markup: &Markup) -> bool {
    wellformed::doctype(bytes.get(markup.start..markup.end).unwrap_or_default()).is_some()
}

/// Whether an instruction is `<?xml …?>`.
pub(super) fn is_declaration(bytes: &[u8], markup: &Markup) -> bool {
    let inside = bytes.get(markup.start + 2..markup.end).unwrap_or_default();
    inside.starts_with(b"xml") && inside.get(3).is_some_and(|byte| markup::is_space(*byte))
}

/// Whether an instruction or XML declaration is well-formed (XML 1.0, productions 16 and 23).
pub(super) fn is_sound(bytes: &[u8], markup: &Markup) -> bool {
    let inside = inside(bytes, markup);
    if is_declaration(bytes, markup) {
        wellformed::is_declaration(inside.get(3..).unwrap_or_default())
    } else {
        wellformed::is_instruction(inside)
    }
}
