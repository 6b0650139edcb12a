//! Measures other programs that do one of the tasks, on the same set in the same run.
//!
//! Programs that are not installed are reported, and their rows are empty.

use super::generate::Set;
use super::report::{resident_of, time};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use wait4::{ResUse, ResourceUsage, Wait4};

/// What one run of a program took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// From start to end.
    pub time: Duration,
    /// The CPU time of all threads, in the program and in the kernel.
    pub cpu: Duration,
}

/// The time of each program; `None` if it is not installed.
pub(crate) struct Peers {
    /// `sort --parallel=2` of all URLs, in memory.
    pub sort: Option<Duration>,
    /// `rg -c` of a word.
    pub word: Option<Duration>,
    /// `rg -c -i` of the word, since filters ignore case.
    pub folded: Option<Duration>,
    /// `rg -c` of a regular expression.
    pub expression: Option<Duration>,
    /// `xmllint --stream --noout`.
    pub xmllint: Option<Duration>,
}

impl Peers {
    /// Runs all programs, and keeps the best of `rounds` times.
    pub(crate) fn measure(set: &Set, rounds: u32) -> Self {
        let best = |work: &mut dyn FnMut() -> Option<Duration>| {
            let times: Option<Vec<Duration>> = (0..rounds.max(1)).map(|_| work()).collect();
            times.and_then(|times| times.into_iter().min())
        };
        let parts =
            |program: &str, words: &[&str]| run(Command::new(program).args(words).args(&set.parts)).map(|run| run.time);
        let locs = locs(set);
        let sort = best(&mut || {
            let words = ["--parallel=2", "-S", "4G", "-o", "/dev/null"];
            run(Command::new("sort").env("LC_ALL", "C").args(words).arg(&locs)).map(|run| run.time)
        });
        let peers = Self {
            sort,
            word: best(&mut || parts("rg", &["-c", "-F", "harbour"])),
            folded: best(&mut || parts("rg", &["-c", "-i", "-F", "harbour"])),
            expression: best(&mut || parts("rg", &["-c", "/[a-f]+-juniper"])),
            xmllint: best(&mut || xmllint(set).map(|run| run.time)),
        };
        fs::remove_file(&locs).expect("remove the list of URLs");
        peers
    }
}

/// A process of this program that runs one of its tasks on the files of a set.
pub(crate) fn in_process(task: &str, set: &Set) -> Option<Run> {
    let this = std::env::current_exe().expect("know where this program is");
    run(Command::new(this).arg(task).args(&set.parts))
}

/// Writes the URLs of a set, one per line, to a file beside it.
fn locs(set: &Set) -> PathBuf {
    let mut lines = Vec::new();
    for part in &set.parts {
        let text = fs::read_to_string(part).expect("read a part");
        for loc in text.split("<loc>").skip(1).filter_map(|rest| rest.split('<').next()) {
            lines.extend_from_slice(loc.as_bytes());
            lines.push(b'\n');
        }
    }
    let path = set.index.with_file_name("locs.txt");
    fs::write(&path, lines).expect("write the list of URLs");
    path
}

fn checking(index: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sited"));
    command.args(["check", "--fail-on", "never", "--max-findings", "0"]).arg(index);
    command
}

/// The time in which `sited check` prints every finding to a file.
pub(crate) fn print_findings(index: &Path, format: &str, to: &Path) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sited"));
    command.args(["check", "--fail-on", "never", "--format", format]);
    // The other formats always contain every finding.
    command.args(if format == "text" { &["--all"][..] } else { &[] }).arg(index);
    run_into(&mut command, to).expect("sited is built")
}

/// The time in which `cat` copies a file to another one.
pub(crate) fn cat_to(from: &Path, to: &Path) -> Option<Duration> {
    run_into(Command::new("cat").arg(from), to)
}

/// Runs xmllint on the parts of a set; `None` if it is not installed.
pub(crate) fn xmllint(set: &Set) -> Option<Run> {
    run(Command::new("xmllint").args(["--stream", "--noout"]).args(&set.parts))
}

/// Runs xmllint on a file that it repairs if it is damaged.
pub(crate) fn xmllint_recover(file: &Path) -> Option<Run> {
    run(Command::new("xmllint").args(["--recover", "--noout"]).arg(file))
}

/// The time in which `cat` reads the parts of a set.
pub(crate) fn cat(set: &Set) -> Option<Duration> {
    run(Command::new("cat").args(&set.parts)).map(|run| run.time)
}

/// Runs `sited check`.
pub(crate) fn check(index: &Path) -> Run {
    run(&mut checking(index)).expect("sited is built")
}

/// The limit of the memory of `sited check` in bytes, for files of so many bytes.
pub(crate) const fn memory_limit(bytes: u64) -> u64 {
    bytes * 3 / 2 + (32 << 20)
}

/// The peak memory of `sited check` in bytes, sampled 100 times per second; `None` if the system does not report it.
pub(crate) fn check_memory(index: &Path) -> Option<u64> {
    let mut child = checking(index).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let mut most = None;
    while child.try_wait().ok()?.is_none() {
        most = most.max(resident_of(&child.id().to_string()).map(|resident| resident.peak));
        std::thread::park_timeout(Duration::from_millis(10));
    }
    most
}

/// Runs a program; prints a notice and returns `None` if it is not installed.
fn run(command: &mut Command) -> Option<Run> {
    measured(command.stdout(Stdio::null()))
}

/// The time of [`run`] with the output written to a new file.
fn run_into(command: &mut Command, to: &Path) -> Option<Duration> {
    measured(command.stdout(fs::File::create(to).expect("make a file"))).map(|run| run.time)
}

fn measured(command: &mut Command) -> Option<Run> {
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let (time, ended) = time(|| command.spawn().and_then(|mut child| child.wait4()));
    let run = |usage: ResourceUsage| Run { time, cpu: usage.utime + usage.stime };
    let name = command.get_program().to_string_lossy().into_owned();
    match ended {
        // `rg` exits with status 1 if nothing matches.
        Ok(ResUse { status, rusage }) if status.success() || (name == "rg" && status.code() == Some(1)) => {
            Some(run(rusage))
        }
        Ok(ResUse { status, .. }) => {
            println!("MISSING PEER: {name} failed ({status}), so nothing is compared with it");
            None
        }
        Err(_) => {
            println!("MISSING PEER: {name} is not installed, so nothing is compared with it");
            None
        }
    }
}
