//! Tests of bulk changes: the files written are the same whether a set is in memory or streamed.

use super::super::args::{Cli, Task};
use super::super::set_reader::tests::write;
use super::super::{Streams, apply, check, fix, rows, set, split};
use clap::Parser;
use flate2::read::GzDecoder;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use tempfile::TempDir;

/// The output, notes and files of a run.
#[derive(Debug, PartialEq, Eq)]
struct RunResult {
    out: String,
    notes: String,
    files: BTreeMap<String, String>,
}

const RULES: &str = "[[rule]]\nname = \"pages\"\nwhere = \"path:/p/1*\"\npriority = 0.8\nchangefreq = \"weekly\"\n\
                     [[rule]]\nwhere = \"lastmod>2026-04-01\"\nlastmod = \"2026-03-01\"\n\
                     [[rule]]\nwhere = \"loc=nothing\"\npriority = 0.1\n\
                     [[rule]]\npriority = \"none\"\n";

/// Runs a command line; sets of more than `limit` bytes are streamed.
fn run(line: &[&str], folder: &Path, limit: u64) -> RunResult {
    let rules = folder.with_extension("toml");
    fs::write(&rules, RULES).unwrap();
    let (urls, table) = (folder.with_extension("urls"), folder.with_extension("csv"));
    fs::write(&urls, URLS).unwrap();
    fs::write(&table, TABLE).unwrap();
    let out_of = folder.with_extension("out");
    let words = line.iter().map(|word| match *word {
        "PATH" => folder.to_str().unwrap(),
        "RULES" => rules.to_str().unwrap(),
        "URLS" => urls.to_str().unwrap(),
        "TABLE" => table.to_str().unwrap(),
        "OUT" => out_of.to_str().unwrap(),
        word => word,
    });
    // No test here is about files without entries, and `split` has no option for them.
    let agreed = ["--now", "2026-11-20", "--allow-missing", "--allow-empty"];
    let agreed = agreed.into_iter().filter(|word| line[0] != "split" || *word != "--allow-empty");
    let line = Cli::try_parse_from(["sited"].into_iter().chain(words).chain(agreed)).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let mut streams = Streams::new(&mut out, &mut notes);
    let status = match line.task.unwrap() {
        Task::Set(task) => set::run(&task, limit, &mut streams),
        Task::Fix(task) => fix::run(&task, limit, &mut streams),
        Task::Replace(task) => rows::replace(&task, limit, &mut streams),
        Task::Remove(task) => rows::remove(&task.rows, limit, &mut streams),
        Task::Keep(task) => rows::keep(&task.rows, limit, &mut streams),
        Task::Dedupe(task) => rows::dedupe(&task, limit, &mut streams),
        Task::Apply(task) => apply::run(&task, limit, &mut streams),
        Task::Split(task) => split::run(&task, limit, &mut streams),
        Task::Check(task) => check::run_with_limit(&task, limit, &mut streams),
        _ => unreachable!("only what writes"),
    };
    let notes = String::from_utf8(notes).unwrap();
    // A command that is refused at the first file does not report the files left out.
    let is_kept = |line: &&str| status.is_ok() || !line.starts_with("left out: ");
    let notes: String = notes.split_inclusive('\n').filter(is_kept).collect();
    let notes = format!("{notes}{:?}", status.map_err(|failure| failure.to_string()));
    let both = [folder, &out_of].into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let files = both.map(|entry| {
        let path = entry.unwrap().path();
        let mut text = Vec::new();
        // Compressed bytes may differ if they are written in other pieces, so files are compared unpacked.
        let mut file = fs::File::open(&path).unwrap();
        let is_packed = path.extension().is_some_and(|end| end == "gz");
        let read = if is_packed { GzDecoder::new(file).read_to_end(&mut text) } else { file.read_to_end(&mut text) };
        read.unwrap();
        (path.to_string_lossy().into_owned(), String::from_utf8(text).unwrap())
    });
    RunResult { out: String::from_utf8(out).unwrap(), notes, files: files.collect() }
}

/// The results of one line in memory and streamed, and why the streamed run loaded the whole set, if it did.
fn both(words: &[&str], files: &[Vec<(u8, u8)>]) -> (RunResult, RunResult, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let mut left = [u64::MAX, 0].map(|limit| {
        let _ = fs::remove_dir_all(&set);
        let _ = fs::remove_dir_all(set.with_extension("out"));
        fs::create_dir(&set).unwrap();
        write(&set, files);
        run(words, &set, limit)
    });
    let why = left[1].notes.lines().find_map(|line| line.strip_prefix("loading the whole set into memory: "));
    let why = why.map(ToOwned::to_owned);
    if let Some(why) = &why {
        left[1].notes = left[1].notes.replace(&format!("loading the whole set into memory: {why}\n"), "");
    }
    let [loaded, streamed] = left;
    (loaded, streamed, why)
}

