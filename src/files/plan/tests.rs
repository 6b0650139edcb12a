//! Plans of whole sets.
