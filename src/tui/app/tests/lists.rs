//! Tests of lists: help, findings, rules.

use super::bench::{Bench, SMALL};
use crate::protocol::Field;
use crate::tui::app::Event;
use crate::tui::app::modes::Mode;

#[test]
fn the_pane_shows_findings_and_their_fixes() {
    let mut bench = Bench::file(SMALL);
    bench.shows("2 errors");
    bench.keys("G");
    bench.shows("gx");
    bench.keys("gx");
    assert_eq!(bench.paths()[3], "/blog/old%20post");
    bench.shows("1 error");
    bench.keys("u<c-e>");
    bench.shows("lastmod-impossible");
    bench.keys("<enter>");
    assert_eq!(bench.app.shared.session.view().shown(), 1, "choosing a rule shows its rows");
    bench.keys("<esc>GK");
    bench.shows("source:");
}

#[test]
fn the_palette_finds_commands_by_name() {
    let mut bench = Bench::file(SMALL);
    bench.keys("<c-p>lastm tod<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-20");
    bench.keys("<c-p><esc>?");
    bench.shows("Move");
    bench.keys("q");
    assert!(matches!(bench.app.modes.current(), Mode::Table));
}

#[test]
fn history_goes_to_any_state() {
    let mut bench = Bench::file(SMALL);
    bench.keys("$c0.1<enter>c0.2<enter>c0.3<enter>U");
    bench.shows("priority set to 0.2");
    bench.keys("jj<enter>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.1");
    bench.keys("Ugg<enter>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.3");
    bench.keys("UG<enter>");
    assert!(!bench.app.shared.session.is_modified());
}

#[test]
fn invalid_commands_are_explained_in_the_pane() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":set priority=high");
    bench.shows("expected");
    bench.keys("<enter>");
    assert!(matches!(bench.app.modes.current(), Mode::Line(_)), "the line stays open");
    bench.keys("<esc>:120<enter>");
    assert_eq!(bench.app.shared.grid.position, 3, "as far as there is");
    bench.keys(":se<tab>");
    bench.shows(":set ");
}

#[test]
fn help_finds_rules_commands_and_the_query_language() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":help lastmod-impossible<enter>");
    bench.shows("W3C Note Datetime");
    bench.keys("<esc>:help apply-order<enter>");
    bench.shows(":apply-order");
    bench.keys("<esc>:help query<enter>");
    bench.shows("One language selects rows everywhere");
    bench.keys("<esc>:help saving<enter>/threat<enter>");
    bench.shows("threat model");
    bench.keys("<esc>");
    // The topics `set` and `fix` find the commands, not other entries with these words.
    bench.keys("<esc>:help set<enter>");
    bench.shows(":[%]set FIELD=VALUE");
    bench.keys("<esc>:help fix<enter>");
    bench.shows("[where QUERY] apply the fixes");
    bench.keys("<esc>:help nonsense<enter>");
    bench.shows("no help on nonsense");
}

#[test]
fn a_rule_violated_by_no_row_shows_the_other_findings() {
    let mut bench = Bench::file(
        "<?xml version=\"1.0\"?>
<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <sitemap><loc>https://example.com/gone-1.xml</loc></sitemap>
  <sitemap><loc>https://example.com/gone-2.xml</loc></sitemap>
</sitemapindex>
",
    );
    bench.shows("None of the 2 sitemaps of this index was found.");
    bench.keys("<c-e>");
    bench.shows("index-child-missing");
    bench.keys("<enter>");
    bench.shows("https://example.com/gone-1.xml");
    bench.shows("https://example.com/gone-2.xml");
    bench.shows("source: ");
    assert!(bench.app.shared.session.view().spec().filter.is_none());
    bench.keys("<esc><c-e><down><enter>");
    bench.shows("https://example.com/gone-1.xml");
}

#[test]
fn the_palette_has_the_commands_of_the_command_line_too() {
    for (typed, shown, line) in [
        ("apply", ":apply-order", "apply-order"),
        ("theme", ":theme", "theme "),
        ("column", ":columns", "columns "),
        ("base", ":set-base-url", "set-base-url "),
        ("nosort", ":nosort", "nosort"),
    ] {
        let mut bench = Bench::file(SMALL);
        bench.keys("<c-p>").keys(typed);
        bench.shows(shown);
        bench.keys("<enter>");
        let Mode::Line(edit) = bench.app.modes.current() else { panic!("{typed}: no line") };
        assert_eq!(edit.prompt.text(), line);
    }
    let mut bench = Bench::file(SMALL);
    bench.keys("<c-p>zzzq");
    bench.shows("no command has this name");
    bench.keys("<enter><esc>");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys(":theme none<enter>");
    assert_eq!(bench.app.shared.message.as_ref().map(|_| bench.message()), None, "README says none");
}

