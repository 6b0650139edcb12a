//! Opens a set for a command and visits it file by file, whether it is in memory or streamed.
//!
//! Commands that read or change sets use [`SetReader`], which visits the same rows in the same order in both cases.
//! Loading is tried first, and stops when the set turns out to need more memory than the limit.

use super::args::Common;
use super::{Failure, Status, Streams};
use crate::document::sitemap::SitemapId;
use crate::files;
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::session::settings::settings_of;
use crate::session::store::{first_entries, load};
use crate::session::stream::bulk::ScanMode;
use crate::session::stream::{Detail, FileRows, StreamedSet, walk};
use std::io::Write;
use std::path::PathBuf;

/// Sets of which more bytes would be in memory are streamed: they are read twice, and need a fifth of the memory.
pub(super) const MEMORY_LIMIT: u64 = 256 << 20;

/// [`MEMORY_LIMIT`], which debug builds can lower so that tests of whole runs can use small sets.
pub(super) fn memory_limit() -> u64 {
    // Not an attribute, so that every profile compiles the same code.
    let lowered = if cfg!(debug_assertions) { std::env::var("SITED_TEST_HELD").ok() } else { None };
    lowered.and_then(|bytes| bytes.parse().ok()).unwrap_or(MEMORY_LIMIT)
}

/// A set that a command reads, in memory or streamed.
pub(super) enum SetReader {
    /// In memory.
    Held(Box<Session>),
    /// The first entries of most files are in memory; the options are those for reading a file again.
    FirstEntries(Box<Session>, Box<files::Options>),
    /// Streamed, after a first pass for the set rules. It can be read any number of times.
    Counted(Box<StreamedSet>),
    /// Streamed without a first pass. It can be read only once.
    SinglePass(Box<SinglePass>),
}

/// A streamed set before its only pass, and after it.
pub(super) struct SinglePass {
    session: Session,
    paths: Vec<PathBuf>,
    options: files::Options,
    common: Common,
    /// Whether the set was read before, so that its unread files have been reported.
    is_reported: bool,
}

/// How a set must be opened for a change that cannot be made in the current mode.
pub(super) enum Reopen {
    /// In memory, for this reason.
    InMemory(&'static str),
    /// Streamed with a first pass.
    Counted,
}

/// A change that can be made to a set in memory and, in most cases, to a streamed set.
pub(super) trait SetChange {
    /// The mode to try first if the set is too large for memory.
    fn mode(&self) -> ScanMode;

    /// Changes a streamed set. The inner error is how the set must be opened instead; nothing has been written then.
    fn change_streamed(
        &mut self,
        set: &mut SetReader,
        streams: &mut Streams<'_>,
    ) -> Result<Result<Status, Reopen>, Failure>;

    /// Changes a set in memory.
    fn change_loaded(&mut self, session: Session, streams: &mut Streams<'_>) -> Result<Status, Failure>;
}

/// Changes the set of these paths. A set of more than `limit` bytes is streamed if the change allows it, else loaded.
pub(super) fn change(
    change: &mut impl SetChange,
    common: &Common,
    (paths, limit): (&[PathBuf], u64),
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let now = common.now()?;
    let request = SetRequest { common, paths, limit, now };
    let mut set = match (request.load(ReadMode::Repeated, streams)?, change.mode()) {
        (Some(set), _) => set,
        (None, ScanMode::SinglePass) => SetReader::single_pass(common, paths, now, streams)?,
        (None, ScanMode::Counted) => SetReader::counted(common, paths, now, streams)?,
        (None, ScanMode::InMemory(why)) => SetReader::load(common, paths, why, streams)?,
    };
    loop {
        let is_counted = match set {
            SetReader::Held(session) => return change.change_loaded(*session, streams),
            SetReader::Counted(_) => true,
            SetReader::SinglePass(_) | SetReader::FirstEntries(..) => false,
        };
        let reopen = match change.change_streamed(&mut set, streams)? {
            Ok(status) => return Ok(status),
            Err(reopen) => reopen,
        };
        // Dropped first: there may not be enough memory for two.
        drop(set);
        set = match reopen {
            Reopen::InMemory(why) => SetReader::load(common, paths, why, streams)?,
            Reopen::Counted if is_counted => {
                SetReader::load(common, paths, "this command needs all rows at once", streams)?
            }
            Reopen::Counted => SetReader::counted(common, paths, common.now()?, streams)?,
        };
    }
}

/// How a command reads a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// Any number of times.
    Repeated,
    /// Any number of times, to report findings without changes.
    Report,
    /// To report findings once, most of which are only counted.
    Count,
    /// Once, because no row depends on others. Unread files are reported after [`SetReader::each_file`].
    SinglePass,
}

/// The paths of a set, and how it is opened.
#[derive(Clone, Copy)]
pub(super) struct SetRequest<'r> {
    /// Options of all commands.
    pub common: &'r Common,
    /// The paths; several sitemaps are one set.
    pub paths: &'r [PathBuf],
    /// Sets of which more bytes would be in memory are streamed.
    pub limit: u64,
    /// The current time.
    pub now: Now,
}

