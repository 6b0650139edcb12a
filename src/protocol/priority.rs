//! `priority`: validation, repair and steps of a decimal from 0.0 to 1.0, in hundredths.
//!
//! A valid value keeps its decimals; only [`suggest`] rounds.

use super::InputError;
use bitflags::bitflags;

/// The priority of an entry that has none (sitemaps.org protocol, XML tag definitions, "priority").
pub(crate) const DEFAULT_HUNDREDTHS: u8 = 50;

bitflags! {
    /// The faults of a `priority`, as a bit set.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(crate) struct Faults: u8 {
        /// Not a decimal number.
        const INVALID = 1;
        /// A comma instead of the point.
        const COMMA = 1 << 1;
        /// Below 0.0 or above 1.0.
        const RANGE = 1 << 2;
        /// Valid, but in an unusual format: `.5`, `1.`, `+0.5`, `-0`, `00.5`, `0.50000`.
        const FORM = 1 << 3;
        /// More than two significant decimals.
        const PRECISION = 1 << 4;
    }
}

impl Faults {
    /// Number of faults, which are the bits from 0 on.
    pub(crate) const COUNT: u32 = Self::all().bits().count_ones();

    /// The fault with the number of a bit.
    pub(crate) const fn from_index(number: usize) -> Self {
        Self::from_bits_truncate(1 << number)
    }
}

/// The parsed `priority` and its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Validation {
    /// 0 to 100, rounded; `None` if the text is not a number in range.
    pub hundredths: Option<u8>,
    /// Its faults.
    pub faults: Faults,
}

/// The hundredths of a value with one decimal, as nearly every real value has.
pub(crate) const fn parse_tenths(text: &[u8]) -> Option<u8> {
    match *text {
        [b'0', b'.', tenth @ b'0'..=b'9'] => Some((tenth - b'0') * 10),
        [b'1', b'.', b'0'] => Some(100),
        _ => None,
    }
}

/// The hundredths of a text in which [`validate`] finds no fault; `None` for any other text.
pub(crate) fn parse_strict(text: &[u8]) -> Option<u8> {
    parse_tenths(text).or_else(|| {
        let validated = validate(std::str::from_utf8(text).ok()?);
        validated.hundredths.filter(|_| validated.faults.is_empty())
    })
}

/// Validates a decoded `priority` without surrounding white space.
///
/// A decimal as in XML Schema (part 2, section 3.2.3) from 0.0 to 1.0 (sitemap.xsd 0.9, `tPriority`).
pub(crate) fn validate(text: &str) -> Validation {
    if let hundredths @ Some(_) = parse_tenths(text.as_bytes()) {
        return Validation { hundredths, faults: Faults::empty() };
    }
    let Some(decimal) = Decimal::read(text) else {
        return Validation { hundredths: None, faults: Faults::INVALID };
    };
    let mut faults = Faults::empty();
    if decimal.comma {
        faults.insert(Faults::COMMA);
    }
    if decimal.is_unusual() {
        faults.insert(Faults::FORM);
    }
    if decimal.significant().len() > 2 {
        faults.insert(Faults::PRECISION);
    }
    if !decimal.in_range() {
        faults.insert(Faults::RANGE);
        return Validation { hundredths: None, faults };
    }
    Validation { hundredths: Some(decimal.hundredths()), faults }
}

/// The text without these faults; `None` if that needs a decision.
///
/// Repairs a comma and an unusual format (rule catalogue section 5.4), which keeps the number.
pub(crate) fn repair(text: &str, faults: Faults) -> Option<String> {
    let decimal = Decimal::read(text)?;
    let comma = decimal.comma && faults.contains(Faults::COMMA);
    let form = decimal.is_unusual() && faults.contains(Faults::FORM);
    if !comma && !form {
        return None;
    }
    // A comma and an unusual format are always repaired together.
    Some(decimal.shortest())
}