#[test]
fn a_long_error_can_be_scrolled_to_its_end() {
    let mut bench = Bench::file(SMALL);
    bench.send(Event::Resize(60, 24));
    bench.keys(":filter nofield=1");
    bench.shows("priority");
    bench.shows("changefreq");
}

#[test]
fn explanations_show_the_verdict_of_each_search_engine() {
    let mut bench = Bench::file(&SMALL.replace("2026-10-05", "2026-10-05T10:00:00"));
    bench.keys("j");
    bench.keys("K");
    bench.shows("protocol  ✗ rejects      a time needs a zone");
    bench.shows("schema    ✓ accepts");
    bench.shows("Yandex    · ignores      warns and keeps the URL");
    bench.keys("<esc>:help lastmod-no-timezone<enter>");
    bench.shows("yandex       warning");
    bench.shows("protocol     error   current profile");
    bench.keys("<esc>:help 2026-10<enter>");
    bench.shows("2026-10   as lastmod");
    bench.shows("protocol  ✓ accepts");
    bench.keys("<esc>:help 0,5<enter>");
    bench.shows("0,5   as priority");
    bench.shows("Google    · ignores");
    bench.keys("<esc>:help http://www.google.com/schemas/sitemap/0.84<enter>");
    bench.shows("as namespace");
    bench.keys("<esc>gv");
    bench.shows("protocol ✗  schema ✓");
    let mut bench = Bench::file(&SMALL.replace("http://www.sitemaps", "https://www.sitemaps"));
    bench.keys("<c-e>");
    bench.shows("ns-variant");
    bench.keys("<enter>");
    bench.shows("Google    ✗ rejects      Search Console: incorrect namespace");
    bench.shows("Bing      - not documented");
}

