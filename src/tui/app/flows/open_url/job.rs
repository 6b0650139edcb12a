//! The job that downloads the sitemaps of a site.

use super::super::super::state::outcome::Download;
use crate::net::address::loopback;
use crate::net::get::{self, Counts, Getter, Options, Summary};
use crate::net::hosts::requestable;
use crate::net::probe::refusal;
use crate::progress::Progress;
use crate::words::counted;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The proposed folder for the files of a URL; `None` if the URL cannot be requested.
pub(super) fn folder_of(url: &str) -> Option<String> {
    Some(get::folder_of(&requestable(url)?).display().to_string())
}

/// Downloads the sitemaps of a URL into a folder. `None` when stopped.
///
/// # Errors
///
/// A message with the reason why no sitemap can be opened.
pub(super) fn download(url: &str, folder: &Path, progress: &Progress) -> Result<Option<Download>, String> {
    let url = requestable(url).ok_or_else(|| format!("{url} is no URL that can be asked"))?;
    if loopback(&url).is_none()
        && let Some(words) = refusal(std::iter::once(&url))
    {
        return Err(format!("{words}; sited get --allow-private downloads it"));
    }
    let is_stopped = Arc::new(AtomicBool::new(false));
    let getter =
        Getter::new(Options::with_defaults(&url), Arc::clone(&is_stopped)).map_err(|error| error.to_string())?;
    let mut counted = Counts::default();
    let summary = getter.run(&url, folder, |counts| {
        progress.expect(counts.files.saturating_sub(counted.files), 0);
        progress.finish_files(counts.done.saturating_sub(counted.done));
        progress.advance_reading(counts.bytes.saturating_sub(counted.bytes));
        counted = *counts;
        is_stopped.fetch_or(progress.is_cancelled(), Ordering::Relaxed);
    });
    let summary = summary.map_err(|error| error.to_string())?;
    if progress.is_cancelled() {
        return Ok(None);
    }
    let words = summary_message(&summary);
    match <[Vec<PathBuf>; 1]>::try_from(summary.sets(folder)) {
        Ok([paths]) => Ok(Some(Download { paths, base_url: summary.base_url, words })),
        Err(sets) if sets.is_empty() => Err(format!("{url}: no sitemap was downloaded{}", reason(&summary))),
        Err(sets) => {
            let (paths, how) = summary.sets_as_one(folder);
            let words = format!("{words}; robots.txt names {} sets; their {how}", sets.len());
            Ok(Some(Download { paths, base_url: None, words }))
        }
    }
}

/// A message with the number of downloaded files, and of skipped files or findings.
fn summary_message(summary: &Summary) -> String {
    let findings = summary.findings.len() as u64;
    let problems = match (summary.counts.skipped, findings) {
        (0, 0) => String::new(),
        (0, _) => format!("; {} about the delivery, sited get names them", counted(findings, "finding")),
        (skipped, _) => format!("; {} not fetched, :open again fetches the rest", counted(skipped, "file")),
    };
    format!("{}{problems}", summary.counts.words())
}

/// The reason why nothing was downloaded: the first finding, else the first skipped host.
fn reason(summary: &Summary) -> String {
    let stopped = summary.stopped.first().map(|(host, why)| format!(": {host} was skipped: {why}"));
    let finding = summary.findings.first().map(|finding| format!(": {}: {}", finding.url, finding.message));
    finding.or(stopped).unwrap_or_default()
}
