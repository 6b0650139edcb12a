//! Why a request failed, as messages for people.

use std::io;
use std::time::Duration;

/// The name of a host has no address, or no one can be asked for it.
const NO_HOST: &str = "the name of the host cannot be resolved";
/// How the standard library begins its message about the same, for which there is no kind.
const LOOKUP: &str = "failed to lookup address information";

/// Why there is no answer, or no complete one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(crate) struct RequestError {
    /// What kind of failure it is.
    pub kind: FailureKind,
    text: String,
}

/// Kinds of failures that are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The address is not allowed; nothing was sent.
    Refused,
    /// The server or the network failed; another try may succeed.
    Network,
    /// The answer makes no sense, or the certificate is not valid; another try would end the same way.
    Answer,
}

/// How long a request may take, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimits {
    pub(super) whole: Duration,
    /// Without a byte.
    pub(super) silence: Option<Duration>,
}

/// An address that requests may not go to.
#[derive(Debug, thiserror::Error)]
#[error("{host} is {what} ({address})")]
pub(super) struct AddressRefused {
    pub(super) host: String,
    pub(super) address: std::net::IpAddr,
    pub(super) what: &'static str,
}

impl RequestError {
    pub(super) fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// What the client says about a request.
    pub(super) fn of(error: ureq::Error, limits: TimeLimits) -> Self {
        match error {
            ureq::Error::Timeout(which) => Self::timeout(which, limits),
            ureq::Error::HostNotFound => Self::new(FailureKind::Network, NO_HOST),
            ureq::Error::ConnectionFailed => Self::new(FailureKind::Network, "no connection"),
            ureq::Error::Io(error) => Self::of_io(&error, limits),
            ureq::Error::Rustls(error) => Self::of_tls(&error),
            ureq::Error::Tls(text) => Self::new(FailureKind::Answer, format!("TLS: {text}")),
            ureq::Error::Other(error) if error.is::<AddressRefused>() => {
                Self::new(FailureKind::Refused, format!("{error}; --allow-private allows it"))
            }
            ureq::Error::BodyStalled => Self::new(FailureKind::Network, "the answer stopped"),
            ureq::Error::LargeResponseHeader(..) => Self::new(FailureKind::Answer, "the headers are too long"),
            other => Self::new(FailureKind::Answer, format!("not a valid HTTP answer ({other})")),
        }
    }

    /// The same for an error while the answer is read.
    pub(super) fn of_io(error: &io::Error, limits: TimeLimits) -> Self {
        if let Some(inner) = error.get_ref() {
            if let Some(tls) = inner.downcast_ref::<rustls::Error>() {
                return Self::of_tls(tls);
            }
            if let Some(ureq::Error::Timeout(which)) = inner.downcast_ref::<ureq::Error>() {
                return Self::timeout(*which, limits);
            }
        }
        let network = |text: &str| Self::new(FailureKind::Network, text);
        match error.kind() {
            io::ErrorKind::ConnectionRefused => network("connection refused"),
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                network("connection reset by the server")
            }
            io::ErrorKind::UnexpectedEof => network("the connection ended before the answer was complete"),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::timeout(ureq::Timeout::Global, limits),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Self::new(FailureKind::Answer, format!("the body cannot be read ({error})"))
            }
            _ if error.to_string().starts_with(LOOKUP) => network(NO_HOST),
            _ => network(&error.to_string()),
        }
    }

    fn of_tls(error: &rustls::Error) -> Self {
        if *error == rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) {
            let text = "the server does not answer with TLS; the URL may be one of http://";
            return Self::new(FailureKind::Answer, text);
        }
        Self::new(FailureKind::Answer, format!("TLS: {error}"))
    }

    fn timeout(which: ureq::Timeout, limits: TimeLimits) -> Self {
        let text = match (which, limits.silence) {
            (ureq::Timeout::PerRead, Some(silence)) => {
                format!("the server sent nothing for {} s", silence.as_secs_f64())
            }
            (ureq::Timeout::Connect, Some(silence)) => format!("no connection within {} s", silence.as_secs_f64()),
            _ => format!("no complete answer within {} s", limits.whole.as_secs_f64()),
        };
        Self::new(FailureKind::Network, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_users_can_correct_are_explained() {
        let limits = TimeLimits { whole: Duration::from_secs(1), silence: None };
        let tls = rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
        let error = RequestError::of_io(&io::Error::other(tls), limits);
        assert_eq!(error.to_string(), "the server does not answer with TLS; the URL may be one of http://");
        let lookup = "failed to lookup address information: Name or service not known";
        let error = RequestError::of_io(&io::Error::other(lookup), limits);
        assert_eq!(error.to_string(), "the name of the host cannot be resolved");
    }
}
