//! Per-file counters of the set index: hosts, ports, dates and news, and the file rules that follow from them.
//!
//! Counts change with every row. [`FileTally::recompute`] derives the findings from them, and reads dates again only if
//! the counts do not decide.

use super::IndexedRow;
use super::dates::{Agreement, Dates, EachDate, Minutes};
use super::hosts::{Hosts, Origin};
use super::rule::{SetRule, SetRules};
use crate::protocol::limits::NEWS_PER_FILE;
use crate::words::grouped;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Smallest number of dated entries for which dates are compared (rule catalogue, `set-lastmod-identical`).
const DATED_MIN: u32 = 20;

/// How many rows have each of a few values.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// The first value; in most files the only one.
    first: Option<(u32, u32)>,
    rest: HashMap<u32, u32, FixedState>,
    total: u32,
}

impl Tally {
    fn add(&mut self, value: u32, more: u32) {
        self.total += more;
        match &mut self.first {
            Some((first, rows)) if *first == value => *rows += more,
            None => self.first = Some((value, more)),
            _ => *self.rest.entry(value).or_insert(0) += more,
        }
    }

    fn values(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.first.iter().copied().chain(self.rest.iter().map(|(&value, &rows)| (value, rows)))
    }

    fn remove(&mut self, value: u32) {
        self.total = self.total.saturating_sub(1);
        match &mut self.first {
            Some((first, rows)) if *first == value => *rows = rows.saturating_sub(1),
            _ => {
                if let Some(rows) = self.rest.get_mut(&value) {
                    *rows = rows.saturating_sub(1);
                    if *rows == 0 {
                        self.rest.remove(&value);
                    }
                }
            }
        }
    }

    /// The most common value and the number of rows with another one. Among equally common ones, the least by `order`.
    fn most_common<K: Ord>(&self, order: impl Fn(u32) -> K) -> Option<(u32, u32)> {
        let best = self
            .values()
            .filter(|&(_, rows)| rows > 0)
            .max_by(|a, b| a.1.cmp(&b.1).then_with(|| order(b.0).cmp(&order(a.0))))?;
        Some((best.0, self.total - best.1))
    }
}

/// The set rules that a file violates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FileVerdict {
    /// Rows on another host than the most common one.
    pub other_host: u32,
    /// Rows on another port than the most common one.
    pub other_port: u32,
    /// The number of the most common host.
    pub main_host: Option<u32>,
    /// The most common port.
    pub main_port: Option<u32>,
    /// The property that its dates share, if any.
    pub dates: Option<Agreement>,
    /// Rules about the file as a whole.
    pub rules: SetRules,
}

/// The counters of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct FileTally {
    hosts: Tally,
    ports: Tally,
    dates: Dates,
    news: u32,
    rows: u32,
    /// As of the last [`FileTally::recompute`].
    pub verdict: FileVerdict,
    /// Whether rows have changed since then.
    pub is_dirty: bool,
}

impl FileTally {
    /// Rows without a readable date.
    pub(super) fn undated(&self) -> u32 {
        self.rows.saturating_sub(self.dates.len())
    }

    /// Adds a row.
    pub(super) fn add(&mut self, origin: Option<Origin>, facts: &IndexedRow) {
        self.rows += 1;
        self.news += u32::from(facts.news);
        if let Some(origin) = origin {
            self.add_origin(origin, 1);
        }
        if let Some(seconds) = facts.lastmod {
            self.dates.add(seconds);
        }
    }

    /// Counts the host and the port of rows that are counted otherwise already.
    pub(super) fn add_origin(&mut self, origin: Origin, rows: u32) {
        self.hosts.add(origin.host, rows);
        self.ports.add(origin.port, rows);
    }

    /// Removes a row.
    pub(super) fn remove(&mut self, origin: Option<Origin>, facts: &IndexedRow) {
        self.rows = self.rows.saturating_sub(1);
        self.news = self.news.saturating_sub(u32::from(facts.news));
        if let Some(origin) = origin {
            self.hosts.remove(origin.host);
            self.ports.remove(origin.port);
        }
        if let Some(seconds) = facts.lastmod {
            self.dates.remove(seconds);
        }
    }

    /// Adds the counts of another tally, which has no hosts and ports; `minutes` has those of its dates.
    pub(super) fn merge(&mut self, other: &Self, minutes: &Minutes) {
        self.rows += other.rows;
        self.news += other.news;
        self.dates.merge(&other.dates, minutes);
    }

    /// Replaces the date of a row.
    pub(super) fn change_date(&mut self, old: Option<i64>, new: Option<i64>) {
        if let Some(seconds) = old {
            self.dates.remove(seconds);
        }
        if let Some(seconds) = new {
            self.dates.add(seconds);
        }
    }

    /// The modification time of the file in seconds since 1970, if known.
    pub(super) const fn mtime(&self) -> Option<i64> {
        self.dates.mtime()
    }

    /// Sets the modification time of the file, in seconds since 1970.
    pub(super) fn set_mtime(&mut self, mtime: Option<i64>) {
        self.dates.set_mtime(mtime);
    }

    /// The message for a rule that the file violates.
    pub(super) fn message(&self, rule: SetRule) -> String {
        let dated = grouped(u64::from(self.dates.len()));
        match (rule, self.verdict.dates) {
            (SetRule::NewsLimit, _) => {
                format!(
                    "{} news entries in this file; Google reads {} at most",
                    grouped(self.news.into()),
                    grouped(NEWS_PER_FILE.into())
                )
            }
            (SetRule::NewsMixed, _) => {
                format!("{} of the {} URLs in this file are news", grouped(self.news.into()), grouped(self.rows.into()))
            }
            (_, Some(Agreement::OneMinute)) => {
                format!("over 80 % of the {dated} dates in this file lie within one minute")
            }
            (_, Some(Agreement::FileTime)) => {
                format!("over 80 % of the {dated} dates in this file lie within a day of when it was written")
            }
            _ => format!("all {dated} dates in this file are the same"),
        }
    }

    /// Recomputes the findings. `each` visits the dates of all rows of this file and is called only if the counts do
    /// not decide.
    pub(super) fn recompute(&mut self, hosts: &Hosts, each: EachDate<'_>) {
        let (main_host, other_host) = self.hosts.most_common(|host| hosts.name(host).to_owned()).unzip();
        let (main_port, other_port) = self.ports.most_common(|port| port).unzip();
        let mut rules = SetRules::NONE;
        // Articles of a news sitemap were all published in the last two days, so similar dates are normal.
        let is_news = u64::from(self.news) * 2 > u64::from(self.rows);
        let compares_dates = self.dates.len() >= DATED_MIN && !is_news;
        let dates = if compares_dates { self.dates.agreement(each) } else { None };
        rules.insert_if(SetRule::LastmodIdentical, dates == Some(Agreement::Identical));
        rules.insert_if(SetRule::LastmodGenerated, dates.is_some() && dates != Some(Agreement::Identical));
        rules.insert_if(SetRule::NewsMixed, self.news > 0 && self.news < self.rows);
        rules.insert_if(SetRule::NewsLimit, self.news > NEWS_PER_FILE);
        self.verdict = FileVerdict {
            other_host: other_host.unwrap_or(0),
            other_port: other_port.unwrap_or(0),
            main_host,
            main_port,
            dates,
            rules,
        };
        self.is_dirty = false;
    }
}
