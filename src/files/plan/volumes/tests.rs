//! Tests of index volumes: split by a save, read as one, changed as little as possible.

use super::*;
use crate::document::edit::Edit;
use crate::document::index::ChildState;
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::document::source::Source;
use crate::files::fixture::{TestSet, index, lines, urlset};
use crate::files::{Action, Options, load_many};
use crate::progress::Progress;
use crate::protocol::Field;
use proptest::prelude::*;
use std::collections::BTreeMap;

const DATED: &str = "2024-01-01";

fn part(number: u32) -> String {
    urlset(&[&*format!("https://e.com/{number}/a"), &*format!("https://e.com/{number}/b")])
}

/// A set whose index has these files, each with the given number of parts of two rows.
fn set_of(indexes: &[(&str, u32)]) -> TestSet {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut next = 1;
    for (name, parts) in indexes {
        let children: Vec<String> =
            (next..next + parts).map(|number| format!("https://e.com/s-{number}.xml {DATED}")).collect();
        files.push(((*name).to_owned(), index(&children.iter().map(String::as_str).collect::<Vec<_>>())));
        next += parts;
    }
    files.extend((1..next).map(|number| (format!("s-{number}.xml"), part(number))));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (&**name, text.as_bytes())).collect();
    let mut set = TestSet::new(&files);
    set.load(&indexes.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" "));
    set.limits = Limits { urls: 2, parts: 2, ..Limits::default() };
    set
}

/// The file names that an index file lists.
fn listed(set: &TestSet, name: &str) -> Vec<String> {
    let text = set.read(name);
    let locs = text.split("<loc>https://e.com/").skip(1).filter_map(|rest| rest.split('<').next());
    locs.map(str::to_owned).collect()
}

/// Adds a row that creates a new part.
fn overflow(set: &mut TestSet, part: u32, path: &str) {
    set.add(part, &format!("https://e.com/{path}"));
}

#[test]
fn one_part_over_the_limit_creates_a_second_index_and_is_reported() {
    let mut set = set_of(&[("sitemap_index.xml", 2)]);
    let before = set.read("sitemap_index.xml");
    overflow(&mut set, 0, "new");
    let plan = set.plan();
    assert_eq!(
        lines(&plan),
        ["s-3.xml Created 0>1 1 URL of s-1.xml", "sitemap_index-2.xml Created 0>1 index of 1 file"],
        "the first index lists what it listed"
    );
    assert!(plan.is_ready() && plan.asks, "{:?}", plan.problems);
    assert!(plan.losses[0].contains("there are 2 indexes; submit each: sitemap_index.xml, sitemap_index-2.xml"));
    set.carry_out(&plan);
    assert_eq!(set.read("sitemap_index.xml"), before);
    assert_eq!(listed(&set, "sitemap_index-2.xml"), ["s-3.xml"]);
    assert!(set.plan().is_empty(), "a second save changes nothing: {:?}", set.planned());
    // Opened by its paths or by its folder, it is one document again.
    let locs = set.locs();
    for names in ["sitemap_index.xml sitemap_index-2.xml", "."] {
        set.load(names);
        assert_eq!((set.locs(), set.document.index().unwrap().file_count()), (locs.clone(), 2), "{names}");
        assert!(set.plan().is_empty(), "{names}: {:?}", set.planned());
    }
    // Further parts are added to the second index, and only that one is written.
    overflow(&mut set, 2, "more");
    overflow(&mut set, 1, "most");
    assert_eq!(
        set.planned(),
        [
            "s-3.xml Rewritten 1>2 1 added",
            "s-4.xml Created 0>1 1 URL of s-2.xml",
            "sitemap_index-2.xml Rewritten 1>2 1 file added"
        ]
    );
    assert_eq!(set.plan().losses.len(), 0, "the second index is not reported again");
}

#[test]
fn an_edit_writes_only_the_index_that_lists_its_part() {
    let mut set = set_of(&[("index.xml", 2), ("index-2.xml", 2), ("index-3.xml", 1)]);
    assert!(set.plan().is_empty());
    set.set(&[4], Field::Priority, Some("0.8"));
    assert_eq!(set.planned(), ["s-3.xml Rewritten 2>2 1 changed", "index-2.xml Rewritten 2>2 1 file dated"]);
    let before = set.files();
    set.save();
    let after = set.files();
    let changed: Vec<&String> = after.keys().filter(|name| after[*name] != before[*name]).collect();
    assert_eq!(changed, ["index-2.xml", "s-3.xml"]);
    assert!(set.read("index-2.xml").contains("<lastmod>2026-11-20</lastmod>"));
}

