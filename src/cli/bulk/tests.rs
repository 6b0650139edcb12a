//! The same is left of a set whether it is held or gone through.

use super::super::args::{Line, Task};
use super::super::walk::tests::{LINKED, write};
use super::super::{Streams, apply, fix, rows, set, split};
use clap::Parser;
use flate2::read::GzDecoder;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// What a command line prints, results and notes, and the files it leaves, when sets of more than `held` bytes are gone
/// through.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    out: String,
    notes: String,
    files: BTreeMap<String, String>,
}

const RULES: &str = "[[rule]]\nname = \"pages\"\nwhere = \"path:/p/1*\"\npriority = 0.8\nchangefreq = \"weekly\"\n\
                     [[rule]]\nwhere = \"lastmod>2026-04-01\"\nlastmod = \"2026-03-01\"\n\
                     [[rule]]\nwhere = \"loc=nothing\"\npriority = 0.1\n\
                     [[rule]]\npriority = \"none\"\n";

fn run(words: &[&str], folder: &Path, held: u64) -> Left {
    let rules = folder.with_extension("toml");
    fs::write(&rules, RULES).unwrap();
    let out_of = folder.with_extension("out");
    let words = words.iter().map(|word| match *word {
        "PATH" => folder.to_str().unwrap(),
        "RULES" => rules.to_str().unwrap(),
        "OUT" => out_of.to_str().unwrap(),
        word => word,
    });
    let line = Line::try_parse_from(["sited"].into_iter().chain(words).chain(["--now", "2026-11-20"])).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let mut streams =
        Streams { out: &mut out, notes: &mut notes, state: None, meter: false, quiet: false, colour: false };
    let status = match line.task.unwrap() {
        Task::Set(task) => set::run(&task, held, &mut streams),
        Task::Fix(task) => fix::run(&task, held, &mut streams),
        Task::Replace(task) => rows::replace(&task, held, &mut streams),
        Task::Remove(task) => rows::remove(&task, held, &mut streams),
        Task::Dedupe(task) => rows::dedupe(&task, held, &mut streams),
        Task::Apply(task) => apply::run(&task, held, &mut streams),
        Task::Split(task) => split::run(&task, held, &mut streams),
        _ => unreachable!("only what writes"),
    };
    let notes = format!("{}{:?}", String::from_utf8(notes).unwrap(), status.map_err(|failure| failure.to_string()));
    let both = [folder, &out_of].into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let files = both.map(|entry| {
        let path = entry.unwrap().path();
        let mut text = Vec::new();
        // What is packed may be packed otherwise when it comes in other pieces.
        let mut file = fs::File::open(&path).unwrap();
        let is_packed = path.extension().is_some_and(|end| end == "gz");
        let read = if is_packed { GzDecoder::new(file).read_to_end(&mut text) } else { file.read_to_end(&mut text) };
        read.unwrap();
        (path.to_string_lossy().into_owned(), String::from_utf8(text).unwrap())
    });
    Left { out: String::from_utf8(out).unwrap(), notes, files: files.collect() }
}

/// What is left by the same line on a set that is held, and on one that is gone through; why the latter was held too.
fn both(words: &[&str], files: &[Vec<(u8, u8)>]) -> (Left, Left, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let mut left = [u64::MAX, 0].map(|held| {
        let _ = fs::remove_dir_all(&set);
        let _ = fs::remove_dir_all(set.with_extension("out"));
        fs::create_dir(&set).unwrap();
        write(&set, files);
        run(words, &set, held)
    });
    let why = left[1].notes.lines().find_map(|line| line.strip_prefix("all of the set is held in memory: "));
    let why = why.map(ToOwned::to_owned);
    if let Some(why) = &why {
        left[1].notes = left[1].notes.replace(&format!("all of the set is held in memory: {why}\n"), "");
    }
    // What a fix leaves is counted over all rows, and not said where they are not held.
    let without = |line: &str| format!("{}\n", line.split("; leaves ").next().unwrap_or_default());
    for left in &mut left {
        left.notes = left.notes.lines().map(without).collect();
    }
    let [held, through] = left;
    (held, through, why)
}

