//! Fault injection: every file operation of a save fails, writes short, is interrupted, or kills the process.
//!
//! Tests the manual's promises about full disks and crashes, for every method of replacing files.

use super::scenarios::{Files, SCENARIOS, has_record};
use super::*;
use crate::files::fixture::TestSet;
use crate::files::gate::FsOperation;
use crate::files::record;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The visible files, without the hidden ones of an unfinished save.
fn visible_files(set: &TestSet) -> Files {
    set.files().into_iter().filter(|(name, _)| !name.starts_with('.') && !name.contains("/.")).collect()
}

/// The kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::files) enum Kind {
    /// An error with this code.
    Error(i32),
    /// An interruption by a signal, once.
    Interrupted,
    /// Only one byte is written.
    Short,
    /// Half of the bytes are written, and all are reported as written. Affects writes only.
    Lie,
}

/// Injects a fault into the n-th operation, and counts renames and removals.
pub(in crate::files) struct Fault {
    at: usize,
    kind: Kind,
    passed: AtomicUsize,
    /// Number of renames and removals.
    pub(super) renames: AtomicUsize,
}

impl Fault {
    pub(in crate::files) fn at(at: usize, kind: Kind) -> Self {
        Self { at, kind, passed: AtomicUsize::new(0), renames: AtomicUsize::new(0) }
    }

    /// A full disk at the operation `at`.
    pub(super) fn full(at: usize) -> Self {
        Self::at(at, Kind::Error(28))
    }

    pub(in crate::files) fn has_fired(&self) -> bool {
        self.passed.load(Ordering::SeqCst) > self.at
    }
}

impl Fault {
    /// Counts an operation, and returns whether it is the n-th, which gets the fault. Files are written on several
    /// threads.
    fn check_step(&self, step: FsOperation) -> io::Result<bool> {
        // The threads determine which operation is the n-th, but not the number of writes.
        let is_counted = !matches!(self.kind, Kind::Lie) || step == FsOperation::Write;
        let is_faulty = is_counted && self.passed.fetch_add(1, Ordering::SeqCst) == self.at;
        match self.kind {
            Kind::Error(number) if is_faulty => return Err(io::Error::from_raw_os_error(number)),
            Kind::Interrupted if is_faulty => return Err(io::ErrorKind::Interrupted.into()),
            _ => {}
        }
        if matches!(step, FsOperation::Rename | FsOperation::Remove) {
            self.renames.fetch_add(1, Ordering::SeqCst);
        }
        Ok(is_faulty)
    }
}

impl Gate for Fault {
    fn pass(&self, step: FsOperation) -> io::Result<()> {
        self.check_step(step).map(drop)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        let is_faulty = self.check_step(FsOperation::Write)?;
        match self.kind {
            Kind::Short if is_faulty => file.write(bytes.get(..1).unwrap_or(bytes)),
            Kind::Lie if is_faulty => {
                file.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
                Ok(bytes.len())
            }
            _ => file.write(bytes),
        }
    }
}

/// The codes of `ENOSPC`, `EDQUOT`, `EIO`, `EFBIG` and `EROFS` on Linux.
const ERRORS: [i32; 5] = [28, 122, 5, 27, 30];

pub(super) fn save_with(gate: &dyn Gate, set: &mut TestSet) -> Result<Saved, Error> {
    let plan = set.plan();
    let mode = set.mode();
    save_with_gate(gate, &plan, &mut set.disk, &mode, &Progress::default())
}

/// Stages each rewritten sitemap by itself before the plan of the whole set is known, as for a streamed set.
fn save_in_pieces(gate: &dyn Gate, set: &mut TestSet) -> Result<Saved, Error> {
    let plan = set.plan();
    let mode = set.mode();
    let mut batch = IncrementalSave::begin_with_gate(gate, plan.path.as_deref(), &set.disk, &mode)?;
    for output in &plan.outputs {
        if output.action == Action::Rewritten && matches!(output.file, FileId::Sitemap(_)) {
            let piece = Plan { outputs: vec![output.clone()], ..plan.clone() };
            batch.stage(&piece, &set.disk, &Progress::default())?;
        }
    }
    batch.commit(&plan, &mut set.disk, &Progress::default())
}

/// A function that saves a set.
type SaveFn = fn(&dyn Gate, &mut TestSet) -> Result<Saved, Error>;

