//! Tests that hold for every command: a dry run changes nothing, output is buffered, no folder is made unasked.
//!
//! Commands are enumerated from the definition of the command line, so a new one cannot be forgotten.

use super::*;
use crate::files::Options;
use crate::files::journal::StateSlot;
use crate::session::command::parse;
use crate::session::edit::DefaultScope;
use crate::session::state::vocabulary;
use crate::session::store::journal::fixture;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::SystemTime;

/// A folder with a backup and a set of rules.
fn site() -> TempDir {
    let folder = folder();
    let words = "set DIR/good.xml priority=0.1 --backup always --now 2026-11-19";
    assert_eq!(sited(&folder, words).0, 0);
    fs::write(folder.path().join("rules.toml"), "[[rule]]\npriority = 0.3\n").unwrap();
    folder
}

/// Changes a file in a session that ends without a clean exit.
fn leave_changes(folder: &TempDir, name: &str) {
    let path = folder.path().join(name);
    let mut session = crate::session::store::load::open(&path, Options::default(), clock::system()).unwrap();
    fixture::open(&mut session, StateSlot::take(&folder.path().join(".state"), &path).unwrap());
    let command = parse("%set priority=0.7", &vocabulary(clock::system())).unwrap();
    session.run(&command, DefaultScope::All).unwrap();
}

/// Every path below the folder, the state folder included, with its bytes and modification time.
fn tree(folder: &TempDir) -> BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)> {
    fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)>) {
        let modified = |path: &Path| fs::symlink_metadata(path).unwrap().modified().unwrap();
        found.insert(folder.to_path_buf(), (None, modified(folder)));
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.insert(path.clone(), (Some(fs::read(&path).unwrap()), modified(&path)));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder.path(), &mut found);
    found
}

/// The commands that have an option.
fn commands_with(option: &str) -> Vec<String> {
    let command = Cli::definition();
    let has_it = |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_id() == option);
    command.get_subcommands().filter(has_it).map(|command| command.get_name().to_owned()).collect()
}

/// Arguments with which a command writes something, without `--dry-run`.
fn changing(command: &str) -> &'static [&'static str] {
    match command {
        "set" => &[
            "DIR/good.xml priority=0.8",
            "DIR/index.xml priority=0.8 --backup always",
            "DIR/good.xml lastmod=today -o DIR/o.xml",
        ],
        "fix" => &["DIR/bad.xml --rule priority-invalid --answer remove", "DIR/index.xml"],
        "replace" => &["DIR/good.xml ^https http", "DIR/good.xml ^https http -o DIR/new/o.xml --mkdir"],
        "add" => &["DIR/good.xml https://e.com/new", "DIR/good.xml https://e.com/new --backup once"],
        "remove" => &["DIR/good.xml --where section:blog", "DIR/good.xml DIR/bad.xml --where section:blog"],
        "keep" => &["DIR/good.xml --where section:blog", "DIR/good.xml DIR/index.xml --where loc:e.com/"],
        "sort" => &["DIR/good.xml -loc"],
        "dedupe" => &["DIR/bad.xml --keep newest"],
        "convert" => {
            &["DIR/good.xml -o DIR/o.csv", "DIR/index.xml -o DIR/new/o.txt --mkdir", "DIR/good.xml -o - --to tsv"]
        }
        "apply" => &["DIR/good.xml DIR/rules.toml", "DIR/index.xml DIR/rules.toml -o DIR/o.xml"],
        "split" => &[
            "DIR/good.xml -o DIR/parts --base-url https://e.com/ --max-urls 1",
            "DIR/good.xml -o DIR/ --base-url https://e.com/ --prune --backup always",
        ],
        "merge" => &[
            "DIR/good.xml DIR/bad.xml -o DIR/all.xml",
            "DIR/good.xml DIR/bad.xml -o DIR/parts --base-url https://e.com/",
        ],
        "restore" => &[
            "DIR/good.xml",
            "DIR/good.xml --set latest",
            "DIR/good.xml --set latest --prune --unverified",
            "DIR/good.xml --keep 0",
            "DIR/good.xml --keep 1",
        ],
        "recover" => &["DIR/bad.xml --journal 1 --apply"],
        "notify" => &[
            "DIR/good.xml DIR/bad.xml --indexnow --key 12345678",
            "DIR/good.xml --all --indexnow --key 12345678 --state DIR/sent",
        ],
        other => panic!("say how `{other}` is run, so that its --dry-run is tested"),
    }
}

