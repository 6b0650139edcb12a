//! The terminal editor: one thread owns the state, events change it, and drawing only reads it.
//!
//! All rules about sitemaps are in the session. Only this module uses `ratatui` and `crossterm`.

use crate::session::store::journal;
use crate::session::store::save;
pub mod app;
pub(crate) mod command;
pub(crate) mod draw;
pub(crate) mod event;
mod frame_pacer;
pub(crate) mod jobs;
pub mod keymap;
pub(crate) mod layout;
pub(crate) mod outline;
pub(crate) mod prompt;
pub(crate) mod show;
pub(crate) mod terminal;
pub(crate) mod text;
pub mod theme;
pub(crate) mod words;

use crate::check::Profile;
use crate::check::policy::Policy;
use crate::check::robots::RobotsTxt;
use crate::data::DataSet;
use crate::files::Options;
use crate::files::journal::Watcher;
use crate::protocol::lastmod::Now;
use crate::session::Session;
use app::{App, Effect, Event, JobOutcome, Part, Start};
use frame_pacer::FramePacer;
use jobs::{Deliver, Finished, Jobs};
use ratatui::Frame;
use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terminal::Terminal;
use text::Charset;
use theme::{Scheme, Theme};

/// The configuration of the editor.
pub struct Setup {
    /// The set to open.
    pub start: Start,
    /// The options for reading files.
    pub options: Options,
    /// The profile: which search engine's rules are checked.
    pub profile: Profile,
    /// Whether the set may list URLs of other sites.
    pub cross_submission: bool,
    /// When a save backs up the files that it replaces.
    pub backup: crate::files::backup::When,
    /// The policy that the set is checked against.
    pub policy: Option<Arc<Policy>>,
    /// Data of other programs about the URLs.
    pub data: Option<Arc<DataSet>>,
    /// The robots.txt of the site.
    pub robots: Option<Arc<RobotsTxt>>,
    /// The requested colours.
    pub scheme: Option<Scheme>,
    /// The reason for read-only mode, if requested.
    pub read_only: Option<String>,
    /// The clock.
    pub clock: Clock,
}

/// Returns the current time.
pub type Clock = Box<dyn Fn() -> Now>;

/// Maximum time to handle waiting events before the next frame.
const DRAIN_TIME: Duration = Duration::from_millis(8);
/// Time after a suspension during which a further request to reclaim the terminal is ignored.
const RECLAIM_INTERVAL: Duration = Duration::from_millis(300);
/// Time between two reads of the progress of running jobs.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// Time to wait for the input thread to send an event that it has read.
const INPUT_WAIT: Duration = Duration::from_millis(1);
/// Maximum number of such waits while the terminal holds unread input.
const INPUT_WAIT_TRIES: usize = 100;

/// Whether standard input and standard output are terminals; the editor needs both.
pub fn has_terminal() -> bool {
    terminal::is_terminal()
}

/// Number of columns of the terminal on standard output; `None` if that is not a terminal.
pub fn width() -> Option<u16> {
    use std::io::IsTerminal;
    io::stdout().is_terminal().then(|| crossterm::terminal::size().map_or(80, |(width, _)| width))
}

/// Runs the editor until the user quits; returns the exit status.
///
/// # Errors
/// There is no terminal, or it was closed.
pub fn run(setup: Setup) -> io::Result<u8> {
    let get = |name: &str| std::env::var(name).ok();
    let theme = Theme::new(Scheme::of(setup.scheme, get), Charset::of_locale(get));
    let terminal = Terminal::take()?;
    crate::files::lower_priority();
    let mut session = Session::new((setup.clock)(), setup.options.base_url.clone());
    session.set_profile(setup.profile);
    session.set_policy(setup.policy);
    session.set_site(setup.data, setup.robots);
    save::set_state_folder(&mut session, setup.options.recovery.state.clone());
    save::set_backups(&mut session, setup.backup);
    if setup.cross_submission {
        session.allow_other_sites();
    }
    if let Some(reason) = setup.read_only {
        session.set_read_only(reason);
    }
    let (sender, receiver) = channel();
    let events = EventSender(Mutex::new(sender.clone()));
    journal::watch_journal(&mut session, Some(Watcher(Arc::new(move || events.send(Event::Journal)))));
    let app = App::new(session, theme, terminal.size()?);
    let jobs = Jobs::new(Arc::new(EventSender(Mutex::new(sender.clone()))));
    event::listen_for_signals(sender.clone())?;
    event::listen(sender)?;
    let shell = Shell {
        app,
        terminal,
        jobs,
        receiver,
        postponed: VecDeque::new(),
        clock: setup.clock,
        pacer: FramePacer::default(),
        reclaimed: None,
        status: None,
    };
    shell.run(setup.start, setup.options)
}

/// Sends events from jobs to the thread that owns the state.
struct EventSender(Mutex<Sender<Event>>);

impl EventSender {
    fn send(&self, event: Event) {
        // The receiver is closed when the program is quitting.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(event);
    }
}

impl Deliver<JobOutcome, Part> for EventSender {
    fn part(&self, part: Part) {
        self.send(Event::Part(part));
    }

    fn done(&self, finished: Finished<JobOutcome>) {
        self.send(Event::Done(finished));
    }
}

/// The main loop: it connects the state with the terminal, the jobs and the clock.
struct Shell {
    app: App,
    terminal: Terminal,
    jobs: Jobs<JobOutcome, Part>,
    receiver: Receiver<Event>,
    /// Events other than input that arrived while input was discarded.
    postponed: VecDeque<Event>,
    clock: Clock,
    pacer: FramePacer,
    /// When the terminal was last reclaimed after a suspension.
    reclaimed: Option<Instant>,
    status: Option<u8>,
}

