//! `sited merge`: joins sets in one file, or splits them into new files with an index.

use super::damage::Damage;
use super::duplicates::{KeepRow, date_of, duplicate_rows};
use super::options::Common;
use super::save::{Agreed, save_as};
use super::split::{self, Split};
use super::{Failure, Status, Streams};
use crate::document::form::Form;
use crate::files::{self, LoadedFile, is_stream};
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::{BYTES_PER_FILE, URLS_PER_FILE};
use crate::session::Session;
use crate::session::command::{Command, Scope};
use crate::session::edit::DefaultScope;
use crate::session::run::CommandOutcome;
use crate::session::store::save;
use crate::words::counted;
use crate::xml::scan::Ignore;
use clap::Args;
use std::path::PathBuf;

/// `sited merge`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited merge a.xml b.xml.gz urls.txt -o all.xml --dedupe\n  sited merge shop/ blog/ -o public/ --base-url https://example.com/"
)]
pub struct Merge {
    /// Sitemaps, sitemap indexes, feeds, lists, tables, or folders of them, in the order of the result
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// A file that ends in .xml, .txt, .csv or .tsv, optionally with .gz; - for standard output; or a folder, into
    /// which the set is split with an index
    #[arg(short, long, value_name = "OUT", required = true)]
    pub output: PathBuf,
    /// Keep one row of each URL
    #[arg(long)]
    pub dedupe: bool,
    /// Which row of each URL to keep
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = KeepRow::First, requires = "dedupe")]
    pub keep: KeepRow,
    /// Compress the parts with gzip
    #[arg(long)]
    pub gzip: bool,
    /// Remove the parts of an earlier, longer set from the folder
    #[arg(long)]
    pub prune: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

pub(super) fn run(merge: &Merge, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let name = merge.output.file_name().unwrap_or_default().to_string_lossy();
    let form = if is_stream(&merge.output) { Some(Form::Xml) } else { Form::of_name(&name) };
    if let Some(form) = form {
        let mut session = open(merge, merge.common.now()?, streams)?;
        if form == Form::Xml && session.document().sitemaps().len() > 1 {
            super::save::note_omitted(session.document(), streams);
            let bytes: u64 = session.document().sitemaps().iter().map(|sitemap| sitemap.bytes()).sum();
            let is_small = session.document().live() <= URLS_PER_FILE && bytes <= BYTES_PER_FILE;
            session = save::joined(&session).map_err(|files| {
                if is_small {
                    let message =
                        "their roots declare different namespaces or prefixes, and one file has one root".to_owned();
                    let hint = "fix them first: sited fix PATH --rule CODE; sited check PATH lists the codes";
                    return Failure::Usage(message, hint.to_owned());
                }
                let message = format!("{} would exceed the limits of a sitemap", merge.output.display());
                Failure::Usage(message, format!("name a folder, for {files} files and an index: -o DIR"))
            })?;
        }
        if merge.dry_run {
            let urls = counted(u64::from(session.document().live()), "URL");
            streams.note(&format!("dry run, nothing is written: {urls} to {}", merge.output.display()));
            return Ok(Status::Fine);
        }
        save_as(&mut session, (&merge.output, form), Agreed::of(&merge.common), streams)?;
        return Ok(Status::Fine);
    }
    let Common { base_url, now, backup, allow_missing, .. } = &merge.common;
    let options = Split {
        path: PathBuf::new(),
        output: merge.output.clone(),
        max_urls: None,
        max_bytes: None,
        by: Vec::new(),
        name: None,
        gzip: merge.gzip,
        base_url: base_url.clone(),
        prune: merge.prune,
        mkdir: merge.common.mkdir,
        allow_missing: *allow_missing,
        loc_column: None,
        backup: *backup,
        dry_run: merge.dry_run,
        now: now.clone(),
    };
    split::run_split(&options, streams, |_, now, streams| open(merge, now, streams))
}

/// All files of all sets as one set without an index.
fn open(merge: &Merge, now: Now, streams: &mut Streams<'_>) -> Result<Session, Failure> {
    // `--base-url` is that of the output; the current ones are taken from the indexes.
    let read_options = files::Options { base_url: None, ..merge.common.options(streams)? };
    let mut parts = Vec::new();
    for path in &merge.paths {
        if is_stream(path) {
            parts.push(path.clone());
            continue;
        }
        let loaded = files::load(path, &read_options, &Progress::default(), &|_| Ignore, &mut |part| {
            if let LoadedFile::Sitemap { sitemap, .. } = part {
                parts.extend(sitemap.path);
            }
        })?;
        merge.common.note_loaded(&loaded, streams);
    }
    let mut session = merge.common.open_set(&parts, now, streams)?;
    Damage::of(&session).warn(streams);
    if merge.dedupe {
        let rows = duplicate_rows(&session, merge.keep, false, &|row| date_of(&session, row));
        if !rows.is_empty() {
            session.mark(&rows, true);
            if let CommandOutcome::Done(report) = session.run(&Command::Delete(Scope::default()), DefaultScope::All)? {
                streams.note(&report.message);
            }
        }
    }
    Ok(session)
}
