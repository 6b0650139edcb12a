//! Tests that no command ignores an unreadable file of a set, in memory or streamed.

use super::*;
use crate::cli::set_reader::MEMORY_LIMIT;
use crate::cli::{apply, check, dates, fix, list, rows, set, split};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

/// Every command that reads or changes a set. SET is the set, OUT an output path, GOOD a readable file.
const COMMANDS: [&str; 34] = [
    "check SET",
    "check SET --format json",
    "check GOOD SET",
    "check SET --max-findings 0",
    "list SET",
    "list SET --sort loc",
    "list SET --where is:duplicate",
    "list SET --format csv",
    "set SET priority=0.8",
    "set SET priority=0.8 --dry-run",
    "set SET priority=0.8 -o OUT",
    "set SET priority=0.8 --where is:duplicate",
    "fix SET",
    "fix SET --rule index-child-missing",
    "replace SET e.com x.org",
    "add SET https://e.com/new",
    "remove SET --where loc:nothing",
    "remove SET --where loc:nothing --dry-run",
    "remove SET GOOD --where loc:nothing",
    "keep SET --where loc:e.com",
    "set SET --from GOOD",
    "set SET priority=0.8 --urls-from GOOD",
    "sort SET",
    "dedupe SET",
    "dedupe SET --dry-run",
    "split SET -o OUT --base-url https://e.com/",
    "convert SET -o OUT.csv",
    "apply SET RULES",
    "apply SET RULES --check",
    "merge SET GOOD -o OUT.xml",
    "diff SET GOOD",
    "diff GOOD SET --urls=removed",
    "stats SET",
    "dates SET --mtime SET --map /**=a.xml",
];

/// Commands that read no set.
const OTHERS: [&str; 5] = ["completions", "help", "man", "restore", "recover"];

/// Commands that send requests: the first two have their own tests, the third reads no set.
const OF_SITES: [&str; 3] = ["probe", "notify", "get"];

const OPEN: &str = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

fn urlset(loc: &str) -> String {
    format!("{HEAD}<url><loc>{loc}</loc></url>\n</urlset>\n")
}

fn index(children: &[&str]) -> String {
    let child = |name: &&str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>\n");
    format!("{OPEN}{}</sitemapindex>\n", children.iter().map(child).collect::<String>())
}

/// A set of two files, of which `b.xml` does not exist yet, a file beside it, rules and a script.
fn set() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("set")).unwrap();
    write("set/sitemap_index.xml", &index(&["a.xml", "b.xml"]));
    write("set/a.xml", &urlset("https://e.com/a"));
    write("good.xml", &urlset("https://e.com/good"));
    write("rules.toml", "[[rule]]\npriority = 0.8\n");
    write("script", "set priority=0.8\nwrite\n");
    folder
}

/// Runs a command line; sets of more than `limit` bytes are streamed.
fn run_with_limit(folder: &TempDir, words: &str, limit: u64) -> (u8, String, String) {
    let path = |name: &str| folder.path().join(name).display().to_string();
    let words = words.split(' ').map(|word| match word {
        "SET" => path("set"),
        "GOOD" => path("good.xml"),
        "RULES" => path("rules.toml"),
        "SCRIPT" => path("script"),
        word if word.starts_with("OUT") => path(&word.to_lowercase()),
        word => word.to_owned(),
    });
    let line = Cli::try_parse_from(["sited".to_owned()].into_iter().chain(words)).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let mut streams = Streams::new(&mut out, &mut notes);
    let result = match &line.task {
        Some(Task::Check(task)) => check::run_with_limit(task, limit, &mut streams),
        Some(Task::List(task)) => list::run_with_limit(task, limit, &mut streams),
        Some(Task::Set(task)) => set::run(task, limit, &mut streams),
        Some(Task::Fix(task)) => fix::run(task, limit, &mut streams),
        Some(Task::Replace(task)) => rows::replace(task, limit, &mut streams),
        Some(Task::Remove(task)) => rows::remove(&task.rows, limit, &mut streams),
        Some(Task::Keep(task)) => rows::keep(&task.rows, limit, &mut streams),
        Some(Task::Dedupe(task)) => rows::dedupe(task, limit, &mut streams),
        Some(Task::Apply(task)) => apply::run(task, limit, &mut streams),
        Some(Task::Dates(task)) => dates::run(task, limit, &mut streams),
        Some(Task::Split(task)) => split::run(task, limit, &mut streams),
        _ => match run(&line, Env::default(), streams.out, streams.notes) {
            Next::End(status) => Ok(status),
            Next::Screen(_) => panic!("a screen is asked for"),
        },
    };
    let status = result.unwrap_or_else(|failure| {
        failure.print_error(streams.notes);
        failure.status()
    });
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(out), text(notes))
}

