//! Tests of merges against a model of tables without files, rows and bytes.

use super::*;
use crate::document::sitemap::SitemapId;
use crate::document::spans::Pieces;
use crate::files::Action;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::Limits;
use crate::session::command::parse;
use crate::session::edit::DefaultScope;
use crate::session::state::vocabulary;
use crate::session::store::external_changes;
use crate::session::store::save;
use crate::session::store::verify;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// 2026-11-20T10:20:30Z.
const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };

fn write_set(folder: &Path) -> PathBuf {
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let entry = |number: u32| {
        format!("\n  <url><loc>https://e.com/{number}</loc><priority>0.50</priority></url><!-- {number} -->")
    };
    for (name, rows) in [("a.xml", 0..4), ("b.xml", 4..7)] {
        let text = rows.map(entry).collect::<Vec<_>>().concat();
        fs::write(folder.join(name), format!("<urlset {space}>{text}\n</urlset>\n")).unwrap();
    }
    let index = folder.join("sitemap.xml");
    let child = |name| format!("<sitemap><loc>https://e.com/{name}</loc><lastmod>2026-01-01</lastmod></sitemap>");
    fs::write(&index, format!("<sitemapindex {space}>{}{}</sitemapindex>", child("a.xml"), child("b.xml"))).unwrap();
    index
}

fn open(path: &Path) -> Session {
    load::open(path, Options::default(), NOW).unwrap()
}

fn run(session: &mut Session, line: &str) {
    let command = parse(line, &vocabulary(NOW)).unwrap_or_else(|error| panic!("{line}: {error}"));
    let _ = session.run(&command, DefaultScope::All);
}

/// Lastmod and priority by URL.
type Table = BTreeMap<String, [Option<String>; 2]>;

fn table(document: &Document) -> Table {
    let value = |row, field| document.value(row, field).map(std::borrow::Cow::into_owned);
    let fields = |row| [value(row, Field::Lastmod), value(row, Field::Priority)];
    document.live_rows().map(|row| (document.loc(row).into_owned(), fields(row))).collect()
}

fn compared(session: &Session) -> Compared {
    external_changes::begin_merge(session, Options::default()).unwrap().run().unwrap()
}

fn take_in(session: &mut Session, take: MergeChoice) -> Vec<(String, bool)> {
    let compared = compared(session);
    let takes = vec![take; compared.merge.cases.len()];
    let merged = compared.prepare(&takes, &Progress::default()).unwrap();
    external_changes::commit_merge(session, merged).unwrap();
    let locs = compared.merge.cases.iter().map(|case| (session.document().loc(case.row).into_owned(), case.clash));
    locs.collect()
}

/// The expected result of a merge, row by row.
fn expected(base: &Table, ours: &Table, theirs: &Table, take: MergeChoice) -> Table {
    let mut merged = Table::new();
    for loc in base.keys().chain(ours.keys()).chain(theirs.keys()).collect::<BTreeSet<_>>() {
        let (was, own, is) = (base.get(loc), ours.get(loc), theirs.get(loc));
        let row = match (own, is) {
            _ if is == was || own == is => own.cloned(),
            _ if take == MergeChoice::Ours => own.cloned(),
            _ if take == MergeChoice::Theirs => is.cloned(),
            (Some(own), Some(is)) => Some([0, 1].map(|at| {
                let was = was.and_then(|was| was[at].clone());
                if own[at] == was { is[at].clone() } else { own[at].clone() }
            })),
            (own, is) => own.or(is).cloned(),
        };
        merged.extend(row.map(|row| (loc.clone(), row)));
    }
    merged
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0u8..3, 0u8..9).prop_map(|(value, row)| format!("set priority=0.{value} where loc=https://e.com/{row}")),
        3 => (1u8..4, 0u8..9).prop_map(|(day, row)| format!("set lastmod=2026-01-0{day} where loc=https://e.com/{row}")),
        3 => (0u8..9).prop_map(|row| format!("delete where loc=https://e.com/{row}")),
        1 => Just("sort -loc".to_owned()),
        1 => Just("apply-order".to_owned()),
    ]
}