impl SetRequest<'_> {
    /// Opens the set in memory, or streamed if that would exceed the limit.
    pub(super) fn open(&self, mode: ReadMode, streams: &mut Streams<'_>) -> Result<SetReader, Failure> {
        let Self { common, paths, now, .. } = *self;
        match (self.load(mode, streams)?, mode) {
            (Some(set), _) => Ok(set),
            (None, ReadMode::Repeated | ReadMode::Report | ReadMode::Count) => {
                SetReader::counted(common, paths, now, streams)
            }
            (None, ReadMode::SinglePass) => SetReader::single_pass(common, paths, now, streams),
        }
    }

    /// Loads the set into memory; `None` if that would exceed the limit.
    fn load(&self, mode: ReadMode, streams: &mut Streams<'_>) -> Result<Option<SetReader>, Failure> {
        let Self { common, paths, limit, now } = *self;
        // Standard input can be read only once.
        let limit = if paths.iter().any(|path| files::is_stream(path)) { u64::MAX } else { limit };
        let (session, options) = (common.session(paths, now, streams)?, common.options(streams)?);
        let session = streams.watched(|progress| match mode {
            ReadMode::Report => load::open_to_report(session, paths, options.clone(), limit, progress),
            ReadMode::Count => first_entries::open_to_count(session, paths, options.clone(), limit, progress),
            ReadMode::Repeated | ReadMode::SinglePass => {
                load::open_within(session, paths, options.clone(), limit, progress)
            }
        })?;
        Ok(session.map(|session| {
            common.note_load_problems(&session, streams);
            let session = Box::new(session);
            if session.document().is_streamed() {
                let options = files::Options { buffers: files::Buffers::reused(), ..options };
                SetReader::FirstEntries(session, Box::new(options))
            } else {
                SetReader::Held(session)
            }
        }))
    }
}

impl SetReader {
    /// Loads a set of any size into memory and notes the reason.
    fn load(common: &Common, paths: &[PathBuf], why: &str, streams: &mut Streams<'_>) -> Result<Self, Failure> {
        note_loaded(why, streams);
        Ok(Self::Held(Box::new(common.open_set(paths, common.now()?, streams)?)))
    }

    /// Runs the first pass of a streamed set.
    fn counted(common: &Common, paths: &[PathBuf], now: Now, streams: &mut Streams<'_>) -> Result<Self, Failure> {
        let options = common.options(streams)?;
        let fresh = common.session(paths, now, streams)?;
        let streamed = streams.watched(|now| StreamedSet::open(fresh, paths, options.clone(), now))?;
        let streamed = if let Some(streamed) = streamed {
            streamed
        } else {
            let fresh = common.session(paths, now, streams)?;
            streams.watched(|now| StreamedSet::open_linked(fresh, paths, options.clone(), now))?
        };
        let set = Self::Counted(streamed);
        common.note_load_problems(set.session(), streams);
        Ok(set)
    }

    /// A streamed set before its only pass.
    fn single_pass(common: &Common, paths: &[PathBuf], now: Now, streams: &Streams<'_>) -> Result<Self, Failure> {
        let (session, options) = (common.session(paths, now, streams)?, common.options(streams)?);
        let (paths, common) = (paths.to_vec(), common.clone());
        Ok(Self::SinglePass(Box::new(SinglePass { session, paths, options, common, is_reported: false })))
    }

    /// A reader of the same set for a second pass; `None` if this reader can be used again.
    pub(super) fn reopened(&self) -> Option<Self> {
        let Self::SinglePass(pass) = self else { return None };
        let session = settings_of(&pass.session);
        let (paths, options, common) = (pass.paths.clone(), pass.options.clone(), pass.common.clone());
        Some(Self::SinglePass(Box::new(SinglePass { session, paths, options, common, is_reported: true })))
    }

