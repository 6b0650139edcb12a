//! Tests of save plans for whole sets.

use super::{Action, Limits};
use crate::document::edit::{Edit, NewEntry};
use crate::document::index::ChildState;
use crate::document::rows::{RowId, RowList};
use crate::document::sitemap::SitemapId;
use crate::files::fixture::{TestSet, index, lines, urlset};
use crate::protocol::Field;
use crate::protocol::limits::{BYTES_PER_FILE, URLS_PER_FILE};

/// Two files of two rows each, and their index.
fn pair() -> TestSet {
    let index = index(&["https://e.com/s-01.xml 2024-01-01", "https://e.com/s-02.xml 2024-01-01T10:00:00+02:00"]);
    let one = urlset(&["https://e.com/1", "https://e.com/2"]);
    let two = urlset(&["https://e.com/3", "https://e.com/4"]);
    TestSet::new(&[("sitemap_index.xml", index.as_bytes()), ("s-01.xml", one.as_bytes()), ("s-02.xml", two.as_bytes())])
}

fn urls(limit: u32) -> Limits {
    Limits { urls: limit, ..Limits::default() }
}

#[test]
fn a_plan_without_edits_writes_nothing() {
    let set = pair();
    let plan = set.plan();
    assert!(plan.is_empty() && plan.is_ready() && !plan.asks);
    assert_eq!((plan.outputs.len(), plan.summary()), (3, "writes nothing".to_owned()));
}

#[test]
fn one_changed_row_rewrites_its_file_and_the_index() {
    let mut set = pair();
    set.set(&[2], Field::Priority, Some("0.8"));
    let plan = set.plan();
    assert_eq!(lines(&plan), ["s-02.xml Rewritten 2>2 1 changed", "sitemap_index.xml Rewritten 2>2 1 file dated"]);
    assert!(!plan.asks);
    assert_eq!(plan.summary(), "rewrites 2 of 3 files");
    // Reverting the edit by hand leaves nothing to do.
    set.set(&[2], Field::Priority, None);
    assert!(set.plan().is_empty());
}

#[test]
fn descriptions_count_the_changes() {
    let mut set = pair();
    set.add(0, "https://e.com/new");
    set.delete([0]);
    set.set(&[1], Field::Lastmod, Some("2026-01-01"));
    assert_eq!(set.planned()[0], "s-01.xml Rewritten 2>2 1 changed, 1 added, 1 deleted");
    let mut set = pair();
    set.edit(&Edit::Reorder(vec![(SitemapId(1), RowList::from_ids([3, 2]))]));
    assert_eq!(set.planned()[0], "s-02.xml Rewritten 2>2 another order or layout");
}

#[test]
fn an_emptied_file_leaves_the_set_unless_it_is_the_last() {
    let mut set = pair();
    set.delete([0, 1]);
    let plan = set.plan();
    assert_eq!(
        lines(&plan),
        ["sitemap_index.xml Rewritten 2>1 1 file removed", "s-01.xml Removed 2>0 no URL left in it"]
    );
    assert!(plan.asks);
    assert!(plan.document.is_gone(SitemapId(0)) && !plan.document.is_gone(SitemapId(1)));
    set.delete([2, 3]);
    let plan = set.plan();
    assert_eq!(plan.count(Action::Removed), 0, "an empty set keeps its files");
    assert_eq!(plan.count(Action::Rewritten), 3);
}

#[test]
fn overflow_moves_to_a_file_with_the_next_number_that_the_index_lists() {
    let mut set = pair();
    set.limits = urls(2);
    set.add(0, "https://e.com/new");
    // Only the added row overflows, so its file keeps its bytes.
    assert_eq!(
        set.planned(),
        ["s-03.xml Created 0>1 1 URL of s-01.xml", "sitemap_index.xml Rewritten 2>3 1 file added"]
    );
    let mut set = pair();
    set.limits = urls(2);
    let entries = vec![NewEntry::Values([Some("https://e.com/new".into()), None, None, None])];
    set.edit(&Edit::Insert { sitemap: SitemapId(0), after: None, entries });
    let plan = set.plan();
    assert_eq!(
        lines(&plan),
        [
            "s-01.xml Rewritten 2>2 1 added, 1 moved to new files",
            "s-03.xml Created 0>1 1 URL of s-01.xml",
            "sitemap_index.xml Rewritten 2>3 1 file added, 1 file dated"
        ]
    );
    assert!(plan.asks);
    let part = plan.outputs.iter().find(|output| &*output.name == "s-03.xml").unwrap();
    assert_eq!(part.url.as_deref(), Some("https://e.com/s-03.xml"));
    // The name of an existing file is skipped.
    std::fs::write(set.path("s-03.xml"), "theirs").unwrap();
    assert!(lines(&set.plan())[1].starts_with("s-04.xml Created"));
}

