//! The form for an element of an extension, one line per value.

use super::super::operations::edit::change;
use super::super::state::Shared;
use super::super::state::preview::Preview;
use super::super::state::request::Next;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::extension::path::Path;
use crate::protocol::extension::{Element, Kind};
use crate::session::command::{Command, Scope};
use crate::session::edit::Change;
use crate::session::edit::DefaultScope;
use crate::tui::prompt::{Prompt, Reply};
use crate::xml::extension_edit::ExtensionChange;
use crossterm::event::KeyEvent;

/// The state of the form.
#[derive(Debug)]
pub(crate) struct ElementEdit {
    /// The row of the element.
    pub row: RowId,
    /// Whether the element is new.
    pub is_new: bool,
    /// The path of the element.
    pub path: Path,
    /// Its text, its attributes, and for a new element its required children.
    pub values: Vec<ElementValue>,
    /// The value that is being typed.
    pub at: usize,
    /// The preview of the changes; `None` without changes.
    pub preview: Option<Preview>,
    /// The ticket of the requested preview.
    ticket: u64,
}

/// A value of an element.
#[derive(Debug)]
pub(crate) struct ElementValue {
    /// Its path in the entry.
    pub path: Path,
    /// Its name, relative to the element.
    pub name: String,
    /// Its text.
    pub prompt: Prompt,
    /// The text before the edit; `None` if there was none.
    pub before: Option<String>,
    /// Whether the element requires it.
    pub is_required: bool,
}

impl ElementValue {
    fn new(path: Path, name: &str, before: Option<String>, is_required: bool) -> Self {
        let prompt = Prompt::of_value(before.as_deref().unwrap_or_default(), Vec::new());
        Self { path, name: name.to_owned(), prompt, before, is_required }
    }
}

impl ElementEdit {
    /// The changes that the form makes.
    fn changes(&self) -> Vec<ExtensionChange> {
        if self.is_new {
            let typed = self.values.iter().filter(|value| !value.prompt.text().is_empty());
            let values: Vec<_> = typed.map(|value| (value.path.clone(), value.prompt.text().into())).collect();
            let is_empty = values.is_empty() && !self.values.is_empty();
            let add = ExtensionChange::Add { path: self.path.clone(), values };
            return if is_empty { Vec::new() } else { vec![add] };
        }
        let changed = self.values.iter().filter(|one| one.prompt.text() != one.before.as_deref().unwrap_or_default());
        let act = |one: &ElementValue| match one.prompt.text() {
            "" => ExtensionChange::Remove(one.path.clone()),
            text => ExtensionChange::Set { path: one.path.clone(), value: text.into() },
        };
        changed.map(act).collect()
    }

    /// The form of a new element. An element without values is added at once, and `None` is returned.
    pub(in crate::tui::app) fn add(
        shared: &mut Shared,
        row: RowId,
        path: Path,
        element: &'static Element,
    ) -> Option<Box<Self>> {
        let (is_new, values) = match &path.attribute {
            Some(name) => (false, vec![ElementValue::new(path.clone(), name, None, true)]),
            None => (true, form_values(&path, element)),
        };
        if values.is_empty() {
            let rows = RowSet::from_iter([row.0]);
            change(shared, Change::Extend { rows, changes: vec![ExtensionChange::Add { path, values: Vec::new() }] });
            return None;
        }
        let first = values.iter().position(|value| value.prompt.text().is_empty()).unwrap_or(0);
        let mut edit = Box::new(Self { row, is_new, path, values, at: first, preview: None, ticket: 0 });
        edit.changed(shared);
        Some(edit)
    }

