//! Renders a new extension element with the layout of its neighbours.

use super::ExtensionError;
use super::outline::Node;
use crate::protocol::extension::path::Path;
use crate::protocol::extension::{Element, Kind};
use crate::protocol::namespace::Namespace;
use crate::xml::escape::escape;
use std::fmt::Write as _;

/// A new element with its content.
pub(super) struct NewElement {
    pub(super) namespace: Namespace,
    pub(super) name: Box<str>,
    pub(super) element: Option<&'static Element>,
    /// The schema of its parent; `None` for a child of the entry.
    parent: Option<&'static Element>,
    attributes: Vec<(Box<str>, Box<str>)>,
    text: Box<str>,
    children: Vec<Self>,
}

/// The whitespace around and in a new element.
pub(super) struct ElementLayout {
    /// Before the element.
    pub(super) outer: String,
    /// Before its content.
    pub(super) inner: String,
    /// Before its end tag.
    pub(super) close: String,
    /// One step of indentation.
    pub(super) unit: String,
}

impl NewElement {
    /// Creates the element of a step of a path (from 0), with values at their paths below it.
    pub(super) fn of<'v>(
        path: &Path,
        step: usize,
        values: impl IntoIterator<Item = (&'v Path, &'v str)>,
    ) -> Result<Self, ExtensionError> {
        let elements = path.elements();
        let Some(element) = elements.get(step).copied() else {
            return Err(ExtensionError(format!(
                "it has no {path}, and sited cannot create elements of an unknown namespace"
            )));
        };
        let parent = step.checked_sub(1).and_then(|above| elements.get(above).copied());
        let mut new = Self::empty(path.namespace, element, parent);
        for (path, value) in values {
            new.add_value(path, step, value)?;
        }
        Ok(new)
    }

    fn empty(namespace: Namespace, element: &'static Element, parent: Option<&'static Element>) -> Self {
        Self {
            namespace,
            name: element.name.into(),
            element: Some(element),
            parent,
            attributes: Vec::new(),
            text: "".into(),
            children: Vec::new(),
        }
    }

    /// Sets the value at a path, creating the elements of the path.
    fn add_value(&mut self, path: &Path, step: usize, value: &str) -> Result<(), ExtensionError> {
        let mut here = self;
        for step in path.steps.iter().skip(step + 1) {
            let known = here.element.and_then(|element| element.child(step.name.as_bytes()));
            let Some((_, element)) = known else {
                return Err(ExtensionError(format!("{} has no {}", here.name, step.name)));
            };
            let at = here.children.iter().position(|child| child.name == step.name);
            let at = at.unwrap_or_else(|| {
                here.children.push(Self::empty(here.namespace, element, here.element));
                here.children.len() - 1
            });
            let Some(child) = here.children.get_mut(at) else { return Ok(()) };
            here = child;
        }
        match &path.attribute {
            Some(name) => here.attributes.push((name.clone(), value.into())),
            None if value.is_empty() => {}
            None => match here.element.map(|element| element.kind) {
                Some(Kind::Elements) => {
                    return Err(ExtensionError(format!("{} contains elements; name one of them", here.name)));
                }
                Some(Kind::Empty) => return Err(ExtensionError(format!("{} has no content", here.name))),
                _ => here.text = value.into(),
            },
        }
        Ok(())
    }

    /// The sibling after which it is inserted; `None` inserts it at the start of an element or the end of an entry.
    pub(super) fn previous_sibling<'n>(&self, siblings: &[&'n Node], text: &[u8]) -> Option<&'n Node> {
        let Some(parent) = self.parent else {
            return siblings.iter().rev().find(|node| node.is(self.namespace, &self.name, text)).copied();
        };
        let order = |node: &Node| parent.children.iter().position(|child| node.is(self.namespace, child.name, text));
        let own = parent.child(self.name.as_bytes()).map(|(at, _)| at);
        siblings.iter().rev().find(|node| order(node).is_some_and(|at| Some(at) <= own)).copied()
    }

    pub(super) fn write(&self, out: &mut String, prefix: &str, declaration: Option<&str>, layout: &ElementLayout) {
        let colon = if prefix.is_empty() { "" } else { ":" };
        let _ = write!(out, "{}<{prefix}{colon}{}", layout.outer, self.name);
        if let Some(uri) = declaration {
            let _ = write!(out, " xmlns{colon}{prefix}=\"{uri}\"");
        }
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escape(value));
        }
        if self.children.is_empty() {
            let _ = match (&*self.text, self.element.map(|element| element.kind)) {
                ("", Some(Kind::Empty | Kind::Elements) | None) => write!(out, "/>"),
                (text, _) => write!(out, ">{}</{prefix}{colon}{}>", escape(text), self.name),
            };
            return;
        }
        out.push('>');
        let mut children: Vec<&Self> = self.children.iter().collect();
        let order = |child: &Self| self.element.and_then(|element| element.child(child.name.as_bytes()));
        children.sort_by_key(|child| order(child).map(|(at, _)| at));
        let deeper = super::deeper(&layout.inner, &layout.unit);
        let layout_of_child = ElementLayout {
            outer: layout.inner.clone(),
            inner: deeper,
            close: layout.inner.clone(),
            unit: layout.unit.clone(),
        };
        for child in children {
            child.write(out, prefix, None, &layout_of_child);
        }
        let _ = write!(out, "{}</{prefix}{colon}{}>", layout.close, self.name);
    }
}
