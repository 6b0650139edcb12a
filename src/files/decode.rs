//! Decodes a file of any encoding to UTF-8, and notes what was unusual.
//!
//! The encoding is that of the byte order mark (Unicode, section 23.8), else of the declaration, else UTF-8;
//! but valid UTF-8 with letters outside ASCII is UTF-8 whatever 8-bit encoding is declared (rule catalogue, section
//! 4, `enc-mismatch`). UTF-16 without a mark is recognized by the first `<` (XML 1.0, appendix F) or the first two
//! letters. Never fails: if bytes are invalid in an encoding, they are read as windows-1252.

use crate::document::lines::{LineColumn, Lines};
use crate::document::quirk::Quirk;
use crate::document::sitemap::UTF_8;
use crate::file_bytes::FileBytes;
use crate::xml::defect::Defect;
use crate::xml::markup;
use encoding_rs::{Encoding, REPLACEMENT, UTF_16BE, UTF_16LE, WINDOWS_1252};
use rayon::prelude::*;
use std::ops::Range;

/// Text in UTF-8.
#[derive(Debug)]
pub(super) struct Decoded {
    /// The text; a declaration of another encoding is changed to UTF-8.
    pub bytes: FileBytes,
    /// The encoding that it was stored in.
    pub encoding: &'static str,
    /// What was unusual, if anything was.
    pub quirks: Vec<Quirk>,
    /// The original label of a changed declaration, with its offset.
    label: Option<(usize, Vec<u8>)>,
}

