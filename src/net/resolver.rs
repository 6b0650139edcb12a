//! Name resolution that refuses addresses which are not public.
//!
//! It is the resolver of the connections themselves: the address that was checked is the one that is connected to, so a
//! name that resolves to something else a moment later (DNS rebinding) changes nothing.

use super::address::special;
use super::failure::AddressRefused;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Another resolver, without the addresses that are not public.
#[derive(Debug)]
pub(super) struct PublicOnly<R> {
    pub(super) inner: R,
    /// Whether every address is allowed.
    pub(super) allow_private: bool,
    /// Hosts and ports whose loopback addresses are allowed.
    pub(super) loopback: Vec<(String, u16)>,
}

impl<R> PublicOnly<R> {
    /// Whether a request is to a server on this machine that the user named.
    fn is_named(&self, uri: &Uri) -> bool {
        let standard = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(standard);
        self.loopback.iter().any(|(host, named)| uri.host() == Some(host) && port == *named)
    }
}

impl<R: Resolver> Resolver for PublicOnly<R> {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        if self.allow_private {
            return Ok(found);
        }
        let is_named = self.is_named(uri);
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
                let host = uri.host().unwrap_or_default().to_owned();
                Err(ureq::Error::Other(Box::new(AddressRefused { host, address, what })))
            }
            _ if public.is_empty() => Err(ureq::Error::HostNotFound),
            _ => Ok(public),
        }
    }
}
