//! Edits an extension of an entry by path: sets, adds or removes elements and attributes.
//!
//! Invariant: all bytes outside of the change stay the same. A changed value replaces only the trimmed value between
//! its tags. A new element is inserted in schema order with the entry's indentation and the file's prefix, and declares
//! its namespace if the file does not. An element is removed together with the whitespace before it.

mod new_element;
mod outline;

use super::entry::{Anomalies, Entry};
use super::escape::{decode, escape, is_xml_char};
use super::markup::{self, Kind};
use super::names::Names;
use crate::protocol::extension::Kind as ValueKind;
use crate::protocol::extension::path::Path;
use new_element::NewElement;
use outline::{Node, Outline};
use std::ops::Range;

/// A change of an entry's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtensionChange {
    /// Sets the value of the element or attribute at a path, which is created if missing. Without an index, the path
    /// means the first element.
    Set {
        /// The path.
        path: Path,
        /// The value, as decoded text.
        value: Box<str>,
    },
    /// Adds an element that contains these values.
    Add {
        /// The path of the element; an index in its last step is ignored.
        path: Path,
        /// Paths below the element (its own path for its text), with decoded values.
        values: Vec<(Path, Box<str>)>,
    },
    /// Removes the element or attribute at a path; without an index, all elements of that name.
    Remove(Path),
}

/// Why the change is impossible; the text completes "this row is left alone: …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExtensionError(pub String);

/// Returns the entry text with a change applied; `None` if nothing would change.
///
/// # Errors
/// [`ExtensionError`] if the path does not exist and cannot be created.
pub(crate) fn edit_extension(
    text: &[u8],
    names: &Names,
    change: &ExtensionChange,
) -> Result<Option<Vec<u8>>, ExtensionError> {
    let writer = ExtensionWriter::of(text, names)?;
    match change {
        ExtensionChange::Set { path, value } => writer.set(path, value),
        ExtensionChange::Add { path, values } => writer.add(path, [values.as_slice()]).map(Some),
        ExtensionChange::Remove(path) => Ok(writer.remove(path)),
    }
}

/// Returns the entry text with several elements of one name added, as by [`ExtensionChange::Add`]. The entry is parsed
/// only once.
///
/// # Errors
/// [`ExtensionError`] if one of them cannot be added.
pub(crate) fn edit_extensions(
    text: &[u8],
    names: &Names,
    path: &Path,
    elements: &[Vec<(Path, Box<str>)>],
) -> Result<Vec<u8>, ExtensionError> {
    ExtensionWriter::of(text, names)?.add(path, elements.iter().map(Vec::as_slice))
}

/// The decoded value of the attribute or element at a path.
pub(crate) fn value_at(text: &[u8], names: &Names, path: &Path) -> Option<String> {
    let outline = Outline::of(text, &Entry::of(text, names), names);
    let node = outline.find(path)?;
    if let Some(name) = &path.attribute {
        return attribute(text, node, name).map(|span| decode(text.get(span).unwrap_or_default()).into_owned());
    }
    let inner = text.get(node.open_end..node.close).unwrap_or_default();
    Some(super::escape::decode_mixed(inner).trim().to_owned())
}

/// Writes one entry with changed extensions.
struct ExtensionWriter<'t> {
    text: &'t [u8],
    names: &'t Names,
    outline: Outline<'t>,
}

impl<'t> ExtensionWriter<'t> {
    fn of(text: &'t [u8], names: &'t Names) -> Result<Self, ExtensionError> {
        let entry = Entry::of(text, names);
        if entry.anomalies.contains(Anomalies::BROKEN) {
            return Err(ExtensionError("its XML is not well-formed".to_owned()));
        }
        if entry.len == entry.open_end {
            return Err(ExtensionError("it has no loc yet".to_owned()));
        }
        let outline = Outline::of(text, &entry, names);
        Ok(Self { text, names, outline })
    }
}

