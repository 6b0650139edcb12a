//! Test bench: the editor without a terminal; effects are executed immediately.

use crate::files::Options;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::tui::app::{App, Effect, Event, Start, Work, is_input};
use crate::tui::draw::tests::text;
use crate::tui::jobs::{Finished, Kind};
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::cell::RefCell;
use std::path::PathBuf;

/// 2026-11-20T09:14:07Z, with a time zone of UTC+1.
pub(super) const NOW: Now = Now { seconds: 1_795_166_047, offset: 3600 };

pub(super) const SMALL: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <url><loc>https://example.com/</loc><lastmod>2026-11-02</lastmod><priority>1.0</priority></url>
  <url><loc>https://example.com/shop/tea</loc><lastmod>2026-10-05</lastmod><changefreq>weekly</changefreq><priority>0.2</priority></url>
  <url><loc>https://example.com/shop/cups</loc><lastmod>2026-13-01</lastmod><changefreq>weekly</changefreq></url>
  <url><loc>https://example.com/blog/old post</loc><priority>0.2</priority></url>
</urlset>
";

/// The editor without a terminal.
pub(super) struct Bench {
    pub(super) app: App,
    pub(super) copied: Vec<String>,
    pub(super) status: Option<u8>,
    pub(super) suspended: Vec<String>,
    pub(super) folder: Option<tempfile::TempDir>,
    /// Jobs of this kind are held until [`Bench::step`] or [`Bench::release_jobs`].
    pub(super) hold: Option<Kind>,
    pub(super) held: Vec<(Work, Progress)>,
}

/// Runs a job. Returns the events that it sends.
fn events(kind: Kind, work: Work, progress: &Progress) -> Vec<Event> {
    let events = RefCell::new(Vec::new());
    let outcome = work(progress, &|part| events.borrow_mut().push(Event::Part(part)));
    let mut events = events.into_inner();
    events.push(Event::Done(Finished { kind, number: 0, outcome: Some(outcome) }));
    events
}

impl Bench {
    pub(super) fn start(start: Start, size: (u16, u16), theme: &Theme) -> Self {
        Self::begin(start, App::new(Session::new(NOW, None), *theme, size), Options::default())
    }

    /// Starts with another time and other options.
    pub(super) fn start_at(start: Start, (now, options): (Now, Options)) -> Self {
        let app = App::new(Session::new(now, options.base_url.clone()), Theme::default(), (120, 40));
        Self::begin(start, app, options)
    }

    /// Starts with jobs of this kind held from the beginning.
    pub(super) fn start_held(start: Start, options: Options, hold: Kind) -> Self {
        let app = App::new(Session::new(NOW, None), Theme::default(), (120, 30));
        Self::begin_held(start, app, options, Some(hold))
    }

    fn begin(start: Start, app: App, options: Options) -> Self {
        Self::begin_held(start, app, options, None)
    }

    fn begin_held(start: Start, app: App, options: Options, hold: Option<Kind>) -> Self {
        let mut bench =
            Self { app, copied: Vec::new(), status: None, suspended: Vec::new(), folder: None, hold, held: Vec::new() };
        let effects = bench.app.start(start, options);
        bench.effects(effects);
        bench
    }

    pub(super) fn sample(columns: u16, rows: u16) -> Self {
        Self::start(Start::Sample, (columns, rows), &Theme::default())
    }

