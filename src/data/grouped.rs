//! Parses numbers whose digits are in groups of three: `1,234`, `1 234`, `1'234`.

/// Separators of groups; not the point, since `1.234` is a decimal.
const SEPARATORS: [char; 6] = [',', ' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}'];

/// The separator of a grouped number, and the number without separators; `None` if it is not a grouped number.
pub(super) fn parse(text: &str) -> Option<(char, String)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (integer, fraction) = digits.split_once('.').map_or((digits, None), |(integer, rest)| (integer, Some(rest)));
    let separator = integer.chars().find(|char| SEPARATORS.contains(char))?;
    let mut groups = integer.split(separator);
    let first = groups.next()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // `0,123` is a decimal.
    let is_first = is_number(first) && first.len() <= 3 && !first.starts_with('0');
    let is_grouped = is_first && groups.all(|group| group.len() == 3 && is_number(group));
    (is_grouped && fraction.is_none_or(is_number)).then(|| (normalise(separator), text.replace(separator, "")))
}

/// Maps separators that look the same to one of them.
const fn normalise(separator: char) -> char {
    match separator {
        '\u{a0}' | '\u{202f}' => ' ',
        '\u{2019}' => '\'',
        separator => separator,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_three_digits_and_one_separator() {
        for (text, separator, number) in [
            ("1,234", ',', "1234"),
            ("12,345,678.50", ',', "12345678.50"),
            ("-1 234", ' ', "-1234"),
            ("1\u{202f}234\u{202f}567", ' ', "1234567"),
            ("1\u{2019}234", '\'', "1234"),
        ] {
            assert_eq!(parse(text), Some((separator, number.to_owned())), "{text}");
        }
        for text in [
            "1234",
            "1,5",
            "1,23",
            "1234,567",
            "0,123",
            "1,234'567",
            ",123",
            "1,234,",
            "1,234.",
            "1.234,5",
            "a,123",
            "",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
