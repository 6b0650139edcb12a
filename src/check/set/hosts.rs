//! Schemes, hosts and ports of the whole set, each stored once with a count.
//!
//! A set that can change does not store the origin of each row: it is parsed again from the URL and looked up here by its
//! text. A set that is only reported on has its number in the shape of the row.

use super::text_numbers::{TextHash, TextNumbers};
use crate::protocol::location::{Location, Port, Scheme, UrlPrefix};
use std::borrow::Cow;

/// A row's origin, as indexes into the tables of hosts and ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// The scheme.
    pub scheme: Scheme,
    /// The number of the host.
    pub host: u32,
    /// The port; 0 for the default port of the scheme.
    pub port: u32,
}

/// A range of [`Hosts::text`].
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    len: u32,
}

impl Span {
    fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.start as usize + self.len as usize).unwrap_or_default()
    }
}

#[derive(Debug, Clone)]
struct Host {
    name: Span,
    is_template: bool,
    /// `www.x` for `x` and the other way round.
    partner: Option<u32>,
    rows: u32,
}

#[derive(Debug, Clone)]
struct Known {
    /// As written: `HTTPS://Example.com`.
    text: Span,
    origin: Origin,
    rows: u32,
}

/// All origins of the set.
///
/// Every row of a set may have its own host, so a host takes about a hundred bytes and no allocation.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts {
    /// All origin texts and host names, concatenated. A name that occurs in its origin text is not stored again.
    text: String,
    list: Vec<Host>,
    /// Numbers of hosts, under the hashes of their names without any `www.` at the start.
    ids: TextNumbers,
    known: Vec<Known>,
    /// Numbers of origins by their texts.
    known_ids: TextNumbers,
    /// Index of the last origin; consecutive rows usually share it.
    last: usize,
    /// Rows per scheme: http, https.
    pub schemes: [u64; 2],
    /// Sum over all pairs `www.x` and `x` of the rows of the rarer one.
    pub www_minority: u64,
    /// Rows of placeholder hosts.
    templates: u64,
}

/// Placeholder hosts, including their subdomains (RFC 2606, section 3).
const TEMPLATES: [&str; 3] = ["example.com", "example.net", "example.org"];

fn is_template(host: &str) -> bool {
    let is_below = |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    TEMPLATES.iter().any(|known| is_below(known))
}

impl Hosts {
    /// Adds a row; returns its origin if the URL has one.
    pub(super) fn add(&mut self, location: &Location<'_>) -> Option<Origin> {
        self.add_rows(location, 1).map(|(_, origin)| origin)
    }

    /// Adds rows whose URLs have this origin; returns its number and the origin if there is one.
    pub(super) fn add_rows(&mut self, location: &Location<'_>, rows: u32) -> Option<(u32, Origin)> {
        let index = self.intern(location)?;
        Some((index as u32, self.count(index, i64::from(rows))))
    }

    /// Reserves memory for the numbers of up to `count` more origins, each with a host of its own.
    pub(super) fn reserve(&mut self, count: usize) {
        self.ids.reserve(count);
        self.known_ids.reserve(count);
    }

    /// The origin with a number.
    pub(super) fn origin(&self, number: u32) -> Option<Origin> {
        self.known.get(number as usize).map(|known| known.origin)
    }

    /// Number of origins.
    pub(super) const fn len(&self) -> usize {
        self.known.len()
    }

    /// The text of the origin with a number, as first written.
    pub(super) fn text(&self, number: u32) -> &str {
        self.known.get(number as usize).map_or("", |known| known.text.of(&self.text))
    }

    /// Removes a row.
    pub(super) fn remove(&mut self, location: &Location<'_>) -> Option<Origin> {
        let index = self.index_of(location)?.ok()?;
        Some(self.count(index, -1))
    }

    /// The origin of a URL that was added at some time.
    pub(super) fn find(&self, location: &Location<'_>) -> Option<Origin> {
        self.known.get(self.index_of(location)?.ok()?).map(|known| known.origin)
    }

