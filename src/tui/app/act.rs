//! Dispatches actions to the modules that do the work, one line per action.

use super::super::command::{Action, When};
use super::super::jobs::Kind;
use super::{App, Effect, Mode, Purpose};
use crate::document::query::Query;
use crate::document::sort::{Column, SortKey, to_text};
use crate::document::view::ViewSpec;
use crate::files::external_changes::Thoroughness;
use crate::protocol::Field;
use crate::session::snapshot::vocabulary;

impl App {
    /// Does an action; a count repeats it or says how far.
    pub(super) fn run(&mut self, action: Action, count: Option<u32>) {
        use Action as A;
        let n = count.unwrap_or(1);
        let page = self.areas().page();
        let needs_row = matches!(action.command().when, When::OnRow | When::EditRow);
        if action == A::Fix && self.grid.row.is_none() && self.fix_without_row() {
            return;
        }
        if needs_row && self.grid.row.is_none() {
            return self.say("there is no row here");
        }
        match action {
            A::Down => self.step(true, n),
            A::Up => self.step(false, n),
            A::Left | A::Right => {
                let moves = (0..n.min(4)).filter(|_| self.side(action == A::Right)).count();
                if moves == 0 && action == A::Right {
                    self.say_hidden_columns();
                }
            }
            A::NextCell => (0..n.min(400)).for_each(|_| self.next_cell(true)),
            A::PreviousCell => (0..n.min(400)).for_each(|_| self.next_cell(false)),
            A::PageDown => self.page(true, page.saturating_mul(n)),
            A::PageUp => self.page(false, page.saturating_mul(n)),
            A::HalfPageDown => self.page(true, (page / 2).max(1).saturating_mul(n)),
            A::HalfPageUp => self.page(false, (page / 2).max(1).saturating_mul(n)),
            A::First | A::Last => match count {
                Some(row) => self.go_to_number(row),
                None => self.go(if action == A::Last { u32::MAX } else { 0 }),
            },
            A::FirstColumn => self.edge(false),
            A::LastColumn => self.edge(true),
            A::NextFile => self.file(true),
            A::PreviousFile => self.file(false),
            A::Edit => self.open_cell(false),
            A::Change => self.open_cell(true),
            A::AddBelow => self.open_add(false),
            A::AddAbove => self.open_add(true),
            A::Delete | A::Clear | A::Duplicate | A::Today | A::NudgeUp | A::NudgeDown | A::Fix => {
                self.change_rows(action, count);
            }
            A::FixAll => {
                if let Err(refused) = self.changeable() {
                    return self.fail(refused.0);
                }
                self.end_range();
                // What it does to how many rows is shown before Enter does it.
                let line = if self.session.marked() == 0 { "%fix safe" } else { "fix safe" };
                self.open_line(Purpose::Command, line);
            }
            A::TodayMenu => self.open_dates(),
            A::Undo => self.undo(true, n),
            A::Redo => self.undo(false, n),
            A::History => self.open_history(),
            A::Repeat => self.repeat(count),
            A::Mark => self.toggle_mark(count),
            A::MarkRange => {
                if self.grid.anchor.is_some() {
                    self.end_range();
                } else {
                    self.grid.anchor = Some(self.grid.position);
                }
            }
            A::MarkMatching => self.open_line(Purpose::Mark, ""),
            A::UnmarkMatching => self.open_line(Purpose::Unmark, ""),
            A::InvertMarks => {
                self.end_range();
                self.session.invert_marks();
                self.say_marks();
            }
            A::MarkShown => {
                let rows = self.session.shown_rows();
                self.session.mark(&rows, true);
                self.say_marks();
            }
            A::Bulk => self.open_bulk(),
            A::BulkAgain => self.bulk_again(),
            A::Replace => {
                self.end_range();
                let many = self.session.marked() == 0;
                // Slashes of URLs need no escape between these delimiters.
                self.open_line(Purpose::Command, if many { "%s#" } else { "s#" });
            }
            A::Search => self.open_line(Purpose::Search, ""),
            A::NextHit => self.search_again(true),
            A::PreviousHit => self.search_again(false),
            A::Filter => {
                let now = self.session.spec().filter.as_ref().map(ToString::to_string).unwrap_or_default();
                self.open_line(Purpose::Filter, &now);
            }
            A::Unfilter => self.show_view(ViewSpec { filter: None, ..self.session.spec().clone() }),
            A::FilterValue => self.filter_by_value(),
            A::FilterFindings => self.filter_by("severity>=warning"),
            A::Changes => self.open_changes(),
            A::Sort => self.cycle_sort(),
            A::SortKeys => {
                let keys = to_text(&self.session.spec().sort);
                self.open_line(Purpose::Command, &format!("sort {keys}"));
            }
            A::NextFinding => self.next_finding(true),
            A::PreviousFinding => self.next_finding(false),
            A::Findings => self.open_rules(),
            A::Explain => self.open_explain(),
            A::CopyRows => self.copy("row", count, Self::row_text),
            A::CopyUrls => self.copy("URL", count, |app, row| app.session.document().loc(row).into_owned()),
            A::CopyXml => self.copy("entry", count, Self::row_xml),
            A::CopyCell => self.copy_cell(),
            A::PasteAfter => self.paste_rows(false),
            A::PasteBefore => self.paste_rows(true),
            A::Detail => self.detail = Some(!self.shows_detail()),
            A::NextPane => {
                self.detail = Some(true);
                self.mode = Mode::Detail;
                self.details.has_focus = true;
            }
            A::Save => self.save(None, false),
            A::Plan => self.open_plan(),
            A::Outside => self.look_outside(Thoroughness::Glance, true),
            A::SaveAndQuit => self.save_and_quit(),
            A::Quit => self.quit(false),
            A::QuitWithoutSaving => self.quit(true),
            A::CommandLine => self.open_line(Purpose::Command, ""),
            A::Palette => self.open_palette(),
            A::Help => self.open_help(None),
            A::Mouse => {
                self.mouse = !self.mouse;
                self.effects.push(Effect::Mouse(self.mouse));
                self.say(if self.mouse {
                    "the mouse works here"
                } else {
                    "the mouse is the terminal's: it selects text"
                });
            }
            A::Redraw => self.effects.push(Effect::Repaint),
            A::Suspend => self.suspend(),
            A::Cancel => self.cancel(),
            A::Escape => self.escape(),
        }
    }

