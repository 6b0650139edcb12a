//! Rules about a sitemap index and its children. Pure: the state of each child is passed in.
//!
//! Sources: rule catalogue, section 8; Google Search Central, large sitemaps; Search Console errors.

use super::finding::{Finding, FindingTarget, Position};
use super::rule::{Profile, Rule};
use crate::document::index::{Child, ChildState, Index, Nested, leaf_children};
use crate::protocol::location::{self, UrlPrefix};
use crate::protocol::{Field, lastmod};
use crate::words::counted;
use crate::xml::entry::Entry;
use std::collections::HashSet;

/// Input of the index rules beside the index itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexFacts<'f> {
    /// Rules that it leaves out have no findings.
    pub profile: Profile,
    /// Public URL of the index, when known.
    pub url_prefix: Option<&'f UrlPrefix>,
    /// Newest lastmod (seconds since 1970) of each sitemap, by its id.
    pub newest: &'f [Option<i64>],
    /// Entries of each sitemap, by its id.
    pub entries: &'f [u32],
    /// Entries of each sitemap that have no readable lastmod, by its id.
    pub undated: &'f [u32],
    /// Entries whose sitemaps the next save takes away, because they lost their last row.
    pub leaving: usize,
}

/// Index files per site (Google Search Central, "Manage your sitemaps with a sitemap index file").
const INDEXES_PER_SITE: usize = 500;

/// Spellings of origins that are counted when the most common one is determined.
const FEW_ORIGINS: usize = 64;

