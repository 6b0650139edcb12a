//! Sitemap XML as bytes with positions: scan, take apart, splice. Parsing never fails.

pub mod entry;