/// Command lines, and why a large set may have to be loaded for each.
const LINES: [(&[&str], Option<&str>); 54] = [
    (&["fix", "PATH", "--rule", "priority-comma", "--accept-repairs"], None),
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
    (&["replace", "PATH", "e.com/", "e.org/", "--in", "all", "--accept-repairs"], None),
    (&["replace", "PATH", "e.com/", "e.org/", "--in", "alternates,index", "--accept-repairs"], None),
    (&["replace", "PATH", "e.com/", "e.org/", "--in", "index", "--dry-run"], None),
    (&["replace", "PATH", "e.com/", "e.org/", "--in", "all", "--where", "path:/p/1*", "--accept-repairs"], None),
    (&["fix", "PATH", "--base-url", "https://e.net/x/", "--rewrite-index", "--accept-repairs"], None),
    (&["remove", "PATH", "--where", "path:/p/*", "--accept-repairs"], None),
    (&["remove", "PATH", "--where", "path:/p/*", "--dry-run"], Some("no row of a file is left")),
    (&["remove", "PATH", "--where", "loc:e.com", "--accept-repairs"], None),
    (&["remove", "PATH", "--where", "file:s1.xml", "--accept-repairs"], None),
    (&["fix", "PATH", "--accept-repairs"], None),
    (&["fix", "PATH"], None),
    (&["fix", "PATH", "--dry-run"], None),
    (&["fix", "PATH", "--where", "path:/p/*"], Some("files without rows are fixed only if all rows are selected")),
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
    (&["fix", "PATH", "--rule", "set-duplicate"], Some("fixes of these findings need several rows")),
    (&["fix", "PATH", "--rule", "hreflang-self-missing", "--accept-repairs"], None),
    (
        &["fix", "PATH", "--rule", "hreflang-self-missing", "--where", "path:/p/*", "--dry-run"],
        Some("files without rows are fixed only if all rows are selected"),
    ),
    (&["fix", "PATH", "--rule", "hreflang-no-return"], Some("fixes of links between pages need both pages")),
    (&["fix", "PATH", "--rule", "lastmod-future", "--answer", "today", "--accept-repairs"], None),
    (&["fix", "PATH", "--rule", "lastmod-impossible", "--answer", "remove", "--dry-run"], None),
    (
        &["fix", "PATH", "--rule", "set-mixed-scheme", "--answer", "https"],
        Some("the answer needs several rows or files"),
    ),
    (&["dedupe", "PATH", "--accept-repairs"], None),
    (&["dedupe", "PATH", "--keep", "newest", "--equivalent", "--dry-run"], Some("no row of a file is left")),
    (&["apply", "PATH", "RULES", "--accept-repairs"], None),
    (&["apply", "PATH", "RULES", "--check"], None),
    (&["set", "PATH", "priority=0.8", "--check"], None),
    (&["set", "PATH", "priority=0.8", "--urls-from", "URLS", "--accept-repairs"], None),
    (&["set", "PATH", "lastmod=today", "--urls-from", "URLS", "--where", "path:/p/*", "--dry-run"], None),
    (&["set", "PATH", "priority=0.8", "--urls-from", "URLS", "--where", "is:duplicate", "--check"], None),
    (&["set", "PATH", "--from", "TABLE", "--accept-repairs"], None),
    (&["set", "PATH", "--from", "TABLE", "--all", "--where", "path:/p/*", "--accept-repairs"], None),
    (&["set", "PATH", "--from", "TABLE", "--urls-from", "URLS", "--dry-run"], None),
    (&["set", "PATH", "--from", "TABLE", "--where", "is:duplicate", "--check"], None),
    (&["remove", "PATH", "--urls-from", "URLS", "--accept-repairs"], None),
    (&["keep", "PATH", "--urls-from", "URLS", "--accept-repairs"], None),
    (&["keep", "PATH", "--where", "path:/p/*", "--check"], None),
    (&["replace", "PATH", "e.com/", "e.org/", "--in", "index", "--check"], None),
    (&["replace", "PATH", "^http:", "https:", "--check"], None),
    (&["fix", "PATH", "--check"], None),
    (&["check", "PATH", "--all"], None),
    (
        &["check", "PATH", "--all", "--never", "/p/1", "--must", "https://e.com/p/1", "--must", "https://e.com/none"],
        None,
    ),
    (&["dedupe", "PATH", "--check"], None),
    (&["fix", "PATH", "--rule", "lastmod-*,priority-*", "--check"], None),
];