#[test]
fn an_emptied_part_leaves_its_index_and_an_empty_index_is_removed() {
    let mut set = set_of(&[("index.xml", 2), ("index-2.xml", 1)]);
    set.delete([4, 5]);
    assert_eq!(set.planned(), ["index-2.xml Removed 1>0 no file left in it", "s-3.xml Removed 2>0 no URL left in it"]);
    set.save();
    assert_eq!(set.names(), ["index.xml", "s-1.xml", "s-2.xml"]);
    assert_eq!(set.document.index().unwrap().file_count(), 1);
    // The set is opened by its first index, so the entries of the next one move into it.
    let mut set = set_of(&[("index.xml", 1), ("index-2.xml", 2)]);
    set.delete([0, 1]);
    set.save();
    assert_eq!(set.names(), ["index.xml", "s-2.xml", "s-3.xml"]);
    assert_eq!(listed(&set, "index.xml"), ["s-2.xml", "s-3.xml"]);
    set.load("index.xml");
    assert_eq!(set.document.live(), 4);
}

/// A file that is over a limit when it is read is split only when it is written; its last entries move to the next
/// file.
#[test]
fn an_index_over_a_limit_is_split_when_it_is_written() {
    let mut set = set_of(&[("index.xml", 4), ("index-2.xml", 1)]);
    assert!(set.plan().is_empty(), "untouched files keep their bytes");
    set.set(&[8], Field::Priority, Some("0.8"));
    assert_eq!(set.planned(), ["s-5.xml Rewritten 2>2 1 changed", "index-2.xml Rewritten 1>1 1 file dated"]);
    set.set(&[0], Field::Priority, Some("0.8"));
    set.save();
    let all = ["index.xml", "index-2.xml", "index-3.xml"].map(|name| listed(&set, name));
    let of = |numbers: &[u32]| numbers.iter().map(|number| format!("s-{number}.xml")).collect::<Vec<_>>();
    assert_eq!(all, [of(&[1, 2]), of(&[3, 4]), of(&[5])]);
    assert!(set.plan().is_empty());
}

#[test]
fn a_single_file_may_become_several_indexes() {
    let locs: Vec<String> = (0..10).map(|number| format!("https://e.com/{number}")).collect();
    let locs: Vec<&str> = locs.iter().map(String::as_str).collect();
    let mut set = TestSet::new(&[("sitemap.xml", urlset(&locs).as_bytes())]);
    set.limits = Limits { urls: 2, parts: 2, ..Limits::default() };
    set.base_url = Some("https://e.com/".to_owned());
    set.set(&[0], Field::Priority, Some("0.8"));
    let plan = set.plan();
    assert!(plan.losses[0].contains("sitemap.xml, sitemap-index-2.xml, sitemap-index-3.xml"), "{:?}", plan.losses);
    set.carry_out(&plan);
    assert_eq!(listed(&set, "sitemap.xml"), ["sitemap-1.xml", "sitemap-2.xml"]);
    assert_eq!(listed(&set, "sitemap-index-3.xml"), ["sitemap-5.xml"]);
    set.load(".");
    assert_eq!(set.locs(), locs);
    assert!(set.plan().is_empty());
}

#[test]
fn a_copy_has_the_same_number_of_indexes_under_its_own_name() {
    let mut set = set_of(&[("index.xml", 2), ("index-2.xml", 1)]);
    set.set(&[0], Field::Priority, Some("0.8"));
    let plan = set.plan_to(Some(&set.path("copy/all_index.xml")));
    set.carry_out(&plan);
    assert!(set.plan().is_empty(), "the document has moved to the copy: {:?}", set.planned());
    assert_eq!(listed(&set, "copy/all_index-2.xml"), ["s-3.xml"]);
    set.load("copy/all_index.xml copy/all_index-2.xml");
    assert_eq!(set.document.live(), 6);
}

/// Each index has a root with other names, a comment before the first entry and no final line break.
#[test]
fn each_index_keeps_its_own_head_and_tail() {
    let mut set = set_of(&[("index.xml", 1), ("index-2.xml", 1)]);
    let own =
        set.read("index-2.xml").replace("<sitemapindex", "<!-- second -->\r\n<sitemapindex").trim_end().to_owned();
    std::fs::write(set.path("index-2.xml"), own.clone() + "<!-- end -->").unwrap();
    set.load("index.xml index-2.xml");
    set.set(&[2], Field::Priority, Some("0.8"));
    set.save();
    assert_eq!(set.read("index-2.xml"), own.replace(DATED, "2026-11-20") + "<!-- end -->");
}

