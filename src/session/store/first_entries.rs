//! Sets of which most files have only their first entries in memory, for reports that mostly count findings.
//!
//! Every row has its record, its findings and its keys. The text of later rows is read again where it is needed: URLs that
//! are compared with each other, here; entries whose findings need a message, by [`show_whole`].

use crate::document::kept_locs::RowLocs;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::SitemapId;
use crate::document::unload;
use crate::files::{self, Buffers, Loaded, Options, Piece, Reason, StoredEntries};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::location::{NO_KEY, key_hash};
use crate::session::Session;
use crate::session::file_fixes;
use crate::session::row_lines::field_offset;
use crate::session::store::load;
use crate::xml::entry::Entry;
use crate::xml::fast_path;
use crate::xml::names::Names;
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// URLs that were read again.
#[derive(Default)]
struct RereadUrls {
    locs: RowLocs,
    /// The line of each URL in its file, after the number of its row; ascending.
    lines: Vec<(u32, u32)>,
}

/// Opens a set as [`load::open_to_report`] does, for a report that mostly counts findings. Only bytes that stay
/// in memory count towards the limit.
///
/// # Errors
/// As there, or a file has changed before the parts that are needed were read again.
pub(crate) fn open_to_count(
    session: Session,
    paths: &[PathBuf],
    options: Options,
    max_held_bytes: u64,
    progress: &Progress,
) -> Result<Option<Session>, files::Error> {
    let options = Options { max_held_bytes, buffers: Buffers::windows(), ..options };
    let loader = session.loader(options).comparing_late();
    let Some((mut session, loaded)) = load::load_within(session, &loader, paths, progress)? else { return Ok(None) };
    if !session.document().is_streamed() {
        session.finish(loaded);
        return Ok(Some(session));
    }
    let is_finished = finish(&mut session, loaded, &loader.options, progress)?;
    Ok(is_finished.then_some(session))
}

/// Ends a load, as [`Session::finish`] does, after reading again what findings about files and about several rows need.
/// False if files that must be in memory as a whole exceed the limit.
fn finish(session: &mut Session, loaded: Loaded, options: &Options, progress: &Progress) -> Result<bool, files::Error> {
    read_missing_keys(session)?;
    if let Some(rows) = load::rows_to_compare(session) {
        keep_urls(session, &rows)?;
        let state = &mut session.current.state;
        state.checks.compare(&state.document, &rows);
    }
    let profile = session.current.checks.profile();
    let knows_origins = session.current.checks.set().knows_origins();
    let in_new_buffers = Options { buffers: Buffers::New, ..options.clone() };
    for id in partial_files(session) {
        let searched = file_fixes::searched_prefixes(session.document(), id, profile);
        if !knows_origins || mentions_any(session, id, &searched)? {
            progress.hold(file_len(session, id));
            if options.is_over_limit(progress.read()) {
                return Ok(false);
            }
            restore(session, id, &in_new_buffers)?;
        }
    }
    load::finish_compared(session, loaded);
    Ok(true)
}

/// The number of bytes of a file as stored.
fn file_len(session: &Session, id: SitemapId) -> u64 {
    let path = session.document().sitemap(id).and_then(|sitemap| sitemap.path.as_deref());
    path.and_then(|path| session.disk.get(path)).map_or(0, |on_disk| on_disk.len)
}

/// Whether an entry of a partial file mentions one of these prefixes. Notes those that no entry mentions.
fn mentions_any(session: &Session, id: SitemapId, prefixes: &[&str]) -> Result<bool, files::Error> {
    let (Some(file), Some(source)) = (PartialFile::of(session, id), session.document().source_of(id)) else {
        return Ok(false);
    };
    let mut absent: HashSet<&[u8]> = prefixes.iter().map(|prefix| prefix.as_bytes()).collect();
    file.remove_mentioned(&mut absent)?;
    source.note_absent_prefixes(absent.iter().copied().map(Into::into));
    Ok(absent.len() < prefixes.len())
}

/// Files of which only the first entries are in memory.
fn partial_files(session: &Session) -> Vec<SitemapId> {
    let files = (0..session.document().sitemaps().len() as u32).map(SitemapId);
    files.filter(|id| session.document().is_partial(*id)).collect()
}

