//! Test fixture: a set in a temporary folder that is loaded, edited and saved as a session does it.

use super::plan::{Plan, Request, plan};
use super::{Disk, OnDisk, Options, Recovery, SaveMode, load_many};
use super::{FileInfo, LoadedFile};
use crate::document::Document;
use crate::document::edit::{Edit, NewEntry};
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::SitemapId;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::Limits;
use crate::xml::record::Records;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// 2026-11-20T10:20:30Z.
const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };

/// A set of files in a folder of their own.
pub(super) struct TestSet {
    folder: PathBuf,
    /// Removes the folder on drop; `None` if another process owns it.
    owned: Option<tempfile::TempDir>,
    pub(super) document: Document,
    pub(super) saved: Document,
    pub(super) disk: Disk,
    pub(super) limits: Limits,
    pub(super) base_url: Option<String>,
    pub(super) now: Now,
}

impl Drop for TestSet {
    fn drop(&mut self) {
        if let Some(folder) = &self.owned {
            let _ = std::fs::remove_dir_all(state_beside(folder.path()));
        }
    }
}

/// The state folder for a set's folder: beside it, so that another process uses the same one.
fn state_beside(folder: &Path) -> PathBuf {
    folder.with_extension("state")
}

impl TestSet {
    /// The recovery options of this user.
    pub(super) fn recovery(&self) -> Recovery {
        Recovery { state: Some(self.state()), finish: true }
    }

    pub(super) fn state(&self) -> PathBuf {
        state_beside(&self.folder)
    }

    /// The save options of this user.
    pub(super) fn mode(&self) -> SaveMode {
        SaveMode { force: false, backups: super::Backups::default(), now: self.now, state: Some(self.state()) }
    }

    /// Finishes an interrupted save of the set that a file belongs to.
    pub(super) fn recover(&self, name: &str) -> Option<super::Finished> {
        super::recover(&self.path(name), &self.recovery()).unwrap().finished
    }