#[test]
fn files_that_cannot_be_joined_to_one_index_are_refused_or_reported() {
    let set = set_of(&[("index.xml", 2), ("index-2.xml", 1)]);
    let read = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|name| set.path(name)).collect();
        let loaded = load_many(&paths, &Options::default(), &Progress::default(), &|_| scan_nothing(), &mut |_| ());
        loaded.map(|loaded| {
            let unread = loaded.unread.iter().map(|error| error.path.file_name().unwrap().to_str().unwrap().to_owned());
            (loaded.index.unwrap().children.len(), unread.collect::<Vec<_>>())
        })
    };
    assert_eq!(read(&["index.xml", "index-2.xml"]).unwrap(), (3, vec![]));
    assert_eq!(read(&["index.xml", "index-2.xml", "index.xml"]).unwrap(), (3, vec![]), "a repeated path is read once");
    assert_eq!(read(&["index.xml", "index-9.xml"]).unwrap(), (2, vec!["index-9.xml".to_owned()]));
    // A damaged index is read up to the damage.
    let cut = set.read("index.xml").replace("</sitemapindex>", "<sitemap><loc>https://e.com/s-9");
    std::fs::write(set.path("cut.xml"), cut).unwrap();
    assert_eq!(read(&["index-2.xml", "cut.xml"]).unwrap(), (3, vec![]));
    std::fs::write(set.path("page.xml"), "<html><body>404</body></html>").unwrap();
    assert_eq!(read(&["index.xml", "page.xml"]).unwrap(), (2, vec!["page.xml".to_owned()]));
    let other = set.read("index.xml").replace("schemas/sitemap/0.9\"", "schemas/sitemap/0.9\" xmlns:x=\"urn:x\"");
    std::fs::write(set.path("index-3.xml"), other).unwrap();
    assert!(read(&["index.xml", "index-3.xml"]).unwrap_err().to_string().contains("declares other namespaces"));
    std::fs::create_dir(set.path("deep")).unwrap();
    std::fs::write(set.path("deep/index-2.xml"), set.read("index-2.xml")).unwrap();
    assert!(read(&["index.xml", "deep/index-2.xml"]).unwrap_err().to_string().contains("another folder"));
    assert!(read(&["index.xml", "s-1.xml"]).is_err());
}

fn scan_nothing() -> crate::xml::scan::Ignore {
    crate::xml::scan::Ignore
}

/// In a folder, the further files of an index are those whose names match, that are indexes and that no index lists.
#[test]
fn a_folder_is_opened_by_all_files_of_its_index() {
    let set = set_of(&[("sitemap_index.xml", 1), ("sitemap_index-2.xml", 1), ("sitemap_index-10.xml", 1)]);
    std::fs::write(set.path("sitemap_index-3.xml"), part(9)).unwrap();
    std::fs::write(set.path("sitemap_index-4.xml.gz"), b"x").unwrap();
    let nested = index(&["https://e.com/sitemap_index-12.xml", "https://e.com/s-3.xml"]);
    std::fs::write(set.path("sitemap_index-11.xml"), nested).unwrap();
    std::fs::write(set.path("sitemap_index-12.xml"), index(&["https://e.com/s-1.xml"])).unwrap();
    let found = crate::files::find_all_in_folder(&set.path(""), &Options::default());
    let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["sitemap_index.xml", "sitemap_index-2.xml", "sitemap_index-10.xml", "sitemap_index-11.xml"]);
}

/// Undoing a save that created an index, and saving again, removes the index.
#[test]
fn saving_an_undone_document_restores_its_single_index() {
    let mut set = set_of(&[("index.xml", 2)]);
    let before = set.files();
    let old = set.document.clone();
    overflow(&mut set, 1, "new");
    set.save();
    assert!(set.names().contains(&"index-2.xml".to_owned()));
    let new = set.document.clone();
    set.document = old;
    set.save();
    let dated = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(dated(&set.files()), dated(&before));
    set.document = new;
    set.save();
    assert_eq!(listed(&set, "index-2.xml"), ["s-3.xml"]);
}

