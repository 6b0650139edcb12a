//! Crafted commit records, each with a name, its files, and the assertions of [`Scene`].

use super::scene::{Scene, content};
use crate::support::{stderr, stdout};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// A name of a temporary file that is valid for the target `name`.
fn temporary(name: &str) -> String {
    let (folder, name) = name.rsplit_once('/').map_or(("", name), |(folder, name)| (folder, name));
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}.{name}.1-abc123.sited")
}

/// The content that an attacker wants to be written.
const PAYLOAD: &str = "#!/bin/sh\nevil\n";

/// A replacement in a record, and its temporary file.
struct Replacement<'w> {
    temporary: &'w str,
    target: &'w str,
    old: Option<&'w str>,
    in_place: bool,
}

impl<'w> Replacement<'w> {
    fn of(temporary: &'w str, target: &'w str, old: Option<&'w str>) -> Self {
        Self { temporary, target, old, in_place: false }
    }

    fn json(&self) -> Value {
        json!({
            "temporary": self.temporary, "target": self.target, "new": content(PAYLOAD),
            "old": self.old.map(content), "in_place": self.in_place, "stamp": null,
        })
    }
}

fn record(version: u32, files: &[Value], removed: &[Value]) -> Value {
    json!({ "version": version, "files": files, "removed": removed })
}

fn put_record(scene: &Scene, body: &Value) {
    scene.folder.write("site/.sited.commit", body.to_string());
}

/// Writes a record of one replacement, and its temporary file.
fn put_replacement(scene: &Scene, replacement: &Replacement<'_>) {
    let at = scene.path("site").join(replacement.temporary);
    if at.parent().is_some_and(std::path::Path::exists) && !at.exists() {
        fs::write(at, PAYLOAD).unwrap();
    }
    put_record(scene, &record(1, &[replacement.json()], &[]));
}

fn put_removal(scene: &Scene, target: &str, old: &str) {
    put_record(scene, &record(1, &[], &[json!({ "target": target, "old": content(old), "stamp": null })]));
}

type Make = fn(&Scene);

