//! Finds the sitemaps of a folder, and the further files of an index.

use super::error::Reason;
use super::plan::volumes::siblings;
use super::read::Options;
use super::{detect, read, unlisted};
use crate::progress::Progress;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Ignore};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The names that are looked for in a folder, in this order.
pub const FOLDER_NAMES: [&str; 2] = ["sitemap_index.xml", "sitemap.xml"];

/// The sitemap of a folder.
pub fn in_folder(folder: &Path) -> Option<PathBuf> {
    // One that is there and cannot be read is not passed over for another.
    let is_there = |path: &PathBuf| !path.is_dir() && std::fs::symlink_metadata(path).is_ok();
    FOLDER_NAMES.iter().map(|name| folder.join(name)).find(is_there)
}

/// All files that a folder is opened by: its sitemap, an index and those that go on where it ends, or else all sitemaps.
pub fn all_in_folder(folder: &Path, options: &Options) -> Vec<PathBuf> {
    match in_folder(folder) {
        Some(found) => with_further(found, options),
        None => sitemaps_in(folder, options),
    }
}

/// Whether a file has a name under which sitemaps are kept, and begins like one. Feeds do not count: they are not written.
pub fn is_sitemap_file(path: &Path) -> bool {
    has_usual_name(path) && !path.is_dir() && unlisted::is_any_sitemap(path)
}

/// Whether a file has a name under which sitemaps are kept.
fn has_usual_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    !name.starts_with('.') && ENDS.iter().any(|end| name.ends_with(end))
}

/// Ends of names under which sitemaps are kept.
const ENDS: [&str; 7] = [".xml", ".xml.gz", ".txt", ".txt.gz", ".rss", ".atom", ".gz"];

/// The sitemaps of a folder that has no index by its usual name: the first index with those that go on where it
/// ends, else all sitemaps, by name.
fn sitemaps_in(folder: &Path, options: &read::Options) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| has_usual_name(path) && !path.is_dir()).collect();
    paths.sort();
    // A file that cannot be read may be a sitemap: whoever opens it is told. What is read and is none is passed over.
    let kind = |path: &PathBuf| match read::read_regular(path, options, &Progress::default()) {
        Ok(contents) => detect::detect(&contents.bytes).ok().map(Some),
        Err(error) if error.is_of_content() || matches!(error.reason, Reason::Irregular(_)) => None,
        Err(_) => Some(None),
    };
    let kinds: Vec<(Option<FileKind>, PathBuf)> =
        paths.into_par_iter().filter_map(|path| Some((kind(&path)?, path))).collect();
    if let Some((_, index)) = kinds.iter().find(|(kind, _)| *kind == Some(FileKind::Index)) {
        return with_further(index.clone(), options);
    }
    kinds.into_iter().map(|(_, path)| path).collect()
}

/// An index with those beside it that go on where it ends, in the order of their numbers; alone what is no index.
pub(super) fn with_further(first: PathBuf, options: &read::Options) -> Vec<PathBuf> {
    let folder = first.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let further = siblings(&first, names.filter_map(|entry| entry.file_name().into_string().ok()));
    // One that cannot be read may be one all the same; whoever opens it is told.
    let is_refused = |path: &Path| matches!(super::unlisted::probe(path), Err(error) if !matches!(error.reason, Reason::Irregular(_)));
    let may_be = |path: &PathBuf| unlisted::is_index(path) || is_refused(path);
    let further: Vec<PathBuf> = further.into_iter().filter(may_be).collect();
    if further.is_empty() || !unlisted::is_index(&first) {
        return vec![first];
    }
    let (mut known, mut unread): (Vec<(PathBuf, Vec<u8>)>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for path in [first.clone()].into_iter().chain(further) {
        match read::read_regular(&path, options, &Progress::default()) {
            Ok(contents) => known.push((path, contents.bytes)),
            Err(_) => unread.push(path),
        }
    }
    if unread.contains(&first) {
        return vec![first];
    }
    let names: Vec<Option<Names>> = known.iter().map(|(_, bytes)| names_of(bytes)).collect();
    let own = names.first().cloned().flatten();
    // One that another lists is a child, and one that speaks otherwise was made by another user.
    let listed = names_listed(&known);
    let is_listed = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        listed.get(&*name).is_some_and(|by| by.is_none_or(|by| by != path))
    };
    let goes_on = |((path, _), names): (&(PathBuf, Vec<u8>), &Option<Names>)| {
        let speaks = names.as_ref().zip(own.as_ref()).is_some_and(|(names, own)| names.means_the_same_under(own));
        (speaks && !is_listed(path)).then(|| path.clone())
    };
    [first].into_iter().chain(known.iter().zip(&names).skip(1).filter_map(goes_on)).chain(unread).collect()
}

/// The names of these indexes that follow a slash in one of them, each with the index that has it; none where
/// several do. Each index is gone through once, however many they are.
fn names_listed(known: &[(PathBuf, Vec<u8>)]) -> HashMap<Cow<'_, str>, Option<&Path>> {
    let names: HashSet<Cow<'_, str>> =
        known.iter().filter_map(|(path, _)| Some(path.file_name()?.to_string_lossy())).collect();
    let mut listed: HashMap<Cow<'_, str>, Option<&Path>> = HashMap::new();
    for (path, bytes) in known {
        for slash in memchr::memchr_iter(b'/', bytes) {
            let rest = bytes.get(slash + 1..).unwrap_or_default();
            let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || b"<>\"'&?#/".contains(byte));
            let name = String::from_utf8_lossy(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
            if let Some(name) = names.get(&name) {
                let by = listed.entry(name.clone()).or_insert(Some(path));
                if *by != Some(path) {
                    *by = None;
                }
            }
        }
    }
    listed
}

fn names_of(bytes: &[u8]) -> Option<Names> {
    scan::scan(bytes, &mut Ignore, &Progress::default()).names
}
