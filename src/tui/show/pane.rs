//! Shows the pane under the table, and the overlay that covers it in some modes.

use super::super::app::App;
use super::super::app::modes::Mode;
use super::super::app::modes::add::{Add, ListSource};
use super::super::app::modes::cell::CellEdit;
use super::super::app::modes::line::LineEdit;
use super::super::app::modes::list::{List, ListKind};
use super::super::app::operations::describe::verdict_words;
use super::super::app::state::new_urls::{NewUrl, Objection};
use super::super::app::state::recent::Purpose;
use super::super::app::state::{Shared, large};
use super::super::draw::panel::Panel;
use super::super::text;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::changes::changes_panel;
use super::frame::answer_lines;
use super::lines::{GAP, severity_lines, verdict_lines, wrapped_lines};
use super::merge::merge_panel;
use super::preview::{bulk_pane, element_pane, preview_panel};
use super::status::status_pane;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::{Field, Severity};
use crate::session::explain::verdicts;
use crate::words::{counted, grouped};

pub(super) fn pane(app: &App) -> Panel {
    let (shared, height) = (&app.shared, usize::from(app.areas().pane.height));
    match app.modes.current() {
        Mode::Cell(edit) => cell_pane(shared, edit),
        Mode::Line(edit) => line_pane(shared, edit, height),
        Mode::Bulk(bulk) => bulk_pane(shared, bulk, height),
        Mode::Add(add) => add_pane(shared, add, height),
        Mode::Element(edit) => element_pane(shared, edit, height),
        _ => status_pane(shared),
    }
}

pub(super) fn overlay(app: &App) -> Option<Panel> {
    let shared = &app.shared;
    match app.modes.current() {
        Mode::List(list) => Some(list_panel(list)),
        Mode::Changes(changes) => Some(changes_panel(shared, changes)),
        Mode::Merge(merging) => Some(merge_panel(shared, merging)),
        Mode::Ask(ask) => {
            let wrapped = |line: &Line| {
                if line.right.is_empty() { wrapped_lines(shared, &line.left) } else { vec![line.clone()] }
            };
            let lines = ask.lines.iter().flat_map(wrapped).collect();
            Some(Panel {
                title: ask.title.clone().into(),
                lines,
                chosen: None,
                top: ask.top,
                foot: answer_lines(shared, ask),
            })
        }
        _ => None,
    }
}

fn cell_pane(shared: &Shared, edit: &CellEdit) -> Panel {
    let verdicts =
        edit.validation.value.as_deref().and_then(|value| verdicts(edit.field, text::up_to(value, large::SMALL)));
    let accepts = verdicts.map_or_else(Words::new, |verdicts| verdict_words(shared, &verdicts));
    let mut lines = verdict_lines(shared, &edit.validation, edit.prompt.text());
    if edit.field == Field::Changefreq {
        let list = frequencies(shared, edit.validation.value.as_deref());
        lines.splice(0..0, list);
    }
    let mut words = Words::new();
    match &edit.before {
        Some(before) => words.push(Role::Dim, format!("was {}", text::up_to(before, large::SMALL))),
        None => words.push(Role::Dim, "was empty"),
    }
    if edit.field == Field::Lastmod {
        let now = shared.session.view().clock;
        words.push(Role::Dim, format!("{GAP}today {}{GAP}now {}{GAP}none removes it", now.today(), now.timestamp()));
    }
    if edit.field == Field::Changefreq {
        words.push(Role::Dim, format!("{GAP}an empty cell removes it"));
    }
    lines.push(words.into());
    if !edit.others.is_empty() {
        let count = counted(edit.others.len() as u64, "more URL");
        let words = Words::new().and(Role::Bold, count).and(Role::Text, " pasted").and(Role::Dim, GAP);
        let mut words = words.and(Role::Dim, format!("{GAP}they become rows below this one"));
        words.key("↵", "keeps all");
        lines.insert(0, words.into());
    }
    let title = Line::new(Words::new().and(Role::Accent, edit.field.name()), accepts);
    Panel { title, lines, chosen: None, top: 0, foot: Vec::new() }
}

/// Returns the seven frequencies, with the current one highlighted.
fn frequencies(shared: &Shared, value: Option<&str>) -> Vec<Line> {
    let current = value.and_then(Changefreq::parse);
    let mut words = Words::new();
    for frequency in Changefreq::ALL {
        let name = frequency.name();
        if current == Some(frequency) {
            words.push(Role::Chosen, format!("[{name}]"));
            words.push(Role::Text, " ");
        } else {
            words.push(Role::Text, format!(" {name}  "));
        }
    }
    let width = usize::from(shared.size.0).saturating_sub(4);
    if words.width(shared.theme.charset) <= width { vec![words.into()] } else { wrapped_lines(shared, &words) }
}

