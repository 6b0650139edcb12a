//! session
pub mod command;
