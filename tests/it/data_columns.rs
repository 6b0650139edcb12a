//! Tests of data columns on the command line: in queries, columns and values.

use crate::support::{Folder, run, stderr, stdout};

const SITEMAP: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
    <url><loc>https://e.com/a</loc><lastmod>2026-01-01</lastmod></url>\n\
    <url><loc>https://e.com/b</loc><lastmod>2026-01-01</lastmod></url>\n\
    <url><loc>https://e.com/c</loc></url>\n\
    </urlset>\n";

/// A sitemap with a crawl export and a click export, whose headers are those of Screaming Frog and Search Console.
fn site() -> Folder {
    let folder = Folder::new();
    folder.write("sitemap.xml", SITEMAP);
    folder.write(
        "crawl.csv",
        "\"Address\",\"Status Code\",\"Redirect URL\",\"Last Modified\"\r\n\
         \"https://e.com/a\",\"200\",\"\",\"Tue, 10 Mar 2026 17:33:30 GMT\"\r\n\
         \"https://e.com/b\",\"301\",\"https://e.com/b2\",\"\"\r\n\
         \"https://e.com/x\",\"200\",\"\",\"\"\r\n",
    );
    folder.write("clicks.csv", "Top pages,Clicks\nhttps://e.com/a,99\nhttps://e.com/c,0\n");
    folder
}

fn run_with_status(folder: &Folder, arguments: &[&str], status: i32) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    if status == 0 { stdout(&output) } else { stderr(&output) }
}

#[test]
fn rows_are_selected_and_listed_by_data_columns() {
    let folder = site();
    let listed =
        run_with_status(&folder, &["list", "sitemap.xml", "--data", "crawl.csv", "--where", "@status>=300"], 0);
    assert_eq!(listed, "https://e.com/b\n");
    let arguments = ["list", "sitemap.xml", "--data", "crawl.csv", "--data", "clicks.csv", "--format", "csv"];
    let listed = run_with_status(&folder, &[&arguments[..], &["--columns", "loc,@status,@clicks"]].concat(), 0);
    assert_eq!(listed, "loc,@status,@clicks\nhttps://e.com/a,200,99\nhttps://e.com/b,301,\nhttps://e.com/c,,0\n");
    let json = ["list", "sitemap.xml", "--data", "crawl.csv", "--format", "jsonl", "--columns", "loc,@status"];
    assert!(run_with_status(&folder, &json, 0).starts_with("{\"loc\":\"https://e.com/a\",\"@status\":200}\n"));
    let newer = ["list", "sitemap.xml", "--data", "crawl.csv", "--where", "@modified>lastmod"];
    assert_eq!(run_with_status(&folder, &newer, 0), "https://e.com/a\n");
}

#[test]
fn fields_take_the_values_of_data_columns() {
    let folder = site();
    let dates = ["set", "sitemap.xml", "lastmod=@modified", "--data", "crawl.csv", "--where", "@modified>lastmod"];
    run_with_status(&folder, &dates, 0);
    let moved = ["set", "sitemap.xml", "loc=@location", "--data", "crawl.csv", "--where", "@status=301"];
    run_with_status(&folder, &moved, 0);
    let scale = ["set", "sitemap.xml", "priority=scale(@clicks,0.3..1.0)", "--data", "clicks.csv"];
    run_with_status(&folder, &scale, 0);
    let expected = SITEMAP
        .replace(
            "a</loc><lastmod>2026-01-01</lastmod>",
            "a</loc><lastmod>2026-03-10T17:33:30Z</lastmod><priority>1.0</priority>",
        )
        .replace("e.com/b<", "e.com/b2<")
        .replace("c</loc>", "c</loc><priority>0.3</priority>");
    assert_eq!(String::from_utf8(folder.read("sitemap.xml")).unwrap(), expected);
}

