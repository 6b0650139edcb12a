//! Rules about an index and the children that it names. Pure: what became of each child is handed in.
//!
//! Sources: rule catalogue, section 8; Google Search Central, large sitemaps; Search Console errors.

use super::rule::Rule;
use crate::document::sitemap::{ChildState, Index};
use crate::protocol::location::{self, Home};
use crate::protocol::{Field, lastmod};
use crate::xml::entry::Entry;
use std::collections::HashSet;

/// Something to say about one child, or about the index (`child` is `None`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFinding {
    /// Which rule.
    pub rule: Rule,
    /// Which entry of the index.
    pub child: Option<usize>,
    /// Which value.
    pub field: Option<Field>,
    /// What is wrong with it.
    pub message: String,
}

/// What the rules need to know beside the index itself.
#[derive(Debug, Clone, Copy)]
pub struct IndexFacts<'f> {
    /// Public URL of the index, when known.
    pub home: Option<&'f Home>,
    /// Newest lastmod (seconds since 1970) of each sitemap, by its id.
    pub newest: &'f [Option<i64>],
}

/// Checks all children. What [`super::entry`] says of each as an entry is not repeated here.
pub fn check(index: &Index, facts: &IndexFacts<'_>) -> Vec<IndexFinding> {
    let mut out = Vec::new();
    let common = commonest_origin(index);
    let mut seen: HashSet<&str> = HashSet::new();
    for (number, child) in index.children.iter().enumerate() {
        let mut say = |rule: Rule, field: Option<Field>, message: String| {
            out.push(IndexFinding { rule, child: Some(number), field, message });
        };
        let loc = &*child.loc;
        // Also among children that are not there: the index says it twice all the same.
        let repeats = !loc.is_empty() && !seen.insert(loc);
        if repeats || child.state == ChildState::Repeated {
            say(Rule::INDEX_CHILD_DUPLICATE, Some(Field::Loc), format!("{loc} is listed before"));
        }
        match &child.state {
            ChildState::Loaded(_) | ChildState::NotLoaded | ChildState::Repeated => {}
            // Said once, of the first.
            ChildState::Missing | ChildState::Outside if repeats => {}
            ChildState::Missing => {
                say(Rule::INDEX_CHILD_MISSING, Some(Field::Loc), format!("{loc}: no such file beside the index"));
            }
            ChildState::Outside => say(
                Rule::INDEX_CHILD_MISSING,
                Some(Field::Loc),
                format!("{loc}: its path leads out of the index's folder, so it was not looked for"),
            ),
            ChildState::Unreadable(why) => say(Rule::INDEX_CHILD_MISSING, Some(Field::Loc), format!("{loc}: {why}")),
            ChildState::Nested => {
                say(
                    Rule::INDEX_NESTED,
                    Some(Field::Loc),
                    format!("{loc} is an index itself; an index lists sitemaps only"),
                );
            }
            ChildState::Itself => say(Rule::INDEX_SELF, Some(Field::Loc), format!("{loc} is this index itself")),
        }
        // With a known URL of the index the entry rules judge host and path; without one, the others do.
        let origin = location::origin(loc).map(|(origin, _)| origin);
        if let (None, Some(origin), Some(common)) = (facts.home, origin, common)
            && !origin.eq_ignore_ascii_case(common)
        {
            say(Rule::INDEX_CHILD_HOST, Some(Field::Loc), format!("{origin}: the other children are on {common}"));
        }
        let text = index.source.entry_text(number);
        let entry = Entry::of(text, &index.source.names);
        if let (ChildState::Loaded(id), Some(said)) = (&child.state, entry.value(Field::Lastmod, text))
            && let Some(instant) = lastmod::judge(&said).instant
            && let Some(Some(newest)) = facts.newest.get(id.index())
        {
            // A date covers its whole day, month or year.
            let covers = match instant.precision {
                lastmod::Precision::Year => 366 * 86_400,
                lastmod::Precision::Month => 31 * 86_400,
                lastmod::Precision::Day => 86_399,
                _ => 0,
            };
            if instant.seconds + covers < *newest {
                let message = format!("{said} is older than the newest lastmod inside {loc}");
                say(Rule::INDEX_LASTMOD_OLDER, Some(Field::Lastmod), message);
            }
        }
    }
    if index.children.len() == 1 {
        let message = "an index with one child: the sitemap alone would do".into();
        out.push(IndexFinding { rule: Rule::INDEX_SINGLE, child: None, field: None, message });
    }
    out
}

/// The scheme and host that most children share; `None` without children.
fn commonest_origin(index: &Index) -> Option<&str> {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for (origin, _) in index.children.iter().filter_map(|child| location::origin(&child.loc)) {
        let known = counts.iter().position(|(known, _)| known.eq_ignore_ascii_case(origin));
        if let Some((_, count)) = known.and_then(|at| counts.get_mut(at)) {
            *count += 1;
        } else if counts.len() < 64 {
            counts.push((origin, 1));
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(origin, _)| origin)
}
