//! The result of a probe for one URL, as a line of JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// The result for one URL. The fields are in the order of the output; unknown values are `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Record {
    /// The URL as written in the sitemap.
    pub url: String,
    /// The status of the URL itself, also if it redirects.
    pub status: Option<u16>,
    /// The targets of the redirects.
    pub location: Option<Vec<String>>,
    /// The URL after all redirects.
    #[serde(rename = "final")]
    pub last: Option<String>,
    /// The status of the URL after all redirects.
    pub final_status: Option<u16>,
    /// The media type, such as `text/html`.
    #[serde(rename = "type")]
    pub media_type: Option<String>,
    /// The length of the body before decompression, in bytes.
    pub bytes: Option<u64>,
    /// The response time of the URL itself, in milliseconds.
    pub ms: Option<u64>,
    /// The header `Last-Modified`, as a W3C Datetime.
    pub modified: Option<String>,
    /// The header `ETag`.
    pub etag: Option<String>,
    /// `X-Robots-Tag` and `<meta name="robots">`.
    pub robots: Option<String>,
    /// `Link: rel="canonical"` or `<link rel="canonical">`.
    pub canonical: Option<String>,
    /// The URLs of alternates by language.
    pub hreflang: Option<BTreeMap<String, String>>,
    /// The title of the page.
    pub title: Option<String>,
    /// The line of robots.txt that forbids the request.
    pub blocked: Option<u32>,
    /// The error because of which values are missing.
    pub error: Option<String>,
    /// The time of the request, in UTC.
    pub checked: String,
}

impl Record {
    /// Creates a record for a URL, with the current time.
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.to_owned(), checked: timestamp(chrono::Utc::now()), ..Self::default() }
    }

    /// The record as a line of JSON, with a line break. All control characters are escaped, also those that JSON
    /// allows, so that a terminal does not interpret them.
    pub(crate) fn line(&self) -> String {
        let mut json = serde_json::to_string(self).unwrap_or_default();
        // These characters are not ASCII, except DEL.
        if json.bytes().all(|byte| byte < 0x7f) {
            json.push('\n');
            return json;
        }
        let mut line = String::with_capacity(json.len() + 1);
        for char in json.chars() {
            match char {
                '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    let _ = write!(line, "\\u{:04x}", u32::from(char));
                }
                _ => line.push(char),
            }
        }
        line.push('\n');
        line
    }
}

/// A time as a W3C Datetime.
pub(super) fn timestamp(time: chrono::DateTime<chrono::Utc>) -> String {
    time.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time `age` ago, in the format of [`Record::checked`].
pub(crate) fn timestamp_before(age: Duration) -> String {
    let now = chrono::Utc::now();
    let then = chrono::TimeDelta::from_std(age).ok().and_then(|age| now.checked_sub_signed(age));
    then.map_or_else(String::new, timestamp)
}

/// Converts an HTTP date to a W3C Datetime.
pub(super) fn date(text: &str) -> Option<String> {
    let date = chrono::DateTime::parse_from_rfc2822(text.trim()).ok()?;
    Some(timestamp(date.with_timezone(&chrono::Utc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_without_control_characters() {
        let title = "a\x1b]0;x\x07\u{9b}31m\u{202e}b\n\"\\".to_owned();
        let record = Record { title: Some(title.clone()), ..Record::new("https://e.com/é") };
        let line = record.line();
        assert!(line.ends_with("}\n") && !line.trim_end().chars().any(char::is_control), "{line:?}");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((value["title"].as_str(), value["url"].as_str()), (Some(title.as_str()), Some("https://e.com/é")));
        assert!(value["status"].is_null() && value["final"].is_null());
    }

    #[test]
    fn http_dates_are_converted_to_the_sitemap_format() {
        assert_eq!(date("Sun, 06 Nov 1994 08:49:37 GMT").as_deref(), Some("1994-11-06T08:49:37Z"));
        assert_eq!(date(" Sun, 06 Nov 1994 08:49:37 +0100").as_deref(), Some("1994-11-06T07:49:37Z"));
        assert_eq!(date("yesterday"), None);
    }
}
