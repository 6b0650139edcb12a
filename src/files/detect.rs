//! Detects the type of a file from its content, never from its name.
//!
//! Examines magic bytes and the first element of unpacked UTF-8. The error for a file that is not a sitemap names its
//! format, which helps more than "syntax error".

use super::error::Reason;
use crate::document::form::Form;
use crate::xml::defect::Defect;
use crate::xml::feed::Feed;
use crate::xml::grid::{Grid, NameHint, TableHints, is_url_line};
use crate::xml::markup::{self, Kind, Markup};
use crate::xml::names::{self, FileKind};
use crate::xml::repair;

/// The first two bytes of a gzip member (RFC 1952, section 2.3.1).
const GZIP: &[u8] = b"\x1f\x8b";

/// Whether bytes are gzip data.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP)
}

/// The detected type of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Detected {
    /// Its kind.
    pub kind: FileKind,
    /// The layout of a table.
    pub grid: Option<Grid>,
}

impl From<FileKind> for Detected {
    fn from(kind: FileKind) -> Self {
        Self { kind, grid: None }
    }
}

/// The form that a file name suggests for text that may be a list or a table.
pub(crate) fn name_hint(name: &str) -> NameHint {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    match Form::of_name(&file) {
        Some(Form::List) => NameHint::List,
        Some(Form::Csv | Form::Tsv) => NameHint::Table,
        _ if file.split('.').next() == Some("urllist") => NameHint::List,
        _ if file == "-" => NameHint::Stream,
        _ => NameHint::Unknown,
    }
}

/// Detects the kind of a sitemap file from its uncompressed bytes alone; an error names what else they are.
pub(crate) fn detect(bytes: &[u8]) -> Result<FileKind, Reason> {
    detect_with(bytes, TableHints::default()).map(|detected| detected.kind)
}

/// Like [`detect`], with hints from outside of the bytes.
pub(crate) fn detect_with(bytes: &[u8], hints: TableHints<'_>) -> Result<Detected, Reason> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if markup::is_blank(text) {
        // Blank lines are an empty list if the name suggests a list.
        let is_list = hints.name == NameHint::List && !text.is_empty();
        return if is_list { Ok(FileKind::List.into()) } else { Err(Reason::Empty) };
    }
    if let Some(reason) = detect_container(bytes) {
        return Err(reason);
    }
    let root = first_element(text);
    let name = root.map(|root| names::split(root.name(text)).1).unwrap_or_default();
    // A list may hold any letters, `<` included; only what begins like XML, or has a root that is known, is XML.
    let known = matches!(name, b"urlset" | b"sitemapindex" | b"rss" | b"RDF" | b"feed");
    if !known
        && !text.trim_ascii_start().starts_with(b"<")
        && let Some(detected) = detect_text(text, hints)
    {
        return detected;
    }
    match name {
        // A feed is read as a sitemap.
        b"urlset" | b"rss" | b"RDF" | b"feed" => return Ok(FileKind::Urlset.into()),
        b"sitemapindex" => return Ok(FileKind::Index.into()),
        _ => {}
    }
    // A damaged file may still be a sitemap.
    if let Some(kind) = repair::kind(text) {
        return Ok(kind.into());
    }
    Err(match name {
        name if name.eq_ignore_ascii_case(b"html") || is_html(text) => Reason::Html,
        b"" => Reason::Format(describe_text(text)),
        name => Reason::Root(String::from_utf8_lossy(name).into_owned()),
    })
}

