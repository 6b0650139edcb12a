//! `sited`: a terminal editor for sitemaps, and the same core without a screen.
//!
//! Layers, imports point downwards only (`tests/tidy.rs` checks it):
//!
//! ```text
//! main ─► cli, tui ─► session, net ─► files, check ─► document ─► xml, data ─► protocol
//! ```
//!
//! `progress` (counters, cancel flag), `words` (numbers and values for people), `visible` (control characters as
//! signs), `persistent` (arrays whose versions share pages), `file_bytes` (memory for a file), `buffer_pool` (buffers whose
//! memory is used again) and `manual` (its pages) may be used by anyone. `files` and `check` do not know each other: the
//! session hands the loader a visitor that checks each entry as it is scanned.
//!
//! Invariants, each held by a test (`ARCHITECTURE.md` says where):
//!
//! * **I1** `head ++ entries ++ tail` are the file's bytes, for all inputs.
//! * **I2** An entry without overrides is written by copying its bytes.
//! * **I3** Undoing everything gives the original bytes, and a save then writes nothing.
//! * **I4** `document`, `check`, `xml` and `protocol` use no file system, clock, thread or terminal.
//! * **I5** Only `xml` names `quick_xml`, only `tui` `ratatui` and `crossterm`, only `cli` `clap`,
//!   only `net` opens sockets.
//! * **I6** Drawing takes `&App`; it changes nothing.
//! * **I7** Records, sizes and findings equal those recomputed from the text.

pub mod buffer_pool;
pub mod check;
pub mod cli;
mod data;
pub mod document;
pub mod file_bytes;
pub mod files;
pub mod manual;
#[cfg(feature = "net")]
mod net;
mod persistent;
pub mod progress;
pub mod protocol;
pub mod session;
mod short_bytes;
pub mod tui;
mod visible;
mod words;
pub mod xml;
