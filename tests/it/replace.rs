//! Tests of replacements in URLs: refused replacements, and reports of skipped URLs.

use crate::support::{Folder, run, stderr, stdout};

const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

fn urlset(entries: &str) -> String {
    format!(
        "<urlset xmlns=\"{SITEMAP}\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" \
         xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n{entries}</urlset>\n"
    )
}

fn pages(locs: &[&str]) -> String {
    let page = |loc: &&str| format!("<url><loc>{loc}</loc></url>\n");
    urlset(&locs.iter().map(page).collect::<String>())
}

fn index(children: &[&str]) -> String {
    let child = |loc: &&str| format!("<sitemap><loc>{loc}</loc></sitemap>\n");
    format!("<sitemapindex xmlns=\"{SITEMAP}\">\n{}</sitemapindex>\n", children.iter().map(child).collect::<String>())
}

fn run_with_status(folder: &Folder, arguments: &[&str], status: i32) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    stderr(&output)
}

/// Asserts that a command is refused as a usage error, changes no file, and prints the expected texts.
fn assert_refused(folder: &Folder, arguments: &[&str], expected: &[&str]) {
    let before = folder.files();
    let message = run_with_status(folder, arguments, 2);
    assert_eq!(folder.files(), before, "{arguments:?}");
    for text in expected {
        assert!(message.contains(text), "{arguments:?}: expected {text}: {message}");
    }
}

/// Checks the same replacement by the subcommand and by a script, each on a separate copy.
fn both_ways(text: &str, (pattern, new): (&str, &str), check: impl Fn(&Folder, &[&str])) {
    for arguments in [&["replace", "a.xml", pattern, new][..], &["a.xml", "--script", "script"]] {
        check(&Folder::with(&[("a.xml", text), ("script", &format!("s#{pattern}#{new}#\nwrite\n"))]), arguments);
    }
}

#[test]
fn urls_that_become_errors_are_refused_unless_forced() {
    let text = pages(&["https://e.com/a", "https://e.com/b"]);
    for (change, code) in [
        (("^https://e.com", ""), "loc-not-absolute"),
        (("https:", "htp:"), "loc-scheme"),
        (("^.*$", ""), "loc-empty"),
        (("/[ab]", "/x y"), "loc-inner-whitespace"),
    ] {
        both_ways(&text, change, |folder, arguments| {
            assert_refused(folder, arguments, &["2 URLs with errors (the first: ", code, "--force"]);
            let message = run_with_status(folder, &[arguments, &["--force"]].concat(), 0);
            assert!(message.contains("2 URLs with errors"), "{message}");
            assert_ne!(folder.text("a.xml"), text, "{arguments:?}");
        });
    }
    // A URL that was invalid before is not an error of the replacement.
    let text = pages(&["https://old.com/a b", "https://old.com/c"]);
    both_ways(&text, ("old.com", "new.com"), |folder, arguments| {
        let message = run_with_status(folder, arguments, 0);
        assert!(!message.contains("errors"), "{message}");
        assert_eq!(folder.text("a.xml"), text.replace("old.com", "new.com"));
    });
}

#[test]
fn urls_of_every_kind_that_become_errors_are_refused() {
    let row = "<url><loc>https://e.com/a</loc><xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>\
               <image:image><image:loc>https://e.com/i.png</image:loc></image:image></url>\n";
    let folder = Folder::with(&[("sitemap.xml", &index(&["https://e.com/1.xml"])), ("1.xml", &urlset(row))]);
    for target in ["alternates", "images", "index"] {
        let arguments = ["replace", "sitemap.xml", "https:", "htp:", "--in", target];
        assert_refused(&folder, &arguments, &["1 URL with errors (htp://e.com/", "loc-scheme"]);
    }
    assert_refused(&folder, &["replace", "sitemap.xml", "https:", "htp:", "--in", "all"], &["4 URLs with errors"]);
}

