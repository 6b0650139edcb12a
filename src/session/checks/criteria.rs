//! Rechecks a document under other criteria: profile, policy and answers of the site.

use super::{Checks, Criteria};
use crate::check::site::Site;
use crate::document::Document;
use crate::document::edit::Applied;
use crate::document::rows::RowSet;
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use std::sync::{Arc, Weak};

impl Checks {
    /// Replaces the site data by one that differs for these rows only, and checks them on this thread.
    pub fn set_site(&mut self, site: Option<Arc<Site>>, (document, rows): (&Document, RowSet), now: Now) {
        self.criteria.site = site;
        self.recheck_in_place(document, rows, now);
    }

    fn recheck_in_place(&mut self, document: &Document, rows: RowSet, now: Now) {
        let applied = Applied { touched: rows, ..Applied::unchanged(document) };
        // This is never cancelled.
        if let Some(rechecked) = self.recheck_rows(&applied, now, &Progress::default()) {
            (self.findings, self.counts) = (rechecked.findings, rechecked.counts);
        }
    }

    /// Drops the site data of a state that the history keeps, but remembers which data its findings were made with.
    /// Otherwise each state would keep a version of data that grows during a probe.
    pub fn detach_site(&mut self) {
        if let Some(site) = self.criteria.site.take() {
            self.detached_site = Some(Arc::downgrade(&site));
        }
    }

    /// Takes the criteria of `before`. If these findings were made under others, takes its findings too, and checks the
    /// rows that differ between the two states again. Returns whether rows were checked.
    pub fn adopt_criteria(&mut self, before: &Self, (document, touched): (&Document, &RowSet), now: Now) -> bool {
        let is_same = self.matches(&before.criteria);
        self.detached_site = None;
        self.criteria = before.criteria.clone();
        if !is_same {
            (self.findings, self.counts) = (before.findings.clone(), Arc::clone(&before.counts));
            self.recheck_in_place(document, touched.clone(), now);
        }
        !is_same
    }

    /// Whether the findings were made under these criteria.
    fn matches(&self, criteria: &Criteria) -> bool {
        match (&self.detached_site, &criteria.site) {
            (Some(detached), Some(site)) => {
                let own = Criteria { site: Some(Arc::clone(site)), ..self.criteria.clone() };
                Weak::ptr_eq(detached, &Arc::downgrade(site)) && own == *criteria
            }
            (Some(_), None) => false,
            (None, _) => self.criteria == *criteria,
        }
    }
}
