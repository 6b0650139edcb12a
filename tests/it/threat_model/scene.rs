//! The scene of an attack: a set, other files of its user, and the files of an attacker.

use crate::support::{Folder, environment, program};
use sited::files::disk::fingerprint;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Longer than any run takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// The set lies in `site`; `precious` and `.git` beside it belong to the user and to no set.
pub(super) struct Scene {
    pub folder: Folder,
}

/// Every name below a folder with what is there: bytes, mode and owner, or where a link leads.
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

    /// Where `site` really is, as a record names it.
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

    /// Gives a file to another user; only root can. Says so where it cannot.
    pub(super) fn give_away(&self, name: &str) {
        if std::os::unix::fs::chown(self.path(name), Some(65_534), None).is_err() {
            eprintln!("SKIPPED in part: a file can be given to another user by root alone");
            fs::remove_file(self.path(name)).unwrap();
        }
    }

    /// Runs the program; a run that hangs is killed and fails.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.folder.path()).env_clear().envs(environment(self.folder.path()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("start the program");
        let process = rustix::process::Pid::from_child(&child);
        let (sender, receiver) = channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = receiver.recv_timeout(PATIENCE) else {
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
            panic!("sited {arguments:?} hangs");
        };
        output.expect("wait for the program")
    }

    /// Everything there is, the state folder included.
    pub(super) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let mut what = format!("{:o} {} ", metadata.mode(), metadata.uid());
                if metadata.is_dir() {
                    folders.push(path.clone());
                } else if metadata.is_symlink() {
                    what += &fs::read_link(&path).unwrap().to_string_lossy();
                } else if metadata.is_file() {
                    // A sparse file of any length is told by its length.
                    what += &match metadata.len() {
                        0..=1_000_000 => String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
                        len => len.to_string(),
                    };
                }
                tree.insert(path.strip_prefix(self.folder.path()).unwrap().to_path_buf(), what);
            }
        }
        tree
    }

    /// What no file of another user may make the program change: everything but the sitemaps, the records and the
    /// backups of the set, and the program's own state.
    pub(super) fn guarded(&self) -> Tree {
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

    /// Commands that only read: with any file of anybody in the folder they change nothing at all.
    pub(super) fn only_reads(&self, what: &str) {
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
            assert_printable(&output, what);
            assert!(output.status.code().is_some(), "{what}: sited {arguments:?} died");
            let mut now = self.tree();
            now.retain(|path, _| !path.starts_with(".home/tmp/script"));
            assert_eq!(difference(&before, &now), "", "{what}: sited {arguments:?}");
        }
    }

    /// Commands that write, and even the consent of the user: what belongs to no set stays as it is.
    pub(super) fn keeps_guarded(&self, what: &str) {
        let before = self.guarded();
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
            assert_printable(&output, what);
            assert!(output.status.code().is_some(), "{what}: sited {arguments:?} died");
            let told = crate::support::stderr(&output);
            assert_eq!(difference(&before, &self.guarded()), "", "{what}: sited {arguments:?}: {told}");
        }
    }
}

/// Nothing that came from a file reaches the terminal as a control character.
fn assert_printable(output: &Output, what: &str) {
    for text in [crate::support::stdout(output), crate::support::stderr(output)] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{what}: {text:?}");
    }
}

fn difference(before: &Tree, now: &Tree) -> String {
    let names = before.keys().chain(now.keys().filter(|name| !before.contains_key(*name)));
    let changed = names.filter(|name| before.get(*name) != now.get(*name));
    let line = |name: &PathBuf| format!("{}: {:?} is now {:?}", name.display(), before.get(name), now.get(name));
    changed.map(line).collect::<Vec<_>>().join("\n")
}

/// `{"len":…,"hash":…}` of bytes, as records and backups have it.
pub(super) fn content(bytes: &str) -> serde_json::Value {
    serde_json::json!({ "len": bytes.len(), "hash": fingerprint(bytes.as_bytes()) })
}