#[test]
fn urls_that_become_duplicates_are_refused_unless_forced() {
    let text = pages(&["https://e.com/a?x=1", "https://e.com/a?x=2", "https://e.com/a", "https://e.com/b?x=1"]);
    both_ways(&text, (r"\?.*", ""), |folder, arguments| {
        assert_refused(folder, arguments, &["2 duplicate URLs (the first: https://e.com/a)", "--force"]);
        let message = run_with_status(folder, &[arguments, &["--force"]].concat(), 0);
        assert!(message.contains("2 duplicate URLs"), "{message}");
        assert_eq!(folder.text("a.xml").matches("<loc>https://e.com/a</loc>").count(), 3);
    });
    // The URLs were duplicates before.
    let text = pages(&["https://old.com/a", "https://old.com/a"]);
    both_ways(&text, ("old.com", "new.com"), |folder, arguments| {
        let message = run_with_status(folder, arguments, 0);
        assert!(!message.contains("duplicate"), "{message}");
    });
    let folder = Folder::with(&[("a.xml", &pages(&["https://e.com/a", "https://e.com/b"]))]);
    let arguments = ["set", "a.xml", "loc=https://e.com/a", "--where", "path:/b"];
    assert_refused(&folder, &arguments, &["1 duplicate URL (https://e.com/a)", "--force"]);
    run_with_status(&folder, &[&arguments[..], &["--force"]].concat(), 0);
    assert_refused(&folder, &["replace", "a.xml", "/a", "/\u{1}", "--force"], &["U+0001 cannot be written in XML"]);
}

#[test]
fn other_urls_with_the_old_host_are_counted_for_every_expression() {
    let blog = "<url><loc>https://old.com/blog/1</loc><image:image><image:loc>https://old.com/i.png</image:loc>\
                </image:image></url>\n<url><loc>https://old.com/about</loc>\
                <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://OLD.com/de\"/></url>\n";
    let set = || {
        Folder::with(&[
            ("sitemap.xml", &index(&["https://old.com/1.xml", "https://old.com/2.xml"])),
            ("1.xml", &pages(&["https://old.com/shop", "https://other.com/"])),
            ("2.xml", &urlset(blog)),
        ])
    };
    let message = run_with_status(&set(), &["replace", ".", "^https://old.com/blog", "https://new.com/blog"], 0);
    let others = "1 alternate link, 1 image URL, 2 index URLs, 2 page URLs still have https://old.com: \
                  replacing https://old.com by https://new.com with --in all changes them";
    assert!(message.contains(others), "{message}");
    let message = run_with_status(&set(), &["replace", ".", "old.com", "new.com", "--where", "path:/blog/*"], 0);
    assert!(message.contains("1 alternate link, 2 index URLs, 2 page URLs still have https://old.com"), "{message}");
    assert!(message.contains("1 image URL matches too"), "{message}");
    let message = run_with_status(&set(), &["replace", ".", "old.com", "new.com", "--in", "all", "--ignore-case"], 0);
    assert!(!message.contains("still"), "{message}");
    // A replacement in the path leaves the host unchanged, so no other URLs are reported.
    let message = run_with_status(&set(), &["replace", ".", "/blog/", "/news/"], 0);
    assert!(!message.contains("still"), "{message}");
}

/// A set with a nested index, and two files with one page each.
fn nested() -> Folder {
    Folder::with(&[
        ("sitemap.xml", &index(&["https://old.com/inner.xml", "https://old.com/1.xml"])),
        ("inner.xml", &index(&["https://old.com/2.xml"])),
        ("1.xml", &pages(&["https://old.com/a"])),
        ("2.xml", &pages(&["https://old.com/b"])),
    ])
}

