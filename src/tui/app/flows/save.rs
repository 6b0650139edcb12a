//! Saves: shows the plan, asks the questions, reports the result.

use super::super::App;
use super::super::modes::ask::Ask;
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::recent::Purpose;
use super::super::state::request::Answer;
use super::super::state::save::{PlanPurpose, PlanRequest, Waiting};
use super::plan_lines::{is_empty_list, plan_lines, problems, title, untouched_lines};
use super::{external_changes, leave};
use crate::files::external_changes::Thoroughness;
use crate::files::{Plan, Reason};
use crate::session::edit::EditError;
use crate::session::store;
use crate::session::store::journal::locks::{Claimed, SaveLocks};
use crate::session::store::planning;
use crate::session::store::planning::Planned;
use crate::session::store::save;
use crate::session::store::save::{PendingSave, SaveResult};
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use std::path::PathBuf;

/// The message of a save that was stopped before it replaced files.
const STOPPED: &str = "the save was stopped; no file was changed";

/// Saves; asks first for a missing base URL, and if files are created, removed or renamed.
pub(in crate::tui::app) fn save(app: &mut App, to: Option<PathBuf>, force: bool) {
    if app.shared.jobs.is_busy(Kind::Save) {
        return app.shared.show_note("a save is running already");
    }
    if app.shared.jobs.is_busy(Kind::Edit) {
        app.shared.save.then_leave = false;
        return app.shared.show_error("the last change is still being applied; save again afterwards");
    }
    if app.shared.session.is_loading() {
        app.shared.save.then_leave = false;
        return app.shared.show_error("still loading; wait, or stop it with Esc");
    }
    if to.is_none() && app.shared.session.path().is_none() {
        app.open_line(Purpose::Command, "write sitemap.xml");
        return app.shared.show_error("no file name yet: type one and press Enter");
    }
    request_plan(&mut app.shared, to, PlanPurpose::Save { force });
}

/// Plans a save for a purpose. For a save that asks a question, also checks whether another process holds a lock, so
/// that the user does not answer in vain.
fn request_plan(shared: &mut Shared, to: Option<PathBuf>, purpose: PlanPurpose) {
    let planning = planning::of_session(&shared.session, to.as_deref());
    let locks = matches!(purpose, PlanPurpose::Save { .. }).then(|| SaveLocks::of(&mut shared.session));
    let ticket = shared.jobs.next_ticket();
    shared.save.wanted = Some(PlanRequest { ticket, to, purpose });
    shared.jobs.run(Kind::Plan, false, move |progress| {
        let planned = planning.run(progress);
        let asks = |plan: &&Plan| (plan.asks || plan.needs_base.is_some()) && plan.problems.is_empty();
        let asking = planned.as_ref().map(|planned| &planned.plan).filter(asks);
        let locks = locks.zip(asking).map_or(Ok(()), |(mut locks, plan)| locks.check_available(plan));
        JobOutcome::Planned { ticket, planned, locks }
    });
}

/// Receives a plan. It is dropped if a newer one was requested, and computed again if the document has changed
/// since.
pub(in crate::tui::app) fn receive_plan(
    shared: &mut Shared,
    ticket: u64,
    planned: Option<Planned>,
    locks: Result<(), EditError>,
) {
    let Some(wanted) = shared.save.wanted.take_if(|wanted| wanted.ticket == ticket) else { return };
    let Some(planned) = planned else {
        shared.save.then_leave = false;
        return shared.show_note("stopped; nothing was written");
    };
    if let Err(refused) = locks {
        shared.save.then_leave = false;
        return shared.show_error(refused.to_string());
    }
    if !planning::is_planned(&shared.session, &planned) {
        return request_plan(shared, wanted.to, wanted.purpose);
    }
    shared.save.held = Some((wanted, planned));
}

/// Continues with a received plan once the user has stopped typing, since a question would close the prompt.
pub(in crate::tui::app) fn take_held_plan(app: &mut App) {
    let Some((wanted, planned)) = app.shared.save.held.take() else { return };
    let is_quiet = wanted.is_save() && planned.plan.is_ready() && !planned.plan.asks;
    if !is_quiet && !app.modes.is_browsing() {
        app.shared.save.held = Some((wanted, planned));
        return;
    }
    if !planning::is_planned(&app.shared.session, &planned) {
        return request_plan(&mut app.shared, wanted.to, wanted.purpose);
    }
    match wanted.purpose {
        PlanPurpose::Save { force } => save_planned(app, wanted.to, force, planned),
        PlanPurpose::Show => show_plan(app, planned),
    }
}

