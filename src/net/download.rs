//! Downloads one file: follows redirects, decompresses the body, and limits its size and duration.

use super::client::{Body, Client, Response, header};
use super::delivery::{ADDRESS, Delivery, ENCODING, NO_ANSWER, OTHER_HOST, REDIRECT};
use super::failure::{FailureKind, RequestError};
use super::hosts::{Hosts, without_credentials};
use super::pace::Pace;
use super::polite::{PacedClient, SendError};
use super::visit::media_type;
use crate::files::Incoming;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, Method};
use url::Url;

/// Maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 10;
/// Minimum average rate of a body in bytes per second, which applies after the grace period.
const MIN_BYTES_PER_SECOND: u64 = 1024;
/// Maximum number of attempts for a file whose body is truncated.
const MAX_ATTEMPTS: u32 = 2;
/// Size of the buffer for copying, in bytes.
const COPY_BUFFER_BYTES: usize = 1 << 16;

/// Downloads files.
pub(super) struct Downloader<'d> {
    pub(super) client: &'d Client,
    pub(super) hosts: &'d Hosts,
    /// Maximum size of a file, in uncompressed bytes.
    pub(super) max_bytes: u64,
    /// Time after the start of a body before its minimum rate applies.
    pub(super) grace_period: Duration,
    pub(super) pace: &'d dyn Fn(&Url) -> Arc<Pace>,
    pub(super) is_stopped: &'d dyn Fn() -> bool,
}

/// The result of a successful request.
pub(super) enum Fetched {
    /// The file has not changed since the last download.
    NotModified,
    /// A new file, which has not been moved to its path yet.
    File(Box<Received>),
}

/// A file that was received completely.
pub(super) struct Received {
    pub(super) file: Incoming,
    pub(super) etag: Option<String>,
    /// The header `Last-Modified`.
    pub(super) modified: Option<String>,
    /// The media type.
    pub(super) media_type: Option<String>,
    /// The URL after all redirects.
    pub(super) final_url: Url,
}

/// Why a file was not downloaded.
pub(super) enum FetchError {
    /// The server did not deliver it correctly.
    Delivery(Delivery),
    /// It was not requested, because the host is skipped or the run was stopped.
    Skipped,
    /// The file cannot be written.
    Disk(io::Error),
}

/// The result of one request.
enum Step {
    Redirect(u16, String),
    Done(Fetched),
    /// The body is truncated; another attempt may succeed.
    Truncated(RequestError),
}