#[test]
fn a_single_file_becomes_the_index_of_its_parts() {
    let mut set =
        TestSet::new(&[("sitemap.xml", urlset(&["https://e.com/1", "https://e.com/2", "http://e.org/3"]).as_bytes())]);
    set.limits = urls(1);
    assert!(set.plan().is_empty(), "untouched files keep their bytes");
    set.set(&[0], Field::Loc, Some("https://e.com/0"));
    let plan = set.plan();
    assert_eq!(plan.needs_base.as_deref(), Some("https://e.com/"));
    assert!(!plan.is_ready());
    set.base_url = Some("https://www.e.com/maps".to_owned());
    std::fs::write(set.path("sitemap-2.xml"), "theirs").unwrap();
    let plan = set.plan();
    assert!(plan.is_ready() && plan.asks);
    assert_eq!(
        lines(&plan),
        [
            "sitemap-1.xml Created 0>1 1 URL of sitemap.xml",
            "sitemap-3.xml Created 0>1 1 URL of sitemap.xml",
            "sitemap-4.xml Created 0>1 1 URL of sitemap.xml",
            "sitemap.xml Rewritten 0>3 index of 3 files"
        ]
    );
    let children: Vec<&str> = plan.document.index().unwrap().children.iter().map(|child| &*child.loc).collect();
    assert_eq!(children[0], "https://www.e.com/maps/sitemap-1.xml");
    assert_eq!(children[2], "https://www.e.com/maps/sitemap-4.xml");
}

#[test]
fn the_url_limit_is_exact() {
    let locs: Vec<String> = (0..=URLS_PER_FILE).map(|number| format!("https://e.com/{number}")).collect();
    let locs: Vec<&str> = locs.iter().map(String::as_str).collect();
    let full = TestSet::new(&[("sitemap.xml", urlset(&locs[1..]).as_bytes())]);
    assert_eq!(full.document.live(), 50_000);
    assert!(full.plan().is_empty());
    let mut over = TestSet::new(&[("sitemap.xml", urlset(&locs).as_bytes())]);
    over.base_url = Some("https://e.com/".to_owned());
    over.set(&[0], Field::Loc, Some("https://e.com/first"));
    let sizes: Vec<u32> = over.plan().outputs.iter().map(|output| output.urls_after).collect();
    assert_eq!(sizes, [50_000, 1, 2]);
}

#[test]
fn the_byte_limit_is_exact_and_counts_the_finished_file() {
    let one = urlset(&["https://e.com/1", "https://e.com/2"]);
    let entry = "https://e.com/2";
    for (size, parts) in [(BYTES_PER_FILE - 1, 0), (BYTES_PER_FILE, 0), (BYTES_PER_FILE + 1, 2)] {
        // A comment in the second entry gives the file the exact size.
        let room = size as usize - one.len() - "<!---->".len();
        let text = one.replace(entry, &format!("{entry}<!--{}-->", "x".repeat(room)));
        assert_eq!(text.len() as u64, size);
        let mut set = TestSet::new(&[("sitemap.xml", text.as_bytes())]);
        set.base_url = Some("https://e.com/".to_owned());
        // An edit that does not change the size.
        set.set(&[0], Field::Loc, Some("https://e.com/0"));
        let plan = set.plan();
        assert_eq!(plan.count(Action::Created), parts, "{size}");
        assert!(plan.outputs.iter().all(|output| output.bytes <= BYTES_PER_FILE), "{size}");
        assert!(plan.is_ready(), "{:?}", plan.problems);
    }
}

#[test]
fn a_row_that_is_too_large_for_a_file_is_a_problem() {
    let mut set = pair();
    set.limits = Limits { urls: 10, bytes: 700, ..Limits::default() };
    set.set(&[1], Field::Loc, Some(&format!("https://e.com/{}", "x".repeat(700))));
    let plan = set.plan();
    assert_eq!(plan.problems.len(), 1);
    assert_eq!(plan.problems[0].row, Some(RowId(1)));
    assert!(!plan.is_ready());
}

#[test]
fn a_bad_base_url_an_incomplete_set_and_a_missing_name_are_problems() {
    let mut set = pair();
    set.base_url = Some("e.com".to_owned());
    assert!(set.plan().problems[0].message.contains("e.com is no base URL"));
    set.base_url = None;
    let mut index = set.document.index().unwrap().clone();
    index.children_mut()[1].state = ChildState::NotLoaded;
    set.document.set_index(Some(index));
    assert!(set.plan().problems[0].message.contains("loading was stopped"));
    let (source, sitemap) = crate::files::blank(None);
    set.document = crate::document::Document::default();
    set.document.append(source, [], sitemap);
    assert!(set.plan().problems[0].message.contains("no file name"));
}

#[test]
fn a_copy_creates_every_file_and_removes_none() {
    let mut set = pair();
    set.delete([0, 1]);
    let target = set.path("copy/index.xml");
    let plan = set.plan_to(Some(&target));
    assert_eq!(lines(&plan), ["s-02.xml Created 0>2 2 URLs", "index.xml Created 0>1 index of 1 file"]);
    assert!(plan.asks);
    // A single file at a free path needs no confirmation; replacing another file does.
    let mut set = TestSet::new(&[("sitemap.xml", urlset(&["https://e.com/1"]).as_bytes()), ("theirs.xml", b"x")]);
    set.set(&[0], Field::Priority, Some("0.1"));
    let plan = set.plan_to(Some(&set.path("new.xml")));
    assert_eq!((lines(&plan), plan.asks), (vec!["new.xml Created 0>1 1 URL".to_owned()], false));
    let plan = set.plan_to(Some(&set.path("theirs.xml")));
    assert_eq!((plan.count(Action::Replaced), plan.asks), (1, true));
}
