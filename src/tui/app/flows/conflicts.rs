//! Asks about merge conflicts one by one; they are resolved after the last answer.

use super::super::App;
use super::super::modes::ask::Ask;
use super::super::modes::list::{List, ListKind};
use super::super::modes::{Mode, items};
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::request::{Answer, Resolving, Subject};
use super::inspect::wrap_exactly;
use super::opening;
use crate::check::rule::Rule;
use crate::files::{self, Answers, Conflicts, Error, MergeConflict, Side};
use crate::session::command::{Command, Scope};
use crate::session::edit::EditError;
use crate::session::edit::{DefaultScope, Prepared};
use crate::session::prepare;
use crate::session::store::load;
use crate::tui::jobs::Kind;
use crate::tui::text::Charset;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use crate::words::{counted, grouped};
use std::sync::Arc;

/// Maximum number of lines of each side that the question shows.
const MAX_SIDE_LINES: usize = 4;

/// The question about the next conflict.
fn question(resolving: Resolving, charset: Charset, width: usize) -> Option<Ask> {
    let conflict = resolving.current()?;
    let (from, to) = conflict.lines;
    let (number, count) = (resolving.answers.len() + 1, resolving.conflicts.len());
    let name = conflict.path.file_name().unwrap_or(conflict.path.as_os_str()).to_string_lossy();
    let title = format!(
        "merge conflict {} of {}: {name}, lines {}–{}",
        grouped(number as u64),
        grouped(count as u64),
        grouped(from.into()),
        grouped(to.into())
    );
    let mut lines = sides(conflict, charset, width, MAX_SIDE_LINES);
    if let Some(why) = conflict.no_both {
        lines.push(Words::dim(format!("Keeping both is not possible: {why}.")).into());
    }
    lines.push(Words::dim("The file on disk stays as it is until you save.").into());
    let both = conflict.no_both.is_none();
    let mut answers = vec![
        ('l', "look at all lines", Answer::LookAtConflict),
        ('o', "ours", Answer::Resolve { side: Side::Ours, remaining: false }),
        ('t', "theirs", Answer::Resolve { side: Side::Theirs, remaining: false }),
    ];
    if both {
        answers.push(('b', "both", Answer::Resolve { side: Side::Both, remaining: false }));
    }
    if resolving.remaining().len() > 1 {
        answers.push(('O', "ours for all remaining", Answer::Resolve { side: Side::Ours, remaining: true }));
        answers.push(('T', "theirs for all remaining", Answer::Resolve { side: Side::Theirs, remaining: true }));
        if resolving.remaining().iter().all(|one| one.no_both.is_none()) {
            answers.push(('B', "both for all remaining", Answer::Resolve { side: Side::Both, remaining: true }));
        }
    }
    Some(Ask::new(Words::new().and(Role::Error, title), lines, answers).about(Subject::Conflict(resolving)))
}

/// The lines of both sides, at most `most` of each.
fn sides(conflict: &MergeConflict, charset: Charset, width: usize, most: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let named = ["ours", "theirs"].into_iter().zip(&conflict.names).zip([&conflict.ours, &conflict.theirs]);
    for ((side, name), text) in named {
        let title = if name.is_empty() { side.to_owned() } else { format!("{side} ({name})") };
        let count = text.lines().count();
        let words = Words::new().and(Role::Bold, title);
        lines.push(Line::from(if count == 0 { words.and(Role::Dim, ": no lines") } else { words }));
        for line in text.lines().take(most) {
            let words = wrap_exactly(&Words::text(format!("  {line}")), charset, width);
            // The question shows each line in one line.
            let shown = if most == MAX_SIDE_LINES { 1 } else { words.len() };
            lines.extend(words.into_iter().take(shown).map(Line::from));
        }
        if count > most {
            lines.push(Words::dim(format!("  … {}", counted((count - most) as u64, "more line"))).into());
        }
    }
    lines
}

/// Reads the conflicts of all files, and asks about each.
pub(in crate::tui::app) fn ask_side(shared: &mut Shared) {
    let (files, options) = (load::conflicted_files(&shared.session), shared.opening.options.clone());
    shared.jobs.run(Kind::Preview, false, move |progress| {
        JobOutcome::Conflicts(files::merge_conflicts(&files, &options, progress))
    });
}

