//! Limits of the protocol, each with its source. Sizes are uncompressed bytes.

/// Maximum number of `<url>` elements in a sitemap file (sitemaps.org protocol, "Using Sitemap index files").
pub const URLS_PER_FILE: u32 = 50_000;

/// Maximum size of a sitemap or index file, in uncompressed bytes: 50 MiB (sitemaps.org protocol; since November 2016).
pub const BYTES_PER_FILE: u64 = 52_428_800;

/// Maximum number of `<sitemap>` elements in an index file (sitemaps.org protocol, "Using Sitemap index files").
pub const SITEMAPS_PER_INDEX: u32 = 50_000;

/// Maximum number of `<news:news>` elements in a file (Google Search Central, News sitemaps).
pub const NEWS_PER_FILE: u32 = 1_000;

/// A `loc` must have fewer characters than this (sitemaps.org protocol, "loc": "less than 2,048 characters").
pub const LOC_CHARACTERS: usize = 2_048;

/// A `loc` has at least this many characters in the schema (sitemap.xsd 0.9, `tLoc` minLength).
pub const LOC_CHARACTERS_MIN: usize = 12;

/// The limits of sitemap and index files; tests use small ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of `<url>` elements in a sitemap file.
    pub urls: u32,
    /// Maximum size of a sitemap file, in uncompressed bytes.
    pub bytes: u64,
    /// Maximum number of `<sitemap>` elements in an index file.
    pub parts: u32,
    /// Maximum size of an index file, in uncompressed bytes.
    pub index_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { urls: URLS_PER_FILE, bytes: BYTES_PER_FILE, parts: SITEMAPS_PER_INDEX, index_bytes: BYTES_PER_FILE }
    }
}
