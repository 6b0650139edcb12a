//! The rules that need more than one row, and sets of them.
//!
//! Codes are those of the catalogue ("Set-level rules"). Severity, profile and help text belong to the
//! rule table, which finds these rules by their code.

macro_rules! set_rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $place:ident;)+) => {
        /// One rule about several rows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SetRule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl SetRule {
            /// Every rule, in catalogue order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable code, in kebab-case.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// What a finding of this rule points at.
            pub const fn place(self) -> Place {
                match self {
                    $(Self::$name => Place::$place,)+
                }
            }
        }
    };
}

/// What a finding points at, and so what its count counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Single rows.
    Row,
    /// A file as a whole.
    File,
    /// The set as a whole.
    Set,
}

set_rules! {
    /// The same `loc`, character for character (Google's old formats and guidelines: "must be unique").
    Duplicate = "set-duplicate", Row;
    /// Another text for the same URL (RFC 3986, 6.2.2 and 6.2.3).
    DuplicateEquivalent = "set-duplicate-equivalent", Row;
    /// The same URL in several files.
    DuplicateAcrossFiles = "set-duplicate-across-files", Row;
    /// http and https in one set; the rows of the rarer one (sitemaps.org FAQ).
    MixedScheme = "set-mixed-scheme", Row;
    /// `www.x` and `x` in one set; the rows of the rarer one.
    MixedWww = "set-mixed-www", Row;
    /// Several hosts in one file; the rows that are not of the commonest (sitemaps.org protocol).
    MixedHost = "set-mixed-host", Row;
    /// Several ports in one file; the rows that are not of the commonest (sitemaps.org protocol).
    MixedPort = "set-mixed-port", Row;
    /// Paths with and without a final slash, the rarer under a tenth; its rows.
    MixedSlash = "set-mixed-slash", Row;
    /// At least 20 dated entries in a file, all of one date (Bing, 2023).
    LastmodIdentical = "set-lastmod-identical", File;
    /// Over 80 % of the dates in a file within a minute, or within a day of the file's own time (Bing, 2023).
    LastmodGenerated = "set-lastmod-generated", File;
    /// Some entries dated, but under half of them (Bing, 2023).
    LastmodSparse = "set-lastmod-sparse", Set;
    /// Every entry of the same priority (sitemaps.org protocol, "priority").
    PriorityIdentical = "set-priority-identical", Set;
    /// Over half of the entries at priority 1.0 (sitemaps.org protocol, "priority").
    PriorityAllHigh = "set-priority-all-high", Set;
    /// Every entry of the same changefreq.
    ChangefreqIdentical = "set-changefreq-identical", Set;
    /// News entries and ordinary ones in one file (Google, news sitemaps).
    NewsMixed = "set-news-mixed", File;
}

impl SetRule {
    /// The rule of that exact code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.code() == code)
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

    /// The rules, in catalogue order.
    pub fn iter(self) -> impl Iterator<Item = SetRule> {
        SetRule::ALL.iter().copied().filter(move |&rule| self.has(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_found_again() {
        for (place, &rule) in SetRule::ALL.iter().enumerate() {
            assert_eq!(rule as usize, place);
            assert_eq!(SetRule::from_code(rule.code()), Some(rule));
        }
    }
}
