//! Opens sets with the options that all commands share.

use super::lock::Lock;
use super::options::Common;
use super::{Failure, Streams, clock, damage, unsafe_characters};
use crate::files;
use crate::protocol::lastmod::Now;
use crate::session::store::{self, load};
use crate::session::{Session, settings};
use std::path::{Path, PathBuf};

impl Common {
    /// The current time: `--now`, else the clock of the system.
    pub(super) fn now(&self) -> Result<Now, Failure> {
        let Some(text) = &self.now else { return Ok(clock::system()) };
        clock::parse(text).ok_or_else(|| {
            let message = format!("--now {text}: expected a date, or a date with time and zone");
            Failure::Usage(message, "for example: --now 2026-11-20T09:14:07Z".to_owned())
        })
    }

    /// How this run reads files.
    pub(super) fn options(&self, streams: &Streams<'_>) -> Result<files::Options, Failure> {
        Ok(files::Options { recovery: streams.recovery(), ..self.limits()? })
    }

    pub(super) fn limits(&self) -> Result<files::Options, Failure> {
        if let Some(error) = self.base_url.as_deref().and_then(files::base_url_error) {
            let hint = "for example: --base-url https://example.com/".to_owned();
            return Err(Failure::Usage(format!("--base-url {error}"), hint));
        }
        let (base_url, loc_column) = (self.base_url.clone(), self.loc_column.clone());
        let (require_all, robots) = (self.requires_all(), self.robots_file());
        let conflicts = match &self.conflicts {
            files::Conflicts::Refuse if self.reports_unread => files::Conflicts::Show,
            conflicts => conflicts.clone(),
        };
        let options =
            files::Options { base_url, robots, require_all, conflicts, loc_column, ..files::Options::default() };
        Ok(match self.max_bytes {
            Some(max_bytes) => options.at_most(max_bytes),
            None => options,
        })
    }

    /// Opens a set in memory.
    pub(super) fn open(&self, path: &Path, now: Now, streams: &mut Streams<'_>) -> Result<Session, Failure> {
        self.open_set(&[path.to_path_buf()], now, streams)
    }

    /// Opens a set that will be saved in place or to `output`, and locks the files that will be written unless it is
    /// a dry run.
    pub(super) fn open_to_change(
        &self,
        path: &Path,
        output: Option<&Path>,
        dry_run: bool,
        streams: &mut Streams<'_>,
    ) -> Result<(Session, Lock), Failure> {
        let written = [output.unwrap_or(path).to_path_buf()];
        let mut lock = if dry_run { Lock::default() } else { Lock::take(streams, &written)? };
        let session = self.open(path, self.now()?, streams)?;
        damage::Damage::of(&session).warn(streams);
        if output.is_none() {
            lock.check(&session)?;
        }
        Ok((session, lock))
    }

    /// An empty session with the options for the set of these paths.
    pub(super) fn session(&self, paths: &[PathBuf], now: Now, streams: &Streams<'_>) -> Result<Session, Failure> {
        let mut session = settings::session_for(now, &self.limits()?.with_recorded_base(paths));
        store::save::set_state_folder(&mut session, streams.state.clone());
        session.set_profile(self.profile.unwrap_or_default());
        session.set_policy(self.policy.clone());
        session.set_site(self.data_set()?.cloned(), self.robots_txt(paths)?);
        store::save::set_backups(&mut session, self.backup.unwrap_or_default());
        if self.cross_submission {
            session.allow_other_sites();
        }
        Ok(session)
    }

    /// Opens several sitemaps as one set.
    pub(super) fn open_set(&self, paths: &[PathBuf], now: Now, streams: &mut Streams<'_>) -> Result<Session, Failure> {
        let options = self.options(streams)?;
        let session = self.session(paths, now, streams)?;
        let session = streams.watched(|progress| load::open_all_watched(session, paths, options, progress))?;
        self.note_load_problems(&session, streams);
        Ok(session)
    }

    /// Notes unread files, and interrupted saves that were or were not finished.
    pub(super) fn note_load_problems(&self, session: &Session, streams: &mut Streams<'_>) {
        streams.edited.record_files(session.files());
        self.note_omitted(session.unread(), session.document().index(), streams);
        note_recovery(session.recovered(), streams);
        if let Some(words) = store::save::dropped_columns(session) {
            streams.note(&words);
        }
    }
}

/// Notes an interrupted save that was finished, and warns of one that is still pending.
pub(super) fn note_recovery(recovered: &files::Recovered, streams: &mut Streams<'_>) {
    if let Some(pending) = &recovered.pending {
        let _ = writeln!(streams.notes, "warning: {}", unsafe_characters::plain(&pending.to_string()));
    }
    if let Some(finished) = recovered.finished {
        streams.note(&finished.to_string());
    }
}
