//! The commands of the fault injection, each with its files and its expected results.

use crate::support::{Folder, run, stderr};
use std::fmt::Write as _;

/// The effect of a command on files, which determines the verified promises.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// The command only reads.
    Reads,
    /// The command changes a set. These arguments are a command that finishes an interrupted save and changes nothing
    /// else.
    Changes(&'static [&'static str]),
    /// The command writes new files; running it again completes an interrupted run. The folder is that of its commit
    /// record.
    Creates(&'static str),
}

pub(super) struct Case {
    /// The name of its row in the table.
    pub name: &'static str,
    pub make: fn(&Folder),
    pub arguments: &'static [&'static str],
    pub effect: Effect,
    /// Whether it starts with an interrupted save. The files are made again for each run, since a record contains their
    /// inode numbers.
    pub is_pending: bool,
    /// Whether the set is streamed, as a set of more than 256 MiB is.
    pub is_streamed: bool,
}

const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
const NOW: &str = "--now=2026-11-20";

/// An edit that matches no row: it only finishes an interrupted save.
const FINISH_BY_EDIT: Effect = Effect::Changes(&["set", "sitemap.xml", "priority=0.5", "--where", "loc=nowhere", "-q"]);
/// Discards an interrupted save, as the case itself does.
const DISCARD: Effect = Effect::Changes(&["recover", "sitemap.xml", "--discard"]);
/// Finishes an interrupted save, and changes no journal.
const FINISH_BY_RECOVER: Effect = Effect::Changes(&["recover", "sitemap.xml", "--finish"]);
const FINISH_LIST_BY_EDIT: Effect = Effect::Changes(&["remove", "list.txt", "--where", "loc=nowhere", "-q"]);

