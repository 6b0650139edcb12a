//! Checks a save plan by file form: values that a form cannot hold, and feeds, which are never written.

use super::{Action, Output, Planner};
use crate::document::conversion::{self, Losses};
use crate::document::form::Form;
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::xml::defect::Defect;
use crate::xml::names::FileKind;
use std::collections::BTreeMap;

impl Planner<'_> {
    /// Converts a feed that is saved to another path to a sitemap, and reports lost values.
    pub(super) fn convert_feed(&mut self, id: SitemapId) {
        let Some(sitemap) = self.document.sitemap(id) else { return };
        let Form::Feed(feed) = sitemap.form else { return };
        let mut quirks = sitemap.quirks.iter();
        let left = quirks.find(|quirk| matches!(quirk.kind, Defect::Feed | Defect::FeedOld));
        let left = left.map(|quirk| &*quirk.what).filter(|what| !what.is_empty());
        let left = left.map_or_else(String::new, |left| format!("; not carried over: {left}"));
        self.losses.push(format!("{} becomes a sitemap{left}", feed.name()));
        let without_loc = conversion::without_loc(&self.document, id).next();
        if let Some(row) = without_loc {
            let message =
                "an item of this feed has no link, but a sitemap entry needs a URL: enter one, or delete the row"
                    .to_owned();
            self.problem(Some(row), message);
        }
        self.document.set_form(id, Form::Xml);
    }

    /// Whether the whole set is one text list. Its parts are numbered lists without an index: text sitemaps are
    /// submitted one by one (sitemaps.org protocol, "Text file").
    pub(super) fn is_list_alone(&self) -> bool {
        let document = self.request.document;
        let is_list = document.only_sitemap().is_some_and(|only| only.frame.names.kind == FileKind::List);
        document.index().is_none() && is_list
    }

    /// Refuses to split one of several files without an index, since nothing would list the new parts.
    pub(super) fn refuses_parts(&mut self, parts: &[(SitemapId, SitemapId)]) -> bool {
        let document = self.request.document;
        if parts.is_empty() || document.index().is_some() || document.only_sitemap().is_some() {
            return false;
        }
        let message =
            "a file is over its limits, and several files without an index cannot be split; open that file by itself";
        self.problem(None, message.to_owned());
        true
    }

    /// Counts changed values that their files cannot hold, and refuses lines without a URL.
    pub(super) fn check_form_losses(&mut self) {
        let document = self.request.document;
        let mut lost: BTreeMap<SitemapId, Losses> = BTreeMap::new();
        let mut empty = None;
        if document.sitemaps().iter().all(|sitemap| sitemap.frame.names.kind.is_xml()) {
            return;
        }
        for row in document.compare(self.request.saved).maybe_different().iter().map(RowId) {
            let file = document.sitemap_of(row);
            let kind = document.sitemap(file).map(|sitemap| sitemap.frame.names.kind).unwrap_or_default();
            if kind.is_xml() || !document.is_live(row) {
                continue;
            }
            for field in conversion::unwritable(document, row) {
                // Unchanged values were lost with consent in an earlier save.
                if self.request.to.is_some() || document.compare(self.request.saved).field_differs(row, field) {
                    let counts = &mut lost.entry(file).or_default().fields;
                    if let Some(count) = counts.get_mut(field.index()) {
                        *count += 1;
                    }
                }
            }
            if kind == FileKind::List && document.loc(row).trim().is_empty() {
                empty.get_or_insert(row);
            }
        }
        for (id, losses) in lost {
            let Some(sitemap) = document.sitemap(id) else { continue };
            self.losses.push(format!("{} cannot be written to {}", losses.words(), sitemap.form.name()));
        }
        if let Some(row) = empty {
            self.problem(Some(row), "a line of a text list needs a URL: enter one, or delete the row".to_owned());
        }
    }

    /// Refuses to overwrite a feed.
    pub(super) fn refuse_feeds(&mut self, outputs: &[Output]) {
        for output in outputs.iter().filter(|output| output.action == Action::Rewritten) {
            let super::FileId::Sitemap(id) = output.file else { continue };
            let Some(Form::Feed(feed)) = self.document.sitemap(id).map(|sitemap| sitemap.form) else { continue };
            let message = format!(
                "{} is {}; sited never overwrites a feed, save it as a sitemap: :write NAME.xml, or -o NAME.xml",
                output.name,
                feed.name()
            );
            self.problem(None, message);
        }
    }
}
