//! Tests of the cell editor: input, verdicts, nudging, dates.

use super::bench::{Bench, SMALL};
use crate::protocol::Field;
use crate::protocol::changefreq::Changefreq;
use crate::tui::app::Event;
use crate::tui::app::modes::Mode;

#[test]
fn a_cell_is_edited_and_undone() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jjlc2026-11-3<tab><enter>");
    assert_eq!(bench.cells(Field::Lastmod)[2], "2026-11-03", "Tab takes the suggestion");
    bench.shows("modified");
    assert!(bench.on_disk().contains("2026-13-01"), "nothing is written before a save");
    bench.keys("u");
    assert_eq!(bench.cells(Field::Lastmod)[2], "2026-13-01");
    assert!(!bench.screen().contains("modified"));
    bench.keys("<c-r>");
    assert_eq!(bench.cells(Field::Lastmod)[2], "2026-11-03");
}

#[test]
fn dates_can_be_typed_as_words() {
    for (typed, expected) in
        [("today", "2026-11-20"), ("now", "2026-11-20T10:14:07+01:00"), ("+7d", "2026-11-09"), ("-1d", "2026-11-01")]
    {
        let mut bench = Bench::file(SMALL);
        bench.keys(&format!("lc{typed}<enter>"));
        assert_eq!(bench.cells(Field::Lastmod)[0], expected, "{typed}");
    }
    let mut bench = Bench::file(SMALL);
    bench.keys("lcnone<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[0], "none");
}

#[test]
fn a_frequency_is_selected_by_a_letter_or_an_arrow_key() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jlld");
    bench.keys("<esc>");
    bench.keys("id<enter>");
    assert_eq!(bench.cells(Field::Changefreq)[1], "daily");
    bench.keys("i<down><down><enter>");
    assert_eq!(bench.cells(Field::Changefreq)[1], "monthly");
    bench.keys("jjcx<enter>");
    assert_eq!(bench.cells(Field::Changefreq)[3], "x", "what is typed is kept, with its finding");
    bench.shows("changefreq-");
}

/// The value of a changefreq cell after these keys; its value before is `weekly`.
fn frequency_after(keys: &str) -> String {
    let mut bench = Bench::file(SMALL);
    bench.keys("jll").keys(keys);
    bench.cells(Field::Changefreq).swap_remove(1)
}

#[test]
fn every_frequency_can_be_typed_completely_or_in_part() {
    let words = Changefreq::ALL.map(Changefreq::name);
    for open in ["c", "i", "e", "<f2>", "<enter>"] {
        for word in words {
            for end in 1..=word.len() {
                assert_eq!(frequency_after(&format!("{open}{}<enter>", &word[..end])), word, "{open} {word} {end}");
            }
        }
        assert_eq!(frequency_after(&format!("{open}WEEKLY<enter>")), "weekly");
        assert_eq!(frequency_after(&format!("{open}none<enter>")), "none", "no value");
    }
    for (first, second) in words.iter().flat_map(|first| words.map(|second| (first, second))) {
        assert_eq!(frequency_after(&format!("c{first}{second}<enter>")), second, "{first} is replaced");
    }
}

#[test]
fn a_completed_frequency_supports_the_completion_keys() {
    for (keys, expected) in [
        ("cm<tab><esc>", "monthly"),
        ("cm<down><enter>", "yearly"),
        ("cm<up><enter>", "weekly"),
        ("c<down><enter>", "always"),
        ("c<up><enter>", "never"),
        ("cm<esc>", "weekly"),
        ("cda<esc>", "weekly"),
        // Backspace removes the completion, then letters; a single letter still completes to its word.
        ("cm<bs><enter>", "monthly"),
        ("cmo<bs><tab><enter>", "monthly"),
        ("cmo<bs><bs><bs><enter>", "none"),
        ("cm<bs><bs><enter>", "none"),
        ("cm<bs>d<enter>", "daily"),
        ("cm<right><bs>y<enter>", "monthly"),
        ("cm<end><bs><bs>ly<enter>", "monthly"),
        ("cm<c-u><enter>", "none"),
        ("i<bs>y<enter>", "weekly"),
        ("i<c-u><enter>", "none"),
        ("c<enter>", "none"),
        // Text that is not a frequency stays as typed, with a finding.
        ("cwx<enter>", "wx"),
        ("cevery<enter>", "every"),
        ("cfortnightly<tab><enter>", "weekly"),
        ("cm<left><left>x<enter>", "xmonthly"),
    ] {
        assert_eq!(frequency_after(keys), expected, "{keys}");
    }
}

