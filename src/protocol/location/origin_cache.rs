//! Validates consecutive URLs, reusing the results for the last few origins.
//!
//! Nearly all URLs of a file are plain and have one of a few origins. For those, one pass over the text behind the
//! origin is enough; all others are validated in full. A property test holds both to the same result.

use super::chars::{
    self, DOUBLE_SLASH, HASH, HIGH, ILLEGAL, LOWER_ESCAPE, PERCENT, RESIDUE_START, SESSION, SLASH_DOT, SPACE, SPECIAL,
    UPPER,
};
use super::fault::{Fault, Faults};
use super::key::{CoreStart, HashedCore, NO_KEY, hash_normal, hash_of_parts, key_hashes, near_key_hash};
use super::parts::{Location, Scheme};
use super::query_survey::QuerySurvey;
use super::url_prefix::UrlPrefix;
use super::{params, plain_escapes, private, validate};
use crate::protocol::limits::LOC_CHARACTERS_MIN;
use crate::short_bytes::strip_prefix;

/// Validates URLs and remembers their origins.
#[derive(Debug, Clone, Default)]
pub(crate) struct OriginCache {
    /// Recent origins, in the order in which they were added.
    origins: Vec<Origin>,
    /// Index of the origin of the last URL.
    last: usize,
    /// Index at which the next origin is stored.
    next: usize,
    /// Hashes of recent origins that occurred once. Only origins that occur again are stored, since every URL may have
    /// its own host.
    seen_once: [u64; ORIGINS],
    next_seen_once: usize,
    /// Whether to compute near keys.
    with_near_keys: bool,
    /// Normalised URLs are written to it.
    scratch: String,
}

/// Number of stored origins.
const ORIGINS: usize = 8;

/// An origin.
#[derive(Debug, Clone)]
struct Origin {
    /// As written: `https://www.Example.com`.
    text: String,
    /// Its normal form, if it differs: `https://www.example.com`.
    normal: Option<String>,
    scheme: Scheme,
    /// Start of the host.
    host: usize,
    classes: chars::Classes,
    /// The start of the cores of its URLs.
    core_start: CoreStart,
    /// Its faults.
    faults: Faults,
    /// Whether each of its URLs starts with the prefix of the sitemap.
    is_inside: bool,
}

/// The result for one URL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Validated<'t> {
    /// Its parts.
    pub location: Location<'t>,
    /// The faults that [`validate`](super::validate()) and, with a known prefix, [`check_scope`](super::check_scope)
    /// find.
    pub faults: Faults,
    /// See [`key_hash`](super::key_hash).
    pub key: u64,
    /// See [`near_key_hash`]; [`NO_KEY`] unless the cache computes near keys.
    pub near_key: u64,
}

/// Classes of characters and sequences behind the authority that need full validation.
const UNUSUAL: chars::Classes = HASH | SPACE | ILLEGAL | HIGH | SPECIAL | DOUBLE_SLASH | SLASH_DOT;
/// The faults of parameters.
const QUERY_FAULTS: Faults = Faults::of(&[Fault::SessionId, Fault::TrackingParam, Fault::Private]);
/// Length up to which no engine finds a URL too long, in bytes.
const MAX_FAST_BYTES: usize = 256;

impl OriginCache {
    /// A cache that also computes near keys.
    pub(crate) fn with_near_keys() -> Self {
        Self { with_near_keys: true, ..Self::default() }
    }

