//! Tests of the view: filter, order, search, columns, files of a set.

use super::bench::{Bench, SMALL};
use crate::files::Options;
use crate::progress::work;
use crate::protocol::Field;
use crate::tui::app::operations::view;
use crate::tui::app::state::KeyHold;
use crate::tui::app::{Event, Start};
use crate::tui::jobs::Kind;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[test]
fn the_filter_is_applied_while_typing() {
    let mut bench = Bench::file(SMALL);
    bench.keys("fpriority<lt>0.5");
    assert_eq!(bench.paths(), ["/shop/tea", "/blog/old post"], "before Enter");
    bench.shows("2 of 4 shown");
    bench.keys("<esc>");
    assert_eq!(bench.paths().len(), 4, "Esc goes back");
    for half in ["f", "p", "r", "iority", "<lt>"] {
        bench.keys(half);
        assert_eq!(bench.paths().len(), 4, "half a query changes nothing: {half}");
    }
    bench.keys("0.5<enter>");
    assert_eq!(bench.paths().len(), 2);
    bench.keys("<esc>");
    assert_eq!(bench.paths().len(), 4);
    bench.keys("fnothing-like-this<enter>");
    bench.shows("Nothing matches the filter.");
    bench.keys("F");
    bench.keys("jl=");
    assert_eq!(bench.paths(), ["/shop/tea"], "the value under the cursor");
    bench.keys("F!");
    assert_eq!(bench.paths(), ["/shop/cups", "/blog/old post"]);
}

#[test]
fn sorting_changes_the_view_and_can_be_applied_to_the_file() {
    let mut bench = Bench::file(SMALL);
    bench.keys("$s");
    assert_eq!(bench.cells(Field::Priority), ["0.2", "0.2", "1.0", "none"]);
    bench.keys("s");
    assert_eq!(bench.cells(Field::Priority)[0], "1.0");
    bench.keys("s");
    assert_eq!(bench.paths()[0], "/");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys(":sort -loc<enter>:apply-order<enter>:nosort<enter>");
    assert_eq!(bench.paths(), ["/shop/tea", "/shop/cups", "/blog/old post", "/"]);
    assert!(bench.app.shared.session.is_modified());
    bench.keys("u");
    assert!(!bench.app.shared.session.is_modified());
}

#[test]
fn searching_wraps_around() {
    let mut bench = Bench::file(SMALL);
    bench.keys("/shop");
    assert_eq!(bench.app.shared.grid.position, 1, "while it is typed");
    bench.keys("<enter>n");
    assert_eq!(bench.app.shared.grid.position, 2);
    bench.keys("n");
    assert_eq!(bench.app.shared.grid.position, 1);
    assert!(bench.message().contains("wrapped to the top"));
    bench.keys("N");
    assert_eq!(bench.app.shared.grid.position, 2);
    bench.keys("gg}");
    assert_eq!(bench.app.shared.grid.position, 2, "the next row with an error");
    bench.keys("gg/nowhere<esc>");
    assert_eq!(bench.app.shared.grid.position, 0);
}

