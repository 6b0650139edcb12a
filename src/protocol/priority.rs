//! priority
