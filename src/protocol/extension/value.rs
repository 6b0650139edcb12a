//! Validates and repairs values of extensions: numbers, dates, codes, flags and texts.
//!
//! Sources: Google Search Central, "Video sitemaps and alternatives" and "News sitemaps"; sitemap-video 1.1,
//! sitemap-news 0.9, sitemap-geo 1.0. Validation never fails; a repaired value is always valid.

use super::codes;
use crate::protocol::lastmod::{self, Faults};

/// Maximum number of images per entry (Google Search Central, "Image sitemaps").
pub(crate) const IMAGES: usize = 1_000;
/// Maximum number of tags per video (sitemap-video 1.1, `tag` maxOccurs).
pub(crate) const VIDEO_TAGS: u16 = 32;
/// Maximum length of a video's title, in characters (sitemap-video 1.1).
pub(crate) const VIDEO_TITLE: usize = 100;
/// Maximum length of a video's description, in characters (sitemap-video 1.1).
pub(crate) const VIDEO_DESCRIPTION: usize = 2_048;
/// Maximum length of a video's category, in characters (sitemap-video 1.1).
pub(crate) const VIDEO_CATEGORY: usize = 256;
/// Maximum length of a video's uploader, in characters (Google Search Central, "Video sitemaps and alternatives").
pub(crate) const VIDEO_UPLOADER: usize = 255;
/// Maximum length of a video, in seconds: eight hours (Google Search Central, "Video sitemaps and alternatives").
pub(crate) const VIDEO_SECONDS: u32 = 28_800;
/// Maximum age of a news entry, in days (Google Search Central, "News sitemaps").
pub(crate) const NEWS_DAYS: i64 = 2;
/// Maximum number of stock tickers of a news entry (sitemap-news 0.9).
pub(crate) const TICKERS: usize = 5;

/// The kind of value that an element or attribute must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No content.
    Empty,
    /// Elements only.
    Elements,
    /// Any text.
    Text,
    /// A URL over http or https.
    Url,
    /// A URL over http, https or ftp.
    Media,
    /// The URL of a video file.
    Content,
    /// At most [`VIDEO_TITLE`] characters.
    VideoTitle,
    /// At most [`VIDEO_DESCRIPTION`] characters.
    VideoDescription,
    /// At most [`VIDEO_CATEGORY`] characters.
    VideoCategory,
    /// At most [`VIDEO_UPLOADER`] characters.
    Uploader,
    /// Seconds from 1 to [`VIDEO_SECONDS`].
    Duration,
    /// A decimal from 0 to 5.
    Rating,
    /// A whole number.
    Count,
    /// A date, or a time with seconds and zone.
    VideoDate,
    /// A date, or a time with zone.
    NewsDate,
    /// `yes` or `no`, in lower case, upper case or capitalised.
    YesNo,
    /// Countries, separated by spaces.
    Countries,
    /// Platforms, separated by single spaces.
    Platforms,
    /// `allow` or `deny`.
    Relationship,
    /// A decimal that is not negative, or empty.
    Price,
    /// Three capitals.
    Currency,
    /// `purchase` or `rent`.
    PriceType,
    /// `sd` or `hd`.
    Resolution,
    /// The type of a recording of a show.
    ShowType,
    /// A whole number from 1.
    ShowNumber,
    /// The authority and type of an identifier.
    IdType,
    /// The name of a publication, without anything in parentheses.
    NewsName,
    /// A language in two or three lower-case letters, `zh-cn` or `zh-tw`.
    NewsLanguage,
    /// `Subscription` or `Registration`.
    Access,
    /// Genres, separated by commas.
    Genres,
    /// Up to five of `EXCHANGE:TICKER`, separated by commas.
    Tickers,
    /// `kml`, `kmz` or `georss`.
    GeoFormat,
    /// Printable ASCII without spaces.
    FileType,
}

const YES_NO: [&str; 6] = ["yes", "Yes", "YES", "no", "No", "NO"];
const GENRES: [&str; 6] = ["PressRelease", "Satire", "Blog", "OpEd", "Opinion", "UserGenerated"];
const SHOWS: [&str; 6] = ["full", "preview", "clip", "interview", "news", "other"];
const IDS: [&str; 6] = ["tms:series", "tms:program", "rovi:series", "rovi:program", "freebase", "url"];
const PLATFORMS: [&str; 3] = ["web", "mobile", "tv"];
/// Codes for Chinese in news sitemaps (Google).
const CHINESE: [&str; 2] = ["zh-cn", "zh-tw"];

