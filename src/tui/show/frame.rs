//! Shows the header and the footer.

use super::super::app::App;
use super::super::app::modes::Mode;
use super::super::app::modes::ask::Ask;
use super::super::app::modes::line::LineEdit;
use super::super::app::modes::list::ListKind;
use super::super::app::operations::view;
use super::super::app::state::Shared;
use super::super::app::state::recent::Purpose;
use super::super::draw::Footer;
use super::super::jobs::Kind;
use super::super::prompt::Prompt;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::lines::GAP;
use crate::document::index::Index;
use crate::document::quirk::Quirk;
use crate::document::sort::to_text;
use crate::progress::Reading;
use crate::protocol::{Field, Severity};
use crate::session::store::journal;
use crate::words::{counted, grouped, size};
use std::fmt::Write as _;

/// The mode name of a question.
const ASK: &str = "ASK";
const ENTER: &str = "↵";

pub(super) fn header(shared: &Shared) -> Line {
    let session = &shared.session;
    let charset = shared.theme.charset;
    let files = session.document().sitemaps().len() as u64;
    let mut counts = Words::new();
    let view = view_words(shared);
    // The filter and the sort order matter more than the number of files or the name.
    if files > 1 && shared.size.0 >= if view.is_empty() { 60 } else { 100 } {
        counts.push(Role::Dim, format!("{GAP}{}", counted(files, "file")));
    }
    let noun = if session.document().lists_sitemaps() { "sitemap" } else { "URL" };
    counts.push(Role::Text, format!("{GAP}{}", counted(u64::from(session.view().urls()), noun)));
    if let Some(words) = progress_words(shared) {
        counts.push(Role::Accent, format!("{GAP}{words}"));
    } else if session.is_modified() {
        counts.push(Role::Changed, format!("{GAP}modified"));
        if session.view().changed() > 0 {
            counts.push(Role::Text, format!(" {}", grouped(u64::from(session.view().changed()))));
        }
    } else if shared.save.is_saved {
        counts.push(Role::Good, format!("{GAP}saved"));
    }
    if !shared.outside.changed.is_empty() && shared.size.0 >= 50 {
        counts.push(Role::Warning, format!("{GAP}changed on disk"));
    }
    if journal::unprotected_reason(session).is_some() {
        counts.push(Role::Error, format!("{GAP}not kept"));
    }
    let repairs = count_repairs(shared);
    if repairs > 0 && shared.size.0 >= 60 {
        counts.push(Role::Warning, format!("{GAP}repaired"));
        counts.push(Role::Text, format!(" {}", grouped(repairs)));
    }
    if let Some(reason) = session.read_only().filter(|_| !session.is_loading()) {
        counts.push(Role::Warning, format!("{GAP}read-only"));
        counts.push(Role::Dim, format!(": {reason}"));
    }
    let mut left = Words::new();
    if shared.size.0 >= 40 {
        left.push(Role::Bold, "sited");
        left.push(Role::Text, "  ");
    }
    // If space is short, the name is shortened before the counts.
    let path = session.path().or(shared.opening.path.as_ref());
    let mut name = path.map_or_else(|| "sample set, not saved".to_owned(), |path| path.display().to_string());
    if let Some(more) = session.document().index().map(|index| index.more.len()).filter(|more| *more > 0) {
        // The name of the first index alone would suggest that it is the only one.
        let _ = write!(name, " and {more} more");
    }
    let beside = if view.is_empty() { 0 } else { view.width(charset) + 2 };
    let room = usize::from(shared.size.0).saturating_sub(2 + left.width(charset) + counts.width(charset) + beside);
    left.push(Role::Text, charset.elide(&name, room.max(8)).into_owned());
    left.append(counts);
    Line::new(left, view)
}

/// The number of repairs that were needed to read the files; the files on disk are unchanged.
fn count_repairs(shared: &Shared) -> u64 {
    let document = shared.session.document();
    let count = |quirks: &[Quirk]| quirks.iter().filter(|quirk| quirk.kind.is_repair()).count() as u64;
    let index = document.index().into_iter().flat_map(Index::files);
    let index = index.map(|file| count(file.quirks)).sum::<u64>();
    document.sitemaps().iter().map(|sitemap| count(&sitemap.quirks)).sum::<u64>() + index
}

