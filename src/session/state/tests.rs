//! Tests of views against an evaluation of every row.

use super::*;
use crate::document::query::Query;
use crate::files::Options;
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::session::command::parse;
use crate::session::edit::DefaultScope;
use crate::session::store::load;
use proptest::prelude::*;

const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

fn run(session: &mut Session, line: &str, row: u32) {
    let command = parse(line, &vocabulary(NOW)).unwrap();
    // A command that is refused is no failure here.
    let _ = session.run(&command, DefaultScope::Cursor(Some(RowId(row))));
}

/// Locs as they are written in files: plain, with references, unusual.
const LOCS: [&str; 12] = [
    "https://e.com/blog/a-juniper",
    "https://e.com/BLOG/a-Juniper/",
    "https://e.com/a?b=1&amp;c=blog",
    "https://e.com/&#98;log/x",
    "<![CDATA[https://e.com/blog/]]>",
    " https://e.com/shop/juniper-blog ",
    "https://e.com/\u{212a}elp",
    "https://E.com/%62log",
    "",
    // The word outside of the URL, and across its end.
    "https://e.com/</loc><!-- blog -->",
    "https://e.com/x</loc><link xmlns=\"http://www.w3.org/1999/xhtml\" href=\"https://e.com/blog/\"/>",
    "https://e.com/blo",
];

const QUERIES: [&str; 15] = [
    "blog",
    "blo",
    "\"/blo<\"",
    "\"/Blog \"",
    "Juniper",
    "path:/blog/*",
    "path:/blog/**",
    "path~/[a-f]+-juniper",
    "loc~(?i)BLOG",
    "host:e.com blog",
    "section=blog",
    "loc=\"https://e.com/blog/new\"",
    "path:/*elp",
    "blog or priority>0.5",
    "-blog",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// After any changes and for any query, the view has the matching rows in the order of the files, and a sorted view
    /// has the order of a stable sort.
    #[test]
    fn a_view_equals_an_evaluation_of_every_row(
        files in proptest::collection::vec(proptest::collection::vec((0..LOCS.len(), 0..12_u32), 0..9), 1..4),
        changes in proptest::collection::vec((0..7_usize, 0..20_u32), 0..8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for (number, rows) in files.iter().enumerate() {
            let row = |(loc, date): &(usize, u32)| {
                let date = if *date == 0 { String::new() } else { format!("<lastmod>2025-{date:02}-01</lastmod>") };
                // Some of the texts contain the end tag.
                let end = if LOCS[*loc].contains("</loc>") { "" } else { "</loc>" };
                format!("<url><loc>{}{end}{date}</url>\n", LOCS[*loc])
            };
            let rows: String = rows.iter().map(row).collect();
            let path = folder.path().join(format!("{number}.xml"));
            let root = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
            std::fs::write(&path, format!("{root}{rows}</urlset>\n")).unwrap();
            paths.push(path);
        }
        let mut session = load::open_all(Session::new(NOW, None), &paths, Options::default()).unwrap();
        for (act, row) in changes {
            let line = [
                "set loc=https://e.com/blog/new", "revert", "delete", "add https://e.com/blog/added", "undo",
                "set lastmod=2024-05-05", "duplicate",
            ][act];
            let at = row % session.document().row_limit().max(1);
            run(&mut session, line, at);
            if row > 16 {
                session.show_now(None, crate::document::sort::parse("-loc", None).unwrap());
                run(&mut session, "apply-order", 0);
            }
        }
        let snapshot = session.snapshot();
        let (document, facts) = (&snapshot.document, snapshot.facts());
        for text in QUERIES {
            let query = Query::parse(text, &vocabulary(NOW)).unwrap();
            let spec = ViewSpec { filter: Some(query.clone()), sort: Vec::new() };
            let view = snapshot.view_of(&spec, &Progress::default()).unwrap();
            let shown: Vec<RowId> = view.rows(document).collect();
            let model: Vec<RowId> = document.rows().filter(|row| query.matches(&facts.of(*row))).collect();
            prop_assert_eq!(&shown, &model, "{}", text);
            for (number, row) in document.rows().enumerate() {
                prop_assert_eq!(view.number(document, row), number as u32 + 1);
            }
            for sort in ["lastmod", "-lastmod"] {
                let keys = crate::document::sort::parse(sort, None).unwrap();
                let spec = ViewSpec { filter: Some(query.clone()), sort: keys.clone() };
                let sorted: Vec<RowId> = snapshot.view_of(&spec, &Progress::default()).unwrap().rows(document).collect();
                let mut model = model.clone();
                model.sort_by_key(|row| keys[0].packed(&facts.of(*row)));
                prop_assert_eq!(sorted, model, "{} {}", text, sort);
            }
        }
    }
}
