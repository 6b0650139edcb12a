//! Remembers the verdicts on values that entry after entry repeats, and keeps room to work in.

use crate::check::fields::is_escaped_twice;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{Link, host_hash};
use crate::protocol::extension::hreflang;
use crate::protocol::location::{Faults, OriginCache, Validated};
use crate::xml::escape;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// What consecutive entries share. Verdicts do not depend on it, only how long they take.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The origins of URLs in extensions.
    pub(super) urls: OriginCache,
    pub(super) languages: Languages,
    pub(super) versions: Vec<Version>,
    /// The host of the last link, and its hash.
    host: (String, u32),
    /// The rules that the last entry broke, in no order, each with the number of its findings.
    pub(super) places: Vec<(Rule, u32)>,
    hrefs: Hrefs,
    /// What the last entry says, if all of its extensions are alternate links.
    pub(super) alternates: RepeatedAlternates,
}

/// What a URL of an alternate link says.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Href {
    pub is_escaped_twice: bool,
    pub faults: Faults,
    /// See `key_hash`.
    pub key: u64,
    /// The hash of its host.
    pub host: u32,
}

/// URLs that were met lately: the pages of a family list the same. Made when the first is met.
#[derive(Debug, Default)]
struct Hrefs(Vec<([u8; MOST], usize, Href)>);

/// How many URLs are remembered: a power of two.
const HREFS: usize = 256;

/// Bytes of a URL that is remembered, in place: a clean entry allocates nothing.
const MOST: usize = 120;

/// What alternate links say, whatever page lists them.
#[derive(Debug, Default)]
pub(super) struct RepeatedAlternates {
    /// Whether the last entry has such extensions.
    pub is_known: bool,
    /// The rules that they break.
    pub rules: RuleSet,
    /// Each of those with the number of its findings.
    pub places: Vec<(Rule, u32)>,
    /// What the rules of the set compare.
    pub links: Vec<Link>,
}

impl Cache {
    /// The rules that the last entry broke, in no order, each with the number of its findings.
    pub(crate) fn places(&self) -> &[(Rule, u32)] {
        &self.places
    }

    /// What a URL of an alternate link says.
    pub(super) fn href(&mut self, text: &str) -> Href {
        let bytes = text.as_bytes();
        if self.hrefs.0.is_empty() {
            self.hrefs.0.resize(HREFS, ([0; MOST], 0, Href::default()));
        }
        let slot = FixedState::default().hash_one(bytes) as usize % HREFS;
        let known = self.hrefs.0.get(slot).filter(|(known, len, _)| *len > 0 && known.get(..*len) == Some(bytes));
        if let Some((.., href)) = known {
            return *href;
        }
        let Validated { location, faults, key, .. } = self.urls.validate(text, None);
        let host = self.host_hash(location.host());
        let href = Href { is_escaped_twice: is_escaped_twice(text), faults, key, host };
        if let Some((known, len, last)) = self.hrefs.0.get_mut(slot)
            && let Some(known) = known.get_mut(..bytes.len())
        {
            known.copy_from_slice(bytes);
            (*len, *last) = (bytes.len(), href);
        }
        href
    }

    /// A hash of a host's name, as the rules of the set compare it.
    pub(crate) fn host_hash(&mut self, host: &str) -> u32 {
        if self.host.0 != host || host.is_empty() {
            self.host.0.clear();
            self.host.0.push_str(host);
            self.host.1 = host_hash(host);
        }
        self.host.1
    }
}

/// One language version of the page: a link with a language and a URL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version {
    /// The number of the link's element.
    pub number: u32,
    /// The number of its language.
    pub language: usize,
    /// The hash of its URL.
    pub key: u64,
}

/// A code of a language, as it was written.
#[derive(Debug)]
pub(super) struct Language {
    raw: Box<[u8]>,
    /// Decoded.
    pub code: Box<str>,
    pub faults: hreflang::Faults,
    pub is_default: bool,
    /// The number of the first code that means the same language, its own if it is that.
    pub class: usize,
    /// A hash of the letters.
    pub hash: u32,
}

/// Codes that were met, by number.
#[derive(Debug, Default)]
pub(super) struct Languages {
    known: Vec<Language>,
    /// The number that would follow if this entry listed the same languages as others.
    next: usize,
}

/// Codes that are kept for the next entry: no set has as many languages.
const KEPT: usize = 256;

impl Languages {
    /// A new entry: what is too much is forgotten, and numbers of the entry before mean nothing any more.
    pub(super) fn begin(&mut self) {
        if self.known.len() > KEPT {
            self.known.clear();
        }
        self.next = 0;
    }

    /// The number of a code as written.
    pub(super) fn number(&mut self, raw: &[u8]) -> usize {
        let is_it = |language: &Language| *language.raw == *raw;
        let number = if self.known.get(self.next).is_some_and(is_it) {
            self.next
        } else {
            self.known.iter().position(is_it).unwrap_or_else(|| self.learn(raw))
        };
        self.next = number + 1;
        number
    }

    fn learn(&mut self, raw: &[u8]) -> usize {
        let code: Box<str> = escape::decode(raw).into();
        let number = self.known.len();
        let class = self.known.iter().position(|known| letters(&known.code).eq(letters(&code))).unwrap_or(number);
        let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        self.known.push(Language {
            raw: raw.into(),
            faults: hreflang::validate(&code),
            is_default: hreflang::is_default(&code),
            class,
            hash: letters(&code).fold(0x811c_9dc5, add),
            code,
        });
        number
    }

    /// The code of a number.
    pub(super) fn get(&self, number: usize) -> Option<&Language> {
        self.known.get(number)
    }
}

/// A code without what makes no other language of it: case, and an underscore for a hyphen.
pub(super) fn letters(code: &str) -> impl Iterator<Item = u8> {
    code.bytes().map(|byte| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() })
}
