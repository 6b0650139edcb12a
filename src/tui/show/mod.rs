//! Renders the state as lines of words and table rows, which `draw` turns into cells.
//!
//! Takes `&App` and changes nothing. Only rows on the screen are rendered.

mod changes;
mod detail;
mod frame;
mod gauges;
mod lines;
mod merge;
mod pane;
mod preview;
mod rows;
mod status;

use super::app::App;
use super::app::modes::Mode;
use super::app::modes::list::ListKind;
use super::draw::{Footer, Screen};

/// Returns everything that the next frame shows.
pub(crate) fn screen(app: &App) -> Screen<'_> {
    Screen {
        header: frame::header(&app.shared),
        table: rows::table(app),
        pane: pane::pane(app),
        detail: app.shared.shows_details().then(|| detail::panel(app)),
        overlay: pane::overlay(app),
        footer: footer(app),
    }
}

fn footer(app: &App) -> Footer<'_> {
    match app.modes.current() {
        Mode::Line(edit) => return frame::line_footer(&app.shared, edit),
        Mode::List(list) => {
            if let Some(prompt) = &list.prompt {
                return if list.is_narrowed() && list.kind != ListKind::Elements {
                    frame::search_footer(prompt)
                } else {
                    frame::palette_footer(list.kind, prompt)
                };
            }
        }
        Mode::Changes(changes) => {
            if let Some(prompt) = &changes.prompt {
                return frame::search_footer(prompt);
            }
        }
        _ => {}
    }
    Footer::Words(frame::footer_words(app))
}
