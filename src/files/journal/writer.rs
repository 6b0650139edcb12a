//! The journal's writer thread: writes and syncs lines, reports failures, and recovers from them.
//!
//! Invariant: the file can be replayed at any time. No line follows one that could not be written: an incomplete line
//! is cut off, and once writing works again, a new file with all unsaved changes replaces the old one.

use super::super::gate::sync_folder;
use super::super::lock::private_options;
use super::counter::{self, Counter};
use super::format::{Header, first_line, line};
use super::locks::JournalPath;
use super::{JournalFailure, MAX_BYTES};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time between two attempts after a failure. Each further change is an attempt as well.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Time between two checks that the file still exists, if it contains changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Creates the text of a line. Runs on the writer thread, since it may take a while.
pub(crate) type MakeLine = Box<dyn FnOnce() -> String + Send>;

/// Creates all lines that turn the saved files into the document as of that change.
pub(crate) type MakeAllLines = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// Called on the writer thread when writing starts to fail, and when it works again.
#[derive(Clone)]
pub struct Watcher(pub Arc<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Watcher").finish()
    }
}

/// A change to be written.
pub struct Note {
    /// Creates its line, which may build on earlier lines.
    pub line: MakeLine,
    /// Whether the line does not build on earlier ones.
    pub is_independent: bool,
    /// Creates the lines that are written if earlier ones are missing.
    pub all: MakeAllLines,
}

pub(super) enum WriterCommand {
    Restart(Header),
    Header(Header),
    Note(Note),
    Flush(Sender<()>),
    Remove,
    End,
}

/// An operation that tests can make fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Thread,
    Create,
    Write,
    Sync,
    Rename,
}

/// Called before each operation; an error makes it fail.
pub(super) type Gate = Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// The state that the session reads.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) failure: Option<JournalFailure>,
    /// Number of times that all lines were rewritten after a failure. After it changed, the next line must not build on
    /// earlier ones.
    pub(super) rewrite_count: u64,
}

/// The state of the journal file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It contains all changes up to the last note.
    Complete,
    /// It was rewritten after a failure, which the session may not know yet: the next line must not build on earlier
    /// ones.
    Rewritten,
    /// It is outdated, or does not exist yet.
    Outdated,
}

pub(super) struct Writer {
    path: JournalPath,
    header: Option<Header>,
    file: Option<File>,
    /// Number of valid bytes of the file.
    len: u64,
    /// Number of lines after the header.
    lines: u64,
    /// Stores the number of synced lines; `None` if it could not be written.
    counter: Option<Counter>,
    state: State,
    /// Whether the file has to exist.
    must_exist: bool,
    /// Whether the line of the last note does not build on earlier lines.
    is_independent: bool,
    /// Creates all lines up to the last note; `None` before the first note.
    all: Option<MakeAllLines>,
    /// The lines that `all` has created, until they are written.
    pending_lines: Option<Vec<String>>,
    /// Whether all lines are synced.
    is_synced: bool,
    gate: Gate,
    report: Arc<Mutex<Report>>,
    watcher: Option<Watcher>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn new(path: JournalPath, gate: Gate, report: Arc<Mutex<Report>>, watcher: Option<Watcher>) -> Self {
        Self {
            path,
            header: None,
            file: None,
            len: 0,
            lines: 0,
            counter: None,
            state: State::Outdated,
            must_exist: false,
            is_independent: false,
            all: None,
            pending_lines: None,
            is_synced: true,
            gate,
            report,
            watcher,
        }
    }

