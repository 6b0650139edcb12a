//! Finds the sitemaps of a folder, and the other volumes of an index.

use super::error::Reason;
use super::locate::{ChildLocation, folder_url, locate_child};
use super::plan::volumes::siblings;
use super::read::Options;
use super::{detect, read, unlisted};
use crate::file_bytes::FileBytes;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Ignore, Visit};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The names that are looked for in a folder, in this order.
pub(crate) const FOLDER_NAMES: [&str; 2] = ["sitemap_index.xml", "sitemap.xml"];

/// The sitemap of a folder: the one of a usual name, or the index that lists it.
pub fn find_in_folder(folder: &Path) -> Option<PathBuf> {
    // A file that exists but cannot be read is not skipped.
    let is_there = |path: &PathBuf| !path.is_dir() && std::fs::symlink_metadata(path).is_ok();
    let found = FOLDER_NAMES.iter().map(|name| folder.join(name)).find(is_there)?;
    Some(index_that_lists(&found, folder).unwrap_or(found))
}

/// The first index of a folder, by name, that lists a sitemap in it.
fn index_that_lists(sitemap: &Path, folder: &Path) -> Option<PathBuf> {
    if !matches!(unlisted::probe(sitemap), Ok(Some(FileKind::Urlset))) {
        return None;
    }
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = std::fs::read_dir(here).into_iter().flatten().flatten();
    let mut others: Vec<PathBuf> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| folder.join(name))
        .filter(|path| has_usual_name(path) && path != sitemap)
        .take(MOST_EXAMINED)
        .filter(|path| unlisted::is_index(path))
        .collect();
    others.sort();
    let options = Options::default();
    let lists = |path: &PathBuf| {
        OtherIndex::read(path, &options).is_some_and(|index| index.files(folder, &options).any(|file| file == sitemap))
    };
    others.into_iter().find(lists)
}

/// The most files of a folder that are examined to find further indexes.
const MOST_EXAMINED: usize = 2_000;

/// All files to open for a folder: its sitemap, all its indexes, or else all sitemaps.
pub fn find_all_in_folder(folder: &Path, options: &Options) -> Vec<PathBuf> {
    match find_in_folder(folder) {
        Some(found) => with_other_indexes(with_volumes(found, options), options),
        None => sitemaps_in(folder, options),
    }
}

/// Whether a file has a usual name of sitemaps, and begins like one. Feeds do not count: they are not written.
pub(crate) fn is_sitemap_file(path: &Path) -> bool {
    has_usual_name(path) && !path.is_dir() && unlisted::is_any_sitemap(path)
}

/// Whether a file has a usual name of sitemaps.
fn has_usual_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    !name.starts_with('.') && EXTENSIONS.iter().any(|end| name.ends_with(end))
}

/// Usual extensions of sitemaps.
const EXTENSIONS: [&str; 7] = [".xml", ".xml.gz", ".txt", ".txt.gz", ".rss", ".atom", ".gz"];

/// The sitemaps of a folder that has no index by its usual name: its indexes, else all sitemaps, by name.
fn sitemaps_in(folder: &Path, options: &read::Options) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| has_usual_name(path) && !path.is_dir()).collect();
    paths.sort();
    // A file that cannot be read may be a sitemap: opening it reports the error. Other files are skipped.
    let kind = |path: &PathBuf| match read::read_regular(path, options, &Progress::default()) {
        Ok(contents) => detect::detect(&contents.bytes).ok().map(Some),
        Err(error) if error.is_of_content() || matches!(error.reason, Reason::Irregular(_)) => None,
        Err(_) => Some(None),
    };
    let kinds: Vec<(Option<FileKind>, PathBuf)> =
        paths.into_par_iter().filter_map(|path| Some((kind(&path)?, path))).collect();
    if let Some((_, index)) = kinds.iter().find(|(kind, _)| *kind == Some(FileKind::Index)) {
        return with_other_indexes(with_volumes(index.clone(), options), options);
    }
    kinds.into_iter().map(|(_, path)| path).collect()
}

/// An index with its further volumes in the same folder, ordered by number; only the file itself if it is not an index.
pub(super) fn with_volumes(first: PathBuf, options: &read::Options) -> Vec<PathBuf> {
    let folder = first.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let further = siblings(&first, names.filter_map(|entry| entry.file_name().into_string().ok()));
    // A file that cannot be read may be a volume: opening it reports the error.
    let is_refused = |path: &Path| matches!(super::unlisted::probe(path), Err(error) if !matches!(error.reason, Reason::Irregular(_)));
    let may_be = |path: &PathBuf| unlisted::is_index(path) || is_refused(path);
    let further: Vec<PathBuf> = further.into_iter().filter(may_be).collect();
    if further.is_empty() || !unlisted::is_index(&first) {
        return vec![first];
    }
    let (mut known, mut unread): (Vec<(PathBuf, FileBytes)>, Vec<PathBuf>) = (Vec::new(), Vec::new());
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
    // An index that another one lists is a child; one whose root tag means something else does not belong to it.
    let listed = names_listed(&known);
    let is_listed = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        listed.get(&*name).is_some_and(|by| by.is_none_or(|by| by != path))
    };
    let volume = |((path, _), names): (&(PathBuf, FileBytes), &Option<Names>)| {
        let is_compatible = names.as_ref().zip(own.as_ref()).is_some_and(|(names, own)| names.is_compatible_with(own));
        (is_compatible && !is_listed(path)).then(|| path.clone())
    };
    [first].into_iter().chain(known.iter().zip(&names).skip(1).filter_map(volume)).chain(unread).collect()
}

