//! Reads the `<head>` of a page: title, canonical URL, robots directives and alternates. The body is not parsed.

use encoding_rs::{Decoder, Encoding, WINDOWS_1252};
use html5gum::emitters::default::{DefaultEmitter, StartTag, Token};
use html5gum::{IoReader, Tokenizer};
use std::collections::BTreeMap;
use std::io::{self, Read};
use url::Url;

/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 1_000;
/// Maximum number of alternate links.
const MAX_ALTERNATES: usize = 1_000;
/// Number of bytes in which a page must declare its encoding (HTML, section 4.2.5.4).
const PRESCAN_BYTES: usize = 1_024;

/// The metadata of a page. URLs are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) title: Option<String>,
    pub(super) canonical: Option<String>,
    /// The contents of `<meta name=robots>`, and those of `<meta name=googlebot>` with the prefix `googlebot: `.
    pub(super) robots: Vec<String>,
    /// The URLs of alternates by language.
    pub(super) hreflang: BTreeMap<String, String>,
}

impl Head {
    /// Reads a page up to the end of its head. `charset` is the one in `Content-Type`. After an error, the metadata
    /// read so far is returned as well.
    pub(super) fn read(page: impl Read, base: &Url, charset: Option<&str>) -> (Self, Option<io::Error>) {
        let mut head = Self::default();
        let text = match Utf8Reader::new(page, charset) {
            Ok(text) => text,
            Err(error) => return (head, Some(error)),
        };
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut base = base.clone();
        let mut title: Option<String> = None;
        for token in Tokenizer::new_with_emitter(IoReader::new(text), emitter) {
            match token {
                Err(error) => return (head, Some(error)),
                Ok(Token::StartTag(tag)) if ends_head(&tag.name) => break,
                Ok(Token::StartTag(tag)) if tag.name.as_slice() == b"title" => title = Some(String::new()),
                Ok(Token::StartTag(tag)) => head.read_tag(&tag, &mut base),
                Ok(Token::String(text)) => {
                    if let Some(title) = title.as_mut().filter(|title| title.len() < MAX_TITLE_CHARS * 4) {
                        title.push_str(&String::from_utf8_lossy(&text));
                    }
                }
                Ok(Token::EndTag(tag)) if tag.name.as_slice() == b"title" => {
                    let text = title.take().map(|title| sanitized(&title)).filter(|title| !title.is_empty());
                    head.title = head.title.take().or(text);
                }
                Ok(Token::EndTag(tag)) if tag.name.as_slice() == b"head" => break,
                Ok(_) => {}
            }
        }
        (head, None)
    }

    fn read_tag(&mut self, tag: &StartTag<()>, base: &mut Url) {
        let value = |name: &str| {
            let value = tag.attributes.get(name.as_bytes())?;
            Some(String::from_utf8_lossy(value).trim().to_owned())
        };
        match tag.name.as_slice() {
            b"base" => {
                if let Some(url) = value("href").and_then(|href| base.join(&href).ok()) {
                    *base = url;
                }
            }
            b"meta" => {
                let (Some(name), Some(content)) = (value("name"), value("content")) else { return };
                if name.eq_ignore_ascii_case("robots") {
                    self.robots.push(sanitized(&content));
                } else if name.eq_ignore_ascii_case("googlebot") {
                    self.robots.push(format!("googlebot: {}", sanitized(&content)));
                }
            }
            b"link" => {
                let (Some(rel), Some(href)) = (value("rel"), value("href")) else { return };
                let has = |word: &str| rel.split_ascii_whitespace().any(|other| other.eq_ignore_ascii_case(word));
                let Ok(url) = base.join(&href) else { return };
                if has("canonical") && self.canonical.is_none() {
                    self.canonical = Some(url.into());
                } else if has("alternate")
                    && let Some(language) = value("hreflang")
                    && self.hreflang.len() < MAX_ALTERNATES
                {
                    self.hreflang.entry(sanitized(&language)).or_insert_with(|| url.into());
                }
            }
            _ => {}
        }
    }
}

/// Whether an element is not allowed in a head, so that it begins the body.
fn ends_head(name: &[u8]) -> bool {
    matches!(name, b"body" | b"h1" | b"h2" | b"p" | b"main" | b"article" | b"header" | b"nav" | b"table" | b"form")
}

/// Replaces white space by single spaces and removes control characters, which a terminal could interpret.
fn sanitized(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|char| !char.is_control()).take(MAX_TITLE_CHARS).collect()
}

/// A reader that converts a page to UTF-8.
struct Utf8Reader<R> {
    inner: io::Chain<io::Cursor<Vec<u8>>, R>,
    decoder: Decoder,
    /// Decoded text; the part from `start` on has not been read yet.
    text: Vec<u8>,
    start: usize,
    is_done: bool,
}

