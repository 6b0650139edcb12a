//! `:open URL`: downloads the sitemaps of a site and opens them instead of the current set.

use super::super::App;
use super::super::state::outcome::Download;
#[cfg(feature = "net")]
use super::super::state::outcome::JobOutcome;
use super::super::state::recent::Purpose;
use super::super::state::{Shared, Start};
use super::opening;
use crate::files::Options;
#[cfg(feature = "net")]
use crate::tui::jobs::Kind;

#[cfg(feature = "net")]
mod job;

/// Executes `:open`; asks for the folder if it is not given.
pub(in crate::tui::app) fn open(app: &mut App, url: String, into: Option<String>, discard: bool) {
    let shared = &mut app.shared;
    if !cfg!(feature = "net") {
        let words = "this sited cannot send requests: it was built without the feature net; download the files with \
                     another program, then open their folder";
        return shared.show_error(words);
    }
    if let Err(words) = may_leave(shared, discard) {
        return shared.show_error(words);
    }
    match (into, proposed_folder(&url)) {
        (_, None) => shared.show_error(format!("{url}: expected a URL with http:// or https:// and a host")),
        (None, Some(folder)) => {
            let bang = if discard { "!" } else { "" };
            app.open_line(Purpose::Command, &format!("open{bang} {url} --into {folder}"));
        }
        (Some(folder), Some(_)) => download(shared, url, folder, discard),
    }
}

/// Checks that the set can be replaced.
fn may_leave(shared: &Shared, discard: bool) -> Result<(), &'static str> {
    if shared.session.is_modified() && !discard {
        return Err("there are unsaved changes; :open! drops them, :write saves them");
    }
    if shared.jobs.is_any_busy() {
        return Err("something is running; Esc stops it");
    }
    Ok(())
}

/// Opens the downloaded files, unless the set has been changed since.
pub(in crate::tui::app) fn open_download(shared: &mut Shared, discard: bool, result: Result<Option<Download>, String>) {
    let Download { paths, base_url, words } = match result {
        Ok(Some(download)) => download,
        Ok(None) => return shared.show_note("the download was stopped; what is there is not fetched again by :open"),
        Err(words) => return shared.show_error(words),
    };
    if may_leave(shared, discard).is_err() {
        let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        return shared.show_note(format!(
            "{words}; not opened, because this set was changed meanwhile: sited {}",
            shown.join(" ")
        ));
    }
    let options = Options { base_url, is_base_recorded: false, ..shared.opening.options.clone() };
    let start = match <[_; 1]>::try_from(paths) {
        Ok([path]) => Start::Path(path),
        Err(paths) => Start::Paths(paths),
    };
    opening::open_instead(shared, start, options);
    shared.show_note(words);
}

#[cfg(feature = "net")]
fn proposed_folder(url: &str) -> Option<String> {
    job::folder_of(url)
}

#[cfg(not(feature = "net"))]
fn proposed_folder(_: &str) -> Option<String> {
    None
}

/// Downloads in a job.
#[cfg(feature = "net")]
fn download(shared: &mut Shared, url: String, folder: String, discard: bool) {
    shared.show_note(format!("asking {url}…"));
    shared.jobs.run(Kind::Download, false, move |progress| JobOutcome::Downloaded {
        discard,
        result: job::download(&url, folder.as_ref(), progress),
    });
}

#[cfg(not(feature = "net"))]
fn download(_: &mut Shared, _: String, _: String, _: bool) {}
