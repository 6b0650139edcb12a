//! Carries out a plan: writes what differs, reads it back, and puts it in place.
//!
//! What is read back must have the rows of the document, in order, and be well-formed; else nothing is replaced.
//! A file that turns out to hold the very bytes already is left alone. A plan without changes opens no file.

use super::commit::{self, Gate, Open, Sink, Staged, Target, Wish};
use super::detect;
use super::disk::Disk;
use super::error::{Error, Reason};
use super::form;
use super::plan::{Action, FileId, Output, Plan};
use super::read::{self, Options};
use super::record;
use crate::document::Document;
use crate::document::rows::RowId;
use crate::document::source::Lines;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::Visit;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What a save came to.
#[derive(Debug, Clone)]
pub struct Saved {
    /// The document as the files have it now.
    pub document: Document,
    /// The file to open next time.
    pub path: Option<PathBuf>,
    /// Files that were written, with their sizes as stored.
    pub written: Vec<(PathBuf, u64)>,
    /// Files that were removed.
    pub removed: Vec<PathBuf>,
    /// Files of the set that were left alone.
    pub untouched: usize,
}

/// Bytes that are written at once.
const BUFFER: usize = 1 << 20;

/// One level for every file: equal content gives equal files.
const LEVEL: Compression = Compression::new(6);

/// Carries out a plan. `force` writes over files that were changed by somebody else meanwhile.
///
/// `disk` is brought up to date also when an error comes half-way; the error then names the file that is not
/// in place, and saving again goes on from there.
pub fn save(plan: &Plan, disk: &mut Disk, force: bool, progress: &Progress) -> Result<Saved, Error> {
    save_through(&Open, plan, disk, force, progress)
}

fn save_through(
    gate: &dyn Gate,
    plan: &Plan,
    disk: &mut Disk,
    force: bool,
    progress: &Progress,
) -> Result<Saved, Error> {
    if let Some(problem) = plan.problems.first() {
        return Err(Error::new(plan.path.clone().unwrap_or_default(), Reason::Plan(problem.message.clone())));
    }
    if plan.needs_base.is_some() {
        let why = "the new files need public URLs: give --base-url URL".to_owned();
        return Err(Error::new(plan.path.clone().unwrap_or_default(), Reason::Plan(why)));
    }
    if let Some(repairs) = plan.repairs.first() {
        let path = plan.outputs.iter().find(|output| output.name == repairs.name).map(|output| output.path.clone());
        return Err(Error::new(path.unwrap_or_default(), Reason::Repairs(repairs.what.join("; "))));
    }
    let (mut writes, mut removes) = (Vec::new(), Vec::new());
    for output in &plan.outputs {
        let wish = match output.action {
            Action::Untouched => continue,
            Action::Rewritten | Action::Removed => Wish::Change,
            Action::Created => Wish::Create,
            Action::Replaced => Wish::Replace,
        };
        let target = Target::look(&output.path, wish, disk, force)?;
        if output.action == Action::Removed {
            // What is gone already need not be removed.
            removes.extend(target.metadata.is_some().then_some(target));
        } else {
            writes.push((output, target));
        }
    }
    let (outputs, mut targets): (Vec<&Output>, Vec<Target>) = writes.into_iter().unzip();
    Target::restrict_new(&mut targets);
    let writes: Vec<(&Output, Target)> = outputs.into_iter().zip(targets).collect();
    if let Some((one, other)) = commit::first_twice(writes.iter().map(|(_, target)| target).chain(&removes)) {
        let why = format!("{} and {} are the same file", one.display(), other.display());
        return Err(Error::new(one, Reason::Plan(why)));
    }
    progress.expect(writes.len() as u64, writes.iter().map(|(output, _)| output.bytes).sum());
    let job = Job { document: &plan.document, gate, progress };
    let staged: Vec<Option<Staged>> =
        writes.into_par_iter().map(|(output, target)| job.stage(output, target)).collect::<Result<_, _>>()?;
    if progress.is_cancelled() {
        return Err(Error::new(plan.path.clone().unwrap_or_default(), Reason::Cancelled));
    }
    let staged: Vec<Staged> = staged.into_iter().flatten().collect();
    let written: Vec<(PathBuf, u64)> = staged.iter().map(|file| (file.target.path.clone(), file.len)).collect();
    let removed: Vec<PathBuf> = removes.iter().map(|target| target.path.clone()).collect();
    let home = plan.path.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let home = home.unwrap_or(Path::new("."));
    // The record of a save that failed at its very end is crossed out even if nothing is left to write.
    if !staged.is_empty() || !removes.is_empty() || record::is_there(home) {
        commit::commit(staged, &removes, disk, (home, force), gate)?;
    }
    let kept = || plan.outputs.iter().filter(|output| output.action != Action::Removed);
    disk.keep(kept().map(|output| output.path.as_path()));
    let untouched = kept().count() - written.len();
    Ok(Saved { document: plan.document.clone(), path: plan.path.clone(), written, removed, untouched })
}

