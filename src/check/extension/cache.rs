//! Caches results for values that consecutive entries repeat, and keeps allocations for reuse.

use super::EntryContext;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{Link, host_hash};
use crate::protocol::extension::hreflang;
use crate::protocol::location::{Faults, OriginCache, Validated};
use crate::short_bytes::are_equal;
use crate::xml::escape;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Results that consecutive entries share. The cache affects speed only, never a result.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The origins of URLs in extensions.
    pub(super) urls: OriginCache,
    pub(super) languages: Languages,
    pub(super) versions: Vec<Version>,
    /// The host of the last link, and its hash.
    host: (String, u32),
    /// See [`Self::finding_counts`].
    pub(super) finding_counts: Vec<(Rule, u32)>,
    hrefs: Hrefs,
    /// The result for the last entry, if all of its extensions are alternate links.
    pub(super) alternates: RepeatedAlternates,
}

/// The result for the URL of an alternate link.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Href {
    pub faults: Faults,
    /// See `key_hash`.
    pub key: u64,
    /// The hash of its host.
    pub host: u32,
}

/// Results for recent URLs; language versions of a page list the same ones. Allocated at the first URL.
#[derive(Debug, Default)]
struct Hrefs {
    slots: Vec<([u8; MAX_URL_BYTES], usize, Href)>,
    /// The slot that was used last.
    last: usize,
}

impl Hrefs {
    /// The result in a slot, if it is that for this URL.
    fn find(&self, slot: usize, url: &str) -> Option<Href> {
        let (known, len, href) = self.slots.get(slot)?;
        (*len > 0 && known.get(..*len) == Some(url.as_bytes())).then_some(*href)
    }

    /// Stores the result for a URL, if that is short enough.
    fn store(&mut self, slot: usize, url: &str, href: Href) {
        if self.slots.is_empty() {
            self.slots.resize(CACHED_URLS, ([0; MAX_URL_BYTES], 0, Href::default()));
        }
        if let Some((known, len, stored)) = self.slots.get_mut(slot)
            && let Some(known) = known.get_mut(..url.len())
        {
            known.copy_from_slice(url.as_bytes());
            (*len, *stored) = (url.len(), href);
        }
    }
}

/// Number of cached URLs; a power of two.
const CACHED_URLS: usize = 256;

/// Length of the longest URL that is cached. URLs are stored inline, so that an entry without findings allocates
/// nothing.
const MAX_URL_BYTES: usize = 120;

/// The result for alternate links, independent of the page that lists them.
#[derive(Debug, Default)]
pub(super) struct RepeatedAlternates {
    /// Whether it is valid for the last entry.
    pub is_known: bool,
    /// The rules that they violate.
    pub rules: RuleSet,
    /// Each of these rules with its number of findings.
    pub finding_counts: Vec<(Rule, u32)>,
    /// The links as the set rules compare them.
    pub links: Vec<Link>,
}

impl Cache {
    /// The rules that the last entry violated, each with its number of findings, in no order.
    pub(crate) fn finding_counts(&self) -> &[(Rule, u32)] {
        &self.finding_counts
    }

    /// The result for the URL of an alternate link of this entry.
    pub(super) fn href(&mut self, text: &str, entry_context: &EntryContext<'_>) -> Href {
        // Nearly each page is an alternate of itself.
        if let Some((key, host)) = entry_context.key_and_host_of(text) {
            return Href { faults: Faults::NONE, key, host: self.host_hash(host) };
        }
        // The default version often has the URL of the version before or after it.
        if let Some(href) = self.hrefs.find(self.hrefs.last, text) {
            return href;
        }
        let slot = FixedState::default().hash_one(text.as_bytes()) as usize % CACHED_URLS;
        self.hrefs.last = slot;
        if let Some(href) = self.hrefs.find(slot, text) {
            return href;
        }
        let Validated { location, faults, key, .. } = self.urls.validate(text, None);
        let host = self.host_hash(location.host());
        let href = Href { faults, key, host };
        self.hrefs.store(slot, text, href);
        href
    }

    /// A hash of a host, as the set rules compare it.
    pub(crate) fn host_hash(&mut self, host: &str) -> u32 {
        if self.host.0 != host || host.is_empty() {
            self.host.0.clear();
            self.host.0.push_str(host);
            self.host.1 = host_hash(host);
        }
        self.host.1
    }
}

/// A language version of the page: an alternate link with a language and a URL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version {
    /// Number of the link's element.
    pub number: u32,
    /// Number of its language in [`Languages`].
    pub language: usize,
    /// Index of its URL among the attributes of the element.
    pub href: usize,
    /// The hash of its URL.
    pub key: u64,
}

/// A language code as written.
#[derive(Debug)]
pub(super) struct Language {
    raw: Box<[u8]>,
    /// Decoded.
    pub code: Box<str>,
    pub faults: hreflang::Faults,
    pub is_default: bool,
    /// Number of the first code for the same language; its own if there is no earlier one.
    pub class: usize,
    /// A hash of the normalized code.
    pub hash: u32,
}

/// Language codes by number, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Languages {
    known: Vec<Language>,
    /// The expected number of the next code, if this entry lists the same languages as the one before.
    next: usize,
}

/// Number of codes kept for the next entry; real sets have fewer languages.
const MAX_LANGUAGES: usize = 256;

impl Languages {
    /// Starts a new entry and drops all codes if there are too many. Numbers from earlier entries become invalid.
    pub(super) fn begin(&mut self) {
        if self.known.len() > MAX_LANGUAGES {
            self.known.clear();
        }
        self.next = 0;
    }

    /// The number of a code as written.
    pub(super) fn number(&mut self, raw: &[u8]) -> usize {
        let matches = |language: &Language| are_equal(&language.raw, raw);
        let number = if self.known.get(self.next).is_some_and(matches) {
            self.next
        } else {
            self.known.iter().position(matches).unwrap_or_else(|| self.add(raw))
        };
        self.next = number + 1;
        number
    }

    fn add(&mut self, raw: &[u8]) -> usize {
        let code: Box<str> = escape::decode(raw).into();
        let number = self.known.len();
        let class = self.known.iter().position(|known| normalized(&known.code).eq(normalized(&code))).unwrap_or(number);
        let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        self.known.push(Language {
            raw: raw.into(),
            faults: hreflang::validate(&code),
            is_default: hreflang::is_default(&code),
            class,
            hash: normalized(&code).fold(0x811c_9dc5, fold),
            code,
        });
        number
    }

    /// The code with a number.
    pub(super) fn get(&self, number: usize) -> Option<&Language> {
        self.known.get(number)
    }
}

/// The bytes of a code in lower case and with hyphens instead of underscores, so that codes of one language are equal.
pub(super) fn normalized(code: &str) -> impl Iterator<Item = u8> {
    code.bytes().map(|byte| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() })
}
