//! Numbers and counts in words, the same on screen and on the command line.

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
        _ => format!("{:.1} MiB", value / KIB / KIB),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_easily() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (50_000, "50,000"), (1_000_000, "1,000,000")]
        {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(1_204, "row"), "1,204 rows");
        assert_eq!([size(311), size(52_428_800), size(2_048)], ["311 B", "50.0 MiB", "2.0 KiB"]);
    }
}
