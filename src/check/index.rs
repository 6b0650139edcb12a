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

/// Input of the index rules besides the index itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexFacts<'f> {
    /// The profile whose rules are checked.
    pub profile: Profile,
    /// Public URL of the index, when known.
    pub url_prefix: Option<&'f UrlPrefix>,
    /// Newest lastmod (seconds since 1970) of each sitemap, by its id.
    pub newest: &'f [Option<i64>],
    /// Entries of each sitemap, by its id.
    pub entries: &'f [u32],
    /// Entries of each sitemap that have no readable lastmod, by its id.
    pub undated: &'f [u32],
    /// Number of entries that the next save removes, because their sitemaps lost the last row.
    pub removed_on_save: usize,
}

/// Index files per site (Google Search Central, "Manage your sitemaps with a sitemap index file").
const INDEXES_PER_SITE: usize = 500;

/// Maximum number of spellings of origins that are considered when the most common origin is determined.
const MAX_SPELLINGS: usize = 64;

/// Checks an index and its children, and calls `add` with each finding: a hostile index can have more findings than fit
/// in memory. Findings that [`super::entry`] has of an entry are not repeated.
pub(crate) fn check(index: &Index, facts: &IndexFacts<'_>, add: &mut dyn FnMut(Finding)) {
    let common = commonest_origin(index);
    let common_home = common.and_then(UrlPrefix::parse);
    let mut seen: HashSet<&str> = HashSet::new();
    // Number of children with a lastmod, and of those whose lastmod equals that of their newest page.
    let (mut dated, mut dated_by_pages) = (0_u32, 0_u32);
    // Number of entries without a lastmod in these children.
    let mut undated = 0;
    for (number, child) in index.children.iter().enumerate() {
        let mut report = |rule: Rule, field: Option<Field>, message: String| {
            child_finding(rule, facts.profile, (number, field), message).into_iter().for_each(&mut *add);
        };
        let loc = &*child.loc;
        // Missing children count as well: the index lists their URL twice.
        let repeats = !loc.is_empty() && !seen.insert(loc);
        if repeats || child.state == ChildState::Repeated {
            report(Rule::INDEX_CHILD_DUPLICATE, Some(Field::Loc), format!("{loc} is already listed"));
        }
        match &child.state {
            // These are not missing, or were not searched.
            ChildState::Loaded(_)
            | ChildState::NotLoaded
            | ChildState::Repeated
            | ChildState::Listed
            | ChildState::Elsewhere(_) => {}
            // Reported at the first of them.
            ChildState::Missing | ChildState::Outside if repeats => {}
            // The entry rules report an entry without a URL.
            ChildState::Missing | ChildState::Outside if loc.is_empty() => {}
            ChildState::Missing | ChildState::Outside | ChildState::Unreadable(_) | ChildState::Denied(_) => {
                let why = child.state.why_unread().unwrap_or_default();
                report(Rule::INDEX_CHILD_MISSING, Some(Field::Loc), format!("{loc}: {why}"));
            }
            ChildState::Nested(nested) if nested.loops() => {
                let message = format!("{loc} is an index that lists an index above it{}", nested_count(nested));
                report(Rule::INDEX_CYCLE, Some(Field::Loc), message);
            }
            ChildState::Nested(nested) => {
                let message = format!("{loc} is an index itself; an index lists sitemaps only{}", nested_count(nested));
                report(Rule::INDEX_NESTED, Some(Field::Loc), message);
            }
            ChildState::Cycle => {
                report(Rule::INDEX_CYCLE, Some(Field::Loc), format!("{loc} is an index that lists this one again"));
            }
            ChildState::Itself => report(Rule::INDEX_SELF, Some(Field::Loc), format!("{loc} is this index itself")),
        }
        if let ChildState::Nested(nested) = &child.state {
            missing_in_nested(nested, facts.profile, number, loc).into_iter().for_each(&mut *add);
        }
        if let ChildState::Loaded(id) = child.state {
            let entries = facts.entries.get(id.index()).copied().unwrap_or(1);
            empty_child(index, facts.profile, number, entries).into_iter().for_each(&mut *add);
        }
        let mut report = |rule: Rule, field: Option<Field>, message: String| {
            child_finding(rule, facts.profile, (number, field), message).into_iter().for_each(&mut *add);
        };
        // If the URL of the index is known, the entry rules check the host; otherwise compare with the other children.
        let origin = location::origin(loc).map(|(origin, _)| origin);
        if let (None, Some(origin), Some(common)) = (facts.url_prefix, origin, common)
            && origin != common
            && UrlPrefix::parse(origin) != common_home
        {
            report(Rule::INDEX_CHILD_HOST, Some(Field::Loc), format!("{origin}: the other children are on {common}"));
        }
        let text = index.source.entry_text(number);
        let entry = Entry::of(text, &index.source.names);
        if let (ChildState::Loaded(id), Some(date)) = (&child.state, entry.value(Field::Lastmod, text))
            && let Some(instant) = lastmod::validate(&date).instant
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
                let message = format!("{date} is older than the newest lastmod inside {loc}");
                report(Rule::INDEX_LASTMOD_OLDER, Some(Field::Lastmod), message);
            }
        }
    }
    let mut report = |rule: Rule, message: String| {
        let found = Finding::in_profile(rule, facts.profile, || message);
        found.map(|found| found.of(FindingTarget::Index(None))).into_iter().for_each(&mut *add);
    };
    if index.children.len() == facts.removed_on_save + 1 {
        report(Rule::INDEX_SINGLE, "an index of one sitemap: the sitemap itself can be submitted".to_owned());
    }
    // File times on disk do not tell when a file changed on the server, so only the dates in the files count.
    if undated > 0 && dated == dated_by_pages {
        let (pages, have) = (counted(undated, "page"), if undated == 1 { "has" } else { "have" });
        let message = format!(
            "each lastmod is that of the newest page inside, but {pages} {have} no lastmod: changes of these do not show"
        );
        report(Rule::INDEX_LASTMOD_MEANING, message);
    }
    for name in index.unlisted.iter() {
        report(Rule::INDEX_CHILD_UNLISTED, format!("{name} is a sitemap beside the index, but no entry lists it"));
    }
    let nested =
        index.children.iter().filter(|child| matches!(child.state, ChildState::Nested(_) | ChildState::Cycle)).count();
    if nested >= INDEXES_PER_SITE {
        let message = format!("{} index files; Search Console accepts {INDEXES_PER_SITE} per site", nested + 1);
        report(Rule::SET_TOO_MANY_INDEXES, message);
    }
}