impl Downloader<'_> {
    /// Downloads a URL to a file that `begin` creates. `headers` may have the headers of a conditional request.
    /// Findings about a file that was downloaded nevertheless are added to `findings`.
    pub(super) fn fetch(
        &self,
        url: &Url,
        headers: &HeaderMap,
        begin: &dyn Fn() -> io::Result<Incoming>,
        findings: &mut Vec<Delivery>,
    ) -> Result<Fetched, FetchError> {
        let mut seen = vec![url.clone()];
        let (mut current, mut attempts) = (url.clone(), 0);
        loop {
            match self.step(&current, headers, begin)? {
                Step::Done(Fetched::File(file)) => {
                    if seen.len() > 1 {
                        let message = format!("it redirects to {current}; use that URL instead");
                        findings.push(Delivery::warning(REDIRECT, url.as_str(), message));
                    }
                    return Ok(Fetched::File(file));
                }
                Step::Done(fetched) => return Ok(fetched),
                Step::Truncated(error) => {
                    attempts += 1;
                    if attempts == MAX_ATTEMPTS {
                        return Err(no_response(&current, &error));
                    }
                }
                Step::Redirect(status, location) => {
                    current = self.target(&current, (status, &location), &seen).map_err(FetchError::Delivery)?;
                    seen.push(current.clone());
                }
            }
        }
    }

    /// The target of a redirect, if it may be followed.
    fn target(&self, current: &Url, (status, location): (u16, &str), seen: &[Url]) -> Result<Url, Delivery> {
        let first = seen.first().unwrap_or(current).as_str();
        let wrong = |message: String| Delivery::error(REDIRECT, first, message);
        let target = current.join(location).ok().and_then(without_credentials);
        let target =
            target.ok_or_else(|| wrong(format!("the redirect ({status}) does not lead to a web page: {location}")))?;
        if seen.contains(&target) {
            return Err(wrong(format!("the redirects form a loop at {target}")));
        }
        if seen.len() > MAX_REDIRECTS {
            return Err(wrong(format!("more than {MAX_REDIRECTS} redirects, the last one to {target}")));
        }
        if !self.hosts.contains(&target) {
            let host = target.host_str().unwrap_or_default();
            let message = format!("it redirects to another host, {target}; --allow-host {host} allows it");
            return Err(Delivery::error(OTHER_HOST, first, message));
        }
        Ok(target)
    }

    /// Sends one request and receives the response.
    fn step(
        &self,
        url: &Url,
        headers: &HeaderMap,
        begin: &dyn Fn() -> io::Result<Incoming>,
    ) -> Result<Step, FetchError> {
        let pace = (self.pace)(url);
        let paced = PacedClient { client: self.client, pace: &pace, is_stopped: self.is_stopped };
        let mut step = None;
        let sent = paced.send((&Method::GET, url), headers, &mut |response| {
            step = Some(self.receive(response, url, begin));
        });
        match (sent, step) {
            (Ok(()), Some(step)) => {
                match &step {
                    Err(FetchError::Delivery(_)) | Ok(Step::Truncated(_)) => {}
                    _ => pace.note_success(),
                }
                step
            }
            (Err(SendError::Failed(error)), _) => {
                if error.kind == FailureKind::Network {
                    pace.note_failure(&error.to_string());
                }
                Err(no_response(url, &error))
            }
            (Err(SendError::Skipped) | Ok(()), _) => Err(FetchError::Skipped),
        }
    }

    fn receive(
        &self,
        response: Response,
        url: &Url,
        begin: &dyn Fn() -> io::Result<Incoming>,
    ) -> Result<Step, FetchError> {
        let location = header(&response.headers, "location").filter(|location| !location.trim().is_empty());
        match (response.status, location) {
            (200, _) => self.body(response, url, begin),
            (304, _) => Ok(Step::Done(Fetched::NotModified)),
            (status @ (301 | 302 | 303 | 307 | 308), Some(location)) => {
                Ok(Step::Redirect(status, location.trim().to_owned()))
            }
            (status, _) => Err(FetchError::Delivery(Delivery::status(url, status))),
        }
    }

    /// Receives a body into a new file.
    fn body(
        &self,
        response: Response,
        url: &Url,
        begin: &dyn Fn() -> io::Result<Incoming>,
    ) -> Result<Step, FetchError> {
        let mut file = begin().map_err(FetchError::Disk)?;
        let coding = header(&response.headers, "content-encoding").unwrap_or_default().trim().to_ascii_lowercase();
        let mut body = self.guarded(response.body);
        let is_gzip_file = url.path().to_ascii_lowercase().ends_with(".gz");
        let is_encoded = matches!(coding.as_str(), "gzip" | "x-gzip");
        let copied = match coding.as_str() {
            "gzip" | "x-gzip" if !is_gzip_file => self.copy(&mut MultiGzDecoder::new(&mut body), &mut file),
            "" | "identity" | "gzip" | "x-gzip" => self.copy(&mut body, &mut file),
            other => {
                let message = format!("the body is encoded as {other}, which was not requested");
                return Err(FetchError::Delivery(Delivery::error(ENCODING, url.as_str(), message)));
            }
        };
        match copied {
            Ok(()) if is_encoded && is_gzip_file => file = self.without_transfer_coding(file, begin)?,
            Ok(()) => {}
            Err(CopyError::Disk(error)) => return Err(FetchError::Disk(error)),
            Err(CopyError::TooLarge) => {
                return Err(FetchError::Delivery(Delivery::too_large(url, self.max_bytes)));
            }
            Err(CopyError::Read(error)) => return self.read_failure(body.error.as_ref(), &error, url),
        }
        let text = |name: &str| header(&response.headers, name);
        Ok(Step::Done(Fetched::File(Box::new(Received {
            file,
            etag: text("etag"),
            modified: text("last-modified"),
            media_type: text("content-type").and_then(|text| media_type(&text).0),
            final_url: url.clone(),
        }))))
    }

    /// The result for a body that could not be read.
    fn read_failure(&self, cause: Option<&BodyError>, error: &io::Error, url: &Url) -> Result<Step, FetchError> {
        Err(match cause {
            Some(BodyError::Network) => return Ok(Step::Truncated(self.client.body_error(error))),
            Some(BodyError::Slow) => no_response(url, &self.client.body_error(error)),
            Some(BodyError::Stopped) => FetchError::Skipped,
            Some(BodyError::TooLarge) => FetchError::Delivery(Delivery::too_large(url, self.max_bytes)),
            None => {
                let message = format!("the body is not the gzip data that its header promises ({error})");
                FetchError::Delivery(Delivery::error(ENCODING, url.as_str(), message))
            }
        })
    }

    fn guarded(&self, body: Body) -> GuardedBody<'_> {
        let (start, grace_period, is_stopped) = (Instant::now(), self.grace_period, self.is_stopped);
        let error = None;
        GuardedBody { body, start, grace_period, max_bytes: self.max_bytes, is_stopped, error }
    }

    /// Copies everything, up to the maximum size.
    fn copy(&self, from: &mut dyn Read, to: &mut Incoming) -> Result<(), CopyError> {
        let mut buffer = vec![0; COPY_BUFFER_BYTES];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(CopyError::Read(error)),
            };
            if to.len() + count as u64 > self.max_bytes {
                return Err(CopyError::TooLarge);
            }
            to.write_all(buffer.get(..count).unwrap_or_default()).map_err(CopyError::Disk)?;
        }
    }

    /// Removes the compression of the transfer from a gzip file. Some servers declare the compression of the file
    /// itself as its encoding: such a file is not decompressed.
    fn without_transfer_coding(
        &self,
        compressed: Incoming,
        begin: &dyn Fn() -> io::Result<Incoming>,
    ) -> Result<Incoming, FetchError> {
        let open = || File::open(compressed.path()).map_err(FetchError::Disk);
        let mut start = [0; 2];
        if MultiGzDecoder::new(open()?).read_exact(&mut start).is_err() || start != *b"\x1f\x8b" {
            return Ok(compressed);
        }
        let mut decompressed = begin().map_err(FetchError::Disk)?;
        match self.copy(&mut MultiGzDecoder::new(open()?), &mut decompressed) {
            Ok(()) => Ok(decompressed),
            Err(CopyError::Disk(error)) => Err(FetchError::Disk(error)),
            // The error is reported when the file is loaded.
            Err(CopyError::Read(_) | CopyError::TooLarge) => Ok(compressed),
        }
    }
}

