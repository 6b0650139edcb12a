//! Tests of the arguments that all commands share: paths first, several sets, lists of URLs and rules, sizes.

use super::*;
use crate::progress::work;
use std::path::Path;

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// A sitemap with these entries.
fn urlset(entries: &str) -> String {
    format!("{HEAD}{entries}</urlset>\n")
}

/// A list of URLs.
fn lines(numbers: impl Iterator<Item = u32>) -> String {
    numbers.map(|number| format!("https://e.com/{number}")).collect::<Vec<_>>().join("\n")
}

fn page(name: &str, rest: &str) -> String {
    format!("<url><loc>https://e.com/{name}</loc>{rest}</url>\n")
}

fn write(folder: &TempDir, name: &str, text: &str) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn apply_accepts_the_deprecated_argument_order_with_a_note() {
    for (words, is_old) in [
        ("apply DIR/a.xml DIR/rules.toml", false),
        ("apply DIR/a.xml DIR/rules", false),
        ("apply DIR/rules.toml DIR/a.xml", true),
        ("apply DIR/rules DIR/a.xml", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, "a.xml", &urlset(&page("a", "")));
        for name in ["rules.toml", "rules"] {
            write(&folder, name, "[[rule]]\npriority = 0.8\n");
        }
        let (status, _, notes) = sited(&folder, words);
        assert_eq!(status, 0, "{words}: {notes}");
        assert!(read(&folder, "a.xml").contains("<priority>0.8</priority>"), "{words}");
        let (_, rules) = words.rsplit_once('/').unwrap();
        let rules = if is_old { words.split(' ').nth(1).unwrap() } else { rules };
        let note = format!("note: RULES before PATH is deprecated; write sited apply DIR/a.xml {rules}\n");
        assert_eq!(notes.starts_with(&note), is_old, "{words}: {notes}");
    }
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.xml", &urlset(&page("a", "")));
    let (status, _, notes) = sited(&folder, "apply DIR/a.xml DIR/none.toml");
    assert!(status == 3 && notes.contains("none.toml"), "{notes}");
}

#[test]
fn several_sets_are_saved_independently() {
    for (words, changed) in [
        ("set DIR/a.xml DIR/bad.xml DIR/b.xml priority=0.8", "<priority>0.8</priority>"),
        ("replace DIR/a.xml DIR/bad.xml DIR/b.xml e.com e.org", "https://e.org/"),
        ("remove DIR/a.xml DIR/bad.xml DIR/b.xml --where path:/old", "https://e.com/p"),
        ("keep DIR/a.xml DIR/bad.xml DIR/b.xml --where path:/p*", "https://e.com/p"),
        ("fix DIR/a.xml DIR/bad.xml DIR/b.xml --rule lastmod-lowercase,priority-comma", "<priority>0.5</priority>"),
        ("sort DIR/a.xml DIR/bad.xml DIR/b.xml loc", "https://e.com/p"),
        ("sort DIR/a.xml DIR/bad.xml DIR/b.xml --by -loc", "https://e.com/p"),
        ("dedupe DIR/a.xml DIR/bad.xml DIR/b.xml", "https://e.com/p"),
        ("apply DIR/a.xml DIR/bad.xml DIR/b.xml DIR/rules.toml", "<changefreq>weekly</changefreq>"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            let entries = page("p", "<priority>0,5</priority>") + &page("old", "") + &page("p", "") + &page("a", "");
            write(&folder, &format!("{name}.xml"), &urlset(&entries));
        }
        write(&folder, "bad.xml", "no sitemap");
        write(&folder, "rules.toml", "[[rule]]\nchangefreq = \"weekly\"\n");
        let before = read(&folder, "a.xml");
        let (status, _, notes) = sited(&folder, words);
        assert_eq!(status, 3, "{words}: {notes}");
        for name in ["a.xml", "b.xml"] {
            assert!(read(&folder, name) != before && read(&folder, name).contains(changed), "{words}: {notes}");
        }
        assert_eq!(read(&folder, "bad.xml"), "no sitemap");
        assert!(notes.contains("error: DIR/bad.xml: "), "{words}: {notes}");
        assert!(notes.ends_with("3 sets: 2 changed, 1 failed\n"), "{words}: {notes}");
        assert!(notes.contains("DIR/b.xml: "), "{words}: {notes}");
        // A second run has nothing to do.
        if !words.starts_with("replace") {
            let (status, _, notes) = sited(&folder, words);
            assert_eq!(status, 3, "{words}: {notes}");
            assert!(notes.ends_with("3 sets: 2 unchanged, 1 failed\n"), "{words}: {notes}");
        }
    }
}