#[test]
fn a_pasted_frequency_replaces_a_word() {
    for (keys, pasted, expected) in
        [("c", "daily", "daily"), ("cm", "daily\n", "daily"), ("i", "daily", "daily"), ("cm", "on", "monthly")]
    {
        let mut bench = Bench::file(SMALL);
        bench.keys("jll").keys(keys);
        bench.send(Event::Paste(pasted.to_owned()));
        bench.keys("<enter>");
        assert_eq!(bench.cells(Field::Changefreq)[1], expected, "{keys} {pasted:?}");
    }
}

#[test]
fn the_frequencies_are_listed_with_the_current_one_highlighted() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jllcm");
    bench.shows(" always   hourly   daily   weekly  [monthly]  yearly   never");
    bench.keys("d");
    bench.shows("[daily]");
    assert!(!bench.screen().contains("[monthly]"));
    bench.keys("x");
    bench.shows(" always   hourly   daily   weekly   monthly   yearly   never");
}

#[test]
fn leaving_a_cell_keeps_or_cancels_the_edit() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jlllc0.9<tab>");
    assert!(matches!(bench.app.modes.current(), Mode::Cell(_)), "Tab goes on to the next cell");
    bench.keys("<esc>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.9");
    bench.keys("gg$c0.7<down>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.7");
    assert_eq!(bench.app.shared.grid.position, 1);
    bench.keys("c0.1<esc>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.9", "Esc drops");
    bench.keys("i<up><enter>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.1", "and ↑ brings it back");
}

#[test]
fn values_are_nudged() {
    let mut bench = Bench::file(SMALL);
    bench.keys("j$<gt><gt>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.4");
    bench.keys("h<gt>");
    assert_ne!(bench.cells(Field::Changefreq)[1], "weekly");
    bench.keys("h<lt>");
    assert_eq!(bench.cells(Field::Lastmod)[1], "2026-10-04");
    bench.keys("gg<space><space>$<gt>");
    assert_eq!(bench.cells(Field::Priority)[..2], ["1.0", "0.5"], "marked rows together; 1.0 is the end");
    bench.keys("<esc>ggj3<lt>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.2", "a count is how far");
    bench.keys("u");
    assert_eq!(bench.cells(Field::Priority)[1], "0.5", "and one step");
}

#[test]
fn one_key_sets_lastmod_to_today() {
    let mut bench = Bench::file(SMALL);
    bench.keys("t");
    assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-20");
    bench.keys("T");
    bench.shows("a week later");
    bench.keys("jj<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-21");
}

const CONTROLS: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <url><loc>https://example.com/a&#9;tab&#13;cr&#x9b;31m</loc><lastmod>2025-01-01&#x9b;2J</lastmod><changefreq>daily&#9;x</changefreq><priority>+0.1</priority></url>
</urlset>
";

#[test]
fn an_unedited_cell_makes_no_change() {
    for field in ["", "l", "ll", "lll"] {
        for end in ["<enter>", "x<bs><enter>", "<tab><esc>", "<down>"] {
            let mut bench = Bench::file(CONTROLS);
            bench.keys(field).keys("<enter>").keys(end);
            // Tab accepts a suggestion and arrows select a frequency, so these keys change the value.
            if bench.app.shared.session.is_modified() {
                assert!(matches!(end, "<tab><esc>" | "<down>") && !field.is_empty(), "{field:?} {end}");
            }
        }
    }
}

#[test]
fn typing_next_to_control_characters_keeps_them() {
    let mut bench = Bench::file(CONTROLS);
    bench.keys("<enter>");
    bench.shows("a␉tab␍cr‹009B›31m");
    bench.keys("!<enter>");
    assert_eq!(bench.paths(), ["/a\ttab\rcr\u{9b}31m!"]);
    bench.keys("<enter>X<esc><enter><up><down><esc>");
    bench.keys("<enter>X<esc><enter><up><bs><enter>u");
    assert_eq!(bench.paths(), ["/a\ttab\rcr\u{9b}31m"], "a text that comes back is the text it was: one step");
}

#[test]
fn a_lastmod_can_be_typed_into_its_list() {
    for (typed, expected) in [
        ("+7d", "2026-11-09"),
        ("+2w", "2026-11-16"),
        ("2026-11-05", "2026-11-05"),
        ("no", "2026-11-20T10:14:07+01:00"),
        ("none", "none"),
        ("jj", "2026-11-03"),
    ] {
        let mut bench = Bench::file(SMALL);
        bench.keys("T").keys(typed).keys("<enter>");
        assert_eq!(bench.cells(Field::Lastmod)[0], expected, "{typed}");
    }
    let mut bench = Bench::file(SMALL);
    bench.keys("Tsoon<enter>");
    assert_eq!(bench.message(), "not a date or a step; Esc keeps the old lastmod");
    bench.keys("<esc>");
    assert!(!bench.app.shared.session.is_modified());
}
