//! `set --from`: values by URL from a table.

use super::*;

const ENTRIES: &str = "<url>\n  <loc>https://e.com/a</loc>\n  <lastmod>2020-01-01</lastmod>\n  <priority>0.50</priority>\n</url>\n\
    <url><loc> https://e.com/b?x=1&amp;y=2 </loc><image:image><image:loc>https://e.com/i.png</image:loc></image:image></url>\n\
    <!-- c --><url><loc><![CDATA[https://e.com/c]]></loc><changefreq>daily</changefreq><priority>0.1</priority></url>\n\
    <url><loc>https://e.com/d</loc><lastmod>2021-01-01</lastmod></url>\n";

/// A folder with a sitemap and a table.
fn site(table: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.xml"), format!("{HEAD}{ENTRIES}</urlset>\n")).unwrap();
    fs::write(folder.path().join("dates.csv"), table).unwrap();
    folder
}

fn text(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("a.xml")).unwrap()
}

const TABLE: &str = "Title,LastMod,URL,PRIORITY\n\
    A,2026-11-20,https://e.com/a,\n\
    \"B, the second\",2026-11-20T10:00:00Z,https://e.com/b?x=1&y=2,0.9\n\
    C,,https://e.com/c,none\n\
    X,2026-11-20,https://e.com/x,0.1\n";

