//! The table mode: keys are commands.

use super::super::state::Shared;
use super::super::state::request::Request;
use crate::tui::keymap::Stroke;
use crossterm::event::{KeyCode, KeyEvent};

/// Handles a key.
pub(in crate::tui::app) fn handle(key: KeyEvent, shared: &mut Shared) {
    // Esc first drops a count or an incomplete key sequence.
    if key.code == KeyCode::Esc && shared.keymap.forget() {
        return;
    }
    match shared.keymap.press(key.into()) {
        Stroke::Run(action, count) => shared.request(Request::Act(action, count)),
        Stroke::Wait => {}
        Stroke::Unknown => shared.show_note("no such key; ? lists them all"),
    }
}
