//! Parses fields whose start tags have attributes, if an earlier entry had the same tag: most files have the same one in
//! every entry.

use super::{EntryBytes, TextElement, Walk, end_tag_len, text_before_tag};
use crate::protocol::Field;
use crate::xml::damage::DamageLog;
use crate::xml::entry::{Anomalies, Entry};
use crate::xml::markup::Markup;

/// A start tag that is well-formed and declares no namespace.
#[derive(Debug, Default)]
struct FieldTag {
    text: Vec<u8>,
    /// Length of `<` and the name.
    name_end: usize,
    /// The anomalies of its attributes.
    anomalies: Anomalies,
}

/// The last start tag with attributes of each field.
#[derive(Debug, Default)]
pub(in crate::xml) struct FieldTags([FieldTag; Field::ALL.len()]);

impl FieldTags {
    /// Keeps the start tag of a field, whose attributes have only these anomalies, for the next entries.
    pub(in crate::xml) fn keep(&mut self, bytes: &[u8], tag: &Markup, field: Field, anomalies: Anomalies) {
        let kept = &mut self.0[field.index()];
        kept.text.clear();
        kept.text.extend_from_slice(bytes.get(tag.start..tag.end).unwrap_or_default());
        (kept.name_end, kept.anomalies) = (tag.name_end - tag.start, anomalies);
    }

    /// Parses the field at `at` if its start tag is the one that was kept, it contains only text and it is the first of
    /// its name. Returns the offset after it.
    pub(in crate::xml) fn parse(
        &self,
        damage: &mut DamageLog,
        inside: &EntryBytes<'_>,
        at: usize,
        entry: &mut Entry,
    ) -> Option<(usize, Field)> {
        let EntryBytes { bytes, lead, .. } = *inside;
        let field = super::likely_field(bytes, at)?;
        let FieldTag { text, name_end, anomalies } = &self.0[field.index()];
        let name = text.get(1..*name_end)?;
        let rest = bytes.get(at..)?.strip_prefix(text.as_slice())?;
        if entry.field(field).is_some() {
            return None;
        }
        let (len, is_escaped) = text_before_tag(rest)?;
        let close = end_tag_len(rest.get(len..)?, name)?;
        entry.anomalies.insert(*anomalies);
        let mut walk = Walk { damage, bytes, lead, at, end: at, reached: 0, entry };
        walk.add_text(field, &TextElement::at(at, text.len(), len, close), is_escaped);
        Some((walk.end, field))
    }
}
