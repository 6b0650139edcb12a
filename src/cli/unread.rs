//! Refuses sets with unreadable files, for commands that need all files.
//!
//! The refusal is the loader's ([`files::Options::require_all`]), which [`Common::options`] asks for. Only what shows the
//! index itself and what reports findings opens a set without ([`Common::reporting`]), and says the files here.

use super::args::Common;
use super::{Status, Streams, print_error};
use crate::document::index::{ChildState, Index};
use crate::files;
use crate::files::error::MOST_NAMED;
use crate::session::Session;
use crate::words::counted;

/// What to do about a file that was not read.
const HINT: &str = "make it readable, or put it where the set lists it; --allow-missing skips it";

impl Common {
    /// Options for a command that reports unread files itself.
    pub(super) fn reporting(&self) -> Self {
        Self { reports_unread: true, ..self.clone() }
    }

    /// Whether a set is refused of which a file cannot be read.
    pub(super) const fn requires_all(&self) -> bool {
        !self.allow_missing && !self.reports_unread
    }

    /// Notes the unread files of a set, where `--allow-missing` is given.
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
        let mut lines: Vec<String> = all.by_ref().take(MOST_NAMED).collect();
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
        super::note_recovery(&loaded.recovered, streams);
        self.note_omitted(&loaded.unread, loaded.index.as_ref(), streams);
    }

    /// Says as errors what was not read of a set that was opened by [`Common::reporting`], unless that was allowed. What
    /// was read and is no sitemap is a finding.
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
        for (error, hint) in all.by_ref().take(MOST_NAMED) {
            // What to do about many of a kind is reported once.
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
