//! The public URLs of files, which a change of the index can change.

use crate::document::Document;
use crate::document::edit::Applied;
use crate::protocol::location::UrlPrefix;
use crate::session::checks::Checks;
use std::borrow::Cow;
use std::sync::Arc;

impl Checks {
    /// The URL prefixes of files whose URL a change has changed, by file number.
    fn changed_prefixes(&self, before: &Document, applied: &Applied) -> Vec<(usize, Option<UrlPrefix>)> {
        if !applied.framed {
            return Vec::new();
        }
        let pairs = before.sitemaps().iter().zip(applied.document.sitemaps()).enumerate();
        let moved = pairs.filter(|(_, (was, is))| !Arc::ptr_eq(was, is) && was.url != is.url);
        moved.map(|(file, (_, is))| (file, self.url_prefix_of(is.url.as_deref()))).collect()
    }

    /// Takes note of where files are after a change.
    pub(super) fn follow_urls(&mut self, before: &Document, applied: &Applied) {
        for (file, url_prefix) in self.changed_prefixes(before, applied) {
            if let Some(known) = Arc::make_mut(&mut self.url_prefixes).get_mut(file) {
                *known = url_prefix;
            }
        }
    }

    /// The same checks, for files where they are after a change.
    pub(super) fn at_new_urls(&self, before: &Document, applied: &Applied) -> Cow<'_, Self> {
        if self.changed_prefixes(before, applied).is_empty() {
            return Cow::Borrowed(self);
        }
        let mut checks = self.clone();
        checks.follow_urls(before, applied);
        Cow::Owned(checks)
    }
}
