//! Sets up the terminal at the start and restores it on every exit.
//!
//! Invariant: after the first call of [`restore`], the terminal is in its original state. Each
//! step is tried once, and the next step runs even if it fails.

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

/// Whether the editor controls the terminal. The call that clears it restores the terminal.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether mouse events are captured (F12 turns them off, so that the terminal can select text).
static IS_MOUSE_CAPTURED: AtomicBool = AtomicBool::new(true);

/// Turns the terminal's reordering of right-to-left text off and on (ECMA-48, BDSM, mode 8). Reordering applies to
/// whole lines and would move text from one column of a table into another.
const KEEP_COLUMNS: &str = "\x1b[8l";
const REORDER_LINES: &str = "\x1b[8h";

/// Whether the terminal holds input that no thread has read.
#[cfg(unix)]
pub(crate) fn has_unread_input() -> bool {
    rustix::io::ioctl_fionread(io::stdin()).is_ok_and(|bytes| bytes > 0)
}

/// Always false: unread input cannot be detected on this system.
#[cfg(not(unix))]
pub fn has_unread_input() -> bool {
    false
}

/// Whether stdin and stdout are terminals.
pub(crate) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The terminal, in raw mode and on the alternate screen. Dropping it restores the terminal.
pub(crate) struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<BufWriter<GatedStdout>>>,
}

impl Terminal {
    /// Takes control of the terminal.
    pub(crate) fn take() -> io::Result<Self> {
        restore_on_panic();
        claim().inspect_err(|_| restore())?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, GatedStdout(io::stdout())));
        let inner = ratatui::Terminal::new(backend).inspect_err(|_| restore())?;
        Ok(Self { inner })
    }

    /// Draws one frame; the terminal never shows a part of it (synchronized update).
    pub(crate) fn draw(&mut self, render: impl FnOnce(&mut Frame)) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        self.inner.draw(render)?;
        execute!(self.inner.backend_mut(), EndSynchronizedUpdate)
    }

    /// The size in columns and rows.
    pub(crate) fn size(&self) -> io::Result<(u16, u16)> {
        self.inner.size().map(|size| (size.width, size.height))
    }

    /// Clears the screen and its buffer; the next frame is drawn completely.
    ///
    /// `Terminal::clear` is not used: it queries the cursor position, and the thread that reads keys would receive the
    /// answer.
    pub(crate) fn repaint(&mut self) -> io::Result<()> {
        execute!(self.inner.backend_mut(), Clear(ClearType::All))?;
        // Between frames the next buffer is blank; after the swap the previous one is too.
        self.inner.swap_buffers();
        Ok(())
    }

    /// Turns the capture of mouse events on or off.
    pub(crate) fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        IS_MOUSE_CAPTURED.store(on, Ordering::Relaxed);
        if on {
            execute!(self.inner.backend_mut(), EnableMouseCapture)
        } else {
            execute!(self.inner.backend_mut(), DisableMouseCapture)
        }
    }

    /// Sends text to the clipboard of the terminal (OSC 52). The terminal does not report success or failure.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.inner.backend_mut(), crossterm::clipboard::CopyToClipboard::to_clipboard_from(text))
    }

    /// Restores the terminal, prints `message`, stops the program as Ctrl-Z does, and takes control of the terminal
    /// again when the program continues.
    #[cfg(unix)]
    pub(crate) fn suspend(&mut self, message: &str) -> io::Result<()> {
        restore();
        let mut out = io::stdout();
        // The program stops even if the message cannot be printed.
        let _ = writeln!(out, "{message}").and_then(|()| out.flush());
        stop_group()?;
        self.resume()
    }

    /// Does nothing: suspending exists on Unix only.
    #[cfg(not(unix))]
    pub fn suspend(&mut self, _words: &str) -> io::Result<()> {
        Ok(())
    }

    /// Takes control of the terminal again, whatever its current state, and repaints.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        restore();
        claim()?;
        self.repaint()
    }
}

/// Standard output while the editor controls the terminal. At other times writes are discarded: a buffered part of a
/// frame must not appear on the screen of the shell after a panic.
struct GatedStdout(Stdout);

impl Write for GatedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if IS_TAKEN.load(Ordering::SeqCst) { self.0.write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if IS_TAKEN.load(Ordering::SeqCst) { self.0.flush() } else { Ok(()) }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// The two lines that are printed when the program is suspended.
pub(crate) fn suspend_message(unsaved: &str) -> String {
    format!("sited is suspended; {unsaved}\n{}", resume_hint())
}

/// Stops the whole process group, as the terminal driver does on Ctrl-Z: a `cargo run` that waits for this process
/// must stop too, or the shell would not return to its prompt. Uses SIGSTOP, because SIGTSTP is handled here.
#[cfg(unix)]
fn stop_group() -> io::Result<()> {
    use rustix::process::{Signal, kill_current_process_group};
    Ok(kill_current_process_group(Signal::STOP)?)
}

/// Explains how to continue: with `fg` in a shell, else by sending SIGCONT.
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
    IS_TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    let mut out = io::stdout();
    // A terminal without an alternate screen, such as the Linux console, would still show earlier output.
    execute!(out, EnterAlternateScreen, Clear(ClearType::All))?;
    execute!(out, EnableBracketedPaste, EnableFocusChange, cursor::Hide, Print(KEEP_COLUMNS))?;
    if IS_MOUSE_CAPTURED.load(Ordering::Relaxed) {
        execute!(out, EnableMouseCapture)?;
    }
    Ok(())
}

/// Restores the terminal; a second call does nothing. Errors are ignored, so that the remaining steps run on a terminal
/// on which some fail.
pub(crate) fn restore() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
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

/// Installs a panic hook that restores the terminal before the message is printed, so that it can be read.
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
    fn a_second_restore_does_nothing() {
        IS_TAKEN.store(false, Ordering::SeqCst);
        restore();
        assert!(!IS_TAKEN.load(Ordering::SeqCst));
    }
}
