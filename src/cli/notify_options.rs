//! The options of `sited notify`, and how their values are read.

use super::Failure;
use super::options::Common;
use super::site_options::{refuse_private_url, seconds};
use crate::files;
use crate::net::address::loopback;
use crate::net::client::Settings;
use crate::net::indexnow::{ENDPOINT, Key, sendable};
use crate::net::probe::USER_AGENT;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// `sited notify`.
#[derive(Debug, Args)]
#[command(
    after_help = "The key is any text of 8 to 128 letters, digits and hyphens; https://HOST/KEY.txt must contain it.\n\
                  sited records accepted URLs, so that the next run sends only new ones.\n\n\
                  Examples:\n  sited notify old/ public/ --indexnow --key 3f9c0d1e2b7a --dry-run\n  \
                  sited notify old/ public/ --indexnow --key 3f9c0d1e2b7a\n  \
                  sited notify public/ --all --indexnow --key 3f9c0d1e2b7a"
)]
pub struct Notify {
    /// The sitemap, index or folder as it was, and as it is now; one path with --all
    #[arg(required = true, num_args = 1..=2, value_names = ["OLD", "NEW"])]
    pub paths: Vec<PathBuf>,
    /// Send by the IndexNow protocol, to Bing, Yandex, Seznam, Naver and others
    #[arg(long, required = true)]
    pub indexnow: bool,
    /// The key of the site: 8 to 128 letters, digits and hyphens
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub key: Key,
    /// The URL of the key file, by default KEY.txt in the root folder of the host; only URLs in its folder and below
    /// are sent
    #[arg(long, value_name = "URL", value_parser = url)]
    pub key_location: Option<Url>,
    /// Where to send the URLs
    #[arg(long, value_name = "URL", value_parser = url, default_value = ENDPOINT)]
    pub endpoint: Url,
    /// Send all URLs of one set, without those that were accepted before
    #[arg(long)]
    pub all: bool,
    /// Also send URLs that were accepted before
    #[arg(long)]
    pub again: bool,
    /// Record accepted URLs in FILE instead of the state folder
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Maximum time for one request, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    pub timeout: Duration,
    /// Send to hosts whose address is not public, such as 127.0.0.1
    #[arg(long)]
    pub allow_private: bool,
    /// The User-Agent header
    #[arg(long, value_name = "TEXT", default_value = USER_AGENT)]
    pub user_agent: String,
    /// Trust the certificates of this PEM file instead of the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

impl Notify {
    /// The URLs of the command line.
    fn named(&self) -> impl Iterator<Item = &Url> {
        std::iter::once(&self.endpoint).chain(&self.key_location)
    }

    /// Refuses a URL whose address is not public, except a local server that is named on the command line.
    pub(super) fn refuse_private(&self, url: &Url) -> Result<(), Failure> {
        let is_named =
            loopback(url).is_some_and(|server| self.named().filter_map(loopback).any(|named| named == server));
        if self.allow_private || is_named { Ok(()) } else { refuse_private_url(url) }
    }

    /// The settings of the HTTP client.
    pub(super) fn settings(&self) -> Result<Settings, files::Error> {
        let read = |path: &PathBuf| std::fs::read(path).map_err(|error| files::Error::system("read", path, error));
        Ok(Settings {
            user_agent: self.user_agent.clone(),
            headers: Vec::new(),
            credentials: None,
            timeout: self.timeout,
            idle_timeout: None,
            allow_private: self.allow_private,
            loopback: self.named().filter_map(loopback).collect(),
            certificates: self.cacert.as_ref().map(read).transpose()?,
            connections: 1,
        })
    }

    /// The file of accepted URLs; `None` without a state folder.
    pub(super) fn state_file(&self, folder: Option<&Path>) -> Option<PathBuf> {
        self.state.clone().or_else(|| Some(folder?.join("indexnow")))
    }
}

/// Reads a key. The error does not repeat it.
fn key(text: &str) -> Result<Key, String> {
    Key::parse(text).ok_or_else(|| "expected 8 to 128 letters (a-z, A-Z), digits and hyphens".to_owned())
}

/// Reads a URL.
fn url(text: &str) -> Result<Url, String> {
    sendable(text).ok_or_else(|| "expected a URL, such as https://example.com/indexnow".to_owned())
}