#[test]
fn only_rows_on_the_screen_are_rendered() {
    let urls: Vec<String> = (0..3_000).map(|n| format!("<url><loc>https://example.com/{n}</loc></url>")).collect();
    let urls = urls.join("\n");
    let mut bench =
        Bench::file(&format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>"));
    bench.keys("G");
    let screen = crate::tui::show::screen(&bench.app);
    assert_eq!(screen.table.rows.len(), usize::from(bench.app.areas().rows.height));
    assert_eq!(screen.table.rows.last().unwrap().number, 3_000);
    bench.shows("3,000 URLs");
}

#[test]
fn keys_go_to_the_next_and_the_previous_file() {
    let mut bench = Bench::sample(120, 30);
    bench.keys("gt");
    assert_eq!(bench.app.shared.grid.position, 33);
    bench.keys("gt");
    assert!(bench.message().contains("last file"));
    bench.keys("jgT");
    assert_eq!(bench.app.shared.grid.position, 0);
    bench.keys("Fs").keys("gt");
    assert_ne!(bench.app.shared.grid.position, 0, "also when sorted");
}

#[test]
fn columns_are_selected_and_ordered() {
    let mut bench = Bench::sample(100, 20);
    bench.keys(":columns priority,loc,file<enter>");
    let screen = bench.screen();
    let heads = screen.lines().nth(1).unwrap();
    let at = |word| heads.find(word);
    assert!(at("priority") < at("loc") && at("loc") < at("file"), "{heads}");
    assert_eq!((at("lastmod"), at("changefreq")), (None, None));
    bench.keys("h");
    assert_eq!(bench.app.shared.grid.field, Field::Priority, "left is left on the screen");
    bench.keys(":columns nonsense<enter>");
    assert!(bench.message().contains("changefreq"));
}

#[test]
fn columns_empty_in_the_whole_set_are_hidden_until_they_are_selected() {
    let heads = |bench: &Bench| bench.screen().lines().nth(1).unwrap().to_owned();
    let mut bench = Bench::file(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/a</loc><lastmod>2026-01-02</lastmod></url><url><loc>https://e.com/b</loc></url></urlset>",
    );
    assert!(heads(&bench).contains("lastmod") && !heads(&bench).contains("priority"), "{}", heads(&bench));
    bench.keys("ll");
    assert!(bench.message().contains("changefreq, priority and ext are empty in every row"), "{}", bench.message());
    // Selected, all are shown, until `auto` hides empty columns again.
    bench.keys(":columns all<enter>");
    assert!(heads(&bench).contains("changefreq") && heads(&bench).contains("priority"));
    bench.keys(":columns auto<enter>");
    assert!(!heads(&bench).contains("priority"));
    // An edit shows its column, and undoing it does not hide it.
    bench.keys("h:set priority=0.5<enter>");
    assert!(heads(&bench).contains("priority") && !heads(&bench).contains("changefreq"), "{}", heads(&bench));
    bench.keys("u");
    assert!(heads(&bench).contains("priority"));
    // A cell being edited is visible, whichever key opened it.
    bench.app.shared.grid.field = Field::Changefreq;
    bench.app.open_cell(false);
    bench.keys("dai");
    assert!(heads(&bench).contains("changefreq") && bench.screen().contains("daily"), "{}", bench.screen());
    bench.keys("<enter>");
    assert_eq!(bench.cells(Field::Changefreq)[0], "daily");
}

#[test]
fn scrolling_does_not_move_columns() {
    let row = |number: u32| match number {
        // Further down than the first screen.
        1_500..1_600 => format!(
            "<url><loc>https://e.com/{number}</loc><lastmod>2026-01-02T10:00:00+01:00</lastmod><priority>0.5</priority><x:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/></url>\n"
        ),
        _ => format!("<url><loc>https://e.com/{number}</loc><lastmod>2026-01-02</lastmod></url>\n"),
    };
    let rows: String = (0..3_000).map(row).collect();
    let mut bench = Bench::file(&format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:x=\"http://www.w3.org/1999/xhtml\">\n{rows}</urlset>\n"
    ));
    let columns = bench.app.columns();
    assert!(columns.field(Field::Priority).width > 0 && columns.badges.width > 0, "{columns:?}");
    assert_eq!(columns.field(Field::Lastmod).width, 25);
    for keys in ["1500G", "<pgdn>", "G", "gg"] {
        bench.keys(keys);
        assert_eq!(bench.app.columns(), columns, "{keys}");
    }
    bench.shows("2026-01-02");
}

#[test]
fn the_file_of_a_row_is_shown_in_every_common_width() {
    for width in [80, 90, 100, 120, 149, 160, 200] {
        let bench = Bench::sample(width, 24);
        let screen = bench.screen();
        let heads = screen.lines().nth(1).unwrap();
        assert!(heads.contains("file"), "{width}: {heads}");
        let gauges = screen.lines().find(|line| line.contains("▕")).unwrap_or_default();
        assert!(gauges.contains("sitemap") || gauges.contains("…"), "{width}: no name in {gauges:?} of\n{screen}");
    }
}

