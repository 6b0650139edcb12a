//! The network: all requests that sited ever sends, and only those that the user asked for.
//!
//! No other layer opens a socket, and without the feature `net` there is none. A request goes to the hosts that were
//! named and to public addresses, unless the user allowed others; what a server answers is bounded in time and bytes.

pub mod address;
pub mod client;
pub mod delivery;
mod download;
mod failure;
pub mod get;
mod get_state;
mod head;
pub mod hosts;
pub mod indexnow;
pub mod pace;
mod polite;
pub mod probe;
pub mod record;
mod resolver;
pub mod results;
mod rules;
pub mod tally;
pub mod targets;
#[cfg(test)]
#[path = "../../tests/support/server.rs"]
pub(crate) mod test_server;
mod visit;
