//! `sited`: reads the command line and hands over to the headless half or to the screen.

use clap::Parser;
use sited::cli::{self, Env, Next, Pager, Screen, args};
use sited::tui::{self, Setup, app::Start, theme::Scheme};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let line = args::Cli::parse();
    let pool = sited::files::start_pool();
    let mut out = io::stdout().lock();
    let mut notes = io::stderr();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let around = Env {
        state: cli::state_folder(|name| std::env::var_os(name)),
        terminal: io::stdout().is_terminal(),
        colour: io::stdout().is_terminal() && !no_color && !is_dumb,
        meter: io::stderr().is_terminal() && !is_dumb,
        shortage: pool.shortage(),
        pager: tui::width().map(|width| Pager::from_environment(width.into(), std::env::var("PAGER").ok())),
    };
    survive_size_limits();
    match cli::run(&line, around, &mut out, &mut notes) {
        Next::End(status) => status.into(),
        Next::Screen(_) if pool.started == 0 => {
            let _ = writeln!(notes, "error: {}\nhint: {}", cli::NO_THREAD.0, cli::NO_THREAD.1);
            cli::Status::Files.into()
        }
        Next::Screen(screen) if tui::has_terminal() => {
            // The screen writes from more than one thread; no one may hold the streams.
            drop((out, notes));
            show(*screen)
        }
        Next::Screen(_) => {
            let _ = writeln!(notes, "error: {}\nhint: {}", cli::NO_TERMINAL.0, cli::NO_TERMINAL.1);
            cli::Status::Usage.into()
        }
    }
}

/// A file that grows beyond `ulimit -f` is an error of its write, which can be told, not the end of the program.
fn survive_size_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
}

/// Its number on every Unix that this program runs on.
#[cfg(unix)]
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

/// Opens the editor.
fn show(screen: Screen) -> ExitCode {
    let Screen { paths, options, now, read_only, theme, profile, cross_submission, backup, policy, data, robots } =
        screen;
    let state = cli::state_folder(|name| std::env::var_os(name));
    let recovery = sited::files::Recovery { state: state.clone(), finish: !read_only };
    // Whoever only reads leaves no trace there either, and keeps no one out.
    let (state, is_edited) = (state.filter(|_| !read_only), !read_only);
    let options = sited::files::Options { state, is_edited, recovery, index_as_rows: true, ..options };
    let here = || match sited::files::find_in_folder(Path::new(".")) {
        Some(_) => sited::files::find_all_in_folder(Path::new("."), &options),
        None => Vec::new(),
    };
    let setup = Setup {
        profile,
        cross_submission,
        backup,
        policy,
        data,
        robots,
        start: match <[_; 1]>::try_from(if paths.is_empty() { here() } else { paths }) {
            Ok([path]) => Start::Path(path),
            Err(paths) if paths.is_empty() => Start::Sample,
            Err(paths) => Start::Paths(paths),
        },
        options,
        scheme: theme.map(|theme| match theme {
            args::Theme::Dark => Scheme::Dark,
            args::Theme::Light => Scheme::Light,
            args::Theme::None => Scheme::Plain,
        }),
        read_only: read_only.then(|| "opened with --read-only".to_owned()),
        clock: now.map_or_else(|| Box::new(cli::clock::system) as tui::Clock, |now| Box::new(move || now)),
    };
    match tui::run(setup) {
        Ok(status) => status.into(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            cli::Status::Files.into()
        }
    }
}
