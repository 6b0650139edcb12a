//! Tidy rules that a compiler does not check: layers, headings, lengths, forbidden words, files at the top level.
//!
//! Every rule reads all files of the project, so it applies to new files automatically.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod messages;
mod promises;
mod readme;
mod screen;
mod source;
mod structure;

use source::{code, paths, words};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers and their ranks. A file may import from layers of lower ranks and from its own layer, but not from other
/// layers of the same rank. Invariants I4 and I5 of the crate's documentation.
const LAYERS: [(&str, u8); 11] = [
    ("protocol", 0),
    ("data", 1),
    ("xml", 1),
    ("document", 2),
    ("check", 3),
    ("files", 3),
    ("net", 4),
    ("session", 4),
    ("jobs", 5),
    ("cli", 6),
    ("tui", 6),
];

/// Crates that only one layer may use (invariant I5).
const CRATES_OF_LAYERS: [(&str, &str); 7] = [
    ("quick_xml", "xml"),
    ("ratatui", "tui"),
    ("crossterm", "tui"),
    ("clap", "cli"),
    ("ureq", "net"),
    ("rustls", "net"),
    ("html5gum", "net"),
];

/// Names that open sockets or resolve hosts; only the layer `net` may use them. Unix sockets are not included.
const SOCKETS: [&str; 5] = ["TcpStream", "TcpListener", "UdpSocket", "ToSocketAddrs", "SocketAddr"];

/// Layers without files, clock, threads and terminal (invariant I4), and the names that they therefore do not use.
const PURE: [&str; 5] = ["protocol", "data", "xml", "document", "check"];
const IMPURE: [&str; 9] = [
    "std::fs",
    "std::io",
    "std::thread",
    "std::env",
    "std::process",
    "std::time::SystemTime",
    "std::time::Instant",
    "chrono::Utc",
    "chrono::Local",
];

/// Modules that every layer may import.
const BESIDE_LAYERS: [&str; 8] =
    ["progress", "words", "visible", "persistent", "file_bytes", "buffer_pool", "short_bytes", "manual"];

/// Maximum number of lines in a file of tests.
const MAX_TEST_LINES: usize = 600;

#[test]
fn imports_point_downwards() {
    let mut wrong = Vec::new();
    for file in sources("src") {
        let Some((layer, rank)) = layer_of(&file) else { continue };
        for path in paths(&file.code) {
            let Some(other) = path.strip_prefix("crate::").and_then(|path| path.split("::").next()) else { continue };
            if other == layer || BESIDE_LAYERS.contains(&other) {
                continue;
            }
            match LAYERS.iter().find(|(name, _)| *name == other) {
                Some((_, below)) if *below < rank => {}
                _ => wrong.push(format!("{}: {path}", file.name)),
            }
        }
    }
    assert_none(&wrong, "imports that do not point downwards");
}

#[test]
fn layers_keep_their_crates() {
    let mut wrong = Vec::new();
    for file in sources("src") {
        let layer = layer_of(&file).map_or("", |(layer, _)| layer);
        for (name, keeper) in CRATES_OF_LAYERS {
            let main = name == "clap" && file.name == "src/main.rs";
            if layer != keeper && !main && words(&file.code).any(|word| word == name) {
                wrong.push(format!("{} names {name}, which only src/{keeper} may", file.name));
            }
        }
    }
    assert_none(&wrong, "crates outside their layer");
}

/// Without the feature `net` the layer is not compiled, so that no command can open a socket then.
#[test]
fn only_net_opens_sockets() {
    let mut wrong = Vec::new();
    let is_other = |file: &File| layer_of(file).is_none_or(|(layer, _)| layer != "net");
    // Tests create sockets to check that they are not read as files.
    for mut file in sources("src").into_iter().filter(is_other).filter(|file| !file.name.contains("/tests")) {
        file.code.truncate(file.code.find("#[cfg(test)]\nmod tests {").unwrap_or(file.code.len()));
        wrong.extend(
            words(&file.code).filter(|word| SOCKETS.contains(word)).map(|word| format!("{}: {word}", file.name)),
        );
        // Types of IP addresses are allowed, but not a glob import of the module.
        let is_socket = |path: &String| path == "std::net" || path.starts_with("std::net::*");
        let found = paths(&file.code).into_iter().filter(is_socket);
        wrong.extend(found.map(|path| format!("{}: {path}", file.name)));
    }
    assert_none(&wrong, "sockets outside of src/net");
    let lib = fs::read_to_string(root().join("src/lib.rs")).expect("read the root of the library");
    assert!(lib.contains("#[cfg(feature = \"net\")]\nmod net;"), "src/net belongs to the feature `net`");
}

#[test]
fn the_core_is_pure() {
    let mut wrong = Vec::new();
    for file in sources("src").into_iter().filter(|file| layer_of(file).is_some_and(|(name, _)| PURE.contains(&name))) {
        for path in paths(&file.code) {
            let named = |name: &&&str| path == ***name || path.starts_with(&format!("{name}::"));
            if let Some(name) = IMPURE.iter().find(named) {
                wrong.push(format!("{} names {name}", file.name));
            }
        }
    }
    assert_none(&wrong, "files, clocks or threads in the pure layers");
}