impl Decoded {
    /// The text with the original label of its declaration.
    pub(super) fn into_stored(mut self) -> FileBytes {
        if let Some((at, label)) = self.label.take() {
            self.bytes.with_vec(|bytes| bytes.splice(at..at + UTF_8.len(), label).for_each(drop));
        }
        self.bytes
    }
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether the beginning of a file is that of a document in UTF-8, as far as it shows.
pub(super) fn begins_as_utf8(beginning: &[u8]) -> bool {
    let label = declared_label(beginning).and_then(|label| beginning.get(label));
    let is_plain = matches!(beginning.strip_prefix(MARK).unwrap_or(beginning), [b'<', second, ..] if *second != 0);
    is_plain && label.is_none_or(|label| is_utf8_label(&String::from_utf8_lossy(label)))
}

/// Decodes a file. Valid UTF-8 is returned unchanged.
pub(super) fn decode(bytes: impl Into<FileBytes>) -> Decoded {
    let bytes = bytes.into();
    match &*bytes {
        [0xFF, 0xFE, 0, 0, rest @ ..] => decode_utf_32(rest, u32::from_le_bytes),
        [0, 0, 0xFE, 0xFF, rest @ ..] => decode_utf_32(rest, u32::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] if is_ascii_or_utf8(rest) => decode_mismarked(rest, UTF_16LE),
        [0xFE, 0xFF, rest @ ..] if is_ascii_or_utf8(rest) => decode_mismarked(rest, UTF_16BE),
        [0xFF, 0xFE, rest @ ..] => decode_utf_16(rest, UTF_16LE, Defect::OtherMark),
        [0xFE, 0xFF, rest @ ..] => decode_utf_16(rest, UTF_16BE, Defect::OtherMark),
        [b'<', 0, ..] => decode_utf_16(&bytes, UTF_16LE, Defect::NotUtf8),
        [0, b'<', ..] => decode_utf_16(&bytes, UTF_16BE, Defect::NotUtf8),
        // A list begins with a URL, a table with the name of a column.
        [first, 0, second, 0, ..] if is_letter(*first, *second) => decode_utf_16(&bytes, UTF_16LE, Defect::NotUtf8),
        [0, first, 0, second, ..] if is_letter(*first, *second) => decode_utf_16(&bytes, UTF_16BE, Defect::NotUtf8),
        _ => decode_ascii_superset(bytes),
    }
}

const fn is_letter(first: u8, second: u8) -> bool {
    first.is_ascii_alphabetic() && second.is_ascii_alphabetic()
}

/// Whether text behind a byte order mark of UTF-16 is ASCII or UTF-8 in fact: markup and URLs in UTF-16 have zero
/// bytes.
fn is_ascii_or_utf8(rest: &[u8]) -> bool {
    !rest.is_empty() && memchr::memchr(0, rest).is_none() && std::str::from_utf8(rest).is_ok()
}

/// Decodes text behind the byte order mark of another encoding.
fn decode_mismarked(rest: &[u8], mark: &'static Encoding) -> Decoded {
    let name = if rest.is_ascii() { "ASCII" } else { UTF_8 };
    let what = format!("{} before {name} text, which was read as {name}", mark.name());
    let mut decoded = decode_ascii_superset(rest.to_vec().into());
    decoded.quirks.insert(0, Quirk { kind: Defect::OtherMark, at: LineColumn::START, entry: None, what: what.into() });
    decoded
}

/// Number of bytes of a file that one core searches. Smaller files are read in parallel with each other.
pub(super) const SEARCH_PIECE: usize = 8 << 20;

/// Decodes an encoding in which ASCII characters are single bytes.
fn decode_ascii_superset(bytes: FileBytes) -> Decoded {
    let label = declared_label(&bytes);
    let name = label.clone().map(|label| String::from_utf8_lossy(bytes.get(label).unwrap_or_default()).into_owned());
    // Most files are ASCII, which is a faster test, also because pieces of a large file can be tested in parallel.
    let is_valid = bytes.par_chunks(SEARCH_PIECE).all(<[u8]>::is_ascii) || std::str::from_utf8(&bytes).is_ok();
    let Some(name) = name.filter(|name| !is_utf8_label(name)) else {
        return if is_valid { plain(bytes) } else { decode_with_stray_bytes(&bytes, Vec::new()) };
    };
    // The whole label is on one line: a declaration is ASCII before it.
    let at = label.map_or(LineColumn::START, |label| Lines::new(&bytes).position(label.start));
    let quirk = |kind, what: String| Quirk { kind, at, entry: None, what: what.into() };
    let known = encoding_of(&name);
    if bytes.starts_with(MARK) {
        let what = format!("the declaration says {name}, the byte order mark UTF-8; read as UTF-8");
        let quirks = vec![quirk(Defect::EncodingMismatch, what)];
        return with_utf8_label(if is_valid {
            Decoded { quirks, ..plain(bytes) }
        } else {
            decode_with_stray_bytes(&bytes, quirks)
        });
    }
    let Some(encoding) = known else {
        let quirks = vec![quirk(Defect::UnknownLabel, name)];
        return with_utf8_label(if is_valid {
            Decoded { quirks, ..plain(bytes) }
        } else {
            decode_with_stray_bytes(&bytes, quirks)
        });
    };
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    if is_wide || (is_valid && !bytes.is_ascii()) {
        let what = format!("the declaration says {name}, the bytes are UTF-8; read as UTF-8");
        let quirks = vec![quirk(Defect::EncodingMismatch, what)];
        return with_utf8_label(if is_valid {
            Decoded { quirks, ..plain(bytes) }
        } else {
            decode_with_stray_bytes(&bytes, quirks)
        });
    }
    let mut quirks = vec![quirk(Defect::NotUtf8, name)];
    let (text, has_errors) = encoding.decode_without_bom_handling(&bytes);
    if has_errors {
        let text = text.as_bytes();
        let first = memchr::memmem::find(text, "\u{FFFD}".as_bytes()).unwrap_or(0);
        let at = Lines::new(text).position(first);
        let what = format!("not {}", encoding.name());
        quirks.push(Quirk { kind: Defect::InvalidBytes, at, entry: None, what: what.into() });
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(&bytes);
        let bytes = text.into_owned().into_bytes().into();
        return with_utf8_label(Decoded { bytes, encoding: WINDOWS_1252.name(), quirks, label: None });
    }
    with_utf8_label(Decoded {
        bytes: text.into_owned().into_bytes().into(),
        encoding: encoding.name(),
        quirks,
        label: None,
    })
}

/// Valid UTF-8 without quirks.
const fn plain(bytes: FileBytes) -> Decoded {
    Decoded { bytes, encoding: UTF_8, quirks: Vec::new(), label: None }
}

/// Decodes UTF-8 with invalid bytes in it, which are read as windows-1252.
fn decode_with_stray_bytes(bytes: &[u8], mut quirks: Vec<Quirk>) -> Decoded {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 8);
    let mut first = None;
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            first.get_or_insert(out.len());
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(chunk.invalid());
            out.extend_from_slice(text.as_bytes());
        }
    }
    let at = Lines::new(&out).position(first.unwrap_or(0));
    quirks.push(Quirk { kind: Defect::InvalidBytes, at, entry: None, what: "not UTF-8".into() });
    Decoded { bytes: out.into(), encoding: WINDOWS_1252.name(), quirks, label: None }
}

