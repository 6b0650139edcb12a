//! Operations on the shared state that open no mode: move, show, search, change, copy.

pub(in crate::tui::app) mod clipboard;
pub(in crate::tui::app) mod cursor;
pub(in crate::tui) mod describe;
pub(in crate::tui::app) mod edit;
pub(in crate::tui::app) mod mark;
pub(in crate::tui::app) mod recheck;
pub(in crate::tui) mod row_details;
pub(in crate::tui) mod row_findings;
pub(in crate::tui::app) mod search;
pub(in crate::tui) mod validate;
pub(in crate::tui) mod view;
