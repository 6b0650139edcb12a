//! Sitemap XML as bytes with positions: scan, parse, splice, repair. Parsing never fails.
//!
//! The only layer that names `quick_xml`. No I/O, no clock.

pub(crate) mod anomaly;
mod change;
pub(crate) mod damage;
pub(crate) mod defect;
mod element_reader;
pub(crate) mod elements;
mod entities;
pub mod entry;
mod entry_parser;
pub mod escape;
pub(crate) mod extension_edit;
pub(crate) mod fast_path;
pub mod feed;
pub mod grid;
mod instruction;
pub(crate) mod markup;
pub(crate) mod multiple_locs;
pub mod names;
mod noted_elements;
pub(crate) mod parser;
pub(crate) mod placed_entries;
pub mod record;
pub mod repair;
pub mod scan;
mod scopes;
pub mod splice;
pub(crate) mod tree;
mod wellformed;
