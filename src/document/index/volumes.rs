//! The volumes of an index: the files of an index that is too long for one, each with a range of its entries.
//!
//! Everywhere else an index is one list of entries; only the code that reads, plans, writes, locks and compares files
//! uses volumes. An index of one file has no [`Volume`].

use super::{Child, Index};
use crate::document::frame::part_frame;
use crate::document::quirk::Quirk;
use crate::document::sitemap::UTF_8;
use crate::document::source::Source;
use crate::protocol::limits::Limits;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A further file of an index; its entries follow those of the volume before it.
#[derive(Debug, Clone)]
pub struct Volume {
    /// Its path; `None` for an unsaved document.
    pub path: Option<PathBuf>,
    /// Its name on screen.
    pub name: Arc<str>,
    /// Whether it is written gzipped.
    pub gzip: bool,
    /// The source of its head and tail; it has no entries.
    pub frame: Arc<Source>,
    /// Its first entry, counted over the whole index.
    pub first: usize,
    /// The encoding that it is stored in; in memory it is always UTF-8.
    pub encoding: &'static str,
    /// Its quirks; entries are counted over the whole index.
    pub quirks: Arc<Vec<Quirk>>,
}

/// A view of one file of an index, which may be the first.
#[derive(Debug, Clone)]
pub struct IndexFile<'i> {
    index: &'i Index,
    /// Its path; `None` for an unsaved document.
    pub path: Option<&'i Path>,
    /// Its name on screen.
    pub name: &'i Arc<str>,
    /// Whether it is written gzipped.
    pub gzip: bool,
    /// The source of its head and tail.
    pub frame: &'i Arc<Source>,
    /// Its entries, counted over the whole index.
    pub entries: Range<usize>,
    /// The encoding that it is stored in.
    pub encoding: &'static str,
    /// Its quirks; entries are counted over the whole index.
    pub quirks: &'i Arc<Vec<Quirk>>,
}