/// Shows a file with all its entries.
///
/// # Errors
/// That of `show`, or that the file cannot be read or has changed.
pub(crate) fn show_whole<E: From<files::Error>>(
    session: &mut Session,
    id: SitemapId,
    options: &Options,
    show: impl FnOnce(&Session) -> Result<(), E>,
) -> Result<(), E> {
    if !session.document().is_partial(id) {
        return show(session);
    }
    let partial = session.document().clone();
    restore(session, id, options)?;
    let result = show(session);
    let whole = std::mem::replace(&mut session.current.state.document, partial);
    options.buffers.recycle(unload::into_bytes(whole, id));
    result
}

/// Makes all entries of a file resident.
fn restore(session: &mut Session, id: SitemapId, options: &Options) -> Result<(), files::Error> {
    let stored = stored_entries(session, id).map(|stored| stored.read(options)).transpose()?;
    let document = &mut session.current.state.document;
    let is_restored = stored.is_some_and(|(bytes, anchors)| unload::restore(document, id, bytes, anchors));
    if is_restored {
        return Ok(());
    }
    let path = session.document().sitemap(id).and_then(|sitemap| sitemap.path.clone()).unwrap_or_default();
    Err(files::Error::new(&path, Reason::Changed))
}

/// The entries of a file of which only the first are in memory.
fn stored_entries(session: &Session, id: SitemapId) -> Option<StoredEntries<'_>> {
    let path = session.document().sitemap(id)?.path.as_deref()?;
    let (on_disk, starts) = (session.disk.get(path)?, unload::starts_of(session.document(), id)?);
    Some(StoredEntries { on_disk, starts, repaired: session.repaired_windows.get(&id) })
}

/// Reads the URLs of files whose keys were not kept, if other files have alternate links: these may lead to their rows.
fn read_missing_keys(session: &mut Session) -> Result<(), files::Error> {
    let Some(mut uncompared) = session.uncompared.take() else { return Ok(()) };
    if session.current.checks.set().has_links() {
        for id in partial_files(session) {
            let keys = uncompared.keys.get_mut(id.index()).filter(|keys| keys.is_none());
            if let Some((keys, file)) = keys.zip(PartialFile::of(session, id)) {
                *keys = Some(file.keys()?);
            }
        }
    }
    session.uncompared = Some(uncompared);
    Ok(())
}

/// Reads the URLs of rows that are compared with each other again, with their lines, which findings name.
fn keep_urls(session: &mut Session, rows: &RowSet) -> Result<(), files::Error> {
    let of_file = |id: &SitemapId| {
        let file = PartialFile::of(session, *id)?;
        let entries = rows.range(file.first..file.first + file.stored.len()).map(|row| row - file.first);
        Some(file.urls(&entries.collect::<Vec<_>>()))
    };
    let files: Vec<RereadUrls> = partial_files(session).par_iter().filter_map(of_file).collect::<Result<_, _>>()?;
    let mut urls = RereadUrls::default();
    for of_file in files {
        urls.locs.append(&of_file.locs);
        urls.lines.extend(of_file.lines);
    }
    session.known_lines = Arc::new(urls.lines);
    unload::keep_locs(&mut session.current.state.document, urls.locs);
    Ok(())
}

/// A file of which only the first entries are in memory.
struct PartialFile<'f> {
    stored: StoredEntries<'f>,
    names: &'f Names,
    /// Its first row.
    first: u32,
}

impl<'f> PartialFile<'f> {
    fn of(session: &'f Session, id: SitemapId) -> Option<Self> {
        let document = session.document();
        let sitemap = document.sitemap(id)?;
        let stored = stored_entries(session, id)?;
        Some(Self { stored, names: &sitemap.frame.names, first: sitemap.rows.iter().next()?.0 })
    }

    /// The URLs of entries, by ascending number, with their lines.
    fn urls(&self, entries: &[u32]) -> Result<RereadUrls, files::Error> {
        let mut urls = RereadUrls { lines: Vec::with_capacity(entries.len()), ..RereadUrls::default() };
        self.each_url(entries, |entry, line, loc| {
            let row = RowId(self.first + entry);
            urls.locs.push(row, loc);
            urls.lines.push((row.0, line));
        })?;
        Ok(urls)
    }