const URLS: &str =
    "\u{feff}https://e.com/a\r\n# those of page 1\nhttps://e.com/p/12\n\nhttps://e.com/p/20\nhttps://e.com/nowhere\n";

const TABLE: &str = "Page,LOC,LastMod,priority\n\
                     a,https://e.com/a,2026-01-02,0.9\n\
                     b,https://e.com/p/12,,0.9\n\
                     c,https://e.com/p/20,none,\n\
                     d,https://e.com/p/13,2026-01-02T10:00:00Z,none\n\
                     e,https://e.com/nowhere,2026-01-02,0.1\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn commands_write_the_same_in_memory_and_streamed(
        files in prop::collection::vec(prop::collection::vec((0..40_u8, any::<u8>()), 0..12), 2..5),
    ) {
        for (words, may_be_held) in LINES {
            let (loaded, streamed, why) = both(words, &files);
            prop_assert_eq!(&loaded.notes, &streamed.notes, "{:?}", words);
            prop_assert_eq!(&loaded.out, &streamed.out, "{:?}", words);
            prop_assert_eq!(&loaded.files, &streamed.files, "{:?}", words);
            let is_tried = words[0] == "fix" && why.as_deref() == Some("this fix must be tested against all rows first");
            prop_assert!(why.is_none() || is_tried || why.as_deref() == may_be_held, "{:?}: {:?}", words, why);
        }
    }
}

#[test]
fn rows_that_fixes_skip_are_counted_the_same_when_streamed() {
    let files = [vec![(1, 232)], vec![(4, 233)]];
    for (words, _) in LINES {
        let (loaded, streamed, _) = both(words, &files);
        assert_eq!(loaded, streamed, "{words:?}");
    }
}

/// The fix for the order of fields replaces the text of an entry whose URL other rows are compared with.
#[test]
fn a_new_url_in_a_replaced_entry_is_the_same_in_memory_and_streamed() {
    let files = [vec![], vec![(0, 0), (4, 4)]];
    for words in [&["fix", "PATH", "--check"][..], &["fix", "PATH", "--accept-repairs"]] {
        let (loaded, streamed, _) = both(words, &files);
        assert_eq!(loaded, streamed, "{words:?}");
    }
}

#[test]
fn changes_are_streamed_except_fixes_that_need_several_rows() {
    let files = [vec![(1, 0), (20, 2), (1, 4)], vec![(12, 3), (13, 3)], vec![(12, 4), (22, 1)]];
    let mut changed = 0;
    for (words, _) in LINES {
        let (loaded, streamed, why) = both(words, &files);
        assert_eq!(loaded, streamed, "{words:?}");
        changed += usize::from(streamed.notes.contains("saved "));
        let is_named = ["set-duplicate", "set-mixed-scheme"].iter().any(|rule| words.contains(rule));
        assert_eq!(why.is_some(), is_named, "{words:?}: {why:?}");
    }
    assert!(changed >= 8, "{changed}");
}

/// A set of two files, each of these rows.
fn of_rows(rows: [&str; 2]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_all(folder.path(), &[vec![], vec![]]);
    for (number, rows) in rows.iter().enumerate() {
        let root =
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:x=\"http://www.w3.org/1999/xhtml\">";
        let text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{root}\n{rows}\n</urlset>\n");
        fs::write(folder.path().join(format!("s{number}.xml")), text).unwrap();
    }
    folder
}