/// A W3C datetime with a time needs a zone, so a time without a zone is written as a date only.
#[test]
fn a_time_without_a_zone_is_written_as_a_date() {
    let folder = site();
    folder.write(
        "cms.csv",
        "url,changed\nhttps://e.com/a,2025-10-01 10:00:00\nhttps://e.com/b,2025-10-02T23:30\nhttps://e.com/c,Fri 3 Oct 2025 08:00\n",
    );
    run_with_status(&folder, &["set", "sitemap.xml", "lastmod=@changed", "--data", "cms.csv"], 0);
    let listed = run_with_status(&folder, &["list", "sitemap.xml", "--columns", "lastmod"], 0);
    assert_eq!(listed, "2025-10-01\n2025-10-02\n2025-10-03\n");
}

/// The paths in an access log are resolved against the host of most rows.
#[test]
fn a_log_is_joined_with_the_host_of_most_rows() {
    let folder = site();
    let line = |path: &str| {
        format!("1.2.3.4 - - [10/Oct/2026:13:55:36 +0200] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"Googlebot/2.1\"\n")
    };
    folder.write("access.log", ["/a", "/b", "/a", "/none"].map(line).concat());
    let hits = ["list", "sitemap.xml", "--data", "access.log", "--columns", "path,@hits"];
    assert_eq!(run_with_status(&folder, &hits, 0), "/a\t2\n/b\t1\n/c\t\n");
    let other =
        ["list", "sitemap.xml", "--data", "access.log", "--base-url", "https://other.example/", "--where", "@hits>0"];
    assert_eq!(run_with_status(&folder, &other, 0), "");
    let checked = ["check", "sitemap.xml", "--data", "access.log", "--where", "@hits>0", "--fail-on", "never"];
    run_with_status(&folder, &checked, 0);
    // Standard input is read only once, so the host cannot be determined from its rows.
    let (status, _, notes) = crate::input::piped(&folder, &["list", "-", "--data", "access.log"], SITEMAP);
    assert!(status == Some(2) && notes.contains("--base-url names the site"), "{notes}");
    for arguments in [
        &["set", "sitemap.xml", "priority=scale(@hits,0.3..1.0)"][..],
        &["remove", "sitemap.xml", "--where", "@hits=2"],
        &["sort", "sitemap.xml", "-@hits"],
    ] {
        run_with_status(&folder, &[arguments, &["--data", "access.log"]].concat(), 0);
    }
    let listed = run_with_status(&folder, &["list", "sitemap.xml", "--columns", "path,priority"], 0);
    assert_eq!(listed, "/b\t0.7\n/c\t\n");
}

/// Spreadsheets and statistics group the digits of large numbers.
#[test]
fn grouped_numbers_are_numbers() {
    let folder = site();
    let clicks = |a: &str, b: &str, c: &str| {
        folder.write(
            "clicks.csv",
            format!("url,clicks\nhttps://e.com/a,{a}\nhttps://e.com/b,{b}\nhttps://e.com/c,{c}\n"),
        );
        let arguments = ["list", "sitemap.xml", "--data", "clicks.csv", "--format", "jsonl", "--columns", "@clicks"];
        run_with_status(&folder, &arguments, 0).replace("{\"@clicks\":", "").replace("}\n", ";")
    };
    assert_eq!(clicks("\"1,234\"", "\"12,345,678\"", "999"), "1234;12345678;999;");
    assert_eq!(clicks("1 234", "1\u{a0}000", "7"), "1234;1000;7;");
    assert_eq!(clicks("1'234", "-2'000'000", "7"), "1234;-2000000;7;");
    // Decimal commas, mixed separators, groups of other lengths, and ungrouped numbers beside grouped ones are text.
    for (a, b) in [("\"1,5\"", "\"1,234\""), ("1'234", "\"1,234\""), ("\"12,34\"", "\"1,234\""), ("\"1,234\"", "1234")]
    {
        let shown = clicks(a, b, "7");
        assert!(shown.contains('"'), "{a} {b}: {shown}");
    }
}

