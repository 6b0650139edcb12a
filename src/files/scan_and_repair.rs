//! Scans the bytes of one file; if they are damaged, repairs them and scans the result.

use super::detect;
use super::disk::OnDisk;
use super::error::{Error, Reason};
use super::form;
use super::loaded::{File, FileInfo, MakeVisitor};
use super::read::Contents;
use crate::document::form::Form;
use crate::document::lines::{Anchor, LineColumn, Lines};
use crate::document::quirk::Quirk;
use crate::document::sitemap::UTF_8;
use crate::document::source::Source;
use crate::file_bytes::FileBytes;
use crate::progress::Progress;
use crate::xml::defect::{Defect, FoundDefect};
use crate::xml::repair::{self, Repaired, SoundPrefix};
use crate::xml::scan::{self, Scan, Visit};
use rayon::prelude::*;
use std::path::PathBuf;

/// A file that was read but not yet scanned.
pub(super) struct Unscanned<V> {
    pub(super) facts: FileInfo,
    pub(super) bytes: FileBytes,
    /// Quirks that were found before the scan.
    pub(super) quirks: Vec<Quirk>,
    pub(super) on_disk: Option<OnDisk>,
    /// The scan of its beginning, if there was one.
    pub(super) started: Option<StartedScan<V>>,
}

/// The scan of the beginning of a file, up to damage, with its visitor.
pub(super) struct StartedScan<V> {
    pub(super) scan: Box<Scan>,
    pub(super) visitor: V,
    /// The file when the scan began.
    pub(super) on_disk: OnDisk,
}

impl<V> StartedScan<V> {
    /// Whether these contents begin with the bytes that were scanned.
    pub(super) fn is_of(&self, contents: &Contents) -> bool {
        let is_unchanged = self.on_disk.has_same_metadata(&contents.on_disk);
        let is_as_stored = contents.quirks.is_empty() && contents.bytes.len() as u64 == self.on_disk.len;
        is_unchanged && is_as_stored && contents.encoding == UTF_8
    }
}

/// Scans a file's bytes and repairs damage. An error if nothing in it is a sitemap.
pub(super) fn scan_and_repair<V: Visit + Send>(
    file: Unscanned<V>,
    new_visitor: &MakeVisitor<'_, V>,
    progress: &Progress,
) -> Result<File<V>, Error> {
    let Unscanned { facts, mut bytes, mut quirks, on_disk, started } = file;
    let info = &facts;
    let path = || info.path.clone().unwrap_or_else(|| PathBuf::from(&*info.name));
    let (before, mut visitor) = match started {
        Some(StartedScan { scan, visitor, .. }) => (Some(scan), visitor),
        None => (None, new_visitor(info)),
    };
    let mut scan = match before {
        Some(before) => scan::resume(&bytes, *before, &mut visitor, progress),
        None if info.kind.is_xml() => scan::scan_sound(&bytes, &mut visitor, progress),
        None => form::scan(&bytes, (info.kind, info.grid.as_deref()), &mut visitor, progress),
    };
    // If cancelled, the file may not have been read to its end.
    scan.cancelled |= progress.is_cancelled();
    // The scan's progress starts after the root's start tag.
    let has_body = scan.names.is_some() && !scan.root_is_empty;
    progress.advance(0, if has_body { u64::from(scan.root_tag.1) } else { bytes.len() as u64 });
    let mut anchors = Vec::new();
    // A cancelled scan only lacks the end of the file.
    if !scan.cancelled && (scan.names.is_none() || !scan.damage.is_empty()) {
        // Offsets have 32 bits.
        let fits = |repaired: &Repaired| u32::try_from(repaired.bytes.len()).is_ok();
        let Some(repaired) = repair::repair_after(&bytes, SoundPrefix::of(&bytes, &scan)).filter(fits) else {
            let root = Reason::Root(scan.root.clone());
            return Err(Error::new(path(), root));
        };
        note_unreported_damage(&bytes, &scan, &repaired, &mut quirks);
        let sound_entries = scan.entries();
        let (first, mut map) = merge_repair(&bytes, repaired, None, &mut quirks);
        // Frees the stored bytes before the scan takes memory.
        bytes = first.bytes;
        // Nearly every repaired file is well-formed, and a scan up to the first damage uses all cores for a large one.
        scan = if first.unchanged_len > 0 {
            scan::resume(&bytes, scan, &mut visitor, &Progress::default())
        } else {
            visitor = new_visitor(info);
            scan::scan_sound(&bytes, &mut visitor, &Progress::default())
        };
        if !scan.damage.is_empty() {
            visitor = new_visitor(info);
            scan = scan::scan(&bytes, &mut visitor, &Progress::default());
        }
        // Rare: a repair of very unusual tags may leave damage, which needs a second repair.
        if !scan.damage.is_empty()
            && let Some(again) = repair::repair(&bytes).filter(fits)
        {
            let starts = std::mem::take(&mut scan.starts);
            let before = quirks.len();
            let (second, composed) = merge_repair(&bytes, again, Some(&map), &mut quirks);
            map = composed;
            visitor = new_visitor(info);
            scan = scan::scan(&second.bytes, &mut visitor, &Progress::default());
            renumber_entries(quirks.get_mut(..before).unwrap_or_default(), &starts, &scan.starts, &second.anchors);
            bytes = second.bytes;
        }
        check_repaired(&bytes, &scan, &map).map_err(|(at, reason)| Error { path: path(), at: Some(at), reason })?;
        progress.advance(scan.entries().saturating_sub(sound_entries) as u64, 0);
        anchors = map;
    }
    let root = scan.root.clone();
    let source = Source::new(bytes, scan).ok_or_else(|| Error::new(path(), Reason::Root(root)))?;
    quirks.sort_by_key(|quirk| (quirk.entry, quirk.at));
    let source = source.anchored(anchors);
    Ok(File { facts, source, on_disk, visitor, quirks: quirks.into(), form: Form::Xml, dropped: None })
}

