//! Tests of data columns on the screen.

use super::bench::{Bench, SMALL};
use crate::tui::app::modes::Mode;
use crate::tui::jobs::Kind;

/// Crawler data about two of the rows, and about two URLs that are in no sitemap.
const CRAWL: &str = "Address,Status Code,Title 1\n\
    https://example.com/,200,Home\n\
    https://example.com/shop/tea,404,\n\
    https://example.com/new,200,New\n\
    https://example.com/gone,404,\n";

/// The small set, with tables in its folder.
fn bench(tables: &[(&str, &str)]) -> Bench {
    let bench = Bench::file(SMALL);
    for (name, text) in tables {
        std::fs::write(bench.path().with_file_name(name), text).unwrap();
    }
    bench
}

/// Types a command with the path of a table in the folder.
fn data(bench: &mut Bench, command: &str, name: &str) {
    let path = bench.path().with_file_name(name);
    bench.keys(":").paste(&format!("{command} \"{}\"", path.display())).keys("<enter>");
}

#[test]
fn a_table_is_joined_while_the_set_is_open() {
    let mut bench = bench(&[("crawl.csv", CRAWL)]);
    data(&mut bench, "data", "crawl.csv");
    assert!(
        bench.message().ends_with("crawl.csv: 4 rows, 2 columns in all; 2 URLs without data, 2 not in the sitemap")
    );
    bench.shows("3 errors");
    bench.keys("j");
    bench.shows("the page does not exist: the site answers 404");
    bench.keys(":filter @status=404<enter>");
    assert_eq!(bench.paths(), ["/shop/tea"]);
    bench.keys("<esc>:data off<enter>");
    bench.shows("2 errors");
    bench.keys(":filter @status=404<enter>");
    bench.shows("no data is loaded");
}

#[test]
fn the_list_of_columns_has_kinds_and_counts() {
    let mut bench = bench(&[("crawl.csv", CRAWL)]);
    bench.keys(":data<enter>");
    assert_eq!(bench.message(), "no data is loaded; :data FILE joins a table by URL");
    data(&mut bench, "data", "crawl.csv");
    bench.keys(":data<enter>");
    for words in ["crawl.csv", "2  URLs of the sitemap with data", "2  URLs of the data that the sitemap lacks"] {
        bench.shows(words);
    }
    for (column, kind, rows) in [("@status", "numbers", "2 URLs"), ("@title", "texts", "1 URL")] {
        bench.shows(&format!("{column:24}{kind:15}{rows:>14}"));
    }
    // One key shows the rows without data.
    bench.keys("gg<enter>");
    assert_eq!(bench.paths(), ["/shop/cups", "/blog/old post"]);
}

#[test]
fn tables_are_merged_unless_they_replace_the_data() {
    let mut bench =
        bench(&[("crawl.csv", CRAWL), ("clicks.tsv", "page\tclicks\tstatus code\nhttps://example.com/\t7\t500\n")]);
    data(&mut bench, "data", "crawl.csv");
    data(&mut bench, "data", "clicks.tsv");
    bench.keys(":filter @status=500 @clicks=7 @title:home<enter>");
    assert_eq!(bench.paths(), ["/"]);
    data(&mut bench, "data!", "clicks.tsv");
    assert_eq!(bench.message(), "the filter was dropped: there is no data column @title; expected clicks or status");
    bench.keys(":filter @clicks=7<enter>");
    assert_eq!(bench.paths(), ["/"]);
}

#[test]
fn a_filter_by_data_follows_the_tables() {
    let mut bench = bench(&[("crawl.csv", CRAWL), ("later.csv", "url,status code\nhttps://example.com/,404\n")]);
    data(&mut bench, "data", "crawl.csv");
    bench.keys(":filter @status=404<enter>");
    data(&mut bench, "data", "later.csv");
    assert_eq!(bench.paths(), ["/", "/shop/tea"]);
}

#[test]
fn a_file_that_is_not_a_table_changes_nothing() {
    let mut bench = bench(&[("crawl.csv", CRAWL), ("other.csv", "a,b\n1,2\n")]);
    data(&mut bench, "data", "crawl.csv");
    data(&mut bench, "data", "other.csv");
    bench.shows("no column holds the URLs; the columns are a, b");
    data(&mut bench, "data", "absent.csv");
    bench.shows("absent.csv");
    bench.keys(":filter @status=404<enter>");
    assert_eq!(bench.paths(), ["/shop/tea"]);
}

