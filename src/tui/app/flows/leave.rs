//! Quits, and suspends on Ctrl-Z.

use super::super::App;
use super::super::modes::ask::Ask;
use super::super::state::Shared;
use super::super::state::jobs::Effect;
use super::super::state::request::Answer;
use super::super::state::save::PlanRequest;
use crate::session::store::journal::take_journal;
use crate::tui::jobs::Kind;
use crate::tui::words::Words;
use crate::words::counted;

/// Leaves; asks when something would be lost.
pub(in crate::tui::app) fn quit(app: &mut App, discard: bool) {
    let is_saving =
        app.shared.save.wanted.as_ref().is_some_and(PlanRequest::is_save) || app.shared.jobs.is_busy(Kind::Save);
    if is_saving && !discard {
        app.shared.save.then_leave = true;
        return app.shared.show_note("quitting after the save");
    }
    let is_modified = app.shared.session.is_modified();
    let unwritten = app.shared.probing.unwritten();
    if discard || (!is_modified && unwritten == 0) {
        return leave(&mut app.shared);
    }
    let mut answers = vec![('k', "keep editing", Answer::Stay), ('D', "discard and quit", Answer::Discard)];
    let mut lost = Vec::new();
    if is_modified {
        answers.insert(1, ('s', "save and quit", Answer::SaveAndQuit));
        lost.push(match u64::from(app.shared.session.view().changed()) {
            // The rows are as they were: what is new is where they are.
            0 => "the new order of the rows is not saved".to_owned(),
            rows => format!("{} not saved", counted(rows, "changed row")),
        });
    }
    let mut lines = vec![Words::text("Leaving now would lose them.").into()];
    if unwritten > 0 {
        lost.push(format!("{} of :probe not written to a file", counted(unwritten, "answer")));
        lines.push(Words::text(":probe write FILE writes the answers.").into());
    }
    app.ask(Ask::new(Words::text(lost.join(", ")), lines, answers));
}

/// Leaves as it should be: nothing is kept that the user could want back.
pub(in crate::tui::app) fn leave(shared: &mut Shared) {
    remove_journal(shared);
    shared.jobs.quit(0);
}

/// Nothing of the set is kept any longer.
pub(in crate::tui::app) fn remove_journal(shared: &mut Shared) {
    if let Some(journal) = take_journal(&mut shared.session) {
        shared.jobs.effect(Effect::RemoveJournal(Box::new(journal)));
    }
}

/// Stops as Ctrl-Z does.
pub(in crate::tui::app) fn suspend(shared: &mut Shared) {
    let unsaved = match shared.session.view().changed() {
        0 => "no unsaved changes".to_owned(),
        changed => format!("{} unsaved", counted(u64::from(changed), "changed row")),
    };
    shared.jobs.effect(Effect::Suspend(unsaved));
}