fn case(name: &'static str, make: fn(&Folder), arguments: &'static [&'static str], effect: Effect) -> Case {
    let is_pending = name.contains("pending") || name.starts_with("recover");
    Case { name, make, arguments, effect, is_pending, is_streamed: name.contains("streamed") }
}

pub(super) fn all() -> Vec<Case> {
    let mut cases = reading();
    cases.extend(changing());
    cases.extend(creating());
    cases
}

fn reading() -> Vec<Case> {
    let reads = |name, make, arguments| case(name, make, arguments, Effect::Reads);
    vec![
        reads("check", set_without_findings, &["check", "sitemap.xml", NOW]),
        reads("check (findings)", saved_set, &["check", "sitemap.xml", "--format", "json", NOW]),
        reads("check (folder)", no_index, &["check", ".", NOW]),
        reads("check (pending)", pending, &["check", "sitemap.xml", NOW]),
        reads("list", saved_set, &["list", "sitemap.xml", "--format", "jsonl"]),
        reads("list (gzip)", gzipped, &["list", "sitemap.xml", "--format", "csv"]),
        reads("list (text)", list, &["list", "list.txt"]),
        reads("stats", saved_set, &["stats", "sitemap.xml", "--format", "json", NOW]),
        reads("diff", two_sets, &["diff", "old", "new"]),
        reads("convert (stdout)", saved_set, &["convert", "sitemap.xml", "--to", "csv", "-o", "-"]),
        reads("merge (dry run)", two_sets, &["merge", "old", "new", "-o", "merged.xml", "--dry-run"]),
        reads("set (dry run)", saved_set, &["set", "sitemap.xml", "priority=0.3", "--dry-run"]),
        reads("fix (dry run)", saved_set, &["fix", "sitemap.xml", "--dry-run", NOW]),
        reads("apply (check)", saved_set, &["apply", "sitemap.xml", "rules.toml", "--check", NOW]),
        reads("split (dry run)", saved_set, &["split", "sitemap.xml", "-o", "out", "--max-urls", "4", "--dry-run"]),
        reads("restore (list)", backed_up, &["restore", "sitemap.xml"]),
        reads("recover (show)", pending, &["recover", "sitemap.xml"]),
        reads("check (streamed)", saved_set, &["check", "sitemap.xml", NOW]),
        reads("list (streamed)", saved_set, &["list", "sitemap.xml"]),
        reads("list (nested)", nested, &["list", "sitemap.xml"]),
        reads("list (nested, streamed)", nested, &["list", "sitemap.xml"]),
        reads("set (dry run, streamed)", saved_set, &["set", "sitemap.xml", "priority=0.3", "--dry-run"]),
        reads("script (read only)", saved_set, &["--read-only", "--script", "script", "sitemap.xml"]),
    ]
}

fn changing() -> Vec<Case> {
    let set = ["set", "sitemap.xml", "priority=0.3", "lastmod=2026-11-02", NOW].as_slice();
    let changes = |name, make, arguments| case(name, make, arguments, FINISH_BY_EDIT);
    vec![
        changes("set", saved_set, set),
        changes("set (first use)", set_with_findings, set),
        changes("set (gzip)", gzipped, set),
        changes("set (second name)", with_hard_links, set),
        changes("set (one file)", one_file, set),
        changes("set (over pending)", pending, &["set", "sitemap.xml", "changefreq=weekly", NOW]),
        changes("set (backup)", backed_up, &["set", "sitemap.xml", "priority=0.3", "--backup", "always", NOW]),
        changes("set (one row)", saved_set, &["set", "sitemap.xml", "priority=0.3", "--where", "loc:/2/3", NOW]),
        changes("fix", saved_set, &["fix", "sitemap.xml", NOW]),
        changes("replace", saved_set, &["replace", "sitemap.xml", "/page/", "/pages/"]),
        case("replace (text list)", list, &["replace", "list.txt", "/page/", "/pages/"], FINISH_LIST_BY_EDIT),
        changes("add", saved_set, &["add", "sitemap.xml", "https://example.com/page/new"]),
        changes("remove", saved_set, &["remove", "sitemap.xml", "--where", "loc:/3"]),
        changes("remove (a whole file)", saved_set, &["remove", "sitemap.xml", "--where", "loc:/page/2/"]),
        changes("sort", saved_set, &["sort", "sitemap.xml", "-loc"]),
        changes("dedupe", saved_set, &["dedupe", "sitemap.xml"]),
        changes("apply", saved_set, &["apply", "sitemap.xml", "rules.toml", NOW]),
        changes("restore", backed_up, &["restore", "sitemap.xml", "--set", "latest", NOW]),
        changes("restore (prune)", backed_up, &["restore", "sitemap.xml", "--set", "latest", "--prune", NOW]),
        changes("recover (finish)", pending, &["recover", "sitemap.xml", "--finish"]),
        case("recover (discard)", pending, &["recover", "sitemap.xml", "--discard"], DISCARD),
        case("journal (apply)", journaled, &["recover", "sitemap.xml", "--journal", "1", "--apply"], FINISH_BY_RECOVER),
        changes("set (streamed)", saved_set, set),
        changes(
            "set (streamed, backup)",
            backed_up,
            &["set", "sitemap.xml", "priority=0.3", "--backup", "always", NOW],
        ),
        changes("set (nested, streamed)", nested, set),
        changes("fix (streamed)", saved_set, &["fix", "sitemap.xml", NOW]),
        changes("dedupe (streamed)", saved_set, &["dedupe", "sitemap.xml"]),
        changes("replace (streamed)", saved_set, &["replace", "sitemap.xml", "/page/", "/pages/"]),
        changes("script (write)", saved_set, &["--script", "script", "sitemap.xml", NOW]),
    ]
}

fn creating() -> Vec<Case> {
    let split = ["split", "sitemap.xml", "-o", "out", "--max-urls", "8", NOW].as_slice();
    let prune = ["split", "sitemap.xml", "-o", "out", "--max-urls", "8", "--prune", NOW].as_slice();
    vec![
        case("convert", saved_set, &["convert", "sitemap.xml", "-o", "copy.csv"], Effect::Creates(".")),
        case("convert (gzip)", saved_set, &["convert", "sitemap.xml", "-o", "copy.txt.gz"], Effect::Creates(".")),
        case(
            "set (to a copy)",
            saved_set,
            &["set", "sitemap.xml", "priority=0.3", "-o", "copy/sitemap.xml", "--mkdir"],
            Effect::Creates("copy"),
        ),
        case("merge", two_sets, &["merge", "old", "new", "-o", "merged.xml", NOW], Effect::Creates(".")),
        case(
            "merge (folder)",
            two_sets,
            &["merge", "old", "new", "-o", "merged", "--base-url", "https://example.com/", NOW],
            Effect::Creates("merged"),
        ),
        case("split", saved_set, split, Effect::Creates("out")),
        case("split (over longer, prune)", split_before, prune, Effect::Creates("out")),
        case("split (streamed)", saved_set, split, Effect::Creates("out")),
        case("split (over longer)", split_before, split, Effect::Creates("out")),
    ]
}

const PARTS: usize = 3;

fn part(number: usize, changefreq: &str) -> String {
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset {NS}>\n");
    for row in 0..6 {
        let loc = format!("https://example.com/page/{number}/{row}");
        let fields = format!("<lastmod>2026-10-0{}</lastmod><changefreq>{changefreq}</changefreq>", row + 1);
        writeln!(text, "<url><loc>{loc}</loc>{fields}<priority>0.{number}</priority></url>").unwrap();
    }
    text + "</urlset>\n"
}

fn index(suffix: &str) -> String {
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex {NS}>\n");
    for part in 1..=PARTS {
        let loc = format!("https://example.com/part-{part}.xml{suffix}");
        writeln!(text, "<sitemap><loc>{loc}</loc><lastmod>2026-10-10</lastmod></sitemap>").unwrap();
    }
    text + "</sitemapindex>\n"
}

/// A set without findings.
fn set_without_findings(folder: &Folder) {
    folder.write("sitemap.xml", index(""));
    for number in 1..=PARTS {
        folder.write(&format!("part-{number}.xml"), part(number, "daily"));
    }
}

/// A set with findings, in a state folder that was never used.
fn set_with_findings(folder: &Folder) {
    set_without_findings(folder);
    let twice = "<url><loc>https://example.com/page/1/0</loc></url>\n</urlset>";
    folder.write("part-3.xml", part(3, "Daily").replace("</urlset>", twice));
    folder.write("rules.toml", "[[rule]]\nname = \"pages\"\nwhere = \"path:/page/2/*\"\npriority = 0.8\n");
    folder.write("script", "%set priority=0.7\nwrite\nsort -loc\nwrite\n");
}

/// A set with findings that the program has saved before.
fn saved_set(folder: &Folder) {
    set_with_findings(folder);
    run_successfully(folder, &["set", "sitemap.xml", "priority=0.6", "--where", "loc:/page/"]);
}

fn run_successfully(folder: &Folder, arguments: &[&str]) {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
}

fn no_index(folder: &Folder) {
    set_without_findings(folder);
    std::fs::remove_file(folder.file("sitemap.xml")).unwrap();
}

fn gzipped(folder: &Folder) {
    folder.write("sitemap.xml", index(".gz"));
    for number in 1..=PARTS {
        folder.write(&format!("part-{number}.xml.gz"), crate::support::corpus::gzip(part(number, "daily").as_bytes()));
    }
}

fn with_hard_links(folder: &Folder) {
    saved_set(folder);
    std::fs::create_dir(folder.file("other")).unwrap();
    std::fs::hard_link(folder.file("part-2.xml"), folder.file("other/part-2.xml")).unwrap();
}

fn one_file(folder: &Folder) {
    folder.write("sitemap.xml", part(1, "daily"));
}

fn list(folder: &Folder) {
    folder.write(
        "list.txt",
        (0..20).fold(String::new(), |text, row| text + &format!("https://example.com/page/{row}\n")),
    );
}

/// Two folders, each with a set.
fn two_sets(folder: &Folder) {
    for (name, priority) in [("old", "0.1"), ("new", "0.2")] {
        folder.write(&format!("{name}/sitemap.xml"), index(""));
        for number in 1..=PARTS {
            let text = part(number, "daily").replace("<priority>0.2", &format!("<priority>{priority}"));
            folder.write(&format!("{name}/part-{number}.xml"), text);
        }
    }
}

/// A set with a backup of an earlier save.
fn backed_up(folder: &Folder) {
    set_with_findings(folder);
    run_successfully(folder, &["set", "sitemap.xml", "priority=0.9", "--backup", "always", "--now", "2026-11-18"]);
}

/// A save that was killed after its first rename.
fn pending(folder: &Folder) {
    saved_set(folder);
    let killed =
        super::strace::Fault { call: "rename", kind: super::strace::FaultKind::Kill, at: 2, lasts: false, path: None };
    let run = super::strace::run(folder, (&["set", "sitemap.xml", "priority=0.4", NOW], false), Some(&killed));
    assert!(run.status.is_none() && folder.file(".sited.commit").exists(), "{}", run.log);
}

/// An earlier split into more files, and a file of the user beside them.
fn split_before(folder: &Folder) {
    saved_set(folder);
    run_successfully(folder, &["split", "sitemap.xml", "-o", "out", "--max-urls", "3"]);
    folder.write("out/notes.txt", "notes of the user\n");
}

/// A set with a nested index.
fn nested(folder: &Folder) {
    saved_set(folder);
    let inner = index("").replace("part-", "inner-");
    let outer = index("")
        .replace("</sitemapindex>", "<sitemap><loc>https://example.com/inner.xml</loc></sitemap>\n</sitemapindex>");
    folder.write("sitemap.xml", outer);
    folder.write("inner.xml", inner);
    for number in 1..=PARTS {
        folder.write(&format!("inner-{number}.xml"), part(number, "daily").replace("/page/", "/inner/"));
    }
}

/// A file with unsaved changes of an editor that was killed.
fn journaled(folder: &Folder) {
    use xxhash_rust::xxh3::xxh3_64;
    one_file(folder);
    let path = folder.path().canonicalize().unwrap().join("sitemap.xml");
    let bytes = std::fs::read(&path).unwrap();
    let file = serde_json::json!({ "path": path, "len": bytes.len(), "hash": xxh3_64(&bytes) });
    let header = serde_json::json!({ "version": 2, "set": path, "begun": 7, "files": [file] }).to_string();
    let change = r#"1 {"Did":{"label":"typed","edit":{"Set":{"rows":[[0,2]],"field":"priority","value":"0.7"}}}}"#;
    let lines = [&header, change].map(|line| format!("{:016x} {line}\n", xxh3_64(line.as_bytes())));
    let name = xxh3_64(path.as_os_str().as_encoded_bytes());
    folder.write(&format!(".home/state/sited/journal/{name:016x}.journal"), lines.concat());
    for state in [".home/state/sited", ".home/state/sited/journal"] {
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(folder.file(state), private).unwrap();
    }
}
