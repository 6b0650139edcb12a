//! Tests of data sets: tables of known exports, kinds of values, URLs in other spellings, damaged input.

use super::{DataSet, DataSetBuilder, GrowingDataSet, Kind, ReadOptions, TableError, TableSummary, Value};
use crate::progress::work::here;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn set(tables: &[&str]) -> DataSet {
    let mut builder = DataSetBuilder::new();
    for table in tables {
        builder.add(table, &ReadOptions::default()).expect("a table");
    }
    builder.finish()
}

fn value<'s>(set: &'s DataSet, column: &str, url: &str) -> Value<'s> {
    let column = set.column(column).unwrap_or_else(|| panic!("no column {column}"));
    set.find(url).map_or(Value::Absent, |row| column.value(row))
}

#[test]
fn an_export_of_screaming_frog_has_standard_names() {
    let set = set(&[
        "\u{feff}\"Address\",\"Status Code\",\"Canonical Link Element 1\",\"Last Modified\",\"Indexability\"\r\n\
         \"https://e.com/a\",\"200\",\"https://e.com/a\",\"Tue, 10 May 2005 17:33:30 GMT\",\"Indexable\"\r\n\
         \"https://e.com/b, c\",\"301\",\"\",\"\",\"Non-Indexable\"\r\n",
    ]);
    let names: Vec<_> = set.columns().iter().map(|column| (column.name(), column.kind())).collect();
    let kinds =
        [("status", Kind::Number), ("canonical", Kind::Text), ("modified", Kind::Date), ("indexability", Kind::Text)];
    assert_eq!(names, kinds);
    assert_eq!(value(&set, "status", "https://e.com/b, c"), Value::Number(301.0));
    assert_eq!(value(&set, "modified", "https://e.com/a"), Value::Date { seconds: 1_115_746_410, is_day: false });
    assert_eq!(value(&set, "canonical", "https://e.com/b, c"), Value::Absent);
}

#[test]
fn a_column_of_a_known_export_keeps_its_name() {
    let set = set(&[
        "Address,Status Code,Status\nhttps://e.com/a,200,OK\nhttps://e.com/b,404,Not Found\n",
        "Status,URL,Status Code\nMoved,https://e.com/c,301\n",
    ]);
    assert_eq!(value(&set, "status", "https://e.com/b"), Value::Number(404.0));
    assert_eq!(value(&set, "status", "https://e.com/c"), Value::Number(301.0));
    assert_eq!(value(&set, "status_text", "https://e.com/a"), Value::Text("OK"));
}

#[test]
fn null_removes_an_earlier_value_and_an_empty_cell_keeps_it() {
    let set = set(&[
        "{\"url\":\"https://e.com/a\",\"status\":301,\"robots\":\"noindex\",\"title\":\"A\"}\n\
         {\"url\":\"https://e.com/a\",\"status\":200,\"robots\":null}\n",
        "url,status,title\nhttps://e.com/a,,\n",
    ]);
    let of = |column| value(&set, column, "https://e.com/a");
    assert_eq!((of("status"), of("robots"), of("title")), (Value::Number(200.0), Value::Absent, Value::Text("A")));
}

#[test]
fn tables_can_be_added_to_a_data_set() {
    let earlier = set(&["url,status,title\nhttps://e.com/a,301,A\nhttps://e.com/b,200,B\n"]);
    let mut builder = DataSetBuilder::from(&earlier);
    builder.add("url,status,clicks\nhttps://e.com/a,200,7\nhttps://e.com/c,404,1\n", &ReadOptions::default()).unwrap();
    let later = builder.finish();
    let of = |set, url: &str| value(set, "status", url);
    assert_eq!(of(&earlier, "https://e.com/a"), Value::Number(301.0));
    assert_eq!(of(&later, "https://e.com/a"), Value::Number(200.0));
    assert_eq!((of(&later, "https://e.com/c"), later.len()), (Value::Number(404.0), 3));
    assert_eq!(value(&later, "title", "https://e.com/b"), Value::Text("B"));
}

