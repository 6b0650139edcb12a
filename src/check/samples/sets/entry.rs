//! Samples of the rules about one entry and its dates, frequencies and priorities.

use super::files::{field, file, rows};
use super::{Sample, for_profile};
use crate::check::Profile;
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
        Rule::LOC_MISSING => file("<url><priority>0.4</priority></url>"),
        Rule::LOC_EMPTY => field("<loc/>"),
        Rule::FIELD_DUPLICATE => field("<priority>0.4</priority><priority>0.3</priority>"),
        Rule::FIELD_EMPTY => field("<priority/>"),
        Rule::FIELD_HAS_CHILDREN => field("<priority>0.4<b/></priority>"),
        Rule::FIELD_WHITESPACE => field("<priority> 0.4</priority>"),
        Rule::FIELD_WHITESPACE_STRICT => field("<changefreq> daily</changefreq>"),
        Rule::FIELD_TOO_LONG_YANDEX => {
            for_profile(Profile::Yandex, field(&format!("<priority>0.{}</priority>", "4".repeat(100))))
        }
        Rule::ENTRY_CHILD_ORDER => field("<priority>0.4</priority><lastmod>2026-11-18</lastmod>"),
        Rule::LASTMOD_INVALID => field("<lastmod>05/13/2005</lastmod>"),
        Rule::LASTMOD_IMPOSSIBLE => field("<lastmod>2026-13-01</lastmod>"),
        Rule::LASTMOD_REDUCED_PRECISION => field("<lastmod>2026-11</lastmod>"),
        Rule::LASTMOD_NO_SECONDS => field("<lastmod>2005-05-10T17:33Z</lastmod>"),
        Rule::LASTMOD_NO_TIMEZONE => field("<lastmod>2005-05-10T17:33:30</lastmod>"),
        Rule::LASTMOD_SPACE_SEPARATOR => field("<lastmod>2005-05-10 17:33:30Z</lastmod>"),
        Rule::LASTMOD_OFFSET_FORMAT => field("<lastmod>2005-05-10T17:33:30+0200</lastmod>"),
        Rule::LASTMOD_OFFSET_RANGE => field("<lastmod>2005-05-10T17:33:30+15:00</lastmod>"),
        Rule::LASTMOD_FRACTION => field("<lastmod>2005-05-10T17:33:30.123456Z</lastmod>"),
        Rule::LASTMOD_LOWERCASE => field("<lastmod>2005-05-10t17:33:30z</lastmod>"),
        Rule::LASTMOD_DATE_ZONE => field("<lastmod>2005-05-10Z</lastmod>"),
        Rule::LASTMOD_24_00 => field("<lastmod>2005-05-10T24:00:00Z</lastmod>"),
        Rule::LASTMOD_UNPADDED => field("<lastmod>2005-5-10</lastmod>"),
        Rule::LASTMOD_BASIC_FORMAT => field("<lastmod>20050510</lastmod>"),
        Rule::LASTMOD_RFC822 => field("<lastmod>Tue, 10 May 2005 17:33:30 GMT</lastmod>"),
        Rule::LASTMOD_EPOCH => field("<lastmod>1115746410</lastmod>"),
        Rule::LASTMOD_LOCALE => field("<lastmod>10.05.2005</lastmod>"),
        Rule::LASTMOD_MULTIPLE => field("<lastmod>2005-05-10, 2005-05-11</lastmod>"),
        Rule::LASTMOD_YEAR_RANGE => field("<lastmod>1989-05-10</lastmod>"),
        Rule::LASTMOD_YEAR_RANGE_DIGITS => field("<lastmod>12005-05-10</lastmod>"),
        Rule::LASTMOD_ZERO => field("<lastmod>0000-00-00</lastmod>"),
        Rule::LASTMOD_ZERO_UNIX => field("<lastmod>1970-01-01</lastmod>"),
        Rule::LASTMOD_NEGATIVE_ZERO => field("<lastmod>2005-05-10T17:33:30-00:00</lastmod>"),
        Rule::LASTMOD_FUTURE => field("<lastmod>2027-05-10</lastmod>"),
        Rule::LASTMOD_MISSING => {
            rows(2, |number| if number == 0 { "<lastmod>2026-11-18</lastmod>".to_owned() } else { String::new() })
        }
        Rule::LASTMOD_DATE_ONLY => for_profile(Profile::Bing, field("<lastmod>2026-11-18</lastmod>")),
        Rule::CHANGEFREQ_INVALID => field("<changefreq>fortnightly</changefreq>"),
        Rule::CHANGEFREQ_CASE => field("<changefreq>Daily</changefreq>"),
        Rule::CHANGEFREQ_IGNORED => for_profile(Profile::Google, field("<changefreq>daily</changefreq>")),
        Rule::CHANGEFREQ_LASTMOD_CONFLICT => field("<lastmod>2020-11-18</lastmod><changefreq>daily</changefreq>"),
        Rule::PRIORITY_INVALID => field("<priority>50%</priority>"),
        Rule::PRIORITY_COMMA => field("<priority>0,5</priority>"),
        Rule::PRIORITY_RANGE => field("<priority>8</priority>"),
        Rule::PRIORITY_FORM => field("<priority>.5</priority>"),
        Rule::PRIORITY_PRECISION => field("<priority>0.555</priority>"),
        Rule::PRIORITY_IGNORED => for_profile(Profile::Google, field("<priority>0.4</priority>")),
        _ => return None,
    };
    Some(sample)
}
