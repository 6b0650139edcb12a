//! The integration tests: one module per subject, linked into one program.
//!
//! Apart from it: `growth`, which counts every allocation of its process, and `tidy`, which reads the sources.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod cases;
mod corpus;
mod crash;
mod data_columns;
#[cfg(unix)]
mod dates;
#[cfg(unix)]
mod disk_full;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(unix)]
mod file_metadata;
mod findings;
mod fix_twice;
mod forms;
#[cfg(feature = "net")]
mod get;
mod headless;
mod input;
mod kill;
#[cfg(feature = "net")]
mod notify;
mod oracle;
mod outputs;
mod outside;
mod parser_oracle;
#[cfg(feature = "net")]
mod probe;
mod pty;
mod real_world_fixes;
#[cfg(unix)]
mod recipes;
mod recovery;
mod replace;
mod robots;
mod roundtrip;
mod rule_boundaries;
mod schema;
#[cfg(all(unix, feature = "net"))]
mod site_acceptance;
mod site_rules;
mod tasks;
#[cfg(unix)]
mod threat_model;
mod wellformed;
