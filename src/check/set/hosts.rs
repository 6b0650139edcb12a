//! Schemes, hosts and ports of the whole set, each stored once with a count.
//!
//! Rows do not remember their origin; it is read again from their text, and found here by that text.

use crate::protocol::location::{Location, Port, Scheme, UrlPrefix};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

type Ids = HashMap<Box<str>, u32, FixedState>;

/// A row's origin, as indexes into the tables of hosts and ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// The scheme.
    pub scheme: Scheme,
    /// The number of the host.
    pub host: u32,
    /// The port as a number, 0 for the scheme's own.
    pub port: u32,
}

#[derive(Debug, Clone)]
struct Host {
    name: Box<str>,
    is_template: bool,
    /// `www.x` for `x` and the other way round.
    partner: Option<u32>,
    rows: u64,
}

#[derive(Debug, Clone)]
struct Known {
    /// As written: `HTTPS://Example.com`.
    text: Box<str>,
    origin: Origin,
    rows: u64,
}

/// All origins of the set.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts {
    list: Vec<Host>,
    ids: Ids,
    known: Vec<Known>,
    known_ids: Ids,
    /// The origin asked for last; neighbours share theirs.
    last: usize,
    /// Rows per scheme: http, https.
    pub schemes: [u64; 2],
    /// Rows of the rarer of `www.x` and `x`, over all pairs.
    pub www_minority: u64,
    /// Rows of hosts that are for examples.
    templates: u64,
}

/// Hosts that are for examples, with all below them (RFC 2606, section 3).
const TEMPLATES: [&str; 3] = ["example.com", "example.net", "example.org"];

fn is_template(host: &str) -> bool {
    let is_below = |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    TEMPLATES.iter().any(|known| is_below(known))
}

impl Hosts {
    /// Counts a row; the origin if the text has one.
    pub(super) fn add(&mut self, location: &Location<'_>) -> Option<Origin> {
        let place = self.intern(location)?;
        Some(self.count(place, 1))
    }

    /// Counts what others have counted; the number of each host here, by its number there.
    pub(super) fn absorb(&mut self, other: &Self) -> Vec<u32> {
        let mut numbers = vec![0; other.list.len()];
        for known in &other.known {
            let Some(place) = self.intern(&Location::outline(&known.text)) else { continue };
            let origin = self.count(place, known.rows as i64);
            if let Some(number) = numbers.get_mut(known.origin.host as usize) {
                *number = origin.host;
            }
        }
        numbers
    }

    /// The number of the origin that was counted last.
    pub(super) const fn last(&self) -> usize {
        self.last
    }

    /// The origin of a number.
    pub(super) fn origin(&self, number: u32) -> Option<Origin> {
        self.known.get(number as usize).map(|known| known.origin)
    }

    /// The same as it was written.
    pub(super) fn text(&self, number: u32) -> &str {
        self.known.get(number as usize).map_or("", |known| &known.text)
    }

    /// The numbers that the origins of others have here, by their numbers there. Nothing is counted.
    pub(super) fn intern_all(&mut self, other: &Self) -> Vec<u32> {
        let number =
            |known: &Known| self.intern(&Location::outline(&known.text)).map_or(u32::MAX, |place| place as u32);
        other.known.iter().map(number).collect()
    }

    /// Counts a row no longer.
    pub(super) fn remove(&mut self, location: &Location<'_>) -> Option<Origin> {
        let place = self.place_of(location)?;
        Some(self.count(place, -1))
    }

    /// The origin of a text that was counted at some time.
    pub(super) fn find(&self, location: &Location<'_>) -> Option<Origin> {
        self.known.get(self.place_of(location)?).map(|known| known.origin)
    }

