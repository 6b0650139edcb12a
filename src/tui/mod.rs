//! The terminal editor: one thread owns the state, one event type changes it, drawing only reads it.
//!
//! Nothing here decides what a sitemap is: it asks the session. Only this module names `ratatui`
//! and `crossterm`.

use crate::session::store::journal;
use crate::session::store::save;
pub mod app;
pub(crate) mod command;
pub(crate) mod draw;
pub(crate) mod event;
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

/// How the editor is started.
pub struct Setup {
    /// What to open.
    pub start: Start,
    /// How files are read.
    pub options: Options,
    /// Whose expectations count.
    pub profile: Profile,
    /// Whether the set may list URLs of other sites.
    pub cross_submission: bool,
    /// When the files that a save replaces are kept.
    pub backup: crate::files::backup::When,
    /// What the set is held against.
    pub policy: Option<Arc<Policy>>,
    /// What other programs know about the URLs.
    pub data: Option<Arc<DataSet>>,
    /// The robots.txt of the site.
    pub robots: Option<Arc<RobotsTxt>>,
    /// The colours asked for.
    pub scheme: Option<Scheme>,
    /// Why nothing may be changed, if that was asked for.
    pub read_only: Option<String>,
    /// The clock.
    pub clock: Clock,
}

/// Tells the time.
pub type Clock = Box<dyn Fn() -> Now>;

/// Events that wait are taken in for so long before a frame is due.
const DRAIN: Duration = Duration::from_millis(8);
/// No more frames than one in this time.
const FRAME: Duration = Duration::from_millis(16);
/// After a stop the terminal is taken again once in this time.
const RECLAIMED: Duration = Duration::from_millis(300);
/// How often the counters of running jobs are examined.
const PROGRESS: Duration = Duration::from_millis(100);
/// How long the thread that reads input may take to hand on what it has read.
const HANDED_ON: Duration = Duration::from_millis(1);
/// How often that is waited for while the terminal holds unread input.
const HANDED_ON_TRIES: usize = 100;

/// Whether there is a terminal on standard input and output: the editor needs both.
pub fn has_terminal() -> bool {
    terminal::is_terminal()
}

/// Columns of the terminal on standard output; `None` if it is none.
pub fn width() -> Option<u16> {
    use std::io::IsTerminal;
    io::stdout().is_terminal().then(|| crossterm::terminal::size().map_or(80, |(width, _)| width))
}

/// Opens the editor and runs it to its end; gives the exit status.
///
/// # Errors
/// When there is no terminal, or it goes away.
pub fn run(setup: Setup) -> io::Result<u8> {
    let get = |name: &str| std::env::var(name).ok();
    let theme = Theme::new(Scheme::of(setup.scheme, get), Charset::of_locale(get));
    let terminal = Terminal::take()?;
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
    let post = Post(Mutex::new(sender.clone()));
    journal::watch_journal(&mut session, Some(Watcher(Arc::new(move || post.send(Event::Journal)))));
    let app = App::new(session, theme, terminal.size()?);
    let jobs = Jobs::new(Arc::new(Post(Mutex::new(sender.clone()))));
    event::listen_for_signals(sender.clone())?;
    event::listen(sender)?;
    let shell = Shell {
        app,
        terminal,
        jobs,
        receiver,
        postponed: VecDeque::new(),
        clock: setup.clock,
        drawn: None,
        reclaimed: None,
        status: None,
    };
    shell.run(setup.start, setup.options)
}

/// Brings what jobs deliver to the thread that owns the state.
struct Post(Mutex<Sender<Event>>);

impl Post {
    fn send(&self, event: Event) {
        // No one listens any more once the program is leaving.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(event);
    }
}

impl Deliver<JobOutcome, Part> for Post {
    fn part(&self, part: Part) {
        self.send(Event::Part(part));
    }

    fn done(&self, finished: Finished<JobOutcome>) {
        self.send(Event::Done(finished));
    }
}