/// Sets whose rows are related by links or URLs, the message of a fix, and why it loads the whole set.
#[test]
fn a_fix_across_files_is_the_same_in_memory_and_streamed() {
    let page = |loc: &str, links: &[(&str, &str)]| {
        let link = |(code, href): &(&str, &str)| {
            format!("<x:link rel=\"alternate\" hreflang=\"{code}\" href=\"https://e.com/{href}\"/>")
        };
        format!("<url><loc>https://{loc}</loc>{}</url>\n", links.iter().map(link).collect::<String>())
    };
    let tried = Some("this fix must be tested against all rows first");
    let table = [
        // The other version states the language, and lists fewer pages afterwards.
        (
            [page("e.com/de", &[("fr", "fr")]), page("e.com/fr", &[("de", "de"), ("fr", "fr")])],
            "hreflang-self-missing: 1 row fixed",
            None,
        ),
        (
            [page("e.com/de", &[("fr", "fr")]), page("e.com/fr", &[("de", "de"), ("fr", "fr"), ("x-default", "de")])],
            "hreflang-self-missing: 1 row fixed",
            None,
        ),
        // Two versions state different languages.
        (
            [
                page("e.com/de", &[("fr", "fr"), ("it", "it")]) + &page("e.com/it", &[("de-AT", "de"), ("it", "it")]),
                page("e.com/fr", &[("de", "de"), ("fr", "fr")]),
            ],
            "no other version states the language of https://e.com/de",
            None,
        ),
        ([page("E.com/a", &[]), page("e.com/b", &[])], "1 row fixed", None),
        // Two spellings of one page would become duplicates.
        ([page("E.com/a", &[]), page("e.com/a", &[])], "set-duplicate", tried),
        ([page("E.com/a", &[]) + &page("e.com/A", &[]), page("e.com/b", &[])], "1 row fixed", None),
        // A link with another spelling makes its page list another set of pages than the others.
        (
            [
                page("e.com/de", &[("de_DE", "de"), ("fr", "fr")]),
                page("e.com/fr", &[("de_DE", "de"), ("fr", "fr")]) + &page("e.com/x", &[("de", "x"), ("fr", "fr")]),
            ],
            "2 rows fixed",
            None,
        ),
    ];
    for (rows, expected, why) in table {
        let [loaded, streamed] = [u64::MAX, 0].map(|limit| {
            let folder = of_rows([&rows[0], &rows[1]]);
            let mut left = run(&["fix", "PATH"], folder.path(), limit);
            let at = folder.path().to_str().unwrap();
            left.files = left.files.into_iter().map(|(path, text)| (path.replace(at, ""), text)).collect();
            left.notes = left.notes.replace(at, "");
            left
        });
        assert!(loaded.notes.contains(expected), "{rows:?}: {}", loaded.notes);
        let note = why.map_or_else(String::new, |why| format!("loading the whole set into memory: {why}\n"));
        assert_eq!(streamed.notes, note + &loaded.notes, "{rows:?}");
        assert_eq!(streamed.files, loaded.files, "{rows:?}");
    }
}

#[test]
fn fix_reports_remaining_findings_of_a_large_set() {
    // The fix removes the empty date of one page, which then lacks the date that the other page has.
    let dated = "<url><loc>https://e.com/a</loc><lastmod>2026-10-05</lastmod></url>\n";
    let empty = "<url><loc>https://e.com/b</loc><lastmod></lastmod></url>\n";
    for limit in [u64::MAX, 0] {
        let folder = of_rows([dated, empty]);
        let left = run(&["fix", "PATH"], folder.path(), limit);
        assert!(left.notes.contains("; leaves 1 note: lastmod-missing\n"), "{limit}: {}", left.notes);
        let folder = of_rows([dated, empty]);
        let left = run(&["fix", "PATH", "--dry-run"], folder.path(), limit);
        assert!(left.notes.contains("; leaves 1 note: lastmod-missing\n"), "{limit}: {}", left.notes);
    }
}

/// The script of the manual, line by line, on a streamed set and on the same set in memory.
#[test]
fn the_nightly_script_of_the_manual_streams_the_set() {
    let page = include_str!("../../../assets/manual/pipelines.md");
    let (_, script) = page.split_once("```sh\nsited apply").unwrap();
    let script = format!("sited apply{}", script.split("```").next().unwrap());
    let links = "<x:link rel=\"alternate\" hreflang=\"fr\" href=\"https://e.com/fr\"/>";
    let one = format!("<url><loc>https://e.com/de</loc><lastmod>2024-01-01 10:00:00Z</lastmod>{links}</url>");
    let two = format!("{one}<url><loc>https://e.com/fr</loc>{links}{}</url>", links.replace("fr", "de"));
    let [loaded, streamed] = [u64::MAX, 0].map(|limit| {
        let folder = of_rows([&one, &two]);
        let (set, known) = (folder.path().to_str().unwrap(), folder.path().join("known.json"));
        fs::write(&known, "{\"version\":1,\"findings\":[]}").unwrap();
        let lines: Vec<RunResult> = script
            .lines()
            .map(|line| {
                let words = line.split(" > ").next().unwrap().split(' ').skip(1);
                let words: Vec<&str> = words
                    .map(|word| match word {
                        "rules.toml" => "RULES",
                        "public/" => "PATH",
                        "public/new" => "OUT",
                        "known.json" => known.to_str().unwrap(),
                        word => word,
                    })
                    .collect();
                let mut left = run(&words, folder.path(), limit);
                assert!(
                    !left.notes.contains("loading the whole set into memory") && left.notes.contains("Ok("),
                    "{line}: {}",
                    left.notes
                );
                left.notes = left.notes.replace(set, "");
                left.out = left.out.replace(set, "");
                left.files = left.files.into_iter().map(|(path, text)| (path.replace(set, ""), text)).collect();
                left
            })
            .collect();
        let _ = fs::remove_dir_all(folder.path().with_extension("out"));
        lines
    });
    assert_eq!(loaded.len(), 5);
    assert_eq!(loaded, streamed);
}

