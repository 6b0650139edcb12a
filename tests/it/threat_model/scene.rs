//! A set, other files of its user, and crafted files of an attacker.

use crate::support::{Folder, environment, program};
use sited::files::disk::fingerprint;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Time after which a run is considered to hang.
const TIMEOUT: Duration = Duration::from_secs(60);

const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// The set is in `site`; `home` beside it and `.git`, `.env` and `notes.txt` in it belong to the user and not to the
/// set.
pub(super) struct Scene {
    pub folder: Folder,
}

/// Every path below a folder, with its mode, owner, and content or link target.
pub(super) type Tree = BTreeMap<PathBuf, String>;

impl Scene {
    pub(super) fn new() -> Self {
        let folder = Folder::new();
        let part = |number: u32| format!("<urlset {NS}>\n<url><loc>https://e.com/{number}</loc></url>\n</urlset>\n");
        let child = |number: u32| format!("<sitemap><loc>https://e.com/s-{number}.xml</loc></sitemap>\n");
        folder
            .write("site/sitemap_index.xml", format!("<sitemapindex {NS}>\n{}{}</sitemapindex>\n", child(1), child(2)));
        folder.write("site/s-1.xml", part(1));
        folder.write("site/s-2.xml", part(2));
        folder.write("site/notes.txt", "notes of the user\n");
        folder.write("site/.git/hooks/post-checkout", "old hook\n");
        folder.write("site/.env", "SECRET=1\n");
        folder.write("home/precious", "precious\n");
        folder.write("home/.ssh/authorized_keys", "key\n");
        Self { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.file(name)
    }

    /// The real path of `site`, as records contain it.
    pub(super) fn real_site(&self) -> PathBuf {
        self.path("site").canonicalize().unwrap()
    }

    pub(super) fn link(&self, to: impl AsRef<Path>, name: &str) {
        let _ = fs::remove_file(self.path(name));
        symlink(to, self.path(name)).unwrap();
    }

    pub(super) fn pipe(&self, name: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.path(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    /// Changes the owner of a file to another user. Without root permissions, removes the file and prints a notice.
    pub(super) fn change_owner(&self, name: &str) {
        if std::os::unix::fs::chown(self.path(name), Some(65_534), None).is_err() {
            eprintln!("SKIPPED in part: a file can be given to another user by root alone");
            fs::remove_file(self.path(name)).unwrap();
        }
    }

    /// Runs the program. Kills it and panics if it hangs.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.folder.path()).env_clear().envs(environment(self.folder.path()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("start the program");
        let process = rustix::process::Pid::from_child(&child);
        let (sender, receiver) = channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = receiver.recv_timeout(TIMEOUT) else {
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
            panic!("sited {arguments:?} hangs");
        };
        output.expect("wait for the program")
    }

    /// All files, including the state folder.
    pub(super) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let mut node = format!("{:o} {} ", metadata.mode(), metadata.uid());
                if metadata.is_dir() {
                    folders.push(path.clone());
                } else if metadata.is_symlink() {
                    node += &fs::read_link(&path).unwrap().to_string_lossy();
                } else if metadata.is_file() {
                    // A large sparse file is represented by its length.
                    node += &match metadata.len() {
                        0..=1_000_000 => String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
                        len => len.to_string(),
                    };
                }
                tree.insert(path.strip_prefix(self.folder.path()).unwrap().to_path_buf(), node);
            }
        }
        tree
    }

    /// The files that the program must not change, whatever files another user planted: all files except the sitemaps,
    /// records and backups of the set, and the program's own state.
    pub(super) fn guarded_files(&self) -> Tree {
        let mut tree = self.tree();
        tree.retain(|path, _| {
            let text = path.to_string_lossy();
            let is_sitemap = text.starts_with("site/s") && path.extension().is_some_and(|end| end == "xml");
            let is_own = text.starts_with("site/.sited.commit")
                || text.starts_with("site/sitemap_index.xml.bak")
                || (text.contains("/.") && path.extension().is_some_and(|end| end == "sited"));
            !is_sitemap && !is_own && !text.starts_with(".home/state")
        });
        tree
    }

    /// Asserts that commands that only read change nothing.
    pub(super) fn assert_read_commands_change_nothing(&self, name: &str) {
        let before = self.tree();
        self.folder.write(".home/tmp/script", "check\n");
        let script = self.path(".home/tmp/script");
        let script = script.to_str().unwrap();
        for arguments in [
            &["check", "site"][..],
            &["check", "site/s-1.xml"],
            &["list", "site"],
            &["stats", "site"],
            &["diff", "site", "site/s-1.xml"],
            &["set", "site", "lastmod=2026-01-01", "--dry-run"],
            &["fix", "site", "--dry-run"],
            &["sort", "site", "--dry-run"],
            &["set", "site/s-1.xml", "lastmod=2026-01-01", "-o", "-"],
            &["recover", "site"],
            &["restore", "site"],
            &["restore", "site", "--set", "latest", "--dry-run", "--prune"],
            &["--script", script, "--read-only", "site"],
        ] {
            let output = self.run(arguments);
            assert_printable(&output, name);
            assert!(output.status.code().is_some(), "{name}: sited {arguments:?} died");
            let mut after = self.tree();
            after.retain(|path, _| !path.starts_with(".home/tmp/script"));
            assert_eq!(difference(&before, &after), "", "{name}: sited {arguments:?}");
        }
    }

    /// Asserts that commands that write, even with the consent of the user, leave guarded files unchanged.
    pub(super) fn assert_guarded_files_unchanged(&self, name: &str) {
        let before = self.guarded_files();
        for arguments in [
            &["set", "site", "lastmod=2026-01-01", "--backup", "always"][..],
            &["set", "site/s-1.xml", "priority=0.5"],
            &["restore", "site", "--set", "latest", "--prune"],
            &["restore", "site", "--set", "latest", "--prune", "--unverified"],
            &["restore", "site", "--keep", "1"],
            &["recover", "site", "--finish"],
            &["recover", "site", "--discard"],
            &["set", "site", "lastmod=2026-01-02"],
        ] {
            let output = self.run(arguments);
            assert_printable(&output, name);
            assert!(output.status.code().is_some(), "{name}: sited {arguments:?} died");
            let message = crate::support::stderr(&output);
            assert_eq!(difference(&before, &self.guarded_files()), "", "{name}: sited {arguments:?}: {message}");
        }
    }
}

/// Asserts that the output contains no control character.
fn assert_printable(output: &Output, name: &str) {
    for text in [crate::support::stdout(output), crate::support::stderr(output)] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{name}: {text:?}");
    }
}

fn difference(before: &Tree, after: &Tree) -> String {
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let changed = names.filter(|name| before.get(*name) != after.get(*name));
    let line = |name: &PathBuf| format!("{}: {:?} is now {:?}", name.display(), before.get(name), after.get(name));
    changed.map(line).collect::<Vec<_>>().join("\n")
}

/// The length and hash of a content as JSON, in the format of records and backups.
pub(super) fn content(bytes: &str) -> serde_json::Value {
    serde_json::json!({ "len": bytes.len(), "hash": fingerprint(bytes.as_bytes()) })
}
