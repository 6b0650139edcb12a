//! lastmod
