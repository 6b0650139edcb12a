//! Parses the content of an entry: its fields, its extensions, and whatever else is in it.

use super::{Parser, Seek};
use crate::protocol::Field;
use crate::protocol::namespace::Namespace;
use crate::xml::defect::Defect;
use crate::xml::elements::is_extension;
use crate::xml::entry::{Anomalies, Entry};
use crate::xml::fast_path::elements::count;
use crate::xml::fast_path::{self, EntryBytes};
use crate::xml::markup::{self, Kind, Markup};
use crate::xml::names::{FileKind, Meaning};

/// A position in the content of an entry.
struct Place {
    /// The offset in the bytes.
    at: usize,
    /// The last position in schema order (loc, lastmod, changefreq, priority, then everything else) of the children
    /// before it.
    last_order: usize,
}

impl Place {
    /// Moves behind a child that ends at `end`.
    #[inline]
    fn advance(&mut self, end: usize, order: usize, entry: &mut Entry) {
        if order < self.last_order {
            entry.anomalies.insert(Anomalies::OUT_OF_ORDER);
        }
        *self = Self { at: end, last_order: self.last_order.max(order) };
    }
}

impl Parser {
    /// Parses the content of an entry and its end tag; returns the offset after it.
    pub(super) fn content(
        &mut self,
        inside: &EntryBytes<'_>,
        tag: &Markup,
        expected_end: &[u8],
        entry: &mut Entry,
    ) -> usize {
        let mut place = Place { at: tag.end, last_order: 0 };
        if !self.is_thorough {
            (place.at, place.last_order) = fast_path::fields(&mut self.damage, inside, tag.end, entry);
            self.has_unbound |= place.at > tag.end && fast_path::are_fields_unbound(inside, tag.end);
            if let Some(end) = fast_path::end(inside, place.at, tag, entry) {
                return end;
            }
        }
        self.content_after_fields(inside, tag, expected_end, entry, place)
    }

    /// Parses the rest of an entry that has other children than fields in schema order. Kept out of the usual path.
    #[inline(never)]
    fn content_after_fields(
        &mut self,
        inside: &EntryBytes<'_>,
        tag: &Markup,
        expected_end: &[u8],
        entry: &mut Entry,
        mut place: Place,
    ) -> usize {
        let EntryBytes { bytes, lead, .. } = *inside;
        let relative = |position: usize| (position - lead) as u32;
        loop {
            if !self.is_thorough {
                let at = fast_path::skip_blanks(bytes, place.at);
                if let Some(end) = fast_path::end(inside, at, tag, entry) {
                    return end;
                }
                if fast_path::is_end_at(bytes, at, expected_end, tag.name(bytes)) {
                    let end = at + expected_end.len();
                    self.has_elements = false;
                    entry.close = relative(end - tag.name(bytes).len() - "</>".len());
                    entry.len = relative(end);
                    return end;
                }
                if self.fast_child(inside, at, entry, &mut place) {
                    continue;
                }
            }
            if let Some(end) = self.token(inside, tag, entry, &mut place) {
                return end;
            }
        }
    }

    /// Parses the child of an entry whose `<` is at `at`, if the fast path supports it.
    #[inline]
    fn fast_child(&mut self, inside: &EntryBytes<'_>, at: usize, entry: &mut Entry, place: &mut Place) -> bool {
        let parsed = match fast_path::late_field(&mut self.damage, inside, at, entry) {
            Some((end, field)) => {
                self.has_unbound |= inside.names.bare_is_unbound();
                Some((end, field.index()))
            }
            None if fast_path::is_field_tag(inside.bytes, at) => self.field_with_kept_tag(inside, at, entry),
            None => self.parse_extension(inside, at, entry).map(|end| (end, AFTER_FIELDS)),
        };
        let Some((end, order)) = parsed else { return false };
        place.advance(end, order, entry);
        true
    }

    /// Parses the field at `at`, with attributes, by its position in schema order, if an earlier entry had the same tag.
    #[inline(never)]
    fn field_with_kept_tag(&mut self, inside: &EntryBytes<'_>, at: usize, entry: &mut Entry) -> Option<(usize, usize)> {
        if self.is_declaring {
            return None;
        }
        let (end, field) = self.field_tags.parse(&mut self.damage, inside, at, entry)?;
        Some((end, field.index()))
    }

    /// Checks the start tag of a field, and records the anomalies of its attributes.
    fn check_field_tag(&mut self, inside: &EntryBytes<'_>, tag: &Markup, field: Field, entry: &mut Entry) {
        let EntryBytes { bytes, names, .. } = *inside;
        self.check_tag(bytes, tag);
        let mut anomalies = Anomalies::empty();
        self.note_attributes(bytes, tag, names, &mut anomalies);
        entry.anomalies.insert(anomalies);
        // Without damage so far, this tag has none. A parser for one entry is quiet.
        let is_sound = self.damage.list.is_empty() && !self.damage.is_quiet;
        let is_usual = names.kind == FileKind::Urlset && !self.is_declaring && tag.kind == Kind::Start;
        if is_sound && is_usual && Anomalies::ATTRIBUTE.contains(anomalies) && !tag.attributes(bytes).is_empty() {
            self.field_tags.keep(bytes, tag, field, anomalies);
        }
    }

    /// Lists or skips the extension element whose `<` is at `at`, if the fast path supports it.
    #[inline]
    fn parse_extension(&mut self, inside: &EntryBytes<'_>, at: usize, entry: &mut Entry) -> Option<usize> {
        if inside.bytes.get(at) != Some(&b'<') || self.is_thorough {
            return None;
        }
        if self.damage.is_quiet {
            return fast_path::elements::skip(inside, at, entry);
        }
        if !self.has_elements {
            return None;
        }
        self.noted.parse(inside, (at, self.damage.has_brackets), entry)
    }

