//! Crafted lock files.

use super::state::{self, SET, Scene, give_away, huge, link, pipe};
use crate::support;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// What a crafted lock must not break, beside these: every run ends, the victim is as it was, and nothing that a terminal
/// obeys is printed.
pub(super) enum Promise {
    /// It stops no one.
    Ignored,
    /// It is a lock that a process holds: work that changes the set is refused, and the words name no process that the
    /// file cannot know.
    Obeyed,
}
use Promise::{Ignored, Obeyed};

/// What is planted; a file that is returned stays locked.
type Case = (&'static str, fn(&Scene) -> Option<File>, Promise);

pub(super) const CASES: &[Case] = &[
    (
        "its own name is a link to a file",
        |scene| {
            link(scene.victim(), &scene.own("lock"));
            None
        },
        Ignored,
    ),
    (
        "its own name is a link to nothing",
        |scene| {
            link(scene.folder.file("made.txt"), &scene.own("lock"));
            None
        },
        Ignored,
    ),
    (
        "its own name is a second name of a file",
        |scene| {
            fs::hard_link(scene.victim(), scene.own("lock")).unwrap();
            None
        },
        Ignored,
    ),
    (
        "its own name is a pipe",
        |scene| {
            pipe(&scene.own("lock"));
            None
        },
        Ignored,
    ),
    (
        "its own name is a folder",
        |scene| {
            fs::create_dir(scene.own("lock")).unwrap();
            None
        },
        Ignored,
    ),
    (
        "its own name is a device",
        |scene| {
            link("/dev/zero", &scene.own("lock"));
            None
        },
        Ignored,
    ),
    (
        "another lock is a pipe",
        |scene| {
            pipe(&scene.other("lock"));
            None
        },
        Ignored,
    ),
    (
        "another lock is an endless device",
        |scene| {
            link("/dev/zero", &scene.other("lock"));
            None
        },
        Ignored,
    ),
    (
        "another lock is a folder",
        |scene| {
            fs::create_dir(scene.other("lock")).unwrap();
            None
        },
        Ignored,
    ),
    (
        "another lock is a link to a file",
        |scene| {
            link(scene.victim(), &scene.other("lock"));
            None
        },
        Ignored,
    ),
    (
        "a lock of 64 GiB that nobody holds",
        |scene| {
            huge(&scene.other("lock"));
            None
        },
        Ignored,
    ),
    (
        "a lock of 64 GiB that somebody holds",
        |scene| {
            huge(&scene.other("lock"));
            Some(locked(&scene.other("lock")))
        },
        Ignored,
    ),
    (
        "a lock with the name of a process that lives, which does not hold it",
        |scene| {
            fs::write(scene.own("lock"), format!("{}\n{}", std::process::id(), key(scene))).unwrap();
            None
        },
        Ignored,
    ),
    (
        "the same under another name",
        |scene| {
            fs::write(scene.other("lock"), format!("1\n{}", key(scene))).unwrap();
            None
        },
        Ignored,
    ),
    (
        "a lock of the set's keys that another user holds",
        |scene| {
            let path = scene.other("lock");
            fs::write(&path, format!("1\n{}", key(scene))).unwrap();
            give_away(&path).then(|| locked(&path))
        },
        Ignored,
    ),
    (
        "a lock in a folder that others can write to",
        |scene| {
            fs::write(scene.own("lock"), format!("1\n{}", key(scene))).unwrap();
            fs::set_permissions(scene.journals(), Permissions::from_mode(0o777)).unwrap();
            Some(locked(&scene.own("lock")))
        },
        Ignored,
    ),
    (
        "a folder of locks that belongs to another user",
        |scene| {
            fs::write(scene.own("lock"), format!("1\n{}", key(scene))).unwrap();
            let file = locked(&scene.own("lock"));
            give_away(&scene.journals()).then_some(file)
        },
        Ignored,
    ),
    (
        "keys that are no keys",
        |scene| Some(held(scene, b"7\n../../victim\n\xff\xfe\n-1\nffffffffffffffffffff\n\n")),
        Ignored,
    ),
    ("a process with escape sequences", |scene| Some(held_own(scene, b"\x1b]0;owned\x07\x1b[2J1\n")), Obeyed),
    ("a process below zero", |scene| Some(held_own(scene, b"-1\n")), Obeyed),
    ("process 0", |scene| Some(held_own(scene, b"0\n")), Obeyed),
    ("a process beyond all numbers", |scene| Some(held_own(scene, b"99999999999999999999\n")), Obeyed),
    ("bytes that are no text", |scene| Some(held_own(scene, b"\xff\xfe\x00\x9b31m")), Obeyed),
    ("nothing at all", |scene| Some(held_own(scene, b"")), Obeyed),
    ("the file itself, locked by another program", |scene| Some(locked(&scene.set())), Obeyed),
];

/// The key of the set by its path.
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
    held_at(&scene.other("lock"), bytes)
}

fn held_own(scene: &Scene, bytes: &[u8]) -> File {
    held_at(&scene.own("lock"), bytes)
}

#[test]
fn crafted_locks_stop_nobody_but_those_that_are_held() {
    for (name, plant, promise) in CASES {
        let scene = Scene::new();
        let holder = plant(&scene);
        let before = scene.folder.files();
        let text = scene.says(&["check", "a.xml"]);
        assert!(state::is_tame(&text), "{name}: {text:?}");
        let output = scene.run(&["set", "a.xml", "priority=0.3"]);
        let notes = support::stderr(&output);
        assert!(state::is_tame(&notes), "{name}: {notes:?}");
        let mut after = scene.folder.files();
        let set = after.insert("a.xml".to_owned(), SET.into()).unwrap();
        assert_eq!(after, before, "{name}: nothing else has changed");
        match promise {
            Ignored => assert!(output.status.success() && set != SET.as_bytes(), "{name}: {notes}"),
            Obeyed => {
                assert_eq!((output.status.code(), &*set), (Some(3), SET.as_bytes()), "{name}: {notes}");
                assert!(
                    notes.contains("another sited has it open") || notes.contains("another sited (process "),
                    "{notes}"
                );
                let own = format!("(process {})", std::process::id());
                assert!(!notes.contains("(process ") || notes.contains(&own), "{name}: {notes}");
            }
        }
        drop(holder);
    }
}
