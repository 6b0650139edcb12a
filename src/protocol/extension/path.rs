//! Paths to elements and attributes of extensions: `image[2]/title`, `video/duration`, `link@hreflang`.
//!
//! Steps are local names of the tables, optionally with the usual prefix. An element of an unknown namespace is named
//! as in the file, including its prefix.

use super::{Element, Kind, root};
use crate::protocol::namespace::{self, Namespace};
use std::fmt;

/// An element of a path, with its number among those with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The local name; for unknown namespaces the name as written.
    pub name: Box<str>,
    /// The number, from 1; `None` if not given.
    pub index: Option<u32>,
}

/// A path to an element or attribute in the extensions of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The namespace of the elements; [`Namespace::Other`] for unknown ones.
    pub namespace: Namespace,
    /// The elements, starting with a child of the entry; never empty.
    pub steps: Vec<Step>,
    /// The attribute of the last element, if the path names one.
    pub attribute: Option<Box<str>>,
}

/// The namespaces that have elements in entries, in the order in which they are suggested.
pub(crate) const ALL: [Namespace; 8] = [
    Namespace::Image,
    Namespace::Video,
    Namespace::News,
    Namespace::Xhtml,
    Namespace::Mobile,
    Namespace::PageMap,
    Namespace::CodeSearch,
    Namespace::Geo,
];

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// A message with the fault and the names that are possible there.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (text, attribute) = match text.split_once('@') {
            Some((text, name)) if is_name(name) => (text, Some(name)),
            Some((_, name)) => return Err(format!("{name:?} is not a valid attribute name")),
            None => (text, None),
        };
        let steps = text.split('/').map(step).collect::<Result<Vec<Step>, String>>()?;
        let namespace = steps.first().map_or(Err(String::new()), |first| namespace_of(&first.name))?;
        let mut path = Self { namespace, steps, attribute: attribute.map(Into::into) };
        path.resolve()?;
        Ok(path)
    }

    /// The possible values of its element or attribute; empty if there is no fixed list.
    pub fn choices(&self) -> &'static [&'static str] {
        let Some(element) = self.element() else { return &[] };
        match &self.attribute {
            None => element.kind.choices(),
            Some(name) if self.namespace == Namespace::Xhtml && &**name == "rel" => &["alternate"],
            Some(name) => element.attribute(name.as_bytes()).map_or(&[], |attribute| attribute.kind.choices()),
        }
    }

    /// The element of the table at this path; `None` if unknown.
    pub fn element(&self) -> Option<&'static Element> {
        let element = root(self.namespace)?;
        let rest = self.steps.get(1..).unwrap_or_default();
        rest.iter().try_fold(element, |element, step| element.child(step.name.as_bytes()).map(|(_, child)| child))
    }

    /// The kind of the value at this path; `None` if unknown.
    pub fn kind(&self) -> Option<Kind> {
        let element = self.element()?;
        match &self.attribute {
            Some(name) => element.attribute(name.as_bytes()).map(|attribute| attribute.kind),
            None => Some(element.kind),
        }
    }

    /// This path followed by a child, an attribute or a relative path.
    ///
    /// # Errors
    /// As [`Path::parse`].
    pub fn join(&self, below: &str) -> Result<Self, String> {
        let slash = if below.starts_with('@') { "" } else { "/" };
        Self::parse(&format!("{self}{slash}{below}"))
    }

    /// The known elements of the path, starting with the child of the entry.
    pub fn elements(&self) -> Vec<&'static Element> {
        let mut all = Vec::new();
        let mut here = root(self.namespace);
        for step in self.steps.iter().skip(1) {
            all.extend(here);
            here = here.and_then(|element| element.child(step.name.as_bytes()).map(|(_, child)| child));
        }
        all.extend(here);
        all
    }

    /// Replaces prefixed names by local ones and a last step that names an attribute by that attribute. Each name must
    /// be known.
    fn resolve(&mut self) -> Result<(), String> {
        let Some(mut element) = root(self.namespace) else { return Ok(()) };
        let last = self.steps.len() - 1;
        for (at, step) in self.steps.iter_mut().enumerate() {
            let local = step.name.rsplit(':').next().unwrap_or_default();
            if at == 0 {
                step.name = local.into();
                continue;
            }
            match element.child(local.as_bytes()) {
                Some((_, child)) => element = child,
                None if at == last && self.attribute.is_none() && element.attribute(local.as_bytes()).is_some() => {
                    self.attribute = Some(local.into());
                }
                None => return Err(unknown(element, local)),
            }
            step.name = local.into();
        }
        if self.attribute.is_some() && self.steps.len() > 1 && self.elements().len() < self.steps.len() {
            self.steps.pop();
        }
        match &self.attribute {
            Some(name) if element.attribute(name.as_bytes()).is_none() => Err(unknown(element, name)),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            let slash = if at > 0 { "/" } else { "" };
            write!(f, "{slash}{}", step.name)?;
            if let Some(index) = step.index {
                write!(f, "[{index}]")?;
            }
        }
        match &self.attribute {
            Some(name) => write!(f, "@{name}"),
            None => Ok(()),
        }
    }
}

