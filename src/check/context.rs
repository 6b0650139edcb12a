//! The input of the entry rules beside the entry: clock, profile, location of the file, policy, site.

use super::policy::Policy;
use super::rule::{Profile, RuleSet};
use super::site::Site;
use crate::protocol::location::UrlPrefix;
use crate::xml::entry::Entry;
use crate::xml::names::Names;

/// Input of the entry rules beside the entry's text.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The time, in seconds since 1970 in UTC.
    pub now: i64,
    /// Whose expectations count.
    pub profile: Profile,
    /// The names of the file it is in.
    pub names: &'a Names,
    /// Where that file is published, if known; the rules of place are silent without it.
    pub url_prefix: Option<&'a UrlPrefix>,
    /// What the user allows, if that was reported.
    pub policy: Option<&'a Policy>,
    /// What is known about the pages of the set, if anything is.
    pub site: Option<&'a Site>,
}

impl Context<'_> {
    /// Of the rules that are broken, those that the profile asks.
    pub(super) fn asked(&self, set: RuleSet) -> RuleSet {
        // Most entries break none: no need to know whose expectations count.
        if set.is_empty() { set } else { set.intersection(self.profile.asked()) }
    }
}

/// An entry with all that its rules depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The anatomy of the text.
    pub entry: &'a Entry,
    /// The bytes of the entry, with the trivia before it.
    pub text: &'a [u8],
    /// Everything else.
    pub context: &'a Context<'a>,
}
