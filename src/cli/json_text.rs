//! Writes JSON. Unsafe characters are escaped, since JSON strings may contain C1 controls.
//!
//! `JsonObject` makes the text of an object with known members. Reports have millions of objects. `serde_json` examines
//! each byte of a text on its own, which takes as long as everything else about a finding; here a text without escapes,
//! the usual case, is examined with vector instructions. Others are left to it. A property test compares both.
//!
//! Methods that take the name of a member are inlined: its length is a constant then, and copying it takes no call.

use super::unsafe_characters::{has_control_or, is_safe, is_unsafe};
use serde::Serialize;
use serde_json::ser::Formatter;
use std::borrow::Cow;
use std::io::{self, Write};

/// A JSON object that is being appended to a text.
pub(super) struct JsonObject<'t> {
    text: &'t mut Vec<u8>,
    is_empty: bool,
}

impl<'t> JsonObject<'t> {
    /// Appends an object with the members that `fill` adds.
    pub(super) fn push(text: &'t mut Vec<u8>, fill: impl FnOnce(&mut Self)) {
        text.push(b'{');
        let mut object = Self { text, is_empty: true };
        fill(&mut object);
        object.text.push(b'}');
    }

    /// Adds a member that is a string.
    #[inline]
    pub(super) fn string(&mut self, name: &'static str, value: &str) {
        self.name(name);
        push_string(self.text, value);
    }

    /// Adds a member that is a string of [`escaped`] text, or of text without characters to escape, such as the code of a
    /// rule.
    #[inline]
    pub(super) fn escaped(&mut self, name: &'static str, value: &str) {
        debug_assert!(is_escaped(value), "{value:?}");
        self.name(name);
        push_quoted(self.text, value);
    }

    /// [`Self::escaped`] for a string or null.
    #[inline]
    pub(super) fn escaped_or_null(&mut self, name: &'static str, value: Option<&str>) {
        match value {
            Some(value) => self.escaped(name, value),
            None => self.null(name),
        }
    }

    /// [`Self::escaped`] for a string of several parts.
    #[inline]
    pub(super) fn escaped_parts(&mut self, name: &'static str, parts: &[&str]) {
        debug_assert!(parts.iter().all(|part| is_escaped(part)), "{parts:?}");
        self.name(name);
        self.text.push(b'"');
        for part in parts {
            self.text.extend_from_slice(part.as_bytes());
        }
        self.text.push(b'"');
    }

    /// Adds a member that is a string or null.
    #[inline]
    pub(super) fn string_or_null(&mut self, name: &'static str, value: Option<&str>) {
        match value {
            Some(value) => self.string(name, value),
            None => self.null(name),
        }
    }

    /// Adds a member that is a number.
    #[inline]
    pub(super) fn number(&mut self, name: &'static str, value: u64) {
        self.name(name);
        push_number(self.text, value);
    }

    /// Adds a member that is a number or null.
    #[inline]
    pub(super) fn number_or_null(&mut self, name: &'static str, value: Option<u64>) {
        match value {
            Some(value) => self.number(name, value),
            None => self.null(name),
        }
    }

    /// Adds a member that is an object with the members that `fill` adds.
    #[inline]
    pub(super) fn object(&mut self, name: &'static str, fill: impl FnOnce(&mut JsonObject<'_>)) {
        self.name(name);
        JsonObject::push(self.text, fill);
    }

    /// Adds a member that is an array of one object.
    #[inline]
    pub(super) fn array_of_one(&mut self, name: &'static str, fill: impl FnOnce(&mut JsonObject<'_>)) {
        self.name(name);
        self.text.push(b'[');
        JsonObject::push(self.text, fill);
        self.text.push(b']');
    }

    #[inline]
    fn null(&mut self, name: &'static str) {
        self.name(name);
        self.text.extend_from_slice(b"null");
    }

    /// Names need no escapes.
    #[inline]
    fn name(&mut self, name: &'static str) {
        self.text.extend_from_slice(if self.is_empty { b"\"" } else { b",\"" });
        self.is_empty = false;
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }
}

/// A list in a JSON document, printed with each element on a line of its own as it grows.
pub(super) struct JsonList {
    /// The document up to the opening bracket of the list, until it is printed.
    head: Option<&'static str>,
}

/// The text between two elements of a list.
const SEPARATOR: &str = ",\n";

impl JsonList {
    pub(super) const fn new(head: &'static str) -> Self {
        Self { head: Some(head) }
    }

