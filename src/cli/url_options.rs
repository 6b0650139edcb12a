//! The options for paths that are URLs.

use super::Status;
use clap::Args;
use std::path::PathBuf;

/// How the sitemaps of a URL are downloaded.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "If PATH is a URL")]
pub struct UrlOptions {
    /// How files are downloaded
    #[cfg(feature = "net")]
    #[command(flatten)]
    pub download: super::get_options::DownloadOptions,
}

/// The files of a URL.
pub(super) struct Local {
    pub(super) paths: Vec<PathBuf>,
    /// The URL of their folder, where all are of one site.
    pub(super) base_url: Option<String>,
    /// Whether something is wrong with the delivery.
    pub(super) status: Status,
}

impl UrlOptions {
    /// The first option that was given, as far as it is not the default.
    pub(super) fn first(&self) -> Option<&'static str> {
        #[cfg(feature = "net")]
        return self.download.site.first();
        #[cfg(not(feature = "net"))]
        {
            let Self {} = self;
            None
        }
    }
}
