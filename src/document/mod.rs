//! document
pub mod query;
pub mod sort;
