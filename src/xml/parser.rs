//! Parses one entry and reports its damage; used by the scanner and [`Entry::of`].
//!
//! Any bytes are accepted, and each byte is examined once.

mod content;

use super::damage::DamageLog;
use super::elements::{Elements, is_short_lead};
use super::entry::{Anomalies, Entry, Extensions, FieldSpan, TextKind};
use super::fast_path::EntryBytes;
use super::fast_path::field_tags::FieldTags;
use super::markup::{self, Kind, Markup};
use super::names::{Meaning, Names, is_loc};
use super::noted_elements::NotedElements;
use super::scopes::{Scopes, declared_by};
use super::{instruction, wellformed};
use crate::protocol::namespace;
use crate::xml::defect::Defect;
use std::collections::HashSet;

/// How entries inside a skipped element are classified.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seek {
    /// They are ignored.
    #[default]
    Nothing,
    /// Misplaced rows, inside an element in the sitemap namespace that the protocol does not define.
    Misplaced,
    /// As `Misplaced`, directly below the root, where a `loc` outside of an entry is damage as well.
    Stray,
    /// Content of another namespace, which is not sitemap data.
    Wrapped,
}

/// The element parser that the scanner and [`Entry::of`] share; it reuses its buffers for all entries.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// Names of the open elements below a child, as ranges of the bytes.
    stack: Vec<(u32, u32)>,
    /// Namespace declarations of the open elements below a child.
    scopes: Scopes,
    /// Whether the open entry declares namespaces itself.
    is_declaring: bool,
    /// Whether an element had a prefix that is neither declared nor a usual one.
    has_undeclared: bool,
    /// How an entry inside the skipped element is classified.
    seeks: Seek,
    /// Whether an entry was found inside a skipped element of another namespace.
    has_wrapped: bool,
    /// Whether a parsed entry or field is in no namespace under the root's declarations.
    pub(super) has_unbound: bool,
    /// Damage found so far.
    pub damage: DamageLog,
    /// Whether the fast path for plain entries is disabled.
    pub(super) is_thorough: bool,
    /// The extension elements of the last entry.
    noted: NotedElements,
    /// Whether that list is complete.
    has_elements: bool,
    /// The tags of fields with attributes, for the entries after them.
    field_tags: FieldTags,
}