impl<R: Read> Utf8Reader<R> {
    fn new(mut page: R, charset: Option<&str>) -> io::Result<Self> {
        let mut first = Vec::with_capacity(PRESCAN_BYTES);
        page.by_ref().take(PRESCAN_BYTES as u64).read_to_end(&mut first)?;
        let declared =
            charset.and_then(|label| Encoding::for_label(label.as_bytes())).or_else(|| declared_encoding(&first));
        // A page without a declaration is UTF-8 or, if it is old, usually Windows-1252.
        let guessed = || match std::str::from_utf8(&first) {
            Err(error) if error.error_len().is_some() => WINDOWS_1252,
            _ => encoding_rs::UTF_8,
        };
        let decoder = declared.unwrap_or_else(guessed).new_decoder();
        let inner = io::Cursor::new(first).chain(page);
        Ok(Self { inner, decoder, text: Vec::new(), start: 0, is_done: false })
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.start == self.text.len() && !self.is_done {
            let mut bytes = [0; 4_096];
            let count = self.inner.read(&mut bytes)?;
            self.is_done = count == 0;
            let max_len = self.decoder.max_utf8_buffer_length(count).unwrap_or(3 * count + 16);
            self.text.resize(max_len, 0);
            let (_, _, written, _) =
                self.decoder.decode_to_utf8(bytes.get(..count).unwrap_or_default(), &mut self.text, self.is_done);
            self.text.truncate(written);
            self.start = 0;
        }
        let rest = self.text.get(self.start..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.start += count;
        Ok(count)
    }
}

/// The encoding that `charset=` declares in the first bytes of a page.
fn declared_encoding(first: &[u8]) -> Option<&'static Encoding> {
    let text = first.to_ascii_lowercase();
    let after = memchr::memmem::find(&text, b"charset=")? + b"charset=".len();
    let label = text.get(after..)?;
    let label = label.strip_prefix(b"\"").or_else(|| label.strip_prefix(b"'")).unwrap_or(label);
    let end = label.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_:".contains(byte))?;
    let encoding = Encoding::for_label(&label[..end])?;
    // A page in which the declaration is readable as ASCII is not UTF-16.
    Some(if encoding.is_ascii_compatible() { encoding } else { encoding_rs::UTF_8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &[u8], charset: Option<&str>) -> Head {
        let (head, error) = Head::read(page, &Url::parse("https://e.com/a/b").unwrap(), charset);
        assert!(error.is_none(), "{error:?}");
        head
    }

    #[test]
    fn the_head_of_a_page_is_read() {
        let head = read(
            b"<!doctype html><html><head><meta charset=utf-8><title>\n A &amp; B\x1b[31m\n</title>\
              <script>'<link rel=canonical href=/wrong>'</script><!-- <title>x</title> -->\
              <LINK REL='Canonical' HREF='../c?x=1&amp;y=2'><meta name=ROBOTS content='NoIndex, follow'>\
              <meta name=googlebot content=noarchive>\
              <link rel=alternate hreflang=de href=/de/><link rel=alternate hreflang=x-default href=https://e.org/>\
              <link rel=alternate type=application/rss+xml href=/feed></head>\
              <link rel=canonical href=/late>",
            None,
        );
        assert_eq!(head.title.as_deref(), Some("A & B[31m"));
        assert_eq!(head.canonical.as_deref(), Some("https://e.com/c?x=1&y=2"));
        assert_eq!(head.robots, ["NoIndex, follow", "googlebot: noarchive"]);
        let expected = [("de", "https://e.com/de/"), ("x-default", "https://e.org/")];
        assert!(head.hreflang.iter().map(|(language, url)| (language.as_str(), url.as_str())).eq(expected));
    }

    #[test]
    fn the_body_is_ignored() {
        for page in [
            "<title>t</title><body><link rel=canonical href=/x>",
            "<title>t</title></head><link rel=canonical href=/x>",
            "<title>t</title><h1>x</h1><link rel=canonical href=/x>",
        ] {
            let head = read(page.as_bytes(), None);
            assert_eq!((head.title.as_deref(), head.canonical), (Some("t"), None), "{page}");
        }
        assert_eq!(read(b"", None), Head::default());
    }

    #[test]
    fn a_page_is_read_in_its_encoding() {
        for (page, charset) in [
            ("<title>é</title>".as_bytes(), None),
            (b"<title>\xe9</title>", None),
            (b"<title>\xe9</title>", Some("iso-8859-1")),
            (b"<meta charset=\"ISO-8859-1\"><title>\xe9</title>", None),
            (b"<meta http-equiv=content-type content='text/html; charset=windows-1252'><title>\xe9</title>", None),
            (b"\xef\xbb\xbf<title>\xc3\xa9</title>", None),
            (b"\xff\xfe<\0t\0i\0t\0l\0e\0>\0\xe9\0<\0/\0t\0i\0t\0l\0e\0>\0", Some("utf-16le")),
        ] {
            assert_eq!(read(page, charset).title.as_deref(), Some("é"), "{charset:?} {page:?}");
        }
        // A long title, with characters that cross the ends of buffers.
        let long = format!("<title>{}</title>", "é".repeat(5_000));
        assert_eq!(read(long.as_bytes(), None).title.map(|title| title.chars().count()), Some(MAX_TITLE_CHARS));
    }
}