/// Saves a whole plan, and in pieces.
const SAVE_FNS: [SaveFn; 2] = [save_with, save_in_pieces];

/// Any operation may fail with any error. Before the record is written, nothing has changed and nothing is left behind.
/// After it, the index lists only existing files, no file is partly written, and saving again completes the save, as
/// does the next process that opens the set.
#[test]
fn a_failure_at_any_operation_loses_nothing() {
    for (scenario, save) in SCENARIOS.iter().flat_map(|scenario| SAVE_FNS.map(|save| (scenario, save))) {
        let (old, new) = scenario.outcomes();
        let (mut failures, mut finished) = (0, 0);
        for (at, is_opened_again) in (0..).flat_map(|at| [(at, false), (at, true)]) {
            let context = format!("{}, operation {at}, opened again: {is_opened_again}", scenario.name);
            let mut set = scenario.edited();
            let kind = Kind::Error(ERRORS[(at + usize::from(is_opened_again)) % ERRORS.len()]);
            let fault = Fault::at(at, kind);
            let Err(error) = save(&fault, &mut set) else {
                assert_eq!(set.files(), new, "{context}");
                if fault.has_fired() {
                    // The save is complete; only the removal of the record may be lost in a crash.
                    continue;
                }
                break;
            };
            failures += 1;
            assert!(error.hint().is_some() || kind == Kind::Error(5), "{context}: {error}");
            let now = set.files();
            let has_record = has_record(&now);
            if !has_record && fault.renames.load(Ordering::SeqCst) == 0 {
                assert_eq!(now, old, "{context}");
            }
            let is_begun = matches!(error.reason, Reason::Unfinished { .. } | Reason::NoSpace { begun: true, .. });
            assert_eq!(is_begun, has_record, "{context}: {error}");
            for (name, bytes) in visible_files(&set) {
                let is_whole = old.get(&name) == Some(&bytes) || new.get(&name) == Some(&bytes);
                assert!(is_whole || scenario.in_place, "{context}: {name}");
            }
            let index = new.keys().find(|name| name.ends_with("index.xml"));
            if index.is_some_and(|index| now.get(index) == new.get(index)) {
                assert!(new.keys().all(|name| now.contains_key(name)), "{context}");
            }
            if is_opened_again {
                let done = set.reopen(scenario.main);
                assert_eq!(done.is_some(), has_record, "{context}");
                finished += usize::from(has_record);
                let expected = if has_record || visible_files(&set) == new { &new } else { &old };
                assert_eq!(&set.files(), expected, "{context}");
            } else {
                // The recorded state is up to date, so that retrying does not count as overwriting foreign changes.
                let plan = set.plan();
                let mode = set.mode();
                super::save_with_mode(&plan, &mut set.disk, &mode, &Progress::default()).unwrap();
                assert_eq!(set.files(), new, "{context}");
            }
        }
        let needs_record = new.keys().any(|name| name.ends_with("index.xml")) || new.len() > old.len();
        assert!(failures >= 8 && (finished > 3 || !needs_record), "{}: {failures} {finished}", scenario.name);
    }
}

/// After a save that failed between renames, undoing everything and saving restores the old files.
#[test]
fn undoing_everything_after_a_failed_save_restores_the_old_files() {
    for scenario in &SCENARIOS {
        let (old, _) = scenario.outcomes();
        for at in 0.. {
            let (mut set, fault) = (scenario.edited(), Fault::full(at));
            if save_with(&fault, &mut set).is_ok() {
                break;
            }
            set.document = set.saved.clone();
            set.save();
            let mut now = unpacked(set.files());
            for (_, index) in now.iter_mut().filter(|(name, _)| name.contains("index")) {
                // A part that was removed and is created again has today's date.
                *index = String::from_utf8(index.clone()).unwrap().replace("2026-11-20", "2024-01-01").into_bytes();
            }
            assert!(now == unpacked(old.clone()), "{} {at}: {:?}", scenario.name, now.keys());
        }
    }
}

/// The files, unpacked: another compression level may have been used.
fn unpacked(mut files: Files) -> Files {
    for (_, bytes) in files.iter_mut().filter(|(name, _)| Path::new(name).extension().is_some_and(|end| end == "gz")) {
        let mut content = Vec::new();
        io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut content).unwrap();
        *bytes = content;
    }
    files
}

