//! The options of `sited get`.

use super::options::size;
use super::site_options::{SiteOptions, seconds};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `sited get`.
#[derive(Debug, Args)]
#[command(after_help = "A second run asks only for what has changed, and keeps files that you have changed.\n\
                  Exit status: 0 everything is there, 1 something is missing or was kept, 2 wrong usage, 3 nothing was got.\n\n\
                  Examples:\n  sited get https://example.com/\n  sited get https://example.com/sitemap_index.xml\n  \
                  sited get https://example.com/sitemap.xml --into public/\n  \
                  sited get https://example.com/sitemap.xml --allow-host cdn.example.com --rate 1")]
pub struct Get {
    /// The URL of a sitemap or a sitemap index, or of a site: then robots.txt says where its sitemaps are, or they are looked
    /// for at the usual paths
    #[arg(value_name = "URL")]
    pub url: String,
    /// Write into DIR, which is made if it does not exist; else into a folder with the name of the host
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Replace files that were changed here, or were there before
    #[arg(long)]
    pub force: bool,
    /// The most bytes that a file may have, uncompressed: 52428800, 50MiB or 50MB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "52428800")]
    pub max_bytes: u64,
    /// How the files are downloaded
    #[command(flatten)]
    pub download: DownloadOptions,
}

/// How files are downloaded.
#[derive(Debug, Clone, Args)]
pub struct DownloadOptions {
    /// The most seconds in which a server may send nothing
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    pub timeout: Duration,
    /// The most seconds that one file may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "600")]
    pub max_time: Duration,
    /// How the site is asked
    #[command(flatten)]
    pub site: SiteOptions,
}