#[test]
fn unchanged_entries_of_a_nested_index_are_reported() {
    for target in ["all", "index,loc"] {
        let folder = nested();
        let message = run_with_status(&folder, &["replace", ".", "old.com", "new.com", "--in", target], 0);
        assert!(message.contains("1 URL in a nested index is unchanged: inner.xml"), "{target}: {message}");
        assert!(folder.text("sitemap.xml").contains("https://new.com/inner.xml"));
        assert!(folder.text("inner.xml").contains("https://old.com/2.xml"));
        let message = run_with_status(&folder, &["replace", "inner.xml", "old.com", "new.com", "--in", target], 0);
        assert!(!message.contains("nested"), "{message}");
        assert!(folder.text("inner.xml").contains("https://new.com/2.xml"));
    }
}

#[test]
fn unchanged_urls_of_a_nested_index_are_reported_after_a_base_url_change() {
    for arguments in
        [&["fix", ".", "--base-url", "https://new.com/maps/", "--rewrite-index"][..], &[".", "--script", "script"]]
    {
        let folder = nested();
        folder.write("script", "set-base-url https://new.com/maps/ --rewrite-index\nwrite\n");
        let message = run_with_status(&folder, arguments, 0);
        let expected = index(&["https://new.com/maps/inner.xml", "https://new.com/maps/1.xml"]);
        assert_eq!(folder.text("sitemap.xml"), expected, "{arguments:?}");
        assert!(folder.text("inner.xml").contains("https://old.com/2.xml"));
        assert!(message.contains("1 URL in a nested index is unchanged: inner.xml"), "{arguments:?}: {message}");
    }
}

#[test]
fn an_index_url_without_a_file_beside_the_index_is_reported() {
    let set = |children: &[&str]| {
        Folder::with(&[
            ("sitemap.xml", &index(children)),
            ("1.xml", &pages(&["https://e.com/a"])),
            ("2.xml", &pages(&["https://e.com/b"])),
        ])
    };
    let folder = set(&["https://e.com/1.xml", "https://e.com/2.xml"]);
    let message = run_with_status(&folder, &["replace", ".", "/([12]).xml", "/part-$1.xml", "--in", "index"], 0);
    assert!(
        message.contains("2 index URLs name files not found beside the index (the first: https://e.com/part-1.xml)"),
        "{message}"
    );
    let folder = set(&["https://e.com/1.xml"]);
    let message = run_with_status(&folder, &["replace", ".", "/1.xml", "/2.xml", "--in", "index"], 0);
    assert!(!message.contains("not found"), "{message}");
}

#[test]
fn an_index_in_several_files_is_rewritten_in_all_of_them() {
    let set = || {
        Folder::with(&[
            ("i1.xml", &index(&["https://old.com/1.xml"])),
            ("i2.xml", &index(&["https://old.com/2.xml", "https://old.com/inner.xml"])),
            ("inner.xml", &index(&["https://old.com/3.xml"])),
            ("1.xml", &pages(&["https://old.com/a"])),
            ("2.xml", &pages(&["https://old.com/b"])),
            ("3.xml", &pages(&["https://old.com/c"])),
            ("below", "set-base-url https://new.com/m/ --rewrite-index\nwrite\n"),
            ("host", "s#old.com#new.com/m# --in all\nwrite\n"),
        ])
    };
    for arguments in [
        &["fix", "i1.xml", "i2.xml", "--base-url", "https://new.com/m/", "--rewrite-index"][..],
        &["i1.xml", "i2.xml", "--script", "below"],
        &["i1.xml", "i2.xml", "--script", "host"],
    ] {
        let folder = set();
        let inner = folder.text("inner.xml");
        let message = run_with_status(&folder, arguments, 0);
        assert_eq!(folder.text("i1.xml"), index(&["https://new.com/m/1.xml"]), "{arguments:?}");
        let second = index(&["https://new.com/m/2.xml", "https://new.com/m/inner.xml"]);
        assert_eq!(folder.text("i2.xml"), second, "{arguments:?}");
        assert_eq!(folder.text("inner.xml"), inner, "{arguments:?}");
        assert!(message.contains("1 URL in a nested index is unchanged: inner.xml"), "{arguments:?}: {message}");
    }
}
