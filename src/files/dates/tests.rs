//! Tests of source maps: by patterns, in usual layouts, and never outside of the folder.

use super::*;
use std::collections::BTreeMap;
use std::fs;

/// Files with the same time each.
#[derive(Default)]
struct Files(BTreeMap<Vec<u8>, i64>);

impl SourceFiles for Files {
    fn has_folder(&self, path: &str) -> bool {
        self.0.keys().any(|file| file.starts_with(path.as_bytes()))
    }

    fn modified(&mut self, path: &[u8]) -> Option<i64> {
        assert!(relative_path(path).is_some(), "{path:?}");
        self.0.get(path).copied()
    }

    fn posts(&mut self, folder: &[u8], name: &[u8]) -> Vec<Vec<u8>> {
        let mut index = posts::PostIndex::default();
        let inside = self.0.keys().filter_map(|file| file.strip_prefix(folder)?.strip_prefix(b"/"));
        inside.for_each(|name| index.add(name));
        index.named(name)
    }
}

/// The sources of URLs below `https://e.com/`, which may be any of these files.
fn sources(maps: &[&str], files: &[&str], urls: &[&str]) -> Vec<Option<String>> {
    let files = Files(files.iter().map(|file| (file.as_bytes().to_vec(), 1_714_521_600)).collect());
    let patterns = SourceMap::parse(maps).unwrap().patterns.into_iter();
    let patterns = patterns.filter(|pattern| pattern.applies(|path| files.has_folder(path))).collect();
    let mut dates = Dates { files: Box::new(files), patterns };
    let whole = |url: &str| if url.contains("://") { url.to_owned() } else { format!("https://e.com{url}") };
    urls.iter().map(|url| dates.find(&whole(url)).map(|found| found.source)).collect()
}

fn source(maps: &[&str], files: &[&str], url: &str) -> Option<String> {
    sources(maps, files, &[url]).remove(0)
}

#[test]
fn usual_layouts_need_no_mapping() {
    for (url, file) in [
        ("/", "content/_index.md"),
        ("/about/", "content/about.md"),
        ("/blog/a/", "content/blog/a/index.md"),
        ("/blog/", "content/blog/_index.md"),
        ("/blog/a", "src/content/blog/a.mdx"),
        ("/", "src/pages/index.astro"),
        ("/about", "src/pages/about/index.md"),
        ("/about", "pages/about.tsx"),
        ("/about", "pages/about/index.jsx"),
        ("/", "app/page.tsx"),
        ("/a/b", "src/app/a/b/page.mdx"),
        ("/2024/05/01/hello.html", "_posts/2024-05-01-hello.md"),
        ("/blog/hello/", "_posts/2024-05-01-hello.markdown"),
        ("/guide/", "docs/guide.md"),
        ("/guide", "docs/guide/README.md"),
        ("/about.html", "about.md"),
        ("/", "index.html"),
        ("/index.html", "index.html"),
        ("/a/", "a/index.html"),
        ("/a.html", "public/a.html"),
        ("/img/x.png", "public/img/x.png"),
        ("/caf%C3%A9/", "content/café.md"),
    ] {
        assert_eq!(source(&[], &[file], url).as_deref(), Some(file), "{url}");
    }
    for (url, file) in [
        ("/", ".md"),
        ("/", "content/.md"),
        ("/a?x=1", "a.html"),
        ("/2023/05/01/hello.html", "_posts/2024-05-01-hello.md"),
        ("/a%2Fb", "a/b.html"),
        ("/a/%2e%2e/b", "b.html"),
        ("/a/../b", "b.html"),
        ("/a%00", "a"),
        ("nonsense://", "nonsense:"),
    ] {
        assert_eq!(source(&[], &[file], url), None, "{url}");
    }
}