/// Edits, and rows that one side adds; each side adds a URL at most once.
fn side() -> impl Strategy<Value = Vec<String>> {
    let added = proptest::collection::btree_set(10u8..14, 0..3);
    (proptest::collection::vec(line(), 0..8), added).prop_map(|(mut lines, added)| {
        lines.extend(added.into_iter().map(|row| format!("add https://e.com/{row}")));
        lines
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// After any edits of both sides, the table equals the model, the saved state has their bytes, undo restores
    /// ours, and a save writes the table.
    #[test]
    fn a_merge_equals_that_of_a_table_model(
        before in proptest::collection::vec(line(), 0..3),
        ours in side(),
        theirs in side(),
        most in prop_oneof![2 => Just(50_000), 1 => 2u32..5],
        take in prop_oneof![Just(MergeChoice::Ours), Just(MergeChoice::Theirs), Just(MergeChoice::Both)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let mut session = open(&path);
        for line in before.iter().filter(|line| !line.starts_with("delete")) {
            run(&mut session, line);
        }
        save::now(&mut session, None, false).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let base = table(session.document());
        for line in &ours {
            run(&mut session, line);
        }
        let own = table(session.document());
        let mut other = open(&path);
        for line in &theirs {
            run(&mut other, line);
        }
        // Rows of full parts move to new ones, and parts without rows leave the set.
        let plan = other.plan_within(None, Limits { urls: most, ..Limits::default() });
        let saving = save::begin(&mut other, plan, false).unwrap();
        save::finish(&mut other, saving.run(&Progress::default())).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let is = table(open(&path).document());
        let steps = session.history().iter().filter(|step| step.done).count();
        let cases = take_in(&mut session, take);
        let clashes = cases.iter().filter(|(_, clash)| *clash).count();
        let differ = |loc: &&String| is.get(*loc) != base.get(*loc) && is.get(*loc) != own.get(*loc);
        let all: BTreeSet<&String> = base.keys().chain(own.keys()).chain(is.keys()).collect();
        let both = all.iter().copied().filter(differ).filter(|loc| own.get(*loc) != base.get(*loc)).count();
        prop_assert!(clashes >= both, "{:?}", cases);
        let merged = expected(&base, &own, &is, take);
        prop_assert_eq!(&table(session.document()), &merged);
        prop_assert_eq!(session.document().live() as usize, merged.len(), "no URL is twice");
        let mut files = 1;
        for (number, sitemap) in session.current.saved.sitemaps().iter().enumerate() {
            let Some(path) = &sitemap.path else { continue };
            let saved = Pieces::of(&session.current.saved, SitemapId(number as u32)).bytes();
            prop_assert_eq!(String::from_utf8(saved).unwrap(), fs::read_to_string(path).unwrap());
            files += 1;
        }
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), files);
        let index = session.current.saved.index().unwrap();
        prop_assert_eq!(index.source.bytes(), fs::read(&path).unwrap());
        prop_assert_eq!(session.is_modified() || merged == is, true);
        let proofs = verify::inspect(&session, session.plan(None)).prove(&Progress::default()).unwrap();
        prop_assert!(proofs.iter().all(|proof| proof.fault.is_none()), "{:?}", proofs);
        if session.history().len() > steps {
            session.undo().unwrap();
            prop_assert_eq!(&table(session.document()), &own);
            session.redo().unwrap();
        }
        save::now(&mut session, None, false).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&table(open(&path).document()), &merged);
        prop_assert!(!session.is_modified());
    }
}

#[test]
fn rows_and_files_changed_only_outside_keep_the_external_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = open(&path);
    run(&mut session, "set priority=0.8 where loc:/5");
    let part = folder.path().join("a.xml");
    let text = fs::read_to_string(&part).unwrap();
    let text = text.replace("<urlset ", "<!-- made anew -->\n<urlset ").replace("/1</loc>", "/1</loc >\n    ");
    fs::write(&part, &text).unwrap();
    let outside = external_changes::begin_check(&session).run(Thoroughness::Quick);
    assert_eq!(outside.changed.len(), 1);
    let cases = take_in(&mut session, MergeChoice::Theirs);
    assert_eq!(cases, [("https://e.com/1".to_owned(), false)]);
    assert!(external_changes::begin_check(&session).run(Thoroughness::Full).changed.is_empty());
    assert_eq!(session.view().changed(), 1);
    let plan = session.plan(None);
    let written = plan.outputs.iter().filter(|output| output.action != Action::Untouched);
    assert_eq!(written.map(|output| &*output.name).collect::<Vec<_>>(), ["b.xml", "sitemap.xml"]);
    save::now(&mut session, None, false).unwrap();
    assert_eq!(fs::read_to_string(&part).unwrap(), text);
}

#[test]
fn merges_with_damaged_or_missing_files_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let session = open(&path);
    let why = || external_changes::begin_merge(&session, Options::default()).unwrap().run().unwrap_err();
    fs::write(folder.path().join("a.xml"), "<urlset><url><loc>https://e.com/0</loc>").unwrap();
    assert!(why().contains("a.xml on disk is damaged"), "{}", why());
    fs::remove_file(&path).unwrap();
    assert!(why().contains("sitemap.xml"), "{}", why());
}

