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

/// Applies the outcome of a job that has ended; `None` if it panicked.
pub(super) fn job_ended(app: &mut App, kind: Kind, outcome: Option<JobOutcome>) {
    app.shared.jobs.job_ended(kind);
    let Some(outcome) = outcome else {
        match kind {
            Kind::View => view::drop_requested(&mut app.shared),
            Kind::Search => app.shared.requested_rows.stop_search(),
            Kind::Probe => probe::finish_probe(&mut app.shared, Ok(String::new())),
            // The set becomes read-only, so that the journal in the state folder is kept.
            Kind::Load | Kind::Edit if std::mem::take(&mut app.shared.opening.keys) != KeyHold::Off => {
                app.shared.session.set_read_only("the journal could not be read");
            }
            Kind::Plan => (app.shared.save.wanted, app.shared.save.then_leave) = (None, false),
            _ => {}
        }
        app.held_input.clear();
        // The panic hook restored the terminal, so that its message can be read later.
        app.shared.jobs.effect(Effect::Reclaim);
        let words = "internal error: a background job panicked; your document is unchanged (please report this)";
        return app.shared.show_error(words);
    };
    take(app, outcome);
}

/// Applies an outcome.
pub(super) fn take(app: &mut App, outcome: JobOutcome) {
    match outcome {
        JobOutcome::Loaded(result) => loaded::finish_load(app, result),
        JobOutcome::RobotsRead { start, is_stopped: true, .. } => loaded::finish_load(app, Ok(opening::stopped(start))),
        JobOutcome::RobotsRead { start, options, robots, .. } => {
            opening::robots_read(&mut app.shared, start, *options, robots);
        }
        JobOutcome::Downloaded { discard, result } => open_url::open_download(&mut app.shared, discard, result),
        JobOutcome::JournalRead(loaded, read) => loaded::journal_read(app, loaded, read),
        JobOutcome::Replayed(replayed) => recovery::finish_replay(&mut app.shared, replayed.map(|replayed| *replayed)),
        JobOutcome::Beginning(rows) => {
            let is_wanted = app.shared.session.is_loading() && app.shared.session.view().shown() == 0;
            app.shared.show_first_rows(if is_wanted { rows } else { Vec::new() });
        }
        JobOutcome::View { ticket, version, spec, view } => {
            view::view_done(&mut app.shared, ticket, version, spec, view);
        }
        JobOutcome::Preview { ticket, preview } => preview.map_or((), |preview| previewed(app, ticket, preview)),
        JobOutcome::Edited(result) => edit::commit_edit(&mut app.shared, result),
        JobOutcome::Found { ticket, hit } => found(app, ticket, hit),
        JobOutcome::Planned { ticket, planned, locks } => save::receive_plan(&mut app.shared, ticket, planned, locks),
        JobOutcome::Claimed { pending, looks, claimed } => save::begin_save(&mut app.shared, *pending, looks, claimed),
        JobOutcome::Saved(result) => save::save_done(app, *result),
        JobOutcome::Pending { ticket, pending } => {
            if let Mode::Changes(changes) = app.modes.current_mut()
                && !changes.take(ticket, pending)
            {
                app.modes.close_all();
                app.shared.show_note("no unsaved changes left");
            }
        }
        JobOutcome::Conflicts(conflicts) => conflicts::show_conflicts(app, conflicts),
        JobOutcome::Diffs(diffs) => inspect::show_diffs(app, diffs),
        JobOutcome::Proved(proofs) => inspect::show_proofs(app, proofs),
        JobOutcome::DiskChecked { ticket, outside, is_requested } => {
            external_changes::show_external_changes(app, ticket, &outside, is_requested);
        }
        JobOutcome::HeldBack(outside) => external_changes::save_held_back(app, &outside),
        JobOutcome::Listed(listing) => {
            if let Mode::Line(edit) = app.modes.current_mut() {
                edit.take_listing(listing, &app.shared);
            }
        }
        JobOutcome::Compared(result) => external_changes::open_merge(app, result),
        JobOutcome::Merged(merged) => external_changes::finish_merge(&mut app.shared, merged),
        JobOutcome::MarkRows { rows, on } => mark::apply_marks(&mut app.shared, rows, on),
        JobOutcome::Rechecked(result) => {
            if recheck::rechecked(&mut app.shared, result) {
                data::follow(&mut app.shared);
            }
        }
        JobOutcome::DataRead(read) => data::receive_data(&mut app.shared, read),
        JobOutcome::Probed(result) => probe::finish_probe(&mut app.shared, result),
        JobOutcome::Missing(urls) => data::show_missing(app, urls),
        JobOutcome::Covered(coverage) => data::show_coverage(app, coverage),
        JobOutcome::Counted(counts) => counts.map_or((), |counts| rules::receive_counts(app, counts)),
        JobOutcome::SideAccepted(result) => conflicts::commit_side(&mut app.shared, result),
        JobOutcome::Created(path, read) => loaded::finish_create(app, path, read),
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

/// Shows the preview of the command that is being typed.
fn previewed(app: &mut App, ticket: u64, preview: Preview) {
    match app.modes.current_mut() {
        Mode::Line(edit) => edit.take_preview(ticket, preview),
        Mode::Bulk(bulk) => bulk.take_preview(ticket, preview),
        Mode::Element(edit) => edit.take_preview(ticket, preview),
        _ => {}
    }
}

/// Goes to the hit of a search.
fn found(app: &mut App, ticket: u64, hit: Hit) {
    let shared = &mut app.shared;
    match (shared.requested_rows.take_hit(ticket, hit), app.modes.current_mut()) {
        (Some(Hit::At(position, round)), mode) => {
            shared.grid.go(&shared.session, position);
            if round && !matches!(mode, Mode::Line(_)) {
                let down = shared.requested_rows.last.forward;
                shared.show_note(if down { "search wrapped to the top" } else { "search wrapped to the bottom" });
            }
        }
        // While a query is typed, the cursor returns to the start of the search.
        (Some(Hit::NotFound), Mode::Line(edit)) => {
            edit.no_match = true;
            shared.grid.go(&shared.session, edit.from);
        }
        (Some(Hit::NotFound), _) => {
            let from = shared.requested_rows.last.from;
            shared.grid.go(&shared.session, from);
            let query = shared.requested_rows.last.query.as_ref().map(ToString::to_string).unwrap_or_default();
            shared.show_note(format!("no match for “{}”", shared.theme.charset.cut(&query, 60)));
        }
        (Some(Hit::Stopped) | None, _) => {}
    }
}
