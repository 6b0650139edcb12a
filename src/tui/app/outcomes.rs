//! Applies the outcomes of jobs to the state.

use super::App;
use super::flows::{
    conflicts, data, external_changes, inspect, loaded, open_url, opening, probe, recovery, rules, save,
};
use super::modes::Mode;
use super::operations::{edit, mark, recheck, view};
use super::state::find::Hit;
use super::state::jobs::Effect;
use super::state::outcome::JobOutcome;
use super::state::preview::Preview;
use crate::tui::app::state::KeyHold;
use crate::tui::jobs::Kind;

/// Takes in the outcome of a job that has ended; `None` if it panicked.
pub(super) fn job_ended(app: &mut App, kind: Kind, outcome: Option<JobOutcome>) {
    app.shared.jobs.ended(kind);
    let Some(outcome) = outcome else {
        match kind {
            Kind::View => app.shared.wanted.view = None,
            Kind::Search => app.shared.wanted.stop_search(),
            Kind::Probe => probe::probed(&mut app.shared, Ok(String::new())),
            // The set stays as it is: it cannot be changed, and what waits in the state folder is not lost.
            Kind::Load | Kind::Edit if std::mem::take(&mut app.shared.opening.keys) != KeyHold::Off => {
                app.shared.session.set_read_only("the journal could not be read");
            }
            Kind::Plan => (app.shared.save.wanted, app.shared.save.then_leave) = (None, false),
            _ => {}
        }
        app.ahead.clear();
        // The panic gave the terminal back, so that its words can be read later.
        app.shared.jobs.effect(Effect::Reclaim);
        let words = "internal error: a background job panicked; your document is unchanged (please report this)";
        return app.shared.fail(words);
    };
    take(app, outcome);
}

/// Takes in an outcome.
pub(super) fn take(app: &mut App, outcome: JobOutcome) {
    match outcome {
        JobOutcome::Loaded(result) => loaded::loaded(app, result),
        JobOutcome::RobotsRead { start, is_stopped: true, .. } => loaded::loaded(app, Ok(opening::stopped(start))),
        JobOutcome::RobotsRead { start, options, robots, .. } => {
            opening::robots_read(&mut app.shared, start, *options, robots);
        }
        JobOutcome::Downloaded { discard, result } => open_url::downloaded(&mut app.shared, discard, result),
        JobOutcome::JournalRead(loaded, read) => loaded::journal_read(app, loaded, read),
        JobOutcome::Replayed(replayed) => recovery::replayed(&mut app.shared, replayed.map(|replayed| *replayed)),
        JobOutcome::Beginning(rows) => {
            let is_wanted = app.shared.session.is_loading() && app.shared.session.view().shown() == 0;
            app.shared.opening.first_rows = if is_wanted { rows } else { Vec::new() };
        }
        JobOutcome::View { ticket, version, spec, view } => {
            view::view_done(&mut app.shared, ticket, version, spec, view);
        }
        JobOutcome::Preview { ticket, preview } => preview.map_or((), |preview| previewed(app, ticket, preview)),
        JobOutcome::Edited(result) => edit::edited(&mut app.shared, result),
        JobOutcome::Found { ticket, hit } => found(app, ticket, hit),
        JobOutcome::Planned { ticket, planned, locks } => save::planned(&mut app.shared, ticket, planned, locks),
        JobOutcome::Claimed { pending, looks, claimed } => save::claimed(&mut app.shared, *pending, looks, claimed),
        JobOutcome::Saved(result) => save::save_done(app, *result),
        JobOutcome::Pending { ticket, pending } => {
            if let Mode::Changes(changes) = app.modes.current_mut()
                && !changes.take(ticket, pending)
            {
                app.modes.close_all();
                app.shared.show_note("no unsaved changes left");
            }
        }
        JobOutcome::Conflicts(conflicts) => conflicts::conflicts_read(app, conflicts),
        JobOutcome::Diffs(diffs) => inspect::diffs_found(app, diffs),
        JobOutcome::Proved(proofs) => inspect::show_proofs(app, proofs),
        JobOutcome::Looked { ticket, outside, asked } => {
            external_changes::show_external_changes(app, ticket, &outside, asked);
        }
        JobOutcome::HeldBack(outside) => external_changes::save_held_back(app, &outside),
        JobOutcome::Listed(listing) => {
            if let Mode::Line(edit) = app.modes.current_mut() {
                edit.take_listing(listing, &app.shared);
            }
        }
        JobOutcome::Compared(result) => external_changes::compared(app, result),
        JobOutcome::Merged(merged) => external_changes::merged(&mut app.shared, merged),
        JobOutcome::Scoped { rows, on } => mark::scoped(&mut app.shared, rows, on),
        JobOutcome::Rechecked(result) => {
            if recheck::rechecked(&mut app.shared, result) {
                data::follow(&mut app.shared);
            }
        }
        JobOutcome::DataRead(read) => data::data_read(&mut app.shared, read),
        JobOutcome::Probed(result) => probe::probed(&mut app.shared, result),
        JobOutcome::Missing(urls) => data::missing_found(app, urls),
        JobOutcome::Covered(coverage) => data::covered(app, coverage),
        JobOutcome::Counted(counts) => counts.map_or((), |counts| rules::counted_by_file(app, counts)),
        JobOutcome::SideAccepted(result) => conflicts::side_accepted(&mut app.shared, result),
        JobOutcome::Created(path, read) => loaded::created(app, path, read),
        JobOutcome::AnswersWritten { batches, result } => probe::answers_written(&mut app.shared, batches, result),
        JobOutcome::Reported(written) => rules::findings_written(&mut app.shared, written),
        JobOutcome::Read(read) => {
            let waiting = app.shared.large.take(*read, app.shared.grid.row);
            if let Some(action) = waiting.filter(|_| app.modes.is_browsing()) {
                app.shared.large.forget();
                app.shared.message = None;
                super::actions::run(app, action, None);
            }
        }
    }
}

/// A preview has come for what is being typed.
fn previewed(app: &mut App, ticket: u64, preview: Preview) {
    match app.modes.current_mut() {
        Mode::Line(edit) => edit.take_preview(ticket, preview),
        Mode::Bulk(bulk) => bulk.take_preview(ticket, preview),
        Mode::Element(edit) => edit.take_preview(ticket, preview),
        _ => {}
    }
}

/// A search has ended.
fn found(app: &mut App, ticket: u64, hit: Hit) {
    let shared = &mut app.shared;
    match (shared.wanted.take_hit(ticket, hit), app.modes.current_mut()) {
        (Some(Hit::At(position, round)), mode) => {
            shared.grid.go(&shared.session, position);
            if round && !matches!(mode, Mode::Line(_)) {
                let down = shared.wanted.last.forward;
                shared.show_note(if down { "search wrapped to the top" } else { "search wrapped to the bottom" });
            }
        }
        // While a query is typed the cursor returns to where the search began, and the line says that there is no match.
        (Some(Hit::Nowhere), Mode::Line(edit)) => {
            edit.no_match = true;
            shared.grid.go(&shared.session, edit.from);
        }
        (Some(Hit::Nowhere), _) => {
            let from = shared.wanted.last.from;
            shared.grid.go(&shared.session, from);
            let query = shared.wanted.last.query.as_ref().map(ToString::to_string).unwrap_or_default();
            shared.show_note(format!("no match for “{}”", shared.theme.charset.cut(&query, 60)));
        }
        (Some(Hit::Stopped) | None, _) => {}
    }
}