#[test]
fn urls_are_found_in_every_equivalent_spelling() {
    let set = set(&["url;clicks\nHTTPS://E.com:443/a%7Eb#top;7\n"]);
    assert_eq!(value(&set, "clicks", "https://e.com/a~b"), Value::Number(7.0));
    assert_eq!(value(&set, "clicks", "https://e.com/a~c"), Value::Absent);
}

#[test]
fn json_lines_are_read_up_to_an_incomplete_last_line() {
    let set = set(&[
        "{\"url\":\"https://e.com/a\",\"status\":301,\"location\":[\"https://e.com/b\",\"https://e.com/c\"],\"noindex\":true}\n\
         {\"url\":\"https://e.com/d\",\"status\":200,\"location\":null,\"noindex\":false}\n\
         {\"url\":\"https://e.com/e\",\"sta",
    ]);
    assert_eq!(set.len(), 2);
    assert_eq!(value(&set, "status", "https://e.com/a"), Value::Number(301.0));
    assert_eq!(value(&set, "location", "https://e.com/a"), Value::Text("https://e.com/b"));
    assert_eq!(value(&set, "noindex", "https://e.com/d"), Value::Boolean(false));
    let mut builder = DataSetBuilder::new();
    let damaged = "{\"url\":\"https://e.com/a\"}\nnonsense\n{\"url\":\"https://e.com/b\"}\n";
    let error = builder.add(damaged, &ReadOptions::default());
    assert!(matches!(&error, Err(TableError::Line { line: 2, .. })), "{error:?}");
}

#[test]
fn the_final_url_of_redirects_has_the_data_of_their_record() {
    let redirects = "{\"url\":\"https://e.com/old\",\"status\":301,\"location\":[\"https://e.com/new\"],\
                     \"final\":\"https://e.com/new\",\"final_status\":200,\"modified\":\"2026-05-10\"}\n\
                     {\"url\":\"https://e.com/lost\",\"status\":301,\"final\":\"https://e.com/gone\",\"final_status\":404}\n";
    let set = set(&[redirects, "page,clicks\nhttps://e.com/new,7\n"]);
    let of = |column| value(&set, column, "https://E.com:443/new");
    assert_eq!((of("status"), of("location")), (Value::Number(200.0), Value::Absent));
    assert_eq!(
        (of("modified"), of("clicks")),
        (Value::Date { seconds: 1_778_371_200, is_day: true }, Value::Number(7.0))
    );
    assert_eq!(value(&set, "status", "https://e.com/old"), Value::Number(301.0));
    assert_eq!(set.find("https://e.com/gone"), None, "it is no page");
    assert_eq!(set.len(), 3, "final URLs are not URLs of the tables");

    // A URL with a status uses only its own record, and a redirect that has changed is no longer used.
    let own = "{\"url\":\"https://e.com/new\",\"status\":404}\n";
    let set = self::set(&[redirects, own]);
    assert_eq!(value(&set, "status", "https://e.com/new"), Value::Number(404.0));
    assert_eq!(value(&set, "modified", "https://e.com/new"), Value::Absent);
    let mut growing = GrowingDataSet::new(&DataSet::default(), "answers");
    let options = ReadOptions::default();
    growing.add(redirects, &options).unwrap();
    assert_eq!(value(&growing.version(), "status", "https://e.com/new"), Value::Number(200.0));
    let later = redirects.replace("/new\",\"final_status", "/newer\",\"final_status");
    growing.add(&later, &options).unwrap();
    for set in [growing.version(), growing.finish()] {
        assert_eq!(set.find("https://e.com/new"), None);
        assert_eq!(
            value(&set, "modified", "https://e.com/newer"),
            Value::Date { seconds: 1_778_371_200, is_day: true }
        );
    }
}

