//! Sitemap XML as bytes with positions: scan, parse, splice, repair. Parsing never fails.
//!
//! The only layer that names `quick_xml`. No I/O, no clock.

pub mod anomaly;
mod change;
pub mod damage;
pub mod defect;
mod element_reader;
pub mod elements;
mod entities;
pub mod entry;
mod entry_parser;
pub mod escape;
pub mod extension_edit;
pub mod fast_path;
pub mod feed;
pub mod grid;
mod instruction;
pub mod markup;
pub mod multiple_locs;
pub mod names;
pub mod parser;
pub mod record;
pub mod repair;
pub mod scan;
mod scopes;
pub mod splice;
pub mod tree;
mod wellformed;