    /// Validates a decoded, trimmed value. `url_prefix` is that of its sitemap, if known, and must be the same in every
    /// call.
    pub(crate) fn validate<'t>(&mut self, text: &'t str, url_prefix: Option<&UrlPrefix>) -> Validated<'t> {
        let with_near_key = self.with_near_keys;
        let (location, faults) = if let Some(origin) = self.find(text) {
            let location = origin.locate(text);
            let query = QuerySurvey::of_url(&location);
            if let Some(faults) = origin.faults_of_plain(&location, query, url_prefix, Faults::NONE) {
                let (key, near_key) = if location.classes & LOWER_ESCAPE == 0 {
                    origin.keys(&location, query, with_near_key)
                } else {
                    origin.keys_with_lower_case_escapes(&location, with_near_key)
                };
                return Validated { location, faults, key, near_key };
            }
            (location, origin.faults.union(location.validate_behind_authority()))
        } else {
            let location = Location::of(text);
            self.remember(&location, url_prefix);
            (location, location.validate())
        };
        self.with_scope_and_keys(location, faults, url_prefix)
    }

    /// The result for a URL that is not plain. Kept out of the usual path, like all that only some URLs need.
    #[inline(never)]
    fn with_scope_and_keys<'t>(
        &mut self,
        location: Location<'t>,
        faults: Faults,
        url_prefix: Option<&UrlPrefix>,
    ) -> Validated<'t> {
        let of_scope = url_prefix.map_or(Faults::NONE, |url_prefix| location.check_scope(url_prefix));
        let (key, near_key) =
            if self.with_near_keys { key_hashes(&location, &mut self.scratch) } else { (location.key_hash(), NO_KEY) };
        Validated { location, faults: faults.union(of_scope), key, near_key }
    }

    /// The faults of a URL, without those of its scope and those that the caller ignores.
    pub(crate) fn faults(&mut self, text: &str, ignored: Faults) -> Faults {
        let faults = if let Some(origin) = self.find(text) {
            let location = origin.locate(text);
            let query = if ignored.contains(QUERY_FAULTS) { QuerySurvey::NONE } else { QuerySurvey::of_url(&location) };
            let plain = origin.faults_of_plain(&location, query, None, ignored);
            plain.unwrap_or_else(|| origin.faults.union(location.validate_behind_authority()))
        } else {
            let location = Location::of(text);
            self.remember(&location, None);
            location.validate()
        };
        faults.minus(ignored)
    }

    /// The stored origin of a URL, unless its path is empty.
    #[inline]
    fn find(&mut self, text: &str) -> Option<&Origin> {
        if !self.origins.get(self.last).is_some_and(|origin| origin.is_of(text)) {
            self.last = self.origins.iter().position(|origin| origin.is_of(text))?;
        }
        self.origins.get(self.last)
    }

    #[inline(never)]
    fn remember(&mut self, location: &Location<'_>, url_prefix: Option<&UrlPrefix>) {
        let Some(scheme) = location.scheme else { return };
        let Some((text, _)) = location.origin() else { return };
        if self.origins.iter().any(|origin| origin.text == text) {
            return;
        }
        if location.authority_classes & (PERCENT | HIGH | SPECIAL | ILLEGAL | SPACE) != 0 {
            return;
        }
        let hash = hash_normal(text.as_bytes());
        if !self.origins.is_empty() && !self.seen_once.contains(&hash) {
            self.seen_once[self.next_seen_once] = hash;
            self.next_seen_once = (self.next_seen_once + 1) % ORIGINS;
            return;
        }
        // This path has no faults, so all faults are those of the origin, unless the URL is too long.
        let url = format!("{text}/aaaaaaaaaaaa");
        if url.len() > MAX_FAST_BYTES {
            return;
        }
        let faults = validate::validate(&url);
        // Values with a misspelt scheme are not validated any further.
        if faults.has(Fault::SchemeTypo) {
            return;
        }
        let (host, classes) = (location.authority, location.authority_classes);
        let is_normal = text.starts_with(scheme.name()) && classes & UPPER == 0;
        let normal = (!is_normal).then(|| text.to_ascii_lowercase());
        let is_inside = url_prefix.is_some_and(|url_prefix| url_prefix.prefix().strip_suffix('/') == Some(text));
        let core_start = CoreStart::of(text.as_bytes());
        let origin = Origin { text: text.to_owned(), normal, scheme, host, classes, core_start, faults, is_inside };
        match self.origins.get_mut(self.next) {
            Some(oldest) => *oldest = origin,
            None => self.origins.push(origin),
        }
        self.last = self.next;
        self.next = (self.next + 1) % ORIGINS;
    }
}

