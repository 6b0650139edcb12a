//! Tests that allocations and peak memory of whole commands grow linearly on hostile inputs (n, 2n and 4n repetitions).
//!
//! Growth of work that allocates nothing is counted in the library (`cli::tests::growth`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "growth/entries.rs"]
mod entries;
#[path = "growth/measure.rs"]
mod measure;
#[path = "growth/outputs.rs"]
mod outputs;
#[path = "growth/sets.rs"]
mod sets;
#[path = "growth/single_file.rs"]
mod single_file;