#[test]
fn an_edit_that_is_being_computed_is_applied_before_the_data() {
    let mut bench = bench(&[("crawl.csv", CRAWL)]);
    bench.hold = Some(Kind::Data);
    data(&mut bench, "data", "crawl.csv");
    // The set can be edited while the table is read.
    bench.keys("G:delete<enter>");
    bench.release_jobs();
    bench.keys(":filter @status=404 rule:site-not-found<enter>");
    assert_eq!(bench.paths(), ["/shop/tea"]);
    assert!(bench.app.shared.session.is_modified());
}

#[test]
fn paths_of_tables_are_completed() {
    let mut bench = bench(&[("crawl.csv", CRAWL)]);
    let folder = bench.path().parent().unwrap().display().to_string();
    bench.keys(":").paste(&format!("data {folder}/x.csv {folder}/cr")).keys("<tab>");
    let Mode::Line(edit) = bench.app.modes.current() else { panic!("no line") };
    assert!(edit.prompt.text().ends_with("/crawl.csv"), "{}", edit.prompt.text());
}

#[test]
fn data_columns_are_shown_in_the_table() {
    let mut bench = bench(&[("crawl.csv", CRAWL)]);
    bench.keys(":columns loc,@status<enter>");
    bench.shows("@status is a data column, and no data is loaded");
    bench.keys("<esc>");
    data(&mut bench, "data", "crawl.csv");
    bench.keys(":columns loc,@status,@title<enter>");
    let lines = |bench: &Bench| bench.screen().lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(lines(&bench)[1].ends_with("  @status  @title"), "{}", bench.screen());
    assert!(lines(&bench)[2].ends_with("      200  Home"), "{}", bench.screen());
    assert!(lines(&bench)[3].ends_with("      404"), "{}", bench.screen());
    bench.keys(":columns loc,@stats<enter>");
    bench.shows("there is no data column @stats; did you mean @status?");
    // The details show the data of the row too.
    bench.keys("<esc>gg<c-w>");
    bench.app.shared.wants_details = Some(true);
    bench.shows("@status     200");
    bench.shows("@title      Home");
    bench.keys("<esc>:data off<enter>");
    assert!(!bench.screen().contains("@status"), "{}", bench.screen());
}

#[test]
fn a_column_of_the_list_is_shown_and_hidden() {
    let mut bench = bench(&[("crawl.csv", CRAWL)]);
    data(&mut bench, "data", "crawl.csv");
    for shown in [true, false] {
        bench.keys(":data<enter>G<enter>");
        assert_eq!(bench.screen().contains("  @title"), shown, "{}", bench.screen());
    }
}

#[test]
fn rows_are_sorted_by_data() {
    let ranks = "url,rank,when,kind\nhttps://example.com/shop/tea,-1.5,2026-01-02,b\n\
        https://example.com/shop/cups,20,,a\nhttps://example.com/,3,2025-01-02,?\n";
    let mut bench = bench(&[("ranks.csv", ranks)]);
    bench.keys(":sort @rank<enter>");
    bench.shows("no data is loaded");
    bench.keys("<esc>");
    data(&mut bench, "data", "ranks.csv");
    let (home, tea, cups, old) = ("/", "/shop/tea", "/shop/cups", "/blog/old post");
    for (keys, expected) in [
        ("@rank", [tea, home, cups, old]),
        ("-@rank", [cups, home, tea, old]),
        ("@when", [home, tea, cups, old]),
        ("@kind", [home, cups, tea, old]),
        ("-@kind,loc", [tea, cups, home, old]),
        ("@when,@rank", [home, tea, cups, old]),
    ] {
        bench.keys(&format!(":sort {keys}<enter>"));
        assert_eq!(bench.paths(), expected, "{keys}");
    }
    bench.shows("sort @when,@rank");
    bench.keys(":columns loc,@rank<enter>:sort -@rank<enter>");
    bench.shows("@rank ");
    bench.keys(":data off<enter>");
    bench.shows("the order was dropped");
    assert_eq!(bench.paths()[0], home);
}

#[test]
fn names_of_data_columns_are_completed() {
    for (typed, completed) in [
        ("filter @st", "filter @status="),
        ("filter loc:a @ti", "filter loc:a @title:"),
        ("sort -@st", "sort -@status"),
        ("columns loc,@t", "columns loc,@title"),
        ("set loc=@", "set loc=@title"),
        ("delete where @s", "delete where @status="),
    ] {
        let mut bench = bench(&[("crawl.csv", CRAWL)]);
        data(&mut bench, "data", "crawl.csv");
        bench.keys(":").paste(typed).keys("<tab>");
        let Mode::Line(edit) = bench.app.modes.current() else { panic!("no line") };
        assert_eq!(edit.prompt.text(), completed, "{typed}");
    }
}

