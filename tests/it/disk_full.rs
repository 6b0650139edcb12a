//! Tests of saves without space: limited file sizes, and a full disk if one can be mounted.
//!
//! Verifies the promise "a full disk, a quota, a limit: no file is changed, and the error names the missing bytes".

use crate::support::{Folder, environment, program, run, stderr, stdout};
use std::fmt::Write as _;
use std::process::{Command, Output, Stdio};

/// Rows of each part: about 40 kB, more than the limit of 16 kB and less than the disk of 400 kB.
const ROWS: usize = 500;

fn urlset(part: usize) -> String {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
            .to_owned();
    for row in 0..ROWS {
        writeln!(text, "<url><loc>https://example.com/{part}/a-page-of-this-site/{row}</loc></url>").unwrap();
    }
    text + "</urlset>\n"
}

fn set() -> Folder {
    let folder = Folder::new();
    let mut index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
    for part in 1..=3 {
        folder.write(&format!("part-{part}.xml"), urlset(part));
        writeln!(index, "<sitemap><loc>https://example.com/part-{part}.xml</loc></sitemap>").unwrap();
    }
    folder.write("sitemap.xml", index + "</sitemapindex>\n");
    folder
}

/// Runs the program with files limited to 16 blocks of 1,024 bytes (or 512, depending on the shell).
fn run_limited(folder: &Folder, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 16 && exec \"$0\" \"$@\""]).arg(program()).args(arguments);
    command.current_dir(folder.path()).env_clear().envs(environment(folder.path()));
    command.stdin(Stdio::null()).output().expect("start a shell")
}

#[test]
fn a_file_size_limit_is_reported_and_no_file_is_changed() {
    let folder = set();
    folder.write("single.xml", urlset(1));
    let table: [&[&str]; 5] = [
        &["set", "single.xml", "priority=0.8"],
        &["set", "sitemap.xml", "priority=0.8"],
        &["set", "sitemap.xml", "priority=0.8", "--backup", "always"],
        &["set", "single.xml", "priority=0.8", "-o", "new/copy.xml", "--mkdir"],
        &["split", "sitemap.xml", "-o", "parts", "--max-urls", "300"],
    ];
    for arguments in table {
        let before = folder.files();
        let output = run_limited(&folder, arguments);
        let notes = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {notes}");
        assert!(notes.contains("no file may have more than") && notes.contains("ulimit -f"), "{arguments:?}: {notes}");
        assert!(notes.contains("no file was changed"), "{arguments:?}: {notes}");
        assert_eq!(folder.files(), before, "{arguments:?}");
        let folders = ["new", "parts", "sitemap.xml.bak"].map(|name| folder.file(name).exists());
        assert_eq!(folders, [false; 3], "{arguments:?}: folders that were made for it are gone");
    }
    // Without the limit the same command succeeds.
    assert!(run(&folder, table[1]).status.success());
    assert_eq!(folder.text("part-2.xml").matches("<priority>0.8</priority>").count(), ROWS);
}

/// The script of a shell with a disk of its own, which is unmounted when the shell ends. `$0` is the program, `$1` the
/// folder of the set.
const ON_A_SMALL_DISK: &str = "
set -e
disk=$(mktemp -d)
mount -t tmpfs -o size=400k none \"$disk\" || { echo CANNOT MOUNT; exit 0; }
cp \"$1\"/*.xml \"$disk\" && cd \"$disk\"
sums() { cat sitemap.xml part-1.xml part-2.xml part-3.xml | cksum; }
head -c 150000 /dev/zero > filler
old=$(sums)
status=0; \"$0\" set sitemap.xml priority=0.8 $2 2> notes || status=$?
echo status $status
cat notes
[ \"$(sums)\" = \"$old\" ] && echo as it was
ls -A
rm filler
\"$0\" set sitemap.xml priority=0.8 2>&1
grep -c '<priority>0.8</priority>' part-3.xml
ls -A
";

#[test]
fn a_full_disk_is_reported_with_the_missing_space_and_no_file_is_changed() {
    let folder = set();
    for backup in ["", "--backup=once"] {
        let mut command = Command::new("unshare");
        command.args(["-m", "--propagation", "private", "sh", "-c", ON_A_SMALL_DISK]);
        command.arg(program()).arg(folder.path()).arg(backup);
        command.env_clear().envs(environment(folder.path())).env("PATH", std::env::var("PATH").unwrap_or_default());
        let output = command.stdin(Stdio::null()).output();
        let text = output.as_ref().map(stdout).unwrap_or_default();
        if text.is_empty() || text.contains("CANNOT MOUNT") {
            eprintln!("NOT TESTED: a real full disk; nobody may mount one here ({output:?})");
            return;
        }
        let (first, again) = text.split_once("as it was\n").unwrap_or_else(|| panic!("not as it was: {text}"));
        assert!(first.contains("status 3"), "{text}");
        assert!(first.contains("the disk is full") && first.contains("are missing"), "{text}");
        assert!(first.contains("free some space and save again"), "{text}");
        let names = ["filler", "notes", "part-1.xml", "part-2.xml", "part-3.xml", "sitemap.xml"];
        assert!(again.starts_with(&format!("{}\n", names.join("\n"))), "nothing is left behind: {text}");
        assert!(again.contains(&format!("\n{ROWS}\n")), "with room it works: {text}");
        assert!(again.ends_with(&format!("{}\n", names[1..].join("\n"))), "{text}");
    }
}
