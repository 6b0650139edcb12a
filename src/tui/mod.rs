//! The screen: one thread owns the state, one closed event type changes it, drawing only reads it.
//!
//! Nothing here decides what a sitemap is: it asks the session. Only this module names `ratatui`
//! and `crossterm`.

pub mod command;
pub mod draw;
pub mod event;
pub mod jobs;
pub mod keymap;
pub mod layout;
pub mod prompt;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod words;