#[test]
fn a_dry_run_changes_nothing_in_any_folder() {
    let mut runs = 0;
    for command in commands_with("dry_run") {
        let mut understood = 0;
        for words in changing(&command) {
            let folder = site();
            if command == "recover" {
                leave_changes(&folder, "bad.xml");
            }
            let line = format!("{command} {words} --dry-run");
            let typed = line.split(' ').map(|word| word.replace("DIR", &folder.path().display().to_string()));
            if Cli::try_parse_from(["sited".to_owned()].into_iter().chain(typed)).is_err() {
                continue;
            }
            let before = tree(&folder);
            let (status, _, notes) = sited(&folder, &line);
            assert_eq!(tree(&folder), before, "{line}: {notes}");
            assert_eq!(status, 0, "{line}: {notes}");
            understood += 1;
        }
        assert!(understood > 0, "{command}: no line of it is understood");
        runs += understood;
    }
    assert!(runs >= 20, "{runs}");
}

#[test]
fn restore_dry_run_lists_the_backups_to_be_removed() {
    let folder = site();
    let (status, out, notes) = sited(&folder, "restore DIR/good.xml --keep 0 --dry-run");
    assert_eq!((status, out.as_str()), (0, ""));
    assert!(notes.starts_with("would be removed  2026-11-19T00-00-00Z"), "{notes}");
    let (_, out, notes) = sited(&folder, "restore DIR/good.xml --keep 0");
    assert!(out.is_empty() && notes.starts_with("removed  2026-11-19T00-00-00Z"), "{out}{notes}");
}

/// Counts writes, as a pipe or a file would get them.
#[derive(Default)]
struct Counting {
    writes: usize,
    bytes: usize,
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A command that prints, on a file with many findings.
fn printing(command: &str) -> Vec<&'static str> {
    match command {
        "check" => vec!["DIR/many.xml", "DIR/many.xml --max-findings 9000", "DIR/many.xml --where loc:1"],
        "list" => vec!["DIR/many.xml", "DIR/many.xml --sort -loc", "DIR/many.xml --columns loc,rules,line"],
        "stats" => vec!["DIR/many.xml"],
        // They need a server, so tests/it runs them.
        "probe" | "get" => Vec::new(),
        "notify" => vec![
            "DIR/good.xml DIR/many.xml --indexnow --key 12345678 --dry-run",
            "DIR/many.xml --all --indexnow --key 12345678 --dry-run",
        ],
        "dates" => vec![
            "DIR/many.xml --mtime DIR/ --map /**=good.xml",
            "DIR/many.xml --mtime DIR/ --map /**/1*=good.xml --all",
        ],
        "diff" => vec!["DIR/many.xml DIR/good.xml", "DIR/good.xml DIR/many.xml --urls=added"],
        "set" => vec![
            "DIR/many.xml priority=0.2 --dry-run",
            "DIR/many.xml priority=0.2 --check",
            "DIR/many.xml priority=0.2 -o -",
            "DIR/many.xml --from DIR/table.csv --all --dry-run",
            "DIR/many.xml --from DIR/table.csv --unmatched - --dry-run",
        ],
        "replace" => vec!["DIR/many.xml ^https http --dry-run"],
        "add" => vec!["DIR/many.xml https://e.com/new --dry-run", "DIR/many.xml https://e.com/new -o -"],
        "remove" => vec!["DIR/many.xml --where loc:1 --dry-run"],
        "keep" => vec!["DIR/many.xml --where loc:1 --dry-run", "DIR/many.xml --where loc:1 --check"],
        "sort" => vec!["DIR/many.xml -loc --dry-run", "DIR/many.xml -loc -o -"],
        "fix" => vec!["DIR/many.xml --dry-run", "DIR/many.xml --rule * --check", "DIR/many.xml -o -"],
        "dedupe" => vec!["DIR/many.xml --dry-run"],
        "split" => vec!["DIR/many.xml -o DIR/parts --base-url https://e.com/ --max-urls 10 --dry-run"],
        "convert" => vec!["DIR/many.xml -o - --to csv", "DIR/many.xml -o - --to txt"],
        "apply" => vec!["DIR/many.xml DIR/rules.toml --dry-run", "DIR/many.xml DIR/rules.toml --check"],
        "merge" => vec!["DIR/many.xml DIR/good.xml -o -"],
        "restore" => vec!["DIR/good.xml"],
        "recover" => vec!["DIR/bad.xml"],
        "completions" => vec!["bash", "zsh", "fish"],
        "man" => vec![""],
        "help" => vec!["", "queries", "rules"],
        other => panic!("say how `{other}` prints, so that its writes are counted"),
    }
}