/// Everything in a folder: files with their content, other entries with their type.
fn content(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(content(&entry.path()));
        }
        let bytes = || String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
        let text = if kind.is_file() { bytes() } else { format!("{kind:?}") };
        found.insert(entry.path(), text);
    }
    found
}

fn pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// An obstacle at the path of a file, how it is created, and its message.
type Obstacle = (&'static str, fn(&Path), &'static str);

const OBSTACLES: [Obstacle; 6] = [
    ("nothing", |_| (), "not found beside the index"),
    ("a folder", |path| fs::create_dir(path).unwrap(), "this is a folder, not a regular file"),
    ("a pipe", pipe, "this is a pipe, a socket or a device"),
    ("a socket", |path| drop(UnixListener::bind(path).unwrap()), "this is a pipe, a socket or a device"),
    ("a link to nothing", |path| symlink("gone.xml", path).unwrap(), "this link leads to no file"),
    ("a loop of links", |path| symlink("b.xml", path).unwrap(), "cannot read: "),
];

#[test]
fn every_command_refuses_a_set_with_an_unreadable_file_and_names_it() {
    for (what, put, why) in OBSTACLES {
        for (words, limit) in
            COMMANDS.iter().chain(&["--script SCRIPT SET"]).flat_map(|words| [(words, MEMORY_LIMIT), (words, 0)])
        {
            let folder = set();
            put(&folder.path().join("set/b.xml"));
            let before = content(folder.path());
            let (status, out, notes) = run_with_limit(&folder, words, limit);
            let what = format!("{words} with {what} in the place of a file, {limit}: {notes}{out}");
            assert_eq!(status, 3, "{what}");
            assert!(notes.contains("b.xml") && notes.contains(why) && notes.contains("--allow-missing"), "{what}");
            assert!(words.starts_with("check") || out.is_empty() || words.ends_with("csv"), "{what}");
            assert_eq!(content(folder.path()), before, "{what}");
            let (status, _, notes) = run_with_limit(&folder, &format!("{words} --allow-missing"), limit);
            let what = format!("{what}\nallowed: {notes}");
            assert!(status < 2, "{what}");
            assert!(notes.contains("left out: ") && notes.contains("b.xml") && notes.contains(why), "{what}");
            assert!(!notes.contains("error: "), "{what}");
        }
    }
}

#[cfg(feature = "net")]
#[test]
fn probe_refuses_a_set_with_a_missing_file() {
    let folder = set();
    let (status, _, notes) = run_with_limit(&folder, "probe SET -o OUT.jsonl", MEMORY_LIMIT);
    assert_eq!(status, 3, "{notes}");
    assert!(notes.contains("b.xml") && notes.contains("--allow-missing"), "{notes}");
    assert!(!folder.path().join("out.jsonl").exists());
}

#[cfg(feature = "net")]
#[test]
fn notify_refuses_a_set_with_a_missing_file() {
    for words in ["notify SET GOOD", "notify GOOD SET", "notify SET --all"] {
        let folder = set();
        let (status, out, notes) =
            run_with_limit(&folder, &format!("{words} --indexnow --key 12345678 --dry-run"), MEMORY_LIMIT);
        assert_eq!((status, out.as_str()), (3, ""), "{words}: {notes}");
        assert!(notes.contains("b.xml") && notes.contains("--allow-missing"), "{words}: {notes}");
    }
}

#[test]
fn every_command_is_in_the_table() {
    let commands = Cli::definition();
    for command in commands.get_subcommands().map(clap::Command::get_name) {
        let is_tried = COMMANDS.iter().any(|words| words.split(' ').next() == Some(command));
        let is_other = OTHERS.contains(&command) || OF_SITES.contains(&command);
        assert!(is_tried != is_other, "{command}: does it refuse a set of which a file is missing?");
    }
}

#[test]
fn an_index_with_missing_files_can_be_listed_and_opened() {
    let folder = set();
    let (status, out, notes) = run_with_limit(&folder, "list SET --sitemaps", MEMORY_LIMIT);
    assert_eq!((status, notes.as_str()), (0, ""));
    assert_eq!(out, "https://e.com/a.xml\nhttps://e.com/b.xml\n");
    let line = Cli::try_parse_from(["sited", "public"]).unwrap();
    let next = run(&line, Env::default(), &mut Vec::new(), &mut Vec::new());
    assert!(matches!(next, Next::Screen(screen) if !screen.options.require_all));
}

