//! Shows the details of a row: decoded fields, extensions as a tree, XML with changed parts marked.
//!
//! Of a large entry only the lines on the screen are made.

use super::super::app::{App, Mode, RowSummary, large};
use super::super::draw::panel::Panel;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::Outline;
use crate::document::rows::RowId;
use crate::protocol::verdict::{Ruling, of_namespace};
use crate::protocol::{Field, Severity};
use crate::session::explain::verdicts;
use crate::session::findings::Finding;
use crate::words::{grouped, size};
use crate::xml::names::FileKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// Lines that a value gets of which not everything is shown.
const CUT: usize = 8;

/// What a line of the details is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum Stop {
    /// A field of the row.
    Field(Field),
    /// An element of its extensions: its path, and what it and its attributes say.
    Element(String, Vec<(String, String)>),
    /// Its XML, to be read.
    Text,
}

/// What stands above the extensions: the fields, the file and the namespace.
#[derive(Default)]
struct Head {
    lines: Vec<Line>,
    stops: Vec<(usize, Field)>,
}

/// The details of one row, as far as they are known.
pub(in crate::tui) struct Details<'a> {
    app: &'a App,
    row: RowId,
    head: Head,
    outline: Option<Cow<'a, Outline>>,
    /// Places of elements with findings, each with the worst.
    faults: BTreeMap<u32, Severity>,
    width: usize,
}

/// The worst finding of each field, and of each element by its place.
fn faults(findings: &[Finding]) -> ([Option<Severity>; 4], BTreeMap<u32, Severity>) {
    let (mut fields, mut elements) = ([None; 4], BTreeMap::new());
    for finding in findings {
        match (&finding.part, finding.field) {
            (Some(part), _) => {
                let worst = elements.entry(part.at).or_insert(finding.severity);
                *worst = finding.severity.max(*worst);
            }
            (None, Some(field)) => {
                let worst = &mut fields[field.index()];
                *worst = Some(finding.severity).max(*worst);
            }
            (None, None) => {}
        }
    }
    (fields, elements)
}

/// The details of the current row; `None` where there is no row.
pub(in crate::tui) fn details(app: &App) -> Option<Details<'_>> {
    let row = app.grid.row?;
    let width = usize::from(app.areas().detail.width).saturating_sub(6).max(8);
    let snapshot = app.session.view();
    if !large::is_large(&app.session, row) {
        let outline = Outline::of(snapshot, row, || false).map(Cow::Owned);
        let (of_fields, faults) = faults(&snapshot.findings(row));
        let head = head((app, width), row, &RowSummary::of(snapshot, row), of_fields);
        return Some(Details { app, row, head, outline, faults, width });
    }
    let outline = large::entry(app, row).map(|entry| Cow::Borrowed(&entry.outline));
    let (of_fields, faults) = large::entry(app, row).map(|entry| faults(&entry.findings)).unwrap_or_default();
    let head = large::facts(app, row).map(|facts| head((app, width), row, facts, of_fields)).unwrap_or_default();
    Some(Details { app, row, head, outline, faults, width })
}

/// The panel of the details.
pub(super) fn panel(app: &App) -> Panel {
    let title = Words::new().and(Role::Accent, "details").into();
    details(app).map_or_else(|| Panel { title, ..Panel::default() }, Details::panel)
}

