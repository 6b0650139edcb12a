//! Runs against servers on loopback.
