//! The download options of commands whose paths may be URLs.

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

/// The downloaded files of a URL.
pub(super) struct DownloadedSet {
    pub(super) paths: Vec<PathBuf>,
    /// The URL of their folder, if all files are from one site.
    pub(super) base_url: Option<String>,
    /// [`Status::Findings`] or [`Status::Files`] if something was wrong with the download.
    pub(super) status: Status,
}

impl UrlOptions {
    /// The first option that is not the default.
    pub(super) fn first_option(&self) -> Option<&'static str> {
        #[cfg(feature = "net")]
        return self.download.site.first_option();
        #[cfg(not(feature = "net"))]
        {
            let Self {} = self;
            None
        }
    }
}
