//! What goes to and comes from the clipboard, and new URLs.

use super::super::prompt::{Prompt, Reply};
use super::cell::Verdict;
use super::{App, Effect, Mode, frequency};
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Field;
use crate::session::change::Change;
use crate::words::counted;
use crossterm::event::KeyEvent;

/// New URLs: one being typed, or a list that was pasted.
#[derive(Debug)]
pub struct Add {
    /// The row that they come after or before; `None` puts them at the end.
    pub anchor: Option<RowId>,
    /// Before the row instead of after it.
    pub before: bool,
    /// The URL being typed.
    pub prompt: Prompt,
    /// What stood there before anything was typed.
    start: String,
    /// What is to be said of it.
    pub verdict: Verdict,
    /// A list that was pasted; then nothing is typed.
    pub list: Vec<String>,
    /// How many of the list the set has already.
    pub known: usize,
    /// Lines of the list that are no URLs.
    pub odd: usize,
}

/// Bytes of a copy: what terminals usually take by OSC 52.
const COPY_LIMIT: usize = 74_994;
/// Pasted URLs that are looked up in the set for the dialog.
const LOOKED_UP: usize = 50_000;

impl App {
    /// Copies texts of the rows that an action is about.
    pub(super) fn copy(&mut self, what: &str, count: Option<u32>, text: impl Fn(&Self, RowId) -> String) {
        let rows = self.targets(count);
        let rows: Vec<RowId> = rows.iter().map(RowId).collect();
        let mut out = String::new();
        for row in &rows {
            out.push_str(&text(self, *row));
            out.push('\n');
            if out.len() > COPY_LIMIT {
                return self.fail("that is more than terminals take; `sited list` writes any number to a file");
            }
        }
        if rows.len() == 1 {
            out.pop();
        }
        self.copied = rows.iter().filter_map(|row| self.session.cell(*row, Field::Loc)).map(Into::into).collect();
        self.say(format!("{} sent to the terminal's clipboard", counted(rows.len() as u64, what)));
        self.effects.push(Effect::Copy(out));
    }

    /// Copies the cell under the cursor.
    pub(super) fn copy_cell(&mut self) {
        let Some(row) = self.grid.row else { return };
        match self.session.cell(row, self.grid.field).map(std::borrow::Cow::into_owned) {
            Some(text) => {
                self.say(format!("{} sent to the terminal's clipboard", self.grid.field.name()));
                self.effects.push(Effect::Copy(text));
            }
            None => self.say("there is nothing in this cell"),
        }
    }

    /// Hands the commands of all changes to the terminal's clipboard.
    pub(super) fn copy_script(&mut self) {
        let lines = self.session.script();
        self.say(format!("{} sent to the terminal's clipboard", counted(lines.len() as u64, "line")));
        self.effects.push(Effect::Copy(lines.join("\n") + "\n"));
    }

    /// Adds the URLs copied last.
    pub(super) fn paste_rows(&mut self, before: bool) {
        if self.copied.is_empty() {
            return self.say("nothing was copied yet; yu copies URLs, and your terminal's paste works too");
        }
        let locs = self.copied.clone();
        self.change(Change::Insert { after: self.grid.row, before, locs });
    }

