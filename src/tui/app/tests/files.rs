//! Tests of opening, saving and quitting.

use super::bench::{Bench, SMALL};
use crate::files::{Conflicts, Options};
use crate::progress::Reading;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::tui::app::modes::Mode;
use crate::tui::app::{Event, JobOutcome, Start};
use crate::tui::jobs::{Finished, Kind};
use crate::tui::theme::Theme;

#[test]
fn a_save_writes_only_the_changed_bytes() {
    let mut bench = Bench::file(SMALL);
    bench.keys("j$c0.8<enter><c-s>");
    assert_eq!(bench.on_disk(), SMALL.replacen("<priority>0.2", "<priority>0.8", 1));
    bench.shows("saved");
    assert!(!bench.screen().contains("modified"));
    bench.keys("c0.3");
    bench.keys("<c-s>");
    assert!(bench.on_disk().contains("<priority>0.3"), "a save takes the open cell along");
    bench.keys("u");
    bench.shows("modified");
    bench.keys("<c-r>");
    assert!(!bench.app.shared.session.is_modified(), "redone to the saved state it is clean");
}

#[test]
fn quitting_asks_only_if_changes_would_be_lost() {
    let mut bench = Bench::file(SMALL);
    bench.keys("q");
    assert_eq!(bench.status, Some(0));
    let mut bench = Bench::file(SMALL);
    bench.keys("t").keys("q");
    assert_eq!(bench.status, None);
    bench.shows("1 changed row not saved");
    bench.keys("<enter>");
    assert_eq!(bench.status, None, "Enter keeps editing");
    bench.keys("qd<esc>");
    assert_eq!(bench.status, None, "a small d is not enough");
    bench.keys("qD");
    assert_eq!(bench.status, Some(0));
    assert_eq!(bench.on_disk(), SMALL);
    let mut bench = Bench::file(SMALL);
    bench.keys("tqs");
    assert_eq!(bench.status, Some(0));
    assert!(bench.on_disk().contains("2026-11-20"));
    let mut bench = Bench::file(SMALL);
    bench.keys("tZZ");
    assert_eq!(bench.status, Some(0));
    let mut bench = Bench::file(SMALL);
    bench.keys("t<c-c><c-c>");
    assert_eq!(bench.status, None, "Ctrl-C never quits");
    bench.keys("ZQ");
    assert_eq!(bench.status, Some(0));
}

#[test]
fn merge_conflicts_ask_for_a_side_and_change_nothing_until_they_are_saved() {
    let url = |name: &str| format!("<url><loc>https://e.com/{name}</loc></url>\n");
    let of = |entries: &str| {
        format!(
            "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n"
        )
    };
    let conflict = format!("{}<<<<<<< HEAD\n{}=======\n{}>>>>>>> b\n", url("a"), url("b"), url("c"));
    let text = of(&conflict);
    for (key, names) in [("o", "ab"), ("t", "ac"), ("b", "abc")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, &text).unwrap();
        let options = Options { conflicts: Conflicts::Show, ..Options::default() };
        let now = Now { seconds: 1_795_000_000, offset: 0 };
        let mut bench = Bench::start_at(Start::Path(path.clone()), (now, options));
        bench.shows("merge conflict 1 of 1: sitemap.xml, lines 4–8");
        bench.shows("Esc");
        bench.keys("l");
        bench.shows("theirs (b)");
        bench.keys("<esc>");
        bench.shows("merge conflict 1 of 1");
        bench.keys("<esc>");
        assert_eq!(bench.paths(), ["https://e.com/a", "https://e.com/b"], "our side is shown");
        bench.keys("dd<c-s>");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "nothing is written half-resolved");
        bench.keys(":edit<enter>");
        bench.keys(key);
        let expected: Vec<String> = names.chars().map(|name| format!("https://e.com/{name}")).collect();
        assert_eq!(bench.paths(), expected, "{}", bench.screen());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        bench.keys("<c-s>");
        if std::fs::read_to_string(&path).unwrap() == text {
            // The dialog asks for confirmation of the repair.
            bench.keys("w");
        }
        let all: String = names.chars().map(|name| url(&name.to_string())).collect();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), of(&all), "{}", bench.screen());
    }
}