impl<'i> IndexFile<'i> {
    /// This file with another head and tail.
    #[must_use]
    pub fn with_frame<'f>(&self, frame: &'f Arc<Source>, gzip: bool) -> IndexFile<'f>
    where
        'i: 'f,
    {
        IndexFile { gzip, frame, ..self.clone() }
    }

    /// Its children, one for each entry.
    pub fn children(&self) -> &'i [Child] {
        self.index.children.get(self.entries.clone()).unwrap_or_default()
    }

    /// The text of an entry, counted over the whole index.
    pub fn entry_text(&self, entry: usize) -> &'i [u8] {
        self.index.source.entry_text(entry)
    }

    /// The text before its entries.
    pub fn head(&self) -> Cow<'i, [u8]> {
        self.frame.head(!self.entries.is_empty())
    }

    /// The text after its entries.
    pub fn tail(&self) -> Cow<'i, [u8]> {
        self.frame.tail(!self.entries.is_empty())
    }

    /// Its bytes, uncompressed: head, entries and tail.
    pub fn pieces(&self) -> [Cow<'i, [u8]>; 3] {
        [self.head(), Cow::Borrowed(self.index.source.run(self.entries.start, self.entries.end)), self.tail()]
    }

    /// Its bytes, uncompressed.
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces().concat()
    }

    /// Whether another file has the same bytes.
    pub fn has_bytes_of(&self, other: &IndexFile<'_>) -> bool {
        let is_same = Arc::ptr_eq(self.frame, other.frame)
            && Arc::ptr_eq(&self.index.source, &other.index.source)
            && self.entries == other.entries;
        is_same || self.pieces() == other.pieces() || (self.len() == other.len() && self.bytes() == other.bytes())
    }

    /// Its size in bytes, uncompressed.
    pub fn len(&self) -> u64 {
        self.pieces().iter().map(|piece| piece.len() as u64).sum()
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Index {
    /// The number of its files.
    pub fn file_count(&self) -> usize {
        1 + self.more.len()
    }

    /// One of its files, counted from 0.
    pub fn file(&self, number: usize) -> Option<IndexFile<'_>> {
        let end = self.more.get(number).map_or(self.children.len(), |next| next.first);
        if number == 0 {
            return Some(IndexFile {
                index: self,
                path: self.path.as_deref(),
                name: &self.name,
                gzip: self.gzip,
                frame: &self.source,
                entries: 0..end,
                encoding: self.encoding,
                quirks: &self.quirks,
            });
        }
        let volume = self.more.get(number - 1)?;
        Some(IndexFile {
            index: self,
            path: volume.path.as_deref(),
            name: &volume.name,
            gzip: volume.gzip,
            frame: &volume.frame,
            entries: volume.first..end,
            encoding: volume.encoding,
            quirks: &volume.quirks,
        })
    }

    /// Its files, in order.
    pub fn files(&self) -> impl DoubleEndedIterator<Item = IndexFile<'_>> {
        (0..self.file_count()).filter_map(|number| self.file(number))
    }

    /// The file at a path.
    pub fn file_at(&self, path: &Path) -> Option<IndexFile<'_>> {
        self.file(self.volume_at(path)?)
    }

    /// The number of the file that an entry is in.
    pub fn file_of(&self, entry: usize) -> usize {
        self.more.partition_point(|volume| volume.first <= entry)
    }

    /// The paths of its files, in order.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files().filter_map(|file| file.path.map(Path::to_path_buf)).collect()
    }

    /// The quirks of its files, in the order of entries.
    pub fn all_quirks(&self) -> impl Iterator<Item = &Quirk> {
        self.quirks.iter().chain(self.more.iter().flat_map(|volume| volume.quirks.iter()))
    }

    /// Changes each of its volumes after the first.
    pub fn change_volumes(&mut self, change: impl FnMut(&mut Volume)) {
        let mut more = self.more.to_vec();
        more.iter_mut().for_each(change);
        self.more = more.into();
    }

    /// This index with another frame of the volume `number`, which is not the first.
    #[must_use]
    pub fn with_volume(&self, number: usize, frame: &Arc<Source>, gzip: bool) -> Self {
        self.with_volumes(&BTreeMap::from([(number, (Arc::clone(frame), gzip))]))
    }

    /// This index with other frames of several volumes, by number.
    #[must_use]
    pub fn with_volumes(&self, frames: &BTreeMap<usize, (Arc<Source>, bool)>) -> Self {
        let mut index = self.clone();
        let mut at = 0;
        index.change_volumes(|volume| {
            at += 1;
            if let Some((frame, gzip)) = frames.get(&at) {
                (volume.frame, volume.gzip) = (Arc::clone(frame), *gzip);
            }
        });
        index
    }

    /// The volumes, by number, whose head, tail or compression differs from the same volume of another index.
    pub fn other_volumes<'o>(&'o self, other: &'o Self) -> impl Iterator<Item = (usize, &'o Volume)> {
        let pairs = (1..).zip(self.more.iter().zip(other.more.iter()));
        let differs = |volume: &Volume, other_volume: &Volume| {
            let is_same =
                Arc::ptr_eq(&volume.frame, &other_volume.frame) || volume.frame.bytes() == other_volume.frame.bytes();
            volume.path == other_volume.path && (volume.gzip != other_volume.gzip || !is_same)
        };
        pairs
            .filter(move |(_, (volume, other_volume))| differs(volume, other_volume))
            .map(|(number, (volume, _))| (number, volume))
    }

    /// Drops the quirks of the volumes that were written, by number.
    pub(in crate::document) fn mark_files_written(&mut self, is_written: &dyn Fn(usize) -> bool) {
        if is_written(0) {
            (self.quirks, self.encoding) = (Arc::default(), UTF_8);
        }
        let mut number = 0;
        self.change_volumes(|volume| {
            number += 1;
            if is_written(number) {
                (volume.quirks, volume.encoding) = (Arc::default(), UTF_8);
            }
        });
        (self.accepted, self.edited) = (false, Arc::default());
    }

    /// Joins indexes that were read from several files into one with the entries of all, in order.
    ///
    /// `None` if their roots declare prefixes differently, which would change the meaning of entries.
    pub fn joined(mut indexes: Vec<Self>) -> Option<Self> {
        let sources: Vec<&Source> = indexes.iter().map(|index| &*index.source).collect();
        let source =
            if sources.len() > 1 { Arc::new(Source::joined(&sources)?) } else { Arc::clone(&indexes.first()?.source) };
        let mut rest = indexes.split_off(1).into_iter();
        let mut joined = indexes.pop()?;
        let mut more = joined.more.to_vec();
        for index in rest.by_ref() {
            let first = joined.children.len();
            let mut frame = index.source.without_entries();
            // An offset of stray text between entries is not in the frame, so it is dropped.
            frame.stray = frame.stray.filter(|at| (*at as usize) < frame.head(true).len());
            let shifted =
                |quirk: &Quirk| Quirk { entry: quirk.entry.map(|entry| entry + first as u32), ..quirk.clone() };
            more.push(Volume {
                path: index.path,
                name: index.name,
                gzip: index.gzip,
                frame: Arc::new(frame),
                first,
                encoding: index.encoding,
                quirks: Arc::new(index.quirks.iter().map(shifted).collect()),
            });
            joined.children_mut().extend(index.children.iter().cloned());
        }
        (joined.source, joined.more) = (source, more.into());
        Some(joined)
    }

    /// Distributes the entries over files. `name` returns the name and, if known, the path of a new file by its number.
    #[must_use]
    pub fn split_into_files(&self, slots: &[Slot], mut name: impl FnMut(usize) -> (Arc<str>, Option<PathBuf>)) -> Self {
        let last = self.more.last().map_or((&self.source, self.gzip), |last| (&last.frame, last.gzip));
        let (frame, gzip, mut more) = (Arc::new(part_frame(last.0)), last.1, Vec::new());
        for (number, slot) in slots.iter().enumerate().skip(1) {
            let existing = slot.file.and_then(|file| self.more.get(file.checked_sub(1)?)).cloned();
            more.push(existing.map_or_else(
                || {
                    let (name, path) = name(number);
                    let (frame, quirks) = (Arc::clone(&frame), Arc::default());
                    Volume { path, name, gzip, frame, first: slot.entries.start, encoding: UTF_8, quirks }
                },
                |volume| Volume { first: slot.entries.start, ..volume },
            ));
        }
        Self { more: more.into(), ..self.clone() }
    }

    /// The volumes with their first entries after the entries have changed: an entry stays in its volume, and a new one
    /// joins the volume of the entry before it. `old_entries` contains the old number of each entry. If entries moved
    /// between volumes, each volume keeps its number of entries.
    pub(super) fn volume_starts(&self, old_entries: &[Option<usize>]) -> Arc<[Volume]> {
        if self.more.is_empty() {
            return Arc::clone(&self.more);
        }
        let old_volumes: Vec<usize> = old_entries.iter().flatten().map(|entry| self.file_of(*entry)).collect();
        let mut more = self.more.to_vec();
        if old_volumes.is_sorted() {
            // For each volume, the first entry in it or in a later one.
            let mut firsts = Vec::with_capacity(more.len());
            for (entry, old_entry) in old_entries.iter().enumerate() {
                let file = old_entry.map_or(0, |old_entry| self.file_of(old_entry));
                firsts.resize(file.max(firsts.len()), entry);
            }
            firsts.resize(more.len(), old_entries.len());
            more.iter_mut().zip(firsts).for_each(|(volume, first)| volume.first = first);
        } else {
            for volume in &mut more {
                volume.first = volume.first.min(old_entries.len());
            }
        }
        more.into()
    }
}

