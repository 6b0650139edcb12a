//! Tests of saving whole sets.

use super::*;
use crate::document::edit::{Edit, NewEntry};
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::files::fixture::{TestSet, index, urlset};
use crate::protocol::Field;
use crate::protocol::limits::Limits;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) fn pair() -> TestSet {
    let index = index(&["https://e.com/s-1.xml 2024-01-01", "https://e.com/s-2.xml 2024-01-01"]);
    let one = urlset(&["https://e.com/1", "https://e.com/2"]);
    let two = urlset(&["https://e.com/3", "https://e.com/4"]);
    TestSet::new(&[("index.xml", index.as_bytes()), ("s-1.xml", one.as_bytes()), ("s-2.xml", two.as_bytes())])
}

fn names(saved: &Saved) -> Vec<String> {
    saved.written.iter().map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn try_save(set: &mut TestSet, force: bool) -> Result<Saved, Error> {
    let plan = set.plan();
    let mode = SaveMode { force, ..set.mode() };
    super::save_with_mode(&plan, &mut set.disk, &mode, &Progress::default())
}

#[test]
fn without_edits_no_file_is_opened() {
    let mut set = pair();
    let before: Vec<_> = ["index.xml", "s-1.xml", "s-2.xml"]
        .map(|name| fs::metadata(set.path(name)).unwrap().modified().unwrap())
        .into();
    let saved = set.save();
    assert_eq!((saved.written.len(), saved.untouched), (0, 3));
    let after: Vec<_> = ["index.xml", "s-1.xml", "s-2.xml"]
        .map(|name| fs::metadata(set.path(name)).unwrap().modified().unwrap())
        .into();
    assert_eq!(before, after);
}

#[test]
fn one_changed_row_writes_one_part_and_the_index_and_saving_again_writes_nothing() {
    let mut set = pair();
    let before = set.files();
    set.set(&[3], Field::Priority, Some("0.8"));
    let saved = set.save();
    assert_eq!((names(&saved), saved.untouched), (vec!["s-2.xml".to_owned(), "index.xml".to_owned()], 1));
    let after = set.files();
    assert_eq!(after["s-1.xml"], before["s-1.xml"]);
    let expected = String::from_utf8(before["s-2.xml"].clone())
        .unwrap()
        .replace("https://e.com/4</loc>\n", "https://e.com/4</loc>\n    <priority>0.8</priority>\n");
    assert_eq!(set.read("s-2.xml"), expected);
    assert!(set.read("index.xml").contains("2.xml</loc>\n    <lastmod>2026-11-20</lastmod>"));
    assert!(set.read("index.xml").contains("1.xml</loc>\n    <lastmod>2024-01-01</lastmod>"));
    assert_eq!(set.save().written.len(), 0);
    // The saved state is updated, so that reverting the change is a new change.
    set.set(&[3], Field::Priority, None);
    assert_eq!(names(&set.save()), ["s-2.xml"], "the index has today's date already");
    assert_eq!(set.files()["s-2.xml"], before["s-2.xml"]);
}

#[test]
fn a_split_set_reads_back_with_its_rows_in_order_and_can_be_split_again() {
    let mut set = pair();
    set.limits = Limits { urls: 2, ..Limits::default() };
    let entries: Vec<NewEntry> = (0..3)
        .map(|number| NewEntry::Values([Some(format!("https://e.com/new{number}").into()), None, None, None]))
        .collect();
    set.edit(&Edit::Insert { sitemap: SitemapId(0), after: None, entries: entries.clone() });
    set.save();
    assert_eq!(set.names(), ["index.xml", "s-1.xml", "s-2.xml", "s-3.xml", "s-4.xml"]);
    let locs = set.locs();
    assert_eq!(locs.len(), 7);
    set.load("index.xml");
    assert_eq!(set.locs(), locs);
    assert!(set.plan().is_empty());
    set.edit(&Edit::Insert { sitemap: SitemapId(3), after: None, entries });
    set.save();
    let locs = set.locs();
    set.load("index.xml");
    assert_eq!((set.locs(), set.document.sitemaps().len()), (locs, 5));
}

#[test]
fn a_split_single_file_reads_back_and_undo_restores_the_single_file() {
    let locs: Vec<String> = (0..5).map(|number| format!("https://e.com/{number}")).collect();
    let text = urlset(&locs.iter().map(String::as_str).collect::<Vec<_>>());
    let mut set = TestSet::new(&[("sitemap.xml", text.as_bytes())]);
    set.base_url = Some("https://e.com/".to_owned());
    set.set(&[0], Field::Priority, Some("0.5"));
    set.save();
    let text = set.files().remove("sitemap.xml").map_or(text, |bytes| String::from_utf8(bytes).unwrap());
    let before = set.document.clone();
    set.set(&[0], Field::Priority, Some("0.6"));
    set.set(&[0], Field::Priority, Some("0.5"));
    set.limits = Limits { urls: 2, ..Limits::default() };
    set.save();
    assert_eq!(set.names(), ["sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap.xml"]);
    let split = set.files();
    set.document = before.clone();
    // Splitting the same rows again gives the same files, on another day too.
    set.now.seconds += 1_000_000;
    assert!(set.plan().is_empty(), "{:?}", set.planned());
    set.limits = Limits::default();
    let plan = set.plan();
    assert_eq!((plan.count(Action::Removed), plan.count(Action::Rewritten)), (3, 1));
    set.save();
    assert_eq!(set.names(), ["sitemap.xml"]);
    assert_eq!(set.read("sitemap.xml"), text);
    set.limits = Limits { urls: 2, ..Limits::default() };
    set.save();
    assert_eq!(set.names(), ["sitemap.xml"], "it was not changed");
    set.set(&[0], Field::Priority, Some("0.7"));
    set.save();
    assert_eq!(set.names(), split.keys().cloned().collect::<Vec<_>>());
    set.load("sitemap.xml");
    assert_eq!(set.locs(), locs);
}

#[test]
fn an_emptied_file_is_removed_and_restored_with_its_rows() {
    let mut set = pair();
    let (before, document) = (set.files(), set.document.clone());
    set.delete([0, 1]);
    let saved = set.save();
    assert_eq!(saved.removed, [set.path("s-1.xml")]);
    assert_eq!(set.names(), ["index.xml", "s-2.xml"]);
    assert!(!set.read("index.xml").contains("s-1.xml"));
    assert!(set.plan().is_empty());
    set.document = document;
    set.save();
    assert_eq!(set.files()["s-1.xml"], before["s-1.xml"]);
    assert_eq!(set.names(), ["index.xml", "s-1.xml", "s-2.xml"]);
}

/// Undo also restores the index of before a save, but must not revert the dates that the save has set for files that do
/// not change.
#[test]
fn a_save_after_undo_keeps_the_dates_of_files_that_do_not_change() {
    let mut set = pair();
    set.set(&[0], Field::Priority, Some("0.1"));
    let before = set.document.clone();
    set.set(&[2], Field::Priority, Some("0.2"));
    set.save();
    set.document = before;
    set.now.seconds += 1_000_000;
    let saved = set.save();
    assert_eq!(names(&saved), ["s-2.xml", "index.xml"]);
    let index = set.read("index.xml");
    assert!(index.contains("s-1.xml</loc>\n    <lastmod>2026-11-20</lastmod>"), "{index}");
    assert!(index.contains("s-2.xml</loc>\n    <lastmod>2026-12-02</lastmod>"), "{index}");
}

#[test]
fn gzip_stays_gzip_and_equal_content_gives_equal_bytes() {
    let text = urlset(&["https://e.com/1", "https://e.com/2"]);
    let mut set = TestSet::new(&[("sitemap.xml.gz", &gzip(text.as_bytes()))]);
    set.set(&[0], Field::Priority, Some("0.5"));
    set.save();
    let first = set.files()["sitemap.xml.gz"].clone();
    // RFC 1952: no name (flags 0), no time.
    assert_eq!(first[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    set.load("sitemap.xml.gz");
    assert_eq!(&*set.document.value(RowId(0), Field::Priority).unwrap(), "0.5");
    set.set(&[0], Field::Priority, Some("0.6"));
    set.save();
    set.set(&[0], Field::Priority, Some("0.5"));
    set.save();
    assert_eq!(set.files()["sitemap.xml.gz"], first);
}

#[test]
fn a_file_with_the_same_bytes_is_not_written() {
    for packed in [false, true] {
        let pack = |text: &str| if packed { gzip(text.as_bytes()) } else { text.as_bytes().to_vec() };
        let text = urlset(&["https://e.com/1"]);
        let mut set = TestSet::new(&[("sitemap.xml", &pack(&text))]);
        set.set(&[0], Field::Loc, Some("https://e.com/2"));
        // Another user has made the same change; force skips the check for foreign changes.
        fs::write(set.path("sitemap.xml"), pack(&text.replace("/1", "/2"))).unwrap();
        let stored = set.files();
        let modified = fs::metadata(set.path("sitemap.xml")).unwrap().modified().unwrap();
        let saved = try_save(&mut set, true).unwrap();
        assert_eq!((saved.written.len(), saved.untouched), (0, 1));
        assert_eq!(set.files(), stored);
        assert_eq!(fs::metadata(set.path("sitemap.xml")).unwrap().modified().unwrap(), modified);
    }
}

#[test]
fn foreign_changes_are_not_overwritten_unless_forced() {
    let mut set = pair();
    set.set(&[0, 2], Field::Priority, Some("0.8"));
    fs::write(set.path("s-2.xml"), urlset(&["https://e.com/3", "https://e.com/5"])).unwrap();
    let before = set.files();
    let error = try_save(&mut set, false).unwrap_err();
    assert!(matches!(error.reason, Reason::Changed) && error.path == set.path("s-2.xml"));
    assert!(error.hint().unwrap().contains(":write!"));
    assert_eq!(set.files(), before);
    assert!(try_save(&mut set, true).is_ok());
    // A changed time with equal content is no reason to refuse.
    let mut set = pair();
    set.set(&[0], Field::Priority, Some("0.8"));
    let text = set.read("s-1.xml");
    fs::write(set.path("s-1.xml"), text).unwrap();
    assert!(try_save(&mut set, false).is_ok());
    // The file was deleted, and saving would create it again.
    let mut set = pair();
    set.set(&[0], Field::Priority, Some("0.8"));
    fs::remove_file(set.path("s-1.xml")).unwrap();
    assert!(matches!(try_save(&mut set, false).unwrap_err().reason, Reason::Changed));
    assert!(try_save(&mut set, true).is_ok());
    assert!(set.read("s-1.xml").contains("0.8"));
}

#[test]
fn a_file_that_would_not_read_back_is_not_written() {
    let values = ["a\u{1}b", "\u{FFFE}"];
    for value in values {
        let mut set = pair();
        set.set(&[1], Field::Priority, Some(value));
        let before = set.files();
        let error = try_save(&mut set, false).unwrap_err();
        assert!(matches!(&error.reason, Reason::Check(why) if why.contains("https://e.com/2")), "{error}");
        assert_eq!(set.files(), before);
    }
    for text in ["\n<url><loc>https://e.com/2", "\n<url/><url><loc>x</loc></url>", "\n"] {
        let mut set = pair();
        set.edit(&Edit::Raw { row: RowId(1), text: text.into() });
        let before = set.files();
        assert!(matches!(try_save(&mut set, false).unwrap_err().reason, Reason::Check(_)), "{text}");
        assert_eq!(set.files(), before);
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn the_mode_is_kept_and_a_new_file_has_that_of_the_others() {
        for kept in [0o600, 0o644, 0o664, 0o755] {
            let mut set = TestSet::new(&[("sitemap.xml", urlset(&["https://e.com/1", "https://e.com/2"]).as_bytes())]);
            fs::set_permissions(set.path("sitemap.xml"), fs::Permissions::from_mode(kept)).unwrap();
            set.set(&[0], Field::Priority, Some("0.8"));
            set.save();
            assert_eq!(mode(&set.path("sitemap.xml")), kept);
            set.base_url = Some("https://e.com/".to_owned());
            set.limits = Limits { urls: 1, ..Limits::default() };
            set.set(&[0], Field::Priority, Some("0.9"));
            set.save();
            fs::write(set.path("plain"), "").unwrap();
            assert_eq!(mode(&set.path("sitemap-2.xml")), mode(&set.path("plain")) & 0o644 & (kept | 0o600));
            assert_eq!(mode(&set.path("sitemap.xml")), kept);
        }
    }

    #[test]
    fn links_stay_and_their_final_target_is_replaced() {
        let elsewhere = tempfile::tempdir().unwrap();
        let real = elsewhere.path().join("real.xml");
        fs::write(&real, urlset(&["https://e.com/1"])).unwrap();
        let mut set = TestSet::new(&[("other.xml", urlset(&["https://e.com/1"]).as_bytes())]);
        symlink(&real, elsewhere.path().join("middle")).unwrap();
        symlink(elsewhere.path().join("middle"), set.path("sitemap.xml")).unwrap();
        set.load("sitemap.xml");
        set.set(&[0], Field::Priority, Some("0.8"));
        set.save();
        assert!(fs::symlink_metadata(set.path("sitemap.xml")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(elsewhere.path().join("middle")).unwrap().is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("0.8"));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_with_two_hard_links_stays_one_file_with_its_attributes() {
        for bytes in ["0.8", "0.123456789"] {
            let mut set = pair();
            fs::hard_link(set.path("s-1.xml"), set.path("other.xml")).unwrap();
            let inode = fs::metadata(set.path("s-1.xml")).unwrap().ino();
            set.set(&[0, 2], Field::Priority, Some(bytes));
            set.save();
            assert_eq!(set.files()["s-1.xml"], set.files()["other.xml"]);
            assert_eq!(fs::metadata(set.path("s-1.xml")).unwrap().ino(), inode);
            assert!(set.read("other.xml").contains(bytes));
            set.set(&[0, 2], Field::Priority, None);
            set.save();
            assert!(!set.read("other.xml").contains(bytes), "shorter again");
            assert_eq!(set.names(), ["index.xml", "other.xml", "s-1.xml", "s-2.xml"]);
        }
    }

    #[test]
    fn extended_attributes_are_kept() {
        let mut set = pair();
        let path = set.path("s-1.xml");
        if let Err(error) = xattr::set(&path, "user.sited.test", b"kept") {
            eprintln!("NOT TESTED: this file system has no extended attributes: {error}");
            return;
        }
        set.set(&[0], Field::Priority, Some("0.8"));
        set.save();
        assert_eq!(xattr::get(&path, "user.sited.test").unwrap().as_deref(), Some(&b"kept"[..]));
    }

    #[test]
    fn read_only_files_folders_and_pipes_are_refused() {
        let mut set = pair();
        set.set(&[0], Field::Priority, Some("0.8"));
        fs::set_permissions(set.path("s-1.xml"), fs::Permissions::from_mode(0o444)).unwrap();
        let before = set.files();
        let error = try_save(&mut set, true).unwrap_err();
        assert!(matches!(error.reason, Reason::ReadOnly));
        assert!(error.hint().unwrap().contains(":write NAME"));
        assert_eq!(set.files(), before);
        let elsewhere = tempfile::tempdir().unwrap();
        let (folder, pipe) = (elsewhere.path().join("folder"), elsewhere.path().join("pipe"));
        fs::create_dir(&folder).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        let mut set = TestSet::new(&[("sitemap.xml", urlset(&["https://e.com/1"]).as_bytes())]);
        for path in [&folder, &pipe] {
            let plan = set.plan_to(Some(path));
            let error = super::super::save(&plan, &mut set.disk, true, &Progress::default()).unwrap_err();
            assert!(matches!(error.reason, Reason::Special(_)), "{error}");
        }
        assert!(pipe.exists() && folder.exists());
    }

    #[test]
    fn a_child_that_is_a_link_to_another_is_written_once() {
        let mut set = pair();
        symlink("s-1.xml", set.path("s-3.xml")).unwrap();
        fs::write(set.path("index.xml"), index(&["https://e.com/s-1.xml", "https://e.com/s-3.xml"])).unwrap();
        set.load("index.xml");
        assert_eq!(set.document.live(), 2);
        set.set(&[0], Field::Priority, Some("0.8"));
        assert_eq!(names(&set.save()), ["s-1.xml"]);
    }
}

#[test]
fn temporary_files_of_dead_processes_are_removed_and_those_of_running_ones_kept() {
    let set = pair();
    // No process has this id: it is above the maximum of Linux.
    let (dead, alive) = (".s-1.xml.4194999-abc.sited", format!(".s-1.xml.{}-abc.sited", std::process::id()));
    for name in [dead, &alive, ".s-1.xml.sited", "s-1.xml.4194999-abc.sited"] {
        fs::write(set.path(name), "").unwrap();
    }
    assert_eq!(set.recover("index.xml"), None);
    let names = set.names();
    assert!(!names.iter().any(|name| name == dead), "{names:?}");
    assert_eq!(names.len(), 6);
}

#[test]
fn a_cancelled_save_changes_nothing() {
    let mut set = pair();
    set.set(&[0], Field::Priority, Some("0.8"));
    let before = set.files();
    let progress = Progress::default();
    progress.cancel();
    let plan = set.plan();
    let error = super::save(&plan, &mut set.disk, false, &progress).unwrap_err();
    assert!(matches!(error.reason, Reason::Cancelled));
    assert_eq!(set.files(), before);
    let progress = Progress::default();
    super::save(&plan, &mut set.disk, false, &progress).unwrap();
    progress.cancel();
    assert!(progress.read().sealed && !progress.is_cancelled(), "replaced files are not restored");
}

#[test]
fn a_copy_is_a_separate_set() {
    let mut set = pair();
    let before = set.files();
    set.set(&[0], Field::Priority, Some("0.8"));
    let target = set.path("copy/all.xml");
    let plan = set.plan_to(Some(&target));
    let saved = set.carry_out(&plan);
    assert_eq!(saved.path, Some(target));
    let after = set.files();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
    assert_eq!(after["copy/s-2.xml"], before["s-2.xml"]);
    assert!(set.plan().is_empty(), "the document has moved to the copy: {:?}", set.planned());
    set.load("copy/all.xml");
    assert_eq!(set.document.live(), 4);
}

/// Every valid file of the project's corpus is written back byte for byte and not changed by a save.
#[test]
fn the_corpus_is_written_back() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut seen = 0;
    for folder in ["valid", "quirky"] {
        for entry in fs::read_dir(corpus.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            seen += 1;
            let mut set = TestSet::new(&[(name, &bytes)]);
            let modified = fs::metadata(set.path(name)).unwrap().modified().unwrap();
            let mut written = Vec::new();
            if let Some(index) = set.document.index() {
                written.extend_from_slice(index.source.bytes());
            }
            let result: Result<(), ()> = set.document.write_sitemap(SitemapId(0), &mut |bytes| {
                written.extend_from_slice(bytes);
                Ok(())
            });
            assert!(result.is_ok() && written == bytes, "{name}");
            assert!(set.save().written.is_empty(), "{name}");
            assert_eq!(fs::metadata(set.path(name)).unwrap().modified().unwrap(), modified, "{name}");
        }
    }
    assert!(seen > 65, "{seen}");
}

/// A list without a final line break is saved without one, for any last line and any kind of line breaks.
#[test]
fn a_list_without_a_final_line_break_stays_without_one() {
    for end in ["\n", "\r\n", "\r"] {
        let lines = |numbers: &[u32]| {
            numbers.iter().map(|number| format!("https://e.com/{number}")).collect::<Vec<_>>().join(end)
        };
        let mut set = TestSet::new(&[("urls.txt", lines(&[1, 2, 3]).as_bytes())]);
        set.add(0, "https://e.com/4");
        set.save();
        assert_eq!(set.read("urls.txt"), lines(&[1, 2, 3, 4]), "{end:?}");
        set.load("urls.txt");
        set.delete([2, 3]);
        set.save();
        assert_eq!(set.read("urls.txt"), lines(&[1, 2]), "{end:?}");
    }
}

/// A gate that counts the written bytes.
struct Meter(AtomicUsize);

impl Gate for Meter {
    fn pass(&self, _: FsOperation) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        let written = file.write(bytes)?;
        self.0.fetch_add(written, Ordering::SeqCst);
        Ok(written)
    }
}

#[test]
fn one_changed_row_writes_the_bytes_of_its_part_and_of_the_index() {
    let mut set = pair();
    set.set(&[3], Field::Priority, Some("0.8"));
    let meter = Meter(AtomicUsize::new(0));
    super::faults::save_with(&meter, &mut set).unwrap();
    let files = set.files();
    assert_eq!(meter.0.into_inner(), files["s-2.xml"].len() + files["index.xml"].len());
}

#[test]
fn a_save_into_another_folder_removes_temporary_files_of_dead_processes() {
    let mut set = TestSet::new(&[("s.xml", urlset(&["https://e.com/1"]).as_bytes())]);
    std::fs::write(set.path(".s.xml.4194999-abc.sited"), "half").unwrap();
    set.set(&[0], Field::Priority, Some("0.5"));
    set.save();
    assert_eq!(set.files().into_keys().collect::<Vec<_>>(), ["s.xml"]);
}

/// The longest name that file systems allow leaves no room for a longer temporary name.
#[test]
fn files_with_the_longest_names_are_saved_with_their_backup() {
    for len in [240, 250, 255] {
        let name = format!("{}.xml", "n".repeat(len - 4));
        let mut set = TestSet::new(&[(&*name, urlset(&["https://e.com/1"]).as_bytes())]);
        set.set(&[0], Field::Priority, Some("0.5"));
        let plan = set.plan();
        let mode = SaveMode { backups: Backups::new(When::Always), ..set.mode() };
        save_with_mode(&plan, &mut set.disk, &mode, &Progress::default()).unwrap();
        assert!(set.read(&name).contains("0.5"), "{len}");
        assert_eq!(crate::files::backup::sets(&set.path(&name), None).unwrap().len(), 1, "{len}");
    }
}
