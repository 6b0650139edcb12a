//! Tests that an exported script repeats the changes of a session on the original files.

use super::*;
use crate::files::Options;
use crate::protocol::lastmod::Now;
use crate::session::command::{Replace, script};
use crate::session::edit::script_export;
use crate::session::edit::{EditError, Reach};
use crate::session::rule_export;
use crate::session::run::CommandOutcome;
use crate::session::state::vocabulary;
use crate::session::store::load;
use crate::session::tests::written;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

/// An index with two files; `same` is in both files, `twice` is in one of them twice.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = |name: &str| format!("<{name} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    let urlset = |rows: &[(&str, &str)]| {
        let rows = rows.iter().map(|(loc, rest)| format!("<url><loc>https://a.org/{loc}</loc>{rest}</url>\n"));
        format!("{}{}</urlset>\n", root("urlset"), rows.collect::<Vec<_>>().concat())
    };
    let date = "<lastmod>2026-05-01T10:00:00</lastmod>";
    let files = [
        ("one.xml", urlset(&[("", ""), ("blog/a?x=1&amp;y=(2)", date), ("same", "<priority>0.5</priority>")])),
        ("two.xml", urlset(&[("same", "<changefreq>Daily</changefreq>"), ("twice", ""), ("twice", date)])),
        (
            "sitemap_index.xml",
            format!(
                "{}<sitemap><loc>https://a.org/one.xml</loc></sitemap>\n<sitemap><loc>https://a.org/two.xml</loc></sitemap>\n</sitemapindex>\n",
                root("sitemapindex")
            ),
        ),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("sitemap_index.xml");
    (folder, path)
}

fn open(path: &Path) -> Session {
    load::open(path, Options::default(), NOW).unwrap()
}

/// Runs a script on a session.
fn replay(session: &mut Session, lines: &[String]) {
    let text = lines.join("\n");
    for line in script(&text, &vocabulary(NOW)).unwrap_or_else(|error| panic!("{error}\n{text}")) {
        if !matches!(line.command, Command::Write { .. }) {
            session.run(&line.command, DefaultScope::All).unwrap_or_else(|error| panic!("{error}: {}", line.command));
        }
    }
}

fn command(session: &mut Session, line: &str, row: u32) -> Result<CommandOutcome, EditError> {
    let command = parse(line, &vocabulary(NOW)).unwrap();
    session.run(&command, DefaultScope::Cursor(Some(RowId(row))))
}