    /// Opens a file with this text, in a temporary folder.
    pub(super) fn file(xml: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, xml).unwrap();
        let bench = Self::start(Start::Path(path), (120, 30), &Theme::default());
        Self { folder: Some(folder), ..bench }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("sitemap.xml")
    }

    pub(super) fn on_disk(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    pub(super) fn effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Spawn(kind, work) if self.hold == Some(kind) => self.held.push((work, Progress::default())),
                Effect::Spawn(kind, work) => self.work(kind, work, &Progress::default()),
                Effect::Cancel(kind) if self.hold == Some(kind) => {
                    self.held.iter().for_each(|(_, progress)| progress.cancel());
                }
                Effect::Copy(text) => self.copied.push(text),
                Effect::Suspend(words) => self.suspended.push(words),
                Effect::Quit(status) => self.status = Some(status),
                Effect::RemoveJournal(journal) => journal.remove(),
                Effect::Cancel(_) | Effect::Reclaim | Effect::Repaint | Effect::Mouse(_) => {}
            }
        }
    }

    fn work(&mut self, kind: Kind, work: Work, progress: &Progress) {
        for event in events(kind, work, progress) {
            self.send(event);
        }
    }

    /// Runs a held job, and returns the events that it would send.
    pub(super) fn run_held(&mut self) -> Vec<Event> {
        let (work, progress) = self.held.remove(0);
        events(self.hold.unwrap(), work, &progress)
    }

    /// Runs the held jobs, and holds the next ones.
    pub(super) fn step(&mut self) {
        let kind = self.hold.unwrap();
        for (work, progress) in std::mem::take(&mut self.held) {
            self.work(kind, work, &progress);
        }
    }

    /// Runs the held jobs, and holds no more jobs.
    pub(super) fn release_jobs(&mut self) {
        let kind = self.hold.take().unwrap();
        for (work, progress) in std::mem::take(&mut self.held) {
            self.work(kind, work, &progress);
        }
    }

    /// Sends an event after everything before it was drawn.
    pub(super) fn send(&mut self, event: Event) {
        if is_input(&event) {
            self.app.dialog_was_drawn();
        }
        self.send_ahead(event);
    }

    /// Sends an event before the next frame is drawn.
    pub(super) fn send_ahead(&mut self, event: Event) {
        let effects = self.app.update(event);
        self.effects(effects);
    }

    /// Types keys: characters as they are, other keys by name: `<enter>`, `<c-s>`, `<space>`.
    #[track_caller]
    pub(super) fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|after| after.split_once('>'));
            let (name, after) = match named {
                Some((name, after)) if !name.is_empty() && !name.contains(['=', ' ', '<']) => (name, after),
                _ => (&rest[..first.len_utf8()], &rest[first.len_utf8()..]),
            };
            rest = after;
            let (modifiers, name) = match name.strip_prefix("c-") {
                Some(name) => (KeyModifiers::CONTROL, name),
                None => (KeyModifiers::NONE, name),
            };
            let code = match name {
                "enter" => KeyCode::Enter,
                "esc" => KeyCode::Esc,
                "tab" => KeyCode::Tab,
                "backtab" => KeyCode::BackTab,
                "space" => KeyCode::Char(' '),
                "up" => KeyCode::Up,
                "down" => KeyCode::Down,
                "left" => KeyCode::Left,
                "right" => KeyCode::Right,
                "bs" => KeyCode::Backspace,
                "del" => KeyCode::Delete,
                "pgdn" => KeyCode::PageDown,
                "end" => KeyCode::End,
                "f2" => KeyCode::F(2),
                "f6" => KeyCode::F(6),
                "lt" => KeyCode::Char('<'),
                "gt" => KeyCode::Char('>'),
                one if one.chars().count() == 1 => KeyCode::Char(one.chars().next().unwrap()),
                other => panic!("no key {other}"),
            };
            self.send(Event::Key(KeyEvent::new(code, modifiers)));
        }
        self
    }

    /// Clicks on the screen as it was last drawn.
    pub(super) fn click(&mut self, x: u16, y: u16) -> &mut Self {
        self.send(Self::click_event(x, y));
        self
    }

    /// The event of a click.
    pub(super) fn click_event(column: u16, row: u16) -> Event {
        let kind = MouseEventKind::Down(MouseButton::Left);
        Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    }

    pub(super) fn paste(&mut self, text: &str) -> &mut Self {
        self.send(Event::Paste(text.to_owned()));
        self
    }

    pub(super) fn cells(&self, field: Field) -> Vec<String> {
        let session = &self.app.shared.session;
        (0..session.view().shown())
            .map(|at| session.view().row_at(at).unwrap())
            .map(|row| session.view().cell(row, field).map_or_else(|| "none".to_owned(), std::borrow::Cow::into_owned))
            .collect()
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.cells(Field::Loc).iter().map(|loc| loc.replace("https://example.com", "")).collect()
    }

    pub(super) fn screen(&self) -> String {
        let (columns, rows) = self.app.shared.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let frame = terminal.draw(|frame| crate::tui::draw(&self.app, frame)).unwrap();
        text(frame.buffer)
    }

    pub(super) fn message(&self) -> String {
        let message = self.app.shared.message.as_ref().expect("there is no message");
        message.words.pieces().iter().map(|(_, text)| text.as_ref()).collect()
    }

    #[track_caller]
    pub(super) fn shows(&self, words: &str) {
        let screen = self.screen();
        assert!(screen.contains(words), "no {words:?} in\n{screen}");
    }
}
