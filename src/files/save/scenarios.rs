//! Scenarios for fault injection: sets of every kind, and the edits made before they are saved.

use super::tests::{gzip, pair};
use crate::document::edit::{Edit, NewEntry};
use crate::document::sitemap::{Member, SitemapId};
use crate::files::fixture::{TestSet, index, urlset};
use crate::protocol::Field;
use crate::protocol::limits::Limits;
use std::collections::BTreeMap;
use std::fs;

const SCENARIO_COUNT: usize = if cfg!(unix) { 16 } else { 12 };

/// A set on disk, and the edits before it is saved.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) main: &'static str,
    pub(super) make: fn() -> TestSet,
    pub(super) change: fn(&mut TestSet),
    /// Whether a file is overwritten in place, so that for a moment it is neither old nor new.
    pub(super) in_place: bool,
}

pub(super) const SCENARIOS: [Scenario; SCENARIO_COUNT] = [
    Scenario { name: "one file", main: "sitemap.xml", make: single, change: one_value, in_place: false },
    Scenario { name: "gzip", main: "sitemap.xml.gz", make: packed, change: one_value, in_place: false },
    Scenario { name: "a set, split", main: "index.xml", make: pair, change: split, in_place: false },
    Scenario {
        name: "a file that becomes a set",
        main: "sitemap.xml",
        make: single,
        change: into_parts,
        in_place: false,
    },
    Scenario { name: "an emptied part", main: "index.xml", make: pair, change: empty_first, in_place: false },
    Scenario { name: "a part of another name", main: "index.xml", make: pair, change: rename_part, in_place: false },
    Scenario { name: "an index that becomes two", main: "index.xml", make: pair, change: overfull, in_place: false },
    Scenario { name: "an index of two files", main: INDEXES, make: two_indexes, change: split, in_place: false },
    Scenario { name: "an emptied index", main: INDEXES, make: two_indexes, change: empty_last, in_place: false },
    Scenario { name: "a gzipped set, split", main: "index.xml", make: packed_pair, change: split, in_place: false },
    Scenario { name: "files of two folders", main: FILES, make: files, change: one_of_each, in_place: false },
    Scenario {
        name: "a list that becomes several",
        main: "urls.txt",
        make: list,
        change: list_into_parts,
        in_place: false,
    },
    #[cfg(unix)]
    Scenario { name: "a part by a link", main: "index.xml", make: linked_part, change: split, in_place: false },
    #[cfg(unix)]
    Scenario { name: "a chain of links", main: "sitemap.xml", make: linked, change: one_value, in_place: false },
    #[cfg(unix)]
    Scenario { name: "an index by a link", main: "set/index.xml", make: linked_index, change: split, in_place: false },
    #[cfg(unix)]
    Scenario { name: "a file of two names", main: "index.xml", make: hard_linked, change: split, in_place: true },
];

fn single() -> TestSet {
    TestSet::new(&[("sitemap.xml", urlset(&["https://e.com/1", "https://e.com/2", "https://e.com/3"]).as_bytes())])
}

fn packed() -> TestSet {
    TestSet::new(&[("sitemap.xml.gz", &gzip(urlset(&["https://e.com/1", "https://e.com/2"]).as_bytes()))])
}

fn packed_pair() -> TestSet {
    let index = index(&["https://e.com/s-1.xml.gz 2024-01-01", "https://e.com/s-2.xml.gz 2024-01-01"]);
    let one = gzip(urlset(&["https://e.com/1", "https://e.com/2"]).as_bytes());
    let two = gzip(urlset(&["https://e.com/3", "https://e.com/4"]).as_bytes());
    TestSet::new(&[("index.xml", index.as_bytes()), ("s-1.xml.gz", &one), ("s-2.xml.gz", &two)])
}

/// Files in several folders that are opened as one set.
const FILES: &str = "here/a.xml there/b.xml here/deep/c.txt";

fn files() -> TestSet {
    let one = urlset(&["https://e.com/1", "https://e.com/2"]);
    let two = urlset(&["https://e.com/3", "https://e.com/4"]);
    let files =
        [("here/a.xml", one.as_bytes()), ("there/b.xml", two.as_bytes()), ("here/deep/c.txt", b"https://e.com/5\n")];
    let mut set = TestSet::new(&files);
    set.load(FILES);
    set
}

fn one_of_each(set: &mut TestSet) {
    set.set(&[0, 3], Field::Priority, Some("0.8"));
    set.add(2, "https://e.com/6");
}

/// An index of two files.
const INDEXES: &str = "index.xml index-2.xml";

