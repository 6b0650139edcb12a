//! The rules that compare rows, and sets of them.
//!
//! Each corresponds to a [`Rule`] of the table, which has code, severity and texts.

use crate::check::rule::{Rule, RuleSet};

macro_rules! set_rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $rule:ident, $place:ident;)+) => {
        /// One rule about several rows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SetRule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl SetRule {
            /// Every rule, in catalogue order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// All of them, as rules of the table.
            pub const RULES: RuleSet = RuleSet::of(&[$(Rule::$rule,)+]);

            /// The rule of the table.
            pub const fn rule(self) -> Rule {
                match self {
                    $(Self::$name => Rule::$rule,)+
                }
            }

            /// The part of the set that a finding of this rule is about.
            pub const fn target(self) -> SetRuleTarget {
                match self {
                    $(Self::$name => SetRuleTarget::$place,)+
                }
            }
        }
    };
}

/// The part of the set that a finding of a set rule is about, and that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetRuleTarget {
    /// Single rows.
    Row,
    /// A file as a whole.
    File,
    /// The set as a whole.
    Set,
}

set_rules! {
    /// The same `loc`, character for character (Google's old formats and guidelines: "must be unique").
    Duplicate = SET_DUPLICATE, Row;
    /// Another text for the same URL (RFC 3986, 6.2.2 and 6.2.3).
    DuplicateEquivalent = SET_DUPLICATE_EQUIVALENT, Row;
    /// The same URL in several files.
    DuplicateAcrossFiles = SET_DUPLICATE_ACROSS_FILES, Row;
    /// http and https in one set; the rows with the rarer one (sitemaps.org FAQ).
    MixedScheme = SET_MIXED_SCHEME, Row;
    /// `www.x` and `x` in one set; the rows with the rarer one.
    MixedWww = SET_MIXED_WWW, Row;
    /// Several hosts in one file; the rows without the most common one (sitemaps.org protocol).
    MixedHost = SET_MIXED_HOST, Row;
    /// Several ports in one file; the rows without the most common one (sitemaps.org protocol).
    MixedPort = SET_MIXED_PORT, Row;
    /// Paths with and without a trailing slash; the rows with the rarer one, if under a tenth.
    MixedSlash = SET_MIXED_SLASH, Row;
    /// Placeholder hosts in a set with other hosts; their rows.
    TemplateHost = LOC_TEMPLATE_RESIDUE, Row;
    /// At least 20 dated entries in a file, all of one date (Bing, 2023).
    LastmodIdentical = SET_LASTMOD_IDENTICAL, File;
    /// Over 80 % of the dates in a file within a minute, or within a day of the file's own time (Bing, 2023).
    LastmodGenerated = SET_LASTMOD_GENERATED, File;
    /// Some entries dated, but under half of them (Bing, 2023).
    LastmodSparse = SET_LASTMOD_SPARSE, Set;
    /// Every one of two or more entries of the same priority (sitemaps.org protocol, "priority").
    PriorityIdentical = SET_PRIORITY_IDENTICAL, Set;
    /// Over half of the entries at priority 1.0 (sitemaps.org protocol, "priority").
    PriorityAllHigh = SET_PRIORITY_ALL_HIGH, Set;
    /// A changefreq somewhere, for engines that ignore it (Google Search Central, "Build and submit a sitemap").
    ChangefreqIgnored = CHANGEFREQ_IGNORED, Set;
    /// A priority somewhere, for engines that ignore it.
    PriorityIgnored = PRIORITY_IGNORED, Set;
    /// News entries and ordinary ones in one file (Google, news sitemaps).
    NewsMixed = SET_NEWS_MIXED, File;
    /// More news entries in a file than Google reads (Google, news sitemaps).
    NewsLimit = NEWS_LIMIT, File;
    /// An alternate in the set that does not link back (Google, localized versions of your pages).
    HreflangNoReturn = HREFLANG_NO_RETURN, Row;
    /// An alternate on a host of the set that has no row.
    HreflangTargetMissing = HREFLANG_TARGET_MISSING, Row;
    /// An alternate in the set that lists other alternates (Google, localized versions of your pages).
    HreflangSetDiffers = HREFLANG_SET_DIFFERS, Row;
}

impl SetRule {
    /// The stable code, in kebab-case.
    pub fn code(self) -> &'static str {
        self.rule().code()
    }

    /// Whether it is about alternate links.
    pub const fn is_about_links(self) -> bool {
        matches!(self, Self::HreflangNoReturn | Self::HreflangTargetMissing | Self::HreflangSetDiffers)
    }

    /// The set rule for a rule of the table, if there is one.
    pub fn of(rule: Rule) -> Option<Self> {
        Self::ALL.iter().copied().find(|set_rule| set_rule.rule() == rule)
    }
}

/// A set of [`SetRule`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SetRules(u32);

impl SetRules {
    /// No rule.
    pub const NONE: Self = Self(0);

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `rule` is in the set.
    pub const fn has(self, rule: SetRule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }

    /// Adds a rule if `condition` holds.
    pub const fn insert_if(&mut self, rule: SetRule, condition: bool) {
        self.0 |= (condition as u32) << rule as u8;
    }

    /// The rules of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The rules, in catalogue order.
    pub fn iter(self) -> impl Iterator<Item = SetRule> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            // The index of the lowest rule; out of range if none is left.
            let rule = SetRule::ALL.get(rest.trailing_zeros() as usize).copied();
            rest &= rest.wrapping_sub(1);
            rule
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rule::Scope;

    #[test]
    fn each_is_a_rule_of_the_table() {
        for (index, &rule) in SetRule::ALL.iter().enumerate() {
            assert_eq!(rule as usize, index);
            assert_eq!(SetRule::of(rule.rule()), Some(rule));
            let mut rules = SetRules::NONE;
            rules.insert_if(rule, true);
            rules.insert_if(SetRule::ALL[0], true);
            let expected: Vec<_> = SetRule::ALL.iter().copied().filter(|&rule| rules.has(rule)).collect();
            assert_eq!(rules.iter().collect::<Vec<_>>(), expected);
            // Template placeholders are faults of one value, except in hosts, which may be the site's own.
            assert!(rule.rule().scope() == Scope::Set || rule == SetRule::TemplateHost);
        }
    }
}
