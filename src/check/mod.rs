//! Rules, findings and fixes for entries, files, indexes and sets.
//!
//! Checking is a function of its input (the clock is an input); it fails for no text. Nothing here
//! reads files or knows of a screen.

pub mod action;
mod context;
pub mod decision;
pub mod entry;
pub mod entry_reader;
pub mod extension;
mod fields;
pub mod file;
pub mod fix;
pub mod frame;
pub mod index;
pub mod message;
pub mod name;
pub mod policy;
pub mod quirk;
pub mod rewrite;
pub mod robots;
pub mod rule;
#[cfg(test)]
pub(crate) mod samples;
pub mod set;
pub mod site;
mod site_entry;

pub use action::{Action, Fix};
pub use context::Context;
pub use entry::{check, revise};
pub use fields::{check_value, rules_of_field};
pub use fix::FixedEntry;
pub use message::{Finding, messages, messages_of_value};
pub use rule::{FixKind, Profile, Rule, RuleSet, RuleSets, Scope};
