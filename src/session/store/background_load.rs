//! Loads a set in a job, into a separate session, while another session shows the files loaded so far.
//!
//! The job does all work on each file; the shown session only swaps values. The set index stays with the job until all
//! files are loaded: if it were shared, it would be copied for each further file.

use super::load::{self, LoadedFile, Loader};
use crate::document::Document;
use crate::document::rows::RowSet;
use crate::files::{Disk, Options};
use crate::session::Session;
use crate::session::checks::Checks;
use crate::session::findings::file_findings;
use crate::session::settings::settings_of;
use crate::session::state::State;

/// The session of the job.
#[derive(Debug)]
pub(crate) struct BackgroundLoad {
    session: Session,
    /// The number of files that were shown.
    shown: usize,
}

/// The files that were loaded so far.
#[derive(Debug)]
pub struct FilesSoFar {
    document: Document,
    checks: Checks,
    complete: Option<CompleteLoad>,
}

/// State that is complete only after all files are loaded.
#[derive(Debug)]
struct CompleteLoad {
    disk: Disk,
    index_rules: Vec<u16>,
    listed: RowSet,
}

impl BackgroundLoad {
    /// A load for this session.
    pub(crate) fn new(session: &Session) -> Self {
        Self { session: settings_of(session), shown: 0 }
    }

    /// The loader of the files to add.
    pub(crate) fn loader(&self, options: Options) -> Loader {
        self.session.loader(options)
    }

    /// Adds a file. Returns all files so far if they should be shown, which is after every file at first, and with many
    /// files only once an eighth of them is new: the next file that is added copies each page that is shown.
    pub(crate) fn add(&mut self, file: LoadedFile, is_last: bool) -> Option<FilesSoFar> {
        self.session.add_file(file);
        let files = self.session.document().sitemaps().len();
        if !is_last && files > 0 && (files - self.shown) * 8 < files {
            return None;
        }
        self.shown = files;
        let State { document, checks, .. } = &self.session.current.state;
        Some(FilesSoFar { document: document.clone(), checks: checks.without_set_index(), complete: None })
    }

    /// All files, after comparing their rows and searching their bytes for what their findings depend on.
    pub(crate) fn complete(mut self) -> FilesSoFar {
        load::compare_rows(&mut self.session);
        file_findings::prepare(&self.session);
        let Session { current, disk, index_rules, listed, .. } = self.session;
        let State { document, checks, .. } = current.state;
        FilesSoFar { document, checks, complete: Some(CompleteLoad { disk, index_rules, listed }) }
    }
}

impl FilesSoFar {
    /// Whether any file has rows.
    pub(crate) fn has_rows(&self) -> bool {
        self.document.row_limit() > 0
    }
}

/// Shows the files that were loaded so far.
pub(crate) fn show(session: &mut Session, files: FilesSoFar) {
    let FilesSoFar { document, checks, complete } = files;
    if let Some(CompleteLoad { disk, index_rules, listed }) = complete {
        (session.disk, session.index_rules, session.listed) = (disk, index_rules, listed);
    }
    session.current.saved = document.clone();
    session.current.view.append_files(&document);
    (session.current.state.document, session.current.state.checks) = (document, checks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rule::Rule;
    use crate::progress::{Progress, work};
    use crate::protocol::lastmod::Now;
    use std::fs;

    const NOW: Now = Now { seconds: 1_795_176_000, offset: 0 };

    /// Loads a folder of `count` files with two rows each; returns how often files were shown.
    fn load(count: usize) -> (Session, usize) {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..count {
            let text = format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
                 <url><loc>https://e.com/{number}</loc></url>\n<url><loc>https://e.com/twice</loc></url>\n</urlset>\n"
            );
            fs::write(folder.path().join(format!("s{number:04}.xml")), text).unwrap();
        }
        let mut session = Session::new(NOW, None);
        let mut load = BackgroundLoad::new(&session);
        let loader = load.loader(Options::default());
        let mut parts = Vec::new();
        let progress = Progress::default();
        let deliver = &mut |file| {
            let is_last = progress.read().is_complete();
            parts.extend(load.add(file, is_last).map(|files| (files, is_last)));
        };
        let loaded = loader.load(folder.path(), &progress, deliver).unwrap();
        assert!(parts.last().is_some_and(|(files, is_last)| *is_last && files.document.sitemaps().len() == count));
        let shown = parts.len();
        for (files, _) in parts {
            show(&mut session, files);
            assert_eq!(session.view().shown(), session.document().live());
            assert!(session.view().checks.set().is_empty(), "the set index stays with the job");
        }
        show(&mut session, load.complete());
        load::finish_compared(&mut session, loaded);
        (session, shown)
    }

    #[test]
    fn a_set_loaded_in_a_job_has_all_files_and_set_findings() {
        let (session, shown) = load(3);
        assert_eq!(shown, 3);
        assert!(session.read_only().is_none());
        assert_eq!(session.disk.paths().count(), 3);
        // The URL that each file has is a duplicate in all but the first.
        assert_eq!(session.view().checks.set().count_of(crate::check::set::SetRule::DuplicateAcrossFiles), 2);
    }

    #[test]
    fn the_shown_session_does_not_search_the_bytes_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let link = "<xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"https://e.com/\"/>";
        let entries = format!("<url><loc>https://e.com/</loc>{link}</url>\n").repeat(1_000);
        let text = format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"\n\
             xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n{entries}</urlset>\n"
        );
        fs::write(folder.path().join("s.xml"), &text).unwrap();
        let mut session = Session::new(NOW, None);
        let mut load = BackgroundLoad::new(&session);
        let loader = load.loader(Options::default());
        let deliver = &mut |file| drop(load.add(file, true));
        let loaded = loader.load(folder.path(), &Progress::default(), deliver).unwrap();
        let bytes = text.len() as u64;
        let mut files = None;
        assert!(work::here(|| files = Some(load.complete())) > bytes, "the unused prefix is searched for");
        show(&mut session, files.unwrap());
        let work = work::here(|| load::finish_compared(&mut session, loaded));
        assert!(work < bytes / 10, "{work} of {bytes} bytes");
        assert!(session.file_findings.iter().any(|finding| finding.rule == Rule::NS_DECLARED_UNUSED));
    }

    #[test]
    fn many_files_are_shown_in_few_steps() {
        let (session, shown) = load(400);
        assert_eq!(session.document().live(), 800);
        assert!((20..60).contains(&shown), "{shown} parts");
    }
}
