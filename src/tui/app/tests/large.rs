//! Tests of entries of several megabytes: jobs read them, and keys do not wait.

use super::bench::Bench;
use crate::progress::work;
use crate::session::findings::non_row;
use crate::tui::app::Start;
use crate::tui::app::modes::Mode;
use crate::tui::app::state::large;
use crate::tui::jobs::Kind;
use crate::tui::text::count;
use crate::tui::theme::Theme;

/// A set with a given row between two ordinary ones.
fn set(loc: &str, extensions: &str) -> String {
    format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" xmlns:x=\"urn:x\">
<url><loc>https://e.com/1</loc></url>
<url><loc>{loc}</loc><priority>0.5</priority>{extensions}</url>
<url><loc>https://e.com/3</loc></url>
</urlset>
"
    )
}

fn images(count: usize) -> String {
    let image = |n| {
        format!("\n<image:image><image:loc>https://e.com/{n}.png</image:loc><image:title>T</image:title></image:image>")
    };
    set("https://e.com/2", &(0..count).map(image).collect::<String>())
}

/// The number of lines in the details, and the number of bytes of text examined for one frame.
fn cost(bench: &Bench) -> (usize, usize) {
    let lines = crate::tui::show::screen(&bench.app).detail.map_or(0, |detail| detail.lines.len());
    let (_, looked) = count::of(|| bench.screen());
    (lines, looked)
}

#[test]
fn the_cost_of_a_frame_does_not_depend_on_the_number_of_images() {
    let height = 40;
    for keys in ["", "<f6>jjjj", "<f6><end>"] {
        let costs: Vec<(usize, usize)> = [500, 1_000, 8_000]
            .map(|count| {
                let mut bench = Bench::file(&images(count));
                bench.keys("jgv").keys(keys);
                bench.shows("image:");
                cost(&bench)
            })
            .into();
        for (lines, looked) in &costs {
            assert!(*lines <= 4 * height && *looked < 256 * 1024, "{keys}: {costs:?}");
        }
    }
}

#[test]
fn keys_are_handled_while_a_large_entry_is_read() {
    let mut bench = Bench::file(&images(2_000));
    bench.hold = Some(Kind::Read);
    bench.keys("jgv");
    bench.shows("reading the entry, ");
    bench.shows("checking the entry, ");
    bench.keys("j");
    bench.shows("https://e.com/3");
    assert!(!bench.screen().contains("reading the entry"), "{}", bench.screen());
    bench.keys("k<f6>jjx<esc>:");
    assert!(matches!(bench.app.modes.current(), Mode::Line(_)));
    bench.keys("<esc>");
    bench.release_jobs();
    bench.shows("image:image");
    bench.shows("img 2000");
    assert!(!bench.screen().contains("reading the entry"), "{}", bench.screen());
}

#[test]
fn a_key_that_needs_the_entry_waits_for_it_and_the_next_key_cancels_that() {
    let mut bench = Bench::file(&images(2_000));
    bench.hold = Some(Kind::Read);
    bench.keys("jK");
    bench.shows("reading the entry…");
    bench.release_jobs();
    let Mode::List(list) = bench.app.modes.current() else { panic!("{}", bench.screen()) };
    assert!(list.lines.len() < 400, "{} lines", list.lines.len());
    bench.keys("<end>");
    bench.shows("image-deprecated: 1,980 more in this row");
    let mut bench = Bench::file(&images(2_000));
    bench.hold = Some(Kind::Read);
    bench.keys("jKl");
    bench.release_jobs();
    assert!(matches!(bench.app.modes.current(), Mode::Table), "another key came since");
}

#[test]
fn a_job_changes_a_large_entry() {
    let mut bench = Bench::file(&images(2_000));
    bench.keys("j");
    bench.hold = Some(Kind::Edit);
    bench.keys("dd");
    assert!(bench.app.shared.jobs.is_busy(Kind::Edit));
    bench.keys("j");
    bench.release_jobs();
    assert_eq!(bench.app.shared.session.view().urls(), 2);
    bench.keys("u");
    bench.shows("img 2000");
}

