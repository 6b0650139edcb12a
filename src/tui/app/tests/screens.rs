//! Tests of whole screens in several sizes.

use super::bench::{Bench, SMALL};
use crate::tui::app::{Event, Start};
use crate::tui::text::Charset;
use crate::tui::theme::{Scheme, Theme};

#[test]
fn every_action_runs_on_every_kind_of_set() {
    use crate::tui::command::COMMANDS;
    let empty = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>";
    for (columns, rows) in [(120, 30), (40, 10), (1, 1)] {
        for xml in [SMALL, empty] {
            let mut bench = Bench::file(xml);
            bench.send(Event::Resize(columns, rows));
            for command in COMMANDS {
                let effects = {
                    crate::tui::app::actions::run(&mut bench.app, command.action, None);
                    bench.app.update(Event::Resize(columns, rows))
                };
                bench.effects(effects);
                bench.screen();
                bench.keys("<esc><esc>");
                bench.app.modes.close_all();
            }
        }
    }
}

#[test]
fn many_sizes_are_drawn_without_a_panic() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 50), (40, 10), (20, 5), (19, 4), (3, 2), (1, 1), (0, 0)] {
        let mut bench = Bench::sample(columns, rows);
        for keys in ["", "jjj$", "i", "<esc>:set p", "<esc>b0", "<esc>o", "<esc>?", "<esc><c-e>", "<esc>q", "<esc>gv"] {
            bench.keys(keys);
            bench.screen();
        }
    }
}

#[test]
fn screen_80_by_24() {
    let mut bench = Bench::sample(80, 24);
    bench.keys("7j");
    bench.app.shared.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_120_by_40_with_details() {
    let mut bench = Bench::sample(120, 40);
    bench.keys("8jl<gt>gv");
    bench.app.shared.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn a_long_message_is_wrapped_if_lines_are_left() {
    let mut bench = Bench::file(&SMALL.replace("2026-11-02", "yesterday"));
    bench.send(Event::Resize(60, 40));
    bench.shows("✗ yesterday: not a date: write YYYY-MM-DD, or\n     YYYY-MM-DD");
}

#[test]
fn screen_40_by_10() {
    let mut bench = Bench::sample(40, 10);
    bench.keys("7j");
    bench.app.shared.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_20_by_5() {
    let mut bench = Bench::sample(20, 5);
    bench.app.shared.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_1_by_1() {
    insta::assert_snapshot!(Bench::sample(1, 1).screen(), @"…");
}

#[test]
fn screen_of_a_cell_being_edited() {
    let mut bench = Bench::sample(120, 24);
    bench.keys("7jlc2026-11-3");
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_of_a_bulk_change() {
    let mut bench = Bench::sample(120, 24);
    bench.keys(":set priority=0.8 where path:/plants/**");
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_in_ascii_without_colour() {
    let theme = Theme::new(Scheme::Plain, Charset::Ascii);
    let mut bench = Bench::start(Start::Sample, (80, 24), &theme);
    bench.keys("dd");
    bench.app.shared.message = None;
    let screen = bench.screen();
    assert!(screen.is_ascii(), "{screen}");
    for keys in
        ["", "i", "<esc>:s", "<esc>b1", "<esc>?", "<esc>f", "<esc><c-p>", "<esc><c-e>", "<esc>q", "<esc>y", "<esc>gv"]
    {
        let screen = bench.keys(keys).screen();
        let own = screen.lines().filter(|line| !line.contains("example")).find(|line| line.contains("<2"));
        assert_eq!(own, None, "{keys}: a sign of the program's own has no stand-in");
    }
    insta::assert_snapshot!(screen);
}
