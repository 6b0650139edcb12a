//! What a file is, decided by its content and never by its name.
//!
//! Looks at magic bytes, at the byte order mark, at the XML declaration and at the first element. It says what
//! a file is that is no sitemap, so that whoever opened it learns more than "syntax error".

use super::error::Reason;
use crate::xml::feed::Feed;
use crate::xml::grid::Grid;
use crate::xml::markup::{self, Kind, Markup};
use crate::xml::names::{self, FileKind};
use crate::xml::parser::DamageKind;

/// The first two bytes of a gzip member (RFC 1952, section 2.3.1).
const GZIP: &[u8] = b"\x1f\x8b";

/// Whether bytes are gzip data.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP)
}

/// Which kind of sitemap file uncompressed bytes are, or what else they are.
pub fn detect(bytes: &[u8]) -> Result<FileKind, Reason> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF");
    let has_mark = text.is_some();
    let text = text.unwrap_or(bytes);
    if markup::is_blank(text) {
        return Err(Reason::Empty);
    }
    if let Some(reason) = binary(bytes) {
        return Err(reason);
    }
    let root = first_element(text);
    let name = root.map(|root| names::split(root.name(text)).1).unwrap_or_default();
    // A byte order mark outranks the declaration (Unicode, section 23.8).
    if let Some(label) = declared_encoding(text).filter(|label| !has_mark && !is_utf8_label(label)) {
        return Err(Reason::Encoding(format!("declared as {label}")));
    }
    // A list may hold any letters, `<` included; only what begins like XML, or has a root that is known, is XML.
    let known = matches!(name, b"urlset" | b"sitemapindex" | b"rss" | b"RDF" | b"feed");
    if !known
        && !text.trim_ascii_start().starts_with(b"<")
        && let Some(kind) = without_markup(text)
    {
        return Ok(kind);
    }
    match name {
        // A feed is read as a sitemap.
        b"urlset" | b"rss" | b"RDF" | b"feed" => Ok(FileKind::Urlset),
        b"sitemapindex" => Ok(FileKind::Index),
        name if name.eq_ignore_ascii_case(b"html") => Err(Reason::Format("an HTML page".to_owned())),
        b"" => Err(Reason::Format(plain_text(text))),
        _ if is_html(text) => Err(Reason::Format("an HTML page".to_owned())),
        name => Err(Reason::Root(String::from_utf8_lossy(name).into_owned())),
    }
}

/// Containers and encodings that show in the first bytes.
fn binary(bytes: &[u8]) -> Option<Reason> {
    let format = |what: &str| Some(Reason::Format(what.to_owned()));
    let encoding = |what: &str| Some(Reason::Encoding(what.to_owned()));
    match bytes {
        [0x1f, 0x8b, ..] => Some(Reason::GzipTwice),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => format("a zip archive"),
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => format("bzip2 data"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => format("zstd data"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => format("xz data"),
        [b'%', b'P', b'D', b'F', b'-', ..] => format("a PDF document"),
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => encoding("UTF-32"),
        // Without a mark the first `<` tells (XML 1.0, appendix F).
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'<', 0, ..] | [0, b'<', ..] => encoding("UTF-16"),
        _ => None,
    }
}

/// Which feed format the bytes are, if they are one.
pub fn feed(bytes: &[u8]) -> Option<Feed> {
    Feed::of_root(bytes, &first_element(bytes)?)
}

/// Lines that are looked at to tell what text is.
const LOOKED_AT: usize = 20;

/// Whether text is a list of URLs or a table of them: half of its first lines are URLs, or its first names a column
/// for them.
fn without_markup(text: &[u8]) -> Option<FileKind> {
    let first = text.get(..text.len().min(1 << 16)).unwrap_or_default();
    let lines = first.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).take(LOOKED_AT).collect();
    let is_url = |line: &&&[u8]| {
        let start = line.get(..8).unwrap_or(line).to_ascii_lowercase();
        start.starts_with(b"http://") || start.starts_with(b"https://")
    };
    if lines.first().is_some_and(|line| !is_url(&line)) && Grid::of_header(text).is_some() {
        return Some(FileKind::Table);
    }
    (lines.iter().filter(is_url).count() * 2 >= lines.len().max(1)).then_some(FileKind::List)
}

/// The first start tag, whatever stands before it.
fn first_element(bytes: &[u8]) -> Option<Markup> {
    let mut at = 0;
    while let Some(tag) = markup::next(bytes, at) {
        if matches!(tag.kind, Kind::Start | Kind::Empty) {
            return Some(tag);
        }
        at = tag.end;
    }
    None
}

fn is_html(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    start.get(..14).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype html"))
}

