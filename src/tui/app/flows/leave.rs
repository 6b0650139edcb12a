//! Quits, and suspends on Ctrl-Z.

use super::super::App;
use super::super::modes::ask::Ask;
use super::super::state::Shared;
use super::super::state::jobs::Effect;
use super::super::state::request::Answer;
use super::super::state::save::PlanRequest;
use crate::session::Session;
use crate::session::store::journal::take_journal;
use crate::tui::jobs::Kind;
use crate::tui::words::Words;
use crate::words::counted;

/// Quits; asks first if changes would be lost.
pub(in crate::tui::app) fn quit(app: &mut App, discard: bool) {
    let is_saving =
        app.shared.save.wanted.as_ref().is_some_and(PlanRequest::is_save) || app.shared.jobs.is_busy(Kind::Save);
    if is_saving && !discard {
        app.shared.save.then_leave = true;
        return app.shared.show_note("quitting after the save");
    }
    let unsaved = unsaved(&app.shared.session);
    let unwritten = app.shared.probing.unwritten();
    if discard || (unsaved.is_none() && unwritten == 0) {
        return leave(&mut app.shared);
    }
    let mut answers = vec![('k', "keep editing", Answer::Stay), ('D', "discard and quit", Answer::Discard)];
    let (mut lost, mut lines) = (Vec::new(), Vec::new());
    if let Some(unsaved) = unsaved {
        answers.insert(1, ('s', "save and quit", Answer::SaveAndQuit));
        lost.push(format!("{unsaved} not saved"));
        lines.push(Words::text("Quitting now discards the unsaved changes.").into());
    }
    if unwritten > 0 {
        lost.push(format!("{} of :probe not written to a file", counted(unwritten, "answer")));
        lines.push(Words::text("Quitting now discards the results of :probe.").into());
        lines.push(Words::text(":probe write FILE writes the answers.").into());
    }
    app.ask(Ask::new(Words::text(lost.join(", ")), lines, answers));
}

/// The changes that are not saved, such as `3 changed rows`; `None` if there are none.
pub(in crate::tui::app) fn unsaved(session: &Session) -> Option<String> {
    session.is_modified().then(|| match session.view().changed() {
        0 => "changes to files or to the order of rows".to_owned(),
        rows => counted(u64::from(rows), "changed row"),
    })
}

/// Quits and removes the journal: nothing is left to recover.
pub(in crate::tui::app) fn leave(shared: &mut Shared) {
    remove_journal(shared);
    shared.jobs.quit(0);
}

/// Removes the journal of the set.
pub(in crate::tui::app) fn remove_journal(shared: &mut Shared) {
    if let Some(journal) = take_journal(&mut shared.session) {
        shared.jobs.effect(Effect::RemoveJournal(Box::new(journal)));
    }
}

/// Suspends the program, as Ctrl-Z does.
pub(in crate::tui::app) fn suspend(shared: &mut Shared) {
    let words = unsaved(&shared.session)
        .map_or_else(|| "no unsaved changes".to_owned(), |unsaved| format!("{unsaved} not saved"));
    shared.jobs.effect(Effect::Suspend(words));
}
