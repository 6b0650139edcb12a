//! Tests of `sited dates`: dates of source files from Git, the file system and HTTP.

use crate::support::{Folder, environment, program, stderr, stdout};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Output};

fn sitemap(folder: &Folder, paths: &[&str]) {
    let mut text = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
    for path in paths {
        writeln!(text, "<url><loc>https://e.com{path}</loc><lastmod>2020-01-01</lastmod></url>").unwrap();
    }
    folder.write("sitemap.xml", text + "</urlset>\n");
}

/// The search path of this process, so that Git is found.
fn path_variable() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}

fn git(folder: &Path, arguments: &[&str], day: u32) -> Output {
    let mut command = Command::new("git");
    command.env_clear().envs(environment(folder)).env("PATH", path_variable()).env("GIT_CONFIG_NOSYSTEM", "1");
    let date = format!("2024-05-{day:02}T10:00:00+02:00");
    command.env("GIT_COMMITTER_DATE", &date).env("GIT_AUTHOR_DATE", "2000-01-01T00:00:00Z");
    let name = ["-c", "user.name=n", "-c", "user.email=n@e.com", "-c", "init.defaultBranch=main"];
    let output = command.current_dir(folder).args(name).args(arguments).output().expect("start git");
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    output
}

/// Commits all files.
fn commit(folder: &Folder, day: u32) {
    git(folder.path(), &["add", "--all", "site"], day);
    git(folder.path(), &["commit", "--quiet", "--message", "x"], day);
}

fn sited_with_variables(
    folder: &Folder,
    arguments: &[&str],
    variables: &[(&str, OsString)],
) -> (Option<i32>, String, String) {
    let mut command = Command::new(program());
    command.env_clear().envs(environment(folder.path())).env("PATH", path_variable());
    command.envs(variables.iter().map(|(name, value)| (name, value))).args(arguments).current_dir(folder.path());
    let output = command.output().expect("start the program");
    (output.status.code(), stdout(&output), stderr(&output))
}

fn sited(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String, String) {
    sited_with_variables(folder, arguments, &[])
}

/// URL path, day of May 2024 and source of each line.
fn days(lines: &str) -> Vec<(String, String, String)> {
    let text = |value: &serde_json::Value, name: &str| value[name].as_str().unwrap().to_owned();
    lines
        .lines()
        .map(|line| {
            crate::outputs::assert_matches_schema("dates", line);
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let day = text(&value, "modified").replace("2024-05-", "").replace("T08:00:00Z", "");
            (text(&value, "url").replace("https://e.com", ""), day, text(&value, "source"))
        })
        .collect()
}

/// A repository whose files were changed on different days, one by a merge.
fn site() -> Folder {
    let folder = Folder::new();
    git(folder.path(), &["init", "--quiet"], 1);
    for name in ["a.md", "b c.md", "1714550400.md", "line\nbreak.md", "\nfirst.md", "gone.md", "sub/index.md"] {
        folder.write(&format!("site/content/{name}"), "1");
    }
    let non_utf_8_path = folder.file("site/content").join(OsStr::from_bytes(b"odd-\xff.md"));
    std::fs::write(non_utf_8_path, "1").unwrap();
    folder.write("site/public/index.html", "1");
    commit(&folder, 1);
    folder.write("site/content/a.md", "2");
    commit(&folder, 2);
    git(folder.path(), &["checkout", "--quiet", "-b", "branch", "HEAD~1"], 3);
    folder.write("site/content/b c.md", "2");
    commit(&folder, 3);
    git(folder.path(), &["checkout", "--quiet", "main"], 4);
    git(folder.path(), &["merge", "--quiet", "--no-edit", "branch"], 4);
    git(folder.path(), &["mv", "site/content/gone.md", "site/content/moved.md"], 5);
    commit(&folder, 5);
    // An uncommitted file has no date, and an uncommitted change does not affect a date.
    folder.write("site/content/new.md", "1");
    folder.write("site/content/a.md", "3");
    folder
}

