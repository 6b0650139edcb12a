//! Lists the elements that can be added to an entry, and opens their forms.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::element::ElementEdit;
use super::super::modes::items::{Item, entry};
use super::super::modes::list::{List, ListKind};
use super::super::state::request::Choice;
use crate::protocol::extension::path::{ALL, Path};
use crate::protocol::extension::root;
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// The purpose of an extension.
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

/// Lists the elements that can be added below an element, or the extensions of an entry.
pub(in crate::tui::app) fn open_elements(app: &mut App, above: Option<&Path>) {
    if !app.shared.ensure_changeable() {
        return;
    }
    let line = |(name, about): (&str, &'static str), path: String| {
        let words = Words::new().and(Role::Key, format!("{name:24}")).and(Role::Dim, about);
        entry(words, Words::new(), Choice::Element(path))
    };
    let lines: Vec<Item> = match above.map(|above| (above, above.element())) {
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
        // The elements of unknown namespaces cannot be listed.
        Some((above, None)) => return app.open_line_here(&format!("ext add {above}/")),
    };
    if lines.is_empty() {
        return app.shared.show_note("this element has no content");
    }
    let mut list = List::new(ListKind::Elements, lines);
    list.start_search();
    app.open(Mode::List(list));
}

/// Opens the form of a new element.
pub(in crate::tui::app) fn add_element(app: &mut App, path: &str) {
    let Some(row) = app.shared.grid.row else { return };
    let path = match Path::parse(path) {
        Ok(path) => path,
        Err(why) => return app.shared.show_error(why),
    };
    let Some(element) = path.element() else { return app.open_line_here(&format!("ext add {path}")) };
    if let Some(edit) = ElementEdit::add(&mut app.shared, row, path, element) {
        app.open(Mode::Element(edit));
    }
}

/// Opens the form of an existing element.
pub(in crate::tui::app) fn edit_element(app: &mut App, path: &str, values: &[(String, String)]) {
    let Some(row) = app.shared.grid.row else { return };
    if !app.shared.ensure_changeable() {
        return;
    }
    match ElementEdit::edit(&mut app.shared, row, path, values) {
        Some(edit) => app.open(Mode::Element(edit)),
        None => app.shared.show_note("this element is misplaced; K explains it"),
    }
}
