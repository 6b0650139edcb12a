//! Lists and replaces the URLs in an entry's extensions: alternate links, images, videos.

use super::attribute_range;
use super::outline::Outline;
use crate::protocol::namespace::Namespace;
use crate::xml::elements::{Elements, Node};
use crate::xml::entry::{Entry, TextKind};
use crate::xml::escape::escape;
use crate::xml::markup;
use crate::xml::names::{Meaning, Names};
use std::ops::Range;

/// The kind of resource that a URL of an extension points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlGroup {
    /// `xhtml:link@href`.
    Alternates,
    /// `image:loc`, `image:license`.
    Images,
    /// `video:content_loc`, `video:player_loc`, `video:thumbnail_loc` and other URLs of videos.
    Videos,
}

/// One URL of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExtensionUrl {
    /// The kind of extension that contains it.
    pub group: UrlGroup,
    /// The element or attribute that contains it, such as `video:player_loc`, `xhtml:link@href`.
    pub part: String,
    /// Its value, decoded.
    pub value: String,
    /// Its range in the entry text.
    range: Range<usize>,
}

/// The URLs in the extensions of an entry, in the order of the text. `entry` is the anatomy of `text`.
pub(crate) fn urls(entry: &Entry, text: &[u8], names: &Names) -> Vec<ExtensionUrl> {
    let elements = Elements::of(entry, text, names);
    let outline = Outline::new(text, &elements);
    let mut found: Vec<ExtensionUrl> = outline.nodes().iter().flat_map(|node| urls_of_node(&outline, node)).collect();
    found.sort_by_key(|url| url.range.start);
    found
}

/// The entry text with other values for some of its URLs; every other byte stays. `None` if the result is not UTF-8.
pub(crate) fn with_urls<'u>(
    text: &[u8],
    values: impl IntoIterator<Item = (&'u ExtensionUrl, &'u str)>,
) -> Option<String> {
    let mut out = Vec::with_capacity(text.len() + 64);
    let mut at = 0;
    for (url, value) in values {
        out.extend_from_slice(text.get(at..url.range.start)?);
        out.extend_from_slice(escape(value).as_bytes());
        at = url.range.end;
    }
    out.extend_from_slice(text.get(at..)?);
    String::from_utf8(out).ok()
}

fn urls_of_node(outline: &Outline<'_>, node: &Node) -> Vec<ExtensionUrl> {
    let group = match node.meaning {
        Meaning::Extension(Namespace::Xhtml) => UrlGroup::Alternates,
        Meaning::Extension(Namespace::Image) => UrlGroup::Images,
        Meaning::Extension(Namespace::Video) => UrlGroup::Videos,
        _ => return Vec::new(),
    };
    let Some(element) = node.element else { return Vec::new() };
    let name = outline.name(node);
    let mut found = Vec::new();
    for attribute in element.attributes.iter().filter(|attribute| attribute.kind.is_url() || attribute.name == "href") {
        if let (Some(value), Some(range)) =
            (outline.attribute(node, attribute.name), attribute_range(outline, node, attribute.name))
        {
            let part = format!("{name}@{}", attribute.name);
            found.push(ExtensionUrl { group, part, value: value.into_owned(), range });
        }
    }
    let is_value = node.end > node.tag.end && node.text != TextKind::Children;
    if element.kind.is_url() && is_value {
        let (start, end) = markup::trim(outline.text, node.tag.end, node.inner_end);
        let value = outline.value(node).into_owned();
        found.push(ExtensionUrl { group, part: name.into_owned(), value, range: start..end });
    }
    found
}
