//! Tests of saves that run while the user edits.

use super::bench::{Bench, SMALL};
use crate::files::journal::StateSlot;
use crate::progress::Reading;
use crate::session::store::journal::fixture;
use crate::tui::app::Event;
use crate::tui::app::modes::Mode;
use crate::tui::jobs::Kind;
use std::time::Duration;

#[test]
fn a_missing_folder_is_created_only_on_demand() {
    let mut bench = Bench::file(SMALL);
    let folder = bench.path().with_file_name("typo");
    let line = format!(":w {}<enter>", folder.join("dir/x.xml").display());
    bench.keys("t").keys(&line);
    bench.shows("does not exist");
    bench.keys("<enter>");
    assert!(!folder.exists() && matches!(bench.app.modes.current(), Mode::Table));
    bench.keys(&line).keys("<esc>");
    assert!(!folder.exists());
    bench.keys(&line).keys("c");
    assert!(folder.join("dir/x.xml").exists(), "{}", bench.screen());
}

#[test]
fn a_second_base_url_is_refused() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":set-base-url https://example.com/https://example.com/<enter>");
    assert!(bench.message().contains("a second one begins inside it"), "{}", bench.message());
}

#[test]
fn edits_made_during_a_save_stay_unsaved() {
    let mut bench = Bench::file(SMALL);
    bench.keys("c0.7");
    bench.hold = Some(Kind::Save);
    bench.keys("<esc>j$c0.8<enter><c-s>");
    bench.shows("saving…, Esc stops");
    bench.keys("jc0.9<enter>");
    assert_eq!(bench.on_disk(), SMALL);
    bench.release_jobs();
    assert_eq!(bench.on_disk(), SMALL.replacen("<priority>0.2", "<priority>0.8", 1));
    bench.shows("modified 1");
    bench.keys("u");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys("<c-r><c-s>");
    assert!(bench.on_disk().contains("<priority>0.9"), "{}", bench.on_disk());
}

#[test]
fn a_cancelled_verification_is_reported() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Preview);
    bench.keys("t:verify<enter><esc>");
    bench.release_jobs();
    assert_eq!(bench.message(), "stopped; the save was not verified");
}

#[test]
fn a_save_can_be_cancelled_until_files_are_replaced() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Save);
    bench.keys("t<c-s><esc>");
    bench.release_jobs();
    assert_eq!(bench.message(), "the save was stopped; no file was changed");
    assert_eq!(bench.on_disk(), SMALL);
    assert!(bench.app.shared.session.is_modified());
    bench.hold = Some(Kind::Save);
    bench.keys("<c-s>");
    let sealed = Reading { bytes_done: 10, bytes_total: 10, sealed: true, ..Reading::default() };
    bench.send(Event::Progress(Kind::Save, sealed));
    bench.shows("files are put in place");
    bench.keys("<esc>");
    bench.release_jobs();
    bench.shows("saved");
    assert_ne!(bench.on_disk(), SMALL);
}

#[test]
fn quitting_waits_for_the_save_and_asks_about_later_changes() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Save);
    bench.keys("tZZj");
    bench.keys("t");
    bench.release_jobs();
    assert_eq!(bench.status, None);
    bench.shows("1 changed row not saved");
}

/// More rows than a plan is computed for without a job.
fn many() -> String {
    let rows: Vec<String> = (0..5_001)
        .map(|number| format!("<url><loc>https://example.com/{number}</loc><lastmod>2026-11-02</lastmod></url>\n"))
        .collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}</urlset>\n", rows.concat())
}

#[test]
fn a_plan_of_many_rows_is_computed_in_a_job() {
    let mut bench = Bench::file(&many());
    bench.keys("$c0.7<enter>");
    bench.hold = Some(Kind::Plan);
    bench.keys("<c-s>");
    bench.shows("computing the plan…, Esc stops");
    bench.keys("<esc>");
    bench.release_jobs();
    assert_eq!(bench.message(), "stopped; nothing was written");
    assert!(!bench.on_disk().contains("0.7") && bench.app.shared.session.is_modified());
    // Changes that are made since are in the plan and in the file.
    bench.hold = Some(Kind::Plan);
    bench.keys("<c-s>j$c0.8<enter>");
    bench.release_jobs();
    assert!(bench.on_disk().contains("0.7") && bench.on_disk().contains("0.8"));
    assert!(!bench.app.shared.session.is_modified());
}

#[test]
fn a_plan_with_a_question_waits_until_no_prompt_is_open() {
    let mut bench = Bench::file(&many());
    std::fs::write(bench.path().with_file_name("other.xml"), SMALL).unwrap();
    let other = bench.path().with_file_name("other.xml").display().to_string();
    bench.hold = Some(Kind::Plan);
    bench.keys(":columns all<enter>");
    bench.keys(&format!(":write {other}<enter>j$c0.9"));
    bench.release_jobs();
    bench.shows("0.9");
    assert!(!bench.screen().contains("replaces"), "{}", bench.screen());
    bench.keys("<enter>");
    bench.shows("replaces 1 of 1 file");
    bench.keys("w");
    assert!(std::fs::read_to_string(&other).unwrap().contains("<priority>0.9</priority>"));
    assert!(!bench.on_disk().contains("<priority>"));
}

/// If another process has locked the file that would be replaced, that is reported before the question.
#[test]
fn the_lock_of_another_process_is_reported_before_the_question() {
    let mut bench = Bench::file(SMALL);
    let (state, other) = (bench.path().with_file_name("state"), bench.path().with_file_name("other.xml"));
    std::fs::write(&other, SMALL).unwrap();
    let state_slot = StateSlot::take(&state, &bench.path()).unwrap();
    fixture::open(&mut bench.app.shared.session, state_slot);
    let theirs = StateSlot::take(&state, &other).unwrap();
    bench.keys("t");
    let write = format!(":write {}<enter>", other.display());
    bench.keys(&write);
    assert!(bench.message().contains("has it open; choose another name"), "{}", bench.message());
    assert!(matches!(bench.app.modes.current(), Mode::Table));
    drop(theirs);
    bench.keys(&write);
    bench.shows("replaced");
    // A question does not acquire the lock.
    bench.keys("k");
    drop(StateSlot::take(&state, &other).unwrap());
    bench.keys(&write);
    bench.keys("w");
    assert_ne!(std::fs::read_to_string(&other).unwrap(), SMALL);
    assert!(StateSlot::take(&state, &other).is_err());
    // A job removes the journal of the old path, and its lock.
    let is_free = |_| {
        std::thread::park_timeout(Duration::from_millis(10));
        StateSlot::take(&state, &bench.path()).is_ok()
    };
    assert!((0..500).any(is_free), "the set is elsewhere now");
}

#[test]
fn the_plan_shows_files_and_limits_without_unsaved_changes() {
    for (width, words) in [(120, "4 of 50,000 URLs"), (80, "4 of 50,000   ")] {
        let mut bench = Bench::file(SMALL);
        bench.send(Event::Resize(width, 24));
        bench.keys("gp");
        bench.shows("a save would write no file");
        bench.shows("sitemap.xml");
        bench.shows(words);
        bench.shows("of 50.0 MiB");
    }
}