#[test]
fn booleans_stay_booleans() {
    let folder = site();
    folder.write(
        "index.jsonl",
        "{\"url\":\"https://e.com/a\",\"indexable\":true}\n{\"url\":\"https://e.com/b\",\"indexable\":false}\n",
    );
    folder.write("index.csv", "url,indexable\nhttps://e.com/a,yes\nhttps://e.com/b,No\n");
    for table in ["index.jsonl", "index.csv"] {
        let list = ["list", "sitemap.xml", "--data", table, "--columns", "path,@indexable", "--format"];
        let lines = run_with_status(&folder, &[&list[..], &["jsonl"]].concat(), 0);
        assert_eq!(
            lines,
            "{\"path\":\"/a\",\"@indexable\":true}\n{\"path\":\"/b\",\"@indexable\":false}\n{\"path\":\"/c\",\"@indexable\":null}\n"
        );
        let shown =
            run_with_status(&folder, &["list", "sitemap.xml", "--data", table, "--where", "@indexable=true"], 0);
        assert_eq!(shown, "https://e.com/a\n");
    }
    // Text output keeps the spelling of the table.
    let list = ["list", "sitemap.xml", "--data", "index.csv", "--columns", "@indexable"];
    assert_eq!(run_with_status(&folder, &list, 0), "yes\nNo\n\n");
}

#[test]
fn data_columns_select_rows_of_a_streamed_set() {
    let folder = site();
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
                 <sitemap><loc>https://e.com/sitemap.xml</loc></sitemap></sitemapindex>\n";
    folder.write("sitemap_index.xml", index);
    let remove = ["remove", ".", "--data", "crawl.csv", "--where", "@status=301 or @status=none"];
    run_with_status(&folder, &remove, 0);
    let remaining = String::from_utf8(folder.read("sitemap.xml")).unwrap();
    assert!(
        remaining.contains("e.com/a<") && !remaining.contains("e.com/b") && !remaining.contains("e.com/c"),
        "{remaining}"
    );
}