    /// Executes commands in order, and syncs when no further one is waiting.
    pub(super) fn run(mut self, commands: &Receiver<WriterCommand>) {
        let mut waiting: Vec<Sender<()>> = Vec::new();
        let mut ends = false;
        while !ends {
            let mut next = match self.wait_timeout() {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(timeout) => commands.recv_timeout(timeout),
            };
            loop {
                match next {
                    Ok(WriterCommand::Flush(done)) => waiting.push(done),
                    Ok(WriterCommand::Remove) => return self.remove(),
                    Ok(WriterCommand::End) => {
                        ends = true;
                        break;
                    }
                    Ok(command) => self.execute(command),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                next = commands.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                });
            }
            self.finish();
            // The waiting thread may have ended.
            for done in waiting.drain(..) {
                let _ = done.send(());
            }
        }
    }

    /// How long to wait for a command; `None` for no limit.
    fn wait_timeout(&self) -> Option<Duration> {
        match self.state {
            State::Outdated => self.must_rewrite().then_some(RETRY_INTERVAL),
            _ => (self.lines > 0).then_some(CHECK_INTERVAL),
        }
    }

    /// Whether the file has to be rewritten.
    fn must_rewrite(&self) -> bool {
        self.state == State::Outdated && self.must_exist && self.header.is_some()
    }

    pub(super) fn execute(&mut self, command: WriterCommand) {
        match command {
            WriterCommand::Restart(header) => {
                self.header = Some(header);
                (self.all, self.pending_lines, self.state) = (None, None, State::Outdated);
                (self.must_exist, self.is_independent) = (true, true);
                // The file is created before the first change.
                self.rewrite_all();
            }
            WriterCommand::Header(header) => self.header = Some(header),
            WriterCommand::Note(note) => self.note(note),
            WriterCommand::Flush(_) | WriterCommand::Remove | WriterCommand::End => {}
        }
    }

    /// Writes the line of a change.
    fn note(&mut self, note: Note) {
        self.all = Some(note.all);
        (self.pending_lines, self.must_exist, self.is_independent) = (None, true, note.is_independent);
        let written = match self.state {
            State::Outdated => return,
            State::Rewritten if !note.is_independent => {
                let lines = self.all.as_ref().map(|all| all()).unwrap_or_default();
                lines.iter().try_for_each(|line| self.append(line))
            }
            _ => self.append(&(note.line)()),
        };
        match written {
            Ok(()) if note.is_independent => self.state = State::Complete,
            Ok(()) => {}
            // The failure is reported if rewriting all lines fails too.
            Err(_) => self.state = State::Outdated,
        }
    }

    /// Syncs the written lines, and rewrites the file if it is outdated.
    pub(super) fn finish(&mut self) {
        if self.state != State::Outdated && !self.is_synced {
            let synced = (self.gate)(Step::Sync).and_then(|()| self.file.as_ref().map_or(Ok(()), File::sync_data));
            self.is_synced = synced.is_ok();
            if synced.is_err() {
                self.state = State::Outdated;
            } else {
                self.update_counter();
            }
        }
        // The file may have been removed, for example with its folder.
        if self.state != State::Outdated && !self.is_in_place() {
            self.state = State::Outdated;
        }
        if self.must_rewrite() {
            self.rewrite_all();
        }
    }

    /// Stores the number of synced lines.
    fn update_counter(&mut self) {
        let written = self.counter.as_mut().map_or(Ok(()), |counter| counter.set(self.lines));
        // No counter is better than one with an outdated number.
        if let Some(path) = self.path.path().filter(|_| written.is_err()) {
            counter::remove(path);
            self.counter = None;
        }
    }

    fn is_in_place(&self) -> bool {
        self.file.as_ref().zip(self.path.path()).is_some_and(|(file, path)| super::super::lock::is_file_of(file, path))
    }

    /// Writes all unsaved changes to a new file, which replaces the old one. Reports when writing fails or works again.
    fn rewrite_all(&mut self) {
        let had_failed = self.failure().is_some();
        if self.pending_lines.is_none() {
            self.pending_lines = Some(self.all.as_ref().map(|all| all()).unwrap_or_default());
        }
        match self.rewrite() {
            Ok(()) => {
                self.pending_lines = None;
                self.state = if self.is_independent { State::Complete } else { State::Rewritten };
                let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
                report.rewrite_count += u64::from(!self.is_independent);
                report.failure = None;
                drop(report);
                if had_failed {
                    self.notify_watcher();
                }
            }
            Err(why) => {
                let is_new = self.failure().as_ref() != Some(&why);
                self.report.lock().unwrap_or_else(PoisonError::into_inner).failure = Some(why);
                if is_new {
                    self.notify_watcher();
                }
            }
        }
    }

    fn failure(&self) -> Option<JournalFailure> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).failure.clone()
    }

    fn notify_watcher(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.0();
        }
    }

    /// Replaces the file with a new one that has the pending lines.
    fn rewrite(&mut self) -> Result<(), JournalFailure> {
        let path = self.path.writable_path()?.to_path_buf();
        let failed = |error: io::Error| JournalFailure::of(&path, &error);
        let Some(header) = self.header.clone() else { return Ok(()) };
        let id = counter::new_id();
        let header = header.with_id(id);
        let new = path.with_extension("journal.new");
        let written = self.write_new(&new, &header).and_then(|file| {
            (self.gate)(Step::Rename)?;
            fs::rename(&new, &path)?;
            Ok(file)
        });
        let (file, len, lines) = written.map_err(|error| {
            let _ = fs::remove_file(&new);
            failed(error)
        })?;
        path.parent().map_or(Ok(()), sync_folder).map_err(failed)?;
        (self.file, self.len, self.lines, self.is_synced) = (Some(file), len, lines, true);
        self.counter = id.and_then(|id| Counter::create(&path, id, lines));
        Ok(())
    }

    /// Writes the pending lines to a new file. Returns the file with its numbers of bytes and of lines.
    fn write_new(&self, new: &Path, header: &Header) -> io::Result<(File, u64, u64)> {
        (self.gate)(Step::Create)?;
        // A file of a dead process or of someone else is removed, not overwritten.
        let _ = fs::remove_file(new);
        let mut file = private_options().create_new(true).open(new)?;
        let lines = self.pending_lines.as_deref().unwrap_or_default();
        let first = first_line(header)?;
        let rest = lines.iter().zip(1..).map(|(json, number)| line(number, json));
        let mut len = 0;
        for text in std::iter::once(first).chain(rest) {
            len += text.len() as u64;
            if len > MAX_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            (self.gate)(Step::Write)?;
            file.write_all(text.as_bytes())?;
        }
        (self.gate)(Step::Sync)?;
        file.sync_data()?;
        Ok((file, len, lines.len() as u64))
    }

    /// Appends a line. If that fails, an incomplete line is cut off.
    fn append(&mut self, json: &str) -> io::Result<()> {
        let text = line(self.lines + 1, json);
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotFound.into()) };
        let written = (self.gate)(Step::Write).inspect_err(|_| {
            // Simulates a full disk, which writes only a part of the line.
            let _ = file.write_all(text.as_bytes().get(..text.len() / 2).unwrap_or_default());
        });
        let len = self.len.saturating_add(text.len() as u64);
        let fits = if len > MAX_BYTES { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) };
        match written.and(fits).and_then(|()| file.write_all(text.as_bytes())) {
            Ok(()) => {
                (self.len, self.is_synced) = (len, false);
                self.lines += 1;
                Ok(())
            }
            Err(error) => {
                // If this fails too, the last line is incomplete, and no line follows it.
                let _ = file.set_len(self.len).and_then(|()| file.seek(io::SeekFrom::Start(self.len)));
                Err(error)
            }
        }
    }

    /// Removes the journal, because there are no unsaved changes.
    pub(super) fn remove(&self) {
        // Without the lock it may be the journal of another process.
        let is_own = self.path.is_locked() && (self.file.is_none() || self.is_in_place());
        if let Some(path) = self.path.path().filter(|_| is_own) {
            let _ = fs::remove_file(path);
            counter::remove(path);
        }
    }
}

impl JournalFailure {
    /// The failure to write a journal at this path.
    fn of(path: &Path, error: &io::Error) -> Self {
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self::of_folder(folder, error)
    }

    pub(super) fn of_folder(folder: PathBuf, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::NoSpace(folder),
            io::ErrorKind::QuotaExceeded => Self::Quota(folder),
            io::ErrorKind::FileTooLarge => Self::TooLarge(folder),
            _ => Self::Unwritable { folder, why: crate::files::error::system_message(error) },
        }
    }
}
