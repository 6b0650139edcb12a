//! Runs the program in a pseudo-terminal and reads its screen.
//!
//! A reader thread feeds everything the program writes to a terminal emulator; a waiter thread takes its exit status.
//! Both wake threads that wait for a condition. A condition that is not met within [`PATIENCE`] fails the test, which
//! prints the screen; no result depends on speed.

use super::{Folder, environment};
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use vt100::{Callbacks, Parser, Screen};

/// Maximum time for a condition, also on a busy machine. Only failures take that long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The input of keys without a character.
pub(crate) mod key {
    pub(crate) const ENTER: &str = "\r";
    pub(crate) const ESC: &str = "\x1b";
    pub(crate) const TAB: &str = "\t";
    pub(crate) const BACK_TAB: &str = "\x1b[Z";
    pub(crate) const BACKSPACE: &str = "\x7f";
    pub(crate) const DELETE: &str = "\x1b[3~";
    pub(crate) const UP: &str = "\x1b[A";
    pub(crate) const DOWN: &str = "\x1b[B";
    pub(crate) const RIGHT: &str = "\x1b[C";
    pub(crate) const LEFT: &str = "\x1b[D";
    pub(crate) const HOME: &str = "\x1b[H";
    pub(crate) const END: &str = "\x1b[F";
    pub(crate) const PAGE_UP: &str = "\x1b[5~";
    pub(crate) const PAGE_DOWN: &str = "\x1b[6~";
    pub(crate) const F1: &str = "\x1bOP";
    pub(crate) const F2: &str = "\x1bOQ";
    pub(crate) const CTRL_A: &str = "\x01";
    pub(crate) const CTRL_C: &str = "\x03";
    pub(crate) const CTRL_L: &str = "\x0c";
    pub(crate) const CTRL_P: &str = "\x10";
    pub(crate) const CTRL_Q: &str = "\x11";
    pub(crate) const CTRL_R: &str = "\x12";
    pub(crate) const CTRL_S: &str = "\x13";
    pub(crate) const CTRL_Z: &str = "\x1a";
}

/// The options for starting the program in a terminal.
pub(crate) struct Start {
    program: PathBuf,
    folder: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    size: (u16, u16),
}

impl Start {
    /// Options for the program under test, in `folder`, on a screen of 80 × 24.
    pub(crate) fn new(folder: &Folder) -> Self {
        Self::program(super::program(), folder)
    }

    /// Options for another program.
    pub(crate) fn program(program: impl Into<PathBuf>, folder: &Folder) -> Self {
        Self::in_path(program.into(), folder.path())
    }

    fn in_path(program: PathBuf, folder: &Path) -> Self {
        let environment = environment(folder).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { program, folder: folder.to_owned(), arguments: Vec::new(), environment, size: (80, 24) }
    }

    /// Adds arguments.
    pub(crate) fn arguments<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the size of the screen in columns and rows.
    pub(crate) fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    /// Starts the program.
    pub(crate) fn start(self) -> Terminal {
        let (columns, rows) = self.size;
        let pair = native_pty_system().openpty(size(columns, rows)).expect("open a pseudo-terminal");
        let modes_before = modes(&*pair.master);
        let mut command = CommandBuilder::new(&self.program);
        command.args(&self.arguments);
        command.cwd(&self.folder);
        command.env_clear();
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("start the program in a terminal");
        drop(pair.slave);
        let pid = child.process_id().and_then(|pid| Pid::from_raw(pid.cast_signed())).expect("a process has an id");
        let reader = pair.master.try_clone_reader().expect("read the terminal");
        let writer = pair.master.take_writer().expect("write to the terminal");
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                parser: Parser::new_with_callbacks(cells(rows), cells(columns), 0, Answers::default()),
                output: Vec::new(),
                silent: false,
                status: None,
            }),
            changed: Condvar::new(),
            writer: Mutex::new(writer),
        });
        let threads = [read_thread(reader, shared.clone()), wait_thread(child, shared.clone())];
        Terminal { shared, master: pair.master, pid, modes_before, threads: threads.into() }
    }
}

/// A program running in a terminal. Killed when dropped.
pub(crate) struct Terminal {
    shared: Arc<Shared>,
    master: Box<dyn MasterPty + Send>,
    pid: Pid,
    modes_before: String,
    threads: Vec<JoinHandle<()>>,
}

