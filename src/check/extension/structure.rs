//! Rules about the structure of extensions: which elements and attributes are allowed where, how often, in which order.

use super::outline::Outline;
use super::{About, EntryContext, Sink, namespace};
use crate::check::rule::Rule;
use crate::protocol::extension::{self, Element, Kind};
use crate::protocol::namespace::Namespace;
use crate::xml::elements::{Node, TOP};
use crate::xml::names::Meaning;

pub(super) fn validate(outline: &Outline<'_>, entry_context: &EntryContext<'_>, sink: &mut impl Sink) {
    for (number, node) in (0..).zip(outline.nodes()) {
        if !entry_context.is_page {
            if node.parent == TOP {
                sink.breach(Rule::EXT_OUTSIDE_URL, number, About::Element);
            }
            continue;
        }
        let Some(element) = node.element else {
            // Children of an unknown element are not reported again.
            if outline.node_at(node.parent).is_none_or(|parent| parent.element.is_some()) {
                sink.breach(unexpected_element_rule(outline, node), number, About::Element);
            }
            continue;
        };
        if node.has_attributes() {
            attributes(outline, (number, node), sink);
        }
        if !element.children.is_empty() {
            children(outline, number, element, sink);
        }
        if element.is_deprecated {
            sink.breach(deprecation_rule(node), number, About::Element);
        }
    }
    if entry_context.is_page {
        top_level(outline, sink);
    }
}

/// The rule for an element that is not allowed inside its parent.
fn unexpected_element_rule(outline: &Outline<'_>, node: &Node) -> Rule {
    match node.meaning {
        Meaning::Extension(namespace) if extension::is_known_element(namespace, outline.local(node)) => {
            Rule::EXT_MISPLACED
        }
        _ => Rule::EXT_UNKNOWN_CHILD,
    }
}

fn deprecation_rule(node: &Node) -> Rule {
    match namespace(node) {
        Namespace::Image => Rule::IMAGE_DEPRECATED,
        Namespace::News => Rule::NEWS_DEPRECATED,
        _ => Rule::VIDEO_DEPRECATED,
    }
}

/// Reports unknown and deprecated attributes. Namespace declarations and attributes of other namespaces are always
/// allowed.
fn attributes(outline: &Outline<'_>, (number, node): (u32, &Node), sink: &mut impl Sink) {
    // `links` checks the attributes of alternate links.
    let Some(element) = node.element.filter(|_| namespace(node) != Namespace::Xhtml) else { return };
    let mut before = None;
    for found in outline.attributes(node) {
        match element.attribute(found.name) {
            Some(known) if known.is_deprecated => {
                sink.breach(Rule::VIDEO_DEPRECATED, number, About::Attribute(known.name, Kind::Text));
            }
            None if !found.name.contains(&b':') && found.name != b"xmlns" => {
                let start = before.map_or(0, |before| outline.end_among_attributes(node, &before));
                sink.breach(Rule::EXT_UNKNOWN_ATTRIBUTE, number, About::UnknownAttribute(start as u32));
            }
            _ => {}
        }
        before = Some(found);
    }
}

/// Checks order, number and presence of an element's children.
fn children(outline: &Outline<'_>, parent: u32, element: &Element, sink: &mut impl Sink) {
    // In most blocks the children have the order of the schema, and none is repeated.
    let (mut is_regular, mut next_index) = (true, 0);
    // The required children that were found, and those whose first occurrence has a value, as bits: `video` has the most
    // children, 23.
    let (mut found, mut filled) = (0_u32, 0_u32);
    for (_, node) in outline.children(parent) {
        let Some(child) = node.element else { continue };
        is_regular &= node.schema_index >= next_index;
        next_index = node.schema_index + 1;
        let bit = 1 << node.schema_index;
        if child.is_required && found & bit == 0 {
            found |= bit;
            filled |= if child.kind == Kind::Elements || outline.has_value(node) { bit } else { 0 };
        }
    }
    if !is_regular {
        repeated_and_unordered_children(outline, parent, sink);
    }
    for (index, child) in element.children.iter().enumerate().filter(|(_, child)| child.is_required) {
        if filled & 1 << index == 0 {
            let rule = match outline.node_at(parent).map(namespace) {
                Some(Namespace::Image) => Rule::IMAGE_LOC_MISSING,
                Some(Namespace::News) => Rule::NEWS_REQUIRED,
                Some(Namespace::Geo) => Rule::GEO_FORMAT,
                Some(Namespace::CodeSearch) => Rule::CODE_FILETYPE_MISSING,
                _ if element.name == "tvshow" => Rule::VIDEO_TVSHOW,
                _ => Rule::VIDEO_REQUIRED,
            };
            sink.breach(rule, parent, About::Child(child.name));
        }
    }
}

/// Reports children that occur too often or not in the order of the schema.
fn repeated_and_unordered_children(outline: &Outline<'_>, parent: u32, sink: &mut impl Sink) {
    let (mut reached, mut is_ordered) = (0, true);
    // `video` has the most children: 23.
    let mut first = [u32::MAX; 32];
    let mut times = [0_u32; 32];
    for (number, node) in outline.children(parent) {
        let Some(child) = node.element else { continue };
        is_ordered &= node.schema_index >= reached;
        reached = reached.max(node.schema_index);
        let (Some(first), Some(times)) = (first.get_mut(node.schema_index), times.get_mut(node.schema_index)) else {
            continue;
        };
        *times += 1;
        if *times == 1 {
            *first = number;
        } else if child.max_count == 1 {
            sink.breach(Rule::EXT_DUPLICATE_CHILD, number, About::Other(*first));
        } else if *times == u32::from(child.max_count) + 1 && child.max_count > 0 {
            sink.breach(Rule::VIDEO_TAG_LIMIT, number, About::Element);
        }
    }
    if !is_ordered {
        sink.breach(Rule::EXT_CHILD_ORDER, parent, About::Element);
    }
}

/// Reports extensions that may occur only once but are repeated, and obsolete ones.
fn top_level(outline: &Outline<'_>, sink: &mut impl Sink) {
    let mut seen: [Option<(Namespace, u32)>; 8] = [None; 8];
    for (number, node) in outline.top_level() {
        let own = namespace(node);
        match own {
            Namespace::Mobile | Namespace::Geo | Namespace::CodeSearch => {
                sink.breach(Rule::EXT_OBSOLETE, number, About::Element);
            }
            Namespace::PageMap => sink.breach(Rule::EXT_OBSOLETE_PAGEMAP, number, About::Element),
            _ => {}
        }
        if node.element.is_none_or(|element| element.max_count != 1) {
            continue;
        }
        if let Some((_, first)) = seen.iter().flatten().find(|(known, _)| *known == own) {
            let rule = if own == Namespace::News { Rule::NEWS_DUPLICATE } else { Rule::EXT_DUPLICATE_CHILD };
            sink.breach(rule, number, About::Other(*first));
        } else if let Some(free) = seen.iter_mut().find(|slot| slot.is_none()) {
            *free = Some((own, number));
        }
    }
}
