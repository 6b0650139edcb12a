//! Rules and fixes for the text around the entries: byte order mark, declaration, DOCTYPE, root attributes, file name.
//!
//! Sources: rule catalogue, section 4; Namespaces in XML 1.0; XML 1.0.

use super::name;
use super::rule::{Rule, RuleSet};
use crate::protocol::namespace::{self, Namespace, SITEMAP_09};
use crate::xml::markup::{self, Attribute, Kind, Markup};
use crate::xml::names::{FileKind, Names};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The text around the entries of a file.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'f> {
    /// Everything before the first entry, the root's start tag included.
    pub head: &'f [u8],
    /// Names that the root element declares.
    pub names: &'f Names,
    /// The file's own name, if it has one.
    pub name: Option<&'f str>,
    /// Whether it is gzipped.
    pub gzip: bool,
    /// Whether the entries are written with the prefix of the root.
    pub is_prefixed: bool,
    /// Whether an entry uses a namespace; called only for those that the root declares.
    pub is_used: &'f dyn Fn(Namespace) -> bool,
}

/// Rules that can be violated here.
pub(crate) const FRAME_RULES: RuleSet = RuleSet::of(&[
    Rule::ENC_BOM,
    Rule::XML_DECLARATION_MISSING,
    Rule::XML_VERSION,
    Rule::XML_DOCTYPE,
    Rule::XML_ENTITY_DECLARATION,
    Rule::NS_PREFIX,
    Rule::NS_EXT_VARIANT,
    Rule::NS_DECLARED_UNUSED,
    Rule::NS_MISSING,
    Rule::NS_ENTRY_MISSING,
    Rule::NS_ATTR_TYPO,
    Rule::NS_VARIANT,
    Rule::NS_LEGACY_084,
    Rule::NS_WRONG,
    Rule::SCHEMA_LOCATION,
    Rule::GZIP_EXTENSION_MISMATCH,
    Rule::FILE_NAME_UNSAFE,
    Rule::XML_UNDECLARED_PREFIX,
    Rule::DOC_UNKNOWN_ATTRIBUTE,
]);

const BOM: &[u8] = b"\xEF\xBB\xBF";
const DECLARATION: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// Rules that the frame violates. [`super::file`] checks the sitemap's own namespace.
pub(crate) fn check(frame: &Frame<'_>) -> RuleSet {
    let mut rules = RuleSet::EMPTY;
    if let Some(name) = frame.name {
        let name = name.rsplit('/').next().unwrap_or(name);
        let is_unsafe = name.len() > name::MAX_BYTES || !name.bytes().all(name::is_unreserved);
        rules.insert_if(Rule::FILE_NAME_UNSAFE, is_unsafe);
        let says_gzip = name.to_ascii_lowercase().ends_with(".gz");
        rules.insert_if(Rule::GZIP_EXTENSION_MISMATCH, says_gzip != frame.gzip);
    }
    // Spreadsheet programs need the byte order mark to recognise UTF-8 in a table.
    rules.insert_if(Rule::ENC_BOM, frame.names.kind != FileKind::Table && frame.head.starts_with(BOM));
    if !frame.names.kind.is_xml() {
        return rules;
    }
    match declaration(frame.head) {
        None => rules.insert(Rule::XML_DECLARATION_MISSING),
        Some(declaration) => {
            let version = attribute(frame.head, &declaration, "version");
            let is_1_0 = version.is_none_or(|(_, value)| frame.head.get(value) == Some(b"1.0"));
            rules.insert_if(Rule::XML_VERSION, !is_1_0);
        }
    }
    if let Some(doctype) = doctype(frame.head) {
        rules.insert(Rule::XML_DOCTYPE);
        let text = frame.head.get(doctype.start..doctype.end).unwrap_or_default();
        rules.insert_if(Rule::XML_ENTITY_DECLARATION, memchr::memmem::find(text, b"<!ENTITY").is_some());
    }
    rules.insert_if(Rule::NS_PREFIX, frame.is_prefixed && !frame.names.prefix.is_empty());
    let mut prefixes = frame.names.declared_prefixes();
    rules.insert_if(Rule::NS_EXT_VARIANT, prefixes.clone().any(|(_, uri)| namespace::near_miss(uri).is_some()));
    rules.insert_if(Rule::NS_DECLARED_UNUSED, prefixes.any(|(_, uri)| is_unused(uri, frame)));
    rules.insert_if(
        Rule::SCHEMA_LOCATION,
        schema_location(frame.names).is_some_and(|value| !is_matching(value, frame.names)),
    );
    rules.insert_if(Rule::XML_UNDECLARED_PREFIX, undeclared(frame.names).next().is_some());
    rules.insert_if(Rule::DOC_UNKNOWN_ATTRIBUTE, unknown_attributes(frame.names).next().is_some());
    rules
}