/// Records that the key of this user does not authenticate.
const FOREIGN: [(&str, Make); 33] = [
    ("a hook of git, from a file of the repository", |scene| {
        scene.folder.write("site/tools.sh", PAYLOAD);
        put_replacement(scene, &Replacement::of("tools.sh", ".git/hooks/post-checkout", Some("old hook\n")));
    }),
    ("a hook of git that is new", |scene| {
        scene.folder.write("site/tools.sh", PAYLOAD);
        put_replacement(scene, &Replacement::of("tools.sh", ".git/hooks/pre-commit", None));
    }),
    ("a hook of git, from a temporary file of the right name", |scene| {
        let name = temporary(".git/hooks/post-checkout");
        put_replacement(scene, &Replacement::of(&name, ".git/hooks/post-checkout", Some("old hook\n")));
    }),
    ("a hook of git, overwritten in place", |scene| {
        let name = temporary(".git/hooks/post-checkout");
        let replacement = Replacement::of(&name, ".git/hooks/post-checkout", Some("old hook\n"));
        put_replacement(scene, &Replacement { in_place: true, ..replacement });
    }),
    ("a hidden file", |scene| put_replacement(scene, &Replacement::of(&temporary(".env"), ".env", Some("SECRET=1\n")))),
    ("a hidden folder in other letters", |scene| {
        fs::create_dir_all(scene.path("site/.GIT/hooks")).unwrap();
        put_replacement(scene, &Replacement::of(&temporary(".GIT/hooks/x"), ".GIT/hooks/x", None));
    }),
    ("a folder that is hidden where file systems ignore a character", |scene| {
        fs::create_dir_all(scene.path("site/\u{200c}.git/hooks")).unwrap();
        put_replacement(scene, &Replacement::of(&temporary("\u{200c}.git/hooks/x"), "\u{200c}.git/hooks/x", None));
    }),
    ("an absolute path", |scene| {
        let target = scene.path("home/precious").display().to_string();
        put_replacement(scene, &Replacement::of(&temporary(&target), &target, Some("precious\n")));
    }),
    ("a path that goes up", |scene| {
        put_replacement(
            scene,
            &Replacement::of(&temporary("../home/precious"), "../home/precious", Some("precious\n")),
        );
    }),
    ("a path that goes down and up", |scene| {
        fs::create_dir(scene.path("site/in")).unwrap();
        let target = "in/../../home/precious";
        put_replacement(scene, &Replacement::of(&temporary(target), target, Some("precious\n")));
    }),
    ("a folder that is a link", |scene| {
        scene.link("../home", "site/linked");
        put_replacement(scene, &Replacement::of(&temporary("linked/precious"), "linked/precious", Some("precious\n")));
    }),
    ("a folder that is a link to a hidden one", |scene| {
        scene.link(".git", "site/linked");
        let target = "linked/hooks/post-checkout";
        put_replacement(scene, &Replacement::of(&temporary(target), target, Some("old hook\n")));
    }),
    ("a file that is a link", |scene| {
        scene.link("../home/precious", "site/file");
        put_replacement(scene, &Replacement::of(&temporary("file"), "file", Some("precious\n")));
    }),
    ("a file that is a link, overwritten in place", |scene| {
        scene.link("../home/precious", "site/file");
        put_replacement(
            scene,
            &Replacement { in_place: true, ..Replacement::of(&temporary("file"), "file", Some("precious\n")) },
        );
    }),
    ("a second name of a file elsewhere, overwritten in place", |scene| {
        fs::hard_link(scene.path("home/precious"), scene.path("site/file")).unwrap();
        put_replacement(
            scene,
            &Replacement { in_place: true, ..Replacement::of(&temporary("file"), "file", Some("precious\n")) },
        );
    }),
    ("overwritten in place, whatever is there", |scene| {
        put_replacement(
            scene,
            &Replacement { in_place: true, ..Replacement::of(&temporary("notes.txt"), "notes.txt", Some("other")) },
        );
    }),
    ("the file is not what the record says it was", |scene| {
        put_replacement(scene, &Replacement::of(&temporary("notes.txt"), "notes.txt", Some("other")));
    }),
    ("the file is there although the record makes it", |scene| {
        put_replacement(scene, &Replacement::of(&temporary("notes.txt"), "notes.txt", None));
    }),
    ("a file of the folder is moved over another", |scene| {
        scene.folder.write("site/tools.sh", PAYLOAD);
        put_replacement(scene, &Replacement::of("tools.sh", "notes.txt", Some("notes of the user\n")));
    }),
    ("the temporary file is one of another target", |scene| {
        put_replacement(scene, &Replacement::of(&temporary("other"), "notes.txt", Some("notes of the user\n")));
    }),
    ("the temporary file is in another folder", |scene| {
        fs::create_dir(scene.path("site/in")).unwrap();
        put_replacement(
            scene,
            &Replacement::of("in/.notes.txt.1-abc123.sited", "notes.txt", Some("notes of the user\n")),
        );
    }),
    ("the temporary file is a link to a secret", |scene| {
        scene.link("../home/.ssh/authorized_keys", "site/.new.txt.1-abc123.sited");
        let file = json!({
            "temporary": ".new.txt.1-abc123.sited", "target": "new.txt", "new": content("key\n"), "old": null,
            "in_place": false, "stamp": null,
        });
        put_record(scene, &record(1, &[file], &[]));
    }),
    ("the target is a folder", |scene| {
        put_replacement(scene, &Replacement::of(&temporary(".git"), ".git", None));
    }),
    ("the target is a pipe", |scene| {
        scene.pipe("site/pipe");
        put_replacement(scene, &Replacement::of(&temporary("pipe"), "pipe", Some("")));
    }),
    ("the target belongs to another user", |scene| {
        scene.folder.write("site/theirs", "theirs\n");
        scene.change_owner("site/theirs");
        put_replacement(scene, &Replacement::of(&temporary("theirs"), "theirs", Some("theirs\n")));
    }),
    ("a hidden file is removed", |scene| put_removal(scene, ".env", "SECRET=1\n")),
    ("a file elsewhere is removed", |scene| put_removal(scene, "../home/precious", "precious\n")),
    ("a file behind a link is removed", |scene| {
        scene.link("../home", "site/linked");
        put_removal(scene, "linked/precious", "precious\n");
    }),
    ("an absolute path is removed", |scene| {
        put_removal(scene, &scene.path("home/precious").display().to_string(), "precious\n");
    }),
    ("control characters in a name", |scene| {
        put_replacement(
            scene,
            &Replacement::of(&temporary("../\u{1b}]0;x\u{7}\u{1b}[2J"), "../\u{1b}]0;x\u{7}\u{1b}[2J", None),
        );
    }),
    ("no name at all", |scene| put_replacement(scene, &Replacement::of("", "", None))),
    ("the folder itself", |scene| put_replacement(scene, &Replacement::of(".", ".", None))),
    ("the record itself", |scene| {
        let replacement = Replacement::of(".sited.commit", ".sited.commit", None);
        put_record(scene, &record(2, &[replacement.json()], &[]));
    }),
];

