//! Tests of the program without a terminal: exit statuses, streams, closed pipes.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

fn sited(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sited"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

fn urlset(rows: usize, priority: &str) -> String {
    let entry = |row| format!("<url><loc>https://example.com/page/{row}</loc><priority>{priority}</priority></url>\n");
    let entries: String = (0..rows).map(entry).collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n")
}

#[test]
fn the_exit_status_distinguishes_findings_usage_errors_and_io_errors() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("good.xml"), urlset(3, "0.5")).unwrap();
    std::fs::write(folder.path().join("bad.xml"), urlset(1, "high")).unwrap();
    let table: [(&[&str], i32); 8] = [
        (&["check", "good.xml"], 0),
        (&["check", "bad.xml"], 1),
        (&["check", "good.xml", "bad.xml", "--format", "json"], 1),
        (&["check", "gone.xml"], 3),
        (&["list", "good.xml", "--where", "priorty<1"], 2),
        (&["list"], 2),
        (&["set", "good.xml", "priority=0.8", "-o", "bad.xml/new.xml"], 3),
        (&["set", "good.xml", "priority=0.8"], 0),
    ];
    for (arguments, status) in table {
        let output = sited(folder.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        // Errors are written to standard error, never to standard output.
        assert!(status < 2 || (output.stdout.is_empty() && !output.stderr.is_empty()), "{arguments:?}: {output:?}");
    }
    let saved = std::fs::read_to_string(folder.path().join("good.xml")).unwrap();
    assert_eq!(saved, urlset(3, "0.8"));
}

#[test]
fn without_a_terminal_it_reports_an_error_and_lists_the_headless_commands() {
    let folder = tempfile::tempdir().unwrap();
    let output = sited(folder.path(), &[]).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{notes}");
    for expected in ["terminal", "sited check", "sited list", "sited set"] {
        assert!(notes.contains(expected), "{notes}");
    }
}

#[test]
fn a_closed_output_pipe_ends_the_program_without_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("big.xml"), urlset(20_000, "0.5")).unwrap();
    let mut child =
        sited(folder.path(), &["list", "big.xml"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "https://example.com/page/0\n");
    let mut notes = String::new();
    child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
    assert_eq!((child.wait().unwrap().code(), notes.as_str()), (Some(0), ""));
}

/// Writes a set of this number of files, with one URL each.
fn write_set(folder: &Path, files: usize) {
    let child = |file| format!("<sitemap><loc>https://example.com/{file}.xml</loc></sitemap>\n");
    let children: String = (0..files).map(child).collect();
    let index =
        format!("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{children}</sitemapindex>\n");
    std::fs::write(folder.join("sitemap_index.xml"), index).unwrap();
    for file in 0..files {
        let text = urlset(1, "0.5").replace("/page/0", &format!("/page/{file}"));
        std::fs::write(folder.join(format!("{file}.xml")), text).unwrap();
    }
}

/// The limit of open files is lower than the number of files that the program would read at the same time.
#[cfg(unix)]
#[test]
fn files_are_read_one_by_one_if_the_limit_of_open_files_is_low() {
    let folder = tempfile::tempdir().unwrap();
    write_set(folder.path(), 64);
    for limit in [4, 5, 8] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]).arg(env!("CARGO_BIN_EXE_sited"));
        command.args(["list", "sitemap_index.xml"]).env("RAYON_NUM_THREADS", "16").current_dir(folder.path());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        let lines = String::from_utf8(output.stdout).unwrap().lines().count();
        assert_eq!((output.status.code(), lines, notes.as_str()), (Some(0), 64, ""), "{limit}");
    }
}

/// Makes the command run as a user other than root, who becomes the owner of the folder.
#[cfg(unix)]
fn as_unprivileged_user(folder: &Path, mut command: Command) -> Command {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    /// An id that no user of the system has.
    const USER_ID: u32 = 54_321;
    command.env_remove("HOME");
    if std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for path in files.chain([folder.to_path_buf()]) {
            chown(path, Some(USER_ID), Some(USER_ID)).unwrap();
        }
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
        command.uid(USER_ID).gid(USER_ID);
    }
    command
}

#[cfg(unix)]
#[test]
fn a_set_with_an_unreadable_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    write_set(folder.path(), 3);
    let path = folder.path().join("1.xml");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    for arguments in [
        &["set", ".", "lastmod=today"][..],
        &["list", "."],
        &["stats", "."],
        &["check", "."],
        &["fix", ".", "--rule", "index-child-missing", "--dry-run"],
    ] {
        let output = as_unprivileged_user(folder.path(), sited(folder.path(), arguments)).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {notes}");
        assert!(notes.contains("1.xml: cannot read: permission denied"), "{arguments:?}: {notes}");
        assert!(notes.contains("--allow-missing"), "{arguments:?}: {notes}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("0.xml")).unwrap(), urlset(1, "0.5"));
    let arguments = ["set", ".", "priority=0.8", "--allow-missing"];
    let output = as_unprivileged_user(folder.path(), sited(folder.path(), &arguments)).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{notes}");
    assert!(notes.contains("left out: ") && notes.contains("1.xml: cannot read: permission denied"), "{notes}");
    assert_eq!(std::fs::read_to_string(folder.path().join("0.xml")).unwrap(), urlset(1, "0.8"));
}

/// An index on standard input has no folder: its files are not searched in the working directory.
#[test]
fn an_index_on_standard_input_has_no_folder() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    write_set(folder.path(), 2);
    let index = std::fs::read(folder.path().join("sitemap_index.xml")).unwrap();
    for (arguments, status) in [
        (&["check", "-"][..], 3),
        (&["check", "-", "--allow-missing"], 0),
        (&["list", "-"], 3),
        (&["list", "-", "--sitemaps"], 0),
        (&["stats", "-"], 3),
        (&["set", "-", "priority=0.8"], 3),
        (&["diff", "-", "sitemap_index.xml"], 3),
        (&["convert", "-", "-o", "new.csv"], 3),
    ] {
        let mut command = sited(folder.path(), arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&index).unwrap();
        let output = child.wait_with_output().unwrap();
        let (out, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {notes}");
        assert!(!out.contains("/page/"), "{arguments:?}: {out}");
        assert_eq!(
            notes.contains("came from standard input"),
            !arguments.contains(&"--sitemaps"),
            "{arguments:?}: {notes}"
        );
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("0.xml")).unwrap(), urlset(1, "0.5"));
}

