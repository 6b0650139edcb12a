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
    /// The URL of their folder, if all are of one site.
    pub base_url: Option<String>,
    /// The message about the download.
    pub words: String,
}

/// The result of a job.
#[derive(Debug)]
pub enum JobOutcome {
    /// The robots.txt of the next set was read.
    RobotsRead {
        /// The set to open.
        start: Start,
        /// The options for reading its files.
        options: Box<Options>,
        /// The file, if there is one.
        robots: Result<Option<Arc<RobotsTxt>>, Error>,
        /// Whether the job was stopped.
        is_stopped: bool,
    },
    /// The sitemaps of a site were downloaded; `Ok(None)` if the job was stopped.
    Downloaded {
        /// Whether unsaved changes are dropped.
        discard: bool,
        /// The files, or the reason why there are none.
        result: Result<Option<Download>, String>,
    },
    /// The files were read.
    Loaded(Result<Loaded, Error>),
    /// The files and their journal were read; `None` if reading the journal was stopped.
    JournalRead(Loaded, Option<JournalRead>),
    /// The changes of an earlier session were replayed; `None` if the job was stopped.
    Replayed(Option<Box<Replayed>>),
    /// The first rows of a large file that is still being read.
    Beginning(Vec<FirstRow>),
    /// A view was computed; `None` if the job was stopped.
    View {
        /// The ticket of the request.
        ticket: u64,
        /// The version of the document.
        version: u64,
        /// The filter and sort keys.
        spec: ViewSpec,
        /// The rows.
        view: Option<View>,
    },
    /// The preview of a command.
    Preview {
        /// The ticket of the request.
        ticket: u64,
        /// The preview; `None` if the job was stopped.
        preview: Option<Preview>,
    },
    /// The merge conflicts of the set.
    Conflicts(Result<Vec<MergeConflict>, Error>),
    /// A prepared change.
    Edited(Result<Prepared, EditError>),
    /// The end of a search.
    Found {
        /// The ticket of the request.
        ticket: u64,
        /// The hit, if any.
        hit: Hit,
    },
    /// The plan of a save.
    Planned {
        /// The ticket of the request.
        ticket: u64,
        /// The plan; `None` if the job was stopped.
        planned: Option<Planned>,
        /// Whether another process holds a lock that the save needs.
        locks: Result<(), EditError>,
    },
    /// The locks of a save were acquired.
    Claimed {
        /// The save.
        pending: Box<PendingSave>,
        /// Whether the save stops if other programs have changed files of the set.
        looks: bool,
        /// The locks; `None` if the job was stopped.
        claimed: Option<Result<Claimed, EditError>>,
    },
    /// The files were written.
    Saved(Box<SaveResult>),
    /// The unsaved changes.
    Pending {
        /// The ticket of the request.
        ticket: u64,
        /// The changes; `None` if the job was stopped.
        pending: Option<Pending>,
    },
    /// The diff of each file that a save would write.
    Diffs(Option<Vec<FileDiff>>),
    /// The proof of each file of a save.
    Proved(Option<Vec<Proof>>),
    /// The result of a check for changes by other programs.
    DiskChecked {
        /// The epoch of the check; results of earlier epochs are dropped.
        ticket: u64,
        /// The changed files.
        outside: OutsideChanges,
        /// Whether the user requested the check.
        is_requested: bool,
    },
    /// A save did not start, because other programs have changed files.
    HeldBack(OutsideChanges),
    /// Large entries were read.
    Read(Box<LargeRows>),
    /// The content of a folder whose path is being typed.
    Listed(Listing),
    /// The comparison with the files on disk, or the reason why they cannot be merged.
    Compared(Result<Box<Compared>, String>),
    /// A prepared merge; `None` if the job was stopped.
    Merged(Option<Box<Merged>>),
    /// The rows that a command marks or unmarks.
    MarkRows {
        /// The rows; `None` if the job was stopped.
        rows: Option<RowSet>,
        /// Whether they are marked.
        on: bool,
    },
    /// Tables that were read, with a message about them; `Ok(None)` if the job was stopped.
    DataRead(Result<Option<(Arc<DataSet>, String)>, EditError>),
    /// The message about the end of `:probe`.
    Probed(Result<String, String>),
    /// URLs of the data that no row has; `None` if the job was stopped.
    Missing(Option<Vec<NewUrl>>),
    /// The number of rows that the data covers; `None` if the job was stopped.
    Covered(Option<Coverage>),
    /// Every row was rechecked.
    Rechecked(Result<Box<Rechecked>, EditError>),
    /// Findings of rows, counted by file; `None` if the job was stopped.
    Counted(Option<CountsByFile>),
    /// The prepared change that resolves merge conflicts.
    SideAccepted(Result<Prepared, EditError>),
    /// The journal for a new set at this path; `None` without a state folder.
    Created(PathBuf, Option<Result<JournalRead, LockedByOther>>),
    /// Findings or a rule were written, with a message.
    Reported(Result<String, EditError>),
    /// Answers of `:probe` were written to a file, or were not.
    AnswersWritten {
        /// Number of batches of answers, from the first.
        batches: usize,
        /// The message about it.
        result: Result<String, EditError>,
    },
}