#[test]
fn a_log_counts_the_requests_of_googlebot() {
    let line = |path: &str, hour: u8, agent: &str| {
        format!(
            "66.249.66.1 - - [10/Oct/2026:{hour:02}:55:36 +0200] \"GET {path} HTTP/1.1\" 200 2326 \"-\" \"{agent}\"\n"
        )
    };
    let bot = "Mozilla/5.0 (compatible; Googlebot/2.1)";
    let log = [line("/a", 13, bot), line("/a", 12, bot), line("/a", 14, "curl/8"), line("/b", 1, bot)].concat();
    let mut builder = DataSetBuilder::new();
    assert_eq!(builder.add(&log, &ReadOptions::default()), Err(TableError::NoOrigin));
    let options = ReadOptions { origin: Some("https://e.com/"), ..ReadOptions::default() };
    builder.add(&log, &options).expect("a log");
    let set = builder.finish();
    assert_eq!(value(&set, "hits", "https://e.com/a"), Value::Number(2.0));
    assert_eq!(value(&set, "last_hit", "https://e.com/a"), Value::Date { seconds: 1_791_633_336, is_day: false });
}

#[test]
fn the_column_of_urls_is_detected_or_given() {
    let both = "source,target\nhttps://e.com/a,https://e.com/b\n";
    let mut builder = DataSetBuilder::new();
    let columns = vec!["source".to_owned(), "target".to_owned()];
    assert_eq!(builder.add(both, &ReadOptions::default()), Err(TableError::NoUrlColumn(columns.clone())));
    let unknown = builder.add(both, &ReadOptions { key: Some("href"), ..ReadOptions::default() });
    assert_eq!(unknown, Err(TableError::UnknownKey { key: "href".to_owned(), columns }));
    for key in ["target", "2"] {
        builder.add(both, &ReadOptions { key: Some(key), ..ReadOptions::default() }).expect("a table");
    }
    let set = builder.finish();
    assert_eq!(value(&set, "source", "https://e.com/b"), Value::Text("https://e.com/a"));
    // The only column whose values are URLs.
    assert_eq!(self::set(&["n,where\n1,https://e.com/a\n"]).len(), 1);
    assert_eq!(DataSetBuilder::new().add("\n\n", &ReadOptions::default()), Err(TableError::Empty));
}

#[test]
fn a_later_table_adds_columns_and_overrides_values() {
    let mut builder = DataSetBuilder::new();
    let table = "url,status\nhttps://e.com/a,404\nhttps://e.com/a,200\n,500\n";
    let summary = builder.add(table, &ReadOptions::default()).expect("a table");
    assert_eq!(summary, TableSummary { rows: 2, repeated: 1, without_url: 1 });
    builder
        .add("page\tclicks\tstatus\nhttps://e.com/a\t3\t\nhttps://e.com/b\t\t410\n", &ReadOptions::default())
        .expect("a table");
    let set = builder.finish();
    assert_eq!(value(&set, "status", "https://e.com/a"), Value::Number(200.0), "an empty cell changes nothing");
    assert_eq!(value(&set, "clicks", "https://e.com/a"), Value::Number(3.0));
    assert_eq!(value(&set, "clicks", "https://e.com/b"), Value::Absent);
    let urls: Vec<_> = set.urls().map(|(_, url)| url).collect();
    assert_eq!(urls, ["https://e.com/a", "https://e.com/b"]);
}

#[test]
fn a_few_unreadable_values_do_not_change_the_kind_of_a_column() {
    let set = set(&["url,position\nhttps://e.com/a,1.5\nhttps://e.com/b,12.5%\nhttps://e.com/c,n/a\n"]);
    assert_eq!(set.column("position").map(super::Column::kind), Some(Kind::Number));
    assert_eq!(value(&set, "position", "https://e.com/b"), Value::Number(12.5));
    assert_eq!(value(&set, "position", "https://e.com/c"), Value::Unreadable("n/a"));
    let mut values = ["https://e.com/d", "https://e.com/c", "https://e.com/b", "https://e.com/a"]
        .map(|url| value(&set, "position", url));
    values.sort_by(Value::compare);
    assert_eq!(values, [Value::Number(1.5), Value::Number(12.5), Value::Unreadable("n/a"), Value::Absent]);
}