#[test]
fn a_file_given_alone_and_in_its_index_is_changed_once() {
    let folder = folder();
    let words = "set DIR/good.xml DIR/index.xml DIR/bad.xml priority=+0.1 --where priority=0.5";
    let (status, _, notes) = sited(&folder, words);
    assert_eq!(status, 0, "{notes}");
    assert!(read(&folder, "good.xml").contains("<priority>0.60</priority>"), "{}", read(&folder, "good.xml"));
    assert!(notes.ends_with("1 set: 1 changed\n"), "{notes}");
}

#[test]
fn recursive_changes_every_set_below_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let index = |names: &[&str]| {
        let entry = |name: &&str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>\n");
        let entries: String = names.iter().map(entry).collect();
        format!("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</sitemapindex>\n")
    };
    write(&folder, "site/sitemap_index.xml", &index(&["parts/one.xml", "two.xml"]));
    for name in ["site/parts/one.xml", "site/two.xml", "site/parts/other.xml", "site/shop/a.xml", "site/shop/b.xml"] {
        write(&folder, name, &urlset(&page(name, "")));
    }
    for name in ["site/old.xml.bak/2026-01-01T00-00-00Z/old.xml", "site/.git/a.xml"] {
        write(&folder, name, &urlset(&page(name, "")));
    }
    write(&folder, "site/shop/robots.txt", "User-agent: *\nDisallow:\n");
    write(&folder, "site/broken/sitemap_index.xml", &index(&["gone.xml", "deep/there.xml"]));
    write(&folder, "site/broken/deep/there.xml", &urlset(&page("x", "")));
    let unset = urlset(&page("x", ""));
    let (status, _, notes) = sited(&folder, "set DIR/site priority=0.8 --recursive --dry-run");
    assert_eq!(status, 3, "{notes}");
    assert!(notes.ends_with("4 sets: 3 would change, 1 failed\n"), "{notes}");
    let (status, _, notes) = sited(&folder, "set DIR/site priority=0.8 -r");
    assert_eq!(status, 3, "{notes}");
    for name in ["site/parts/one.xml", "site/two.xml", "site/parts/other.xml", "site/shop/a.xml", "site/shop/b.xml"] {
        assert_eq!(read(&folder, name).matches("<priority>0.8</priority>").count(), 1, "{name}: {notes}");
    }
    for name in ["site/old.xml.bak/2026-01-01T00-00-00Z/old.xml", "site/.git/a.xml"] {
        assert_eq!(read(&folder, name), urlset(&page(name, "")), "{name}");
    }
    // A part of a set that cannot be opened is not changed on its own.
    assert_eq!(read(&folder, "site/broken/deep/there.xml"), unset);
    assert!(notes.contains("DIR/site/broken: the folders below it were skipped"), "{notes}");
    assert!(notes.ends_with("4 sets: 3 changed, 1 failed\n"), "{notes}");
    let (status, _, notes) = sited(&folder, "set DIR/site/.git/x priority=0.8 -r");
    assert_eq!(status, 3, "{notes}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let (status, _, notes) = sited(&folder, "set DIR/empty priority=0.8 -r");
    assert!(status == 3 && notes.contains("DIR/empty: no sitemap in this folder or below it"), "{notes}");
}

#[test]
fn incompatible_arguments_are_refused() {
    let folder = folder();
    for (words, message) in [
        ("set DIR/good.xml DIR/bad.xml priority=0.8 -o DIR/o.xml", "--output needs one PATH"),
        ("fix -r DIR/good.xml -o DIR/o.xml", "--output needs one PATH"),
        ("set DIR/good.xml - priority=0.8", "standard input"),
        ("set DIR/good.xml", "no FIELD=VALUE given"),
        ("set DIR/good.xml priority=0.8 --from DIR/bad.xml", "cannot be combined with --from"),
    ] {
        let (status, out, notes) = sited(&folder, words);
        assert_eq!((status, out.as_str()), (2, ""), "{words}: {notes}");
        assert!(notes.contains(message), "{words}: {notes}");
        assert!(!folder.path().join("o.xml").exists());
    }
    // An error of the command itself is reported once, before anything is changed.
    let (status, _, notes) = sited(&folder, "set DIR/good.xml DIR/bad.xml priority=0.8 --where (a");
    assert_eq!((status, notes.matches("error: ").count()), (2, 1), "{notes}");
}

