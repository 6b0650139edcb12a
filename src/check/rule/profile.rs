//! Profiles: which rules apply, and how severe they are, for the protocol, a search engine, or schema 0.84.
//!
//! Severities per profile are in the rule table; here they are collected into sets, once. Rule catalogue, section 12.

use super::{Rule, RuleSet};
use crate::protocol::Severity;
use crate::protocol::limits::{BYTES_PER_FILE, SITEMAPS_PER_INDEX};
use std::sync::LazyLock;

/// A set of requirements to check, those of the protocol or of one search engine (rule catalogue, section 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Profile {
    /// sitemaps.org.
    #[default]
    Protocol,
    /// Google.
    Google,
    /// Bing.
    Bing,
    /// Yandex.
    Yandex,
    /// Baidu.
    Baidu,
    /// The Google protocol of 2005.
    Legacy084,
}

/// The rules of a profile by severity: errors, warnings, notes.
#[derive(Debug, Clone, Copy, Default)]
struct Levels([RuleSet; 3]);

static LEVELS: LazyLock<[Levels; Profile::ALL.len()]> = LazyLock::new(|| {
    Profile::ALL.map(|profile| {
        let mut levels = Levels::default();
        for rule in Rule::ALL {
            let level = rule.severity_in(profile).map(level_index);
            if let Some(set) = level.and_then(|level| levels.0.get_mut(level)) {
                set.insert(rule);
            }
        }
        levels
    })
});

const fn level_index(severity: Severity) -> usize {
    match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    }
}

/// Bytes per file before November 2016, for Google's protocol of 2005 and still for Baidu (rule catalogue, C2).
const BYTES_BEFORE_2016: u64 = 10_485_760;

/// `<sitemap>` elements per index in the protocol of 2005 (rule catalogue, section 2).
const SITEMAPS_BEFORE_2009: u32 = 1_000;

impl Profile {
    /// All of them, the default first.
    pub const ALL: [Self; 6] = [Self::Protocol, Self::Google, Self::Bing, Self::Yandex, Self::Baidu, Self::Legacy084];

    /// The name that users choose it by: `protocol`, `google`, `bing`, `yandex`, `baidu`, `legacy-0.84`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Google => "google",
            Self::Bing => "bing",
            Self::Yandex => "yandex",
            Self::Baidu => "baidu",
            Self::Legacy084 => "legacy-0.84",
        }
    }

    /// The profile of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// The rules that it checks.
    pub fn rules(self) -> RuleSet {
        let [errors, warnings, notes] = self.levels();
        errors.union(warnings).union(notes)
    }

    /// The worst severity among rules.
    pub fn worst(self, rules: RuleSet) -> Option<Severity> {
        self.worst_rule(rules).and_then(|rule| rule.severity_in(self))
    }

    /// The first of the worst among rules.
    pub fn worst_rule(self, rules: RuleSet) -> Option<Rule> {
        self.levels().into_iter().find_map(|level| rules.intersection(level).iter().next())
    }

    /// Bytes per sitemap or index file, uncompressed.
    pub const fn bytes_per_file(self) -> u64 {
        match self {
            Self::Baidu | Self::Legacy084 => BYTES_BEFORE_2016,
            _ => BYTES_PER_FILE,
        }
    }

    /// `<sitemap>` elements per index.
    pub const fn sitemaps_per_index(self) -> u32 {
        match self {
            Self::Legacy084 => SITEMAPS_BEFORE_2009,
            _ => SITEMAPS_PER_INDEX,
        }
    }

    fn levels(self) -> [RuleSet; 3] {
        // Always found: `LEVELS` has an element for every profile.
        LEVELS.get(self as usize).map_or([RuleSet::EMPTY; 3], |levels| levels.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_profile_has_the_severities_of_the_table() {
        for rule in Rule::ALL {
            assert_eq!(rule.severity_in(Profile::Protocol), rule.severity(), "{rule}");
            for profile in Profile::ALL {
                let set = RuleSet::of(&[rule]);
                assert_eq!(profile.rules().contains(rule), rule.severity_in(profile).is_some(), "{rule}");
                assert_eq!(profile.worst(set), rule.severity_in(profile), "{rule} {}", profile.name());
            }
        }
    }

    #[test]
    fn a_profile_is_found_by_its_name() {
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.name()), Some(profile));
        }
        assert_eq!(Profile::from_name("altavista"), None);
    }

    #[test]
    fn engines_differ_as_in_the_catalogue() {
        let table = [
            (Rule::LOC_OUTSIDE_PATH, Profile::Protocol, Some(Severity::Warning)),
            (Rule::LOC_OUTSIDE_PATH, Profile::Google, Some(Severity::Warning)),
            (Rule::LOC_OUTSIDE_PATH, Profile::Yandex, Some(Severity::Error)),
            (Rule::LOC_TOO_LONG_YANDEX, Profile::Protocol, None),
            (Rule::LOC_TOO_LONG_YANDEX, Profile::Yandex, Some(Severity::Warning)),
            (Rule::LASTMOD_NO_TIMEZONE, Profile::Yandex, Some(Severity::Warning)),
            (Rule::LASTMOD_NO_TIMEZONE, Profile::Google, Some(Severity::Error)),
            (Rule::NS_LEGACY_084, Profile::Legacy084, None),
            (Rule::PRIORITY_IGNORED, Profile::Google, Some(Severity::Note)),
            (Rule::PRIORITY_IGNORED, Profile::Yandex, None),
            (Rule::SET_PRIORITY_IDENTICAL, Profile::Yandex, Some(Severity::Note)),
        ];
        for (rule, profile, severity) in table {
            assert_eq!(rule.severity_in(profile), severity, "{rule} {}", profile.name());
        }
    }

    #[test]
    fn quality_rules_are_off_for_fields_that_an_engine_ignores() {
        let quality = [
            Rule::PRIORITY_FORM,
            Rule::PRIORITY_PRECISION,
            Rule::SET_PRIORITY_IDENTICAL,
            Rule::SET_PRIORITY_ALL_HIGH,
            Rule::CHANGEFREQ_CASE,
            Rule::CHANGEFREQ_LASTMOD_CONFLICT,
        ];
        for rule in quality {
            assert!(rule.severity_in(Profile::Protocol).is_some(), "{rule}");
            assert_eq!(rule.severity_in(Profile::Google), None, "{rule}");
            assert_eq!(rule.severity_in(Profile::Bing), None, "{rule}");
        }
    }
}
