//! Changes of the fields of an entry.

/// What to do with one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'v> {
    /// Set it to this value (decoded text, escaped on writing).
    Set(&'v str),
    /// Remove the element.
    Remove,
}

/// The changes of one entry, by `Field::index`; `None` leaves the field alone.
pub type Changes<'v> = [Option<Change<'v>>; 4];
