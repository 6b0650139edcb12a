//! Loads a file, or an index with its children: reads and scans them in parallel, delivers them in order.
//!
//! The first part is handed over before the second is read. What an index names and is not there, or cannot
//! be read, is a [`ChildState`] and never an error. Visitors see every entry while its bytes are hot.

use super::children::{SeenFiles, folder_of, known_unread, probe};
use super::commit;
use super::conflict::{self, LineMap, Resolved};
use super::detect::{self, Detected};
use super::disk::OnDisk;
use super::error::{Error, Reason};
use super::form::{self, Shaped};
use super::journal::{LockedByOther, StateSlot};
use super::locate;
use super::read::{self, Contents, Options};
use super::record::{self, Recovered};
use super::scan_and_repair::{self, ScannedFile};
use super::unlisted;
use crate::document::form::Form;
use crate::document::index::{Child, ChildState, Index};
use crate::document::quirk::Quirk;
use crate::document::sitemap::Sitemap;
use crate::document::source::Source;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::grid::{Grid, TableHints};
use crate::xml::names::FileKind;
use crate::xml::scan::Visit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Properties of a file that are known before its entries are scanned.
#[derive(Debug, Clone)]
pub struct FileInfo {
    /// Urlset or index.
    pub kind: FileKind,
    /// Where it is; `None` for the sample.
    pub path: Option<PathBuf>,
    /// Its path relative to the set's folder.
    pub name: Arc<str>,
    /// Its public URL, as far as an index or a base URL tells.
    pub url: Option<Arc<str>>,
    /// Whether it is gzipped.
    pub gzip: bool,
    /// Its size, uncompressed.
    pub bytes: u64,
    /// The encoding that it is stored in.
    pub encoding: &'static str,
    /// The layout of a table.
    pub grid: Option<Arc<Grid>>,
}

/// A loaded file.
#[derive(Debug)]
pub enum LoadedFile<V> {
    /// The index: comes first. Its children are [`ChildState::NotLoaded`] as yet; [`Loaded`] has what became of them.
    Index {
        /// The file, or several.
        index: Index,
        /// What each file was on disk; none for the sample.
        on_disk: Vec<OnDisk>,
        /// Have seen the entries, one those of each file.
        visitors: Vec<V>,
    },
    /// A urlset: in index order; the first one becomes `SitemapId(0)` of a new document, and so on.
    Sitemap {
        /// Its bytes.
        source: Source,
        /// Where it belongs; the document fills in its rows and frame when it is appended.
        sitemap: Sitemap,
        /// What it was on disk; `None` for the sample.
        on_disk: Option<OnDisk>,
        /// Has seen its entries.
        visitor: V,
    },
}

/// The result of a load.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The file that was opened (in a folder: the one found there; of several the first); `None` for the sample.
    pub path: Option<PathBuf>,
    /// All files, where several were opened as one set.
    pub paths: Vec<PathBuf>,
    /// Which of several could not be read, and why.
    pub unread: Vec<Error>,
    /// The index with the final state of each child.
    pub index: Option<Index>,
    /// Whether it was stopped before the end.
    pub stopped: bool,
    /// What was done about an interrupted save.
    pub recovered: Recovered,
    /// The state slot for the journal, if one was asked for.
    pub state_slot: Option<Result<StateSlot, LockedByOther>>,
}

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
        Some(found) => super::indexes::with_further(found, options),
        None => super::load_many::sitemaps_in(folder, options),
    }
}

