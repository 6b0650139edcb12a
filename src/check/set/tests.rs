//! Tests of the set index: equal to a full recount after every change, and one example per rule.

mod model;

use super::counters::{SlashStyle, slash_style};
use super::*;
use crate::protocol::location::{self, key, key_hash};
use model::Model;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Compares every answer of an index with the recount.
fn agree(index: &SetIndex, model: &Model) {
    let (rows, files, set) = model.recount();
    for &rule in SetRule::ALL {
        let flagged = rows.get(&rule).cloned().unwrap_or_default();
        let flagged_files = files.get(&rule).cloned().unwrap_or_default();
        let expected = match rule.target() {
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
