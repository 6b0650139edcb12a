//! A set and a state folder with planted files.

use crate::support::{Folder, environment, program};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use xxhash_rust::xxh3::xxh3_64;

pub(super) const SET: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/1</loc>\
                       </url><url><loc>https://e.com/2</loc></url></urlset>";

/// A set of one file, and another file that the program must not change.
pub(super) struct Scene {
    pub folder: Folder,
}

impl Scene {
    pub(super) fn new() -> Self {
        let folder = Folder::with(&[("a.xml", SET), ("victim/private.txt", "private\n")]);
        let scene = Self { folder };
        fs::create_dir_all(scene.journals()).unwrap();
        for folder in [scene.journals().parent().unwrap(), &scene.journals()] {
            fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
        }
        scene
    }

    /// The real path of the set.
    pub(super) fn set(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("a.xml")
    }

    pub(super) fn victim(&self) -> PathBuf {
        self.folder.file("victim/private.txt")
    }

    pub(super) fn journals(&self) -> PathBuf {
        self.folder.path().join(".home/state/sited/journal")
    }

    /// The path of a file of this set in the state folder.
    pub(super) fn own_path(&self, end: &str) -> PathBuf {
        let name = xxh3_64(self.set().as_os_str().as_encoded_bytes());
        self.journals().join(format!("{name:016x}.{end}"))
    }

    /// The path of a file of another set in the state folder.
    pub(super) fn other_path(&self, end: &str) -> PathBuf {
        self.journals().join(format!("00000000000000ff.{end}"))
    }

    /// A valid journal of the current set with these lines.
    pub(super) fn journal(&self, lines: &[&str]) -> Vec<u8> {
        self.journal_of(&self.set().to_string_lossy(), lines)
    }

    /// A valid journal with `set` as the path by which the set was opened.
    pub(super) fn journal_of(&self, set: &str, lines: &[&str]) -> Vec<u8> {
        let bytes = fs::read(self.set()).unwrap();
        let path = self.set().to_string_lossy().into_owned();
        let file = serde_json::json!({ "path": path, "len": bytes.len(), "hash": xxh3_64(&bytes) });
        let header = serde_json::json!({ "version": 2, "set": set, "begun": 7, "files": [file] }).to_string();
        let lines = (1..).zip(lines).map(|(number, line)| format!("{number} {line}"));
        std::iter::once(header).chain(lines).map(|line| hashed(&line)).collect::<String>().into_bytes()
    }

    /// Runs the program. Panics if it hangs.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command.arg("50").arg(program()).args(arguments).current_dir(self.folder.path());
        command.env_clear().envs(environment(self.folder.path())).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_ne!(output.status.code(), Some(124), "{arguments:?} does not come to an end");
        output
    }

    /// The output of a run, standard error included.
    pub(super) fn output_of(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).unwrap()
    }
}

pub(super) fn hashed(line: &str) -> String {
    format!("{:016x} {line}\n", xxh3_64(line.as_bytes()))
}

pub(super) fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

pub(super) fn link(to: impl AsRef<Path>, path: &Path) {
    symlink(to, path).unwrap();
}

/// Makes a sparse file of 64 GiB.
pub(super) fn huge(path: &Path) {
    fs::File::create(path).unwrap().set_len(64 << 30).unwrap();
}

/// Changes the owner of a file to another user. Returns whether that succeeded, which needs root permissions.
pub(super) fn change_owner(path: &Path) -> bool {
    std::os::unix::fs::chown(path, Some(65_534), None).is_ok()
}

/// Whether the text has no control characters, and no characters that change the direction of text.
pub(super) fn is_printable(text: &str) -> bool {
    !text.chars().any(|letter| {
        letter.is_control() && letter != '\n' || matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    })
}