/// Describes the view: sort keys, filter, and the number of rows shown and marked.
fn view_words(shared: &Shared) -> Words {
    let spec = view::spec(shared);
    let mut words = Words::new();
    if !spec.sort.is_empty() {
        words.push(Role::Dim, "sort ");
        words.push(Role::Text, to_text(&spec.sort));
    }
    if let Some(filter) = &spec.filter {
        if !words.is_empty() {
            words.push(Role::Text, GAP);
        }
        let text = filter.to_string();
        let room = usize::from(shared.size.0 / 4).clamp(10, 40);
        words.push(Role::Accent, shared.theme.charset.cut(&text, room).into_owned());
        words.push(Role::Text, format!("{GAP}{} shown", grouped(u64::from(shared.session.view().shown()))));
    }
    if shared.session.view().marked() > 0 {
        if !words.is_empty() {
            words.push(Role::Text, GAP);
        }
        words.push(Role::Accent, format!("{} marked", grouped(shared.session.view().marked())));
    }
    words
}

/// Describes the running job and its progress; `None` if no job of these kinds is running.
fn progress_words(shared: &Shared) -> Option<String> {
    if let Some(reading) = shared.jobs.reading(Kind::Load) {
        return Some(load_words(reading));
    }
    if let Some(reading) = shared.jobs.reading(Kind::Save) {
        let percent = (reading.bytes_done * 100).checked_div(reading.bytes_total);
        let percent = percent.map_or_else(String::new, |percent| format!(" {} %", percent.min(100)));
        // A save cannot be cancelled after the first rename.
        return Some(if reading.sealed {
            "saving: files are put in place".to_owned()
        } else {
            format!("saving{percent}…, Esc stops")
        });
    }
    if let Some(reading) = shared.jobs.reading(Kind::Download) {
        let Reading { files_done, files_total, bytes_read, .. } = reading;
        let files = counted(files_total, "file");
        let size = if bytes_read > 0 { format!(", {}", size(bytes_read)) } else { String::new() };
        return Some(format!("downloading {} of {files}{size}…, Esc stops", grouped(files_done)));
    }
    let job_names = [
        (Kind::Edit, "applying"),
        (Kind::Plan, "computing the plan"),
        (Kind::View, "filtering and sorting"),
        (Kind::Search, "searching"),
        (Kind::Data, "reading data"),
        (Kind::Probe, if shared.probing.is_stopping { "pausing" } else { "probing the site" }),
    ];
    let (_, words) = job_names.into_iter().find(|(kind, _)| shared.jobs.is_busy(*kind))?;
    let esc = match words {
        "pausing" => "",
        "probing the site" => ", Esc pauses",
        _ => ", Esc stops",
    };
    Some(format!("{words}…{esc}"))
}

pub(super) fn footer_words(app: &App) -> Line {
    let pending = app.shared.keymap.pending();
    let is_visible = |severity| {
        severity == Severity::Error || matches!(app.modes.current(), Mode::Table | Mode::Details | Mode::Changes(_))
    };
    if let Some(message) = app.shared.message.as_ref().filter(|message| is_visible(message.severity))
        && pending.is_empty()
    {
        let mut words = Words::text("");
        if message.severity == Severity::Error {
            words.push(Role::Error, format!("{} ", app.shared.theme.signs.error));
        }
        words.append(message.words.clone());
        return Line::new(words, position_words(&app.shared));
    }
    let width = usize::from(app.shared.size.0).saturating_sub(2);
    let (mode, hints) = mode_and_hints(app);
    let mut words = Words::new().and(Role::Mode, format!(" {mode} ")).and(Role::Text, "  ");
    let right = if pending.is_empty() { position_words(&app.shared) } else { Words::new().and(Role::Accent, pending) };
    let charset = app.shared.theme.charset;
    let room = width.saturating_sub(words.width(charset) + right.width(charset) + 3);
    words.append(fitting_hints(hints, room, charset));
    Line::new(words, right)
}

/// The position of the cursor and the number of rows shown, `3/1,204`, or `3/…` before it is known.
fn position_words(shared: &Shared) -> Words {
    let rows = match shared.session.view().shown() {
        0 if shared.grid.first_rows == 0 => return Words::new(),
        0 => shared.theme.charset.ellipsis().to_owned(),
        shown => grouped(u64::from(shown)),
    };
    Words::dim(format!("{}/{rows}", grouped(u64::from(shared.grid.position) + 1)))
}