#[test]
fn a_numeric_or_date_column_takes_8_bytes_per_row_others_each_text_once() {
    const ROWS: usize = 20_000;
    let mut text = "loc,clicks,ctr,modified,seen,note,class\n".to_owned();
    let mut notes = 0;
    for row in 0..ROWS {
        let (day, second) = (1 + row % 28, row % 60);
        let note = format!("a note of page {row}");
        notes += note.len();
        writeln!(
            text,
            "https://e.com/{row},{},{:.4}%,2026-05-{day:02}T10:00:{second:02}Z,\"Sun, 10 May 2026 17:{second:02}:30 GMT\",\
             {note},{}",
            row * 7,
            row as f64 / 300.0,
            row % 3 == 0,
        )
        .unwrap();
    }
    let set = set(&[&text]);
    let per_row = |name: &str| set.column(name).unwrap().held_bytes() as f64 / ROWS as f64;
    for (name, most) in [("clicks", 8.1), ("ctr", 8.1), ("modified", 8.1), ("seen", 8.1), ("class", 4.1)] {
        assert!(per_row(name) <= most, "{name}: {} bytes a row", per_row(name));
    }
    // All texts are distinct: 8 bytes of overhead each.
    assert!(per_row("note") <= 8.1 + notes as f64 / ROWS as f64, "{}", per_row("note"));
    // Distinct numbers in a notation that is stored as text.
    let mut odd = "loc,number\n".to_owned();
    (0..ROWS).for_each(|row| writeln!(odd, "https://e.com/{row},{row}e0").unwrap());
    let odd = self::set(&[&odd]);
    let column = odd.column("number").unwrap();
    assert_eq!(column.kind(), Kind::Number);
    assert!(column.held_bytes() <= ROWS * 12 + ROWS * 7, "{}", column.held_bytes());
}

/// The work of a join grows with the rows of both sides: each URL is normalised once when its table is read, and once
/// when it is looked up.
#[test]
fn a_url_is_normalised_once_by_each_side() {
    for rows in [100_u64, 3_000] {
        // Every second URL is not in its normal form.
        let url = |row: u64| {
            if row.is_multiple_of(2) { format!("https://e.com/{row}") } else { format!("HTTPS://E.com:443/{row}#x") }
        };
        let lines: Vec<String> = (0..rows).map(|row| format!("{},{row}\n", url(row))).collect();
        let table = format!("url,n\n{}", lines.concat());
        let mut builder = DataSetBuilder::new();
        let read = here(|| {
            builder.add(&table, &ReadOptions::default()).expect("a table");
        });
        assert_eq!(read, rows, "reading");
        let set = builder.finish();
        let join = here(|| {
            for row in 0..rows {
                let found = set.find(&format!("https://e.com/{row}")).expect("the URL is known");
                assert_eq!(set.column("n").and_then(|column| column.text(found)), Some(row.to_string().into()));
            }
        });
        assert_eq!(join, rows, "joining");
    }
}

proptest! {
    /// A table of random cells, with any quotes and delimiters, has the last text of each URL.
    #[test]
    fn a_table_is_read_as_a_map(rows in prop::collection::vec((0u8..20, "[a-c ,;\"\n|é]{0,6}|[0-9.%-]{1,5}|20[12][0-9]-0[1-9]-[012][1-9]"), 0..40)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["url", "note"]).expect("a record");
        let mut model = BTreeMap::new();
        for (page, text) in &rows {
            let url = format!("https://e.com/{page}");
            writer.write_record([url.as_str(), text.as_str()]).expect("a record");
            if !text.trim().is_empty() {
                model.insert(url, text.trim().to_owned());
            }
        }
        let bytes = writer.into_inner().expect("bytes");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let set = set(&[&text]);
        for page in 0..20 {
            let url = format!("https://e.com/{page}");
            let found = set.find(&url).and_then(|row| set.column("note")?.text(row));
            prop_assert_eq!(found.as_deref(), model.get(&url).map(String::as_str));
        }
    }

    /// Reading does not panic for any text.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = DataSetBuilder::new().add(&text, &ReadOptions { key: None, origin: Some("https://e.com") });
    }
}

