//! Findings that no row carries – of files, of the index and its entries, of the set – in one list, each with what one
//! key does about it. What the counts of rules count beside rows is here, and nothing else.

use super::Session;
use super::change::Change;
use super::checks::rule_of;
use super::findings::{FileFinding, Place};
use super::fix::set::CLEARED;
use crate::check::fix::{Action, Fix};
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::check::set::SetFinding;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Member, SitemapId};

impl Place {
    /// The file that is put right to end a finding here; `None` for the set.
    pub const fn member(self) -> Option<Member> {
        match self {
            Self::Sitemap(id) => Some(Member::Sitemap(id)),
            Self::Index(_) | Self::IndexFile(_) => Some(Member::Index),
            Self::Set => None,
        }
    }
}

impl Session {
    /// Every finding that no row carries: the index first, then file by file, then the set.
    pub fn whole_findings(&self) -> Vec<FileFinding> {
        let of_set = self.now.checks.set_findings().into_iter().filter_map(|found| self.whole(found));
        let mut found: Vec<FileFinding> = self.file_findings.iter().cloned().chain(of_set).collect();
        found.sort_by_key(|finding| match finding.place {
            Place::Index(_) | Place::IndexFile(_) => 0,
            Place::Sitemap(id) => id.0.saturating_add(1),
            Place::Set => u32::MAX,
        });
        found
    }

    /// Those of the file that a row is in, and of the set.
    pub fn whole_findings_of(&self, row: RowId) -> Vec<FileFinding> {
        // The file that it will be in, where somebody agreed to another.
        let file = self.document().as_agreed().sitemap_of(row);
        let own = self.file_findings.iter().filter(|finding| finding.place == Place::Sitemap(file)).cloned();
        let set = self.now.checks.set();
        let of_set = set.findings_of(Some(file.0)).into_iter().chain(set.findings_of(None));
        own.chain(of_set.filter_map(|found| self.whole(found))).collect()
    }

    /// Whether a key does something about any of them.
    pub fn can_fix_whole(&self) -> bool {
        let set = self.now.checks.set();
        let files = (0..self.document().as_agreed().sitemaps().len() as u32).map(Some).chain([None]);
        let mut of_set = files.flat_map(|file| set.findings_of(file)).filter_map(|found| self.whole(found));
        self.file_findings.iter().any(|finding| finding.fix.is_some()) || of_set.any(|finding| finding.fix.is_some())
    }

    /// A finding of several rows together as one of their file, or of the set.
    fn whole(&self, found: SetFinding) -> Option<FileFinding> {
        let rule = rule_of(found.rule);
        let severity = rule.severity_in(self.profile())?;
        let place = found.file.map_or(Place::Set, |file| Place::Sitemap(SitemapId(file)));
        let label = match (place, rule) {
            (_, rule) if CLEARED.contains(rule) => Some("take these values out"),
            (Place::Sitemap(id), Rule::SET_NEWS_MIXED) if self.now.parts_news(id) => {
                Some("give the news a file of their own")
            }
            (Place::Sitemap(id), Rule::NEWS_LIMIT) if self.now.splits_news(id) => Some("split it when it is saved"),
            _ => None,
        };
        let is_safe = rule.fix() == FixKind::Safe;
        let fix = label.map(|label| Fix { label: label.to_owned(), is_safe, action: Action::File });
        Some(FileFinding { place, rule, severity, field: None, message: found.message, fix, at: None })
    }

    /// The change that ends a finding that no row carries. Where somebody has to say more first, there is a
    /// [question](super::snapshot::Snapshot::question).
    pub fn fix_of_whole(&self, place: Place, rule: Rule) -> Change {
        let document = self.document();
        let rules = RuleSet::of(&[rule]);
        match place.member() {
            Some(file) if !CLEARED.contains(rule) => Change::FixFile(file, rules),
            file => {
                let is_meant = |id: SitemapId| file.is_none_or(|file| file == Member::Sitemap(id));
                let rows: RowSet = document
                    .live_rows()
                    .filter(|row| is_meant(document.as_agreed().sitemap_of(*row)))
                    .map(|row| row.0)
                    .collect();
                Change::Fix { rows, rules }
            }
        }
    }
}
