//! Converts dates of feeds to the notation of sitemaps.
//!
//! RSS 2.0 uses RFC 822, RSS 1.0 the W3C profile, Atom RFC 3339. An ambiguous or invalid text gives no date.

use super::Feed;
use crate::protocol::lastmod::{self, Faults};

/// A feed's date, converted to the protocol's notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FeedDate {
    /// The date; `None` if it is ambiguous or invalid.
    pub value: Option<String>,
    /// Whether it has the notation that the feed format requires.
    pub is_valid: bool,
}

/// All faults, for a repair that does not change the meaning of the date.
const ALL_FAULTS: Faults = Faults::all();

/// Reads the trimmed text of a date element called `name`.
pub(super) fn read(feed: Feed, name: &[u8], text: &str) -> FeedDate {
    let faults = lastmod::validate(text).faults;
    let is_rfc822 = faults.contains(Faults::RFC822);
    let is_valid = match name {
        b"pubDate" if feed == Feed::Rss => {
            is_rfc822 && !faults.intersects(Faults::IMPOSSIBLE.union(Faults::NO_TIMEZONE))
        }
        _ if feed.is_atom() => is_rfc3339(text, faults),
        _ => {
            !is_rfc822
                && faults.difference(Faults::FRACTION.union(Faults::REDUCED).union(Faults::NO_SECONDS)).is_empty()
        }
    };
    FeedDate { value: converted(text, faults), is_valid }
}

/// RFC 3339, section 5.6: date, `T`, time with seconds, zone; a fraction is optional.
fn is_rfc3339(text: &str, faults: Faults) -> bool {
    text.get(10..11).is_some_and(|between| between.eq_ignore_ascii_case("t"))
        && faults.difference(Faults::FRACTION.union(Faults::LOWERCASE)).is_empty()
}

fn converted(text: &str, faults: Faults) -> Option<String> {
    if faults.is_empty() {
        return Some(text.to_owned());
    }
    let is_possible =
        |text: &String| !lastmod::validate(text).faults.intersects(Faults::INVALID.union(Faults::IMPOSSIBLE));
    if let Some(repaired) = lastmod::repair(text, ALL_FAULTS).filter(is_possible)
        && !lastmod::validate(&repaired).faults.intersects(Faults::NO_TIMEZONE.union(Faults::RFC822))
    {
        return Some(repaired);
    }
    if faults.contains(Faults::NO_TIMEZONE) {
        // Without a zone only the day is certain.
        return day(text);
    }
    if faults.contains(Faults::RFC822) && faults.contains(Faults::IMPOSSIBLE) {
        // Programs often write a wrong weekday; only the date counts.
        let (_, rest) = text.split_once(',')?;
        let rest = rest.trim();
        let faults = lastmod::validate(rest).faults;
        return (!faults.contains(Faults::IMPOSSIBLE)).then(|| converted(rest, faults)).flatten();
    }
    // A year, or a year and a month, is valid in the W3C profile; a rule for sitemaps reports it.
    faults.difference(Faults::REDUCED).is_empty().then(|| text.to_owned())
}

/// The day of a date whose zone is missing.
fn day(text: &str) -> Option<String> {
    let (_, guess) = lastmod::suggest(text)?;
    guess.get(..10).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_feeds_become_dates_of_sitemaps() {
        let table = [
            (Feed::Rss, "pubDate", "Mon, 27 Aug 2001 16:08:56 PST", Some("2001-08-27T16:08:56-08:00"), true),
            (Feed::Rss, "pubDate", "Sun, 20 Mar 2016 19:10:54 -0700", Some("2016-03-20T19:10:54-07:00"), true),
            (Feed::Rss, "pubDate", "Mon, 20 Mar 2016 19:10:54 GMT", Some("2016-03-20T19:10:54Z"), false),
            (Feed::Rss, "pubDate", "Sun, 20 Mar 2016 19:10:54", Some("2016-03-20"), false),
            (Feed::Rss, "pubDate", "2016-03-20T19:10:54Z", Some("2016-03-20T19:10:54Z"), false),
            (Feed::Rss, "pubDate", "yesterday", None, false),
            (Feed::Rss, "pubDate", "", None, false),
            (Feed::Rss, "date", "2016-03-20T19:10:54Z", Some("2016-03-20T19:10:54Z"), true),
            (Feed::Rdf, "date", "2016-03", Some("2016-03"), true),
            (Feed::Rdf, "date", "2016-03-20T19:10Z", Some("2016-03-20T19:10:00Z"), true),
            (Feed::Atom, "updated", "2020-12-25T23:12:12.5+00:00", Some("2020-12-25T23:12:12.5+00:00"), true),
            (Feed::Atom, "updated", "2020-12-25", Some("2020-12-25"), false),
            (Feed::Atom03, "modified", "Sun, 20 Mar 2016 19:10:54 GMT", Some("2016-03-20T19:10:54Z"), false),
            (Feed::Atom03, "modified", "2016-03-20T19:10:54", Some("2016-03-20"), false),
        ];
        for (feed, name, text, value, is_valid) in table {
            let expected = FeedDate { value: value.map(str::to_owned), is_valid };
            assert_eq!(read(feed, name.as_bytes(), text), expected, "{feed:?} {name} {text}");
        }
    }
}
