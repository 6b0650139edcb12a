//! One feed item while it is read, and the URL entry that it becomes.

use super::Feed;
use super::date;
use super::media::Media;
use crate::xml::defect::Defect;
use std::collections::BTreeMap;

/// A link of an item.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// Its relation; empty for a link to the page.
    pub rel: String,
    /// Its target URL, decoded and trimmed.
    pub href: String,
    /// The offset of its tag.
    pub at: u32,
    /// The `xml:base` that applies to it, if any.
    pub base: Option<String>,
}

impl Link {
    /// Whether it is a link to the page itself (RFC 4287, section 4.2.7.2: no `rel` means `alternate`).
    pub(super) fn is_page(&self) -> bool {
        matches!(self.rel.as_str(), "" | "alternate" | "http://www.iana.org/assignments/relation/alternate")
    }
}

/// A date element.
#[derive(Debug, Clone)]
struct Dated {
    /// Its priority as the date of the last change; lower is better.
    rank: u8,
    value: Option<String>,
    /// The offset of its tag.
    at: u32,
}

/// An item while it is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    /// The offset of its start.
    pub at: u32,
    /// Its links in document order; RSS has one.
    pub links: Vec<Link>,
    /// Its guid, if that is a permalink.
    pub permalink: Option<String>,
    /// Its title, for videos without a title.
    pub title: Option<String>,
    /// Its description or summary, for videos without a description.
    pub summary: Option<String>,
    /// The end of its validity (`dcterms:valid`).
    pub expires: Option<String>,
    /// Its Media RSS.
    pub media: Media,
    /// Its defects: kind, offset, description.
    pub defects: Vec<(Defect, u32, String)>,
    /// The best date so far.
    dated: Option<Dated>,
}

impl Item {
    /// Creates an item that starts at an offset.
    pub(super) fn at(at: u32) -> Self {
        Self { at, ..Self::default() }
    }

    /// Adds a defect, unless there is one of its kind.
    pub(super) fn note(&mut self, kind: Defect, at: u32, what: impl FnOnce() -> String) {
        if !self.defects.iter().any(|(known, ..)| *known == kind) {
            self.defects.push((kind, at, what()));
        }
    }

    /// Adds a link if it is the first one or the first one to the page; see [`Item::link`].
    pub(super) fn add_link(&mut self, link: Link) {
        let is_first = self.links.is_empty() || (link.is_page() && !self.links.iter().any(Link::is_page));
        // Links without a URL are ignored.
        if is_first && !link.href.is_empty() {
            self.links.push(link);
        }
    }

    /// Adds a date element. False if it is not a date of the page's last change.
    pub(super) fn add_date(&mut self, feed: Feed, name: &[u8], text: &str, at: u32) -> bool {
        let rank = match (feed.is_atom(), name) {
            (true, b"updated") => 0,
            (true, b"modified") | (false, b"pubDate") => 1,
            (true, b"published") | (false, b"date") => 2,
            (true, b"issued") => 3,
            _ => return false,
        };
        let read = date::read(feed, name, text);
        if !read.is_valid {
            let note = read.value.as_ref().map_or_else(String::new, |value| format!(", read as {value}"));
            self.note(Defect::FeedDate, at, || format!("{text}{note}"));
        }
        if read.value.is_some() && self.dated.as_ref().is_none_or(|known| rank < known.rank) {
            self.dated = Some(Dated { rank, value: read.value, at });
        }
        true
    }

    /// The date of the page's last change, if known, and its offset.
    pub(super) fn lastmod(&self) -> Option<(&str, u32)> {
        let dated = self.dated.as_ref()?;
        Some((dated.value.as_deref()?, dated.at))
    }

    /// The link to its page: the first with such a relation, or else the first link.
    pub(super) fn link(&self) -> Option<&Link> {
        // Links without a URL are ignored.
        let mut links = self.links.iter().filter(|link| !link.href.is_empty());
        let first = links.clone().next();
        links.find(|link| link.is_page()).or(first)
    }
}

/// Counts of feed elements that were skipped.
#[derive(Debug, Default)]
pub(super) struct SkippedElements(BTreeMap<String, u64>);

impl SkippedElements {
    /// Maximum number of different names; a hostile file must not create a list of a million.
    const MAX_NAMES: usize = 100;

    /// Counts one element by its name as written.
    pub(super) fn count(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        if let Some(count) = self.0.get_mut(name.as_ref()) {
            *count += 1;
        } else if self.0.len() < Self::MAX_NAMES {
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
