//! The options of `sited dates`.

use super::options::Common;
use crate::files::dates::TimeSource;
use clap::Args;
use std::path::PathBuf;

/// `sited dates`.
#[derive(Debug, Args)]
#[command(
    after_help = "sited looks for the source of a page where Hugo, Jekyll, Next and Astro keep it, and at the path of its URL;\n\
                  --map adds other locations. --http sends a request for each URL, as sited probe does, and takes Last-Modified.\n\n\
                  Examples:\n  sited dates public/ --git -o dates.jsonl\n  \
                  sited dates sitemap.xml --git site/ --map '/blog/* = content/blog/*.md' -o dates.jsonl\n  \
                  sited dates public/ --mtime public/ -o dates.jsonl\n  \
                  sited dates public/ --http -o dates.jsonl\n  \
                  sited set public/ lastmod=@modified --data dates.jsonl --where '@modified!=lastmod'"
)]
#[group(id = "time_source", required = true, multiple = false, args = ["git", "mtime", "http"])]
pub struct Dates {
    /// Sitemaps, sitemap indexes, or folders that hold one
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Use the time of the last commit that changed the source; DIR, in a Git repository, contains the sources
    /// [default: .]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub git: Option<PathBuf>,
    /// Use the modification time of the source; DIR contains the sources
    #[arg(long, value_name = "DIR")]
    pub mtime: Option<PathBuf>,
    /// Request the Last-Modified date of each page, within the limits of sited probe
    #[arg(long)]
    pub http: bool,
    /// Where sources are, such as '/blog/* = content/blog/*.md'; may be repeated, and the first existing source counts
    #[arg(long, value_name = "PATTERN = PATH", conflicts_with = "http")]
    pub map: Vec<String>,
    /// Write one JSON line per URL to FILE (- is standard output, the default)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only rows that match the query, such as 'section:blog'
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// List all URLs without a source, instead of the first 5
    #[arg(long)]
    pub all: bool,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
    /// How each URL is requested
    #[cfg(feature = "net")]
    #[command(flatten, next_help_heading = "With --http")]
    pub probing: super::site_options::site_probe::ProbeOptions,
}

impl Dates {
    /// The first given option that needs `--http`.
    pub(super) fn http_option(&self) -> Option<&'static str> {
        #[cfg(feature = "net")]
        return self.probing.first_option();
        #[cfg(not(feature = "net"))]
        {
            let Self { .. } = self;
            None
        }
    }

    /// Where times come from.
    pub(super) fn source(&self) -> TimeSource {
        let folder = self.git.clone().map(TimeSource::Git).or_else(|| self.mtime.clone().map(TimeSource::Folder));
        folder.unwrap_or_else(|| TimeSource::Git(PathBuf::from(".")))
    }
}
