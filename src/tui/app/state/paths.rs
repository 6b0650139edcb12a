//! Path completion on the command line.

use crate::session::command::path_argument;
use crate::tui::prompt::{Candidate, Completion, Prompt};

/// What a folder holds: names, those of folders with a slash at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The folder as it was typed, with its last slash; empty for the current one.
    pub folder: String,
    /// The names, sorted.
    pub names: Vec<String>,
}

/// Proposals shown at most: more than a screen has lines for.
const MOST: usize = 200;

/// The folder and the beginning of a name in a typed path.
fn split(typed: &str) -> (&str, &str) {
    let at = typed.rfind('/').map_or(0, |slash| slash + 1);
    typed.split_at(at)
}

/// Where the path that is being typed begins, and the path up to the caret.
fn typed_path(prompt: &Prompt) -> Option<(usize, &str)> {
    let typed = prompt.text().get(..prompt.caret())?;
    let from = path_argument(typed)?;
    Some((from, typed.get(from..)?))
}

/// The folder of the path that is being typed, if it is a path.
pub(in crate::tui::app) fn folder_of(prompt: &Prompt) -> Option<&str> {
    typed_path(prompt).map(|(_, path)| split(path).0)
}

impl Listing {
    /// Proposals for the path being typed, if it is in this folder.
    pub(in crate::tui::app) fn complete(&self, prompt: &Prompt) -> Option<Completion> {
        let (from, path) = typed_path(prompt)?;
        let (folder, start) = split(path);
        if self.folder != folder {
            return None;
        }
        // Hidden files are proposed to whoever asks for them.
        let fits = |name: &&String| name.starts_with(start) && (start.starts_with('.') || !name.starts_with('.'));
        let hint = |name: &str| if name.ends_with('/') { "folder".to_owned() } else { String::new() };
        let candidates: Vec<Candidate> = self
            .names
            .iter()
            .filter(fits)
            .take(MOST)
            .map(|name| Candidate { text: name.clone(), hint: hint(name) })
            .collect();
        let is_typed = candidates.len() == 1 && candidates.first().is_some_and(|only| only.text == start);
        let from = from + folder.len();
        (!candidates.is_empty() && !is_typed).then_some(Completion { from, candidates, chosen: None })
    }
}