impl Parser {
    /// A parser for these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { damage: DamageLog::of(bytes), ..Self::default() }
    }

    /// A parser that does not check for damage.
    pub(crate) fn quiet() -> Self {
        Self { damage: DamageLog::quiet(), ..Self::default() }
    }

    /// A parser that uses no fast path.
    pub(super) fn thorough() -> Self {
        Self { is_thorough: true, ..Self::default() }
    }

    /// Checks the name and attributes of a tag.
    #[inline]
    pub(crate) fn check_tag(&mut self, bytes: &[u8], tag: &Markup) {
        if self.damage.is_quiet {
            return;
        }
        if !wellformed::is_name(tag.name(bytes)) {
            self.damage.note(tag.start, Defect::Name);
        }
        if !tag.attributes(bytes).is_empty() {
            let before = self.damage.list.len();
            let brackets = std::mem::take(&mut self.damage.has_brackets);
            self.damage.check_text(bytes, tag.name_end, tag.end);
            self.damage.has_brackets = brackets;
            if self.damage.list.len() == before && !wellformed::is_sound_attributes(tag.attributes(bytes)) {
                self.damage.note(tag.start, Defect::Attribute);
            }
        }
    }

    /// Checks that the prefix of an element is declared. A usual prefix without a declaration is damage, unless the tag
    /// or an outer element declares namespaces: those are not resolved here.
    #[inline]
    fn check_prefix(&mut self, bytes: &[u8], tag: &Markup, names: &Names) {
        let prefix = super::names::split(tag.name(bytes)).0;
        if !prefix.is_empty() && prefix != b"xml" && !names.declares(prefix) {
            self.check_undeclared(bytes, tag, prefix);
        }
    }

    fn check_undeclared(&mut self, bytes: &[u8], tag: &Markup, prefix: &[u8]) {
        if namespace::by_usual_prefix(prefix).is_none() {
            self.has_undeclared |= !self.is_declared(bytes, tag, prefix);
        } else if !self.damage.is_quiet
            && !self.is_declaring
            && self.scopes.is_empty()
            && !markup::may_declare(tag.attributes(bytes))
        {
            self.damage.note(tag.start, Defect::UndeclaredPrefix);
        }
    }

    /// Whether a tag, or an outer element within the same child, declares a prefix.
    fn is_declared(&self, bytes: &[u8], tag: &Markup, prefix: &[u8]) -> bool {
        self.scopes.declares(prefix) || declared_by(tag.attributes(bytes)).any(|own| own == prefix)
    }

    /// Records the anomalies of the attributes of an entry's or a field's tag.
    fn note_attributes(&self, bytes: &[u8], tag: &Markup, names: &Names, anomalies: &mut Anomalies) {
        let attributes = tag.attributes(bytes);
        if attributes.is_empty() {
            return;
        }
        let mut own: Option<HashSet<&[u8]>> = None;
        for attribute in markup::attributes(attributes) {
            let prefix = super::names::split(attribute.name).0;
            match attribute.name {
                b"xmlns" if markup::is_blank(attribute.value) => {
                    anomalies.insert(Anomalies::DECLARES_NAMESPACE);
                    anomalies.insert(Anomalies::NO_NAMESPACE);
                }
                name if name.starts_with(b"xmlns") => anomalies.insert(Anomalies::DECLARES_NAMESPACE),
                name if name.starts_with(b"xsi:") => {}
                _ => anomalies.insert(Anomalies::ATTRIBUTE),
            }
            let needs_no_declaration = prefix.is_empty() || prefix == b"xml" || prefix == b"xmlns";
            if !needs_no_declaration
                && !names.declares(prefix)
                && !self.scopes.declares(prefix)
                // Collected once, since many attributes may have prefixes.
                && !own.get_or_insert_with(|| declared_by(attributes).collect()).contains(prefix)
            {
                anomalies.insert(Anomalies::UNDECLARED);
            }
        }
    }

    /// Returns and resets whether an element had a prefix that is neither declared nor a usual one.
    pub(super) fn take_undeclared(&mut self) -> bool {
        std::mem::take(&mut self.has_undeclared)
    }

    /// Checks a comment, an instruction or a declaration below the root.
    pub(crate) fn check_misc(&mut self, bytes: &[u8], misc: &Markup) {
        match misc.kind {
            _ if self.damage.is_quiet => {}
            Kind::Comment => {
                let inside = bytes.get(misc.start + 4..misc.end.saturating_sub(3)).unwrap_or_default();
                // `<!-->` and `<!--->` are not comments either.
                if misc.end < misc.start + 7 || wellformed::is_bad_comment(inside) {
                    self.damage.note(misc.start, Defect::Comment);
                }
            }
            Kind::Instruction if wellformed::is_instruction(instruction::inside(bytes, misc)) => {}
            Kind::Instruction | Kind::Declaration => self.damage.note(misc.start, Defect::Instruction),
            _ => {}
        }
    }

    /// Parses the entry whose start tag is `tag`. Returns it with the offset after it; positions in the entry are
    /// relative to the start of its text, which begins with whitespace and comments.
    ///
    /// If the entry ends with `expected_end` ([`super::scan::Visit::expected_end`]), those bytes are only compared.
    pub(super) fn entry(&mut self, outside: &EntryBytes<'_>, tag: &Markup, expected_end: &[u8]) -> (Entry, usize) {
        let EntryBytes { bytes, lead, names } = *outside;
        let mut entry = Entry::plain(0);
        self.begin_tag(lead, tag, &mut entry);
        self.check_tag(bytes, tag);
        self.note_attributes(bytes, tag, names, &mut entry.anomalies);
        self.has_unbound |= names.is_unbound(tag.name(bytes));
        if !names.is_own_entry(tag.name(bytes)) {
            entry.anomalies.insert(Anomalies::OTHER_KIND);
        }
        if tag.kind == Kind::Empty {
            entry.close = entry.open_end;
            entry.len = entry.open_end;
            return (entry, tag.end);
        }
        let own = names.within(bytes, tag);
        self.is_declaring = own.is_some();
        self.has_elements &= own.is_none();
        let inside = EntryBytes { bytes, lead, names: own.as_ref().unwrap_or(names) };
        let expected_end = if own.is_some() { b"" } else { expected_end };
        let end = self.content(&inside, tag, expected_end, &mut entry);
        self.is_declaring = false;
        (entry, end)
    }

    /// [`Self::entry`] for a tag that [`fast_path::start`] has found, which needs no checks. Replaces `entry`, so that
    /// it is not copied, and returns the offset after it.
    pub(super) fn bare_entry(
        &mut self,
        inside: &EntryBytes<'_>,
        tag: &Markup,
        expected_end: &[u8],
        entry: &mut Entry,
    ) -> usize {
        self.begin_tag(inside.lead, tag, entry);
        self.has_unbound |= inside.names.is_unbound(tag.name(inside.bytes));
        self.content(inside, tag, expected_end, entry)
    }

    /// Begins the entry with this start tag.
    fn begin_tag(&mut self, lead: usize, tag: &Markup, entry: &mut Entry) {
        let relative = |position: usize| (position - lead) as u32;
        *entry = Entry { open: relative(tag.start), open_end: relative(tag.end), ..Entry::plain(0) };
        self.begin_entry();
    }

    /// Forgets the last entry. Called before each entry, also before one that is not parsed.
    pub(super) fn begin_entry(&mut self) {
        self.noted.begin();
        self.has_elements = !self.damage.is_quiet && !self.is_thorough;
    }

    /// The extension elements of the last entry, if the fast path supported all of them, and whether they equal those
    /// of the previous entry. `text` is the text of the entry.
    pub(super) fn elements(&mut self, entry: &Entry, text: &[u8], names: &Names) -> Option<(&Elements, bool)> {
        // An entry without extensions needs no list.
        let is_bare = entry.extensions == Extensions::default() && is_short_lead(entry.open as usize);
        if is_bare || !self.has_elements || entry.anomalies.contains(Anomalies::BROKEN) {
            self.noted.forget();
            return None;
        }
        Some(self.noted.of_entry(entry, text, names))
    }

    /// Parses the core field whose start tag is `tag`; returns its position and the offset after it.
    pub(super) fn value(&mut self, bytes: &[u8], tag: &Markup, names: &Names) -> (FieldSpan, usize) {
        let (span, end, _) = self.field(bytes, 0, tag, names);
        (span, end)
    }

    /// Parses a core field from its start tag; the flag is true if it is not well-formed.
    fn field(&mut self, bytes: &[u8], lead: usize, tag: &Markup, names: &Names) -> (FieldSpan, usize, bool) {
        let (mut text, mut at, mut broken) = (TextKind::Plain, tag.end, false);
        let name = tag.name(bytes);
        let (inner_end, end) = loop {
            if tag.kind == Kind::Empty {
                break (tag.end, tag.end);
            }
            let Some(next) = markup::next(bytes, at) else {
                self.damage.note(tag.start, Defect::Unclosed);
                broken = true;
                break (bytes.len(), bytes.len());
            };
            if memchr::memchr(b'&', bytes.get(at..next.start).unwrap_or_default()).is_some() {
                text = text.max(TextKind::Escaped);
            }
            self.damage.check_text(bytes, at, next.start);
            match next.kind {
                Kind::End if next.name(bytes) == name => break (next.start, next.end),
                Kind::End => {
                    self.damage.note(next.start, Defect::EndTag);
                    broken = true;
                    break (next.start, next.start);
                }
                Kind::Cdata | Kind::Comment | Kind::Instruction | Kind::Declaration => {
                    self.check_misc(bytes, &next);
                    text = text.max(TextKind::Mixed);
                    at = next.end;
                }
                Kind::Start | Kind::Empty => {
                    text = TextKind::Children;
                    let is_declaring = self.is_declaring;
                    self.is_declaring |= markup::may_declare(tag.attributes(bytes));
                    at = self.skip_named(bytes, &next, names);
                    self.is_declaring = is_declaring;
                }
                Kind::Stray => {
                    self.damage.note(next.start, Defect::Angle);
                    text = text.max(TextKind::Mixed);
                    broken = true;
                    at = next.end;
                }
            }
        };
        let (value_start, value_end) = markup::trim(bytes, tag.end, inner_end);
        let relative = |position: usize| (position - lead) as u32;
        let span = FieldSpan {
            start: relative(tag.start),
            end: relative(end),
            inner_start: relative(tag.end),
            inner_end: relative(inner_end),
            value_start: relative(value_start),
            value_end: relative(value_end),
            text,
        };
        (span, end, broken)
    }

    /// Skips the element whose start tag is `tag`, and checks that the tags in it match. Returns the offset after it,
    /// or that of the first mismatched end tag. It is not recursive, so that deep nesting does not overflow the stack.
    pub(crate) fn skip_element(&mut self, bytes: &[u8], tag: &Markup) -> usize {
        self.skip(bytes, tag, None)
    }

    /// [`Self::skip_element`] that also checks the prefixes of the element and of its content.
    pub(super) fn skip_named(&mut self, bytes: &[u8], tag: &Markup, names: &Names) -> usize {
        self.skip(bytes, tag, Some(names))
    }

    /// [`Self::skip_named`] that also reports entries in the element.
    pub(super) fn skip_seeking(&mut self, bytes: &[u8], tag: &Markup, names: &Names, seeks: Seek) -> usize {
        self.seeks = seeks;
        let end = self.skip(bytes, tag, Some(names));
        self.seeks = Seek::Nothing;
        end
    }

    /// Returns and resets whether an entry was found in an element of another namespace.
    pub(super) fn take_wrapped(&mut self) -> bool {
        std::mem::take(&mut self.has_wrapped)
    }

    /// Checks an element inside the one that is skipped.
    #[inline]
    fn check_child(&mut self, bytes: &[u8], tag: &Markup, names: &Names) {
        let is_row = match self.seeks {
            Seek::Nothing => false,
            Seek::Stray if is_loc(tag.name(bytes)) => names.resolve(bytes, tag).0 == Meaning::Core,
            _ => names.is_entry_tag(bytes, tag),
        };
        if !is_row {
            return;
        }
        match self.seeks {
            Seek::Misplaced | Seek::Stray => self.damage.note(tag.start, Defect::Misplaced),
            _ => self.has_wrapped = true,
        }
    }

    fn skip(&mut self, bytes: &[u8], tag: &Markup, names: Option<&Names>) -> usize {
        self.check_tag(bytes, tag);
        if let Some(names) = names {
            self.scopes.clear();
            self.check_prefix(bytes, tag, names);
        }
        if tag.kind == Kind::Empty {
            return tag.end;
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push((tag.start as u32 + 1, tag.name_end as u32));
        if names.is_some() {
            self.scopes.enter(bytes, tag, 1);
        }
        let mut at = tag.end;
        while let Some((name_start, name_end)) = stack.last().copied() {
            let Some(next) = markup::next(bytes, at) else {
                self.damage.note(tag.start, Defect::Unclosed);
                at = bytes.len();
                break;
            };
            self.damage.check_text(bytes, at, next.start);
            match next.kind {
                Kind::Start | Kind::Empty => {
                    self.check_tag(bytes, &next);
                    if let Some(names) = names {
                        self.check_prefix(bytes, &next, names);
                        self.check_child(bytes, &next, names);
                    }
                    if next.kind == Kind::Start {
                        stack.push((next.start as u32 + 1, next.name_end as u32));
                        if names.is_some() {
                            self.scopes.enter(bytes, &next, stack.len());
                        }
                    }
                }
                Kind::End if Some(next.name(bytes)) == bytes.get(name_start as usize..name_end as usize) => {
                    stack.pop();
                    let open = stack.len();
                    self.scopes.leave(bytes, open);
                }
                Kind::End => {
                    // Leave the end tag to the parent: it may be that of the entry.
                    self.damage.note(next.start, Defect::EndTag);
                    at = next.start;
                    break;
                }
                Kind::Stray => self.damage.note(next.start, Defect::Angle),
                Kind::Comment | Kind::Cdata | Kind::Instruction | Kind::Declaration => self.check_misc(bytes, &next),
            }
            at = next.end;
        }
        self.stack = stack;
        self.scopes.clear();
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::damage::Damage;
    use crate::xml::fast_path;
    use crate::xml::names::FileKind;
    use proptest::prelude::*;

    /// An entry, its damage, and whether the parser has found anything in no namespace.
    type Parsed = (Entry, Vec<Damage>, bool);

    /// Parses the entry that starts with `tag`, also by the fast path for start tags if that has found it.
    fn parsed(parser: &mut Parser, inside: &EntryBytes<'_>, tag: &Markup, is_found: bool) -> Parsed {
        let mut entry = Entry::plain(0);
        if is_found {
            parser.bare_entry(inside, tag, b"", &mut entry);
        } else {
            entry = parser.entry(inside, tag, b"").0;
        }
        (entry, std::mem::take(&mut parser.damage.list), parser.has_unbound)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn the_fast_path_for_plain_fields_gives_the_same_entry(
            parts in proptest::collection::vec(prop_oneof![
                4 => Just("<loc>a</loc>"), 2 => Just("<loc> b&amp;c\n</loc>"), 1 => Just("<loc>d"), 1 => Just("<loc><![CDATA[e]]></loc>"),
                4 => Just("<lastmod> 2026 </lastmod>"), 2 => Just("<lastmod/>"), 1 => Just("<lastmod></lastmod>"),
                4 => Just("<changefreq>f</changefreq>"), 1 => Just("<changefreq>f</priority>"), 4 => Just("<priority>\t</priority>"),
                2 => Just("<loc a='1'>k</loc>"), 1 => Just("<lastmod xsi:b='2'>l&amp;</lastmod>"), 1 => Just("<loc xmlns='z'>m</loc>"),
                1 => Just("<loc a=1>n</loc>"), 1 => Just("<priority >1</priority>"), 1 => Just("<priority>1</priority >"), 6 => Just("\n  "), 1 => Just("g"),
                2 => Just("<a:loc>p</a:loc>"), 1 => Just("<a:lastmod>q</a:lastmod>"),
                1 => Just("<!-- h -->"), 1 => Just("<i:image><loc>j</loc></i:image>"), 1 => Just("</url>"), 1 => Just("&"),
            ], 0..9),
            kind in prop_oneof![Just(FileKind::Urlset), Just(FileKind::Index)],
            root in prop_oneof![Just(""), Just(" xmlns='x'"), Just(" xmlns:a='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns='y'"),
                Just(" xmlns:a='http://www.sitemaps.org/schemas/sitemap/0.9'")],
            is_bare in any::<bool>(),
        ) {
            let prefix = if root.contains(":a") { "a:" } else { "" };
            let root = format!("<{prefix}{}{root}>", kind.root_name());
            let prefix = if is_bare { "" } else { prefix };
            let names = Names::of_root(root.as_bytes(), &markup::next(root.as_bytes(), 0).unwrap()).unwrap();
            let name = kind.entry_name();
            let text = format!("<{prefix}{name}>{}</{prefix}{name}>", parts.concat());
            let text = text.as_bytes();
            let inside = EntryBytes { bytes: text, lead: 0, names: &names };
            let (tag, found) = (markup::next(text, 0).unwrap(), fast_path::start(text, 0, &names));
            let expected = parsed(&mut Parser::thorough(), &inside, &tag, false);
            for is_found in [false, found.is_some()] {
                let mut parser = Parser::default();
                // Twice, since tags with attributes are kept.
                for _ in 0..2 {
                    prop_assert_eq!(&parsed(&mut parser, &inside, &tag, is_found), &expected);
                }
            }
            prop_assert!(found.is_none_or(|found| found == tag));
            for lead in ["", "\n ", "<!-- k -->", "<url>"] {
                let text = [lead.as_bytes(), text].concat();
                prop_assert_eq!(Entry::of(&text, &names), Entry::walk(&text, &names));
            }
        }
    }
}
