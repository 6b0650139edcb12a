//! Tests of the set index: equal to a full recount after every change, and one example per rule.

use super::counters::{SlashStyle, slash_style};
use super::*;
use crate::protocol::location::{self, key, key_hash};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Row, file, scheme, host and port of a row with an origin.
type Placed = (u32, u32, location::Scheme, String, u32);

/// What a rule has found, by number.
type Flagged = BTreeMap<SetRule, BTreeSet<u32>>;

/// A document as plain as can be: rows that may be absent.
#[derive(Debug, Clone, Default)]
struct Model {
    rows: Vec<Option<(String, IndexedRow)>>,
    mtimes: BTreeMap<u32, i64>,
}

impl Locs for Model {
    fn loc(&self, row: u32) -> Option<Cow<'_, str>> {
        let (loc, _) = self.rows.get(row as usize)?.as_ref()?;
        (!loc.is_empty()).then_some(Cow::Borrowed(loc))
    }

    fn file(&self, row: u32) -> u32 {
        self.rows[row as usize].as_ref().map_or(0, |(_, facts)| facts.file)
    }

    fn each_date(&self, file: u32, see: &mut dyn FnMut(i64)) {
        for (_, facts) in self.rows.iter().flatten().filter(|(_, facts)| facts.file == file) {
            facts.lastmod.into_iter().for_each(&mut *see);
        }
    }

    fn links(&self, row: u32) -> Vec<Link> {
        let (loc, _) = self.rows[row as usize].as_ref().expect("a row that is there");
        linked_from(loc)
    }
}

impl Model {
    fn of(rows: &[(&str, IndexedRow)]) -> Self {
        Self { rows: rows.iter().map(|&(loc, facts)| Some((loc.to_owned(), facts))).collect(), ..Self::default() }
    }