/// The encoding that an XML declaration names.
fn declared_encoding(text: &[u8]) -> Option<String> {
    // An instruction is scanned like a tag here: its attributes have the same form.
    let text = text.trim_ascii_start();
    let inside = text.strip_prefix(b"<?xml")?;
    let inside = inside.get(..memchr::memmem::find(inside, b"?>")?)?;
    let found = markup::attributes(inside).find(|attribute| attribute.name == b"encoding")?;
    Some(String::from_utf8_lossy(found.value).into_owned())
}

fn is_utf8_label(label: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"].iter().any(|known| label.eq_ignore_ascii_case(known))
}

/// What text without any element is.
fn plain_text(text: &[u8]) -> String {
    if text.starts_with(b"version https://git-lfs") {
        "a Git LFS pointer (`git lfs pull` fetches the file)".to_owned()
    } else if text.contains(&0) {
        "binary data".to_owned()
    } else {
        "text without any XML element".to_owned()
    }
}

/// What is wrong at a place that is not well-formed, in words.
pub const fn damage_words(kind: DamageKind) -> &'static str {
    match kind {
        DamageKind::Ampersand => "`&` that starts no known reference (write `&amp;`)",
        DamageKind::Angle => "`<` that starts no tag, or a tag, comment or CDATA section that does not end",
        DamageKind::EndTag => "an end tag that closes no open element",
        DamageKind::Unclosed => "an element that is never closed; the file may be cut off",
        DamageKind::Instruction => "`<?` that begins no sound instruction or XML declaration",
        DamageKind::BeforeRoot => "something stands before the root element",
        DamageKind::AfterRoot => "something stands after the root element",
        DamageKind::Character => "a character that XML does not allow",
        DamageKind::Encoding => "bytes that are not UTF-8",
        DamageKind::NoRoot => "there is no root element",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_and_each_other_format_has_its_name() {
        let table: [(&[u8], &str); 34] = [
            (b"<urlset/>", "urlset"),
            (b"\xEF\xBB\xBF<?xml version='1.0'?><!-- <html> --><sm:urlset>", "urlset"),
            (b"<?xml version='1.0' encoding='us-ascii'?><sitemapindex>", "index"),
            (b"<?xml version=\"1.0\" encoding = \"Utf-8\"?><urlset/>", "urlset"),
            (b"\xEF\xBB\xBF<?xml version='1.0' encoding='ISO-8859-1'?><urlset/>", "urlset"),
            (b"junk <urlset>", "urlset"),
            (b"", "empty"),
            (b"\xEF\xBB\xBF \n", "empty"),
            (b"<?xml version='1.0' encoding='ISO-8859-1'?><urlset/>", "ISO-8859-1"),
            (b"<?xml version='1.0' encoding='UTF-16'?><urlset/>", "UTF-16"),
            (b"\xFF\xFE<\0", "UTF-16"),
            (b"\xFE\xFF\0<", "UTF-16"),
            (b"<\0u\0", "UTF-16"),
            (b"\0<\0u", "UTF-16"),
            (b"\xFF\xFE\0\0", "UTF-32"),
            (b"<rss version='2.0'>", "urlset"),
            (b"<rdf:RDF>", "urlset"),
            (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "urlset"),
            (b"<!DOCTYPE html><p>", "HTML"),
            (b"<HTML>", "HTML"),
            (b"\n https://example.com/?<a>\nhttps://example.com/a", "list"),
            (b"# pages\nHTTP://example.com/a", "list"),
            (b"a page\nsee\nhttps://example.com/a", "without any XML"),
            (b"Loc;Priority\nhttps://example.com/a;1", "table"),
            (b"version https://git-lfs.github.com/spec/v1\n", "LFS"),
            (b"hello", "without any XML"),
            (b"a\0b", "binary"),
            (b"PK\x03\x04", "zip"),
            (b"BZh91AY&SY", "bzip2"),
            (b"\x28\xB5\x2F\xFD", "zstd"),
            (b"\xFD7zXZ\0", "xz"),
            (b"%PDF-1.7", "PDF"),
            (b"\x1F\x8B\x08", "compressed twice"),
            (b"<URLSET>", "<URLSET>"),
        ];
        for (bytes, expected) in table {
            let found = match detect(bytes) {
                Ok(FileKind::Urlset) => "urlset".to_owned(),
                Ok(FileKind::Index) => "index".to_owned(),
                Ok(FileKind::List) => "list".to_owned(),
                Ok(FileKind::Table) => "table".to_owned(),
                Err(reason) => reason.to_string(),
            };
            assert!(found.contains(expected), "{}: {found}", String::from_utf8_lossy(bytes));
        }
    }
}
