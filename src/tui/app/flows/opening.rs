//! Starts the first load, and reloads.

use super::super::operations::view;
use super::super::state::jobs::Part;
use super::super::state::outcome::JobOutcome;
use super::super::state::{Shared, Start};
use super::leave::remove_journal;
use crate::check::robots::RobotsTxt;
use crate::files::journal::StateSlot;
use crate::files::{self, Loaded, Options, Reason};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::robots::robots_txt;
use crate::session::store::background_load::BackgroundLoad;
use crate::session::store::journal;
use crate::session::store::journal::recovery::{self, OpenSet};
use crate::session::store::load::Loader;
use crate::session::store::save;
use crate::tui::app::state::KeyHold;
use crate::tui::jobs::Kind;
use std::path::PathBuf;
use std::sync::Arc;

/// Requests the load.
pub(in crate::tui::app) fn start(shared: &mut Shared, start: Start, options: Options) {
    shared.opening.options = options.clone();
    shared.grid.reset_widths();
    shared.row_counts = None;
    shared.opening.start = Some(start.clone());
    let load = BackgroundLoad::new(&shared.session);
    let loader = load.loader(options);
    shared.opening.path = match &start {
        Start::Path(path) => Some(path.clone()),
        Start::Paths(paths) => paths.first().cloned(),
        Start::Sample => None,
    };
    if let Some(path) = shared.opening.path.clone() {
        let options = shared.opening.options.clone();
        shared
            .jobs
            .run(Kind::Read, false, move |_| JobOutcome::Beginning(files::first_rows(&path, &options, files::LARGE)));
    }
    shared.jobs.spawn(
        Kind::Load,
        Box::new(move |progress: &Progress, part: &dyn Fn(_)| {
            let mut load = load;
            let mut read = |loader: &Loader| {
                let deliver = &mut |file| {
                    let is_last = progress.read().is_complete();
                    if let Some(files) = load.add(file, is_last) {
                        part(Part::Files { files: Box::new(files), is_last });
                    }
                };
                match &start {
                    Start::Path(path) => loader.load(path, progress, deliver),
                    Start::Paths(paths) => loader.load_all(paths, progress, deliver),
                    Start::Sample => Ok(loader.sample(deliver)),
                }
            };
            let loaded = match read(&loader) {
                // No part was delivered yet. The set is read-only, with the reason.
                Err(error) if matches!(error.reason, Reason::Interrupted(_) | Reason::Saving) => {
                    read(&loader.reading_only())
                }
                loaded => loaded,
            };
            if loaded.is_ok() {
                part(Part::Files { files: Box::new(load.complete()), is_last: true });
            }
            JobOutcome::Loaded(loaded)
        }),
    );
}

/// Reads the files again, keeping filter and order.
pub(in crate::tui::app) fn reload(shared: &mut Shared, discard: bool) {
    let (path, paths) = (shared.session.path().cloned(), shared.session.paths().to_vec());
    let opened = if paths.is_empty() { path.map(Start::Path) } else { Some(Start::Paths(paths)) };
    // After a failed load, only the requested path is known.
    let started = shared.opening.start.clone().filter(|started| *started != Start::Sample);
    let Some(opened) = opened.or(started) else {
        return shared.show_note("no file to reload");
    };
    if shared.session.is_modified() && !discard {
        return shared.show_error("there are unsaved changes; :edit! drops them, :write saves them");
    }
    if shared.jobs.is_any_busy() {
        return shared.show_error("something is running; Esc stops it");
    }
    let base = shared.session.base_url().map(ToOwned::to_owned);
    let options = shared.opening.options.clone();
    // A base URL that the user has set since is kept.
    let is_base_recorded = options.is_base_recorded && options.base_url == base;
    open_instead(shared, opened, Options { base_url: base, is_base_recorded, ..options });
}

/// Replaces the set by another. The filter, the order, the profile, the policy and the data stay the same.
pub(in crate::tui::app) fn open_instead(shared: &mut Shared, opened: Start, options: Options) {
    let now = shared.session.view().clock;
    let spec = view::spec(shared).clone();
    let (profile, backups) = (shared.session.view().profile(), save::backups(&shared.session));
    let policy = shared.session.policy().cloned();
    let data = shared.session.view().data.clone();
    remove_journal(shared);
    let watcher = journal::journal_watcher(&shared.session);
    shared.session = Session::new(now, options.base_url.clone());
    journal::watch_journal(&mut shared.session, watcher);
    shared.session.set_profile(profile);
    shared.session.set_policy(policy);
    shared.session.set_site(data, None);
    save::set_backups(&mut shared.session, backups);
    save::set_state_folder(&mut shared.session, options.recovery.state.clone());
    shared.outside.forget();
    shared.opening.view = Some(spec);
    shared.save.is_saved = false;
    let paths: Vec<PathBuf> = match &opened {
        Start::Path(path) => vec![path.clone()],
        Start::Paths(paths) => paths.clone(),
        Start::Sample => Vec::new(),
    };
    shared.opening.options = options.clone();
    shared.jobs.run(Kind::Load, false, move |progress| {
        let robots = robots_txt(&options, &paths);
        let is_stopped = progress.is_cancelled();
        JobOutcome::RobotsRead { start: opened, options: Box::new(options), robots, is_stopped }
    });
}

/// Sets the robots.txt of the set, and reads its files.
pub(in crate::tui::app) fn robots_read(
    shared: &mut Shared,
    opened: Start,
    options: Options,
    robots: Result<Option<Arc<RobotsTxt>>, files::Error>,
) {
    let robots = robots.unwrap_or_else(|error| {
        shared.show_error(format!("{error}; no row is checked against it"));
        None
    });
    let data = shared.session.view().data.clone();
    shared.session.set_site(data, robots);
    // Answers to merge conflicts apply to one load.
    let conflicts = shared.opening.options.conflicts.clone();
    start(shared, opened, options);
    shared.opening.options.conflicts = conflicts;
}

/// The result of a load that was stopped before a file was read.
pub(in crate::tui::app) fn stopped(opened: Start) -> Loaded {
    let (path, paths) = match opened {
        Start::Path(path) => (Some(path), Vec::new()),
        Start::Paths(paths) => (paths.first().cloned(), paths),
        Start::Sample => (None, Vec::new()),
    };
    Loaded { path, paths, stopped: true, ..Loaded::default() }
}

/// Takes the state slot of a new set and reads its journal, before the set is created.
pub(in crate::tui::app) fn create(shared: &mut Shared, path: PathBuf) {
    let (options, clock) = (shared.opening.options.clone(), shared.session.view().clock);
    shared.opening.keys = KeyHold::On;
    shared.jobs.run(Kind::Load, false, move |_| {
        let state_slot = StateSlot::acquire_if_enabled(&options, std::slice::from_ref(&path));
        let set = OpenSet::new_at(path.clone(), clock);
        JobOutcome::Created(path, state_slot.map(|state_slot| Ok(recovery::read(&set, state_slot?))))
    });
}