#[test]
fn check_reports_readable_files_and_fails_for_the_others() {
    let folder = set();
    fs::write(folder.path().join("set/a.xml"), urlset("https://e.com/a</loc><priority>high</priority><loc>x")).unwrap();
    let (status, out, notes) = run_with_limit(&folder, "check SET", MEMORY_LIMIT);
    assert_eq!(status, 3, "{notes}");
    assert!(out.contains("priority-invalid") && out.contains("index-child-missing"), "{out}");
    assert!(notes.contains("error: not read: https://e.com/b.xml: not found beside the index\n"), "{notes}");
    // An HTML page at its path can be read: a finding, and no error of the run.
    fs::write(folder.path().join("set/b.xml"), "<!doctype html><html></html>").unwrap();
    let (status, out, notes) = run_with_limit(&folder, "check SET", MEMORY_LIMIT);
    assert_eq!(status, 1, "{notes}");
    assert!(out.contains("index-child-missing") && !notes.contains("error: "), "{out}{notes}");
    let (status, _, notes) = run_with_limit(&folder, "list SET", MEMORY_LIMIT);
    assert!(status == 3 && notes.contains("HTML"), "{notes}");
}

/// Otherwise the missing file would be detected after rows were printed or other files were written.
#[test]
fn a_missing_file_of_a_nested_index_is_reported_before_any_output() {
    for limit in [MEMORY_LIMIT, 0] {
        let folder = set();
        fs::write(folder.path().join("set/b.xml"), index(&["c.xml"])).unwrap();
        let before = content(folder.path());
        for words in [
            "set SET priority=0.8",
            "dedupe SET",
            "split SET -o OUT",
            "list SET",
            "list SET --sort loc",
            "merge SET -o OUT.xml",
        ] {
            let (status, out, notes) = run_with_limit(&folder, words, limit);
            assert_eq!((status, out.as_str()), (3, ""), "{words}: {notes}");
            assert!(notes.contains("c.xml"), "{words}: {notes}");
            assert_eq!(content(folder.path()), before, "{words}");
        }
    }
}

/// Indexes at several levels, compressed or not: all of them are read before anything is printed.
#[test]
fn missing_files_of_deeply_nested_indexes_are_reported_before_any_output() {
    for limit in [MEMORY_LIMIT, 0] {
        let folder = set();
        let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join("set").join(name), bytes).unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, index(&["d.xml", "a.xml"]).as_bytes()).unwrap();
        write("sitemap_index.xml", index(&["a.xml", "b.xml", "e.xml"]).into_bytes());
        write("b.xml", index(&["c.xml.gz", "sitemap_index.xml", "b.xml"]).into_bytes());
        write("c.xml.gz", packed.finish().unwrap());
        write("e.xml", index(&["f.xml"]).into_bytes());
        for words in ["list SET", "list SET --format jsonl", "set SET priority=0.8 --dry-run", "set SET priority=0.8"] {
            let before = content(folder.path());
            let (status, out, notes) = run_with_limit(&folder, words, limit);
            assert_eq!((status, out.as_str()), (3, ""), "{words}: {notes}");
            assert!(notes.contains("2 files of this set are not read"), "{words}: {notes}");
            assert!(notes.contains("d.xml: not found") && notes.contains("f.xml: not found"), "{words}: {notes}");
            assert_eq!(content(folder.path()), before, "{words}");
        }
        write("d.xml", urlset("https://e.com/d").into_bytes());
        write("f.xml", urlset("https://e.com/f").into_bytes());
        let (status, out, notes) = run_with_limit(&folder, "list SET", limit);
        assert_eq!((status, out.as_str()), (0, "https://e.com/a\nhttps://e.com/d\nhttps://e.com/f\n"), "{notes}");
    }
}

#[test]
fn a_file_on_another_host_counts_as_missing() {
    let folder = set();
    let text = index(&["a.xml"])
        .replace("</sitemapindex>", "<sitemap><loc>https://cdn.org/b.xml</loc></sitemap></sitemapindex>");
    fs::write(folder.path().join("set/sitemap_index.xml"), text).unwrap();
    let (status, _, notes) = run_with_limit(&folder, "list SET --base-url https://e.com/", MEMORY_LIMIT);
    assert!(status == 3 && notes.contains("https://cdn.org/b.xml: it is on another host"), "{notes}");
    // It cannot be known whether it is missing, so its entry is kept.
    let fix = "fix SET --rule index-child-missing --base-url https://e.com/ --allow-missing";
    assert_eq!(run_with_limit(&folder, fix, MEMORY_LIMIT).0, 0);
    assert!(fs::read_to_string(folder.path().join("set/sitemap_index.xml")).unwrap().contains("cdn.org"));
}

#[test]
fn fix_removes_an_index_entry_only_if_no_file_exists() {
    for (what, put, _) in OBSTACLES {
        let folder = set();
        put(&folder.path().join("set/b.xml"));
        let (status, _, notes) =
            run_with_limit(&folder, "fix SET --rule index-child-missing --allow-missing", MEMORY_LIMIT);
        assert_eq!(status, 0, "{notes}");
        let text = fs::read_to_string(folder.path().join("set/sitemap_index.xml")).unwrap();
        assert_eq!(text.contains("b.xml"), what != "nothing", "{what}: {notes}");
    }
}

