//! Shows the visible rows.

use super::super::app::{App, Clip, Mode, large, stem};
use super::super::draw::table::{Row, State, Table};
use super::super::jobs::Kind;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use crate::check::rule::Rule;
use crate::document::RowState;
use crate::document::rows::RowId;
use crate::document::sort::Column;
use crate::protocol::{Field, Severity};
use crate::session::findings::FileFinding;
use crate::words::{counted, grouped};
use crate::xml::entry::Extensions;

/// Badges of an entry's extensions: `img 3  video  hl 12`.
pub fn badges(extensions: Extensions) -> String {
    let Extensions { image, video, news, alternate, other } = extensions;
    let mut out = Vec::new();
    for (count, name) in [(image, "img"), (video, "video"), (news, "news"), (alternate, "hl"), (other, "ext")] {
        match count {
            0 => {}
            1 if name != "hl" => out.push(name.to_owned()),
            count => out.push(format!("{name} {count}")),
        }
    }
    out.join("  ")
}

impl App {
    pub(super) fn table(&self) -> Table<'_> {
        let origin = self.session.origin().unwrap_or_default();
        let window = self.window();
        let cursor = (window.contains(&self.grid.position))
            .then(|| ((self.grid.position - window.start) as usize, self.grid.field));
        let mut rows: Vec<Row> = Vec::with_capacity(window.len());
        for position in window {
            let Some(id) = self.session.row_at(position) else { break };
            let row = self.row(id, position, origin, rows.last());
            rows.push(row);
        }
        if rows.is_empty() {
            rows = self.first_rows();
        }
        Table {
            columns: self.columns(),
            origin: origin.to_owned(),
            sorted: self.sorted(),
            rows,
            cursor,
            editing: match &self.mode {
                Mode::Cell(edit) => Some(&edit.prompt),
                _ => None,
            },
            empty: self.nothing_to_show(),
        }
    }

    /// The beginning of a large file that is still being read: to be looked at, nothing more.
    fn first_rows(&self) -> Vec<Row> {
        let rows = self.beginning.iter().take(self.areas().page() as usize).enumerate();
        rows.map(|(at, fields)| Row { number: at as u64 + 1, fields: fields.clone(), ..Row::default() }).collect()
    }

    fn row(&self, id: RowId, position: u32, origin: &str, above: Option<&Row>) -> Row {
        let document = self.session.document();
        let is_large = large::is_large(&self.session, id);
        let facts = large::facts(self, id).filter(|_| is_large);
        let mut fields = match facts {
            _ if !is_large => Field::ALL.map(|field| document.value(id, field).map(std::borrow::Cow::into_owned)),
            Some(facts) => facts.cells.each_ref().map(|clip| clip.as_ref().map(Clip::ends)),
            // Until a worker has read it.
            None => [Some(self.theme.charset.ellipsis().to_owned()), None, None, None],
        };
        if let Some(loc) = &mut fields[Field::Loc.index()]
            && let Some(path) = loc.strip_prefix(origin)
            && !origin.is_empty()
            && path.starts_with(['/', '?', '#'])
        {
            *loc = path.to_owned();
        }
        // A row that was added and deleted again is in no file, and still a row until the next save.
        let state = if document.is_live(id) { self.session.state(id) } else { RowState::Deleted };
        let same = |field: Field| {
            fields[field.index()].is_some()
                && above.is_some_and(|row| row.fields[field.index()] == fields[field.index()])
        };
        let file = document.sitemap(document.sitemap_of(id)).map(|sitemap| stem(&sitemap.name));
        let file = file.unwrap_or_default().to_owned();
        let ranged = self.grid.anchor.is_some_and(|anchor| {
            (anchor.min(self.grid.position)..=anchor.max(self.grid.position)).contains(&position)
        });
        Row {
            number: u64::from(self.session.number(id)),
            state: State(state),
            repaired: !document.quirks_of(id).is_empty(),
            worst: self.session.worst(id),
            marked: self.session.is_marked(id) || ranged,
            changed: if is_large {
                facts.map(|facts| facts.changed).unwrap_or_default()
            } else if state == RowState::Changed {
                Field::ALL.map(|field| self.session.is_changed(id, field))
            } else {
                [false; 4]
            },
            repeated: Field::ALL.map(|field| field != Field::Loc && same(field)),
            faults: self.faults(id, is_large),
            badges: match facts {
                _ if !is_large => badges(document.extensions(id)),
                facts => facts.map(|facts| facts.badges.clone()).unwrap_or_default(),
            },
            same_file: above.is_some_and(|row| row.file == file),
            file,
            fields,
        }
    }

    /// The worst of errors and warnings of each cell; of an entry that is too large to be read for a frame, those that a
    /// worker has found.
    fn faults(&self, row: RowId, is_large: bool) -> [Option<Severity>; 4] {
        let worst = match self.session.worst(row) {
            None | Some(Severity::Note) => [None; 4],
            Some(_) if is_large => {
                let mut worst = [None; 4];
                let findings = large::entry(self, row).map_or(&[][..], |entry| &entry.findings);
                for (field, severity) in findings.iter().filter_map(|one| Some((one.field?, one.severity))) {
                    worst[field.index()] = Some(severity).max(worst[field.index()]);
                }
                worst
            }
            Some(_) => self.session.view().worst_of_fields(row),
        };
        worst.map(|severity| severity.filter(|severity| *severity > Severity::Note))
    }

    fn sorted(&self) -> Vec<(Field, bool)> {
        let field = |column| match column {
            Column::Loc => Some(Field::Loc),
            Column::Lastmod => Some(Field::Lastmod),
            Column::Changefreq => Some(Field::Changefreq),
            Column::Priority => Some(Field::Priority),
            _ => None,
        };
        self.session.spec().sort.iter().filter_map(|key| Some((field(key.column)?, key.descending))).collect()
    }

    /// What to do where there is no row.
    fn nothing_to_show(&self) -> Vec<Line> {
        let hint = |key: &'static str, does: &'static str| {
            let mut words = Words::new();
            words.key(key, does);
            Line::from(words)
        };
        if self.session.is_loading() {
            let words = if self.is_busy(Kind::Load) { "loading…" } else { "" };
            return vec![Words::dim(words).into()];
        }
        if self.session.spec().filter.is_some() {
            return vec![
                Words::new().and(Role::Bold, "Nothing matches the filter.").into(),
                Line::default(),
                hint("f", "change it"),
                hint("Esc", "show all rows"),
            ];
        }
        let missing = |finding: &&FileFinding| finding.rule == Rule::INDEX_CHILD_MISSING;
        let missing = self.session.file_findings().iter().filter(missing).count() as u64;
        if missing > 0 {
            let all = self.session.document().index().map_or(0, |index| index.children.len() as u64);
            let words = if missing == all {
                format!("None of the {} of this index was found.", counted(all, "sitemap"))
            } else {
                format!("{} of the {} of this index not found.", grouped(missing), counted(all, "sitemap"))
            };
            return vec![Words::new().and(Role::Bold, words).into(), Line::default(), hint("^E", "which ones")];
        }
        vec![
            Words::new().and(Role::Bold, "No URLs here yet.").into(),
            Line::default(),
            hint("o", "add one"),
            Words::dim("or paste a list of them").into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badges_are_short() {
        let of = |image, video, news, alternate, other| badges(Extensions { image, video, news, alternate, other });
        assert_eq!(of(0, 0, 0, 0, 0), "");
        assert_eq!(of(3, 1, 0, 12, 0), "img 3  video  hl 12");
        assert_eq!(of(1, 0, 1, 1, 2), "img  news  hl 1  ext 2");
    }
}
