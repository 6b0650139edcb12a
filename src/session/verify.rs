//! What a save would do, shown before it: proofs and differences, worked out by whoever has a thread.

use super::Session;
use crate::document::Document;
use crate::document::diff::{Diff, unified};
use crate::document::sitemap::SitemapId;
use crate::document::spans::{Pieces, spans};
use crate::files::verify::{Proof, verify};
use crate::files::{Action, Disk, FileId, Plan};
use crate::progress::Progress;
use std::sync::Arc;

/// What is needed to look at a save closely.
#[derive(Debug, Clone)]
pub struct Inspection {
    plan: Plan,
    saved: Document,
    disk: Disk,
}

/// The diff of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Relative to the set's folder.
    pub name: Arc<str>,
    /// What a save does to it.
    pub action: Action,
    /// Its lines.
    pub diff: Diff,
}

impl Session {
    /// A save to be looked at on a worker.
    pub fn inspection(&self, plan: Plan) -> Inspection {
        Inspection { plan, saved: self.now.saved.clone(), disk: self.disk.clone() }
    }

    /// What a plan changes in the index, in at most about `most` lines.
    pub fn index_diff(&self, plan: &Plan, most: usize) -> Diff {
        let (before, after) = Pieces::of_indexes(&self.now.saved, &plan.document);
        unified(&before.bytes(), &after.bytes(), &spans(&before, &after), most)
    }
}

impl Inspection {
    /// Reads the files and proves what would become of them. `None` when cancelled.
    pub fn prove(&self, progress: &Progress) -> Option<Vec<Proof>> {
        verify(&self.plan, &self.saved, &self.disk, progress)
    }

    /// The diffs of the files that would be written, in at most about `most` lines each. `None` when cancelled.
    pub fn diffs(&self, most: usize, progress: &Progress) -> Option<Vec<FileDiff>> {
        let written = self.plan.outputs.iter().filter(|output| output.action != Action::Untouched);
        written
            .map(|output| {
                if progress.is_cancelled() {
                    return None;
                }
                let (plan, saved) = (&self.plan.document, &self.saved);
                let was = || {
                    let path = Some(output.path.as_path());
                    let at = saved.sitemaps().iter().position(|sitemap| sitemap.path.as_deref() == path);
                    at.map_or_else(Pieces::default, |number| Pieces::of(saved, SitemapId(number as u32)))
                };
                let (before, after) = match output.file {
                    FileId::Index => Pieces::of_indexes(saved, plan),
                    FileId::Sitemap(id) => (was(), Pieces::of(plan, id)),
                    FileId::Another(_) => {
                        let index = self.plan.index(output.file);
                        (was(), index.map_or_else(Pieces::default, |index| Pieces::whole(index.source.bytes())))
                    }
                    FileId::Gone => (was(), Pieces::default()),
                };
                let spans = spans(&before, &after);
                let diff = unified(&before.bytes(), &after.bytes(), &spans, most);
                Some(FileDiff { name: Arc::clone(&output.name), action: output.action, diff })
            })
            .collect()
    }
}
