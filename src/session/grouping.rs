//! Groups findings of one cause, a file or a host, into one finding with counts of places and rows.
//!
//! Rows keep their findings; only what is listed is grouped. Which rules are, the table says ([`Rule::grouping`]).

use super::findings::Reported;
use crate::check::rule::{Grouping, Rule};
use crate::document::rows::RowId;
use crate::protocol::{Severity, location};
use crate::words::counted;
use std::collections::HashSet;
use std::sync::Arc;

/// Hosts of a file that have a finding each; all others have one together.
const MOST_HOSTS: usize = 10;

/// The findings of a file that are one, and how many they are.
#[derive(Debug)]
pub struct Group {
    /// The first of them, if it was put into words.
    first: Option<Reported>,
    rule: Rule,
    severity: Severity,
    /// The host that they are about, of rules that are grouped by host; `None` for all hosts beyond the first few.
    host: Option<Box<str>>,
    /// Those hosts.
    more_hosts: HashSet<Box<str>>,
    /// How many findings of rows it stands for.
    places: u64,
    rows: u64,
    last: Option<RowId>,
}

/// How many places and rows a finding stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Places in the file.
    pub places: u64,
    /// Rows that have them.
    pub rows: u64,
}

/// The groups of the file in hand.
#[derive(Debug, Default)]
pub struct Groups(Vec<Group>);

impl Groups {
    /// Takes in a finding if its rule is grouped; gives it back if not.
    pub fn take(&mut self, found: Reported) -> Option<Reported> {
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
                group.places += 1;
                group.rows += u64::from(found.row.is_some() && group.last != found.row);
                group.last = found.row;
                group.first.get_or_insert(found);
            }
            None => self.0.push(Group {
                rule,
                severity: found.finding.severity,
                host,
                more_hosts: beyond.into_iter().collect(),
                places: 1,
                rows: u64::from(found.row.is_some()),
                last: found.row,
                first: Some(found),
            }),
        }
        None
    }

    /// Takes in findings of rows that nobody put into words; false if the rule is not grouped by file.
    pub fn count(&mut self, rule: Rule, severity: Severity, rows: u64) -> bool {
        if rule.grouping() != Some(Grouping::File) {
            return false;
        }
        match self.0.iter_mut().find(|group| group.rule == rule) {
            Some(group) => {
                group.places += rows;
                group.rows += rows;
            }
            None => {
                self.0.push(Group {
                    first: None,
                    rule,
                    severity,
                    host: None,
                    more_hosts: HashSet::new(),
                    places: rows,
                    rows,
                    last: None,
                });
            }
        }
        true
    }

    /// The groups, in the order of their first findings.
    pub fn finish(&mut self) -> impl Iterator<Item = Group> + use<> {
        std::mem::take(&mut self.0).into_iter()
    }
}

impl Group {
    /// The rule and how bad it is, where nothing was put into words.
    pub fn counted(&self) -> Option<(Rule, Severity)> {
        self.first.is_none().then_some((self.rule, self.severity))
    }

    /// The finding, and how much it stands for if that is more than one place.
    pub fn into_finding(self) -> Option<(Reported, Option<Extent>)> {
        let mut found = self.first?;
        if self.places == 1 {
            return Some((found, None));
        }
        let extent = Extent { places: self.places, rows: self.rows };
        let finding = &mut found.finding;
        let hosts = match self.more_hosts.len() {
            0 | 1 => String::new(),
            hosts => format!("{} of the same kind, ", counted(hosts as u64, "host")),
        };
        finding.message = format!("{} ({hosts}{})", finding.message, in_words(self.rule, extent));
        // It is about the file, not about the first of its rows.
        found.row = None;
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