#[test]
fn urls_missing_from_the_sitemap_are_selected_and_added() {
    let crawl = format!("{CRAWL}https://example.com/newer,200,\nhttps://other.example/x,200,\n");
    let mut bench = bench(&[("crawl.csv", &crawl)]);
    bench.keys(":data missing<enter>");
    assert_eq!(bench.message(), "no data is loaded; :data FILE joins a table by URL");
    data(&mut bench, "data", "crawl.csv");
    bench.keys(":data missing<enter>");
    bench.shows("4 URLs of the data not in the sitemap");
    bench.shows("adds 2 URLs");
    bench.shows("the page does not exist: the site answers 404");
    bench.shows("another site");
    // URLs with problems are listed first; the first URL without a problem is deselected.
    bench.keys("jj<space>");
    bench.shows("adds 1 URL");
    bench.keys("<enter>");
    assert_eq!(bench.paths(), ["/", "/newer", "/shop/tea", "/shop/cups", "/blog/old post"]);
    bench.keys("u:data missing<enter>");
    // Select none, then all without problems; none again, then one.
    bench.keys("aa");
    bench.shows("adds 2 URLs");
    bench.keys("a<space><enter>");
    assert_eq!(bench.paths()[1], "/gone");
}

#[test]
fn dates_from_sources_are_joined_and_applied() {
    let mut bench = bench(&[]);
    let folder = bench.path().with_file_name("site");
    std::fs::create_dir_all(folder.join("shop")).unwrap();
    for name in ["index.html", "shop/tea.md"] {
        std::fs::write(folder.join(name), "x").unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_714_557_600);
        std::fs::File::options().write(true).open(folder.join(name)).unwrap().set_modified(time).unwrap();
    }
    let line = format!("dates mtime \"{}\"", folder.display());
    bench.keys(":").paste(&line).keys("<enter>");
    assert!(bench.message().contains("2 of 4 URLs dated from "), "{}", bench.message());
    bench.keys(":filter @source=shop/tea.md<enter>");
    assert_eq!(bench.paths(), ["/shop/tea"]);
    let line = format!("dates mtime \"{}\" --map \"/* = none/*.md\"", folder.display());
    bench.keys(":").paste(&line).keys("<enter>");
    assert!(bench.message().contains("none of 4 URLs has a source in "), "{}", bench.message());
}

#[test]
fn a_reload_reads_the_current_robots_txt() {
    let mut bench = Bench::file(SMALL);
    let robots = bench.path().with_file_name("robots.txt");
    assert!(!bench.screen().contains("robots-blocked"));
    std::fs::write(&robots, "User-agent: *\nDisallow: /shop\n").unwrap();
    bench.keys(":edit<enter>");
    let blocked = |bench: &Bench| {
        let counts = bench.app.shared.session.counts().by_rule();
        counts.iter().find(|(rule, _)| rule.code() == "site-blocked-by-robots").map(|(_, count)| *count)
    };
    assert_eq!(blocked(&bench), Some(2), "{}", bench.screen());
    std::fs::remove_file(&robots).unwrap();
    bench.keys(":edit<enter>");
    assert_eq!(blocked(&bench), None);
    // A folder named `robots.txt` is ignored.
    std::fs::create_dir(&robots).unwrap();
    bench.keys(":edit<enter>");
    assert_eq!((blocked(&bench), bench.paths().len()), (None, 4));
}

#[test]
fn a_column_used_by_a_filter_or_a_sort_is_shown() {
    let table = "url,status,clicks,location\nhttps://example.com/,200,3,\n\
                 https://example.com/shop/tea,301,9,https://example.com/shop/teas\n";
    let mut bench = bench(&[("crawl.csv", table)]);
    data(&mut bench, "data", "crawl.csv");
    assert!(!bench.screen().contains("@status"));
    bench.keys(":filter @status=301<enter>");
    bench.shows("@status");
    bench.keys("<esc>:sort -@clicks<enter>");
    bench.shows("@clicks");
    // A URL of the site is shown without the shared origin.
    bench.keys(":filter @location!=none<enter>");
    let screen = bench.screen();
    let row = screen.lines().nth(2).unwrap();
    assert!(row.contains("  /shop/teas") && !row.contains("https:"), "{screen}");
    // Columns that the user selected are kept.
    bench.keys("<esc>:columns loc,lastmod<enter>:filter @status=301<enter>");
    let screen = bench.screen();
    let heads = screen.lines().nth(1).unwrap();
    assert!(heads.contains("lastmod") && !heads.contains('@'), "{screen}");
}
