//! Completion of paths on the command line. A job lists the folder that is being typed; the last listing is kept.

use super::super::jobs::Kind;
use super::super::prompt::{Candidate, Completion};
use super::{App, JobOutcome, LineEdit, Mode, Purpose};
use crate::files;
use crate::session::command::path_argument;
use std::path::{Path, PathBuf};

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

impl App {
    /// Proposals for the path being typed, as far as its folder is known.
    pub(super) fn path_completion(&self, edit: &LineEdit) -> Option<Completion> {
        let text = edit.prompt.text();
        let from = path_argument(text.get(..edit.prompt.caret())?).filter(|_| edit.purpose == Purpose::Command)?;
        let (folder, start) = split(text.get(from..edit.prompt.caret())?);
        let listing = self.listing.as_ref().filter(|listing| listing.folder == folder)?;
        // Hidden files are proposed to whoever asks for them.
        let fits = |name: &&String| name.starts_with(start) && (start.starts_with('.') || !name.starts_with('.'));
        let hint = |name: &str| if name.ends_with('/') { "folder".to_owned() } else { String::new() };
        let candidates: Vec<Candidate> = listing
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

    /// Asks for the names in the folder that is being typed, unless they are known.
    pub(super) fn want_listing(&mut self) {
        let Mode::Line(edit) = &self.mode else { return };
        if edit.purpose != Purpose::Command {
            return;
        }
        let text = edit.prompt.text();
        let typed = text.get(..edit.prompt.caret()).and_then(|typed| typed.get(path_argument(typed)?..));
        let Some((folder, _)) = typed.map(split) else {
            // The next path that is typed sees what is there then.
            self.listing = None;
            return;
        };
        if self.listing.as_ref().is_some_and(|listing| listing.folder == folder) {
            return;
        }
        let folder = folder.to_owned();
        self.listing = Some(Listing { folder: folder.clone(), names: Vec::new() });
        let path = if folder.is_empty() { PathBuf::from(".") } else { Path::new(&folder).to_path_buf() };
        let work = move |_: &_, _: &dyn Fn(_)| {
            let names = files::names_in(&path);
            JobOutcome::Listed(Listing { folder, names })
        };
        self.spawn(Kind::List, Box::new(work));
    }

    /// The names have come: they are proposed, unless something else is being typed by now.
    pub(super) fn listed(&mut self, listing: Listing) {
        if self.listing.as_ref().is_none_or(|wanted| wanted.folder != listing.folder) {
            return;
        }
        self.listing = Some(listing);
        let Mode::Line(edit) = &self.mode else { return };
        let is_walked = edit.prompt.completion.as_ref().is_some_and(|found| found.chosen.is_some());
        let found = self.path_completion(edit).filter(|_| !is_walked);
        if let (Mode::Line(edit), Some(found)) = (&mut self.mode, found) {
            edit.prompt.completion = Some(found);
        }
    }
}
