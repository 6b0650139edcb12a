//! Reads the record of downloads that `sited get` keeps beside the files of a folder.

use super::folder::find_all_in_folder;
use super::read::Options;
use super::stream::is_stream;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The name of the record: a line of JSON for each downloaded file. The last line of a file counts.
pub(crate) const DOWNLOADS: &str = ".sited-get.jsonl";

/// Maximum number of bytes that are read of a record: enough for 50,000 files with long URLs.
const MAX_BYTES: u64 = 64 << 20;

/// Number of parent folders that are searched for the record: the depth at which downloads are stored.
const MAX_DEPTH: usize = 16;

/// The fields of a line that are used.
#[derive(Deserialize)]
struct Download {
    file: String,
    url: String,
}

impl Options {
    /// These options with the base URL recorded by a download of the files, if they have no base URL.
    #[must_use]
    pub fn with_recorded_base(mut self, paths: &[PathBuf]) -> Self {
        if self.base_url.is_none() {
            self.base_url = recorded_base_url(paths);
            self.is_base_recorded = self.base_url.is_some();
        }
        self
    }

    /// The base URL for locating children of an index, unless it was recorded: downloads store sitemaps of other hosts
    /// in the same folder, and some files under other names.
    pub(super) fn location_base<'b>(&self, base: Option<&'b str>) -> Option<&'b str> {
        base.filter(|_| !self.is_base_recorded)
    }
}

/// The URL of the folder that the files of a set were downloaded from; `None` if there is none or more than one.
fn recorded_base_url(paths: &[PathBuf]) -> Option<String> {
    let files = paths.iter().filter(|path| !is_stream(path)).flat_map(|path| {
        if path.is_dir() { find_all_in_folder(path, &Options::default()) } else { vec![path.clone()] }
    });
    let mut records = HashMap::new();
    let mut base = None;
    for file in files {
        let found = base_of(&file, &mut records)?;
        if base.get_or_insert_with(|| found.clone()) != &found {
            return None;
        }
    }
    base
}

/// The URL of the folder of one file.
fn base_of(file: &Path, records: &mut HashMap<PathBuf, HashMap<String, String>>) -> Option<String> {
    let file = std::path::absolute(file).ok()?;
    let folder = folder_of(file.parent()?)?;
    let urls = records.entry(folder.clone()).or_insert_with(|| read(&folder.join(DOWNLOADS)).unwrap_or_default());
    let name: Vec<_> = file.strip_prefix(&folder).ok()?.iter().map(|part| part.to_string_lossy()).collect();
    let url = urls.get(&name.join("/"))?;
    let (path, _) = url.split_once(['?', '#']).unwrap_or((url, ""));
    let (scheme, rest) = path.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
    let (host_and_folder, _) = rest.rsplit_once('/')?;
    Some(format!("{scheme}://{host_and_folder}/"))
}

/// The root folder of the download that contains a folder.
pub(super) fn folder_of(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let found = folder.ancestors().take(MAX_DEPTH).find(|folder| folder.join(DOWNLOADS).is_file())?;
    Some(found.to_path_buf())
}

/// The URLs of a record by the paths of its files.
fn read(path: &Path) -> Option<HashMap<String, String>> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    // Skip incomplete lines and those of other programs.
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Download>(line).ok());
    Some(lines.map(|download| (download.file, download.url)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_download_of_each_file_gives_the_url_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let line = |file: &str, url: &str| format!("{{\"file\":\"{file}\",\"url\":\"{url}\",\"hash\":\"0\"}}\n");
        let record = [
            line("sitemap.xml", "https://old.example/sitemap.xml"),
            line("sitemap.xml", "https://e.com/sitemap.xml?v=2"),
            line("maps/a.xml", "https://e.com/maps/a.xml"),
            line("maps/b.xml", "https://cdn.e.com/maps/b.xml"),
            line("odd.xml", "file:///etc/passwd"),
            "{\"file\":\"maps/a.xml\",\"ur".to_owned(),
        ];
        std::fs::write(path(DOWNLOADS), record.concat()).unwrap();
        std::fs::create_dir(path("maps")).unwrap();
        std::fs::write(path("sitemap.xml"), "").unwrap();
        let of = |names: &[&str]| recorded_base_url(&names.iter().map(|name| path(name)).collect::<Vec<_>>());
        assert_eq!(of(&["sitemap.xml"]).as_deref(), Some("https://e.com/"));
        assert_eq!(of(&[""]).as_deref(), Some("https://e.com/"), "the sitemap of the folder");
        assert_eq!(of(&["maps/a.xml"]).as_deref(), Some("https://e.com/maps/"));
        assert_eq!(of(&["maps/a.xml", "maps/b.xml"]), None, "of two sites");
        assert_eq!((of(&["odd.xml"]), of(&["mine.xml"]), of(&[])), (None, None, None));
        assert_eq!(recorded_base_url(&[PathBuf::from("-")]), None);
    }
}