#[test]
fn output_is_written_in_few_calls() {
    let folder = site();
    leave_changes(&folder, "bad.xml");
    let entry =
        |n| format!("<url><loc>http://e.com/a b/{n}</loc><lastmod>soon {n}</lastmod><priority>7</priority></url>\n");
    let entries: String = (0..1_200).map(entry).collect();
    fs::write(folder.path().join("many.xml"), format!("{HEAD}{entries}</urlset>\n")).unwrap();
    let others: String = (0..1_200).map(|n| ["https://e.com/other/", &n.to_string(), ",0.5\n"].concat()).collect();
    fs::write(folder.path().join("table.csv"), format!("loc,priority\n{others}")).unwrap();
    let definition = Cli::definition();
    let mut printed = 0;
    for command in definition.get_subcommands() {
        let formats = command.get_arguments().find(|argument| argument.get_id() == "format");
        let formats = formats.map(clap::Arg::get_possible_values).unwrap_or_default();
        let formats: Vec<String> = formats.iter().map(|value| format!(" --format {}", value.get_name())).collect();
        let formats = if formats.is_empty() { vec![String::new()] } else { formats };
        for (words, format) in
            printing(command.get_name()).into_iter().flat_map(|words| formats.iter().map(move |format| (words, format)))
        {
            // `--urls` has only one format.
            let format = if words.contains("--urls") { "" } else { format };
            let line = format!("{} {words}{format}", command.get_name());
            let directory = format!("{}/", folder.path().display());
            let words = line.trim_end().split(' ').map(|word| word.replace("DIR/", &directory));
            let line_read = Cli::try_parse_from(["sited".to_owned()].into_iter().chain(words));
            let line_read = line_read.unwrap_or_else(|error| panic!("{line}: {error}"));
            for terminal in [false, true] {
                let (mut out, mut notes) = (Counting::default(), Counting::default());
                let state = Some(folder.path().join(".state"));
                run(&line_read, Env { state, terminal, ..Env::default() }, &mut out, &mut notes);
                assert!(out.writes <= 2 + out.bytes / 30_000, "{line}: {} writes of {} bytes", out.writes, out.bytes);
                // Notes are written line by line, for example for each of the 120 parts of the split, but those of
                // rows in blocks.
                assert!(
                    notes.writes <= 140 + notes.bytes / 10_000,
                    "{line}: {} writes of {} bytes",
                    notes.writes,
                    notes.bytes
                );
                printed += usize::from(out.bytes > 50_000);
            }
        }
    }
    assert!(printed >= 20, "{printed} of the runs print much");
}

