//! Fixes old and broken real-world sitemaps in a terminal: opened, fixed with one key, saved.
//!
//! The results are valid under the schema of the current protocol and keep every URL.

use crate::support::schema;
use crate::support::terminal::Start;
use crate::support::{Folder, run, stdout};
use schema::{Judge, schemas};
use std::path::PathBuf;

/// One sitemap of each kind, written for this test: file name, text and URLs.
const DOCUMENTS: [(&str, &str, &[&str]); 4] = [
    (
        "legacy.xml",
        "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.google.com/schemas/sitemap/0.84\">\n  <url>\n    \
         <priority>0.4</priority>\n    <lastmod>2006-02-03T04:05+01:00</lastmod>\n    <loc>http://e.com/a</loc>\n  \
         </url>\n  <url><loc>http://e.com/b</loc></url>\n</urlset>\n",
        &["http://e.com/a", "http://e.com/b"],
    ),
    (
        "ampersand.xml",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<url><loc>http://e.com/?a=1&b=2</loc></url>\n\
         <url><loc>http://e.com/?a=1&amp;c=3</loc><changefreq>daily</changefreq></url>\n</urlset>\n",
        &["http://e.com/?a=1&b=2", "http://e.com/?a=1&c=3"],
    ),
    (
        "video.xml",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"\n  \
         xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\">\n<url>\n  <loc>http://e.com/a</loc>\n  \
         <video:video>\n    <video:content_loc>http://e.com/a.mp4</video:player_loc>\n    <video:title>A</video:title>\n    \
         <video:thumbnail_loc>http://e.com/a.jpg</video:thumbnail_loc>\n    \
         <video:description>B</video:description>\n  </video:video>\n</url>\n</urlset>\n",
        &["http://e.com/a"],
    ),
    (
        "attribute.xml",
        "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"no\"?>\n\
         <urlset ns=\"http://www.google.com/schemas/sitemap/0.84\">\n  <url>\n    <loc>http://e.com/a.html</loc>\n    \
         <lastmod>2007-03-01</lastmod>\n    <changefreq>always</changefreq>\n    <priority>0.8</priority>\n  </url>\n\
         </urlset>\n",
        &["http://e.com/a.html"],
    ),
];

/// Opens a file in the editor, fixes all safe findings with one key, and saves. If `is_guess`, a repair of broken
/// markup was a guess, which needs the user's consent.
fn fix_and_save(folder: &Folder, name: &str, urls: &str, is_guess: bool) {
    let terminal = Start::new(folder).size(100, 30).arguments(["--now", "2026-11-20T10:14:07Z", name]).start();
    terminal.wait_for(urls);
    terminal.send("gX");
    terminal.wait_for("%fix safe");
    terminal.send("\r");
    terminal.wait_for("modified");
    terminal.send(":wq\r");
    if is_guess {
        terminal.wait_for("was damaged; saving will write these repairs");
        terminal.send("\r");
    }
    assert!(terminal.wait_exit().success(), "{}", terminal.screen());
    terminal.assert_restored();
}

fn count_label(urls: usize) -> String {
    if urls == 1 { "1 URL".to_owned() } else { format!("{urls} URLs") }
}

#[test]
fn one_key_fixes_real_files() {
    let judge = schemas().map(|folder| Judge::new(&folder));
    for (name, text, urls) in DOCUMENTS {
        let folder = Folder::new();
        folder.write(name, text);
        fix_and_save(&folder, name, &count_label(urls.len()), name.contains("video"));
        let listed = stdout(&run(&folder, &["list", name]));
        assert_eq!(listed.lines().collect::<Vec<_>>(), urls, "{name}");
        if let Some(judge) = &judge {
            assert_eq!(judge.faults_of(&folder.path().join(name)), [""; 0], "{name}: {}", folder.text(name));
        }
        let checked = run(&folder, &["check", name]);
        assert_eq!(checked.status.code(), Some(0), "{name}: {}", stdout(&checked));
    }
}

/// The documents that this project started from; they are in the folder `seeds` of `SITED_CORPUS`.
#[test]
fn one_key_fixes_the_seed_documents() {
    let Some(corpus) = std::env::var_os("SITED_CORPUS").map(PathBuf::from) else {
        eprintln!("SITED_CORPUS names no folder: the first documents were NOT tried");
        return;
    };
    let judge = schemas().map(|folder| Judge::new(&folder));
    let documents = [
        ("google-0.84.xml", 2),
        ("protocol-raw-ampersand.xml", 5),
        ("google-broken-video.xml", 1),
        ("papaya-ns-attribute.xml", 5),
    ];
    for (name, urls) in documents {
        let folder = Folder::new();
        folder.write(name, std::fs::read(corpus.join("seeds").join(name)).expect("a document of the corpus"));
        let before = stdout(&run(&folder, &["list", name]));
        assert_eq!(before.lines().count(), urls, "{name}");
        fix_and_save(&folder, name, &count_label(urls), name.contains("video"));
        assert_eq!(stdout(&run(&folder, &["list", name])), before, "{name}: a URL changed");
        if let Some(judge) = &judge {
            assert_eq!(judge.faults_of(&folder.path().join(name)), [""; 0], "{name}: {}", folder.text(name));
        }
    }
}
