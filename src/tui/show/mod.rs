//! What a frame shows, read from the state: words and rows, not yet cells.
//!
//! Takes `&App` and changes nothing. Only rows on the screen are asked for.

mod changes;
mod detail;
pub(in crate::tui) use detail::{Stop, details};
mod frame;
mod gauges;
mod merge;
mod outline;
mod pane;
mod preview;
mod rows;

pub use outline::Outline;
pub use rows::badges;

use super::app::{App, ListKind, Mode};
use super::draw::{Footer, Screen};

impl App {
    /// Everything that the next frame shows.
    pub fn screen(&self) -> Screen<'_> {
        let cover = self.cover();
        Screen {
            header: self.header(),
            table: self.table(),
            pane: self.pane(),
            detail: self.shows_detail().then(|| detail::panel(self)),
            cover,
            footer: self.footer(),
        }
    }

    fn footer(&self) -> Footer<'_> {
        if let Mode::Line(edit) = &self.mode {
            return self.line_footer(edit);
        }
        if let Mode::List(list) = &self.mode
            && let Some(prompt) = &list.prompt
        {
            return if list.is_narrowed() && list.kind != ListKind::Elements {
                frame::search_footer(prompt)
            } else {
                frame::palette_footer(list.kind, prompt)
            };
        }
        if let Mode::Changes(changes) = &self.mode
            && let Some(prompt) = &changes.prompt
        {
            return frame::search_footer(prompt);
        }
        Footer::Words(self.footer_words())
    }
}