fn decode_utf_16(bytes: &[u8], encoding: &'static Encoding, kind: Defect) -> Decoded {
    let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
    let mut quirks = vec![Quirk { kind, at: LineColumn::START, entry: None, what: encoding.name().into() }];
    if has_errors {
        let first = memchr::memmem::find(text.as_bytes(), "\u{FFFD}".as_bytes()).unwrap_or(0);
        let at = Lines::new(text.as_bytes()).position(first);
        quirks.push(Quirk { kind: Defect::InvalidBytes, at, entry: None, what: "half a character".into() });
    }
    note_mismatch(text.as_bytes(), encoding.name(), &mut quirks);
    with_utf8_label(Decoded {
        bytes: text.into_owned().into_bytes().into(),
        encoding: encoding.name(),
        quirks,
        label: None,
    })
}

fn decode_utf_32(bytes: &[u8], read: fn([u8; 4]) -> u32) -> Decoded {
    let letters = bytes.chunks_exact(4).filter_map(|four| <[u8; 4]>::try_from(four).ok());
    let text: String = letters.map(|four| char::from_u32(read(four)).unwrap_or('\u{FFFD}')).collect();
    let mut quirks = vec![Quirk { kind: Defect::OtherMark, at: LineColumn::START, entry: None, what: "UTF-32".into() }];
    note_mismatch(text.as_bytes(), "UTF-32", &mut quirks);
    with_utf8_label(Decoded { bytes: text.into_bytes().into(), encoding: "UTF-32", quirks, label: None })
}

/// The encoding of a label. `unicode` names none, although browsers read it as UTF-16 (rule catalogue, section 4,
/// `enc-unknown-label`).
fn encoding_of(label: &str) -> Option<&'static Encoding> {
    let label = label.trim();
    let is_real = !label.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("unicode"));
    Encoding::for_label(label.as_bytes()).filter(|encoding| is_real && *encoding != REPLACEMENT)
}

/// Adds a quirk if the declaration of a text in UTF-16 or UTF-32 names another encoding.
fn note_mismatch(text: &[u8], encoding: &str, quirks: &mut Vec<Quirk>) {
    let Some(label) = declared_label(text) else { return };
    let name = String::from_utf8_lossy(text.get(label.clone()).unwrap_or_default());
    // The label `UTF-16` fits both byte orders.
    let family = encoding.get(..6).unwrap_or(encoding);
    if !name.trim().get(..6).is_some_and(|start| start.eq_ignore_ascii_case(family)) {
        let what = format!("the declaration says {name}, the bytes are {encoding}; read as {encoding}");
        let at = Lines::new(text).position(label.start);
        quirks.push(Quirk { kind: Defect::EncodingMismatch, at, entry: None, what: what.into() });
    }
}

/// Changes the label of the declaration, if it has one, to UTF-8.
fn with_utf8_label(mut decoded: Decoded) -> Decoded {
    if let Some(label) = declared_label(&decoded.bytes)
        && !decoded.bytes.get(label.clone()).is_some_and(|name| name.eq_ignore_ascii_case(UTF_8.as_bytes()))
    {
        let at = label.start;
        decoded.label = Some((at, decoded.bytes.with_vec(|bytes| bytes.splice(label, UTF_8.bytes()).collect())));
    }
    decoded
}

/// Bytes at the beginning of a file in which its declaration is looked for.
const SEARCHED: usize = 4_096;

