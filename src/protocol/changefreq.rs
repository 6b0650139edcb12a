//! `changefreq`: its seven values, and the one closest to a misspelt word.
//!
//! The words are case-sensitive (sitemap.xsd 0.9, `tChangeFreq`).

/// How often a page is likely to change (sitemaps.org protocol, XML tag definitions, "changefreq").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Changefreq {
    /// Changes each time it is accessed.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// Archived.
    Never,
}

/// Other words for a frequency, lower case.
const SYNONYMS: [(&str, Changefreq); 34] = [
    ("constantly", Changefreq::Always),
    ("continuous", Changefreq::Always),
    ("continuously", Changefreq::Always),
    ("realtime", Changefreq::Always),
    ("minutely", Changefreq::Always),
    ("hour", Changefreq::Hourly),
    ("hours", Changefreq::Hourly),
    ("every hour", Changefreq::Hourly),
    ("day", Changefreq::Daily),
    ("days", Changefreq::Daily),
    ("dayly", Changefreq::Daily),
    ("nightly", Changefreq::Daily),
    ("every day", Changefreq::Daily),
    ("week", Changefreq::Weekly),
    ("weeks", Changefreq::Weekly),
    ("every week", Changefreq::Weekly),
    ("biweekly", Changefreq::Weekly),
    ("bi-weekly", Changefreq::Weekly),
    ("fortnightly", Changefreq::Weekly),
    ("fortnight", Changefreq::Weekly),
    ("month", Changefreq::Monthly),
    ("months", Changefreq::Monthly),
    ("every month", Changefreq::Monthly),
    ("bimonthly", Changefreq::Monthly),
    ("quarterly", Changefreq::Monthly),
    ("year", Changefreq::Yearly),
    ("years", Changefreq::Yearly),
    ("every year", Changefreq::Yearly),
    ("annual", Changefreq::Yearly),
    ("annually", Changefreq::Yearly),
    ("anually", Changefreq::Yearly),
    ("static", Changefreq::Never),
    ("archived", Changefreq::Never),
    ("once", Changefreq::Never),
];

impl Changefreq {
    /// All seven, from the most frequent to never.
    pub const ALL: [Self; 7] =
        [Self::Always, Self::Hourly, Self::Daily, Self::Weekly, Self::Monthly, Self::Yearly, Self::Never];

    /// The word of the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
            Self::Never => "never",
        }
    }

    /// The letter that users type for it: the first one of the word.
    pub const fn letter(self) -> char {
        match self {
            Self::Always => 'a',
            Self::Hourly => 'h',
            Self::Daily => 'd',
            Self::Weekly => 'w',
            Self::Monthly => 'm',
            Self::Yearly => 'y',
            Self::Never => 'n',
        }
    }

    /// The frequency for a typed letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|frequency| frequency.letter() == letter)
    }

    /// Reads the exact word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_bytes(text.as_bytes())
    }

    /// [`Self::parse`] for bytes.
    pub const fn parse_bytes(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"always" => Self::Always,
            b"hourly" => Self::Hourly,
            b"daily" => Self::Daily,
            b"weekly" => Self::Weekly,
            b"monthly" => Self::Monthly,
            b"yearly" => Self::Yearly,
            b"never" => Self::Never,
            _ => return None,
        })
    }

    /// Reads the word in any case.
    pub fn parse_any_case(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|frequency| text.eq_ignore_ascii_case(frequency.name()))
    }

    /// The next less frequent value; `Never` stays `Never`.
    #[must_use]
    pub fn next(self) -> Self {
        Self::ALL.get(self as usize + 1).copied().unwrap_or(self)
    }

    /// The next more frequent value; `Always` stays `Always`.
    #[must_use]
    pub fn previous(self) -> Self {
        (self as usize).checked_sub(1).and_then(|at| Self::ALL.get(at)).copied().unwrap_or(self)
    }
}

/// The value that was probably meant by a word in another case, a synonym or a misspelling.
pub(crate) fn nearest(text: &str) -> Option<Changefreq> {
    let lower = text.trim().to_lowercase();
    if let Some(exact) = Changefreq::parse(&lower) {
        return Some(exact);
    }
    if let Some((_, intended)) = SYNONYMS.iter().find(|(word, _)| *word == lower) {
        return Some(*intended);
    }
    if lower.len() > MAX_WORD_BYTES {
        return None;
    }
    let distances = Changefreq::ALL.into_iter().filter_map(|word| Some((distance(&lower, word.name())?, word)));
    distances.min_by_key(|&(distance, _)| distance).map(|(_, intended)| intended)
}

