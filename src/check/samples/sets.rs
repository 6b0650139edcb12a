//! Test data: for every rule, a set of files that violates it.
//!
//! This module has the type of a sample, `files` writes the files, and the other modules have one sample for each rule,
//! in the families of the rule table.

mod alternate;
mod document;
mod entry;
mod extension;
mod files;
mod format;
mod index;
mod location;
mod set;
mod site;
mod xml;

use crate::check::Profile;
use crate::check::rule::Rule;
use crate::protocol::Severity;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Not compressed.
    Plain,
    /// Gzip.
    Gzip,
    /// Gzip in gzip.
    Twice,
    /// Two members.
    Members,
    /// Gzip data followed by other bytes.
    Trailing,
    /// Truncated gzip data.
    Cut,
    /// A wrong checksum.
    Corrupt,
}

/// Files that violate a rule.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The rule, or the variant of a rule.
    pub rule: Rule,
    /// The profile in which the rule is checked.
    pub profile: Profile,
    /// Names and contents. The first is opened if it is an index, else all of them.
    pub files: Vec<(String, Vec<u8>, Packing)>,
    /// The public URL of the folder, if it is given.
    pub base: Option<&'static str>,
    /// Largest number of bytes that a file may unpack to, if not the default.
    pub max_bytes: Option<u64>,
    /// Data about the page, if there are any: the columns of one row as JSON.
    pub answer: Option<&'static str>,
    /// The robots.txt of the site, if there is one.
    pub robots: Option<&'static str>,
}

impl Sample {
    /// Files that need not violate a rule.
    pub(crate) const fn with_files(files: Vec<(String, Vec<u8>, Packing)>) -> Self {
        Self {
            rule: Rule::DOC_EMPTY,
            profile: Profile::Protocol,
            files,
            base: None,
            max_bytes: None,
            answer: None,
            robots: None,
        }
    }

    fn of(name: &str, content: impl Into<Vec<u8>>) -> Self {
        Self::with_files(vec![(name.to_owned(), content.into(), Packing::Plain)])
    }

    fn and(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.to_owned(), content.into(), Packing::Plain));
        self
    }

    fn packed(mut self, packing: Packing) -> Self {
        self.files.iter_mut().for_each(|file| file.2 = packing);
        self
    }
}

fn for_profile(profile: Profile, sample: Sample) -> Sample {
    Sample { profile, ..sample }
}

/// The families of rules; each rule has its sample in one of them.
const FAMILIES: [fn(Rule) -> Option<Sample>; 9] = [
    document::sample,
    xml::sample,
    entry::sample,
    location::sample,
    set::sample,
    alternate::sample,
    index::sample,
    format::sample,
    site::sample,
];

/// For every rule and every variant, files that violate it, in the order of the catalogue.
pub(crate) fn samples() -> Vec<Sample> {
    file_rules().filter_map(sample).collect()
}

/// All rules but those of a policy, which is the user's own: no file violates its rules by itself.
fn file_rules() -> impl Iterator<Item = Rule> {
    Rule::ALL.into_iter().filter(|rule| !matches!(*rule, Rule::POLICY_NEVER | Rule::POLICY_MUST))
}

fn sample(rule: Rule) -> Option<Sample> {
    let found = FAMILIES.iter().find_map(|family| family(rule)).or_else(|| extension::sample(rule));
    found.map(|sample| Sample { rule, ..sample })
}

#[test]
fn every_rule_has_one_sample_that_its_profile_reports() {
    for rule in file_rules() {
        let families = FAMILIES.iter().filter(|family| family(rule).is_some()).count();
        assert!(families <= 1, "{rule:?} has samples in {families} families");
        let Some(sample) = sample(rule) else { panic!("{rule:?} has no sample") };
        let severity: Option<Severity> = rule.severity_in(sample.profile);
        assert!(severity.is_some(), "{rule:?} is not enabled for {}", sample.profile.name());
    }
}