#[test]
fn keep_ours_overwrites_external_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let (one, other) = (folder.path().join("a.xml"), folder.path().join("b.xml"));
    let before = fs::read(&one).unwrap();
    let mut session = open(&path);
    fs::write(&one, "<urlset/>").unwrap();
    fs::remove_file(&other).unwrap();
    assert!(session.plan(None).is_empty());
    let outside = external_changes::begin_check(&session).run(Thoroughness::Quick);
    external_changes::keep_ours(&mut session, outside.changed.iter().map(|(path, _)| path.as_path()));
    assert!(session.is_modified());
    save::now(&mut session, None, false).unwrap();
    assert_eq!(fs::read(&one).unwrap(), before);
    assert_eq!(table(open(&path).document()).len(), 7);
    assert!(!session.is_modified());
}

/// They add a file and delete another one, in which we have changed a row; the index may still list the deleted one.
#[test]
fn files_added_or_removed_outside_are_merged_with_their_rows() {
    let new =
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/9</loc></url></urlset>";
    for (is_listed, take) in [
        (false, MergeChoice::Ours),
        (true, MergeChoice::Ours),
        (false, MergeChoice::Theirs),
        (true, MergeChoice::Theirs),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let part = |name: &str| folder.path().join(name);
        let mut session = open(&path);
        run(&mut session, "set priority=0.8 where loc=https://e.com/5");
        run(&mut session, "set priority=0.8 where loc=https://e.com/1");
        let own = table(session.document());
        fs::write(part("c.xml"), new).unwrap();
        fs::remove_file(part("b.xml")).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let added = "<sitemap><loc>https://e.com/c.xml</loc></sitemap></sitemapindex>";
        let mut text = text.replace("</sitemapindex>", added);
        if !is_listed {
            let from = text.find("<sitemap><loc>https://e.com/b.xml").unwrap();
            let to = from + text[from..].find("</sitemap>").unwrap() + "</sitemap>".len();
            text.replace_range(from..to, "");
        }
        fs::write(&path, text).unwrap();
        let cases = take_in(&mut session, take);
        let clash: Vec<&str> = cases.iter().filter(|(_, clash)| *clash).map(|(loc, _)| loc.as_str()).collect();
        assert_eq!((cases.len(), clash), (4, vec!["https://e.com/5"]));
        let kept = matches!(take, MergeChoice::Ours);
        let locs: Vec<String> = table(session.document()).into_keys().collect();
        let expected: Vec<String> = (0..10)
            .filter(|row| if kept { *row < 7 } else { *row < 4 || *row == 9 })
            .map(|row| format!("https://e.com/{row}"))
            .collect();
        assert_eq!(locs, expected, "{is_listed} {take:?}");
        let merged = table(session.document());
        assert_eq!(merged["https://e.com/1"], own["https://e.com/1"]);
        session.undo().unwrap();
        assert_eq!(table(session.document()), own);
        session.redo().unwrap();
        save::now(&mut session, None, false).unwrap();
        let again = open(&path);
        assert_eq!(table(again.document()), merged, "{is_listed} {take:?}");
        assert_eq!((part("b.xml").exists(), part("c.xml").exists()), (kept, !kept), "{is_listed} {take:?}");
        let index = fs::read_to_string(&path).unwrap();
        assert_eq!(index.matches("b.xml").count(), usize::from(kept || is_listed), "{index}");
        assert!(session.plan(None).is_empty() && !session.is_modified());
    }
}

