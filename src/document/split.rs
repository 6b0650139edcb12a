//! The document as the next save writes it: deleted rows removed, files over a limit split into new ones.
//!
//! Row ids and file ids stay the same, so undo and data kept per row or file stay valid. New files are appended; their
//! paths are assigned elsewhere.

use super::Document;
use super::frame::{declarations, part_frame};
use super::rows::{RowId, RowList};
use super::sitemap::{Sitemap, SitemapId};
use super::source::Source;
use crate::protocol::limits::{Limits, NEWS_PER_FILE};
use crate::protocol::namespace::{self, Namespace};
use crate::xml::markup;
use crate::xml::names::FileKind;
use crate::xml::record::Flags;
use std::sync::Arc;

/// A document whose files respect the limits.
#[derive(Debug, Clone)]
pub(crate) struct SplitResult {
    /// No file exceeds a limit, unless it contains an oversized row.
    pub document: Document,
    /// New files, each with the file that it was split from. They have no path yet.
    pub parts: Vec<(SitemapId, SitemapId)>,
    /// Rows that no file can hold, with the size of the smallest file that would.
    pub oversized: Vec<(RowId, u64)>,
}

/// Drops deleted rows and splits files that are over a limit.
///
/// Such a file keeps as many of its first rows as both limits allow; the rest goes to new files in order, each filled
/// to the limit. Sizes are those of the finished files: head, entries, tail.
///
/// A file that equals its version in `saved` keeps its bytes even over a limit.
pub(crate) fn split_files(document: &Document, saved: Option<&Document>, limits: Limits) -> SplitResult {
    let mut split = SplitResult { document: document.clone(), parts: Vec::new(), oversized: Vec::new() };
    split.document.pending_split = None;
    for (number, sitemap) in document.sitemaps().iter().enumerate() {
        let id = SitemapId(number as u32);
        let saved_sitemap = saved.and_then(|saved| saved.sitemaps().get(number));
        if saved_sitemap.is_some_and(|saved_sitemap| Arc::ptr_eq(saved_sitemap, sitemap)) {
            continue;
        }
        if sitemap.rows.len() != sitemap.live as usize {
            let live = sitemap.rows.iter().filter(|row| document.is_live(*row)).map(|row| row.0);
            let rows = RowList::from_ids(live);
            split.document.change_sitemap(id, |sitemap| sitemap.rows = rows);
        }
        // A table is not a sitemap and has no limits. An index whose entries are shown as rows cannot be split here.
        let limited = !matches!(sitemap.frame.names.kind, FileKind::Table | FileKind::Index);
        let is_over =
            || sitemap.live > limits.urls || sitemap.bytes() > limits.bytes || exceeds_news_limit(document, sitemap);
        if sitemap.separate_news || (limited && is_over()) {
            split.split_file(id, limits);
        }
    }
    split
}

/// Whether a file has more news entries than the limit.
pub(super) fn exceeds_news_limit(document: &Document, sitemap: &Sitemap) -> bool {
    let is_news = |row: &RowId| document.is_live(*row) && document.record(*row).flags.contains(Flags::NEWS);
    sitemap.live > NEWS_PER_FILE && sitemap.rows.iter().filter(is_news).count() > NEWS_PER_FILE as usize
}

/// The frame of a file without the declaration of the news namespace; `None` if something in the file uses it.
fn without_news(document: &Document, id: SitemapId) -> Option<Source> {
    let sitemap = document.sitemap(id)?;
    let frame = &sitemap.frame;
    let is_news = |uri: &str| namespace::classify(uri.trim()) == Namespace::News;
    let (name, _) = declarations(&frame.names).find(|(_, uri)| is_news(uri))?;
    let mark = format!("{}:", name.trim_start_matches("xmlns:"));
    let finder = memchr::memmem::Finder::new(&mark);
    let (head, tail) = (frame.head(true), frame.tail(true));
    let (start, tag) = (frame.root_start(), frame.root_tag());
    let after = head.get(start + tag.len()..).unwrap_or_default();
    let is_used = |text: &[u8]| finder.find(text).is_some();
    if is_used(after) || is_used(&tail) || sitemap.rows.iter().any(|row| is_used(&document.entry_text(row))) {
        return None;
    }
    // Cuts the attribute from the whitespace before it to its closing quote.
    let at = memchr::memmem::find(tag, name.as_bytes())?;
    let blank = tag.get(..at)?.iter().rposition(|byte| !markup::is_space(*byte))? + 1;
    let open = at + tag.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let close = open + 1 + tag.get(open + 1..)?.iter().position(|byte| Some(byte) == tag.get(open))?;
    let root = [tag.get(..blank)?, tag.get(close + 1..)?].concat();
    Source::framed(&[head.get(..start)?, &root, after].concat(), &tail)
}

