//! Tests of files that other programs change while they are open.

use super::bench::{Bench, SMALL};
use crate::tui::app::Event;
use crate::tui::app::modes::Mode;

/// Replaces the file as another program would.
fn write(bench: &Bench, text: &str) {
    // Most programs save by replacing the file.
    let other = bench.path().with_extension("other");
    std::fs::write(&other, text).unwrap();
    std::fs::rename(other, bench.path()).unwrap();
}

#[test]
fn an_external_change_is_detected_on_focus_without_a_question() {
    let mut bench = Bench::file(SMALL);
    bench.send(Event::Focus);
    assert!(bench.app.shared.message.is_none());
    write(&bench, &SMALL.replace("0.2", "0.3"));
    bench.send(Event::Focus);
    assert!(bench.message().contains("sitemap.xml was replaced by another program"), "{}", bench.message());
    bench.shows("changed on disk");
    assert!(matches!(bench.app.modes.current(), Mode::Table));
    bench.keys("go");
    bench.shows("You have no unsaved changes");
    bench.keys("r");
    assert!(!bench.screen().contains("changed on disk"));
    assert_eq!(bench.cells(crate::protocol::Field::Priority), ["1.0", "0.3", "none", "0.3"]);
    bench.keys("go");
    assert_eq!(bench.message(), "the files have not changed on disk");
}

#[test]
fn a_save_over_external_changes_is_refused_and_merged_row_by_row() {
    let mut bench = Bench::file(SMALL);
    // Ours: the first two priorities. Theirs: the second and the fourth.
    bench.keys("$c0.9<enter>jc0.7<enter>");
    let theirs = SMALL.replace("0.2", "0.4").replace("/shop/cups", "/shop/pots");
    write(&bench, &theirs);
    bench.keys("<c-s>");
    bench.shows("not saved: sitemap.xml was replaced");
    assert_eq!(bench.on_disk(), theirs);
    bench.keys("m");
    bench.shows("4 rows changed by others   1 to decide");
    let chosen = |bench: &Bench| match bench.app.modes.current() {
        Mode::Merge(merging) => merging.chosen,
        _ => usize::MAX,
    };
    bench.keys("<c-f>");
    assert_eq!(chosen(&bench), 3);
    bench.keys("<c-b>");
    assert_eq!(chosen(&bench), 0);
    bench.shows("changed here too");
    bench.keys("<enter>");
    assert!(bench.message().contains("both sides changed this row"), "{}", bench.message());
    bench.keys("o<enter>");
    assert!(bench.message().contains("of the changed files merged"), "{}", bench.message());
    assert_eq!(bench.app.shared.session.view().changed(), 2, "what is unsaved is what differs from their file");
    bench.keys("<c-s>");
    bench.shows("saved");
    let merged = theirs.replacen("<priority>1.0", "<priority>0.9", 1).replacen("<priority>0.4", "<priority>0.7", 1);
    assert_eq!(bench.on_disk(), merged);
    bench.keys("uu");
    assert!(bench.app.shared.session.is_modified());
}

#[test]
fn reloading_after_a_new_order_lists_the_changes_that_would_be_lost() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":sort -loc<enter>:apply-order<enter>");
    write(&bench, &SMALL.replace("0.2", "0.3"));
    bench.keys("gor");
    bench.shows("changes to files or to the order of rows not saved");
}

#[test]
fn ours_can_be_kept_and_reloading_asks_first() {
    let mut bench = Bench::file(SMALL);
    bench.keys("t");
    std::fs::remove_file(bench.path()).unwrap();
    bench.keys("<c-s>");
    bench.shows("was deleted by another program");
    assert!(!bench.screen().contains("or m merge"), "there is nothing to merge with");
    bench.keys("r");
    bench.shows("1 changed row not saved");
    bench.keys("<enter><c-s>o");
    assert_eq!(bench.on_disk(), SMALL.replacen("2026-11-02", "2026-11-20", 1));
    assert!(!bench.app.shared.session.is_modified());
    // An external change of a file that this save would not write is reported too.
    bench.keys("t:write other.xml<esc>");
    write(&bench, SMALL);
    bench.keys("ut");
    bench.keys("jt<c-s>");
    bench.shows("not saved");
    bench.keys("k");
    assert_eq!(bench.on_disk(), SMALL);
}

#[test]
fn our_own_save_is_not_an_external_change() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(crate::tui::jobs::Kind::DiskCheck);
    bench.send(Event::Focus);
    bench.keys("t<c-s>");
    bench.release_jobs();
    bench.shows("saved");
    assert!(bench.app.shared.outside.changed.is_empty());
}

#[test]
fn backups_are_configured_from_the_plan() {
    let mut bench = Bench::file(SMALL);
    bench.keys("t:plan<enter>");
    bench.shows("no backup will be made (:backup once makes one)");
    bench.keys("<esc>:backup once<enter>:plan<enter>");
    bench.shows(":backup once");
    bench.keys("<esc><c-s>");
    assert!(bench.message().contains("the previous files are in"), "{}", bench.message());
    assert!(bench.path().with_file_name("sitemap.xml.bak").is_dir());
}

#[test]
fn every_panel_fits_in_every_window_size() {
    let mut bench = Bench::file(SMALL);
    bench.keys("tjddjt");
    write(&bench, &SMALL.replace("0.2", "0.4").replace("2026-13-01", "2026-12-01"));
    for (keys, words) in
        [("gd", "unsaved"), ("gp", "save rewrites"), ("gpd", "+++"), ("go", "replaced"), ("gom", "to decide")]
    {
        bench.app.shared.size = (120, 30);
        bench.keys(keys);
        bench.shows(words);
        for size in [(80, 24), (40, 10), (20, 5), (19, 4), (1, 1), (200, 60)] {
            bench.app.shared.size = size;
            bench.keys("<pgdn><up>");
            bench.screen();
        }
        bench.keys("<esc><esc>");
    }
}

/// Both sides changed extensions: the merge shows those of each side, and those that "both" would lose.
#[test]
fn a_merge_shows_the_extensions_of_both_sides() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":ext add image loc=https://example.com/own.png where loc:tea<enter>");
    let image = "<image:image xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\
                 <image:loc>https://example.com/their.png</image:loc></image:image></url>\n  <url><loc>https://example.com/shop/cups";
    write(&bench, &SMALL.replace("</url>\n  <url><loc>https://example.com/shop/cups", image));
    bench.keys("go");
    bench.keys("m");
    bench.shows("1 to decide");
    bench.shows("extensions");
    bench.shows("both: our extensions and the fields of both; theirs would be lost");
    bench.keys("b<enter><c-s>");
    let saved = bench.on_disk();
    assert!(saved.contains("own.png") && !saved.contains("their.png"), "{saved}");
}
