//! Crafted backups: files that a restore must not write, read or remove.

use super::scene::{Scene, content};
use crate::support::{stderr, stdout};
use serde_json::{Value, json};
use std::fs;

const DATED: &str = "site/sitemap_index.xml.bak/2026-01-01T00-00-00Z";

/// Writes a crafted backup: copies with these names and contents, and the names of files to prune.
fn put_backup(scene: &Scene, files: &[(&str, &str)], absent: &[&str]) {
    for (name, bytes) in files {
        if !name.contains("..") && !name.starts_with('/') && !scene.path(DATED).join(name).exists() {
            scene.folder.write(&format!("{DATED}/{name}"), bytes);
        }
    }
    put_list(scene, files, absent);
}

fn put_list(scene: &Scene, files: &[(&str, &str)], absent: &[&str]) {
    let entry = |(name, bytes): &(&str, &str)| {
        let mut entry = content(bytes);
        entry["name"] = json!(name);
        entry
    };
    let files: Vec<Value> = files.iter().map(entry).collect();
    let list = json!({ "version": 1, "number": 1, "made": 1, "files": files, "absent": absent });
    scene.folder.write(&format!("{DATED}/.backup.json"), list.to_string());
}

type Make = fn(&Scene);

/// Modifies a backup of the user, given its dated folder.
type Modify = fn(&Scene, &str);

const FOREIGN: [(&str, Make); 20] = [
    ("a sitemap, and nothing odd", |scene| put_backup(scene, &[("s-1.xml", "evil\n")], &[])),
    ("a hook of git", |scene| put_backup(scene, &[(".git/hooks/post-checkout", "evil\n")], &[])),
    ("a hook of git that is new", |scene| put_backup(scene, &[(".git/hooks/pre-commit", "evil\n")], &[])),
    ("a hidden file", |scene| put_backup(scene, &[(".env", "evil\n")], &[])),
    ("a path that goes up", |scene| put_backup(scene, &[("../home/precious", "evil\n")], &[])),
    ("an absolute path", |scene| {
        let name = scene.path("home/precious").display().to_string();
        put_backup(scene, &[(&name, "evil\n")], &[]);
    }),
    ("a folder that is a link", |scene| {
        scene.link("../home", "site/linked");
        put_backup(scene, &[("linked/precious", "evil\n")], &[]);
    }),
    ("a new file in a folder that is a link", |scene| {
        scene.link("../home", "site/linked");
        put_backup(scene, &[("linked/new", "evil\n")], &[]);
    }),
    ("a file that is a link", |scene| {
        scene.link("../home/precious", "site/file");
        put_backup(scene, &[("file", "evil\n")], &[]);
    }),
    ("a copy that is a link to a secret", |scene| {
        put_backup(scene, &[], &[]);
        scene.link("../../../home/.ssh/authorized_keys", &format!("{DATED}/leak.xml"));
        put_list(scene, &[("leak.xml", "key\n")], &[]);
    }),
    ("a copy that is a pipe", |scene| {
        put_backup(scene, &[], &[]);
        scene.pipe(&format!("{DATED}/s-1.xml"));
        put_list(scene, &[("s-1.xml", "")], &[]);
    }),
    ("a folder of copies that is a link", |scene| {
        put_backup(scene, &[], &[]);
        scene.link("../../../home", &format!("{DATED}/in"));
        put_list(scene, &[("in/precious", "precious\n")], &[]);
    }),
    ("a prune of a file behind a link", |scene| {
        scene.link("../home", "site/linked");
        put_backup(scene, &[("s-1.xml", "evil\n")], &["linked/precious"]);
    }),
    ("a prune of a file elsewhere", |scene| put_backup(scene, &[("s-1.xml", "evil\n")], &["../home/precious"])),
    ("a prune of a hidden file", |scene| put_backup(scene, &[("s-1.xml", "evil\n")], &[".env"])),
    ("a list that is a pipe", |scene| {
        fs::create_dir_all(scene.path(DATED)).unwrap();
        scene.pipe(&format!("{DATED}/.backup.json"));
    }),
    ("a list that is a link to an endless device", |scene| {
        fs::create_dir_all(scene.path(DATED)).unwrap();
        scene.link("/dev/zero", &format!("{DATED}/.backup.json"));
    }),
    ("a dated folder that is a link", |scene| {
        put_backup(scene, &[("s-1.xml", "evil\n")], &[]);
        fs::rename(scene.path(DATED), scene.path("home/dated")).unwrap();
        scene.link("../../home/dated", DATED);
    }),
    ("a folder of backups that is a link", |scene| {
        put_backup(scene, &[("s-1.xml", "evil\n")], &[]);
        fs::rename(scene.path("site/sitemap_index.xml.bak"), scene.path("home/bak")).unwrap();
        scene.link("../home/bak", "site/sitemap_index.xml.bak");
    }),
    ("control characters in a name", |scene| put_backup(scene, &[("\u{1b}[2J.xml", "evil\n")], &["\u{1b}]0;x\u{7}"])),
];

