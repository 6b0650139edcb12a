//! `sited restore`: lists backups and restores one.

use super::args::{Common, Restore};
use super::lock::Lock;
use super::unsafe_characters::plain;
use super::{Failure, Status, Streams};
use crate::files::backup::{
    BackupSet, RestorePlan, Trust, incomplete, plan_restore, prune, remove_incomplete, sets, superfluous,
};
use crate::files::{self, find_in_folder};
use crate::session::store::save::unsigned;
use crate::words::{counted, size};
use std::path::{Path, PathBuf};

/// Lists, restores or removes backups.
pub(super) fn run(restore: &Restore, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = Common { now: restore.now.clone(), ..Common::default() }.now()?;
    let main = if restore.path.is_dir() {
        find_in_folder(&restore.path).ok_or_else(|| files::Error::new(&restore.path, files::Reason::Folder))?
    } else {
        restore.path.clone()
    };
    let state = streams.state.clone();
    let state = state.as_deref();
    if !files::is_there(&main) && sets(&main, state)?.is_empty() {
        let error = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(files::Error::system("read", &main, error).into());
    }
    if let (Some(keep), true) = (restore.keep, restore.dry_run) {
        for set in superfluous(&main, keep, state)? {
            streams.note(&format!("would be removed  {}", in_words(&set)));
        }
        for found in incomplete(&main)?.into_iter().filter(|found| found.kept.is_none()) {
            let folder = found.folder.display();
            streams.note(&format!("would be removed  {folder} (incomplete)"));
        }
        streams.note("dry run, nothing is removed");
        return Ok(Status::Fine);
    }
    if let Some(keep) = restore.keep {
        let _lock = Lock::take(streams, std::slice::from_ref(&main))?;
        for set in prune(&main, keep, state)? {
            streams.note(&format!("removed  {}", in_words(&set)));
        }
        for folder in remove_incomplete(&main)? {
            streams.note(&format!("removed  {} (incomplete)", folder.display()));
        }
        list(&main, streams)?;
        return Ok(Status::Fine);
    }
    let Some(date) = &restore.set else {
        list(&main, streams)?;
        return Ok(Status::Fine);
    };
    let mut lock = if restore.dry_run { Lock::default() } else { Lock::take_idle(streams, &main)? };
    let recovery = files::Recovery { state: streams.state.clone(), finish: !restore.dry_run };
    super::open::note_recovery(&files::recover(&main, &recovery)?, streams);
    let latest = if date == "latest" { sets(&main, state)?.pop().map(|set| set.date) } else { None };
    let date = latest.unwrap_or_else(|| date.clone());
    let plan = plan_restore(&main, &date, state)?;
    lock.claim(
        plan.files.iter().map(|file| file.target.as_path()).chain(plan.created_since.iter().map(PathBuf::as_path)),
    )?;
    show(&plan, restore.prune, streams);
    if !plan.is_authentic {
        streams.note("your key does not authenticate this backup: --unverified is needed to restore it");
    }
    if restore.dry_run {
        streams.note("dry run, nothing is written");
        return Ok(Status::Fine);
    }
    let done = plan.run(restore.prune, now, Trust { state, unverified: restore.unverified })?;
    let kept = done.backup.map_or_else(String::new, |dated| format!("; the previous files are in {}", dated.display()))
        + &unsigned(done.unsigned.as_deref());
    let (written, removed) = (counted(done.written as u64, "file"), counted(done.removed as u64, "file"));
    streams.note(&format!("{written} restored, {removed} removed{kept}"));
    Ok(Status::Fine)
}

/// Prints a line for each backup, oldest first.
fn list(main: &Path, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let sets = sets(main, streams.state.as_deref())?;
    if sets.is_empty() {
        streams.note(&format!("{} has no backup; saving with --backup once or always makes one", main.display()));
    }
    for found in incomplete(main)? {
        let folder = found.folder.display();
        streams.note(&match found.kept {
            None => format!("{folder} is an incomplete backup; --keep removes it"),
            Some(why) => format!("{folder} cannot be restored, and --keep leaves it: {why}"),
        });
    }
    sets.iter().try_for_each(|set| writeln!(streams.out, "{}", in_words(set)))?;
    Ok(())
}

/// `2026-11-20T10-20-30Z  3 files, 12.4 KiB: sitemap-1.xml, sitemap.xml; 1 file created then`.
fn in_words(set: &BackupSet) -> String {
    /// Maximum number of file names in a line.
    const MOST: usize = 5;
    let bytes = set.files.iter().map(|file| file.len).sum();
    let names: Vec<String> = set.files.iter().take(MOST).map(|file| plain(&file.name.to_string_lossy())).collect();
    let names = names.join(", ");
    let more = if set.files.len() > MOST { ", …" } else { "" };
    let created = match set.absent.len() {
        0 => String::new(),
        created => format!("; {} created then", counted(created as u64, "file")),
    };
    let colon = if names.is_empty() { "" } else { ": " };
    let unverified = if set.is_authentic { "" } else { "; not authenticated by your key" };
    format!(
        "{}  {}, {}{colon}{names}{more}{created}{unverified}",
        set.date,
        counted(set.files.len() as u64, "file"),
        size(bytes)
    )
}

/// Notes a line for each file.
fn show(plan: &RestorePlan, prune: bool, streams: &mut Streams<'_>) {
    let line = |what: &str, path: &PathBuf| format!("{what:<9}  {}", path.display());
    for put in &plan.files {
        streams.note(&line("restored", &put.target));
    }
    for path in &plan.untouched {
        streams.note(&line("untouched", path));
    }
    for path in &plan.created_since {
        streams.note(&line(if prune { "removed" } else { "left over" }, path));
    }
    if !plan.created_since.is_empty() && !prune {
        streams
            .note(&format!("{} created since; --prune removes them", counted(plan.created_since.len() as u64, "file")));
    }
}
