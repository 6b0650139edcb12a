//! Reports files of a set that cannot be read.
//!
//! Most commands refuse such a set: the loader does so with [`files::Options::require_all`], which [`Common::options`]
//! sets. `check`, `list --sitemaps` and the screen open it all the same ([`Common::reporting`]) and report the files.

use super::args::Common;
use super::{Status, Streams, print_error};
use crate::document::index::{ChildState, Index};
use crate::files;
use crate::files::error::MAX_NAMED_FILES;
use crate::session::Session;
use crate::words::counted;

/// What to do about a file that was not read.
const HINT: &str = "make it readable, or put it where the set lists it; --allow-missing skips it";

impl Common {
    /// Options for a command that reports unread files itself.
    pub(super) fn reporting(&self) -> Self {
        Self { reports_unread: true, ..self.clone() }
    }

    /// Whether a set with an unreadable file is refused.
    pub(super) const fn requires_all(&self) -> bool {
        !self.allow_missing && !self.reports_unread
    }

    /// Notes the unread files of a set with `--allow-missing`.
    pub(super) fn note_omitted(&self, unread: &[files::Error], index: Option<&Index>, streams: &mut Streams<'_>) {
        if !self.allow_missing {
            return;
        }
        let name = index.map_or_else(String::new, |index| match &index.path {
            Some(path) => path.display().to_string(),
            None => index.name.to_string(),
        });
        let children = index.map(Index::unread).unwrap_or_default();
        let children = children.into_iter().map(|child| {
            let why = child.state.why_unread().unwrap_or_default();
            format!("{name}: {}: {why}", child.loc)
        });
        let mut all = unread.iter().map(ToString::to_string).chain(children);
        let mut lines: Vec<String> = all.by_ref().take(MAX_NAMED_FILES).collect();
        let more = all.count() as u64;
        if more > 0 {
            lines.push(counted(more, "more file"));
        }
        for line in lines {
            if streams.left_out.insert(line.clone()) {
                streams.note(&format!("left out: {line}"));
            }
        }
    }

    /// Notes the unread files of a loaded set, and an interrupted save that is not finished.
    pub(super) fn note_loaded(&self, loaded: &files::Loaded, streams: &mut Streams<'_>) {
        super::open::note_recovery(&loaded.recovered, streams);
        self.note_omitted(&loaded.unread, loaded.index.as_ref(), streams);
    }

    /// Prints errors for the unread files of a set that was opened with [`Common::reporting`], unless `--allow-missing`
    /// is given. A file that was read but is not a sitemap is a finding instead.
    pub(super) fn report_unread(&self, session: &Session, of_children: bool, streams: &mut Streams<'_>) -> Status {
        if self.allow_missing {
            return Status::Fine;
        }
        let refused = session.unread().iter().filter(|error| !error.is_of_content());
        let refused = refused.map(|error| (error.to_string(), error.hint().unwrap_or_default()));
        let index = session.document().index().filter(|_| of_children);
        let children = index.map(Index::unread).unwrap_or_default();
        let children = children.into_iter().filter(|child| !matches!(child.state, ChildState::Unreadable(_)));
        let children = children.map(|child| {
            let why = child.state.why_unread().unwrap_or_default();
            (format!("not read: {}: {why}", child.loc), HINT)
        });
        let (mut all, mut last) = (refused.chain(children).peekable(), "");
        let status = if all.peek().is_some() { Status::Files } else { Status::Fine };
        for (error, hint) in all.by_ref().take(MAX_NAMED_FILES) {
            // A hint is printed once for consecutive errors.
            print_error(&error, if hint == last { "" } else { hint }, streams.notes);
            last = hint;
        }
        let more = all.count() as u64;
        if more > 0 {
            print_error(&format!("not read: {}", counted(more, "more file")), "", streams.notes);
        }
        status
    }
}