#[test]
fn mappings_are_tried_in_their_order() {
    let files = ["content/blog/a.md", "content/blog/a/b.md", "posts/7.md", "x/en/a.md", "data/all.json", "p/a/c.tsx"];
    for (map, url, expected) in [
        ("/blog/* = content/blog/*.md", "/blog/a/", Some("content/blog/a.md")),
        ("/blog/*/ = ./content/blog/*.md", "/blog/a", Some("content/blog/a.md")),
        ("/blog/* = content/blog/*.md", "/blog/a/b", None),
        ("/blog/**=content/blog/**.md", "/blog/a/b", Some("content/blog/a/b.md")),
        ("/**/blog/* = content/blog/*/*.md", "/a/blog/b", Some("content/blog/a/b.md")),
        ("/** = content/{path}.md", "/blog/a", Some("content/blog/a.md")),
        ("/*.html = x/en/*.md", "/a.html", Some("x/en/a.md")),
        ("/* = x/en/{page}.md", "/a.html", Some("x/en/a.md")),
        ("/*/* = x/{name}/*.md", "/a/en", Some("x/en/a.md")),
        ("/shop/** = data/all.json", "/shop/1/2", Some("data/all.json")),
        ("/post?id=* = posts/*.md", "/post?id=7", Some("posts/7.md")),
        ("/post = posts/7.md", "/post?id=8", None),
        ("/* = p/*/{b,c}.{ts,tsx}", "/a", Some("p/a/c.tsx")),
        ("https://E.com/* = posts/*.md", "/7", Some("posts/7.md")),
        ("https://other.org/* = posts/*.md", "/7", None),
        ("/%37 = posts/7.md", "/7", Some("posts/7.md")),
        ("/b.a = posts/7.md", "/bxa", None),
        ("/a* = posts/*.md", "/a", None),
        // A part of a segment may become `..` elsewhere.
        ("/x* = posts/.*", "/x.", None),
        ("/x* = posts/*", "/x..", None),
    ] {
        assert_eq!(source(&[map], &files, url).as_deref(), expected, "{map} {url}");
    }
    let maps = ["/* = gone/*.md", "/7 = posts/*.md", "/* = posts/*.md"];
    assert!(SourceMap::parse(&maps).is_err());
    assert_eq!(source(&["/* = gone/*.md", "/* = posts/*.md"], &files, "/7").as_deref(), Some("posts/7.md"));
}

#[test]
fn errors_of_mappings_give_the_reason() {
    let braces = "{a,b}".repeat(30);
    let many = format!("/* = {}", "{a,b,c,d,e}".repeat(10));
    for (map, expected) in [
        ("/blog/*", "expected PATTERN = PATH"),
        ("blog/* = a", "begins with /"),
        ("/* = ", "the path of a file is missing"),
        ("/* = content/", "the path of a file is missing"),
        ("/* = ../*.md", "does not leave it"),
        ("/* = /etc/*.md", "does not leave it"),
        ("/* = a/*/*.md", "more wildcards than the pattern"),
        ("/* = {slug}.md", "a path may have {path}"),
        ("/* = {date}.md", "{date}- at the start of the file name"),
        (&format!("/* = {braces}"), "more than 20 braces"),
        (&many, "more than 1000 alternatives"),
    ] {
        let error = SourceMap::parse(&[map]).unwrap_err().to_string();
        assert!(error.contains(expected), "{map}: {error}");
    }
}

#[test]
fn a_folder_gives_the_times_of_its_files_and_no_others() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("site");
    let write = |name: &str| {
        let path = outer.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_714_557_600);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    ["site/a.html", "site/_posts/2024-05-01-b.md", "secret.html", "site/d/index.html"].into_iter().for_each(write);
    let open = |folder: &Path| {
        Dates::open(&TimeSource::Folder(folder.to_path_buf()), SourceMap::default(), &Progress::default())
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(outer.path().join("secret.html"), root.join("out.html")).unwrap();
        symlink(outer.path(), root.join("up")).unwrap();
        symlink("a.html", root.join("in.html")).unwrap();
    }
    let mut dates = open(&root).unwrap();
    let mut find = |path: &str| dates.find(&format!("https://e.com{path}"));
    let dated = |source: &str| {
        let (modified, source) = ("2024-05-01T10:00:00Z".to_owned(), source.to_owned());
        Some(DatedSource { modified, source })
    };
    assert_eq!(find("/a"), dated("a.html"));
    assert_eq!(find("/b"), dated("_posts/2024-05-01-b.md"));
    assert_eq!(find("/d/"), dated("d/index.html"));
    for path in ["/d", "/out", "/up/secret.html", "/%2e%2e/secret.html", "/../secret.html", "/..%2fsecret.html"] {
        assert_eq!(find(path).filter(|found| found.source != "d/index.html"), None, "{path}");
    }
    #[cfg(unix)]
    assert_eq!(find("/in.html"), dated("in.html"));
    let error = open(&outer.path().join("none")).unwrap_err();
    assert!(error.to_string().contains("there is no such folder"), "{error}");
}
