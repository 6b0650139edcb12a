//! Scans lists and tables: their entries are lines and records.

use super::{ENTRIES_PER_CHECK, Scan, Visit};
use crate::progress::Progress;
use crate::xml::grid::{Grid, MARK, line_end};
use crate::xml::names::{FileKind, Names};

/// Scans a list, or a table of a known layout. Offsets have 32 bits: `bytes` must be at most 4 GiB.
pub fn scan_grid(bytes: &[u8], table: Option<&Grid>, visitor: &mut impl Visit, progress: &Progress) -> Scan {
    let mut at = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    let grid = table.cloned().unwrap_or_else(|| Grid::list(line_end(bytes.get(at..).unwrap_or_default())));
    if grid.delimiter.is_some() && !grid.is_headless {
        at = grid.next(bytes, at).map_or(bytes.len(), |(_, _, after)| after);
    }
    let mut scan = Scan { root: grid_name(&grid).to_owned(), starts: vec![at as u32], ..Scan::default() };
    let names = Names::of_grid(grid.clone());
    let mut last_report = (0, 0);
    let mut lead = at;
    while let Some((_, _, after)) = grid.next(bytes, at) {
        let text = bytes.get(lead..after).unwrap_or_default();
        visitor.entry(text, &grid.entry(text), &names);
        scan.starts.push(after as u32);
        (at, lead) = (after, after);
        let entries = scan.entries();
        if entries - last_report.0 >= ENTRIES_PER_CHECK {
            progress.advance((entries - last_report.0) as u64, (after - last_report.1) as u64);
            last_report = (entries, after);
            if progress.is_cancelled() {
                scan.cancelled = true;
                break;
            }
        }
    }
    progress.advance((scan.entries() - last_report.0) as u64, (bytes.len() - last_report.1) as u64);
    scan.names = Some(names);
    scan
}

const fn grid_name(grid: &Grid) -> &'static str {
    if grid.delimiter.is_some() { FileKind::Table.root_name() } else { FileKind::List.root_name() }
}
