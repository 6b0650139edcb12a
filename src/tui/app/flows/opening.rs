//! Begins to read files, for the first time or again.

use super::super::state::jobs::Part;
use super::super::state::outcome::JobOutcome;
use super::super::state::{Shared, Start};
use super::leave::remove_journal;
use crate::check::site::Site;
use crate::files::journal::StateSlot;
use crate::files::{self, Options, Reason};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::store::journal;
use crate::session::store::journal::recovery::{self, OpenSet};
use crate::session::store::load::Loader;
use crate::session::store::save;
use crate::tui::jobs::Kind;
use std::path::PathBuf;

/// Begins: asks for the load.
pub(in crate::tui::app) fn start(shared: &mut Shared, start: Start, options: Options) {
    shared.opening.options = options.clone();
    shared.grid.forget_widths();
    shared.row_counts = None;
    shared.opening.start = Some(start.clone());
    let loader = shared.session.loader(options);
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
            let load = |loader: &Loader| match &start {
                Start::Path(path) => loader.load(path, progress, &mut |one| part(Part::File(Box::new(one)))),
                Start::Paths(paths) => loader.load_all(paths, progress, &mut |one| part(Part::File(Box::new(one)))),
                Start::Sample => Ok(loader.sample(&mut |one| part(Part::File(Box::new(one))))),
            };
            JobOutcome::Loaded(match load(&loader) {
                // No part was delivered yet. It can be looked at, and the reason is in the way of any change.
                Err(error) if matches!(error.reason, Reason::Interrupted(_) | Reason::Saving) => {
                    load(&loader.reading_only())
                }
                loaded => loaded,
            })
        }),
    );
}

/// Reads the files again, keeping filter and order.
pub(in crate::tui::app) fn reload(shared: &mut Shared, discard: bool) {
    let (path, paths) = (shared.session.path().cloned(), shared.session.paths().to_vec());
    let opened = if paths.is_empty() { path.map(Start::Path) } else { Some(Start::Paths(paths)) };
    // After a load that failed, what was asked for is all that is known.
    let started = shared.opening.start.clone().filter(|started| *started != Start::Sample);
    let Some(opened) = opened.or(started) else {
        return shared.say("no file to reload");
    };
    if shared.session.is_modified() && !discard {
        return shared.fail("there are unsaved changes; :edit! drops them, :write saves them");
    }
    if shared.jobs.is_any_busy() {
        return shared.fail("something is running; Esc stops it");
    }
    let base = shared.session.base_url().map(ToOwned::to_owned);
    let now = shared.session.view().clock;
    let spec = shared.session.view().spec().clone();
    let (profile, backups) = (shared.session.view().profile(), save::backups(&shared.session));
    let policy = shared.session.policy().cloned();
    let view = shared.session.view();
    let (data, robots) = (view.data.clone(), view.checks.site().and_then(Site::robots).cloned());
    remove_journal(shared);
    let watcher = journal::journal_watcher(&shared.session);
    shared.session = Session::new(now, base);
    journal::watch_journal(&mut shared.session, watcher);
    shared.session.set_profile(profile);
    shared.session.set_policy(policy);
    shared.session.set_site(data, robots);
    save::set_backups(&mut shared.session, backups);
    save::set_state_folder(&mut shared.session, shared.opening.options.recovery.state.clone());
    shared.outside.forget();
    shared.opening.view = Some(spec);
    shared.save.is_saved = false;
    let options = shared.opening.options.clone();
    start(shared, opened, options);
}

/// Takes the state slot of a new set and reads its journal; the set is there when that is known.
pub(in crate::tui::app) fn create(shared: &mut Shared, path: PathBuf) {
    let (options, clock) = (shared.opening.options.clone(), shared.session.view().clock);
    shared.opening.holds_keys = true;
    shared.jobs.run(Kind::Load, false, move |_| {
        let state_slot = StateSlot::wanted(&options, std::slice::from_ref(&path));
        let set = OpenSet::new_at(path.clone(), clock);
        JobOutcome::Created(path, state_slot.map(|state_slot| Ok(recovery::read(&set, state_slot?))))
    });
}