/// The assumption and the value of a likely reading, for a text that cannot be repaired without a decision.
pub(crate) fn suggest(text: &str) -> Option<(&'static str, String)> {
    if let Some(percent) = text.strip_suffix('%') {
        let number: u8 = percent.trim().parse().ok().filter(|number| *number <= 100)?;
        return Some(("read as a percentage", shorten(number)));
    }
    let decimal = Decimal::read(text)?;
    if !decimal.in_range() {
        let bare = decimal.fraction.is_empty() && !decimal.negative;
        return match text.trim_start_matches('+').trim_end_matches('.').parse::<u8>() {
            Ok(number @ 2..=10) if bare => Some(("read as tenths", shorten(number * 10))),
            Ok(number @ 11..=100) if bare => Some(("read as a percentage", shorten(number))),
            _ if decimal.negative => Some(("raise to 0.0", "0.0".to_owned())),
            _ => Some(("lower to 1.0", "1.0".to_owned())),
        };
    }
    let rounded = decimal.significant().len() > 2;
    rounded.then(|| ("round to two decimals", shorten(decimal.hundredths())))
}

/// Changes a priority by tenths, starting from the default of the protocol if there is no valid one.
///
/// Stays within 0.0 to 1.0 and keeps the number of decimals if they are enough for the result.
pub(crate) fn nudge(text: Option<&str>, tenths: i8) -> String {
    add_hundredths(text.unwrap_or_default(), i64::from(tenths) * 10)
}

/// The new value that a user typed; `Ok(None)` removes the element.
///
/// Accepts `none`, a step such as `+0.1` or `-0.2` from the current value (from the default of the protocol if there is
/// none), or any text, which is kept as typed.
///
/// # Errors
/// A step from a value that is not a priority.
pub(crate) fn parse_input(typed: &str, current: Option<&str>) -> Result<Option<String>, InputError> {
    let typed = typed.trim();
    if typed.is_empty() || typed.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    let step = Decimal::read(typed).filter(|step| typed.starts_with(['+', '-']) && !step.comma);
    let Some(step) = step else { return Ok(Some(typed.to_owned())) };
    let current = current.map(str::trim).unwrap_or_default();
    if !current.is_empty() && validate(current).hundredths.is_none() {
        return Err(InputError::new(format!("{current} is not a priority to count from")));
    }
    if step.significant().len() > 2 {
        return Err(InputError::new(format!("{typed}: steps are in hundredths")));
    }
    let size = if step.in_magnitude() { i64::from(step.hundredths()) } else { 100 };
    Ok(Some(add_hundredths(current, if step.negative { -size } else { size })))
}

/// Adds hundredths to a number in range and writes it with the decimals it had, or more if needed.
fn add_hundredths(text: &str, hundredths: i64) -> String {
    let decimal = Decimal::read(text).filter(Decimal::in_range);
    // More than nine decimals are not kept.
    let written = decimal.map_or(1, |decimal| decimal.fraction.len().min(9));
    let units = 10_i64.pow(9);
    let old = decimal.map_or(i64::from(DEFAULT_HUNDREDTHS) * units / 100, |decimal| decimal.billionths());
    let new = (old + hundredths * units / 100).clamp(0, units);
    let digits = format!("{}.{:09}", new / units, new % units);
    let needed = digits.trim_end_matches('0').len();
    digits.get(..needed.max(2 + written)).map_or(String::new(), |text| text.trim_end_matches('.').to_owned())
}

/// Hundredths with one decimal, or with two if needed.
fn shorten(hundredths: u8) -> String {
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    if rest % 10 == 0 { format!("{whole}.{}", rest / 10) } else { format!("{whole}.{rest:02}") }
}

/// The parts of a decimal number.
#[derive(Clone, Copy)]
struct Decimal<'t> {
    plus: bool,
    negative: bool,
    whole: &'t str,
    point: bool,
    comma: bool,
    fraction: &'t str,
}

impl<'t> Decimal<'t> {
    /// `[+-]digits[.digits]`, digits on at least one side of the point; a comma counts as a point.
    fn read(text: &'t str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let mark = unsigned.find(['.', ',']);
        let (whole, fraction) = match mark {
            Some(at) => (unsigned.get(..at)?, unsigned.get(at + 1..)?),
            None => (unsigned, ""),
        };
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let any = !whole.is_empty() || !fraction.is_empty();
        (any && digits(whole) && digits(fraction)).then_some(Self {
            plus: text.starts_with('+'),
            negative: text.starts_with('-'),
            whole,
            point: mark.is_some(),
            comma: mark.is_some_and(|at| unsigned.as_bytes().get(at) == Some(&b',')),
            fraction,
        })
    }

