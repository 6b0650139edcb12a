//! changefreq
