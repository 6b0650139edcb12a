//! Crafted commit records, each with a name, its files, and the promises of [`Scene`].

use super::scene::{Scene, content};
use crate::support::{stderr, stdout};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// A temporary file of this name is one that a save makes for `name`.
fn temporary(name: &str) -> String {
    let (folder, name) = name.rsplit_once('/').map_or(("", name), |(folder, name)| (folder, name));
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}.{name}.1-abc123.sited")
}

/// What an attacker wants to have written.
const EVIL: &str = "#!/bin/sh\nevil\n";

/// One replacement in a record, and the temporary file that waits for it.
struct Wish<'w> {
    temporary: &'w str,
    target: &'w str,
    old: Option<&'w str>,
    in_place: bool,
}

impl<'w> Wish<'w> {
    fn of(temporary: &'w str, target: &'w str, old: Option<&'w str>) -> Self {
        Self { temporary, target, old, in_place: false }
    }

    fn json(&self) -> Value {
        json!({
            "temporary": self.temporary, "target": self.target, "new": content(EVIL),
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

/// A record of one replacement whose new content waits.
fn put_wish(scene: &Scene, wish: &Wish<'_>) {
    let at = scene.path("site").join(wish.temporary);
    if at.parent().is_some_and(std::path::Path::exists) && !at.exists() {
        fs::write(at, EVIL).unwrap();
    }
    put_record(scene, &record(1, &[wish.json()], &[]));
}

fn put_removal(scene: &Scene, target: &str, old: &str) {
    put_record(scene, &record(1, &[], &[json!({ "target": target, "old": content(old), "stamp": null })]));
}

type Make = fn(&Scene);

/// Records that no key of this user has made.
const FOREIGN: [(&str, Make); 33] = [
    ("a hook of git, from a file of the repository", |scene| {
        scene.folder.write("site/tools.sh", EVIL);
        put_wish(scene, &Wish::of("tools.sh", ".git/hooks/post-checkout", Some("old hook\n")));
    }),
    ("a hook of git that is new", |scene| {
        scene.folder.write("site/tools.sh", EVIL);
        put_wish(scene, &Wish::of("tools.sh", ".git/hooks/pre-commit", None));
    }),
    ("a hook of git, from a temporary file of the right name", |scene| {
        let name = temporary(".git/hooks/post-checkout");
        put_wish(scene, &Wish::of(&name, ".git/hooks/post-checkout", Some("old hook\n")));
    }),
    ("a hook of git, overwritten in place", |scene| {
        let name = temporary(".git/hooks/post-checkout");
        let wish = Wish::of(&name, ".git/hooks/post-checkout", Some("old hook\n"));
        put_wish(scene, &Wish { in_place: true, ..wish });
    }),
    ("a hidden file", |scene| put_wish(scene, &Wish::of(&temporary(".env"), ".env", Some("SECRET=1\n")))),
    ("a hidden folder in other letters", |scene| {
        fs::create_dir_all(scene.path("site/.GIT/hooks")).unwrap();
        put_wish(scene, &Wish::of(&temporary(".GIT/hooks/x"), ".GIT/hooks/x", None));
    }),
    ("a folder that is hidden where file systems ignore a character", |scene| {
        fs::create_dir_all(scene.path("site/\u{200c}.git/hooks")).unwrap();
        put_wish(scene, &Wish::of(&temporary("\u{200c}.git/hooks/x"), "\u{200c}.git/hooks/x", None));
    }),
    ("an absolute path", |scene| {
        let target = scene.path("home/precious").display().to_string();
        put_wish(scene, &Wish::of(&temporary(&target), &target, Some("precious\n")));
    }),
    ("a path that goes up", |scene| {
        put_wish(scene, &Wish::of(&temporary("../home/precious"), "../home/precious", Some("precious\n")));
    }),
    ("a path that goes down and up", |scene| {
        fs::create_dir(scene.path("site/in")).unwrap();
        let target = "in/../../home/precious";
        put_wish(scene, &Wish::of(&temporary(target), target, Some("precious\n")));
    }),
    ("a folder that is a link", |scene| {
        scene.link("../home", "site/linked");
        put_wish(scene, &Wish::of(&temporary("linked/precious"), "linked/precious", Some("precious\n")));
    }),
    ("a folder that is a link to a hidden one", |scene| {
        scene.link(".git", "site/linked");
        let target = "linked/hooks/post-checkout";
        put_wish(scene, &Wish::of(&temporary(target), target, Some("old hook\n")));
    }),
    ("a file that is a link", |scene| {
        scene.link("../home/precious", "site/file");
        put_wish(scene, &Wish::of(&temporary("file"), "file", Some("precious\n")));
    }),
    ("a file that is a link, overwritten in place", |scene| {
        scene.link("../home/precious", "site/file");
        put_wish(scene, &Wish { in_place: true, ..Wish::of(&temporary("file"), "file", Some("precious\n")) });
    }),
    ("a second name of a file elsewhere, overwritten in place", |scene| {
        fs::hard_link(scene.path("home/precious"), scene.path("site/file")).unwrap();
        put_wish(scene, &Wish { in_place: true, ..Wish::of(&temporary("file"), "file", Some("precious\n")) });
    }),
    ("overwritten in place, whatever is there", |scene| {
        put_wish(scene, &Wish { in_place: true, ..Wish::of(&temporary("notes.txt"), "notes.txt", Some("other")) });
    }),
    ("the file is not what the record says it was", |scene| {
        put_wish(scene, &Wish::of(&temporary("notes.txt"), "notes.txt", Some("other")));
    }),
    ("the file is there although the record makes it", |scene| {
        put_wish(scene, &Wish::of(&temporary("notes.txt"), "notes.txt", None));
    }),
    ("a file of the folder is moved over another", |scene| {
        scene.folder.write("site/tools.sh", EVIL);
        put_wish(scene, &Wish::of("tools.sh", "notes.txt", Some("notes of the user\n")));
    }),
    ("the temporary file is one of another target", |scene| {
        put_wish(scene, &Wish::of(&temporary("other"), "notes.txt", Some("notes of the user\n")));
    }),
    ("the temporary file is in another folder", |scene| {
        fs::create_dir(scene.path("site/in")).unwrap();
        put_wish(scene, &Wish::of("in/.notes.txt.1-abc123.sited", "notes.txt", Some("notes of the user\n")));
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
        put_wish(scene, &Wish::of(&temporary(".git"), ".git", None));
    }),
    ("the target is a pipe", |scene| {
        scene.pipe("site/pipe");
        put_wish(scene, &Wish::of(&temporary("pipe"), "pipe", Some("")));
    }),
    ("the target belongs to another user", |scene| {
        scene.folder.write("site/theirs", "theirs\n");
        scene.give_away("site/theirs");
        put_wish(scene, &Wish::of(&temporary("theirs"), "theirs", Some("theirs\n")));
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
        put_wish(scene, &Wish::of(&temporary("../\u{1b}]0;x\u{7}\u{1b}[2J"), "../\u{1b}]0;x\u{7}\u{1b}[2J", None));
    }),
    ("no name at all", |scene| put_wish(scene, &Wish::of("", "", None))),
    ("the folder itself", |scene| put_wish(scene, &Wish::of(".", ".", None))),
    ("the record itself", |scene| {
        let wish = Wish::of(".sited.commit", ".sited.commit", None);
        put_record(scene, &record(2, &[wish.json()], &[]));
    }),
];

#[test]
fn a_record_of_somebody_else_is_shown_and_never_carried_out_unasked_or_outside_its_folder() {
    for (what, make) in FOREIGN {
        let scene = Scene::new();
        make(&scene);
        scene.only_reads(what);
        let told = stderr(&scene.run(&["check", "site"]));
        assert!(told.contains("interrupted save is pending") && told.contains("sited recover"), "{what}: {told}");
        let refused = scene.run(&["set", "site", "lastmod=2026-01-01"]);
        assert_eq!(refused.status.code(), Some(3), "{what}: {}", stderr(&refused));
        assert_eq!(scene.run(&["recover", "site"]).status.code(), Some(1), "{what}");
        scene.keeps_guarded(what);
        // The record was given up: the set can be edited again, with nothing else changed.
        assert!(!scene.path("site/.sited.commit").exists(), "{what}");
        assert!(scene.folder.read("site/s-1.xml").windows(10).any(|text| text == b"2026-01-02"), "{what}");
    }
}

/// The content of a file in the place of a record.
const NO_RECORDS: [(&str, Make); 11] = [
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
        scene.give_away("site/.sited.commit");
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
fn a_record_of_another_user_is_named_and_can_be_removed() {
    for (what, make) in NO_RECORDS {
        let scene = Scene::new();
        make(&scene);
        scene.only_reads(what);
        let refused = scene.run(&["set", "site", "lastmod=2026-01-01"]);
        assert_eq!(refused.status.code(), Some(3), "{what}: {}", stderr(&refused));
        scene.keeps_guarded(what);
        assert!(fs::symlink_metadata(scene.path("site/.sited.commit")).is_err(), "{what}");

        let scene = Scene::new();
        make(&scene);
        let discard = scene.run(&["recover", "site", "--discard"]);
        assert_eq!(discard.status.code(), Some(0), "{what}: {}", stderr(&discard));
        assert!(stderr(&discard).contains("could not be read"), "{what}: {}", stderr(&discard));
    }
}

/// The key of this user, made by a save of a copy.
fn key(scene: &Scene) -> [u8; 32] {
    for name in ["sitemap_index.xml", "s-1.xml", "s-2.xml"] {
        scene.folder.write(&format!("copy/{name}"), scene.folder.read(&format!("site/{name}")));
    }
    let saved = scene.run(&["set", "copy", "lastmod=2026-01-01"]);
    assert_eq!(saved.status.code(), Some(0), "{}", stderr(&saved));
    fs::remove_dir_all(scene.path("copy")).unwrap();
    fs::read(scene.path(".home/state/sited/record.key")).unwrap().try_into().unwrap()
}

/// Writes a record as the program does, with a code made with a key.
fn put_signed(scene: &Scene, key: &[u8; 32], body: &Value) {
    let body = body.to_string();
    let kind = "commit record";
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(&(kind.len() as u64).to_le_bytes()).update(kind.as_bytes()).update(body.as_bytes());
    let text = format!("sited commit record 2 {}\n{body}", hasher.finalize().to_hex());
    scene.folder.write("site/.sited.commit", text);
}

/// Which file the one at a path is, as records have it.
fn stamp(scene: &Scene, name: &str) -> Value {
    let metadata = fs::symlink_metadata(scene.path(name)).unwrap();
    json!({ "inode": metadata.ino(), "changed": [metadata.ctime(), metadata.ctime_nsec()] })
}

/// A record of a save of `s-1.xml` as the program writes it, with what a case changes.
fn own_record(scene: &Scene, change: impl FnOnce(&mut Value)) -> Value {
    scene.folder.write("site/.s-1.xml.1-abc123.sited", EVIL);
    let old = String::from_utf8(scene.folder.read("site/s-1.xml")).unwrap();
    let owner = fs::metadata(scene.path("site/s-1.xml")).unwrap().uid();
    let mut body = json!({
        "version": 2, "folder": scene.real_site(), "set": "sitemap_index.xml",
        "files": [{
            "temporary": ".s-1.xml.1-abc123.sited", "target": "s-1.xml", "new": content(EVIL), "old": content(&old),
            "in_place": false, "stamp": stamp(scene, "site/.s-1.xml.1-abc123.sited"), "owner": owner,
        }],
        "removed": [],
    });
    change(&mut body);
    body
}

/// Without a change such a record is finished by whoever writes next: else no case of the next test means anything.
#[test]
fn a_record_with_the_code_of_this_user_is_finished_by_the_next_command_that_writes() {
    let scene = Scene::new();
    let key = key(&scene);
    put_signed(&scene, &key, &own_record(&scene, |_| ()));
    scene.only_reads("a record of this user");
    let shown = stdout(&scene.run(&["recover", "site"]));
    assert!(shown.contains("replace  s-1.xml"), "{shown}");
    let saved = scene.run(&["set", "site/s-2.xml", "priority=0.5"]);
    assert_eq!(saved.status.code(), Some(0), "{}", stderr(&saved));
    assert!(stderr(&saved).contains("finished an interrupted save: 1 file written"), "{}", stderr(&saved));
    assert_eq!(scene.folder.read("site/s-1.xml"), EVIL.as_bytes());
}

type Sign = fn(&Scene, &[u8; 32]);

/// Records with a code of this user's key, or nearly one, that must not be finished unasked.
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
        scene.folder.write("site/.other", EVIL);
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
        scene.folder.write(&format!("site/{name}"), EVIL);
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
        scene.folder.write("home/.precious.1-abc123.sited", EVIL);
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
    for (what, make) in SIGNED {
        let scene = Scene::new();
        let key = key(&scene);
        make(&scene, &key);
        scene.only_reads(what);
        let before = scene.tree();
        let refused = scene.run(&["set", "site/s-2.xml", "priority=0.5"]);
        assert_eq!(refused.status.code(), Some(3), "{what}: {}", stderr(&refused));
        let hint = stderr(&refused);
        assert!(hint.contains("sited recover"), "{what}: {hint}");
        let mut now = scene.tree();
        now.retain(|path, _| before.contains_key(path));
        assert!(now == before, "{what}");
    }
}

/// A record above the folder of the set, where anybody may write.
#[test]
fn records_of_folders_above_are_not_looked_at_unless_they_are_of_this_user_and_of_this_set() {
    let scene = Scene::new();
    let old = String::from_utf8(scene.folder.read("site/s-1.xml")).unwrap();
    scene.folder.write("site/.s-1.xml.1-abc123.sited", EVIL);
    let file = json!({
        "temporary": "site/.s-1.xml.1-abc123.sited", "target": "site/s-1.xml", "new": content(EVIL),
        "old": content(&old), "in_place": false, "stamp": null,
    });
    scene.folder.write(".sited.commit", record(1, &[file], &[]).to_string());
    scene.only_reads("a record above");
    for arguments in [&["check", "site/s-1.xml"][..], &["set", "site/s-1.xml", "priority=0.5"]] {
        let output = scene.run(arguments);
        assert!(!stderr(&output).contains("interrupted"), "{}", stderr(&output));
    }
    let now = String::from_utf8(scene.folder.read("site/s-1.xml")).unwrap();
    assert!(now.contains("<priority>0.5</priority>"), "{now}");
}
