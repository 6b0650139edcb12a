//! Saves that run while the editing goes on.

use super::bench::{Bench, SMALL};
use crate::progress::Reading;
use crate::tui::app::Event;
use crate::tui::jobs::Kind;

#[test]
fn what_is_typed_during_a_save_stays_modified() {
    let mut bench = Bench::file(SMALL);
    bench.keys("c0.7");
    bench.hold = Some(Kind::Save);
    bench.keys("<esc>j$c0.8<enter><c-s>");
    bench.shows("saving…, Esc stops");
    bench.keys("jc0.9<enter>");
    assert_eq!(bench.on_disk(), SMALL);
    bench.let_go();
    assert_eq!(bench.on_disk(), SMALL.replacen("<priority>0.2", "<priority>0.8", 1));
    bench.shows("modified 1");
    bench.keys("u");
    assert!(!bench.app.session.is_modified());
    bench.keys("<c-r><c-s>");
    assert!(bench.on_disk().contains("<priority>0.9"), "{}", bench.on_disk());
}

#[test]
fn a_save_is_stopped_until_files_are_put_in_place() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Save);
    bench.keys("t<c-s><esc>");
    bench.let_go();
    assert_eq!(bench.says(), "the save was stopped; every file is as it was");
    assert_eq!(bench.on_disk(), SMALL);
    assert!(bench.app.session.is_modified());
    bench.hold = Some(Kind::Save);
    bench.keys("<c-s>");
    let sealed = Reading { bytes_done: 10, bytes_total: 10, sealed: true, ..Reading::default() };
    bench.send(Event::Progress(Kind::Save, sealed));
    bench.shows("files are put in place");
    bench.keys("<esc>");
    bench.let_go();
    bench.shows("saved");
    assert_ne!(bench.on_disk(), SMALL);
}

#[test]
fn leaving_waits_for_the_save_and_asks_about_what_came_after_it() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Save);
    bench.keys("tZZj");
    bench.keys("t");
    bench.let_go();
    assert_eq!(bench.status, None);
    bench.shows("1 changed row not saved");
}
