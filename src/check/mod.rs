//! Rules, findings and fixes for entries, files, indexes and sets.
//!
//! Checking is a function of its input (the clock is an input); it fails for no text. Nothing here
//! reads files or knows of a screen.

pub mod decision;
pub mod entry;
pub mod entry_reader;
pub mod extension;
pub mod file;
pub mod fix;
pub mod frame;
pub mod index;
pub mod message;
pub mod name;
pub mod policy;
pub mod profile;
pub mod quirk;
pub mod rewrite;
pub mod rule;
mod rules;
#[cfg(test)]
pub(crate) mod samples;
pub mod set;

pub use entry::{Context, check, check_value, revise, rules_of_field};
pub use fix::{Action, Fix, FixedEntry};
pub use message::{Finding, messages, messages_of_value};
pub use profile::Profile;
pub use rule::{FixKind, Rule, RuleSet, RuleSets, Scope};