    fn live(&self) -> impl Iterator<Item = (u32, &str, &IndexedRow)> {
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(row, place)| place.as_ref().map(|(loc, facts)| (row as u32, loc.as_str(), facts)))
    }

    fn index(&self) -> SetIndex {
        let mut index = SetIndex::default();
        for (&file, &mtime) in &self.mtimes {
            index.set_mtime(file, Some(mtime));
        }
        for (row, loc, facts) in self.live() {
            index.insert(row, key_hash(loc), facts, self);
        }
        index.recompute(self);
        index
    }

    /// The rules by their words, with no regard to cost: flagged rows, flagged files, the set.
    fn recount(&self) -> (Flagged, Flagged, BTreeSet<SetRule>) {
        let mut rows = Flagged::new();
        let mut files = Flagged::new();
        let mut set = BTreeSet::new();
        let with_loc: Vec<_> = self.live().filter(|(_, loc, _)| !loc.is_empty()).collect();

        let mut texts: BTreeMap<&str, Vec<(u32, u32)>> = BTreeMap::new();
        let mut pages: BTreeMap<String, Vec<(u32, &str)>> = BTreeMap::new();
        for &(row, loc, facts) in &with_loc {
            texts.entry(loc).or_default().push((row, facts.file));
            let mut scratch = String::new();
            pages.entry(key(loc, &mut scratch).to_owned()).or_default().push((row, loc));
        }
        for members in texts.values() {
            let mut seen = BTreeSet::new();
            for (place, &(row, file)) in members.iter().enumerate() {
                let is_new_file = seen.insert(file);
                if place > 0 {
                    let rule = if is_new_file { SetRule::DuplicateAcrossFiles } else { SetRule::Duplicate };
                    rows.entry(rule).or_default().insert(row);
                }
            }
        }
        for members in pages.values() {
            let mut seen = BTreeSet::new();
            for &(row, loc) in members {
                if seen.insert(loc) && seen.len() > 1 {
                    rows.entry(SetRule::DuplicateEquivalent).or_default().insert(row);
                }
            }
        }

        // (row, file, scheme, host, port) of everything that has an origin
        let origins: Vec<_> = with_loc
            .iter()
            .filter_map(|&(row, loc, facts)| {
                let mut scratch = String::new();
                let normal = Location::of(key(loc, &mut scratch));
                let (origin, _) = normal.origin()?;
                let port = origin.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0_u32);
                Some((row, facts.file, normal.scheme()?, normal.host().to_owned(), port))
            })
            .collect();
        let of_scheme = |scheme| origins.iter().filter(|origin| origin.2 == scheme).count();
        let rarer = if of_scheme(location::Scheme::Http) <= of_scheme(location::Scheme::Https) {
            location::Scheme::Http
        } else {
            location::Scheme::Https
        };
        let is_mixed = of_scheme(location::Scheme::Http) > 0 && of_scheme(location::Scheme::Https) > 0;
        let of_host = |host: &str| origins.iter().filter(|origin| origin.3 == host).count();
        for (row, _, scheme, host, _) in &origins {
            if is_mixed && *scheme == rarer {
                rows.entry(SetRule::MixedScheme).or_default().insert(*row);
            }
            let (partner, loses_tie) = match host.strip_prefix("www.") {
                Some(bare) => (bare.to_owned(), true),
                None => (format!("www.{host}"), false),
            };
            let (mine, theirs) = (of_host(host), of_host(&partner));
            if theirs > mine || (theirs == mine && loses_tie) {
                rows.entry(SetRule::MixedWww).or_default().insert(*row);
            }
        }
        let (templates, real): (Vec<_>, Vec<_>) = origins.iter().partition(|origin| origin.3.ends_with("example.com"));
        if !real.is_empty() {
            let flagged: BTreeSet<u32> = templates.iter().map(|origin| origin.0).collect();
            rows.entry(SetRule::TemplateHost).or_default().extend(flagged);
        }
        let all_files: BTreeSet<u32> = self.live().map(|(_, _, facts)| facts.file).collect();
        for &file in &all_files {
            let here: Vec<_> = origins.iter().filter(|origin| origin.1 == file).collect();
            let main = |value: &dyn Fn(&Placed) -> (String, u32)| {
                let mut counts: BTreeMap<(String, u32), i64> = BTreeMap::new();
                for origin in &here {
                    *counts.entry(value(origin)).or_default() += 1;
                }
                counts.into_iter().min_by_key(|(name, count)| (-count, name.clone())).map(|(name, _)| name)
            };
            let by_host = |origin: &Placed| (origin.3.clone(), 0_u32);
            let by_port = |origin: &Placed| (String::new(), origin.4);
            for (rule, value) in
                [(SetRule::MixedHost, &by_host as &dyn Fn(&Placed) -> (String, u32)), (SetRule::MixedPort, &by_port)]
            {
                let main = main(value);
                for origin in &here {
                    if Some(value(origin)) != main {
                        rows.entry(rule).or_default().insert(origin.0);
                    }
                }
            }
            let entries: Vec<_> = self.live().filter(|(_, _, facts)| facts.file == file).collect();
            let mut dates: Vec<i64> = entries.iter().filter_map(|(_, _, facts)| facts.lastmod).collect();
            dates.sort_unstable();
            let news = entries.iter().filter(|(_, _, facts)| facts.news).count();
            if news > 0 && news < entries.len() {
                files.entry(SetRule::NewsMixed).or_default().insert(file);
            }
            if dates.len() >= 20 && news * 2 <= entries.len() {
                let fullest = (0..dates.len())
                    .map(|start| dates[start..].iter().filter(|&&date| date - dates[start] <= 60).count())
                    .max()
                    .unwrap_or(0);
                let near = self
                    .mtimes
                    .get(&file)
                    .map_or(0, |mtime| dates.iter().filter(|&&date| (date - mtime).abs() <= 86_400).count());
                if dates.first() == dates.last() {
                    files.entry(SetRule::LastmodIdentical).or_default().insert(file);
                } else if fullest * 5 > dates.len() * 4 || near * 5 > dates.len() * 4 {
                    files.entry(SetRule::LastmodGenerated).or_default().insert(file);
                }
            }
        }

        let keys: Vec<u64> = with_loc.iter().map(|(_, loc, _)| key_hash(loc)).collect();
        let hosts: BTreeSet<u32> = origins.iter().map(|origin| host_hash(&origin.3)).collect();
        let linked: Vec<(u32, u64, BTreeSet<Link>)> = (with_loc.iter().filter(|(_, _, facts)| facts.alternate))
            .map(|&(row, loc, _)| (row, key_hash(loc), linked_from(loc).into_iter().collect()))
            .collect();
        for (row, key, links) in &linked {
            for link in links {
                let of_target = || linked.iter().filter(|(_, other, _)| *other == link.key);
                let mut flag = |rule: SetRule, is: bool| is.then(|| rows.entry(rule).or_default().insert(*row));
                let (is_there, is_own) = (keys.contains(&link.key), link.key == *key);
                let returns = of_target().any(|(_, _, theirs)| theirs.iter().any(|back| back.key == *key));
                flag(SetRule::HreflangNoReturn, is_there && !is_own && !returns);
                flag(SetRule::HreflangTargetMissing, !is_there && hosts.contains(&link.host));
                // What a page that does not list itself lacks is reported of that page alone.
                let whole = |links: &BTreeSet<Link>, missing: Option<u64>| {
                    links.iter().map(|link| link.key).chain(missing).collect::<BTreeSet<u64>>()
                };
                let same = || linked.iter().filter(|(_, _, other)| other == links).map(|(_, key, _)| *key);
                let missing = same().next().filter(|first| same().all(|key| key == *first));
                let missing = missing.filter(|key| !links.iter().any(|link| link.key == *key));
                let differs = |theirs: &BTreeSet<Link>| {
                    let their_missing = Some(link.key).filter(|key| !theirs.iter().any(|link| link.key == *key));
                    let may_be_same = missing.is_some() || their_missing.is_some();
                    theirs != links && !(may_be_same && whole(links, missing) == whole(theirs, their_missing))
                };
                flag(SetRule::HreflangSetDiffers, of_target().any(|(_, _, theirs)| differs(theirs)));
            }
        }

        let style = |loc: &str| slash_style(&Location::of(loc));
        for depth in 0..8 {
            let of = |slash: bool| SlashStyle { depth, slash };
            let with_style = |slash: bool| with_loc.iter().filter(|(_, loc, _)| style(loc) == Some(of(slash))).count();
            let (bare, slash) = (with_style(false), with_style(true));
            let is_deepest = !with_loc.iter().any(|(_, loc, _)| style(loc).is_some_and(|style| style.depth > depth));
            if bare.min(slash) > 0 && bare.min(slash) * 10 < bare + slash && (bare < slash || is_deepest) {
                let flagged = with_loc.iter().filter(|(_, loc, _)| style(loc) == Some(of(slash < bare)));
                rows.entry(SetRule::MixedSlash).or_default().extend(flagged.map(|&(row, _, _)| row));
            }
        }

        let facts: Vec<_> = self.live().map(|(_, _, facts)| *facts).collect();
        set.extend(facts.iter().any(|facts| facts.changefreq.is_some()).then_some(SetRule::ChangefreqIgnored));
        set.extend(facts.iter().any(|facts| facts.priority.is_some()).then_some(SetRule::PriorityIgnored));
        let with_lastmod = facts.iter().filter(|facts| facts.has_lastmod).count();
        if with_lastmod > 0 && with_lastmod * 2 < facts.len() {
            set.insert(SetRule::LastmodSparse);
        }
        if facts.len() > 1 {
            if facts[0].priority.is_some() && facts.iter().all(|other| other.priority == facts[0].priority) {
                set.insert(SetRule::PriorityIdentical);
            }
            if facts.iter().filter(|facts| facts.priority == Some(100)).count() * 2 > facts.len() {
                set.insert(SetRule::PriorityAllHigh);
            }
        }
        (rows, files, set)
    }
}

