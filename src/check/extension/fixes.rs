//! Fixes for findings in extensions: the entry text with the faulty element or attribute corrected.
//!
//! A fix changes only the part that the finding names, and reorders only if the order is the fault. The caller verifies
//! that a fix ends its finding and adds none.

use super::outline::Outline;
use super::patch::Patch;
use super::{About, Breach, attribute_range, namespace};
use crate::check::context::{Context, Subject};
use crate::check::rewrite::with_blanks;
use crate::check::rule::{FixKind, Rule};
use crate::protocol::Field;
use crate::protocol::extension::{Kind, hreflang, value};
use crate::protocol::location;
use crate::protocol::namespace::Namespace;
use crate::xml::elements::{Node, TOP};
use crate::xml::entry::TextKind;
use crate::xml::escape::{decode, escape};
use crate::xml::markup;
use crate::xml::names::{Meaning, split};
use std::ops::Range;

/// A possible fix: label, whether it keeps the meaning, and the change of the text.
type Candidate = (String, bool, Patch);

/// The fix of a breach.
#[derive(Debug)]
pub(super) struct ExtensionFix {
    /// The effect as a short phrase.
    pub label: String,
    /// Whether it keeps the meaning.
    pub is_safe: bool,
    /// The change of the entry text.
    pub patch: Patch,
}

/// A key that is equal for breaches which a single fix ends together: their rule and namespace. `None` for a breach
/// that needs a fix of its own.
pub(super) fn scope(breach: &Breach, outline: &Outline<'_>) -> Option<(Rule, u32)> {
    let node = outline.node_at(breach.node)?;
    match breach.rule {
        Rule::EXT_OBSOLETE
        | Rule::EXT_OBSOLETE_PAGEMAP
        | Rule::IMAGE_DEPRECATED
        | Rule::VIDEO_DEPRECATED
        | Rule::NEWS_DEPRECATED => Some((breach.rule, namespace(node) as u32)),
        _ => None,
    }
}

/// The fix for a breach, if there is one.
pub(super) fn fix(breach: &Breach, outline: &Outline<'_>, subject: &Subject<'_>) -> Option<ExtensionFix> {
    let node = outline.node_at(breach.node).filter(|_| breach.about != About::Outside)?;
    let (label, keeps, patch) = match breach.about {
        About::Value(kind) => fix_value(breach.rule, kind, outline, node)?,
        About::Attribute(name, kind) => fix_attribute(breach.rule, (name, kind), outline, node)?,
        About::Url(fault, attribute) => fix_url(fault, attribute, outline, node, subject)?,
        About::UnknownAttribute(at) => {
            let found = super::attribute_starting_at(outline, node, at)?;
            ("remove the attribute".to_owned(), false, Patch::cut([attribute_with_blanks(outline, &found)?])?)
        }
        About::Other(_) => match breach.rule {
            Rule::HREFLANG_SELF_CONFLICT => return None,
            _ => ("remove the second one".to_owned(), false, remove_nodes(outline, [node])?),
        },
        About::Element | About::Child(_) | About::Outside => fix_element(breach, outline, node)?,
    };
    let is_safe = keeps && breach.rule.fix() == FixKind::Safe;
    (breach.rule.fix() != FixKind::None).then_some(ExtensionFix { label, is_safe, patch })
}

const DECODE: &str = "decode it once more";

fn unescaped(value: &str) -> String {
    decode(value.as_bytes()).into_owned()
}

fn fix_value(rule: Rule, kind: Kind, outline: &Outline<'_>, node: &Node) -> Option<Candidate> {
    if matches!(rule, Rule::FIELD_WHITESPACE | Rule::FIELD_WHITESPACE_STRICT) {
        let (start, end) = markup::trim(outline.text, node.tag.end, node.inner_end);
        let patch = Patch::cut([node.tag.end..start, end..node.inner_end])?;
        return Some(("trim it".to_owned(), true, patch));
    }
    if rule == Rule::XML_DOUBLE_ESCAPED {
        let once = unescaped(&outline.value(node));
        return Some((DECODE.to_owned(), false, replace_value(outline, node, &once)?));
    }
    if rule == Rule::MOBILE_NOT_EMPTY {
        return Some(("empty it".to_owned(), false, Patch::replace(node.tag.end..node.inner_end, "")));
    }
    let (right, keeps) = kind.repair(&outline.value(node))?;
    Some((format!("write {right}"), keeps, replace_value(outline, node, &right)?))
}