#[test]
fn signals_and_short_writes_change_nothing() {
    let kinds = [Kind::Interrupted, Kind::Short];
    let cases = SCENARIOS.iter().flat_map(|scenario| kinds.map(|kind| (scenario, kind)));
    for ((scenario, kind), save) in cases.flat_map(|case| SAVE_FNS.map(|save| (case, save))) {
        let (_, new) = scenario.outcomes();
        for at in 0.. {
            let (mut set, fault) = (scenario.edited(), Fault::at(at, kind));
            save(&fault, &mut set).unwrap_or_else(|error| panic!("{} {kind:?} {at}: {error}", scenario.name));
            assert_eq!(set.files(), new, "{} {kind:?} {at}", scenario.name);
            if !fault.has_fired() {
                break;
            }
        }
    }
}

/// The disk silently loses bytes, so that the bytes that are read back differ.
#[test]
fn silent_data_loss_is_detected_before_anything_is_replaced() {
    for (scenario, save) in SCENARIOS.iter().flat_map(|scenario| SAVE_FNS.map(|save| (scenario, save))) {
        let (old, new) = scenario.outcomes();
        let mut detected = 0;
        for at in 0.. {
            let (mut set, fault) = (scenario.edited(), Fault::at(at, Kind::Lie));
            match save(&fault, &mut set) {
                // A write without effect on the content, such as that of a name.
                Ok(_) => assert_eq!(set.files(), new, "{} {at}", scenario.name),
                Err(error) => {
                    detected += 1;
                    assert!(!matches!(error.reason, Reason::System { .. }), "{} {at}: {error}", scenario.name);
                    assert_eq!(set.files(), old, "{} {at}", scenario.name);
                }
            }
            if !fault.has_fired() {
                break;
            }
        }
        assert!(detected > 0, "{}", scenario.name);
    }
}

/// Changes a file of the set after all files are staged and before any is replaced.
struct Interference<'m> {
    act: &'m (dyn Fn() + Sync),
    synced: AtomicUsize,
    /// Number of synced files after which it acts.
    at: usize,
}

impl Gate for Interference<'_> {
    fn pass(&self, step: FsOperation) -> io::Result<()> {
        if step == FsOperation::Sync && self.synced.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            (self.act)();
        }
        Ok(())
    }
}