/// A sitemap with one merge conflict per pair of names, opened with 80 columns.
fn conflicted(pairs: &[(&str, &str)]) -> (tempfile::TempDir, String, Bench) {
    let url = |name: &str| format!("<url><loc>https://e.com/{name}</loc></url>\n");
    let conflict =
        |(a, b): &(&str, &str)| format!("<<<<<<< HEAD\n{}=======\n{}>>>>>>> topic\n", url(a), url(b)) + &url("x");
    let text = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}</urlset>\n",
        pairs.iter().map(conflict).collect::<String>()
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    std::fs::write(&path, &text).unwrap();
    let options = Options { conflicts: Conflicts::Show, ..Options::default() };
    let mut bench = Bench::start_at(Start::Path(path), (Now { seconds: 1_795_000_000, offset: 0 }, options));
    bench.send(Event::Resize(80, 24));
    (folder, text, bench)
}

fn names(bench: &Bench) -> String {
    bench.paths().iter().map(|path| path.trim_start_matches("https://e.com/")).collect()
}

#[test]
fn each_merge_conflict_has_a_question() {
    let pairs = [("a", "b"), ("c", "d"), ("e", "f")];
    for (keys, expected) in [
        ("otb", "axdxefx"),
        ("too", "bxcxex"),
        ("bT", "abxdxfx"),
        ("ooT", "axcxfx"),
        ("O", "axcxex"),
        ("tB", "bxcdxefx"),
        ("T", "bxdxfx"),
    ] {
        let (_folder, _, mut bench) = conflicted(&pairs);
        bench.shows("merge conflict 1 of 3: sitemap.xml, lines 2–6");
        bench.shows("https://e.com/a");
        for answer in ["o ours", "t theirs", "b both", "for all remaining", "l look at", "Esc cancel", "topic", "HEAD"]
        {
            bench.shows(answer);
        }
        bench.keys(&keys[..1]);
        if keys.len() > 1 {
            bench.shows("merge conflict 2 of 3: sitemap.xml, lines 8–12");
            bench.keys(&keys[1..2]);
        }
        if keys.len() > 2 {
            bench.shows("merge conflict 3 of 3: sitemap.xml, lines 14–18");
            bench.shows("Esc cancel");
            bench.keys(&keys[2..]);
        }
        assert_eq!(names(&bench), expected, "{keys}: {}", bench.screen());
        assert!(bench.app.shared.session.is_modified() && bench.app.shared.session.read_only().is_none());
    }
}

#[test]
fn cancelled_merge_conflicts_are_all_unresolved() {
    let (folder, text, mut bench) = conflicted(&[("a", "b"), ("c", "d"), ("e", "f")]);
    bench.keys("tt<esc>");
    bench.shows("no merge conflict was resolved");
    assert_eq!(names(&bench), "axcxex", "our side is shown");
    bench.keys("dd<c-s>");
    assert_eq!(std::fs::read_to_string(folder.path().join("sitemap.xml")).unwrap(), text);
    bench.keys(":edit<enter>");
    bench.shows("merge conflict 1 of 3");
    // The same key twice, with the conflict shown between.
    bench.keys("l<esc>t");
    bench.shows("merge conflict 2 of 3");
}

#[test]
fn answers_to_merge_conflicts_of_a_file_that_changed_are_not_applied() {
    let (folder, text, mut bench) = conflicted(&[("a", "b"), ("c", "d")]);
    bench.keys("o");
    let less = text.replacen("<<<<<<< HEAD\n", "", 1).replacen("=======\n", "", 1).replacen(">>>>>>> topic\n", "", 1);
    std::fs::write(folder.path().join("sitemap.xml"), &less).unwrap();
    bench.keys("t");
    bench.shows("2 answers for 1 merge conflict");
    bench.keys("a");
    bench.shows("merge conflict 1 of 1");
    bench.keys("b");
    assert_eq!(names(&bench), "abxcdx");
}