/// Links as the tests have them: two languages and a page that everyone lists, some of which list others.
fn linked_from(loc: &str) -> Vec<Link> {
    let page = loc.trim_end_matches(['/', 'x', '#']);
    let links =
        [("en", page.replace("/b", "/a")), ("de", page.replace("/a", "/b")), ("x", "https://e.com/".to_owned())];
    let link = |(code, href): &(&str, String)| Link {
        key: key_hash(href),
        code: u32::from(code.as_bytes()[0]),
        host: host_hash(location::host(href)),
    };
    links.iter().take(if loc.ends_with('x') { 2 } else { 3 }).map(link).collect()
}

/// Compares every answer of an index with the recount.
fn agree(index: &SetIndex, model: &Model) {
    let (rows, files, set) = model.recount();
    for &rule in SetRule::ALL {
        let flagged = rows.get(&rule).cloned().unwrap_or_default();
        let flagged_files = files.get(&rule).cloned().unwrap_or_default();
        let expected = match rule.place() {
            SetRuleTarget::Row => flagged.len(),
            SetRuleTarget::File => flagged_files.len(),
            SetRuleTarget::Set => usize::from(set.contains(&rule)),
        };
        assert_eq!(index.count_of(rule), expected as u64, "{rule:?}");
        assert_eq!(index.rows_with(rule, model).iter().collect::<BTreeSet<_>>(), flagged, "{rule:?}");
        assert_eq!(index.files_with(rule).into_iter().collect::<BTreeSet<_>>(), flagged_files, "{rule:?}");
        for row in 0..model.rows.len() as u32 {
            assert_eq!(index.rules_of(row, model).has(rule), flagged.contains(&row), "{rule:?} of row {row}");
        }
    }
    assert_eq!(index.len(), model.live().count() as u64);
    let with = |has: fn(&IndexedRow) -> bool| model.live().filter(|(_, _, facts)| has(facts)).count() as u64;
    let presence = Presence {
        lastmod: with(|facts| facts.has_lastmod),
        changefreq: with(|facts| facts.has_changefreq),
        priority: with(|facts| facts.has_priority),
        extensions: with(|facts| facts.has_extensions),
    };
    assert_eq!(index.presence(), presence);
    let findings = index.broken().count();
    assert_eq!(findings, files.values().map(BTreeSet::len).sum::<usize>() + set.len());
}