fn step(text: &str) -> Result<Step, String> {
    let (name, index) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((name, index)) => match index.parse::<u32>() {
            Ok(index) if index > 0 => (name, Some(index)),
            _ => return Err(format!("[{index}]: expected a number from 1")),
        },
        None => (text, None),
    };
    if is_name(name) {
        Ok(Step { name: name.into(), index })
    } else {
        Err("expected an element, such as image, video/duration or link[2]@href".to_owned())
    }
}

/// Whether a text is the name of an element or attribute.
fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

/// The namespace of the element that the first step names.
fn namespace_of(name: &str) -> Result<Namespace, String> {
    let known = |namespace: &Namespace, local: &str| root(*namespace).is_some_and(|root| root.name == local);
    match name.split_once(':') {
        Some((prefix, local)) => match namespace::by_usual_prefix(prefix.as_bytes()) {
            Some(namespace) if known(&namespace, local) => Ok(namespace),
            Some(namespace) if root(namespace).is_some() => {
                let own = root(namespace).map_or("", |root| root.name);
                Err(format!("{name} is not an element of an entry; {prefix}:{own} is"))
            }
            _ => Ok(Namespace::Other),
        },
        None => ALL.into_iter().find(|namespace| known(namespace, name)).ok_or_else(|| {
            let names = ALL.map(|namespace| root(namespace).map_or("", |root| root.name)).join(", ");
            format!("there is no extension {name}; expected {names}, or a name with its prefix")
        }),
    }
}

fn unknown(element: &Element, name: &str) -> String {
    let names = element.children.iter().map(|child| child.name);
    let names: Vec<&str> = names.chain(element.attributes.iter().map(|attribute| attribute.name)).collect();
    if names.is_empty() {
        return format!("{} has no elements or attributes", element.name);
    }
    format!("{} has no {name}; expected {}", element.name, names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parsed_and_written() {
        for (text, canonical, kind) in [
            ("image", "image", Some(Kind::Elements)),
            ("image:image[2]/image:title", "image[2]/title", Some(Kind::Text)),
            ("video/duration", "video/duration", Some(Kind::Duration)),
            ("news/publication/language", "news/publication/language", Some(Kind::NewsLanguage)),
            ("link@href", "link@href", Some(Kind::Text)),
            ("xhtml:link[3]/hreflang", "link[3]@hreflang", Some(Kind::Text)),
            ("video/price[2]/currency", "video/price[2]@currency", Some(Kind::Currency)),
            ("PageMap/DataObject[1]/Attribute[2]@name", "PageMap/DataObject[1]/Attribute[2]@name", Some(Kind::Text)),
            ("mobile", "mobile", Some(Kind::Empty)),
            ("foo:bar/foo:baz[2]", "foo:bar/foo:baz[2]", None),
        ] {
            let path = Path::parse(text).unwrap();
            assert_eq!((path.to_string().as_str(), path.kind()), (canonical, kind), "{text}");
            assert_eq!(Path::parse(canonical).as_ref(), Ok(&path));
        }
    }

    #[test]
    fn errors_list_the_possible_names() {
        for (text, words) in [
            ("", "expected an element"),
            ("picture", "expected image, video"),
            ("image/duration", "image has no duration; expected loc, caption"),
            ("image[0]", "a number from 1"),
            ("image:loc", "image:image is"),
            ("image@src", "image has no src"),
            ("mobile/x", "mobile has no elements or attributes"),
            ("image//loc", "expected an element"),
            ("a b", "expected an element"),
        ] {
            let error = Path::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn paths_are_joined() {
        let path = Path::parse("image[2]").unwrap();
        assert_eq!(path.join("title").unwrap().to_string(), "image[2]/title");
        assert_eq!(Path::parse("link").unwrap().join("@href").unwrap().to_string(), "link@href");
        assert!(path.join("nothing").is_err());
    }
}
