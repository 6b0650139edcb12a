//! Validates the language code of an alternate link (`hreflang`).
//!
//! A language (ISO 639-1), optionally a script (ISO 15924) and a country (ISO 3166-1 alpha-2), separated by hyphens; or
//! `x-default` (Google Search Central, "Localized versions of your pages"). Case does not matter; by convention it is
//! as in `zh-Hant-TW`.

use super::codes;

/// The code for readers of all other languages.
pub(crate) const DEFAULT: &str = "x-default";

/// Regions that are not countries: the first two are reserved, `UK` is often written for GB.
const RESERVED: [&str; 3] = ["EU", "UN", "UK"];

/// The faults of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Faults {
    /// There is no language, or something other than a script or country follows it.
    pub is_unknown: bool,
    /// The parts are not separated by hyphens.
    pub has_other_separator: bool,
    /// The region is not a country.
    pub is_reserved: bool,
    /// The case is not the conventional one.
    pub has_unusual_case: bool,
}

/// The parts of a code.
struct Subtags<'t> {
    language: &'t str,
    script: Option<&'t str>,
    region: Option<&'t str>,
}

const fn is_separator(letter: char) -> bool {
    matches!(letter, '-' | '_' | '.' | '/' | ' ' | '\u{2010}'..='\u{2015}')
}

fn parts(code: &str) -> Option<Subtags<'_>> {
    let mut split = code.split(is_separator);
    let language = split.next()?;
    let (second, third) = (split.next(), split.next());
    if split.next().is_some() {
        return None;
    }
    let is_region = |part: &str| part.len() == 2;
    let (script, region) = match (second, third) {
        (Some(region), None) if is_region(region) => (None, Some(region)),
        (script, region) => (script, region),
    };
    Some(Subtags { language, script, region })
}

/// Whether a code means `x-default`, in any case and with any separator.
pub(crate) fn is_default(code: &str) -> bool {
    code.split_once(is_separator)
        .is_some_and(|(head, tail)| head.eq_ignore_ascii_case("x") && tail.eq_ignore_ascii_case("default"))
}

/// Validates a code.
pub(crate) fn validate(code: &str) -> Faults {
    // Fast path for nearly every code.
    if let [b'a'..=b'z', b'a'..=b'z'] = code.as_bytes() {
        return Faults { is_unknown: !codes::is_language(code), ..Faults::default() };
    }
    if code == DEFAULT {
        return Faults::default();
    }
    let unknown = Faults { is_unknown: true, ..Faults::default() };
    if code.eq_ignore_ascii_case(DEFAULT) {
        return Faults { has_unusual_case: true, ..Faults::default() };
    }
    if is_default(code) {
        let has_unusual_case = code.bytes().any(|byte| byte.is_ascii_uppercase());
        return Faults { has_other_separator: true, has_unusual_case, ..Faults::default() };
    }
    let Some(parts) = parts(code) else { return unknown };
    let is_script = |script: &str| script.is_ascii() && codes::is_script(&title_case(script));
    let is_reserved =
        parts.region.is_some_and(|region| RESERVED.iter().any(|known| known.eq_ignore_ascii_case(region)));
    let is_sound = codes::is_language(parts.language)
        && parts.script.is_none_or(is_script)
        && parts.region.is_none_or(|region| is_reserved || codes::is_country(region));
    if !is_sound {
        return unknown;
    }
    let customary = |part: &str, is_right: fn(usize, char) -> bool| {
        part.chars().enumerate().all(|(index, letter)| is_right(index, letter))
    };
    let is_customary = customary(parts.language, |_, letter| letter.is_ascii_lowercase())
        && parts
            .script
            .is_none_or(|script| customary(script, |index, letter| (index == 0) == letter.is_ascii_uppercase()))
        && parts.region.is_none_or(|region| customary(region, |_, letter| letter.is_ascii_uppercase()));
    Faults {
        is_unknown: false,
        has_other_separator: code.contains(|letter| is_separator(letter) && letter != '-'),
        is_reserved,
        has_unusual_case: !is_customary,
    }
}

/// The code with hyphens and in the conventional case; `None` for text that is not a code.
pub(crate) fn customary(code: &str) -> Option<String> {
    if is_default(code) {
        return Some(DEFAULT.to_owned());
    }
    if validate(code).is_unknown {
        return None;
    }
    let parts = parts(code)?;
    let mut out = parts.language.to_ascii_lowercase();
    for part in [parts.script.map(title_case), parts.region.map(str::to_ascii_uppercase)].into_iter().flatten() {
        out.push('-');
        out.push_str(&part);
    }
    Some(out)
}

/// The code with GB instead of UK; `None` for other reserved regions.
pub(crate) fn with_country(code: &str) -> Option<String> {
    let customary = customary(code)?;
    customary.strip_suffix("-UK").map(|rest| format!("{rest}-GB"))
}

fn title_case(part: &str) -> String {
    let mut out = part.to_ascii_lowercase();
    if let Some(first) = out.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_their_faults() {
        let table = [
            ("en", "", "en"),
            ("x-default", "", "x-default"),
            ("X-Default", "case", "x-default"),
            ("de-AT", "", "de-AT"),
            ("zh-Hant", "", "zh-Hant"),
            ("zh-Hant-TW", "", "zh-Hant-TW"),
            ("zh-hant-tw", "case", "zh-Hant-TW"),
            ("EN", "case", "en"),
            ("en-us", "case", "en-US"),
            ("en_US", "separator", "en-US"),
            ("en_us", "separator case", "en-US"),
            ("x_default", "separator", "x-default"),
            ("X_Default", "separator case", "x-default"),
            ("x-defaults", "unknown", ""),
            ("en-UK", "reserved", "en-UK"),
            ("de-eu", "reserved case", "de-EU"),
            ("es-419", "unknown", ""),
            ("eng", "unknown", ""),
            ("us", "unknown", ""),
            ("en-", "unknown", ""),
            ("", "unknown", ""),
            ("zz", "unknown", ""),
            ("en-Latin", "unknown", ""),
            ("en-US-Latn", "unknown", ""),
            ("en-Latn-US-x", "unknown", ""),
            ("ünü", "unknown", ""),
            ("en-ÜB", "unknown", ""),
        ];
        for (code, expected, right) in table {
            let faults = validate(code);
            let named = [
                (faults.is_unknown, "unknown"),
                (faults.has_other_separator, "separator"),
                (faults.is_reserved, "reserved"),
                (faults.has_unusual_case, "case"),
            ];
            let found: Vec<_> = named.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
            assert_eq!(found.join(" "), expected, "{code}");
            assert_eq!(customary(code).unwrap_or_default(), right, "{code}");
        }
        assert_eq!(with_country("en_uk").as_deref(), Some("en-GB"));
        assert_eq!(with_country("de-EU"), None);
    }
}
