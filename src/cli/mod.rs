//! The headless half: the command line and what runs without a screen.
//!
//! The same core as the screen does the work; here it is only asked and printed. Invariant: results go
//! to standard output and everything else to standard error.

pub mod args;
pub mod clock;
pub mod output;
