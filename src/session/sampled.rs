//! The samples of the rule table as files in a folder, for tests.

use crate::check::robots::RobotsTxt;
use crate::check::samples::NOW;
use crate::check::samples::sets::{Packing, Sample};
use crate::data::{DataSet, DataSetBuilder, ReadOptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn stored(content: &[u8], packing: Packing) -> Vec<u8> {
    let mut packed = gzip(content);
    match packing {
        Packing::Plain => return content.to_vec(),
        Packing::Gzip => {}
        Packing::Twice => packed = gzip(&packed),
        Packing::Members => {
            let (first, second) = content.split_at(content.len() / 2);
            packed = [gzip(first), gzip(second)].concat();
        }
        Packing::Trailing => packed.extend_from_slice(b"junk"),
        Packing::Cut => packed.truncate(packed.len() * 2 / 3),
        Packing::Corrupt => {
            let checksum = packed.len() - 8;
            packed[checksum] ^= 0xFF;
        }
    }
    packed
}

/// The paths by which a sample is opened.
pub(crate) fn paths(sample: &Sample, folder: &Path) -> Vec<PathBuf> {
    let is_index = sample.files[0].0 == "sitemap_index.xml";
    let opened = sample.files.iter().take(if is_index { 1 } else { usize::MAX });
    opened.map(|(name, ..)| folder.join(name)).collect()
}

/// The data about the pages of a sample, if it has any.
pub(crate) fn data(sample: &Sample) -> Option<Arc<DataSet>> {
    let line = format!("{{\"url\":\"https://example.com/a\",{}}}\n", sample.answer?);
    let mut builder = DataSetBuilder::new();
    builder.add(&line, &ReadOptions::default()).unwrap();
    Some(Arc::new(builder.finish()))
}

/// The robots.txt of a sample.
pub(crate) fn robots(sample: &Sample) -> Option<Arc<RobotsTxt>> {
    let text = sample.robots?;
    Some(Arc::new(RobotsTxt::parse("robots.txt".to_owned(), text.as_bytes(), sample.base)))
}

/// Writes the files of a sample to a new folder.
pub(crate) fn folder(sample: &Sample) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    // Modification times are set, since some rules compare them with dates in the files.
    let changed = UNIX_EPOCH + Duration::from_secs(NOW as u64 - 3_600);
    for (name, content, packing) in &sample.files {
        let path = folder.path().join(name);
        std::fs::write(&path, stored(content, *packing)).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
    }
    folder
}