/// The number of sitemaps of a nested index that are read, as part of a message.
fn nested_count(nested: &Nested) -> String {
    let is_read = |child: &&&Child| matches!(child.state, ChildState::Loaded(_) | ChildState::Repeated);
    let read = leaf_children(&nested.children).iter().filter(is_read).count() as u64;
    format!("; {} of it {} read", counted(read, "sitemap"), if read == 1 { "is" } else { "are" })
}

/// The findings for children of a nested index that cannot be read; `number` is its entry in the index.
fn missing_in_nested(nested: &Nested, profile: Profile, number: usize, loc: &str) -> Vec<Finding> {
    let is_found =
        |state: &ChildState| matches!(state, ChildState::NotLoaded | ChildState::Listed | ChildState::Elsewhere(_));
    let finding = |child: &Child| {
        let why = child.state.why_unread().filter(|_| !is_found(&child.state))?;
        let message = format!("{}, listed by {loc}: {why}", child.loc);
        child_finding(Rule::INDEX_CHILD_MISSING, profile, (number, Some(Field::Loc)), message)
    };
    leaf_children(&nested.children).into_iter().filter_map(finding).collect()
}

/// The finding for a child without entries; `None` if it has some.
pub(crate) fn empty_child(index: &Index, profile: Profile, child: usize, entries: u32) -> Option<Finding> {
    let loc = &index.children.get(child).filter(|_| entries == 0)?.loc;
    let message = format!("{loc} has no entries: remove it from the index");
    child_finding(Rule::INDEX_CHILD_EMPTY, profile, (child, Some(Field::Loc)), message)
}