/// Faults of a date that these extensions accept.
const HARMLESS: Faults =
    Faults::FRACTION.union(Faults::YEAR_RANGE).union(Faults::UNIX_ZERO).union(Faults::NEGATIVE_ZERO);

impl Kind {
    /// Whether a value is valid. URLs are validated elsewhere and accepted here.
    pub fn accepts(self, value: &str) -> bool {
        let is_number = is_digits(value);
        match self {
            Self::Text | Self::Url | Self::Media | Self::Elements => true,
            Self::Content => !is_page(value) && !is_watch_page(value),
            Self::Empty => value.is_empty(),
            Self::VideoTitle => is_short(value, VIDEO_TITLE),
            Self::VideoDescription => is_short(value, VIDEO_DESCRIPTION),
            Self::VideoCategory => is_short(value, VIDEO_CATEGORY),
            Self::Uploader => is_short(value, VIDEO_UPLOADER),
            Self::Duration => {
                is_number && value.parse::<u32>().is_ok_and(|seconds| (1..=VIDEO_SECONDS).contains(&seconds))
            }
            Self::Rating => decimal(value).is_some_and(|rating| (0.0..=5.0).contains(&rating)),
            // `xsd:nonNegativeInteger` may have a plus sign (XML Schema part 2, section 3.3.20).
            Self::Count => value.strip_prefix('+').map_or(is_number, is_digits),
            Self::ShowNumber => is_number && value.bytes().any(|byte| byte != b'0'),
            Self::VideoDate => date_faults(value, HARMLESS).is_empty(),
            Self::NewsDate => date_faults(value, HARMLESS.union(Faults::NO_SECONDS)).is_empty(),
            Self::YesNo => YES_NO.contains(&value),
            Self::Countries => {
                !value.is_empty()
                    && value
                        .split(' ')
                        .filter(|code| !code.is_empty())
                        .all(|code| codes::is_country(code) && code.bytes().all(|byte| byte.is_ascii_uppercase()))
            }
            Self::Platforms => value.split(' ').all(|platform| PLATFORMS.contains(&platform)),
            Self::Relationship => matches!(value, "allow" | "deny"),
            Self::Price => value.is_empty() || decimal(value).is_some_and(|price| price >= 0.0),
            Self::Currency => value.len() == 3 && value.bytes().all(|byte| byte.is_ascii_uppercase()),
            Self::PriceType => matches!(value, "purchase" | "PURCHASE" | "rent" | "RENT"),
            Self::Resolution => matches!(value, "sd" | "SD" | "hd" | "HD"),
            Self::ShowType => SHOWS.contains(&value),
            Self::IdType => IDS.contains(&value),
            Self::NewsName if value.contains('(') => without_parentheses(value) == value,
            Self::NewsName => value.trim().is_empty() || value.trim() == value,
            Self::NewsLanguage => {
                CHINESE.contains(&value)
                    || (value != "zh"
                        && matches!(value.len(), 2 | 3)
                        && value.bytes().all(|byte| byte.is_ascii_lowercase()))
            }
            Self::Access => matches!(value, "Subscription" | "Registration"),
            Self::Genres => list(value).all(|genre| GENRES.contains(&genre)),
            Self::Tickers => value.is_empty() || (list(value).count() <= TICKERS && list(value).all(is_ticker)),
            Self::GeoFormat => ["kml", "kmz", "georss"].iter().any(|format| format.eq_ignore_ascii_case(value)),
            Self::FileType => !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_graphic()),
        }
    }

    /// The possible values in their usual spelling; empty if there is no fixed list.
    pub const fn choices(self) -> &'static [&'static str] {
        match self {
            Self::YesNo => &["yes", "no"],
            Self::Platforms => &PLATFORMS,
            Self::Relationship => &["allow", "deny"],
            Self::PriceType => &["purchase", "rent"],
            Self::Resolution => &["hd", "sd"],
            Self::ShowType => &SHOWS,
            Self::IdType => &IDS,
            Self::Access => &["Subscription", "Registration"],
            Self::Genres => &GENRES,
            Self::GeoFormat => &["kml", "kmz", "georss"],
            _ => &[],
        }
    }

    /// Whether white space around the value counts as part of it, since the schema does not trim strings.
    pub const fn is_strict(self) -> bool {
        matches!(
            self,
            Self::YesNo
                | Self::Countries
                | Self::Platforms
                | Self::ShowType
                | Self::NewsLanguage
                | Self::Access
                | Self::Genres
                | Self::Tickers
                | Self::GeoFormat
        )
    }

    /// Whether the value is free text, where whitespace does not matter.
    pub const fn is_free(self) -> bool {
        matches!(
            self,
            Self::Text
                | Self::NewsName
                | Self::Empty
                | Self::Elements
                | Self::VideoTitle
                | Self::VideoDescription
                | Self::VideoCategory
                | Self::Uploader
        )
    }

    /// Whether the value is a URL.
    pub const fn is_url(self) -> bool {
        matches!(self, Self::Url | Self::Media | Self::Content)
    }

    /// A valid value with the meaning of an invalid one, and whether the meaning is certain.
    pub fn repair(self, value: &str) -> Option<(String, bool)> {
        let (right, is_safe) = match self {
            Self::YesNo => (yes_or_no(value)?.to_owned(), true),
            Self::Countries => (countries(value), true),
            Self::VideoDate => date(value, HARMLESS)?,
            Self::NewsDate => date(value, HARMLESS.union(Faults::NO_SECONDS))?,
            Self::NewsName => (without_parentheses(value), false),
            Self::NewsLanguage => (language(value), true),
            _ => return None,
        };
        (right != value && self.accepts(&right)).then_some((right, is_safe))
    }

    /// The expected values, as the end of a message that starts with the value.
    pub const fn expectation(self) -> &'static str {
        match self {
            Self::Empty => "it must be empty",
            Self::Elements => "it must contain only elements",
            Self::Text => "any text is valid",
            Self::Url => "write a complete URL",
            Self::Media => "write a URL with http, https or ftp",
            Self::Content => "this looks like a page or a player; write the URL of the video file",
            Self::VideoTitle => "a title has at most 100 characters",
            Self::VideoDescription => "a description has at most 2,048 characters",
            Self::VideoCategory => "a category has at most 256 characters",
            Self::Uploader => "an uploader has at most 255 characters",
            Self::Duration => "write the seconds as a whole number from 1 to 28800",
            Self::Rating => "write a number from 0.0 to 5.0",
            Self::Count => "write a whole number",
            Self::VideoDate => "write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or +hh:mm",
            Self::NewsDate => "write YYYY-MM-DD, or a time with its zone, such as 2026-11-20T10:14Z",
            Self::YesNo => "write yes or no",
            Self::Countries => "write country codes of two capitals, separated by spaces: DE AT CH",
            Self::Platforms => "write web, mobile or tv, separated by spaces",
            Self::Relationship => "write allow or deny",
            Self::Price => "write a decimal number, or leave it empty",
            Self::Currency => "write three capitals, such as EUR",
            Self::PriceType => "write purchase or rent",
            Self::Resolution => "write sd or hd",
            Self::ShowType => "write full, preview, clip, interview, news or other",
            Self::ShowNumber => "write a whole number from 1",
            Self::IdType => "write tms:series, tms:program, rovi:series, rovi:program, freebase or url",
            Self::NewsName => "write the name as on news.google.com, without text in parentheses",
            Self::NewsLanguage => "write two or three lower-case letters, zh-cn or zh-tw",
            Self::Access => "write Subscription or Registration",
            Self::Genres => "write PressRelease, Satire, Blog, OpEd, Opinion or UserGenerated, separated by commas",
            Self::Tickers => "write up to five tickers as EXCHANGE:TICKER, separated by commas",
            Self::GeoFormat => "write kml, kmz or georss",
            Self::FileType => "write one word of printable ASCII",
        }
    }
}

