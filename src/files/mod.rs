//! Reading and writing files: the only place that touches the file system.
//!
//! Invariant: nothing here changes what it was not asked to change; a file that cannot be read, or written
//! in full, stays as it was. No findings and no edits are made here.

mod ahead;
pub mod backup;
mod beginning;
mod buffers;
mod children;
mod commit;
mod conflict;
mod decode;
pub mod detect;
pub mod disk;
pub mod error;
#[cfg(test)]
mod fixture;
mod form;
mod in_place;
mod indexes;
pub mod journal;
pub mod load;
mod locate;
mod lock;
mod mend;
pub mod outside;
mod own;
pub mod plan;
mod pool;
pub mod read;
mod readback;
mod record;
pub mod sample;
pub mod save;
mod several;
mod space;
pub mod split_history;
pub mod spool;
mod target;
mod tree;
mod trust;
mod unlisted;
mod unpack;
pub mod verify;

pub use ahead::in_order;
pub use backup::Backups;
pub use beginning::{FirstRow, LARGE, first_rows};
pub use buffers::Buffers;
pub use conflict::{Answers, Conflicts, MergeConflict, Side, merge_conflicts};
pub use disk::{Disk, OnDisk};
pub use error::{Error, Reason};
pub use load::{Facts, Loaded, Part, all_in_folder, in_folder, load};
pub use locate::{base_url_error, folder_url, missing_folder};
pub use own::{is_there, names_in, read_text, write_whole};
pub use plan::{
    Action, FileId, Output, Plan, Problem, Repairs, Request, export, in_xml, main_path, main_paths, plan, plan_part,
    relocate,
};
pub use pool::{Pool, start_pool};
pub use read::{Options, is_stream, read};
pub use record::{
    Act, Finished, Pending, PendingSave, PendingStep, Recovered, Recovery, discard, finish, inspect, pending_records,
    recover,
};
pub use sample::{blank, sample};
pub use save::{Batch, Manner, Saved, save, save_as_asked};
pub use several::{is_set, is_sitemap_file, load_all};
pub use split_history::SplitHistory;
