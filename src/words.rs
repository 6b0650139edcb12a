//! Numbers, counts and parts of values in words, the same on screen, in findings and on the command line.
//!
//! Invariant: nothing that comes out of here is obeyed by a terminal.

use std::fmt::Write;

/// A number with its thousands grouped: `1,000,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 row`, `1,204 rows`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// Bytes for people: `311 B`, `7.1 MiB`.
pub fn size(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let value = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", value / KIB),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", value / KIB / KIB),
        _ => format!("{:.1} GiB", value / KIB / KIB / KIB),
    }
}

/// Part of a value for a message: at most `most` characters, with signs for what a terminal would obey or hide.
pub fn excerpt(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most * 4));
    for letter in text.chars().take(most) {
        push_visible(&mut out, letter);
    }
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
    out
}

/// A character, or its sign: `␛` for an escape, `‹202E›` for what has no picture in Unicode.
fn push_visible(out: &mut String, letter: char) {
    match u32::from(letter) {
        code @ 0..=0x1F => out.extend(char::from_u32(0x2400 + code)),
        0x7F => out.push('\u{2421}'),
        code if letter.is_control() || is_format(letter) => {
            let written = write!(out, "‹{code:04X}›");
            debug_assert!(written.is_ok(), "writing into a String cannot fail");
        }
        _ => out.push(letter),
    }
}

/// Characters that change the direction or the joining of their neighbours, or have no width.
const fn is_format(letter: char) -> bool {
    matches!(letter, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_has_a_sign() {
        for (text, most, expected) in [
            ("plain é 日", 40, "plain é 日"),
            ("0.5\n1", 40, "0.5␊1"),
            ("a\u{1b}[31m\u{7f}", 40, "a␛[31m␡"),
            ("2025\u{9b}2J", 40, "2025‹009B›2J"),
            ("rlo\u{202e}x", 40, "rlo‹202E›x"),
            ("abcdef", 3, "abc…"),
            ("abc", 3, "abc"),
        ] {
            assert_eq!(excerpt(text, most), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_read_easily() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (50_000, "50,000"), (1_000_000, "1,000,000")]
        {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(1_204, "row"), "1,204 rows");
        assert_eq!([311, 52_428_800, 2_048, 3 << 30].map(size), ["311 B", "50.0 MiB", "2.0 KiB", "3.0 GiB"]);
    }
}