fn plain(file: u32) -> IndexedRow {
    IndexedRow { file, ..IndexedRow::default() }
}

fn codes(model: &Model) -> Vec<(&'static str, u64)> {
    model.index().counts().into_iter().collect()
}

#[test]
fn what_each_rule_counts() {
    let a = "https://e.com/a";
    for (rows, expected) in [
        (vec![(a, 0), ("https://e.com/b", 0)], vec![]),
        (vec![(a, 0), (a, 0), (a, 0)], vec![("set-duplicate", 2)]),
        (vec![(a, 0), (a, 1), (a, 1)], vec![("set-duplicate", 1), ("set-duplicate-across-files", 1)]),
        (vec![(a, 0), ("HTTPS://E.com:443/%61", 0)], vec![("set-duplicate-equivalent", 1)]),
        (
            vec![(a, 0), ("https://e.com/a#x", 0), ("https://e.com/a#x", 0)],
            vec![("set-duplicate", 1), ("set-duplicate-equivalent", 1)],
        ),
        (vec![(a, 0), ("http://e.com/b", 0)], vec![("set-mixed-scheme", 1)]),
        (vec![(a, 0), ("https://www.e.com/b", 1)], vec![("set-mixed-www", 1)]),
        (
            vec![(a, 0), ("https://example.com/b", 1), ("https://www.example.com/b", 2)],
            vec![("loc-template-residue", 2), ("set-mixed-www", 1)],
        ),
        (vec![("https://example.com/b", 0)], vec![]),
        (vec![("https://example.com/b", 0), ("https://shop.example.com/a", 1)], vec![]),
        (vec![(a, 0), ("https://shop.example.com/a", 1)], vec![("loc-template-residue", 1)]),
        (vec![(a, 0), ("https://myexample.com/a", 1)], vec![]),
        (vec![(a, 0), ("https://f.com/b", 1)], vec![]),
        (vec![(a, 0), ("https://f.com/b", 0)], vec![("set-mixed-host", 1)]),
        (vec![(a, 0), ("https://e.com:8443/b", 0)], vec![("set-mixed-port", 1)]),
        (vec![("", 0), ("", 0), ("/x", 0), ("x y", 0)], vec![]),
    ] {
        let rows: Vec<_> = rows.into_iter().map(|(loc, file)| (loc, plain(file))).collect();
        assert_eq!(codes(&Model::of(&rows)), expected, "{rows:?}");
    }
}

