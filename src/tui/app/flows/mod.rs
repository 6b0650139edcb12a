//! Flows: tasks with several dialogs, such as saving, opening, merging, explaining and fixing.

pub(in crate::tui::app) mod conflicts;
pub(in crate::tui::app) mod data;
pub(in crate::tui::app) mod decide;
pub(in crate::tui::app) mod elements;
pub(in crate::tui::app) mod explain;
pub(in crate::tui::app) mod external_changes;
pub(in crate::tui::app) mod fix;
pub(in crate::tui::app) mod help;
pub(in crate::tui::app) mod history;
pub(in crate::tui::app) mod inspect;
pub(in crate::tui::app) mod leave;
pub(in crate::tui::app) mod loaded;
pub(in crate::tui::app) mod open_url;
pub(in crate::tui::app) mod opening;
mod plan_lines;
pub(in crate::tui::app) mod probe;
pub(in crate::tui::app) mod recovery;
pub(in crate::tui::app) mod rules;
pub(in crate::tui::app) mod save;