/// Attributes of the root whose prefix it does not declare, with that prefix. Parsers refuse such a file (Namespaces in
/// XML 1.0, section 5).
fn undeclared(names: &Names) -> impl Iterator<Item = (&str, &str)> {
    let mut declared: Option<HashSet<&str>> = None;
    let prefixed = names.attributes.iter().filter_map(|(name, _)| Some((&**name, name.split_once(':')?.0)));
    prefixed.filter(move |(_, prefix)| {
        let declared = |prefix| {
            let all = declared.get_or_insert_with(|| names.declared_prefixes().map(|(declared, _)| declared).collect());
            all.contains(prefix)
        };
        !matches!(*prefix, "xml" | "xmlns") && !{ declared }(*prefix)
    })
}

/// Attributes of the root that the protocol does not define. A misspelt `xmlns` belongs to another rule.
fn unknown_attributes(names: &Names) -> impl Iterator<Item = &str> {
    let own = names.attributes.iter().filter(|(name, value)| {
        let is_namespace = &**name == "xmlns" || name.starts_with("xmlns:") || name.starts_with("xsi:");
        let is_slip = names.uri.is_none() && namespace::is_xmlns_typo(name, value);
        !(is_namespace || is_slip)
    });
    own.map(|(name, _)| &**name)
}

/// The namespace that a prefix is usually declared for.
fn usual_namespace(prefix: &str) -> Option<&'static str> {
    if prefix == "xsi" {
        return Some(namespace::XSI);
    }
    namespace::by_usual_prefix(prefix.as_bytes()).and_then(Namespace::uri)
}

fn is_unused(uri: &str, frame: &Frame<'_>) -> bool {
    let meant = namespace::classify(uri);
    !meant.is_sitemap() && meant != Namespace::Other && !(frame.is_used)(meant)
}

fn schema_location(names: &Names) -> Option<&str> {
    names.attributes.iter().find(|(name, _)| &**name == "xsi:schemaLocation").map(|(_, value)| &**value)
}

/// Whether every pair of namespace and schema is for a declared namespace, and no schema is of 0.84.
fn is_matching(value: &str, names: &Names) -> bool {
    let words: Vec<&str> = value.split_ascii_whitespace().collect();
    let declared: HashSet<&str> = names.declared_prefixes().map(|(_, uri)| uri.trim()).collect();
    let is_declared = |uri: &str| names.uri.as_deref() == Some(uri) || declared.contains(uri);
    words.len().is_multiple_of(2)
        && words.chunks(2).all(|pair| match pair {
            [uri, location] => is_declared(uri) && !location.contains("/0.84"),
            _ => false,
        })
}

