//! Tests of the threat model: crafted files of another user must not cause changes or disclose files.
//!
//! An attacker who can write to the folder of a set can put commit records, backups, links, pipes and devices there.
//! The program executes a record without consent only if this user's key authenticates it, and never through a link out
//! of the folder. In the state folder, journals and locks that are not regular files of this user are neither read nor
//! written.

mod backups;
mod journals;
mod locks;
mod records;
mod scene;
mod state;
