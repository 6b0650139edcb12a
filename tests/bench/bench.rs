//! Benchmarks of whole tasks, as ratios to a yardstick measured in the same run.
//!
//! Run `cargo bench`, `cargo bench -- --urls 100000`, or `cargo bench -- --shape NAME|all` for one shape of sitemaps.
//!
//! The results are for people: nothing fails because it is slow. Work counters, which do not depend on time, are
//! asserted in the tests. `cargo test --benches` only proves that the benchmarks run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use sited::session::store::save;
mod generate;
mod peers;
mod report;
mod saves;
mod screen;
mod shape_tasks;
mod shapes;
#[path = "../support/mod.rs"]
mod support;
mod yardstick;

use generate::Set;
use peers::Peers;
use report::{Report, best, time};
use shapes::Shape;
use sited::files::{Action, LoadedFile, Options};
use sited::progress::Progress;
use sited::protocol::lastmod::Now;
use sited::session::Session;
use sited::session::command::parse;
use sited::session::edit::DefaultScope;
use sited::session::state::vocabulary;
use std::path::Path;
use std::time::{Duration, Instant};

/// The sizes of the measured sets, and the number of rounds.
struct Size {
    urls: u32,
    files: u32,
    rounds: u32,
    /// URLs in each set of one shape.
    shape_urls: u32,
}

/// Noon of 20 November 2026, UTC.
const NOW: Now = Now { seconds: 1_795_176_000, offset: 0 };

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, path] if flag == "--open" => return print_opening(Path::new(path)),
        [flag, path] if flag == "--saving" => return saves::print_memory(Path::new(path)),
        [flag, paths @ ..] if flag == "--read" => return yardstick::read_in_process(paths),
        [flag, paths @ ..] if flag == "--parse" => return yardstick::parse_in_process(paths),
        _ => {}
    }
    let size = size(&arguments);
    let mut report = Report::default();
    if let Some(name) = arguments.iter().skip_while(|argument| *argument != "--shape").nth(1) {
        shapes::measure(&Shape::named(name), size.shape_urls, size.rounds, &mut report);
        return print!("{report}");
    }
    let folder = tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("make a folder");
    let set = generate::generate(folder.path(), size.urls, size.files).expect("write the set");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let megabytes = set.bytes / 1_000_000;
    let caption =
        format!("{} URLs in {} files, {megabytes} MB, best of {}, {cores} cores:", set.urls, size.files, size.rounds);
    println!("{caption}");
    let peers = Peers::measure(&set, size.rounds.min(2));
    // Other programs run before this process loads a set, since forking a process of 2 GB takes 100 ms.
    screen::measure(&set, size.rounds, &mut report);
    checking(&set, size.rounds.min(2), &peers, &mut report);
    opening(&set, size.rounds, &mut report);
    memory(&set, &mut report);
    let (mut session, _) = open(&set.index);
    editing(&mut session, size.rounds, &mut report);
    looking(&mut session, size.rounds, &peers, &mut report);
    saving(&mut session, &mut report);
    saves::measure(&set, &mut session, size.rounds, &mut report);
    drop(session);
    shapes::measure(&Shape::ALL, size.shape_urls, size.rounds, &mut report);
    print!("{report}");
    if arguments.iter().any(|argument| argument == "--manual") {
        write_manual(&caption, &report);
    }
}

/// Replaces the table of the manual.
fn write_manual(caption: &str, report: &Report) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manual/performance.md");
    let text = std::fs::read_to_string(&path).expect("read the page");
    let (head, rest) = text.split_once(BEGIN).expect("the page has a place for the table");
    let (_, tail) = rest.split_once(END).expect("and an end of it");
    let table = report.markdown();
    std::fs::write(&path, format!("{head}{BEGIN}\n\n{caption}\n\n{table}\n{END}{tail}")).expect("write the page");
}

/// The markers around the table.
const BEGIN: &str = "<!-- bench -->";
const END: &str = "<!-- /bench -->";

/// The sizes given by `--urls N` and `--files N`; by default one million URLs in 20 files, and few under `cargo test`.
fn size(arguments: &[String]) -> Size {
    let number = |name: &str, default: u32| {
        let value = arguments.iter().skip_while(|argument| *argument != name).nth(1);
        value.map_or(default, |value| value.replace([',', '_'], "").parse().expect("a number"))
    };
    if arguments.iter().any(|argument| argument == "--bench") {
        let shape_urls = number("--shape-urls", 200_000);
        Size {
            urls: number("--urls", 1_000_000),
            files: number("--files", 20),
            rounds: number("--rounds", 5),
            shape_urls,
        }
    } else {
        let shape_urls = number("--shape-urls", 400);
        Size { urls: number("--urls", 2_000), files: number("--files", 4), rounds: number("--rounds", 1), shape_urls }
    }
}

/// Measures loading with checks, alternately with the yardstick, so that both run under the same conditions.
fn opening(set: &Set, rounds: u32, report: &mut Report) {
    let (mut yardstick, mut ready, mut first) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..rounds.max(1) {
        yardstick = yardstick.min(time(|| yardstick::read(set)).0);
        let (took, (session, first_rows)) = time(|| open(&set.index));
        assert_eq!(session.document().live(), set.urls, "every entry is a row");
        (ready, first) = (ready.min(took), first.min(first_rows));
    }
    report.time("quick-xml events, one thread (the yardstick)", yardstick, None);
    report.time("open: read, checked, ready", ready, Some(yardstick.mul_f64(0.8)));
    report.time("open: first rows", first, Some(Duration::from_millis(100)));
}