/// The head after fixing a rule; `None` if the rule has no automatic fix.
pub(crate) fn fix_head(rule: Rule, frame: &Frame<'_>) -> Option<Vec<u8>> {
    let head = frame.head;
    let prefix = frame.names.prefix.trim_end_matches(':');
    let own = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
    Some(match rule {
        Rule::ENC_BOM => head.strip_prefix(BOM)?.to_vec(),
        Rule::XML_DECLARATION_MISSING => {
            let text = head.strip_prefix(BOM);
            [text.map_or(&b""[..], |_| BOM), DECLARATION, text.unwrap_or(head).trim_ascii_start()].concat()
        }
        Rule::XML_VERSION => {
            let (_, value) = attribute(head, &declaration(head)?, "version")?;
            replace_range(head, value, b"1.0")
        }
        Rule::XML_DOCTYPE => {
            let doctype = doctype(head)?;
            let rest = head.get(doctype.end..)?;
            let blank = rest.iter().position(|byte| !markup::is_space(*byte)).unwrap_or(0);
            replace_range(head, doctype.start..doctype.end + blank, b"")
        }
        Rule::NS_MISSING | Rule::NS_VARIANT | Rule::NS_LEGACY_084 | Rule::NS_WRONG => {
            let of_root = root(head)?;
            let mut fixed = match attribute(head, &of_root, &own) {
                Some((_, value)) => replace_range(head, value, SITEMAP_09.as_bytes()),
                None => replace_range(
                    head,
                    of_root.name_end..of_root.name_end,
                    format!(" {own}=\"{SITEMAP_09}\"").as_bytes(),
                ),
            };
            // Entries may get the same namespace from another declaration of the root, which must change as well.
            let is_same = |(name, uri): &&(Box<str>, Box<str>)| {
                (&**name == "xmlns" || name.starts_with("xmlns:"))
                    && **name != *own
                    && frame.names.uri.as_deref() == Some(&**uri)
            };
            for (name, _) in frame.names.attributes.iter().filter(is_same) {
                let (_, value) = attribute(&fixed, &root(&fixed)?, name)?;
                fixed = replace_range(&fixed, value, SITEMAP_09.as_bytes());
            }
            fixed
        }
        Rule::NS_ENTRY_MISSING => {
            let root = root(head)?;
            let uri = frame.names.uri.as_deref().unwrap_or(SITEMAP_09);
            replace_range(head, root.name_end..root.name_end, format!(" xmlns=\"{uri}\"").as_bytes())
        }
        Rule::NS_ATTR_TYPO => {
            let (name, _) =
                frame.names.attributes.iter().find(|(name, value)| namespace::is_xmlns_typo(name, value))?;
            let (whole, value) = attribute(head, &root(head)?, name)?;
            // Keep the quotes as written.
            let named = replace_range(head, value, SITEMAP_09.as_bytes());
            replace_range(&named, whole.start..whole.start + name.len(), own.as_bytes())
        }
        Rule::NS_EXT_VARIANT => replace_declarations(frame, |uri| namespace::near_miss(uri).is_some(), &|uri| {
            namespace::near_miss(uri).and_then(Namespace::uri)
        })?,
        Rule::NS_DECLARED_UNUSED => replace_declarations(frame, |uri| is_unused(uri, frame), &|_| None)?,
        Rule::SCHEMA_LOCATION => {
            let (_, value) = attribute(head, &root(head)?, "xsi:schemaLocation")?;
            let schema = if frame.names.kind == FileKind::Index { "siteindex" } else { "sitemap" };
            replace_range(head, value, format!("{SITEMAP_09} {SITEMAP_09}/{schema}.xsd").as_bytes())
        }
        Rule::XML_UNDECLARED_PREFIX => {
            // The prefix to declare before each attribute, once per prefix.
            let mut done: HashSet<&str> = HashSet::new();
            let missing = undeclared(frame.names).filter(|(_, prefix)| done.insert(prefix));
            let missing: HashMap<&[u8], &str> = missing.map(|(name, prefix)| (name.as_bytes(), prefix)).collect();
            let mut edits = Vec::new();
            for (attribute, whole, _) in attributes(head, &root(head)?) {
                if let Some(prefix) = missing.get(attribute.name) {
                    let declaration = format!("xmlns:{prefix}=\"{}\" ", usual_namespace(prefix)?);
                    edits.push((whole.start..whole.start, Cow::Owned(declaration.into_bytes())));
                }
            }
            replace_ranges(head, edits)?
        }
        Rule::DOC_UNKNOWN_ATTRIBUTE => {
            let unknown_attributes: HashSet<&[u8]> = unknown_attributes(frame.names).map(str::as_bytes).collect();
            let meant =
                attributes(head, &root(head)?).filter(|(attribute, ..)| unknown_attributes.contains(attribute.name));
            replace_ranges(head, meant.map(|(_, whole, _)| (with_blanks(head, whole), Cow::default())).collect())?
        }
        _ => return None,
    })
}

