//! The history: lists the changes, goes to one, and shows the commands that repeat them.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::items::{self, entry};
use super::super::modes::list::{List, ListKind};
use super::super::state::request::Choice;
use crate::session::edit::script_export;
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// The changes made, newest first.
pub(in crate::tui::app) fn open_history(app: &mut App) {
    let entries = app.shared.session.history();
    if entries.is_empty() {
        return app.shared.show_note("no changes yet");
    }
    let done = entries.iter().filter(|entry| entry.done).count();
    let mut lines = Vec::new();
    for (at, step) in entries.iter().enumerate().rev() {
        let here = at + 1 == done;
        let role = if step.done { Role::Text } else { Role::Dim };
        let mut words = Words::dim(format!("{:>5}  ", at + 1)).and(role, step.label.clone());
        if !step.done {
            words.push(Role::Dim, "   undone");
        }
        let mut right = Words::new();
        if here {
            right.push(Role::Accent, "now");
        }
        if step.saved {
            right.push(Role::Good, if here { "   saved" } else { "saved" });
        }
        lines.push(entry(words, right, Choice::GoToState(at + 1)));
    }
    let right = if done == 0 { Words::new().and(Role::Accent, "now") } else { Words::new() };
    lines.push(entry(Words::dim("    0  as it was opened"), right, Choice::GoToState(0)));
    let mut list = List::new(ListKind::History, lines);
    list.chosen = entries.len() - done;
    app.open(Mode::List(list));
}

/// The changes made, as a script.
pub(in crate::tui::app) fn open_script(app: &mut App) {
    let script = script_export::of_session(&app.shared.session);
    if script.is_empty() {
        return app.shared.show_note("no changes yet");
    }
    let role = |line: &str| if line.starts_with('#') { Role::Dim } else { Role::Text };
    let lines = script.iter().map(|line| items::text(Words::new().and(role(line), line.clone()))).collect();
    app.open_list(ListKind::Script, lines);
}
