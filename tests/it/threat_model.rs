//! Tests of the threat model: files planted by another user, and what they must not achieve.
//!
//! Whoever wrote the folder of a set may have put anything there: commit records, backups, links, pipes, devices. Only
//! what this user's own key authenticates is carried out unasked, and even that never leaves the folder through a link.
//! In the state folder, journals and locks that are not this user's own regular files are neither read nor written.

mod backups;
mod journals;
mod locks;
mod records;
mod scene;
mod state;