/// Checks all children, finding by finding: a hostile index has more findings than memory holds. What [`super::entry`]
/// reports of each as an entry is not repeated.
pub(crate) fn each(index: &Index, facts: &IndexFacts<'_>, see: &mut dyn FnMut(Finding)) {
    let common = commonest_origin(index);
    let common_home = common.and_then(UrlPrefix::parse);
    let mut seen: HashSet<&str> = HashSet::new();
    // Children with a date, and those whose date is that of their newest page.
    let (mut dated, mut dated_by_pages) = (0_u32, 0_u32);
    // Entries of those that no such date covers.
    let mut undated = 0;
    for (number, child) in index.children.iter().enumerate() {
        let mut say = |rule: Rule, field: Option<Field>, message: String| {
            of_child(rule, facts.profile, (number, field), message).into_iter().for_each(&mut *see);
        };
        let loc = &*child.loc;
        // Also among children that are not there: the index says it twice all the same.
        let repeats = !loc.is_empty() && !seen.insert(loc);
        if repeats || child.state == ChildState::Repeated {
            say(Rule::INDEX_CHILD_DUPLICATE, Some(Field::Loc), format!("{loc} is already listed"));
        }
        match &child.state {
            // Of what was not looked for, no one knows that it is missing.
            ChildState::Loaded(_)
            | ChildState::NotLoaded
            | ChildState::Repeated
            | ChildState::Listed
            | ChildState::Elsewhere(_) => {}
            // Said once, of the first.
            ChildState::Missing | ChildState::Outside if repeats => {}
            // An entry without a URL names no file: that it has none is reported of the entry.
            ChildState::Missing | ChildState::Outside if loc.is_empty() => {}
            ChildState::Missing | ChildState::Outside | ChildState::Unreadable(_) | ChildState::Denied(_) => {
                let why = child.state.why_unread().unwrap_or_default();
                say(Rule::INDEX_CHILD_MISSING, Some(Field::Loc), format!("{loc}: {why}"));
            }
            ChildState::Nested(nested) if nested.loops() => {
                let message = format!("{loc} is an index that lists an index above it{}", nested_count(nested));
                say(Rule::INDEX_CYCLE, Some(Field::Loc), message);
            }
            ChildState::Nested(nested) => {
                let message = format!("{loc} is an index itself; an index lists sitemaps only{}", nested_count(nested));
                say(Rule::INDEX_NESTED, Some(Field::Loc), message);
            }
            ChildState::Cycle => {
                say(Rule::INDEX_CYCLE, Some(Field::Loc), format!("{loc} is an index that lists this one again"));
            }
            ChildState::Itself => say(Rule::INDEX_SELF, Some(Field::Loc), format!("{loc} is this index itself")),
        }
        if let ChildState::Nested(nested) = &child.state {
            missing_inside(nested, facts.profile, number, loc).into_iter().for_each(&mut *see);
        }
        if let ChildState::Loaded(id) = child.state {
            let entries = facts.entries.get(id.index()).copied().unwrap_or(1);
            empty_child(index, facts.profile, number, entries).into_iter().for_each(&mut *see);
        }
        let mut say = |rule: Rule, field: Option<Field>, message: String| {
            of_child(rule, facts.profile, (number, field), message).into_iter().for_each(&mut *see);
        };
        // With a known URL of the index the entry rules check host and path; without one, the others do.
        let origin = location::origin(loc).map(|(origin, _)| origin);
        if let (None, Some(origin), Some(common)) = (facts.url_prefix, origin, common)
            && origin != common
            && UrlPrefix::parse(origin) != common_home
        {
            say(Rule::INDEX_CHILD_HOST, Some(Field::Loc), format!("{origin}: the other children are on {common}"));
        }
        let text = index.source.entry_text(number);
        let entry = Entry::of(text, &index.source.names);
        if let (ChildState::Loaded(id), Some(said)) = (&child.state, entry.value(Field::Lastmod, text))
            && let Some(instant) = lastmod::validate(&said).instant
            && let Some(Some(newest)) = facts.newest.get(id.index())
        {
            // A date covers its whole day, month or year.
            let covers = match instant.precision {
                lastmod::Precision::Year => 366 * 86_400,
                lastmod::Precision::Month => 31 * 86_400,
                lastmod::Precision::Day => 86_399,
                _ => 0,
            };
            dated += 1;
            dated_by_pages += u32::from(instant.seconds == *newest);
            undated += u64::from(facts.undated.get(id.index()).copied().unwrap_or_default());
            if instant.seconds + covers < *newest {
                let message = format!("{said} is older than the newest lastmod inside {loc}");
                say(Rule::INDEX_LASTMOD_OLDER, Some(Field::Lastmod), message);
            }
        }
    }
    let mut say = |rule: Rule, message: String| {
        let found = Finding::in_profile(rule, facts.profile, || message);
        found.map(|found| found.of(FindingTarget::Index(None))).into_iter().for_each(&mut *see);
    };
    if index.children.len() == facts.leaving + 1 {
        say(Rule::INDEX_SINGLE, "an index of one sitemap: the sitemap itself can be submitted".to_owned());
    }
    // What is on disk says nothing of when a file changed on the server: only what the files say counts.
    if undated > 0 && dated == dated_by_pages {
        let (pages, have) = (counted(undated, "page"), if undated == 1 { "has" } else { "have" });
        let message = format!(
            "each lastmod is that of the newest page inside, but {pages} {have} no lastmod: changes of these do not show"
        );
        say(Rule::INDEX_LASTMOD_MEANING, message);
    }
    for name in index.unlisted.iter() {
        say(Rule::INDEX_CHILD_UNLISTED, format!("{name} is a sitemap beside the index, but no entry lists it"));
    }
    let nested =
        index.children.iter().filter(|child| matches!(child.state, ChildState::Nested(_) | ChildState::Cycle)).count();
    if nested >= INDEXES_PER_SITE {
        let message = format!("{} index files; Search Console accepts {INDEXES_PER_SITE} per site", nested + 1);
        say(Rule::SET_TOO_MANY_INDEXES, message);
    }
}

/// How many sitemaps of an index inside the index are read, in words.
fn nested_count(nested: &Nested) -> String {
    let is_read = |child: &&&Child| matches!(child.state, ChildState::Loaded(_) | ChildState::Repeated);
    let read = leaf_children(&nested.children).iter().filter(is_read).count() as u64;
    format!("; {} of it {} read", counted(read, "sitemap"), if read == 1 { "is" } else { "are" })
}

/// What cannot be read of an index inside the index, which entry `number` names.
fn missing_inside(nested: &Nested, profile: Profile, number: usize, loc: &str) -> Vec<Finding> {
    let is_found =
        |state: &ChildState| matches!(state, ChildState::NotLoaded | ChildState::Listed | ChildState::Elsewhere(_));
    let finding = |child: &Child| {
        let why = child.state.why_unread().filter(|_| !is_found(&child.state))?;
        let message = format!("{}, listed by {loc}: {why}", child.loc);
        of_child(Rule::INDEX_CHILD_MISSING, profile, (number, Some(Field::Loc)), message)
    };
    leaf_children(&nested.children).into_iter().filter_map(finding).collect()
}