#[test]
fn each_kind_of_change_is_a_command_or_a_comment() {
    let rows = |rows: &[u32]| rows.iter().copied().collect::<RowSet>();
    let set = |rows: RowSet, field: Field, typed: &str| Change::Set {
        rows,
        assignments: vec![Assignment { field, typed: typed.into() }],
    };
    let nudge = |list: &[u32], field| Change::Nudge { rows: rows(list), field, up: true };
    let replace = Replace::from_texts("^https:", "http:", false, false).unwrap();
    let zone = Decision::Zone(120);
    let table: [(Change, &[&str]); 17] = [
        (
            set(rows(&[0]), Field::Priority, "high"),
            &["# priority set to high on 1 row: no command can express this value"],
        ),
        (set(rows(&[0]), Field::Priority, "0.8"), &["set priority=0.8 where loc=https://a.org/"]),
        (set((0..6).collect(), Field::Lastmod, "today"), &["set lastmod=today"]),
        (
            set(rows(&[1, 2]), Field::Changefreq, "weekly"),
            &[
                "set changefreq=weekly where loc=\"https://a.org/blog/a?x=1&y=(2)\" or loc=https://a.org/same file=one.xml",
            ],
        ),
        (set(rows(&[4, 5]), Field::Priority, "0.3"), &["set priority=0.3 where loc=https://a.org/twice"]),
        (
            set(rows(&[4]), Field::Priority, "1.0"),
            &["# priority set to 1.0 on 1 row: another row of the same file has the same URL"],
        ),
        (nudge(&[2], Field::Priority), &["set priority=0.6 where loc=https://a.org/same file=one.xml"]),
        (nudge(&[0, 2, 3], Field::Priority), &["set priority=0.6 where loc=https://a.org/ or loc=https://a.org/same"]),
        (nudge(&[3], Field::Changefreq), &["set changefreq=hourly where loc=https://a.org/same file=two.xml"]),
        (Change::Replace { rows: (0..6).collect(), replace, reach: Reach::Set }, &["s/^https:/http:/"]),
        (Change::Delete(rows(&[0])), &["delete where loc=https://a.org/"]),
        (Change::Duplicate(rows(&[0])), &["duplicate where loc=https://a.org/"]),
        (
            Change::Insert { after: None, before: false, locs: vec![" https://a.org/new ".into()] },
            &["add https://a.org/new"],
        ),
        (
            Change::Decide { rows: (0..6).collect(), rule: Rule::LASTMOD_NO_TIMEZONE, decision: zone },
            &["fix lastmod-no-timezone +02:00"],
        ),
        (
            Change::Fix { rows: rows(&[3]), rules: RuleSet::of(&[Rule::CHANGEFREQ_CASE]) },
            &["fix changefreq-case where loc=https://a.org/same file=two.xml"],
        ),
        (Change::Fix { rows: (0..6).collect(), rules: safe_rules() }, &["fix safe"]),
        (
            Change::Raw { row: RowId(0), text: "<url><loc>https://a.org/raw</loc></url>".into() },
            &["# the entry's text changed: an entry was edited as text"],
        ),
    ];
    for (change, expected) in table {
        let (_folder, path) = folder();
        let mut session = open(&path);
        session.change(&change).unwrap();
        let lines = script_export::of_session(&session);
        let same = lines == expected || (lines.len() == 1 && lines[0].starts_with('#') && expected[0].starts_with('#'));
        assert!(same, "{change:?}: {lines:?}, not {expected:?}");
    }
}

#[test]
fn a_reverted_row_is_not_confused_with_a_deleted_row_of_the_same_url() {
    let (_folder, path) = folder();
    let mut session = open(&path);
    session.change(&Change::Delete([4, 5].into_iter().collect())).unwrap();
    session.change(&Change::Revert([4].into_iter().collect())).unwrap();
    let lines = script_export::of_session(&session);
    assert_eq!(lines[0], "delete where loc=https://a.org/twice");
    assert!(lines[1].starts_with("# ") && lines[1].ends_with("a deleted row has the same URL"), "{lines:?}");
}

#[test]
fn marks_and_filters_are_exported_as_queries() {
    let (_folder, path) = folder();
    let mut session = open(&path);
    for (line, row) in [
        ("filter loc:same", 0),
        ("%set priority=0.1", 0),
        ("%set changefreq=never where file=one.xml", 0),
        ("mark where loc:twice", 0),
        ("nofilter", 0),
        ("delete", 0),
        ("marks none", 0),
        ("set lastmod=2026-01-01", 1),
        ("sort -loc", 0),
        ("apply-order", 0),
        ("undo", 0),
        ("set priority=0.2", 0),
    ] {
        command(&mut session, line, row).unwrap();
    }
    let lines = script_export::of_session(&session);
    let expected = [
        "set priority=0.1 where same",
        "set changefreq=never where same file=one.xml",
        "delete where loc=https://a.org/twice",
        "set lastmod=2026-01-01 where loc=\"https://a.org/blog/a?x=1&y=(2)\"",
        "set priority=0.2 where loc=https://a.org/",
    ];
    assert_eq!(lines, expected);
    let mut again = open(&path);
    replay(&mut again, &lines);
    assert_eq!(written(again.document()), written(session.document()));
}

