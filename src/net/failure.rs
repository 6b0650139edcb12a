//! Errors of requests, with messages for users.

use std::io;
use std::time::Duration;

/// The message for a host name that has no address, or for which no name server can be reached.
const UNRESOLVED_HOST: &str = "the name of the host cannot be resolved";
/// The start of the message that the standard library has for this error, for which there is no `ErrorKind`.
const LOOKUP_PREFIX: &str = "failed to lookup address information";

/// Why there is no response, or no complete one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct RequestError {
    /// The kind of failure.
    pub kind: FailureKind,
    message: String,
}

/// Kinds of failures that are handled differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The address is not allowed; nothing was sent.
    Refused,
    /// The server or the network failed; another attempt may succeed.
    Network,
    /// The response or the certificate is not valid; another attempt would fail as well.
    Invalid,
}

/// The time limits of a request, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimits {
    pub(super) total: Duration,
    /// Maximum time without any data.
    pub(super) idle_timeout: Option<Duration>,
}

/// An address that is not public, to which nothing is sent.
#[derive(Debug, thiserror::Error)]
#[error("{host} is {kind} ({address})")]
pub(super) struct AddressRefused {
    pub(super) host: String,
    pub(super) address: std::net::IpAddr,
    pub(super) kind: &'static str,
}

impl RequestError {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Converts an error of the HTTP client.
    pub(super) fn from_client(error: ureq::Error, limits: TimeLimits) -> Self {
        match error {
            ureq::Error::Timeout(which) => Self::timeout(which, limits),
            ureq::Error::HostNotFound => Self::new(FailureKind::Network, UNRESOLVED_HOST),
            ureq::Error::ConnectionFailed => Self::new(FailureKind::Network, "no connection"),
            ureq::Error::Io(error) => Self::from_io(&error, limits),
            ureq::Error::Rustls(error) => Self::from_tls(&error),
            ureq::Error::Tls(message) => Self::new(FailureKind::Invalid, format!("TLS: {message}")),
            ureq::Error::Other(error) if error.is::<AddressRefused>() => {
                Self::new(FailureKind::Refused, format!("{error}; --allow-private allows it"))
            }
            ureq::Error::BodyStalled => Self::new(FailureKind::Network, "the answer stopped"),
            ureq::Error::LargeResponseHeader(..) => Self::new(FailureKind::Invalid, "the headers are too long"),
            other => Self::new(FailureKind::Invalid, format!("not a valid HTTP answer ({other})")),
        }
    }

    /// Converts an error from reading a response.
    pub(super) fn from_io(error: &io::Error, limits: TimeLimits) -> Self {
        if let Some(inner) = error.get_ref() {
            if let Some(tls) = inner.downcast_ref::<rustls::Error>() {
                return Self::from_tls(tls);
            }
            if let Some(ureq::Error::Timeout(which)) = inner.downcast_ref::<ureq::Error>() {
                return Self::timeout(*which, limits);
            }
        }
        let network = |message: &str| Self::new(FailureKind::Network, message);
        match error.kind() {
            io::ErrorKind::ConnectionRefused => network("connection refused"),
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                network("connection reset by the server")
            }
            io::ErrorKind::UnexpectedEof => network("the connection ended before the answer was complete"),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::timeout(ureq::Timeout::Global, limits),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Self::new(FailureKind::Invalid, format!("the body cannot be read ({error})"))
            }
            _ if error.to_string().starts_with(LOOKUP_PREFIX) => network(UNRESOLVED_HOST),
            _ => network(&error.to_string()),
        }
    }

    fn from_tls(error: &rustls::Error) -> Self {
        if *error == rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) {
            let message = "the server does not answer with TLS; the URL may be one of http://";
            return Self::new(FailureKind::Invalid, message);
        }
        Self::new(FailureKind::Invalid, format!("TLS: {error}"))
    }

    fn timeout(which: ureq::Timeout, limits: TimeLimits) -> Self {
        let message = match (which, limits.idle_timeout) {
            (ureq::Timeout::PerRead, Some(idle_timeout)) => {
                format!("the server sent nothing for {} s", idle_timeout.as_secs_f64())
            }
            (ureq::Timeout::Connect, Some(idle_timeout)) => {
                format!("no connection within {} s", idle_timeout.as_secs_f64())
            }
            _ => format!("no complete answer within {} s", limits.total.as_secs_f64()),
        };
        Self::new(FailureKind::Network, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_users_can_correct_are_explained() {
        let limits = TimeLimits { total: Duration::from_secs(1), idle_timeout: None };
        let tls = rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
        let error = RequestError::from_io(&io::Error::other(tls), limits);
        assert_eq!(error.to_string(), "the server does not answer with TLS; the URL may be one of http://");
        let lookup = "failed to lookup address information: Name or service not known";
        let error = RequestError::from_io(&io::Error::other(lookup), limits);
        assert_eq!(error.to_string(), "the name of the host cannot be resolved");
    }
}
