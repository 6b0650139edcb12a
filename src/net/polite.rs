//! Sends paced requests to one host, with retries after the pauses that it asks for.

use super::client::{Answer, Client, header};
use super::failure::{FailureKind, RequestError};
use super::pace::Pace;
use std::time::Duration;
use ureq::http::{HeaderMap, Method};
use url::Url;

/// How often a URL is asked for again when the server says that it is asked too much.
pub(super) const MOST_TRIES: u32 = 6;

/// Sends requests to a host.
pub(super) struct Polite<'p> {
    pub(super) client: &'p Client,
    pub(super) pace: &'p Pace,
    /// Whether the work was stopped.
    pub(super) is_stopped: &'p dyn Fn() -> bool,
}

impl Polite<'_> {
    /// Sends one request when it may be sent. `read` sees the answer while it still counts as running.
    pub(super) fn send(
        &self,
        (method, url): (&Method, &Url),
        headers: &HeaderMap,
        read: &mut dyn FnMut(Answer),
    ) -> Result<(), Stop> {
        let mut tries = 0;
        loop {
            tries += 1;
            let permit = self.pace.acquire(self.is_stopped).ok_or(Stop::Unasked)?;
            match self.client.send_with(method.clone(), url, headers) {
                Ok(answer) => {
                    let Some(less) = asks_for_less(&answer) else {
                        read(answer);
                        return Ok(());
                    };
                    if self.pace.slow_down(&permit, less.wanted) {
                        return Err(Stop::Unasked);
                    }
                    if tries == MOST_TRIES {
                        self.pace.fail(&format!("status {}", answer.status));
                        read(answer);
                        return Ok(());
                    }
                }
                // A connection that the server closed meanwhile is no failure of the page.
                Err(error) if is_transient(&error) && tries == 1 => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Why a URL has no answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The request failed.
    Failed(RequestError),
    /// Its host is left alone, or the work was stopped: nothing is known about the URL.
    Unasked,
}

/// A server that is asked too much.
pub(super) struct AsksForLess {
    /// The pause that it wants, if it says so.
    pub(super) wanted: Option<Duration>,
}

/// Whether an answer says that the server is asked too much.
pub(super) fn asks_for_less(answer: &Answer) -> Option<AsksForLess> {
    let wanted = || header(&answer.headers, "retry-after").as_deref().and_then(super::pace::retry_after);
    matches!(answer.status, 429 | 503).then(|| AsksForLess { wanted: wanted() })
}

impl From<RequestError> for Stop {
    fn from(error: RequestError) -> Self {
        Self::Failed(error)
    }
}

/// An error that another try may not have.
pub(super) fn is_transient(error: &RequestError) -> bool {
    error.kind == FailureKind::Network
}