    /// Writes files and loads the first one.
    pub(super) fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let mut set = Self {
            folder: folder.path().to_path_buf(),
            owned: Some(folder),
            document: Document::default(),
            saved: Document::default(),
            disk: Disk::default(),
            limits: Limits::default(),
            base_url: None,
            now: NOW,
        };
        set.load(files[0].0);
        set
    }

    pub(super) fn load(&mut self, names: &str) {
        self.reopen(names);
    }

    /// Loads the set of a file, or of several files separated by spaces; returns a save that was finished first.
    pub(super) fn reopen(&mut self, names: &str) -> Option<super::Finished> {
        let (mut document, mut disk) = (Document::default(), Disk::default());
        let paths: Vec<PathBuf> = names.split(' ').map(|name| self.path(name)).collect();
        let make = |_: &FileInfo| Records::default();
        let options = Options { recovery: self.recovery(), ..Options::default() };
        let loaded = load_many(&paths, &options, &Progress::default(), &make, &mut |part| {
            note(
                &mut disk,
                match part {
                    LoadedFile::Index { index, on_disk, .. } => {
                        document.set_index(Some(index));
                        on_disk
                    }
                    LoadedFile::Sitemap { source, sitemap, on_disk, visitor, .. } => {
                        document.append(source, visitor.0, sitemap);
                        on_disk.into_iter().collect()
                    }
                },
            );
        });
        let loaded = loaded.unwrap();
        document.set_index(loaded.index);
        (self.saved, self.document, self.disk) = (document.clone(), document, disk);
        loaded.recovered.finished
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// Loads the set of another folder.
    pub(super) fn open(folder: &Path, name: &str) -> Self {
        let first = name.split(' ').next().unwrap_or(name);
        let mut set = Self::new(&[(first, b"<urlset/>")]);
        set.folder = folder.to_path_buf();
        set.load(name);
        set
    }

    /// Every file of the folder with its bytes, by relative name.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&self.folder).unwrap().to_string_lossy().into_owned();
                    found.insert(name, std::fs::read(path).unwrap());
                }
            }
        }
        found
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.files().into_keys().collect()
    }

    pub(super) fn edit(&mut self, edit: &Edit) {
        self.document = self.document.apply(edit, &Progress::default()).unwrap().document;
    }

    pub(super) fn set(&mut self, rows: &[u32], field: Field, value: Option<&str>) {
        self.edit(&Edit::Set { rows: rows.iter().copied().collect(), field, value: value.map(Into::into) });
    }

    pub(super) fn delete(&mut self, rows: impl IntoIterator<Item = u32>) {
        self.edit(&Edit::Delete(rows.into_iter().collect::<RowSet>()));
    }

    /// Adds a row at the end of a file.
    pub(super) fn add(&mut self, sitemap: u32, loc: &str) {
        let sitemap = SitemapId(sitemap);
        let last = self.document.sitemap(sitemap).unwrap();
        let after = last.rows.len().checked_sub(1).and_then(|last_row| last.rows.get(last_row));
        let entries = vec![NewEntry::Values([Some(loc.into()), None, None, None])];
        self.edit(&Edit::Insert { sitemap, after, entries });
    }

    pub(super) fn plan_to(&self, to: Option<&Path>) -> Plan {
        plan(&Request {
            known: &[],
            document: &self.document,
            saved: &self.saved,
            disk: &self.disk,
            to,
            base_url: self.base_url.as_deref(),
            limits: self.limits,
            now: self.now,
        })
    }

    pub(super) fn plan(&self) -> Plan {
        self.plan_to(None)
    }

    /// The plan as lines `name action before>after what`, without untouched files.
    pub(super) fn planned(&self) -> Vec<String> {
        lines(&self.plan())
    }

    /// Plans and carries out a save; the document is the saved one then.
    pub(super) fn save(&mut self) -> super::Saved {
        let plan = self.plan();
        self.carry_out(&plan)
    }

    pub(super) fn carry_out(&mut self, plan: &Plan) -> super::Saved {
        let mode = self.mode();
        let saved = super::save_with_mode(plan, &mut self.disk, &mode, &Progress::default()).unwrap();
        (self.document, self.saved) = (saved.document.clone(), saved.document.clone());
        saved
    }

    /// The locs of all live rows, in order.
    pub(super) fn locs(&self) -> Vec<String> {
        self.document.live_rows().map(|row: RowId| self.document.loc(row).into_owned()).collect()
    }
}

pub(super) fn lines(plan: &Plan) -> Vec<String> {
    let outputs = plan.outputs.iter().filter(|output| output.action != super::Action::Untouched);
    outputs
        .map(|output| {
            format!("{} {:?} {}>{} {}", output.name, output.action, output.urls_before, output.urls_after, output.what)
        })
        .collect()
}

fn note(disk: &mut Disk, files: Vec<OnDisk>) {
    assert!(!files.is_empty());
    for file in files {
        disk.note(file);
    }
}

/// A urlset with these locs.
pub(super) fn urlset(locs: &[&str]) -> String {
    let urls: Vec<String> = locs.iter().map(|loc| format!("  <url>\n    <loc>{loc}</loc>\n  </url>\n")).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}</urlset>\n",
        urls.concat()
    )
}

/// An index with these URLs; a date may follow after a space.
pub(super) fn index(children: &[&str]) -> String {
    let entry = |child: &&str| match child.split_once(' ') {
        Some((loc, date)) => {
            format!("  <sitemap>\n    <loc>{loc}</loc>\n    <lastmod>{date}</lastmod>\n  </sitemap>\n")
        }
        None => format!("  <sitemap>\n    <loc>{child}</loc>\n  </sitemap>\n"),
    };
    let entries: Vec<String> = children.iter().map(entry).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}</sitemapindex>\n",
        entries.concat()
    )
}
