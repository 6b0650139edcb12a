//! Runs the unmodified recipes of the README and the manual on small sets.

use crate::support::{Folder, environment, program, run, stderr, stdout};
use regex::Regex;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The fenced code blocks of one language in the page `pipelines.md` of the manual.
fn blocks(language: &str) -> Vec<String> {
    fenced("assets/manual/pipelines.md", language)
}

fn fenced(page: &str, language: &str) -> Vec<String> {
    let part = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let mut fences = part.split("```").skip(1).step_by(2);
    let of_language = |fence: &str| fence.strip_prefix(language)?.strip_prefix('\n').map(ToOwned::to_owned);
    let found: Vec<String> = fences.by_ref().filter_map(of_language).collect();
    assert!(!found.is_empty(), "no block of {language}");
    found
}

/// The only block of a language that contains `text`.
fn block(language: &str, text: &str) -> String {
    let mut found: Vec<String> = blocks(language).into_iter().filter(|block| block.contains(text)).collect();
    assert_eq!(found.len(), 1, "{text}");
    found.pop().unwrap()
}

/// A replacement for GNU parallel if it is not installed: supports one template with `{}` and `{.}`.
const PARALLEL: &str = r#"#!/bin/sh
status=0
while IFS= read -r line; do
    command=$(printf '%s' "$1" | sed "s|{\.}|${line%.*}|g; s|{}|$line|g")
    sh -c "$command" || status=1
done
exit $status
"#;

fn is_installed(name: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|folder| folder.join(name).is_file())
}