#[test]
fn merge_conflicts_with_unmatched_markers_are_shown_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let root = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
    std::fs::write(&path, format!("{root}<<<<<<< HEAD\n<url><loc>https://e.com/a</loc></url>\n</urlset>\n")).unwrap();
    let options = Options { conflicts: Conflicts::Show, ..Options::default() };
    let mut bench = Bench::start_at(Start::Path(path), (Now { seconds: 1_795_000_000, offset: 0 }, options));
    bench.shows("do not match at line 2");
    bench.keys("l");
    assert!(matches!(bench.app.modes.current(), Mode::Table) && bench.app.shared.session.read_only().is_some());
}

#[test]
fn answers_are_not_cut_off_in_a_narrow_window() {
    let (_folder, _, mut bench) = conflicted(&[("a", "b"), ("c", "d")]);
    for (columns, rows) in [(120, 30), (80, 24), (60, 20), (40, 20)] {
        bench.send(Event::Resize(columns, rows));
        for answer in ["look at all lines", "ours", "theirs", "both", "both for all remaining"] {
            bench.shows(answer);
        }
    }
}

#[test]
fn a_missing_file_can_be_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let mut bench = Bench::start(Start::Path(path.clone()), (100, 24), &Theme::default());
    bench.shows("does not exist");
    bench.keys("c");
    bench.shows("No URLs here yet.");
    bench.keys("ohttps://example.com/<enter>");
    // The prompt already starts with a scheme.
    bench.keys("chttps://example.com/<enter><c-s>");
    assert!(std::fs::read_to_string(&path).unwrap().contains("<loc>https://example.com/</loc>"));
    let mut bench = Bench::start(Start::Path(folder.path().join("none.xml")), (100, 24), &Theme::default());
    bench.keys("<esc>");
    assert_eq!(bench.status, Some(3));
}

#[test]
fn the_sample_can_be_edited_but_needs_a_name_to_be_saved() {
    let mut bench = Bench::sample(120, 30);
    bench.keys("dd<c-s>");
    bench.shows(":write sitemap.xml");
    bench.keys("<esc>q");
    bench.shows("not saved");
}

#[test]
fn a_read_only_set_refuses_changes_with_a_reason() {
    let mut bench = Bench::file(SMALL);
    bench.app.shared.session.set_read_only("you asked for it");
    for keys in ["dd", "x", "o", "i", "t", "p", "b", "<gt>", "u"] {
        bench.keys(keys);
        assert!(
            bench.message().contains("read-only") || bench.message().contains("copied"),
            "{keys}: {}",
            bench.message()
        );
        assert!(matches!(bench.app.modes.current(), Mode::Table), "{keys}");
    }
    bench.shows("read-only");
    assert!(!bench.app.shared.session.is_modified());
}

#[test]
fn suspending_reports_that_changes_are_kept() {
    let mut bench = Bench::file(SMALL);
    bench.keys("t<c-z>");
    assert_eq!(bench.suspended, ["1 changed row not saved"]);
    assert!(bench.app.shared.session.is_modified(), "and undoes nothing");
}

#[test]
fn quitting_reports_a_changed_order() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":sort -loc<enter>:apply-order<enter><c-z>q");
    assert_eq!(bench.suspended, ["changes to files or to the order of rows not saved"]);
    bench.shows("changes to files or to the order of rows not saved");
    bench.keys("<esc>uddq");
    bench.shows("1 changed row not saved");
}