/// Returns the name of the mode and its hints: key, description, rank. If space is short, the hints with the highest
/// rank are left out first.
fn mode_and_hints(app: &App) -> (String, Vec<(String, String, u8)>) {
    let hint = |key: &str, does: &str, rank| (key.to_owned(), does.to_owned(), rank);
    let waiting = app.shared.keymap.hints();
    if !waiting.is_empty() {
        let mut hints: Vec<(String, String, u8)> =
            waiting.iter().map(|(key, command)| (key.clone(), command.name.to_owned(), 1)).collect();
        hints.push(hint("Esc", "cancel", 2));
        return ("…".to_owned(), hints);
    }
    let enter = ENTER;
    match app.modes.current() {
        Mode::Table => {
            let mut hints = Vec::new();
            if app.shared.grid.anchor.is_some() {
                hints.push(hint("v", "end range", 1));
                hints.push(hint("Esc", "drop it", 1));
            } else if app.shared.session.view().marked() > 0 {
                hints.push(hint("Esc", "unmark", 2));
            } else if app.shared.session.view().spec().filter.is_some() {
                hints.push(hint("Esc", "show all", 2));
            }
            hints.extend([
                hint(enter, "edit", 3),
                hint("o", "add", 5),
                hint("dd", "delete", 7),
                hint("Space", "mark", 8),
                hint("b", "set many", 4),
                hint("f", "filter", 4),
                hint("s", "sort", 9),
                hint("gx", "fix", 6),
                hint("^S", "save", 1),
                hint("u", "undo", 1),
                hint("?", "help", 0),
            ]);
            if app.shared.session.view().shown() == 0 {
                // Keys for rows are left out; findings of files can still be fixed.
                let has_file = !app.shared.session.document().sitemaps().is_empty();
                hints.retain(|(key, ..)| match key.as_str() {
                    "o" => has_file,
                    "f" => app.shared.session.view().urls() > 0,
                    key => matches!(key, "Esc" | "gx" | "^S" | "u" | "?"),
                });
                hints.push(hint("^E", "rules", 2));
            }
            let mode = if app.shared.grid.anchor.is_some() { "RANGE" } else { "NORMAL" };
            (mode.to_owned(), hints)
        }
        Mode::Details => (
            "DETAILS".into(),
            vec![
                hint(enter, "edit", 1),
                hint("a", "add here", 2),
                hint("o", "add an extension", 3),
                hint("x", "remove", 2),
                hint("u", "undo", 4),
                hint("j k", "move", 5),
                hint("Esc", "back", 0),
            ],
        ),
        Mode::Cell(edit) => {
            let mut hints = vec![hint(enter, "keep", 0), hint("Esc", "drop", 1)];
            if edit.validation.suggestion.is_some() {
                hints.push(hint("Tab", "take the suggestion", 2));
            } else {
                hints.push(hint("Tab", "keep and next", 2));
            }
            match edit.field {
                Field::Changefreq => hints.push(hint("↑ ↓ or letters", "choose", 2)),
                Field::Lastmod => hints.push(hint("also", "today  now  +7d  -1d  none", 3)),
                Field::Priority => hints.push(hint("also", "+0.1  -0.1  none", 3)),
                Field::Loc => {}
            }
            (format!("EDIT {}", edit.field.name()), hints)
        }
        Mode::Bulk(_) => (
            "SET MANY".into(),
            vec![hint(enter, "apply", 0), hint("Esc", "leave", 1), hint("↑ ↓", "field", 2), hint("Tab", "rows", 2)],
        ),
        Mode::Element(edit) => {
            let mut hints = vec![hint(enter, if edit.is_new { "add it" } else { "keep" }, 0), hint("Esc", "drop", 1)];
            if edit.values.len() > 1 {
                hints.push(hint("Tab ↑ ↓", "next value", 2));
            }
            (if edit.is_new { "ADD" } else { "EDIT" }.to_owned() + " " + &edit.path.to_string(), hints)
        }
        Mode::Add(add) => {
            let does = if add.list.is_empty() { "add it" } else { "add them" };
            let mut hints = vec![hint(enter, does, 0), hint("Esc", "leave", 1)];
            let [known, wrong] = add.count_problems();
            if known > 0 {
                hints.push(hint("d", if add.adds_known { "skip duplicates" } else { "add duplicates" }, 2));
            }
            if wrong > 0 {
                hints.push(hint("e", if add.adds_invalid { "skip errors" } else { "add errors" }, 2));
            }
            if !add.list.is_empty() {
                hints.push(hint("Space", "take or skip", 2));
                hints.push(hint("a", "all, none", 3));
                hints.push(hint("↑ ↓", "move", 3));
            }
            ("ADD".into(), hints)
        }
        Mode::List(list) => {
            let does = if list.chooses() { "choose" } else { "close" };
            let mut hints = vec![hint(enter, does, 0), hint("j k", "move", 2)];
            if list.searches() {
                hints.push(hint("/", "search", 1));
            }
            hints.push(hint("Esc", if list.is_narrowed() { "show all" } else { "close" }, 1));
            ("LIST".into(), hints)
        }
        Mode::Merge(_) => (
            "MERGE".into(),
            vec![
                hint("o", "ours", 1),
                hint("t", "theirs", 1),
                hint("b", "fields of both", 2),
                hint("O T B", "for all undecided", 3),
                hint(enter, "merge", 0),
                hint("Esc", "leave", 1),
            ],
        ),
        Mode::Changes(changes) => {
            let narrowed = !changes.holds.is_empty();
            let mut hints = vec![
                hint(enter, "go there", 1),
                hint("r", "revert", 0),
                hint("/", "search", 1),
                hint("u", "undo", 3),
                hint("f", "filter the table", 4),
                hint("Esc", if narrowed { "show all" } else { "close" }, 1),
            ];
            if narrowed {
                hints.insert(2, hint("R", "revert all of these", 2));
            }
            ("UNSAVED".into(), hints)
        }
        Mode::Ask(ask) if footer_holds_answers(&app.shared, ask) => (ASK.into(), footer_answers(ask)),
        Mode::Ask(_) => (ASK.into(), vec![hint("Esc", "cancel", 0)]),
        Mode::Line(_) => (String::new(), Vec::new()),
    }
}

