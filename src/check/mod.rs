//! Rules, findings and fixes for entries, files, indexes and sets.
//!
//! Checks are pure functions (the clock is an input) and cannot fail for any text. Nothing here reads files or depends
//! on a user interface.

pub(crate) mod action;
mod context;
pub mod decision;
pub(crate) mod entry;
pub mod entry_reader;
pub(crate) mod extension;
mod fields;
pub(crate) mod file;
pub(crate) mod finding;
pub(crate) mod fix;
pub(crate) mod frame;
pub(crate) mod index;
pub(crate) mod message;
pub(crate) mod name;
pub(crate) mod policy;
pub(crate) mod quirk;
pub(crate) mod rewrite;
pub(crate) mod robots;
pub mod rule;
#[cfg(test)]
pub(crate) mod samples;
pub mod set;
pub(crate) mod site;
mod site_entry;
mod value_fix;
mod value_message;
pub(crate) mod value_messages;

pub use action::{Action, Fix};
pub use context::Context;
pub use entry::check;
pub use finding::Position;
pub use message::messages;
pub use rule::{FixKind, Profile, Rule, RuleSet, Scope};

pub(crate) use fields::{check_value, rules_of_field};
pub(crate) use finding::{ExtensionPart, Finding, FindingTarget};
