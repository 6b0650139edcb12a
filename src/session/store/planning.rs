//! Plans a save on another thread.

use crate::document::Document;
use crate::document::diff::Diff;
use crate::document::form::Form;
use crate::files::{self, Action, Disk, Plan, Request};
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::Limits;
use crate::session::Session;
use crate::session::store::save;
use crate::session::store::verify::Inspection;
use std::path::{Path, PathBuf};

/// Maximum number of lines of the index that a plan shows.
const MAX_INDEX_LINES: usize = 6;

/// The state that is needed to plan a save on a worker.
#[derive(Debug, Clone)]
pub(crate) struct Planning {
    document: Document,
    saved: Document,
    disk: Disk,
    to: Option<PathBuf>,
    /// The form of a copy, if its name is for another form than the document's.
    form: Option<Form>,
    base_url: Option<String>,
    now: Now,
    version: u64,
}

/// A planned save.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The first lines of the diff of the index.
    pub index: Diff,
    /// The topmost folder that saving would create.
    pub missing_folder: Option<PathBuf>,
    version: u64,
}

/// Prepares planning a save on a worker; `to` is another path.
pub(crate) fn of_session(session: &Session, to: Option<&Path>) -> Planning {
    Planning {
        document: session.document().clone(),
        saved: session.current.saved.clone(),
        disk: session.disk.clone(),
        to: to.map(Path::to_path_buf),
        form: to.and_then(|path| save::other_form(session, path)),
        base_url: session.base_url().map(ToOwned::to_owned),
        now: session.current.clock,
        version: session.current.state.version,
    }
}

/// Whether a plan is for the current document.
pub(crate) fn is_planned(session: &Session, planned: &Planned) -> bool {
    planned.version == session.current.state.version
}

impl Planning {
    /// Plans the save. `None` if cancelled.
    pub(crate) fn run(&self, progress: &Progress) -> Option<Planned> {
        let request = Request {
            known: &[],
            document: &self.document,
            saved: &self.saved,
            disk: &self.disk,
            to: self.to.as_deref(),
            base_url: self.base_url.as_deref(),
            limits: Limits::default(),
            now: self.now,
        };
        let plan = match (&self.to, self.form) {
            (Some(path), Some(form)) => files::export(&request, path, form),
            _ => files::plan(&request),
        };
        if progress.is_cancelled() {
            return None;
        }
        let mut index = Diff::default();
        let inspection = Inspection::new(plan, self.saved.clone(), self.disk.clone());
        let plan = inspection.plan();
        for output in plan.outputs.iter().filter(|output| output.action == Action::Rewritten) {
            if plan.index_file(output.file).is_none() {
                continue;
            }
            let diff = inspection.diff(output, MAX_INDEX_LINES);
            index.lines.extend(diff.lines);
            index.more += diff.more;
        }
        let plan = inspection.into_plan();
        let missing_folder = plan.path.as_deref().and_then(files::missing_folder);
        (!progress.is_cancelled()).then_some(Planned { plan, index, missing_folder, version: self.version })
    }

    /// Plans the save for verification. `None` if cancelled.
    pub(crate) fn inspection(&self, progress: &Progress) -> Option<Inspection> {
        let Planned { plan, .. } = self.run(progress)?;
        Some(Inspection::new(plan, self.saved.clone(), self.disk.clone()))
    }
}
