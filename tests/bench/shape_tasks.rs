//! Measures further tasks on a set of one shape, each compared with a yardstick: memory when open, printing findings,
//! saving all rows, repairs, keys while the editor works, and the growth of time with the size of the set.

use super::generate::{Set, write_set};
use super::peers::Run;
use super::report::{Report, best, time};
use super::shapes::{Shape, median};
use super::support::Folder;
use super::support::terminal::{Start, Terminal};
use super::{open, open_in_process, peers, run, saves, screen, yardstick};
use sited::session::store::save;
use sited::xml::repair;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Number of URLs in the smaller set of a comparison.
const FEW: u32 = 10_000;

/// Allowed time for one finding, in addition to writing its bytes.
const FINDING: Duration = Duration::from_micros(1);

/// Number of measured keys while one task runs.
const KEYS: usize = 40;

pub(crate) fn measure(shape: Shape, set: &Set, rounds: u32, report: &mut Report) {
    terminal(shape, set, rounds, report);
    growth(shape, set, rounds, report);
    if shape == Shape::Noisy {
        printing(set, rounds, report);
    }
    if shape == Shape::Plain {
        damage(set, rounds, report);
    }
    keys(shape, set, report);
    // Last, since it changes the set.
    saving(shape, set, rounds, report);
}

/// Measures opening the set in a terminal: the time, and the memory, for which the bytes of the files, 40 for each row and 8
/// for each link are allowed.
fn terminal(shape: Shape, set: &Set, rounds: u32, report: &mut Report) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("make a folder");
    if let (_, Some(resident)) = screen::open(&shape.set(folder.path(), 4)) {
        report.bytes(&format!("{}: open, resident memory with 4 URLs", shape.name()), resident.now, None);
        report.bytes(&format!("{}: the same without pages of files", shape.name()), resident.anonymous, None);
    }
    let links: usize = shape.link().map_or(0, |link| {
        let texts = set.parts.iter().map(|part| fs::read_to_string(part).expect("read a part"));
        texts.map(|text| text.matches(link).count()).sum()
    });
    let (mut ready, mut resident) = (Duration::MAX, None);
    for _ in 0..rounds.max(1) {
        let (took, memory) = screen::open(set);
        (ready, resident) = (ready.min(took), memory);
    }
    report.time(&format!("{}: open in a terminal, ready on the screen", shape.name()), ready, None);
    if let Some(resident) = resident {
        let allowed = set.bytes + 40 * u64::from(set.urls) + 8 * links as u64;
        report.bytes(&format!("{}: open, resident memory", shape.name()), resident.now, Some(allowed));
        report.bytes(&format!("{}: open, without pages of files", shape.name()), resident.anonymous, Some(allowed));
    }
}

