//! Validates consecutive URLs, reusing the result for an origin that the previous URL had too.
//!
//! The URLs of a file nearly all begin with the same scheme and host, and nearly all are plain. For those a survey of
//! the text behind the origin is enough; all others are validated alone. A property test holds both to the same result.

use super::chars::{self, HASH, HIGH, ILLEGAL, PERCENT, PRIVATE_PAIR, SESSION, SPACE, SPECIAL, UPPER, WORD_PAIR};
use super::fault::Faults;
use super::key::hash_normal;
use super::parts::{Location, Scheme};
use super::url_prefix::UrlPrefix;
use super::{params, private, validate};
use crate::protocol::limits::LOC_CHARACTERS_MIN;

/// Validates URLs and remembers the origin of the last one.
#[derive(Debug, Clone, Default)]
pub struct OriginCache {
    origin: Option<Origin>,
}

/// An origin in its normal form, in which nothing is wrong.
#[derive(Debug, Clone)]
struct Origin {
    /// `https://www.example.com`
    text: String,
    scheme: Scheme,
    /// Where the host starts.
    host: usize,
    classes: chars::Classes,
}

/// The result for one URL.
#[derive(Debug, Clone, Copy)]
pub struct Validated<'t> {
    /// Its parts.
    pub location: Location<'t>,
    /// The faults that [`validate`](super::validate()) and, with a known prefix, [`check_scope`](super::check_scope) find.
    pub faults: Faults,
    /// See [`key_hash`](super::key_hash).
    pub key: u64,
}

/// Classes behind the authority that call for a closer look.
const ODD: chars::Classes = PERCENT | HASH | SPACE | ILLEGAL | HIGH | SPECIAL | SESSION;
/// Most bytes that no authority finds too long.
const SHORT: usize = 256;

impl OriginCache {
    /// Validates a decoded, trimmed value. `url_prefix` is that of its sitemap, if known, and the same in every call.
    pub fn validate<'t>(&mut self, text: &'t str, url_prefix: Option<&UrlPrefix>) -> Validated<'t> {
        if let Some(judged) = self.quick(text, url_prefix) {
            return judged;
        }
        let location = Location::of(text);
        let mut faults = location.validate();
        if let Some(url_prefix) = url_prefix {
            faults = faults.union(location.check_scope(url_prefix));
        }
        self.remember(&location);
        Validated { location, faults, key: location.key_hash() }
    }

    /// A URL of the origin of the last one with nothing in it that needs a closer look.
    #[inline]
    fn quick<'t>(&self, text: &'t str, url_prefix: Option<&UrlPrefix>) -> Option<Validated<'t>> {
        let origin = self.origin.as_ref()?;
        let rest = text.strip_prefix(origin.text.as_str())?;
        if !rest.starts_with('/') || text.len() > SHORT || text.len() < LOC_CHARACTERS_MIN {
            return None;
        }
        let (classes, pairs) = chars::survey(rest.as_bytes());
        if classes & ODD != 0 || pairs & !(WORD_PAIR | PRIVATE_PAIR) != 0 {
            return None;
        }
        let location = Location {
            text,
            scheme: Some(origin.scheme),
            authority: origin.host,
            path: origin.text.len(),
            authority_classes: origin.classes,
            classes,
            pairs,
        };
        let path = location.path();
        let is_odd = validate::is_not_page(path)
            || (pairs & WORD_PAIR != 0 && validate::residue(&location).is_some())
            || (pairs & PRIVATE_PAIR != 0 && private::in_path(&location).is_some())
            || location.query_behind(path).is_some_and(|query| {
                let is_odd = |own| params::is_session(own) || params::is_tracking(own) || private::is_private(own);
                params::parameters(query).any(is_odd)
            });
        // The place is normal, and so is the URL: what begins with it stands in it.
        if is_odd || url_prefix.is_some_and(|url_prefix| !text.starts_with(url_prefix.prefix())) {
            return None;
        }
        Some(Validated { location, faults: Faults::NONE, key: hash_normal(text.as_bytes()) })
    }

    fn remember(&mut self, location: &Location<'_>) {
        let Some(scheme) = location.scheme else { return };
        let Some((text, _)) = location.origin() else { return };
        if self.origin.as_ref().is_some_and(|origin| origin.text == text) {
            return;
        }
        let is_small = text.starts_with(scheme.name());
        if !is_small || location.authority_classes & (UPPER | PERCENT | HIGH | SPECIAL | ILLEGAL | SPACE) != 0 {
            return;
        }
        // Nothing of this path can be found wrong, so what is found is about the origin.
        let probe = format!("{text}/aaaaaaaaaaaa");
        if validate::validate(&probe).is_empty() {
            let (host, classes) = (location.authority, location.authority_classes);
            self.origin = Some(Origin { text: text.to_owned(), scheme, host, classes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::validate::tests::urlish;
    use super::*;
    use proptest::prelude::*;

    fn alone(text: &str, url_prefix: Option<&UrlPrefix>) -> (Faults, u64) {
        let location = Location::of(text);
        let scope = url_prefix.map_or(Faults::NONE, |url_prefix| location.check_scope(url_prefix));
        (location.validate().union(scope), location.key_hash())
    }

    #[test]
    fn plain_urls_of_one_origin_take_the_quick_way() {
        let mut neighbours = OriginCache::default();
        assert!(neighbours.quick("https://example.com/a/1", None).is_none(), "nothing is known yet");
        neighbours.validate("https://example.com/a/1", None);
        let url_prefix = UrlPrefix::parse("https://example.com/a/sitemap.xml");
        for (text, quick) in [
            ("https://example.com/a/2", true),
            ("https://example.com/a/news/?page=2&sort=up", true),
            ("https://example.com/b", false),
            ("https://example.com.evil.org/a/", false),
            ("https://example.com/a/../b", false),
            ("https://example.com/a//b", false),
            ("https://example.com/a/null", false),
            ("https://example.com/a/%41", false),
            ("https://example.com/a/?utm_source=x", false),
            ("https://example.com/a/b.jpg", false),
            ("https://example.com", false),
            ("http://example.com/a/", false),
        ] {
            assert_eq!(neighbours.quick(text, url_prefix.as_ref()).is_some(), quick, "{text}");
        }
    }

    #[test]
    fn an_origin_with_a_fault_is_not_remembered() {
        let mut neighbours = OriginCache::default();
        for text in ["http://localhost/a/b/c/d", "https://u@example.com/a/b/c", "HTTPS://example.com/a/b/c/d"] {
            neighbours.validate(text, None);
            assert!(neighbours.origin.is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_cached_origin_changes_no_result(
            texts in prop::collection::vec(urlish(), 1..9), url_prefix in prop::option::of(urlish()),
        ) {
            let url_prefix = url_prefix.and_then(|url| UrlPrefix::parse(&url));
            let mut neighbours = OriginCache::default();
            for text in texts.iter().chain(&texts) {
                let judged = neighbours.validate(text, url_prefix.as_ref());
                prop_assert_eq!((judged.faults, judged.key), alone(text, url_prefix.as_ref()), "{}", text);
                let (ours, theirs) = (judged.location, Location::of(text));
                prop_assert_eq!(ours.origin(), theirs.origin());
                prop_assert_eq!((ours.path(), ours.query()), (theirs.path(), theirs.query()));
            }
        }
    }
}