/// Replaces the value of the declarations that `is_meant` selects, or removes them if `value_of` gives none.
fn replace_declarations<'u>(
    frame: &Frame<'_>,
    is_meant: impl Fn(&str) -> bool,
    value_of: &dyn Fn(&str) -> Option<&'u str>,
) -> Option<Vec<u8>> {
    let head = frame.head;
    let declared: HashMap<&[u8], &str> =
        frame.names.attributes.iter().map(|(name, uri)| (name.as_bytes(), &**uri)).collect();
    let mut edits = Vec::new();
    for (attribute, whole, value) in attributes(head, &root(head)?) {
        let uri = declared.get(attribute.name).filter(|_| attribute.name.starts_with(b"xmlns:"));
        let Some(uri) = uri.filter(|uri| is_meant(uri)) else { continue };
        edits.push(match value_of(uri) {
            Some(uri) => (value, Cow::Borrowed(uri.as_bytes())),
            None => (with_blanks(head, whole), Cow::default()),
        });
    }
    replace_ranges(head, edits)
}

/// A range of the head with the white space before it.
fn with_blanks(head: &[u8], range: Range<usize>) -> Range<usize> {
    let before = head.get(..range.start).unwrap_or_default();
    let blank = before.iter().rev().take_while(|byte| markup::is_space(**byte)).count();
    range.start - blank..range.end
}

/// The effect of the fix of a rule, as a short phrase.
pub(crate) fn label(rule: Rule) -> &'static str {
    match rule {
        Rule::ENC_BOM => "drop the byte order mark",
        Rule::XML_DECLARATION_MISSING => "write the declaration",
        Rule::XML_VERSION => "write version 1.0",
        Rule::XML_DOCTYPE => "drop the DOCTYPE",
        Rule::NS_ENTRY_MISSING => "declare the namespace for names without a prefix",
        Rule::NS_EXT_VARIANT => "correct the namespace of the extension",
        Rule::NS_DECLARED_UNUSED => "drop the declaration",
        Rule::SCHEMA_LOCATION => "name the schema of 0.9",
        Rule::GZIP_EXTENSION_MISMATCH => "compress it as its name says",
        Rule::FILE_NAME_UNSAFE => "give it a safe name",
        Rule::XML_UNDECLARED_PREFIX => "declare the prefix",
        Rule::DOC_UNKNOWN_ATTRIBUTE => "remove the attribute",
        _ => "declare the namespace of 0.9",
    }
}

