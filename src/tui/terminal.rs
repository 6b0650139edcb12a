//! Sets up the terminal at the start and restores it on every exit.
//!
//! Invariant: after [`restore`] ran once, whoever called it, the terminal is as it was found. Each
//! step is tried once, and none stops the next. Nothing here knows what is drawn.

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    EnableMouseCapture,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is ours now. Whoever clears it does the giving back.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether mouse events are asked for (F12 turns them off for the terminal's own selection).
static MOUSE: AtomicBool = AtomicBool::new(true);

/// The terminal's own reordering of right-to-left text off and on (ECMA-48, BDSM, mode 8): it works on
/// whole lines and would carry text from one column of a table into another.
const KEEP_COLUMNS: &str = "\x1b[8l";
const REORDER_LINES: &str = "\x1b[8h";

/// Whether the terminal holds input that no thread has read.
#[cfg(unix)]
pub(crate) fn has_unread_input() -> bool {
    rustix::io::ioctl_fionread(io::stdin()).is_ok_and(|bytes| bytes > 0)
}

/// Whether the terminal holds input that no thread has read; what is sent later is all that can be told here.
#[cfg(not(unix))]
pub fn has_unread_input() -> bool {
    false
}

/// Whether stdin and stdout are a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The screen. Dropping it gives the terminal back.
pub(crate) struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<BufWriter<Gate>>>,
}

impl Terminal {
    /// Takes the terminal over.
    pub(crate) fn take() -> io::Result<Self> {
        restore_on_panic();
        claim().inspect_err(|_| restore())?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, Gate(io::stdout())));
        let inner = ratatui::Terminal::new(backend).inspect_err(|_| restore())?;
        Ok(Self { inner })
    }

    /// Draws one frame; the terminal shows it whole or not yet (synchronized update).
    pub(crate) fn draw(&mut self, render: impl FnOnce(&mut Frame)) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        self.inner.draw(render)?;
        execute!(self.inner.backend_mut(), EndSynchronizedUpdate)
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> io::Result<(u16, u16)> {
        self.inner.size().map(|size| (size.width, size.height))
    }

    /// Forgets what the screen is thought to hold; the next frame draws all of it.
    ///
    /// Not `Terminal::clear`: that asks the terminal where its cursor is, and the answer would go to the
    /// thread that reads keys.
    pub(crate) fn repaint(&mut self) -> io::Result<()> {
        execute!(self.inner.backend_mut(), Clear(ClearType::All))?;
        // Between frames the buffer to be drawn is blank, and so is the other one after this.
        self.inner.swap_buffers();
        Ok(())
    }

    /// Asks for mouse events or leaves the mouse to the terminal.
    pub(crate) fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        MOUSE.store(on, Ordering::Relaxed);
        if on {
            execute!(self.inner.backend_mut(), EnableMouseCapture)
        } else {
            execute!(self.inner.backend_mut(), DisableMouseCapture)
        }
    }

    /// Sends text to the terminal's clipboard (OSC 52). Whether it took it, no one learns.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.inner.backend_mut(), crossterm::clipboard::CopyToClipboard::to_clipboard_from(text))
    }

    /// Gives the terminal back, says `words` there, stops the program as Ctrl-Z does, and takes the
    /// terminal again when it goes on.
    #[cfg(unix)]
    pub(crate) fn suspend(&mut self, words: &str) -> io::Result<()> {
        restore();
        let mut out = io::stdout();
        // It stops even if no one can be told.
        let _ = writeln!(out, "{words}").and_then(|()| out.flush());
        stop_group()?;
        self.resume()
    }

    /// There is no suspending here.
    #[cfg(not(unix))]
    pub fn suspend(&mut self, _words: &str) -> io::Result<()> {
        Ok(())
    }

    /// Takes the terminal again, whatever became of it meanwhile, and repaints.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        restore();
        claim()?;
        self.repaint()
    }
}

/// Standard output while the terminal is ours. Afterwards it swallows: half a frame that was waiting in
/// a buffer when a panic struck must not end up on the shell's screen.
struct Gate(Stdout);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if TAKEN.load(Ordering::SeqCst) { self.0.write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if TAKEN.load(Ordering::SeqCst) { self.0.flush() } else { Ok(()) }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// The two lines that a stopped program leaves on the screen.
pub(crate) fn suspend_words(unsaved: &str) -> String {
    format!("sited is suspended; {unsaved}\n{}", resume_hint())
}

/// Stops the whole process group, as the terminal driver does on Ctrl-Z: a `cargo run` that waits for us
/// must stop too, or the shell would never get its prompt back. SIGSTOP, because SIGTSTP is ours.
#[cfg(unix)]
fn stop_group() -> io::Result<()> {
    use rustix::process::{Signal, kill_current_process_group};
    Ok(kill_current_process_group(Signal::STOP)?)
}

/// How to come back: a shell does it by `fg`; without one someone has to send the signal.
#[cfg(unix)]
fn resume_hint() -> String {
    use rustix::process::{getpid, getsid};
    let own = getpid();
    match getsid(None) {
        Ok(session) if session == own => format!("to go on: kill -CONT {}", own.as_raw_nonzero()),
        _ => "to go on: fg".into(),
    }
}

#[cfg(not(unix))]
fn resume_hint() -> String {
    String::new()
}

fn claim() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    let mut out = io::stdout();
    // A terminal without an alternate screen, such as the Linux console, still shows what was printed before.
    execute!(out, EnterAlternateScreen, Clear(ClearType::All))?;
    execute!(out, EnableBracketedPaste, EnableFocusChange, cursor::Hide, Print(KEEP_COLUMNS))?;
    if MOUSE.load(Ordering::Relaxed) {
        execute!(out, EnableMouseCapture)?;
    }
    Ok(())
}

/// Gives the terminal back, once: the second call does nothing. Best effort, step by step, because a
/// terminal that is half gone still deserves the other half.
pub(crate) fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(out, EndSynchronizedUpdate);
    let _ = execute!(out, DisableMouseCapture);
    let _ = execute!(out, DisableFocusChange);
    let _ = execute!(out, DisableBracketedPaste);
    let _ = execute!(out, Print(REORDER_LINES));
    let _ = execute!(out, LeaveAlternateScreen);
    let _ = execute!(out, cursor::Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// A panic anywhere gives the terminal back before its message is printed, so that it can be read.
fn restore_on_panic() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_back_twice_is_once() {
        TAKEN.store(false, Ordering::SeqCst);
        restore();
        assert!(!TAKEN.load(Ordering::SeqCst));
    }
}
