//! Name resolution that refuses addresses which are not public.
//!
//! It is the resolver of the connections themselves: the address that was checked is the one that is connected to, so a
//! name that resolves to something else a moment later (DNS rebinding) changes nothing.
//!
//! The client resolves the host of every request, also of one that goes over a connection which is open, and starts a
//! thread for it: an address is taken as it is, and the addresses of a name are kept for a while.

use super::address::special;
use super::failure::AddressRefused;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// How long the addresses of a name are used, once they are known.
const KEPT: Duration = Duration::from_secs(60);

/// Another resolver, without the addresses that are not public.
#[derive(Debug)]
pub(super) struct PublicOnly<R> {
    inner: R,
    /// Whether every address is allowed.
    allow_private: bool,
    /// Hosts and ports whose loopback addresses are allowed.
    loopback: Vec<(String, u16)>,
    /// What names resolve to, and since when; by host and port.
    known: Mutex<HashMap<(String, u16), (Instant, ResolvedSocketAddrs)>>,
}

impl<R> PublicOnly<R> {
    pub(super) fn new(inner: R, allow_private: bool, loopback: Vec<(String, u16)>) -> Self {
        Self { inner, allow_private, loopback, known: Mutex::default() }
    }

    /// Whether a request is to a server on this machine that the user named.
    fn is_named(&self, host: &str, port: u16) -> bool {
        self.loopback.iter().any(|(named, own)| named == host && *own == port)
    }
}

impl<R: Resolver> PublicOnly<R> {
    /// All addresses of a host.
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
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), port);
        if let Some((_, found)) = lock().get(&key).filter(|(since, _)| since.elapsed() < KEPT) {
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
            match special(address.ip()) {
                None => public.push(*address),
                Some(_) if is_named && address.ip().is_loopback() => public.push(*address),
                Some(what) => refused = Some((address.ip(), what)),
            }
        }
        match refused {
            Some((address, what)) if public.is_empty() => {
                let host = target.0.to_owned();
                Err(ureq::Error::Other(Box::new(AddressRefused { host, address, what })))
            }
            _ if public.is_empty() => Err(ureq::Error::HostNotFound),
            _ => Ok(public),
        }
    }
}
