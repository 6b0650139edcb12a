//! The network layer: sends all HTTP requests of sited, and only those that the user asked for.
//!
//! No other layer opens a socket, and without the feature `net` this layer is not compiled. Requests only go to the
//! named hosts and to public addresses, unless the user allowed others. The time and the size of responses are limited.

pub(crate) mod address;
pub(crate) mod client;
pub(crate) mod credentials;
pub(crate) mod delivery;
mod download;
mod failure;
pub(crate) mod get;
mod get_state;
mod handover;
mod head;
pub(crate) mod hosts;
pub(crate) mod indexnow;
pub(crate) mod pace;
mod polite;
pub(crate) mod probe;
pub(crate) mod record;
mod resolver;
pub(crate) mod results;
mod rules;
pub(crate) mod tally;
pub(crate) mod targets;
#[cfg(test)]
#[path = "../../tests/support/server.rs"]
pub(crate) mod test_server;
mod visit;