/// Recognizes archives and other foreign formats by their first bytes as stored, because decoding changes those.
pub(crate) fn detect_container(bytes: &[u8]) -> Option<Reason> {
    let tar = bytes.get(257..262) == Some(b"ustar");
    Some(match bytes {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Reason::Packed("a zip archive"),
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => Reason::Packed("bzip2 data"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Reason::Packed("zstd data"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Reason::Packed("xz data"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Reason::Packed("a 7z archive"),
        [0x1f, 0x9d, ..] => Reason::Packed("compress data"),
        [0x1f, 0x8b, ..] => Reason::Packed("gzip data inside gzip data inside gzip data"),
        _ if tar => Reason::Packed("a tar archive"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Reason::Format("a PDF document".to_owned()),
        _ => return None,
    })
}

/// Which feed format the bytes are, if they are one.
pub(crate) fn feed(bytes: &[u8]) -> Option<Feed> {
    Feed::of_root(bytes, &first_element(bytes)?)
}

/// Lines that are examined to detect what text is.
const EXAMINED_LINES: usize = 200;

/// Detects whether text is a list or a table of URLs; `None` if it is neither. A list: at least half of its first lines
/// without comments are URLs, or one is if the name suggests a list. A table: one of its columns holds URLs.
fn detect_text(text: &[u8], hints: TableHints<'_>) -> Option<Result<Detected, Reason>> {
    let grid = Grid::of_table(text, hints);
    let refused = match grid {
        Ok(grid) => return Some(Ok(Detected { kind: FileKind::Table, grid: Some(grid) })),
        Err(refused) => refused,
    };
    let first = text.get(..text.len().min(1 << 16)).unwrap_or_default();
    let lines = first.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    let lines: Vec<&[u8]> =
        lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).take(EXAMINED_LINES).collect();
    let urls = lines.iter().filter(|line| is_url_line(line)).count();
    let is_list = match hints.name {
        // Comments alone are an empty list: nothing else with such a name begins like this.
        NameHint::List => urls > 0 || lines.is_empty(),
        NameHint::Table => urls > 0 && refused.is_none(),
        NameHint::Stream => urls * 2 >= lines.len(),
        NameHint::Unknown => urls * 2 >= lines.len() && urls > 0,
    };
    // A list would be a wrong guess if several columns below a header hold URLs, or if the name suggests a table.
    let has_header = lines.first().is_some_and(|line| !is_url_line(line));
    let is_table = match hints.name {
        NameHint::Table => !is_list,
        NameHint::Unknown | NameHint::Stream => {
            refused.as_ref().is_some_and(|refused| refused.is_ambiguous) && has_header
        }
        NameHint::List => false,
    };
    match refused.filter(|_| is_table || hints.loc_column.is_some() && !is_list) {
        Some(refused) => {
            let asked = hints.loc_column.map(str::to_owned);
            Some(Err(Reason::NoUrlColumn { columns: refused.columns, is_ambiguous: refused.is_ambiguous, asked }))
        }
        None => is_list.then(|| Ok(FileKind::List.into())),
    }
}

/// The first start tag, whatever is before it.
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

/// Describes text without any element for a message.
fn describe_text(text: &[u8]) -> String {
    if text.starts_with(b"version https://git-lfs") {
        "a Git LFS pointer (`git lfs pull` fetches the file)".to_owned()
    } else if text.contains(&0) {
        "binary data".to_owned()
    } else {
        "text without XML elements or URLs".to_owned()
    }
}

/// Describes a kind of damage for a message.
pub(crate) const fn damage_words(kind: Defect) -> &'static str {
    match kind {
        Defect::Ampersand => "`&` that starts no known reference (write `&amp;`)",
        Defect::Angle => "`<` that starts no tag, or a tag, comment or CDATA section that does not end",
        Defect::EndTag => "an end tag that closes no open element",
        Defect::Unclosed => "an element that is never closed; the file may be cut off",
        Defect::Instruction => "`<?` or `<!` that starts no valid instruction, XML declaration or DOCTYPE",
        Defect::BeforeRoot => "content before the root element",
        Defect::TrailingJunk => "content after the root element",
        Defect::Character => "a character that XML does not allow",
        Defect::Comment => "`--` inside a comment",
        Defect::Attribute => "a duplicate or malformed attribute",
        Defect::Name => "a tag name with a character that XML does not allow in names",
        Defect::UndeclaredPrefix => "a prefix that is not declared",
        Defect::Misplaced => "an element outside of any entry, or a name in capital letters",
        Defect::InvalidBytes => "bytes that are not UTF-8",
        Defect::NoRoot => "there is no root element",
        // The scanner reports no other kind.
        _ => "markup that is not well-formed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_and_each_other_format_has_its_name() {
        let table: [(&[u8], &str); 44] = [
            (b"<urlset/>", "urlset"),
            (b"\xEF\xBB\xBF<?xml version='1.0'?><!-- <html> --><sm:urlset>", "urlset"),
            (b"<?xml version='1.0' encoding='us-ascii'?><sitemapindex>", "index"),
            (b"<?xml version=\"1.0\" encoding = \"Utf-8\"?><urlset/>", "urlset"),
            (b"junk <urlset>", "urlset"),
            (b"<br /><b>Notice</b><urlset>", "urlset"),
            (b"<html><div><urlset><url/></urlset></div></html>", "urlset"),
            (b"<URLSET>", "urlset"),
            (b"<lastmod>2026</lastmod></url><url>", "urlset"),
            (b"<loc>x</loc></sitemap><sitemap>", "index"),
            (b"<project><url>x</url></project>", "<project>"),
            (b"<siteMap><siteMapNode/></siteMap>", "<siteMap>"),
            (b"", "empty"),
            (b"\xEF\xBB\xBF \n", "empty"),
            (b"<rss version='2.0'>", "urlset"),
            (b"<rdf:RDF>", "urlset"),
            (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "urlset"),
            (b"<!DOCTYPE html><p>", "HTML"),
            (b"<HTML>", "HTML"),
            (b"\n https://example.com/?<a>\nhttps://example.com/a", "list"),
            (b"# pages\nHTTP://example.com/a", "list"),
            (b"a page\nsee\nhttps://example.com/a", "without XML elements or URLs"),
            (b"Loc;Priority\nhttps://example.com/a;1", "table"),
            (b"Top pages,Clicks\nhttps://example.com/a,1", "table"),
            (b"From,To\nhttps://example.com/a,https://example.com/b", "several columns"),
            (b"https://example.com/a lastmod=2020-01-01 priority=0.5", "list"),
            (b"# one\n# two\n# three\nhttps://example.com/a", "list"),
            (b"www.example.com\nexample.com/a\nexample.com:8080/b", "list"),
            (b"main.rs\nlib.rs\n", "without XML elements or URLs"),
            (b"Dear all, and so on,\nsee www.example.com/a\n", "without XML elements or URLs"),
            (b"User-agent: *\nSitemap: https://example.com/sitemap.xml\n", "without XML elements or URLs"),
            (b"page,link\nfoo,bar\n", "without XML elements or URLs"),
            (b"version https://git-lfs.github.com/spec/v1\n", "LFS"),
            (b"hello", "without XML elements or URLs"),
            (b"a\0b", "binary"),
            (b"PK\x03\x04", "zip"),
            (b"BZh91AY&SY", "bzip2"),
            (b"\x28\xB5\x2F\xFD", "zstd"),
            (b"\xFD7zXZ\0", "xz"),
            (b"7z\xBC\xAF\x27\x1C", "7z"),
            (b"\x1F\x9D\x90", "compress"),
            (b"%PDF-1.7", "PDF"),
            (b"\x1F\x8B\x08", "gzip data inside"),
            (b"<xsd:schema/>", "<schema>"),
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
    #[test]
    fn a_name_helps_where_content_is_ambiguous() {
        let found =
            |name: &str, bytes: &[u8]| match detect_with(bytes, TableHints { name: name_hint(name), loc_column: None })
            {
                Ok(detected) => format!("{:?}", detected.kind),
                Err(reason) => reason.to_string(),
            };
        let mixed = b"a page\nsee\nhttps://example.com/a\n";
        let comments = b"# pages\n\n# of 2026\n";
        for name in ["urls.txt", "urllist", "-"] {
            assert_eq!(found(name, comments), "List", "{name}");
        }
        assert!(found("run.sh", comments).contains("without XML elements or URLs"));
        assert_eq!(found("urls.txt", b"\n\n"), "List");
        assert!(found("urls.txt", b"").contains("empty") && found("-", b"\n").contains("empty"));
        for name in ["urls.txt", "URLS.TXT", "sub/urllist.dat", "urllist", "urls.txt.gz"] {
            assert_eq!(found(name, mixed), "List", "{name}");
        }
        assert!(found("urls.lst", mixed).contains("without XML elements or URLs"));
        assert!(found("robots.txt", b"User-agent: *\nDisallow: /a\n").contains("without XML elements or URLs"));
        assert_eq!(found("t.csv", b"https://example.com/a,1\nhttps://example.com/b,2\n"), "Table");
        assert_eq!(found("t", b"https://example.com/a,1\nhttps://example.com/b,2\n"), "List");
        let refused = found("t.csv", b"Name,Clicks\nA,1\n");
        assert_eq!(refused, "no column of this table holds URLs; its columns are `Name`, `Clicks`");
        // A list is detected under any name.
        assert_eq!(found("t.csv", b"https://example.com/a\nhttps://example.com/b\n"), "List");
    }
}
