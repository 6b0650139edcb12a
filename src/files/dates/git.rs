//! Files of a Git repository with the times of their last commits, from one pass over `git log`.
//!
//! No setting of a repository can make Git run another program, fetch, or write. File names are bytes.

use super::SourceFiles;
use super::posts::PostIndex;
use crate::progress::Progress;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Why Git gives no times.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    /// The program cannot be started.
    #[error("cannot start git: {}", start_error(.0))]
    Start(io::Error),
    /// There is no repository around the folder.
    #[error("{}: not in a Git repository", .0.display())]
    NoRepository(PathBuf),
    /// Nothing has been committed.
    #[error("{}: the repository has no commit", .0.display())]
    NoCommit(PathBuf),
    /// The history is cut off: files whose last commit is missing would get the time of the oldest commit that is
    /// there.
    #[error("{}: this is a shallow clone, whose oldest commit seems to have changed every file", .0.display())]
    Shallow(PathBuf),
    /// Git failed, with its error message.
    #[error("{}: git failed: {}", .0.display(), .1)]
    Failed(PathBuf, String),
    /// The user cancelled it.
    #[error("cancelled")]
    Cancelled,
}

impl GitError {
    /// What the user can do.
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Start(_) => "install Git, or use the times of files: --mtime DIR".to_owned(),
            Self::NoRepository(_) => {
                "name a folder of the repository: --git DIR, or use the times of files: --mtime DIR".to_owned()
            }
            Self::NoCommit(_) => "commit the sources first, or use the times of files: --mtime DIR".to_owned(),
            Self::Shallow(_) => {
                "get the whole history: git fetch --unshallow (GitHub Actions: fetch-depth: 0 for actions/checkout)"
                    .to_owned()
            }
            Self::Failed(folder, _) => format!("try it yourself: git -C {} log --name-only", folder.display()),
            Self::Cancelled => String::new(),
        }
    }
}

fn start_error(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound { "there is no such program".to_owned() } else { error.to_string() }
}

/// The files of the last commit in a folder, and the folders in it.
pub(super) struct GitFiles {
    /// By path, relative to the folder: the time of the last commit that a log without merges shows for it.
    files: HashMap<Vec<u8>, Option<i64>>,
    folders: HashSet<Vec<u8>>,
    posts: HashMap<Vec<u8>, PostIndex>,
}

impl GitFiles {
    pub(super) fn read(folder: &Path, progress: &Progress) -> Result<Self, GitError> {
        let git = Git { folder };
        git.check()?;
        let mut found = Self { files: HashMap::new(), folders: HashSet::new(), posts: HashMap::new() };
        git.for_each_token(&["ls-tree", "-r", "-z", "--name-only", "HEAD"], |path| {
            found.add(path);
            !progress.is_cancelled()
        })?;
        found.read_log(&git, progress)?;
        Ok(found)
    }

    fn add(&mut self, path: &[u8]) {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let name = slashes.clone().next_back().map_or(0, |at| at + 1);
        // The parents of a known folder are known.
        for (folder, _) in slashes.rev().filter_map(|at| path.split_at_checked(at)) {
            if !self.folders.insert(folder.to_vec()) {
                break;
            }
        }
        if let Some((folder, name)) = path.split_at_checked(name) {
            let folder = folder.strip_suffix(b"/").unwrap_or(folder);
            PostIndex::add_to(&mut self.posts, folder, name);
        }
        self.files.insert(path.to_vec(), None);
    }

    /// Goes back in the history until every file has a time.
    fn read_log(&mut self, git: &Git<'_>, progress: &Progress) -> Result<(), GitError> {
        // A path never begins with a slash, so that a file called `1700000000` is no time.
        let words = ["log", "-z", "--name-only", "--format=tformat:/%ct", "--relative", "--no-renames", "--no-color"];
        let words = [&words[..], &["--no-ext-diff", "--no-textconv", "--no-show-signature", "HEAD"]].concat();
        let mut left = self.files.len();
        let (mut time, mut is_first) = (None, false);
        git.for_each_token(&words, |token| {
            if let Some(seconds) = token.strip_prefix(b"/") {
                time = std::str::from_utf8(seconds).ok().and_then(|seconds| seconds.parse().ok());
                is_first = true;
            } else {
                // A line break is between the time and the names.
                let path = if is_first { token.strip_prefix(b"\n").unwrap_or(token) } else { token };
                is_first = false;
                if let Some(slot @ None) = self.files.get_mut(path) {
                    *slot = time;
                    left -= usize::from(time.is_some());
                }
            }
            left > 0 && !progress.is_cancelled()
        })?;
        if progress.is_cancelled() { Err(GitError::Cancelled) } else { Ok(()) }
    }
}

