//! Imports feeds as sitemaps: RSS 0.9x, 1.0 and 2.0 with Media RSS, Atom 0.3 and 1.0.
//!
//! Invariants: any bytes give a result, and its text always scans as a sitemap without damage. An item is a row,
//! whatever it lacks; nothing is guessed, and what is not taken over is counted. Entities of a DOCTYPE stay text.

mod date;
mod item;
mod media;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use read::import;

use super::markup::{self, Markup};
use super::names;
use crate::xml::defect::FoundDefect;

/// A feed format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feed {
    /// RSS 0.91 to 2.0: `<rss>`.
    Rss,
    /// RSS 0.90 and 1.0: `<rdf:RDF>`.
    Rdf,
    /// Atom 1.0 (RFC 4287).
    Atom,
    /// Atom 0.3 of 2003.
    Atom03,
}

/// Namespace of Atom 1.0 (RFC 4287, section 1.2).
const ATOM: &[u8] = b"http://www.w3.org/2005/Atom";

/// Namespace of Atom 0.3 (The Atom Syndication Format 0.3, section 2).
const ATOM_03: &[u8] = b"http://purl.org/atom/ns#";

impl Feed {
    /// The format whose root element a start tag is.
    pub fn of_root(bytes: &[u8], root: &Markup) -> Option<Self> {
        match names::split(root.name(bytes)).1 {
            b"rss" => Some(Self::Rss),
            b"RDF" => Some(Self::Rdf),
            b"feed" => {
                let mut attributes = markup::attributes(root.attributes(bytes));
                let old = attributes.any(|attribute| {
                    attribute.value == ATOM_03 || (attribute.name == b"version" && attribute.value == b"0.3")
                });
                Some(if old { Self::Atom03 } else { Self::Atom })
            }
            _ => None,
        }
    }

    /// What people call it, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rss | Self::Rdf => "an RSS feed",
            Self::Atom => "an Atom feed",
            Self::Atom03 => "an Atom 0.3 feed",
        }
    }

    const fn is_atom(self) -> bool {
        matches!(self, Self::Atom | Self::Atom03)
    }

    /// The local name of its items.
    const fn item_name(self) -> &'static [u8] {
        if self.is_atom() { b"entry" } else { b"item" }
    }
}

/// A feed as a sitemap.
#[derive(Debug, Clone)]
pub struct Import {
    /// What it was.
    pub feed: Feed,
    /// The text of a sitemap with one row for each item, in their order.
    pub text: Vec<u8>,
    /// Where each item starts in the feed, as a byte offset.
    pub places: Vec<u32>,
    /// Offsets of the text, in rising order, and where in the feed stands what they were made of.
    pub anchors: Vec<(u32, u32)>,
    /// What the feed's own rules say about it, in document order.
    pub odd: Vec<FoundDefect>,
    /// Whether it ends too early: an item that is open there is left out.
    pub is_cut: bool,
    /// Where reading stopped, as a byte offset, because the feed has more items than its length accounts for.
    pub given_up: Option<u32>,
    /// Children of items that a sitemap has no place for: their names and how often they occur.
    pub left: Vec<(String, u64)>,
}