/// The user may have only one process, so no worker thread can be started.
#[cfg(unix)]
#[test]
fn without_worker_threads_the_main_thread_does_the_work() {
    let folder = tempfile::tempdir().unwrap();
    write_set(folder.path(), 8);
    for (arguments, last) in [
        (&["list", "."][..], "https://example.com/page/7\n"),
        (&["check", "."], ""),
        (&["set", ".", "priority=0.8"], ""),
        (&["fix", ".", "--dry-run"], ""),
        (&["list", ".", "--sort", "-loc"], "https://example.com/page/0\n"),
        (&["dedupe", "."], ""),
    ] {
        let mut command = Command::new("bash");
        command.args(["-c", "ulimit -u 1 && exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_sited")).args(arguments);
        command.current_dir(folder.path()).env("RAYON_NUM_THREADS", "4").stdin(Stdio::null());
        let output = as_unprivileged_user(folder.path(), command).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {notes}{out}");
        assert!(notes.starts_with("0 of 4 threads could be started (ulimit -u shows"), "{arguments:?}: {notes}");
        assert_eq!(notes.matches("threads could be started").count(), 1, "{notes}");
        assert!(out.ends_with(last), "{arguments:?}: {out}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("0.xml")).unwrap(), urlset(1, "0.8"));
}

/// Findings are spooled to a file, since the summary is printed before them. Without a buffer, each finding took dozens
/// of writes.
#[cfg(target_os = "linux")]
#[test]
fn findings_are_written_in_few_system_calls() {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("many.xml"), urlset(40_000, "high")).unwrap();
    for format in ["text", "json", "sarif", "junit", "github"] {
        let out = std::fs::File::create(folder.path().join("out")).unwrap();
        let mut command = sited(folder.path(), &["check", "many.xml", "--all", "--format", format]);
        let mut child = command.stdout(out).stderr(Stdio::null()).spawn().unwrap();
        // The I/O counters of an ended process are available until `wait` is called.
        let ended = waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        assert!(ended.is_ok(), "{ended:?}");
        let counts = std::fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
        child.wait().unwrap();
        let writes = counts.lines().find_map(|line| line.strip_prefix("syscw: ")?.parse::<u64>().ok());
        let Some(writes) = writes.filter(|writes| *writes > 0) else {
            eprintln!("NOT TESTED: this system does not count the writes of a process");
            return;
        };
        let bytes = std::fs::metadata(folder.path().join("out")).unwrap().len();
        assert!(bytes > 1 << 20, "{format}: {bytes} bytes");
        assert!(writes < 100 + bytes / 4096, "{format}: {writes} writes for {bytes} bytes");
    }
}

#[test]
fn a_folder_with_several_indexes_is_one_set() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    std::fs::create_dir(&set).unwrap();
    let pages =
        |rows: usize, name: &str, priority: &str| urlset(rows, priority).replace("/page/", &format!("/{name}/"));
    for (rows, name) in [(2, "blog"), (3, "shop")] {
        let index = format!(
            "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
             <sitemap><loc>https://example.com/{name}.xml</loc></sitemap>\n</sitemapindex>\n"
        );
        std::fs::write(set.join(format!("{name}_index.xml")), index).unwrap();
        std::fs::write(set.join(format!("{name}.xml")), pages(rows, name, "0.5")).unwrap();
    }
    let run = |arguments: &[&str]| {
        let output = sited(folder.path(), arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (_, out, notes) = run(&["check", "set"]);
    assert!(!out.contains("index-child-unlisted") && notes.contains("2 files, 5 URLs, 2 indexes"), "{out}{notes}");
    let (status, out, notes) = run(&["list", "set"]);
    assert_eq!((status, out.lines().count()), (Some(0), 5), "{notes}");
    let (status, out, notes) = run(&["stats", "set", "--format", "json"]);
    assert!(status == Some(0) && out.contains("\"urls\":5"), "{out}{notes}");
    let (status, out, notes) = run(&["diff", "set/blog.xml", "set", "--urls=added"]);
    assert_eq!((status, out.lines().count()), (Some(1), 3), "{out}{notes}");
    let (status, _, notes) = run(&["set", "set", "priority=0.7"]);
    assert_eq!(status, Some(0), "{notes}");
    let text = |name: &str| std::fs::read_to_string(set.join(name)).unwrap();
    assert_eq!((text("blog.xml"), text("shop.xml")), (pages(2, "blog", "0.7"), pages(3, "shop", "0.7")));
}