#[test]
fn rows_are_selected_by_a_list_of_urls() {
    let urls =
        "\u{feff}https://e.com/b\r\n\n# a comment\n  https://e.com/d?x=1&y=2  \nhttps://e.com/gone\nhttps://E.com/a\n";
    let missing = "DIR/urls.txt: 2 of 4 URLs match no row:\n  https://e.com/gone\n  https://E.com/a\n";
    let entries = ["a", "b", "c", "d?x=1&amp;y=2"].map(|name| page(name, "")).concat();
    for (words, left, out) in [
        ("list DIR/a.xml --urls-from DIR/urls.txt", "a b c d", "https://e.com/b\nhttps://e.com/d?x=1&y=2\n"),
        ("list DIR/a.xml --urls-from DIR/urls.txt --where path:/b --sort -loc", "a b c d", "https://e.com/b\n"),
        ("set DIR/a.xml priority=0.8 --urls-from DIR/urls.txt", "a b! c d!", ""),
        ("set DIR/a.xml priority=0.8 --urls-from DIR/urls.txt --where path:/b", "a b! c d", ""),
        ("remove DIR/a.xml --urls-from DIR/urls.txt", "a c", ""),
        ("remove DIR/a.xml --urls-from DIR/urls.txt --where path:/d", "a b c", ""),
        ("keep DIR/a.xml --urls-from DIR/urls.txt", "b d", ""),
        ("keep DIR/a.xml --urls-from DIR/urls.txt --where path:/d", "d", ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, "a.xml", &urlset(&entries));
        write(&folder, "urls.txt", urls);
        let (status, printed, notes) = sited(&folder, words);
        assert_eq!((status, printed.as_str()), (0, out), "{words}: {notes}");
        assert!(notes.ends_with(missing), "{words}: {notes}");
        let text = read(&folder, "a.xml");
        let name = |entry: &str| {
            let name = entry.split("</loc>").next().unwrap().chars().take(1).collect::<String>();
            name + if entry.contains("<priority>0.8</priority>") { "!" } else { "" }
        };
        let rows: Vec<String> = text.split("<loc>https://e.com/").skip(1).map(name).collect();
        assert_eq!(rows.join(" "), left, "{words}");
    }
    // A list without any match would remove every row, so it is refused.
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.xml", &urlset(&entries));
    write(&folder, "urls.txt", &lines(0..9));
    let (status, _, notes) = sited(&folder, "keep DIR/a.xml --urls-from DIR/urls.txt");
    assert!(status == 3 && notes.contains("would have no entries left"), "{notes}");
    assert!(notes.contains("9 of 9 URLs match no row:") && notes.contains("… and 4 more URLs"), "{notes}");
    assert_eq!(read(&folder, "a.xml"), urlset(&entries));
    let (status, _, notes) = sited(&folder, "list DIR/a.xml --urls-from DIR/none.txt");
    assert!(status == 3 && notes.contains("none.txt"), "{notes}");
}

#[test]
fn a_list_of_urls_is_looked_up_in_one_pass() {
    for words in [
        "set DIR/a.xml priority=0.8 --urls-from DIR/u",
        "keep DIR/a.xml --urls-from DIR/u",
        "list DIR/a.xml --urls-from DIR/u",
    ] {
        let [n, twice, fourfold] = [500, 1_000, 2_000].map(|n| {
            let folder = tempfile::tempdir().unwrap();
            let entries: String = (0..n).map(|number| page(&number.to_string(), "")).collect();
            write(&folder, "a.xml", &urlset(&entries));
            write(&folder, "u", &lines((0..n as u32).rev().map(|number| number * 2)));
            work::of(|| {
                assert_eq!(sited(&folder, words).0, 0);
            })
        });
        let (first, second) = (twice - n, fourfold - twice);
        assert!(first >= 1_000 && second * 10 < first * 26, "{words}: {n} {twice} {fourfold}");
    }
}