/// Lines, and why a large set has to be held for one.
const LINES: [(&[&str], Option<&str>); 24] = [
    (&["set", "PATH", "priority=0.8", "--where", "path:/p/1*"], None),
    (&["set", "PATH", "priority=0.8", "--accept-repairs"], None),
    (&["set", "PATH", "priority=+0.1", "lastmod=+1d", "--accept-repairs"], None),
    (&["set", "PATH", "lastmod=today", "changefreq=none", "--where", "is:duplicate", "--accept-repairs"], None),
    (&["set", "PATH", "priority=none", "--where", "severity>=warning", "--dry-run"], None),
    (&["set", "PATH", "priority=+0.1", "--dry-run"], None),
    (&["set", "PATH", "loc=https://e.com/same", "--where", "path:/p/2*", "--accept-repairs"], None),
    (&["replace", "PATH", "^http:", "https:", "--accept-repairs"], None),
    (&["replace", "PATH", "e.com/(.*)", "e.org/$1", "--dry-run"], None),
    (&["replace", "PATH", "nowhere", "x"], None),
    (&["remove", "PATH", "--where", "path:/p/*", "--accept-repairs"], None),
    (&["remove", "PATH", "--where", "path:/p/*", "--dry-run"], Some("no row is left of it")),
    (&["remove", "PATH", "--where", "loc:e.com", "--accept-repairs"], None),
    (&["remove", "PATH", "--where", "file:s1.xml", "--accept-repairs"], None),
    (&["fix", "PATH", "--accept-repairs"], None),
    (&["fix", "PATH"], None),
    (&["fix", "PATH", "--dry-run"], None),
    (&["fix", "PATH", "--where", "path:/p/*"], Some("files without a row are put right only where all rows are meant")),
    (
        &[
            "fix",
            "PATH",
            "--rule",
            "lastmod-*",
            "--rule",
            "lastmod-missing",
            "--rule",
            "index-lastmod-*",
            "--accept-repairs",
        ],
        None,
    ),
    (&["fix", "PATH", "--rule", "set-duplicate"], Some("these findings are put right by looking at several rows")),
    (&["dedupe", "PATH", "--accept-repairs"], None),
    (&["dedupe", "PATH", "--keep", "newest", "--equivalent", "--dry-run"], Some("no row is left of it")),
    (&["apply", "RULES", "PATH", "--accept-repairs"], None),
    (&["apply", "RULES", "PATH", "--check"], None),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_set_is_left_the_same_held_or_gone_through(
        files in prop::collection::vec(prop::collection::vec((0..40_u8, any::<u8>()), 0..12), 2..5),
    ) {
        // Links are put right by looking at both their ends, which a fix of all safe rules does.
        let is_linked = files.iter().flatten().any(|(_, value)| *value >= LINKED);
        for (words, may_be_held) in LINES {
            let (held, through, why) = both(words, &files);
            let is_by_links = is_linked && words[0] == "fix" && why.as_deref() == Some("its pages link to each other as alternates");
            prop_assert_eq!(&held.notes, &through.notes, "{:?}", words);
            prop_assert_eq!(&held.out, &through.out, "{:?}", words);
            prop_assert_eq!(&held.files, &through.files, "{:?}", words);
            prop_assert!(why.is_none() || is_by_links || why.as_deref() == may_be_held, "{:?}: {:?}", words, why);
        }
    }
}

#[test]
fn whatever_changes_a_large_set_is_not_held() {
    let files = [vec![(1, 0), (20, 2), (1, 4)], vec![(12, 3), (13, 3)], vec![(12, 4), (22, 1)]];
    let mut changed = 0;
    for (words, _) in LINES {
        let (held, through, why) = both(words, &files);
        assert_eq!(held, through, "{words:?}");
        changed += usize::from(through.notes.contains("saved "));
        let is_named = words.contains(&"set-duplicate");
        assert_eq!(why.is_some(), is_named, "{words:?}: {why:?}");
    }
    assert!(changed >= 8, "{changed}");
}

