//! Imports feeds as sitemaps: RSS 0.9x, 1.0 and 2.0 with Media RSS, Atom 0.3 and 1.0.
//!
//! Invariants: any bytes give a result, and its text is always a sitemap without damage. Every item becomes a row, even
//! if it has no link; nothing is guessed, and skipped elements are counted. Entities of a DOCTYPE stay text.

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
    /// The feed format with this root element.
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

    /// Its usual name, with an article.
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

/// A feed that was converted to a sitemap.
#[derive(Debug, Clone)]
pub struct Import {
    /// The feed format.
    pub feed: Feed,
    /// The text of a sitemap with one row for each item, in order.
    pub text: Vec<u8>,
    /// The byte offset of each item in the feed.
    pub item_offsets: Vec<u32>,
    /// Ascending offsets of the text, with the offsets of their sources in the feed.
    pub anchors: Vec<(u32, u32)>,
    /// The defects of the feed, in document order.
    pub defects: Vec<FoundDefect>,
    /// Whether it is truncated; an item that is open at the end is left out.
    pub is_cut: bool,
    /// The byte offset at which reading stopped because the feed has too many elements for its length.
    pub given_up: Option<u32>,
    /// Skipped children of items that a sitemap cannot hold: their names and numbers.
    pub skipped: Vec<(String, u64)>,
}
