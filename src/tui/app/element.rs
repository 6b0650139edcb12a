//! The form that edits or adds an element of an extension, a line for each value.

use super::super::prompt::{Prompt, Reply};
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::list::{Choice, List, ListKind, entry};
use super::{App, Mode, Preview};
use crate::document::rows::{RowId, RowSet};
use crate::protocol::extension::path::{ALL, Path};
use crate::protocol::extension::{Element, root};
use crate::session::change::Change;
use crate::session::command::{Command, Scope};
use crate::xml::extension_edit::ExtensionChange;
use crossterm::event::KeyEvent;

/// An element being edited.
#[derive(Debug)]
pub struct ElementEdit {
    /// The row that it is in.
    pub row: RowId,
    /// Whether it is added; else it is there.
    pub is_new: bool,
    /// Which element.
    pub path: Path,
    /// Its text, its attributes, and of a new one what must stand in it.
    pub values: Vec<ElementValue>,
    /// Which value is being typed.
    pub at: usize,
    /// What keeping it would do; `None` while nothing differs.
    pub preview: Option<Preview>,
    pub(super) ticket: u64,
}

/// A value of an element.
#[derive(Debug)]
pub struct ElementValue {
    /// Where it stands.
    pub path: Path,
    /// What it is called below its element.
    pub name: String,
    /// Its text.
    pub prompt: Prompt,
    /// The text that is there; `None` where there is none.
    pub before: Option<String>,
    /// Whether the element is wrong without it.
    pub is_required: bool,
}

impl ElementValue {
    fn new(path: Path, name: &str, before: Option<String>, is_required: bool) -> Self {
        let prompt = Prompt::of_value(before.as_deref().unwrap_or_default(), Vec::new());
        Self { path, name: name.to_owned(), prompt, before, is_required }
    }
}

impl ElementEdit {
    /// What keeping it does.
    fn acts(&self) -> Vec<ExtensionChange> {
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

    fn go(&mut self, down: bool) {
        let last = self.values.len().saturating_sub(1);
        self.at = if down { (self.at + 1).min(last) } else { self.at.saturating_sub(1) };
    }
}

/// The values that a new element is asked for: its text, its attributes, the elements that must stand in it.
fn asked(path: &Path, element: &'static Element) -> Vec<ElementValue> {
    let mut values = Vec::new();
    if element.children.is_empty() && element.kind != crate::protocol::extension::Kind::Empty {
        values.push(ElementValue::new(path.clone(), element.name, None, true));
    }
    collect(path, (element, ""), &mut values);
    for value in &mut values {
        if let [only] = value.path.choices() {
            value.prompt.set(only);
        }
    }
    values
}

fn collect(path: &Path, (element, prefix): (&'static Element, &str), values: &mut Vec<ElementValue>) {
    let is_link = element.name == "link";
    for attribute in element.attributes.iter().filter(|attribute| !attribute.is_deprecated) {
        let is_known = !is_link || matches!(attribute.name, "rel" | "hreflang" | "href");
        if let Some(path) = path.join(&format!("@{}", attribute.name)).ok().filter(|_| is_known) {
            values.push(ElementValue::new(path, &format!("{prefix}{}", attribute.name), None, is_link));
        }
    }
    for child in element.children {
        // A video needs one of these two, although the schema asks for neither.
        let is_video = element.name == "video" && matches!(child.name, "content_loc" | "player_loc");
        if !child.is_required && !is_video {
            continue;
        }
        let Ok(path) = path.join(child.name) else { continue };
        let name = format!("{prefix}{}", child.name);
        if child.children.is_empty() {
            values.push(ElementValue::new(path, &name, None, child.is_required));
        } else {
            collect(&path, (child, &format!("{name}/")), values);
        }
    }
}

/// What an extension is for.
fn about(name: &str) -> &'static str {
    match name {
        "image" => "an image on the page",
        "video" => "a video on the page",
        "news" => "the page is a news article",
        "link" => "the page in another language, or for another device",
        "mobile" => "the page is for feature phones (obsolete)",
        "geo" | "codesearch" => "obsolete",
        _ => "data for programmable search",
    }
}

impl App {
    /// Lists what can be added in an element, or the extensions that an entry can have.
    pub(super) fn open_elements(&mut self, above: Option<&Path>) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let line = |(name, about): (&str, &'static str), path: String| {
            let words = Words::new().and(Role::Key, format!("{name:24}")).and(Role::Dim, about);
            entry(words, Words::new(), Choice::Element(path))
        };
        let lines: Vec<(Line, Choice)> = match above.map(|above| (above, above.element())) {
            None => {
                let roots = ALL.iter().filter_map(|namespace| root(*namespace));
                roots.map(|root| line((root.name, about(root.name)), root.name.to_owned())).collect()
            }
            Some((above, Some(element))) => {
                let of = |is_required: bool, is_deprecated: bool| match (is_required, is_deprecated) {
                    (true, _) => "required",
                    (_, true) => "withdrawn by Google",
                    _ => "",
                };
                let children = element.children.iter().map(|child| {
                    let words = (child.name, of(child.is_required, child.is_deprecated));
                    line(words, format!("{above}/{}", child.name))
                });
                let attributes = element.attributes.iter().map(|attribute| {
                    let is_deprecated = attribute.is_deprecated;
                    let words = if is_deprecated { of(false, true) } else { "attribute" };
                    line((attribute.name, words), format!("{above}@{}", attribute.name))
                });
                children.chain(attributes).collect()
            }
            // Elements of other vocabularies are known to nobody here.
            Some((above, None)) => return self.open_line_here(&format!("ext add {above}/")),
        };
        if lines.is_empty() {
            return self.say("this element has no content");
        }
        let mut list = List::new(ListKind::Elements, lines);
        list.start_search();
        self.mode = Mode::List(list);
    }

