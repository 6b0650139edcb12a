//! Finds candidate rows of a query by searching the bytes of whole files for the query's needle.

use super::Document;
use super::query::Needle;
use super::rows::RowId;
use super::source::Source;
use crate::persistent::PAGE;
use crate::progress::Progress;
use crate::xml::record::{Flags, Record};
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of rows in a piece, which one task searches.
const MAX_PIECE_ROWS: u32 = 1 << 13;

/// Result of the needle search for a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NeedleMatch {
    Fails,
    /// The query must be evaluated for the row.
    Open,
    Passes,
}

/// Rows with consecutive ids that were all read from the same source, or all added.
struct Piece<'d> {
    /// Their ids.
    rows: Range<u32>,
    /// The source that they were read from, and the entry of the first row.
    source: Option<(&'d Source, usize)>,
}

/// A search of all files for a needle.
pub(super) struct NeedleSearch<'d> {
    pub(super) document: &'d Document,
    pub(super) needle: Needle,
    /// The needle's length, if every URL that contains it passes.
    pub(super) decides: Option<usize>,
}

impl NeedleSearch<'_> {
    /// All rows that pass `test`, by ascending id. `test` is called only for rows whose URL may contain the needle and
    /// for which the needle alone does not decide. `None` when cancelled.
    pub(super) fn rows(&self, test: impl Fn(RowId) -> bool + Sync, progress: &Progress) -> Option<Vec<u32>> {
        let search_piece = |piece: Piece<'_>| {
            progress.advance(piece.rows.len() as u64, 0);
            let first = piece.rows.start;
            let row_matches = (first..).zip(self.match_rows(&piece));
            let passes = |(row, row_match): (u32, NeedleMatch)| match row_match {
                NeedleMatch::Fails => None,
                NeedleMatch::Open => test(RowId(row)).then_some(row),
                NeedleMatch::Passes => Some(row),
            };
            (!progress.is_cancelled()).then(|| row_matches.filter_map(passes).collect())
        };
        let found: Vec<Vec<u32>> = pieces(self.document).into_par_iter().map(search_piece).collect::<Option<_>>()?;
        Some(found.concat())
    }

    /// The needle match of each row of a piece.
    fn match_rows(&self, piece: &Piece<'_>) -> Vec<NeedleMatch> {
        let rows = &piece.rows;
        let Some((source, entry)) = piece.source else { return vec![NeedleMatch::Open; rows.len()] };
        let mut row_matches = match_individually(self.document, rows);
        let starts = source.starts().get(entry..=entry + rows.len()).unwrap_or_default();
        let Some((&begin, &end)) = starts.first().zip(starts.last()) else {
            return vec![NeedleMatch::Open; rows.len()];
        };
        let (mut from, mut at) = (begin as usize, 0);
        let bytes = source.bytes().get(..end as usize).unwrap_or_default();
        while let Some(found) = bytes.get(from..).and_then(|rest| self.needle.find(rest)) {
            let position = from + found;
            // Find the entry of the match: galloping search from the last entry.
            let mut step = 1;
            while starts.get(at + step).is_some_and(|start| *start as usize <= position) {
                step *= 2;
            }
            let candidates = starts.get(at..(at + step).min(starts.len())).unwrap_or_default();
            at += candidates.partition_point(|start| *start as usize <= position) - 1;
            let start = starts.get(at).map_or(0, |start| *start as usize);
            if let Some(row_match) = row_matches.get_mut(at).filter(|row_match| **row_match == NeedleMatch::Fails) {
                let passes = self.decides.is_some_and(|len| {
                    let loc = self.document.records.get(rows.start as usize + at).and_then(Record::loc_range);
                    loc.is_some_and(|loc| start + loc.start <= position && position + len <= start + loc.end)
                });
                *row_match = if passes { NeedleMatch::Passes } else { NeedleMatch::Open };
            }
            at += 1;
            let Some(next) = starts.get(at) else { break };
            from = *next as usize;
        }
        row_matches
    }
}

/// All rows of the document, in pieces.
fn pieces(document: &Document) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut add_pieces = |rows: Range<u32>, source| {
        for first in rows.clone().step_by(MAX_PIECE_ROWS as usize) {
            let offset = |source| (source, (first - rows.start) as usize);
            pieces.push(Piece {
                rows: first..first.saturating_add(MAX_PIECE_ROWS).min(rows.end),
                source: Option::map(source, offset),
            });
        }
    };
    let mut end = 0;
    for (first, source) in document.bases.iter().zip(document.sources.iter()) {
        add_pieces(end..*first, None);
        end = (*first).max(end) + source.len() as u32;
        add_pieces(*first..end, Some(source.as_ref()));
    }
    add_pieces(end..document.row_limit(), None);
    pieces
}

/// [`NeedleMatch::Open`] for rows whose URL is not a literal part of the file's bytes (escaped, edited or too far from
/// the start of the entry for its record), so that the search cannot decide.
fn match_individually(document: &Document, rows: &Range<u32>) -> Vec<NeedleMatch> {
    const UNDECIDABLE: Flags = Flags::LOC_ESCAPED.union(Flags::LOC_FAR);
    let mut matches = vec![NeedleMatch::Fails; rows.len()];
    for page in rows.start as usize / PAGE..(rows.end as usize).div_ceil(PAGE) {
        let is_edited = document.overlay.locs_edited_on_page(page);
        for (slot, record) in document.records.page(page).iter().enumerate() {
            if record.flags.intersects(UNDECIDABLE) || is_edited.as_ref().is_some_and(|is_edited| is_edited(slot)) {
                let index = (page * PAGE + slot).checked_sub(rows.start as usize);
                if let Some(matches) = index.and_then(|index| matches.get_mut(index)) {
                    *matches = NeedleMatch::Open;
                }
            }
        }
    }
    matches
}