struct Job<'a> {
    document: &'a Document,
    gate: &'a dyn Gate,
    progress: &'a Progress,
}

impl Job<'_> {
    /// Writes one file beside its target and reads it back. `None` when the target has these bytes already.
    fn stage(&self, output: &Output, target: Target) -> Result<Option<Staged>, Error> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::Interrupted => Error::new(&output.path, Reason::Cancelled),
            _ => Error::system("write", &output.path, error),
        };
        let gzip = match output.file {
            FileId::Index => self.document.index().is_some_and(|index| index.gzip),
            FileId::Sitemap(id) => self.document.sitemap(id).is_some_and(|sitemap| sitemap.gzip),
            FileId::Gone => false,
        };
        let sink = Sink::create(&target, self.gate).map_err(failed)?;
        let mut writer = Writer::new(BufWriter::with_capacity(BUFFER, sink), gzip);
        let mut len = 0u64;
        self.produce(output.file, &mut |bytes: &[u8]| {
            // A long run of untouched entries is cut so that a cancel is felt.
            bytes.chunks(BUFFER).try_for_each(|bytes| {
                if self.progress.is_cancelled() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                len += bytes.len() as u64;
                self.progress.advance(0, bytes.len() as u64);
                writer.as_write().write_all(bytes)
            })
        })
        .map_err(failed)?;
        let staged = writer.finish().and_then(|sink| sink.finish(target)).map_err(failed)?;
        if len != output.bytes {
            let why = format!("{len} bytes were produced where {} were expected", output.bytes);
            return Err(Error::new(&output.path, Reason::Check(why)));
        }
        self.read_back(output, &staged)?;
        self.progress.finish_files(1);
        let same = staged.target.metadata.is_some() && same_content(&staged, gzip).map_err(failed)?;
        Ok((!same).then_some(staged))
    }

    fn produce<E>(&self, file: FileId, write: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match file {
            FileId::Index => self.document.index().map_or(Ok(()), |index| write(index.source.bytes())),
            FileId::Sitemap(id) => self.document.write_sitemap(id, write),
            FileId::Gone => Ok(()),
        }
    }

    /// Reads a written file as a stranger would and compares it with the document.
    fn read_back(&self, output: &Output, staged: &Staged) -> Result<(), Error> {
        let wrong = |why: String| Error::new(&output.path, Reason::Check(why));
        let contents = read::read(&staged.temporary, &Options::default(), &Progress::default())
            .map_err(|error| Error { path: output.path.clone(), ..error })?;
        let (mut check, kind) = match output.file {
            FileId::Index => (Check::index(self.document), FileKind::Index),
            FileId::Sitemap(id) => {
                let kind = self.document.sitemap(id).map(|sitemap| sitemap.frame.names.kind).unwrap_or_default();
                (Check::rows(self.document, id), kind)
            }
            FileId::Gone => return Ok(()),
        };
        let scan = form::scan(&contents.bytes, kind, &mut check, &Progress::default());
        if let Some(damage) = scan.damage.first() {
            let (line, column) = Lines::new(&contents.bytes).position(damage.at);
            let row = row_at(&scan.starts, damage.at).and_then(|entry| check.locs.get(entry)).cloned();
            let row = row.map_or_else(String::new, |loc| format!(" in the row {loc}"));
            return Err(wrong(format!("{}{row} (line {line}, column {column})", detect::damage_words(damage.kind))));
        }
        match check.difference() {
            Some(why) => Err(wrong(why)),
            None => Ok(()),
        }
    }
}

