//! `sited split`: a set dealt anew into named parts with an index, in a folder of its own.

use super::args::{Common, Split};
use super::lock::Lock;
use super::save::in_words;
use super::{Failure, Status, Streams, filter};
use crate::document::form::Form;
use crate::document::query::Query;
use crate::document::rows::{RowId, RowSet};
use crate::files::plan::Action;
use crate::files::plan::split::{self, grouped_by};
use crate::files::{self, Disk};
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::{BYTES_PER_FILE, Limits, URLS_PER_FILE};
use crate::protocol::location::{host, section};
use crate::session::Session;
use crate::words::counted;

/// Groups of rows, each with its key.
type Groups = Vec<(String, Vec<u32>)>;

/// Deals out, says what is written, writes.
pub(super) fn run(split: &Split, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    deal(split, streams, |common, now, streams| common.open(&split.path, now, streams))
}

/// The same for a set that is opened in another way.
pub(super) fn deal(
    split: &Split,
    streams: &mut Streams<'_>,
    open: impl FnOnce(&Common, Now, &mut Streams<'_>) -> Result<Session, Failure>,
) -> Result<Status, Failure> {
    let common = Common { base_url: split.base_url.clone(), now: split.now.clone(), ..Common::default() };
    let now = common.now()?;
    let limits = limits(split)?;
    let name = split.name.clone().unwrap_or_else(|| {
        if split.by.is_empty() { "sitemap-{n}.xml".to_owned() } else { "sitemap-{key}.xml".to_owned() }
    });
    if name.contains(['/', '\\']) || !name.contains(['{']) || name.starts_with('.') {
        let hint = "for example: --name 'sitemap-{n}.xml' or --name '{key}-{n}.xml'".to_owned();
        return Err(Failure::Usage(
            format!("--name {name}: expected the name of a file with {{n}} or {{key}} in it"),
            hint,
        ));
    }
    let queries: Vec<Query> = match split.by.as_slice() {
        [word] if is_key(word) => Vec::new(),
        words => {
            words.iter().map(|text| filter(Some(text), now)).filter_map(Result::transpose).collect::<Result<_, _>>()?
        }
    };
    let index = split.output.join(split::INDEX);
    let mut lock = if split.dry_run { Lock::default() } else { Lock::take_idle(streams, &index)? };
    if !split.dry_run && split.output.is_dir() && files::recover(&index)?.is_some() {
        streams.note("finished an interrupted save first");
    }
    let session = open(&common, now, streams)?;
    // Parts have the form of their set.
    let name = match session.form() {
        Form::List if split.name.is_none() => name.replace(".xml", ".txt"),
        Form::Csv | Form::Tsv => {
            let message = "a table is no sitemap, and no index may name its parts".to_owned();
            return Err(Failure::Usage(message, "first make it one: sited convert PATH -o NAME.xml".to_owned()));
        }
        _ => name,
    };
    let Some(base_url) = split.base_url.clone().or_else(|| folder_of_children(&session)) else {
        let message = "the parts need URLs, and nothing here says where they will live".to_owned();
        let origin = session.view().checks.set().main_origin().map_or("https://example.com", |(origin, _)| origin);
        return Err(Failure::Usage(message, format!("say it: --base-url {origin}/")));
    };
    let groups = groups(&session, split, &queries);
    let (plan, left) = split::split(&split::Split {
        document: session.document(),
        groups: &groups,
        folder: &split.output,
        name: &name,
        gzip: split.gzip,
        base_url: &base_url,
        limits,
        prune: split.prune,
        now,
    });
    lock.claim(plan.outputs.iter().map(|output| output.path.as_path()))?;
    for output in &plan.outputs {
        streams.note(&in_words(output));
    }
    for loss in &plan.losses {
        streams.note(loss);
    }
    for name in &left {
        streams.note(&format!("left over   {}", split.output.join(name).display()));
    }
    if !left.is_empty() {
        streams.note(&format!("{} of an earlier split; --prune removes them", counted(left.len() as u64, "file")));
    }
    let words = split::words(&plan, groups.len());
    if split.dry_run {
        streams.note(&format!("dry run, nothing is written: {words}"));
        return Ok(Status::Fine);
    }
    let mut disk = Disk::default();
    for output in plan.outputs.iter().filter(|output| output.action == Action::Removed) {
        disk.look(&output.path)?;
    }
    let backups = files::Backups::new(split.backup.unwrap_or_default());
    let manner = files::Manner { force: false, backups, now };
    let saved = files::save_as_asked(&plan, &mut disk, &manner, &Progress::default())?;
    streams.note(&format!(
        "{words}: {} written, {} untouched, {} removed",
        saved.written.len(),
        saved.untouched,
        saved.removed.len()
    ));
    Ok(Status::Fine)
}

fn limits(split: &Split) -> Result<Limits, Failure> {
    let (urls, bytes) = (split.max_urls.unwrap_or(URLS_PER_FILE), split.max_bytes.unwrap_or(BYTES_PER_FILE));
    let limits = Limits { urls, bytes, ..Limits::default() };
    if limits.urls == 0 || limits.urls > URLS_PER_FILE || limits.bytes > BYTES_PER_FILE {
        let hint = "smaller parts: --max-urls 10000".to_owned();
        return Err(Failure::Usage(
            format!("a sitemap holds 1 to {URLS_PER_FILE} URLs and {BYTES_PER_FILE} bytes at most"),
            hint,
        ));
    }
    Ok(limits)
}

fn is_key(word: &str) -> bool {
    matches!(word, "section" | "host" | "month")
}

/// The rows by what was asked for.
fn groups(session: &Session, split: &Split, queries: &[Query]) -> Groups {
    let document = session.document();
    match split.by.first().map(String::as_str) {
        None => vec![(String::new(), document.live_rows().map(|row| row.0).collect())],
        Some("section") if queries.is_empty() => grouped_by(document, &|row| section(&document.loc(row)).to_owned()),
        Some("host") if queries.is_empty() => grouped_by(document, &|row| host(&document.loc(row)).to_owned()),
        Some("month") if queries.is_empty() => grouped_by(document, &|row| {
            let date = document.value(row, crate::protocol::Field::Lastmod);
            let is_dated = document.record(row).lastmod().is_some();
            date.filter(|_| is_dated)
                .and_then(|date| date.get(..7).map(ToOwned::to_owned))
                .unwrap_or_else(|| "undated".to_owned())
        }),
        Some(_) => by_queries(session, queries),
    }
}

/// The first query that a row passes has it; what passes none is the rest.
fn by_queries(session: &Session, queries: &[Query]) -> Groups {
    let document = session.document();
    let idle = Progress::default();
    let mut taken = RowSet::new();
    let mut groups = Groups::new();
    for (number, query) in queries.iter().enumerate() {
        let rows = session.view().rows_where(query, &idle).unwrap_or_default() - &taken;
        taken |= &rows;
        let ordered = document.live_rows().filter(|row: &RowId| rows.contains(row.0)).map(|row| row.0).collect();
        groups.push(((number + 1).to_string(), ordered));
    }
    let rest = document.live_rows().filter(|row| !taken.contains(row.0)).map(|row| row.0).collect();
    groups.push(("rest".to_owned(), rest));
    groups.retain(|(_, rows)| !rows.is_empty());
    groups
}

/// The URL of the folder in which the children of the set's index are.
fn folder_of_children(session: &Session) -> Option<String> {
    let index = session.document().index()?;
    let loc = &index.children.first()?.loc;
    let end = loc.rfind('/')? + 1;
    files::folder_url(loc.get(..end)?)
}