    /// The session of the set. A streamed set has rows only while [`SetReader::each_file`] visits their file.
    pub(super) fn session(&self) -> &Session {
        match self {
            Self::Held(session) | Self::FirstEntries(session, _) => session,
            Self::Counted(streamed) => streamed.session(),
            Self::SinglePass(pass) => &pass.session,
        }
    }

    /// [`SetReader::session`], to be updated after the last file.
    pub(super) fn session_mut(&mut self) -> &mut Session {
        match self {
            Self::Held(session) | Self::FirstEntries(session, _) => session,
            Self::Counted(streamed) => streamed.session_mut(),
            Self::SinglePass(pass) => &mut pass.session,
        }
    }

    /// Calls `visit` for each file, with the results writer.
    pub(super) fn each_file(
        &mut self,
        streams: &mut Streams<'_>,
        mut visit: impl FnMut(&Session, SitemapId, &mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::Held(session) => ids(session).try_for_each(|id| visit(session, id, streams.out)),
            Self::FirstEntries(session, options) => ids(session).try_for_each(|id| {
                first_entries::show_whole(session, id, options, |session| visit(session, id, streams.out))
            }),
            Self::Counted(streamed) => {
                streams.watched_printing(|progress, out| streamed.each(progress, |session, id| visit(session, id, out)))
            }
            Self::SinglePass(pass) => {
                let SinglePass { session, paths, options, common, is_reported } = &mut **pass;
                let fresh = Session::new(session.view().clock, None);
                let fresh = std::mem::replace(session, fresh);
                *session = streams.watched_printing(|progress, out| {
                    walk(fresh, paths, options.clone(), progress, |session, id| visit(session, id, out))
                })?;
                if !*is_reported {
                    common.note_load_problems(session, streams);
                }
                Ok(())
            }
        }
    }

    /// Calls `visit` for each file to report findings: with the rows of a streamed set that can have findings, or with
    /// the numbers of their findings.
    pub(super) fn each_with_findings(
        &mut self,
        streams: &mut Streams<'_>,
        mut visit: impl FnMut(&Session, (SitemapId, FileRows<'_>), &mut dyn Write) -> Result<Detail, Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::Counted(streamed) => streams.watched_printing(|progress, out| {
                streamed.each_with_findings(progress, |session, id, rows| visit(session, (id, rows), out))
            }),
            Self::FirstEntries(session, options) => {
                for id in ids(session) {
                    let mut rest = Vec::new();
                    visit(session, (id, FileRows::First(&mut rest)), streams.out)?;
                    if !rest.is_empty() {
                        let mut show = |session: &Session| visit(session, (id, FileRows::Rest(&rest)), streams.out);
                        first_entries::show_whole(session, id, options, |session| show(session).map(|_| ()))?;
                    }
                }
                Ok(())
            }
            _ => self.each_file(streams, |session, id, out| visit(session, (id, FileRows::All), out).map(|_| ())),
        }
    }
}

/// The files of a set.
fn ids(session: &Session) -> impl Iterator<Item = SitemapId> + use<> {
    (0..session.document().sitemaps().len() as u32).map(SitemapId)
}

/// Notes why a set of more than `limit` bytes is in memory.
pub(super) fn note_why_loaded((session, limit): (&Session, u64), why: &str, streams: &mut Streams<'_>) {
    let bytes: u64 = session.document().sitemaps().iter().map(|sitemap| sitemap.bytes()).sum();
    if bytes > limit {
        note_loaded(why, streams);
    }
}

