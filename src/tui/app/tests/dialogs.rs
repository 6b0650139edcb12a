//! Tests that dialogs ignore keys typed before they were drawn.

use super::bench::{Bench, SMALL};
use crate::tui::app::modes::Mode;
use crate::tui::app::{Event, Start};
use crate::tui::jobs::Kind;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Input that a dialog could handle: all characters, Enter and Esc, a click and a paste.
fn typed_ahead() -> Vec<Event> {
    let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
    let mut events: Vec<Event> = (' '..='~').map(|letter| key(KeyCode::Char(letter))).collect();
    events.extend([KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::Down, KeyCode::Backspace].map(key));
    events.extend([Bench::click_event(5, 5), Event::Paste("w\nD\n".to_owned())]);
    events
}

/// The paths and bytes of the files in the folder.
fn files(bench: &Bench) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(bench.folder.as_ref().unwrap().path()).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(&path).unwrap_or_default())).collect()
}

fn within(folder: tempfile::TempDir, start: Start) -> Bench {
    let mut bench = Bench::start(start, (120, 30), &Theme::default());
    bench.folder = Some(folder);
    bench
}

/// Benches with an open dialog, one for each kind of dialog.
fn dialogs() -> Vec<(&'static str, Bench)> {
    let begun = |keys: &str| {
        let mut bench = Bench::file(SMALL);
        bench.keys(keys);
        bench
    };
    let missing = tempfile::tempdir().unwrap();
    let start = Start::Path(missing.path().join("new.xml"));
    let missing = within(missing, start);
    let broken = tempfile::tempdir().unwrap();
    std::fs::write(broken.path().join("a.xml"), "<html></html>").unwrap();
    let start = Start::Path(broken.path().join("a.xml"));
    let broken = within(broken, start);
    let mut outside = begun("dd");
    std::fs::write(outside.path(), SMALL.replace("tea", "coffee")).unwrap();
    outside.keys("<c-s>");
    let mut merge = begun("dd");
    std::fs::write(merge.path(), SMALL.replace("tea", "coffee")).unwrap();
    merge.keys("<c-s>").keys("m");
    let mut replaced = begun("dd");
    std::fs::write(replaced.path().with_file_name("other.xml"), SMALL).unwrap();
    let other = replaced.path().with_file_name("other.xml");
    replaced.keys(&format!(":w {}<enter>", other.display()));
    let mut decision = Bench::file(&SMALL.replace("2026-13-01", "03/04/2025"));
    decision.keys("jjlgx");
    vec![
        ("leave with unsaved changes", begun("ddq")),
        ("reload with unsaved changes", outside),
        ("merge", merge),
        ("a file that is missing", missing),
        ("a file that cannot be opened", broken),
        ("the plan", begun("dd:plan<enter>")),
        ("its differences", begun("dd:plan<enter>d")),
        ("a plan that replaces a file", replaced),
        ("a finding that needs a decision", decision),
    ]
}

#[test]
fn a_dialog_ignores_input_typed_before_it_was_drawn() {
    let mut dropped = 0;
    for (name, mut bench) in dialogs() {
        let is_dialog = !matches!(bench.app.modes.current(), Mode::Table | Mode::Details);
        assert!(is_dialog, "{name}: no dialog\n{}", bench.screen());
        assert!(bench.app.has_undrawn_dialog(), "{name} is one that input waits for\n{}", bench.screen());
        let (screen, before) = (bench.screen(), files(&bench));
        for event in typed_ahead() {
            bench.send_ahead(event);
            dropped += 1;
        }
        assert_eq!(bench.screen(), screen, "{name}");
        assert_eq!((files(&bench), bench.status), (before, None), "{name}");
        // After it was drawn, input answers it.
        bench.keys("<esc>");
        assert_ne!(bench.screen(), screen, "{name}");
    }
    assert_eq!(dropped, 9 * typed_ahead().len());
}

#[test]
fn input_typed_while_a_plan_is_computed_does_not_answer_it() {
    let entry = |n| format!("<url><loc>https://example.com/{n}</loc></url>\n");
    let urls: String = (0..6_000).map(entry).collect();
    let mut bench =
        Bench::file(&format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n"));
    let other = bench.path().with_file_name("other.xml");
    std::fs::write(&other, SMALL).unwrap();
    bench.keys("dd");
    bench.hold = Some(Kind::Plan);
    bench.keys(&format!(":w {}<enter>", other.display()));
    bench.release_jobs();
    assert!(matches!(bench.app.modes.current(), Mode::Ask(_)), "{}", bench.screen());
    for letter in ":w other.xml".chars() {
        bench.send_ahead(Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
    }
    assert!(matches!(bench.app.modes.current(), Mode::Ask(_)), "{}", bench.screen());
    assert_eq!(std::fs::read_to_string(&other).unwrap(), SMALL);
    bench.keys("w");
    assert_ne!(std::fs::read_to_string(&other).unwrap(), SMALL, "{}", bench.screen());
}