impl SourceFiles for GitFiles {
    fn has_folder(&self, path: &str) -> bool {
        self.folders.contains(path.as_bytes())
    }

    fn modified(&mut self, path: &[u8]) -> Option<i64> {
        self.files.get(path).copied().flatten()
    }

    fn posts(&mut self, folder: &[u8], name: &[u8]) -> Vec<Vec<u8>> {
        self.posts.get(folder).map(|posts| posts.named(name)).unwrap_or_default()
    }
}

/// Git in a folder.
struct Git<'f> {
    folder: &'f Path,
}

/// Variables of Git that locate the user's settings. All others are removed, since they would redirect it.
const SETTINGS: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

impl Git<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("git");
        let of_git = std::env::vars_os().map(|(name, _)| name).filter(|name| {
            name.as_encoded_bytes().starts_with(b"GIT_") && !SETTINGS.iter().any(|kept| OsStr::new(kept) == name)
        });
        for name in of_git {
            command.env_remove(name);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            // A partial clone would fetch what it lacks, by a program that its settings name.
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none");
        command.arg("-C").arg(self.folder).arg("--no-pager");
        // The root commit shows its files whatever the settings say.
        command.args(["-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "log.showRoot=true"]);
        command.args(words).stdin(Stdio::null());
        command
    }

    /// Refuses a folder without the whole history of a repository.
    fn check(&self) -> Result<(), GitError> {
        let folder = || self.folder.to_path_buf();
        let run = |words: &[&str]| self.command(words).output().map_err(GitError::Start);
        let answer = run(&["rev-parse", "--is-shallow-repository"])?;
        if !answer.status.success() {
            let words = first_line(&answer.stderr);
            let is_none = words.contains("not a git repository");
            return Err(if is_none { GitError::NoRepository(folder()) } else { GitError::Failed(folder(), words) });
        }
        if answer.stdout.trim_ascii() == b"true" {
            return Err(GitError::Shallow(folder()));
        }
        let has_commit = run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?.status.success();
        if has_commit { Ok(()) } else { Err(GitError::NoCommit(folder())) }
    }

    /// Runs a command and passes each NUL-terminated token that it prints to `take`, until that returns `false`.
    fn for_each_token(&self, words: &[&str], take: impl FnMut(&[u8]) -> bool) -> Result<(), GitError> {
        let mut errors = tempfile::tempfile().map_err(GitError::Start)?;
        let own = errors.try_clone().map_err(GitError::Start)?;
        let mut child = self.command(words).stdout(Stdio::piped()).stderr(own).spawn().map_err(GitError::Start)?;
        let output = child.stdout.take();
        let read = output.map_or(Ok(true), |output| read_tokens(output, take));
        let is_to_end = matches!(read, Ok(true));
        let status = wait(&mut child, !is_to_end);
        let failed = |words: String| Err(GitError::Failed(self.folder.to_path_buf(), words));
        match (read, status) {
            (Err(error), _) | (Ok(true), Err(error)) => failed(error.to_string()),
            (Ok(true), Ok(false)) => failed(error_text(&mut errors)),
            (Ok(true), Ok(true)) | (Ok(false), _) => Ok(()),
        }
    }
}

/// Passes tokens to `take` until that returns `false`; returns whether the output was read to its end.
fn read_tokens(output: ChildStdout, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let mut output = BufReader::with_capacity(1 << 16, output);
    let mut token = Vec::new();
    loop {
        token.clear();
        if output.read_until(0, &mut token)? == 0 {
            return Ok(true);
        }
        if !take(token.strip_suffix(b"\0").unwrap_or(&token)) {
            return Ok(false);
        }
    }
}

/// Waits for a program to exit, after killing it if asked; returns whether it succeeded.
fn wait(child: &mut Child, kill: bool) -> io::Result<bool> {
    if kill {
        // It may have ended by itself.
        let _ = child.kill();
    }
    child.wait().map(|status| status.success())
}

fn error_text(errors: &mut File) -> String {
    let mut text = Vec::new();
    // The error has no reason if its text cannot be read.
    let _ = errors.seek(SeekFrom::Start(0)).and_then(|_| errors.take(1 << 16).read_to_end(&mut text));
    first_line(&text)
}

/// The line that names the error.
fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let named = text.lines().find_map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")));
    let line = named.or_else(|| text.lines().next()).unwrap_or_default().trim();
    if line.is_empty() { "it gave no reason".to_owned() } else { line.to_owned() }
}
