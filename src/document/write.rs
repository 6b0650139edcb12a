//! Writes the text of a file: untouched entries copied, edited entries spliced.

use super::Document;
use super::row_cursor::RowBase;
use super::sitemap::{Sitemap, SitemapId};
use super::source::Source;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::escape::escape;
use crate::xml::fast_path;
use crate::xml::splice::{self, Change, Changes};

impl Document {
    /// Calls `write` with the file's bytes in order, untouched neighbours as one run.
    pub fn write_sitemap<E>(&self, id: SitemapId, write: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Some(sitemap) = self.sitemap(id) else { return Ok(()) };
        let open_end = usize::from(sitemap.open_end());
        if open_end == 0 {
            return write_whole(self, sitemap, write);
        }
        // Hold back the last `open_end` bytes, which are dropped at the end of the file.
        let mut held: Vec<u8> = Vec::new();
        write_whole(self, sitemap, &mut |bytes| {
            let (rest, last) = bytes.split_at(bytes.len().saturating_sub(open_end));
            let over = (held.len() + last.len()).saturating_sub(open_end);
            write(&held.drain(..over).collect::<Vec<u8>>())?;
            held.extend_from_slice(last);
            write(rest)
        })
    }
}

fn write_whole<E>(
    document: &Document,
    sitemap: &Sitemap,
    write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    write(&sitemap.frame.head(sitemap.live > 0))?;
    write_rows(document, sitemap, write)?;
    write(&sitemap.frame.tail(sitemap.live > 0))
}

/// Fast path for a row with exactly one changed or new value, if its position is known without parsing the entry.
/// Returns whether the row was written.
fn write_one_change(document: &Document, row: RowBase<'_>, changes: &Changes<'_>, out: &mut Vec<u8>) -> bool {
    let RowBase { row, text, names } = row;
    let mut changed = Field::ALL.into_iter().zip(changes).filter_map(|(field, change)| Some((field, (*change)?)));
    let (Some((field, Change::Set(value))), None) = (changed.next(), changed.next()) else { return false };
    let Some(loc) = document.record(row).plain_loc() else { return false };
    if let Some(range) = fast_path::range_after_loc(text, loc.end, field, names) {
        out.extend_from_slice(text.get(..range.start).unwrap_or_default());
        out.extend_from_slice(escape(value).as_bytes());
        out.extend_from_slice(text.get(range.end..).unwrap_or_default());
        return true;
    }
    let insertion_point = fast_path::insertion_point(text, loc, field, names);
    insertion_point.inspect(|insertion_point| splice::insert(text, *insertion_point, field, value, out)).is_some()
}

/// Calls `write` with the texts of the live rows of a file, untouched neighbours as one run, edited ones as one
/// text.
fn write_rows<E>(
    document: &Document,
    sitemap: &Sitemap,
    write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    /// Bytes of edited rows that are buffered before a write.
    const BUFFER: usize = 1 << 16;
    let names = &sitemap.frame.names;
    let mut cursor = document.row_cursor();
    let mut out = Vec::new();
    let mut pending_run: Option<(&Source, usize, usize)> = None;
    for row in sitemap.rows.iter().filter(|row| document.is_live(*row)) {
        let changes = cursor.overrides(row);
        let is_spliced = changes.iter().any(Option::is_some);
        let origin = if is_spliced { None } else { cursor.origin(row) };
        match (origin, &mut pending_run) {
            (Some((source, entry)), Some((current, _, to))) if std::ptr::eq(source, *current) && *to == entry => {
                *to += 1;
                continue;
            }
            _ => {}
        }
        if let Some((source, from, to)) = pending_run.take() {
            write(source.run(from, to))?;
        }
        if let Some((source, entry)) = origin {
            write(&out)?;
            out.clear();
            pending_run = Some((source, entry, entry + 1));
            continue;
        }
        let row = cursor.of(row);
        if !is_spliced {
            out.extend_from_slice(row.text);
        } else if !write_one_change(document, row, &changes, &mut out) {
            splice::splice(&Entry::of(row.text, names), row.text, names, &changes, &mut out);
        }
        if out.len() >= BUFFER {
            write(&out)?;
            out.clear();
        }
    }
    write(pending_run.map_or(&out, |(source, from, to)| source.run(from, to)))
}