/// Whether ISO 639 has assigned a valid news language.
pub(crate) fn is_assigned(language: &str) -> bool {
    CHINESE.contains(&language) || codes::is_language_of_two_or_three(language)
}

/// The time of a date in seconds since 1970, and its duration in seconds: a day for a date without a time, else 0.
pub(crate) fn moment(value: &str) -> Option<(i64, i64)> {
    let instant = lastmod::validate(value).instant?;
    let lasts = if instant.precision <= lastmod::Precision::Day { 86_400 } else { 0 };
    Some((instant.seconds, lasts))
}

fn is_digits(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_short(value: &str, max_len: usize) -> bool {
    value.len() <= max_len || value.chars().count() <= max_len
}

/// A decimal as the schema writes it: no exponent, no infinity.
fn decimal(value: &str) -> Option<f64> {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    if is_plain { value.parse().ok() } else { None }
}

/// Whether the path of a URL ends like a page or a player (Google Search Central, "Video sitemaps and alternatives").
fn is_page(url: &str) -> bool {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let path = url.get(..end).unwrap_or_default();
    let Some((before, extension)) = path.rsplit_once('.') else { return false };
    // A dot in the host does not start an extension.
    before.matches('/').count() >= 3
        && ["html", "htm", "php", "asp", "aspx", "swf"].iter().any(|page| page.eq_ignore_ascii_case(extension))
}

/// Whether a URL is the page or player of a video on a site that offers no files (`YouTube`, Vimeo, Dailymotion).
fn is_watch_page(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let without = |prefix: &&str| {
        let (start, rest) = host.split_at_checked(prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then_some(rest)
    };
    let host = ["www.", "m."].iter().find_map(without).unwrap_or(host);
    let is = |hosts: &[&str]| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    let begins = |starts: &[&str]| starts.iter().any(|start| path.starts_with(start));
    if is(&["youtube.com", "youtube-nocookie.com"]) {
        begins(&["/watch", "/embed/", "/v/", "/shorts/", "/live/"])
    } else if is(&["youtu.be", "dai.ly"]) {
        path.len() > 1
    } else if is(&["vimeo.com"]) {
        path.len() > 1 && path.bytes().skip(1).all(|byte| byte.is_ascii_digit())
    } else if is(&["player.vimeo.com"]) {
        begins(&["/video/"])
    } else {
        is(&["dailymotion.com"]) && begins(&["/video/", "/embed/"])
    }
}

/// A name without text in parentheses; a name that has no other text is kept.
fn without_parentheses(name: &str) -> String {
    let (mut out, mut rest) = (String::new(), name);
    while let Some((before, behind)) = rest.split_once('(')
        && let Some((_, after)) = behind.split_once(')')
    {
        out.push_str(before.trim_end());
        rest = after;
    }
    out.push_str(rest);
    let out = out.trim();
    if out.is_empty() { name.to_owned() } else { out.to_owned() }
}

fn list(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').enumerate().map(|(index, item)| if index == 0 { item } else { item.trim_start_matches(' ') })
}

fn is_ticker(ticker: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    ticker.split_once(':').is_some_and(|(exchange, symbol)| is_word(exchange) && is_word(symbol))
}

fn date_faults(value: &str, harmless: Faults) -> Faults {
    lastmod::validate(value).faults.difference(harmless)
}

fn date(value: &str, harmless: Faults) -> Option<(String, bool)> {
    let mut right = value.to_owned();
    for fault in date_faults(value, harmless).iter() {
        right = lastmod::repair(&right, fault).unwrap_or(right);
    }
    if date_faults(&right, harmless).is_empty() {
        return Some((right, true));
    }
    lastmod::suggest(value).map(|(_, right)| (right, false))
}

fn yes_or_no(value: &str) -> Option<&'static str> {
    let small = value.to_ascii_lowercase();
    match small.as_str() {
        "yes" | "true" | "1" => Some("yes"),
        "no" | "false" | "0" => Some("no"),
        _ => None,
    }
}

fn countries(value: &str) -> String {
    let codes = value.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';'));
    let codes: Vec<String> = codes.filter(|code| !code.is_empty()).map(str::to_ascii_uppercase).collect();
    codes.join(" ")
}

