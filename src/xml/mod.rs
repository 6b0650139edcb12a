//! Sitemap XML as bytes with positions: scan, parse, splice, repair. Parsing never fails.
//!
//! The only layer that names `quick_xml`. No I/O, no clock.

pub mod anomaly;
mod entities;
pub mod entry;
pub mod escape;
pub mod extension_edit;
pub mod fast_path;
pub mod feed;
pub mod grid;
pub mod markup;
pub mod multiple_locs;
pub mod names;
mod parallel_scan;
pub mod parser;
mod prefixes;
pub mod record;
pub mod repair;
pub mod scan;
mod scopes;
pub mod splice;
pub mod tree;
mod wellformed;