/// Loads a sitemap, an index with the children beside it, or the one of a folder.
///
/// `make` gives the visitor of each file, on the thread that scans it; `deliver` gets the parts on this
/// thread, in order. When `progress` is cancelled, what was delivered stays.
pub fn load<V: Visit + Send>(
    path: &Path,
    options: &Options,
    progress: &Progress,
    make: impl Fn(&FileInfo) -> V + Sync,
    deliver: &mut dyn FnMut(LoadedFile<V>),
) -> Result<Loaded, Error> {
    let recovered = folder_of(path, options).map(|_| record::recover(path, &options.recovery)).transpose()?;
    let recovered = recovered.unwrap_or_default();
    let path = if path.is_dir() {
        std::fs::read_dir(path).map_err(|error| Error::system("read", path, error))?;
        match all_in_folder(path, options).as_slice() {
            [] => return Err(Error::new(path, Reason::Folder)),
            [only] => only.clone(),
            several => return super::load_many(several, options, progress, make, deliver),
        }
    } else {
        path.to_path_buf()
    };
    // Before the first byte is read, so that two never edit the same set.
    let state_slot = StateSlot::wanted(options, std::slice::from_ref(&path));
    let base = options.base_url.as_deref().and_then(locate::folder_url);
    let job = LoadContext { options, progress, make: &make, base };
    let name = file_name(&path);
    let url = job.base.as_ref().map(|base| format!("{base}{name}").into());
    progress.expect(1, std::fs::metadata(&path).map_or(0, |metadata| metadata.len()));
    let contents = read::read(&path, options, progress)?;
    let identity = contents.on_disk.identity;
    let file = job.scan(contents, name, url)?;
    progress.finish_files(1);
    if file.facts.kind != FileKind::Index {
        let stopped = file.source.cut;
        deliver(file.into_sitemap());
        return Ok(Loaded { path: Some(path), stopped, recovered, state_slot, ..Loaded::default() });
    }
    let met = SeenFiles::new(&path, identity, options);
    if options.index_as_rows && !job.has_children(&met, &file.source) {
        let stopped = file.source.cut;
        deliver(file.into_sitemap());
        return Ok(Loaded { path: Some(path), stopped, recovered, state_slot, ..Loaded::default() });
    }
    let (index, on_disk, visitor) = file.into_index();
    let on_disk = on_disk.into_iter().collect();
    deliver(LoadedFile::Index { index: index.clone(), on_disk, visitors: vec![visitor] });
    let IndexContents { index, stopped, state_slot } = job.files_of(index, met, state_slot, deliver)?;
    Ok(Loaded { path: Some(path), index: Some(index), stopped, recovered, state_slot, ..Loaded::default() })
}

/// The place of a set with all its files: somebody may have one of them open by itself.
fn claimed<'p>(
    state_slot: Result<StateSlot, LockedByOther>,
    files: impl Iterator<Item = &'p Path>,
) -> Result<StateSlot, LockedByOther> {
    state_slot.and_then(|mut state_slot| state_slot.claim(files).map(|()| state_slot))
}

/// Removes what dead processes have left beside the files of a set, `set_folder` being the folder of the one that it is opened
/// by. Its record, if there was one, has been finished.
pub(super) fn sweep_beside<'p>(set_folder: &Path, files: impl Iterator<Item = &'p Path>) {
    let here = if set_folder.as_os_str().is_empty() { Path::new(".") } else { set_folder };
    let Ok(real_home) = here.canonicalize() else { return };
    let (mut swept, mut swept_behind_links) = (BTreeSet::from([set_folder]), BTreeSet::new());
    let mut far = Vec::new();
    for path in files {
        if let Some(folder) = path.parent().filter(|folder| swept.insert(folder)) {
            folder.canonicalize().iter().for_each(|folder| commit::sweep(folder));
        }
        let is_elsewhere = path.parent() != Some(set_folder) || path.is_symlink();
        let Some(real) = is_elsewhere.then(|| path.canonicalize().ok()).flatten() else { continue };
        match real.parent() {
            Some(folder) if folder.starts_with(&real_home) => {
                if swept_behind_links.insert(folder.to_path_buf()) {
                    commit::sweep(folder);
                }
            }
            _ => far.push(real),
        }
    }
    commit::sweep_far(&far, &real_home);
}

/// A file name as text.
pub(super) fn file_name(path: &Path) -> Arc<str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into()
}

/// A scanned file.
pub(super) struct File<V> {
    pub(super) facts: FileInfo,
    pub(super) source: Source,
    pub(super) on_disk: Option<OnDisk>,
    pub(super) visitor: V,
    pub(super) quirks: Arc<[Quirk]>,
    pub(super) form: Form,
}