/// A set that is so large that all work runs in jobs.
fn large() -> Bench {
    let row = |number: u32| format!("  <url><loc>https://example.com/p/{number:05}</loc></url>\n");
    let rows: String = (0..6_000).map(row).collect::<Vec<_>>().concat();
    Bench::file(&format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n"))
}

#[test]
fn input_typed_ahead_waits_for_the_rows_that_it_applies_to() {
    for (keys, urls, first) in [
        ("f05999\ndd", 5_999, "/p/00000"),
        (":filter p/0000\n:%delete\n", 5_990, "/p/00000"),
        (":sort -loc\n:apply-order\n", 6_000, "/p/05999"),
        ("/05999\ndd", 5_999, "/p/00000"),
        ("f05999\n\u{1b}", 6_000, "/p/00000"),
    ] {
        let mut bench = large();
        let mut later = Vec::new();
        for letter in keys.chars() {
            let code = match letter {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                letter => KeyCode::Char(letter),
            };
            later.extend(bench.app.update(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
        }
        assert_eq!(bench.app.shared.session.view().urls(), 6_000, "{keys:?}: nothing before the rows are known");
        bench.effects(later);
        bench.keys("<esc>");
        assert_eq!(bench.app.shared.session.view().urls(), urls, "{keys:?}");
        assert_eq!(bench.paths()[0], first, "{keys:?}");
        let session = &bench.app.shared.session;
        let last =
            session.view().row_at(session.view().position_of(crate::document::rows::RowId(5_999)).unwrap()).unwrap();
        assert_eq!(session.document().is_live(last), urls != 5_999, "{keys:?}");
    }
}

#[test]
fn the_filter_is_shown_in_a_narrow_window() {
    for columns in [80, 100, 160] {
        let mut bench = Bench::sample(columns, 24);
        bench.keys("tfgarden<enter>");
        let screen = bench.screen();
        let header = screen.lines().next().unwrap();
        for words in ["garden", " shown", "modified"] {
            assert!(header.contains(words), "{columns}: no {words:?} in {header:?}");
        }
    }
}

#[test]
fn a_click_selects_the_row_that_was_drawn_there() {
    let mut bench = large();
    bench.app.was_drawn();
    let rows = bench.app.areas().rows;
    bench.click(20, rows.y + 4);
    assert_eq!(bench.app.shared.grid.position, 4);
    let mut later = Vec::new();
    for letter in ":sort -loc\n".chars() {
        let code = if letter == '\n' { KeyCode::Enter } else { KeyCode::Char(letter) };
        later.extend(bench.app.update(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
    }
    later.extend(bench.app.update(Bench::click_event(20, rows.y + 2)));
    later.extend(bench.app.update(Event::Key(KeyEvent::new(KeyCode::Char('t'), KeyModifiers::NONE))));
    bench.effects(later);
    assert_eq!(bench.app.shared.grid.row, Some(crate::document::rows::RowId(2)), "not the row that came there");
    assert_eq!(bench.app.shared.grid.position, 5_997);
    assert_eq!(bench.cells(Field::Lastmod)[5_997], "2026-11-20");
    // The screen shows the old order until the next frame.
    bench.click(20, rows.y + 1);
    assert_eq!(bench.app.shared.grid.position, 5_998);
    bench.app.was_drawn();
    let top = bench.app.shared.grid.top;
    bench.click(20, rows.y);
    assert_eq!(bench.app.shared.grid.position, top);
}

#[test]
fn a_filter_keeps_the_cursor_on_its_row_or_the_nearest_and_returns() {
    let row = |number: u32| {
        let kind = if number.is_multiple_of(4) { "even" } else { "odd" };
        format!("  <url><loc>https://example.com/{kind}/{number:03}</loc></url>\n")
    };
    for rows in [40_u32, 6_000] {
        let text: String = (0..rows).map(row).collect();
        let mut bench =
            Bench::file(&format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{text}</urlset>\n"));
        let at = |bench: &Bench| bench.app.shared.grid.row.map(|row| row.0);
        // The filter shows the row itself.
        bench.keys("20gg").keys("fodd<enter>");
        assert_eq!(at(&bench), Some(19));
        bench.keys("<esc>");
        assert_eq!(at(&bench), Some(19));
        // The cursor is on the nearest row, and returns when the filter is cleared or cancelled.
        let top = bench.app.shared.grid.top;
        for (keys, nearest, after) in [
            ("feven<enter>", 20, 19),
            ("fe", 19, 19),
            ("feven", 20, 19),
            ("feven/01", 16, 19),
            ("feven/03<enter>", 32, 19),
            ("fnothing-like-this<enter>", u32::MAX, 19),
            ("feven<enter>j", 24, 24),
        ] {
            bench.keys(keys);
            assert_eq!(at(&bench), (nearest < u32::MAX).then_some(nearest), "{rows} {keys}");
            bench.keys("<esc>");
            assert_eq!((at(&bench), bench.app.shared.session.view().shown()), (Some(after), rows), "{rows} {keys}");
            assert!(after != 19 || bench.app.shared.grid.top == top, "{rows} {keys}");
        }
        // After an edit under a filter, the cursor stays on the edited row.
        bench.keys("20gg").keys("feven<enter>t<esc>");
        assert_eq!(at(&bench), Some(20), "{rows}");
        // In a sorted view, the nearest row in that order is used.
        bench.keys(":sort -loc<enter>").keys("20gg").keys(":filter even<enter>");
        assert_eq!(at(&bench), Some(rows - 4));
        bench.keys("F");
        assert_eq!(at(&bench), Some(19));
    }
}

#[test]
fn a_failed_search_returns_to_its_start_and_is_reported_while_typing() {
    for mut bench in [Bench::file(SMALL), large()] {
        bench.keys("j").keys("/0000");
        bench.keys("<bs><bs><bs><bs>").keys("/shop/cups-and-more");
        assert_eq!(bench.app.shared.grid.position, 1);
        bench.shows("no match for “/shop/cups-and-more”");
        bench.keys("<enter>");
        assert_eq!(bench.app.shared.grid.position, 1);
        assert!(bench.message().contains("no match for “/shop/cups-and-more”"), "{}", bench.message());
        bench.keys("n");
        assert_eq!(bench.app.shared.grid.position, 1);
    }
    let mut bench = Bench::file(SMALL);
    bench.keys("/shop/cups");
    assert_eq!(bench.app.shared.grid.position, 2);
    bench.keys("x");
    assert_eq!(bench.app.shared.grid.position, 0, "back at its start");
    bench.keys("<bs>");
    assert_eq!(bench.app.shared.grid.position, 2);
    assert!(!bench.screen().contains("no match"), "{}", bench.screen());
    bench.keys("<esc>fnothing");
    bench.shows("no match for “nothing”");
}

/// Two files that are so large that all work runs in jobs.
fn large_set() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..2 {
        let row = |number: u32| format!("  <url><loc>https://example.com/p/{file}/{number:05}#x</loc></url>\n");
        let rows: String = (0..3_000).map(row).collect::<Vec<_>>().concat();
        let xml = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n");
        std::fs::write(folder.path().join(format!("{file}.xml")), xml).unwrap();
    }
    std::fs::write(folder.path().join("policy.toml"), "never = [\"/p/0/\"]").unwrap();
    let bench = Bench::start(Start::Path(folder.path().to_owned()), (120, 40), &Theme::default());
    Bench { folder: Some(folder), ..bench }
}

#[test]
fn update_examines_only_the_rows_that_it_shows() {
    let probe = large_set();
    let policy = format!(":policy {}\n", probe.folder.as_ref().unwrap().path().join("policy.toml").display());
    for (keys, expected) in [
        (":profile google\n", "checked for google"),
        (policy.as_str(), "3,000 forbidden URLs"),
        (":mark where p/1\n", "3,000 rows marked"),
        ("f0001\n", "22 shown"),
        (":%set priority=0.5\n", "modified"),
        (":%fix loc-fragment\n", "modified"),
        ("s", "sort"),
        ("\u{5}", "3,000 in 0"),
    ] {
        let mut bench = large_set();
        let mut later = Vec::new();
        for letter in keys.chars() {
            let (code, modifiers) = match letter {
                '\n' => (KeyCode::Enter, KeyModifiers::NONE),
                '\u{5}' => (KeyCode::Char('e'), KeyModifiers::CONTROL),
                letter => (KeyCode::Char(letter), KeyModifiers::NONE),
            };
            let work = work::here(|| later.extend(bench.app.update(Event::Key(KeyEvent::new(code, modifiers)))));
            assert!(work < 3_000, "{keys:?}: {work} rows at {letter:?}");
        }
        let work = work::here(|| bench.effects(later));
        assert!(work >= 6_000, "{keys:?}: a job examines every row, not {work}");
        bench.shows(expected);
    }
}

#[test]
fn a_job_writes_a_rule() {
    let mut bench = Bench::file(SMALL);
    let rules = bench.folder.as_ref().unwrap().path().join("rules.toml");
    bench.keys(":%set priority=0.5 where shop<enter>");
    bench.hold = Some(Kind::Report);
    bench.keys(&format!(":keep-as-rule {}<enter>", rules.display()));
    assert!(!rules.exists());
    bench.release_jobs();
    assert!(rules.exists() && bench.message().contains("kept in"), "{}", bench.message());
}

/// Three files of two rows each, of which none is loaded, and the events of their load.
fn loading() -> (Bench, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..3 {
        let row = |path: &str| format!("  <url><loc>https://example.com/{path}/{file}</loc></url>\n");
        let rows = row("tea") + &row("cup");
        let xml = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n");
        std::fs::write(folder.path().join(format!("{file}.xml")), xml).unwrap();
    }
    let mut bench = Bench::start_held(Start::Path(folder.path().to_owned()), Options::default(), Kind::Load);
    let events = bench.run_held();
    bench.folder = Some(folder);
    // Each file, the set with the findings of its rows together, and the end.
    assert_eq!(events.len(), 5);
    (bench, events)
}

#[test]
fn a_filter_and_an_order_requested_while_files_are_loaded_apply_to_all_of_them() {
    // Before any row is known, after the first file, before the last.
    for at in 0..3 {
        for (keys, first, all) in [
            (":sort -loc\n", "/tea/0", ["/tea/2", "/tea/1", "/tea/0", "/cup/2", "/cup/1", "/cup/0"].as_slice()),
            ("fcup\n", "/cup/0", &["/cup/0", "/cup/1", "/cup/2"]),
            (":filter tea\n:sort -loc\n", "/tea/0", &["/tea/2", "/tea/1", "/tea/0"]),
        ] {
            let (mut bench, events) = loading();
            for (number, event) in events.into_iter().enumerate() {
                if number == at {
                    bench.keys(&keys.replace('\n', "<enter>"));
                }
                bench.send(event);
                if number == 0 && at == 0 && keys.starts_with(':') {
                    assert!(bench.message().contains("no rows are loaded yet"), "{keys:?}: {}", bench.message());
                }
                if number == 0 && at == 1 {
                    assert_eq!(bench.paths().len(), 2);
                }
                if number == 2 && at == 1 {
                    assert_eq!(bench.paths()[0], first, "{keys:?}: rows of the first file only");
                    bench.shows("6 URLs");
                }
            }
            bench.release_jobs();
            assert_eq!(bench.paths(), all, "{keys:?} at {at}");
            assert!(bench.app.shared.message.is_none(), "{keys:?} at {at}: {}", bench.message());
        }
    }
}

#[test]
fn a_filter_that_is_stopped_while_files_are_loaded_is_not_applied_later() {
    let (mut bench, events) = loading();
    let mut events = events.into_iter();
    bench.send(events.next().unwrap());
    bench.keys("fcup<esc>");
    events.for_each(|event| bench.send(event));
    bench.release_jobs();
    assert_eq!(bench.paths().len(), 6);
    // The filter that is shown stays.
    let (mut bench, events) = loading();
    let mut events = events.into_iter();
    bench.send(events.next().unwrap());
    bench.keys("fcup<enter>");
    view::drop_requested(&mut bench.app.shared);
    events.for_each(|event| bench.send(event));
    bench.release_jobs();
    assert_eq!(bench.paths(), ["/cup/0", "/cup/1", "/cup/2"]);
}

#[test]
fn the_cursor_moves_while_the_journal_of_a_loaded_set_is_read() {
    let (mut bench, events) = loading();
    events.into_iter().take(3).for_each(|event| bench.send(event));
    assert_eq!(bench.app.shared.opening.keys, KeyHold::On);
    let position = |bench: &Bench| bench.app.shared.grid.position;
    bench.keys("jj");
    assert_eq!(position(&bench), 2);
    // What changes the set waits, and so does all input after it.
    bench.keys("xj");
    assert_eq!(position(&bench), 2);
}

#[test]
fn small_work_has_its_own_thread_during_a_load() {
    let (bench, _) = loading();
    assert!(bench.app.shared.jobs.is_busy(Kind::Load));
    let threads = bench.app.shared.jobs.run_now(rayon::current_num_threads);
    assert_eq!(threads, 1);
}