fn fix_attribute(rule: Rule, (name, kind): (&str, Kind), outline: &Outline<'_>, node: &Node) -> Option<Candidate> {
    let value = outline.attribute(node, name)?;
    let right = match rule {
        Rule::VIDEO_DEPRECATED => return remove_deprecated(outline, Namespace::Video),
        Rule::XML_DOUBLE_ESCAPED => {
            let patch = Patch::replace(attribute_range(outline, node, name)?, escape(&unescaped(&value)));
            return Some((DECODE.to_owned(), false, patch));
        }
        Rule::HREFLANG_SEPARATOR | Rule::HREFLANG_CASE => (hreflang::customary(&value)?, true),
        Rule::HREFLANG_REGION_RESERVED => (hreflang::with_country(&value)?, false),
        _ => kind.repair(&value)?,
    };
    let range = attribute_range(outline, node, name)?;
    Some((format!("write {}", right.0), right.1, Patch::replace(range, escape(&right.0))))
}

fn fix_url(
    fault: location::Fault,
    attribute: Option<&str>,
    outline: &Outline<'_>,
    node: &Node,
    subject: &Subject<'_>,
) -> Option<Candidate> {
    let value = match attribute {
        Some(name) => outline.attribute(node, name)?,
        None => outline.value(node),
    };
    let (right, keeps) = if fault == location::Fault::NotAbsolute {
        let page = subject.entry.value(Field::Loc, outline.text)?;
        (complete_url(&value, &page, subject.context)?, false)
    } else {
        let repair = location::repair(fault, &value)?;
        (repair.value, repair.is_safe)
    };
    let patch = match attribute {
        Some(name) => Patch::replace(attribute_range(outline, node, name)?, escape(&right)),
        None => replace_value(outline, node, &right)?,
    };
    Some(("correct the URL".to_owned(), keeps, patch))
}

/// The complete URL for one without scheme or host, resolved against the page of its entry.
fn complete_url(value: &str, page: &str, context: &Context<'_>) -> Option<String> {
    let (origin, _) = location::origin(page).or_else(|| location::origin(context.url_prefix?.origin()))?;
    let scheme = origin.split_once("://").map_or("https", |(scheme, _)| scheme);
    if let Some(rest) = value.strip_prefix("//") {
        return Some(format!("{scheme}://{rest}"));
    }
    if value.starts_with("www.") {
        return Some(format!("{scheme}://{value}"));
    }
    value.starts_with('/').then(|| format!("{origin}{value}"))
}

fn fix_element(breach: &Breach, outline: &Outline<'_>, node: &Node) -> Option<Candidate> {
    let (label, keeps, patch) = match breach.rule {
        Rule::EXT_CHILD_ORDER => ("put the elements in order".to_owned(), true, reorder(outline, breach.node)?),
        Rule::EXT_UNKNOWN_CHILD => match intended_name(outline, node) {
            Some(meant) => (format!("write {meant}"), false, rename(outline, node, &meant)?),
            None => ("remove the element".to_owned(), false, remove_nodes(outline, [node])?),
        },
        Rule::EXT_OBSOLETE | Rule::EXT_OBSOLETE_PAGEMAP => {
            let own = outline.nodes().iter().filter(|other| other.parent == TOP && other.meaning == node.meaning);
            ("remove the extension".to_owned(), false, remove_nodes(outline, own)?)
        }
        Rule::IMAGE_DEPRECATED | Rule::VIDEO_DEPRECATED | Rule::NEWS_DEPRECATED => {
            remove_deprecated(outline, namespace(node))?
        }
        Rule::IMAGE_LIMIT => {
            let images = outline.nodes().iter().filter(|other| other.parent == TOP && other.meaning == node.meaning);
            let label = "keep the first 1,000 images".to_owned();
            (label, false, remove_nodes(outline, images.filter(|image| image.element.is_some()).skip(value::IMAGES))?)
        }
        Rule::VIDEO_TAG_LIMIT => {
            let tags = outline.children(node.parent).map(|(_, tag)| tag).filter(|tag| tag.element == node.element);
            ("keep the first 32 tags".to_owned(), false, remove_nodes(outline, tags.skip(value::VIDEO_TAGS.into()))?)
        }
        Rule::VIDEO_EXPIRED => {
            ("remove the video".to_owned(), false, remove_nodes(outline, [outline.node_at(node.parent)?])?)
        }
        Rule::NEWS_STALE => {
            ("remove the news block".to_owned(), false, remove_nodes(outline, [outline.node_at(node.parent)?])?)
        }
        Rule::CODE_PACKAGEMAP_NOT_ARCHIVE | Rule::DOC_UNKNOWN_ELEMENT => {
            ("remove the element".to_owned(), false, remove_nodes(outline, [node])?)
        }
        _ => return None,
    };
    Some((label, keeps, patch))
}

