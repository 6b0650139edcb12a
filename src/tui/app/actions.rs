//! Dispatches actions to the modules that do the work, one line per action.

use super::App;
use super::flows::{explain, external_changes, fix, help, history, leave, rules, save};
use super::modes::Mode;
use super::modes::add::Add;
use super::modes::bulk::Bulk;
use super::modes::list::{List, ListKind};
use super::operations::{clipboard, cursor, edit, search, view};
use super::state::jobs::Effect;
use super::state::recent::{LastChange, Purpose};
use crate::document::sort::to_text;
use crate::files::external_changes::Thoroughness;
use crate::tui::command::{Action, When};
use crate::tui::jobs::Kind;
use crate::tui::prompt::Prompt;

/// Executes an action; a count repeats it, or is a distance or a row number.
pub(super) fn run(app: &mut App, action: Action, count: Option<u32>) {
    use Action as A;
    let n = count.unwrap_or(1);
    let page = app.shared.areas().page();
    let needs_row = matches!(action.command().when, When::OnRow | When::EditRow);
    if action == A::Fix && app.shared.grid.row.is_none() && fix::fix_without_row(app) {
        return;
    }
    if needs_row && app.shared.grid.row.is_none() {
        return app.shared.show_note("no row here");
    }
    match action {
        A::Down => app.shared.grid.step(&app.shared.session, true, n),
        A::Up => app.shared.grid.step(&app.shared.session, false, n),
        A::Left | A::Right => {
            let moves = (0..n.min(4)).filter(|_| cursor::move_sideways(&mut app.shared, action == A::Right)).count();
            if moves == 0 && action == A::Right {
                cursor::note_hidden_columns(&mut app.shared);
            }
        }
        A::NextCell => (0..n.min(400)).for_each(|_| cursor::next_cell(&mut app.shared, true)),
        A::PreviousCell => (0..n.min(400)).for_each(|_| cursor::next_cell(&mut app.shared, false)),
        A::PageDown => cursor::scroll(&mut app.shared, true, page.saturating_mul(n)),
        A::PageUp => cursor::scroll(&mut app.shared, false, page.saturating_mul(n)),
        A::HalfPageDown => cursor::scroll(&mut app.shared, true, (page / 2).max(1).saturating_mul(n)),
        A::HalfPageUp => cursor::scroll(&mut app.shared, false, (page / 2).max(1).saturating_mul(n)),
        A::First | A::Last => match count {
            Some(row) => cursor::go_to_number(&mut app.shared, row),
            None => app.shared.grid.go(&app.shared.session, if action == A::Last { u32::MAX } else { 0 }),
        },
        A::FirstColumn => cursor::move_to_edge(&mut app.shared, false),
        A::LastColumn => cursor::move_to_edge(&mut app.shared, true),
        A::NextFile => cursor::go_to_adjacent_file(&mut app.shared, true),
        A::PreviousFile => cursor::go_to_adjacent_file(&mut app.shared, false),
        A::Edit => app.open_cell(false),
        A::Change => app.open_cell(true),
        A::AddBelow => open_add(app, false),
        A::AddAbove => open_add(app, true),
        A::Delete | A::Clear | A::Duplicate | A::Today | A::NudgeUp | A::NudgeDown => {
            edit::change_rows(&mut app.shared, action, count);
        }
        A::FixAll => {
            if !app.shared.ensure_changeable() {
                return;
            }
            cursor::end_range(&mut app.shared);
            // The command line shows the preview before Enter executes it.
            let line = if app.shared.session.view().marked() == 0 { "%fix safe" } else { "fix safe" };
            app.open_line(Purpose::Command, line);
        }
        A::Fix => {
            let rows = cursor::targets(&mut app.shared, count);
            if rows.is_empty() {
                return app.shared.show_note("there is no row");
            }
            app.shared.recent.change = Some(LastChange::Action(action));
            fix::fix(app, rows);
        }
        A::TodayMenu => open_dates(app),
        A::Undo => edit::undo(&mut app.shared, true, n),
        A::Redo => edit::undo(&mut app.shared, false, n),
        A::History => history::open_history(app),
        A::Repeat => edit::repeat(&mut app.shared, count),
        A::Mark => cursor::toggle_mark(&mut app.shared, count),
        A::MarkRange => {
            if app.shared.grid.anchor.is_some() {
                cursor::end_range(&mut app.shared);
            } else {
                app.shared.grid.anchor = Some(app.shared.grid.position);
            }
        }
        A::MarkMatching => app.open_line(Purpose::Mark, ""),
        A::UnmarkMatching => app.open_line(Purpose::Unmark, ""),
        A::InvertMarks => {
            cursor::end_range(&mut app.shared);
            app.shared.session.invert_marks();
            cursor::note_marks(&mut app.shared);
        }
        A::MarkShown => {
            let rows = app.shared.session.view().shown_rows();
            app.shared.session.mark(&rows, true);
            cursor::note_marks(&mut app.shared);
        }
        A::Bulk => {
            if let Some(bulk) = Bulk::new(&mut app.shared) {
                app.open(Mode::Bulk(bulk));
            }
        }
        A::BulkAgain => match app.shared.recent.bulk.clone() {
            Some(line) => app.open_line(Purpose::Command, &line),
            None => app.shared.show_note("no bulk change yet; b makes one"),
        },
        A::Replace => {
            cursor::end_range(&mut app.shared);
            let many = app.shared.session.view().marked() == 0;
            // Slashes of URLs need no escape between these delimiters.
            app.open_line(Purpose::Command, if many { "%s#" } else { "s#" });
        }
        A::Search => app.open_line(Purpose::Search, ""),
        A::NextHit => search::search_again(&mut app.shared, true),
        A::PreviousHit => search::search_again(&mut app.shared, false),
        A::Filter => {
            let now = view::spec(&app.shared).filter.as_ref().map(ToString::to_string).unwrap_or_default();
            app.open_line(Purpose::Filter, &now);
        }
        A::Unfilter => view::show_all(&mut app.shared),
        A::FilterValue => view::filter_by_value(&mut app.shared),
        A::FilterFindings => view::filter_by(&mut app.shared, "severity>=warning"),
        A::Changes => open_changes(app),
        A::Sort => view::cycle_sort(&mut app.shared),
        A::SortKeys => {
            let keys = to_text(&view::spec(&app.shared).sort);
            app.open_line(Purpose::Command, &format!("sort {keys}"));
        }
        A::NextFinding => search::next_finding(&mut app.shared, true),
        A::PreviousFinding => search::next_finding(&mut app.shared, false),
        A::Findings => rules::open_rules(app),
        A::Explain => explain::open_explain(app),
        A::CopyRows => clipboard::copy(&mut app.shared, "row", count, clipboard::row_text),
        A::CopyUrls => {
            clipboard::copy(&mut app.shared, "URL", count, |session, row| session.document().loc(row).into_owned());
        }
        A::CopyXml => clipboard::copy(&mut app.shared, "entry", count, clipboard::row_xml),
        A::CopyCell => clipboard::copy_cell(&mut app.shared),
        A::PasteAfter => clipboard::paste_rows(&mut app.shared, false),
        A::PasteBefore => clipboard::paste_rows(&mut app.shared, true),
        A::Detail => app.shared.wants_details = Some(!app.shared.shows_details()),
        A::NextPane => {
            app.shared.wants_details = Some(true);
            app.modes.enter_details();
        }
        A::Save => save::save(app, None, false),
        A::Plan => save::open_plan(app),
        A::Outside => external_changes::check_external_changes(&mut app.shared, Thoroughness::Quick, true),
        A::SaveAndQuit => save::save_and_quit(app),
        A::Quit => leave::quit(app, false),
        A::QuitWithoutSaving => leave::quit(app, true),
        A::CommandLine => app.open_line(Purpose::Command, ""),
        A::Palette => help::open_palette(app),
        A::Help => help::open_help(app, None),
        A::Mouse => {
            app.shared.mouse.is_captured = !app.shared.mouse.is_captured;
            app.shared.jobs.effect(Effect::Mouse(app.shared.mouse.is_captured));
            app.shared.show_note(if app.shared.mouse.is_captured {
                "sited uses the mouse"
            } else {
                "the terminal uses the mouse: it selects text"
            });
        }
        A::Redraw => app.shared.jobs.effect(Effect::Repaint),
        A::Suspend => leave::suspend(&mut app.shared),
        A::Cancel => cancel(app),
        A::Escape => escape(app),
    }
}

