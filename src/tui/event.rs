//! The events of the editor, and the threads that read them from the terminal and from signals.
//!
//! All events go through one channel to the thread that owns the state; the other threads only send.

use super::jobs::{Finished, Kind};
use crate::progress::Reading;
use crossterm::event::{Event as TermEvent, KeyEvent, KeyEventKind, MouseEvent};
use std::sync::mpsc::Sender;

/// An event that the state handles. `O` is the outcome of a job, `P` a part that a job delivers while it runs.
#[derive(Debug)]
pub enum Event<O, P> {
    /// A key was pressed, or repeats.
    Key(KeyEvent),
    /// A mouse click or the wheel.
    Mouse(MouseEvent),
    /// The window has got the focus.
    Focus,
    /// Pasted text, which is never executed as keys.
    Paste(String),
    /// The window was resized to these columns and rows.
    Resize(u16, u16),
    /// A part of the result of a running job.
    Part(P),
    /// A job has ended: with an outcome, or by a panic.
    Done(Finished<O>),
    /// The progress of a running job.
    Progress(Kind, Reading),
    /// Writing the journal has begun to fail, or works again.
    Journal,
    /// A signal of the operating system.
    Signal(Signal),
    /// The terminal was closed: there will be no more keys.
    InputEnded,
}

/// The signals that the program handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End the program; the number of the signal (SIGTERM, SIGHUP, SIGINT, SIGQUIT).
    End(i32),
    /// Suspend the program, as Ctrl-Z does (SIGTSTP).
    Stop,
    /// Continue after a stop (SIGCONT): the screen may have been overwritten.
    Continue,
}

impl<O, P> Event<O, P> {
    /// Converts an event of the terminal. `None` for key releases, which some terminals report (each key would act
    /// twice), and for other events without effect.
    pub fn from_terminal(event: TermEvent) -> Option<Self> {
        match event {
            TermEvent::Key(key) if key.kind == KeyEventKind::Release => None,
            TermEvent::Key(key) => Some(Self::Key(key)),
            TermEvent::Mouse(mouse) => Some(Self::Mouse(mouse)),
            TermEvent::Paste(text) => Some(Self::Paste(text)),
            // On Unix the signal thread reports it: crossterm loses SIGWINCH if a key arrives at the same moment.
            TermEvent::Resize(..) if cfg!(unix) => None,
            TermEvent::Resize(columns, rows) => Some(Self::Resize(columns, rows)),
            TermEvent::FocusGained => Some(Self::Focus),
            TermEvent::FocusLost => None,
        }
    }
}

/// Adds the context to the error of the system.
fn thread_error(error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("cannot start a thread: {error}"))
}

/// Starts the thread that reads events from the terminal. It ends when the receiver or the terminal is closed.
pub(crate) fn listen<O: Send + 'static, P: Send + 'static>(sender: Sender<Event<O, P>>) -> std::io::Result<()> {
    let started = std::thread::Builder::new().name("input".into()).spawn(move || {
        loop {
            let event = match crossterm::event::read() {
                Ok(event) => Event::from_terminal(event),
                // Stopping and continuing the program interrupts the read; the next read works.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => None,
                Err(_) => {
                    let _ = sender.send(Event::InputEnded);
                    return;
                }
            };
            if event.is_some_and(|event| sender.send(event).is_err()) {
                return;
            }
        }
    });
    started.map(drop).map_err(|error| thread_error(&error))
}

/// Starts the thread that turns signals into events.
#[cfg(unix)]
pub(crate) fn listen_for_signals<O: Send + 'static, P: Send + 'static>(
    sender: Sender<Event<O, P>>,
) -> std::io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
    let numbers = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH];
    let mut signals = signal_hook::iterator::Signals::new(numbers)?;
    let started = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for number in signals.forever() {
            let event = match number {
                SIGTSTP => Event::Signal(Signal::Stop),
                SIGCONT => Event::Signal(Signal::Continue),
                SIGWINCH => match crossterm::terminal::size() {
                    Ok((columns, rows)) => Event::Resize(columns, rows),
                    Err(_) => continue,
                },
                number => Event::Signal(Signal::End(number)),
            };
            if sender.send(event).is_err() {
                return;
            }
        }
    });
    started.map(drop).map_err(|error| thread_error(&error))
}

/// Does nothing: these signals exist on Unix only.
#[cfg(not(unix))]
pub fn listen_for_signals<O, P>(_sender: Sender<Event<O, P>>) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    #[test]
    fn a_key_acts_once() {
        let key = |kind| TermEvent::Key(KeyEvent::new_with_kind(KeyCode::Char('d'), KeyModifiers::NONE, kind));
        let changes = |kind| Event::<(), ()>::from_terminal(key(kind)).is_some();
        assert!(changes(KeyEventKind::Press));
        assert!(changes(KeyEventKind::Repeat));
        assert!(!changes(KeyEventKind::Release));
    }
}
