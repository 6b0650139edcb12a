//! Runs the program under `strace`, which traces its system calls and makes one of them fail.

use crate::support::{Folder, environment, program};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Time after which a run is considered to hang.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The system calls into which faults are injected, each with its possible errors.
pub(super) const CALLS: &[(&str, &[&str])] = &[
    ("openat", &["EIO", "EACCES", "EMFILE", "ENOSPC", "EROFS", "EINTR"]),
    ("read", &["EIO", "EINTR"]),
    ("pread64", &["EIO", "EINTR"]),
    ("write", &["EIO", "ENOSPC", "EDQUOT", "EINTR"]),
    ("pwrite64", &["EIO", "ENOSPC", "EDQUOT", "EINTR"]),
    ("fsync", &["EIO", "ENOSPC", "EDQUOT", "EINTR"]),
    ("fdatasync", &["EIO", "ENOSPC", "EINTR"]),
    ("rename", &["EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS"]),
    ("renameat", &["EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS"]),
    ("renameat2", &["EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS"]),
    ("link", &["EIO", "ENOSPC", "EACCES"]),
    ("linkat", &["EIO", "ENOSPC", "EACCES"]),
    ("unlink", &["EIO", "EACCES", "EROFS"]),
    ("unlinkat", &["EIO", "EACCES", "EROFS"]),
    ("rmdir", &["EIO", "EACCES", "EROFS"]),
    ("mkdir", &["EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS"]),
    ("mkdirat", &["EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS"]),
    ("ftruncate", &["EIO", "EROFS", "EINTR"]),
    ("fallocate", &["EIO", "ENOSPC", "EDQUOT", "EINTR"]),
    ("fchmod", &["EIO", "EACCES", "EROFS"]),
    ("chmod", &["EIO", "EACCES", "EROFS"]),
    ("fchown", &["EIO", "EACCES", "EROFS"]),
    ("statx", &["EIO", "EACCES"]),
    ("newfstatat", &["EIO", "EACCES"]),
    ("readlink", &["EIO", "EACCES"]),
    ("getdents64", &["EIO", "EACCES"]),
    ("flock", &["EIO", "EINTR", "ENOLCK"]),
    ("copy_file_range", &["EIO", "ENOSPC", "EDQUOT"]),
    ("clone3", &["EAGAIN"]),
];

/// The effect of a fault on a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    Kill,
    Error(&'static str),
}

/// A fault: the system call to fail, counted separately for each thread.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub call: &'static str,
    pub kind: FaultKind,
    pub at: u32,
    /// Whether all later calls fail too.
    pub lasts: bool,
    /// If set, only calls with this path are counted.
    pub path: Option<PathBuf>,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            FaultKind::Kill => "signal=KILL".to_owned(),
            FaultKind::Error(error) => format!("error={error}"),
        };
        let lasts = if self.lasts { "+" } else { "" };
        write!(f, "{}:{kind}:when={}{lasts}", self.call, self.at)?;
        self.path.as_ref().map_or(Ok(()), |path| write!(f, " on {}", path.display()))
    }
}

/// The result of a run.
pub(super) struct Run {
    /// The exit status; `None` if it was killed.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The log of `strace`.
    pub log: String,
    pub hangs: bool,
}

impl Run {
    /// The lines of the calls into which a fault was injected.
    pub(super) fn injected(&self) -> impl Iterator<Item = &str> {
        self.log.lines().filter(|line| line.contains("(INJECTED)"))
    }

    pub(super) fn was_met(&self) -> bool {
        self.status.is_none() || self.injected().next().is_some()
    }
}

