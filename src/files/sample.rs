//! The built-in sample set, opened as an unsaved document if there is no sitemap.
//!
//! It is scanned and delivered as files are, but has no paths.

use super::loaded::{FileInfo, Loaded, LoadedFile, MakeVisitor};
use super::scan_and_repair::{Unscanned, scan_and_repair};
use crate::document::form::Form;
use crate::document::index::ChildState;
use crate::document::sitemap::{Sitemap, SitemapId, UTF_8};
use crate::document::source::Source;
use crate::progress::Progress;
use crate::xml::grid::Grid;
use crate::xml::names::FileKind;
use crate::xml::scan::Visit;
use std::path::Path;
use std::sync::Arc;

const INDEX: (&str, &[u8]) = ("sitemap_index.xml", include_bytes!("../../assets/sample/sitemap_index.xml"));
const SITEMAPS: [(&str, &[u8]); 2] = [
    ("sitemap-1.xml", include_bytes!("../../assets/sample/sitemap-1.xml")),
    ("sitemap-2.xml", include_bytes!("../../assets/sample/sitemap-2.xml")),
];

/// Delivers the sample set. Its files are embedded in the program and well-formed (a test loads them).
pub fn sample<V: Visit + Send>(make: &MakeVisitor<'_, V>, deliver: &mut dyn FnMut(LoadedFile<V>)) -> Loaded {
    let progress = Progress::default();
    let file = |(name, bytes): (&str, &[u8]), kind, url: Option<Arc<str>>| {
        let (path, gzip, grid, len) = (None, false, None, bytes.len() as u64);
        let facts = FileInfo { kind, path, name: name.into(), url, gzip, bytes: len, encoding: UTF_8, grid };
        let (bytes, quirks) = (bytes.to_vec().into(), Vec::new());
        scan_and_repair(Unscanned { facts, bytes, quirks, on_disk: None, started: None }, make, &progress).ok()
    };
    let Some(index) = file(INDEX, FileKind::Index, None) else { return Loaded::default() };
    let (mut index, _, visitor) = index.into_index();
    deliver(LoadedFile::Index { index: index.clone(), on_disk: Vec::new(), visitors: vec![visitor] });
    let mut sitemaps = 0;
    for (child, sitemap) in index.children_mut().iter_mut().zip(SITEMAPS) {
        if let Some(file) = file(sitemap, FileKind::Urlset, Some(Arc::clone(&child.loc))) {
            deliver(file.into_sitemap());
            child.state = ChildState::Loaded(SitemapId(sitemaps));
            sitemaps += 1;
        }
    }
    Loaded { index: Some(index), ..Loaded::default() }
}

/// A new, empty sitemap that will be written to `path`.
pub fn blank(path: Option<&Path>) -> (Source, Sitemap) {
    let name = path.and_then(Path::file_name).map_or_else(|| "sitemap.xml".into(), |name| name.to_string_lossy());
    let form = Form::of_name(&name).unwrap_or_default();
    let source = || match form {
        Form::List => Source::blank(FileKind::List),
        Form::Csv => Source::of_grid(Grid::table(b',')),
        Form::Tsv => Source::of_grid(Grid::table(b'\t')),
        Form::Xml | Form::Feed(_) => Source::blank(FileKind::Urlset),
    };
    let sitemap = Sitemap {
        form,
        frame: Arc::new(source()),
        path: path.map(Path::to_path_buf),
        name: name.as_ref().into(),
        gzip: name.ends_with(".gz"),
        ..Sitemap::default()
    };
    (source(), sitemap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Field;
    use crate::xml::entry::Entry;
    use crate::xml::names::Names;

    struct Count(usize);

    impl Visit for Count {
        fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
            assert!(entry.value(Field::Loc, text).is_some());
            self.0 += 1;
        }
    }

    #[test]
    fn the_sample_is_a_valid_set_of_two_files_and_their_index() {
        let (mut rows, mut names) = (0, Vec::new());
        let loaded = sample(&|_| Count(0), &mut |part: LoadedFile<Count>| match part {
            LoadedFile::Index { index, visitors, .. } => {
                assert_eq!((visitors[0].0, index.children.len()), (2, 2));
                names.push(index.name.to_string());
            }
            LoadedFile::Sitemap { source, sitemap, visitor, on_disk, .. } => {
                assert_eq!(visitor.0, source.len());
                assert!(sitemap.path.is_none() && on_disk.is_none());
                assert_eq!(sitemap.url.as_deref(), Some(&*format!("https://www.example.com/{}", sitemap.name)));
                rows += visitor.0;
                names.push(sitemap.name.to_string());
            }
        });
        assert_eq!(names, ["sitemap_index.xml", "sitemap-1.xml", "sitemap-2.xml"]);
        assert!((50..80).contains(&rows), "{rows}");
        let children = loaded.index.unwrap().children;
        assert!(children.iter().all(|child| matches!(child.state, ChildState::Loaded(_))));
    }
}