/// Adds a quirk for damage if the repair reported none, since the written file differs from the stored one.
fn note_unreported_damage(bytes: &[u8], scan: &Scan, repaired: &Repaired, quirks: &mut Vec<Quirk>) {
    if let Some(damage) = scan.damage.first().filter(|_| repaired.repairs.is_empty()) {
        quirks.push(Quirk {
            kind: Defect::NotWellFormed,
            at: Lines::new(bytes).position(damage.at),
            entry: None,
            what: format!("{}; repaired", detect::damage_words(damage.kind)).into(),
        });
    }
}

/// Adds the changes of a repair of `bytes` to `quirks`, with positions in the stored file. `map` maps `bytes` to the
/// stored file if they are the result of an earlier repair. Returns the repair, and the map from its bytes to the
/// stored file.
fn merge_repair(
    bytes: &[u8],
    mut repaired: Repaired,
    map: Option<&[Anchor]>,
    quirks: &mut Vec<Quirk>,
) -> (Repaired, Vec<Anchor>) {
    let lines = || map.map_or_else(|| Lines::new(bytes), |map| Lines::anchored(bytes, map));
    let located = locate(&repaired.anchors, std::mem::take(&mut repaired.repairs), lines, quirks);
    let composed = match map {
        Some(map) => compose_anchors(&repaired.anchors, &located, map),
        None => located,
    };
    (repaired, composed)
}

/// Finds the positions of anchors, and adds repairs with their positions to `quirks`. `lines` counts the lines of the
/// bytes that were repaired.
fn locate<'b>(
    anchors: &[(usize, usize)],
    repairs: Vec<FoundDefect>,
    lines: impl Fn() -> Lines<'b> + Copy + Send + Sync,
    quirks: &mut Vec<Quirk>,
) -> Vec<Anchor> {
    // Positions cost least in ascending order: each thread finds those of one part of the anchors, after it has counted the
    // lines before, and then those of one part of the repairs, from the anchor before its first one on.
    let min_len = |count: usize| count.div_ceil(rayon::current_num_threads()).max(1);
    let pieces = anchors.par_iter().with_min_len(min_len(anchors.len()));
    let located: Vec<Anchor> =
        pieces.map_init(lines, |lines, (ours, theirs)| (*ours as u32, lines.position(*theirs))).collect();
    let from_anchor_before = |at: usize| {
        let anchor = anchors.partition_point(|(_, theirs)| *theirs <= at).checked_sub(1);
        let known = anchor.and_then(|anchor| Some((anchors.get(anchor)?.1, located.get(anchor)?.1)));
        known.map_or_else(lines, |(offset, position)| lines().continued(offset, position))
    };
    let min_len = min_len(repairs.len());
    let no_lines = || None;
    quirks.par_extend(repairs.into_par_iter().with_min_len(min_len).map_init(no_lines, |lines, repair| {
        let FoundDefect { kind, at, entry, what } = repair;
        Quirk { kind, at: lines.get_or_insert_with(|| from_anchor_before(at)).position(at), entry, what }
    }));
    located
}

