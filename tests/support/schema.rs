//! Validates files with the official schemas, in this process and with `xmllint` if it is installed.
//!
//! The schemas are in the folder `SITED_SCHEMAS`; they are not part of the project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the schemas; prints a notice if there is none.
pub(crate) fn schemas() -> Option<PathBuf> {
    let folder = std::env::var_os("SITED_SCHEMAS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SITED_SCHEMAS names no folder: the schemas' opinion was NOT asked");
    }
    folder
}

/// Validates documents with the schemas of sitemaps and of all extensions.
pub(crate) struct Judge {
    validator: uppsala::XsdValidator,
    /// The schema for `xmllint`; `None` if that is not installed.
    second: Option<PathBuf>,
}

impl Judge {
    /// A validator with the schemas of a folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let driver = folder.join("local/all-0.9.xsd");
        let text = std::fs::read_to_string(&driver).expect("the schema over all schemas");
        // The validator reads only files in the given folder, so paths are made relative to it.
        let text =
            text.replace("\"../original/", "\"original/").replace("\"sitemap-pagemap", "\"local/sitemap-pagemap");
        let schema = uppsala::parse(&text).expect("a sound schema");
        let validator =
            uppsala::XsdValidator::from_schema_with_base_path(&schema, Some(folder)).expect("a sound schema");
        let has_second =
            Command::new("xmllint").arg("--version").stderr(Stdio::null()).status().is_ok_and(|it| it.success());
        if !has_second {
            eprintln!("xmllint is not installed: one judge only");
        }
        Self { validator, second: has_second.then_some(driver) }
    }

    /// The validation errors of a document; empty if it is valid.
    pub(crate) fn faults(&self, text: &str) -> Vec<String> {
        match uppsala::parse(text) {
            Ok(document) => self.validator.validate(&document).iter().map(ToString::to_string).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    /// The validation errors of a file; both validators must agree whether it is valid.
    pub(crate) fn faults_of(&self, path: &Path) -> Vec<String> {
        let faults = self.faults(&std::fs::read_to_string(path).expect("a file of text"));
        if let Some(driver) = &self.second {
            let said = Command::new("xmllint").args(["--noout", "--nonet", "--schema"]).arg(driver).arg(path).output();
            let said = said.expect("xmllint runs");
            let words = String::from_utf8_lossy(&said.stderr);
            assert_eq!(said.status.success(), faults.is_empty(), "{}: {faults:#?} but {words}", path.display());
        }
        faults
    }
}