#[test]
fn invalid_tables_columns_and_values_are_reported_and_nothing_is_written() {
    let folder = site();
    folder.write("none.csv", "a,b\n1,2\n");
    folder.write("broken.jsonl", "{\"url\":\"https://e.com/a\"}\nnonsense\n{}\n");
    folder.write("empty.csv", "\n");
    let set = ["set", "sitemap.xml"];
    let table: [(&[&str], i32, &str); 10] = [
        (&["lastmod=@modified"], 2, "no data is loaded (--data FILE, :data FILE)"),
        (&["lastmod=@modfied", "--data", "crawl.csv"], 2, "did you mean @modified?"),
        (&["priority=@status", "--data", "none.csv"], 3, "no column holds the URLs; the columns are a, b"),
        (&["priority=@status", "--data", "broken.jsonl"], 3, "broken.jsonl: line 2: expected one JSON object per line"),
        (&["priority=@status", "--data", "empty.csv"], 3, "empty.csv: the table is empty"),
        (&["priority=@status", "--data", "crawl.csv", "--data-key", "adress"], 2, "there is no column \"adress\""),
        (&["lastmod=@status", "--data", "crawl.csv"], 2, "lastmod takes dates"),
        (&["priority=scale(@clicks,1..2)", "--data", "clicks.csv"], 2, "expected scale(@COLUMN,LOW..HIGH)"),
        (&["lastmod=today", "--data", "missing.csv"], 3, "missing.csv"),
        (&["lastmod=today", "--data", "crawl.csv", "--where", "@status>=many"], 2, "expected a number"),
    ];
    for (arguments, status, expected) in table {
        let message = run_with_status(&folder, &[&set[..], arguments].concat(), status);
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
    assert_eq!(String::from_utf8(folder.read("sitemap.xml")).unwrap(), SITEMAP);
}

#[test]
fn urls_missing_from_the_set_are_listed() {
    let folder = site();
    let listed = run_with_status(&folder, &["list", "sitemap.xml", "--data", "crawl.csv", "--missing"], 0);
    assert_eq!(listed, "https://e.com/x\n");
    folder.write(
        "more.csv",
        "url,status code\nhttps://e.com/gone,404\nhttps://other.org/,200\nhttps://E.com:443/a,200\n",
    );
    let output = run(&folder, &["list", "sitemap.xml", "--data", "crawl.csv", "--data", "more.csv", "--missing"]);
    assert_eq!(stdout(&output), "https://e.com/x\n");
    assert!(
        stderr(&output).contains("2 more URLs of other sites, redirected, missing or no pages"),
        "{}",
        stderr(&output)
    );
    let all = ["list", "sitemap.xml", "--data", "crawl.csv", "--data", "more.csv", "--missing=all"];
    assert_eq!(run_with_status(&folder, &all, 0), "https://e.com/x\nhttps://e.com/gone\nhttps://other.org/\n");
    assert!(run_with_status(&folder, &["list", "sitemap.xml", "--missing"], 2).contains("--missing needs --data FILE"));
}

#[test]
fn rows_are_sorted_by_data_columns() {
    let folder = site();
    let sorted = ["list", "sitemap.xml", "--data", "clicks.csv", "--sort", "@clicks"];
    assert_eq!(run_with_status(&folder, &sorted, 0), "https://e.com/c\nhttps://e.com/a\nhttps://e.com/b\n");
    run_with_status(&folder, &["sort", "sitemap.xml", "--by", "-@status,loc", "--data", "crawl.csv"], 0);
    assert_eq!(
        run_with_status(&folder, &["list", "sitemap.xml"], 0),
        "https://e.com/b\nhttps://e.com/a\nhttps://e.com/c\n"
    );
    assert!(run_with_status(&folder, &["sort", "sitemap.xml", "--by", "@clicks"], 2).contains("no data is loaded"));
}

#[test]
fn every_command_accepts_data() {
    let folder = site();
    let data = ["--data", "crawl.csv", "--data", "clicks.csv"];
    let run_with_data = |arguments: &[&str], status: i32| {
        let output = run(&folder, &[arguments, &data].concat());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
        stdout(&output)
    };
    let reset = || folder.write("sitemap.xml", SITEMAP);
    let checked = run_with_data(&["check", "sitemap.xml", "--rule", "site-*", "--all"], 1);
    assert!(checked.contains("error[site-redirect]") && checked.contains("note[site-lastmod-older]"), "{checked}");
    let none = run_with_data(
        &["check", "sitemap.xml", "--rule", "site-*", "--where", "@status=none and @clicks>0", "--all"],
        0,
    );
    assert_eq!(none, "");
    assert_eq!(
        run_with_data(&["list", "sitemap.xml", "--sort", "loc", "--where", "@clicks=0"], 0),
        "https://e.com/c\n"
    );
    assert!(run_with_data(&["stats", "sitemap.xml"], 0).contains("URLs"));
    run_with_data(&["replace", "sitemap.xml", "e.com", "f.org", "--where", "@clicks>=99"], 0);
    assert_eq!(run_with_data(&["list", "sitemap.xml"], 0), "https://f.org/a\nhttps://e.com/b\nhttps://e.com/c\n");
    folder.write("old.xml", SITEMAP);
    assert!(run_with_data(&["diff", "old.xml", "sitemap.xml"], 1).contains("f.org/a"));
    reset();
    run_with_data(&["fix", "sitemap.xml", "--rule", "site-redirect"], 0);
    assert_eq!(run_with_data(&["list", "sitemap.xml"], 0), "https://e.com/a\nhttps://e.com/b2\nhttps://e.com/c\n");
    reset();
    run_with_data(&["remove", "sitemap.xml", "--where", "@status=301"], 0);
    assert_eq!(run_with_data(&["list", "sitemap.xml"], 0), "https://e.com/a\nhttps://e.com/c\n");
    run_with_data(&["set", "sitemap.xml", "priority=scale(@clicks, 0.3..1.0)"], 0);
    let listed = run_with_data(&["list", "sitemap.xml", "--format", "csv", "--columns", "loc,priority"], 0);
    assert_eq!(listed, "loc,priority\nhttps://e.com/a,1.0\nhttps://e.com/c,0.3\n");
}

/// The same table in the encodings that spreadsheet programs write.
#[test]
fn tables_in_the_encodings_of_spreadsheets_are_read() {
    let table = "Adresse;Titel\r\nhttps://e.com/a;\"Größe; Übergröße\"\r\nhttps://e.com/b;klein\r\n";
    let utf_16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(table.encode_utf16()).flat_map(unit).collect()
    };
    let windows_1252: Vec<u8> = table.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let tables = [
        ("UTF-8", table.as_bytes().to_vec()),
        ("UTF-8 with a mark", [b"\xef\xbb\xbf", table.as_bytes()].concat()),
        ("UTF-16LE", utf_16(u16::to_le_bytes)),
        ("UTF-16BE", utf_16(u16::to_be_bytes)),
        ("Windows-1252", windows_1252),
    ];
    for (name, bytes) in tables {
        let folder = Folder::new();
        folder.write("sitemap.xml", SITEMAP);
        folder.write("table.csv", bytes);
        for key in [&[][..], &["--data-key", "Adresse"], &["--data-key", "1"]] {
            let arguments =
                ["list", "sitemap.xml", "--data", "table.csv", "--format", "csv", "--columns", "loc,@titel"];
            let listed = run_with_status(&folder, &[&arguments[..], key].concat(), 0);
            let expected = "loc,@titel\nhttps://e.com/a,Größe; Übergröße\nhttps://e.com/b,klein\nhttps://e.com/c,\n";
            assert_eq!(listed, expected, "{name} {key:?}");
        }
    }
}

