//! Input of the entry rules besides the entry: clock, profile, location of the file, policy, answers of the site.

use super::policy::Policy;
use super::rule::{Profile, RuleSet};
use super::site::Site;
use crate::protocol::location::UrlPrefix;
use crate::xml::entry::Entry;
use crate::xml::names::Names;

/// Input of the entry rules besides the entry's text.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The time, in seconds since 1970 in UTC.
    pub now: i64,
    /// The profile whose rules are checked.
    pub profile: Profile,
    /// The names of the file that contains the entry.
    pub names: &'a Names,
    /// Public location of that file, if known. Rules about host and path report nothing without it.
    pub url_prefix: Option<&'a UrlPrefix>,
    /// The URL patterns that the user requires and forbids, if there are any.
    pub policy: Option<&'a Policy>,
    /// Data about the pages of the site, from data columns and robots.txt, if there are any.
    pub site: Option<&'a Site>,
}

impl Context<'_> {
    /// The violated rules that the profile enables.
    #[inline]
    pub(super) fn enabled(&self, set: RuleSet) -> RuleSet {
        // Most entries violate no rule, and computing the rules of a profile costs time.
        if set.is_empty() { set } else { set.intersection(self.profile.rules()) }
    }
}

/// An entry with everything that its rules depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The anatomy of the text.
    pub entry: &'a Entry,
    /// The bytes of the entry, with the trivia before it.
    pub text: &'a [u8],
    /// Everything else.
    pub context: &'a Context<'a>,
}