/// Whether `strace` is installed and may trace a process.
pub(super) fn is_usable() -> bool {
    let run = Command::new("strace").args(["-f", "-e", "trace=none", "true"]).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

/// Runs the program in a folder under `strace`. With `is_streamed`, even a small set is streamed.
pub(super) fn run(folder: &Folder, (arguments, is_streamed): (&[&str], bool), fault: Option<&Fault>) -> Run {
    let logs = tempfile::tempdir().expect("make a folder");
    let log = logs.path().join("log");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-s", "1", "--quiet=attach,path-resolution", "-o"]).arg(&log);
    // Without this option, the process also stops at untraced calls, which takes most of the time. A kill signal is
    // delivered only without it.
    if fault.is_none_or(|fault| fault.kind != FaultKind::Kill) {
        command.arg("--seccomp-bpf");
    }
    match fault {
        None => {
            let names: Vec<_> = CALLS.iter().map(|(name, _)| *name).collect();
            command.arg("-e").arg(format!("trace={}", names.join(",")));
        }
        Some(fault) => {
            let inject = fault.to_string();
            let inject = inject.split(" on ").next().unwrap_or_default();
            command.args(["-e", &format!("trace={}", fault.call), "-e", &format!("inject={inject}")]);
            if let Some(path) = &fault.path {
                command.arg("-P").arg(path).arg("-P").arg(folder.path().join(path));
            }
        }
    }
    command.arg(program()).args(arguments).current_dir(folder.path()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(environment(folder.path()));
    if is_streamed {
        command.env("SITED_TEST_HELD", "0");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().expect("start strace");
    let group = rustix::process::Pid::from_child(&child);
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let in_time = receiver.recv_timeout(TIMEOUT);
    let hangs = in_time.is_err();
    let output = in_time.unwrap_or_else(|_| {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        receiver.recv().expect("wait for strace")
    });
    let output = output.expect("wait for strace");
    Run {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        log: String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()).into_owned(),
        hangs,
    }
}

/// The system calls of a command into which a fault can be injected.
pub(super) struct InjectionPoints {
    /// For each call: its name, its errors, the first number after the start of the program, and the largest number
    /// that a thread reaches.
    calls: Vec<(&'static str, &'static [&'static str], u32, u32)>,
    /// For each call: the paths that it uses, each with the number of calls.
    paths: BTreeMap<&'static str, Vec<(PathBuf, u32)>>,
}

impl InjectionPoints {
    /// Extracts the points from the log of a run without faults.
    pub(super) fn of(run: &Run, folder: &Folder, names: &BTreeSet<PathBuf>) -> Self {
        let root = folder.path().to_string_lossy().into_owned();
        let lines: Vec<_> = run.log.lines().filter_map(|line| parse_line(line, &root)).collect();
        let main = lines.first().map_or("", |line| line.thread);
        let start = lines.iter().position(|line| line.thread == main && line.is_of_set).expect("it opens a file");
        let mut calls = Vec::new();
        let mut paths: BTreeMap<&'static str, Vec<(PathBuf, u32)>> = BTreeMap::new();
        for (name, errors) in CALLS {
            let early = lines[..start].iter().filter(|line| line.name == *name).count() as u32;
            let mut threads: BTreeMap<&str, u32> = BTreeMap::new();
            lines
                .iter()
                .filter(|line| line.name == *name)
                .for_each(|line| *threads.entry(line.thread).or_default() += 1);
            let max = threads.values().max().copied().unwrap_or_default();
            if max > early {
                calls.push((*name, *errors, early + 1, max));
            }
            for path in names {
                let (relative, absolute) = (path.to_string_lossy(), folder.path().join(path));
                let forms = [
                    format!("\"{relative}\""),
                    format!("\"{}\"", absolute.display()),
                    format!("<{}>,", absolute.display()),
                    format!("<{}>)", absolute.display()),
                ];
                let is_about =
                    |line: &&Line| line.name == *name && forms.iter().any(|form| line.text.contains(form.as_str()));
                let count = lines.iter().filter(is_about).count() as u32;
                if count > 0 {
                    paths.entry(name).or_default().push((path.clone(), count));
                }
            }
        }
        Self { calls, paths }
    }

    /// Chooses a random fault; each system call has the same probability.
    pub(super) fn choose(&self, random: &mut Random) -> Fault {
        let (call, errors, first, last) = random.pick(&self.calls);
        let kind = if random.below(3) == 0 { FaultKind::Kill } else { FaultKind::Error(random.pick(errors)) };
        let lasts = !matches!(kind, FaultKind::Kill | FaultKind::Error("EINTR")) && random.below(4) == 0;
        let path = self.paths.get(call).filter(|_| random.below(5) < 2).map(|paths| random.pick(paths));
        let (at, path) = match path {
            Some((path, count)) => (1 + random.below(count), Some(path)),
            None => (first + random.below(last - first + 1), None),
        };
        Fault { call, kind, at, lasts, path }
    }
}

/// A line of the log with the start of a call.
struct Line<'l> {
    thread: &'l str,
    name: &'l str,
    text: &'l str,
    /// Whether its path is a file of the set or of the state folder.
    is_of_set: bool,
}

fn parse_line<'l>(line: &'l str, root: &str) -> Option<Line<'l>> {
    let (thread, text) = line.split_once(' ')?;
    let text = text.trim_start();
    let (name, arguments) = text.split_once('(')?;
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let path = arguments.split('"').nth(1).filter(|path| !path.is_empty());
    let is_of_set = path.is_some_and(|path| !path.starts_with('/') || path.starts_with(root));
    let is_of_set = is_of_set && matches!(name, "openat" | "statx" | "newfstatat" | "mkdir" | "readlink");
    Some(Line { thread, name, text, is_of_set })
}

/// A xorshift64 generator, which is good enough to choose a call.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % u64::from(end.max(1))) as u32
    }

    pub(super) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize].clone()
    }
}
