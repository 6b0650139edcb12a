//! Files of the set: loads and saves them, follows changes by other programs, keeps the journal.

pub(crate) mod background_load;
pub(crate) mod compare;
pub(crate) mod external_changes;
pub(crate) mod first_entries;
pub(crate) mod journal;
pub mod load;
pub(crate) mod pending;
pub(crate) mod planning;
pub mod save;
pub(crate) mod verify;