/// Another program changes, replaces, truncates, deletes or creates a file between staging and rename, also with the
/// same length and time.
#[test]
fn changes_by_others_during_a_save_are_not_overwritten() {
    type Act = (&'static str, fn(&Path));
    let write_over = |path: &Path| {
        let (time, len) = (fs::metadata(path).unwrap().modified().unwrap(), fs::read(path).unwrap().len());
        fs::write(path, vec![b'x'; len]).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    };
    let acts: [Act; 5] = [
        ("other bytes of the same length and time", write_over),
        ("appended", |path| fs::write(path, [&fs::read(path).unwrap()[..], b"x"].concat()).unwrap()),
        ("cut", |path| fs::write(path, "").unwrap()),
        ("deleted", |path| fs::remove_file(path).unwrap()),
        ("replaced", |path| {
            fs::write(path.with_extension("new"), "theirs").unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        }),
    ];
    for (what, act) in acts {
        let set = SCENARIOS[2].edited();
        let path = set.path("index.xml");
        let theirs = std::sync::Mutex::new(None);
        let interfere = || {
            act(&path);
            *theirs.lock().unwrap() = Some(set.files());
        };
        let plan = set.plan();
        let mode = set.mode();
        let mut disk = set.disk.clone();
        let gate = Interference { act: &interfere, synced: AtomicUsize::new(0), at: 4 };
        let error = save_with_gate(&gate, &plan, &mut disk, &mode, &Progress::default()).unwrap_err();
        assert!(matches!(error.reason, Reason::Changed) && error.path == path, "{what}: {error}");
        let mut theirs = theirs.into_inner().unwrap().unwrap();
        theirs.retain(|name, _| !name.starts_with('.'));
        assert!(set.files() == theirs, "{what}: {:?}", set.names());
    }
    // The name of a new part is taken after staging.
    let set = SCENARIOS[2].edited();
    let path = set.path("s-3.xml");
    let (plan, mut disk) = (set.plan(), set.disk.clone());
    let mode = set.mode();
    let interfere = || fs::write(&path, "theirs").unwrap();
    let gate = Interference { act: &interfere, synced: AtomicUsize::new(0), at: 4 };
    let error = save_with_gate(&gate, &plan, &mut disk, &mode, &Progress::default()).unwrap_err();
    assert!(error.path == path && fs::read(&path).unwrap() == b"theirs", "{error}");
}

/// Kills the process at the n-th operation.
pub(in crate::files) struct Death(pub(in crate::files) AtomicUsize);

impl Gate for Death {
    fn pass(&self, _: FsOperation) -> io::Result<()> {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 0 {
            std::process::abort();
        }
        Ok(())
    }
}

/// The environment variable with the instructions for a separate process: what to save, and the operation to die at.
pub(in crate::files) const DEATH: &str = "SITED_TEST_DEATH";

const DEATH_TEST: &str = "files::save::faults::a_process_that_dies_at_any_operation_leaves_the_old_set_or_the_new_one";

/// A real process dies at every operation of a save, and another one at every operation of finishing it. When it is
/// opened again, the set is entirely old or entirely new.
#[test]
fn a_process_that_dies_at_any_operation_leaves_the_old_set_or_the_new_one() {
    if let Ok(instructions) = std::env::var(DEATH) {
        return run_until_killed(&instructions);
    }
    for (number, scenario) in SCENARIOS.iter().enumerate() {
        let (old, new) = scenario.outcomes();
        let (mut deaths, mut unchanged) = (0, 0);
        for (at, save_fn) in (0..).flat_map(|at| [(at, 0), (at, 1)]) {
            let mut set = (scenario.make)();
            if survives(DEATH_TEST, &format!("{save_fn} {number} {at} {}", set.path("").display())) {
                assert_eq!(set.files(), new, "{}", scenario.name);
                break;
            }
            deaths += 1;
            assert_private(&set, &old);
            let has_record = has_record(&set.files());
            if has_record {
                // Another process dies while it finishes the save; the numbers continue those of the save.
                survives(DEATH_TEST, &format!("finish {number} {} {}", at % 7, set.path("").display()));
            }
            set.reopen(scenario.main);
            // A single file is replaced without a record.
            let now = set.files();
            unchanged += usize::from(now == old);
            assert!(now == new || (now == old && !has_record), "{} {at}: {:?}", scenario.name, now.keys());
        }
        assert!(deaths >= 5 && unchanged >= 3, "{}: {deaths} {unchanged}", scenario.name);
    }
}

/// Runs a test in a separate process with these instructions; returns whether it survived.
pub(in crate::files) fn survives(test: &str, instructions: &str) -> bool {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(DEATH, instructions);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap().success()
}

/// Runs in the separate process. Its umask lets everyone read and write its files, so that only the program protects
/// them.
fn run_until_killed(instructions: &str) {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::empty());
    let words: Vec<&str> = instructions.splitn(4, ' ').collect();
    let scenario = &SCENARIOS[words[1].parse::<usize>().unwrap()];
    let gate = Death(AtomicUsize::new(words[2].parse().unwrap()));
    let folder = Path::new(words[3]);
    if words[0] == "finish" {
        let recovery = Recovery { state: Some(folder.with_extension("state")), finish: true };
        record::recover_with_gate(&gate, &folder.join(scenario.first()), &recovery).unwrap();
        return;
    }
    let mut set = TestSet::open(folder, scenario.main);
    (scenario.change)(&mut set);
    SAVE_FNS[words[0].parse::<usize>().unwrap()](&gate, &mut set).unwrap();
}

/// Asserts that no new file is readable or writable for users who cannot read or write the old files.
fn assert_private(set: &TestSet, old: &Files) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let mode = |name: &String| fs::metadata(set.path(name)).unwrap().mode() & 0o777;
        let names = set.names();
        let theirs = old.keys().filter(|name| names.contains(name)).fold(0, |all, name| all | mode(name)) | 0o644;
        for name in names.iter().filter(|name| !old.contains_key(*name)) {
            assert_eq!(mode(name) & !theirs, 0, "{name} has {:o}", mode(name));
        }
    }
    #[cfg(not(unix))]
    let _ = (set, old);
}