/// The results of a probe for a range of pages.
fn answers(pages: std::ops::Range<u32>) -> String {
    let line = |page: u32| {
        let status = if page.is_multiple_of(7) { "null" } else { "200" };
        let url = if page.is_multiple_of(5) {
            format!("https://E.com/%61/{page}")
        } else {
            format!("https://e.com/a/{page}")
        };
        format!(
            "{{\"url\":\"{url}\",\"status\":{status},\"title\":\"Page {page}\",\"modified\":\"2026-05-{:02}\",\"type\":\"text/html\"}}\n",
            page % 28 + 1
        )
    };
    pages.map(line).collect()
}

#[test]
fn a_batch_of_answers_copies_only_the_pages_that_it_changes() {
    const KNOWN: u32 = 60_000;
    const BATCH: u32 = 10;
    let mut growing = GrowingDataSet::new(&set(&[&answers(0..KNOWN)]), "answers");
    let mut before = growing.version();
    let work = here(|| {
        for batch in 0..200 {
            // Half of the batch are known URLs, spread over all pages of memory.
            let known: String =
                (0..BATCH / 2).map(|at| answers(batch * 293 + at * 97..batch * 293 + at * 97 + 1)).collect();
            let new = KNOWN + batch * BATCH / 2;
            growing.add(&(known + &answers(new..new + BATCH / 2)), &ReadOptions::default()).unwrap();
            let after = growing.version();
            for (column, earlier) in after.columns().iter().zip(before.columns()) {
                let copied = column.copied_since(earlier);
                assert!(copied <= (BATCH as usize + 2) * 256, "{}: {copied} of {KNOWN}", column.name());
            }
            before = after;
        }
    });
    // URLs and cells, and the doubling of the index.
    assert!(work < 200 * u64::from(BATCH) * 20, "{work}");
    assert_eq!(before.len() as u32, KNOWN + 1_000);
    assert_eq!(before.find("https://e.com/a/3"), Some(super::DataRow::of(3)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn batches_give_the_same_data_as_one_table(
        rows in prop::collection::vec((0..40_u32, 0..5_u32, 0..6_usize), 1..60),
        known in 0..30_usize,
        size in 1..9_usize,
    ) {
        const VALUES: [&str; 6] = ["null", "200", "\"2026-05-01\"", "\"yes\"", "\"some text\"", "\"\""];
        let line = |(page, column, value): &(u32, u32, usize)| {
            let url = if page % 3 == 0 { format!("https://E.com/%61{page}") } else { format!("https://e.com/a{page}") };
            format!("{{\"url\":\"{url}\",\"c{column}\":{}}}\n", VALUES[*value])
        };
        let (first, rest) = rows.split_at(known.min(rows.len() - 1));
        let text = |rows: &[(u32, u32, usize)]| rows.iter().map(line).collect::<String>();
        let mut builder = DataSetBuilder::new();
        if !first.is_empty() {
            builder.add(&text(first), &ReadOptions::default()).unwrap();
        }
        let mut growing = GrowingDataSet::new(&builder.finish(), "answers");
        let mut versions = Vec::new();
        for batch in rest.chunks(size) {
            growing.add(&text(batch), &ReadOptions::default()).unwrap();
            versions.push((growing.version(), growing.version().len()));
        }
        let all = set(&[&text(&rows)]);
        let shown = |set: &DataSet| -> BTreeMap<(String, String), Option<String>> {
            let of_row = |(row, url): (super::DataRow, &str)| {
                assert_eq!(set.find(url), Some(row));
                let of_column = |column: &super::Column| {
                    ((url.to_owned(), column.name().to_owned()), column.text(row).map(std::borrow::Cow::into_owned))
                };
                set.columns().iter().map(of_column).collect::<Vec<_>>()
            };
            set.urls().flat_map(of_row).collect()
        };
        prop_assert_eq!(shown(&versions.last().unwrap().0), shown(&all));
        prop_assert!(versions.iter().all(|(version, len)| version.len() == *len));
        let finished = growing.finish();
        prop_assert_eq!(shown(&finished), shown(&all));
        // Another table can be added.
        let mut builder = DataSetBuilder::from(&*versions.last().unwrap().0);
        builder.add(&text(&rows), &ReadOptions::default()).unwrap();
        prop_assert_eq!(builder.finish().len(), all.len());
    }
}
