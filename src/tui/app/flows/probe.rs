//! Probes the site in the background, and writes the answers to a file.

use super::super::operations::recheck;
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::probing::Answers;
use super::data;
use crate::session::command::{ProbeCommand, ProbeOptions, Scope};
use crate::session::edit::EditError;
use crate::session::policy::Standard;
use crate::tui::jobs::Kind;
use std::sync::Arc;

#[cfg(feature = "net")]
mod job;

/// Executes `:probe`.
pub(in crate::tui::app) fn command(shared: &mut Shared, command: ProbeCommand) {
    if !cfg!(feature = "net") {
        return shared.show_error("this sited cannot send requests: it was built without the feature net");
    }
    match command {
        ProbeCommand::Write(_) if shared.probing.batches.is_empty() => {
            shared.show_error("no results yet; :probe requests URLs from the site");
        }
        ProbeCommand::Write(path) => write(shared, path),
        ProbeCommand::Request { .. } if shared.session.is_loading() => {
            shared.show_error("the files are still being read; probe the site afterwards");
        }
        ProbeCommand::Request { .. } if shared.probing.is_stopping => {
            shared.show_error("the last requests are still being answered; try again in a moment");
        }
        ProbeCommand::Request { .. } if shared.jobs.is_busy(Kind::Probe) => {
            shared.show_error("a probe is running already; Esc pauses it");
        }
        ProbeCommand::Request { .. } if shared.jobs.is_busy(Kind::Data) => {
            shared.show_error("tables are still being read; Esc stops reading");
        }
        ProbeCommand::Request { scope, options } => start(shared, scope, options),
    }
}

/// Starts the requests in a job.
#[cfg(feature = "net")]
fn start(shared: &mut Shared, scope: Scope, options: ProbeOptions) {
    let opened = &shared.opening.options;
    let is_base_recorded = opened.is_base_recorded && opened.base_url.as_deref() == shared.session.base_url();
    let snapshot = shared.session.snapshot();
    let request = job::ProbeRequest { snapshot, scope, options, is_base_from_user: !is_base_recorded };
    "looking up the site".clone_into(&mut shared.probing.progress);
    shared.jobs.spawn(Kind::Probe, Box::new(move |progress, part| JobOutcome::Probed(request.run(progress, part))));
}

#[cfg(not(feature = "net"))]
fn start(_: &mut Shared, _: Scope, _: ProbeOptions) {}

/// Adds answers to the session, unless a change of the current document is being computed.
pub(in crate::tui::app) fn answered(shared: &mut Shared, answers: Answers) {
    shared.probing.keep(answers);
    receive_answers(shared);
}

/// Adds waiting answers to the session.
pub(in crate::tui::app) fn receive_answers(shared: &mut Shared) {
    if shared.jobs.is_busy(Kind::Edit) || !shared.probing.receive_answers(&mut shared.session) {
        return;
    }
    let data = shared.session.view().data.clone();
    if !shared.grid.data.names().any(|name| name == "status") {
        // The maximum number of data columns may be reached.
        let _ = shared.grid.toggle_data("status", data.as_ref());
    }
}

/// Ends the probe, and filters and sorts again by its answers.
pub(in crate::tui::app) fn finish_probe(shared: &mut Shared, result: Result<String, String>) {
    (shared.probing.is_stopping, shared.probing.progress) = (false, String::new());
    receive_answers(shared);
    data::follow(shared);
    let words = match result {
        Ok(words) => words,
        Err(words) => return shared.show_error(words),
    };
    match shared.session.view().data.clone().filter(|_| std::mem::take(&mut shared.probing.needs_recheck)) {
        Some(data) => recheck::recheck_in_turn(shared, Standard::Data(Some((data, words)))),
        None => shared.show_note(words),
    }
}

/// Writes the answers to a new file.
fn write(shared: &mut Shared, path: String) {
    let batches = shared.probing.batches.clone();
    shared.jobs.run(Kind::Report, false, move |_| JobOutcome::AnswersWritten {
        batches: batches.len(),
        result: write_batches(&path, &batches),
    });
}

/// Reports that the answers were or were not written.
pub(in crate::tui::app) fn answers_written(shared: &mut Shared, batches: usize, result: Result<String, EditError>) {
    match result {
        Ok(words) => {
            shared.probing.note_written(batches);
            shared.show_note(words);
        }
        Err(error) => shared.show_error(error.to_string()),
    }
}

#[cfg(feature = "net")]
fn write_batches(path: &str, batches: &[Arc<str>]) -> Result<String, EditError> {
    job::write(path, batches)
}

#[cfg(not(feature = "net"))]
fn write_batches(_: &str, _: &[Arc<str>]) -> Result<String, EditError> {
    Err(EditError::Cancelled)
}