#[test]
fn cross_submission_allows_several_hosts() {
    let model = Model::of(&[("https://e.com/a", plain(0)), ("https://f.com/b", plain(0))]);
    let mut index = model.index();
    index.set_cross_submission(true);
    assert_eq!(index.count_of(SetRule::MixedHost), 0);
    assert!(index.rows_with(SetRule::MixedHost, &model).is_empty());
}

#[test]
fn a_duplicate_names_its_original() {
    let model = Model::of(&[
        ("https://e.com/a", plain(0)),
        ("https://e.com/b", plain(0)),
        ("https://e.com/a#x", plain(0)),
        ("https://e.com/a#x", plain(0)),
    ]);
    let index = model.index();
    let originals: Vec<_> = (0..4).map(|row| index.duplicates().original(row, &model)).collect();
    assert_eq!(originals, [None, None, Some(0), Some(2)]);
    assert_eq!(index.duplicates().members(3), [0, 2, 3]);
    assert!(index.duplicates().members(1).is_empty() && !index.duplicates().is_duplicate(1));
    assert_eq!(index.duplicates().pages(), 2);
    assert_eq!(index.main_origin(), Some(("https://e.com", 4)));
}

#[test]
fn near_duplicates_are_found_on_demand() {
    let model = Model::of(&[
        ("https://e.com/a", plain(0)),
        ("https://e.com/a/", plain(0)),
        ("https://e.com/a", plain(0)),
        ("http://www.e.com/A?utm_id=1", plain(0)),
        ("https://e.com/b", plain(0)),
    ]);
    assert_eq!(model.index().near_duplicates(&model).iter().collect::<Vec<_>>(), [1, 3]);
}

fn dated(dates: impl IntoIterator<Item = i64>) -> Model {
    let row = |(place, seconds)| {
        let facts = IndexedRow { lastmod: Some(seconds), has_lastmod: true, ..IndexedRow::default() };
        Some((format!("https://e.com/{place}"), facts))
    };
    Model { rows: dates.into_iter().enumerate().map(row).collect(), ..Model::default() }
}

#[test]
fn dates_of_one_value_or_one_minute() {
    let day = 86_400;
    for (dates, expected) in [
        (vec![5; 19], None),
        (vec![5; 20], Some("set-lastmod-identical")),
        ((0..20).map(|n| n * day).collect(), None),
        ((0..20).map(|n| n * 3).collect(), Some("set-lastmod-generated")), // 0 to 57 s
        ((0..20).map(|n| n * 4).collect(), None),                          // 16 of 20 within 60 s: not over 80 %
        ((0..20).map(|n| 50 + n).collect(), Some("set-lastmod-generated")), // over the full minute
        ((0..20).map(|n| if n < 17 { 7 } else { n * day }).collect(), Some("set-lastmod-generated")),
        ((0..20).map(|n| if n < 16 { 7 } else { n * day }).collect(), None),
        (vec![i64::MAX; 20], Some("set-lastmod-identical")),
    ] {
        let dates: Vec<i64> = dates;
        let model = dated(dates.iter().copied());
        let found = codes(&model);
        assert_eq!(found.iter().map(|&(code, _)| code).find(|code| code.contains("lastmod")), expected, "{dates:?}");
    }
}

#[test]
fn dates_about_the_files_own_time() {
    let mut model = dated((0..20).map(|n| n * 3_600));
    assert_eq!(codes(&model), []);
    model.mtimes.insert(0, 86_400 - 3_600);
    assert_eq!(codes(&model), [("set-lastmod-generated", 1)]);
    let index = model.index();
    let (file, rule) = index.broken().next().unwrap();
    let message = index.message_of(file, rule);
    assert_eq!(message, "over 80 % of the 20 dates in this file lie within a day of when it was written");
    let mut index = model.index();
    index.set_mtime(0, None);
    index.recompute(&model);
    assert_eq!(index.count_of(SetRule::LastmodGenerated), 0);
}

