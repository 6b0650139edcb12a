//! Sitemap XML as bytes with positions: scan, take apart, splice. Parsing never fails.
//!
//! The only layer that names `quick_xml`. No I/O, no clock.

mod entities;
pub mod entry;
pub mod escape;
pub mod feed;
pub mod graft;
pub mod grid;
pub mod markup;
pub mod names;
pub mod oddity;
pub mod parser;
mod pieces;
pub mod plain;
mod prefixes;
pub mod record;
pub mod repair;
pub mod repeat;
pub mod scan;
mod scopes;
pub mod splice;
pub mod tree;
mod wellformed;
