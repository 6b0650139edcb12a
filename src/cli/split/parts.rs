//! Splits a streamed set in two passes: one measures the rows, one writes them to their parts.
//!
//! The parts are collected in a temporary file. Then each is read, written beside its target as by any save, and all
//! are put in place by one commit. Plan, messages and files are those of a set in memory. Memory: 16 bytes a URL, a
//! file, and a part.

use super::super::set_reader::SetReader;
use super::super::{Failure, Status, Streams};
use super::{Asked, Key, key_of, note_written};
use crate::document::Document;
use crate::document::repartition::Repartition;
use crate::document::rows::RowId;
use crate::document::sitemap::{Sitemap, SitemapId};
use crate::document::source::Source;
use crate::document::unload;
use crate::files::plan::split::{self, holds};
use crate::files::spool::Spool;
use crate::files::{self, Action, Disk, FileId, IncrementalSave, Output, Plan};
use crate::progress::Progress;
use crate::session::Session;
use crate::xml::entry::Entry;
use crate::xml::names::FileKind;
use crate::xml::record::{Flags, Record};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// What has to be reported of a set's files to hold it instead.
const FORMS: &str = "one of its files is not XML";
const NAMES: &str = "its files declare different extensions by one name";
const LONG: &str = "a row is longer than a file may be";

/// What dealing needs of rows.
#[derive(Default)]
struct Rows {
    /// By row: the place of its group.
    groups: Vec<u32>,
    /// By row: see [`Document::keep_lengths`].
    lengths: Vec<u32>,
    /// The keys of groups, in the order in which they come first.
    keys: Vec<String>,
    places: HashMap<String, u32>,
}

impl Rows {
    fn note(&mut self, session: &Session, asked: &Asked<'_>) {
        let snapshot = session.view();
        let document = &snapshot.document;
        let rows: Vec<RowId> = document.resident_rows().collect();
        let (key, facts) = (asked.key(), snapshot.facts_by_row());
        let seen = |row: &RowId| {
            let news = u32::from(document.record(*row).flags.contains(Flags::NEWS)) << 31;
            let len = document.entry_text(*row).len() as u32 | news;
            let group = match key {
                Key::All => None,
                Key::Text(what) => Some(key_of(document, *row, what)),
                Key::Queries => {
                    let first = asked.queries.iter().position(|query| query.matches(&facts.of(*row)));
                    return (len, Err(first.unwrap_or(asked.queries.len()) as u32));
                }
            };
            (len, Ok(group))
        };
        let seen: Vec<(u32, Result<Option<String>, u32>)> = rows.par_iter().map(seen).collect();
        for (len, group) in seen {
            self.lengths.push(len);
            let group = match group {
                Err(number) => number,
                Ok(None) => 0,
                Ok(Some(key)) => {
                    let next = self.keys.len() as u32;
                    *self.places.entry(key).or_insert_with_key(|key| {
                        self.keys.push(key.clone());
                        next
                    })
                }
            };
            self.groups.push(group);
        }
    }

    /// Rows by group.
    fn grouped(&mut self, asked: &Asked<'_>) -> Vec<(String, Vec<u32>)> {
        let keys = match asked.key() {
            Key::All => vec![String::new()],
            Key::Text(_) => std::mem::take(&mut self.keys),
            Key::Queries => {
                let numbers = (1..=asked.queries.len()).map(|number| number.to_string());
                numbers.chain([String::from(super::REST)]).collect()
            }
        };
        let mut groups: Vec<(String, Vec<u32>)> = keys.into_iter().map(|key| (key, Vec::new())).collect();
        for (row, group) in (0..).zip(std::mem::take(&mut self.groups)) {
            if let Some((_, rows)) = groups.get_mut(group as usize) {
                rows.push(row);
            }
        }
        if asked.key() == Key::Queries {
            groups.retain(|(_, rows)| !rows.is_empty());
        }
        groups
    }
}

/// Whether the declarations of all files can be in one root.
fn is_united(document: &Document) -> bool {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut all = document.sitemaps().iter().flat_map(|sitemap| sitemap.frame.names.attributes.iter());
    all.all(|(name, value)| !name.starts_with("xmlns:") || *known.entry(&**name).or_insert(&**value) == &**value)
}

