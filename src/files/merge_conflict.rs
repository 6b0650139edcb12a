//! Merge conflicts of files, and the answers to them.

use crate::words::counted;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The side of a merge conflict that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The lines of the current branch.
    Ours,
    /// The lines of the merged branch.
    Theirs,
    /// The entries of both, each URL once.
    Both,
}

impl Side {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Ours, Self::Theirs, Self::Both];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
            Self::Both => "both",
        }
    }

    /// The side of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.name() == name)
    }
}

/// How files with merge conflicts are opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Conflicts {
    /// They are not opened.
    #[default]
    Refuse,
    /// They are opened to be examined: our side is shown, and each conflict is a finding.
    Show,
    /// They are opened to be listed: both sides are included, and each conflict is a finding.
    ShowBoth,
    /// They are opened as resolved.
    Take(Arc<Answers>),
}

/// Answers to the merge conflicts of a set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers {
    /// The answers of each file, in the order of its conflicts.
    pub files: BTreeMap<PathBuf, Vec<Side>>,
    /// The answer for every conflict of other files; without one, such files are not opened.
    pub others: Option<Side>,
}

impl Answers {
    /// One answer for all conflicts.
    pub const fn all(side: Side) -> Self {
        Self { files: BTreeMap::new(), others: Some(side) }
    }

    /// One answer for each conflict of a list, in its order.
    pub fn each<'c>(conflicts: impl IntoIterator<Item = (&'c MergeConflict, Side)>) -> Self {
        let mut answers = Self::default();
        for (conflict, side) in conflicts {
            answers.files.entry(conflict.path.clone()).or_default().push(side);
        }
        answers
    }

    /// The answers for a file with this number of conflicts; a message if there are none.
    pub(super) fn of(&self, path: &Path, conflicts: usize) -> Result<Vec<Side>, String> {
        match (self.files.get(path), self.others) {
            (Some(sides), _) if sides.len() == conflicts => Ok(sides.clone()),
            (Some(sides), _) => {
                let answers = counted(sides.len() as u64, "answer");
                Err(format!("{answers} for {}", counted(conflicts as u64, "merge conflict")))
            }
            (None, Some(side)) => Ok(vec![side; conflicts]),
            (None, None) => Err(format!("{} without an answer", counted(conflicts as u64, "merge conflict"))),
        }
    }
}

/// A merge conflict of a file, with the lines of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// The file.
    pub path: PathBuf,
    /// Its first and its last line in the file, markers included, from 1.
    pub lines: (u32, u32),
    /// The lines of the current branch.
    pub ours: String,
    /// The lines of the merged branch.
    pub theirs: String,
    /// Git's label of each side: a branch or a commit; may be empty.
    pub names: [String; 2],
    /// Why [`Side::Both`] is not possible, if so.
    pub no_both: Option<&'static str>,
}
