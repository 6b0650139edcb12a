//! File errors: what failed, for which file, why, and what to do about it.
//!
//! A message is one line that begins with the file; [`Error::hint`] is a second line.

use super::stream::is_stream;
use crate::document::lines::LineColumn;
use crate::words::{counted, grouped};
use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {reason}", path.display(), At(*at))]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// Line and column of the problem, from 1, if it has a position.
    pub at: Option<LineColumn>,
    /// The cause.
    pub reason: Reason,
}

/// Prints `:line:column`.
struct At(Option<LineColumn>);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |LineColumn { line, column }| write!(f, ":{line}:{column}"))
    }
}

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// A system call failed.
    #[error("cannot {act}: {}", system_message(.source))]
    System {
        /// The operation that failed, as a verb.
        act: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// A folder without a sitemap.
    #[error("this folder has no sitemap in it")]
    Folder,
    /// One of several given paths, although it is a set of its own; the text completes "this is …".
    #[error("this is {0}, a set of its own")]
    InSet(&'static str),
    /// The file is empty or contains only whitespace.
    #[error("this file is empty")]
    Empty,
    /// The file has more bytes than this limit.
    #[error("this file has more than {} bytes (uncompressed), the most that --max-bytes allows", grouped(*.0))]
    TooLarge(u64),
    /// The gzip stream is damaged.
    #[error("the gzip data is damaged or cut off: {}", system_message(.source))]
    Gzip {
        /// The error of the decoder.
        source: io::Error,
    },
    /// Gzip data that unpack to more bytes than this limit.
    #[error("this gzip file unpacks to more than {} bytes, the most that --max-bytes allows", grouped(*.0))]
    Bomb(u64),
    /// Compressed or archived in another format than gzip; the text completes "this is …".
    #[error("this is {0}; a sitemap may be packed with gzip only")]
    Packed(&'static str),
    /// An HTML page.
    #[error("this is an HTML page, not an XML sitemap")]
    Html,
    /// A format that is not supported; the text completes "this is …".
    #[error("this is {0}, not an XML sitemap")]
    Format(String),
    /// A table in which the column with the URLs is unknown.
    #[error("{}", no_url_column(.columns, *.is_ambiguous, .asked.as_deref()))]
    NoUrlColumn {
        /// The names of its columns.
        columns: Vec<String>,
        /// Whether several columns contain URLs.
        is_ambiguous: bool,
        /// The requested column, which the table does not have.
        asked: Option<String>,
    },
    /// XML with another root element.
    #[error("this is XML, but its root element is <{0}>, not <urlset> or <sitemapindex>")]
    Root(String),
    /// Unresolved merge conflicts.
    #[error("{0}")]
    Conflicts(String),
    /// Not well-formed.
    #[error("not well-formed: {what}{}", and_more(*.others))]
    Damaged {
        /// The first defect.
        what: &'static str,
        /// Number of defects after the first.
        others: usize,
    },
    /// The file has changed since it was loaded.
    #[error("the file has changed on disk since it was read")]
    Changed,
    /// The file is read-only.
    #[error("this file is read-only")]
    ReadOnly,
    /// The folder of the file is read-only, so that no new file can be created beside it.
    #[error("its folder is read-only, so that no new file can be created beside it")]
    FolderReadOnly,
    /// The file system is mounted read-only.
    #[error("its file system is mounted read-only")]
    SystemReadOnly,
    /// The path is not a regular file; the text completes "this is …".
    #[error("this is {0}, not a regular file")]
    Irregular(&'static str),
    /// Files of a set that cannot be read.
    #[error("{}", unread(.files, *.all))]
    Unread {
        /// The first of them with their reasons, one line for each.
        files: Vec<String>,
        /// The number of all of them.
        all: usize,
    },
    /// A symbolic link that leads to no file; the text completes "this link …".
    #[error("this link {0}")]
    Link(&'static str),
    /// There is not enough space for the new files.
    #[error("cannot {act}: {space}")]
    NoSpace {
        /// The operation that failed, as a verb.
        act: &'static str,
        /// The space that is missing.
        space: SpaceNeeded,
        /// Whether some files have been replaced already.
        begun: bool,
    },
    /// A system call failed after some files had been replaced.
    #[error("cannot {act}: {}; the rest of this save is recorded and will be finished", system_message(.source))]
    Unfinished {
        /// The operation that failed, as a verb.
        act: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A save failed, and some of its temporary files could not be removed.
    #[error("{why}; {} could not be removed", names(.files))]
    LeftBehind {
        /// Why the save failed.
        why: String,
        /// The remaining temporary files.
        files: Vec<PathBuf>,
    },
    /// The target is a device, a pipe or a folder; the text completes "this is …".
    #[error("this is {0}, which is never replaced")]
    Special(&'static str),
    /// Another program created a file that the save was going to create.
    #[error("another program created a file with this name, which the save was going to create")]
    Exists,
    /// Reading the new file back gives other data than the document; the text gives the first difference.
    #[error("not written, because reading it back would give different data: {0}")]
    Check(String),
    /// The file was repaired when it was read, and the user has not agreed to write the repairs.
    #[error("this file was damaged; saving would write these repairs: {0}")]
    Repairs(String),
    /// The plan cannot be executed; the text is the whole message.
    #[error("{0}")]
    Plan(String),
    /// An earlier save was interrupted and cannot be finished; the text gives the reason.
    #[error("an earlier save was interrupted: {0}")]
    Interrupted(String),
    /// A backup that this user's key does not authenticate.
    #[error("your key does not authenticate this backup: another user or machine made it, or the folder was moved")]
    Unverified,
    /// Another process is saving.
    #[error("another sited process is saving files here")]
    Saving,
    /// The work was cancelled.
    #[error("stopped before anything was written")]
    Cancelled,
}

/// Disk space that a save lacks. Sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceNeeded {
    /// The exhausted resource.
    pub shortage: Shortage,
    /// The space that all new files take, in whole blocks; a gzipped file counts with its old size.
    pub needed: u64,
    /// The space that is free for this user; `None` if unknown.
    pub free: Option<u64>,
}

/// The exhausted resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// The disk (`ENOSPC`).
    Disk,
    /// The maximum number of files on the disk (`ENOSPC`).
    Files,
    /// This user's share of the disk (`EDQUOT`).
    Quota,
    /// The maximum size of a file (`EFBIG`) in bytes; `None` if unknown.
    FileSize(Option<u64>),
}

impl std::fmt::Display for SpaceNeeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let needed = grouped(self.needed);
        match self.shortage {
            Shortage::Disk => write!(f, "the disk is full; the new files take {needed} bytes beside the old ones")?,
            Shortage::Files => return f.write_str("the disk can hold no more files"),
            Shortage::Quota => write!(f, "your quota on this disk is used up; the new files take {needed} bytes")?,
            Shortage::FileSize(Some(limit)) => {
                return write!(f, "no file may have more than {} bytes here (ulimit -f)", grouped(limit));
            }
            Shortage::FileSize(None) => return f.write_str("the file is too large for this file system"),
        }
        match self.free {
            Some(free) if free < self.needed => {
                write!(f, ", {} are free, {} are missing", grouped(free), grouped(self.needed - free))
            }
            Some(free) => write!(f, ", {} are free", grouped(free)),
            None => Ok(()),
        }
    }
}

impl Error {
    /// An error without a position in the file.
    pub fn new(path: impl Into<PathBuf>, reason: Reason) -> Self {
        Self { path: path.into(), at: None, reason }
    }

    /// A failure of the system to `act` (read, write, …) on a file.
    pub fn system(act: &'static str, path: &Path, error: io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::NotFound if act == "read" => Reason::Missing,
            io::ErrorKind::ReadOnlyFilesystem => Reason::SystemReadOnly,
            _ => Reason::System { act, source: error },
        };
        Self::new(path, reason)
    }

    /// Converts the error to one of a save that is recorded and has replaced some files.
    pub(super) fn into_unfinished(self) -> Self {
        match self.reason {
            Reason::System { act, source } => Self { reason: Reason::Unfinished { act, source }, ..self },
            Reason::SystemReadOnly => {
                let source = io::ErrorKind::ReadOnlyFilesystem.into();
                Self { reason: Reason::Unfinished { act: "write", source }, ..self }
            }
            _ => self,
        }
    }

    /// Whether the file was read and its content was refused. All other errors do not depend on the content.
    pub const fn is_of_content(&self) -> bool {
        matches!(
            self.reason,
            Reason::Empty
                | Reason::Html
                | Reason::Root(_)
                | Reason::Format(_)
                | Reason::NoUrlColumn { .. }
                | Reason::Packed(_)
                | Reason::Bomb(_)
                | Reason::Gzip { .. }
                | Reason::Damaged { .. }
                | Reason::Conflicts(_)
        )
    }

    /// The error for files of a set that cannot be read, each given with the reason; `None` without any.
    pub(super) fn unread(path: &Path, files: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut files = files.into_iter();
        let named: Vec<String> = files.by_ref().take(MAX_NAMED_FILES).collect();
        let all = named.len() + files.count();
        (all > 0).then(|| Self::new(path, Reason::Unread { files: named, all }))
    }

    /// Whether the path does not exist: the only error that an editor may answer by creating the file.
    pub const fn is_missing(&self) -> bool {
        matches!(self.reason, Reason::Missing)
    }

    /// Whether the folder of the file does not exist either.
    pub fn is_folder_missing(&self) -> bool {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        self.is_missing() && folder.is_some_and(|folder| !folder.is_dir())
    }

    /// Whether the path is a URL, which this command does not download.
    fn is_url(&self) -> bool {
        self.path.to_str().is_some_and(|path| path.starts_with("https:/") || path.starts_with("http:/"))
    }

    /// The action that may solve the problem; `None` if there is none.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match &self.reason {
            Reason::Missing if self.is_url() => {
                "this command reads files: download them with sited get URL; sited, check, list, stats and diff take a URL"
            }
            Reason::Missing if self.path.to_str().is_some_and(|path| path.contains("://")) => {
                "only URLs with http:// or https:// can be read"
            }
            Reason::Missing if self.is_folder_missing() => "its folder does not exist; make it first (mkdir -p)",
            Reason::Missing => "check the name; `sited NAME` offers to make a new sitemap of that name",
            Reason::Folder => "name the file: sited FOLDER/NAME.xml",
            Reason::InSet(_) => {
                "open it by itself, without other paths; several indexes of one folder are opened together"
            }
            Reason::Empty if is_stream(&self.path) => {
                "standard input is empty: check the command before the pipe, or name a file"
            }
            Reason::Empty if self.path.exists() && !self.path.is_file() => {
                "this is not a regular file; name a sitemap, or a new file to create"
            }
            Reason::Empty => "delete it and open the name again to start a new sitemap",
            Reason::TooLarge(_) => "a sitemap may have 52,428,800 bytes; --max-bytes allows more",
            Reason::Gzip { .. } => "fetch or compress the file again; `gzip -t FILE` tests it",
            Reason::Bomb(_) => "reading was stopped; --max-bytes allows more",
            Reason::Packed(_) => "nothing was changed; unpack it and open what was in it",
            Reason::Html => {
                "nothing was changed; an error page, a login page or a browser's view of a sitemap: fetch the sitemap itself"
            }
            Reason::Format(_) => {
                "nothing was changed; sited opens XML sitemaps, RSS and Atom feeds, lists of URLs, CSV and TSV tables"
            }
            Reason::NoUrlColumn { .. } => {
                "nothing was changed; --loc-column NAME says which column holds the URLs: its name, or its number from 1"
            }
            Reason::Root(_) => "nothing was changed; sited opens urlset and sitemapindex files",
            Reason::Conflicts(_) => {
                "nothing was changed; `sited fix PATH --rule merge-conflict --answer ours` (or theirs, both, or a list of one answer each) resolves them"
            }
            Reason::Damaged { .. } => {
                "nothing was changed; correct this place in a text editor and open the file again"
            }
            Reason::Changed => "reload with :edit!, save elsewhere with :write NAME, or overwrite with :write!",
            Reason::ReadOnly => {
                "save elsewhere (:write NAME, or -o OUT), or make the file writable (chmod u+w) and save again"
            }
            Reason::FolderReadOnly => {
                "save elsewhere (:write NAME, or -o OUT), or make the folder writable (chmod u+w) and save again"
            }
            Reason::SystemReadOnly => "save elsewhere (:write NAME, or -o OUT), or mount it writable and save again",
            Reason::Link(_) => "nothing was changed; create the file that it leads to, or remove the link",
            Reason::NoSpace { begun: true, .. } | Reason::Unfinished { .. } => UNFINISHED_HINT,
            Reason::NoSpace { space, .. } => space_hint(space.shortage),
            Reason::LeftBehind { .. } => {
                "every other file is as it was; the temporary files are harmless and can be deleted"
            }
            Reason::Irregular(_) => "put the sitemap there as a file",
            Reason::Unread { .. } => {
                "nothing was done; make these files readable, put them where the set lists them, or skip them with --allow-missing"
            }
            Reason::Special(_) => "save to a regular file (:write NAME, or -o OUT)",
            Reason::Repairs(_) => {
                "nothing was written; --accept-repairs writes the repairs, -o OUT writes to another file"
            }
            Reason::Exists => "save again: sited then uses the next free name",
            Reason::Check(_) => "no file was changed; correct the named row and save again",
            Reason::System { source, .. } => return system_hint(source),
            Reason::Interrupted(_) => {
                "nothing was changed; `sited recover PATH` shows that save, --finish finishes it, --discard discards it"
            }
            Reason::Unverified => "nothing was changed; --dry-run shows what it would do, --unverified restores it",
            Reason::Saving => "nothing was changed; try again when it is done",
            Reason::Plan(_) | Reason::Cancelled => return None,
        })
    }
}