impl<V> File<V> {
    /// The index, with the loc of each child.
    pub(super) fn into_index(self) -> (Index, Option<OnDisk>, V) {
        let source = self.source;
        let children = Arc::new(children_of(&source));
        let FileInfo { path, name, gzip, encoding, .. } = self.facts;
        let (source, quirks) = (Arc::new(source), self.quirks);
        (Index { path, name, gzip, source, children, encoding, quirks, ..Index::default() }, self.on_disk, self.visitor)
    }

    pub(super) fn into_sitemap(self) -> LoadedFile<V> {
        let FileInfo { path, name, url, gzip, encoding, .. } = self.facts;
        let File { quirks, form, .. } = self;
        let sitemap = Sitemap { path, name, url, gzip, encoding, quirks, form, ..Sitemap::default() };
        LoadedFile::Sitemap { source: self.source, sitemap, on_disk: self.on_disk, visitor: self.visitor }
    }
}

/// The sitemaps that an index lists, none of them looked for yet.
fn children_of(index: &Source) -> Vec<Child> {
    let loc = |entry| {
        let text = index.entry_text(entry);
        Entry::of(text, &index.names).value(Field::Loc, text).map_or_else(Arc::default, Into::into)
    };
    (0..index.len()).map(|entry| Child { loc: loc(entry), state: ChildState::NotLoaded }).collect()
}

/// An index with the files that it lists.
pub(super) struct IndexContents {
    /// The index with what became of its children.
    pub(super) index: Index,
    /// Whether it was stopped before the last.
    pub(super) stopped: bool,
    /// The place of the set with all its files.
    pub(super) state_slot: Option<Result<StateSlot, LockedByOther>>,
}

/// What all files of one load have in common.
pub(super) struct LoadContext<'a, M> {
    pub(super) options: &'a Options,
    pub(super) progress: &'a Progress,
    pub(super) make: &'a M,
    /// URL of the set's folder, with its last slash.
    pub(super) base: Option<String>,
}

impl<V: Visit + Send, M: Fn(&FileInfo) -> V + Sync> LoadContext<'_, M> {
    /// Whether any sitemap that an index lists is there, or may be and cannot be looked at.
    fn has_children(&self, met: &SeenFiles, index: &Source) -> bool {
        let mut children = children_of(index);
        // What is found here is counted when it is looked for in earnest.
        let quiet = Progress::default();
        let job = LoadContext { options: self.options, progress: &quiet, make: self.make, base: self.base.clone() };
        let found = job.resolve(&mut met.clone(), None, &mut children);
        let is_absent =
            |child: &Child| matches!(child.state, ChildState::Missing | ChildState::Outside | ChildState::Elsewhere(_));
        !found.is_empty() || !children.iter().all(is_absent)
    }

    /// Reads what an index lists.
    ///
    /// # Errors
    /// When not all can be read and all are required: where that is known beforehand, nothing is delivered.
    pub(super) fn files_of(
        &self,
        mut index: Index,
        mut met: SeenFiles,
        state_slot: Option<Result<StateSlot, LockedByOther>>,
        deliver: &mut dyn FnMut(LoadedFile<V>),
    ) -> Result<IndexContents, Error> {
        let path = index.path.clone().unwrap_or_default();
        let found = self.resolve(&mut met, None, index.children_mut());
        if self.options.require_all {
            let indexes = probe(&found, index.children_mut());
            let inside = self.unread_inside(&mut met.clone(), &indexes);
            Error::unread(&path, known_unread(&index.children).chain(inside)).map_or(Ok(()), Err)?;
        }
        let Some(folder) = folder_of(&path, self.options) else {
            return Ok(IndexContents { index, stopped: false, state_slot });
        };
        let direct = met.paths.len();
        let state_slot = state_slot.map(|state_slot| claimed(state_slot, found.iter().map(|found| &*found.path)));
        if self.options.recovery.finish {
            sweep_beside(&folder, found.iter().map(|found| &*found.path));
        }
        let stopped = self.children(&mut met, &found, index.children_mut(), deliver);
        // What indexes inside the index list is of the set as well.
        let inside = met.paths.get(direct..).unwrap_or_default().iter().map(PathBuf::as_path);
        let state_slot = state_slot.map(|state_slot| claimed(state_slot, inside));
        let known = met.paths.iter().map(PathBuf::as_path).collect();
        index.unlisted = unlisted::unlisted_sitemaps(&folder, &known);
        if self.options.require_all && !stopped {
            let unread = index.unread().into_iter();
            let unread = unread.map(|child| format!("{}: {}", child.loc, child.state.why_unread().unwrap_or_default()));
            Error::unread(&path, unread).map_or(Ok(()), Err)?;
        }
        Ok(IndexContents { index, stopped, state_slot })
    }
}

