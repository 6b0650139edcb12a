//! Tests of commands on whole sets: split, merge, convert, backups and restores.

use super::*;

#[test]
fn split_writes_new_parts_and_keeps_equal_ones() {
    let folder = folder();
    let entry = |section: &str, number: u32| format!("<url><loc>https://e.com/{section}/{number}</loc></url>\n");
    let entries: String = (0..7).map(|number| entry(if number < 4 { "blog" } else { "shop" }, number)).collect();
    fs::write(folder.path().join("all.xml"), format!("{HEAD}{entries}</urlset>\n")).unwrap();
    let names = |below: &str| {
        let entries = fs::read_dir(folder.path().join(below)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let (status, _, notes) = sited(&folder, "split DIR/all.xml -o DIR/out --max-urls 3");
    assert_eq!(status, 2, "{notes}");
    assert!(notes.contains("--base-url https://e.com/"), "{notes}");
    let base = "--base-url https://e.com/ --now 2026-11-20";
    let (status, out, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 3 --dry-run {base}"));
    assert_eq!((status, out.as_str()), (0, ""), "{notes}");
    assert!(!folder.path().join("out").exists());
    let (status, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 3 {base}"));
    assert_eq!(status, 0, "{notes}");
    assert_eq!(names("out"), ["sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap_index.xml"]);
    let index = fs::read_to_string(folder.path().join("out/sitemap_index.xml")).unwrap();
    assert!(index.contains("<loc>https://e.com/sitemap-3.xml</loc>\n    <lastmod>2026-11-20</lastmod>"), "{index}");
    let all = sited(&folder, "list DIR/all.xml").1;
    assert_eq!(sited(&folder, "list DIR/out").1, all);
    assert_eq!(sited(&folder, "check DIR/out --now 2026-11-20").0, 0);
    // The same split on another day: nothing is written, and no date changes.
    let (_, _, notes) =
        sited(&folder, "split DIR/all.xml -o DIR/out --max-urls 3 --now 2026-12-24 --base-url https://e.com/");
    assert!(notes.contains("0 written, 4 untouched"), "{notes}");
    // Fewer parts: the leftover one is removed only with `--prune`.
    let (_, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 4 {base}"));
    assert!(notes.contains("left over   DIR/out/sitemap-3.xml") && notes.contains("--prune"), "{notes}");
    assert!(folder.path().join("out/sitemap-3.xml").exists());
    fs::write(folder.path().join("out/mine.xml"), "mine").unwrap();
    sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 3 {base}"));
    let (_, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/out --max-urls 4 --prune {base}"));
    assert!(notes.contains("1 removed"), "{notes}");
    assert_eq!(names("out"), ["mine.xml", "sitemap-1.xml", "sitemap-2.xml", "sitemap_index.xml"]);
    // By section, compressed. A file that the split did not create is not replaced.
    let (status, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/by --by section --gzip {base}"));
    assert_eq!(status, 0, "{notes}");
    assert_eq!(names("by"), ["sitemap-blog.xml.gz", "sitemap-shop.xml.gz", "sitemap_index.xml"]);
    assert_eq!(sited(&folder, "list DIR/by --where section:shop").1.lines().count(), 3);
    fs::write(folder.path().join("by/sitemap-1.xml"), "mine").unwrap();
    let (status, _, notes) = sited(&folder, &format!("split DIR/all.xml -o DIR/by {base}"));
    assert_eq!(status, 3, "{notes}");
    assert_eq!(fs::read_to_string(folder.path().join("by/sitemap-1.xml")).unwrap(), "mine");
    let (status, ..) = sited(&folder, &format!("split DIR/all.xml -o DIR/q --by section:blog loc:/5 {base}"));
    assert_eq!(status, 0);
    assert_eq!(names("q"), ["sitemap-1.xml", "sitemap-2.xml", "sitemap-rest.xml", "sitemap_index.xml"]);
    for wrong in ["--name a/{n}.xml", "--name x.xml", "--max-urls 0", "--max-urls 50001", "--by colour=red"] {
        assert_eq!(sited(&folder, &format!("split DIR/all.xml -o DIR/w {wrong} {base}")).0, 2, "{wrong}");
    }
}

/// The base URL of the parts does not affect how the set is read, and unread files are never omitted silently.
#[test]
fn split_reads_the_whole_set_or_refuses() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("set")).unwrap();
    let child = |name: &str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>\n");
    let index = format!("{HEAD}{}{}</sitemapindex>\n", child("a.xml"), child("b.xml"));
    fs::write(path("set/sitemap.xml"), index.replace("urlset", "sitemapindex")).unwrap();
    for name in ["a", "b"] {
        let entry = format!("<url><loc>https://e.com/{name}</loc></url>\n");
        fs::write(path(&format!("set/{name}.xml")), format!("{HEAD}{entry}</urlset>\n")).unwrap();
    }
    for (verb, arguments) in [("split", "DIR/set -o DIR/out"), ("merge", "DIR/set DIR/set/b.xml --dedupe -o DIR/out")] {
        let (status, _, notes) = sited(&folder, &format!("{verb} {arguments} --base-url https://x.org/maps/"));
        assert_eq!(status, 0, "{notes}");
        assert_eq!(sited(&folder, "list DIR/out").1, "https://e.com/a\nhttps://e.com/b\n", "{verb}: {notes}");
        assert!(
            fs::read_to_string(path("out/sitemap_index.xml"))
                .unwrap()
                .contains("<loc>https://x.org/maps/sitemap-1.xml<")
        );
        fs::remove_dir_all(path("out")).unwrap();
    }
    fs::remove_file(path("set/b.xml")).unwrap();
    for prune in ["", " --prune"] {
        let (status, _, notes) = sited(&folder, &format!("split DIR/set -o DIR/out{prune}"));
        assert_eq!(status, 3, "{notes}");
        assert!(notes.contains("https://e.com/b.xml") && notes.contains("hint: "), "{notes}");
        assert!(!path("out").exists());
    }
    fs::write(path("empty.xml"), format!("{HEAD}</urlset>\n")).unwrap();
    let (status, _, notes) = sited(&folder, "split DIR/empty.xml -o DIR/out --base-url https://e.com/");
    assert!(status == 2 && notes.contains("no URL to split"), "{notes}");
    assert!(!path("out").exists());
}

#[test]
fn reading_a_damaged_file_prints_a_warning() {
    let folder = folder();
    let cut = format!("{HEAD}<url><loc>https://e.com/a</loc></url>\n<url><loc>https://e.com/b</l");
    fs::write(folder.path().join("cut.xml"), cut).unwrap();
    for words in [
        "list DIR/cut.xml",
        "list DIR/cut.xml --sort loc",
        "stats DIR/cut.xml",
        "diff DIR/bad.xml DIR/cut.xml",
        "convert DIR/cut.xml -o DIR/cut.csv",
        "merge DIR/cut.xml -o DIR/merged.xml",
        "set DIR/cut.xml priority=0.5 -o DIR/set.xml",
        "split DIR/cut.xml -o DIR/parts --max-urls 1 --base-url https://e.com/",
    ] {
        let (_, _, notes) = sited(&folder, words);
        assert!(notes.contains("cut.xml is damaged (xml-truncated) and was read as repaired"), "{words}: {notes}");
    }
    // `check` reports the finding instead of a warning.
    let (_, out, notes) = sited(&folder, "check DIR/cut.xml");
    assert!(out.contains("xml-truncated") && !notes.contains("damaged"), "{out}{notes}");
}

#[test]
fn an_item_without_a_link_becomes_no_entry() {
    let folder = folder();
    let feed = "<rss version=\"2.0\"><channel><item><title>none</title></item>\
                <item><link>https://e.com/a</link></item></channel></rss>";
    fs::write(folder.path().join("feed.xml"), feed).unwrap();
    let written = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let (status, _, notes) = sited(&folder, "convert DIR/feed.xml -o DIR/out.xml");
    assert!(status == 0 && notes.contains("omitted, since there is no link: 1 item"), "{notes}");
    assert_eq!(written("out.xml").matches("<url>").count(), 1);
    let (status, _, notes) = sited(&folder, "set DIR/feed.xml priority=0.5 -o DIR/set.xml");
    assert!(status == 0 && notes.contains("omitted, since there is no link: 1 item"), "{status} {notes}");
    assert_eq!(written("set.xml").matches("<url>").count(), 1);
    assert_eq!(written("feed.xml"), feed);
}

#[test]
fn a_backup_is_listed_and_restored() {
    let folder = folder();
    let good = fs::read(folder.path().join("good.xml")).unwrap();
    let now = "--now 2026-11-20T10:20:30Z";
    let (status, out, notes) = sited(&folder, "restore DIR/good.xml");
    assert_eq!(
        (status, out.as_str(), notes.as_str()),
        (0, "", "DIR/good.xml has no backup; saving with --backup once or always makes one\n")
    );
    for value in ["0.1", "0.2"] {
        let (status, _, notes) = sited(&folder, &format!("set DIR/good.xml priority={value} --backup always {now}"));
        assert!(
            status == 0 && notes.contains("the previous files are in DIR/good.xml.bak/2026-11-20T10-20-30Z"),
            "{notes}"
        );
    }
    let (_, out, _) = sited(&folder, "restore DIR/good.xml");
    assert_eq!(out, "2026-11-20T10-20-30Z  1 file, 397 B: good.xml\n2026-11-20T10-20-30Z-2  1 file, 420 B: good.xml\n");
    let (status, _, notes) = sited(&folder, "restore DIR/good.xml --set 2026-11-20T10-20-30Z --dry-run");
    assert_eq!((status, notes.as_str()), (0, "restored   DIR/good.xml\ndry run, nothing is written\n"));
    assert_ne!(fs::read(folder.path().join("good.xml")).unwrap(), good);
    let (status, _, notes) = sited(&folder, &format!("restore DIR/good.xml --set latest {now}"));
    assert!(status == 0 && notes.contains("1 file restored, 0 files removed; the previous files are in"), "{notes}");
    assert!(fs::read_to_string(folder.path().join("good.xml")).unwrap().contains("<priority>0.1<"));
    assert_eq!(sited(&folder, &format!("restore DIR/good.xml --set 2026-11-20T10-20-30Z {now}")).0, 0);
    assert_eq!(fs::read(folder.path().join("good.xml")).unwrap(), good);
    let (status, _, notes) = sited(&folder, "restore DIR/good.xml --set yesterday");
    assert!(status == 3 && notes.contains("there is no backup of this date: yesterday"), "{notes}");
}

/// Restoring an unsigned backup needs `--unverified`, so commands that create one say so.
#[test]
fn an_unsigned_backup_is_reported() {
    let folder = folder();
    fs::write(folder.path().join(".state"), "in the way").unwrap();
    let unsigned = |notes: &str| {
        notes.contains("the previous files are in DIR/")
            && notes.contains("this backup is not signed (no key can be read or made in")
            && notes.contains("restoring it needs --unverified")
    };
    for words in ["set DIR/good.xml priority=0.3", "split DIR/good.xml -o DIR/out --base-url https://e.com/"] {
        sited(&folder, "split DIR/good.xml -o DIR/out --base-url https://e.com/ --max-urls 1");
        let (status, _, notes) = sited(&folder, &format!("{words} --backup always"));
        assert!(status == 0 && unsigned(&notes), "{words}: {status} {notes}");
    }
    let (status, _, notes) = sited(&folder, "restore DIR/good.xml --set latest");
    assert!(status == 3 && notes.contains("--unverified"), "{notes}");
    let (status, _, notes) = sited(&folder, "restore DIR/good.xml --set latest --unverified");
    assert!(status == 0 && unsigned(&notes), "{notes}");
}
