//! Samples of the rules about alternate links between entries.

use super::Sample;
use super::files::{many, page, version, whole};
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let en = ("en", "https://example.com/en");
    let de = ("de", "https://example.com/de");
    let x = ("x-default", "https://example.com/en");
    let sample = match rule {
        Rule::HREFLANG_NO_RETURN => {
            let list = [en, de, x];
            many(&format!("{}{}", version("en", &list), version("de", &[de, ("x-default", "https://example.com/de")])))
        }
        Rule::HREFLANG_TARGET_MISSING => many(&version("en", &[en, de, x])).and("b.xml", whole(&page("b"))),
        Rule::HREFLANG_SET_DIFFERS => {
            let fr = ("fr", "https://example.com/fr");
            let versions =
                [version("en", &[en, de, x]), version("de", &[en, de, x, fr]), version("fr", &[en, de, x, fr])];
            many(&versions.concat())
        }
        Rule::HREFLANG_SELF_MISSING => many(&format!("{}{}", version("en", &[en, de, x]), version("de", &[en, x]))),
        _ => return None,
    };
    Some(sample)
}
