//! Plans a save of one file of a streamed set; the whole plan is made from the results.
//!
//! The result equals the plan of the whole set in memory.

use super::{Plan, Planner, Request, SavedSet};
use crate::document::clear_quirks::mark_written;
use crate::document::sitemap::SitemapId;
use crate::document::split::split_files;
use crate::files::plan::Action;
use std::collections::BTreeSet;

/// Plans a save of one sitemap of a set, in the document of the request, independently of the other files. `None` if
/// its rows would be split into new files.
pub(crate) fn plan_part(request: &Request<'_>, id: SitemapId) -> Option<Plan> {
    let partition = split_files(request.document, Some(request.saved), request.limits);
    if !partition.parts.is_empty() || !partition.oversized.is_empty() {
        return None;
    }
    let mut planner = Planner::new(request, SavedSet::of_one(request, id), partition.document);
    planner.compare();
    let outputs = vec![planner.sitemap_output(id)?];
    let repairs = planner.repairs(&outputs);
    let mut document = planner.document;
    let written = outputs.iter().filter(|output| output.action != Action::Untouched);
    let written: Vec<_> = written.filter_map(|output| output.file.member()).collect();
    mark_written(&mut document, &written, &BTreeSet::new());
    Some(Plan {
        outputs,
        asks: false,
        repairs,
        needs_base: None,
        losses: Vec::new(),
        copy: false,
        problems: Vec::new(),
        document,
        path: None,
    })
}