/// The parts of an index that decide which others are opened with it.
struct OtherIndex {
    path: PathBuf,
    names: Names,
    locs: Vec<String>,
}

/// The locs of an index.
#[derive(Default)]
struct Locs(Vec<String>);

impl Visit for Locs {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.extend(entry.value(Field::Loc, text).map(|loc| loc.trim().to_owned()));
    }
}

impl OtherIndex {
    /// Reads an index; `None` if it is not one or cannot be read.
    fn read(path: &Path, options: &Options) -> Option<Self> {
        let contents = read::read_regular(path, options, &Progress::default()).ok()?;
        let mut locs = Locs::default();
        let names = scan::scan(&contents.bytes, &mut locs, &Progress::default()).names?;
        Some(Self { path: path.to_path_buf(), names, locs: locs.0 })
    }

    /// The file names that its locs end in.
    fn listed_names(&self) -> impl Iterator<Item = &str> {
        self.locs.iter().map(|loc| {
            let path = loc.split(['?', '#']).next().unwrap_or_default();
            path.rsplit('/').next().unwrap_or_default()
        })
    }

    /// The listed files that exist, in the folder of the first index or in its own.
    fn files<'o>(&'o self, folder: &'o Path, options: &'o Options) -> impl Iterator<Item = PathBuf> + 'o {
        let base = options.base_url.as_deref().and_then(folder_url);
        let own = self.path.parent().unwrap_or(Path::new(""));
        self.locs.iter().filter_map(move |loc| match locate_child(loc, options.location_base(base.as_deref())) {
            ChildLocation::Inside(ends) => {
                let paths = ends.iter().map(|end| folder.join(end)).chain(ends.iter().map(|end| own.join(end)));
                paths.into_iter().find(|path| path.is_file())
            }
            ChildLocation::Outside | ChildLocation::Elsewhere => None,
        })
    }
}

/// Whether files are indexes that can be opened as one: of one folder, with root tags that mean the same.
#[cfg(feature = "net")]
pub(crate) fn are_one_index(paths: &[PathBuf], options: &Options) -> bool {
    let Some((first, others)) = paths.split_first() else { return false };
    let names = |path: &PathBuf| unlisted::is_index(path).then(|| OtherIndex::read(path, options)).flatten();
    let Some(own) = names(first) else { return false };
    others.iter().all(|path| {
        path.parent() == first.parent() && names(path).is_some_and(|index| index.names.is_compatible_with(&own.names))
    })
}

/// Adds the other indexes of a folder that list sitemaps which no earlier index lists. An old copy lists none of those,
/// and an index that another one lists is its child.
fn with_other_indexes(mut found: Vec<PathBuf>, options: &Options) -> Vec<PathBuf> {
    let Some(folder) = found.first().and_then(|first| first.parent()).map(Path::to_path_buf) else { return found };
    if !found.first().is_some_and(|first| unlisted::is_index(first)) {
        return found;
    }
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
    let known: Vec<OtherIndex> = found.iter().filter_map(|path| OtherIndex::read(path, options)).collect();
    let listed: HashSet<&str> = known.iter().flat_map(OtherIndex::listed_names).collect();
    let names = std::fs::read_dir(here).into_iter().flatten().flatten();
    let mut others: Vec<PathBuf> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !listed.contains(name.as_str()))
        .map(|name| folder.join(name))
        .filter(|path| has_usual_name(path) && !found.contains(path))
        .take(MOST_EXAMINED)
        .filter(|path| unlisted::is_index(path))
        .collect();
    let Some(own) = known.first().filter(|_| !others.is_empty()).map(|first| first.names.clone()) else { return found };
    let mut files: HashSet<PathBuf> = known.iter().flat_map(|index| index.files(&folder, options)).collect();
    // Files that their nested indexes list belong to them.
    let mut inside: Vec<PathBuf> = files.iter().take(MOST_EXAMINED).cloned().collect();
    while let Some(path) = inside.pop() {
        if let Some(index) = unlisted::is_index(&path).then(|| OtherIndex::read(&path, options)).flatten() {
            inside.extend(index.files(&folder, options).filter(|file| files.insert(file.clone())));
        }
    }
    others.retain(|path| !files.contains(path));
    others.sort();
    let others: Vec<OtherIndex> = others.iter().filter_map(|path| OtherIndex::read(path, options)).collect();
    // Which of the others lists a name; `None` if several do.
    let mut listed: HashMap<&str, Option<usize>> = HashMap::new();
    for (number, index) in others.iter().enumerate() {
        for name in index.listed_names() {
            let by = listed.entry(name).or_insert(Some(number));
            *by = by.filter(|by| *by == number);
        }
    }
    for (number, index) in others.iter().enumerate() {
        let name = index.path.file_name().unwrap_or_default().to_string_lossy();
        let is_child = listed.get(&*name).is_some_and(|by| *by != Some(number));
        if is_child || !index.names.is_compatible_with(&own) {
            continue;
        }
        let before = files.len();
        files.extend(index.files(&folder, options));
        if files.len() > before {
            found.push(index.path.clone());
        }
    }
    found
}