#[test]
fn the_check_option_lists_the_changes_and_writes_nothing() {
    let entries = page("p", "<priority>0,5</priority>") + &page("b", "") + &page("p", "") + &page("a", "");
    for (words, listed, last) in [
        (
            "set DIR/a.xml changefreq=daily --where path:/a",
            "~ https://e.com/a  changefreq none -> daily\n",
            "1 change would be made\n",
        ),
        (
            "replace DIR/a.xml /b$ /c",
            "~ https://e.com/c  loc https://e.com/b -> https://e.com/c\n",
            "1 change would be made\n",
        ),
        ("fix DIR/a.xml --rule priority-comma", "~ https://e.com/p  priority 0,5 -> 0.5\n", "1 change would be made\n"),
        ("dedupe DIR/a.xml", "- https://e.com/p\n", "1 change would be made\n"),
        ("remove DIR/a.xml --where path:/a", "- https://e.com/a\n", "1 change would be made\n"),
        ("keep DIR/a.xml --where path:/a or path:/p", "- https://e.com/b\n", "1 change would be made\n"),
        ("add DIR/a.xml https://e.com/new", "+ https://e.com/new\n", "1 change would be made\n"),
        (
            "apply DIR/a.xml DIR/rules.toml",
            "~ https://e.com/a  changefreq none -> weekly\n",
            "1 row does not obey DIR/rules.toml\n",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, "a.xml", &urlset(&entries));
        write(&folder, "rules.toml", "[[rule]]\nwhere = \"path:/a\"\nchangefreq = \"weekly\"\n");
        let typed = words.replace("or path", "or_path").replace("/a or", "/a_or");
        let (status, out, notes) = sited(&folder, &format!("{typed} --check"));
        assert_eq!((status, out.as_str()), (1, listed), "{words}: {notes}");
        assert!(notes.ends_with(last), "{words}: {notes}");
        assert_eq!(read(&folder, "a.xml"), urlset(&entries), "{words}");
        // After the command has run, no change is left.
        assert_eq!(sited(&folder, &typed).0, 0, "{words}");
        if !words.starts_with("add") {
            let (status, out, notes) = sited(&folder, &format!("{typed} --check"));
            assert_eq!((status, out.as_str()), (0, ""), "{words}: {notes}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.xml", &urlset(&entries));
    let (status, out, notes) = sited(&folder, "sort DIR/a.xml loc --check");
    assert_eq!(status, 1, "{notes}");
    assert!(out.lines().all(|line| line.starts_with("^ ") && line.ends_with("  moved")), "{out}");
    assert_eq!(read(&folder, "a.xml"), urlset(&entries));
    // The status of several sets is the worst.
    write(&folder, "sorted.xml", &urlset(&page("a", "")));
    let (status, _, notes) = sited(&folder, "sort DIR/sorted.xml DIR/a.xml --check");
    assert!(status == 1 && notes.ends_with("2 sets: 1 would change, 1 unchanged\n"), "{notes}");
    // Changes of the index count as changes of the set.
    let index = self::folder();
    let (status, out, notes) = sited(&index, "replace DIR/index.xml e.com e.org --in index --check");
    assert!(status == 1, "{out}{notes}");
}

#[test]
fn rules_are_given_as_comma_separated_lists() {
    let folder = folder();
    write(
        &folder,
        "a.xml",
        &urlset(&(page("a", "<priority>0,5</priority><lastmod>soon</lastmod>") + &page("a#x", ""))),
    );
    let rules = |words: &str| {
        let (_, out, notes) = sited(&folder, words);
        assert!(!notes.starts_with("error"), "{words}: {notes}");
        let rules = out.lines().filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()));
        let mut rules: Vec<String> = rules.collect();
        rules.sort();
        rules.dedup();
        rules.join(" ")
    };
    assert_eq!(rules("check DIR/a.xml --all --rule priority-*,loc-fragment"), "loc-fragment priority-comma");
    assert_eq!(rules("check DIR/a.xml --all --rule priority-* --rule loc-fragment"), "loc-fragment priority-comma");
    let without = rules("check DIR/a.xml --all --ignore priority-*,loc-fragment");
    assert!(!without.contains("priority-comma") && without.contains("lastmod"), "{without}");
    let (status, _, notes) = sited(&folder, "fix DIR/a.xml --rule priority-comma,loc-fragment --dry-run");
    assert_eq!(status, 0, "{notes}");
    let (status, _, notes) = sited(&folder, "check DIR/a.xml --rule priority-comma,no-rule");
    assert!(status == 2 && notes.contains("no-rule"), "{notes}");
}