enum CopyError {
    Read(io::Error),
    Disk(io::Error),
    TooLarge,
}

/// The finding for a request without a complete response.
fn no_response(url: &Url, error: &RequestError) -> FetchError {
    let code = if error.kind == FailureKind::Refused { ADDRESS } else { NO_ANSWER };
    FetchError::Delivery(Delivery::error(code, url.as_str(), error.to_string()))
}

/// A body whose reading fails if the run is stopped, or if the body is too large or too slow.
struct GuardedBody<'w> {
    body: Body,
    start: Instant,
    grace_period: Duration,
    /// Maximum number of bytes before decompression.
    max_bytes: u64,
    is_stopped: &'w dyn Fn() -> bool,
    /// Why reading failed; `None` if it did not, so that an error is one of decompression.
    error: Option<BodyError>,
}

/// Why a body could not be read to its end.
enum BodyError {
    Network,
    Slow,
    Stopped,
    TooLarge,
}

impl GuardedBody<'_> {
    fn fail(&mut self, error: BodyError, message: impl Into<String>) -> io::Error {
        self.error = Some(error);
        io::Error::other(message.into())
    }
}

impl Read for GuardedBody<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (elapsed, bytes) = (self.start.elapsed(), self.body.read);
        if (self.is_stopped)() {
            return Err(self.fail(BodyError::Stopped, "the work was stopped"));
        }
        if bytes > self.max_bytes {
            return Err(self.fail(BodyError::TooLarge, "too many bytes"));
        }
        if elapsed > self.grace_period && (bytes as f64) < MIN_BYTES_PER_SECOND as f64 * elapsed.as_secs_f64() {
            let message = format!("the answer is too slow: {bytes} bytes in {} s", elapsed.as_secs());
            return Err(self.fail(BodyError::Slow, message));
        }
        self.body.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.error = Some(BodyError::Network);
            }
        })
    }
}
