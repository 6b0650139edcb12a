//! Groups findings of one cause, a file or a host, into one finding with counts of places and rows.
//!
//! Rows keep their findings; only the list of findings is grouped. The table of rules defines which rules are grouped
//! ([`Rule::grouping`]).

use crate::check::FindingTarget;
use crate::check::rule::{Grouping, Rule, RuleSet};
use crate::document::rows::RowId;
use crate::protocol::{Severity, location};
use crate::session::located_finding::LocatedFinding;
use crate::words::counted;
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Maximum number of hosts of a file with their own finding; all others share one.
const MAX_HOSTS: usize = 10;

/// A hash of a host, ignoring case. It has 64 bits, so that collisions are negligible: the 32 bits of `host_hash`, by which
/// links are compared, are too few to count hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostHash(u64);

impl HostHash {
    /// That of the host of a URL.
    pub fn of_url(url: &str) -> Self {
        let host = location::host(url).as_bytes();
        let hash = |lower_case: &[u8]| Self(FixedState::default().hash_one(lower_case));
        let mut buffer = [0; 64];
        let Some(lower_case) = buffer.get_mut(..host.len()) else { return hash(&host.to_ascii_lowercase()) };
        lower_case.copy_from_slice(host);
        lower_case.make_ascii_lowercase();
        hash(lower_case)
    }
}

/// Findings of a file that are reported as one, and their number.
#[derive(Debug)]
pub struct Group {
    /// The first of them, if its message was created.
    first: Option<LocatedFinding>,
    rule: Rule,
    severity: Severity,
    /// The host of the findings, for rules that are grouped by host; `None` for all hosts beyond [`MAX_HOSTS`].
    host: Option<HostHash>,
    /// The hosts beyond [`MAX_HOSTS`].
    more_hosts: HashSet<HostHash, FixedState>,
    /// The numbers of findings and rows in the group.
    extent: Extent,
    last: Option<RowId>,
}

/// The hosts that already have a group of findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownHosts {
    /// The hosts with their own group.
    pub hosts: Vec<HostHash>,
    /// Whether there is a group for all other hosts.
    pub has_rest: bool,
}

/// The numbers of places and rows that a grouped finding covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Number of places in the file: a row may have several.
    pub places: u64,
    /// Number of rows with such places.
    pub rows: u64,
}

impl Extent {
    /// Adds further places and rows.
    pub const fn add(&mut self, other: Self) {
        self.places += other.places;
        self.rows += other.rows;
    }
}

/// The groups of the file that is being reported.
#[derive(Debug, Default)]
pub struct Groups(Vec<Group>);

impl Groups {
    /// Adds a finding to its group; returns false if its rule is not grouped.
    pub fn take(&mut self, found: &LocatedFinding) -> bool {
        let rule = found.finding.rule;
        let mut host = match rule.grouping() {
            None => return false,
            Some(Grouping::File) => None,
            Some(Grouping::Host) => Some(HostHash::of_url(&found.loc)),
        };
        let is_of_file = |group: &Group| group.first.as_ref().is_none_or(|first| first.file == found.file);
        let (known, is_beyond) = self.group_for(rule, host, is_of_file);
        let beyond = if is_beyond { host.take() } else { None };
        match known.and_then(|index| self.0.get_mut(index)) {
            Some(group) => {
                group.more_hosts.extend(beyond);
                group.extent.places += 1;
                group.extent.rows += u64::from(found.row().is_some() && group.last != found.row());
                group.last = found.row();
                group.first.get_or_insert_with(|| found.clone());
            }
            None => self.0.push(Group {
                rule,
                severity: found.finding.severity,
                host,
                more_hosts: beyond.into_iter().collect(),
                extent: Extent { places: 1, rows: u64::from(found.row().is_some()) },
                last: found.row(),
                first: Some(found.clone()),
            }),
        }
        true
    }

    /// The index of the group for findings of a rule, if there is one, and whether it is that of all hosts beyond
    /// [`MAX_HOSTS`]: thousands of hosts are one finding more. Only groups for which `is_of_file` returns true count.
    fn group_for(
        &self,
        rule: Rule,
        host: Option<HostHash>,
        is_of_file: impl Fn(&Group) -> bool,
    ) -> (Option<usize>, bool) {
        let (mut own, mut rest, mut groups) = (None, None, 0);
        let of_rule = self.0.iter().enumerate().filter(|(_, group)| group.rule == rule && is_of_file(group));
        for (index, group) in of_rule {
            groups += 1;
            if group.host == host {
                own = own.or(Some(index));
            } else if group.host.is_none() {
                rest = rest.or(Some(index));
            }
        }
        let is_beyond = host.is_some() && own.is_none() && groups >= MAX_HOSTS;
        (if is_beyond { rest } else { own }, is_beyond)
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
            match group.host {
                Some(host) => of_rule.hosts.push(host),
                None => of_rule.has_rest = true,
            }
        }
        known
    }

    /// Adds findings of rows about a host that have no messages.
    pub fn count_of_host(&mut self, rule: Rule, severity: Severity, host: HostHash, extent: Extent) {
        let (known, is_beyond) = self.group_for(rule, Some(host), |_| true);
        let (own, beyond) = if is_beyond { (None, Some(host)) } else { (Some(host), None) };
        if let Some(group) = known.and_then(|index| self.0.get_mut(index)) {
            group.more_hosts.extend(beyond);
            group.extent.add(extent);
            return;
        }
        let more_hosts = beyond.into_iter().collect();
        self.0.push(Group { more_hosts, ..Group::counted_only(rule, severity, own, extent) });
    }

    /// Adds findings of rows that have no messages; returns false if the rule is not grouped by file.
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
    fn counted_only(rule: Rule, severity: Severity, host: Option<HostHash>, extent: Extent) -> Self {
        Self { first: None, rule, severity, host, more_hosts: HashSet::default(), extent, last: None }
    }

    /// The rule and its severity, if no message was created.
    pub fn counted(&self) -> Option<(Rule, Severity)> {
        self.first.is_none().then_some((self.rule, self.severity))
    }

    /// The finding, and its extent if that is more than one place.
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
    let noun = match rule.code().split_once('-').map(|(group, _)| group) {
        Some("image") => "image element",
        _ => "place",
    };
    match (extent.places, extent.rows) {
        (places, 0) => counted(places, noun),
        (places, rows) if places == rows => counted(rows, "URL"),
        (places, rows) => format!("{} in {}", counted(places, noun), counted(rows, "URL")),
    }
}
