//! An independent reader of sitemaps: quick-xml with namespaces.
//!
//! It panics on files that are not well-formed.

use quick_xml::NsReader;
use quick_xml::events::Event;
use quick_xml::name::ResolveResult;
use std::ops::Range;

/// The core children of an entry, in schema order.
pub(crate) const FIELDS: [&str; 4] = ["loc", "lastmod", "changefreq", "priority"];

/// One `<url>` or `<sitemap>`. All positions are byte offsets into the file.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// From `<url` to the end of `</url>`.
    pub element: Range<usize>,
    /// The first of each core child.
    pub fields: [Option<Place>; 4],
    /// The number of occurrences of each core child.
    pub times: [usize; 4],
}

/// The position and text of a core child.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// From `<loc` to the end of `</loc>`.
    pub element: Range<usize>,
    /// Between the tags; `None` for `<loc/>`.
    pub inner: Option<Range<usize>>,
    /// The character data: references decoded, CDATA included, comments omitted, surrounding whitespace trimmed.
    pub text: String,
}

/// The entries of a file: children of the root in its namespace or in none, named `url` or `sitemap` according to the
/// root.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Entry> {
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut reader = NsReader::from_reader(&bytes[mark..]);
    let mut state = State::default();
    loop {
        let before = mark + reader.buffer_position() as usize;
        let (namespace, event) = reader.read_resolved_event().expect("a well-formed file");
        let namespace = match namespace {
            ResolveResult::Bound(namespace) => namespace.into_inner().to_owned(),
            ResolveResult::Unbound => String::new(),
            ResolveResult::Unknown(prefix) => format!("?{prefix}"),
        };
        let name = match &event {
            Event::Start(tag) | Event::Empty(tag) => tag.local_name().into_inner().to_owned(),
            _ => String::new(),
        };
        let empty = matches!(event, Event::Empty(_));
        let text = match &event {
            Event::Start(_) | Event::Empty(_) | Event::End(_) => None,
            Event::Text(text) => Some(text.to_string()),
            Event::CData(text) => Some(text.to_string()),
            Event::GeneralRef(name) => Some(referred(name)),
            Event::Eof => return state.entries,
            _ => Some(String::new()),
        };
        let kind = match (text, event) {
            (Some(text), _) => Kind::Text(text),
            (None, Event::End(_)) => Kind::End,
            (None, _) => Kind::Start { name, namespace, empty },
        };
        state.take(kind, before..mark + reader.buffer_position() as usize);
    }
}

enum Kind {
    Start { name: String, namespace: String, empty: bool },
    End,
    Text(String),
}

#[derive(Default)]
struct State {
    depth: usize,
    root: (String, String),
    entries: Vec<Entry>,
    /// Whether an entry is open at depth 1.
    in_entry: bool,
    /// The namespace of the entry and of its core children.
    entry_namespace: String,
    /// The core child that is open at depth 2; only the first of each name is kept.
    in_field: Option<(usize, Place)>,
}

impl State {
    fn take(&mut self, kind: Kind, at: Range<usize>) {
        match kind {
            Kind::Text(text) => {
                if let Some((_, place)) = &mut self.in_field {
                    place.text.push_str(&text);
                }
            }
            Kind::Start { name, namespace, empty } => {
                self.open(&name, &namespace, &at);
                self.depth += 1;
                if empty {
                    if let (2.., Some((_, place))) = (self.depth, &mut self.in_field)
                        && place.element.start == at.start
                    {
                        place.inner = None;
                    }
                    self.close(&at);
                }
            }
            Kind::End => self.close(&at),
        }
    }

    fn open(&mut self, name: &str, namespace: &str, at: &Range<usize>) {
        match self.depth {
            0 => self.root = (name.to_owned(), namespace.to_owned()),
            1 => {
                let wanted = if self.root.0 == "sitemapindex" { "sitemap" } else { "url" };
                self.in_entry = name == wanted && (namespace == self.root.1 || namespace.is_empty());
                namespace.clone_into(&mut self.entry_namespace);
                if self.in_entry {
                    self.entries.push(Entry { element: at.clone(), fields: [const { None }; 4], times: [0; 4] });
                }
            }
            2 if self.in_entry && namespace == self.entry_namespace => {
                if let Some(field) = FIELDS.iter().position(|field| *field == name) {
                    let inner = Some(at.end..at.end);
                    self.in_field = Some((field, Place { element: at.clone(), inner, text: String::new() }));
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, at: &Range<usize>) {
        self.depth -= 1;
        match self.depth {
            1 if self.in_entry => {
                self.in_entry = false;
                if let Some(entry) = self.entries.last_mut() {
                    entry.element.end = at.end;
                }
            }
            2 => {
                if let (Some((field, mut place)), Some(entry)) = (self.in_field.take(), self.entries.last_mut()) {
                    place.element.end = at.end;
                    if let Some(inner) = &mut place.inner {
                        inner.end = at.start;
                    }
                    let text = place.text.trim_matches([' ', '\t', '\r', '\n']).to_owned();
                    place.text = text;
                    entry.times[field] += 1;
                    entry.fields[field].get_or_insert(place);
                }
            }
            _ => {}
        }
    }
}

/// The text of the reference `&name;`.
fn referred(name: &str) -> String {
    let number = match name.strip_prefix('#') {
        Some(hexadecimal) if hexadecimal.starts_with(['x', 'X']) => u32::from_str_radix(&hexadecimal[1..], 16).ok(),
        Some(decimal) => decimal.parse().ok(),
        None => None,
    };
    let character = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        _ => number.and_then(char::from_u32),
    };
    character.map_or_else(|| format!("&{name};"), String::from)
}
