//! Events of the editor: one closed enum, one channel, one receiving thread.
//!
//! Every thread but the one that owns the state only sends; nothing here changes anything.

use super::jobs::{Finished, Kind};
use crate::progress::Reading;
use crossterm::event::{Event as TermEvent, KeyEvent, KeyEventKind, MouseEvent};
use std::sync::mpsc::Sender;

/// Something that the state has to answer to. `O` is what a job brings back, `P` what it brings
/// while it runs.
#[derive(Debug)]
pub enum Event<O, P> {
    /// A key went down, or repeats.
    Key(KeyEvent),
    /// A click or the wheel.
    Mouse(MouseEvent),
    /// The window has the focus again.
    Focus,
    /// Text from the terminal's clipboard: never keys, whatever it says.
    Paste(String),
    /// The window has these columns and rows now.
    Resize(u16, u16),
    /// A piece of a running job's result.
    Part(P),
    /// A job has ended, one way or another.
    Done(Finished<O>),
    /// How far a running job is.
    Progress(Kind, Reading),
    /// Changes are not kept against a crash any more, or are again.
    Journal,
    /// From the operating system.
    Signal(Signal),
    /// The terminal is gone: no key will come again.
    InputEnded,
}

/// The signals that the program answers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End, with the number of the signal (SIGTERM, SIGHUP, SIGINT, SIGQUIT).
    End(i32),
    /// Stop, as Ctrl-Z does.
    Stop,
    /// Go on after a stop: the screen may hold anything.
    Continue,
}

impl<O, P> Event<O, P> {
    /// What a terminal's event means, if anything. Releases of keys mean nothing: some terminals
    /// report them, and each key would act twice.
    pub fn from_terminal(event: TermEvent) -> Option<Self> {
        match event {
            TermEvent::Key(key) if key.kind == KeyEventKind::Release => None,
            TermEvent::Key(key) => Some(Self::Key(key)),
            TermEvent::Mouse(mouse) => Some(Self::Mouse(mouse)),
            TermEvent::Paste(text) => Some(Self::Paste(text)),
            // On Unix the signal thread tells: crossterm loses the signal when a key comes at the same moment.
            TermEvent::Resize(..) if cfg!(unix) => None,
            TermEvent::Resize(columns, rows) => Some(Self::Resize(columns, rows)),
            TermEvent::FocusGained => Some(Self::Focus),
            TermEvent::FocusLost => None,
        }
    }
}

/// The error of the system, with what failed.
fn no_thread(error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("cannot start a thread: {error}"))
}

/// Starts the thread that waits for the terminal. It ends when the receiver is gone or the terminal is.
pub(crate) fn listen<O: Send + 'static, P: Send + 'static>(sender: Sender<Event<O, P>>) -> std::io::Result<()> {
    let started = std::thread::Builder::new().name("input".into()).spawn(move || {
        loop {
            let event = match crossterm::event::read() {
                Ok(event) => Event::from_terminal(event),
                // A stopped and continued program sees its reading interrupted; that ends nothing.
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
    started.map(drop).map_err(|error| no_thread(&error))
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
    started.map(drop).map_err(|error| no_thread(&error))
}

/// Signals of this kind exist on Unix only.
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