/// A finding about an entry of the index or one of its fields.
fn child_finding(
    rule: Rule,
    profile: Profile,
    (child, field): (usize, Option<Field>),
    message: String,
) -> Option<Finding> {
    let found = Finding::in_profile(rule, profile, || message)?;
    Some(found.of(FindingTarget::Index(Some(child))).at(Position::of_field(field)))
}

/// The most common origin among the children, as the first of them writes it; `None` without children. Spellings of one
/// origin, such as `https://e.com:443` and `HTTPS://E.com`, count together.
pub(crate) fn commonest_origin(index: &Index) -> Option<&str> {
    let mut spellings: Vec<(&str, usize)> = Vec::new();
    let mut origins: Vec<(Option<UrlPrefix>, &str, u32)> = Vec::new();
    for (text, _) in index.children.iter().filter_map(|child| location::origin(&child.loc)) {
        let known = spellings.iter().find(|(known, _)| *known == text).map(|(_, position)| *position);
        let position = known.unwrap_or_else(|| {
            let url_prefix = UrlPrefix::parse(text);
            let position = origins.iter().position(|(known, ..)| *known == url_prefix).unwrap_or(origins.len());
            if spellings.len() < MAX_SPELLINGS {
                spellings.push((text, position));
                if position == origins.len() {
                    origins.push((url_prefix, text, 0));
                }
            }
            position
        });
        if let Some((.., count)) = origins.get_mut(position) {
            *count += 1;
        }
    }
    // The first of equally common origins.
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
        check(index, facts, &mut |found| all.push(found));
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
            removed_on_save: 0,
        };
        let sound = index(&["1970-01-11", "1970-01-08"], &[loaded(0), loaded(1)]);
        assert_eq!(codes(&sound, &facts), []);
        let empty = IndexFacts { entries: &[3, 0], ..facts };
        assert_eq!(codes(&sound, &empty), [("index-child-empty", Some(1))]);
        let old = index(&["1970-01-02", "1970-01-08"], &[loaded(0), loaded(1)]);
        assert_eq!(codes(&old, &facts), [("index-lastmod-older", Some(0))]);
        let single = index(&["1970-01-11"], &[loaded(0)]);
        assert_eq!(codes(&single, &facts), [("index-single", None)]);
        assert_eq!(codes(&sound, &IndexFacts { removed_on_save: 1, ..facts }), [("index-single", None)]);
    }

    #[test]
    fn origins_are_compared_regardless_of_spelling() {
        let facts = IndexFacts {
            profile: Profile::default(),
            url_prefix: None,
            newest: &[],
            entries: &[],
            undated: &[],
            removed_on_save: 0,
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
    fn dates_of_pages_instead_of_files_are_reported() {
        let loaded = |id| ChildState::Loaded(SitemapId(id));
        let newest = [Some(10 * DAY), Some(5 * DAY)];
        let facts = IndexFacts {
            profile: Profile::default(),
            url_prefix: None,
            newest: &newest,
            entries: &[3, 1],
            undated: &[2, 0],
            removed_on_save: 0,
        };
        let index = index(&["1970-01-11", "1970-01-06"], &[loaded(0), loaded(1)]);
        assert_eq!(codes(&index, &facts), [("index-lastmod-meaning", None)]);
        // If every page is dated, the newest date is as good as that of the file.
        assert_eq!(codes(&index, &IndexFacts { undated: &[0, 0], ..facts }), []);
        let later = [Some(9 * DAY), Some(5 * DAY)];
        assert_eq!(codes(&index, &IndexFacts { newest: &later, ..facts }), []);
    }

    #[test]
    fn unlisted_sitemaps_and_nested_indexes_are_reported() {
        let facts = IndexFacts {
            profile: Profile::default(),
            url_prefix: None,
            newest: &[],
            entries: &[],
            undated: &[],
            removed_on_save: 0,
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