fn footer_answers(ask: &Ask) -> Vec<(String, String, u8)> {
    let cancel = ask.is_conflict().then(|| ("Esc".to_owned(), "cancel".to_owned(), 0));
    answer_hints(ask).into_iter().chain(cancel).collect()
}

/// Whether the answers to a question fit in the footer; if not, they are below the question.
fn footer_holds_answers(shared: &Shared, ask: &Ask) -> bool {
    let charset = shared.theme.charset;
    let mode = Words::new().and(Role::Mode, format!(" {ASK} ")).and(Role::Text, "  ");
    let answers = hint_words(footer_answers(ask));
    let used = mode.width(charset) + answers.width(charset) + position_words(shared).width(charset) + 3;
    used + 2 <= usize::from(shared.size.0)
}

/// Returns the lines of the answers to a question, none of them cut off; empty if the footer shows them.
pub(super) fn answer_lines(shared: &Shared, ask: &Ask) -> Vec<Line> {
    if footer_holds_answers(shared, ask) {
        return Vec::new();
    }
    let charset = shared.theme.charset;
    let width = usize::from(shared.size.0).saturating_sub(5).max(1);
    let mut lines = vec![Words::new()];
    for hint in answer_hints(ask) {
        let one = hint_words(vec![hint]);
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = one,
            Some(line) if line.width(charset) + GAP.len() + one.width(charset) <= width => {
                line.push(Role::Text, GAP);
                line.append(one);
            }
            _ => lines.push(one),
        }
    }
    lines.into_iter().map(Line::from).collect()
}

pub(super) fn line_footer<'a>(shared: &'a Shared, edit: &'a LineEdit) -> Footer<'a> {
    let label = match edit.purpose {
        Purpose::Command | Purpose::Search => Words::new().and(Role::Accent, edit.purpose.label()),
        _ => Words::new()
            .and(Role::Mode, format!(" {} ", edit.purpose.label().trim().to_uppercase()))
            .and(Role::Text, " "),
    };
    let mut right = Words::new();
    match edit.purpose {
        Purpose::Filter => {
            let (shown, all) = (u64::from(shared.session.view().shown()), u64::from(shared.session.view().urls()));
            right.push(Role::Text, format!("{} of {} shown", grouped(shown), grouped(all)));
            right.key("↵", "keep");
        }
        Purpose::Search => right.key("↵", "stay"),
        Purpose::Mark => right.key("↵", "mark"),
        Purpose::Unmark => right.key("↵", "unmark"),
        Purpose::Command => right.key("↵", "apply"),
        Purpose::Base => right.key("↵", "use it"),
    }
    right.key("Esc", "leave");
    let no_match = edit.no_match
        || edit.purpose == Purpose::Filter && shared.session.view().shown() == 0 && shared.session.view().urls() > 0;
    if no_match {
        let sign = format!("{} ", shared.theme.signs.warning);
        let typed = shared.theme.charset.cut(edit.prompt.text().trim(), usize::from(shared.size.0 / 3).max(8));
        right = Words::new().and(Role::Warning, sign).and(Role::Text, format!("no match for “{typed}”"));
        right.key("Esc", "leave");
    }
    if let Some(message) = shared.message.as_ref().filter(|message| message.severity == Severity::Error) {
        right = Words::new().and(Role::Error, format!("{} ", shared.theme.signs.error));
        right.append(message.words.clone());
    }
    Footer::Prompt { label, prompt: &edit.prompt, right }
}