/// The range of the label in an XML declaration.
fn declared_label(bytes: &[u8]) -> Option<Range<usize>> {
    const START: &[u8] = b"<?xml";
    // Output such as the warning of a script may come before it; a declaration in a comment does not count.
    let beginning = bytes.get(..bytes.len().min(SEARCHED)).unwrap_or_default();
    let at = memchr::memmem::find(beginning, START)?;
    if memchr::memmem::find(beginning.get(..at)?, b"<!--").is_some() {
        return None;
    }
    let start = at + START.len();
    let inside = bytes.get(start..)?;
    // A declaration is short; in a file without one, the next `?>` may be anywhere.
    let inside = inside.get(..memchr::memmem::find(inside.get(..inside.len().min(1_024))?, b"?>")?)?;
    let found = markup::attributes(inside).find(|attribute| attribute.name == b"encoding")?;
    // The attribute's value is a part of `inside`.
    let at = start + (found.value.as_ptr() as usize).checked_sub(inside.as_ptr() as usize)?;
    Some(at..at + found.value.len())
}

fn is_utf8_label(label: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"].iter().any(|known| label.trim().eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str, mark: bool, big: bool) -> Vec<u8> {
        let units = mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn a_declaration_counts_after_output_of_a_script_but_not_in_a_comment() {
        let decoded = |text: &[u8]| {
            let decoded = decode(text.to_vec());
            (decoded.encoding, String::from_utf8(decoded.bytes.into_vec()).unwrap())
        };
        let declared = b"<b>Notice</b>: x\n<?xml version='1.0' encoding='iso-8859-2'?><a>\xB1</a>";
        let text = "<b>Notice</b>: x\n<?xml version='1.0' encoding='UTF-8'?><a>\u{105}</a>";
        assert_eq!(decoded(declared), ("ISO-8859-2", text.to_owned()));
        let comment = "<!-- <?xml version='1.0' encoding='iso-8859-2'?> --><a>\u{105}</a>";
        assert_eq!(decoded(comment.as_bytes()), (UTF_8, comment.to_owned()));
    }

    #[test]
    fn every_encoding_becomes_utf_8_with_its_quirks() {
        use Defect::*;
        let declared =
            |label: &str, text: &[u8]| [format!("<?xml version='1.0' encoding='{label}'?>").as_bytes(), text].concat();
        let latin = b"<a>caf\xE9</a>";
        let utf8 = "<a>café</a>".as_bytes();
        let with_label = |label: &str| String::from_utf8(declared(label, utf8)).unwrap();
        let table: [(Vec<u8>, String, &str, &[Defect]); 33] = [
            (wide("https://e.com/é", false, false), "https://e.com/é".into(), "UTF-16LE", &[NotUtf8]),
            (wide("loc,é", false, true), "loc,é".into(), "UTF-16BE", &[NotUtf8]),
            (utf8.to_vec(), "<a>café</a>".into(), "UTF-8", &[]),
            (declared("utf-8", utf8), with_label("utf-8"), "UTF-8", &[]),
            ([MARK, utf8].concat(), "\u{feff}<a>café</a>".into(), "UTF-8", &[]),
            (declared("ISO-8859-1", latin), with_label("UTF-8"), "windows-1252", &[NotUtf8]),
            (declared("windows-1252", latin), with_label("UTF-8"), "windows-1252", &[NotUtf8]),
            (
                declared("latin1", b"<a/>"),
                "<?xml version='1.0' encoding='UTF-8'?><a/>".into(),
                "windows-1252",
                &[NotUtf8],
            ),
            (
                declared("GBK", b"<a>\xC4\xE3\xBA\xC3</a>"),
                "<?xml version='1.0' encoding='UTF-8'?><a>你好</a>".into(),
                "GBK",
                &[NotUtf8],
            ),
            (
                declared("gb2312", b"<a>\xC4\xE3</a>"),
                "<?xml version='1.0' encoding='UTF-8'?><a>你</a>".into(),
                "GBK",
                &[NotUtf8],
            ),
            (
                declared("Shift_JIS", b"<a>\x93\xFA</a>"),
                "<?xml version='1.0' encoding='UTF-8'?><a>日</a>".into(),
                "Shift_JIS",
                &[NotUtf8],
            ),
            (declared("ISO-8859-1", utf8), with_label("UTF-8"), "UTF-8", &[EncodingMismatch]),
            (declared("UTF-16", utf8), with_label("UTF-8"), "UTF-8", &[EncodingMismatch]),
            (declared("unicode", utf8), with_label("UTF-8"), "UTF-8", &[UnknownLabel]),
            (wide(&with_label("utf-16"), true, false), with_label("UTF-8"), "UTF-16LE", &[OtherMark]),
            (wide(&with_label("utf-8"), true, false), with_label("utf-8"), "UTF-16LE", &[OtherMark, EncodingMismatch]),
            (wide(&with_label("latin1"), false, true), with_label("UTF-8"), "UTF-16BE", &[NotUtf8, EncodingMismatch]),
            (declared("utf8mb4", utf8), with_label("UTF-8"), "UTF-8", &[UnknownLabel]),
            (declared("unicode-ish", latin), with_label("UTF-8"), "windows-1252", &[UnknownLabel, InvalidBytes]),
            (declared("UTF-8", latin), with_label("UTF-8"), "windows-1252", &[InvalidBytes]),
            (latin.to_vec(), "<a>café</a>".into(), "windows-1252", &[InvalidBytes]),
            (
                "<a>é\u{20AC}</a>".bytes().chain(*b"\xE9\x80").collect(),
                "<a>é€</a>é€".into(),
                "windows-1252",
                &[InvalidBytes],
            ),
            (
                declared("GBK", b"<a>\xFF\xFF</a>"),
                "<?xml version='1.0' encoding='UTF-8'?><a>ÿÿ</a>".into(),
                "windows-1252",
                &[NotUtf8, InvalidBytes],
            ),
            (
                [MARK, &declared("ISO-8859-1", utf8)].concat(),
                format!("\u{feff}{}", with_label("UTF-8")),
                "UTF-8",
                &[EncodingMismatch],
            ),
            (wide("<a>café</a>", true, false), "<a>café</a>".into(), "UTF-16LE", &[OtherMark]),
            (wide("<a>café</a>", true, true), "<a>café</a>".into(), "UTF-16BE", &[OtherMark]),
            (wide(&with_label("UTF-16"), true, true), with_label("UTF-8"), "UTF-16BE", &[OtherMark]),
            (wide("<a>é</a>", false, false), "<a>é</a>".into(), "UTF-16LE", &[NotUtf8]),
            (wide("<a>é</a>", false, true), "<a>é</a>".into(), "UTF-16BE", &[NotUtf8]),
            (b"\xFF\xFEhttps://e.com/".to_vec(), "https://e.com/".into(), "UTF-8", &[OtherMark]),
            (b"\xFE\xFF<a/>".to_vec(), "<a/>".into(), "UTF-8", &[OtherMark]),
            ([b"\xFF\xFE", utf8].concat(), "<a>café</a>".into(), "UTF-8", &[OtherMark]),
            (b"\xFF\xFE\0\0<\0\0\0\xE9\0\0\0".to_vec(), "<é".into(), "UTF-32", &[OtherMark]),
        ];
        for (bytes, expected, encoding, quirks) in table {
            let decoded = decode(bytes);
            assert_eq!(String::from_utf8(decoded.bytes.into_vec()).unwrap(), expected);
            assert_eq!(decoded.encoding, encoding, "{expected}");
            assert_eq!(decoded.quirks.iter().map(|quirk| quirk.kind).collect::<Vec<_>>(), quirks, "{expected}");
        }
    }

    #[test]
    fn quirks_have_positions() {
        let decoded = decode(b"<?xml version='1.0' encoding='x'?>\n<a>\n caf\xE9".to_vec());
        let at = |line, column| LineColumn { line, column };
        assert_eq!(decoded.quirks.iter().map(|quirk| quirk.at).collect::<Vec<_>>(), [at(1, 31), at(3, 5)]);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_become_utf_8(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
            let decoded = decode(bytes);
            proptest::prop_assert!(std::str::from_utf8(&decoded.bytes).is_ok());
        }
    }
}
