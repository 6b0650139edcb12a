//! Crafted lock files.

use super::state::{self, SET, Scene, change_owner, huge, link, pipe};
use crate::support;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// The expected effect of a crafted lock. In addition, every run ends, the victim is unchanged, and no control
/// character is printed.
pub(super) enum Effect {
    /// The lock has no effect.
    Ignored,
    /// A process holds the lock: commands that write are refused, and the error names no process from a crafted file.
    Respected,
}
use Effect::{Ignored, Respected};

/// A name, a function that plants files, and the expected effect. A returned file stays locked.
type Case = (&'static str, fn(&Scene) -> Option<File>, Effect);

pub(super) const CASES: &[Case] = &[
    (
        "its own name is a link to a file",
        |scene| {
            link(scene.victim(), &scene.own_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "its own name is a link to nothing",
        |scene| {
            link(scene.folder.file("made.txt"), &scene.own_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "its own name is a second name of a file",
        |scene| {
            fs::hard_link(scene.victim(), scene.own_path("lock")).unwrap();
            None
        },
        Ignored,
    ),
    (
        "its own name is a pipe",
        |scene| {
            pipe(&scene.own_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "its own name is a folder",
        |scene| {
            fs::create_dir(scene.own_path("lock")).unwrap();
            None
        },
        Ignored,
    ),
    (
        "its own name is a device",
        |scene| {
            link("/dev/zero", &scene.own_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "another lock is a pipe",
        |scene| {
            pipe(&scene.other_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "another lock is an endless device",
        |scene| {
            link("/dev/zero", &scene.other_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "another lock is a folder",
        |scene| {
            fs::create_dir(scene.other_path("lock")).unwrap();
            None
        },
        Ignored,
    ),
    (
        "another lock is a link to a file",
        |scene| {
            link(scene.victim(), &scene.other_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "a lock of 64 GiB that nobody holds",
        |scene| {
            huge(&scene.other_path("lock"));
            None
        },
        Ignored,
    ),
    (
        "a lock of 64 GiB that somebody holds",
        |scene| {
            huge(&scene.other_path("lock"));
            Some(locked(&scene.other_path("lock")))
        },
        Ignored,
    ),
    (
        "a lock with the name of a process that lives, which does not hold it",
        |scene| {
            fs::write(scene.own_path("lock"), format!("{}\n{}", std::process::id(), key(scene))).unwrap();
            None
        },
        Ignored,
    ),
    (
        "the same under another name",
        |scene| {
            fs::write(scene.other_path("lock"), format!("1\n{}", key(scene))).unwrap();
            None
        },
        Ignored,
    ),
    (
        "a lock of the set's keys that another user holds",
        |scene| {
            let path = scene.other_path("lock");
            fs::write(&path, format!("1\n{}", key(scene))).unwrap();
            change_owner(&path).then(|| locked(&path))
        },
        Ignored,
    ),
    (
        "a lock in a folder that others can write to",
        |scene| {
            fs::write(scene.own_path("lock"), format!("1\n{}", key(scene))).unwrap();
            fs::set_permissions(scene.journals(), Permissions::from_mode(0o777)).unwrap();
            Some(locked(&scene.own_path("lock")))
        },
        Ignored,
    ),
    (
        "a folder of locks that belongs to another user",
        |scene| {
            fs::write(scene.own_path("lock"), format!("1\n{}", key(scene))).unwrap();
            let file = locked(&scene.own_path("lock"));
            change_owner(&scene.journals()).then_some(file)
        },
        Ignored,
    ),
    (
        "keys that are no keys",
        |scene| Some(held(scene, b"7\n../../victim\n\xff\xfe\n-1\nffffffffffffffffffff\n\n")),
        Ignored,
    ),
    ("a process with escape sequences", |scene| Some(held_own(scene, b"\x1b]0;owned\x07\x1b[2J1\n")), Respected),
    ("a process below zero", |scene| Some(held_own(scene, b"-1\n")), Respected),
    ("process 0", |scene| Some(held_own(scene, b"0\n")), Respected),
    ("a process beyond all numbers", |scene| Some(held_own(scene, b"99999999999999999999\n")), Respected),
    ("bytes that are no text", |scene| Some(held_own(scene, b"\xff\xfe\x00\x9b31m")), Respected),
    ("nothing at all", |scene| Some(held_own(scene, b"")), Respected),
    ("the file itself, locked by another program", |scene| Some(locked(&scene.set())), Respected),
];

/// The key of the set, which is a hash of its path.
fn key(scene: &Scene) -> String {
    format!("{:016x}\n", xxh3_64(scene.set().as_os_str().as_encoded_bytes()))
}

fn locked(path: &Path) -> File {
    let file = File::open(path).unwrap();
    file.try_lock().unwrap();
    file
}

fn held_at(path: &Path, bytes: &[u8]) -> File {
    File::create(path).unwrap().write_all(bytes).unwrap();
    locked(path)
}

fn held(scene: &Scene, bytes: &[u8]) -> File {
    held_at(&scene.other_path("lock"), bytes)
}

fn held_own(scene: &Scene, bytes: &[u8]) -> File {
    held_at(&scene.own_path("lock"), bytes)
}

#[test]
fn crafted_locks_are_ignored_unless_a_process_holds_them() {
    for (name, plant, effect) in CASES {
        let scene = Scene::new();
        let holder = plant(&scene);
        let before = scene.folder.files();
        let text = scene.output_of(&["check", "a.xml"]);
        assert!(state::is_printable(&text), "{name}: {text:?}");
        let output = scene.run(&["set", "a.xml", "priority=0.3"]);
        let notes = support::stderr(&output);
        assert!(state::is_printable(&notes), "{name}: {notes:?}");
        let mut after = scene.folder.files();
        let set = after.insert("a.xml".to_owned(), SET.into()).unwrap();
        assert_eq!(after, before, "{name}: nothing else has changed");
        match effect {
            Ignored => assert!(output.status.success() && set != SET.as_bytes(), "{name}: {notes}"),
            Respected => {
                assert_eq!((output.status.code(), &*set), (Some(3), SET.as_bytes()), "{name}: {notes}");
                assert!(
                    notes.contains("another sited has it open") || notes.contains("another sited (process "),
                    "{notes}"
                );
                let own_process = format!("(process {})", std::process::id());
                assert!(!notes.contains("(process ") || notes.contains(&own_process), "{name}: {notes}");
            }
        }
        drop(holder);
    }
}
