//! Groups findings of one cause, a file or a host, into one finding with counts of places and rows.
//!
//! Rows keep their findings; only what is listed is grouped. Which rules are, the table says ([`Rule::grouping`]).

use crate::check::FindingTarget;
use crate::check::rule::{Grouping, Rule, RuleSet};
use crate::document::rows::RowId;
use crate::protocol::{Severity, location};
use crate::session::located_finding::LocatedFinding;
use crate::words::counted;
use std::collections::HashSet;
use std::sync::Arc;

/// Hosts of a file that have a finding each; all others have one together.
const MOST_HOSTS: usize = 10;

/// The findings of a file that are one, and how many they are.
#[derive(Debug)]
pub struct Group {
    /// The first of them, if it was put into words.
    first: Option<LocatedFinding>,
    rule: Rule,
    severity: Severity,
    /// The host that they are about, of rules that are grouped by host; `None` for all hosts beyond the first few.
    host: Option<Box<str>>,
    /// Those hosts.
    more_hosts: HashSet<Box<str>>,
    /// How many findings of rows it stands for.
    extent: Extent,
    last: Option<RowId>,
}

/// The hosts of which a group of findings is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownHosts {
    /// Each by itself.
    pub hosts: Vec<Box<str>>,
    /// Whether all others share one.
    pub has_rest: bool,
}

/// How many places and rows a finding stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Places in the file.
    pub places: u64,
    /// Rows that have them.
    pub rows: u64,
}

impl Extent {
    /// Takes in further places and rows.
    pub const fn add(&mut self, other: Self) {
        self.places += other.places;
        self.rows += other.rows;
    }
}

/// The groups of the file that is being reported.
#[derive(Debug, Default)]
pub struct Groups(Vec<Group>);

impl Groups {
    /// Takes in a finding if its rule is grouped; gives it back if not.
    pub fn take(&mut self, found: LocatedFinding) -> Option<LocatedFinding> {
        let rule = found.finding.rule;
        let mut host = match rule.grouping() {
            None => return Some(found),
            Some(Grouping::File) => None,
            Some(Grouping::Host) => Some(location::host(&found.loc).to_ascii_lowercase().into_boxed_str()),
        };
        let is_of_file = |group: &Group| group.first.as_ref().is_none_or(|first| first.file == found.file);
        let same = |group: &&Group| group.rule == rule && is_of_file(group);
        let mut beyond = None;
        if host.is_some()
            && self.0.iter().filter(same).count() >= MOST_HOSTS
            && !self.0.iter().filter(same).any(|group| group.host == host)
        {
            // Thousands of hosts are one finding more.
            beyond = host.take();
        }
        let known = self.0.iter_mut().find(|group| group.rule == rule && group.host == host && is_of_file(group));
        match known {
            Some(group) => {
                group.more_hosts.extend(beyond);
                group.extent.places += 1;
                group.extent.rows += u64::from(found.row().is_some() && group.last != found.row());
                group.last = found.row();
                group.first.get_or_insert(found);
            }
            None => self.0.push(Group {
                rule,
                severity: found.finding.severity,
                host,
                more_hosts: beyond.into_iter().collect(),
                extent: Extent { places: 1, rows: u64::from(found.row().is_some()) },
                last: found.row(),
                first: Some(found),
            }),
        }
        None
    }

    /// The rules that are grouped by file and have a group.
    pub fn of_files(&self) -> RuleSet {
        self.0.iter().map(|group| group.rule).filter(|rule| rule.grouping() == Some(Grouping::File)).collect()
    }

    /// The hosts that have a group, of each rule that is grouped by host.
    pub fn known_hosts(&self) -> Vec<(Rule, KnownHosts)> {
        let mut known: Vec<(Rule, KnownHosts)> = Vec::new();
        for group in self.0.iter().filter(|group| group.rule.grouping() == Some(Grouping::Host)) {
            let at = known.iter().position(|(rule, _)| *rule == group.rule).unwrap_or_else(|| {
                known.push((group.rule, KnownHosts::default()));
                known.len() - 1
            });
            let Some((_, of_rule)) = known.get_mut(at) else { continue };
            match &group.host {
                Some(host) => of_rule.hosts.push(host.clone()),
                None => of_rule.has_rest = true,
            }
        }
        known
    }

    /// Takes in findings of rows about a host that no one put into words.
    pub fn count_of_host(&mut self, rule: Rule, severity: Severity, host: &str, extent: Extent) {
        let (mut own, mut beyond) = (Some(host), None);
        let mut of_rule = self.0.iter().filter(|group| group.rule == rule);
        if !of_rule.clone().any(|group| group.host.as_deref() == own) && of_rule.by_ref().count() >= MOST_HOSTS {
            beyond = own.take();
        }
        let known = self.0.iter_mut().find(|group| group.rule == rule && group.host.as_deref() == own);
        if let Some(group) = known {
            group.more_hosts.extend(beyond.map(Into::into));
            group.extent.add(extent);
            return;
        }
        let more_hosts = beyond.into_iter().map(Into::into).collect();
        self.0.push(Group { more_hosts, ..Group::counted_only(rule, severity, own.map(Into::into), extent) });
    }

    /// Takes in findings of rows that no one put into words; false if the rule is not grouped by file.
    pub fn count(&mut self, rule: Rule, severity: Severity, extent: Extent) -> bool {
        if rule.grouping() != Some(Grouping::File) {
            return false;
        }
        match self.0.iter_mut().find(|group| group.rule == rule) {
            Some(group) => group.extent.add(extent),
            None => self.0.push(Group::counted_only(rule, severity, None, extent)),
        }
        true
    }

    /// The groups, in the order of their first findings.
    pub fn finish(&mut self) -> impl Iterator<Item = Group> + use<> {
        std::mem::take(&mut self.0).into_iter()
    }
}

impl Group {
    fn counted_only(rule: Rule, severity: Severity, host: Option<Box<str>>, extent: Extent) -> Self {
        Self { first: None, rule, severity, host, more_hosts: HashSet::new(), extent, last: None }
    }

    /// The rule and how bad it is, where nothing was put into words.
    pub fn counted(&self) -> Option<(Rule, Severity)> {
        self.first.is_none().then_some((self.rule, self.severity))
    }

    /// The finding, and how much it stands for if that is more than one place.
    pub fn into_finding(self) -> Option<(LocatedFinding, Option<Extent>)> {
        let mut found = self.first?;
        let extent = self.extent;
        if extent.places == 1 {
            return Some((found, None));
        }
        let finding = &mut found.finding;
        let hosts = match self.more_hosts.len() {
            0 | 1 => String::new(),
            hosts => format!("{} of the same kind, ", counted(hosts as u64, "host")),
        };
        finding.target = FindingTarget::Row(None);
        finding.message = format!("{} ({hosts}{})", finding.message, in_words(self.rule, extent));
        // It is about the file, not about the first of its rows.
        found.loc = Arc::default();
        Some((found, Some(extent)))
    }
}

/// `2,500 images in 1,000 URLs`.
fn in_words(rule: Rule, extent: Extent) -> String {
    let what = match rule.code().split_once('-').map(|(group, _)| group) {
        Some("image") => "image element",
        _ => "place",
    };
    match (extent.places, extent.rows) {
        (places, 0) => counted(places, what),
        (places, rows) if places == rows => counted(rows, "URL"),
        (places, rows) => format!("{} in {}", counted(places, what), counted(rows, "URL")),
    }
}