fn note_loaded(why: &str, streams: &mut Streams<'_>) {
    streams.note(&format!("loading the whole set into memory: {why}"));
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::args::{Cli, Task};
    use super::super::{check, list};
    use super::*;
    use crate::check::rule::Rule;
    use crate::document::rows::RowId;
    use clap::Parser;
    use proptest::prelude::*;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    /// Results and notes of a command line; sets of more than `limit` bytes are streamed.
    fn printed(words: &[&str], path: &Path, limit: u64) -> (String, String) {
        let words = words.iter().map(|word| if *word == "PATH" { path.to_str().unwrap() } else { word });
        let line = Cli::try_parse_from(["sited"].into_iter().chain(words)).unwrap();
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let mut streams = streams(&mut out, &mut notes);
        let status = match line.task.unwrap() {
            Task::Check(task) => check::run_with_limit(&task, limit, &mut streams),
            Task::List(task) => list::run_with_limit(&task, limit, &mut streams),
            _ => unreachable!("only commands that read"),
        };
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(out), format!("{}{:?}", text(notes), status.map_err(|failure| failure.to_string())))
    }

    /// Rows of [`write`] with this or a greater value have alternate links.
    pub(in crate::cli) const LINKED: u8 = 192;

    /// Writes an index and its files. Each row is one of a few URLs, with dates, priorities and links by its value.
    pub(in crate::cli) fn write(folder: &Path, files: &[Vec<(u8, u8)>]) {
        const LOCS: [&str; 12] = [
            "https://e.com/a",
            "https://e.com/a/",
            "https://www.e.com/a",
            "http://e.com/b",
            "https://E.com/%61",
            "https://e.com/b?x=1&amp;y=2",
            "https://e.com/b?y=2&amp;x=1&amp;utm_source=z",
            "https://e.com/c/index.html",
            "https://e.com/c",
            "https://other.org:8443/d",
            "no url",
            "",
        ];
        let rest = |value: u8| match value % 6 {
            0 => String::new(),
            1 => "<lastmod>2026-02-30</lastmod>".to_owned(),
            2 => "<lastmod>2026-05-01</lastmod><priority>0.5</priority>".to_owned(),
            3 => "<lastmod>2026-05-01T10:00:00Z</lastmod>".to_owned(),
            4 => "<priority>1,0</priority><changefreq>daily</changefreq>".to_owned(),
            _ => format!("<lastmod>2031-01-{:02}</lastmod>", value % 28 + 1),
        };
        let links = |value: u8| match value.checked_sub(LINKED) {
            None => String::new(),
            Some(more) => {
                let link = |(language, href): (&str, u8)| {
                    let href = LOCS[usize::from(href) % LOCS.len()];
                    format!("<xhtml:link rel=\"alternate\" hreflang=\"{language}\" href=\"{href}\"/>")
                };
                [("de", more), ("fr", more / 8), ("it", more % 5)]
                    .into_iter()
                    .take(1 + usize::from(more % 3))
                    .map(link)
                    .collect()
            }
        };
        let mut index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
        for (number, rows) in files.iter().enumerate() {
            // Every second file declares a prefix that it does not use.
            let unused =
                if number % 2 == 0 { "" } else { " xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\"" };
            let mut text = format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
                 xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"{unused}>\n"
            );
            for (loc, value) in rows {
                let loc =
                    LOCS.get(usize::from(*loc)).map_or_else(|| format!("https://e.com/p/{loc}"), ToString::to_string);
                writeln!(text, "<url><loc>{loc}</loc>{}{}</url>", rest(*value), links(*value)).unwrap();
            }
            // Every third file is damaged, so that repairs are reported too.
            text.push_str(if number % 3 == 2 {
                "<url><loc>https://e.com/?a&b</loc></url></urlset>\n"
            } else {
                "</urlset>\n"
            });
            fs::write(folder.join(format!("s{number}.xml")), text).unwrap();
            let date = if number % 2 == 0 { "<lastmod>2020-01-01</lastmod>" } else { "" };
            writeln!(index, "<sitemap><loc>https://e.com/s{number}.xml</loc>{date}</sitemap>").unwrap();
        }
        index.push_str("<sitemap><loc>https://e.com/gone.xml</loc></sitemap></sitemapindex>\n");
        fs::write(folder.join("sitemap_index.xml"), index).unwrap();
    }

    const NOW: [&str; 3] = ["--now", "2026-11-20", "--allow-missing"];
    const LINES: [&[&str]; 12] = [
        &["check", "PATH", "--profile", "google"],
        &["check", "PATH", "--format", "json", "--max-findings", "7"],
        &["check", "PATH", "--format", "json", "--max-findings", "0"],
        &["check", "PATH", "--max-findings", "1", "--ignore", "lastmod-*", "--fail-on", "warning"],
        &["check", "PATH", "--format", "junit"],
        &["check", "PATH", "--where", "is:duplicate or rule:lastmod-future"],
        &["list", "PATH"],
        &["list", "PATH", "--format", "csv", "--columns", "loc,file,line,finding,rules"],
        &["list", "PATH", "--format", "jsonl", "--where", "is:duplicate"],
        &["list", "PATH", "--where", "rule:set-mixed-host"],
        &["list", "PATH", "--format", "csv", "--columns", "loc,finding", "--where", "rule:hreflang-*"],
        &["list", "PATH", "--sort", "-lastmod,loc"],
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn output_is_the_same_in_memory_and_streamed(
            mut files in prop::collection::vec(prop::collection::vec((0..40_u8, any::<u8>()), 0..30), 1..5),
            (is_linked, is_mixed) in any::<(bool, bool)>(),
        ) {
            if !is_linked {
                files.iter_mut().flatten().for_each(|(_, value)| *value %= LINKED);
            }
            if !is_mixed {
                // Duplicates on one host, without findings about a minority of rows.
                let one_host = |loc: u8| if loc < 12 { [0, 4, 7, 8][usize::from(loc % 4)] } else { loc };
                files.iter_mut().flatten().for_each(|(loc, _)| *loc = one_host(*loc));
                files.truncate(2);
            }
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &files);
            for line in LINES {
                let words: Vec<&str> = line.iter().chain(&NOW).copied().collect();
                let path = folder.path().join("sitemap_index.xml");
                let (out, notes) = printed(&words, &path, 0);
                let notes = notes.replace("loading the whole set into memory: sorting needs every row\n", "");
                prop_assert_eq!((out, notes), printed(&words, &path, u64::MAX), "{:?}", line);
            }
        }
    }

    #[test]
    fn output_about_linked_pages_is_the_same_when_streamed() {
        let folder = tempfile::tempdir().unwrap();
        let page = |own: &str, other: &str| {
            format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\
                 <url><loc>https://e.com/{own}</loc><xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/{other}\"/></url></urlset>"
            )
        };
        write(folder.path(), &[vec![(0, 0)], vec![], vec![]]);
        // One link is to a row of an earlier file, the other one to no row.
        fs::write(folder.path().join("s1.xml"), page("x", "a")).unwrap();
        fs::write(folder.path().join("s2.xml"), page("y", "z")).unwrap();
        let path = folder.path().join("sitemap_index.xml");
        streamed(&path);
        let (out, _) = printed(LINES[0], &path, 0);
        assert_eq!(out, printed(LINES[0], &path, u64::MAX).0);
        for rule in ["hreflang-target-missing", "hreflang-no-return"] {
            assert!(out.contains(rule), "{rule}: {out}");
        }
        assert!(out.contains("https://e.com/a (s0.xml, line "), "{out}");
    }

    /// A streamed set.
    fn streamed(folder: &Path) -> SetReader {
        let line = Cli::try_parse_from(["sited", "check", folder.to_str().unwrap(), "--allow-missing"]).unwrap();
        let Some(Task::Check(task)) = line.task else { unreachable!("a check") };
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let mut streams = streams(&mut out, &mut notes);
        let set = SetRequest { common: &task.common, paths: &task.paths, limit: 0, now: task.common.now().unwrap() }
            .open(ReadMode::Repeated, &mut streams)
            .unwrap();
        assert!(matches!(set, SetReader::Counted(_)));
        set
    }

    #[test]
    fn a_reopened_reader_keeps_robots_txt() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[vec![(20, 0)], vec![(21, 0)]]);
        let robots = folder.path().join("robots.txt");
        fs::write(&robots, "User-agent: *\nDisallow: /p/21\n").unwrap();
        let words = ["sited", "list", folder.path().to_str().unwrap(), "--allow-missing", "--robots"];
        let line = Cli::try_parse_from(words.into_iter().chain([robots.to_str().unwrap()])).unwrap();
        let Some(Task::List(task)) = line.task else { unreachable!("a list") };
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let mut streams = streams(&mut out, &mut notes);
        let now = task.common.now().unwrap();
        let mut set = SetRequest { common: &task.common, paths: &task.paths, limit: 0, now }
            .open(ReadMode::SinglePass, &mut streams)
            .unwrap();
        let mut again = set.reopened().unwrap();
        let mut blocked = |set: &mut SetReader| {
            let mut blocked = Vec::new();
            let each = set.each_file(&mut streams, |session, _, _| {
                let rows = session.document().resident_rows();
                let rows = rows.filter(|row| session.view().rules_of(*row).contains(Rule::SITE_BLOCKED_BY_ROBOTS));
                blocked.extend(rows.map(|row| row.0));
                Ok(())
            });
            each.unwrap();
            blocked
        };
        assert_eq!(blocked(&mut set), [1]);
        assert_eq!(blocked(&mut again), [1]);
    }

    fn streams<'s>(out: &'s mut Vec<u8>, notes: &'s mut Vec<u8>) -> Streams<'s> {
        Streams::new(out, notes)
    }

    #[test]
    fn loading_a_large_set_is_reported_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[vec![(0, 0)], vec![(1, 0)]]);
        for (limit, expected) in [(0, true), (u64::MAX, false)] {
            let (_, notes) = printed(&["list", "PATH", "--sort", "loc", "--allow-missing"], folder.path(), limit);
            assert_eq!(notes.contains("loading the whole set into memory: sorting"), expected, "{notes}");
        }
    }

    #[test]
    fn files_are_scanned_once_unless_any_row_may_have_findings() {
        let folder = tempfile::tempdir().unwrap();
        let rows_shown = |files: &[Vec<(u8, u8)>]| {
            write(folder.path(), files);
            let (mut out, mut notes, mut shown) = (Vec::new(), Vec::new(), Vec::new());
            let visit = |_: &Session, (_, rows): (SitemapId, FileRows<'_>), _: &mut dyn Write| {
                shown.push(match rows {
                    FileRows::Rows(rows) => Some(rows.iter().map(|row| row.0).collect::<Vec<u32>>()),
                    _ => None,
                });
                Ok(Detail::Findings)
            };
            streamed(folder.path()).each_with_findings(&mut streams(&mut out, &mut notes), visit).unwrap();
            shown
        };
        // An impossible date, and a duplicate URL.
        let rows = [vec![(20, 2), (21, 1), (22, 2)], vec![(23, 2), (20, 2)]];
        assert_eq!(rows_shown(&rows), [Some(vec![0, 1]), Some(vec![4])]);
        // One URL has another scheme: which rows are the minority depends on all URLs.
        assert_eq!(rows_shown(&[vec![(20, 2), (21, 2), (3, 2)], vec![]]), [None, None]);
        // A repaired file.
        assert_eq!(rows_shown(&[vec![(20, 2)], vec![], vec![]]), [None, None, None]);
    }

    #[test]
    fn files_are_read_once_if_findings_are_only_counted() {
        let folder = tempfile::tempdir().unwrap();
        // An impossible date in each file, and an image without a loc in the last one.
        write(folder.path(), &[vec![(20, 1), (21, 0)], vec![(22, 1), (23, 1)]]);
        let last = folder.path().join("s1.xml");
        let image = "<image:image xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"/></url>";
        for (with_image, expected) in [(false, 2), (true, 1)] {
            let text = fs::read_to_string(&last).unwrap();
            fs::write(&last, if with_image { text.replacen("</url>", image, 1) } else { text }).unwrap();
            let mut set = streamed(folder.path());
            // A file that is not read again may have been removed.
            if !with_image {
                fs::rename(&last, last.with_extension("away")).unwrap();
            }
            let (mut out, mut notes, mut shown, mut dates) = (Vec::new(), Vec::new(), Vec::new(), 0);
            let visit = |_: &Session, (id, rows): (SitemapId, FileRows<'_>), _: &mut dyn Write| {
                match rows {
                    FileRows::Rows(rows) => shown.push((id.0, rows.to_vec())),
                    FileRows::Counted(rows, counts) => {
                        shown.push((id.0, rows.to_vec()));
                        dates += counts[Rule::LASTMOD_IMPOSSIBLE.index()];
                    }
                    _ => unreachable!("sound files of one site"),
                }
                Ok(Detail::Counts)
            };
            set.each_with_findings(&mut streams(&mut out, &mut notes), visit).unwrap();
            assert_eq!(dates, expected);
            let of_last = if with_image { vec![RowId(2)] } else { Vec::new() };
            assert_eq!(shown, [(0, vec![RowId(0), RowId(1)]), (1, of_last)]);
            if !with_image {
                fs::rename(last.with_extension("away"), &last).unwrap();
            }
        }
    }

    #[test]
    fn a_file_that_changes_between_two_passes_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for with_findings in [false, true] {
            write(folder.path(), &[vec![(0, 0)], vec![(1, 0), (2, 0)]]);
            let mut set = streamed(folder.path());
            write(folder.path(), &[vec![(0, 0)], vec![(1, 0)]]);
            let (mut out, mut notes, mut seen) = (Vec::new(), Vec::new(), Vec::new());
            let mut streams = streams(&mut out, &mut notes);
            let mut visit = |session: &Session, id: SitemapId| {
                seen.push((id.0, session.document().sitemap(id).map_or(0, |sitemap| sitemap.live)));
                Ok(())
            };
            let result = if with_findings {
                set.each_with_findings(&mut streams, |session, (id, _), _| {
                    visit(session, id).map(|()| Detail::Findings)
                })
            } else {
                set.each_file(&mut streams, |session, id, _| visit(session, id))
            };
            assert_eq!(seen, [(0, 1)]);
            assert!(result.unwrap_err().to_string().contains("s1.xml: the file has changed"));
        }
    }
}