    /// The hashes of the normalised URLs of all entries.
    fn keys(&self) -> Result<Vec<u64>, files::Error> {
        let entries: Vec<u32> = (0..self.stored.len()).collect();
        let mut keys = vec![NO_KEY; entries.len()];
        self.each_url(&entries, |entry, _, loc| {
            if let Some(key) = keys.get_mut(entry as usize) {
                *key = key_hash(loc);
            }
        })?;
        Ok(keys)
    }

    /// Removes the prefixes that an entry mentions.
    fn remove_mentioned(&self, prefixes: &mut HashSet<&[u8]>) -> Result<(), files::Error> {
        if prefixes.is_empty() {
            return Ok(());
        }
        let head = self.stored.start(0);
        let entries: Vec<u32> = (0..self.stored.len()).collect();
        self.stored.each_piece(&entries, |Piece { bytes, start, .. }| {
            let entries = bytes.get(head.saturating_sub(start) as usize..).unwrap_or_default();
            file_fixes::remove_mentioned(prefixes, entries);
            !prefixes.is_empty()
        })
    }

    /// Visits those of the given entries, by ascending number, that have a URL: the entry, the line of its URL, and the
    /// URL.
    fn each_url(&self, entries: &[u32], mut visit: impl FnMut(u32, u32, &str)) -> Result<(), files::Error> {
        let mut wanted = entries.iter().copied().peekable();
        self.stored.each_piece(entries, |Piece { bytes, start, lines }| {
            let end = start + bytes.len() as u32;
            while let Some(entry) = wanted.next_if(|entry| self.stored.start(*entry) < end) {
                let at = (self.stored.start(entry) - start) as usize;
                let text = bytes.get(at..(self.stored.start(entry + 1) - start) as usize).unwrap_or_default();
                if let Some((offset, loc)) = fast_path::first_loc(text, self.names) {
                    visit(entry, lines.position(at + offset).line, loc);
                    continue;
                }
                let parsed = Entry::of(text, self.names);
                let Some(loc) = parsed.value(Field::Loc, text) else { continue };
                let line = lines.position(at + field_offset(&parsed, Some(Field::Loc))).line;
                visit(entry, line, &loc);
            }
            wanted.peek().is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rule::Rule;
    use crate::check::set::SetRule;
    use crate::protocol::lastmod::Now;
    use crate::session::located_finding::LocatedFinding;
    use crate::session::report::{InWords, Reporter};
    use crate::session::row_lines::offset_of_loc;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;

    const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

    fn open(path: &Path) -> Session {
        let (session, paths) = (Session::new(NOW, None), [path.to_path_buf()]);
        open_to_count(session, &paths, Options::default(), u64::MAX, &Progress::default()).unwrap().unwrap()
    }

    /// A sitemap with these URLs, each followed by some bytes.
    fn write(path: &Path, rows: &[(String, String)]) {
        let rows: Vec<String> = rows.iter().map(|(loc, rest)| format!("<url><loc>{loc}</loc></url>{rest}")).collect();
        let root = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        fs::write(path, format!("{root}{}</urlset>\n", rows.concat())).unwrap();
    }

    proptest! {
        #[test]
        fn urls_and_lines_equal_those_of_the_whole_file(
            rests in prop::collection::vec((0..60_usize, prop::sample::select(vec!["", "\n", "\r\n", "\r", "\n\n \n"])), 8..80),
            repeated in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
            damaged in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let row = |(number, (len, line_end)): (usize, &(usize, &str))| {
                (format!("https://e.com/{number}/{}", "x".repeat(*len)), (*line_end).to_owned())
            };
            let mut rows: Vec<(String, String)> = rests.iter().enumerate().map(row).collect();
            for index in damaged {
                rows[index.index(rests.len())].0.push_str("&b");
            }
            // Equal URLs are compared.
            for index in repeated {
                rows[index.index(rests.len())].0 = "https://e.com/same".to_owned();
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sitemap.xml");
            write(&path, &rows);
            let partial = open(&path);
            let whole = load::open(&path, Options::default(), NOW).unwrap();
            let whole = whole.document();
            prop_assert!(partial.document().is_partial(SitemapId(0)));
            let same = rows.iter().filter(|(loc, _)| loc.ends_with("/same")).count();
            let mut compared = 0;
            for row in (0..rows.len() as u32).map(RowId) {
                let loc = partial.document().loc(row);
                if loc.is_empty() {
                    prop_assert!(same == 1 || whole.loc(row) != "https://e.com/same");
                    continue;
                }
                prop_assert_eq!(&loc, &whole.loc(row));
                let (source, entry) = whole.origin(row).unwrap();
                let line = source.lines().position(offset_of_loc(source, entry)).line;
                if let Ok(at) = partial.known_lines.binary_search_by_key(&row.0, |(row, _)| *row) {
                    prop_assert_eq!(partial.known_lines[at].1, line);
                    compared += 1;
                }
            }
            prop_assert_eq!(compared, if same > 1 { same } else { 0 });
        }
    }

    /// The file that begins to list alternate links is not the first one, so that the hashes of earlier URLs are missing.
    #[test]
    fn links_lead_to_rows_of_files_that_declare_none() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let url = |row: u32, links: &str| format!("<url><loc>https://e.com/{row}</loc>{links}</url>");
        let link = |row: u32| format!("<x:link rel=\"alternate\" hreflang=\"h{row}\" href=\"https://e.com/{row}\"/>");
        let root = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
        // These links have no answer, and some lead to no row.
        let linked: String = (100..140).map(|row| url(row, &format!("{}{}", link(row), link(row - 60)))).collect();
        write("b.xml", &format!("{root} xmlns:x=\"http://www.w3.org/1999/xhtml\">{linked}</urlset>"));
        let members: String =
            ["a", "b"].map(|name| format!("<sitemap><loc>https://e.com/{name}.xml</loc></sitemap>")).concat();
        write("index.xml", &format!("{}>{members}</sitemapindex>", root.replace("urlset", "sitemapindex")));
        let path = folder.path().join("index.xml");
        for damage in ["", "<lastmod>a&b</lastmod>"] {
            let unlinked: String = (0..60).map(|row| url(row, if row % 50 == 20 { damage } else { "" })).collect();
            write("a.xml", &format!("{root}>{unlinked}</urlset>"));
            let (partial, whole) = (open(&path), load::open(&path, Options::default(), NOW).unwrap());
            assert!([0, 1].map(SitemapId).iter().all(|id| partial.document().is_partial(*id)));
            let counts = |session: &Session| session.current.checks.counts();
            assert_eq!(counts(&partial), counts(&whole));
            let flagged = |session: &Session, rule: SetRule| session.current.checks.set().count_of(rule);
            assert!(flagged(&partial, SetRule::HreflangNoReturn) > 0);
            assert!(flagged(&partial, SetRule::HreflangTargetMissing) > 0);
        }
    }

    /// Files pass through memory in windows. One with text between its entries is read as a whole, and one with an entry that may
    /// use a prefix is read again.
    #[test]
    fn files_in_windows_hardly_count_towards_the_limit() {
        let names = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n\
            xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"";
        let entry = |host: &str, row: u32| format!("<url><loc>https://{host}/{row}</loc></url>");
        let entries = |host: &str| (0..80).map(|row| entry(host, row)).collect::<Vec<_>>().concat();
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|host| folder.path().join(format!("{host}.xml")));
        let loads = |last: &str, limit: u64| {
            for (path, host) in paths.iter().zip(["a.e", "b.e"]) {
                fs::write(path, format!("<urlset {names}>{}{last}</urlset>\n", entries(host))).unwrap();
            }
            let session = Session::new(NOW, None);
            open_to_count(session, &paths, Options::default(), limit, &Progress::default()).unwrap().is_some()
        };
        let last = ["", "text", "<url><priority>0.5</priority><loc>https://a.e/</loc><!-- image: --></url>"];
        for (last, is_whole) in last.into_iter().zip([false, true, true]) {
            assert_eq!(loads(last, 1_000), !is_whole, "{last}");
            assert!(loads(last, 7_000) && !loads(last, 200), "{last}");
        }
    }

    #[test]
    fn a_file_is_whole_only_while_it_is_shown() {
        check_shown("");
        check_shown("?a&b");
    }

    /// Shows a file in which this text follows two of the URLs.
    fn check_shown(damage: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        let row = |number: u32| format!("https://e.com/{number}{}", if number % 50 == 20 { damage } else { "" });
        let rows: Vec<(String, String)> = (0..80).map(|number| (row(number), String::new())).collect();
        write(&path, &rows);
        let (mut session, options) = (open(&path), Options { buffers: Buffers::reused(), ..Options::default() });
        let id = SitemapId(0);
        let whole = load::open(&path, Options::default(), NOW).unwrap();
        let has_record =
            |session: &Session, row: u32| session.document().record(RowId(row)) == whole.document().record(RowId(row));
        for _ in 0..2 {
            assert!(has_record(&session, 0) && !has_record(&session, 79));
            let show = |session: &Session| {
                assert!(!session.document().is_partial(id));
                assert!((0..80).all(|row| session.document().loc(RowId(row)) == rows[row as usize].0));
                assert!((0..80).all(|row| has_record(session, row)));
                Ok::<(), files::Error>(())
            };
            show_whole(&mut session, id, &options, show).unwrap();
            assert!(session.document().is_partial(id));
            assert_eq!(options.buffers.len(), 1);
        }
        write(&path, &rows[1..]);
        let changed = show_whole(&mut session, id, &options, |_| Ok::<(), files::Error>(()));
        assert!(changed.unwrap_err().to_string().contains("has changed"));
    }

    #[test]
    fn rows_whose_text_is_not_in_memory_are_reported_as_unread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        let rows: Vec<_> = (0..80).map(|row| (format!("https://e.com/{row}#a"), String::new())).collect();
        write(&path, &rows);
        let partial = open(&path);
        let mut found = Vec::new();
        let mut all = InWords(|of_rows: Vec<LocatedFinding>| {
            found.extend(of_rows.iter().filter_map(LocatedFinding::row));
            Ok::<(), ()>(())
        });
        let unread = Reporter::new(&partial).each_of_sitemap(&partial, (SitemapId(0), None), &mut all).unwrap();
        assert!(!found.is_empty() && found.iter().all(|row| !partial.document().loc(*row).is_empty()));
        assert!(found.iter().chain(&unread).copied().eq((0..80).map(RowId)), "{found:?} {unread:?}");
    }

    /// Findings about hosts need the origin of each row, not its URL.
    #[test]
    fn a_file_with_thousands_of_hosts_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        let rows: Vec<_> = (0..3_000).map(|row| (format!("https://h{row}.e.com/"), String::new())).collect();
        write(&path, &rows);
        let (partial, whole) = (open(&path), load::open(&path, Options::default(), NOW).unwrap());
        assert!(partial.document().is_partial(SitemapId(0)));
        assert_eq!(partial.current.checks.counts(), whole.current.checks.counts());
        assert_eq!(partial.current.checks.set().count_of(SetRule::MixedHost), 2_999);
    }

    /// Records do not show whether rows with anomalies use a prefix. Their text is searched, and read as a whole only if
    /// one of them mentions the prefix.
    #[test]
    fn prefixes_that_no_entry_mentions_are_searched_for_without_restoring_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        let entry =
            |row: u32, note: &str| format!("<url><priority>0.5</priority><loc>https://e.com/{row}</loc>{note}</url>\n");
        let names = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n\
            xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"\n\
            xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\"";
        let unused = |session: &Session| {
            let messages = session.file_findings.iter().filter(|found| found.rule == Rule::NS_DECLARED_UNUSED);
            messages.map(|found| found.message.clone()).collect::<Vec<_>>()
        };
        for (note, is_partial) in [("", true), ("<!-- image: -->", false)] {
            let entries: String = (0..80).map(|row| entry(row, if row == 60 { note } else { "" })).collect();
            fs::write(&path, format!("<urlset {names}>{entries}</urlset>\n")).unwrap();
            let (partial, whole) = (open(&path), load::open(&path, Options::default(), NOW).unwrap());
            assert_eq!(partial.document().is_partial(SitemapId(0)), is_partial);
            assert_eq!(unused(&partial), unused(&whole));
            assert_eq!(unused(&whole).len(), 1);
        }
    }
}
