//! Reads and writes files: the only layer that touches the file system.
//!
//! Invariant: nothing here changes what it was not asked to change; a file that cannot be read, or written
//! in full, stays as it was. No findings and no edits are made here.

pub mod backup;
mod buffers;
mod children;
mod commit;
mod conflict;
mod contents;
pub(crate) mod dates;
mod decode;
pub(crate) mod detect;
pub mod disk;
mod downloads;
pub(crate) mod error;
pub(crate) mod external_changes;
mod first_rows;
#[cfg(test)]
mod fixture;
mod folder;
mod form;
mod gate;
mod in_place;
mod incoming;
mod index_contents;
mod indexes;
pub(crate) mod journal;
pub(crate) mod load;
mod load_context;
mod load_many;
mod loaded;
mod locate;
mod lock;
mod made_folders;
mod merge_conflict;
mod ordered_pool;
pub(crate) mod plan;
mod pool;
pub(crate) mod read;
mod readback;
mod record;
mod replace_target;
pub(crate) mod sample;
pub(crate) mod save;
mod scan_and_repair;
mod small_files;
mod space;
pub(crate) mod split_history;
pub(crate) mod spool;
mod stored_name;
mod stream;
mod temporary;
mod tree;
mod trust;
mod unlisted;
mod unpack;
pub(crate) mod verify;

pub use backup::Backups;
pub use buffers::Buffers;
pub use conflict::merge_conflicts;
pub use contents::{FileContents, contents_of};
pub use disk::{Disk, OnDisk};
#[cfg(feature = "net")]
pub(crate) use downloads::DOWNLOADS;
pub use error::{Error, Reason};
pub use first_rows::{FirstRow, LARGE, first_rows};
pub use folder::{FOLDER_NAMES, all_in_folder, in_folder, is_sitemap_file};
pub use incoming::{Incoming, IncomingFolder};
pub use load::{load, load_many};
pub use load_many::is_multi_file;
pub use loaded::{FileInfo, Loaded, LoadedFile};
pub use locate::{base_url_error, folder_url, missing_folder, stored_path};
pub use merge_conflict::{Answers, Conflicts, MergeConflict, Side};
pub use ordered_pool::in_order;
pub use plan::{
    Action, FileId, Output, Plan, Problem, Repairs, Request, export, in_xml, main_path, main_paths, plan, plan_part,
    relocate,
};
pub use pool::{Pool, start_pool};
pub use read::{Options, RobotsFile, read};
pub use record::{
    Finished, Pending, PendingSave, PendingStep, RecordAction, Recovered, Recovery, discard, finish, inspect,
    pending_records, recover,
};
pub use sample::{blank, sample};
pub use save::{IncrementalSave, SaveMode, Saved, save, save_as_asked};
pub use small_files::{
    AtomicFile, is_there, names_in, read_robots, read_table, read_text, robots_beside, write_atomic,
};
pub use split_history::SplitHistory;
pub use stream::is_stream;