fn save_planned(app: &mut App, to: Option<PathBuf>, force: bool, planned: Planned) {
    if app.shared.jobs.is_busy(Kind::Save) {
        return app.shared.show_note("a save is running already");
    }
    let plan = &planned.plan;
    if let Some(proposal) = &plan.needs_base {
        let proposal = proposal.clone();
        app.shared.save.waiting = Some(Waiting { to, force });
        return app.open_line(Purpose::Base, &proposal);
    }
    if let Some(output) = plan.outputs.iter().filter(|_| !force).find(|output| is_empty_list(plan, output)) {
        let name = output.name.clone();
        app.shared.save.then_leave = false;
        return app
            .shared
            .show_error(format!("{name} would have no URLs and could not be opened again; add one, or use :write!"));
    }
    if !plan.problems.is_empty() {
        app.shared.save.then_leave = false;
        let ask = problems(&app.shared, plan);
        return app.ask(ask);
    }
    let agreed = app.shared.save.new_folder.as_ref();
    if let Some(folder) = planned.missing_folder.as_ref().filter(|folder| agreed != Some(folder)) {
        let title = Words::text(format!("the folder {} does not exist", folder.display()));
        let path = plan.path.as_deref().unwrap_or(folder);
        let lines = vec![Words::text(format!("{} needs it.", path.display())).into()];
        let answers = vec![
            ('k', "keep editing", Answer::Stay),
            ('c', "create it and save", Answer::CreateFolder(folder.clone())),
        ];
        app.shared.save.waiting = Some(Waiting { to, force });
        return app.ask(Ask::new(title, lines, answers));
    }
    if plan.asks {
        app.shared.save.waiting = Some(Waiting { to, force });
        let answers = vec![
            ('w', "write", Answer::Write),
            ('d', "differences", Answer::Differences),
            ('k', "keep editing", Answer::Stay),
        ];
        let (title, lines) = (title(plan), plan_lines(&app.shared, &planned));
        app.shared.save.plan = Some(planned);
        return app.ask(Ask::new(title, lines, answers));
    }
    write(&mut app.shared, planned.plan, force);
}

/// Sets the base URL, and continues the save that needed it.
pub(in crate::tui::app) fn set_base(app: &mut App, url: &str) {
    app.shared.session.set_base_url(Some(url.trim().to_owned()));
    if let Some(Waiting { to, force }) = app.shared.save.waiting.take() {
        save(app, to, force);
    }
}

/// Continues a save that creates a folder.
pub(in crate::tui::app) fn create_folder(app: &mut App, folder: PathBuf) {
    app.shared.save.new_folder = Some(folder);
    if let Some(Waiting { to, force }) = app.shared.save.waiting.take() {
        save(app, to, force);
    }
}

/// Executes the plan that the user has confirmed.
pub(in crate::tui::app) fn write_waiting(app: &mut App) {
    let (waiting, planned) = (app.shared.save.waiting.take(), app.shared.save.plan.take());
    let Some(Waiting { to, force }) = waiting else { return };
    match planned.filter(|planned| planning::is_planned(&app.shared.session, planned)) {
        Some(mut planned) => {
            planned.plan.accept_repairs();
            write(&mut app.shared, planned.plan, force);
        }
        // The document has changed since: the user must confirm a new plan.
        None => save(app, to, force),
    }
}

/// Acquires the locks of a save of the current document, in a job.
fn write(shared: &mut Shared, plan: Plan, force: bool) {
    let looks = !force && plan.path.as_ref() == shared.session.path();
    shared.save.new_folder = None;
    let mut pending = match save::prepare(&mut shared.session, plan, force) {
        Ok(pending) => Box::new(pending),
        Err(refused) => return shared.show_error(refused.to_string()),
    };
    shared.jobs.run(Kind::Save, false, move |progress| {
        let claimed = pending.claim();
        JobOutcome::Claimed { pending, looks, claimed: (!progress.is_cancelled()).then_some(claimed) }
    });
}