    /// Asks for the values of an element that was chosen to be added.
    pub(super) fn add_element(&mut self, path: &str) {
        let Some(row) = self.grid.row else { return };
        let path = match Path::parse(path) {
            Ok(path) => path,
            Err(why) => return self.fail(why),
        };
        let Some(element) = path.element() else { return self.open_line_here(&format!("ext add {path}")) };
        let (is_new, values) = match &path.attribute {
            Some(name) => (false, vec![ElementValue::new(path.clone(), name, None, true)]),
            None => (true, asked(&path, element)),
        };
        if values.is_empty() {
            // It says all by being there.
            let rows = RowSet::from_iter([row.0]);
            return self.change(Change::Extend { rows, acts: vec![ExtensionChange::Add { path, values: Vec::new() }] });
        }
        let first = values.iter().position(|value| value.prompt.text().is_empty()).unwrap_or(0);
        let edit = ElementEdit { row, is_new, path, values, at: first, preview: None, ticket: 0 };
        self.element_changed(Box::new(edit));
    }

    /// Edits the values of an element where they stand.
    pub(super) fn edit_element(&mut self, path: &str, values: &[(String, String)]) {
        let Some(row) = self.grid.row else { return };
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let name = |path: &Path| match (&path.attribute, path.steps.last()) {
            (Some(name), _) => name.to_string(),
            (None, Some(step)) => step.name.to_string(),
            (None, None) => String::new(),
        };
        let value = |(path, text): &(String, String)| {
            let path = Path::parse(path).ok()?;
            Some(ElementValue::new(path.clone(), &name(&path), Some(text.clone()), false))
        };
        let values: Option<Vec<ElementValue>> = values.iter().map(value).collect();
        match (Path::parse(path), values) {
            (Ok(path), Some(values)) => {
                let edit = ElementEdit { row, is_new: false, path, values, at: 0, preview: None, ticket: 0 };
                self.element_changed(Box::new(edit));
            }
            _ => self.say("this element is misplaced; K explains it"),
        }
    }

    pub(super) fn element_key(&mut self, mut edit: Box<ElementEdit>, key: KeyEvent) {
        let Some(value) = edit.values.get_mut(edit.at) else { return };
        match value.prompt.press(key) {
            Reply::Drop => {}
            Reply::Changed => self.element_changed(edit),
            Reply::Tab(back) => {
                let typed = value.prompt.text().to_owned();
                let begins = |choice: &&&str| choice.len() > typed.len() && choice.starts_with(&*typed);
                match value.path.choices().iter().find(begins).filter(|_| !back && !typed.is_empty()) {
                    Some(choice) => {
                        value.prompt.set(choice);
                        return self.element_changed(edit);
                    }
                    None => edit.go(!back),
                }
                self.mode = Mode::Element(edit);
            }
            reply @ (Reply::Down | Reply::Up) => {
                edit.go(reply == Reply::Down);
                self.mode = Mode::Element(edit);
            }
            Reply::Accept => self.element_accept(edit),
            Reply::Moved | Reply::Unknown => self.mode = Mode::Element(edit),
        }
    }

    /// Keeps it; of a new element the next value that it needs is asked for first.
    fn element_accept(&mut self, mut edit: Box<ElementEdit>) {
        let open = |one: &ElementValue| one.is_required && one.prompt.text().is_empty();
        let next = edit.values.iter().enumerate().skip(edit.at + 1).find(|(_, one)| open(one));
        if let Some((next, _)) = next.filter(|_| edit.is_new) {
            edit.at = next;
            self.mode = Mode::Element(edit);
            return;
        }
        let acts = edit.acts();
        if acts.is_empty() {
            return self.say("nothing was typed; the row is unchanged");
        }
        self.keep_command(&Command::Extend { scope: Scope::default(), acts: acts.clone() });
        self.change(Change::Extend { rows: RowSet::from_iter([edit.row.0]), acts });
    }

    pub(super) fn element_changed(&mut self, mut edit: Box<ElementEdit>) {
        let acts = edit.acts();
        edit.preview = None;
        self.about = Some(edit.row);
        self.mode = Mode::Element(edit);
        if !acts.is_empty() {
            self.ask_preview(Command::Extend { scope: Scope::default(), acts });
        }
    }
}