#[test]
fn a_url_list_can_be_edited_and_reports_unsupported_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("urls.txt");
    let text = "https://example.com/a\r\nhttps://example.com/b";
    std::fs::write(&path, text).unwrap();
    let on_disk = || std::fs::read_to_string(&path).unwrap();
    let mut bench = Bench::start(Start::Path(path.clone()), (110, 24), &Theme::default());
    bench.keys("ddu");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys("jdd<c-s>");
    assert_eq!(on_disk(), "https://example.com/a");
    bench.keys("u<c-s>");
    assert_eq!(on_disk(), text);
    bench.keys(":columns all<enter>G$c0.8<enter><c-s>");
    bench.shows("1 priority cannot be written to a text list");
    bench.keys("<esc>");
    assert_eq!(on_disk(), text);
    bench.keys(&format!("<esc>:write {}<enter>", folder.path().join("all.csv").display()));
    bench.shows("this is still urls.txt");
    let table = std::fs::read_to_string(folder.path().join("all.csv")).unwrap();
    assert_eq!(table, "loc,lastmod,changefreq,priority\nhttps://example.com/a,,,\nhttps://example.com/b,,,0.8\n");
    assert!(bench.app.shared.session.is_modified(), "a copy is no save");
}

#[test]
fn a_feed_is_saved_under_another_name_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feed.rss");
    let feed = "<rss><channel><item><title>a</title><link>https://example.com/a</link></item></channel></rss>";
    std::fs::write(&path, feed).unwrap();
    let mut bench = Bench::start(Start::Path(path.clone()), (110, 24), &Theme::default());
    bench.shows("an RSS feed, read as a sitemap");
    bench.keys("t<c-s>");
    bench.shows("never overwrites a feed");
    bench.keys(&format!("<esc>:write {}<enter>", folder.path().join("new.xml").display()));
    bench.shows("an RSS feed becomes a sitemap; not carried over: 1 title");
    bench.keys("w");
    bench.shows("saved");
    assert!(std::fs::read_to_string(folder.path().join("new.xml")).unwrap().contains("<lastmod>2026-11-20</lastmod>"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), feed);
    bench.keys("T<c-s>");
    assert!(!bench.app.shared.session.is_modified(), "from now on it is the new file");
}

#[test]
fn several_files_are_opened_as_one_set() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.xml", "b.txt"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], SMALL).unwrap();
    std::fs::write(&paths[1], "https://example.com/b\n").unwrap();
    let gone = folder.path().join("gone.xml");
    let all = [&paths[..], &[gone]].concat();
    let mut bench = Bench::start(Start::Paths(all), (110, 24), &Theme::default());
    bench.shows("not read:");
    bench.shows("b.txt");
    bench.keys("Gdd<c-s>");
    bench.shows("b.txt would have no URLs");
    assert_eq!(std::fs::read_to_string(&paths[1]).unwrap(), "https://example.com/b\n");
    bench.keys(":write!<enter>");
    assert_eq!(std::fs::read_to_string(&paths[1]).unwrap(), "");
    assert_eq!(std::fs::read_to_string(&paths[0]).unwrap(), SMALL);
    bench.keys(":edit<enter>");
    bench.shows("not read:");
}

