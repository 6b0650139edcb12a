//! Splits a streamed set in two passes: the first measures the rows, the second writes them to their parts.
//!
//! The parts are collected in a temporary file. Then each is written beside its target like in any save, and one commit
//! renames all of them. Plan, messages and files are those of a set in memory. Memory: 16 bytes per URL, one file and
//! one part.

use super::super::set_reader::SetReader;
use super::super::{Failure, Status, Streams};
use super::{Key, SplitTask, key_of, note_written};
use crate::document::Document;
use crate::document::repartition::Repartition;
use crate::document::rows::RowId;
use crate::document::sitemap::{Sitemap, SitemapId};
use crate::document::source::Source;
use crate::document::unload;
use crate::files::plan::split::{self, has_bytes};
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

/// Reasons for loading the set into memory.
const FORMS: &str = "one of its files is not XML";
const NAMES: &str = "its files declare different extensions by one name";
const LONG: &str = "a row is longer than a file may be";

/// Lengths and groups of all rows.
#[derive(Default)]
struct RowMeasures {
    /// By row: the number of its group.
    groups: Vec<u32>,
    /// By row: see [`Document::keep_lengths`].
    lengths: Vec<u32>,
    /// The keys of groups by number, in the order of their first rows.
    keys: Vec<String>,
    places: HashMap<String, u32>,
}

impl RowMeasures {
    fn add_file(&mut self, session: &Session, task: &SplitTask<'_>) {
        let snapshot = session.view();
        let document = &snapshot.document;
        let rows: Vec<RowId> = document.resident_rows().collect();
        let (key, facts) = (task.key(), snapshot.facts_by_row());
        let measured = |row: &RowId| {
            let news = u32::from(document.record(*row).flags.contains(Flags::NEWS)) << 31;
            let len = document.entry_text(*row).len() as u32 | news;
            let group = match key {
                Key::All => None,
                Key::Text(what) => Some(key_of(document, *row, what)),
                Key::Queries => {
                    let first = task.queries.iter().position(|query| query.matches(&facts.of(*row)));
                    return (len, Err(first.unwrap_or(task.queries.len()) as u32));
                }
            };
            (len, Ok(group))
        };
        let measured: Vec<(u32, Result<Option<String>, u32>)> = rows.par_iter().map(measured).collect();
        for (len, group) in measured {
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

    /// The rows of each group.
    fn grouped(&mut self, task: &SplitTask<'_>) -> Vec<(String, Vec<u32>)> {
        let keys = match task.key() {
            Key::All => vec![String::new()],
            Key::Text(_) => std::mem::take(&mut self.keys),
            Key::Queries => {
                let numbers = (1..=task.queries.len()).map(|number| number.to_string());
                numbers.chain([String::from(super::REST)]).collect()
            }
        };
        let mut groups: Vec<(String, Vec<u32>)> = keys.into_iter().map(|key| (key, Vec::new())).collect();
        for (row, group) in (0..).zip(std::mem::take(&mut self.groups)) {
            if let Some((_, rows)) = groups.get_mut(group as usize) {
                rows.push(row);
            }
        }
        if task.key() == Key::Queries {
            groups.retain(|(_, rows)| !rows.is_empty());
        }
        groups
    }
}

/// Whether the namespace declarations of all files fit into one root tag.
fn is_united(document: &Document) -> bool {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut all = document.sitemaps().iter().flat_map(|sitemap| sitemap.frame.names.attributes.iter());
    all.all(|(name, value)| !name.starts_with("xmlns:") || *known.entry(&**name).or_insert(&**value) == &**value)
}

/// Splits the set. The inner error is the reason why it must be loaded into memory; nothing has been written then.
pub(super) fn split(
    set: &mut SetReader,
    task: &mut SplitTask<'_>,
    streams: &mut Streams<'_>,
) -> Result<Result<Status, &'static str>, Failure> {
    let mut rows = RowMeasures::default();
    set.each_file(streams, |session, _, _| {
        rows.add_file(session, task);
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
    let groups = rows.grouped(task);
    task.refuse_empty(&groups)?;
    let base_url = task.base_url(set.session())?;
    let request = task.request(&document, &groups, &base_url);
    let partition = split::partition(&request);
    if !partition.oversized.is_empty() {
        return Ok(Err(LONG));
    }
    let parts = partition.document.clone();
    let mut spool = spool_rows(set, task, &partition, streams)?;
    let mut failed = None;
    let (plan, left) = split::plan_split(&request, partition, &mut |id, path| {
        if !path.is_file() {
            return false;
        }
        match part(&mut spool, &parts, id) {
            Ok(part) => has_bytes(path, part.source_of(SitemapId(0)).map_or(&[], Source::bytes)),
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        }
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    task.note_plan(&plan, &left, groups.len(), streams)?;
    if task.is_dry() {
        return Ok(Ok(Status::Fine));
    }
    let mut disk = disk_of(&plan)?;
    let mut batch = IncrementalSave::begin(plan.path.as_deref(), &disk, &task.mode())?;
    batch.note_modes(&plan);
    for output in plan.outputs.iter().filter(|output| matches!(output.action, Action::Created | Action::Replaced)) {
        let FileId::Sitemap(id) = output.file else { continue };
        batch.stage(&plan_of(part(&mut spool, &parts, id)?, output), &disk, &Progress::default())?;
    }
    let saved = batch.commit(&plan, &mut disk, &Progress::default())?;
    task.history.add(plan.outputs.iter().map(|output| &*output.name));
    note_written(&plan, groups.len(), &saved, streams);
    Ok(Ok(Status::Fine))
}

/// Reads the set again and appends each row to its part.
fn spool_rows(
    set: &mut SetReader,
    task: &SplitTask<'_>,
    partition: &Repartition,
    streams: &mut Streams<'_>,
) -> Result<Spool, Failure> {
    let lengths = partition.document.sitemaps().iter().map(|sitemap| sitemap.entry_bytes);
    let mut spool = Spool::new(task.folder(), lengths)?;
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
        return Err(files::Error::new(task.path(), files::Reason::Changed).into());
    }
    Ok(spool)
}

/// A part as a document.
fn part(spool: &mut Spool, parts: &Document, id: SitemapId) -> Result<Document, files::Error> {
    let Some(sitemap) = parts.sitemap(id) else { return Ok(Document::default()) };
    let path = || sitemap.path.clone().unwrap_or_default();
    let bytes = [&*sitemap.frame.head(true), &spool.part(id.index())?, &*sitemap.frame.tail(true)].concat();
    let Some(source) = Source::of_text(bytes) else {
        return Err(files::Error::new(path(), files::Reason::Check("its rows do not form well-formed XML".to_owned())));
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

/// The plan of one part.
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

/// The known state of the disk: only that of the files that will be removed.
pub(super) fn disk_of(plan: &Plan) -> Result<Disk, files::Error> {
    let mut disk = Disk::default();
    for output in plan.outputs.iter().filter(|output| output.action == Action::Removed) {
        disk.record_state(&output.path)?;
    }
    Ok(disk)
}
