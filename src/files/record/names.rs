//! Checks the paths in a commit record: plain, not hidden, each with its temporary file beside it.
//!
//! A save whose record would contain any other path is refused before its first rename.

use super::{Name, Record, Replacement};
use crate::files::temporary::is_temporary_of;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path};

/// Whether a target is in the record's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetPath {
    Inside,
    Elsewhere,
}

/// Checks that a path is one that a save may write to, below its folder.
///
/// # Errors
/// The reason, which completes "… is not written".
pub(in crate::files) fn check_inside(path: &Path) -> Result<(), String> {
    match check_path(path)? {
        TargetPath::Inside => Ok(()),
        TargetPath::Elsewhere => Err("it is outside of the folder".to_owned()),
    }
}

/// Classifies a path that a save may write to: without `..` and without hidden components.
pub(super) fn check_path(path: &Path) -> Result<TargetPath, String> {
    if path.is_absolute() {
        let is_plain = path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
        let is_shown = path.file_name().is_some_and(|name| !is_hidden(name));
        return if is_plain && is_shown { Ok(TargetPath::Elsewhere) } else { Err("it is not a plain path".to_owned()) };
    }
    let mut components = path.components().peekable();
    if components.peek().is_none() {
        return Err("it is not a plain path".to_owned());
    }
    for component in components {
        match component {
            Component::Normal(name) if is_hidden(name) => {
                return Err(format!("{} is hidden, and no save writes there", Path::new(name).display()));
            }
            Component::Normal(_) => {}
            _ => return Err("it leads out of the folder of the record".to_owned()),
        }
    }
    Ok(TargetPath::Inside)
}

/// Whether a name is hidden. Folders that begin with a dot belong to programs (`.git`, `.ssh`), except the one of web
/// servers (RFC 8615). Some file systems ignore certain characters, so that names with them may also lead there.
fn is_hidden(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let ignored = |letter: char| matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    name.chars().any(ignored) || (name.starts_with('.') && name != ".well-known")
}

impl Record {
    /// Checks that each path of the record is one that a save may write to.
    pub(super) fn check_names(&self) -> Result<(), String> {
        let name = |target: &Name, why: String| format!("{}: {why}", target.path().display());
        for target in self.targets() {
            check_path(&target.path()).map_err(|why| name(target, why))?;
        }
        for file in &self.files {
            file.check_temporary().map_err(|why| name(&file.target, why))?;
        }
        self.duplicate_target().map_or(Ok(()), |target| Err(name(&target, "it is written twice".to_owned())))
    }

    /// A target that is named more than once.
    pub(super) fn duplicate_target(&self) -> Option<Name> {
        let mut seen = BTreeSet::new();
        self.targets().find(|target| !seen.insert(*target)).cloned()
    }
}

impl Replacement {
    /// Checks that the temporary file is one that a save creates for this target: in its folder, with a name made of
    /// its name.
    pub(super) fn check_temporary(&self) -> Result<(), String> {
        let (temporary, target) = (self.temporary.path(), self.target.path());
        let is_beside = temporary.parent() == target.parent();
        let is_named = temporary.file_name().zip(target.file_name());
        let is_named = is_named.is_some_and(|(temporary, target)| is_temporary_of(temporary, target));
        if is_beside && is_named {
            Ok(())
        } else {
            Err("the file that waits for it is not one of this program".to_owned())
        }
    }
}
