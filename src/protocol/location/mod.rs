//! `loc`: validation, repair, parts and comparison keys of URLs.
//!
//! Invariant: only [`repair`] and [`key`] rewrite a URL, and no output of the `url` crate ever becomes text of a
//! document: that crate repairs what it reads, so it is only used to validate unusual hosts.
//!
//! All functions take the *decoded, trimmed* value: entities resolved, surrounding whitespace removed.
//! An empty value has no faults here (`loc-empty` is a rule of the entry).

mod chars;
mod explain;
mod fault;
mod host;
mod key;
mod origin_cache;
mod params;
mod parts;
mod plain_escapes;
mod private;
mod query_survey;
mod repair;
mod shape;
mod url_prefix;
mod validate;

pub(crate) use chars::percent_decoded;
pub(crate) use explain::explain;
pub(crate) use fault::{Fault, Faults};
pub(crate) use host::normal_host;
pub(crate) use key::{NO_KEY, hash_of_key, key, key_hash, near_key, near_key_hash};
pub(crate) use origin_cache::{OriginCache, Validated};
pub(crate) use parts::{Location, Port, Scheme, depth, host, origin, path, section};
pub(crate) use repair::repair;
pub(crate) use url_prefix::{UrlPrefix, check_scope};
pub(crate) use validate::{ends_in_control, validate};