#[test]
fn a_missing_output_folder_is_reported_and_created_only_with_mkdir() {
    for words in [
        "set DIR/good.xml priority=0.8 -o DIR/typo/dir/x.xml",
        "set DIR/good.xml priority=0.8 --dry-run -o DIR/typo/dir/x.xml",
        "fix DIR/bad.xml --rule priority-* -o DIR/typo/dir/x.xml",
        "replace DIR/good.xml ^https http -o DIR/typo/dir/x.xml",
        "add DIR/good.xml https://e.com/new -o DIR/typo/dir/x.xml",
        "remove DIR/good.xml --where section:blog -o DIR/typo/dir/x.xml",
        "sort DIR/good.xml -o DIR/typo/dir/x.xml",
        "dedupe DIR/good.xml -o DIR/typo/dir/x.xml",
        "apply DIR/good.xml DIR/rules.toml -o DIR/typo/dir/x.xml",
        "convert DIR/good.xml -o DIR/typo/dir/x.csv",
        "merge DIR/good.xml DIR/bad.xml -o DIR/typo/dir/x.xml",
        "merge DIR/good.xml DIR/bad.xml -o DIR/typo/dir/parts --base-url https://e.com/",
        "split DIR/good.xml -o DIR/typo/dir/parts --base-url https://e.com/",
        "check DIR/good.xml --write-baseline DIR/typo/dir/known.json",
        "dates DIR/good.xml --mtime DIR/ --map /blog/x=good.xml -o DIR/typo/dir/dates.jsonl",
    ] {
        let folder = site();
        let directory = format!("{}/", folder.path().display());
        let typed = words.split(' ').map(|word| word.replace("DIR/", &directory));
        let parsed = Cli::try_parse_from(["sited".to_owned()].into_iter().chain(typed));
        assert!(parsed.is_ok(), "{words} is not understood");
        let before = tree(&folder);
        let (status, out, notes) = sited(&folder, words);
        assert_eq!((status, out.as_str()), (3, ""), "{words}: {notes}");
        assert!(notes.contains("the folder DIR/typo does not exist") && notes.contains("--mkdir"), "{words}: {notes}");
        assert_eq!(tree(&folder), before, "{words}");
        let (status, _, notes) = sited(&folder, &format!("{words} --mkdir"));
        assert_eq!(status, 0, "{words}: {notes}");
        assert_eq!(folder.path().join("typo/dir").exists(), !words.contains("--dry-run"), "{words}: {notes}");
    }
}

#[test]
fn every_command_with_an_output_path_has_mkdir() {
    let definition = Cli::definition();
    for command in definition.get_subcommands() {
        let writes = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
        // `man` always creates its folders, as packages need them.
        if command.get_name() != "man" && (writes("output") || writes("write_baseline")) {
            assert!(writes("mkdir"), "{} writes to a path and has no --mkdir", command.get_name());
        }
    }
}

#[test]
fn a_script_creates_folders_only_with_mkdir() {
    let folder = site();
    fs::write(
        folder.path().join("s"),
        "%set priority=0.7\nwrite TYPO/x.xml\n".replace("TYPO", &folder.path().join("typo").display().to_string()),
    )
    .unwrap();
    let (status, _, notes) = sited(&folder, "--script DIR/s DIR/good.xml");
    assert_eq!(status, 3, "{notes}");
    assert!(notes.contains("the folder DIR/typo does not exist"), "{notes}");
    assert!(!notes.contains("priority set"), "{notes}");
    let (status, _, notes) = sited(&folder, "--script DIR/s --mkdir DIR/good.xml");
    assert_eq!(status, 0, "{notes}");
}

#[test]
fn unsaved_changes_are_kept_if_their_file_changes() {
    let folder = site();
    leave_changes(&folder, "bad.xml");
    let (status, _, notes) = sited(&folder, "set DIR/bad.xml priority=0.8");
    assert_eq!(status, 3, "{notes}");
    assert!(notes.contains("an earlier session left 1 unsaved change"), "{notes}");
    let text = fs::read_to_string(folder.path().join("bad.xml")).unwrap();
    fs::write(folder.path().join("bad.xml"), text.replace("e.com/a", "e.com/b")).unwrap();
    let before = tree(&folder);
    let (status, _, notes) = sited(&folder, "set DIR/bad.xml priority=0.8");
    assert_eq!(status, 3, "{notes}");
    assert_eq!(fs::read(folder.path().join("bad.xml")).ok(), before[&folder.path().join("bad.xml")].0);
    let journals = fs::read_dir(folder.path().join(".state/journal")).unwrap().map(|entry| entry.unwrap().path());
    let journal = journals.into_iter().find(|path| path.extension().is_some_and(|end| end == "journal")).unwrap();
    let journal = journal.display().to_string().replace(&folder.path().display().to_string(), "DIR");
    assert!(notes.contains(&journal) && notes.contains("sited recover DIR/bad.xml"), "{journal}: {notes}");
    let (status, _, notes) = sited(&folder, "recover DIR/bad.xml --journal 1 --discard");
    assert_eq!(status, 0, "{notes}");
    let (status, _, notes) = sited(&folder, "set DIR/bad.xml priority=0.8");
    assert_eq!(status, 0, "{notes}");
}