/// Stops running jobs, or else shows how to quit; it never quits.
fn cancel(app: &mut App) {
    if !stop_jobs(app) && !app.shared.keymap.reset() {
        app.shared.show_note("q quits");
    }
}

/// Cancels the first of these: running jobs, the range, the marks, the filter.
fn escape(app: &mut App) {
    if stop_jobs(app) || app.shared.grid.anchor.take().is_some() {
        return;
    }
    if app.shared.session.view().marked() > 0 {
        let all = (*app.shared.session.view().marks).clone();
        app.shared.session.mark(&all, false);
        return app.shared.show_note("marks cleared");
    }
    if view::spec(&app.shared).filter.is_some() {
        view::show_all(&mut app.shared);
    }
}

/// Cancels the running job that is first in this order. False if none can be cancelled.
fn stop_jobs(app: &mut App) -> bool {
    // Held input was meant for the cancelled result.
    app.held_input.clear();
    let kinds = [
        Kind::Search,
        Kind::Preview,
        Kind::Plan,
        Kind::Edit,
        Kind::View,
        Kind::Data,
        Kind::Load,
        Kind::Save,
        Kind::Download,
        Kind::Probe,
    ];
    // A save that has begun to replace files is not cancelled.
    let can_stop = |kind: &Kind| match kind {
        // It is already stopping, and waits for its last requests.
        Kind::Probe if app.shared.probing.is_stopping => false,
        kind => app.shared.jobs.reading(*kind).is_some_and(|reading| !reading.sealed),
    };
    let Some(kind) = kinds.into_iter().find(can_stop) else { return false };
    app.shared.jobs.effect(Effect::Cancel(kind));
    match kind {
        Kind::Load => app.shared.show_note("loading stopped; what was read can be viewed, not changed"),
        Kind::View => view::drop_requested(&mut app.shared),
        Kind::Search => app.shared.requested_rows.stop_search(),
        Kind::Probe => {
            app.shared.probing.is_stopping = true;
            app.shared.show_note("pausing: waiting for the last answers; results so far are kept");
        }
        _ => {}
    }
    true
}

/// Opens the prompt for a new URL.
fn open_add(app: &mut App, before: bool) {
    if let Some(add) = Add::new(&mut app.shared, before) {
        app.open(Mode::Add(add));
    }
}

/// Lists values for lastmod.
fn open_dates(app: &mut App) {
    if !app.shared.ensure_changeable() {
        return;
    }
    let mut list = List::new(ListKind::Dates, Vec::new());
    list.prompt = Some(Prompt::new("", Vec::new()));
    list.narrow(&app.shared);
    app.open(Mode::List(list));
}

/// Lists the unsaved changes.
pub(super) fn open_changes(app: &mut App) {
    if !app.shared.session.is_modified() {
        return app.shared.show_note("no unsaved changes");
    }
    // The list shows its keys instead of the message.
    app.shared.message = None;
    app.open(Mode::Changes(Box::default()));
}
