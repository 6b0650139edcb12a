//! `JsonObject`: makes the JSON text of an object with known members.
//!
//! Reports have millions of objects. `serde_json` examines each byte of a text on its own, which takes as long as
//! everything else about a finding; here a text without escapes, the usual case, is examined with vector instructions.
//! Others are left to it. A property test compares both.

use super::output::json;

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
    pub(super) fn string(&mut self, name: &'static str, value: &str) {
        self.name(name);
        push_string(self.text, value);
    }

    /// Adds a member that is a string or null.
    pub(super) fn string_or_null(&mut self, name: &'static str, value: Option<&str>) {
        match value {
            Some(value) => self.string(name, value),
            None => self.null(name),
        }
    }

    /// Adds a member that is a number.
    pub(super) fn number(&mut self, name: &'static str, value: u64) {
        self.name(name);
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Adds a member that is a number or null.
    pub(super) fn number_or_null(&mut self, name: &'static str, value: Option<u64>) {
        match value {
            Some(value) => self.number(name, value),
            None => self.null(name),
        }
    }

    /// Adds a member that is an object with the members that `fill` adds.
    pub(super) fn object(&mut self, name: &'static str, fill: impl FnOnce(&mut JsonObject<'_>)) {
        self.name(name);
        JsonObject::push(self.text, fill);
    }

    /// Adds a member that is an array of one object.
    pub(super) fn array_of_one(&mut self, name: &'static str, fill: impl FnOnce(&mut JsonObject<'_>)) {
        self.name(name);
        self.text.push(b'[');
        JsonObject::push(self.text, fill);
        self.text.push(b']');
    }

    fn null(&mut self, name: &'static str) {
        self.name(name);
        self.text.extend_from_slice(b"null");
    }

    /// Names need no escapes.
    fn name(&mut self, name: &'static str) {
        self.text.extend_from_slice(if self.is_empty { b"\"" } else { b",\"" });
        self.is_empty = false;
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }
}

/// Appends a JSON string.
fn push_string(text: &mut Vec<u8>, value: &str) {
    // Without an early exit the compiler vectorises this loop. C1 control characters start with 0xC2, line separators and
    // direction marks with 0xE2.
    let may_escape = |byte| matches!(byte, ..b' ' | b'"' | b'\\' | 0x7F | 0xC2 | 0xE2);
    if value.bytes().fold(false, |found, byte| found | may_escape(byte)) {
        // Writing to memory cannot fail.
        let _ = json(text, value);
        return;
    }
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
        });
        let expected = json!({ "empty": {}, "list": [{ "n": 7, "m": null }], "s": "a\"b", "t": null });
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
    }
}