/// Splits. The inner error says why the set has to be held instead; nothing has been done then.
pub(super) fn split(
    set: &mut SetReader,
    asked: &mut Asked<'_>,
    streams: &mut Streams<'_>,
) -> Result<Result<Status, &'static str>, Failure> {
    let mut rows = Rows::default();
    set.each_file(streams, |session, _, _| {
        rows.note(session, asked);
        Ok(())
    })?;
    let mut document = set.session().document().clone();
    if document.sitemaps().iter().any(|sitemap| sitemap.frame.names.kind != FileKind::Urlset) {
        return Ok(Err(FORMS));
    }
    if !is_united(&document) {
        return Ok(Err(NAMES));
    }
    unload::keep_lengths(&mut document, std::mem::take(&mut rows.lengths));
    let groups = rows.grouped(asked);
    asked.refuse_empty(&groups)?;
    let base_url = asked.base_url(set.session())?;
    let request = asked.request(&document, &groups, &base_url);
    let partition = split::partition(&request);
    if !partition.oversized.is_empty() {
        return Ok(Err(LONG));
    }
    let parts = partition.document.clone();
    let mut spool = spool_rows(set, asked, &partition, streams)?;
    let mut failed = None;
    let (plan, left) = split::planned(&request, partition, &mut |id, path| {
        if !path.is_file() {
            return false;
        }
        match part(&mut spool, &parts, id) {
            Ok(part) => holds(path, part.source_of(SitemapId(0)).map_or(&[], Source::bytes)),
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        }
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    asked.note_plan(&plan, &left, groups.len(), streams)?;
    if asked.is_dry() {
        return Ok(Ok(Status::Fine));
    }
    let mut disk = disk_of(&plan)?;
    let mut batch = IncrementalSave::begin(plan.path.as_deref(), &disk, &asked.mode())?;
    batch.expect(&plan);
    for output in plan.outputs.iter().filter(|output| matches!(output.action, Action::Created | Action::Replaced)) {
        let FileId::Sitemap(id) = output.file else { continue };
        batch.stage(&plan_of(part(&mut spool, &parts, id)?, output), &disk, &Progress::default())?;
    }
    let saved = batch.commit(&plan, &mut disk, &Progress::default())?;
    asked.history.add(plan.outputs.iter().map(|output| &*output.name));
    note_written(&plan, groups.len(), &saved, streams);
    Ok(Ok(Status::Fine))
}

/// Reads the set once more and brings each row to its part.
fn spool_rows(
    set: &mut SetReader,
    asked: &Asked<'_>,
    partition: &Repartition,
    streams: &mut Streams<'_>,
) -> Result<Spool, Failure> {
    let lengths = partition.document.sitemaps().iter().map(|sitemap| sitemap.entry_bytes);
    let mut spool = Spool::new(asked.folder(), lengths)?;
    let mut second = set.reopened();
    let reader = second.as_mut().unwrap_or(&mut *set);
    reader.each_file(streams, |session, id, _| {
        let document = session.document();
        let mut cursor = partition.document.row_cursor();
        let mut parts: BTreeMap<SitemapId, Vec<u8>> = BTreeMap::new();
        for row in document.resident_rows() {
            parts.entry(cursor.sitemap_of(row)).or_default().extend_from_slice(&document.entry_text(row));
        }
        let path = || document.sitemap(id).and_then(|sitemap| sitemap.path.clone()).unwrap_or_default();
        for (part, bytes) in parts {
            if !spool.append(part.index(), &bytes)? {
                return Err(files::Error::new(path(), files::Reason::Changed).into());
            }
        }
        Ok(())
    })?;
    let is_same = second.is_none_or(|second| second.session().has_files_of(set.session()));
    if !is_same || !spool.is_full() {
        return Err(files::Error::new(asked.path(), files::Reason::Changed).into());
    }
    Ok(spool)
}

/// A part as a document of its own.
fn part(spool: &mut Spool, parts: &Document, id: SitemapId) -> Result<Document, files::Error> {
    let Some(sitemap) = parts.sitemap(id) else { return Ok(Document::default()) };
    let path = || sitemap.path.clone().unwrap_or_default();
    let bytes = [&*sitemap.frame.head(true), &spool.part(id.index())?, &*sitemap.frame.tail(true)].concat();
    let Some(source) = Source::of_text(bytes) else {
        return Err(files::Error::new(
            path(),
            files::Reason::Check("its rows are not well-formed together".to_owned()),
        ));
    };
    let record = |entry: usize| {
        let text = source.entry_text(entry);
        Record::of(&Entry::of(text, &source.names), text)
    };
    let records: Vec<Record> = (0..source.len()).into_par_iter().map(record).collect();
    if records.len() != sitemap.live as usize {
        return Err(files::Error::new(path(), files::Reason::Changed));
    }
    let mut document = Document::default();
    document.append(source, records, Sitemap { form: sitemap.form, ..Sitemap::default() });
    Ok(document)
}

/// A plan of one part.
fn plan_of(mut document: Document, output: &Output) -> Plan {
    let gzip = Path::new(&*output.name).extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    document.set_location(
        SitemapId(0),
        crate::document::sitemap::FileLocation {
            path: Some(output.path.clone()),
            name: Arc::clone(&output.name),
            url: output.url.clone(),
            gzip,
        },
    );
    Plan {
        outputs: vec![Output { file: FileId::Sitemap(SitemapId(0)), ..output.clone() }],
        asks: false,
        repairs: Vec::new(),
        needs_base: None,
        losses: Vec::new(),
        copy: true,
        problems: Vec::new(),
        document,
        path: Some(output.path.clone()),
    }
}

/// Nothing is known of the files of a plan but what will be removed.
pub(super) fn disk_of(plan: &Plan) -> Result<Disk, files::Error> {
    let mut disk = Disk::default();
    for output in plan.outputs.iter().filter(|output| output.action == Action::Removed) {
        disk.record_state(&output.path)?;
    }
    Ok(disk)
}
