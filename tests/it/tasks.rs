//! Tests of the commands on real folders: output, files and exit status.

use crate::support::{Folder, run, stderr, stdout};
use serde_json::Value;

const NOW: [&str; 2] = ["--now", "2026-11-20T10:14:07Z"];
const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

fn urlset(rows: &[(&str, &str)]) -> String {
    let row = |(loc, rest): &(&str, &str)| format!("<url><loc>https://example.org/{loc}</loc>{rest}</url>\n");
    format!("{HEAD}{}</urlset>\n", rows.iter().map(row).collect::<String>())
}

/// A folder with one sitemap.
fn folder(rows: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.write("a.xml", urlset(rows));
    folder
}

/// Runs a command, asserts its success, and returns its standard output.
fn run_successfully(folder: &Folder, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

fn locs(folder: &Folder, name: &str) -> Vec<String> {
    run_successfully(folder, &["list", name]).lines().map(|line| line.replace("https://example.org/", "")).collect()
}

#[test]
fn rows_are_replaced_added_removed_sorted_and_deduped_in_place() {
    let rows = [("b", "<lastmod>2026-01-02</lastmod>"), ("a", ""), ("b", "<lastmod>2026-05-02</lastmod>")];
    let table: [(&[&str], &[&str]); 8] = [
        (&["replace", "a.xml", "org/(.)", "org/x/$1"], &["x/b", "x/a", "x/b"]),
        (&["replace", "a.xml", "B$", "c", "-i", "--where", "lastmod>=2026-05"], &["b", "a", "c"]),
        (&["add", "a.xml", "https://example.org/c", "https://example.org/a"], &["b", "a", "b", "c"]),
        (&["add", "a.xml", "https://example.org/a", "--again"], &["b", "a", "b", "a"]),
        (&["remove", "a.xml", "--where", "lastmod:none"], &["b", "b"]),
        (&["sort", "a.xml", "-lastmod"], &["b", "b", "a"]),
        (&["sort", "a.xml"], &["a", "b", "b"]),
        (&["dedupe", "a.xml"], &["b", "a"]),
    ];
    for (arguments, expected) in table {
        let folder = folder(&rows);
        let before = folder.read("a.xml");
        let planned = run_successfully(&folder, &[arguments, &["--dry-run"]].concat());
        assert_eq!(folder.read("a.xml"), before, "{arguments:?}: a dry run writes nothing");
        assert!(planned.starts_with("rewritten  a.xml  ") && planned.contains("\n+++ b/a.xml\n"), "{planned}");
        run_successfully(&folder, arguments);
        assert_eq!(locs(&folder, "a.xml"), expected, "{arguments:?}");
    }
}

#[test]
fn dedupe_keeps_the_row_that_the_option_selects() {
    let rows = [
        ("b", "<lastmod>2026-01-02</lastmod>"),
        ("b", "<lastmod>2026-05-02</lastmod>"),
        ("b", ""),
        ("%7Ea", ""),
        ("~a", ""),
    ];
    let table: [(&[&str], &[&str]); 4] = [
        (&["--keep", "first"], &["<loc>https://example.org/b</loc><lastmod>2026-01-02</lastmod>", "%7Ea", "~a"]),
        (&["--keep", "newest"], &["<loc>https://example.org/b</loc><lastmod>2026-05-02</lastmod>", "%7Ea", "~a"]),
        (&["--keep", "last"], &["<loc>https://example.org/b</loc></url>", "%7Ea", "~a"]),
        (&["--equivalent"], &["<loc>https://example.org/b</loc><lastmod>2026-01-02</lastmod>", "%7Ea"]),
    ];
    for (arguments, expected) in table {
        let folder = folder(&rows);
        run_successfully(&folder, &[&["dedupe", "a.xml"], arguments].concat());
        let text = folder.text("a.xml");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("<url>")).collect();
        assert_eq!(lines.len(), expected.len(), "{arguments:?}: {text}");
        for (line, part) in lines.iter().zip(expected) {
            assert!(line.contains(part), "{arguments:?}: {line} has no {part}");
        }
    }
}