#[test]
fn a_fix_that_needs_a_decision_asks_for_it() {
    let dates = SMALL.replace("2026-10-05", "2026-10-05T10:00:00").replace("2026-13-01", "2026-11-01T08:30:00");
    let mut bench = Bench::file(&dates);
    bench.keys("j");
    bench.shows("gx asks for a decision");
    bench.keys("gx");
    bench.shows("choose a fix");
    bench.shows("2026-10-05T10:00:00 → 2026-10-05T10:00:00Z");
    assert!(!bench.app.shared.session.is_modified(), "nothing is guessed");
    bench.keys("j<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[1], "2026-10-05T10:00:00+01:00", "the zone of the clock");
    bench.keys("u<space><space>kkgx").keys("+5:30");
    bench.shows("2026-10-05T10:00:00+05:30");
    bench.keys("<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[1..3], ["2026-10-05T10:00:00+05:30", "2026-11-01T08:30:00+05:30"]);
    bench.keys("u");
    assert_eq!(bench.cells(Field::Lastmod)[1..3], ["2026-10-05T10:00:00", "2026-11-01T08:30:00"], "one step");
    bench.keys("gxsoon<enter>");
    assert!(!bench.app.shared.session.is_modified());
    bench.shows("expected a zone");
    bench.keys("<esc><esc>");

    let mut bench = Bench::file(&SMALL.replace("https://example.com/shop/tea", "/shop/tea"));
    bench.keys("jgx");
    bench.keys("https://shop.example/<enter>");
    assert_eq!(bench.cells(Field::Loc)[1], "https://shop.example/shop/tea");

    let mut bench = Bench::file(&SMALL.replace("0.2", "8"));
    bench.keys("j$gx");
    bench.shows("8 → 0.8");
    bench.keys("<enter>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.8");
    bench.keys("ugx<down><down><down><down><enter><c-u>0.4<enter>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.4", "the last line edits the cell");
}

#[test]
fn findings_of_a_file_are_shown_on_its_rows() {
    let damaged =
        SMALL.replace("/shop/tea<", "/shop/tea?a=1&b=2<").replace("http://www.sitemaps", "https://www.sitemaps");
    let mut bench = Bench::file(&damaged);
    bench.shows("repaired 1");
    bench.shows("≈");
    bench.shows("ns-variant");
    bench.keys("K");
    bench.shows("Google    ✗ rejects");
    bench.keys("<esc>j");
    bench.shows("xml-unescaped-ampersand");
    let empty = "<urlset xmlns=\"https://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>";
    let mut bench = Bench::file(empty);
    bench.shows("is not the sitemap");
    bench.shows("gx declare the namespace of 0.9");
    bench.keys("gx<c-s>");
    assert!(bench.on_disk().contains("http://www.sitemaps.org/schemas/sitemap/0.9"), "{}", bench.on_disk());
    let mut bench = Bench::file(&damaged);
    bench.keys("jgxgx");
    assert!(!bench.screen().contains("ns-variant"), "{}", bench.screen());
    assert!(!bench.screen().contains("repaired"), "{}", bench.screen());
    bench.keys("uu");
    bench.shows("repaired 1");
    bench.keys("fis:repaired<enter>");
    bench.shows("1 shown");
}

#[test]
fn help_is_searched_and_stays_narrowed() {
    let mut bench = Bench::file(SMALL);
    bench.keys("?/");
    bench.keys("redo");
    bench.shows("^R  ^Y");
    bench.shows("Edit");
    assert!(!bench.screen().contains("first column"), "{}", bench.screen());
    bench.keys("<enter>");
    bench.shows(":redo");
    assert!(matches!(bench.app.modes.current(), Mode::List(_)), "the first Enter ends the typing");
    bench.keys("<esc>");
    bench.shows("redo");
    bench.keys("/zzz");
    bench.shows("no match for “zzz”");
    bench.keys("<esc><esc>");
    assert!(matches!(bench.app.modes.current(), Mode::Table));
    // The match is executed.
    bench.keys("x?/delete the marked<enter><enter>");
    assert_eq!(bench.app.shared.session.view().changed(), 1, "{}", bench.screen());
    bench.keys("U/deleted");
    bench.shows("1 row deleted");
    bench.keys("<esc><esc>");
}

#[test]
fn names_and_keys_are_side_by_side_on_wide_screens() {
    for (open, words) in
        [("<c-p>clear cell", "clear cell        x  "), ("?/remove the value", "clear cell        remove the value")]
    {
        for width in [120, 200] {
            let mut bench = Bench::file(SMALL);
            bench.send(Event::Resize(width, 30));
            bench.keys(open);
            bench.shows(words);
        }
    }
    let mut bench = Bench::file(SMALL);
    bench.send(Event::Resize(80, 24));
    bench.keys("<c-p>change cell");
    bench.shows("change cell       c");
}

#[test]
fn a_message_is_shown_until_the_next_key() {
    let mut bench = Bench::file(SMALL);
    bench.keys("$x");
    bench.shows("u undoes it");
    bench.send(Event::Focus);
    bench.send(Event::Resize(121, 30));
    bench.shows("u undoes it");
    bench.keys("k");
    assert!(bench.app.shared.message.is_none());
}

#[test]
fn paths_are_completed_folder_by_folder() {
    let mut bench = Bench::file(SMALL);
    let folder = bench.path().parent().unwrap().to_path_buf();
    std::fs::create_dir(folder.join("maps")).unwrap();
    for name in ["maps/one.xml", "maps/two.xml", ".hidden", "b\u{1b}[31m.xml"] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    let typed = |bench: &Bench| match bench.app.modes.current() {
        Mode::Line(edit) => edit.prompt.text().replace(&*folder.to_string_lossy(), ""),
        other => panic!("{other:?}"),
    };
    bench.keys(&format!(":write {}/", folder.display()));
    bench.shows("maps/");
    bench.shows("sitemap.xml");
    assert!(!bench.screen().contains("hidden") && !bench.screen().contains("31m"), "{}", bench.screen());
    // The only candidate is a folder: the next Tab completes a name in it.
    bench.keys("m<tab>");
    assert_eq!(typed(&bench), "write /maps/");
    bench.keys("<tab>");
    assert_eq!(typed(&bench), "write /maps/one.xml");
    bench.keys("<tab>");
    assert_eq!(typed(&bench), "write /maps/two.xml");
    // There are no candidates outside of a path argument, nor in a folder that does not exist.
    bench.keys("<esc>:filter s");
    assert!(bench.screen().lines().skip(1).all(|line| !line.contains("sitemap.xml")), "{}", bench.screen());
    bench.keys("<esc>:w! /no/such/folder/");
    assert_eq!(typed(&bench), "w! /no/such/folder/");
}