/// The name of a task, and the function that returns its time.
type Task = (&'static str, fn(&Path) -> Duration);

/// Compares two sets: the time may grow linearly with the number of URLs, plus 20 %. The time for a set of four URLs
/// counts as fixed cost.
fn growth(shape: Shape, set: &Set, rounds: u32, report: &mut Report) {
    let few = FEW.min(set.urls / 4).max(4);
    let folders =
        [4, few].map(|urls| (urls, tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("make a folder")));
    let [tiny, small] = folders.each_ref().map(|(urls, folder)| shape.set(folder.path(), *urls));
    let tasks: [Task; 2] = [("sited check", |index| peers::check(index).time), ("open, ready", open_in_process)];
    for (name, task) in tasks {
        let of = |set: &Set, rounds| (0..rounds).map(|_| task(&set.index)).min().unwrap_or_default();
        // Short times vary more, so they have more rounds.
        let (tiny, small, large) = (of(&tiny, 3 * rounds), of(&small, 3 * rounds), of(set, rounds));
        let share = f64::from(set.urls) / f64::from(few);
        let linear = small.saturating_sub(tiny).mul_f64(share) + tiny;
        let what = format!("{}: {name}, {} URLs by the time of {few}", shape.name(), set.urls);
        report.time(&what, large, Some(linear.mul_f64(1.2)));
    }
}

/// The medians of the times and of the CPU times of some tasks, which take turns so that all run under the same conditions.
fn alternating<const N: usize>(rounds: u32, tasks: &[impl Fn() -> Run; N]) -> [Run; N] {
    let mut runs: [Vec<Run>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds.max(1) {
        runs.iter_mut().zip(tasks).for_each(|(runs, task)| runs.push(task()));
    }
    runs.map(|runs| {
        let median_of = |of: fn(&Run) -> Duration| median(runs.iter().map(|run| Some(of(run)))).unwrap_or_default();
        Run { time: median_of(|run| run.time), cpu: median_of(|run| run.cpu) }
    })
}

/// Measures printing every finding in each format to a file. Allowed are the check itself, a copy of the same bytes and
/// [`FINDING`] for each.
fn printing(set: &Set, rounds: u32, report: &mut Report) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("make a folder");
    let (out, copy) = (folder.path().join("out"), folder.path().join("copy"));
    peers::print_findings(&set.index, "text", &out);
    let findings = fs::read_to_string(&out).expect("read what was printed").lines().count() as u32;
    for format in ["text", "json", "sarif", "github", "junit"] {
        let (mut check, mut print, mut cat) = (Duration::MAX, Duration::MAX, Duration::MAX);
        for _ in 0..rounds.max(1) {
            check = check.min(peers::check(&set.index).time);
            print = print.min(peers::print_findings(&set.index, format, &out));
            cat = cat.min(peers::cat_to(&out, &copy).unwrap_or(Duration::MAX));
        }
        let allowed = (cat < Duration::MAX).then(|| cat + FINDING * findings);
        let what = format!("noisy: print {findings} findings, {format}");
        report.time(&what, print.saturating_sub(check), allowed);
        if format == "json" {
            let findings = yardstick::findings(&out);
            let alone = best(rounds, || yardstick::write_findings(&findings, &copy));
            report.peer("noisy: the same findings in memory written with serde_json", Some(alone));
        }
    }
}

/// Measures a file with the same damage in every entry, compared with the undamaged file. What limits it is measured
/// too: the repair alone, checking the repaired file, and what xmllint needs to repair the file.
fn damage(set: &Set, rounds: u32, report: &mut Report) {
    type Damage = (&'static str, fn(&str) -> String);
    const KINDS: [Damage; 8] = [
        ("raw &", |entry| entry.replace("</loc>", "?a=1&b=2</loc>")),
        ("control character", |entry| entry.replace("</loc>", "\u{1}x</loc>")),
        ("unknown entity", |entry| entry.replace("</loc>", "&foo;x</loc>")),
        ("< in a value", |entry| entry.replace("</loc>", "a<b</loc>")),
        ("attribute without quotes", |entry| entry.replace("<loc>", "<loc lang=en>")),
        ("wrong end tag", |entry| entry.replace("</lastmod>", "</lastmode>")),
        ("no end of the entry", |entry| entry.replace("  </url>\n", "")),
        ("unclosed child", |entry| entry.replace("</lastmod>", "")),
    ];
    let write = |damaged: fn(&str) -> String| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("make a folder");
        let entry = |text: &mut String, number: u32| {
            let mut sound = String::new();
            Shape::Plain.entry(&mut sound, number)?;
            text.push_str(&damaged(&sound));
            Ok(())
        };
        let one = write_set(folder.path(), (set.urls, 1), &entry).expect("write the set");
        (folder, one.parts.into_iter().next().expect("a set has a file"))
    };
    let (_folder, sound) = write(str::to_owned);
    let recover = |file: &Path| peers::xmllint_recover(file).map(|run| run.cpu);
    report.peer("plain: xmllint --recover of the sound file, CPU", recover(&sound));
    for (kind, damaged) in KINDS {
        let (folder, file) = write(damaged);
        let bytes = fs::read(&file).expect("read the file");
        let repair = || repair::repair(&bytes).expect("the file can be repaired");
        let repaired = folder.path().join("repaired.xml");
        fs::write(&repaired, &*repair().bytes).expect("write the repaired file");
        let [of_sound, took, of_repaired] =
            alternating(rounds, &[&sound, &file, &repaired].map(|file| || peers::check(file)));
        report.peer(&format!("plain: sited check of the sound file, beside {kind}"), Some(of_sound.time));
        report.peer(&format!("plain: sited check of the sound file, beside {kind}, CPU"), Some(of_sound.cpu));
        report.time(&format!("plain: sited check, {kind} in every entry"), took.time, Some(of_sound.time * 2));
        report.time(&format!("plain: sited check, {kind} in every entry, CPU"), took.cpu, Some(of_sound.cpu * 2));
        if let Some(most) = peers::check_memory(&file) {
            let what = format!("plain: memory of sited check, {kind} in every entry");
            report.bytes(&what, most, Some(peers::memory_limit(bytes.len() as u64)));
        }
        report.peer(&format!("plain: the repair alone, {kind}"), Some(best(rounds, repair)));
        report.peer(&format!("plain: sited check of the repaired file, {kind}"), Some(of_repaired.time));
        report.peer(&format!("plain: sited check of the repaired file, {kind}, CPU"), Some(of_repaired.cpu));
        report.peer(&format!("plain: xmllint --recover, {kind}, CPU"), recover(&file));
    }
}

/// Measures keys while the editor opens a set, and after it was told to sort the set.
fn keys(shape: Shape, set: &Set, report: &mut Report) {
    let folder = Folder::new();
    let terminal = Start::new(&folder).size(120, 40).arguments([set.index.to_string_lossy()]).start();
    let is_first = |row: String| row.contains(" 1  /") || row.contains(" 1  http");
    terminal.wait_until("the first row", |screen| screen.rows(0, 120).any(is_first));
    let key_of = |task: &str| format!("{}: a key to its frame while the editor {task}, 95th percentile", shape.name());
    let times = moves(&terminal);
    report.time(&key_of("opens"), percentile(&times, 95), Some(Duration::from_millis(16)));
    terminal.send("gg");
    screen::wait_until_ready(&terminal, set);
    terminal.send(":sort loc\r");
    let times = moves(&terminal);
    report.time(&key_of("sorts"), percentile(&times, 95), Some(Duration::from_millis(16)));
    // The first key moves the cursor among the sorted rows, so it waits for them.
    let what = format!("{}: the slowest key after the command to sort", shape.name());
    report.peer(&what, times.last().copied());
}

/// The times of keys that move the cursor, shortest first.
fn moves(terminal: &Terminal) -> Vec<Duration> {
    let mut times: Vec<_> = (0..KEYS).map(|number| screen::key(terminal, ["j", "j", "k"][number % 3])).collect();
    times.sort();
    times
}

/// The time of which so many of 100 are shorter.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}

/// Sets the times of all files of a set to an hour ago: a save hashes files again that are less than two seconds old.
fn age(set: &Set) {
    for path in set.parts.iter().chain([&set.index]) {
        let file = fs::File::options().write(true).open(path).expect("open a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("set a time");
    }
}

/// Measures a save of all rows, including the read-back, compared with a copy of the same bytes.
fn saving(shape: Shape, set: &Set, rounds: u32, report: &mut Report) {
    let folder = set.index.parent().expect("a set has a folder");
    let (mut copy, mut replaced, mut saved) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let files = yardstick::read_files(&set.parts);
    for round in 0..rounds.max(1) {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("make a folder");
        replaced = replaced.min(time(|| yardstick::replace_files(place.path(), &files)).0);
        age(set);
        let (mut session, _) = open(&set.index);
        run(&mut session, &format!("set priority=0.{}", 2 + round % 7));
        saved = saved.min(time(|| save::now(&mut session, None, false).expect("the set can be saved")).0);
        // The saved files, since an element that rows did not have makes them larger.
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("make a folder");
        copy = copy.min(time(|| saves::copied(folder, place.path())).0);
    }
    report.peer(&format!("{}: cp -r and sync", shape.name()), Some(copy));
    report.peer(&format!("{}: the same files written, synced, read back, compared", shape.name()), Some(replaced));
    report.time(&format!("{}: save all rows after a change of all, read back", shape.name()), saved, Some(copy * 2));
}