impl<V: Visit + Send, M: Fn(&FileInfo) -> V> LoadContext<'_, M> {
    /// Scans what was read; an error when it is no sound sitemap file.
    pub(super) fn scan(&self, contents: Contents, name: Arc<str>, url: Option<Arc<str>>) -> Result<File<V>, Error> {
        let path = contents.on_disk.path.clone();
        let hints = TableHints { loc_column: self.options.loc_column.as_deref(), name: detect::name_hint(&name) };
        let Resolved { contents, quirks: of_merge, anchors: sides } =
            conflict::resolve(contents, &path, &self.options.conflicts, hints)?;
        let Contents { bytes, gzip, encoding, quirks, on_disk } = contents;
        let map = (!sides.is_empty()).then(|| LineMap::of(&bytes, &sides));
        let Detected { kind, grid } = detect::detect_with(&bytes, hints).map_err(|reason| Error::new(&path, reason))?;
        let Shaped { bytes, form, quirks: odd, anchors } = form::shape(bytes, (kind, grid.as_ref()), &name);
        let (len, grid) = (bytes.len() as u64, grid.map(Arc::new));
        let facts = FileInfo { kind, path: Some(path), name, url, gzip, bytes: len, encoding, grid };
        let file = scan(
            (bytes, [form::of_encoding(quirks, kind), odd].concat()),
            facts,
            Some(on_disk),
            (self.make, self.progress),
        )?;
        let source = if anchors.is_empty() { file.source } else { file.source.anchored(anchors) };
        let Some(map) = map else { return Ok(File { source, quirks: joined(of_merge, &file.quirks), form, ..file }) };
        // What was found in the resolved text is told by the lines of the file as stored.
        let moved = file.quirks.iter().map(|quirk| Quirk { at: map.stored(quirk.at), ..quirk.clone() });
        let quirks = joined(of_merge, &moved.collect::<Vec<_>>());
        let source =
            if source.is_as_stored() { source.anchored(sides) } else { source.with_places(|at| map.stored(at)) };
        Ok(File { source, quirks, form, ..file })
    }
}

/// Quirks of a file as a whole, and others.
fn joined(first: Vec<Quirk>, rest: &[Quirk]) -> Arc<[Quirk]> {
    first.into_iter().chain(rest.iter().cloned()).collect()
}