/// Rows collected for one part.
#[derive(Default)]
struct FilledPart {
    rows: Vec<u32>,
    bytes: u64,
    news: u32,
}

impl SplitResult {
    /// Distributes the rows of a file, all of them live.
    pub(super) fn split_file(&mut self, id: SitemapId, limits: Limits) {
        let Some(sitemap) = self.document.sitemap(id).cloned() else { return };
        let frame = Arc::new(part_frame(&sitemap.frame));
        let overhead = |source: &Source| (source.head(true).len() + source.tail(true).len()) as u64;
        // The first file keeps its own head and tail with all comments.
        let (own_overhead, new_overhead) = (overhead(&sitemap.frame), overhead(&frame));
        let mut files = vec![FilledPart::default()];
        let is_separated =
            |row: &RowId| sitemap.separate_news && self.document.record(*row).flags.contains(Flags::NEWS);
        let (news, rest): (Vec<RowId>, Vec<RowId>) = sitemap.rows.iter().partition(is_separated);
        let (first_news, mut starts_news) = (rest.len(), !news.is_empty() && !rest.is_empty());
        for (number, row) in rest.into_iter().chain(news).enumerate() {
            // The first news entry begins a new file.
            if starts_news && number == first_news {
                starts_news = false;
                files.push(FilledPart::default());
            }
            let len = self.document.entry_text(row).len() as u64;
            let available = limits.bytes.saturating_sub(if files.len() == 1 { own_overhead } else { new_overhead });
            let is_news = self.document.record(row).flags.contains(Flags::NEWS);
            let Some(last) = files.last_mut() else { return };
            let is_full = last.rows.len() as u64 >= u64::from(limits.urls)
                || last.bytes + len > available
                || (is_news && last.news >= NEWS_PER_FILE);
            if is_full {
                if new_overhead + len > limits.bytes {
                    self.oversized.push((row, new_overhead + len));
                }
                if last.rows.is_empty() {
                    // The row does not fit even into this empty file: it stays in it and is reported.
                    self.oversized.push((row, own_overhead + len));
                } else {
                    files.push(FilledPart::default());
                }
            }
            if let Some(last) = files.last_mut() {
                last.rows.push(row.0);
                last.bytes += len;
                last.news += u32::from(is_news);
            }
        }
        self.oversized.dedup_by_key(|(row, _)| *row);
        let mut files = files.into_iter();
        if let Some(first) = files.next() {
            self.document.change_sitemap(id, |sitemap| set_rows(sitemap, &first));
        }
        if sitemap.separate_news
            && let Some(frame) = without_news(&self.document, id)
        {
            self.document.change_sitemap(id, |sitemap| sitemap.frame = Arc::new(frame));
        }
        for filled in files {
            let part = self.document.add_sitemap(Sitemap {
                path: None,
                url: None,
                frame: Arc::clone(&frame),
                rows: RowList::default(),
                quirks: Arc::default(),
                accepted: false,
                separate_news: false,
                ..sitemap.clone()
            });
            self.document.change_sitemap(part, |sitemap| set_rows(sitemap, &filled));
            for row in &filled.rows {
                self.document.set_file(RowId(*row), part);
            }
            self.parts.push((part, id));
        }
    }
}