    /// The hosts that have rows, in lower case.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter(|host| host.rows > 0).map(|host| host.name.of(&self.text))
    }

    /// The host's name in lower case.
    pub(super) fn name(&self, host: u32) -> &str {
        self.list.get(host as usize).map_or("", |host| host.name.of(&self.text))
    }

    /// The scheme with fewer rows if both occur; http if they have equally many.
    pub(super) fn rarer_scheme(&self) -> Option<Scheme> {
        match self.schemes {
            [0, _] | [_, 0] => None,
            [http, https] if http <= https => Some(Scheme::Http),
            _ => Some(Scheme::Https),
        }
    }

    /// Whether the same host with or without `www.` has more rows; among equals, the one with `www.` counts as rarer.
    pub(super) fn is_www_minority(&self, host: u32) -> bool {
        let Some(host) = self.list.get(host as usize) else { return false };
        let Some(partner) = host.partner.and_then(|partner| self.list.get(partner as usize)) else { return false };
        let is_rarer =
            host.rows < partner.rows || (host.rows == partner.rows && host.name.of(&self.text).starts_with("www."));
        partner.rows > 0 && is_rarer
    }

    /// Rows of placeholder hosts; 0 if there are no other hosts.
    pub(super) fn templates(&self) -> u64 {
        if self.schemes.iter().sum::<u64>() > self.templates { self.templates } else { 0 }
    }

    /// Whether a host is a placeholder, among hosts that are not.
    pub(super) fn is_template(&self, host: u32) -> bool {
        self.templates() > 0 && self.list.get(host as usize).is_some_and(|host| host.is_template)
    }

    /// The most common origin as written, and its number of rows. Among equals, the first in alphabetical order.
    pub(super) fn commonest(&self) -> Option<(&str, u64)> {
        let text = |known: &Known| known.text.of(&self.text);
        let best = self.known.iter().max_by(|a, b| a.rows.cmp(&b.rows).then_with(|| text(b).cmp(text(a))))?;
        (best.rows > 0).then_some((text(best), u64::from(best.rows)))
    }

    /// The index of the origin of a URL, or its text with the hash if it has no index; `None` without an origin.
    fn index_of<'t>(&self, location: &Location<'t>) -> Option<Result<usize, (&'t str, TextHash)>> {
        let matches =
            |index: usize, text: &str| self.known.get(index).is_some_and(|known| known.text.of(&self.text) == text);
        // A URL that starts like one with an origin has that origin.
        if matches(self.last, location.before_path()) {
            return Some(Ok(self.last));
        }
        let (text, _) = location.origin()?;
        let hash = TextHash::of(text);
        let index = self.known_ids.find(hash, |index| matches(index as usize, text));
        Some(index.map(|index| index as usize).ok_or((text, hash)))
    }

    fn intern(&mut self, location: &Location<'_>) -> Option<usize> {
        let (text, hash) = match self.index_of(location)? {
            Ok(index) => {
                self.last = index;
                return Some(index);
            }
            Err(unknown) => unknown,
        };
        // Each row of a set may have its own host, and nearly all hosts are normal.
        let host = if location.has_normal_authority() {
            Cow::Borrowed(location.host())
        } else {
            Cow::Owned(Location::of(UrlPrefix::parse(text)?.origin()).host().to_owned())
        };
        let span = self.store(text)?;
        let host = self.host(&host, span)?;
        let port = match location.port() {
            Port::Other(port) => u32::from(port),
            Port::None | Port::Empty | Port::Default => 0,
            Port::Bad => u32::MAX,
        };
        let index = self.known.len();
        let origin = Origin { scheme: location.scheme()?, host, port };
        self.known.push(Known { text: span, origin, rows: 0 });
        self.known_ids.insert(hash, index as u32);
        self.last = index;
        Some(index)
    }

    /// Stores a text; `None` if all texts would exceed 4 GiB.
    fn store(&mut self, text: &str) -> Option<Span> {
        let start = u32::try_from(self.text.len()).ok()?;
        u32::try_from(self.text.len() + text.len()).ok()?;
        self.text.push_str(text);
        Some(Span { start, len: text.len() as u32 })
    }

    /// The number of the host with a name, which was parsed from the stored text `from`.
    fn host(&mut self, name: &str, from: Span) -> Option<u32> {
        let hash = TextHash::of(name.trim_start_matches("www."));
        if let Some(host) = self.ids.find(hash, |id| self.name(id) == name) {
            return Some(host);
        }
        let id = self.list.len() as u32;
        let partner = match name.strip_prefix("www.") {
            Some(bare) => self.ids.find(hash, |id| self.name(id) == bare),
            None => self.ids.find(hash, |id| self.name(id).strip_prefix("www.") == Some(name)),
        };
        // Most names are the end of their text; preparing a search takes longer than comparing.
        let text = from.of(&self.text);
        let at = text.strip_suffix(name).map(str::len).or_else(|| text.find(name));
        let span = match at {
            Some(at) => Span { start: from.start + at as u32, len: name.len() as u32 },
            None => self.store(name)?,
        };
        if let Some(partner) = partner.and_then(|partner| self.list.get_mut(partner as usize)) {
            partner.partner = Some(id);
        }
        self.list.push(Host { name: span, is_template: is_template(name), partner, rows: 0 });
        self.ids.insert(hash, id);
        Some(id)
    }

    fn count(&mut self, index: usize, step: i64) -> Origin {
        const NOWHERE: Origin = Origin { scheme: Scheme::Http, host: 0, port: 0 };
        let Some(known) = self.known.get_mut(index) else { return NOWHERE };
        known.rows = stepped(known.rows, step);
        let origin = known.origin;
        let scheme = &mut self.schemes[origin.scheme as usize];
        *scheme = scheme.saturating_add_signed(step);
        let Some(host) = self.list.get_mut(origin.host as usize) else { return origin };
        let before = host.rows;
        host.rows = stepped(before, step);
        if host.is_template {
            self.templates = self.templates.saturating_add_signed(step);
        }
        let after = host.rows;
        if let Some(partner) = host.partner.and_then(|partner| self.list.get(partner as usize)) {
            self.www_minority -= u64::from(before.min(partner.rows));
            self.www_minority += u64::from(after.min(partner.rows));
        }
        origin
    }
}

/// A number of rows plus a signed step, saturating.
fn stepped(rows: u32, step: i64) -> u32 {
    u32::try_from(u64::from(rows).saturating_add_signed(step)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_differ_by_one_www_are_partners() {
        for (first, second, are_partners) in [
            ("https://e.com/", "https://www.e.com/", true),
            ("http://www.E.com/", "https://e.com:8443", true),
            ("https://e.com/", "https://www.www.e.com/", false),
            ("https://e.com/", "https://www.f.com/", false),
            ("https://www.com/", "https://com/", true),
            ("https://e.com/", "https://e.com/a", false),
        ] {
            for urls in [[first, second], [second, first]] {
                let mut hosts = Hosts::default();
                let origins = urls.map(|url| hosts.add(&Location::outline(url)).unwrap());
                assert_eq!(hosts.www_minority, u64::from(are_partners), "{urls:?}");
                let rarer = origins.into_iter().filter(|origin| hosts.is_www_minority(origin.host)).count();
                assert_eq!(rarer, usize::from(are_partners), "{urls:?}");
            }
        }
    }
}