    /// Opens the dialog for one new URL.
    pub(super) fn open_add(&mut self, before: bool) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let start = match self.session.origin() {
            Some(origin) => format!("{origin}/"),
            None => "https://".to_owned(),
        };
        let prompt = Prompt::new(&start, Vec::new());
        let add = Add {
            anchor: self.grid.row,
            before,
            prompt,
            start,
            verdict: Verdict::default(),
            list: Vec::new(),
            known: 0,
            odd: 0,
        };
        self.add_changed(Box::new(add));
    }

    pub(super) fn add_key(&mut self, mut add: Box<Add>, key: KeyEvent) {
        let reply = add.prompt.press(key);
        match reply {
            Reply::Drop => {}
            Reply::Accept if !add.list.is_empty() => {
                let Add { anchor, before, list, .. } = *add;
                self.change(Change::Insert { after: anchor, before, locs: list });
            }
            Reply::Accept => {
                let text = add.prompt.text().trim().to_owned();
                if text.is_empty() || text == add.start.trim_end_matches('/') || is_scheme(&text) {
                    self.fail("type a URL first");
                    self.mode = Mode::Add(add);
                    return;
                }
                self.change(Change::Insert { after: add.anchor, before: add.before, locs: vec![text] });
            }
            Reply::Tab(_) if add.list.is_empty() => {
                if let Some((text, _)) = add.verdict.suggestion.clone() {
                    add.prompt.set(&text);
                }
                self.add_changed(add);
            }
            Reply::Changed if add.list.is_empty() => self.add_changed(add),
            _ => self.mode = Mode::Add(add),
        }
    }

    pub(super) fn add_changed(&mut self, mut add: Box<Add>) {
        // A whole URL typed or pasted after what was proposed is meant instead of it.
        if let Some(typed) = add.prompt.text().strip_prefix(&add.start).filter(|typed| starts_with_scheme(typed)) {
            let typed = typed.to_owned();
            add.prompt.set(&typed);
        }
        add.verdict = self.judge(None, Field::Loc, add.prompt.text(), None);
        self.mode = Mode::Add(add);
    }

    /// Text from the terminal: into what is being typed, else as new URLs. Never as keys.
    pub(super) fn paste(&mut self, text: &str) {
        match std::mem::replace(&mut self.mode, Mode::Grid) {
            Mode::Cell(mut edit) if edit.field == Field::Loc && lines_of(text).len() > 1 => {
                edit.take_list(lines_of(text));
                self.cell_changed(edit);
            }
            Mode::Cell(mut edit) => {
                let completes = edit.field == Field::Changefreq && frequency::insert(&mut edit.prompt, text.trim());
                let folded = !completes && edit.prompt.paste(text);
                self.cell_changed(edit);
                self.folded(folded);
            }
            Mode::Line(mut edit) => {
                let folded = edit.prompt.paste(text);
                self.line_changed(edit);
                self.folded(folded);
            }
            Mode::Bulk(mut bulk) => {
                let folded = bulk.prompt.paste(text);
                self.bulk_changed(bulk);
                self.folded(folded);
            }
            Mode::Add(mut add) if add.list.is_empty() && !text.trim().contains(['\n', '\r']) => {
                add.prompt.paste(text);
                self.add_changed(add);
            }
            Mode::Grid | Mode::Detail => self.paste_list(text, self.grid.row, false),
            Mode::Add(add) => self.paste_list(text, add.anchor, add.before),
            mode => self.mode = mode,
        }
    }

    fn folded(&mut self, folded: bool) {
        if folded {
            self.say("the line breaks of the paste became blanks");
        }
    }

    fn paste_list(&mut self, text: &str, anchor: Option<RowId>, before: bool) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let list = lines_of(text);
        if list.is_empty() {
            return self.say("the paste is empty");
        }
        let snapshot = self.session.view();
        let known = list.iter().take(LOOKED_UP).filter(|loc| !snapshot.rows_with_loc(loc).is_empty()).count();
        let odd = list.iter().filter(|loc| !loc.starts_with("http://") && !loc.starts_with("https://")).count();
        let add = Add {
            anchor,
            before,
            prompt: Prompt::new("", Vec::new()),
            start: String::new(),
            verdict: Verdict::default(),
            list,
            known,
            odd,
        };
        self.mode = Mode::Add(Box::new(add));
    }

    /// A row's fields with tabs between them.
    pub(super) fn row_text(&self, row: RowId) -> String {
        let cells =
            Field::ALL.map(|field| self.session.cell(row, field).unwrap_or_default().replace(['\t', '\n'], " "));
        cells.join("\t").trim_end_matches('\t').to_owned()
    }

    /// An entry's XML without the white space before it.
    pub(super) fn row_xml(&self, row: RowId) -> String {
        let (entry, text) = self.session.document().entry(row);
        String::from_utf8_lossy(text.get(entry.open as usize..).unwrap_or_default()).trim_end().to_owned()
    }

    /// Marks rows, or takes their marks off, and moves on.
    pub(super) fn toggle_mark(&mut self, count: Option<u32>) {
        self.end_range();
        let from = self.grid.position;
        let many = count.unwrap_or(1).max(1);
        let Some(row) = self.grid.row else { return };
        let on = !self.session.is_marked(row);
        let last = from.saturating_add(many - 1).min(self.session.shown().saturating_sub(1));
        let rows: RowSet = self.session.rows_between(from, last);
        self.session.mark(&rows, on);
        self.step(true, many);
    }
}

/// The URLs of a pasted list, as they were written.
fn lines_of(text: &str) -> Vec<String> {
    text.split(['\n', '\r', '\t']).map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
}

/// Whether a text is `https://` or the like, with nothing after it.
fn is_scheme(text: &str) -> bool {
    text.strip_suffix("://").is_some_and(is_scheme_name)
}

/// Whether a text begins as a whole URL does.
fn starts_with_scheme(text: &str) -> bool {
    text.trim_start().split_once("://").is_some_and(|(scheme, _)| is_scheme_name(scheme))
}

/// RFC 3986, section 3.1.
fn is_scheme_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}
