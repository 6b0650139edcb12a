//! Fixes the entries of an index: removes wrong entries, adds missing ones, and corrects values.

use crate::check::Context;
use crate::check::FindingTarget;
use crate::check::entry::ENTRY_RULES;
use crate::check::fix::{self, FixedEntry};
use crate::check::index;
use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::index::{Child, ChildState, Index, Nested};
use crate::document::rename::encoded;
use crate::document::sitemap::{Member, file_name};
use crate::document::source::Source;
use crate::protocol::Field;
use crate::protocol::lastmod::{self, Now, Precision};
use crate::protocol::location::{self, UrlPrefix};
use crate::session::edit::Intent;
use crate::session::edit::index_urls::{folder_of, with_field};
use crate::session::findings::index_findings::{self, OwnedIndexFacts};
use crate::session::fix_table::{self, FLATTENED, REMOVED};
use crate::session::state::Snapshot;
use crate::xml::entry::Entry;
use crate::xml::names::Names;
use crate::xml::splice::{Change, Layout};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The URL of the index's folder: below the base URL, else derived from the index's entries.
fn index_folder(snapshot: &Snapshot, document: &Document) -> Option<String> {
    match index_findings::index_home(snapshot, document) {
        Some(url_prefix) => Some(url_prefix.prefix().to_owned()),
        None => folder_of(document, document.index()?).map(ToOwned::to_owned),
    }
}

/// Whether incomplete URLs can be completed only with an answer of the user.
pub(in crate::session) fn asks_for_origin(snapshot: &Snapshot) -> bool {
    let index = snapshot.document.index();
    index_findings::index_home(snapshot, &snapshot.document).is_none()
        && index.is_some_and(|index| url_prefix_of(index).is_none())
}

/// Whether the URL of unlisted sitemaps is unknown, so that the user has to give it.
pub(in crate::session) fn asks_for_folder(snapshot: &Snapshot) -> bool {
    let has_unlisted = snapshot.document.index().is_some_and(|index| !index.unlisted.is_empty());
    has_unlisted && index_folder(snapshot, &snapshot.document).is_none()
}

/// Adds to an intent how many children keep their URL, and why the first does.
pub(in crate::session) fn refuse_kept_urls(snapshot: &Snapshot, rules: RuleSet, intent: &mut Intent) {
    let (document, own) = (&snapshot.document, index_findings::index_home(snapshot, &snapshot.document));
    let Some(index) = document.index() else { return };
    let own = own.filter(|_| rules.contains(Rule::INDEX_CHILD_PATH));
    let loaded = loaded_names(snapshot, document, rules);
    let why = |child: &Child| {
        let loc = &child.loc;
        if has_loaded_namesake(child, &loaded) {
            return Some(format!("{loc} would then violate {}", Rule::INDEX_CHILD_DUPLICATE.code()));
        }
        let own = own.as_ref()?;
        below_index(document, child, own).filter(|url| loses_pages(document, child, url))?;
        Some(format!("{loc} keeps its URL: its pages would be outside of the new URL"))
    };
    for why in index.children.iter().filter_map(why) {
        intent.refused += 1;
        intent.reason.get_or_insert(why);
    }
}

/// The names of the loaded sitemaps, without folders, if the hosts of entries are to be fixed.
fn loaded_names(snapshot: &Snapshot, document: &Document, rules: RuleSet) -> HashSet<String> {
    let fixes_hosts = rules.contains(Rule::INDEX_CHILD_HOST) && !snapshot.checks.allows_other_sites();
    let sitemaps = document.sitemaps().iter().filter(|_| fixes_hosts);
    sitemaps.map(|sitemap| file_name(&sitemap.name)).collect()
}

/// Whether a file with the name of a child on another host is loaded for another entry. With the host of that entry, the
/// child would be its duplicate.
fn has_loaded_namesake(child: &Child, loaded: &HashSet<String>) -> bool {
    matches!(child.state, ChildState::Elsewhere(_)) && !loaded.is_empty() && loaded.contains(&file_name(&child.loc))
}

