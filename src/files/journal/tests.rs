//! What is written is read again, whatever becomes of the file; a set has one place.

use super::*;

fn desk(folder: &Path) -> Desk {
    Desk::take(folder, &folder.join("sitemap.xml")).unwrap()
}

fn write(folder: &Path, lines: &[&str]) -> PathBuf {
    let desk = desk(folder);
    let path = desk.path.clone();
    let header = desk.header(&Disk::default(), 7);
    let journal = desk.begin(Some(header));
    for line in lines {
        let line = (*line).to_owned();
        journal.note(Box::new(move || line));
    }
    path
}

#[test]
fn what_was_noted_is_there_for_the_next_one_and_goes_when_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &["1", "[2,3]"]);
    let mut again = desk(folder.path());
    let stored = again.left.take().unwrap().unwrap();
    assert_eq!((stored.lines, stored.is_cut), (vec!["1".to_owned(), "[2,3]".to_owned()], false));
    let journal = again.begin(None);
    journal.note(Box::new(|| "4".to_owned()));
    journal.flush();
    assert_eq!(parse(&fs::read(&path).unwrap()).unwrap().lines.len(), 3);
    assert_eq!(journal.failure(), None);
    journal.remove();
    assert!(!path.exists());
    assert!(desk(folder.path()).left.is_none());
}

#[test]
fn a_second_one_is_told_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = desk(folder.path());
    let held = Desk::take(folder.path(), &folder.path().join("./sitemap.xml")).unwrap_err();
    assert_eq!(held.process, Some(std::process::id()));
    assert!(Desk::take(folder.path(), &folder.path().join("other.xml")).is_ok());
    drop(first);
    let locks = || fs::read_dir(folder.path().join("journal")).unwrap().count();
    assert_eq!(locks(), 0, "a lock that nobody holds leaves no file");
    assert!(Desk::take(folder.path(), &folder.path().join("sitemap.xml")).is_ok());
}

/// A read-only state folder stops nobody from working; a file in its place is one even for root.
#[test]
fn without_a_place_for_a_lock_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::write(&state, "").unwrap();
    let desks = [(); 2].map(|()| Desk::take(&state, &folder.path().join("sitemap.xml")).unwrap());
    assert!(desks.iter().all(|desk| !desk.is_locked()));
    let [desk, _] = desks;
    let header = desk.header(&Disk::default(), 7);
    let journal = desk.begin(Some(header));
    journal.flush();
    assert!(journal.failure().is_some(), "it is said that nothing is kept");
}

#[test]
fn every_cut_and_every_flipped_byte_leaves_what_stands_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &["1", "[2,3]", "\"x\""]);
    let whole = fs::read(path).unwrap();
    let all = parse(&whole).unwrap();
    for cut in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[cut] ^= 1;
        for bytes in [&whole[..cut], &flipped] {
            match parse(bytes) {
                Ok(stored) => {
                    assert!(all.lines.starts_with(&stored.lines) && stored.lines.len() < 4);
                    let is_short = stored.lines.len() < all.lines.len();
                    assert!(stored.is_cut || !is_short || bytes.len() < whole.len(), "{cut}");
                }
                Err(error) => assert_eq!(error, Unusable::Damaged),
            }
        }
    }
    let newer = line("{\"version\":2,\"more\":true}");
    assert_eq!(parse(newer.as_bytes()), Err(Unusable::Newer));
    assert_eq!(parse(b""), Err(Unusable::Damaged));
}

#[test]
fn what_cannot_be_used_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..3 {
        let path = write(folder.path(), &["1"]);
        fs::write(&path, "rubbish").unwrap();
        let mut desk = desk(folder.path());
        assert_eq!(desk.left, Some(Err(Unusable::Damaged)));
        let aside = desk.set_aside().unwrap();
        assert!(aside.to_string_lossy().ends_with(&format!("aside-{number}")) && !path.exists());
        assert_eq!(fs::read(aside).unwrap(), b"rubbish");
    }
}