/// The message for a rule that the file violates.
pub(crate) fn message(rule: Rule, frame: &Frame<'_>) -> String {
    let name = frame.name.unwrap_or_default();
    let of = |is_meant: &dyn Fn(&str) -> bool| {
        let found = frame.names.declared_prefixes().find(|(_, uri)| is_meant(uri));
        found.map_or((String::new(), String::new()), |(prefix, uri)| (prefix.to_owned(), uri.to_owned()))
    };
    match rule {
        Rule::ENC_BOM => "a byte order mark, which UTF-8 does not need".to_owned(),
        Rule::XML_DECLARATION_MISSING => "no XML declaration; UTF-8 is assumed, which is right".to_owned(),
        Rule::XML_VERSION => "the XML declaration names a version other than 1.0".to_owned(),
        Rule::XML_DOCTYPE => "a DOCTYPE; several crawlers refuse files with one".to_owned(),
        Rule::XML_ENTITY_DECLARATION => "the DOCTYPE declares entities; they are never expanded here".to_owned(),
        Rule::NS_PREFIX => format!("elements are written with the prefix {}", frame.names.prefix),
        Rule::NS_EXT_VARIANT => {
            let (prefix, uri) = of(&|uri| namespace::near_miss(uri).is_some());
            let right = namespace::near_miss(&uri).and_then(Namespace::uri).unwrap_or_default();
            format!("xmlns:{prefix} is {uri}; it must be {right}")
        }
        Rule::NS_DECLARED_UNUSED => {
            format!("xmlns:{} is declared and no entry uses it", of(&|uri| is_unused(uri, frame)).0)
        }
        Rule::SCHEMA_LOCATION => "xsi:schemaLocation names a namespace that the file does not have, or 0.84".to_owned(),
        Rule::XML_UNDECLARED_PREFIX => {
            let (name, prefix) = undeclared(frame.names).next().unwrap_or_default();
            format!("the root has {name}, but nothing declares {prefix}: readers refuse the file")
        }
        Rule::DOC_UNKNOWN_ATTRIBUTE => {
            format!(
                "the root has {}; the elements of the protocol have no attributes",
                unknown_attributes(frame.names).next().unwrap_or_default()
            )
        }
        Rule::GZIP_EXTENSION_MISMATCH if frame.gzip => format!("{name} is gzip data; its name should end in .gz"),
        Rule::GZIP_EXTENSION_MISMATCH => format!("{name} is not gzip data, although its name ends in .gz"),
        Rule::FILE_NAME_UNSAFE => format!("{name}: a URL has to escape this name, or it is too long"),
        other => other.summary().into(),
    }
}

/// The XML declaration.
fn declaration(head: &[u8]) -> Option<Markup> {
    let start = if head.starts_with(BOM) { BOM.len() } else { 0 };
    let token = markup::next(head, start).filter(|token| token.start == start && token.kind == Kind::Instruction)?;
    let inside = head.get(start + 2..token.end)?;
    let is_one = inside.starts_with(b"xml") && inside.get(3).is_some_and(|byte| markup::is_space(*byte));
    // Parse its pseudo-attributes like those of a tag.
    is_one.then_some(Markup { kind: Kind::Empty, name_end: start + 5, ..token })
}

fn doctype(head: &[u8]) -> Option<Markup> {
    tokens(head).take_while(|token| token.kind != Kind::Start).find(|token| token.kind == Kind::Declaration)
}

fn root(head: &[u8]) -> Option<Markup> {
    tokens(head).find(|token| matches!(token.kind, Kind::Start | Kind::Empty))
}

fn tokens(head: &[u8]) -> impl Iterator<Item = Markup> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let token = markup::next(head, at)?;
        at = token.end;
        Some(token)
    })
}

/// The ranges of an attribute of a tag and of its value.
fn attribute(head: &[u8], tag: &Markup, name: &str) -> Option<(Range<usize>, Range<usize>)> {
    let (_, whole, value) = attributes(head, tag).find(|(attribute, ..)| attribute.name == name.as_bytes())?;
    Some((whole, value))
}