/// One edit that fixes rules of the index; `None` if nothing changes. Incomplete URLs are completed with `below`, else
/// with the origin of most other entries.
pub(in crate::session) fn edit(
    snapshot: &Snapshot,
    document: &Document,
    rules: RuleSet,
    below: Option<&str>,
) -> Option<Edit> {
    let index = document.index()?;
    if !rules.intersects(fix_table::OF_INDEX.union(ENTRY_RULES)) {
        return None;
    }
    let facts = index_findings::index_facts(snapshot, document);
    let own = index_findings::index_home(snapshot, document);
    let mut found: BTreeSet<(Rule, usize)> = BTreeSet::new();
    index::check(index, &facts.facts(own.as_ref()), &mut |finding| {
        if let FindingTarget::Index(Some(child)) = finding.target {
            found.insert((finding.rule, child));
        }
    });
    let has = |rule: Rule, child: usize| rules.contains(rule) && found.contains(&(rule, child));
    let removed: BTreeSet<usize> = found
        .iter()
        .filter(|(rule, _)| rules.intersection(REMOVED).contains(*rule))
        .map(|(_, child)| *child)
        .filter(|child| !index.children.get(*child).is_some_and(fix_table::is_never_removed))
        .collect();
    let url_prefix = below.and_then(UrlPrefix::parse).or_else(|| url_prefix_of(index));
    let loaded = loaded_names(snapshot, document, rules);
    let source = &index.source;
    let mut entries: Vec<u8> = Vec::with_capacity(source.bytes().len());
    let (mut layout, mut flattened, mut more) = (Layout::default(), 0, 0);
    for number in (0..source.len()).filter(|number| !removed.contains(number)) {
        let mut text = Cow::Borrowed(source.entry_text(number));
        layout = Layout::of(&Entry::of(&text, &source.names), &text).unwrap_or(layout);
        if let Some(Child { state: ChildState::Nested(nested), .. }) = index.children.get(number)
            && FLATTENED.iter().any(|rule| has(rule, number))
        {
            flattened += 1;
            more += write_nested(nested, &layout, &source.names, &mut entries);
            continue;
        }
        if has(Rule::INDEX_LASTMOD_OLDER, number)
            && let Some(newest) = newest_of(index, number, &facts, snapshot.clock.seconds)
        {
            text = with_date(index, &text, newest).into();
        }
        let is_duplicate = index.children.get(number).is_some_and(|child| has_loaded_namesake(child, &loaded));
        if has(Rule::INDEX_CHILD_HOST, number)
            && !is_duplicate
            && let Some(url_prefix) = &url_prefix
        {
            text = with_host(index, &text, url_prefix).map_or(text, Cow::Owned);
        }
        if let Some(own) = own.as_ref().filter(|_| rules.contains(Rule::INDEX_CHILD_PATH)) {
            let child = index.children.get(number);
            let url = child.and_then(|child| below_index(document, child, own));
            let url = url.filter(|url| !child.is_some_and(|child| loses_pages(document, child, url)));
            if let Some(url) = url {
                text = with_field(&text, Field::Loc, Change::Set(&url), &source.names).into();
            }
        }
        // An incomplete URL is completed below the index's URL, else with the origin of most other entries.
        let is_incomplete = rules.contains(Rule::INDEX_CHILD_INCOMPLETE_URL);
        let known_prefix = below.is_none().then_some(own.as_ref()).flatten();
        let url_prefix = known_prefix.or_else(|| url_prefix.as_ref().filter(|_| is_incomplete));
        let context = Context {
            now: snapshot.clock.seconds,
            profile: snapshot.checks.profile(),
            names: &source.names,
            url_prefix,
            policy: None,
            site: None,
        };
        let keeps_host = known_prefix.is_none() || is_duplicate;
        let host = if keeps_host { RuleSet::of(&[Rule::INDEX_CHILD_HOST]) } else { RuleSet::EMPTY };
        let entry_rules = rules.intersection(ENTRY_RULES).minus(host);
        if let Some(repaired) = fix_entry(&text, &context, entry_rules, super::is_unattended(rules)) {
            text = repaired.into();
        }
        entries.extend_from_slice(&text);
    }
    let known_folder = below.and_then(UrlPrefix::parse).map(|url_prefix| url_prefix.prefix().to_owned());
    let known_folder = known_folder.or_else(|| index_folder(snapshot, document));
    if rules.contains(Rule::INDEX_CHILD_UNLISTED)
        && let Some(folder) = known_folder
    {
        for name in index.unlisted.iter() {
            let url = format!("{folder}{}", encoded(name));
            entries.extend_from_slice(layout.render(&source.names, &[Some(&url), None, None, None]).as_bytes());
            more += 1;
        }
    }
    let count = source.len() - removed.len() - flattened + more;
    let has_entries = count > 0;
    let bytes = [&source.head(has_entries)[..], &entries, &source.tail(has_entries)].concat();
    if bytes == source.bytes() {
        return None;
    }
    let frame = Source::of_text(bytes).filter(|new| new.len() == count)?;
    Some(Edit::Frame { file: Member::Index, frame: Arc::new(frame) })
}

