//! Tests of rows: add, paste, copy, delete.

use super::bench::{Bench, SMALL};
use crate::protocol::Field;

#[test]
fn rows_are_added_deleted_and_copied() {
    let mut bench = Bench::file(SMALL);
    bench.keys("onew page<enter>");
    assert_eq!(bench.paths(), ["/", "/new page", "/shop/tea", "/shop/cups", "/blog/old post"]);
    assert_eq!(bench.app.shared.grid.position, 1, "the cursor is on the new row");
    bench.keys("Ofirst<enter>");
    assert_eq!(bench.paths()[1], "/first");
    bench.keys("dd");
    bench.shows("−");
    bench.keys("uu");
    assert_eq!(bench.paths()[1], "/new page");
    bench.keys("uY");
    assert_eq!(bench.paths(), ["/", "/", "/shop/tea", "/shop/cups", "/blog/old post"]);
}

#[test]
fn a_single_d_does_nothing_and_shows_the_next_keys() {
    let mut bench = Bench::file(SMALL);
    bench.keys("d");
    bench.shows("delete rows");
    bench.keys("<esc>");
    assert!(bench.app.shared.keymap.pending().is_empty());
    bench.keys("<space>5<esc>");
    assert_eq!(bench.app.shared.session.view().marked(), 1, "Esc drops the count first, the marks next");
    bench.keys("<esc>gg3dd");
    assert_eq!(bench.app.shared.session.view().urls(), 1);
    bench.keys("u");
    assert_eq!(bench.app.shared.session.view().urls(), 4);
}

#[test]
fn a_pasted_list_becomes_rows_and_is_not_executed_as_keys() {
    let mut bench = Bench::file(SMALL);
    bench.paste("https://example.com/one\r\nhttps://example.com/\nddq\n");
    bench.shows("3 lines pasted");
    bench.shows("1 line already there: skipped");
    bench.shows("already in row 1");
    bench.shows("1 line with errors: skipped");
    bench.shows("adds 1 URL");
    assert_eq!(bench.app.shared.session.view().urls(), 4, "nothing happens before Enter");
    bench.keys("<enter>");
    assert_eq!(bench.app.shared.session.view().urls(), 5);
    assert_eq!(bench.paths()[1], "/one");
    bench.keys("u");
    bench.paste("https://example.com/one\r\nhttps://example.com/\nddq\nhttps://example.com/one").keys("d");
    bench.shows("2 lines already there: added all the same");
    bench.shows("twice in the list");
    bench.keys("e");
    bench.shows("adds 4 URLs");
    bench.keys("d");
    bench.shows("adds 2 URLs");
    bench.keys("d<enter>");
    assert_eq!(bench.app.shared.session.view().urls(), 8);
    assert_eq!(bench.paths()[1], "/one");
    bench.keys("u");
    assert_eq!(bench.app.shared.session.view().urls(), 4, "one step");
    bench.keys("i").paste("a\nb").keys("<esc>");
    assert_eq!(bench.app.shared.session.view().urls(), 4);
}

#[test]
fn copies_are_sent_to_the_terminal_clipboard() {
    let mut bench = Bench::file(SMALL);
    bench.keys("yuyc2yyyx");
    assert_eq!(bench.copied[0], "https://example.com/");
    assert_eq!(bench.copied[1], "https://example.com/");
    assert!(bench.copied[2].starts_with("https://example.com/\t2026-11-02\t\t1.0\n"));
    assert!(bench.copied[3].starts_with("<url><loc>"));
    bench.keys("jyuGp");
    assert_eq!(bench.paths()[4], "/shop/tea");
}

#[test]
fn a_whole_url_replaces_the_suggested_prefix() {
    let empty = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>\n";
    for (xml, typed, expected) in [
        (SMALL, "new", "https://example.com/new"),
        (SMALL, "https://example.com/new", "https://example.com/new"),
        (SMALL, "http://other.example/x", "http://other.example/x"),
        (SMALL, "go?to=https://a.example/", "https://example.com/go?to=https://a.example/"),
        (empty, "example.com/new", "https://example.com/new"),
        (empty, "https://example.com/new", "https://example.com/new"),
    ] {
        let mut bench = Bench::file(xml);
        bench.keys("o").keys(typed).keys("<enter>");
        assert!(bench.cells(Field::Loc).contains(&expected.to_owned()), "typed {typed}: {:?}", bench.cells(Field::Loc));
        let mut bench = Bench::file(xml);
        bench.keys("o").paste(&format!("{typed}\n")).keys("<enter>");
        assert!(bench.cells(Field::Loc).contains(&expected.to_owned()), "pasted {typed}");
    }
    let mut bench = Bench::file(empty);
    bench.keys("o<enter>");
    assert_eq!(bench.message(), "type a URL first");
}

#[test]
fn a_list_pasted_into_the_url_prompt_becomes_rows() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jO").paste("https://example.com/1\nhttps://example.com/2\n");
    bench.shows("2 lines pasted");
    bench.shows("they come above this row");
    bench.keys("<enter>");
    assert_eq!(bench.paths()[..4], ["/", "/1", "/2", "/shop/tea"]);
}

#[test]
fn a_list_pasted_into_a_cell_sets_the_cell_and_adds_rows() {
    let mut bench = Bench::file(SMALL);
    bench.keys("ji").paste("https://example.com/1\nhttps://example.com/2\nhttps://example.com/3\n");
    bench.shows("2 more URLs pasted");
    assert_eq!(bench.app.shared.session.view().urls(), 4, "nothing happens before Enter");
    bench.keys("<enter>");
    assert_eq!(bench.paths(), ["/", "/1", "/2", "/3", "/shop/cups", "/blog/old post"]);
    bench.keys("u");
    assert_eq!(bench.paths(), ["/", "/shop/tea", "/shop/cups", "/blog/old post"], "one step");
    bench.keys("ggji").paste("https://example.com/1\nhttps://example.com/2\n").keys("<esc>");
    assert_eq!(bench.paths()[1], "/shop/tea");
    assert_eq!(bench.app.shared.session.view().urls(), 4);
}

#[test]
fn a_pasted_list_of_known_urls_adds_nothing_by_default() {
    let mut bench = Bench::file(SMALL);
    bench.paste("https://example.com/\nhttps://example.com/shop/tea\n").keys("<enter>");
    assert_eq!(
        bench.message(),
        "every line is skipped: Space adds a line, d adds duplicates, e adds lines with errors"
    );
    bench.keys("<esc>");
    assert_eq!(bench.app.shared.session.view().urls(), 4);
}

#[test]
fn row_numbers_are_grouped() {
    let row = |number: u32| format!("<url><loc>https://e.com/{number}</loc></url>\n");
    let rows: String = (0..1_200).map(row).collect();
    let mut bench = Bench::file(&format!("<urlset>\n{rows}</urlset>\n"));
    bench.keys("Ggv");
    bench.shows("row 1,200 of the set");
    bench.keys(":sort -loc<enter>:5000<enter>");
    bench.shows("row 5,000 is not shown");
}