/// Which entry an offset lies in.
fn row_at(starts: &[u32], offset: usize) -> Option<usize> {
    starts.partition_point(|start| *start as usize <= offset).checked_sub(1)
}

/// Compares the entries of a file that is read back with what the document says.
struct Check {
    locs: Vec<String>,
    seen: usize,
    first: Option<(usize, String)>,
}

impl Check {
    fn rows(document: &Document, id: crate::document::sitemap::SitemapId) -> Self {
        let rows = document.sitemap(id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
        let locs = rows.filter(|row: &RowId| document.is_live(*row)).map(|row| document.loc(row).into_owned());
        Self { locs: locs.collect(), seen: 0, first: None }
    }

    fn index(document: &Document) -> Self {
        let children = document.index().into_iter().flat_map(|index| index.children.iter());
        Self { locs: children.map(|child| child.loc.to_string()).collect(), seen: 0, first: None }
    }

    fn difference(&self) -> Option<String> {
        if let Some((entry, read)) = &self.first {
            let meant = self.locs.get(*entry).map_or("nothing", String::as_str);
            return Some(format!("entry {} would read {read} instead of {meant}", entry + 1));
        }
        (self.seen != self.locs.len()).then(|| format!("{} entries would be read of {}", self.seen, self.locs.len()))
    }
}

impl Visit for Check {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        // White space around a value is no part of it, whoever put it there.
        let blank = [' ', '\t', '\n', '\r'];
        let loc = entry.value(Field::Loc, text).unwrap_or_default();
        let meant = self.locs.get(self.seen).map(|loc| loc.trim_matches(blank));
        if meant != Some(loc.trim_matches(blank)) && self.first.is_none() {
            self.first = Some((self.seen, loc.into_owned()));
        }
        self.seen += 1;
    }
}

/// Writes plain or packed.
enum Writer<'g> {
    Plain(Box<BufWriter<Sink<'g>>>),
    Gzip(Box<GzEncoder<BufWriter<Sink<'g>>>>),
}

impl<'g> Writer<'g> {
    fn new(writer: BufWriter<Sink<'g>>, gzip: bool) -> Self {
        if gzip {
            // No time, no name: the same content always gives the same bytes.
            Self::Gzip(Box::new(GzBuilder::new().mtime(0).operating_system(255).write(writer, LEVEL)))
        } else {
            Self::Plain(Box::new(writer))
        }
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(writer) => writer,
            Self::Gzip(writer) => writer,
        }
    }

    fn finish(self) -> io::Result<Sink<'g>> {
        let writer = match self {
            Self::Plain(writer) => *writer,
            Self::Gzip(writer) => writer.finish()?,
        };
        writer.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// Whether the target holds the staged content already, packed or not.
fn same_content(staged: &Staged, gzip: bool) -> io::Result<bool> {
    let target_len = staged.target.metadata.as_ref().map_or(0, std::fs::Metadata::len);
    if !gzip && target_len != staged.len {
        return Ok(false);
    }
    let (mut new, mut old) = (reader(&staged.temporary, gzip)?, reader(&staged.target.real, gzip)?);
    loop {
        // A target that is not gzip at all differs; so does one that is damaged.
        let (Ok(a), Ok(b)) = (new.fill_buf(), old.fill_buf()) else { return Ok(false) };
        let len = a.len().min(b.len());
        if len == 0 {
            return Ok(a.is_empty() && b.is_empty());
        }
        if a.get(..len) != b.get(..len) {
            return Ok(false);
        }
        new.consume(len);
        old.consume(len);
    }
}

fn reader(path: &Path, gzip: bool) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    Ok(if gzip {
        Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file))))
    } else {
        Box::new(BufReader::new(file))
    })
}

#[cfg(test)]
mod tests;