const UNFINISHED_HINT: &str =
    "free some space or fix the permissions, then save again; opening the set again finishes it too";

const fn space_hint(shortage: Shortage) -> &'static str {
    match shortage {
        Shortage::Disk => {
            "no file was changed; free some space and save again, or save elsewhere (:write NAME, or -o OUT)"
        }
        Shortage::Files => {
            "no file was changed; remove files there and save again, or save elsewhere (:write NAME, or -o OUT)"
        }
        Shortage::Quota => {
            "no file was changed; remove files of yours and save again, or save elsewhere (:write NAME, or -o OUT)"
        }
        Shortage::FileSize(_) => {
            "no file was changed; raise the limit (ulimit -f) and start again, or save smaller files elsewhere (sited split)"
        }
    }
}

fn system_hint(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist; make it first (mkdir -p)",
        io::ErrorKind::PermissionDenied => "check the owner and mode of the file and of its folder (ls -l)",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            space_hint(Shortage::Disk)
        }
        _ => return None,
    })
}

/// The message of the system without its error number; the first letter is lower case, as in the middle of a sentence.
pub(super) fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}

/// Maximum number of unreadable files in a message.
pub(crate) const MAX_NAMED_FILES: usize = 20;

fn unread(files: &[String], all: usize) -> String {
    let verb = if all == 1 { "is" } else { "are" };
    let more = match all - files.len() {
        0 => String::new(),
        more => format!("\n  and {} more", grouped(more as u64)),
    };
    format!("{} of this set {verb} not read\n  {}{more}", counted(all as u64, "file"), files.join("\n  "))
}

