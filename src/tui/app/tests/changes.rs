//! Tests of the list of unsaved changes, the save plan and `:verify`.

use super::bench::{Bench, SMALL};
use crate::tui::app::modes::Mode;

#[test]
fn unsaved_changes_are_listed_searched_and_reverted() {
    let mut bench = Bench::file(SMALL);
    bench.keys("gd");
    assert_eq!(bench.message(), "no unsaved changes");
    bench.keys("t").keys("jdd").keys("ohttps://example.com/new<enter>").keys("gd");
    let screen = bench.screen();
    for words in ["1 changed", "1 added", "1 deleted", "lastmod 2026-11-02 → 2026-11-20", "+ /new"] {
        assert!(screen.contains(words), "no {words} in\n{screen}");
    }
    bench.keys("/NEW<enter>");
    bench.shows("1 match “NEW”");
    bench.keys("r<esc>");
    bench.shows("1 of 2");
    assert_eq!(bench.paths(), ["/", "/shop/tea", "/shop/cups", "/new", "/blog/old post"], "deleted until it is saved");
    bench.keys("u");
    bench.shows("1 of 3");
    bench.keys("gr");
    bench.shows("1 of 2");
    assert!(!bench.screen().contains("2026-11-20"), "{}", bench.screen());
    bench.keys("R");
    assert!(matches!(bench.app.modes.current(), Mode::Table), "nothing is left to list");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys("u");
    assert_eq!(bench.app.shared.session.view().changed(), 2, "all of them were one step");
}

#[test]
fn enter_on_a_change_goes_to_its_row_even_if_a_filter_hides_it() {
    let mut bench = Bench::file(SMALL);
    bench.keys("Gt").keys("fshop<enter>").keys(":changes<enter><enter>");
    assert!(matches!(bench.app.modes.current(), Mode::Table));
    assert_eq!(bench.app.shared.grid.position, 3);
    assert_eq!(bench.app.shared.session.view().shown(), 4);
}

#[test]
fn only_one_screen_of_changes_is_rendered() {
    let row = |n| format!("<url><loc>https://example.com/{n}</loc></url>\n");
    let rows = (0..20_000).map(row).collect::<Vec<_>>().concat();
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let mut bench = Bench::file(&format!("<urlset {space}>\n{rows}</urlset>\n"));
    bench.keys(":set priority=0.3 where loc:example<enter>gd");
    bench.shows("20,000 changed");
    bench.keys("G");
    bench.shows("/19999");
    bench.shows("20,000 of 20,000");
    bench.keys("/19998<enter>R");
    bench.shows("19,999 changed");
    bench.keys("<esc><esc>:revert where loc:example<enter>");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys("u:revert where path:/7<enter>gd");
    bench.shows("18,888 changed");
}

#[test]
fn the_plan_shows_the_pending_diff_and_returns() {
    let mut bench = Bench::file(SMALL);
    bench.keys("tgp");
    bench.shows("4 of 50,000 URLs");
    bench.keys("d");
    bench.shows("-  <url><loc>https://example.com/</loc><lastmod>2026-11-02</lastmod>");
    bench.shows("+  <url><loc>https://example.com/</loc><lastmod>2026-11-20</lastmod>");
    bench.keys("<esc>");
    bench.shows("1 changed");
    bench.keys("<esc>");
    assert!(matches!(bench.app.modes.current(), Mode::Table));
    assert_eq!(bench.on_disk(), SMALL);
}

#[test]
fn verify_proves_that_nothing_else_changes() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":verify<enter>");
    bench.shows("every file holds the bytes that were read");
    bench.keys("<esc>t:verify<enter>");
    bench.shows("a save changes 1 place and no other byte");
    bench.shows("02 → 20");
    bench.shows(&format!("the other {} bytes are the same", SMALL.len() - 2));
    std::fs::write(bench.path(), "<urlset/>").unwrap();
    bench.keys("<esc>:verify<enter>");
    bench.shows("another program has changed it");
}
