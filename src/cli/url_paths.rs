//! Paths that are URLs: their sitemaps are downloaded and read as files.

use super::args::{Check, List, Open};
use super::diff::Diff;
use super::stats::Stats;
use super::url_options::{DownloadedSet, UrlOptions};
use super::{Failure, Status, Streams};
use std::path::{Path, PathBuf};

/// Whether a path is a URL. A file of such a name must be written as `./http:…`.
pub(super) fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy().to_ascii_lowercase();
    text.starts_with("http://") || text.starts_with("https://")
}

/// `sited check`, whose paths may be URLs.
pub(super) fn check(check: &Check, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if !check.paths.iter().any(|path| is_url(path)) {
        return super::check::run(check, streams);
    }
    let mut check = check.clone();
    let (base_url, status) = download_urls(&mut check.paths, &check.url, streams)?;
    check.common.base_url = check.common.base_url.or(base_url);
    Ok(super::check::run(&check, streams)?.worst_of(status))
}

/// `sited list`, whose paths may be URLs.
pub(super) fn list(list: &List, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if !list.paths.iter().any(|path| is_url(path)) {
        return super::list::run(list, streams);
    }
    let mut list = list.clone();
    let (base_url, status) = download_urls(&mut list.paths, &list.url, streams)?;
    list.common.base_url = list.common.base_url.or(base_url);
    Ok(super::list::run(&list, streams)?.worst_of(status))
}

/// `sited stats`, whose paths may be URLs.
pub(super) fn stats(stats: &Stats, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if stats.merge || !stats.paths.iter().any(|path| is_url(path)) {
        return super::stats::run(stats, streams);
    }
    let mut stats = stats.clone();
    let (base_url, status) = download_urls(&mut stats.paths, &stats.url, streams)?;
    stats.common.base_url = stats.common.base_url.or(base_url);
    Ok(super::stats::run(&stats, streams)?.worst_of(status))
}

/// `sited diff`, whose paths may be URLs.
pub(super) fn diff(diff: &Diff, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let (mut old, mut new) = (vec![diff.old.clone()], vec![diff.new.clone()]);
    let (_, of_old) = download_urls(&mut old, &diff.url, streams)?;
    let (_, of_new) = download_urls(&mut new, &diff.url, streams)?;
    Ok(super::diff::run(diff, (&old, &new), streams)?.worst_of(of_old).worst_of(of_new))
}

/// Downloads the paths that are URLs into temporary folders, which are removed when the run ends, and replaces them by
/// the paths of the downloaded files. Returns the base URL if there is only one path, and the worst status.
fn download_urls(
    paths: &mut Vec<PathBuf>,
    options: &UrlOptions,
    streams: &mut Streams<'_>,
) -> Result<(Option<String>, Status), Failure> {
    let (mut base_url, mut status) = (None, Status::Fine);
    let is_alone = paths.len() == 1;
    for path in std::mem::take(paths) {
        if is_url(&path) {
            let set = download_temporary(&path.to_string_lossy(), options, streams)?;
            base_url = set.base_url.filter(|_| is_alone);
            status = status.worst_of(set.status);
            paths.extend(set.paths);
        } else {
            paths.push(path);
        }
    }
    Ok((base_url, status))
}

#[cfg(feature = "net")]
fn download_temporary(url: &str, options: &UrlOptions, streams: &mut Streams<'_>) -> Result<DownloadedSet, Failure> {
    let failed = |error| crate::files::Error::system("make a folder in", &std::env::temp_dir(), error);
    let folder = tempfile::Builder::new().prefix("sited-").tempdir().map_err(failed)?;
    let set = super::get::download_to_temporary(url, folder.path(), &options.download, streams)?;
    streams.downloads.folders.push(folder);
    Ok(set)
}

#[cfg(not(feature = "net"))]
fn download_temporary(url: &str, _: &UrlOptions, _: &mut Streams<'_>) -> Result<DownloadedSet, Failure> {
    Err(without_net(url))
}

/// Downloads the only path of the screen, if it is a URL, into a permanent folder: `--into`, or one named after the
/// host.
pub(super) fn download_for_screen(open: &Open, streams: &mut Streams<'_>) -> Result<Option<DownloadedSet>, Failure> {
    let [path] = open.paths.as_slice() else { return Ok(None) };
    if !is_url(path) {
        return Ok(None);
    }
    download_to_keep(&path.to_string_lossy(), open, streams).map(Some)
}

#[cfg(feature = "net")]
fn download_to_keep(url: &str, open: &Open, streams: &mut Streams<'_>) -> Result<DownloadedSet, Failure> {
    super::get::download_to_keep(url, open.into.as_deref(), &open.url.download, streams)
}

#[cfg(not(feature = "net"))]
fn download_to_keep(url: &str, _: &Open, _: &mut Streams<'_>) -> Result<DownloadedSet, Failure> {
    Err(without_net(url))
}

#[cfg(not(feature = "net"))]
fn without_net(url: &str) -> Failure {
    let message = format!("{url}: this build of sited cannot send requests (feature net is disabled)");
    Failure::Usage(message, "download the files with another program, then name the folder".to_owned())
}
