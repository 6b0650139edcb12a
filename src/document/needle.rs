//! Finds candidate rows of a query by searching the bytes of whole files for the query's needle.

use super::column::PAGE;
use super::query::Needle;
use super::rows::RowId;
use super::source::Source;
use super::{Document, ValueId};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::xml::record::{Flags, Record};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one core looks through at a time.
const PIECE: u32 = 1 << 13;

/// Result of the needle search for a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NeedleMatch {
    Fails,
    /// It must be asked.
    Open,
    Passes,
}

/// Neighbours: their ids, and the entry that the first of them is if they were read from a file.
type Piece<'d> = (Range<u32>, Option<(&'d Source, usize)>);

impl Document {
    /// Those of all rows ever given that pass `test`, in the order of their ids. Only those whose URL may hold the needle
    /// are asked, and not even those if it stands in the URL and decides: its length says that it does. `None` when
    /// cancelled.
    pub(super) fn rows_with(
        &self,
        needle: (&Needle, Option<usize>),
        test: impl Fn(RowId) -> bool + Sync,
        progress: &Progress,
    ) -> Option<Vec<u32>> {
        let look = |piece: Piece<'_>| {
            progress.advance(u64::from(piece.0.end - piece.0.start), 0);
            let first = piece.0.start;
            let verdicts = (first..).zip(self.verdicts(piece, needle));
            let passes = |(row, verdict): (u32, NeedleMatch)| match verdict {
                NeedleMatch::Fails => None,
                NeedleMatch::Open => test(RowId(row)).then_some(row),
                NeedleMatch::Passes => Some(row),
            };
            (!progress.is_cancelled()).then(|| verdicts.filter_map(passes).collect())
        };
        let found: Vec<Vec<u32>> = self.cut().into_par_iter().map(look).collect::<Option<_>>()?;
        Some(found.concat())
    }

    /// All rows ever given, in pieces.
    fn cut(&self) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        let mut cut = |rows: Range<u32>, source| {
            for first in rows.clone().step_by(PIECE as usize) {
                let place = |source| (source, (first - rows.start) as usize);
                pieces.push((first..first.saturating_add(PIECE).min(rows.end), Option::map(source, place)));
            }
        };
        let mut end = 0;
        for (first, source) in self.bases.iter().zip(self.sources.iter()) {
            cut(end..*first, None);
            end = (*first).max(end) + source.len() as u32;
            cut(*first..end, Some(source.as_ref()));
        }
        cut(end..self.row_limit(), None);
        pieces
    }

    /// The needle match of each row of a piece.
    fn verdicts(&self, (rows, source): Piece<'_>, (needle, decides): (&Needle, Option<usize>)) -> Vec<NeedleMatch> {
        let Some((source, entry)) = source else { return vec![NeedleMatch::Open; rows.len()] };
        let mut verdicts = self.not_as_written(&rows);
        let starts = source.starts().get(entry..=entry + rows.len()).unwrap_or_default();
        let Some((&begin, &end)) = starts.first().zip(starts.last()) else {
            return vec![NeedleMatch::Open; rows.len()];
        };
        let (mut from, mut at) = (begin as usize, 0);
        let bytes = source.bytes().get(..end as usize).unwrap_or_default();
        while let Some(found) = bytes.get(from..).and_then(|rest| needle.find(rest)) {
            let place = from + found;
            // Forward from the last one: by steps that double, then closely.
            let mut step = 1;
            while starts.get(at + step).is_some_and(|start| *start as usize <= place) {
                step *= 2;
            }
            let near = starts.get(at..(at + step).min(starts.len())).unwrap_or_default();
            at += near.partition_point(|start| *start as usize <= place) - 1;
            let start = starts.get(at).map_or(0, |start| *start as usize);
            if let Some(verdict) = verdicts.get_mut(at).filter(|verdict| **verdict == NeedleMatch::Fails) {
                let passes = decides.is_some_and(|len| {
                    let loc = self.records.get(rows.start as usize + at).and_then(Record::loc_place);
                    loc.is_some_and(|loc| start + loc.start <= place && place + len <= start + loc.end)
                });
                *verdict = if passes { NeedleMatch::Passes } else { NeedleMatch::Open };
            }
            at += 1;
            let Some(next) = starts.get(at) else { break };
            from = *next as usize;
        }
        verdicts
    }

    /// For each of these rows, whether its URL may be another text than the bytes of its file show: it must be asked then.
    fn not_as_written(&self, rows: &Range<u32>) -> Vec<NeedleMatch> {
        const UNCLEAR: u16 = Flags::LOC_ESCAPED.0 | Flags::LOC_FAR.0;
        let mut unclear = vec![NeedleMatch::Fails; rows.len()];
        for page in rows.start as usize / PAGE..(rows.end as usize).div_ceil(PAGE) {
            let (locs, raws) = (self.overrides[Field::Loc.index()].page(page), self.raws.page(page));
            // Nearly always nobody wrote to a page, and all such pages are one.
            let is_edited = locs.iter().chain(raws).any(|id| *id != ValueId::NONE);
            for (slot, record) in self.records.page(page).iter().enumerate() {
                let id = |ids: &[ValueId]| ids.get(slot).is_some_and(|id| *id != ValueId::NONE);
                if record.flags.0 & UNCLEAR != 0 || (is_edited && (id(locs) || id(raws))) {
                    let place = (page * PAGE + slot).checked_sub(rows.start as usize);
                    if let Some(unclear) = place.and_then(|place| unclear.get_mut(place)) {
                        *unclear = NeedleMatch::Open;
                    }
                }
            }
        }
        unclear
    }
}