pub(in crate::tui::app) fn show_conflicts(app: &mut App, conflicts: Result<Vec<MergeConflict>, Error>) {
    // A fix from the list of rules returns to the list at once.
    let is_expected = match app.modes.current() {
        Mode::Table | Mode::Details => true,
        Mode::List(list) => list.kind == ListKind::Rules,
        _ => false,
    };
    if !load::has_conflicts(&app.shared.session) || !is_expected {
        return;
    }
    match conflicts {
        Ok(conflicts) => {
            ask_conflict(app, Resolving { conflicts, answers: Vec::new() });
        }
        Err(error) => {
            app.ask(Ask::new(
                Words::new().and(Role::Error, "unresolved merge conflicts"),
                vec![
                    Words::text(error.to_string()).into(),
                    Words::dim("Resolve it in a text editor; :edit reads the file again.").into(),
                ],
                vec![('l', "look at the file, read-only", Answer::Stay)],
            ));
        }
    }
}

fn ask_conflict(app: &mut App, resolving: Resolving) {
    let width = list_width(&app.shared);
    if let Some(ask) = question(resolving, app.shared.theme.charset, width) {
        app.ask(ask);
    }
}

/// Records an answer; after the last, reads the files as resolved.
pub(in crate::tui::app) fn resolve_conflict(app: &mut App, mut resolving: Resolving, side: Side, remaining: bool) {
    let count = if remaining { resolving.remaining().len() } else { 1 };
    resolving.answers.extend(std::iter::repeat_n(side, count));
    if resolving.current().is_some() {
        return ask_conflict(app, resolving);
    }
    let Resolving { conflicts, answers } = resolving;
    let answers = Answers::each(conflicts.iter().zip(answers));
    app.shared.opening.options.conflicts = Conflicts::Take(Arc::new(answers));
    opening::reload(&mut app.shared, true);
    app.shared.opening.options.conflicts = Conflicts::Show;
}

/// Shows all lines of the current conflict, above the question.
pub(in crate::tui::app) fn show_conflict(app: &mut App) {
    let Mode::Ask(ask) = app.modes.current() else { return };
    let Subject::Conflict(resolving) = &ask.subject else { return };
    let Some(conflict) = resolving.current() else { return };
    let lines = sides(conflict, app.shared.theme.charset, list_width(&app.shared), usize::MAX);
    let list = List::new(ListKind::Conflict, lines.into_iter().map(items::text).collect());
    app.modes.open_above(Mode::List(list));
}

/// Prepares the change that resolves merge conflicts, for the next save.
pub(in crate::tui::app) fn accept_side(shared: &mut Shared) {
    if !shared.ensure_changeable() {
        return;
    }
    let scope = Scope { shown: false, query: None };
    let command = Command::Fix { scope, rules: vec![Rule::MERGE_CONFLICT.code().to_owned()], answer: None };
    let (snapshot, is_small) = (shared.session.snapshot(), shared.is_small());
    shared.jobs.run(Kind::Edit, is_small, move |progress| {
        JobOutcome::SideAccepted(prepare::of_command(&snapshot, &command, DefaultScope::All, progress))
    });
}

/// Commits the change that resolves merge conflicts.
pub(in crate::tui::app) fn commit_side(shared: &mut Shared, result: Result<Prepared, EditError>) {
    match result.and_then(|prepared| shared.session.commit(prepared, None)) {
        Ok(_) => shared.show_note("merge conflicts resolved; saving writes the result"),
        Err(error) => shared.show_error(error.to_string()),
    }
    shared.grid.follow(&shared.session);
}

/// Reports that the answers cannot be applied, and offers to ask again.
pub(in crate::tui::app) fn conflicts_refused(app: &mut App, error: &Error) {
    app.ask(Ask::new(
        Words::new().and(Role::Error, "the merge conflicts cannot be resolved like this"),
        vec![Words::text(error.to_string()).into()],
        vec![('a', "answer again", Answer::DiscardAndReload), ('q', "leave", Answer::Leave(3))],
    ));
}

fn list_width(shared: &Shared) -> usize {
    usize::from(shared.size.0).saturating_sub(5).max(20)
}