#[test]
fn equal_priorities_need_two_entries() {
    for (rows, expected) in [(1, None), (2, Some(SetRule::PriorityIdentical)), (10, Some(SetRule::PriorityIdentical))] {
        let facts = IndexedRow { priority: Some(80), ..IndexedRow::default() };
        let rows = (0..rows).map(|row| Some((format!("https://e.com/{row}"), facts))).collect();
        let index = Model { rows, ..Model::default() }.index();
        let asked = || index.broken().filter(|(_, rule)| rule.rule().severity().is_some());
        assert_eq!(asked().next().map(|(_, rule)| rule), expected);
        assert!(asked().all(|(file, rule)| index.message_of(file, rule).contains("priority 0.8")));
    }
}

/// Counts looks at rows, so that a test can say what must not be examined.
struct Counted<'m>(&'m Model, std::cell::Cell<usize>, std::cell::Cell<usize>);

impl Locs for Counted<'_> {
    fn loc(&self, row: u32) -> Option<Cow<'_, str>> {
        self.1.set(self.1.get() + 1);
        self.0.loc(row)
    }
    fn file(&self, row: u32) -> u32 {
        self.0.file(row)
    }
    fn each_date(&self, file: u32, see: &mut dyn FnMut(i64)) {
        self.2.set(self.2.get() + 1);
        self.0.each_date(file, see);
    }
    fn links(&self, row: u32) -> Vec<Link> {
        self.0.links(row)
    }
}

#[test]
fn a_row_costs_the_same_among_ten_thousand_copies() {
    let facts = IndexedRow { lastmod: Some(7), has_lastmod: true, ..IndexedRow::default() };
    let row = |n: usize| {
        let loc = if n.is_multiple_of(2) { "https://e.com/a".to_owned() } else { format!("https://e.com/a#{n}") };
        Some((loc, facts))
    };
    let model = Model { rows: (0..10_000).map(row).collect(), ..Model::default() };
    let mut index = model.index();
    let counted = Counted(&model, 0.into(), 0.into());
    for row in [0, 1, 5_000, 9_999] {
        index.remove(row, &facts, &counted);
        index.recompute(&counted);
        index.insert(row, key_hash(&model.loc(row).unwrap()), &facts, &counted);
        index.recompute(&counted);
        index.rules_of(row, &counted);
    }
    assert!(counted.1.get() <= 4 * 12, "{} texts looked up", counted.1.get());
    assert_eq!(counted.2.get(), 0, "dates were walked though nothing could have changed");
    assert_eq!(index.count_of(SetRule::Duplicate), 4_999);
    assert_eq!(index.count_of(SetRule::DuplicateEquivalent), 5_000);
}

#[test]
fn a_distinct_url_takes_at_most_16_bytes() {
    struct Numbered;
    impl Locs for Numbered {
        fn loc(&self, row: u32) -> Option<Cow<'_, str>> {
            Some(Cow::Owned(format!("https://e.com/{row}")))
        }
        fn file(&self, _: u32) -> u32 {
            0
        }
        fn each_date(&self, _: u32, _: &mut dyn FnMut(i64)) {}
        fn links(&self, _: u32) -> Vec<Link> {
            Vec::new()
        }
    }
    let facts = IndexedRow::default();
    // The table holds 7/8 of a power of two and then doubles: one row more is the worst case.
    let rows = (1_u32 << 17) / 8 * 7 + 1;
    let index =
        SetIndex::build((0..rows).map(|row| (row, key_hash(&format!("https://e.com/{row}")), facts)), &Numbered);
    assert!(index.duplicates.table_bytes() <= 16 * rows as usize, "{}", index.duplicates.table_bytes());
    assert_eq!(index.duplicates().pages(), rows as usize);
}