/// A planned file of an index, not yet assigned to a volume.
#[derive(Debug)]
pub struct Slot {
    /// The number of the existing file; `None` for a new one.
    pub file: Option<usize>,
    /// Its entries, counted over the whole index.
    pub entries: Range<usize>,
}

/// Assigns the entries of an index to its files. Files for which `may_stay` is true keep their entries even over a
/// limit.
pub(crate) fn assign_slots(index: &Index, limits: Limits, may_stay: &dyn Fn(&IndexFile<'_>) -> bool) -> Vec<Slot> {
    let mut slots: Vec<Slot> =
        index.files().enumerate().map(|(number, file)| Slot { file: Some(number), entries: file.entries }).collect();
    // The first volume identifies the set: if it is empty it takes the entries of the next one.
    let is_emptied = index.file(0).is_some_and(|first| first.is_empty() && !may_stay(&first));
    let first_nonempty = slots.iter().position(|slot| !slot.entries.is_empty());
    if let Some(first_nonempty) = first_nonempty.filter(|_| is_emptied)
        && let Some(end) = slots.get(first_nonempty).map(|slot| slot.entries.end)
    {
        slots.iter_mut().take(first_nonempty + 1).skip(1).for_each(|slot| slot.entries = end..end);
        if let Some(first) = slots.first_mut() {
            first.entries = 0..end;
        }
    }
    let overhead = |source: &Source| (source.head(true).len() + source.tail(true).len()) as u64;
    let mut out: Vec<Slot> = Vec::new();
    let mut start = 0;
    for slot in slots {
        let file = slot.file.and_then(|number| index.file(number));
        let Some(file) = file else { continue };
        let stays = start == slot.entries.start && file.entries == slot.entries && may_stay(&file);
        let end = if stays {
            slot.entries.end
        } else {
            fitting_end(index, start..slot.entries.end, overhead(file.frame), limits)
        };
        if start < end || stays || slot.file == Some(0) {
            out.push(Slot { file: slot.file, entries: start..end });
        }
        start = end;
    }
    let overhead_of_new = overhead(&part_frame(index.more.last().map_or(&index.source, |last| &last.frame)));
    while start < index.children.len() {
        let end = fitting_end(index, start..index.children.len(), overhead_of_new, limits);
        out.push(Slot { file: None, entries: start..end });
        start = end;
    }
    out
}

/// The end of the entries that fit into a file with `overhead` bytes of frame; at least one entry.
fn fitting_end(index: &Index, entries: Range<usize>, overhead: u64, limits: Limits) -> usize {
    let mut bytes = overhead;
    let max_end = entries.start.saturating_add(limits.parts.max(1) as usize).min(entries.end);
    for entry in entries.start..max_end {
        bytes += index.source.entry_text(entry).len() as u64;
        if bytes > limits.index_bytes && entry > entries.start {
            return entry;
        }
    }
    max_end
}
