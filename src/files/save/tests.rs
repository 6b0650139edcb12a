//! Saving whole sets, with faults.