#[test]
fn each_page_has_the_time_of_the_last_commit_of_its_source() {
    let folder = site();
    let paths = [
        "/a/",
        "/b%20c",
        "/1714550400/",
        "/line%0Abreak",
        "/%0Afirst",
        "/odd-%FF/",
        "/gone/",
        "/moved/",
        "/sub/",
        "/new/",
        "/a",
        "/x/",
        "/y/",
        "/",
    ];
    sitemap(&folder, &paths);
    let (status, out, notes) = sited(&folder, &["dates", "sitemap.xml", "--git", "site"]);
    assert_eq!(status, Some(0), "{notes}");
    let line = |path: &str, day: &str, source: &str| (path.to_owned(), day.to_owned(), format!("content/{source}"));
    let expected = [
        line("/a/", "02", "a.md"),
        line("/b%20c", "03", "b c.md"),
        line("/1714550400/", "01", "1714550400.md"),
        line("/line%0Abreak", "01", "line\nbreak.md"),
        line("/%0Afirst", "01", "\nfirst.md"),
        line("/odd-%FF/", "01", "odd-\u{fffd}.md"),
        line("/moved/", "05", "moved.md"),
        line("/sub/", "01", "sub/index.md"),
        line("/a", "02", "a.md"),
        ("/".to_owned(), "01".to_owned(), "public/index.html".to_owned()),
    ];
    assert_eq!(days(&out), expected);
    assert!(notes.contains("10 of 14 URLs dated\n"), "{notes}");
    assert!(notes.contains("no source: https://e.com/gone/\nno source: https://e.com/new/\n"), "{notes}");
    // The dates are written to a file, and from there to the sitemap.
    let arguments = ["dates", "sitemap.xml", "--git", "site", "-o", "dates.jsonl", "--quiet"];
    assert_eq!(sited(&folder, &arguments), (Some(0), String::new(), String::new()));
    assert_eq!(folder.text("dates.jsonl"), out);
    assert_eq!(sited(&folder, &arguments).0, Some(0), "its own file is replaced");
    let set = ["set", "sitemap.xml", "lastmod=@modified", "--data", "dates.jsonl", "--where", "@modified!=lastmod"];
    let (status, _, notes) = sited(&folder, &set);
    assert!(status == Some(0) && notes.contains("10"), "{notes}");
    let text = folder.text("sitemap.xml");
    assert!(text.contains("/b%20c</loc><lastmod>2024-05-03T08:00:00Z</lastmod>"), "{text}");
    assert!(text.contains("/gone/</loc><lastmod>2020-01-01</lastmod>"), "{text}");
    let (status, _, notes) = sited(&folder, &[&set[..], &["--check"]].concat());
    assert_eq!(status, Some(0), "{notes}");
}

#[test]
fn a_repository_without_its_history_is_refused() {
    let folder = site();
    sitemap(&folder, &["/a/"]);
    let origin = format!("file://{}", folder.path().display());
    git(folder.path(), &["clone", "--quiet", "--depth", "1", &origin, "shallow"], 6);
    git(folder.path(), &["init", "--quiet", "fresh"], 6);
    let outside = Folder::new();
    let outside = outside.path().to_str().unwrap();
    for (arguments, expected) in [
        (["--git", "shallow/site"], "hint: get the whole history: git fetch --unshallow"),
        (["--git", "fresh"], "the repository has no commit"),
        (["--git", outside], "not in a Git repository\nhint: name a folder of the repository"),
        (["--git", "none"], "none: there is no such folder"),
        (["--mtime", "none"], "none: there is no such folder"),
        (["--mtime", "sitemap.xml"], "sitemap.xml: there is no such folder"),
    ] {
        let (status, out, notes) =
            sited(&folder, &[&["dates", "sitemap.xml", "-o", "dates.jsonl"], &arguments[..]].concat());
        assert_eq!((status, out.as_str()), (Some(3), ""), "{arguments:?}: {notes}");
        assert!(notes.contains(expected), "{arguments:?}: {notes}");
        assert!(!folder.file("dates.jsonl").exists());
    }
    let nowhere = [("PATH", OsString::from(outside))];
    let (status, _, notes) = sited_with_variables(&folder, &["dates", "sitemap.xml", "--git", "site"], &nowhere);
    assert_eq!(status, Some(3), "{notes}");
    assert!(notes.contains("cannot start git: there is no such program\nhint: install Git"), "{notes}");
}

