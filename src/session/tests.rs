//! Property tests of the session against a naive model: rows, counts and files equal those of a fresh load.

mod set_findings;

use super::*;
use crate::check::rule::Rule;
use crate::document::RowState;
use crate::document::rows::RowSet;
use crate::document::sitemap::SitemapId;
use crate::files::Options;
use crate::protocol::Severity;
use crate::session::command::{Assignment, parse};
use crate::session::edit::Change;
use crate::session::edit::DefaultScope;
use crate::session::findings;
use crate::session::report;
use crate::session::state::vocabulary;
use crate::session::store::save;
use proptest::prelude::*;
use std::convert::Infallible;
use std::path::Path;

const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">";

/// Alternate links of two languages.
fn links(en: &str, de: &str) -> String {
    let link = |code: &str, path: &str| {
        format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"https://a.org/{path}\"/>")
    };
    format!("{}{}", link("en", en), link("de", de))
}

/// A folder with an index and two files.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "sitemap_index.xml",
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<sitemap><loc>https://a.org/one.xml</loc></sitemap>\n<sitemap><loc>https://a.org/two.xml</loc></sitemap>\n</sitemapindex>\n",
    );
    write(
        "one.xml",
        &format!(
            "{HEAD}\n<url><loc>https://a.org/</loc><priority>0.50</priority></url>\n<url><loc>https://a.org/b c</loc><lastmod>2026-13-01</lastmod></url>\n<url><loc>https://a.org/same</loc>{}</url>\n</urlset>\n",
            links("same", "b%20c")
        ),
    );
    write(
        "two.xml",
        &format!(
            "{HEAD}\n<url><loc>https://a.org/same</loc><changefreq>Daily</changefreq></url>\n<url><lastmod>2026-01-01</lastmod><loc>https://a.org/x#y</loc>{}</url>\n<url><loc>http://a.org/z/</loc><priority>0.5</priority>{}</url>\n</urlset>\n",
            links("x", "same"),
            links("same", "b%20c")
        ),
    );
    folder
}

fn open(path: &Path) -> Session {
    store::load::open(path, Options::default(), NOW).unwrap()
}

pub(super) fn written(document: &Document) -> Vec<String> {
    (0..document.sitemaps().len() as u32)
        .map(|file| {
            let mut out = Vec::new();
            let mut write = |bytes: &[u8]| {
                out.extend_from_slice(bytes);
                Ok::<(), Infallible>(())
            };
            document.write_sitemap(SitemapId(file), &mut write).unwrap();
            String::from_utf8(out).unwrap()
        })
        .collect()
}