/// The state with everything outside of it.
struct Shell {
    app: App,
    terminal: Terminal,
    jobs: Jobs<JobOutcome, Part>,
    receiver: Receiver<Event>,
    /// What came while input was dropped.
    postponed: VecDeque<Event>,
    clock: Clock,
    /// When the last frame was drawn.
    drawn: Option<Instant>,
    /// When the terminal was taken again after a stop.
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
            let frame_due = self.drawn.map_or(Duration::ZERO, |drawn| FRAME.saturating_sub(drawn.elapsed()));
            if dirty && frame_due.is_zero() {
                self.draw()?;
                dirty = false;
            }
            let wait = if dirty { Some(frame_due) } else { self.event_timeout() };
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

    /// Takes in what waits already, for a while.
    fn drain(&mut self) -> io::Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < DRAIN && self.status.is_none() {
            let Ok(event) = self.receiver.try_recv() else { break };
            self.handle_event(event)?;
        }
        Ok(())
    }

    /// One event: the state changes, and what it asks for is done.
    fn handle_event(&mut self, event: Event) -> io::Result<()> {
        self.app.set_clock((self.clock)());
        if let Event::Done(finished) = &event {
            self.jobs.finished(finished.kind, finished.number);
        }
        if matches!(event, Event::Resize(..)) {
            // A window that shrank and grew again between two frames has its old size and nothing on it.
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

    /// How long to wait for an event at most: as long as it takes, unless a job runs.
    fn event_timeout(&self) -> Option<Duration> {
        self.jobs.running().next().map(|_| PROGRESS)
    }

    /// Tells the state how far jobs are. True if there are any and it is time.
    fn watch_jobs(&mut self) -> io::Result<bool> {
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= PROGRESS);
        if !due {
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
                    self.terminal.suspend(&terminal::suspend_words(&unsaved))?;
                    self.reclaimed = Some(Instant::now());
                }
                // The signal that ends a stop comes as an event too; once is enough.
                Effect::Reclaim if self.reclaimed.is_some_and(|at| at.elapsed() < RECLAIMED) => {}
                Effect::Reclaim => self.terminal.resume()?,
                Effect::Repaint => self.terminal.repaint()?,
                Effect::Mouse(on) => self.terminal.set_mouse(on)?,
                Effect::RemoveJournal(journal) => journal.remove(),
                Effect::Quit(status) => self.status = Some(status),
            }
        }
        Ok(())
    }

    /// Drops what was typed before a dialog that is drawn now, as far as the terminal has it.
    fn drop_typed_ahead(&mut self) {
        if !self.app.has_undrawn_dialog() {
            return;
        }
        let mut tries = 0;
        while tries < HANDED_ON_TRIES {
            match self.receiver.recv_timeout(HANDED_ON) {
                Ok(event) if app::is_input(&event) => {}
                Ok(event) => self.postponed.push_back(event),
                Err(_) if terminal::has_unread_input() => tries += 1,
                Err(_) => return,
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        // The window may be another already, and the event that says so still on its way.
        let (columns, rows) = self.terminal.size()?;
        if self.app.size() != (columns, rows) {
            let effects = self.app.update(Event::Resize(columns, rows));
            self.effects(effects)?;
        }
        self.drop_typed_ahead();
        let app = &self.app;
        self.terminal.draw(|frame| draw(app, frame))?;
        self.app.was_drawn();
        self.drawn = Some(Instant::now());
        Ok(())
    }
}

/// Draws the state. Changes nothing but the frame.
pub fn draw(app: &App, frame: &mut Frame) {
    let areas = app.areas();
    // The window may become another between two lines of this program.
    if areas.all == frame.area()
        && let Some(caret) = draw::draw(frame.buffer_mut(), &app.shared.theme, &areas, &show::screen(app))
    {
        frame.set_cursor_position(caret);
    }
}