/// Many files that stay as they are make one line.
#[test]
fn a_plan_counts_what_stays_where_that_is_much() {
    let files: Vec<_> = (0..24).map(|number| vec![(number, 0)]).collect();
    let words = ["set", "PATH", "priority=0.8", "--where", "file:s1.xml", "--dry-run"];
    let (held, through, _) = both(&words, &files);
    assert_eq!(held, through);
    let staying: Vec<&str> = held.out.lines().filter(|line| line.starts_with("untouched")).collect();
    assert!(matches!(staying[..], [line] if line.ends_with(" files")), "{staying:?}");
    assert_eq!(held.out.lines().filter(|line| line.starts_with("rewritten")).count(), 1, "{}", held.out);
}

/// Splits, one after the other into the same folder: what is the same is left alone, what is left over is named or goes.
const SPLITS: [&[&str]; 6] = [
    &["split", "PATH", "-o", "OUT", "--max-urls", "7", "--dry-run"],
    &["split", "PATH", "-o", "OUT", "--max-urls", "7"],
    &["split", "PATH", "-o", "OUT", "--max-urls", "5", "--by", "section"],
    &["split", "PATH", "-o", "OUT", "--max-bytes", "700", "--by", "month", "--gzip"],
    &["split", "PATH", "-o", "OUT", "--by", "path:/p/*", "--by", "is:duplicate"],
    &["split", "PATH", "-o", "OUT", "--by", "host", "--prune"],
];

/// Writes a set of which every file is there: no other is split.
fn write_all(set: &Path, files: &[Vec<(u8, u8)>]) {
    write(set, files);
    let index = set.join("sitemap_index.xml");
    let text = fs::read_to_string(&index).unwrap();
    let whole = text.replace("<sitemap><loc>https://e.com/gone.xml</loc></sitemap>", "");
    assert_ne!(whole, text);
    fs::write(index, whole).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_set_is_split_the_same_held_or_gone_through(
        files in prop::collection::vec(prop::collection::vec((0..40_u8, any::<u8>()), 0..20), 2..5),
        orders in prop::collection::vec(0..SPLITS.len(), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("set");
        let left = [u64::MAX, 0].map(|held| {
            let _ = fs::remove_dir_all(&set);
            let _ = fs::remove_dir_all(set.with_extension("out"));
            fs::create_dir(&set).unwrap();
            write_all(&set, &files);
            orders.iter().map(|number| run(SPLITS[*number], &set, held)).collect::<Vec<_>>()
        });
        prop_assert!(!left[1].iter().any(|left| left.notes.contains("held in memory")), "{:?}", left[1]);
        for (number, (held, through)) in orders.iter().zip(left[0].iter().zip(&left[1])) {
            prop_assert_eq!(held, through, "{:?}", SPLITS[*number]);
        }
    }
}

/// Parts that are new are as private as the most private one that is there, whichever of them is written first.
#[cfg(unix)]
#[test]
fn new_parts_of_a_large_set_are_as_private_as_the_others() {
    use std::os::unix::fs::PermissionsExt;
    let files = [(1..12).map(|number| (number, 0)).collect(), (20..30).map(|number| (number, 1)).collect()];
    for held in [u64::MAX, 0] {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("set");
        fs::create_dir(&set).unwrap();
        write_all(&set, &files);
        run(SPLITS[1], &set, held);
        let out = set.with_extension("out");
        let last = out.join("sitemap-2.xml");
        fs::set_permissions(&last, fs::Permissions::from_mode(0o600)).unwrap();
        let there: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
        run(&["split", "PATH", "-o", "OUT", "--max-urls", "3"], &set, held);
        let now = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let new: Vec<_> = now.filter(|path| !there.contains(path)).collect();
        assert!(!new.is_empty());
        for path in new.iter().chain([&last]) {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{} {held}", path.display());
        }
    }
}
