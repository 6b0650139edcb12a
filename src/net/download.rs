//! Downloads one file: follows redirects, decodes the body, and bounds its bytes and its time.

use super::client::{Answer, Body, Client, header};
use super::delivery::{ADDRESS, Delivery, ENCODING, NO_ANSWER, OTHER_HOST, REDIRECT};
use super::failure::{FailureKind, RequestError};
use super::hosts::{Hosts, without_credentials};
use super::pace::Pace;
use super::polite::{Polite, Stop};
use super::visit::media_type;
use crate::files::Incoming;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, Method};
use url::Url;

/// Redirects that are followed.
const MOST_REDIRECTS: usize = 10;
/// Bytes a second that a body must have on average, once it has taken as long as a server may be silent.
const LEAST_RATE: u64 = 1024;
/// How often a file is asked for when its body did not come to the end.
const MOST_TRIES: u32 = 2;
/// Bytes that are copied at a time.
const PIECE: usize = 1 << 16;

/// Downloads files.
pub(super) struct Downloader<'d> {
    pub(super) client: &'d Client,
    pub(super) hosts: &'d Hosts,
    /// Bytes of a file, uncompressed.
    pub(super) max_bytes: u64,
    /// The time in which the rate of a body does not count yet.
    pub(super) patience: Duration,
    pub(super) pace: &'d dyn Fn(&Url) -> Arc<Pace>,
    pub(super) is_stopped: &'d dyn Fn() -> bool,
}

/// What came.
pub(super) enum Fetched {
    /// The file is as it was at the last download.
    NotModified,
    /// A new file, which is not in place yet.
    File(Box<Received>),
}

/// A file that came to its end.
pub(super) struct Received {
    pub(super) file: Incoming,
    pub(super) etag: Option<String>,
    /// `Last-Modified`.
    pub(super) modified: Option<String>,
    /// Its media type.
    pub(super) media_type: Option<String>,
    /// Where it came from in the end.
    pub(super) last: Url,
}

/// Why nothing came.
pub(super) enum FetchError {
    /// Something is wrong with the delivery.
    Delivery(Delivery),
    /// The host is left alone, or the work was stopped.
    Unasked,
    /// The file cannot be written.
    Disk(io::Error),
}

/// How one request ended.
enum Step {
    Redirect(u16, String),
    Done(Fetched),
    /// The body did not come to its end; another try may help.
    Cut(RequestError),
}