    /// The hosts that rows have now, in lower case.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter(|host| host.rows > 0).map(|host| &*host.name)
    }

    /// The host's name in lower case.
    pub(super) fn name(&self, host: u32) -> &str {
        self.list.get(host as usize).map_or("", |host| &host.name)
    }

    /// The scheme with fewer rows where both occur; http if there are as many of each.
    pub(super) fn rarer_scheme(&self) -> Option<Scheme> {
        match self.schemes {
            [0, _] | [_, 0] => None,
            [http, https] if http <= https => Some(Scheme::Http),
            _ => Some(Scheme::Https),
        }
    }

    /// Whether the host has a partner with and without `www.` that more rows name; of equals, the one
    /// with `www.` counts as the rarer.
    pub(super) fn is_www_minority(&self, host: u32) -> bool {
        let Some(host) = self.list.get(host as usize) else { return false };
        let Some(partner) = host.partner.and_then(|partner| self.list.get(partner as usize)) else { return false };
        let is_rarer = host.rows < partner.rows || (host.rows == partner.rows && host.name.starts_with("www."));
        partner.rows > 0 && is_rarer
    }

    /// Rows of hosts that are for examples, where others are real.
    pub(super) fn templates(&self) -> u64 {
        if self.schemes.iter().sum::<u64>() > self.templates { self.templates } else { 0 }
    }

    /// Whether a host is for examples, and others are real.
    pub(super) fn is_template(&self, host: u32) -> bool {
        self.templates() > 0 && self.list.get(host as usize).is_some_and(|host| host.is_template)
    }

    /// The origin that most rows share, as written, and their number. Of equals, the first in the alphabet.
    pub(super) fn commonest(&self) -> Option<(&str, u64)> {
        let best = self.known.iter().max_by(|a, b| a.rows.cmp(&b.rows).then_with(|| b.text.cmp(&a.text)))?;
        (best.rows > 0).then_some((&best.text, best.rows))
    }

    fn place_of(&self, location: &Location<'_>) -> Option<usize> {
        let (text, _) = location.origin()?;
        if self.known.get(self.last).is_some_and(|known| *known.text == *text) {
            return Some(self.last);
        }
        self.known_ids.get(text).map(|&place| place as usize)
    }

    fn intern(&mut self, location: &Location<'_>) -> Option<usize> {
        if let Some(place) = self.place_of(location) {
            self.last = place;
            return Some(place);
        }
        let (text, _) = location.origin()?;
        let url_prefix = UrlPrefix::parse(text)?;
        let host = self.host(Location::of(url_prefix.origin()).host());
        let port = match location.port() {
            Port::Other(port) => u32::from(port),
            Port::None | Port::Empty | Port::Default => 0,
            Port::Bad => u32::MAX,
        };
        let place = self.known.len();
        self.known_ids.insert(text.into(), place as u32);
        let origin = Origin { scheme: location.scheme()?, host, port };
        self.known.push(Known { text: text.into(), origin, rows: 0 });
        self.last = place;
        Some(place)
    }

    fn host(&mut self, name: &str) -> u32 {
        if let Some(&host) = self.ids.get(name) {
            return host;
        }
        let id = self.list.len() as u32;
        let partner = match name.strip_prefix("www.") {
            Some(bare) => self.ids.get(bare),
            None => self.ids.get(format!("www.{name}").as_str()),
        };
        let partner = partner.copied();
        if let Some(partner) = partner.and_then(|partner| self.list.get_mut(partner as usize)) {
            partner.partner = Some(id);
        }
        self.ids.insert(name.into(), id);
        self.list.push(Host { name: name.into(), is_template: is_template(name), partner, rows: 0 });
        id
    }

    fn count(&mut self, place: usize, step: i64) -> Origin {
        const NOWHERE: Origin = Origin { scheme: Scheme::Http, host: 0, port: 0 };
        let Some(known) = self.known.get_mut(place) else { return NOWHERE };
        known.rows = known.rows.saturating_add_signed(step);
        let origin = known.origin;
        let scheme = &mut self.schemes[origin.scheme as usize];
        *scheme = scheme.saturating_add_signed(step);
        let partner = self.list.get(origin.host as usize).and_then(|host| host.partner);
        let partner_rows = partner.and_then(|partner| self.list.get(partner as usize)).map_or(0, |host| host.rows);
        if let Some(host) = self.list.get_mut(origin.host as usize) {
            self.www_minority -= host.rows.min(partner_rows);
            host.rows = host.rows.saturating_add_signed(step);
            if host.is_template {
                self.templates = self.templates.saturating_add_signed(step);
            }
            self.www_minority += host.rows.min(partner_rows);
        }
        origin
    }
}
