//! Verifies a save before it is made: proofs and diffs for each file.

use crate::document::Document;
use crate::document::diff::{Diff, unified};
use crate::document::sitemap::{SitemapId, by_path};
use crate::document::spans::{Pieces, spans};
use crate::document::text_diff;
use crate::files::verify::{Proof, stored_text, verify};
use crate::files::{Action, Disk, FileId, Output, Plan};
use crate::progress::Progress;
use crate::session::Session;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A planned save with the state that is needed to verify it.
#[derive(Debug, Clone)]
pub(crate) struct Inspection {
    plan: Plan,
    saved: Document,
    disk: Disk,
    /// The sitemaps of the saved document by path, computed on first use.
    ids_by_path: OnceLock<HashMap<PathBuf, SitemapId>>,
}

/// The diff of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Relative to the set's folder.
    pub name: Arc<str>,
    /// The action of the save.
    pub action: Action,
    /// Its lines.
    pub diff: Diff,
}

/// A planned save, to be verified on a worker.
pub(crate) fn inspect(session: &Session, plan: Plan) -> Inspection {
    Inspection::new(plan, session.current.saved.clone(), session.disk.clone())
}

impl Inspection {
    /// Verification of a planned save; `saved` and `disk` are the stored state.
    pub(in crate::session) const fn new(plan: Plan, saved: Document, disk: Disk) -> Self {
        Self { plan, saved, disk, ids_by_path: OnceLock::new() }
    }

    /// The plan of the save.
    pub(in crate::session) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the plan of the save.
    pub(in crate::session) fn into_plan(self) -> Plan {
        self.plan
    }

    /// Changes all outputs of the plan to removals.
    #[must_use]
    pub(crate) fn of_gone(mut self) -> Self {
        for output in &mut self.plan.outputs {
            (output.action, output.file) = (Action::Removed, FileId::Removed);
        }
        self
    }

    /// Reads the files and verifies the changes to each of them. `None` if cancelled.
    pub(crate) fn prove(&self, progress: &Progress) -> Option<Vec<Proof>> {
        verify(&self.plan, &self.saved, &self.disk, progress)
    }

    /// The diffs of the files that would be written, with about `max_lines` lines at most. `None` if cancelled.
    pub(crate) fn diffs(&self, max_lines: usize, progress: &Progress) -> Option<Vec<FileDiff>> {
        let written = self.plan.outputs.iter().filter(|output| output.action != Action::Untouched);
        written
            .map(|output| {
                if progress.is_cancelled() {
                    return None;
                }
                let diff = self.diff(output, max_lines);
                Some(FileDiff { name: Arc::clone(&output.name), action: output.action, diff })
            })
            .collect()
    }