#[test]
fn an_unauthenticated_record_is_shown_and_never_executed_without_consent_or_outside_its_folder() {
    for (name, make) in FOREIGN {
        let scene = Scene::new();
        make(&scene);
        scene.assert_read_commands_change_nothing(name);
        let message = stderr(&scene.run(&["check", "site"]));
        assert!(
            message.contains("interrupted save is pending") && message.contains("sited recover"),
            "{name}: {message}"
        );
        let refused = scene.run(&["set", "site", "lastmod=2026-01-01"]);
        assert_eq!(refused.status.code(), Some(3), "{name}: {}", stderr(&refused));
        assert_eq!(scene.run(&["recover", "site"]).status.code(), Some(1), "{name}");
        scene.assert_guarded_files_unchanged(name);
        // The record was discarded, and the set can be edited again.
        assert!(!scene.path("site/.sited.commit").exists(), "{name}");
        assert!(scene.folder.read("site/s-1.xml").windows(10).any(|text| text == b"2026-01-02"), "{name}");
    }
}

/// Files with the name of a record that are not valid records.
const INVALID_RECORDS: [(&str, Make); 11] = [
    ("a pipe", |scene| scene.pipe("site/.sited.commit")),
    ("a link to an endless device", |scene| scene.link("/dev/zero", "site/.sited.commit")),
    ("a link to nothing", |scene| scene.link("nothing", "site/.sited.commit")),
    ("a link to a record elsewhere", |scene| {
        scene.folder.write("home/record", record(1, &[], &[]).to_string());
        scene.link("../home/record", "site/.sited.commit");
    }),
    ("a socket", |scene| {
        std::os::unix::net::UnixListener::bind(scene.path("site/.sited.commit")).map(drop).unwrap();
    }),
    ("terabytes", |scene| {
        let file = fs::File::create(scene.path("site/.sited.commit")).unwrap();
        file.set_len(1 << 40).unwrap();
    }),
    ("a file of another user", |scene| {
        put_removal(scene, "notes.txt", "notes of the user\n");
        scene.change_owner("site/.sited.commit");
        if !scene.path("site/.sited.commit").exists() {
            scene.pipe("site/.sited.commit");
        }
    }),
    ("nothing", |scene| drop(scene.folder.write("site/.sited.commit", ""))),
    ("no text", |scene| drop(scene.folder.write("site/.sited.commit", b"\xff\0\x1b[2J"))),
    ("deeply nested brackets", |scene| drop(scene.folder.write("site/.sited.commit", "[".repeat(900_000)))),
    ("a record of a later version", |scene| {
        scene.folder.write("site/.sited.commit", "sited commit record 9 -\n{}");
    }),
];

#[test]
fn an_invalid_record_is_reported_and_can_be_removed() {
    for (name, make) in INVALID_RECORDS {
        let scene = Scene::new();
        make(&scene);
        scene.assert_read_commands_change_nothing(name);
        let refused = scene.run(&["set", "site", "lastmod=2026-01-01"]);
        assert_eq!(refused.status.code(), Some(3), "{name}: {}", stderr(&refused));
        scene.assert_guarded_files_unchanged(name);
        assert!(fs::symlink_metadata(scene.path("site/.sited.commit")).is_err(), "{name}");

        let scene = Scene::new();
        make(&scene);
        let discard = scene.run(&["recover", "site", "--discard"]);
        assert_eq!(discard.status.code(), Some(0), "{name}: {}", stderr(&discard));
        assert!(stderr(&discard).contains("could not be read"), "{name}: {}", stderr(&discard));
    }
}

/// Makes the key of this user by a save of a copy of the set.
fn key(scene: &Scene) -> [u8; 32] {
    for name in ["sitemap_index.xml", "s-1.xml", "s-2.xml"] {
        scene.folder.write(&format!("copy/{name}"), scene.folder.read(&format!("site/{name}")));
    }
    let saved = scene.run(&["set", "copy", "lastmod=2026-01-01"]);
    assert_eq!(saved.status.code(), Some(0), "{}", stderr(&saved));
    fs::remove_dir_all(scene.path("copy")).unwrap();
    fs::read(scene.path(".home/state/sited/record.key")).unwrap().try_into().unwrap()
}

