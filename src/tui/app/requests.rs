//! Executes requests of modes: actions, commands, choices from lists, answers to questions.

use super::flows::{
    conflicts, data, decide, elements, explain, external_changes, fix, history, inspect, leave, opening,
};
use super::flows::{recovery, rules, save};
use super::modes::Mode;
use super::operations::{clipboard, cursor, edit, view};
use super::state::recent::Purpose;
use super::state::request::{Answer, Choice, Request, Subject};
use super::{App, actions, commands};
use crate::protocol::Field;
use crate::session::findings::non_row;
use crate::session::store::journal;

/// Executes a request.
pub(super) fn execute(app: &mut App, request: Request) {
    match request {
        Request::Act(action, count) => actions::run(app, action, count),
        Request::Execute(command, default_scope) => commands::execute(app, command, default_scope),
        Request::Choose(choice) => choose(app, choice),
        Request::Answer(answer, subject) => take_answer(app, answer, subject),
        Request::OpenLine(purpose, text) => app.open_line(purpose, &text),
        Request::SetBase(url) => save::set_base(app, &url),
        Request::ExplainRule(rule) => {
            let list = explain::rule_list(&app.shared, rule);
            app.modes.open_above(Mode::List(list));
        }
        Request::PreviewFix(place, rule) => rules::preview_fix(app, place, rule),
        Request::PreviewNonRowFix(target, rule) => rules::preview_non_row_fix(app, target, rule),
        Request::CopyScript => clipboard::copy_script(&mut app.shared),
        Request::OpenScript => history::open_script(app),
        Request::OpenElements(above) => elements::open_elements(app, above.as_ref()),
        Request::EditElement(path, values) => elements::edit_element(app, &path, &values),
        Request::LeaveDetails => app.modes.leave_details(),
    }
}

/// Executes the choice of a line of a list.
fn choose(app: &mut App, choice: Choice) {
    match choice {
        Choice::Nothing => {}
        Choice::Run(action) => actions::run(app, action, None),
        Choice::GoToState(steps) => edit::go_to_state(&mut app.shared, steps),
        Choice::Rule(rule) if non_row::each(&app.shared.session).any(|finding| finding.rule() == rule) => {
            app.open(Mode::List(explain::files_list(&app.shared, rule)));
        }
        Choice::Rule(rule) | Choice::Rows(rule) => {
            view::filter_by(&mut app.shared, &format!("rule:{}", rule.code()));
        }
        Choice::Decide(rule, decision) => decide::decide(&mut app.shared, rule, decision),
        Choice::Cell(field) => {
            app.shared.grid.field = field;
            app.open_cell(false);
        }
        Choice::RowFinding(rule) => fix::preview_rule(app, rule),
        Choice::NonRowFinding(_, rule) => app.open(Mode::List(explain::files_list(&app.shared, rule))),
        Choice::FixNonRow(target, rule) => fix::fix_non_row(app, target, rule),
        Choice::Element(path) => elements::add_element(app, &path),
        Choice::Filter(query) => view::filter_by(&mut app.shared, &query),
        Choice::DataColumn(name) => data::toggle_column(&mut app.shared, &name),
        Choice::MissingUrls => data::list_missing(&mut app.shared),
        Choice::Line(line) => app.open_line(Purpose::Command, &line),
        Choice::Lastmod(typed) => {
            let rows = cursor::targets(&mut app.shared, None);
            app.shared.recent.keep_value(Field::Lastmod, &typed, rows.len());
            edit::set_rows(&mut app.shared, rows, Field::Lastmod, &typed);
        }
    }
}

/// Executes an answer to a question.
fn take_answer(app: &mut App, answer: Answer, subject: Subject) {
    match (answer, subject) {
        (Answer::Differences, _) => inspect::open_diffs(&mut app.shared),
        (Answer::LookAtConflict, _) => conflicts::show_conflict(app),
        (Answer::Stay, subject) => {
            if matches!(subject, Subject::Conflict(_)) {
                app.shared.show_note("no merge conflict was resolved; :edit asks again");
            }
            app.shared.save.forget();
        }
        (Answer::SaveAndQuit, _) => save::save_and_quit(app),
        (Answer::Discard, _) => leave::leave(&mut app.shared),
        (Answer::Create(path), _) => opening::create(&mut app.shared, path),
        (Answer::CreateFolder(folder), _) => save::create_folder(app, folder),
        (Answer::Leave(status), _) => app.shared.jobs.quit(status),
        (Answer::Write, _) => save::write_waiting(app),
        (Answer::Merge, _) => external_changes::begin_merge(&mut app.shared),
        (Answer::Resolve { side, remaining }, Subject::Conflict(resolving)) => {
            conflicts::resolve_conflict(app, resolving, side, remaining);
        }
        (Answer::Reload, _) => external_changes::reload_outside(app),
        (Answer::DiscardAndReload, _) => opening::reload(&mut app.shared, true),
        (Answer::KeepOurs(saving), _) => external_changes::keep_ours(&mut app.shared, saving),
        (Answer::SaveElsewhere, _) => app.open_line(Purpose::Command, "write "),
        (Answer::Replay, Subject::Recoverable(changes)) => recovery::replay(&mut app.shared, changes),
        (Answer::Later, _) => recovery::later(&mut app.shared),
        (Answer::DropRecoverable, Subject::Recoverable(changes)) => journal::discard(&mut app.shared.session, changes),
        // These answers need a subject.
        (Answer::Resolve { .. } | Answer::Replay | Answer::DropRecoverable, _) => {}
    }
}