/// What to say of a child with so many entries: nothing, unless it has none.
pub(crate) fn empty_child(index: &Index, profile: Profile, child: usize, entries: u32) -> Option<Finding> {
    let loc = &index.children.get(child).filter(|_| entries == 0)?.loc;
    let message = format!("{loc} has no entries: remove it from the index");
    of_child(Rule::INDEX_CHILD_EMPTY, profile, (child, Some(Field::Loc)), message)
}

/// A finding of an entry of the index, or of one of its fields.
fn of_child(rule: Rule, profile: Profile, (child, field): (usize, Option<Field>), message: String) -> Option<Finding> {
    let found = Finding::in_profile(rule, profile, || message)?;
    Some(found.of(FindingTarget::Index(Some(child))).at(Position::of_field(field)))
}

/// The scheme and host that most children share, as the first of them writes it; `None` without children. Spellings of
/// one origin, such as `https://e.com:443` and `HTTPS://E.com`, count together.
pub(crate) fn commonest_origin(index: &Index) -> Option<&str> {
    let mut spelt: Vec<(&str, usize)> = Vec::new();
    let mut origins: Vec<(Option<UrlPrefix>, &str, u32)> = Vec::new();
    for (text, _) in index.children.iter().filter_map(|child| location::origin(&child.loc)) {
        let known = spelt.iter().find(|(known, _)| *known == text).map(|(_, place)| *place);
        let place = known.unwrap_or_else(|| {
            let url_prefix = UrlPrefix::parse(text);
            let place = origins.iter().position(|(known, ..)| *known == url_prefix).unwrap_or(origins.len());
            if spelt.len() < FEW_ORIGINS {
                spelt.push((text, place));
                if place == origins.len() {
                    origins.push((url_prefix, text, 0));
                }
            }
            place
        });
        if let Some((.., count)) = origins.get_mut(place) {
            *count += 1;
        }
    }
    // Of equals, the first.
    origins.into_iter().rev().max_by_key(|(.., count)| *count).map(|(_, text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::index::Child;
    use crate::document::sitemap::SitemapId;
    use crate::document::source::Source;
    use crate::progress::Progress;
    use crate::xml::names::FileKind;
    use crate::xml::scan::{Ignore, scan};
    use std::sync::Arc;

    const DAY: i64 = 86_400;

    fn index(dates: &[&str], states: &[ChildState]) -> Index {
        let entry = |(number, date): (usize, &&str)| {
            format!("<sitemap><loc>https://e.com/{number}.xml</loc><lastmod>{date}</lastmod></sitemap>")
        };
        let entries: String = dates.iter().enumerate().map(entry).collect();
        let text =
            format!("<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</sitemapindex>");
        let scan = scan(text.as_bytes(), &mut Ignore, &Progress::default());
        let child = |(number, state): (usize, &ChildState)| Child {
            loc: format!("https://e.com/{number}.xml").into(),
            state: state.clone(),
        };
        Index {
            source: Arc::new(Source::new(text.into_bytes(), scan).unwrap()),
            children: Arc::new(states.iter().enumerate().map(child).collect()),
            ..Index::default()
        }
    }

    fn codes(index: &Index, facts: &IndexFacts<'_>) -> Vec<(&'static str, Option<usize>)> {
        let child = |found: &Finding| match found.target {
            FindingTarget::Index(child) => child,
            target => panic!("{target:?}"),
        };
        let mut all = Vec::new();
        each(index, facts, &mut |found| all.push(found));
        all.iter().map(|found| (found.rule.code(), child(found))).collect()
    }

    #[test]
    fn children_and_their_dates() {
        let loaded = |id| ChildState::Loaded(SitemapId(id));
        let [newest, older] = [Some(10 * DAY), Some(5 * DAY)];
        let facts = IndexFacts {
            profile: Profile::default(),
            url_prefix: None,
            newest: &[newest, older],
            entries: &[3, 1],
            undated: &[0, 0],
            leaving: 0,
        };
        let sound = index(&["1970-01-11", "1970-01-08"], &[loaded(0), loaded(1)]);
        assert_eq!(codes(&sound, &facts), []);
        let empty = IndexFacts { entries: &[3, 0], ..facts };
        assert_eq!(codes(&sound, &empty), [("index-child-empty", Some(1))]);
        let old = index(&["1970-01-02", "1970-01-08"], &[loaded(0), loaded(1)]);
        assert_eq!(codes(&old, &facts), [("index-lastmod-older", Some(0))]);
        let single = index(&["1970-01-11"], &[loaded(0)]);
        assert_eq!(codes(&single, &facts), [("index-single", None)]);
        assert_eq!(codes(&sound, &IndexFacts { leaving: 1, ..facts }), [("index-single", None)]);
    }

    #[test]
    fn origins_are_compared_and_not_their_spelling() {
        let facts = IndexFacts {
            profile: Profile::default(),
            url_prefix: None,
            newest: &[],
            entries: &[],
            undated: &[],
            leaving: 0,
        };
        let table = [
            (["https://e.com/0.xml", "https://e.com/1.xml"], None),
            (["https://e.com/0.xml", "https://e.com:443/1.xml"], None),
            (["HTTPS://E.com/0.xml", "https://e.com/1.xml"], None),
            (["https://b\u{fc}cher.de/0.xml", "https://xn--bcher-kva.de/1.xml"], None),
            (["https://e.com/0.xml", "https://u@e.com/1.xml"], None),
            (["https://e.com/0.xml", "http://e.com/1.xml"], Some(1)),
            (["https://e.com/0.xml", "https://e.com:8443/1.xml"], Some(1)),
            (["https://e.com/0.xml", "https://www.e.com/1.xml"], Some(1)),
            (["/0.xml", "https://e.com/1.xml"], None),
        ];
        for (locs, stranger) in table {
            let mut index = index(&["2026-01-01"; 2], &[ChildState::NotLoaded, ChildState::NotLoaded]);
            let children = locs.map(|loc| Child { loc: loc.into(), state: ChildState::NotLoaded });
            index.children = Arc::new(children.into_iter().collect());
            let expected: Vec<_> = stranger.map(|child| ("index-child-host", Some(child))).into_iter().collect();
            assert_eq!(codes(&index, &facts), expected, "{locs:?}");
        }
    }

    #[test]
    fn dates_of_pages_where_those_of_files_belong() {
        let loaded = |id| ChildState::Loaded(SitemapId(id));
        let newest = [Some(10 * DAY), Some(5 * DAY)];
        let facts = IndexFacts {
            profile: Profile::default(),
            url_prefix: None,
            newest: &newest,
            entries: &[3, 1],
            undated: &[2, 0],
            leaving: 0,
        };
        let index = index(&["1970-01-11", "1970-01-06"], &[loaded(0), loaded(1)]);
        assert_eq!(codes(&index, &facts), [("index-lastmod-meaning", None)]);
        // Where every page is dated, the newest date is as good as that of the file.
        assert_eq!(codes(&index, &IndexFacts { undated: &[0, 0], ..facts }), []);
        let later = [Some(9 * DAY), Some(5 * DAY)];
        assert_eq!(codes(&index, &IndexFacts { newest: &later, ..facts }), []);
    }

    #[test]
    fn sitemaps_beside_it_and_indexes_inside_it() {
        let facts = IndexFacts {
            profile: Profile::default(),
            url_prefix: None,
            newest: &[],
            entries: &[],
            undated: &[],
            leaving: 0,
        };
        let plain = index(&["2026-01-01"; 2], &[ChildState::NotLoaded, ChildState::NotLoaded]);
        let index = Index { unlisted: [Arc::from("old.xml")].into(), ..plain };
        assert_eq!(codes(&index, &facts), [("index-child-unlisted", None)]);
        let inner = Nested { name: "n.xml".into(), source: Arc::new(Source::blank(FileKind::Index)), children: vec![] };
        let nested = self::index(&["2026-01-01"; 500], &vec![ChildState::Nested(Arc::new(inner)); 500]);
        let found = codes(&nested, &facts);
        assert_eq!(found.iter().filter(|(code, _)| *code == "index-nested").count(), 500);
        assert_eq!(found.last(), Some(&("set-too-many-indexes", None)));
    }
}