/// Returns the answers to a question as hints.
fn answer_hints(ask: &Ask) -> Vec<(String, String, u8)> {
    let hint = |(at, (key, does, _)): (usize, &(char, &'static str, _))| {
        let key = if at == 0 { format!("{ENTER} or {key}") } else { key.to_string() };
        (key, (*does).to_owned(), 0)
    };
    ask.answers.iter().enumerate().map(hint).collect()
}

fn hint_words(hints: Vec<(String, String, u8)>) -> Words {
    let mut words = Words::new();
    for (key, does, _) in hints {
        words.key(key, does);
    }
    words
}

/// Describes the progress of a load: first the bytes read from disk, then the bytes scanned.
fn load_words(reading: Reading) -> String {
    let Reading { bytes_done, bytes_total, bytes_read, files_done, files_total, .. } = reading;
    let is_reading = files_total == 1 && bytes_done == 0 && bytes_read < bytes_total;
    if files_total == 1 && bytes_done == 0 && bytes_read > 0 && !is_reading {
        // The file is being decoded and scanned; no row is counted yet.
        return format!("loading{GAP}{} read{GAP}Esc stops", size(bytes_read));
    }
    let (verb, bytes) = if is_reading { ("reading", bytes_read) } else { ("loading", bytes_done) };
    let percent = (bytes * 100).checked_div(bytes_total);
    let percent = percent.map_or_else(String::new, |percent| format!(" {} %", percent.min(100)));
    let what = match files_total {
        0 => String::new(),
        1 => format!("{GAP}{} of {}", size(bytes.min(bytes_total)), size(bytes_total)),
        _ => format!("{GAP}{} of {}{GAP}{}", grouped(files_done), counted(files_total, "file"), size(bytes)),
    };
    format!("{verb}{percent}{what}{GAP}Esc stops")
}

/// The footer of a search in a list or in the unsaved changes.
pub(super) fn search_footer(prompt: &Prompt) -> Footer<'_> {
    let mut right = Words::new();
    right.key("↵", "keep");
    right.key("Esc", "show all");
    Footer::Prompt { label: Words::new().and(Role::Accent, "/"), prompt, right }
}

/// The footer of a list that typing narrows.
pub(super) fn palette_footer(kind: ListKind, prompt: &Prompt) -> Footer<'_> {
    let mut right = Words::new();
    right.key("↵", "apply");
    right.key("Esc", "leave");
    let label = match kind {
        ListKind::Dates => " LASTMOD ",
        ListKind::Decide(_) => " FIX ",
        ListKind::Elements => " ADD ",
        _ => " COMMANDS ",
    };
    Footer::Prompt { label: Words::new().and(Role::Mode, label).and(Role::Text, " "), prompt, right }
}

/// Returns the hints that fit in `room` columns: those with the lowest ranks, in their given order.
fn fitting_hints(hints: Vec<(String, String, u8)>, room: usize, charset: super::super::text::Charset) -> Words {
    let width = |(key, does, _): &(String, String, u8)| charset.width(key) + charset.width(does) + 4;
    let mut order: Vec<usize> = (0..hints.len()).collect();
    order.sort_by_key(|at| hints.get(*at).map(|hint| hint.2));
    let (mut used, mut keep) = (0, vec![false; hints.len()]);
    for at in order {
        let Some(hint) = hints.get(at) else { continue };
        used += width(hint);
        if used > room + 3 {
            break;
        }
        if let Some(keep) = keep.get_mut(at) {
            *keep = true;
        }
    }
    let mut words = Words::new();
    for ((key, does, _), keep) in hints.into_iter().zip(keep) {
        if keep {
            words.key(key, does);
        }
    }
    words
}
