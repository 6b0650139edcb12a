//! Loads a file, or an index with its children: reads and scans them in parallel, delivers them in order.
//!
//! Only a few files are read ahead of the one that is delivered next. A child that is missing or cannot be read gets a `ChildState`
//! and is never an error. Visitors see every entry while its bytes are in the cache.

use super::children::{SeenFiles, folder_of};
use super::error::{Error, Reason};
use super::folder::find_all_in_folder;
use super::index_contents::IndexContents;
use super::indexes::load_indexes;
use super::journal::StateSlot;
use super::load_context::LoadContext;
use super::load_many::load_sitemaps;
use super::loaded::{Loaded, LoadedFile, MakeVisitor, file_name};
use super::read::{self, Options};
use super::{locate, record, unlisted};
use crate::progress::Progress;
use crate::xml::names::FileKind;
use crate::xml::scan::Visit;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Loads a sitemap, an index with the children beside it, or the one of a folder.
///
/// `deliver` gets the files on this thread, in order. When `progress` is cancelled, delivered files remain.
pub fn load<V: Visit + Send>(
    path: &Path,
    options: &Options,
    progress: &Progress,
    make: &MakeVisitor<'_, V>,
    deliver: &mut dyn FnMut(LoadedFile<V>),
) -> Result<Loaded, Error> {
    let recovered = folder_of(path, options).map(|_| record::recover(path, &options.recovery)).transpose()?;
    let recovered = recovered.unwrap_or_default();
    let path = if path.is_dir() {
        std::fs::read_dir(path).map_err(|error| Error::system("read", path, error))?;
        match find_all_in_folder(path, options).as_slice() {
            [] => return Err(Error::new(path, Reason::Folder)),
            [only] => only.clone(),
            several => return load_many(several, options, progress, make, deliver),
        }
    } else {
        path.to_path_buf()
    };
    // Before the first byte is read, so that two processes never edit the same set.
    let state_slot = StateSlot::acquire_if_enabled(options, std::slice::from_ref(&path));
    let base = options.base_url.as_deref().and_then(locate::folder_url);
    let job = LoadContext { options, progress, make, base };
    let name = file_name(&path);
    let url: Option<Arc<str>> = job.base.as_ref().map(|base| format!("{base}{name}").into());
    progress.expect(1, std::fs::metadata(&path).map_or(0, |metadata| metadata.len()));
    let file = job.read_and_scan(&path, &name, url.as_ref(), || read::read(&path, options, progress))?;
    let identity = file.on_disk.as_ref().and_then(|on_disk| on_disk.identity);
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

/// Loads several sitemaps as one set, in their order, or several indexes as one. What cannot be read is reported in
/// [`Loaded::unread`].
///
/// # Errors
/// When one of them is a folder, or some are indexes and others are not, since those are sets of their own; that of the
/// first file when none could be read.
pub(crate) fn load_many<V: Visit + Send>(
    paths: &[PathBuf],
    options: &Options,
    progress: &Progress,
    make: &MakeVisitor<'_, V>,
    deliver: &mut dyn FnMut(LoadedFile<V>),
) -> Result<Loaded, Error> {
    if let [only] = paths {
        return load(only, options, progress, make, deliver);
    }
    if let Some(folder) = paths.iter().find(|path| path.is_dir()) {
        return Err(Error::new(folder, Reason::InSet("a folder")));
    }
    if paths.iter().any(|path| unlisted::is_index(path)) {
        return load_indexes(paths, options, progress, make, deliver);
    }
    load_sitemaps(paths, options, progress, make, deliver)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::document::index::{Child, ChildState};
    use crate::document::sitemap::{Sitemap, SitemapId};
    use crate::document::source::Source;
    use crate::files::{Buffers, DroppedEntries, OnDisk, StoredEntries};
    use crate::progress::Reading;
    use crate::protocol::Field;
    use crate::xml::entry::Entry;
    use crate::xml::names::Names;
    use std::fs;
    use tempfile::TempDir;

    /// Collects locs.
    #[derive(Default)]
    pub(in crate::files) struct Locs(pub(in crate::files) Vec<String>);

    impl Visit for Locs {
        fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
            self.0.push(entry.value(Field::Loc, text).unwrap_or_default().into_owned());
        }

        fn fork(&mut self) -> Option<Self> {
            Some(Self::default())
        }

        fn join(&mut self, later: Self) {
            self.0.extend(later.0);
        }
    }

    /// What the load of one sitemap delivers.
    pub(in crate::files) struct LoadedText {
        pub(in crate::files) source: Source,
        pub(in crate::files) sitemap: Sitemap,
        pub(in crate::files) locs: Vec<String>,
        pub(in crate::files) dropped: Option<Box<DroppedEntries>>,
        pub(in crate::files) reading: Reading,
        on_disk: OnDisk,
        /// The folder of the file.
        _folder: TempDir,
    }

    impl LoadedText {
        /// Its dropped entries, if there are any.
        pub(in crate::files) fn stored(&self) -> Option<StoredEntries<'_>> {
            let DroppedEntries { starts, repaired } = self.dropped.as_deref()?;
            Some(StoredEntries { on_disk: &self.on_disk, starts, repaired: repaired.as_ref() })
        }

        /// This text with all entries, of which dropped ones are read again.
        pub(in crate::files) fn restored(mut self) -> Self {
            if let Some(stored) = self.stored() {
                let (bytes, anchors) = stored.read(&Options::default()).unwrap();
                self.source = self.source.with_entries(bytes, stored.starts).unwrap().anchored(anchors);
            }
            self
        }
    }

    /// Loads a sitemap with this text from a file.
    pub(in crate::files) fn load_text(text: &[u8], buffers: Buffers) -> LoadedText {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        fs::write(&path, text).unwrap();
        let (options, progress) = (Options { buffers, ..Options::default() }, Progress::default());
        let mut delivered = None;
        load(&path, &options, &progress, &|_| Locs::default(), &mut |part| {
            if let LoadedFile::Sitemap { source, sitemap, visitor, dropped, on_disk } = part {
                delivered = Some((source, sitemap, visitor.0, dropped, on_disk.unwrap()));
            }
        })
        .unwrap();
        let (source, sitemap, locs, dropped, on_disk) = delivered.unwrap();
        LoadedText { source, sitemap, locs, dropped, reading: progress.read(), on_disk, _folder: folder }
    }

    fn urlset(locs: &[&str]) -> String {
        let urls: Vec<String> = locs.iter().map(|loc| format!("<url><loc>{loc}</loc></url>\n")).collect();
        let urls = urls.concat();
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n")
    }

    fn index(locs: &[&str]) -> String {
        urlset(locs).replace("urlset", "sitemapindex").replace("url>", "sitemap>")
    }

    /// Writes files and loads the first; returns the delivered names with their locs, and the result.
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
            load(
                &path,
                options,
                &Progress::default(),
                &|_| Locs::default(),
                &mut |part: LoadedFile<Locs>| match part {
                    LoadedFile::Index { index, visitors, .. } => {
                        let locs = visitors.into_iter().flat_map(|visitor| visitor.0);
                        parts.push((index.name.to_string(), locs.collect()));
                    }
                    LoadedFile::Sitemap { source, sitemap, visitor, .. } => {
                        assert_eq!(source.len(), visitor.0.len());
                        parts.push((sitemap.name.to_string(), visitor.0));
                    }
                },
            );
        (parts, loaded.unwrap())
    }

    #[test]
    fn a_urlset_is_one_part() {
        let (parts, loaded) = load_set(&[("a.xml", &urlset(&["http://e/1", "http://e/2"]))], &Options::default());
        assert_eq!(parts, [("a.xml".to_owned(), vec!["http://e/1".to_owned(), "http://e/2".to_owned()])]);
        assert!(loaded.index.is_none() && !loaded.stopped);
    }

    #[test]
    fn children_are_in_index_order_with_their_errors_as_states() {
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
        // A file that only the URL of another path refers to counts as unlisted.
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
    fn nested_indexes_are_loaded_in_order_once_and_only_within_the_folder() {
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
    fn a_base_url_identifies_children_on_other_hosts() {
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
    fn many_children_are_in_order_and_few_are_read_ahead_of_the_first() {
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
        let loaded = load(&path, &Options::default(), &progress, &|_| Locs::default(), &mut |part| {
            if let LoadedFile::Sitemap { sitemap, .. } = part {
                if seen.is_empty() {
                    let (reading, ahead) = (progress.read(), rayon::current_num_threads() as u64);
                    assert_eq!(reading.files_done, 2, "the index and the first child");
                    // The entries of the index, the row of the first child, one that is ready, and one for each thread.
                    assert!((41..=42 + ahead).contains(&reading.rows), "{}", reading.rows);
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
    fn a_cancelled_load_keeps_delivered_files() {
        let count = 9 + rayon::current_num_threads();
        let names: Vec<String> = (0..count).map(|number| format!("http://e/s{number}.xml")).collect();
        let mut files = vec![("index.xml".to_owned(), index(&names.iter().map(String::as_str).collect::<Vec<_>>()))];
        files.extend((0..count).map(|number| (format!("s{number}.xml"), urlset(&["http://e/"]))));
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in &files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let progress = Progress::default();
        let mut delivered = 0;
        let path = folder.path().join("index.xml");
        let loaded = load(&path, &Options::default(), &progress, &|_| Locs::default(), &mut |part| {
            if matches!(part, LoadedFile::Sitemap { .. }) {
                delivered += 1;
                progress.cancel();
            }
        })
        .unwrap();
        let children = loaded.index.unwrap().children;
        // A child that was being read may be before one that was ready.
        let is_there = |child: &&Child| matches!(child.state, ChildState::Loaded(_));
        let (there, others): (Vec<_>, Vec<_>) = children.iter().partition(is_there);
        assert_eq!((there.len(), loaded.stopped), (delivered, true));
        assert!((1..=2 + rayon::current_num_threads()).contains(&delivered), "{delivered}");
        assert!(others.iter().all(|child| child.state == ChildState::NotLoaded));
    }

    #[test]
    fn a_set_over_the_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let children = ["a.xml", "b.xml"].map(|name| folder.path().join(name));
        for path in &children {
            fs::write(path, urlset(&["http://e/1"])).unwrap();
        }
        let path = folder.path().join("index.xml");
        fs::write(&path, index(&["http://e/a.xml", "http://e/b.xml"])).unwrap();
        let sum: u64 = children.iter().chain([&path]).map(|path| fs::metadata(path).unwrap().len()).sum();
        let rows_of = |paths: &[PathBuf], max_held_bytes| {
            let (options, progress) = (Options { max_held_bytes, ..Options::default() }, Progress::default());
            let loaded = load_many(paths, &options, &progress, &|_| Locs::default(), &mut |_| {}).unwrap();
            (loaded.stopped, progress.read().rows)
        };
        assert_eq!(rows_of(std::slice::from_ref(&path), sum), (false, 4), "two index entries and two URLs");
        assert_eq!(rows_of(std::slice::from_ref(&path), sum - 1), (true, 2), "only the index");
        assert_eq!(rows_of(&children, 1), (true, 0));
        assert_eq!(rows_of(&children[..1], 1), (false, 1), "one file has no limit");
    }

    #[test]
    fn a_file_is_read_no_further_once_it_is_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        let locs: Vec<String> = (0..9).map(|row| format!("https://e.com/{row}/{}", "a".repeat(1 << 20))).collect();
        fs::write(&path, urlset(&locs.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
        let (progress, mut entries) = (Progress::default(), 0);
        progress.cancel();
        let loaded = load(&path, &Options::default(), &progress, &|_| Locs::default(), &mut |part| {
            if let LoadedFile::Sitemap { source, .. } = part {
                entries += source.len();
            }
        });
        let reading = progress.read();
        assert!(loaded.unwrap().stopped && entries < 9, "{entries}");
        assert!(reading.bytes_read < reading.bytes_total, "{reading:?}");
        let progress = Progress::default();
        let loaded = load(&path, &Options::default(), &progress, &|_| Locs::default(), &mut |_| {}).unwrap();
        let reading = progress.read();
        assert!(!loaded.stopped);
        assert_eq!((reading.bytes_read, reading.bytes_done), (reading.bytes_total, reading.bytes_total));
    }

    #[test]
    fn a_folder_opens_its_index_or_its_sitemap() {
        let folder = tempfile::tempdir().unwrap();
        let open = || load(folder.path(), &Options::default(), &Progress::default(), &|_| Locs::default(), &mut |_| {});
        assert!(matches!(open().unwrap_err().reason, Reason::Folder));
        fs::write(folder.path().join("sitemap.xml"), urlset(&[])).unwrap();
        assert_eq!(open().unwrap().path.unwrap(), folder.path().join("sitemap.xml"));
        fs::write(folder.path().join("sitemap_index.xml"), index(&[])).unwrap();
        assert_eq!(open().unwrap().path.unwrap(), folder.path().join("sitemap_index.xml"));
    }

    #[test]
    fn a_missing_or_foreign_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        let open = || load(&path, &Options::default(), &Progress::default(), &|_| Locs::default(), &mut |_| {});
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
        let loaded = load(&path, &Options::default(), &Progress::default(), &|_| Locs::default(), &mut |_| {}).unwrap();
        let states: Vec<ChildState> = loaded.index.unwrap().children.iter().map(|child| child.state.clone()).collect();
        assert_eq!(states, [ChildState::Loaded(SitemapId(0)), ChildState::Repeated]);
    }
}
