//! Sends requests to a host at a limited rate, and again after the pauses that the server requests.

use super::client::{Client, Response, header};
use super::failure::{FailureKind, RequestError};
use super::pace::Pace;
use std::time::Duration;
use ureq::http::{HeaderMap, Method};
use url::Url;

/// Maximum number of requests for a URL if the server throttles.
pub(super) const MAX_ATTEMPTS: u32 = 6;

/// Sends requests to a host at a limited rate.
pub(super) struct PacedClient<'p> {
    pub(super) client: &'p Client,
    pub(super) pace: &'p Pace,
    /// Whether the run was stopped.
    pub(super) is_stopped: &'p dyn Fn() -> bool,
}

impl PacedClient<'_> {
    /// Waits and sends a request. It counts as running until `read` returns.
    pub(super) fn send(
        &self,
        (method, url): (&Method, &Url),
        headers: &HeaderMap,
        read: &mut dyn FnMut(Response),
    ) -> Result<(), SendError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let permit = self.pace.acquire(self.is_stopped).ok_or(SendError::Skipped)?;
            match self.client.send_with(method.clone(), url, headers) {
                Ok(response) => {
                    let Some(throttled) = throttled(&response) else {
                        read(response);
                        return Ok(());
                    };
                    if self.pace.back_off(&permit, throttled.pause) {
                        return Err(SendError::Skipped);
                    }
                    if attempts == MAX_ATTEMPTS {
                        self.pace.note_failure(&format!("status {}", response.status));
                        read(response);
                        return Ok(());
                    }
                }
                // The server may have closed a reused connection, so one failure is ignored.
                Err(error) if is_transient(&error) && attempts == 1 => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum SendError {
    /// The request failed.
    Failed(RequestError),
    /// Nothing was requested, because the host is skipped or the run was stopped.
    Skipped,
}

/// A request of the server for a lower rate.
pub(super) struct Throttled {
    /// The requested pause, if there is one.
    pub(super) pause: Option<Duration>,
}

/// Whether the server requests a lower rate, by the status.
pub(super) fn throttled(response: &Response) -> Option<Throttled> {
    let pause = || header(&response.headers, "retry-after").as_deref().and_then(super::pace::retry_after);
    matches!(response.status, 429 | 503).then(|| Throttled { pause: pause() })
}

impl From<RequestError> for SendError {
    fn from(error: RequestError) -> Self {
        Self::Failed(error)
    }
}

/// Whether another attempt may succeed.
pub(super) fn is_transient(error: &RequestError) -> bool {
    error.kind == FailureKind::Network
}
