//! Finds the lines and columns of repairs in the file as stored.

use crate::document::quirk::Quirk;
use crate::document::source::{Anchor, Lines};
use crate::xml::defect::FoundDefect;
use rayon::prelude::*;

/// Finds the positions of anchors, and adds repairs with their positions to `quirks`. `lines` counts the lines of the
/// bytes that were repaired.
pub(super) fn locate<'b>(
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