#[test]
fn exports_of_known_programs_are_read_without_conversion() {
    let log = |path: &str, agent: &str, hour: u32| {
        format!(
            "192.0.2.1 - - [10/Oct/2026:{hour:02}:55:36 +0200] \"GET {path} HTTP/1.1\" 200 2326 \"-\" \"{agent}\"\n"
        )
    };
    let bot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
    let access = [log("/a", bot, 13), log("/a", bot, 14), log("/b", "Mozilla/5.0 Firefox/130.0", 15)].concat();
    let tables: [(&str, String, &str, &str); 5] = [
        (
            "Screaming Frog",
            "\"Address\",\"Content Type\",\"Status Code\",\"Indexability\",\"Title 1\",\"Canonical Link Element 1\"\r\n\
             \"https://e.com/a\",\"text/html\",\"200\",\"Indexable\",\"A\",\"https://e.com/a\"\r\n"
                .to_owned(),
            "@type,@status,@indexability,@title,@canonical",
            "text/html,200,Indexable,A,https://e.com/a",
        ),
        (
            "Search Console",
            "Top pages,Clicks,Impressions,CTR,Position\nhttps://e.com/a,12,340,3.53%,8.4\n".to_owned(),
            "@clicks,@impressions,@ctr,@position",
            "12,340,3.53,8.4",
        ),
        (
            "Sitebulb",
            "URL,HTTP Status Code,Canonical URL,Page Title\nhttps://e.com/a,200,https://e.com/a,A\n".to_owned(),
            "@status,@canonical,@title",
            "200,https://e.com/a,A",
        ),
        ("a log", access, "@hits,@last_hit", "2,2026-10-10T12:55:36Z"),
        (
            "JSON Lines",
            "{\"url\":\"https://e.com/a\",\"status\":200,\"ok\":true,\"tags\":[\"x\",\"y\"]}\n".to_owned(),
            "@status,@ok,@tags",
            "200,true,x",
        ),
    ];
    for (name, text, columns, expected) in tables {
        let folder = Folder::new();
        folder.write("sitemap.xml", SITEMAP);
        folder.write("export", text);
        let arguments = ["list", "sitemap.xml", "--data", "export", "--base-url", "https://e.com/", "--format", "csv"];
        let listed =
            run_with_status(&folder, &[&arguments[..], &["--where", "loc:/a", "--columns", columns]].concat(), 0);
        assert_eq!(listed.lines().nth(1), Some(expected), "{name}: {listed}");
    }
}

#[test]
fn a_missing_table_is_reported_with_the_command_that_writes_one() {
    let notes = run_with_status(&site(), &["check", "sitemap.xml", "--data", "nowhere.jsonl"], 3);
    assert!(notes.contains("nowhere.jsonl") && notes.contains("sited probe PATH -o site.jsonl"), "{notes}");
    assert!(!notes.contains("new sitemap"), "{notes}");
}