impl Origin {
    #[inline]
    fn is_of(&self, text: &str) -> bool {
        strip_prefix(text.as_bytes(), self.text.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'))
    }

    /// The parts of a URL with this origin.
    #[inline]
    fn locate<'t>(&self, text: &'t str) -> Location<'t> {
        let path = self.text.len();
        let chars::Survey { classes, slashes, path_end } = chars::survey(text.as_bytes(), path);
        Location {
            text,
            scheme: Some(self.scheme),
            authority: self.host,
            path,
            authority_classes: self.classes,
            classes,
            path_end: Some(path_end),
            slashes: Some(slashes),
        }
    }

    /// The key and, if wanted, the near key of a plain URL that equals its key except for its origin.
    #[inline]
    fn keys(&self, location: &Location<'_>, query: QuerySurvey, with_near_key: bool) -> (u64, u64) {
        let core = HashedCore::starting_at(self.core_start, location.text.as_bytes());
        let key = match &self.normal {
            None => core.key,
            Some(normal) => hash_of_parts(normal, location.rest()),
        };
        let near_key = || core.near_hash(location, query).unwrap_or_else(|| near_key_hash(location.text));
        (key, if with_near_key { near_key() } else { NO_KEY })
    }

    /// [`Self::keys`] of a plain URL with escapes in lower case.
    #[inline(never)]
    fn keys_with_lower_case_escapes(&self, location: &Location<'_>, with_near_key: bool) -> (u64, u64) {
        let mut normal = [0; MAX_FAST_BYTES];
        let normal = plain_escapes::to_upper_case(location.text.as_bytes(), &mut normal);
        let text = normal.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        let location = Location { text, ..*location };
        self.keys(&location, QuerySurvey::of_url(&location), with_near_key)
    }

    /// The faults of a plain URL with this origin; `None` if it needs full validation or may differ from its key in more
    /// than its origin and the case of escapes. Faults that are ignored need not be found.
    #[allow(clippy::inline_always)] // otherwise unrelated changes decide whether the usual path has a call
    #[inline(always)]
    fn faults_of_plain(
        &self,
        location: &Location<'_>,
        query: QuerySurvey,
        url_prefix: Option<&UrlPrefix>,
        ignored: Faults,
    ) -> Option<Faults> {
        let Location { text, classes, .. } = *location;
        if text.len() > MAX_FAST_BYTES || text.len() < LOC_CHARACTERS_MIN {
            return None;
        }
        if classes & UNUSUAL != 0 {
            return None;
        }
        if classes & PERCENT != 0 && !plain_escapes::are_plain(location.rest().as_bytes()) {
            return None;
        }
        let has_residue = || classes & RESIDUE_START != 0 && validate::template_residue(location).is_some();
        let is_private = || !ignored.has(Fault::Private) && private::find_in_path(location).is_some();
        let may_have_session = classes & SESSION != 0 && !ignored.has(Fault::SessionId);
        let has_session = || may_have_session && params::session(location).is_some();
        if has_residue() || is_private() || has_session() {
            return None;
        }
        // The prefix is normal, so a URL that starts with it is in scope.
        let is_outside = |url_prefix: &&UrlPrefix| !self.is_inside && !text.starts_with(url_prefix.prefix());
        let mut faults = url_prefix.filter(is_outside).map_or(Faults::NONE, |prefix| location.check_scope(prefix));
        if query.has_known_name {
            faults = faults.union(faults_of_plain_query(location.query()?)?);
        }
        let is_not_page = || location.may_have_extension() && validate::is_not_page(location.path());
        faults.insert_if(Fault::NotPage, !ignored.has(Fault::NotPage) && is_not_page());
        Some(faults.union(self.faults))
    }
}

