//! `sited list`: the URLs, or the rows, in the order of the files.

use super::args::{List, ListFormat};
use super::output::{Extensions, Row, loc_text, row_json};
use super::{Failure, Status, Streams, each_path, filter};
use crate::document::query::Query;
use crate::document::rows::RowId;
use crate::document::source::{Lines, Source};
use crate::protocol::Field;
use crate::session::Session;
use crate::xml::entry::{Entry, Oddities};
use crate::xml::record::Flags;
use crate::xml::repeat;
use std::io;
use std::sync::Arc;

/// Lists every path.
pub(super) fn run(list: &List, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = list.common.now()?;
    let query = filter(list.filter.as_deref(), now)?;
    each_path(&list.paths, streams, |path, streams| {
        let session = list.common.open(path, now, streams)?;
        if list.sitemaps {
            return sitemaps(&session, list.format, streams);
        }
        match list.format {
            ListFormat::Text => {
                let document = session.document();
                // A row without a loc has nothing to say here.
                for row in passing(&session, query.as_ref()) {
                    // Several loc in one entry are as many candidate URLs.
                    let others = if is_odd(&session, row) { every_loc(&session, row) } else { Vec::new() };
                    if others.is_empty()
                        && let Some(loc) = document.value(row, Field::Loc)
                    {
                        loc_text(streams.out, &loc)?;
                    }
                    for loc in others {
                        loc_text(streams.out, &loc)?;
                    }
                }
                Ok(())
            }
            ListFormat::Jsonl => Ok(rows(&session, query.as_ref(), streams)?),
        }
    })
}

/// The entries of the index itself.
fn sitemaps(session: &Session, format: ListFormat, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let Some(index) = session.document().index() else {
        let hint = "without --sitemaps its URLs are printed".to_owned();
        return Err(Failure::Usage("this is no sitemap index".to_owned(), hint));
    };
    let mut lines = index.source.lines();
    let file = index.path.as_ref().map_or_else(|| index.name.to_string(), |path| path.to_string_lossy().into_owned());
    for (number, child) in index.children.iter().enumerate() {
        if format == ListFormat::Text {
            loc_text(streams.out, &child.loc)?;
            continue;
        }
        let text = index.source.entry_text(number);
        let entry = Entry::of(text, &index.source.names);
        let value = |field| entry.value(field, text);
        let (loc, lastmod) = (value(Field::Loc), value(Field::Lastmod));
        let (changefreq, priority) = (value(Field::Changefreq), value(Field::Priority));
        let row = Row {
            loc: loc.as_deref(),
            lastmod: lastmod.as_deref(),
            changefreq: changefreq.as_deref(),
            priority: priority.as_deref(),
            file: &file,
            line: index.source.offset(number).map(|offset| lines.position(offset).0),
            extensions: Extensions { image: 0, video: 0, news: 0, alternate: 0, other: 0 },
        };
        row_json(streams.out, &row)?;
    }
    Ok(())
}

/// The rows that pass, in file order.
fn passing<'s>(session: &'s Session, query: Option<&'s Query>) -> impl Iterator<Item = RowId> + 's {
    let facts = session.view().facts();
    let rows = session.document().live_rows().filter(|row| !(is_odd(session, *row) && is_of_other_kind(session, *row)));
    rows.filter(move |row| query.is_none_or(|query| query.matches(&facts.of(*row))))
}

/// Whether anything about an entry is unusual: only then is it looked at more closely.
fn is_odd(session: &Session, row: RowId) -> bool {
    session.document().record(row).flags.has(Flags::ODD)
}

/// Whether an entry is a `<sitemap>` that stands in a urlset: it names no page.
fn is_of_other_kind(session: &Session, row: RowId) -> bool {
    let (entry, _) = session.document().entry(row);
    entry.odd.has(Oddities::OTHER_KIND)
}

fn every_loc(session: &Session, row: RowId) -> Vec<String> {
    let document = session.document();
    repeat::locs(&document.entry_text(row), document.names(row))
}

fn rows(session: &Session, query: Option<&Query>, streams: &mut Streams<'_>) -> io::Result<()> {
    let document = session.document();
    let paths: Vec<Arc<str>> = document
        .sitemaps()
        .iter()
        .map(|sitemap| match &sitemap.path {
            Some(path) => path.to_string_lossy().into(),
            None => Arc::clone(&sitemap.name),
        })
        .collect();
    // Rows come in the order of their file, so that its lines are counted once.
    let mut counter: Option<(&Source, Lines<'_>)> = None;
    for row in passing(session, query) {
        let line = document.origin(row).and_then(|(source, entry)| {
            let lines = match &mut counter {
                Some((counted, lines)) if std::ptr::eq(*counted, source) => lines,
                other => &mut other.insert((source, source.lines())).1,
            };
            Some(lines.position(source.offset(entry)?).0)
        });
        let value = |field| document.value(row, field);
        let (loc, lastmod) = (value(Field::Loc), value(Field::Lastmod));
        let (changefreq, priority) = (value(Field::Changefreq), value(Field::Priority));
        let found = document.extensions(row);
        let row = Row {
            loc: loc.as_deref(),
            lastmod: lastmod.as_deref(),
            changefreq: changefreq.as_deref(),
            priority: priority.as_deref(),
            file: paths.get(document.sitemap_of(row).index()).map_or("", |path| path),
            line,
            extensions: Extensions {
                image: found.image,
                video: found.video,
                news: found.news,
                alternate: found.alternate,
                other: found.other,
            },
        };
        row_json(streams.out, &row)?;
    }
    Ok(())
}