    /// Appends an element, after a comma.
    pub(super) fn push(text: &mut Vec<u8>, fill: impl FnOnce(&mut JsonObject<'_>)) {
        text.extend_from_slice(SEPARATOR.as_bytes());
        JsonObject::push(text, fill);
    }

    /// Writes elements that [`Self::push`] has appended to a text.
    pub(super) fn write(&mut self, elements: &[u8], out: &mut dyn Write) -> io::Result<()> {
        match elements.strip_prefix(SEPARATOR.as_bytes()).and_then(|first| Some((self.head.take()?, first))) {
            Some((head, first)) => {
                writeln!(out, "{head}")?;
                out.write_all(first)
            }
            None => out.write_all(elements),
        }
    }

    /// Ends the list.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}\n]", self.head.take().unwrap_or_default())
    }
}

/// Writes a JSON document and a line break.
pub(crate) fn json_document(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    json(out, value)?;
    writeln!(out)
}

/// Writes JSON with escaped unsafe characters: JSON strings may contain C1 controls, which terminals interpret.
pub(super) fn json(out: &mut dyn Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(out, Escaped))?;
    Ok(())
}

/// Compact JSON that escapes unsafe characters, such as U+009B as `\u009b`.
struct Escaped;

impl Formatter for Escaped {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if is_safe(fragment.as_bytes()) {
            return out.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unsafe) {
            let (safe, after) = rest.split_at(at);
            out.write_all(safe.as_bytes())?;
            let mut chars = after.chars();
            // All unsafe characters are below U+10000.
            chars.next().map_or(Ok(()), |c| write!(out, "\\u{:04x}", u32::from(c)))?;
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

/// The text of a JSON string, without quotes.
pub(super) fn escaped(value: &str) -> Cow<'_, str> {
    if !may_escape(value) {
        return Cow::Borrowed(value);
    }
    let mut text = Vec::with_capacity(value.len() + 2);
    push_string(&mut text, value);
    let text = String::from_utf8(text).unwrap_or_default();
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    Cow::Owned(inside.unwrap_or_default().to_owned())
}

/// Whether a text between quotes is a JSON string.
fn is_escaped(text: &str) -> bool {
    serde_json::from_str::<String>(&format!("\"{text}\"")).is_ok()
}

/// Appends a JSON string.
fn push_string(text: &mut Vec<u8>, value: &str) {
    if may_escape(value) {
        // Writing to memory cannot fail.
        let _ = json(text, value);
    } else {
        push_quoted(text, value);
    }
}

/// Whether a JSON string may need escapes.
fn may_escape(value: &str) -> bool {
    // C1 control characters start with 0xC2, line separators and direction marks with 0xE2.
    has_control_or(value.as_bytes(), [b'"', b'\\', 0x7F, 0xC2, 0xE2])
}

/// Appends a JSON number.
fn push_number(text: &mut Vec<u8>, value: u64) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a JSON string without escapes.
fn push_quoted(text: &mut Vec<u8>, value: &str) {
    text.push(b'"');
    text.extend_from_slice(value.as_bytes());
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    proptest! {
        #[test]
        fn strings_equal_those_of_the_serializer(
            value in "([ -~]{0,20}|[\u{0}-\u{1f}\"\\\\\u{7e}-\u{a0}éâ\u{2027}-\u{202f}\u{2065}-\u{206a}“”😀]{0,3}){0,4}",
        ) {
            let (mut text, mut expected) = (Vec::new(), Vec::new());
            push_string(&mut text, &value);
            super::json(&mut expected, &*value).unwrap();
            prop_assert_eq!(String::from_utf8(text).unwrap(), String::from_utf8(expected).unwrap());
        }
    }

    #[test]
    fn members_are_separated() {
        let mut text = Vec::new();
        JsonObject::push(&mut text, |object| {
            object.object("empty", |_| {});
            object.array_of_one("list", |one| {
                one.number_or_null("n", Some(7));
                one.number_or_null("m", None);
            });
            object.string_or_null("s", Some("a\"b"));
            object.string_or_null("t", None);
            object.escaped_or_null("u", Some(&escaped("a\"b")));
            object.escaped_or_null("v", None);
            object.escaped_parts("j", &["a", " ", "b"]);
            object.escaped_parts("k", &["a", &escaped("\n\u{9b}")]);
            object.escaped("file", &escaped("c\\d"));
            object.escaped("w", "loc-fragment");
        });
        let expected = json!({
            "empty": {}, "list": [{ "n": 7, "m": null }], "s": "a\"b", "t": null, "u": "a\"b", "v": null,
            "j": "a b", "k": "a\n\u{9b}", "file": "c\\d", "w": "loc-fragment",
        });
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
    }
}