impl Terminal {
    /// The process ID.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Types text, or keys by the constants of [`key`].
    pub(crate) fn send(&self, keys: &str) {
        self.shared.write(keys.as_bytes()).expect("type into the terminal");
    }

    /// Pastes text as a terminal with bracketed paste does.
    #[track_caller]
    pub(crate) fn paste(&self, text: &str) {
        assert!(self.state().parser.screen().bracketed_paste(), "the program did not ask for bracketed paste");
        self.send(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Presses and releases the left mouse button at a cell, both counted from 0 (SGR encoding).
    pub(crate) fn click(&self, column: u16, row: u16) {
        let (column, row) = (column + 1, row + 1);
        self.send(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Turns the mouse wheel one notch at a cell, both counted from 0 (SGR encoding).
    pub(crate) fn wheel(&self, column: u16, row: u16, up: bool) {
        let (button, column, row) = (if up { 64 } else { 65 }, column + 1, row + 1);
        self.send(&format!("\x1b[<{button};{column};{row}M"));
    }

    /// Changes the size of the screen.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.state().parser.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(size(columns, rows)).expect("resize the terminal");
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("send a signal");
    }

    /// Waits until the screen shows this text in one row.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen| shows(screen, text));
    }

    /// Waits until the screen no longer shows this text.
    #[track_caller]
    pub(crate) fn wait_gone(&self, text: &str) {
        self.wait_until(&format!("no {text:?} on the screen"), |screen| !shows(screen, text));
    }

    /// Waits until the screen meets a condition; `what` names it in the message of a failure.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, condition: impl Fn(&Screen) -> bool) {
        let state = self.wait(|state| condition(state.parser.screen()) || state.ended());
        assert!(condition(state.parser.screen()), "waited for {what}; {}", state.describe());
    }

    /// Waits until the program has written these bytes, at or after position `from` of its output.
    #[track_caller]
    pub(crate) fn wait_for_output(&self, bytes: &[u8], from: usize) {
        let written = |state: &State| contains(state.output.get(from..).unwrap_or_default(), bytes);
        let state = self.wait(|state| written(state) || state.ended());
        assert!(written(&state), "waited for the output {:?}; {}", String::from_utf8_lossy(bytes), state.describe());
    }

    /// Waits until the program has ended and all its output is read. Returns its exit status.
    #[track_caller]
    pub(crate) fn wait_exit(&self) -> ExitStatus {
        let state = self.wait(State::ended);
        match &state.status {
            Some(status) if state.silent => status.clone(),
            _ => panic!("waited for the program to end; {}", state.describe()),
        }
    }

    /// Waits until the program is stopped by a signal, as after Ctrl-Z.
    #[track_caller]
    pub(crate) fn wait_stopped(&self) {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let stopped = || matches!(waitid(WaitId::Pid(self.pid), options), Ok(Some(status)) if status.stopped());
        let state = self.wait(|state| stopped() || state.ended());
        assert!(stopped(), "waited for the program to stop; {}", state.describe());
    }

    /// The text on the screen: rows joined by line feeds, blanks at their ends dropped.
    pub(crate) fn screen(&self) -> String {
        text(self.state().parser.screen())
    }

    /// Calls a function with the screen, including colours, cursor and modes.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(self.state().parser.screen())
    }

    /// The output of the program so far.
    pub(crate) fn output(&self) -> Vec<u8> {
        self.state().output.clone()
    }

    /// The clipboard text that the program sent to the terminal, in base64.
    pub(crate) fn clipboard(&self) -> Option<String> {
        self.state().parser.callbacks().clipboard.clone()
    }

    /// The line discipline of the terminal before the program started, to compare with [`Terminal::modes`].
    pub(crate) fn modes_before(&self) -> &str {
        &self.modes_before
    }

    /// The line discipline of the terminal now: flags and control characters.
    pub(crate) fn modes(&self) -> String {
        modes(&*self.master)
    }