#[test]
fn convert_dry_run_reports_its_output() {
    let folder = folder();
    for (words, notes_have, out_has) in [
        (
            "convert DIR/good.xml -o DIR/o.csv --dry-run",
            "dry run, nothing is written: 2 URLs as a CSV table to DIR/o.csv",
            "created    DIR/o.csv  2 URLs, ",
        ),
        (
            "convert DIR/good.xml -o DIR/o.txt --dry-run",
            "dry run, nothing is written: 2 URLs as a text list to DIR/o.txt",
            "created    DIR/o.txt",
        ),
        (
            "convert DIR/good.xml -o - --to txt --dry-run",
            "dry run, nothing is written: 2 URLs as a text list to standard output",
            "",
        ),
    ] {
        let (status, out, notes) = sited(&folder, words);
        assert_eq!(status, 0, "{words}: {notes}");
        assert!(notes.contains(notes_have), "{words}: {notes}");
        assert!(out.starts_with(out_has), "{words}: {out}");
        assert!(!folder.path().join("o.csv").exists() && !folder.path().join("o.txt").exists());
    }
    // A dry run is refused for the same reasons as the run.
    let words = "convert DIR/index.xml -o - --to xml";
    let (status, _, error) = sited(&folder, words);
    let (dry, _, dry_error) = sited(&folder, &format!("{words} --dry-run"));
    assert_eq!((status, &error), (dry, &dry_error));
}

#[test]
fn split_accepts_sizes_with_units() {
    let folder = folder();
    let entries: String = (0..100).map(|number| page(&number.to_string(), "")).collect();
    write(&folder, "many.xml", &urlset(&entries));
    let parts = |size: &str| {
        let words = format!("split DIR/many.xml -o DIR/parts --base-url https://e.com/ --dry-run --max-bytes {size}");
        let (status, _, notes) = sited(&folder, &words);
        assert_eq!(status, 0, "{notes}");
        notes.lines().filter(|line| line.starts_with("created")).count()
    };
    assert_eq!(parts("2kB"), parts("2000"));
    assert_eq!(parts("2KiB"), parts("2048"));
    assert!(parts("2kB") > parts("4KiB"));
    let typed = ["sited", "split", "a.xml", "-o", "b", "--max-bytes", "10M"];
    let error = Cli::try_parse_from(typed).err().unwrap().to_string();
    assert!(error.contains("10MB") || error.contains("50MB (50,000,000)"), "{error}");
}