/// Scans a file's bytes, and repairs them where they are not well-formed.
pub(super) fn scan<V: Visit + Send>(
    (bytes, quirks): (Vec<u8>, Vec<Quirk>),
    facts: FileInfo,
    on_disk: Option<OnDisk>,
    (make, progress): (&impl Fn(&FileInfo) -> V, &Progress),
) -> Result<File<V>, Error> {
    let ScannedFile { source, visitor, quirks } =
        scan_and_repair::scan_and_repair(bytes, quirks, &facts, make, progress)?;
    Ok(File { facts, source, on_disk, visitor, quirks: quirks.into(), form: Form::Xml })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::document::sitemap::SitemapId;
    use crate::xml::names::Names;
    use std::fs;

    /// Collects the locs that it is shown.
    #[derive(Default)]
    pub(in crate::files) struct Locs(pub(in crate::files) Vec<String>);

    impl Visit for Locs {
        fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
            self.0.push(entry.value(Field::Loc, text).unwrap_or_default().into_owned());
        }
    }

    fn urlset(locs: &[&str]) -> String {
        let urls: Vec<String> = locs.iter().map(|loc| format!("<url><loc>{loc}</loc></url>\n")).collect();
        let urls = urls.concat();
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n")
    }

    fn index(locs: &[&str]) -> String {
        urlset(locs).replace("urlset", "sitemapindex").replace("url>", "sitemap>")
    }

    /// Writes files and loads the first; gives the delivered names with their locs, and what it came to.
    fn load_set(files: &[(&str, &str)], options: &Options) -> (Vec<(String, Vec<String>)>, Loaded) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut parts = Vec::new();
        let path = folder.path().join(files[0].0);
        let loaded =
            load(&path, options, &Progress::default(), |_| Locs::default(), &mut |part: LoadedFile<Locs>| match part {
                LoadedFile::Index { index, visitors, .. } => {
                    let locs = visitors.into_iter().flat_map(|visitor| visitor.0);
                    parts.push((index.name.to_string(), locs.collect()));
                }
                LoadedFile::Sitemap { source, sitemap, visitor, .. } => {
                    assert_eq!(source.len(), visitor.0.len());
                    parts.push((sitemap.name.to_string(), visitor.0));
                }
            });
        (parts, loaded.unwrap())
    }

    #[test]
    fn a_urlset_is_one_part() {
        let (parts, loaded) = load_set(&[("a.xml", &urlset(&["http://e/1", "http://e/2"]))], &Options::default());
        assert_eq!(parts, [("a.xml".to_owned(), vec!["http://e/1".to_owned(), "http://e/2".to_owned()])]);
        assert!(loaded.index.is_none() && !loaded.stopped);
    }

    #[test]
    fn children_come_in_index_order_and_whatever_is_wrong_with_one_is_its_state() {
        use ChildState::{Cycle, Itself, Loaded, Missing, Nested, Outside, Repeated};
        let locs = [
            "http://e/maps/b.xml",
            "http://e/a.xml?v=2",
            "http://e/missing.xml",
            "http://e/../up.xml",
            "http://e/index.xml",
            "http://e/a.xml?v=2",
            "http://e/nested.xml",
            "http://e/damaged.xml",
            "http://e/feed.xml",
            "http://e/deep/er/c%20d.xml",
            "",
            "http://e/other/a.xml",
            "http://e/back.xml",
        ];
        let files: Vec<(&str, String)> = vec![
            ("index.xml", index(&locs)),
            ("a.xml", urlset(&["http://e/a"])),
            ("b.xml", urlset(&["http://e/wrong"])),
            ("maps/b.xml", urlset(&["http://e/b"])),
            ("nested.xml", index(&["http://e/x.xml"])),
            ("back.xml", index(&["http://e/y.xml", "http://e/index.xml"])),
            ("unlisted.xml", urlset(&["http://e/u"])),
            ("damaged.xml", urlset(&["http://e/?a&b"])),
            ("feed.xml", "<html/>".to_owned()),
            ("er/c d.xml", urlset(&["http://e/c"])),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (parts, loaded) = load_set(&files, &Options::default());
        let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["index.xml", "maps/b.xml", "a.xml", "damaged.xml", "er/c d.xml"]);
        assert_eq!(parts[0].1, locs);
        assert_eq!(parts[1].1, ["http://e/b"]);
        let index = loaded.index.unwrap();
        // What is listed by another path of its URL alone counts as not listed here.
        assert_eq!(index.unlisted.iter().map(|name| &**name).collect::<Vec<_>>(), ["b.xml", "unlisted.xml"]);
        let states: Vec<ChildState> = index.children.iter().map(|child| child.state.clone()).collect();
        let unreadable = |number: usize| match &states[number] {
            ChildState::Unreadable(why) => why.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(unreadable(8).contains("HTML"), "{}", unreadable(8));
        let inside = |number: usize| match &states[number] {
            Nested(nested) => nested.children.iter().map(|child| child.state.clone()).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!((inside(6), inside(12)), (vec![Missing], vec![Missing, Cycle]));
        let rest: Vec<ChildState> = [0, 1, 2, 3, 4, 5, 7, 9, 10, 11].map(|number| states[number].clone()).into();
        let loaded = |number| Loaded(SitemapId(number));
        let expected = [loaded(0), loaded(1), Missing, Outside, Itself, Repeated, loaded(2), loaded(3)];
        assert_eq!(rest, [&expected[..], &[Missing, Missing]].concat());
    }

    #[test]
    fn indexes_inside_the_index_are_followed_in_their_place_and_never_twice_or_out_of_the_folder() {
        use ChildState::{Cycle, Itself, Loaded, Nested, Outside, Repeated};
        let inner = ["http://e/maps/c.xml", "http://e/maps/deep.xml", "http://e/b.xml", "http://e/../up.xml"];
        let deep = ["http://e/maps/d.xml", "http://e/index.xml", "http://e/maps/deep.xml", "http://e/maps/inner.xml"];
        let listed = ["http://e/a.xml", "http://e/maps/inner.xml", "http://e/b.xml"];
        let files = [
            ("index.xml", index(&listed)),
            ("maps/inner.xml", index(&inner)),
            ("maps/deep.xml", index(&deep)),
            ("a.xml", urlset(&["http://e/a"])),
            ("b.xml", urlset(&["http://e/b"])),
            ("maps/c.xml", urlset(&["http://e/c"])),
            ("maps/d.xml", urlset(&["http://e/d"])),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (parts, loaded) = load_set(&files, &Options::default());
        let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["index.xml", "a.xml", "maps/c.xml", "maps/d.xml", "b.xml"]);
        let index = loaded.index.unwrap();
        assert_eq!(*index.unlisted, []);
        assert!(index.lists(SitemapId(2)) && index.child_of(SitemapId(2)).is_none());
        let states =
            |children: &[Child]| -> Vec<ChildState> { children.iter().map(|child| child.state.clone()).collect() };
        let [first, Nested(inner), third] = &states(&index.children)[..] else { panic!("{index:?}") };
        assert_eq!([first, third], [&Loaded(SitemapId(0)), &Loaded(SitemapId(3))]);
        let [Loaded(SitemapId(1)), Nested(deep), Repeated, Outside] = &states(&inner.children)[..] else {
            panic!("{inner:?}")
        };
        assert_eq!(states(&deep.children), [Loaded(SitemapId(2)), Cycle, Itself, Cycle]);
        assert!(inner.loops());
    }

    #[test]
    fn a_base_url_gives_urls_and_tells_other_hosts_apart() {
        let options = Options { base_url: Some("https://e.com/maps/".to_owned()), ..Options::default() };
        let files = [
            ("index.xml", &*index(&["https://e.com/maps/a.xml", "https://cdn.e.com/maps/b.xml"])),
            ("a.xml", &*urlset(&["https://e.com/"])),
            ("b.xml", &*urlset(&["https://e.com/b"])),
        ];
        let (parts, loaded) = load_set(&files, &options);
        assert_eq!(parts.len(), 2);
        let elsewhere = ChildState::Elsewhere(crate::document::index::ON_ANOTHER_HOST);
        assert_eq!(loaded.index.unwrap().children[1].state, elsewhere);
    }

    #[test]
    fn many_children_come_in_order_and_the_first_before_the_rest_is_read() {
        let names: Vec<String> = (0..40).map(|number| format!("s{number}.xml")).collect();
        let locs: Vec<String> = names.iter().map(|name| format!("http://e/{name}")).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.xml");
        fs::write(&path, index(&locs.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
        for name in &names {
            fs::write(folder.path().join(name), urlset(&["http://e/"])).unwrap();
        }
        let progress = Progress::default();
        let mut seen = Vec::new();
        let loaded = load(&path, &Options::default(), &progress, |_| Locs::default(), &mut |part| {
            if let LoadedFile::Sitemap { sitemap, .. } = part {
                if seen.is_empty() {
                    assert_eq!(progress.read().files_done, 2, "the index and the first child");
                }
                seen.push(sitemap.name.to_string());
            }
        });
        assert_eq!(seen, names);
        assert!(!loaded.unwrap().stopped);
        let reading = progress.read();
        assert_eq!((reading.files_done, reading.files_total, reading.rows), (41, 41, 80));
        assert_eq!(reading.bytes_done, reading.bytes_total);
    }

    #[test]
    fn a_stopped_load_keeps_what_was_delivered() {
        let names: Vec<String> = (0..8).map(|number| format!("http://e/s{number}.xml")).collect();
        let mut files = vec![("index.xml".to_owned(), index(&names.iter().map(String::as_str).collect::<Vec<_>>()))];
        files.extend((0..8).map(|number| (format!("s{number}.xml"), urlset(&["http://e/"]))));
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in &files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let progress = Progress::default();
        let mut delivered = 0;
        let path = folder.path().join("index.xml");
        let loaded = load(&path, &Options::default(), &progress, |_| Locs::default(), &mut |part| {
            if matches!(part, LoadedFile::Sitemap { .. }) {
                delivered += 1;
                progress.cancel();
            }
        })
        .unwrap();
        let children = loaded.index.unwrap().children;
        let there = children.iter().filter(|child| matches!(child.state, ChildState::Loaded(_))).count();
        assert_eq!((there, delivered, loaded.stopped), (1, 1, true));
        assert!(children[1..].iter().all(|child| child.state == ChildState::NotLoaded));
    }

    #[test]
    fn a_file_is_read_no_further_once_it_is_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        let locs: Vec<String> = (0..9).map(|row| format!("https://e.com/{row}/{}", "a".repeat(1 << 20))).collect();
        fs::write(&path, urlset(&locs.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
        let (progress, mut entries) = (Progress::default(), 0);
        progress.cancel();
        let loaded = load(&path, &Options::default(), &progress, |_| Locs::default(), &mut |part| {
            if let LoadedFile::Sitemap { source, .. } = part {
                entries += source.len();
            }
        });
        let reading = progress.read();
        assert!(loaded.unwrap().stopped && entries < 9, "{entries}");
        assert!(reading.bytes_read < reading.bytes_total, "{reading:?}");
        let progress = Progress::default();
        let loaded = load(&path, &Options::default(), &progress, |_| Locs::default(), &mut |_| {}).unwrap();
        let reading = progress.read();
        assert!(!loaded.stopped);
        assert_eq!((reading.bytes_read, reading.bytes_done), (reading.bytes_total, reading.bytes_total));
    }

    #[test]
    fn a_folder_opens_its_index_or_its_sitemap() {
        let folder = tempfile::tempdir().unwrap();
        let open = || load(folder.path(), &Options::default(), &Progress::default(), |_| Locs::default(), &mut |_| {});
        assert!(matches!(open().unwrap_err().reason, Reason::Folder));
        fs::write(folder.path().join("sitemap.xml"), urlset(&[])).unwrap();
        assert_eq!(open().unwrap().path.unwrap(), folder.path().join("sitemap.xml"));
        fs::write(folder.path().join("sitemap_index.xml"), index(&[])).unwrap();
        assert_eq!(open().unwrap().path.unwrap(), folder.path().join("sitemap_index.xml"));
    }

    #[test]
    fn what_cannot_be_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        let open = || load(&path, &Options::default(), &Progress::default(), |_| Locs::default(), &mut |_| {});
        assert!(open().unwrap_err().is_missing());
        fs::write(&path, "hello\n").unwrap();
        assert!(open().unwrap_err().to_string().contains("without XML elements or URLs"));
    }

    #[cfg(unix)]
    #[test]
    fn links_within_the_folder_are_followed_and_count_as_their_target() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("real.xml"), urlset(&["http://e/1"])).unwrap();
        for name in ["a.xml", "b.xml"] {
            std::os::unix::fs::symlink("real.xml", folder.path().join(name)).unwrap();
        }
        let path = folder.path().join("index.xml");
        fs::write(&path, index(&["http://e/a.xml", "http://e/b.xml"])).unwrap();
        let loaded = load(&path, &Options::default(), &Progress::default(), |_| Locs::default(), &mut |_| {}).unwrap();
        let states: Vec<ChildState> = loaded.index.unwrap().children.iter().map(|child| child.state.clone()).collect();
        assert_eq!(states, [ChildState::Loaded(SitemapId(0)), ChildState::Repeated]);
    }
}