/// Makes a folder with the program under test and replacements for missing programs. Returns the search path.
fn make_search_path(folder: &Folder) -> String {
    let bin = folder.file(".home/bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(program(), bin.join("sited")).unwrap();
    if !is_installed("parallel") {
        fs::write(bin.join("parallel"), PARALLEL).unwrap();
        fs::set_permissions(bin.join("parallel"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let inherited = std::env::var("PATH").unwrap();
    format!("{}:{inherited}", bin.display())
}

/// Runs a script in the folder, until a line fails.
fn shell(folder: &Folder, script: &str) -> Output {
    let path = make_search_path(folder);
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(folder.path());
    let output = command.env_clear().envs(environment(folder.path())).env("PATH", path).output().unwrap();
    fs::remove_dir_all(folder.file(".home/bin")).unwrap();
    output
}

fn run_successfully(folder: &Folder, script: &str) -> Output {
    let output = shell(folder, script);
    assert!(output.status.success(), "{script}\n{}{}", stdout(&output), stderr(&output));
    output
}

fn urlset(rows: &[(&str, &str)]) -> String {
    let row = |(loc, rest): &(&str, &str)| format!("<url><loc>https://example.org/{loc}</loc>{rest}</url>\n");
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n"
    )
}

/// Writes an index and its two sitemaps, with a few findings of several kinds.
fn write_site(folder: &Folder, below: &str) {
    let entry = |name: &str| format!("<sitemap><loc>https://example.org/{name}</loc></sitemap>\n");
    let index = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex \
         xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}{}</sitemapindex>\n",
        entry("sitemap-1.xml"),
        entry("sitemap-2.xml")
    );
    let one = [
        ("", "<lastmod>2024-03-01</lastmod>"),
        ("blog/a", "<lastmod>2024-03-02 10:00:00Z</lastmod>"),
        ("blog/b", "<lastmod>2024-04-01</lastmod><priority>0,5</priority>"),
    ];
    let two = [("shop/x", "<lastmod>2024-04-02</lastmod>"), ("blog/a", "<lastmod></lastmod>")];
    for (name, text) in [("sitemap_index.xml", index), ("sitemap-1.xml", urlset(&one)), ("sitemap-2.xml", urlset(&two))]
    {
        folder.write(&format!("{below}{name}"), text);
    }
}

#[test]
fn the_commands_of_the_readme_run() {
    let folder = Folder::new();
    write_site(&folder, "public/");
    folder.write("rules.toml", "[[rule]]\nwhere = \"path:/blog/*\"\npriority = 0.8\n");
    folder.write("dates.csv", "loc,lastmod\nhttps://example.org/blog/a,2026-01-02\n");
    for (name, rows) in [("shop.xml", [("shop/y", "")]), ("blog.xml", [("blog/c", "")]), ("old.xml", [("a", "")])] {
        folder.write(name, urlset(&rows));
    }
    folder.write("new.xml", urlset(&[("a", ""), ("b", "")]));
    let item = "<item><link>https://example.org/blog/c</link></item>";
    folder.write("feed.rss", format!("<rss version=\"2.0\"><channel>{item}</channel></rss>"));
    let lines: Vec<String> = fenced("README.md", "sh").concat().lines().map(ToOwned::to_owned).collect();
    let commands = lines.iter().filter(|line| line.starts_with("sited ") && !line.starts_with("sited sitemap.xml"));
    let commands: Vec<&String> = commands.filter(|line| !line.starts_with("sited public/sitemap_index.xml")).collect();
    assert!(commands.len() >= 5, "{lines:?}");
    for command in commands {
        let output = shell(&folder, command);
        // The exit status of `check` with findings and of `diff` with differences is 1.
        let finds = ["sited check", "sited diff"].iter().any(|name| command.starts_with(name));
        let allowed = if finds { 0..=1 } else { 0..=0 };
        assert!(output.status.code().is_some_and(|code| allowed.contains(&code)), "{command}: {}", stderr(&output));
    }
    // The workflows in the README are in the manual too, whose steps are run by another test.
    let manual = fenced("assets/manual/pipelines.md", "yaml").concat();
    assert!(fenced("README.md", "yaml").iter().all(|block| manual.contains(block.trim())));
}

#[test]
fn the_nightly_script_gives_the_documented_results() {
    let folder = Folder::new();
    write_site(&folder, "public/");
    folder.write("rules.toml", "[[rule]]\nname = \"blog\"\nwhere = \"path:/blog/*\"\npriority = 0.8\n");
    assert!(run(&folder, &["check", "public/", "--write-baseline", "known.json"]).status.success());
    let script = block("sh", "sited dedupe");
    assert_eq!(script.lines().count(), 5, "five lines");
    let first = run_successfully(&folder, &script);
    assert_eq!(stderr(&first), block("text", "saved"), "the manual shows the messages");
    assert!(folder.names().iter().any(|name| name == "public/new/sitemap-1.xml.gz"), "{:?}", folder.names());
    let sarif: Value = serde_json::from_slice(&folder.read("sitemap.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let listed = run(&folder, &["list", "public/new", "--format", "csv", "--columns", "loc,lastmod,priority"]);
    let expected = "loc,lastmod,priority\nhttps://example.org/,2024-03-01,\n\
                    https://example.org/blog/a,2024-03-02T10:00:00Z,0.8\nhttps://example.org/blog/b,2024-04-01,0.8\n\
                    https://example.org/shop/x,2024-04-02,\n";
    assert_eq!(stdout(&listed), expected);
    // The second run changes nothing.
    let files = folder.files();
    run_successfully(&folder, &script);
    assert_eq!(folder.files(), files);
    // A new violation is a finding, and a shell that stops at errors does not reach the split.
    folder.write("public/sitemap-2.xml", urlset(&[("shop/x", "<lastmod>2024-02-30</lastmod>")]));
    let stopped = shell(&folder, &script);
    assert_eq!(stopped.status.code(), Some(1), "{}", stderr(&stopped));
    let sarif: Value = serde_json::from_slice(&folder.read("sitemap.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "lastmod-impossible");
}

/// The commands of the steps of a workflow.
fn steps(block: &str) -> Vec<String> {
    block.lines().filter_map(|line| line.trim().strip_prefix("- run: ")).map(ToOwned::to_owned).collect()
}

#[test]
fn the_steps_of_the_workflow_run() {
    let folder = Folder::new();
    write_site(&folder, "public/");
    let steps = steps(&block("yaml", "workflows"));
    let [install, check] = steps.as_slice() else { panic!("two steps: {steps:?}") };
    // The workflow installs this package from its folder.
    assert_eq!(install, "cargo install --locked --path sited");
    assert!(include_str!("../../Cargo.toml").contains("\nname = \"sited\"\n"));
    let output = shell(&folder, check);
    assert_eq!(output.status.code(), Some(1));
    let message = stdout(&output);
    assert!(message.lines().any(|line| line.starts_with("::error file=public/sitemap-1.xml,line=")), "{message}");
    run(&folder, &["fix", "public/"]);
    run(&folder, &["dedupe", "public/"]);
    run_successfully(&folder, check);
}

#[test]
fn the_hook_checks_the_files_passed_to_it() {
    let folder = Folder::new();
    write_site(&folder, "");
    folder.write("page.html", "<html></html>");
    let hook = block("yaml", "pre-commit");
    let value = |key: &str| hook.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap().trim().to_owned();
    let files = Regex::new(&value("files:")).unwrap();
    let names: Vec<String> = folder.names().into_iter().filter(|name| files.is_match(name)).collect();
    assert_eq!(names, ["sitemap-1.xml", "sitemap-2.xml", "sitemap_index.xml"]);
    // The hook appends the names of the files to its command.
    let command = format!("{} {}", value("entry:"), names.join(" "));
    let output = shell(&folder, &command);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    run(&folder, &["fix", "."]);
    run(&folder, &["dedupe", "."]);
    run_successfully(&folder, &command);
}

/// A set of four parts, and their paths.
fn parts() -> (Folder, Vec<PathBuf>) {
    let folder = Folder::new();
    write_site(&folder, "");
    folder.write("sitemap-3.xml", urlset(&[("blog/a", ""), ("c", "")]));
    folder.write("sitemap-4.xml", urlset(&[("d", "")]));
    let parts = (1..=4).map(|number| folder.file(&format!("sitemap-{number}.xml"))).collect();
    (folder, parts)
}

fn assert_merged(output: &Output) {
    let message = stdout(output);
    let count_of =
        |name: &str| message.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).map(ToOwned::to_owned);
    assert_eq!(count_of("files").as_deref(), Some("4"), "{message}{}", stderr(output));
    assert_eq!((count_of("URLs").as_deref(), count_of("distinct").as_deref()), (Some("8"), Some("6")), "{message}");
}

#[test]
fn parts_are_checked_separately_and_their_statistics_merged() {
    let (folder, parts) = parts();
    // The commands before the last line have findings, so their exit status is 1.
    let script = block("sh", "parallel");
    let (each, merge) = script.trim_end().rsplit_once('\n').unwrap();
    shell(&folder, each);
    assert_merged(&run_successfully(&folder, merge));
    for part in &parts {
        let name = part.file_stem().unwrap().to_string_lossy().into_owned();
        let report: Value = serde_json::from_slice(&folder.read(&format!("check-{name}.json"))).unwrap();
        assert_eq!(report["files"].as_array().unwrap().len(), 1, "{report}");
    }
}

#[test]
fn a_matrix_of_jobs_gives_the_same_statistics() {
    let (folder, _) = parts();
    let job = block("yaml", "matrix");
    let found = Regex::new(r"part: \[(.*)\]").unwrap();
    let numbers: Vec<String> = found.captures(&job).unwrap()[1].split(", ").map(ToOwned::to_owned).collect();
    assert_eq!(numbers.len(), 4);
    for number in numbers {
        let steps = steps(&job);
        assert_eq!(steps.len(), 2);
        for step in steps {
            shell(&folder, &step.replace("${{ matrix.part }}", &number));
        }
    }
    assert_merged(&run_successfully(&folder, "sited stats --merge stats-*.json"));
}

/// Spark starts the command in `pipe` once per partition and writes the lines to its standard input. Here the shell
/// does that.
#[test]
fn each_path_on_standard_input_is_checked() {
    let (folder, parts) = parts();
    let found = Regex::new(r#"\.pipe\("([^"]*)"\)"#).unwrap();
    let python = block("python", "pipe");
    let command = found.captures(&python).unwrap()[1].to_owned();
    let mut printed = String::new();
    for part in parts {
        let output = run_successfully(&folder, &format!("echo '{}' | {command}", part.display()));
        printed.push_str(&stdout(&output));
    }
    for part in 1..=2 {
        assert!(printed.contains(&format!("sitemap-{part}.xml,line=")), "{printed}");
    }
    assert!(printed.lines().all(|line| line.starts_with("::")), "{printed}");
}