/// Opens a set. Returns the session and the time until the first rows.
fn open(index: &Path) -> (Session, Duration) {
    let start = Instant::now();
    let mut first = None;
    let mut session = Session::new(NOW, None);
    let loader = session.loader(Options::default());
    let deliver = &mut |part| {
        let has_rows = matches!(part, LoadedFile::Sitemap { .. });
        session.add_file(part);
        if has_rows {
            first.get_or_insert_with(|| start.elapsed());
        }
    };
    let loaded = loader.load(index, &Progress::default(), deliver).expect("the set loads");
    session.finish(loaded);
    (session, first.expect("the set has rows"))
}

/// Measures the resident memory of the program with the set open in a terminal.
fn memory(set: &Set, report: &mut Report) {
    if let (_, Some(resident)) = screen::open(set) {
        report.bytes("open: resident memory", resident.now, Some(set.bytes + 40 * u64::from(set.urls)));
        report.bytes("open: resident memory at its peak", resident.peak, None);
    }
}

/// Opens a set in a new process, whose memory no earlier task has used. Returns the time that it takes there.
fn open_in_process(index: &Path) -> Duration {
    let this = std::env::current_exe().expect("know where this program is");
    let output = std::process::Command::new(this).arg("--open").arg(index).output().expect("start it again");
    let text = String::from_utf8_lossy(&output.stdout);
    Duration::from_nanos(text.trim().parse().expect("the process prints its time"))
}

/// Prints the nanoseconds that opening a set takes.
fn print_opening(index: &Path) {
    let (took, session) = time(|| open(index).0);
    println!("{}", took.as_nanos());
    drop(session);
}

/// Measures `sited check`, compared with a parser that only checks well-formedness.
fn checking(set: &Set, rounds: u32, peers: &Peers, report: &mut Report) {
    report.peer("xmllint --stream --noout", peers.xmllint);
    let check = (0..rounds.max(1)).map(|_| peers::check(&set.index).time).min().expect("at least one round");
    report.time("sited check", check, peers.xmllint.map(|peer| peer / 2));
    if let Some(most) = peers::check_memory(&set.index) {
        report.bytes("sited check: memory at its peak", most, None);
    }
}

fn editing(session: &mut Session, rounds: u32, report: &mut Report) {
    let (mut set_all, mut undo) = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds.max(1) {
        set_all = set_all.min(run(session, "set priority=0.8"));
        undo = undo.min(run(session, "undo"));
    }
    // One second for ten million rows.
    let share = Duration::from_secs(1).mul_f64(f64::from(session.view().shown()) / 10e6);
    report.time("set one field on all rows", set_all, Some(share));
    report.time("undo it", undo, Some(Duration::from_millis(16)));
}

/// Measures a save of one changed row, which writes one part and the index.
fn saving(session: &mut Session, report: &mut Report) {
    let row = session.view().row_at(session.view().shown() / 2).expect("the set has rows");
    let loc = session.document().loc(row).into_owned();
    report.time(
        "set one field of one row, found by its URL",
        run(session, &format!("set priority=1.0 lastmod=2026-11-20 where loc=\"{loc}\"")),
        None,
    );
    let (planned, plan) = time(|| session.plan(None));
    report.time("plan a save of one changed row", planned, None);
    report.count("files it writes", plan.count(Action::Rewritten) as u64, 2);
    report.time("save it", time(|| save::now(session, None, false).expect("the set can be saved")).0, None);
}

fn looking(session: &mut Session, rounds: u32, peers: &Peers, report: &mut Report) {
    report.peer("rg -c of a word", peers.word);
    report.peer("rg -c -i of the word", peers.folded);
    report.peer("rg -c of a regular expression", peers.expression);
    for (line, allowed) in [
        ("filter harbour", peers.word),
        ("filter path~/[a-f]+-juniper", peers.expression.map(|peer| peer * 2)),
        ("filter lastmod<2024 priority>=0.5", None),
        ("filter rule:loc-*", None),
    ] {
        report.time(line, best(rounds, || run(session, line)), allowed);
    }
    run(session, "nofilter");
    report.peer("LC_ALL=C sort --parallel=2 of the URLs, in memory", peers.sort);
    for (line, share) in [("sort loc", Some(0.5)), ("sort -lastmod", Some(0.05)), ("sort priority,-lastmod", None)] {
        let allowed = peers.sort.zip(share).map(|(peer, share)| peer.mul_f64(share));
        report.time(line, best(rounds.min(2), || run(session, line)), allowed);
    }
    run(session, "nosort");
}

/// Runs a command line as a script does. Returns the time it took.
fn run(session: &mut Session, line: &str) -> Duration {
    let command = parse(line, &vocabulary(NOW)).unwrap_or_else(|error| panic!("{line}: {error:?}"));
    let (took, outcome) = time(|| session.run(&command, DefaultScope::All));
    outcome.unwrap_or_else(|refused| panic!("{line}: {refused}"));
    took
}