    /// The digits before the point without leading zeros.
    fn units(&self) -> &'t str {
        self.whole.trim_start_matches('0')
    }

    /// The digits after the point without trailing zeros.
    fn significant(&self) -> &'t str {
        self.fraction.trim_end_matches('0')
    }

    fn is_zero(&self) -> bool {
        self.units().is_empty() && self.significant().is_empty()
    }

    /// Whether the number without its sign is from 0 to 1.
    fn in_magnitude(&self) -> bool {
        self.units().is_empty() || (self.units() == "1" && self.significant().is_empty())
    }

    fn in_range(&self) -> bool {
        self.in_magnitude() && (!self.negative || self.is_zero())
    }

    fn is_unusual(&self) -> bool {
        let padded = self.whole.len() > 1 && self.whole.starts_with('0');
        let trailing = self.fraction.len() > 2 && self.fraction.ends_with('0');
        let bare = self.whole.is_empty() || (self.point && self.fraction.is_empty());
        self.plus || padded || trailing || bare || (self.negative && self.is_zero())
    }

    /// In billionths, cut after nine decimals; only for a number in range.
    fn billionths(&self) -> i64 {
        let whole = i64::from(!self.units().is_empty());
        let digits = self.fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
        whole * 1_000_000_000 + digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
    }

    /// Rounded, without the sign; only for a magnitude up to 1.
    fn hundredths(&self) -> u8 {
        ((self.billionths() + 5_000_000) / 10_000_000) as u8
    }

    /// The number with a point, no plus, no redundant zeros, and at least one decimal.
    fn shortest(&self) -> String {
        let sign = if self.negative && !self.is_zero() { "-" } else { "" };
        let whole = if self.units().is_empty() { "0" } else { self.units() };
        let fraction = if self.significant().is_empty() { "0" } else { self.significant() };
        format!("{sign}{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: Faults = Faults::empty();

    #[test]
    fn validations() {
        let (invalid, comma, range) = (Faults::INVALID, Faults::COMMA, Faults::RANGE);
        let (form, precision) = (Faults::FORM, Faults::PRECISION);
        let table = [
            ("0.0", Some(0), NONE),
            ("1.0", Some(100), NONE),
            ("0.8", Some(80), NONE),
            ("0", Some(0), NONE),
            ("1", Some(100), NONE),
            ("1.00", Some(100), NONE),
            ("0.50", Some(50), NONE),
            ("0.55", Some(55), NONE),
            ("0.5000", Some(50), form),
            (".5", Some(50), form),
            ("0.", Some(0), form),
            ("1.", Some(100), form),
            ("+0.5", Some(50), form),
            ("-0", Some(0), form),
            ("-0.0", Some(0), form),
            ("00.5", Some(50), form),
            ("0.555", Some(56), precision),
            ("0.999", Some(100), precision),
            ("0.1230", Some(12), form | precision),
            ("-0.1", None, range),
            ("1.1", None, range),
            ("1.0000001", None, range | precision),
            ("8", None, range),
            ("80", None, range),
            ("99999999999999999999", None, range),
            ("0,5", Some(50), comma),
            ("1,5", None, comma | range),
            (",5", Some(50), comma | form),
            ("5e-1", None, invalid),
            ("NaN", None, invalid),
            ("INF", None, invalid),
            ("", None, invalid),
            (".", None, invalid),
            ("+", None, invalid),
            ("high", None, invalid),
            ("50%", None, invalid),
            ("1/2", None, invalid),
            ("0.5.0", None, invalid),
            ("0. 5", None, invalid),
            ("٠.٥", None, invalid),
        ];
        for (text, hundredths, faults) in table {
            let validated = validate(text);
            assert_eq!((validated.hundredths, validated.faults), (hundredths, faults), "{text:?}");
        }
    }

    #[test]
    fn repairs_and_suggestions() {
        let table = [
            (".5", Some("0.5"), None),
            ("1.", Some("1.0"), None),
            ("+0.5", Some("0.5"), None),
            ("-0", Some("0.0"), None),
            ("00.55", Some("0.55"), None),
            ("0.50000", Some("0.5"), None),
            ("0,5", Some("0.5"), None),
            ("0.1230", Some("0.123"), Some("0.12")),
            ("0.555", None, Some("0.56")),
            ("8", None, Some("0.8")),
            ("80", None, Some("0.8")),
            ("10", None, Some("1.0")),
            ("1.1", None, Some("1.0")),
            ("-0.5", None, Some("0.0")),
            ("50%", None, Some("0.5")),
            ("high", None, None),
            ("0.5", None, None),
        ];
        for (text, repaired, suggested) in table {
            let faults = validate(text).faults;
            assert_eq!(repair(text, faults).as_deref(), repaired, "repair {text:?}");
            assert_eq!(suggest(text).map(|(_, text)| text).as_deref(), suggested, "suggest {text:?}");
        }
    }

    #[test]
    fn nudges() {
        let table = [
            (None, 1, "0.6"),
            (None, -1, "0.4"),
            (Some("0.5"), 1, "0.6"),
            (Some("0.50"), 1, "0.60"),
            (Some("0.55"), -1, "0.45"),
            (Some("0.555"), 1, "0.655"),
            (Some("1"), -1, "0.9"),
            (Some("0.9"), 1, "1.0"),
            (Some("1"), 1, "1"),
            (Some("1.0"), 1, "1.0"),
            (Some("0.05"), -1, "0.00"),
            (Some("0"), 1, "0.1"),
            (Some(".5"), 1, "0.6"),
            (Some("high"), 1, "0.6"),
            (Some("0.1"), -5, "0.0"),
        ];
        for (text, tenths, expected) in table {
            assert_eq!(nudge(text, tenths), expected, "{text:?} {tenths}");
        }
    }

    #[test]
    fn typed_text() {
        let table = [
            ("0.8", Some("0.2"), Ok(Some("0.8"))),
            ("+0.1", Some("0.2"), Ok(Some("0.3"))),
            ("-0.2", None, Ok(Some("0.3"))),
            ("-0.2", Some("0.1"), Ok(Some("0.0"))),
            ("+5", Some("0.1"), Ok(Some("1.0"))),
            ("+0.05", Some("0.1"), Ok(Some("0.15"))),
            ("none", Some("0.1"), Ok(None)),
            ("", Some("0.1"), Ok(None)),
            ("high", Some("0.1"), Ok(Some("high"))),
            ("+0.1", Some("high"), Err("high is not a priority to count from")),
            ("+0.001", Some("0.1"), Err("+0.001: steps are in hundredths")),
        ];
        for (typed, current, expected) in table {
            let result = parse_input(typed, current).map_err(|error| error.to_string());
            assert_eq!(result, expected.map(|text| text.map(str::to_owned)).map_err(str::to_owned), "{typed:?}");
        }
    }

    proptest! {
        #[test]
        fn a_nudge_stays_valid(text in proptest::option::of("[+-]?[01]?[.,]?[0-9]{0,4}"), tenths in -12..12i8) {
            let validated = validate(&nudge(text.as_deref(), tenths));
            prop_assert!(validated.hundredths.is_some());
            prop_assert!(!validated.faults.contains(Faults::INVALID) && !validated.faults.contains(Faults::COMMA));
        }

        #[test]
        fn a_repair_keeps_the_number(text in "[+-]?[0-9]{0,3}[.,]?[0-9]{0,5}") {
            let before = validate(&text);
            if let Some(repaired) = repair(&text, before.faults) {
                let after = validate(&repaired);
                prop_assert_eq!(after.hundredths, before.hundredths);
                prop_assert!(!after.faults.contains(Faults::FORM) && !after.faults.contains(Faults::COMMA));
                prop_assert_eq!(after.faults & !before.faults, Faults::empty());
            }
        }
    }
}