/// The names of these indexes that follow a slash in one of them, each with the index that has it, or `None` if several
/// do. Scans each index once.
fn names_listed(known: &[(PathBuf, FileBytes)]) -> HashMap<Cow<'_, str>, Option<&Path>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

    fn index(names: &[&str]) -> String {
        let entries = names.iter().map(|name| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>\n"));
        format!("<sitemapindex xmlns=\"{NAMESPACE}\">\n{}</sitemapindex>\n", entries.collect::<String>())
    }

    /// The names of indexes with those of the files that they list.
    type Indexes<'t> = &'t [(&'t str, &'t [&'t str])];

    /// The names of the files that a folder of these indexes and sitemaps is opened by.
    fn opened(indexes: Indexes<'_>, sitemaps: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, listed) in indexes {
            fs::write(folder.path().join(name), index(listed)).unwrap();
        }
        for name in sitemaps {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("<urlset xmlns=\"{NAMESPACE}\"><url><loc>https://e.com/</loc></url></urlset>"))
                .unwrap();
        }
        let found = find_all_in_folder(folder.path(), &Options::default());
        found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_folder_is_opened_by_all_indexes_that_list_sitemaps_of_it() {
        let sitemaps = ["a.xml", "b.xml", "maps/c.xml"];
        let table: [(Indexes<'_>, &[&str]); 9] = [
            (&[("blog.xml", &["a.xml"]), ("shop.xml", &["b.xml", "maps/c.xml"])], &["blog.xml", "shop.xml"]),
            (&[("sitemap_index.xml", &["b.xml"]), ("blog.xml", &["a.xml"])], &["sitemap_index.xml", "blog.xml"]),
            (&[("sitemap_index.xml", &["b.xml"]), ("sitemap.xml", &["a.xml"])], &["sitemap_index.xml", "sitemap.xml"]),
            // A copy, an old copy, and one of sitemaps that are elsewhere.
            (
                &[("sitemap_index.xml", &["a.xml", "b.xml"]), ("sitemap.xml", &["a.xml", "b.xml"])],
                &["sitemap_index.xml"],
            ),
            (&[("sitemap_index.xml", &["a.xml"]), ("old.xml", &["a.xml", "gone.xml"])], &["sitemap_index.xml"]),
            (&[("sitemap_index.xml", &["a.xml"]), ("far.xml", &["x/y.xml"])], &["sitemap_index.xml"]),
            // A child of the first, and one of another.
            (&[("index.xml", &["a.xml", "inner.xml"]), ("inner.xml", &["b.xml"])], &["index.xml"]),
            (
                &[
                    ("sitemap_index.xml", &["a.xml", "inner.xml"]),
                    ("inner.xml", &["deep.xml"]),
                    ("deep.xml", &["b.xml"]),
                ],
                &["sitemap_index.xml"],
            ),
            (
                &[("a-index.xml", &["a.xml"]), ("inner.xml", &["b.xml"]), ("z.xml", &["inner.xml", "maps/c.xml"])],
                &["a-index.xml", "z.xml"],
            ),
        ];
        for (indexes, expected) in table {
            assert_eq!(opened(indexes, &sitemaps), expected, "{indexes:?}");
        }
        assert_eq!(opened(&[], &["b.xml", "a.xml"]), ["a.xml", "b.xml"]);
        // A sitemap of the usual name is part of the index that lists it; otherwise it is opened alone.
        let table: [(Indexes<'_>, &[&str]); 3] = [
            (&[("all.xml", &["sitemap.xml", "a.xml"])], &["all.xml"]),
            (&[("all.xml", &["sitemap.xml"]), ("b-index.xml", &["b.xml"])], &["all.xml", "b-index.xml"]),
            (&[("other.xml", &["a.xml"])], &["sitemap.xml"]),
        ];
        for (indexes, expected) in table {
            assert_eq!(opened(indexes, &["sitemap.xml", "a.xml", "b.xml"]), expected, "{indexes:?}");
        }
    }
}
