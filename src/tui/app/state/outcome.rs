//! Outcomes of background jobs.

use super::Start;
use super::find::Hit;
use super::large::LargeRows;
use super::new_urls::NewUrl;
use super::paths::Listing;
use super::preview::Preview;
use crate::check::robots::RobotsTxt;
use crate::data::DataSet;
use crate::document::rows::RowSet;
use crate::document::view::{View, ViewSpec};
use crate::files::external_changes::OutsideChanges;
use crate::files::journal::LockedByOther;
use crate::files::verify::Proof;
use crate::files::{Error, FirstRow, Loaded, MergeConflict, Options};
use crate::session::data::Coverage;
use crate::session::edit::{EditError, Prepared};
use crate::session::policy::Rechecked;
use crate::session::report::CountsByFile;
use crate::session::store::external_changes::{Compared, Merged};
use crate::session::store::journal::locks::Claimed;
use crate::session::store::journal::recovery::JournalRead;
use crate::session::store::journal::replay::Replayed;
use crate::session::store::pending::Pending;
use crate::session::store::planning::Planned;
use crate::session::store::save::{PendingSave, SaveResult};
use crate::session::store::verify::FileDiff;
use std::path::PathBuf;
use std::sync::Arc;

/// Sitemaps that were downloaded.
#[derive(Debug)]
pub struct Download {
    /// The files, one set.
    pub paths: Vec<PathBuf>,
    /// The URL of their folder, where all are of one site.
    pub base_url: Option<String>,
    /// What came of it.
    pub words: String,
}

/// The result of a job.
#[derive(Debug)]
pub enum JobOutcome {
    /// The robots.txt of a set that is opened in the place of another is read.
    RobotsRead {
        /// What is opened.
        start: Start,
        /// How its files are read.
        options: Box<Options>,
        /// The file, if there is one.
        robots: Result<Option<Arc<RobotsTxt>>, Error>,
        /// Whether the load was stopped meanwhile.
        is_stopped: bool,
    },
    /// The sitemaps of a site are downloaded, to be opened; `Ok(None)` if the job was stopped.
    Downloaded {
        /// Whether unsaved changes are dropped.
        discard: bool,
        /// The files, or why there is nothing to open.
        result: Result<Option<Download>, String>,
    },
    /// The files are read.
    Loaded(Result<Loaded, Error>),
    /// The files are read, and so is what the state folder holds for them; `None` if that was stopped.
    JournalRead(Loaded, Option<JournalRead>),
    /// The changes of an earlier session are replayed; `None` if the job was stopped.
    Replayed(Option<Box<Replayed>>),
    /// The first rows of a large file that is still being read.
    Beginning(Vec<FirstRow>),
    /// Rows to show; `None` if the job was stopped.
    View {
        /// Which request it answers.
        ticket: u64,
        /// The version of the document that it was made from.
        version: u64,
        /// What it was made by.
        spec: ViewSpec,
        /// The rows.
        view: Option<View>,
    },
    /// What a command would do.
    Preview {
        /// Which request it answers.
        ticket: u64,
        /// Words and samples; `None` if the job was stopped.
        preview: Option<Preview>,
    },
    /// The merge conflicts of the set.
    Conflicts(Result<Vec<MergeConflict>, Error>),
    /// A change worked out; `Ok(None)` if the job was stopped.
    Edited(Result<Prepared, EditError>),
    /// Where the next hit is.
    Found {
        /// Which request it answers.
        ticket: u64,
        /// What was found.
        hit: Hit,
    },
    /// What a save would do; nothing if the job was stopped.
    Planned {
        /// Which request it answers.
        ticket: u64,
        /// The plan.
        planned: Option<Planned>,
        /// Why another process is in its way, as far as it asks a question.
        locks: Result<(), EditError>,
    },
    /// The locks of a save are taken; it may begin.
    Claimed {
        /// The save.
        pending: Box<PendingSave>,
        /// Whether it is held back where other programs changed files of the set.
        looks: bool,
        /// The locks; `None` if the job was stopped.
        claimed: Option<Result<Claimed, EditError>>,
    },
    /// The files are written.
    Saved(Box<SaveResult>),
    /// What is not saved yet; no changes if the job was stopped.
    Pending {
        /// Which request it answers.
        ticket: u64,
        /// The changes.
        pending: Option<Pending>,
    },
    /// What would differ in each file.
    Diffs(Option<Vec<FileDiff>>),
    /// What a save would do, proved.
    Proved(Option<Vec<Proof>>),
    /// Whether the files are what they were.
    Looked {
        /// Which state of the disk it compares with.
        ticket: u64,
        /// What was found out.
        outside: OutsideChanges,
        /// Whether someone waits for the answer.
        asked: bool,
    },
    /// A save did not begin, because files are not what they were.
    HeldBack(OutsideChanges),
    /// What the screen needs to know of large entries.
    Read(Box<LargeRows>),
    /// What is in a folder whose path is being typed.
    Listed(Listing),
    /// What others wrote, compared; or why it cannot be merged.
    Compared(Result<Box<Compared>, String>),
    /// A merge worked out; `None` if the job was stopped.
    Merged(Option<Box<Merged>>),
    /// The rows that a command marks, or takes the mark off; no rows if the job was stopped.
    Scoped {
        /// The rows.
        rows: Option<RowSet>,
        /// Whether they are marked.
        on: bool,
    },
    /// Tables that were read, with a message about them; `Ok(None)` if the job was stopped.
    DataRead(Result<Option<(Arc<DataSet>, String)>, EditError>),
    /// How the asking of the site ended, in words.
    Probed(Result<String, String>),
    /// URLs of the data that no row has; `None` if the job was stopped.
    Missing(Option<Vec<NewUrl>>),
    /// Which rows the data knows; `None` if the job was stopped.
    Covered(Option<Coverage>),
    /// Every row checked again; `Ok(None)` if the job was stopped.
    Rechecked(Result<Box<Rechecked>, EditError>),
    /// Findings of rows, counted by file; `None` if the job was stopped.
    Counted(Option<CountsByFile>),
    /// The answers to merge conflicts as a change, worked out.
    SideAccepted(Result<Prepared, EditError>),
    /// What the state folder holds for a new set at this path, if there is such a folder.
    Created(PathBuf, Option<Result<JournalRead, LockedByOther>>),
    /// The findings are written, and what was written; `Ok(None)` if the job was stopped.
    Reported(Result<String, EditError>),
    /// Answers of `:probe` were written to a file, or were not.
    AnswersWritten {
        /// How many batches of answers there were, from the first on.
        batches: usize,
        /// The message about it.
        result: Result<String, EditError>,
    },
}