/// Writes entries for the sitemaps that a nested index lists, at any depth, except repeated ones and cycles. Returns
/// their number.
fn write_nested(nested: &Nested, layout: &Layout, names: &Names, out: &mut Vec<u8>) -> usize {
    let mut count = 0;
    for (number, child) in nested.children.iter().enumerate() {
        match &child.state {
            ChildState::Nested(inner) => count += write_nested(inner, layout, names, out),
            ChildState::Repeated | ChildState::Cycle | ChildState::Itself => {}
            _ => {
                let text = nested.source.entry_text(number);
                let date = Entry::of(text, &nested.source.names).value(Field::Lastmod, text);
                let date = date.as_deref().filter(|date| !date.is_empty());
                out.extend_from_slice(layout.render(names, &[Some(&child.loc), date, None, None]).as_bytes());
                count += 1;
            }
        }
    }
    count
}

/// Whether pages of a child that are in the scope of its URL would be out of scope with this URL.
fn loses_pages(document: &Document, child: &Child, new: &str) -> bool {
    let ChildState::Loaded(id) = child.state else { return false };
    let (Some(sitemap), Some(url_prefix)) = (document.sitemap(id), UrlPrefix::parse(new)) else { return false };
    let old = UrlPrefix::parse(&child.loc);
    let leaves = |loc: &str| {
        let is_inside = old.as_ref().is_none_or(|old| location::check_scope(loc, old).is_empty());
        is_inside && !location::check_scope(loc, &url_prefix).is_empty()
    };
    sitemap.rows.iter().any(|row| document.is_live(row) && leaves(&document.loc(row)))
}

/// The URL inside of the index's folder for a child whose URL is outside of it.
fn below_index(document: &Document, child: &Child, own: &UrlPrefix) -> Option<String> {
    if !location::check_scope(&child.loc, own).has(location::Fault::OutsidePath) {
        return None;
    }
    let name = match child.state {
        ChildState::Loaded(id) => document.sitemap(id)?.name.to_string(),
        _ => file_name(&child.loc),
    };
    let path: Vec<String> = name.split('/').map(encoded).collect();
    Some(format!("{}{}", own.prefix(), path.join("/")))
}

/// An entry after the fixes of rules.
fn fix_entry(text: &[u8], context: &Context<'_>, rules: RuleSet, unattended: bool) -> Option<Vec<u8>> {
    match fix::fix_entry(text, context, rules, unattended)? {
        FixedEntry::Text(text) => Some(text.into_bytes()),
        // A second loc would be a second sitemap, which was not looked for.
        FixedEntry::Split(_) => None,
        FixedEntry::Values(values) => {
            let mut text = text.to_vec();
            for (field, value) in values {
                let change = value.as_deref().map_or(Change::Remove, Change::Set);
                text = with_field(&text, field, change, context.names);
            }
            Some(text)
        }
    }
}

