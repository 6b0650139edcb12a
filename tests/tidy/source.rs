//! Reads Rust source for the tidy rules: without comments and literals, imports expanded.
//!
//! It is not a parser, but it distinguishes comments and strings from code.

/// The text with comments and the content of literals replaced by blanks; line breaks are kept.
pub(crate) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = vec![b' '; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(text, at);
        if end == at {
            out[at] = bytes[at];
            at += 1;
        } else {
            (at..end).filter(|position| bytes[*position] == b'\n').for_each(|position| out[position] = b'\n');
            at = end;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The end of the comment or literal that starts at `at`; `at` if none starts there.
fn literal_end(text: &str, at: usize) -> usize {
    let rest = &text.as_bytes()[at..];
    let until = |end: &[u8], from: usize| {
        let found = rest[from.min(rest.len())..].windows(end.len()).position(|window| window == end);
        at + found.map_or(rest.len(), |position| from + position + end.len())
    };
    let inside_word = at > 0 && is_word(text.as_bytes()[at - 1]);
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => until(b"*/", 2),
        [b'r', b'"' | b'#', ..] | [b'b', b'r', b'"' | b'#', ..] if !inside_word => {
            let prefix = 1 + usize::from(rest[0] == b'b');
            let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
            match rest.get(prefix + hashes) {
                Some(b'"') => until(format!("\"{}", "#".repeat(hashes)).as_bytes(), prefix + hashes + 1),
                _ => at,
            }
        }
        [b'"', ..] => at + 1 + quoted(&rest[1..], b'"'),
        [b'\'', b'\\', ..] => at + 1 + quoted(&rest[1..], b'\''),
        // A quote directly after the character distinguishes it from a lifetime.
        [b'\'', first, ..] => {
            let width = text[at + 1..].chars().next().map_or(1, char::len_utf8);
            if *first != b'\'' && rest.get(1 + width) == Some(&b'\'') { at + width + 2 } else { at }
        }
        _ => at,
    }
}

/// The length of the rest of a literal, including its closing quote.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < rest.len() && rest[at] != quote {
        at += 1 + usize::from(rest[at] == b'\\');
    }
    (at + 1).min(rest.len())
}

/// The identifiers and keywords of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Every path in the code, with `use` groups expanded: `use std::{fs, io::Read}` gives `std::fs` and `std::io::Read`.
pub(crate) fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
        let tail = &rest[start..];
        let length = tree_length(tail);
        let (tree, after) = tail.split_at(length);
        if tree.contains("::") {
            let tree: String = tree.chars().filter(|c| !c.is_whitespace()).collect();
            spell_out("", &tree, &mut found);
        }
        rest = after;
    }
    found
}

/// The length of the path or `use` tree at the start of a text.
fn tree_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = bytes.iter().take_while(|byte| is_word(**byte)).count().max(1);
    while text[at..].starts_with("::") {
        at += 2;
        if bytes.get(at) == Some(&b'{') {
            let mut depth = 0;
            while at < bytes.len() {
                depth += i32::from(bytes[at] == b'{') - i32::from(bytes[at] == b'}');
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            return at;
        }
        at += bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
    }
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn spell_out(prefix: &str, tree: &str, found: &mut Vec<String>) {
    match tree.split_once('{') {
        None => found.push(format!("{prefix}{tree}")),
        Some((head, group)) => {
            let group = group.strip_suffix('}').unwrap_or(group);
            for part in split_group(group).into_iter().filter(|part| !part.is_empty()) {
                spell_out(&format!("{prefix}{head}"), part, found);
            }
        }
    }
}

/// Splits a group at its commas, except those of inner groups.
fn split_group(group: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

#[test]
fn comments_and_literals_are_blanked() {
    let text = "let a = \"use std::net\"; // std::env\nf(b'{', r#\"x \" std::fs\"#, '\\'', 'é'); fn g<'a>(s: &'a str) {} /* std::io */";
    let code = code(text);
    assert!(["net", "env", "fs", "io", "{'"].iter().all(|word| !code.contains(word)), "{code}");
    assert!(code.contains("fn g<'a>(s: &'a str) {}") && code.lines().count() == 2, "{code}");
}

#[test]
fn import_groups_are_expanded() {
    let code = "use std::{fs, io::{self, Read}};\nlet x = crate::xml::scan(a::b);";
    assert_eq!(paths(code), ["std::fs", "std::io::self", "std::io::Read", "crate::xml::scan", "a::b"]);
}

/// The values of the string literals in a text: escapes are resolved, and escaped line breaks removed.
pub(crate) fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = literal_end(text, at).max(at);
        if end == at {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let literal = &text[at..end.min(text.len())];
        let is_bytes = text[..at].ends_with('b') && !text[..at - 1].ends_with(|c: char| c.is_alphanumeric());
        if let Some(inside) = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            if !is_bytes {
                found.push(resolved(inside));
            }
        } else if literal.starts_with('r') {
            let hashed = literal.trim_start_matches(['r', '#']).trim_end_matches('#');
            let inside = hashed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(hashed);
            found.push(inside.replace('\n', "\\n"));
        }
        at = end;
    }
    found
}

/// The content of a literal on one line: escaped line breaks are removed, other escapes are kept.
fn resolved(inside: &str) -> String {
    let mut out = String::new();
    let mut rest = inside;
    while let Some(at) = rest.find(['\\', '\n']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        rest = match tail.as_bytes() {
            [b'\\', b'\n', ..] => tail[2..].trim_start(),
            [b'\\', b'"', ..] => {
                out.push('"');
                &tail[2..]
            }
            [b'\\', second, ..] if second.is_ascii() => {
                out.push_str(&tail[..2]);
                &tail[2..]
            }
            _ => {
                out.push_str(if tail.starts_with('\n') { "\\n" } else { "\\" });
                &tail[1..]
            }
        };
    }
    out + rest
}

#[test]
fn escapes_in_literals_are_resolved() {
    let text = "a(\"one \\\n      two\"); // \"no\"\nb(r#\"say \"x\"\"#, 'c', b\"bytes\", \"tab\\there \\\"q\\\"\")";
    assert_eq!(literals(text), ["one two", "say \"x\"", "tab\\there \"q\""]);
}