/// The changed file is opened alone or in its index.
#[test]
fn unsaved_changes_of_a_changed_file_block_every_set_that_contains_it() {
    for (left, changed) in [("bad.xml", "index.xml"), ("index.xml", "bad.xml")] {
        let folder = site();
        leave_changes(&folder, left);
        let path = folder.path().join("bad.xml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("e.com/a", "e.com/b")).unwrap();
        let set = format!("set DIR/{changed} priority=0.8");
        let (status, _, notes) = sited(&folder, &set);
        assert_eq!(status, 3, "{left} {changed}: {notes}");
        let words = format!("sited recover DIR/{left} shows the journal");
        assert!(notes.contains("left 1 unsaved change in ") && notes.contains(&words), "{left} {changed}: {notes}");
        let (status, _, notes) = sited(&folder, &format!("recover DIR/{left} --journal 1 --discard"));
        assert_eq!(status, 0, "{notes}");
        let (status, _, notes) = sited(&folder, &set);
        assert_eq!(status, 0, "{notes}");
    }
}

#[test]
fn a_failed_save_reports_no_success() {
    let folder = site();
    fs::create_dir(folder.path().join("taken.xml")).unwrap();
    for words in
        ["set DIR/good.xml priority=0.9 -o DIR/taken.xml", "apply DIR/good.xml DIR/rules.toml -o DIR/taken.xml"]
    {
        let (status, _, notes) = sited(&folder, words);
        assert!(status > 1 && notes.starts_with("error: "), "{words}: {notes}");
    }
}

#[test]
fn a_plan_counts_the_dates_that_it_writes() {
    let folder = site();
    // Index entries without a date get none.
    let (status, out, notes) = sited(&folder, "set DIR/index.xml priority=0.8 --dry-run");
    assert_eq!(status, 0, "{notes}");
    assert!(!out.contains("dated"), "{out}");
    let index = fs::read_to_string(folder.path().join("index.xml")).unwrap();
    let dated = index.replacen("</loc>", "</loc><lastmod>2025-01-01</lastmod>", 1);
    fs::write(folder.path().join("index.xml"), dated).unwrap();
    let (_, out, notes) = sited(&folder, "set DIR/index.xml priority=0.8 --dry-run");
    assert!(out.contains("index.xml  1 file dated"), "{out}{notes}");
}

#[test]
fn an_invalid_split_key_is_an_error_with_a_suggestion() {
    let folder = site();
    for (words, error, hint) in [
        ("--by sectoin", "--by sectoin: keys are section, host or month", "did you mean --by section?"),
        ("--by Host", "--by Host: keys are", "did you mean --by host?"),
        ("--by section loc:blog", "a key cannot be combined with queries", "--by section alone"),
        ("--by loc:nowhere", "no URL matches --by loc:nowhere", "section, host or month"),
        ("--by section --name {section}.xml", "{section} is not a placeholder", "write {key}"),
        ("--by section --name {key}-{x}.xml", "{x} is not a placeholder", "{n}, a number, and {key}"),
        ("--by section --name {key}-{n.xml", "{n.xml is not a placeholder", "{n}, a number"),
    ] {
        let before = tree(&folder);
        let line = format!("split DIR/good.xml -o DIR/parts --base-url https://e.com/ {words}");
        let (status, _, notes) = sited(&folder, &line);
        assert_eq!(status, 2, "{words}: {notes}");
        assert!(notes.contains(error) && notes.contains(hint), "{words}: {notes}");
        assert_eq!(tree(&folder).len(), before.len(), "{words}");
        fs::remove_dir_all(folder.path().join(".state/lock")).ok();
    }
    let (status, _, notes) =
        sited(&folder, "split DIR/good.xml -o DIR/parts --base-url https://e.com/https://e.com/ --by section");
    assert!(status == 2 && notes.contains("a second one begins inside it"), "{notes}");
    let (status, _, notes) = sited(&folder, "split DIR/good.xml -o DIR/parts --base-url https://e.com/ --by loc:blog");
    assert_eq!(status, 0, "{notes}");
}
