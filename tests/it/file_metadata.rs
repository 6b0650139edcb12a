//! Tests that a save keeps links, owner, mode and access lists, and refuses targets that are not regular files.
//!
//! Verifies the promises "links stay", "nothing becomes more readable" and "pipes, devices and read-only files".

use crate::support::{Folder, environment, program, run, stderr};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const TEXT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
    <url><loc>https://example.com/1</loc><priority>0.1</priority></url>\n</urlset>\n";

/// The arguments of a save of one file.
const SET: [&str; 3] = ["set", "sitemap.xml", "priority=0.8"];

fn changed_text() -> String {
    TEXT.replace("0.1<", "0.8<")
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs the program as a user other than root, with this umask.
fn run_as_user(folder: &Folder, arguments: &[&str], umask: &str) -> Output {
    let script = format!("umask {umask} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(linked_program(folder)).args(arguments);
    command.current_dir(folder.path()).env_clear().envs(environment(folder.path())).stdin(Stdio::null());
    if is_root() {
        for path in [folder.file(""), folder.file(".home"), folder.file(".home/state")] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    command.output().expect("start a shell")
}

/// The id of the user `nobody`.
const NOBODY: u32 = 65_534;

/// A link to or copy of the program that every user can execute: the build folder may be private to its owner.
fn linked_program(folder: &Folder) -> std::path::PathBuf {
    let path = folder.file(".home/sited");
    if !path.exists() {
        fs::hard_link(program(), &path).or_else(|_| fs::copy(program(), &path).map(drop)).unwrap();
    }
    path
}

#[test]
fn a_chain_of_five_links_is_kept_and_its_target_is_replaced() {
    let folder = Folder::with(&[("far/away/real.xml", TEXT)]);
    let chain = [
        ("far/1", "away/real.xml".to_owned()),
        ("2", "far/1".to_owned()),
        ("far/3", folder.file("2").display().to_string()),
        ("4", "./far/../far/3".to_owned()),
        ("sitemap.xml", "4".to_owned()),
    ];
    for (link, to) in &chain {
        symlink(to, folder.file(link)).unwrap();
    }
    let output = run(&folder, &SET);
    assert!(output.status.success(), "{}", stderr(&output));
    for (link, to) in &chain {
        assert_eq!(fs::read_link(folder.file(link)).unwrap(), Path::new(to), "{link}");
    }
    assert_eq!(folder.text("far/away/real.xml"), changed_text());
    assert_eq!(folder.names().len(), 6, "{:?}", folder.names());
}

#[test]
fn dangling_and_circular_links_are_reported_with_a_hint() {
    let folder = Folder::with(&[("sitemap.xml", TEXT)]);
    symlink("gone/file.xml", folder.file("dangling.xml")).unwrap();
    symlink("b.xml", folder.file("a.xml")).unwrap();
    symlink("a.xml", folder.file("b.xml")).unwrap();
    for (name, why) in [("dangling.xml", "not there"), ("a.xml", "back to itself")] {
        let output = run(&folder, &["set", "sitemap.xml", "priority=0.8", "-o", name]);
        let notes = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{notes}");
        assert!(notes.contains(name) && notes.contains(why) && notes.contains("hint: "), "{notes}");
        // Opening such a link gives the error for a missing file.
        assert_eq!(run(&folder, &["set", name, "priority=0.8"]).status.code(), Some(3));
        assert!(fs::symlink_metadata(folder.file(name)).unwrap().is_symlink());
    }
    assert_eq!(folder.text("sitemap.xml"), TEXT);
}

#[test]
fn pipes_devices_and_folders_are_never_replaced() {
    let folder = Folder::with(&[("sitemap.xml", TEXT)]);
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, folder.file("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    fs::create_dir(folder.file("folder")).unwrap();
    symlink("/dev/null", folder.file("null")).unwrap();
    for name in ["pipe", "folder", "null"] {
        let output = run(&folder, &["set", "sitemap.xml", "priority=0.8", "-o", name]);
        let notes = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{notes}");
        assert!(notes.contains("never replaced") && notes.contains("hint: "), "{notes}");
    }
    assert!(fs::metadata(folder.file("pipe")).unwrap().file_type().is_fifo());
    assert!(fs::metadata(folder.file("null")).unwrap().file_type().is_char_device());
    assert!(folder.file("folder").is_dir());
}

#[test]
fn read_only_files_and_folders_are_refused_with_a_hint() {
    let folder = Folder::with(&[("sitemap.xml", TEXT), ("locked/sitemap.xml", TEXT)]);
    fs::set_permissions(folder.file("sitemap.xml"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.file("locked/sitemap.xml"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(folder.file("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    for (path, why) in [("sitemap.xml", "read-only"), ("locked/sitemap.xml", "folder is read-only")] {
        let output = run_as_user(&folder, &["set", path, "priority=0.8"], "022");
        let notes = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{notes}");
        assert!(notes.contains(why) && notes.contains("-o OUT") && notes.contains("chmod u+w"), "{notes}");
        assert_eq!(folder.text(path), TEXT);
    }
    let output = run_as_user(&folder, &["set", "locked/sitemap.xml", "priority=0.8", "-o", "elsewhere.xml"], "022");
    assert!(output.status.success(), "the way out is one: {}", stderr(&output));
    fs::set_permissions(folder.file("locked"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_mode_is_kept_under_every_umask() {
    for (mode, umask) in [(0o600, "000"), (0o640, "000"), (0o664, "077"), (0o755, "022"), (0o2664, "000")] {
        let folder = Folder::with(&[(
            "sitemap.xml",
            &TEXT.replace("</urlset>", "<url><loc>https://example.com/2</loc></url>\n</urlset>"),
        )]);
        let path = folder.file("sitemap.xml");
        if is_root() {
            std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let output = run_as_user(&folder, &SET, umask);
        assert!(output.status.success(), "{mode:o} {umask}: {}", stderr(&output));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode, "{umask}");
    }
}

#[test]
fn the_owner_is_kept() {
    if !is_root() {
        eprintln!("NOT TESTED: files of another owner; only root can make one");
        return;
    }
    let folder = Folder::with(&[("sitemap.xml", TEXT)]);
    let path = folder.file("sitemap.xml");
    std::os::unix::fs::chown(&path, Some(1_234), Some(4_321)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(run(&folder, &SET).status.success());
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o7777), (1_234, 4_321, 0o640));
    assert_eq!(folder.text("sitemap.xml"), changed_text());
    // A user who may write the file but not change its owner overwrites it in place, so the inode stays.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let before = fs::metadata(&path).unwrap();
    let output = run_as_user(&folder, &["set", "sitemap.xml", "priority=0.9"], "022");
    assert!(output.status.success(), "{}", stderr(&output));
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.ino(), after.uid(), after.gid()), (before.ino(), 1_234, 4_321));
    assert!(folder.text("sitemap.xml").contains("0.9<"));
    assert_eq!(folder.names(), ["sitemap.xml"]);
}

/// A POSIX access control list in its stored form: the owner and one user may read, the group may not.
fn access_list() -> Vec<u8> {
    // Version 2, then tag, permissions and id of each (linux/posix_acl_xattr.h).
    let none = u32::MAX;
    let entries = [(0x01_u16, 6_u16, none), (0x02, 4, 1_234), (0x04, 0, none), (0x10, 4, none), (0x20, 0, none)];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

#[test]
fn attributes_and_access_lists_are_kept_and_none_is_added() {
    const LIST: &str = "system.posix_acl_access";
    let folder = Folder::with(&[("sitemap.xml", TEXT), ("plain.xml", TEXT)]);
    let path = folder.file("sitemap.xml");
    let set = xattr::set(&path, "user.sited.test", b"kept").and_then(|()| xattr::set(&path, LIST, &access_list()));
    if let Err(error) = set {
        eprintln!("NOT TESTED: this file system has no attributes or access lists: {error}");
        return;
    }
    // New files in this folder inherit a default list, which must not be added to a file without a list.
    xattr::set(folder.path(), "system.posix_acl_default", &access_list()).unwrap();
    let mode = fs::metadata(&path).unwrap().mode();
    assert!(run(&folder, &SET).status.success());
    assert!(run(&folder, &["set", "plain.xml", "priority=0.8"]).status.success());
    assert_eq!(folder.text("sitemap.xml"), changed_text());
    assert_eq!(xattr::get(&path, "user.sited.test").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(xattr::get(&path, LIST).unwrap(), Some(access_list()));
    assert_eq!(fs::metadata(&path).unwrap().mode(), mode);
    assert_eq!(xattr::get(folder.file("plain.xml"), LIST).unwrap(), None);
}
