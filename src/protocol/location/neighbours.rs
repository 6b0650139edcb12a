//! Judges one URL after the other: what was found out of an origin holds for the next URL that has it.
//!
//! The URLs of a file nearly all begin with the same scheme and host, and nearly all are plain. For those a survey of
//! what follows the origin tells everything; all others are judged as if they stood alone. Tests hold both together.

use super::chars::{self, HASH, HIGH, ILLEGAL, PERCENT, PRIVATE_PAIR, SESSION, SPACE, SPECIAL, UPPER, WORD_PAIR};
use super::fault::Faults;
use super::key::hash_normal;
use super::parts::{Location, Scheme};
use super::scope::Home;
use super::{judge, params, private};
use crate::protocol::limits::LOC_CHARACTERS_MIN;

/// Remembers the origin of the last URL.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
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

/// What is found of one URL.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'t> {
    /// Its parts.
    pub location: Location<'t>,
    /// What [`judge`](super::judge()) and, of a known place, [`judge_scope`](super::judge_scope) find.
    pub faults: Faults,
    /// See [`key_hash`](super::key_hash).
    pub key: u64,
}

/// Classes behind the authority that call for a closer look.
const ODD: chars::Classes = PERCENT | HASH | SPACE | ILLEGAL | HIGH | SPECIAL | SESSION;
/// Most bytes that no authority finds too long.
const SHORT: usize = 256;

impl Neighbours {
    /// Judges a decoded, trimmed value. `home` is where its sitemap lives, if that is known; ask about one home only.
    pub fn judge<'t>(&mut self, text: &'t str, home: Option<&Home>) -> Judged<'t> {
        if let Some(judged) = self.quick(text, home) {
            return judged;
        }
        let location = Location::of(text);
        let mut faults = location.judge();
        if let Some(home) = home {
            faults = faults.union(location.judge_scope(home));
        }
        self.remember(&location);
        Judged { location, faults, key: location.key_hash() }
    }

    /// A URL of the origin of the last one with nothing in it that needs a closer look.
    #[inline]
    fn quick<'t>(&self, text: &'t str, home: Option<&Home>) -> Option<Judged<'t>> {
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
        let is_odd = judge::is_not_page(path)
            || (pairs & WORD_PAIR != 0 && judge::residue(&location).is_some())
            || (pairs & PRIVATE_PAIR != 0 && private::in_path(&location).is_some())
            || location.query_behind(path).is_some_and(|query| {
                let is_odd = |own| params::is_session(own) || params::is_tracking(own) || private::is_private(own);
                params::parameters(query).any(is_odd)
            });
        // The place is normal, and so is the URL: what begins with it stands in it.
        if is_odd || home.is_some_and(|home| !text.starts_with(home.prefix())) {
            return None;
        }
        Some(Judged { location, faults: Faults::NONE, key: hash_normal(text.as_bytes()) })
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
        if judge::judge(&probe).is_empty() {
            let (host, classes) = (location.authority, location.authority_classes);
            self.origin = Some(Origin { text: text.to_owned(), scheme, host, classes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::tests::urlish;
    use super::*;
    use proptest::prelude::*;

    fn alone(text: &str, home: Option<&Home>) -> (Faults, u64) {
        let location = Location::of(text);
        let scope = home.map_or(Faults::NONE, |home| location.judge_scope(home));
        (location.judge().union(scope), location.key_hash())
    }

    #[test]
    fn plain_urls_of_one_origin_take_the_quick_way() {
        let mut neighbours = Neighbours::default();
        assert!(neighbours.quick("https://example.com/a/1", None).is_none(), "nothing is known yet");
        neighbours.judge("https://example.com/a/1", None);
        let home = Home::parse("https://example.com/a/sitemap.xml");
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
            assert_eq!(neighbours.quick(text, home.as_ref()).is_some(), quick, "{text}");
        }
    }

    #[test]
    fn an_origin_with_a_fault_is_not_remembered() {
        let mut neighbours = Neighbours::default();
        for text in ["http://localhost/a/b/c/d", "https://u@example.com/a/b/c", "HTTPS://example.com/a/b/c/d"] {
            neighbours.judge(text, None);
            assert!(neighbours.origin.is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_url_is_judged_among_others_as_alone(
            texts in prop::collection::vec(urlish(), 1..9), home in prop::option::of(urlish()),
        ) {
            let home = home.and_then(|url| Home::parse(&url));
            let mut neighbours = Neighbours::default();
            for text in texts.iter().chain(&texts) {
                let judged = neighbours.judge(text, home.as_ref());
                prop_assert_eq!((judged.faults, judged.key), alone(text, home.as_ref()), "{}", text);
                let (ours, theirs) = (judged.location, Location::of(text));
                prop_assert_eq!(ours.origin(), theirs.origin());
                prop_assert_eq!((ours.path(), ours.query()), (theirs.path(), theirs.query()));
            }
        }
    }
}