fn line_pane(shared: &Shared, edit: &LineEdit, height: usize) -> Panel {
    let mut title = Line::default();
    let mut lines = Vec::new();
    match &edit.parsed {
        Some(Err(error)) => {
            title.left = Words::dim("type a command");
            if matches!(edit.purpose, Purpose::Filter | Purpose::Search | Purpose::Mark | Purpose::Unmark) {
                title.left = Words::dim("type a query");
            }
            // A missing value at the end of the line is not shown as an error.
            let typed = edit.purpose.prefix().len() + edit.prompt.text().len();
            if error.span.start >= typed {
                lines.extend(wrapped_lines(shared, &Words::text(error.message.clone())));
            } else {
                lines.extend(severity_lines(shared, Severity::Error, error.message.clone()));
            }
            if !error.hint.is_empty() {
                let words = Words::dim("  ").and(Role::Dim, error.hint.clone());
                lines.extend(wrapped_lines(shared, &words));
            }
        }
        Some(Ok(_)) => {
            if let Some(preview) = &edit.preview {
                return with_completion(shared, preview_panel(shared, preview, edit.top, height), edit, height);
            }
            let follows = matches!(edit.purpose, Purpose::Filter | Purpose::Search);
            if follows && edit.prompt.completion.is_none() {
                return status_pane(shared);
            }
            title.left = match edit.purpose {
                Purpose::Filter => Words::dim("the table shows the matching rows"),
                Purpose::Search => Words::dim("the cursor goes to the next matching row"),
                Purpose::Base => Words::text("new files need URLs: enter the base URL of the set"),
                _ => Words::dim("…"),
            };
        }
        None => {
            title.left = match edit.purpose {
                Purpose::Command => Words::dim("a command"),
                Purpose::Base => Words::dim("the base URL: where the folder of the set is served"),
                _ => Words::dim("a query: words, or field op value"),
            };
        }
    }
    with_completion(shared, Panel { title, lines, chosen: None, top: 0, foot: Vec::new() }, edit, height)
}

/// Adds the completion candidates below the other lines of a panel.
fn with_completion(shared: &Shared, mut panel: Panel, edit: &LineEdit, height: usize) -> Panel {
    let Some(completion) = &edit.prompt.completion else { return panel };
    let shown = height.saturating_sub(panel.lines.len().min(height.saturating_sub(2)));
    let from = completion.chosen.unwrap_or(0).saturating_sub(shown.saturating_sub(1));
    let width = completion.candidates.iter().map(|one| shared.theme.charset.width(&one.text)).max().unwrap_or(0);
    panel.lines.truncate(height - shown);
    for (at, one) in completion.candidates.iter().enumerate().skip(from).take(shown) {
        let chosen = completion.chosen == Some(at);
        let role = if chosen { Role::Chosen } else { Role::Key };
        let pad = " ".repeat(width.saturating_sub(shared.theme.charset.width(&one.text)) + 3);
        let words = Words::new().and(role, one.text.clone()).and(Role::Text, pad).and(Role::Dim, one.hint.clone());
        let mut line = Line::from(words);
        if at == from && completion.chosen.is_none() {
            line.right.key("Tab", "completes");
        }
        panel.lines.push(line);
    }
    panel
}

fn add_pane(shared: &Shared, add: &Add, height: usize) -> Panel {
    let place = if add.before { "above this row" } else { "below this row" };
    if add.list.is_empty() {
        let window = add.prompt.window(shared.theme.charset, usize::from(shared.size.0).saturating_sub(8));
        let (head, tail) = text::split(&window.text, window.caret);
        let words = Words::text(head).and(Role::Accent, shared.theme.signs.caret).and(Role::Text, tail);
        let mut lines: Vec<Line> = vec![words.into()];
        lines.extend(verdict_lines(shared, &add.validation, add.prompt.text()));
        let title = Words::new().and(Role::Accent, "add a URL").and(Role::Dim, format!(" {place}"));
        return Panel { title: title.into(), lines, chosen: None, top: 0, foot: Vec::new() };
    }
    url_list_pane(shared, add, place, height)
}