/// The settings of a repository that was copied from elsewhere are not trusted.
#[test]
fn no_setting_of_a_repository_runs_a_program_or_fetches() {
    let folder = site();
    sitemap(&folder, &["/a/"]);
    let script = folder.write("program", format!("#!/bin/sh\ntouch '{}'\n", folder.file("marker").display()));
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for name in ["core.fsmonitor", "diff.external", "core.pager", "pager.log", "gpg.program", "diff.x.textconv"] {
        git(folder.path(), &["config", name, script], 6);
    }
    for name in ["core.sshCommand", "core.gitProxy", "core.askPass", "core.editor", "alias.log", "diff.x.command"] {
        git(folder.path(), &["config", name, script], 6);
    }
    git(folder.path(), &["config", "log.showSignature", "true"], 6);
    git(folder.path(), &["config", "diff.relative", "false"], 6);
    git(folder.path(), &["config", "log.showRoot", "false"], 6);
    git(folder.path(), &["config", "color.ui", "always"], 6);
    folder.write(".git/info/attributes", "* diff=x\n");
    let arguments = ["dates", "sitemap.xml", "--git", "site"];
    let expected = "{\"url\":\"https://e.com/a/\",\"modified\":\"2024-05-02T08:00:00Z\",\"source\":\"content/a.md\"}\n";
    assert_eq!(sited(&folder, &arguments), (Some(0), expected.to_owned(), "1 of 1 URL dated\n".to_owned()));
    // Environment variables set by a hook or a script do not redirect Git to another repository.
    let other = Folder::new();
    let variables = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF"];
    let variables = variables.map(|name| (name, other.path().as_os_str().to_owned()));
    assert_eq!(sited_with_variables(&folder, &arguments, &variables).1, expected);
    // Git would fetch the missing tree of a partial clone.
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{script}")),
        ("remote.origin.uploadPack", script),
        ("protocol.ext.allow", "always"),
    ] {
        git(folder.path(), &["config", name, value], 6);
    }
    let tree = git(folder.path(), &["rev-parse", "HEAD~1^{tree}"], 6).stdout;
    let tree = String::from_utf8(tree).unwrap();
    let (first, rest) = tree.trim().split_at(2);
    std::fs::remove_file(folder.file(".git/objects").join(first).join(rest)).unwrap();
    sitemap(&folder, &["/sub/"]);
    let (status, out, notes) = sited(&folder, &arguments);
    assert_eq!((status, out.as_str()), (Some(3), ""), "{notes}");
    assert!(notes.contains("site: git failed: "), "{notes}");
    assert!(!folder.file("marker").exists());
}