impl Details<'_> {
    fn items(&self) -> usize {
        self.outline.as_ref().map_or(0, |outline| outline.items())
    }

    /// How many lines the cursor can stop at.
    pub fn stops(&self) -> usize {
        self.head.stops.len() + self.items()
    }

    /// What the cursor is about at one of its stops.
    pub fn stop(&self, at: usize) -> Option<Stop> {
        if let Some((_, field)) = self.head.stops.get(at) {
            return Some(Stop::Field(*field));
        }
        let item = at - self.head.stops.len();
        let outline = self.outline.as_ref().filter(|outline| item < outline.items())?;
        Some(outline.stop(item, self.app.session.document().names(self.row)))
    }

    /// The lines of an item of the outline, and which of them is the item's own first.
    fn item(&self, item: usize) -> (Vec<Line>, usize) {
        let Some(outline) = &self.outline else { return (Vec::new(), 0) };
        let theme = &self.app.theme;
        let fault = outline.place(item).and_then(|place| self.faults.get(&place));
        let sign = fault.map(|severity| (Role::from(*severity), theme.finding_sign(*severity)));
        let words = outline.words(item, theme.signs.branch, sign);
        let mut lines: Vec<Line> = Vec::new();
        lines.extend(outline.is_first(item).then(Line::default));
        let own = lines.len();
        let typed = self.typed(self.head.stops.len() + item);
        // What is edited stands in the place of what was there; what is added, below it.
        if typed.as_ref().is_none_or(|(.., is_new)| *is_new) {
            lines.extend(words.wrapped(theme.charset, self.width, 6).into_iter().map(Line::from));
        }
        let Some((form, at, _)) = typed else { return (lines, own) };
        let at = lines.len() + at;
        lines.extend(form);
        (lines, at)
    }

    /// The lines of the element that is being typed at a stop, which of them is the one, and whether it is a new element.
    fn typed(&self, stop: usize) -> Option<(Vec<Line>, usize, bool)> {
        let Mode::Element(edit) = &self.app.mode else { return None };
        if self.app.details.at.min(self.stops().saturating_sub(1)) != stop {
            return None;
        }
        let (lines, at) = self.app.element_lines(edit, self.width);
        Some((lines, at, edit.is_new))
    }

    fn panel(mut self) -> Panel {
        let title = Words::new().and(Role::Accent, "details").into();
        let at = self.app.details.at.min(self.stops().saturating_sub(1));
        let at = Some(at).filter(|_| self.app.reads_details());
        let Some(outline) = &self.outline else {
            let entry = size(large::size(&self.app.session, self.row) as u64);
            self.head.lines.push(Line::default());
            self.head.lines.push(Words::dim(format!("reading the entry, {entry}…")).into());
            let chosen = at.and_then(|at| self.head.stops.get(at)).map(|(line, _)| *line);
            return Panel { title, lines: self.head.lines, chosen, top: 0, foot: Vec::new() };
        };
        if outline.bytes() > large::SMALL {
            return self.window(title, at);
        }
        let mut lines = std::mem::take(&mut self.head.lines);
        let mut chosen = at.and_then(|at| self.head.stops.get(at)).map(|(line, _)| *line);
        let first = self.head.stops.len();
        if let Some((form, at, _)) = at.filter(|at| *at < first).and_then(|at| self.typed(at)) {
            chosen = Some(lines.len() + at);
            lines.extend(form);
        }
        for item in 0..self.items() {
            let (own, from) = self.item(item);
            if at == Some(first + item) {
                chosen = Some(lines.len() + from);
            }
            lines.extend(own);
        }
        Panel { title, lines, chosen, top: 0, foot: Vec::new() }
    }

    /// The lines of a block, and which of them is its own first: the head, then the items.
    fn block(&self, block: usize) -> (Vec<Line>, usize) {
        block.checked_sub(1).map_or_else(|| (self.head.lines.clone(), 0), |item| self.item(item))
    }

    /// As many lines as have a place, around the one under the cursor.
    fn window(&self, mut title: Line, at: Option<usize>) -> Panel {
        let height = usize::from(self.app.areas().detail.height).max(1);
        let (fields, blocks) = (self.head.stops.len(), self.items() + 1);
        let (mut top, mut line) = match at {
            Some(at) if at >= fields => (at - fields + 1, None),
            Some(at) => (0, self.head.stops.get(at).map(|(line, _)| *line)),
            None => (0, None),
        };
        let (own, from) = self.block(top);
        let mut chosen = line.take().unwrap_or(from);
        let mut lines: VecDeque<Line> = own.into();
        let mut next = top + 1;
        let above = |top: &mut usize, chosen: &mut usize, lines: &mut VecDeque<Line>| {
            *top -= 1;
            let (block, _) = self.block(*top);
            *chosen += block.len();
            block.into_iter().rev().for_each(|line| lines.push_front(line));
        };
        while chosen < height && top > 0 {
            above(&mut top, &mut chosen, &mut lines);
        }
        while lines.len() < chosen + height && next < blocks {
            lines.extend(self.block(next).0);
            next += 1;
        }
        while lines.len() < height && top > 0 {
            above(&mut top, &mut chosen, &mut lines);
        }
        let count = grouped(self.stops() as u64);
        let place = at.map_or_else(|| format!("{count} lines"), |at| format!("{} of {count}", grouped(at as u64 + 1)));
        title.right = Words::dim(place);
        Panel { title, lines: lines.into(), chosen: at.map(|_| chosen), top: 0, foot: Vec::new() }
    }
}

