//! `sited`: a terminal editor for sitemaps, and the same core without a screen.
//!
//! Layers, imports point downwards only (`tests/tidy.rs` checks it):
//!
//! ```text
//! main ─► cli, tui ─► session ─► files, check ─► document ─► xml ─► protocol
//! ```
//!
//! `progress` (counters, cancel flag) may be used by anyone. `files` and `check` do not know each
//! other: the session scans a part, then checks it.

pub mod check;
pub mod cli;
pub mod document;
pub mod files;
pub mod progress;
pub mod protocol;
pub mod session;
pub mod tui;
pub mod xml;