fn set_rows(sitemap: &mut Sitemap, filled: &FilledPart) {
    sitemap.separate_news = false;
    sitemap.rows = RowList::from_ids(filled.rows.iter().copied());
    sitemap.live = filled.rows.len() as u32;
    sitemap.entry_bytes = filled.bytes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::edit::Edit;
    use crate::document::fixture::{self, document, source};
    use crate::progress::Progress;
    use proptest::prelude::*;

    fn written(document: &Document, id: SitemapId) -> String {
        String::from_utf8(fixture::written(document, id)).unwrap()
    }

    #[test]
    fn a_part_copies_the_root_without_comments() {
        let table = [
            (
                "\u{feff}<?xml version='1.0'?>\r\n<?xml-stylesheet href='a.xsl'?>\r\n<!-- part 1 -->\r\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:image='i'>\r\n<!-- banner -->\r\n <url/>\r\n <!-- end -->\r\n</urlset>\r\n<!-- bye -->\r\n",
                "<?xml version='1.0'?>\r\n<?xml-stylesheet href='a.xsl'?>\r\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:image='i'>\r\n</urlset>\r\n",
            ),
            (
                "<sm:urlset xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'/>",
                "<sm:urlset xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'>\n</sm:urlset>",
            ),
            ("<!DOCTYPE urlset><urlset ><url/></urlset >", "<!DOCTYPE urlset><urlset ></urlset >"),
        ];
        for (text, expected) in table {
            let frame = part_frame(&source(text).0);
            assert_eq!(std::str::from_utf8(frame.bytes()).unwrap(), expected);
            assert!(frame.is_empty());
        }
    }

    #[test]
    fn a_file_holds_a_thousand_news_entries() {
        let root = "<urlset xmlns:n=\"http://www.google.com/schemas/sitemap-news/0.9\">";
        let url = |number: u32| {
            // Every second entry is news.
            let news = if number.is_multiple_of(2) { "<n:news/>" } else { "" };
            format!("<url><loc>http://e/{number}</loc>{news}</url>")
        };
        for (entries, expected) in [(2_000, vec![2_000]), (2_001, vec![2_000, 1]), (4_002, vec![2_000, 2_000, 2])] {
            let urls: Vec<String> = (0..entries).map(url).collect();
            let split = split_files(&document(&[format!("{root}{}</urlset>", urls.concat())]), None, Limits::default());
            let live: Vec<u32> = split.document.sitemaps().iter().map(|sitemap| sitemap.live).collect();
            assert_eq!(live, expected);
        }
    }

    #[test]
    fn rows_are_unchanged_when_their_file_is_split() {
        let urls: Vec<String> = (0..5).map(|number| format!("\n<url><loc>http://e/{number}</loc></url>")).collect();
        let before = document(&[format!("<urlset>{}\n</urlset>", urls.concat())]);
        let edit = Edit::Delete([1].into_iter().collect());
        let edited = before.apply(&edit, &Progress::default()).unwrap().document;
        let split = split_files(&edited, None, Limits { urls: 2, bytes: 1_000, ..Limits::default() });
        assert_eq!(split.parts, [(SitemapId(1), SitemapId(0))]);
        let rows: Vec<u32> = split.document.rows().map(|row| row.0).collect();
        assert_eq!(rows, [0, 2, 3, 4]);
        assert_eq!(split.document.sitemap_of(RowId(3)), SitemapId(1));
        assert_eq!(split.document.live(), 4);
        assert!(
            written(&split.document, SitemapId(1))
                .ends_with("<urlset>\n<url><loc>http://e/3</loc></url>\n<url><loc>http://e/4</loc></url>\n</urlset>")
        );
        // A row added to the new part is written there.
        let insert = Edit::Insert {
            sitemap: SitemapId(1),
            after: Some(RowId(4)),
            entries: vec![super::super::edit::NewEntry::Values([Some("http://e/5".into()), None, None, None])],
        };
        let added = split.document.apply(&insert, &Progress::default()).unwrap();
        assert_eq!(added.document.sitemap_of(added.added[0]), SitemapId(1));
        assert!(written(&added.document, SitemapId(1)).contains("http://e/5"));
    }

    proptest! {
        /// Every file is within both limits and the rows keep their order, for all sizes.
        #[test]
        fn parts_keep_the_limits_and_the_order(
            sizes in proptest::collection::vec(0usize..120, 0..30),
            urls in 1u32..6,
            bytes in 150u64..600,
            comment in 0usize..200,
        ) {
            let head = format!("<urlset xmlns='u'><!--{}-->", "c".repeat(comment));
            let rows: Vec<String> = sizes.iter().map(|size| format!("<url><loc>{}</loc></url>", "x".repeat(*size))).collect();
            let before = document(&[format!("{head}{}</urlset>", rows.concat())]);
            let limits = Limits { urls, bytes, ..Limits::default() };
            let split = split_files(&before, None, limits);
            prop_assert!(split.document.live_rows().eq(before.live_rows()));
            for number in 0..split.document.sitemaps().len() as u32 {
                let sitemap = split.document.sitemap(SitemapId(number)).unwrap();
                let text = written(&split.document, SitemapId(number));
                prop_assert_eq!(text.len() as u64, sitemap.bytes());
                prop_assert_eq!(sitemap.rows.len(), sitemap.live as usize);
                prop_assert!(sitemap.live <= urls);
                let excused = sitemap.rows.iter().any(|row| split.oversized.iter().any(|(other, _)| *other == row));
                prop_assert!(sitemap.bytes() <= bytes || excused || sitemap.live == 0, "{}", text);
                // No file is left half-empty before the last: the next row would not have fitted.
                if number > 0 && number + 1 < split.document.sitemaps().len() as u32 && sitemap.live < urls {
                    let next = split.document.sitemap(SitemapId(number + 1)).unwrap().rows.get(0).unwrap();
                    prop_assert!(sitemap.bytes() + split.document.entry_text(next).len() as u64 > bytes);
                }
            }
            if sizes.len() <= urls as usize && before.sitemap(SitemapId(0)).unwrap().bytes() <= bytes {
                prop_assert!(split.parts.is_empty());
            }
        }
    }
}
