//! Suggests the known word closest to a misspelt one, for error messages.
//!
//! Used only for hints, never to choose a command.

/// The candidate nearest to `typed`, if any is near enough for a hint.
///
/// Near enough: a prefix either way, or at most a third of the longer word in edits (insert, delete,
/// replace, swap of neighbours), compared without regard to ASCII case.
pub(crate) fn nearest<'c>(typed: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let typed = typed.to_ascii_lowercase();
    if typed.is_empty() {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let distance = distance(typed.as_bytes(), candidate.as_bytes());
            let longer = typed.len().max(candidate.len());
            let prefix = typed.len() >= 2 && (candidate.starts_with(&typed) || typed.starts_with(candidate));
            (prefix || distance * 3 <= longer).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A list of words such as `a, b or c`.
pub(crate) fn listed<'c>(words: impl IntoIterator<Item = &'c str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Optimal string alignment distance over bytes, three rolling rows.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        let mut left = i + 1;
        row.push(left);
        for (j, &y) in b.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&above, j) + usize::from(x != y)).min(at(&above, j + 1) + 1).min(left + 1);
            let swapped = j > 0 && previous == Some(y) && b.get(j - 1) == Some(&x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
            left = best;
        }
        before = std::mem::replace(&mut above, row);
        previous = Some(x);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let names = ["lastmod", "loc", "changefreq", "priority", "path"];
        let table = [
            ("lastmdo", Some("lastmod")),
            ("lastmodd", Some("lastmod")),
            ("Priority", Some("priority")),
            ("prio", Some("priority")),
            ("pathname", Some("path")),
            ("change", Some("changefreq")),
            ("colour", None),
            ("", None),
        ];
        for (typed, expected) in table {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
    }

    #[test]
    fn distance_counts_edits() {
        let table =
            [("", "", 0), ("a", "", 1), ("", "ab", 2), ("abc", "abd", 1), ("abc", "acb", 1), ("kitten", "sitting", 3)];
        for (a, b, expected) in table {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(listed([]), "");
        assert_eq!(listed(["a"]), "a");
        assert_eq!(listed(["a", "b", "c"]), "a, b or c");
    }
}
