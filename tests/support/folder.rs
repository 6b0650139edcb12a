//! A temporary folder for one test.
//!
//! Paths are relative to it. It contains a hidden `.home` for the user's home folder, which is not listed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder for one test.
pub(crate) struct Folder {
    place: TempDir,
}

impl Folder {
    /// An empty folder with a home folder inside.
    pub(crate) fn new() -> Self {
        let place = tempfile::Builder::new().prefix("sited-test-").tempdir().expect("make a folder");
        for name in ["config", "data", "state", "cache", "tmp"] {
            fs::create_dir_all(place.path().join(".home").join(name)).expect("make a home");
        }
        Self { place }
    }

    /// A folder that holds these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    /// A folder that holds the bundled sample set.
    pub(crate) fn sample() -> Self {
        let folder = Self::new();
        for name in ["sitemap_index.xml", "sitemap-1.xml", "sitemap-2.xml"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/sample").join(name);
            folder.write(name, fs::read(from).expect("read the sample set"));
        }
        folder
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    /// The path of a file in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Writes a file, and creates its parent folders.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.file(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("make a folder");
        fs::write(&path, bytes).expect("write a file");
        path
    }

    /// A file's bytes.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap_or_else(|error| panic!("read {name}: {error}"))
    }

    /// A file's text.
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("the file is UTF-8")
    }

    /// The bytes of every file by relative path with `/`, without the home folder.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(self.path(), "", &mut found);
        found
    }

    /// The sorted relative paths of all files, without the home folder.
    pub(crate) fn names(&self) -> Vec<String> {
        self.files().into_keys().collect()
    }
}

fn collect(folder: &Path, above: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("list a folder") {
        let entry = entry.expect("list a folder");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().expect("ask for a file's type").is_dir() {
            if name != ".home" {
                collect(&entry.path(), &format!("{above}{name}/"), found);
            }
        } else {
            found.insert(format!("{above}{name}"), fs::read(entry.path()).expect("read a file"));
        }
    }
}