/// A fresh load of the files that the session would write; a file without rows is removed from the set.
fn fresh(session: &Session) -> Session {
    let folder = folder();
    let path = folder.path().join("sitemap_index.xml");
    for ((number, name), text) in (0..).zip(["one.xml", "two.xml"]).zip(written(session.document())) {
        if session.document().compare(&session.view().saved).is_removed_by_save(SitemapId(number)) {
            std::fs::remove_file(folder.path().join(name)).unwrap();
            let index = std::fs::read_to_string(&path).unwrap();
            let entry = format!("<sitemap><loc>https://a.org/{name}</loc></sitemap>\n");
            assert!(index.contains(&entry), "{index}");
            std::fs::write(&path, index.replace(&entry, "")).unwrap();
        } else {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
    }
    open(&path)
}

fn codes(session: &Session) -> Vec<(&'static str, u64)> {
    let mut codes: Vec<_> = session.counts().by_rule().into_iter().map(|(rule, count)| (rule.code(), count)).collect();
    codes.sort_unstable();
    codes
}

fn set(rows: RowSet, field: Field, typed: &str) -> Change {
    Change::Set { rows, assignments: vec![Assignment { field, typed: typed.into() }] }
}

#[test]
fn an_index_loads_with_its_children_and_their_findings() {
    let folder = folder();
    let session = open(&folder.path().join("sitemap_index.xml"));
    assert_eq!(session.view().urls(), 6);
    let codes = codes(&session);
    for expected in [
        ("lastmod-impossible", 1),
        ("loc-inner-whitespace", 1),
        ("set-duplicate-across-files", 1),
        ("changefreq-case", 1),
        ("entry-child-order", 1),
        ("loc-fragment", 1),
        ("set-mixed-scheme", 1),
        ("lastmod-missing", 4),
    ] {
        assert!(codes.contains(&expected), "{expected:?} in {codes:?}");
    }
    assert!(!session.is_modified());
}

#[test]
fn undoing_or_redoing_all_steps_restores_files_and_counts() {
    let folder = folder();
    let mut session = open(&folder.path().join("sitemap_index.xml"));
    let (files, counts) = (written(session.document()), codes(&session));
    session.change(&set((0..6).collect(), Field::Priority, "+0.1")).unwrap();
    session.change(&Change::Delete([1].into_iter().collect())).unwrap();
    session.change(&Change::Duplicate([4].into_iter().collect())).unwrap();
    let (later, later_counts) = (written(session.document()), codes(&session));
    assert!(session.is_modified());
    assert_eq!(session.history().len(), 3);
    while session.undo().is_some() {}
    assert_eq!((written(session.document()), codes(&session)), (files, counts));
    assert!(!session.is_modified());
    while session.redo().is_some() {}
    assert_eq!((written(session.document()), codes(&session)), (later, later_counts));
}

#[test]
fn one_changed_cell_rechecks_one_row() {
    let folder = folder();
    let mut session = open(&folder.path().join("sitemap_index.xml"));
    let report = session.change(&set([2].into_iter().collect(), Field::Priority, "0.8")).unwrap();
    assert_eq!((report.touched, report.rechecked), (1, 1));
    assert_eq!(report.message, "priority set to 0.8 on 1 row");
}

#[test]
fn one_code_covers_a_rule_and_its_variants() {
    let folder = folder();
    let mut session = open(&folder.path().join("sitemap_index.xml"));
    // Whitespace around changefreq is a warning, around other values a note.
    let raw = |row, text: &str| Change::Raw { row: RowId(row), text: text.into() };
    session.change(&raw(0, "<url><loc> https://a.org/ </loc></url>")).unwrap();
    session.change(&raw(1, "<url><loc>https://a.org/b</loc><changefreq> daily </changefreq></url>")).unwrap();
    let count = session.counts().by_rule().into_iter().find(|(rule, _)| rule.code() == "field-whitespace");
    assert_eq!(count, Some((Rule::FIELD_WHITESPACE_STRICT, 2)));
    let vocabulary = super::state::vocabulary(NOW);
    let found = |query: &str| {
        let query = Query::parse(query, &vocabulary).unwrap();
        session.view().rows_where(&query, &Progress::default()).unwrap().iter().collect::<Vec<_>>()
    };
    assert_eq!(found("rule:field-whitespace"), [0, 1]);
    assert_eq!(found("rule:field-whitespace severity:warning"), [1]);
}

#[derive(Debug, Clone)]
enum Act {
    Do(Change),
    Undo,
    Redo,
}

fn act() -> impl Strategy<Value = Act> {
    let rows = || proptest::collection::vec(0u32..9, 0..4).prop_map(|rows| rows.into_iter().collect::<RowSet>());
    let typed = prop_oneof![
        Just((Field::Priority, "0.8")),
        Just((Field::Priority, "+0.1")),
        Just((Field::Priority, "none")),
        Just((Field::Priority, "7")),
        Just((Field::Lastmod, "today")),
        Just((Field::Lastmod, "+7d")),
        Just((Field::Lastmod, "2026-02-30")),
        Just((Field::Lastmod, "none")),
        Just((Field::Changefreq, "weekly")),
        Just((Field::Changefreq, "Weekly")),
        Just((Field::Loc, "https://a.org/same")),
        Just((Field::Loc, "https://a.org/b c")),
        Just((Field::Loc, "none")),
        Just((Field::Loc, "HTTPS://A.org/same")),
    ];
    prop_oneof![
        6 => (rows(), typed).prop_map(|(rows, (field, typed))| Act::Do(set(rows, field, typed))),
        1 => rows().prop_map(|rows| Act::Do(Change::Delete(rows))),
        1 => rows().prop_map(|rows| Act::Do(Change::Duplicate(rows))),
        1 => proptest::option::of(0u32..6).prop_map(|row| Act::Do(Change::Insert {
            after: row.map(RowId), before: false, locs: vec!["https://a.org/new".into(), "https://a.org/same".into()],
        })),
        1 => rows().prop_map(|rows| Act::Do(Change::Nudge { rows, field: Field::Lastmod, up: true })),
        1 => rows().prop_map(|rows| {
            let mut rules = crate::check::RuleSet::EMPTY;
            for rule in Rule::ALL {
                rules.insert(rule);
            }
            Act::Do(Change::Fix { rows, rules })
        }),
        2 => Just(Act::Undo),
        1 => Just(Act::Redo),
    ]
}

/// Unusual entries: whitespace, references, CDATA, empty and repeated elements, no loc.
const ODD: [&str; 10] = [
    "<url><loc> https://a.org/1 </loc><lastmod>\n2026-01-01 </lastmod></url>",
    "<url><loc>https://a.org/2</loc><lastmod>&#32;2026-01-01</lastmod><priority>&#48;.5</priority></url>",
    "<url><loc><![CDATA[ https://a.org/3 ]]></loc><changefreq><![CDATA[ daily ]]></changefreq></url>",
    "<url><loc>https://a.org/4</loc><lastmod/><priority></priority></url>",
    "<url><priority>0.5</priority><loc>https://a.org/5</loc></url>",
    "<url><lastmod>2020-01-01</lastmod><changefreq>daily</changefreq><xhtml:link rel='alternate' hreflang='en' href='https://a.org/1'/></url>",
    "<url><loc>https://a.org/7</loc><loc>https://a.org/7b</loc><priority>1</priority><priority>0</priority></url>",
    "<url/>",
    "<url><loc>https://a.org/9</loc><!-- c --><changefreq> daily </changefreq><x:y xmlns:x='z'/><xhtml:link rel='alternate' hreflang='en' href='/x'/></url>",
    "<url a='b'><loc>https://a.org/10<b/></loc>text<lastmod>2026</lastmod></url>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// The rules that an edit of one field updates equal those of a check of the whole entry.
    #[test]
    fn incremental_findings_equal_those_of_a_full_check(
        changes in proptest::collection::vec((proptest::collection::vec(0u32..10, 1..4), 0..4usize, 0..6usize), 1..12),
        undo in proptest::collection::vec(any::<bool>(), 12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, format!("{HEAD}\n{}\n</urlset>\n", ODD.join("\n"))).unwrap();
        let mut session = open(&path);
        for ((rows, field, value), undo) in changes.into_iter().zip(undo) {
            let values = match Field::ALL[field] {
                Field::Loc => ["none", "https://a.org/1", "/x", "HTTPS://a.org/1", "https://a.org/2", "https://a.org/a b"],
                Field::Lastmod => ["none", "2026-01-01", "2019-01-01", "2026-02-30", "2099-01-01", "-1d"],
                Field::Changefreq => ["none", "daily", "never", "Daily", "x", "hourly"],
                Field::Priority => ["none", "0.5", "1", "0,5", "high", "+0.1"],
            };
            let _ = session.change(&set(rows.into_iter().collect(), Field::ALL[field], values[value]));
            if undo {
                session.undo();
            }
            let snapshot = session.view();
            for row in session.document().live_rows() {
                let (entry, text) = session.document().entry(row);
                let context = snapshot.checks.context(session.document(), row, NOW);
                let full = crate::check::check(&entry, &text, &context);
                let kept = snapshot.rules_of(row).intersection(crate::check::entry::ENTRY_RULES);
                prop_assert_eq!(kept, full, "{}", String::from_utf8_lossy(&text));
            }
        }
    }

    /// After any sequence of changes, the findings equal those of a fresh load of the files that would be saved, the
    /// number of changed rows is exact, and undoing all steps restores the original bytes.
    #[test]
    fn findings_after_edits_equal_those_of_a_fresh_load(changes in proptest::collection::vec(act(), 1..10)) {
        let folder = folder();
        let mut session = open(&folder.path().join("sitemap_index.xml"));
        let original = written(session.document());
        for act in changes {
            match act {
                Act::Do(change) => { let _ = session.change(&change); }
                Act::Undo => { session.undo(); }
                Act::Redo => { session.redo(); }
            }
            let fresh = fresh(&session);
            // One rule depends on the date of the file, which differs for a fresh file.
            let of = |session: &Session| codes(session).into_iter().filter(|(code, _)| *code != "set-lastmod-generated").collect::<Vec<_>>();
            prop_assert_eq!(of(&session), of(&fresh));
            prop_assert_eq!(session.view().urls(), fresh.view().urls());
            let (rows, fresh_rows): (Vec<RowId>, Vec<RowId>) =
                (session.document().live_rows().collect(), fresh.document().live_rows().collect());
            prop_assert_eq!(rows.len(), fresh_rows.len());
            for (row, fresh_row) in rows.iter().zip(&fresh_rows) {
                for field in Field::ALL {
                    prop_assert_eq!(session.view().cell(*row, field).unwrap_or_default().trim().to_owned(), fresh.view().cell(*fresh_row, field).unwrap_or_default().into_owned());
                }
            }
            // A row that is deleted and added again at its position gives the old bytes, but counts as a change.
            prop_assert!(session.is_modified() || written(session.document()) == original);
            prop_assert_eq!(session.view().changed() as usize, session.document().rows().filter(|row| session.view().row_state(*row) != RowState::Clean).count());
        }
        while session.undo().is_some() {}
        prop_assert_eq!(written(session.document()), original);
        prop_assert!(!session.is_modified());
    }
}

#[test]
fn a_save_writes_only_changed_files_and_leaves_every_row_clean() {
    let folder = folder();
    let path = folder.path().join("sitemap_index.xml");
    let mut session = open(&path);
    assert_eq!(save::now(&mut session, None, false).unwrap(), "nothing to save: no unsaved changes");
    let untouched = std::fs::read(folder.path().join("one.xml")).unwrap();
    session.change(&set([3].into_iter().collect(), Field::Priority, "0.8")).unwrap();
    session.change(&Change::Delete([4].into_iter().collect())).unwrap();
    assert_eq!(session.view().shown(), 6);
    save::now(&mut session, None, false).unwrap();
    assert!(!session.is_modified());
    assert_eq!((session.view().changed(), session.view().shown(), session.view().urls()), (0, 5, 5));
    assert_eq!(std::fs::read(folder.path().join("one.xml")).unwrap(), untouched);
    let again = open(&path);
    assert_eq!(written(again.document()), written(session.document()));
    assert!(session.history().last().is_some_and(|entry| entry.saved));
    // Undo works across the save, and saving the undone state restores the original bytes.
    while session.undo().is_some() {}
    assert!(session.is_modified());
    save::now(&mut session, None, false).unwrap();
    assert_eq!(std::fs::read(folder.path().join("one.xml")).unwrap(), untouched);
    assert_eq!(open(&path).view().urls(), 6);
}

#[test]
fn findings_after_a_split_equal_those_of_a_fresh_load() {
    use crate::protocol::limits::Limits;
    let folder = folder();
    let mut session = open(&folder.path().join("sitemap_index.xml"));
    let limits = Limits { urls: 2, ..Limits::default() };
    assert!(session.plan_within(None, limits).is_empty(), "what nobody touched keeps its bytes, over a limit or not");
    session.change(&set([0, 4].into_iter().collect(), Field::Priority, "0.8")).unwrap();
    let plan = session.plan_within(None, limits);
    assert!(plan.asks && plan.is_ready(), "{:?}", plan.problems);
    let saving = save::begin(&mut session, plan, false).unwrap();
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert_eq!(session.document().sitemaps().len(), 4);
    let again = open(&folder.path().join("sitemap_index.xml"));
    let of = |session: &Session| {
        codes(session).into_iter().filter(|(code, _)| *code != "set-lastmod-generated").collect::<Vec<_>>()
    };
    assert_eq!(of(&again), of(&session));
    session.change(&set([5].into_iter().collect(), Field::Loc, "https://a.org/same")).unwrap();
    session.undo();
    assert_eq!(of(&again), of(&session));
}

#[test]
fn a_nudge_clamps_out_of_range_values_and_skips_invalid_ones() {
    let folder = folder();
    let mut session = open(&folder.path().join("one.xml"));
    let row = || [0].into_iter().collect::<RowSet>();
    for (typed, up, expected) in
        [("1.5", true, "1.0"), ("-3", false, "0.0"), ("0.50", true, "0.60"), ("1.0", true, "1.0")]
    {
        session.change(&set(row(), Field::Priority, typed)).unwrap();
        session.change(&Change::Nudge { rows: row(), field: Field::Priority, up }).unwrap();
        assert_eq!(session.view().cell(RowId(0), Field::Priority).unwrap(), expected, "{typed}");
    }
    session.change(&set(row(), Field::Priority, "high")).unwrap();
    let report = session.change(&Change::Nudge { rows: row(), field: Field::Priority, up: true }).unwrap();
    assert_eq!(report.touched, 0);
    assert!(report.message.contains("not a priority to count from"), "{}", report.message);
}

#[cfg(unix)]
#[test]
fn a_symlink_out_of_the_folder_is_not_followed() {
    let folder = folder();
    let site = folder.path().join("site");
    std::fs::create_dir(&site).unwrap();
    for name in ["sitemap_index.xml", "two.xml"] {
        std::fs::rename(folder.path().join(name), site.join(name)).unwrap();
    }
    std::os::unix::fs::symlink("../one.xml", site.join("one.xml")).unwrap();
    std::fs::rename(site.join("two.xml"), site.join("real.xml")).unwrap();
    std::os::unix::fs::symlink("real.xml", site.join("two.xml")).unwrap();
    let session = open(&site.join("sitemap_index.xml"));
    assert_eq!(session.view().urls(), 3, "the link that stays inside is followed, the other is not");
    assert!(codes(&session).contains(&("index-child-missing", 1)));
}

#[test]
fn changing_the_profile_rechecks_every_row_also_after_undo() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let long = format!("https://example.com/{}", "a".repeat(1_100));
    let text = format!(
        "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{long}</loc><lastmod>2026</lastmod></url></urlset>"
    );
    std::fs::write(&path, text).unwrap();
    let mut session = store::load::open(&path, Options::default(), NOW).unwrap();
    let codes = |session: &Session| -> Vec<(&str, Option<Severity>)> {
        let rules = session.counts().by_rule().into_iter();
        rules.map(|(rule, _)| (rule.code(), rule.severity_in(session.view().profile()))).collect()
    };
    let (error, warning) = (Some(Severity::Error), Some(Severity::Warning));
    assert_eq!(codes(&session), [("lastmod-reduced-precision", error)]);
    session.run(&parse("set priority=0.4", &vocabulary(NOW)).unwrap(), DefaultScope::All).unwrap();
    session.run(&parse("profile yandex", &vocabulary(NOW)).unwrap(), DefaultScope::All).unwrap();
    let yandex = [("loc-too-long-yandex", warning), ("lastmod-reduced-precision", warning)];
    let sorted = |mut codes: Vec<(&'static str, Option<Severity>)>| {
        codes.sort_unstable_by_key(|(code, _)| *code);
        codes
    };
    assert_eq!(sorted(codes(&session)), sorted(yandex.to_vec()));
    assert_eq!(session.counts().totals().errors, 0);
    session.undo().unwrap();
    assert_eq!(sorted(codes(&session)), sorted(yandex.to_vec()));
    assert!(session.run(&parse("filter severity:warning", &vocabulary(NOW)).unwrap(), DefaultScope::All).is_ok());
    assert_eq!(session.view().shown(), 1);
    assert!(parse("profile altavista", &vocabulary(NOW)).is_err());
}