/// Writes a record as the program does, with an authentication code of this key.
fn put_signed(scene: &Scene, key: &[u8; 32], body: &Value) {
    let body = body.to_string();
    let kind = "commit record";
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(&(kind.len() as u64).to_le_bytes()).update(kind.as_bytes()).update(body.as_bytes());
    let text = format!("sited commit record 2 {}\n{body}", hasher.finalize().to_hex());
    scene.folder.write("site/.sited.commit", text);
}

/// The identity of a file, in the format of records.
fn stamp(scene: &Scene, name: &str) -> Value {
    let metadata = fs::symlink_metadata(scene.path(name)).unwrap();
    json!({ "inode": metadata.ino(), "changed": [metadata.ctime(), metadata.ctime_nsec()] })
}

/// A record of a save of `s-1.xml` as the program writes it, modified by `change`.
fn own_record(scene: &Scene, change: impl FnOnce(&mut Value)) -> Value {
    scene.folder.write("site/.s-1.xml.1-abc123.sited", PAYLOAD);
    let old = String::from_utf8(scene.folder.read("site/s-1.xml")).unwrap();
    let owner = fs::metadata(scene.path("site/s-1.xml")).unwrap().uid();
    let mut body = json!({
        "version": 2, "folder": scene.real_site(), "set": "sitemap_index.xml",
        "files": [{
            "temporary": ".s-1.xml.1-abc123.sited", "target": "s-1.xml", "new": content(PAYLOAD), "old": content(&old),
            "in_place": false, "stamp": stamp(scene, "site/.s-1.xml.1-abc123.sited"), "owner": owner,
        }],
        "removed": [],
    });
    change(&mut body);
    body
}

/// The next command that writes finishes an unmodified record. This verifies the setup of the next test.
#[test]
fn an_authenticated_record_is_finished_by_the_next_command_that_writes() {
    let scene = Scene::new();
    let key = key(&scene);
    put_signed(&scene, &key, &own_record(&scene, |_| ()));
    scene.assert_read_commands_change_nothing("a record of this user");
    let shown = stdout(&scene.run(&["recover", "site"]));
    assert!(shown.contains("replace  s-1.xml"), "{shown}");
    let saved = scene.run(&["set", "site/s-2.xml", "priority=0.5"]);
    assert_eq!(saved.status.code(), Some(0), "{}", stderr(&saved));
    assert!(stderr(&saved).contains("finished an interrupted save: 1 file written"), "{}", stderr(&saved));
    assert_eq!(scene.folder.read("site/s-1.xml"), PAYLOAD.as_bytes());
}

type Sign = fn(&Scene, &[u8; 32]);

