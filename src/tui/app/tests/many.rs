//! Tests of bulk changes: marks, dialog, commands, repeat.

use super::bench::{Bench, SMALL};
use crate::protocol::Field;

#[test]
fn dot_repeats_the_last_change() {
    let mut bench = Bench::file(SMALL);
    bench.keys("$c0.8<enter>j.j.");
    assert_eq!(bench.cells(Field::Priority), ["0.8", "0.8", "0.8", "0.2"]);
}

#[test]
fn many_rows_are_set_in_one_step() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":set priority=0.5 where path:/shop/*");
    bench.shows("set priority to 0.5 on 2 of 4 rows (where)");
    bench.shows("2 change");
    bench.keys("<enter>");
    assert_eq!(bench.cells(Field::Priority), ["1.0", "0.5", "0.5", "0.2"]);
    bench.keys("u");
    assert_eq!(bench.cells(Field::Priority), ["1.0", "0.2", "none", "0.2"], "one step");
    bench.keys(":%set priority=+0.1<enter>");
    bench.keys("u:set changefreq=none<enter>");
    assert_eq!(bench.cells(Field::Changefreq)[1], "weekly", "without where: the current row only");
}

#[test]
fn the_bulk_dialog_shows_its_command() {
    let mut bench = Bench::file(SMALL);
    bench.keys("fshop<enter>b0.7");
    bench.shows(":%set priority=0.7");
    bench.shows("all 2 shown");
    bench.keys("<enter><esc>");
    assert_eq!(bench.cells(Field::Priority), ["1.0", "0.7", "0.7", "0.2"]);
    bench.keys("gg<space>b<up>weekly<enter>");
    assert_eq!(bench.cells(Field::Changefreq), ["weekly", "weekly", "weekly", "none"], "the marked row");
    bench.keys("<esc>B");
    bench.shows(":set changefreq=weekly");
}

#[test]
fn urls_are_replaced_with_a_preview() {
    let mut bench = Bench::file(SMALL);
    bench.keys("R");
    bench.keys("/shop/(\\w+)#/store/$1#");
    bench.shows(":%s#/shop/(\\w+)#/store/$1#");
    bench.shows("rewrite URLs in 4 rows");
    bench.shows("/store/tea");
    bench.keys("<enter>");
    assert_eq!(bench.paths(), ["/", "/store/tea", "/store/cups", "/blog/old post"]);
    bench.keys(":%s#/store/.*#/same#");
    bench.shows("1 duplicate URL (https://example.com/same)");
    bench.keys("<esc>:%s#^https:#htp:#");
    bench.shows("4 URLs with errors (the first: htp://");
}

#[test]
fn rows_are_marked_in_every_way() {
    let mut bench = Bench::file(SMALL);
    let marked = |bench: &Bench| bench.app.shared.session.view().marked();
    bench.keys("<space><space>");
    assert_eq!((marked(&bench), bench.app.shared.grid.position), (2, 2));
    bench.keys("*");
    assert_eq!(marked(&bench), 2);
    bench.keys("<esc>");
    assert_eq!(marked(&bench), 0);
    bench.keys("ggvjjv");
    assert_eq!(marked(&bench), 3);
    bench.keys("-shop<enter>");
    assert_eq!(marked(&bench), 1);
    bench.keys("+shop<enter>ga");
    assert_eq!(marked(&bench), 4);
    bench.keys("<esc>ggvj");
    bench.keys("dd");
    assert_eq!(bench.app.shared.session.view().urls(), 2, "an open range counts");
}

#[test]
fn the_bulk_dialog_preselects_marked_or_filtered_rows() {
    for (before, words, expected) in [
        ("", " this row ", ["0.7", "0.2", "none", "0.2"]),
        ("fshop<enter>", "all 2 shown", ["1.0", "0.7", "0.7", "0.2"]),
        ("j<space><space>", "the 2 marked", ["1.0", "0.7", "0.7", "0.2"]),
    ] {
        let mut bench = Bench::file(SMALL);
        bench.keys(before).keys("b0.7");
        bench.shows(words);
        bench.keys("<enter><esc><esc>");
        assert_eq!(bench.cells(Field::Priority), expected, "{before}");
    }
}