fn two_indexes() -> TestSet {
    let pair = pair();
    let read = |name: &str| pair.read(name);
    let indexes = ["s-1.xml", "s-2.xml"].map(|part| index(&[&format!("https://e.com/{part} 2024-01-01")]));
    let mut set = TestSet::new(&[
        ("index.xml", indexes[0].as_bytes()),
        ("index-2.xml", indexes[1].as_bytes()),
        ("s-1.xml", read("s-1.xml").as_bytes()),
        ("s-2.xml", read("s-2.xml").as_bytes()),
    ]);
    set.load(INDEXES);
    set
}

/// Edits that create one part more than the index may list.
fn overfull(set: &mut TestSet) {
    split(set);
    set.limits.parts = 2;
}

fn empty_last(set: &mut TestSet) {
    set.delete([2, 3]);
    set.set(&[0], Field::Priority, Some("0.8"));
}

fn list() -> TestSet {
    TestSet::new(&[("urls.txt", b"https://e.com/1\nhttps://e.com/2\nhttps://e.com/3\n")])
}

fn list_into_parts(set: &mut TestSet) {
    set.limits = Limits { urls: 2, ..Limits::default() };
    set.add(0, "https://e.com/4");
    set.add(0, "https://e.com/5");
}

#[cfg(unix)]
fn linked_part() -> TestSet {
    let mut set = pair();
    fs::create_dir(set.path("real")).unwrap();
    fs::rename(set.path("s-2.xml"), set.path("real/two.xml")).unwrap();
    std::os::unix::fs::symlink("real/two.xml", set.path("s-2.xml")).unwrap();
    set.load("index.xml");
    set
}

#[cfg(unix)]
fn linked() -> TestSet {
    let mut set = TestSet::new(&[("real/file.xml", urlset(&["https://e.com/1", "https://e.com/2"]).as_bytes())]);
    for (link, to) in [("real/a", "file.xml"), ("b", "real/a"), ("c", "./b"), ("d", "c"), ("sitemap.xml", "d")] {
        std::os::unix::fs::symlink(to, set.path(link)).unwrap();
    }
    set.load("sitemap.xml");
    set
}

#[cfg(unix)]
fn linked_index() -> TestSet {
    let set = pair();
    let files: Vec<(String, Vec<u8>)> =
        set.files().into_iter().map(|(name, bytes)| (format!("set/{name}"), bytes)).collect();
    let mut set = TestSet::new(&files.iter().map(|(name, bytes)| (&**name, &**bytes)).collect::<Vec<_>>());
    fs::create_dir(set.path("far")).unwrap();
    fs::rename(set.path("set/index.xml"), set.path("far/index.xml")).unwrap();
    std::os::unix::fs::symlink("../far/index.xml", set.path("set/index.xml")).unwrap();
    set.load("set/index.xml");
    set
}

/// Whether the files include the record of a save.
pub(super) fn has_record(files: &Files) -> bool {
    files.keys().any(|name| name.ends_with(".sited.commit"))
}

#[cfg(unix)]
fn hard_linked() -> TestSet {
    let mut set = pair();
    fs::hard_link(set.path("s-2.xml"), set.path("other.xml")).unwrap();
    set.load("index.xml");
    set
}

pub(super) fn one_value(set: &mut TestSet) {
    set.set(&[0], Field::Priority, Some("0.8"));
}

/// Edits that split a file, create a new one, and change the index.
fn split(set: &mut TestSet) {
    set.limits = Limits { urls: 2, ..Limits::default() };
    set.set(&[2], Field::Priority, Some("0.8"));
    let entries = vec![NewEntry::Values([Some("https://e.com/new".into()), None, None, None])];
    set.edit(&Edit::Insert { sitemap: SitemapId(0), after: None, entries });
}

fn into_parts(set: &mut TestSet) {
    set.limits = Limits { urls: 2, ..Limits::default() };
    set.base_url = Some("https://e.com/".to_owned());
    one_value(set);
}

/// Renames one part, and changes a value in the other.
fn rename_part(set: &mut TestSet) {
    set.set(&[0], Field::Priority, Some("0.8"));
    set.edit(&Edit::Rename { file: Member::Sitemap(SitemapId(1)), name: "other.xml".into() });
}

fn empty_first(set: &mut TestSet) {
    set.delete([0, 1]);
    set.set(&[2], Field::Priority, Some("0.8"));
}

impl Scenario {
    /// The file beside which the record of a save is written.
    pub(super) fn first(&self) -> &'static str {
        self.main.split(' ').next().unwrap_or(self.main)
    }

    pub(super) fn edited(&self) -> TestSet {
        let mut set = (self.make)();
        (self.change)(&mut set);
        set
    }

    /// The files before and after.
    pub(super) fn outcomes(&self) -> (Files, Files) {
        let mut set = self.edited();
        let old = set.files();
        set.save();
        (old, set.files())
    }
}

/// Files by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;