fn any_loc() -> impl Strategy<Value = String> {
    let host = prop::sample::select(vec![
        "https://e.com",
        "https://www.e.com",
        "https://www.example.com",
        "http://e.com",
        "https://e.com:8443",
        "HTTPS://E.com",
        "https://f.com",
        "https://a.com",
    ]);
    let path = prop::sample::select(vec!["/a", "/a", "/b", "/b/", "/a#x", "/%61", "/c.html", "", "/"]);
    prop_oneof![
        20 => (host, path).prop_map(|(host, path)| format!("{host}{path}")),
        1 => Just(String::new()),
        1 => Just("/relative".to_owned()),
    ]
}

fn any_facts() -> impl Strategy<Value = IndexedRow> {
    let date = prop_oneof![3 => Just(Some(100_i64)), 2 => (90_i64..170).prop_map(Some), 1 => (0_i64..2_000_000).prop_map(Some), 1 => Just(None)];
    let priority = prop_oneof![4 => Just(Some(100_u8)), 1 => Just(Some(50)), 1 => Just(None)];
    let changefreq = prop_oneof![9 => Just(Some(2_u8)), 1 => Just(None)];
    (0_u32..3, date, any::<bool>(), priority, changefreq, prop::bool::weighted(0.1), any::<bool>()).prop_map(
        |(file, lastmod, unreadable, priority, changefreq, news, alternate)| IndexedRow {
            file,
            lastmod,
            has_lastmod: lastmod.is_some() || unreadable,
            has_changefreq: changefreq.is_some() || unreadable,
            has_priority: priority.is_some() || unreadable,
            has_extensions: news || alternate,
            priority,
            changefreq,
            news,
            alternate,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn after_any_edits_it_equals_a_recount(
        start in prop::collection::vec((any_loc(), any_facts()), 0..90),
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of((any_loc(), any_facts()))), 0..60),
        mtime in prop::option::of(0_i64..200_000),
    ) {
        let mut model = Model { rows: start.into_iter().map(Some).collect(), ..Model::default() };
        if let Some(mtime) = mtime {
            model.mtimes.insert(1, mtime);
        }
        let mut index = model.index();
        agree(&index, &model);
        for batch in edits.chunks(7) {
            // All old rows of the batch go before any new one comes, as the session does it.
            let mut new = model.clone();
            let mut touched = BTreeSet::new();
            for (place, row) in batch {
                let row_id = place.index(new.rows.len() + 1);
                if row_id == new.rows.len() {
                    new.rows.push(None);
                }
                // Every other time only the values change, where there is a row.
                let kept = new.rows[row_id].clone().filter(|_| row_id % 2 == 0);
                new.rows[row_id] = match (kept, row) {
                    (Some((loc, old)), Some((_, facts))) => {
                        Some((loc, IndexedRow {
                            file: old.file,
                            news: old.news,
                            alternate: old.alternate,
                            has_extensions: old.has_extensions,
                            ..*facts
                        }))
                    }
                    _ => row.clone(),
                };
                touched.insert(row_id);
            }
            // What keeps its URL and place is revised, the rest removed and put back.
            let stays = |row: usize| match (model.rows.get(row), &new.rows[row]) {
                (Some(Some((old_loc, old))), Some((loc, facts))) => {
                    let is_same = (old_loc, old.file, old.news, old.alternate) == (loc, facts.file, facts.news, facts.alternate);
                    is_same.then_some((*old, *facts))
                }
                _ => None,
            };
            for (old, facts) in touched.iter().filter_map(|row| stays(*row)) {
                index.revise(&old, &facts);
            }
            touched.retain(|row| stays(*row).is_none());
            for &row in &touched {
                if let Some(Some((_, facts))) = model.rows.get(row) {
                    index.remove(row as u32, facts, &model);
                }
            }
            for &row in &touched {
                if let Some((loc, facts)) = &new.rows[row] {
                    index.insert(row as u32, key_hash(loc), facts, &new);
                }
            }
            index.recompute(&new);
            model = new;
            agree(&index, &model);
        }
        prop_assert_eq!(index.counts(), model.index().counts());
    }
}