/// The faults of the parameters of a query; `None` if it needs full validation.
#[inline(never)]
fn faults_of_plain_query(query: &str) -> Option<Faults> {
    let mut faults = Faults::NONE;
    for parameter in params::parameters(query) {
        let (name, _) = params::name_and_value(parameter);
        if !params::may_be_known(name.as_bytes()) {
            continue;
        }
        if params::is_session(parameter) || private::is_private(parameter) {
            return None;
        }
        faults.insert_if(Fault::TrackingParam, params::is_tracking(parameter));
    }
    Some(faults)
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

    /// Whether one pass over the text is enough.
    fn is_plain(cache: &mut OriginCache, text: &str, url_prefix: Option<&UrlPrefix>) -> bool {
        cache.find(text).is_some_and(|origin| {
            let location = origin.locate(text);
            origin.faults_of_plain(&location, QuerySurvey::of_url(&location), url_prefix, Faults::NONE).is_some()
        })
    }

    #[test]
    fn a_long_origin_makes_no_short_url_too_long() {
        let host = [&"a".repeat(60), &"b".repeat(60), &"c".repeat(60), &"d".repeat(55), "com"].join(".");
        let mut cache = OriginCache::default();
        for path in ["/a", "/b", "/c"] {
            let url = format!("https://{host}{path}");
            assert_eq!(cache.validate(&url, None).faults, validate::validate(&url), "{path}");
        }
    }

    #[test]
    fn near_keys_do_not_depend_on_how_the_scheme_is_written() {
        let mut cache = OriginCache::with_near_keys();
        for url in [
            "HTTPS://example.com/a",
            "HTTPS://example.com/b",
            "https://www.example.com/a",
            "https://www.example.com/b/",
        ] {
            assert_eq!(cache.validate(url, None).near_key, near_key_hash(url), "{url}");
            assert_eq!(cache.validate(url, None).near_key, near_key_hash(url), "{url}, with a known origin");
        }
    }

    #[test]
    fn plain_urls_of_one_origin_take_the_fast_path() {
        let mut neighbours = OriginCache::default();
        assert!(!is_plain(&mut neighbours, "https://example.com/a/1", None), "nothing is known yet");
        neighbours.validate("https://example.com/a/1", None);
        let url_prefix = UrlPrefix::parse("https://example.com/a/sitemap.xml");
        for (text, quick) in [
            ("https://example.com/a/2", true),
            ("https://example.com/a/news/?page=2&sort=up", true),
            ("https://example.com/b", true),
            ("https://example.com/a_(b);c", true),
            ("https://example.com/a;jsessionid=1", false),
            ("https://example.com.evil.org/a/", false),
            ("https://example.com/a/../b", false),
            ("https://example.com/a//b", false),
            ("https://example.com/a/null", false),
            ("https://example.com/a/%41", false),
            ("https://example.com/a/%C3%A9", true),
            ("https://example.com/a/%c3%a9", true),
            ("https://example.com/a/%2e", false),
            ("https://example.com/a/%C3%83%C2%A9", false),
            ("https://example.com/a/%C3%A2%E2%82%AC%E2%84%A2", false),
            ("https://example.com/gr%C3%B6%C3%9Fe/%D8%A7%D9%84", true),
            ("https://example.com/a/%C3%A9%C", false),
            ("https://example.com/a/?utm_source=x", true),
            ("https://example.com/a/?sid=0123456789abcdef", false),
            ("https://example.com/a/b.jpg", true),
            ("https://example.com", false),
            ("http://example.com/a/", false),
        ] {
            assert_eq!(is_plain(&mut neighbours, text, url_prefix.as_ref()), quick, "{text}");
        }
    }

    /// The parameters are sorted as they are in a near key, with escapes in upper case.
    #[test]
    fn near_keys_of_plain_urls_equal_those_without_a_cache() {
        let mut cache = OriginCache::with_near_keys();
        cache.validate("https://example.com/a/1", None);
        for query in ["b=1&a=2", "b=%c3%a9&a=1", "a=%c3%a9&utm_id=1", "a=%c3%a9&a=%C4%80", "a=%C4%80&a=%c3%a9"] {
            let url = format!("https://example.com/?{query}");
            assert!(is_plain(&mut cache, &url, None), "{query}");
            assert_eq!(cache.validate(&url, None).near_key, near_key_hash(&url), "{query}");
        }
    }

    #[test]
    fn origins_with_faults_are_stored_unless_the_scheme_is_misspelt() {
        let mut neighbours = OriginCache::default();
        neighbours.validate("https://example.net/", None);
        for (text, quick) in [
            ("http://localhost/a/b/c/d", true),
            ("HTTPS://Example.com/a/b/c/d", true),
            ("https://u@example.com/a/b/c", false),
            ("http://http//example.com/a/b/c", false),
        ] {
            neighbours.validate(text, None);
            assert!(!is_plain(&mut neighbours, text, None), "{text} was met once");
            neighbours.validate(text, None);
            assert_eq!(is_plain(&mut neighbours, text, None), quick, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_cached_origin_changes_no_result(
            texts in prop::collection::vec(urlish(), 1..9), url_prefix in prop::option::of(urlish()),
        ) {
            let url_prefix = url_prefix.and_then(|url| UrlPrefix::parse(&url));
            let mut neighbours = OriginCache::with_near_keys();
            for text in texts.iter().chain(&texts) {
                let judged = neighbours.validate(text, url_prefix.as_ref());
                prop_assert_eq!((judged.faults, judged.key), alone(text, url_prefix.as_ref()), "{}", text);
                prop_assert_eq!(judged.near_key, near_key_hash(text), "{}", text);
                for ignored in [Faults::NONE, QUERY_FAULTS, Faults::only(Fault::NotPage).union(QUERY_FAULTS)] {
                    prop_assert_eq!(neighbours.faults(text, ignored), validate::validate(text).minus(ignored), "{}", text);
                }
                let (ours, theirs) = (judged.location, Location::of(text));
                prop_assert_eq!(ours.origin(), theirs.origin());
                prop_assert_eq!((ours.path(), ours.query()), (theirs.path(), theirs.query()));
            }
        }
    }
}