/// Records with a code of this user's key, or an invalid code, that must not be finished without consent.
const SIGNED: [(&str, Sign); 15] = [
    ("one letter of the body is another", |scene, key| {
        put_signed(scene, key, &own_record(scene, |_| ()));
        let text = String::from_utf8(scene.folder.read("site/.sited.commit")).unwrap();
        scene.folder.write("site/.sited.commit", text.replace("\"in_place\":false", "\"in_place\":true "));
    }),
    ("the code of another key", |scene, _| put_signed(scene, &[7; 32], &own_record(scene, |_| ()))),
    ("a key that others can read", |scene, key| {
        put_signed(scene, key, &own_record(scene, |_| ()));
        let file = fs::File::open(scene.path(".home/state/sited/record.key")).unwrap();
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    }),
    ("a record of another folder", |scene, key| {
        put_signed(scene, key, &own_record(scene, |body| body["folder"] = json!("/elsewhere")));
    }),
    ("another file waits", |scene, key| {
        let body = own_record(scene, |_| ());
        fs::remove_file(scene.path("site/.s-1.xml.1-abc123.sited")).unwrap();
        scene.folder.write("site/.other", PAYLOAD);
        fs::rename(scene.path("site/.other"), scene.path("site/.s-1.xml.1-abc123.sited")).unwrap();
        put_signed(scene, key, &body);
    }),
    ("no stamp", |scene, key| {
        put_signed(scene, key, &own_record(scene, |body| body["files"][0]["stamp"] = Value::Null));
    }),
    ("other bytes wait", |scene, key| {
        let body = own_record(scene, |_| ());
        scene.folder.write("site/.s-1.xml.1-abc123.sited", "#!/bin/sh\nEVIL\n");
        put_signed(scene, key, &body);
    }),
    ("nothing waits", |scene, key| {
        let body = own_record(scene, |_| ());
        fs::remove_file(scene.path("site/.s-1.xml.1-abc123.sited")).unwrap();
        put_signed(scene, key, &body);
    }),
    ("the file was changed meanwhile", |scene, key| {
        put_signed(scene, key, &own_record(scene, |_| ()));
        let text = String::from_utf8(scene.folder.read("site/s-1.xml")).unwrap();
        scene.folder.write("site/s-1.xml", text.replace("e.com/1", "e.com/x"));
    }),
    ("the file was removed meanwhile", |scene, key| {
        put_signed(scene, key, &own_record(scene, |_| ()));
        fs::remove_file(scene.path("site/s-1.xml")).unwrap();
    }),
    ("the file is a link now", |scene, key| {
        put_signed(scene, key, &own_record(scene, |_| ()));
        fs::copy(scene.path("site/s-1.xml"), scene.path("home/s-1.xml")).unwrap();
        scene.link("../home/s-1.xml", "site/s-1.xml");
    }),
    ("overwritten in place, and another program has written", |scene, key| {
        let body = own_record(scene, |body| {
            body["files"][0]["in_place"] = json!(true);
            body["files"][0]["blocks"] = json!({ "hashes": [1], "tail": 2 });
        });
        put_signed(scene, key, &body);
        scene.folder.write("site/s-1.xml", "another program wrote this\n");
    }),
    ("a hidden target", |scene, key| {
        let name = temporary(".git/hooks/post-checkout");
        scene.folder.write(&format!("site/{name}"), PAYLOAD);
        let waiting = stamp(scene, &format!("site/{name}"));
        let body = own_record(scene, |body| {
            let file = &mut body["files"][0];
            (file["temporary"], file["target"]) = (json!(name), json!(".git/hooks/post-checkout"));
            (file["old"], file["stamp"]) = (content("old hook\n"), waiting);
        });
        put_signed(scene, key, &body);
    }),
    ("a path that goes up", |scene, key| {
        let name = temporary("../home/precious");
        scene.folder.write("home/.precious.1-abc123.sited", PAYLOAD);
        let waiting = stamp(scene, "home/.precious.1-abc123.sited");
        let body = own_record(scene, |body| {
            let file = &mut body["files"][0];
            (file["temporary"], file["target"]) = (json!(name), json!("../home/precious"));
            (file["old"], file["stamp"]) = (content("precious\n"), waiting);
        });
        put_signed(scene, key, &body);
    }),
    ("one target twice", |scene, key| {
        let body = own_record(scene, |body| {
            let again = body["files"][0].clone();
            body["files"].as_array_mut().unwrap().push(again);
        });
        put_signed(scene, key, &body);
    }),
];

#[test]
fn an_authenticated_record_is_still_validated() {
    for (name, make) in SIGNED {
        let scene = Scene::new();
        let key = key(&scene);
        make(&scene, &key);
        scene.assert_read_commands_change_nothing(name);
        let before = scene.tree();
        let refused = scene.run(&["set", "site/s-2.xml", "priority=0.5"]);
        assert_eq!(refused.status.code(), Some(3), "{name}: {}", stderr(&refused));
        let hint = stderr(&refused);
        assert!(hint.contains("sited recover"), "{name}: {hint}");
        let mut after = scene.tree();
        after.retain(|path, _| before.contains_key(path));
        assert!(after == before, "{name}");
    }
}

/// A record in the parent folder of the set, in which another user may write.
#[test]
fn records_in_parent_folders_are_ignored_unless_authenticated_for_this_set() {
    let scene = Scene::new();
    let old = String::from_utf8(scene.folder.read("site/s-1.xml")).unwrap();
    scene.folder.write("site/.s-1.xml.1-abc123.sited", PAYLOAD);
    let file = json!({
        "temporary": "site/.s-1.xml.1-abc123.sited", "target": "site/s-1.xml", "new": content(PAYLOAD),
        "old": content(&old), "in_place": false, "stamp": null,
    });
    scene.folder.write(".sited.commit", record(1, &[file], &[]).to_string());
    scene.assert_read_commands_change_nothing("a record above");
    for arguments in [&["check", "site/s-1.xml"][..], &["set", "site/s-1.xml", "priority=0.5"]] {
        let output = scene.run(arguments);
        assert!(!stderr(&output).contains("interrupted"), "{}", stderr(&output));
    }
    let after = String::from_utf8(scene.folder.read("site/s-1.xml")).unwrap();
    assert!(after.contains("<priority>0.5</priority>"), "{after}");
}
