//! The children of an entry as a tree of names and texts, for people to look at.
//!
//! Read with quick-xml: nothing here is written back, so exact bytes do not matter. What it cannot read ends
//! the tree; the raw text beside it always shows everything.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// One element, or a text of its own line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// 0 for a child of the entry.
    pub depth: usize,
    /// The name as written, with its prefix.
    pub name: String,
    /// Decoded attributes.
    pub attributes: Vec<(String, String)>,
    /// Decoded text directly inside, white space at its ends taken away.
    pub text: String,
}

/// All elements below the entry element of `text`, in document order. Core fields included.
pub fn tree(text: &[u8]) -> Vec<Node> {
    let mut reader = Reader::from_reader(text);
    let mut nodes: Vec<Node> = Vec::new();
    // Index of each open element's node; the entry itself has none.
    let mut open: Vec<Option<usize>> = Vec::new();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) => {
                let node = (!open.is_empty()).then(|| {
                    nodes.push(node(&tag, open.len() - 1));
                    nodes.len() - 1
                });
                open.push(node);
            }
            Event::Empty(tag) if !open.is_empty() => nodes.push(node(&tag, open.len() - 1)),
            Event::End(_) => {
                open.pop();
            }
            Event::Text(text) => say(&mut nodes, &open, &text.xml10_content()),
            Event::CData(text) => say(&mut nodes, &open, &text.xml10_content()),
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let written = format!("&{name};");
                say(&mut nodes, &open, &super::escape::decode(written.as_bytes()));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    for node in &mut nodes {
        node.text = node.text.trim().to_owned();
    }
    nodes
}

fn node(tag: &BytesStart<'_>, depth: usize) -> Node {
    let attributes = tag
        .attributes()
        .map_while(Result::ok)
        .map(|attribute| {
            let value = super::escape::decode(attribute.value.as_bytes()).into_owned();
            (attribute.key.as_ref().to_owned(), value)
        })
        .collect();
    Node { depth, name: tag.name().as_ref().to_owned(), attributes, text: String::new() }
}

fn say(nodes: &mut [Node], open: &[Option<usize>], text: &str) {
    if let Some(node) = open.last().copied().flatten().and_then(|at| nodes.get_mut(at)) {
        node.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_become_a_tree_of_decoded_texts() {
        let text = b"\n<url><loc>a</loc><image:image><image:loc> b?c&amp;d </image:loc><image:title><![CDATA[e & f]]></image:title></image:image><xhtml:link rel='alternate' href='g?h&amp;i'/></url>";
        let lines: Vec<String> = tree(text)
            .into_iter()
            .map(|node| {
                let attribute = |text: String, (name, value): &(String, String)| text + &format!(" {name}={value}");
                let attributes = node.attributes.iter().fold(String::new(), attribute);
                format!("{}{}{attributes} {}", " ".repeat(node.depth), node.name, node.text)
            })
            .collect();
        assert_eq!(
            lines,
            ["loc a", "image:image ", " image:loc b?c&d", " image:title e & f", "xhtml:link rel=alternate href=g?h&i "]
        );
    }

    #[test]
    fn what_cannot_be_read_ends_the_tree_and_nothing_else() {
        assert_eq!(tree(b"<url><loc>a</loc></other><x/>").len(), 1);
        assert_eq!(tree(b"").len(), 0);
    }
}
