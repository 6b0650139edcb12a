//! The threat model as a table: files that somebody else put into a folder, and what they must not make the program do.
//!
//! Whoever wrote the folder of a set may have put anything there: commit records, backups, links, pipes, devices. Only
//! what this user's own key authenticates is carried out unasked, and even that never leaves the folder through a link.
//! In the state folder, journals and locks that are not this user's own regular files are neither read nor written.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[path = "threat_model/backups.rs"]
mod backups;
#[path = "threat_model/journals.rs"]
mod journals;
#[path = "threat_model/locks.rs"]
mod locks;
#[path = "threat_model/records.rs"]
mod records;
#[path = "threat_model/scene.rs"]
mod scene;
#[path = "threat_model/state.rs"]
mod state;

mod support;