    /// Stops what runs; idle, it says how to quit. It never quits.
    fn cancel(&mut self) {
        if !self.stop_jobs() && !self.keymap.forget() {
            self.say("q quits");
        }
    }

    /// One rung at a time: keys that wait, a job, the range, the marks, the filter.
    fn escape(&mut self) {
        if self.stop_jobs() {
            return;
        }
        if self.grid.anchor.take().is_some() {
            return;
        }
        if self.session.marked() > 0 {
            let all = (*self.session.view().marks).clone();
            self.session.mark(&all, false);
            return self.say("marks cleared");
        }
        if self.session.spec().filter.is_some() {
            self.show_view(ViewSpec { filter: None, ..self.session.spec().clone() });
        }
    }

    /// Asks running jobs to stop, the newest kind first. False if there are none.
    fn stop_jobs(&mut self) -> bool {
        // What was typed ahead was meant for what is now given up.
        self.ahead.clear();
        for kind in [Kind::Search, Kind::Plan, Kind::Edit, Kind::View, Kind::Load, Kind::Save] {
            // A save that puts files in place already is not stopped; Esc does what it does without one.
            if self.busy[kind as usize].is_some_and(|reading| !reading.sealed) {
                self.effects.push(Effect::Cancel(kind));
                if kind == Kind::Load {
                    self.say("loading stopped; what was read can be viewed, not changed");
                }
                self.spec_wanted = self.spec_wanted.take().filter(|_| kind != Kind::View);
                self.seeking &= kind != Kind::Search;
                return true;
            }
        }
        false
    }

    /// Shows what a query finds, keeping the order.
    pub(super) fn filter_by(&mut self, query: &str) {
        match Query::parse(query, &vocabulary(self.session.view().clock)) {
            Ok(query) => self.show_view(ViewSpec { filter: Some(query), ..self.session.spec().clone() }),
            Err(error) => self.fail(error.message),
        }
    }

    /// Narrows what is shown to rows with the value under the cursor.
    fn filter_by_value(&mut self) {
        let Some(row) = self.grid.row else { return };
        let field = self.grid.field;
        let value = match self.session.cell(row, field) {
            Some(value) => crate::document::query::scan::quoted(&value),
            None => "none".to_owned(),
        };
        let own = format!("{}={value}", field.name());
        let query = match &self.session.spec().filter {
            Some(filter) => format!("({filter}) and {own}"),
            None => own,
        };
        self.filter_by(&query);
    }

    /// Sorts by the column under the cursor: up, down, file order.
    fn cycle_sort(&mut self) {
        let column = match self.grid.field {
            Field::Loc => Column::Loc,
            Field::Lastmod => Column::Lastmod,
            Field::Changefreq => Column::Changefreq,
            Field::Priority => Column::Priority,
        };
        let sort = match self.spec().sort.first().filter(|key| key.column == column) {
            None => vec![SortKey { column, descending: false }],
            Some(key) if !key.descending => vec![SortKey { column, descending: true }],
            Some(_) => Vec::new(),
        };
        self.show_view(ViewSpec { sort, ..self.spec().clone() });
    }

    /// In file order: the position of the first row of the next or previous file that has rows.
    fn first_of_file(&self, here: usize, next: bool) -> Option<u32> {
        let sitemaps = self.session.document().sitemaps();
        let mut starts = Vec::with_capacity(sitemaps.len());
        let mut start = 0;
        for (file, sitemap) in sitemaps.iter().enumerate() {
            if !sitemap.rows.is_empty() {
                starts.push((file, start));
            }
            start += sitemap.rows.len() as u32;
        }
        let mut others = starts.into_iter().filter(|(file, _)| if next { *file > here } else { *file < here });
        if next { others.next() } else { others.next_back() }.map(|(_, start)| start)
    }

    /// Goes to the first row of the next or previous file.
    fn file(&mut self, next: bool) {
        let Some(row) = self.grid.row else { return };
        let here = self.session.document().sitemap_of(row);
        let shown = self.session.shown();
        let at = self.grid.position;
        let other =
            |at: &u32| self.session.row_at(*at).is_some_and(|row| self.session.document().sitemap_of(row) != here);
        let found = if self.session.view().view.is_file_order() {
            self.first_of_file(here.index(), next)
        } else if next {
            (at..shown).find(other)
        } else {
            // The first row of the file before: the end of it is easy to find, then its start.
            (0..at).rev().find(other).and_then(|end| {
                let file = self.session.row_at(end).map(|row| self.session.document().sitemap_of(row));
                let same =
                    |at: &u32| self.session.row_at(*at).map(|row| self.session.document().sitemap_of(row)) == file;
                (0..=end).rev().take_while(same).last()
            })
        };
        match found {
            Some(position) => self.go(position),
            None => self.say(if next { "this is the last file" } else { "this is the first file" }),
        }
    }
}