/// The first value whose word starts with a text, in any case; `None` for an empty text.
pub(crate) fn complete(typed: &str) -> Option<Changefreq> {
    let starts = |name: &str| name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
    Changefreq::ALL.into_iter().find(|frequency| !typed.is_empty() && starts(frequency.name()))
}

/// The new value that a user typed; `None` removes the element.
///
/// Accepts one of the seven words or its letter, `none`, or any text, which is kept as typed.
pub(crate) fn parse_input(typed: &str) -> Option<String> {
    let typed = typed.trim();
    if typed.is_empty() || typed.eq_ignore_ascii_case("none") {
        return None;
    }
    let mut letters = typed.chars();
    let intended = match (letters.next(), letters.next()) {
        (Some(letter), None) => Changefreq::from_letter(letter),
        _ => None,
    };
    Some(match intended {
        Some(intended) => intended.name().to_owned(),
        None => typed.to_owned(),
    })
}

/// Length of the longest word that is compared, in bytes.
const MAX_WORD_BYTES: usize = 12;

/// Maximum distance of a misspelling to the word that was meant.
const MAX_DISTANCE: usize = 2;

/// Levenshtein distance of two words, up to [`MAX_DISTANCE`]. Only the first [`MAX_WORD_BYTES`] characters of the second
/// count.
fn distance(from: &str, to: &str) -> Option<usize> {
    // Without allocation, since a file may have a misspelt word in every entry.
    let mut row: [usize; MAX_WORD_BYTES + 1] = std::array::from_fn(|column| column);
    for (line, letter) in from.chars().enumerate() {
        let (mut diagonal, mut left) = (line, line + 1);
        let [first, ..] = &mut row;
        *first = left;
        let mut least = left;
        for (above, other) in row.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(letter != other);
            left = replaced.min(*above + 1).min(left + 1);
            diagonal = std::mem::replace(above, left);
            least = least.min(left);
        }
        // No later line has a smaller distance than the least of this one.
        if least > MAX_DISTANCE {
            return None;
        }
    }
    row.get(to.chars().take(MAX_WORD_BYTES).count()).copied().filter(|distance| *distance <= MAX_DISTANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_letters_are_parsed_back() {
        for frequency in Changefreq::ALL {
            assert_eq!(Changefreq::parse(frequency.name()), Some(frequency));
            assert_eq!(Changefreq::from_letter(frequency.letter()), Some(frequency));
            assert!(frequency.name().starts_with(frequency.letter()));
        }
    }

    #[test]
    fn only_the_exact_word_is_accepted() {
        for text in ["Daily", "DAILY", " daily ", "", "fortnightly"] {
            assert_eq!(Changefreq::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn neighbours_stop_at_the_ends() {
        assert_eq!(Changefreq::Always.previous(), Changefreq::Always);
        assert_eq!(Changefreq::Always.next(), Changefreq::Hourly);
        assert_eq!(Changefreq::Never.previous(), Changefreq::Yearly);
        assert_eq!(Changefreq::Never.next(), Changefreq::Never);
    }

    #[test]
    fn the_nearest_word() {
        let table = [
            ("DAILY", Some("daily")),
            (" weekly ", Some("weekly")),
            ("day", Some("daily")),
            ("fortnightly", Some("weekly")),
            ("annually", Some("yearly")),
            ("montly", Some("monthly")),
            ("wekly", Some("weekly")),
            ("yearlly", Some("yearly")),
            ("sometimes", None),
            ("0.5", None),
            ("", None),
            ("2024-05-06", None),
        ];
        for (text, expected) in table {
            assert_eq!(nearest(text).map(Changefreq::name), expected, "{text:?}");
        }
    }

    #[test]
    fn typed_text() {
        let table = [("w", Some("weekly")), ("weekly", Some("weekly")), ("none", None), ("", None), ("x", Some("x"))];
        for (typed, expected) in table {
            assert_eq!(parse_input(typed).as_deref(), expected, "{typed:?}");
        }
    }

    #[test]
    fn distances() {
        let table = [
            ("", "abc", None),
            ("", "ab", Some(2)),
            ("abc", "abc", Some(0)),
            ("kitten", "sitting", None),
            ("kitten", "sittin", Some(2)),
            ("xyzdaily", "daily", None),
            ("ä", "a", Some(1)),
        ];
        for (from, to, expected) in table {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }
}