/// Maximum number of columns in a message.
const MAX_NAMED_COLUMNS: usize = 30;

fn no_url_column(columns: &[String], is_ambiguous: bool, asked: Option<&str>) -> String {
    let named: Vec<String> =
        columns.iter().take(MAX_NAMED_COLUMNS).map(|name| format!("`{}`", crate::words::excerpt(name, 40))).collect();
    let more = match columns.len().saturating_sub(MAX_NAMED_COLUMNS) {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    };
    let listed = format!("its columns are {}{more}", named.join(", "));
    match asked {
        Some(asked) => format!("this table has no column `{}`; {listed}", crate::words::excerpt(asked, 40)),
        None if is_ambiguous => format!("several columns of this table hold URLs; {listed}"),
        None => format!("no column of this table holds URLs; {listed}"),
    }
}

fn names(files: &[PathBuf]) -> String {
    files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn and_more(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " (and 1 more place)".to_owned(),
        more => format!(" (and {more} more places)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_begin_with_the_position_and_give_the_reason() {
        let denied = io::Error::from_raw_os_error(13);
        let table = [
            (Error::system("read", Path::new("a.xml"), denied), "a.xml: cannot read: permission denied"),
            (Error::new("a.xml", Reason::Missing), "a.xml: there is no such file"),
            (
                Error {
                    path: "b/a.xml".into(),
                    at: Some(LineColumn { line: 12, column: 5 }),
                    reason: Reason::Damaged { what: "`&` that starts no reference", others: 2 },
                },
                "b/a.xml:12:5: not well-formed: `&` that starts no reference (and 2 more places)",
            ),
            (
                Error::new("a.xml", Reason::Format("an RSS feed".to_owned())),
                "a.xml: this is an RSS feed, not an XML sitemap",
            ),
        ];
        for (error, expected) in table {
            assert_eq!(error.to_string(), expected);
            assert!(error.hint().is_some(), "{expected}");
        }
        let hint = |path: &str, reason| Error::new(path, reason).hint().unwrap();
        assert!(hint("/dev/null", Reason::Empty).contains("not a regular file") || !cfg!(unix));
        assert!(hint("a.xml", Reason::Empty).contains("delete it"));
        assert!(hint("-", Reason::Empty).contains("before the pipe"));
        assert!(hint("no/such/folder/a.xml", Reason::Missing).contains("mkdir"));
        assert!(hint("a.xml", Reason::Missing).contains("offers"));
    }
}
