//! The yardstick of all benchmarks: a bare quick-xml event loop on one thread.
//!
//! It reads each file, looks at every event, and keeps nothing; no useful program can read XML with quick-xml faster.

use super::generate::Set;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::fs;

/// Reads all parts of a set; the number of start tags, so that no event can be left out.
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
