//! A resolver that refuses addresses which are not public.
//!
//! Connections use the addresses that it returns. A name that resolves to another address later (DNS rebinding)
//! therefore does not bypass the check.
//!
//! The client resolves the host of every request in a new thread, even if it reuses a connection. For speed, IP
//! addresses are not resolved, and the addresses of names are cached.

use super::address::non_public_kind;
use super::failure::AddressRefused;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// How long the addresses of a name are cached.
const CACHE_TTL: Duration = Duration::from_secs(60);

/// Wraps a resolver and removes addresses that are not public.
#[derive(Debug)]
pub(super) struct PublicOnly<R> {
    inner: R,
    /// Whether every address is allowed.
    allow_private: bool,
    /// Hosts and ports for which loopback addresses are allowed.
    loopback: Vec<(String, u16)>,
    /// The cache of addresses by host and port, with the time of resolution.
    cache: Mutex<HashMap<(String, u16), (Instant, ResolvedSocketAddrs)>>,
}

impl<R> PublicOnly<R> {
    pub(super) fn new(inner: R, allow_private: bool, loopback: Vec<(String, u16)>) -> Self {
        Self { inner, allow_private, loopback, cache: Mutex::default() }
    }

    /// Whether loopback addresses are allowed for a host and port.
    fn is_named(&self, host: &str, port: u16) -> bool {
        self.loopback.iter().any(|(named, own)| named == host && *own == port)
    }
}

impl<R: Resolver> PublicOnly<R> {
    /// All addresses of a host, from the cache if possible.
    fn addresses(
        &self,
        (host, port): (&str, u16),
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if let Ok(address) = literal.parse::<IpAddr>() {
            let mut found = self.empty();
            found.push(SocketAddr::new(address, port));
            return Ok(found);
        }
        let lock = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), port);
        if let Some((_, found)) = lock().get(&key).filter(|(since, _)| since.elapsed() < CACHE_TTL) {
            return Ok(found.clone());
        }
        let found = self.inner.resolve(uri, config, timeout)?;
        lock().insert(key, (Instant::now(), found.clone()));
        Ok(found)
    }
}

impl<R: Resolver> Resolver for PublicOnly<R> {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let standard = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let target = (uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(standard));
        let found = self.addresses(target, uri, config, timeout)?;
        if self.allow_private {
            return Ok(found);
        }
        let is_named = self.is_named(target.0, target.1);
        let mut public = self.empty();
        let mut refused = None;
        for address in &found {
            match non_public_kind(address.ip()) {
                None => public.push(*address),
                Some(_) if is_named && address.ip().is_loopback() => public.push(*address),
                Some(kind) => refused = Some((address.ip(), kind)),
            }
        }
        match refused {
            Some((address, kind)) if public.is_empty() => {
                let host = target.0.to_owned();
                Err(ureq::Error::Other(Box::new(AddressRefused { host, address, kind })))
            }
            _ if public.is_empty() => Err(ureq::Error::HostNotFound),
            _ => Ok(public),
        }
    }
}