/// A row that keeps our text in a file to which others have moved it declares its own prefixes.
#[test]
fn a_row_kept_in_another_file_declares_its_prefixes() {
    let image = "xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\"";
    let picture = "<i:image><i:loc>https://e.com/1.png</i:loc></i:image>";
    for is_changed_there in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let part = |name: &str| folder.path().join(name);
        let with_image = |text: String| text.replace("/1</loc>", &format!("/1</loc>{picture}"));
        let text = with_image(fs::read_to_string(part("a.xml")).unwrap());
        fs::write(part("a.xml"), text.replacen("<urlset ", &format!("<urlset {image} "), 1)).unwrap();
        let mut session = open(&path);
        run(&mut session, "set priority=0.8 where loc=https://e.com/1");
        let text = fs::read_to_string(part("a.xml")).unwrap();
        let from = text.find("<url><loc>https://e.com/1<").unwrap();
        let to = from + text[from..].find("</url>").unwrap() + "</url>".len();
        let row = text[from..to].to_owned();
        fs::write(part("a.xml"), text.replace(&row, "")).unwrap();
        let there = if is_changed_there { row.replace("<url>", &format!("<url {image}>")) } else { row };
        let other = fs::read_to_string(part("b.xml")).unwrap();
        fs::write(part("b.xml"), other.replace("</urlset>", &format!("{there}</urlset>"))).unwrap();
        take_in(&mut session, MergeChoice::Ours);
        save::now(&mut session, None, false).unwrap();
        let saved = fs::read_to_string(part("b.xml")).unwrap();
        assert!(saved.contains(&format!("<url {image}><loc>https://e.com/1</loc>{picture}")), "{saved}");
        assert!(saved.contains("<priority>0.8</priority>"), "{saved}");
    }
}

/// If both sides changed more than fields, "both" keeps the extensions of one side, which is reported.
#[test]
fn extensions_of_a_row_changed_on_both_sides_are_taken_from_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = open(&path);
    run(&mut session, "ext add image/loc=https://e.com/own.png where loc=https://e.com/5");
    run(&mut session, "set priority=0.8 where loc=https://e.com/4");
    let part = folder.path().join("b.xml");
    let text = fs::read_to_string(&part).unwrap();
    fs::write(&part, text.replace("0.50", "0.30")).unwrap();
    let compared = compared(&session);
    let keeps: Vec<bool> = compared.merge.cases.iter().map(|case| compared.merge.both_keeps_ours(case)).collect();
    assert_eq!(keeps, [false, true, false]);
}

/// Lists and tables, edited on both sides.
#[test]
fn lists_and_tables_are_merged_as_sitemaps_are() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("list.txt", "https://e.com/0\r\nhttps://e.com/1\r\nhttps://e.com/2\r\nhttps://e.com/3"),
        (
            "table.csv",
            "note,loc,priority\n\"a, b\",\"https://e.com/0\",0.5\n,https://e.com/1,0.5\nx,https://e.com/2,0.5\nx,https://e.com/3,0.5\n",
        ),
    ];
    let ours = ["add https://e.com/own", "s#/2#/two#", "delete where loc:/3"];
    let theirs = ["add https://e.com/their", "delete where loc=https://e.com/0", "s#/3#/three#"];
    for (name, text) in files {
        for take in [MergeChoice::Ours, MergeChoice::Theirs, MergeChoice::Both] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            let mut session = open(&path);
            let base = table(session.document());
            for line in ours {
                run(&mut session, line);
            }
            let own = table(session.document());
            let mut other = open(&path);
            for line in theirs {
                run(&mut other, line);
            }
            save::now(&mut other, None, false).unwrap();
            let is = table(open(&path).document());
            take_in(&mut session, take);
            let merged = expected(&base, &own, &is, take);
            assert_eq!(table(session.document()), merged, "{name} {take:?}");
            let saved = Pieces::of(&session.current.saved, SitemapId(0)).bytes();
            assert_eq!(String::from_utf8(saved).unwrap(), fs::read_to_string(&path).unwrap(), "{name} {take:?}");
            session.undo().unwrap();
            assert_eq!(table(session.document()), own, "{name} {take:?}");
            session.redo().unwrap();
            save::now(&mut session, None, false).unwrap();
            assert_eq!(table(open(&path).document()), merged, "{name} {take:?}");
            assert!(!session.is_modified());
        }
    }
    // Columns in another order make another table.
    let path = folder.path().join("table.csv");
    let session = open(&path);
    fs::write(&path, "loc,priority,note\nhttps://e.com/0,0.5,\n").unwrap();
    let why = external_changes::begin_merge(&session, Options::default()).unwrap().run().unwrap_err();
    assert!(why.contains("table.csv has another file format now"), "{why}");
}