/// The map from repaired bytes to the stored file: the anchors of the last repair, which are also `located` in the
/// stored file, and those of an `earlier` one where they still apply.
fn compose_anchors(anchors: &[(usize, usize)], located: &[Anchor], earlier: &[Anchor]) -> Vec<Anchor> {
    let mut composed: Vec<Anchor> = Vec::with_capacity(anchors.len());
    let mut earlier = earlier.iter().peekable();
    let ends = anchors.iter().copied().chain([(usize::MAX, usize::MAX)]);
    let mut last = (0, 0);
    for (next, located) in ends.zip(located.iter().map(Some).chain([None])) {
        let (ours, theirs) = last;
        // Anchors of the earlier repair stay valid up to the next anchor.
        while let Some((offset, stored)) = earlier.next_if(|(offset, _)| (*offset as usize) < next.1) {
            let offset = (ours + *offset as usize).saturating_sub(theirs);
            if offset > ours && offset < next.0 {
                composed.push((offset as u32, *stored));
            }
        }
        composed.extend(located);
        last = next;
    }
    composed
}

/// Renumbers the entries of quirks after a second repair; `before` and `after` are the starts of entries, and the end
/// of the last one. A quirk whose entry no longer exists belongs to the whole file.
fn renumber_entries(quirks: &mut [Quirk], before: &[u32], after: &[u32], anchors: &[(usize, usize)]) {
    for quirk in quirks {
        let Some(end) = quirk.entry.and_then(|entry| before.get(entry as usize + 1)) else { continue };
        // An entry keeps its identity by its last byte.
        let last = (*end as usize).saturating_sub(1);
        let anchor =
            anchors.partition_point(|(_, theirs)| *theirs <= last).checked_sub(1).and_then(|at| anchors.get(at));
        let new_last = anchor.map_or(last, |(ours, theirs)| ours + (last - theirs));
        let entry = after.partition_point(|start| *start as usize <= new_last).checked_sub(1);
        quirk.entry = entry.filter(|entry| entry + 1 < after.len()).map(|entry| entry as u32);
    }
}

/// Checks that a repaired file is well-formed. Otherwise the file is refused, since it would be shown incorrectly.
fn check_repaired(bytes: &[u8], scan: &Scan, map: &[Anchor]) -> Result<(), (LineColumn, Reason)> {
    let Some(first) = scan.damage.first() else { return Ok(()) };
    let reason = Reason::Damaged { what: detect::damage_words(first.kind), others: scan.damage.len() - 1 };
    Err((Lines::anchored(bytes, map).position(first.at), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_repair_has_positions_in_the_stored_file() {
        let repair = |at, entry| FoundDefect { kind: Defect::Angle, at, entry, what: "".into() };
        let repaired = |bytes: &[u8], repairs, anchors| Repaired {
            bytes: bytes.to_vec().into(),
            repairs,
            anchors,
            ..Repaired::default()
        };
        // `&` became five bytes, then `b` became three.
        let (stored, first, second) = (&b"a\n&b\ncd"[..], &b"a\n&amp;b\ncd"[..], &b"a\n&amp;BBB\ncd"[..]);
        let mut quirks = Vec::new();
        let (first, map) =
            merge_repair(stored, repaired(first, vec![repair(2, Some(0))], vec![(7, 3)]), None, &mut quirks);
        let again = repaired(second, vec![repair(7, Some(1)), repair(10, None)], vec![(10, 8)]);
        let (second, composed) = merge_repair(&first.bytes, again, Some(&map), &mut quirks);
        let positions: Vec<LineColumn> = quirks.iter().map(|quirk| quirk.at).collect();
        let at = |line, column| LineColumn { line, column };
        assert_eq!(positions, [at(2, 1), at(2, 2), at(3, 2)]);
        let mut lines = Lines::anchored(&second.bytes, &composed);
        assert_eq!([7, 10, 11, 12].map(|at| lines.position(at)), [at(2, 2), at(2, 3), at(3, 1), at(3, 2)]);
        // Entries are identified by their last bytes: the first one is split in two.
        renumber_entries(&mut quirks, &[0, 8, 11], &[0, 2, 9, 13], &second.anchors);
        let entries: Vec<Option<u32>> = quirks.iter().map(|quirk| quirk.entry).collect();
        assert_eq!(entries, [Some(1), Some(2), None]);
    }
}
