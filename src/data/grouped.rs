//! Numbers whose digits are in groups of three: `1,234`, `1 234`, `1'234`.

/// What separates groups; a point never does here, since `1.234` is a decimal.
const MARKS: [char; 6] = [',', ' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}'];

/// The mark between the groups of a number, and the number without them; `None` where it has none, or is written in
/// another way.
pub(super) fn ungrouped(text: &str) -> Option<(char, String)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (integer, fraction) = digits.split_once('.').map_or((digits, None), |(integer, rest)| (integer, Some(rest)));
    let mark = integer.chars().find(|char| MARKS.contains(char))?;
    let mut groups = integer.split(mark);
    let first = groups.next()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // `0,123` is a decimal.
    let is_first = is_number(first) && first.len() <= 3 && !first.starts_with('0');
    let is_grouped = is_first && groups.all(|group| group.len() == 3 && is_number(group));
    (is_grouped && fraction.is_none_or(is_number)).then(|| (kind_of(mark), text.replace(mark, "")))
}

/// One mark for all that look the same.
const fn kind_of(mark: char) -> char {
    match mark {
        '\u{a0}' | '\u{202f}' => ' ',
        '\u{2019}' => '\'',
        mark => mark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_three_digits_and_one_mark() {
        for (text, mark, number) in [
            ("1,234", ',', "1234"),
            ("12,345,678.50", ',', "12345678.50"),
            ("-1 234", ' ', "-1234"),
            ("1\u{202f}234\u{202f}567", ' ', "1234567"),
            ("1\u{2019}234", '\'', "1234"),
        ] {
            assert_eq!(ungrouped(text), Some((mark, number.to_owned())), "{text}");
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
            assert_eq!(ungrouped(text), None, "{text}");
        }
    }
}
