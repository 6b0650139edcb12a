//! Plans changes of the set: kinds of changes, their scope, and the edits that they become.

mod change;
mod data_values;
pub(super) mod extend;
pub(super) mod index_urls;
pub(super) mod intent;
pub(super) mod prepared;
pub(super) mod replace;
pub(super) mod revert;
pub(super) mod rows;
pub(crate) mod scope;
pub(crate) mod script_export;
pub(crate) mod url_effects;
pub(super) mod values;

pub use change::Change;
pub use intent::Sample;
pub use scope::DefaultScope;

pub(crate) use change::{EditError, Reach};
pub(crate) use intent::{Intent, Label, PreviewPart};
pub(crate) use prepared::Prepared;
pub(crate) use scope::rules_named;
