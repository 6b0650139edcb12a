//! Changes of the fields of an entry.

/// A change of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'v> {
    /// Sets the value (decoded text, which is escaped when it is written).
    Set(&'v str),
    /// Removes the element.
    Remove,
}

/// The changes of one entry, by `Field::index`; `None` does not change the field.
pub type Changes<'v> = [Option<Change<'v>>; 4];