#[derive(Debug, Clone)]
enum Act {
    /// Adds a row to a part, which may create a new part.
    Add(u32),
    Empty(u32),
    Touch(u32),
    Save,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0u32..40).prop_map(Act::Add),
        1 => (0u32..40).prop_map(Act::Empty),
        2 => (0u32..40).prop_map(Act::Touch),
        3 => Just(Act::Save),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After any edits and a save: every part is listed once, in order, in files within both limits (unless a single
    /// entry is over); a second save changes nothing; a set that only grew keeps the bytes of all index files but the
    /// last; and reading the files again gives the saved document.
    #[test]
    fn parts_are_split_among_indexes(
        parts in 1u32..4,
        index_bytes in prop_oneof![Just(u64::MAX), 150u64..700],
        acts in proptest::collection::vec(act(), 1..24),
    ) {
        let mut set = set_of(&[("index.xml", 1)]);
        set.limits = Limits { urls: 2, parts, index_bytes, ..Limits::default() };
        let mut next = 0;
        let mut only_grew = true;
        for act in acts.into_iter().chain([Act::Save]) {
            let files = set.document.sitemaps().len() as u32;
            let live = |set: &TestSet, number: u32| {
                let id = SitemapId(number % files);
                let rows = set.document.sitemap(id).unwrap().rows.iter();
                rows.filter(|row| set.document.is_live(*row)).map(|row: RowId| row.0).collect::<Vec<_>>()
            };
            match act {
                Act::Add(number) if !set.document.is_gone(SitemapId(number % files)) => {
                    next += 1;
                    // Only rows appended to a full part leave all other parts unchanged.
                    only_grew &= live(&set, number).len() >= 2;
                    set.add(number % files, &format!("https://e.com/new/{next}"));
                }
                Act::Empty(number) => {
                    only_grew = false;
                    let rows = live(&set, number);
                    set.delete(rows);
                }
                Act::Touch(number) => {
                    only_grew = false;
                    let rows = live(&set, number);
                    set.set(&rows, Field::Priority, Some("0.8"));
                }
                Act::Add(_) => {}
                Act::Save => {
                    let before = set.saved.index().unwrap().clone();
                    let plan = set.plan();
                    prop_assert!(plan.problems.is_empty(), "{:?}", plan.problems);
                    set.carry_out(&plan);
                    prop_assert!(set.plan().is_empty(), "{:?}", set.planned());
                    let index = set.document.index().unwrap().clone();
                    let loaded = |index: &Index| {
                        let ids = index.children.iter().map(|child| match child.state {
                            ChildState::Loaded(id) => id.0,
                            _ => u32::MAX,
                        });
                        ids.collect::<Vec<_>>()
                    };
                    let there = (0..set.document.sitemaps().len() as u32)
                        .filter(|id| set.document.sitemap(SitemapId(*id)).unwrap().path.is_some());
                    prop_assert_eq!(loaded(&index), there.collect::<Vec<_>>());
                    for file in index.files() {
                        let bytes = std::fs::read(file.path.unwrap()).unwrap();
                        prop_assert_eq!(&bytes, &file.bytes());
                        prop_assert!(file.entries.len() <= parts as usize);
                        prop_assert!(file.len() <= index_bytes || file.entries.len() == 1);
                    }
                    if only_grew {
                        let kept = before.file_count() - 1;
                        for (was, is) in before.files().zip(index.files()).take(kept) {
                            prop_assert!(was.has_bytes_of(&is));
                        }
                    }
                    only_grew = true;
                    let names: Vec<String> = index.files().map(|file| file.name.to_string()).collect();
                    let locs = set.locs();
                    set.load(&names.join(" "));
                    prop_assert_eq!(&set.locs(), &locs);
                    prop_assert!(set.plan().is_empty(), "{:?}", set.planned());
                }
            }
        }
    }
}

/// The name of an existing file of another program is skipped.
#[test]
fn a_taken_name_is_skipped() {
    let mut set = set_of(&[("index.xml", 2)]);
    std::fs::write(set.path("index-2.xml"), "theirs").unwrap();
    overflow(&mut set, 0, "new");
    let plan = set.plan();
    assert!(plan.outputs.iter().any(|output| &*output.name == "index-3.xml" && output.action == Action::Created));
    set.carry_out(&plan);
    assert_eq!(set.read("index-2.xml"), "theirs");
}

/// An entry that is added by an edit of the index belongs to the file of the entry before it.
#[test]
fn edits_of_the_index_stay_within_its_files() {
    let mut set = set_of(&[("index.xml", 2), ("index-2.xml", 1)]);
    let source = &set.document.index().unwrap().source;
    let bytes = String::from_utf8(source.bytes().to_vec()).unwrap().replace("/s-2.xml", "/s-2.xml?v=2");
    let frame = Arc::new(Source::of_text(bytes.into_bytes()).unwrap());
    set.edit(&Edit::Frame { file: crate::document::sitemap::Member::Index, frame });
    assert_eq!(set.planned(), ["index.xml Rewritten 2>2 1 file added, 1 file removed"]);
    set.save();
    assert_eq!((listed(&set, "index.xml").len(), listed(&set, "index-2.xml").len()), (2, 1));
}