/// A file without URLs could not be opened again.
#[test]
fn a_list_without_urls_is_written_as_an_empty_file_only_after_a_question() {
    for (text, edit) in [
        ("https://example.com/a\n", "dd"),
        ("\u{feff}\nhttps://example.com/a\n\n", "dd"),
        ("\u{feff}\nhttps://example.com/a\n\n", "dd:fix<enter>"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("urls.txt");
        std::fs::write(&path, text).unwrap();
        let on_disk = || std::fs::read_to_string(&path).unwrap();
        let mut bench = Bench::start(Start::Path(path.clone()), (160, 24), &Theme::default());
        bench.keys(edit);
        for save in ["<c-s>", ":write<enter>", ":wq<enter>"] {
            bench.keys(save);
            bench.shows("urls.txt would have no URLs");
            assert_eq!(on_disk(), text, "{edit} {save}");
            assert!(bench.status.is_none() && bench.app.shared.session.is_modified(), "{edit} {save}");
        }
        bench.keys(":write!<enter>");
        assert_eq!(on_disk().trim_matches(['\u{feff}', '\n']), "", "{edit}");
        assert!(!bench.app.shared.session.is_modified(), "{edit}");
    }
}

#[test]
fn a_large_file_shows_its_first_rows_and_progress_and_esc_stops_it() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Load);
    bench.keys(":edit!<enter>");
    let row = |loc: &str| [Some(loc.to_owned()), None, Some("daily".to_owned()), None];
    let rows = vec![row("https://example.com/first"), row("https://example.com/second")];
    let outcome = Some(JobOutcome::Beginning(rows.clone()));
    bench.send(Event::Done(Finished { kind: Kind::Read, number: 0, outcome }));
    bench.shows("https://example.com/second");
    let reading = Reading { files_total: 1, bytes_total: 250 << 20, bytes_read: 50 << 20, ..Reading::default() };
    bench.send(Event::Progress(Kind::Load, reading));
    bench.shows("reading 20 %   50.0 MiB of 250.0 MiB   Esc stops");
    bench.send(Event::Progress(Kind::Load, Reading { bytes_read: 250 << 20, ..reading }));
    bench.shows("loading   250.0 MiB read   Esc stops");
    bench.send(Event::Progress(Kind::Load, Reading { bytes_done: 125 << 20, ..reading }));
    bench.shows("loading 50 %   125.0 MiB of 250.0 MiB");
    // The first rows cannot be edited before the file is loaded.
    bench.keys("jxdd");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys("<esc>");
    bench.shows("loading stopped");
    bench.release_jobs();
    assert!(bench.app.shared.session.read_only().is_some(), "{}", bench.screen());
    assert!(bench.app.shared.opening.first_rows.is_empty());
    // First rows that arrive too late are not shown.
    bench.send(Event::Done(Finished { kind: Kind::Read, number: 0, outcome: Some(JobOutcome::Beginning(rows)) }));
    assert!(!bench.screen().contains("/second"), "{}", bench.screen());
}

#[test]
fn keys_before_the_first_row_is_read_wait_for_it() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Load);
    bench.keys(":edit!<enter>");
    bench.keys("jjjk");
    let rows = vec![[Some("https://example.com/first".to_owned()), None, None, None]];
    bench.send(Event::Done(Finished { kind: Kind::Read, number: 0, outcome: Some(JobOutcome::Beginning(rows)) }));
    bench.shows("https://example.com/first");
    bench.keys("$t");
    bench.release_jobs();
    assert_eq!(bench.app.shared.grid.position, 2, "after jjjk");
    assert_eq!(bench.cells(Field::Lastmod), ["2026-11-02", "2026-10-05", "2026-11-20", "none"], "after t");
}

#[test]
fn the_cursor_moves_among_the_first_rows_before_the_file_is_read() {
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Load);
    bench.keys(":edit!<enter>");
    let rows = ["a", "b", "c"].map(|path| [Some(format!("https://example.com/{path}")), None, None, None]);
    bench.send(Event::Done(Finished {
        kind: Kind::Read,
        number: 0,
        outcome: Some(JobOutcome::Beginning(rows.into())),
    }));
    let position = |bench: &Bench| bench.app.shared.grid.position;
    bench.keys("j");
    bench.shows("2/…");
    bench.keys("jkj");
    bench.shows("3/…");
    // What needs more rows waits, and so does all input after it.
    bench.keys("jkkG");
    assert_eq!(position(&bench), 2);
    bench.release_jobs();
    assert_eq!(position(&bench), 3);
    bench.shows("4/4");
}

#[test]
fn keys_that_need_no_rows_work_before_the_first_row_is_read() {
    for (keys, shown) in [("?", "empty"), (":", "apply"), ("<c-p>", "COMMANDS")] {
        let mut bench = Bench::file(SMALL);
        bench.hold = Some(Kind::Load);
        bench.keys(":edit!<enter>").keys(keys);
        bench.shows(shown);
    }
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Load);
    bench.keys(":edit!<enter>q");
    assert!(bench.status.is_some());
    // Input is handled in the order in which it was typed, until Esc drops it.
    let mut bench = Bench::file(SMALL);
    bench.hold = Some(Kind::Load);
    bench.keys(":edit!<enter>jq");
    assert!(bench.status.is_none());
    bench.keys("<esc>q");
    assert!(bench.status.is_some());
}