#[test]
fn rows_are_printed_as_csv_tsv_and_text() {
    let folder = folder(&[("b,\"c\"", "<priority>0.50</priority>"), ("a", "<lastmod>2026-05-02</lastmod>")]);
    let csv = run_successfully(&folder, &["list", "a.xml", "--format", "csv"]);
    assert_eq!(
        csv,
        "loc,lastmod,changefreq,priority\n\"https://example.org/b,\"\"c\"\"\",,,0.50\n\
         https://example.org/a,2026-05-02,,\n"
    );
    let tsv =
        run_successfully(&folder, &["list", "a.xml", "--format", "tsv", "--columns", "line,loc", "--sort", "loc"]);
    assert_eq!(tsv, "line\tloc\n4\thttps://example.org/a\n3\t\"https://example.org/b,\"\"c\"\"\"\n");
    let bare = run_successfully(&folder, &["list", "a.xml", "--columns", "file,priority", "--where", "priority=0.5"]);
    assert_eq!(bare, "a.xml\t0.50\n");
    let unknown_column = run(&folder, &["list", "a.xml", "--columns", "colour"]);
    assert_eq!(unknown_column.status.code(), Some(2));
    assert!(stderr(&unknown_column).contains("columns are loc, lastmod"), "{}", stderr(&unknown_column));
}