#[test]
fn files_begin_with_a_header_comment() {
    let all = sources("src").into_iter().chain(sources("tests"));
    let wrong: Vec<_> = all.filter(|file| !file.text.starts_with("//! ")).map(|file| file.name).collect();
    assert_none(&wrong, "files without a `//!` header");
}

#[test]
fn test_files_are_short() {
    let long = sources("tests").into_iter().filter(|file| file.text.lines().count() > MAX_TEST_LINES);
    let wrong: Vec<_> = long.map(|file| format!("{}: {} lines", file.name, file.text.lines().count())).collect();
    assert_none(&wrong, "test files of more than 600 lines");
}

#[test]
fn the_code_contains_no_placeholders_or_sleeps() {
    let forbidden = ["todo!", "unimplemented!", "dbg!", "#[ignore", "thread::sleep"];
    let notes = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
    let mut wrong = Vec::new();
    for file in sources("src").into_iter().chain(sources("tests")) {
        let code = forbidden.iter().filter(|word| file.code.contains(**word));
        let text = notes.iter().filter(|note| words(&file.text).any(|word| word == **note));
        wrong.extend(code.chain(text).map(|word| format!("{}: {word}", file.name)));
    }
    assert_none(&wrong, "work left for later, skipped tests, sleeping");
}

/// So that `.ci/run` need not check the release profile on its own.
#[test]
fn every_profile_compiles_the_same_code() {
    let is_profile = |code: &str| code.contains("#[cfg(debug_assertions)]") || code.contains("not(debug_assertions)");
    let wrong = sources("src").into_iter().filter(|file| is_profile(&file.code)).map(|file| file.name);
    assert_none(&wrong.collect::<Vec<_>>(), "code of one profile");
}

#[test]
fn no_file_contains_paths_of_one_machine() {
    let folders = ["home", "root", "work", "Users", "tmp", "mnt"].map(|name| format!("/{name}/"));
    let mut wrong = Vec::new();
    for path in tracked() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let begins = |folder: &String| {
                line.match_indices(folder.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    !before.is_some_and(|c| c.is_alphanumeric() || "/.-_~*…}".contains(c))
                })
            };
            let shared = line.contains(concat!("../", "shared")) && !path.ends_with(".ci/run");
            if folders.iter().any(begins) || shared {
                wrong.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert_none(&wrong, "paths of one machine");
}

#[test]
fn crossterm_is_locked_in_one_version() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("read Cargo.lock");
    let packages = lock.lines().filter(|line| *line == "name = \"crossterm\"").count();
    assert_eq!(packages, 1, "two crossterms are two event queues and two saved terminal modes");
}

#[test]
fn the_top_level_is_small() {
    let allowed = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "README.md",
        "assets",
        "src",
        "tests",
    ];
    let ignored = fs::read_to_string(root().join(".gitignore")).expect("read .gitignore");
    let names =
        fs::read_dir(root()).expect("list the project").map(|entry| entry.expect("list the project").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let wrong = names.filter(|name| !name.starts_with('.') && !allowed.contains(&name.as_str()));
    let wrong: Vec<_> = wrong.filter(|name| !ignored.lines().any(|line| line == format!("/{name}"))).collect();
    assert_none(&wrong, "names at the top level");
}

/// One source file.
struct File {
    /// `src/xml/scan.rs`.
    name: String,
    text: String,
    /// The text with comments and the content of literals replaced by blanks.
    code: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder of the project.
fn sources(folder: &str) -> Vec<File> {
    let files = walk(&root().join(folder)).into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let found: Vec<_> = files
        .map(|path| {
            let text = fs::read_to_string(&path).expect("read a source file");
            let name = path.strip_prefix(root()).expect("inside the project").to_string_lossy().replace('\\', "/");
            File { name, code: code(&text), text }
        })
        .collect();
    assert!(!found.is_empty(), "no source files below {folder}");
    found
}

/// Every file that belongs to the project.
fn tracked() -> Vec<PathBuf> {
    let folders = ["src", "tests", "assets", ".ci"].into_iter().flat_map(|name| walk(&root().join(name)));
    let files = fs::read_dir(root()).expect("list the project").map(|entry| entry.expect("list the project").path());
    folders.chain(files.filter(|path| path.is_file() && !path.ends_with(".git"))).collect()
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("list {}: {error}", folder.display())) {
        let path = entry.expect("list a folder").path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The layer of a file and its rank; `None` for those of [`BESIDE_LAYERS`], and for `main.rs` and `lib.rs`, which are above
/// all layers.
fn layer_of(file: &File) -> Option<(&'static str, u8)> {
    let inside = file.name.strip_prefix("src/").unwrap_or(&file.name);
    let name = inside.split(['/', '.']).next().unwrap_or_default();
    if ["main", "lib"].contains(&name) || BESIDE_LAYERS.contains(&name) {
        return None;
    }
    let layer = LAYERS.iter().find(|(layer, _)| *layer == name);
    Some(*layer.unwrap_or_else(|| panic!("{} belongs to no layer; name its layer in tests/tidy", file.name)))
}

#[track_caller]
fn assert_none(wrong: &[String], what: &str) {
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}