impl Shell {
    fn run(mut self, start: Start, options: Options) -> io::Result<u8> {
        let effects = self.app.start(start, options);
        self.draw()?;
        self.effects(effects)?;
        let mut dirty = true;
        loop {
            let until_frame = self.pacer.until_due(Instant::now());
            if dirty && until_frame.is_zero() {
                self.draw()?;
                dirty = false;
            }
            let wait = if dirty { Some(until_frame) } else { self.event_timeout() };
            if let Some(event) = self.next(wait)? {
                self.handle_event(event)?;
                dirty = true;
                self.drain()?;
            }
            dirty |= self.watch_jobs()?;
            if let Some(status) = self.status {
                return Ok(status);
            }
        }
    }

    /// Handles waiting events for at most [`DRAIN_TIME`].
    fn drain(&mut self) -> io::Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < DRAIN_TIME && self.status.is_none() {
            let Ok(event) = self.receiver.try_recv() else { break };
            self.handle_event(event)?;
        }
        Ok(())
    }

    /// Updates the state with an event and executes the resulting effects.
    fn handle_event(&mut self, event: Event) -> io::Result<()> {
        self.app.set_clock((self.clock)());
        if let Event::Done(finished) = &event {
            self.jobs.finished(finished.kind, finished.number);
            // The user may wait for the outcome.
            self.pacer.hurry();
        }
        if matches!(event, Event::Resize(..)) {
            // A window that was shrunk and enlarged between two frames has its old size, but is blank.
            self.terminal.repaint()?;
        }
        let effects = self.app.update(event);
        self.effects(effects)
    }

    fn next(&mut self, wait: Option<Duration>) -> io::Result<Option<Event>> {
        if let Some(event) = self.postponed.pop_front() {
            return Ok(Some(event));
        }
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the terminal is gone");
        match wait {
            None => self.receiver.recv().map(Some).map_err(|_| gone()),
            Some(wait) => match self.receiver.recv_timeout(wait) {
                Ok(event) => Ok(Some(event)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(gone()),
            },
        }
    }

    /// Maximum time to wait for an event: unlimited, unless a job is running.
    fn event_timeout(&self) -> Option<Duration> {
        self.jobs.running().next().map(|_| PROGRESS_INTERVAL)
    }

    /// Updates the state with the progress of running jobs. True if there are any and [`PROGRESS_INTERVAL`] has passed.
    fn watch_jobs(&mut self) -> io::Result<bool> {
        if !self.pacer.is_older_than(PROGRESS_INTERVAL, Instant::now()) {
            return Ok(false);
        }
        let readings: Vec<_> =
            self.jobs.running().filter_map(|kind| self.jobs.reading(kind).map(|reading| (kind, reading))).collect();
        for (kind, reading) in &readings {
            let effects = self.app.update(Event::Progress(*kind, *reading));
            self.effects(effects)?;
        }
        Ok(!readings.is_empty())
    }

    fn effects(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Spawn(kind, work) => {
                    self.jobs.request(kind, work);
                }
                Effect::Cancel(kind) => self.jobs.cancel(kind),
                Effect::Copy(text) => self.terminal.copy(&text)?,
                Effect::Suspend(unsaved) => {
                    self.terminal.suspend(&terminal::suspend_message(&unsaved))?;
                    self.reclaimed = Some(Instant::now());
                }
                // SIGCONT, which ends the suspension, also arrives as an event; reclaiming once is enough.
                Effect::Reclaim if self.reclaimed.is_some_and(|at| at.elapsed() < RECLAIM_INTERVAL) => {}
                Effect::Reclaim => self.terminal.resume()?,
                Effect::Repaint => self.terminal.repaint()?,
                Effect::Mouse(on) => self.terminal.set_mouse(on)?,
                Effect::RemoveJournal(journal) => journal.remove(),
                Effect::Quit(status) => self.status = Some(status),
            }
        }
        Ok(())
    }

    /// Discards input that was typed before a dialog is drawn, so that it does not answer the dialog.
    fn discard_typed_ahead(&mut self) {
        if !self.app.has_undrawn_dialog() {
            return;
        }
        let mut tries = 0;
        while tries < INPUT_WAIT_TRIES {
            match self.receiver.recv_timeout(INPUT_WAIT) {
                Ok(event) if app::is_input(&event) => {}
                Ok(event) => self.postponed.push_back(event),
                Err(_) if terminal::has_unread_input() => tries += 1,
                Err(_) => return,
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        // The window may have been resized before the event arrives.
        let (columns, rows) = self.terminal.size()?;
        if self.app.size() != (columns, rows) {
            let effects = self.app.update(Event::Resize(columns, rows));
            self.effects(effects)?;
        }
        self.discard_typed_ahead();
        let app = &self.app;
        self.terminal.draw(|frame| draw(app, frame))?;
        self.app.was_drawn();
        self.pacer.record(Instant::now());
        Ok(())
    }
}

/// Draws the state into a frame.
pub fn draw(app: &App, frame: &mut Frame) {
    let areas = app.areas();
    // The window may have been resized since the state was updated.
    if areas.all == frame.area()
        && let Some(caret) = draw::draw(frame.buffer_mut(), &app.shared.theme, &areas, &show::screen(app))
    {
        frame.set_cursor_position(caret);
    }
}
