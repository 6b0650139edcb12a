//! Formats numbers, counts and excerpts of values for people; shared by the screen, findings and the command line.
//!
//! Invariant: the results contain no character that a terminal would interpret as a command.

use crate::visible::Charset;

/// A number with its thousands grouped: `1,000,000`.
pub(crate) fn grouped(number: u64) -> String {
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
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// The number of files, URLs, indexes and their entries: `2 files, 58 URLs, 1 index with 2 entries`.
pub(crate) fn counted_entries((files, urls): (u64, u64), (indexes, entries): (u64, u64)) -> String {
    let listed = if entries == 1 { "1 entry".to_owned() } else { format!("{} entries", grouped(entries)) };
    let index = match indexes {
        0 => None,
        1 => Some(format!("1 index with {listed}")),
        many => Some(format!("{} indexes with {listed}", grouped(many))),
    };
    let pages = format!("{}, {}", counted(files, "file"), counted(urls, "URL"));
    // Without files, an index is reported alone.
    let pages = (files > 0 || index.is_none()).then_some(pages);
    [pages, index].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A number of bytes with a binary unit: `311 B`, `7.1 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let value = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", value / KIB),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", value / KIB / KIB),
        _ => format!("{:.1} GiB", value / KIB / KIB / KIB),
    }
}

/// A duration, rounded up: `90 s`, `35 min`, `56 h`.
#[cfg(feature = "net")]
pub(crate) fn time(seconds: u64) -> String {
    match seconds {
        0..=120 => format!("{seconds} s"),
        121..=7_200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", grouped(seconds.div_ceil(3_600))),
    }
}

/// The beginning of a value for a message: at most `max_chars` characters, with visible signs for characters that a
/// terminal would interpret or hide.
pub(crate) fn excerpt(text: &str, max_chars: usize) -> String {
    let end = text.char_indices().nth(max_chars).map_or(text.len(), |(at, _)| at);
    let (shown, rest) = text.split_at(end);
    let mut out = Charset::Unicode.visible(shown).into_owned();
    if !rest.is_empty() {
        out.push('…');
    }
    out
}

/// An [`excerpt`] of a field's value with the usual length.
pub(crate) fn excerpt_of_value(value: &str) -> String {
    excerpt(value, 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_entries_of_indexes_are_counted_separately() {
        for (pages, indexes, expected) in [
            ((1, 1), (0, 0), "1 file, 1 URL"),
            ((2, 50_000), (1, 2), "2 files, 50,000 URLs, 1 index with 2 entries"),
            ((0, 0), (1, 1), "1 index with 1 entry"),
            ((0, 0), (0, 0), "0 files, 0 URLs"),
            ((3, 0), (2, 1_200), "3 files, 0 URLs, 2 indexes with 1,200 entries"),
        ] {
            assert_eq!(counted_entries(pages, indexes), expected);
        }
    }

    #[test]
    fn control_characters_are_shown_as_signs() {
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
    fn numbers_are_grouped_and_sizes_have_units() {
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