/// The attributes of a tag, each with its range and that of its value.
fn attributes<'h>(
    head: &'h [u8],
    tag: &Markup,
) -> impl Iterator<Item = (Attribute<'h>, Range<usize>, Range<usize>)> + use<'h> {
    let text = tag.attributes(head);
    let (mut list, name_end) = (markup::attributes(text), tag.name_end);
    std::iter::from_fn(move || {
        let before = list.rest();
        let attribute = list.next()?;
        let blank = before.iter().take_while(|byte| markup::is_space(**byte)).count();
        let offset = |rest: usize| name_end + text.len() - rest;
        let (start, end) = (offset(before.len() - blank), offset(list.rest().len()));
        // The attribute ends with a quote, which is not part of the value.
        Some((attribute, start..end, end - 1 - attribute.value.len()..end - 1))
    })
}

/// Replaces ranges, which must be disjoint and in ascending order.
fn replace_ranges(text: &[u8], edits: Vec<(Range<usize>, Cow<'_, [u8]>)>) -> Option<Vec<u8>> {
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    for (range, new) in edits {
        out.extend_from_slice(text.get(at..range.start)?);
        out.extend_from_slice(&new);
        at = range.end;
    }
    out.extend_from_slice(text.get(at..)?);
    Some(out)
}

fn replace_range(text: &[u8], range: Range<usize>, new: &[u8]) -> Vec<u8> {
    let (before, after) = (text.get(..range.start).unwrap_or(text), text.get(range.end..).unwrap_or_default());
    [before, new, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules of the head of a file `a.xml` whose entries use images only.
    fn rules(head: &str) -> RuleSet {
        with(head, check)
    }

    fn with<T>(head: &str, ask: impl FnOnce(&Frame<'_>) -> T) -> T {
        let tag = root(head.as_bytes()).unwrap();
        let names = Names::of_root(head.as_bytes(), &tag).unwrap();
        let is_used = |meant| meant == Namespace::Image;
        let (head, name) = (head.as_bytes(), Some("a.xml"));
        ask(&Frame { head, names: &names, name, gzip: false, is_prefixed: true, is_used: &is_used })
    }

    #[test]
    fn each_rule_is_found_and_its_fix_changes_nothing_else() {
        let (xml, ns) = ("<?xml version=\"1.0\"?>\n", "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"");
        let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
        let table: [(String, Rule, String); 20] = [
            (
                format!("{xml}<s:urlset xmlns='urn:x' xmlns:s='urn:x' xmlns:y='urn:y'>"),
                Rule::NS_WRONG,
                format!("{xml}<s:urlset xmlns='{SITEMAP_09}' xmlns:s='{SITEMAP_09}' xmlns:y='urn:y'>"),
            ),
            (
                format!(
                    "{xml}<urlset xmlns='http://www.google.com/schemas/sitemap/0.84' xmlns:s='http://www.google.com/schemas/sitemap/0.84'>"
                ),
                Rule::NS_LEGACY_084,
                format!("{xml}<urlset xmlns='{SITEMAP_09}' xmlns:s='{SITEMAP_09}'>"),
            ),
            (format!("\u{feff}{xml}<urlset {ns}>"), Rule::ENC_BOM, format!("{xml}<urlset {ns}>")),
            (
                format!("<urlset {ns}>"),
                Rule::XML_DECLARATION_MISSING,
                format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset {ns}>"),
            ),
            (
                format!("<?xml version='1.1'?><urlset {ns}>"),
                Rule::XML_VERSION,
                format!("<?xml version='1.0'?><urlset {ns}>"),
            ),
            (
                format!("{xml}<!DOCTYPE a>\n<!-- b --><urlset {ns}>"),
                Rule::XML_DOCTYPE,
                format!("{xml}<!-- b --><urlset {ns}>"),
            ),
            (
                format!("{xml}<urlset ns='http://www.google.com/schemas/sitemap/0.84' a='b'>"),
                Rule::NS_ATTR_TYPO,
                format!("{xml}<urlset xmlns='{SITEMAP_09}' a='b'>"),
            ),
            (format!("{xml}<urlset  a='b'>"), Rule::NS_MISSING, format!("{xml}<urlset {ns}  a='b'>")),
            (format!("{xml}<urlset xmlns=''>"), Rule::NS_MISSING, format!("{xml}<urlset xmlns='{SITEMAP_09}'>")),
            (format!("{xml}<s:urlset>"), Rule::NS_MISSING, format!("{xml}<s:urlset xmlns:s=\"{SITEMAP_09}\">")),
            (
                format!("{xml}<urlset\n xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'\n>"),
                Rule::NS_VARIANT,
                format!("{xml}<urlset\n xmlns='{SITEMAP_09}'\n>"),
            ),
            (
                format!("{xml}<s:urlset xmlns:s='http://www.google.com/schemas/sitemap/0.84'>"),
                Rule::NS_LEGACY_084,
                format!("{xml}<s:urlset xmlns:s='{SITEMAP_09}'>"),
            ),
            (format!("{xml}<urlset xmlns='urn:x'>"), Rule::NS_WRONG, format!("{xml}<urlset xmlns='{SITEMAP_09}'>")),
            (
                format!("{xml}<urlset {ns} xmlns:image='https://www.google.com/schemas/sitemap-image/1.1'>"),
                Rule::NS_EXT_VARIANT,
                format!("{xml}<urlset {ns} xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>"),
            ),
            (
                format!("{xml}<urlset {ns}\n  xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" b='c'>"),
                Rule::NS_DECLARED_UNUSED,
                format!("{xml}<urlset {ns} b='c'>"),
            ),
            (
                format!("{xml}<urlset {ns} xmlns:image=' http://www.google.com/schemas/sitemap-image/1.1'>"),
                Rule::NS_EXT_VARIANT,
                format!("{xml}<urlset {ns} xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>"),
            ),
            (
                format!("{xml}<urlset {ns} xsi:schemaLocation='{SITEMAP_09} {SITEMAP_09}/sitemap.xsd'>"),
                Rule::XML_UNDECLARED_PREFIX,
                format!("{xml}<urlset {ns} {xsi} xsi:schemaLocation='{SITEMAP_09} {SITEMAP_09}/sitemap.xsd'>"),
            ),
            (
                format!("{xml}<urlset {ns} version='1' xml:lang=\"de\"\n>"),
                Rule::DOC_UNKNOWN_ATTRIBUTE,
                format!("{xml}<urlset {ns}\n>"),
            ),
            (
                format!("{xml}<urlset {ns} {xsi} a:b='1' xsi:type='x'>"),
                Rule::DOC_UNKNOWN_ATTRIBUTE,
                format!("{xml}<urlset {ns} {xsi} xsi:type='x'>"),
            ),
            (
                format!("{xml}<urlset {ns} xmlns:xsi='x' xsi:schemaLocation='{SITEMAP_09} http://g/0.84/a.xsd'>"),
                Rule::SCHEMA_LOCATION,
                format!("{xml}<urlset {ns} xmlns:xsi='x' xsi:schemaLocation='{SITEMAP_09} {SITEMAP_09}/sitemap.xsd'>"),
            ),
        ];
        for (head, rule, expected) in table {
            let of_names =
                [Rule::NS_ATTR_TYPO, Rule::NS_MISSING, Rule::NS_VARIANT, Rule::NS_LEGACY_084, Rule::NS_WRONG];
            assert!(of_names.contains(&rule) || rules(&head).contains(rule), "{head}");
            let fixed = with(&head, |frame| fix_head(rule, frame)).unwrap();
            assert_eq!(String::from_utf8(fixed).unwrap(), expected, "{rule}");
            assert!(!rules(&expected).contains(rule), "{expected}");
            assert!(rules(&expected).minus(rules(&head)).is_empty(), "{expected}: {:?}", rules(&expected));
        }
        assert_eq!(rules(&format!("{xml}<urlset {ns}>")), RuleSet::EMPTY);
        let subset = format!("{xml}<!DOCTYPE a [<!ENTITY b 'c'>]><urlset {ns}>");
        assert_eq!(rules(&subset), RuleSet::of(&[Rule::XML_DOCTYPE, Rule::XML_ENTITY_DECLARATION]));
    }

    #[test]
    fn file_names_are_checked_for_use_in_urls() {
        let head = "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>";
        let table: [(&str, bool, &[Rule]); 6] = [
            ("maps/sitemap-1_a.xml", false, &[]),
            ("sitemap.xml.gz", true, &[]),
            ("sitemap.xml.gz", false, &[Rule::GZIP_EXTENSION_MISMATCH]),
            ("sitemap.xml", true, &[Rule::GZIP_EXTENSION_MISMATCH]),
            ("my sitemap.xml", false, &[Rule::FILE_NAME_UNSAFE]),
            ("seiten\u{fc}bersicht.xml", false, &[Rule::FILE_NAME_UNSAFE]),
        ];
        for (name, gzip, expected) in table {
            let found = with(head, |frame| check(&Frame { name: Some(name), gzip, ..*frame }));
            assert_eq!(found, RuleSet::of(expected), "{name}");
        }
    }
}