    /// The form of an existing element, with the paths and texts of its values. `None` if a path is not valid.
    pub(in crate::tui::app) fn edit(
        shared: &mut Shared,
        row: RowId,
        path: &str,
        values: &[(String, String)],
    ) -> Option<Box<Self>> {
        let name = |path: &Path| match (&path.attribute, path.steps.last()) {
            (Some(name), _) => name.to_string(),
            (None, Some(step)) => step.name.to_string(),
            (None, None) => String::new(),
        };
        let value = |(path, text): &(String, String)| {
            let path = Path::parse(path).ok()?;
            Some(ElementValue::new(path.clone(), &name(&path), Some(text.clone()), false))
        };
        let values: Vec<ElementValue> = values.iter().map(value).collect::<Option<_>>()?;
        let path = Path::parse(path).ok()?;
        let mut edit = Box::new(Self { row, is_new: false, path, values, at: 0, preview: None, ticket: 0 });
        edit.changed(shared);
        Some(edit)
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        let Some(value) = self.values.get_mut(self.at) else { return Next::CloseAll };
        match value.prompt.press(key) {
            Reply::Drop => return Next::CloseAll,
            Reply::Changed => self.changed(shared),
            Reply::Tab(back) => {
                let typed = value.prompt.text().to_owned();
                let begins = |choice: &&&str| choice.len() > typed.len() && choice.starts_with(&*typed);
                match value.path.choices().iter().find(begins).filter(|_| !back && !typed.is_empty()) {
                    Some(choice) => {
                        value.prompt.set(choice);
                        self.changed(shared);
                    }
                    None => self.go(!back),
                }
            }
            reply @ (Reply::Down | Reply::Up) => self.go(reply == Reply::Down),
            Reply::Accept => return self.accept(shared),
            Reply::Moved | Reply::Unknown => {}
        }
        Next::Stay
    }

    /// Commits the form, or moves to the next required value of a new element.
    fn accept(&mut self, shared: &mut Shared) -> Next {
        let open = |one: &ElementValue| one.is_required && one.prompt.text().is_empty();
        let next = self.values.iter().enumerate().skip(self.at + 1).find(|(_, one)| open(one));
        if let Some((next, _)) = next.filter(|_| self.is_new) {
            self.at = next;
            return Next::Stay;
        }
        let changes = self.changes();
        if changes.is_empty() {
            shared.show_note("nothing was typed; the row is unchanged");
            return Next::CloseAll;
        }
        shared.recent.keep_command(&Command::Extend { scope: Scope::default(), changes: changes.clone() });
        change(shared, Change::Extend { rows: RowSet::from_iter([self.row.0]), changes });
        Next::CloseAll
    }

    /// Inserts pasted text. True if line breaks were replaced by blanks.
    pub(in crate::tui::app) fn paste(&mut self, text: &str, shared: &mut Shared) -> bool {
        let folded = self.values.get_mut(self.at).is_some_and(|value| value.prompt.paste(text.trim()));
        self.changed(shared);
        folded
    }

    /// Requests the preview of the changed values.
    fn changed(&mut self, shared: &mut Shared) {
        let changes = self.changes();
        self.preview = None;
        if !changes.is_empty() {
            let command = Command::Extend { scope: Scope::default(), changes };
            self.ticket = shared.request_preview(command, DefaultScope::Row(self.row));
        }
    }

    /// Receives a preview, if it is the one requested last.
    pub(in crate::tui::app) fn take_preview(&mut self, ticket: u64, preview: Preview) {
        if self.ticket == ticket {
            self.preview = Some(preview);
        }
    }

    fn go(&mut self, down: bool) {
        let last = self.values.len().saturating_sub(1);
        self.at = if down { (self.at + 1).min(last) } else { self.at.saturating_sub(1) };
    }
}

/// The values of the form of a new element: its text, its attributes and its required children.
fn form_values(path: &Path, element: &'static Element) -> Vec<ElementValue> {
    let mut values = Vec::new();
    if element.children.is_empty() && element.kind != Kind::Empty {
        values.push(ElementValue::new(path.clone(), element.name, None, true));
    }
    collect(path, element, "", &mut values);
    for value in &mut values {
        if let [only] = value.path.choices() {
            value.prompt.set(only);
        }
    }
    values
}

fn collect(path: &Path, element: &'static Element, prefix: &str, values: &mut Vec<ElementValue>) {
    let is_link = element.name == "link";
    for attribute in element.attributes.iter().filter(|attribute| !attribute.is_deprecated) {
        let is_known = !is_link || matches!(attribute.name, "rel" | "hreflang" | "href");
        if let Some(path) = path.join(&format!("@{}", attribute.name)).ok().filter(|_| is_known) {
            values.push(ElementValue::new(path, &format!("{prefix}{}", attribute.name), None, is_link));
        }
    }
    for child in element.children {
        // A video needs one of these two, although the schema requires neither.
        let is_video = element.name == "video" && matches!(child.name, "content_loc" | "player_loc");
        if !child.is_required && !is_video {
            continue;
        }
        let Ok(path) = path.join(child.name) else { continue };
        let name = format!("{prefix}{}", child.name);
        if child.children.is_empty() {
            values.push(ElementValue::new(path, &name, None, child.is_required));
        } else {
            collect(&path, child, &format!("{name}/"), values);
        }
    }
}
