//! Measures the allocations of whole runs in this process, and their growth.

use cap::Cap;
use clap::Parser;
use peak_alloc::PeakAlloc;
use sited::cli::{self, Env, Next, args};
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};

/// Counts what is allocated in total and the peak of what is held at the same time.
#[global_allocator]
static ALLOCATOR: Cap<PeakAlloc> = Cap::new(PeakAlloc, usize::MAX);

/// Both numbers are of the whole process: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What a test holds from its first line to its last: what others make for themselves meanwhile would be counted too.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    // Another test that failed leaves nothing half done here.
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread for all work, so that the same run allocates the same, with all that is made once already made.
static ALONE: LazyLock<rayon::ThreadPool> = LazyLock::new(|| {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    alone.install(|| {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "<urlset><url><loc>https://e.com/?a&b</loc></url>").expect("write it");
        run("check", file.path());
        run("fix --dry-run", file.path());
    });
    alone
});

/// What one run cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Bytes of the input.
    pub input: usize,
    /// Bytes allocated over the whole run, freed or not.
    pub allocated: usize,
    /// The most bytes held at the same time.
    pub peak: usize,
}

/// What `work` allocates in a test that is [`alone`]; `input` is the number of bytes that it is given.
pub(crate) fn measure(input: usize, work: impl FnOnce() + Send) -> Cost {
    assert!(matches!(ONE_AT_A_TIME.try_lock(), Err(TryLockError::WouldBlock)), "a test that measures is alone");
    let alone = &*ALONE;
    let (allocated, held) = (ALLOCATOR.total_allocated(), PeakAlloc.current_usage());
    PeakAlloc.reset_peak_usage();
    alone.install(work);
    Cost {
        input,
        allocated: ALLOCATOR.total_allocated() - allocated,
        peak: PeakAlloc.peak_usage().saturating_sub(held),
    }
}

/// Runs the program in this process on `path`: `check`, `fix --dry-run`. What it prints is thrown away.
pub(crate) fn run(words: &str, path: &Path) {
    let words = ["sited"].into_iter().chain(words.split(' ')).map(str::to_owned);
    let words = words.chain([path.to_str().expect("a temporary path is UTF-8").to_owned()]);
    let line = args::Cli::try_parse_from(words).expect("words that the command line knows");
    let result = cli::run(&line, Env::default(), &mut std::io::sink(), &mut std::io::sink());
    assert!(matches!(result, Next::End(_)), "no screen is asked for");
}

/// What a run may allocate once, whatever the input: tables, patterns, buffers.
pub(crate) const ONCE: usize = 8 << 20;

/// Holds three costs, at n, 2n and 4n, to linear growth: from 2n to 4n at most 2.6 times what n to 2n added (a buffer
/// that doubles may do so in one of the two steps), and not more than `most` bytes held per byte of input.
pub(crate) fn assert_linear(what: &str, costs: [Cost; 3], most: usize) {
    let [n, twice, fourfold] = costs;
    let grown = |from: usize, to: usize| to.saturating_sub(from);
    let (first, second) = (grown(n.allocated, twice.allocated), grown(twice.allocated, fourfold.allocated));
    assert!(second * 10 <= first * 26 + 10 * ONCE, "{what}: allocations grow faster than the input: {costs:?}");
    let input = fourfold.input - n.input;
    let peak = fourfold.peak.saturating_sub(n.peak);
    assert!(peak <= most * input + ONCE, "{what}: {} bytes held per byte of input: {costs:?}", peak / input);
}
