//! Finishes a load: reports what was read, and asks about journals and repairs.

use super::super::App;
use super::super::modes::ask::Ask;
use super::super::operations::view;
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::request::Answer;
use super::{conflicts, external_changes, recovery};
use crate::check::rule::Rule;
use crate::files::external_changes::Thoroughness;
use crate::files::journal::LockedByOther;
use crate::files::{self, Error, Loaded, Reason};
use crate::protocol::Severity;
use crate::session::store::journal::recovery::{JournalRead, OpenSet};
use crate::session::store::{journal, load, save};
use crate::tui::app::state::KeyHold;
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use crate::words::counted;
use std::path::PathBuf;

pub(in crate::tui::app) fn finish_load(app: &mut App, result: Result<Loaded, Error>) {
    app.shared.show_first_rows(Vec::new());
    // Reading the journal is fast unless the state folder is slow; then keys do not wait for it.
    app.shared.opening.keys = if result.is_ok() { KeyHold::UntilProgress } else { KeyHold::Off };
    match result {
        Ok(loaded) => read_journal(app, loaded),
        Err(error) if error.is_missing() && !error.is_folder_missing() => {
            let path = error.path.clone();
            app.ask(Ask::new(
                Words::text(format!("{} does not exist", path.display())),
                vec![Words::text("sited can create it; nothing is written until you save.").into()],
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
                Words::new().and(Role::Error, "cannot open this"),
                lines,
                vec![('q', "leave", Answer::Leave(3))],
            ));
        }
    }
}

/// Reads the journal of the files in a job; until then, nothing can be changed.
fn read_journal(app: &mut App, mut loaded: Loaded) {
    let set = match loaded.state_slot.take() {
        None => None,
        // If the set cannot be changed, no journal is read or started; unsaved changes stay for a later session.
        Some(Ok(state_slot)) => OpenSet::loaded(&app.shared.session, &loaded).map(|set| (set, state_slot)),
        Some(Err(held)) => {
            finish(app, loaded);
            return recovery::read_only(app, &held);
        }
    };
    let Some((set, state_slot)) = set else { return finish(app, loaded) };
    app.shared.jobs.run(Kind::Load, false, move |progress| {
        let read = journal::recovery::read(&set, state_slot);
        JobOutcome::JournalRead(loaded, (!progress.is_cancelled()).then_some(read))
    });
}

/// Finishes the load, and offers to recover changes of the journal.
pub(in crate::tui::app) fn journal_read(app: &mut App, mut loaded: Loaded, read: Option<JournalRead>) {
    loaded.stopped |= read.is_none();
    finish(app, loaded);
    if let Some(read) = read {
        recovery::begin(app, read);
    }
}

/// Finishes the load of a set.
fn finish(app: &mut App, loaded: Loaded) {
    app.shared.opening.keys = KeyHold::Off;
    let (stopped, sample) = (loaded.stopped, loaded.path.is_none());
    load::finish_compared(&mut app.shared.session, loaded);
    app.shared.grid.follow(&app.shared.session);
    let requested = app.shared.opening.view.take();
    let spec = requested.unwrap_or_else(|| app.shared.session.view().spec().clone());
    if !spec.is_plain() {
        // A note said that the filter and the order apply later.
        app.shared.message.take_if(|message| message.severity == Severity::Note);
        view::show_view(&mut app.shared, spec);
    }
    report_loaded(&mut app.shared, stopped, sample);
    if load::has_conflicts(&app.shared.session) {
        conflicts::ask_side(&mut app.shared);
    } else if app.shared.session.counts().by_rule().iter().any(|(rule, _)| *rule == Rule::MERGE_CONFLICT) {
        // The user has just resolved them; the next save writes the result.
        conflicts::accept_side(&mut app.shared);
    }
    if std::mem::take(&mut app.shared.outside.is_check_due) {
        external_changes::check_external_changes(&mut app.shared, Thoroughness::Quick, false);
    }
}

/// Shows a message about the load.
fn report_loaded(shared: &mut Shared, stopped: bool, sample: bool) {
    let files::Recovered { finished, pending } = shared.session.recovered().clone();
    if let Some(pending) = pending {
        let words = pending.to_string();
        if shared.session.read_only().is_none() {
            shared.session.set_read_only("an interrupted save is pending");
        }
        shared.show_error(words);
    } else if let [first, rest @ ..] = shared.session.unread() {
        let rest = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        let words = format!("not read: {first}{rest}");
        shared.show_error(words);
    } else if let Some(finished) = finished {
        shared.show_note(finished.to_string());
    } else if stopped {
        shared.show_note("loading was stopped: what was read can be viewed, not changed");
    } else if let Some(feed) = save::feed(&shared.session) {
        shared.show_note(format!("{}, read as a sitemap; :write NAME.xml saves it as one", feed.name()));
    } else if let Some(words) = save::dropped_columns(&shared.session) {
        shared.show_note(words);
    } else if shared.session.document().lists_sitemaps() {
        let count = counted(u64::from(shared.session.view().urls()), "sitemap");
        shared.show_note(format!("an index of {count}, none of them here: its entries can be edited"));
    } else if sample {
        shared.show_note("a sample set to try sited with; it is not on your disk");
    }
}

/// Creates a sitemap at a path without a file.
pub(in crate::tui::app) fn finish_create(
    app: &mut App,
    path: PathBuf,
    read: Option<Result<JournalRead, LockedByOther>>,
) {
    app.shared.opening.keys = KeyHold::Off;
    load::start_new(&mut app.shared.session, path);
    app.shared.grid.follow(&app.shared.session);
    app.shared.show_note("a new sitemap; o adds its first URL");
    // A message about a journal or a lock replaces the note.
    match read {
        Some(Ok(read)) => recovery::begin(app, read),
        Some(Err(held)) => recovery::read_only(app, &held),
        None => {}
    }
}
