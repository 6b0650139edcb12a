//! The table mode: keys are commands.

use super::super::state::Shared;
use super::super::state::request::Request;
use crate::tui::keymap::KeyOutcome;
use crossterm::event::{KeyCode, KeyEvent};

/// Handles a key.
pub(in crate::tui::app) fn handle(key: KeyEvent, shared: &mut Shared) {
    // Esc first drops a count or an incomplete key sequence.
    if key.code == KeyCode::Esc && shared.keymap.reset() {
        return;
    }
    match shared.keymap.press(key.into()) {
        KeyOutcome::Run(action, count) => shared.request(Request::Act(action, count)),
        KeyOutcome::Wait => {}
        KeyOutcome::Unknown => shared.show_note("no such key; ? lists them all"),
    }
}