#[test]
fn every_edit_that_creates_a_large_entry_runs_in_a_job() {
    let url = format!("https://e.com/{}", "abcdefghi/".repeat(50_000));
    // Typed into a cell, pasted as rows, pasted into a cell with more URLs, and written as a command. URLs with errors
    // are pasted only on request.
    let pasted = [format!("{url}\nhttps://e.com/b"), format!("{url}\nhttps://e.com/c")];
    for (keys, paste, end, urls) in
        [("ggi<c-u>", &url, "<enter>", 3), ("gg", &pasted[0], "e<enter>", 5), ("ggi", &pasted[1], "<enter>", 4)]
    {
        let mut bench = Bench::file(&set("https://e.com/2", ""));
        bench.keys(keys).paste(paste);
        bench.hold = Some(Kind::Edit);
        bench.keys(end);
        assert!(bench.app.shared.jobs.is_busy(Kind::Edit), "{keys}");
        bench.release_jobs();
        assert_eq!(bench.app.shared.session.view().urls(), urls, "{keys}");
    }
    let mut bench = Bench::file(&images(2_000));
    bench.hold = Some(Kind::Edit);
    bench.keys(":%set priority=0.4<enter>");
    assert!(bench.app.shared.jobs.is_busy(Kind::Edit));
    bench.release_jobs();
    bench.shows("0.4");
}

#[test]
fn a_key_in_a_long_cell_does_not_search_for_the_value() {
    let url = format!("https://e.com/{}", "abcdefghi/".repeat(100_000));
    let mut bench = Bench::file(&set(&url, ""));
    bench.keys("ji");
    for keys in ["z", "<bs>", "<left>", "y"] {
        let work = work::here(|| {
            bench.keys(keys);
        });
        assert!(work < 256 * 1024, "{keys}: {work}");
    }
}

#[test]
fn a_frame_formats_only_the_findings_that_it_shows() {
    let works = [40, 160].map(|files| {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..files {
            std::fs::write(folder.path().join(format!("{number:03}.xml")), "<urlset></urlset>").unwrap();
        }
        let bench = Bench::start(Start::Path(folder.path().to_owned()), (120, 40), &Theme::default());
        assert!(non_row::each(&bench.app.shared.session).count() >= files, "{}", bench.screen());
        work::here(|| {
            bench.screen();
        })
    });
    assert!(works[0] > 0 && works[0] == works[1], "{works:?}");
}

#[test]
fn elements_of_a_large_entry_are_edited_in_the_details() {
    let mut bench = Bench::file(&images(2_000));
    // First changefreq, lastmod and priority, then each image with its two children.
    bench.keys("jgv<f6>").keys(&"j".repeat(3 + 3 * 700 + 1)).keys("<enter>");
    let Mode::Element(edit) = bench.app.modes.current() else { panic!("{}", bench.screen()) };
    assert_eq!(edit.path.to_string(), "image[701]/loc");
    assert_eq!(edit.values[0].prompt.text(), "https://e.com/700.png");
    bench.shows("loc  https://e.com/700.png▏");
}

#[test]
fn nested_elements_are_listed_without_recursion() {
    let deep = format!("{}t{}", "<x:a>".repeat(20_000), "</x:a>".repeat(20_000));
    let mut bench = Bench::file(&set("https://e.com/2", &deep));
    bench.keys("jgv");
    bench.shows("x:a");
    bench.keys("<f6>").keys(&"j".repeat(25));
    bench.shows("17 levels down");
    bench.keys("<end>K<esc><enter>");
    let (lines, looked) = cost(&bench);
    assert!(lines < 200 && looked < 256 * 1024, "{lines} lines, {looked} bytes");
}

#[test]
fn only_the_visible_part_of_a_large_url_is_examined() {
    const LEN: usize = 300_000;
    for part in ["abcdefghi/", "äé日本-", "a\u{301}"] {
        let url = format!("https://e.com/{}", part.repeat(LEN / part.len()));
        let mut bench = Bench::file(&set(&url, ""));
        // The table, the details, the editor of the cell, the `:` line, a question, a list, a message.
        for keys in ["", "j", "gv", "<f6>", "<esc>i", "x", "<esc>", ":set loc=", "<esc>", "K", "<esc>", "yy", "dd", "Z"]
        {
            bench.keys(keys);
            let (lines, looked) = cost(&bench);
            assert!(lines < 200 && looked < LEN, "{keys}: {lines} lines, {looked} bytes");
        }
        assert!(large::size(&bench.app.shared.session, bench.app.shared.grid.row.unwrap()) > 0);
    }
}

#[test]
fn jobs_read_the_other_large_rows_on_the_screen_too() {
    let mut bench = Bench::file(&images(2_000));
    assert_eq!(bench.app.shared.grid.position, 0);
    bench.shows("img 2000");
    let text = images(2_000);
    let folder = bench.folder.as_ref().unwrap();
    std::fs::write(folder.path().join("other.xml"), &text).unwrap();
    bench.hold = Some(Kind::Read);
    // After a change, cached entries of the previous document are not used.
    bench.keys("x");
    bench.shows("…");
    bench.release_jobs();
    bench.shows("img 2000");
}