fn head((app, width): (&App, usize), row: RowId, facts: &RowSummary, faults: [Option<Severity>; 4]) -> Head {
    let (session, charset) = (&app.session, app.theme.charset);
    let document = session.document();
    let mut head = Head::default();
    let wrapped = |words: Words, is_cut: bool, indent: usize| {
        let lines =
            if is_cut { words.wrapped_in(charset, width, indent, CUT) } else { words.wrapped(charset, width, indent) };
        lines.into_iter().map(Line::from).collect::<Vec<_>>()
    };
    let whole = |len: usize, indent: usize| {
        Line::from(Words::dim(format!("{:indent$}{} bytes in all", "", grouped(len as u64))))
    };
    let [loc, ..] = &facts.cells;
    let text = loc.as_ref().map_or("", |loc| &*loc.front).to_owned();
    let is_cut = loc.as_ref().is_some_and(super::super::app::Clip::is_cut);
    head.lines.extend(wrapped(Words::new().and(Role::Bold, text), is_cut, 0));
    head.lines.extend(loc.as_ref().filter(|_| is_cut).map(|loc| whole(loc.len, 0)));
    head.lines.push(Line::default());
    for field in Field::ALL.into_iter().filter(|field| document.has_place_for(*field).is_ok()) {
        let at = field.index();
        let (Some(cell), Some(saved), Some(&changed)) =
            (facts.cells.get(at), facts.saved.get(at), facts.changed.get(at))
        else {
            continue;
        };
        let fault = faults[at];
        if field == Field::Loc && !changed && fault.is_none() {
            continue;
        }
        let role = if changed { Role::Changed } else { Role::Text };
        let mut words = Words::dim(format!("{:12}", field.name()));
        if let Some(severity) = fault {
            words.push(severity.into(), format!("{} ", app.theme.finding_sign(severity)));
        }
        match cell {
            Some(value) => words.push(role, value.front.clone()),
            None => words.push(Role::Dim, "none"),
        }
        let is_cut = cell.as_ref().is_some_and(super::super::app::Clip::is_cut);
        if changed && !is_cut {
            let was = saved.as_ref().map_or_else(|| "none".to_owned(), |saved| saved.front.clone());
            words.push(Role::Dim, format!("   was {was}"));
        }
        head.stops.push((head.lines.len(), field));
        head.lines.extend(wrapped(words, is_cut, 12));
        head.lines.extend(cell.as_ref().filter(|_| is_cut).map(|cell| whole(cell.len, 12)));
        // Who minds, where somebody does.
        let verdicts = cell.as_ref().and_then(|value| verdicts(field, &value.front));
        if let Some(verdicts) = verdicts.filter(|all| all.iter().any(|one| one.ruling == Ruling::Rejects)) {
            let words = Words::dim(format!("{:12}", "")).joined(app.verdict_words(&verdicts));
            head.lines.extend(wrapped(words, false, 12));
        }
    }
    if let Some(sitemap) = document.sitemap(document.sitemap_of(row)) {
        let number = session.number(row);
        let words = Words::dim(format!("{:12}", "file")).and(Role::Text, sitemap.name.to_string());
        head.lines.push(words.and(Role::Dim, format!("   row {number} of the set")).into());
    }
    let uri = document.names(row).uri.as_deref().unwrap_or_default().to_owned();
    let verdicts = of_namespace(&uri);
    if document.names(row).kind == FileKind::Urlset && verdicts.iter().any(|one| one.ruling == Ruling::Rejects) {
        let uri = if uri.is_empty() { "none".to_owned() } else { uri };
        let words = Words::dim(format!("{:12}", "namespace")).and(Role::Text, uri);
        head.lines.extend(words.wrapped_in(charset, width, 12, CUT).into_iter().map(Line::from));
        let words = Words::dim(format!("{:12}", "")).joined(app.verdict_words(&verdicts));
        head.lines.extend(wrapped(words, false, 12));
    }
    head
}