    /// The diff of one file from the stored text. A file that was repaired when it was read is read again.
    pub(in crate::session) fn diff(&self, output: &Output, max_lines: usize) -> Diff {
        let (plan, saved) = (&self.plan.document, &self.saved);
        let ids_by_path = self
            .ids_by_path
            .get_or_init(|| by_path(saved.sitemaps()).into_iter().map(|(path, id)| (path.to_path_buf(), id)).collect());
        let at = ids_by_path.get(&output.path).copied();
        let was = || at.map_or_else(Pieces::default, |id| Pieces::of(saved, id));
        let index_then = saved.index().and_then(|index| index.file_at(&output.path));
        let (before, after) = match output.file {
            FileId::Sitemap(id) => (was(), Pieces::of(plan, id)),
            FileId::Index | FileId::IndexVolume(_) => {
                Pieces::of_indexes(index_then.as_ref(), self.plan.index_file(output.file).as_ref())
            }
            FileId::Removed if index_then.is_some() => Pieces::of_indexes(index_then.as_ref(), None),
            FileId::Removed => (was(), Pieces::default()),
        };
        let of_sitemap = at.and_then(|at| saved.sitemap(at)).map(|sitemap| &sitemap.quirks);
        let quirks = index_then.as_ref().map(|file| file.quirks).or(of_sitemap);
        let is_repaired = quirks.is_some_and(|quirks| quirks.iter().any(|quirk| quirk.kind.is_repair()));
        if let Some(stored) = is_repaired.then(|| stored_text(&output.path, &self.disk)).flatten() {
            let after = after.bytes();
            return unified(&stored, &after, &text_diff::spans(&stored, &after), max_lines);
        }
        unified(&before.bytes(), &after.bytes(), &spans(&before, &after), max_lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Options;
    use crate::protocol::lastmod::Now;
    use crate::session::command::parse;
    use crate::session::edit::DefaultScope;
    use crate::session::state::vocabulary;
    use crate::session::store::load;
    use flate2::write::GzEncoder;
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;

    const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };
    const TEXT: &str = "\u{feff}<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>https://e.com/a</loc><priority>0.50</priority></url><url><loc>https://e.com/b</loc></url></urlset>";

    fn open(path: &Path, lines: &[&str]) -> Session {
        let mut session = load::open(path, Options::default(), NOW).unwrap();
        for line in lines {
            session.run(&parse(line, &vocabulary(NOW)).unwrap(), DefaultScope::All).unwrap();
        }
        session
    }

    fn proof(session: &Session) -> Proof {
        let mut plan = session.plan(None);
        plan.accept_repairs();
        inspect(session, plan).prove(&Progress::default()).unwrap().remove(0)
    }

    #[test]
    fn a_proof_compares_the_unpacked_bytes_before_any_repair() {
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("sitemap.xml.gz");
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(TEXT.as_bytes()).unwrap();
        fs::write(&packed, gzip.finish().unwrap()).unwrap();
        let found = proof(&open(&packed, &["set priority=0.8 where loc:/a"]));
        let at = TEXT.find("0.50").unwrap() + 2;
        assert_eq!((found.fault, found.spans.len(), found.spans[0].before.clone()), (None, 1, at..at + 2));
        assert_eq!((found.texts[0].clone(), found.same), (["50".to_owned(), "8".to_owned()], TEXT.len() as u64 - 2));
        let found = proof(&open(&packed, &[]));
        assert_eq!((found.action, found.fault, found.spans.len()), (Action::Untouched, None, 0));
        // The written bytes of a repaired file differ in its repairs too.
        let damaged = folder.path().join("damaged.xml");
        fs::write(&damaged, TEXT.replace("/b<", "/b?x&y<")).unwrap();
        let found = proof(&open(&damaged, &[]));
        assert_eq!((found.action, found.fault, found.spans.len()), (Action::Untouched, None, 0));
        assert_eq!((found.after, found.same), (found.before, TEXT.len() as u64 + 4));
        let found = proof(&open(&damaged, &["set priority=0.8 where loc:/a"]));
        assert_eq!((found.fault, found.spans.len()), (None, 1));
        let [before, after] = &found.texts[0];
        assert!(before.ends_with("?x&") && after.ends_with("?x&amp;"), "{before} {after}");
    }

    #[test]
    fn the_diff_of_a_repaired_file_compares_the_stored_lines() {
        let folder = tempfile::tempdir().unwrap();
        let damaged = folder.path().join("damaged.xml");
        let text = "Notice: x\n<?xml version='1.0' encoding='latin1'?>\n<!DOCTYPE u [<!ENTITY h 'x'>]>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n<url>\n<loc>https://e.com/\u{e9}&h;</loc>\n</url>\n<url>\n<loc>https://e.com/2</loc>\n</url>\n<url>\n<loc>https://e.com/3<loc>\n</url>\n</urlset>\n";
        let stored: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
        fs::write(&damaged, stored).unwrap();
        let session = open(&damaged, &["fix xml-leading-junk"]);
        let [file] = &inspect(&session, session.plan(None)).diffs(100, &Progress::default()).unwrap()[..] else {
            panic!("one file")
        };
        let lines: Vec<&str> = file.diff.lines.iter().map(|line| &*line.text).collect();
        let changed: Vec<&str> = lines.into_iter().filter(|line| line.starts_with(['-', '+'])).collect();
        assert_eq!(
            changed,
            [
                "-Notice: x",
                "-<?xml version='1.0' encoding='latin1'?>",
                "+<?xml version='1.0' encoding='UTF-8'?>",
                "-<loc>https://e.com/\u{e9}&h;</loc>",
                "+<loc>https://e.com/\u{e9}&amp;h;</loc>",
                "-<loc>https://e.com/3<loc>",
                "+<loc>https://e.com/3</loc>",
            ]
        );
    }

    #[test]
    fn a_copy_is_created_and_has_a_diff() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        fs::write(&path, TEXT).unwrap();
        let session = open(&path, &["add https://e.com/c"]);
        let to = folder.path().join("copy.xml");
        let diffs = inspect(&session, session.plan(Some(&to))).diffs(100, &Progress::default()).unwrap();
        let [file] = &diffs[..] else { panic!("{diffs:?}") };
        assert_eq!((&*file.name, file.action), ("copy.xml", Action::Created));
        assert!(!file.diff.lines.is_empty());
    }
}