#[test]
fn a_bulk_change_is_repeated() {
    for keys in ["T+7d<enter>", ":set lastmod=+7d<enter>", "lb+7d<enter>"] {
        let mut bench = Bench::file(SMALL);
        bench.keys(keys);
        assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-09", "{keys}");
        bench.keys("j.");
        assert_eq!(bench.cells(Field::Lastmod)[1], "2026-10-12", "{keys}");
    }
    for keys in ["T+7d<enter>", ":set lastmod=+7d<enter>", "lb+7d<enter>"] {
        let mut bench = Bench::file(SMALL);
        bench.keys("<space><space>").keys(keys).keys("B");
        bench.shows(":set lastmod=+7d");
        bench.shows("on 2 of 4 rows");
    }
}

#[test]
fn a_preview_of_two_fields_shows_both() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":set priority=0.8 lastmod=today where path:/shop/*");
    bench.shows("2 changes");
    bench.shows("/shop/tea");
    bench.shows("priority 0.2 → 0.8   lastmod 2026-10-05 → 2026-11-20");
    bench.shows("priority ∅ → 0.8   lastmod 2026-13-01 → 2026-11-20");
    bench.keys("<esc>:set priority=1.0 lastmod=2026-11-02 where priority=1.0 or path:/shop/tea");
    bench.shows("1 change   1 has it already");
    bench.shows("priority 0.2 → 1.0   lastmod 2026-10-05 → 2026-11-02");
}

#[test]
fn dot_repeats_a_change_of_two_fields_and_a_replacement() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":set priority=0.8 changefreq=daily<enter>j.");
    assert_eq!(bench.cells(Field::Priority)[..2], ["0.8", "0.8"]);
    assert_eq!(bench.cells(Field::Changefreq)[..2], ["daily", "daily"]);
    bench.keys("jj2.");
    assert_eq!(bench.cells(Field::Priority)[3], "0.8");
    let mut bench = Bench::file(SMALL);
    bench.keys("j:s#/shop/#/store/#<enter>j.");
    assert_eq!(bench.paths()[1..3], ["/store/tea", "/store/cups"]);
    bench.keys("gg:delete<enter>j.");
    assert_eq!(bench.app.shared.session.view().urls(), 2);
}

#[test]
fn previews_count_unchanged_rows() {
    let mut bench = Bench::file(SMALL);
    for (line, words) in [
        (":%set priority=+0.1", "2 changes   1 stays as it is"),
        (":%set priority=0.2", "2 changes   2 have it already"),
        (":set priority=0.2 where path:/shop/cups", "1 change"),
    ] {
        bench.keys(line);
        bench.shows(words);
        bench.keys("<esc>");
    }
}

#[test]
fn commands_without_effect_report_one_message() {
    for (line, expected) in [
        (":delete where loc:zzz", "nothing changed: no row matches"),
        (":set priority=0.8 changefreq=daily where section=nope", "nothing changed: no row matches"),
        (":set priority=0.2 where path:/shop/tea", "nothing changed: the row has this value already"),
        (":set priority=0.2 where priority=0.2", "nothing changed: 2 rows have this value already"),
        (":apply-order", "nothing changed: the files have this order already"),
        (":fix where path:/shop/tea", "nothing changed: nothing to fix"),
        (":%fix lastmod-future", "nothing changed: nothing to fix"),
    ] {
        let mut bench = Bench::file(SMALL);
        bench.keys(line).keys("<enter>");
        assert_eq!(bench.message(), expected, "{line}");
    }
    let mut bench = Bench::file(SMALL);
    bench.keys(":sort -loc<enter>:apply-order<enter>");
    assert_eq!(bench.message(), "file order changed: 4 rows moved   u undoes it");
}
