//! `Origins`: the origins of the URLs of a file while it is read, each stored once with its number of rows.

use super::text_numbers::{TextHash, TextNumbers};
use crate::protocol::location::{Location, UrlPrefix};
use std::ops::Range;

/// The origins of some rows. Only the rows of each are counted, since [`Hosts`](super::hosts::Hosts) derives all else from
/// their texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Origins {
    /// The texts of all origins, concatenated.
    text: String,
    /// The text of each origin as first written, and its number of rows.
    list: Vec<(Range<usize>, u32)>,
    /// Numbers of origins by their texts.
    numbers: TextNumbers,
    /// The number of the last row's origin; consecutive rows usually share it.
    last: usize,
}

impl Origins {
    /// Counts a row; returns the number of its origin, if the URL has one.
    #[inline]
    pub(super) fn add(&mut self, location: &Location<'_>) -> Option<u32> {
        let Self { text, list, last, .. } = self;
        // A URL that starts like one with an origin has that origin.
        match list.get_mut(*last) {
            Some((range, rows)) if text.as_bytes().get(range.clone()) == Some(location.before_path().as_bytes()) => {
                *rows += 1;
            }
            _ => return self.add_other(location),
        }
        Some(self.last as u32)
    }

    fn add_other(&mut self, location: &Location<'_>) -> Option<u32> {
        let (text, _) = location.origin()?;
        let has_host = || location.has_normal_authority() || UrlPrefix::parse(text).is_some();
        let hash = TextHash::of(text);
        let number = self.number(hash, text).or_else(|| has_host().then(|| self.insert(hash, text)))?;
        self.last = number as usize;
        self.list.get_mut(self.last)?.1 += 1;
        Some(number)
    }

    fn number(&self, hash: TextHash, origin: &str) -> Option<u32> {
        self.numbers.find(hash, |number| self.text(number) == origin)
    }

    fn insert(&mut self, hash: TextHash, origin: &str) -> u32 {
        let (start, number) = (self.text.len(), self.list.len() as u32);
        self.text.push_str(origin);
        self.list.push((start..self.text.len(), 0));
        self.numbers.insert(hash, number);
        number
    }

    fn text(&self, number: u32) -> &str {
        self.list.get(number as usize).and_then(|(range, _)| self.text.get(range.clone())).unwrap_or_default()
    }

    /// Number of origins.
    pub(super) const fn len(&self) -> usize {
        self.list.len()
    }

    /// The origins in the order of their numbers, each with its number of rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..).zip(&self.list).map(|(number, (_, rows))| (self.text(number), *rows))
    }

    /// Adds the origins of other rows; returns the number here for each of them.
    pub(super) fn join(&mut self, other: &Self) -> Vec<u32> {
        let joined = other.iter().map(|(text, rows)| {
            let hash = TextHash::of(text);
            let number = self.number(hash, text).unwrap_or_else(|| self.insert(hash, text));
            if let Some((_, known)) = self.list.get_mut(number as usize) {
                *known += rows;
            }
            number
        });
        joined.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_origin() {
        let mut origins = Origins::default();
        let locs = ["https://e.com/a", "https://e.com/b", "http://e.com", "no url", "https://E.com/", "https://e.com"];
        let numbers = locs.map(|loc| origins.add(&Location::outline(loc)));
        assert_eq!(numbers, [Some(0), Some(0), Some(1), None, Some(2), Some(0)]);
        let counted: Vec<(&str, u32)> = origins.iter().collect();
        assert_eq!(counted, [("https://e.com", 3), ("http://e.com", 1), ("https://E.com", 1)]);
        let mut other = Origins::default();
        other.add(&Location::outline("http://e.com/x"));
        assert_eq!(other.join(&origins), [1, 0, 2]);
        let counted: Vec<(&str, u32)> = other.iter().collect();
        assert_eq!(counted, [("http://e.com", 2), ("https://e.com", 3), ("https://E.com", 1)]);
    }
}
