//! The options of `sited get`.

use super::options::size;
use super::site_options::{SiteOptions, seconds};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `sited get`.
#[derive(Debug, Args)]
#[command(after_help = "A second run downloads only what has changed, and keeps files that you have changed.\n\
                  Exit status: 0 everything is there, 1 something is missing or was kept, 2 usage error, 3 nothing was downloaded.\n\n\
                  Examples:\n  sited get https://example.com/\n  sited get https://example.com/sitemap_index.xml\n  \
                  sited get https://example.com/sitemap.xml --into public/\n  \
                  sited get https://example.com/sitemap.xml --allow-host cdn.example.com --rate 1")]
pub struct Get {
    /// The URL of a sitemap, a sitemap index or a site; the sitemaps of a site are found by robots.txt or at the usual
    /// paths
    #[arg(value_name = "URL")]
    pub url: String,
    /// Write into DIR, created if it does not exist [default: a folder named after the host]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Replace files that you changed or that were there before
    #[arg(long)]
    pub force: bool,
    /// Maximum size of a file, uncompressed: 52428800, 50MiB or 50MB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "52428800")]
    pub max_bytes: u64,
    /// How the files are downloaded
    #[command(flatten)]
    pub download: DownloadOptions,
}

/// How files are downloaded.
#[derive(Debug, Clone, Args)]
pub struct DownloadOptions {
    /// Cancel a request when the server sends nothing for this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    pub timeout: Duration,
    /// Maximum time for one file, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "600")]
    pub max_time: Duration,
    /// How requests are sent to the site
    #[command(flatten)]
    pub site: SiteOptions,
}
