//! Loads several sitemaps without an index as one set: paths named together, or a folder.

use super::error::{Error, Reason};
use super::index_contents::sweep_beside;
use super::load_context::{begin, refuse_unread};
use super::loaded::{File, Loaded, LoadedFile, MakeVisitor};
use super::ordered_pool::{MaxBytes, in_order};
use super::{detect, read, unlisted};
use crate::progress::Progress;
use crate::xml::names::FileKind;
use crate::xml::scan::Visit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a path names several files: a folder, or an index (by its first bytes).
pub(crate) fn is_multi_file(path: &Path) -> bool {
    path.is_dir() || unlisted::is_index(path)
}

/// Loads several sitemaps as one set, in their order. Unreadable files are reported in [`Loaded::unread`].
///
/// # Errors
/// A file is an index; the first error if none can be read.
pub(super) fn load_sitemaps<V: Visit + Send>(
    paths: &[PathBuf],
    options: &read::Options,
    progress: &Progress,
    make: &MakeVisitor<'_, V>,
    deliver: &mut dyn FnMut(LoadedFile<V>),
) -> Result<Loaded, Error> {
    refuse_unread(options, &mut unreadable(paths, options))?;
    let folder = common_folder(paths);
    let (job, mut loaded) = begin(paths, options, progress, make)?;
    job.cancel_if_over_limit();
    let mut seen = BTreeSet::new();
    if let Some(set_folder) = paths.first().and_then(|path| path.parent()).filter(|_| options.recovery.finish) {
        sweep_beside(set_folder, paths.iter().map(PathBuf::as_path));
    }
    let read_one = |path: &PathBuf| -> Option<Result<File<V>, Error>> {
        if progress.is_cancelled() {
            return None;
        }
        let name: Arc<str> = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy().into();
        let url: Option<Arc<str>> = job.base.as_ref().map(|base| format!("{base}{name}").into());
        let read = || {
            let contents = read::read(path, options, progress)?;
            let is_index = detect::detect(&contents.bytes).is_ok_and(|kind| kind == FileKind::Index);
            if is_index { Err(Error::new(path, Reason::InSet("a sitemap index"))) } else { Ok(contents) }
        };
        Some(job.read_and_scan(path, &name, url.as_ref(), read))
    };
    let mut index_error = None;
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    in_order(paths, MaxBytes { max: options.buffers.read_ahead(), size }, read_one, |path, file| {
        // In order, so that the load is complete only with the last file.
        progress.finish_files(u64::from(file.is_some()));
        match file {
            None => loaded.stopped = true,
            Some(Err(error)) if matches!(error.reason, Reason::InSet(_)) => index_error = Some(error),
            Some(Err(error)) => loaded.unread.push(error),
            // A file under two names would be written twice.
            Some(Ok(file))
                if file.on_disk.as_ref().and_then(|disk| disk.identity).is_some_and(|id| !seen.insert(id)) => {}
            Some(Ok(file)) => {
                loaded.stopped |= file.source.cut;
                deliver(file.into_sitemap());
                loaded.paths.push(path.clone());
            }
        }
        index_error.is_none() && !loaded.stopped
    });
    if let Some(error) = index_error {
        return Err(error);
    }
    loaded.path = loaded.paths.first().cloned();
    if loaded.path.is_none() && !loaded.unread.is_empty() {
        return Err(loaded.unread.swap_remove(0));
    }
    refuse_unread(options, &mut loaded.unread)?;
    Ok(loaded)
}

/// The errors of files that cannot be opened, if all files are required. Only regular files are checked, because others
/// can be read only once.
fn unreadable(paths: &[PathBuf], options: &read::Options) -> Vec<Error> {
    let is_regular = |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let probed = paths.iter().filter(|_| options.require_all).filter(is_regular);
    probed.filter_map(|path| super::unlisted::probe(path).err()).collect()
}

/// The folder that all paths are in.
fn common_folder(paths: &[PathBuf]) -> PathBuf {
    let mut folders = paths.iter().map(|path| path.parent().unwrap_or(Path::new("")));
    let mut common = folders.next().unwrap_or(Path::new("")).to_path_buf();
    for folder in folders {
        while !folder.starts_with(&common) && common.pop() {}
    }
    common
}

#[cfg(test)]
mod tests {
    use super::super::load::tests::Locs;
    use super::super::load_many;
    use super::*;
    use std::fs;

    fn urlset(loc: &str) -> String {
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{loc}</loc></url></urlset>")
    }

    fn names(paths: &[PathBuf]) -> Result<(Vec<String>, usize), Error> {
        let mut names = Vec::new();
        let (options, progress) = (read::Options::default(), Progress::default());
        let loaded = load_many(paths, &options, &progress, &|_| Locs::default(), &mut |part| {
            if let LoadedFile::Sitemap { sitemap, .. } = part {
                names.push(sitemap.name.to_string());
            }
        })?;
        Ok((names, loaded.unread.len()))
    }

    #[test]
    fn several_paths_and_a_folder_are_one_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("deep")).unwrap();
        fs::write(path("b.xml"), urlset("http://e/b")).unwrap();
        fs::write(path("deep/a.txt"), "http://e/a\n").unwrap();
        fs::write(path("note.txt"), "nothing of that sort\n").unwrap();
        let (found, failed) = names(&[path("b.xml"), path("gone.xml"), path("deep/a.txt"), path("b.xml")]).unwrap();
        assert_eq!((found, failed), (vec!["b.xml".to_owned(), "deep/a.txt".to_owned()], 1));
        assert!(names(&[path("gone.xml"), path("no.xml")]).unwrap_err().is_missing());
        fs::write(path("c.rss"), "<rss><channel><item><link>http://e/c</link></item></channel></rss>").unwrap();
        assert_eq!(names(&[folder.path().to_path_buf()]).unwrap().0, ["b.xml", "c.rss"]);
        fs::write(
            path("z.xml"),
            urlset("http://e/b.xml").replace("urlset", "sitemapindex").replace("url>", "sitemap>"),
        )
        .unwrap();
        assert_eq!(names(&[folder.path().to_path_buf()]).unwrap().0, ["b.xml"]);
        assert!(matches!(names(&[path("b.xml"), path("z.xml")]).unwrap_err().reason, Reason::InSet(_)));
    }
}