/// A language in lower case, without region unless it is Chinese.
fn language(value: &str) -> String {
    let small = value.to_ascii_lowercase().replace('_', "-");
    match small.split_once('-') {
        Some((language, _)) if language != "zh" => language.to_owned(),
        _ => small,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_valid_or_invalid() {
        let long = "é".repeat(101);
        let table: &[(Kind, &[&str], &[&str])] = &[
            (Kind::Duration, &["1", "600", "28800", "0600"], &["0", "28801", "", "-1", "1.5", "+5", "10s"]),
            (Kind::Rating, &["0", "5", "5.0", "4.25", "0.0"], &["5.1", "-1", "", ".", "4,5", "1e0", "NaN", "inf"]),
            (Kind::Count, &["0", "12345678901234567890123", "+5"], &["", "-1", "+", "1.0", "many"]),
            (Kind::YesNo, &["yes", "Yes", "YES", "no", "No", "NO"], &["yEs", "true", "1", "", "y"]),
            (Kind::Countries, &["DE", "DE AT", "DE  AT"], &["", "de", "DE,AT", "UK", "DEU", "DE\tAT"]),
            (Kind::Platforms, &["web", "web mobile tv"], &["", "Web", "web,tv", "web  tv", "desktop"]),
            (Kind::Relationship, &["allow", "deny"], &["", "Allow", "block"]),
            (
                Kind::VideoDate,
                &["2026-11-20", "2026-11-20T10:14:07+01:00", "2026-11-20T10:14:07.5Z"],
                &["2026-11-20T10:14Z", "2026-11-20T10:14:07", "2026-11", "2026", "", "tomorrow"],
            ),
            (
                Kind::NewsDate,
                &["2026-11-20", "2026-11-20T10:14+01:00", "2026-11-20T10:14:07.55Z"],
                &["2026-11-20T10:14", "2026", ""],
            ),
            (Kind::NewsLanguage, &["en", "deu", "zh-cn", "zh-tw"], &["EN", "en-US", "zh-hk", "", "e", "engl"]),
            (Kind::Price, &["", "1", "1.99", "0"], &["-1", "1,99", "free"]),
            (Kind::Currency, &["EUR"], &["eur", "EURO", "€"]),
            (Kind::PriceType, &["rent", "PURCHASE"], &["", "Rent", "buy"]),
            (Kind::Resolution, &["sd", "HD"], &["4k"]),
            (Kind::ShowType, &["full", "other"], &["", "Full", "movie"]),
            (Kind::ShowNumber, &["1", "010"], &["0", "", "-1", "one"]),
            (Kind::IdType, &["tms:series", "url"], &["", "imdb"]),
            (Kind::Access, &["Subscription"], &["", "subscription", "free"]),
            (Kind::Genres, &["Blog", "Blog,OpEd", "Blog,  OpEd"], &["", "blog", "Blog ,OpEd", "Blog OpEd", "News"]),
            (Kind::Tickers, &["", "NASDAQ:A", "NASDAQ:A, BSE:500325"], &["A", "A:B,A:B,A:B,A:B,A:B,A:B", "A:B:C"]),
            (Kind::GeoFormat, &["kml", "KMZ", "GeoRSS"], &["", "gpx"]),
            (Kind::FileType, &["archive", "c++"], &["", "a b", "é"]),
            (
                Kind::Content,
                &["https://example.com/a.mp4", "https://example.asp", "https://a.com/b.php/c.mp4"],
                &[
                    "https://example.com/a.html",
                    "https://example.com/watch.PHP?v=1",
                    "https://example.com/player.swf#x",
                ],
            ),
            (Kind::VideoTitle, &["", &long[..200]], &[&long]),
            (Kind::Empty, &[""], &["x"]),
        ];
        for (kind, right, wrong) in table {
            for value in *right {
                assert!(kind.accepts(value), "{kind:?} {value:?}");
            }
            for value in *wrong {
                assert!(!kind.accepts(value), "{kind:?} {value:?}");
            }
        }
    }

    #[test]
    fn repairs_keep_the_meaning() {
        let table = [
            (Kind::YesNo, "true", Some(("yes", true))),
            (Kind::YesNo, "yEs", Some(("yes", true))),
            (Kind::YesNo, "0", Some(("no", true))),
            (Kind::YesNo, "maybe", None),
            (Kind::Countries, "de, at;ch", Some(("DE AT CH", true))),
            (Kind::Countries, "UK", None),
            (Kind::NewsLanguage, "EN", Some(("en", true))),
            (Kind::NewsLanguage, "en-US", Some(("en", true))),
            (Kind::NewsLanguage, "zh_CN", Some(("zh-cn", true))),
            (Kind::NewsLanguage, "zh-HK", None),
            (Kind::NewsLanguage, "English", None),
            (Kind::VideoDate, "2026-11-20T10:14Z", Some(("2026-11-20T10:14:00Z", true))),
            (Kind::VideoDate, "2026-11-20 10:14Z", Some(("2026-11-20T10:14:00Z", true))),
            (Kind::VideoDate, "2026-11-20T10:14:07", Some(("2026-11-20T10:14:07Z", false))),
            (Kind::VideoDate, "2026-11", None),
            (Kind::NewsDate, "2026-11-20 10:14Z", Some(("2026-11-20T10:14Z", true))),
            (Kind::Rating, "6", None),
        ];
        for (kind, value, expected) in table {
            let repaired = kind.repair(value);
            assert_eq!(
                repaired.as_ref().map(|(right, is_safe)| (right.as_str(), *is_safe)),
                expected,
                "{kind:?} {value}"
            );
        }
    }

    #[test]
    fn languages_are_assigned_or_not() {
        for (language, expected) in [("en", true), ("deu", true), ("zh-tw", true), ("xx", false), ("zzz", false)] {
            assert_eq!(is_assigned(language), expected, "{language}");
        }
    }
}
