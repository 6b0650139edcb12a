//! One pass over a query that decides what must be examined in it: nothing, if its parameters are in order and have unknown
//! names.

use super::params;
use super::parts::Location;

/// Facts about the parameters of a query. Like a class of characters, a fact never decides that something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QuerySurvey {
    /// Whether [`params`] may know the name of a parameter.
    pub(super) has_known_name: bool,
    /// Whether the parameters are separated by `&`, not empty, and in ascending order.
    pub(super) is_ordered: bool,
}

impl QuerySurvey {
    /// That of a URL without a query.
    pub(super) const NONE: Self = Self { has_known_name: false, is_ordered: true };

    /// Surveys the query of a URL; [`Self::NONE`] without one.
    #[inline]
    pub(super) fn of_url(location: &Location<'_>) -> Self {
        location.query().map_or(Self::NONE, |query| Self::of(query.as_bytes()))
    }

    /// Surveys a query without its `?`.
    pub(super) fn of(query: &[u8]) -> Self {
        let (mut survey, mut rest, mut last) = (Self::NONE, query, &b""[..]);
        loop {
            // Plain loops are fastest, since parameters are short.
            let end = rest.iter().position(|byte| matches!(byte, b'&' | b';')).unwrap_or(rest.len());
            let (parameter, behind) = rest.split_at_checked(end).unwrap_or((rest, b""));
            let name_len = parameter.iter().position(|byte| *byte == b'=').unwrap_or(end);
            survey.has_known_name |= params::may_be_known(parameter.get(..name_len).unwrap_or_default());
            // A comparison of slices calls `memcmp`, whose wide loads wait for bytes that were just written.
            survey.is_ordered &= !parameter.is_empty() && last.iter().le(parameter);
            let Some((separator, behind)) = behind.split_first() else { return survey };
            survey.is_ordered &= *separator == b'&';
            (rest, last) = (behind, parameter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_and_the_order_are_found() {
        for (query, has_known_name, is_ordered) in [
            ("a=1&b=2", false, true),
            ("a=1&a=1", false, true),
            ("a=1&a=10", false, true),
            ("a=2&a=10", false, false),
            ("b=2&a=1", false, false),
            ("a=1;b=2", false, false),
            ("", false, false),
            ("&a", false, false),
            ("a&&b", false, false),
            ("a&", false, false),
            ("page", false, true),
            ("page=utm_source", false, true),
            ("a=1&utm_source=x", true, true),
            ("a=1;sid=7", true, false),
            ("gclid", true, true),
        ] {
            assert_eq!(QuerySurvey::of(query.as_bytes()), QuerySurvey { has_known_name, is_ordered }, "{query}");
        }
    }
}
