//! What follows when the files are read: what is reported and asked of them.

use super::super::App;
use super::super::modes::ask::Ask;
use super::super::operations::view;
use super::super::state::Shared;
use super::super::state::request::Answer;
use super::{conflicts, recovery};
use crate::check::rule::Rule;
use crate::files::journal::{LockedByOther, StateSlot};
use crate::files::{self, Error, Loaded, Reason};
use crate::session::store::load;
use crate::session::store::save;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use crate::words::counted;
use std::path::PathBuf;

pub(in crate::tui::app) fn loaded(app: &mut App, result: Result<Loaded, Error>) {
    app.shared.opening.first_rows = Vec::new();
    match result {
        Ok(mut loaded) => {
            let (stopped, sample) = (loaded.stopped, loaded.path.is_none());
            let state_slot = loaded.state_slot.take();
            app.shared.session.finish(loaded);
            app.shared.grid.follow(&app.shared.session);
            if let Some(spec) = app.shared.opening.view.take() {
                view::show_view(&mut app.shared, spec);
            }
            say_loaded(&mut app.shared, stopped, sample);
            if let Some(state_slot) = state_slot {
                recovery::keep(app, state_slot);
            }
            if load::has_conflicts(&app.shared.session) {
                conflicts::ask_side(&mut app.shared);
            } else if app.shared.session.counts().by_rule().iter().any(|(rule, _)| *rule == Rule::MERGE_CONFLICT) {
                // It was answered just now: the next save writes it.
                conflicts::accept_side(&mut app.shared);
            }
        }
        Err(error) if error.is_missing() && !error.is_folder_missing() => {
            let path = error.path.clone();
            app.ask(Ask::new(
                Words::text(format!("{} does not exist", path.display())),
                vec![Words::text("A new sitemap of that name can be made; it is written when you save.").into()],
                vec![('c', "create it", Answer::Create(path)), ('q', "leave", Answer::Leave(3))],
            ));
        }
        Err(error) if matches!(error.reason, Reason::Conflicts(_)) => {
            conflicts::conflicts_refused(app, &error);
        }
        Err(error) => {
            let mut lines = vec![Line::from(Words::text(error.to_string()))];
            if let Some(hint) = error.hint() {
                lines.push(Words::dim(hint).into());
            }
            app.ask(Ask::new(
                Words::new().and(Role::Error, "this cannot be opened"),
                lines,
                vec![('q', "leave", Answer::Leave(3))],
            ));
        }
    }
}

/// What is reported of the files that were read.
fn say_loaded(shared: &mut Shared, stopped: bool, sample: bool) {
    let files::Recovered { finished, pending } = shared.session.recovered().clone();
    if let Some(pending) = pending {
        let words = pending.to_string();
        if shared.session.read_only().is_none() {
            shared.session.set_read_only("an interrupted save is pending");
        }
        shared.fail(words);
    } else if let [first, rest @ ..] = shared.session.unread() {
        let rest = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        let words = format!("not read: {first}{rest}");
        shared.fail(words);
    } else if let Some(finished) = finished {
        shared.say(finished.to_string());
    } else if stopped {
        shared.say("loading was stopped: what was read can be viewed, not changed");
    } else if let Some(feed) = save::feed(&shared.session) {
        shared.say(format!("{}, read as a sitemap; :write NAME.xml saves it as one", feed.name()));
    } else if let Some(words) = save::set_aside(&shared.session) {
        shared.say(words);
    } else if shared.session.document().lists_sitemaps() {
        let count = counted(u64::from(shared.session.view().urls()), "sitemap");
        shared.say(format!("an index of {count}, none of them here: its entries can be edited"));
    } else if sample {
        shared.say("a sample set to try things on; nothing of it is on your disk");
    }
}

/// A new sitemap begins, at a path where nothing is.
pub(in crate::tui::app) fn created(app: &mut App, path: PathBuf, state_slot: Option<Result<StateSlot, LockedByOther>>) {
    app.shared.opening.is_creating = false;
    load::start_new(&mut app.shared.session, path);
    if let Some(state_slot) = state_slot {
        recovery::keep(app, state_slot);
    }
    app.shared.grid.follow(&app.shared.session);
    app.shared.say("a new sitemap; o adds its first URL");
}
