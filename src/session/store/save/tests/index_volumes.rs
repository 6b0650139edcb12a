//! Tests of sets whose index consists of several files.

use super::*;
use crate::document::lines::LineColumn;

/// All files of the index identify the set: for a reload, for its journal and for its lock.
#[test]
fn a_set_whose_index_becomes_two_files_stays_one_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let limits = Limits { urls: 3, parts: 2, ..Limits::default() };
    let state = folder.path().join("state");
    let state_slot = |paths: &[PathBuf]| files::journal::StateSlot::take_all(&state, paths);
    let mut session = open(&path);
    fixture::open(&mut session, state_slot(std::slice::from_ref(&path)).unwrap());
    let after = row_of(&session, &loc(5));
    session.change(&Change::Insert { after, before: false, locs: vec![loc(100)] }).unwrap();
    let saving = {
        let plan = session.plan_within(None, limits);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    assert!(set(&mut session, &loc(100), "0.1"));
    let message = save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert!(message.contains("the index has 2 files now; submit each: sitemap.xml, sitemap-index-2.xml"), "{message}");
    let paths = [path.clone(), folder.path().join("sitemap-index-2.xml")];
    assert_eq!(session.paths(), paths);
    assert!(set(&mut session, &loc(1), "0.9"));
    assert!(state_slot(&paths[1..]).is_err(), "nobody else opens the second by itself");
    // The session ends without a clean exit. Its changes are replayed when both files are opened.
    let meant = table(&session);
    fixture::flush_journal(&session);
    drop(session);
    let mut again = load::open_all(Session::new(NOW, None), &paths, Options::default()).unwrap();
    let (left, words) = fixture::open(&mut again, state_slot(&paths).unwrap());
    assert_eq!(words, None);
    fixture::replay(&mut again, left.unwrap()).unwrap();
    assert_eq!(table(&again), meant);
    // Only the index that lists a changed part is written, and external changes of the second one are detected.
    let plan = again.plan_within(None, limits);
    let written = plan.outputs.iter().filter(|output| output.action == files::Action::Rewritten);
    assert_eq!(written.map(|output| &*output.name).collect::<Vec<_>>(), ["a.xml", "b-2.xml", "sitemap.xml"]);
    let text = fs::read_to_string(&paths[1]).unwrap();
    fs::write(&paths[1], text.replace("<lastmod>", "<!-- x --><lastmod>")).unwrap();
    let changed = external_changes::begin_check(&again).run(files::external_changes::Thoroughness::Full).changed;
    assert_eq!(changed, [(paths[1].clone(), files::external_changes::FileChange::Changed)]);
    // Undoing the insertion removes the second index.
    fs::write(&paths[1], text).unwrap();
    while again.undo().is_some() {}
    let row = row_of(&again, &loc(100)).unwrap();
    again.change(&Change::Delete(RowSet::from_iter([row.0]))).unwrap();
    save::now(&mut again, None, false).unwrap();
    assert_eq!((again.paths().len(), paths[1].exists()), (0, false));
}

/// Each file of an index has its own limits, its own head, and its own lines.
#[test]
fn rules_check_each_file_of_an_index() {
    let folder = tempfile::tempdir().unwrap();
    write_set(folder.path());
    let second = folder.path().join("sitemap-index-2.xml");
    let child = |number: u32| format!("<sitemap><loc>https://e.com/c-{number}.xml</loc></sitemap>\n");
    let many: String = (0..50_001).map(child).collect();
    fs::write(&second, format!("<sitemapindex {SPACE}>\n{many}</sitemapindex>\n")).unwrap();
    let session = open(folder.path());
    let report = report::all_findings(&session);
    let of_second: Vec<_> = report.iter().filter(|found| *found.file == *second.to_string_lossy()).collect();
    let too_many: Vec<_> = of_second.iter().filter(|found| found.finding.rule.code() == "index-too-many").collect();
    assert_eq!(too_many.len(), 1);
    assert_eq!(report.iter().filter(|found| found.finding.rule.code() == "index-too-many").count(), 1);
    let missing = of_second.iter().find(|found| &*found.loc == "https://e.com/c-1.xml").unwrap();
    assert_eq!(missing.at, Some(LineColumn { line: 3, column: 15 }), "its line in its own file");
}