/// The name that an unknown element was probably meant to have: its local name with the prefix of its parent.
pub(super) fn intended_name(outline: &Outline<'_>, node: &Node) -> Option<String> {
    let parent = outline.node_at(node.parent)?;
    let local = outline.local(node);
    let (_, known) = parent.element.filter(|_| node.meaning == Meaning::Core)?.child(local)?;
    let (prefix, _) = split(parent.tag.name(outline.text));
    let prefix = std::str::from_utf8(prefix).ok().filter(|prefix| !prefix.is_empty())?;
    Some(format!("{prefix}:{}", known.name))
}

/// Renames an element.
fn rename(outline: &Outline<'_>, node: &Node, name: &str) -> Option<Patch> {
    let start = node.tag.start + 1;
    let patch = Patch::replace(start..node.tag.name_end, name);
    if node.end == node.tag.end {
        return Some(patch);
    }
    let end_name = node.inner_end + 2;
    let end = end_name + node.tag.name_end - start;
    (end <= outline.text.len()).then(|| patch.and(end_name..end, name))
}

/// Removes the deprecated elements and attributes of an extension.
fn remove_deprecated(outline: &Outline<'_>, own: Namespace) -> Option<Candidate> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for node in outline.nodes().iter().filter(|node| namespace(node) == own) {
        // It is removed with its parent.
        if cuts.last().is_some_and(|cut| cut.end >= node.end) {
            continue;
        }
        let Some(element) = node.element else { continue };
        if element.is_deprecated {
            cuts.push(with_blanks(outline.text, node.tag.start..node.end));
            continue;
        }
        let withdrawn = element.attributes.iter().filter(|attribute| attribute.is_deprecated);
        let mut own: Vec<_> =
            withdrawn.filter_map(|known| named_attribute_with_blanks(outline, node, known.name)).collect();
        own.sort_by_key(|cut| cut.start);
        cuts.extend(own);
    }
    Some(("remove what has no effect".to_owned(), false, Patch::cut(cuts)?))
}

/// Removes elements, which must be in the order of the text.
fn remove_nodes<'n>(outline: &Outline<'_>, nodes: impl IntoIterator<Item = &'n Node>) -> Option<Patch> {
    Patch::cut(nodes.into_iter().map(|node| with_blanks(outline.text, node.tag.start..node.end)))
}

/// The range of an attribute with the white space before it. It is not searched by name, since names can repeat.
fn attribute_with_blanks(outline: &Outline<'_>, found: &markup::Attribute<'_>) -> Option<Range<usize>> {
    let offset = |part: &[u8]| (part.as_ptr() as usize).checked_sub(outline.text.as_ptr() as usize);
    let (start, value) = (offset(found.name)?, offset(found.value)?);
    Some(with_blanks(outline.text, start..value + found.value.len() + 1))
}

/// The range of the attribute with a name, with the white space before it.
fn named_attribute_with_blanks(outline: &Outline<'_>, node: &Node, name: &str) -> Option<Range<usize>> {
    let value = attribute_range(outline, node, name)?;
    let tag = outline.text.get(node.tag.name_end..value.start)?;
    let at = memchr::memmem::rfind(tag, name.as_bytes())? + node.tag.name_end;
    Some(with_blanks(outline.text, at..value.end + 1))
}

/// Replaces the text of an element, including CDATA sections and comments.
fn replace_value(outline: &Outline<'_>, node: &Node, value: &str) -> Option<Patch> {
    let is_open = node.end > node.tag.end && node.text != TextKind::Children;
    let (start, end) = markup::trim(outline.text, node.tag.end, node.inner_end);
    is_open.then(|| Patch::replace(start..end, escape(value)))
}

/// Sorts the children of an element by the schema, each with the text before it. Unknown children stay behind the child
/// that they follow.
fn reorder(outline: &Outline<'_>, parent: u32) -> Option<Patch> {
    let node = outline.node_at(parent)?;
    let (mut lead, mut last) = (node.tag.end, 0);
    let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
    for (_, child) in outline.children(parent) {
        last = if child.element.is_some() { child.schema_index } else { last };
        parts.push((last, lead..child.end));
        lead = child.end;
    }
    parts.sort_by_key(|(position, _)| *position);
    let mut out = Vec::with_capacity(lead - node.tag.end);
    for (_, part) in parts {
        out.extend_from_slice(outline.text.get(part)?);
    }
    Some(Patch::replace(node.tag.end..lead, String::from_utf8(out).ok()?))
}