#[test]
fn rows_get_the_values_of_their_url_and_keep_every_other_byte() {
    let folder = site(TABLE);
    let (status, out, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv");
    assert_eq!((status, out.as_str()), (0, ""), "{notes}");
    let expected = ENTRIES
        .replace("2020-01-01", "2026-11-20")
        .replace(" </loc><image", " </loc><lastmod>2026-11-20T10:00:00Z</lastmod><priority>0.9</priority><image")
        .replace("<priority>0.1</priority>", "");
    assert_eq!(text(&folder), format!("{HEAD}{expected}</urlset>\n"));
    let report = "DIR/dates.csv: 1 of 4 URLs match no row:\n  https://e.com/x\n1 row is not in DIR/dates.csv:\n  https://e.com/d\n";
    assert!(notes.starts_with("lastmod set on 2 rows, priority set on 2 rows\n"), "{notes}");
    assert!(notes.ends_with(report), "{notes}");
    let (status, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv");
    assert!(status == 0 && notes.contains("nothing changed: 3 rows have this value already"), "{notes}");
}

#[test]
fn previews_report_the_changes_and_write_nothing() {
    let folder = site(TABLE);
    let before = text(&folder);
    let (status, out, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --dry-run --where path:/a");
    assert_eq!(status, 0, "{notes}");
    assert!(out.contains("+  <lastmod>2026-11-20</lastmod>"), "{out}");
    assert!(notes.contains("lastmod set on 1 row") && !notes.contains("is not in"), "{notes}");
    let (status, out, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --check");
    let listed = "~ https://e.com/a  lastmod 2020-01-01 -> 2026-11-20\n\
                  ~ https://e.com/b?x=1&y=2  lastmod none -> 2026-11-20T10:00:00Z  priority none -> 0.9\n\
                  ~ https://e.com/c  priority 0.1 -> none\n";
    assert_eq!((status, out.as_str()), (1, listed), "{notes}");
    let (_, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --check --unmatched DIR/left.csv");
    assert!(notes.contains("--unmatched writes no file in a dry run"), "{notes}");
    assert!(!folder.path().join("left.csv").exists());
    assert_eq!(text(&folder), before);
}

#[test]
fn unmatched_urls_and_rows_are_counted_and_listed() {
    let rows: Vec<String> = (0..12).map(|n| format!("https://e.com/new/{n},2026-11-20")).collect();
    let folder = site(&format!("loc,lastmod\n{}\n", rows.join("\n")));
    let (status, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv");
    assert_eq!(status, 0, "{notes}");
    assert!(notes.contains("12 of 12 URLs match no row:\n  https://e.com/new/0\n"), "{notes}");
    assert!(notes.contains("  https://e.com/new/4\n  … and 7 more URLs\n4 rows are not in"), "{notes}");
    let (_, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --all");
    assert!(notes.contains("  https://e.com/new/11\n4 rows"), "{notes}");
    let (_, out, _) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --unmatched -");
    assert!(out.starts_with("loc,found_in\n\"https://e.com/new/0\",table\n"), "{out}");
    assert!(out.ends_with("\"https://e.com/c\",sitemap\n\"https://e.com/d\",sitemap\n"), "{out}");
    assert_eq!(out.lines().count(), 1 + 12 + 4);
    let (_, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --unmatched DIR/left.csv");
    assert!(notes.ends_with("wrote DIR/left.csv\n"), "{notes}");
    assert_eq!(fs::read_to_string(folder.path().join("left.csv")).unwrap(), out);
    let (status, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --unmatched DIR/no/left.csv");
    assert!(status == 3 && notes.contains("the folder DIR/no does not exist"), "{notes}");
}

#[test]
fn wrong_values_are_refused_with_their_line() {
    for (table, message) in [
        (
            "loc,lastmod\nhttps://e.com/a,2026-11-20\nhttps://e.com/d,2026-02-30\n",
            "DIR/dates.csv:3: lastmod 2026-02-30: ",
        ),
        ("loc\tpriority\nhttps://e.com/a\t7\nhttps://e.com/b\thigh\n", "DIR/dates.csv:2: priority 7: "),
        (
            "loc,changefreq\n\"https://e.com/a\",\"some\ntimes\"\nhttps://e.com/b,sometimes\n",
            "DIR/dates.csv:2: changefreq some",
        ),
        ("loc,lastmod\nhttps://nowhere.com/,soon\n", "DIR/dates.csv:2: lastmod soon: "),
    ] {
        let folder = site(table);
        let before = text(&folder);
        let (status, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv");
        assert_eq!(status, 2, "{table}: {notes}");
        assert!(notes.starts_with(&format!("error: {message}")), "{table}: {notes}");
        assert!(notes.contains("--force"), "{notes}");
        assert_eq!(text(&folder), before);
        let (status, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv --force");
        assert_eq!(status, 0, "{table}: {notes}");
    }
    let folder = site("loc,priority\nhttps://e.com/a,7\nhttps://e.com/b,8\n");
    let (_, _, notes) = sited(&folder, "set DIR/a.xml --from DIR/dates.csv");
    assert!(notes.contains("; 1 more invalid value in the table"), "{notes}");
}

#[test]
fn table_columns_are_detected_or_given() {
    for (table, words, status, expected) in [
        ("page,moved to,lastmod\nhttps://e.com/a,https://e.com/d,2026-01-01\n", "", 0, "lastmod set on 1 row"),
        ("old,new,lastmod\nhttps://e.com/z,https://e.com/d,2026-01-01\n", "", 3, "--key NAME"),
        ("old,new,lastmod\nhttps://e.com/z,https://e.com/d,2026-01-01\n", "--key NEW", 0, "lastmod set on 1 row"),
        ("old,new,lastmod\nhttps://e.com/z,https://e.com/d,2026-01-01\n", "--key 2", 0, "lastmod set on 1 row"),
        ("old,new,lastmod\nhttps://e.com/z,https://e.com/d,2026-01-01\n", "--key other", 3, "other"),
        (
            "loc,modified\nhttps://e.com/a,2026-01-01\n",
            "",
            3,
            "no column named lastmod, changefreq or priority; its columns are loc, modified",
        ),
        ("https://e.com/a\nhttps://e.com/b\n", "", 3, "no column named lastmod"),
        (
            "loc;lastmod\nhttps://e.com/a;2026-01-01\nhttps://e.com/a;2026-01-02\nhttps://e.com/a;2026-01-02\n",
            "",
            0,
            "1 line with different values for a URL of an earlier line",
        ),
        ("loc,lastmod\n", "", 0, "nothing changed"),
        ("buy milk\n", "", 3, "DIR/dates.csv"),
    ] {
        let folder = site(table);
        let line = format!("set DIR/a.xml --from DIR/dates.csv {words}");
        let (found, _, notes) = sited(&folder, line.trim_end());
        assert_eq!(found, status, "{table}: {notes}");
        assert!(notes.contains(expected), "{table}: {notes}");
    }
    // The last line of a URL applies.
    let folder = site("loc;lastmod\nhttps://e.com/a;2026-01-01\nhttps://e.com/a;2026-01-02\n");
    assert_eq!(sited(&folder, "set DIR/a.xml --from DIR/dates.csv").0, 0);
    assert!(text(&folder).contains("<lastmod>2026-01-02</lastmod>"));
}

#[test]
fn a_sitemap_serves_as_a_table_for_several_sets() {
    let folder = site("");
    let other = format!("{HEAD}<url><loc>https://e.com/d</loc><lastmod>2026-05-05</lastmod></url>\n</urlset>\n");
    fs::write(folder.path().join("newer.xml"), &other).unwrap();
    fs::write(folder.path().join("b.xml"), other.replace("2026-05-05", "2020-05-05")).unwrap();
    let (status, _, notes) = sited(&folder, "set DIR/a.xml DIR/b.xml --from DIR/newer.xml");
    assert_eq!(status, 0, "{notes}");
    assert!(text(&folder).contains("<loc>https://e.com/d</loc><lastmod>2026-05-05</lastmod>"));
    assert_eq!(fs::read_to_string(folder.path().join("b.xml")).unwrap(), other);
    assert!(notes.contains("3 rows are not in DIR/newer.xml") && notes.contains("2 sets: 2 changed\n"), "{notes}");
}
