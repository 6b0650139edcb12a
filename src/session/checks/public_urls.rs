//! Updates the public URLs of files after a change of the index.

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

    /// Updates the URL prefixes of files whose URL a change has changed.
    pub(super) fn update_url_prefixes(&mut self, before: &Document, applied: &Applied) {
        for (file, url_prefix) in self.changed_prefixes(before, applied) {
            if let Some(known) = Arc::make_mut(&mut self.url_prefixes).get_mut(file) {
                *known = url_prefix;
            }
        }
    }

    /// These checks with the URL prefixes of files after a change.
    pub(super) fn with_new_url_prefixes(&self, before: &Document, applied: &Applied) -> Cow<'_, Self> {
        if self.changed_prefixes(before, applied).is_empty() {
            return Cow::Borrowed(self);
        }
        let mut checks = self.clone();
        checks.update_url_prefixes(before, applied);
        Cow::Owned(checks)
    }
}