const INDEX: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <sitemap><loc>https://example.com/b.xml</loc><lastmod>2026-10-05</lastmod></sitemap>
  <sitemap>
    <loc>https://example.com/a.xml</loc>
  </sitemap>
  <sitemap><loc>https://example.com/c.xml</loc></sitemap>
</sitemapindex>
";

/// Opens an index without its sitemaps.
fn index_alone(folder: &std::path::Path) -> Bench {
    let path = folder.join("sitemap.xml");
    if !path.exists() {
        std::fs::write(&path, INDEX).unwrap();
    }
    let state = Some(folder.join("state"));
    let options = Options { index_as_rows: true, state, is_edited: true, ..Options::default() };
    Bench::start_at(Start::Path(path), (super::bench::NOW, options))
}

#[test]
fn the_entries_of_an_index_alone_are_edited_like_rows() {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = || std::fs::read_to_string(folder.path().join("sitemap.xml")).unwrap();
    let mut bench = index_alone(folder.path());
    assert!(bench.message().contains("none of them here: its entries can be edited"), "{}", bench.message());
    bench.shows("3 sitemaps");
    assert_eq!(bench.paths(), ["/b.xml", "/a.xml", "/c.xml"]);
    // Sort, change a date, delete one entry, add one, and undo everything.
    bench.keys("s");
    assert_eq!(bench.paths(), ["/a.xml", "/b.xml", "/c.xml"]);
    bench.keys("ggll");
    assert_eq!(bench.app.shared.grid.field, crate::protocol::Field::Lastmod);
    bench.keys("c2026-11-01<enter>0ssGdd");
    bench.paste("https://example.com/d.xml");
    bench.keys("<enter>");
    let expected =
        INDEX.replace("a.xml</loc>\n", "a.xml</loc>\n    <lastmod>2026-11-01</lastmod>\n").replace("c.xml", "d.xml");
    bench.keys("<c-s>");
    assert_eq!(on_disk(), expected, "{}", bench.screen());
    bench.keys("uuu<c-s>");
    assert_eq!(on_disk(), INDEX, "{}", bench.screen());
    assert!(!bench.app.shared.session.is_modified());
}

#[test]
fn an_index_alone_has_no_priority_and_no_changefreq() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = index_alone(folder.path());
    for line in [":set priority=0.5<enter>", ":%set changefreq=daily<enter>"] {
        bench.keys(line);
        assert!(bench.message().contains("its entries have loc and lastmod only"), "{line}: {}", bench.message());
        bench.keys("<esc>");
    }
    bench.keys(":columns all<enter>");
    assert!(!bench.screen().contains("priority"), "{}", bench.screen());
    bench.keys(":set lastmod=2026-11-02<enter>");
    assert!(bench.app.shared.session.is_modified());
}

#[test]
fn unsaved_changes_of_an_index_alone_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = index_alone(folder.path());
    bench.keys("dd");
    drop(bench);
    let mut bench = index_alone(folder.path());
    bench.shows("1 unsaved change");
    bench.keys("r");
    assert_eq!(bench.app.shared.session.view().urls(), 2, "{}", bench.screen());
    bench.keys("<c-s>");
    assert!(!std::fs::read_to_string(folder.path().join("sitemap.xml")).unwrap().contains("b.xml"));
    // If one of its sitemaps exists, it is opened as an ordinary index.
    std::fs::write(folder.path().join("c.xml"), SMALL).unwrap();
    let bench = index_alone(folder.path());
    assert_eq!(bench.app.shared.session.view().urls(), 4);
    assert!(bench.app.shared.session.document().index().is_some());
}