/// Runs `list` on a file that has a value for every column.
#[test]
fn list_prints_and_sorts_by_every_field_of_queries() {
    let folder = folder();
    let rich = "<lastmod>2025-03-09</lastmod><image:image><image:loc>https://e.com/i 1.png</image:loc></image:image>\
                <image:image><image:loc>https://e.com/i2.png</image:loc></image:image>";
    let other = "<url><loc>https://www.e.com/</loc><priority>0,5</priority></url>\n";
    write(&folder, "a.xml", &urlset(&(page("blog/x/y", rich) + &page("b", "") + other + &page("b", ""))));
    let column = |name: &str| {
        let (status, out, notes) = sited(&folder, &format!("list DIR/a.xml --format tsv --no-header --columns {name}"));
        assert_eq!(status, 0, "{notes}");
        out.lines().collect::<Vec<_>>().join("|")
    };
    for (name, expected) in [
        ("host", "e.com|e.com|www.e.com|e.com"),
        ("path", "/blog/x/y|/b|/|/b"),
        ("section", "blog||"),
        ("depth", "3|1|0|1"),
        ("line", "3|4|5|6"),
        ("image", "2|0|0|0"),
        ("images", "https://e.com/i%201.png https://e.com/i2.png|||"),
        ("has", "image extension loc lastmod|loc|loc priority|loc"),
        ("is", "|duplicate||duplicate"),
    ] {
        let found = column(name);
        assert!(found == expected || (name == "section" && found.starts_with("blog|")), "{name}: {found}");
    }
    assert!(column("rule").split('|').nth(2).unwrap().contains("priority-comma"));
    assert_eq!(column("rule"), column("rules"));
    assert_eq!(column("severity"), column("finding"));
    // Every field of the query language is a column and a sort key.
    for (name, ..) in crate::document::query::Name::ALL {
        let word = name.word();
        for words in [format!("--columns {word}"), format!("--sort {word}"), format!("--sort -{word},number")] {
            let (status, _, notes) = sited(&folder, &format!("list DIR/a.xml {words}"));
            assert_eq!(status, 0, "{words}: {notes}");
        }
    }
    let sorted = |keys: &str| {
        let (status, out, notes) = sited(&folder, &format!("list DIR/a.xml --sort {keys}"));
        assert_eq!(status, 0, "{notes}");
        out.lines().map(|line| line.split_once(".com").unwrap().1.to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(sorted("depth,loc"), "/ /b /b /blog/x/y");
    assert_eq!(sorted("-depth,-lastmod"), "/blog/x/y /b /b /");
    assert_eq!(sorted("-host,-depth"), "/ /blog/x/y /b /b");
    assert_eq!(sorted("-image,priority"), "/blog/x/y / /b /b");
    let (status, _, notes) = sited(&folder, "list DIR/a.xml --sort depth,hots");
    assert!(status == 2 && notes.contains("did you mean host?") && notes.contains("^^^^"), "{notes}");
    let (status, _, notes) = sited(&folder, "list DIR/a.xml --columns lok");
    assert!(status == 2 && notes.contains("did you mean loc?"), "{notes}");
    // JSON has lists and numbers.
    let (_, out, _) =
        sited(&folder, "list DIR/a.xml --format jsonl --columns loc,images,depth,priority,is --where depth=3");
    let expected = "{\"loc\":\"https://e.com/blog/x/y\",\
                    \"images\":[\"https://e.com/i 1.png\",\"https://e.com/i2.png\"],\"depth\":3,\"priority\":null,\"is\":[]}\n";
    assert_eq!(out, expected);
}

#[test]
fn list_prints_index_entries_as_a_table() {
    let folder = folder();
    let index = read(&folder, "index.xml").replacen("</loc>", ",x</loc><lastmod>2025-01-01</lastmod>", 1);
    write(&folder, "index.xml", &index);
    for (format, expected) in [
        ("csv", "loc,lastmod\n\"https://e.com/good.xml,x\",2025-01-01\nhttps://e.com/bad.xml,\n"),
        ("csv --no-header", "\"https://e.com/good.xml,x\",2025-01-01\nhttps://e.com/bad.xml,\n"),
        ("tsv", "loc\tlastmod\nhttps://e.com/good.xml,x\t2025-01-01\nhttps://e.com/bad.xml\t\n"),
    ] {
        let (status, out, notes) = sited(&folder, &format!("list DIR/index.xml --sitemaps --format {format}"));
        assert_eq!((status, out.as_str()), (0, expected), "{format}: {notes}");
    }
}

#[test]
fn arguments_that_are_not_utf8_are_accepted_only_as_paths() {
    use std::os::unix::ffi::OsStringExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsString::from_vec(b"a\xff.xml".to_vec());
    let path = folder.path().join(&name);
    fs::write(&path, urlset(&page("a", ""))).unwrap();
    let run_words = |words: Vec<std::ffi::OsString>| {
        let line = Cli::try_parse_from([std::ffi::OsString::from("sited")].into_iter().chain(words)).unwrap();
        let Next::End(status) = run(&line, Env::default(), &mut Vec::new(), &mut Vec::new()) else { panic!() };
        status.code()
    };
    let file = || Path::new(&path).as_os_str().to_owned();
    assert_eq!(run_words(vec!["set".into(), file(), "priority=0.8".into()]), 0);
    assert_eq!(run_words(vec!["replace".into(), file(), "e.com".into(), "e.org".into()]), 0);
    assert_eq!(run_words(vec!["sort".into(), file()]), 0);
    assert_eq!(run_words(vec!["replace".into(), file(), name, "e.org".into()]), 2);
    assert!(fs::read_to_string(&path).unwrap().contains("https://e.org/a</loc><priority>0.8</priority>"));
}

#[test]
fn check_stats_and_session_have_equal_counts() {
    let folder = folder();
    let (_, json, _) = sited(&folder, "check DIR/index.xml --format json");
    let (_, _, notes) = sited(&folder, "check DIR/index.xml");
    assert!(notes.starts_with("2 files, 3 URLs, 1 index with 2 entries: "), "{notes}");
    let summary = &serde_json::from_str::<serde_json::Value>(&json).unwrap()["summary"];
    assert_eq!((&summary["urls"], &summary["index_entries"], &summary["entries"]), (&3.into(), &2.into(), &5.into()));
    let (_, json, _) = sited(&folder, "stats DIR/index.xml --format json");
    let stats: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&stats["files"], &stats["urls"], &stats["index_entries"]), (&2.into(), &3.into(), &2.into()));
    let (_, out, _) = sited(&folder, "stats DIR/index.xml");
    assert!(out.contains("\nURLs                     3\nindex entries            2\n"), "{out}");
    let session =
        crate::session::store::load::open(&folder.path().join("index.xml"), files::Options::default(), clock::system())
            .unwrap();
    assert_eq!((session.document().sitemaps().len(), session.view().urls()), (2, 3));
}