impl Downloader<'_> {
    /// Downloads a file to what `begin` makes. `headers` may be those of a conditional request. Findings that do not end
    /// the work are added to `findings`.
    pub(super) fn fetch(
        &self,
        url: &Url,
        headers: &HeaderMap,
        begin: &dyn Fn() -> io::Result<Incoming>,
        findings: &mut Vec<Delivery>,
    ) -> Result<Fetched, FetchError> {
        let mut seen = vec![url.clone()];
        let (mut here, mut tries) = (url.clone(), 0);
        loop {
            match self.step(&here, headers, begin)? {
                Step::Done(Fetched::File(file)) => {
                    if seen.len() > 1 {
                        let message = format!("it redirects to {here}; use that URL instead");
                        findings.push(Delivery::warning(REDIRECT, url.as_str(), message));
                    }
                    return Ok(Fetched::File(file));
                }
                Step::Done(fetched) => return Ok(fetched),
                Step::Cut(error) => {
                    tries += 1;
                    if tries == MOST_TRIES {
                        return Err(unanswered(&here, &error));
                    }
                }
                Step::Redirect(status, location) => {
                    here = self.target(&here, (status, &location), &seen).map_err(FetchError::Delivery)?;
                    seen.push(here.clone());
                }
            }
        }
    }

    /// Where a redirect leads, if it may be followed.
    fn target(&self, here: &Url, (status, location): (u16, &str), seen: &[Url]) -> Result<Url, Delivery> {
        let first = seen.first().unwrap_or(here).as_str();
        let wrong = |message: String| Delivery::error(REDIRECT, first, message);
        let target = here.join(location).ok().and_then(without_credentials);
        let target =
            target.ok_or_else(|| wrong(format!("the redirect ({status}) does not lead to a web page: {location}")))?;
        if seen.contains(&target) {
            return Err(wrong(format!("the redirects form a loop at {target}")));
        }
        if seen.len() > MOST_REDIRECTS {
            return Err(wrong(format!("more than {MOST_REDIRECTS} redirects, the last one to {target}")));
        }
        if !self.hosts.contains(&target) {
            let host = target.host_str().unwrap_or_default();
            let message = format!("it redirects to another host, {target}; --allow-host {host} allows it");
            return Err(Delivery::error(OTHER_HOST, first, message));
        }
        Ok(target)
    }

    /// Sends one request and receives what it is answered with.
    fn step(
        &self,
        url: &Url,
        headers: &HeaderMap,
        begin: &dyn Fn() -> io::Result<Incoming>,
    ) -> Result<Step, FetchError> {
        let pace = (self.pace)(url);
        let polite = Polite { client: self.client, pace: &pace, is_stopped: self.is_stopped };
        let mut step = None;
        let sent = polite.send((&Method::GET, url), headers, &mut |answer| {
            step = Some(self.receive(answer, url, begin));
        });
        match (sent, step) {
            (Ok(()), Some(step)) => {
                match &step {
                    Err(FetchError::Delivery(_)) | Ok(Step::Cut(_)) => {}
                    _ => pace.note_success(),
                }
                step
            }
            (Err(Stop::Failed(error)), _) => {
                if error.kind == FailureKind::Network {
                    pace.fail(&error.to_string());
                }
                Err(unanswered(url, &error))
            }
            (Err(Stop::Unasked) | Ok(()), _) => Err(FetchError::Unasked),
        }
    }

    fn receive(&self, answer: Answer, url: &Url, begin: &dyn Fn() -> io::Result<Incoming>) -> Result<Step, FetchError> {
        let location = header(&answer.headers, "location").filter(|location| !location.trim().is_empty());
        match (answer.status, location) {
            (200, _) => self.body(answer, url, begin),
            (304, _) => Ok(Step::Done(Fetched::NotModified)),
            (status @ (301 | 302 | 303 | 307 | 308), Some(location)) => {
                Ok(Step::Redirect(status, location.trim().to_owned()))
            }
            (status, _) => Err(FetchError::Delivery(Delivery::status(url, status))),
        }
    }

    /// Receives a body.
    fn body(&self, answer: Answer, url: &Url, begin: &dyn Fn() -> io::Result<Incoming>) -> Result<Step, FetchError> {
        let mut file = begin().map_err(FetchError::Disk)?;
        let coding = header(&answer.headers, "content-encoding").unwrap_or_default().trim().to_ascii_lowercase();
        let mut body = self.watched(answer.body);
        let is_packed_file = url.path().to_ascii_lowercase().ends_with(".gz");
        let is_coded = matches!(coding.as_str(), "gzip" | "x-gzip");
        let copied = match coding.as_str() {
            "gzip" | "x-gzip" if !is_packed_file => self.copy(&mut MultiGzDecoder::new(&mut body), &mut file),
            "" | "identity" | "gzip" | "x-gzip" => self.copy(&mut body, &mut file),
            other => {
                let message = format!("the body is encoded as {other}, which was not requested");
                return Err(FetchError::Delivery(Delivery::error(ENCODING, url.as_str(), message)));
            }
        };
        match copied {
            Ok(()) if is_coded && is_packed_file => file = self.unpacked_once(file, begin)?,
            Ok(()) => {}
            Err(CopyError::Disk(error)) => return Err(FetchError::Disk(error)),
            Err(CopyError::TooLarge) => {
                return Err(FetchError::Delivery(Delivery::too_large(url, self.max_bytes)));
            }
            Err(CopyError::Read(error)) => return self.unread(body.fault.as_ref(), &error, url),
        }
        let text = |name: &str| header(&answer.headers, name);
        Ok(Step::Done(Fetched::File(Box::new(Received {
            file,
            etag: text("etag"),
            modified: text("last-modified"),
            media_type: text("content-type").and_then(|text| media_type(&text).0),
            last: url.clone(),
        }))))
    }

    /// What it means that a body could not be read.
    fn unread(&self, fault: Option<&Fault>, error: &io::Error, url: &Url) -> Result<Step, FetchError> {
        Err(match fault {
            Some(Fault::Network) => return Ok(Step::Cut(self.client.body_error(error))),
            Some(Fault::Slow) => unanswered(url, &self.client.body_error(error)),
            Some(Fault::Stopped) => FetchError::Unasked,
            Some(Fault::TooLarge) => FetchError::Delivery(Delivery::too_large(url, self.max_bytes)),
            None => {
                let message = format!("the body is not the gzip data that its header promises ({error})");
                FetchError::Delivery(Delivery::error(ENCODING, url.as_str(), message))
            }
        })
    }

    fn watched(&self, body: Body) -> Watched<'_> {
        let (begun, patience, is_stopped) = (Instant::now(), self.patience, self.is_stopped);
        let fault = None;
        Watched { body, begun, patience, most: self.max_bytes, is_stopped, fault }
    }

    /// Copies to the end, or until there are too many bytes.
    fn copy(&self, from: &mut dyn Read, to: &mut Incoming) -> Result<(), CopyError> {
        let mut piece = vec![0; PIECE];
        loop {
            let count = match from.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(CopyError::Read(error)),
            };
            if to.len() + count as u64 > self.max_bytes {
                return Err(CopyError::TooLarge);
            }
            to.write_all(piece.get(..count).unwrap_or_default()).map_err(CopyError::Disk)?;
        }
    }

    /// A packed file whose server calls its own compression an encoding is kept as it is; one that was packed once more
    /// on the way is unpacked once.
    fn unpacked_once(
        &self,
        packed: Incoming,
        begin: &dyn Fn() -> io::Result<Incoming>,
    ) -> Result<Incoming, FetchError> {
        let open = || File::open(packed.path()).map_err(FetchError::Disk);
        let mut start = [0; 2];
        if MultiGzDecoder::new(open()?).read_exact(&mut start).is_err() || start != *b"\x1f\x8b" {
            return Ok(packed);
        }
        let mut unpacked = begin().map_err(FetchError::Disk)?;
        match self.copy(&mut MultiGzDecoder::new(open()?), &mut unpacked) {
            Ok(()) => Ok(unpacked),
            Err(CopyError::Disk(error)) => Err(FetchError::Disk(error)),
            // Whoever reads the file says what is wrong with it.
            Err(CopyError::Read(_) | CopyError::TooLarge) => Ok(packed),
        }
    }
}

