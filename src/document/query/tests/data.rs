//! Tests of queries on data columns (`@name`).

use super::*;

/// A crawl of the three rows above; the last one is unknown to it.
fn crawl() -> Arc<DataSet> {
    let mut builder = crate::data::DataSetBuilder::new();
    let table = "url,status,modified,canonical,title,checked\n\
                 https://www.example.com/blog/2024/Post?b=1&c=2,301,2025-03-09,https://www.example.com/,\"A post, moved\",2025-03-10\n\
                 https://www.example.com/,200,2026-01-01T00:00:00Z,https://WWW.example.com,Home,2025-12-31\n\
                 https://e.com/other,n/a,,,,\n";
    builder.add(table, &crate::data::ReadOptions::default()).unwrap();
    Arc::new(builder.finish())
}

fn parse_with(text: &str, data: &Arc<DataSet>) -> Result<Query, QueryError> {
    Query::parse(text, &Vocabulary { data: Some(data), ..VOCABULARY })
}

#[test]
fn data_columns_are_compared_by_their_kind() {
    let data = crawl();
    let table = [
        // FULL, BARE, ODD
        ("@status>=300", [true, false, false]),
        ("@status=200", [false, true, false]),
        ("@status!=200", [true, false, true]),
        ("@status=none", [false, false, true]),
        ("@status!=none", [true, true, false]),
        ("@status:30", [true, false, false]),
        ("@modified>lastmod", [false, false, false]),
        ("@modified=lastmod", [true, false, false]),
        ("lastmod<@modified", [false, false, false]),
        ("@modified>2025-03", [false, true, false]),
        ("@modified<=2025-03-09", [true, false, false]),
        ("@modified<@checked", [true, false, false]),
        ("@canonical!=loc", [true, false, true]),
        ("loc=@canonical", [false, true, false]),
        ("@title:moved", [true, false, false]),
        ("@title=Home", [false, true, false]),
        ("@title~^H", [false, true, false]),
        ("@title:A*moved", [true, false, false]),
        ("@status>=300 priority=0.5", [true, false, false]),
        ("not (@status>=300 or @status=none)", [false, true, false]),
    ];
    for (text, expected) in table {
        let query = parse_with(text, &data).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!([FULL, BARE, ODD].map(|row| query.matches(&row)), expected, "{text}");
        let canonical = query.to_string();
        assert_eq!(parse_with(&canonical, &data).as_ref(), Ok(&query), "{text} as {canonical}");
    }
}

#[test]
fn errors_of_data_columns_list_the_known_columns() {
    let data = crawl();
    let table = [
        ("@state=200", "there is no data column @state; did you mean @status?"),
        ("@xyzzy=200", "expected status, modified, canonical, title or checked"),
        ("@status=ok", "expected a number, or none for @status"),
        ("@modified>soon", "expected a date such as 2025-03, today or -30d, or none for @modified"),
        ("@title<b", "@title holds texts, which have no order"),
        ("@title>lastmod", "@title holds texts, which cannot be compared with lastmod"),
        ("@status<@modified", "@status and @modified hold values of different kinds"),
        ("@status>=", "expected a value after this"),
        ("@title~(", "regular expression"),
    ];
    for (text, expected) in table {
        let error = parse_with(text, &data).map(|query| query.to_string()).unwrap_err();
        assert!(error.message.contains(expected), "{text}: {}", error.message);
    }
    let error = parse("@status=200").map(|query| query.to_string()).unwrap_err();
    assert!(error.message.contains("no data is loaded (--data FILE, :data FILE)"), "{}", error.message);
}

#[test]
fn words_with_an_at_sign_are_searched_for_in_the_url() {
    let row = TextRow { loc: "https://e.com/@ann/x", ..BARE };
    for text in ["@ann", "@ann/x", "\"@status=200\""] {
        let query = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(query.matches(&row), text != "\"@status=200\"", "{text}");
        assert_eq!(parse(&query.to_string()).as_ref(), Ok(&query), "{text}");
    }
}