/// Starts the save once its locks are acquired.
pub(in crate::tui::app) fn begin_save(
    shared: &mut Shared,
    pending: PendingSave,
    looks: bool,
    claimed: Option<Result<Claimed, EditError>>,
) {
    let claimed = match claimed {
        Some(Ok(claimed)) => claimed,
        refused => {
            shared.save.then_leave = false;
            return match refused {
                Some(Err(refused)) => shared.show_error(refused.to_string()),
                _ => shared.show_note(STOPPED),
            };
        }
    };
    let looking = looks.then(|| store::external_changes::begin_check(&shared.session));
    let saving = save::begin_claimed(&mut shared.session, pending, claimed);
    shared.jobs.run(Kind::Save, false, move |progress| {
        // Files to be written are checked again when they are written; this also checks the others.
        let outside = looking.map(|looking| looking.run(Thoroughness::Quick)).unwrap_or_default();
        if outside.changed.is_empty() {
            JobOutcome::Saved(Box::new(saving.run(progress)))
        } else {
            JobOutcome::HeldBack(outside)
        }
    });
}

pub(in crate::tui::app) fn save_done(app: &mut App, result: SaveResult) {
    app.shared.outside.epoch += 1;
    match save::finish(&mut app.shared.session, result) {
        Ok(words) => {
            app.shared.save.is_saved = true;
            app.shared.outside.changed.clear();
            app.shared.show_note(words);
            app.shared.grid.follow(&app.shared.session);
            if std::mem::take(&mut app.shared.save.then_leave) {
                leave::quit(app, false);
            }
        }
        Err(error) if matches!(error.reason, Reason::Cancelled) => {
            app.shared.save.then_leave = false;
            app.shared.show_note(STOPPED);
        }
        Err(error) if matches!(error.reason, Reason::Changed) => {
            app.shared.save.then_leave = false;
            external_changes::check_external_changes(&mut app.shared, Thoroughness::Full, true);
        }
        Err(error) => {
            app.shared.save.then_leave = false;
            let mut lines = vec![Line::from(Words::text(error.to_string()))];
            if let Some(hint) = error.hint() {
                lines.push(Words::dim(hint).into());
            }
            let mut answers = vec![('k', "keep editing", Answer::Stay)];
            // A save that has replaced files must be finished at the same path.
            if !matches!(error.reason, Reason::Unfinished { .. } | Reason::NoSpace { begun: true, .. }) {
                answers.push(('s', "save elsewhere", Answer::SaveElsewhere));
            }
            let title = Words::new().and(Role::Error, "not saved").and(Role::Text, "; your changes are still here");
            app.ask(Ask::new(title, lines, answers));
        }
    }
}

/// Shows the plan of a save; writes nothing.
pub(in crate::tui::app) fn open_plan(app: &mut App) {
    if app.shared.session.path().is_none() {
        return app.shared.show_note("no file name yet: :write NAME sets it");
    }
    request_plan(&mut app.shared, None, PlanPurpose::Show);
}

fn show_plan(app: &mut App, planned: Planned) {
    let plan = &planned.plan;
    let mut lines = plan_lines(&app.shared, &planned);
    if plan.is_empty() {
        lines.insert(0, Words::dim("No unsaved changes: a save would write no file.").into());
    }
    lines.extend(untouched_lines(&app.shared, plan));
    if plan.needs_base.is_some() {
        lines.push(Words::dim("sited will ask for the URL of the set's folder.").into());
    }
    let mut answers = vec![('k', "back", Answer::Stay)];
    if !plan.is_empty() {
        answers.push(('d', "differences", Answer::Differences));
    }
    let ask = Ask::new(title(plan), lines, answers);
    let ask = if plan.problems.is_empty() { ask } else { problems(&app.shared, plan) };
    app.ask(ask);
    app.shared.save.plan = Some(planned);
}

/// Saves, and then quits.
pub(in crate::tui::app) fn save_and_quit(app: &mut App) {
    app.shared.save.then_leave = true;
    save(app, None, false);
}