    /// Parses the next token of an entry, and the whole child if that is a start tag. Returns the offset after the entry
    /// if it ends there. Kept out of the usual path.
    #[inline(never)]
    fn token(&mut self, inside: &EntryBytes<'_>, tag: &Markup, entry: &mut Entry, place: &mut Place) -> Option<usize> {
        let EntryBytes { bytes, lead, names } = *inside;
        let relative = |position: usize| (position - lead) as u32;
        let Some(child) = markup::next(bytes, place.at) else {
            self.damage.note(place.at, Defect::Unclosed);
            return Some(finish_broken(entry, lead, bytes.len()));
        };
        let has_text = !markup::is_blank(bytes.get(place.at..child.start).unwrap_or_default());
        if has_text {
            entry.anomalies.insert(Anomalies::STRAY_TEXT);
            self.damage.check_text(bytes, place.at, child.start);
        }
        match child.kind {
            Kind::End if child.name(bytes) == tag.name(bytes) => {
                entry.close = relative(child.start);
                entry.len = relative(child.end);
                return Some(child.end);
            }
            Kind::End => {
                self.damage.note(child.start, Defect::EndTag);
                // The root ends here, so this entry was never closed.
                if names.is_root(child.name(bytes)) {
                    return Some(finish_broken(entry, lead, child.start));
                }
                entry.anomalies.insert(Anomalies::BROKEN);
            }
            Kind::Start | Kind::Empty => {
                if names.is_entry_tag(bytes, &child) {
                    self.damage.note(child.start, Defect::Unclosed);
                    return Some(finish_broken(entry, lead, place.at));
                }
                if has_text {
                    // The fast path may support it.
                    place.at = child.start;
                } else {
                    self.child(inside, &child, entry, place);
                }
                return None;
            }
            Kind::Cdata => {
                // Blank text is not stray, even in a CDATA section.
                let inside = bytes.get(child.start + CDATA_START_LEN..child.end.saturating_sub(3)).unwrap_or_default();
                if !markup::is_blank(inside) {
                    entry.anomalies.insert(Anomalies::STRAY_TEXT);
                }
            }
            Kind::Stray => {
                self.damage.note(child.start, Defect::Angle);
                entry.anomalies.insert(Anomalies::BROKEN);
            }
            Kind::Comment | Kind::Instruction | Kind::Declaration => self.check_misc(bytes, &child),
        }
        place.at = child.end;
        None
    }

    /// Parses one child of an entry.
    fn child(&mut self, inside: &EntryBytes<'_>, tag: &Markup, entry: &mut Entry, place: &mut Place) {
        let EntryBytes { bytes, lead, names } = *inside;
        let (meaning, local) = names.resolve(bytes, tag);
        let field = match (meaning, local) {
            (Meaning::Core, b"loc") => Some(Field::Loc),
            (Meaning::Core, b"lastmod") => Some(Field::Lastmod),
            (Meaning::Core, b"changefreq") => Some(Field::Changefreq),
            (Meaning::Core, b"priority") => Some(Field::Priority),
            _ => None,
        };
        let order = field.map_or(AFTER_FIELDS, Field::index);
        let Some(field) = field else {
            match meaning {
                Meaning::Core => {
                    entry.anomalies.insert(Anomalies::UNKNOWN_CHILD);
                    if names.is_recased(tag.name(bytes)) {
                        self.damage.note(tag.start, Defect::Misplaced);
                    }
                }
                Meaning::Extension(namespace) => {
                    count(entry, namespace, local == b"link");
                    self.has_elements &= !is_extension(meaning);
                    if namespace == Namespace::Other {
                        entry.anomalies.insert(Anomalies::FOREIGN);
                    }
                }
            }
            let seeks = if meaning == Meaning::Core { Seek::Misplaced } else { Seek::Nothing };
            let end = self.skip_seeking(bytes, tag, names, seeks);
            if self.take_undeclared() {
                entry.anomalies.insert(Anomalies::UNDECLARED);
            }
            return place.advance(end, order, entry);
        };
        if names.kind == FileKind::Index && matches!(field, Field::Changefreq | Field::Priority) {
            entry.anomalies.insert(Anomalies::FIELD_IN_SITEMAP);
        }
        self.has_unbound |= names.is_unbound(tag.name(bytes));
        self.check_field_tag(inside, tag, field, entry);
        let (span, end, broken) = self.field(bytes, lead, tag, names);
        if self.take_undeclared() {
            entry.anomalies.insert(Anomalies::UNDECLARED);
        }
        if broken {
            entry.anomalies.insert(Anomalies::BROKEN);
        }
        match &mut entry.fields[field.index()] {
            empty @ None => *empty = Some(span),
            Some(_) if field == Field::Loc => entry.anomalies.insert(Anomalies::LOC_TWICE),
            Some(_) => entry.anomalies.insert(Anomalies::FIELD_TWICE),
        }
        place.advance(end, order, entry);
    }
}

/// The position of extensions in schema order: after all fields.
const AFTER_FIELDS: usize = 4;

/// Length of `<![CDATA[`.
const CDATA_START_LEN: usize = 9;

fn finish_broken(entry: &mut Entry, lead: usize, end: usize) -> usize {
    entry.anomalies.insert(Anomalies::BROKEN);
    entry.close = (end - lead) as u32;
    entry.len = entry.close;
    end
}