    /// Fails unless the program left the terminal as it was: line discipline, screen, cursor, mouse, paste.
    #[track_caller]
    pub(crate) fn assert_restored(&self) {
        assert_eq!(self.modes(), self.modes_before, "the line discipline is not as before");
        // A stopped program has written all its output, but the reader thread may not have read it yet.
        drop(self.wait(|state| {
            let screen = state.parser.screen();
            !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
        }));
        self.look(|screen| {
            assert!(!screen.alternate_screen(), "still on the alternate screen");
            assert!(!screen.hide_cursor(), "the cursor is still hidden");
            assert!(!screen.bracketed_paste(), "bracketed paste is still on");
            assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "the mouse is still captured");
        });
    }

    /// The state. A failed assertion poisons its lock, but the state is still consistent.
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `done`, at most [`PATIENCE`]. New output and the end of the program wake it. It also checks at
    /// intervals for changes without a notification (a stopped process).
    fn wait(&self, done: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state();
        while !done(&state) && Instant::now() < deadline {
            let look_again = Duration::from_millis(50);
            state = self.shared.changed.wait_timeout(state, look_again).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.state().status.is_none() {
            // If it has just ended, there is nothing to kill.
            let _ = kill_process(self.pid, Signal::KILL);
        }
        for thread in self.threads.drain(..) {
            let joined = thread.join();
            assert!(joined.is_ok() || thread::panicking(), "a thread of the harness panicked");
        }
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Not part of the state: a long paste blocks until the program reads it, while its output must still be read.
    writer: Mutex<Box<dyn Write + Send>>,
}

impl Shared {
    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(bytes)?;
        writer.flush()
    }
}

struct State {
    parser: Parser<Answers>,
    output: Vec<u8>,
    /// Whether the program's side of the terminal is closed, so that there is no more output.
    silent: bool,
    status: Option<ExitStatus>,
}

impl State {
    fn ended(&self) -> bool {
        self.silent && self.status.is_some()
    }

    fn describe(&self) -> String {
        let state = match &self.status {
            None => "the program is running".to_owned(),
            Some(status) => format!("the program has ended ({status})"),
        };
        format!("{state}; the screen:\n{}\n(end of the screen)", text(self.parser.screen()))
    }
}

/// The duties of the terminal: it answers queries and stores the clipboard.
#[derive(Default)]
struct Answers {
    pending: Vec<u8>,
    clipboard: Option<String>,
}

impl Callbacks for Answers {
    fn copy_to_clipboard(&mut self, _: &mut Screen, _kind: &[u8], data: &[u8]) {
        self.clipboard = Some(String::from_utf8_lossy(data).into_owned());
    }

    fn unhandled_csi(&mut self, screen: &mut Screen, i1: Option<u8>, _: Option<u8>, params: &[&[u16]], last: char) {
        match (i1, last, params.first().and_then(|numbers| numbers.first())) {
            (None, 'n', Some(6)) => {
                let (row, column) = screen.cursor_position();
                self.pending.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes());
            }
            (None, 'c', _) => self.pending.extend(b"\x1b[?62;22c"),
            _ => {}
        }
    }
}

fn read_thread(mut reader: Box<dyn Read + Send>, shared: Arc<Shared>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut chunk = vec![0; 1 << 16];
        loop {
            let length = match reader.read(&mut chunk) {
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.silent = length == 0;
            state.output.extend(&chunk[..length]);
            state.parser.process(&chunk[..length]);
            let answers = std::mem::take(&mut state.parser.callbacks_mut().pending);
            drop(state);
            shared.changed.notify_all();
            if length == 0 {
                return;
            }
            if !answers.is_empty() {
                // Writing fails if the program has ended, which needs no answer.
                let _ = shared.write(&answers);
            }
        }
    })
}

fn wait_thread(mut child: Box<dyn Child + Send + Sync>, shared: Arc<Shared>) -> JoinHandle<()> {
    thread::spawn(move || {
        let status = child.wait().expect("wait for the program");
        shared.state.lock().unwrap_or_else(PoisonError::into_inner).status = Some(status);
        shared.changed.notify_all();
    })
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a screen has at least one cell")
}

fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("read the line discipline"))
}

fn text(screen: &Screen) -> String {
    let (_, columns) = screen.size();
    let rows: Vec<_> = screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

fn shows(screen: &Screen, wanted: &str) -> bool {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).any(|row| row.contains(wanted))
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(bytes, wanted).is_some()
}
