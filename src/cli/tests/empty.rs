//! Tests that no command leaves a file without entries unless the user agreed.

use super::*;
use crate::cli::rows;

/// A file and a list of two URLs, a set of two such files, and a file without entries.
fn folder_of_few() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let urlset =
        format!("{HEAD}<url><loc>https://e.com/a</loc></url>\n<url><loc>https://e.com/b</loc></url>\n</urlset>\n");
    write("two.xml", &urlset);
    write("two.txt", "https://e.com/a\nhttps://e.com/b\n");
    write("none.xml", &format!("{HEAD}</urlset>\n"));
    fs::create_dir(folder.path().join("set")).unwrap();
    write("set/a.xml", &urlset);
    write("set/b.xml", &urlset.replace("e.com/", "e.com/more/"));
    let child = |name: &str| format!("<sitemap><loc>https://e.com/{name}.xml</loc></sitemap>\n");
    let index = format!("{HEAD}{}{}</sitemapindex>\n", child("a"), child("b"));
    write("set/sitemap_index.xml", &index.replace("urlset", "sitemapindex"));
    write("script", "%delete\nwrite\n");
    folder
}

fn texts(folder: &TempDir) -> Vec<Option<String>> {
    ["two.xml", "two.txt", "none.xml", "set/a.xml", "set/b.xml", "set/sitemap_index.xml", "out.csv"]
        .map(|name| fs::read_to_string(folder.path().join(name)).ok())
        .to_vec()
}

#[test]
fn emptying_a_file_is_refused_without_allow_empty() {
    for (words, named) in [
        ("remove DIR/two.xml --where loc:e.com", "two.xml"),
        ("remove DIR/two.xml --where loc:e.com --dry-run", "two.xml"),
        ("remove DIR/two.txt --where loc:e.com", "two.txt"),
        ("remove DIR/set --where loc:e.com", "a.xml"),
        ("remove DIR/set --where loc:e.com --dry-run", "a.xml"),
        ("--script DIR/script DIR/two.xml", "two.xml"),
        ("--script DIR/script DIR/set", "a.xml"),
        ("convert DIR/none.xml -o DIR/out.csv", "out.csv"),
        ("merge DIR/none.xml DIR/none.xml -o DIR/out.csv", "out.csv"),
    ] {
        let folder = folder_of_few();
        let before = texts(&folder);
        let (status, _, notes) = sited(&folder, words);
        assert_eq!(status, 3, "{words}: {notes}");
        let message = format!("{named} would have no entries left\nhint: nothing was written; --allow-empty");
        assert!(notes.contains(&message), "{words}: {notes}");
        assert_eq!(texts(&folder), before, "{words}");
        let (status, _, notes) = sited(&folder, &format!("{words} --allow-empty"));
        assert_eq!(status, 0, "{words}: {notes}");
        assert_eq!(texts(&folder) != before, !words.contains("dry-run"), "{words}");
    }
}

#[test]
fn an_empty_set_is_not_written_to_standard_output_without_allow_empty() {
    for words in [
        "remove DIR/two.xml --where loc:e.com -o -",
        "convert DIR/none.xml -o - --to txt",
        "merge DIR/none.xml DIR/none.xml -o -",
        "--script DIR/to-stdout DIR/two.xml",
    ] {
        let folder = folder_of_few();
        fs::write(folder.path().join("to-stdout"), "%delete\nwrite -\n").unwrap();
        let (status, out, notes) = sited(&folder, words);
        assert!(status == 3 && out.is_empty(), "{words}: {out} {notes}");
        assert!(notes.contains("standard output would have no entries"), "{words}: {notes}");
        let (status, _, notes) = sited(&folder, &format!("{words} --allow-empty"));
        assert_eq!(status, 0, "{words}: {notes}");
    }
}

#[test]
fn emptying_a_streamed_set_is_refused_and_leaves_no_temporary_files() {
    for dry_run in [false, true] {
        let folder = folder_of_few();
        let before = texts(&folder);
        let mut words = vec!["sited".to_owned(), "remove".to_owned(), folder.path().join("set").display().to_string()];
        words.extend(["--where", "loc:e.com"].map(str::to_owned));
        words.extend(dry_run.then(|| "--dry-run".to_owned()));
        let Some(Task::Remove(task)) = Cli::try_parse_from(words).unwrap().task else { panic!("a removal") };
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let result = rows::remove(&task.rows, 0, &mut Streams::new(&mut out, &mut notes));
        let failure = result.unwrap_err();
        assert_eq!(failure.status(), Status::Files);
        assert!(failure.to_string().contains("a.xml would have no entries left"), "{failure}");
        assert_eq!(texts(&folder), before);
        assert_eq!(fs::read_dir(folder.path().join("set")).unwrap().count(), 3);
    }
}

/// A file that is already empty does not block changes to it or to other files.
#[test]
fn a_file_that_was_empty_may_stay_empty() {
    let folder = folder_of_few();
    fs::write(folder.path().join("set/b.xml"), format!("{HEAD}</urlset>\n")).unwrap();
    for words in
        ["set DIR/set priority=0.8", "set DIR/set priority=0.8 -o DIR/new.xml", "fix DIR/none.xml", "sort DIR/none.xml"]
    {
        let (status, _, notes) = sited(&folder, words);
        assert_eq!(status, 0, "{words}: {notes}");
    }
    // A file of a set that loses its last row is removed with its index entry.
    let (status, _, notes) = sited(&folder_of_few(), "remove DIR/set --where loc:more");
    assert_eq!(status, 0, "{notes}");
}
