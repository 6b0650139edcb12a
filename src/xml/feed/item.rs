//! One feed item while it is read, and the URL entry that it becomes.

use super::Feed;
use super::date;
use super::media::Media;
use crate::xml::defect::Defect;
use std::collections::BTreeMap;

/// A link of an item.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// What kind of link it says it is; empty for "the page".
    pub rel: String,
    /// Where it leads, decoded and trimmed.
    pub href: String,
    /// Where its tag stands.
    pub at: u32,
    /// The `xml:base` in force, if there is one.
    pub base: Option<String>,
}

impl Link {
    /// Whether it leads to the page itself (RFC 4287, section 4.2.7.2: no `rel` means `alternate`).
    pub(super) fn is_page(&self) -> bool {
        matches!(self.rel.as_str(), "" | "alternate" | "http://www.iana.org/assignments/relation/alternate")
    }
}

/// A date element.
#[derive(Debug, Clone)]
struct Dated {
    /// How good it is as "last changed"; lower is better.
    rank: u8,
    value: Option<String>,
    /// Where its tag stands.
    at: u32,
}

/// An item while it is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    /// Where it starts.
    pub at: u32,
    /// Its links in document order; RSS has one.
    pub links: Vec<Link>,
    /// Its guid, if that says that it is an address.
    pub permalink: Option<String>,
    /// Its title, for a video that has none.
    pub title: Option<String>,
    /// Its description or summary, for a video that has none.
    pub summary: Option<String>,
    /// Until when it is valid (`dcterms:valid`).
    pub expires: Option<String>,
    /// Its Media RSS.
    pub media: Media,
    /// What is odd: kind, offset, words.
    pub odd: Vec<(Defect, u32, String)>,
    /// The date that counts.
    dated: Option<Dated>,
}

impl Item {
    /// An item that starts here.
    pub(super) fn at(at: u32) -> Self {
        Self { at, ..Self::default() }
    }

    /// Notes what is odd; the first of each kind.
    pub(super) fn note(&mut self, kind: Defect, at: u32, what: impl FnOnce() -> String) {
        if !self.odd.iter().any(|(known, ..)| *known == kind) {
            self.odd.push((kind, at, what()));
        }
    }

    /// Takes in a link. Kept are the first of all and the first to the page, see [`Item::link`].
    pub(super) fn add_link(&mut self, link: Link) {
        let is_first = self.links.is_empty() || (link.is_page() && !self.links.iter().any(Link::is_page));
        // One without an address leads nowhere.
        if is_first && !link.href.is_empty() {
            self.links.push(link);
        }
    }

    /// Takes in a date element. False when it is none that says when a page changed.
    pub(super) fn date(&mut self, feed: Feed, name: &[u8], text: &str, at: u32) -> bool {
        let rank = match (feed.is_atom(), name) {
            (true, b"updated") => 0,
            (true, b"modified") | (false, b"pubDate") => 1,
            (true, b"published") | (false, b"date") => 2,
            (true, b"issued") => 3,
            _ => return false,
        };
        let read = date::read(feed, name, text);
        if !read.sound {
            let taken = read.value.as_ref().map_or_else(String::new, |value| format!(", read as {value}"));
            self.note(Defect::FeedDate, at, || format!("{text}{taken}"));
        }
        if read.value.is_some() && self.dated.as_ref().is_none_or(|known| rank < known.rank) {
            self.dated = Some(Dated { rank, value: read.value, at });
        }
        true
    }

    /// When the page changed, as far as the item says, and where it says so.
    pub(super) fn lastmod(&self) -> Option<(&str, u32)> {
        let dated = self.dated.as_ref()?;
        Some((dated.value.as_deref()?, dated.at))
    }

    /// The link to its page: the first that says so, else the first of all.
    pub(super) fn link(&self) -> Option<&Link> {
        // One without an address leads nowhere.
        let mut links = self.links.iter().filter(|link| !link.href.is_empty());
        let first = links.clone().next();
        links.find(|link| link.is_page()).or(first)
    }
}

/// Counts of feed elements that were skipped.
#[derive(Debug, Default)]
pub(super) struct SkippedElements(BTreeMap<String, u64>);

impl SkippedElements {
    /// Names that are kept apart; a hostile file must not make a list of a million.
    const NAMES: usize = 100;

    /// Counts one element by its name as written.
    pub(super) fn count(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        if let Some(count) = self.0.get_mut(name.as_ref()) {
            *count += 1;
        } else if self.0.len() < Self::NAMES {
            self.0.insert(name.into_owned(), 1);
        }
    }

    /// The names, most frequent first.
    pub(super) fn into_list(self) -> Vec<(String, u64)> {
        let mut list: Vec<_> = self.0.into_iter().collect();
        list.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        list
    }
}
