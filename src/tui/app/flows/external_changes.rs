//! Checks for changes by other programs on focus and before a save, and offers what can be done.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::ask::Ask;
use super::super::modes::merge::Merging;
use super::super::operations::edit::show_report;
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::request::{Answer, Request};
use super::{leave, opening};
use crate::files::external_changes::{FileChange, OutsideChanges, Thoroughness};
use crate::protocol::Severity;
use crate::session::store::external_changes;
use crate::session::store::external_changes::{Compared, Merged};
use crate::session::store::journal;
use crate::session::store::load;
use crate::tui::command::Action;
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use crate::words::counted;
use crate::xml::names::FileKind;
use std::path::PathBuf;

/// Maximum number of files that a question lists.
const MAX_LISTED: usize = 8;

/// Checks whether other programs have changed files; if `is_requested`, the result is always shown.
pub(in crate::tui::app) fn check_external_changes(shared: &mut Shared, care: Thoroughness, is_requested: bool) {
    if shared.session.path().is_none() || shared.session.is_loading() || shared.jobs.is_busy(Kind::Save) {
        if is_requested {
            shared.show_note("no files on disk to compare with");
        } else {
            shared.outside.is_check_due |= shared.session.is_loading();
        }
        return;
    }
    let check = external_changes::begin_check(&shared.session);
    let ticket = shared.outside.epoch;
    shared.jobs.run(Kind::DiskCheck, false, move |_| JobOutcome::DiskChecked {
        ticket,
        outside: check.run(care),
        is_requested,
    });
}

/// Shows the result of a check, unless a save has changed the files since.
pub(in crate::tui::app) fn show_external_changes(
    app: &mut App,
    ticket: u64,
    outside: &OutsideChanges,
    is_requested: bool,
) {
    if ticket != app.shared.outside.epoch {
        return;
    }
    external_changes::note_touched(&mut app.shared.session, outside);
    let known = std::mem::replace(&mut app.shared.outside.changed, outside.changed.clone());
    if is_requested {
        return if app.shared.outside.changed.is_empty() {
            app.shared.show_note("the files have not changed on disk");
        } else {
            open_outside(app, false);
        };
    }
    if app.shared.outside.changed.is_empty() || app.shared.outside.changed == known {
        return;
    }
    let mut words = Words::new().and(Role::Warning, format!("{} ", app.shared.theme.signs.warning));
    words.push(Role::Text, outside_words(&app.shared));
    words.key("go", "what to do");
    app.shared.show_words(words, Severity::Note);
}

/// `sitemap-1.xml was replaced by another program`.
fn outside_words(shared: &Shared) -> String {
    match shared.outside.changed.as_slice() {
        [(path, fate)] => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("{name} {} by another program", fate.words())
        }
        files => format!("{} were changed by another program", counted(files.len() as u64, "file")),
    }
}

/// Asks what to do about a save that did not start because other programs have changed files.
pub(in crate::tui::app) fn save_held_back(app: &mut App, outside: &OutsideChanges) {
    app.shared.save.then_leave = false;
    journal::note_no_save(&mut app.shared.session);
    external_changes::note_touched(&mut app.shared.session, outside);
    app.shared.outside.changed.clone_from(&outside.changed);
    open_outside(app, true);
}