/// Files without an index: a folder of them, or several on the command line.
#[test]
fn folders_and_several_paths_with_unreadable_files_are_refused() {
    for put in [
        |path: &Path| symlink("gone.xml", path).unwrap(),
        |path: &Path| symlink("b.xml", path).unwrap(),
        // Reading it is an I/O error.
        |path: &Path| symlink("/proc/self/mem", path).unwrap(),
    ] {
        for words in COMMANDS {
            let folder = set();
            fs::remove_file(folder.path().join("set/sitemap_index.xml")).unwrap();
            put(&folder.path().join("set/b.xml"));
            let before = content(folder.path());
            let (status, out, notes) = run_with_limit(&folder, words, MEMORY_LIMIT);
            assert_eq!(status, 3, "{words}: {notes}{out}");
            assert!(notes.contains("b.xml"), "{words}: {notes}");
            assert_eq!(content(folder.path()), before, "{words}");
            if !words.contains("index-") {
                let (status, _, notes) = run_with_limit(&folder, &format!("{words} --allow-missing"), MEMORY_LIMIT);
                assert!(status < 2 && notes.contains("left out: "), "{words}: {notes}");
            }
        }
    }
    let folder = set();
    for words in ["convert GOOD OUT.xml -o OUT.csv", "--script SCRIPT GOOD OUT.xml", "merge GOOD OUT.xml -o OUT.csv"] {
        let before = content(folder.path());
        let (status, out, notes) = run_with_limit(&folder, words, MEMORY_LIMIT);
        assert_eq!((status, out.as_str()), (3, ""), "{words}: {notes}");
        assert!(notes.contains("out.xml: there is no such file"), "{words}: {notes}");
        assert_eq!(content(folder.path()), before, "{words}");
    }
}

#[test]
fn an_unreadable_index_in_a_folder_does_not_fall_back_to_another_name() {
    let folder = set();
    fs::write(folder.path().join("set/sitemap.xml"), urlset("https://e.com/other")).unwrap();
    fs::remove_file(folder.path().join("set/sitemap_index.xml")).unwrap();
    symlink("gone.xml", folder.path().join("set/sitemap_index.xml")).unwrap();
    let (status, out, notes) = run_with_limit(&folder, "list SET", MEMORY_LIMIT);
    assert_eq!((status, out.as_str()), (3, ""), "{notes}");
    assert!(notes.contains("sitemap_index.xml: there is no such file"), "{notes}");
}

#[test]
fn many_missing_files_are_counted() {
    let folder = set();
    let names: Vec<String> = (0..50).map(|number| format!("{number}.xml")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    fs::write(folder.path().join("set/sitemap_index.xml"), index(&names)).unwrap();
    let (_, _, notes) = run_with_limit(&folder, "list SET", MEMORY_LIMIT);
    assert!(notes.contains("50 files of this set are not read") && notes.contains("and 30 more"), "{notes}");
    let (_, _, notes) = run_with_limit(&folder, "check SET", MEMORY_LIMIT);
    assert!(notes.contains("not read: 30 more files") && notes.matches("error: ").count() == 21, "{notes}");
    let (_, _, notes) = run_with_limit(&folder, "list SET --allow-missing", MEMORY_LIMIT);
    assert!(notes.contains("left out: 30 more files") && notes.lines().count() == 21, "{notes}");
}

/// The size of a gzip file is known only after unpacking it, when the files before it are already printed.
#[test]
fn list_reports_the_number_of_rows_printed_before_an_unreadable_file() {
    let folder = set();
    let locs = "<url><loc>https://e.com/b</loc></url>".repeat(2_000);
    let text = urlset("https://e.com/b").replace("</urlset>", &format!("{locs}</urlset>"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    fs::write(folder.path().join("set/b.xml"), packed.finish().unwrap()).unwrap();
    for words in ["list SET", "list SET --format jsonl", "list SET --format csv --no-header"] {
        let (status, out, notes) = run_with_limit(&folder, &format!("{words} --max-bytes 20000"), 0);
        assert_eq!(status, 3, "{words}: {notes}");
        assert!(out.lines().count() == 1 && out.contains("https://e.com/a"), "{words}: {out}");
        assert!(notes.contains("1 row was printed before a file could not be read"), "{words}: {notes}");
        assert!(notes.contains("b.xml"), "{words}: {notes}");
        let (status, out, notes) = run_with_limit(&folder, &format!("{words} --max-bytes 20000"), MEMORY_LIMIT);
        assert_eq!((status, out.as_str()), (3, ""), "{words}: {notes}");
    }
}