/// When the file of an entry last changed, in seconds since 1970.
fn newest_of(index: &Index, entry: usize, facts: &OwnedIndexFacts, now: i64) -> Option<i64> {
    match index.children.get(entry)?.state {
        ChildState::Loaded(id) => {
            let newest = facts.newest.get(id.index()).copied().flatten()?;
            // The date in an index is that of the file: its modification time if that is later than its newest page.
            let changed = facts.mtimes.get(id.index()).copied().flatten();
            Some(changed.filter(|changed| (newest..=now).contains(changed)).unwrap_or(newest))
        }
        _ => None,
    }
}

/// An entry with this time as its lastmod; a date without time stays one.
fn with_date(index: &Index, text: &[u8], seconds: i64) -> Vec<u8> {
    let names = &index.source.names;
    let old = Entry::of(text, names).value(Field::Lastmod, text);
    let precision = old.and_then(|old| lastmod::validate(&old).instant).map(|instant| instant.precision);
    let moment = Now { seconds, offset: 0 };
    let value = match precision {
        Some(Precision::Minute | Precision::Second | Precision::Fraction) => moment.timestamp(),
        _ => moment.today(),
    };
    with_field(text, Field::Lastmod, Change::Set(&value), names)
}

/// The URL prefix of the origin that most children have.
fn url_prefix_of(index: &Index) -> Option<UrlPrefix> {
    UrlPrefix::parse(&format!("{}/", index::commonest_origin(index)?))
}

/// An entry with its URL on this host.
fn with_host(index: &Index, text: &[u8], url_prefix: &UrlPrefix) -> Option<Vec<u8>> {
    let names = &index.source.names;
    let loc = Entry::of(text, names).value(Field::Loc, text)?.into_owned();
    let (_, rest) = location::origin(&loc)?;
    Some(with_field(text, Field::Loc, Change::Set(&format!("{}{rest}", url_prefix.origin())), names))
}

#[cfg(test)]
mod tests {
    use crate::check::rule::{Rule, RuleSet};
    use crate::files::Options;
    use crate::protocol::Field;
    use crate::protocol::lastmod::Now;
    use crate::session::Session;
    use crate::session::command::Assignment;
    use crate::session::edit::Change;
    use crate::session::store::load;
    use crate::session::store::save;
    use std::collections::BTreeMap;
    use std::path::Path;