/// Shows a list of URLs to be added: the number of lines with problems, then the lines, those with problems first.
fn url_list_pane(shared: &Shared, add: &Add, place: &str, height: usize) -> Panel {
    let signs = shared.theme.signs;
    let (noun, origin) = match add.from {
        ListSource::Paste => ("line", " pasted"),
        ListSource::Data => ("URL", " of the data not in the sitemap"),
    };
    let title = Words::new()
        .and(Role::Bold, counted(add.list.len() as u64, noun))
        .and(Role::Text, origin)
        .and(Role::Dim, format!("{GAP}they come {place}"));
    let included = add.list.iter().filter(|line| add.includes(line)).count();
    let mut enter = Words::new();
    enter.key("↵", format!("adds {}", counted(included as u64, "URL")));
    let mut lines: Vec<Line> = Vec::new();
    let [known, wrong] = add.count_problems();
    let problems = [
        (known, "d", add.adds_known, "already there", Role::Warning, signs.warning),
        (wrong, "e", add.adds_invalid, "with errors", Role::Error, signs.error),
    ];
    for (count, key, is_added, what, role, sign) in problems {
        if count > 0 {
            let decision = if is_added { "added all the same" } else { "skipped" };
            let words = format!("{} {what}: {decision}", counted(count, "line"));
            let mut right = Words::new();
            right.key(key, if is_added { "skips them" } else { "adds them" });
            lines.push(Line::new(Words::new().and(role, format!("{sign} ")).and(Role::Text, words), right));
        }
    }
    let height = height.max(lines.len() + 1);
    let charset = shared.theme.charset;
    let width = usize::from(shared.size.0).saturating_sub(6);
    let (above, room) = (lines.len(), height - lines.len());
    // The selected line stays away from the edges, so that the lines around it are visible.
    let top = add.chosen.saturating_sub(room.saturating_sub(1) / 2).min(add.list.len().saturating_sub(room));
    lines.extend(add.visible_lines().skip(top).take(room).map(|line: &NewUrl| {
        let (role, sign, why) = match &line.objection {
            None => (Role::Dim, " ", String::new()),
            Some(Objection::InSet(row)) => {
                let number = grouped(u64::from(shared.session.view().number(*row)));
                (Role::Warning, signs.warning, format!("already in row {number}"))
            }
            Some(Objection::Repeated) => (Role::Warning, signs.warning, "twice in the list".to_owned()),
            Some(Objection::Invalid(why)) => (Role::Error, signs.error, why.clone()),
        };
        let of_url = if add.includes(line) { Role::Text } else { Role::Deleted };
        let why = charset.cut(&why, width * 2 / 3).into_owned();
        let loc = charset.elide(&line.loc, width.saturating_sub(charset.width(&why) + 4).max(12)).into_owned();
        Words::new().and(role, format!("{sign} ")).and(of_url, loc).and(Role::Dim, format!("  {why}")).into()
    }));
    Panel { title: Line::new(title, enter), lines, chosen: Some(above + add.chosen - top), top: 0, foot: Vec::new() }
}

/// Returns the panel of a list.
fn list_panel(list: &List) -> Panel {
    let chooses = list.chooses();
    let (title, right) = match list.kind {
        ListKind::Help => ("help", "/ searches   Enter runs the selected command"),
        ListKind::Palette => ("commands", ""),
        ListKind::History => ("history", "Enter goes to that state   c: as commands"),
        ListKind::Script => ("history as commands, for sited --script", "y copies them"),
        ListKind::Rules => ("findings by rule", "Enter shows rows   x fixes   K explains   w reports"),
        ListKind::Data => ("data", "Enter shows a column in the table"),
        ListKind::Elements => ("add an element", "type to narrow"),
        ListKind::Dates => ("lastmod", "of the marked rows, else of this one"),
        ListKind::Explain if chooses => ("findings here", "x fixes the selected finding"),
        ListKind::Explain => ("findings here", ""),
        ListKind::Diff => ("pending changes", "Esc goes back"),
        ListKind::Conflict => ("both sides of the merge conflict", "Esc goes back"),
        ListKind::Proof => ("verified", "hashes: XXH3, 64 bits"),
        ListKind::Decide(_) => ("choose a fix", "for the marked rows, else for this one"),
    };
    Panel {
        title: Line::new(Words::new().and(Role::Accent, title), Words::dim(right)),
        lines: list.lines.iter().map(|(line, _)| line.clone()).collect(),
        chosen: chooses.then_some(list.chosen),
        top: list.chosen,
        foot: Vec::new(),
    }
}
