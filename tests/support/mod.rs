//! Shared code of the integration tests: folders, an isolated run of the program, the corpus.
//!
//! Every wait is for a condition, with a timeout that is reached only by failures. The module uses no types of the
//! library: it accesses the program as a user does, through files and screens.

// Each test program uses its own part of this module.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

pub(crate) mod corpus;
pub(crate) mod folder;
pub(crate) mod oracle;
pub(crate) mod schema;
#[cfg(feature = "net")]
pub(crate) mod server;
pub(crate) mod terminal;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) use folder::Folder;

/// The path of the built program.
pub(crate) fn program() -> PathBuf {
    match option_env!("CARGO_BIN_EXE_sited") {
        Some(path) => PathBuf::from(path),
        None => panic!("only tests and benches know where the program was built"),
    }
}

/// All environment variables of a started program; none are inherited. The home folder is inside `folder`.
pub(crate) fn environment(folder: &Path) -> Vec<(&'static str, String)> {
    let home = folder.join(".home");
    let inside = |name: &str| home.join(name).to_string_lossy().into_owned();
    vec![
        ("HOME", home.to_string_lossy().into_owned()),
        ("XDG_CONFIG_HOME", inside("config")),
        ("XDG_DATA_HOME", inside("data")),
        ("XDG_STATE_HOME", inside("state")),
        ("XDG_CACHE_HOME", inside("cache")),
        ("TMPDIR", inside("tmp")),
        ("TERM", "xterm-256color".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
    ]
}

/// Runs the program without a terminal in `folder` and waits for its end. Standard input is empty.
pub(crate) fn run<A: AsRef<OsStr>>(folder: &Folder, arguments: &[A]) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(folder.path()).env_clear().envs(environment(folder.path()));
    command.stdin(Stdio::null()).output().expect("start the program")
}

/// Standard output of a run as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error of a run as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