#[test]
fn the_last_bulk_change_becomes_a_rule() {
    let (folder, path) = folder();
    let mut session = open(&path);
    let rules = folder.path().join("rules.toml");
    assert!(rule_export::append_rule(&session, &rules).unwrap_err().to_string().contains("no bulk change"));
    command(&mut session, "set priority=0.8 changefreq=weekly where path:/blog/** or same or loc=\"a \"\"b\"", 0)
        .unwrap();
    let kept = rule_export::append_rule(&session, &rules).unwrap();
    assert!(kept.contains("rules.toml"), "{kept}");
    command(&mut session, "%set lastmod=today", 0).unwrap();
    command(&mut session, "set priority=0.9", 0).unwrap();
    rule_export::append_rule(&session, &rules).unwrap();
    let text = std::fs::read_to_string(&rules).unwrap();
    let expected = "[[rule]]\nwhere = \"path:/blog/** or same or loc=\\\"a \\\"\\\"b\\\"\"\npriority = 0.8\nchangefreq = \"weekly\"\n\n[[rule]]\nlastmod = \"today\"\n";
    assert_eq!(text, expected);
    command(&mut session, "%s/https:/http:/", 0).unwrap();
    command(&mut session, "undo 3", 0).unwrap();
    assert!(rule_export::append_rule(&session, &rules).unwrap().contains("/blog/"), "what was undone is not kept");
    std::fs::write(&rules, "buy milk").unwrap();
    assert!(rule_export::append_rule(&session, &rules).unwrap_err().to_string().contains("not a file of rules"));
    assert_eq!(std::fs::read_to_string(&rules).unwrap(), "buy milk");
    // Rows that were marked one by one, and then an edit of one cell.
    session.mark(&RowSet::from_iter([0, 3]), true);
    command(&mut session, "set priority=0.3", 0).unwrap();
    session.mark(&RowSet::from_iter([0, 3]), false);
    command(&mut session, "set changefreq=never", 1).unwrap();
    let kept = rule_export::append_rule(&session, &folder.path().join("picked.toml")).unwrap();
    assert!(kept.contains("where loc=") && kept.contains(" or loc="), "{kept}");
}

#[test]
fn deleting_all_rows_is_exported_as_percent_delete() {
    let (_folder, path) = folder();
    let mut session = open(&path);
    command(&mut session, "%delete", 0).unwrap();
    assert_eq!(script_export::of_session(&session), ["%delete"]);
}

fn change() -> impl Strategy<Value = Change> {
    let rows = || prop::collection::btree_set(0..6_u32, 1..6).prop_map(|rows| rows.into_iter().collect::<RowSet>());
    let field = || prop_oneof![Just(Field::Lastmod), Just(Field::Changefreq), Just(Field::Priority)];
    let set = (rows(), field(), 0..4_usize).prop_map(|(rows, field, which)| {
        let typed = match field {
            Field::Lastmod => ["today", "2026-02-03", "none", "+7d"][which],
            Field::Changefreq => ["weekly", "none", "never", "daily"][which],
            _ => ["0.8", "+0.2", "none", "1.0"][which],
        };
        Change::Set { rows, assignments: vec![Assignment { field, typed: typed.into() }] }
    });
    prop_oneof![
        6 => set,
        2 => (rows(), field(), any::<bool>()).prop_map(|(rows, field, up)| Change::Nudge { rows, field, up }),
        1 => rows().prop_map(Change::Delete),
        1 => rows().prop_map(Change::Revert),
        1 => rows().prop_map(|rows| Change::Fix { rows, rules: safe_rules() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn an_exported_script_repeats_the_changes(changes in prop::collection::vec(change(), 1..8)) {
        let (_folder, path) = folder();
        let mut session = open(&path);
        for change in &changes {
            // Changes without effect may be refused.
            let _ = session.change(change);
        }
        let lines = script_export::of_session(&session);
        if lines.iter().all(|line| !line.starts_with('#')) {
            let mut again = open(&path);
            replay(&mut again, &lines);
            prop_assert_eq!(written(again.document()), written(session.document()), "{:#?}", lines);
        }
    }
}
