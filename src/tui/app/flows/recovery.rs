//! Recovers unsaved changes of an earlier session: replays, keeps or discards them.

use super::super::App;
use super::super::modes::ask::Ask;
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::request::{Answer, Subject};
use crate::files::journal::LockedByOther;
use crate::protocol::lastmod::{self, Now};
use crate::session::store::journal::RecoverableChanges;
use crate::session::store::journal::recovery::{self, JournalRead};
use crate::session::store::journal::replay::{self, Replay, Replayed};
use crate::tui::app::state::KeyHold;
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use crate::words::counted;

/// Maximum number of changes of an earlier session that are listed.
const MAX_LISTED: usize = 12;

/// Makes the set read-only, since another process has locked its files.
pub(in crate::tui::app) fn read_only(app: &mut App, held: &LockedByOther) {
    app.shared.session.set_read_only(held.to_string());
    app.shared.show_error(format!("{held}; it can be read here, not changed"));
}

/// Starts the journal, and asks about unsaved changes of an earlier session.
pub(in crate::tui::app) fn begin(app: &mut App, read: JournalRead) {
    if let JournalRead::Elsewhere(count, paths) = &read {
        let (count, paths) = (*count, paths.clone());
        recovery::begin(&mut app.shared.session, read);
        return note_waiting_changes(app, count, &paths);
    }
    let (left, words) = recovery::begin(&mut app.shared.session, read);
    let Some(left) = left else {
        if let Some(words) = words {
            // A path does not fit into the one line of the footer.
            let path = app.shared.session.path().map_or_else(|| "PATH".to_owned(), |path| path.display().to_string());
            let recover = format!("sited recover {path} shows what it holds.");
            let lines = vec![Words::text(words).into(), Words::dim(recover).into()];
            let title = Words::new().and(Role::Warning, "unsaved changes of an earlier session");
            app.ask(Ask::new(title, lines, vec![('k', "go on", Answer::Stay)]));
        }
        return;
    };
    if let Some(words) = words {
        app.shared.show_error(words);
    }
    let mut lines: Vec<Line> = vec![
        Words::dim(format!(
            "Made on {} and not saved; the files have not changed since.",
            date_and_time(&app.shared, left.started)
        ))
        .into(),
    ];
    if left.is_cut {
        lines.push(Words::dim("The last one is incomplete: it was being written when the session ended.").into());
    }
    let gaps = left.missing().lines();
    let more = gaps.len().saturating_sub(MAX_LISTED);
    lines.extend(gaps.into_iter().take(MAX_LISTED).map(|text| Line::from(Words::new().and(Role::Warning, text))));
    if more > 0 {
        lines.push(Words::dim(format!("  … {more} more; sited recover lists them")).into());
    }
    let shown = left.labels.len().saturating_sub(MAX_LISTED);
    if shown > 0 {
        lines.push(Words::dim(format!("  … {shown} before these")).into());
    }
    lines.extend(left.labels.iter().skip(shown).map(|label| Line::from(Words::text(format!("  {label}")))));
    let title = format!("{} of an earlier session", counted(left.labels.len() as u64, "unsaved change"));
    let answers = vec![
        ('r', "replay them", Answer::Replay),
        ('l', "leave them for later", Answer::Later),
        ('D', "discard them", Answer::DropRecoverable),
    ];
    app.ask(Ask::new(Words::text(title), lines, answers).about(Subject::Recoverable(left)));
}

/// Reports unsaved changes of these files in the journal of another set, which a save from here would make unusable.
fn note_waiting_changes(app: &mut App, count: usize, path: &str) {
    let words = format!("an earlier session left {} to it", counted(count as u64, "unsaved change"));
    let line = |text: &str| Line::from(Words::text(text.to_owned()));
    app.ask(Ask::new(
        Words::text(words),
        vec![
            line("It was open by another path then. Open that: it shows the changes and asks."),
            Line::from(Words::new().and(Role::Accent, format!("  sited {path}"))),
            Words::dim("Until then these files can be read here, not changed.").into(),
        ],
        vec![('r', "read only", Answer::Stay), ('q', "leave", Answer::Leave(0))],
    ));
}

/// An instant as date and time, in the zone of the clock.
fn date_and_time(shared: &Shared, seconds: i64) -> String {
    let now = Now { seconds, ..shared.session.view().clock };
    lastmod::parse_input("now", None, now).ok().flatten().unwrap_or_default()
}

/// Replays the unsaved changes in a job. Keys wait for the result.
pub(in crate::tui::app) fn replay(shared: &mut Shared, left: RecoverableChanges) {
    let replay = Replay::of(&shared.session, left);
    shared.opening.keys = KeyHold::On;
    shared.show_note("replaying the changes…");
    shared.jobs.run(Kind::Edit, false, move |progress| JobOutcome::Replayed(replay.run(progress).map(Box::new)));
}

/// Commits the replayed changes; `None` if the replay was stopped, which keeps them for later.
pub(in crate::tui::app) fn finish_replay(shared: &mut Shared, replayed: Option<Replayed>) {
    shared.opening.keys = KeyHold::Off;
    let Some(replayed) = replayed else { return later(shared) };
    let kept = if replayed.has_gaps() { "; the damaged journal is kept: sited recover shows it" } else { "" };
    match replay::replace_session(&mut shared.session, replayed) {
        Ok(steps) => shared.show_note(format!("{} replayed; u undoes them{kept}", counted(steps as u64, "change"))),
        Err(refused) => shared.show_error(format!("some changes could not be replayed: {refused}")),
    }
    shared.grid.follow(&shared.session);
}

/// Keeps the changes for later.
pub(in crate::tui::app) fn later(shared: &mut Shared) {
    shared.session.set_read_only("unsaved changes of an earlier session are waiting");
    shared.show_note("changes kept for later; the set is read-only");
}