/// Many untouched files are summarized in one line.
#[test]
fn a_plan_summarizes_many_untouched_files() {
    let files: Vec<_> = (0..24).map(|number| vec![(number, 0)]).collect();
    let words = ["set", "PATH", "priority=0.8", "--where", "file:s1.xml", "--dry-run"];
    let (loaded, streamed, _) = both(&words, &files);
    assert_eq!(loaded, streamed);
    let untouched: Vec<&str> = loaded.out.lines().filter(|line| line.starts_with("untouched")).collect();
    assert!(matches!(untouched[..], [line] if line.ends_with(" files")), "{untouched:?}");
    assert_eq!(loaded.out.lines().filter(|line| line.starts_with("rewritten")).count(), 1, "{}", loaded.out);
}

/// Splits into the same folder, one after the other: equal files are kept, leftovers are reported or pruned.
const SPLITS: [&[&str]; 6] = [
    &["split", "PATH", "-o", "OUT", "--max-urls", "7", "--dry-run"],
    &["split", "PATH", "-o", "OUT", "--max-urls", "7"],
    &["split", "PATH", "-o", "OUT", "--max-urls", "5", "--by", "section"],
    &["split", "PATH", "-o", "OUT", "--max-bytes", "700", "--by", "month", "--gzip"],
    &["split", "PATH", "-o", "OUT", "--by", "path:/p/*", "--by", "is:duplicate"],
    &["split", "PATH", "-o", "OUT", "--by", "host", "--prune"],
];

/// Writes a set without missing files, since `split` refuses others.
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
    fn split_writes_the_same_in_memory_and_streamed(
        files in prop::collection::vec(prop::collection::vec((0..40_u8, any::<u8>()), 0..20), 2..5),
        orders in prop::collection::vec(0..SPLITS.len(), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("set");
        let left = [u64::MAX, 0].map(|limit| {
            let _ = fs::remove_dir_all(&set);
            let _ = fs::remove_dir_all(set.with_extension("out"));
            fs::create_dir(&set).unwrap();
            write_all(&set, &files);
            orders.iter().map(|number| run(SPLITS[*number], &set, limit)).collect::<Vec<_>>()
        });
        prop_assert!(!left[1].iter().any(|left| left.notes.contains("loading the whole set into memory")), "{:?}", left[1]);
        for (number, (loaded, streamed)) in orders.iter().zip(left[0].iter().zip(&left[1])) {
            prop_assert_eq!(loaded, streamed, "{:?}", SPLITS[*number]);
        }
    }
}

/// New parts get the mode of the most private existing part, in any order of writing.
#[cfg(unix)]
#[test]
fn new_parts_have_the_mode_of_the_most_private_part() {
    use std::os::unix::fs::PermissionsExt;
    let files = [(1..12).map(|number| (number, 0)).collect(), (20..30).map(|number| (number, 1)).collect()];
    for limit in [u64::MAX, 0] {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("set");
        fs::create_dir(&set).unwrap();
        write_all(&set, &files);
        run(SPLITS[1], &set, limit);
        let out = set.with_extension("out");
        let last = out.join("sitemap-2.xml");
        fs::set_permissions(&last, fs::Permissions::from_mode(0o600)).unwrap();
        let there: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
        run(&["split", "PATH", "-o", "OUT", "--max-urls", "3"], &set, limit);
        let now = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let new: Vec<_> = now.filter(|path| !there.contains(path)).collect();
        assert!(!new.is_empty());
        for path in new.iter().chain([&last]) {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{} {limit}", path.display());
        }
    }
}