enum CopyError {
    Read(io::Error),
    Disk(io::Error),
    TooLarge,
}

/// The finding that there is no answer.
fn unanswered(url: &Url, error: &RequestError) -> FetchError {
    let code = if error.kind == FailureKind::Refused { ADDRESS } else { NO_ANSWER };
    FetchError::Delivery(Delivery::error(code, url.as_str(), error.to_string()))
}

/// A body that ends when the work is stopped, or when it is too long or comes too slowly.
struct Watched<'w> {
    body: Body,
    begun: Instant,
    patience: Duration,
    /// Bytes as they are sent.
    most: u64,
    is_stopped: &'w dyn Fn() -> bool,
    /// Why it ended; `None` where it did not, and what is made of its bytes is wrong.
    fault: Option<Fault>,
}

/// Why a body ended early.
enum Fault {
    Network,
    Slow,
    Stopped,
    TooLarge,
}

impl Watched<'_> {
    fn end(&mut self, fault: Fault, why: impl Into<String>) -> io::Error {
        self.fault = Some(fault);
        io::Error::other(why.into())
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (elapsed, bytes) = (self.begun.elapsed(), self.body.read);
        if (self.is_stopped)() {
            return Err(self.end(Fault::Stopped, "the work was stopped"));
        }
        if bytes > self.most {
            return Err(self.end(Fault::TooLarge, "too many bytes"));
        }
        if elapsed > self.patience && (bytes as f64) < LEAST_RATE as f64 * elapsed.as_secs_f64() {
            let why = format!("the answer is too slow: {bytes} bytes in {} s", elapsed.as_secs());
            return Err(self.end(Fault::Slow, why));
        }
        self.body.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.fault = Some(Fault::Network);
            }
        })
    }
}