#[test]
fn sets_are_compared_by_url() {
    let folder = folder(&[("a", ""), ("b", "<priority>0.5</priority>"), ("c", "")]);
    folder.write("b.xml", urlset(&[("d", ""), ("b", "<priority>0.6</priority>"), ("a", "")]));
    let output = run(&folder, &["diff", "a.xml", "b.xml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stdout(&output),
        "- https://example.org/c\n+ https://example.org/d\n~ https://example.org/b  priority 0.5 → 0.6\n"
    );
    let urls = |kinds: &str| stdout(&run(&folder, &["diff", "a.xml", "b.xml", kinds]));
    assert_eq!(urls("--urls"), "https://example.org/d\nhttps://example.org/b\n");
    assert_eq!(urls("--urls=removed"), "https://example.org/c\n");
    let output = run(&folder, &["diff", "a.xml", "b.xml", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["summary"]["changed"], 1);
    assert_eq!(document["differences"][2]["fields"]["priority"]["new"], "0.6");
    let same = run(&folder, &["diff", "a.xml", "a.xml"]);
    assert_eq!((same.status.code(), stdout(&same).as_str()), (Some(0), ""));
}

#[test]
fn merged_statistics_of_parts_equal_those_of_the_set() {
    let folder = folder(&[("blog/a", "<priority>0.5</priority>"), ("b", "<lastmod>2026-05-02</lastmod>")]);
    folder.write("b.xml", urlset(&[("b", "<changefreq>daily</changefreq>"), ("blog/c", "<priority>x</priority>")]));
    for name in ["a", "b"] {
        let report = run_successfully(&folder, &["stats", &format!("{name}.xml"), "--format", "json", "--keys"]);
        folder.write(&format!("{name}.json"), report);
    }
    let of_set = run_successfully(&folder, &["stats", "a.xml", "b.xml", "--format", "json"]);
    let merged = run_successfully(&folder, &["stats", "--merge", "a.json", "b.json", "--format", "json"]);
    assert_eq!(merged, of_set);
    let document: Value = serde_json::from_str(&of_set).unwrap();
    assert_eq!((document["urls"].as_u64(), document["distinct"].as_u64()), (Some(4), Some(3)));
    assert_eq!(document["section"]["blog"], 2);
    assert_eq!(document["month"]["2026-05"], 1);
    let text = run_successfully(&folder, &["stats", "a.xml", "b.xml"]);
    assert!(text.contains("distinct                 3\n") && text.contains('█'), "{text}");
    assert_eq!(run(&folder, &["stats", "--merge", "a.xml"]).status.code(), Some(2));
}

#[test]
fn findings_are_filtered_baselined_and_printed_in_every_format() {
    let folder = folder(&[("a", ""), ("a", ""), ("b", "<priority>7</priority>")]);
    let check = |arguments: &[&str]| {
        let output = run(&folder, &[&["check", "a.xml"], arguments, &NOW].concat());
        (output.status.code().unwrap(), stdout(&output))
    };
    let (status, all) = check(&[]);
    assert_eq!(status, 1);
    let (status, some) = check(&["--rule", "priority-*"]);
    assert_eq!(status, 1);
    assert!(
        some.lines().count() < all.lines().count() && some.lines().all(|line| line.contains("[priority-")),
        "{some}"
    );
    assert_eq!(check(&["--rule", "priority-*", "--fail-on", "never"]).0, 0);
    let (_, rest) = check(&["--ignore", "priority-*"]);
    assert!(!rest.contains("[priority-") && !rest.is_empty(), "{rest}");
    let (_, row) = check(&["--where", "path=/b"]);
    assert!(row.lines().all(|line| line.starts_with("a.xml:5:")), "{row}");
    assert_eq!(check(&["--max-findings", "1"]).1.lines().count(), 1);
    assert_eq!(check(&["--rule", "no-such-rule"]).0, 2);

    assert_eq!(check(&["--write-baseline", "known.json"]).0, 0);
    assert_eq!(check(&["--baseline", "known.json", "--fail-on", "note"]), (0, String::new()));
    folder.write("a.xml", urlset(&[("a", ""), ("c", ""), ("a", ""), ("a", ""), ("b", "<priority>7</priority>")]));
    let (status, new) = check(&["--baseline", "known.json", "--rule", "set-duplicate", "--fail-on", "warning"]);
    assert_eq!((status, new.lines().count()), (1, 1), "one more of a kind is new: {new}");

    let (_, sarif) = check(&["--format", "sarif"]);
    let log: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"].as_str().map(str::is_empty), Some(false));
    let (_, junit) = check(&["--format", "junit"]);
    assert_well_formed(&junit);
    let (_, github) = check(&["--format", "github"]);
    assert!(github.lines().all(|line| line.starts_with("::")), "{github}");
}

/// With `--cross-submission`, URLs of other hosts are no findings (sitemaps.org protocol, "Sitemaps & Cross Submits").
#[test]
fn cross_submission_suppresses_the_rules_about_other_hosts() {
    const HOST_RULES: [&str; 3] = ["index-child-host", "loc-foreign-host", "set-mixed-host"];
    let folder = folder(&[("a", ""), ("b", ""), ("c", "")]);
    let text = folder.text("a.xml").replacen("example.org/c", "example.net/c", 1);
    folder.write("a.xml", text);
    let index = format!(
        "{HEAD}<url><loc>https://example.org/a.xml</loc></url><url><loc>https://example.com/b.xml</loc></url></urlset>"
    );
    folder.write("sitemap_index.xml", index.replace("urlset", "sitemapindex").replace("url>", "sitemap>"));
    folder.write("b.xml", urlset(&[("d", "")]));
    let rules = |extra: &[&str]| {
        let arguments = [
            "check",
            "sitemap_index.xml",
            "--base-url",
            "https://example.org/",
            "--format",
            "json",
            "--fail-on",
            "never",
            "--allow-missing",
        ];
        let found: Value = serde_json::from_str(&run_successfully(&folder, &[&arguments, extra].concat())).unwrap();
        found["summary"]["rules"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let (plain, declared) = (rules(&[]), rules(&["--cross-submission"]));
    assert!(HOST_RULES.iter().all(|code| plain.iter().any(|found| found == code)), "{plain:?}");
    let others = plain.iter().filter(|code| !HOST_RULES.contains(&code.as_str()));
    assert_eq!(declared, others.cloned().collect::<Vec<_>>());
}

/// Panics unless the text is well-formed XML.
fn assert_well_formed(text: &str) {
    let document = uppsala::parse(text);
    assert!(document.is_ok(), "{:?} in {text}", document.err());
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run_successfully(&folder, &["completions", shell]);
        assert!(script.contains("dedupe") && script.contains("sited"), "{shell}");
    }
    assert!(run_successfully(&folder, &["man"]).contains(".SH SYNOPSIS"));
    run_successfully(&folder, &["man", "--output", "."]);
    assert!(folder.text("sited-diff.1").contains("Compare two sets by URL"));
}

const RULES: &str = "[[rule]]\nname = \"blog\"\nwhere = \"path:/blog/*\"\npriority = 0.8\nlastmod = 2026-11-01\n\n\
                     [[rule]]\npriority = \"none\"\n";

#[test]
fn the_first_matching_rule_of_a_rules_file_is_applied() {
    let folder = folder(&[("blog/a", "<priority>0.2</priority>"), ("b", "<priority>0.5</priority>"), ("c", "")]);
    folder.write("rules.toml", RULES);
    let before = folder.read("a.xml");
    let check = run(&folder, &["apply", "a.xml", "rules.toml", "--check"]);
    assert_eq!(check.status.code(), Some(1), "{}", stderr(&check));
    assert_eq!(
        stdout(&check),
        "~ https://example.org/blog/a  lastmod none -> 2026-11-01  priority 0.2 -> 0.8\n\
         ~ https://example.org/b  priority 0.5 -> none\n"
    );
    let message = stderr(&run(&folder, &["apply", "a.xml", "rules.toml", "--dry-run"]));
    assert!(message.lines().all(|line| line.starts_with("dry run, nothing is written: ")), "{message}");
    let dry = run_successfully(&folder, &["apply", "a.xml", "rules.toml", "--dry-run"]);
    assert!(dry.contains("\n+++ b/a.xml\n"), "{dry}");
    assert_eq!(folder.read("a.xml"), before);
    run_successfully(&folder, &["apply", "a.xml", "rules.toml"]);
    let text = folder.text("a.xml");
    assert!(text.contains("<lastmod>2026-11-01</lastmod><priority>0.8</priority>"), "{text}");
    assert!(text.contains("<url><loc>https://example.org/b</loc></url>"), "{text}");
    assert_eq!(run_successfully(&folder, &["apply", "a.xml", "rules.toml", "--check"]), "");
}

#[test]
fn errors_in_rules_files_have_their_position() {
    let folder = folder(&[("a", "")]);
    let table = [
        ("[[rule]]\npriorty = 0.8\n", "rules.toml:2:1: unknown field `priorty`"),
        ("[[rule]]\npriority = \n", "rules.toml:2:"),
        ("[[rule]]\nname = \"x\"\n", "rules.toml, x sets nothing"),
        ("", "the file has no rules"),
        ("[[rule]]\nwhere = \"colour:red\"\npriority = 0.8\n", "rules.toml:2:9: where of rule 1"),
        ("[[rule]]\npriority = 7\n", "priority=7"),
        ("[[rule]]\nlastmod = true\n", "lastmod=true"),
    ];
    for (rules, expected) in table {
        folder.write("rules.toml", rules);
        let output = run(&folder, &["apply", "a.xml", "rules.toml"]);
        assert_eq!(output.status.code(), Some(2), "{rules}");
        assert!(stderr(&output).contains(expected), "{rules}: {}", stderr(&output));
    }
}

#[test]
fn sets_are_merged_into_one_file_or_split() {
    let folder = folder(&[("a", ""), ("b", "<priority>0.5</priority>")]);
    folder.write("b.xml", urlset(&[("b", "<priority>0.6</priority>"), ("c", "")]));
    folder.write(
        "index.xml",
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <sitemap><loc>https://example.org/a.xml</loc></sitemap>\n</sitemapindex>\n",
    );
    run_successfully(&folder, &["merge", "index.xml", "b.xml", "-o", "all.xml"]);
    assert_eq!(locs(&folder, "all.xml"), ["a", "b", "b", "c"]);
    run_successfully(&folder, &["merge", "a.xml", "b.xml", "--dedupe", "-o", "once.txt"]);
    assert_eq!(folder.text("once.txt"), "https://example.org/a\nhttps://example.org/b\nhttps://example.org/c\n");
    run_successfully(&folder, &["merge", "a.xml", "b.xml", "-o", "out", "--base-url", "https://example.org/"]);
    assert_eq!(locs(&folder, "out"), ["a", "b", "b", "c"]);
    let printed = run_successfully(&folder, &["merge", "a.xml", "b.xml", "-o", "-"]);
    assert_eq!(printed.matches("<url>").count(), 4, "{printed}");
}

/// An error may quote a file, but never with its control characters.
#[test]
fn errors_that_quote_a_file_contain_no_escape_sequence() {
    let folder = folder(&[("a", "")]);
    folder.write("rules.toml", "[[rule]]\nname = \"\\u001b[2J\\u009bx\"\n");
    folder.write("known.json", "{\"version\": \"\\u001b[2J\"}");
    for arguments in [&["apply", "a.xml", "rules.toml"][..], &["check", "a.xml", "--baseline", "known.json"]] {
        let output = run(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = stderr(&output);
        assert!(text.starts_with("error: ") && text.contains("\nhint: "), "{text}");
        assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{arguments:?}: {text:?}");
    }
}

/// A baseline has the mode that the umask allows.
#[cfg(unix)]
#[test]
fn a_new_file_has_the_mode_of_the_umask() {
    use std::os::unix::fs::MetadataExt;
    let folder = folder(&[("a", "")]);
    for (umask, mode) in [("077", 0o600), ("022", 0o644)] {
        let name = format!("known-{umask}.json");
        let script = format!("umask {umask}; exec \"$0\" check a.xml --write-baseline {name}");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).arg(crate::support::program()).current_dir(folder.path());
        assert!(command.output().unwrap().status.success());
        assert_eq!(std::fs::metadata(folder.path().join(&name)).unwrap().mode() & 0o777, mode, "{name}");
    }
}

#[test]
fn missing_and_misspelt_arguments_are_reported_with_a_suggestion() {
    let folder = folder(&[("a", "<priority>0.5</priority>"), ("b", "")]);
    folder.write("s", "keep-as-rule\n");
    let table: [(&[&str], i32, &str); 10] = [
        (
            &["check", "a.xml", "--baseline", "gone.json"],
            3,
            "error: gone.json: there is no such file\nhint: write it first: sited check PATH --write-baseline FILE\n",
        ),
        (
            &["stats", "--merge", "gone.json"],
            3,
            "error: gone.json: there is no such file\nhint: write one: sited stats PART.xml --format json > PART.json\n",
        ),
        (
            &["apply", "a.xml", "gone.toml"],
            3,
            "error: gone.toml: there is no such file\nhint: write rules there: [[rule]] ",
        ),
        (
            &["--script", "gone", "a.xml"],
            3,
            "error: gone: there is no such file\nhint: a script has one command per line, ",
        ),
        (&["check", "gone.xml"], 3, "error: gone.xml: there is no such file\nhint: check the name; "),
        (
            &["check", "a.xml", "--write-baseline", "no/x.json"],
            3,
            "error: cannot write no/x.json: the folder no does not exist\nhint: correct the path, or create the folder with --mkdir",
        ),
        (&["split", "a.xml", "-o", "out", "--by", "foo=1"], 2, "error: --by is not valid\n  foo=1\n  ^^^ "),
        (
            &["fix", "a.xml", "--rule", "priority-coma"],
            2,
            "error: unknown rule priority-coma; did you mean priority-comma?\n",
        ),
        (&["--script", "s", "a.xml"], 2, "error: line 1 of the script: there is no bulk change to keep"),
        (&["check", "a.xml", "--profile", "google"], 0, ""),
    ];
    for (arguments, status, message) in table {
        let output = run(&folder, arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).starts_with(message), "{arguments:?}: {}", stderr(&output));
    }
    let message = run_successfully(&folder, &["check", "a.xml", "--profile", "google"]);
    assert!(message.contains("priority has no effect here, and 1 URL has one"), "{message}");
}

#[test]
fn manual_pages_are_written_to_a_new_folder() {
    let folder = Folder::new();
    run_successfully(&folder, &["man", "--output", "share/man/man1"]);
    let names = folder.names();
    assert!(
        ["sited.1", "sited-check.1"].iter().all(|page| names.contains(&format!("share/man/man1/{page}"))),
        "{names:?}"
    );
}

#[test]
fn hosts_are_counted_without_regard_to_case() {
    let folder = Folder::new();
    folder.write("a.txt", "https://example.org/a\nHTTPS://Example.ORG/b\n");
    let report: Value =
        serde_json::from_str(&run_successfully(&folder, &["stats", "a.txt", "--format", "json"])).unwrap();
    assert_eq!(report["host"], serde_json::json!({ "example.org": 2 }));
}
