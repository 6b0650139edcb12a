//! A flat list of the elements below an entry with their positions, built without recursion.

use crate::protocol::extension::path::Path;
use crate::protocol::namespace::Namespace;
use crate::xml::entry::Entry;
use crate::xml::markup::{self, Kind};
use crate::xml::names::{Meaning, Names, split};
use std::ops::Range;

/// One element. Positions are byte offsets into the entry text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) start: usize,
    /// The offset after the start tag.
    pub(super) open_end: usize,
    /// The start of the end tag; equal to `end` for an empty tag.
    pub(super) close: usize,
    pub(super) end: usize,
    pub(super) name: Range<usize>,
    pub(super) attributes: Range<usize>,
    namespace: Namespace,
    parent: Option<usize>,
}

/// All elements below an entry, in document order.
pub(super) struct Outline<'t> {
    text: &'t [u8],
    nodes: Vec<Node>,
    /// The start of the entry's start tag.
    pub(super) open: usize,
    /// The offset after the entry's start tag.
    pub(super) open_end: usize,
}

impl Node {
    /// Whether it is an empty tag (`<x/>`).
    pub(super) const fn is_empty_tag(&self) -> bool {
        self.open_end == self.end
    }

    /// Whether it has this namespace and local name; in unknown namespaces, this name as written.
    pub(super) fn is(&self, namespace: Namespace, name: &str, text: &[u8]) -> bool {
        let written = text.get(self.name.clone()).unwrap_or_default();
        self.namespace == namespace
            && if namespace == Namespace::Other {
                written == name.as_bytes()
            } else {
                split(written).1 == name.as_bytes()
            }
    }

    /// Its prefix as written, without the colon.
    pub(super) fn prefix(&self, text: &[u8]) -> Option<String> {
        let written = text.get(self.name.clone())?;
        Some(String::from_utf8_lossy(split(written).0).into_owned())
    }
}

impl<'t> Outline<'t> {
    pub(super) fn of(text: &'t [u8], entry: &Entry, names: &Names) -> Self {
        let (open, open_end, close) = (entry.open as usize, entry.open_end as usize, entry.close as usize);
        let mut nodes: Vec<Node> = Vec::new();
        let mut stack: Vec<usize> = Vec::new();
        let mut at = open_end;
        while let Some(tag) = markup::next(text, at).filter(|tag| tag.start < close) {
            at = tag.end;
            match tag.kind {
                Kind::Start | Kind::Empty => {
                    let meaning = match names.resolve(text, &tag).0 {
                        Meaning::Extension(namespace) => namespace,
                        Meaning::Core => Namespace::Sitemap09,
                    };
                    let parent = stack.last().copied();
                    let attributes = tag.attributes(text).len();
                    let name_end = tag.start + 1 + tag.name(text).len();
                    nodes.push(Node {
                        start: tag.start,
                        open_end: tag.end,
                        close: tag.end,
                        end: tag.end,
                        name: tag.start + 1..name_end,
                        attributes: name_end..name_end + attributes,
                        namespace: meaning,
                        parent,
                    });
                    if tag.kind == Kind::Start {
                        stack.push(nodes.len() - 1);
                    }
                }
                Kind::End => {
                    if let Some(node) = stack.pop().and_then(|open| nodes.get_mut(open)) {
                        (node.close, node.end) = (tag.start, tag.end);
                    }
                }
                _ => {}
            }
        }
        Self { text, nodes, open, open_end }
    }

    /// The children of an element, or of the entry.
    pub(super) fn children(&self, parent: Option<&Node>) -> Vec<&Node> {
        let parent = parent.and_then(|parent| self.nodes.iter().position(|node| node.start == parent.start));
        self.nodes.iter().filter(|node| node.parent == parent).collect()
    }

    pub(super) fn has_children(&self, node: &Node) -> bool {
        !self.children(Some(node)).is_empty()
    }

    /// The number of children of a name in an element, or in the entry.
    pub(super) fn count(&self, parent: Option<&Node>, namespace: Namespace, name: &str) -> usize {
        self.named(parent, namespace, name).len()
    }

    fn named(&self, parent: Option<&Node>, namespace: Namespace, name: &str) -> Vec<&Node> {
        self.children(parent).into_iter().filter(|node| node.is(namespace, name, self.text)).collect()
    }

    /// The element at a path; the first one for steps without an index.
    pub(super) fn find(&self, path: &Path) -> Option<&Node> {
        let mut current = None;
        for step in &path.steps {
            let index = step.index.unwrap_or(1) as usize - 1;
            current = Some(self.named(current, path.namespace, &step.name).get(index).copied()?);
        }
        current
    }

    /// The elements at a path; all of that name in the first parent if the last step has no index.
    pub(super) fn all(&self, path: &Path) -> Vec<&Node> {
        let Some((last, above)) = path.steps.split_last() else { return Vec::new() };
        if last.index.is_some() {
            return self.find(path).into_iter().collect();
        }
        let parent = Path { steps: above.to_vec(), attribute: None, ..path.clone() };
        match above {
            [] => self.named(None, path.namespace, &last.name),
            _ => self.find(&parent).map_or_else(Vec::new, |node| self.named(Some(node), path.namespace, &last.name)),
        }
    }
}
