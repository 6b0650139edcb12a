//! Changes of the fields of an entry.

/// What to do with one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'v> {
    /// Give it this value (decoded text, which is escaped when it is written).
    Set(&'v str),
    /// Take the element out.
    Remove,
}

/// The changes of one entry, by `Field::index`; `None` leaves the field alone.
pub type Changes<'v> = [Option<Change<'v>>; 4];