#[test]
fn an_unauthenticated_backup_is_never_restored_without_consent_or_outside_its_folder() {
    for (name, make) in FOREIGN {
        let scene = Scene::new();
        make(&scene);
        scene.assert_read_commands_change_nothing(name);
        let before = scene.tree();
        let refused = scene.run(&["restore", "site", "--set", "latest", "--prune"]);
        assert_eq!(refused.status.code(), Some(3), "{name}: {}", stderr(&refused));
        let mut after = scene.tree();
        after.retain(|path, _| !path.starts_with(".home/state"));
        assert!(after.iter().all(|(path, node)| before.get(path) == Some(node)), "{name}");
        // With the user's consent a file of this name is written in the folder.
        if !name.contains("control") {
            scene.assert_guarded_files_unchanged(name);
        }
    }
}

/// A restore with consent writes and prunes only files in the folder of the set.
#[test]
fn a_prune_with_consent_removes_nothing_behind_links() {
    let scene = Scene::new();
    scene.link("../home", "site/linked");
    put_backup(&scene, &[("s-1.xml", "evil\n")], &["linked/precious", "notes.txt"]);
    let done = scene.run(&["restore", "site", "--set", "latest", "--prune", "--unverified"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    assert_eq!(scene.folder.read("home/precious"), b"precious\n");
    assert_eq!(scene.folder.read("site/s-1.xml"), b"evil\n");
    assert!(!scene.path("site/notes.txt").exists(), "what lies in the folder is what the user agreed to");
}

#[test]
fn an_authenticated_backup_is_restored_unless_it_was_modified_or_moved() {
    let saved = |scene: &Scene| {
        let saved = scene.run(&["set", "site", "lastmod=2026-01-01", "--backup", "always"]);
        assert_eq!(saved.status.code(), Some(0), "{}", stderr(&saved));
        let dated = stdout(&scene.run(&["restore", "site"]));
        format!("site/sitemap_index.xml.bak/{}", dated.split(' ').next().unwrap())
    };
    let restore = |scene: &Scene, site: &str| scene.run(&["restore", site, "--set", "latest"]).status.code();
    let scene = Scene::new();
    let before = scene.folder.read("site/s-1.xml");
    saved(&scene);
    assert_eq!(restore(&scene, "site"), Some(0));
    assert_eq!(scene.folder.read("site/s-1.xml"), before);
    let modifications: [(&str, Modify); 4] = [
        ("a copy of other bytes", |scene, dated| drop(scene.folder.write(&format!("{dated}/s-1.xml"), "evil\n"))),
        ("a copy of other bytes and its hash", |scene, dated| {
            scene.folder.write(&format!("{dated}/s-1.xml"), "evil\n");
            let list = format!("{dated}/.backup.json");
            let mut body: Value = serde_json::from_slice(&scene.folder.read(&list)).unwrap();
            for file in body["files"].as_array_mut().unwrap().iter_mut().filter(|file| file["name"] == "s-1.xml") {
                (file["len"], file["hash"]) = (content("evil\n")["len"].clone(), content("evil\n")["hash"].clone());
                file["digest"] = json!(blake3::hash(b"evil\n").to_hex().to_string());
            }
            scene.folder.write(&list, body.to_string());
        }),
        ("one more file to remove", |scene, dated| {
            let list = format!("{dated}/.backup.json");
            let mut body: Value = serde_json::from_slice(&scene.folder.read(&list)).unwrap();
            body["absent"].as_array_mut().unwrap().push(json!("notes.txt"));
            scene.folder.write(&list, body.to_string());
        }),
        ("no code", |scene, dated| {
            let list = format!("{dated}/.backup.json");
            let mut body: Value = serde_json::from_slice(&scene.folder.read(&list)).unwrap();
            body["code"] = json!("0".repeat(64));
            scene.folder.write(&list, body.to_string());
        }),
    ];
    for (name, modify) in modifications {
        let scene = Scene::new();
        let dated = saved(&scene);
        let after = scene.folder.read("site/s-1.xml");
        modify(&scene, &dated);
        assert_eq!(restore(&scene, "site"), Some(3), "{name}");
        assert_eq!(scene.folder.read("site/s-1.xml"), after, "{name}");
    }
    let scene = Scene::new();
    saved(&scene);
    fs::rename(scene.path("site"), scene.path("moved")).unwrap();
    assert_eq!(restore(&scene, "moved"), Some(3));
}

/// Backups without a valid list: name, function that writes them, and whether `--keep` removes them.
const INCOMPLETE: [(&str, Make, bool); 12] = [
    ("a copy", |scene| drop(scene.folder.write(&format!("{DATED}/s-1.xml"), "copy\n")), true),
    ("nothing", |scene| fs::create_dir_all(scene.path(DATED)).unwrap(), true),
    ("a copy in a folder", |scene| drop(scene.folder.write(&format!("{DATED}/in/s-1.xml"), "copy\n")), true),
    ("a second one of its second", |scene| drop(scene.folder.write(&format!("{DATED}-2/s-1.xml"), "copy\n")), true),
    ("another name", |scene| drop(scene.folder.write(&format!("{DATED}-old/s-1.xml"), "copy\n")), false),
    (
        "a name of the user",
        |scene| drop(scene.folder.write("site/sitemap_index.xml.bak/mine/s-1.xml", "copy\n")),
        false,
    ),
    (
        "a link to a folder of the user",
        |scene| {
            fs::create_dir_all(scene.path(DATED).parent().unwrap()).unwrap();
            scene.link("../../home", DATED);
        },
        false,
    ),
    (
        "a link in it",
        |scene| {
            scene.folder.write(&format!("{DATED}/s-1.xml"), "copy\n");
            scene.link("../../../home", &format!("{DATED}/home"));
        },
        false,
    ),
    (
        "a pipe in it",
        |scene| {
            fs::create_dir_all(scene.path(DATED)).unwrap();
            scene.pipe(&format!("{DATED}/pipe"));
        },
        false,
    ),
    ("too deep", |scene| drop(scene.folder.write(&format!("{DATED}/{}s-1.xml", "d/".repeat(70)), "copy\n")), false),
    ("a list that is damaged", |scene| drop(scene.folder.write(&format!("{DATED}/.backup.json"), "{")), false),
    (
        "a folder of backups that is a link",
        |scene| {
            scene.folder.write("home/bak/2026-01-01T00-00-00Z/s-1.xml", "copy\n");
            scene.link("../home/bak", "site/sitemap_index.xml.bak");
        },
        false,
    ),
];

#[test]
fn an_incomplete_backup_is_reported_and_removed_only_if_the_program_made_it() {
    for (name, make, is_removed) in INCOMPLETE {
        let scene = Scene::new();
        make(&scene);
        let before = scene.tree();
        let listed = stderr(&scene.run(&["restore", "site"]));
        assert_eq!(scene.tree(), before, "{name}");
        let is_behind_link = name.contains("is a link") || name.contains("a link to");
        assert!(is_behind_link || listed.contains("--keep"), "{name}: {listed}");
        assert_eq!(listed.contains("--keep removes it"), is_removed, "{name}: {listed}");
        let pruned = scene.run(&["restore", "site", "--keep", "5"]);
        assert_eq!(pruned.status.code(), Some(0), "{name}: {}", stderr(&pruned));
        assert_eq!(stderr(&pruned).contains("removed "), is_removed, "{name}: {}", stderr(&pruned));
        let mut after = scene.tree();
        after.retain(|path, _| !path.starts_with(".home/state"));
        let is_gone = |path: &&std::path::PathBuf| !path.starts_with(".home") && !after.contains_key(*path);
        let removed: Vec<_> = before.keys().filter(is_gone).collect();
        assert_eq!(!removed.is_empty(), is_removed, "{name}: {removed:?}");
        assert!(removed.iter().all(|path| path.starts_with("site/sitemap_index.xml.bak")), "{name}: {removed:?}");
        assert_eq!(scene.path("site/sitemap_index.xml.bak").exists(), !is_removed, "{name}");
    }
    let scene = Scene::new();
    scene.folder.write(&format!("{DATED}/s-1.xml"), "copy\n");
    scene.change_owner(&format!("{DATED}/s-1.xml"));
    if scene.path(&format!("{DATED}/s-1.xml")).exists() {
        assert!(stderr(&scene.run(&["restore", "site", "--keep", "0"])).contains("belongs to another user"));
        assert!(scene.path(&format!("{DATED}/s-1.xml")).exists());
    }
}