    const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };
    const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

    fn index(names: &[&str]) -> String {
        let entry = |name: &&str| {
            format!(
                "  <sitemap>\n    <loc>https://e.com/{name}</loc>\n    <lastmod>2026-01-01</lastmod>\n  </sitemap>\n"
            )
        };
        format!("<sitemapindex {NS}>\n{}</sitemapindex>\n", names.iter().map(entry).collect::<String>())
    }

    /// An index with two sitemaps and a nested index, which lists two sitemaps, a repeated one and a missing one.
    fn nested() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("more")).unwrap();
        let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
        write("index.xml", index(&["a.xml", "more/index.xml", "b.xml"]));
        write("more/index.xml", index(&["more/c.xml", "b.xml", "more/none.xml", "more/d.xml"]));
        for name in ["a.xml", "b.xml", "more/c.xml", "more/d.xml"] {
            write(name, format!("<urlset {NS}>\n  <url><loc>https://e.com/{name}/1</loc></url>\n</urlset>\n"));
        }
        folder
    }

    fn open(folder: &Path) -> Session {
        load::open(&folder.join("index.xml"), Options::default(), NOW).unwrap()
    }

    fn fix(session: &mut Session, rule: Rule) -> bool {
        let rows = session.document().live_rows().map(|row| row.0).collect();
        session.change(&Change::Fix { rows, rules: RuleSet::of(&[rule]) }).unwrap().changed
    }

    fn files(folder: &Path) -> BTreeMap<String, String> {
        let names = ["index.xml", "more/index.xml", "a.xml", "b.xml", "more/c.xml", "more/d.xml"];
        names.into_iter().map(|name| (name.to_owned(), std::fs::read_to_string(folder.join(name)).unwrap())).collect()
    }

    #[test]
    fn sitemaps_of_a_nested_index_are_edited_and_saved_and_no_index_changes() {
        let folder = nested();
        let mut session = open(folder.path());
        let locs: Vec<String> =
            session.document().live_rows().map(|row| session.document().loc(row).into_owned()).collect();
        let name = |name: &str| format!("https://e.com/{name}/1");
        assert_eq!(locs, [name("a.xml"), name("more/c.xml"), name("more/d.xml"), name("b.xml")]);
        let before = files(folder.path());
        let counts: BTreeMap<&str, u64> =
            session.counts().by_rule().into_iter().map(|(rule, n)| (rule.code(), n)).collect();
        assert_eq!((counts["index-nested"], counts["index-child-missing"]), (1, 1));
        save::now(&mut session, None, false).unwrap();
        assert_eq!(files(folder.path()), before);
        let row = session.document().live_rows().nth(1).unwrap();
        let assignments = vec![Assignment { field: Field::Priority, typed: "0.4".into() }];
        assert!(session.plan(None).losses.is_empty());
        session.change(&Change::Set { rows: [row.0].into_iter().collect(), assignments }).unwrap();
        // The nested index is not written, which the plan reports.
        let plan = session.plan(None);
        assert!(plan.asks && plan.losses.len() == 1, "{:?}", plan.losses);
        assert!(plan.losses[0].starts_with("more/c.xml changes, but its date in more/index.xml stays"));
        save::now(&mut session, None, false).unwrap();
        let mut after = files(folder.path());
        assert!(after["more/c.xml"].contains("<priority>0.4</priority>"));
        after.insert("more/c.xml".to_owned(), before["more/c.xml"].clone());
        assert_eq!(after, before);
        // A copy would be a new index that lists another.
        let plan = session.plan(Some(&folder.path().join("copy/index.xml")));
        assert!(
            plan.problems.iter().any(|problem| problem.message.contains(":fix index-nested")),
            "{:?}",
            plan.problems
        );
    }

    #[test]
    fn a_nested_index_is_replaced_by_its_entries_with_their_dates() {
        let folder = nested();
        let mut session = open(folder.path());
        assert!(fix(&mut session, Rule::INDEX_NESTED));
        let flat = ["a.xml", "more/c.xml", "more/none.xml", "more/d.xml", "b.xml"];
        let text = |session: &Session| {
            String::from_utf8_lossy(session.document().index().unwrap().source.bytes()).into_owned()
        };
        assert_eq!(text(&session), index(&flat));
        session.undo().unwrap();
        assert_eq!(text(&session), index(&["a.xml", "more/index.xml", "b.xml"]));
        session.redo().unwrap();
        save::now(&mut session, None, false).unwrap();
        assert_eq!(files(folder.path())["index.xml"], index(&flat));
        let fresh = open(folder.path());
        assert_eq!(fresh.document().live(), 4);
        assert!(!fresh.counts().by_rule().iter().any(|(rule, _)| *rule == Rule::INDEX_NESTED));
        // Undo after the save restores the index with its nested index.
        session.undo().unwrap();
        save::now(&mut session, None, false).unwrap();
        assert!(open(folder.path()).document().index().unwrap().has_nested());
    }

    #[test]
    fn unlisted_files_are_listed_and_read_at_the_next_load() {
        let folder = nested();
        std::fs::write(
            folder.path().join("n w.xml"),
            format!("<urlset {NS}><url><loc>https://e.com/n</loc></url></urlset>"),
        )
        .unwrap();
        let mut session = open(folder.path());
        assert!(fix(&mut session, Rule::INDEX_CHILD_UNLISTED));
        assert_eq!(session.document().index().unwrap().unlisted.len(), 0);
        session.undo().unwrap();
        assert_eq!(session.document().index().unwrap().unlisted.len(), 1);
        session.redo().unwrap();
        save::now(&mut session, None, false).unwrap();
        assert!(files(folder.path())["index.xml"].contains("<loc>https://e.com/n%20w.xml</loc>"));
        assert_eq!(open(folder.path()).document().live(), 5);
    }
}