#[test]
fn urls_without_a_source_are_counted_and_a_mapping_without_matches_is_an_error() {
    let folder = Folder::new();
    let paths: Vec<String> = (0..9).map(|n| format!("/p{n}")).collect();
    sitemap(&folder, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    folder.write("site/p0.html", "x");
    folder.write("site/text/p1.md", "x");
    let arguments = ["dates", "sitemap.xml", "--mtime", "site"];
    let (status, out, notes) = sited(&folder, &arguments);
    assert_eq!((status, out.lines().count()), (Some(0), 1), "{notes}");
    assert!(notes.starts_with("1 of 9 URLs dated\nno source: https://e.com/p1\n"), "{notes}");
    assert!(notes.ends_with("p5\nno source: 3 more URLs; --all names them\n"), "{notes}");
    let map = ["--map", "/* = text/*.md", "--map", "/* = *.html", "--all"];
    let (status, out, notes) = sited(&folder, &[&arguments[..], &map].concat());
    assert_eq!((status, out.lines().count(), notes.matches("no source: ").count()), (Some(0), 2, 7), "{notes}");
    let (status, out, _) = sited(&folder, &[&arguments[..], &map, &["--where", "loc:p1"]].concat());
    assert!(status == Some(0) && out.contains("\"source\":\"text/p1.md\""), "{out}");
    for (extra, status, expected) in [
        (
            &["--map", "/* = none/*.md", "-o", "out"][..],
            3,
            "none of 9 URLs has a source in site\nhint: name the folder",
        ),
        (&["--map", "/* = ../*"], 2, "\"/* = ../*\": the path is relative to the folder and does not leave it"),
        (&["-o", "sitemap.xml"], 2, "was not written by sited dates; it is not replaced"),
        (&["--git"], 2, "cannot be used with"),
    ] {
        let before = folder.files();
        let (found, out, notes) = sited(&folder, &[&arguments[..], extra].concat());
        assert_eq!((found, out.as_str()), (Some(status), ""), "{extra:?}: {notes}");
        assert!(notes.contains(expected), "{extra:?}: {notes}");
        assert_eq!(folder.files(), before, "{extra:?}");
    }
    let (status, _, notes) = sited(&folder, &["dates", "sitemap.xml"]);
    assert!(status == Some(2) && notes.contains("--git"), "{notes}");
}

#[test]
fn the_path_of_a_source_folder_may_be_invalid_utf_8() {
    let folder = Folder::new();
    sitemap(&folder, &["/a"]);
    let name = OsString::from_vec(b"odd-\xff".to_vec());
    std::fs::create_dir(folder.path().join(&name)).unwrap();
    std::fs::write(folder.path().join(&name).join("a.html"), "x").unwrap();
    let mut command = Command::new(program());
    command.env_clear().envs(environment(folder.path())).current_dir(folder.path());
    let output = command.args([OsStr::new("dates"), OsStr::new("sitemap.xml"), OsStr::new("--mtime"), &name]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("\"source\":\"a.html\""));
}

#[cfg(feature = "net")]
#[test]
fn dates_are_requested_from_the_pages_of_the_site() {
    use crate::support::server::{Reply, Server};
    let server = Server::start(|seen| match seen.path.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/\n"),
        "/moved" => Reply::redirect(301, "/a"),
        "/gone" => Reply::status(404).with("Last-Modified", "Wed, 01 May 2024 08:00:00 GMT"),
        "/undated" => Reply::html(""),
        path => {
            let day = if path == "/a" { "Fri, 03" } else { "Sat, 04" };
            Reply::html("<title>x</title>").with("Last-Modified", &format!("{day} May 2024 08:00:00 GMT"))
        }
    });
    let folder = Folder::new();
    let paths = ["/a", "/b", "/moved", "/gone", "/undated", "/private/x", "/a"];
    let mut text = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
    for path in paths {
        writeln!(text, "<url><loc>{}</loc><lastmod>2020-01-01</lastmod></url>", server.url(path)).unwrap();
    }
    folder.write("sitemap.xml", text + "</urlset>\n");
    let arguments = ["dates", "sitemap.xml", "--http", "-o", "dates.jsonl"];
    // The command is refused before a request is sent, as for a probe; and only --http sends requests.
    let (status, _, notes) = sited(&folder, &arguments);
    assert!(status == Some(2) && notes.contains("--allow-private"), "{notes}");
    let (status, _, notes) = sited(&folder, &["dates", "sitemap.xml", "--mtime", ".", "--rate", "1"]);
    assert!(status == Some(2) && notes.contains("--rate needs --http"), "{notes}");
    assert!(server.log().is_empty() && !folder.file("dates.jsonl").exists());
    let (status, _, notes) = sited(&folder, &[&arguments[..], &["--allow-private", "--rate", "0"]].concat());
    assert_eq!(status, Some(0), "{notes}");
    assert!(notes.contains("3 of 6 URLs dated") && notes.contains("no date: "), "{notes}");
    let host = server.url("");
    let mut found = days(&folder.text("dates.jsonl"));
    found.sort();
    let found: Vec<_> = found
        .iter()
        .map(|(url, day, source)| (url.replace(&host, ""), day.as_str(), source.replace(&host, "")))
        .collect();
    let line = |url: &str, day, source: &str| (url.to_owned(), day, source.to_owned());
    assert_eq!(found, [line("/a", "03", "/a"), line("/b", "04", "/b"), line("/moved", "03", "/a")]);
    let requests = server.log();
    assert!(requests.iter().all(|seen| seen.method == if seen.path == "/robots.txt" { "GET" } else { "HEAD" }));
    assert!(!server.paths().contains(&"/private/x".to_owned()));
    // The dates can be applied like other dates.
    let (status, _, notes) = sited(
        &folder,
        &["set", "sitemap.xml", "lastmod=@modified", "--data", "dates.jsonl", "--where", "@modified!=lastmod"],
    );
    assert_eq!(status, Some(0), "{notes}");
    assert_eq!(folder.text("sitemap.xml").matches("2024-05-0").count(), 4, "{}", folder.text("sitemap.xml"));
}