impl ExtensionWriter<'_> {
    fn set(&self, path: &Path, value: &str) -> Result<Option<Vec<u8>>, ExtensionError> {
        check_characters(value)?;
        let Some(node) = self.outline.find(path) else { return self.create(path, value).map(Some) };
        match &path.attribute {
            Some(name) => Ok(self.set_attribute(node, name, value)),
            None => self.set_text(path, node, value),
        }
    }

    fn set_attribute(&self, node: &Node, name: &str, value: &str) -> Option<Vec<u8>> {
        if let Some(span) = attribute(self.text, node, name) {
            let old = self.text.get(span.clone()).unwrap_or_default();
            return (decode(old) != value).then(|| self.replace(span, escape(value).as_bytes()));
        }
        let (_, end) = markup::trim(self.text, node.name.end, node.attributes.end);
        let end = end.max(node.name.end);
        Some(self.replace(end..end, format!(" {name}=\"{}\"", escape(value)).as_bytes()))
    }

    fn set_text(&self, path: &Path, node: &Node, value: &str) -> Result<Option<Vec<u8>>, ExtensionError> {
        if self.outline.has_children(node) || path.kind() == Some(ValueKind::Elements) {
            return Err(ExtensionError(format!("{path} contains elements; name one of them")));
        }
        if path.kind() == Some(ValueKind::Empty) {
            return if value.is_empty() { Ok(None) } else { Err(ExtensionError(format!("{path} has no content"))) };
        }
        let escaped = escape(value);
        if node.is_empty_tag() {
            if value.is_empty() {
                return Ok(None);
            }
            let name = String::from_utf8_lossy(self.text.get(node.name.clone()).unwrap_or_default()).into_owned();
            let (_, kept) = markup::trim(self.text, node.start, node.end - 2);
            return Ok(Some(self.replace(kept..node.end, format!(">{escaped}</{name}>").as_bytes())));
        }
        let inner = self.text.get(node.open_end..node.close).unwrap_or_default();
        if super::escape::decode_mixed(inner).trim() == value {
            return Ok(None);
        }
        let (start, end) = markup::trim(self.text, node.open_end, node.close);
        if start == end {
            return Ok(Some(self.replace(node.open_end..node.close, escaped.as_bytes())));
        }
        let cdata = markup::next(self.text, start)
            .filter(|found| found.kind == Kind::Cdata && (found.start, found.end) == (start, end));
        if cdata.is_some() && !value.contains("]]>") && !value.contains(char::is_control) {
            // A value that is a single CDATA section stays one; only its content changes.
            let (start, end) = markup::trim(self.text, start + 9, end - 3);
            return Ok(Some(self.replace(start..end, value.as_bytes())));
        }
        Ok(Some(self.replace(start..end, escaped.as_bytes())))
    }

    /// Creates the missing elements of a path, with the value at its end.
    fn create(&self, path: &Path, value: &str) -> Result<Vec<u8>, ExtensionError> {
        let known = (1..path.steps.len()).rev().find_map(|kept| {
            let above = Path { steps: path.steps.get(..kept)?.to_vec(), attribute: None, ..path.clone() };
            self.outline.find(&above).map(|node| (kept, node))
        });
        let (kept, parent) = known.map_or((0, None), |(kept, node)| (kept, Some(node)));
        let next = |step: &crate::protocol::extension::path::Step| step.index.is_some_and(|index| index > 1);
        if let Some(step) = path.steps.iter().skip(kept).find(|step| next(step)) {
            let index = step.index.unwrap_or_default();
            let have = self.outline.count(parent, path.namespace, &step.name);
            if have + 1 != index as usize {
                return Err(ExtensionError(format!("there is no {}[{index}], only {have}", step.name)));
            }
        }
        let new = NewElement::of(path, kept, [(path, value)])?;
        Ok(self.insert(parent, &new, &[]))
    }

    fn add<'v>(
        &self,
        path: &Path,
        elements: impl IntoIterator<Item = &'v [(Path, Box<str>)]>,
    ) -> Result<Vec<u8>, ExtensionError> {
        let kept = path.steps.len() - 1;
        let mut parent = None;
        if kept > 0 {
            let above = Path { steps: path.steps.get(..kept).unwrap_or_default().to_vec(), ..path.clone() };
            parent = self.outline.find(&above);
            if parent.is_none() {
                return Err(ExtensionError(format!("there is no {above} to add it to")));
            }
        }
        let element = |values: &'v [(Path, Box<str>)]| {
            values.iter().try_for_each(|(_, value)| check_characters(value))?;
            NewElement::of(path, kept, values.iter().map(|(path, value)| (path, &**value)))
        };
        let new: Vec<NewElement> = elements.into_iter().map(element).collect::<Result<_, ExtensionError>>()?;
        let Some((first, others)) = new.split_first() else { return Ok(self.text.to_vec()) };
        if let Some(most) = first.element.map(|element| usize::from(element.max_count)).filter(|most| *most > 0)
            && self.outline.count(parent, path.namespace, &first.name) + others.len() >= most
        {
            let times = if most == 1 { "already".to_owned() } else { format!("{most} times, the most allowed") };
            return Err(ExtensionError(format!("it has {} {times}", first.name)));
        }
        Ok(self.insert(parent, first, others))
    }

    fn remove(&self, path: &Path) -> Option<Vec<u8>> {
        if let Some(name) = &path.attribute {
            let value = attribute(self.text, self.outline.find(path)?, name)?;
            // The name, the `=` and the quotes are before and after the value.
            let before = self.text.get(..value.start)?;
            let start = before.windows(name.len()).rposition(|window| window == name.as_bytes())?;
            return Some(self.replace(blank_before(self.text, start)..value.end + 1, b""));
        }
        let mut spans: Vec<Range<usize>> =
            self.outline.all(path).into_iter().map(|node| self.range_with_blanks(node)).collect();
        if spans.is_empty() {
            return None;
        }
        let mut out = self.text.to_vec();
        spans.sort_by_key(|span| std::cmp::Reverse(span.start));
        for span in spans {
            out.drain(span);
        }
        Some(out)
    }

    fn range_with_blanks(&self, node: &Node) -> Range<usize> {
        blank_before(self.text, node.start)..node.end
    }

    /// Inserts a new element, and others of its name after it, into their parent or the entry.
    fn insert(&self, parent: Option<&Node>, new: &NewElement, others: &[NewElement]) -> Vec<u8> {
        let text = self.text;
        let children = self.outline.children(parent);
        let previous = new.previous_sibling(&children, text);
        let after = previous.map(|node| node.end);
        let mut out = String::new();
        let prefix = match parent {
            Some(parent) => parent.prefix(text),
            None => self.names.prefix_of(new.namespace).map(|prefix| String::from_utf8_lossy(prefix).into_owned()),
        };
        let declares = prefix.is_none();
        let prefix = prefix.unwrap_or_else(|| new.namespace.prefix().to_owned());
        let declaration = if declares { new.namespace.uri() } else { None };
        let layout = self.layout(parent, &children, new);
        for new in std::iter::once(new).chain(others) {
            new.write(&mut out, &prefix, declaration, &layout);
        }
        let Some(parent) = parent else {
            let at = after.or(children.last().map(|node| node.end)).unwrap_or(self.outline.open_end);
            return self.replace(at..at, out.as_bytes());
        };
        if parent.is_empty_tag() {
            let name = String::from_utf8_lossy(text.get(parent.name.clone()).unwrap_or_default()).into_owned();
            let (_, kept) = markup::trim(text, parent.start, parent.end - 2);
            let close = self.blank(parent);
            return self.replace(kept..parent.end, format!(">{out}{close}</{name}>").as_bytes());
        }
        if children.is_empty() && parent.open_end == parent.close {
            out.push_str(&self.blank(parent));
        }
        let at = after.unwrap_or(parent.open_end);
        self.replace(at..at, out.as_bytes())
    }

    /// The whitespace for a new element: that of its siblings, or else one step deeper than its parent.
    fn layout(&self, parent: Option<&Node>, children: &[&Node], new: &NewElement) -> new_element::ElementLayout {
        let first = children.first().map(|node| self.blank(node));
        let unit = self.unit();
        let outer = first.unwrap_or_else(|| match parent {
            Some(parent) => deeper(&self.blank(parent), &unit),
            None => String::new(),
        });
        // An element of the same name shows the layout of the children.
        let like = children.iter().find(|node| node.is(new.namespace, &new.name, self.text));
        let inside = like.and_then(|node| Some((self.outline.children(Some(node)).first().copied()?, node)));
        let inner = inside.map_or_else(|| deeper(&outer, &unit), |(child, _)| self.blank(child));
        let close = inside.map_or_else(|| outer.clone(), |(_, node)| self.blank_at(node.close));
        new_element::ElementLayout { outer, inner, close, unit }
    }

    /// One step of indentation: the difference between that of the fields and of the entry.
    fn unit(&self) -> String {
        let field = self.outline.children(None).first().map(|node| self.blank(node)).unwrap_or_default();
        let entry = self.blank_at(self.outline.open);
        let line = |text: &str| text.rsplit('\n').next().unwrap_or_default().to_owned();
        if !field.contains('\n') {
            return String::new();
        }
        let (field, entry) = (line(&field), line(&entry));
        field.strip_prefix(&entry).filter(|unit| !unit.is_empty()).map_or_else(|| "  ".to_owned(), ToOwned::to_owned)
    }

    /// The whitespace before a node.
    fn blank(&self, node: &Node) -> String {
        self.blank_at(node.start)
    }

    fn blank_at(&self, at: usize) -> String {
        let blank = self.text.get(blank_before(self.text, at)..at).unwrap_or_default();
        String::from_utf8_lossy(blank).into_owned()
    }

    /// Returns the text with a part of it replaced.
    fn replace(&self, part: Range<usize>, by: &[u8]) -> Vec<u8> {
        let (head, tail) = (self.text.get(..part.start), self.text.get(part.end..));
        [head.unwrap_or_default(), by, tail.unwrap_or_default()].concat()
    }
}

/// Indentation that is one step deeper; unchanged without a line break.
fn deeper(blank: &str, unit: &str) -> String {
    if blank.contains('\n') { format!("{blank}{unit}") } else { blank.to_owned() }
}

/// Start of the run of whitespace that ends at `end`.
fn blank_before(text: &[u8], end: usize) -> usize {
    let before = text.get(..end).unwrap_or_default();
    before.iter().rposition(|byte| !markup::is_space(*byte)).map_or(0, |last| last + 1)
}

/// The range of an attribute's value, without its quotes.
fn attribute(text: &[u8], node: &Node, name: &str) -> Option<Range<usize>> {
    let slice = text.get(node.attributes.clone())?;
    let mut attributes = markup::attributes(slice);
    while let Some(found) = attributes.next() {
        if found.name == name.as_bytes() {
            // The closing quote is between the value and the unread rest.
            let end = node.attributes.start + slice.len() - attributes.rest().len() - 1;
            return Some(end - found.value.len()..end);
        }
    }
    None
}

fn check_characters(value: &str) -> Result<(), ExtensionError> {
    match value.chars().find(|c| !is_xml_char(*c)) {
        Some(bad) => Err(ExtensionError(format!("U+{:04X} cannot be written in XML", bad as u32))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
