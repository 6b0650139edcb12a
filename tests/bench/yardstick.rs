//! Yardsticks: a bare quick-xml event loop on one thread, and the file operations of a load and of a save alone.
//!
//! The loop reads each file, visits every event, and keeps nothing, so no useful program can read XML with quick-xml
//! faster. The file operations examine no byte, so they are the minimum time of a program with the same safety
//! promises.

use super::generate::Set;
use quick_xml::Reader;
use quick_xml::events::Event;
use rayon::prelude::*;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Reads all parts of a set. Returns the number of start tags, so that no event can be optimized away.
pub(crate) fn read(set: &Set) -> u64 {
    set.parts.iter().map(|path| tags(&fs::read(path).expect("read a part"))).sum()
}

fn tags(bytes: &[u8]) -> u64 {
    let mut reader = Reader::from_reader(bytes);
    let mut tags = 0;
    loop {
        match reader.read_event().expect("generated files are well-formed") {
            Event::Start(_) | Event::Empty(_) => tags += 1,
            Event::Eof => return tags,
            _ => {}
        }
    }
}

/// Reads files into memory on all cores, as a load does.
pub(crate) fn read_files(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    paths.par_iter().with_max_len(1).map(|path| fs::read(path).expect("read a part")).collect()
}

/// The task of `--read`: only reads these files.
pub(crate) fn read_in_process(paths: &[String]) {
    black_box(read_files(&paths.iter().map(PathBuf::from).collect::<Vec<_>>()));
}

/// Writes files as a save does, without examining a byte: each is written beside its target, synced, read back,
/// compared and renamed.
pub(crate) fn replace_files(folder: &Path, files: &[Vec<u8>]) {
    files.par_iter().with_max_len(1).enumerate().for_each(|(number, bytes)| {
        let (temporary, target) = (folder.join(format!("{number}.tmp")), folder.join(format!("{number}.xml")));
        let mut file = File::create(&temporary).expect("make a file");
        file.write_all(bytes).expect("write a file");
        let read = fs::read(&temporary).expect("read it back");
        assert!(read == *bytes, "what is read back is what was written");
        file.sync_all().expect("sync it");
        fs::rename(temporary, target).expect("rename it");
    });
    File::open(folder).and_then(|folder| folder.sync_all()).expect("sync the folder");
}
