//! Path completion on the command line.

use crate::session::command::path_argument;
use crate::tui::prompt::{Candidate, Completion, Prompt};

/// The content of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The folder as typed, with its last slash; empty for the current folder.
    pub folder: String,
    /// The sorted names; names of folders end with a slash.
    pub names: Vec<String>,
}

/// Maximum number of candidates: more than a screen has lines.
const MAX_CANDIDATES: usize = 200;

/// Splits a typed path into the folder and the beginning of a name.
fn split(typed: &str) -> (&str, &str) {
    let at = typed.rfind('/').map_or(0, |slash| slash + 1);
    typed.split_at(at)
}

/// The byte position at which the path under the caret begins, and the path up to the caret.
fn typed_path(prompt: &Prompt) -> Option<(usize, &str)> {
    let typed = prompt.text().get(..prompt.caret())?;
    let from = path_argument(typed)?;
    Some((from, typed.get(from..)?))
}

/// The folder of the path under the caret; `None` if the caret is not in a path argument.
pub(in crate::tui::app) fn folder_of(prompt: &Prompt) -> Option<&str> {
    typed_path(prompt).map(|(_, path)| split(path).0)
}

impl Listing {
    /// The candidates for the path under the caret; `None` if it is in another folder or nothing matches.
    pub(in crate::tui::app) fn complete(&self, prompt: &Prompt) -> Option<Completion> {
        let (from, path) = typed_path(prompt)?;
        let (folder, start) = split(path);
        if self.folder != folder {
            return None;
        }
        // Hidden files are listed only if a dot was typed.
        let fits = |name: &&String| name.starts_with(start) && (start.starts_with('.') || !name.starts_with('.'));
        let hint = |name: &str| if name.ends_with('/') { "folder".to_owned() } else { String::new() };
        let candidates: Vec<Candidate> = self
            .names
            .iter()
            .filter(fits)
            .take(MAX_CANDIDATES)
            .map(|name| Candidate { text: name.clone(), hint: hint(name) })
            .collect();
        let is_typed = candidates.len() == 1 && candidates.first().is_some_and(|only| only.text == start);
        let from = from + folder.len();
        (!candidates.is_empty() && !is_typed).then_some(Completion { from, candidates, chosen: None })
    }
}