/// A generator has changed the date of every entry and added a file; our side has fixed entries.
#[test]
fn an_index_changed_on_both_sides_has_both_changes() {
    for adds in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let text = fs::read_to_string(&path).unwrap();
        let before = text
            .replace("b.xml</loc>", "b.xml</loc><changefreq>daily</changefreq>")
            .replace("</sitemapindex>", "\n<sitemap><loc>https://e.com/gone.xml</loc></sitemap></sitemapindex>");
        fs::write(&path, &before).unwrap();
        let mut session = open(&path);
        run(&mut session, "%fix index-extra-child");
        run(&mut session, "%fix index-child-missing");
        run(&mut session, "set priority=0.8 where loc=https://e.com/5");
        let own = session.document().index().unwrap().source.bytes().to_vec();
        assert!(
            !String::from_utf8_lossy(&own).contains("gone.xml") && !String::from_utf8_lossy(&own).contains("daily")
        );
        let mut theirs = before.replace("2026-01-01", "2026-02-02");
        if adds {
            fs::copy(folder.path().join("a.xml"), folder.path().join("c.xml")).unwrap();
            theirs =
                theirs.replace("</sitemapindex>", "<sitemap><loc>https://e.com/c.xml</loc></sitemap></sitemapindex>");
        }
        fs::write(&path, &theirs).unwrap();
        let compared = compared(&session);
        assert_eq!(compared.merge.index_clashes(), Some(0));
        take_in(&mut session, MergeChoice::Theirs);
        assert_eq!(session.current.saved.index().unwrap().source.bytes(), theirs.as_bytes());
        assert!(session.is_modified());
        let proofs = verify::inspect(&session, session.plan(None)).prove(&Progress::default()).unwrap();
        assert!(proofs.iter().all(|proof| proof.fault.is_none()), "{proofs:?}");
        session.undo().unwrap();
        assert_eq!(session.document().index().unwrap().source.bytes(), own);
        session.redo().unwrap();
        save::now(&mut session, None, false).unwrap();
        let saved = fs::read_to_string(&path).unwrap();
        assert!(saved.contains("a.xml</loc><lastmod>2026-02-02<") && !saved.contains("2026-01-01"), "{saved}");
        assert!(!saved.contains("gone.xml") && !saved.contains("daily"), "{saved}");
        assert_eq!(saved.matches("c.xml").count(), usize::from(adds), "{saved}");
        let again = open(&path);
        assert_eq!(again.document().live(), if adds { 11 } else { 7 });
        assert!(session.plan(None).is_empty() && !session.is_modified());
    }
}

/// The rows of an unreadable file are not deleted, so a merge must not remove them.
#[test]
fn a_merge_with_an_unreadable_file_is_refused_with_its_name() {
    for (what, put) in [
        ("this is a folder", (|path| fs::create_dir(path).unwrap()) as fn(&Path)),
        ("HTML", |path| fs::write(path, "<!doctype html><html></html>").unwrap()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let session = open(&write_set(folder.path()));
        fs::remove_file(folder.path().join("b.xml")).unwrap();
        put(&folder.path().join("b.xml"));
        let refused = external_changes::begin_merge(&session, Options::default()).unwrap().run().unwrap_err();
        assert!(refused.contains("b.xml") && refused.contains(what), "{refused}");
    }
}

/// Without an index, a deleted file is merged row by row: if rows are kept, the file is written again.
#[test]
fn a_file_deleted_from_a_set_without_an_index_is_merged_by_its_rows() {
    for (take, first) in [
        (MergeChoice::Ours, false),
        (MergeChoice::Theirs, false),
        (MergeChoice::Ours, true),
        (MergeChoice::Theirs, true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let index = write_set(folder.path());
        fs::remove_file(index).unwrap();
        let paths = ["a.xml", "b.xml"].map(|name| folder.path().join(name));
        let mut session = load::open_all(Session::new(NOW, None), &paths, Options::default()).unwrap();
        run(&mut session, "set priority=0.8 where loc=https://e.com/5");
        run(&mut session, "set priority=0.8 where loc=https://e.com/1");
        let own = table(session.document());
        let gone = &paths[usize::from(!first)];
        fs::remove_file(gone).unwrap();
        let cases = take_in(&mut session, take);
        assert_eq!(cases.iter().filter(|(_, clash)| *clash).count(), 1, "{cases:?}");
        let kept = take == MergeChoice::Ours;
        let merged = table(session.document());
        let expected: Vec<String> =
            own.keys().filter(|loc| kept || (loc.as_str() < "https://e.com/4") != first).cloned().collect();
        assert_eq!(merged.keys().cloned().collect::<Vec<_>>(), expected);
        session.undo().unwrap();
        assert_eq!(table(session.document()), own);
        session.redo().unwrap();
        save::now(&mut session, None, false).unwrap();
        assert!(!session.is_modified() && session.plan(None).is_empty());
        assert_eq!(gone.exists(), kept);
        let there: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
        assert_eq!(session.paths().iter().filter(|path| path.exists()).count(), session.paths().len());
        let again = load::open_all(Session::new(NOW, None), &there, Options::default()).unwrap();
        assert_eq!(table(again.document()), merged, "{take:?} {first}");
    }
}
