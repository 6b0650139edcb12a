//! Requests one URL, follows its redirects and reads the head of the page.

use super::client::{Client, Response, header, header_values};
use super::failure::RequestError;
use super::head::Head;
use super::hosts::{Hosts, without_credentials};
use super::polite::SendError;
use super::record::{Record, date};
use crate::data::REDIRECT_LOOP;
use flate2::read::MultiGzDecoder;
use std::collections::BTreeMap;
use std::io::{self, Read};
use ureq::http::{HeaderMap, Method};
use url::Url;

/// Maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 10;
/// Maximum number of bytes of a page that are parsed for its head, after decompression.
const MAX_HEAD_BYTES: u64 = 512 << 10;
/// Maximum number of bytes after the head that are read and discarded, so that the connection can be reused.
const MAX_DRAIN_BYTES: u64 = 64 << 10;

/// Sends requests at a limited rate, and handles throttling and robots.txt.
pub(super) trait Transport {
    /// Waits and sends a request.
    fn send(&self, method: &Method, url: &Url, read: &mut dyn FnMut(Response)) -> Result<(), SendError>;
    /// The line of robots.txt that forbids a URL, if there is one.
    fn blocked(&self, url: &Url) -> Result<Option<u32>, SendError>;
}

/// Requests URLs.
pub(super) struct Visitor<'v> {
    pub(super) client: &'v Client,
    pub(super) hosts: &'v Hosts,
    /// Whether `HEAD` requests are sent, which return no page.
    pub(super) head_only: bool,
}

impl Visitor<'_> {
    /// Requests a URL. Returns its record, and the error if there is no response.
    pub(super) fn visit(
        &self,
        text: &str,
        url: Url,
        transport: &impl Transport,
    ) -> Result<(Record, Option<RequestError>), SendError> {
        let mut record = Record::new(text);
        let mut failure = None;
        match self.follow(url, transport, &mut record, &mut failure) {
            Ok(()) => {}
            Err(SendError::Failed(error)) => failure = Some(error),
            // The URL itself responded, but it redirects to a host that is skipped.
            Err(SendError::Skipped) if record.status.is_some() => {
                record.error = Some("the host of the redirect is skipped".to_owned());
            }
            Err(SendError::Skipped) => return Err(SendError::Skipped),
        }
        if let Some(error) = &failure {
            record.error = Some(error.to_string());
        }
        // An error after the response of the URL itself is not counted as a failure of the host.
        let failure = failure.filter(|_| record.status.is_none());
        Ok((record, failure))
    }

    fn follow(
        &self,
        mut url: Url,
        transport: &impl Transport,
        record: &mut Record,
        failure: &mut Option<RequestError>,
    ) -> Result<(), SendError> {
        let method = if self.head_only { Method::HEAD } else { Method::GET };
        let mut seen = vec![url.clone()];
        loop {
            if let Some(line) = transport.blocked(&url)? {
                let what = if seen.len() > 1 { "the redirect" } else { "this URL" };
                record.error = Some(format!("robots.txt forbids {what} in line {line}"));
                record.blocked = (seen.len() == 1).then_some(line);
                return Ok(());
            }
            let mut next = None;
            transport.send(&method, &url, &mut |response| {
                next = self.note_response(response, (&url, seen.len() == 1), record, failure);
            })?;
            let Some(location) = next else {
                let final_url = if seen.len() == 1 { record.url.clone() } else { url.to_string() };
                record.last = Some(final_url);
                if record.final_status.is_some_and(is_redirect) {
                    record.error = Some("the redirect has no Location".to_owned());
                }
                return Ok(());
            };
            let target = url.join(&location).ok();
            let shown = target.as_ref().map_or(location, Url::to_string);
            record.location.get_or_insert_default().push(shown.clone());
            let Some(target) = target.and_then(without_credentials) else {
                record.error = Some("the redirect does not lead to a web page".to_owned());
                return Ok(());
            };
            if seen.contains(&target) {
                record.error = Some(REDIRECT_LOOP.to_owned());
                return Ok(());
            }
            if seen.len() > MAX_REDIRECTS {
                record.error = Some(format!("more than {MAX_REDIRECTS} redirects"));
                return Ok(());
            }
            if !self.hosts.contains(&target) {
                let host = target.host_str().unwrap_or_default();
                record.error = Some(format!("the redirect leads to {host}, which --allow-host did not name"));
                record.last = Some(shown);
                return Ok(());
            }
            seen.push(target.clone());
            url = target;
        }
    }

    /// Fills the record from a response. Returns the target if it is a redirect.
    fn note_response(
        &self,
        mut response: Response,
        (url, is_first): (&Url, bool),
        record: &mut Record,
        failure: &mut Option<RequestError>,
    ) -> Option<String> {
        if is_first {
            record.status = Some(response.status);
            record.ms = Some(response.time.as_millis() as u64);
        }
        let location = header(&response.headers, "location").filter(|location| !location.trim().is_empty());
        if let Some(location) = location.filter(|_| is_redirect(response.status)) {
            return Some(location.trim().to_owned());
        }
        record.final_status = Some(response.status);
        let headers = std::mem::take(&mut response.headers);
        let content_type = header(&headers, "content-type");
        let (media_type, charset) = content_type.as_deref().map_or((None, None), media_type);
        record.media_type = media_type;
        record.modified = header(&headers, "last-modified").as_deref().and_then(date);
        record.etag = header(&headers, "etag");
        record.bytes = header(&headers, "content-length").and_then(|length| length.trim().parse().ok());
        let mut robots = header_values(&headers, "x-robots-tag");
        let mut canonical = linked_canonical(&headers, url);
        let is_page = matches!(record.media_type.as_deref(), None | Some("text/html" | "application/xhtml+xml"));
        if !self.head_only && is_page {
            let (head, error) = read_head(&mut response, &headers, (url, charset.as_deref()), &mut record.bytes);
            if let Some(error) = error {
                *failure = Some(self.client.body_error(&error));
            }
            robots.extend(head.robots);
            canonical = head.canonical.or(canonical);
            record.title = head.title;
            record.hreflang = Some(head.hreflang).filter(|links: &BTreeMap<_, _>| !links.is_empty());
        }
        record.canonical = canonical;
        record.robots = Some(robots.join(", ")).filter(|robots| !robots.is_empty());
        None
    }
}

const fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Reads the head of a page, and discards the rest if it is short.
fn read_head(
    response: &mut Response,
    headers: &HeaderMap,
    (url, charset): (&Url, Option<&str>),
    length: &mut Option<u64>,
) -> (Head, Option<io::Error>) {
    let coding = header(headers, "content-encoding").unwrap_or_default().to_ascii_lowercase();
    let (head, error) = match coding.trim() {
        "" | "identity" => Head::read(response.body.by_ref().take(MAX_HEAD_BYTES), url, charset),
        "gzip" | "x-gzip" => Head::read(MultiGzDecoder::new(&mut response.body).take(MAX_HEAD_BYTES), url, charset),
        other => {
            let text = format!("the body is encoded as {other}, which was not requested");
            (Head::default(), Some(io::Error::new(io::ErrorKind::InvalidData, text)))
        }
    };
    if error.is_none() && length.is_none_or(|length| length <= response.body.read + MAX_DRAIN_BYTES) {
        let drained = io::copy(&mut response.body.by_ref().take(MAX_DRAIN_BYTES), &mut io::sink());
        if length.is_none() && drained.is_ok_and(|count| count < MAX_DRAIN_BYTES) {
            *length = Some(response.body.read);
        }
    }
    (head, error)
}

/// Parses `Content-Type` into the media type in lower case and the charset.
pub(super) fn media_type(text: &str) -> (Option<String>, Option<String>) {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().map(str::to_ascii_lowercase).filter(|text| !text.is_empty());
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    (media_type, charset)
}

/// The URL in the header `Link: <URL>; rel="canonical"` (RFC 8288).
fn linked_canonical(headers: &HeaderMap, base: &Url) -> Option<String> {
    header_values(headers, "link").iter().find_map(|value| {
        let mut rest = value.as_str();
        while let Some(start) = rest.find('<') {
            let (target, after) = rest.get(start + 1..)?.split_once('>')?;
            let end = after.find(",<").or_else(|| after.find(", <")).unwrap_or(after.len());
            let parameters = after.get(..end).unwrap_or_default();
            let is_canonical = parameters.split(';').filter_map(|part| part.split_once('=')).any(|(name, value)| {
                let mut words = value.trim().trim_matches('"').split_ascii_whitespace();
                name.trim().eq_ignore_ascii_case("rel") && words.any(|word| word.eq_ignore_ascii_case("canonical"))
            });
            if is_canonical {
                return base.join(target.trim()).ok().map(String::from);
            }
            rest = after.get(end..).unwrap_or_default();
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed() {
        let case = |text: &str| media_type(text);
        assert_eq!(case("Text/HTML; charset=\"UTF-8\""), (Some("text/html".into()), Some("UTF-8".into())));
        assert_eq!(case("application/pdf"), (Some("application/pdf".into()), None));
        assert_eq!(case(""), (None, None));
        let base = Url::parse("https://e.com/a").unwrap();
        for (value, expected) in [
            ("<https://e.com/c>; rel=\"canonical\"", Some("https://e.com/c")),
            ("</style.css>; rel=preload; as=style, </c>; rel=canonical", Some("https://e.com/c")),
            ("</de>; rel=\"alternate\"; hreflang=\"de\"", None),
            ("<", None),
            ("nonsense", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("link", value.parse().unwrap());
            assert_eq!(linked_canonical(&headers, &base).as_deref(), expected, "{value}");
        }
    }
}
