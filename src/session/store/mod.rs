//! Files of the set: loads and saves them, follows changes by other programs, keeps the journal.

pub mod compare;
pub mod external_changes;
pub mod journal;
pub mod load;
pub mod pending;
pub mod planning;
pub mod save;
pub mod verify;