/// Offers the possible actions; `saving`: a save waits for the answer.
fn open_outside(app: &mut App, saving: bool) {
    let mut lines: Vec<Line> = Vec::new();
    let charset = app.shared.theme.charset;
    for (path, fate) in app.shared.outside.changed.iter().take(MAX_LISTED) {
        let name = charset.visible(&path.display().to_string()).into_owned();
        lines.push(Words::text(format!("  {name} ")).and(Role::Warning, fate.words()).into());
    }
    if app.shared.outside.changed.len() > MAX_LISTED {
        lines.push(Words::dim(format!("  … {} more", app.shared.outside.changed.len() - MAX_LISTED)).into());
    }
    let modified = app.shared.session.is_modified();
    // A set cannot be reloaded without the file that it was opened by.
    let is_main = |path: &PathBuf| {
        app.shared.session.path() == Some(path)
            && (app.shared.session.paths().is_empty() || load::kind(&app.shared.session) == FileKind::Index)
    };
    let readable = |path: &PathBuf, fate: FileChange| match fate {
        FileChange::Changed | FileChange::Replaced | FileChange::Truncated => true,
        FileChange::Deleted => !is_main(path),
        FileChange::Unchanged | FileChange::Unreadable => false,
    };
    let can_merge = modified && app.shared.outside.changed.iter().all(|(path, fate)| readable(path, *fate));
    let mut answers = Vec::new();
    if can_merge {
        answers.push(('m', "merge", Answer::Merge));
    }
    lines.push(if can_merge {
        Words::dim(
            "Merging asks about rows that both changed; reloading drops your changes, keeping yours drops theirs.",
        )
        .into()
    } else if modified {
        Words::dim("Reloading drops your changes; keeping yours, saving writes them over what is there.").into()
    } else {
        Words::dim("You have no unsaved changes: reloading loses nothing.").into()
    });
    answers.push(('r', "reload", Answer::Reload));
    answers.push(('o', "keep ours", Answer::KeepOurs(saving)));
    answers.push(('s', "elsewhere", Answer::SaveElsewhere));
    answers.push(('k', "later", Answer::Stay));
    if modified && !can_merge {
        // Enter must not lose changes.
        answers.rotate_right(1);
    }
    let words = if saving { format!("not saved: {}", outside_words(&app.shared)) } else { outside_words(&app.shared) };
    let title = Words::new().and(Role::Warning, format!("{} ", app.shared.theme.signs.warning)).and(Role::Text, words);
    app.ask(Ask::new(title, lines, answers));
}

/// Reads the files again; asks first if changes would be lost.
pub(in crate::tui::app) fn reload_outside(app: &mut App) {
    let Some(unsaved) = leave::unsaved(&app.shared.session) else { return opening::reload(&mut app.shared, true) };
    app.ask(Ask::new(
        Words::text(format!("{unsaved} not saved")),
        vec![Words::text("Reloading discards the unsaved changes.").into()],
        vec![('k', "keep editing", Answer::Stay), ('D', "discard and reload", Answer::DiscardAndReload)],
    ));
}

/// Keeps our version, which the next save writes.
pub(in crate::tui::app) fn keep_ours(shared: &mut Shared, saving: bool) {
    let paths: Vec<PathBuf> = shared.outside.changed.drain(..).map(|(path, _)| path).collect();
    external_changes::keep_ours(&mut shared.session, paths.iter().map(PathBuf::as_path));
    if saving {
        return shared.request(Request::Act(Action::Save, None));
    }
    shared.show_note("your version is kept; saving overwrites the files on disk");
}

/// Reads the files on disk in a job, to be compared.
pub(in crate::tui::app) fn begin_merge(shared: &mut Shared) {
    let Some(comparing) = external_changes::begin_merge(&shared.session, shared.opening.options.clone()) else {
        return;
    };
    shared.show_note("reading the files…");
    shared.jobs.run(Kind::DiskCheck, false, move |_| JobOutcome::Compared(comparing.run().map(Box::new)));
}

pub(in crate::tui::app) fn open_merge(app: &mut App, result: Result<Box<Compared>, String>) {
    match result {
        Err(why) => app.shared.show_error(format!("no merge: {why}; reload, keep ours or save elsewhere (go)")),
        // Another mode was opened.
        Ok(_) if !app.modes.is_browsing() => app.shared.show_note("both versions are read; go merges"),
        Ok(compared) => {
            app.shared.message = None;
            app.open(Mode::Merge(Box::new(Merging::new(*compared))));
        }
    }
}

/// Commits a merge as one step.
pub(in crate::tui::app) fn finish_merge(shared: &mut Shared, merged: Option<Box<Merged>>) {
    let Some(merged) = merged else { return shared.show_note("stopped; nothing was merged") };
    match external_changes::commit_merge(&mut shared.session, *merged) {
        Ok(report) => {
            shared.outside.forget();
            show_report(shared, &report, true);
        }
        Err(refused) => shared.show_error(refused.to_string()),
    }
}
